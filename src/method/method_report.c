/* Reports of models: rows of a label and a value, made from the facts that a model keeps. */
#include "method/method_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text/number.h"

enum { LOO_LIMIT = 5000 };

const gram_model *gram_report_model(const gram_report *report)
{
    return report->model;
}

const char *gram_report_file(const gram_report *report)
{
    return report->file;
}

double gram_report_number(const gram_report *report, const char *fact)
{
    return gram_kept_number(report->model, fact, NAN);
}

const char *gram_report_text(const gram_report *report, const char *fact)
{
    return gram_kept_text(report->model, fact);
}

/* ---- rows ---- */

/* Puts the value that was added piece by piece to its row; one whose facts were not there goes. */
void gram_report_end_row(gram_report *report)
{
    char *copy = NULL;
    if (!report->open || report->status < 0) return;
    report->open = 0;
    if (report->length == 0) {
        report->count--;
        return;
    }
    report->status =
        gram_arena_take(report->context, report->arena, "describe", (int64_t)report->length + 1, 1, (void **)&copy);
    if (report->status < 0) return;
    memcpy(copy, report->value, report->length + 1);
    report->rows[report->count - 1].value = copy;
}

void gram_report_row(gram_report *report, const char *label)
{
    gram_report_line *rows = NULL;
    gram_report_end_row(report);
    if (report->status < 0) return;
    if ((report->count & (report->count - 1)) == 0) { /* a power of two: full */
        report->status = gram_arena_take(report->context, report->arena, "describe", 2 * report->count + 1,
                                         sizeof *rows, (void **)&rows);
        if (report->status < 0) return;
        for (int64_t i = 0; i < report->count; i++) rows[i] = report->rows[i];
        report->rows = rows;
    }
    report->rows[report->count++] = (gram_report_line){label, ""};
    report->open = 1;
    report->length = 0;
    report->value[0] = '\0';
}

void gram_report_long(gram_report *report, const char *label, const char *value)
{
    const size_t size = strlen(value) + 1;
    char *copy = NULL;
    gram_report_row(report, label);
    if (report->status < 0) return;
    report->open = 0;
    report->status = gram_arena_take(report->context, report->arena, "describe", (int64_t)size, 1, (void **)&copy);
    if (report->status < 0) return;
    memcpy(copy, value, size);
    report->rows[report->count - 1].value = copy;
}

void gram_report_add(gram_report *report, const char *format, ...)
{
    va_list arguments;
    const size_t room = sizeof report->value - report->length;
    va_start(arguments, format);
    const int added = vsnprintf(report->value + report->length, room, format, arguments);
    va_end(arguments);
    if (added > 0) report->length += (size_t)added < room ? (size_t)added : room - 1;
}

void gram_report_value(gram_report *report, int digits, double value)
{
    char text[GRAM_NUMBER_SIZE];
    gram_report_add(report, "%s", gram_number_short(value, digits, text));
}

void gram_report_part(gram_report *report, const char *words, const char *fact, int digits)
{
    const double value = gram_report_number(report, fact);
    if (isnan(value)) return;
    gram_report_add(report, "%s%s%s", report->length > 0 ? ", " : "", words, words[0] ? " " : "");
    gram_report_value(report, digits, value);
}

/* Of long lists the first. */
void gram_report_list(gram_report *report, const char *label, const char *array, int digits)
{
    enum { SHOWN = 10 };
    int64_t rows = 0, columns = 0;
    const double *values = gram_model_array(report->model, array, &rows, &columns);
    const int64_t count = rows * columns;
    if (!values || report->list_count == GRAM_REPORT_MOST_LISTS) return;
    report->lists[report->list_count++] = array;
    gram_report_row(report, label);
    for (int64_t i = 0; i < count && i < SHOWN; i++) {
        gram_report_add(report, "%s", i > 0 ? ", " : "");
        gram_report_value(report, digits, values[i]);
    }
    if (count > SHOWN) gram_report_add(report, ", ... (%" PRId64 ")", count);
}

/* ---- rows that many methods have ---- */

void gram_report_ridge(gram_report *report)
{
    if (isnan(gram_report_number(report, "lambda"))) return;
    gram_report_row(report, "lambda");
    gram_report_part(report, "", "lambda", GRAM_FINE);
    gram_report_part(report, "noise = n lambda =", "noise", GRAM_FINE);
    gram_report_part(report, "multiplier of the ball |f| <=", "ball", GRAM_FINE);
    if (gram_report_number(report, "intercept") == 0) gram_report_add(report, ", no intercept");
    if (gram_report_text(report, "unpenalised"))
        gram_report_add(report, "; unpenalised: %s", gram_report_text(report, "unpenalised"));
}

void gram_report_tuning(gram_report *report)
{
    char count[GRAM_NUMBER_SIZE];
    const char *tune = gram_report_text(report, "tune");
    const double rows = gram_report_number(report, "tuned_rows");
    const double evaluations = gram_report_number(report, "evaluations");
    if (!tune) return;
    if (gram_report_text(report, "kernel_choice")) {
        gram_report_row(report, "  families");
        gram_report_add(report, "%s", gram_report_text(report, "kernel_choice"));
    }
    gram_report_row(report, "tuned");
    if (isnan(rows)) {
        const char *defaults = gram_report_text(report, "defaults");
        gram_report_add(report, defaults ? "no; defaults: %s" : "no", defaults);
        return;
    }
    gram_report_add(report, "by %s on %s row%s", tune, gram_count_format((int64_t)rows, count), rows == 1 ? "" : "s");
    gram_report_part(report, "fits", "tuned_fits", GRAM_WHOLE);
    if (gram_report_number(report, "tuned_unfinished") > 0)
        gram_report_part(report, "not to the end", "tuned_unfinished", GRAM_WHOLE);
    if (!isnan(evaluations)) gram_report_add(report, ", %.0f evaluation%s", evaluations, evaluations == 1 ? "" : "s");
    if (gram_report_number(report, "at_bound") > 0)
        gram_report_add(report, "; a parameter is at the end of its search range");
}

