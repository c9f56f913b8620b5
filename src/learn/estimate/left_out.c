/* Rows left out: for each fold a part of the others is fitted by the method's own row, with tuning if it tunes, and predicts the fold.
 * What is shared with the whole are scales of features and levels of categories, which no target has a say in. */
#include "learn/estimate/left_out.h"

#include <math.h>
#include <string.h>

#include "base/ranks/collective.h"
#include "base/system/system_call.h"
#include "learn/cells/cells.h"
#include "learn/estimate/feature_importance.h"
#include "learn/estimate/kept_models.h"
#include "learn/estimate/training_sample.h"
#include "tune/row_folds.h"

gram_status gram_left_out_begin(const gram_learning *whole, gram_left_out *out)
{
    *out = (gram_left_out){.whole = whole, .n = whole->data->n};
    gram_arena_init(&out->arena, whole->arena.memory);
    out->classes = whole->classes;
    out->columns.classes = &out->classes;
    return gram_part_preparation(whole, &out->preparation);
}

void gram_left_out_free(gram_left_out *out)
{
    if (!out->whole) return;
    for (int64_t k = 0; k < out->kept_count; k++) gram_model_destroy(out->kept[k]);
    gram_preparation_release(out->preparation);
    gram_arena_release(&out->arena);
    *out = (gram_left_out){0};
}

/* ---- columns ---- */

/* The columns of all fits: those of the first, but for its classes, which may be fewer. */
static gram_status name_columns(gram_left_out *out, const gram_columns *first)
{
    gram_status status = GRAM_OK;
    gram_context *context = out->whole->context;
    const int64_t classes = out->classes.count;
    const int64_t means = classes > 0 ? 1 : first->level_count > 0 ? first->level_count : first->outputs;
    double *levels = NULL;
    if (out->values) return status;
    out->columns = *first;
    out->columns.names = NULL;
    out->columns.classes = &out->classes;
    out->columns.count = means;
    out->columns.std = out->columns.lower = out->columns.upper = out->columns.term = -1;
    out->columns.probability = classes > 0 ? 1 : -1;
    out->columns.score = classes > 0 ? 1 + classes : -1;
    out->columns.spread = classes == 0 && first->spread >= 0 ? means : -1;
    out->columns.ld = out->ld = means + (classes > 0 ? classes + 1 : 1);
    TRY(gram_arena_take(context, &out->arena, "left out", first->level_count, sizeof *levels, (void **)&levels));
    if (first->level_count > 0) memcpy(levels, first->levels, (size_t)first->level_count * sizeof *levels);
    out->columns.levels = levels;
    TRY(gram_arena_take(context, &out->arena, "left out", out->n * out->ld, sizeof *out->values,
                        (void **)&out->values));
    for (int64_t i = 0; i < out->n * out->ld; i++) out->values[i] = NAN;
done:
    return status;
}

/* Classes of a part are numbers of the whole; those that it lacks have the probability 0. */
static void put_class(const gram_left_out *out, const gram_columns *part, const double *from, double *to)
{
    const int64_t classes = out->classes.count;
    to[0] = part->classes->values[(int64_t)from[0]];
    to[1 + classes] = part->score >= 0 && classes == 2 ? from[part->score] : NAN;
    if (part->probability < 0 || isnan(from[part->probability])) return;
    for (int64_t c = 0; c < classes; c++) to[1 + c] = 0;
    for (int64_t c = 0; c < part->classes->count; c++)
        to[1 + (int64_t)part->classes->values[c]] = from[part->probability + c];
}

void gram_left_out_put(const gram_left_out *out, const gram_columns *part, const double *from, double *to)
{
    const int64_t means = out->columns.count;
    for (int64_t k = 0; k < out->ld; k++) to[k] = NAN;
    if (out->classes.count > 0) {
        put_class(out, part, from, to);
        return;
    }
    memcpy(to, from, (size_t)means * sizeof *to);
    if (part->spread >= 0) to[means] = from[part->spread];
}

static void put_rows(gram_left_out *out, const gram_columns *part, int64_t count, const int64_t *rows,
                     const double *values)
{
    for (int64_t i = 0; i < count; i++)
        gram_left_out_put(out, part, values + i * part->ld, out->values + rows[i] * out->ld);
    out->columns.freedom = part->freedom;
    out->rows += count;
}

