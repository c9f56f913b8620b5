/* One Gaussian process by every solver: the posteriors agree, each is made again from its parts to the same bits, what a solver
 * cannot do is refused by name; the choice of a solver and the plan, an f32 factor that gives way, failing allocations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gp_cases.h"
#include "method/gp/gp_solvers.h"
#include "oom.h"
#include "support.h"

typedef struct way {
    gram_solver solver;
    gram_precision precision;
    double tolerance; /* of mean and variance against the exact ones */
} way;

static const way WAYS[] = {
    {GRAM_SOLVER_EXACT, GRAM_PRECISION_F64, 1e-12},   {GRAM_SOLVER_EXACT, GRAM_PRECISION_MIXED, 1e-6},
    {GRAM_SOLVER_MARKOV, GRAM_PRECISION_F64, 1e-8},   {GRAM_SOLVER_CG, GRAM_PRECISION_F64, 1e-6},
    {GRAM_SOLVER_INDUCING, GRAM_PRECISION_F64, 1e-4}, {GRAM_SOLVER_VECCHIA, GRAM_PRECISION_F64, 1e-9}};
enum { WAYS_COUNT = sizeof WAYS / sizeof *WAYS, ROWS = 80, D = 3, NEW = GP_NEW };

/* Data on the line, with a column of the mean beside them. */
typedef struct line {
    double x[ROWS], y[ROWS], row_noise[ROWS], weights[ROWS], basis[ROWS], z[NEW], new_basis[NEW];
} line;

static void make_line(line *t)
{
    test_uniform(7, ROWS, 0, 4, t->x);
    test_uniform(8, ROWS, -0.3, 0.3, t->y);
    test_uniform(9, ROWS, 0, 0.1, t->row_noise);
    test_uniform(10, ROWS, 0.5, 3, t->weights);
    test_uniform(11, NEW, -0.5, 4.5, t->z);
    for (int i = 0; i < ROWS; i++) {
        t->y[i] += 2 + sin(3 * t->x[i]);
        t->basis[i] = exp(-t->x[i]);
    }
    for (int i = 0; i < NEW; i++) t->new_basis[i] = exp(-t->z[i]);
}

/* Means of all kinds: `kind` 0 to 3. */
static gram_gp_options case_of(const line *t, int kind)
{
    gram_gp_options o;
    gram_gp_options_init(&o, sizeof o);
    o.noise = 0.05;
    o.mean = (gram_mean)(kind % 3);
    o.flat = kind > 1;
    if (kind == 3) o.row_noise = t->row_noise, o.weights = t->weights;
    if (kind > 0) o.columns = 1, o.basis = t->basis, o.ld = 1;
    return o;
}

static gram_gp *fit(gram_context *c, const way *w, const line *t, gram_gp_options o)
{
    gram_kernel *kernel = test_kernel(c, "1.3*matern(nu=1.5, ell=0.7)");
    gram_points *x = test_points(c, ROWS, 1, t->x);
    gram_gp_inducing_options inducing;
    gram_gp_vecchia_options vecchia;
    gram_gp *gp = NULL;
    gram_gp_inducing_options_init(&inducing, sizeof inducing);
    inducing.count = ROWS;
    o.inducing = &inducing;
    gram_gp_vecchia_options_init(&vecchia, sizeof vecchia);
    vecchia.neighbours = ROWS;
    o.vecchia = &vecchia;
    o.solver = w->solver;
    o.precision = w->precision;
    OK(c, gram_gp_fit(c, kernel, x, t->y, &o, &gp));
    gram_points_release(x);
    gram_kernel_release(kernel);
    return gp;
}

static void predict(gram_context *c, const gram_gp *gp, const line *t, double *out)
{
    gram_points *z = test_points(c, NEW, 1, t->z);
    OK(c, gram_gp_predict(c, gp, z, t->new_basis, 1, out, out + NEW));
    gram_points_release(z);
}

