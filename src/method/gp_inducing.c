/* Regression with inducing points: choose, learn, condition, predict.
 *
 * The search moves the kernel's numbers and the noise on their own scales (space.h) and positions in units of their columns'
 * ranges, within one range of the data on either side. Its value is -bound; a point where K_zz or B has no factor has no
 * value and makes the step shorter. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "../base/sweep.h"
#include "../points/points.h"
#include "gp_inducing.h"
#include "space.h"

enum { CHUNK = 2048, ROWS = 64 };
static const double FIRST_STEP = 0.1, LONGEST_STEP = 2, NOISE_FACTOR = 1e4;

struct gram_gp_inducing {
    gram_memory *memory;
    gram_kernel *kernel;
    gram_inducing model; /* x and y are not kept */
    gram_gp_inducing_report report;
};

void gram_gp_inducing_options_init(gram_gp_inducing_options *options, size_t size)
{
    const gram_gp_inducing_options defaults = {.evaluations = 100, .tolerance = 1e-3, .jitter = 1e-10};
    if (!options) return;
    memset(options, 0, size);
    memcpy(options, &defaults, size < sizeof defaults ? size : sizeof defaults);
    options->size = size;
}

/* ---- beginning ---- */

static gram_status check(gram_context *context, const char *name, const gram_inducing *s,
                         const gram_gp_inducing_options *o)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    const int64_t n = s->base.n;
    FAIL_IF(o->count < 0, context, GRAM_ERROR_ARGUMENT, "%s: count = %lld, need 0 or more", name, (long long)o->count);
    FAIL_IF((int)o->choice < 0 || o->choice > GRAM_INDUCING_KMEANS, context, GRAM_ERROR_ARGUMENT,
            "%s: choice = %d is none", name, (int)o->choice);
    FAIL_IF(o->evaluations < 1, context, GRAM_ERROR_ARGUMENT, "%s: evaluations = %lld, need 1 or more", name,
            (long long)o->evaluations);
    FAIL_IF(!(o->tolerance >= 0) || !(o->jitter >= 0 && o->jitter < 1e-4), context, GRAM_ERROR_ARGUMENT,
            "%s: tolerance or jitter = %s is out of range", name,
            gram_number_format(o->tolerance >= 0 ? o->jitter : o->tolerance, shown));
    for (int64_t i = 0; i < n; i++)
        FAIL_IF(!(gram_gp_row_noise(&s->base.options, i) > 0), context, GRAM_ERROR_ARGUMENT,
                "%s: the noise of row %lld is 0, need a positive number", name, (long long)i);
done:
    return status;
}

static gram_status begin(gram_context *context, const char *name, gram_kernel *kernel, const gram_points *x,
                         const double *y, const gram_gp_inducing_options *options, gram_gp_inducing_options *o,
                         gram_inducing *s)
{
    gram_status status = GRAM_OK;
    memset(s, 0, sizeof *s);
    gram_gp_inducing_options_init(o, sizeof *o);
    if (options) memcpy(o, options, options->size < sizeof *o ? options->size : sizeof *o);
    TRY(gram_gp_system_begin(context, name, kernel, x, y, o->gp, &s->base));
    TRY(check(context, name, s, o));
    s->kernel = kernel;
    s->x = x;
done:
    return status;
}

static gram_status copy_positions(gram_context *context, const char *name, const gram_points *z, gram_inducing *s)
{
    gram_status status = GRAM_OK;
    FAIL_IF(z->d != s->base.d, context, GRAM_ERROR_DIMENSION, "%s: inducing points of %lld columns, x has %lld", name,
            (long long)z->d, (long long)s->base.d);
    TRY(gram_inducing_take(context, z->n, s));
    for (int64_t i = 0; i < z->n; i++)
        for (int64_t l = 0; l < z->d; l++) s->positions[i * z->d + l] = gram_points_at(z, i, l);
done:
    return status;
}

