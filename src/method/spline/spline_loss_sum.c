/* Other losses of additive models.
 *
 * The smoother is least squares in the B-splines of all columns and a constant, by a Cholesky factor of the normal equations and one step of
 * refinement with residuals of the rows, which brings the accuracy near to that of orthogonal transformations (Bjorck 1987); the gap that the method
 * ends with is of the computed solution. What f costs is a sum of squares. Knots and the proportions of the lambdas are those of the squared loss by REML; a factor common to all is chosen
 * by left-out folds. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "base/lapack.h"
#include "base/sweep.h"
#include "method/spline/spline_loss.h"
#include "tune/row_folds.h"

/* ---- the smoother ---- */

typedef struct additive {
    const gram_spline_sum *sum;
    int64_t n, p, width; /* rows; parameters, the constant is one more; functions that are not 0 at a row, at most */
    int64_t *at;         /* n x width: which */
    double *phi;         /* n x width: and their values, 0 for those that are none */
    double *bends;       /* D of the columns (gram_basis_bends), one after the other */
    double *alpha;       /* of each column */
    double *c, *next;    /* p + 1: the iterate and the solution */
    double *equations;   /* (p + 1)^2 */
    double *right, *scale;
    double *memory;
} additive;

/* Runs over the rows of D of all columns; starts as {0}. */
typedef struct bends {
    int64_t column, row, first, count; /* parameters: from `first` on, as many as there are */
    const double *values;
    double alpha;
} bends;

static int next_bend(const additive *a, bends *b)
{
    const gram_spline_sum *sum = a->sum;
    const int64_t m = sum->m;
    if (!b->values) {
        b->values = a->bends - 2 * m;
        b->column = 0;
        b->row = -1;
    }
    b->values += 2 * m;
    if (++b->row == (sum->basis[b->column].knots - 1) * m) {
        b->row = 0;
        b->column++;
    }
    if (b->column == sum->d) return 0;
    const int64_t at = sum->first[b->column] + b->row / m, end = sum->first[b->column + 1];
    b->first = at;
    b->count = end - at < 2 * m ? end - at : 2 * m; /* the last function of a column is left out */
    b->alpha = a->alpha[b->column];
    return 1;
}

static double bend_of(const bends *b, const double *c)
{
    double sum = 0;
    for (int64_t k = 0; k < b->count; k++) sum += b->values[k] * c[b->first + k];
    return sum;
}

/* out += 2 alpha_j D_j'D_j c */
static void bend(const additive *a, const double *c, double *out)
{
    for (bends b = {.values = NULL}; next_bend(a, &b);) {
        const double pull = 2 * b.alpha * bend_of(&b, c);
        for (int64_t k = 0; k < b.count; k++) out[b.first + k] += pull * b.values[k];
    }
}

static double value_at(const additive *a, int64_t i, const double *c)
{
    double f = c[a->p];
    for (int64_t k = 0; k < a->width; k++) f += a->phi[i * a->width + k] * c[a->at[i * a->width + k]];
    return f;
}

static void add_equations(additive *a, const double *weight)
{
    const int64_t size = a->p + 1;
    memset(a->equations, 0, (size_t)(size * size) * sizeof *a->equations);
    for (int64_t i = 0; i < a->n; i++) {
        const int64_t *at = a->at + i * a->width;
        const double *phi = a->phi + i * a->width, w = weight[i];
        if (!(w > 0)) continue;
        a->equations[a->p * size + a->p] += w;
        for (int64_t k = 0; k < a->width; k++) {
            double *row = a->equations + at[k] * size;
            const double scaled = w * phi[k];
            a->equations[a->p * size + at[k]] += scaled;
            for (int64_t l = 0; l < a->width; l++)
                if (at[l] <= at[k]) row[at[l]] += scaled * phi[l];
        }
    }
    for (bends b = {.values = NULL}; next_bend(a, &b);)
        for (int64_t k = 0; k < b.count; k++)
            for (int64_t l = 0; l <= k; l++)
                a->equations[(b.first + k) * size + b.first + l] += 2 * b.alpha * b.values[k] * b.values[l];
}

