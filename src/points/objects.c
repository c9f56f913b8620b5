#include "points/objects.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "points/given_things.h"

const char *gram_object_kind_name(gram_object_kind kind)
{
    static const char *const names[] = {"numbers", "sparse rows", "texts", "rows of a given matrix", "bags"};
    return kind >= 0 && kind < GRAM_OBJECT_KINDS ? names[kind] : "?";
}

gram_status gram_objects_new(gram_context *context, const gram_objects *shape, gram_objects **objects)
{
    gram_objects *made = NULL;
    const gram_status status = gram_take(context, "objects", 1, sizeof *made, (void **)&made);
    if (status < 0) {
        for (int i = 0; i < GRAM_OBJECT_PARTS; i++) gram_give(context, shape->own[i]);
        return status;
    }
    *made = *shape;
    atomic_init(&made->references, 1);
    atomic_init(&made->derived, NULL);
    made->forget = NULL;
    made->memory = gram_memory_retain(context->memory);
    *objects = made;
    return status;
}

gram_objects *gram_objects_retain(gram_objects *objects)
{
    if (objects) atomic_fetch_add(&objects->references, 1);
    return objects;
}

void gram_objects_release(gram_objects *objects)
{
    if (!objects || atomic_fetch_sub(&objects->references, 1) != 1) return;
    gram_memory *memory = objects->memory;
    for (int i = 0; i < GRAM_OBJECT_PARTS; i++) gram_memory_give(memory, objects->own[i]);
    if (objects->forget) objects->forget(memory, atomic_load(&objects->derived));
    gram_objects_release(objects->parent);
    gram_memory_give(memory, objects);
    gram_memory_release(memory);
}

/* ---- checks ---- */

static gram_status check_row(gram_context *context, const char *who, const gram_objects *o, int64_t i)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    for (int64_t k = o->start[i]; k < o->start[i + 1]; k++) {
        FAIL_IF(o->index[k] < 0 || o->index[k] >= o->d, context, GRAM_ERROR_DATA,
                "%s: row %" PRId64 ": index %" PRId32 " is not among the %" PRId64 " columns", who, i, o->index[k],
                o->d);
        FAIL_IF(k > o->start[i] && o->index[k] <= o->index[k - 1], context, GRAM_ERROR_DATA,
                "%s: row %" PRId64 ": index %" PRId32 " after %" PRId32
                "; indices must ascend, and none may be repeated",
                who, i, o->index[k], o->index[k - 1]);
        if (!isfinite(o->value[k]))
            TRY(gram_fail_place(context, GRAM_ERROR_DATA, i, -1,
                                "%s: row %" PRId64 ", index %" PRId32 " is %s; every value must be finite", who, i,
                                o->index[k], gram_number_format(o->value[k], shown)));
    }
done:
    return status;
}

gram_status gram_objects_create_sparse(gram_context *context, const char *who, int64_t count, int64_t d,
                                       const int64_t *start, const int32_t *index, const double *value,
                                       gram_objects **objects)
{
    gram_status status = GRAM_OK;
    const gram_objects shape = {
        .kind = GRAM_OBJECT_SPARSE, .count = count, .d = d, .start = start, .index = index, .value = value};
    FAIL_IF(count < 1, context, GRAM_ERROR_ARGUMENT, "%s: n = %" PRId64 ", need at least one row", who, count);
    FAIL_IF(d < 1 || d > INT32_MAX, context, GRAM_ERROR_ARGUMENT, "%s: d = %" PRId64 ", need 1 to %d columns", who, d,
            INT32_MAX);
    FAIL_IF(!start, context, GRAM_ERROR_ARGUMENT, "%s: start is NULL", who);
    FAIL_IF(start[0] != 0, context, GRAM_ERROR_ARGUMENT, "%s: start[0] = %" PRId64 ", need 0", who, start[0]);
    for (int64_t i = 0; i < count; i++)
        FAIL_IF(start[i + 1] < start[i], context, GRAM_ERROR_ARGUMENT,
                "%s: start[%" PRId64 "] = %" PRId64 " is less than the one before it", who, i + 1, start[i + 1]);
    FAIL_IF(start[count] > 0 && (!index || !value), context, GRAM_ERROR_ARGUMENT, "%s: %s is NULL", who,
            index ? "value" : "index");
    for (int64_t i = 0; i < count; i++) TRY(check_row(context, who, &shape, i));
    TRY(gram_objects_new(context, &shape, objects));
done:
    return status;
}

