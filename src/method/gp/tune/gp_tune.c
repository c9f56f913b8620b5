/* Learning the parameters of a Gaussian process. gradient_search.c has the strategy, gp_likelihood.c and gp_markov.c the objectives.
 *
 * What is minimised is minus the objective for each row, less the log densities of the priors: those of the caller and the
 * weak one that holds the noise off 0 (gp_tune_options.c). The value that is reported has none of them in it. On the last
 * level steps that gain less than TOLERANCE of the whole log likelihood end the search; the levels before it only bring the
 * start and the Hessian.
 *
 * y is used as it is, unless its squares are near the ends of the numbers; then the problem is divided by a power of 2, the
 * kernel by a fixed constant behind all its parameters, which keep their numbers and the caller's units. */
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "base/sized_struct.h"
#include "kernel/kernel.h"
#include "method/gp/gp_system.h"
#include "method/gp/markov/gp_markov.h"
#include "method/gp/tune/gp_tune.h"
#include "method/gp/tune/gp_tune_along.h"
#include "method/gp/vecchia/gp_vecchia.h"

static const double TOLERANCE = 5e-4, COARSE_TOLERANCE = 2e-2; /* of the log likelihood, on the last level and before */
static const double LEAST_DEVIATION = 1e-30, MOST_DEVIATION = 1e30, MOST_EXPONENT = 500;

/* ---- levels ---- */

/* The options for the rows of a level, with its own arrays. */
typedef struct level_work {
    gram_gp_options options;
    double *numbers; /* row noises and basis */
    int64_t number_count;
    void *memo; /* the engine's */
} level_work;

static void close_level(gram_tuning *t, int which, void *work)
{
    level_work *w = work;
    (void)which;
    if (!w) return;
    const gram_gp_engine *engine = gram_gp_tuning_of(t)->engine;
    if (engine->forget) engine->forget(w->memo);
    gram_give(t->context, w->numbers);
    gram_give(t->context, w);
}

static void begin_descent(gram_tuning *t, int which)
{
    level_work *w = t->levels[which].work;
    const gram_gp_engine *engine = gram_gp_tuning_of(t)->engine;
    if (!w || !engine->forget) return;
    engine->forget(w->memo);
    w->memo = NULL;
}

static void copy_rows(const gram_level *level, const gram_gp_options *all, level_work *w)
{
    const int64_t n = level->sample.n, columns = all->columns;
    double *row_noise = w->numbers, *basis = all->row_noise ? w->numbers + n : w->numbers;
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = level->rows[i];
        if (all->row_noise) row_noise[i] = all->row_noise[row];
        if (columns) memcpy(basis + i * columns, all->basis + row * all->ld, (size_t)columns * sizeof *basis);
    }
    w->options = *all;
    w->options.row_noise = all->row_noise ? row_noise : NULL;
    w->options.basis = columns ? basis : NULL;
    w->options.ld = columns;
    w->options.weights = all->weights ? level->sample.weights : NULL;
}

static gram_status open_level(gram_tuning *t, int which, void **work)
{
    gram_status status = GRAM_OK;
    const gram_level *level = &t->levels[which];
    const gram_gp_options *all = &gram_gp_tuning_of(t)->options;
    level_work *w = NULL;
    TRY(gram_take(t->context, "gp_tune: rows", 1, sizeof *w, (void **)&w));
    *w = (level_work){.number_count = level->sample.n * ((all->row_noise != NULL) + all->columns)};
    TRY(gram_take(t->context, "gp_tune: rows", w->number_count, sizeof(double), (void **)&w->numbers));
    copy_rows(level, all, w);
    *work = w;
    w = NULL;
done:
    close_level(t, which, w);
    return status;
}

/* ---- one evaluation ---- */