static void agree(void **state)
{
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    line t;
    double exact[2 * NEW], out[2 * NEW];
    make_line(&t);
    for (int kind = 0; kind < 4; kind++)
        for (int k = 0; k < WAYS_COUNT; k++) {
            const way *w = &WAYS[k];
            gram_gp *gp = fit(c, w, &t, case_of(&t, kind));
            const gram_gp_report *r = gram_gp_get_report(gp);
            assert_true(r->solver == w->solver && r->precision == w->precision && r->n == ROWS && r->d == 1);
            assert_true(r->noise == 0.05 && r->converged);
            assert_true(isnan(r->log_marginal_likelihood) == (w->solver == GRAM_SOLVER_INDUCING));
            assert_true(isnan(r->bound) == (w->solver != GRAM_SOLVER_INDUCING));
            assert_true(isnan(r->loo_rmse) == (gram_gp_loo_mean(gp) == NULL));
            assert_true((gram_gp_slopes(gp) != NULL) == (kind == 2));
            assert_true((gram_gp_column_coefficients(gp) != NULL) == (kind > 0));
            predict(c, gp, &t, k ? out : exact);
            for (int i = 0; i < 2 * NEW && k; i++)
                if (!(fabs(out[i] - exact[i]) < w->tolerance))
                    FAIL_TEST("kind %d, %s: %.12g, exact %.12g", kind, gram_solver_name(w->solver), out[i], exact[i]);
            gram_gp_destroy(gp);
        }
    gram_context_destroy(c);
}

/* The function with slopes and columns is the posterior mean, whichever solver made it. */
static void functions(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    line t;
    make_line(&t);
    gram_points *z = test_points(c, NEW, 1, t.z);
    for (int kind = 0; kind < 4; kind++)
        for (int k = 0; k < WAYS_COUNT; k++) {
            double out[2 * NEW], f[NEW];
            gram_gp *gp = fit(c, &WAYS[k], &t, case_of(&t, kind));
            const double *slopes = gram_gp_slopes(gp), *columns = gram_gp_column_coefficients(gp);
            predict(c, gp, &t, out);
            OK(c, gram_function_evaluate(c, gram_gp_function(gp), z, f, 1));
            for (int i = 0; i < NEW; i++) {
                if (slopes) f[i] += slopes[0] * t.z[i];
                if (columns) f[i] += columns[0] * t.new_basis[i];
                if (!(fabs(f[i] - out[i]) < 1e-8)) FAIL_TEST("kind %d, way %d: %g and %g", kind, k, f[i], out[i]);
            }
            gram_gp_destroy(gp);
        }
    gram_points_release(z);
    gram_context_destroy(c);
}

/* Made again from its parts, with the data where they are needed. */
static gram_gp *again(gram_context *c, const gram_gp *gp, const line *t, int kind, const double *factor)
{
    gram_gp_parts parts = {.size = sizeof parts};
    const gram_gp_options o = case_of(t, kind);
    gram_gp *copy = NULL;
    gram_gp_describe(gp, &parts);
    if (parts.solver != GRAM_SOLVER_INDUCING && !factor) {
        parts.y = t->y;
        parts.row_noise = o.row_noise;
        parts.weights = o.weights;
        parts.basis = o.basis;
        parts.ld = o.ld;
    }
    if (factor) parts.factor = factor;
    OK(c, gram_gp_create(c, gram_function_kernel(gram_gp_function(gp)), &parts, &copy));
    return copy;
}

static void same_bits_from_parts(void **state)
{
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    line t;
    double first[2 * NEW], second[2 * NEW];
    make_line(&t);
    for (int kind = 0; kind < 4; kind++)
        for (int k = 0; k < WAYS_COUNT; k++) {
            gram_gp *gp = fit(c, &WAYS[k], &t, case_of(&t, kind)), *copy = again(c, gp, &t, kind, NULL);
            predict(c, gp, &t, first);
            gram_gp_destroy(gp);
            predict(c, copy, &t, second);
            if (WAYS[k].solver == GRAM_SOLVER_CG ||
                WAYS[k].precision == GRAM_PRECISION_MIXED) /* solved without probes */
                for (int i = 0; i < 2 * NEW; i++) assert_true(fabs(first[i] - second[i]) < 1e-6);
            else
                assert_memory_equal(first, second, sizeof first);
            gram_gp_destroy(copy);
        }
    gram_context_destroy(c);
}

