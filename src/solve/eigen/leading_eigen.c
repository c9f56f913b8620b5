/* Block Lanczos with full orthogonalisation and thick restarts (Golub and Underwood 1977; Wu and Simon, SIAM J. Matrix Anal.
 * Appl. 22, 2000).
 *
 *     Q = an orthonormal block of random numbers
 *     repeat   W = A Q_last, T = Q'A Q (a few new columns), W -= Q (Q'W)
 *              theta, s: eigenvalues and vectors of T
 *              Q_next, R: W = Q_next R, orthonormal and orthogonal to Q
 *              residuals |A v - theta v| = |R s_last| of v = Q s
 *              without room, Q = Q s of the best: T is diagonal then, and what couples it to Q_next comes with A Q_next
 *
 * A block makes one pass over A serve many columns: a single column of a matrix in memory waits for memory, 16 of them keep the
 * processor busy, and cost little more than one. Blocks also find eigenvalues that come several times. T is projected in full and
 * not taken for block tridiagonal, so restarts and lost directions need no bookkeeping; that is O(n m b) beside O(n^2 b).
 *
 * Small problems are solved by gram_eigen_symmetric. */
#include "solve/eigen/leading_eigen.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include <gram/eigen.h>
#include <gram/random.h>

#include "solve/eigen/tall_matrix.h"

enum { START_STREAM = 0x6C656164, LEAST_BLOCK = 8, MOST_BLOCK = 16, BLOCKS = 8 };

typedef struct iteration {
    gram_leading *run;
    int64_t n, block, room; /* room: columns of q, those of the next block aside */
    int64_t m;              /* columns of q whose products are known */
    double *q;              /* n x (room + block) */
    double *w;              /* n x block */
    double *t;              /* room x room: Q'A Q */
    double *s;              /* room x room: its vectors */
    double *theta;          /* room */
    double *r;              /* block x block: W = Q_next R */
    double *h;              /* room x block */
} iteration;

static int64_t block_for(int64_t count)
{
    const int64_t even = (count + 3) / 4 * 4;
    return even < LEAST_BLOCK ? LEAST_BLOCK : even > MOST_BLOCK ? MOST_BLOCK : even;
}

static int64_t room_for(int64_t count, int64_t block)
{
    return count + BLOCKS * block + (count > block ? count : block);
}

static gram_tall part(const iteration *it, int64_t first, int64_t columns)
{
    return (gram_tall){it->n, columns, it->room + it->block, it->q + first};
}

static gram_tall images(const iteration *it)
{
    return (gram_tall){it->n, it->block, it->block, it->w};
}

size_t gram_leading_bytes(int64_t n, int64_t count)
{
    const double block = (double)block_for(count), room = (double)room_for(count, block_for(count));
    return (size_t)(8 * ((double)n * (room + 4 * block + (double)count) + 2 * room * room + 64 * room * block));
}

void gram_leading_fix_signs(int64_t n, int64_t count, double *vectors)
{
    for (int64_t j = 0; j < count; j++) {
        double largest = 0;
        for (int64_t i = 0; i < n; i++)
            if (fabs(vectors[i * count + j]) > fabs(largest)) largest = vectors[i * count + j];
        for (int64_t i = 0; i < n && largest < 0; i++) vectors[i * count + j] = -vectors[i * count + j];
    }
}

/* ---- steps ---- */

static gram_status start(gram_context *context, iteration *it)
{
    const gram_random random = {context->seed, START_STREAM};
    const gram_tall first = part(it, 0, it->block);
    for (int64_t i = 0; i < it->n; i++)
        gram_random_normal(random, (uint64_t)(i * it->block), it->block, first.data + i * first.ld);
    return gram_tall_orthonormalise(context, (gram_tall){it->n, 0, 1, NULL}, first);
}

