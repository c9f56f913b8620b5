/* Baselines. Targets of numbers are averaged; of classes the average is that of indicators, p_c = (sum of them + f_c)/(k + 1) for k neighbours,
 * where f_c is the share of the class among all rows: no class has the probability 0 that some row has.
 *
 * The number of neighbours is one of 1, 2, 3, 5, 8, 12, 20, 32 whose leave-one-out error on the training rows, squared or of classes, is the
 * least; of equals the largest. O(n^2 d) for n training rows, and O(n d) for each row that is predicted: all pairs, no tree. */
#include "learn/compare/baselines.h"

#include <math.h>
#include <string.h>

#include "base/sweep.h"

enum { MOST_NEIGHBOURS = 32, CHOICES = 8 };
static const int64_t NEIGHBOURS[CHOICES] = {1, 2, 3, 5, 8, 12, 20, 32};

/* The rows that train, and what is averaged over them. */
typedef struct averaging {
    gram_left_out *out;
    int64_t count; /* of them */
    const int64_t *train;
    int64_t width;         /* numbers that are averaged: targets or classes */
    const double *weights; /* NULL: all 1 */
    double *everybody;     /* their average over all of them */
    gram_columns columns;
    gram_classes classes;
} averaging;

static double weight_of(const averaging *a, int64_t row)
{
    return a->weights ? a->weights[row] : 1;
}

/* Adds w times what row says. */
static void add_row(const averaging *a, int64_t row, double w, double *sum)
{
    const gram_learning *whole = a->out->whole;
    if (a->classes.count > 0)
        sum[(int64_t)whole->labels[row]] += w;
    else
        for (int64_t o = 0; o < a->width; o++) sum[o] += w * whole->data->y[row * a->width + o];
}

static gram_status begin(gram_left_out *out, int64_t count, const int64_t *train, averaging *a)
{
    gram_status status = GRAM_OK;
    gram_context *context = out->whole->context;
    const int64_t classes = out->classes.count;
    double *numbers = NULL, total = 0;
    *a = (averaging){.out = out, .count = count, .train = train};
    a->weights = out->whole->has_row_noise ? NULL : out->whole->data->weights;
    a->width = classes > 0 ? classes : out->whole->data->targets;
    TRY(gram_arena_take(context, &out->arena, "baseline", a->width, sizeof *a->everybody, (void **)&a->everybody));
    TRY(gram_arena_take(context, &out->arena, "baseline", classes, sizeof *numbers, (void **)&numbers));
    for (int64_t c = 0; c < classes; c++) numbers[c] = (double)c;
    a->classes = (gram_classes){classes, out->classes.names, numbers};
    for (int64_t i = 0; i < count; i++) {
        add_row(a, train[i], weight_of(a, train[i]), a->everybody);
        total += weight_of(a, train[i]);
    }
    for (int64_t o = 0; o < a->width; o++) a->everybody[o] /= total;
    a->columns = (gram_columns){.outputs = classes > 0 ? 0 : a->width,
                                .ld = classes > 0 ? 1 + classes : a->width,
                                .spread = -1,
                                .score = -1,
                                .probability = classes > 0 ? 1 : -1};
    a->columns.count = classes > 0 ? 1 : a->width;
done:
    a->columns.classes = &a->classes;
    return status;
}

/* An average as a row of predictions. */
static void put_average(const averaging *a, const double *average, double *row)
{
    const int64_t classes = a->classes.count;
    memcpy(row + (classes > 0), average, (size_t)a->width * sizeof *row);
    if (classes == 0) return;
    row[0] = 0;
    for (int64_t c = 1; c < classes; c++)
        if (average[c] > average[(int64_t)row[0]]) row[0] = (double)c;
}

gram_status gram_baseline_mean(gram_left_out *out, int64_t train_count, const int64_t *train, int64_t held_count,
                               const int64_t *held)
{
    gram_status status = GRAM_OK;
    gram_context *context = out->whole->context;
    averaging a;
    double *values = NULL;
    TRY(begin(out, train_count, train, &a));
    TRY(gram_take(context, "baseline", held_count * a.columns.ld, sizeof *values, (void **)&values));
    for (int64_t i = 0; i < held_count; i++) put_average(&a, a.everybody, values + i * a.columns.ld);
    TRY(gram_left_out_take(out, &a.columns, held_count, held, values));
done:
    gram_give(context, values);
    return status;
}

/* ---- neighbours ---- */

typedef struct neighbour {
    double distance;
    int64_t row;
} neighbour;

/* The nearest training rows of a row other than itself, the nearest first; of equals the first. Returns how many. */
static int64_t find_neighbours(const averaging *a, int64_t row, neighbour *found)
{
    const int64_t d = a->out->whole->data->d;
    const double *x = a->out->whole->data->x, *at = x + row * d;
    int64_t count = 0;
    for (int64_t i = 0; i < a->count; i++) {
        const double *other = x + a->train[i] * d;
        double distance = 0;
        if (a->train[i] == row) continue;
        for (int64_t l = 0; l < d; l++) distance += (at[l] - other[l]) * (at[l] - other[l]);
        if (count == MOST_NEIGHBOURS && distance >= found[count - 1].distance) continue;
        int64_t k = count < MOST_NEIGHBOURS ? count++ : count - 1;
        for (; k > 0 && found[k - 1].distance > distance; k--) found[k] = found[k - 1];
        found[k] = (neighbour){distance, a->train[i]};
    }
    return count;
}

