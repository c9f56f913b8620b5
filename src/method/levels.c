/* The samples of rows that a search climbs through: a few hundred rows tell most of what there is to know about scales,
 * for a thousandth of the operations. */
#include <math.h>

#include <gram/random.h>

#include "tuning.h"

enum { SMALL = 400, MEDIUM = 1000, RANDOM_STREAM = 0x74756e65 /* "tune" */ };

/* ---- rows in order, by a heap: the C library's sort may take memory that is not counted ---- */

static void swap_rows(int64_t *a, int64_t *b)
{
    const int64_t kept = *a;
    *a = *b;
    *b = kept;
}

static void sift(int64_t *x, int64_t root, int64_t n)
{
    for (int64_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && x[child] < x[child + 1]) child++;
        if (x[root] >= x[child]) return;
        swap_rows(&x[root], &x[child]);
    }
}

static void sort_rows(int64_t *x, int64_t n)
{
    for (int64_t i = n / 2 - 1; i >= 0; i--) sift(x, i, n);
    for (int64_t i = n - 1; i > 0; i--) {
        swap_rows(&x[0], &x[i]);
        sift(x, 0, i);
    }
}

/* ---- levels ---- */

/* A level pays if the next one has at least half as many rows again. */
static int plan_levels(const gram_tuning *t, int subsets, int64_t sizes[GRAM_TUNING_LEVELS])
{
    const int64_t all = subsets && t->count > t->options.rows ? t->options.rows : t->count;
    const int climb = subsets && t->options.grid == 0;
    int levels = 0;
    if (climb && all > SMALL + SMALL / 2) sizes[levels++] = SMALL;
    if (climb && all > MEDIUM + MEDIUM / 2) sizes[levels++] = MEDIUM;
    sizes[levels++] = all;
    return levels;
}

/* Every level has the first so many rows of one random order, sorted. */
gram_status gram_tuning_make_levels(gram_tuning *t, int subsets)
{
    gram_status status = GRAM_OK;
    int64_t *order = NULL, *chosen = NULL, sizes[GRAM_TUNING_LEVELS];
    const int levels = plan_levels(t, subsets, sizes);
    TRY(gram_take(t->context, "krr_tune: rows", t->count, sizeof *order, (void **)&order));
    TRY(gram_take(t->context, "krr_tune: rows", t->count, sizeof *chosen, (void **)&chosen));
    gram_random_permutation((gram_random){t->context->seed, RANDOM_STREAM}, 0, t->count, order);
    for (int i = 0; i < levels; i++) {
        for (int64_t j = 0; j < sizes[i]; j++) chosen[j] = t->rows[sizes[i] < t->count ? order[j] : j];
        if (sizes[i] < t->count) sort_rows(chosen, sizes[i]);
        TRY(gram_sample_make(t->context, &t->given, sizes[i], chosen, &t->levels[i].sample));
        t->last = i;
    }
done:
    gram_give(t->context, order, t->count, sizeof *order);
    gram_give(t->context, chosen, t->count, sizeof *chosen);
    return status;
}

/* 1e-20 of the mean square of y */
static double find_floor(const gram_sample *sample)
{
    const int64_t count = sample->n * sample->outputs;
    double squares = 0;
    for (int64_t i = 0; i < count; i++) squares += sample->y[i] * sample->y[i];
    return 1e-20 * squares / (double)count + 0x1p-1000;
}

gram_status gram_tuning_open_level(gram_tuning *t, int which)
{
    gram_level *level = &t->levels[which];
    if (level->work) return GRAM_OK;
    level->floor = find_floor(&level->sample);
    return gram_criterion_create(t->context, &level->sample, &t->rule, &level->work);
}

void gram_tuning_free_levels(gram_tuning *t)
{
    for (int i = 0; i < GRAM_TUNING_LEVELS; i++) {
        gram_criterion_destroy(t->context, t->levels[i].work);
        gram_sample_free(t->context, &t->levels[i].sample);
        t->levels[i].work = NULL;
    }
}

int gram_tuning_is_flat(const gram_tuning *t, int which)
{
    const gram_sample *sample = &t->levels[which].sample;
    const int64_t m = sample->outputs;
    for (int64_t i = 0; i < sample->n; i++)
        for (int64_t j = 0; j < m; j++)
            if (sample->y[i * m + j] != (t->rule.intercept ? sample->y[j] : 0)) return 0;
    return 1;
}
