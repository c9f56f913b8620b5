/* The collapsed bound and its gradient, rows in blocks.
 *
 * L L' = K_zz, phi_i = D_i^-1/2 L^-1 k_z(x_i) (rows of Phi), B = I + Phi'Phi = L_B L_B', and with A = Q + D:
 *
 *     A^-1    = D^-1/2 (I - Phi B^-1 Phi') D^-1/2
 *     log |A| = log |D| + log |B|,   (k_ii - q_ii)/D_i = k_ii/D_i - |phi_i|^2
 *
 * One pass over the rows makes Phi'Phi, Phi'D^-1/2 [T, y] and [T, y]'D^-1 [T, y], which are all that the value needs.
 *
 * Gradient. With a = A^-1 (y - T beta) (and g = A^-1 T L_small^-T, with a flat mean) the bound changes with Q by
 * tr(W_Q dQ), W_Q = (a a' + g g' - A^-1 + D^-1)/2 = (a a' + g g' + D^-1/2 Phi B^-1 Phi' D^-1/2)/2, where the D^-1 is that of
 * the trace. From dQ follow the weights of the pairs, with R = K_zz^-1 K_zx and (I - B^-1) = B^-1 Phi'Phi:
 *
 *     of K_xz:  W = 2 W_Q R' = a (R a)' + g (R g)' + D^-1/2 Phi (I - B^-1) L^-1
 *     of K_zz:  V = -R W_Q R' = -((R a)(R a)' + (R g)(R g)' + L^-T (B - I) (I - B^-1) L^-1)/2
 *     of k_ii:  -1/(2 D_i)
 *     of D_i:   (a_i^2 + g_i^2 - (1 - phi_i'B^-1 phi_i)/D_i)/2 + (k_ii - q_ii)/(2 D_i^2)
 *
 * A second pass over the rows contracts them block by block. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/matrix.h>
#include <gram/text.h>

#include "base/lapack.h"
#include "base/sweep.h"
#include "method/gp/inducing/gp_inducing.h"
#include "points/points.h"

enum {
    CHUNK = 2048, /* rows of a block */
    ROWS = 64,    /* of a task */
    WIDE = 192,   /* columns of Phi'Phi in a task */
    DIAGONAL = 32 /* rows of a contraction of the diagonal */
};
static const double MOST_JITTER = 1e-4, DEPENDENT = 1e-10;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- memory ---- */

gram_status gram_inducing_take(gram_context *context, int64_t m, gram_inducing *s)
{
    gram_status status = GRAM_OK;
    const int64_t q = s->base.q, d = s->base.d;
    const int64_t size = m * (d + 2 * m + 2 * (q + 1) + 2 + q) + q * (q + 1);
    FAIL_IF(m > 1 << 15, context, GRAM_ERROR_ARGUMENT, "gp_inducing: %lld inducing points, at most 32768",
            (long long)m);
    TRY(gram_take(context, "gp_inducing", size, sizeof(double), (void **)&s->numbers));
    s->size = size;
    s->m = m;
    s->positions = s->numbers;
    s->factor = s->positions + m * d;
    s->inner = s->factor + m * m;
    s->solved = s->inner + m * m;
    s->weights = s->solved + m * (q + 1);
    s->target = s->weights + m * (q + 1);
    s->coefficients = s->target + m;
    s->mean_weights = s->coefficients + m;
    s->base.small = s->mean_weights + m * q;
    s->base.beta = s->base.small + q * q;
done:
    return status;
}

void gram_inducing_free(gram_memory *memory, gram_inducing *s)
{
    gram_points_release(s->z);
    gram_memory_give(memory, s->numbers);
    s->z = NULL;
    s->numbers = NULL;
}

/* ---- a block of rows ---- */

typedef struct stream {
    gram_context *context;
    const gram_inducing *s;
    int64_t room, first, rows;
    gram_points *part;
    double *numbers;
    int64_t size;
    double *phi;      /* room x m: K_xz, then Phi */
    double *columns;  /* room x (q + 1): D^-1/2 [T, y] */
    double *root;     /* room: D^-1/2 */
    double *diagonal; /* room: k_ii */
    double *point;    /* d */
    /* of the first pass */
    double *square, *products; /* m x m, and (q + 1) x (q + 1): [T, y]'D^-1 [T, y] */
    double *gathered;          /* m x (q + 1): Phi'D^-1/2 [T, y] */
    /* of the second */
    const double *map; /* m x m: (I - B^-1) L^-1 */
    double *psi;       /* room x m: L_B^-1 phi, then W */
    double *turned;    /* m x room: W' */
    double *noise;     /* room: derivative by D_i */
} stream;

