/* The parameters of the surrogate: the largest posterior density of their logarithms.
 *
 * The log marginal likelihood of gram_gp_likelihood plus normal priors on the logarithms:
 *
 *     length of a column  N(sqrt(2) - 3 + log(d)/2, 3): as the number of columns grows, the distance between points does, and
 *                         lengths that do not grow along say that every point is alone (C. Hvarfner, E. O. Hellsten and
 *                         L. Nardi, Vanilla Bayesian optimization performs great in high dimensions, ICML 2024; their
 *                         density of the length has its mode there)
 *     amplitude           N(0, 2^2), in units of the values' variance
 *     noise               N(-9, 3^2), likewise; a noise that was given is kept
 *
 * The search starts where the last one ended, with its Hessian, and from usual lengths with little noise, every other time also with much: what short lengths follow exactly,
 * long ones may call noise, and the likelihood has a top at each. The first time it starts from short lengths too; of many rows, as a file that is read again may
 * have, those starts are compared on a part of the rows that is spread over all of them, and only the best goes on with all. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gram/gp.h>
#include <gram/output.h>

#include "points/points.h"
#include "solve/minimise.h"
#include "study/surrogate.h"

enum { EVALUATIONS = 60, FEW_ROWS = 64 };
static const double LEAST_NOISE = 1e-8, USUAL_NOISE = 1e-4, MUCH_NOISE = 0.1, MOST_NOISE = 2, LEAST_LENGTH = 5e-3,
                    MOST_LENGTH = 1e3;
static const double LEAST_AMPLITUDE = 1e-2, MOST_AMPLITUDE = 1e4;

typedef struct normal_prior {
    double mean, deviation;
} normal_prior;

typedef struct learning {
    gram_context *context;
    gram_surrogate *surrogate;
    const gram_points *points;
    const double *y; /* standardised */
    double *values;  /* parameters of the kernel, and their gradient with the noise's */
    double *gradient;
} learning;

static normal_prior prior_of(const gram_surrogate *s, int64_t parameter)
{
    if (parameter == 0) return (normal_prior){0, 2};
    if (parameter == s->parameters - 1) return (normal_prior){-9, 3};
    return (normal_prior){sqrt(2) - 3 + log((double)s->d) / 2, sqrt(3)};
}

static gram_status make_kernel(gram_context *context, int64_t d, gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    gram_string text = {0};
    gram_string_add(&text, "1*matern(nu=2.5,ell=[");
    for (int64_t l = 0; l < d; l++) gram_string_add(&text, l ? ",1" : "1");
    gram_string_add(&text, "])");
    FAIL_IF(text.failed, context, GRAM_ERROR_MEMORY, "study: the system has no memory left for the kernel");
    TRY(gram_kernel_parse(context, text.data, kernel));
done:
    gram_string_free(&text);
    return status;
}

/* The kernel of these logarithms. */
static gram_status with_theta(gram_context *context, const gram_surrogate *s, const double *theta, double *values,
                              gram_kernel **kernel)
{
    for (int64_t i = 0; i <= s->d; i++) values[i] = exp(theta[i]);
    return gram_kernel_with_values(context, s->kernel, values, kernel);
}

/* Less the log density of theta, and the gradient of that. */
static double add_priors(const gram_surrogate *s, const double *theta, double *gradient)
{
    double sum = 0;
    for (int64_t i = 0; i < s->parameters; i++) {
        const normal_prior prior = prior_of(s, i);
        const double z = (theta[i] - prior.mean) / prior.deviation;
        sum += z * z / 2;
        gradient[i] += z / prior.deviation;
    }
    return sum;
}

