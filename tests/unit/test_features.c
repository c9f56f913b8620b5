/* Feature maps against the kernel matrix: inner products of features are its entries, exactly or within the bound that the map
 * itself gives; dimensions are the ranks that the facts have; formulas in one dimension; frequencies by what they must average to. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"
#include "support.h"

enum { N = 24, D = 3 };

static gram_features_options want(gram_features_kind kind, int64_t dimension, int64_t degree, double tolerance)
{
    gram_features_options options;
    gram_features_options_init(&options, sizeof options);
    options.kind = kind;
    options.dimension = dimension;
    options.degree = degree;
    options.tolerance = tolerance;
    return options;
}

typedef struct scene {
    gram_context *context;
    int64_t n, d;
    double *x;
    gram_points *points;
    gram_kernel *kernel;
    gram_features *map;
    const gram_features_report *report;
    double *k, *z, *e; /* K, features, and what is left of the diagonal */
} scene;

static scene begin(gram_context *context, const char *kernel, int64_t n, int64_t d, double *x,
                   gram_features_options options)
{
    scene s = {.context = context, .n = n, .d = d, .x = x};
    s.points = test_points(context, n, d, x);
    s.kernel = test_kernel(context, kernel);
    OK(context, gram_features_create(context, s.kernel, d, s.points, &options, &s.map));
    s.report = gram_features_get_report(s.map);
    s.k = test_matrix(context, s.kernel, s.points, NULL);
    s.z = test_numbers(n * s.report->dimension);
    s.e = test_numbers(n);
    OK(context, gram_features_transform(context, s.map, n, x, d, s.z, s.report->dimension));
    OK(context, gram_features_residual(context, s.map, n, x, d, s.e));
    return s;
}

static void end(scene *s)
{
    gram_features_destroy(s->map);
    gram_kernel_release(s->kernel);
    gram_points_release(s->points);
    free(s->k), free(s->z), free(s->e);
}

static double inner(const scene *s, int64_t i, int64_t j)
{
    const int64_t m = s->report->dimension;
    double sum = 0;
    for (int64_t c = 0; c < m; c++) sum += s->z[i * m + c] * s->z[j * m + c];
    return sum;
}

/* |k - z.z| <= sqrt(e e) for all pairs, e is k(x, x) - |z|^2, and the report has the largest. */
static void check_bound(const char *name, const scene *s)
{
    double most = 0;
    for (int64_t i = 0; i < s->n; i++) {
        const double rounding = 1e-13 * (1 + fabs(s->k[i * s->n + i])) * (1 + (double)s->report->degree / 100);
        if (fabs(s->k[i * s->n + i] - inner(s, i, i) - s->e[i]) > rounding)
            FAIL_TEST("%s: e = %.17g, not %.17g", name, s->e[i], s->k[i * s->n + i] - inner(s, i, i));
        for (int64_t j = 0; j < i; j++)
            if (fabs(s->k[i * s->n + j] - inner(s, i, j)) > sqrt(s->e[i] * s->e[j]) + rounding)
                FAIL_TEST("%s: |k - z.z| = %g is above the bound %g", name, fabs(s->k[i * s->n + j] - inner(s, i, j)),
                          sqrt(s->e[i] * s->e[j]));
        most = fmax(most, s->e[i]);
    }
    test_near("error", name, 1, &s->report->error, &most, 1e-12);
}

/* ---- explicit ---- */

static void exact_maps(void **state)
{
    static const struct {
        const char *kernel;
        int64_t dimension; /* 0: the rank of the facts */
    } cases[] = {
        {"const(2)", 1},
        {"linear", D},
        {"linear(c=0.5)", D + 1},
        {"poly(m=1,c=0)", D},
        {"poly(m=3,c=0.5)", 20},
        {"poly(m=4,c=0)", 15},
        {"monomial(m=3)", 20},
        {"on(2,poly(m=5,c=1))", 6},
        {"linear + 2*poly(m=2,c=1)", 3 + 10},
        {"linear(c=1)*on([1,3],linear)", 8},
        {"(linear(c=1) + on(1,poly(m=2,c=0)))^2", 15},
        {"warp([1,2,0;0,1,-1],poly(m=2,c=1))", 6},
        {"normalize(poly(m=2,c=1))", 10},
        {"const(0)*linear + linear", 6},
    };
    gram_context *context = *state;
    double *x = test_random(1, N * D, -1.5, 1.5);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        scene s = begin(context, cases[c].kernel, N, D, x, want(GRAM_FEATURES_EXPLICIT, 0, -1, 1e-6));
        assert_int_equal(s.report->dimension, cases[c].dimension);
        assert_true(s.report->exact);
        assert_true(s.report->error == 0);
        check_bound(cases[c].kernel, &s);
        end(&s);
    }
    free(x);
}

