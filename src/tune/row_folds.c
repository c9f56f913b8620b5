/* Folds and subsets of rows in which every class has its share.
 *
 * Groups are dealt the largest first, each to the fold where sum_c g_c f_c/n_c is least: g_c, f_c and n_c are the rows of class c in
 * the group, in the fold so far and in all. With one class that is the fold with the fewest rows, the greedy rule of scheduling
 * (Graham 1969), whose folds differ by one group at most; with several, each class is spread in its own right. */
#include "tune/row_folds.h"

#include <string.h>

#include <gram/random.h>

#include "base/sized_struct.h"

enum { FOLD_STREAM = 0x666f6c64 /* "fold" */, THIN_STREAM = 0x7468696e /* "thin" */ };

/* ---- order ---- */

/* The rows in a random order, class by class. */
static gram_status order_rows(gram_context *context, uint64_t stream, int64_t n, const double *labels, int64_t classes,
                              int64_t *order)
{
    gram_status status = GRAM_OK;
    int64_t *shuffled = NULL, *next = NULL;
    TRY(gram_take(context, "folds", n, sizeof *shuffled, (void **)&shuffled));
    TRY(gram_take(context, "folds", classes + 1, sizeof *next, (void **)&next));
    gram_random_permutation((gram_random){gram_context_seed(context), stream}, 0, n, shuffled);
    memset(next, 0, (size_t)(classes + 1) * sizeof *next);
    for (int64_t i = 0; i < n; i++) next[labels ? (int64_t)labels[i] + 1 : 1]++;
    for (int64_t c = 0; c < classes; c++) next[c + 1] += next[c];
    for (int64_t i = 0; i < n; i++) order[next[labels ? (int64_t)labels[shuffled[i]] : 0]++] = shuffled[i];
done:
    gram_give(context, shuffled);
    gram_give(context, next);
    return status;
}

gram_status gram_rows_sort(gram_context *context, int64_t n, int64_t count, int64_t *rows)
{
    gram_status status = GRAM_OK;
    unsigned char *chosen = NULL;
    int64_t at = 0;
    TRY(gram_take(context, "rows", n, 1, (void **)&chosen));
    memset(chosen, 0, (size_t)n);
    for (int64_t i = 0; i < count; i++) chosen[rows[i]] = 1;
    for (int64_t i = 0; i < n; i++)
        if (chosen[i]) rows[at++] = i;
done:
    gram_give(context, chosen);
    return status;
}

/* A row or group by what it is sorted by; a heap, because the C library's sort may take memory that is not counted. */
typedef struct keyed {
    int64_t key, item;
} keyed;

static int is_after(const keyed *a, const keyed *b)
{
    return a->key != b->key ? a->key > b->key : a->item > b->item;
}

static void sift(keyed *x, int64_t root, int64_t n)
{
    for (int64_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && is_after(&x[child + 1], &x[child])) child++;
        if (!is_after(&x[child], &x[root])) return;
        const keyed kept = x[root];
        x[root] = x[child];
        x[child] = kept;
    }
}

static void sort(keyed *x, int64_t n)
{
    for (int64_t i = n / 2 - 1; i >= 0; i--) sift(x, i, n);
    for (int64_t i = n - 1; i > 0; i--) {
        const keyed kept = x[0];
        x[0] = x[i];
        x[i] = kept;
        sift(x, 0, i);
    }
}

/* ---- groups ---- */

static int64_t group_of(const gram_folds_rule *rule, int64_t i)
{
    return rule->groups[rule->rows ? rule->rows[i] : i];
}

/* Rows sorted by group; where each group begins among them. */
typedef struct grouping {
    keyed *rows;    /* n */
    int64_t *first; /* count + 1 of n + 1 */
    int64_t n, count;
} grouping;

static void free_grouping(gram_context *context, grouping *g)
{
    gram_give(context, g->rows);
    gram_give(context, g->first);
}