gram_status gram_left_out_take(gram_left_out *out, const gram_columns *part, int64_t count, const int64_t *rows,
                               const double *values)
{
    gram_status status = GRAM_OK;
    TRY(name_columns(out, part));
    put_rows(out, part, count, rows, values);
done:
    return status;
}

/* Training rows of one class predict that class. */
static gram_status put_only(gram_left_out *out, int64_t label, int64_t count, const int64_t *rows)
{
    gram_status status = GRAM_OK;
    const gram_columns none = {.ld = 1, .spread = -1, .score = -1, .probability = -1};
    TRY(name_columns(out, &none));
    for (int64_t i = 0; i < count; i++) {
        double *to = out->values + rows[i] * out->ld;
        for (int64_t c = 0; c < out->classes.count; c++) to[1 + c] = c == label;
        to[0] = (double)label;
        to[1 + out->classes.count] = (double)label;
    }
    out->rows += count;
done:
    return status;
}

/* ---- one fit ---- */

static gram_status predict(gram_left_out *out, const gram_model *model, int64_t count, const int64_t *rows)
{
    gram_status status = GRAM_OK;
    gram_context *context = out->whole->context;
    const gram_prepared *data = out->whole->data;
    const int64_t d = data->d;
    gram_predict_options wish;
    gram_predictor *predictor = NULL;
    double *x = NULL, *weights = NULL, *values = NULL;
    gram_predict_options_init(&wish, sizeof wish);
    wish.scores = 1;
    TRY(gram_predictor_create(context, model, &wish, &predictor));
    const gram_columns *columns = gram_predictor_columns(predictor);
    TRY(gram_take(context, "left out", count * d, sizeof *x, (void **)&x));
    TRY(gram_take(context, "left out", count * columns->ld, sizeof *values, (void **)&values));
    if (data->weights) TRY(gram_take(context, "left out", count, sizeof *weights, (void **)&weights));
    for (int64_t i = 0; i < count; i++) {
        memcpy(x + i * d, data->x + rows[i] * d, (size_t)d * sizeof *x);
        if (weights) weights[i] = data->weights[rows[i]];
    }
    TRY(gram_predictor_evaluate_stored(context, predictor, data->objects, count, x, weights, 1, values, columns->ld));
    TRY(gram_left_out_take(out, columns, count, rows, values));
    if (!out->plain) TRY(gram_importance_add(out, predictor, count, rows, x));
done:
    gram_predictor_destroy(predictor);
    gram_give(context, x);
    gram_give(context, weights);
    gram_give(context, values);
    return status;
}

/* A class with one row cannot be tuned by folds: without it the part does not know the class, and its rows are predicted wrongly, as they
 * would be. Returns how many rows stay. */
static gram_status drop_single(const gram_left_out *out, int64_t count, const int64_t *rows, int64_t *kept,
                               int64_t *stay)
{
    gram_status status = GRAM_OK;
    const gram_learning *whole = out->whole;
    int64_t *of_class = NULL;
    *stay = 0;
    TRY(gram_take(whole->context, "left out", out->classes.count, sizeof *of_class, (void **)&of_class));
    memset(of_class, 0, (size_t)out->classes.count * sizeof *of_class);
    for (int64_t i = 0; i < count; i++) of_class[(int64_t)whole->labels[rows[i]]]++;
    for (int64_t i = 0; i < count; i++)
        if (of_class[(int64_t)whole->labels[rows[i]]] > 1) kept[(*stay)++] = rows[i];
done:
    gram_give(whole->context, of_class);
    return status;
}

gram_status gram_left_out_fit(gram_left_out *out, const gram_found_numbers *found, int64_t train_count,
                              const int64_t *train, int64_t held_count, const int64_t *held, gram_learning *fit)
{
    gram_status status = GRAM_OK;
    gram_learning part = {0};
    int64_t *kept = NULL;
    if (out->classes.count > 0 && out->whole->tuning == GRAM_TUNING_CV && !found) {
        TRY(gram_take(out->whole->context, "left out", train_count, sizeof *kept, (void **)&kept));
        TRY(drop_single(out, train_count, train, kept, &train_count));
        train = kept;
    }
    TRY(gram_part_make(out->whole, out->preparation, train_count, train, &part));
    if (part.task == GRAM_TASK_CLASSIFICATION && part.classes.count == 1) {
        TRY(put_only(out, (int64_t)part.classes.values[0], held_count, held));
        goto done;
    }
    if (found) {
        part.numbers_found = gram_learning_was_tuned(out->whole);
        TRY(gram_part_use(found, &part));
    }
    TRY(gram_learning_wants_cells(&part) ? gram_learning_fit_cells(&part) : gram_part_fit(&part));
    TRY(predict(out, part.model, held_count, held));
    if (fit) {
        *fit = part;
        part = (gram_learning){0};
    }
done:
    if (part.context) gram_part_forget(&part);
    gram_give(out->whole->context, kept);
    return status;
}

