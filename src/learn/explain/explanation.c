/* An explanation: rows are prepared as the model says, then each part is found on them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/function.h>
#include <gram/random.h>
#include <gram/text.h>

#include "base/sized_struct.h"
#include "learn/explain/explanation.h"
#include "points/objects.h"

enum { SAMPLE_STREAM = 0x65726f77 /* "erow" */, MOST_DEPENDENCES = 9 };

void gram_explain_options_init(gram_explain_options *options, size_t size)
{
    const gram_explain_options defaults = {.size = sizeof defaults,
                                           .repeats = 5,
                                           .rows = 1000,
                                           .row = -1,
                                           .most_weights = 10,
                                           .who = "explain",
                                           .dashes = "",
                                           .name = "the model"};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

gram_status gram_explain_take(gram_explaining *e, int64_t count, size_t size, void *out)
{
    return gram_arena_take(e->context, &e->made->arena, "explain", count, size, (void **)out);
}

gram_status gram_explain_predict(gram_explaining *e, int64_t n, const double *x, double *values)
{
    return gram_predictor_evaluate_rows(e->context, e->predictor, n, x, NULL, 1, values, e->ld);
}

static gram_status fail(const gram_explaining *e, gram_status status, const char *advice, const char *words)
{
    return gram_fail_spoken(e->context, status, (gram_speech){e->wish.who, e->wish.dashes}, advice, "%s: %s",
                            e->wish.name, words);
}

static gram_status check_model(const gram_explaining *e)
{
    const char *task = gram_model_task(e->model);
    if (strcmp(task, gram_task_name(GRAM_TASK_REGRESSION)) != 0 &&
        strcmp(task, gram_task_name(GRAM_TASK_CLASSIFICATION)) != 0)
        return fail(e, GRAM_ERROR_ARGUMENT, "Models of `gram fit` can be explained.",
                    "the model predicts neither numbers nor classes");
    if (!gram_model_preparation(e->model) || gram_model_second_function(e->model) || gram_kept_text(e->model, "kind"))
        return fail(e, GRAM_ERROR_ARGUMENT, "Models of rows of features can be explained.",
                    "the model is not one of features in columns");
    return GRAM_OK;
}

/* ---- rows ---- */

static gram_status find_labels(gram_explaining *e)
{
    gram_status status = GRAM_OK;
    const gram_classes *classes = gram_predictor_columns(e->predictor)->classes;
    if (classes->count == 0) return status;
    TRY(gram_explain_take(e, e->n, sizeof *e->labels, &e->labels));
    for (int64_t i = 0; i < e->n; i++) e->labels[i] = (double)gram_classes_find(classes, e->y[i * e->data->targets]);
done:
    return status;
}

/* What is shuffled and moved are numbers: things in columns have no order, and no number between two of them. */
static gram_status check_columns(const gram_explaining *e)
{
    char words[128];
    for (int64_t l = 0; e->data->objects && l < e->data->d; l++) {
        if (!e->data->objects[l]) continue;
        (void)snprintf(words, sizeof words, "the model is one of %s, which cannot be moved a little or sorted",
                       gram_object_kind_name(e->data->objects[l]->kind));
        return fail(e, GRAM_ERROR_ARGUMENT,
                    "Explanations are for columns of numbers and categories; `gram cv` shows what the model is worth.",
                    words);
    }
    return GRAM_OK;
}

/* A seeded sample of the rows, in their order. */
static gram_status sample_rows(gram_explaining *e)
{
    gram_status status = GRAM_OK;
    const gram_prepared *data = e->data;
    const int64_t n = data->n, targets = data->targets;
    int64_t *order = NULL, at = 0;
    char *chosen = NULL;
    e->d = data->d;
    e->n = n < e->wish.rows ? n : e->wish.rows;
    if (n == 0) return fail(e, GRAM_ERROR_DATA, "Give a table with rows.", "there are no rows to explain it by");
    TRY(check_columns(e));
    TRY(gram_take(e->context, "explain", n, sizeof *order, (void **)&order));
    TRY(gram_take(e->context, "explain", n, 1, (void **)&chosen));
    memset(chosen, 0, (size_t)n);
    gram_random_permutation((gram_random){gram_context_seed(e->context), SAMPLE_STREAM}, 0, n, order);
    for (int64_t i = 0; i < e->n; i++) chosen[order[i]] = 1;
    TRY(gram_explain_take(e, e->n * e->d, sizeof *e->x, &e->x));
    if (targets > 0) TRY(gram_explain_take(e, e->n * targets, sizeof *e->y, &e->y));
    for (int64_t i = 0; i < n; i++) {
        if (!chosen[i]) continue;
        memcpy(e->x + at * e->d, data->x + i * e->d, (size_t)e->d * sizeof *e->x);
        if (e->y) memcpy(e->y + at * targets, data->y + i * targets, (size_t)targets * sizeof *e->y);
        at++;
    }
    if (e->y) TRY(find_labels(e));
done:
    gram_give(e->context, order);
    gram_give(e->context, chosen);
    return status;
}

/* Are predictions the values of the model's function? Asked of the rows themselves: methods know, but rounding apart this is what counts. */
static gram_status look_at_function(gram_explaining *e)
{
    gram_status status = GRAM_OK;
    const gram_function *function = gram_model_function(e->model);
    const int64_t outputs = gram_function_outputs(function);
    gram_points *points = NULL;
    double *f = NULL, apart = 0, size = 0;
    if (gram_predictor_columns(e->predictor)->outputs != outputs) return status;
    if (gram_points_dimension(gram_function_centres(function)) != e->d) return status;
    TRY(gram_take(e->context, "explain", e->n * outputs, sizeof *f, (void **)&f));
    TRY(gram_points_create_f64(e->context, e->n, e->d, e->x, e->d, &points));
    status = gram_function_evaluate(e->context, function, points, f, outputs);
    if (status == GRAM_ERROR_DOMAIN) { /* a spline's predictions, whose kernel is of numbers from 0 on */
        status = GRAM_OK;
        goto done;
    }
    TRY(status);
    for (int64_t i = 0; i < e->n; i++)
        for (int64_t o = 0; o < outputs; o++) {
            apart = fmax(apart, fabs(f[i * outputs + o] - e->values[i * e->ld + o]));
            size = fmax(size, fabs(e->values[i * e->ld + o]));
        }
    e->is_function = apart <= 1e-8 * size;
done:
    gram_points_release(points);
    gram_give(e->context, f);
    return status;
}

/* ---- features ---- */

static gram_status list_features(gram_explaining *e)
{
    gram_status status = GRAM_OK;
    const gram_preparation_description *known = gram_preparation_describe(e->made->preparation);
    e->made->feature_count = known->feature_count;
    TRY(gram_explain_take(e, known->feature_count, sizeof *e->made->features, &e->made->features));
    for (int64_t f = 0; f < known->feature_count; f++)
        e->made->features[f] = (gram_explained_feature){.feature = f, .name = known->features[f].name};
done:
    return status;
}

static int more_important(const void *a, const void *b)
{
    const gram_explained_feature *x = a, *y = b;
    const double u = isnan(x->value) ? x->share : x->value, v = isnan(y->value) ? y->share : y->value;
    if (u != v && !isnan(u) && !isnan(v)) return u < v ? 1 : -1;
    return (x->feature > y->feature) - (x->feature < y->feature);
}

/* Is the feature's name in the list, or its number from 1? */
static int is_listed(const char *list, const char *name, int64_t number)
{
    for (const char *at = list; *at;) {
        const size_t length = strcspn(at, ",");
        char *end;
        if (strlen(name) == length && strncmp(at, name, length) == 0) return 1;
        if (strtoll(at, &end, 10) == number && end == at + length) return 1;
        at += length + (at[length] == ',');
    }
    return 0;
}

static int64_t list_length(const char *list)
{
    int64_t count = 1;
    for (; *list; list++) count += *list == ',';
    return count;
}

/* Names the first of the list that no feature has, and the one that it may have meant; or something is listed twice. */
static gram_status refuse_list(gram_explaining *e)
{
    gram_status status = GRAM_OK;
    static const char help[] = "Give names of features with commas between, each once, or their numbers.";
    const gram_speech speech = {e->wish.who, e->wish.dashes};
    const int64_t features = e->made->feature_count;
    const char **names, *at = e->wish.features, *near = NULL;
    char word[GRAM_WORD_SIZE];
    TRY(gram_explain_take(e, features, sizeof *names, &names));
    for (int64_t k = 0; k < features; k++) names[k] = e->made->features[k].name;
    for (size_t length; *at; at += length + (at[length] == ',')) {
        int64_t k = 0;
        length = strcspn(at, ",");
        (void)snprintf(word, sizeof word, "%.*s", (int)length, at);
        while (k < features && !is_listed(word, names[k], e->made->features[k].feature + 1)) k++;
        if (k < features || length >= sizeof word) continue;
        near = gram_suggest(word, names, (size_t)features);
        return gram_fail_spoken(e->context, GRAM_ERROR_ARGUMENT, speech, help,
                                "--features: %s has no feature '%s'%s%s%s", e->wish.name, word,
                                near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    return gram_fail_spoken(e->context, GRAM_ERROR_ARGUMENT, speech, help,
                            "--features %s: %s does not have all of them, or one is listed twice", e->wish.features,
                            e->wish.name);
done:
    return status;
}

/* Those whose dependence is found, the most important first. */
static gram_status choose_features(gram_explaining *e)
{
    gram_status status = GRAM_OK;
    const int64_t features = e->made->feature_count;
    int64_t count = 0;
    TRY(gram_explain_take(e, features, sizeof *e->made->dependences, &e->made->dependences));
    for (int64_t k = 0; k < features; k++) {
        const gram_explained_feature *f = &e->made->features[k];
        const int wanted =
            e->wish.features ? is_listed(e->wish.features, f->name, f->feature + 1) : count < MOST_DEPENDENCES;
        if (wanted) e->made->dependences[count++].feature = f->feature;
    }
    e->made->dependence_count = count;
    if (e->wish.features && count < list_length(e->wish.features)) return refuse_list(e);
done:
    return status;
}

/* ---- the object ---- */

static gram_status work(gram_explaining *e)
{
    gram_status status = GRAM_OK;
    TRY(list_features(e));
    TRY(sample_rows(e));
    e->made->rows = e->n;
    TRY(gram_explain_take(e, e->n * e->ld, sizeof *e->values, &e->values));
    TRY(gram_explain_predict(e, e->n, e->x, e->values));
    TRY(look_at_function(e));
    TRY(gram_explain_permutations(e));
    TRY(gram_explain_derivatives(e));
    qsort(e->made->features, (size_t)e->made->feature_count, sizeof *e->made->features, more_important);
    TRY(choose_features(e));
    TRY(gram_explain_dependences(e));
    TRY(gram_explain_terms(e));
    TRY(gram_explain_weights(e));
done:
    return status;
}

static gram_status explain(gram_explaining *e, const gram_table *table)
{
    gram_status status = GRAM_OK;
    gram_prepared *data = NULL;
    TRY(check_model(e));
    e->made->preparation = gram_preparation_retain(gram_model_preparation(e->model));
    TRY(gram_predictor_create(e->context, e->model, NULL, &e->predictor));
    e->ld = gram_predictor_columns(e->predictor)->ld;
    TRY(gram_preparation_apply(e->context, e->made->preparation, table, 0, &data));
    e->data = data;
    TRY(work(e));
done:
    gram_prepared_destroy(data);
    gram_predictor_destroy(e->predictor);
    return status;
}

gram_status gram_explain_table(gram_context *context, const gram_model *model, const gram_table *table,
                               const char *name, const gram_explain_options *options, gram_explanation **explanation)
{
    gram_status status = GRAM_OK;
    gram_explaining e = {.context = context, .model = model};
    gram_explanation *made = NULL;
    *explanation = NULL;
    (void)name;
    gram_explain_options_init(&e.wish, sizeof e.wish);
    TRY(gram_sized_read(context, "explain_table", "options", "gram_explain_options", options, &e.wish, sizeof e.wish));
    FAIL_IF(e.wish.repeats < 1 || e.wish.rows < 2 || e.wish.most_weights < 1, context, GRAM_ERROR_ARGUMENT,
            "explain_table: repeats = %" PRId64 ", rows = %" PRId64 ", most_weights = %" PRId64, e.wish.repeats,
            e.wish.rows, e.wish.most_weights);
    TRY(gram_take(context, "explain", 1, sizeof *made, (void **)&made));
    *made = (gram_explanation){.memory = gram_memory_retain(context->memory), .row = -1};
    gram_arena_init(&made->arena, made->memory);
    e.made = made;
    TRY(explain(&e, table));
    *explanation = made;
    made = NULL;
done:
    gram_explanation_destroy(made);
    return status;
}

void gram_explanation_destroy(gram_explanation *explanation)
{
    if (!explanation) return;
    gram_memory *memory = explanation->memory;
    gram_preparation_release(explanation->preparation);
    gram_arena_release(&explanation->arena);
    gram_memory_give(memory, explanation);
    gram_memory_release(memory);
}

/* ---- what it says ---- */

const gram_explained_feature *gram_explanation_features(const gram_explanation *explanation, int64_t *count)
{
    *count = explanation->feature_count;
    return explanation->features;
}

int64_t gram_explanation_rows(const gram_explanation *explanation)
{
    return explanation->rows;
}

double gram_explanation_loss(const gram_explanation *explanation)
{
    return explanation->loss;
}

const char *gram_explanation_no_shares(const gram_explanation *explanation)
{
    return explanation->no_shares;
}

int64_t gram_explanation_dependences(const gram_explanation *explanation)
{
    return explanation->dependence_count;
}

const gram_dependence *gram_explanation_dependence(const gram_explanation *explanation, int64_t index)
{
    return index >= 0 && index < explanation->dependence_count ? &explanation->dependences[index] : NULL;
}

const gram_explained_term *gram_explanation_terms(const gram_explanation *explanation, int64_t *count)
{
    *count = explanation->term_count;
    return explanation->terms;
}

const gram_row_weight *gram_explanation_weights(const gram_explanation *explanation, int64_t *count, double *function,
                                                double *constant)
{
    *count = explanation->weight_count;
    *function = explanation->function;
    *constant = explanation->constant;
    return explanation->weights;
}

const char *gram_explanation_centres(const gram_explanation *explanation)
{
    return explanation->centres;
}
