/* Splines of several columns against dense kernel equations with unpenalised polynomials: the process whose covariance is the sum of
 * those of the columns, each over its lambda. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/spline.h>

#include "dense_twin.h"
#include "support.h"

enum { N = 40, D = 2, AT = 6, MOST = 5 };

static void near(const char *what, int order, double value, double wanted, double tolerance)
{
    if (!(fabs(value - wanted) <= tolerance * fmax(1, fabs(wanted))))
        FAIL_TEST("%s, order %d: %.15g instead of %.15g", what, order, value, wanted);
}

static double factorial(int k)
{
    return k < 2 ? 1 : k * factorial(k - 1);
}

/* int (x - z)^(m-1) (t - z)^(m-1) dz/(m-1)!^2 from z = -1 on, where the rows begin. */
static double process(int m, double x, double t)
{
    const double s = fmin(x, t) + 1, h = fabs(x - t);
    double sum = 0;
    for (int i = 0; i < m; i++)
        sum += factorial(m - 1) / (factorial(i) * factorial(m - 1 - i)) * pow(h, m - 1 - i) * pow(s, m + i) / (m + i);
    return sum / (factorial(m - 1) * factorial(m - 1));
}

static double additive(int m, const double *x, const double *t, const double *alpha)
{
    return process(m, x[0], t[0]) / alpha[0] + process(m, x[1], t[1]) / alpha[1];
}

static int columns_of(int m, const double *x, double *out)
{
    int count = 0;
    out[count++] = 1;
    for (int l = 0; l < D; l++)
        for (int k = 1; k < m; k++) out[count++] = pow(x[l], k);
    return count;
}

typedef struct rows {
    double x[N * D], y[N], w[N], at[AT * D];
} rows;

static rows make_rows(void)
{
    rows r;
    double noise[N];
    test_uniform(71, N * D, -0.2, 0.2, r.x); /* of a step of 0.075 */
    for (int i = 0; i < N; i++) {
        r.x[D * i] = -0.98 + 0.075 * (r.x[D * i] + i);
        r.x[D * i + 1] = -0.98 + 0.075 * (r.x[D * i + 1] + (i * 17 + 5) % N);
    }
    test_uniform(72, N, -0.3, 0.3, noise);
    test_uniform(73, N, 0.4, 2, r.w);
    r.x[6] = r.x[2];               /* a tie */
    for (int k = 0; k < AT; k++) { /* at knots: variances between them are those of the functions, not of the process */
        r.at[D * k] = r.x[D * (3 * k + 1)];
        r.at[D * k + 1] = r.x[D * (5 * k + 4) + 1];
    }
    for (int i = 0; i < N; i++) r.y[i] = 2 + sin(3 * r.x[D * i]) - pow(r.x[D * i + 1], 2) + noise[i];
    return r;
}

/* Means and covariances at the places over sigma^2. */
static void twin(const rows *r, int m, const double *alpha, double *mean, double *covariance)
{
    double a[N * N], t[N * MOST], cross[N * AT], own[AT * AT], new_t[AT * MOST];
    int q = 0;
    for (int i = 0; i < N; i++) {
        double row[MOST];
        q = columns_of(m, r->x + D * i, row);
        memcpy(t + i * q, row, (size_t)q * sizeof *row);
        for (int j = 0; j < N; j++)
            a[i * N + j] = additive(m, r->x + D * i, r->x + D * j, alpha) + (i == j ? 1 / r->w[i] : 0);
        for (int k = 0; k < AT; k++) cross[i * AT + k] = additive(m, r->x + D * i, r->at + D * k, alpha);
    }
    for (int k = 0; k < AT; k++) {
        double row[MOST];
        (void)columns_of(m, r->at + D * k, row);
        memcpy(new_t + k * q, row, (size_t)q * sizeof *row);
        for (int j = 0; j < AT; j++) own[k * AT + j] = additive(m, r->at + D * k, r->at + D * j, alpha);
    }
    const dense_gp p = {.n = N,
                        .q = q,
                        .m = AT,
                        .a = a,
                        .columns = t,
                        .y = r->y,
                        .cross = cross,
                        .own = own,
                        .new_columns = new_t,
                        .flat = 1};
    (void)dense_gp_posterior(&p, mean, covariance);
}