static gram_status subtract_priors(gram_tuning *t, const gram_kernel *kernel, double noise, double *value,
                                   double *gradient)
{
    gram_status status = GRAM_OK;
    const gram_gp_tuning *g = gram_gp_tuning_of(t);
    const int64_t count = gram_kernel_parameter_count(kernel);
    const double square = g->scale * g->scale;
    double density;
    if (g->no_priors || (g->tune.prior_count == 0 && g->weak_noise == 0)) goto done;
    for (int64_t i = 0; i <= count && gradient; i++) gradient[i] = -gradient[i];
    if (gradient) gradient[count] /= square;
    TRY(gram_gp_log_prior(t->context, g, kernel, noise * square, &density, gradient));
    if (gradient) gradient[count] *= square;
    for (int64_t i = 0; i <= count && gradient; i++) gradient[i] = -gradient[i];
    *value -= density;
done:
    return status;
}

/* Minus the objective, which is to be minimised. */
static gram_status evaluate(gram_tuning *t, int which, gram_kernel *kernel, double noise, double *value,
                            double *gradient)
{
    gram_status status = GRAM_OK;
    const gram_gp_tuning *g = gram_gp_tuning_of(t);
    const gram_sample *sample = &t->levels[which].sample;
    level_work *work = t->levels[which].work;
    gram_gp_options options = work->options;
    options.noise = noise;
    TRY(g->engine->evaluate(t->context, g->tune.objective, kernel, sample->points, sample->y, &options, &work->memo,
                            value, gradient));
    FAIL_IF(!isfinite(*value), t->context, GRAM_ERROR_NUMERICAL, "%s: the objective is not a finite number",
            t->method->name);
    *value = -*value;
    for (int64_t i = 0; i <= gram_kernel_parameter_count(kernel) && gradient; i++) gradient[i] = -gradient[i];
    TRY(subtract_priors(t, kernel, noise, value, gradient));
done:
    return status;
}

static double objective(const gram_tuning *t, int which, double value, double *slope)
{
    *slope = 1 / (double)t->levels[which].sample.n;
    return value * *slope;
}

static double tolerance(const gram_tuning *t, int which)
{
    return (which == t->last ? TOLERANCE : COARSE_TOLERANCE) / (double)t->levels[which].sample.n;
}

/* ---- scale ---- */

/* The population variance of y about its mean (about 0 without one), over square of 2^*exponent; overflow-free */
static double variance_of(int64_t n, const double *y, int about_zero, int *exponent)
{
    double largest = 0, mean = 0, sum = 0;
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs(y[i]));
    if (largest == 0) return 0;
    (void)frexp(largest, exponent);
    for (int64_t i = 0; i < n && !about_zero; i++) mean += ldexp(y[i], -*exponent) / (double)n;
    for (int64_t i = 0; i < n; i++) {
        const double away = ldexp(y[i], -*exponent) - mean;
        sum += away * away / (double)n;
    }
    /* a constant target: what is far below what its digits can show */
    return sum > 1e-30 ? sum : 1e-20;
}

static gram_status scale_arrays(gram_context *context, const gram_points *x, const double *y, gram_gp_tuning *g)
{
    gram_status status = GRAM_OK;
    const double square = g->scale * g->scale;
    TRY(gram_take(context, "gp_tune: targets", g->n, sizeof(double), (void **)&g->y));
    for (int64_t i = 0; i < x->n; i++) g->y[i] = y[i] / g->scale;
    g->options.noise /= square;
    if (!g->options.row_noise) goto done;
    TRY(gram_take(context, "gp_tune: row noise", g->n, sizeof(double), (void **)&g->row_noise));
    for (int64_t i = 0; i < x->n; i++) g->row_noise[i] = g->options.row_noise[i] / square;
    g->options.row_noise = g->row_noise;
done:
    return status;
}

/* kernel * (1/scale^2)! */
static gram_status scale_kernel(gram_context *context, gram_kernel *kernel, gram_gp_tuning *g)
{
    gram_status status = GRAM_OK;
    unsigned char fixed = 1;
    double factor = 1 / (g->scale * g->scale);
    const gram_argument argument = {.count = 1, .set = 1, .values = &factor, .fixed = &fixed};
    gram_kernel *constant = NULL;
    TRY(gram_kernel_leaf(context, &gram_kernel_const, &argument, &constant));
    TRY(gram_kernel_multiply(context, kernel, constant, &g->scaled));
    g->kernel = g->scaled;
done:
    gram_kernel_release(constant);
    return status;
}

