#include <gram/sampler.h>

#include <math.h>
#include <string.h>

#include <gram/matrix.h>
#include <gram/random.h>

#include "base/sized_struct.h"
#include "method/gp/gp_model.h"
#include "points/points.h"

/* Up to this many points, joint draws take a factor of their covariance; beyond, draws are made as functions. */
enum { MOST_JOINTLY = 5000 };

static const uint64_t OBSERVED = 0x6F627376; /* "obsv": the name of a use of the seed */

struct gram_sampler {
    gram_memory *memory;
    gram_kernel *kernel;
    gram_gp *gp; /* NULL: a prior */
    gram_gp_parts parts;
    double offset; /* what was subtracted from the target before the fit */
};

static gram_status make(gram_context *context, const char *who, gram_kernel *kernel, gram_sampler **sampler)
{
    gram_status status = GRAM_OK;
    gram_sampler *made = NULL;
    if (!context || !sampler) return GRAM_ERROR_ARGUMENT;
    *sampler = NULL;
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "%s: kernel or model is NULL", who);
    TRY(gram_take(context, who, 1, sizeof *made, (void **)&made));
    *made = (gram_sampler){.memory = gram_memory_retain(context->memory), .kernel = gram_kernel_retain(kernel)};
    *sampler = made;
done:
    return status;
}

gram_status gram_sampler_of_kernel(gram_context *context, gram_kernel *kernel, gram_sampler **sampler)
{
    return make(context, "sampler_of_kernel", kernel, sampler);
}

gram_status gram_sampler_of_model(gram_context *context, const gram_model *model, gram_sampler **sampler)
{
    gram_status status = GRAM_OK;
    gram_sampler *made = NULL;
    if (!context || !sampler) return GRAM_ERROR_ARGUMENT;
    *sampler = NULL;
    const gram_function *function = model ? gram_model_function(model) : NULL;
    TRY(make(context, "sampler_of_model", function ? gram_function_kernel(function) : NULL, &made));
    made->offset = gram_kept_number(model, "offset", 0);
    made->parts.size = sizeof made->parts;
    status = gram_gp_read_parts(context, model, &made->parts);
    if (status < 0) {
        (void)gram_advise(context, status, "Fit it again.");
        goto done;
    }
    if (made->parts.solver == GRAM_SOLVER_INDUCING) {
        status = gram_fail(context, GRAM_ERROR_UNSUPPORTED, "a model of inducing points keeps no rows to draw with");
        (void)gram_advise(context, status, "Fit it with --solver exact or cg.");
        goto done;
    }
    TRY(gram_gp_create(context, made->kernel, &made->parts, &made->gp));
    *sampler = made;
    made = NULL;
done:
    gram_sampler_destroy(made);
    return status;
}

void gram_sampler_destroy(gram_sampler *sampler)
{
    if (!sampler) return;
    gram_memory *memory = sampler->memory;
    gram_gp_destroy(sampler->gp);
    gram_kernel_release(sampler->kernel);
    gram_memory_give(memory, sampler);
    gram_memory_release(memory);
}

/* ---- draws ---- */

/* From the posterior, or from the prior: then the parts are all 0. */
static gram_status draw_paths(gram_context *context, const gram_sampler *s, const gram_points *points, int64_t draws,
                              double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    gram_gp_options gp;
    gram_gp_path_options options;
    gram_gp_path *path = NULL;
    gram_gp_options_init(&gp, sizeof gp);
    gp.mean = s->parts.mean;
    gp.flat = s->parts.flat;
    gp.noise = s->parts.noise;
    gp.row_noise = s->parts.row_noise;
    gp.weights = s->parts.weights;
    gram_gp_path_options_init(&options, sizeof options);
    options.gp = &gp;
    options.draws = draws;
    TRY(gram_gp_path_create(context, s->kernel, points->d, s->parts.centres, s->parts.y, &options, &path));
    TRY(gram_gp_path_evaluate(context, path, points, NULL, 0, values, ldv));
done:
    gram_gp_path_destroy(path);
    return status;
}

static gram_solver way_of(gram_context *context, const gram_sampler *s, const gram_points *points)
{
    const gram_gp_parts *parts = &s->parts;
    const int markov =
        s->gp ? parts->solver == GRAM_SOLVER_MARKOV : points->d == 1 && gram_markov_supports(context, s->kernel, NULL);
    const int jointly = !s->gp || (parts->solver == GRAM_SOLVER_EXACT && parts->precision == GRAM_PRECISION_F64);
    if (markov) return GRAM_SOLVER_MARKOV;
    return jointly && points->n <= MOST_JOINTLY ? GRAM_SOLVER_EXACT : GRAM_SOLVER_AUTO;
}

static void finish(const gram_context *context, const gram_sampler *s, int64_t n, int64_t draws, int observed,
                   double *values, int64_t ldv)
{
    const double deviation = sqrt(s->parts.noise);
    const gram_random random = {context->seed, OBSERVED};
    double noise = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < draws; j++) {
            if (observed) gram_random_normal(random, (uint64_t)(i * draws + j), 1, &noise);
            values[i * ldv + j] += s->offset + noise * deviation;
        }
}

gram_status gram_sampler_draw(gram_context *context, const gram_sampler *sampler, const gram_points *points,
                              int64_t draws, int observed, double *values, int64_t ldv, gram_draw_report *report)
{
    gram_status status = GRAM_OK;
    gram_draw_report made = {.size = sizeof made};
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!sampler || !points || !values, context, GRAM_ERROR_ARGUMENT, "sampler_draw: %s is NULL",
            !sampler  ? "sampler"
            : !points ? "points"
                      : "values");
    FAIL_IF(draws < 1 || ldv < draws, context, GRAM_ERROR_ARGUMENT, "sampler_draw: draws = %lld with ldv = %lld",
            (long long)draws, (long long)ldv);
    TRY(gram_sized_check(context, "sampler_draw", "report", "gram_draw_report", report, sizeof made));
    const gram_solver way = way_of(context, sampler, points);
    made.method = way == GRAM_SOLVER_AUTO ? "path" : gram_solver_name(way);
    if (way == GRAM_SOLVER_AUTO)
        TRY(draw_paths(context, sampler, points, draws, values, ldv));
    else if (sampler->gp)
        TRY(gram_gp_draw(context, sampler->gp, points, NULL, 0, draws, values, ldv, &made.jitter));
    else
        TRY(gram_gp_draw_prior(context, sampler->kernel, points, way, draws, values, ldv, &made.jitter));
    if (sampler->gp) finish(context, sampler, points->n, draws, observed, values, ldv);
    gram_sized_write(report, &made, sizeof made);
done:
    return status;
}

gram_status gram_sampler_moments(gram_context *context, const gram_sampler *sampler, const gram_points *points,
                                 double *mean, double *std)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!sampler || !points || !mean || !std, context, GRAM_ERROR_ARGUMENT, "sampler_moments: %s is NULL",
            !sampler  ? "sampler"
            : !points ? "points"
            : !mean   ? "mean"
                      : "std");
    if (sampler->gp)
        TRY(gram_gp_predict(context, sampler->gp, points, NULL, 0, mean, std));
    else
        TRY(gram_matrix_diagonal(context, sampler->kernel, points, std));
    for (int64_t i = 0; i < points->n; i++) {
        mean[i] = sampler->gp ? mean[i] + sampler->offset : 0;
        std[i] = sqrt(std[i]);
    }
done:
    return status;
}
