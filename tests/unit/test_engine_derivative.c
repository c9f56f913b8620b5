/* The kernel with its derivatives in both arguments, for every pair.
 *
 * Over the table of kernels, more settings of them and composites: gradients against differences of sixth order of the
 * Gram matrix,
 *
 *     f'(t) = sum_q c_q (f(t + q h) - f(t - q h)) / (60 h) + O(h^6),  q = 1, 2, 3,
 *
 * second derivatives against the same differences of the gradients, and the matrix of values and derivatives together,
 * which is positive semi-definite where the kernel is. Closed forms, also where points meet. Which kernels have none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"
#include "support.h"

enum { HALF = 3 };
static const double COEFFICIENT[HALF] = {45, -9, 1};
static const double TOLERANCE = 1e-7;
static const double NOISE = 1e-14; /* rounding of sum |c_q| values of size 1, over 60: differences carry this over h */

/* X against Y (Y NULL: X with itself), and where the derivatives go */
typedef struct problem {
    gram_context *context;
    const char *text;
    gram_kernel *kernel;
    int64_t n, m, d;
    double *x_data, *y_data;
    gram_points *x, *y;
    gram_derivatives all;
} problem;

static gram_derivatives take_all(int64_t n, int64_t ld, int64_t d)
{
    return (gram_derivatives){.ld = ld,
                              .value = test_numbers(n * ld),
                              .by_x = test_numbers(n * ld * d),
                              .by_y = test_numbers(n * ld * d),
                              .trace = test_numbers(n * ld),
                              .mixed = test_numbers(n * ld * d * d)};
}

static void free_all(const gram_derivatives *all)
{
    free(all->value);
    free(all->by_x);
    free(all->by_y);
    free(all->trace);
    free(all->mixed);
}

static void problem_make(gram_context *context, int64_t n, int64_t m, int64_t d, problem *p)
{
    *p = (problem){.context = context, .n = n, .m = m, .d = d};
    p->x_data = test_spread((uint64_t)(n + 1000 * d), n + m, d);
    p->y_data = p->x_data + n * d;
    p->x = test_points(context, n, d, p->x_data);
    p->y = test_points(context, m, d, p->y_data);
    p->all = take_all(n, m + 1, d);
}

static void problem_free(problem *p)
{
    gram_points_release(p->x);
    gram_points_release(p->y);
    free(p->x_data);
    free_all(&p->all);
}

static double largest(int64_t count, const double *numbers)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++) most = fmax(most, fabs(numbers[i]));
    return most;
}

/* ---- differences ---- */

/* X or Y with column l moved by t */
static gram_points *moved_points(const problem *p, int by_y, int64_t l, double t, double *work)
{
    const int64_t n = by_y ? p->m : p->n;
    memcpy(work, by_y ? p->y_data : p->x_data, (size_t)(n * p->d) * sizeof *work);
    for (int64_t i = 0; i < n; i++) work[i * p->d + l] += t;
    return test_points(p->context, n, p->d, work);
}

static double step(const problem *p)
{
    return 0.02 * 1.4 / fmax(24, (double)(p->n + p->m));
}

/* slope[p] = dk/dx_l or dk/dy_l by differences of the Gram matrix, ld as in p->all */
static void difference_values(const problem *p, int by_y, int64_t l, double *slope)
{
    const int64_t ld = p->all.ld;
    double *work = test_numbers((p->n + p->m) * p->d), *k = test_numbers(p->n * ld);
    memset(slope, 0, (size_t)(p->n * ld) * sizeof *slope);
    for (int q = -HALF; q <= HALF; q++) {
        if (q == 0) continue;
        gram_points *moved = moved_points(p, by_y, l, q * step(p), work);
        OK(p->context, gram_matrix(p->context, p->kernel, by_y ? p->x : moved, by_y ? moved : p->y, k, ld));
        const double factor = (q > 0 ? COEFFICIENT[q - 1] : -COEFFICIENT[-q - 1]) / (60 * step(p));
        for (int64_t i = 0; i < p->n * ld; i++) slope[i] += factor * k[i];
        gram_points_release(moved);
    }
    free(k);
    free(work);
}

