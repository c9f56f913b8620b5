/* Derivatives of a weighted sum of Gram entries, over all strips: see gradient_strip.c for one of them.
 *
 * Each task sums into a row of its own; the rows are added in order. What normalize and centre take from single points
 * is summed over each point's pairs first and differentiated afterwards, as a weighted sum of the child's entries on the
 * diagonal, or between the points and the sample. */
#include <string.h>

#include "base/ranks/collective.h"
#include "points/functionals.h"
#include "tile/gradient/gradient.h"

static int least(int64_t a, int64_t b)
{
    return (int)(a < b ? a : b);
}

/* ---- tasks ---- */

/* The column panels that a row panel meets: all, those up to itself (symmetric K), itself (diagonal). */
static void column_range(const gram_gradient *g, int64_t i, int64_t *from, int64_t *to)
{
    *from = g->diagonal ? i : 0;
    *to = g->diagonal || (g->engine->symmetric && !g->inputs) ? i + 1 : gram_engine_column_panels(g->engine);
}

/* Row panels of a symmetric K go to tasks from the last, which has the most pairs, to the first. */
static gram_status parameter_task(void *argument, const gram_worker *worker)
{
    const gram_gradient *g = argument;
    const int64_t rows = gram_engine_row_panels(g->engine);
    const int64_t i = g->engine->symmetric ? rows - 1 - worker->task : worker->task;
    int64_t from, to;
    gram_tape t;
    (void)gram_tape_layout(g, worker->scratch, &t);
    t.parameter = g->out + worker->task * g->engine->parameter_count;
    t.column_sums = g->column_sums ? g->column_sums + worker->task * gram_gradient_column_sums(g->engine) : NULL;
    gram_engine_begin(g->engine, worker->scratch, worker);
    column_range(g, i, &from, &to);
    for (int64_t j = from; j < to; j++) {
        if (g->sharing && !gram_ranks_own(g->sharing, i, j)) continue;
        for (int row = 0; row < GRAM_PANEL && i * GRAM_PANEL + row < g->engine->n; row += GRAM_STRIP)
            gram_gradient_strip(g, &t, i, row, j, g->engine->symmetric && i != j);
    }
    return GRAM_OK;
}

static gram_status input_task(void *argument, const gram_worker *worker)
{
    const gram_gradient *g = argument;
    const int64_t i = worker->task, d = g->engine->d;
    int64_t from, to;
    gram_tape t;
    (void)gram_tape_layout(g, worker->scratch, &t);
    gram_engine_begin(g->engine, worker->scratch, worker);
    column_range(g, i, &from, &to);
    for (int row = 0; row < GRAM_PANEL && i * GRAM_PANEL + row < g->engine->n; row += GRAM_STRIP) {
        const int64_t first = i * GRAM_PANEL + row;
        memset(t.rows, 0, (size_t)(GRAM_STRIP * d) * sizeof(double));
        for (int64_t j = from; j < to; j++) gram_gradient_strip(g, &t, i, row, j, 0);
        for (int r = 0; r < least(GRAM_STRIP, g->engine->n - first); r++)
            for (int64_t l = 0; l < d; l++) g->out[(first + r) * g->ld + l] += t.rows[r * d + l];
    }
    return GRAM_OK;
}

/* ---- the whole ---- */

static int program_depth(const gram_engine *engine, int index)
{
    int deepest = 0;
    for (int i = 0; i < engine->nodes[index].child_count; i++) {
        const int depth = program_depth(engine, engine->nodes[index].children[i]);
        if (depth > deepest) deepest = depth;
    }
    return deepest + 1;
}

