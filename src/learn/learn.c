/* Learning: from a table to a model.
 *
 * The way of the data: a table is prepared (columns become features, target, weights), the task is decided, the kernel read,
 * and the row of the method plans, fits and keeps. What it took on the way is the learner's until it learns again, so that a
 * caller can look at the rows and at what was fitted to them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/sized_struct.h"
#include "kernel/kernel.h"
#include "learn/cells/cells.h"
#include "learn/estimate/data_notes.h"
#include "learn/estimate/error_estimate.h"
#include "learn/learn_steps.h"
#include "learn/learner.h"
#include "learn/method_table.h"
#include "learn/transform/feature_transform.h"
#include "model/model.h"
#include "points/points.h"
#include "solve/eigen/given_psd.h"

void gram_learner_forget(gram_learner *learner)
{
    gram_learning *learning = &learner->learning;
    if (!learner->has_learnt) return;
    if (learning->method && learning->method->forget) learning->method->forget(learning);
    gram_kernel_release(learning->kernel);
    gram_kernel_release(learning->written);
    gram_learning_forget_second(learning);
    gram_points_release(learning->points);
    gram_points_release(learning->functionals);
    gram_prepared_destroy(learning->data);
    gram_preparation_release(learning->preparation);
    gram_model_destroy(learning->initial);
    gram_arena_release(&learning->arena);
    *learning = (gram_learning){0};
    learner->left_out = NULL;
    learner->has_learnt = 0;
}

/* ---- failures ---- */

/* A failure of one number of the points becomes one of a row and a column of the data. */
static void name_place(gram_learning *learning)
{
    gram_context *context = learning->context;
    char message[GRAM_MESSAGE_SIZE], place[64], name[256];
    int64_t row, column;
    if (!learning->data || !gram_context_place(context, &row, &column) || column < 0) return;
    (void)snprintf(message, sizeof message, "%s", gram_context_message(context));
    (void)snprintf(place, sizeof place, "x[%" PRId64 "][%" PRId64 "] = ", row, column);
    (void)gram_preparation_column_name(learning->preparation, column, name, sizeof name);
    char *rest = strstr(message, place);
    if (rest) *rest = '\0';
    (void)gram_fail(context, GRAM_ERROR_DATA, "%s: row %" PRId64 ", column '%s': %s%s", learning->source,
                    gram_learning_row(learning, row), name, message, rest ? rest + strlen(place) : "");
}

static const char *advice_for(const gram_learning *learning, gram_status status)
{
    const char *scale = gram_learning_common(learning, GRAM_COMMON_SCALE);
    switch (status) {
    case GRAM_ERROR_DOMAIN:
        return scale && strcmp(scale, "no") == 0
                   ? "Move or leave out such points, or use another kernel."
                   : "Features are standardised: --no-scale takes them as they are. Or use another kernel.";
    case GRAM_ERROR_NUMERICAL:
        return "Raise --lambda (or --noise), or use another kernel; `gram kernel E DATA --check` looks at its matrix.";
    case GRAM_ERROR_ARGUMENT: return "Change what the message names; `gram help VERB` lists the options.";
    case GRAM_ERROR_DATA: return "Look at the target and the weights; --task, --target and --weights choose.";
    default: return "";
    }
}

