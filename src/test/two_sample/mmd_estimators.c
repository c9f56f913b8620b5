/* Estimators of MMD^2, the witness, and the columns that differ; formulas in mmd.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/random.h>

#include "points/functionals.h"
#include "test/two_sample/mmd.h"

/* ---- all pairs ---- */

/* V = (1/n + 1/m)^2 e'Ce for whole rows centred, e the labels of x. */
static gram_status biased(gram_context *context, const gram_kernel *kernel, const gram_pool *pool, double *out)
{
    gram_status status = GRAM_OK;
    gram_pairs pairs = {0};
    const double weight = 1 / (double)pool->n + 1 / (double)pool->m;
    TRY(gram_pairs_create(context, kernel, pool->points, GRAM_CENTRE_ALL, &pairs));
    const gram_mmd_scale scale = {2 * weight * weight, weight * weight, 0};
    TRY(gram_mmd_observed(context, &pairs, pool->n, &scale, out));
done:
    gram_pairs_destroy(context, &pairs);
    return status;
}

typedef struct cross {
    const gram_engine *engine;
    double *sums;
} cross;

static gram_status cross_task(void *argument, const gram_worker *worker)
{
    const cross *c = argument;
    const int64_t panel = worker->task;
    double sum = 0;
    gram_engine_begin(c->engine, worker->scratch, worker);
    for (int row = 0; row < GRAM_PANEL && panel * GRAM_PANEL + row < c->engine->n; row += GRAM_STRIP) {
        const double *k = gram_engine_strip_f64(c->engine, worker->scratch, panel, row, panel);
        for (int r = 0; r < GRAM_STRIP && panel * GRAM_PANEL + row + r < c->engine->n; r++)
            sum += k[r * GRAM_PANEL + row + r];
    }
    c->sums[panel] = sum;
    return GRAM_OK;
}

/* sum_i k(x_i, y_i) */
static gram_status cross_diagonal(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                  const gram_points *y, double *sum)
{
    gram_status status = GRAM_OK;
    gram_engine *engine = NULL;
    cross c = {0};
    int64_t panels = 0;
    const gram_engine_request request = {.kernel = kernel, .x = x, .y = y, .always_double = 1};
    TRY(gram_engine_create(context, &request, &engine));
    panels = gram_engine_row_panels(engine);
    c.engine = engine;
    TRY(gram_take(context, "mmd_squared: sums", panels, sizeof *c.sums, (void **)&c.sums));
    const gram_sweep sweep = {.what = "pairs",
                              .tasks = panels,
                              .scratch_bytes = gram_engine_scratch(engine),
                              .run = cross_task,
                              .argument = &c};
    TRY(gram_sweep_run(context, &sweep));
    *sum = 0;
    for (int64_t i = 0; i < panels; i++) *sum += c.sums[i];
done:
    gram_give(context, c.sums);
    gram_engine_destroy(engine);
    return status;
}

/* The U-statistic; paired: 2/(n(n-1)) (4 q + sum_i C(x_i, y_i)). */
static gram_status unbiased(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                            const gram_points *y, const gram_pool *pool, int paired, double *out)
{
    gram_status status = GRAM_OK;
    gram_pairs pairs = {0};
    const double n = (double)pool->n;
    double sum;
    TRY(gram_pairs_create(context, kernel, pool->points, GRAM_CENTRE_PAIRS, &pairs));
    gram_mmd_scale scale = gram_mmd_scaling(&pairs, pool->n, pool->m, 0);
    if (paired) {
        TRY(cross_diagonal(context, kernel, x, y, &sum));
        for (int64_t i = 0; i < pairs.n; i++) sum -= pairs.row[i];
        scale.slope = 8 / (n * (n - 1));
        scale.shift = 2 * (sum + n * pairs.offset) / (n * (n - 1));
    }
    TRY(gram_mmd_observed(context, &pairs, pool->n, &scale, out));
done:
    gram_pairs_destroy(context, &pairs);
    return status;
}

static gram_status check(gram_context *context, const gram_points *x, const gram_points *y,
                         gram_mmd_estimator estimator, int64_t block)
{
    gram_status status = GRAM_OK;
    const int64_t least = estimator == GRAM_MMD_BIASED ? 1 : 2;
    FAIL_IF(estimator < GRAM_MMD_UNBIASED || estimator > GRAM_MMD_BLOCK, context, GRAM_ERROR_ARGUMENT,
            "mmd_squared: estimator = %d is not a valid estimator", (int)estimator);
    FAIL_IF(x->n < least || y->n < least, context, GRAM_ERROR_DIMENSION,
            "mmd_squared: x has %lld rows and y %lld, need at least %lld", (long long)x->n, (long long)y->n,
            (long long)least);
    FAIL_IF(estimator >= GRAM_MMD_PAIRED && x->n != y->n, context, GRAM_ERROR_DIMENSION,
            "mmd_squared: x has %lld rows and y %lld, this estimator needs as many of each", (long long)x->n,
            (long long)y->n);
    FAIL_IF(block != 0 && (block < 2 || (estimator == GRAM_MMD_BLOCK && block > x->n)), context, GRAM_ERROR_ARGUMENT,
            "mmd_squared: block = %lld, need 2 to the number of rows, %lld", (long long)block, (long long)x->n);
done:
    return status;
}

