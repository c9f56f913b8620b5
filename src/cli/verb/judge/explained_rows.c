#include "cli/verb/judge/explained_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cli/report/report_rows.h"

enum { MOST_FEATURES = 40, MOST_VALUES = 4 };

/* "0.123 +- 0.0045", or "-". */
static const char *with_error(double value, double se, char out[48])
{
    if (isnan(value))
        (void)snprintf(out, 48, "-");
    else
        (void)snprintf(out, 48, "%.4g +- %.2g", value, se);
    return out;
}

static void print_features(cli_session *session, gram_string *text, const gram_explanation *explanation)
{
    int64_t count;
    char value[48], share[48];
    const gram_explained_feature *features = gram_explanation_features(explanation, &count);
    const int permuted = !isnan(gram_explanation_loss(explanation));
    cli_add_heading(session, text, "Importance of the features, one standard error");
    gram_string_add(text, "%-19s %-22s %s\n", "feature", "rise when permuted", "share of derivatives");
    for (int64_t k = 0; k < count && k < MOST_FEATURES; k++) {
        gram_string_add(text, "%s", features[k].name);
        gram_string_pad(text, CLI_VALUE_COLUMN);
        gram_string_add(text, "%-22s %s\n", with_error(features[k].value, features[k].se, value),
                        with_error(features[k].share, features[k].share_se, share));
    }
    if (count > MOST_FEATURES) gram_string_add(text, "and %" PRId64 " more\n", count - MOST_FEATURES);
    if (!permuted) gram_string_add(text, "Without the target in DATA there is no rise of the error.\n");
    if (gram_explanation_no_shares(explanation))
        gram_string_add(text, "No shares: %s.\n", gram_explanation_no_shares(explanation));
}

static double range_of(const gram_dependence *d, int64_t curve)
{
    double least = INFINITY, most = -INFINITY;
    for (int64_t g = 0; g < d->places; g++) {
        least = fmin(least, d->value[g * d->curves + curve]);
        most = fmax(most, d->value[g * d->curves + curve]);
    }
    return most - least;
}

/* Value at a place, in short. */
static void add_place(gram_string *text, const gram_dependence *d, int64_t g)
{
    if (d->levels)
        gram_string_add(text, "%s: %.4g", d->levels[g], d->value[g * d->curves]);
    else
        gram_string_add(text, "%.4g: %.4g", d->at[g], d->value[g * d->curves]);
}

static void print_dependences(cli_session *session, gram_string *text, const gram_explanation *explanation)
{
    const gram_dependence *first = gram_explanation_dependence(explanation, 0);
    if (!first) return;
    gram_string heading = {0};
    gram_string_add(&heading, "Partial dependence: mean prediction%s%s at values of the feature",
                    first->curves == 1 ? " of " : "", first->curves == 1 ? first->names[0] : "");
    cli_add_heading(session, text, heading.data ? heading.data : "");
    gram_string_free(&heading);
    for (int64_t k = 0; k < gram_explanation_dependences(explanation); k++) {
        const gram_dependence *d = gram_explanation_dependence(explanation, k);
        cli_add_label(text, d->name);
        for (int64_t c = 0; c < d->curves && d->curves > 1 && c < MOST_VALUES; c++)
            gram_string_add(text, "%s%s varies by %.3g", c > 0 ? ", " : "", d->names[c], range_of(d, c));
        for (int64_t s = 0; s <= MOST_VALUES && d->curves == 1 && d->places > 1; s++) {
            const int64_t g = s * (d->places - 1) / MOST_VALUES;
            if (s > 0 && g == (s - 1) * (d->places - 1) / MOST_VALUES) continue;
            if (s > 0) gram_string_add(text, ", ");
            add_place(text, d, g);
        }
        gram_string_add(text, "\n");
    }
}

static void print_terms(cli_session *session, gram_string *text, const gram_explanation *explanation)
{
    int64_t count;
    const gram_explained_term *terms = gram_explanation_terms(explanation, &count);
    if (count == 0) return;
    cli_add_heading(session, text, "Terms of the kernel");
    gram_string_add(text, "%-19s %-12s %s\n", "share of variance", "deviation", "term");
    for (int64_t t = 0; t < count; t++)
        gram_string_add(text, "%-19.3g %-12.4g %s\n", terms[t].share, terms[t].std, terms[t].kernel);
}

static void print_weights(cli_session *session, gram_string *text, const gram_explanation *explanation, int64_t row)
{
    int64_t count;
    double function, constant;
    gram_string heading = {0};
    const gram_row_weight *weights = gram_explanation_weights(explanation, &count, &function, &constant);
    if (row < 1) return;
    if (count == 0) {
        gram_string_add(
            text, "\nPredictions of this model are no sum over rows: none of them has a part in row %" PRId64 ".\n",
            row);
        return;
    }
    gram_string_add(&heading, "The %s that weigh most at row %" PRId64, gram_explanation_centres(explanation), row);
    cli_add_heading(session, text, heading.data ? heading.data : "");
    gram_string_free(&heading);
    gram_string_add(text, "function %.6g = %.6g + the parts of all of them\n", function, constant);
    gram_string_add(text, "%-12s %-12s %-14s %-14s %s\n", "centre", "row of DATA", "part", "kernel", "coefficient");
    for (int64_t k = 0; k < count; k++) {
        char at[32] = "-";
        if (weights[k].row >= 0) (void)snprintf(at, sizeof at, "%" PRId64, weights[k].row + 1);
        gram_string_add(text, "%-12" PRId64 " %-12s %-14.5g %-14.5g %.5g\n", weights[k].centre + 1, at, weights[k].part,
                        weights[k].kernel, weights[k].coefficient);
    }
}

void cli_explanation_print(cli_session *session, gram_string *text, const gram_explanation *explanation,
                           const gram_model *model, int64_t row)
{
    char rows[CLI_SHORT_SIZE];
    cli_add_label(text, "model");
    gram_string_add(text, "%s, %s\n", gram_model_method(model), gram_model_task(model));
    cli_add_row(text, "rows", gram_count_format(gram_explanation_rows(explanation), rows));
    cli_add_number(text, "loss", gram_explanation_loss(explanation));
    print_features(session, text, explanation);
    print_dependences(session, text, explanation);
    print_terms(session, text, explanation);
    print_weights(session, text, explanation, row);
}
