/* Inner products, norms and distances.
 *
 * <f, g> = a' K(X, Z) b costs one product. A norm is the square root of <f, f>, which rounding (or a kernel that is not
 * positive definite) may push below 0: it is clipped. A distance is the norm of f - g, in which equal centres are merged:
 * what is common to both cancels in the coefficients, exactly for equal ones, and not in |f|^2 + |g|^2 - 2 <f, g>.
 * Coefficients are scaled by powers of two first, so that neither their squares nor their products overflow or vanish.
 *
 * white() is 1 for the same observation. Two functions have no observations in common but those at equal places, so for a
 * kernel that contains it equal centres are taken to be one, here as in sums of functions: then
 * |f - g|^2 = |f|^2 + |g|^2 - 2 <f, g> holds for such kernels too. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "function/function.h"
#include "kernel/kernel.h"
#include "points/points.h"

const char *gram_function_mismatch(const gram_function *f, const gram_function *g)
{
    if (!gram_kernel_equal(f->kernel, g->kernel)) return "their kernels differ";
    if (f->d != g->d) return "their numbers of columns differ";
    if (f->outputs != g->outputs) return "their numbers of outputs differ";
    return NULL;
}

static gram_status check_pair(gram_context *context, const char *who, const gram_function *f, const gram_function *g,
                              const double *out)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!f || !g || !out, context, GRAM_ERROR_ARGUMENT, "%s: %s is NULL", who, !f ? "f" : !g ? "g" : "out");
    const char *wrong = gram_function_mismatch(f, g);
    FAIL_IF(wrong, context, f->d == g->d ? GRAM_ERROR_ARGUMENT : GRAM_ERROR_DIMENSION, "%s: f and g: %s", who, wrong);
done:
    return status;
}

static int sees_observations(const gram_kernel *kernel)
{
    if (kernel->node == GRAM_NODE_LEAF) return kernel->type->form == GRAM_FORM_SAME;
    for (int i = 0; i < kernel->child_count; i++)
        if (sees_observations(kernel->children[i])) return 1;
    return 0;
}

/* ---- sums of products ---- */

/* exponents[o] = e with max_i |a_io| in [2^(e-1), 2^e), 0 for a column of zeros */
static void find_exponents(const gram_function *f, int *exponents)
{
    const int64_t m = f->outputs;
    for (int64_t o = 0; o < m; o++) {
        double most = 0;
        for (int64_t i = 0; i < f->n; i++) most = fmax(most, fabs(f->a[i * m + o]));
        (void)frexp(most, &exponents[o]);
    }
}

/* out[o] = sum_i (2^-e_f a_io) (K 2^-e_g b)_io 2^(e_f + e_g) */
static gram_status sum_products(gram_context *context, const gram_function *f, const gram_function *g, double *out,
                                int *exponents)
{
    gram_status status = GRAM_OK;
    const int64_t m = f->outputs, numbers = g->n * m;
    double *b = NULL, *product = NULL;
    TRY(gram_take(context, "function_inner", numbers, sizeof(double), (void **)&b));
    TRY(gram_take(context, "function_inner", f->n * m, sizeof(double), (void **)&product));
    find_exponents(g, exponents);
    for (int64_t k = 0; k < numbers; k++) b[k] = ldexp(g->a[k], -exponents[k % m]);
    TRY(gram_matrix_product(context, f->kernel, f->centres, g->centres, m, b, m, product, m));
    find_exponents(f, exponents + m);
    for (int64_t o = 0; o < m; o++) {
        out[o] = 0;
        for (int64_t i = 0; i < f->n; i++) out[o] += ldexp(f->a[i * m + o], -exponents[m + o]) * product[i * m + o];
        FAIL_IF(isnan(out[o]), context, GRAM_ERROR_NUMERICAL, "function_inner: output %" PRId64 " overflows", o);
    }
done:
    gram_give(context, product);
    gram_give(context, b);
    return status;
}

/* The functions with their equal centres merged, if that makes a difference to the kernel. */
static gram_status observe(gram_context *context, const gram_function *f, gram_function **out)
{
    gram_function *shared = (gram_function *)f; /* counted, not changed */
    if (sees_observations(f->kernel)) return gram_function_merge(context, shared, out);
    *out = gram_function_retain(shared);
    return GRAM_OK;
}

/* |f| = sqrt(a' K a), by output. */
static gram_status find_norm(gram_context *context, const gram_function *f, double *out)
{
    gram_status status = GRAM_OK;
    gram_function *merged = NULL;
    int *exponents = NULL;
    const int64_t m = f->outputs;
    TRY(observe(context, f, &merged));
    TRY(gram_take(context, "function_norm", 2 * m, sizeof(int), (void **)&exponents));
    TRY(sum_products(context, merged, merged, out, exponents));
    for (int64_t o = 0; o < m; o++) out[o] = out[o] > 0 ? ldexp(sqrt(out[o]), exponents[o]) : 0;
done:
    gram_give(context, exponents);
    gram_function_release(merged);
    return status;
}

