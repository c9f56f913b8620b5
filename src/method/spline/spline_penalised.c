/* Several penalties at once. With A = G + sum_j alpha_j S_j, G = X'WX, c = A^-1 X'Wy, and derivatives by log alpha_j
 *
 *     rss    2 (sum_k alpha_k S_k c)' A^-1 alpha_j S_j c
 *     df     tr A^-1 G,  derivative - tr (A^-1 G A^-1) alpha_j S_j
 *     REML   (n - free) log(rss + c'Sc) + log|A| - sum rank_j log alpha_j,
 *            derivative (n - free) alpha_j c'S_j c/(rss + c'Sc) + tr A^-1 alpha_j S_j - rank_j
 *
 * (Wood 2017, chapter 6), so that the search goes by gradients: O(p^3) for each try. */
#include "method/spline/spline_penalised.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "base/lapack.h"
#include "base/sweep.h"
#include "base/system/system_call.h"
#include "solve/minimise.h"

enum { STARTS = 3, MOST_TRIES = 120 };

gram_status gram_penalised_take(gram_context *context, gram_penalised *problem)
{
    gram_status status = GRAM_OK;
    const int64_t p = problem->p, d = problem->blocks;
    TRY(gram_take(context, "spline: coefficients", p, sizeof(double), (void **)&problem->c));
    TRY(gram_take(context, "spline: inverse", p * p, sizeof(double), (void **)&problem->inverse));
    TRY(gram_take(context, "spline: blocks", 2 * d, sizeof(double), (void **)&problem->share));
    problem->log_alpha = problem->share + d;
    TRY(gram_take(context, "spline: work", 2 * p * p + 3 * p, sizeof(double), (void **)&problem->work));
done:
    return status;
}

void gram_penalised_give(gram_context *context, gram_penalised *problem)
{
    gram_give(context, problem->c);
    gram_give(context, problem->inverse);
    gram_give(context, problem->share);
    gram_give(context, problem->work);
}

/* out[block j] += alpha_j S_j c */
static void bend(const gram_penalised *q, int64_t j, const double *c, double *out)
{
    const int64_t at = q->first[j], size = q->first[j + 1] - at;
    const double alpha = exp(q->log_alpha[j]);
    for (int64_t i = 0; i < size; i++)
        for (int64_t k = 0; k < size; k++) out[at + i] += alpha * q->penalty[j][i * size + k] * c[at + k];
}

/* tr (B alpha_j S_j) over the block. */
static double block_trace(const gram_penalised *q, int64_t j, const double *b)
{
    const int64_t at = q->first[j], size = q->first[j + 1] - at;
    double sum = 0;
    for (int64_t i = 0; i < size; i++)
        for (int64_t k = 0; k < size; k++) sum += b[(at + i) * q->p + at + k] * q->penalty[j][i * size + k];
    return exp(q->log_alpha[j]) * sum;
}

/* A^-1 and log|A|. Rows and columns are scaled to a diagonal of 1 first: splines of narrow and of wide support are of different sizes. */
static gram_status invert(gram_context *context, gram_penalised *q)
{
    gram_status status = GRAM_OK;
    const int64_t p = q->p;
    double *a = q->inverse, *scale = q->work;
    int info = 0, size = (int)p;
    memcpy(a, q->gram, (size_t)(p * p) * sizeof *a);
    for (int64_t j = 0; j < q->blocks; j++) {
        const int64_t at = q->first[j], width = q->first[j + 1] - at;
        const double alpha = exp(q->log_alpha[j]);
        for (int64_t i = 0; i < width; i++)
            for (int64_t k = 0; k < width; k++) a[(at + i) * p + at + k] += alpha * q->penalty[j][i * width + k];
    }
    for (int64_t i = 0; i < p; i++) scale[i] = 1 / sqrt(a[i * p + i]);
    for (int64_t i = 0; i < p; i++)
        for (int64_t k = 0; k < p; k++) a[i * p + k] *= scale[i] * scale[k];
    const int before = gram_blas_enter();
    dpotrf_("U", &size, a, &size, &info, 1);
    q->log_root = 0;
    double least = 1;
    for (int64_t i = 0; i < p && info == 0; i++) {
        least = fmin(least, a[i * p + i]);
        q->log_root += log(a[i * p + i]) - log(scale[i]);
    }
    if (info == 0) dtrtri_("U", "N", &size, a, &size, &info, 1, 1);
    if (info == 0) dlauum_("U", &size, a, &size, &info, 1);
    gram_blas_leave(before);
    FAIL_IF(info != 0 || !(least > 1e-8), context, GRAM_ERROR_NUMERICAL,
            "spline_fit: the components cannot be told apart on these rows");
    for (int64_t i = 0; i < p; i++)
        for (int64_t k = 0; k <= i; k++) a[i * p + k] = a[k * p + i] = a[i * p + k] * scale[i] * scale[k];
    for (int64_t j = 0; j < q->blocks; j++) q->log_root -= 0.5 * q->rank[j] * q->log_alpha[j];
done:
    return status;
}

/* c, rss, penalties and degrees of freedom, given the inverse. */
static void find_solution(gram_penalised *q)
{
    const int64_t p = q->p;
    double *bent = q->work + p;
    memset(bent, 0, (size_t)p * sizeof *bent);
    q->rss = q->square;
    q->bending = 0;
    q->df = q->outside;
    for (int64_t i = 0; i < p; i++) q->c[i] = cblas_ddot((int)p, q->inverse + i * p, 1, q->right, 1);
    for (int64_t j = 0; j < q->blocks; j++) {
        bend(q, j, q->c, bent);
        q->share[j] = (double)(q->first[j + 1] - q->first[j]) - block_trace(q, j, q->inverse);
        q->df += q->share[j];
    }
    for (int64_t i = 0; i < p; i++) { /* X'W(y - Xc) = Sc, so rss = y'Wy - c'X'Wy - c'Sc */
        q->rss -= q->c[i] * (q->right[i] + bent[i]);
        q->bending += q->c[i] * bent[i];
    }
    if (!(q->rss > 1e-14 * q->square)) q->rss = 1e-14 * q->square;
}

