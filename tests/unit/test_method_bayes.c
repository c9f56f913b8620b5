/* Bayesian linear regression with an unknown noise variance: the posterior against n x n elimination and against integrals over the
 * noise, least squares against certified values, leaving out against refits, the choice of alpha, and the edges. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/bayes.h>

#include "base/distribution_tails.h"
#include "dense_twin.h"
#include "support.h"

static const double TWO_PI = 6.283185307179586477, PI = 3.14159265358979323846;

static void near(const char *what, double value, double wanted, double tolerance)
{
    if (!(fabs(value - wanted) <= tolerance * fmax(1, fabs(wanted))))
        FAIL_TEST("%s: %.15g instead of %.15g", what, value, wanted);
}

/* ---- quantiles ---- */

static void quantiles(void **state)
{
    (void)state;
    near("t(1)", gram_student_quantile(1, 0.975), tan(PI * 0.475), 1e-10);
    near("t(2)", gram_student_quantile(2, 0.975), 4.302652729911275, 1e-10);
    near("t(10)", gram_student_quantile(10, 0.975), 2.228138851964939, 1e-10);
    near("t(30), lower", gram_student_quantile(30, 0.025), -2.042272456301238, 1e-10);
    near("normal", gram_student_quantile(INFINITY, 0.975), 1.959963984540054, 1e-10);
    near("middle", gram_student_quantile(7, 0.5), 0, 0);
    near("chi-squared(10)", 2 * gram_quantile_gamma(5, 0.05), 18.30703805327515, 1e-10);
    near("exponential", gram_quantile_gamma(1, 0.3), -log(0.3), 1e-10);
    assert_true(isnan(gram_student_quantile(3, 0)) && isnan(gram_student_quantile(3, 1)));
    assert_true(isnan(gram_student_quantile(0, 0.5)) && isnan(gram_student_quantile(3, NAN)));
}

/* ---- against the n x n covariance ---- */

enum { N = 20, D = 3 };

typedef struct problem {
    double x[N * D], y[N], v[N];
} problem;

static void make_problem(problem *p)
{
    double noise[N];
    test_uniform(21, N * D, -1, 2, p->x);
    test_uniform(22, N, -0.5, 0.5, noise);
    test_uniform(23, N, 0.3, 3, p->v);
    for (int i = 0; i < N; i++) p->y[i] = 4 + p->x[D * i] - 2 * p->x[D * i + 1] + noise[i];
}

/* C = diag(1/v) + X X'/alpha */
static void covariance(const problem *p, int weighted, double alpha, double *c)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int l = 0; l < D; l++) sum += p->x[D * i + l] * p->x[D * j + l];
            c[i * N + j] = sum / alpha + (i == j ? (weighted ? 1 / p->v[i] : 1) : 0);
        }
}

/* y'P y, and log |C| (+ log 1'C^-1 1 where a constant is integrated out) */
static double quadratic_form(const problem *p, const double *c, int intercept, double *log_determinant)
{
    double right[2 * N], yy = 0, oy = 0, oo = 0;
    for (int i = 0; i < N; i++) {
        right[2 * i] = p->y[i];
        right[2 * i + 1] = 1;
    }
    *log_determinant = dense_solve(N, c, 2, right);
    for (int i = 0; i < N; i++) {
        yy += p->y[i] * right[2 * i];
        oy += right[2 * i];
        oo += right[2 * i + 1];
    }
    if (intercept) *log_determinant += log(oo);
    return intercept ? yy - oy * oy / oo : yy;
}