/* slope[p * d + l] = d2k/dx_l dy_m by differences of dk/dx */
static void difference_slopes(const problem *p, int64_t m, double *slope)
{
    const int64_t count = p->n * p->all.ld * p->d;
    double *work = test_numbers((p->n + p->m) * p->d), *by_x = test_numbers(count);
    const gram_derivatives only = {.ld = p->all.ld, .by_x = by_x};
    memset(slope, 0, (size_t)count * sizeof *slope);
    for (int q = -HALF; q <= HALF; q++) {
        if (q == 0) continue;
        gram_points *moved = moved_points(p, 1, m, q * step(p), work);
        OK(p->context, gram_matrix_derivatives(p->context, p->kernel, p->x, moved, &only));
        const double factor = (q > 0 ? COEFFICIENT[q - 1] : -COEFFICIENT[-q - 1]) / (60 * step(p));
        for (int64_t i = 0; i < count; i++) slope[i] += factor * by_x[i];
        gram_points_release(moved);
    }
    free(by_x);
    free(work);
}

static void compare(const problem *p, const char *what, int64_t i, int64_t j, double got, double want, double most)
{
    if (!(fabs(got - want) <= most))
        FAIL_TEST("%.300s, d = %lld, pair (%lld, %lld): %s is %.15g, should be %.15g", p->text, (long long)p->d,
                  (long long)i, (long long)j, what, got, want);
}

static void check_values(const problem *p)
{
    const int64_t ld = p->all.ld;
    double *k = test_numbers(p->n * ld);
    OK(p->context, gram_matrix(p->context, p->kernel, p->x, p->y, k, ld));
    const double size = largest(p->n * ld, k);
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->m; j++)
            compare(p, "value", i, j, p->all.value[i * ld + j], k[i * ld + j], 1e-14 * size);
    free(k);
}

static void check_gradients(const problem *p)
{
    const int64_t ld = p->all.ld, d = p->d;
    double *slope = test_numbers(p->n * ld);
    const double noise = NOISE * largest(p->n * ld, p->all.value) / step(p);
    for (int by_y = 0; by_y < 2; by_y++)
        for (int64_t l = 0; l < d; l++) {
            difference_values(p, by_y, l, slope);
            const double size = largest(p->n * ld, slope);
            for (int64_t i = 0; i < p->n; i++)
                for (int64_t j = 0; j < p->m; j++) {
                    const double got = (by_y ? p->all.by_y : p->all.by_x)[(i * ld + j) * d + l];
                    compare(p, by_y ? "dk/dy" : "dk/dx", i, j, got, slope[i * ld + j], TOLERANCE * size + noise);
                }
        }
    free(slope);
}

static void check_second(const problem *p)
{
    const int64_t ld = p->all.ld, d = p->d;
    double *slope = test_numbers(p->n * ld * d), *sums = test_numbers(p->n * ld);
    const double noise = NOISE * largest(p->n * ld * d, p->all.by_x) / step(p);
    const double size = largest(p->n * ld * d * d, p->all.mixed);
    for (int64_t m = 0; m < d; m++) {
        difference_slopes(p, m, slope);
        for (int64_t i = 0; i < p->n; i++)
            for (int64_t j = 0; j < p->m; j++)
                for (int64_t l = 0; l < d; l++) {
                    const int64_t pair = i * ld + j;
                    const double got = p->all.mixed[(pair * d + l) * d + m];
                    compare(p, "d2k/dx dy", i, j, got, slope[pair * d + l], TOLERANCE * size + noise);
                    sums[pair] += l == m ? got : 0;
                }
    }
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->m; j++)
            compare(p, "the sum over l = m", i, j, p->all.trace[i * ld + j], sums[i * ld + j],
                    1e-12 * (double)d * size);
    free(sums);
    free(slope);
}

/* The sum alone takes another way than the whole. */
static void check_trace(const problem *p)
{
    const int64_t ld = p->all.ld;
    double *trace = test_numbers(p->n * ld);
    const gram_derivatives only = {.ld = ld, .trace = trace};
    const double size = (double)p->d * largest(p->n * ld * p->d * p->d, p->all.mixed);
    OK(p->context, gram_matrix_derivatives(p->context, p->kernel, p->x, p->y, &only));
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->m; j++)
            compare(p, "the sum alone", i, j, trace[i * ld + j], p->all.trace[i * ld + j], 1e-12 * size);
    free(trace);
}