static gram_status check_weights(gram_context *context, const char *function, const gram_engine *engine,
                                 const gram_weights *w)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!w, context, GRAM_ERROR_ARGUMENT, "%s: weights is NULL", function);
    FAIL_IF(w->dense && w->ld < engine->m, context, GRAM_ERROR_ARGUMENT, "%s: weights.ld = %lld is less than %lld",
            function, (long long)w->ld, (long long)engine->m);
    if (w->dense || w->fill) return GRAM_OK;
    FAIL_IF(!w->a || !w->b, context, GRAM_ERROR_ARGUMENT, "%s: weights have neither dense nor both a and b", function);
    FAIL_IF(w->rank < 1 || w->rank > INT32_MAX || w->lda < w->rank || w->ldb < w->rank || w->lda > INT32_MAX ||
                w->ldb > INT32_MAX,
            context, GRAM_ERROR_ARGUMENT, "%s: weights.rank = %lld does not fit lda = %lld and ldb = %lld", function,
            (long long)w->rank, (long long)w->lda, (long long)w->ldb);
done:
    return status;
}

/* Which parts have no derivative by the inputs? */
static gram_status check_inputs(gram_context *context, const char *function, const gram_engine *engine)
{
    gram_status status = GRAM_OK;
    for (int i = 0; i < engine->node_count; i++) {
        const gram_program_node *node = &engine->nodes[i];
        const int leaf = node->node == GRAM_NODE_LEAF;
        const int given =
            leaf && (node->type->form == GRAM_FORM_INDEX ||
                     (node->type->form == GRAM_FORM_COORDS && !node->type->coords_slope && !node->type->coords_factor));
        const char *name = leaf                            ? node->type->name
                           : node->node == GRAM_NODE_AFTER ? "after"
                           : node->node == GRAM_NODE_MEAN  ? "mean"
                                                           : "scale";
        FAIL_IF(given || node->node == GRAM_NODE_SCALE || node->node == GRAM_NODE_AFTER || node->bags, context,
                GRAM_ERROR_UNSUPPORTED, "%s: %s has no known derivative by the inputs", function, name);
    }
done:
    return status;
}

void gram_gradient_measure(gram_gradient *g)
{
    const gram_engine *engine = g->engine;
    g->engine_scratch = gram_engine_scratch(engine);
    g->depth = program_depth(engine, engine->roots[0]);
    for (int i = 0; i < engine->metric_count; i++) {
        const gram_mapping *mapping = &engine->metrics[i].mapping;
        if (mapping->d > g->widest) g->widest = mapping->d;
        if (mapping->factor && mapping->d > g->widest_covariance) g->widest_covariance = mapping->d;
    }
    for (int i = 0; g->inputs && i < engine->form_count; i++) {
        const gram_form_entry *form = &engine->forms[i];
        if (form->kind != GRAM_FORM_COORDS) continue;
        const int64_t d = engine->metrics[form->metric].mapping.d;
        if (d > g->widest_coords) g->widest_coords = d;
    }
}

static gram_status prepare(gram_context *context, const char *function, const gram_engine_request *request,
                           gram_gradient *g, gram_engine **engine)
{
    gram_status status = GRAM_OK;
    TRY(gram_points_must_be_plain(context, function, request->x));
    TRY(gram_points_must_be_plain(context, function, request->y));
    if (g->inputs) TRY(gram_points_must_be_numbers(context, function, request->x));
    TRY(gram_engine_create(context, request, engine));
    if (!g->diagonal) TRY(check_weights(context, function, *engine, g->weights));
    if (g->inputs) TRY(check_inputs(context, function, *engine));
    g->engine = *engine;
    gram_gradient_measure(g);
done:
    return status;
}

static gram_status take_zeroed(gram_context *context, const char *what, int64_t count, double **out)
{
    const gram_status status = gram_take(context, what, count, sizeof(double), (void **)out);
    if (*out) memset(*out, 0, (size_t)count * sizeof(double));
    return status;
}

gram_status gram_gradient_take_sums(gram_context *context, int64_t column_tasks, gram_gradient *g)
{
    gram_status status = GRAM_OK;
    const int64_t rows = g->engine->term_count * gram_engine_row_panels(g->engine) * GRAM_PANEL;
    g->column_tasks = column_tasks;
    TRY(take_zeroed(context, "kernel gradient", rows, &g->row_sums));
    TRY(take_zeroed(context, "kernel gradient", column_tasks * gram_gradient_column_sums(g->engine), &g->column_sums));
done:
    return status;
}

