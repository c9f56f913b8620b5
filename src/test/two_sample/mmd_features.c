/* Looks at means: of columns, of their ranks, of squares, and of all directions at once.
 *
 * What most often differs between two samples is a mean or a spread, and a kernel that sees everything sees these less well than a test of
 * them alone. With f_il feature l of row i, of mean 0 and variance 1 over both samples, the sum over the first sample has mean 0 and
 * variance nm/(N - 1) under random labels; t_l is that sum over its deviation. The tails of the t_l as normal ones, p_l, make
 *
 *     score = log(mean over the columns of 1/p_l),
 *
 * the harmonic mean of the tails: it is large if one column of many differs, which Hotelling's T^2 and kernels of all columns lose sight
 * of, and in one column it is the t test. Features are the columns themselves, their ranks (heavy tails), and the squares of columns cut off at
 * three deviations (spreads). Directions are Hotelling's: the sum of squares after whitening by the correlations, shrunk towards 0
 * as far as their noise asks for (Schaefer and Strimmer, Stat. Appl. Genet. Mol. Biol. 4, 2005); its tail is that of a gamma distribution.
 *
 * Only functions of both samples together enter beside the labels, so the permutation test of any function of the scores is exact. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "base/distribution_tails.h"
#include "base/sweep.h"
#include "test/two_sample/mmd.h"
#include "tile/random_labels.h"

enum { LABELLINGS = 64, MOST_DIRECTIONS = 64 };
static const double CUT = 3, TIE = 1e-9 /* of scores: more than rounding makes of them */;

/* ---- features ---- */

/* Mean 0 and variance 1; 0 if it is constant but for rounding. */
static void standardise_column(int64_t total, int64_t d, double *column)
{
    double mean = 0, squares = 0, most = 0;
    for (int64_t i = 0; i < total; i++) {
        mean += column[i * d] / (double)total;
        most = fmax(most, fabs(column[i * d]));
    }
    for (int64_t i = 0; i < total; i++) squares += (column[i * d] - mean) * (column[i * d] - mean);
    const double deviation = sqrt(squares / (double)total);
    const double scale = deviation > 1e-12 * most ? 1 / deviation : 0;
    for (int64_t i = 0; i < total; i++) column[i * d] = (column[i * d] - mean) * scale;
}

static void fill(gram_mmd_features *f, gram_mmd_family family)
{
    const int64_t total = f->total, d = f->d;
    double *out = f->values;
    memcpy(out, family == GRAM_MMD_FAMILY_RANK_MEANS ? f->ranks : f->data, (size_t)(total * d) * sizeof *out);
    for (int64_t l = 0; l < d; l++) standardise_column(total, d, out + l);
    if (family != GRAM_MMD_FAMILY_SPREADS) return;
    for (int64_t at = 0; at < total * d; at++) {
        const double cut = fmax(-CUT, fmin(CUT, out[at]));
        out[at] = cut * cut;
    }
    for (int64_t l = 0; l < d; l++) standardise_column(total, d, out + l);
}

/* ---- directions ---- */

/* How far correlations s are shrunk: the sum of their variances over the sum of their squares. */
static double shrinkage(int64_t total, int64_t d, const double *z, const double *s)
{
    double noise = 0, size = 0;
    for (int64_t l = 0; l < d; l++)
        for (int64_t k = 0; k < l; k++) {
            double fourth = 0;
            for (int64_t i = 0; i < total; i++)
                fourth += z[i * d + l] * z[i * d + l] * z[i * d + k] * z[i * d + k] / (double)total;
            noise += (fourth - s[l * d + k] * s[l * d + k]) / (double)total;
            size += s[l * d + k] * s[l * d + k];
        }
    return fmax(1e-3, size > noise ? noise / size : 1);
}

/* The Cholesky factor of a positive definite matrix, in place below the diagonal. */
static void factorise(int64_t d, double *a)
{
    for (int64_t j = 0; j < d; j++) {
        a[j * d + j] = sqrt(a[j * d + j] - cblas_ddot((int)j, a + j * d, 1, a + j * d, 1));
        for (int64_t i = j + 1; i < d; i++)
            a[i * d + j] = (a[i * d + j] - cblas_ddot((int)j, a + i * d, 1, a + j * d, 1)) / a[j * d + j];
    }
}

int gram_mmd_has_directions(int64_t total, int64_t d)
{
    return d > 1 && d <= MOST_DIRECTIONS && 4 * d <= total;
}

/* The factor of the shrunk correlations of z, and mean and variance of the sum of squares under random labels, the variance that of normal
 * sums. */
static gram_status find_directions(gram_context *context, gram_mmd_features *f)
{
    gram_status status = GRAM_OK;
    const double *z = f->values;
    const int64_t total = f->total, d = f->d;
    double *s = NULL;
    TRY(gram_take(context, "mmd_test: directions", d * d, sizeof *s, (void **)&s));
    TRY(gram_take(context, "mmd_test: directions", d * d, sizeof *f->factor, (void **)&f->factor));
    const int before = gram_blas_enter();
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)d, (int)d, (int)total, 1 / (double)total, z, (int)d, z,
                (int)d, 0, s, (int)d);
    const double shrunk = shrinkage(total, d, z, s);
    for (int64_t l = 0; l < d; l++)
        for (int64_t k = 0; k < d; k++) f->factor[l * d + k] = l == k ? 1 : (1 - shrunk) * s[l * d + k];
    factorise(d, f->factor);
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)d, (int)d, 1, f->factor, (int)d,
                s, (int)d);
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)d, (int)d, 1, f->factor, (int)d,
                s, (int)d);
    gram_blas_leave(before);
    f->mean = f->variance = 0;
    for (int64_t l = 0; l < d; l++) {
        f->mean += s[l * d + l];
        for (int64_t k = 0; k < d; k++) f->variance += 2 * s[l * d + k] * s[l * d + k];
    }