/* All knots are used, so that the minimum is that over all functions. */
static void dense(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    rows r = make_rows();
    gram_points *points = test_points(context, N, D, r.x), *at = test_points(context, AT, D, r.at);
    for (int m = 1; m <= 3; m++) {
        double mean[AT], covariance[AT * AT], got[AT], variance[AT], part[2][AT], deviation[AT], moved[N];
        gram_spline_options options;
        gram_spline *spline = NULL;
        gram_spline_options_init(&options, sizeof options);
        options.order = m;
        options.lambda = m == 3 ? 1e-3 : 3e-3;
        options.weights = r.w;
        OK(context, gram_spline_fit(context, points, r.y, &options, &spline));
        const gram_spline_report *report = gram_spline_get_report(spline);
        const double alpha[D] = {N * options.lambda, N * options.lambda}, square = report->sigma * report->sigma;
        twin(&r, m, alpha, mean, covariance);
        OK(context, gram_spline_predict(context, spline, at, 0, 0, got, variance));
        for (int l = 0; l < D; l++) {
            OK(context, gram_spline_predict_component(context, spline, l, at, part[l], deviation));
            OK(context, gram_spline_predict_component(context, spline, l, points, moved, NULL));
            double sum = 0;
            for (int i = 0; i < N; i++) sum += r.w[i] * moved[i];
            near("a component's mean", m, sum, 0, 1e-9);
        }
        for (int k = 0; k < AT; k++) {
            near("mean", m, got[k], mean[k], 1e-8);
            near("variance", m, variance[k], square * covariance[k * AT + k], 1e-8);
            near("sum of parts", m, got[k] - got[0], part[0][k] + part[1][k] - part[0][0] - part[1][0], 1e-10);
        }
        gram_spline_destroy(spline);
    }
    gram_points_release(points);
    gram_points_release(at);
    gram_context_destroy(context);
}

/* Slopes and curvatures by differences of values. */
static void derivatives(void **state)
{
    (void)state;
    const double step = 1e-4;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    rows r = make_rows();
    gram_spline *spline = NULL;
    test_uniform(74, AT * D, -0.9, 1.9, r.at);
    gram_points *points = test_points(context, N, D, r.x), *at = test_points(context, AT, D, r.at);
    OK(context, gram_spline_fit(context, points, r.y, NULL, &spline));
    for (int64_t l = 0; l < D; l++) {
        double beside[2][AT * D], value[3][AT], slope[AT], curvature[AT];
        OK(context, gram_spline_predict(context, spline, at, 0, 0, value[1], NULL));
        for (int side = 0; side < 2; side++) {
            for (int k = 0; k < AT * D; k++) beside[side][k] = r.at[k] + (k % D == l ? (side ? step : -step) : 0);
            gram_points *moved = test_points(context, AT, D, beside[side]);
            OK(context, gram_spline_predict(context, spline, moved, 0, 0, value[2 * side], NULL));
            gram_points_release(moved);
        }
        OK(context, gram_spline_predict(context, spline, at, l, 1, slope, NULL));
        OK(context, gram_spline_predict(context, spline, at, l, 2, curvature, NULL));
        for (int k = 0; k < AT; k++) {
            near("slope", 2, slope[k], (value[2][k] - value[0][k]) / (2 * step), 1e-6);
            near("curvature", 2, curvature[k], (value[2][k] - 2 * value[1][k] + value[0][k]) / (step * step), 1e-2);
        }
    }
    gram_spline_destroy(spline);
    gram_points_release(points);
    gram_points_release(at);
    gram_context_destroy(context);
}

