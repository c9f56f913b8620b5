/* Tuning of kernel ridge regression: the kernel's free numbers and the ridge. gradient_search.c has the strategy, ridge_criterion.c the
 * criteria.
 *
 * What is minimised is the logarithm of LOO, GCV and CV errors and minus the log likelihood per row and output: slopes are
 * then of order one, whatever the units of y, and steps that gain less than a thousandth each are within what another
 * sample of rows would change.
 *
 * Where the data have little to say, priors decide, which weigh as much as one row (n log E is the deviance of the
 * residuals) and cost a part of a hundredth where the data speak. Many length-scales can fit the accidents of few rows:
 * their logarithms are held together with a standard deviation SPREAD. Very long lengths with very little noise make
 * polynomials that fit as well as shorter lengths with some noise, but go astray between the points: the logarithm of the
 * noise is held near that of USUAL_NOISE, with NOISE_SPREAD. Kernels of bags, with a length inside and one outside, make such polynomials of moments in more ways: CLOSER_SPREAD. The criterion that is reported has no priors in it. */
#include <math.h>
#include <string.h>

#include <gram/matrix.h>

#include "base/sized_struct.h"
#include "points/weighted_problem.h"
#include "tune/gradient_search.h"
#include "tune/ridge_criterion.h"

/* Above this many rows a step is expensive: then a search ends earlier, also when a step promises less than PROMISE. With few columns a
 * cycle may be a hundred times shorter than the range, and hides behind a minimum that takes it for noise. */
enum { MANY_ROWS = 1200, FEW_COLUMNS = 2 };

static const double TOLERANCE = 2e-4, COARSE_TOLERANCE = 1e-3, PROMISE = 2e-4;
static const double SPREAD = 2, NOISE_SPREAD = 4, CLOSER_SPREAD = 2;
static const double USUAL_NOISE = 1e-2, LEAST_NOISE = 1e-10, MOST_NOISE = 100, FIRST_NOISE = 1e-2; /* of the mean
                                                                                                       diagonal of K */

typedef struct ridge_tuning {
    gram_krr_tune_options options;
    gram_criterion_rule rule;
    gram_search_trails trails;
} ridge_tuning;

static const ridge_tuning *ridge_of(const gram_tuning *t)
{
    return t->self;
}

/* ---- the start ---- */

/* Range and start of the noise, from the mean diagonal of K on the rows that are tuned on. */
static gram_status set_noise(gram_tuning *t, const gram_kernel *kernel)
{
    gram_status status = GRAM_OK;
    const gram_sample *sample = &t->levels[t->last].sample;
    double *diagonal = NULL, sum = 0;
    TRY(gram_take(t->context, "krr_tune: diagonal", sample->n, sizeof(double), (void **)&diagonal));
    TRY(gram_matrix_diagonal(t->context, kernel, sample->points, diagonal));
    for (int64_t i = 0; i < sample->n; i++) sum += fabs(diagonal[i]);
    t->noise_unit = sum > 0 && isfinite(sum) ? sum / (double)sample->n : 1;
    const double given = ridge_of(t)->options.lambda * (double)t->count;
    t->noise_start = isnan(given) ? FIRST_NOISE * t->noise_unit : given;
    t->noise = (gram_noise_range){fmin(LEAST_NOISE * t->noise_unit, t->noise_start),
                                  fmax(MOST_NOISE * t->noise_unit, t->noise_start), ridge_of(t)->options.lambda_fixed};
done:
    gram_give(t->context, diagonal);
    return status;
}

static gram_status prepare(gram_tuning *t, const gram_kernel *kernel, gram_kernel **resolved)
{
    gram_status status = GRAM_OK;
    gram_criterion_rule rule = ridge_of(t)->rule;
    rule.rows = t->levels[t->last].rows;
    TRY(gram_criterion_check_groups(t->context, t->method->name, &rule, t->levels[t->last].sample.n));
    TRY(gram_kernel_resolve(t->context, kernel, t->levels[t->last].sample.points, resolved));
    TRY(set_noise(t, *resolved));
done:
    return status;
}

/* ---- one evaluation ---- */

static gram_status open_level(gram_tuning *t, int which, void **work)
{
    gram_criterion_work *made = NULL;
    gram_criterion_rule rule = ridge_of(t)->rule;
    rule.rows = t->levels[which].rows;
    const gram_status status = gram_criterion_create(t->context, &t->levels[which].sample, &rule, &made);
    *work = made;
    return status;
}

static void close_level(gram_tuning *t, int which, void *work)
{
    (void)which;
    gram_criterion_destroy(t->context, work);
}

static gram_status evaluate(gram_tuning *t, int which, gram_kernel *kernel, double noise, double *value,
                            double *gradient)
{
    return gram_criterion_evaluate(t->context, t->levels[which].work, kernel, noise, value, gradient,
                                   gradient ? gradient + gram_kernel_parameter_count(kernel) : NULL);
}

