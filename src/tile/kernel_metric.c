/* The kernel metric d_k(x, y) = ||k_x - k_y||.
 *
 * For a stationary k, d_k^2 = 2 D with the deficit D = k(0) - k(x - y), which near points must not come from that
 * difference. Leaves give their deficits where they have a better form; with a and b for k(0), A and B for the deficits of two of them,
 *
 *   sum      A + B
 *   product  ab - (a - A)(b - B) = A b + B (a - A)
 *
 * have no cancellation, as k(0) >= |k|. If any part has no deficit, the whole is d_k^2 = k(x,x) + k(y,y) - 2 k(x,y). */
#include <math.h>

#include "tile/fill.h"

typedef struct measuring {
    const gram_engine *engine;
    int by_deficit;
    const double *x, *y; /* otherwise: k(x_i, x_i) and k(y_j, y_j) */
    double *out;
    int64_t ld;
} measuring;

/* Is it a stationary part, put together in a way that deficits follow? */
static int has_deficit(const gram_program_node *node)
{
    switch (node->node) {
    case GRAM_NODE_SUM:
    case GRAM_NODE_PRODUCT:
    case GRAM_NODE_POWER: return 1;
    case GRAM_NODE_LEAF: break;
    default: return 0;
    }
    const gram_form form = node->type->form;
    if (form == GRAM_FORM_NONE || form == GRAM_FORM_SAME) return 1;
    return form == GRAM_FORM_SQDIST || form == GRAM_FORM_L1; /* then it is stationary */
}

/* ---- deficits of a strip; each function leaves it in slots[0 ..] and returns k(0) ---- */

static double leaf_deficit(const gram_engine *engine, gram_strip *strip, const gram_program_node *leaf, double *out)
{
    const gram_vecmath_f64 *v = &engine->vecmath->f64;
    if (leaf->type->form == GRAM_FORM_NONE) {
        v->fill(GRAM_STRIP_SIZE, 0, out);
        return leaf->par[0];
    }
    if (leaf->type->form == GRAM_FORM_SAME) {
        gram_engine_special(engine, strip, leaf, out);
        v->affine(GRAM_STRIP_SIZE, -1, 1, out, out);
        return 1;
    }
    double *zero = strip->work, *work = strip->work + GRAM_STRIP_SIZE;
    v->fill(GRAM_STRIP_SIZE, 0, zero);
    leaf->type->profile(v, &leaf->shape, GRAM_STRIP_SIZE, zero, zero, work);
    const double most = zero[0];
    gram_engine_form(engine, strip, leaf->form, out);
    if (leaf->type->deficit && leaf->type->deficit(&leaf->shape, GRAM_STRIP_SIZE, out, out)) return most;
    leaf->type->profile(v, &leaf->shape, GRAM_STRIP_SIZE, out, out, work);
    for (int i = 0; i < GRAM_STRIP_SIZE; i++) out[i] = fmax(most - out[i], 0);
    return most;
}

static double deficit(const gram_engine *engine, gram_strip *strip, int index, double *slots)
{
    const gram_program_node *node = &engine->nodes[index];
    if (node->node == GRAM_NODE_LEAF) return leaf_deficit(engine, strip, node, slots);
    double *other = slots + GRAM_STRIP_SIZE, a = deficit(engine, strip, node->children[0], slots);
    for (int c = 1; c < node->child_count; c++) {
        const double b = deficit(engine, strip, node->children[c], other);
        for (int i = 0; i < GRAM_STRIP_SIZE; i++)
            slots[i] = node->node == GRAM_NODE_SUM ? slots[i] + other[i] : slots[i] * b + other[i] * (a - slots[i]);
        a = node->node == GRAM_NODE_SUM ? a + b : a * b;
    }
    if (node->node != GRAM_NODE_POWER) return a;
    double all = a;
    for (int i = 0; i < GRAM_STRIP_SIZE; i++) {
        double power = slots[i];
        all = a;
        for (int m = 1; m < node->exponent; m++) {
            power = power * a + slots[i] * (all - power);
            all *= a;
        }
        slots[i] = power;
    }
    return all;
}

