/* Features whose largest values are many deviations out (word counts, amounts of money, concentrations): standardised, nearly all rows are
 * in one place, and a kernel of distances sees the few that are not. In the place of such a value v goes asinh((v - c)/s), c the
 * median and s the median distance of other values from it: straight near c, a logarithm of both sides far from it. It has an inverse and needs no
 * positive numbers.
 *
 * Whether that helps, rows that are left out say: a sample of rows is predicted by three folds, tuned anew, as it is and with logarithms,
 * and they are taken if the mean loss is lower. Tails so heavy are a reason in themselves, so that no margin is asked for. Which
 * columns have them no target has a say in. */
#include "learn/transform/feature_transform.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/random.h>

#include "learn/estimate/error_estimate.h"
#include "learn/estimate/feature_importance.h"
#include "learn/learner.h"
#include "tune/row_folds.h"

enum { SAMPLE = 300, FOLDS = 3, LEAST_ROWS = 40, SAMPLE_STREAM = 0x7461696c /* "tail" */ };
static const double HEAVY = 8; /* fourth moment of the standardised column: 3 of normal, 9 of exponential numbers */

enum { WORD_AUTO, WORD_NONE, WORD_LOG };
const gram_choice gram_transform_choices[] = {{"auto", WORD_AUTO, NULL, 0, 0},
                                              {"none", WORD_NONE, NULL, 0, 0},
                                              {"log", WORD_LOG, NULL, 0, 0},
                                              {NULL, 0, NULL, 0, 0}};

/* A prepared column that gets a logarithm: in the units of the standardised values, then the moments of the result. */
typedef struct log_column {
    int64_t column, feature;
    double centre, size, mean, deviation;
} log_column;

/* ---- which columns ---- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(int64_t n, double *values)
{
    qsort(values, (size_t)n, sizeof *values, by_value);
    return values[n / 2];
}

static double bent(const log_column *l, double v)
{
    return (asinh((v - l->centre) / l->size) - l->mean) / l->deviation;
}

/* Sets the numbers of one column; 0: its tails are not heavy, or it has too few values for that to mean something. */
static int measure(int64_t n, const double *x, int64_t ld, double *values, log_column *l)
{
    double fourth = 0, sum = 0, squares = 0;
    int64_t away = 0;
    for (int64_t i = 0; i < n; i++) {
        const double z = x[i * ld];
        fourth += z * z * z * z / (double)n;
        values[i] = z;
    }
    if (!(fourth > HEAVY)) return 0;
    l->centre = median(n, values);
    for (int64_t i = 0; i < n; i++)
        if (x[i * ld] != l->centre) values[away++] = fabs(x[i * ld] - l->centre);
    if (away < 5) return 0;
    l->size = median(away, values);
    l->mean = 0;
    l->deviation = 1;
    for (int64_t i = 0; i < n; i++) sum += bent(l, x[i * ld]) / (double)n;
    for (int64_t i = 0; i < n; i++) {
        const double z = bent(l, x[i * ld]) - sum;
        squares += z * z / (double)n;
    }
    l->mean = sum;
    l->deviation = sqrt(squares);
    return l->deviation > 0 && isfinite(l->deviation);
}

/* Numeric features of a preparation that scales; dates are no amounts. */
static gram_status find_columns(gram_learning *learning, log_column **found, int64_t *count)
{
    gram_status status = GRAM_OK;
    const gram_preparation_description *known = gram_preparation_describe(learning->preparation);
    const gram_prepared *data = learning->data;
    double *values = NULL;
    *count = 0;
    TRY(gram_learning_take(learning, data->d, sizeof **found, found));
    TRY(gram_take(learning->context, "transform", data->n, sizeof *values, (void **)&values));
    for (int64_t j = 0; j < data->d; j++) {
        log_column l = {.column = j, .feature = gram_preparation_feature_of(learning->preparation, j)};
        const gram_column *feature = &known->features[l.feature];
        if (feature->text || feature->date || feature->kind != GRAM_COLUMN_PLAIN || feature->log_size > 0) continue;
        if (measure(data->n, data->x + j, data->d, values, &l)) (*found)[(*count)++] = l;
    }
done:
    gram_give(learning->context, values);
    return status;
}

