/* HSIC under many shuffles of y's rows.
 *
 * With H K H = A A' and H L H = B B' (centred factors of r and s columns) trace(K H P L P' H) = |A' P B|_F^2 for a permutation P: a product
 * of an r x n and an n x s matrix, whose rows are gathered chunk by chunk. A task is one shuffle. Where the ranks are too high, the
 * centred matrices themselves are shuffled: sum_ij C_ij D_p(i)p(j); the loop runs along a row of C while a row of D, 8 n bytes, stays in
 * cache. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/random.h>

#include "base/ranks/collective.h"
#include "points/points.h"
#include "solve/pivoted_cholesky.h"
#include "test/independence/hsic.h"

enum { RANDOM_STREAM = 0x68736963 /* "hsic" */, CHUNK = 256 };

void gram_shuffle(const gram_shuffles *shuffles, int variable, int64_t draw, int64_t *order)
{
    if (draw == 0 || variable == 0)
        for (int64_t i = 0; i < shuffles->n; i++) order[i] = i;
    else
        gram_random_permutation((gram_random){shuffles->seed, RANDOM_STREAM + (uint64_t)variable}, (uint64_t)draw,
                                shuffles->n, order);
}

gram_status gram_shuffles_run(gram_context *context, gram_shuffles *shuffles, int64_t count, const gram_sweep *sweep,
                              double *values)
{
    gram_status status = GRAM_OK;
    const int spread = gram_ranks_share(context, shuffles->n);
    gram_sweep own = *sweep;
    int64_t end = count;
    shuffles->first = 0;
    if (spread) gram_ranks_part(context, count, gram_rank(context), &shuffles->first, &end);
    own.what = "permutations";
    own.tasks = end - shuffles->first;
    if (own.tasks > 0) TRY(gram_sweep_run(context, &own));
    if (!spread) goto done;
    TRY(gram_ranks_gather(context, "permutations", count, 1, values));
    gram_ranks_note(context, "permutations", 0);
done:
    return status;
}

/* ---- by factors ---- */

typedef struct by_factors {
    gram_shuffles shuffles;
    const gram_pivoted *a, *b;
    double *values;
} by_factors;

static gram_status factors_task(void *argument, const gram_worker *worker)
{
    const by_factors *f = argument;
    const int64_t n = f->shuffles.n, r = f->a->rank, s = f->b->rank;
    double *product = worker->scratch, *rows = product + r * s;
    void *rest = rows + CHUNK * s;
    int64_t *order = rest;
    const int64_t draw = f->shuffles.first + worker->task;
    gram_shuffle(&f->shuffles, 1, draw, order);
    memset(product, 0, (size_t)(r * s) * sizeof *product);
    for (int64_t first = 0; first < n; first += CHUNK) {
        const int64_t count = n - first < CHUNK ? n - first : CHUNK;
        for (int64_t i = 0; i < count; i++)
            memcpy(rows + i * s, f->b->f + order[first + i] * f->b->room, (size_t)s * sizeof *rows);
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)r, (int)s, (int)count, 1,
                    f->a->f + first * f->a->room, (int)f->a->room, rows, (int)s, 1, product, (int)s);
    }
    double sum = 0;
    for (int64_t i = 0; i < r * s; i++) sum += product[i] * product[i];
    f->values[draw] = sum;
    return GRAM_OK;
}

static gram_status shuffle_factors(gram_context *context, const gram_pivoted *a, const gram_pivoted *b, int64_t count,
                                   double *values)
{
    by_factors f = {{gram_context_seed(context), a->n, 0}, a, b, values};
    const int64_t numbers = a->rank * b->rank + CHUNK * b->rank + a->n;
    const gram_sweep sweep = {.scratch_bytes = (size_t)numbers * sizeof(double), .run = factors_task, .argument = &f};
    return gram_shuffles_run(context, &f.shuffles, count, &sweep, values);
}

/* ---- by matrices ---- */

typedef struct by_matrices {
    gram_shuffles shuffles;
    const double *c, *d; /* n x n */
    double *values;
} by_matrices;

static gram_status matrices_task(void *argument, const gram_worker *worker)
{
    const by_matrices *f = argument;
    const int64_t n = f->shuffles.n;
    int64_t *order = worker->scratch;
    double total = 0;
    const int64_t draw = f->shuffles.first + worker->task;
    gram_shuffle(&f->shuffles, 1, draw, order);
    for (int64_t i = 0; i < n; i++) {
        const double *c = f->c + i * n, *d = f->d + order[i] * n;
        double even = 0, odd = 0;
        int64_t j = 0;
        for (; j + 1 < i; j += 2) {
            even += c[j] * d[order[j]];
            odd += c[j + 1] * d[order[j + 1]];
        }
        if (j < i) even += c[j] * d[order[j]];
        total += 2 * (even + odd) + c[i] * d[order[i]];
    }
    f->values[draw] = total;
    return GRAM_OK;
}

