/* Derivatives of weighted Gram sums, by parameters and by inputs, against differences of sixth order,
 *
 *     f'(t) = sum_q c_q (f(t + q h) - f(t - q h)) / (120 h) + O(h^6),  q = 1 ... 6,
 *
 * of the whole Gram matrix: so the sum is known together with the sum of its terms' sizes, to which errors are compared.
 * This is the mean of the differences of sixth order to the right and to the left, so at a kink it is the mean of both
 * sides: the stated convention. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { HALF = 6 };
static const double COEFFICIENT[HALF] = {360, -450, 400, -225, 72, -10};
static const double TOLERANCE = 1e-7;
static const double NOISE = 1e-14; /* rounding of sum |c_q| values of size 1, over 120: differences carry this over h */

/* X and Y (Y NULL: X with itself), with weights dense and as a product of thin arrays */
typedef struct problem {
    gram_context *context;
    const char *text;
    gram_kernel *kernel;
    int64_t n, m, d;
    double *x_data, *y_data;
    gram_points *x, *y;
    int64_t rank;
    double *a, *b, *dense;
    int64_t ld;
} problem;

static void problem_make(gram_context *context, int64_t n, int64_t m, int64_t d, problem *p)
{
    const int64_t rank = 3;
    *p = (problem){.context = context, .n = n, .m = m ? m : n, .d = d, .rank = rank, .ld = (m ? m : n) + 2};
    p->x_data = test_spread((uint64_t)(n + 1000 * d), n + m, d);
    p->y_data = p->x_data + n * d;
    p->x = test_points(context, n, d, p->x_data);
    p->y = m ? test_points(context, m, d, p->y_data) : NULL;
    p->a = test_random(1, p->n * (rank + 1), -1, 1);
    p->b = test_random(2, p->m * rank, -1, 1);
    p->dense = test_random(3, p->n * p->ld, -1, 1);
}

static void problem_free(problem *p)
{
    gram_points_release(p->x);
    gram_points_release(p->y);
    free(p->x_data);
    free(p->a);
    free(p->b);
    free(p->dense);
}

static gram_weights weights(const problem *p, int low)
{
    if (low) return (gram_weights){.rank = p->rank, .a = p->a, .lda = p->rank + 1, .b = p->b, .ldb = p->rank};
    return (gram_weights){.dense = p->dense, .ld = p->ld};
}

static double weight(const problem *p, int low, int64_t i, int64_t j)
{
    if (!low) return p->dense[i * p->ld + j];
    double sum = 0;
    for (int64_t r = 0; r < p->rank; r++) sum += p->a[i * (p->rank + 1) + r] * p->b[j * p->rank + r];
    return sum;
}

#define BROKEN_AT(p, low, what, at, got, want, size)                                                                   \
    FAIL_TEST(                                                                                                         \
        "%.300s, n = %lld, m = %lld%s, d = %lld, %s weights: derivative %lld by %s is %.12g, differences give %.12g"   \
        " (terms of size %.3g)",                                                                                       \
        (p)->text, (long long)(p)->n, (long long)(p)->m, (p)->y ? "" : " (same points)", (long long)(p)->d,            \
        (low) ? "low-rank" : "dense", (long long)(at), what, got, want, size)

/* max_ij |k(x_i, y_j)| */
static double largest_value(const problem *p, double *work)
{
    double largest = 0;
    OK(p->context, gram_matrix(p->context, p->kernel, p->x, p->y, work, p->m));
    for (int64_t i = 0; i < p->n * p->m; i++) largest = fmax(largest, fabs(work[i]));
    return largest;
}

/* ---- by parameters ---- */

/* slope = dK/dtheta_which by differences; returns h */
static double differentiate_parameter(const problem *p, const double *values, int64_t count, int64_t which,
                                      double *slope)
{
    /* shorter for many coordinates: a product over them is of a high degree in a parameter of all (sinc's B) */
    const double h = (p->d > 20 ? 4e-4 : 4e-3) * fmax(fabs(values[which]), 0.05);
    double *moved = test_numbers(count), *k = test_numbers(p->n * p->m);
    memset(slope, 0, (size_t)(p->n * p->m) * sizeof *slope);
    for (int q = -HALF; q <= HALF; q++) {
        if (q == 0) continue;
        gram_kernel *kernel = NULL;
        memcpy(moved, values, (size_t)count * sizeof *moved);
        moved[which] += q * h;
        OK(p->context, gram_kernel_with_values(p->context, p->kernel, moved, &kernel));
        OK(p->context, gram_matrix(p->context, kernel, p->x, p->y, k, p->m));
        const double factor = (q > 0 ? COEFFICIENT[q - 1] : -COEFFICIENT[-q - 1]) / (120 * h);
        for (int64_t i = 0; i < p->n * p->m; i++) slope[i] += factor * k[i];
        gram_kernel_release(kernel);
    }
    free(k);
    free(moved);
    return h;
}

