/* Fewer centres: sums of functions, equal centres made one, small terms dropped.
 *
 * Equal centres are found by sorting the rows as bytes (so 0 and -0 are different places) with a stable merge sort: the
 * first of each kind comes first and stands for all. The order of the centres is kept. O(n log n) comparisons, and no
 * memory that is not counted, which the library's qsort would take. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "function/function.h"
#include "points/functionals.h"
#include <gram/text.h>

/* ---- sorting numbers 0 .. n-1 ---- */

typedef int (*before_fn)(const void *things, int64_t i, int64_t j); /* does j come before i for sure? */

static void merge_runs(const void *things, before_fn before, const int64_t *from, int64_t middle, int64_t end,
                       int64_t *to)
{
    int64_t left = 0, right = middle;
    for (int64_t k = 0; k < end; k++) {
        const int take_right = left >= middle || (right < end && before(things, from[left], from[right]));
        to[k] = from[take_right ? right++ : left++];
    }
}

/* order[0 .. n) gets the numbers in order; equal ones as they were. */
static gram_status sort_numbers(gram_context *context, const void *things, before_fn before, int64_t n, int64_t *order)
{
    gram_status status = GRAM_OK;
    int64_t *other = NULL;
    TRY(gram_take(context, "function: sorting", n, sizeof *other, (void **)&other));
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t run = 1; run < n; run *= 2) {
        for (int64_t start = 0; start < n; start += 2 * run) {
            const int64_t end = n - start < 2 * run ? n - start : 2 * run;
            merge_runs(things, before, order + start, run < end ? run : end, end, other + start);
        }
        memcpy(order, other, (size_t)n * sizeof *order);
    }
done:
    gram_give(context, other);
    return status;
}

/* ---- merging ---- */

static int compare_rows(const gram_function *f, int64_t i, int64_t j)
{
    return memcmp(gram_function_row(f, i), gram_function_row(f, j), gram_function_row_bytes(f));
}

static int row_before(const void *things, int64_t i, int64_t j)
{
    return compare_rows(things, j, i) < 0;
}

/* place[i] = where centre i goes among the different ones, in the order of their first appearance */
static gram_status find_places(gram_context *context, const gram_function *f, int64_t *place, int64_t *count)
{
    gram_status status = GRAM_OK;
    int64_t *order = NULL;
    TRY(gram_take(context, "function: merging", f->n, sizeof *order, (void **)&order));
    TRY(sort_numbers(context, f, row_before, f->n, order));
    for (int64_t k = 0, first = 0; k < f->n; k++) {
        if (compare_rows(f, order[first], order[k]) != 0) first = k;
        place[order[k]] = order[first];
    }
    *count = 0;
    for (int64_t i = 0; i < f->n; i++) place[i] = place[i] == i ? (*count)++ : place[place[i]];
done:
    gram_give(context, order);
    return status;
}

static gram_status make_like(gram_context *context, const gram_function *f, int64_t n, gram_function **out)
{
    gram_status status = GRAM_OK;
    TRY(gram_function_make(context, (gram_function_room){f->kernel, n, f->d, f->outputs, f->f32 != NULL}, out));
    memcpy((*out)->constant, f->constant, (size_t)f->outputs * sizeof(double));
    if (!f->slopes) goto done;
    TRY(gram_function_take_slopes(context, *out));
    memcpy((*out)->slopes, f->slopes, (size_t)(f->outputs * f->d) * sizeof(double));
done:
    return status;
}

gram_status gram_function_merge(gram_context *context, gram_function *f, gram_function **out)
{
    gram_status status = GRAM_OK;
    gram_function *made = NULL;
    int64_t *place = NULL, count;
    *out = NULL;
    TRY(gram_take(context, "function: merging", f->n, sizeof *place, (void **)&place));
    TRY(find_places(context, f, place, &count));
    if (count == f->n) {
        *out = gram_function_retain(f);
        goto done;
    }
    TRY(make_like(context, f, count, &made));
    memset(made->a, 0, (size_t)(count * f->outputs) * sizeof(double));
    for (int64_t i = 0; i < f->n; i++) {
        gram_function_put_row(f, i, made, place[i]);
        for (int64_t o = 0; o < f->outputs; o++) made->a[place[i] * f->outputs + o] += f->a[i * f->outputs + o];
    }
    TRY(gram_function_seal(context, "function: merged centres", GRAM_ERROR_NUMERICAL, made));
    *out = made;
    made = NULL;
done:
    gram_function_release(made);
    gram_give(context, place);
    return status;
}

/* ---- s f + t g ---- */

