/* Ridge regression from rows that go by in blocks: on features (landmarks of a sample), from sums of their products.
 *
 * A sample chooses kernel and landmarks, as all rows would; the ridge, unless it is given, has the least GCV over all rows, which the sums know.
 * f = c'z(x) + b with z(x) = L^-1 k(P, x) is the function sum_p (L^-T c)_p k(x_p, x) + b: an ordinary model. */
#include <cblas.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sweep.h"
#include "data/preparation.h"
#include "features/feature_map.h"
#include "features/feature_sums.h"
#include "method/krr/krr_model.h"
#include "points/points.h"

typedef struct krr_stream {
    gram_features *map;
    gram_feature_sums sums;
    gram_sums_ridge ridge;
    gram_function *function;
    int intercept;
    double noise;                /* that was given in the place of lambda; NaN: none */
    const char *tune, *defaults; /* of the sums that it was restored from; NULL: there were none */
} krr_stream;

static krr_stream *stream_of(gram_learning *learning)
{
    return ((krr_state *)learning->own)->stream;
}

void gram_krr_forget_streamed(gram_learning *learning)
{
    krr_stream *stream = stream_of(learning);
    gram_features_destroy(stream->map);
    gram_function_release(stream->function);
    gram_memory *memory = learning->arena.memory;
    gram_memory_give(memory, stream->sums.products);
    gram_memory_give(memory, stream->sums.offset);
    gram_memory_give(memory, stream->sums.chunk);
}

static gram_status take_state(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    krr_state *state = NULL;
    if (!learning->own) {
        TRY(gram_learning_take(learning, 1, sizeof *state, &state));
        learning->own = state;
    }
    state = learning->own;
    if (!state->stream) TRY(gram_learning_take(learning, 1, sizeof *state->stream, &state->stream));
done:
    return status;
}

/* ---- the choice of features ---- */

/* Landmarks: as asked, or so many that a pass takes some minutes and all fits in half of the budget. */
static int64_t choose_landmarks(const gram_learning *learning)
{
    enum { LEAST = 100, MOST = 2000 };
    const krr_settings *own = learning->settings;
    const size_t budget = gram_memory_budget(learning->context->memory);
    int64_t most = own->solver.number > 0 ? own->solver.number : (int64_t)sqrt(4e12 / (double)learning->n);
    if (own->solver.number == 0) most = most < 500 ? 500 : most > MOST ? MOST : most;
    while (own->solver.number == 0 && budget > 0 && most > LEAST &&
           gram_feature_sums_bytes(most, learning->data->targets) + 8 * (double)most * (double)learning->data->n >
               (double)budget / 2)
        most = most * 9 / 10;
    return most < learning->data->n ? most : learning->data->n;
}

/* Rows of the sample that landmarks are chosen among: a factor of that many columns takes at most a quarter of the budget. */
static int64_t candidate_stride(const gram_learning *learning, int64_t landmarks)
{
    const double budget = (double)gram_memory_budget(learning->context->memory), n = (double)learning->data->n;
    const double fits = fmax(budget / 4 / (8 * (double)landmarks), (double)landmarks);
    return budget > 0 && fits < n ? (int64_t)ceil(n / fits) : 1;
}

static gram_status choose_map(gram_learning *learning, int64_t landmarks)
{
    gram_status status = GRAM_OK;
    const gram_prepared *data = learning->data;
    const int64_t stride = candidate_stride(learning, landmarks), rows = (data->n + stride - 1) / stride;
    gram_features_options options;
    gram_points *candidates = NULL;
    gram_features_options_init(&options, sizeof options);
    options.kind = GRAM_FEATURES_NYSTROM;
    options.dimension = landmarks < rows ? landmarks : rows;
    TRY(gram_points_create_f64(learning->context, rows, data->d, data->x, stride * data->d, &candidates));
    TRY(gram_features_create(learning->context, learning->kernel, data->d, candidates, &options,
                             &stream_of(learning)->map));
done:
    gram_points_release(candidates);
    return status;
}

static int possible(const gram_learning *learning)
{
    const krr_settings *own = learning->settings;
    const int solver = own->solver.value == GRAM_SOLVER_AUTO || own->solver.value == GRAM_SOLVER_NYSTROM;
    return solver && !own->free.list && own->free.mean.value != GRAM_UNPENALISED_LINEAR && isnan(own->norm) &&
           own->ridge.lambda != 0 && !own->landmarks && own->keep_factor <= 0 && own->certify <= 0;
}