done:
    gram_give(context, s);
    return status;
}

/* ---- scores ---- */

/* -log of the tail of |t| on both sides. */
static double surprise(double t)
{
    const double far = 35, size = fabs(t);
    if (size < far) return -log(2 * gram_tail_normal(size));
    return 0.5 * size * size + log(size) + 0.22579135264472743; /* log sqrt(pi/2) */
}

/* log of the mean of 1/p over column b of t, d x count. */
static double harmonic(int64_t d, int64_t count, const double *t)
{
    double most = 0, sum = 0;
    for (int64_t l = 0; l < d; l++) most = fmax(most, fabs(t[l * count]));
    const double top = surprise(most);
    for (int64_t l = 0; l < d; l++) sum += exp(surprise(t[l * count]) - top);
    return top + log(sum / (double)d);
}

/* Column b of whitened t. */
static double directions(const gram_mmd_features *f, int64_t count, const double *t)
{
    double sum = 0;
    for (int64_t l = 0; l < f->d; l++) sum += t[l * count] * t[l * count];
    const double tail = gram_tail_gamma(f->mean * f->mean / f->variance, sum * f->mean / f->variance);
    return tail > 1e-290 ? -log(tail) : 290 * log(10) + (sum - f->mean) / sqrt(f->variance);
}

void gram_mmd_features_score(const gram_mmd_features *f, int look, int64_t count, double *t, double *scores)
{
    const int whitened = f->looks[look].family == GRAM_MMD_FAMILY_DIRECTIONS;
    if (whitened)
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)f->d, (int)count, 1,
                    f->factor, (int)f->d, t, (int)count);
    for (int64_t b = 0; b < count; b++)
        scores[b] = whitened ? directions(f, count, t + b) : harmonic(f->d, count, t + b);
}

/* ---- what a look is at ---- */

gram_status gram_mmd_features_begin(gram_context *context, gram_mmd_features *f, int64_t labellings)
{
    gram_status status = GRAM_OK;
    f->labellings = labellings;
    TRY(gram_take(context, "mmd_test: features", f->total * f->d, sizeof *f->values, (void **)&f->values));
    TRY(gram_take(context, "mmd_test: scores", f->count * labellings, sizeof *f->scores, (void **)&f->scores));
done:
    return status;
}

gram_status gram_mmd_features_look(gram_context *context, gram_mmd_features *f, int look)
{
    if (f->looks[look].family == GRAM_MMD_FAMILY_DIRECTIONS) return find_directions(context, f); /* of the means */
    fill(f, f->looks[look].family);
    return GRAM_OK;
}

void gram_mmd_features_destroy(gram_context *context, gram_mmd_features *f)
{
    gram_give(context, f->values);
    gram_give(context, f->scores);
    gram_give(context, f->factor);
}

void gram_mmd_features_tell(const gram_mmd_features *f, const int64_t *which, gram_mmd_tally *tally,
                            gram_mmd_seen *seen)
{
    for (int k = 0; k < f->count; k++) {
        const double *scores = f->scores + k * f->labellings, weight = log(f->looks[k].weight);
        int64_t reached = 0;
        for (int64_t b = 0; b < tally->count; b++) {
            const double score = weight + scores[which ? which[b] : b];
            gram_mmd_tally_add(tally, b, score - TIE, score + TIE);
            reached += score >= weight + scores[0] - TIE;
        }
        if (seen)
            seen[k] = (gram_mmd_seen){.score = weight + scores[0], .p_value = (double)reached / (double)tally->count};
    }
}

/* ---- labellings of rows ---- */

typedef struct labelled {
    const gram_mmd_features *f;
    int look;
    int64_t n;
    const uint8_t *bits;
} labelled;

static gram_status score_task(void *argument, const gram_worker *worker)
{
    const labelled *w = argument;
    const gram_mmd_features *f = w->f;
    const int64_t total = f->total, d = f->d, first = worker->task * LABELLINGS;
    const int64_t count = f->labellings - first < LABELLINGS ? f->labellings - first : LABELLINGS;
    const double n = (double)w->n, m = (double)(total - w->n);
    double *labels = worker->scratch, *t = labels + total * LABELLINGS;
    for (int64_t i = 0; i < total; i++)
        for (int64_t b = 0; b < count; b++) labels[i * count + b] = gram_label(w->bits, f->labellings, i, first + b);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)d, (int)count, (int)total,
                sqrt((double)(total - 1) / (n * m)), f->values, (int)d, labels, (int)count, 0, t, (int)count);
    gram_mmd_features_score(f, w->look, count, t, f->scores + w->look * f->labellings + first);
    return GRAM_OK;
}

gram_status gram_mmd_features_permute(gram_context *context, gram_mmd_features *f, int64_t n, int64_t count,
                                      const uint8_t *bits)
{
    gram_status status = GRAM_OK;
    labelled w = {.f = f, .n = n, .bits = bits};
    TRY(gram_mmd_features_begin(context, f, count));
    const gram_sweep sweep = {.what = "permutations",
                              .tasks = (count + LABELLINGS - 1) / LABELLINGS,
                              .scratch_bytes = (size_t)((f->total + f->d) * LABELLINGS) * sizeof(double),
                              .run = score_task,
                              .argument = &w};
    for (w.look = 0; w.look < f->count; w.look++) {
        TRY(gram_mmd_features_look(context, f, w.look));
        TRY(gram_sweep_run(context, &sweep));
    }
done:
    return status;
}
