/* The two-sample test: checks the arguments, makes the kernel ready, and calls the method. */
#include <math.h>
#include <string.h>

#include <gram/random.h>
#include <gram/text.h>

#include "base/distribution_tails.h"
#include "base/sized_struct.h"
#include "points/functionals.h"
#include "test/two_sample/mmd.h"

void gram_mmd_options_init(gram_mmd_options *options, size_t size)
{
    const gram_mmd_options defaults = {
        .level = 0.05, .permutations = 999, .width_count = 7, .width_least = 0.0625, .width_most = 4};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

void gram_mmd_result_init(gram_mmd_result *result, size_t size)
{
    const gram_mmd_result empty = {.size = 0};
    gram_sized_init(result, size, &empty, sizeof empty);
}

void gram_mmd_result_clear(gram_mmd_result *result)
{
    if (!result || !GRAM_SIZED_HAS(result, kernel)) return;
    gram_kernel_release(result->kernel);
    result->kernel = NULL;
}

static gram_status check_options(gram_context *context, const gram_mmd_options *o)
{
    enum { MOST_PERMUTATIONS = 10000000 };
    gram_status status = GRAM_OK;
    char number[GRAM_NUMBER_SIZE];
    FAIL_IF(o->method < GRAM_MMD_TEST_AUTO || o->method > GRAM_MMD_TEST_WILD, context, GRAM_ERROR_ARGUMENT,
            "mmd_test: method = %d is not a valid method", (int)o->method);
    FAIL_IF(!(o->level > 0 && o->level < 1), context, GRAM_ERROR_ARGUMENT, "mmd_test: level = %s, need 0 to 1",
            gram_number_format(o->level, number));
    FAIL_IF(o->permutations < 1 || o->permutations > MOST_PERMUTATIONS, context, GRAM_ERROR_ARGUMENT,
            "mmd_test: permutations = %lld, need 1 to %d", (long long)o->permutations, (int)MOST_PERMUTATIONS);
    FAIL_IF(o->block != 0 && o->block < 2, context, GRAM_ERROR_ARGUMENT, "mmd_test: block = %lld, need 2 or more",
            (long long)o->block);
    FAIL_IF(!(o->memory >= 0 && isfinite(o->memory)), context, GRAM_ERROR_ARGUMENT,
            "mmd_test: memory = %s, need 0 or more", gram_number_format(o->memory, number));
    FAIL_IF(o->width_count < 1 || o->width_count > GRAM_MMD_MAX_WIDTHS, context, GRAM_ERROR_ARGUMENT,
            "mmd_test: width_count = %lld, need 1 to %d", (long long)o->width_count, (int)GRAM_MMD_MAX_WIDTHS);
    FAIL_IF(!(o->width_least >= 1e-30 && o->width_least <= o->width_most && o->width_most <= 1e30), context,
            GRAM_ERROR_ARGUMENT, "mmd_test: width_least is 1e-30 or more and width_most not below it, at most 1e30");
done:
    return status;
}

/* ---- blocks: the mean over its standard error ---- */

static gram_status test_blocks(gram_context *context, gram_mmd_task *task, const gram_points *x, const gram_points *y)
{
    gram_status status = GRAM_OK;
    gram_mmd_result *result = task->result;
    gram_points *first = NULL, *second = NULL;
    gram_block_moments moments = {0};
    const int64_t n = x->n < y->n ? x->n : y->n, d = x->d;
    int64_t block = result->used == GRAM_MMD_TEST_LINEAR ? 2 : task->options->block;
    if (block == 0) block = (int64_t)fmax(2, floor(sqrt((double)n)));
    FAIL_IF(n / block < 2, context, GRAM_ERROR_ARGUMENT,
            "mmd_test: %lld pairs of rows make fewer than two blocks of %lld, whose spread is not known: use a smaller "
            "block",
            (long long)n, (long long)block);
    /* both were copied to the pool: rows of the longer one beyond n have no partner */
    TRY(gram_points_create_like(context, task->pool.points, n, task->pool.data, 0, &first));
    TRY(gram_points_create_like(context, task->pool.points, n, task->pool.data + x->n * d, 0, &second));
    TRY(gram_mmd_add_blocks(context, task->kernel, first, second, block, &moments));
    result->statistic = moments.mean;
    result->n = result->m = n;
    result->null_mean = 0;
    result->null_deviation = gram_block_error(&moments);
    result->p_value = result->null_deviation > 0 ? gram_block_p_value(&moments) : 1;
done:
    gram_points_release(first);
    gram_points_release(second);
    return status;
}

/* ---- split ---- */

/* Half of each sample chooses the width, the other half is tested. */
static gram_status test_split(gram_context *context, gram_mmd_task *task, gram_kernel *kernel, const gram_points *x,
                              const gram_points *y)
{
    enum { RANDOM_STREAM = 0x73706c69 /* "spli" */ };
    gram_status status = GRAM_OK;
    const gram_random random = {gram_context_seed(context), RANDOM_STREAM};
    gram_kernel *resolved = NULL, *chosen = NULL;
    int64_t *x_rows = NULL, *y_rows = NULL;
    const int64_t n = x->n / 2, m = y->n / 2;
    FAIL_IF(n < 2 || m < 2, context, GRAM_ERROR_DIMENSION,
            "mmd_test: x has %lld rows and y %lld, to be split they need 4 each", (long long)x->n, (long long)y->n);
    TRY(gram_take(context, "mmd_test: rows", x->n, sizeof *x_rows, (void **)&x_rows));
    TRY(gram_take(context, "mmd_test: rows", y->n, sizeof *y_rows, (void **)&y_rows));
    gram_random_permutation(random, 0, x->n, x_rows);
    gram_random_permutation(random, 1, y->n, y_rows);
    gram_pool_destroy(context, &task->pool);
    TRY(gram_pool_create_some(context, x, n, x_rows, y, m, y_rows, &task->pool));
    TRY(gram_kernel_resolve(context, kernel, task->pool.points, &resolved));
    task->kernel = resolved;
    TRY(gram_mmd_choose_width(context, task, &chosen));
    gram_pool_destroy(context, &task->pool);
    TRY(gram_pool_create_some(context, x, x->n - n, x_rows + n, y, y->n - m, y_rows + m, &task->pool));
    task->kernel = chosen;
    task->result->n = x->n - n;
    task->result->m = y->n - m;
    task->result->kernel = gram_kernel_retain(chosen);
    TRY(gram_mmd_test_permutation(context, task));
done:
    gram_give(context, x_rows);
    gram_give(context, y_rows);
    gram_kernel_release(resolved);
    gram_kernel_release(chosen);
    return status;
}

/* ---- the whole ---- */

static gram_status run(gram_context *context, gram_mmd_task *task, gram_kernel *kernel, const gram_points *x,
                       const gram_points *y)
{
    gram_status status = GRAM_OK;
    gram_mmd_result *result = task->result;
    if (result->used == GRAM_MMD_TEST_SPLIT) return test_split(context, task, kernel, x, y);
    TRY(gram_kernel_resolve(context, kernel, task->pool.points, &result->kernel));
    gram_kernel *resolved = gram_kernel_retain(result->kernel); /* aggregated puts another one in the result */
    task->kernel = resolved;
    switch (result->used) {
    case GRAM_MMD_TEST_AGGREGATED: status = gram_mmd_test_aggregated(context, task); break;
    case GRAM_MMD_TEST_GAMMA:
    case GRAM_MMD_TEST_NORMAL: status = gram_mmd_test_moments(context, task); break;
    case GRAM_MMD_TEST_LINEAR:
    case GRAM_MMD_TEST_BLOCK: status = test_blocks(context, task, x, y); break;
    case GRAM_MMD_TEST_WILD: status = gram_mmd_test_wild(context, task); break;
    default: status = gram_mmd_test_permutation(context, task); break;
    }
    gram_kernel_release(resolved);
done:
    return status;
}

/* Does y come first? Labels are drawn by place, so the order of the samples is made the same whichever way they are given: the smaller
 * one first, of equal sizes the one whose first different number is smaller. */
static int is_swapped(const gram_points *x, const gram_points *y)
{
    if (x->n != y->n) return x->n > y->n;
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t l = 0; l < x->d; l++) {
            const double a = gram_points_at(x, i, l), b = gram_points_at(y, i, l);
            if (a != b) return a > b;
        }
    return 0;
}

