/* Stein kernels (Oates, Girolami and Chopin 2017; Chwialkowski, Strathmann and Gretton 2016; Liu, Lee and Jordan 2016).
 *
 * For a density p with score s(x) = grad log p(x) and a kernel k with second derivatives,
 *
 *   k_P(x, y) = tr d2k/dx dy' + s(x).grad_y k + s(y).grad_x k + s(x).s(y) k
 *
 * is a kernel too, and the mean of k_P(x, Y) over Y ~ p is 0 for every x. The constant that makes p integrate to 1 is not
 * needed: the score does not see it.
 *
 * A base kernel of one squared distance, k = c phi(z), z = a |W^(1/2) J (x - y)|^2, needs no gradients of d numbers. With
 * r = x - y, u = W^(1/2) J x, t = W^(1/2) J s(x) and g = J'WJ x (u', t', g' those of y)
 *
 *   k_P/c = -4 a^2 phi'' |g - g'|^2 - 2 a phi' (tr J'WJ + (t - t').(u - u')) + phi s(x).s(y)
 *
 * that is a few inner products for each pair (tile/strip/strips.h: row_with_vectors), one call of each profile for a row of 96,
 * and O(n d) memory. In the plain case, one length-scale, u = x, t = s and |g - g'|^2 = |r|^2. Any other kernel takes the
 * way of tile/gradient/derivative_row.c, which makes all d derivatives of a pair. */
#include "embed/stein.h"

#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "points/functionals.h"
#include "points/points.h"

/* ---- one row against a panel ---- */

enum { SQUARE, ALONG, DOT, VALUE, SLOPE, CURVATURE, WORK, RESULT, BUFFERS };

typedef struct row_work {
    double buffers[BUFFERS][GRAM_PANEL];
    int64_t row_panel, column_panel; /* the strip that the general way has made */
    int row;
    gram_jet_work jet;
} row_work;

enum { ROW_WORK_BYTES = (sizeof(row_work) + GRAM_ALIGNMENT - 1) / GRAM_ALIGNMENT * GRAM_ALIGNMENT };

static void begin(const void *self, void *scratch)
{
    const gram_stein *stein = self;
    row_work *work = scratch;
    char *rest = (char *)scratch + ROW_WORK_BYTES;
    work->column_panel = -1;
    (void)gram_jet_layout(&stein->general, rest, &work->jet);
    gram_engine_begin(stein->engine, rest, NULL);
}

static const double *of_row(const double *packed, int64_t d, int64_t i)
{
    return packed + i / GRAM_PANEL * d * GRAM_PANEL + i % GRAM_PANEL;
}

static const double *of_panel(const double *packed, int64_t d, int64_t panel)
{
    return packed + panel * d * GRAM_PANEL;
}

/* The sums over coordinates. On the way out SQUARE is |u - u'|^2 and RESULT is |g - g'|^2. */
static void make_sums(const gram_stein *stein, row_work *work, int64_t i, int64_t panel)
{
    const gram_strips_f64 *strips = &stein->engine->strips->f64;
    const int64_t p = stein->p, d = stein->d;
    strips->row_with_vectors(p, of_row(stein->u, p, i), of_row(stein->t, p, i), of_panel(stein->u, p, panel),
                             of_panel(stein->t, p, panel), work->buffers[SQUARE], work->buffers[ALONG],
                             work->buffers[DOT]);
    if (stein->plain) {
        memcpy(work->buffers[RESULT], work->buffers[SQUARE], sizeof work->buffers[RESULT]);
        return;
    }
    strips->row_with_vectors(d, of_row(stein->g, d, i), of_row(stein->s, d, i), of_panel(stein->g, d, panel),
                             of_panel(stein->s, d, panel), work->buffers[RESULT], work->buffers[WORK],
                             work->buffers[DOT]);
}

