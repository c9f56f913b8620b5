/* Scores, summed up row by row: errors and what varies of each target, minus log densities, pinball losses of quantiles,
 * confusion and log loss of classes. Means and sums of squares by Welford's update. The scores of two classes are kept by
 * reservoir sampling, for the area under the ROC curve. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/random.h>
#include <gram/score.h>

#include "base/arena.h"
#include "base/distribution_tails.h"
#include "base/sized_struct.h"
#include "learn/describe/description_parts.h"

enum { SAMPLE_STREAM = 0x636C6173, FIRST_ROOM = 1024, MOST_KEPT = 1000000 };

/* Of each target: rows that have it, their mean and sum of squares about it, and sums of errors. */
typedef struct target_sums {
    int64_t count;
    double mean, squares;
    double squared, absolute;
} target_sums;

/* Of predictive distributions: rows, sums of minus log densities, and rows within their interval. */
typedef struct density_sums {
    int64_t count, intervals; /* intervals: of rows that have them without a density */
    double nlpd, inside;
} density_sums;

typedef struct class_sums {
    int64_t known, other; /* rows of a class that the model knows, and does not know */
    int64_t *confusion;
    int64_t probable;
    double log_loss;
} class_sums;

/* Scores of two classes, and which of them are of the second. */
typedef struct kept_scores {
    gram_random random;
    int64_t seen, count, room;
    float *scores;
    unsigned char *second;
} kept_scores;

struct gram_score {
    gram_memory *memory;
    gram_arena arena;
    const gram_columns *columns;
    int scored;
    target_sums *targets;
    density_sums densities;
    int64_t level_rows;
    double *level_loss, *level_below; /* sums */
    double *mean_loss, *mean_below;   /* as the last report had them */
    class_sums classes;
    kept_scores kept;
};

/* ---- the object ---- */

static gram_status take_sums(gram_context *context, gram_score *score)
{
    gram_status status = GRAM_OK;
    const gram_columns *columns = score->columns;
    const int64_t classes = columns->classes->count, levels = columns->level_count;
    double *sums = NULL;
    TRY(gram_arena_take(context, &score->arena, "score", columns->outputs, sizeof *score->targets,
                        (void **)&score->targets));
    TRY(gram_arena_take(context, &score->arena, "score", 4 * levels, sizeof *sums, (void **)&sums));
    score->level_loss = sums;
    score->level_below = levels ? sums + levels : NULL;
    score->mean_loss = levels ? sums + 2 * levels : NULL;
    score->mean_below = levels ? sums + 3 * levels : NULL;
    TRY(gram_arena_take(context, &score->arena, "score", classes * classes, sizeof *score->classes.confusion,
                        (void **)&score->classes.confusion));
done:
    return status;
}

gram_status gram_score_create(gram_context *context, const gram_columns *columns, gram_score **score)
{
    gram_status status = GRAM_OK;
    gram_score *made = NULL;
    if (!context || !columns || !score) return GRAM_ERROR_ARGUMENT;
    *score = NULL;
    TRY(gram_take(context, "score", 1, sizeof *made, (void **)&made));
    *made = (gram_score){.columns = columns, .kept.random = {context->seed, SAMPLE_STREAM}};
    made->memory = gram_memory_retain(context->memory);
    gram_arena_init(&made->arena, made->memory);
    TRY(take_sums(context, made));
    *score = made;
    made = NULL;
done:
    gram_score_destroy(made);
    return status;
}

void gram_score_destroy(gram_score *score)
{
    if (!score) return;
    gram_memory *memory = score->memory;
    gram_arena_release(&score->arena);
    gram_memory_give(memory, score->kept.scores);
    gram_memory_give(memory, score->kept.second);
    gram_memory_give(memory, score);
    gram_memory_release(memory);
}

/* ---- regression ---- */

/* Welford's update: the sum of squares about the mean without cancellation. */
static void add_target(target_sums *sums, double y, double f)
{
    if (isnan(y) || isnan(f)) return;
    const double from_mean = y - sums->mean, error = y - f;
    sums->count++;
    sums->mean += from_mean / (double)sums->count;
    sums->squares += from_mean * (y - sums->mean);
    sums->squared += error * error;
    sums->absolute += fabs(error);
}

double gram_minus_log_density(double freedom, double z)
{
    if (freedom == 0) return 0.5 * z * z + 0.91893853320467274178;
    return gram_log_gamma(0.5 * freedom) - gram_log_gamma(0.5 * (freedom + 1)) +
           0.5 * log(freedom * 3.14159265358979323846) + 0.5 * (freedom + 1) * log1p(z * z / freedom);
}