gram_status gram_mmd_squared(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                             const gram_points *y, gram_mmd_estimator estimator, int64_t block, double *out,
                             double *standard_error)
{
    gram_status status = GRAM_OK;
    gram_pool pool = {0};
    gram_block_moments moments = {0};
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(gram_points_must_be_plain(context, "mmd_squared", x));
    TRY(gram_points_must_be_plain(context, "mmd_squared", y));
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "mmd_squared: kernel is NULL");
    FAIL_IF(!out, context, GRAM_ERROR_ARGUMENT, "mmd_squared: out is NULL");
    if (standard_error) *standard_error = NAN;
    TRY(gram_pool_create(context, "mmd_squared", x, y, &pool));
    TRY(check(context, x, y, estimator, block));
    if (estimator == GRAM_MMD_LINEAR) block = 2;
    if (block == 0) block = (int64_t)fmax(2, floor(sqrt((double)x->n)));
    if (estimator >= GRAM_MMD_LINEAR) {
        TRY(gram_mmd_add_blocks(context, kernel, x, y, block, &moments));
        *out = moments.mean;
        if (standard_error) *standard_error = gram_block_error(&moments);
    } else if (estimator == GRAM_MMD_BIASED)
        TRY(biased(context, kernel, &pool, out));
    else
        TRY(unbiased(context, kernel, x, y, &pool, estimator == GRAM_MMD_PAIRED, out));
    if (estimator == GRAM_MMD_BIASED && *out < 0) *out = 0;
    FAIL_IF(!isfinite(*out), context, GRAM_ERROR_NUMERICAL,
            "mmd_squared: the kernel's values on these points are too large to be summed");
done:
    gram_pool_destroy(context, &pool);
    return status;
}

/* ---- where they differ ---- */

gram_status gram_mmd_witness(gram_context *context, gram_kernel *kernel, const gram_points *x, const gram_points *y,
                             gram_function **witness)
{
    gram_status status = GRAM_OK;
    gram_pool pool = {0};
    double *a = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!witness, context, GRAM_ERROR_ARGUMENT, "mmd_witness: witness is NULL");
    *witness = NULL;
    TRY(gram_points_must_be_plain(context, "mmd_witness", x));
    TRY(gram_points_must_be_plain(context, "mmd_witness", y));
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "mmd_witness: kernel is NULL");
    TRY(gram_pool_create(context, "mmd_witness", x, y, &pool));
    TRY(gram_take(context, "mmd_witness: coefficients", pool.n + pool.m, sizeof *a, (void **)&a));
    for (int64_t i = 0; i < pool.n + pool.m; i++) a[i] = i < pool.n ? 1 / (double)pool.n : -1 / (double)pool.m;
    TRY(gram_function_create(context, kernel, pool.points, 1, a, 1, NULL, witness));
done:
    gram_give(context, a);
    gram_pool_destroy(context, &pool);
    return status;
}

enum { FEW_ROWS = 32 };

/* U over its standard deviation under random labels. */
static gram_status score_of(gram_context *context, const gram_kernel *kernel, const gram_pool *pool,
                            const gram_points *column, double *score)
{
    gram_status status = GRAM_OK;
    gram_pairs pairs = {0};
    double statistic;
    TRY(gram_pairs_create(context, kernel, column, GRAM_CENTRE_PAIRS, &pairs));
    const gram_mmd_scale scale = gram_mmd_scaling(&pairs, pool->n, pool->m, 0);
    TRY(gram_mmd_observed(context, &pairs, pool->n, &scale, &statistic));
    const double deviation = gram_mmd_deviation(&pairs, pool->n);
    *score = deviation > 0 ? statistic / (scale.slope * deviation) : 0;
done:
    gram_pairs_destroy(context, &pairs);
    return status;
}

/* The same of rbf on column l in a few rows, where an engine for every column and width would take most of the time. */
static double score_few(const gram_pool *pool, int64_t l, double width)
{
    const int64_t n = pool->n, total = pool->n + pool->m;
    double k[FEW_ROWS][FEW_ROWS], row[FEW_ROWS] = {0}, sum = 0, q = 0;
    gram_pairs pairs = {.n = total};
    for (int64_t i = 0; i < total; i++)
        for (int64_t j = 0; j < i; j++) {
            const double difference = (pool->data[i * pool->d + l] - pool->data[j * pool->d + l]) / width;
            k[i][j] = exp(-0.5 * difference * difference);
            row[i] += k[i][j];
            row[j] += k[i][j];
        }
    for (int64_t i = 0; i < total; i++) sum += row[i];
    const double others = (double)(total - 2), offset = sum / ((double)(total - 1) * others);
    pairs.limit = 1 + offset;
    for (int64_t i = 0; i < total; i++) pairs.limit = fmax(pairs.limit, 1 + 2 * row[i] / others + offset);
    for (int64_t i = 0; i < total; i++)
        for (int64_t j = 0; j < i; j++) {
            const double c = k[i][j] - (row[i] + row[j]) / others + offset;
            pairs.squares += c * c;
            if (i < n) q += c;
        }
    const double deviation = gram_mmd_deviation(&pairs, n);
    return deviation > 0 ? q / deviation : 0;
}