static const double *distance_row(const void *self, void *scratch, int64_t i, int64_t panel)
{
    const gram_stein *stein = self;
    row_work *work = scratch;
    const gram_program_node *leaf = &stein->engine->nodes[stein->leaf];
    const gram_vecmath_f64 *v = &stein->engine->vecmath->f64;
    const double a = leaf->shape.scale, c = stein->factor, *square = work->buffers[SQUARE];
    double *value = work->buffers[VALUE], *slope = work->buffers[SLOPE], *curvature = work->buffers[CURVATURE];
    double *out = work->buffers[RESULT];
    make_sums(stein, work, i, panel);
    if (stein->imq) {
        stein->engine->strips->f64.stein_imq(leaf->par[0] * leaf->par[0], a, stein->trace, c, square,
                                             work->buffers[ALONG], work->buffers[DOT], out, out);
        return out;
    }
    leaf->type->profile(v, &leaf->shape, GRAM_PANEL, square, value, work->buffers[WORK]);
    leaf->type->slope(v, &leaf->shape, GRAM_PANEL, square, value, slope);
    leaf->type->curvature(v, &leaf->shape, GRAM_PANEL, square, value, slope, curvature);
    for (int j = 0; j < GRAM_PANEL; j++)
        out[j] = c * (work->buffers[DOT][j] * value[j] - 2 * a * slope[j] * (stein->trace + work->buffers[ALONG][j]) -
                      4 * a * a * curvature[j] * out[j]);
    return out;
}

static const double *general_row(const void *self, void *scratch, int64_t i, int64_t panel)
{
    const gram_stein *stein = self;
    row_work *work = scratch;
    const int64_t d = stein->d, row_panel = i / GRAM_PANEL;
    const int first = (int)(i % GRAM_PANEL) / GRAM_STRIP * GRAM_STRIP;
    if (work->column_panel != panel || work->row_panel != row_panel || work->row != first) {
        gram_strip_move(stein->engine, work->jet.strip, row_panel, first, panel);
        gram_jet_strip(&stein->general, &work->jet);
        work->column_panel = panel;
        work->row_panel = row_panel;
        work->row = first;
    }
    const gram_jet jet = gram_jet_row(&stein->general, &work->jet, (int)(i % GRAM_STRIP));
    const double *sx = of_row(stein->s, d, i), *sy = of_panel(stein->s, d, panel);
    double *out = work->buffers[RESULT], *dot = work->buffers[DOT];
    memcpy(out, jet.second, sizeof work->buffers[RESULT]);
    memset(dot, 0, sizeof work->buffers[DOT]);
    for (int64_t l = 0; l < d; l++)
        for (int j = 0; j < GRAM_PANEL; j++) {
            const double right = sy[l * GRAM_PANEL + j], left = sx[l * GRAM_PANEL];
            out[j] += left * jet.y[l * GRAM_PANEL + j] + right * jet.x[l * GRAM_PANEL + j];
            dot[j] += left * right;
        }
    for (int j = 0; j < GRAM_PANEL; j++) out[j] += dot[j] * jet.value[j];
    return out;
}

/* ---- which way ---- */

/* The node of the only leaf that is not a constant, if the kernel is its product with constants; else -1. */
static int find_leaf(const gram_engine *engine, double *factor)
{
    int found = -1;
    *factor = 1;
    for (int i = 0; i < engine->node_count; i++) {
        const gram_program_node *node = &engine->nodes[i];
        if (gram_program_is_constant(node)) {
            *factor *= node->par[0];
            continue;
        }
        if (node->node == GRAM_NODE_PRODUCT) continue;
        if (node->node != GRAM_NODE_LEAF || node->type->form != GRAM_FORM_SQDIST || found >= 0) return -1;
        found = i;
    }
    return found;
}

static const gram_form_entry *form_of(const gram_stein *stein)
{
    return &stein->engine->forms[stein->engine->nodes[stein->leaf].form];
}

static const gram_mapping *mapping_of(const gram_stein *stein)
{
    return &stein->engine->metrics[form_of(stein)->metric].mapping;
}

/* Is the metric a multiple of |x - y|^2 over all columns in their order? */
static int is_plain(const gram_stein *stein)
{
    const gram_mapping *mapping = mapping_of(stein);
    if (stein->general.plans[stein->leaf].jacobian || form_of(stein)->weights_f64 || mapping->d != stein->d) return 0;
    for (int64_t l = 0; l < mapping->d; l++)
        if (mapping->columns[l] != l) return 0;
    return 1;
}