static gram_status find_groups(gram_context *context, int64_t n, const gram_folds_rule *rule, grouping *g)
{
    gram_status status = GRAM_OK;
    *g = (grouping){.n = n};
    TRY(gram_take(context, "groups", n, sizeof *g->rows, (void **)&g->rows));
    TRY(gram_take(context, "groups", n + 1, sizeof *g->first, (void **)&g->first));
    for (int64_t i = 0; i < n; i++) g->rows[i] = (keyed){group_of(rule, i), i};
    sort(g->rows, n);
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || g->rows[i].key != g->rows[i - 1].key) g->first[g->count++] = i;
    g->first[g->count] = n;
done:
    return status;
}

/* The rows of each class so far in each fold, in a group and in all; classes + 1 numbers each, the last one all of them. */
typedef struct tally {
    int64_t classes, folds;
    int64_t *in_fold, *in_group, *in_all;
} tally;

static void count_rows(const gram_folds_rule *rule, const tally *t, const keyed *rows, int64_t n, int64_t *counts)
{
    memset(counts, 0, (size_t)(t->classes + 1) * sizeof *counts);
    for (int64_t i = 0; i < n; i++) counts[rule->labels ? (int64_t)rule->labels[rows[i].item] : 0]++;
    counts[t->classes] = n;
}

/* Of equal folds the one with the fewest rows, then the first. */
static int64_t emptiest(const tally *t)
{
    int64_t best = 0;
    double least = 0;
    for (int64_t f = 0; f < t->folds; f++) {
        const int64_t *in_fold = t->in_fold + f * (t->classes + 1);
        double crowd = 0;
        for (int64_t c = 0; c < t->classes; c++)
            if (t->in_group[c]) crowd += (double)t->in_group[c] * (double)in_fold[c] / (double)t->in_all[c];
        const int64_t fewer = in_fold[t->classes] < t->in_fold[best * (t->classes + 1) + t->classes];
        if (f > 0 && !(crowd < least || (crowd == least && fewer))) continue;
        best = f;
        least = crowd;
    }
    return best;
}

/* The largest group first, in a random order among equals. */
static gram_status order_groups(gram_context *context, uint64_t stream, const grouping *g, keyed *order)
{
    gram_status status = GRAM_OK;
    int64_t *shuffled = NULL;
    TRY(gram_take(context, "groups", g->count, sizeof *shuffled, (void **)&shuffled));
    gram_random_permutation((gram_random){gram_context_seed(context), stream}, 0, g->count, shuffled);
    for (int64_t i = 0; i < g->count; i++) order[i] = (keyed){g->first[shuffled[i]] - g->first[shuffled[i] + 1], i};
    sort(order, g->count);
    for (int64_t i = 0; i < g->count; i++) order[i].item = shuffled[order[i].item];
done:
    gram_give(context, shuffled);
    return status;
}

static void deal_groups(const gram_folds_rule *rule, const grouping *g, const keyed *order, const tally *t,
                        int64_t *fold)
{
    const int64_t numbers = t->classes + 1;
    memset(t->in_fold, 0, (size_t)(t->folds * numbers) * sizeof *t->in_fold);
    count_rows(rule, t, g->rows, g->n, t->in_all);
    for (int64_t k = 0; k < g->count; k++) {
        const keyed *rows = g->rows + g->first[order[k].item];
        const int64_t count = g->first[order[k].item + 1] - g->first[order[k].item];
        count_rows(rule, t, rows, count, t->in_group);
        const int64_t to = emptiest(t);
        for (int64_t c = 0; c < numbers; c++) t->in_fold[to * numbers + c] += t->in_group[c];
        for (int64_t i = 0; i < count; i++) fold[rows[i].item] = to;
    }
}

static gram_status deal_by_groups(gram_context *context, const char *function, int64_t n, const gram_folds_rule *rule,
                                  uint64_t stream, int64_t *fold)
{
    gram_status status = GRAM_OK;
    grouping g = {0};
    tally t = {.classes = rule->labels ? rule->classes : 1, .folds = rule->folds};
    keyed *order = NULL;
    TRY(find_groups(context, n, rule, &g));
    FAIL_IF(g.count < rule->folds, context, GRAM_ERROR_DATA, "%s: folds = %lld, but there are only %lld groups",
            function, (long long)rule->folds, (long long)g.count);
    TRY(gram_take(context, "groups", n, sizeof *order, (void **)&order));
    TRY(gram_take(context, "groups", (t.classes + 1) * (t.folds + 2), sizeof *t.in_fold, (void **)&t.in_fold));
    t.in_group = t.in_fold + (t.classes + 1) * t.folds;
    t.in_all = t.in_group + t.classes + 1;
    TRY(order_groups(context, stream, &g, order));
    deal_groups(rule, &g, order, &t, fold);
done:
    gram_give(context, t.in_fold);
    gram_give(context, order);
    free_grouping(context, &g);
    return status;
}