/* Adds factor times f to `to`, its terms from number `at` on. */
static void put_terms(const gram_function *f, double factor, int64_t at, gram_function *to)
{
    const int64_t m = f->outputs;
    for (int64_t i = 0; i < f->n; i++) gram_function_put_row(f, i, to, at + i);
    for (int64_t k = 0; k < f->n * m; k++) to->a[at * m + k] = factor * f->a[k];
    for (int64_t o = 0; o < m; o++) to->constant[o] += factor * f->constant[o];
    for (int64_t k = 0; k < m * f->d && f->slopes; k++) to->slopes[k] += factor * f->slopes[k];
}

static gram_status check_combine(gram_context *context, double s, const gram_function *f, double t,
                                 const gram_function *g)
{
    gram_status status = GRAM_OK;
    char value[GRAM_NUMBER_SIZE];
    FAIL_IF(!f, context, GRAM_ERROR_ARGUMENT, "function_combine: f is NULL");
    FAIL_IF(!isfinite(s), context, GRAM_ERROR_ARGUMENT, "function_combine: s is %s", gram_number_format(s, value));
    if (!g) goto done;
    FAIL_IF(!isfinite(t), context, GRAM_ERROR_ARGUMENT, "function_combine: t is %s", gram_number_format(t, value));
    const char *wrong = gram_function_mismatch(f, g);
    FAIL_IF(wrong, context, f->d == g->d ? GRAM_ERROR_ARGUMENT : GRAM_ERROR_DIMENSION, "function_combine: f and g: %s",
            wrong);
done:
    return status;
}

/* The same where centres are functionals: those of both, one after the other, or one set if they are the same. */
static gram_status combine_functionals(gram_context *context, double s, const gram_function *f, double t,
                                       const gram_function *g, gram_function **out)
{
    gram_status status = GRAM_OK;
    const int64_t m = f->outputs, d = f->d;
    const int alike = g && gram_functionals_equal(f->centres, g->centres);
    gram_points *joined = NULL;
    double *numbers = NULL;
    if (g && !alike) TRY(gram_functionals_join(context, f->centres, g->centres, &joined));
    const gram_points *centres = joined ? joined : f->centres;
    TRY(gram_take(context, "function_combine", centres->n * m + m + m * d, sizeof *numbers, (void **)&numbers));
    double *a = numbers, *constant = a + centres->n * m, *slopes = constant + m;
    for (int64_t k = 0; k < centres->n * m; k++) a[k] = k < f->n * m ? s * f->a[k] : t * g->a[k - f->n * m];
    for (int64_t k = 0; k < f->n * m && alike; k++) a[k] += t * g->a[k];
    for (int64_t o = 0; o < m; o++) constant[o] = s * f->constant[o] + (g ? t * g->constant[o] : 0);
    for (int64_t k = 0; k < m * d; k++)
        slopes[k] = (f->slopes ? s * f->slopes[k] : 0) + (g && g->slopes ? t * g->slopes[k] : 0);
    status = gram_function_create_sloped(context, f->kernel, centres, m, a, m, constant,
                                         f->slopes || (g && g->slopes) ? slopes : NULL, d, out);
    if (status == GRAM_ERROR_DATA) status = GRAM_ERROR_NUMERICAL; /* the numbers overflowed */
done:
    gram_give(context, numbers);
    gram_points_release(joined);
    return status;
}

gram_status gram_function_combine(gram_context *context, double s, const gram_function *f, double t,
                                  const gram_function *g, gram_function **out)
{
    gram_status status = GRAM_OK;
    gram_function *whole = NULL;
    if (!context || !out) return GRAM_ERROR_ARGUMENT;
    *out = NULL;
    TRY(check_combine(context, s, f, t, g));
    if (f->centres->functionals || (g && g->centres->functionals)) return combine_functionals(context, s, f, t, g, out);
    const gram_function_room room = {f->kernel, f->n + (g ? g->n : 0), f->d, f->outputs, f->f32 && (!g || g->f32)};
    TRY(gram_function_make(context, room, &whole));
    if (f->slopes || (g && g->slopes)) TRY(gram_function_take_slopes(context, whole));
    put_terms(f, s, 0, whole);
    if (g) put_terms(g, t, f->n, whole);
    TRY(gram_function_seal(context, "function_combine", GRAM_ERROR_NUMERICAL, whole));
    TRY(gram_function_merge(context, whole, out));
done:
    gram_function_release(whole);
    return status;
}

/* ---- pruning ---- */

/* What each centre counts for, |a_io| sqrt(k(x_i, x_i)) by output, and the most over the outputs. */
typedef struct weighing {
    double *sizes; /* n x outputs */
    double *most;  /* n */
} weighing;

static int lighter(const void *things, int64_t i, int64_t j)
{
    const double *most = things;
    return most[j] < most[i];
}

