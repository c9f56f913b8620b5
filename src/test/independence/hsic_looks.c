/* The test that needs no choice of kernels: many of them on both sides at once, with the level kept.
 *
 * One width per side is blind to what is finer or coarser: a sine of four periods hides from the median heuristic's. So there are up to
 * LOOKS kernels for x and as many for y, and every pair is a look, v_ab = trace(C_a P D_b P') under the shuffle P. Their null
 * distributions are as different as their widths (from nearly normal to nearly one chi-squared variable), and the largest of values
 * over deviations would be that of the longest tail by chance. So each value is first turned into -log of its tail under the gamma
 * distribution with the mean and variance that shuffles give it, which are known; the largest of those is compared with the
 * largest of every shuffle. The transform does not depend on the order of the rows, so the level is exact whatever
 * the gamma distribution is worth (after Schrab, Kim and Gretton, "Efficient aggregated kernel tests using incomplete U-statistics", NeurIPS
 * 2022, which takes quantiles of permutations instead).
 *
 * Up to DIRECT rows the entries of all C_a for a pair of rows lie side by side, and those of all D_b: a shuffle gathers the latter
 * and multiplies two tall matrices of LOOKS columns. Beyond, C_a ~ A_a A_a' by pivoted Cholesky, and all looks come from one product
 * [A_1 .. A_r]' P [B_1 .. B_s]; ranks are limited so that all shuffles together take some WORK operations. A kernel of which less than
 * half would be left is not looked at. The statistic is then HSIC of what is left, and the level is as exact. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "base/distribution_tails.h"
#include "base/ranks/collective.h"
#include "kernel/kernel_widen.h"
#include "points/points.h"
#include "solve/pivoted_cholesky.h"
#include "test/independence/hsic.h"

enum { LOOKS = 8, DIRECT = 1024, CHUNK = 512, PAIRS = LOOKS * LOOKS, LEAST_RANK = 4, MOST_RANK = 128 };
static const double WORK = 4e11, ENOUGH = 0.5, TOLERANCE = 1e-4;

/* Values that differ by less than this share of their mean are equal; looks that vary by less than that see nothing. */
static const double TIE = 1e-11, FLAT = 1e-6;

/* Scores closer than this are equal, and the first look is the one reported: kernels of one column of 0 and 1 are all the same test. */
static const double SAME = 1e-8;

static const double WIDTHS[] = {1. / 16, 1. / 4, 1, 4}, ALONE[] = {1. / 16, 1. / 8, 1. / 4, 1. / 2, 1, 2, 4};

/* All kernels of one variable. */
typedef struct side {
    int64_t n, count;
    gram_kernel *kernels[LOOKS];
    gram_hsic_traces traces[LOOKS];
    double *entries;              /* direct: LOOKS numbers for each pair of rows, 0 beyond the count */
    double *factor;               /* else n x ld: the factors side by side */
    int64_t ld, first[LOOKS + 1]; /* the column where each begins */
} side;

typedef struct looks {
    gram_shuffles shuffles;
    side x, y;
    double mean[PAIRS], deviation[PAIRS]; /* of a * LOOKS + b; deviation 0: not looked at */
    double observed[PAIRS];               /* values of the rows as they are */
    double *score;                        /* of each shuffle, the largest */
    int best;
} looks;

/* ---- kernels ---- */

static gram_status add_widths(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                              int64_t count, const double *widths, side *s)
{
    gram_status status = GRAM_OK;
    gram_kernel *resolved = NULL;
    TRY(gram_kernel_resolve(context, kernel, points, &resolved));
    for (int64_t k = 0; k < count; k++) {
        TRY(gram_kernel_widen(context, resolved, widths[k], &s->kernels[s->count]));
        s->count++;
    }
done:
    gram_kernel_release(resolved);
    return status;
}

/* A kernel that was given at seven widths; without one rbf, and laplace1, which sees a single column among many, at four each. */
static gram_status choose_kernels(gram_context *context, const gram_kernel *given, const gram_points *points, side *s)
{
    static const char *const FAMILIES[] = {"rbf", "laplace1"};
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL;
    s->n = points->n;
    if (given) return add_widths(context, given, points, sizeof ALONE / sizeof *ALONE, ALONE, s);
    for (size_t f = 0; f < sizeof FAMILIES / sizeof *FAMILIES; f++) {
        TRY(gram_kernel_parse(context, FAMILIES[f], &kernel));
        TRY(add_widths(context, kernel, points, sizeof WIDTHS / sizeof *WIDTHS, WIDTHS, s));
        gram_kernel_release(kernel);
        kernel = NULL;
    }
done:
    gram_kernel_release(kernel);
    return status;
}

