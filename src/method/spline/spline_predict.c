/* Predictions of splines from their models: values and derivatives, deviations and intervals. Variances need the states of all knots,
 * which a model does not keep: they are made anew from its knots and weights, in O(n), when they are asked for. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "method/spline/spline_model.h"
#include "points/functionals.h"

/* ---- opening ---- */

/* NULL, or what is wrong. */
static const char *find_curve(const gram_model *model, gram_spline_curve *curve)
{
    const double order = gram_kept_number(model, "order", NAN);
    int64_t n = 0, columns = 0;
    const double *knots = gram_model_array(model, "knot_places", &n, &columns);
    if (!(order >= 1 && order <= GRAM_SPLINE_ORDERS)) return "a spline without its order";
    if (!knots || columns != 1 || n < 1) return "a spline without knots";
    *curve = (gram_spline_curve){.m = (int)order, .n = n, .t = knots, .period = gram_kept_number(model, "period", 0)};
    curve->outputs = gram_function_outputs(gram_model_function(model));
    curve->pieces = gram_kept_array(model, "pieces", n, 2 * curve->m * curve->outputs);
    if (!curve->pieces) return "a spline without its pieces";
    for (int64_t i = 1; i < n; i++)
        if (!(knots[i] > knots[i - 1])) return "a spline whose knots do not ascend";
    if (!(curve->period >= 0) || (curve->period > 0 && !(knots[n - 1] - knots[0] < curve->period)))
        return "a spline whose knots are not of its period";
    if (n < (curve->period > 0 ? 2 : curve->m)) return "a spline with too few knots for its order";
    return NULL;
}

static const char *find_report(const gram_model *model, int64_t knots, const double **weight,
                               gram_spline_report *report)
{
    const double n = gram_kept_number(model, "n", NAN);
    *report = (gram_spline_report){.size = sizeof *report,
                                   .n = n >= 1 && n < 1e15 ? (int64_t)n : 0,
                                   .lambda = gram_kept_number(model, "lambda", NAN),
                                   .sigma = gram_kept_number(model, "sigma", NAN)};
    *weight = gram_kept_array(model, "knot_weights", knots, 1);
    if (!*weight || !(report->lambda > 0) || report->n < 1) return "a spline without what its deviations need";
    for (int64_t i = 0; i < knots; i++)
        if (!((*weight)[i] > 0)) return "a spline with weights that are not above 0";
    return NULL;
}

static gram_status open_curve(gram_context *context, gram_predictor *predictor, int bands, gram_spline **spline)
{
    gram_spline_curve curve;
    gram_spline_report report = {.sigma = NAN};
    const double *weight = NULL;
    const char *wrong = find_curve(predictor->model, &curve);
    if (!wrong && bands) wrong = find_report(predictor->model, curve.n, &weight, &report);
    if (wrong) return gram_predictor_damaged(context, predictor, wrong);
    return gram_spline_restore(context, &curve, weight, &report, spline);
}

/* What a model has of a sum; checked by find_sum. */
typedef struct kept_sum {
    int64_t d, p, all;
    const double *counts, *knots, *weights, *variance;
} kept_sum;

static const char *find_sum(const gram_model *model, kept_sum *kept)
{
    const double order = gram_kept_number(model, "order", NAN);
    int64_t columns = 0, rows = 0;
    *kept = (kept_sum){.d = gram_points_dimension(gram_function_centres(gram_model_function(model)))};
    kept->counts = gram_kept_array(model, "knot_counts", 1, kept->d);
    kept->knots = gram_model_array(model, "knot_places", &kept->all, &columns);
    kept->weights = gram_model_array(model, "spline_weights", &rows, &kept->p);
    kept->variance = gram_kept_array(model, "spline_variance", kept->p, kept->p);
    if (!(order >= 1 && order <= GRAM_SPLINE_ORDERS)) return "a spline without its order";
    if (!kept->counts || !kept->knots || columns != 1 || !kept->weights || rows != 2 ||
        (!kept->variance && !gram_kept_text(model, "loss")))
        return "an additive spline without its parts";
    int64_t at = 0, parameters = 0;
    for (int64_t j = 0; j < kept->d; j++) {
        if (!(kept->counts[j] >= 2 && kept->counts[j] <= (double)(kept->all - at)))
            return "an additive spline without its knots";
        for (int64_t k = 1; k < (int64_t)kept->counts[j]; k++)
            if (!(kept->knots[at + k] > kept->knots[at + k - 1])) return "a spline whose knots do not ascend";
        at += (int64_t)kept->counts[j];
        parameters += (int64_t)kept->counts[j] + 2 * (int64_t)order - 3;
    }
    return at == kept->all && parameters == kept->p ? NULL : "an additive spline whose parts do not belong together";
}

