/* The samples of rows that a search climbs through: a few hundred rows tell most of what there is to know about scales,
 * for a thousandth of the operations. */
#include <math.h>
#include <string.h>

#include <gram/random.h>

#include "kernel/kernel.h"
#include "tune/gradient_search.h"
#include "tune/row_folds.h"

enum { RANDOM_STREAM = 0x74756e65 /* "tune" */ };

/* A sample is made narrow if it has at most FEW_ROWS rows and at least MANY_COLUMNS columns, and n^2 d is at most MOST_WORK. */
enum { FEW_ROWS = 95, MANY_COLUMNS = 1000 };
static const double MOST_WORK = 2e9;

/* ---- what the kernel allows ---- */

/* A matrix that is given by its entries has no rows to choose from. */
static int takes_subsets(const gram_kernel *kernel)
{
    if (kernel->node == GRAM_NODE_LEAF) return kernel->type->form != GRAM_FORM_INDEX;
    for (int i = 0; i < kernel->child_count; i++)
        if (!takes_subsets(kernel->children[i])) return 0;
    return 1;
}

/* Leaves of distances or inner products over all columns, with one length-scale; not those that know their number of columns. */
static int leaf_is_turned(const gram_kernel *leaf)
{
    static const char *const names[] = {"rbf",    "matern", "laplace", "rq",    "imq",
                                        "powexp", "linear", "poly",    "const", "white"};
    int known = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) known |= strcmp(leaf->type->name, names[i]) == 0;
    for (int i = 0; i < leaf->type->spec_count && known; i++) {
        const gram_role role = leaf->type->specs[i].role;
        if (role == GRAM_ROLE_LENGTH && leaf->arguments[i].count > 1) known = 0;
        if (role == GRAM_ROLE_COVARIANCE && leaf->arguments[i].set) known = 0;
    }
    return known;
}

/* Is it the same in any orthonormal basis? */
static int is_turned(const gram_kernel *kernel)
{
    switch (kernel->node) {
    case GRAM_NODE_LEAF: return leaf_is_turned(kernel);
    case GRAM_NODE_SUM:
    case GRAM_NODE_PRODUCT:
    case GRAM_NODE_POWER:
    case GRAM_NODE_EXP:
    case GRAM_NODE_NORMALIZE: break;
    default: return 0;
    }
    for (int i = 0; i < kernel->child_count; i++)
        if (!is_turned(kernel->children[i])) return 0;
    return 1;
}

/* Every evaluation packs the points anew, in panels of 96 rows however few there are: with 80,000 columns that is 60 MB. */
static int is_narrowed(const gram_tuning *t, const gram_kernel *kernel, int64_t rows)
{
    const double d = (double)t->given.x->d, n = (double)rows;
    return t->narrows && !t->given.x->functionals && t->ard <= 0 && n <= FEW_ROWS && d >= MANY_COLUMNS &&
           n * n * d <= MOST_WORK && is_turned(kernel);
}

/* ---- levels ---- */

/* A level pays if the next one has at least half as many rows again. */
static int plan_levels(const gram_tuning *t, int subsets, int64_t sizes[GRAM_TUNING_LEVELS])
{
    const int64_t small = t->method->small_rows, medium = t->method->medium_rows;
    const int64_t all = subsets && t->count > t->rows_limit ? t->rows_limit : t->count;
    const int climb = subsets && t->grid == 0;
    int levels = 0;
    if (climb && all > small + small / 2 && !gram_tuning_follows(t)) sizes[levels++] = small;
    if (climb && all > medium + medium / 2) sizes[levels++] = medium;
    sizes[levels++] = all;
    return levels;
}

/* The first rows of a random order, sorted. */
static gram_status make_level(gram_tuning *t, const int64_t *order, int64_t size, gram_level *level)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(t->context, "tuning: rows", size, sizeof *level->rows, (void **)&level->rows));
    for (int64_t j = 0; j < size; j++) level->rows[j] = t->rows[size < t->count ? order[j] : j];
    if (size < t->count) TRY(gram_rows_sort(t->context, t->given.x->n, size, level->rows));
    TRY(gram_sample_make(t->context, &t->given, size, level->rows, &level->sample));
done:
    if (status < 0) {
        gram_give(t->context, level->rows);
        level->rows = NULL;
    }
    return status;
}

/* Every level has the first rows of one random order. */
gram_status gram_tuning_make_levels(gram_tuning *t, const gram_kernel *kernel)
{
    gram_status status = GRAM_OK;
    int64_t *order = NULL, sizes[GRAM_TUNING_LEVELS];
    const int levels = plan_levels(t, takes_subsets(kernel), sizes);
    TRY(gram_take(t->context, "tuning: rows", t->count, sizeof *order, (void **)&order));
    gram_random_permutation((gram_random){t->context->seed, RANDOM_STREAM}, 0, t->count, order);
    for (int i = 0; i < levels; i++) {
        TRY(make_level(t, order, sizes[i], &t->levels[i]));
        t->last = i;
        if (is_narrowed(t, kernel, sizes[i])) TRY(gram_sample_narrow(t->context, &t->levels[i].sample));
    }
done:
    gram_give(t->context, order);
    return status;
}

gram_status gram_tuning_open_level(gram_tuning *t, int which)
{
    gram_level *level = &t->levels[which];
    return level->work ? GRAM_OK : t->method->open(t, which, &level->work);
}

void gram_tuning_free_levels(gram_tuning *t)
{
    for (int i = 0; i < GRAM_TUNING_LEVELS; i++) {
        gram_level *level = &t->levels[i];
        if (level->work) t->method->close(t, i, level->work);
        gram_give(t->context, level->rows);
        gram_sample_free(t->context, &level->sample);
        *level = (gram_level){.work = NULL};
    }
}

int gram_tuning_is_flat(const gram_tuning *t, int which)
{
    const gram_sample *sample = &t->levels[which].sample;
    const int64_t m = sample->outputs;
    for (int64_t i = 0; i < sample->n; i++)
        for (int64_t j = 0; j < m; j++)
            if (sample->y[i * m + j] != (t->intercept ? sample->y[j] : 0)) return 0;
    return 1;
}
