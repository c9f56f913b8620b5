/* Kernels and the number of columns that they see. A kernel may depend on it (wendland's exponent does), so what is positive
 * definite on R^1 need not be so on R^3, and a length-scale beyond the distances of all points hides that. Hence, for the
 * whole table: on and warp hand over the right number; Gram matrices on grids with short length-scales; and for isotropic
 * kernels Bochner's theorem, which sees what few points do not: the Fourier transform in R^d is not negative. */
#define _XOPEN_SOURCE 700 /* jn */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lapack.h"
#include "kernel/kernel.h"
#include "support.h"

static gram_context *context;

static int set_up(void **state)
{
    (void)state;
    context = test_context(1, GRAM_ISA_AUTO);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    gram_context_destroy(context);
    return 0;
}

static double *matrix_on(const char *text, int64_t n, int64_t d, const double *data)
{
    double *k = test_numbers(n * n);
    gram_kernel *kernel = test_kernel(context, text);
    gram_points *x = test_points(context, n, d, data);
    OK(context, gram_matrix(context, kernel, x, NULL, k, n));
    gram_points_release(x);
    gram_kernel_release(kernel);
    return k;
}

static void same(const char *inside, const char *outside, int64_t n, int64_t few, const double *seen, int64_t many,
                 const double *data)
{
    double *want = matrix_on(inside, n, few, seen), *got = matrix_on(outside, n, many, data);
    if (!test_same_bits(n, n, want, n, got, n)) FAIL_TEST("%.300s is not %.300s", outside, inside);
    free(got);
    free(want);
}

/* on(1:d, k) of points with more columns is k of those columns alone; so are k after a warp that picks them, on inside of a
 * warp, and the parts of a sum. */
static void columns_seen(void **state)
{
    (void)state;
    enum { N = 12, MANY = 5, ROOM = 4000 };
    static char text[4][ROOM];
    double *data = test_random(1, N * MANY, 0.05, 1.5);
    for (int64_t few = 1; few <= 3; few++) {
        test_expressions list;
        double seen[N * MANY];
        for (int64_t i = 0; i < N; i++)
            for (int64_t l = 0; l < few; l++) seen[i * few + l] = data[i * MANY + l];
        static const char *const PICK[] = {"1,0,0,0,0", "1,0,0,0,0;0,1,0,0,0", "1,0,0,0,0;0,1,0,0,0;0,0,1,0,0"};
        test_expressions_make(few, &list);
        for (int e = 0; e < list.count; e++) {
            const char *k = list.text[e];
            (void)snprintf(text[0], ROOM, "on(1:%d, %s)", (int)few, k);
            (void)snprintf(text[1], ROOM, "warp([%s], %s)", PICK[few - 1], k);
            (void)snprintf(text[2], ROOM, "warp([%s], on(1:%d, %s))", PICK[2], (int)few, k);
            (void)snprintf(text[3], ROOM, "on(1:%d, normalize(%s))", (int)few, k);
            for (int c = 0; c < 3; c++) same(k, text[c], N, few, seen, MANY, data);
            (void)snprintf(text[0], ROOM, "normalize(%s)", k);
            if (!strstr(k, "sigmoid")) same(text[0], text[3], N, few, seen, MANY, data);
        }
        test_expressions_free(&list);
    }
    free(data);
}

/* ---- short length-scales ---- */

static double smallest_eigenvalue(int n, double *k)
{
    const int work_size = 34 * n;
    int info = 0;
    double *eigenvalues = test_numbers(n), *work = test_numbers(work_size);
    dsyev_("N", "U", &n, k, &n, eigenvalues, work, &work_size, &info, 1, 1);
    assert_int_equal(info, 0);
    const double smallest = eigenvalues[0];
    free(work);
    free(eigenvalues);
    return smallest;
}

static int is_definite(const char *text, int64_t d, gram_properties *facts)
{
    gram_kernel *kernel = test_kernel(context, text);
    OK(context, gram_kernel_properties(context, kernel, d, facts));
    gram_kernel_release(kernel);
    return facts->positive_definite == GRAM_YES;
}

/* A grid of `side` points a unit apart along each axis, and length-scales of one to five units. */
static void check_grid(int64_t side, int64_t d)
{
    static const double LENGTHS[] = {1.2, 1.7, 2.2, 3.1, 5};
    int64_t n = 1;
    for (int64_t l = 0; l < d; l++) n *= side;
    double *data = test_numbers(n * d);
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0, rest = i; l < d; l++, rest /= side) data[i * d + l] = (double)(rest % side);
    for (size_t c = 0; c < sizeof LENGTHS / sizeof *LENGTHS; c++) {
        test_expressions list;
        test_expressions_make_lengths(d, LENGTHS[c], &list);
        for (int e = 0; e < list.count; e++) {
            gram_properties facts;
            if (!is_definite(list.text[e], d, &facts)) continue;
            double *k = matrix_on(list.text[e], n, d, data);
            const double smallest = smallest_eigenvalue((int)n, k);
            if (!(smallest >= -1e-12 * (double)n)) /* k(x, x) = 1 */
                FAIL_TEST("%s on a grid in R^%d: an eigenvalue is %g", list.text[e], (int)d, smallest);
            free(k);
        }
        test_expressions_free(&list);
    }
    free(data);
}

static void short_lengths(void **state)
{
    (void)state;
    check_grid(50, 1);
    check_grid(9, 2);
    check_grid(5, 3);
    check_grid(3, 4);
    check_grid(2, 7);
}

/* ---- Bochner ---- */