/* Scaled to a diagonal of 1, and factored. */
static gram_status factor(gram_context *context, additive *a)
{
    gram_status status = GRAM_OK;
    const int64_t size = a->p + 1;
    int info = 0, order = (int)size;
    for (int64_t i = 0; i < size; i++) a->scale[i] = 1 / sqrt(a->equations[i * size + i]);
    for (int64_t i = 0; i < size; i++)
        for (int64_t k = 0; k <= i; k++) a->equations[i * size + k] *= a->scale[i] * a->scale[k];
    const int before = gram_blas_enter();
    dpotrf_("U", &order, a->equations, &order, &info, 1);
    gram_blas_leave(before);
    FAIL_IF(info != 0, context, GRAM_ERROR_NUMERICAL, "spline_fit: the components cannot be told apart on these rows");
done:
    return status;
}

/* next += A^-1 (X'W(value - X next) - 2 S next) */
static void improve(additive *a, const double *weight, const double *value)
{
    const int size = (int)a->p + 1;
    memset(a->right, 0, (size_t)size * sizeof *a->right);
    bend(a, a->next, a->right);
    for (int64_t k = 0; k < size; k++) a->right[k] = -a->right[k];
    for (int64_t i = 0; i < a->n; i++) {
        if (!(weight[i] > 0)) continue;
        const double pull = weight[i] * (value[i] - value_at(a, i, a->next));
        a->right[a->p] += pull;
        for (int64_t k = 0; k < a->width; k++) a->right[a->at[i * a->width + k]] += pull * a->phi[i * a->width + k];
    }
    for (int64_t k = 0; k < size; k++) a->right[k] *= a->scale[k];
    const int before = gram_blas_enter();
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, size, a->equations, size, a->right, 1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, size, a->equations, size, a->right, 1);
    gram_blas_leave(before);
    for (int64_t k = 0; k < size; k++) a->next[k] += a->scale[k] * a->right[k];
}

static gram_status sum_solve(gram_context *context, void *own, const double *weight, const double *value, double *f)
{
    gram_status status = GRAM_OK;
    additive *a = own;
    add_equations(a, weight);
    TRY(factor(context, a));
    memset(a->next, 0, (size_t)(a->p + 1) * sizeof *a->next);
    for (int k = 0; k < 2; k++) improve(a, weight, value);
    for (int64_t i = 0; i < a->n; i++) f[i] = value_at(a, i, a->next);
done:
    return status;
}

static void sum_start(void *own, double value)
{
    const additive *a = own;
    memset(a->c, 0, (size_t)a->p * sizeof *a->c);
    a->c[a->p] = value;
}

static void sum_move(void *own, double share)
{
    const additive *a = own;
    for (int64_t k = 0; k <= a->p; k++) a->c[k] += share * (a->next[k] - a->c[k]);
}

static double sum_bending(const void *own, double share)
{
    const additive *a = own;
    double sum = 0;
    for (bends b = {.values = NULL}; next_bend(a, &b);) {
        const double here = bend_of(&b, a->c), there = share > 0 ? bend_of(&b, a->next) : here;
        sum += b.alpha * (here + share * (there - here)) * (here + share * (there - here));
    }
    return sum;
}

/* ---- making it ---- */

static void fill_row(const gram_points *x, int64_t i, additive *a)
{
    const gram_spline_sum *sum = a->sum;
    double values[GRAM_BASIS_WIDTH];
    for (int64_t j = 0; j < sum->d; j++) {
        const int64_t at = gram_basis_at(&sum->basis[j], gram_points_at(x, i, j), 0, values);
        const int64_t size = sum->first[j + 1] - sum->first[j];
        for (int64_t k = 0; k < 2 * sum->m; k++) {
            const int64_t place = i * a->width + j * 2 * sum->m + k;
            const int is_there = at + k < size;
            a->at[place] = sum->first[j] + (is_there ? at + k : 0);
            a->phi[place] = is_there ? values[k] : 0;
        }
    }
}