static gram_status open_stream(gram_context *context, const gram_inducing *s, int gradient, stream *t)
{
    gram_status status = GRAM_OK;
    const int64_t room = least(s->base.n, CHUNK), q = s->base.q, m = s->m;
    *t = (stream){.context = context, .s = s, .room = room};
    t->size = room * (m + q + 1 + 3) + s->base.d + (gradient ? 2 * room * m : 0);
    TRY(gram_take(context, "gp_inducing: a block of rows", t->size, sizeof(double), (void **)&t->numbers));
    t->phi = t->numbers;
    t->columns = t->phi + room * m;
    t->root = t->columns + room * (q + 1);
    t->diagonal = t->root + room;
    t->noise = t->diagonal + room;
    t->point = t->noise + room;
    t->psi = t->point + s->base.d;
    t->turned = t->psi + room * m;
done:
    return status;
}

static void close_stream(stream *t)
{
    gram_points_release(t->part);
    gram_give(t->context, t->numbers);
}

/* Phi of rows that are one task's. */
static void whiten_rows(const stream *t, int64_t first, int rows)
{
    const int m = (int)t->s->m;
    double *phi = t->phi + first * m;
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rows, m, 1, t->s->factor, m, phi, m);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < m; j++) phi[i * m + j] *= t->root[first + i];
}

static gram_status whiten_task(void *argument, const gram_worker *worker)
{
    const stream *t = argument;
    const int64_t first = worker->task * ROWS;
    whiten_rows(t, first, (int)least(ROWS, t->rows - first));
    return GRAM_OK;
}

/* Rows first .. first + rows - 1: their points, K_xz, diagonal, noise, [T, y]; `run` makes of it what the pass wants. */
static gram_status read_rows(stream *t, int64_t first, gram_task_fn run)
{
    gram_status status = GRAM_OK;
    const gram_inducing *s = t->s;
    const gram_gp_system *base = &s->base;
    const int64_t q = base->q, width = q + 1;
    t->first = first;
    t->rows = least(t->room, base->n - first);
    gram_points_release(t->part);
    t->part = NULL;
    TRY(gram_gp_points_part(t->context, s->x, first, t->rows, &t->part));
    TRY(gram_matrix(t->context, s->kernel, t->part, s->z, t->phi, s->m));
    TRY(gram_matrix_diagonal(t->context, s->kernel, t->part, t->diagonal));
    for (int64_t i = 0; i < t->rows; i++) {
        double *row = t->columns + i * width;
        t->root[i] = 1 / sqrt(gram_gp_row_noise(&base->options, first + i));
        gram_gp_system_rows(base, s->x, first + i, 1, base->options.basis, base->options.ld, t->point, row);
        row[q] = base->y[first + i];
        for (int64_t j = 0; j < width; j++) row[j] *= t->root[i];
    }
    const gram_sweep sweep = {.what = "inducing points",
                              .tasks = (t->rows + ROWS - 1) / ROWS,
                              .scratch_bytes = (size_t)width * sizeof(double),
                              .run = run,
                              .argument = t,
                              .share_before = (double)first / (double)base->n,
                              .share_after = (double)(first + t->rows) / (double)base->n};
    TRY(gram_sweep_run(t->context, &sweep));
done:
    return status;
}

/* ---- the value ---- */

/* A block of the lower triangle of Phi'Phi, counted row by row; the task after the last is Phi'D^-1/2 [T, y]. */
static gram_status square_task(void *argument, const gram_worker *worker)
{
    const stream *t = argument;
    const int64_t m = t->s->m, blocks = (m + WIDE - 1) / WIDE, width = t->s->base.q + 1;
    int64_t i = 0, j = worker->task;
    if (worker->task == blocks * (blocks + 1) / 2) {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)m, (int)width, (int)t->rows, 1, t->phi, (int)m,
                    t->columns, (int)width, 1, t->gathered, (int)width);
        return GRAM_OK;
    }
    while (j > i) j -= ++i;
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)least(WIDE, m - i * WIDE), (int)least(WIDE, m - j * WIDE),
                (int)t->rows, 1, t->phi + i * WIDE, (int)m, t->phi + j * WIDE, (int)m, 1,
                t->square + i * WIDE * m + j * WIDE, (int)m);
    return GRAM_OK;
}

