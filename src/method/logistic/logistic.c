/* Kernel logistic regression: the fit and its report. */
#include "method/logistic/logistic.h"

#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "base/sized_struct.h"
#include "function/function.h"
#include "points/functionals.h"

struct gram_logistic {
    gram_memory *memory;
    gram_function *function;
    gram_logistic_report report;
};

void gram_logistic_options_init(gram_logistic_options *options, size_t size)
{
    const gram_logistic_options defaults = {.lambda = 1e-3, .intercept = 1, .tolerance = 1e-9, .iterations = 100};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

static gram_status read_options(gram_context *context, const gram_logistic_options *options,
                                gram_logistic_options *known)
{
    gram_status status = GRAM_OK;
    char text[GRAM_NUMBER_SIZE];
    gram_logistic_options_init(known, sizeof *known);
    TRY(gram_sized_read(context, "logistic_fit", "options", "gram_logistic_options", options, known, sizeof *known));
    FAIL_IF(!(known->lambda > 0 && isfinite(known->lambda)), context, GRAM_ERROR_ARGUMENT,
            "logistic_fit: lambda = %s, need a finite number above 0", gram_number_format(known->lambda, text));
    FAIL_IF(!(known->tolerance >= 0), context, GRAM_ERROR_ARGUMENT, "logistic_fit: tolerance = %s, need a number >= 0",
            gram_number_format(known->tolerance, text));
    FAIL_IF(known->iterations < 1, context, GRAM_ERROR_ARGUMENT, "logistic_fit: iterations = %lld, need at least 1",
            (long long)known->iterations);
done:
    return status;
}

/* ---- the report ---- */

static void report_rows(const gram_problem *p, const gram_logistic_solution *s, gram_logistic_report *r)
{
    double right = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const double *f = s->f + i * s->outputs;
        int64_t best = s->outputs == 1 && f[0] > 0;
        for (int64_t c = 1; c < s->outputs; c++)
            if (f[c] > f[best]) best = c;
        right += (best == (int64_t)p->y[i]) * gram_problem_weight(p, i);
    }
    r->accuracy = right / p->total;
    r->log_loss = s->fit / p->total;
    r->norm = sqrt(fmax(0, gram_logistic_quadratic(s)));
}

static void report(const gram_problem *p, const gram_logistic_solution *s, gram_logistic_report *r)
{
    const double n = (double)p->n;
    r->n = p->n;
    r->d = p->d;
    r->classes = s->classes;
    r->outputs = s->outputs;
    r->lambda = s->c / (2 * n);
    r->objective = s->objective / n;
    r->optimality = s->optimality;
    r->gradient = s->gradient / n;
    r->iterations = s->iterations;
    r->jitter = s->jitter;
    r->intercept = s->intercept;
    report_rows(p, s, r);
}

/* ---- the fit ---- */

static gram_status make(gram_context *context, gram_logistic **logistic)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(context, "logistic_fit", 1, sizeof **logistic, (void **)logistic));
    memset(*logistic, 0, sizeof **logistic);
    (*logistic)->memory = gram_memory_retain(context->memory);
    (*logistic)->report.size = sizeof(gram_logistic_report);
done:
    return status;
}

static gram_status fit(gram_context *context, const gram_problem *p, int64_t classes, const gram_logistic_options *o,
                       gram_logistic *made, int *converged)
{
    gram_status status = GRAM_OK;
    gram_loss_matrix k = {0};
    gram_logistic_solution s = {.classes = classes,
                                .outputs = classes == 2 && !o->softmax ? 1 : classes,
                                .label = p->y,
                                .weights = p->weights,
                                .c = 2 * (double)p->n * o->lambda,
                                .intercept = p->intercept,
                                .q = p->q,
                                .unpenalised = p->t,
                                .tolerance = o->tolerance,
                                .most = o->iterations};
    TRY(gram_loss_matrix_make(context, p->kernel, p->x, &k));
    s.k = &k;
    TRY(gram_logistic_solution_take(context, &s));
    gram_logistic_start(&s);
    TRY(gram_logistic_solve(context, &s));
    TRY(gram_function_of_problem(context, p, p->x, s.outputs, s.a, s.b, &made->function));
    report(p, &s, &made->report);
    *converged = s.converged;
done:
    gram_logistic_solution_give(context, &s);
    gram_loss_matrix_free(context, &k);
    return status;
}

gram_status gram_logistic_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t classes,
                              const double *y, const gram_logistic_options *options, gram_logistic **logistic)
{
    gram_status status = GRAM_OK;
    gram_logistic_options known;
    gram_problem problem = {0};
    gram_logistic *made = NULL;
    int converged = 0;
    if (!context || !logistic) return GRAM_ERROR_ARGUMENT;
    *logistic = NULL;
    TRY(gram_points_must_be_plain(context, "logistic_fit", x));
    TRY(read_options(context, options, &known));
    TRY(gram_logistic_problem(context, "logistic_fit", kernel, x, classes, y, known.weights, 1, &problem));
    TRY(gram_problem_set_unpenalised(context, "logistic_fit", known.intercept, known.unpenalised_count,
                                     known.unpenalised, &problem));
    TRY(make(context, &made));
    TRY(fit(context, &problem, classes, &known, made, &converged));
    *logistic = made;
    made = NULL;
    if (!converged) status = GRAM_NOT_CONVERGED;
done:
    gram_logistic_destroy(made);
    gram_problem_free(context, &problem);
    return status;
}

void gram_logistic_destroy(gram_logistic *logistic)
{
    if (!logistic) return;
    gram_memory *memory = logistic->memory;
    gram_function_release(logistic->function);
    gram_memory_give(memory, logistic);
    gram_memory_release(memory);
}

gram_function *gram_logistic_function(const gram_logistic *logistic)
{
    return logistic->function;
}

const gram_logistic_report *gram_logistic_get_report(const gram_logistic *logistic)
{
    return &logistic->report;
}

/* ---- prediction ---- */

gram_status gram_logistic_probabilities(gram_context *context, const gram_function *function, const gram_points *points,
                                        double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!function || !points || !out, context, GRAM_ERROR_ARGUMENT, "logistic_probabilities: %s is NULL",
            !function ? "function"
            : !points ? "points"
                      : "out");
    const int64_t outputs = gram_function_outputs(function), classes = outputs == 1 ? 2 : outputs;
    FAIL_IF(ldo < classes, context, GRAM_ERROR_ARGUMENT, "logistic_probabilities: ldo = %lld is less than %lld classes",
            (long long)ldo, (long long)classes);
    TRY(gram_function_evaluate(context, function, points, out, ldo));
    for (int64_t i = 0; i < gram_points_count(points); i++)
        gram_logistic_row(classes, outputs, out + i * ldo, out + i * ldo);
done:
    return status;
}