static void begin_result(gram_mmd_result *result, const gram_mmd_options *options, int with_kernel)
{
    gram_mmd_result_init(result, sizeof *result);
    result->null_mean = result->null_deviation = result->statistic = NAN;
    result->p_value = 1;
    result->used = options->method;
    if (options->method == GRAM_MMD_TEST_AUTO)
        result->used = with_kernel ? GRAM_MMD_TEST_PERMUTATION : GRAM_MMD_TEST_AGGREGATED;
}

/* Fills the caller's struct; a kernel that it has no room for is not kept. */
static void tell(gram_mmd_result *made, gram_status status, gram_mmd_result *result)
{
    if (status < 0 || !GRAM_SIZED_HAS(result, kernel)) gram_mmd_result_clear(made);
    gram_sized_write(result, made, sizeof *made);
}

gram_status gram_mmd_test(gram_context *context, gram_kernel *kernel, const gram_points *x, const gram_points *y,
                          const gram_mmd_options *options, gram_mmd_result *result)
{
    gram_status status = GRAM_OK;
    gram_mmd_options o;
    gram_mmd_result made;
    gram_mmd_task task = {.options = &o, .result = &made};
    gram_kernel *own = NULL;
    int swapped = 0;
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(gram_points_must_be_plain(context, "mmd_test", x));
    TRY(gram_points_must_be_plain(context, "mmd_test", y));
    FAIL_IF(!result, context, GRAM_ERROR_ARGUMENT, "mmd_test: result is NULL");
    gram_mmd_options_init(&o, sizeof o);
    begin_result(&made, &o, 0);
    TRY(gram_sized_check(context, "mmd_test", "result", "gram_mmd_result", result, sizeof made));
    TRY(gram_sized_read(context, "mmd_test", "options", "gram_mmd_options", options, &o, sizeof o));
    begin_result(&made, &o, kernel != NULL);
    TRY(check_options(context, &o));
    TRY(gram_pool_create(context, "mmd_test", x, y, &task.pool));
    FAIL_IF(x->n < 2 || y->n < 2, context, GRAM_ERROR_DIMENSION, "mmd_test: x has %lld rows and y %lld, need 2 of each",
            (long long)x->n, (long long)y->n);
    swapped = is_swapped(x, y);
    if (swapped) {
        gram_pool_destroy(context, &task.pool);
        TRY(gram_pool_create(context, "mmd_test", y, x, &task.pool));
    }
    made.n = task.pool.n;
    made.m = task.pool.m;
    task.given = kernel != NULL;
    if (!kernel) TRY(gram_kernel_parse(context, "rbf", &own));
    TRY(run(context, &task, kernel ? kernel : own, swapped ? y : x, swapped ? x : y));
    FAIL_IF(!isfinite(made.statistic), context, GRAM_ERROR_NUMERICAL,
            "mmd_test: the kernel's values on these points are too large to be summed");
    made.reject = made.p_value <= o.level;
done:
    if (swapped) {
        const int64_t n = made.n;
        made.n = made.m;
        made.m = n;
    }
    if (result) tell(&made, status, result);
    gram_pool_destroy(context, &task.pool);
    gram_kernel_release(own);
    return status;
}