/* The factor taken out and put back: nothing is factored, the bits of everything are the same. Three rows of tiles. */
static void same_bits_from_factor(void **state)
{
    (void)state;
    gp_data *t = &(gp_data){.n = 0};
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    gp_make_data(20, 300, D, t);
    const int64_t count = (int64_t)t->n * (t->n + 1) / 2;
    double *factor = test_numbers(count), *first = test_numbers(4 * NEW + NEW * NEW), *second;
    second = test_numbers(4 * NEW + NEW * NEW);
    gram_points *x = test_points(c, t->n, D, t->x), *z = test_points(c, NEW, D, t->z);
    for (int k = 0; k < GP_SETTINGS_COUNT; k++) {
        const gram_gp_options o = gp_options_of(&GP_SETTINGS[k], t);
        const double *basis = o.columns ? t->new_basis : NULL;
        gram_kernel *kernel = test_kernel(c, GP_SETTINGS[k].kernel), *term = gram_kernel_term(kernel, 0);
        gram_gp *gp = NULL;
        gram_gp_parts parts = {.size = sizeof parts};
        OK(c, gram_gp_fit(c, kernel, x, t->y, &o, &gp));
        for (int made = 0; made < 2; made++) {
            double *out = made ? second : first;
            gram_gp *copy = NULL;
            if (made) {
                gram_gp_describe(gp, &parts);
                parts.factor = factor;
                OK(c, gram_gp_factor(c, gp, factor));
                OK(c, gram_gp_create(c, kernel, &parts, &copy));
                gram_gp_destroy(gp);
                gp = copy;
            }
            OK(c, gram_gp_predict(c, gp, z, basis, 1, out, out + NEW));
            OK(c, gram_gp_predict_term(c, gp, term, z, out + 2 * NEW, out + 3 * NEW));
            OK(c, gram_gp_covariance(c, gp, z, basis, 1, out + 4 * NEW, NEW));
        }
        assert_memory_equal(first, second, (4 * NEW + NEW * NEW) * sizeof *first);
        gram_gp_destroy(gp);
        gram_kernel_release(kernel);
    }
    gram_points_release(x);
    gram_points_release(z);
    gram_context_destroy(c);
    free(factor);
    free(first);
    free(second);
}

/* Row i of the packed factor times row j is A_ij. */
static void factor_is_one(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    line t;
    double factor[ROWS * (ROWS + 1) / 2], k[ROWS * ROWS];
    make_line(&t);
    gram_gp *gp = fit(c, &WAYS[0], &t, case_of(&t, 3));
    gram_points *x = test_points(c, ROWS, 1, t.x);
    OK(c, gram_gp_factor(c, gp, factor));
    OK(c, gram_matrix(c, gram_function_kernel(gram_gp_function(gp)), x, NULL, k, ROWS));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int l = 0; l <= j; l++) sum += factor[i * (i + 1) / 2 + l] * factor[j * (j + 1) / 2 + l];
            const double noise = i == j ? 0.05 / t.weights[i] + t.row_noise[i] : 0;
            assert_true(fabs(sum - k[i * ROWS + j] - noise) < 1e-12);
        }
    gram_points_release(x);
    gram_gp_destroy(gp);
    gram_context_destroy(c);
}

static void bad_parts(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    line t;
    double factor[ROWS * (ROWS + 1) / 2];
    make_line(&t);
    gram_gp *gp = fit(c, &WAYS[0], &t, case_of(&t, 2)), *copy = NULL;
    gram_kernel *kernel = gram_function_kernel(gram_gp_function(gp));
    gram_gp_parts parts = {.size = sizeof parts}, bad;
    OK(c, gram_gp_factor(c, gp, factor));
    gram_gp_describe(gp, &parts);
    assert_null(parts.factor);
    assert_int_equal(gram_gp_create(c, kernel, &parts, &copy), GRAM_ERROR_ARGUMENT); /* neither data nor factor */
    assert_non_null(strstr(gram_context_message(c), "y is NULL"));
    parts.factor = factor;
    factor[2] = -factor[2];
    assert_int_equal(gram_gp_create(c, kernel, &parts, &copy), GRAM_ERROR_DATA);
    assert_non_null(strstr(gram_context_message(c), "diagonal of row 1"));
    factor[2] = NAN;
    assert_int_equal(gram_gp_create(c, kernel, &parts, &copy), GRAM_ERROR_DATA);
    factor[2] = 1;
    bad = parts, bad.coefficients = NULL;
    assert_int_equal(gram_gp_create(c, kernel, &bad, &copy), GRAM_ERROR_ARGUMENT);
    bad = parts, bad.beta = NULL;
    assert_int_equal(gram_gp_create(c, kernel, &bad, &copy), GRAM_ERROR_ARGUMENT);
    bad = parts, bad.mean_weights = NULL;
    assert_int_equal(gram_gp_create(c, kernel, &bad, &copy), GRAM_ERROR_ARGUMENT);
    bad = parts, bad.n = ROWS - 1;
    assert_int_equal(gram_gp_create(c, kernel, &bad, &copy), GRAM_ERROR_DIMENSION);
    bad = parts, bad.solver = GRAM_SOLVER_AUTO;
    assert_int_equal(gram_gp_create(c, kernel, &bad, &copy), GRAM_ERROR_ARGUMENT);
    bad = parts, bad.noise = NAN;
    assert_int_equal(gram_gp_create(c, kernel, &bad, &copy), GRAM_ERROR_ARGUMENT);
    bad = parts, bad.centres = NULL;
    assert_int_equal(gram_gp_create(c, kernel, &bad, &copy), GRAM_ERROR_ARGUMENT);
    bad = parts, bad.size = 0;
    assert_int_equal(gram_gp_create(c, kernel, &bad, &copy), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_gp_create(c, kernel, NULL, &copy), GRAM_ERROR_ARGUMENT);
    assert_null(copy);
    gram_gp_destroy(gp);
    gram_context_destroy(c);
}

