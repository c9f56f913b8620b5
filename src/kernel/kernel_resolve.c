/* Open numbers become values: length-scales by the median heuristic, others by their defaults. Centres without a sample get one.
 *
 * The median of |x_i - x_j| over pairs i < j of different points puts the kernel where it neither sees all points as
 * equal nor all as strangers (used in Gretton et al., "A kernel two-sample test", JMLR 2012). With more than 2,000
 * rows, 2,000 of them are drawn by the context's seed: 2 million pairs, 16 MB.
 *
 * Distances are sums of differences. Coordinates are first multiplied by a power of two that brings the largest near 1:
 * exact, and squares then neither overflow nor vanish. Under a warp the points are first mapped. */
#include <math.h>
#include <string.h>

#include <gram/random.h>

#include "base/sweep.h"
#include "kernel/embedding/resolve_parts.h"
#include "kernel/kernel.h"
#include "points/bags.h"

enum { MAX_ROWS = 2000, COLUMNS_PER_PANEL = 64, ROWS_PER_TASK = 32, RANDOM_STREAM = 0x6d6564 /* "med" */ };

/* A median that is already known. */
typedef struct median {
    struct median *next;
    int l1;
    double value;
    int64_t d;
    int64_t columns[];
} median;

typedef struct resolving {
    const gram_points *points;
    int64_t rows;     /* of the points that are looked at */
    int64_t *row_ids; /* NULL: all */
    double *pairs;    /* (i, j), i < j: a distance, squared unless it is L1 */
    double *panel;    /* COLUMNS_PER_PANEL columns of `rows` numbers, one after the other */
    double *mapped;   /* under a warp: its columns, `rows` numbers each; otherwise NULL */
    median *known;
    gram_after_median after; /* of what a kernel inside makes */
} resolving;

static int64_t pair_count(const resolving *r)
{
    return r->rows * (r->rows - 1) / 2;
}

static int64_t row_id(const resolving *r, int64_t i)
{
    return r->row_ids ? r->row_ids[i] : i;
}

static int64_t column_id(const gram_view *view, int64_t l)
{
    return view->columns ? view->columns[l] : l;
}

/* What the view sees of row i in its column l. */
static double seen_at(const resolving *r, const gram_view *view, int64_t i, int64_t l)
{
    const int64_t column = column_id(view, l);
    return r->mapped ? r->mapped[column * r->rows + i] : gram_points_at(r->points, row_id(r, i), column);
}

/* ---- under a warp ---- */

static void drop_mapped(gram_context *context, resolving *r, const gram_view *view)
{
    if (view->warp) gram_give(context, r->mapped);
    r->mapped = NULL;
}

/* Sets r->mapped to A x for all rows, A the warp of the view and x what its outer view sees; NULL without a warp. */
static gram_status map_rows(gram_context *context, resolving *r, const gram_view *view)
{
    gram_status status = GRAM_OK;
    double *out = NULL;
    const gram_kernel *warp = view->warp;
    if (!warp) goto done;
    TRY(map_rows(context, r, view->outer));
    TRY(gram_take(context, "kernel_resolve: warped points", r->rows * warp->matrix_rows, sizeof *out, (void **)&out));
    for (int64_t row = 0; row < warp->matrix_rows; row++)
        for (int64_t i = 0; i < r->rows; i++) {
            double sum = 0;
            for (int64_t l = 0; l < warp->matrix_columns; l++)
                sum += warp->matrix[row * warp->matrix_columns + l] * seen_at(r, view->outer, i, l);
            FAIL_IF(!isfinite(sum), context, GRAM_ERROR_DATA,
                    "kernel_resolve: entry %lld of A x[%lld] is too large for a number", (long long)row + 1,
                    (long long)row_id(r, i));
            out[row * r->rows + i] = sum;
        }
done:
    if (warp) {
        drop_mapped(context, r, view->outer);
        if (status < 0) gram_give(context, out);
        r->mapped = status < 0 ? NULL : out;
    }
    return status;
}

/* ---- distances ---- */

/* The exponent e with max |x| in [2^(e-1), 2^e) over what is looked at; 0 if all are 0. */
static int magnitude(const resolving *r, const gram_view *view)
{
    double most = 0;
    int exponent = 0;
    for (int64_t i = 0; i < r->rows; i++)
        for (int64_t l = 0; l < view->d; l++) most = fmax(most, fabs(seen_at(r, view, i, l)));
    (void)frexp(most, &exponent);
    return most > 0 ? exponent : 0;
}