/* Series without an end: the tolerance is met, by no degree below, and the bound holds. */
static void cut_series(void **state)
{
    static const char *const kernels[] = {
        "expdot(s=1.5)",
        "rbf(ell=1)",
        "rbf(ell=[0.8,1.5,3])",
        "rbf(S=[1,0.3,0;0.3,0.8,0.1;0,0.1,2])",
        "2*rbf(ell=1.3) + poly(m=2,c=1)",
        "rbf(ell=2)*linear(c=1)",
        "exp(linear)",
        "exp(on(1,rbf(ell=2)))",
        "on(2,rbf(ell=1))*on([1,3],rbf(ell=2))",
        "normalize(expdot(s=1))",
        "normalize(exp(on(1:2,linear)))",
        "on(1:2,rbf(ell=2))^2",
        "warp([1,2,0;0,1,-1],rbf(ell=2))",
    };
    gram_context *context = *state;
    double *x = test_random(2, N * D, -1, 1);
    for (int64_t i = 0; i < N; i++) x[i * D + 2] -= 0.5;
    for (size_t c = 0; c < sizeof kernels / sizeof *kernels; c++)
        for (int t = 0; t < 2; t++) {
            const double tolerance = t == 0 ? 1e-2 : 1e-5;
            double least = 0, most = 0;
            scene s = begin(context, kernels[c], N, D, x, want(GRAM_FEATURES_EXPLICIT, 0, -1, tolerance));
            check_bound(kernels[c], &s);
            for (int64_t i = 0; i < N; i++) most = fmax(most, s.k[i * N + i]);
            assert_true(!s.report->exact && s.report->error <= tolerance * most && s.report->error > 0);
            const int64_t before = s.report->degree - 1;
            end(&s);
            if (before < 0) continue;
            s = begin(context, kernels[c], N, D, x, want(GRAM_FEATURES_EXPLICIT, 0, before, tolerance));
            least = s.report->error;
            if (least <= tolerance * most) FAIL_TEST("%s: degree %d would do", kernels[c], (int)before);
            check_bound(kernels[c], &s);
            end(&s);
        }
    double whole[] = {0, 1, 2, 3, 2, 0};
    scene s = begin(context, "intpow", 6, 1, whole, want(GRAM_FEATURES_EXPLICIT, 0, -1, 1e-6));
    check_bound("intpow", &s);
    end(&s);
    free(x);
}

/* On the line, about 0: exp(-x^2/2) x^n/sqrt(n!); far out, where exp(-x^2/2) underflows, too. */
static void one_dimension(void **state)
{
    enum { DEGREE = 12, FAR = 2600 };
    gram_context *context = *state;
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)");
    gram_features *map = NULL;
    gram_features_options options = want(GRAM_FEATURES_EXPLICIT, 0, DEGREE, 1e-6);
    const double x[3] = {-1.7, 0, 2.2};
    double z[3 * (DEGREE + 1)], wanted[3 * (DEGREE + 1)];
    OK(context, gram_features_create(context, kernel, 1, NULL, &options, &map));
    assert_int_equal(gram_features_get_report(map)->dimension, DEGREE + 1);
    assert_true(isnan(gram_features_get_report(map)->error));
    OK(context, gram_features_transform(context, map, 3, x, 1, z, DEGREE + 1));
    for (int i = 0; i < 3; i++)
        for (int n = 0; n <= DEGREE; n++)
            wanted[i * (DEGREE + 1) + n] = exp(-x[i] * x[i] / 2) * pow(x[i], n) / sqrt(tgamma(n + 1));
    test_near("features", NULL, 3 * (DEGREE + 1), z, wanted, 1e-14);
    gram_features_destroy(map);
    options.degree = FAR;
    double *far = test_numbers(2 * (FAR + 1)), sum = 0, cross = 0;
    OK(context, gram_features_create(context, kernel, 1, NULL, &options, &map));
    OK(context, gram_features_transform(context, map, 2, (const double[]){45, 45.5}, 1, far, FAR + 1));
    for (int n = 0; n <= FAR; n++) sum += far[n] * far[n], cross += far[n] * far[FAR + 1 + n];
    test_near("far away", NULL, 1, &sum, &(double){1}, 1e-12);
    test_near("far away", NULL, 1, &cross, &(double){exp(-0.125)}, 1e-12);
    gram_features_destroy(map);
    gram_kernel_release(kernel);
    free(far);
}

