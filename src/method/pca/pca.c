/* Kernel PCA: components of the centred matrix (solve/components) and the functions that they are. */
#include "method/pca/pca.h"

#include "base/sized_struct.h"
#include "function/function.h"

void gram_pca_options_init(gram_pca_options *options, size_t size)
{
    const gram_pca_options defaults = {.size = sizeof defaults, .components = 2, .centre = 1, .tolerance = 1e-8};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

gram_component_options gram_pca_components(const gram_pca_options *options)
{
    return (gram_component_options){.who = "pca_fit",
                                    .count = options->components,
                                    .centre = options->centre,
                                    .solver = options->solver,
                                    .rank = options->rank,
                                    .tolerance = options->tolerance};
}

static gram_status check(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                         const gram_component_options *o)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!kernel || !x, context, GRAM_ERROR_ARGUMENT, "pca_fit: %s is NULL", !kernel ? "kernel" : "x");
    TRY(gram_components_check(context, kernel, x, o));
    TRY(gram_function_check_kernel(context, kernel, gram_points_dimension(x)));
done:
    return status;
}

/* Values and coordinates become the result's. */
static gram_status make(gram_context *context, gram_kernel *kernel, int centre, gram_components *found, gram_pca **pca)
{
    gram_status status = GRAM_OK;
    gram_pca *made = NULL;
    TRY(gram_take(context, "pca_fit", 1, sizeof *made, (void **)&made));
    *made = (gram_pca){.memory = gram_memory_retain(context->memory)};
    made->report = (gram_pca_report){.size = sizeof made->report,
                                     .n = found->n,
                                     .components = found->count,
                                     .centre = centre,
                                     .solver = found->solver,
                                     .trace = found->trace,
                                     .residual = found->residual,
                                     .trace_error = found->trace_error,
                                     .rank = found->rank,
                                     .products = found->products};
    TRY(gram_function_create(context, kernel, found->centres, found->count, found->coefficients, found->count,
                             found->constant, &made->function));
    made->values = found->values;
    made->coordinates = found->coordinates;
    found->values = found->coordinates = NULL;
    *pca = made;
    made = NULL;
done:
    gram_pca_destroy(made);
    return status;
}

gram_status gram_pca_fit(gram_context *context, gram_kernel *kernel, const gram_points *x,
                         const gram_pca_options *options, gram_pca **pca)
{
    gram_status status = GRAM_OK;
    gram_pca_options own;
    gram_components found = {0};
    if (!context || !pca) return GRAM_ERROR_ARGUMENT;
    *pca = NULL;
    gram_pca_options_init(&own, sizeof own);
    TRY(gram_sized_read(context, "pca_fit", "options", "gram_pca_options", options, &own, sizeof own));
    const gram_component_options asked = gram_pca_components(&own);
    TRY(check(context, kernel, x, &asked));
    TRY(gram_components_find(context, kernel, x, &asked, &found));
    TRY(make(context, kernel, own.centre, &found, pca));
    if (!found.converged) status = GRAM_NOT_CONVERGED;
done:
    gram_components_free(context->memory, &found);
    return status;
}

void gram_pca_destroy(gram_pca *pca)
{
    if (!pca) return;
    gram_memory *memory = pca->memory;
    gram_function_release(pca->function);
    gram_memory_give(memory, pca->values);
    gram_memory_give(memory, pca->coordinates);
    gram_memory_give(memory, pca);
    gram_memory_release(memory);
}

gram_function *gram_pca_function(const gram_pca *pca)
{
    return pca->function;
}

const gram_pca_report *gram_pca_get_report(const gram_pca *pca)
{
    return &pca->report;
}

const double *gram_pca_eigenvalues(const gram_pca *pca)
{
    return pca->values;
}

const double *gram_pca_coordinates(const gram_pca *pca)
{
    return pca->coordinates;
}
