/* The steps, in blocks of rows.
 *
 * A step at row i changes the coefficient of that row only, apart from the factor that all of them have in common. So for a block of rows the
 * values K(block, terms) c at its beginning are one product by the engine, and the steps are sequential only in the block's own matrix
 * K(block, block): f(x_j) = s (v_j + sum_{l < j} delta_l K_jl). The common factor s is kept apart.
 *
 * The sum of iterates needs no second pass over the terms: with S the sum of s so far, a change delta at that time enters all later iterates, with
 * weight S_end - S. So the sum has the coefficients S_end c - d, d = sum of delta S. Both s and S are multiplied in after each block, because the
 * difference loses the digits that s has lost. Everything is in the order of the steps: the same bits for any number of threads. */
#include "method/sgd/sgd.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/matrix.h>
#include <gram/random.h>

#include "base/sweep.h"
#include "base/system/system_call.h"
#include "base/system/time_limit.h"
#include "points/points.h"

enum { BLOCK = 192, ORDER_STREAM = 0x736764 };

static const double SMALLEST = 1e-3; /* of s at the end of a block: S c - d loses as many digits */

typedef struct run {
    gram_context *context;
    const gram_sgd_problem *p;
    int64_t size;                /* coefficients: rows, or features */
    double *c, *d, *sum;         /* size x m: f = s c, S c - d, sums of iterates before that */
    double s, total;             /* the factor, and S */
    double *b, *b_sum, averaged; /* m; iterates in the sum */
    int64_t *active, count;      /* rows that have a term */
    unsigned char *has_term;
    int64_t *order; /* of the present pass */
    int64_t rows[BLOCK];
    double *block;    /* coordinates of its rows, or features: BLOCK x width */
    double *values;   /* BLOCK x m */
    double *matrix;   /* BLOCK x BLOCK */
    double *delta;    /* BLOCK x m */
    double *weighted; /* the same times S */
    double *slopes, *f;
    double seen, squares, counted, lost;
    int64_t made; /* steps */
} run;

/* ---- losses ---- */

static double softmax_loss(int64_t m, int64_t label, const double *f, double *slopes)
{
    double top = f[0], sum = 0;
    for (int64_t k = 1; k < m; k++) top = fmax(top, f[k]);
    for (int64_t k = 0; k < m; k++) sum += exp(f[k] - top);
    for (int64_t k = 0; k < m; k++) slopes[k] = exp(f[k] - top) / sum - (k == label);
    return log(sum) + top - f[label];
}

/* y is 1 or -1, r = y f. */
static double margin_loss(gram_sgd_loss loss, double y, double f, double *slope)
{
    const double r = y * f;
    if (loss == GRAM_SGD_HINGE) {
        *slope = r < 1 ? -y : 0;
        return fmax(0, 1 - r);
    }
    *slope = r > 0 ? -y * exp(-r) / (1 + exp(-r)) : -y / (1 + exp(r));
    return r > 0 ? log1p(exp(-r)) : log1p(exp(r)) - r;
}

static double value_loss(const gram_sgd_problem *p, double y, double f, double *slope)
{
    const double r = y - f, size = fabs(r), sign = r > 0 ? 1 : r < 0 ? -1 : 0, q = p->parameter;
    switch (p->loss) {
    case GRAM_SGD_ABSOLUTE: *slope = -sign; return size;
    case GRAM_SGD_HUBER: *slope = size <= q ? -2 * r : -2 * q * sign; return size <= q ? r * r : 2 * q * size - q * q;
    case GRAM_SGD_QUANTILE: *slope = r > 0 ? -q : r < 0 ? 1 - q : 0; return r > 0 ? q * r : (q - 1) * r;
    case GRAM_SGD_INSENSITIVE: *slope = size > q ? -sign : 0; return fmax(0, size - q);
    case GRAM_SGD_POISSON: *slope = exp(f) - y; return exp(f) - y * f;
    default: *slope = -2 * r; return r * r;
    }
}

double gram_sgd_loss_at(const gram_sgd_problem *p, double y, const double *f, double *slopes)
{
    double loss = 0;
    if (p->loss < GRAM_SGD_HINGE) return value_loss(p, y, f[0], slopes);
    if (p->m == 1) return margin_loss(p->loss, y > 0 ? 1 : -1, f[0], slopes);
    if (p->loss == GRAM_SGD_LOGISTIC) return softmax_loss(p->m, (int64_t)y, f, slopes);
    for (int64_t k = 0; k < p->m; k++) loss += margin_loss(p->loss, (int64_t)y == k ? 1 : -1, f[k], &slopes[k]);
    return loss;
}

/* ---- memory ---- */

