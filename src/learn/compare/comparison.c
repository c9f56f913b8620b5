/* Methods side by side. Every one is run by the same division of the rows, so that two of them differ by d_i = l_i - l'_i on each left-out row i, l being
 * the squared error or whether the class was wrong; the mean of d has a standard error that is much smaller than those of the two errors, since
 * what is hard about a row is hard for both. A method is near the one of least error if that mean is at most one standard error. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sized_struct.h"
#include "base/system/system_call.h"
#include "base/system/time_limit.h"
#include "kernel/kernel.h"
#include "learn/compare/candidates.h"
#include "learn/compare/left_out_run.h"
#include "learn/estimate/feature_importance.h"
#include "learn/learn_steps.h"

enum { USUAL_FIT_ROWS = 2000, HELD_ROWS = 5000 };

/* One that is compared, and what it lost on each row. */
typedef struct entry {
    gram_candidate candidate;
    gram_compared row;
    double *losses;     /* NaN where no fold left the row out */
    gram_status failed; /* why it was skipped; GRAM_OK: it was not */
    char skipped[256], name[GRAM_CANDIDATE_TEXT];
} entry;

struct gram_comparison {
    gram_memory *memory;
    gram_arena arena;
    gram_learner *learner; /* has the data, and judges */
    gram_lesson lesson;
    gram_left_out judge; /* of that learner: groups and weights */
    gram_division division;
    gram_cv_report report;
    int64_t count, best; /* the row that is named */
    entry *entries;
};