gram_status gram_penalised_solve(gram_context *context, gram_penalised *problem)
{
    const gram_status status = invert(context, problem);
    if (status < 0) return status;
    const int before = gram_blas_enter();
    find_solution(problem);
    gram_blas_leave(before);
    problem->evaluations++;
    return status;
}

/* ---- the criteria ---- */

static void gcv(gram_penalised *q, double *gradient)
{
    const int64_t p = q->p;
    const int size = (int)p;
    const double left = q->n - q->df;
    double *bent = q->work + p, *one = q->work + 2 * p, *half = q->work + 3 * p, *whole = half + p * p;
    q->value = log(q->rss) - 2 * log(left);
    const int before = gram_blas_enter();
    cblas_dsymm(CblasRowMajor, CblasLeft, CblasLower, size, size, 1, q->inverse, size, q->gram, size, 0, half, size);
    cblas_dsymm(CblasRowMajor, CblasRight, CblasLower, size, size, 1, q->inverse, size, half, size, 0, whole, size);
    for (int64_t j = 0; j < q->blocks; j++) {
        double slope = 0;
        memset(one, 0, (size_t)p * sizeof *one);
        bend(q, j, q->c, one);
        cblas_dsymv(CblasRowMajor, CblasLower, size, 1, q->inverse, size, one, 1, 0, half, 1);
        for (int64_t i = 0; i < p; i++) slope += 2 * bent[i] * half[i];
        gradient[j] = slope / q->rss - 2 * block_trace(q, j, whole) / left;
    }
    gram_blas_leave(before);
}

static void likelihood(gram_penalised *q, double *gradient)
{
    const double freedom = q->n - q->free, sum = q->rss + q->bending;
    q->value = 0.5 * freedom * log(sum) + q->log_root;
    for (int64_t j = 0; j < q->blocks; j++) {
        const int64_t at = q->first[j], size = q->first[j + 1] - at;
        double *one = q->work + 2 * q->p, own = 0;
        memset(one, 0, (size_t)q->p * sizeof *one);
        bend(q, j, q->c, one);
        for (int64_t i = 0; i < size; i++) own += q->c[at + i] * one[at + i];
        gradient[j] = 0.5 * (freedom * own / sum + block_trace(q, j, q->inverse) - q->rank[j]);
    }
}

typedef struct trial {
    gram_context *context;
    gram_penalised *problem;
    gram_criterion criterion;
    double starts, tries; /* descents that are done, and evaluations of the present one */
} trial;

static gram_status evaluate(void *argument, const double *x, double *value, double *gradient)
{
    enum { USUAL = 20 }; /* tries of a descent: half of its share, however many there will be */
    trial *t = argument;
    memcpy(t->problem->log_alpha, x, (size_t)t->problem->blocks * sizeof *x);
    t->tries++;
    gram_status status = gram_pulse(t->context, "tuning", (t->starts + t->tries / (t->tries + USUAL)) / STARTS);
    if (status < 0) return status;
    status = gram_penalised_solve(t->context, t->problem);
    *value = INFINITY;
    if (status == GRAM_ERROR_NUMERICAL) return GRAM_OK;
    if (status < 0) return status;
    if (t->criterion == GRAM_CRITERION_ML)
        likelihood(t->problem, gradient);
    else
        gcv(t->problem, gradient);
    *value = t->problem->value;
    return GRAM_OK;
}

gram_status gram_penalised_choose(gram_context *context, gram_penalised *problem, gram_criterion criterion)
{
    gram_status status = GRAM_OK;
    const int64_t d = problem->blocks;
    trial t = {.context = context, .problem = problem, .criterion = criterion};
    gram_minimise_problem search = {.n = d,
                                    .lower = problem->log_low,
                                    .upper = problem->log_high,
                                    .evaluations = MOST_TRIES,
                                    .tolerance = 1e-9 * (criterion == GRAM_CRITERION_ML ? problem->n : 1),
                                    .promise = 1e-12,
                                    .first_step = 1,
                                    .longest_step = 4,
                                    .evaluate = evaluate,
                                    .argument = &t};
    gram_minimise_report report;
    double *start = NULL, *x = NULL, *best = NULL, *inverse = NULL, least = INFINITY;
    TRY(gram_take(context, "spline: search", d * (d + 3), sizeof *start, (void **)&start));
    x = start + d;
    best = x + d;
    inverse = best + d;
    memcpy(start, problem->log_alpha, (size_t)d * sizeof *start);
    memcpy(best, start, (size_t)d * sizeof *start);
    for (int k = 0; k < STARTS; k++) { /* from smooth to rough: criteria may have several minima */
        int known = 0;
        t.starts = k;
        t.tries = 0;
        for (int64_t j = 0; j < d; j++) x[j] = start[j] - 4 * (k - 1);
        TRY(gram_minimise(context, &search, x, inverse, &known, &report));
        if (!(report.value < least)) continue;
        least = report.value;
        memcpy(best, x, (size_t)d * sizeof *best);
    }
    memcpy(problem->log_alpha, best, (size_t)d * sizeof *best);
    TRY(gram_penalised_solve(context, problem));
    problem->value = least;
done:
    gram_give(context, start);
    return status;
}