static gram_status fill_sum(gram_context *context, const gram_model *model, const kept_sum *kept, gram_spline_sum *sum)
{
    gram_status status = GRAM_OK;
    const int64_t d = kept->d, p = kept->p;
    double *knots = NULL;
    gram_arena_init(&sum->arena, context->memory);
    sum->d = d;
    sum->p = p;
    sum->m = (int)gram_kept_number(model, "order", 2);
    sum->b = gram_function_constant(gram_model_function(model))[0];
    sum->lift = gram_kept_number(model, "lift", 0);
    TRY(gram_arena_take(context, &sum->arena, "spline", d, sizeof *sum->basis, (void **)&sum->basis));
    TRY(gram_arena_take(context, &sum->arena, "spline", d + 1, sizeof *sum->first, (void **)&sum->first));
    TRY(gram_arena_take(context, &sum->arena, "spline", kept->all, sizeof *knots, (void **)&knots));
    TRY(gram_arena_take(context, &sum->arena, "spline", 2 * p, sizeof *sum->c, (void **)&sum->c));
    if (kept->variance) TRY(gram_arena_take(context, &sum->arena, "spline", p * p, sizeof *sum->v, (void **)&sum->v));
    sum->mean = sum->c + p;
    memcpy(knots, kept->knots, (size_t)kept->all * sizeof *knots);
    memcpy(sum->c, kept->weights, (size_t)(2 * p) * sizeof *sum->c);
    if (sum->v) memcpy(sum->v, kept->variance, (size_t)(p * p) * sizeof *sum->v);
    for (int64_t j = 0; j < d; j++) {
        sum->basis[j] = (gram_basis){.m = sum->m, .knots = (int64_t)kept->counts[j], .t = knots};
        sum->first[j + 1] = sum->first[j] + gram_basis_size(&sum->basis[j]) - 1;
        knots += sum->basis[j].knots;
    }
done:
    return status;
}

static int is_plate(const gram_model *model)
{
    const char *kind = gram_kept_text(model, "spline");
    return kind && strcmp(kind, "thin-plate") == 0;
}

/* A thin plate: the parts, or what is missing. */
static const char *find_plate(const gram_model *model, kept_sum *kept)
{
    const double order = gram_kept_number(model, "order", NAN);
    int64_t columns = 0;
    *kept = (kept_sum){.d = gram_points_dimension(gram_function_centres(gram_model_function(model)))};
    if (!(order >= 2 && order <= GRAM_SPLINE_ORDERS) || kept->d < 2 || kept->d > 3 || 2 * order <= (double)kept->d)
        return "a thin plate without its order";
    kept->knots = gram_model_array(model, "plate_centres", &kept->all, &columns);
    kept->counts = gram_kept_array(model, "plate_scale", 2, kept->d);
    kept->p = kept->all + gram_plate_powers((int)order, kept->d);
    kept->weights = gram_kept_array(model, "spline_weights", 1, kept->p);
    kept->variance = gram_kept_array(model, "spline_variance", kept->p, kept->p);
    return kept->knots && columns == kept->d && kept->counts && kept->weights && kept->variance
               ? NULL
               : "a thin plate without its parts";
}