/* "gp_fit: ..." becomes "fit: ...": the functions of the library mean nothing to whoever called the learner. */
static void drop_function(gram_learning *learning, gram_status status)
{
    char message[GRAM_MESSAGE_SIZE], advice[GRAM_MESSAGE_SIZE];
    (void)snprintf(message, sizeof message, "%s", gram_context_message(learning->context));
    (void)snprintf(advice, sizeof advice, "%s", gram_context_advice(learning->context));
    const size_t length = strspn(message, "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (length == 0 || strncmp(message + length, ": ", 2) != 0 || !memchr(message, '_', length)) return;
    (void)gram_fail(learning->context, status, "%s%s", learning->who, message + length);
    (void)gram_advise(learning->context, status, advice);
}

/* The data were finite: a function whose coefficients are not is a fit that failed. */
static gram_status find_cause(gram_learning *learning, gram_status status)
{
    static const char function[] = "function_create: ";
    if (status != GRAM_ERROR_DATA ||
        strncmp(gram_context_message(learning->context), function, sizeof function - 1) != 0)
        return status;
    return gram_fail(learning->context, GRAM_ERROR_NUMERICAL, "%s: the equations have no solution in finite numbers",
                     learning->who);
}

/* Says what to do about a failure of the work, unless that was said already. */
gram_status gram_learning_advise(gram_learning *learning, gram_status failed)
{
    char spoken[GRAM_MESSAGE_SIZE];
    const gram_status status = find_cause(learning, failed);
    if (!gram_context_advice(learning->context)[0]) {
        name_place(learning);
        gram_write_dashes(advice_for(learning, status), learning->dashes, spoken, sizeof spoken);
        (void)gram_advise(learning->context, status, spoken);
    }
    drop_function(learning, status);
    return status;
}

/* ---- the data ---- */

static const char *reading_advice(const gram_learning *learning, gram_status status)
{
    if (status == GRAM_ERROR_FILE) return "Check the name, and that you may read it.";
    if (status == GRAM_ERROR_SYNTAX) return "A list of columns is names, places and ranges: x1,x3:x5,7.";
    if (status != GRAM_ERROR_DATA) return "";
    if (learning->before) return "--resume needs the same rows in the same order; fit other data without it.";
    if (learning->task >= GRAM_TASK_TRANSFORM)
        return "--features and --ignore choose columns; --missing drop or mean helps with missing values.";
    return "--target, --features and --ignore choose columns; --missing drop or mean helps with missing values.";
}

gram_status gram_learning_unread(gram_learning *learning, gram_status status)
{
    char spoken[GRAM_MESSAGE_SIZE];
    if (gram_context_advice(learning->context)[0]) return status;
    gram_write_dashes(reading_advice(learning, status), learning->dashes, spoken, sizeof spoken);
    return gram_advise(learning->context, status, spoken);
}

/* Known variances of rows take the place of weights: a method uses one of them. */
void gram_learning_preparation_options(gram_learning *learning, const char *features, const char *label, int second,
                                       gram_preparation_options *options)
{
    gram_chosen missing = {GRAM_MISSING_ERROR, 0};
    const char *target = gram_learning_common(learning, GRAM_COMMON_TARGET);
    const char *row_noise = gram_given_text(learning, "row-noise");
    const char *scale = gram_learning_common(learning, GRAM_COMMON_SCALE);
    const char *given = gram_learning_common(learning, GRAM_COMMON_MISSING);
    const int needs_target = learning->task <= GRAM_TASK_CLASSIFICATION;
    if (given) (void)gram_option_read(&gram_common_options[GRAM_COMMON_MISSING], given, &missing);
    gram_preparation_options_init(options, sizeof *options);
    options->target = label ? label : learning->target ? learning->target : !target && !needs_target ? "" : target;
    options->features = features ? features : gram_learning_common(learning, GRAM_COMMON_FEATURES);
    options->ignore = learning->ignore ? learning->ignore : gram_learning_common(learning, GRAM_COMMON_IGNORE);
    options->weights = second                     ? NULL /* they are the first view's */
                       : learning->weights_column ? learning->weights_column
                       : row_noise                ? row_noise
                                                  : gram_learning_common(learning, GRAM_COMMON_WEIGHTS);
    options->scale =
        scale ? strcmp(scale, "yes") == 0
              : !gram_learning_common(learning, GRAM_COMMON_KIND) && (!learning->method || !learning->method->unscaled);
    options->missing = (gram_missing)missing.value;
    options->missing_texts = gram_learning_common(learning, GRAM_COMMON_NA);
    options->bag = gram_learning_common(learning, GRAM_COMMON_BAG);
    options->bag_weights = gram_learning_common(learning, GRAM_COMMON_BAG_WEIGHTS);
    learning->has_row_noise = row_noise != NULL;
}

/* A fit that goes on has its preparation. */
gram_status gram_learning_preparation(gram_learning *learning, const gram_table *table, const char *features,
                                      const char *label, gram_preparation **preparation)
{
    gram_preparation_options options;
    const gram_model *prepared = learning->before ? learning->before : learning->initial;
    if (prepared) {
        *preparation = gram_preparation_retain(gram_model_preparation(prepared));
        return GRAM_OK;
    }
    gram_learning_preparation_options(learning, features, label, preparation == &learning->second.preparation,
                                      &options);
    return gram_preparation_learn(learning->context, table, &options, preparation);
}

/* `second`: the table of the second of two views, NULL: both are of one table. */
static gram_status prepare(gram_learning *learning, const gram_table *table, const gram_table *second)
{
    gram_status status = gram_learning_read_groups(learning, table);
    if (status >= 0 && gram_learning_has_views(learning)) {
        status = gram_learning_prepare_views(learning, table, second);
        return status < 0 ? gram_learning_unread(learning, status) : status;
    }
    if (status >= 0) status = gram_learning_read_kinds(learning, table);
    if (status >= 0) status = gram_learning_preparation(learning, table, NULL, NULL, &learning->preparation);
    if (status >= 0)
        status = gram_preparation_apply(learning->context, learning->preparation, table, 1, &learning->data);
    if (status >= 0) status = gram_learning_set_kinds(learning, table);
    return status < 0 ? gram_learning_unread(learning, status) : status;
}

gram_status gram_learning_prepare(gram_learning *learning, const gram_table *table)
{
    return prepare(learning, table, NULL);
}

static void count_rows(gram_learning *learning)
{
    const gram_prepared *data = learning->data;
    if (learning->streamed) return; /* they were counted */
    const double *weights = learning->has_row_noise ? NULL : data->weights;
    learning->n = 0;
    for (int64_t i = 0; i < data->n; i++)
        learning->n += (!weights || weights[i] > 0) && (!learning->senses || learning->senses[i] == GRAM_ROW_FITTED);
}

/* ---- the kernel ---- */

static int is_complete(gram_context *context, const gram_kernel *kernel)
{
    gram_parameter parameter;
    for (int64_t i = 0; i < gram_kernel_parameter_count(kernel); i++)
        if (gram_kernel_parameter_get(context, kernel, i, &parameter) != GRAM_OK || !parameter.set) return 0;
    return 1;
}

static int has_strength(const gram_learning *learning)
{
    const gram_method *method = learning->method;
    for (size_t i = 0; i < method->option_count; i++) {
        const char *text = gram_given_text(learning, method->options[i].name);
        if (text && method->options[i].flags & GRAM_OPTION_STRENGTH && strcmp(text, "auto") != 0) return 1;
    }
    return 0;
}

/* Of bags a kernel of the distances of their mean embeddings; where all pairs of their rows would be many, by random features. */
static const char *bag_kernel(const gram_learning *learning)
{
    enum { MANY_ROWS = 4000 };
    static const char *const kernels[2][2] = {
        {"after(mean(rbf), rbf)", "after(mean(rbf, fourier=200), rbf)"},
        {"const*after(mean(rbf), rbf)", "const*after(mean(rbf, fourier=200), rbf)"}};
    const gram_objects *bags = learning->data->objects[0];
    const int amplified = strncmp(learning->method->kernel, "const", 5) == 0;
    return kernels[amplified][bags->start[bags->count] > MANY_ROWS];
}

/* The method's kernel, that of bags, and where all that there is are rows of a given matrix, with that in the place of rbf. */
static const char *default_kernel(const gram_learning *learning, char *text, size_t size)
{
    const char *usual = learning->method->kernel, *rbf = strstr(usual, "rbf");
    const gram_points *x = learning->points;
    if (learning->data && learning->data->first) return bag_kernel(learning);
    if (!rbf || !x || x->d != 1 || gram_points_kind(x, 0) != GRAM_OBJECT_GIVEN || gram_learning_has_views(learning))
        return usual;
    (void)snprintf(text, size, "%.*sgiven%s", (int)(rbf - usual), usual, rbf + strlen("rbf"));
    return text;
}

gram_status gram_learning_parse_kernel(gram_learning *learning, const char *text, gram_kernel **kernel)
{
    if (!text && learning->asked) {
        *kernel = gram_kernel_retain(learning->asked);
        return GRAM_OK;
    }
    char usual[64];
    if (!text) text = default_kernel(learning, usual, sizeof usual);
    const gram_status status = gram_kernel_parse(learning->context, text, kernel);
    if (status >= 0) return status;
    return gram_advise(learning->context, status,
                       "Kernels look like '2*rbf(ell=0.3) + on(1:2, matern(nu=1.5))'; see `gram help kernel`.");
}

static gram_status read_kernel(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const char *text = learning->asked ? NULL : gram_learning_common(learning, GRAM_COMMON_KERNEL);
    if (text && strcmp(text, "auto") == 0) text = NULL; /* the method's own, or what it chooses */
    if (!learning->method->kernel && learning->data->objects)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Use a method of kernels: krr, gp, svm or logistic.",
                                  "%s takes numbers only, and there are columns of other things",
                                  learning->method->title);
    if (!learning->method->kernel) return GRAM_OK; /* the method has its own */
    if (gram_learning_has_views(learning)) return gram_learning_view_kernels(learning);
    if (learning->before)
        learning->written = gram_kernel_retain(gram_function_kernel(gram_model_function(learning->before)));
    else
        TRY(gram_learning_parse_kernel(learning, text, &learning->written));
    TRY(gram_kernel_check_dimension(learning->context, learning->written, learning->data->d));
    if (learning->points && gram_kernel_check_kinds(learning->context, learning->written, learning->points) < 0)
        return gram_advise(learning->context, GRAM_ERROR_ARGUMENT,
                           "`gram help kernel` says what kernels take; on(2, KERNEL) puts one on column 2.");
    TRY(gram_learning_check_kernel_numbers(learning));
done:
    return status;
}