/* ---- copies ---- */

/* Room for so many things that have so much together; the arrays are in own[] too. */
static gram_status make_room(gram_context *context, const gram_objects *like, int weighted, int64_t count, int64_t size,
                             gram_objects *shape)
{
    gram_status status = GRAM_OK;
    const int64_t room = size > 0 ? size : 1;
    *shape = (gram_objects){.kind = like->kind, .count = count, .d = like->d};
    TRY(gram_take(context, "objects", count + 1, sizeof(int64_t), &shape->own[0]));
    if (like->kind == GRAM_OBJECT_SPARSE) {
        TRY(gram_take(context, "objects", room, sizeof(int32_t), &shape->own[1]));
        TRY(gram_take(context, "objects", room, sizeof(double), &shape->own[2]));
    } else if (like->kind == GRAM_OBJECT_BAG) {
        if (weighted) TRY(gram_take(context, "objects", room, sizeof(double), &shape->own[1]));
        TRY(gram_take(context, "objects", room * like->d, sizeof(double), &shape->own[2]));
    } else {
        TRY(gram_take(context, "objects", room, 1, &shape->own[1]));
    }
done:
    shape->start = shape->own[0];
    shape->index = like->kind == GRAM_OBJECT_SPARSE ? shape->own[1] : NULL;
    shape->value = shape->own[2];
    shape->weight = like->kind == GRAM_OBJECT_BAG ? shape->own[1] : NULL;
    shape->text = like->kind == GRAM_OBJECT_TEXT ? shape->own[1] : NULL;
    return status;
}

/* Thing i becomes thing number `to`, which starts where the one before it ends. */
static void copy_thing(const gram_objects *from, int64_t i, const gram_objects *shape, int64_t to)
{
    int64_t *start = shape->own[0];
    const int64_t size = from->start[i + 1] - from->start[i], at = start[to];
    start[to + 1] = at + size;
    if (size == 0) return;
    if (from->kind == GRAM_OBJECT_TEXT) {
        memcpy((char *)shape->own[1] + at, from->text + from->start[i], (size_t)size);
        return;
    }
    if (from->kind == GRAM_OBJECT_BAG) {
        const int64_t d = from->d;
        double *weight = shape->own[1];
        for (int64_t k = 0; weight && k < size; k++)
            weight[at + k] = from->weight ? from->weight[from->start[i] + k] : 1;
        memcpy((double *)shape->own[2] + at * d, from->value + from->start[i] * d, (size_t)(size * d) * sizeof(double));
        return;
    }
    memcpy((int32_t *)shape->own[1] + at, from->index + from->start[i], (size_t)size * sizeof(int32_t));
    memcpy((double *)shape->own[2] + at, from->value + from->start[i], (size_t)size * sizeof(double));
}

gram_status gram_objects_gather(gram_context *context, const gram_objects *from, int64_t count, const int64_t *which,
                                gram_objects **objects)
{
    gram_status status = GRAM_OK;
    gram_objects shape = {0};
    int64_t size = 0;
    if (from->kind == GRAM_OBJECT_GIVEN) return gram_given_gather(context, from, count, which, objects);
    for (int64_t i = 0; i < count; i++) size += from->start[which[i] + 1] - from->start[which[i]];
    TRY(make_room(context, from, from->weight != NULL, count, size, &shape));
    ((int64_t *)shape.own[0])[0] = 0;
    for (int64_t i = 0; i < count; i++) copy_thing(from, which[i], &shape, i);
    return gram_objects_new(context, &shape, objects);
done:
    for (int i = 0; i < 3; i++) gram_give(context, shape.own[i]);
    return status;
}

