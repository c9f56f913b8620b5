/* normalize, scale, centre and after: numbers of the points, made once for an engine, and what they do to a strip. */
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "tile/embedding/bag_part.h"
#include "tile/engine.h"
#include "tile/product.h"

typedef struct making {
    gram_context *context;
    gram_engine *engine;
    const gram_engine_request *request;
} making;

/* row = mantissa, power = 2^-exponent/2 of a positive number: row / power^2 = value, with an even exponent, so that
 * products of two numbers neither overflow nor lose digits */
static void split_number(double value, double *mantissa, double *power)
{
    int exponent;
    *mantissa = frexp(value, &exponent);
    if (exponent % 2) {
        *mantissa *= 2;
        exponent -= 1;
    }
    *power = ldexp(1, -exponent / 2);
}

static gram_status diagonal_terms(making *m, const gram_point_terms *terms, const gram_points *points, double *row,
                                  double *power)
{
    gram_status status = GRAM_OK;
    gram_engine *child = NULL;
    const gram_engine_request request = {
        .kernel = terms->child, .x = points, .space = terms->space, .always_double = 1};
    TRY(gram_engine_create(m->context, &request, &child));
    const gram_program_node *root = &child->nodes[child->roots[0]];
    if (root->node == GRAM_NODE_MEAN) /* its tiles on the diagonal would be those of all bags nearby */
        TRY(gram_bag_diagonal(m->context, root->bags, row));
    else
        TRY(gram_engine_diagonal(m->context, child, row));
    for (int64_t i = 0; i < points->n && terms->node == GRAM_NODE_NORMALIZE; i++) {
        char shown[GRAM_NUMBER_SIZE];
        FAIL_IF(!(row[i] > 0) || isinf(row[i]), m->context, GRAM_ERROR_DOMAIN,
                "normalize: k(x, x) = %s at point %lld; it must be positive and finite",
                gram_number_format(row[i], shown), (long long)i);
        split_number(row[i], &row[i], &power[i]);
    }
done:
    gram_engine_destroy(child);
    return status;
}

/* f(x), kept where normalize has its power of two */
static gram_status factor_terms(making *m, const gram_point_terms *terms, const gram_points *points, double *row,
                                double *power)
{
    gram_status status = GRAM_OK;
    double *u = NULL;
    TRY(gram_take(m->context, "scale", terms->space->d, sizeof(double), (void **)&u));
    for (int64_t i = 0; i < points->n; i++) {
        gram_mapping_point(terms->space, points, i, u);
        row[i] = 1;
        power[i] = terms->external->factor(terms->external->user, terms->space->d, u);
        FAIL_IF(!isfinite(power[i]), m->context, GRAM_ERROR_DOMAIN, "scale %s: f is not finite at point %lld",
                terms->external->name, (long long)i);
    }
done:
    gram_give(m->context, u);
    return status;
}

gram_status gram_terms_means(gram_context *context, const gram_point_terms *terms, const gram_points *points,
                             double *row)
{
    gram_status status = GRAM_OK;
    gram_engine *child = NULL;
    double *weights = NULL;
    const gram_points *sample = terms->external->points;
    const gram_engine_request request = {
        .kernel = terms->child, .x = points, .y = sample, .space = terms->space, .always_double = 1};
    TRY(gram_take(context, "centre", sample->n, sizeof(double), (void **)&weights));
    for (int64_t i = 0; i < sample->n; i++) weights[i] = 1 / (double)sample->n;
    TRY(gram_engine_create(context, &request, &child));
    TRY(gram_engine_product(context, child, 1, weights, 1, row, 1));
done:
    gram_engine_destroy(child);
    gram_give(context, weights);
    return status;
}

gram_status gram_terms_centre(gram_context *context, gram_point_terms *terms)
{
    gram_status status = GRAM_OK;
    const gram_points *sample = terms->external->points;
    double *means = NULL;
    TRY(gram_take(context, "centre", sample->n, sizeof(double), (void **)&means));
    TRY(gram_terms_means(context, terms, sample, means));
    for (int64_t i = 0; i < sample->n; i++) terms->offset += means[i] / (double)sample->n;
done:
    gram_give(context, means);
    return status;
}

