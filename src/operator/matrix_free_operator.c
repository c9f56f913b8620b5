/* K(X, X) made anew in each product. The points are packed once, and again if V is an indicator: a matrix of many columns of which each
 * row has at most one that is not 0, such as the clusters of k-means. Then the points are sorted by that column, since the engine
 * multiplies panels of one column several times faster than with all. */
#include "operator/operator.h"

#include <string.h>

#include "points/points.h"
#include "tile/product.h"

typedef struct matrix_free {
    gram_operator base;
    gram_engine *engine;
    gram_kernel *kernel;
    gram_points *x;
} matrix_free;

/* ---- indicators ---- */

/* The rows by their column, in order[0 ..]; 0 if V is no indicator. next: columns + 1 numbers for scratch. */
static int sort_rows(int64_t n, int64_t columns, const double *v, int64_t ldv, int64_t *next, int64_t *order)
{
    int64_t *const column = order + n;
    memset(next, 0, (size_t)(columns + 1) * sizeof *next);
    for (int64_t i = 0; i < n; i++) {
        int64_t found = 0;
        column[i] = 0;
        for (int64_t c = 0; c < columns; c++)
            if (v[i * ldv + c] != 0) column[i] = c, found++;
        if (found > 1) return 0;
        next[column[i] + 1]++;
    }
    for (int64_t c = 0; c < columns; c++) next[c + 1] += next[c];
    for (int64_t i = 0; i < n; i++) order[next[column[i]]++] = i;
    return 1;
}

/* Rows of a table in another order. */
static void gather(int64_t n, const int64_t *order, size_t row, const void *from, size_t from_row, void *to)
{
    for (int64_t i = 0; i < n; i++)
        memcpy((char *)to + (size_t)i * row, (const char *)from + (size_t)order[i] * from_row, row);
}

static gram_status apply_sorted(gram_context *context, const matrix_free *self, const int64_t *order, int64_t columns,
                                const double *v, int64_t ldv, double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    const gram_points *x = self->x;
    const int64_t n = x->n, d = x->d;
    const size_t real = x->f64 ? sizeof(double) : sizeof(float);
    gram_points *sorted = NULL;
    gram_engine *engine = NULL;
    void *data = NULL;
    double *v_sorted = NULL, *product = NULL;
    TRY(gram_take(context, "operator_apply: points", n * d, real, &data));
    TRY(gram_take(context, "operator_apply: V", n * columns, sizeof(double), (void **)&v_sorted));
    TRY(gram_take(context, "operator_apply: K V", n * columns, sizeof(double), (void **)&product));
    gather(n, order, (size_t)d * real, x->f64 ? (const void *)x->f64 : x->f32, (size_t)x->ld * real, data);
    gather(n, order, (size_t)columns * sizeof(double), v, (size_t)ldv * sizeof(double), v_sorted);
    TRY(x->f64 ? gram_points_create_f64(context, n, d, data, d, &sorted)
               : gram_points_create_f32(context, n, d, data, d, &sorted));
    TRY(gram_points_set_objects(context, x->objects, &sorted));
    const gram_engine_request request = {.kernel = self->kernel, .x = sorted};
    TRY(gram_engine_create(context, &request, &engine));
    TRY(gram_engine_product(context, engine, columns, v_sorted, columns, product, columns));
    for (int64_t i = 0; i < n; i++)
        memcpy(out + order[i] * ldo, product + i * columns, (size_t)columns * sizeof(double));
done:
    gram_engine_destroy(engine);
    gram_points_release(sorted);
    gram_give(context, product);
    gram_give(context, v_sorted);
    gram_give(context, data);
    return status;
}

/* Entries of a given matrix go by the numbers of the points, which sorting would change. */
static int has_given_entries(const gram_engine *engine)
{
    for (int i = 0; i < engine->node_count; i++)
        if (engine->nodes[i].node == GRAM_NODE_LEAF && engine->nodes[i].type->form == GRAM_FORM_INDEX) return 1;
    return 0;
}

static gram_status apply(gram_context *context, const gram_operator *op, int64_t columns, const double *v, int64_t ldv,
                         double *out, int64_t ldo)
{
    enum { MANY_COLUMNS = 6, MANY_POINTS = 480 };
    gram_status status = GRAM_OK;
    const matrix_free *self = (const matrix_free *)op;
    int64_t *order = NULL;
    if (columns < MANY_COLUMNS || op->n < MANY_POINTS || has_given_entries(self->engine))
        return gram_engine_product(context, self->engine, columns, v, ldv, out, ldo);
    TRY(gram_take(context, "operator_apply: order", 2 * op->n + columns + 1, sizeof *order, (void **)&order));
    if (sort_rows(op->n, columns, v, ldv, order + 2 * op->n, order))
        TRY(apply_sorted(context, self, order, columns, v, ldv, out, ldo));
    else
        TRY(gram_engine_product(context, self->engine, columns, v, ldv, out, ldo));
done:
    gram_give(context, order);
    return status;
}

/* ---- the rest ---- */

static gram_status diagonal(gram_context *context, const gram_operator *op, double *out)
{
    const matrix_free *self = (const matrix_free *)op;
    return gram_matrix_diagonal(context, self->kernel, self->x, out);
}

static gram_status columns(gram_context *context, const gram_operator *op, int64_t count, const int64_t *index,
                           double *out, int64_t ld)
{
    const matrix_free *self = (const matrix_free *)op;
    return gram_matrix_columns(context, self->kernel, self->x, count, index, out, ld);
}

/* The points of the index are packed anew, which costs nothing beside the pairs. */
static gram_status apply_columns(gram_context *context, const gram_operator *op, int64_t count, const int64_t *index,
                                 int64_t columns_of_v, const double *v, int64_t ldv, double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    const matrix_free *self = (const matrix_free *)op;
    gram_engine *engine = NULL;
    const gram_engine_request request = {.kernel = self->kernel, .x = self->x, .count = count, .index = index};
    TRY(gram_engine_create(context, &request, &engine));
    TRY(gram_engine_product(context, engine, columns_of_v, v, ldv, out, ldo));
done:
    gram_engine_destroy(engine);
    return status;
}

static void destroy(gram_operator *op)
{
    matrix_free *self = (matrix_free *)op;
    gram_engine_destroy(self->engine);
    gram_kernel_release(self->kernel);
    gram_points_release(self->x);
}

static const gram_operator_type FREE = {"free", apply, destroy, diagonal, columns, apply_columns};

gram_status gram_operator_create_free(gram_context *context, gram_kernel *kernel, gram_points *x, gram_operator **op)
{
    gram_status status = GRAM_OK;
    gram_engine *engine = NULL;
    matrix_free *made = NULL;
    if (!context || !op) return GRAM_ERROR_ARGUMENT;
    *op = NULL;
    const gram_engine_request request = {.kernel = kernel, .x = x};
    TRY(gram_engine_create(context, &request, &engine));
    TRY(gram_operator_make(context, &FREE, sizeof *made, engine->n, (gram_operator **)&made));
    made->engine = engine;
    made->kernel = gram_kernel_retain(kernel);
    made->x = gram_points_retain(x);
    engine = NULL;
    *op = &made->base;
done:
    gram_engine_destroy(engine);
    return status;
}
