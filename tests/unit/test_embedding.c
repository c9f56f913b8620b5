/* Mean embeddings: of samples against sums, of Gaussians against numerical integrals and against large samples of their moments. */
#include <string.h>

#include "oom.h"
#include "samples.h"

/* E of g(z) for z of N(0, 1) by the trapezoidal rule, which is spectrally accurate here. */
typedef double (*one_argument)(const void *data, double z);

static double integrate(one_argument g, const void *data)
{
    const double step = 0.02, reach = 12;
    double sum = 0;
    for (double z = -reach; z <= reach; z += step) sum += g(data, z) * exp(-z * z / 2);
    return sum * step / 2.5066282746310002;
}

static void samples(void **state)
{
    enum { N = 30, D = 2 };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double *x = sample_normal(1, N * D), *w = test_random(2, N, -1, 1), *k = test_numbers(N * N), got, want = 0, even;
    gram_points *points = test_points(context, N, D, x);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)");
    gram_function *mu = NULL, *plain = NULL;
    (void)state;
    OK(context, gram_matrix(context, kernel, points, NULL, k, N));
    OK(context, gram_embedding_create(context, kernel, points, w, &mu));
    OK(context, gram_embedding_create(context, kernel, points, NULL, &plain));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) want += w[i] * k[i * N + j] / N;
    OK(context, gram_function_inner(context, mu, plain, &got));
    OK(context, gram_embedding_expectation(context, mu, points, NULL, &even)); /* E f = <f, mu> */
    assert_true(fabs(got - want) <= 1e-14 && fabs(even - want) <= 1e-14);
    w[3] = NAN;
    gram_function *none = NULL;
    REFUSED(context, gram_embedding_create(context, kernel, points, w, &none), GRAM_ERROR_DATA, "weights[3]");
    assert_null(none);
    gram_function_release(mu);
    gram_function_release(plain);
    gram_kernel_release(kernel);
    gram_points_release(points);
    free(x);
    free(w);
    free(k);
    gram_context_destroy(context);
}

/* ---- one dimension: against integrals ---- */

typedef struct line {
    gram_context *context;
    gram_kernel *kernel;
    double x, mean, deviation;
} line;

static double kernel_at(const line *l, double x, double y)
{
    double out;
    gram_points *a = test_points(l->context, 1, 1, &x), *b = test_points(l->context, 1, 1, &y);
    OK(l->context, gram_matrix(l->context, l->kernel, a, b, &out, 1));
    gram_points_release(a);
    gram_points_release(b);
    return out;
}

static double along(const void *data, double z)
{
    const line *l = data;
    return kernel_at(l, l->x, l->mean + l->deviation * z);
}

static void line_integrals(void **state)
{
    static const char *const texts[] = {"rbf(ell=0.7)",     "linear(c=0.5)", "poly(m=3, c=1)",
                                        "poly(m=6, c=0.2)", "monomial(m=4)", "2*rbf(ell=1) + 0.5*poly(m=2, c=1) + 3",
                                        "const(2)"};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    const double mean = 0.4, variance = 1.3 * 1.3, x[] = {-1.1, 0, 0.7};
    const gram_gaussian gaussian = {1, &mean, &variance};
    gram_points *points = test_points(context, 3, 1, x);
    (void)state;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        gram_kernel *kernel = test_kernel(context, texts[t]);
        double out[3];
        OK(context, gram_gaussian_embed(context, kernel, &gaussian, points, out));
        for (int i = 0; i < 3; i++) {
            const line l = {context, kernel, x[i], mean, 1.3};
            const double want = integrate(along, &l);
            if (!(fabs(out[i] - want) <= 1e-12 * (1 + fabs(want))))
                FAIL_TEST("%s: %.17g, want %.17g", texts[t], out[i], want);
        }
        gram_kernel_release(kernel);
    }
    gram_points_release(points);
    gram_context_destroy(context);
}

/* ---- the double integral: the single one integrated once more ---- */

