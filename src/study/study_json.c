/* What a study has found, as JSON. */
#include <gram/output.h>

#include "study/study_core.h"

void gram_json_study_point(gram_json *json, const char *key, const gram_study *study, const double *x, int open)
{
    gram_json_open(json, key, '{');
    for (int64_t i = 0; i < study->space.count; i++) {
        const gram_domain_variable *v = study->space.variables + i;
        if (v->kind == GRAM_VARIABLE_CATEGORY)
            gram_json_string(json, v->name, v->levels[(int64_t)x[i]]);
        else if (v->kind == GRAM_VARIABLE_INTEGER)
            gram_json_integer(json, v->name, (int64_t)x[i]);
        else
            gram_json_number(json, v->name, x[i]);
    }
    if (!open) gram_json_close(json, '{');
}

static gram_status write_best(gram_context *context, gram_json *json, gram_study *study, int64_t best)
{
    gram_status status = GRAM_OK;
    const gram_record *r = study->records + best;
    const double *x = gram_study_point(study, best);
    double mean, deviation;
    TRY(gram_study_predict(context, study, 1, x, &mean, &deviation, NULL));
    gram_json_study_point(json, "best", study, x, 1);
    gram_json_number(json, "value", r->value);
    gram_json_close(json, '{');
    if (r->row >= 0) gram_json_integer(json, "best_row", r->row + 1);
    gram_json_number(json, "best_mean", mean);
    gram_json_number(json, "best_std", deviation);
done:
    return status;
}

static gram_status write_recommended(gram_context *context, gram_json *json, gram_study *study)
{
    gram_status status = GRAM_OK;
    double *x = NULL, mean, deviation;
    TRY(gram_take(context, "json_study", study->space.count, sizeof *x, (void **)&x));
    TRY(gram_study_recommend(context, study, x, &mean, &deviation));
    gram_json_study_point(json, "recommended", study, x, 1);
    gram_json_number(json, "mean", mean);
    gram_json_number(json, "std", deviation);
    gram_json_close(json, '{');
done:
    gram_give(context, x);
    return status;
}

static gram_status write_importance(gram_context *context, gram_json *json, gram_study *study)
{
    gram_status status = GRAM_OK;
    double *shares = NULL;
    TRY(gram_take(context, "json_study", study->space.count, sizeof *shares, (void **)&shares));
    TRY(gram_study_importance(context, study, shares));
    gram_json_open(json, "importance", '{');
    for (int64_t i = 0; i < study->space.count; i++) gram_json_number(json, study->space.variables[i].name, shares[i]);
    gram_json_close(json, '{');
done:
    gram_give(context, shares);
    return status;
}

gram_status gram_json_study(gram_context *context, gram_json *json, gram_study *study)
{
    gram_status status = GRAM_OK;
    int64_t counts[GRAM_TRIAL_FAILED + 1] = {0};
    if (!context || !json || !study) return GRAM_ERROR_ARGUMENT;
    for (int64_t i = 0; i < study->count; i++) counts[study->records[i].state]++;
    if (counts[GRAM_TRIAL_DONE]) TRY(gram_study_learn(context, study));
    const int64_t best = gram_study_best(study);
    if (best >= 0)
        TRY(write_best(context, json, study, best));
    else
        gram_json_null(json, "best");
    if (best >= 0) TRY(write_recommended(context, json, study));
    gram_json_integer(json, "evaluations", study->told);
    gram_json_integer(json, "failed", counts[GRAM_TRIAL_FAILED]);
    gram_json_integer(json, "running", counts[GRAM_TRIAL_RUNNING]);
    gram_json_number(json, "noise", gram_study_noise(study));
    if (best >= 0) TRY(write_importance(context, json, study));
done:
    return status;
}
