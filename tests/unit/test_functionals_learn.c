/* Learning from functionals: Gaussian processes and ridge regression against slow twins, leave-one-out against fits without the
 * row, gradients of the likelihood, losses, model files, and differential equations with known solutions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dense_twin.h"
#include "points/points.h"
#include "support.h"

enum { N = 14, D = 2 };

static const double E1[D] = {1, 0};

/* Values, slopes, Laplacians, means over boxes and differences, in turn, with targets of a smooth function. */
typedef struct sample {
    double at[N][D], far[N][D], y[N];
    gram_functional_term terms[2 * N];
    gram_points *x;
} sample;

static void fill_sample(gram_context *context, sample *s)
{
    int64_t count = 0;
    double *spread = test_spread(3, N, D);
    for (int i = 0; i < N; i++) {
        static const gram_functional_kind KINDS[] = {GRAM_FUNCTIONAL_VALUE, GRAM_FUNCTIONAL_SLOPE,
                                                     GRAM_FUNCTIONAL_LAPLACIAN, GRAM_FUNCTIONAL_MEAN,
                                                     GRAM_FUNCTIONAL_VALUE};
        memcpy(s->at[i], spread + i * D, sizeof s->at[i]);
        s->far[i][0] = s->at[i][0] + 0.3, s->far[i][1] = s->at[i][1] + 0.2;
        const gram_functional_kind kind = KINDS[i % 5];
        s->terms[count++] = (gram_functional_term){.row = i,
                                                   .kind = kind,
                                                   .coefficient = 1,
                                                   .at = s->at[i],
                                                   .first = kind == GRAM_FUNCTIONAL_MEAN ? s->far[i] : E1};
        if (i % 5 == 4) s->terms[count++] = (gram_functional_term){.row = i, .coefficient = -1, .at = s->far[i]};
        s->y[i] = sin(2 * s->at[i][0]) + s->at[i][1] + (i % 5 == 0 ? 3 : 0);
    }
    free(spread);
    OK(context, gram_points_create_functionals(context, N, D, count, s->terms, &s->x));
}

/* ---- Gaussian processes ---- */

static void fit_gp(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y, gram_mean mean,
                   gram_gp **gp)
{
    gram_gp_options options;
    gram_gp_options_init(&options, sizeof options);
    options.noise = 0.05;
    options.mean = mean;
    OK(context, gram_gp_fit(context, kernel, x, y, &options, gp));
}

/* Mean and variance at functionals, with a mean of one constant or of constant and slopes: dense elimination. */
static void posterior(void **state)
{
    gram_context *context = *state;
    sample s;
    fill_sample(context, &s);
    gram_kernel *kernel = test_kernel(context, "1.5*rbf(ell=0.9)");
    for (int linear = 0; linear < 2; linear++) {
        const int64_t q = linear ? 1 + D : 1;
        gram_gp *gp;
        double mean[N], variance[N], wanted[N], covariance[N * N], columns[N * 3];
        double *a = test_matrix(context, kernel, s.x, NULL), *own = test_matrix(context, kernel, s.x, NULL);
        fit_gp(context, kernel, s.x, s.y, linear ? GRAM_MEAN_LINEAR : GRAM_MEAN_CONSTANT, &gp);
        OK(context, gram_gp_predict(context, gp, s.x, NULL, 0, mean, variance));
        for (int64_t i = 0; i < N; i++) {
            a[i * N + i] += 0.05;
            columns[i * q] = gram_points_of_one(s.x, i);
            for (int64_t l = 0; linear && l < D; l++) columns[i * q + 1 + l] = gram_points_of_column(s.x, i, l);
        }
        const dense_gp twin = {N, q, N, a, columns, s.y, own, own, columns, 0};
        const double likelihood = dense_gp_posterior(&twin, wanted, covariance);
        test_near("mean", NULL, N, mean, wanted, 1e-10);
        for (int64_t i = 0; i < N; i++) wanted[i] = covariance[i * N + i];
        test_near("variance", NULL, N, variance, wanted, 1e-10);
        test_near("likelihood", NULL, 1, &gram_gp_get_report(gp)->log_marginal_likelihood, &likelihood, 1e-10);
        gram_gp_destroy(gp);
        free(a);
        free(own);
    }
    gram_kernel_release(kernel);
    gram_points_release(s.x);
}