gram_status gram_gp_inducing_bound(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                   const gram_points *z, const gram_gp_inducing_options *options,
                                   gram_gp_inducing_value *value, double *gradient, double *position_gradient,
                                   int64_t ld)
{
    gram_status status = GRAM_OK;
    gram_inducing s = {0};
    gram_gp_inducing_options o;
    double *positions = NULL, *slopes = NULL;
    int64_t parameters = 0;
    if (!context || !value) return GRAM_ERROR_ARGUMENT;
    TRY(begin(context, "gp_inducing_bound", kernel, x, y, options, &o, &s));
    FAIL_IF(!z, context, GRAM_ERROR_ARGUMENT, "gp_inducing_bound: z is NULL");
    FAIL_IF(position_gradient && ld < s.base.d, context, GRAM_ERROR_ARGUMENT,
            "gp_inducing_bound: ld = %lld, need %lld or more", (long long)ld, (long long)s.base.d);
    TRY(copy_positions(context, "gp_inducing_bound", z, &s));
    TRY(gram_inducing_evaluate(context, o.jitter, &s));
    *value = s.value;
    if (!gradient && !position_gradient) goto done;
    parameters = gram_kernel_parameter_count(kernel) + 1;
    TRY(gram_take(context, "gp_inducing_bound", parameters, sizeof(double), (void **)&slopes));
    TRY(gram_take(context, "gp_inducing_bound", s.m * s.base.d, sizeof(double), (void **)&positions));
    TRY(gram_inducing_differentiate(context, &s, slopes, position_gradient ? positions : NULL));
    if (gradient) memcpy(gradient, slopes, (size_t)parameters * sizeof(double));
    for (int64_t i = 0; i < s.m * s.base.d && position_gradient; i++)
        position_gradient[i / s.base.d * ld + i % s.base.d] = positions[i];
done:
    gram_give(context, positions, s.m * s.base.d, sizeof(double));
    gram_give(context, slopes, parameters, sizeof(double));
    gram_inducing_free(context->memory, &s);
    return status;
}

/* ---- learning ---- */

typedef struct learning {
    gram_context *context;
    gram_inducing *s;
    const gram_gp_inducing_options *options;
    gram_kernel *start;  /* the kernel that the search began with, borrowed */
    gram_kernel *kernel; /* that of the model: ours */
    gram_space space;
    int64_t variables, moving; /* of all, and coordinates among them */
    double *numbers;
    double *x, *lower, *upper; /* variables */
    double *unit;              /* d: ranges of the columns */
    double *point;             /* parameters + 1 */
    double *slopes;            /* parameters + 1 */
    double *positions;         /* m x d: derivatives */
} learning;

static int64_t learning_numbers(const learning *l)
{
    return 3 * l->variables + l->s->base.d + 2 * (l->space.parameters + 1) + l->s->m * l->s->base.d;
}

/* The model's kernel, noise and positions from the variables. */
static gram_status set_model(learning *l, const double *x)
{
    gram_status status = GRAM_OK;
    gram_inducing *s = l->s;
    const int64_t d = s->base.d;
    gram_kernel *kernel = NULL;
    gram_space_to_point(&l->space, x, l->point);
    TRY(gram_space_kernel(l->context, &l->space, l->point, &kernel));
    gram_kernel_release(l->kernel);
    l->kernel = s->kernel = kernel;
    s->base.options.noise = l->point[l->space.parameters];
    for (int64_t i = 0; i < l->moving; i++) s->positions[i] = x[l->space.count + i] * l->unit[i % d];
done:
    return status;
}

static gram_status objective(void *argument, const double *x, double *value, double *gradient)
{
    gram_status status = GRAM_OK;
    learning *l = argument;
    const gram_space *space = &l->space;
    TRY(set_model(l, x));
    status = gram_inducing_evaluate(l->context, l->options->jitter, l->s);
    if (status == GRAM_ERROR_NUMERICAL) {
        *value = INFINITY;
        return GRAM_OK;
    }
    TRY(status);
    TRY(gram_inducing_differentiate(l->context, l->s, l->slopes, l->moving ? l->positions : NULL));
    *value = isfinite(l->s->value.bound) ? -l->s->value.bound : INFINITY;
    for (int64_t i = 0; i < space->count; i++)
        gradient[i] = -l->slopes[space->index[i]] * (space->is_log[i] ? l->point[space->index[i]] : 1);
    for (int64_t i = 0; i < l->moving; i++) gradient[space->count + i] = -l->positions[i] * l->unit[i % l->s->base.d];
done:
    return status;
}

