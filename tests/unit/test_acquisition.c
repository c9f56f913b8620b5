/* The surrogate and the acquisitions of a study, against quadrature, differences and gram_gp. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/acquisition.h"
#include "study/improvement.h"
#include "study/line_gain.h"
#include "support.h"

enum { N = 23, D = 3, M = 7 };
static const double LOG_ROOT_2_PI = 0.918938533204672741780;

/* ---- scalars ---- */

/* log of the integral of t^power exp(z t - t^2/2) over t > 0, by the trapezium rule where the integrand lives. */
static double log_integral(double z, int power)
{
    enum { STEPS = 400000 };
    const double top = z > 0 ? z + 12 : fmin(12, 60 / fmax(-z, 1)), step = top / STEPS, shift = z > 0 ? z * z / 2 : 0;
    double sum = 0;
    for (int i = 0; i <= STEPS; i++) {
        const double t = i * step, factor = i == 0 || i == STEPS ? 0.5 : 1;
        sum += factor * (power ? t : 1) * exp(z * t - t * t / 2 - shift);
    }
    return log(sum * step) + shift;
}

static void improvement_is_the_integral(void **state)
{
    static const double places[] = {-2000, -300, -40, -8, -2.5, -2.0001, -1.9999, -1, -0.3, 0, 0.5, 1, 3, 6};
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const double z = places[i], density = -z * z / 2 - LOG_ROOT_2_PI;
        const double h = gram_log_improvement(z, NULL), share = gram_log_normal(z, NULL);
        const double wanted_h = density + log_integral(z, 1), wanted_share = density + log_integral(z, 0);
        test_near("log h", NULL, 1, &h, &wanted_h, 1e-9);
        test_near("log Phi", NULL, 1, &share, &wanted_share, 1e-9);
    }
}

static void slopes_of_logarithms(void **state)
{
    static const double places[] = {-50, -7, -2.2, -1.5, 0, 1, 4};
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const double z = places[i], step = 1e-5;
        double slope, wanted;
        (void)gram_log_improvement(z, &slope);
        wanted = (gram_log_improvement(z + step, NULL) - gram_log_improvement(z - step, NULL)) / (2 * step);
        test_near("slope of log h", NULL, 1, &slope, &wanted, 1e-7);
        (void)gram_log_normal(z, &slope);
        wanted = (gram_log_normal(z + step, NULL) - gram_log_normal(z - step, NULL)) / (2 * step);
        test_near("slope of log Phi", NULL, 1, &slope, &wanted, 1e-7);
    }
}

/* h(z) ~ phi(z)/z^2: far out, where h itself is 0 in double, its logarithm still rises with z. */
static void improvement_does_not_underflow(void **state)
{
    (void)state;
    for (double z = -1e3; z > -1e150; z *= 10) {
        double slope;
        const double value = gram_log_improvement(z, &slope), wanted = -z * z / 2 - LOG_ROOT_2_PI - 2 * log(-z);
        assert_true(isfinite(value) && value < gram_log_improvement(z / 2, NULL));
        test_near("log h far out", NULL, 1, &value, &wanted, 1e-5);
        test_near("slope far out", NULL, 1, &slope, &(double){-z}, 1e-5);
    }
}

/* ---- the surrogate ---- */

static double wavy(const double *u)
{
    return sin(5 * u[0]) + u[1] * u[1] - 0.3 * u[0] * u[2];
}

typedef struct rows {
    double x[(N + M) * D], y[N + M];
} rows;

static void make_rows(rows *r, double noise)
{
    gram_random_uniform((gram_random){3, 1}, 0, (N + M) * D, r->x);
    gram_random_normal((gram_random){3, 2}, 0, N + M, r->y);
    for (int i = 0; i < N + M; i++) r->y[i] = wavy(r->x + i * D) + noise * r->y[i];
}

static void fit(gram_context *context, int64_t n, double noise, gram_surrogate *s)
{
    rows r;
    make_rows(&r, noise);
    OK(context, gram_surrogate_make(context, D, NAN, s));
    OK(context, gram_surrogate_fit(context, s, n, r.x, r.y, 1));
}

