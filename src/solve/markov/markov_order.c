/* Points on the line, checked and in ascending order: what the filter goes along. */
#include "solve/markov/markov_order.h"

#include <gram/text.h>

#include "points/points.h"

typedef struct place {
    double t;
    int64_t row;
} place;

static int is_sorted(const gram_points *x)
{
    for (int64_t i = 1; i < x->n; i++)
        if (gram_points_at(x, i, 0) < gram_points_at(x, i - 1, 0)) return 0;
    return 1;
}

/* Merges runs of `width` from a to b. */
static void merge_runs(int64_t n, int64_t width, const place *a, place *b)
{
    for (int64_t left = 0; left < n; left += 2 * width) {
        const int64_t middle = left + width < n ? left + width : n, right = middle + width < n ? middle + width : n;
        int64_t i = left, j = middle;
        for (int64_t k = left; k < right; k++) {
            const int first = j == right || (i < middle && a[i].t <= a[j].t);
            b[k] = first ? a[i] : a[j];
            i += first;
            j += !first;
        }
    }
}

gram_status gram_markov_sort(gram_context *context, const gram_points *x, int64_t *order, double *sorted)
{
    gram_status status = GRAM_OK;
    place *a = NULL, *b = NULL;
    const int64_t n = x->n;
    if (is_sorted(x)) {
        for (int64_t i = 0; i < n; i++) order[i] = i, sorted[i] = gram_points_at(x, i, 0);
        goto done;
    }
    TRY(gram_take(context, "markov: sorting", n, sizeof *a, (void **)&a));
    TRY(gram_take(context, "markov: sorting", n, sizeof *b, (void **)&b));
    for (int64_t i = 0; i < n; i++) a[i] = (place){gram_points_at(x, i, 0), i};
    for (int64_t width = 1; width < n; width *= 2) {
        place *const swapped = a;
        merge_runs(n, width, a, b);
        a = b;
        b = swapped;
    }
    for (int64_t i = 0; i < n; i++) order[i] = a[i].row, sorted[i] = a[i].t;
done:
    gram_give(context, a);
    gram_give(context, b);
    return status;
}

gram_status gram_markov_check_points(gram_context *context, const char *name, const char *argument,
                                     const gram_markov_model *model, const gram_points *points)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    FAIL_IF(points->d != 1, context, GRAM_ERROR_DIMENSION, "%s: %s has %lld columns, need one", name, argument,
            (long long)points->d);
    for (int64_t i = 0; i < points->n && model->lower_name; i++)
        if (gram_points_at(points, i, 0) < model->lower)
            TRY(gram_fail_place(context, GRAM_ERROR_DOMAIN, i, 0, "%s: %s[%lld][0] = %s is below the kernel's origin",
                                model->lower_name, argument, (long long)i,
                                gram_number_format(gram_points_at(points, i, 0), shown)));
done:
    return status;
}