static void fill_panel(resolving *r, const gram_view *view, int64_t first, int64_t count, int exponent)
{
    for (int64_t l = 0; l < count; l++)
        for (int64_t i = 0; i < r->rows; i++)
            r->panel[l * r->rows + i] = ldexp(seen_at(r, view, i, first + l), -exponent);
}

/* out[k] += sum_l (x_il - x_jl)^2, or |x_il - x_jl|, j = i + 1 + k < rows */
static void add_row(const resolving *r, int l1, int64_t count, int64_t i, double *out)
{
    for (int64_t l = 0; l < count; l++) {
        const double *x = r->panel + l * r->rows, *others = x + i + 1;
        const int64_t left = r->rows - i - 1;
        for (int64_t k = 0; k < left; k++) {
            const double difference = x[i] - others[k];
            out[k] += l1 ? fabs(difference) : difference * difference;
        }
    }
}

/* One panel of columns added to all pairs; a task owns some rows of them. */
typedef struct panel_sweep {
    const resolving *r;
    int l1;
    int64_t count;
} panel_sweep;

static gram_status add_rows(void *argument, const gram_worker *worker)
{
    const panel_sweep *s = argument;
    const int64_t rows = s->r->rows, from = worker->task * ROWS_PER_TASK;
    const int64_t to = from + ROWS_PER_TASK < rows ? from + ROWS_PER_TASK : rows;
    /* row i holds pairs (i, i+1) ... (i, rows-1), and starts after those of the rows before it */
    for (int64_t i = from; i < to; i++) add_row(s->r, s->l1, s->count, i, s->r->pairs + i * rows - i * (i + 1) / 2);
    return GRAM_OK;
}

/* ---- distances of sparse rows ---- */

typedef struct sparse_sweep {
    const resolving *r;
    int64_t column;
    int l1;
} sparse_sweep;

static gram_status walk_rows(void *argument, const gram_worker *worker)
{
    const sparse_sweep *s = argument;
    const resolving *r = s->r;
    const gram_objects *store = r->points->objects[s->column];
    const int64_t from = worker->task * ROWS_PER_TASK;
    const int64_t to = from + ROWS_PER_TASK < r->rows ? from + ROWS_PER_TASK : r->rows;
    for (int64_t i = from; i < to; i++) {
        double *out = r->pairs + i * r->rows - i * (i + 1) / 2;
        const int64_t own = gram_points_place(r->points, row_id(r, i), s->column);
        for (int64_t j = i + 1; j < r->rows; j++)
            *out++ =
                gram_sparse_distance(store, own, store, gram_points_place(r->points, row_id(r, j), s->column), s->l1);
    }
    return GRAM_OK;
}

/* Does the view see one column, of sparse rows? */
static int sees_sparse(const resolving *r, const gram_view *view)
{
    return view->d == 1 && !view->warp && gram_points_kind(r->points, column_id(view, 0)) == GRAM_OBJECT_SPARSE;
}

static gram_status fill_pairs(gram_context *context, resolving *r, const gram_view *view, int l1, int exponent)
{
    gram_status status = GRAM_OK;
    if (r->rows < 2) return GRAM_OK;
    if (sees_sparse(r, view)) {
        sparse_sweep argument = {r, column_id(view, 0), l1};
        const gram_sweep sweep = {.what = "median distance",
                                  .tasks = (r->rows + ROWS_PER_TASK - 1) / ROWS_PER_TASK,
                                  .run = walk_rows,
                                  .argument = &argument};
        return gram_sweep_run(context, &sweep);
    }
    memset(r->pairs, 0, (size_t)pair_count(r) * sizeof *r->pairs);
    for (int64_t first = 0; first < view->d; first += COLUMNS_PER_PANEL) {
        const int64_t left = view->d - first, count = left < COLUMNS_PER_PANEL ? left : COLUMNS_PER_PANEL;
        panel_sweep argument = {r, l1, count};
        fill_panel(r, view, first, count, exponent);
        const gram_sweep sweep = {.what = "median distance",
                                  .tasks = (r->rows + ROWS_PER_TASK - 1) / ROWS_PER_TASK,
                                  .run = add_rows,
                                  .argument = &argument,
                                  .share_before = (double)first / (double)view->d,
                                  .share_after = (double)(first + count) / (double)view->d};
        TRY(gram_sweep_run(context, &sweep));
    }
done:
    return status;
}

