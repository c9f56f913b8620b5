/* The kernel and its derivatives in both arguments for all pairs: see derivative_row.c for one row of them.
 *
 * What no pair changes is made first: how packed coordinates move with the stored columns, and for normalize and centre
 * the gradient of each point's own number, which is a weighted sum of the child's gradients. Then each task has a strip of
 * rows and writes it. */
#include <string.h>

#include "points/functionals.h"
#include "tile/gradient/derivative.h"
#include "tile/gradient/gradient.h"

/* ---- which kernels ---- */

/* NULL, or why a leaf has no second derivative. */
static const char *refuse_leaf(const gram_program_node *leaf)
{
    if (leaf->type->form == GRAM_FORM_NONE) return NULL;
    const char *reason = leaf->type->rough ? leaf->type->rough(leaf->par) : NULL;
    if (reason) return reason;
    return leaf->type->curvature || leaf->type->coords_factor || leaf->type->coords_jet ? NULL : "none is known";
}

static gram_status check_kernel(gram_context *context, const gram_engine *engine)
{
    gram_status status = GRAM_OK;
    for (int i = 0; i < engine->node_count; i++) {
        const gram_program_node *node = &engine->nodes[i];
        FAIL_IF(node->node == GRAM_NODE_SCALE, context, GRAM_ERROR_UNSUPPORTED,
                "matrix_derivatives: scale has no second derivative by the inputs: none is known for its function %s",
                node->terms->external->name);
        FAIL_IF(node->node == GRAM_NODE_AFTER || node->bags, context, GRAM_ERROR_UNSUPPORTED,
                "matrix_derivatives: %s has no second derivative by the inputs: none is known",
                node->node == GRAM_NODE_AFTER ? "after" : "mean");
        if (node->node != GRAM_NODE_LEAF) continue;
        const char *reason = refuse_leaf(node);
        FAIL_IF(reason, context, GRAM_ERROR_UNSUPPORTED,
                "matrix_derivatives: %s has no second derivative by the inputs: %s", node->type->name, reason);
    }
done:
    return status;
}

/* ---- plans of leaves ---- */

static gram_status take_plan(gram_context *context, gram_deriving *job, int64_t count, double **out)
{
    return gram_arena_take(context, &job->arena, "matrix_derivatives", count, sizeof(double), (void **)out);
}

/* J = L^-1 A, by forward substitution */
static gram_status make_jacobian(gram_context *context, gram_deriving *job, const gram_mapping *mapping, double **out)
{
    gram_status status = GRAM_OK;
    const int64_t d = mapping->d, count = mapping->source_count;
    double *jacobian;
    TRY(take_plan(context, job, d * count, &jacobian));
    for (int64_t l = 0; l < d; l++) {
        double *row = jacobian + l * count;
        for (int64_t m = 0; m < count; m++)
            row[m] = mapping->matrix ? mapping->matrix[l * count + m] : (double)(l == m);
        for (int64_t b = 0; mapping->factor && b < l; b++)
            for (int64_t m = 0; m < count; m++) row[m] -= mapping->factor[l * d + b] * jacobian[b * count + m];
        for (int64_t m = 0; mapping->factor && m < count; m++) row[m] /= mapping->factor[l * d + l];
    }
    *out = jacobian;
done:
    return status;
}

/* The weight of packed coordinate l in d2z/du dv', times the scale */
static double form_weight(const gram_form_entry *form, const gram_program_node *leaf, int64_t l)
{
    return (form->kind == GRAM_FORM_SQDIST ? -2 : 1) * leaf->shape.scale *
           (form->weights_f64 ? form->weights_f64[l] : 1);
}

/* c J' W J, source_count x source_count */
static gram_status make_form_products(gram_context *context, gram_deriving *job, const gram_program_node *leaf,
                                      const double *jacobian, const double **out)
{
    gram_status status = GRAM_OK;
    const gram_form_entry *form = &job->engine->forms[leaf->form];
    const gram_mapping *mapping = &job->engine->metrics[form->metric].mapping;
    const int64_t count = mapping->source_count;
    double *products;
    TRY(take_plan(context, job, count * count, &products));
    for (int64_t l = 0; l < mapping->d; l++)
        for (int64_t a = 0; a < count; a++)
            for (int64_t b = 0; b < count; b++)
                products[a * count + b] +=
                    form_weight(form, leaf, l) * jacobian[l * count + a] * jacobian[l * count + b];
    *out = products;
done:
    return status;
}

/* J J', d x d */
static gram_status make_coords_products(gram_context *context, gram_deriving *job, const gram_mapping *mapping,
                                        const double *jacobian, const double **out)
{
    gram_status status = GRAM_OK;
    const int64_t d = mapping->d, count = mapping->source_count;
    double *products;
    TRY(take_plan(context, job, d * d, &products));
    for (int64_t l = 0; l < d; l++)
        for (int64_t m = 0; m < d; m++)
            for (int64_t a = 0; a < count; a++)
                products[l * d + m] += jacobian[l * count + a] * jacobian[m * count + a];
    *out = products;
done:
    return status;
}