/* What is a sum over rows: [T, y]'D^-1 [T, y], log |D| and the traces. */
static void sum_rows(const stream *t, gram_inducing *s, double *all, double *weighted)
{
    const int64_t m = s->m, width = s->base.q + 1;
    for (int64_t i = 0; i < t->rows; i++) {
        const double *row = t->columns + i * width, *phi = t->phi + i * m, inverse = t->root[i] * t->root[i];
        double explained = 0;
        for (int64_t j = 0; j < width; j++)
            for (int64_t l = 0; l <= j; l++) t->products[j * width + l] += row[j] * row[l];
        for (int64_t j = 0; j < m; j++) explained += phi[j] * phi[j];
        const double left = fmax(t->diagonal[i] - explained / inverse, 0); /* of a positive semi-definite matrix */
        s->base.log_determinant -= 2 * log(t->root[i]);
        s->value.trace += left;
        *weighted += left * inverse;
        *all += t->diagonal[i];
    }
}

static gram_status pass(stream *t, gram_inducing *s, double *weighted)
{
    gram_status status = GRAM_OK;
    const int64_t blocks = (s->m + WIDE - 1) / WIDE, width = s->base.q + 1;
    const gram_sweep square = {
        .what = "inducing points", .tasks = blocks * (blocks + 1) / 2 + 1, .run = square_task, .argument = t};
    double all = 0;
    memset(s->inner, 0, (size_t)(s->m * s->m) * sizeof(double));
    memset(s->solved, 0, (size_t)(s->m * width) * sizeof(double));
    memset(t->products, 0, (size_t)(width * width) * sizeof(double));
    t->square = s->inner;
    t->gathered = s->solved;
    for (int64_t first = 0; first < s->base.n; first += t->room) {
        TRY(read_rows(t, first, whiten_task));
        TRY(gram_sweep_run(t->context, &square));
        sum_rows(t, s, &all, weighted);
    }
    s->value.trace_share = all > 0 ? s->value.trace / all : 0;
done:
    return status;
}

/* L of K_zz with a relative jitter, more of it where that is too little. */
static gram_status factor_positions(gram_context *context, double jitter, gram_inducing *s)
{
    gram_status status = GRAM_OK;
    const int m = (int)s->m;
    int info = 1;
    for (s->value.jitter = jitter; info != 0; s->value.jitter = fmax(10 * s->value.jitter, 1e-15)) {
        FAIL_IF(s->value.jitter > MOST_JITTER, context, GRAM_ERROR_NUMERICAL,
                "gp_inducing: the matrix of the %d inducing points is not positive definite with a jitter of %g", m,
                s->value.jitter);
        TRY(gram_matrix(context, s->kernel, s->z, NULL, s->factor, m));
        s->added = 0;
        for (int64_t i = 0; i < m; i++) {
            s->added = fmax(s->added, s->value.jitter * s->factor[i * m + i]);
            s->factor[i * m + i] *= 1 + s->value.jitter;
        }
        const int blas = gram_blas_enter();
        dpotrf_("U", &m, s->factor, &m, &info, 1); /* the row-major lower triangle */
        gram_blas_leave(blas);
        if (info == 0) break;
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = i + 1; j < m; j++) s->factor[i * m + j] = 0;
done:
    return status;
}

typedef struct solving {
    gram_inducing *s;
    double *products; /* [T, y]'D^-1 [T, y], then [T, y]'A^-1 [T, y] */
} solving;

