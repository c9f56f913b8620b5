/* Laws as functionals of one row. A product is the mean over a box and normal distributions (GRAM_FUNCTIONAL_MEAN), a sample a sum of
 * values; then an embedding is a column of the Gram matrix, and an inner product one entry. */
#include <gram/law.h>

#include <math.h>
#include <string.h>

#include <gram/embedding.h>
#include <gram/functional.h>
#include <gram/matrix.h>
#include <gram/random.h>
#include <gram/text.h>

#include "base/arena.h"
#include "base/context.h"
#include "points/functionals.h"

struct gram_law {
    gram_memory *memory;
    gram_arena arena;
    atomic_int references;
    int64_t d;
    double *low, *high, *deviation; /* of a product, d each: low and high are the mean where it is normal */
    gram_points *sample;            /* else */
    double *weights;                /* of the sample, their sum is 1 */
    gram_points *functional;
};

enum { DRAW_STREAM = 0x6C6177 };

/* ---- making ---- */

static gram_status make(gram_context *context, int64_t d, gram_law **law)
{
    gram_status status = GRAM_OK;
    gram_law *made = NULL;
    TRY(gram_take(context, "law", 1, sizeof *made, (void **)&made));
    *made = (gram_law){.memory = gram_memory_retain(context->memory), .d = d};
    atomic_init(&made->references, 1);
    gram_arena_init(&made->arena, made->memory);
    *law = made;
done:
    return status;
}

static gram_status take_product(gram_context *context, gram_law *law)
{
    gram_status status = GRAM_OK;
    TRY(gram_arena_take(context, &law->arena, "law", 3 * law->d, sizeof *law->low, (void **)&law->low));
    law->high = law->low + law->d;
    law->deviation = law->high + law->d;
done:
    return status;
}

static gram_status seal_product(gram_context *context, gram_law *law)
{
    const gram_functional_term term = {
        .kind = GRAM_FUNCTIONAL_MEAN, .coefficient = 1, .at = law->low, .first = law->high, .second = law->deviation};
    return gram_points_create_functionals(context, 1, law->d, 1, &term, &law->functional);
}

gram_law *gram_law_retain(gram_law *law)
{
    if (law) atomic_fetch_add(&law->references, 1);
    return law;
}

void gram_law_release(gram_law *law)
{
    if (!law || atomic_fetch_sub(&law->references, 1) > 1) return;
    gram_memory *memory = law->memory;
    gram_points_release(law->functional);
    gram_points_release(law->sample);
    gram_arena_release(&law->arena);
    gram_memory_give(memory, law);
    gram_memory_release(memory);
}

/* ---- reading ---- */

static const char *skip(const char *text)
{
    while (*text == ' ' || *text == '\t') text++;
    return text;
}

/* A number and then `end`; NULL if they are not there. */
static const char *read_number(const char *text, char end, double *out)
{
    text = skip(text);
    const size_t used = gram_number_parse(text, strlen(text), out);
    const char *after = skip(text + used);
    return used > 0 && isfinite(*out) && *after == end ? after + 1 : NULL;
}

/* One factor; NULL if it cannot be read. */
static const char *read_factor(const char *text, double *low, double *high, double *deviation)
{
    double a, b;
    text = skip(text);
    const int uniform = strncmp(text, "uniform", 7) == 0, normal = strncmp(text, "normal", 6) == 0;
    if (!uniform && !normal) return NULL;
    text = skip(text + (uniform ? 7 : 6));
    if (*text != '(') return NULL;
    text = read_number(text + 1, ',', &a);
    if (text) text = read_number(text, ')', &b);
    if (!text || (uniform ? !(a < b) : !(b > 0))) return NULL;
    *low = a;
    *high = uniform ? b : a;
    *deviation = uniform ? 0 : sqrt(b);
    return skip(text);
}