/* ---- over all kernels ---- */

static void check_all(const problem *p)
{
    OK(p->context, gram_matrix_derivatives(p->context, p->kernel, p->x, p->y, &p->all));
    check_values(p);
    check_gradients(p);
    check_second(p);
    check_trace(p);
}

/* Facts know which have derivatives, but of sigmoid, which has no Hilbert space, nothing. */
static int should_have(gram_context *context, const gram_kernel *kernel, const char *text, int64_t d)
{
    gram_properties facts;
    OK(context, gram_kernel_properties(context, kernel, d, &facts));
    return facts.derivatives != 0 || strstr(text, "sigmoid") != NULL;
}

static void check_refused(const problem *p)
{
    const gram_status status = gram_matrix_derivatives(p->context, p->kernel, p->x, p->y, &p->all);
    if (status != GRAM_ERROR_UNSUPPORTED || !strstr(gram_context_message(p->context), "has no second derivative"))
        FAIL_TEST("%s: %s (%s) instead of a refusal", p->text, gram_status_name(status),
                  gram_context_message(p->context));
}

/* Composites of kernels that have second derivatives, for d >= 3 */
static const char *const SMOOTH[] = {
    "2*rbf(ell=0.9) + 0.5*matern(nu=2.5, ell=0.9) + 0.1",
    "(rbf(ell=0.9) + 0.3*poly(m=2, c=0.5))^2*periodic(p=1.3, ell=0.9)",
    "(imq(c=1, beta=0.5) + linear(c=1))^3 + rq(alpha=2, ell=1)^1",
    "exp(0.3*rbf(ell=1.2) + 0.1*matern(nu=1.5, ell=3))*cosine(p=5)",
    "2*normalize(poly(m=3, c=0.5) + rbf(ell=1))",
    "normalize(expdot(s=3))*normalize(0.4 + sobolev(a=2, null=1))",
    "normalize(exp(normalize(poly(m=2, c=1)*rbf(ell=2))))",
    "on(1, rbf(ell=0.5)) + on(2:3, matern(nu=1.5, ell=[0.7,1.9]))*on(3, sobolev(a=3))",
    "on(3,1, periodic(p=2, ell=1)) + 0.2*rbf(ell=2)^2*on(2, sinc(B=2))",
    "normalize(on([3,1], warp([1,0.5;0.25,1;0.3,0.7], rbf(ell=[0.8,1.2,2]) + on(2:3, poly(m=2, c=1)))))",
    "on([2,3], warp([1,0.5;0.25,1;0.3,0.7], periodic(p=3, ell=1.1)*cosine(p=7)))",
    "on(1:2, warp([0.5,1], warp([1;2], poly(m=2, c=1))*rbf(ell=1)))",
    "on([2,3], warp([1,0.5;0.25,1], rbf(S=[1,0.3;0.3,0.5])))",
};

static const char *const MORE[] = {
    "matern(nu=1.2, ell=0.9)",
    "matern(nu=2, ell=0.9)",
    "matern(nu=3.5, ell=2)",
    "matern(nu=30, ell=1)",
    "poly(m=2, c=0.3)",
    "sobolev(a=2, null=1)",
    "monomial(m=2)",
    "normalize(expdot(s=1.5))",
    "sinc(B=9)",
    "sobolev(a=8, null=1)*3+0.5",
};

static void check_text(problem *p, const char *text)
{
    p->text = text;
    p->kernel = test_kernel(p->context, text);
    (should_have(p->context, p->kernel, text, p->d) ? check_all : check_refused)(p);
    gram_kernel_release(p->kernel);
}

static void run(int64_t n, int64_t m, int64_t d)
{
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    test_expressions list;
    problem p;
    test_expressions_make_smooth(d, &list);
    problem_make(context, n, m, d, &p);
    for (int e = 0; e < list.count; e++) check_text(&p, list.text[e]);
    for (size_t e = 0; e < sizeof MORE / sizeof *MORE; e++) check_text(&p, MORE[e]);
    for (size_t e = 0; d >= 3 && e < sizeof SMOOTH / sizeof *SMOOTH; e++) check_text(&p, SMOOTH[e]);
    problem_free(&p);
    test_expressions_free(&list);
    gram_context_destroy(context);
}

