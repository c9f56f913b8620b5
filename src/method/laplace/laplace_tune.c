/* Parameters by the evidence: a coarse grid of starts, then quasi-Newton descents with exact gradients from the best
 * of them; from there one with a length-scale per column. */
#include <math.h>
#include <string.h>

#include <gram/random.h>

#include "base/sized_struct.h"
#include "method/laplace/laplace_fit.h"
#include "points/row_sample.h"
#include "solve/minimise.h"
#include "tune/parameter_space.h"

enum { ARD_COLUMNS = 30 };
enum { STREAM = 0x6c61706c /* "lapl" */, FACTORS = 3, AMPLITUDES = 2, STARTS = FACTORS * AMPLITUDES };
static const double FACTOR[FACTORS] = {1, 3, 0.33};   /* on the length-scales */
static const double AMPLITUDE[AMPLITUDES] = {1, 0.1}; /* on other numbers that are searched on the log scale */
static const double TOLERANCE = 1e-6, FIRST_STEP = 0.3, LONGEST_STEP = 2, SCALE_WIDTH = 1000;

/* Of f of classes: the logistic function does most of its work within 5. And how far, on the log scale, that is from sure. */
static const double USUAL_VARIANCE = 30, PRIOR_DEVIATION = 0.7;

typedef struct tuning {
    gram_context *context;
    const gram_laplace_options *options;
    const gram_points *x;
    const double *y;
    gram_space space;
    double *point, *gradient; /* parameters + 1 */
    int64_t evaluations;
} tuning;

