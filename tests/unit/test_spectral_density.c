/* Spectral densities against numerical Fourier transforms of the kernels, against digits from elsewhere, and by what they add up to. */
#include <math.h>
#include <stdlib.h>

#include "oom.h"
#include "support.h"

static const double PI = 3.14159265358979323846;

/* k(0, t v) for n numbers t. */
static double *along(gram_context *context, const gram_kernel *kernel, int64_t d, const double *v, int64_t n,
                     const double *t)
{
    double *x = test_numbers((n + 1) * d);
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < d; l++) x[(i + 1) * d + l] = t[i] * v[l];
    gram_points *points = test_points(context, n, d, x + d), *origin = test_points(context, 1, d, x);
    double *out = test_matrix(context, kernel, points, origin);
    gram_points_release(points), gram_points_release(origin);
    free(x);
    return out;
}

enum { HALVINGS = 40, EQUAL = 6000, PANELS = HALVINGS + EQUAL };

/* Gauss's rule of 3 nodes on panels of (0, end), the first of them halved again and again. */
static void make_rule(double end, double *t, double *w)
{
    static const double node[3] = {-0.77459666924148337704, 0, 0.77459666924148337704},
                        weight[3] = {5.0 / 9, 8.0 / 9, 5.0 / 9};
    const double length = end / EQUAL;
    for (int p = 0; p < PANELS; p++) {
        const double from = p < HALVINGS ? (p == 0 ? 0 : length * exp2(p - HALVINGS - 1.0))
                                         : length * (p - HALVINGS == 0 ? 0.5 : p - HALVINGS);
        const double to = p < HALVINGS ? length * exp2(p - (double)HALVINGS) : length * (p - HALVINGS + 1);
        for (int i = 0; i < 3; i++) {
            t[3 * p + i] = 0.5 * (from + to) + 0.5 * (to - from) * node[i];
            w[3 * p + i] = 0.5 * (to - from) * weight[i];
        }
    }
}

/* S(w) = (1/pi) int_0^end k(t) cos(w t) dt for kernels that are 0 from `end` on. */
static void transforms(void **state)
{
    static const struct {
        const char *kernel;
        double end;
    } cases[] = {
        {"rbf(ell=0.7)", 10},
        {"rbf(ell=[0.5,2])", 10},
        {"rbf(S=[0.5,0.2;0.2,0.4])", 10},
        {"3*matern(nu=0.5,ell=0.8)", 40},
        {"matern(nu=1.3,ell=[0.8,1])", 40},
        {"matern(nu=4.5,ell=0.6)", 30},
        {"laplace(ell=1)", 50},
        {"laplace1(ell=[1,2])", 50},
        {"rq(alpha=6,ell=0.5)", 200},
        {"imq(c=0.5,beta=5)", 200},
        {"powexp(p=1.5,ell=0.5)", 20},
        {"powexp(p=0.9,ell=0.5)", 50},
        {"powexp(p=2,ell=0.5)", 10},
        {"wendland(ell=2)", 3},
        {"2*rbf(ell=1) + matern(nu=1.5,ell=0.5)", 30},
        {"rbf(ell=1)*cosine(p=0.8)", 12},
        {"rbf(ell=1)*periodic(p=2,ell=1)", 12},
        {"rbf(ell=1)*rbf(ell=2)", 12},
        {"rbf(ell=1)^3", 12},
        {"rbf(ell=1)*matern(nu=1.5,ell=1)", 12},
        {"laplace(ell=1)*wendland(ell=3)", 4},
        {"(rbf(ell=1) + rbf(ell=2))*laplace(ell=2)", 15},
        {"on(2,rbf(ell=0.5)) * on(1,laplace(ell=1))", 12},
        {"warp([1,1;0,2],rbf(ell=1))", 12},
    };
    enum { M = 6 };
    gram_context *context = *state;
    const double v[2] = {0.6, 0.8}, w[M] = {0, 0.3, 1, 2.5, 6, 15};
    double *t = test_numbers(3 * PANELS), *weights = test_numbers(3 * PANELS);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        gram_kernel *kernel = test_kernel(context, cases[c].kernel);
        gram_spectral_density *density = NULL;
        double values[M];
        make_rule(cases[c].end, t, weights);
        double *k = along(context, kernel, 2, v, 3 * PANELS, t),
               *k0 = along(context, kernel, 2, v, 1, (const double[]){0});
        OK(context, gram_spectral_density_create(context, kernel, 2, v, &density));
        OK(context, gram_spectral_density_values(context, density, M, w, values));
        test_near("height", cases[c].kernel, 1, &gram_spectral_density_get_report(density)->height, k0, 1e-12);
        for (int i = 0; i < M; i++) {
            double sum = 0;
            for (int j = 0; j < 3 * PANELS; j++) sum += weights[j] * k[j] * cos(w[i] * t[j]) / PI;
            if (fabs(sum - values[i]) > 1e-9 * k0[0])
                FAIL_TEST("%s: S(%g) = %.15g, the transform is %.15g", cases[c].kernel, w[i], values[i], sum);
        }
        gram_spectral_density_destroy(density);
        gram_kernel_release(kernel);
        free(k), free(k0);
    }
    free(t), free(weights);
}