/* The average over the first k of them. */
static void average_of(const averaging *a, int64_t k, const neighbour *found, double *average)
{
    const int classes = a->classes.count > 0;
    double total = 0;
    for (int64_t o = 0; o < a->width; o++) average[o] = 0;
    for (int64_t i = 0; i < k; i++) {
        add_row(a, found[i].row, weight_of(a, found[i].row), average);
        total += weight_of(a, found[i].row);
    }
    for (int64_t o = 0; o < a->width; o++)
        average[o] = classes     ? (average[o] + a->everybody[o]) / (total + 1)
                     : total > 0 ? average[o] / total
                                 : a->everybody[o];
}

/* What one row loses by each number of neighbours. */
static void losses_of(const averaging *a, int64_t row, double *average, double *values, double losses[CHOICES])
{
    const gram_learning *whole = a->out->whole;
    neighbour found[MOST_NEIGHBOURS];
    const int64_t count = find_neighbours(a, row, found);
    for (int choice = 0; choice < CHOICES; choice++) {
        double loss = 0;
        average_of(a, NEIGHBOURS[choice] < count ? NEIGHBOURS[choice] : count, found, average);
        put_average(a, average, values);
        if (a->classes.count > 0)
            loss = values[0] != whole->labels[row];
        else
            for (int64_t o = 0; o < a->width; o++) {
                const double error = whole->data->y[row * a->width + o] - values[o];
                loss += error * error;
            }
        losses[choice] = weight_of(a, row) * loss;
    }
}

/* One sweep over rows: what each loses by each number of neighbours, or its prediction by one number of them. */
typedef struct search {
    const averaging *a;
    int64_t k; /* of predictions; 0: losses are found */
    int64_t count;
    const int64_t *rows;
    double *results; /* CHOICES losses, or a row of predictions, for each */
} search;

enum { ROWS_OF_TASK = 64 };

static gram_status search_rows(void *argument, const gram_worker *worker)
{
    const search *s = argument;
    const averaging *a = s->a;
    double *average = worker->scratch, *values = average + a->width;
    neighbour found[MOST_NEIGHBOURS];
    const int64_t first = worker->task * ROWS_OF_TASK,
                  end = first + ROWS_OF_TASK < s->count ? first + ROWS_OF_TASK : s->count;
    for (int64_t i = first; i < end; i++) {
        if (s->k == 0) {
            losses_of(a, s->rows[i], average, values, s->results + i * CHOICES);
            continue;
        }
        const int64_t count = find_neighbours(a, s->rows[i], found);
        average_of(a, s->k < count ? s->k : count, found, average);
        put_average(a, average, s->results + i * a->columns.ld);
    }
    return GRAM_OK;
}

static gram_status run_search(search *s)
{
    const gram_sweep sweep = {.what = "neighbours",
                              .tasks = (s->count + ROWS_OF_TASK - 1) / ROWS_OF_TASK,
                              .scratch_bytes = (size_t)(2 * s->a->width + 1) * sizeof(double),
                              .run = search_rows,
                              .argument = s};
    return gram_sweep_run(s->a->out->whole->context, &sweep);
}

/* Of the training rows, each left out alone. */
static gram_status choose_number(const averaging *a, int64_t *k)
{
    gram_status status = GRAM_OK;
    gram_context *context = a->out->whole->context;
    double *losses = NULL, sums[CHOICES] = {0};
    int best = 0;
    TRY(gram_take(context, "baseline", a->count * CHOICES, sizeof *losses, (void **)&losses));
    search s = {.a = a, .count = a->count, .rows = a->train, .results = losses};
    TRY(run_search(&s));
    for (int64_t i = 0; i < a->count; i++)
        for (int c = 0; c < CHOICES; c++) sums[c] += losses[i * CHOICES + c];
    for (int c = 1; c < CHOICES; c++)
        if (sums[c] <= sums[best]) best = c;
    *k = NEIGHBOURS[best];
done:
    gram_give(context, losses);
    return status;
}

gram_status gram_baseline_nearest(gram_left_out *out, int64_t train_count, const int64_t *train, int64_t held_count,
                                  const int64_t *held)
{
    gram_status status = GRAM_OK;
    gram_context *context = out->whole->context;
    averaging a;
    double *values = NULL;
    search s = {.a = &a, .count = held_count, .rows = held};
    TRY(begin(out, train_count, train, &a));
    TRY(gram_take(context, "baseline", held_count * a.columns.ld, sizeof *values, (void **)&values));
    s.results = values;
    TRY(choose_number(&a, &s.k));
    TRY(run_search(&s));
    TRY(gram_left_out_take(out, &a.columns, held_count, held, values));
done:
    gram_give(context, values);
    return status;
}