/* A times the last block: its columns of T, and what they have outside of Q. Projected twice, for rounding. */
static gram_status multiply(gram_context *context, iteration *it)
{
    gram_status status = GRAM_OK;
    const int64_t known = it->m + it->block;
    const gram_tall q = part(it, 0, known), w = images(it), last = part(it, it->m, it->block);
    TRY(gram_operator_apply(context, it->run->a, it->block, last.data, last.ld, w.data, w.ld));
    it->run->columns += it->block;
    for (int pass = 0; pass < 2; pass++) {
        TRY(gram_tall_inner(context, q, w, it->h, it->block));
        TRY(gram_tall_add(context, q, -1, it->h, it->block, w));
        for (int64_t i = 0; i < known; i++)
            for (int64_t j = 0; j < it->block; j++) {
                double *entry = &it->t[i * it->room + it->m + j];
                *entry = it->h[i * it->block + j] + (pass > 0 ? *entry : 0);
            }
    }
    for (int64_t i = 0; i < known; i++)
        for (int64_t j = it->m; j < known; j++) it->t[j * it->room + i] = it->t[i * it->room + j];
    it->m = known;
done:
    return status;
}

static gram_status solve_projected(gram_context *context, iteration *it)
{
    for (int64_t i = 0; i < it->m; i++)
        memcpy(it->s + i * it->room, it->t + i * it->room, (size_t)it->m * sizeof *it->s);
    return gram_tall_eigen(context, it->m, it->s, it->room, it->theta);
}

/* The next block of Q, and R. */
static gram_status extend(gram_context *context, iteration *it)
{
    gram_status status = GRAM_OK;
    const gram_tall next = part(it, it->m, it->block), w = images(it);
    for (int64_t i = 0; i < it->n; i++)
        memcpy(next.data + i * next.ld, w.data + i * w.ld, (size_t)it->block * sizeof *w.data);
    TRY(gram_tall_orthonormalise(context, part(it, 0, it->m), next));
    TRY(gram_tall_inner(context, next, w, it->r, it->block));
done:
    return status;
}

/* |R s_last| of pair number j. */
static double estimate(const iteration *it, int64_t j)
{
    double sum = 0;
    for (int64_t a = 0; a < it->block; a++) {
        double entry = 0;
        for (int64_t b = 0; b < it->block; b++)
            entry += it->r[a * it->block + b] * it->s[(it->m - it->block + b) * it->room + j];
        sum += entry * entry;
    }
    return sqrt(sum);
}

static int is_good(const iteration *it, int64_t j)
{
    const double largest = fmax(fabs(it->theta[0]), fabs(it->theta[it->m - 1]));
    return estimate(it, j) <= fmax(it->run->tolerance * fabs(it->theta[j]), 100 * DBL_EPSILON * largest);
}

static int has_converged(const iteration *it)
{
    if (it->m < it->run->count) return 0;
    for (int64_t j = it->run->count - 1; j >= 0; j--)
        if (!is_good(it, j)) return 0;
    return 1;
}

/* Q becomes its best Ritz vectors, and the next block after them. */
static gram_status restart(gram_context *context, iteration *it)
{
    gram_status status = GRAM_OK;
    const int64_t spare = it->room - it->run->count - 2 * it->block;
    const int64_t keep = it->run->count + (spare < it->block ? spare : it->block);
    const gram_tall from = part(it, it->m, it->block), to = part(it, keep, it->block);
    TRY(gram_tall_turn(context, part(it, 0, it->m), it->s, it->room, keep));
    for (int64_t i = 0; i < it->n; i++)
        memmove(to.data + i * to.ld, from.data + i * from.ld, (size_t)it->block * sizeof *to.data);
    memset(it->t, 0, (size_t)(it->room * it->room) * sizeof *it->t);
    for (int64_t j = 0; j < keep; j++) it->t[j * it->room + j] = it->theta[j];
    it->m = keep;
done:
    return status;
}

/* ---- the result ---- */

static double norm_of_column(int64_t n, int64_t count, const double *v, int64_t j)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += v[i * count + j] * v[i * count + j];
    return sqrt(sum);
}

/* The residuals of what will be returned, by one more product. */
static gram_status check_result(gram_context *context, gram_leading *run)
{
    gram_status status = GRAM_OK;
    const int64_t n = gram_operator_size(run->a), count = run->count;
    double *image = NULL, largest = 0, worst = 0;
    TRY(gram_take(context, "eigenvalues: residuals", n * count, sizeof *image, (void **)&image));
    TRY(gram_operator_apply(context, run->a, count, run->vectors, count, image, count));
    run->columns += count;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < count; j++) image[i * count + j] -= run->values[j] * run->vectors[i * count + j];
    for (int64_t j = 0; j < count; j++) {
        largest = fmax(largest, fabs(run->values[j]));
        worst = fmax(worst, norm_of_column(n, count, image, j));
    }
    run->residual = worst > 0 ? worst / largest : 0;