/* Without that factor, which is the last of a product. */
static gram_status unscale_kernel(gram_context *context, const gram_gp_tuning *g, gram_kernel *kernel,
                                  gram_kernel **out)
{
    if (!g->scaled) {
        *out = gram_kernel_retain(kernel);
        return GRAM_OK;
    }
    if (kernel->child_count == 2) {
        *out = gram_kernel_retain(kernel->children[0]);
        return GRAM_OK;
    }
    return gram_kernel_combine(context, GRAM_NODE_PRODUCT, kernel->child_count - 1, kernel->children, out);
}

static gram_status set_scale(gram_context *context, const char *name, gram_kernel *kernel, const gram_points *x,
                             const double *y, gram_gp_tuning *g)
{
    gram_status status = GRAM_OK;
    int exponent = 0;
    char text[GRAM_NUMBER_SIZE];
    const double variance = variance_of(x->n, y, g->options.mean == GRAM_MEAN_ZERO, &exponent);
    g->scale = 1;
    g->unit = variance > 0 ? ldexp(variance, 2 * exponent) : 1;
    const double deviation = ldexp(sqrt(variance), exponent);
    if (variance == 0 || (deviation > LEAST_DEVIATION && deviation < MOST_DEVIATION)) goto done;
    FAIL_IF(fabs((double)exponent) > MOST_EXPONENT, context, GRAM_ERROR_DATA,
            "%s: y has a standard deviation of %s, whose square is not a finite number; divide y by a constant", name,
            gram_number_format(deviation, text));
    g->scale = ldexp(1, exponent);
    g->unit = variance;
    TRY(scale_arrays(context, x, y, g));
    TRY(scale_kernel(context, kernel, g));
done:
    return status;
}

/* ---- the public functions ---- */

static int64_t mean_columns(const gram_gp_options *o, int64_t d)
{
    return (o->mean != GRAM_MEAN_ZERO) + (o->mean == GRAM_MEAN_LINEAR ? d : 0) + o->columns;
}

static void set_tuning(const gram_gp_tuning *g, const gram_points *x, const double *y, gram_tuning *t)
{
    const gram_gp_tune_options *o = &g->tune;
    t->given = (gram_given){x, 1, g->y ? g->y : y, 1, g->options.weights};
    t->intercept = g->options.mean != GRAM_MEAN_ZERO;
    t->least_rows = mean_columns(&g->options, x->d) + 2;
    t->worth = 0.5;
    t->refine = 1;
    t->second_look = 1;
    t->more_starts = 1;
    t->narrows = g->options.mean != GRAM_MEAN_LINEAR;
    t->shorter = t->longer = x->d == 1 ? 2 : 1;
    t->ard = o->ard;
    t->rows_limit = g->engine->most_rows > 0 ? g->engine->most_rows : o->rows;
    t->restarts = o->restarts;
    t->evaluations_limit = o->evaluations;
}

static gram_status check(gram_context *context, const char *name, const gram_kernel *kernel, const gram_points *x,
                         const double *y, const gram_gp_options *options, gram_kernel *const *tuned,
                         const double *noise, gram_gp_tuning *g)
{
    gram_status status = GRAM_OK;
    gram_gp_options_init(&g->options, sizeof g->options);
    TRY(gram_sized_read(context, name, "options", "gram_gp_options", options, &g->options, sizeof g->options));
    TRY(gram_gp_check(context, name, kernel, x, y, &g->options));
    FAIL_IF(!tuned, context, GRAM_ERROR_ARGUMENT, "%s: tuned is NULL", name);
    FAIL_IF(!noise, context, GRAM_ERROR_ARGUMENT, "%s: noise is NULL", name);
    g->kernel = kernel;
    g->n = x->n;
done:
    return status;
}