/* Atoms, and densities on a bounded set, add up to the kernel. */
static void sums(void **state)
{
    static const char *const kernels[] = {"cosine(p=1.5)",
                                          "periodic(p=2,ell=0.6)",
                                          "2*periodic(p=2,ell=5) + 1",
                                          "cosine(p=2)*cosine(p=3)",
                                          "periodic(p=1,ell=1)^2",
                                          "sinc(B=3)",
                                          "on(1,sinc(B=3))*on(2,rbf(ell=1))",
                                          "sinc(B=3)*cosine(p=0.7)",
                                          "const(3) + sinc(B=1)",
                                          "sinc(B=2)*cosine(p=1) + periodic(p=3,ell=1) + cosine(p=2)"};
    enum { M = 5, W = 40000 };
    gram_context *context = *state;
    const double v[2] = {1, 0}, t[M] = {0, 0.1, 0.7, 2.3, 5};
    double *w = test_numbers(W), *s = test_numbers(W);
    for (size_t c = 0; c < sizeof kernels / sizeof *kernels; c++) {
        gram_kernel *kernel = test_kernel(context, kernels[c]);
        gram_spectral_density *density = NULL;
        double *k = along(context, kernel, 2, v, M, t);
        OK(context, gram_spectral_density_create(context, kernel, 2, NULL, &density));
        const gram_spectral_report *report = gram_spectral_density_get_report(density);
        for (int i = 0; i < W; i++) w[i] = 16 * (i + 0.5) / W;
        OK(context, gram_spectral_density_values(context, density, W, w, s));
        for (int i = 0; i < M; i++) {
            double sum = 0;
            for (int64_t a = 0; a < report->atoms; a++)
                sum += report->atom[a].mass * cos(report->atom[a].frequency * t[i]);
            for (int j = 0; j < W; j++) sum += 2 * s[j] * cos(w[j] * t[i]) * 16 / W;
            if (fabs(sum - k[i]) > (report->atom_mass < report->height ? 2e-3 : 1e-12) * report->height)
                FAIL_TEST("%s: at %g all is %.15g, not %.15g", kernels[c], t[i], sum, k[i]);
        }
        gram_spectral_density_destroy(density);
        gram_kernel_release(kernel);
        free(k);
    }
    free(w), free(s);
}

/* 17 digits by mpmath: (w/2)^q K_q(w)/(sqrt(pi) Gamma(p)), q = p - 1/2, for imq(c=1, beta=p); and stable laws of index 1/2 by Fresnel
 * integrals, of 0.9 and 1.5 by quadrature. */