/* ---- what they do to rows and preparation ---- */

static void bend_rows(int64_t count, const log_column *columns, int64_t n, int64_t d, double *x)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < count; k++) {
            double *value = x + i * d + columns[k].column;
            *value = bent(&columns[k], *value);
        }
}

static gram_status bend(gram_learning *learning, int64_t count, const log_column *columns)
{
    gram_status status = GRAM_OK;
    gram_preparation_description known = *gram_preparation_describe(learning->preparation);
    gram_preparation *changed = NULL;
    gram_column *features = NULL;
    TRY(gram_learning_take(learning, known.feature_count, sizeof *features, &features));
    memcpy(features, known.features, (size_t)known.feature_count * sizeof *features);
    for (int64_t k = 0; k < count; k++) {
        const log_column *l = &columns[k];
        gram_column *f = &features[l->feature];
        f->log_centre = f->mean + f->deviation * l->centre;
        f->log_size = f->deviation * l->size;
        f->mean = l->mean;
        f->deviation = l->deviation;
    }
    known.features = features;
    TRY(gram_preparation_create(learning->context, &known, &changed));
    gram_preparation_release(learning->preparation);
    learning->preparation = changed;
    bend_rows(count, columns, learning->data->n, learning->data->d,
              (double *)learning->data->x); /* its own: it is scaled */
done:
    return status;
}

/* ---- do they help? ---- */

static gram_status draw(const gram_learning *learning, int64_t *count, int64_t *rows)
{
    gram_status status = GRAM_OK;
    int64_t *order = NULL;
    const int64_t n = learning->data->n;
    TRY(gram_take(learning->context, "transform", n, sizeof *order, (void **)&order));
    gram_random_permutation((gram_random){gram_context_seed(learning->context), SAMPLE_STREAM}, 0, n, order);
    *count = n < SAMPLE ? n : SAMPLE;
    for (int64_t i = 0; i < *count; i++) rows[i] = order[i];
    TRY(gram_rows_sort(learning->context, n, *count, rows));
done:
    gram_give(learning->context, order);
    return status;
}

/* Of numbers the absolute error: where features have heavy tails a few rows would decide by their squares. */
static double loss_of(const gram_left_out *out, int64_t row)
{
    const double loss = gram_left_out_loss(out, row, out->values + row * out->ld);
    return out->classes.count > 0 ? loss : sqrt(loss);
}

/* Losses of the rows of a part, each by a fit without its fold; NaN: none. */
static gram_status losses_of(gram_learning *part, const int64_t *fold, double *losses)
{
    gram_status status = GRAM_OK;
    gram_left_out out = {0};
    TRY(gram_left_out_begin(part, &out));
    out.plain = 1;
    TRY(gram_left_out_folds(&out, NULL, fold, 0, FOLDS - 1, 0));
    for (int64_t i = 0; i < part->data->n; i++)
        losses[i] = out.values && !isnan(out.values[i * out.ld]) ? loss_of(&out, i) : NAN;
done:
    gram_left_out_free(&out);
    return status;
}

/* Mean of the differences, its standard error, and the mean of the first. */
static void compare(int64_t n, const double *plain, const double *logs, double *gain, double *error, double *level)
{
    double sum = 0, squares = 0, first = 0, used = 0;
    for (int64_t i = 0; i < n; i++) {
        if (isnan(plain[i]) || isnan(logs[i])) continue;
        sum += plain[i] - logs[i];
        squares += (plain[i] - logs[i]) * (plain[i] - logs[i]);
        first += plain[i];
        used++;
    }
    *gain = used > 1 ? sum / used : 0;
    *level = used > 1 ? first / used : 0;
    *error = used > 1 ? sqrt(fmax(0, squares / used - *gain * *gain) / (used - 1)) : INFINITY;
}

static gram_status deal(gram_learning *part, int64_t *fold)
{
    const int classes = part->task == GRAM_TASK_CLASSIFICATION;
    gram_folds_rule rule = {.folds = FOLDS,
                            .labels = classes ? part->labels : NULL,
                            .classes = classes ? part->classes.count : 1,
                            .groups = part->groups,
                            .ordered = part->ordered,
                            .stream = SAMPLE_STREAM};
    return gram_folds_deal(part->context, "transform", part->data->n, &rule, fold);
}