/* Ranges of the columns, and from them the bounds of the positions. A column without a range keeps its positions. */
static void bound_positions(learning *l)
{
    const gram_points *x = l->s->x;
    const int64_t d = x->d, first = l->space.count;
    for (int64_t c = 0; c < d; c++) {
        double least = INFINITY, most = -INFINITY;
        for (int64_t i = 0; i < x->n; i++) {
            least = fmin(least, gram_points_at(x, i, c));
            most = fmax(most, gram_points_at(x, i, c));
        }
        const double range = most > least ? most - least : 0;
        l->unit[c] = range > 0 ? range : 1;
        for (int64_t i = c; i < l->moving; i += d) {
            const double at = l->s->positions[i] / l->unit[c];
            l->x[first + i] = at;
            l->lower[first + i] = range > 0 ? fmin(least / range - 1, at) : at;
            l->upper[first + i] = range > 0 ? fmax(most / range + 1, at) : at;
        }
    }
}

/* Parameters that are not to be learnt leave the space. */
static void keep_variables(learning *l)
{
    gram_space *space = &l->space;
    int64_t kept = 0;
    for (int64_t i = 0; i < space->count; i++) {
        if (space->index[i] < space->parameters && !l->options->learn_parameters) continue;
        space->index[kept] = space->index[i];
        space->is_log[kept] = space->is_log[i];
        space->lower[kept] = space->lower[i];
        space->upper[kept++] = space->upper[i];
    }
    space->count = kept;
}

static gram_status take_learning(learning *l)
{
    gram_status status = GRAM_OK;
    gram_inducing *s = l->s;
    const double noise = s->base.options.noise;
    const int64_t d = s->base.d;
    TRY(gram_space_create(
        l->context, l->start, s->x,
        (gram_noise_range){noise / NOISE_FACTOR, noise * NOISE_FACTOR, !l->options->learn_noise || noise == 0},
        &l->space));
    keep_variables(l);
    l->moving = l->options->learn_positions ? s->m * d : 0;
    l->variables = l->space.count + l->moving;
    TRY(gram_take(l->context, "gp_inducing_fit: search", learning_numbers(l), sizeof(double), (void **)&l->numbers));
    l->x = l->numbers;
    l->lower = l->x + l->variables;
    l->upper = l->lower + l->variables;
    l->unit = l->upper + l->variables;
    l->point = l->unit + d;
    l->slopes = l->point + l->space.parameters + 1;
    l->positions = l->slopes + l->space.parameters + 1;
    for (int64_t i = 0; i < l->space.count; i++) {
        l->lower[i] = l->space.lower[i];
        l->upper[i] = l->space.upper[i];
    }
    TRY(gram_space_origin(l->context, &l->space, l->point));
    l->point[l->space.parameters] = noise;
    gram_space_to_variables(&l->space, l->point, l->x);
    bound_positions(l);
done:
    return status;
}

/* Leaves the model's kernel (ours), noise and positions at the best that was found. */
static gram_status learn(gram_context *context, const gram_gp_inducing_options *options, gram_gp_inducing *gp)
{
    gram_status status = GRAM_OK;
    learning l = {.context = context, .s = &gp->model, .options = options, .start = gp->kernel};
    gram_minimise_report found;
    TRY(take_learning(&l));
    const gram_minimise_problem problem = {.n = l.variables,
                                           .lower = l.lower,
                                           .upper = l.upper,
                                           .evaluations = options->evaluations,
                                           .tolerance = options->tolerance,
                                           .first_step = FIRST_STEP,
                                           .longest_step = LONGEST_STEP,
                                           .evaluate = objective,
                                           .argument = &l};
    if (l.variables == 0) goto done;
    TRY(gram_minimise_limited(context, &problem, l.x, &found));
    FAIL_IF(!isfinite(found.value), context, GRAM_ERROR_NUMERICAL,
            "gp_inducing_fit: the bound has no value at the numbers that the search starts from");
    gp->report.evaluations = found.evaluations;
    gp->report.converged = found.converged;
    TRY(set_model(&l, l.x));
    gram_kernel_release(gp->kernel);
    gp->kernel = gram_kernel_retain(l.kernel);
done:
    gp->model.kernel = gp->kernel;
    gram_kernel_release(l.kernel);
    gram_give(context, l.numbers, l.numbers ? learning_numbers(&l) : 0, sizeof(double));
    gram_space_free(context, &l.space);
    return status;
}

/* ---- fitting ---- */