/* A shorter struct is filled up to its size. */
static void short_parts(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    line t;
    make_line(&t);
    gram_gp *gp = fit(c, &WAYS[0], &t, case_of(&t, 2));
    gram_gp_parts parts;
    memset(&parts, 0x55, sizeof parts);
    parts.size = offsetof(gram_gp_parts, beta);
    gram_gp_describe(gp, &parts);
    const unsigned char *bytes = (const unsigned char *)&parts;
    for (size_t i = parts.size; i < sizeof parts; i++) assert_int_equal(bytes[i], 0x55);
    assert_true(parts.n == ROWS && parts.coefficients != NULL);
    gram_gp_destroy(gp);
    gram_context_destroy(c);
}

static void refused(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    line t;
    double out[NEW * NEW];
    make_line(&t);
    gram_points *z = test_points(c, NEW, 1, t.z);
    for (int k = 1; k < WAYS_COUNT; k++) {
        gram_gp *gp = fit(c, &WAYS[k], &t, case_of(&t, 0));
        gram_kernel *kernel = gram_function_kernel(gram_gp_function(gp));
        const int markov = WAYS[k].solver == GRAM_SOLVER_MARKOV;
        assert_int_equal(gram_gp_predict_term(c, gp, kernel, z, out, NULL), GRAM_ERROR_UNSUPPORTED);
        assert_non_null(strstr(gram_context_message(c), gram_solver_name(WAYS[k].solver)));
        assert_int_equal(gram_gp_covariance(c, gp, z, NULL, 0, out, NEW), GRAM_ERROR_UNSUPPORTED);
        assert_int_equal(gram_gp_factor(c, gp, out), GRAM_ERROR_UNSUPPORTED);
        assert_int_equal(gram_gp_draw(c, gp, z, NULL, 0, 1, out, 1, NULL), markov ? GRAM_OK : GRAM_ERROR_UNSUPPORTED);
        const int filters = markov || WAYS[k].solver == GRAM_SOLVER_VECCHIA;
        assert_int_equal(gram_gp_gradient(c, gp, z, out, 1), filters ? GRAM_ERROR_UNSUPPORTED : GRAM_OK);
        gram_gp_destroy(gp);
    }
    gram_points_release(z);
    gram_context_destroy(c);
}

/* ---- the choice ---- */

static gram_plan plan_of(size_t budget, const char *text, int64_t n, int64_t d, const gram_gp_options *o,
                         gram_status expected)
{
    gram_context *c = NULL;
    gram_plan plan;
    gram_context_options options;
    gram_context_options_init(&options, sizeof options);
    options.memory_budget = budget;
    assert_int_equal(gram_context_create(&options, &c), GRAM_OK);
    gram_kernel *kernel = test_kernel(c, text);
    assert_int_equal(gram_gp_plan(c, kernel, n, d, o, &plan), expected);
    assert_true(expected < 0 || (plan.bytes > 0 && plan.seconds > 0 && plan.reason[0]));
    gram_kernel_release(kernel);
    gram_context_destroy(c);
    return plan;
}