/* The centred matrix of one variable, n x n. */
static gram_status make_matrix(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                               double **out)
{
    gram_status status = GRAM_OK;
    gram_pairs pairs = {0};
    int64_t numbers;
    FAIL_IF(!gram_size_multiply(points->n, points->n, &numbers), context, GRAM_ERROR_OVERFLOW,
            "hsic_test: a matrix of %lld rows is more than can be addressed", (long long)points->n);
    TRY(gram_take(context, "hsic_test: a centred matrix", numbers, sizeof(double), (void **)out));
    TRY(gram_pairs_create(context, kernel, points, GRAM_CENTRE_ALL, &pairs));
    TRY(gram_pairs_matrix(context, &pairs, *out, points->n));
done:
    gram_pairs_destroy(context, &pairs);
    return status;
}

static gram_status shuffle_matrices(gram_context *context, const gram_kernel *kernel_x, const gram_points *x,
                                    const gram_kernel *kernel_y, const gram_points *y, int64_t count, double *values)
{
    gram_status status = GRAM_OK;
    double *c = NULL, *d = NULL;
    by_matrices f = {.shuffles = {gram_context_seed(context), x->n, 0}, .values = values};
    TRY(make_matrix(context, kernel_x, x, &c));
    TRY(make_matrix(context, kernel_y, y, &d));
    f.c = c;
    f.d = d;
    const gram_sweep sweep = {.scratch_bytes = (size_t)x->n * sizeof(int64_t), .run = matrices_task, .argument = &f};
    TRY(gram_shuffles_run(context, &f.shuffles, count, &sweep, values));
done:
    gram_give(context, c);
    gram_give(context, d);
    return status;
}

/* Each column less its mean: A A' becomes H A A' H. */
static void centre(gram_pivoted *factor)
{
    for (int64_t k = 0; k < factor->rank; k++) {
        double mean = 0;
        for (int64_t i = 0; i < factor->n; i++) mean += factor->f[i * factor->room + k];
        mean /= (double)factor->n;
        for (int64_t i = 0; i < factor->n; i++) factor->f[i * factor->room + k] -= mean;
    }
}

/* A centred factor of one variable to rounding, if one of few columns is enough; *found says whether it is. Each shuffle takes
 * time by both ranks, so that the best pivots, column by column, are worth their price. */
static gram_status find_factor(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                               gram_pivoted *factor, int *found)
{
    const int64_t room = (int64_t)sqrt(8 * (double)points->n); /* r s multiplications against n/2 gathers of 16 times
                                                                  their price */
    const gram_pivoted_options options = {
        .rule = &gram_pivot_largest, .room = room < points->n ? room : points->n, .block = 1, .tolerance = 1e-13};
    const gram_status status = gram_pivoted_make(context, kernel, points, &options, factor);
    *found = status == GRAM_OK && factor->rank > 0 && factor->missed <= options.tolerance * factor->trace;
    if (*found) centre(factor);
    return status == GRAM_ERROR_NUMERICAL ? GRAM_OK : status; /* a negative diagonal has no factor */
}

gram_status gram_hsic_shuffled(gram_context *context, const gram_kernel *kernel_x, const gram_points *x,
                               const gram_kernel *kernel_y, const gram_points *y, int64_t count, double *values,
                               int64_t *rank)
{
    gram_status status = GRAM_OK;
    gram_pivoted a = {0}, b = {0};
    int found = 0;
    rank[0] = rank[1] = 0;
    TRY(find_factor(context, kernel_x, x, &a, &found));
    if (found) TRY(find_factor(context, kernel_y, y, &b, &found));
    if (found) {
        rank[0] = a.rank;
        rank[1] = b.rank;
        TRY(shuffle_factors(context, &a, &b, count, values));
        goto done;
    }
    gram_pivoted_free(context->memory, &a);
    gram_pivoted_free(context->memory, &b);
    TRY(shuffle_matrices(context, kernel_x, x, kernel_y, y, count, values));
done:
    gram_pivoted_free(context->memory, &a);
    gram_pivoted_free(context->memory, &b);
    return status;
}