void gram_gradient_give_sums(gram_context *context, gram_gradient *g)
{
    if (!g->engine) return;
    gram_give(context, g->row_sums);
    gram_give(context, g->column_sums);
}

static gram_status run(gram_context *context, gram_gradient *g)
{
    gram_status status = GRAM_OK;
    char none[1];
    gram_tape t;
    const int64_t tasks = gram_engine_row_panels(g->engine);
    const gram_sweep sweep = {.what = "kernel gradient",
                              .tasks = tasks,
                              .scratch_bytes = gram_tape_layout(g, none, &t),
                              .run = g->inputs ? input_task : parameter_task,
                              .argument = g};
    TRY(gram_gradient_take_sums(context, g->inputs ? 0 : tasks, g));
    TRY(gram_sweep_run(context, &sweep));
done:
    return status;
}

/* ---- what comes through the numbers of the points ---- */

/* One of the recursions below: out += the derivative of sum W child, or of sum_i diagonal_i child(x_i, x_i). */
typedef struct term_job {
    gram_context *context;
    const gram_point_terms *terms;
    double *out;
    int64_t ld;
    int inputs;
} term_job;

static gram_status add_parameters(gram_context *context, const gram_engine_request *request, const gram_gradient *how,
                                  double *out);

static gram_status add_child(const term_job *job, const gram_points *x, const gram_points *y, const gram_gradient *how)
{
    const gram_engine_request request = {
        .kernel = job->terms->child, .x = x, .y = y, .space = job->terms->space, .always_double = 1};
    if (job->inputs) return gram_gradient_add_inputs(job->context, &request, how, job->out, job->ld);
    return add_parameters(job->context, &request, how, job->out + job->terms->parameter);
}

/* normalize: k = c_ij/sqrt(c_ii c_jj), so dk/dc_ii = -k/(2 c_ii); by the inputs, c(x, x) moves with both arguments */
static gram_status add_diagonal_terms(const term_job *job, const gram_points *x, const double *row, const double *power,
                                      double *sums)
{
    for (int64_t i = 0; i < x->n; i++) sums[i] *= (job->inputs ? -1 : -0.5) * power[i] * power[i] / row[i];
    const gram_gradient how = {.diagonal = sums};
    return add_child(job, x, NULL, &how);
}

/* centre: -sum_i sums_i mean_a child(x_i, z_a) */
static gram_status add_mean_terms(const term_job *job, const gram_points *x, double *sums)
{
    gram_status status = GRAM_OK;
    const gram_points *sample = job->terms->external->points;
    double *ones = NULL;
    TRY(gram_take(job->context, "kernel gradient", sample->n, sizeof(double), (void **)&ones));
    for (int64_t i = 0; i < sample->n; i++) ones[i] = -1 / (double)sample->n;
    const gram_weights weights = {.rank = 1, .a = sums, .lda = 1, .b = ones, .ldb = 1};
    const gram_gradient how = {.weights = &weights};
    TRY(add_child(job, x, sample, &how));
done:
    gram_give(job->context, ones);
    return status;
}

/* centre: total mean_ab child(z_a, z_b) */
static gram_status add_offset_term(const term_job *job, double total)
{
    gram_status status = GRAM_OK;
    const gram_points *sample = job->terms->external->points;
    double *left = NULL, *right = NULL;
    TRY(gram_take(job->context, "kernel gradient", sample->n, sizeof(double), (void **)&left));
    TRY(gram_take(job->context, "kernel gradient", sample->n, sizeof(double), (void **)&right));
    for (int64_t i = 0; i < sample->n; i++) {
        left[i] = total / (double)sample->n;
        right[i] = 1 / (double)sample->n;
    }
    const gram_weights weights = {.rank = 1, .a = left, .lda = 1, .b = right, .ldb = 1};
    const gram_gradient how = {.weights = &weights};
    TRY(add_child(job, sample, sample, &how));
done:
    gram_give(job->context, left);
    gram_give(job->context, right);
    return status;
}