static void posterior(void **state)
{
    (void)state;
    problem p;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    make_problem(&p);
    gram_points *points = test_points(context, N, D, p.x);
    for (int way = 0; way < 8; way++) {
        const int intercept = way & 1, weighted = way >> 1 & 1, proper = way >> 2;
        gram_bayes_options options;
        gram_bayes *bayes = NULL;
        double c[N * N], log_determinant;
        gram_bayes_options_init(&options, sizeof options);
        options.alpha = 0.7;
        options.intercept = intercept;
        options.weights = weighted ? p.v : NULL;
        options.shape = proper ? 2 : 0;
        options.scale = proper ? 0.3 : 0;
        covariance(&p, weighted, 0.7, c);
        const double form = quadratic_form(&p, c, intercept, &log_determinant);
        const double shape = options.shape + 0.5 * (N - intercept), scale = options.scale + 0.5 * form;
        const double constant = proper ? 2 * log(0.3) - lgamma(2) : 0;
        OK(context, gram_bayes_fit(context, points, p.y, &options, &bayes));
        const gram_bayes_report *r = gram_bayes_get_report(bayes);
        near("shape", r->shape, shape, 1e-13);
        near("scale", r->scale, scale, 1e-11);
        near("noise", r->noise, scale / (shape - 1), 1e-11);
        near("evidence", r->log_evidence,
             -0.5 * (N - intercept) * log(TWO_PI) - 0.5 * log_determinant + constant + lgamma(shape) -
                 shape * log(scale),
             1e-11);
        near("lower", gram_tail_gamma(shape, scale / r->noise_lower), 0.025, 1e-9);
        near("upper", gram_tail_gamma(shape, scale / r->noise_upper), 0.975, 1e-9);
        gram_bayes_destroy(bayes);
    }
    gram_points_release(points);
    gram_context_destroy(context);
}

/* Weights, their scale matrix and predictions by normal equations with the constant as a column of its own. */
static void weights_and_predictions(void **state)
{
    (void)state;
    enum { Q = D + 1, M = 3 };
    problem p;
    double a[Q * Q] = {0}, right[Q * (Q + 1)] = {0}, at[M * D], mean[M], scale[M], matrix[D * (D + 2)], first[M];
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_bayes_options options;
    gram_bayes *bayes = NULL;
    make_problem(&p);
    test_uniform(24, M * D, -3, 3, at);
    gram_points *points = test_points(context, N, D, p.x), *others = test_points(context, M, D, at);
    gram_bayes_options_init(&options, sizeof options);
    options.alpha = 0.7;
    options.weights = p.v;
    OK(context, gram_bayes_fit(context, points, p.y, &options, &bayes));
    const gram_bayes_report *r = gram_bayes_get_report(bayes);
    for (int i = 0; i < N; i++) {
        const double row[Q] = {1, p.x[D * i], p.x[D * i + 1], p.x[D * i + 2]};
        for (int k = 0; k < Q; k++) {
            for (int l = 0; l < Q; l++) a[k * Q + l] += p.v[i] * row[k] * row[l];
            right[k * (Q + 1)] += p.v[i] * row[k] * p.y[i];
        }
    }
    for (int k = 0; k < Q; k++) {
        if (k > 0) a[k * Q + k] += 0.7;
        right[k * (Q + 1) + 1 + k] = 1; /* and the inverse */
    }
    (void)dense_solve(Q, a, Q + 1, right);
    const double spread = r->scale / r->shape;
    near("constant", r->constant, right[0], 1e-12);
    OK(context, gram_bayes_weight_scale(context, bayes, matrix, D + 2));
    for (int l = 0; l < D; l++) {
        near("weight", gram_bayes_weights(bayes)[l], right[(l + 1) * (Q + 1)], 1e-12);
        for (int k = 0; k < D; k++)
            near("scale matrix", matrix[l * (D + 2) + k], spread * right[(l + 1) * (Q + 1) + 2 + k], 1e-12);
    }
    OK(context, gram_bayes_predict(context, bayes, others, mean, scale));
    OK(context, gram_function_evaluate(context, gram_bayes_function(bayes), others, first, 1));
    for (int i = 0; i < M; i++) {
        const double row[Q] = {1, at[D * i], at[D * i + 1], at[D * i + 2]};
        double f = 0, square = 0;
        for (int k = 0; k < Q; k++) {
            f += row[k] * right[k * (Q + 1)];
            for (int l = 0; l < Q; l++) square += row[k] * right[k * (Q + 1) + 1 + l] * row[l];
        }
        near("mean", mean[i], f, 1e-12);
        near("function", first[i], f, 1e-12);
        near("scale", scale[i], sqrt(spread * square), 1e-12);
    }
    assert_int_equal(gram_bayes_weight_scale(context, bayes, matrix, D - 1), GRAM_ERROR_ARGUMENT);
    gram_bayes_destroy(bayes);
    gram_points_release(points);
    gram_points_release(others);
    gram_context_destroy(context);
}