/* 1e-20 of the mean square of y: an error below this is rounding */
static double find_floor(const gram_sample *sample)
{
    const int64_t count = sample->n * sample->outputs;
    double squares = 0;
    for (int64_t i = 0; i < count; i++) squares += sample->y[i] * sample->y[i];
    return 1e-20 * squares / (double)count + 0x1p-1000;
}

static double objective(const gram_tuning *t, int which, double value, double *slope)
{
    const gram_sample *sample = &t->levels[which].sample;
    const double count = (double)(sample->n * sample->outputs), floor = find_floor(sample);
    const int likelihood = ridge_of(t)->rule.kind == GRAM_CRITERION_ML;
    *slope = likelihood ? 1 / count : 1 / (value + floor);
    return likelihood ? value / count : log(value + floor);
}

static double tolerance(const gram_tuning *t, int which)
{
    return t->levels[which].sample.n > MANY_ROWS ? COARSE_TOLERANCE : TOLERANCE;
}

static double promise(const gram_tuning *t, int which)
{
    return t->levels[which].sample.n > MANY_ROWS ? PROMISE : 0;
}

/* ---- priors ---- */

static int is_length(const gram_space *space, int64_t variable)
{
    return space->is_log[variable] && space->is_length[space->index[variable]];
}

/* sum ((v - mean)/SPREAD)^2 over the logarithms v of the length-scales; gradients are added */
static double hold_lengths(const gram_space *space, double scale, const double *variables, double *gradient)
{
    double mean = 0, count = 0, sum = 0;
    for (int64_t i = 0; i < space->count; i++)
        if (is_length(space, i)) {
            mean += variables[i];
            count++;
        }
    mean /= fmax(count, 1);
    for (int64_t i = 0; i < space->count; i++)
        if (is_length(space, i)) {
            const double away = (variables[i] - mean) / SPREAD;
            sum += away * away;
            gradient[i] += scale * 2 * away / SPREAD;
        }
    return scale * sum;
}

/* ((log noise - log(USUAL_NOISE unit))/NOISE_SPREAD)^2; the noise is the last variable */
static double hold_noise(const gram_tuning *t, const gram_space *space, double scale, const double *variables,
                         double *gradient)
{
    const int64_t last = space->count - 1;
    if (t->noise.fixed) return 0;
    const double spread = space->apart ? CLOSER_SPREAD : NOISE_SPREAD;
    const double away = (variables[last] - log(USUAL_NOISE * t->noise_unit)) / spread;
    gradient[last] += scale * 2 * away / spread;
    return scale * away * away;
}

static double prior(const gram_tuning *t, const gram_candidate *c, int which, const double *variables, double *gradient)
{
    const double scale = 1 / (double)t->levels[which].sample.n;
    const double lengths = c->hold ? hold_lengths(&c->space, scale, variables, gradient) : 0;
    return lengths + hold_noise(t, &c->space, scale, variables, gradient);
}

/* ---- the public function ---- */

static const gram_tuning_method METHOD = {.name = "krr_tune",
                                          .limits = {.small = 30, .medium = 25, .last = 40, .guide = 0},
                                          .clear = 0.06,
                                          .small_rows = 400,
                                          .medium_rows = 1000,
                                          .cost = 3,
                                          .prepare = prepare,
                                          .open = open_level,
                                          .close = close_level,
                                          .evaluate = evaluate,
                                          .objective = objective,
                                          .prior = prior,
                                          .tolerance = tolerance,
                                          .promise = promise};

static void set_tuning(gram_tuning *t, ridge_tuning *ridge)
{
    const gram_krr_tune_options *o = &ridge->options;
    ridge->rule = gram_criterion_rule_of(o);
    t->method = &METHOD;
    t->self = ridge;
    t->intercept = o->intercept;
    t->least_rows = gram_criterion_least_rows(&ridge->rule);
    t->worth = o->criterion == GRAM_CRITERION_ML ? 0.5 : 1;
    t->narrows = o->unpenalised_count == 0;
    t->shorter = t->given.x && t->given.x->d <= FEW_COLUMNS ? 3 : 1;
    t->longer = 1;
    t->ard = o->ard;
    t->rows_limit = o->rows;
    t->restarts = o->restarts;
    t->evaluations_limit = o->evaluations;
    t->grid = o->grid;
}

/* ---- the likelihood as a guide ----
 *
 * Leave-one-out errors with many lengths have poor local minima, and on few rows they follow accidents: with ten irrelevant columns of 12 and
 * 100 rows the error on new rows was 0.43, with lengths by the likelihood 0.35. So several lengths are searched from the likelihood's
 * optimum, too; and up to GUIDE_ROWS rows its numbers, which were chosen by no leave-one-out error, are kept as they are unless others are
 * lower by more than as many numbers may do when there is nothing to learn. Where noise is far from normal the likelihood can be
 * misled: then its leave-one-out error shows it. */

enum { GUIDE_ROWS = 600 };