static void compare_parameter(const problem *p, int low, int64_t which, const double *slope, double noise, double got)
{
    double want = 0, size = 0, weights_size = 0;
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->m; j++) {
            const double term = weight(p, low, i, j) * slope[i * p->m + j];
            want += term;
            size += fabs(term);
            weights_size += fabs(weight(p, low, i, j));
        }
    if (!(fabs(got - want) <= TOLERANCE * size + noise * weights_size))
        BROKEN_AT(p, low, "parameters", which, got, want, size);
}

static void check_parameters(const problem *p)
{
    const int64_t count = gram_kernel_parameter_count(p->kernel);
    double *values = test_numbers(count), *slope = test_numbers(p->n * p->m);
    double *gradient[2] = {test_numbers(count + 1), test_numbers(count + 1)};
    const double largest = largest_value(p, slope);
    for (int64_t q = 0; q < count; q++) {
        gram_parameter parameter;
        OK(p->context, gram_kernel_parameter_get(p->context, p->kernel, q, &parameter));
        values[q] = parameter.value;
    }
    for (int low = 0; low < 2; low++) {
        const gram_weights w = weights(p, low);
        gradient[low][count] = -7;
        OK(p->context, gram_matrix_parameter_gradient(p->context, p->kernel, p->x, p->y, &w, gradient[low]));
        assert_true(gradient[low][count] == -7);
    }
    for (int64_t q = 0; q < count; q++) {
        if (values[q] == 0) continue; /* at its bound: no two-sided difference */
        const double noise = NOISE * largest / differentiate_parameter(p, values, count, q, slope);
        for (int low = 0; low < 2; low++) compare_parameter(p, low, q, slope, noise, gradient[low][q]);
    }
    for (int low = 0; low < 2; low++) free(gradient[low]);
    free(slope);
    free(values);
}

/* ---- by inputs ---- */

/* slope_ij = dk(x, y_j)/dx_l at x_i, by moving column l of all of X against Y (against a copy of X for X itself);
 * returns h */
static double differentiate_input(const problem *p, int64_t l, double *slope)
{
    /* short beside the distance between coordinates and, for kernels without another length (tanimoto), beside the least
     * coordinate, 0.1 */
    const double h = 0.02 * 1.4 / fmax(24, (double)(p->n + (p->y ? p->m : 0)));
    double *moved = test_numbers(p->n * p->d), *k = test_numbers(p->n * p->m);
    gram_points *still = p->y ? gram_points_retain(p->y) : test_points(p->context, p->n, p->d, p->x_data);
    memset(slope, 0, (size_t)(p->n * p->m) * sizeof *slope);
    memcpy(moved, p->x_data, (size_t)(p->n * p->d) * sizeof *moved);
    for (int q = -HALF; q <= HALF; q++) {
        if (q == 0) continue;
        for (int64_t i = 0; i < p->n; i++) moved[i * p->d + l] = p->x_data[i * p->d + l] + q * h;
        gram_points *x = test_points(p->context, p->n, p->d, moved);
        OK(p->context, gram_matrix(p->context, p->kernel, x, still, k, p->m));
        const double factor = (q > 0 ? COEFFICIENT[q - 1] : -COEFFICIENT[-q - 1]) / (120 * h);
        for (int64_t i = 0; i < p->n * p->m; i++) slope[i] += factor * k[i];
        gram_points_release(x);
    }
    gram_points_release(still);
    free(k);
    free(moved);
    return h;
}

static void compare_input(const problem *p, int low, int64_t l, const double *slope, double noise, const double *got,
                          int64_t ld)
{
    for (int64_t i = 0; i < p->n; i++) {
        double want = 0, size = 0, weights_size = 0;
        for (int64_t j = 0; j < p->m; j++) {
            const double term = weight(p, low, i, j) * slope[i * p->m + j];
            want += term;
            size += fabs(term);
            weights_size += fabs(weight(p, low, i, j));
        }
        /* rounding of the differences is all there is when every term is 0 */
        if (!(fabs(got[i * ld + l] - want) <= TOLERANCE * size + noise * weights_size)) {
            print_error("point %lld, ", (long long)i);
            BROKEN_AT(p, low, "inputs", l, got[i * ld + l], want, size);
        }
    }
}

/* The slope of relu's tangent kernel jumps where points are parallel, which many are in the plane: test_kernels_neural has it. */
static int jumps_in_plane(const problem *p)
{
    return p->d == 2 && strstr(p->text, "ntk") && strstr(p->text, "relu");
}

static void check_inputs(const problem *p)
{
    const int64_t ld = p->d + 1;
    if (jumps_in_plane(p)) return;
    double *slope = test_numbers(p->n * p->m), *gradient[2] = {test_numbers(p->n * ld), test_numbers(p->n * ld)};
    const double largest = largest_value(p, slope);
    for (int low = 0; low < 2; low++) {
        const gram_weights w = weights(p, low);
        for (int64_t i = 0; i < p->n; i++) gradient[low][i * ld + p->d] = -7;
        OK(p->context, gram_matrix_input_gradient(p->context, p->kernel, p->x, p->y, &w, gradient[low], ld));
        for (int64_t i = 0; i < p->n; i++) assert_true(gradient[low][i * ld + p->d] == -7);
    }
    for (int64_t l = 0; l < p->d; l++) {
        /* of many columns a few are enough: the first, the last and some between */
        if (p->d > 12 && l % 11 != 0 && l != p->d - 1) continue;
        const double noise = NOISE * largest / differentiate_input(p, l, slope);
        for (int low = 0; low < 2; low++) compare_input(p, low, l, slope, noise, gradient[low], ld);
    }
    for (int low = 0; low < 2; low++) free(gradient[low]);
    free(slope);
}