/* When kernel and strength are given in full there is nothing to choose. */
static void decide_tuning(gram_learning *learning)
{
    const gram_tuned_settings *tuned = learning->settings;
    learning->tuning = GRAM_TUNING_NONE;
    if (!gram_method_find_option(learning->method, "tune")) return; /* then the settings do not begin with these */
    learning->tuning = (gram_tuning)tuned->tune.value;
    if (learning->tuning != GRAM_TUNING_AUTO) return;
    learning->tuning = is_complete(learning->context, learning->written) && has_strength(learning)
                           ? GRAM_TUNING_NONE
                           : learning->method->tuning;
}

gram_status gram_learning_choose_kernel(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    TRY(read_kernel(learning));
    decide_tuning(learning);
done:
    return status;
}

/* ---- a fit that goes on ---- */

static gram_status check_resume(gram_learning *learning)
{
    const gram_model *model = learning->before;
    const char *name = learning->before_name, *asked = gram_learning_common(learning, GRAM_COMMON_METHOD);
    const gram_method *method = gram_method_of_model(model);
    if (!method || !method->resume)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Fit it anew, without --resume.",
                                  "--resume %s: a fit of %s cannot go on", name, gram_model_method(model));
    if (asked && strcmp(asked, "auto") != 0 && strcmp(asked, method->name) != 0)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave it out; `gram info` shows what the model has.",
                                  "--method does not go with --resume: the model decides");
    if (gram_kept_number(model, "converged", 1) != 0)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Fit it anew, without --resume, to change it.",
                                  "--resume %s: it is finished, there is nothing to go on with", name);
    if (!gram_model_preparation(model)) {
        (void)gram_fail(learning->context, GRAM_ERROR_DATA, "%s: damaged: no preparation of the data", name);
        return gram_advise(learning->context, GRAM_ERROR_DATA, "Fit it again.");
    }
    learning->method = method;
    for (int task = 1; task < GRAM_TASK_COUNT; task++)
        if (strcmp(gram_task_name((gram_task)task), gram_model_task(model)) == 0) learning->task = (gram_task)task;
    return gram_learning_read_settings(learning);
}