static void add_density(density_sums *sums, double y, double mean, double scale, const gram_columns *columns)
{
    const double z = (y - mean) / scale;
    if (isnan(y) || isnan(mean) || isnan(scale)) return;
    sums->count++;
    sums->nlpd += scale > 0   ? gram_minus_log_density(columns->freedom, z) + log(scale)
                  : y == mean ? -INFINITY
                              : INFINITY;
    sums->inside += fabs(y - mean) <= columns->half_width * scale;
}

static void add_means(gram_score *score, const double *y, const double *values)
{
    const gram_columns *columns = score->columns;
    for (int64_t o = 0; o < columns->outputs; o++) add_target(&score->targets[o], y[o], values[o]);
    if (columns->spread < 0 && columns->upper > columns->lower && !isnan(y[0])) {
        score->densities.inside += values[columns->lower] <= y[0] && y[0] <= values[columns->upper];
        score->densities.intervals++;
    }
    if (columns->spread >= 0) add_density(&score->densities, y[0], values[0], values[columns->spread], columns);
}

static void add_levels(gram_score *score, double y, const double *quantiles)
{
    const double *levels = score->columns->levels;
    if (isnan(y)) return;
    score->level_rows++;
    for (int64_t i = 0; i < score->columns->level_count; i++) {
        const double r = y - quantiles[i];
        score->level_loss[i] += r > 0 ? levels[i] * r : (levels[i] - 1) * r;
        score->level_below[i] += y <= quantiles[i];
    }
}

/* ---- classes ---- */

static gram_status grow(gram_context *context, gram_memory *memory, kept_scores *kept)
{
    gram_status status = GRAM_OK;
    const int64_t room = kept->room == 0 ? FIRST_ROOM : 2 * kept->room;
    float *scores = NULL;
    unsigned char *second = NULL;
    TRY(gram_take_from(context, memory, "score", room, sizeof *scores, (void **)&scores));
    TRY(gram_take_from(context, memory, "score", room, sizeof *second, (void **)&second));
    if (kept->count > 0) {
        memcpy(scores, kept->scores, (size_t)kept->count * sizeof *scores);
        memcpy(second, kept->second, (size_t)kept->count);
    }
    gram_memory_give(memory, kept->scores);
    gram_memory_give(memory, kept->second);
    kept->scores = scores;
    kept->second = second;
    kept->room = room;
    scores = NULL;
done:
    gram_memory_give(memory, scores);
    return status;
}

static gram_status keep_score(gram_context *context, gram_score *score, int64_t truth, double value)
{
    gram_status status = GRAM_OK;
    kept_scores *kept = &score->kept;
    const int64_t place = gram_random_reservoir(kept->random, kept->seen++, MOST_KEPT);
    if (place < 0) return status;
    if (place == kept->room) TRY(grow(context, score->memory, kept));
    kept->scores[place] = (float)value;
    kept->second[place] = truth == 1;
    if (place == kept->count) kept->count++;
done:
    return status;
}

static gram_status add_class(gram_context *context, gram_score *score, double y, const double *values)
{
    const gram_columns *columns = score->columns;
    const int64_t classes = columns->classes->count, truth = gram_classes_find(columns->classes, y);
    class_sums *sums = &score->classes;
    if (truth < 0) {
        sums->other++;
        return GRAM_OK;
    }
    sums->known++;
    sums->confusion[truth * classes + (int64_t)values[0]]++;
    const double *p = values + columns->probability;
    if (!isnan(p[0])) {
        sums->probable++;
        sums->log_loss -= log(fmax(p[truth], 1e-15));
    }
    return classes == 2 ? keep_score(context, score, truth, values[columns->score]) : GRAM_OK;
}

/* ---- rows ---- */

gram_status gram_score_add(gram_context *context, gram_score *score, int64_t n, const double *y, int64_t targets,
                           const double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    if (!context || !score || n < 0 || (n > 0 && !values)) return GRAM_ERROR_ARGUMENT;
    const gram_columns *columns = score->columns;
    const int by_class = columns->classes->count > 0, by_level = columns->level_count > 0;
    const int64_t wanted = by_class || by_level ? 1 : columns->outputs;
    if (!y || wanted == 0 || targets != wanted) return GRAM_OK;
    score->scored = 1;
    for (int64_t i = 0; i < n; i++) {
        const double *of_row = y + i * targets, *at = values + i * ldv;
        if (by_class)
            TRY(add_class(context, score, of_row[0], at));
        else if (by_level)
            add_levels(score, of_row[0], at);
        else
            add_means(score, of_row, at);
    }
done:
    return status;
}

