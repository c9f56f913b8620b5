/* What is given to a support vector machine: checked, and sorted by classes. */
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "base/sized_struct.h"
#include "method/svm/svm.h"

static const int64_t MOST_CLASSES = 4096;

void gram_svm_options_init(gram_svm_options *options, size_t size)
{
    const gram_svm_options defaults = {.C = 1, .nu = 0.5, .epsilon = 0.1, .tolerance = 1e-3, .intercept = 1};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

gram_status gram_svm_options_read(gram_context *context, const char *who, const char *argument,
                                  const gram_svm_options *options, gram_svm_options *known)
{
    gram_svm_options_init(known, sizeof *known);
    return gram_sized_read(context, who, argument, "gram_svm_options", options, known, sizeof *known);
}

static gram_status fail_number(gram_context *context, const char *who, const char *name, double value,
                               const char *range)
{
    char text[GRAM_NUMBER_SIZE];
    gram_number_format(value, text);
    return gram_fail(context, GRAM_ERROR_ARGUMENT, "%s: %s = %s is not %s", who, name, text, range);
}

static gram_status check_options(gram_context *context, const char *who, const gram_svm_options *o)
{
    const int has_c = o->kind == GRAM_SVM_C || gram_svm_is_regression(o->kind);
    const int has_nu = o->kind == GRAM_SVM_NU || o->kind == GRAM_SVM_ONE_CLASS || o->kind == GRAM_SVM_NU_REGRESSION;
    if ((int)o->kind < 0 || o->kind > GRAM_SVM_NU_REGRESSION)
        return gram_fail(context, GRAM_ERROR_ARGUMENT, "%s: kind = %d is not a valid kind", who, (int)o->kind);
    if (has_c && !(o->C > 0 && o->C <= 1e100)) return fail_number(context, who, "C", o->C, "above 0 and at most 1e100");
    if (has_nu && !(o->nu > 0 && o->nu <= 1)) return fail_number(context, who, "nu", o->nu, "in (0, 1]");
    if (o->kind == GRAM_SVM_EPSILON_REGRESSION && !(o->epsilon >= 0 && o->epsilon <= 1e100))
        return fail_number(context, who, "epsilon", o->epsilon, "between 0 and 1e100");
    if (!(o->tolerance > 0 && isfinite(o->tolerance)))
        return fail_number(context, who, "tolerance", o->tolerance, "above 0");
    if (!(o->gap >= 0)) return fail_number(context, who, "gap", o->gap, "at least 0");
    if (!(o->seconds >= 0)) return fail_number(context, who, "seconds", o->seconds, "at least 0");
    if (o->iterations < 0)
        return gram_fail(context, GRAM_ERROR_ARGUMENT, "%s: iterations = %lld is negative", who,
                         (long long)o->iterations);
    if (o->probability_folds < 0 || o->probability_folds == 1)
        return gram_fail(context, GRAM_ERROR_ARGUMENT, "%s: probability_folds = %lld is not 0 or at least 2", who,
                         (long long)o->probability_folds);
    if ((o->probability_folds || o->held_out) && !gram_svm_is_classification(o->kind))
        return gram_fail(context, GRAM_ERROR_UNSUPPORTED, "%s: probabilities are for classification only", who);
    if (!o->intercept && has_nu)
        return gram_fail(
            context, GRAM_ERROR_UNSUPPORTED,
            "%s: intercept = 0 is for the kinds C and epsilon: the margin of this one is set by its constant", who);
    return gram_folds_check_options(context, who, o->groups, o->ordered);
}

static gram_status check_numbers(gram_context *context, const char *who, const char *name, int64_t count,
                                 const double *numbers, double least)
{
    char text[GRAM_NUMBER_SIZE];
    for (int64_t i = 0; numbers && i < count; i++) {
        if (isfinite(numbers[i]) && numbers[i] >= least) continue;
        gram_number_format(numbers[i], text);
        return gram_fail(context, GRAM_ERROR_DATA, "%s: %s[%lld] = %s %s", who, name, (long long)i, text,
                         isfinite(numbers[i]) ? "is negative" : "is not finite");
    }
    return GRAM_OK;
}

/* ---- classes ---- */

static gram_status count_classes(gram_context *context, const char *who, gram_svm_data *data)
{
    gram_status status = GRAM_OK;
    char text[GRAM_NUMBER_SIZE];
    data->classes = 1;
    if (!gram_svm_is_classification(data->options.kind)) goto done;
    for (int64_t i = 0; i < data->n; i++) {
        const double label = data->y[i];
        gram_number_format(label, text);
        FAIL_IF(!(label >= 0 && label < (double)MOST_CLASSES && floor(label) == label), context, GRAM_ERROR_DATA,
                "%s: y[%lld] = %s is not a class: labels are 0, 1, ... below %lld", who, (long long)i, text,
                (long long)MOST_CLASSES);
        if ((int64_t)label >= data->classes) data->classes = (int64_t)label + 1;
    }
    FAIL_IF(data->classes < 2, context, GRAM_ERROR_DATA,
            "%s: all %lld rows are of one class: classification needs two (kind one class needs no labels)", who,
            (long long)data->n);
done:
    data->outputs = data->classes > 1 ? data->classes * (data->classes - 1) / 2 : 1;
    return status;
}

static int64_t class_of(const gram_svm_data *data, int64_t row)
{
    return gram_svm_is_classification(data->options.kind) ? (int64_t)data->y[row] : 0;
}

static double weight_of(const gram_svm_data *data, int64_t row)
{
    return data->options.weights ? data->options.weights[row] : 1;
}

/* Members by counting; first[c] is moved while filling and moved back. */
static gram_status sort_rows(gram_context *context, const char *who, gram_svm_data *data)
{
    gram_status status = GRAM_OK;
    const gram_svm_options *o = &data->options;
    const double c = o->kind == GRAM_SVM_NU || o->kind == GRAM_SVM_ONE_CLASS ? 1 : o->C;
    memset(data->first, 0, (size_t)(data->classes + 1) * sizeof *data->first);
    for (int64_t i = 0; i < data->n; i++)
        if (weight_of(data, i) > 0) data->first[class_of(data, i) + 1]++;
    for (int64_t k = 0; k < data->classes; k++)
        FAIL_IF(data->first[k + 1] == 0, context, GRAM_ERROR_DATA, "%s: class %lld has no row%s", who, (long long)k,
                o->weights ? " of weight above 0" : "");
    for (int64_t k = 0; k < data->classes; k++) data->first[k + 1] += data->first[k];
    for (int64_t i = 0; i < data->n; i++) {
        const int64_t k = class_of(data, i);
        data->c_of[i] = c * weight_of(data, i) * (o->class_weights ? o->class_weights[k] : 1);
        if (weight_of(data, i) > 0) data->member[data->first[k]++] = i;
    }
    for (int64_t k = data->classes; k > 0; k--) data->first[k] = data->first[k - 1];
    data->first[0] = 0;
done:
    return status;
}

/* nu W/2 must fit in each class of a pair. */
static gram_status check_nu(gram_context *context, const char *who, const gram_svm_data *data)
{
    gram_status status = GRAM_OK;
    double *sums = NULL;
    char text[GRAM_NUMBER_SIZE], most[GRAM_NUMBER_SIZE];
    if (data->options.kind != GRAM_SVM_NU) return GRAM_OK;
    TRY(gram_take(context, "classes", data->classes, sizeof(double), (void **)&sums));
    memset(sums, 0, (size_t)data->classes * sizeof *sums);
    for (int64_t i = 0; i < data->n; i++) sums[class_of(data, i)] += data->c_of[i];
    for (int64_t a = 0; a < data->classes; a++)
        for (int64_t b = a + 1; b < data->classes; b++) {
            const double allowed = 2 * fmin(sums[a], sums[b]) / (sums[a] + sums[b]);
            gram_number_format(data->options.nu, text);
            gram_number_format(allowed, most);
            FAIL_IF(data->options.nu > allowed * (1 + 1e-12), context, GRAM_ERROR_ARGUMENT,
                    "%s: nu = %s is infeasible: classes %lld and %lld allow at most %s", who, text, (long long)a,
                    (long long)b, most);
        }
done:
    gram_give(context, sums);
    return status;
}

static gram_status check_class_weights(gram_context *context, const char *who, const gram_svm_data *data)
{
    gram_status status = GRAM_OK;
    const double *w = data->options.class_weights;
    TRY(check_numbers(context, who, "class_weights", data->classes, w, 0));
    for (int64_t k = 0; w && k < data->classes; k++)
        FAIL_IF(w[k] == 0, context, GRAM_ERROR_DATA, "%s: class_weights[%lld] is 0", who, (long long)k);
done:
    return status;
}

/* Half of what the budget leaves, and at most 1 GiB, unless the caller said it. */
static size_t cache_bytes(const gram_context *context, const gram_svm_options *o)
{
    const size_t budget = gram_memory_budget(context->memory), used = gram_memory_used(context->memory);
    size_t bytes = o->cache_bytes ? o->cache_bytes : (size_t)1 << 30;
    if (budget && bytes > (budget - used) / 2) bytes = (budget - used) / 2;
    return bytes;
}

gram_status gram_svm_data_make(gram_context *context, const char *who, gram_kernel *kernel, const gram_points *x,
                               const double *y, const gram_svm_options *options, gram_svm_data *data)
{
    gram_status status = GRAM_OK;
    memset(data, 0, sizeof *data);
    TRY(gram_svm_options_read(context, who, "options", options, &data->options));
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "%s: kernel is NULL", who);
    FAIL_IF(!x, context, GRAM_ERROR_ARGUMENT, "%s: x is NULL", who);
    TRY(check_options(context, who, &data->options));
    FAIL_IF(!y && data->options.kind != GRAM_SVM_ONE_CLASS, context, GRAM_ERROR_ARGUMENT, "%s: y is NULL", who);
    data->kernel = kernel;
    data->x = x;
    data->y = y;
    data->n = x->n;
    data->cache_bytes = cache_bytes(context, &data->options);
    data->indexed = gram_smo_kernel_is_indexed(kernel);
    if (data->options.seconds > 0) data->deadline = gram_smo_clock() + data->options.seconds;
    if (gram_svm_is_regression(data->options.kind)) TRY(check_numbers(context, who, "y", data->n, y, -INFINITY));
    TRY(check_numbers(context, who, "weights", data->n, data->options.weights, 0));
    TRY(count_classes(context, who, data));
    TRY(check_class_weights(context, who, data));
    TRY(check_numbers(context, who, "start", data->n * data->outputs, data->options.start, -INFINITY));
    TRY(gram_take(context, "classes", data->classes + 1, sizeof *data->first, (void **)&data->first));
    TRY(gram_take(context, "rows", data->n, sizeof *data->member, (void **)&data->member));
    TRY(gram_take(context, "bounds", data->n, sizeof *data->c_of, (void **)&data->c_of));
    TRY(sort_rows(context, who, data));
    TRY(check_nu(context, who, data));
    TRY(gram_take(context, "pairs", data->outputs, sizeof *data->pairs, (void **)&data->pairs));
    TRY(gram_take(context, "scales", data->outputs, sizeof *data->scale, (void **)&data->scale));
    TRY(gram_take(context, "tube", 1, sizeof *data->tube, (void **)&data->tube));
    *data->tube = NAN;
    TRY(gram_take(context, "dual variables", data->n * data->outputs, sizeof *data->duals, (void **)&data->duals));
    memset(data->duals, 0, (size_t)(data->n * data->outputs) * sizeof *data->duals);
done:
    return status;
}

void gram_svm_data_free(gram_context *context, gram_svm_data *data)
{
    gram_give(context, data->first);
    gram_give(context, data->member);
    gram_give(context, data->c_of);
    gram_give(context, data->pairs);
    gram_give(context, data->scale);
    gram_give(context, data->tube);
    gram_give(context, data->duals);
    memset(data, 0, sizeof *data);
}