/* ---- all of it ---- */

/* Before the data are read: what the options alone decide. */
gram_status gram_learning_begin(gram_context *context, gram_learner *learner, const char *name)
{
    gram_learning *learning = &learner->learning;
    gram_learner_forget(learner);
    *learning = (gram_learning){.context = context,
                                .who = learner->who,
                                .dashes = learner->dashes,
                                .given_count = learner->count,
                                .given = learner->given,
                                .source = name,
                                .before = learner->before,
                                .before_name = learner->before_name,
                                .to_file = learner->to_file,
                                .asked = learner->kernel,
                                .tell = learner->tell,
                                .tell_user = learner->tell_user};
    gram_arena_init(&learning->arena, learner->memory);
    learner->has_learnt = 1;
    if (learning->before) return check_resume(learning);
    learning->task = gram_learning_known_task(learning);
    return gram_learning_has_method(learning) ? gram_learning_choose_method(learning) : GRAM_OK;
}

/* centre(a) is about the rows that are learnt from, once and for all that follows. */
static gram_status bind_kernel(gram_learning *learning, const gram_points *points, gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    gram_kernel *bound = NULL;
    if (!*kernel || !points) return GRAM_OK;
    TRY(gram_kernel_bind_rows(learning->context, *kernel, points, &bound));
    gram_kernel_release(*kernel);
    *kernel = bound;
done:
    return status;
}