/* L_B, and from Phi'D^-1/2 [T, y] everything that the mean and the weights are made of. */
static gram_status solve_task(void *argument, const gram_worker *worker)
{
    const solving *job = argument;
    gram_inducing *s = job->s;
    const int64_t width = s->base.q + 1;
    const int m = (int)s->m, columns = (int)width;
    int info = 0;
    (void)worker;
    for (int64_t i = 0; i < m; i++) s->inner[i * m + i] += 1;
    dpotrf_("U", &m, s->inner, &m, &info, 1);
    if (info != 0) return GRAM_ERROR_NUMERICAL;
    for (int64_t i = 0; i < m; i++) {
        s->base.log_determinant += 2 * log(s->inner[i * m + i]);
        for (int64_t j = i + 1; j < m; j++) s->inner[i * m + j] = 0;
    }
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, m, columns, 1, s->inner, m, s->solved,
                columns);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < width; j++)
            for (int64_t l = 0; l <= j; l++)
                job->products[j * width + l] -= s->solved[i * width + j] * s->solved[i * width + l];
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, m, columns, 1, s->inner, m, s->solved,
                columns);
    memcpy(s->weights, s->solved, (size_t)(m * width) * sizeof(double));
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, m, columns, 1, s->factor, m, s->weights,
                columns);
    return GRAM_OK;
}

/* Columns of y - T beta. */
static void subtract_mean(gram_inducing *s)
{
    const int64_t q = s->base.q, width = q + 1;
    for (int64_t i = 0; i < s->m; i++) {
        s->target[i] = s->solved[i * width + q];
        s->coefficients[i] = s->weights[i * width + q];
        for (int64_t j = 0; j < q; j++) {
            s->target[i] -= s->solved[i * width + j] * s->base.beta[j];
            s->coefficients[i] -= s->weights[i * width + j] * s->base.beta[j];
            s->mean_weights[i * q + j] = s->weights[i * width + j];
        }
    }
}

gram_status gram_inducing_evaluate(gram_context *context, double jitter, gram_inducing *s)
{
    gram_status status = GRAM_OK;
    const int64_t width = s->base.q + 1;
    stream t = {.context = context};
    double weighted = 0;
    solving job = {.s = s};
    const gram_sweep solve = {.what = "inducing points", .tasks = 1, .run = solve_task, .argument = &job};
    s->value = (gram_gp_inducing_value){0};
    s->base.log_determinant = 0;
    gram_points_release(s->z);
    s->z = NULL;
    TRY(gram_points_create_f64(context, s->m, s->base.d, s->positions, s->base.d, &s->z));
    TRY(factor_positions(context, jitter, s));
    TRY(open_stream(context, s, 0, &t));
    TRY(gram_take(context, "gp_inducing: products", width * width, sizeof(double), (void **)&job.products));
    t.products = job.products;
    TRY(pass(&t, s, &weighted));
    status = gram_sweep_run(context, &solve);
    FAIL_IF(status == GRAM_ERROR_NUMERICAL, context, status,
            "gp_inducing: I + Phi'Phi is not positive definite to working precision: the noise is too small");
    if (status < 0) goto done;
    gram_gp_system_combine(&s->base, t.products, DEPENDENT);
    subtract_mean(s);
    s->value.log_likelihood = gram_gp_log_likelihood(&s->base);
    s->value.bound = s->value.log_likelihood - 0.5 * weighted;
done:
    close_stream(&t);
    gram_give(context, job.products);
    return status;
}

/* ---- the gradient ---- */

/* a_i and g_i of one row. */
static double row_solution(const stream *t, int64_t i, double *g)
{
    const gram_inducing *s = t->s;
    const int64_t q = s->base.q, width = q + 1;
    const double *row = t->columns + i * width, *phi = t->phi + i * s->m;
    double a = row[q];
    for (int64_t j = 0; j < q; j++) a -= row[j] * s->base.beta[j];
    a -= cblas_ddot((int)s->m, phi, 1, s->target, 1);
    for (int64_t j = 0; j < q && s->base.options.flat; j++)
        g[j] = (row[j] - cblas_ddot((int)s->m, phi, 1, s->solved + j, (int)width)) * t->root[i];
    if (s->base.options.flat) gram_gp_small_solve(&s->base, g);
    return a * t->root[i];
}