/* ---- matrices ---- */

/* Look a of the pairs of rows: all of them for y, for x those of the lower triangle, one row after the other, half of the diagonal. */
static void spread_entries(int64_t n, const double *matrix, int half, double *entries)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < (half ? i + 1 : n); j++, entries += LOOKS)
            *entries = half && j == i ? matrix[i * n + j] / 2 : matrix[i * n + j];
}

static gram_status make_entries(gram_context *context, const gram_points *points, int half, side *s)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->n, pairs = half ? n * (n + 1) / 2 : n * n;
    gram_pairs centred = {0};
    double *matrix = NULL;
    TRY(gram_take(context, "hsic_test: matrices of all looks", pairs * LOOKS, sizeof(double), (void **)&s->entries));
    TRY(gram_take(context, "hsic_test: a centred matrix", n * n, sizeof(double), (void **)&matrix));
    memset(s->entries, 0, (size_t)(pairs * LOOKS) * sizeof(double));
    for (int64_t a = 0; a < s->count; a++) {
        TRY(gram_pairs_create(context, s->kernels[a], points, GRAM_CENTRE_ALL, &centred));
        s->traces[a] = gram_hsic_traces_of(&centred);
        TRY(gram_pairs_matrix(context, &centred, matrix, n));
        gram_pairs_destroy(context, &centred);
        centred = (gram_pairs){0};
        spread_entries(n, matrix, half, s->entries + a);
    }
done:
    gram_pairs_destroy(context, &centred);
    gram_give(context, matrix);
    return status;
}

static void multiply_gathered(const looks *l, int64_t first, int64_t count, const double *gathered, double *product)
{
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, LOOKS, LOOKS, (int)count, 1, l->x.entries + first * LOOKS,
                LOOKS, gathered, LOOKS, 1, product, LOOKS);
}

/* v_ab of one shuffle by entries. */
static void values_of_entries(const looks *l, const int64_t *order, double *gathered, double *values)
{
    const int64_t n = l->x.n;
    int64_t done = 0, count = 0;
    memset(values, 0, PAIRS * sizeof *values);
    for (int64_t i = 0; i < n; i++) {
        const double *row = l->y.entries + order[i] * n * LOOKS;
        for (int64_t j = 0; j <= i; j++) {
            memcpy(gathered + count * LOOKS, row + order[j] * LOOKS, LOOKS * sizeof *row);
            if (++count < CHUNK) continue;
            multiply_gathered(l, done, count, gathered, values);
            done += count;
            count = 0;
        }
    }
    if (count > 0) multiply_gathered(l, done, count, gathered, values);
    for (int k = 0; k < PAIRS; k++) values[k] *= 2;
}

/* ---- factors ---- */

/* Each column less its mean; the traces of the product of the factor with itself. `square` has room for rank^2 numbers. */
static void centre_factor(gram_pivoted *f, double *square, gram_hsic_traces *traces)
{
    const int64_t n = f->n, r = f->rank;
    for (int64_t k = 0; k < r; k++) {
        double mean = 0;
        for (int64_t i = 0; i < n; i++) mean += f->f[i * f->room + k] / (double)n;
        for (int64_t i = 0; i < n; i++) f->f[i * f->room + k] -= mean;
    }
    const int before = gram_blas_enter();
    *traces = (gram_hsic_traces){0};
    for (int64_t i = 0; i < n; i++) {
        const double own = cblas_ddot((int)r, f->f + i * f->room, 1, f->f + i * f->room, 1);
        traces->t += own;
        traces->s += own * own;
    }
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)r, (int)r, (int)n, 1, f->f, (int)f->room, f->f,
                (int)f->room, 0, square, (int)r);
    traces->q = cblas_ddot((int)(r * r), square, 1, square, 1);
    gram_blas_leave(before);
    traces->none = !(traces->t > 1e-12 * f->trace);
}

static void copy_factor(const gram_pivoted *f, int64_t at, double *factor, int64_t columns)
{
    for (int64_t i = 0; i < f->n; i++)
        memcpy(factor + i * columns + at, f->f + i * f->room, (size_t)f->rank * sizeof *factor);
}