/* ---- random frequencies, landmarks ---- */

static double mean_square(const scene *s)
{
    double sum = 0;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < i; j++) sum += pow(s->k[i * s->n + j] - inner(s, i, j), 2);
    return 2 * sum / ((double)s->n * (double)(s->n - 1));
}

/* z.z is a mean of D/2 independent numbers of mean k and variance at most k(0)^2: its mean square error is at most 2 k(0)^2/D, up to
 * the spread of an estimate from one draw, and |z|^2 = k(0). */
static void fourier(void **state)
{
    static const char *const kernels[] = {"rbf(ell=0.7)",
                                          "rbf(ell=[0.5,1,2])",
                                          "matern(nu=1.5,ell=0.8)",
                                          "laplace(ell=1)",
                                          "laplace1(ell=1)",
                                          "rq(alpha=1.5,ell=0.5)",
                                          "imq(c=0.5,beta=1)",
                                          "powexp(p=1.4,ell=0.6)",
                                          "sinc(B=2)",
                                          "cosine(p=2)",
                                          "periodic(p=3,ell=0.9)",
                                          "2*rbf(ell=0.3) + on(1,laplace(ell=2))*on([2,3],matern(nu=2.5,ell=1))"};
    gram_context *context = *state;
    double *x = test_random(3, N * D, -1, 1);
    for (size_t c = 0; c < sizeof kernels / sizeof *kernels; c++)
        for (int64_t columns = 100; columns <= 10000; columns *= 100) {
            scene s = begin(context, kernels[c], N, D, x, want(GRAM_FEATURES_FOURIER, columns, -1, 1e-6));
            const double square = mean_square(&s), root = sqrt(square), k0 = s.k[0];
            assert_int_equal(s.report->dimension, columns);
            test_near("error", kernels[c], 1, &s.report->error, &root, 1e-12);
            if (square > 3 * 2 * k0 * k0 / (double)columns)
                FAIL_TEST("%s: D = %d: the root mean square error is %g", kernels[c], (int)columns, root);
            for (int64_t i = 0; i < N; i++) {
                const double norm = inner(&s, i, i);
                test_near("|z|^2", kernels[c], 1, &norm, &s.k[i * N + i], 1e-12);
                assert_true(s.e[i] == 0);
            }
            end(&s);
        }
    free(x);
}

/* The root mean square error falls like D^(-1/2), by a line through the logarithms, and shares of pairs whose error exceeds e are at most 2 exp(-D
 * e^2/4), over seeds. */
static void rates_and_bounds(void **state)
{
    enum { SEEDS = 40, SIZES = 5 };
    double *x = test_random(15, N * D, -1, 1), root[SIZES] = {0}, beyond = 0, sums[4] = {0};
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        gram_context *context = NULL;
        gram_context_options how;
        gram_context_options_init(&how, sizeof how);
        how.seed = seed;
        assert_int_equal(gram_context_create(&how, &context), GRAM_OK);
        for (int k = 0; k < SIZES; k++) {
            scene s = begin(context, "rbf(ell=0.7)", N, D, x, want(GRAM_FEATURES_FOURIER, 32 << k, -1, 1e-6));
            root[k] += mean_square(&s) / SEEDS;
            const double e = sqrt(4 * log(40) / (32 << k)); /* a bound of 0.05 */
            for (int64_t i = 0; i < N; i++)
                for (int64_t j = 0; j < i; j++) beyond += fabs(s.k[i * N + j] - inner(&s, i, j)) > e;
            end(&s);
        }
        gram_context_destroy(context);
    }
    for (int k = 0; k < SIZES; k++) {
        const double at = log(32 << k), value = log(root[k]) / 2;
        sums[0] += at, sums[1] += value, sums[2] += at * at, sums[3] += at * value;
    }
    const double slope = (SIZES * sums[3] - sums[0] * sums[1]) / (SIZES * sums[2] - sums[0] * sums[0]);
    if (fabs(slope + 0.5) > 0.06) FAIL_TEST("the error falls like D^%g", slope);
    assert_true(beyond / (SEEDS * SIZES * N * (N - 1) / 2) <= 0.05);
    free(x);
}