static gram_status make(gram_context *context, const char *name, gram_kernel *kernel, gram_gp_inducing **out)
{
    gram_status status = GRAM_OK;
    gram_gp_inducing *made = NULL;
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "%s: kernel is NULL", name);
    TRY(gram_take(context, name, 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    made->kernel = gram_kernel_retain(kernel);
    made->report = (gram_gp_inducing_report){.size = sizeof made->report, .converged = 1};
    *out = made;
done:
    return status;
}

static gram_status set_positions(gram_context *context, const gram_gp_inducing_options *o, gram_inducing *s)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->base.n, d = s->base.d, wanted = o->count > 0 ? o->count : (int64_t)(16 * sqrt((double)n));
    const int64_t count = wanted < n ? wanted : n;
    double *chosen = NULL;
    int64_t made = 0;
    if (o->positions) return copy_positions(context, "gp_inducing_fit", o->positions, s);
    TRY(gram_take(context, "gp_inducing_fit: positions", count * d, sizeof(double), (void **)&chosen));
    TRY(gram_inducing_choose(context, s->kernel, s->x, o->choice, count, chosen, &made));
    TRY(gram_inducing_take(context, made, s));
    memcpy(s->positions, chosen, (size_t)(made * d) * sizeof *chosen);
done:
    gram_give(context, chosen, count * d, sizeof(double));
    return status;
}

gram_status gram_gp_inducing_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                 const gram_gp_inducing_options *options, gram_gp_inducing **gp)
{
    gram_status status = GRAM_OK;
    gram_gp_inducing *made = NULL;
    gram_gp_inducing_options o;
    if (!context || !gp) return GRAM_ERROR_ARGUMENT;
    *gp = NULL;
    TRY(make(context, "gp_inducing_fit", kernel, &made));
    gram_inducing *s = &made->model;
    TRY(begin(context, "gp_inducing_fit", kernel, x, y, options, &o, s));
    TRY(set_positions(context, &o, s));
    if (o.learn_parameters || o.learn_noise || o.learn_positions) TRY(learn(context, &o, made));
    TRY(gram_inducing_evaluate(context, o.jitter, s));
    gram_gp_inducing_report *r = &made->report;
    r->n = s->base.n;
    r->d = s->base.d;
    r->m = s->m;
    r->noise = s->base.options.noise;
    r->value = s->value;
    s->x = NULL; /* the caller's, as are these */
    s->base.y = s->base.options.basis = s->base.options.row_noise = s->base.options.weights = NULL;
    if (!r->converged) status = GRAM_NOT_CONVERGED;
    *gp = made;
    made = NULL;
done:
    gram_gp_inducing_destroy(made);
    return status;
}

void gram_gp_inducing_destroy(gram_gp_inducing *gp)
{
    if (!gp) return;
    gram_memory *memory = gp->memory;
    gram_inducing_free(memory, &gp->model);
    gram_kernel_release(gp->kernel);
    gram_memory_give(memory, gp, sizeof *gp);
    gram_memory_release(memory);
}

const gram_gp_inducing_report *gram_gp_inducing_get_report(const gram_gp_inducing *gp)
{
    return &gp->report;
}

gram_kernel *gram_gp_inducing_kernel(const gram_gp_inducing *gp)
{
    return gp->kernel;
}

/* ---- parts ---- */

void gram_gp_inducing_describe(const gram_gp_inducing *gp, gram_gp_inducing_parts *parts)
{
    const gram_inducing *s = &gp->model;
    const int flat = s->base.options.flat && s->base.q > 0;
    *parts = (gram_gp_inducing_parts){.size = sizeof *parts,
                                      .m = s->m,
                                      .d = s->base.d,
                                      .columns = s->base.options.columns,
                                      .mean = s->base.options.mean,
                                      .flat = s->base.options.flat,
                                      .noise = s->base.options.noise,
                                      .positions = s->positions,
                                      .coefficients = s->coefficients,
                                      .beta = s->base.q > 0 ? s->base.beta : NULL,
                                      .factor = s->factor,
                                      .inner = s->inner,
                                      .mean_weights = flat ? s->mean_weights : NULL,
                                      .mean_factor = flat ? s->base.small : NULL,
                                      .n = gp->report.n,
                                      .value = gp->report.value};
}

