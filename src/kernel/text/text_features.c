#include "kernel/text/text_features.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sweep.h"
#include "kernel/text/feature_sink.h"
#include <gram/text.h>

/* ---- all texts of a store ---- */

/* What was made of a store for one kernel: features by text, sorted by key, and the keys that there are. */
struct gram_derived {
    struct gram_derived *next;
    const gram_kernel_type *type;
    double par[GRAM_MAX_SPECS];
    gram_objects *rows; /* indices are places among the keys */
    uint64_t *keys;
};

typedef struct making {
    const gram_kernel_type *type;
    const double *par;
    const gram_objects *texts;
    gram_memory *memory;
    gram_feature **made;     /* of each text */
    int64_t *count, most;    /* features of each text, and the most of one */
    _Atomic(size_t) lacking; /* bytes that one of them could not have */
} making;

static gram_status make_text(void *argument, const gram_worker *worker)
{
    making *m = argument;
    const int64_t i = worker->task, length = m->texts->start[i + 1] - m->texts->start[i];
    gram_feature_sink sink = {.memory = m->memory};
    uint64_t *code = NULL;
    gram_status status = gram_memory_take(m->memory, (size_t)(length + 1) * sizeof *code, (void **)&code);
    if (status < 0) {
        atomic_store(&m->lacking, (size_t)(length + 1) * sizeof *code);
        return status;
    }
    const gram_symbols symbols = gram_symbols_read(m->type->sets       ? GRAM_OVER_ITEMS
                                                   : m->type->over < 0 ? GRAM_OVER_BYTES
                                                                       : (int)m->par[m->type->over],
                                                   m->texts->text + m->texts->start[i], length, code);
    m->type->features(m->par, &symbols, &sink);
    gram_memory_give(m->memory, code);
    status = gram_feature_sink_empty(&sink, &m->made[i], &m->count[i]);
    if (status < 0) atomic_store(&m->lacking, sink.lacking);
    return status;
}

/* ---- keys become columns ---- */