static gram_status read_factors(gram_context *context, const char *text, gram_law *law)
{
    gram_status status = GRAM_OK;
    const char *at = text;
    for (int64_t l = 0; l < law->d; l++) {
        FAIL_IF(l > 0 && *at == '\0', context, GRAM_ERROR_ARGUMENT,
                "'%s': it has %lld factor%s, and there are %lld columns", text, (long long)l, l == 1 ? "" : "s",
                (long long)law->d);
        const char *next = read_factor(at, &law->low[l], &law->high[l], &law->deviation[l]);
        FAIL_IF(!next || (*next != '\0' && *next != '*'), context, GRAM_ERROR_ARGUMENT,
                "'%s': it is not a product of uniform(a,b), a < b, and normal(m,v), v > 0", text);
        FAIL_IF(*next == '*' && l == law->d - 1, context, GRAM_ERROR_ARGUMENT,
                "'%s': it has more factors than there are columns, %lld", text, (long long)law->d);
        at = *next == '*' ? next + 1 : next;
    }
done:
    return status;
}

gram_status gram_law_parse(gram_context *context, const char *text, int64_t d, gram_law **law)
{
    gram_status status = GRAM_OK;
    gram_law *made = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!law, context, GRAM_ERROR_ARGUMENT, "law_parse: law is NULL");
    *law = NULL;
    FAIL_IF(!text || d < 1, context, GRAM_ERROR_ARGUMENT, "law_parse: %s", text ? "d is below 1" : "text is NULL");
    TRY(make(context, d, &made));
    TRY(take_product(context, made));
    TRY(read_factors(context, text, made));
    TRY(seal_product(context, made));
    *law = made;
    made = NULL;
done:
    gram_law_release(made);
    return status;
}

/* ---- of points, and of prepared columns ---- */

/* One functional: the sum of the values, each with its weight. */
static gram_status seal_sample(gram_context *context, gram_law *law)
{
    gram_status status = GRAM_OK;
    const int64_t n = law->sample->n, d = law->d;
    gram_functional_term *terms = NULL;
    double *places = NULL;
    TRY(gram_take(context, "law", n, sizeof *terms, (void **)&terms));
    TRY(gram_take(context, "law", n * d, sizeof *places, (void **)&places));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t l = 0; l < d; l++) places[i * d + l] = gram_points_at(law->sample, i, l);
        terms[i] = (gram_functional_term){.coefficient = law->weights[i], .at = places + i * d};
    }
    TRY(gram_points_create_functionals(context, 1, d, n, terms, &law->functional));
done:
    gram_give(context, terms);
    gram_give(context, places);
    return status;
}

gram_status gram_law_of_points(gram_context *context, gram_points *points, const double *weights, gram_law **law)
{
    gram_status status = GRAM_OK;
    gram_law *made = NULL;
    double sum = 0;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!law || !points, context, GRAM_ERROR_ARGUMENT, "law_of_points: %s is NULL", law ? "points" : "law");
    *law = NULL;
    TRY(gram_points_must_be_plain(context, "law_of_points", points));
    const int64_t n = points->n;
    TRY(make(context, points->d, &made));
    made->sample = gram_points_retain(points);
    TRY(gram_arena_take(context, &made->arena, "law", n, sizeof *made->weights, (void **)&made->weights));
    for (int64_t i = 0; i < n; i++) {
        made->weights[i] = weights ? weights[i] : 1;
        FAIL_IF(!(made->weights[i] >= 0) || isinf(made->weights[i]), context, GRAM_ERROR_DATA,
                "law_of_points: weights[%lld] is not a number >= 0", (long long)i);
        sum += made->weights[i];
    }
    FAIL_IF(!(sum > 0), context, GRAM_ERROR_DATA, "law_of_points: the weights are all 0");
    for (int64_t i = 0; i < n; i++) made->weights[i] /= sum;
    TRY(seal_sample(context, made));
    *law = made;
    made = NULL;
done:
    gram_law_release(made);
    return status;
}