static void by_differences(void **state)
{
    (void)state;
    run(6, 9, 1);
    run(9, 7, 2);
    run(7, 8, 3);
    run(18, 5, 4);
}

/* Many columns, where distances come from inner products; many points. */
static void large_sets(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {"rbf(ell=8)", "imq(c=3, beta=0.5)*linear(c=1)", "cosine(p=9)"};
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    problem p;
    problem_make(context, 3, 4, 70, &p);
    for (size_t e = 0; e < sizeof TEXTS / sizeof *TEXTS; e++) check_text(&p, TEXTS[e]);
    problem_free(&p);
    problem_make(context, 35, 110, 2, &p);
    for (size_t e = 0; e < sizeof TEXTS / sizeof *TEXTS; e++) check_text(&p, TEXTS[e]);
    problem_free(&p);
    gram_context_destroy(context);
}

/* ---- values and derivatives together ---- */

/* Functions f(x_i) and df/dx_l(x_i) are n (1 + d) functionals, whose Gram matrix this is. */
static void check_definite(const problem *p)
{
    const int64_t n = p->n, d = p->d, size = n * (1 + d);
    double *k = test_numbers(size * size), *values = test_numbers(size);
    gram_derivatives all = take_all(n, n, d);
    OK(p->context, gram_matrix_derivatives(p->context, p->kernel, p->x, NULL, &all));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const int64_t pair = i * n + j;
            k[i * size + j] = all.value[pair];
            for (int64_t l = 0; l < d; l++) {
                k[(n + i * d + l) * size + j] = all.by_x[pair * d + l];
                k[i * size + n + j * d + l] = all.by_y[pair * d + l];
                for (int64_t m = 0; m < d; m++)
                    k[(n + i * d + l) * size + n + j * d + m] = all.mixed[(pair * d + l) * d + m];
            }
        }
    const double most = largest(size * size, k);
    for (int64_t i = 0; i < size; i++)
        for (int64_t j = 0; j < i; j++)
            compare(p, "the mirrored entry", i, j, k[i * size + j], k[j * size + i], 1e-13 * most);
    OK(p->context, gram_eigen_symmetric(p->context, size, k, size, 0, 1, values, NULL, 0));
    if (!(values[0] >= -1e-12 * (double)size * most))
        FAIL_TEST("%s: the Gram matrix of values and derivatives has an eigenvalue %g", p->text, values[0]);
    free_all(&all);
    free(values);
    free(k);
}

static void positive(void **state)
{
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    test_expressions list;
    problem p;
    test_expressions_make(3, &list);
    problem_make(context, 8, 1, 3, &p);
    for (int e = 0; e < list.count + (int)(sizeof SMOOTH / sizeof *SMOOTH); e++) {
        gram_properties facts;
        p.text = e < list.count ? list.text[e] : SMOOTH[e - list.count];
        p.kernel = test_kernel(context, p.text);
        OK(context, gram_kernel_properties(context, p.kernel, 3, &facts));
        if (facts.positive_definite == GRAM_YES && facts.derivatives != 0) check_definite(&p);
        gram_kernel_release(p.kernel);
    }
    problem_free(&p);
    test_expressions_free(&list);
    gram_context_destroy(context);
}

/* ---- closed forms ---- */

/* k of one pair in two columns, t = x - y = (0.3, -0.4), r = 0.5, and of a point with itself */
typedef struct closed_case {
    const char *text;
    double slope, curvature; /* by z = t.t */
    double at_zero;          /* slope at z = 0 */
} closed_case;

