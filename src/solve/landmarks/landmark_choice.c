/* Landmarks are chosen among the rows of a sample, and then become the pivots of their own matrix, the largest first: rows that
 * repeat, or that others determine to rounding, drop out, and the factor that is left is as good as K(P, P) allows, whatever the rule.
 *
 *     rpcholesky   the pivots of a factor of the sample (solve/pivoted_cholesky.h, drawn): s M^2 operations for s rows
 *     kmeans       D^2 sampling (Arthur and Vassilvitskii 2007) in the kernel's metric: M columns of K
 *     leverage     l_i ~ (k_ii - k_iJ (K_JJ + s lambda |J|/s)^-1 k_Ji)/(s lambda) from a uniform sample J of M rows (Rudi, Calandriello,
 *                  Carratino and Rosasco 2018), then M rows without replacement by the keys log(u)/l (Efraimidis and Spirakis 2006) */
#include "solve/landmarks/landmark_choice.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/matrix.h>
#include <gram/random.h>

#include "base/lapack.h"
#include "base/sweep.h"
#include "points/points.h"
#include "solve/pivoted_cholesky.h"

enum { LEAST_ROWS = 5000, ROWS_EACH = 5, CHUNK = 256 };

static const double PIVOT_TOLERANCE = 1e-12; /* of the trace: further pivots would make L as good as singular */
static const double USUAL_RIDGE = 1e-3;      /* of the mean diagonal */
static const uint64_t SAMPLE_STREAM = 0x6c616e64U, KMEANS_STREAM = 0x6b6d65616eU, LEVERAGE_STREAM = 0x6c6576U;

static const char *const NAMES[] = {"rpcholesky", "uniform", "kmeans++", "leverage", "given"};
enum { NAME_COUNT = sizeof NAMES / sizeof *NAMES };

const char *gram_landmark_rule_name(gram_landmark_rule rule)
{
    return (int)rule >= 0 && (int)rule < NAME_COUNT ? NAMES[rule] : NULL;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Rows that a rule looks at. */
static int64_t rows_of(gram_landmark_rule rule, int64_t n, int64_t most)
{
    if (rule == GRAM_LANDMARKS_UNIFORM) return least(n, most);
    const int64_t wanted = ROWS_EACH * most > LEAST_ROWS ? ROWS_EACH * most : LEAST_ROWS;
    return least(n, wanted);
}

/* count of n rows, in order: selection sampling, each row with the chance that is left. */
static void draw_rows(uint64_t seed, uint64_t stream, int64_t n, int64_t count, int64_t *rows)
{
    int64_t chosen = 0;
    for (int64_t i = 0; i < n && chosen < count; i++) {
        double chance;
        gram_random_uniform((gram_random){seed, stream}, (uint64_t)i, 1, &chance);
        if (chance * (double)(n - i) < (double)(count - chosen)) rows[chosen++] = i;
    }
}

/* ---- the rules: rows of the sample ---- */

static gram_status by_cholesky(gram_context *context, const gram_kernel *kernel, const gram_points *sample,
                               int64_t most, int64_t *rows, int64_t *count)
{
    gram_status status = GRAM_OK;
    const gram_pivoted_options options = {
        .rule = &gram_pivot_drawn, .room = least(most, GRAM_PIVOTED_MOST), .tolerance = PIVOT_TOLERANCE};
    gram_pivoted p = {0};
    TRY(gram_pivoted_make(context, kernel, sample, &options, &p));
    *count = p.rank;
    memcpy(rows, p.pivot, (size_t)p.rank * sizeof *rows);
done:
    gram_pivoted_free(context->memory, &p);
    return status;
}

/* The row at which the running sum of the weights exceeds the share. */
static int64_t row_by_weight(int64_t n, const double *weight, double share)
{
    double total = 0, sum = 0;
    int64_t last = -1;
    for (int64_t i = 0; i < n; i++) total += weight[i];
    for (int64_t i = 0; i < n; i++) {
        if (!(weight[i] > 0)) continue;
        sum += weight[i];
        last = i;
        if (sum > share * total) break;
    }
    return last;
}

static gram_status by_kmeans(gram_context *context, const gram_kernel *kernel, const gram_points *sample, int64_t most,
                             int64_t *rows, int64_t *count)
{
    gram_status status = GRAM_OK;
    const int64_t n = sample->n;
    double *diagonal = NULL, *column = NULL, *nearest = NULL, uniform;
    TRY(gram_take(context, "landmarks", 3 * n, sizeof(double), (void **)&diagonal));
    column = diagonal + n;
    nearest = column + n;
    TRY(gram_matrix_diagonal(context, kernel, sample, diagonal));
    for (int64_t i = 0; i < n; i++) nearest[i] = 1;
    for (*count = 0; *count < most; ++*count) {
        gram_random_uniform((gram_random){context->seed, KMEANS_STREAM}, (uint64_t)*count, 1, &uniform);
        const int64_t row = row_by_weight(n, nearest, uniform);
        if (row < 0) break; /* all rows are landmarks, or the same as one */
        rows[*count] = row;
        TRY(gram_matrix_columns(context, kernel, sample, 1, &row, column, 1));
        for (int64_t i = 0; i < n; i++) {
            const double square = fmax(diagonal[i] + diagonal[row] - 2 * column[i], 0);
            nearest[i] = i == row ? 0 : *count == 0 ? square : fmin(nearest[i], square);
        }
    }
done:
    gram_give(context, diagonal);
    return status;
}

/* k_iJ L^-T row by row, and what it leaves of the diagonal, times the key of the row. */
typedef struct scores {
    const double *factor;
    double *block, *score;
    int64_t p, rows;
} scores;

static gram_status score_task(void *argument, const gram_worker *worker)
{
    const scores *s = argument;
    const int64_t from = worker->task * CHUNK, rows = least(CHUNK, s->rows - from);
    double *block = s->block + from * s->p;
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)rows, (int)s->p, 1, s->factor,
                (int)s->p, block, (int)s->p);
    for (int64_t i = 0; i < rows; i++)
        s->score[from + i] -= cblas_ddot((int)s->p, block + i * s->p, 1, block + i * s->p, 1);
    return GRAM_OK;
}

