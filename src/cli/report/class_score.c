#include "cli/report/class_score.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "cli/report/report_rows.h"

enum { SAMPLE_STREAM = 0x636C6173, FIRST_ROOM = 1024, MOST_SHOWN = 12 };

int cli_class_score_begin(cli_session *session, const gram_classes *classes, cli_class_score *score)
{
    *score = (cli_class_score){.classes = classes, .random = {session->common->seed, SAMPLE_STREAM}};
    score->confusion = calloc((size_t)(classes->count * classes->count + 1), sizeof *score->confusion);
    return score->confusion ? CLI_DONE : cli_no_memory();
}

void cli_class_score_free(cli_class_score *score)
{
    free(score->confusion);
    free(score->scores);
    free(score->second);
    *score = (cli_class_score){0};
}

/* Where the next row of the sample goes; -1: nowhere. */
static int64_t next_place(cli_class_score *score)
{
    double u;
    const int64_t row = score->seen++;
    if (score->kept < CLI_CLASS_SAMPLE) return score->kept;
    gram_random_uniform(score->random, (uint64_t)row, 1, &u);
    const int64_t place = (int64_t)(u * (double)score->seen);
    return place < CLI_CLASS_SAMPLE ? place : -1;
}

static int grow(cli_class_score *score)
{
    const int64_t room = score->room == 0 ? FIRST_ROOM : 2 * score->room;
    float *scores = realloc(score->scores, (size_t)room * sizeof *scores);
    if (scores) score->scores = scores;
    unsigned char *second = realloc(score->second, (size_t)room);
    if (second) score->second = second;
    if (!scores || !second) return cli_no_memory();
    score->room = room;
    return CLI_DONE;
}

static int keep_score(cli_class_score *score, int64_t truth, double value)
{
    const int64_t place = next_place(score);
    if (place < 0) return CLI_DONE;
    if (place == score->kept && score->kept == score->room && grow(score) != CLI_DONE) return CLI_OVER_LIMIT;
    score->scores[place] = (float)value;
    score->second[place] = truth == 1;
    if (place == score->kept) score->kept++;
    return CLI_DONE;
}

int cli_class_score_add(cli_class_score *score, int64_t truth, const double *values)
{
    const int64_t classes = score->classes->count;
    if (truth < 0) {
        score->other++;
        return CLI_DONE;
    }
    score->count++;
    score->confusion[truth * classes + (int64_t)values[0]]++;
    if (!isnan(values[1])) {
        score->probable++;
        score->log_loss -= log(fmax(values[1 + truth], 1e-15)); /* as scikit-learn clips */
    }
    return classes == 2 ? keep_score(score, truth, values[3]) : CLI_DONE;
}

double cli_class_score_accuracy(const cli_class_score *score)
{
    int64_t right = 0;
    for (int64_t c = 0; c < score->classes->count; c++) right += score->confusion[c * (score->classes->count + 1)];
    const int64_t rows = score->count + score->other;
    return rows > 0 ? (double)right / (double)rows : NAN;
}

double cli_class_score_log_loss(const cli_class_score *score)
{
    return score->probable > 0 ? score->log_loss / (double)score->probable : NAN;
}

typedef struct scored {
    float score;
    unsigned char second;
} scored;

static int compare(const void *a, const void *b)
{
    const float x = ((const scored *)a)->score, y = ((const scored *)b)->score;
    return (x > y) - (x < y);
}

/* The share of pairs of both classes whose scores are in order, ties counting half. */
double cli_class_score_auc(const cli_class_score *score)
{
    const int64_t n = score->kept;
    double first = 0, pairs = 0, second = 0;
    scored *sorted = n > 0 ? malloc((size_t)n * sizeof *sorted) : NULL;
    if (!sorted) return NAN;
    for (int64_t i = 0; i < n; i++) sorted[i] = (scored){score->scores[i], score->second[i]};
    qsort(sorted, (size_t)n, sizeof *sorted, compare);
    for (int64_t i = 0; i < n;) {
        double a = 0, b = 0;
        int64_t j = i;
        for (; j < n && sorted[j].score == sorted[i].score; j++) {
            a += !sorted[j].second;
            b += sorted[j].second;
        }
        pairs += b * (first + 0.5 * a);
        first += a;
        second += b;
        i = j;
    }
    free(sorted);
    return first > 0 && second > 0 ? pairs / (first * second) : NAN;
}

/* ---- telling ---- */

static void json_confusion(cli_json *json, const cli_class_score *score)
{
    const int64_t classes = score->classes->count;
    cli_json_open(json, "confusion", '[');
    for (int64_t t = 0; t < classes; t++) {
        cli_json_open(json, NULL, '[');
        for (int64_t p = 0; p < classes; p++) cli_json_integer(json, NULL, score->confusion[t * classes + p]);
        cli_json_close(json, '[');
    }
    cli_json_close(json, '[');
}

void cli_class_score_json(cli_json *json, const cli_class_score *score)
{
    cli_json_integer(json, "scored", score->count + score->other);
    cli_json_number(json, "accuracy", cli_class_score_accuracy(score));
    if (score->probable > 0) cli_json_number(json, "log_loss", cli_class_score_log_loss(score));
    if (score->classes->count == 2) cli_json_number(json, "auc", cli_class_score_auc(score));
    if (score->other > 0) cli_json_integer(json, "unknown_classes", score->other);
    cli_classes_json(json, score->classes);
    json_confusion(json, score);
}

static void print_confusion(cli_text *text, const cli_class_score *score)
{
    const int64_t classes = score->classes->count;
    cli_text_add(text, "confusion           rows are true classes, columns predicted ones\n");
    for (int64_t t = 0; t < classes; t++) {
        cli_text_add(text, "  %.17s", score->classes->names[t]);
        cli_text_pad(text, CLI_VALUE_COLUMN);
        for (int64_t p = 0; p < classes; p++)
            cli_text_add(text, "%*" PRId64, p > 0 ? 8 : 0, score->confusion[t * classes + p]);
        cli_text_add(text, "\n");
    }
}

void cli_class_score_print(cli_text *text, const cli_class_score *score)
{
    char number[CLI_SHORT_SIZE];
    cli_add_label(text, "scores");
    cli_text_add(text, "accuracy %s", cli_short_number(cli_class_score_accuracy(score), number));
    if (score->probable > 0)
        cli_text_add(text, ", log loss %s", cli_short_number(cli_class_score_log_loss(score), number));
    if (score->classes->count == 2)
        cli_text_add(text, ", AUC %s", cli_short_number(cli_class_score_auc(score), number));
    if (score->other > 0)
        cli_text_add(text, "; %" PRId64 " rows of classes that the model does not know", score->other);
    cli_text_add(text, "\n");
    if (score->classes->count <= MOST_SHOWN) print_confusion(text, score);
}