static void closed_forms(void **state)
{
    (void)state;
    static const double X[2] = {0.7, 0.2}, Y[2] = {0.4, 0.6};
    const double e3 = exp(-0.5 * sqrt(3)), e5 = exp(-0.5 * sqrt(5));
    const closed_case CASES[] = {
        {"rbf(ell=1)", -0.5 * exp(-0.125), 0.25 * exp(-0.125), -0.5},
        {"imq(c=1, beta=0.5)", -0.5 * pow(1.25, -1.5), 0.75 * pow(1.25, -2.5), -0.5},
        {"rq(alpha=2, ell=1)", -0.5 * pow(1.0625, -3), 0.375 * pow(1.0625, -4), -0.5},
        {"matern(nu=1.5, ell=1)", -1.5 * e3, 2.25 * e3 / (0.5 * sqrt(3)), -1.5},
        {"matern(nu=2.5, ell=1)", -5.0 / 6 * (1 + 0.5 * sqrt(5)) * e5, 25.0 / 12 * e5, -5.0 / 6},
        /* (1 + a + 2 a^2/5 + a^3/15) e^-a, a = sqrt(7 z) */
        {"matern(nu=3.5, ell=1)", -0.7 * (1 + 0.5 * sqrt(7) + 7.0 / 12) * exp(-0.5 * sqrt(7)),
         0.7 * 7 / 6 * (1 + 0.5 * sqrt(7)) * exp(-0.5 * sqrt(7)), -0.7},
    };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_points *x = test_points(context, 1, 2, X), *y = test_points(context, 1, 2, Y);
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        const closed_case *want = &CASES[c];
        const double t[2] = {X[0] - Y[0], X[1] - Y[1]};
        double mixed[4], by_x[2], trace[1];
        const gram_derivatives out = {.ld = 1, .by_x = by_x, .trace = trace, .mixed = mixed};
        const problem p = {.text = want->text, .d = 2};
        gram_kernel *kernel = test_kernel(context, want->text);
        OK(context, gram_matrix_derivatives(context, kernel, x, y, &out));
        for (int l = 0; l < 2; l++) {
            compare(&p, "dk/dx", l, 0, by_x[l], 2 * t[l] * want->slope, 2e-15);
            for (int m = 0; m < 2; m++)
                compare(&p, "d2k/dx dy", l, m, mixed[2 * l + m],
                        -4 * t[l] * t[m] * want->curvature - 2 * (l == m) * want->slope, 1e-14);
        }
        OK(context, gram_matrix_derivatives(context, kernel, x, NULL, &out));
        for (int l = 0; l < 2; l++)
            for (int m = 0; m < 2; m++)
                compare(&p, "d2k/dx dy at x = y", l, m, mixed[2 * l + m], -2 * (l == m) * want->at_zero, 1e-15);
        compare(&p, "the sum at x = y", 0, 0, trace[0], -4 * want->at_zero, 2e-15);
        gram_kernel_release(kernel);
    }
    gram_points_release(x);
    gram_points_release(y);
    gram_context_destroy(context);
}

/* poly: m (s + c)^(m-1) I + m (m - 1) (s + c)^(m-2) y x' */
static void polynomial(void **state)
{
    (void)state;
    static const double X[3] = {0.5, -1, 2}, Y[3] = {1, 0.25, -0.5};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_points *x = test_points(context, 1, 3, X), *y = test_points(context, 1, 3, Y);
    gram_kernel *kernel = test_kernel(context, "poly(m=4, c=2)");
    const problem p = {.text = "poly(m=4, c=2)", .d = 3};
    double mixed[9], by_y[3];
    OK(context, gram_matrix_derivatives(context, kernel, x, y, &(gram_derivatives){1, NULL, NULL, by_y, NULL, mixed}));
    const double base = 0.5 - 0.25 - 1 + 2;
    for (int l = 0; l < 3; l++) {
        compare(&p, "dk/dy", l, 0, by_y[l], 4 * pow(base, 3) * X[l], 1e-14);
        for (int m = 0; m < 3; m++)
            compare(&p, "d2k/dx dy", l, m, mixed[3 * l + m],
                    4 * pow(base, 3) * (l == m) + 12 * base * base * Y[l] * X[m], 1e-13);
    }
    gram_kernel_release(kernel);
    gram_points_release(x);
    gram_points_release(y);
    gram_context_destroy(context);
}

