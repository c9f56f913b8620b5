/* Kernel CCA: features of both views, kappa, the correlations and their test. */
#include "method/cca/cca.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/sized_struct.h"
#include "points/functionals.h"

enum { USUAL_COMPONENTS = 2, LEAST_ROWS = 3, MOST_PERMUTATIONS = 10000000 };

void gram_cca_options_init(gram_cca_options *options, size_t size)
{
    const gram_cca_options defaults = {.size = sizeof defaults, .kappa = NAN, .permutations = 199};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

static gram_status check(gram_context *context, const gram_kernel *kernel_x, const gram_points *x,
                         const gram_kernel *kernel_y, const gram_points *y, const gram_cca_options *options)
{
    gram_status status = GRAM_OK;
    const char *missing = !kernel_x ? "kernel_x" : !x ? "x" : !kernel_y ? "kernel_y" : !y ? "y" : NULL;
    FAIL_IF(missing, context, GRAM_ERROR_ARGUMENT, "cca_fit: %s is NULL", missing);
    const int64_t n = gram_points_count(x), m = gram_points_count(y);
    FAIL_IF(n != m, context, GRAM_ERROR_DIMENSION,
            "cca_fit: %" PRId64 " rows of x and %" PRId64 " of y: rows are pairs", n, m);
    FAIL_IF(n < LEAST_ROWS, context, GRAM_ERROR_DIMENSION, "cca_fit: %" PRId64 " rows are fewer than %d", n,
            LEAST_ROWS);
    FAIL_IF(options->components < 0 || options->components >= n, context, GRAM_ERROR_ARGUMENT,
            "cca_fit: components = %" PRId64 " of %" PRId64 " rows: at most one less than rows", options->components,
            n);
    FAIL_IF(!isnan(options->kappa) && !(options->kappa >= 0 && isfinite(options->kappa)), context, GRAM_ERROR_ARGUMENT,
            "cca_fit: kappa = %g is not a number of at least 0", options->kappa);
    FAIL_IF(options->permutations < 0 || options->permutations > MOST_PERMUTATIONS, context, GRAM_ERROR_ARGUMENT,
            "cca_fit: permutations = %" PRId64 " is not in 0 .. %d", options->permutations, MOST_PERMUTATIONS);
    FAIL_IF(options->rank < 0 || options->rank > GRAM_PIVOTED_MOST, context, GRAM_ERROR_ARGUMENT,
            "cca_fit: rank = %" PRId64 " is not in 0 .. %d", options->rank, GRAM_PIVOTED_MOST);
done:
    return status;
}

static gram_status begin(gram_cca_work *work, int64_t n)
{
    gram_status status = GRAM_OK;
    gram_context *context = work->context;
    gram_cca *made = NULL;
    TRY(gram_take(context, "cca_fit", 1, sizeof *made, (void **)&made));
    *made = (gram_cca){.memory = gram_memory_retain(context->memory)};
    made->report = (gram_cca_report){.size = sizeof made->report,
                                     .n = n,
                                     .kappa = work->options.kappa,
                                     .held_out = NAN,
                                     .p_value = NAN,
                                     .permutations = work->options.permutations};
    work->cca = made;
done:
    return status;
}

static void set_grid(gram_cca_work *work)
{
    const double n = (double)work->cca->report.n;
    const double size = sqrt(work->views[0].trace / n) * sqrt(work->views[1].trace / n);
    for (int g = 0; g < GRAM_CCA_GRID; g++) work->grid[g] = size * pow(10, -0.5 * g);
}

/* How many components there can be, and what is asked for. */
static gram_status count_components(gram_cca_work *work)
{
    gram_status status = GRAM_OK;
    gram_cca_report *report = &work->cca->report;
    const int64_t rx = report->rank[0], ry = report->rank[1], most = rx < ry ? rx : ry;
    FAIL_IF(work->options.components > most, work->context, GRAM_ERROR_ARGUMENT,
            "cca: %" PRId64 " components are more than the %" PRId64 " that views of rank %" PRId64 " and %" PRId64
            " have",
            work->options.components, most, rx, ry);
    FAIL_IF(report->kappa == 0 && rx + ry >= report->n, work->context, GRAM_ERROR_ARGUMENT,
            "cca: without kappa, views of rank %" PRId64 " and %" PRId64 " and %" PRId64
            " rows have a correlation of 1 whatever the data",
            rx, ry, report->n);
    report->components = work->options.components > 0 ? work->options.components
                         : most < USUAL_COMPONENTS    ? most
                                                      : USUAL_COMPONENTS;
done:
    return status;
}

static gram_status solve(gram_cca_work *work)
{
    gram_status status = GRAM_OK;
    gram_context *context = work->context;
    gram_cca *cca = work->cca;
    const int64_t k = cca->report.components;
    gram_cca_problem problem = {0};
    double *weights[2] = {NULL, NULL};
    int64_t found = 0;
    TRY(gram_take(context, "cca: correlations", k, sizeof(double), (void **)&cca->correlations));
    for (int v = 0; v < 2; v++)
        TRY(gram_take(context, "cca: weights", cca->report.rank[v] * k, sizeof(double), (void **)&weights[v]));
    TRY(gram_cca_problem_make(context, work->views[0].rows, work->views[1].rows, &problem));
    TRY(gram_cca_problem_solve(context, &problem, cca->report.kappa, k, cca->correlations, weights, &found));
    if (work->options.components == 0 && found == 1) {
        for (int v = 0; v < 2; v++)
            for (int64_t j = 0; j < cca->report.rank[v]; j++) weights[v][j] = weights[v][j * k];
        cca->report.components = 1;
    }
    FAIL_IF(found < cca->report.components, context, GRAM_ERROR_ARGUMENT,
            "cca: %" PRId64 " components are more than the %" PRId64 " correlations that are above rounding",
            cca->report.components, found);
    TRY(gram_kernel_features_fix_signs(context, work->views, cca->report.components, weights));
    for (int v = 0; v < 2; v++)
        TRY(gram_kernel_features_function(context, &work->views[v], cca->report.components, weights[v],
                                          &cca->functions[v]));
done:
    gram_cca_problem_free(context, &problem);
    gram_give(context, weights[0]);
    gram_give(context, weights[1]);
    return status;
}

static gram_status make_views(gram_cca_work *work, gram_kernel *const *kernels, const gram_points *const *points)
{
    gram_status status = GRAM_OK;
    static const char *const names[] = {"cca: view x", "cca: view y"};
    gram_cca_report *report = &work->cca->report;
    const int64_t most = gram_kernel_features_most(work->context, report->n, work->options.rank);
    for (int v = 0; v < 2; v++) {
        TRY(gram_kernel_features_make(work->context, names[v], kernels[v], points[v], most, 1, &work->views[v]));
        report->rank[v] = work->views[v].rows.columns;
        report->trace_error[v] = work->views[v].error;
    }
done:
    return status;
}

gram_status gram_cca_fit(gram_context *context, gram_kernel *kernel_x, const gram_points *x, gram_kernel *kernel_y,
                         const gram_points *y, const gram_cca_options *options, gram_cca **cca)
{
    gram_status status = GRAM_OK;
    gram_cca_work work = {.context = context};
    if (!context || !cca) return GRAM_ERROR_ARGUMENT;
    *cca = NULL;
    gram_cca_options_init(&work.options, sizeof work.options);
    TRY(gram_points_must_be_plain(context, "cca_fit", x));
    TRY(gram_points_must_be_plain(context, "cca_fit", y));
    TRY(gram_sized_read(context, "cca_fit", "options", "gram_cca_options", options, &work.options,
                        sizeof work.options));
    TRY(check(context, kernel_x, x, kernel_y, y, &work.options));
    TRY(begin(&work, gram_points_count(x)));
    TRY(make_views(&work, (gram_kernel *const[]){kernel_x, kernel_y}, (const gram_points *const[]){x, y}));
    TRY(count_components(&work));
    set_grid(&work);
    if (isnan(work.options.kappa)) TRY(gram_cca_choose_kappa(&work));
    TRY(solve(&work));
    if (work.options.permutations > 0) TRY(gram_cca_test(&work));
    *cca = work.cca;
    work.cca = NULL;
done:
    gram_cca_destroy(work.cca);
    for (int v = 0; v < 2; v++) gram_kernel_features_free(context, &work.views[v]);
    return status;
}

void gram_cca_destroy(gram_cca *cca)
{
    if (!cca) return;
    gram_memory *memory = cca->memory;
    for (int v = 0; v < 2; v++) gram_function_release(cca->functions[v]);
    gram_memory_give(memory, cca->correlations);
    gram_memory_give(memory, cca);
    gram_memory_release(memory);
}

gram_function *gram_cca_function(const gram_cca *cca, int view)
{
    return cca->functions[view == 1];
}

const gram_cca_report *gram_cca_get_report(const gram_cca *cca)
{
    return &cca->report;
}

const double *gram_cca_correlations(const gram_cca *cca)
{
    return cca->correlations;
}