static void nystrom(void **state)
{
    gram_context *context = *state;
    double *x = test_random(4, N * D, -1, 1);
    for (int64_t m = 5; m <= N; m += N - 5) {
        scene s = begin(context, "matern(nu=1.5,ell=1)", N, D, x, want(GRAM_FEATURES_NYSTROM, m, -1, 1e-6));
        assert_int_equal(s.report->dimension, m);
        check_bound("nystrom", &s);
        if (m == N) assert_true(s.report->error < 1e-12);
        end(&s);
    }
    scene s = begin(context, "linear", N, D, x, want(GRAM_FEATURES_NYSTROM, 10, -1, 1e-6));
    assert_int_equal(s.report->dimension, D);
    end(&s);
    free(x);
}

/* Every rule chooses rows, all of them where all are asked for; the trace error is that of K - Z Z', and rules that look at the kernel leave
 * less of it than the first rows drawn do. Given points are taken as they are. */
static void landmark_rules(void **state)
{
    enum { MANY = 400, M = 30 };
    gram_context *context = *state;
    double *x = test_random(14, MANY * 2, -1, 1), error[GRAM_LANDMARKS_GIVEN + 1];
    for (int64_t i = 0; i < MANY - 40; i++) x[2 * i] *= 0.1, x[2 * i + 1] *= 0.1; /* most of them crowd */
    gram_points *given = test_points(context, M, 2, x);
    for (int rule = 0; gram_landmark_rule_name((gram_landmark_rule)rule); rule++) {
        gram_features_options options = want(GRAM_FEATURES_NYSTROM, M, -1, 1e-6);
        options.landmark_rule = (gram_landmark_rule)rule;
        options.landmarks = given;
        scene s = begin(context, "matern(nu=0.5,ell=0.3)", MANY, 2, x, options);
        const char *name = gram_landmark_rule_name((gram_landmark_rule)rule);
        double left = 0, trace = 0;
        assert_int_equal(s.report->dimension, M);
        check_bound(name, &s);
        for (int64_t i = 0; i < MANY; i++) left += s.k[i * MANY + i] - inner(&s, i, i), trace += s.k[i * MANY + i];
        error[rule] = left / trace;
        test_near("trace error", name, 1, &s.report->trace_error, &error[rule], 1e-12);
        end(&s);
        options.dimension = MANY;
        if (rule == GRAM_LANDMARKS_GIVEN) continue;
        s = begin(context, "matern(nu=0.5,ell=0.3)", MANY, 2, x, options);
        assert_true(s.report->dimension == MANY && s.report->error < 1e-12);
        end(&s);
    }
    assert_true(error[GRAM_LANDMARKS_CHOLESKY] < error[GRAM_LANDMARKS_UNIFORM]);
    assert_true(error[GRAM_LANDMARKS_KMEANS] < error[GRAM_LANDMARKS_UNIFORM]);
    assert_true(error[GRAM_LANDMARKS_LEVERAGE] < error[GRAM_LANDMARKS_UNIFORM]);
    gram_points_release(given);
    free(x);
}

/* ---- all kinds ---- */

static const char *const of_kind[] = {"rbf(ell=1) + linear", "matern(nu=1.5,ell=1)", "min(o=-2)", "laplace1(ell=1)",
                                      "nngp(sb=1)"};