void gram_laplace_tune_options_init(gram_laplace_tune_options *options, size_t size)
{
    gram_laplace_tune_options defaults = {.restarts = 2, .evaluations = 100};
    gram_laplace_options_init(&defaults.laplace, sizeof defaults.laplace);
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

/* The evidence at t->point; -infinity where there is none. */
static gram_status evidence(tuning *t, int gradient, double *value)
{
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL;
    gram_laplace_options o = *t->options;
    o.scale = t->point[t->space.parameters];
    TRY(gram_space_kernel(t->context, &t->space, t->point, &kernel));
    status = gram_laplace_evidence(t->context, kernel, t->x, t->y, &o, value, gradient ? t->gradient : NULL);
    if (status == GRAM_ERROR_NUMERICAL || !isfinite(*value)) {
        *value = -INFINITY;
        status = GRAM_OK;
    }
done:
    gram_kernel_release(kernel);
    return status < 0 ? status : GRAM_OK;
}

/* Classes only: probabilities hardly change where |f| is above 10, and the approximation of the evidence, worst there, drives
 * amplitudes up without end. Their logarithms have a normal prior. */
static gram_status add_prior(const tuning *t, double *value, double *gradient)
{
    gram_status status = GRAM_OK;
    const double rows = (double)gram_points_count(t->x);
    if (t->options->likelihood >= GRAM_LIKELIHOOD_POISSON) return GRAM_OK;
    for (int64_t i = 0; i < t->space.count; i++) {
        const int64_t index = t->space.index[i];
        gram_parameter p;
        if (index == t->space.parameters || !t->space.is_log[i]) continue;
        TRY(gram_kernel_parameter_get(t->context, t->space.kernel, index, &p));
        if (strncmp(p.name, "const", 5) != 0) continue;
        const double z = log(t->point[index] / USUAL_VARIANCE) / PRIOR_DEVIATION;
        *value += z * z / 2 / rows;
        gradient[i] += z / PRIOR_DEVIATION / rows;
    }
done:
    return status;
}

static gram_status evaluate(void *argument, const double *variables, double *value, double *gradient)
{
    gram_status status = GRAM_OK;
    tuning *t = argument;
    const double rows = (double)gram_points_count(t->x);
    gram_space_to_point(&t->space, variables, t->point);
    TRY(evidence(t, 1, value));
    t->evaluations++;
    *value = -*value / rows;
    for (int64_t i = 0; i < t->space.count; i++) {
        const int64_t index = t->space.index[i];
        gradient[i] = -t->gradient[index] * (t->space.is_log[i] ? t->point[index] : 1) / rows;
    }
    TRY(add_prior(t, value, gradient));
done:
    return status;
}

/* ---- starts ---- */

typedef struct start {
    double value;
    int number;
} start;

/* Start number `number`, from the origin. */
static gram_status place(tuning *t, double scale, int number)
{
    gram_status status = GRAM_OK;
    t->point[t->space.parameters] = scale;
    TRY(gram_space_origin(t->context, &t->space, t->point));
    for (int64_t i = 0; i < t->space.count; i++) {
        const int64_t index = t->space.index[i];
        if (index == t->space.parameters || !t->space.is_log[i]) continue;
        t->point[index] *= t->space.is_length[index] ? FACTOR[number % FACTORS] : AMPLITUDE[number / FACTORS];
    }
done:
    return status;
}

/* All starts, the best first. */
static gram_status sort_starts(tuning *t, double scale, start starts[STARTS])
{
    gram_status status = GRAM_OK;
    for (int i = 0; i < STARTS; i++) {
        double value;
        TRY(place(t, scale, i));
        TRY(evidence(t, 0, &value));
        int at = i;
        for (; at > 0 && starts[at - 1].value < value; at--) starts[at] = starts[at - 1];
        starts[at] = (start){value, i};
    }
done:
    return status;
}

typedef struct outcome {
    double value;
    double *variables;
    int converged;
} outcome;

static gram_status descend(tuning *t, int64_t evaluations, double *variables, double *inverse, outcome *best)
{
    gram_status status = GRAM_OK;
    gram_minimise_report report;
    int known = 0;
    const gram_minimise_problem problem = {.n = t->space.count,
                                           .lower = t->space.lower,
                                           .upper = t->space.upper,
                                           .evaluations = evaluations,
                                           .tolerance = TOLERANCE,
                                           .first_step = FIRST_STEP,
                                           .longest_step = LONGEST_STEP,
                                           .evaluate = evaluate,
                                           .argument = t};
    gram_space_to_variables(&t->space, t->point, variables);
    TRY(gram_minimise(t->context, &problem, variables, inverse, &known, &report));
    if (!(report.value < best->value)) goto done;
    best->value = report.value;
    best->converged = report.converged;
    memcpy(best->variables, variables, (size_t)t->space.count * sizeof *variables);
done:
    return status;
}

static gram_status search(tuning *t, const gram_laplace_tune_options *o, outcome *best)
{
    gram_status status = GRAM_OK;
    const int64_t count = t->space.count, numbers = count * (count + 1);
    start starts[STARTS];
    double *work = NULL;
    TRY(gram_take(t->context, "laplace_tune", numbers, sizeof(double), (void **)&work));
    TRY(sort_starts(t, o->laplace.scale, starts));
    FAIL_IF(!isfinite(starts[0].value), t->context, GRAM_ERROR_NUMERICAL,
            "laplace_tune: the evidence has no value where the search starts");
    for (int i = 0; i < STARTS && i < o->restarts && t->evaluations < o->evaluations; i++) {
        const int64_t left = o->evaluations - t->evaluations, runs = o->restarts - i;
        TRY(place(t, o->laplace.scale, starts[i].number));
        TRY(descend(t, left / runs > 0 ? left / runs : 1, work, work + count, best));
    }
done:
    gram_give(t->context, work);
    return status;
}

/* ---- the whole ---- */

/* The variance that f may have: of classes some 30 (the logistic function does most of its work within 5), of counts
 * that of their logarithms, of Student-t that of y. */
static double usual_variance(const tuning *t)
{
    const int64_t n = gram_points_count(t->x);
    const int counts = t->options->likelihood == GRAM_LIKELIHOOD_POISSON;
    double mean = 0, sum = 0;
    if (t->options->likelihood < GRAM_LIKELIHOOD_POISSON) return USUAL_VARIANCE;
    for (int64_t i = 0; i < n; i++) mean += (counts ? log(t->y[i] + 0.5) : t->y[i]) / (double)n;
    for (int64_t i = 0; i < n; i++) sum += pow((counts ? log(t->y[i] + 0.5) : t->y[i]) - mean, 2) / (double)n;
    return sum > 0 && isfinite(sum) ? sum : 1;
}

/* Everything that is unset from the data, constants by the variance above. */
static gram_status resolve(const tuning *t, const gram_kernel *kernel, gram_kernel **out)
{
    gram_status status = GRAM_OK;
    const int64_t count = gram_kernel_parameter_count(kernel);
    gram_kernel *resolved = NULL;
    double *values = NULL;
    TRY(gram_take(t->context, "laplace_tune", count, sizeof(double), (void **)&values));
    TRY(gram_kernel_resolve(t->context, kernel, t->x, &resolved));
    for (int64_t i = 0; i < count; i++) {
        gram_parameter given, filled;
        TRY(gram_kernel_parameter_get(t->context, kernel, i, &given));
        TRY(gram_kernel_parameter_get(t->context, resolved, i, &filled));
        values[i] = !given.set && strncmp(given.name, "const", 5) == 0 ? usual_variance(t) : filled.value;
    }
    TRY(gram_kernel_with_values(t->context, resolved, values, out));
done:
    gram_kernel_release(resolved);
    gram_give(t->context, values);
    return status;
}

/* One descent from the kernel's own values. */
static gram_status descend_from_here(tuning *t, const gram_laplace_tune_options *o, outcome *best)
{
    gram_status status = GRAM_OK;
    const int64_t count = t->space.count, numbers = count * (count + 1);
    double *work = NULL;
    TRY(gram_take(t->context, "laplace_tune", numbers, sizeof(double), (void **)&work));
    TRY(place(t, o->laplace.scale, 0));
    TRY(descend(t, o->evaluations, work, work + count, best));
done:
    gram_give(t->context, work);
    return status;
}

static gram_status run(tuning *t, gram_kernel *kernel, const gram_laplace_tune_options *o, int from_here,
                       gram_kernel **tuned, double *scale, gram_laplace_tune_report *r)
{
    gram_status status = GRAM_OK;
    gram_kernel *resolved = NULL;
    const int has_scale = o->laplace.likelihood == GRAM_LIKELIHOOD_STUDENT && !o->scale_fixed;
    outcome best = {.value = INFINITY, .converged = 1};
    int64_t numbers = 0;
    double value;
    TRY(resolve(t, kernel, &resolved));
    TRY(gram_space_create(
        t->context, resolved, t->x,
        (gram_noise_range){o->laplace.scale / SCALE_WIDTH, o->laplace.scale * SCALE_WIDTH, !has_scale}, &t->space));
    numbers = 3 * (t->space.parameters + 1);
    TRY(gram_take(t->context, "laplace_tune", numbers, sizeof(double), (void **)&t->point));
    t->gradient = t->point + numbers / 3;
    best.variables = t->gradient + numbers / 3;
    if (t->space.count > 0) TRY((from_here ? descend_from_here : search)(t, o, &best));
    TRY(place(t, o->laplace.scale, 0));
    if (t->space.count > 0 && isfinite(best.value)) gram_space_to_point(&t->space, best.variables, t->point);
    TRY(evidence(t, 0, &value));
    TRY(gram_space_kernel(t->context, &t->space, t->point, tuned));
    *scale = t->point[t->space.parameters];
    *r = (gram_laplace_tune_report){.size = sizeof *r,
                                    .rows = gram_points_count(t->x),
                                    .evaluations = t->evaluations,
                                    .log_evidence = value,
                                    .at_bound = gram_space_at_bound(&t->space, t->point)};
    if (!best.converged) status = GRAM_NOT_CONVERGED;
done:
    gram_give(t->context, t->point);
    if (t->space.numbers) gram_space_free(t->context, &t->space);
    gram_kernel_release(resolved);
    return status;
}

static gram_status check(gram_context *context, const gram_laplace_tune_options *o, const gram_kernel *kernel,
                         const gram_points *x, const double *y, gram_kernel **tuned)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!kernel || !x || !y || !tuned, context, GRAM_ERROR_ARGUMENT, "laplace_tune: %s is NULL",
            !kernel ? "kernel"
            : !x    ? "x"
            : !y    ? "y"
                    : "tuned");
    FAIL_IF(o->rows < 0 || o->rows == 1 || o->restarts < 1 || o->evaluations < 1, context, GRAM_ERROR_ARGUMENT,
            "laplace_tune: rows = %lld, restarts = %lld, evaluations = %lld, need at least 2 (or 0), 1 and 1",
            (long long)o->rows, (long long)o->restarts, (long long)o->evaluations);
    TRY(gram_kernel_check_dimension(context, kernel, gram_points_count(x) > 0 ? gram_points_dimension(x) : 0));