/* ---- integrals over the noise variance ---- */

/* log of the inverse gamma density of s = e^u, with the factor s of du */
static double log_inverse_gamma(double shape, double scale, double u)
{
    return shape * log(scale) - lgamma(shape) - shape * u - scale * exp(-u);
}

/* Evidence and predictive density by integrals of normal densities, trapezoids in log s: exact for such smooth ones. */
static void by_integrals(void **state)
{
    (void)state;
    enum { STEPS = 4000 };
    problem p;
    double c[N * N], log_determinant, evidence = 0, density[3] = {0}, mean, scale;
    const double shape = 1.5, prior = 0.8, at[D] = {1.5, -2, 0.3}, low = -12, high = 12, du = (high - low) / STEPS;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_bayes_options options;
    gram_bayes *bayes = NULL;
    make_problem(&p);
    gram_points *points = test_points(context, N, D, p.x), *other = test_points(context, 1, D, at);
    gram_bayes_options_init(&options, sizeof options);
    options.alpha = 0.2;
    options.shape = shape;
    options.scale = prior;
    options.intercept = 0;
    OK(context, gram_bayes_fit(context, points, p.y, &options, &bayes));
    const gram_bayes_report *r = gram_bayes_get_report(bayes);
    OK(context, gram_bayes_predict(context, bayes, other, &mean, &scale));
    covariance(&p, 0, 0.2, c);
    const double form = quadratic_form(&p, c, 0, &log_determinant);
    const double leverage = scale * scale * r->shape / r->scale; /* x'A^-1 x */
    for (int i = 0; i <= STEPS; i++) {
        const double u = low + i * du;
        evidence += du * exp(log_inverse_gamma(shape, prior, u) - 0.5 * N * (log(TWO_PI) + u) - 0.5 * log_determinant -
                             0.5 * form * exp(-u) - r->log_evidence);
        for (int k = 0; k < 3; k++) {
            const double e = 0.7 * (k - 1), variance = exp(u) * (1 + leverage);
            density[k] +=
                du * exp(log_inverse_gamma(r->shape, r->scale, u) - 0.5 * e * e / variance) / sqrt(TWO_PI * variance);
        }
    }
    near("evidence", evidence, 1, 1e-9);
    const double width = sqrt(scale * scale + r->scale / r->shape), f = r->freedom;
    for (int k = 0; k < 3; k++) {
        const double t = 0.7 * (k - 1) / width;
        near("density", density[k],
             exp(lgamma(0.5 * (f + 1)) - lgamma(0.5 * f)) / (sqrt(f * PI) * width) * pow(1 + t * t / f, -0.5 * (f + 1)),
             1e-9);
    }
    gram_bayes_destroy(bayes);
    gram_points_release(points);
    gram_points_release(other);
    gram_context_destroy(context);
}

/* ---- least squares ---- */

