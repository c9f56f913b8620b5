/* Things of a given matrix in a model: which rows of the training data they are, and the kernel of each with itself and those before it, by which norms, deviations and what
 * else needs the matrix of the centres can be made again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "points/given_things.h"

gram_status gram_model_keep_given(gram_context *context, gram_model *model, int64_t column, const gram_objects *store)
{
    gram_status status = GRAM_OK;
    const int64_t n = store->count;
    double *index, *value;
    TRY(gram_things_add(context, model, "index", column, n, &index));
    TRY(gram_things_add(context, model, "value", column, n * (n + 1) / 2, &value));
    for (int64_t i = 0; i < n; i++) {
        index[i] = store->index[i];
        for (int64_t j = 0; j <= i; j++) {
            const int64_t at = gram_given_column(store, store, j);
            if (at < 0) TRY(gram_given_unknown(context, store, i, store, j));
            *value++ = store->value[store->start[i] + at];
        }
    }
done:
    return status;
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The different numbers, ascending. */
static int64_t sort_distinct(int64_t n, int64_t *numbers)
{
    int64_t kept = 0;
    qsort(numbers, (size_t)n, sizeof *numbers, compare);
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || numbers[i] != numbers[i - 1]) numbers[kept++] = numbers[i];
    return kept;
}

static int64_t place_of(const int64_t *sorted, int64_t count, int64_t number)
{
    const int64_t *found = bsearch(&number, sorted, (size_t)count, sizeof *sorted, compare);
    return found - sorted;
}

/* Row i gets what the triangle has of it, under the columns of the things. */
static void spread(int64_t n, const int64_t *which, const int64_t *columns, int64_t width, const double *triangle,
                   double *value)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++, triangle++) {
            value[i * width + place_of(columns, width, which[j])] = *triangle;
            value[j * width + place_of(columns, width, which[i])] = *triangle;
        }
}

gram_status gram_model_restore_given(gram_context *context, const gram_model *model, int64_t column, int64_t n,
                                     int64_t known, gram_objects **store)
{
    gram_status status = GRAM_OK;
    const double *index = gram_things_find(model, "index", column, n);
    const double *triangle = gram_things_find(model, "value", column, n * (n + 1) / 2);
    int64_t *which = NULL, *columns;
    double *value = NULL;
    FAIL_IF(!index || !triangle || n > INT32_MAX, context, GRAM_ERROR_DATA,
            "the arrays of the given matrix of column %lld do not fit", (long long)column);
    TRY(gram_take(context, "things", 2 * n, sizeof *which, (void **)&which));
    columns = which + n;
    for (int64_t i = 0; i < n; i++) {
        FAIL_IF(!(index[i] >= 0 && index[i] < (double)known) || index[i] != floor(index[i]), context, GRAM_ERROR_DATA,
                "thing %lld of the given matrix of column %lld is damaged", (long long)i, (long long)column);
        which[i] = columns[i] = (int64_t)index[i];
    }
    const int64_t width = sort_distinct(n, columns);
    TRY(gram_take(context, "given matrix", n * width, sizeof *value, (void **)&value));
    spread(n, which, columns, width, triangle, value);
    const gram_given_matrix matrix = {.name = "the model's matrix",
                                      .rows = n,
                                      .width = width,
                                      .known = known,
                                      .which = which,
                                      .columns = columns,
                                      .value = value};
    value = NULL;
    TRY(gram_given_create(context, &matrix, store));
done:
    gram_give(context, value);
    gram_give(context, which);
    return status;
}