/* ---- the median ---- */

static void swap(double *a, double *b)
{
    const double kept = *a;
    *a = *b;
    *b = kept;
}

/* Puts the k-th smallest of x[0 .. n) at x[k], smaller ones before it, larger ones after it (Hoare's quickselect with
 * the middle of three as pivot). O(n) on average. */
static void select_kth(double *x, int64_t n, int64_t k)
{
    int64_t low = 0, high = n - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (x[middle] < x[low]) swap(&x[middle], &x[low]);
        if (x[high] < x[low]) swap(&x[high], &x[low]);
        if (x[high] < x[middle]) swap(&x[high], &x[middle]);
        const double pivot = x[middle];
        int64_t i = low, j = high;
        while (i <= j) {
            while (x[i] < pivot) i++;
            while (pivot < x[j]) j--;
            if (i <= j) swap(&x[i++], &x[j--]);
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            return;
    }
}

/* The middle of x[0 .. n) in order, or the mean of the two in the middle, after `root` of each. */
static double middle_of(double *x, int64_t n, int root)
{
    const int64_t k = n / 2;
    select_kth(x, n, k);
    const double upper = root ? sqrt(x[k]) : x[k];
    if (n % 2 == 1) return upper;
    double below = x[0];
    for (int64_t i = 1; i < k; i++) below = fmax(below, x[i]);
    return 0.5 * ((root ? sqrt(below) : below) + upper);
}

static gram_status compute_median(gram_context *context, resolving *r, const gram_view *view, int l1, double *value)
{
    gram_status status = GRAM_OK;
    int64_t count = 0;
    *value = 1;
    if (r->rows < 2) goto done;
    TRY(map_rows(context, r, view));
    const int exponent = sees_sparse(r, view) ? 0 : magnitude(r, view);
    TRY(fill_pairs(context, r, view, l1, exponent));
    for (int64_t i = 0; i < pair_count(r); i++)
        if (r->pairs[i] > 0) r->pairs[count++] = r->pairs[i];
    if (count > 0) *value = ldexp(middle_of(r->pairs, count, !l1), exponent);
done:
    drop_mapped(context, r, view);
    return status;
}

static int same_columns(const gram_view *view, const median *known)
{
    if (view->d != known->d) return 0;
    for (int64_t l = 0; l < view->d; l++)
        if (column_id(view, l) != known->columns[l]) return 0;
    return 1;
}

/* The median for these columns and this norm, computed once (under a warp, for each leaf). */
static gram_status find_median(gram_context *context, resolving *r, const gram_view *view, int l1, double *value)
{
    gram_status status = GRAM_OK;
    median *made = NULL;
    if (view->warp) return compute_median(context, r, view, l1, value);
    for (const median *m = r->known; m; m = m->next) {
        if (m->l1 != l1 || !same_columns(view, m)) continue;
        *value = m->value;
        goto done;
    }
    const int64_t bytes = (int64_t)sizeof *made + view->d * (int64_t)sizeof(int64_t);
    TRY(gram_take(context, "kernel_resolve: columns", bytes, 1, (void **)&made));
    *made = (median){.next = r->known, .l1 = l1, .d = view->d};
    for (int64_t l = 0; l < view->d; l++) made->columns[l] = column_id(view, l);
    r->known = made;
    TRY(compute_median(context, r, view, l1, &made->value));
    *value = made->value;
done:
    return status;
}

/* ---- the tree ---- */

/* `inner`: the kernel whose distance the leaf sees, NULL: it sees the points. */
static gram_status resolve_numbers(gram_context *context, resolving *r, const gram_kernel *leaf, gram_kernel *inner,
                                   const gram_view *view, gram_kernel **out)
{
    gram_status status = GRAM_OK;
    gram_argument arguments[GRAM_MAX_SPECS];
    double values[GRAM_MAX_SPECS];
    const gram_form form = leaf->type->form;
    memcpy(arguments, leaf->arguments, sizeof arguments);
    for (int i = 0; i < leaf->type->spec_count; i++) {
        const gram_parameter_spec *spec = &leaf->type->specs[i];
        if (arguments[i].count == 0 || arguments[i].set) continue;
        values[i] = spec->resolved;
        if (spec->role == GRAM_ROLE_LENGTH && inner)
            TRY(r->after(context, inner, view, r->points, &values[i]));
        else if (spec->role == GRAM_ROLE_LENGTH && (form == GRAM_FORM_SQDIST || form == GRAM_FORM_L1))
            TRY(find_median(context, r, view, form == GRAM_FORM_L1, &values[i]));
        arguments[i].values = &values[i];
        arguments[i].set = 1;
    }
    TRY(gram_kernel_leaf(context, leaf->type, arguments, out));
done:
    return status;
}