static gram_status run_search(gram_context *context, gram_kernel *kernel, const gram_given *given, ridge_tuning *ridge,
                              const gram_tuned *guide, gram_tuning *t, gram_tuned *out)
{
    *t = (gram_tuning){.context = context, .given = *given, .trails = ridge->trails};
    t->trail_search = guide ? GRAM_TRAIL_MAIN : GRAM_TRAIL_GUIDE;
    set_tuning(t, ridge);
    if (guide && guide->ard_kept) {
        t->hint = guide->kernel;
        t->hint_noise = guide->noise;
    }
    return gram_tuning_run(t, kernel, out);
}

static int wants_guide(const gram_krr_tune_options *o, const gram_given *given)
{
    const int left_out = o->criterion == GRAM_CRITERION_LOO || o->criterion == GRAM_CRITERION_GCV;
    return left_out && !o->criterion_alone && o->grid == 0 && o->ard != 0 && given->x && given->x->d > 1 &&
           given->outputs == 1;
}

static gram_status find_guide(gram_context *context, gram_kernel *kernel, const gram_given *given,
                              const ridge_tuning *main, gram_tuned *guide)
{
    const gram_krr_tune_options *o = &main->options;
    ridge_tuning ridge = {.options = *o, .trails = main->trails};
    gram_tuning t;
    ridge.options.criterion = GRAM_CRITERION_ML;
    ridge.options.rows = o->rows < GUIDE_ROWS ? o->rows : GUIDE_ROWS;
    const gram_status status = run_search(context, kernel, given, &ridge, NULL, &t, guide);
    return status == GRAM_ERROR_NUMERICAL ? GRAM_OK : status;
}

/* Are the guide's numbers as good as those that were found with more freedom? Then they are the result. */
static gram_status compare_guide(gram_tuning *t, const gram_krr_tune_options *o, gram_tuned *guide, gram_tuned *out)
{
    gram_status status = GRAM_OK;
    const gram_given *given = &t->given;
    const double n = (double)t->count;
    const double extra = out->ard_kept ? (double)gram_kernel_parameter_count(guide->kernel) : 0;
    double value = NAN;
    if (!guide->ard_kept || t->count > GUIDE_ROWS || out->rows < t->count) return status;
    TRY(gram_krr_criterion(t->context, guide->kernel, given->x, given->outputs, given->y, given->ldy, o,
                           guide->noise / n, &value, NULL));
    if (!(log(value) < log(out->value) + extra * log(n) / n)) return status;
    gram_kernel_release(out->kernel);
    out->kernel = guide->kernel;
    guide->kernel = NULL;
    out->noise = guide->noise;
    out->value = value;
    out->ard_kept = 1;
    out->at_bound = guide->at_bound;
done:
    return status == GRAM_ERROR_NUMERICAL ? GRAM_OK : status;
}

gram_status gram_krr_tune_along(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t outputs,
                                const double *y, int64_t ldy, const gram_krr_tune_options *options,
                                gram_search_trails trails, gram_kernel **tuned, double *lambda,
                                gram_krr_tune_report *report)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    if (tuned) *tuned = NULL;
    ridge_tuning ridge = {.trails = trails};
    gram_tuning t;
    gram_tuned out = {.kernel = NULL}, guide = {.kernel = NULL};
    gram_given given = {x, outputs, y, ldy, NULL};
    TRY(gram_krr_tune_options_read(context, "krr_tune", options, &ridge.options));
    given.weights = ridge.options.weights;
    TRY(gram_sized_check(context, "krr_tune", "report", "gram_krr_tune_report", report, sizeof *report));
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "krr_tune: kernel is NULL");
    FAIL_IF(!tuned, context, GRAM_ERROR_ARGUMENT, "krr_tune: tuned is NULL");
    FAIL_IF(!lambda, context, GRAM_ERROR_ARGUMENT, "krr_tune: lambda is NULL");
    if (x)
        TRY(gram_unpenalised_check(context, "krr_tune", x->d, ridge.options.unpenalised_count,
                                   ridge.options.unpenalised));
    if (wants_guide(&ridge.options, &given)) TRY(find_guide(context, kernel, &given, &ridge, &guide));
    TRY(run_search(context, kernel, &given, &ridge, &guide, &t, &out));
    if (guide.kernel) TRY(compare_guide(&t, &ridge.options, &guide, &out));
    *lambda = out.noise / (double)t.count;
    *tuned = out.kernel;
    const gram_krr_tune_report made = {.rows = out.rows,
                                       .evaluations = t.evaluations,
                                       .value = out.value,
                                       .value_isotropic = out.value_isotropic,
                                       .ard_kept = out.ard_kept,
                                       .at_bound = out.at_bound};
    gram_sized_write(report, &made, sizeof made);
    if (t.grid == 0 && t.evaluations >= t.evaluations_limit) status = GRAM_NOT_CONVERGED;
done:
    if (status < 0) gram_kernel_release(out.kernel);
    gram_kernel_release(guide.kernel);
    return status;
}

gram_status gram_krr_tune(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t outputs,
                          const double *y, int64_t ldy, const gram_krr_tune_options *options, gram_kernel **tuned,
                          double *lambda, gram_krr_tune_report *report)
{
    return gram_krr_tune_along(context, kernel, x, outputs, y, ldy, options, (gram_search_trails){0}, tuned, lambda,
                               report);
}