/* The looks of which enough is left, from the first on; of all the widest if there is none. */
static gram_status make_factors(gram_context *context, const gram_points *points, int64_t room, side *s)
{
    gram_status status = GRAM_OK;
    const int64_t columns = s->ld = room * s->count;
    const gram_pivoted_options options = {
        .rule = &gram_pivot_largest, .room = room, .block = 1, .tolerance = TOLERANCE};
    gram_pivoted f = {0};
    double *square = NULL;
    int64_t kept = 0;
    TRY(gram_take(context, "hsic_test: factors of all looks", s->n * columns, sizeof(double), (void **)&s->factor));
    TRY(gram_take(context, "hsic_test: a square", room * room, sizeof(double), (void **)&square));
    for (int64_t a = 0; a < s->count; a++) {
        TRY(gram_pivoted_make(context, s->kernels[a], points, &options, &f));
        if (f.missed <= ENOUGH * f.trace || (a == s->count - 1 && kept == 0)) {
            gram_kernel *const other = s->kernels[kept];
            centre_factor(&f, square, &s->traces[kept]);
            copy_factor(&f, s->first[kept], s->factor, columns);
            s->first[kept + 1] = s->first[kept] + f.rank;
            s->kernels[kept++] = s->kernels[a];
            s->kernels[a] = other;
        }
        gram_pivoted_free(context->memory, &f);
        f = (gram_pivoted){0};
    }
    for (int64_t a = kept; a < s->count; a++) gram_kernel_release(s->kernels[a]), s->kernels[a] = NULL;
    s->count = kept;
done:
    gram_pivoted_free(context->memory, &f);
    gram_give(context, square);
    return status;
}

/* v_ab of one shuffle by factors: the squared norms of the blocks of one product, for which `scratch` has room. */
static void values_of_factors(const looks *l, const int64_t *order, double *scratch, double *values)
{
    const side *x = &l->x, *y = &l->y;
    const int64_t n = x->n, r = x->first[x->count], s = y->first[y->count];
    double *product = scratch, *rows = product + r * s;
    memset(product, 0, (size_t)(r * s) * sizeof *product);
    for (int64_t first = 0; first < n; first += CHUNK) {
        const int64_t count = n - first < CHUNK ? n - first : CHUNK;
        for (int64_t i = 0; i < count; i++)
            memcpy(rows + i * s, y->factor + order[first + i] * y->ld, (size_t)s * sizeof *rows);
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)r, (int)s, (int)count, 1, x->factor + first * x->ld,
                    (int)x->ld, rows, (int)s, 1, product, (int)s);
    }
    memset(values, 0, PAIRS * sizeof *values);
    for (int64_t a = 0; a < x->count; a++)
        for (int64_t b = 0; b < y->count; b++)
            for (int64_t i = x->first[a]; i < x->first[a + 1]; i++)
                for (int64_t j = y->first[b]; j < y->first[b + 1]; j++)
                    values[a * LOOKS + b] += product[i * s + j] * product[i * s + j];
}

/* ---- shuffles ---- */

static double largest_score(const looks *l, const double *values, double tie, int *best)
{
    double largest = 0;
    for (int k = 0; k < PAIRS; k++) {
        if (!(l->deviation[k] > 0)) continue;
        const double score = gram_tail_gamma_score(values[k] - tie * l->mean[k], l->mean[k], l->deviation[k]);
        if (score > largest * (1 + SAME)) *best = k;
        largest = fmax(largest, score);
    }
    return largest;
}

static gram_status task(void *argument, const gram_worker *worker)
{
    looks *l = argument;
    int64_t *order = worker->scratch;
    void *rest = order + l->shuffles.n;
    const int64_t draw = l->shuffles.first + worker->task;
    double values[PAIRS];
    int best = 0;
    gram_shuffle(&l->shuffles, 1, draw, order);
    if (l->x.entries)
        values_of_entries(l, order, rest, values);
    else
        values_of_factors(l, order, rest, values);
    l->score[draw] = largest_score(l, values, draw == 0 ? TIE : 0, &best);
    if (draw > 0) return GRAM_OK;
    memcpy(l->observed, values, sizeof values);
    l->best = best;
    return GRAM_OK;
}

/* What rank 0 saw without a shuffle. */
static gram_status share_observed(gram_context *context, looks *l)
{
    gram_status status = GRAM_OK;
    if (!gram_ranks_share(context, l->shuffles.n)) return status;
    TRY(gram_ranks_broadcast(context, 0, l->observed, sizeof l->observed));
    TRY(gram_ranks_broadcast(context, 0, &l->best, sizeof l->best));
done:
    return status;
}