/* ---- the folds ---- */

/* Block b of folds + 1 is fold b - 1. */
static void cut_in_order(int64_t n, int64_t folds, int64_t *fold)
{
    const int64_t blocks = folds + 1, size = n / blocks, longer = n % blocks;
    for (int64_t block = 0, row = 0; block < blocks; block++)
        for (const int64_t end = row + size + (block < longer); row < end; row++) fold[row] = block - 1;
}

/* Rows of weight 0 after all others. */
static void deal_in_turn(int64_t n, const gram_folds_rule *rule, const int64_t *order, int64_t *fold)
{
    int64_t next = 0;
    for (int zero = 0; zero < 2; zero++)
        for (int64_t i = 0; i < n; i++)
            if ((rule->weights && rule->weights[order[i]] == 0) == zero) fold[order[i]] = next++ % rule->folds;
}

gram_status gram_folds_deal(gram_context *context, const char *function, int64_t n, const gram_folds_rule *rule,
                            int64_t *fold)
{
    gram_status status = GRAM_OK;
    const uint64_t stream = rule->stream ? rule->stream : FOLD_STREAM;
    int64_t *order = NULL;
    FAIL_IF(n < rule->folds + (rule->ordered != 0), context, GRAM_ERROR_DATA,
            "%s: %lld rows are too few for %lld folds%s", function, (long long)n, (long long)rule->folds,
            rule->ordered ? " in order and one that only trains" : "");
    if (rule->ordered) {
        cut_in_order(n, rule->folds, fold);
        goto done;
    }
    if (rule->groups) return deal_by_groups(context, function, n, rule, stream, fold);
    TRY(gram_take(context, "folds", n, sizeof *order, (void **)&order));
    TRY(order_rows(context, stream, n, rule->labels, rule->labels ? rule->classes : 1, order));
    deal_in_turn(n, rule, order, fold);
done:
    gram_give(context, order);
    return status;
}

gram_status gram_folds_check_classes(gram_context *context, const char *function, int64_t n,
                                     const gram_folds_rule *rule, const int64_t *fold)
{
    gram_status status = GRAM_OK;
    int64_t *counts = NULL;
    if (!rule->labels || (!rule->groups && !rule->ordered)) return GRAM_OK; /* classes are spread evenly */
    TRY(gram_take(context, "folds", rule->classes, sizeof *counts, (void **)&counts));
    for (int64_t held = 0; held < rule->folds; held++) {
        memset(counts, 0, (size_t)rule->classes * sizeof *counts);
        for (int64_t i = 0; i < n; i++)
            counts[(int64_t)rule->labels[i]] +=
                (!rule->weights || rule->weights[i] > 0) && gram_fold_trains(fold[i], held, rule->ordered);
        for (int64_t c = 0; c < rule->classes; c++)
            FAIL_IF(counts[c] == 0, context, GRAM_ERROR_DATA,
                    "%s: class %lld has no row to learn from when fold %lld of %lld is left out%s; use fewer folds",
                    function, (long long)c, (long long)(held + 1), (long long)rule->folds,
                    rule->ordered ? " with all that is later" : "");
    }
done:
    gram_give(context, counts);
    return status;
}

gram_status gram_folds_most(gram_context *context, int64_t n, const gram_folds_rule *rule, int64_t *most)
{
    gram_status status = GRAM_OK;
    grouping g = {0};
    *most = rule->ordered ? n - 1 : n;
    if (!rule->groups) return GRAM_OK;
    TRY(find_groups(context, n, rule, &g));
    *most = g.count;
done:
    free_grouping(context, &g);
    return status;
}