/* Values alone, as functionals and as points: the same process. */
static void values_alone(void **state)
{
    gram_context *context = *state;
    double *data = test_spread(4, N, D), y[N], first[N], second[N], va[N], vb[N];
    gram_functional_term terms[N];
    gram_points *x = test_points(context, N, D, data), *u;
    gram_gp *a, *b;
    for (int i = 0; i < N; i++) {
        terms[i] = (gram_functional_term){.row = i, .coefficient = 1, .at = data + i * D};
        y[i] = cos(data[i * D]);
    }
    OK(context, gram_points_create_functionals(context, N, D, N, terms, &u));
    gram_kernel *kernel = test_kernel(context, "rbf(ell=0.8)");
    fit_gp(context, kernel, x, y, GRAM_MEAN_CONSTANT, &a);
    fit_gp(context, kernel, u, y, GRAM_MEAN_CONSTANT, &b);
    OK(context, gram_gp_predict(context, a, u, NULL, 0, first, va));
    OK(context, gram_gp_predict(context, b, x, NULL, 0, second, vb));
    test_near("mean", NULL, N, first, second, 1e-12);
    test_near("variance", NULL, N, va, vb, 1e-12);
    gram_gp_destroy(a);
    gram_gp_destroy(b);
    gram_points_release(x);
    gram_points_release(u);
    gram_kernel_release(kernel);
    free(data);
}

/* The gradient of the likelihood against differences of it; other solvers are refused. */
static void likelihood(void **state)
{
    gram_context *context = *state;
    sample s;
    gram_gp_options options;
    double value, gradient[4], above, below;
    fill_sample(context, &s);
    gram_kernel *kernel = test_kernel(context, "1.5*rbf(ell=[0.9,1.4])");
    gram_gp_options_init(&options, sizeof options);
    options.noise = 0.05;
    OK(context, gram_gp_likelihood(context, kernel, s.x, s.y, &options, &value, gradient));
    for (int64_t p = 0; p < gram_kernel_parameter_count(kernel); p++) {
        gram_kernel *up = test_moved(context, kernel, p, 1e-5), *down = test_moved(context, kernel, p, -1e-5);
        OK(context, gram_gp_likelihood(context, up, s.x, s.y, &options, &above, NULL));
        OK(context, gram_gp_likelihood(context, down, s.x, s.y, &options, &below, NULL));
        const double wanted = (above - below) / 2e-5;
        test_near("gradient", NULL, 1, &gradient[p], &wanted, 1e-6);
        gram_kernel_release(up);
        gram_kernel_release(down);
    }
    gram_gp *gp;
    options.solver = GRAM_SOLVER_INDUCING;
    REFUSED(context, gram_gp_fit(context, kernel, s.x, s.y, &options, &gp), GRAM_ERROR_UNSUPPORTED, "solver exact");
    gram_kernel_release(kernel);
    gram_points_release(s.x);
}

/* ---- ridge regression ---- */

static void fit_krr(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y, double lambda,
                    gram_krr **krr)
{
    gram_krr_options options;
    gram_krr_options_init(&options, sizeof options);
    options.lambda = lambda;
    OK(context, gram_krr_fit(context, kernel, x, 1, y, 1, &options, krr));
}

/* It is the mean of the process; leaving a row out is a fit without it, to the same noise. */
static void ridge(void **state)
{
    gram_context *context = *state;
    sample s;
    gram_krr *krr, *less;
    gram_gp *gp;
    double mean[N], f[N];
    fill_sample(context, &s);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=0.9)");
    fit_krr(context, kernel, s.x, s.y, 0.05 / N, &krr);
    fit_gp(context, kernel, s.x, s.y, GRAM_MEAN_CONSTANT, &gp);
    OK(context, gram_gp_predict(context, gp, s.x, NULL, 0, mean, NULL));
    OK(context, gram_function_evaluate(context, gram_krr_function(krr), s.x, f, 1));
    test_near("krr and gp", NULL, N, f, mean, 1e-10);
    test_near("fitted", NULL, N, gram_krr_fitted(krr), f, 1e-10);
    for (int64_t i = 0; i < N; i++) {
        int64_t rows[N - 1];
        double y[N - 1], left;
        gram_points *others, *one;
        for (int64_t j = 0; j < N - 1; j++) rows[j] = j + (j >= i), y[j] = s.y[rows[j]];
        OK(context, gram_points_gather(context, s.x, N - 1, rows, &others));
        OK(context, gram_points_part(context, s.x, i, 1, &one));
        fit_krr(context, kernel, others, y, 0.05 / (N - 1), &less);
        OK(context, gram_function_evaluate(context, gram_krr_function(less), one, &left, 1));
        const double miss = s.y[i] - left;
        test_near("leave-one-out", NULL, 1, &gram_krr_loo_residuals(krr)[i], &miss, 1e-9);
        gram_krr_destroy(less);
        gram_points_release(others);
        gram_points_release(one);
    }
    gram_krr_destroy(krr);
    gram_gp_destroy(gp);
    gram_kernel_release(kernel);
    gram_points_release(s.x);
}

