/* The terms of a sum kernel, each a function of its own space: f = sum_t f_t, f_t = sum_i a_i k_t(x_i, .), and |f|^2 = sum_t |f_t|^2 because
 * the minimum over all ways to write f as such a sum is attained there (Aronszajn 1950). */
#include <math.h>
#include <stdio.h>

#include "method/method.h"
#include "method/method_report.h"

/* Norms of the terms take a product with each K_t: up to so many centres that nobody waits for it. */
enum { MOST_CENTRES = 5000 };

gram_status gram_predictor_function(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    const gram_function *function = gram_model_function(predictor->model);
    const int terms = predictor->wish.terms;
    char name[32];
    predictor->wish.terms = 0; /* everything else is refused */
    status = gram_predictor_refuse(context, predictor, 1, NULL, NULL);
    predictor->wish.terms = terms;
    if (status < 0) return status;
    TRY(gram_predictor_means(context, predictor));
    if (!terms) goto done;
    if (gram_function_outputs(function) > 1)
        return gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT, "Fit the targets one by one.",
                                   "--terms is for models of one target");
    predictor->columns.term = predictor->columns.count;
    for (int64_t t = 0; t < gram_kernel_term_count(gram_function_kernel(function)); t++) {
        (void)snprintf(name, sizeof name, "term_%lld", (long long)t + 1);
        TRY(gram_predictor_column(context, predictor, name, ""));
    }
done:
    return status;
}

gram_status gram_predictor_function_terms(gram_context *context, const gram_predictor *predictor,
                                          const gram_places *places, double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const gram_function *function = gram_model_function(predictor->model);
    gram_function *term = NULL;
    for (int64_t t = 0; t < gram_kernel_term_count(gram_function_kernel(function)); t++) {
        TRY(gram_function_term(context, function, t, &term));
        TRY(gram_function_evaluate(context, term, places->points, values + predictor->columns.term + t, ldv));
        gram_function_release(term);
        term = NULL;
    }
done:
    gram_function_release(term);
    return status;
}

void gram_keep_term_norms(gram_keeper *keeper, const gram_function *function)
{
    const int64_t count = gram_kernel_term_count(gram_function_kernel(function));
    gram_function *term = NULL;
    double *norms = NULL;
    if (keeper->status < 0 || count < 2 || gram_function_outputs(function) > 1) return;
    if (gram_points_count(gram_function_centres(function)) > MOST_CENTRES) return;
    keeper->status = gram_take(keeper->context, "norms of terms", count, sizeof *norms, (void **)&norms);
    for (int64_t t = 0; t < count && keeper->status >= 0; t++) {
        keeper->status = gram_function_term(keeper->context, function, t, &term);
        if (keeper->status >= 0) keeper->status = gram_function_norm(keeper->context, term, &norms[t]);
        gram_function_release(term);
        term = NULL;
    }
    gram_keep_array(keeper, "term_norms", 1, count, norms);
    gram_give(keeper->context, norms);
}
