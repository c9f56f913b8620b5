/* The classes of a target: found in the data, and known again from a model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order_statistics.h"
#include "method/method.h"
#include <gram/text.h>

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int64_t gram_classes_find(const gram_classes *classes, double target)
{
    if (isnan(target)) return -1;
    if (!classes->values) return target >= 0 && target < (double)classes->count ? (int64_t)target : -1;
    const double *found =
        bsearch(&target, classes->values, (size_t)classes->count, sizeof *classes->values, compare_numbers);
    return found ? found - classes->values : -1;
}

static gram_status copy_name(gram_context *context, gram_arena *arena, const char *name, const char **copy)
{
    const size_t size = strlen(name) + 1;
    void *block = NULL;
    const gram_status status = gram_arena_take(context, arena, "classes", (int64_t)size, 1, &block);
    if (status >= 0) memcpy(block, name, size);
    *copy = block;
    return status;
}

static gram_status find_levels(gram_context *context, gram_arena *arena, const gram_column *target,
                               gram_classes *classes)
{
    gram_status status = GRAM_OK;
    const char **names = NULL;
    TRY(gram_arena_take(context, arena, "classes", target->level_count + 1, sizeof *names, (void **)&names));
    for (int64_t i = 0; i < target->level_count; i++) TRY(copy_name(context, arena, target->levels[i], &names[i]));
    *classes = (gram_classes){target->level_count, names, NULL};
done:
    return status;
}

static gram_status name_values(gram_context *context, gram_arena *arena, int64_t count, const double *values,
                               gram_classes *classes)
{
    gram_status status = GRAM_OK;
    char number[GRAM_NUMBER_SIZE];
    const char **names = NULL;
    TRY(gram_arena_take(context, arena, "classes", count + 1, sizeof *names, (void **)&names));
    for (int64_t i = 0; i < count; i++)
        TRY(copy_name(context, arena, gram_number_format(values[i], number), &names[i]));
    *classes = (gram_classes){count, names, values};
done:
    return status;
}

gram_status gram_classes_of_target(gram_context *context, gram_arena *arena, const gram_column *target, int64_t n,
                                   const double *y, gram_classes *classes)
{
    gram_status status = GRAM_OK;
    double *values = NULL;
    int64_t count = 0;
    if (target->text) return find_levels(context, arena, target, classes);
    TRY(gram_arena_take(context, arena, "classes", n + 1, sizeof *values, (void **)&values));
    for (int64_t i = 0; i < n; i++) values[i] = y[i];
    gram_sort_numbers(n, values);
    for (int64_t i = 0; i < n; i++)
        if (count == 0 || values[i] != values[count - 1]) values[count++] = values[i];
    TRY(name_values(context, arena, count, values, classes));
done:
    return status;
}

gram_status gram_classes_of_model(gram_context *context, gram_arena *arena, const gram_model *model, const char *name,
                                  gram_classes *classes)
{
    gram_status status = GRAM_OK;
    const gram_preparation *preparation = gram_model_preparation(model);
    const gram_preparation_description *known = preparation ? gram_preparation_describe(preparation) : NULL;
    int64_t rows = 0, count = 0;
    double *values = NULL;
    const double *stored = gram_model_array(model, "classes", &rows, &count);
    if (known && known->target_count == 1 && known->targets[0].text)
        return find_levels(context, arena, &known->targets[0], classes);
    if (!stored || rows != 1 || count < 1) {
        (void)gram_fail(context, GRAM_ERROR_DATA, "%s: a classifier without the names of its classes", name);
        return gram_advise(context, GRAM_ERROR_DATA, "Fit it again.");
    }
    TRY(gram_arena_take(context, arena, "classes", count, sizeof *values, (void **)&values));
    memcpy(values, stored, (size_t)count * sizeof *values);
    TRY(name_values(context, arena, count, values, classes));
done:
    return status;
}
