/* Two points at a distance t along a column share a bin of pitch p, at a random shift, with probability max(0, 1 - t/p). A kernel of t
 * that is convex and falls from 1 to 0 is a mixture of such hats: p has the density p k''(p), the distribution function
 *
 *     F(p) = 1 - k(p) + p k'(p).
 *
 *     exp(-(t/ell)^a), a <= 1   p = ell g^(1/a): g has the density (1 - a) e^-g + a g e^-g, that is Gamma(2) with probability a and
 *                               else Gamma(1); laplace and laplace1 have a = 1
 *     matern, nu <= 1/2         F inverted by bisection
 *
 * Products are grids with the axes of all factors, independently drawn; a sum is the grid of one term, each with its share of the height. */
#include "kernel/spectral/bin_measure.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "kernel/spectral/bessel_k.h"
#include "kernel/spectral/spectral_measure.h"

static const uint64_t STREAM = 0x62696e73U;
static const double LEAST_PITCH = DBL_MIN, MOST_ARGUMENT = 700; /* of matern, in its own units: beyond it k is 0 */

/* ---- pitches ---- */

static double draw_stretched(gram_cursor *c, double a)
{
    const double g = gram_cursor_uniform(c) < a ? gram_cursor_gamma(c, 2) : gram_cursor_gamma(c, 1);
    return pow(g, 1 / a);
}

/* 1 - F at a pitch of x/sqrt(2 nu) lengths: M(x) - x M'(x) = M + x^2 E. */
static double matern_tail(const gram_bessel_order *order, double x)
{
    double m, e;
    gram_bessel_k_log2(order, x * x, &m, &e);
    return exp2(m) + x * x * exp2(e);
}

static double draw_matern(gram_cursor *c, double nu)
{
    const double u = gram_cursor_uniform(c);
    gram_bessel_order order;
    gram_bessel_order_set(nu, &order);
    double low = log(1e-150), high = log(MOST_ARGUMENT);
    for (int k = 0; k < 200 && high - low > 1e-14 * fabs(low + high); k++) {
        const double middle = (low + high) / 2;
        if (matern_tail(&order, exp(middle)) > u)
            low = middle;
        else
            high = middle;
    }
    return exp((low + high) / 2) / sqrt(2 * nu);
}

/* ---- the tree ---- */

/* The columns of a kernel inside of `on`s. */
typedef struct view {
    const gram_kernel *on;
    const struct view *outer;
} view;

static int64_t outermost(const view *v, int64_t column)
{
    for (; v; v = v->outer) column = v->on->columns[column];
    return column;
}

static int is_named(const gram_kernel *leaf, const char *name)
{
    return strcmp(leaf->type->name, name) == 0;
}

/* What stands in the way, NULL if nothing does. */
static const char *leaf_obstacle(const gram_kernel *k, int64_t d)
{
    double par[GRAM_MAX_SPECS];
    gram_kernel_par(k, par);
    if (is_named(k, "const")) return NULL;
    if (gram_kernel_argument(k, GRAM_ROLE_COVARIANCE)) return "a kernel with a covariance S";
    if (is_named(k, "laplace1")) return NULL;
    const int convex =
        is_named(k, "laplace") || (is_named(k, "powexp") && par[0] <= 1) || (is_named(k, "matern") && par[0] <= 0.5);
    if (!convex) return k->type->name;
    return d == 1 ? NULL : "a distance over several columns";
}

static const char *obstacle(const gram_kernel *k, int64_t d)
{
    switch (k->node) {
    case GRAM_NODE_LEAF: return leaf_obstacle(k, d);
    case GRAM_NODE_ON: return obstacle(k->children[0], k->column_count);
    case GRAM_NODE_SUM:
    case GRAM_NODE_PRODUCT:
    case GRAM_NODE_POWER:
    case GRAM_NODE_NORMALIZE:
        for (int i = 0; i < k->child_count; i++)
            if (obstacle(k->children[i], d)) return obstacle(k->children[i], d);
        return NULL;
    case GRAM_NODE_WARP: return "warp";
    case GRAM_NODE_EXP: return "exp";
    case GRAM_NODE_SCALE: return "scale";
    case GRAM_NODE_CENTRE: return "centre";
    case GRAM_NODE_MEAN: return "mean";
    case GRAM_NODE_AFTER: return "after";
    default: return "this kernel";
    }
}

static int64_t count_axes(const gram_kernel *k, int64_t d)
{
    int64_t out = 0;
    if (k->node == GRAM_NODE_LEAF) return is_named(k, "const") ? 0 : d;
    if (k->node == GRAM_NODE_ON) return count_axes(k->children[0], k->column_count);
    for (int i = 0; i < k->child_count; i++) {
        const int64_t inside = count_axes(k->children[i], d);
        out = k->node == GRAM_NODE_SUM ? (inside > out ? inside : out) : out + inside;
    }
    return k->node == GRAM_NODE_POWER ? out * k->exponent : out;
}

gram_status gram_bins_check(gram_context *context, const char *name, const gram_kernel *kernel, int64_t d,
                            double *height, int64_t *axes)
{
    gram_status status = GRAM_OK;
    const char *what = obstacle(kernel, d);
    FAIL_IF(what, context, GRAM_ERROR_UNSUPPORTED,
            "%s: no bins can be drawn of %s: they are for laplace1, and for on(J, k) with k laplace, powexp with p <= "
            "1 or matern with nu <= 1/2, "
            "their products and sums",
            name, what);
    TRY(gram_spectrum_check(context, name, "", kernel, d, height));
    *axes = count_axes(kernel, d);
done:
    return status;
}

typedef struct drawing {
    gram_cursor cursor;
    gram_bin_axis *axes;
    int64_t count;
} drawing;

static void add_leaf(drawing *w, const gram_kernel *k, int64_t d, const view *v)
{
    const gram_argument *ell = gram_kernel_argument(k, GRAM_ROLE_LENGTH);
    double par[GRAM_MAX_SPECS];
    if (is_named(k, "const")) return;
    gram_kernel_par(k, par);
    for (int64_t l = 0; l < d; l++) {
        const double unit = is_named(k, "matern") ? draw_matern(&w->cursor, par[0])
                                                  : draw_stretched(&w->cursor, is_named(k, "powexp") ? par[0] : 1),
                     pitch = unit * (!ell ? 1 : ell->values[ell->count == 1 ? 0 : l]);
        w->axes[w->count++] =
            (gram_bin_axis){outermost(v, l), fmax(pitch, LEAST_PITCH), gram_cursor_uniform(&w->cursor)};
    }
}

static void add_axes(drawing *w, const gram_kernel *k, int64_t d, const view *v)
{
    const view inside = {k, v};
    switch (k->node) {
    case GRAM_NODE_LEAF: add_leaf(w, k, d, v); return;
    case GRAM_NODE_SUM: add_axes(w, k->children[gram_spectrum_term(&w->cursor, k, d)], d, v); return;
    case GRAM_NODE_ON: add_axes(w, k->children[0], k->column_count, &inside); return;
    case GRAM_NODE_POWER:
        for (int i = 0; i < k->exponent; i++) add_axes(w, k->children[0], d, v);
        return;
    default:
        for (int i = 0; i < k->child_count; i++) add_axes(w, k->children[i], d, v);
        return;
    }
}

int64_t gram_bins_draw(const gram_kernel *kernel, uint64_t seed, int64_t which, int64_t count, int64_t d,
                       gram_bin_axis *axes)
{
    drawing w = {.cursor = gram_cursor_start(seed, STREAM, which, count), .axes = axes};
    add_axes(&w, kernel, d, NULL);
    return w.count;
}
