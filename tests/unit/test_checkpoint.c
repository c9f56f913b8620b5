/* Solves that are cut off and gone on with: the same steps and the same bits as without a stop; files that are damaged or of another fit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "oom.h"

enum { N = 120, D = 2, COLUMNS = 2 };

static const char PATH[] = "solve.check";

typedef struct world {
    double *x, b[N * COLUMNS];
    gram_points *points;
    gram_kernel *kernel;
    gram_operator *k, *a;
} world;

static gram_status open_world(gram_context *context, int64_t n, double scale, world *w)
{
    gram_status status = GRAM_OK;
    *w = (world){.x = test_spread(3, n, D)};
    for (int64_t i = 0; i < n * COLUMNS; i++) w->b[i] = scale * sin((double)(i * i));
    STEP(gram_points_create_f64(context, n, D, w->x, D, &w->points));
    STEP(gram_kernel_parse(context, "matern(nu=0.5, ell=0.5)", &w->kernel));
    STEP(gram_operator_create_free(context, w->kernel, w->points, &w->k));
    STEP(gram_operator_create_shifted(context, w->k, 1e-3, &w->a));
done:
    return status;
}

static void close_world(world *w)
{
    gram_operator_release(w->a);
    gram_operator_release(w->k);
    gram_kernel_release(w->kernel);
    gram_points_release(w->points);
    free(w->x);
}

static gram_status solve(gram_context *context, const world *w, int64_t iterations, double *x, int64_t *steps)
{
    gram_cg_options options;
    gram_cg_report report = {.size = sizeof report};
    gram_cg_options_init(&options, sizeof options);
    options.tolerance = 1e-12;
    options.iterations = iterations;
    memset(x, 0, (size_t)(gram_operator_size(w->a) * COLUMNS) * sizeof *x);
    const gram_status status = gram_cg_solve(context, w->a, COLUMNS, w->b, COLUMNS, x, COLUMNS, &options, &report);
    *steps = report.iterations;
    return status;
}

static gram_checkpoint_report told(gram_context *context)
{
    gram_checkpoint_report report = {.size = sizeof report};
    OK(context, gram_context_checkpoint_report(context, &report));
    return report;
}

/* Stops after ten steps, then goes on. */
static void goes_on_as_if_nothing_had_been(void **state)
{
    gram_context *context = *state;
    world w;
    double whole[N * COLUMNS], resumed[N * COLUMNS];
    int64_t steps, more;
    (void)unlink(PATH);
    OK(context, open_world(context, N, 1, &w));
    OK(context, solve(context, &w, 1000, whole, &steps));
    assert_true(steps > 20);
    OK(context, gram_context_set_checkpoint(context, PATH, 0));
    assert_int_equal(solve(context, &w, 10, resumed, &more), GRAM_NOT_CONVERGED);
    assert_true(told(context).written > 5 && told(context).resumed == 0);
    OK(context, gram_context_set_checkpoint(context, PATH, 1000));
    OK(context, solve(context, &w, 1000, resumed, &more));
    assert_int_equal(told(context).resumed, 10);
    assert_int_equal(told(context).written, 0);
    assert_int_equal(more, steps);
    assert_memory_equal(resumed, whole, sizeof whole);
    OK(context, gram_context_set_checkpoint(context, NULL, 0));
    close_world(&w);
}

/* Another right-hand side begins anew; other rows are refused, and so is every file that is cut off or changed. */
static void tells_solves_apart(void **state)
{
    gram_context *context = *state;
    world same, other, fewer;
    double x[N * COLUMNS];
    int64_t steps;
    (void)unlink(PATH);
    OK(context, open_world(context, N, 1, &same));
    OK(context, open_world(context, N, 3, &other));
    OK(context, open_world(context, N - 1, 1, &fewer));
    OK(context, gram_context_set_checkpoint(context, PATH, 0));
    assert_int_equal(solve(context, &same, 10, x, &steps), GRAM_NOT_CONVERGED);
    OK(context, gram_context_set_checkpoint(context, PATH, 1000));
    OK(context, solve(context, &other, 1000, x, &steps));
    assert_int_equal(told(context).resumed, 0);
    REFUSED(context, solve(context, &fewer, 1000, x, &steps), GRAM_ERROR_DATA, "of another fit: 120 rows, not 119");
    OK(context, gram_context_set_checkpoint(context, NULL, 0));
    close_world(&same);
    close_world(&other);
    close_world(&fewer);
}

static void refuses_damaged_files(void **state)
{
    gram_context *context = *state;
    world w;
    double x[N * COLUMNS];
    int64_t steps;
    (void)unlink(PATH);
    OK(context, open_world(context, N, 1, &w));
    OK(context, gram_context_set_checkpoint(context, PATH, 0));
    assert_int_equal(solve(context, &w, 10, x, &steps), GRAM_NOT_CONVERGED);
    OK(context, gram_context_set_checkpoint(context, PATH, 1000));
    FILE *file = fopen(PATH, "rb");
    static char bytes[1 << 16];
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    assert_true(size > 1000 && size < sizeof bytes);
    for (size_t cut = 0; cut < size; cut += cut < 100 ? 1 : 777) {
        test_write_file(PATH, bytes, cut);
        REFUSED(context, solve(context, &w, 1000, x, &steps), GRAM_ERROR_DATA, PATH);
    }
    for (size_t at = 100; at < size; at += 501) { /* beyond what tells solves apart */
        bytes[at] ^= 4;
        test_write_file(PATH, bytes, size);
        REFUSED(context, solve(context, &w, 1000, x, &steps), GRAM_ERROR_DATA, "its bytes were changed");
        bytes[at] ^= 4;
    }
    test_write_file(PATH, bytes, size);
    OK(context, solve(context, &w, 1000, x, &steps));
    assert_int_equal(told(context).resumed, 10);
    REFUSED(context, gram_context_set_checkpoint(context, PATH, -1), GRAM_ERROR_ARGUMENT, "seconds = -1");
    REFUSED(context, gram_context_set_checkpoint(context, "", 1), GRAM_ERROR_ARGUMENT, "path is empty");
    OK(context, gram_context_set_checkpoint(context, NULL, 0));
    (void)unlink(PATH);
    close_world(&w);
}

static gram_status play(gram_context *context)
{
    gram_status status = GRAM_OK;
    world w;
    double x[N * COLUMNS];
    int64_t steps;
    (void)unlink(PATH);
    STEP(open_world(context, N, 1, &w));
    STEP(gram_context_set_checkpoint(context, PATH, 0));
    STEP(solve(context, &w, 3, x, &steps));
    STEP(gram_context_set_checkpoint(context, PATH, 0));
    STEP(solve(context, &w, 3, x, &steps));
done:
    close_world(&w);
    return status < 0 ? status : GRAM_OK;
}

static void survives_failing_allocations(void **state)
{
    (void)state;
    (void)oom_each(play, 0);
    (void)unlink(PATH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on_as_if_nothing_had_been),
        cmocka_unit_test(tells_solves_apart),
        cmocka_unit_test(refuses_damaged_files),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