static void free_scaled(gram_context *context, gram_gp_tuning *g)
{
    gram_give(context, g->y);
    gram_give(context, g->row_noise);
    gram_kernel_release(g->scaled);
}

/* Lengths in natural logarithms of the scale enter a density of y once for each dimension that it has. */
static double in_own_units(const gram_gp_tuning *g, int64_t rows, int64_t columns, double value)
{
    const int64_t dimensions = g->options.flat && g->tune.objective == GRAM_GP_OBJECTIVE_ML ? rows - columns : rows;
    return value - (double)dimensions * log(g->scale);
}

static gram_tuning_method method_of(const gram_gp_engine *engine)
{
    return (gram_tuning_method){.name = engine->name,
                                .limits = {.small = 60, .medium = 40, .last = 150, .guide = 8},
                                .clear = 0.02,
                                .small_rows = engine->small_rows,
                                .medium_rows = engine->medium_rows,
                                .cost = engine->cost,
                                .prepare = gram_gp_tuning_prepare,
                                .bounds = gram_gp_tuning_bounds,
                                .open = open_level,
                                .close = close_level,
                                .begin = begin_descent,
                                .evaluate = evaluate,
                                .objective = objective,
                                .tolerance = tolerance,
                                .finish = gram_gp_tuning_finish};
}

static gram_status tune_process(gram_context *context, const gram_gp_engine *engine, gram_kernel *kernel,
                                const gram_points *x, const double *y, const gram_gp_options *options,
                                const gram_gp_tune_options *tune, gram_search_trails trails, gram_kernel **tuned,
                                double *noise, gram_gp_tune_report *report)
{
    gram_status status = GRAM_OK;
    const gram_tuning_method method = method_of(engine);
    char diagnosis[GRAM_GP_DIAGNOSIS] = "";
    gram_gp_tuning g = {.engine = engine, .diagnosis = diagnosis, .value = NAN};
    gram_tuned out = {.kernel = NULL};
    if (!context) return GRAM_ERROR_ARGUMENT;
    if (tuned) *tuned = NULL;
    g.on_the_line = engine->on_the_line;
    TRY(check(context, method.name, kernel, x, y, options, tuned, noise, &g));
    TRY(gram_gp_tune_options_read(context, method.name, tune, kernel, &g.tune));
    TRY(gram_sized_check(context, method.name, "report", "gram_gp_tune_report", report, sizeof *report));
    FAIL_IF(engine->likelihood_only && g.tune.objective == GRAM_GP_OBJECTIVE_LOO, context, GRAM_ERROR_UNSUPPORTED,
            "%s: the leave-one-out density has no gradient here; use the marginal likelihood", method.name);
    TRY(set_scale(context, method.name, kernel, x, y, &g));
    gram_tuning t = {.context = context, .method = &method, .self = &g, .trails = trails};
    set_tuning(&g, x, y, &t);
    TRY(gram_tuning_run(&t, g.kernel, &out));
    TRY(unscale_kernel(context, &g, out.kernel, tuned));
    *noise = out.noise * g.scale * g.scale;
    if (report) {
        const int64_t columns = mean_columns(&g.options, x->d);
        gram_gp_tune_report made = {.rows = out.rows,
                                    .evaluations = t.evaluations,
                                    .value = in_own_units(&g, out.rows, columns, g.value),
                                    .value_isotropic = in_own_units(&g, out.rows, columns, -out.value_isotropic),
                                    .ard_kept = out.ard_kept,
                                    .at_bound = out.at_bound,
                                    .noise_held = g.noise_held};
        memcpy(made.diagnosis, diagnosis, sizeof diagnosis);
        gram_sized_write(report, &made, sizeof made);
    }
    if (t.evaluations >= t.evaluations_limit) status = GRAM_NOT_CONVERGED;
done:
    gram_kernel_release(out.kernel);
    if (context) free_scaled(context, &g);
    return status;
}

