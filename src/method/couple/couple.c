/* Coupled kernel embedding: features of both views, affinities, gamma, the embedding. */
#include "method/couple/couple.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/sized_struct.h"
#include "points/functionals.h"

enum { LEAST_ROWS = 3, MOST_NEIGHBOURS = 10000 };

void gram_couple_options_init(gram_couple_options *options, size_t size)
{
    const gram_couple_options defaults = {.size = sizeof defaults, .components = 2, .gamma = NAN, .neighbours = 5};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

static gram_status check_numbers(gram_context *context, int64_t n, const gram_couple_options *options)
{
    gram_status status = GRAM_OK;
    FAIL_IF(options->components < 1, context, GRAM_ERROR_ARGUMENT, "couple_fit: components = %" PRId64 " is below 1",
            options->components);
    FAIL_IF(!isnan(options->gamma) && !(options->gamma >= 0 && isfinite(options->gamma)), context, GRAM_ERROR_ARGUMENT,
            "couple_fit: gamma = %g is not a number of at least 0", options->gamma);
    FAIL_IF(options->neighbours < 0 || options->neighbours > MOST_NEIGHBOURS, context, GRAM_ERROR_ARGUMENT,
            "couple_fit: neighbours = %" PRId64 " is not in 0 .. %d", options->neighbours, MOST_NEIGHBOURS);
    FAIL_IF(options->rank < 0 || options->rank > GRAM_PIVOTED_MOST, context, GRAM_ERROR_ARGUMENT,
            "couple_fit: rank = %" PRId64 " is not in 0 .. %d", options->rank, GRAM_PIVOTED_MOST);
    for (int64_t i = 0; options->labels && i < n; i++)
        FAIL_IF(options->labels[i] < 0 || options->labels[i] >= n, context, GRAM_ERROR_ARGUMENT,
                "couple_fit: labels[%" PRId64 "] = %" PRId64 " is not in 0 .. %" PRId64, i, options->labels[i], n - 1);
done:
    return status;
}

static gram_status check(gram_context *context, const gram_kernel *kernel_a, const gram_points *a,
                         const gram_kernel *kernel_b, const gram_points *b, const gram_couple_options *options)
{
    gram_status status = GRAM_OK;
    const char *missing = !kernel_a ? "kernel_a" : !a ? "a" : !kernel_b ? "kernel_b" : !b ? "b" : NULL;
    FAIL_IF(missing, context, GRAM_ERROR_ARGUMENT, "couple_fit: %s is NULL", missing);
    const int64_t n = gram_points_count(a), m = gram_points_count(b);
    FAIL_IF(n != m, context, GRAM_ERROR_DIMENSION,
            "couple_fit: %" PRId64 " rows of a and %" PRId64 " of b: rows are pairs", n, m);
    FAIL_IF(n < LEAST_ROWS, context, GRAM_ERROR_DIMENSION, "couple_fit: %" PRId64 " rows are fewer than %d", n,
            LEAST_ROWS);
    TRY(check_numbers(context, n, options));
done:
    return status;
}

static gram_status begin(gram_couple_work *work, int64_t n)
{
    gram_status status = GRAM_OK;
    gram_context *context = work->context;
    gram_couple *made = NULL;
    TRY(gram_take(context, "couple_fit", 1, sizeof *made, (void **)&made));
    *made = (gram_couple){.memory = gram_memory_retain(context->memory)};
    made->report = (gram_couple_report){.size = sizeof made->report,
                                        .n = n,
                                        .components = work->options.components,
                                        .gamma = work->options.gamma,
                                        .accuracy = NAN};
    work->couple = made;
    TRY(gram_take(context, "couple: eigenvalues", work->options.components, sizeof(double), (void **)&made->values));
done:
    return status;
}

static gram_status make_views(gram_couple_work *work, gram_kernel *const *kernels, const gram_points *const *points)
{
    gram_status status = GRAM_OK;
    static const char *const names[] = {"couple: view a", "couple: view b"};
    gram_couple_report *report = &work->couple->report;
    const int64_t most = gram_kernel_features_most(work->context, report->n, work->options.rank);
    for (int v = 0; v < 2; v++) {
        TRY(gram_kernel_features_make(work->context, names[v], kernels[v], points[v], most, 0, &work->views[v]));
        report->rank[v] = work->views[v].rows.columns;
        report->trace_error[v] = work->views[v].error;
    }
done:
    return status;
}

/* Rows that are all alike have nothing to be told apart by; what gamma = 0 leaves open is refused. */
static gram_status check_problem(gram_couple_work *work)
{
    gram_status status = GRAM_OK;
    const gram_couple_report *report = &work->couple->report;
    const int64_t k = report->components, rank = report->rank[0] + report->rank[1], classes = report->classes;
    FAIL_IF(work->options.labels && classes < 2, work->context, GRAM_ERROR_DATA,
            "couple: all rows have one label: there is nothing to tell apart");
    FAIL_IF(k > rank, work->context, GRAM_ERROR_ARGUMENT,
            "couple: %" PRId64 " components are more than the %" PRId64 " that views of rank %" PRId64 " and %" PRId64
            " have",
            k, rank, report->rank[0], report->rank[1]);
    FAIL_IF(report->gamma == 0 && gram_affinity_is_pairs(&work->affinity), work->context, GRAM_ERROR_ARGUMENT,
            "couple: gamma = 0 with affinities of single pairs only (W = I) has %" PRId64
            " null directions: any of them would do",
            report->n);
    FAIL_IF(report->gamma == 0 && work->options.labels && k > classes - 1, work->context, GRAM_ERROR_ARGUMENT,
            "couple: %" PRId64 " components are more than the %" PRId64
            " that gamma = 0 has with labels, one less than classes",
            k, classes - 1);
done:
    return status;
}

static gram_status solve(gram_couple_work *work)
{
    gram_status status = GRAM_OK;
    gram_context *context = work->context;
    gram_couple *couple = work->couple;
    const int64_t k = couple->report.components, ra = couple->report.rank[0], rb = couple->report.rank[1];
    const gram_affinity_rows all = {couple->report.n, NULL, NULL};
    gram_couple_problem problem = {0};
    double *weights = NULL;
    int64_t found = 0;
    TRY(gram_take(context, "couple: weights", (ra + rb) * k, sizeof *weights, (void **)&weights));
    TRY(gram_couple_problem_make(context, &work->affinity, &all, work->views[0].rows, work->views[1].rows, &problem));
    TRY(gram_couple_problem_solve(context, &problem, couple->report.gamma, k, couple->values, weights, &found));
    FAIL_IF(found < k, context, GRAM_ERROR_ARGUMENT,
            "couple: %" PRId64 " components are more than the %" PRId64 " that are above rounding", k, found);
    double *const parts[2] = {weights, weights + ra * k};
    TRY(gram_kernel_features_fix_signs(context, work->views, k, parts));
    for (int v = 0; v < 2; v++)
        TRY(gram_kernel_features_function(context, &work->views[v], k, parts[v], &couple->functions[v]));
done:
    gram_couple_problem_free(context, &problem);
    gram_give(context, weights);
    return status;
}

gram_status gram_couple_fit(gram_context *context, gram_kernel *kernel_a, const gram_points *a, gram_kernel *kernel_b,
                            const gram_points *b, const gram_couple_options *options, gram_couple **couple)
{
    gram_status status = GRAM_OK;
    gram_couple_work work = {.context = context};
    if (!context || !couple) return GRAM_ERROR_ARGUMENT;
    *couple = NULL;
    gram_couple_options_init(&work.options, sizeof work.options);
    TRY(gram_points_must_be_plain(context, "couple_fit", a));
    TRY(gram_points_must_be_plain(context, "couple_fit", b));
    TRY(gram_sized_read(context, "couple_fit", "options", "gram_couple_options", options, &work.options,
                        sizeof work.options));
    TRY(check(context, kernel_a, a, kernel_b, b, &work.options));
    TRY(begin(&work, gram_points_count(a)));
    TRY(make_views(&work, (gram_kernel *const[]){kernel_a, kernel_b}, (const gram_points *const[]){a, b}));
    TRY(gram_affinity_make(context, kernel_b, b, &work.options, &work.affinity));
    work.couple->report.classes = work.affinity.classes;
    TRY(check_problem(&work));
    TRY(gram_couple_validate(&work));
    TRY(solve(&work));
    *couple = work.couple;
    work.couple = NULL;
done:
    gram_couple_destroy(work.couple);
    gram_affinity_free(context, &work.affinity);
    for (int v = 0; v < 2; v++) gram_kernel_features_free(context, &work.views[v]);
    return status;
}

void gram_couple_destroy(gram_couple *couple)
{
    if (!couple) return;
    gram_memory *memory = couple->memory;
    for (int v = 0; v < 2; v++) gram_function_release(couple->functions[v]);
    gram_memory_give(memory, couple->values);
    gram_memory_give(memory, couple);
    gram_memory_release(memory);
}

gram_function *gram_couple_function(const gram_couple *couple, int view)
{
    return couple->functions[view == 1];
}

const gram_couple_report *gram_couple_get_report(const gram_couple *couple)
{
    return &couple->report;
}

const double *gram_couple_eigenvalues(const gram_couple *couple)
{
    return couple->values;
}