done:
    return status;
}

/* Several functions take several times the time of one. */
static int64_t default_rows(const gram_given *given, const gram_laplace_options *o)
{
    enum { ROWS = 1000 };
    double outputs = o->likelihood == GRAM_LIKELIHOOD_SOFTMAX ? (double)o->classes : 1;
    const int unknown = outputs == 0;
    for (int64_t i = 0; i < gram_points_count(given->x) && unknown; i++) outputs = fmax(outputs, given->y[i] + 1);
    return (int64_t)(ROWS / sqrt(fmax(1, outputs)));
}

/* At most this many of all rows, in a random order. */
static gram_status sample_rows(gram_context *context, const gram_given *given, int64_t rows, gram_sample *sample)
{
    gram_status status = GRAM_OK;
    const int64_t n = gram_points_count(given->x);
    int64_t *order = NULL;
    TRY(gram_take(context, "laplace_tune: rows", n, sizeof *order, (void **)&order));
    if (n > rows)
        gram_random_permutation((gram_random){gram_context_seed(context), STREAM}, 0, n, order);
    else
        for (int64_t i = 0; i < n; i++) order[i] = i;
    TRY(gram_sample_make(context, given, n > rows ? rows : n, order, sample));
done:
    gram_give(context, order);
    return status;
}

