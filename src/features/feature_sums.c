/* Sums over rows, and ridge regression from them. See feature_sums.h.
 *
 * GCV for every lambda comes from one eigendecomposition G = V S V': with h = V'g and m = n lambda,
 *
 *     squares = y'y - sum_j h_j^2 (s_j + 2 m)/(s_j + m)^2,     df = sum_j s_j/(s_j + m) (and 1 for an intercept),
 *     GCV = n squares/(n - df)^2                               (Golub, Heath and Wahba 1979)
 *
 * over lambda in powers of two, then in sixteenths of them about the best. */
#include "features/feature_sums.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include <gram/eigen.h>
#include <gram/matrix.h>

#include "base/lapack.h"
#include "base/ranks/collective.h"
#include "base/sweep.h"

enum {
    CHUNK = 1024, /* rows whose features are held at once */
    BLOCK = 256,  /* columns of the products that one task makes */
    OCTAVES = 44, /* of lambda that are looked at */
    FINE = 16     /* values in each, in the end */
};

gram_status gram_feature_sums_take(gram_context *context, int64_t dimension, int64_t outputs, const double *offset,
                                   gram_feature_sums *sums)
{
    gram_status status = GRAM_OK;
    const int64_t width = dimension + 1 + outputs;
    *sums = (gram_feature_sums){.dimension = dimension, .outputs = outputs, .width = width};
    TRY(gram_take(context, "sums of features", width * width, sizeof(double), (void **)&sums->products));
    TRY(gram_take(context, "sums of features", outputs, sizeof(double), (void **)&sums->offset));
    memset(sums->products, 0, (size_t)(width * width) * sizeof(double));
    memcpy(sums->offset, offset, (size_t)outputs * sizeof(double));
done:
    return status;
}

void gram_feature_sums_free(gram_context *context, gram_feature_sums *sums)
{
    gram_give(context, sums->products);
    gram_give(context, sums->offset);
    gram_give(context, sums->chunk);
    *sums = (gram_feature_sums){0};
}

double gram_feature_sums_bytes(int64_t dimension, int64_t outputs)
{
    const double width = (double)(dimension + 1 + outputs);
    return 8 * (3 * width * width + CHUNK * width + 64 * width);
}

/* ---- rows ---- */

typedef struct rows_work {
    const gram_feature_sums *sums;
    int64_t rows;
} rows_work;

/* products += chunk' chunk: task (i, j) owns a block of them. */
static gram_status product_task(void *argument, const gram_worker *worker)
{
    const rows_work *work = argument;
    const gram_feature_sums *s = work->sums;
    const int64_t w = s->width, blocks = (w + BLOCK - 1) / BLOCK;
    const int64_t i = worker->task / blocks * BLOCK, j = worker->task % blocks * BLOCK;
    if (j > i) return GRAM_OK;
    const int64_t height = w - i < BLOCK ? w - i : BLOCK, width = w - j < BLOCK ? w - j : BLOCK;
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)height, (int)width, (int)work->rows, 1, s->chunk + i,
                (int)w, s->chunk + j, (int)w, 1, s->products + i * w + j, (int)w);
    return GRAM_OK;
}

/* What the features miss of k(x, x), before weights are put to them. */
static gram_status measure(gram_context *context, const gram_features *map, int64_t rows, const double *x, int64_t ldx,
                           const double *weights, gram_feature_sums *s)
{
    gram_status status = GRAM_OK;
    double diagonal[CHUNK];
    gram_points *points = NULL;
    TRY(gram_points_create_f64(context, rows, gram_features_get_report(map)->d, x, ldx, &points));
    TRY(gram_matrix_diagonal(context, gram_features_kernel(map), points, diagonal));
    for (int64_t i = 0; i < rows; i++) {
        const double *z = s->chunk + i * s->width;
        double seen = 0;
        if (weights && !(weights[i] > 0)) continue;
        for (int64_t j = 0; j < s->dimension; j++) seen += z[j] * z[j];
        s->n++;
        s->trace += diagonal[i];
        s->missed += diagonal[i] > seen ? diagonal[i] - seen : 0;
        s->radius = fmax(s->radius, diagonal[i]);
    }
done:
    gram_points_release(points);
    return status;
}

