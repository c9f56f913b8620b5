/* The preconditioner from neighbours: with all rows as neighbours it is the inverse, and with some conjugate gradients solve collocation's
 * ill-conditioned systems in a few iterations; its draws have its covariance. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/cg.h>
#include <gram/functional.h>

#include "dense_twin.h"
#include "kernel/kernel.h"
#include "oom.h"
#include "points/points.h"
#include "solve/neighbours/neighbour_preconditioner.h"

enum { D = 2 };

/* A grid of side x side rows: values at its boundary, Laplacians inside. */
static gram_points *collocation(gram_context *context, int side)
{
    const int n = side * side;
    gram_functional_term *terms = calloc((size_t)n, sizeof *terms);
    double *at = test_numbers((int64_t)n * D);
    gram_points *x = NULL;
    for (int i = 0; i < n; i++) {
        const int a = i / side, b = i % side, inside = a > 0 && b > 0 && a < side - 1 && b < side - 1;
        at[i * D] = a / (side - 1.0);
        at[i * D + 1] = b / (side - 1.0);
        terms[i] = (gram_functional_term){.row = i,
                                          .kind = inside ? GRAM_FUNCTIONAL_LAPLACIAN : GRAM_FUNCTIONAL_VALUE,
                                          .coefficient = 1,
                                          .at = at + (ptrdiff_t)i * D};
    }
    OK(context, gram_points_create_functionals(context, n, D, n, terms, &x));
    free(terms);
    free(at);
    return x;
}

static double *shifts(gram_context *context, const gram_kernel *kernel, const gram_points *x, double share)
{
    double *shift = test_numbers(x->n);
    OK(context, gram_matrix_diagonal(context, kernel, x, shift));
    for (int64_t i = 0; i < x->n; i++) shift[i] *= share;
    return shift;
}

/* M^-1 (A v) = v, log |M| = log |A|. */
static void all_neighbours(void **state)
{
    gram_context *context = *state;
    gram_kernel *kernel = test_kernel(context, "matern(nu=3.5, ell=0.5)");
    gram_points *x = collocation(context, 12);
    const int64_t n = x->n;
    double *shift = shifts(context, kernel, x, 1e-4), *a = test_matrix(context, kernel, x, NULL);
    double *v = test_random(3, n, -1, 1), *w = test_numbers(n), *l = test_numbers(n * n), wanted = 0;
    gram_neighbours *m = NULL;
    for (int64_t i = 0; i < n; i++) a[i * n + i] += shift[i];
    OK(context, gram_neighbours_create(context, kernel, x, shift, 200, &m));
    for (int64_t i = 0; i < n * n; i++) w[i / n] += a[i] * v[i % n];
    OK(context, gram_neighbours_precondition(m, context, 1, w, 1));
    test_near("M^-1 A v", NULL, n, w, v, 1e-6);
    assert_true(gram_small_cholesky(n, a, l));
    for (int64_t i = 0; i < n; i++) wanted += 2 * log(l[i * n + i]);
    const double found = gram_neighbours_log_determinant(m);
    test_near("log |M|", NULL, 1, &found, &wanted, 1e-6);
    gram_neighbours_destroy(m);
    gram_points_release(x);
    gram_kernel_release(kernel);
    free(shift);
    free(a);
    free(v);
    free(w);
    free(l);
}

/* z = draw: U'z has independent standard normal numbers, so that z'M^-1 z has mean n. */
static void draws(void **state)
{
    enum { DRAWS = 50 };
    gram_context *context = *state;
    gram_kernel *kernel = test_kernel(context, "matern(nu=4.5, ell=1)");
    gram_points *x = collocation(context, 14);
    const int64_t n = x->n;
    double *shift = shifts(context, kernel, x, 1e-8), *z = test_numbers(n * DRAWS), *w = test_numbers(n * DRAWS),
           sum = 0;
    gram_neighbours *m = NULL;
    OK(context, gram_neighbours_create(context, kernel, x, shift, 40, &m));
    OK(context, gram_neighbours_draw(context, m, (gram_random){1, 2}, DRAWS, z, DRAWS));
    memcpy(w, z, (size_t)(n * DRAWS) * sizeof *w);
    OK(context, gram_neighbours_precondition(m, context, DRAWS, w, DRAWS));
    for (int64_t i = 0; i < n * DRAWS; i++) sum += z[i] * w[i] / (double)(n * DRAWS);
    assert_true(fabs(sum - 1) < 4 * sqrt(2.0 / (double)(n * DRAWS)));
    gram_neighbours_destroy(m);
    gram_points_release(x);
    gram_kernel_release(kernel);
    free(shift);
    free(z);
    free(w);
}

/* Condition numbers of 1e10: a few iterations, the same for any number of threads. */
static void few_iterations(void **state)
{
    gram_context *context = *state;
    gram_kernel *kernel = test_kernel(context, "matern(nu=4.5, ell=1)");
    gram_points *x = collocation(context, 24);
    const int64_t n = x->n;
    double *shift = shifts(context, kernel, x, 1e-10), *b = test_random(5, n, -1, 1), *found = test_numbers(n);
    gram_neighbours *m = NULL;
    gram_operator *k = NULL, *a = NULL;
    gram_cg_options options;
    gram_cg_report report = {.size = sizeof report};
    OK(context, gram_neighbours_create(context, kernel, x, shift, 80, &m));
    OK(context, gram_operator_create_free(context, kernel, x, &k));
    OK(context, gram_operator_create_shifted_by(context, k, shift, &a));
    gram_cg_options_init(&options, sizeof options);
    options.precondition = gram_neighbours_precondition;
    options.user = m;
    options.iterations = 60;
    options.tolerance = 1e-13;
    const gram_status status = gram_cg_solve(context, a, 1, b, 1, found, 1, &options, &report);
    print_message("%d rows: %d iterations, relative residual %.2g, backward error %.2g\n", (int)n,
                  (int)report.iterations, report.residual, report.backward_error);
    assert_int_equal(status, GRAM_OK);
    gram_operator_release(a);
    gram_operator_release(k);
    gram_neighbours_destroy(m);
    gram_points_release(x);
    gram_kernel_release(kernel);
    free(shift);
    free(b);
    free(found);
}

/* ---- memory ---- */

static gram_status play(gram_context *context)
{
    gram_status status = GRAM_OK;
    static const double at[40] = {0, 0.1, 0.3, 0.2, 0.9, 0.8, 0.4, 0.5, 0.7, 0.65};
    gram_kernel *kernel = NULL;
    gram_points *x = NULL;
    gram_neighbours *m = NULL;
    double shift[40], v[40] = {1};
    for (int i = 0; i < 40; i++) shift[i] = 0.1;
    STEP(gram_kernel_parse(context, "rbf(ell=1)", &kernel));
    STEP(gram_points_create_f64(context, 40, 1, at, 1, &x));
    STEP(gram_neighbours_create(context, kernel, x, shift, 3, &m));
    STEP(gram_neighbours_precondition(m, context, 1, v, 1));
    STEP(gram_neighbours_draw(context, m, (gram_random){1, 2}, 1, v, 1));
done:
    gram_neighbours_destroy(m);
    gram_points_release(x);
    gram_kernel_release(kernel);
    return status;
}

static void every_allocation(void **state)
{
    (void)state;
    assert_true(oom_each(play, 0) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_neighbours),
        cmocka_unit_test(draws),
        cmocka_unit_test(few_iterations),
        cmocka_unit_test(every_allocation),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