/* Longley's data, nearly collinear, with the certified values of NIST (Statistical Reference Datasets). */
static void longley(void **state)
{
    (void)state;
    enum { ROWS = 16, COLUMNS = 6 };
    static const double Y[ROWS] = {60323, 61122, 60171, 61187, 63221, 63639, 64989, 63761,
                                   66019, 67857, 68169, 66513, 68655, 69564, 69331, 70551};
    static const double X[ROWS * COLUMNS] = {
        83.0,   234289, 2356,   1590,   107608, 1947,   88.5,   259426, 2325,   1456,   108632, 1948,   88.2,   258054,
        3682,   1616,   109773, 1949,   89.5,   284599, 3351,   1650,   110929, 1950,   96.2,   328975, 2099,   3099,
        112075, 1951,   98.1,   346999, 1932,   3594,   113270, 1952,   99.0,   365385, 1870,   3547,   115094, 1953,
        100.0,  363112, 3578,   3350,   116219, 1954,   101.2,  397469, 2904,   3048,   117388, 1955,   104.6,  419180,
        2822,   2857,   118734, 1956,   108.4,  442769, 2936,   2798,   120445, 1957,   110.8,  444546, 4681,   2637,
        121950, 1958,   112.6,  482704, 3813,   2552,   123366, 1959,   114.2,  502601, 3931,   2514,   125368, 1960,
        115.7,  518173, 4806,   2572,   127852, 1961,   116.9,  554894, 4007,   2827,   130081, 1962};
    static const double B[COLUMNS] = {15.0618722713733,  -0.358191792925910E-01, -2.02022980381683,
                                      -1.03322686717359, -0.511041056535807E-01, 1829.15146461355};
    static const double SD[COLUMNS] = {84.9149257747669,  0.334910077722432E-01, 0.488399681651699,
                                       0.214274163161675, 0.226073200069370,     455.478499142212};
    double matrix[COLUMNS * COLUMNS];
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_bayes_options options;
    gram_bayes *bayes = NULL;
    gram_points *points = test_points(context, ROWS, COLUMNS, X);
    gram_bayes_options_init(&options, sizeof options);
    options.alpha = 0;
    OK(context, gram_bayes_fit(context, points, Y, &options, &bayes));
    const gram_bayes_report *r = gram_bayes_get_report(bayes);
    near("freedom", r->freedom, ROWS - COLUMNS - 1, 0);
    near("residual deviation", sqrt(r->scale / r->shape), 304.854073561965, 1e-9);
    near("constant", r->constant, -3482258.63459582, 1e-9);
    OK(context, gram_bayes_weight_scale(context, bayes, matrix, COLUMNS));
    for (int l = 0; l < COLUMNS; l++) {
        near("coefficient", gram_bayes_weights(bayes)[l] / B[l], 1, 1e-9);
        near("standard error", sqrt(matrix[l * COLUMNS + l]) / SD[l], 1, 1e-9);
    }
    assert_true(isnan(r->log_evidence));
    gram_bayes_destroy(bayes);
    gram_points_release(points);
    gram_context_destroy(context);
}

/* ---- rows left out, and the choice of alpha ---- */

static void leaving_out(void **state)
{
    (void)state;
    problem p;
    double density = 0, squares = 0, inside = 0;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_bayes_options options;
    gram_bayes *bayes = NULL, *less = NULL;
    make_problem(&p);
    gram_points *points = test_points(context, N, D, p.x);
    gram_bayes_options_init(&options, sizeof options);
    options.alpha = 0.4;
    OK(context, gram_bayes_fit(context, points, p.y, &options, &bayes));
    for (int i = 0; i < N; i++) {
        double v[N], mean, scale;
        for (int j = 0; j < N; j++) v[j] = j != i; /* a weight of 0 leaves out */
        gram_points *one = test_points(context, 1, D, p.x + D * i);
        options.weights = v;
        OK(context, gram_bayes_fit(context, points, p.y, &options, &less));
        const gram_bayes_report *r = gram_bayes_get_report(less);
        assert_int_equal(r->n, N - 1);
        assert_true(isnan(gram_bayes_loo_mean(less)[i]));
        OK(context, gram_bayes_predict(context, less, one, &mean, &scale));
        near("left out", gram_bayes_loo_mean(bayes)[i], mean, 1e-11);
        const double f = r->freedom, width = sqrt(scale * scale + r->scale / r->shape), t = (p.y[i] - mean) / width;
        density += (lgamma(0.5 * (f + 1)) - lgamma(0.5 * f) - 0.5 * log(f * PI) - log(width) -
                    0.5 * (f + 1) * log1p(t * t / f)) /
                   N;
        squares += (p.y[i] - mean) * (p.y[i] - mean) / N;
        inside += fabs(t) <= gram_student_quantile(f, 0.975);
        gram_bayes_destroy(less);
        gram_points_release(one);
    }
    near("loo_rmse", gram_bayes_get_report(bayes)->loo_rmse, sqrt(squares), 1e-11);
    near("loo_log_density", gram_bayes_get_report(bayes)->loo_log_density, density, 1e-11);
    near("loo_coverage", gram_bayes_get_report(bayes)->loo_coverage, inside / N, 1e-15);
    gram_bayes_destroy(bayes);
    gram_points_release(points);
    gram_context_destroy(context);
}