typedef struct outer {
    gram_context *context;
    const gram_kernel *kernel;
    const gram_gaussian *q;
    int64_t d;
    double mean[2], factor[4]; /* of p */
    double first;              /* z_1, for two dimensions */
} outer;

static double embed_at(const outer *o, double z1, double z2)
{
    double at[2] = {o->mean[0] + o->factor[0] * z1, o->mean[1] + o->factor[2] * z1 + o->factor[3] * z2}, out;
    gram_points *point = test_points(o->context, 1, o->d, at);
    OK(o->context, gram_gaussian_embed(o->context, o->kernel, o->q, point, &out));
    gram_points_release(point);
    return out;
}

static double second_axis(const void *data, double z)
{
    const outer *o = data;
    return embed_at(o, o->first, z);
}

/* A coarser rule: smooth integrands, two dimensions. */
static double plane(outer *o)
{
    const double step = 0.25, reach = 9;
    double sum = 0;
    for (double z = -reach; z <= reach; z += step) {
        double inner = 0;
        o->first = z;
        for (double s = -reach; s <= reach; s += step) inner += second_axis(o, s) * exp(-s * s / 2);
        sum += inner * exp(-z * z / 2);
    }
    return sum * step * step / 6.283185307179586;
}

static void double_integrals(void **state)
{
    static const char *const texts[] = {"rbf(ell=1.5)",   "rbf(ell=[1,2])", "rbf(S=[1,0.3;0.3,2])",
                                        "linear(c=0.5)",  "poly(m=2, c=1)", "poly(m=3, c=0.5)",
                                        "poly(m=5, c=1)", "monomial(m=4)",  "rbf(ell=1) + 2*poly(m=2, c=0)"};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    const double mp[] = {0.3, -0.2}, lp[] = {0.8, 0, 0.3, 0.6}, mq[] = {-0.4, 0.5}, sq[] = {0.5, -0.2, -0.2, 0.9};
    const double sp[] = {0.64, 0.24, 0.24, 0.45};
    const gram_gaussian p = {2, mp, sp}, q = {2, mq, sq};
    (void)state;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        gram_kernel *kernel = test_kernel(context, texts[t]);
        outer o = {context, kernel, &q, 2, {mp[0], mp[1]}, {lp[0], lp[1], lp[2], lp[3]}, 0};
        double got, swapped;
        const double want = plane(&o);
        OK(context, gram_gaussian_inner(context, kernel, &p, &q, &got));
        OK(context, gram_gaussian_inner(context, kernel, &q, &p, &swapped));
        if (!(fabs(got - want) <= 1e-10 * fabs(want))) FAIL_TEST("%s: %.17g, want %.17g", texts[t], got, want);
        assert_true(fabs(got - swapped) <= 1e-13 * fabs(got));
        gram_kernel_release(kernel);
    }
    gram_context_destroy(context);
}

/* Point masses are Gaussians of variance 0, and the MMD of a distribution with itself is 0. MMD <= W_1/ell for rbf. */
static void special_cases(void **state)
{
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    const double zero[4] = {0}, a[] = {0.3, 1}, b[] = {-0.2, 0.5};
    const gram_gaussian p = {2, a, zero}, q = {2, b, zero}, standard = {2, a, NULL}, moved = {2, b, NULL};
    gram_points *x = test_points(context, 1, 2, a), *y = test_points(context, 1, 2, b);
    static const char *const texts[] = {"rbf(ell=0.8)", "poly(m=4, c=1)"};
    (void)state;
    for (int t = 0; t < 2; t++) {
        gram_kernel *kernel = test_kernel(context, texts[t]);
        double want, got;
        OK(context, gram_matrix(context, kernel, x, y, &want, 1));
        OK(context, gram_gaussian_inner(context, kernel, &p, &q, &got));
        assert_true(fabs(got - want) <= 1e-14 * fabs(want));
        OK(context, gram_gaussian_mmd_squared(context, kernel, &standard, &standard, &got));
        assert_true(got == 0);
        OK(context, gram_gaussian_mmd_squared(context, kernel, &standard, &moved, &got));
        if (t == 0) assert_true(sqrt(got) <= hypot(0.5, 0.5) / 0.8); /* W_1 is the distance of the means */
        gram_kernel_release(kernel);
    }
    gram_points_release(x);
    gram_points_release(y);
    gram_context_destroy(context);
}