/* Leaving a row out is a fit without it, at the same n lambda. */
static void leaving_out(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    rows r = make_rows();
    gram_spline_options options;
    gram_spline *all = NULL;
    gram_spline_options_init(&options, sizeof options);
    options.lambda = 0.01;
    options.weights = r.w;
    gram_points *points = test_points(context, N, D, r.x);
    OK(context, gram_spline_fit(context, points, r.y, &options, &all));
    for (int i = 0; i < N; i += 7) {
        const double kept = r.w[i];
        double mean;
        gram_spline *other = NULL;
        gram_points *one = test_points(context, 1, D, r.x + D * i);
        r.w[i] = 0;
        options.lambda = 0.01 * N / (N - 1);
        OK(context, gram_spline_fit(context, points, r.y, &options, &other));
        OK(context, gram_spline_predict(context, other, one, 0, 0, &mean, NULL));
        near("left out", 2, gram_spline_loo_residuals(all)[i], r.y[i] - mean, 1e-7);
        r.w[i] = kept;
        gram_spline_destroy(other);
        gram_points_release(one);
    }
    gram_spline_destroy(all);
    gram_points_release(points);
    gram_context_destroy(context);
}

/* Lambdas that were chosen together are a minimum in each, and a column of noise is all but a line. */
static void choice(void **state)
{
    (void)state;
    enum { ROWS = 300 };
    double x[ROWS * 3], y[ROWS], noise[ROWS * 6];
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    test_uniform(81, ROWS * 3, 0, 1, x);
    test_uniform(82, ROWS * 6, -0.3, 0.3, noise);
    for (int i = 0; i < ROWS; i++) {
        y[i] = sin(6 * x[3 * i]) + 4 * pow(x[3 * i + 1] - 0.5, 2);
        for (int k = 0; k < 6; k++) y[i] += noise[6 * i + k];
    }
    gram_points *points = test_points(context, ROWS, 3, x);
    for (int way = 0; way < 2; way++) {
        gram_spline_options options;
        gram_spline *spline = NULL;
        gram_spline_options_init(&options, sizeof options);
        options.criterion = way ? GRAM_CRITERION_ML : GRAM_CRITERION_GCV;
        OK(context, gram_spline_fit(context, points, y, &options, &spline));
        const double *df = gram_spline_freedoms(spline);
        if (!(df[0] > 4 && df[0] < 14 && df[1] > 2 && df[1] < 9 && df[2] < 3))
            FAIL_TEST("degrees of freedom %g, %g, %g", df[0], df[1], df[2]);
        const gram_spline_report *r = gram_spline_get_report(spline);
        near("df", 2, r->effective_dimension, 1 + df[0] + df[1] + df[2], 1e-9);
        assert_true(r->sigma > 0.35 && r->sigma < 0.48); /* sqrt(6 * 0.36/12) = 0.424 */
        gram_spline_destroy(spline);
    }
    gram_points_release(points);
    gram_context_destroy(context);
}

static void edges(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    rows r = make_rows();
    gram_spline_options options;
    gram_spline *spline = NULL;
    gram_spline_options_init(&options, sizeof options);
    double x[N * D];
    gram_points *points = test_points(context, N, D, x);
    memcpy(x, r.x, sizeof x);
    options.period = 3;
    REFUSED(context, gram_spline_fit(context, points, r.y, &options, &spline), GRAM_ERROR_UNSUPPORTED,
            "period = 3 is for one column, and x has 2");
    options.period = 0;
    options.criterion = GRAM_CRITERION_LOO;
    REFUSED(context, gram_spline_fit(context, points, r.y, &options, &spline), GRAM_ERROR_UNSUPPORTED,
            "criterion LOO is for one column");
    options.criterion = GRAM_CRITERION_GCV;
    for (int i = 0; i < N; i++) x[D * i + 1] = 5;
    REFUSED(context, gram_spline_fit(context, points, r.y, &options, &spline), GRAM_ERROR_DATA,
            "column 1 of x has 1 distinct value, and a spline of order 2 needs 2");
    for (int i = 0; i < N; i++) x[D * i + 1] = 3 - 2 * x[D * i];
    REFUSED(context, gram_spline_fit(context, points, r.y, &options, &spline), GRAM_ERROR_NUMERICAL,
            "the components cannot be told apart");
    gram_points_release(points);
    gram_context_destroy(context);
}

