/* Feature maps in models, and functions that are linear in features: what rows of the method table share. */
#include <math.h>
#include <string.h>

#include "base/ranks/collective.h"
#include "features/feature_ridge.h"
#include "method/method.h"
#include "points/points.h"

/* A function that is 0, with one centre: a model keeps its kernel in one. */
gram_status gram_features_holder(gram_context *context, gram_kernel *kernel, int64_t d, const double *row,
                                 gram_function **function)
{
    gram_status status = GRAM_OK;
    const double zero = 0;
    gram_points *point = NULL;
    TRY(gram_points_create_f64(context, 1, d, row, d, &point));
    TRY(gram_function_create(context, kernel, point, 1, &zero, 1, NULL, function));
done:
    gram_points_release(point);
    return status;
}

void gram_keep_features(gram_keeper *keeper, const gram_features *map)
{
    gram_string text = {0};
    gram_features_describe(map, &text);
    gram_keep_text(keeper, "map", map->type->name);
    gram_keep_text(keeper, "description", text.data ? text.data : "");
    gram_keep_integer(keeper, "dimension", map->report.dimension);
    gram_keep_integer(keeper, "exact", map->report.exact);
    if (map->report.degree >= 0) gram_keep_integer(keeper, "degree", map->report.degree);
    if (!isnan(map->report.error)) gram_keep_number(keeper, "error_estimate", map->report.error);
    if (!isnan(map->report.trace_error)) gram_keep_number(keeper, "trace_error", map->report.trace_error);
    for (int i = 0; i < GRAM_FEATURE_ARRAYS && map->type->arrays[i]; i++)
        gram_keep_array(keeper, map->type->arrays[i], map->arrays[i].rows, map->arrays[i].columns, map->arrays[i].data);
    gram_string_free(&text);
}

gram_status gram_features_of_model(gram_context *context, const gram_model *model, gram_features **features)
{
    gram_status status = GRAM_OK;
    gram_feature_array arrays[GRAM_FEATURE_ARRAYS] = {{0, 0, NULL}};
    if (!context || !model || !features) return GRAM_ERROR_ARGUMENT;
    *features = NULL;
    const char *kind = gram_kept_text(model, "map");
    FAIL_IF(!kind, context, GRAM_ERROR_DATA, "features_of_model: the model has no feature map");
    const gram_feature_type *type = gram_feature_type_find(kind);
    FAIL_IF(!type, context, GRAM_ERROR_DATA, "features_of_model: '%s' is not a kind of feature map", kind);
    for (int i = 0; i < GRAM_FEATURE_ARRAYS && type->arrays[i]; i++)
        arrays[i].data = (double *)gram_model_array(model, type->arrays[i], &arrays[i].rows, &arrays[i].columns);
    gram_function *function = gram_model_function(model);
    TRY(gram_features_restore(context, type, gram_function_kernel(function),
                              gram_points_dimension(gram_function_centres(function)),
                              (int64_t)gram_kept_number(model, "degree", -1),
                              gram_kept_number(model, "error_estimate", NAN), arrays, features));
done:
    return status;
}

gram_status gram_feature_function_open(gram_context *context, gram_predictor *predictor, gram_feature_function *f)
{
    gram_status status = GRAM_OK;
    int64_t rows = 0;
    *f = (gram_feature_function){0};
    TRY(gram_features_of_model(context, predictor->model, &f->map));
    f->p = f->map->report.dimension;
    f->coefficients = gram_model_array(predictor->model, "feature_coefficients", &rows, &f->m);
    if (f->coefficients && rows == f->p) f->constants = gram_kept_array(predictor->model, "feature_constants", 1, f->m);
    if (!f->constants)
        return gram_predictor_damaged(context, predictor, "damaged: its coefficients do not fit its features");
done:
    return status;
}

typedef struct rows_work {
    const gram_feature_function *f;
    double *out;
    int64_t ldo;
} rows_work;

/* Small products by hand: a row's values must not depend on the rows beside it. */
static gram_status put_chunk(gram_context *context, void *argument, int64_t first, int64_t rows, double *z, int64_t ld)
{
    const rows_work *w = argument;
    const gram_feature_function *f = w->f;
    (void)context;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t o = 0; o < f->m; o++) {
            double sum = 0;
            for (int64_t j = 0; j < f->p; j++) sum += z[i * ld + j] * f->coefficients[j * f->m + o];
            w->out[(first + i) * w->ldo + o] = sum + f->constants[o];
        }
    return GRAM_OK;
}

/* The same of sparse features. */
static gram_status sparse_values(gram_context *context, const gram_feature_function *f, const gram_points *x,
                                 double *out, int64_t ldo)
{
    enum { CHUNK = 8192 };
    gram_status status = GRAM_OK;
    gram_csr z = {0};
    for (int64_t first = 0; first < x->n; first += CHUNK) {
        const int64_t rows = x->n - first < CHUNK ? x->n - first : CHUNK;
        TRY(gram_features_csr(context, f->map, rows, x->f64 + first * x->ld, x->ld, &z));
        for (int64_t i = 0; i < rows; i++)
            for (int64_t o = 0; o < f->m; o++) {
                double sum = 0;
                for (int64_t k = z.start[i]; k < z.start[i + 1]; k++)
                    sum += z.value[k] * f->coefficients[z.column[k] * f->m + o];
                out[(first + i) * ldo + o] = sum + f->constants[o];
            }
        gram_csr_free(context, &z);
    }
done:
    gram_csr_free(context, &z);
    return status;
}

/* Each rank has made the values of some rows; those of others are 0 there. */
static gram_status spread_values(gram_context *context, const gram_feature_function *f, const gram_points *x,
                                 double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    const int64_t m = f->m;
    double *values = NULL;
    TRY(gram_take(context, "values of features", x->n * m, sizeof *values, (void **)&values));
    memset(values, 0, (size_t)(x->n * m) * sizeof *values);
    rows_work work = {f, values, m};
    TRY(gram_feature_chunks(context, f->map, x, 0, f->p, put_chunk, &work));
    TRY(gram_ranks_sum(context, "values of features", x->n * m, values));
    for (int64_t i = 0; i < x->n; i++) memcpy(out + i * ldo, values + i * m, (size_t)m * sizeof *out);
done:
    gram_give(context, values);
    return status;
}

gram_status gram_feature_function_values(gram_context *context, const gram_feature_function *f, const gram_points *x,
                                         double *out, int64_t ldo)
{
    rows_work work = {f, out, ldo};
    if (f->map->type->sparse) return sparse_values(context, f, x, out, ldo);
    if (gram_ranks_share(context, x->n)) return spread_values(context, f, x, out, ldo);
    return gram_feature_chunks(context, f->map, x, 0, f->p, put_chunk, &work);
}