/* ---- folds ---- */

gram_status gram_left_out_deal(const gram_learning *learning, gram_arena *arena, uint64_t stream, int64_t *folds,
                               int64_t **fold)
{
    gram_status status = GRAM_OK;
    const int classes = learning->task == GRAM_TASK_CLASSIFICATION;
    gram_folds_rule rule = {.folds = *folds,
                            .labels = classes ? learning->labels : NULL,
                            .classes = classes ? learning->classes.count : 1,
                            .weights = learning->has_row_noise ? NULL : learning->data->weights,
                            .groups = learning->groups,
                            .ordered = learning->ordered,
                            .stream = stream};
    int64_t most = 0;
    TRY(gram_folds_most(learning->context, learning->data->n, &rule, &most));
    if (rule.folds > most) rule.folds = *folds = most;
    if (most < 2) {
        *folds = 1;
        return status;
    }
    TRY(gram_arena_take(learning->context, arena, "left out", learning->data->n, sizeof **fold, (void **)fold));
    TRY(gram_folds_deal(learning->context, "estimate", learning->data->n, &rule, *fold));
done:
    return status;
}

static gram_status keep_model(gram_left_out *out, int64_t most, gram_model **model)
{
    gram_status status = GRAM_OK;
    if (!out->kept)
        TRY(gram_arena_take(out->whole->context, &out->arena, "left out", most, sizeof *out->kept,
                            (void **)&out->kept));
    out->kept[out->kept_count++] = *model;
    *model = NULL;
done:
    return status;
}

/* Rows of weight 0 train nothing and are not judged by. */
static void part_rows(const gram_left_out *out, const int64_t *fold, int64_t held, int64_t *rows, int64_t counts[2])
{
    const gram_learning *whole = out->whole;
    const double *weights = whole->has_row_noise ? NULL : whole->data->weights;
    counts[0] = counts[1] = 0;
    for (int64_t i = 0; i < out->n; i++) {
        if (weights && weights[i] == 0) continue;
        if (fold[i] == held)
            rows[out->n + counts[1]++] = i;
        else if (gram_fold_trains(fold[i], held, whole->ordered))
            rows[counts[0]++] = i;
    }
}

static gram_status fit_fold(gram_left_out *out, const gram_found_numbers *found, const int64_t *fold, int64_t k,
                            int64_t *rows, int keep, gram_model **model)
{
    gram_status status = GRAM_OK;
    gram_learning fit = {0};
    int64_t counts[2];
    *model = NULL;
    part_rows(out, fold, k, rows, counts);
    if (counts[0] == 0 || counts[1] == 0) goto done;
    if (out->most_rows > 0) TRY(gram_training_sample(out, (uint64_t)k, &counts[0], rows));
    if (counts[0] > out->fit_rows) out->fit_rows = counts[0];
    if (out->rule)
        TRY(out->rule(out, counts[0], rows, counts[1], rows + out->n));
    else
        TRY(gram_left_out_fit(out, found, counts[0], rows, counts[1], rows + out->n, keep ? &fit : NULL));
    *model = fit.model;
    fit.model = NULL;
done:
    if (fit.context) gram_part_forget(&fit);
    return status;
}

/* ---- folds by several processes ---- */

/* Numbers of rows that other ranks have are set to 0, so that the sum over the ranks is what each row's own has. */
static gram_status gather_rows(gram_left_out *out, const int64_t *fold, int64_t first, int64_t width, double *values)
{
    gram_context *context = out->whole->context;
    const int64_t ranks = gram_ranks(context), rank = gram_rank(context);
    for (int64_t i = 0; i < out->n; i++) {
        const int mine = fold[i] < first ? rank == 0 : (fold[i] - first) % ranks == rank;
        for (int64_t k = 0; k < width && !mine; k++) values[i * width + k] = 0;
    }
    return gram_ranks_sum(context, "folds", out->n * width, values);
}