/* The same in words. */
static gram_status check_use(gram_learning *learning)
{
    const krr_settings *own = learning->settings;
    if (own->solver.value != GRAM_SOLVER_AUTO && own->solver.value != GRAM_SOLVER_NYSTROM)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Use --solver nystrom:M, or more --memory.",
                                  "--solver %s needs all rows at once, and they are read in passes",
                                  gram_solver_name((gram_solver)own->solver.value));
    if (own->free.list || own->free.mean.value == GRAM_UNPENALISED_LINEAR)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave them out, or use more --memory.",
                                  "unpenalised features are not for rows that are read in passes");
    if (own->landmarks || own->keep_factor > 0 || own->certify > 0)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave it out, or use more --memory.",
                                  "--%s is not for rows that are read in passes",
                                  own->landmarks         ? "landmarks"
                                  : own->keep_factor > 0 ? "keep-factor"
                                                         : "certify");
    if (!isnan(own->norm))
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Give --lambda, or leave it out.",
                                  "--norm is not for rows that are read in passes");
    if (own->ridge.lambda == 0)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Give a small one.",
                                  "--lambda 0 is not for rows that are read in passes");
    return GRAM_OK;
}

static void set_strength(gram_learning *learning)
{
    const krr_settings *own = learning->settings;
    krr_stream *stream = stream_of(learning);
    const double given = !isnan(own->ridge.noise) ? own->ridge.noise : own->ridge.alpha;
    if (!isnan(own->ridge.lambda) || !isnan(given)) {
        stream->ridge.lambda = own->ridge.lambda;
        stream->noise = given;
    }
}

static gram_status make_sums(gram_learning *learning, const double *offset)
{
    krr_stream *stream = stream_of(learning);
    return gram_feature_sums_take(learning->context, gram_features_get_report(stream->map)->dimension,
                                  gram_preparation_describe(learning->preparation)->target_count, offset,
                                  &stream->sums);
}

/* The sample's means of the targets: subtracted if there is a constant that takes them up again. */
static gram_status find_offset(gram_learning *learning, double **offset)
{
    gram_status status = GRAM_OK;
    const gram_prepared *data = learning->data;
    TRY(gram_learning_take(learning, data->targets, sizeof **offset, offset));
    for (int64_t i = 0; i < data->n && stream_of(learning)->intercept; i++)
        for (int64_t o = 0; o < data->targets; o++) (*offset)[o] += data->y[i * data->targets + o] / (double)data->n;
done:
    return status;
}

static gram_status announce(gram_learning *learning, int64_t landmarks)
{
    char reason[GRAM_REASON_SIZE];
    const double n = (double)learning->n, m = (double)landmarks;
    const double bytes = gram_feature_sums_bytes(landmarks, learning->data->targets) +
                         8 * (m / (double)candidate_stride(learning, landmarks) + 3 * (double)learning->data->d) *
                             (double)learning->data->n;
    const gram_status status = gram_learning_room(
        learning, bytes, "Use fewer landmarks, --solver nystrom:M, or more --memory.", "landmarks and a sample of");
    (void)snprintf(reason, sizeof reason, "%" PRId64 " rows in passes, %" PRId64 " landmarks from a sample of %" PRId64,
                   learning->n, landmarks, learning->data->n);
    if (status >= 0)
        gram_learning_plan(learning, "nystrom, f64, in passes", (size_t)bytes, n * m * m * 4e-11 + n * 1e-6, reason);
    return status;
}

static gram_status begin(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const krr_settings *own = learning->settings;
    double *offset = NULL;
    TRY(take_state(learning));
    TRY(check_use(learning));
    krr_state *state = learning->own;
    krr_stream *stream = state->stream;
    TRY(gram_unpenalised_read(learning, &own->free, &state->free));
    stream->intercept = state->free.intercept;
    state->lambda = stream->ridge.lambda = stream->noise = NAN;
    set_strength(learning);
    const int64_t landmarks = choose_landmarks(learning);
    TRY(announce(learning, landmarks));
    TRY(gram_krr_choose(learning));
    TRY(choose_map(learning, landmarks));
    TRY(find_offset(learning, &offset));
    TRY(make_sums(learning, offset));
done:
    return status;
}

static gram_status add(gram_learning *learning, const gram_prepared *rows)
{
    krr_stream *stream = stream_of(learning);
    return gram_feature_sums_add(learning->context, stream->map, rows->n, rows->x, rows->d, rows->y, rows->weights,
                                 &stream->sums);
}

static gram_status join(gram_learning *learning)
{
    return gram_feature_sums_join(learning->context, &stream_of(learning)->sums);
}