static gram_status plan_leaf(gram_context *context, gram_deriving *job, const gram_program_node *leaf,
                             gram_jet_plan *plan)
{
    gram_status status = GRAM_OK;
    const gram_form_entry *form = &job->engine->forms[leaf->form];
    const gram_mapping *mapping = &job->engine->metrics[form->metric].mapping;
    const int coords = form->kind == GRAM_FORM_COORDS;
    double *jacobian = NULL;
    if (coords && mapping->d > job->widest_coords) job->widest_coords = mapping->d;
    if (mapping->matrix || mapping->factor) {
        TRY(make_jacobian(context, job, mapping, &jacobian));
        if (coords)
            TRY(make_coords_products(context, job, mapping, jacobian, &plan->products));
        else
            TRY(make_form_products(context, job, leaf, jacobian, &plan->products));
    }
    plan->jacobian = jacobian;
    const int64_t count = jacobian ? mapping->source_count : mapping->d;
    for (int64_t l = 0; !coords && l < count; l++)
        plan->trace += jacobian ? plan->products[l * count + l] : form_weight(form, leaf, l);
done:
    return status;
}

/* ---- plans of normalize and centre ---- */

/* normalize: c(x, x)^(-1/2) has the logarithmic gradient -c_x(x, x)/c(x, x): c(x, x) moves with both arguments */
static gram_status diagonal_gradients(gram_context *context, const gram_engine_request *child, const double *row,
                                      const double *power, int64_t d, double *out)
{
    gram_status status = GRAM_OK;
    const int64_t n = child->x->n;
    double *weights = NULL;
    TRY(gram_take(context, "matrix_derivatives", n, sizeof(double), (void **)&weights));
    for (int64_t i = 0; i < n; i++) weights[i] = -power[i] * power[i] / row[i];
    const gram_gradient how = {.diagonal = weights};
    TRY(gram_gradient_add_inputs(context, child, &how, out, d));
done:
    gram_give(context, weights);
    return status;
}

/* centre: -mean over the sample of child_x(x, z) */
static gram_status mean_gradients(gram_context *context, const gram_engine_request *child, int64_t d, double *out)
{
    gram_status status = GRAM_OK;
    const int64_t n = child->x->n, count = child->y->n, most = n > count ? n : count;
    double *ones = NULL, *shares = NULL;
    TRY(gram_take(context, "matrix_derivatives", most, sizeof(double), (void **)&ones));
    TRY(gram_take(context, "matrix_derivatives", most, sizeof(double), (void **)&shares));
    for (int64_t i = 0; i < most; i++) {
        ones[i] = 1;
        shares[i] = -1 / (double)count;
    }
    const gram_weights weights = {.rank = 1, .a = ones, .lda = 1, .b = shares, .ldb = 1};
    const gram_gradient how = {.weights = &weights};
    TRY(gram_gradient_add_inputs(context, child, &how, out, d));
done:
    gram_give(context, ones);
    gram_give(context, shares);
    return status;
}

/* The gradients of one side's points, padded to whole panels. */
static gram_status plan_side(gram_context *context, gram_deriving *job, const gram_point_terms *terms,
                             const gram_points *points, int columns, const double **out)
{
    gram_status status = GRAM_OK;
    const int normalize = terms->node == GRAM_NODE_NORMALIZE;
    const int64_t panels = columns ? gram_engine_column_panels(job->engine) : gram_engine_row_panels(job->engine);
    const gram_engine_request child = {.kernel = terms->child,
                                       .x = points,
                                       .y = normalize ? NULL : terms->external->points,
                                       .space = terms->space,
                                       .always_double = 1};
    double *made;
    TRY(take_plan(context, job, panels * GRAM_PANEL * job->d, &made));
    if (normalize)
        TRY(diagonal_gradients(context, &child, columns ? terms->column : terms->row,
                               columns ? terms->column_power : terms->row_power, job->d, made));
    else
        TRY(mean_gradients(context, &child, job->d, made));
    *out = made;
done:
    return status;
}

gram_status gram_deriving_plan(gram_context *context, gram_deriving *job, const gram_points *x, const gram_points *y)
{
    gram_status status = GRAM_OK;
    const gram_engine *engine = job->engine;
    TRY(check_kernel(context, engine));
    job->d = engine->d;
    job->second_rows = job->out->mixed ? engine->d * engine->d : 1;
    job->engine_scratch = gram_engine_scratch(engine);
    TRY(gram_arena_take(context, &job->arena, "matrix_derivatives", engine->node_count, sizeof *job->plans,
                        (void **)&job->plans));
    for (int i = 0; i < engine->node_count; i++) {
        const gram_program_node *node = &engine->nodes[i];
        gram_jet_plan *plan = &job->plans[i];
        if (node->node == GRAM_NODE_LEAF && node->form >= 0) TRY(plan_leaf(context, job, node, plan));
        if (!node->terms) continue;
        TRY(plan_side(context, job, node->terms, x, 0, &plan->row));
        plan->column = plan->row;
        if (!engine->symmetric) TRY(plan_side(context, job, node->terms, y, 1, &plan->column));
    }
done:
    return status;
}