static void surrogate_is_the_gp(void **state)
{
    gram_context *context = *state;
    gram_surrogate s;
    rows r;
    gram_gp *gp;
    gram_gp_options options;
    double y[N], mean[M], variance[M], wanted_mean[M], wanted_variance[M];
    make_rows(&r, 0.1);
    fit(context, N, 0.1, &s);
    for (int i = 0; i < N; i++) y[i] = (r.y[i] - s.shift) / s.scale;
    gram_points *points = test_points(context, N, D, r.x), *at = test_points(context, M, D, r.x + N * D);
    gram_gp_options_init(&options, sizeof options);
    options.flat = 1;
    options.noise = s.noise;
    OK(context, gram_gp_fit(context, s.kernel, points, y, &options, &gp));
    OK(context, gram_gp_predict(context, gp, at, NULL, 0, wanted_mean, wanted_variance));
    OK(context, gram_surrogate_predict(context, &s, M, r.x + N * D, mean, variance));
    test_near("mean", NULL, M, mean, wanted_mean, 1e-9);
    test_near("variance", NULL, M, variance, wanted_variance, 1e-9);
    gram_gp_destroy(gp);
    gram_points_release(points);
    gram_points_release(at);
    gram_surrogate_free(&s);
}

/* Learnt on all but six rows; then those appended, or all rows at once with the same parameters. */
static void appended_rows_equal_a_refit(void **state)
{
    gram_context *context = *state;
    gram_surrogate one, all;
    rows r;
    double mean[M], variance[M], wanted_mean[M], wanted_variance[M];
    make_rows(&r, 0.05);
    fit(context, N - 6, 0.05, &one);
    fit(context, N - 6, 0.05, &all);
    OK(context, gram_surrogate_fit(context, &all, N, r.x, r.y, 0));
    for (int i = N - 6; i < N; i++) OK(context, gram_surrogate_append(context, &one, r.x + i * D, r.y[i]));
    assert_int_equal(one.n, N);
    OK(context, gram_surrogate_predict(context, &one, M, r.x + N * D, mean, variance));
    OK(context, gram_surrogate_predict(context, &all, M, r.x + N * D, wanted_mean, wanted_variance));
    test_near("mean", NULL, M, mean, wanted_mean, 1e-10);
    test_near("variance", NULL, M, variance, wanted_variance, 1e-10);
    gram_surrogate_truncate(&one, N - 6); /* and off again */
    OK(context, gram_surrogate_predict(context, &one, M, r.x + N * D, mean, variance));
    gram_surrogate_free(&all);
    fit(context, N - 6, 0.05, &all);
    OK(context, gram_surrogate_predict(context, &all, M, r.x + N * D, wanted_mean, wanted_variance));
    test_near("mean without them", NULL, M, mean, wanted_mean, 1e-12);
    test_near("variance without them", NULL, M, variance, wanted_variance, 1e-12);
    gram_surrogate_free(&one);
    gram_surrogate_free(&all);
}

static void repeated_row_is_told(void **state)
{
    gram_context *context = *state;
    gram_surrogate s;
    rows r;
    make_rows(&r, 0);
    OK(context, gram_surrogate_make(context, D, 0, &s));
    OK(context, gram_surrogate_fit(context, &s, N, r.x, r.y, 1));
    s.noise = s.jitter = 0;
    OK(context, gram_surrogate_append(context, &s, r.x + N * D, 0));
    REFUSED(context, gram_surrogate_append(context, &s, r.x + N * D, 0), GRAM_ERROR_NUMERICAL, "depends");
    assert_int_equal(s.n, N + 1);
    gram_surrogate_free(&s);
}

/* ---- acquisitions ---- */

typedef struct models {
    gram_surrogate objective, constraint;
    double pending[2 * D];
} models;

static void make_models(gram_context *context, double noise, models *m)
{
    rows r;
    make_rows(&r, noise);
    fit(context, N, noise, &m->objective);
    memcpy(m->pending, r.x + N * D, sizeof m->pending);
    for (int i = 0; i < N; i++) r.y[i] = cos(4 * r.x[i * D]) - r.x[i * D + 1] + 0.2 * r.y[i];
    OK(context, gram_surrogate_make(context, D, NAN, &m->constraint));
    OK(context, gram_surrogate_fit(context, &m->constraint, N, r.x, r.y, 1));
}

static void free_models(models *m)
{
    gram_surrogate_free(&m->objective);
    gram_surrogate_free(&m->constraint);
}

static gram_acquisition_request ask(const models *m, gram_acquisition_kind kind, int constrained)
{
    return (gram_acquisition_request){.kind = kind,
                                      .objective = &m->objective,
                                      .constraint_count = constrained,
                                      .constraints = &m->constraint,
                                      .feasible = 1,
                                      .best = -1,
                                      .kappa = 2,
                                      .pending_count = kind == GRAM_ACQUISITION_NOISY ? 2 : 0,
                                      .pending = m->pending,
                                      .seed = 5,
                                      .which = 9};
}