/* intpow, which differences cannot reach: between whole numbers it is exp(c x.y), normalised exp(-c |x - y|^2/2), c = log 2 */
static void whole_numbers(void **state)
{
    (void)state;
    static const double X[2] = {1, 3}, Y[2] = {2, 0};
    const double c = log(2.0), k = 4, normal = pow(2, -5), t[2] = {-1, 3};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_points *x = test_points(context, 1, 2, X), *y = test_points(context, 1, 2, Y);
    for (int normalized = 0; normalized < 2; normalized++) {
        gram_kernel *kernel = test_kernel(context, normalized ? "normalize(intpow())" : "intpow()");
        const problem p = {.text = normalized ? "normalize(intpow())" : "intpow()", .d = 2};
        double mixed[4];
        OK(context, gram_matrix_derivatives(context, kernel, x, y, &(gram_derivatives){.ld = 1, .mixed = mixed}));
        for (int l = 0; l < 2; l++)
            for (int m = 0; m < 2; m++) {
                const double want =
                    normalized ? normal * c * ((l == m) - c * t[l] * t[m]) : k * c * ((l == m) + c * Y[l] * X[m]);
                compare(&p, "d2k/dx dy", l, m, mixed[2 * l + m], want, 1e-14 * 4);
            }
        gram_kernel_release(kernel);
    }
    gram_points_release(x);
    gram_points_release(y);
    gram_context_destroy(context);
}

/* Points that nearly meet: d2k/dx dy is continuous there, however large d2k/dz2 is. */
static void near_points(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        "matern(nu=1.5, ell=1)", "matern(nu=1.7, ell=1)", "matern(nu=2, ell=1)", "matern(nu=2.5, ell=1)",
        "matern(nu=7, ell=1)",   "matern(nu=400, ell=1)", "rbf(ell=1)",          "sinc(B=1)",
        "periodic(p=3, ell=1)"};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (size_t c = 0; c < sizeof TEXTS / sizeof *TEXTS; c++) {
        gram_kernel *kernel = test_kernel(context, TEXTS[c]);
        const problem p = {.text = TEXTS[c], .d = 2};
        for (double t = 1e-6; t > 1e-200; t *= 1e-3) {
            const double data[2][2] = {{t, -t}, {0, 0}};
            double mixed[16], values[4];
            gram_points *x = test_points(context, 2, 2, data[0]);
            OK(context, gram_matrix_derivatives(context, kernel, x, NULL,
                                                &(gram_derivatives){2, values, NULL, NULL, NULL, mixed}));
            /* of matern 1.5 it differs by 3 sqrt(3) r, of 1.7 by about r^1.4 */
            for (int l = 0; l < 4; l++) compare(&p, "d2k/dx dy nearby", l, 0, mixed[4 + l], mixed[l], 20 * t + 1e-11);
            gram_points_release(x);
        }
        gram_kernel_release(kernel);
    }
    gram_context_destroy(context);
}

/* Points so far apart that squares overflow: k and all its derivatives are 0, never NaN. */
static void far_points(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double far;
    } CASES[] = {{"rbf(ell=1)", 1e200},
                 {"rbf(ell=1e-150)", 1e10},
                 {"rq(alpha=2, ell=1)", 1e200},
                 {"imq(c=1, beta=0.5)", 1e200},
                 {"matern(nu=1.5, ell=1)", 1e200},
                 {"matern(nu=2.5, ell=1)", 1e200},
                 {"matern(nu=1.8, ell=1)", 1e200},
                 {"periodic(p=0.3, ell=1e-9)", 0.1},
                 {"powexp(p=2, ell=1e-140)", 1}};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        const double data[2][2] = {{0, 0}, {CASES[c].far, -CASES[c].far}};
        const problem p = {.text = CASES[c].text, .d = 2};
        gram_points *x = test_points(context, 2, 2, data[0]);
        gram_kernel *kernel = test_kernel(context, CASES[c].text);
        gram_derivatives all = take_all(2, 2, 2);
        OK(context, gram_matrix_derivatives(context, kernel, x, NULL, &all));
        for (int l = 0; l < 2; l++) {
            compare(&p, "dk/dx", 0, 1, all.by_x[2 + l], 0, 1e-190);
            compare(&p, "dk/dx", 0, 0, all.by_x[l], 0, 0);
            for (int m = 0; m < 2; m++) {
                compare(&p, "d2k/dx dy", l, m, all.mixed[4 + 2 * l + m], 0, 1e-190);
                compare(&p, "d2k/dx dy at x = y", l, m, all.mixed[2 * l + m], l == m ? all.trace[0] / 2 : 0,
                        1e-15 * all.trace[0]);
            }
        }
        free_all(&all);
        gram_kernel_release(kernel);
        gram_points_release(x);
    }
    gram_context_destroy(context);
}