static double evidence_at(gram_context *context, const gram_points *points, const double *y, double alpha)
{
    gram_bayes_options options;
    gram_bayes *bayes = NULL;
    gram_bayes_options_init(&options, sizeof options);
    options.alpha = alpha;
    OK(context, gram_bayes_fit(context, points, y, &options, &bayes));
    const double value = gram_bayes_get_report(bayes)->log_evidence;
    gram_bayes_destroy(bayes);
    return value;
}

static void greatest_evidence(void **state)
{
    (void)state;
    problem p;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_bayes *bayes = NULL;
    make_problem(&p);
    gram_points *points = test_points(context, N, D, p.x);
    OK(context, gram_bayes_fit(context, points, p.y, NULL, &bayes));
    const gram_bayes_report *r = gram_bayes_get_report(bayes);
    assert_false(r->at_bound);
    for (double alpha = 1e-9; alpha < 1e9; alpha *= 1.3)
        assert_true(evidence_at(context, points, p.y, alpha) <= r->log_evidence + 1e-12);
    const double above = evidence_at(context, points, p.y, r->alpha * 1.001);
    const double below = evidence_at(context, points, p.y, r->alpha / 1.001);
    assert_true(fabs(above - below) < 1e-8);
    gram_bayes_destroy(bayes);
    gram_points_release(points);
    gram_context_destroy(context);
}

/* ---- edges ---- */