/* The tasks have no context to say so. */
static gram_status lacks_memory(gram_context *context, gram_status status, size_t bytes)
{
    char needed[GRAM_BYTES_SIZE], budget[GRAM_BYTES_SIZE];
    gram_bytes_format(bytes, needed);
    gram_bytes_format(gram_memory_budget(context->memory), budget);
    if (status == GRAM_ERROR_MEMORY)
        return gram_fail(context, status, "features of texts: the system has no %s left", needed);
    return gram_fail(context, status, "features of texts: needs %s, more than what is left of a memory budget of %s",
                     needed, budget);
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* All keys that there are, ascending, and in `columns` the place of each among them. They are few beside the features of all texts if texts are alike. */
static gram_status list_keys(gram_context *context, const making *m, gram_feature_sink *columns, uint64_t **keys)
{
    gram_status status = GRAM_OK;
    int64_t kept = 0;
    for (int64_t i = 0; i < m->texts->count; i++)
        for (int64_t k = 0; k < m->count[i]; k++) gram_feature_add(columns, m->made[i][k].key, 0);
    if (columns->status < 0) TRY(lacks_memory(context, columns->status, columns->lacking));
    TRY(gram_take(context, "features of texts", columns->used + 1, sizeof **keys, (void **)keys));
    for (int64_t k = 0; k < columns->size; k++)
        if (columns->table[k].key) (*keys)[kept++] = columns->table[k].key;
    (*keys)[kept] = 0; /* which no feature has */
    if (kept > 0) qsort(*keys, (size_t)kept, sizeof **keys, compare_keys);
    for (int64_t k = 0; k < kept; k++) gram_feature_find(columns, (*keys)[k])->value = (double)k;
done:
    return status;
}

/* The last failure is about text i: file and line go before it. */
static void name_text(gram_context *context, gram_status status, const gram_objects *texts, int64_t i)
{
    char message[GRAM_MESSAGE_SIZE], advice[GRAM_MESSAGE_SIZE];
    if (!texts->line || texts->line[i] == 0) return;
    (void)snprintf(message, sizeof message, "%s", gram_context_message(context));
    (void)snprintf(advice, sizeof advice, "%s", gram_context_advice(context));
    if (texts->line[i] > 0)
        (void)gram_fail(context, status, "%s:%" PRId64 ": %s", texts->file, texts->line[i], message);
    else
        (void)gram_fail(context, status, "%s: row %" PRId64 ", %s", texts->file, -texts->line[i], message);
    (void)gram_advise(context, status, advice);
}

static gram_status no_features(gram_context *context, const making *m, int64_t i)
{
    enum { SHOWN = 40 };
    const int64_t length = m->texts->start[i + 1] - m->texts->start[i];
    (void)gram_fail(context, GRAM_ERROR_DOMAIN,
                    "%s: the text '%.*s'%s has no feature, and so no length to divide by: it is too short",
                    m->type->name, (int)(length < SHOWN ? length : SHOWN), m->texts->text + m->texts->start[i],
                    length > SHOWN ? "..." : "");
    (void)gram_advise(context, GRAM_ERROR_DOMAIN,
                      "Use a smaller k, leave such rows out, or scaled=no, which makes them 0.");
    name_text(context, GRAM_ERROR_DOMAIN, m->texts, i);
    return GRAM_ERROR_DOMAIN;
}

/* ---- features become sparse rows ---- */

enum { WALK = 16 }; /* a row of at least one in so many columns is put in order by walking over all of them */

typedef struct ordering {
    const making *m;
    const gram_feature_sink *columns;
    int64_t d;
    const int64_t *start;
    int32_t *index;
    double *value, *square; /* NULL: not scaled */
} ordering;

static int compare_columns(const void *a, const void *b)
{
    const double x = ((const gram_feature *)a)->value, y = ((const gram_feature *)b)->value;
    return x < y ? -1 : x > y;
}

/* The row in the order of the columns. */
static void put_in_order(const ordering *o, int64_t i, double *all)
{
    gram_feature *features = o->m->made[i];
    const int64_t count = o->m->count[i];
    int32_t *index = o->index + o->start[i];
    double *value = o->value + o->start[i];
    if (all) memset(all, 0, (size_t)o->d * sizeof *all);
    for (int64_t k = 0; k < count; k++) {
        const double own = features[k].value, column = gram_feature_find(o->columns, features[k].key)->value;
        if (all) all[(int64_t)column] = own;
        features[k].value = column;
        memcpy(&features[k].key, &own, sizeof own); /* the key is not needed any more */
    }
    for (int64_t l = 0, at = 0; all && at < count;
         l++) { /* without a jump: whether a column is there is anybody's guess */
        index[at] = (int32_t)l;
        value[at] = all[l];
        at += all[l] != 0;
    }
    if (all || count == 0) return;
    qsort(features, (size_t)count, sizeof *features, compare_columns);
    for (int64_t k = 0; k < count; k++) {
        index[k] = (int32_t)features[k].value;
        memcpy(&value[k], &features[k].key, sizeof *value);
    }
}

/* |x|^2. What is far from 1 is multiplied by a power of two, which changes nothing but that no square is 0 or infinite. */
static double square_of(int64_t count, double *value)
{
    enum { FAR = 100 };
    double largest = 0, sum = 0;
    int exponent;
    for (int64_t k = 0; k < count; k++) largest = fabs(value[k]) > largest ? fabs(value[k]) : largest;
    (void)frexp(largest, &exponent);
    for (int64_t k = 0; abs(exponent) > FAR && k < count; k++) value[k] = ldexp(value[k], -exponent);
    for (int64_t k = 0; k < count; k++) sum += value[k] * value[k];
    return sum;
}

static gram_status order_text(void *argument, const gram_worker *worker)
{
    const ordering *o = argument;
    const int64_t i = worker->task;
    put_in_order(o, i, WALK * o->m->count[i] >= o->d ? worker->scratch : NULL);
    gram_memory_give(o->m->memory, o->m->made[i]);
    o->m->made[i] = NULL;
    if (o->square) o->square[i] = square_of(o->m->count[i], o->value + o->start[i]);
    return GRAM_OK;
}

/* Room for `count` rows with `total` values, in shape->own. */
static gram_status take_rows(gram_context *context, int64_t total, int squares, gram_objects *shape)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(context, "features of texts", shape->count + 1, sizeof(int64_t), &shape->own[0]));
    TRY(gram_take(context, "features of texts", total + 1, sizeof(int32_t), &shape->own[1]));
    TRY(gram_take(context, "features of texts", total + 1, sizeof(double), &shape->own[2]));
    if (squares) TRY(gram_take(context, "features of texts", shape->count, sizeof(double), &shape->own[3]));
    shape->start = shape->own[0];
    shape->index = shape->own[1];
    shape->value = shape->own[2];
    shape->square = shape->own[3];