/* ---- combinators that exist in C only, and refusals ---- */

static double one(void *user, int64_t d, const double *x)
{
    (void)user, (void)d, (void)x;
    return 1;
}

static void ones(void *user, int64_t d, int64_t rows, const double *x, int64_t ldx, int64_t columns, const double *y,
                 int64_t ldy, double *out, int64_t ldo)
{
    (void)user, (void)d, (void)x, (void)ldx, (void)y, (void)ldy;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) out[i * ldo + j] = 1;
}

static void centred(void **state)
{
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    problem p;
    problem_make(context, 6, 8, 3, &p);
    gram_kernel *inner = test_kernel(context, "normalize(rbf(ell=0.9) + 0.3*poly(m=2, c=1))"), *middle = NULL;
    OK(context, gram_kernel_centre(context, p.y, inner, &middle));
    OK(context, gram_kernel_multiply(context, middle, inner, &p.kernel));
    p.text = "centre(normalize(..))*normalize(..)";
    check_all(&p);
    gram_kernel_release(p.kernel);
    gram_kernel_release(middle);
    gram_kernel_release(inner);
    problem_free(&p);
    gram_context_destroy(context);
}

static void refuses(gram_context *context, gram_kernel *kernel, const gram_points *x, const char *names)
{
    double value[16] = {-7};
    const gram_derivatives out = {.ld = 4, .value = value};
    const gram_status status = gram_matrix_derivatives(context, kernel, x, NULL, &out);
    const char *message = gram_context_message(context);
    if (status != GRAM_ERROR_UNSUPPORTED || !strstr(message, names) || !strstr(message, "matrix_derivatives"))
        FAIL_TEST("%s ('%s') should be a refusal that names '%s'", gram_status_name(status), message, names);
    assert_true(value[0] == -7);
    gram_kernel_release(kernel);
}

static void refusals(void **state)
{
    (void)state;
    static const char *const TEXTS[][2] = {
        {"rbf(ell=1) + laplace(ell=1)", "laplace has"},
        {"laplace1(ell=1)", "coordinates are equal"},
        {"min()^2", "min has"},
        {"matern(nu=1, ell=1)", "nu > 1"},
        {"powexp(p=1.9, ell=1)", "p = 2"},
        {"rbf(ell=1)*white()", "white has"},
        {"sobolev(a=1, null=1)", "a > 1"},
        {"exp(chi2(g=1))", "chi2 has"},
        {"normalize(tanimoto())", "tanimoto has"},
        {"intersection()", "intersection has"},
    };
    static const double DATA[8] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8};
    double given[16];
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_points *x = test_points(context, 4, 2, DATA);
    gram_kernel *kernel = NULL, *rbf = test_kernel(context, "rbf(ell=1)");
    for (size_t c = 0; c < sizeof TEXTS / sizeof *TEXTS; c++)
        refuses(context, test_kernel(context, TEXTS[c][0]), x, TEXTS[c][1]);
    OK(context, gram_kernel_callback(context, "mine", ones, NULL, NULL, &kernel));
    refuses(context, kernel, x, "callback has");
    OK(context, gram_matrix(context, rbf, x, NULL, given, 4));
    OK(context, gram_kernel_precomputed(context, "given", 4, given, 4, &kernel));
    refuses(context, kernel, x, "precomputed has");
    OK(context, gram_kernel_scale(context, "f-of-x", one, NULL, NULL, rbf, &kernel));
    refuses(context, kernel, x, "f-of-x");
    gram_kernel_release(rbf);
    gram_points_release(x);
    gram_context_destroy(context);
}