static void gradient_is_right(gram_context *context, const gram_acquisition *a, const double *u)
{
    double value, again, gradient[D], wanted[D], moved[2 * D], values[2];
    OK(context, gram_acquisition_slope(context, a, u, &value, gradient));
    OK(context, gram_acquisition_values(context, a, 1, u, &again));
    test_near("value", gram_acquisition_name(a->kind), 1, &value, &again, 1e-9);
    for (int l = 0; l < D; l++) {
        const double step = 1e-5;
        for (int side = 0; side < 2; side++) {
            memcpy(moved + side * D, u, D * sizeof *u);
            moved[side * D + l] += side ? step : -step;
        }
        OK(context, gram_acquisition_values(context, a, 2, moved, values));
        wanted[l] = (values[1] - values[0]) / (2 * step);
    }
    test_near("gradient", gram_acquisition_name(a->kind), D, gradient, wanted, 2e-5);
}

static void gradients_of_all_kinds(void **state)
{
    gram_context *context = *state;
    rows r;
    models m;
    make_rows(&r, 0.2);
    make_models(context, 0.2, &m);
    for (int kind = GRAM_ACQUISITION_IMPROVEMENT; gram_acquisition_name((gram_acquisition_kind)kind); kind++)
        for (int constrained = 0; constrained < 2; constrained++) {
            gram_acquisition a;
            const gram_acquisition_request request = ask(&m, (gram_acquisition_kind)kind, constrained);
            OK(context, gram_acquisition_make(context, &request, &a));
            for (int i = 2; i < M; i++) gradient_is_right(context, &a, r.x + (N + i) * D); /* the first two are out */
            a.feasible = 0;
            if (constrained) gradient_is_right(context, &a, r.x + N * D);
            gram_acquisition_free(context, &a);
        }
    free_models(&m);
}

/* E max(best - f, 0) and P(f < best) by the trapezium rule over f ~ N(mean, variance). */
static void values_are_expectations(void **state)
{
    enum { STEPS = 20000 };
    gram_context *context = *state;
    rows r;
    models m;
    double mean[M], variance[M], improvement[M], probability[M];
    make_rows(&r, 0.2);
    make_models(context, 0.2, &m);
    gram_acquisition a;
    gram_acquisition_request request = ask(&m, GRAM_ACQUISITION_IMPROVEMENT, 0);
    OK(context, gram_acquisition_make(context, &request, &a));
    OK(context, gram_acquisition_values(context, &a, M, r.x + N * D, improvement));
    a.kind = GRAM_ACQUISITION_PROBABILITY;
    OK(context, gram_acquisition_values(context, &a, M, r.x + N * D, probability));
    OK(context, gram_surrogate_predict(context, &m.objective, M, r.x + N * D, mean, variance));
    for (int i = 0; i < M; i++) {
        const double s = sqrt(variance[i]), low = fmin(mean[i], a.best) - 12 * s, step = (a.best - low) / STEPS;
        double gain = 0, share = 0;
        for (int k = 0; k <= STEPS; k++) {
            const double f = low + k * step, z = (f - mean[i]) / s, ends = k == 0 || k == STEPS ? 0.5 : 1;
            const double density = ends * step * exp(-z * z / 2 - LOG_ROOT_2_PI) / s;
            gain += (a.best - f) * density;
            share += density;
        }
        test_near("expected improvement", NULL, 1, &(double){exp(improvement[i])}, &gain, 1e-7);
        test_near("probability", NULL, 1, &(double){exp(probability[i])}, &share, 1e-7);
    }
    gram_acquisition_free(context, &a);
    free_models(&m);
}

/* E max over lines less the largest height, by the trapezium rule; and its slopes by differences. */
static double gain_by_quadrature(const gram_line *lines, int count)
{
    enum { STEPS = 200000 };
    const double step = 24.0 / STEPS;
    double sum = 0, highest = -INFINITY;
    for (int i = 0; i < count; i++) highest = fmax(highest, lines[i].height);
    for (int k = 0; k <= STEPS; k++) {
        const double z = -12 + k * step;
        double top = -INFINITY;
        for (int i = 0; i < count; i++) top = fmax(top, lines[i].height + lines[i].slope * z);
        sum += (top - highest) * step * exp(-z * z / 2 - LOG_ROOT_2_PI);
    }
    return log(sum);
}

