#include "learn/estimate/kept_models.h"

#include "base/ranks/collective.h"

gram_status gram_keep_model(gram_keeper *keeper, const char *name, const gram_model *model)
{
    gram_status status = GRAM_OK;
    gram_context *context = keeper->context;
    double *numbers = NULL;
    size_t size = 0;
    TRY(gram_model_write_memory(context, model, NULL, 0, &size));
    const int64_t count = (int64_t)(size + 7) / 8 + 1;
    TRY(gram_take(context, "model", count, sizeof *numbers, (void **)&numbers));
    numbers[count - 1] = 0;
    numbers[0] = (double)size;
    TRY(gram_model_write_memory(context, model, numbers + 1, size, &size));
    gram_keep_array(keeper, name, 1, count, numbers);
    status = keeper->status;
done:
    gram_give(context, numbers);
    return status;
}

gram_status gram_kept_model(gram_context *context, const gram_model *model, const char *name, const char *file,
                            gram_model **kept)
{
    int64_t rows = 0, count = 0;
    const double *numbers = gram_model_array(model, name, &rows, &count);
    *kept = NULL;
    if (!numbers || rows != 1 || !(numbers[0] > 0 && numbers[0] <= 8 * (double)(count - 1))) return GRAM_OK;
    return gram_model_read_memory(context, file, numbers + 1, (size_t)numbers[0], kept);
}

/* As a file in memory. */
gram_status gram_model_share(gram_context *context, int from, gram_model **model)
{
    gram_status status = GRAM_OK;
    size_t size = 0;
    char *bytes = NULL;
    const int mine = gram_rank(context) == from;
    if (mine && *model) TRY(gram_model_write_memory(context, *model, NULL, 0, &size));
    TRY(gram_ranks_broadcast(context, from, &size, sizeof size));
    if (size == 0) return GRAM_OK;
    TRY(gram_take(context, "a model", (int64_t)size, 1, (void **)&bytes));
    if (mine) TRY(gram_model_write_memory(context, *model, bytes, size, &size));
    TRY(gram_ranks_broadcast(context, from, bytes, size));
    if (!mine) TRY(gram_model_read_memory(context, "a model of another rank", bytes, size, model));
done:
    gram_give(context, bytes);
    return status;
}