/* W and the derivative by D_i of ROWS rows; g is scratch of q numbers. */
static gram_status weigh_task(void *argument, const gram_worker *worker)
{
    const stream *t = argument;
    const gram_inducing *s = t->s;
    const int64_t first = worker->task * ROWS, m = s->m, q = s->base.options.flat ? s->base.q : 0;
    const int rows = (int)least(ROWS, t->rows - first), size = (int)m;
    double *psi = t->psi + first * m, *g = worker->scratch;
    whiten_rows(t, first, rows);
    memcpy(psi, t->phi + first * m, (size_t)(rows * m) * sizeof *psi);
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rows, size, 1, s->inner, size, psi,
                size);
    for (int64_t i = first; i < first + rows; i++) {
        const double *phi = t->phi + i * m, *own = t->psi + i * m, inverse = t->root[i] * t->root[i];
        const double left = t->diagonal[i] * inverse - cblas_ddot(size, phi, 1, phi, 1);
        t->noise[i] = 0.5 * inverse * (left - (1 - cblas_ddot(size, own, 1, own, 1)));
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, size, size, 1, t->phi + first * m, size, t->map, size,
                0, psi, size);
    for (int64_t i = first; i < first + rows; i++) {
        double *own = t->psi + i * m;
        const double a = row_solution(t, i, g);
        t->noise[i] += 0.5 * a * a;
        for (int64_t j = 0; j < m; j++) own[j] = own[j] * t->root[i] + a * s->coefficients[j];
        for (int64_t k = 0; k < q; k++) {
            t->noise[i] += 0.5 * g[k] * g[k];
            for (int64_t j = 0; j < m; j++) own[j] += g[k] * t->gathered[j * q + k];
        }
        for (int64_t j = 0; j < m; j++) t->turned[j * t->rows + i] = own[j];
    }
    return GRAM_OK;
}

/* sum_i w_i dk(x_i, x_i)/dtheta, added to `out`; `part` has room for as many numbers. */
static gram_status add_diagonal(const stream *t, int stationary, double *part, double *out)
{
    gram_status status = GRAM_OK;
    const int64_t parameters = gram_kernel_parameter_count(t->s->kernel), step = stationary ? t->rows : DIAGONAL;
    double dense[DIAGONAL * DIAGONAL];
    gram_points *points = NULL;
    for (int64_t first = 0; first < t->rows; first += step) {
        const int64_t rows = least(step, t->rows - first), used = stationary ? 1 : rows;
        memset(dense, 0, sizeof dense);
        for (int64_t i = 0; i < rows; i++)
            dense[stationary ? 0 : i * DIAGONAL + i] -= 0.5 * t->root[first + i] * t->root[first + i];
        TRY(gram_gp_points_part(t->context, t->part, first, used, &points));
        const gram_weights weights = {.dense = dense, .ld = DIAGONAL};
        TRY(gram_matrix_parameter_gradient(t->context, t->s->kernel, points, NULL, &weights, part));
        for (int64_t p = 0; p < parameters; p++) out[p] += part[p];
        gram_points_release(points);
        points = NULL;
    }
done:
    gram_points_release(points);
    return status;
}

/* (I - B^-1) L^-1 to map, and V, the weights of K_zz, to v. */
typedef struct small_weights {
    const gram_inducing *s;
    const double *spread; /* m x q: R g; NULL unless flat */
    double *map, *v;
} small_weights;

static gram_status small_task(void *argument, const gram_worker *worker)
{
    const small_weights *job = argument;
    const gram_inducing *s = job->s;
    const int64_t m = s->m, q = job->spread ? s->base.q : 0;
    const int size = (int)m;
    double *map = job->map, *v = job->v;
    (void)worker;
    memset(map, 0, (size_t)(m * m) * sizeof *map);
    for (int64_t i = 0; i < m; i++) map[i * m + i] = 1;
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, size, size, 1, s->factor, size, map,
                size);
    memcpy(v, map, (size_t)(m * m) * sizeof *v);
    for (int transposed = 0; transposed < 2; transposed++)
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, transposed ? CblasTrans : CblasNoTrans, CblasNonUnit, size,
                    size, 1, s->inner, size, v, size);
    for (int64_t i = 0; i < m * m; i++) map[i] -= v[i];
    memcpy(v, map, (size_t)(m * m) * sizeof *v); /* (B - I) map = L_B L_B' map - map */
    for (int transposed = 1; transposed >= 0; transposed--)
        cblas_dtrmm(CblasRowMajor, CblasLeft, CblasLower, transposed ? CblasTrans : CblasNoTrans, CblasNonUnit, size,
                    size, 1, s->inner, size, v, size);
    for (int64_t i = 0; i < m * m; i++) v[i] -= map[i];
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, size, size, 1, s->factor, size, v,
                size);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = 0.5 * (v[i * m + j] + v[j * m + i]) + s->coefficients[i] * s->coefficients[j];
            for (int64_t k = 0; k < q; k++) sum += job->spread[i * q + k] * job->spread[j * q + k];
            v[i * m + j] = v[j * m + i] = -0.5 * sum * (i == j ? 1 + s->value.jitter : 1);
        }
    return GRAM_OK;
}