static gram_status evaluate(void *argument, const double *theta, double *value, double *gradient)
{
    gram_status status = GRAM_OK;
    learning *job = argument;
    gram_surrogate *s = job->surrogate;
    gram_kernel *kernel = NULL;
    gram_gp_options options;
    double likelihood;
    gram_gp_options_init(&options, sizeof options);
    options.flat = 1;
    options.solver = GRAM_SOLVER_EXACT;
    options.precision = GRAM_PRECISION_F64;
    options.noise = exp(theta[s->parameters - 1]);
    TRY(with_theta(job->context, s, theta, job->values, &kernel));
    status = gram_gp_likelihood(job->context, kernel, job->points, job->y, &options, &likelihood, job->gradient);
    *value = INFINITY; /* not positive definite: too long for so little noise */
    if (status == GRAM_ERROR_NUMERICAL) {
        status = GRAM_OK;
        goto done;
    }
    TRY(status);
    for (int64_t i = 0; i < s->parameters; i++) gradient[i] = -exp(theta[i]) * job->gradient[i];
    *value = add_priors(s, theta, gradient) - likelihood;
done:
    gram_kernel_release(kernel);
    return status;
}

static void set_bounds(const gram_surrogate *s, double *lower, double *upper)
{
    const int64_t last = s->parameters - 1;
    lower[0] = log(LEAST_AMPLITUDE);
    upper[0] = log(MOST_AMPLITUDE);
    for (int64_t l = 1; l < last; l++) {
        lower[l] = log(LEAST_LENGTH);
        upper[l] = log(MOST_LENGTH);
    }
    lower[last] = log(LEAST_NOISE);
    upper[last] = log(MOST_NOISE);
    if (isnan(s->given_noise)) return;
    const double noise = s->given_noise / (s->scale * s->scale);
    lower[last] = upper[last] = log(fmax(noise, LEAST_NOISE));
}

static void set_start(const gram_surrogate *s, double length, double noise, double *theta)
{
    theta[0] = 0;
    for (int64_t l = 1; l <= s->d; l++) theta[l] = log(length);
    theta[s->parameters - 1] =
        log(fmax(isnan(s->given_noise) ? noise : s->given_noise / (s->scale * s->scale), LEAST_NOISE));
}

/* One descent from theta, which ends at the best. */
static gram_status descend(learning *job, double *theta, double *inverse, int *known, double *value)
{
    gram_status status = GRAM_OK;
    const gram_surrogate *s = job->surrogate;
    double *bounds = NULL;
    gram_minimise_report report;
    TRY(gram_take(job->context, "study: bounds", 2 * s->parameters, sizeof *bounds, (void **)&bounds));
    set_bounds(s, bounds, bounds + s->parameters);
    const gram_minimise_problem problem = {.n = s->parameters,
                                           .lower = bounds,
                                           .upper = bounds + s->parameters,
                                           .evaluations = EVALUATIONS,
                                           .tolerance = 1e-3,
                                           .promise = 1e-3,
                                           .first_step = 0.5,
                                           .longest_step = 2,
                                           .evaluate = evaluate,
                                           .argument = job};
    TRY(gram_minimise(job->context, &problem, theta, inverse, known, &report));
    *value = report.value;
done:
    gram_give(job->context, bounds);
    return status;
}

/* From a start of its own; kept if it is better than what is there. */
static gram_status try_start(learning *job, double length, double noise, double *best)
{
    gram_status status = GRAM_OK;
    gram_surrogate *s = job->surrogate;
    const int64_t p = s->parameters;
    double *theta = NULL, value;
    int known = 0;
    TRY(gram_take(job->context, "study: parameters", p + p * p, sizeof *theta, (void **)&theta));
    set_start(s, length, noise, theta);
    TRY(descend(job, theta, theta + p, &known, &value));
    if (!(value < *best)) goto done;
    *best = value;
    memcpy(s->theta, theta, (size_t)p * sizeof *theta);
    memcpy(s->inverse, theta + p, (size_t)(p * p) * sizeof *theta);
    s->inverse_known = known;
    s->theta_known = 1;
done:
    gram_give(job->context, theta);
    return status;
}