/* ---- the solution ---- */

static gram_status make_function(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    krr_stream *stream = stream_of(learning);
    const gram_features *map = stream->map;
    const int64_t d = map->d, p = map->report.dimension, m = stream->sums.outputs;
    gram_points *centres = NULL;
    TRY(gram_points_create_f64(learning->context, p, d, map->arrays[0].data, d, &centres));
    const int blas = gram_blas_enter();
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, (int)p, (int)m, 1, map->arrays[1].data,
                (int)p, stream->ridge.c, (int)m);
    gram_blas_leave(blas);
    TRY(gram_function_create(learning->context, map->kernel, centres, m, stream->ridge.c, m, stream->ridge.b,
                             &stream->function));
done:
    gram_points_release(centres);
    return status;
}

static gram_status finish(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    krr_stream *stream = stream_of(learning);
    gram_sums_ridge *ridge = &stream->ridge;
    const gram_feature_sums *sums = &stream->sums;
    FAIL_IF(sums->n == 0, learning->context, GRAM_ERROR_DATA, "%s: the sums are of no rows", learning->who);
    if (!isnan(stream->noise)) ridge->lambda = stream->noise / (double)sums->n;
    learning->n = sums->n;
    TRY(gram_learning_take(learning, sums->dimension * sums->outputs, sizeof(double), &ridge->c));
    TRY(gram_learning_take(learning, sums->outputs, sizeof(double), &ridge->b));
    TRY(gram_feature_sums_solve(learning->context, sums, stream->intercept, ridge));
    TRY(make_function(learning));
done:
    return status;
}

gram_status gram_krr_fitted_streamed(gram_learning *learning, double *f)
{
    gram_status status = GRAM_OK;
    const krr_stream *stream = stream_of(learning);
    const int64_t n = learning->data->n, m = stream->sums.outputs;
    double *values = NULL;
    TRY(gram_take(learning->context, "fitted values", n * m, sizeof *values, (void **)&values));
    TRY(gram_function_evaluate(learning->context, stream->function, learning->points, values, m));
    for (int64_t i = 0; i < n; i++) f[i] = values[i * m];
done:
    gram_give(learning->context, values);
    return status;
}

/* ---- the model ---- */

static void keep_choice(gram_keeper *keeper, gram_learning *learning)
{
    const krr_state *state = learning->own;
    const krr_stream *stream = state->stream;
    if (stream->tune) gram_keep_text(keeper, "tune", stream->tune);
    if (stream->defaults) gram_keep_text(keeper, "defaults", stream->defaults);
    if (stream->tune) return;
    gram_keep_tuning(keeper, learning, NULL);
    if (learning->tuning != GRAM_TUNING_NONE) {
        gram_keep_integer(keeper, "tuned_rows", state->tuned.rows);
        gram_keep_integer(keeper, "evaluations", state->tuned.evaluations);
    }
}

static void keep_numbers(gram_keeper *keeper, const krr_stream *stream)
{
    const gram_sums_ridge *ridge = &stream->ridge;
    const gram_feature_sums *sums = &stream->sums;
    const double count = ridge->total * (double)sums->outputs;
    gram_keep_number(keeper, "lambda", ridge->lambda);
    gram_keep_number(keeper, "noise", ridge->lambda * (double)sums->n);
    gram_keep_integer(keeper, "intercept", stream->intercept);
    gram_keep_text(keeper, "solver", gram_solver_name(GRAM_SOLVER_NYSTROM));
    gram_keep_text(keeper, "precision", gram_precision_name(GRAM_PRECISION_F64));
    gram_keep_integer(keeper, "rank", sums->dimension);
    gram_keep_number(keeper, "residual", ridge->residual);
    gram_keep_number(keeper, "trace_error", sums->trace > 0 ? sums->missed / sums->trace : 0);
    gram_keep_number(keeper, "train_rmse", sqrt(ridge->squares / count));
    gram_keep_number(keeper, "train_r2", ridge->variation > 0 ? 1 - ridge->squares / ridge->variation : NAN);
    gram_keep_number(keeper, "gcv", ridge->gcv);
    gram_keep_number(keeper, "norm", ridge->norm);
    gram_keep_number(keeper, "effective_dimension", ridge->effective_dimension);
}

gram_status gram_krr_keep_streamed(gram_learning *learning)
{
    const krr_stream *stream = stream_of(learning);
    gram_keeper keeper = gram_keep_begin(learning, stream->function);
    keep_numbers(&keeper, stream);
    gram_keep_integer(&keeper, "sample_rows", learning->sample_rows);
    keep_choice(&keeper, learning);
    return keeper.status;
}