/* What was found so far. */
typedef struct found {
    gram_kernel *kernel;
    double scale;
    gram_laplace_tune_report report;
    gram_status status; /* GRAM_NOT_CONVERGED counts for the first search only */
} found;

static gram_status tune_rows(gram_context *context, const gram_given *given, const gram_laplace_options *known,
                             const gram_laplace_tune_options *o, int64_t rows, gram_kernel *kernel, int from_here,
                             found *out)
{
    gram_status status = GRAM_OK;
    gram_sample sample = {0};
    TRY(sample_rows(context, given, rows, &sample));
    tuning t = {.context = context, .options = known, .x = sample.points, .y = sample.y};
    out->status = run(&t, kernel, o, from_here, &out->kernel, &out->scale, &out->report);
    TRY(out->status);
done:
    gram_sample_free(context, &sample);
    return status;
}

static void replace(found *best, found *by)
{
    gram_kernel *old = best->kernel;
    by->report.evaluations += best->report.evaluations;
    best->kernel = by->kernel;
    best->scale = by->scale;
    best->report = by->report;
    by->kernel = old;
}

static gram_status try_several_lengths(gram_context *context, const gram_given *given,
                                       const gram_laplace_options *known, gram_laplace_tune_options o, int64_t rows,
                                       found *best)
{
    gram_status status = GRAM_OK;
    const int64_t d = gram_points_dimension(given->x), before = gram_kernel_parameter_count(best->kernel);
    gram_kernel *split = NULL;
    found other = {0};
    if (o.ard == 0 || (o.ard < 0 && d > ARD_COLUMNS)) return GRAM_OK;
    TRY(gram_kernel_with_ard(context, best->kernel, d, &split));
    const int64_t more = gram_kernel_parameter_count(split) - before;
    if (more <= 0) goto done;
    o.laplace.scale = best->scale;
    TRY(tune_rows(context, given, known, &o, rows, split, 1, &other));
    const double price = log((double)other.report.rows) / 2 * (double)more;
    if (other.report.log_evidence > best->report.log_evidence + price) {
        replace(best, &other);
        best->report.ard_kept = 1;
    }
done:
    gram_kernel_release(other.kernel);
    gram_kernel_release(split);
    return status;
}

gram_status gram_laplace_tune(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                              const gram_laplace_tune_options *options, gram_kernel **tuned, double *scale,
                              gram_laplace_tune_report *report)
{
    gram_status status = GRAM_OK;
    gram_laplace_tune_options o;
    gram_laplace_options known;
    found best = {0};
    if (!context) return GRAM_ERROR_ARGUMENT;
    const gram_progress_fn progress = context->progress;
    if (tuned) *tuned = NULL;
    gram_laplace_tune_options_init(&o, sizeof o);
    context->progress = NULL;
    TRY(gram_sized_read(context, "laplace_tune", "options", "gram_laplace_tune_options", options, &o, sizeof o));
    TRY(gram_sized_check(context, "laplace_tune", "report", "gram_laplace_tune_report", report, sizeof *report));
    TRY(gram_laplace_options_read(context, "laplace_tune", "options.laplace", &o.laplace, &known));
    TRY(check(context, &o, kernel, x, y, tuned));
    const gram_given given = {x, 1, y, 1, NULL};
    TRY(gram_given_check(context, "laplace_tune", &given));
    const int64_t rows = o.rows > 0 ? o.rows : default_rows(&given, &known);
    TRY(tune_rows(context, &given, &known, &o, rows, kernel, 0, &best));
    TRY(try_several_lengths(context, &given, &known, o, rows, &best));
    *tuned = best.kernel;
    best.kernel = NULL;
    if (scale) *scale = best.scale;
    gram_sized_write(report, &best.report, sizeof best.report);
    status = best.status;
done:
    context->progress = progress;
    gram_kernel_release(best.kernel);
    return status;
}
