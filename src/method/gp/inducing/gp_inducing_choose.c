/* Where inducing points go at first.
 *
 * By pivots of a partial Cholesky factor of K over a sample of the rows (solve/pivoted_cholesky.h): the largest variance that is left, to a
 * factor of 2, or drawn with the probability of it. K-means: Lloyd's iteration over such a sample, columns divided by their
 * deviations, begun from drawn rows; an empty cluster keeps its centre. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/random.h>

#include "base/sweep.h"
#include "method/gp/inducing/gp_inducing.h"
#include "points/points.h"
#include "solve/pivoted_cholesky.h"

enum { LEAST_SAMPLE = 4096, SAMPLE_EACH = 8, ROUNDS = 20, ROWS = 64 };
static const uint64_t STREAM = 0x696e64756365U; /* the name of this use of the seed */

/* ---- the sample ---- */

static gram_status draw_rows(gram_context *context, const gram_points *x, int64_t count, double *out)
{
    gram_status status = GRAM_OK;
    int64_t *order = NULL;
    TRY(gram_take(context, "gp_inducing: a sample", x->n, sizeof *order, (void **)&order));
    gram_random_permutation((gram_random){context->seed, STREAM}, 0, x->n, order);
    for (int64_t i = 0; i < count; i++)
        for (int64_t l = 0; l < x->d; l++) out[i * x->d + l] = gram_points_at(x, order[i], l);
done:
    gram_give(context, order);
    return status;
}

static gram_status choose_pivots(gram_context *context, const gram_kernel *kernel, const gram_points *sample,
                                 const gram_pivot_rule *rule, int64_t count, double *out, int64_t *made)
{
    gram_status status = GRAM_OK;
    gram_pivoted pivoted = {0};
    const gram_pivoted_options options = {.rule = rule, .room = count};
    const int64_t d = sample->d;
    TRY(gram_pivoted_make(context, kernel, sample, &options, &pivoted));
    *made = pivoted.rank;
    for (int64_t i = 0; i < pivoted.rank; i++)
        memcpy(out + i * d, sample->f64 + pivoted.pivot[i] * d, (size_t)d * sizeof *out);
    if (pivoted.rank == 0) { /* a kernel that is 0 everywhere: any row will do */
        memcpy(out, sample->f64, (size_t)d * sizeof *out);
        *made = 1;
    }
done:
    gram_pivoted_free(context->memory, &pivoted);
    return status;
}

/* ---- k-means ---- */

typedef struct clustering {
    int64_t n, d, count;
    double *numbers;
    double *x;       /* n x d, scaled */
    double *centres; /* count x d, scaled */
    double *squares; /* count: |centre|^2 */
    double *sizes;   /* count */
    double *unit;    /* d: the columns' deviations */
    double *label;   /* n */
} clustering;

static int64_t clustering_numbers(const clustering *c)
{
    return c->n * c->d + c->count * (c->d + 2) + c->d + c->n;
}

static void scale_columns(clustering *c, const double *x)
{
    for (int64_t l = 0; l < c->d; l++) {
        double mean = 0, square = 0;
        for (int64_t i = 0; i < c->n; i++) mean += x[i * c->d + l] / (double)c->n;
        for (int64_t i = 0; i < c->n; i++) square += (x[i * c->d + l] - mean) * (x[i * c->d + l] - mean);
        c->unit[l] = square > 0 ? sqrt(square / (double)c->n) : 1;
        for (int64_t i = 0; i < c->n; i++) c->x[i * c->d + l] = x[i * c->d + l] / c->unit[l];
    }
}

