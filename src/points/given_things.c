#include "points/given_things.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/text.h>

enum { START, INDEX, VALUE, COLUMNS };

/* ---- making ---- */

static gram_status check(gram_context *context, const gram_given_matrix *m)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    FAIL_IF(m->rows < 1 || m->width < 1 || m->known < 1 || m->known + m->rows > INT32_MAX, context, GRAM_ERROR_DATA,
            "%s: %" PRId64 " x %" PRId64 " numbers are no matrix of a kernel", m->name, m->rows, m->width);
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t j = 0; j < m->width; j++)
            FAIL_IF(!isfinite(m->value[i * m->width + j]), context, GRAM_ERROR_DATA,
                    "%s: row %" PRId64 ", column %" PRId64 " is %s; every entry must be finite", m->name, i + 1, j + 1,
                    gram_number_format(m->value[i * m->width + j], shown));
    for (int64_t i = 0; m->which && i < m->rows; i++)
        FAIL_IF(m->which[i] < 0 || m->which[i] >= m->known, context, GRAM_ERROR_DATA,
                "%s: row %" PRId64 " is number %" PRId64 ", of %" PRId64 " columns", m->name, i + 1, m->which[i] + 1,
                m->known);
    for (int64_t j = 0; m->columns && j < m->width; j++)
        FAIL_IF(m->columns[j] < (j ? m->columns[j - 1] + 1 : 0) || m->columns[j] >= m->known, context, GRAM_ERROR_DATA,
                "%s: column %" PRId64 " cannot be thing %" PRId64, m->name, j + 1, m->columns[j] + 1);
done:
    return status;
}

static gram_status take_columns(gram_context *context, int64_t count, const int64_t *known, gram_objects *shape)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(context, "given matrix", count, sizeof(int32_t), &shape->own[COLUMNS]));
    for (int64_t j = 0; j < count; j++) ((int32_t *)shape->own[COLUMNS])[j] = (int32_t)known[j];
    shape->columns = shape->own[COLUMNS];
done:
    return status;
}

/* Places and numbers of `count` things, and the name after the places. */
static gram_status take_things(gram_context *context, const char *name, int64_t count, gram_objects *shape)
{
    gram_status status = GRAM_OK;
    const size_t length = strlen(name) + 1, bytes = (size_t)(count + 1) * sizeof(int64_t);
    TRY(gram_take(context, "given matrix", (int64_t)(bytes + length), 1, &shape->own[START]));
    TRY(gram_take(context, "given matrix", count, sizeof(int32_t), &shape->own[INDEX]));
    shape->text = memcpy((char *)shape->own[START] + bytes, name, length);
    shape->start = shape->own[START];
    shape->index = shape->own[INDEX];
    shape->count = count;
done:
    return status;
}

gram_status gram_given_create(gram_context *context, const gram_given_matrix *m, gram_objects **objects)
{
    gram_status status = GRAM_OK;
    gram_objects shape = {.kind = GRAM_OBJECT_GIVEN, .d = m->known, .width = m->width, .value = m->value};
    shape.own[VALUE] = m->value;
    shape.alone = m->width == m->known + 1 && m->rows > 1;
    TRY(check(context, m));
    TRY(take_things(context, m->name, m->rows, &shape));
    if (m->columns) TRY(take_columns(context, m->width, m->columns, &shape));
    int64_t *start = shape.own[START];
    int32_t *index = shape.own[INDEX];
    for (int64_t i = 0; i < m->rows; i++) {
        start[i] = i * m->width;
        index[i] = (int32_t)(m->which ? m->which[i] : m->training ? i : m->known + i);
    }
    start[m->rows] = m->rows * m->width;
    return gram_objects_new(context, &shape, objects);
done:
    for (int i = 0; i < GRAM_OBJECT_PARTS; i++) gram_give(context, shape.own[i]);
    return status;
}

gram_status gram_given_name_columns(gram_context *context, gram_objects *o, int64_t count, const int64_t *known)
{
    gram_status status = GRAM_OK;
    if (o->columns || o->width >= o->d) return status;
    FAIL_IF(o->width != count, context, GRAM_ERROR_DATA,
            "%s: %" PRId64 " columns; the model was fitted to %" PRId64 " rows and needs %" PRId64 " of them", o->text,
            o->width, o->d, count);
    TRY(take_columns(context, count, known, o));
done:
    return status;
}

/* ---- symmetry ---- */

