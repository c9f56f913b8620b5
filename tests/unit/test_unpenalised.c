/* Columns that no penalty acts on, beside the function: ridge regression against the whole system solved at once, closed forms against
 * fits without the rows, criteria of tuning, losses and classes by their optimality conditions, and slopes in functions and files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dense_twin.h"
#include "support.h"

enum { N = 24, D = 3, Q = 3 };

static const int64_t COLUMNS[] = {2, 0}; /* any order */

typedef struct sample {
    double *x, y[N], weights[N];
    gram_points *points;
    gram_kernel *kernel;
} sample;

static void fill(gram_context *context, sample *s)
{
    s->x = test_spread(7, N, D);
    for (int i = 0; i < N; i++) {
        const double *x = s->x + i * D;
        s->y[i] = sin(3 * x[0]) + 2 * x[2] - x[1] + (i % 5) * 0.1;
        s->weights[i] = 0.5 + 0.25 * (i % 4);
    }
    s->points = test_points(context, N, D, s->x);
    s->kernel = test_kernel(context, "1.3*rbf(ell=0.7)");
}

static void empty(sample *s)
{
    gram_points_release(s->points);
    gram_kernel_release(s->kernel);
    free(s->x);
}

static gram_krr_options options_of(const sample *s)
{
    gram_krr_options options;
    gram_krr_options_init(&options, sizeof options);
    options.lambda = 0.01;
    options.weights = s->weights;
    options.unpenalised_count = 2;
    options.unpenalised = COLUMNS;
    return options;
}

/* [A, T; T', 0] [a; b] = [y; 0] by elimination, T = [1, x_2, x_0]; rows that `out` names are left out. */
static void solve_whole(gram_context *context, const sample *s, int out, double *a, double *b)
{
    const double noise = 0.01 * N;
    double *k = test_matrix(context, s->kernel, s->points, NULL), m[(N + Q) * (N + Q)], v[N + Q];
    int64_t rows[N], n = 0;
    for (int64_t i = 0; i < N; i++)
        if (i != out) rows[n++] = i;
    const int64_t size = n + Q;
    memset(m, 0, sizeof m);
    memset(v, 0, sizeof v);
    for (int64_t i = 0; i < n; i++) {
        const double *x = s->x + rows[i] * D, t[Q] = {1, x[2], x[0]};
        for (int64_t j = 0; j < n; j++) m[i * size + j] = k[rows[i] * N + rows[j]];
        m[i * size + i] += noise / s->weights[rows[i]];
        for (int64_t j = 0; j < Q; j++) m[i * size + n + j] = m[(n + j) * size + i] = t[j];
        v[i] = s->y[rows[i]];
    }
    (void)dense_solve(size, m, 1, v);
    memset(a, 0, N * sizeof *a);
    for (int64_t i = 0; i < n; i++) a[rows[i]] = v[i];
    memcpy(b, v + n, Q * sizeof *b);
    free(k);
}

static void ridge(void **state)
{
    gram_context *context = *state;
    sample s;
    gram_krr *krr, *cg;
    double a[N], b[Q], loo[N], wanted[N], values[2][N];
    int64_t fold[N];
    fill(context, &s);
    gram_krr_options options = options_of(&s);
    OK(context, gram_krr_fit(context, s.kernel, s.points, 1, s.y, 1, &options, &krr));
    const gram_function *f = gram_krr_function(krr);
    solve_whole(context, &s, -1, a, b);
    test_near("coefficients", NULL, N, gram_function_coefficients(f), a, 1e-10);
    test_near("constant", NULL, 1, gram_function_constant(f), b, 1e-10);
    const double slopes[D] = {b[2], 0, b[1]};
    test_near("slopes", NULL, D, gram_function_slopes(f), slopes, 1e-10);
    OK(context, gram_function_evaluate(context, f, s.points, values[0], 1));
    test_near("fitted", NULL, N, values[0], gram_krr_fitted(krr), 1e-12);
    for (int i = 0; i < N; i++) fold[i] = i;
    OK(context, gram_krr_fold_residuals(context, s.kernel, s.points, 1, s.y, 1, &options, fold, loo, 1));
    test_near("leaving out", NULL, N, loo, gram_krr_loo_residuals(krr), 1e-9);
    for (int i = 0; i < N; i++) {
        double *k = test_matrix(context, s.kernel, s.points, NULL);
        const double *x = s.x + i * D;
        solve_whole(context, &s, i, a, b);
        wanted[i] = s.y[i] - b[0] - b[1] * x[2] - b[2] * x[0];
        for (int j = 0; j < N; j++) wanted[i] -= k[i * N + j] * a[j];
        free(k);
    }
    test_near("left out", NULL, N, loo, wanted, 1e-8);
    options.solver = GRAM_SOLVER_CG;
    options.tolerance = 1e-14;
    OK(context, gram_krr_fit(context, s.kernel, s.points, 1, s.y, 1, &options, &cg));
    OK(context, gram_function_evaluate(context, gram_krr_function(cg), s.points, values[1], 1));
    test_near("by conjugate gradients", NULL, N, values[1], values[0], 1e-9);
    gram_krr_destroy(cg);
    gram_krr_destroy(krr);
    empty(&s);
}