/* The nearest centre of ROWS rows: the least |c|^2 - 2 x.c; the first of equal ones. */
static gram_status assign_task(void *argument, const gram_worker *worker)
{
    const clustering *c = argument;
    const int64_t first = worker->task * ROWS;
    const int rows = (int)(c->n - first < ROWS ? c->n - first : ROWS), count = (int)c->count, d = (int)c->d;
    double *far = worker->scratch;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, count, d, -2, c->x + first * d, d, c->centres, d, 0, far,
                count);
    for (int64_t i = 0; i < rows; i++) {
        int best = 0;
        for (int j = 0; j < count; j++)
            if (far[i * count + j] + c->squares[j] < far[i * count + best] + c->squares[best]) best = j;
        c->label[first + i] = best;
    }
    return GRAM_OK;
}

static void find_squares(clustering *c)
{
    const int blas = gram_blas_enter();
    for (int64_t j = 0; j < c->count; j++)
        c->squares[j] = cblas_ddot((int)c->d, c->centres + j * c->d, 1, c->centres + j * c->d, 1);
    gram_blas_leave(blas);
}

static void move_centres(clustering *c)
{
    const int64_t d = c->d;
    memset(c->sizes, 0, (size_t)c->count * sizeof(double));
    for (int64_t i = 0; i < c->n; i++) {
        const int64_t own = (int64_t)c->label[i];
        if (c->sizes[own]++ == 0) memset(c->centres + own * d, 0, (size_t)d * sizeof(double));
        for (int64_t l = 0; l < d; l++) c->centres[own * d + l] += c->x[i * d + l];
    }
    for (int64_t j = 0; j < c->count; j++)
        for (int64_t l = 0; l < d && c->sizes[j] > 0; l++) c->centres[j * d + l] /= c->sizes[j];
}

static gram_status choose_means(gram_context *context, const gram_points *sample, int64_t count, double *out)
{
    gram_status status = GRAM_OK;
    clustering c = {.n = sample->n, .d = sample->d, .count = count};
    const gram_sweep sweep = {.what = "inducing points",
                              .tasks = (c.n + ROWS - 1) / ROWS,
                              .scratch_bytes = (size_t)(ROWS * count) * sizeof(double),
                              .run = assign_task,
                              .argument = &c};
    TRY(gram_take(context, "gp_inducing: k-means", clustering_numbers(&c), sizeof(double), (void **)&c.numbers));
    c.x = c.numbers;
    c.centres = c.x + c.n * c.d;
    c.squares = c.centres + count * c.d;
    c.sizes = c.squares + count;
    c.unit = c.sizes + count;
    c.label = c.unit + c.d;
    scale_columns(&c, sample->f64);
    memcpy(c.centres, c.x, (size_t)(count * c.d) * sizeof(double)); /* the sample is in random order */
    for (int round = 0; round < ROUNDS; round++) {
        find_squares(&c);
        TRY(gram_sweep_run(context, &sweep));
        move_centres(&c);
    }
    for (int64_t i = 0; i < count * c.d; i++) out[i] = c.centres[i] * c.unit[i % c.d];
done:
    gram_give(context, c.numbers);
    return status;
}

gram_status gram_inducing_choose(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                 gram_inducing_choice choice, int64_t count, double *out, int64_t *made)
{
    gram_status status = GRAM_OK;
    const int64_t wanted = SAMPLE_EACH * count > LEAST_SAMPLE ? SAMPLE_EACH * count : LEAST_SAMPLE;
    const int64_t rows = wanted < x->n ? wanted : x->n;
    double *data = NULL;
    gram_points *sample = NULL;
    TRY(gram_take(context, "gp_inducing: a sample", rows * x->d, sizeof(double), (void **)&data));
    TRY(draw_rows(context, x, rows, data));
    TRY(gram_points_create_f64(context, rows, x->d, data, x->d, &sample));
    *made = count;
    if (choice == GRAM_INDUCING_KMEANS)
        TRY(choose_means(context, sample, count, out));
    else
        TRY(choose_pivots(context, kernel, sample,
                          choice == GRAM_INDUCING_GREEDY ? &gram_pivot_largest : &gram_pivot_drawn, count, out, made));
done:
    gram_points_release(sample);
    gram_give(context, data);
    return status;
}