/* Tuning ends where the criterion is no worse than at the start. */
static void tuning(void **state)
{
    gram_context *context = *state;
    sample s;
    gram_krr *start, *end;
    gram_krr_tune_options options;
    gram_kernel *tuned;
    double lambda;
    fill_sample(context, &s);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=2)");
    gram_krr_tune_options_init(&options, sizeof options);
    options.lambda = 0.01;
    OK(context, gram_krr_tune(context, kernel, s.x, 1, s.y, 1, &options, &tuned, &lambda, NULL));
    fit_krr(context, kernel, s.x, s.y, 0.01, &start);
    fit_krr(context, tuned, s.x, s.y, lambda, &end);
    assert_true(gram_krr_get_report(end)->loo_rmse < gram_krr_get_report(start)->loo_rmse);
    gram_krr_destroy(start);
    gram_krr_destroy(end);
    gram_kernel_release(kernel);
    gram_kernel_release(tuned);
    gram_points_release(s.x);
}

/* Huber's loss of a large delta is the squared one, with a constant, which rows see as functionals do, and without. */
static void losses(void **state)
{
    gram_context *context = *state;
    sample s;
    gram_loss *loss;
    gram_krr *krr;
    gram_loss_options options;
    gram_krr_options squares;
    double a[N], b[N];
    fill_sample(context, &s);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=0.9)");
    gram_loss_options_init(&options, sizeof options);
    options.kind = GRAM_LOSS_HUBER;
    options.delta = 1000;
    options.lambda = 0.01;
    options.tolerance = 1e-12;
    gram_krr_options_init(&squares, sizeof squares);
    squares.lambda = 0.01;
    for (int intercept = 0; intercept < 2; intercept++) {
        options.intercept = squares.intercept = intercept;
        OK(context, gram_loss_fit(context, kernel, s.x, s.y, &options, &loss));
        OK(context, gram_krr_fit(context, kernel, s.x, 1, s.y, 1, &squares, &krr));
        OK(context, gram_function_evaluate(context, gram_loss_function(loss), s.x, a, 1));
        OK(context, gram_function_evaluate(context, gram_krr_function(krr), s.x, b, 1));
        test_near("Huber's loss", NULL, N, a, b, 1e-5);
        gram_loss_destroy(loss);
        gram_krr_destroy(krr);
    }
    gram_kernel_release(kernel);
    gram_points_release(s.x);
}

/* A model keeps them through a file, bit for bit. */
static void files(void **state)
{
    gram_context *context = *state;
    sample s;
    gram_krr *krr;
    gram_model *model, *read;
    double a[N], b[N];
    fill_sample(context, &s);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=0.9)");
    fit_krr(context, kernel, s.x, s.y, 0.01, &krr);
    OK(context, gram_krr_model(context, krr, NULL, &model));
    OK(context, gram_model_write(context, model, "functionals.gram"));
    OK(context, gram_model_read(context, "functionals.gram", &read));
    assert_true(gram_points_are_functionals(gram_function_centres(gram_model_function(read))));
    OK(context, gram_function_evaluate(context, gram_model_function(model), s.x, a, 1));
    OK(context, gram_function_evaluate(context, gram_model_function(read), s.x, b, 1));
    assert_true(test_same_bits(N, 1, a, 1, b, 1));
    gram_krr_destroy(krr);
    gram_model_destroy(model);
    gram_model_destroy(read);
    gram_kernel_release(kernel);
    gram_points_release(s.x);
}

/* ---- Poisson's equation on the unit square ---- */

static double solution(const double *x)
{
    return sin(2 * x[0]) * exp(x[1]);
}