/* One block of rows contracted: by parameters, the noise, and positions. */
static gram_status contract_block(stream *t, int stationary, double *part, double *gradient, double *position_part,
                                  double *positions)
{
    gram_status status = GRAM_OK;
    const gram_inducing *s = t->s;
    const int64_t parameters = gram_kernel_parameter_count(s->kernel), m = s->m;
    const gram_weights weights = {.dense = t->psi, .ld = m}, turned = {.dense = t->turned, .ld = t->rows};
    TRY(gram_matrix_parameter_gradient(t->context, s->kernel, t->part, s->z, &weights, part));
    for (int64_t p = 0; p < parameters; p++) gradient[p] += part[p];
    TRY(add_diagonal(t, stationary, part, gradient));
    for (int64_t i = 0; i < t->rows; i++)
        gradient[parameters] += gram_gp_noise_share(&s->base.options, t->first + i) * t->noise[i];
    if (!positions) goto done;
    TRY(gram_matrix_input_gradient(t->context, s->kernel, s->z, t->part, &turned, position_part, s->base.d));
    for (int64_t i = 0; i < m * s->base.d; i++) positions[i] += position_part[i];
done:
    return status;
}

/* K_zz's part: it begins the sums. */
static gram_status contract_positions(gram_context *context, const small_weights *small, double *gradient,
                                      double *positions)
{
    gram_status status = GRAM_OK;
    const gram_inducing *s = small->s;
    const gram_weights weights = {.dense = small->v, .ld = s->m};
    TRY(gram_matrix_parameter_gradient(context, s->kernel, s->z, NULL, &weights, gradient));
    gradient[gram_kernel_parameter_count(s->kernel)] = 0;
    if (!positions) goto done;
    TRY(gram_matrix_input_gradient(context, s->kernel, s->z, NULL, &weights, positions, s->base.d));
    for (int64_t i = 0; i < s->m * s->base.d; i++) positions[i] *= 2; /* either argument */
done:
    return status;
}

static gram_status pass_back(stream *t, const small_weights *small, double *part, double *gradient,
                             double *position_part, double *positions)
{
    gram_status status = GRAM_OK;
    const gram_inducing *s = t->s;
    gram_properties facts;
    TRY(gram_kernel_properties(t->context, s->kernel, s->base.d, &facts));
    TRY(contract_positions(t->context, small, gradient, positions));
    for (int64_t first = 0; first < s->base.n; first += t->room) {
        TRY(read_rows(t, first, weigh_task));
        TRY(contract_block(t, facts.stationary == GRAM_YES, part, gradient, position_part, positions));
    }
done:
    return status;
}

gram_status gram_inducing_differentiate(gram_context *context, const gram_inducing *s, double *gradient,
                                        double *positions)
{
    gram_status status = GRAM_OK;
    const int64_t m = s->m, q = s->base.q, parameters = gram_kernel_parameter_count(s->kernel);
    const int64_t size = 2 * m * m + m * q + m * s->base.d + parameters;
    double *numbers = NULL;
    stream t = {.context = context};
    TRY(gram_take(context, "gp_inducing: gradient", size, sizeof(double), (void **)&numbers));
    small_weights small = {.s = s, .map = numbers, .v = numbers + m * m};
    double *spread = small.v + m * m, *position_part = spread + m * q, *part = position_part + m * s->base.d;
    if (q > 0 && s->base.options.flat) {
        memcpy(spread, s->mean_weights, (size_t)(m * q) * sizeof *spread);
        for (int64_t i = 0; i < m; i++) gram_gp_small_solve(&s->base, spread + i * q);
        small.spread = spread;
    }
    const gram_sweep sweep = {.what = "inducing points", .tasks = 1, .run = small_task, .argument = &small};
    TRY(gram_sweep_run(context, &sweep));
    TRY(open_stream(context, s, 1, &t));
    t.map = small.map;
    t.gathered = spread;
    TRY(pass_back(&t, &small, part, gradient, position_part, positions));
done:
    close_stream(&t);
    gram_give(context, numbers);
    return status;
}