gram_status gram_objects_join(gram_context *context, const gram_objects *a, const gram_objects *b,
                              gram_objects **objects)
{
    gram_status status = GRAM_OK;
    gram_objects shape = {0};
    FAIL_IF(a->kind != b->kind || a->d != b->d, context, GRAM_ERROR_DIMENSION,
            "%s of %" PRId64 " columns do not go together with %s of %" PRId64, gram_object_kind_name(a->kind), a->d,
            gram_object_kind_name(b->kind), b->d);
    if (a->kind == GRAM_OBJECT_GIVEN) return gram_given_join(context, a, b, objects);
    TRY(make_room(context, a, a->weight || b->weight, a->count + b->count, a->start[a->count] + b->start[b->count],
                  &shape));
    ((int64_t *)shape.own[0])[0] = 0;
    for (int64_t i = 0; i < a->count; i++) copy_thing(a, i, &shape, i);
    for (int64_t i = 0; i < b->count; i++) copy_thing(b, i, &shape, a->count + i);
    return gram_objects_new(context, &shape, objects);
done:
    for (int i = 0; i < 3; i++) gram_give(context, shape.own[i]);
    return status;
}

/* ---- comparing ---- */

static int same_weights(const gram_objects *a, int64_t i, const gram_objects *b, int64_t j)
{
    const double *one = a->weight ? a->weight + a->start[i] : NULL, *other = b->weight ? b->weight + b->start[j] : NULL;
    const int64_t size = a->start[i + 1] - a->start[i];
    return (!one && !other) || (one && other && memcmp(one, other, (size_t)size * sizeof *one) == 0);
}

int gram_objects_same(const gram_objects *a, int64_t i, const gram_objects *b, int64_t j)
{
    if (a == b && i == j) return 1;
    if (a->kind == GRAM_OBJECT_GIVEN) return gram_given_same(a, i, b, j);
    const int64_t size = a->start[i + 1] - a->start[i];
    if (size != b->start[j + 1] - b->start[j]) return 0;
    if (size == 0) return 1;
    if (a->kind == GRAM_OBJECT_TEXT) return memcmp(a->text + a->start[i], b->text + b->start[j], (size_t)size) == 0;
    if (a->kind == GRAM_OBJECT_BAG)
        return a->d == b->d && same_weights(a, i, b, j) &&
               memcmp(a->value + a->start[i] * a->d, b->value + b->start[j] * b->d,
                      (size_t)(size * a->d) * sizeof *a->value) == 0;
    return memcmp(a->index + a->start[i], b->index + b->start[j], (size_t)size * sizeof *a->index) == 0 &&
           memcmp(a->value + a->start[i], b->value + b->start[j], (size_t)size * sizeof *a->value) == 0;
}

static double term(double difference, int l1)
{
    return l1 ? fabs(difference) : difference * difference;
}

double gram_sparse_distance(const gram_objects *a, int64_t i, const gram_objects *b, int64_t j, int l1)
{
    int64_t p = a->start[i], q = b->start[j];
    const int64_t p_end = a->start[i + 1], q_end = b->start[j + 1];
    double sum = 0;
    while (p < p_end && q < q_end) {
        const int32_t left = a->index[p], right = b->index[q];
        const double x = left <= right ? a->value[p] : 0, y = right <= left ? b->value[q] : 0;
        sum += term(x - y, l1);
        p += left <= right;
        q += right <= left;
    }
    for (; p < p_end; p++) sum += term(a->value[p], l1);
    for (; q < q_end; q++) sum += term(b->value[q], l1);
    return sum;
}