done:
    gram_give(context, image);
    return status;
}

static gram_status take_result(gram_context *context, iteration *it)
{
    gram_status status = GRAM_OK;
    gram_leading *run = it->run;
    const int64_t n = it->n, count = run->count;
    memset(run->vectors, 0, (size_t)(n * count) * sizeof *run->vectors);
    TRY(gram_tall_add(context, part(it, 0, it->m), 1, it->s, it->room, (gram_tall){n, count, count, run->vectors}));
    memcpy(run->values, it->theta, (size_t)count * sizeof *run->values);
    gram_leading_fix_signs(n, count, run->vectors);
done:
    return status;
}

/* ---- the whole ---- */

static gram_status take_room(gram_context *context, iteration *it, double **room)
{
    gram_status status = GRAM_OK;
    const int64_t n = it->n, m = it->room, b = it->block;
    TRY(gram_take(context, "eigenvalues", n * (m + 2 * b) + 2 * m * m + m * (b + 1) + b * b, sizeof **room,
                  (void **)room));
    it->q = *room;
    it->w = it->q + n * (m + b);
    it->t = it->w + n * b;
    it->s = it->t + m * m;
    it->theta = it->s + m * m;
    it->h = it->theta + m;
    it->r = it->h + m * b;
    memset(it->t, 0, (size_t)(m * m) * sizeof *it->t);
done:
    return status;
}

static gram_status iterate(gram_context *context, iteration *it, int *converged)
{
    gram_status status = GRAM_OK;
    TRY(start(context, it));
    *converged = 0;
    while (!*converged && it->run->columns + it->block <= it->run->most) {
        TRY(multiply(context, it));
        TRY(solve_projected(context, it));
        TRY(extend(context, it));
        *converged = has_converged(it);
        if (!*converged && it->m + it->block > it->room) TRY(restart(context, it));
    }
    if (!*converged) TRY(solve_projected(context, it)); /* after a restart */
    TRY(take_result(context, it));
done:
    return status;
}

/* A matrix of this size is best made whole. */
static gram_status solve_dense(gram_context *context, gram_leading *run, int64_t n)
{
    gram_status status = GRAM_OK;
    double *a = NULL, *rows = NULL;
    TRY(gram_take(context, "eigenvalues: the matrix", n * n, sizeof *a, (void **)&a));
    TRY(gram_take(context, "eigenvalues: vectors", n * run->count, sizeof *rows, (void **)&rows));
    TRY(gram_operator_matrix(context, run->a, a, n));
    TRY(gram_eigen_symmetric(context, n, a, n, 0, run->count, run->values, rows, n));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < run->count; j++) run->vectors[i * run->count + j] = rows[j * n + i];
    gram_leading_fix_signs(n, run->count, run->vectors);
done:
    gram_give(context, rows);
    gram_give(context, a);
    return status;
}

gram_status gram_leading_run(gram_context *context, gram_leading *run)
{
    gram_status status = GRAM_OK;
    const int64_t n = run->a ? gram_operator_size(run->a) : 0;
    iteration it = {.run = run, .n = n};
    double *room = NULL;
    int converged = 1;
    FAIL_IF(!run->a, context, GRAM_ERROR_ARGUMENT, "eigenvalues: a is NULL");
    FAIL_IF(run->count < 1 || run->count > n, context, GRAM_ERROR_ARGUMENT, "eigenvalues: %lld of %lld",
            (long long)run->count, (long long)n);
    it.block = run->block > 0 ? run->block : block_for(run->count);
    it.room = room_for(run->count, it.block);
    run->columns = 0;
    if (run->tolerance <= 0) run->tolerance = 1e-8;
    if (run->most <= 0) run->most = 40 * it.room;
    if (n < it.room + 2 * it.block) {
        TRY(solve_dense(context, run, n));
    } else {
        TRY(take_room(context, &it, &room));
        TRY(iterate(context, &it, &converged));
    }
    TRY(check_result(context, run));
    if (!converged) status = GRAM_NOT_CONVERGED;
done:
    gram_give(context, room);
    return status;
}