static gram_status fill_plate(gram_context *context, const gram_model *model, const kept_sum *kept,
                              gram_spline_sum *sum)
{
    gram_status status = GRAM_OK;
    const int64_t d = kept->d, p = kept->p;
    gram_arena_init(&sum->arena, context->memory);
    sum->plate = 1;
    sum->d = d;
    sum->p = p;
    sum->m = (int)gram_kept_number(model, "order", 2);
    sum->centre_count = kept->all;
    TRY(gram_arena_take(context, &sum->arena, "spline", kept->all * d, sizeof(double), (void **)&sum->centres));
    TRY(gram_arena_take(context, &sum->arena, "spline", 2 * d, sizeof(double), (void **)&sum->middle));
    TRY(gram_arena_take(context, &sum->arena, "spline", p, sizeof(double), (void **)&sum->c));
    TRY(gram_arena_take(context, &sum->arena, "spline", p * p, sizeof(double), (void **)&sum->v));
    sum->width = sum->middle + d;
    memcpy(sum->centres, kept->knots, (size_t)(kept->all * d) * sizeof(double));
    memcpy(sum->middle, kept->counts, (size_t)(2 * d) * sizeof(double));
    memcpy(sum->c, kept->weights, (size_t)p * sizeof(double));
    memcpy(sum->v, kept->variance, (size_t)(p * p) * sizeof(double));
done:
    return status;
}

static gram_status open_sum(gram_context *context, gram_predictor *predictor, gram_spline **spline)
{
    gram_status status = GRAM_OK;
    kept_sum kept;
    gram_spline *made = NULL;
    const int plate = is_plate(predictor->model);
    const char *wrong = (plate ? find_plate : find_sum)(predictor->model, &kept);
    if (wrong) return gram_predictor_damaged(context, predictor, wrong);
    TRY(gram_spline_make(context, &made));
    made->report.d = kept.d;
    made->report.sigma = gram_kept_number(predictor->model, "sigma", NAN);
    made->bands = 1;
    TRY((plate ? fill_plate : fill_sum)(context, predictor->model, &kept, &made->sum));
    *spline = made;
    made = NULL;
done:
    gram_spline_destroy(made);
    return status;
}

/* ---- columns ---- */

static int is_sum(const gram_model *model)
{
    const char *kind = gram_kept_text(model, "spline");
    return kind && strcmp(kind, "additive") == 0;
}

/* What only squared loss has. */
static gram_status refuse_spread(gram_context *context, const gram_predictor *predictor)
{
    if (!gram_kept_text(predictor->model, "loss")) return GRAM_OK;
    return gram_predictor_refuse(context, predictor, 1, "Splines of squared loss have deviations.",
                                 "a spline of another loss");
}

static gram_status refuse(gram_context *context, const gram_predictor *predictor)
{
    const gram_predict_options *wish = &predictor->wish;
    const int asked = wish->std || wish->interval > 0 || wish->terms;
    if (wish->prob || (wish->terms && !is_sum(predictor->model)))
        return gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT, "It predicts means and intervals.",
                                   wish->prob ? "--prob is for classifiers"
                                              : "--terms is for splines of several features");
    if (asked && !(gram_kept_number(predictor->model, "sigma", NAN) >= 0))
        return gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT,
                                   "Fit it to more rows, or a larger --lambda.",
                                   "--%s: the spline goes through all rows, and nothing is left to tell the noise by",
                                   wish->std        ? "std"
                                   : wish->interval ? "interval"
                                                    : "terms");
    return GRAM_OK;
}

static gram_status add_terms(gram_context *context, gram_predictor *predictor, int64_t terms)
{
    gram_status status = GRAM_OK;
    char name[32];
    predictor->columns.term = terms > 0 ? predictor->columns.count : -1;
    for (int64_t t = 0; t < terms; t++) {
        (void)snprintf(name, sizeof name, "term_%lld", (long long)t + 1);
        TRY(gram_predictor_column(context, predictor, name, ""));
        TRY(gram_predictor_column(context, predictor, name, "_std"));
    }
done:
    return status;
}