/* ---- sums as a model ---- */

static void report_sums(gram_report *report)
{
    gram_report_row(report, "sums of");
    gram_report_value(report, GRAM_WHOLE, gram_report_number(report, "n"));
    gram_report_add(report, " rows, ");
    gram_report_value(report, GRAM_WHOLE, gram_report_number(report, "dimension"));
    gram_report_add(report, " features; `gram merge` makes a model of them");
    gram_report_tuning(report);
}

static gram_status open_sums(gram_context *context, gram_predictor *predictor)
{
    return gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT, "`gram merge` makes a model of them.",
                               "%s holds sums, not a model", predictor->wish.name);
}

static const gram_kept_words WORDS[] = {{"map", "nystrom"}, {NULL, NULL}};

const gram_method gram_method_krr_sums = {
    .name = "krr-sums",
    .title = "sums for kernel ridge regression",
    .words = WORDS,
    .tasks = 1u << GRAM_TASK_REGRESSION,
    .sums_of = &gram_method_krr,
    .open = open_sums,
    .report = report_sums,
};

static void keep_map(gram_keeper *keeper, const krr_stream *stream)
{
    const gram_features *map = stream->map;
    const gram_feature_sums *sums = &stream->sums;
    gram_keep_text(keeper, "map", map->type->name);
    gram_keep_integer(keeper, "dimension", sums->dimension);
    for (int i = 0; i < GRAM_FEATURE_ARRAYS && map->type->arrays[i]; i++)
        gram_keep_array(keeper, map->type->arrays[i], map->arrays[i].rows, map->arrays[i].columns, map->arrays[i].data);
    gram_keep_array(keeper, "offset", 1, sums->outputs, sums->offset);
    gram_keep_array(keeper, "products", sums->width, sums->width, sums->products);
    gram_keep_number(keeper, "trace", sums->trace);
    gram_keep_number(keeper, "missed", sums->missed);
    gram_keep_number(keeper, "radius", sums->radius);
}

/* The model's function is 0 at one landmark: it holds the kernel. */
static gram_status make_holder(gram_learning *learning, gram_function **function)
{
    gram_status status = GRAM_OK;
    const krr_stream *stream = stream_of(learning);
    const int64_t d = stream->map->d, m = stream->sums.outputs;
    gram_points *point = NULL;
    double *zeros = NULL;
    TRY(gram_learning_take(learning, m, sizeof *zeros, &zeros));
    TRY(gram_points_create_f64(learning->context, 1, d, stream->map->arrays[0].data, d, &point));
    TRY(gram_function_create(learning->context, stream->map->kernel, point, m, zeros, m, NULL, function));
done:
    gram_points_release(point);
    return status;
}

static gram_status keep_sums(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    krr_stream *stream = stream_of(learning);
    gram_function *function = NULL;
    TRY(make_holder(learning, &function));
    gram_keeper keeper = gram_keep_fit(learning->context, &gram_method_krr_sums, GRAM_TASK_REGRESSION,
                                       learning->preparation, function, stream->sums.n);
    gram_keep_integer(&keeper, "rows", learning->file_rows);
    gram_keep_integer(&keeper, "sample_rows", learning->sample_rows);
    gram_keep_integer(&keeper, "intercept", stream->intercept);
    if (!isnan(stream->ridge.lambda)) gram_keep_number(&keeper, "lambda", stream->ridge.lambda);
    if (!isnan(stream->noise)) gram_keep_number(&keeper, "noise", stream->noise);
    keep_choice(&keeper, learning);
    keep_map(&keeper, stream);
    status = gram_keep_end(&keeper, &learning->model);
done:
    gram_function_release(function);
    return status;
}

/* ---- and back ---- */

static gram_status damaged(gram_learning *learning, const char *name, const char *what)
{
    (void)gram_fail(learning->context, GRAM_ERROR_DATA, "%s: damaged: %s", name, what);
    return gram_advise(learning->context, GRAM_ERROR_DATA, "Make it again.");
}