static gram_status make_smoother(gram_context *context, const gram_points *x, const gram_spline_sum *sum, additive *a)
{
    gram_status status = GRAM_OK;
    const int64_t n = x->n, p = sum->p, width = 2 * sum->m * sum->d, size = p + 1;
    int64_t rows = 0;
    *a = (additive){.sum = sum, .n = n, .p = p, .width = width};
    for (int64_t j = 0; j < sum->d; j++) rows += (sum->basis[j].knots - 1) * sum->m;
    TRY(gram_take(context, "spline: rows", n * width, sizeof *a->at, (void **)&a->at));
    TRY(gram_take(context, "spline: equations", n * width + rows * 2 * sum->m + sum->d + size * size + 4 * size,
                  sizeof *a->memory, (void **)&a->memory));
    a->phi = a->memory;
    a->bends = a->phi + n * width;
    a->alpha = a->bends + rows * 2 * sum->m;
    a->c = a->alpha + sum->d;
    a->next = a->c + size;
    a->right = a->next + size;
    a->scale = a->right + size;
    a->equations = a->scale + size;
    for (int64_t i = 0; i < n; i++) fill_row(x, i, a);
    for (int64_t j = 0, at = 0; j < sum->d; at += (sum->basis[j].knots - 1) * sum->m, j++)
        gram_basis_bends(&sum->basis[j], a->bends + at * 2 * sum->m);
done:
    return status;
}

static void drop_smoother(gram_context *context, additive *a)
{
    gram_give(context, a->at);
    gram_give(context, a->memory);
}

/* ---- fits and folds ---- */

typedef struct fitting {
    const gram_points *x;
    const double *y;
    const gram_spline_options *o;
    additive smoother;
    const double *lambda; /* in proportion to which they are chosen */
    int64_t *place, *fold;
    double *used;
    double total;
} fitting;

/* The fit to rows whose fold is not `held`, with weights. */
static gram_status fit_rows(gram_context *context, fitting *s, const double *weights, int64_t held,
                            gram_spline_report *report)
{
    const gram_smoother smoother = {&s->smoother, sum_solve, sum_start, sum_move, sum_bending};
    gram_loss_rows rows = {
        .n = s->x->n, .places = s->x->n, .place = s->place, .y = s->y, .weights = weights, .total = 0};
    for (int64_t i = 0; i < s->x->n; i++) {
        const double w = weights ? weights[i] : 1;
        const int in = w > 0 && (held < 0 || gram_fold_trains(s->fold[i], held, s->o->ordered));
        s->place[i] = in ? i : -1;
        rows.used += in;
        if (in) rows.total += w;
    }
    return gram_spline_loss_minimise(context, &smoother, &rows, s->o, NULL, report);
}

/* Beyond a certain alpha a component is a polynomial to five digits; more would only cost digits. */
static void set_alpha(fitting *s, double rows, double log_factor)
{
    static const double PI = 3.14159265358979323846, MOST = 1e5;
    const int chosen = isnan(s->o->lambda);
    for (int64_t j = 0; j < s->x->d; j++) {
        const gram_basis *b = &s->smoother.sum->basis[j];
        const double m2 = 2.0 * b->m, range = b->t[b->knots - 1] - b->t[0];
        const double alpha = s->lambda[j] * rows * exp(log_factor),
                     most = MOST * rows * pow(range, m2 - 1) / pow(PI, m2);
        s->smoother.alpha[j] = chosen && alpha > most ? most : alpha;
    }
}

static gram_status try_factor(gram_context *context, void *own, double log_factor, double *value)
{
    fitting *s = own;
    gram_spline_report report;
    *value = 0;
    set_alpha(s, s->total, log_factor);
    for (int64_t k = s->o->ordered; k < s->o->folds; k++) {
        const gram_status status = fit_rows(context, s, s->used, k, &report);
        if (status == GRAM_ERROR_NUMERICAL) *value = INFINITY;
        if (status == GRAM_ERROR_NUMERICAL) return GRAM_OK;
        if (status < 0) return status;
        for (int64_t i = 0; i < s->x->n; i++)
            if (s->fold[i] == k && s->used[i] > 0)
                *value += s->used[i] * gram_spline_loss_value(s->o, s->y[i], value_at(&s->smoother, i, s->smoother.c)) /
                          s->total;
    }
    return GRAM_OK;
}