static void fill(gram_context *context, double *out)
{
    double *x = test_random(5, 60 * D, -1, 1), *at = out;
    for (int kind = 0; gram_features_kind_name((gram_features_kind)kind); kind++) {
        scene s = begin(context, of_kind[kind], 60, D, x, want((gram_features_kind)kind, 10, 4, 1e-2));
        memcpy(at, s.z, (size_t)(60 * 10) * sizeof *at);
        at += 60 * 10;
        end(&s);
    }
    free(x);
}

static void any_threads(void **state)
{
    (void)state;
    test_any_threads(5 * 60 * 10, fill);
}

/* Rows by themselves and through a model have the same bits. */
static void rows_and_models(void **state)
{
    gram_context *context = *state;
    double *x = test_random(6, N * D, -1, 1);
    for (int kind = 0; gram_features_kind_name((gram_features_kind)kind); kind++) {
        scene s = begin(context, of_kind[kind], N, D, x, want((gram_features_kind)kind, 10, -1, 1e-2));
        const int64_t m = s.report->dimension;
        double *one = test_numbers(m), *all = test_numbers(N * m);
        gram_model *model = NULL;
        gram_features *again = NULL;
        gram_string text = {0};
        OK(context, gram_features_transform(context, s.map, 1, x + 7 * D, D, one, m));
        assert_true(test_same_bits(1, m, one, m, s.z + 7 * m, m));
        OK(context, gram_features_model(context, s.map, NULL, N, &model));
        OK(context, gram_predict(context, model, NULL, N, x, D, all, m));
        assert_true(test_same_bits(N, m, all, m, s.z, m));
        OK(context, gram_features_of_model(context, model, &again));
        assert_int_equal(gram_features_get_report(again)->degree, s.report->degree);
        assert_true(gram_features_get_report(again)->error == s.report->error);
        gram_features_describe(again, &text);
        assert_non_null(strstr(text.data, "3 columns"));
        gram_string_free(&text);
        gram_features_destroy(again);
        gram_model_destroy(model);
        free(one), free(all);
        end(&s);
    }
    free(x);
}

/* ---- growing maps ---- */

/* Errors of the first `features` features, by the obvious way: a random map is scaled to its size, column c of fourier is a cosine whose sine is
 * half of all further on, a grid is a range of columns, and what stands before the units of a network is never scaled. */
static gram_features_step obvious(const scene *s, int64_t features)
{
    const gram_features_kind kind = s->report->kind;
    const int64_t all = s->report->dimension, half = all / 2, fixed = kind == GRAM_FEATURES_NEURAL ? 1 : 0;
    const int64_t grid = kind == GRAM_FEATURES_BINNING ? all / s->report->nonzeros : 1;
    gram_features_step step = {.features = features};
    double squares = 0;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < i; j++) {
            double sum = 0, constant = 0, part = 1;
            for (int64_t c = 0; c < all; c++) {
                const double product = s->z[i * all + c] * s->z[j * all + c];
                const int64_t place = kind == GRAM_FEATURES_FOURIER ? 2 * (c % half) : c / grid;
                if (c < fixed)
                    constant += product;
                else if (place < features)
                    sum += product;
            }
            if (kind == GRAM_FEATURES_FOURIER) part = (double)features / (double)all;
            if (kind == GRAM_FEATURES_BINNING) part = (double)features / (double)s->report->nonzeros;
            if (fixed) part = (double)(features - 1) / (double)(all - 1);
            const double error = fabs(s->k[i * s->n + j] - constant - sum / part);
            squares += error * error;
            step.largest = fmax(step.largest, error);
        }
    step.rms = sqrt(2 * squares / ((double)s->n * (double)(s->n - 1)));
    return step;
}