done:
    return status;
}

static void give_rows(gram_context *context, gram_objects *shape)
{
    for (int i = 0; i < GRAM_OBJECT_PARTS; i++) gram_give(context, shape->own[i]);
}

static gram_status order_rows(gram_context *context, const making *m, const gram_feature_sink *columns,
                              gram_objects *shape)
{
    gram_status status = GRAM_OK;
    int64_t *start = shape->own[0], total = 0;
    for (int64_t i = 0; i < m->texts->count; i++) {
        start[i] = total;
        total += m->count[i];
        if (shape->square && m->count[i] == 0) TRY(no_features(context, m, i));
    }
    start[m->texts->count] = total;
    ordering job = {m, columns, shape->d, start, shape->own[1], shape->own[2], shape->own[3]};
    const gram_sweep sweep = {.what = "features of texts",
                              .tasks = m->texts->count,
                              .scratch_bytes = WALK * m->most >= shape->d ? (size_t)shape->d * sizeof(double) : 0,
                              .run = order_text,
                              .argument = &job};
    TRY(gram_sweep_run(context, &sweep));
done:
    return status;
}

static gram_status fill_rows(gram_context *context, const making *m, struct gram_derived *derived)
{
    gram_status status = GRAM_OK;
    gram_feature_sink columns = {.memory = context->memory};
    gram_objects shape = {.kind = GRAM_OBJECT_SPARSE, .count = m->texts->count};
    int64_t total = 0;
    for (int64_t i = 0; i < m->texts->count; i++) total += m->count[i];
    TRY(list_keys(context, m, &columns, &derived->keys));
    /* one more column for what other texts have beside (translate), and where there would be none */
    shape.d = columns.used + (columns.used < 1 || m->type->sets);
    FAIL_IF(shape.d > INT32_MAX, context, GRAM_ERROR_OVERFLOW, "%s: more features than can be told apart",
            m->type->name);
    TRY(take_rows(context, total, !m->type->sets && m->par[m->type->scaled] != 0, &shape));
    TRY(order_rows(context, m, &columns, &shape));
    gram_memory_give(context->memory, columns.table);
    return gram_objects_new(context, &shape, &derived->rows);
done:
    gram_memory_give(context->memory, columns.table);
    give_rows(context, &shape);
    return status;
}

static void free_derived(gram_memory *memory, struct gram_derived *derived)
{
    if (!derived) return;
    gram_objects_release(derived->rows);
    gram_memory_give(memory, derived->keys);
    gram_memory_give(memory, derived);
}

static void free_all(gram_memory *memory, void *first)
{
    for (struct gram_derived *one = first; one;) {
        struct gram_derived *next = one->next;
        free_derived(memory, one);
        one = next;
    }
}

static gram_status make(gram_context *context, const gram_kernel_type *type, const double *par, gram_objects *texts,
                        struct gram_derived **derived)
{
    gram_status status = GRAM_OK;
    making m = {.type = type, .par = par, .texts = texts, .memory = context->memory};
    struct gram_derived *made = NULL;
    for (int64_t i = 0; type->check_text && i < texts->count; i++) {
        status = type->check_text(context, texts->text + texts->start[i], texts->start[i + 1] - texts->start[i]);
        if (status < 0) name_text(context, status, texts, i);
        TRY(status);
    }
    TRY(gram_take(context, "features of texts", texts->count, sizeof *m.made, (void **)&m.made));
    memset(m.made, 0, (size_t)texts->count * sizeof *m.made);
    TRY(gram_take(context, "features of texts", texts->count, sizeof *m.count, (void **)&m.count));
    TRY(gram_take(context, "features of texts", 1, sizeof *made, (void **)&made));
    *made = (struct gram_derived){.type = type};
    memcpy(made->par, par, (size_t)type->spec_count * sizeof *par);
    const gram_sweep sweep = {.what = "features of texts", .tasks = texts->count, .run = make_text, .argument = &m};
    status = gram_sweep_run(context, &sweep);
    if (status == GRAM_ERROR_MEMORY || status == GRAM_ERROR_BUDGET)
        (void)lacks_memory(context, status, atomic_load(&m.lacking));
    TRY(status);
    for (int64_t i = 0; i < texts->count; i++) m.most = m.count[i] > m.most ? m.count[i] : m.most;
    TRY(fill_rows(context, &m, made));
    *derived = made;
    made = NULL;
done:
    for (int64_t i = 0; m.made && i < texts->count; i++) gram_give(context, m.made[i]);
    gram_give(context, m.made);
    gram_give(context, m.count);
    free_derived(context->memory, made);
    return status;
}