static gram_status add_side(const term_job *job, const gram_points *x, const double *row, const double *power,
                            double *sums)
{
    if (job->terms->node == GRAM_NODE_NORMALIZE) return add_diagonal_terms(job, x, row, power, sums);
    return add_mean_terms(job, x, sums);
}

static gram_status add_terms(gram_context *context, const gram_gradient *g, const gram_engine_request *request,
                             const gram_point_terms *terms, double *out, int64_t ld)
{
    gram_status status = GRAM_OK;
    const term_job job = {context, terms, out, ld, g->inputs};
    const int64_t tasks = gram_engine_row_panels(g->engine), rows = tasks * GRAM_PANEL;
    const int64_t columns = gram_engine_column_panels(g->engine) * GRAM_PANEL,
                  stride = gram_gradient_column_sums(g->engine);
    double *row = g->row_sums + terms->number * rows, total = 0;
    double *column = g->inputs ? NULL : g->column_sums + terms->number * columns;
    if (terms->node == GRAM_NODE_SCALE) return GRAM_OK;
    for (int64_t i = 0; i < g->engine->n; i++) total += row[i];
    for (int64_t task = 1; task < g->column_tasks; task++)
        for (int64_t j = 0; j < columns; j++) column[j] += column[task * stride + j];
    if (g->engine->symmetric && !g->inputs)
        for (int64_t i = 0; i < rows; i++) row[i] += column[i];
    TRY(add_side(&job, request->x, terms->row, terms->row_power, row));
    if (g->inputs) return GRAM_OK;
    if (!g->engine->symmetric) TRY(add_side(&job, request->y, terms->column, terms->column_power, column));
    if (terms->node == GRAM_NODE_CENTRE) TRY(add_offset_term(&job, total));
done:
    return status;
}

static gram_status add_all_terms(gram_context *context, const gram_gradient *g, const gram_engine_request *request,
                                 double *out, int64_t ld)
{
    gram_status status = GRAM_OK;
    for (int i = 0; i < g->engine->term_count; i++) TRY(add_terms(context, g, request, g->engine->terms[i], out, ld));
done:
    return status;
}

gram_status gram_gradient_add_terms(gram_context *context, const gram_gradient *g, const gram_engine_request *request,
                                    double *out)
{
    return add_all_terms(context, g, request, out, 0);
}

/* ---- over several processes ---- */

/* What each rank summed over its tiles becomes the sum over all. Sums of columns go to the first task's. */
static gram_status join(gram_context *context, gram_gradient *g, int64_t count, double *sums)
{
    gram_status status = GRAM_OK;
    const gram_engine *engine = g->engine;
    const int64_t rows = engine->term_count * gram_engine_row_panels(engine) * GRAM_PANEL,
                  columns = gram_gradient_column_sums(engine);
    const double pairs = (double)engine->n * (double)engine->n / 2;
    for (int64_t task = 1; task < g->column_tasks; task++)
        for (int64_t j = 0; j < columns; j++) {
            g->column_sums[j] += g->column_sums[task * columns + j];
            g->column_sums[task * columns + j] = 0;
        }
    TRY(gram_ranks_sum(context, "kernel gradient", count, sums));
    TRY(gram_ranks_sum(context, "kernel gradient", rows, g->row_sums));
    TRY(gram_ranks_sum(context, "kernel gradient", columns, g->column_sums));
    gram_ranks_note(context, "gradient", pairs * (6 * (double)engine->d + 40) / gram_ranks(context));
done:
    return status;
}

/* ---- the whole ---- */

