/* Draws of a Gaussian process at points that are all known, in the way that suits them: from the prior of a kernel, or from the
 * posterior that a model holds.
 *
 *     markov   a kernel on the line with a finite state (gram_markov_supports), or a model that was fitted by its filter: exact,
 *              O(points)
 *     exact    up to 5,000 points: jointly, by a factor of their covariance
 *     path     more points, and models without a factor in f64: as functions (<gram/gp_path.h>)
 *
 * The context's seed decides the draws; the same bits for any number of threads. Common failures: those of <gram/gp.h> and
 * <gram/gp_path.h>. */
#ifndef GRAM_SAMPLER_H
#define GRAM_SAMPLER_H

#include <gram/gp_path.h>

GRAM_BEGIN

typedef struct gram_sampler gram_sampler;

/* Of GP(0, k) for a kernel without open numbers, which is retained. The caller destroys it. */
GRAM_API gram_status gram_sampler_of_kernel(gram_context *context, gram_kernel *kernel, gram_sampler **sampler);

/* Of the posterior of a model of the method "gp", which is borrowed. GRAM_ERROR_DATA names what it lacks; a model of inducing
 * points, which keeps no rows to draw with, is GRAM_ERROR_UNSUPPORTED. Time of a factor, if the model does not keep it. */
GRAM_API gram_status gram_sampler_of_model(gram_context *context, const gram_model *model, gram_sampler **sampler);

/* Takes NULL. */
GRAM_API void gram_sampler_destroy(gram_sampler *sampler);

typedef struct gram_draw_report {
    size_t size;        /* the caller sets it */
    const char *method; /* "markov", "exact" or "path": static */
    double jitter;      /* that the covariance needed */
} gram_draw_report;

/* values[i * ldv + j]: draw j of `draws` at point i, in the target's own units; of f, or if `observed`, with the model's noise (a
 * prior has none). Points are prepared as the model says. report may be NULL. */
GRAM_API gram_status gram_sampler_draw(gram_context *context, const gram_sampler *sampler, const gram_points *points,
                                       int64_t draws, int observed, double *values, int64_t ldv,
                                       gram_draw_report *report);

/* Mean and standard deviation of f at the points. */
GRAM_API gram_status gram_sampler_moments(gram_context *context, const gram_sampler *sampler, const gram_points *points,
                                          double *mean, double *std);

GRAM_END

#endif