static gram_status evaluate_dense(gram_context *context, gram_gp_objective which, gram_kernel *kernel,
                                  const gram_points *x, const double *y, const gram_gp_options *options, void **memo,
                                  double *value, double *gradient)
{
    (void)memo;
    return gram_gp_evaluate(context, "gp_tune", which, kernel, x, y, options, value, gradient);
}

static gram_status evaluate_line(gram_context *context, gram_gp_objective which, gram_kernel *kernel,
                                 const gram_points *x, const double *y, const gram_gp_options *options, void **memo,
                                 double *value, double *gradient)
{
    (void)which;
    (void)memo;
    return gram_markov_likelihood(context, kernel, x, y, options, value, gradient);
}

/* Neighbours are kept from one evaluation to the next while the proportions of the lengths allow it: between them the objective is
 * smooth. New neighbours condition better on average, so that a step that brings them is not taken for a bad one. */
static gram_status evaluate_neighbours(gram_context *context, gram_gp_objective which, gram_kernel *kernel,
                                       const gram_points *x, const double *y, const gram_gp_options *options,
                                       void **memo, double *value, double *gradient)
{
    gram_vecchia_rows *rows = *memo;
    (void)which;
    const gram_status status = gram_vecchia_likelihood(context, kernel, x, y, options, &rows, value, gradient);
    *memo = rows;
    return status;
}

static void forget_neighbours(void *memo)
{
    gram_vecchia_rows_destroy(memo);
}

static const gram_gp_engine DENSE = {
    .name = "gp_tune", .small_rows = 400, .medium_rows = 1000, .cost = 3, .evaluate = evaluate_dense};

static const gram_gp_engine LINE = {.name = "markov_tune",
                                    .small_rows = 3000,
                                    .medium_rows = 30000,
                                    .cost = 1,
                                    .evaluate = evaluate_line,
                                    .most_rows = INT64_MAX,
                                    .likelihood_only = 1,
                                    .on_the_line = 1};

/* 100,000 rows say enough about a few numbers, and are some ten seconds of work. */
static const gram_gp_engine NEIGHBOURS = {.name = "gp_tune",
                                          .small_rows = 1000,
                                          .medium_rows = 10000,
                                          .cost = 1,
                                          .evaluate = evaluate_neighbours,
                                          .forget = forget_neighbours,
                                          .most_rows = 100000,
                                          .likelihood_only = 1};

/* Which solver will the fit have, as far as it is known? */
static int asks_for_neighbours(const gram_gp_options *options)
{
    const gram_plan *plan = options->plan;
    const gram_solver solver = options->solver == GRAM_SOLVER_AUTO && plan ? plan->solver : options->solver;
    return solver == GRAM_SOLVER_VECCHIA;
}

gram_status gram_gp_tune_along(gram_context *context, int markov, gram_kernel *kernel, const gram_points *x,
                               const double *y, const gram_gp_options *options, const gram_gp_tune_options *tune,
                               gram_search_trails trails, gram_kernel **tuned, double *noise,
                               gram_gp_tune_report *report)
{
    gram_gp_options o;
    const gram_gp_engine *engine = &LINE;
    if (!context) return GRAM_ERROR_ARGUMENT;
    if (!markov) {
        const gram_status status = gram_gp_options_read(context, "gp_tune", options, &o);
        if (status < 0) return status;
        engine = asks_for_neighbours(&o) ? &NEIGHBOURS : &DENSE;
    }
    return tune_process(context, engine, kernel, x, y, options, tune, trails, tuned, noise, report);
}

gram_status gram_gp_tune(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                         const gram_gp_options *options, const gram_gp_tune_options *tune, gram_kernel **tuned,
                         double *noise, gram_gp_tune_report *report)
{
    return gram_gp_tune_along(context, 0, kernel, x, y, options, tune, (gram_search_trails){0}, tuned, noise, report);
}

gram_status gram_markov_tune(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                             const gram_gp_options *options, const gram_gp_tune_options *tune, gram_kernel **tuned,
                             double *noise, gram_gp_tune_report *report)
{
    return gram_gp_tune_along(context, 1, kernel, x, y, options, tune, (gram_search_trails){0}, tuned, noise, report);
}