/* The criteria are those of the fits, and their gradients those of differences. */
static void criteria(void **state)
{
    gram_context *context = *state;
    sample s;
    gram_krr *krr;
    double value, gradient[3], above, below;
    fill(context, &s);
    gram_krr_options options = options_of(&s);
    OK(context, gram_krr_fit(context, s.kernel, s.points, 1, s.y, 1, &options, &krr));
    const double error = gram_krr_get_report(krr)->loo_rmse, wanted = error * error;
    for (int kind = 0; kind < 5; kind++) {
        gram_krr_tune_options tune;
        gram_krr_tune_options_init(&tune, sizeof tune);
        tune.criterion = kind == 4 ? GRAM_CRITERION_CV : (gram_criterion)kind;
        tune.ordered = kind == 4;
        tune.weights = s.weights;
        tune.unpenalised_count = 2;
        tune.unpenalised = COLUMNS;
        OK(context,
           gram_krr_criterion(context, s.kernel, s.points, 1, s.y, 1, &tune, options.lambda, &value, gradient));
        if (tune.criterion == GRAM_CRITERION_LOO) test_near("leave-one-out", NULL, 1, &value, &wanted, 1e-10);
        for (int64_t p = 0; p < 2; p++) {
            gram_kernel *up = test_moved(context, s.kernel, p, 1e-5), *down = test_moved(context, s.kernel, p, -1e-5);
            OK(context, gram_krr_criterion(context, up, s.points, 1, s.y, 1, &tune, options.lambda, &above, NULL));
            OK(context, gram_krr_criterion(context, down, s.points, 1, s.y, 1, &tune, options.lambda, &below, NULL));
            const double slope = (above - below) / 2e-5;
            test_near("gradient", NULL, 1, &gradient[p], &slope, 1e-6);
            gram_kernel_release(up);
            gram_kernel_release(down);
        }
        OK(context, gram_krr_criterion(context, s.kernel, s.points, 1, s.y, 1, &tune, 0.01 + 1e-6, &above, NULL));
        OK(context, gram_krr_criterion(context, s.kernel, s.points, 1, s.y, 1, &tune, 0.01 - 1e-6, &below, NULL));
        const double slope = (above - below) / 2e-6;
        test_near("gradient by lambda", NULL, 1, &gradient[2], &slope, 1e-5);
    }
    gram_krr_destroy(krr);
    empty(&s);
}

/* T'a = 0 for every output: the condition for the coefficients of T. */
static void orthogonal(const char *what, const sample *s, const gram_function *f, double tolerance)
{
    const int64_t m = gram_function_outputs(f);
    const double *a = gram_function_coefficients(f), zero[Q] = {0};
    for (int64_t o = 0; o < m; o++) {
        double sums[Q] = {0}, size = 0;
        for (int64_t i = 0; i < N; i++) {
            const double t[Q] = {1, s->x[i * D + 2], s->x[i * D]};
            for (int j = 0; j < Q; j++) sums[j] += t[j] * a[i * m + o];
            size = fmax(size, fabs(a[i * m + o]));
        }
        for (int j = 0; j < Q; j++) sums[j] /= size;
        assert_true(size > 0);
        test_near(what, NULL, Q, sums, zero, tolerance);
    }
}

static void losses(void **state)
{
    gram_context *context = *state;
    static const double LEVELS[] = {0.2, 0.7};
    sample s;
    gram_krr *krr;
    gram_loss *loss;
    double values[2][N];
    fill(context, &s);
    gram_krr_options squares = options_of(&s);
    gram_loss_options options;
    gram_loss_options_init(&options, sizeof options);
    options.lambda = squares.lambda;
    options.weights = s.weights;
    options.unpenalised_count = 2;
    options.unpenalised = COLUMNS;
    OK(context, gram_krr_fit(context, s.kernel, s.points, 1, s.y, 1, &squares, &krr));
    OK(context, gram_function_evaluate(context, gram_krr_function(krr), s.points, values[0], 1));
    for (int kind = 0; kind < 2; kind++) { /* squared, and as Huber's */
        options.kind = kind == 0 ? GRAM_LOSS_SQUARED : GRAM_LOSS_HUBER;
        options.delta = 1e3;
        options.tolerance = 1e-11;
        OK(context, gram_loss_fit(context, s.kernel, s.points, s.y, &options, &loss));
        OK(context, gram_function_evaluate(context, gram_loss_function(loss), s.points, values[1], 1));
        test_near("squared loss", NULL, N, values[1], values[0], 1e-5);
        gram_loss_destroy(loss);
    }
    options.kind = GRAM_LOSS_QUANTILE;
    options.quantile_count = 2;
    options.quantiles = LEVELS;
    options.tolerance = 1e-9;
    for (int joint = 0; joint < 2; joint++) {
        options.non_crossing = joint;
        OK(context, gram_loss_fit(context, s.kernel, s.points, s.y, &options, &loss));
        assert_true(gram_loss_get_report(loss)->gap <= 1e-9); /* a certificate by the definitions of both objectives */
        orthogonal("quantiles", &s, gram_loss_function(loss), 1e-6);
        gram_loss_destroy(loss);
    }
    gram_krr_destroy(krr);
    empty(&s);
}