gram_status gram_law_prepare(gram_context *context, const gram_law *law, const gram_preparation *preparation,
                             gram_law **prepared)
{
    gram_status status = GRAM_OK;
    gram_law *made = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!law || !preparation || !prepared, context, GRAM_ERROR_ARGUMENT, "law_prepare: an argument is NULL");
    *prepared = NULL;
    FAIL_IF(!law->low, context, GRAM_ERROR_UNSUPPORTED, "law_prepare: the law is that of a sample");
    FAIL_IF(gram_preparation_dimension(preparation) != law->d, context, GRAM_ERROR_DIMENSION,
            "law_prepare: a law of %lld columns, and %lld are prepared", (long long)law->d,
            (long long)gram_preparation_dimension(preparation));
    TRY(make(context, law->d, &made));
    TRY(take_product(context, made));
    for (int64_t l = 0; l < law->d; l++) {
        const double centre = gram_preparation_unit(preparation, l, 0);
        const double unit = gram_preparation_unit(preparation, l, 1) - centre;
        made->low[l] = (law->low[l] - centre) / unit;
        made->high[l] = (law->high[l] - centre) / unit;
        made->deviation[l] = law->deviation[l] / unit;
    }
    TRY(seal_product(context, made));
    *prepared = made;
    made = NULL;
done:
    gram_law_release(made);
    return status;
}

/* ---- what it is ---- */

int64_t gram_law_dimension(const gram_law *law)
{
    return law->d;
}

const gram_points *gram_law_functional(const gram_law *law)
{
    return law->functional;
}

gram_status gram_law_embedding(gram_context *context, gram_kernel *kernel, const gram_law *law,
                               gram_function **embedding)
{
    const double one = 1;
    if (!context || !law) return GRAM_ERROR_ARGUMENT;
    if (law->sample) return gram_embedding_create(context, kernel, law->sample, law->weights, embedding);
    return gram_function_create(context, kernel, law->functional, 1, &one, 1, NULL, embedding);
}

gram_status gram_law_embed(gram_context *context, const gram_kernel *kernel, const gram_law *law,
                           const gram_points *points, double *out)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!law || !points || !out, context, GRAM_ERROR_ARGUMENT, "law_embed: an argument is NULL");
    FAIL_IF(points->d != law->d, context, GRAM_ERROR_DIMENSION, "law_embed: points of %lld columns, a law of %lld",
            (long long)points->d, (long long)law->d);
    TRY(gram_matrix(context, kernel, points, law->functional, out, 1));
done:
    return status;
}

gram_status gram_law_inner(gram_context *context, const gram_kernel *kernel, const gram_law *p, const gram_law *q,
                           double *out)
{
    if (!context || !p || !q) return GRAM_ERROR_ARGUMENT;
    return gram_law_embed(context, kernel, p, q->functional, out);
}

/* The row of a sample where a uniform number falls. */
static int64_t pick(const gram_law *law, double u)
{
    const int64_t n = law->sample->n;
    int64_t i = 0;
    for (double sum = law->weights[0]; u > sum && i + 1 < n; sum += law->weights[++i]) continue;
    return i;
}

gram_status gram_law_draw(gram_context *context, const gram_law *law, uint64_t stream, int64_t n, double *out)
{
    if (!context || !law || !out || n < 0) return GRAM_ERROR_ARGUMENT;
    const gram_random random = {context->seed, DRAW_STREAM + (stream << 24)};
    for (int64_t i = 0; i < n; i++) {
        double u;
        gram_random_uniform(random, (uint64_t)i, 1, &u);
        const int64_t row = law->sample ? pick(law, u) : 0;
        for (int64_t l = 0; l < law->d; l++) {
            double *at = &out[i * law->d + l];
            const uint64_t number = (uint64_t)(n + i * law->d + l);
            if (law->sample) {
                *at = gram_points_at(law->sample, row, l);
            } else if (law->deviation[l] > 0) {
                gram_random_normal(random, number, 1, at);
                *at = law->low[l] + law->deviation[l] * *at;
            } else {
                gram_random_uniform(random, number, 1, at);
                *at = law->low[l] + (law->high[l] - law->low[l]) * *at;
            }
        }
    }
    return GRAM_OK;
}