static void give_run(run *r)
{
    gram_context *context = r->context;
    void *blocks[] = {r->d,     r->sum,    r->b_sum,  r->active, r->has_term, r->order,
                      r->block, r->values, r->matrix, r->delta,  r->weighted, r->slopes};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) gram_give(context, blocks[i]);
}

static gram_status take_zeros(gram_context *context, int64_t count, double **out)
{
    const gram_status status =
        gram_take(context, "stochastic gradients", count > 0 ? count : 1, sizeof **out, (void **)out);
    for (int64_t i = 0; i < count && status >= 0; i++) (*out)[i] = 0;
    return status;
}

static gram_status take_run(run *r, gram_sgd_result *result)
{
    gram_status status = GRAM_OK;
    gram_context *context = r->context;
    const gram_sgd_problem *p = r->p;
    const int64_t width = p->map ? r->size : p->x->d;
    TRY(take_zeros(context, r->size * p->m, &result->a));
    TRY(take_zeros(context, p->m, &result->b));
    TRY(take_zeros(context, r->size * p->m, &r->d));
    TRY(take_zeros(context, r->size * p->m, &r->sum));
    TRY(take_zeros(context, p->m, &r->b_sum));
    TRY(take_zeros(context, BLOCK * width, &r->block));
    TRY(take_zeros(context, BLOCK * p->m, &r->values));
    TRY(take_zeros(context, BLOCK * BLOCK, &r->matrix));
    TRY(take_zeros(context, BLOCK * p->m, &r->delta));
    TRY(take_zeros(context, BLOCK * p->m, &r->weighted));
    TRY(take_zeros(context, 2 * p->m, &r->slopes));
    TRY(gram_take(context, "stochastic gradients", p->n, sizeof *r->active, (void **)&r->active));
    TRY(gram_take(context, "stochastic gradients", p->n, sizeof *r->order, (void **)&r->order));
    TRY(gram_take(context, "stochastic gradients", p->n, 1, (void **)&r->has_term));
    memset(r->has_term, 0, (size_t)p->n);
    r->c = result->a;
    r->b = result->b;
    r->f = r->slopes + p->m;
    memcpy(r->b, p->offset, (size_t)p->m * sizeof *r->b);
done:
    return status;
}

/* ---- the block ---- */

gram_status gram_sgd_gather(gram_context *context, const gram_sgd_problem *p, int64_t count, const int64_t *rows,
                            double **data, gram_points **points)
{
    gram_status status = GRAM_OK;
    const int64_t d = p->x->d;
    TRY(gram_take(context, "stochastic gradients", count * d, sizeof **data, (void **)data));
    for (int64_t i = 0; i < count; i++)
        memcpy(*data + i * d, p->x->f64 + rows[i] * p->x->ld, (size_t)d * sizeof **data);
    TRY(gram_points_create_like(context, p->x, count, *data, 0, points));
done:
    return status;
}

/* values = K(block, terms) c, matrix = K(block, block). */
static gram_status look_kernel(run *r, int64_t count)
{
    gram_status status = GRAM_OK;
    const gram_sgd_problem *p = r->p;
    const int64_t d = p->x->d, m = p->m;
    gram_points *block = NULL, *terms = NULL;
    double *data = NULL, *c = NULL;
    for (int64_t j = 0; j < count; j++)
        memcpy(r->block + j * d, p->x->f64 + r->rows[j] * p->x->ld, (size_t)d * sizeof(double));
    TRY(gram_points_create_like(r->context, p->x, count, r->block, 0, &block));
    TRY(gram_matrix(r->context, p->kernel, block, NULL, r->matrix, BLOCK));
    memset(r->values, 0, (size_t)(BLOCK * m) * sizeof(double));
    if (r->count > 0) {
        TRY(gram_sgd_gather(r->context, p, r->count, r->active, &data, &terms));
        TRY(gram_take(r->context, "stochastic gradients", r->count * m, sizeof *c, (void **)&c));
        for (int64_t i = 0; i < r->count; i++) memcpy(c + i * m, r->c + r->active[i] * m, (size_t)m * sizeof *c);
        TRY(gram_matrix_product(r->context, p->kernel, block, terms, m, c, m, r->values, m));
    }
done:
    gram_points_release(block);
    gram_points_release(terms);
    gram_give(r->context, data);
    gram_give(r->context, c);
    return status;
}