static void augment(const gram_feature_sums *s, int64_t rows, const double *y, const double *weights)
{
    for (int64_t i = 0; i < rows; i++) {
        double *z = s->chunk + i * s->width;
        const double root = weights ? sqrt(weights[i]) : 1;
        z[s->dimension] = 1;
        for (int64_t o = 0; o < s->outputs; o++) z[s->dimension + 1 + o] = y[i * s->outputs + o] - s->offset[o];
        for (int64_t j = 0; weights && j < s->width; j++) z[j] *= root;
    }
}

gram_status gram_feature_sums_add(gram_context *context, const gram_features *map, int64_t n, const double *x,
                                  int64_t ldx, const double *y, const double *weights, gram_feature_sums *s)
{
    gram_status status = GRAM_OK;
    const int64_t blocks = (s->width + BLOCK - 1) / BLOCK;
    if (!s->chunk) TRY(gram_take(context, "features", CHUNK * s->width, sizeof(double), (void **)&s->chunk));
    for (int64_t first = 0; first < n; first += CHUNK) {
        rows_work work = {s, n - first < CHUNK ? n - first : CHUNK};
        const double *own = weights ? weights + first : NULL;
        TRY(gram_features_transform(context, map, work.rows, x + first * ldx, ldx, s->chunk, s->width));
        TRY(measure(context, map, work.rows, x + first * ldx, ldx, own, s));
        augment(s, work.rows, y + first * s->outputs, own);
        const gram_sweep sweep = {
            .what = "sums of features", .tasks = blocks * blocks, .run = product_task, .argument = &work};
        TRY(gram_sweep_run(context, &sweep));
    }
done:
    return status;
}

gram_status gram_feature_sums_join(gram_context *context, gram_feature_sums *s)
{
    gram_status status = GRAM_OK;
    double few[3] = {(double)s->n, s->trace, s->missed}, radius = -s->radius;
    const double rows = few[0], width = (double)s->width;
    if (gram_ranks(context) == 1) return GRAM_OK;
    TRY(gram_ranks_sum(context, "sums of features", s->width * s->width, s->products));
    TRY(gram_ranks_sum(context, "sums of features", 3, few));
    TRY(gram_ranks_least(context, &radius));
    s->n = (int64_t)few[0];
    s->trace = few[1];
    s->missed = few[2];
    s->radius = -radius;
    gram_ranks_note(context, "sums over rows", rows * width * width);
done:
    return status;
}

void gram_feature_sums_merge(gram_feature_sums *sums, const gram_feature_sums *other)
{
    for (int64_t i = 0; i < sums->width; i++)
        for (int64_t j = 0; j <= i; j++) sums->products[i * sums->width + j] += other->products[i * sums->width + j];
    sums->n += other->n;
    sums->trace += other->trace;
    sums->missed += other->missed;
    sums->radius = fmax(sums->radius, other->radius);
}

/* ---- the equations ---- */

/* G, g (dimension x outputs), means of z and y: centred if there is an intercept. */
typedef struct equations {
    int64_t d, m;
    double *g;               /* d x m */
    double *means;           /* d + m */
    double *matrix;          /* d x d, lower */
    double variation, total; /* of y */
    double plain;            /* y'y, centred only with an intercept */
} equations;

/* Sum of the products of column i of [z, 1, y] with the ones. */
static double sum_of(const gram_feature_sums *s, int64_t i)
{
    const int64_t d = s->dimension;
    return i <= d ? s->products[d * s->width + i] : s->products[i * s->width + d];
}

static gram_status take_equations(gram_context *context, const gram_feature_sums *s, int intercept, equations *e)
{
    gram_status status = GRAM_OK;
    const int64_t d = s->dimension, m = s->outputs, w = s->width;
    *e = (equations){.d = d, .m = m, .total = sum_of(s, d)};
    TRY(gram_take(context, "normal equations", d * d, sizeof(double), (void **)&e->matrix));
    TRY(gram_take(context, "normal equations", d * m, sizeof(double), (void **)&e->g));
    TRY(gram_take(context, "normal equations", d + m, sizeof(double), (void **)&e->means));
    for (int64_t i = 0; i < d + m; i++) e->means[i] = sum_of(s, i < d ? i : i + 1) / e->total;
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j <= i; j++)
            e->matrix[i * d + j] = s->products[i * w + j] - (intercept ? e->means[i] * e->means[j] * e->total : 0);
    for (int64_t o = 0; o < m; o++) {
        const double *row = s->products + (d + 1 + o) * w, mean = e->means[d + o];
        for (int64_t i = 0; i < d; i++) e->g[i * m + o] = row[i] - (intercept ? mean * e->means[i] * e->total : 0);
        const double square = row[d + 1 + o], about = fmax(square - mean * mean * e->total, 0);
        e->variation += about;
        e->plain += intercept ? about : square;
    }