static void growing_maps(void **state)
{
    static const struct {
        const char *kernel;
        gram_features_kind kind;
        int64_t dimension, steps, last;
    } cases[] = {
        {"rbf(ell=1)", GRAM_FEATURES_FOURIER, 40, 6, 40}, /* frequencies 1, 2, 4, 8, 16, 20 */
        {"laplace1(ell=1)", GRAM_FEATURES_BINNING, 8, 4, 8},      {"nngp(sb=1)", GRAM_FEATURES_NEURAL, 16, 5, 17},
        {"matern(nu=1.5,ell=1)", GRAM_FEATURES_NYSTROM, N, 6, N}, {"poly(m=3,c=0.5)", GRAM_FEATURES_EXPLICIT, 0, 6, 20},
    };
    gram_context *context = *state;
    double *x = test_random(11, N * D, -1, 1);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        scene s = begin(context, cases[c].kernel, N, D, x, want(cases[c].kind, cases[c].dimension, -1, 1e-6));
        gram_features_step steps[GRAM_FEATURES_STEPS];
        int64_t count = 0;
        OK(context, gram_features_convergence(context, s.map, N, x, D, &count, steps));
        assert_int_equal(count, cases[c].steps);
        assert_int_equal(steps[count - 1].features, cases[c].last);
        for (int64_t i = 0; i < count; i++) {
            const gram_features_step twin = obvious(&s, steps[i].features);
            test_near("rms", cases[c].kernel, 1, &steps[i].rms, &twin.rms, 1e-12);
            test_near("largest", cases[c].kernel, 1, &steps[i].largest, &twin.largest, 1e-12);
        }
        end(&s);
    }
    free(x);
}

/* Every allocation fails in turn. */
static gram_status play(gram_context *context)
{
    static const char *const texts[] = {"normalize(exp(linear))*rbf(ell=[1,2]) + poly(m=2,c=1)", "rbf(ell=1)",
                                        "rbf(ell=1)", "laplace1(ell=1)", "nngp(sb=1)"};
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL;
    gram_points *points = NULL;
    gram_features *map = NULL, *again = NULL;
    gram_model *model = NULL;
    double x[10], *z = NULL;
    int64_t count = 0;
    gram_features_step steps[GRAM_FEATURES_STEPS];
    test_uniform(9, 10, 0, 1, x);
    STEP(gram_points_create_f64(context, 5, 2, x, 2, &points));
    for (int kind = 0; kind < 5; kind++) {
        gram_features_options options = want((gram_features_kind)kind, 4, -1, 0.1);
        options.frequencies = GRAM_FREQUENCIES_QMC;
        STEP(gram_kernel_parse(context, texts[kind], &kernel));
        STEP(gram_features_create(context, kernel, 2, points, &options, &map));
        z = test_numbers(5 * gram_features_get_report(map)->dimension);
        STEP(gram_features_transform(context, map, 5, x, 2, z, gram_features_get_report(map)->dimension));
        STEP(gram_features_residual(context, map, 5, x, 2, z));
        STEP(gram_features_convergence(context, map, 5, x, 2, &count, steps));
        STEP(gram_features_model(context, map, NULL, 5, &model));
        STEP(gram_features_of_model(context, model, &again));
        gram_features_destroy(map), gram_features_destroy(again), gram_model_destroy(model),
            gram_kernel_release(kernel);
        free(z);
        map = again = NULL, model = NULL, kernel = NULL, z = NULL;
    }
done:
    gram_features_destroy(map), gram_features_destroy(again), gram_model_destroy(model), gram_kernel_release(kernel);
    gram_points_release(points);
    free(z);
    return status;
}

static void out_of_memory(void **state)
{
    (void)state;
    assert_true(oom_each(play, 0) > 30);
}