void gram_compare_options_init(gram_compare_options *options, size_t size)
{
    const gram_compare_options defaults = {.size = sizeof defaults, .share = 1};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

/* ---- the division ---- */

static gram_division usual_division(int64_t n)
{
    const int64_t folds = n <= 60 ? 10 : n <= 300 ? 5 : n <= 1000 ? 3 : n / HELD_ROWS > 5 ? n / HELD_ROWS : 5;
    return (gram_division){.folds = folds, .last = n <= 1000 ? folds - 1 : 0, .fit_rows = USUAL_FIT_ROWS};
}

static gram_status divide(gram_comparison *c, const gram_compare_options *options)
{
    const gram_learning *ready = &c->learner->learning;
    gram_division wanted = usual_division(ready->n);
    if (options->folds > 0) wanted = (gram_division){.folds = options->folds, .last = options->folds - 1};
    if (options->fit_rows > 0) wanted.fit_rows = options->fit_rows;
    return gram_division_make(ready, &c->arena, &wanted, &c->division);
}

/* ---- one of them ---- */

/* Options that a comparison decides. */
static const char *const DECIDED[] = {"method", "kernel", "ard", "tune", "estimate", NULL};

static gram_status make_learner(gram_context *context, const gram_learner *from, const gram_candidate *candidate,
                                gram_learner **made)
{
    gram_status status = GRAM_OK;
    TRY(gram_learner_copy(context, from, DECIDED, made));
    TRY(gram_learner_set_kernel(context, *made, NULL));
    if (candidate->rule) return status;
    TRY(gram_learner_set(context, *made, "method", candidate->method));
    if (candidate->kernel) TRY(gram_learner_set(context, *made, "kernel", candidate->kernel));
    if (candidate->ard) TRY(gram_learner_set(context, *made, "ard", "yes"));
done:
    return status;
}

/* Squared error, pinball loss, or whether the class is wrong. */
static double loss_of(const gram_left_out *out, int64_t row)
{
    const double *values = out->values + row * out->ld;
    if (isnan(values[0])) return NAN;
    return out->classes.count > 0 ? values[0] != out->whole->labels[row] : gram_left_out_loss(out, row, values);
}

static gram_status judge(gram_comparison *c, const gram_left_out *out, entry *e)
{
    gram_status status = GRAM_OK;
    gram_left_out_errors errors;
    gram_compared *row = &e->row;
    for (int64_t i = 0; i < out->n; i++) e->losses[i] = loss_of(out, i);
    TRY(gram_left_out_mean(&c->judge, e->losses, &row->error, &row->se));
    if (out->classes.count == 0) {
        row->error = sqrt(row->error);
        row->se = row->error > 0 ? row->se / (2 * row->error) : 0;
    }
    TRY(gram_left_out_judge(out, &errors));
    row->other = out->classes.count > 0 ? errors.log_loss : errors.nlpd;
    row->other_se = out->classes.count > 0 ? errors.log_loss_se : errors.nlpd_se;
    c->report.rows = errors.rows;
    c->report.fit_rows = out->fit_rows;
done:
    return status;
}

static gram_status run_entry(gram_context *context, gram_comparison *c, const gram_table *table, const char *name,
                             entry *e)
{
    gram_status status = GRAM_OK;
    gram_learner *learner = NULL;
    gram_left_out out = {0};
    TRY(make_learner(context, c->learner, &e->candidate, &learner));
    TRY(gram_learner_ready(context, learner, table, name));
    TRY(gram_left_out_begin(&learner->learning, &out));
    out.rule = e->candidate.rule;
    TRY(gram_left_out_run(&out, &c->division));
    TRY(judge(c, &out, e));
done:
    if (learner) status = gram_learner_rest(learner, status);
    gram_left_out_free(&out);
    gram_learner_destroy(learner);
    return status;
}

/* Each has what is left of the time; what does not suffice shows in what the fits leave out. A failure is one of this row only. */
static gram_status try_entry(gram_context *context, gram_comparison *c, const gram_table *table, const char *name,
                             double end, entry *e)
{
    const gram_limit limit = context->limit;
    const double begun = gram_clock();
    gram_status status = GRAM_OK;
    if (begun < end) {
        context->limit = (gram_limit){.seconds = isinf(end) ? 0 : end - begun, .begun = begun, .share = 1};
        status = run_entry(context, c, table, name, e);
        context->limit = limit;
    }
    e->row.seconds = gram_clock() - begun;
    if (status == GRAM_ERROR_CANCELLED || status == GRAM_ERROR_MEMORY) return status;
    const int late = begun >= end || (status == GRAM_ERROR_BUDGET && !isinf(end));
    if (late)
        (void)snprintf(e->skipped, sizeof e->skipped, "the time was up");
    else if (status < 0)
        (void)snprintf(e->skipped, sizeof e->skipped, "%s", gram_context_message(context));
    e->failed = late ? GRAM_ERROR_BUDGET : status < 0 ? status : GRAM_OK;
    if (late) gram_time_left_out(context, "methods that were not compared");
    if (e->skipped[0]) e->row.skipped = e->skipped;
    return GRAM_OK;
}

/* ---- all of them ---- */

static int is_better(const gram_compared *a, const gram_compared *b)
{
    if (!a->skipped != !b->skipped) return !a->skipped;
    if (a->skipped) return 0;
    if (a->error != b->error) return a->error < b->error;
    if (!isnan(a->other) && !isnan(b->other) && a->other != b->other) return a->other < b->other;
    return a->seconds < b->seconds;
}

/* Insertion: they are few, and equals stay in their order. */
static void sort_entries(gram_comparison *c)
{
    for (int64_t i = 1; i < c->count; i++)
        for (int64_t k = i; k > 0 && is_better(&c->entries[k].row, &c->entries[k - 1].row); k--) {
            const entry swap = c->entries[k];
            c->entries[k] = c->entries[k - 1];
            c->entries[k - 1] = swap;
        }
    for (int64_t i = 0; i < c->count; i++) { /* they moved */
        c->entries[i].row.name = c->entries[i].name;
        if (c->entries[i].row.skipped) c->entries[i].row.skipped = c->entries[i].skipped;
    }
}

/* Might it be as good as the first? Within two standard errors of the difference. */
static int is_possible(const gram_compared *row)
{
    return row->behind <= 2 * row->behind_se;
}

/* The best of all, or of those that have a model; -1: there is none. Counts of wrong classes are coarse, so that many methods may be as good as the one with the
 * least: among these the log loss, to which every row adds something, decides. */
static int64_t pick(const gram_comparison *c, int models)
{
    const int classes = c->learner->learning.task == GRAM_TASK_CLASSIFICATION;
    int64_t best = -1;
    for (int64_t k = 0; k < c->count; k++) {
        const gram_compared *row = &c->entries[k].row, *so_far = best < 0 ? NULL : &c->entries[best].row;
        if (row->skipped || (models && !row->model)) continue;
        if (!so_far || (classes && is_possible(row) && row->other < so_far->other)) best = k;
    }
    return best;
}

/* How far each is behind the first. */
static gram_status find_differences(gram_context *context, gram_comparison *c)
{
    gram_status status = GRAM_OK;
    const int64_t n = c->judge.n;
    double *difference = NULL;
    TRY(gram_take(context, "comparison", n, sizeof *difference, (void **)&difference));
    for (int64_t k = 0; k < c->count; k++) {
        gram_compared *row = &c->entries[k].row;
        if (row->skipped) continue;
        for (int64_t i = 0; i < n; i++) difference[i] = c->entries[k].losses[i] - c->entries[0].losses[i];
        TRY(gram_left_out_mean(&c->judge, difference, &row->behind, &row->behind_se));
        row->near = row->behind <= row->behind_se || k == 0;
    }
    c->best = pick(c, 0);
    c->entries[c->best].row.best = 1;
done:
    gram_give(context, difference);
    return status;
}

/* A kernel that cannot be read is no matter of one row. */
static gram_status keep_kernel(gram_context *context, gram_comparison *c, const char *text, const char **kept)
{
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL;
    char *copy = NULL;
    TRY(gram_learning_parse_kernel(&c->learner->learning, text, &kernel));
    TRY(gram_kernel_check_dimension(context, kernel, c->learner->learning.data->d));
    TRY(gram_arena_take(context, &c->arena, "comparison", (int64_t)strlen(text) + 1, 1, (void **)&copy));
    memcpy(copy, text, strlen(text));
    *kept = copy;
done:
    gram_kernel_release(kernel);
    return status;
}

static gram_status list_entries(gram_context *context, gram_comparison *c, const gram_compare_options *options)
{
    gram_status status = GRAM_OK;
    gram_candidate list[GRAM_MOST_CANDIDATES];
    const char *kernel = NULL;
    if (options->kernel) TRY(keep_kernel(context, c, options->kernel, &kernel));
    TRY(gram_candidates_list(context, c->learner, c->learner->learning.task, options->methods, kernel, list,
                             &c->count));
    TRY(gram_arena_take(context, &c->arena, "comparison", c->count, sizeof *c->entries, (void **)&c->entries));
    for (int64_t k = 0; k < c->count; k++) {
        entry *e = &c->entries[k];
        const gram_candidate *from = &list[k];
        e->candidate = *from;
        (void)snprintf(e->name, sizeof e->name, "%s%s%s", from->title ? from->title : from->method,
                       from->kernel && !from->title ? " " : "", from->kernel && !from->title ? from->kernel : "");
        e->row = (gram_compared){.name = e->name,
                                 .method = from->method,
                                 .kernel = from->kernel,
                                 .baseline = from->baseline,
                                 .model = !from->rule,
                                 .error = NAN,
                                 .se = NAN,
                                 .other = NAN,
                                 .other_se = NAN,
                                 .behind = NAN,
                                 .behind_se = NAN};
        TRY(gram_arena_take(context, &c->arena, "comparison", c->judge.n, sizeof *e->losses, (void **)&e->losses));
    }
done:
    return status;
}

/* With nothing to show, the first failure is that of the comparison. */
static gram_status check_any(gram_context *context, const gram_comparison *c)
{
    const entry *first = &c->entries[0];
    if (!first->row.skipped) return GRAM_OK;
    (void)gram_fail(context, first->failed, "%s: nothing could be compared: %s: %s", c->learner->who, first->name,
                    first->skipped);
    return gram_advise(context, first->failed,
                       gram_context_left_out(context)[0] ? "Give it more time."
                                                         : "Look at the data, or choose other methods.");
}

static gram_status run(gram_context *context, gram_comparison *c, const gram_table *table, const char *name,
                       const gram_compare_options *options)
{
    gram_status status = GRAM_OK;
    gram_learning *learning = &c->learner->learning;
    const double end = gram_time_of(context, options->share);
    TRY(gram_learner_ready(context, c->learner, table, name));
    TRY(divide(c, options));
    TRY(gram_left_out_begin(learning, &c->judge));
    TRY(list_entries(context, c, options));
    for (int64_t k = 0; k < c->count; k++) {
        TRY(gram_pulse(context, c->entries[k].name, (double)k / (double)c->count));
        TRY(try_entry(context, c, table, name, end, &c->entries[k]));
    }
    const int64_t rows = c->report.rows, fit_rows = c->report.fit_rows;
    gram_cv_report_begin(learning, &c->judge, &c->division, &c->report);
    c->report.rows = rows, c->report.fit_rows = fit_rows;
    c->report.method = NULL;
    c->report.numbers = "anew";
    sort_entries(c);
    TRY(check_any(context, c));
    TRY(find_differences(context, c));
    gram_lesson_of(learning, &c->lesson);
done:
    return gram_learner_rest(c->learner, status);
}

gram_status gram_compare_table(gram_context *context, const gram_learner *learner, const gram_table *table,
                               const char *name, const gram_compare_options *options, gram_comparison **comparison)
{
    gram_status status = GRAM_OK;
    gram_comparison *made = NULL;
    gram_compare_options all;
    *comparison = NULL;
    gram_compare_options_init(&all, sizeof all);
    TRY(gram_sized_read(context, "compare_table", "options", "gram_compare_options", options, &all, sizeof all));
    FAIL_IF(all.folds < 0 || all.folds == 1 || all.fit_rows < 0 || !(all.share > 0 && all.share <= 1), context,
            GRAM_ERROR_ARGUMENT, "compare_table: folds = %" PRId64 ", fit_rows = %" PRId64 ", share = %g", all.folds,
            all.fit_rows, all.share);
    TRY(gram_take(context, "comparison", 1, sizeof *made, (void **)&made));
    *made = (gram_comparison){.memory = gram_memory_retain(context->memory), .report.size = sizeof made->report};
    gram_arena_init(&made->arena, made->memory);
    TRY(gram_learner_copy(context, learner, DECIDED, &made->learner));
    TRY(gram_learner_set_kernel(context, made->learner, NULL));
    if (all.kernel) TRY(gram_learner_set(context, made->learner, "kernel", all.kernel)); /* texts have no other */
    TRY(run(context, made, table, name, &all));
    *comparison = made;
    made = NULL;
done:
    gram_comparison_destroy(made);
    return status;
}

void gram_comparison_destroy(gram_comparison *comparison)
{
    if (!comparison) return;
    gram_memory *memory = comparison->memory;
    gram_left_out_free(&comparison->judge);
    gram_learner_destroy(comparison->learner);
    gram_arena_release(&comparison->arena);
    gram_memory_give(memory, comparison);
    gram_memory_release(memory);
}

/* ---- what it says ---- */

int64_t gram_comparison_count(const gram_comparison *comparison)
{
    return comparison->count;
}

const gram_compared *gram_comparison_row(const gram_comparison *comparison, int64_t row)
{
    return row >= 0 && row < comparison->count ? &comparison->entries[row].row : NULL;
}

gram_status gram_comparison_get_report(gram_context *context, const gram_comparison *comparison, gram_cv_report *report)
{
    gram_status status = GRAM_OK;
    TRY(gram_sized_check(context, "comparison_get_report", "report", "gram_cv_report", report, sizeof *report));
    gram_sized_write(report, &comparison->report, sizeof comparison->report);
done:
    return status;
}

const gram_lesson *gram_comparison_lesson(const gram_comparison *comparison)
{
    return &comparison->lesson;
}

gram_status gram_comparison_choose(gram_context *context, const gram_comparison *comparison, gram_learner *learner,
                                   int64_t *row)
{
    gram_status status = GRAM_OK;
    const int64_t k = pick(comparison, 1);
    FAIL_IF(k < 0, context, GRAM_ERROR_ARGUMENT,
            "comparison_choose: nothing that was compared can be fitted as a model");
    const gram_candidate *candidate = &comparison->entries[k].candidate;
    TRY(gram_learner_set(context, learner, "method", candidate->method));
    TRY(gram_learner_set(context, learner, "kernel", candidate->kernel));
    TRY(gram_learner_set(context, learner, "ard", candidate->ard ? "yes" : NULL));
    if (row) *row = k;
done:
    return status;
}

static void put_row(gram_json *json, const char *key, const gram_compared *row, int classes)
{
    gram_json_open(json, key, '{');
    gram_json_string(json, "name", row->name);
    gram_json_string(json, "method", row->method);
    gram_json_string(json, "kernel", row->kernel);
    gram_json_truth(json, "baseline", row->baseline);
    gram_json_number(json, "error", row->error);
    gram_json_number(json, "se", row->se);
    gram_json_number(json, "seconds", row->seconds);
    gram_json_number(json, "behind", row->behind);
    gram_json_number(json, "behind_se", row->behind_se);
    gram_json_truth(json, "near", row->near);
    if (!isnan(row->other)) gram_json_number(json, classes ? "log_loss" : "nlpd", row->other);
    gram_json_close(json, '{');
}

void gram_comparison_json(const gram_comparison *c, gram_json *json)
{
    const int classes = c->report.task == GRAM_TASK_CLASSIFICATION;
    gram_json_string(json, "task", gram_task_name(c->report.task));
    gram_json_integer(json, "n", c->report.n);
    gram_json_integer(json, "rows_left_out", c->report.rows);
    gram_json_integer(json, "folds", c->report.folds);
    gram_json_integer(json, "fit_rows", c->report.fit_rows);
    gram_json_string(json, "numbers", c->report.numbers);
    if (c->report.by) gram_json_string(json, "by", c->report.by);
    gram_json_string(json, "measure", classes ? "error_rate" : "rmse");
    gram_json_open(json, "rows", '[');
    for (int64_t k = 0; k < c->count; k++)
        if (!c->entries[k].row.skipped) put_row(json, NULL, &c->entries[k].row, classes);
    gram_json_close(json, '[');
    put_row(json, "best", &c->entries[c->best].row, classes);
    gram_json_open(json, "skipped", '[');
    for (int64_t k = 0; k < c->count; k++) {
        if (!c->entries[k].row.skipped) continue;
        gram_json_open(json, NULL, '{');
        gram_json_string(json, "name", c->entries[k].name);
        gram_json_string(json, "reason", c->entries[k].skipped);
        gram_json_close(json, '{');
    }
    gram_json_close(json, '[');
}