/* c a = g, the slope of the likelihood, from probabilities of the function itself; T'a = 0. */
static void classes(void **state)
{
    gram_context *context = *state;
    sample s;
    fill(context, &s);
    for (int64_t count = 2; count <= 3; count++) {
        double y[N], p[N * 3], wanted[N * 3];
        gram_logistic *logistic;
        gram_logistic_options options;
        gram_logistic_options_init(&options, sizeof options);
        options.lambda = 0.01;
        options.tolerance = 1e-11;
        options.unpenalised_count = 2;
        options.unpenalised = COLUMNS;
        for (int i = 0; i < N; i++) y[i] = (double)((int64_t)(i * 7 + (s.y[i] > 1)) % count);
        OK(context, gram_logistic_fit(context, s.kernel, s.points, count, y, &options, &logistic));
        const gram_function *f = gram_logistic_function(logistic);
        const int64_t m = gram_function_outputs(f);
        OK(context, gram_logistic_probabilities(context, f, s.points, p, count));
        for (int64_t i = 0; i < N; i++)
            for (int64_t c = 0; c < m; c++) {
                const int64_t of = m == 1 ? 1 : c;
                wanted[i * m + c] = ((double)(y[i] == (double)of) - p[i * count + of]) / (2 * N * options.lambda);
            }
        test_near("coefficients", NULL, N * m, gram_function_coefficients(f), wanted, 1e-7);
        orthogonal("classes", &s, f, 1e-8);
        gram_logistic_destroy(logistic);
    }
    empty(&s);
}

/* Gradients by differences, sums, and a model that keeps the slopes through bytes. */
static void functions(void **state)
{
    gram_context *context = *state;
    sample s;
    gram_krr *krr;
    gram_function *twice;
    gram_model *model, *read;
    double values[2][N], slopes[N * D], wanted[N * D];
    size_t size;
    fill(context, &s);
    gram_krr_options options = options_of(&s);
    OK(context, gram_krr_fit(context, s.kernel, s.points, 1, s.y, 1, &options, &krr));
    const gram_function *f = gram_krr_function(krr);
    OK(context, gram_function_gradient(context, f, 0, s.points, slopes, D));
    for (int64_t l = 0; l < D; l++) {
        for (int side = 0; side < 2; side++) {
            double *moved = malloc(N * D * sizeof *moved);
            for (int64_t k = 0; k < N * D; k++) moved[k] = s.x[k] + (k % D == l ? (side ? 1e-5 : -1e-5) : 0);
            gram_points *x = test_points(context, N, D, moved);
            OK(context, gram_function_evaluate(context, f, x, values[side], 1));
            gram_points_release(x);
            free(moved);
        }
        for (int i = 0; i < N; i++) wanted[i * D + l] = (values[1][i] - values[0][i]) / 2e-5;
    }
    test_near("gradient", NULL, N * D, slopes, wanted, 1e-7);
    OK(context, gram_function_evaluate(context, f, s.points, values[0], 1));
    OK(context, gram_function_combine(context, 1.5, f, 0.5, f, &twice));
    OK(context, gram_function_evaluate(context, twice, s.points, values[1], 1));
    for (int i = 0; i < N; i++) wanted[i] = 2 * values[0][i];
    test_near("sum", NULL, N, values[1], wanted, 1e-12);
    gram_function_release(twice);
    OK(context, gram_krr_model(context, krr, NULL, &model));
    OK(context, gram_model_write_memory(context, model, NULL, 0, &size));
    void *bytes = malloc(size);
    OK(context, gram_model_write_memory(context, model, bytes, size, &size));
    OK(context, gram_model_read_memory(context, "bytes", bytes, size, &read));
    OK(context, gram_function_evaluate(context, gram_model_function(read), s.points, values[1], 1));
    assert_true(test_same_bits(1, N, values[0], N, values[1], N));
    free(bytes);
    gram_model_destroy(read);
    gram_model_destroy(model);
    gram_krr_destroy(krr);
    empty(&s);
}

static void refusals(void **state)
{
    gram_context *context = *state;
    static const int64_t TWICE[] = {1, 1}, FAR[] = {3};
    sample s;
    gram_krr *krr;
    fill(context, &s);
    gram_krr_options options = options_of(&s);
    options.unpenalised = TWICE;
    REFUSED(context, gram_krr_fit(context, s.kernel, s.points, 1, s.y, 1, &options, &krr), GRAM_ERROR_ARGUMENT,
            "has column 1 twice");
    options.unpenalised = FAR;
    options.unpenalised_count = 1;
    REFUSED(context, gram_krr_fit(context, s.kernel, s.points, 1, s.y, 1, &options, &krr), GRAM_ERROR_ARGUMENT,
            "unpenalised[0] = 3 is not among the 3 columns");
    empty(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ridge),   cmocka_unit_test(criteria),  cmocka_unit_test(losses),
        cmocka_unit_test(classes), cmocka_unit_test(functions), cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
