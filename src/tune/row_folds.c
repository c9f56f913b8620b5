/* Folds and subsets of rows in which every class has its share. */
#include <string.h>

#include <gram/random.h>

#include "tune/grid_search.h"

enum { FOLD_STREAM = 0x666f6c64 /* "fold" */, THIN_STREAM = 0x7468696e /* "thin" */ };

/* Goes through the rows in a random order, class by class. */
static gram_status order_rows(gram_context *context, uint64_t stream, int64_t n, const double *label, int64_t classes,
                              int64_t *order)
{
    gram_status status = GRAM_OK;
    int64_t *shuffled = NULL, at = 0;
    TRY(gram_take(context, "folds", n, sizeof *shuffled, (void **)&shuffled));
    gram_random_permutation((gram_random){gram_context_seed(context), stream}, 0, n, shuffled);
    for (int64_t c = 0; c < classes; c++)
        for (int64_t i = 0; i < n; i++)
            if (!label || (int64_t)label[shuffled[i]] == c) order[at++] = shuffled[i];
done:
    gram_give(context, shuffled);
    return status;
}

gram_status gram_loss_deal(gram_context *context, int64_t n, const double *label, int64_t classes, int64_t folds,
                           int64_t *fold)
{
    gram_status status = GRAM_OK;
    int64_t *order = NULL;
    TRY(gram_take(context, "folds", n, sizeof *order, (void **)&order));
    TRY(order_rows(context, FOLD_STREAM, n, label, label ? classes : 1, order));
    for (int64_t i = 0; i < n; i++) fold[order[i]] = i % folds;
done:
    gram_give(context, order);
    return status;
}

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

gram_status gram_loss_thin(gram_context *context, const gram_problem *p, int64_t classes, int64_t rows, int64_t least,
                           double **weights)
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