/* ---- the report ---- */

typedef struct scored_row {
    float score;
    unsigned char second;
} scored_row;

static int compare(const void *a, const void *b)
{
    const float x = ((const scored_row *)a)->score, y = ((const scored_row *)b)->score;
    return (x > y) - (x < y);
}

/* The share of pairs of both classes whose scores are in order, ties counting half. */
static double area(int64_t n, const scored_row *sorted)
{
    double first = 0, pairs = 0, second = 0;
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
    return first > 0 && second > 0 ? pairs / (first * second) : NAN;
}

static gram_status find_area(gram_context *context, const kept_scores *kept, double *out)
{
    gram_status status = GRAM_OK;
    scored_row *sorted = NULL;
    *out = NAN;
    if (kept->count == 0) return status;
    TRY(gram_take(context, "score: the area under the ROC curve", kept->count, sizeof *sorted, (void **)&sorted));
    for (int64_t i = 0; i < kept->count; i++) sorted[i] = (scored_row){kept->scores[i], kept->second[i]};
    qsort(sorted, (size_t)kept->count, sizeof *sorted, compare);
    *out = area(kept->count, sorted);
done:
    gram_give(context, sorted);
    return status;
}

static void report_means(const gram_score *score, gram_score_report *out)
{
    target_sums all = {0};
    for (int64_t o = 0; o < score->columns->outputs; o++) {
        const target_sums *one = &score->targets[o];
        if (one->count > out->rows) out->rows = one->count;
        all.count += one->count;
        all.squares += one->squares;
        all.squared += one->squared;
        all.absolute += one->absolute;
    }
    if (all.count > 0) out->rmse = sqrt(all.squared / (double)all.count);
    if (all.count > 0) out->mae = all.absolute / (double)all.count;
    if (all.squares > 0) out->r2 = 1 - all.squared / all.squares;
    out->densities = score->densities.count;
    if (out->densities > 0) out->nlpd = score->densities.nlpd / (double)out->densities;
    const int64_t intervals = out->densities + score->densities.intervals;
    if (intervals > 0) out->coverage = score->densities.inside / (double)intervals;
}

static void report_levels(const gram_score *score, gram_score_report *out)
{
    out->rows = score->level_rows;
    out->level_count = score->columns->level_count;
    for (int64_t i = 0; i < out->level_count; i++) {
        score->mean_loss[i] = score->level_loss[i] / (double)score->level_rows;
        score->mean_below[i] = score->level_below[i] / (double)score->level_rows;
    }
    out->level_loss = score->mean_loss;
    out->level_below = score->mean_below;
}

static gram_status report_classes(gram_context *context, const gram_score *score, gram_score_report *out)
{
    const class_sums *sums = &score->classes;
    const int64_t classes = score->columns->classes->count;
    int64_t right = 0;
    for (int64_t c = 0; c < classes; c++) right += sums->confusion[c * (classes + 1)];
    out->rows = sums->known + sums->other;
    out->other = sums->other;
    out->probable = sums->probable;
    out->confusion = sums->confusion;
    if (out->rows > 0) out->accuracy = (double)right / (double)out->rows;
    if (sums->probable > 0) out->log_loss = sums->log_loss / (double)sums->probable;
    return find_area(context, &score->kept, &out->auc);
}

const gram_columns *gram_score_columns(const gram_score *score)
{
    return score->columns;
}

gram_status gram_score_sum_up(gram_context *context, const gram_score *score, gram_score_report *report)
{
    gram_status status = GRAM_OK;
    gram_score_report made = {.size = sizeof made, .rmse = NAN, .mae = NAN, .r2 = NAN, .nlpd = NAN, .coverage = NAN};
    made.accuracy = made.log_loss = made.auc = NAN;
    if (!context || !score || !report) return GRAM_ERROR_ARGUMENT;
    TRY(gram_sized_check(context, "score_sum_up", "report", "gram_score_report", report, sizeof made));
    made.scored = score->scored;
    if (score->columns->classes->count > 0)
        TRY(report_classes(context, score, &made));
    else if (score->columns->level_count > 0)
        report_levels(score, &made);
    else
        report_means(score, &made);
    gram_sized_write(report, &made, sizeof made);
done:
    return status;
}
