/* Kernel PCA: components of the centred matrix (solve/components) and the functions that they are. */
#include "method/pca/pca.h"

#include <inttypes.h>

#include "base/sized_struct.h"
#include "function/function.h"
#include "points/functionals.h"

void gram_pca_options_init(gram_pca_options *options, size_t size)
{
    const gram_pca_options defaults = {.size = sizeof defaults,
                                       .components = 2,
                                       .centre = 1,
                                       .tolerance = 1e-8,
                                       .most_components = 20,
                                       .permutations = 99,
                                       .level = 0.05};
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

/* What parallel analysis needs. */
static gram_status check_analysis(gram_context *context, int64_t n, int64_t d, const gram_pca_options *o)
{
    gram_status status = GRAM_OK;
    const int64_t *groups = o->column_groups;
    int several = !groups && d > 1;
    for (int64_t l = 0; groups && l < d; l++) {
        FAIL_IF(groups[l] < 0 || groups[l] > INT32_MAX, context, GRAM_ERROR_ARGUMENT,
                "pca_fit: column_groups[%" PRId64 "] = %" PRId64 " is not a number from 0 to 2147483647", l, groups[l]);
        several |= groups[l] != groups[0];
    }
    FAIL_IF(n < 3 || !several, context, GRAM_ERROR_ARGUMENT,
            "pca_fit: components cannot be chosen with %" PRId64
            " points of %s: shuffled columns tell them from chance",
            n, several ? "these columns" : "one column");
    FAIL_IF(o->most_components < 1, context, GRAM_ERROR_ARGUMENT,
            "pca_fit: most_components = %" PRId64 " is less than 1", o->most_components);
    FAIL_IF(!(o->level > 0 && o->level < 1 && o->level * (double)(o->permutations + 1) > 1 - 1e-9), context,
            GRAM_ERROR_ARGUMENT, "pca_fit: permutations = %" PRId64 " cannot tell anything at the level %g",
            o->permutations, o->level);
done:
    return status;
}

static gram_status check(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                         const gram_pca_options *options)
{
    gram_status status = GRAM_OK;
    gram_component_options asked = gram_pca_components(options);
    FAIL_IF(!kernel || !x, context, GRAM_ERROR_ARGUMENT, "pca_fit: %s is NULL", !kernel ? "kernel" : "x");
    if (asked.count == 0) TRY(check_analysis(context, gram_points_count(x), gram_points_dimension(x), options));
    if (asked.count == 0) asked.count = 1;
    TRY(gram_components_check(context, kernel, x, &asked));
    TRY(gram_function_check_kernel(context, kernel, gram_points_dimension(x)));
done:
    return status;
}

/* As many components as stand out from chance, at least one. */
static gram_status choose_number(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                 gram_pca_options *options, gram_pca_analysis *found)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(context, "pca_fit: chance", options->most_components, sizeof *found->chance,
                  (void **)&found->chance));
    TRY(gram_pca_parallel_analysis(context, kernel, x, options, found));
    options->components = found->significant > 0 ? found->significant : 1;
done:
    return status;
}

static void report_analysis(gram_pca *pca, int64_t permutations, gram_pca_analysis *found)
{
    pca->report.permutations = permutations;
    pca->report.significant = found->significant;
    pca->report.analysed_rows = found->rows;
    pca->report.analysed = found->tested;
    pca->chance = found->chance;
    found->chance = NULL;
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
    made->mean = found->mean;
    found->values = found->coordinates = found->mean = NULL;
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
    gram_pca_analysis analysis = {0};
    if (!context || !pca) return GRAM_ERROR_ARGUMENT;
    *pca = NULL;
    gram_pca_options_init(&own, sizeof own);
    TRY(gram_sized_read(context, "pca_fit", "options", "gram_pca_options", options, &own, sizeof own));
    TRY(check(context, kernel, x, &own));
    TRY(gram_points_must_be_plain(context, "pca_fit", x));
    if (own.components == 0) TRY(choose_number(context, kernel, x, &own, &analysis));
    const gram_component_options asked = gram_pca_components(&own);
    TRY(gram_components_find(context, kernel, x, &asked, &found));
    TRY(make(context, kernel, own.centre, &found, pca));
    if (analysis.chance) report_analysis(*pca, own.permutations, &analysis);
    if (!found.converged) status = GRAM_NOT_CONVERGED;
done:
    gram_give(context, analysis.chance);
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
    gram_memory_give(memory, pca->mean);
    gram_memory_give(memory, pca->chance);
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

const double *gram_pca_mean(const gram_pca *pca)
{
    return pca->mean;
}

const double *gram_pca_chance(const gram_pca *pca)
{
    return pca->chance;
}
