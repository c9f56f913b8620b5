/* Logistic regression on a Gram matrix in memory: two classes by the table of likelihoods, several by softmax. */
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "method/logistic/logistic.h"
#include "solve/likelihood/likelihood.h"
#include "solve/likelihood/likelihood_softmax.h"

/* ---- the problem ---- */

/* label: y, and 0 for the rows of weight 0, which are not looked at. */
static gram_status check_labels(gram_context *context, const char *name, int64_t n, int64_t classes, const double *y,
                                const double *weights, double *label, int64_t *counts)
{
    gram_status status = GRAM_OK;
    char text[GRAM_NUMBER_SIZE];
    memset(counts, 0, (size_t)classes * sizeof *counts);
    for (int64_t i = 0; i < n; i++) {
        const int counted = !weights || weights[i] > 0;
        FAIL_IF(counted && !(y[i] >= 0 && y[i] == floor(y[i]) && y[i] < (double)classes), context, GRAM_ERROR_DATA,
                "%s: y[%lld] = %s, need a class from 0 to %lld", name, (long long)i, gram_number_format(y[i], text),
                (long long)(classes - 1));
        label[i] = counted ? y[i] : 0;
        if (counted) counts[(int64_t)y[i]]++;
    }
done:
    return status;
}

gram_status gram_logistic_problem(gram_context *context, const char *name, gram_kernel *kernel, const gram_points *x,
                                  int64_t classes, const double *y, const double *weights, int64_t least,
                                  gram_problem *problem)
{
    enum { MOST_CLASSES = 1 << 16 };
    gram_status status = GRAM_OK;
    double *label = NULL;
    int64_t *counts = NULL;
    memset(problem, 0, sizeof *problem);
    FAIL_IF(!x, context, GRAM_ERROR_ARGUMENT, "%s: x is NULL", name);
    FAIL_IF(!y, context, GRAM_ERROR_ARGUMENT, "%s: y is NULL", name);
    FAIL_IF(classes < 2 || classes > MOST_CLASSES, context, GRAM_ERROR_ARGUMENT, "%s: classes = %lld, need 2 to %d",
            name, (long long)classes, (int)MOST_CLASSES);
    TRY(gram_take(context, "classes", classes, sizeof *counts, (void **)&counts));
    TRY(gram_take(context, "labels", gram_points_count(x), sizeof(double), (void **)&label));
    TRY(check_labels(context, name, gram_points_count(x), classes, y, weights, label, counts));
    TRY(gram_problem_make(context, name, kernel, x, 1, label, 1, weights, problem));
    for (int64_t c = 0; c < classes; c++)
        FAIL_IF(counts[c] < least, context, GRAM_ERROR_DATA,
                "%s: class %lld has %lld row%s, need at least %lld of each of the %lld classes", name, (long long)c,
                (long long)counts[c], counts[c] == 1 ? "" : "s", (long long)least, (long long)classes);
done:
    gram_give(context, label);
    gram_give(context, counts);
    return status;
}

/* ---- the solution ---- */

gram_status gram_logistic_solution_take(gram_context *context, gram_logistic_solution *s)
{
    gram_status status = GRAM_OK;
    const int64_t numbers = s->k->n * s->outputs;
    TRY(gram_take(context, "coefficients", numbers, sizeof(double), (void **)&s->a));
    TRY(gram_take(context, "constants", (s->q > 0 ? s->q : 1) * s->outputs, sizeof(double), (void **)&s->b));
    TRY(gram_take(context, "values of the rows", numbers, sizeof(double), (void **)&s->f));
    TRY(gram_take(context, "values of the rows", numbers, sizeof(double), (void **)&s->spare));
    for (int64_t i = 0; i < s->k->n && s->outputs == 1; i++) s->spare[i] = s->label[i] > 0 ? 1 : -1;
done:
    return status;
}

void gram_logistic_solution_give(gram_context *context, gram_logistic_solution *s)
{
    if (!s->k) return;
    gram_give(context, s->a);
    gram_give(context, s->b);
    gram_give(context, s->f);
    gram_give(context, s->spare);
    s->a = s->b = s->f = s->spare = NULL;
}

/* log shares, shifted to add up to 0; their difference for one function. Shares are those of one more row spread over
 * the classes, so that a class without a row has one too. */