/* ---- thin plates ---- */

/* In MATH's words: r^2 log r/(8 pi) in the plane, -r/(8 pi) in space. */
static double plate_kernel(int d, const double *x, const double *t)
{
    double square = 0;
    for (int l = 0; l < d; l++) square += (x[l] - t[l]) * (x[l] - t[l]);
    const double r = sqrt(square), eight_pi = 8 * acos(-1);
    return d == 3 ? -r / eight_pi : r > 0 ? square * log(r) / eight_pi : 0;
}

/* [E/alpha + 1/w, T; T', 0] and its inverse give everything: values, variances, degrees of freedom. */
static void plate_dense(void **state)
{
    (void)state;
    enum { ROWS = 25, MOST_COLUMNS = 3, SIZE = ROWS + MOST_COLUMNS + 1 };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (int d = 2; d <= 3; d++) {
        const int size = ROWS + d + 1;
        double x[ROWS * MOST_COLUMNS], y[ROWS], w[ROWS], a[SIZE * SIZE] = {0}, right[SIZE] = {0}, at[AT * MOST_COLUMNS];
        double mean[AT], variance[AT], df = 0;
        gram_spline_options options;
        gram_spline *spline = NULL;
        test_uniform(101, ROWS * d, -1, 1, x);
        test_uniform(102, ROWS, 0.5, 2, w);
        test_uniform(103, AT * d, -1.2, 1.2, at);
        test_uniform(104, ROWS, -0.1, 0.1, y);
        for (int l = 0; l < d; l++) x[d * 3 + l] = x[d * 8 + l]; /* a tie */
        const double lambda = 1e-3, alpha = ROWS * lambda;
        for (int i = 0; i < ROWS; i++) {
            y[i] += sin(2 * x[d * i]) * x[d * i + 1];
            right[i] = y[i];
            for (int j = 0; j < ROWS; j++)
                a[i * size + j] = plate_kernel(d, x + d * i, x + d * j) / alpha + (i == j ? 1 / w[i] : 0);
            for (int j = 0; j <= d; j++)
                a[i * size + ROWS + j] = a[(ROWS + j) * size + i] = j == 0 ? 1 : x[d * i + j - 1];
        }
        dense_invert(size, a);
        gram_spline_options_init(&options, sizeof options);
        options.lambda = lambda;
        options.weights = w;
        options.shape = GRAM_SPLINE_THIN_PLATE;
        gram_points *points = test_points(context, ROWS, d, x), *places = test_points(context, AT, d, at);
        OK(context, gram_spline_fit(context, points, y, &options, &spline));
        OK(context, gram_spline_predict(context, spline, places, 0, 0, mean, variance));
        const gram_spline_report *r = gram_spline_get_report(spline);
        for (int i = 0; i < ROWS; i++) {
            double c = 0;
            for (int j = 0; j < ROWS; j++) c += a[i * size + j] * y[j];
            near("left out", d, gram_spline_loo_residuals(spline)[i], c / a[i * size + i], 1e-8);
            near("fitted", d, gram_spline_fitted(spline)[i], y[i] - c / w[i], 1e-9);
            df += 1 - a[i * size + i] / w[i];
        }
        near("df", d, r->effective_dimension, df, 1e-9);
        for (int k = 0; k < AT; k++) {
            double phi[SIZE], value = 0, square = 0;
            for (int i = 0; i < ROWS; i++) phi[i] = plate_kernel(d, at + d * k, x + d * i) / alpha;
            for (int j = 0; j <= d; j++) phi[ROWS + j] = j == 0 ? 1 : at[d * k + j - 1];
            for (int i = 0; i < size; i++)
                for (int j = 0; j < size; j++) {
                    value += phi[i] * a[i * size + j] * right[j];
                    square -= phi[i] * a[i * size + j] * phi[j];
                }
            near("mean", d, mean[k], value, 1e-8);
            near("variance", d, variance[k], r->sigma * r->sigma * square, 1e-8);
        }
        gram_spline_destroy(spline);
        gram_points_release(points);
        gram_points_release(places);
    }
    gram_context_destroy(context);
}