static void bad_input(void **state)
{
    gram_context *context = *state;
    double *x = test_random(7, N * D, -1, 1), out[64];
    gram_points *points = test_points(context, N, D, x), *line = test_points(context, N * D, 1, x);
    gram_kernel *rbf = test_kernel(context, "rbf(ell=0.001)"), *matern = test_kernel(context, "matern(nu=1.5,ell=1)"),
                *linear = test_kernel(context, "linear"), *unset = test_kernel(context, "rbf"),
                *zero = test_kernel(context, "const(0)");
    gram_features *map = NULL;
    gram_features_options o = want(GRAM_FEATURES_EXPLICIT, 0, -1, 1e-6);
    REFUSED(context, gram_features_create(context, matern, D, points, &o, &map), GRAM_ERROR_UNSUPPORTED,
            "matern has no explicit features");
    REFUSED(context, gram_features_create(context, rbf, D, points, &o, &map), GRAM_ERROR_ARGUMENT, "are not made");
    REFUSED(context, gram_features_create(context, rbf, D, NULL, &o, &map), GRAM_ERROR_ARGUMENT,
            "degree must be given");
    REFUSED(context, gram_features_create(context, rbf, 1, line, &o, &map), GRAM_ERROR_ARGUMENT, "up to degree 10000");
    REFUSED(context, gram_features_create(context, unset, D, points, &o, &map), GRAM_ERROR_UNSET, "ell");
    REFUSED(context, gram_features_create(context, NULL, D, points, &o, &map), GRAM_ERROR_ARGUMENT, "kernel is NULL");
    REFUSED(context, gram_features_create(context, rbf, 2, points, &o, &map), GRAM_ERROR_ARGUMENT, "d = 2");
    o.most = 2;
    REFUSED(context, gram_features_create(context, linear, D, points, &o, &map), GRAM_ERROR_ARGUMENT, "3 features");
    o = want(GRAM_FEATURES_EXPLICIT, 0, -2, 1e-6);
    REFUSED(context, gram_features_create(context, rbf, D, points, &o, &map), GRAM_ERROR_ARGUMENT, "degree = -2");
    o = want(GRAM_FEATURES_EXPLICIT, 0, 2, 0);
    REFUSED(context, gram_features_create(context, rbf, D, points, &o, &map), GRAM_ERROR_ARGUMENT, "tolerance = 0");
    o = want(GRAM_FEATURES_FOURIER, 7, -1, 1e-6);
    REFUSED(context, gram_features_create(context, rbf, D, points, &o, &map), GRAM_ERROR_ARGUMENT, "7 is odd");
    o.dimension = 8;
    REFUSED(context, gram_features_create(context, linear, D, points, &o, &map), GRAM_ERROR_UNSUPPORTED, "of linear");
    o = want(GRAM_FEATURES_NYSTROM, 8, -1, 1e-6);
    REFUSED(context, gram_features_create(context, rbf, D, NULL, &o, &map), GRAM_ERROR_ARGUMENT, "x is NULL");
    REFUSED(context, gram_features_create(context, zero, D, points, &o, &map), GRAM_ERROR_DATA, "0 to rounding");
    o.landmark_rule = GRAM_LANDMARKS_GIVEN;
    REFUSED(context, gram_features_create(context, rbf, D, points, &o, &map), GRAM_ERROR_ARGUMENT, "landmarks is NULL");
    o.landmarks = line;
    REFUSED(context, gram_features_create(context, rbf, D, points, &o, &map), GRAM_ERROR_DIMENSION,
            "the landmarks have 1 columns");
    o.landmark_rule = (gram_landmark_rule)9;
    REFUSED(context, gram_features_create(context, rbf, D, points, &o, &map), GRAM_ERROR_ARGUMENT, "landmark_rule = 9");
    assert_null(map);
    OK(context, gram_features_create(context, linear, D, NULL, NULL, &map));
    REFUSED(context, gram_features_transform(context, map, 2, x, D, out, 2), GRAM_ERROR_ARGUMENT, "ldo = 2");
    int64_t count = 0;
    gram_features_step steps[GRAM_FEATURES_STEPS];
    REFUSED(context, gram_features_convergence(context, map, 2, x, D, &count, NULL), GRAM_ERROR_ARGUMENT,
            "steps is NULL");
    REFUSED(context, gram_features_convergence(context, map, 1, x, D, &count, steps), GRAM_ERROR_ARGUMENT,
            "fewer than two rows");
    x[4] = NAN;
    REFUSED(context, gram_features_transform(context, map, 2, x, D, out, 3), GRAM_ERROR_DATA, "x[1][1]");
    gram_features_destroy(map);
    gram_points_release(points), gram_points_release(line);
    gram_kernel_release(rbf), gram_kernel_release(matern), gram_kernel_release(linear), gram_kernel_release(unset);
    gram_kernel_release(zero);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_maps),     cmocka_unit_test(cut_series),       cmocka_unit_test(one_dimension),
        cmocka_unit_test(fourier),        cmocka_unit_test(rates_and_bounds), cmocka_unit_test(nystrom),
        cmocka_unit_test(landmark_rules), cmocka_unit_test(any_threads),      cmocka_unit_test(rows_and_models),
        cmocka_unit_test(bad_input),      cmocka_unit_test(out_of_memory),    cmocka_unit_test(growing_maps),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