static gram_status add_parameters(gram_context *context, const gram_engine_request *request, const gram_gradient *how,
                                  double *out)
{
    gram_status status = GRAM_OK;
    gram_engine *engine = NULL;
    gram_gradient g = {.weights = how->weights, .diagonal = how->diagonal};
    int64_t tasks = 0, count = 0;
    double *sums = NULL;
    TRY(prepare(context, "matrix_parameter_gradient", request, &g, &engine));
    if (engine->symmetric && !g.diagonal && gram_ranks_share(context, engine->n)) g.sharing = context;
    count = engine->parameter_count;
    tasks = gram_engine_row_panels(engine);
    TRY(take_zeroed(context, "matrix_parameter_gradient", tasks * count, &g.out));
    TRY(take_zeroed(context, "matrix_parameter_gradient", count, &sums));
    TRY(run(context, &g));
    for (int64_t p = 0; p < count; p++)
        for (int64_t task = 0; task < tasks; task++) sums[p] += g.out[task * count + p];
    if (g.sharing) TRY(join(context, &g, count, sums));
    for (int64_t p = 0; p < count; p++) out[p] += sums[p];
    TRY(gram_gradient_add_terms(context, &g, request, out));
done:
    gram_give(context, sums);
    gram_gradient_give_sums(context, &g);
    gram_give(context, g.out);
    gram_engine_destroy(engine);
    return status;
}

gram_status gram_gradient_add_inputs(gram_context *context, const gram_engine_request *request,
                                     const gram_gradient *how, double *out, int64_t ld)
{
    gram_status status = GRAM_OK;
    gram_engine *engine = NULL;
    gram_gradient g = {.weights = how->weights, .diagonal = how->diagonal, .inputs = 1, .out = out, .ld = ld};
    TRY(prepare(context, "matrix_input_gradient", request, &g, &engine));
    TRY(run(context, &g));
    TRY(add_all_terms(context, &g, request, out, ld));
done:
    gram_gradient_give_sums(context, &g);
    gram_engine_destroy(engine);
    return status;
}

gram_status gram_matrix_parameter_gradient(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                           const gram_points *y, const gram_weights *weights, double *out)
{
    gram_status status = GRAM_OK;
    double *sums = NULL;
    int64_t count = 0;
    if (!context) return GRAM_ERROR_ARGUMENT;
    const gram_engine_request request = {.kernel = kernel, .x = x, .y = y, .always_double = 1};
    const gram_gradient how = {.weights = weights};
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "matrix_parameter_gradient: kernel is NULL");
    FAIL_IF(!out, context, GRAM_ERROR_ARGUMENT, "matrix_parameter_gradient: gradient is NULL");
    count = gram_kernel_parameter_count(kernel);
    TRY(take_zeroed(context, "matrix_parameter_gradient", count, &sums));
    if (x && weights && (x->functionals || (y && y->functionals) || gram_gradient_by_differences(kernel)))
        TRY(gram_gradient_functionals(context, &request, weights, sums));
    else
        TRY(add_parameters(context, &request, &how, sums));
    if (count > 0) memcpy(out, sums, (size_t)count * sizeof *out);
done:
    gram_give(context, sums);
    return status;
}

gram_status gram_matrix_input_gradient(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                       const gram_points *y, const gram_weights *weights, double *out, int64_t ld)
{
    gram_status status = GRAM_OK;
    double *sums = NULL;
    int64_t count = 0;
    if (!context) return GRAM_ERROR_ARGUMENT;
    const gram_engine_request request = {.kernel = kernel, .x = x, .y = y, .always_double = 1};
    const gram_gradient how = {.weights = weights};
    FAIL_IF(!x, context, GRAM_ERROR_ARGUMENT, "matrix_input_gradient: x is NULL");
    FAIL_IF(!out, context, GRAM_ERROR_ARGUMENT, "matrix_input_gradient: out is NULL");
    FAIL_IF(ld < x->d, context, GRAM_ERROR_ARGUMENT, "matrix_input_gradient: ld = %lld is less than d = %lld",
            (long long)ld, (long long)x->d);
    count = x->n * x->d;
    TRY(take_zeroed(context, "matrix_input_gradient", count, &sums));
    TRY(gram_gradient_add_inputs(context, &request, &how, sums, x->d));
    for (int64_t i = 0; i < x->n; i++) memcpy(out + i * ld, sums + i * x->d, (size_t)x->d * sizeof *out);
done:
    gram_give(context, sums);
    return status;
}