static gram_status look_features(run *r, int64_t count)
{
    gram_status status = GRAM_OK;
    const gram_sgd_problem *p = r->p;
    const int64_t d = p->x->d, size = r->size;
    double *rows = NULL;
    TRY(gram_take(r->context, "stochastic gradients", count * d, sizeof *rows, (void **)&rows));
    for (int64_t j = 0; j < count; j++)
        memcpy(rows + j * d, p->x->f64 + r->rows[j] * p->x->ld, (size_t)d * sizeof *rows);
    TRY(gram_features_transform(r->context, p->map, count, rows, d, r->block, size));
    const int blas = gram_blas_enter();
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)count, (int)count, (int)size, 1, r->block, (int)size,
                r->block, (int)size, 0, r->matrix, BLOCK);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)count, (int)p->m, (int)size, 1, r->block, (int)size,
                r->c, (int)p->m, 0, r->values, (int)p->m);
    gram_blas_leave(blas);
done:
    gram_give(r->context, rows);
    return status;
}

static void apply_kernel(run *r, int64_t count)
{
    const int64_t m = r->p->m;
    for (int64_t j = 0; j < count; j++) {
        const int64_t i = r->rows[j];
        int changed = 0;
        for (int64_t k = 0; k < m; k++) {
            changed |= r->delta[j * m + k] != 0;
            r->c[i * m + k] += r->delta[j * m + k];
            r->d[i * m + k] += r->weighted[j * m + k];
        }
        if (!changed || r->has_term[i]) continue;
        r->has_term[i] = 1;
        r->active[r->count++] = i;
    }
}

static void apply_features(run *r, int64_t count)
{
    const int m = (int)r->p->m, size = (int)r->size;
    const int blas = gram_blas_enter();
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, size, m, (int)count, 1, r->block, size, r->delta, m, 1, r->c,
                m);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, size, m, (int)count, 1, r->block, size, r->weighted, m, 1,
                r->d, m);
    gram_blas_leave(blas);
}

/* ---- steps ---- */

static double step_at(const gram_sgd_problem *p, int64_t t)
{
    if (p->rule == GRAM_SGD_INVERSE) return 1 / (2 * p->lambda * (double)t);
    return p->rule == GRAM_SGD_ROOT ? p->step / sqrt((double)t) : p->step;
}

/* Number t, at place j of the block. The first finds f = 0, which no factor changes. */
static void make_step(run *r, int64_t t, int64_t j)
{
    const gram_sgd_problem *p = r->p;
    const int64_t m = p->m, i = r->rows[j];
    const double a = step_at(p, t), weight = p->weights ? p->weights[i] : 1;
    for (int64_t k = 0; k < m; k++) {
        double value = r->values[j * m + k];
        for (int64_t l = 0; l < j; l++) value += r->delta[l * m + k] * r->matrix[j * BLOCK + l];
        r->f[k] = r->s * value + r->b[k];
    }
    const double loss = gram_sgd_loss_at(p, p->y[i], r->f, r->slopes);
    if (t > p->steps - p->n && weight > 0) {
        r->seen += loss;
        r->squares += loss * loss;
        r->counted++;
    }
    if (t > 1) r->s *= 1 - 2 * a * p->lambda;
    for (int64_t k = 0; k < m; k++) {
        const double change = -a * weight * r->slopes[k];
        r->delta[j * m + k] = change / r->s;
        r->weighted[j * m + k] = change / r->s * r->total;
        if (p->intercept) r->b[k] += change;
    }
    r->total += r->s;
    r->averaged++;
    for (int64_t k = 0; k < m; k++) r->b_sum[k] += r->b[k];
}

/* s and S go into the coefficients. */
static void settle(run *r)
{
    for (int64_t i = 0; i < r->size * r->p->m; i++) {
        r->sum[i] += r->total * r->c[i] - r->d[i];
        r->c[i] *= r->s;
        r->d[i] = 0;
    }
    r->s = 1;
    r->total = 0;
}

/* The mean begins here. */
static void begin_average(run *r)
{
    settle(r);
    memset(r->sum, 0, (size_t)(r->size * r->p->m) * sizeof *r->sum);
    memset(r->b_sum, 0, (size_t)r->p->m * sizeof *r->b_sum);
    r->averaged = 0;
}

static void choose_rows(run *r, int64_t t, int64_t count)
{
    const gram_sgd_problem *p = r->p;
    const gram_random random = {gram_context_seed(r->context), ORDER_STREAM};
    for (int64_t j = 0; j < count; j++) {
        const int64_t at = (t + j) % p->n, pass = (t + j) / p->n;
        double u;
        if (p->order == GRAM_SGD_SHUFFLED && at == 0) gram_random_permutation(random, (uint64_t)pass, p->n, r->order);
        if (p->order == GRAM_SGD_REPLACED) gram_random_uniform(random, (uint64_t)(t + j), 1, &u);
        r->rows[j] = p->order == GRAM_SGD_FILE       ? at
                     : p->order == GRAM_SGD_SHUFFLED ? r->order[at]
                                                     : (int64_t)fmin(u * (double)p->n, (double)(p->n - 1));
    }
}