/* From usual lengths with little noise and, in doubt, with much; the first time from short ones too. */
static gram_status try_starts(learning *job, int first_time, double *best)
{
    gram_status status = GRAM_OK;
    const gram_surrogate *s = job->surrogate;
    const double usual = exp(prior_of(s, 1).mean); /* of the order of the distances between points */
    const int doubts = isnan(s->given_noise) && !s->jumps;
    TRY(try_start(job, usual, USUAL_NOISE, best));
    if (doubts && (first_time || s->n % 2 == 0)) TRY(try_start(job, usual, MUCH_NOISE, best));
    if (first_time) TRY(try_start(job, 0.2 * usual, USUAL_NOISE, best));
done:
    return status;
}

/* The starts on FEW_ROWS of the rows, whose best parameters become the surrogate's. */
static gram_status search_few(learning *job)
{
    gram_status status = GRAM_OK;
    gram_surrogate *s = job->surrogate;
    learning part = *job;
    gram_points *points = NULL;
    int64_t which[FEW_ROWS];
    double y[FEW_ROWS], best = INFINITY;
    for (int64_t i = 0; i < FEW_ROWS; i++) {
        which[i] = i * (s->n - 1) / (FEW_ROWS - 1);
        y[i] = job->y[which[i]];
    }
    TRY(gram_points_gather(job->context, job->points, FEW_ROWS, which, &points));
    part.points = points;
    part.y = y;
    TRY(try_starts(&part, 1, &best));
    s->inverse_known = 0; /* all rows have a steeper density */
done:
    gram_points_release(points);
    return status;
}

static gram_status search(learning *job)
{
    gram_status status = GRAM_OK;
    gram_surrogate *s = job->surrogate;
    double best = INFINITY;
    const int known = s->theta_known, few_first = !known && s->n >= 2 * FEW_ROWS;
    if (few_first) TRY(search_few(job));
    if (s->theta_known) TRY(descend(job, s->theta, s->inverse, &s->inverse_known, &best));
    if (!few_first) TRY(try_starts(job, !known, &best));
    FAIL_IF(!isfinite(best), job->context, GRAM_ERROR_NUMERICAL, "study: no parameters fit the values");
done:
    return status;
}

static void standardise(gram_surrogate *s, double *y)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < s->n; i++) sum += s->y[i] / (double)s->n;
    for (int64_t i = 0; i < s->n; i++) squares += (s->y[i] - sum) * (s->y[i] - sum) / (double)s->n;
    s->shift = sum;
    s->scale = squares > 0 && isfinite(squares) ? sqrt(squares) : 1;
    for (int64_t i = 0; i < s->n; i++) y[i] = (s->y[i] - s->shift) / s->scale;
}

gram_status gram_surrogate_apply(gram_context *context, gram_surrogate *s)
{
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL;
    double *values = NULL;
    TRY(gram_take(context, "study: parameters", s->parameters, sizeof *values, (void **)&values));
    TRY(with_theta(context, s, s->theta, values, &kernel));
    gram_kernel_release(s->kernel);
    s->kernel = kernel;
    s->amplitude = values[0];
    s->noise = exp(s->theta[s->parameters - 1]);
done:
    gram_give(context, values);
    return status;
}

gram_status gram_surrogate_learn(gram_context *context, gram_surrogate *s)
{
    gram_status status = GRAM_OK;
    gram_points *points = NULL;
    double *y = NULL;
    learning job = {.context = context, .surrogate = s};
    TRY(gram_take(context, "study: values", s->n + 2 * s->parameters, sizeof *y, (void **)&y));
    if (!s->kernel) TRY(make_kernel(context, s->d, &s->kernel));
    standardise(s, y);
    TRY(gram_points_create_f64(context, s->n, s->d, s->x, s->d, &points));
    job.points = points;
    job.y = y;
    job.values = y + s->n;
    job.gradient = job.values + s->parameters;
    if (s->n >= 3)
        TRY(search(&job));
    else if (!s->theta_known) {
        set_start(s, exp(prior_of(s, 1).mean), USUAL_NOISE, s->theta);
        s->theta_known = 1;
    }
    TRY(gram_surrogate_apply(context, s));
done:
    gram_points_release(points);
    gram_give(context, y);
    return status;
}
