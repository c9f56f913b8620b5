/* What is known of a model, its scores and its explanation, as tables of a page. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gram/page.h>
#include <gram/text.h>

#include "base/text/number.h"

enum { MOST_ROWS = 50, MOST_CLASSES = 20, TEXT_SIZE = GRAM_NUMBER_SIZE };

static const char *shown(double value, int digits, char out[TEXT_SIZE])
{
    if (isnan(value))
        (void)snprintf(out, TEXT_SIZE, "-");
    else
        (void)gram_number_short(value, digits, out);
    return out;
}

static void add_pair(gram_string *page, const char *label, double value)
{
    char text[TEXT_SIZE];
    if (!isnan(value)) gram_page_row(page, 2, (const char *[]){label, shown(value, 5, text)});
}

/* Rows that go on are joined. */
static void add_rows(gram_string *page, const gram_description *description)
{
    gram_page_table(page, 2, NULL);
    for (int64_t i = 0; i < gram_description_count(description);) {
        gram_string value = {0};
        const char *label = gram_description_label(description, i);
        gram_string_add(&value, "%s", gram_description_value(description, i++));
        for (; i < gram_description_count(description) && !gram_description_label(description, i)[0]; i++)
            gram_string_add(&value, " %s", gram_description_value(description, i));
        gram_page_row(page, 2, (const char *[]){label, value.data ? value.data : ""});
        page->failed |= value.failed;
        gram_string_free(&value);
    }
    gram_page_table_end(page);
}

static void add_importance(gram_string *page, const gram_description *description)
{
    static const char *const NAMES[] = {"feature", "rise", "standard error"};
    int64_t count;
    const gram_importance *rows = gram_description_importance(description, &count);
    char value[TEXT_SIZE], se[TEXT_SIZE];
    if (count == 0) return;
    gram_page_heading(page, "Importance found by the fit");
    gram_page_paragraph(page, "The rise of the loss on rows that the fit left out when a feature is permuted among them.");
    gram_page_table(page, 3, NAMES);
    for (int64_t i = 0; i < count && i < MOST_ROWS; i++)
        gram_page_row(page, 3,
                      (const char *[]){rows[i].name, shown(rows[i].value, 3, value), shown(rows[i].se, 2, se)});
    gram_page_table_end(page);
}

void gram_page_model(gram_string *page, const gram_description *description)
{
    gram_page_heading(page, "Report");
    add_rows(page, description);
    add_importance(page, description);
}

/* ---- scores ---- */

static void add_confusion(gram_string *page, const gram_classes *classes, const gram_score_report *scores)
{
    const char *cells[MOST_CLASSES + 1] = {"true \\ predicted"};
    char numbers[MOST_CLASSES][TEXT_SIZE];
    const int64_t count = classes->count;
    if (count > MOST_CLASSES || !scores->confusion) return;
    for (int64_t c = 0; c < count; c++) cells[c + 1] = classes->names[c];
    gram_page_table(page, count + 1, cells);
    for (int64_t r = 0; r < count; r++) {
        cells[0] = classes->names[r];
        for (int64_t c = 0; c < count; c++) {
            (void)snprintf(numbers[c], TEXT_SIZE, "%" PRId64, scores->confusion[r * count + c]);
            cells[c + 1] = numbers[c];
        }
        gram_page_row(page, count + 1, cells);
    }
    gram_page_table_end(page);
}

gram_status gram_page_scores(gram_context *context, gram_string *page, const gram_columns *columns,
                             const gram_score *score)
{
    gram_score_report report = {.size = sizeof report}, *scores = &report;
    const gram_status status = gram_score_sum_up(context, score, scores);
    if (status < 0 || !scores->scored) return status;
    gram_page_heading(page, "Scores on the rows given");
    gram_page_table(page, 2, NULL);
    add_pair(page, "rows", (double)scores->rows);
    add_pair(page, "root mean squared error", scores->rmse);
    add_pair(page, "mean absolute error", scores->mae);
    add_pair(page, "R2", scores->r2);
    add_pair(page, "nlpd", scores->nlpd);
    add_pair(page, "coverage of 95 % intervals", scores->coverage);
    add_pair(page, "accuracy", scores->accuracy);
    add_pair(page, "log loss", scores->log_loss);
    add_pair(page, "area under the ROC curve", scores->auc);
    for (int64_t k = 0; k < scores->level_count; k++) {
        char label[2 * TEXT_SIZE], level[TEXT_SIZE];
        (void)snprintf(label, sizeof label, "pinball loss of quantile %s", shown(columns->levels[k], 6, level));
        add_pair(page, label, scores->level_loss[k]);
    }
    gram_page_table_end(page);
    if (columns->classes->count > 0) add_confusion(page, columns->classes, scores);
    return status;
}

/* ---- explanations ---- */

static void add_features(gram_string *page, const gram_explanation *explanation)
{
    static const char *const NAMES[] = {"feature", "rise when permuted", "se", "share of derivatives", "se"};
    int64_t count;
    char text[4][TEXT_SIZE];
    const gram_explained_feature *features = gram_explanation_features(explanation, &count);
    gram_page_heading(page, "Importance of the features on the rows given");
    gram_page_table(page, 5, NAMES);
    for (int64_t k = 0; k < count && k < MOST_ROWS; k++) {
        const gram_explained_feature *f = &features[k];
        gram_page_row(page, 5,
                      (const char *[]){f->name, shown(f->value, 4, text[0]), shown(f->se, 2, text[1]),
                                       shown(f->share, 4, text[2]), shown(f->share_se, 2, text[3])});
    }
    gram_page_table_end(page);
}

void gram_page_explanation(gram_string *page, const gram_explanation *explanation)
{
    static const char *const NAMES[] = {"term", "deviation", "share of variance"};
    int64_t count;
    char std[TEXT_SIZE], share[TEXT_SIZE];
    const gram_explained_term *terms = gram_explanation_terms(explanation, &count);
    add_features(page, explanation);
    if (count == 0) return;
    gram_page_heading(page, "Terms of the kernel");
    gram_page_table(page, 3, NAMES);
    for (int64_t t = 0; t < count; t++)
        gram_page_row(page, 3,
                      (const char *[]){terms[t].kernel, shown(terms[t].std, 4, std), shown(terms[t].share, 3, share)});
    gram_page_table_end(page);
}