/* <f, g> over the centres of both: what K(X, Z) cannot see is there when a set meets itself. With |h|^2 for h = f + g and
 * h = f - g it would cancel; instead, f and g are written over one set of centres, as two outputs of one function. */
static gram_status join(gram_context *context, const gram_function *f, const gram_function *g, gram_function **out)
{
    gram_status status = GRAM_OK;
    gram_function *both = NULL;
    const int64_t m = f->outputs, n = f->n + g->n;
    TRY(gram_function_make(context, (gram_function_room){f->kernel, n, f->d, 2 * m, f->f32 && g->f32}, &both));
    memset(both->a, 0, (size_t)(n * 2 * m) * sizeof(double));
    for (int64_t i = 0; i < n; i++) {
        const gram_function *from = i < f->n ? f : g;
        const int64_t row = i < f->n ? i : i - f->n;
        gram_function_put_row(from, row, both, i);
        memcpy(both->a + i * 2 * m + (i < f->n ? 0 : m), from->a + row * m, (size_t)m * sizeof(double));
    }
    TRY(gram_function_seal(context, "function_inner", GRAM_ERROR_NUMERICAL, both));
    TRY(gram_function_merge(context, both, out));
done:
    gram_function_release(both);
    return status;
}

/* One half of the outputs of `both` as a function over the same centres. */
static gram_status take_half(gram_context *context, const gram_function *both, int second, gram_function **out)
{
    const int64_t m = both->outputs / 2;
    return gram_function_create(context, both->kernel, both->centres, m, both->a + (second ? m : 0), 2 * m, NULL, out);
}

static gram_status inner_observed(gram_context *context, const gram_function *f, const gram_function *g, double *out,
                                  int *exponents)
{
    gram_status status = GRAM_OK;
    gram_function *both = NULL, *first = NULL, *second = NULL;
    TRY(join(context, f, g, &both));
    TRY(take_half(context, both, 0, &first));
    TRY(take_half(context, both, 1, &second));
    gram_points_release(second->centres); /* the same observations as those of the first */
    second->centres = gram_points_retain(first->centres);
    TRY(sum_products(context, first, second, out, exponents));
done:
    gram_function_release(second);
    gram_function_release(first);
    gram_function_release(both);
    return status;
}

/* ---- the public functions ---- */

gram_status gram_function_inner(gram_context *context, const gram_function *f, const gram_function *g, double *out)
{
    gram_status status = GRAM_OK;
    int *exponents = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(check_pair(context, "function_inner", f, g, out));
    const int64_t m = f->outputs;
    TRY(gram_take(context, "function_inner", 2 * m, sizeof(int), (void **)&exponents));
    if (sees_observations(f->kernel))
        TRY(inner_observed(context, f, g, out, exponents));
    else
        TRY(sum_products(context, f, g, out, exponents));
    for (int64_t o = 0; o < m; o++) out[o] = ldexp(out[o], exponents[o] + exponents[m + o]);
done:
    gram_give(context, exponents);
    return status;
}

gram_status gram_function_norm(gram_context *context, const gram_function *f, double *out)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!f || !out, context, GRAM_ERROR_ARGUMENT, "function_norm: %s is NULL", !f ? "f" : "out");
    TRY(find_norm(context, f, out));
done:
    return status;
}

gram_status gram_function_distance(gram_context *context, const gram_function *f, const gram_function *g, double *out)
{
    gram_status status = GRAM_OK;
    gram_function *difference = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(check_pair(context, "function_distance", f, g, out));
    TRY(gram_function_combine(context, 1, f, -1, g, &difference));
    TRY(find_norm(context, difference, out));
done:
    gram_function_release(difference);
    return status;
}

/* ---- |f(x) - f(y)| <= |f| d_k(x, y) ---- */

gram_status gram_function_variation_bound(gram_context *context, const gram_function *f, const gram_points *x,
                                          int64_t i, int64_t j, double *out)
{
    gram_status status = GRAM_OK;
    gram_points *first = NULL, *second = NULL;
    double distance = 0;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!f || !x || !out, context, GRAM_ERROR_ARGUMENT, "function_variation_bound: %s is NULL",
            !f   ? "f"
            : !x ? "x"
                 : "out");
    FAIL_IF(x->d != f->d, context, GRAM_ERROR_DIMENSION,
            "function_variation_bound: x has %" PRId64 " columns, the centres have %" PRId64, x->d, f->d);
    FAIL_IF(i < 0 || j < 0 || i >= x->n || j >= x->n, context, GRAM_ERROR_ARGUMENT,
            "function_variation_bound: i = %" PRId64 ", j = %" PRId64 ", there are %" PRId64 " points", i, j, x->n);
    TRY(gram_points_part(context, x, i, 1, &first));
    TRY(gram_points_part(context, x, j, 1, &second));
    if (i != j) TRY(gram_matrix_distance(context, f->kernel, first, second, &distance, 1));
    TRY(find_norm(context, f, out));
    for (int64_t o = 0; o < f->outputs; o++) out[o] = distance > 0 && out[o] > 0 ? out[o] * distance : 0;
done:
    gram_points_release(second);
    gram_points_release(first);
    return status;
}