/* ---- over all kernels ---- */

typedef void (*check_fn)(const problem *p);

/* `half` 0 or 1: every second kernel, where all of them would take long; 2: all */
static void run(int64_t n, int64_t m, int64_t d, int half, check_fn check)
{
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    test_expressions list;
    problem p;
    test_expressions_make_smooth(d, &list);
    problem_make(context, n, m, d, &p);
    for (int e = 0; e < list.count; e++) {
        if (e % 2 != half && half < 2) continue;
        if (d > 20 && strstr(list.text[e], "S=")) continue; /* 2485 parameters */
        p.text = list.text[e];
        p.kernel = test_kernel(context, p.text);
        check(&p);
        gram_kernel_release(p.kernel);
    }
    problem_free(&p);
    test_expressions_free(&list);
    gram_context_destroy(context);
}

static void by_parameters(void **state)
{
    (void)state;
    run(1, 0, 1, 2, check_parameters);
    run(23, 0, 1, 2, check_parameters);
    run(23, 18, 2, 2, check_parameters);
    run(35, 0, 4, 0, check_parameters);
    run(110, 0, 3, 1, check_parameters);
    run(97, 20, 5, 0, check_parameters);
    run(20, 0, 70, 1, check_parameters);
    run(18, 25, 70, 0, check_parameters);
}

static void by_inputs(void **state)
{
    (void)state;
    run(1, 0, 1, 2, check_inputs);
    run(23, 0, 1, 2, check_inputs);
    run(23, 18, 2, 2, check_inputs);
    run(35, 0, 4, 0, check_inputs);
    run(97, 20, 3, 1, check_inputs);
    run(20, 110, 3, 0, check_inputs);
    run(20, 0, 70, 1, check_inputs);
    run(18, 25, 70, 0, check_inputs);
}

/* ---- conventions ---- */

/* The mean of both sides at a kink: 0 for matern 1/2 and laplace1 (each coordinate that agrees, for the latter), half
 * the slope for min; a repeated point is a kink too, not only a point with itself. */
static void kinks(void **state)
{
    (void)state;
    static const double DATA[3][2] = {{1, 2}, {1, 2}, {1, 3}};
    static const double ONE[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const gram_weights w = {.dense = ONE, .ld = 3};
    static const struct {
        const char *text;
        double want[2]; /* at the first point: both columns, summed over the three points */
    } CASES[] = {
        {"matern(nu=0.5, ell=1)", {0, 0.36787944117144233}},
        {"laplace1(ell=1)", {0, 0.36787944117144233}},
        {"min()", {3 * 0.5 * 2, 0.5 + 0.5 + 1}},
        {"rbf(ell=1)", {0, 0.60653065971263342}},
        {"white()", {0, 0}},
    };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_points *x = test_points(context, 3, 2, DATA[0]);
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        double out[6];
        gram_kernel *kernel = test_kernel(context, CASES[c].text);
        OK(context, gram_matrix_input_gradient(context, kernel, x, NULL, &w, out, 2));
        for (int l = 0; l < 2; l++)
            if (!(fabs(out[l] - CASES[c].want[l]) <= 1e-14))
                FAIL_TEST("%s: slope by column %d is %.17g, should be %.17g", CASES[c].text, l, out[l],
                          CASES[c].want[l]);
        gram_kernel_release(kernel);
    }
    gram_points_release(x);
    gram_context_destroy(context);
}

/* By the number, not by its logarithm; in the order of the parameters; a fixed number is differentiated by too. */
static void closed_form(void **state)
{
    (void)state;
    static const double DATA[2] = {0, 1}, W[4] = {0, 1, 0, 0};
    const gram_weights w = {.dense = W, .ld = 2};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_points *x = test_points(context, 2, 1, DATA);
    gram_kernel *kernel = test_kernel(context, "3*rbf(ell=2!) + poly(m=2, c=0.5)");
    double gradient[3];
    assert_int_equal(gram_kernel_parameter_count(kernel), 3);
    OK(context, gram_matrix_parameter_gradient(context, kernel, x, NULL, &w, gradient));
    const double k = exp(-0.125);
    assert_true(fabs(gradient[0] - k) <= 1e-15);
    assert_true(fabs(gradient[1] - 3 * k / 8) <= 1e-15);
    assert_true(fabs(gradient[2] - 1) <= 1e-15);
    gram_kernel_release(kernel);
    gram_points_release(x);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_parameters), cmocka_unit_test(by_inputs),
                                       cmocka_unit_test(kinks), cmocka_unit_test(closed_form)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