/* Where a loss of slopes of about 1 bends f as the squared one does: over the size of the residuals. */
static double middle_of_search(const gram_spline_options *o, double deviation)
{
    if (o->loss == GRAM_SPLINE_LOSS_LOGISTIC) return -log(4);
    return o->loss == GRAM_SPLINE_LOSS_HUBER || !(deviation > 0) ? 0 : -log(deviation);
}

static gram_status choose_factor(gram_context *context, fitting *s, double deviation, double *log_factor,
                                 gram_spline_report *report)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->x->n;
    const double m = (double)s->o->order, middle = middle_of_search(s->o, deviation);
    gram_spline_loss_tuned(n, s->o->weights, s->used);
    TRY(gram_spline_loss_deal(context, n, s->y, s->o, s->used, s->fold));
    report->tuned_rows = 0;
    s->total = 0;
    for (int64_t i = 0; i < n; i++) {
        report->tuned_rows += s->used[i] > 0;
        s->total += s->used[i];
    }
    const gram_loss_search search = {.high = middle + 3 * m * log(10),
                                     .low = middle - 4 * m * log(10),
                                     .step = 0.5 * m * log(10),
                                     .evaluate = try_factor,
                                     .own = s};
    TRY(gram_spline_loss_search(context, &search, log_factor, report));
done:
    return status;
}

/* The iterate's coefficients as those of components of mean 0. */
static void keep_solution(const additive *a, double rows, gram_spline_sum *sum)
{
    sum->b = a->c[a->p];
    for (int64_t k = 0; k < a->p; k++) {
        sum->c[k] = a->c[k];
        sum->b += sum->mean[k] * sum->c[k];
    }
    for (int64_t j = 0; j < sum->d; j++) {
        sum->lambda[j] = a->alpha[j] / rows;
        sum->df[j] = NAN;
    }
}

static gram_status fit(gram_context *context, fitting *s, double deviation, double *fitted, double *left,
                       gram_spline_report *r, gram_spline_sum *sum)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->x->n;
    const double rows = (double)r->n;
    double log_factor = 0;
    TRY(make_smoother(context, s->x, sum, &s->smoother));
    if (isnan(s->o->lambda)) TRY(choose_factor(context, s, deviation, &log_factor, r));
    set_alpha(s, rows, log_factor);
    TRY(fit_rows(context, s, s->o->weights, -1, r));
    for (int64_t i = 0; i < n; i++) {
        fitted[i] = s->place[i] < 0 ? NAN : value_at(&s->smoother, i, s->smoother.c);
        left[i] = NAN;
    }
    keep_solution(&s->smoother, rows, sum);
done:
    return status;
}

gram_status gram_sum_fit_loss(gram_context *context, const gram_points *x, const double *y,
                              const gram_spline_options *options, double *fitted, double *left,
                              gram_spline_report *report, gram_spline_sum *sum)
{
    gram_status status = GRAM_OK;
    const int64_t n = x->n;
    gram_spline_options squared = *options;
    fitting s = {.x = x, .y = y, .o = options};
    double *lambda = NULL;
    squared.loss = GRAM_SPLINE_LOSS_SQUARED;
    squared.criterion = GRAM_CRITERION_ML;
    squared.bands = 0;
    TRY(gram_sum_fit(context, x, y, &squared, fitted, left, report, sum));
    const double deviation = report->sigma;
    TRY(gram_take(context, "spline: folds", 2 * n, sizeof *s.place, (void **)&s.place));
    TRY(gram_take(context, "spline: folds", n + x->d, sizeof *s.used, (void **)&s.used));
    s.fold = s.place + n;
    lambda = s.used + n;
    memcpy(lambda, sum->lambda, (size_t)x->d * sizeof *lambda);
    s.lambda = lambda;
    report->criterion = NAN;
    TRY(fit(context, &s, deviation, fitted, left, report, sum));
    report->sigma = report->effective_dimension = report->train_rmse = report->train_r2 = NAN;
    report->loo_rmse = report->loo_r2 = report->gcv = NAN;
done:
    drop_smoother(context, &s.smoother);
    gram_give(context, s.place);
    gram_give(context, s.used);
    return status;
}
