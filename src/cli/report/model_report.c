#include "cli/report/model_report.h"

#include <inttypes.h>
#include <string.h>

#include "cli/report/report_rows.h"

enum { MOST_RELEVANCES = 20, MOST_NAMES = 3, MOST_CLASSES = 6, MOST_WEIGHTS = 40 };

int cli_model_report_find(cli_session *session, const gram_model *model, const char *file,
                          gram_description **description)
{
    const gram_status status = gram_model_describe(session->context, model, file, description);
    return status < 0 ? cli_session_fail(session, status, 1, NULL) : CLI_DONE;
}

void cli_classes_print(gram_string *text, const gram_classes *classes)
{
    gram_string_add(text, "%" PRId64 " classes (", classes->count);
    for (int64_t i = 0; i < classes->count && i < MOST_CLASSES; i++)
        gram_string_add(text, "%s%s", i > 0 ? ", " : "", classes->names[i]);
    gram_string_add(text, classes->count > MOST_CLASSES ? ", ...)" : ")");
}

void cli_add_targets(gram_string *text, const gram_preparation_description *known)
{
    if (known->target_count == 0) gram_string_add(text, "nothing");
    if (known->target_count > MOST_NAMES) gram_string_add(text, "%" PRId64 " targets", known->target_count);
    if (known->target_count > MOST_NAMES) return;
    for (int64_t t = 0; t < known->target_count; t++)
        gram_string_add(text, "%s%s",
                        t == 0                        ? ""
                        : t + 1 < known->target_count ? ", "
                                                      : " and ",
                        known->targets[t].name);
}

void cli_add_features(gram_string *text, const gram_preparation_description *known)
{
    int64_t words = 0, levels = 0, dates = 0;
    for (int64_t f = 0; f < known->feature_count; f++) {
        dates += known->features[f].date;
        words += known->features[f].text;
        levels += known->features[f].text ? known->features[f].level_count : 0;
    }
    if (known->feature_count == 1)
        gram_string_add(text, "%s", known->features[0].name);
    else
        gram_string_add(text, "%" PRId64 " features", known->feature_count);
    if (dates > 0 && known->feature_count > 1) gram_string_add(text, ", %" PRId64 " of them", dates);
    if (dates > 0) gram_string_add(text, "%s dates (in days)", known->feature_count > 1 ? "" : ",");
    if (words == 0) return;
    if (known->feature_count > 1) gram_string_add(text, ", %" PRId64 " of them", words);
    gram_string_add(text, "%s text with %" PRId64 " level%s", known->feature_count > 1 ? "" : ",", levels,
                    cli_plural(levels));
}

static void add_long(gram_string *text, const char *label, const char *value)
{
    cli_add_label(text, label);
    cli_add_wrapped(text, value, ", ", CLI_VALUE_COLUMN);
}

static void print_weights(cli_session *session, gram_string *text, const gram_description *description)
{
    char mean[CLI_SHORT_SIZE], std[CLI_SHORT_SIZE];
    int64_t count;
    const gram_weight *weights = gram_description_weights(description, &count);
    if (count > 0) {
        cli_add_heading(session, text, "Weights, in the features' own units");
        gram_string_add(text, "%-19s %-12s  %s\n", "name", "mean", "deviation");
    }
    for (int64_t j = 0; j < count && j < MOST_WEIGHTS; j++) {
        gram_string_add(text, "%s", weights[j].name);
        gram_string_pad(text, CLI_VALUE_COLUMN);
        gram_string_add(text, "%-12s  %s\n", cli_short_number(weights[j].mean, mean),
                        cli_short_number(weights[j].std, std));
    }
    if (count > MOST_WEIGHTS) gram_string_add(text, "and %" PRId64 " more\n", count - MOST_WEIGHTS);
}

/* Bounds that hold for all functions of a ball, and say little of this one: for --verbose. A row without a label goes with the one before. */
static int is_detail(const char *label, int before)
{
    static const char *const details[] = {"complexity", "risk", "stability"};
    for (size_t i = 0; i < sizeof details / sizeof *details; i++)
        if (strcmp(label, details[i]) == 0) return 1;
    return label[0] == '\0' && before;
}

void cli_model_report_print(cli_session *session, gram_string *text, const gram_description *description)
{
    int detail = 0;
    for (int64_t i = 0; i < gram_description_count(description); i++) {
        const char *label = gram_description_label(description, i);
        const char *value = gram_description_value(description, i);
        detail = is_detail(label, detail);
        if (detail && !session->common->verbose) continue;
        if (strstr(label, "kernel") || strcmp(label, "note") == 0)
            add_long(text, label, value);
        else
            cli_add_row(text, label, value);
    }
    print_weights(session, text, description);
    cli_relevance_print(session, text, description, MOST_RELEVANCES);
}
