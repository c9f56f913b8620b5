/* What the norm of a machine says of new data. */
#include <math.h>
#include <string.h>

#include "method/svm/svm_model.h"

/* The squared norm of output o is sum_i a_io (f_o(x_i) - b_o) over the support vectors: f is known at all rows, and pairs of
 * support vectors need not be made again. Not where the kernel tells observations apart, which f at new rows does not see. */
static gram_status find_norms(gram_learning *learning, const gram_svm *svm, const double *values, double *norms)
{
    gram_status status = GRAM_OK;
    const gram_function *function = gram_svm_function(svm);
    const int64_t outputs = gram_function_outputs(function);
    const int64_t count = gram_svm_get_report(svm)->n_support, *rows = gram_svm_support(svm);
    const double *a = gram_function_coefficients(function), *b = gram_function_constant(function);
    gram_properties facts;
    TRY(gram_kernel_properties(learning->context, learning->kernel, learning->data->d, &facts));
    if (facts.continuous != GRAM_YES) return gram_function_norm(learning->context, function, norms);
    for (int64_t o = 0; o < outputs; o++) {
        double sum = 0;
        for (int64_t i = 0; i < count; i++) sum += a[i * outputs + o] * (values[rows[i] * outputs + o] - b[o]);
        norms[o] = sqrt(fmax(0, sum));
    }
done:
    return status;
}

gram_status gram_svm_keep_risk(gram_keeper *keeper, gram_learning *learning, double *values)
{
    gram_status status = GRAM_OK;
    const svm_state *state = learning->own;
    const gram_function *function = gram_svm_function(state->svm);
    const int64_t n = learning->data->n, outputs = gram_function_outputs(function);
    const int classes = learning->task == GRAM_TASK_CLASSIFICATION, priced = state->options.kind == GRAM_SVM_C;
    const char *intercept = gram_given_text(learning, "intercept");
    gram_risk risk = {.lambda = NAN,
                      .zero_loss = 1,
                      .intercept = !intercept || strcmp(intercept, "no") != 0,
                      .constant = gram_function_constant(function)[0]};
    double *norms = NULL;
    TRY(gram_learning_take(learning, outputs, sizeof *norms, &norms));
    TRY(find_norms(learning, state->svm, values, norms));
    for (int64_t o = 0; o < outputs; o++) risk.norm = hypot(risk.norm, norms[o]);
    gram_keep_number(keeper, "norm", risk.norm);
    if (outputs != 1) return GRAM_OK;
    if (priced && learning->tuning == GRAM_TUNING_NONE) risk.lambda = 1 / (2 * (double)n * state->options.C);
    TRY(gram_risk_measure(learning, &risk));
    for (int64_t i = 0; i < n; i++) values[i] = -values[i];
    if (classes)
        gram_keep_class_risk(keeper, learning, &risk, values);
    else
        (void)gram_keep_complexity(keeper, learning, &risk, NULL);
done:
    return status;
}