static gram_status terms_of(making *m, const gram_point_terms *terms, const gram_points *points, double *row,
                            double *power)
{
    switch (terms->node) {
    case GRAM_NODE_AFTER:
    case GRAM_NODE_NORMALIZE: return diagonal_terms(m, terms, points, row, power);
    case GRAM_NODE_SCALE: return factor_terms(m, terms, points, row, power);
    default: return gram_terms_means(m->context, terms, points, row);
    }
}

/* Numbers for a side of the engine, padded by 1, which does no harm. */
static gram_status take_side(making *m, int64_t panels, double **row, double **power)
{
    gram_status status = GRAM_OK;
    const int64_t padded = panels * GRAM_PANEL;
    TRY(gram_arena_take(m->context, &m->engine->arena, "kernel program", padded, sizeof(double), (void **)row));
    TRY(gram_arena_take(m->context, &m->engine->arena, "kernel program", padded, sizeof(double), (void **)power));
    for (int64_t i = 0; i < padded; i++) (*row)[i] = (*power)[i] = 1;
done:
    return status;
}

static gram_status make_terms(making *m, gram_point_terms *terms)
{
    gram_status status = GRAM_OK;
    const gram_engine *engine = m->engine;
    TRY(take_side(m, gram_engine_row_panels(engine), &terms->row, &terms->row_power));
    TRY(terms_of(m, terms, m->request->x, terms->row, terms->row_power));
    terms->column = terms->row;
    terms->column_power = terms->row_power;
    if (terms->node == GRAM_NODE_CENTRE) TRY(gram_terms_centre(m->context, terms));
    if (engine->symmetric) return GRAM_OK;
    TRY(take_side(m, gram_engine_column_panels(engine), &terms->column, &terms->column_power));
    if (!engine->ids) return terms_of(m, terms, m->request->y, terms->column, terms->column_power);
    for (int64_t j = 0; j < engine->m; j++) {
        terms->column[j] = terms->row[engine->ids[j]];
        terms->column_power[j] = terms->row_power[engine->ids[j]];
    }
done:
    return status;
}

gram_status gram_engine_make_terms(gram_context *context, gram_engine *engine, const gram_engine_request *request)
{
    gram_status status = GRAM_OK;
    making m = {context, engine, request};
    for (int i = 0; i < engine->term_count; i++) TRY(make_terms(&m, engine->terms[i]));
done:
    return status;
}

/* ---- on a strip ---- */

/* Rounded alike for (i, j) and (j, i). The division comes last: k(x, x)/sqrt(k(x, x)^2) is exactly 1. */
double gram_terms_combine(const gram_point_terms *terms, int64_t i, int64_t j, double k)
{
    if (terms->node == GRAM_NODE_CENTRE) return k - (terms->row[i] + terms->column[j]) + terms->offset;
    if (terms->node == GRAM_NODE_AFTER) {
        const double square = terms->row[i] + terms->column[j] - 2 * k;
        return square < 0 ? 0 : square;
    }
    return k * (terms->row_power[i] * terms->column_power[j]) / sqrt(terms->row[i] * terms->column[j]);
}

void gram_terms_apply_f64(const gram_point_terms *terms, const gram_strip *strip, double *out)
{
    const int64_t row = strip->row_panel * GRAM_PANEL + strip->row, column = strip->column_panel * GRAM_PANEL;
    for (int i = 0; i < GRAM_STRIP; i++)
        for (int j = 0; j < GRAM_PANEL; j++)
            out[i * GRAM_PANEL + j] = gram_terms_combine(terms, row + i, column + j, out[i * GRAM_PANEL + j]);
}

void gram_terms_apply_f32(const gram_point_terms *terms, const gram_strip *strip, float *out)
{
    const int64_t row = strip->row_panel * GRAM_PANEL + strip->row, column = strip->column_panel * GRAM_PANEL;
    for (int i = 0; i < GRAM_STRIP; i++)
        for (int j = 0; j < GRAM_PANEL; j++)
            out[i * GRAM_PANEL + j] =
                (float)gram_terms_combine(terms, row + i, column + j, (double)out[i * GRAM_PANEL + j]);
}