void gram_report_solver(gram_report *report)
{
    const char *solver = gram_report_text(report, "solver"), *precision = gram_report_text(report, "precision");
    if (!solver) return;
    gram_report_row(report, "solver");
    gram_report_add(report, "%s%s%s", solver, precision ? ", " : "", precision ? precision : "");
    if (gram_report_number(report, "rank") < gram_report_number(report, "n"))
        gram_report_part(report, "rank", "rank", GRAM_WHOLE);
    gram_report_part(report, "neighbours", "neighbours", GRAM_WHOLE);
    if (gram_report_number(report, "iterations") > 0) gram_report_part(report, "iterations", "iterations", GRAM_WHOLE);
    gram_report_row(report, "  accuracy");
    gram_report_part(report, "optimality", "optimality", GRAM_ROUGH);
    gram_report_part(report, "residual", "residual", GRAM_ROUGH);
    if (gram_report_number(report, "iterations") > 0)
        gram_report_part(report, "values off by at most", "error_bound", GRAM_ROUGH);
    gram_report_part(report, "backward error", "backward_error", GRAM_ROUGH);
    gram_report_part(report, "condition", "condition", GRAM_ROUGH);
    if (gram_report_number(report, "jitter") > 0) gram_report_part(report, "jitter", "jitter", GRAM_ROUGH);
    gram_report_part(report, "tr(K - K~)/tr K", "trace_error", GRAM_ROUGH);
}

void gram_report_solution(gram_report *report)
{
    if (isnan(gram_report_number(report, "objective"))) return;
    gram_report_row(report, "  solution");
    gram_report_part(report, "objective", "objective", GRAM_FINE + 3);
    gram_report_part(report, "duality gap", "gap", GRAM_ROUGH);
    gram_report_part(report, "violation", "violation", GRAM_ROUGH);
    gram_report_part(report, "optimality", "optimality", GRAM_ROUGH);
    gram_report_part(report, "iterations", "iterations", GRAM_WHOLE);
}

void gram_report_accuracy(gram_report *report)
{
    if (!isnan(gram_report_number(report, "train_accuracy"))) {
        gram_report_row(report, "on these rows");
        gram_report_part(report, "accuracy", "train_accuracy", GRAM_FINE);
        gram_report_part(report, "log loss", "train_log_loss", GRAM_FINE);
        gram_report_part(report, "ramp loss", "ramp_loss", GRAM_FINE);
    }
    if (isnan(gram_report_number(report, "cv_accuracy"))) return;
    gram_report_row(report, "left-out folds");
    gram_report_part(report, "accuracy", "cv_accuracy", GRAM_FINE);
    gram_report_part(report, "standard error", "cv_standard_error", GRAM_ROUGH);
    gram_report_part(report, "log loss", "cv_log_loss", GRAM_FINE);
}

void gram_report_errors(gram_report *report, int leave_one_out)
{
    const char *tune = gram_report_text(report, "tune");
    if (isnan(gram_report_number(report, "train_rmse"))) return;
    gram_report_row(report, "training error");
    gram_report_part(report, "rmse", "train_rmse", GRAM_FINE);
    gram_report_part(report, "R2", "train_r2", GRAM_FINE);
    if (!isnan(gram_report_number(report, "cv_rmse"))) {
        gram_report_row(report, "left-out folds");
        gram_report_part(report, "rmse", "cv_rmse", GRAM_FINE);
    }
    if (!leave_one_out) return;
    if (isnan(gram_report_number(report, "loo_rmse")) && gram_report_text(report, "estimate_kind")) return;
    gram_report_row(report, "leave-one-out");
    if (isnan(gram_report_number(report, "loo_rmse")))
        gram_report_add(report, gram_report_number(report, "n") > LOO_LIMIT
                                    ? "not computed above 5,000 rows; --loo asks for it"
                                    : "not computed");
    gram_report_part(report, "rmse", "loo_rmse", GRAM_FINE);
    gram_report_part(report, "R2", "loo_r2", GRAM_FINE);
    gram_report_part(report, "GCV", "gcv", GRAM_FINE);
    if (tune && strcmp(tune, "none") != 0) gram_report_add(report, "; after tuning, so too low");
}

void gram_report_function(gram_report *report)
{
    if (isnan(gram_report_number(report, "norm"))) return;
    gram_report_row(report, "function");
    gram_report_part(report, "norm", "norm", GRAM_FINE);
    gram_report_part(report, "effective dimension", "effective_dimension", GRAM_FINE);
    if (isnan(gram_report_number(report, "rademacher"))) return;
    gram_report_row(report, "complexity");
    gram_report_part(report, "Rademacher complexity at most", "rademacher", GRAM_FINE);
}