/* ---- the whole ---- */

static void measure_strip(const measuring *job, void *scratch, int64_t panel, int row, int64_t column_panel)
{
    const gram_engine *engine = job->engine;
    gram_strip *strip = scratch;
    const int64_t first = panel * GRAM_PANEL + row, left = column_panel * GRAM_PANEL;
    double *k = strip->slots;
    if (job->by_deficit) {
        gram_strip_move(engine, strip, panel, row, column_panel);
        (void)deficit(engine, strip, engine->roots[0], k);
    } else {
        k = gram_engine_strip_f64(engine, scratch, panel, row, column_panel);
    }
    for (int64_t i = 0; i < GRAM_STRIP && first + i < engine->n; i++)
        for (int64_t j = 0; j < GRAM_PANEL && left + j < engine->m; j++) {
            const double at = k[i * GRAM_PANEL + j];
            const double square = job->by_deficit ? 2 * at : job->x[first + i] + job->y[left + j] - 2 * at;
            job->out[(first + i) * job->ld + left + j] = square > 0 || isnan(square) ? sqrt(square) : 0;
        }
}

static gram_status measure_panel(void *argument, const gram_worker *worker)
{
    const measuring *job = argument;
    const int64_t columns = gram_engine_column_panels(job->engine);
    gram_engine_begin(job->engine, worker->scratch, worker);
    for (int64_t c = 0; c < columns; c++)
        for (int row = 0; row < GRAM_PANEL && worker->task * GRAM_PANEL + row < job->engine->n; row += GRAM_STRIP)
            measure_strip(job, worker->scratch, worker->task, row, c);
    return GRAM_OK;
}

static gram_status take_diagonals(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                  const gram_points *y, double *out)
{
    gram_status status = GRAM_OK;
    TRY(gram_fill_diagonal(context, kernel, x, 1, out));
    TRY(gram_fill_diagonal(context, kernel, y, 1, out + gram_points_count(x)));
done:
    return status;
}

gram_status gram_matrix_distance(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                 const gram_points *y, double *out, int64_t ld)
{
    gram_status status = GRAM_OK;
    gram_engine *engine = NULL;
    double *diagonals = NULL;
    int64_t numbers = 0;
    if (!context) return GRAM_ERROR_ARGUMENT;
    const gram_engine_request request = {.kernel = kernel, .x = x, .y = y, .always_double = 1};
    TRY(gram_engine_create(context, &request, &engine));
    FAIL_IF(!out, context, GRAM_ERROR_ARGUMENT, "matrix_distance: out is NULL");
    FAIL_IF(ld < engine->m, context, GRAM_ERROR_ARGUMENT, "matrix_distance: ld = %lld is less than the %lld columns",
            (long long)ld, (long long)engine->m);
    measuring job = {.engine = engine, .by_deficit = !engine->functionals, .out = out, .ld = ld};
    for (int i = 0; i < engine->node_count; i++) job.by_deficit &= has_deficit(&engine->nodes[i]);
    if (!job.by_deficit) {
        numbers = engine->n + engine->m;
        TRY(gram_take(context, "matrix_distance: diagonals", numbers, sizeof(double), (void **)&diagonals));
        TRY(take_diagonals(context, kernel, x, y ? y : x, diagonals));
        job.x = diagonals;
        job.y = diagonals + engine->n;
    }
    const gram_sweep sweep = {.what = "kernel metric",
                              .tasks = gram_engine_row_panels(engine),
                              .scratch_bytes = gram_engine_scratch(engine),
                              .run = measure_panel,
                              .argument = &job};
    TRY(gram_sweep_run(context, &sweep));
done:
    gram_give(context, diagonals);
    gram_engine_destroy(engine);
    return status;
}