static gram_status keep_budget(run *r)
{
    gram_status status = GRAM_OK;
    const int64_t budget = r->p->budget, slack = budget / 4 > BLOCK ? budget / 4 : BLOCK;
    double lost = 0;
    if (budget == 0 || r->count <= budget + slack) return status;
    settle(r);
    TRY(gram_sgd_reduce(r->context, r->p, r->count, r->active, r->c, r->sum, &lost));
    for (int64_t i = budget; i < r->count; i++) r->has_term[r->active[i]] = 0;
    r->count = budget;
    r->lost += lost;
done:
    return status;
}

/* Steps of the block that begins after number t: the factor must not become too small. */
static int64_t block_steps(const gram_sgd_problem *p, int64_t t, int64_t most)
{
    double s = 1;
    int64_t count = 0;
    for (; count < most && count < BLOCK && fabs(s) >= SMALLEST; count++)
        if (t + count > 0) s *= 1 - 2 * step_at(p, t + count + 1) * p->lambda;
    return count;
}

static gram_status make_steps(run *r)
{
    gram_status status = GRAM_OK;
    const gram_sgd_problem *p = r->p;
    const int64_t half = p->average == GRAM_SGD_TAIL ? p->steps / 2 : 0;
    const double began = gram_clock();
    for (int64_t t = 0; t < p->steps;) {
        const int64_t count = block_steps(p, t, (t < half ? half : p->steps) - t);
        TRY(gram_pulse(r->context, "stochastic gradients", (double)t / (double)p->steps));
        if (t == half && half > 0) begin_average(r);
        settle(r);
        choose_rows(r, t, count);
        TRY(p->map ? look_features(r, count) : look_kernel(r, count));
        for (int64_t j = 0; j < count; j++) make_step(r, t + j + 1, j);
        if (p->map)
            apply_features(r, count);
        else
            apply_kernel(r, count);
        TRY(keep_budget(r));
        t += count;
        r->made = t;
        FAIL_IF(!isfinite(r->s) || !isfinite(r->b[0]), r->context, GRAM_ERROR_NUMERICAL,
                "sgd: the steps diverge: after %lld of them the function is infinite", (long long)t);
        /* The errors of all rows take as long for each of them as a step with these terms: at most twice the mean. */
        const double now = gram_clock(), each = 2 * (now - began) / (double)t;
        if (t < p->steps && gram_time_ends_iterations(r->context, now - each * (double)p->n)) break;
    }
done:
    return status;
}

/* What was asked for: the mean of the iterates, or the last; and, with a budget, no more terms than that. */
static gram_status take_result(run *r, gram_sgd_result *result)
{
    gram_status status = GRAM_OK;
    const gram_sgd_problem *p = r->p;
    const int64_t numbers = r->size * p->m;
    double lost = 0;
    settle(r);
    if (p->average != GRAM_SGD_LAST) {
        for (int64_t i = 0; i < numbers; i++) r->c[i] = r->sum[i] / r->averaged;
        for (int64_t k = 0; k < p->m; k++) r->b[k] = r->b_sum[k] / r->averaged;
    }
    if (p->budget > 0 && r->count > p->budget) {
        memset(r->sum, 0, (size_t)numbers * sizeof *r->sum);
        TRY(gram_sgd_reduce(r->context, p, r->count, r->active, r->c, r->sum, &lost));
        r->count = p->budget;
    }
    for (int64_t i = 0; i < numbers; i++)
        FAIL_IF(!isfinite(r->c[i]), r->context, GRAM_ERROR_NUMERICAL,
                "sgd: the steps diverge: the function is not finite");
    result->terms = p->map ? r->size : r->count;
    result->removed = r->lost + lost;
    result->steps = r->made;
    result->seen = result->seen_error = NAN; /* of the last pass, if it was come to */
    if (r->counted > 0) {
        result->seen = r->seen / r->counted;
        result->seen_error = sqrt(fmax(r->squares / r->counted - result->seen * result->seen, 0) / r->counted);
    }
done:
    return status;
}

gram_status gram_sgd_run(gram_context *context, const gram_sgd_problem *p, gram_sgd_result *result)
{
    gram_status status = GRAM_OK;
    run r = {.context = context, .p = p, .s = 1};
    r.size = p->map ? gram_features_get_report(p->map)->dimension : p->n;
    *result = (gram_sgd_result){0};
    TRY(take_run(&r, result));
    TRY(make_steps(&r));
    TRY(take_result(&r, result));
done:
    give_run(&r);
    if (status < 0) {
        gram_give(context, result->a);
        gram_give(context, result->b);
        *result = (gram_sgd_result){0};
    }
    return status;
}