/* count numbers, all finite. */
static gram_status copy_part(gram_context *context, const char *name, int64_t count, const double *from, double *to)
{
    gram_status status = GRAM_OK;
    FAIL_IF(count > 0 && !from, context, GRAM_ERROR_ARGUMENT, "gp_inducing_create: %s is NULL", name);
    for (int64_t i = 0; i < count; i++) {
        FAIL_IF(!isfinite(from[i]), context, GRAM_ERROR_DATA, "gp_inducing_create: %s[%lld] is not finite", name,
                (long long)i);
        to[i] = from[i];
    }
done:
    return status;
}

/* The lower triangle of a factor; above it is 0. */
static gram_status copy_factor(gram_context *context, const char *name, int64_t m, const double *from, double *to)
{
    gram_status status = GRAM_OK;
    FAIL_IF(m > 0 && !from, context, GRAM_ERROR_ARGUMENT, "gp_inducing_create: %s is NULL", name);
    for (int64_t i = 0; i < m; i++) {
        TRY(copy_part(context, name, i + 1, from + i * m, to + i * m));
        for (int64_t j = i + 1; j < m; j++) to[i * m + j] = 0;
        FAIL_IF(!(to[i * m + i] > 0), context, GRAM_ERROR_DATA, "gp_inducing_create: %s has a diagonal entry <= 0",
                name);
    }
done:
    return status;
}

static gram_status copy_parts(gram_context *context, const gram_gp_inducing_parts *p, gram_inducing *s)
{
    gram_status status = GRAM_OK;
    const int64_t m = p->m, q = s->base.q;
    const int flat = p->flat && q > 0;
    TRY(gram_inducing_take(context, m, s));
    memset(s->numbers, 0, (size_t)s->size * sizeof(double));
    TRY(copy_part(context, "positions", m * p->d, p->positions, s->positions));
    TRY(copy_part(context, "coefficients", m, p->coefficients, s->coefficients));
    TRY(copy_part(context, "beta", q, p->beta, s->base.beta));
    TRY(copy_factor(context, "factor", m, p->factor, s->factor));
    TRY(copy_factor(context, "inner", m, p->inner, s->inner));
    if (flat) TRY(copy_part(context, "mean_weights", m * q, p->mean_weights, s->mean_weights));
    if (flat) TRY(copy_factor(context, "mean_factor", q, p->mean_factor, s->base.small));
    TRY(gram_points_create_f64(context, m, p->d, s->positions, p->d, &s->z));
done:
    return status;
}

gram_status gram_gp_inducing_create(gram_context *context, gram_kernel *kernel, const gram_gp_inducing_parts *parts,
                                    gram_gp_inducing **gp)
{
    gram_status status = GRAM_OK;
    gram_gp_inducing *made = NULL;
    if (!context || !gp) return GRAM_ERROR_ARGUMENT;
    *gp = NULL;
    FAIL_IF(!parts, context, GRAM_ERROR_ARGUMENT, "gp_inducing_create: parts is NULL");
    const gram_gp_inducing_parts *p = parts;
    FAIL_IF(p->size != sizeof *p || p->m < 1 || p->d < 1 || p->columns < 0 || (int)p->mean < 0 ||
                p->mean > GRAM_MEAN_LINEAR || !(p->noise > 0) || isinf(p->noise),
            context, GRAM_ERROR_ARGUMENT, "gp_inducing_create: size, m, d, columns, mean or noise is out of range");
    TRY(make(context, "gp_inducing_create", kernel, &made));
    TRY(gram_kernel_check_dimension(context, kernel, p->d));
    gram_gp_system *base = &made->model.base;
    gram_gp_options_init(&base->options, sizeof base->options);
    base->options.mean = p->mean;
    base->options.flat = p->flat;
    base->options.noise = p->noise;
    base->options.columns = p->columns;
    base->n = p->n;
    base->d = p->d;
    base->q = (p->mean != GRAM_MEAN_ZERO) + (p->mean == GRAM_MEAN_LINEAR ? p->d : 0) + p->columns;
    made->model.kernel = made->kernel;
    TRY(copy_parts(context, p, &made->model));
    made->report.n = p->n;
    made->report.d = p->d;
    made->report.m = p->m;
    made->report.noise = p->noise;
    made->report.value = p->value;
    *gp = made;
    made = NULL;
done:
    gram_gp_inducing_destroy(made);
    return status;
}

/* ---- prediction ---- */