done:
    return status;
}

static void give_equations(gram_context *context, equations *e)
{
    gram_give(context, e->matrix);
    gram_give(context, e->g);
    gram_give(context, e->means);
}

static void set_constants(const gram_feature_sums *s, const equations *e, int intercept, gram_sums_ridge *r)
{
    for (int64_t o = 0; o < e->m; o++) {
        r->b[o] = intercept ? s->offset[o] + e->means[e->d + o] : 0;
        for (int64_t j = 0; intercept && j < e->d; j++) r->b[o] -= r->c[j * e->m + o] * e->means[j];
    }
}

/* ---- a given lambda ---- */

/* c'Gc and 2 c'g from (G + m I) c = g: c'Gc = c'g - m |c|^2. */
static void measure_solution(const equations *e, double noise, gram_sums_ridge *r)
{
    double product = 0, square = 0;
    for (int64_t i = 0; i < e->d * e->m; i++) {
        product += r->c[i] * e->g[i];
        square += r->c[i] * r->c[i];
    }
    r->squares = fmax(e->plain - product - noise * square, 0);
    r->variation = e->variation;
    r->total = e->total;
    r->norm = sqrt(square);
    r->gcv = NAN;
}

/* |g - (G + m I) c|/|g|, the worst output; the upper triangle has G, `diagonal` its diagonal with the ridge. */
static double residual_of(const equations *e, const double *diagonal, const double *c)
{
    double worst = 0;
    for (int64_t o = 0; o < e->m; o++) {
        double left = 0, size = 0;
        for (int64_t i = 0; i < e->d; i++) {
            double sum = e->g[i * e->m + o] - diagonal[i] * c[i * e->m + o];
            for (int64_t j = 0; j < i; j++) sum -= e->matrix[j * e->d + i] * c[j * e->m + o];
            for (int64_t j = i + 1; j < e->d; j++) sum -= e->matrix[i * e->d + j] * c[j * e->m + o];
            left += sum * sum;
            size += e->g[i * e->m + o] * e->g[i * e->m + o];
        }
        if (size > 0) worst = fmax(worst, sqrt(left / size));
    }
    return worst;
}

static gram_status solve_given(gram_context *context, const gram_feature_sums *s, equations *e, gram_sums_ridge *r)
{
    gram_status status = GRAM_OK;
    const int64_t d = e->d, m = e->m;
    const double noise = r->lambda * (double)s->n;
    const int size = (int)d;
    double *diagonal = NULL, trace = 0, least = INFINITY;
    int info = 0;
    TRY(gram_take(context, "normal equations", d, sizeof *diagonal, (void **)&diagonal));
    for (int64_t i = 0; i < d; i++) {
        e->matrix[i * d + i] += noise;
        diagonal[i] = e->matrix[i * d + i];
        trace += diagonal[i];
        for (int64_t j = 0; j < i; j++) e->matrix[j * d + i] = e->matrix[i * d + j];
    }
    memcpy(r->c, e->g, (size_t)(d * m) * sizeof *r->c);
    const int blas = gram_blas_enter();
    dpotrf_("U", &size, e->matrix, &size, &info, 1); /* the row-major lower triangle */
    for (int transposed = 0; transposed < 2 && info == 0; transposed++)
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, transposed ? CblasTrans : CblasNoTrans, CblasNonUnit, size,
                    (int)m, 1, e->matrix, size, r->c, (int)m);
    gram_blas_leave(blas);
    for (int64_t i = 0; i < d && info == 0; i++) least = fmin(least, e->matrix[i * d + i] * e->matrix[i * d + i]);
    FAIL_IF(info != 0 || !(least > DBL_EPSILON * trace), context, GRAM_ERROR_NUMERICAL,
            "krr: the normal equations of %lld features are singular to working precision; a larger lambda helps",
            (long long)d);
    r->residual = residual_of(e, diagonal, r->c);
    r->effective_dimension = NAN;
    measure_solution(e, noise, r);
