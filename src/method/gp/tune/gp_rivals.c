/* Gaussian processes with kernels of other families than the default one: which of them stays, by the log densities of rows left out. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "method/gp/gp_model.h"
#include "method/gp/tune/gp_tune_along.h"
#include "tune/choice/kernel_choice.h"

static const double PI = 3.14159265358979323846;

typedef struct rivals {
    gram_learning *learning;
    gram_gp_options options; /* of fits to the sample */
    gram_gp_tune_options tune;
    gram_sample sample;
    gram_gp_tune_report tuned[GRAM_CHOICE_MOST];
    gram_kernel_choice choice;
} rivals;

/* Amplitudes begin at the variance of the target, as those of the default kernel did. */
static gram_status amplified(gram_context *context, const rivals *r, const char *text, gram_kernel **out)
{
    gram_status status = GRAM_OK;
    const gp_state *state = r->learning->own;
    gram_kernel *family = NULL;
    int64_t amplitudes;
    TRY(gram_kernel_parse(context, text, &family));
    TRY(gram_learning_set_amplitudes(context, family, state->deviation * state->deviation, &amplitudes, out));
done:
    gram_kernel_release(family);
    return status;
}

static gram_status tune_rival(gram_context *context, rivals *r, const gram_search_trail *from, gram_kernel_trial *trial)
{
    gram_status status = GRAM_OK;
    gram_gp_tune_report *report = &r->tuned[trial - r->choice.trials];
    gram_kernel *start = NULL;
    report->size = sizeof *report;
    trial->strength = r->options.noise;
    TRY(amplified(context, r, trial->text, &start));
    TRY(gram_gp_tune_along(context, 0, start, r->sample.points, r->sample.y, &r->options, &r->tune,
                           (gram_search_trails){.from = from, .to = &trial->ends}, &trial->kernel, &trial->strength,
                           report));
done:
    gram_kernel_release(start);
    return status;
}

/* Minus the log density of each row given the others. */
static gram_status judge_rival(gram_context *context, const rivals *r, gram_kernel_trial *trial)
{
    gram_status status = GRAM_OK;
    gram_gp_options options = r->options;
    gram_gp *gp = NULL;
    options.noise = trial->strength;
    TRY(gram_gp_fit(context, trial->kernel, r->sample.points, r->sample.y, &options, &gp));
    const double *mean = gram_gp_loo_mean(gp), *variance = gram_gp_loo_variance(gp);
    FAIL_IF(!mean || !variance, context, GRAM_ERROR_NUMERICAL, "gp: no rows were left out");
    for (int64_t i = 0; i < r->sample.n; i++) {
        const double miss = r->sample.y[i] - mean[i];
        trial->losses[i] = 0.5 * (log(2 * PI * variance[i]) + miss * miss / variance[i]);
    }
done:
    gram_gp_destroy(gp);
    return status < 0 ? status : GRAM_OK;
}

static gram_status run(gram_context *context, void *argument, const gram_search_trail *from, gram_kernel_trial *trial)
{
    gram_status status = GRAM_OK;
    rivals *r = argument;
    if (!trial->kernel) TRY(tune_rival(context, r, from, trial));
    TRY(judge_rival(context, r, trial));
done:
    return status;
}

/* The winner's numbers are those of all rows if the sample was; else it is searched on, from where it is. */
static gram_status take_winner(gram_learning *learning, rivals *r, gram_search_trail *to)
{
    gram_status status = GRAM_OK;
    gp_state *state = learning->own;
    gram_kernel_trial *best = &r->choice.trials[r->choice.best];
    gram_kernel *start = NULL;
    TRY(gram_learning_set_written(learning, best->text));
    gram_kernel_release(learning->kernel);
    learning->kernel = NULL;
    if (r->sample.n == learning->n) {
        learning->kernel = gram_kernel_retain(best->kernel);
        state->options.noise = best->strength;
        state->tuned = r->tuned[r->choice.best];
        memcpy(to->ends, best->ends.ends, sizeof to->ends);
        return status;
    }
    TRY(amplified(learning->context, r, best->text, &start));
    TRY(gram_gp_tune_along(learning->context, 0, start, learning->points, state->y, &state->options, &r->tune,
                           (gram_search_trails){.from = &best->ends, .to = to}, &learning->kernel,
                           &state->options.noise, &state->tuned));
done:
    gram_kernel_release(start);
    return status;
}

gram_status gram_gp_meet_rivals(gram_learning *learning, const gram_gp_tune_options *tune, gram_search_trail *to)
{
    gram_status status = GRAM_OK;
    gp_state *state = learning->own;
    const gram_given given = {learning->points, 1, state->y, 1, NULL};
    rivals r = {.learning = learning, .options = state->options, .tune = *tune};
    gram_kernel_trial *first = &r.choice.trials[0];
    r.options.solver = GRAM_SOLVER_EXACT;
    r.options.precision = GRAM_PRECISION_F64;
    r.options.plan = NULL;
    TRY(gram_choice_sample(learning->context, &given, &r.sample));
    r.choice.run = run;
    r.choice.argument = &r;
    r.choice.what = "minus the log density of rows left out";
    r.choice.logarithms = 1;
    gram_kernel_families(&r.sample, 1, &r.choice);
    if (r.sample.n == learning->n) {
        first->kernel = gram_kernel_retain(learning->kernel);
        first->strength = state->options.noise;
    }
    TRY(gram_kernel_choose(learning->context, to, &r.choice));
    (void)snprintf(learning->kernel_reason, sizeof learning->kernel_reason, "%s", r.choice.reason);
    if (r.choice.best > 0) TRY(take_winner(learning, &r, to));
done:
    gram_kernel_choice_free(learning->context, &r.choice);
    gram_sample_free(learning->context, &r.sample);
    return status;
}
