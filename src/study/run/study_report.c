/* What people read of a study; points that were asked for, as lines and as JSON. */
#include <inttypes.h>
#include <math.h>

#include <gram/output.h>
#include <gram/study_run.h>

#include "base/text/number.h"
#include "study/study_core.h"

enum { VALUE_COLUMN = 20, VALUE_SIZE = 1100, DIGITS = 6 };

static void add_label(gram_string *text, const char *label)
{
    gram_string_add(text, "%s", label);
    gram_string_pad(text, VALUE_COLUMN);
}

static void add_row(gram_string *text, const char *label, const char *value)
{
    add_label(text, label);
    gram_string_add(text, "%s\n", value);
}

static void add_counts(const gram_study *study, gram_string *text)
{
    int64_t counts[GRAM_TRIAL_FAILED + 1] = {0};
    for (int64_t i = 0; i < study->count; i++) counts[study->records[i].state]++;
    add_label(text, "evaluations");
    gram_string_add(text, "%" PRId64, study->told);
    if (counts[GRAM_TRIAL_FAILED]) gram_string_add(text, ", %" PRId64 " failed", counts[GRAM_TRIAL_FAILED]);
    if (counts[GRAM_TRIAL_RUNNING]) gram_string_add(text, ", %" PRId64 " asked for", counts[GRAM_TRIAL_RUNNING]);
    gram_string_add(text, "\n");
}

static gram_status add_values(gram_context *context, gram_study *study, int64_t best, gram_string *text)
{
    gram_status status = GRAM_OK;
    const gram_record *r = study->records + best;
    char first[GRAM_NUMBER_SIZE], second[GRAM_NUMBER_SIZE];
    double mean, deviation;
    TRY(gram_study_predict(context, study, 1, gram_study_point(study, best), &mean, &deviation, NULL));
    add_row(text, "best value", gram_number_short(r->value, DIGITS, first));
    if (r->row >= 0) add_row(text, "row", gram_number_short((double)(r->row + 1), DIGITS, first));
    add_label(text, "model there");
    gram_string_add(text, "%s +- %s\n", gram_number_short(mean, DIGITS, first),
                    gram_number_short(deviation, DIGITS, second));
done:
    return status;
}

static void add_variable(const gram_study *study, int64_t i, double x, char value[VALUE_SIZE], gram_string *text)
{
    const gram_domain_variable *v = study->space.variables + i;
    if (gram_domain_is_discrete(v))
        (void)gram_study_format(study, i, x, value, VALUE_SIZE);
    else
        (void)gram_number_short(x, DIGITS, value);
    add_label(text, v->name);
    gram_string_add(text, "%s", value);
}

static gram_status add_point(gram_context *context, gram_study *study, int64_t best, gram_string *text)
{
    gram_status status = GRAM_OK;
    double *shares = NULL;
    const double *x = gram_study_point(study, best);
    char value[VALUE_SIZE], share[GRAM_NUMBER_SIZE];
    TRY(gram_take(context, "study_report", study->space.count, sizeof *shares, (void **)&shares));
    TRY(gram_study_importance(context, study, shares));
    for (int64_t i = 0; i < study->space.count; i++) {
        add_variable(study, i, x[i], value, text);
        gram_string_add(text, "   (importance %s)\n", gram_number_short(shares[i], DIGITS, share));
    }
done:
    gram_give(context, shares);
    return status;
}

/* Where values are noisy: the best of them owes something to luck. */
static gram_status add_recommended(gram_context *context, gram_study *study, gram_string *text)
{
    gram_status status = GRAM_OK;
    double *x = NULL, mean, deviation;
    char value[VALUE_SIZE], first[GRAM_NUMBER_SIZE], second[GRAM_NUMBER_SIZE];
    TRY(gram_take(context, "study_report", study->space.count, sizeof *x, (void **)&x));
    TRY(gram_study_recommend(context, study, x, &mean, &deviation));
    for (int64_t i = 0; i < study->space.count; i++) {
        add_variable(study, i, x[i], value, text);
        gram_string_add(text, "\n");
    }
    add_label(text, "model there");
    gram_string_add(text, "%s +- %s\n", gram_number_short(mean, DIGITS, first),
                    gram_number_short(deviation, DIGITS, second));
done:
    gram_give(context, x);
    return status;
}

gram_status gram_study_report(gram_context *context, gram_study *study, const char *file, const char *why,
                              const char *bold, const char *plain, gram_string *text)
{
    gram_status status = GRAM_OK;
    if (!context || !study || !text) return GRAM_ERROR_ARGUMENT;
    if (gram_study_has_values(study)) TRY(gram_study_learn(context, study));
    const int64_t best = gram_study_best(study);
    add_counts(study, text);
    if (file) add_row(text, "study", file);
    if (why) add_row(text, "stopped", why);
    if (best < 0) {
        add_row(text, "best value", "none yet");
        goto done;
    }
    TRY(add_values(context, study, best, text));
    gram_string_add(text, "\n%sBest point%s\n", bold ? bold : "", plain ? plain : "");
    TRY(add_point(context, study, best, text));
    if (!gram_study_is_noisy(study)) goto done;
    gram_string_add(text, "\n%sRecommended, %s%s\n", bold ? bold : "",
                    gram_study_noise_is_known(study) ? "values being noisy"
                                                     : "if values are noisy (a noise of 0 says no)",
                    plain ? plain : "");
    TRY(add_recommended(context, study, text));
done:
    return status;
}

/* ---- proposals ---- */

static void add_line(const gram_study *study, const gram_proposal *p, const double *x, gram_string *text)
{
    char value[VALUE_SIZE];
    gram_string_add(text, "trial %" PRId64, p->trial + 1);
    if (p->row >= 0) gram_string_add(text, ", row %" PRId64, p->row + 1);
    for (int64_t l = 0; l < study->space.count; l++) {
        (void)gram_study_format(study, l, x[l], value, sizeof value);
        gram_string_add(text, "%s%s=%s", l ? " " : ": ", study->space.variables[l].name, value);
    }
    gram_string_add(text, "\n");
}

static void add_object(const gram_study *study, const gram_proposal *p, const double *x, gram_json *json)
{
    gram_json_open(json, NULL, '{');
    gram_json_integer(json, "trial", p->trial + 1);
    if (p->row >= 0) gram_json_integer(json, "row", p->row + 1);
    gram_json_study_point(json, "point", study, x, 0);
    gram_json_number(json, "mean", p->mean);
    gram_json_number(json, "std", p->deviation);
    gram_json_number(json, "expected_improvement", p->expected_improvement);
    gram_json_close(json, '{');
}

gram_status gram_study_ask_words(gram_context *context, gram_study *study, int64_t count, gram_string *text,
                                 gram_json *json)
{
    gram_status status = GRAM_OK;
    gram_proposal p = {.size = sizeof p};
    double *x = NULL;
    if (!context || !study || (!text && !json)) return GRAM_ERROR_ARGUMENT;
    TRY(gram_take(context, "study_ask_words", study->space.count, sizeof *x, (void **)&x));
    if (!text) gram_json_open(json, "points", '[');
    for (int64_t i = 0; i < count; i++) {
        status = gram_study_ask(context, study, x, &p);
        if (status == GRAM_ERROR_ARGUMENT && i > 0) break; /* fewer candidates than that are left */
        TRY(status);
        if (text)
            add_line(study, &p, x, text);
        else
            add_object(study, &p, x, json);
    }
    if (!text) gram_json_close(json, '[');
    status = GRAM_OK;
done:
    gram_give(context, x);
    return status;
}
