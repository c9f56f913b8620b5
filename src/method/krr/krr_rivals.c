/* Kernel ridge regression by kernels of other families than the default one: which of them stays, by the squared errors of rows left out. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "method/krr/krr_model.h"
#include "tune/choice/kernel_choice.h"
#include "tune/ridge_criterion.h"

typedef struct rivals {
    gram_learning *learning;
    gram_krr_tune_options options; /* of the whole */
    gram_sample sample;
    gram_krr_tune_report tuned[GRAM_CHOICE_MOST];
    gram_kernel_choice choice;
} rivals;

static gram_status tune_rival(gram_context *context, rivals *r, const gram_search_trail *from, gram_kernel_trial *trial)
{
    gram_status status = GRAM_OK;
    gram_krr_tune_options options = r->options;
    gram_krr_tune_report *report = &r->tuned[trial - r->choice.trials];
    gram_kernel *family = NULL;
    const double rows = (double)r->learning->n, here = (double)r->sample.n;
    if (options.lambda_fixed) options.lambda *= rows / here;
    options.weights = r->sample.weights;
    report->size = sizeof *report;
    TRY(gram_kernel_parse(context, trial->text, &family));
    TRY(gram_krr_tune_along(context, family, r->sample.points, r->sample.outputs, r->sample.y, r->sample.outputs,
                            &options, (gram_search_trails){.from = from, .to = &trial->ends}, &trial->kernel,
                            &trial->strength, report));
    trial->strength *= here;
done:
    gram_kernel_release(family);
    return status;
}

/* Squared errors of the rows by fits without them, over all outputs. */
static gram_status judge_rival(gram_context *context, const rivals *r, gram_kernel_trial *trial)
{
    gram_status status = GRAM_OK;
    const gram_sample *sample = &r->sample;
    gram_krr_options options;
    gram_krr *krr = NULL;
    gram_krr_options_init(&options, sizeof options);
    options.lambda = trial->strength / (double)sample->n;
    options.weights = sample->weights;
    options.intercept = r->options.intercept;
    options.unpenalised_count = r->options.unpenalised_count;
    options.unpenalised = r->options.unpenalised;
    options.solver = GRAM_SOLVER_EXACT;
    options.precision = GRAM_PRECISION_F64;
    options.leave_one_out = 1;
    TRY(gram_krr_fit(context, trial->kernel, sample->points, sample->outputs, sample->y, sample->outputs, &options,
                     &krr));
    const double *residuals = gram_krr_loo_residuals(krr);
    for (int64_t i = 0; i < sample->n; i++) {
        trial->losses[i] = 0;
        for (int64_t o = 0; o < sample->outputs; o++) {
            const double miss = residuals[i * sample->outputs + o];
            trial->losses[i] += miss * miss;
        }
    }
done:
    gram_krr_destroy(krr);
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
    krr_state *state = learning->own;
    const gram_prepared *data = learning->data;
    gram_kernel_trial *best = &r->choice.trials[r->choice.best];
    TRY(gram_learning_set_written(learning, best->text));
    gram_kernel_release(learning->kernel);
    learning->kernel = NULL;
    if (r->sample.n == learning->n) {
        learning->kernel = gram_kernel_retain(best->kernel);
        state->lambda = best->strength / (double)learning->n;
        state->tuned = r->tuned[r->choice.best];
        memcpy(to->ends, best->ends.ends, sizeof to->ends);
        return status;
    }
    TRY(gram_krr_tune_along(learning->context, learning->written, learning->points, data->targets, data->y,
                            data->targets, &r->options, (gram_search_trails){.from = &best->ends, .to = to},
                            &learning->kernel, &state->lambda, &state->tuned));
done:
    return status;
}

gram_status gram_krr_meet_rivals(gram_learning *learning, const gram_krr_tune_options *options, gram_search_trail *to)
{
    gram_status status = GRAM_OK;
    const gram_prepared *data = learning->data;
    const krr_state *state = learning->own;
    const gram_given given = {learning->points, data->targets, data->y, data->targets, data->weights};
    rivals r = {.learning = learning, .options = *options};
    gram_kernel_trial *first = &r.choice.trials[0];
    TRY(gram_choice_sample(learning->context, &given, &r.sample));
    r.choice.run = run;
    r.choice.argument = &r;
    r.choice.what = "squared error of rows left out";
    gram_kernel_families(&r.sample, 0, &r.choice);
    if (r.sample.n == learning->n) {
        first->kernel = gram_kernel_retain(learning->kernel);
        first->strength = state->lambda * (double)learning->n;
    }
    TRY(gram_kernel_choose(learning->context, to, &r.choice));
    (void)snprintf(learning->kernel_reason, sizeof learning->kernel_reason, "%s", r.choice.reason);
    if (r.choice.best > 0) TRY(take_winner(learning, &r, to));
done:
    gram_kernel_choice_free(learning->context, &r.choice);
    gram_sample_free(learning->context, &r.sample);
    return status;
}