void gram_logistic_start(gram_logistic_solution *s)
{
    const double few = 1 / (double)s->classes;
    double mean = 0;
    memset(s->a, 0, (size_t)(s->k->n * s->outputs) * sizeof *s->a);
    memset(s->b, 0, (size_t)((s->q > 0 ? s->q : 1) * s->outputs) * sizeof *s->b);
    if (!s->intercept) return;
    for (int64_t c = 0; c < s->classes; c++) {
        double share = few;
        for (int64_t i = 0; i < s->k->n; i++)
            if ((int64_t)s->label[i] == c) share += s->weights ? s->weights[i] : 1;
        if (s->outputs == 1)
            s->b[0] += c ? log(share) : -log(share);
        else
            s->b[c] = log(share);
    }
    for (int64_t c = 0; c < s->outputs; c++) mean += s->b[c] / (double)s->outputs;
    for (int64_t c = 0; c < s->outputs && s->outputs > 1; c++) s->b[c] -= mean;
}

double gram_logistic_quadratic(const gram_logistic_solution *s)
{
    double sum = 0;
    for (int64_t i = 0; i < s->k->n; i++)
        for (int64_t c = 0; c < s->outputs; c++) {
            double f = s->f[i * s->outputs + c];
            for (int64_t l = 0; l < s->q; l++) f -= s->unpenalised[i * s->q + l] * s->b[l * s->outputs + c];
            sum += s->a[i * s->outputs + c] * f;
        }
    return sum;
}

static gram_status solve_binary(gram_context *context, gram_logistic_solution *s)
{
    gram_status status = GRAM_OK;
    const gram_likelihood_rule rule = {.kind = GRAM_LIKELIHOOD_LOGISTIC};
    gram_mode mode = {.k = s->k,
                      .rule = &rule,
                      .y = s->spare,
                      .weights = s->weights,
                      .c = s->c,
                      .q = s->q,
                      .unpenalised = s->unpenalised,
                      .most = s->most,
                      .tolerance = s->tolerance,
                      .may_end = 1,
                      .a = s->a,
                      .b = s->b,
                      .f = s->f};
    TRY(gram_mode_find(context, &mode));
    s->objective = mode.objective;
    s->fit = mode.objective - s->c / 2 * gram_logistic_quadratic(s);
    s->optimality = mode.optimality;
    s->gradient = mode.gradient;
    s->iterations = mode.iterations;
    s->jitter = mode.jitter;
    s->converged = mode.converged;
done:
    return status;
}

static gram_status solve_several(gram_context *context, gram_logistic_solution *s)
{
    gram_status status = GRAM_OK;
    gram_softmax_mode mode = {.k = s->k,
                              .classes = s->outputs,
                              .y = s->label,
                              .weights = s->weights,
                              .c = s->c,
                              .q = s->q,
                              .unpenalised = s->unpenalised,
                              .most = s->most,
                              .tolerance = s->tolerance,
                              .may_end = 1,
                              .a = s->a,
                              .b = s->b,
                              .f = s->f,
                              .p = s->spare};
    TRY(gram_softmax_mode_find(context, &mode));
    s->objective = mode.objective;
    s->fit = mode.fit;
    s->optimality = mode.optimality;
    s->gradient = mode.gradient;
    s->iterations = mode.iterations;
    s->jitter = mode.jitter;
    s->converged = mode.converged;
done:
    return status;
}

gram_status gram_logistic_solve(gram_context *context, gram_logistic_solution *s)
{
    return s->outputs == 1 ? solve_binary(context, s) : solve_several(context, s);
}

/* ---- probabilities ---- */

void gram_logistic_row(int64_t classes, int64_t outputs, const double *f, double *p)
{
    if (outputs > 1) {
        (void)gram_softmax_row(classes, f, p);
        return;
    }
    const double e = exp(-fabs(f[0])), larger = 1 / (1 + e), smaller = e * larger;
    const int second = f[0] >= 0; /* p may be f */
    p[1] = second ? larger : smaller;
    p[0] = second ? smaller : larger;
}

double gram_logistic_loss(int64_t outputs, const double *f, int64_t label)
{
    if (outputs == 1) {
        const double margin = label ? f[0] : -f[0];
        return log1p(exp(-fabs(margin))) - fmin(margin, 0);
    }
    double most = f[0];
    for (int64_t c = 1; c < outputs; c++) most = fmax(most, f[c]);
    double sum = exp(f[0] - most);
    for (int64_t c = 1; c < outputs; c++) sum += exp(f[c] - most);
    return most + log(sum) - f[label];
}
