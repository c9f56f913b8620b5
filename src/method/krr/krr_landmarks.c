/* Regression on landmarks (Nystrom; Williams and Seeger 2001, as least squares: subset of regressors).
 *
 * f = sum_j c_j k(z_j, .) over p landmarks z_j drawn from the points. With K_zz = L L' the features phi(x) = L^-1 k_z(x) make
 * the penalty |c|^2, so that this is ridge regression on Phi (n x p): (Phi'W Phi + n lambda I) c = Phi'W (y - b). Rows go by
 * in chunks, and only the products of the augmented features [Phi, 1, y] with each other are kept: p^2 numbers. The
 * intercept is eliminated by centring these. O(n p^2) time.
 *
 * What the landmarks miss of the kernel is tr(K - Phi Phi') = sum_i k(x_i, x_i) - |phi_i|^2. */
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include <gram/random.h>

#include "base/lapack.h"
#include "base/sweep.h"
#include "method/krr/krr_solution.h"
#include "points/points.h"
#include "solve/solver_plan.h"

enum {
    BLOCK = 256, /* rows of features, and columns of their products, that one task makes */
    LANDMARK_STREAM = 0x6c616e64
};

static const double LEAST_JITTER = 1e-15, MOST_JITTER = 1e-6; /* of the mean diagonal */

typedef struct landmarks {
    const gram_problem *problem;
    int64_t p;        /* landmarks */
    int64_t width;    /* p + 1 + m: the augmented features */
    double *factor;   /* L of K_zz, p x p row-major, lower */
    double *products; /* width x width, lower: of the augmented features, weighted */
    double *features; /* one chunk: rows x width */
    int64_t rows;     /* of this chunk */
    int64_t first;
    double *seen; /* |phi_i|^2 of each row of the chunk, unweighted */
    double missed, trace;
} landmarks;

/* ---- landmarks and their factor ---- */

/* p of n rows, drawn without replacement by the seed, in order. */
static gram_status choose(gram_context *context, const gram_problem *problem, int64_t p, gram_solution *s)
{
    gram_status status = GRAM_OK;
    const int64_t n = problem->n, d = problem->d;
    int64_t chosen = 0;
    TRY(gram_take(context, "landmarks", p * d, sizeof(double), (void **)&s->landmarks));
    const gram_random random = {gram_context_seed(context), LANDMARK_STREAM};
    for (int64_t i = 0; i < n && chosen < p; i++) { /* selection sampling: each row with the chance that is left */
        double chance;
        gram_random_uniform(random, (uint64_t)i, 1, &chance);
        if (chance * (double)(n - i) >= (double)(p - chosen)) continue;
        for (int64_t l = 0; l < d; l++) s->landmarks[chosen * d + l] = gram_points_at(problem->x, i, l);
        chosen++;
    }
    TRY(gram_points_create_f64(context, p, d, s->landmarks, d, &s->centres));
done:
    return status;
}

/* K_zz = L L', with the least jitter of powers of ten that makes it so. */
static gram_status factor_landmarks(gram_context *context, landmarks *l, gram_solution *s)
{
    gram_status status = GRAM_OK;
    const int p = (int)l->p;
    double mean = 0, jitter = 0;
    int info = 1;
    while (info != 0) {
        TRY(gram_matrix(context, l->problem->kernel, s->centres, NULL, l->factor, p));
        if (mean == 0)
            for (int64_t i = 0; i < p; i++) mean += l->factor[i * p + i] / p;
        FAIL_IF(jitter > MOST_JITTER * mean, context, GRAM_ERROR_NUMERICAL,
                "krr_fit: the Gram matrix of %d landmarks is not positive definite with a jitter of %g", p, jitter);
        for (int64_t i = 0; i < p; i++) l->factor[i * p + i] += jitter;
        const int blas = gram_blas_enter();
        dpotrf_("U", &p, l->factor, &p, &info, 1); /* the row-major lower triangle */
        gram_blas_leave(blas);
        if (info != 0) jitter = jitter == 0 ? LEAST_JITTER * mean : 10 * jitter;
    }
    s->jitter = jitter;
done:
    return status;
}

/* ---- one chunk ---- */

/* phi = L^-1 k_z for the rows of a block, then their weights. */
static gram_status feature_task(void *argument, const gram_worker *worker)
{
    const landmarks *l = argument;
    const gram_problem *problem = l->problem;
    const int64_t from = worker->task * BLOCK, to = from + BLOCK < l->rows ? from + BLOCK : l->rows;
    double *rows = l->features + from * l->width;
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)(to - from), (int)l->p, 1,
                l->factor, (int)l->p, rows, (int)l->width);
    for (int64_t r = from; r < to; r++, rows += l->width) {
        const int64_t i = l->first + r;
        const double root = sqrt(gram_problem_weight(problem, i));
        l->seen[r] = cblas_ddot((int)l->p, rows, 1, rows, 1);
        rows[l->p] = 1;
        memcpy(rows + l->p + 1, problem->y + i * problem->m, (size_t)problem->m * sizeof *rows);
        if (problem->weights) cblas_dscal((int)l->width, root, rows, 1);
    }
    return GRAM_OK;
}