gram_status gram_folds_check_options(gram_context *context, const char *function, const int64_t *groups, int ordered)
{
    if (!groups || !ordered) return GRAM_OK;
    return gram_fail(context, GRAM_ERROR_ARGUMENT,
                     "%s: folds are by groups or in order of time: groups is not NULL and ordered = %d", function,
                     ordered);
}

/* ---- the public function ---- */

void gram_folds_options_init(gram_folds_options *options, size_t size)
{
    const gram_folds_options defaults = {.folds = 5};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

static gram_status copy_labels(gram_context *context, int64_t n, const int64_t *given, double *labels, int64_t *classes)
{
    gram_status status = GRAM_OK;
    *classes = 1;
    for (int64_t i = 0; i < n; i++) {
        FAIL_IF(given[i] < 0 || given[i] >= n, context, GRAM_ERROR_DATA,
                "folds_make: labels[%lld] = %lld is not a class: labels are 0, 1, ... below n", (long long)i,
                (long long)given[i]);
        labels[i] = (double)given[i];
        if (given[i] >= *classes) *classes = given[i] + 1;
    }
done:
    return status;
}

gram_status gram_folds_make(gram_context *context, int64_t n, const gram_folds_options *options, int64_t *fold)
{
    gram_status status = GRAM_OK;
    gram_folds_options o;
    double *labels = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    gram_folds_options_init(&o, sizeof o);
    TRY(gram_sized_read(context, "folds_make", "options", "gram_folds_options", options, &o, sizeof o));
    FAIL_IF(!fold, context, GRAM_ERROR_ARGUMENT, "folds_make: fold is NULL");
    FAIL_IF(n < 0, context, GRAM_ERROR_ARGUMENT, "folds_make: n = %lld is negative", (long long)n);
    FAIL_IF(o.folds < 2, context, GRAM_ERROR_ARGUMENT, "folds_make: folds = %lld, need at least 2", (long long)o.folds);
    TRY(gram_folds_check_options(context, "folds_make", o.groups, o.ordered));
    gram_folds_rule rule = {.folds = o.folds, .groups = o.groups, .ordered = o.ordered};
    if (o.labels) {
        TRY(gram_take(context, "labels", n, sizeof *labels, (void **)&labels));
        TRY(copy_labels(context, n, o.labels, labels, &rule.classes));
        rule.labels = labels;
    }
    TRY(gram_folds_deal(context, "folds_make", n, &rule, fold));
done:
    gram_give(context, labels);
    return status;
}

/* ---- subsets ---- */

/* Every row of the problem counts 0 or its weight; the first of each class's random order stay. */
static void keep_share(const gram_problem *p, const int64_t *order, int64_t rows, int64_t least, int by_class,
                       double *weights)
{
    for (int64_t start = 0, end; start < p->n; start = end) {
        for (end = start + 1; end < p->n && (!by_class || p->y[order[end]] == p->y[order[start]]);) end++;
        const int64_t share = (int64_t)((double)(end - start) * (double)rows / (double)p->n);
        for (int64_t i = start; i < end && i - start < (share > least ? share : least); i++) {
            const int64_t row = p->rows ? p->rows[order[i]] : order[i];
            weights[row] = gram_problem_weight(p, order[i]);
        }
    }
}

gram_status gram_problem_thin(gram_context *context, const gram_problem *p, int64_t classes, int64_t rows,
                              int64_t least, double **weights)
{
    gram_status status = GRAM_OK;
    int64_t *order = NULL;
    *weights = NULL;
    if (p->n <= rows) return GRAM_OK;
    TRY(gram_take(context, "subset", p->n, sizeof *order, (void **)&order));
    TRY(gram_take(context, "subset", p->given, sizeof **weights, (void **)weights));
    memset(*weights, 0, (size_t)p->given * sizeof **weights);
    TRY(order_rows(context, THIN_STREAM, p->n, classes > 1 ? p->y : NULL, classes > 1 ? classes : 1, order));
    keep_share(p, order, rows, least, classes > 1, *weights);
done:
    gram_give(context, order);
    return status;
}
