/* Gram matrices of several kernels in one sweep: each is the matrix that its kernel has alone, and distances are shared. */
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "tile/width_family.h"

static const char *const KERNELS[] = {
    "rbf(ell=0.5)",
    "rbf(ell=1)",
    "2*rbf(ell=3) + 0.1*white()",
    "matern(nu=2.5, ell=0.7)*linear(c=1) + 3",
    "normalize(poly(m=2, c=1))",
    "rbf(ell=0.5)",
    "laplace1(ell=2)",
    "1.5",
    "exp(0.1*linear())",
};
enum { COUNT = sizeof KERNELS / sizeof *KERNELS };

typedef struct world {
    gram_context *context;
    double *numbers;
    gram_points *x;
    gram_kernel *kernels[COUNT];
} world;

static world world_make(int threads, int64_t n, int64_t d)
{
    world w = {.context = test_context(threads, GRAM_ISA_AUTO), .numbers = test_random((uint64_t)n, n * d, -1, 1)};
    w.x = test_points(w.context, n, d, w.numbers);
    for (int k = 0; k < COUNT; k++) w.kernels[k] = test_kernel(w.context, KERNELS[k]);
    return w;
}

static void world_free(world *w)
{
    for (int k = 0; k < COUNT; k++) gram_kernel_release(w->kernels[k]);
    gram_points_release(w->x);
    free(w->numbers);
    gram_context_destroy(w->context);
}

static void check(int threads, int64_t n, int64_t d)
{
    world w = world_make(threads, n, d);
    double *wide[COUNT], *alone = test_numbers(n * n);
    float *narrow[COUNT];
    for (int k = 0; k < COUNT; k++) {
        wide[k] = test_numbers(n * n);
        narrow[k] = malloc((size_t)(n * n) * sizeof *narrow[k]);
        assert_non_null(narrow[k]);
    }
    const gram_family f64 = {.count = COUNT, .kernels = w.kernels, .x = w.x, .f64 = wide};
    const gram_family f32 = {.count = COUNT, .kernels = w.kernels, .x = w.x, .f32 = narrow};
    OK(w.context, gram_family_fill(w.context, &f64));
    OK(w.context, gram_family_fill(w.context, &f32));
    for (int k = 0; k < COUNT; k++) {
        OK(w.context, gram_matrix(w.context, w.kernels[k], w.x, NULL, alone, n));
        assert_memory_equal(wide[k], alone, (size_t)(n * n) * sizeof *alone);
        for (int64_t i = 0; i < n * n; i++) assert_true(narrow[k][i] == (float)alone[i]);
        free(wide[k]);
        free(narrow[k]);
    }
    free(alone);
    world_free(&w);
}

/* Around whole strips and panels; 70 columns take distances from inner products. */
static void test_each_as_alone(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 15, 16, 17, 95, 96, 97, 300};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check(1, sizes[i], 3);
        check(2, sizes[i], 70);
    }
}

/* Kernels that differ in one length-scale have one form between them, kernels of another metric their own. */
static void test_distances_are_shared(void **state)
{
    (void)state;
    world w = world_make(1, 10, 3);
    gram_engine *engine;
    gram_kernel *const of_one_metric[] = {w.kernels[1], w.kernels[5]}, *const of_two[] = {w.kernels[1], w.kernels[6]};
    gram_engine_request request = {.kernel = w.kernels[0], .other_count = 2, .others = of_one_metric, .x = w.x};
    OK(w.context, gram_engine_create(w.context, &request, &engine));
    assert_int_equal(engine->form_count, 1);
    assert_int_equal(engine->forms[0].users, 3);
    gram_engine_destroy(engine);
    request.others = of_two;
    OK(w.context, gram_engine_create(w.context, &request, &engine));
    assert_int_equal(engine->form_count, 2);
    gram_engine_destroy(engine);
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_as_alone),
                                       cmocka_unit_test(test_distances_are_shared)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