/* products += features' features: task (i, j) owns a block of them. */
static gram_status product_task(void *argument, const gram_worker *worker)
{
    const landmarks *l = argument;
    const int64_t blocks = (l->width + BLOCK - 1) / BLOCK;
    const int64_t i = worker->task / blocks * BLOCK, j = worker->task % blocks * BLOCK;
    if (j > i) return GRAM_OK;
    const int64_t height = l->width - i < BLOCK ? l->width - i : BLOCK,
                  width = l->width - j < BLOCK ? l->width - j : BLOCK;
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)height, (int)width, (int)l->rows, 1, l->features + i,
                (int)l->width, l->features + j, (int)l->width, 1, l->products + i * l->width + j, (int)l->width);
    return GRAM_OK;
}

static gram_status add_chunk(gram_context *context, landmarks *l, const gram_solution *s, double share)
{
    gram_status status = GRAM_OK;
    const gram_problem *problem = l->problem;
    const gram_points *x = problem->x;
    const int64_t blocks = (l->width + BLOCK - 1) / BLOCK;
    gram_points *part = NULL;
    double *diagonal = NULL;
    TRY(gram_take(context, "chunk of points", l->rows, sizeof(double), (void **)&diagonal));
    TRY(gram_points_create_f64(context, l->rows, x->d, x->f64 + l->first * x->ld, x->ld, &part));
    TRY(gram_matrix(context, problem->kernel, part, s->centres, l->features, l->width));
    TRY(gram_matrix_diagonal(context, problem->kernel, part, diagonal));
    const double next = share + (double)l->rows / (double)problem->n;
    gram_sweep sweep = {.what = "landmarks",
                        .tasks = (l->rows + BLOCK - 1) / BLOCK,
                        .run = feature_task,
                        .argument = l,
                        .share_before = share,
                        .share_after = (share + next) / 2};
    TRY(gram_sweep_run(context, &sweep));
    sweep.tasks = blocks * blocks;
    sweep.run = product_task;
    sweep.share_before = (share + next) / 2;
    sweep.share_after = next;
    TRY(gram_sweep_run(context, &sweep));
    for (int64_t r = 0; r < l->rows; r++) {
        l->trace += diagonal[r];
        l->missed += diagonal[r] > l->seen[r] ? diagonal[r] - l->seen[r] : 0;
    }
done:
    gram_give(context, diagonal);
    gram_points_release(part);
    return status;
}

/* ---- the normal equations ---- */

/* Takes the weighted means off the products of features and targets. */
static void centre(const landmarks *l, double *at)
{
    const int64_t p = l->p, width = l->width;
    const double total = at[p * width + p];
    for (int64_t i = 0; i < width; i++) {
        if (i == p) continue;
        const double mean = (i < p ? at[p * width + i] : at[i * width + p]) / total;
        for (int64_t j = 0; j <= i; j++)
            if (j != p) at[i * width + j] -= mean * (j < p ? at[p * width + j] : at[j * width + p]);
    }
}

/* b = (mean of y) - c'(mean of phi), before `coefficients` become those of the functions. */
static void set_constants(const landmarks *l, const double *means, const double *c, gram_solution *s)
{
    const int64_t m = l->problem->m;
    for (int64_t o = 0; o < m; o++) {
        s->b[o] = means[l->p + 1 + o];
        for (int64_t j = 0; j < l->p; j++) s->b[o] -= c[j * m + o] * means[j];
    }
}

static void copy_means(const landmarks *l, double *means)
{
    const int64_t p = l->p, width = l->width;
    const double total = l->products[p * width + p];
    for (int64_t i = 0; i < width; i++)
        means[i] = (i < p ? l->products[p * width + i] : l->products[i * width + p]) / total;
}

/* The factor takes the lower triangle; the upper one keeps G + n lambda I, without its diagonal. */
static void mirror(const landmarks *l, double *diagonal)
{
    const int64_t p = l->p, width = l->width;
    for (int64_t i = 0; i < p; i++) {
        diagonal[i] = l->products[i * width + i];
        for (int64_t j = 0; j < i; j++) l->products[j * width + i] = l->products[i * width + j];
    }
}

