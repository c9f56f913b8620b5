/* One learner by folds: predictions of every row by a fit that has not seen it. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "base/sized_struct.h"
#include "learn/compare/left_out_run.h"
#include "learn/learn_steps.h"

struct gram_cv {
    gram_memory *memory;
    gram_arena arena;
    gram_learner *learner; /* its own, with the data */
    gram_lesson lesson;
    gram_division division;
    gram_left_out out;
    gram_cv_report report;
};

void gram_cv_options_init(gram_cv_options *options, size_t size)
{
    const gram_cv_options defaults = {.size = sizeof defaults};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

static int64_t usual_folds(int64_t n)
{
    return n <= 60 ? 20 : n <= 250 ? 10 : 5;
}

static gram_status judge(gram_context *context, gram_cv *cv)
{
    gram_status status = GRAM_OK;
    gram_left_out_errors e;
    gram_cv_report *r = &cv->report;
    (void)context;
    TRY(gram_left_out_judge(&cv->out, &e));
    gram_cv_report_begin(&cv->learner->learning, &cv->out, &cv->division, r);
    TRY(gram_learner_kernel_text(&cv->learner->learning, &cv->arena, &r->kernel));
    r->rmse = e.rmse, r->rmse_se = e.rmse_se, r->r2 = e.r2;
    r->mae = e.mae, r->mae_se = e.mae_se;
    r->nlpd = e.nlpd, r->nlpd_se = e.nlpd_se;
    r->loss = e.loss, r->loss_se = e.loss_se;
    r->accuracy = e.accuracy, r->accuracy_se = e.accuracy_se;
    r->log_loss = e.log_loss, r->log_loss_se = e.log_loss_se;
done:
    return status;
}

static gram_status run(gram_context *context, gram_cv *cv, const gram_table *table, const char *name,
                       const gram_cv_options *options)
{
    gram_status status = GRAM_OK;
    const gram_learning *learning = &cv->learner->learning;
    TRY(gram_learner_ready(context, cv->learner, table, name));
    const int64_t folds = options->folds > 0 ? options->folds : usual_folds(learning->n);
    const gram_division wanted = {.folds = folds, .last = folds - 1, .fit_rows = options->fit_rows};
    TRY(gram_division_make(learning, &cv->arena, &wanted, &cv->division));
    TRY(gram_left_out_begin(learning, &cv->out));
    TRY(gram_left_out_run(&cv->out, &cv->division));
    TRY(judge(context, cv));
    gram_lesson_of(learning, &cv->lesson);
done:
    return gram_learner_rest(cv->learner, status);
}

gram_status gram_cv_table(gram_context *context, const gram_learner *learner, const gram_table *table, const char *name,
                          const gram_cv_options *options, gram_cv **cv)
{
    gram_status status = GRAM_OK;
    gram_cv *made = NULL;
    gram_cv_options all;
    *cv = NULL;
    gram_cv_options_init(&all, sizeof all);
    TRY(gram_sized_read(context, "cv_table", "options", "gram_cv_options", options, &all, sizeof all));
    FAIL_IF(all.folds < 0 || all.folds == 1 || all.fit_rows < 0, context, GRAM_ERROR_ARGUMENT,
            "cv_table: folds = %" PRId64 ", fit_rows = %" PRId64, all.folds, all.fit_rows);
    TRY(gram_take(context, "cross-validation", 1, sizeof *made, (void **)&made));
    *made = (gram_cv){.memory = gram_memory_retain(context->memory), .report.size = sizeof made->report};
    gram_arena_init(&made->arena, made->memory);
    TRY(gram_learner_copy(context, learner, NULL, &made->learner));
    TRY(run(context, made, table, name, &all));
    *cv = made;
    made = NULL;
done:
    gram_cv_destroy(made);
    return status;
}

void gram_cv_destroy(gram_cv *cv)
{
    if (!cv) return;
    gram_memory *memory = cv->memory;
    gram_left_out_free(&cv->out);
    gram_learner_destroy(cv->learner);
    gram_arena_release(&cv->arena);
    gram_memory_give(memory, cv);
    gram_memory_release(memory);
}

/* ---- what it says ---- */

gram_status gram_cv_get_report(gram_context *context, const gram_cv *cv, gram_cv_report *report)
{
    gram_status status = GRAM_OK;
    TRY(gram_sized_check(context, "cv_get_report", "report", "gram_cv_report", report, sizeof cv->report));
    gram_sized_write(report, &cv->report, sizeof cv->report);
done:
    return status;
}

const gram_lesson *gram_cv_lesson(const gram_cv *cv)
{
    return &cv->lesson;
}

const gram_columns *gram_cv_columns(const gram_cv *cv)
{
    return &cv->out.columns;
}

const double *gram_cv_values(const gram_cv *cv, int64_t row)
{
    return cv->out.values + row * cv->out.ld;
}

int64_t gram_cv_fold(const gram_cv *cv, int64_t row)
{
    return isnan(gram_cv_values(cv, row)[0]) ? -1 : cv->division.fold[row];
}

static void put_error(gram_json *json, const char *name, double value, double se)
{
    gram_string key = {0};
    if (isnan(value)) return;
    gram_json_number(json, name, value);
    gram_string_add(&key, "%s_se", name);
    if (!isnan(se) && key.data) gram_json_number(json, key.data, se);
    gram_string_free(&key);
}

void gram_cv_json(const gram_cv *cv, gram_json *json)
{
    const gram_cv_report *r = &cv->report;
    gram_json_open(json, "estimate", '{');
    gram_json_string(json, "kind", "folds");
    gram_json_integer(json, "rows", r->rows);
    gram_json_integer(json, "folds", r->folds);
    gram_json_integer(json, "fit_rows", r->fit_rows);
    gram_json_string(json, "numbers", r->numbers);
    if (r->by) gram_json_string(json, "by", r->by);
    put_error(json, "rmse", r->rmse, r->rmse_se);
    put_error(json, "r2", r->r2, NAN);
    put_error(json, "mae", r->mae, r->mae_se);
    put_error(json, "nlpd", r->nlpd, r->nlpd_se);
    put_error(json, "loss", r->loss, r->loss_se);
    put_error(json, "accuracy", r->accuracy, r->accuracy_se);
    put_error(json, "log_loss", r->log_loss, r->log_loss_se);
    gram_json_close(json, '{');
}

/* ---- rows as text ---- */

static void add_name(gram_string *text, const char *before, const char *name)
{
    gram_string field = {0};
    gram_string_add(&field, "%s%s", before, name);
    gram_string_add(text, ",");
    gram_string_add_field(text, field.data ? field.data : "");
    text->failed |= field.failed;
    gram_string_free(&field);
}

static void add_number(gram_string *text, double value)
{
    char shown[GRAM_NUMBER_SIZE];
    gram_string_add(text, ",%s", isnan(value) ? "" : gram_number_format(value, shown));
}

static void add_names(const gram_cv *cv, gram_string *text)
{
    const gram_columns *columns = &cv->out.columns;
    const gram_preparation_description *known = gram_preparation_describe(cv->lesson.preparation);
    char level[GRAM_NUMBER_SIZE];
    gram_string_add(text, "row,fold");
    const int64_t targets = columns->outputs > 1 ? columns->outputs : 1;
    for (int64_t o = 0; o < targets; o++)
        add_name(text, targets > 1 ? "truth_" : "truth", targets > 1 ? known->targets[o].name : "");
    if (columns->level_count > 0)
        for (int64_t k = 0; k < columns->level_count; k++)
            add_name(text, "quantile_", gram_number_format(columns->levels[k], level));
    else
        for (int64_t o = 0; o < targets; o++)
            add_name(text, targets > 1 ? "prediction_" : "prediction", targets > 1 ? known->targets[o].name : "");
    if (columns->spread >= 0) add_name(text, "std", "");
    for (int64_t c = 0; c < cv->out.classes.count; c++) add_name(text, "p_", cv->out.classes.names[c]);
    gram_string_add(text, "\n");
}

static void add_class(gram_string *text, const gram_classes *classes, double label)
{
    gram_string_add(text, ",");
    gram_string_add_field(text, classes->names[(int64_t)label]);
}

static void add_row(const gram_cv *cv, int64_t i, gram_string *text)
{
    const gram_columns *columns = &cv->out.columns;
    const gram_prepared *data = cv->lesson.data;
    const double *values = gram_cv_values(cv, i);
    const int64_t row = data->first ? data->first[i] : data->rows ? data->rows[i] : i;
    gram_string_add(text, "%" PRId64 ",%" PRId64, row + 1, cv->division.fold[i] + 1);
    if (cv->out.classes.count > 0) {
        add_class(text, &cv->out.classes, cv->lesson.labels[i]);
        add_class(text, &cv->out.classes, values[0]);
        for (int64_t c = 0; c < cv->out.classes.count; c++) add_number(text, values[1 + c]);
    } else {
        const int64_t targets = columns->outputs > 1 ? columns->outputs : 1;
        for (int64_t o = 0; o < targets; o++) add_number(text, data->y[i * data->targets + o]);
        for (int64_t o = 0; o < columns->count; o++) add_number(text, values[o]);
        if (columns->spread >= 0) add_number(text, values[columns->spread]);
    }
    gram_string_add(text, "\n");
}

void gram_cv_rows(const gram_cv *cv, gram_string *text)
{
    add_names(cv, text);
    for (int64_t i = 0; i < cv->out.n; i++)
        if (!isnan(gram_cv_values(cv, i)[0])) add_row(cv, i, text);
}
