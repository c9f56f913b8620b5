#include "learn/estimate/data_notes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "method/method_report.h"

enum { MOST_NAMED = 6, FEW = 5, SIZE = 400 };

/* Classes with fewer rows than folds usually are: what is said of them rests on little. */
static void note_classes(const gram_learning *learning, const int64_t *counts, char *text)
{
    const gram_classes *classes = &learning->classes;
    int64_t named = 0, few = 0;
    size_t at = 0;
    for (int64_t c = 0; c < classes->count; c++) few += counts[c] < FEW;
    for (int64_t c = 0; c < classes->count && named < MOST_NAMED && at < SIZE - 80; c++) {
        if (counts[c] >= FEW) continue;
        at += (size_t)snprintf(text + at, SIZE - at, "%s%.40s (%" PRId64 ")", named ? ", " : "few rows of the class ",
                               classes->names[c], counts[c]);
        named++;
    }
    if (few > named) (void)snprintf(text + at, SIZE - at, " and of %" PRId64 " more", few - named);
}

/* Rows of each class; the caller gives it back. */
static gram_status count_classes(gram_learning *learning, int64_t **counts)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(learning->context, "classes", learning->classes.count, sizeof **counts, (void **)counts));
    memset(*counts, 0, (size_t)learning->classes.count * sizeof **counts);
    for (int64_t i = 0; i < learning->data->n; i++) (*counts)[(int64_t)learning->labels[i]]++;
done:
    return status;
}

gram_status gram_data_check_classes(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    int64_t *counts = NULL;
    if (learning->task != GRAM_TASK_CLASSIFICATION || learning->tuning != GRAM_TUNING_CV || learning->streamed ||
        learning->before)
        return status;
    TRY(count_classes(learning, &counts));
    for (int64_t c = 0; c < learning->classes.count && status >= 0; c++)
        if (counts[c] == 1)
            status = gram_learning_fail_data(learning,
                                             "Leave the row out or join the class to another, use a Gaussian process, "
                                             "or give the kernel's numbers and "
                                             "the strength: then nothing is tuned.",
                                             "class '%.60s' has one row, and tuning by folds needs two of each",
                                             learning->classes.names[c]);
done:
    gram_give(learning->context, counts);
    return status;
}

/* Constant targets, and whole numbers from 0 on, which may be counts. */
static void note_numbers(const gram_learning *learning, char *text)
{
    const gram_prepared *data = learning->data;
    const char *name = gram_learning_target(learning);
    double low = INFINITY, high = -INFINITY;
    int whole = 1;
    for (int64_t i = 0; i < data->n; i++) {
        const double y = data->y[i * data->targets];
        low = fmin(low, y);
        high = fmax(high, y);
        whole &= y == floor(y);
    }
    if (data->n == 1)
        (void)snprintf(text, SIZE, "there is one row: every prediction is near its target");
    else if (low == high)
        (void)snprintf(text, SIZE, "the target %.60s is constant: so is every prediction", name);
    else if (whole && low >= 0 && low < 10 && high >= 10 && !gram_given_text(learning, "likelihood"))
        (void)snprintf(
            text, SIZE,
            "%.60s has whole numbers from %g to %g: if these are counts, --likelihood poisson is made for them", name,
            low, high);
}

gram_status gram_data_notes_keep(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    char text[SIZE] = "";
    int64_t *counts = NULL;
    gram_keeper keeper = {learning->context, learning->model, GRAM_OK};
    if (learning->functionals || learning->senses || !learning->data) return status;
    if (learning->task == GRAM_TASK_CLASSIFICATION) {
        TRY(count_classes(learning, &counts));
        note_classes(learning, counts, text);
    }
    if (learning->task == GRAM_TASK_REGRESSION && learning->data->targets == 1) note_numbers(learning, text);
    if (text[0]) gram_keep_text(&keeper, "data_note", text);
    status = keeper.status;
done:
    gram_give(learning->context, counts);
    return status;
}

void gram_data_notes_report(gram_report *report)
{
    const char *note = gram_report_text(report, "data_note");
    if (note) gram_report_long(report, "note", note);
}