static void chosen(void **state)
{
    (void)state;
    gram_gp_options o;
    gram_gp_options_init(&o, sizeof o);
    o.noise = NAN; /* not known yet */
    const size_t much = (size_t)64 << 30;
    assert_int_equal(plan_of(much, "matern(nu=1.5)", 1000, 1, &o, GRAM_OK).solver, GRAM_SOLVER_EXACT);
    assert_int_equal(plan_of(much, "matern(nu=1.5)", 1001, 1, &o, GRAM_OK).solver, GRAM_SOLVER_MARKOV);
    assert_int_equal(plan_of(much, "rbf", 1001, 1, &o, GRAM_OK).solver, GRAM_SOLVER_EXACT);
    assert_int_equal(plan_of(much, "rbf", 30000, 3, &o, GRAM_OK).solver, GRAM_SOLVER_EXACT);
    assert_int_equal(plan_of(much, "rbf", 30001, 3, &o, GRAM_OK).solver, GRAM_SOLVER_CG);
    assert_int_equal(plan_of(much, "rbf", 100000, 3, &o, GRAM_OK).solver, GRAM_SOLVER_CG);
    assert_int_equal(plan_of(much, "rbf", 100001, 3, &o, GRAM_OK).solver, GRAM_SOLVER_VECCHIA);
    assert_int_equal(plan_of(much, "rbf + linear", 100001, 3, &o, GRAM_OK).solver, GRAM_SOLVER_INDUCING);
    assert_int_equal(plan_of(much, "rbf", 100001, 4, &o, GRAM_OK).solver, GRAM_SOLVER_INDUCING);
    assert_int_equal(plan_of(much, "rbf", 100001, 4, &o, GRAM_OK).landmarks, 5059);
    const size_t little = (size_t)800 << 20; /* 10,000 rows: 400 MB in f64 fit; 20,000: only the 800 MB in f32 do */
    assert_int_equal(plan_of(little, "rbf", 10000, 3, &o, GRAM_OK).precision, GRAM_PRECISION_F64);
    gram_plan plan = plan_of((size_t)1400 << 20, "rbf", 20000, 3, &o, GRAM_OK);
    assert_true(plan.solver == GRAM_SOLVER_EXACT && plan.precision == GRAM_PRECISION_MIXED);
    o.precision = GRAM_PRECISION_F64;
    assert_int_equal(plan_of((size_t)1400 << 20, "rbf", 20000, 3, &o, GRAM_OK).solver, GRAM_SOLVER_CG);
    o.noise = 0; /* no other can: what does not fit is told */
    assert_int_equal(plan_of((size_t)1400 << 20, "rbf", 20000, 3, &o, GRAM_ERROR_BUDGET).solver, GRAM_SOLVER_EXACT);
    o.solver = GRAM_SOLVER_CG;
    (void)plan_of(much, "rbf", 100, 3, &o, GRAM_ERROR_ARGUMENT);
    o.noise = 1;
    o.precision = GRAM_PRECISION_MIXED;
    (void)plan_of(much, "rbf", 100, 3, &o, GRAM_ERROR_ARGUMENT);
    o.precision = GRAM_PRECISION_F32;
    o.solver = GRAM_SOLVER_AUTO;
    (void)plan_of(much, "rbf", 100, 3, &o, GRAM_ERROR_ARGUMENT);
    o.precision = GRAM_PRECISION_AUTO;
    o.solver = GRAM_SOLVER_NYSTROM;
    (void)plan_of(much, "rbf", 100, 3, &o, GRAM_ERROR_ARGUMENT);
    o.solver = GRAM_SOLVER_MARKOV;
    (void)plan_of(much, "rbf", 100, 1, &o, GRAM_ERROR_UNSUPPORTED);
    (void)plan_of(much, "min()", 100, 2, &o, GRAM_ERROR_UNSUPPORTED);
    (void)plan_of(much, "min()", 0, 1, &o, GRAM_ERROR_ARGUMENT);
}

/* A factor in f32 that a plan chose and the matrix does not allow; asked for by name it is not replaced. */
static void gives_way(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    gp_data *t = &(gp_data){.n = 0};
    gp_make_data(61, 300, D, t);
    gram_kernel *kernel = test_kernel(c, "rbf(ell=2)");
    gram_points *x = test_points(c, t->n, D, t->x);
    gram_gp_options o;
    gram_plan plan = {.solver = GRAM_SOLVER_EXACT, .precision = GRAM_PRECISION_MIXED};
    gram_gp *gp = NULL;
    gram_gp_options_init(&o, sizeof o);
    o.noise = 1e-13;
    o.plan = &plan;
    assert_true(gram_gp_fit(c, kernel, x, t->y, &o, &gp) >= 0);
    assert_int_equal(gram_gp_get_report(gp)->solver, GRAM_SOLVER_CG);
    gram_gp_destroy(gp);
    o.precision = GRAM_PRECISION_MIXED;
    assert_int_equal(gram_gp_fit(c, kernel, x, t->y, &o, &gp), GRAM_ERROR_NUMERICAL);
    assert_null(gp);
    gram_points_release(x);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
}