gram_status gram_learning_ready(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const gram_prepared *data = learning->data;
    const gram_prepared *second = learning->second.data;
    learning->points = gram_points_retain(learning->functionals);
    if (!learning->points) TRY(gram_points_of_prepared(learning->context, data, &learning->points));
    if (second) TRY(gram_points_of_prepared(learning->context, second, &learning->second.points));
    if (learning->before) TRY(gram_check_fingerprints(learning));
    count_rows(learning);
    TRY(gram_learning_decide_task(learning));
    TRY(gram_learning_check_numbers(learning));
    TRY(gram_learning_choose_kernel(learning));
    TRY(gram_given_check_psd(learning->context, learning->points));
    TRY(bind_kernel(learning, learning->points, &learning->written));
    TRY(bind_kernel(learning, learning->second.points, &learning->second.written));
    TRY(gram_learning_set_groups(learning));
    if (learning->to_file)
        TRY(gram_model_check_columns(learning->context, learning->preparation, learning->second.preparation));
done:
    return status;
}

/* For pictures: a copy of what fits without the rows said of them. */
static gram_status keep_left_out(gram_learner *learner, const gram_left_out *out)
{
    gram_status status = GRAM_OK;
    gram_learning *learning = &learner->learning;
    if (!out->values || out->rows == 0 || learning->task != GRAM_TASK_CLASSIFICATION || out->n != learning->data->n ||
        out->classes.count != learning->classes.count)
        return status;
    TRY(gram_arena_take(learning->context, &learning->arena, "learning", out->n * out->ld, sizeof *learner->left_out,
                        (void **)&learner->left_out));
    memcpy(learner->left_out, out->values, (size_t)(out->n * out->ld) * sizeof *out->values);
    learner->left_out_ld = out->ld;
done:
    return status;
}

static gram_status work(gram_learner *learner)
{
    gram_status status = GRAM_OK;
    gram_learning *learning = &learner->learning;
    gram_estimate_state estimate = {0};
    TRY(gram_learning_ready(learning));
    TRY(gram_data_check_classes(learning));
    TRY(gram_transform_choose(learning));
    TRY(gram_estimate_begin(learning, &estimate));
    TRY(gram_learning_wants_cells(learning) ? gram_learning_fit_cells(learning) : gram_part_fit(learning));
    TRY(gram_estimate_end(learning, &estimate));
    TRY(keep_left_out(learner, &estimate.out));
    if (gram_estimate_is_wanted(learning)) TRY(gram_data_notes_keep(learning));
    TRY(gram_transform_keep(learning));
done:
    gram_estimate_free(&estimate);
    learning->trails = (gram_search_trails){0};
    return status < 0 ? gram_learning_advise(learning, status) : status;
}