/* ---- tasks ---- */

/* out[j * stride] = row[j] */
static void write_row(int columns, const double *row, int64_t stride, double *out)
{
    for (int j = 0; out && j < columns; j++) out[j * stride] = row[j];
}

static void write_jet(const gram_deriving *job, const gram_jet *jet, int64_t pair, int columns)
{
    const gram_derivatives *out = job->out;
    const int64_t d = job->d;
    write_row(columns, jet->value, 1, out->value ? out->value + pair : NULL);
    for (int64_t l = 0; l < d; l++) {
        write_row(columns, jet->x + l * GRAM_PANEL, d, out->by_x ? out->by_x + pair * d + l : NULL);
        write_row(columns, jet->y + l * GRAM_PANEL, d, out->by_y ? out->by_y + pair * d + l : NULL);
    }
    for (int64_t r = 0; out->mixed && r < d * d; r++)
        write_row(columns, jet->second + r * GRAM_PANEL, d * d, out->mixed + pair * d * d + r);
    for (int64_t l = 1; out->mixed && out->trace && l < d; l++) /* into the first of them, which is written already */
        job->engine->vecmath->f64.add(GRAM_PANEL, jet->second + (l * d + l) * GRAM_PANEL, jet->second);
    write_row(columns, jet->second, 1, out->trace ? out->trace + pair : NULL);
}

/* A task is a strip of rows. */
static gram_status derive_strip(void *argument, const gram_worker *worker)
{
    const gram_deriving *job = argument;
    const gram_engine *engine = job->engine;
    const int64_t first = worker->task * GRAM_STRIP;
    gram_jet_work work;
    (void)gram_jet_layout(job, worker->scratch, &work);
    gram_engine_begin(engine, worker->scratch, worker);
    for (int64_t c = 0; c < gram_engine_column_panels(engine); c++) {
        const int64_t left = c * GRAM_PANEL;
        gram_strip_move(engine, work.strip, first / GRAM_PANEL, (int)(first % GRAM_PANEL), c);
        gram_jet_strip(job, &work);
        for (int i = 0; i < GRAM_STRIP && first + i < engine->n; i++) {
            const gram_jet jet = gram_jet_row(job, &work, i);
            const int columns = (int)(engine->m - left < GRAM_PANEL ? engine->m - left : GRAM_PANEL);
            write_jet(job, &jet, (first + i) * job->out->ld + left, columns);
        }
    }
    return GRAM_OK;
}

/* ---- the whole ---- */

static gram_status check_out(gram_context *context, const gram_engine *engine, const gram_derivatives *out)
{
    gram_status status = GRAM_OK;
    const int64_t d = engine->d;
    int64_t numbers;
    FAIL_IF(!out, context, GRAM_ERROR_ARGUMENT, "matrix_derivatives: out is NULL");
    FAIL_IF(!out->value && !out->by_x && !out->by_y && !out->trace && !out->mixed, context, GRAM_ERROR_ARGUMENT,
            "matrix_derivatives: out asks for nothing, all of its arrays are NULL");
    FAIL_IF(out->ld < engine->m, context, GRAM_ERROR_ARGUMENT,
            "matrix_derivatives: out.ld = %lld is less than the %lld columns", (long long)out->ld,
            (long long)engine->m);
    FAIL_IF(!gram_size_multiply(engine->n, out->ld, &numbers) ||
                !gram_size_multiply(numbers, out->mixed ? d * d : d, &numbers) ||
                !gram_size_multiply(numbers, sizeof(double), &numbers),
            context, GRAM_ERROR_OVERFLOW,
            "matrix_derivatives: derivatives of %lld x %lld pairs are more than can be addressed", (long long)engine->n,
            (long long)out->ld);
done:
    return status;
}

gram_status gram_matrix_derivatives(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                    const gram_points *y, const gram_derivatives *out)
{
    gram_status status = GRAM_OK;
    gram_engine *engine = NULL;
    gram_jet_work work;
    char none[1];
    if (!context) return GRAM_ERROR_ARGUMENT;
    const gram_engine_request request = {.kernel = kernel, .x = x, .y = y, .always_double = 1};
    gram_deriving job = {.out = out};
    gram_arena_init(&job.arena, context->memory);
    TRY(gram_points_must_be_plain(context, "matrix_derivatives", x));
    TRY(gram_points_must_be_plain(context, "matrix_derivatives", y));
    TRY(gram_points_must_be_numbers(context, "matrix_derivatives", x));
    TRY(gram_engine_create(context, &request, &engine));
    TRY(check_out(context, engine, out));
    job.engine = engine;
    TRY(gram_deriving_plan(context, &job, x, y));
    const gram_sweep sweep = {.what = "kernel derivatives",
                              .tasks = (engine->n + GRAM_STRIP - 1) / GRAM_STRIP,
                              .scratch_bytes = gram_jet_layout(&job, none, &work),
                              .run = derive_strip,
                              .argument = &job};
    TRY(gram_sweep_run(context, &sweep));
done:
    gram_arena_release(&job.arena);
    gram_engine_destroy(engine);
    return status;
}