static void bad_arguments(void **state)
{
    (void)state;
    static const double DATA[6] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
    double value[9] = {0};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_points *x = test_points(context, 3, 2, DATA);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)");
    const gram_derivatives nothing = {.ld = 3}, narrow = {.ld = 2, .value = value};
    const gram_derivatives huge = {.ld = INT64_MAX / 8, .value = value};
    assert_int_equal(gram_matrix_derivatives(NULL, kernel, x, NULL, &nothing), GRAM_ERROR_ARGUMENT);
    REFUSED(context, gram_matrix_derivatives(context, kernel, x, NULL, NULL), GRAM_ERROR_ARGUMENT, "out is NULL");
    assert_int_equal(gram_matrix_derivatives(context, NULL, x, NULL, &narrow), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_matrix_derivatives(context, kernel, NULL, NULL, &narrow), GRAM_ERROR_ARGUMENT);
    REFUSED(context, gram_matrix_derivatives(context, kernel, x, NULL, &nothing), GRAM_ERROR_ARGUMENT,
            "asks for nothing");
    REFUSED(context, gram_matrix_derivatives(context, kernel, x, NULL, &narrow), GRAM_ERROR_ARGUMENT, "ld = 2");
    assert_int_equal(gram_matrix_derivatives(context, kernel, x, NULL, &huge), GRAM_ERROR_OVERFLOW);
    gram_kernel_release(kernel);
    gram_points_release(x);
    gram_context_destroy(context);
}

/* ---- threads ---- */

static void all_derivatives(gram_context *context, double *out)
{
    enum { N = 75, M = 130, D = 3, PAIRS = N * M };
    double *data = test_random(5, (N + M) * D, 0, 1);
    gram_points *x = test_points(context, N, D, data), *y = test_points(context, M, D, data + N * D);
    gram_kernel *kernel = test_kernel(context, "normalize(rbf(ell=0.5) + poly(m=2, c=1))*on(1, periodic(p=1, ell=1))");
    const gram_derivatives all = {.ld = M,
                                  .value = out,
                                  .trace = out + PAIRS,
                                  .by_x = out + 2 * PAIRS,
                                  .by_y = out + (2 + D) * PAIRS,
                                  .mixed = out + (2 + 2 * D) * PAIRS};
    OK(context, gram_matrix_derivatives(context, kernel, x, y, &all));
    gram_kernel_release(kernel);
    gram_points_release(x);
    gram_points_release(y);
    free(data);
}

static void same_bits(void **state)
{
    (void)state;
    test_any_threads(75 * 130 * (2 + 2 * 3 + 3 * 3), all_derivatives);
}

/* f32 points are taken as they are and computed with in f64; what lies between the pairs of a row stays. */
static void strides_and_types(void **state)
{
    (void)state;
    static const float DATA32[4] = {0.25F, 0.5F, 1.25F, -0.5F};
    static const double DATA[4] = {0.25, 0.5, 1.25, -0.5};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_points *narrow = NULL, *x = test_points(context, 2, 2, DATA);
    gram_kernel *kernel = test_kernel(context, "imq(c=1, beta=0.5)");
    double a[6] = {-7, -7, -7, -7, -7, -7}, b[6] = {-7, -7, -7, -7, -7, -7};
    OK(context, gram_points_create_f32(context, 2, 2, DATA32, 2, &narrow));
    OK(context, gram_matrix_derivatives(context, kernel, narrow, NULL, &(gram_derivatives){.ld = 3, .trace = a}));
    OK(context, gram_matrix_derivatives(context, kernel, x, NULL, &(gram_derivatives){.ld = 3, .trace = b}));
    assert_memory_equal(a, b, sizeof a);
    assert_true(a[2] == -7 && a[5] == -7 && a[1] == a[3]);
    gram_kernel_release(kernel);
    gram_points_release(narrow);
    gram_points_release(x);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_differences),    cmocka_unit_test(large_sets),    cmocka_unit_test(positive),
        cmocka_unit_test(closed_forms),      cmocka_unit_test(polynomial),    cmocka_unit_test(whole_numbers),
        cmocka_unit_test(near_points),       cmocka_unit_test(far_points),    cmocka_unit_test(centred),
        cmocka_unit_test(refusals),          cmocka_unit_test(bad_arguments), cmocka_unit_test(same_bits),
        cmocka_unit_test(strides_and_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