/* imq(c, 0.5), what most people will use */
static int is_default(const gram_program_node *leaf)
{
    return strcmp(leaf->type->name, "imq") == 0 && leaf->par[1] == 0.5;
}

/* ---- packing ---- */

static double *place(double *packed, int64_t d, int64_t i, int64_t l)
{
    return packed + (i / GRAM_PANEL * d + l) * GRAM_PANEL + i % GRAM_PANEL;
}

/* Row l of W^(1/2) J, times x */
static double mapped(const gram_stein *stein, int64_t l, const double *x)
{
    const gram_mapping *mapping = mapping_of(stein);
    const double *jacobian = stein->general.plans[stein->leaf].jacobian, *weights = form_of(stein)->weights_f64;
    double sum = 0;
    if (!jacobian) sum = x[mapping->columns[l]];
    for (int64_t m = 0; jacobian && m < mapping->source_count; m++)
        sum += jacobian[l * mapping->source_count + m] * x[mapping->columns[m]];
    return (weights ? sqrt(weights[l]) : 1) * sum;
}

/* The transpose of that map: out = J' W^(1/2) u */
static void mapped_back(const gram_stein *stein, const double *u, double *out)
{
    const gram_mapping *mapping = mapping_of(stein);
    const double *jacobian = stein->general.plans[stein->leaf].jacobian, *weights = form_of(stein)->weights_f64;
    memset(out, 0, (size_t)stein->d * sizeof *out);
    for (int64_t l = 0; l < mapping->d; l++) {
        const double scaled = (weights ? sqrt(weights[l]) : 1) * u[l];
        if (!jacobian) out[mapping->columns[l]] += scaled;
        for (int64_t m = 0; jacobian && m < mapping->source_count; m++)
            out[mapping->columns[m]] += jacobian[l * mapping->source_count + m] * scaled;
    }
}

/* tr J'WJ = the squares of all entries of W^(1/2) J: each column of it is the image of a unit vector. x is scratch. */
static double metric_trace(const gram_stein *stein, double *x)
{
    double sum = 0;
    if (stein->plain) return (double)stein->d;
    memset(x, 0, (size_t)stein->d * sizeof *x);
    for (int64_t m = 0; m < stein->d; m++) {
        x[m] = 1;
        for (int64_t l = 0; l < stein->p; l++) sum += pow(mapped(stein, l, x), 2);
        x[m] = 0;
    }
    return sum;
}

/* x, u and back have room for d, p and d numbers. */
static void pack_point(gram_stein *stein, const gram_points *points, const double *score, int64_t i, double *x,
                       double *u, double *back)
{
    const int64_t d = stein->d, p = stein->p;
    for (int64_t l = 0; l < d; l++) x[l] = gram_points_at(points, i, l);
    for (int64_t l = 0; l < d; l++) *place(stein->s, d, i, l) = score[l];
    if (stein->leaf < 0) return;
    for (int64_t l = 0; stein->plain && l < d; l++) *place(stein->u, d, i, l) = x[l];
    if (stein->plain) return;
    for (int64_t l = 0; l < p; l++) *place(stein->t, p, i, l) = mapped(stein, l, score);
    for (int64_t l = 0; l < p; l++) *place(stein->u, p, i, l) = u[l] = mapped(stein, l, x);
    mapped_back(stein, u, back);
    for (int64_t l = 0; l < d; l++) *place(stein->g, d, i, l) = back[l];
}

static gram_status take_packed(gram_context *context, gram_stein *stein, int64_t numbers, double **out)
{
    gram_status status = GRAM_OK;
    TRY(gram_take_from(context, stein->memory, "stein kernel: packed points", numbers, sizeof(double), (void **)out));
    memset(*out, 0, (size_t)numbers * sizeof(double));
done:
    return status;
}