/* The mean of cos(x.u) over the unit sphere of R^d, |x| = x: Gamma(d/2) (2/x)^(d/2-1) J_(d/2-1)(x) */
static double sphere_mean(int d, double x)
{
    if (x < 0.05) return 1 - x * x / (2 * d) * (1 - x * x / (4 * (d + 2)));
    if (d == 1) return cos(x);
    if (d == 3) return sin(x) / x;
    if (d == 5) return 3 * (sin(x) / x - cos(x)) / (x * x);
    return tgamma(0.5 * d) * pow(2 / x, 0.5 * d - 1) * jn(d / 2 - 1, x);
}

/* Radii u^2, u = 0, 1/DENSITY, ...: the substitution smooths what is not smooth at r = 0, and r = 1 is a node. The kernel is
 * multiplied by exp(-r^2/(2 WIDTH^2)), which keeps it positive definite and ends the integral. */
enum { DENSITY = 300, NODES = DENSITY * 26 / 5 + 1, FREQUENCIES = 60, WIDTH = 3 };

typedef struct transform {
    int d;
    double weights[NODES]; /* Simpson's, times the measure and the taper */
    double *waves;         /* FREQUENCIES x NODES */
} transform;

static void transform_make(int d, transform *t)
{
    t->d = d;
    t->waves = test_numbers((int64_t)FREQUENCIES * NODES);
    for (int i = 0; i < NODES; i++) {
        const double u = (double)i / DENSITY, r = u * u, simpson = i == 0 || i == NODES - 1 ? 1 : i % 2 ? 4 : 2;
        t->weights[i] = simpson * 2 * u * pow(r, d - 1) * exp(-0.5 * r * r / (WIDTH * WIDTH));
        for (int w = 0; w < FREQUENCIES; w++) t->waves[w * NODES + i] = sphere_mean(d, (w + 0.5) * r);
    }
}

static void check_transform(const transform *t, const char *text)
{
    double *data = test_numbers((int64_t)NODES * t->d), *k = test_numbers(NODES), mass = 0;
    for (int i = 0; i < NODES; i++) data[(ptrdiff_t)i * t->d] = (double)i * i / ((double)DENSITY * DENSITY);
    gram_kernel *kernel = test_kernel(context, text);
    gram_points *origin = test_points(context, 1, t->d, data), *x = test_points(context, NODES, t->d, data);
    OK(context, gram_matrix(context, kernel, origin, x, k, NODES));
    for (int i = 0; i < NODES; i++) mass += fabs(k[i] * t->weights[i]);
    for (int w = 0; w < FREQUENCIES; w++) {
        double sum = 0;
        for (int i = 0; i < NODES; i++) sum += k[i] * t->weights[i] * t->waves[w * NODES + i];
        if (!(sum >= -2e-8 * mass))
            FAIL_TEST("%s in R^%d: the Fourier transform at %g is %.3g of the integral", text, t->d, w + 0.5,
                      sum / mass);
    }
    gram_points_release(x);
    gram_points_release(origin);
    gram_kernel_release(kernel);
    free(k);
    free(data);
}

static void bochner(void **state)
{
    (void)state;
    static const int D[] = {1, 2, 3, 4, 5, 6, 10};
    static transform t;
    for (size_t c = 0; c < sizeof D / sizeof *D; c++) {
        test_expressions lists[2];
        int tested = 0;
        transform_make(D[c], &t);
        test_expressions_make_lengths(D[c], 1, &lists[0]);
        test_expressions_make(D[c], &lists[1]);
        for (int e = 0; e < lists[0].count + lists[1].count; e++) {
            const char *text = e < lists[0].count ? lists[0].text[e] : lists[1].text[e - lists[0].count];
            gram_properties facts;
            if (!is_definite(text, D[c], &facts)) continue;
            if (facts.isotropic != GRAM_YES || facts.continuous != GRAM_YES) continue;
            check_transform(&t, text);
            tested++;
        }
        assert_true(tested >= 20);
        test_expressions_free(&lists[0]);
        test_expressions_free(&lists[1]);
        free(t.waves);
    }
}

/* The test above can fail: wendland's functions with the exponents of R^1 in higher dimensions, and with one less than they
 * need in R^1 and R^3. */
static void bochner_can_fail(void **state)
{
    (void)state;
    static const struct {
        int d, k, l;
    } CASES[] = {{1, 1, 1}, {1, 2, 2}, {3, 0, 1}, {3, 1, 2}, {3, 2, 3}, {10, 0, 1}, {10, 1, 2}, {10, 2, 3}};
    static transform t;
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        const double l = CASES[c].l;
        double least = 0, mass = 0;
        transform_make(CASES[c].d, &t);
        for (int w = 0; w < FREQUENCIES; w++) {
            double sum = 0;
            mass = 0;
            for (int i = 0; i <= DENSITY; i++) {
                const double r = (double)i * i / ((double)DENSITY * DENSITY);
                const double p = CASES[c].k == 0   ? 1
                                 : CASES[c].k == 1 ? 1 + (l + 1) * r
                                                   : 1 + (l + 2) * r + (l + 1) * (l + 3) / 3 * r * r;
                const double k = pow(1 - r, l + CASES[c].k) * p;
                sum += k * t.weights[i] * t.waves[w * NODES + i];
                mass += k * t.weights[i];
            }
            least = fmin(least, sum / mass);
        }
        if (!(least < -2e-7)) FAIL_TEST("k = %d, l = %g in R^%d passes", CASES[c].k, l, CASES[c].d);
        free(t.waves);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_seen),
        cmocka_unit_test(short_lengths),
        cmocka_unit_test(bochner),
        cmocka_unit_test(bochner_can_fail),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