/* Laplacian -3 u inside; u on the boundary but for the side x1 = 1, where its slope 2 cos(2 x1) exp(x2) is given. */
static double error_of(gram_context *context, const char *text, int m, int neumann)
{
    enum { GRID = 15 };
    const int n = (m + 1) * (m + 1);
    gram_functional_term *terms = calloc((size_t)n, sizeof *terms);
    double *at = test_numbers(2L * n), *y = test_numbers(n), grid[GRID * GRID][D], u[GRID * GRID], sum = 0;
    gram_points *x, *places;
    gram_gp *gp;
    gram_gp_options options;
    gram_kernel *kernel = test_kernel(context, text);
    for (int i = 0; i < n; i++) {
        double *p = at + 2L * i;
        p[0] = (double)(i % (m + 1)) / m, p[1] = (double)(i / (m + 1)) / m;
        const int inside = i % (m + 1) > 0 && i % (m + 1) < m && i / (m + 1) > 0 && i / (m + 1) < m;
        const int slope = neumann && p[0] == 1 && p[1] > 0 && p[1] < 1;
        terms[i] = (gram_functional_term){.row = i,
                                          .kind = inside  ? GRAM_FUNCTIONAL_LAPLACIAN
                                                  : slope ? GRAM_FUNCTIONAL_SLOPE
                                                          : GRAM_FUNCTIONAL_VALUE,
                                          .coefficient = 1,
                                          .at = p,
                                          .first = E1};
        y[i] = inside ? -3 * solution(p) : slope ? 2 * cos(2 * p[0]) * exp(p[1]) : solution(p);
    }
    OK(context, gram_points_create_functionals(context, n, D, n, terms, &x));
    gram_gp_options_init(&options, sizeof options);
    options.mean = GRAM_MEAN_ZERO;
    options.noise = 0;
    OK(context, gram_gp_fit(context, kernel, x, y, &options, &gp));
    for (int i = 0; i < GRID * GRID; i++) grid[i][0] = (i % GRID + 0.5) / GRID, grid[i][1] = (i / GRID + 0.5) / GRID;
    places = test_points(context, GRID * GRID, D, grid[0]);
    OK(context, gram_gp_predict(context, gp, places, NULL, 0, u, NULL));
    for (int i = 0; i < GRID * GRID; i++) sum += pow(u[i] - solution(grid[i]), 2) / (GRID * GRID);
    gram_gp_destroy(gp);
    gram_points_release(x);
    gram_points_release(places);
    gram_kernel_release(kernel);
    free(terms);
    free(at);
    free(y);
    return sqrt(sum);
}

/* Five-point differences on the same grid, by Gauss and Seidel's iteration: the error at its nodes. */
static double difference_error(int m)
{
    const int w = m + 1;
    double *u = test_numbers((int64_t)w * w), sum = 0;
    for (int i = 0; i < w * w; i++) {
        const double p[D] = {(double)(i % w) / m, (double)(i / w) / m};
        u[i] = i % w == 0 || i % w == m || i / w == 0 || i / w == m ? solution(p) : 0;
    }
    for (int sweep = 0; sweep < 40 * m * m; sweep++)
        for (int i = w + 1; i < w * m - 1; i++) {
            const double p[D] = {(double)(i % w) / m, (double)(i / w) / m};
            if (i % w > 0 && i % w < m)
                u[i] = (u[i - 1] + u[i + 1] + u[i - w] + u[i + w] + 3 * solution(p) / (m * m)) / 4;
        }
    for (int i = 0; i < w * w; i++) {
        const double p[D] = {(double)(i % w) / m, (double)(i / w) / m};
        sum += pow(u[i] - solution(p), 2) / (w * w);
    }
    free(u);
    return sqrt(sum);
}

/* matern(nu) in the plane has the Sobolev order s = nu + 1. Of a solution that is smoother than that, L2 errors fall at least like
 * h^(s - 2) (Giesl and Wendland 2007); of solutions that are smoother than the space more is seen. Slopes between steps of 1/4 and 1/16,
 * L2 norm on a grid. Five-point differences with as many unknowns fall like h^2. */
static void poisson(void **state)
{
    gram_context *context = *state;
    static const struct {
        const char *kernel;
        int neumann;
        double least, error;
    } CASES[] = {{"matern(nu=2.5, ell=1)", 0, 2.2, 2e-3},
                 {"matern(nu=3.5, ell=1)", 0, 3.2, 2e-4},
                 {"matern(nu=4.5, ell=1)", 0, 3.8, 5e-5},
                 {"matern(nu=3.5, ell=1)", 1, 2.5, 1e-3}};
    const double coarse = difference_error(4), fine = difference_error(16);
    print_message("differences: L2 error %.3g at h = 1/16, slope %.2f\n", fine, log2(coarse / fine) / 2);
    assert_true(fine > error_of(context, "matern(nu=4.5, ell=1)", 16, 0));
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        const double a = error_of(context, CASES[c].kernel, 4, CASES[c].neumann);
        const double b = error_of(context, CASES[c].kernel, 16, CASES[c].neumann), slope = log2(a / b) / 2;
        print_message("%s%s: L2 error %.3g at h = 1/16, slope %.2f\n", CASES[c].kernel,
                      CASES[c].neumann ? ", Neumann" : "", b, slope);
        if (!(slope >= CASES[c].least && b <= CASES[c].error))
            FAIL_TEST("%s: L2 error %g and %g, slope %.2f", CASES[c].kernel, a, b, slope);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(posterior), cmocka_unit_test(values_alone), cmocka_unit_test(likelihood),
        cmocka_unit_test(ridge),     cmocka_unit_test(tuning),       cmocka_unit_test(losses),
        cmocka_unit_test(files),     cmocka_unit_test(poisson),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