gram_status gram_learner_check(gram_context *context, gram_learner *learner)
{
    const gram_status status = gram_learning_begin(context, learner, "the data");
    gram_learner_forget(learner);
    return status;
}

gram_status gram_learner_finish(gram_learner *learner, gram_status status, gram_model **model)
{
    gram_learning *learning = &learner->learning;
    *model = learning->model; /* the caller's */
    learning->model = NULL;
    learning->target = NULL; /* were lent for the call */
    learning->weights_column = NULL;
    learning->second.source = NULL;
    if (status >= 0) {
        gram_lesson_of(learning, &learner->lesson);
        learning->context = NULL;
        return GRAM_OK;
    }
    gram_model_destroy(*model);
    *model = NULL;
    gram_learner_forget(learner);
    return status;
}

/* Two tables are for methods of two views. */
static gram_status check_pair(gram_learning *learning)
{
    if (gram_learning_has_views(learning)) return GRAM_OK;
    return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Use a method of two views, or one table.",
                              "two tables are not for %s, which has one view",
                              learning->method ? learning->method->name : "a method that is not named");
}

gram_status gram_learn_table(gram_context *context, gram_learner *learner, const gram_table *table, const char *name,
                             gram_model **model)
{
    gram_status status = gram_learning_begin(context, learner, name ? name : "the table");
    if (status >= 0) status = prepare(&learner->learning, table, NULL);
    if (status >= 0) status = work(learner);
    return gram_learner_finish(learner, status, model);
}

gram_status gram_learn_table_pair(gram_context *context, gram_learner *learner, const gram_table *first,
                                  const char *first_name, const gram_table *second, const char *second_name,
                                  gram_model **model)
{
    gram_status status = gram_learning_begin(context, learner, first_name ? first_name : "the table");
    learner->learning.second.source = second_name;
    if (status >= 0) status = check_pair(&learner->learning);
    if (status >= 0) status = prepare(&learner->learning, first, second);
    if (status >= 0) status = work(learner);
    return gram_learner_finish(learner, status, model);
}

/* Tables are given back as soon as they were prepared: the memory is for K. */
static gram_status learn_own_tables(gram_learner *learner, gram_table *first, gram_table *second, gram_model **model)
{
    gram_status status = prepare(&learner->learning, first, second);
    gram_table_destroy(first);
    gram_table_destroy(second);
    if (status >= 0) status = work(learner);
    return gram_learner_finish(learner, status, model);
}

gram_status gram_learning_read_table(gram_learning *learning, const char *path, gram_format format, int sparse,
                                     gram_table **table)
{
    gram_table_options options;
    gram_table_options_init(&options, sizeof options);
    options.format = format;
    options.text = GRAM_TEXT_CATEGORIES;
    options.keep_missing = 1; /* what to do with them is the preparation's matter */
    options.missing_texts = gram_learning_common(learning, GRAM_COMMON_NA);
    options.categories = gram_learning_common(learning, GRAM_COMMON_CATEGORIES);
    options.odd_words = 1;
    options.sparse = sparse;
    options.texts = gram_learning_common(learning, GRAM_COMMON_TEXT);
    options.gram = gram_learning_common(learning, GRAM_COMMON_GRAM);
    options.graphs = gram_learning_common(learning, GRAM_COMMON_GRAPH);
    options.bag = gram_learning_common(learning, GRAM_COMMON_BAG);
    const gram_status status = gram_table_read(learning->context, path, &options, table);
    return status < 0 ? gram_learning_unread(learning, status) : status;
}