/* The largest score of column l over some widths. */
static gram_status column_score(gram_context *context, const gram_kernel *free_rbf, const gram_pool *pool, int64_t l,
                                double *most)
{
    static const double factors[] = {0.25, 0.5, 1, 2};
    gram_status status = GRAM_OK;
    gram_points *column = NULL;
    gram_kernel *median = NULL, *kernel = NULL;
    gram_parameter ell;
    TRY(gram_points_create_f64(context, pool->n + pool->m, 1, pool->data + l, pool->d, &column));
    TRY(gram_kernel_resolve(context, free_rbf, column, &median));
    TRY(gram_kernel_parameter_get(context, median, 0, &ell));
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
        const double width = ell.value * factors[f];
        double score;
        if (pool->n + pool->m <= FEW_ROWS) {
            score = score_few(pool, l, width);
        } else {
            TRY(gram_kernel_with_values(context, median, &width, &kernel));
            TRY(score_of(context, kernel, pool, column, &score));
        }
        if (f == 0 || score > *most) *most = score;
        gram_kernel_release(kernel);
        kernel = NULL;
    }
done:
    gram_kernel_release(kernel);
    gram_kernel_release(median);
    gram_points_release(column);
    return status;
}

/* The first `count` of a random order of the rows. */
static gram_status choose_rows(gram_context *context, uint64_t which, int64_t n, int64_t **rows)
{
    gram_status status = GRAM_OK;
    enum { RANDOM_STREAM = 0x636f6c /* "col" */ };
    TRY(gram_take(context, "mmd_columns: rows", n, sizeof **rows, (void **)rows));
    gram_random_permutation((gram_random){gram_context_seed(context), RANDOM_STREAM}, which, n, *rows);
done:
    return status;
}

typedef struct scored {
    double score;
    int64_t column;
} scored;

/* The highest score first; of equal ones the first column. */
static int by_score(const void *a, const void *b)
{
    const scored *x = a, *y = b;
    return x->score != y->score ? (x->score < y->score ? 1 : -1) : (x->column > y->column) - (x->column < y->column);
}

static gram_status sort_columns(gram_context *context, int64_t d, const double *score, int64_t *order)
{
    gram_status status = GRAM_OK;
    scored *all = NULL;
    if (!order) return GRAM_OK;
    TRY(gram_take(context, "mmd_columns: order", d, sizeof *all, (void **)&all));
    for (int64_t l = 0; l < d; l++) all[l] = (scored){score[l], l};
    qsort(all, (size_t)d, sizeof *all, by_score);
    for (int64_t l = 0; l < d; l++) order[l] = all[l].column;
done:
    gram_give(context, all);
    return status;
}

gram_status gram_mmd_columns(gram_context *context, const gram_points *x, const gram_points *y, double *score,
                             int64_t *order)
{
    enum { MOST_ROWS = 2000 };
    gram_status status = GRAM_OK;
    gram_pool pool = {0};
    gram_kernel *kernel = NULL;
    int64_t *x_rows = NULL, *y_rows = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!x || !y || !score, context, GRAM_ERROR_ARGUMENT, "mmd_columns: %s is NULL", !x ? "x" : !y ? "y" : "score");
    TRY(gram_points_must_be_plain(context, "mmd_columns", x));
    TRY(gram_points_must_be_plain(context, "mmd_columns", y));
    FAIL_IF(x->d != y->d, context, GRAM_ERROR_DIMENSION, "mmd_columns: x has %lld columns, y has %lld", (long long)x->d,
            (long long)y->d);
    FAIL_IF(x->n < 2 || y->n < 2, context, GRAM_ERROR_DIMENSION,
            "mmd_columns: x has %lld rows and y %lld, need 2 of each", (long long)x->n, (long long)y->n);
    TRY(gram_kernel_parse(context, "rbf", &kernel));
    TRY(choose_rows(context, 0, x->n, &x_rows));
    TRY(choose_rows(context, 1, y->n, &y_rows));
    TRY(gram_pool_create_some(context, x, x->n < MOST_ROWS ? x->n : MOST_ROWS, x_rows, y,
                              y->n < MOST_ROWS ? y->n : MOST_ROWS, y_rows, &pool));
    for (int64_t l = 0; l < x->d; l++) TRY(column_score(context, kernel, &pool, l, &score[l]));
    TRY(sort_columns(context, x->d, score, order));
done:
    gram_give(context, x_rows);
    gram_give(context, y_rows);
    gram_pool_destroy(context, &pool);
    gram_kernel_release(kernel);
    return status;
}
