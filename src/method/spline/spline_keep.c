/* What a model keeps of a spline, and its function in the words of a kernel. */
#include <math.h>
#include <stdio.h>

#include "method/spline/spline_model.h"

/* Of a line f(x) = sum_i a_i k(t_i - t_1, x - t_1) + f(t_1) + the polynomial with the derivatives of f at t_1, k = sobolev(a=m), a_i =
 * w_i (y_i - f(t_i))/(n lambda): Kimeldorf and Wahba (1971). A circle has other boundary conditions. */
static gram_status line_function(gram_context *context, int64_t count, gram_spline *const *splines, gram_kernel *kernel,
                                 gram_function **function)
{
    gram_status status = GRAM_OK;
    const gram_spline_curve *curve = &splines[0]->curve;
    const int line = !(curve->period > 0);
    const int64_t n = line ? curve->n : 1;
    gram_points *centres = NULL;
    double *from = NULL, *a = NULL, *constant = NULL;
    TRY(gram_take(context, "spline: centres", n + (n + 1) * count, sizeof *from, (void **)&from));
    a = from + n;
    constant = a + n * count;
    for (int64_t i = 0; i < n; i++) {
        from[i] = curve->t[i] - curve->t[0];
        for (int64_t o = 0; o < count; o++) a[i * count + o] = line ? splines[o]->coefficients[i] : 0;
    }
    for (int64_t o = 0; o < count; o++) constant[o] = splines[o]->pieces[0];
    TRY(gram_points_create_f64(context, n, 1, from, 1, &centres));
    TRY(gram_function_create(context, kernel, centres, count, a, count, constant, function));
done:
    gram_points_release(centres);
    gram_give(context, from);
    return status;
}

/* Nothing but the columns and the constant. */
static gram_status empty_function(gram_context *context, const gram_spline *spline, gram_kernel *kernel,
                                  gram_function **function)
{
    gram_status status = GRAM_OK;
    const int64_t d = spline->sum.d;
    const double none = 0;
    gram_points *centres = NULL;
    double *origin = NULL;
    TRY(gram_take(context, "spline: centres", d, sizeof *origin, (void **)&origin));
    for (int64_t l = 0; l < d; l++) origin[l] = 0;
    TRY(gram_points_create_f64(context, 1, d, origin, d, &centres));
    TRY(gram_function_create(context, kernel, centres, 1, &none, 1, &spline->sum.b, function));
done:
    gram_points_release(centres);
    gram_give(context, origin);
    return status;
}

/* sobolev(a=m), or on(1, sobolev(a=m)) + on(2, sobolev(a=m)) + ... */
static gram_status make_kernel(gram_context *context, const gram_spline *spline, gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    const int64_t d = spline->sum.d;
    const size_t size = 64 * (size_t)(d + 1);
    size_t length = 0;
    char *text = NULL;
    TRY(gram_take(context, "spline: kernel", (int64_t)size, 1, (void **)&text));
    for (int64_t l = 0; l < d && !spline->sum.plate; l++)
        length += (size_t)snprintf(text + length, size - length, "%son(%lld, sobolev(a=%d))", l > 0 ? " + " : "",
                                   (long long)l + 1, spline->sum.m);
    if (d == 0) (void)snprintf(text, size, "sobolev(a=%d)", spline->curve.m);
    TRY(gram_kernel_parse(context, spline->sum.plate ? "linear" : text, kernel)); /* no kernel is a thin plate's */
done:
    gram_give(context, text);
    return status;
}

gram_status gram_spline_function(gram_context *context, int64_t count, gram_spline *const *splines,
                                 gram_function **function)
{
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL;
    TRY(make_kernel(context, splines[0], &kernel));
    if (splines[0]->sum.d > 0)
        TRY(empty_function(context, splines[0], kernel, function));
    else
        TRY(line_function(context, count, splines, kernel, function));
done:
    gram_kernel_release(kernel);
    return status;
}

static const gram_keep_place NUMBERS[] = {
    {"sigma", offsetof(gram_spline_report, sigma)},
    {"train_rmse", offsetof(gram_spline_report, train_rmse)},
    {"train_r2", offsetof(gram_spline_report, train_r2)},
    {"loo_rmse", offsetof(gram_spline_report, loo_rmse)},
    {"loo_r2", offsetof(gram_spline_report, loo_r2)},
    {"gcv", offsetof(gram_spline_report, gcv)},
    {"effective_dimension", offsetof(gram_spline_report, effective_dimension)},
    {"roughness", offsetof(gram_spline_report, roughness)},
    {"log_marginal_likelihood", offsetof(gram_spline_report, log_marginal_likelihood)},
};