static gram_status add_columns(gram_context *context, gram_predictor *predictor, int64_t terms, int spread)
{
    gram_status status = GRAM_OK;
    int64_t rows = 0, count = 0;
    const double *levels = gram_model_array(predictor->model, "quantiles", &rows, &count);
    if (levels && (rows != 1 || count != gram_function_outputs(gram_model_function(predictor->model))))
        return gram_predictor_damaged(context, predictor, "quantiles without their levels");
    if (levels) return gram_predictor_levels(context, predictor, count, levels);
    TRY(gram_predictor_means(context, predictor));
    TRY(gram_predictor_intervals(context, predictor));
    TRY(add_terms(context, predictor, terms));
    if (spread) gram_predictor_spread(predictor);
done:
    return status;
}

gram_status gram_spline_row_open(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    const gram_predict_options *wish = &predictor->wish;
    const int sum = is_sum(predictor->model) || is_plate(predictor->model);
    gram_spline *spline = NULL;
    TRY(refuse_spread(context, predictor));
    TRY(refuse(context, predictor));
    const int spread =
        wish->std || wish->interval > 0 || (wish->scores && gram_kept_number(predictor->model, "sigma", NAN) >= 0);
    TRY(sum ? open_sum(context, predictor, &spline) : open_curve(context, predictor, spread, &spline));
    predictor->own = spline;
    TRY(add_columns(context, predictor, wish->terms ? spline->sum.d : 0, spread));
done:
    return status;
}

void gram_spline_row_close(gram_predictor *predictor)
{
    gram_spline_destroy(predictor->own);
}

/* ---- values ---- */

/* One piece of work for all rows. */
typedef struct evaluation {
    const gram_spline *spline;
    const gram_places *places;
    int wide; /* variances too */
    double *phi;
    gram_spline_term *terms; /* room for d^2 of each atom of a row */
} evaluation;

/* What an atom of a functional asks for, as terms; returns how many, -1 for an integral. */
static int64_t read_atom(const gram_functionals *f, int64_t at, int64_t d, gram_spline_term *terms)
{
    const double *x = f->place + at * d, *v = f->v + at * d, *w = f->w + at * d;
    int64_t count = 0;
    if (f->kind[at] == GRAM_ATOM_MEAN) return -1;
    if (f->kind[at] == GRAM_ATOM_VALUE) terms[count++] = (gram_spline_term){.x = x, .factor = f->coefficient[at]};
    for (int64_t l = 0; l < d && f->kind[at] == GRAM_ATOM_FIRST; l++)
        if (v[l] != 0)
            terms[count++] = (gram_spline_term){.x = x, .by = l, .first = 1, .factor = f->coefficient[at] * v[l]};
    for (int64_t l = 0; l < d * d && f->kind[at] == GRAM_ATOM_SECOND; l++)
        if (v[l / d] * w[l % d] != 0)
            terms[count++] = (gram_spline_term){.x = x,
                                                .by = l / d,
                                                .with = l % d,
                                                .first = 1,
                                                .second = 1,
                                                .factor = f->coefficient[at] * v[l / d] * w[l % d]};
    return count;
}

static gram_status evaluate_row(gram_context *context, const evaluation *e, int64_t i, int64_t only, double *mean,
                                double *variance)
{
    const gram_places *places = e->places;
    const gram_functionals *f = places->points->functionals;
    const int64_t d = places->d;
    int64_t count = 0;
    if (!f) {
        const gram_spline_term term = {.x = places->x + i * d, .factor = 1};
        return gram_spline_apply(context, e->spline, 1, &term, only, e->phi, mean, variance);
    }
    for (int64_t at = f->first[i]; at < f->first[i + 1]; at++) {
        const int64_t more = read_atom(f, at, d, e->terms + count);
        if (more < 0) {
            (void)gram_fail_place(context, GRAM_ERROR_UNSUPPORTED, i, -1,
                                  "predict: row %lld: splines do not predict integrals", (long long)i + 1);
            return gram_advise(context, GRAM_ERROR_UNSUPPORTED,
                               "Kinds of a spline are value, d:NAME, d:NAME:NAME, sums and operators of them.");
        }
        count += more;
    }
    const gram_status status = gram_spline_apply(context, e->spline, count, e->terms, only, e->phi, mean, variance);
    if (status == GRAM_ERROR_UNSUPPORTED)
        (void)gram_advise(context, status, "Leave --std and --interval out, or fit it with a higher --order.");
    return status;
}