static double gain_of(const gram_line *lines, int count, double *by_height, double *by_slope)
{
    gram_line copy[8];
    memcpy(copy, lines, (size_t)count * sizeof *copy);
    return gram_line_gain(copy, count, by_height, by_slope);
}

static void gain_of_lines(void **state)
{
    enum { COUNT = 8 };
    gram_line lines[COUNT];
    (void)state;
    for (uint64_t round = 0; round < 40; round++) {
        double numbers[2 * COUNT], by_height[COUNT] = {0}, by_slope[COUNT] = {0};
        gram_random_normal((gram_random){11, round}, 0, 2 * COUNT, numbers);
        for (int i = 0; i < COUNT; i++) lines[i] = (gram_line){numbers[i], numbers[COUNT + i], i};
        if (round % 4 == 0) lines[5].slope = lines[2].slope; /* parallel: the lower one is nothing */
        if (round % 4 == 1) lines[6] = (gram_line){lines[3].height, lines[3].slope, 6};
        const double value = gain_of(lines, COUNT, by_height, by_slope), wanted = gain_by_quadrature(lines, COUNT);
        test_near("gain of lines", NULL, 1, &value, &wanted, 1e-7);
        if (round % 4 < 2) continue; /* no slope where two are one */
        for (int i = 0; i < COUNT; i++)
            for (int side = 0; side < 2; side++) {
                const double step = 1e-5;
                double *moved = side ? &lines[i].slope : &lines[i].height, at = *moved, values[2];
                for (int k = 0; k < 2; k++) {
                    *moved = at + (k ? step : -step);
                    values[k] = gain_of(lines, COUNT, NULL, NULL);
                }
                *moved = at;
                test_near("slope of the gain", NULL, 1, side ? by_slope + i : by_height + i,
                          &(double){(values[1] - values[0]) / (2 * step)}, 1e-5);
            }
    }
    const gram_line flat[] = {{1, 0.5, 0}, {2, 0.5, 1}};
    assert_true(gain_of(flat, 2, NULL, NULL) == -INFINITY);
    const gram_line far[] = {{0, 0, 0}, {-1, 1e-3, 1}}; /* 1,000 deviations off */
    assert_true(isfinite(gain_of(far, 2, NULL, NULL)) && gain_of(far, 2, NULL, NULL) < -4e5);
}

/* The least mean at the rows and at u; with the value there that is z deviations from what is expected, if z is not NULL. */
static double least_mean(gram_context *context, gram_surrogate *s, const double *x, const double *u, const double *z)
{
    double means[N + 1], variances[N + 1], points[(N + 1) * D], mean, variance, least = INFINITY;
    memcpy(points, x, N * D * sizeof *x);
    memcpy(points + N * D, u, D * sizeof *u);
    OK(context, gram_surrogate_predict(context, s, 1, u, &mean, &variance));
    if (z)
        OK(context,
           gram_surrogate_append(context, s, u, gram_surrogate_value(s, mean + sqrt(variance + s->noise) * *z)));
    OK(context, gram_surrogate_predict(context, s, N + 1, points, means, variances));
    if (z) gram_surrogate_truncate(s, N);
    for (int i = 0; i <= N; i++) least = fmin(least, means[i]);
    return least;
}

/* On the way from the row with the least mean to point number i. */
static void set_place(const gram_surrogate *s, const rows *r, int i, double *u)
{
    const double share = 0.05 * (i + 1);
    int best = 0;
    for (int k = 1; k < N; k++)
        if (gram_surrogate_mean_at(s, k) < gram_surrogate_mean_at(s, best)) best = k;
    for (int l = 0; l < D; l++) u[l] = (1 - share) * r->x[best * D + l] + share * r->x[(N + i) * D + l];
}

/* What the least mean improves by, when one more value with noise is told: by quadrature over that value, each time with a model that has it. */
static void the_least_mean_improves(void **state)
{
    enum { STEPS = 800 };
    gram_context *context = *state;
    rows r;
    models m;
    make_rows(&r, 0.6);
    make_models(context, 0.6, &m);
    gram_acquisition a;
    gram_acquisition_request request = ask(&m, GRAM_ACQUISITION_MEAN, 0);
    OK(context, gram_acquisition_make(context, &request, &a));
    for (int i = 0; i < M; i++) {
        const double step = 16.0 / STEPS;
        double u[D], value, gain = 0;
        set_place(&m.objective, &r, i, u);
        const double before = least_mean(context, &m.objective, r.x, u, NULL);
        OK(context, gram_acquisition_values(context, &a, 1, u, &value));
        for (int k = 0; k <= STEPS; k++) {
            const double z = -8 + k * step, after = least_mean(context, &m.objective, r.x, u, &z);
            gain += (before - after) * step * exp(-z * z / 2 - LOG_ROOT_2_PI);
        }
        assert_true(gain > 1e-4);
        test_near("improvement of the least mean", NULL, 1, &(double){exp(value) / gain}, &(double){1}, 2e-3);
        gradient_is_right(context, &a, u);
    }
    gram_acquisition_free(context, &a);
    free_models(&m);
}

