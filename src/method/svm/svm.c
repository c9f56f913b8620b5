/* Support vector machines: solves the problems of all outputs and makes one function of them. */
#include <math.h>
#include <string.h>

#include "method/svm/svm.h"
#include "points/functionals.h"

struct gram_svm {
    gram_memory *memory;
    gram_function *function;
    gram_svm_report report;
    gram_svm_pair *pairs;
    double *duals;    /* n x outputs */
    int64_t *support; /* centres of the function */
    double *sigmoids; /* outputs x 2, or NULL */
};

/* ---- large problems, one after another ---- */

/* The rows of a pair of classes as points of their own, so that rows of its kernel matrix are no longer than they need be. */
static gram_status copy_points(gram_context *context, const gram_svm_problem *problem, gram_points **own)
{
    gram_status status = GRAM_OK;
    int64_t *rows = NULL;
    TRY(gram_take(context, "points", problem->rows, sizeof *rows, (void **)&rows));
    for (int64_t i = 0; i < problem->rows; i++) rows[i] = gram_svm_problem_row(problem, i);
    TRY(gram_points_copy(context, problem->data->x, problem->rows, rows, own));
done:
    gram_give(context, rows);
    return status;
}

/* Outputs share the time that is left: without that, a clock that runs out would leave the last ones at their start. */
static double share_deadline(const gram_svm_data *data, int64_t output)
{
    const double now = gram_smo_clock();
    return now + fmax(data->deadline - now, 0) / (double)(data->outputs - output);
}

static gram_status solve_large(gram_context *context, const gram_svm_data *data, int64_t output)
{
    gram_status status = GRAM_OK;
    const size_t bytes = gram_svm_problem_bytes(data, gram_svm_problem_size(data, output));
    const gram_smo_options options = {data->cache_bytes, data->options.gap, !data->indexed};
    void *memory = NULL;
    double *f = NULL;
    gram_svm_problem problem;
    gram_points *own = NULL;
    TRY(gram_take(context, "variables", 1, bytes, &memory));
    gram_svm_problem_make(data, output, memory, &problem);
    if (data->deadline > 0) problem.smo.deadline = share_deadline(data, output);
    if (!data->indexed && problem.rows < data->n)
        TRY(copy_points(context, &problem, &own));
    else {
        TRY(gram_take(context, "kernel sums", data->n, sizeof(double), (void **)&f));
        for (int64_t i = 0; i < problem.smo.count; i++)
            problem.point[i] = gram_svm_problem_row(&problem, problem.point[i]);
        problem.smo.n = data->n;
        problem.smo.f = f;
    }
    TRY(gram_smo_fit(context, data->kernel, own ? own : data->x, &options, &problem.smo));
    gram_svm_problem_finish(&problem);
done:
    gram_points_release(own);
    gram_give(context, f);
    gram_give(context, memory);
    return status;
}

/* ---- the function ---- */

static gram_status list_support(gram_context *context, const gram_svm_data *data, gram_svm *svm)
{
    gram_status status = GRAM_OK;
    gram_svm_report *r = &svm->report;
    TRY(gram_take(context, "support vectors", data->n, sizeof(int64_t), (void **)&svm->support));
    for (int64_t i = 0; i < data->n; i++) {
        int any = 0, bounded = 0;
        for (int64_t o = 0; o < data->outputs; o++) {
            const double dual = data->duals[i * data->outputs + o];
            any |= dual != 0;
            bounded |= dual != 0 && fabs(dual) >= data->c_of[i];
        }
        r->n_bounded += bounded;
        if (any) svm->support[r->n_support++] = i;
    }
done:
    return status;
}

/* Centres, and their coefficients; a function needs a centre even when nothing supports it. A kernel that knows its points by
 * number needs all of them. */
static gram_status make_function(gram_context *context, const gram_svm_data *data, gram_svm *svm)
{
    gram_status status = GRAM_OK;
    const int64_t m = data->outputs, found = svm->report.n_support;
    const int64_t count = data->indexed ? data->n : found > 0 ? found : 1;
    double *a = NULL, *constants = NULL;
    int64_t *rows = NULL;
    gram_points *centres = NULL;
    TRY(gram_take(context, "coefficients", count * m, sizeof(double), (void **)&a));
    TRY(gram_take(context, "constants", m, sizeof(double), (void **)&constants));
    TRY(gram_take(context, "support vectors", count, sizeof *rows, (void **)&rows));
    for (int64_t k = 0; k < count; k++) {
        rows[k] = data->indexed || found == 0 ? k : svm->support[k];
        for (int64_t o = 0; o < m; o++) a[k * m + o] = data->duals[rows[k] * m + o] * data->scale[o];
    }
    for (int64_t o = 0; o < m; o++) constants[o] = data->pairs[o].constant;
    TRY(gram_points_copy(context, data->x, count, rows, &centres));
    TRY(gram_function_create(context, data->kernel, centres, m, a, m, constants, &svm->function));
done:
    gram_points_release(centres);
    gram_give(context, a);
    gram_give(context, constants);
    gram_give(context, rows);
    return status;
}

/* ---- the fit ---- */

static gram_status solve(gram_context *context, gram_svm_data *data)
{
    gram_status status = GRAM_OK;
    if (gram_svm_is_small(data))
        TRY(gram_svm_solve_small(context, data));
    else
        for (int64_t o = 0; o < data->outputs; o++) TRY(solve_large(context, data, o));
done:
    return status < 0 ? status : GRAM_OK;
}

