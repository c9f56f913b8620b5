/* Mercer expansions with respect to points: components of K, weighted, each divided by its root of mu. */
#include "method/mercer/mercer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "base/sized_struct.h"
#include "function/function.h"
#include "points/functionals.h"
#include "points/points.h"

void gram_mercer_options_init(gram_mercer_options *options, size_t size)
{
    const gram_mercer_options defaults = {.size = sizeof defaults, .components = 5, .tolerance = 1e-8};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

gram_component_options gram_mercer_components(const gram_mercer_options *options)
{
    return (gram_component_options){.who = "mercer_fit",
                                    .count = options->components,
                                    .weights = options->weights,
                                    .solver = options->solver,
                                    .rank = options->rank,
                                    .tolerance = options->tolerance};
}

/* The points of weight above 0, if there are others: a copy, and their weights. */
typedef struct nodes {
    const gram_points *x;
    gram_points *own;
    double *rows, *weights;
} node_set;

static gram_status check_weights(gram_context *context, int64_t n, const double *weights, int64_t *positive)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    *positive = 0;
    for (int64_t i = 0; i < n; i++) {
        FAIL_IF(!(weights[i] >= 0) || isinf(weights[i]), context, GRAM_ERROR_DATA,
                "mercer_fit: weights[%" PRId64 "] = %s is negative or not finite", i,
                gram_number_format(weights[i], shown));
        *positive += weights[i] > 0;
    }
    FAIL_IF(*positive == 0, context, GRAM_ERROR_DATA, "mercer_fit: all weights are 0");
done:
    return status;
}

static gram_status choose_nodes(gram_context *context, const gram_points *x, const double *weights, node_set *nodes)
{
    gram_status status = GRAM_OK;
    const int64_t n = gram_points_count(x), d = gram_points_dimension(x);
    int64_t positive, at = 0;
    nodes->x = x;
    if (!weights) return GRAM_OK;
    TRY(check_weights(context, n, weights, &positive));
    TRY(gram_take(context, "mercer_fit: weights", positive, sizeof(double), (void **)&nodes->weights));
    if (positive < n) TRY(gram_take(context, "mercer_fit: nodes", positive * d, sizeof(double), (void **)&nodes->rows));
    for (int64_t i = 0; i < n; i++) {
        if (!(weights[i] > 0)) continue;
        for (int64_t l = 0; l < d && nodes->rows; l++) nodes->rows[at * d + l] = gram_points_cell(x, i, l);
        nodes->weights[at++] = weights[i];
    }
    if (nodes->rows) {
        TRY(gram_points_create_like(context, x, positive, nodes->rows, 0, &nodes->own));
        nodes->x = nodes->own;
    }
done:
    return status;
}

/* Components are sqrt(mu) phi. Of a sample l = n mu. */
static gram_status make(gram_context *context, gram_kernel *kernel, const node_set *nodes, gram_components *found,
                        gram_mercer **mercer)
{
    gram_status status = GRAM_OK;
    const int64_t centres = gram_points_count(found->centres), k = found->count;
    const double share = nodes->weights ? 1 : 1 / (double)found->n;
    gram_properties facts;
    gram_mercer *made = NULL;
    TRY(gram_kernel_properties(context, kernel, gram_points_dimension(nodes->x), &facts));
    TRY(gram_take(context, "mercer_fit", 1, sizeof *made, (void **)&made));
    *made = (gram_mercer){.memory = gram_memory_retain(context->memory)};
    made->report = (gram_mercer_report){.size = sizeof made->report,
                                        .n = found->n,
                                        .components = k,
                                        .solver = found->solver,
                                        .total = nodes->weights ? 0 : 1,
                                        .trace = share * found->trace,
                                        .residual = found->residual,
                                        .trace_error = found->trace_error,
                                        .rank = found->solver == GRAM_PCA_NYSTROM ? found->rank : found->n,
                                        .products = found->products};
    for (int64_t i = 0; i < found->n && nodes->weights; i++) made->report.total += nodes->weights[i];
    if (facts.rank != GRAM_INFINITE && facts.rank < made->report.rank) made->report.rank = facts.rank;
    for (int64_t s = 0; s < k; s++) {
        found->values[s] *= share;
        for (int64_t i = 0; i < centres; i++) found->coefficients[i * k + s] /= sqrt(found->values[s]);
        found->constant[s] /= sqrt(found->values[s]);
    }
    TRY(gram_function_create(context, kernel, found->centres, k, found->coefficients, k, found->constant,
                             &made->function));
    made->values = found->values;
    found->values = NULL;
    *mercer = made;
    made = NULL;
done:
    gram_mercer_destroy(made);
    return status;
}

gram_status gram_mercer_fit(gram_context *context, gram_kernel *kernel, const gram_points *x,
                            const gram_mercer_options *options, gram_mercer **mercer)
{
    gram_status status = GRAM_OK;
    gram_mercer_options own;
    gram_components found = {0};
    node_set nodes = {0};
    if (!context || !mercer) return GRAM_ERROR_ARGUMENT;
    *mercer = NULL;
    gram_mercer_options_init(&own, sizeof own);
    TRY(gram_points_must_be_plain(context, "mercer_fit", x));
    TRY(gram_sized_read(context, "mercer_fit", "options", "gram_mercer_options", options, &own, sizeof own));
    FAIL_IF(!kernel || !x, context, GRAM_ERROR_ARGUMENT, "mercer_fit: %s is NULL", !kernel ? "kernel" : "x");
    TRY(choose_nodes(context, x, own.weights, &nodes));
    own.weights = nodes.weights;
    const gram_component_options asked = gram_mercer_components(&own);
    TRY(gram_components_check(context, kernel, nodes.x, &asked));
    TRY(gram_function_check_kernel(context, kernel, gram_points_dimension(x)));
    TRY(gram_components_find(context, kernel, nodes.x, &asked, &found));
    TRY(make(context, kernel, &nodes, &found, mercer));
    if (!found.converged) status = GRAM_NOT_CONVERGED;
done:
    gram_components_free(context->memory, &found);
    gram_points_release(nodes.own);
    gram_give(context, nodes.rows);
    gram_give(context, nodes.weights);
    return status;
}

void gram_mercer_destroy(gram_mercer *mercer)
{
    if (!mercer) return;
    gram_memory *memory = mercer->memory;
    gram_function_release(mercer->function);
    gram_memory_give(memory, mercer->values);
    gram_memory_give(memory, mercer);
    gram_memory_release(memory);
}

gram_function *gram_mercer_function(const gram_mercer *mercer)
{
    return mercer->function;
}

const gram_mercer_report *gram_mercer_get_report(const gram_mercer *mercer)
{
    return &mercer->report;
}

const double *gram_mercer_eigenvalues(const gram_mercer *mercer)
{
    return mercer->values;
}