/* Criteria at their best are no worse than beside it; slopes by differences; points on a line are refused. */
static void plate_choice(void **state)
{
    (void)state;
    enum { ROWS = 60 };
    static const gram_criterion criteria[] = {GRAM_CRITERION_GCV, GRAM_CRITERION_LOO, GRAM_CRITERION_ML};
    double x[ROWS * 2], y[ROWS], noise[ROWS];
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    test_uniform(111, ROWS * 2, -1, 1, x);
    test_uniform(112, ROWS, -0.2, 0.2, noise);
    for (int i = 0; i < ROWS; i++) y[i] = sin(3 * x[2 * i]) * cos(2 * x[2 * i + 1]) + noise[i];
    gram_points *points = test_points(context, ROWS, 2, x);
    gram_spline_options o;
    gram_spline *spline = NULL;
    for (int k = 0; k < 3; k++) {
        gram_spline_options_init(&o, sizeof o);
        o.shape = GRAM_SPLINE_THIN_PLATE;
        o.criterion = criteria[k];
        OK(context, gram_spline_fit(context, points, y, &o, &spline));
        const double lambda = gram_spline_get_report(spline)->lambda, gcv = gram_spline_get_report(spline)->gcv,
                     loo = gram_spline_get_report(spline)->loo_rmse, sigma = gram_spline_get_report(spline)->sigma;
        gram_spline_destroy(spline);
        assert_true(sigma > 0.08 && sigma < 0.16); /* 0.4/sqrt(12) = 0.115 */
        for (int side = -1; side <= 1 && k < 2; side += 2) {
            o.lambda = lambda * (1 + 0.2 * side);
            OK(context, gram_spline_fit(context, points, y, &o, &spline));
            const gram_spline_report *r = gram_spline_get_report(spline);
            assert_true(k == 0 ? r->gcv >= gcv : r->loo_rmse >= loo);
            gram_spline_destroy(spline);
        }
    }
    const double at[] = {0.3, -0.2, 0.3 + 1e-5, -0.2, 0.3 - 1e-5, -0.2};
    double value[3], slope[3];
    gram_points *places = test_points(context, 3, 2, at);
    OK(context, gram_spline_fit(context, points, y, &o, &spline));
    OK(context, gram_spline_predict(context, spline, places, 0, 0, value, NULL));
    OK(context, gram_spline_predict(context, spline, places, 0, 1, slope, NULL));
    near("slope", 2, slope[0], (value[1] - value[2]) / 2e-5, 1e-6);
    gram_spline_destroy(spline);
    for (int i = 0; i < ROWS; i++) x[2 * i + 1] = 1 - 3 * x[2 * i];
    REFUSED(context, gram_spline_fit(context, points, y, &o, &spline), GRAM_ERROR_DATA, "they lie on a line");
    o.order = 1;
    REFUSED(context, gram_spline_fit(context, points, y, &o, &spline), GRAM_ERROR_UNSUPPORTED,
            "a thin plate of order 1 is not for 2 columns");
    gram_points_release(places);
    gram_points_release(points);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense),        cmocka_unit_test(derivatives), cmocka_unit_test(leaving_out),
        cmocka_unit_test(choice),       cmocka_unit_test(edges),       cmocka_unit_test(plate_dense),
        cmocka_unit_test(plate_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