/* Means and deviations of all looks; those that shuffles hardly change have none. */
static void find_moments(looks *l)
{
    const double n = (double)l->shuffles.n;
    for (int64_t a = 0; a < l->x.count; a++)
        for (int64_t b = 0; b < l->y.count; b++) {
            const gram_hsic_traces *c = &l->x.traces[a], *d = &l->y.traces[b];
            const double mean = c->t * d->t / (n - 1);
            const double deviation = sqrt(fmax(gram_hsic_shuffle_variance(n, c, d), 0));
            if (c->none || d->none || !(deviation > FLAT * mean)) continue;
            l->mean[a * LOOKS + b] = mean;
            l->deviation[a * LOOKS + b] = deviation;
        }
}

static gram_status make_sides(gram_context *context, const gram_points *const *points, int64_t count, looks *l,
                              int64_t *scratch)
{
    gram_status status = GRAM_OK;
    const int64_t n = points[0]->n;
    const double columns = sqrt(WORK / (2 * (double)n * (double)count)) / LOOKS;
    const int64_t room = (int64_t)fmin(fmax(columns, LEAST_RANK), MOST_RANK);
    if (n <= DIRECT) {
        TRY(make_entries(context, points[0], 1, &l->x));
        TRY(make_entries(context, points[1], 0, &l->y));
        *scratch = CHUNK * LOOKS;
    } else {
        TRY(make_factors(context, points[0], room, &l->x));
        TRY(make_factors(context, points[1], room, &l->y));
        *scratch = (l->x.first[l->x.count] + CHUNK) * l->y.first[l->y.count];
    }
done:
    return status;
}

/* The numbers of the look that saw most, and its kernels. */
static void tell_best(const looks *l, int64_t count, gram_hsic_result *result)
{
    const double n2 = (double)l->shuffles.n * (double)l->shuffles.n;
    int64_t reached = 1;
    for (int64_t b = 1; b < count; b++) reached += l->score[b] >= l->score[0];
    result->p_value = (double)reached / (double)count;
    result->statistic = l->observed[l->best] / n2;
    result->null_mean = l->mean[l->best] / n2;
    result->null_deviation = l->deviation[l->best] / n2;
    for (int k = 0; k < PAIRS; k++) result->looks += l->deviation[k] > 0;
    for (int a = 0; a < LOOKS && l->x.factor; a++) {
        if (l->x.kernels[a]) result->rank[0] = l->x.first[a + 1];
        if (l->y.kernels[a]) result->rank[1] = l->y.first[a + 1];
    }
    for (int v = 0; v < 2; v++) gram_kernel_release(result->kernels[v]);
    result->kernels[0] = gram_kernel_retain(l->x.kernels[l->best / LOOKS]);
    result->kernels[1] = gram_kernel_retain(l->y.kernels[l->best % LOOKS]);
}

static void free_side(gram_context *context, side *s)
{
    for (int a = 0; a < LOOKS; a++) gram_kernel_release(s->kernels[a]);
    gram_give(context, s->entries);
    gram_give(context, s->factor);
}

gram_status gram_hsic_aggregated(gram_context *context, gram_kernel *const *kernels, const gram_points *const *points,
                                 int64_t count, gram_hsic_result *result)
{
    gram_status status = GRAM_OK;
    looks l = {.shuffles = {gram_context_seed(context), points[0]->n, 0}};
    int64_t scratch = 0;
    TRY(gram_take(context, "hsic_test: permutations", count, sizeof *l.score, (void **)&l.score));
    TRY(choose_kernels(context, kernels ? kernels[0] : NULL, points[0], &l.x));
    TRY(choose_kernels(context, kernels ? kernels[1] : NULL, points[1], &l.y));
    TRY(make_sides(context, points, count, &l, &scratch));
    find_moments(&l);
    const gram_sweep sweep = {
        .scratch_bytes = (size_t)(scratch + points[0]->n) * sizeof(double), .run = task, .argument = &l};
    TRY(gram_shuffles_run(context, &l.shuffles, count, &sweep, l.score));
    TRY(share_observed(context, &l));
    tell_best(&l, count, result);
done:
    free_side(context, &l.x);
    free_side(context, &l.y);
    gram_give(context, l.score);
    return status;
}