static gram_status weigh(gram_context *context, const gram_function *f, const weighing *w)
{
    gram_status status = GRAM_OK;
    const int64_t m = f->outputs;
    TRY(gram_matrix_diagonal(context, f->kernel, f->centres, w->most));
    for (int64_t i = 0; i < f->n; i++) {
        const double root = sqrt(fabs(w->most[i]));
        w->most[i] = 0;
        for (int64_t o = 0; o < m; o++) {
            w->sizes[i * m + o] = fabs(f->a[i * m + o]) * root;
            w->most[i] = fmax(w->most[i], w->sizes[i * m + o]);
        }
    }
done:
    return status;
}

/* Does one more term keep all sums within the tolerance? Sums of n numbers >= 0 are too small by n roundings at most. */
static int fits(double *dropped, const double *sizes, int64_t m, int64_t n, double tolerance)
{
    const double slack = 1 + 2 * (double)n * DBL_EPSILON;
    for (int64_t o = 0; o < m; o++)
        if (!((dropped[o] + sizes[o]) * slack <= tolerance)) return 0;
    for (int64_t o = 0; o < m; o++) dropped[o] += sizes[o];
    return 1;
}

/* keep[i] = 0 for the centres that go; *count of them stay. */
static gram_status choose(gram_context *context, const gram_function *f, const weighing *w, double tolerance,
                          int64_t *keep, int64_t *count)
{
    gram_status status = GRAM_OK;
    const int64_t m = f->outputs;
    int64_t *order = NULL, gone = 0;
    double *dropped = NULL;
    TRY(gram_take(context, "function_prune", f->n, sizeof *order, (void **)&order));
    TRY(gram_take(context, "function_prune", m, sizeof(double), (void **)&dropped));
    TRY(sort_numbers(context, w->most, lighter, f->n, order));
    for (int64_t o = 0; o < m; o++) dropped[o] = 0;
    while (gone < f->n - 1 && fits(dropped, w->sizes + order[gone] * m, m, f->n, tolerance)) gone++;
    for (int64_t k = 0; k < f->n; k++) keep[order[k]] = k >= gone;
    *count = f->n - gone;
done:
    gram_give(context, dropped);
    gram_give(context, order);
    return status;
}

static gram_status keep_some(gram_context *context, const gram_function *f, const int64_t *keep, int64_t count,
                             gram_function **out)
{
    gram_status status = GRAM_OK;
    gram_function *made = NULL;
    const int64_t m = f->outputs;
    TRY(make_like(context, f, count, &made));
    for (int64_t i = 0, at = 0; i < f->n; i++) {
        if (!keep[i]) continue;
        gram_function_put_row(f, i, made, at);
        memcpy(made->a + at * m, f->a + i * m, (size_t)m * sizeof(double));
        at++;
    }
    TRY(gram_function_seal(context, "function_prune", GRAM_ERROR_NUMERICAL, made));
    *out = made;
    made = NULL;
done:
    gram_function_release(made);
    return status;
}

static gram_status prune_merged(gram_context *context, const gram_function *f, double tolerance, gram_function **out)
{
    gram_status status = GRAM_OK;
    const int64_t numbers = f->n * f->outputs;
    weighing w = {NULL, NULL};
    int64_t *keep = NULL, count;
    TRY(gram_take(context, "function_prune", numbers, sizeof(double), (void **)&w.sizes));
    TRY(gram_take(context, "function_prune", f->n, sizeof(double), (void **)&w.most));
    TRY(gram_take(context, "function_prune", f->n, sizeof *keep, (void **)&keep));
    TRY(weigh(context, f, &w));
    TRY(choose(context, f, &w, tolerance, keep, &count));
    TRY(keep_some(context, f, keep, count, out));
done:
    gram_give(context, keep);
    gram_give(context, w.most);
    gram_give(context, w.sizes);
    return status;
}

gram_status gram_function_prune(gram_context *context, const gram_function *f, double tolerance, gram_function **out)
{
    gram_status status = GRAM_OK;
    gram_function *merged = NULL;
    char value[GRAM_NUMBER_SIZE];
    if (!context || !out) return GRAM_ERROR_ARGUMENT;
    *out = NULL;
    FAIL_IF(!f, context, GRAM_ERROR_ARGUMENT, "function_prune: f is NULL");
    FAIL_IF(!(tolerance >= 0), context, GRAM_ERROR_ARGUMENT, "function_prune: tolerance = %s, need at least 0",
            gram_number_format(tolerance, value));
    TRY(gram_points_must_be_plain(context, "function_prune: centres", f->centres));
    TRY(gram_function_merge(context, (gram_function *)f, &merged)); /* counted, not changed */
    TRY(prune_merged(context, merged, tolerance, out));
done:
    gram_function_release(merged);
    return status;
}