gram_status gram_given_symmetrise(gram_context *context, gram_objects *o)
{
    static const double rounding = 1e-6;
    gram_status status = GRAM_OK;
    double *value = o->own[VALUE];
    char shown[2][GRAM_NUMBER_SIZE];
    for (int64_t i = 0; i < o->count; i++)
        for (int64_t j = 0; j < i; j++) {
            const int64_t left = gram_given_column(o, o, i), right = gram_given_column(o, o, j);
            double *a = &value[o->start[i] + right], *b = &value[o->start[j] + left];
            if (*a == *b) continue;
            const double size = sqrt(fabs(value[o->start[i] + left]) * fabs(value[o->start[j] + right]));
            if (!(fabs(*a - *b) <= rounding * size)) {
                status = gram_fail(context, GRAM_ERROR_DATA,
                                   "%s: not symmetric: row %" PRId64 ", column %" PRId64 " is %s, but row %" PRId64
                                   ", column %" PRId64 " is %s",
                                   o->text, i + 1, right + 1, gram_number_format(*a, shown[0]), j + 1, left + 1,
                                   gram_number_format(*b, shown[1]));
                (void)gram_advise(
                    context, status,
                    "A kernel is symmetric: compute it anew, or use (K + K')/2 if that is what you mean.");
                goto done;
            }
            *a = *b = 0.5 * *a + 0.5 * *b;
        }
done:
    return status;
}

/* ---- stores made of others ---- */

static gram_status begin_sharing(gram_context *context, const gram_objects *from, int64_t count, gram_objects *shape)
{
    *shape = (gram_objects){.kind = GRAM_OBJECT_GIVEN,
                            .d = from->d,
                            .width = from->width,
                            .columns = from->columns,
                            .alone = from->alone,
                            .value = from->value};
    return take_things(context, from->text, count, shape);
}

static void share_thing(const gram_objects *from, int64_t i, const gram_objects *shape, int64_t to)
{
    ((int64_t *)shape->own[START])[to] = from->start[i];
    ((int32_t *)shape->own[INDEX])[to] = from->index[i];
}

static gram_status finish_sharing(gram_context *context, const gram_objects *from, const gram_objects *shape,
                                  gram_objects **objects)
{
    ((int64_t *)shape->own[START])[shape->count] = 0;
    const gram_status status = gram_objects_new(context, shape, objects);
    if (status >= 0) (*objects)->parent = gram_objects_retain(from->parent ? from->parent : (gram_objects *)from);
    return status;
}

gram_status gram_given_gather(gram_context *context, const gram_objects *from, int64_t count, const int64_t *which,
                              gram_objects **objects)
{
    gram_status status = GRAM_OK;
    gram_objects shape;
    TRY(begin_sharing(context, from, count, &shape));
    for (int64_t i = 0; i < count; i++) share_thing(from, which[i], &shape, i);
    return finish_sharing(context, from, &shape, objects);
done:
    for (int i = 0; i < GRAM_OBJECT_PARTS; i++) gram_give(context, shape.own[i]);
    return status;
}

gram_status gram_given_join(gram_context *context, const gram_objects *a, const gram_objects *b, gram_objects **objects)
{
    gram_status status = GRAM_OK;
    gram_objects shape = {.count = 0};
    FAIL_IF(a->value != b->value, context, GRAM_ERROR_UNSUPPORTED,
            "rows of %s and of %s: their entries with each other are in neither matrix", a->text, b->text);
    TRY(begin_sharing(context, a, a->count + b->count, &shape));
    for (int64_t i = 0; i < a->count; i++) share_thing(a, i, &shape, i);
    for (int64_t i = 0; i < b->count; i++) share_thing(b, i, &shape, a->count + i);
    return finish_sharing(context, a, &shape, objects);
done:
    for (int i = 0; i < GRAM_OBJECT_PARTS; i++) gram_give(context, shape.own[i]);
    return status;
}

/* ---- entries ---- */

int gram_given_same(const gram_objects *a, int64_t i, const gram_objects *b, int64_t j)
{
    return a->index[i] == b->index[j] && a->d == b->d && (a->index[i] < a->d || a->value == b->value);
}

int64_t gram_given_column(const gram_objects *in, const gram_objects *of, int64_t j)
{
    const int32_t thing = of->index[j];
    int64_t low = 0, high = in->width;
    if (in->d != of->d || (thing >= in->d && in->value != of->value)) return -1;
    if (in->alone && thing >= in->d) return in->d;
    if (!in->columns) return thing < in->width ? thing : -1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (in->columns[middle] < thing)
            low = middle + 1;
        else
            high = middle;
    }
    return low < in->width && in->columns[low] == thing ? low : -1;
}

gram_status gram_given_unknown(gram_context *context, const gram_objects *x, int64_t i, const gram_objects *y,
                               int64_t j)
{
    gram_status status = GRAM_OK;
    if (x->d != y->d)
        return gram_fail(context, GRAM_ERROR_DIMENSION,
                         "%s is a matrix of %" PRId64 " things, %s one of %" PRId64 ": they do not go together",
                         x->text, x->d, y->text, y->d);
    if (x->index[i] < x->d || y->index[j] < y->d)
        return gram_fail(
            context, GRAM_ERROR_DATA, "%s: no column for row %" PRId64 " of the training data, which is needed",
            x->index[i] < x->d ? y->text : x->text, 1 + (int64_t)(x->index[i] < x->d ? x->index[i] : y->index[j]));
    status =
        gram_fail(context, GRAM_ERROR_DATA,
                  "%s: entries of new rows with themselves and with each other are needed, and not there", x->text);
    (void)gram_advise(
        context, status,
        "After the columns of all training rows give one more, the kernel of each new row with itself, or one "
        "for each new row.");
    return status;
}