static void bad_arguments(void **state)
{
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    const double mean[] = {0, 0}, skew[] = {1, 0.5, 0.4, 1}, wrong[] = {1, 2, 2, 1}, nan_mean[] = {0, NAN};
    const gram_gaussian good = {2, mean, NULL}, narrow = {1, mean, NULL}, a = {2, mean, skew}, b = {2, mean, wrong},
                        c = {2, nan_mean, NULL};
    gram_kernel *rbf = test_kernel(context, "rbf(ell=1)"), *laplace = test_kernel(context, "laplace(ell=1)");
    gram_kernel *open = test_kernel(context, "rbf"), *product = test_kernel(context, "rbf(ell=1)*linear(c=0)");
    gram_kernel *part = test_kernel(context, "on(1, rbf(ell=1))");
    double out;
    (void)state;
    assert_int_equal(gram_gaussian_inner(context, laplace, &good, &good, &out), GRAM_ERROR_UNSUPPORTED);
    assert_int_equal(gram_gaussian_inner(context, product, &good, &good, &out), GRAM_ERROR_UNSUPPORTED);
    assert_int_equal(gram_gaussian_inner(context, part, &good, &good, &out), GRAM_ERROR_UNSUPPORTED);
    assert_int_equal(gram_gaussian_inner(context, open, &good, &good, &out), GRAM_ERROR_UNSET);
    assert_int_equal(gram_gaussian_inner(context, rbf, &good, &narrow, &out), GRAM_ERROR_DIMENSION);
    assert_int_equal(gram_gaussian_inner(context, rbf, &good, &a, &out), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_gaussian_inner(context, rbf, &b, &good, &out), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_gaussian_inner(context, rbf, &c, &good, &out), GRAM_ERROR_DATA);
    assert_int_equal(gram_gaussian_inner(context, rbf, NULL, &good, &out), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_gaussian_embed(context, rbf, &good, NULL, &out), GRAM_ERROR_ARGUMENT);
    gram_kernel_release(rbf);
    gram_kernel_release(laplace);
    gram_kernel_release(open);
    gram_kernel_release(product);
    gram_kernel_release(part);
    gram_context_destroy(context);
}

static gram_status play(gram_context *context)
{
    static const double x[6] = {0, 1, 2, 3, 4, 5}, mean[2] = {0, 0};
    const gram_gaussian g = {2, mean, NULL};
    gram_points *points = NULL;
    gram_kernel *kernel = NULL;
    gram_function *mu = NULL;
    double out[3];
    gram_status status = gram_points_create_f64(context, 3, 2, x, 2, &points);
    if (status >= 0) status = gram_kernel_parse(context, "rbf(ell=1) + poly(m=2, c=1)", &kernel);
    if (status >= 0) status = gram_embedding_create(context, kernel, points, NULL, &mu);
    if (status >= 0) status = gram_embedding_expectation(context, mu, points, NULL, out);
    if (status >= 0) status = gram_gaussian_embed(context, kernel, &g, points, out);
    if (status >= 0) status = gram_gaussian_mmd_squared(context, kernel, &g, &g, out);
    gram_function_release(mu);
    gram_kernel_release(kernel);
    gram_points_release(points);
    return status;
}

static void out_of_memory(void **state)
{
    (void)state;
    for (int for_good = 0; for_good < 2; for_good++) assert_true(oom_each(play, for_good) > 5);
    (void)oom_budget(play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(samples),          cmocka_unit_test(line_integrals),
                                       cmocka_unit_test(double_integrals), cmocka_unit_test(special_cases),
                                       cmocka_unit_test(bad_arguments),    cmocka_unit_test(out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