static void report(const gram_svm_data *data, double seconds, gram_svm_report *r)
{
    const gram_svm_kind kind = data->options.kind;
    r->size = sizeof *r;
    r->kind = kind;
    r->n = data->n;
    r->d = data->x->d;
    r->classes = gram_svm_is_classification(kind) ? data->classes : 0;
    r->outputs = data->outputs;
    r->converged = 1;
    r->epsilon = kind == GRAM_SVM_EPSILON_REGRESSION ? data->options.epsilon : *data->tube;
    for (int64_t o = 0; o < data->outputs; o++) {
        const gram_svm_pair *pair = &data->pairs[o];
        r->iterations += pair->iterations;
        r->objective += pair->objective;
        r->gap += pair->gap;
        r->violation = fmax(r->violation, pair->violation);
        r->converged &= pair->converged;
    }
    r->seconds = seconds;
    r->C = kind == GRAM_SVM_NU || kind == GRAM_SVM_ONE_CLASS ? NAN : data->options.C;
    r->nu = kind == GRAM_SVM_C || kind == GRAM_SVM_EPSILON_REGRESSION ? NAN : data->options.nu;
}

static gram_status make_sigmoids(gram_context *context, const gram_svm_data *data, gram_svm *svm)
{
    gram_status status = GRAM_OK;
    const int64_t numbers = data->n * data->outputs;
    double *decisions = NULL;
    if (!data->options.probability_folds && !data->options.held_out) return GRAM_OK;
    TRY(gram_take(context, "sigmoids", 2 * data->outputs, sizeof(double), (void **)&svm->sigmoids));
    if (!data->options.held_out) {
        TRY(gram_take(context, "decision values", numbers, sizeof(double), (void **)&decisions));
        TRY(gram_svm_out_of_fold(context, data, data->options.probability_folds, decisions));
    }
    TRY(gram_svm_fit_sigmoids(context, data, decisions ? decisions : data->options.held_out, svm->sigmoids));
done:
    gram_give(context, decisions);
    return status;
}

gram_status gram_svm_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                         const gram_svm_options *options, gram_svm **svm)
{
    gram_status status = GRAM_OK;
    gram_svm_data data = {0};
    gram_svm *made = NULL;
    if (!context || !svm) return GRAM_ERROR_ARGUMENT;
    *svm = NULL;
    const double began = gram_smo_clock();
    TRY(gram_points_must_be_plain(context, "svm_fit", x));
    TRY(gram_svm_data_make(context, "svm_fit", kernel, x, y, options, &data));
    TRY(gram_take(context, "svm_fit", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    made->report.n = data.n; /* what destroying needs */
    made->report.outputs = data.outputs;
    TRY(solve(context, &data));
    TRY(list_support(context, &data, made));
    TRY(make_function(context, &data, made));
    TRY(make_sigmoids(context, &data, made));
    report(&data, gram_smo_clock() - began, &made->report);
    made->duals = data.duals;
    made->pairs = data.pairs;
    data.duals = NULL;
    data.pairs = NULL;
    *svm = made;
    made = NULL;
    if (!(*svm)->report.converged) status = GRAM_NOT_CONVERGED;
done:
    gram_svm_destroy(made);
    gram_svm_data_free(context, &data);
    return status;
}

void gram_svm_destroy(gram_svm *svm)
{
    if (!svm) return;
    gram_memory *memory = svm->memory;
    gram_function_release(svm->function);
    gram_memory_give(memory, svm->duals);
    gram_memory_give(memory, svm->pairs);
    gram_memory_give(memory, svm->support);
    gram_memory_give(memory, svm->sigmoids);
    gram_memory_give(memory, svm);
    gram_memory_release(memory);
}

gram_function *gram_svm_function(const gram_svm *svm)
{
    return svm->function;
}

const gram_svm_report *gram_svm_get_report(const gram_svm *svm)
{
    return &svm->report;
}

const gram_svm_pair *gram_svm_pairs(const gram_svm *svm)
{
    return svm->pairs;
}

const double *gram_svm_duals(const gram_svm *svm)
{
    return svm->duals;
}

const int64_t *gram_svm_support(const gram_svm *svm)
{
    return svm->support;
}

const double *gram_svm_sigmoids(const gram_svm *svm)
{
    return svm->sigmoids;
}

/* ---- prediction ---- */

static void label_signs(int64_t m, const double *decisions, double *labels)
{
    for (int64_t i = 0; i < m; i++) labels[i] = decisions[i] >= 0 ? 1 : -1;
}

gram_status gram_svm_predict(gram_context *context, const gram_svm *svm, const gram_points *x, double *labels,
                             double *decisions, double *probabilities)
{
    gram_status status = GRAM_OK;
    double *own = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!svm, context, GRAM_ERROR_ARGUMENT, "svm_predict: svm is NULL");
    FAIL_IF(!x, context, GRAM_ERROR_ARGUMENT, "svm_predict: x is NULL");
    TRY(gram_points_must_be_plain(context, "svm_predict", x));
    FAIL_IF(probabilities && !svm->sigmoids, context, GRAM_ERROR_UNSUPPORTED,
            "svm_predict: the machine was fitted without probabilities");
    const gram_svm_report *r = &svm->report;
    if (!decisions) TRY(gram_take(context, "decision values", x->n * r->outputs, sizeof(double), (void **)&own));
    double *values = decisions ? decisions : own;
    TRY(gram_function_evaluate(context, svm->function, x, values, r->outputs));
    if (r->classes >= 2 && (labels || probabilities))
        TRY(gram_svm_decide(context, r->classes, x->n, values, svm->sigmoids, labels, probabilities));
    else if (r->kind == GRAM_SVM_ONE_CLASS && labels)
        label_signs(x->n, values, labels);
    else if (labels)
        memcpy(labels, values, (size_t)x->n * sizeof *labels);
done:
    gram_give(context, own);
    return status;
}