gram_status gram_learn_file(gram_context *context, gram_learner *learner, const char *path, gram_format format,
                            gram_model **model)
{
    gram_table *table = NULL;
    gram_learning *learning = &learner->learning;
    gram_status status = gram_learning_begin(context, learner, gram_data_name(path));
    if (status >= 0 && gram_learning_wants_stream(learning) == 1) {
        status = gram_learning_stream(learning, path, format, GRAM_STREAM_ALL);
        return gram_learner_finish(learner, status, model);
    }
    if (status >= 0) status = gram_learning_read_table(learning, path, format, 1, &table);
    if (status >= 0) status = prepare(learning, table, NULL);
    gram_table_destroy(table);
    if (status >= 0) status = work(learner);
    if (status == GRAM_ERROR_BUDGET && !(gram_context_time_left(context) < 0) &&
        gram_learning_may_stream(learning, path)) { /* in passes it fits */
        status = gram_learning_begin(context, learner, gram_data_name(path));
        if (status >= 0) status = gram_learning_stream(learning, path, format, GRAM_STREAM_ALL);
    }
    return gram_learner_finish(learner, status, model);
}

gram_status gram_learn_file_pair(gram_context *context, gram_learner *learner, const char *first, const char *second,
                                 gram_format format, gram_model **model)
{
    gram_table *tables[2] = {NULL, NULL};
    gram_status status = gram_learning_begin(context, learner, gram_data_name(first));
    learner->learning.second.source = gram_data_name(second);
    if (status >= 0) status = check_pair(&learner->learning);
    if (status >= 0) status = gram_learning_read_table(&learner->learning, first, format, 1, &tables[0]);
    if (status >= 0) status = gram_learning_read_table(&learner->learning, second, format, 1, &tables[1]);
    if (status >= 0) return learn_own_tables(learner, tables[0], tables[1], model);
    gram_table_destroy(tables[0]);
    return gram_learner_finish(learner, status, model);
}

/* Is x used where it is? Rows of views and of kinds are moved about after they were prepared, and places of text are changed. */
static int may_lend(const gram_learning *learning, const gram_arrays *arrays)
{
    return arrays->lend && !arrays->second && !arrays->sparse_start &&
           !gram_learning_common(learning, GRAM_COMMON_KIND) && !gram_arrays_has_text(arrays);
}

/* Columns of two views are called after them. */
static gram_status make_tables(gram_learning *learning, const gram_arrays *arrays, gram_table *tables[2])
{
    gram_status status = GRAM_OK;
    const gram_arrays second = gram_arrays_second(arrays);
    const char *const *views = learning->method ? learning->method->views : NULL;
    if (arrays->second) TRY(check_pair(learning));
    TRY(gram_arrays_to_table(learning->context, arrays, arrays->second ? views[0] : "x", may_lend(learning, arrays),
                             &tables[0]));
    if (arrays->second) TRY(gram_arrays_to_table(learning->context, &second, views[1], 0, &tables[1]));
done:
    return status;
}

gram_status gram_learn_arrays(gram_context *context, gram_learner *learner, const gram_arrays *given,
                              gram_model **model)
{
    gram_table *tables[2] = {NULL, NULL};
    gram_arrays all, *arrays = &all;
    char target[GRAM_ARRAYS_TARGET_SIZE];
    *model = NULL;
    gram_arrays_init(arrays, sizeof *arrays);
    gram_status status =
        gram_sized_read(context, "learn_arrays", "arrays", "gram_arrays", given, arrays, sizeof *arrays);
    if (status < 0) return status;
    status = gram_learning_begin(context, learner, "the arrays");
    if (status >= 0) status = make_tables(&learner->learning, arrays, tables);
    if (status >= 0) {
        learner->learning.target = gram_arrays_target(arrays, target);
        learner->learning.weights_column =
            arrays->weights ? gram_table_column_name(tables[0], gram_table_columns(tables[0]) - 1) : NULL;
        return learn_own_tables(learner, tables[0], tables[1], model);
    }
    gram_table_destroy(tables[0]);
    return gram_learner_finish(learner, status, model);
}