/* What was made before, or now; it is the store's. */
static gram_status derive(gram_context *context, const gram_kernel_type *type, const double *par, gram_objects *texts,
                          const struct gram_derived **derived)
{
    gram_status status = GRAM_OK;
    struct gram_derived *made = NULL;
    for (struct gram_derived *one = atomic_load(&texts->derived); one; one = one->next) {
        if (one->type != type || memcmp(one->par, par, (size_t)type->spec_count * sizeof *par) != 0) continue;
        *derived = one;
        return status;
    }
    TRY(make(context, type, par, texts, &made));
    texts->forget = free_all;
    void *first = atomic_load(&texts->derived);
    do made->next = first;
    while (!atomic_compare_exchange_weak(&texts->derived, &first, made));
    *derived = made;
done:
    return status;
}

/* The column of each key of `from` among those of `to`, both of which ascend; -1: it is not there. */
static gram_status match_keys(gram_context *context, const struct gram_derived *from, const struct gram_derived *to,
                              int32_t **column)
{
    gram_status status = GRAM_OK;
    const int64_t keys = to->rows->d - to->type->sets;
    TRY(gram_take(context, "features of texts", from->rows->d, sizeof **column, (void **)column));
    for (int64_t k = 0, at = 0; k < from->rows->d; k++) {
        while (at < keys && to->keys[at] < from->keys[k]) at++;
        (*column)[k] = at < keys && to->keys[at] == from->keys[k] ? (int32_t)at : -1;
    }
done:
    return status;
}

/* Columns ascend in both. Of sets what is left out counts in their size: it becomes the last column, which no other text has. */
static gram_status translate(gram_context *context, const struct gram_derived *from, const struct gram_derived *to,
                             gram_objects **rows)
{
    gram_status status = GRAM_OK;
    const gram_objects *own = from->rows;
    const int sets = to->type->sets;
    gram_objects shape = {.kind = GRAM_OBJECT_SPARSE, .count = own->count, .d = to->rows->d};
    int32_t *columns = NULL;
    TRY(match_keys(context, from, to, &columns));
    TRY(take_rows(context, own->start[own->count] + own->count, own->square != NULL, &shape));
    int64_t *start = shape.own[0], at = 0;
    int32_t *index = shape.own[1];
    double *value = shape.own[2];
    if (own->square) memcpy(shape.own[3], own->square, (size_t)own->count * sizeof(double));
    for (int64_t i = 0; i < own->count; i++) {
        double beside = 0;
        start[i] = at;
        for (int64_t k = own->start[i]; k < own->start[i + 1]; k++) {
            const int32_t column = columns[own->index[k]];
            if (column < 0) beside += own->value[k] * own->value[k];
            if (column < 0) continue;
            index[at] = column;
            value[at++] = own->value[k];
        }
        if (!sets || beside == 0) continue;
        index[at] = (int32_t)(shape.d - 1);
        value[at++] = sqrt(beside);
    }
    start[own->count] = at;
    gram_give(context, columns);
    return gram_objects_new(context, &shape, rows);
done:
    gram_give(context, columns);
    give_rows(context, &shape);
    return status;
}

gram_status gram_text_rows(gram_context *context, const gram_kernel_type *type, const double *par, gram_objects *x,
                           gram_objects *y, gram_objects **x_rows, gram_objects **y_rows)
{
    gram_status status = GRAM_OK;
    const struct gram_derived *of_x, *of_y;
    *x_rows = *y_rows = NULL;
    TRY(derive(context, type, par, x, &of_x));
    TRY(derive(context, type, par, y, &of_y));
    if (x != y) TRY(translate(context, of_y, of_x, y_rows));
    *x_rows = gram_objects_retain(of_x->rows);
    if (x == y) *y_rows = gram_objects_retain(of_x->rows);
done:
    return status;
}
