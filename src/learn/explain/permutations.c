/* Permutation importance (Breiman 2001) of a model that is given: a feature's values are shuffled among the rows, all its levels together, a few times over; the
 * rise of a row's loss is the mean over the shuffles, and the standard error is that of its mean over rows. */
#include <math.h>
#include <string.h>

#include <gram/random.h>

#include "base/system/system_call.h"
#include "learn/estimate/row_loss.h"
#include "learn/explain/explanation.h"

enum { SHUFFLE_STREAM = 0x6578706c /* "expl" */ };

/* Room for one feature after the other. */
typedef struct shuffles {
    int64_t *order;
    double *x, *values, *before, *rises;
} shuffles;

static double loss_of(const gram_explaining *e, int64_t row, const double *values)
{
    const int64_t targets = e->data->targets;
    if (e->labels && e->labels[row] < 0) return NAN;
    return gram_row_loss(gram_predictor_columns(e->predictor), e->y + row * targets,
                         e->labels ? (int64_t)e->labels[row] : 0, values);
}

static void shuffle(const gram_explaining *e, int64_t feature, const shuffles *s)
{
    const gram_preparation *preparation = e->made->preparation;
    memcpy(s->x, e->x, (size_t)(e->n * e->d) * sizeof *s->x);
    for (int64_t j = 0; j < e->d; j++) {
        if (gram_preparation_feature_of(preparation, j) != feature) continue;
        for (int64_t i = 0; i < e->n; i++) s->x[i * e->d + j] = e->x[s->order[i] * e->d + j];
    }
}

static void mean_of(int64_t n, const double *numbers, double *mean, double *se)
{
    double sum = 0, squares = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(numbers[i])) sum += numbers[i], count++;
    *mean = count > 0 ? sum / (double)count : NAN;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(numbers[i])) squares += (numbers[i] - *mean) * (numbers[i] - *mean);
    if (se) *se = count > 1 ? sqrt(squares / (double)(count - 1) / (double)count) : NAN;
}

static gram_status one_feature(gram_explaining *e, int64_t f, const shuffles *s)
{
    gram_status status = GRAM_OK;
    const gram_random random = {gram_context_seed(e->context), SHUFFLE_STREAM};
    memset(s->rises, 0, (size_t)e->n * sizeof *s->rises);
    for (int64_t k = 0; k < e->wish.repeats; k++) {
        gram_random_permutation(random, (uint64_t)(f * e->wish.repeats + k), e->n, s->order);
        shuffle(e, f, s);
        TRY(gram_explain_predict(e, e->n, s->x, s->values));
        for (int64_t i = 0; i < e->n; i++)
            s->rises[i] += (loss_of(e, i, s->values + i * e->ld) - s->before[i]) / (double)e->wish.repeats;
    }
    mean_of(e->n, s->rises, &e->made->features[f].value, &e->made->features[f].se);
done:
    return status;
}

gram_status gram_explain_permutations(gram_explaining *e)
{
    gram_status status = GRAM_OK;
    gram_arena arena;
    shuffles s = {0};
    gram_arena_init(&arena, e->made->memory);
    e->made->loss = NAN;
    for (int64_t f = 0; f < e->made->feature_count; f++) e->made->features[f].value = e->made->features[f].se = NAN;
    if (!e->y) return status;
    TRY(gram_arena_take(e->context, &arena, "explain", e->n, sizeof *s.order, (void **)&s.order));
    TRY(gram_arena_take(e->context, &arena, "explain", e->n * e->d, sizeof *s.x, (void **)&s.x));
    TRY(gram_arena_take(e->context, &arena, "explain", e->n * e->ld, sizeof *s.values, (void **)&s.values));
    TRY(gram_arena_take(e->context, &arena, "explain", e->n, sizeof *s.before, (void **)&s.before));
    TRY(gram_arena_take(e->context, &arena, "explain", e->n, sizeof *s.rises, (void **)&s.rises));
    for (int64_t i = 0; i < e->n; i++) s.before[i] = loss_of(e, i, e->values + i * e->ld);
    mean_of(e->n, s.before, &e->made->loss, NULL);
    for (int64_t f = 0; f < e->made->feature_count; f++) {
        TRY(gram_pulse(e->context, "importance", (double)f / (double)e->made->feature_count));
        TRY(one_feature(e, f, &s));
    }
done:
    gram_arena_release(&arena);
    return status;
}