/* Every solver's value and gradient. */
static void likelihoods(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    line t;
    double exact[4], out[4];
    make_line(&t);
    gram_kernel *kernel = test_kernel(c, "1.3*matern(nu=1.5, ell=0.7)");
    gram_points *x = test_points(c, ROWS, 1, t.x);
    gram_gp_options o = case_of(&t, 3);
    gram_gp_inducing_options inducing;
    gram_gp_vecchia_options vecchia;
    gram_gp_cg_options cg;
    gram_gp_inducing_options_init(&inducing, sizeof inducing);
    gram_gp_cg_options_init(&cg, sizeof cg);
    cg.probes = 400;
    inducing.count = ROWS;
    o.inducing = &inducing;
    o.cg = &cg;
    gram_gp_vecchia_options_init(&vecchia, sizeof vecchia);
    vecchia.neighbours = ROWS;
    o.vecchia = &vecchia;
    for (int k = 0; k < WAYS_COUNT; k++) {
        o.solver = WAYS[k].solver;
        o.precision = WAYS[k].precision;
        if (WAYS[k].solver == GRAM_SOLVER_INDUCING) inducing.positions = x;
        OK(c, gram_gp_likelihood(c, kernel, x, t.y, &o, k ? out : exact, (k ? out : exact) + 1));
        for (int i = 0; i < 4 && k; i++) /* probes estimate the trace in the gradient */
            if (!(fabs(out[i] - exact[i]) < (o.solver == GRAM_SOLVER_CG && i > 0 ? 0.1 : 1e-3) * (1 + fabs(exact[i]))))
                FAIL_TEST("%s: %d is %g, exact %g", gram_solver_name(o.solver), i, out[i], exact[i]);
    }
    gram_points_release(x);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
}

/* ---- allocations that fail ---- */

static gram_status play(gram_context *c)
{
    enum { FEW = 20 };
    line t;
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL;
    gram_points *x = NULL;
    double factor[FEW * (FEW + 1) / 2], mean[FEW], variance[FEW];
    make_line(&t);
    if (status >= 0) status = gram_kernel_parse(c, "matern(nu=1.5, ell=0.4)", &kernel);
    if (status >= 0) status = gram_points_create_f64(c, FEW, 1, t.x, 1, &x);
    for (int k = 0; k < WAYS_COUNT && status >= 0; k++) {
        gram_gp_options o = case_of(&t, 2);
        gram_gp_parts parts = {.size = sizeof parts};
        gram_gp *gp = NULL, *copy = NULL;
        o.solver = WAYS[k].solver;
        o.precision = WAYS[k].precision;
        status = gram_gp_fit(c, kernel, x, t.y, &o, &gp);
        if (status >= 0) gram_gp_describe(gp, &parts);
        if (status >= 0 && k == 0) status = gram_gp_factor(c, gp, factor);
        if (k == 0) parts.factor = factor;
        parts.y = t.y;
        parts.basis = t.basis;
        parts.ld = 1;
        if (status >= 0) status = gram_gp_create(c, gram_function_kernel(gram_gp_function(gp)), &parts, &copy);
        if (status >= 0) status = gram_gp_predict(c, copy, x, t.basis, 1, mean, variance);
        gram_gp_destroy(gp);
        gram_gp_destroy(copy);
    }
    gram_points_release(x);
    gram_kernel_release(kernel);
    return status;
}

static void out_of_memory(void **state)
{
    (void)state;
    assert_true(oom_each(play, 0) > 30);
    (void)oom_each(play, 1);
    (void)oom_budget(play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agree),
        cmocka_unit_test(functions),
        cmocka_unit_test(same_bits_from_parts),
        cmocka_unit_test(same_bits_from_factor),
        cmocka_unit_test(factor_is_one),
        cmocka_unit_test(bad_parts),
        cmocka_unit_test(short_parts),
        cmocka_unit_test(refused),
        cmocka_unit_test(chosen),
        cmocka_unit_test(gives_way),
        cmocka_unit_test(likelihoods),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