/* Pieces of several outputs are side by side. */
static void keep_curve(gram_keeper *keeper, int64_t count, gram_spline *const *splines)
{
    const gram_spline *first = splines[0];
    const int64_t n = first->curve.n, width = 2 * first->curve.m;
    double *pieces = NULL;
    gram_keep_array(keeper, "knot_places", n, 1, first->t);
    gram_keep_array(keeper, "knot_weights", n, 1, first->weight);
    if (keeper->status < 0) return;
    keeper->status = gram_take(keeper->context, "model", n * width * count, sizeof *pieces, (void **)&pieces);
    if (keeper->status < 0) return;
    for (int64_t i = 0; i < n; i++)
        for (int64_t o = 0; o < count; o++)
            for (int64_t k = 0; k < width; k++) pieces[(i * count + o) * width + k] = splines[o]->pieces[i * width + k];
    gram_keep_array(keeper, "pieces", n, width * count, pieces);
    gram_give(keeper->context, pieces);
}

/* Knots of all columns one after the other, and how many each has; coefficients and means; variances. */
static void keep_sum(gram_keeper *keeper, const gram_spline_sum *sum)
{
    int64_t all = 0;
    double *knots = NULL, *counts = NULL;
    for (int64_t j = 0; j < sum->d; j++) all += sum->basis[j].knots;
    if (keeper->status < 0) return;
    keeper->status = gram_take(keeper->context, "model", all + sum->d, sizeof *knots, (void **)&knots);
    if (keeper->status < 0) return;
    counts = knots + all;
    all = 0;
    for (int64_t j = 0; j < sum->d; j++) {
        counts[j] = (double)sum->basis[j].knots;
        for (int64_t k = 0; k < sum->basis[j].knots; k++) knots[all++] = sum->basis[j].t[k];
    }
    gram_keep_array(keeper, "knot_places", all, 1, knots);
    gram_keep_array(keeper, "knot_counts", 1, sum->d, counts);
    gram_keep_array(keeper, "spline_weights", 2, sum->p, sum->c);
    gram_keep_array(keeper, "lambdas", 1, sum->d, sum->lambda);
    if (sum->v) gram_keep_array(keeper, "spline_variance", sum->p, sum->p, sum->v);
    if (sum->v) gram_keep_array(keeper, "freedoms", 1, sum->d, sum->df);
    gram_keep_number(keeper, "lift", sum->lift);
    gram_give(keeper->context, knots);
}

static void keep_plate(gram_keeper *keeper, const gram_spline_sum *sum)
{
    gram_keep_array(keeper, "plate_centres", sum->centre_count, sum->d, sum->centres);
    gram_keep_array(keeper, "plate_scale", 2, sum->d, sum->middle);
    gram_keep_array(keeper, "spline_weights", 1, sum->p, sum->c);
    gram_keep_array(keeper, "spline_variance", sum->p, sum->p, sum->v);
}

static const gram_keep_place OF_LOSSES[] = {
    {"train_loss", offsetof(gram_spline_report, train_loss)},
    {"objective", offsetof(gram_spline_report, objective)},
    {"gap", offsetof(gram_spline_report, gap)},
    {"roughness", offsetof(gram_spline_report, roughness)},
};

void gram_spline_keep(gram_keeper *keeper, int64_t count, gram_spline *const *splines)
{
    const gram_spline *spline = splines[0];
    const gram_spline_report *r = &spline->report;
    gram_keep_text(keeper, "spline",
                   spline->sum.plate   ? "thin-plate"
                   : spline->sum.d > 0 ? "additive"
                   : r->period > 0     ? "periodic"
                                       : "line");
    gram_keep_integer(keeper, "order", r->order);
    gram_keep_integer(keeper, "knots", r->knots);
    if (r->period > 0) gram_keep_number(keeper, "period", r->period);
    if (!isnan(r->lambda) && count == 1) gram_keep_number(keeper, "lambda", r->lambda);
    if (!isnan(r->objective)) gram_keep_integer(keeper, "iterations", r->iterations);
    if (isnan(r->objective))
        gram_keep_numbers(keeper, r, NUMBERS, sizeof NUMBERS / sizeof *NUMBERS);
    else if (count == 1)
        gram_keep_numbers(keeper, r, OF_LOSSES, sizeof OF_LOSSES / sizeof *OF_LOSSES);
    if (spline->sum.plate)
        keep_plate(keeper, &spline->sum);
    else if (spline->sum.d > 0)
        keep_sum(keeper, &spline->sum);
    else
        keep_curve(keeper, count, splines);
}
