/* Options of tuning a Gaussian process: defaults and limits, in one place; and the priors among them.
 *
 * A prior names a parameter of the kernel that was given. When one length becomes one per column, parameters get other
 * numbers, but names tell: "rbf.ell" became "rbf.ell[1]", "rbf.ell[2]", ...
 *
 * The weak prior of the noise s has the log density -w log(1 + a/s), a being WEAK_SHARE of the variance of y: flat above a,
 * and below it the density falls as s^w. With w = 1/2 that is the weight of one row, whose log density has -log(s)/2. A few
 * rows are often interpolated about as likely as smoothed, and then the likelihood says next to nothing against noise 0,
 * whose predictions between the rows are far too sure. */
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "base/sized_struct.h"
#include "kernel/kernel.h"
#include "method/gp/tune/gp_tune.h"

static const double LOG_2PI = 1.8378770664093454836;
static const double WEAK_SHARE = 1e-2, WEAK_WEIGHT = 0.5;

const char *gram_gp_objective_name(gram_gp_objective objective)
{
    return objective == GRAM_GP_OBJECTIVE_ML ? "ml" : objective == GRAM_GP_OBJECTIVE_LOO ? "loo" : "unknown";
}

void gram_gp_tune_options_init(gram_gp_tune_options *options, size_t size)
{
    const gram_gp_tune_options defaults = {
        .ard = -1, .rows = 3000, .restarts = 3, .evaluations = 3000, .noise_prior = 1};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

/* An integer option that must lie between two others. */
static gram_status check_between(gram_context *context, const char *function, const char *name, int64_t value,
                                 int64_t least, int64_t most)
{
    if (value >= least && value <= most) return GRAM_OK;
    return gram_fail(context, GRAM_ERROR_ARGUMENT, "%s: options: %s = %lld, need %lld to %lld", function, name,
                     (long long)value, (long long)least, (long long)most);
}

static gram_status check_prior(gram_context *context, const char *function, const gram_kernel *kernel, int64_t i,
                               const gram_gp_prior *prior)
{
    gram_status status = GRAM_OK;
    gram_parameter parameter;
    char text[GRAM_NUMBER_SIZE];
    const int64_t count = gram_kernel_parameter_count(kernel);
    FAIL_IF(prior->parameter < GRAM_GP_PRIOR_NOISE || prior->parameter >= count, context, GRAM_ERROR_ARGUMENT,
            "%s: options: priors[%lld].parameter = %lld, need -1 for the noise or one of the %lld of the kernel",
            function, (long long)i, (long long)prior->parameter, (long long)count);
    FAIL_IF(!isfinite(prior->mean), context, GRAM_ERROR_ARGUMENT, "%s: options: priors[%lld].mean is %s", function,
            (long long)i, gram_number_format(prior->mean, text));
    FAIL_IF(!(prior->deviation > 0 && isfinite(prior->deviation)), context, GRAM_ERROR_ARGUMENT,
            "%s: options: priors[%lld].deviation = %s, need a finite number above 0", function, (long long)i,
            gram_number_format(prior->deviation, text));
    if (prior->parameter == GRAM_GP_PRIOR_NOISE) goto done;
    TRY(gram_kernel_parameter_get(context, kernel, prior->parameter, &parameter));
    FAIL_IF(parameter.transform != GRAM_TRANSFORM_LOG, context, GRAM_ERROR_ARGUMENT,
            "%s: options: priors[%lld]: %s may be negative and has no logarithm", function, (long long)i,
            parameter.name);
done:
    return status;
}

gram_status gram_gp_tune_options_read(gram_context *context, const char *function, const gram_gp_tune_options *options,
                                      const gram_kernel *kernel, gram_gp_tune_options *read)
{
    gram_status status = GRAM_OK;
    gram_gp_tune_options_init(read, sizeof *read);
    TRY(gram_sized_read(context, function, "tune", "gram_gp_tune_options", options, read, sizeof *read));
    TRY(check_between(context, function, "objective", (int64_t)read->objective, GRAM_GP_OBJECTIVE_ML,
                      GRAM_GP_OBJECTIVE_LOO));
    TRY(check_between(context, function, "ard", read->ard, -1, 1));
    TRY(check_between(context, function, "noise_prior", read->noise_prior, 0, 1));
    TRY(check_between(context, function, "rows", read->rows, 1, INT32_MAX));
    TRY(check_between(context, function, "restarts", read->restarts, 1, 1000));
    TRY(check_between(context, function, "evaluations", read->evaluations, 1, INT64_MAX));
    TRY(check_between(context, function, "prior_count", read->prior_count, 0, INT32_MAX));
    FAIL_IF(read->prior_count > 0 && !read->priors, context, GRAM_ERROR_ARGUMENT, "%s: options: priors is NULL",
            function);
    for (int64_t i = 0; i < read->prior_count; i++) TRY(check_prior(context, function, kernel, i, &read->priors[i]));
done:
    return status;
}

/* ---- priors ---- */

/* Is it this parameter, or one of several that were made from it? */
static int comes_from(const char *name, const char *given)
{
    const size_t length = strlen(given);
    return strncmp(name, given, length) == 0 && (name[length] == '\0' || name[length] == '[');
}

static double log_density(const gram_gp_prior *prior, double value, double *slope)
{
    const double away = (log(value) - prior->mean) / prior->deviation;
    *slope = -away / (prior->deviation * value);
    return -0.5 * (away * away + LOG_2PI) - log(prior->deviation);
}

/* White noise in the kernel has the noise's part. */
static int has_white(const gram_kernel *kernel)
{
    if (kernel->node == GRAM_NODE_LEAF) return kernel->type->form == GRAM_FORM_SAME;
    for (int i = 0; i < kernel->child_count; i++)
        if (has_white(kernel->children[i])) return 1;
    return 0;
}

double gram_gp_weak_noise(const gram_gp_tuning *g, double unit)
{
    if (!g->tune.noise_prior || g->tune.noise_fixed || g->options.row_noise || has_white(g->kernel)) return 0;
    for (int64_t i = 0; i < g->tune.prior_count; i++)
        if (g->tune.priors[i].parameter == GRAM_GP_PRIOR_NOISE) return 0;
    return WEAK_SHARE * unit;
}

static double weak_log_density(double begins, double noise, double *slope)
{
    *slope = WEAK_WEIGHT * begins / (noise * (noise + begins));
    return -WEAK_WEIGHT * log1p(begins / noise);
}

/* One prior on all parameters of the kernel that it is for. */
static gram_status add_prior(gram_context *context, const gram_kernel *given, const gram_kernel *kernel,
                             const gram_gp_prior *prior, double *value, double *gradient)
{
    gram_status status = GRAM_OK;
    gram_parameter wanted, parameter;
    const int64_t count = gram_kernel_parameter_count(kernel);
    TRY(gram_kernel_parameter_get(context, given, prior->parameter, &wanted));
    for (int64_t i = 0; i < count; i++) {
        double slope;
        TRY(gram_kernel_parameter_get(context, kernel, i, &parameter));
        if (!comes_from(parameter.name, wanted.name)) continue;
        *value += log_density(prior, parameter.value, &slope);
        if (gradient) gradient[i] += slope;
    }
done:
    return status;
}

gram_status gram_gp_log_prior(gram_context *context, const gram_gp_tuning *g, const gram_kernel *kernel, double noise,
                              double *value, double *gradient)
{
    gram_status status = GRAM_OK;
    const int64_t count = gram_kernel_parameter_count(kernel);
    *value = 0;
    if (g->weak_noise > 0) {
        double slope;
        *value += weak_log_density(g->weak_noise, noise, &slope);
        if (gradient) gradient[count] += slope;
    }
    for (int64_t i = 0; i < g->tune.prior_count; i++) {
        const gram_gp_prior *prior = &g->tune.priors[i];
        double slope;
        if (prior->parameter != GRAM_GP_PRIOR_NOISE) {
            TRY(add_prior(context, g->kernel, kernel, prior, value, gradient));
            continue;
        }
        *value += log_density(prior, noise, &slope);
        if (gradient) gradient[count] += slope;
    }
done:
    return status;
}