/* Where there is hardly any noise the best value is no secret, and noisy improvement is improvement. */
static void noisy_improvement_without_noise(void **state)
{
    gram_context *context = *state;
    rows r;
    gram_surrogate s;
    gram_acquisition noisy, plain;
    double a[M], b[M], best = INFINITY;
    make_rows(&r, 0);
    OK(context, gram_surrogate_make(context, D, 0, &s));
    OK(context, gram_surrogate_fit(context, &s, N, r.x, r.y, 1));
    for (int i = 0; i < N; i++) best = fmin(best, (r.y[i] - s.shift) / s.scale);
    gram_acquisition_request request = {
        .kind = GRAM_ACQUISITION_NOISY, .objective = &s, .feasible = 1, .best = best, .seed = 1};
    OK(context, gram_acquisition_make(context, &request, &noisy));
    request.kind = GRAM_ACQUISITION_IMPROVEMENT;
    OK(context, gram_acquisition_make(context, &request, &plain));
    OK(context, gram_acquisition_values(context, &noisy, M, r.x + N * D, a));
    OK(context, gram_acquisition_values(context, &plain, M, r.x + N * D, b));
    for (int i = 0; i < M; i++)
        if (b[i] > -8) assert_true(fabs(a[i] - b[i]) < 0.05 * (1 + fabs(b[i])));
    gram_acquisition_free(context, &noisy);
    gram_acquisition_free(context, &plain);
    gram_surrogate_free(&s);
}

/* The draws at the rows have the posterior's mean, within what 64 of them allow. */
static void draws_have_the_posterior_mean(void **state)
{
    gram_context *context = *state;
    rows r;
    models m;
    gram_acquisition a;
    double mean[N], variance[N];
    make_rows(&r, 0.3);
    make_models(context, 0.3, &m);
    const gram_acquisition_request request = ask(&m, GRAM_ACQUISITION_NOISY, 0);
    OK(context, gram_acquisition_make(context, &request, &a));
    OK(context, gram_surrogate_predict(context, &m.objective, N, r.x, mean, variance));
    gram_points *rows_of = test_points(context, N + 2, D, r.x), *at = test_points(context, N, D, r.x);
    double *k = test_matrix(context, m.objective.kernel, at, rows_of);
    for (int i = 0; i < N; i++) {
        double sum = 0, squares = 0;
        for (int64_t j = 0; j < a.draws; j++) {
            double f = m.objective.constant;
            for (int64_t l = 0; l < N + 2; l++) f += k[i * (N + 2) + l] * a.weights[l * a.draws + j];
            sum += f / (double)a.draws;
            squares += f * f / (double)a.draws;
        }
        const double error = sqrt(variance[i] / (double)a.draws), spread = sqrt(squares - sum * sum);
        assert_true(fabs(sum - mean[i]) < 5 * error + 1e-6);
        assert_true(spread > 0.6 * sqrt(variance[i]) && spread < 1.5 * sqrt(variance[i]));
    }
    free(k);
    gram_points_release(rows_of);
    gram_points_release(at);
    gram_acquisition_free(context, &a);
    free_models(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(improvement_is_the_integral),
                                       cmocka_unit_test(slopes_of_logarithms),
                                       cmocka_unit_test(improvement_does_not_underflow),
                                       cmocka_unit_test(surrogate_is_the_gp),
                                       cmocka_unit_test(appended_rows_equal_a_refit),
                                       cmocka_unit_test(repeated_row_is_told),
                                       cmocka_unit_test(gradients_of_all_kinds),
                                       cmocka_unit_test(values_are_expectations),
                                       cmocka_unit_test(gain_of_lines),
                                       cmocka_unit_test(the_least_mean_improves),
                                       cmocka_unit_test(noisy_improvement_without_noise),
                                       cmocka_unit_test(draws_have_the_posterior_mean)};
    return cmocka_run_group_tests(tests, test_open, test_close);
}
