/* Models that no fit made: sums of functions. The row opens and reports them; its models are made by gram_model_combine. */
#include <math.h>
#include <string.h>

#include <gram/model_algebra.h>
#include <gram/text.h>

#include "data/preparation.h"
#include "method/method.h"
#include "method/method_report.h"

static void report_combination(gram_report *report)
{
    gram_report_function(report);
    gram_report_list(report, "  norms of terms", "term_norms", GRAM_FINE);
}

const gram_method gram_method_combination = {
    .name = "combination",
    .title = "a function of the kernel's space",
    .functionals = 1,
    .tasks = 1u << GRAM_TASK_REGRESSION,
    .report = report_combination,
};

/* ---- one space ---- */

static gram_status check_features(gram_context *context, const gram_preparation *a, const gram_preparation *b)
{
    gram_status status = GRAM_OK;
    if (!a || !b) goto done; /* bare arrays are taken as they are */
    const gram_preparation_description *f = gram_preparation_describe(a), *g = gram_preparation_describe(b);
    FAIL_IF(f->feature_count != g->feature_count, context, GRAM_ERROR_ARGUMENT,
            "model_check_space: one has %lld features, the other %lld", (long long)f->feature_count,
            (long long)g->feature_count);
    for (int64_t i = 0; i < f->feature_count; i++) {
        const char *wrong = gram_column_difference(&f->features[i], &g->features[i]);
        FAIL_IF(wrong, context, GRAM_ERROR_ARGUMENT,
                "model_check_space: the preparations differ: feature '%.80s' %s; fits without scaling share theirs",
                f->features[i].name, wrong);
    }
done:
    return status;
}

static gram_status check_kernels(gram_context *context, const gram_function *f, const gram_function *g)
{
    enum { SHOWN = 160 };
    gram_status status = GRAM_OK;
    char one[SHOWN], other[SHOWN];
    if (gram_kernel_equal(gram_function_kernel(f), gram_function_kernel(g))) goto done;
    (void)gram_kernel_print(gram_function_kernel(f), one, sizeof one);
    (void)gram_kernel_print(gram_function_kernel(g), other, sizeof other);
    status =
        gram_fail(context, GRAM_ERROR_ARGUMENT,
                  "model_check_space: the kernels differ, so these are functions of two spaces: %s and %s", one, other);
done:
    return status;
}

gram_status gram_model_check_space(gram_context *context, const gram_model *f, const gram_model *g)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!f || !g, context, GRAM_ERROR_ARGUMENT, "model_check_space: %s is NULL", f ? "g" : "f");
    FAIL_IF(gram_model_second_function(f) || gram_model_second_function(g), context, GRAM_ERROR_ARGUMENT,
            "model_check_space: a model of two views is two functions");
    const int64_t m = gram_function_outputs(gram_model_function(f)), n = gram_function_outputs(gram_model_function(g));
    FAIL_IF(m != n, context, GRAM_ERROR_ARGUMENT, "model_check_space: one has %lld outputs, the other %lld",
            (long long)m, (long long)n);
    TRY(check_features(context, gram_model_preparation(f), gram_model_preparation(g)));
    TRY(check_kernels(context, gram_model_function(f), gram_model_function(g)));
done:
    return status;
}

/* ---- sums ---- */

static gram_status check_regression(gram_context *context, const gram_model *model)
{
    gram_status status = GRAM_OK;
    FAIL_IF(strcmp(gram_model_task(model), gram_task_name(GRAM_TASK_REGRESSION)) != 0, context, GRAM_ERROR_ARGUMENT,
            "model_combine: a model of %s, whose predictions are no values of its function", gram_model_task(model));
    FAIL_IF(gram_model_second_function(model), context, GRAM_ERROR_ARGUMENT,
            "model_combine: a model of two views is two functions");
done:
    return status;
}

/* What its rows were called goes on: rows to predict may be functionals, as those of f. */
static void keep_kinds(gram_keeper *keeper, const gram_model *f)
{
    static const char *const NAMES[] = {"kind", "coefficient", "operator"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (gram_kept_text(f, NAMES[i])) gram_keep_text(keeper, NAMES[i], gram_kept_text(f, NAMES[i]));
}

static void keep_norm(gram_keeper *keeper, const gram_function *function)
{
    const int64_t m = gram_function_outputs(function);
    double *norms = NULL, sum = 0;
    if (keeper->status < 0) return;
    keeper->status = gram_take(keeper->context, "norms", m, sizeof *norms, (void **)&norms);
    if (keeper->status >= 0) keeper->status = gram_function_norm(keeper->context, function, norms);
    for (int64_t o = 0; o < m && keeper->status >= 0; o++) sum += norms[o] * norms[o];
    gram_keep_number(keeper, "norm", sqrt(sum));
    gram_give(keeper->context, norms);
}

gram_status gram_model_combine(gram_context *context, double s, const gram_model *f, double t, const gram_model *g,
                               gram_model **out)
{
    gram_status status = GRAM_OK;
    gram_function *function = NULL;
    if (!context || !out) return GRAM_ERROR_ARGUMENT;
    *out = NULL;
    FAIL_IF(!f, context, GRAM_ERROR_ARGUMENT, "model_combine: f is NULL");
    TRY(check_regression(context, f));
    if (g) TRY(check_regression(context, g));
    if (g) TRY(gram_model_check_space(context, f, g));
    TRY(gram_function_combine(context, s, gram_model_function(f), t, g ? gram_model_function(g) : NULL, &function));
    gram_keeper keeper =
        gram_keep_fit(context, &gram_method_combination, GRAM_TASK_REGRESSION, gram_model_preparation(f), function,
                      gram_points_count(gram_function_centres(function)));
    keep_norm(&keeper, function);
    gram_keep_term_norms(&keeper, function);
    keep_kinds(&keeper, f);
    status = gram_keep_end(&keeper, out);
done:
    gram_function_release(function);
    return status;
}