/* |g - (G + n lambda I) c|/|g|, the worst output. */
static double reduced_error(const landmarks *l, const double *diagonal, const double *c)
{
    const int64_t p = l->p, width = l->width, m = l->problem->m;
    double worst = 0;
    for (int64_t o = 0; o < m; o++) {
        double left = 0, size = 0;
        for (int64_t i = 0; i < p; i++) {
            const double right = l->products[(p + 1 + o) * width + i];
            double sum = right - diagonal[i] * c[i * m + o];
            for (int64_t j = 0; j < i; j++) sum -= l->products[j * width + i] * c[j * m + o];
            for (int64_t j = i + 1; j < p; j++) sum -= l->products[i * width + j] * c[j * m + o];
            left += sum * sum;
            size += right * right;
        }
        if (size > 0) worst = fmax(worst, sqrt(left / size));
    }
    return worst;
}

/* A pivot below the rounding of the products is made of it, and so is the solution; a ridge above that lifts all of them. */
static int is_lost(const landmarks *l, const double *diagonal)
{
    double trace = 0, least = INFINITY;
    for (int64_t i = 0; i < l->p; i++) {
        const double root = l->products[i * l->width + i];
        trace += diagonal[i];
        least = fmin(least, root * root);
    }
    return !(least > DBL_EPSILON * trace);
}

/* (G + n lambda I) c = g in place of the products; a = L^-T c. */
static gram_status solve(gram_context *context, landmarks *l, gram_solution *s)
{
    gram_status status = GRAM_OK;
    const int64_t p = l->p, width = l->width, m = l->problem->m;
    const double ridge = l->problem->ridge[0] * gram_problem_weight(l->problem, 0);
    const int size = (int)p, lda = (int)width;
    double *means = NULL, *diagonal = NULL, *at = l->products;
    int info = 0;
    TRY(gram_take(context, "means of features", width, sizeof(double), (void **)&means));
    TRY(gram_take(context, "normal equations", p, sizeof(double), (void **)&diagonal));
    copy_means(l, means);
    if (s->intercept) centre(l, at);
    for (int64_t i = 0; i < p; i++) {
        at[i * width + i] += ridge;
        for (int64_t o = 0; o < m; o++) s->a[i * m + o] = at[(p + 1 + o) * width + i];
    }
    mirror(l, diagonal);
    const int blas = gram_blas_enter();
    dpotrf_("U", &size, at, &lda, &info, 1);
    const int solved = info == 0 && !is_lost(l, diagonal);
    if (solved) {
        for (int transposed = 0; transposed < 2; transposed++)
            cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, transposed ? CblasTrans : CblasNoTrans, CblasNonUnit,
                        size, (int)m, 1, at, lda, s->a, (int)m);
        s->reduced_error = reduced_error(l, diagonal, s->a);
        if (s->intercept) set_constants(l, means, s->a, s);
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, size, (int)m, 1, l->factor, size,
                    s->a, (int)m);
    }
    gram_blas_leave(blas);
    FAIL_IF(!solved, context, GRAM_ERROR_NUMERICAL,
            "krr_fit: the normal equations of %lld landmarks are singular to working precision; a larger lambda helps",
            (long long)p);
done:
    gram_give(context, diagonal);
    gram_give(context, means);
    return status;
}

static gram_status accumulate(gram_context *context, landmarks *l, const gram_solution *s)
{
    gram_status status = GRAM_OK;
    const int64_t n = l->problem->n;
    memset(l->products, 0, (size_t)(l->width * l->width) * sizeof(double));
    for (l->first = 0; l->first < n; l->first += GRAM_PLAN_CHUNK) {
        l->rows = n - l->first < GRAM_PLAN_CHUNK ? n - l->first : GRAM_PLAN_CHUNK;
        TRY(add_chunk(context, l, s, (double)l->first / (double)n));
    }
done:
    return status;
}

gram_status gram_solve_landmarks(gram_context *context, const gram_problem *problem, gram_solution *s)
{
    gram_status status = GRAM_OK;
    const int64_t p = s->plan.landmarks < problem->n ? s->plan.landmarks : problem->n;
    landmarks l = {.problem = problem, .p = p, .width = p + 1 + problem->m};
    const int64_t chunk = problem->n < GRAM_PLAN_CHUNK ? problem->n : GRAM_PLAN_CHUNK;
    TRY(choose(context, problem, p, s));
    TRY(gram_take(context, "factor of landmarks", p * p, sizeof(double), (void **)&l.factor));
    TRY(gram_take(context, "products of features", l.width * l.width, sizeof(double), (void **)&l.products));
    TRY(gram_take(context, "features", chunk * l.width, sizeof(double), (void **)&l.features));
    TRY(gram_take(context, "features", chunk, sizeof(double), (void **)&l.seen));
    TRY(factor_landmarks(context, &l, s));
    TRY(accumulate(context, &l, s));
    for (int64_t o = 0; o < problem->m; o++) s->b[o] = 0;
    TRY(solve(context, &l, s));
    s->rank = p;
    s->trace_error = l.trace > 0 ? l.missed / l.trace : 0;
done:
    gram_give(context, l.factor);
    gram_give(context, l.products);
    gram_give(context, l.features);
    gram_give(context, l.seen);
    return status;
}