static gram_status pack(gram_context *context, gram_stein *stein, const gram_points *points, const double *scores,
                        int64_t lds)
{
    gram_status status = GRAM_OK;
    const int64_t padded = (stein->n + GRAM_PANEL - 1) / GRAM_PANEL * GRAM_PANEL, room = 2 * stein->d + stein->p;
    double *work = NULL;
    stein->s_size = padded * stein->d;
    stein->u_size = padded * stein->p;
    TRY(gram_take(context, "stein kernel", room, sizeof(double), (void **)&work));
    TRY(take_packed(context, stein, stein->s_size, &stein->s));
    if (stein->leaf >= 0) TRY(take_packed(context, stein, stein->u_size, &stein->u));
    if (stein->leaf >= 0 && !stein->plain) {
        TRY(take_packed(context, stein, stein->u_size, &stein->t));
        TRY(take_packed(context, stein, stein->s_size, &stein->g));
    }
    if (stein->leaf >= 0) stein->trace = metric_trace(stein, work);
    for (int64_t i = 0; i < stein->n; i++)
        pack_point(stein, points, scores + i * lds, i, work, work + stein->d, work + stein->d + stein->p);
    if (stein->plain) stein->t = stein->s;
done:
    gram_give(context, work);
    return status;
}

/* ---- the object ---- */

static gram_status check_scores(gram_context *context, const char *function, const gram_points *points,
                                const double *scores, int64_t lds)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    FAIL_IF(!points, context, GRAM_ERROR_ARGUMENT, "%s: points is NULL", function);
    FAIL_IF(!scores, context, GRAM_ERROR_ARGUMENT, "%s: scores is NULL", function);
    FAIL_IF(lds < points->d, context, GRAM_ERROR_ARGUMENT, "%s: lds = %lld is less than the %lld columns", function,
            (long long)lds, (long long)points->d);
    for (int64_t i = 0; i < points->n; i++)
        for (int64_t l = 0; l < points->d; l++)
            FAIL_IF(!isfinite(scores[i * lds + l]), context, GRAM_ERROR_DATA, "%s: scores[%lld][%lld] is %s", function,
                    (long long)i, (long long)l, gram_number_format(scores[i * lds + l], shown));
done:
    return status;
}

static void choose_way(gram_stein *stein)
{
    gram_jet_work work;
    char none[1];
    stein->leaf = find_leaf(stein->engine, &stein->factor);
    stein->p = stein->leaf < 0 ? 0 : mapping_of(stein)->d;
    stein->plain = stein->leaf >= 0 && is_plain(stein);
    stein->imq = stein->leaf >= 0 && is_default(&stein->engine->nodes[stein->leaf]);
    const size_t bytes = ROW_WORK_BYTES + gram_jet_layout(&stein->general, none, &work);
    stein->rows = (gram_rows){.n = stein->n,
                              .self = stein,
                              .scratch_bytes = (bytes + GRAM_ALIGNMENT - 1) / GRAM_ALIGNMENT * GRAM_ALIGNMENT,
                              .begin = begin,
                              .row = stein->leaf < 0 ? general_row : distance_row};
}

gram_status gram_stein_create(gram_context *context, const char *function, const gram_kernel *kernel,
                              const gram_points *points, const double *scores, int64_t lds, gram_stein **stein)
{
    gram_status status = GRAM_OK;
    gram_stein *made = NULL;
    *stein = NULL;
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "%s: kernel is NULL", function);
    TRY(check_scores(context, function, points, scores, lds));
    TRY(gram_points_must_be_plain(context, function, points));
    TRY(gram_take(context, "stein kernel", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    made->n = points->n;
    made->d = points->d;
    gram_arena_init(&made->general.arena, made->memory);
    const gram_engine_request request = {.kernel = kernel, .x = points, .always_double = 1};
    TRY(gram_engine_create(context, &request, &made->engine));
    made->general.engine = made->engine;
    made->general.out = &made->nothing;
    TRY(gram_deriving_plan(context, &made->general, points, NULL));
    choose_way(made);
    TRY(pack(context, made, points, scores, lds));
    *stein = made;
    made = NULL;
done:
    gram_stein_destroy(made);
    return status;
}

void gram_stein_destroy(gram_stein *stein)
{
    if (!stein) return;
    gram_memory *memory = stein->memory;
    if (stein->t != stein->s) gram_memory_give(memory, stein->t);
    gram_memory_give(memory, stein->u);
    gram_memory_give(memory, stein->s);
    gram_memory_give(memory, stein->g);
    gram_arena_release(&stein->general.arena);
    gram_engine_destroy(stein->engine);
    gram_memory_give(memory, stein);
    gram_memory_release(memory);
}