/* score[i] = k_ii - k_iJ (K_JJ + shift)^-1 k_Ji for the whole sample. */
static gram_status leverage_scores(gram_context *context, const gram_kernel *kernel, const gram_points *sample,
                                   int64_t p, double ridge, double *score)
{
    gram_status status = GRAM_OK;
    const int size = (int)p;
    int64_t *inside = NULL;
    gram_points *some = NULL;
    scores work = {.p = p, .rows = sample->n, .score = score};
    double *factor = NULL, mean = 0;
    int info = 0;
    TRY(gram_take(context, "landmarks", p, sizeof *inside, (void **)&inside));
    TRY(gram_take(context, "landmarks", p * p, sizeof *factor, (void **)&factor));
    TRY(gram_take(context, "landmarks", sample->n * p, sizeof(double), (void **)&work.block));
    draw_rows(context->seed, LEVERAGE_STREAM + 1, sample->n, p, inside);
    TRY(gram_points_gather(context, sample, p, inside, &some));
    TRY(gram_matrix(context, kernel, some, NULL, factor, p));
    TRY(gram_matrix(context, kernel, sample, some, work.block, p));
    TRY(gram_matrix_diagonal(context, kernel, sample, score));
    for (int64_t i = 0; i < sample->n; i++) mean += score[i] / (double)sample->n;
    const double shift = (ridge > 0 ? ridge : USUAL_RIDGE * mean) * (double)p;
    for (int64_t j = 0; j < p; j++) factor[j * p + j] += shift;
    const int blas = gram_blas_enter();
    dpotrf_("U", &size, factor, &size, &info, 1);
    gram_blas_leave(blas);
    FAIL_IF(info != 0, context, GRAM_ERROR_NUMERICAL,
            "landmarks: the kernel matrix is not positive definite with a ridge of %g; use rpcholesky", shift);
    work.factor = factor;
    const gram_sweep sweep = {
        .what = "landmarks", .tasks = (sample->n + CHUNK - 1) / CHUNK, .run = score_task, .argument = &work};
    TRY(gram_sweep_run(context, &sweep));
done:
    gram_points_release(some);
    gram_give(context, work.block);
    gram_give(context, factor);
    gram_give(context, inside);
    return status;
}

/* The rows of the largest keys log(u_i)/l_i, one after the other. */
static gram_status by_leverage(gram_context *context, const gram_kernel *kernel, const gram_points *sample,
                               int64_t most, double ridge, int64_t *rows, int64_t *count)
{
    gram_status status = GRAM_OK;
    const int64_t n = sample->n;
    double *key = NULL, uniform;
    TRY(gram_take(context, "landmarks", n, sizeof *key, (void **)&key));
    TRY(leverage_scores(context, kernel, sample, least(most, n), ridge, key));
    for (int64_t i = 0; i < n; i++) {
        gram_random_uniform((gram_random){context->seed, LEVERAGE_STREAM}, (uint64_t)i, 1, &uniform);
        key[i] = key[i] > 0 ? log(uniform) / key[i] : -INFINITY;
    }
    for (*count = 0; *count < most; ++*count) {
        int64_t best = -1;
        for (int64_t i = 0; i < n; i++)
            if (key[i] > -INFINITY && (best < 0 || key[i] > key[best])) best = i;
        if (best < 0) break;
        rows[*count] = best;
        key[best] = -INFINITY;
    }
done:
    gram_give(context, key);
    return status;
}