static gram_status join_folds(gram_left_out *out, const int64_t *fold, int64_t first, int64_t last, int keep,
                              gram_model **models, double *freedom)
{
    gram_status status = GRAM_OK;
    gram_context *context = out->whole->context;
    const int64_t features = out->rises ? gram_importance_features(out) : 0, folds = last - first + 1;
    if (!out->values) return GRAM_OK; /* no fold had rows to train by */
    TRY(gather_rows(out, fold, first, out->ld, out->values));
    if (features > 0) TRY(gather_rows(out, fold, first, features, out->rises));
    TRY(gram_ranks_gather_dealt(context, "folds", folds, 2, freedom));
    out->rows = 0;
    for (int64_t k = 0; k < folds; k++) {
        if (freedom[2 * k + 1] > 0) out->columns.freedom = freedom[2 * k];
        out->rows += (int64_t)freedom[2 * k + 1];
        if (keep) TRY(gram_model_share(context, (int)(k % gram_ranks(context)), &models[k]));
    }
    gram_ranks_note(context, "folds", 0);
done:
    return status;
}

/* Each rank fits some of the folds by itself. One that has none of its own fits others', which tell it the columns. */
static gram_status spread_folds(gram_left_out *out, const gram_found_numbers *found, const int64_t *fold, int64_t first,
                                int64_t last, int keep, int64_t *rows, gram_model **models)
{
    gram_status status = GRAM_OK;
    gram_context *context = out->whole->context;
    const int64_t folds = last - first + 1, ranks = gram_ranks(context), rank = gram_rank(context);
    double *freedom = NULL;
    TRY(gram_take(context, "left out", 2 * folds, sizeof *freedom, (void **)&freedom));
    gram_ranks_part_ways(context);
    for (int64_t k = rank; k < folds && status >= 0; k += ranks) {
        const int64_t before = out->rows;
        status = gram_pulse(context, "left-out rows", (double)k / (double)folds);
        if (status >= 0) status = fit_fold(out, found, fold, first + k, rows, keep, &models[k]);
        freedom[2 * k] = out->columns.freedom;
        freedom[2 * k + 1] = (double)(out->rows - before);
    }
    for (int64_t k = 0; k < folds && status >= 0 && !out->values; k++) {
        gram_model *none = NULL;
        status = fit_fold(out, found, fold, first + k, rows, 0, &none);
    }
    if (status >= 0 && !out->plain) status = gram_importance_begin(out);
    gram_ranks_join(context);
    TRY(gram_ranks_agree(context, status));
    TRY(join_folds(out, fold, first, last, keep, models, freedom));
done:
    gram_give(context, freedom);
    return status;
}

/* ---- all folds ---- */

gram_status gram_left_out_folds(gram_left_out *out, const gram_found_numbers *found, const int64_t *fold, int64_t first,
                                int64_t last, int keep)
{
    gram_status status = GRAM_OK;
    gram_context *context = out->whole->context;
    const int64_t folds = last - first + 1;
    int64_t *rows = NULL;
    gram_model **models = NULL;
    TRY(gram_take(context, "left out", 2 * out->n, sizeof *rows, (void **)&rows));
    TRY(gram_take(context, "left out", folds, sizeof(gram_model *), (void **)&models));
    for (int64_t k = 0; k < folds; k++) models[k] = NULL;
    if (gram_ranks(context) > 1 && folds > 1)
        TRY(spread_folds(out, found, fold, first, last, keep, rows, models));
    else
        for (int64_t k = 0; k < folds; k++) {
            TRY(gram_pulse(context, "left-out rows", (double)k / (double)folds));
            TRY(fit_fold(out, found, fold, first + k, rows, keep, &models[k]));
        }
    for (int64_t k = 0; k < folds; k++)
        if (models[k]) TRY(keep_model(out, folds, &models[k]));
done:
    for (int64_t k = 0; models && k < folds; k++) gram_model_destroy(models[k]);
    gram_give(context, models);
    gram_give(context, rows);
    return status;
}