static void digits(void **state)
{
    static const struct {
        const char *kernel;
        double w, wanted;
    } cases[] = {
        {"imq(c=1,beta=0.3)", 0.2, 0.54752910967816897},   {"imq(c=1,beta=0.3)", 3, 0.0060766030288057549},
        {"imq(c=1,beta=0.5)", 0.2, 0.55790296476705521},   {"imq(c=1,beta=0.5)", 3, 0.011057927687277844},
        {"imq(c=1,beta=2.5)", 0.2, 0.21013727641681644},   {"imq(c=1,beta=2.5)", 3, 0.058738161105758972},
        {"powexp(p=0.5,ell=1)", 0.3, 0.25973159706445734}, {"powexp(p=0.5,ell=1)", 3, 0.023799193000393283},
        {"powexp(p=0.9,ell=1)", 3, 0.031127929468725000},  {"powexp(p=1.5,ell=1)", 0.3, 0.27799930590478},
        {"powexp(p=1.5,ell=1)", 3, 0.0315094236163249},    {"powexp(p=1,ell=1)", 3, 0.031830988618379067},
    };
    gram_context *context = *state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        gram_kernel *kernel = test_kernel(context, cases[c].kernel);
        gram_spectral_density *density = NULL;
        double value;
        OK(context, gram_spectral_density_create(context, kernel, 1, NULL, &density));
        OK(context, gram_spectral_density_values(context, density, 1, &cases[c].w, &value));
        if (fabs(value / cases[c].wanted - 1) > 1e-11)
            FAIL_TEST("%s: S(%g) = %.17g, not %.17g", cases[c].kernel, cases[c].w, value, cases[c].wanted);
        gram_spectral_density_destroy(density);
        gram_kernel_release(kernel);
    }
    double at_0;
    gram_kernel *pole = test_kernel(context, "imq(c=1,beta=0.3)");
    gram_spectral_density *density = NULL;
    OK(context, gram_spectral_density_create(context, pole, 1, NULL, &density));
    OK(context, gram_spectral_density_values(context, density, 1, &(double){0}, &at_0));
    assert_true(isinf(at_0));
    gram_spectral_density_destroy(density);
    gram_kernel_release(pole);
}

/* Every allocation fails in turn. */
static gram_status play(gram_context *context)
{
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL;
    gram_spectral_density *density = NULL;
    double values[2];
    STEP(
        gram_kernel_parse(context, "rbf(S=[1,0;0,2])*periodic(p=2,ell=2) + on(2,rbf(ell=1)*wendland(ell=1))", &kernel));
    STEP(gram_spectral_density_create(context, kernel, 2, (const double[]){1, 1}, &density));
    STEP(gram_spectral_density_values(context, density, 2, (const double[]){0, 1}, values));
done:
    gram_spectral_density_destroy(density);
    gram_kernel_release(kernel);
    return status;
}

static void out_of_memory(void **state)
{
    (void)state;
    assert_true(oom_each(play, 0) > 10);
    assert_true(oom_budget(play) > 1000);
}

static void bad_input(void **state)
{
    static const struct {
        const char *kernel, *part;
        gram_status status;
    } cases[] = {
        {"min", "min is not stationary", GRAM_ERROR_UNSUPPORTED},
        {"linear + rbf(ell=1)", "linear is not stationary", GRAM_ERROR_UNSUPPORTED},
        {"rbf(ell=1) + white", "white", GRAM_ERROR_UNSUPPORTED},
        {"exp(rbf(ell=1))", "exp", GRAM_ERROR_UNSUPPORTED},
        {"rbf", "ell", GRAM_ERROR_UNSET},
        {"periodic(p=1,ell=0.001)", "so short an ell", GRAM_ERROR_UNSUPPORTED},
        {"(1 + rbf(ell=1))*(1 + laplace(ell=1))", "too slowly", GRAM_ERROR_NUMERICAL},
    };
    gram_context *context = *state;
    gram_spectral_density *density = NULL;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        gram_kernel *kernel = test_kernel(context, cases[c].kernel);
        REFUSED(context, gram_spectral_density_create(context, kernel, 1, NULL, &density), cases[c].status,
                cases[c].part);
        gram_kernel_release(kernel);
    }
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)"),
                *product = test_kernel(context, "rbf(ell=1)*laplace(ell=1)");
    double value;
    REFUSED(context, gram_spectral_density_create(context, kernel, 1, &(double){0}, &density), GRAM_ERROR_ARGUMENT,
            "direction");
    REFUSED(context, gram_spectral_density_create(context, NULL, 1, NULL, &density), GRAM_ERROR_ARGUMENT, "NULL");
    OK(context, gram_spectral_density_create(context, product, 1, NULL, &density));
    REFUSED(context, gram_spectral_density_values(context, density, 1, &(double){NAN}, &value), GRAM_ERROR_ARGUMENT,
            "w[0]");
    REFUSED(context, gram_spectral_density_values(context, density, 1, &(double){1e9}, &value), GRAM_ERROR_NUMERICAL,
            "too high");
    gram_spectral_density_destroy(density);
    gram_kernel_release(kernel), gram_kernel_release(product);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transforms),    cmocka_unit_test(sums),      cmocka_unit_test(digits),
        cmocka_unit_test(out_of_memory), cmocka_unit_test(bad_input),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