/* ---- the set ---- */

static gram_status choose(gram_context *context, const gram_kernel *kernel, const gram_points *sample,
                          const gram_landmark_request *r, int64_t most, int64_t *rows, int64_t *count)
{
    switch (r->rule) {
    case GRAM_LANDMARKS_KMEANS: return by_kmeans(context, kernel, sample, most, rows, count);
    case GRAM_LANDMARKS_LEVERAGE: return by_leverage(context, kernel, sample, most, r->ridge, rows, count);
    case GRAM_LANDMARKS_UNIFORM:
        for (*count = 0; *count < most; ++*count) rows[*count] = *count;
        return GRAM_OK;
    default: return by_cholesky(context, kernel, sample, most, rows, count);
    }
}

/* The chosen points, *chosen, of x or as they are given. */
static gram_status find_points(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                               const gram_landmark_request *r, gram_points **chosen)
{
    gram_status status = GRAM_OK;
    const int64_t most = least(r->most, x->n), looked = rows_of(r->rule, x->n, most);
    gram_points *sample = NULL;
    int64_t *rows = NULL, *picked, count = 0;
    if (r->rule == GRAM_LANDMARKS_GIVEN) return gram_points_gather(context, r->given, r->given->n, NULL, chosen);
    TRY(gram_take(context, "landmarks", looked + most, sizeof *rows, (void **)&rows));
    picked = rows + looked;
    draw_rows(context->seed, SAMPLE_STREAM, x->n, looked, rows);
    TRY(gram_points_gather(context, x, looked, rows, &sample));
    TRY(choose(context, kernel, sample, r, most, picked, &count));
    FAIL_IF(count == 0, context, GRAM_ERROR_DATA, "landmarks: the matrix of the kernel is 0 to rounding");
    TRY(gram_points_gather(context, sample, count, picked, chosen));
done:
    gram_points_release(sample);
    gram_give(context, rows);
    return status;
}

gram_status gram_landmark_set_make(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                   const gram_landmark_request *request, gram_landmark_set *set)
{
    gram_status status = GRAM_OK;
    gram_points *chosen = NULL;
    gram_pivoted p = {0};
    *set = (gram_landmark_set){0};
    TRY(find_points(context, kernel, x, request, &chosen));
    FAIL_IF(chosen->n > GRAM_PIVOTED_MOST, context, GRAM_ERROR_ARGUMENT, "landmarks: %lld of them, at most %d",
            (long long)chosen->n, (int)GRAM_PIVOTED_MOST);
    const gram_pivoted_options options = {.rule = &gram_pivot_largest, .room = chosen->n, .tolerance = PIVOT_TOLERANCE};
    TRY(gram_pivoted_make(context, kernel, chosen, &options, &p));
    FAIL_IF(p.rank == 0, context, GRAM_ERROR_DATA, "landmarks: the matrix of the kernel is 0 to rounding");
    set->count = p.rank;
    TRY(gram_take(context, "landmarks", p.rank * x->d, sizeof(double), (void **)&set->points));
    TRY(gram_take(context, "landmarks", p.rank * p.rank, sizeof(double), (void **)&set->factor));
    for (int64_t i = 0; i < p.rank; i++) {
        for (int64_t l = 0; l < x->d; l++) set->points[i * x->d + l] = gram_points_at(chosen, p.pivot[i], l);
        for (int64_t j = 0; j < p.rank; j++) set->factor[i * p.rank + j] = j <= i ? p.f[p.pivot[i] * p.room + j] : 0;
    }
done:
    gram_pivoted_free(context->memory, &p);
    gram_points_release(chosen);
    return status;
}

void gram_landmark_set_free(gram_context *context, gram_landmark_set *set)
{
    gram_give(context, set->points);
    gram_give(context, set->factor);
    *set = (gram_landmark_set){0};
}

double gram_landmark_set_bytes(int64_t n, int64_t d, int64_t most)
{
    const int64_t p = least(n, most), looked = rows_of(GRAM_LANDMARKS_CHOLESKY, n, p);
    return (double)gram_pivoted_bytes(looked, p) + (double)(looked + 2 * p) * (double)(d + 2) * 2 * sizeof(double) +
           2.0 * (double)p * (double)p * sizeof(double);
}