typedef struct prediction {
    const gram_inducing *s;
    int64_t rows;
    double *k;        /* rows x m: k_z, then L^-1 and L_B^-1 L^-1 of it */
    double *columns;  /* rows x q: the mean's columns, then t - (R T)'k_z */
    double *diagonal; /* rows */
    double *mean, *variance;
} prediction;

static void predict_mean(const prediction *p, int64_t i)
{
    const gram_inducing *s = p->s;
    p->mean[i] = cblas_ddot((int)s->m, p->k + i * s->m, 1, s->coefficients, 1);
    for (int64_t j = 0; j < s->base.q; j++) p->mean[i] += p->columns[i * s->base.q + j] * s->base.beta[j];
}

/* What the mean's parameters add to the variance. */
static double flat_variance(const prediction *p, int64_t i)
{
    const gram_inducing *s = p->s;
    const int64_t q = s->base.q;
    double *row = p->columns + i * q, sum = 0;
    for (int64_t j = 0; j < q; j++) row[j] -= cblas_ddot((int)s->m, p->k + i * s->m, 1, s->mean_weights + j, (int)q);
    gram_gp_small_solve(&s->base, row);
    for (int64_t j = 0; j < q; j++) sum += row[j] * row[j];
    return sum;
}

static gram_status predict_task(void *argument, const gram_worker *worker)
{
    const prediction *p = argument;
    const gram_inducing *s = p->s;
    const int64_t first = worker->task * ROWS;
    const int rows = (int)(p->rows - first < ROWS ? p->rows - first : ROWS), m = (int)s->m;
    double *k = p->k + first * m;
    for (int64_t i = first; i < first + rows; i++) predict_mean(p, i);
    if (!p->variance) return GRAM_OK;
    for (int64_t i = first; i < first + rows; i++)
        p->variance[i] = s->base.options.flat && s->base.q > 0 ? flat_variance(p, i) : 0;
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rows, m, 1, s->factor, m, k, m);
    for (int64_t i = 0; i < rows; i++)
        p->variance[first + i] += fmax(p->diagonal[first + i] - cblas_ddot(m, k + i * m, 1, k + i * m, 1), 0);
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rows, m, 1, s->inner, m, k, m);
    for (int64_t i = 0; i < rows; i++) p->variance[first + i] += cblas_ddot(m, k + i * m, 1, k + i * m, 1);
    return GRAM_OK;
}

static gram_status predict_chunk(gram_context *context, const gram_points *points, int64_t first, prediction *p)
{
    gram_status status = GRAM_OK;
    gram_points *part = NULL;
    const gram_sweep sweep = {
        .what = "prediction", .tasks = (p->rows + ROWS - 1) / ROWS, .run = predict_task, .argument = p};
    TRY(gram_gp_points_part(context, points, first, p->rows, &part));
    TRY(gram_matrix(context, p->s->kernel, part, p->s->z, p->k, p->s->m));
    if (p->variance) TRY(gram_matrix_diagonal(context, p->s->kernel, part, p->diagonal));
    TRY(gram_sweep_run(context, &sweep));
done:
    gram_points_destroy(part);
    return status;
}

gram_status gram_gp_inducing_predict(gram_context *context, const gram_gp_inducing *gp, const gram_points *points,
                                     const double *basis, int64_t ldb, double *mean, double *variance)
{
    gram_status status = GRAM_OK;
    double *numbers = NULL;
    int64_t size = 0;
    if (!context || !gp || !mean) return GRAM_ERROR_ARGUMENT;
    const gram_inducing *s = &gp->model;
    TRY(gram_gp_system_check_points(context, "gp_inducing_predict", &s->base, points, basis, ldb));
    const int64_t room = points->n < CHUNK ? points->n : CHUNK;
    size = room * (s->m + s->base.q + 1) + s->base.d;
    TRY(gram_take(context, "gp_inducing_predict", size, sizeof(double), (void **)&numbers));
    prediction p = {.s = s, .k = numbers, .columns = numbers + room * s->m};
    p.diagonal = p.columns + room * s->base.q;
    for (int64_t first = 0; first < points->n; first += room) {
        p.rows = points->n - first < room ? points->n - first : room;
        p.mean = mean + first;
        p.variance = variance ? variance + first : NULL;
        gram_gp_system_rows(&s->base, points, first, p.rows, basis, ldb, p.diagonal + room, p.columns);
        TRY(predict_chunk(context, points, first, &p));
    }
done:
    gram_give(context, numbers, size, sizeof(double));
    return status;
}