static gram_status restore_map(gram_learning *learning, const gram_model *model, const char *name)
{
    gram_status status = GRAM_OK;
    krr_stream *stream = stream_of(learning);
    gram_feature_array arrays[GRAM_FEATURE_ARRAYS] = {{0, 0, NULL}};
    const gram_feature_type *type =
        gram_feature_type_find(gram_kept_text(model, "map") ? gram_kept_text(model, "map") : "");
    gram_function *holder = gram_model_function(model);
    if (!type) return damaged(learning, name, "no features");
    for (int i = 0; i < GRAM_FEATURE_ARRAYS && type->arrays[i]; i++)
        arrays[i].data = (double *)gram_model_array(model, type->arrays[i], &arrays[i].rows, &arrays[i].columns);
    status = gram_features_restore(learning->context, type, gram_function_kernel(holder),
                                   gram_points_dimension(gram_function_centres(holder)), -1, NAN, arrays, &stream->map);
    if (status == GRAM_ERROR_DATA) return damaged(learning, name, "its features do not belong together");
    TRY(status);
    learning->kernel = gram_kernel_retain(stream->map->kernel);
    const int64_t outputs = gram_preparation_describe(learning->preparation)->target_count;
    const double *offset = gram_kept_array(model, "offset", 1, outputs);
    if (!offset) return damaged(learning, name, "no offset of the targets");
    stream->intercept = gram_kept_number(model, "intercept", 1) != 0;
    stream->tune = gram_kept_text(model, "tune");
    stream->defaults = gram_kept_text(model, "defaults");
    stream->ridge.lambda = gram_kept_number(model, "lambda", NAN);
    stream->noise = gram_kept_number(model, "noise", NAN);
    learning->sample_rows = (int64_t)gram_kept_number(model, "sample_rows", 0);
    set_strength(learning);
    TRY(make_sums(learning, offset));
done:
    return status;
}

/* Are these the features, preparation and offset of the first? The arrays must agree to the last bit: they were copied from one place. */
static int is_like(const gram_learning *learning, const krr_stream *stream, const gram_model *model)
{
    const gram_features *map = stream->map;
    if (!gram_kernel_equal(map->kernel, gram_function_kernel(gram_model_function(model)))) return 0;
    if (!gram_preparation_equal(learning->preparation, gram_model_preparation(model))) return 0;
    if ((gram_kept_number(model, "intercept", 1) != 0) != stream->intercept) return 0;
    for (int i = 0; i < GRAM_FEATURE_ARRAYS && map->type->arrays[i]; i++) {
        const gram_feature_array *own = &map->arrays[i];
        const double *other = gram_kept_array(model, map->type->arrays[i], own->rows, own->columns);
        if (!other || memcmp(own->data, other, (size_t)(own->rows * own->columns) * sizeof *other) != 0) return 0;
    }
    const double *offset = gram_kept_array(model, "offset", 1, stream->sums.outputs);
    return offset && memcmp(offset, stream->sums.offset, (size_t)stream->sums.outputs * sizeof *offset) == 0;
}

static gram_status add_sums(gram_learning *learning, const gram_model *model, const char *name)
{
    krr_stream *stream = stream_of(learning);
    const int64_t width = stream->sums.width;
    const double *products = gram_kept_array(model, "products", width, width), n = gram_kept_number(model, "n", -1);
    if (!products || !(n >= 0)) return damaged(learning, name, "no sums of the size of its features");
    for (int64_t i = 0; i < width * width; i++)
        if (!isfinite(products[i])) return damaged(learning, name, "its sums are not finite");
    const gram_feature_sums other = {.products = (double *)products,
                                     .n = (int64_t)n,
                                     .trace = gram_kept_number(model, "trace", 0),
                                     .missed = gram_kept_number(model, "missed", 0),
                                     .radius = gram_kept_number(model, "radius", 0)};
    gram_feature_sums_merge(&stream->sums, &other);
    learning->file_rows += (int64_t)gram_kept_number(model, "rows", 0);
    return GRAM_OK;
}

static gram_status restore(gram_learning *learning, const gram_model *model, const char *name, int with_sums)
{
    gram_status status = GRAM_OK;
    TRY(take_state(learning));
    krr_stream *stream = stream_of(learning);
    if (!learning->preparation) return damaged(learning, name, "no preparation of the data");
    if (!stream->map)
        TRY(restore_map(learning, model, name));
    else if (!is_like(learning, stream, model))
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT,
                                  "Make the sums of all parts like one: `gram accumulate PART --like FIRST.sums`.",
                                  "%s: its kernel, landmarks or preparation are others than those of the first sums",
                                  name);
    if (with_sums) TRY(add_sums(learning, model, name));
done:
    return status;
}

const gram_streaming gram_krr_streaming = {.possible = possible,
                                           .begin = begin,
                                           .add = add,
                                           .join = join,
                                           .finish = finish,
                                           .keep_sums = keep_sums,
                                           .restore = restore};
