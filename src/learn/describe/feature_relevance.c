/* Which features a fitted kernel looks at: 1/ell for kernels with one length-scale for each column. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/describe.h>

#include "base/context.h"

/* The place of "rbf.ell[2]" in its list, from 1; 0 for a parameter outside lists. */
static int64_t place_in_list(const gram_parameter *parameter)
{
    const char *dot = strrchr(parameter->name, '.');
    if (!dot || strncmp(dot, ".ell[", 5) != 0) return 0;
    return strtoll(dot + 5, NULL, 10);
}

/* ell[d] from the kernel's only list of d length-scales; *found is 0 if it does not have exactly that. */
static gram_status find_lengths(gram_context *context, const gram_kernel *kernel, int64_t d, double *ell, int *found)
{
    gram_status status = GRAM_OK;
    gram_parameter parameter;
    int64_t count = 0;
    *found = 0;
    for (int64_t i = 0; i < gram_kernel_parameter_count(kernel); i++) {
        TRY(gram_kernel_parameter_get(context, kernel, i, &parameter));
        const char *dot = strrchr(parameter.name, '.');
        const int64_t place = place_in_list(&parameter);
        if (place == 0 && dot && strcmp(dot, ".ell") == 0) return status; /* another kernel, of all columns alike */
        if (place == 0) continue;
        if (place != ++count || place > d) return status;
        ell[place - 1] = parameter.value;
    }
    *found = count == d;
done:
    return status;
}

static int more_relevant(const void *a, const void *b)
{
    const gram_relevance *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? 1 : -1;
    return (x->feature > y->feature) - (x->feature < y->feature);
}

static void group_columns(const gram_preparation *preparation, int64_t d, const double *ell, gram_relevance *rows)
{
    const gram_preparation_description *known = gram_preparation_describe(preparation);
    for (int64_t f = 0; f < known->feature_count; f++) rows[f] = (gram_relevance){f, 0, NAN, known->features[f].name};
    for (int64_t l = 0; l < d; l++) {
        const int64_t f = gram_preparation_feature_of(preparation, l);
        if (1 / ell[l] > rows[f].value) rows[f].value = 1 / ell[l];
        if (!known->features[f].text) rows[f].length = ell[l] * known->features[f].deviation;
    }
    qsort(rows, (size_t)known->feature_count, sizeof *rows, more_relevant);
}

gram_status gram_kernel_relevance(gram_context *context, const gram_kernel *kernel, const gram_preparation *preparation,
                                  gram_relevance *rows, int64_t *count)
{
    gram_status status = GRAM_OK;
    double *ell = NULL;
    int found = 0;
    if (!context || !kernel || !preparation || !rows || !count) return GRAM_ERROR_ARGUMENT;
    const int64_t d = gram_preparation_dimension(preparation);
    *count = 0;
    if (d < 2) return status;
    TRY(gram_take(context, "kernel_relevance", d, sizeof *ell, (void **)&ell));
    TRY(find_lengths(context, kernel, d, ell, &found));
    if (!found) goto done;
    group_columns(preparation, d, ell, rows);
    *count = gram_preparation_describe(preparation)->feature_count;
done:
    gram_give(context, ell);
    return status;
}