static void edges(void **state)
{
    (void)state;
    problem p;
    double constant[N], y[N], mean[2], scale[2];
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_bayes_options options;
    gram_bayes *bayes = NULL;
    make_problem(&p);
    gram_bayes_options_init(&options, sizeof options);
    gram_points *points = test_points(context, N, D, p.x);
    /* a target that does not vary */
    for (int i = 0; i < N; i++) constant[i] = 3;
    OK(context, gram_bayes_fit(context, points, constant, NULL, &bayes));
    near("constant", gram_bayes_get_report(bayes)->constant, 3, 1e-14);
    near("noise", gram_bayes_get_report(bayes)->noise, 0, 1e-28);
    gram_bayes_destroy(bayes);
    /* a feature that does not: its weight stays 0, at any alpha */
    gram_points *flat = test_points(context, N, 1, constant);
    OK(context, gram_bayes_fit(context, flat, p.y, NULL, &bayes));
    near("weight", gram_bayes_weights(bayes)[0], 0, 1e-12);
    gram_bayes_destroy(bayes);
    options.alpha = 0;
    assert_int_equal(gram_bayes_fit(context, flat, p.y, &options, &bayes), GRAM_ERROR_NUMERICAL);
    assert_null(bayes);
    gram_points_release(flat);
    /* fewer rows than columns: with a prior, and not without */
    gram_points *two = test_points(context, 2, D, p.x);
    OK(context, gram_bayes_fit(context, two, p.y, NULL, &bayes));
    assert_true(isnan(gram_bayes_get_report(bayes)->noise)); /* one degree of freedom */
    OK(context, gram_bayes_predict(context, bayes, two, mean, scale));
    assert_true(isfinite(mean[0]) && scale[0] >= 0 && isfinite(scale[0]));
    gram_bayes_destroy(bayes);
    assert_int_equal(gram_bayes_fit(context, two, p.y, &options, &bayes), GRAM_ERROR_NUMERICAL);
    gram_points_release(two);
    gram_points *one = test_points(context, 1, D, p.x);
    assert_int_equal(gram_bayes_fit(context, one, p.y, NULL, &bayes), GRAM_ERROR_DATA);
    gram_points_release(one);
    /* refusals by name */
    memcpy(y, p.y, sizeof y);
    y[4] = NAN;
    assert_int_equal(gram_bayes_fit(context, points, y, NULL, &bayes), GRAM_ERROR_DATA);
    assert_non_null(strstr(gram_context_message(context), "y[4]"));
    for (int i = 0; i < N; i++) y[i] = 1e200 * p.y[i];
    assert_int_equal(gram_bayes_fit(context, points, y, NULL, &bayes), GRAM_ERROR_DATA);
    assert_non_null(strstr(gram_context_message(context), "y are so large"));
    double wide[N * D];
    for (int i = 0; i < N * D; i++) wide[i] = 1e200 * p.x[i];
    gram_points *far = test_points(context, N, D, wide);
    assert_int_equal(gram_bayes_fit(context, far, p.y, NULL, &bayes), GRAM_ERROR_DATA);
    assert_non_null(strstr(gram_context_message(context), "x are so large"));
    gram_points_release(far);
    options.alpha = -1;
    assert_int_equal(gram_bayes_fit(context, points, p.y, &options, &bayes), GRAM_ERROR_ARGUMENT);
    assert_non_null(strstr(gram_context_message(context), "alpha = -1"));
    options.alpha = 1;
    options.scale = NAN;
    assert_int_equal(gram_bayes_fit(context, points, p.y, &options, &bayes), GRAM_ERROR_ARGUMENT);
    options.scale = 0;
    p.v[7] = -1;
    options.weights = p.v;
    assert_int_equal(gram_bayes_fit(context, points, p.y, &options, &bayes), GRAM_ERROR_DATA);
    assert_non_null(strstr(gram_context_message(context), "weights[7]"));
    gram_points_release(points);
    gram_context_destroy(context);
}

/* Several blocks of rows are one. */
static void blocks(void **state)
{
    (void)state;
    enum { MANY = 7000, COLUMNS = 5 };
    double *x = test_random(31, MANY * COLUMNS, -1, 3), *y = test_random(32, MANY, -1, 1);
    double a[6 * 6] = {0}, right[6] = {0};
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    gram_bayes_options options;
    gram_bayes *bayes = NULL;
    for (int i = 0; i < MANY; i++) {
        double row[6] = {1};
        for (int l = 0; l < COLUMNS; l++) row[1 + l] = x[COLUMNS * i + l];
        y[i] += row[2] - 3 * row[4];
        for (int k = 0; k < 6; k++) {
            for (int l = 0; l < 6; l++) a[6 * k + l] += row[k] * row[l];
            right[k] += row[k] * y[i];
        }
    }
    (void)dense_solve(6, a, 1, right);
    gram_bayes_options_init(&options, sizeof options);
    options.alpha = 0;
    gram_points *points = test_points(context, MANY, COLUMNS, x);
    OK(context, gram_bayes_fit(context, points, y, &options, &bayes));
    near("constant", gram_bayes_get_report(bayes)->constant, right[0], 1e-11);
    for (int l = 0; l < COLUMNS; l++) near("weight", gram_bayes_weights(bayes)[l], right[1 + l], 1e-11);
    gram_bayes_destroy(bayes);
    gram_points_release(points);
    gram_context_destroy(context);
    free(x);
    free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles),         cmocka_unit_test(posterior), cmocka_unit_test(weights_and_predictions),
        cmocka_unit_test(by_integrals),      cmocka_unit_test(longley),   cmocka_unit_test(leaving_out),
        cmocka_unit_test(greatest_evidence), cmocka_unit_test(edges),     cmocka_unit_test(blocks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