static gram_status take_evaluation(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                                   evaluation *e)
{
    gram_status status = GRAM_OK;
    const gram_columns *columns = &predictor->columns;
    const gram_functionals *f = places->points->functionals;
    int64_t most = 0;
    *e = (evaluation){.spline = predictor->own, .places = places};
    e->wide = columns->std >= 0 || columns->lower >= 0 || (columns->spread >= 0 && places->scored);
    for (int64_t i = 0; i < places->n && f; i++)
        if (f->first[i + 1] - f->first[i] > most) most = f->first[i + 1] - f->first[i];
    TRY(gram_take(context, "predict", e->spline->sum.p, sizeof *e->phi, (void **)&e->phi));
    TRY(gram_take(context, "predict", most * places->d * places->d, sizeof *e->terms, (void **)&e->terms));
done:
    return status;
}

/* One of another loss, several of quantiles; of logistic loss probabilities, which are no linear functionals. */
static gram_status put_outputs(gram_context *context, const gram_predictor *predictor, evaluation *e, int64_t i,
                               double *row)
{
    gram_status status = GRAM_OK;
    const gram_spline *first = e->spline;
    gram_spline one = *first; /* one of the curves that are side by side */
    const int logistic = strcmp(gram_kept_text(predictor->model, "loss"), "logistic") == 0;
    if (logistic && e->places->points->functionals)
        return gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT, "Leave --kind out.",
                                   "--kind is not for probabilities");
    e->spline = &one;
    const int64_t outputs = first->sum.d > 0 ? 1 : first->curve.outputs;
    for (int64_t o = 0; o < outputs; o++, one.curve.pieces += 2 * one.curve.m)
        TRY(evaluate_row(context, e, i, -1, &row[o], NULL));
    if (logistic) row[0] = 1 / (1 + exp(-row[0]));
done:
    e->spline = first;
    return status;
}

/* Mean, deviation and the rest, and terms. */
static gram_status put_row(gram_context *context, const gram_predictor *predictor, const evaluation *e, int64_t i,
                           double *row)
{
    gram_status status = GRAM_OK;
    const double noise = e->spline->report.sigma * e->spline->report.sigma;
    const double w = e->places->weights ? e->places->weights[i] : 1;
    const int64_t term = predictor->columns.term;
    double mean, variance = NAN;
    TRY(evaluate_row(context, e, i, -1, &mean, e->wide ? &variance : NULL));
    gram_predictor_put_normal(predictor, mean, variance, w > 0 ? noise / w : noise, row);
    for (int64_t t = 0; t < e->spline->sum.d && term >= 0; t++) {
        TRY(evaluate_row(context, e, i, t, &row[term + 2 * t], &variance));
        row[term + 2 * t + 1] = sqrt(variance);
    }
done:
    return status;
}

gram_status gram_spline_row_evaluate(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                                     double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const int other = gram_kept_text(predictor->model, "loss") != NULL;
    evaluation e;
    TRY(take_evaluation(context, predictor, places, &e));
    for (int64_t i = 0; i < places->n; i++)
        TRY(other ? put_outputs(context, predictor, &e, i, values + i * ldv)
                  : put_row(context, predictor, &e, i, values + i * ldv));
done:
    gram_give(context, e.phi);
    gram_give(context, e.terms);
    return status;
}