static gram_status resolve_leaf(gram_context *context, void *state, const gram_kernel *leaf, const gram_view *view,
                                gram_kernel **out)
{
    return resolve_numbers(context, state, leaf, NULL, view, out);
}

static gram_status resolve_outside(gram_context *context, void *state, gram_kernel *inner, const gram_kernel *leaf,
                                   const gram_view *view, gram_kernel **out)
{
    return resolve_numbers(context, state, leaf, inner, view, out);
}

/* Of bags: by their rows. */
static gram_status resolve_inside(gram_context *context, void *state, const gram_kernel *child, const gram_view *view,
                                  gram_kernel **out)
{
    gram_status status = GRAM_OK;
    const resolving *r = state;
    const int64_t column = column_id(view, 0);
    gram_bag_rows bags = {NULL, NULL, NULL};
    FAIL_IF(view->warp || gram_points_kind(r->points, column) != GRAM_OBJECT_BAG, context, GRAM_ERROR_UNSUPPORTED,
            "mean takes bags, and column %lld holds %s", (long long)column + 1,
            gram_object_kind_name(gram_points_kind(r->points, column)));
    TRY(gram_bag_rows_gather(context, r->points, column, 0, NULL, &bags));
    TRY(gram_kernel_resolve_parts(context, child, bags.rows, r->after, out));
done:
    gram_bag_rows_give(context, &bags);
    return status;
}

/* Under a mean and outside of an after lengths are not those of the points. */
static int has_open_length(const gram_kernel *kernel)
{
    if (kernel->node == GRAM_NODE_MEAN) return 0;
    if (kernel->node == GRAM_NODE_AFTER) return has_open_length(kernel->children[0]);
    if (kernel->node == GRAM_NODE_LEAF) {
        const gram_argument *length = gram_kernel_argument(kernel, GRAM_ROLE_LENGTH);
        return length && !length->set;
    }
    for (int i = 0; i < kernel->child_count; i++)
        if (has_open_length(kernel->children[i])) return 1;
    return 0;
}

static gram_status prepare(gram_context *context, resolving *r)
{
    gram_status status = GRAM_OK;
    const int64_t n = r->points->n;
    r->rows = n < MAX_ROWS ? n : MAX_ROWS;
    if (n > MAX_ROWS) {
        TRY(gram_take(context, "kernel_resolve: rows", n, sizeof *r->row_ids, (void **)&r->row_ids));
        gram_random_permutation((gram_random){context->seed, RANDOM_STREAM}, 0, n, r->row_ids);
    }
    TRY(gram_take(context, "kernel_resolve: distances", pair_count(r), sizeof *r->pairs, (void **)&r->pairs));
    TRY(gram_take(context, "kernel_resolve: points", r->rows * COLUMNS_PER_PANEL, sizeof *r->panel,
                  (void **)&r->panel));
done:
    return status;
}

static void finish(gram_context *context, resolving *r)
{
    while (r->known) {
        median *next = r->known->next;
        gram_give(context, r->known);
        r->known = next;
    }
    gram_give(context, r->panel);
    gram_give(context, r->pairs);
    gram_give(context, r->row_ids);
}

gram_status gram_kernel_resolve_parts(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                                      gram_after_median after, gram_kernel **out)
{
    gram_status status = GRAM_OK;
    resolving r = {.points = points, .after = after};
    const gram_rebuild how = {resolve_leaf, resolve_inside, resolve_outside, &r};
    gram_kernel *bound = NULL;
    const gram_view all = {.d = points->d};
    TRY(gram_kernel_check_dimension(context, kernel, points->d));
    if (has_open_length(kernel)) TRY(prepare(context, &r));
    TRY(gram_kernel_bind_rows(context, kernel, points, &bound));
    TRY(gram_kernel_rebuild_by(context, bound, &all, &how, out));
done:
    gram_kernel_release(bound);
    finish(context, &r);
    return status;
}

double gram_median(double *x, int64_t n)
{
    return middle_of(x, n, 0);
}