done:
    gram_give(context, diagonal);
    return status;
}

/* ---- lambda by GCV ---- */

typedef struct spectrum {
    const equations *e;
    double *values, *vectors; /* eigenvector j in row j */
    double *h;                /* d x m: V'g */
    double n;
    int intercept;
} spectrum;

static double squares_at(const spectrum *p, double noise)
{
    const int64_t m = p->e->m;
    double squares = p->e->plain;
    for (int64_t j = 0; j < p->e->d; j++) {
        const double s = fmax(p->values[j], 0), below = s + noise;
        for (int64_t o = 0; o < m; o++)
            squares -= p->h[j * m + o] * p->h[j * m + o] * (s + 2 * noise) / (below * below);
    }
    return fmax(squares, 0);
}

static double dimension_at(const spectrum *p, double noise)
{
    double df = 0;
    for (int64_t j = 0; j < p->e->d; j++) df += fmax(p->values[j], 0) / (fmax(p->values[j], 0) + noise);
    return df;
}

static double gcv_at(const spectrum *p, double noise)
{
    const double left = p->n - dimension_at(p, noise) - p->intercept;
    return left > 0 ? p->n * squares_at(p, noise) / (left * left) : INFINITY;
}

/* lambda = 2^(k/FINE) for whole k: rounding errors of the sums, which depend on how rows were parted, do not move it. */
static double choose_noise(const spectrum *p)
{
    const double top = log2(fmax(p->values[0], DBL_MIN) / p->n);
    const int high = (int)ceil(FINE * (top + 4)), low = high - FINE * OCTAVES;
    double best = INFINITY;
    int at = low;
    for (int step = FINE; step > 0; step = step > 1 ? 1 : 0) {
        const int from = step > 1 ? low : at - FINE + 1, to = step > 1 ? high : at + FINE - 1;
        for (int k = from; k <= to; k += step) {
            const double value = gcv_at(p, p->n * exp2((double)k / FINE));
            if (value < best) best = value, at = k;
        }
    }
    return p->n * exp2((double)at / FINE);
}

static gram_status solve_chosen(gram_context *context, const gram_feature_sums *s, equations *e, int intercept,
                                gram_sums_ridge *r)
{
    gram_status status = GRAM_OK;
    const int64_t d = e->d, m = e->m;
    spectrum p = {.e = e, .n = (double)s->n, .intercept = intercept};
    TRY(gram_take(context, "eigenvectors", d * d, sizeof(double), (void **)&p.vectors));
    TRY(gram_take(context, "eigenvalues", d, sizeof(double), (void **)&p.values));
    TRY(gram_take(context, "eigenvalues", d * m, sizeof(double), (void **)&p.h));
    TRY(gram_eigen_symmetric(context, d, e->matrix, d, 0, d, p.values, p.vectors, d));
    const int blas = gram_blas_enter();
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)d, (int)m, (int)d, 1, p.vectors, (int)d, e->g, (int)m,
                0, p.h, (int)m);
    const double noise = choose_noise(&p);
    r->lambda = noise / p.n;
    r->effective_dimension = dimension_at(&p, noise);
    const double gcv = gcv_at(&p, noise), squares = squares_at(&p, noise);
    for (int64_t j = 0; j < d; j++)
        for (int64_t o = 0; o < m; o++) p.h[j * m + o] /= fmax(p.values[j], 0) + noise;
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)d, (int)m, (int)d, 1, p.vectors, (int)d, p.h, (int)m, 0,
                r->c, (int)m);
    gram_blas_leave(blas);
    measure_solution(e, noise, r);
    r->squares = squares;
    r->gcv = gcv;
    r->residual = NAN;
done:
    gram_give(context, p.vectors);
    gram_give(context, p.values);
    gram_give(context, p.h);
    return status;
}

gram_status gram_feature_sums_solve(gram_context *context, const gram_feature_sums *sums, int intercept,
                                    gram_sums_ridge *ridge)
{
    gram_status status = GRAM_OK;
    equations e = {0};
    TRY(take_equations(context, sums, intercept, &e));
    TRY(isnan(ridge->lambda) ? solve_chosen(context, sums, &e, intercept, ridge)
                             : solve_given(context, sums, &e, ridge));
    set_constants(sums, &e, intercept, ridge);
done:
    give_equations(context, &e);
    return status;
}