/* Both ways on the sample; *helps, and the words for it. */
static gram_status try_both(gram_learning *learning, int64_t count, const log_column *columns, int *helps)
{
    gram_status status = GRAM_OK;
    gram_learning part = {0};
    gram_preparation *preparation = NULL;
    const gram_search_trail nowhere = {.arena = NULL}; /* families of kernels are not compared here */
    int64_t *rows = NULL, *fold = NULL, n = 0;
    double *losses = NULL, gain, error, level;
    TRY(gram_take(learning->context, "transform", 2 * learning->data->n, sizeof *rows, (void **)&rows));
    fold = rows + learning->data->n;
    TRY(gram_take(learning->context, "transform", 2 * SAMPLE, sizeof *losses, (void **)&losses));
    TRY(draw(learning, &n, rows));
    TRY(gram_part_preparation(learning, &preparation));
    TRY(gram_part_make(learning, preparation, n, rows, &part));
    part.trails.from = &nowhere;
    TRY(deal(&part, fold));
    TRY(losses_of(&part, fold, losses));
    bend_rows(count, columns, n, part.data->d, (double *)part.data->x); /* the part's own copy */
    TRY(losses_of(&part, fold, losses + n));
    compare(n, losses, losses + n, &gain, &error, &level);
    *helps = gain > 0;
    (void)snprintf(learning->transform_words, sizeof learning->transform_words,
                   "%s %" PRId64
                   " feature%s with heavy tails: the loss of rows left out is %.3f +- %.3f of that without",
                   *helps ? "logarithms of" : "none; with logarithms of", count, count == 1 ? "" : "s",
                   1 - gain / level, error / level);
done:
    if (part.context) gram_part_forget(&part);
    gram_preparation_release(preparation);
    gram_give(learning->context, losses);
    gram_give(learning->context, rows);
    return status;
}

/* ---- the whole ---- */

static int is_possible(const gram_learning *learning)
{
    return learning->task <= GRAM_TASK_CLASSIFICATION && learning->preparation && !learning->functionals &&
           !learning->senses && !learning->before && !learning->initial && !learning->streamed &&
           !learning->data->objects && !learning->second.data &&
           gram_preparation_describe(learning->preparation)->scaled;
}

static int word_of(const gram_learning *learning)
{
    gram_chosen chosen = {WORD_AUTO, 0};
    const char *text = gram_learning_common(learning, GRAM_COMMON_TRANSFORM);
    if (text) (void)gram_option_read(&gram_common_options[GRAM_COMMON_TRANSFORM], text, &chosen);
    return chosen.value;
}

/* A comparison that fails says nothing against the fit. */
static gram_status forgive(gram_status status)
{
    return status >= 0 || status == GRAM_ERROR_CANCELLED || status == GRAM_ERROR_MEMORY ? status : GRAM_OK;
}

gram_status gram_transform_choose(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const int word = word_of(learning);
    log_column *columns = NULL;
    int64_t count = 0;
    int helps = word == WORD_LOG;
    learning->transform_words[0] = '\0';
    if (word == WORD_NONE || !is_possible(learning)) return status;
    if (!helps && (!gram_estimate_is_wanted(learning) || learning->n < LEAST_ROWS)) return status;
    TRY(find_columns(learning, &columns, &count));
    if (count == 0) return status;
    if (helps)
        (void)snprintf(learning->transform_words, sizeof learning->transform_words,
                       "logarithms of %" PRId64 " feature%s with heavy tails", count, count == 1 ? "" : "s");
    else
        TRY(forgive(try_both(learning, count, columns, &helps)));
    if (helps) TRY(bend(learning, count, columns));
done:
    return status;
}

gram_status gram_transform_keep(gram_learning *learning)
{
    gram_keeper keeper = {learning->context, learning->model, GRAM_OK};
    if (learning->transform_words[0]) gram_keep_text(&keeper, "transform", learning->transform_words);
    return keeper.status;
}

void gram_transform_report(gram_report *report)
{
    const char *words = gram_report_text(report, "transform");
    if (words) gram_report_long(report, "transform", words);
}
