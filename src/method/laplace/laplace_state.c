/* The mode of a posterior and Laplace's evidence there. */
#include "base/sized_struct.h"
#include "method/laplace/laplace_fit.h"
#include "points/functionals.h"

#include <math.h>
#include <string.h>

#include <gram/text.h>

void gram_laplace_options_init(gram_laplace_options *options, size_t size)
{
    const gram_laplace_options defaults = {.nu = 4, .scale = 1, .correction = 1, .tolerance = 1e-9, .iterations = 200};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

static gram_status check_positive(gram_context *context, const char *name, const char *what, double value)
{
    char text[GRAM_NUMBER_SIZE];
    if (value > 0 && isfinite(value)) return GRAM_OK;
    return gram_fail(context, GRAM_ERROR_ARGUMENT, "%s: %s = %s, need a finite number above 0", name, what,
                     gram_number_format(value, text));
}

gram_status gram_laplace_options_read(gram_context *context, const char *name, const char *argument,
                                      const gram_laplace_options *options, gram_laplace_options *known)
{
    gram_status status = GRAM_OK;
    enum { MOST_CLASSES = 1 << 16 };
    gram_laplace_options_init(known, sizeof *known);
    TRY(gram_sized_read(context, name, argument, "gram_laplace_options", options, known, sizeof *known));
    FAIL_IF(known->likelihood != GRAM_LIKELIHOOD_SOFTMAX && !gram_likelihood_find(known->likelihood), context,
            GRAM_ERROR_ARGUMENT, "%s: likelihood = %d is not a valid likelihood", name, (int)known->likelihood);
    FAIL_IF(known->classes < 0 || known->classes > MOST_CLASSES || known->classes == 1, context, GRAM_ERROR_ARGUMENT,
            "%s: classes = %lld, need 2 to %d, or 0", name, (long long)known->classes, (int)MOST_CLASSES);
    TRY(check_positive(context, name, "nu", known->nu));
    TRY(check_positive(context, name, "scale", known->scale));
    TRY(check_positive(context, name, "tolerance", known->tolerance));
    FAIL_IF(known->iterations < 1, context, GRAM_ERROR_ARGUMENT, "%s: iterations = %lld, need at least 1", name,
            (long long)known->iterations);
done:
    return status;
}

/* ---- the observations ---- */

/* Every class from 0 on; *classes is set if it is 0. */
static gram_status check_classes(gram_context *context, const char *name, const gram_problem *p, int64_t *classes)
{
    gram_status status = GRAM_OK;
    enum { MOST_CLASSES = 1 << 16 };
    char text[GRAM_NUMBER_SIZE];
    double most = 1;
    for (int64_t i = 0; i < p->n; i++) {
        FAIL_IF(!(p->y[i] >= 0 && p->y[i] == floor(p->y[i]) && p->y[i] < (double)(*classes ? *classes : MOST_CLASSES)),
                context, GRAM_ERROR_DATA, "%s: y[%lld] = %s, need a class from 0 to %lld", name, (long long)i,
                gram_number_format(p->y[i], text), (long long)(*classes ? *classes : MOST_CLASSES) - 1);
        most = fmax(most, p->y[i]);
    }
    if (*classes == 0) *classes = (int64_t)most + 1;
done:
    return status;
}

static gram_status check_observations(gram_context *context, const char *name, gram_laplace_state *s)
{
    gram_status status = GRAM_OK;
    char text[GRAM_NUMBER_SIZE];
    const gram_likelihood_type *type = gram_likelihood_find(s->rule.kind);
    const gram_problem *p = &s->problem;
    int64_t classes = s->rule.kind == GRAM_LIKELIHOOD_SOFTMAX ? s->options.classes : 2;
    s->outputs = 1;
    if (s->rule.kind == GRAM_LIKELIHOOD_SOFTMAX || s->rule.kind == GRAM_LIKELIHOOD_LOGISTIC)
        TRY(check_classes(context, name, p, &classes));
    if (s->rule.kind == GRAM_LIKELIHOOD_SOFTMAX) s->outputs = classes;
    TRY(gram_take(context, "observations", p->n, sizeof(double), (void **)&s->y));
    for (int64_t i = 0; i < p->n; i++) {
        s->y[i] = s->rule.kind == GRAM_LIKELIHOOD_LOGISTIC ? 2 * p->y[i] - 1 : p->y[i];
        FAIL_IF(type && !type->allows(s->y[i]), context, GRAM_ERROR_DATA, "%s: y[%lld] = %s, need %s", name,
                (long long)i, gram_number_format(p->y[i], text), type->needs);
    }
done:
    return status;
}

/* ---- the mode ---- */

/* Where to start: 0; for Student-t the mean of the process under Gaussian noise of the same scale, near which the modes
 * that explain most rows are. */
static gram_status start(gram_context *context, gram_laplace_state *s)
{
    gram_status status = GRAM_OK;
    gram_cholesky *factor = NULL;
    double jitter = 0;
    memset(s->a, 0, (size_t)(s->n * s->outputs) * sizeof *s->a);
    if (s->rule.kind != GRAM_LIKELIHOOD_STUDENT) return GRAM_OK;
    for (int64_t i = 0; i < s->n; i++) {
        s->a[i] = s->y[i];
        s->f[i] = s->rule.scale * s->rule.scale;
    }
    TRY(gram_loss_matrix_factor(context, &s->k, s->f, &jitter, &factor));
    TRY(gram_cholesky_solve(context, factor, 1, s->a, 1));
done:
    gram_cholesky_destroy(factor);
    return status;
}

/* minus log p(y | 0): the objective without a function */
static double objective_of_nothing(const gram_laplace_state *s)
{
    double sum = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double one[4];
        gram_likelihood_find(s->rule.kind)->evaluate(&s->rule, s->y[i], 0, one);
        sum -= one[0];
    }
    return sum;
}

/* The mode from where `a` is. Steps only go down, but of several modes the one that is found need not be better than
 * no function at all: then they start there. */
static gram_status find_mode(gram_context *context, gram_laplace_state *s, gram_mode *mode)
{
    gram_status status = GRAM_OK;
    TRY(gram_mode_find(context, mode));
    if (s->rule.kind != GRAM_LIKELIHOOD_STUDENT || mode->objective <= objective_of_nothing(s)) goto done;
    memset(s->a, 0, (size_t)s->n * sizeof *s->a);
    TRY(gram_mode_find(context, mode));
done:
    return status;
}

static gram_status find_one(gram_context *context, const char *name, gram_laplace_state *s)
{
    gram_status status = GRAM_OK;
    int definite;
    gram_mode mode = {.k = &s->k,
                      .rule = &s->rule,
                      .y = s->y,
                      .c = 1,
                      .most = s->options.iterations,
                      .tolerance = s->options.tolerance,
                      .a = s->a,
                      .f = s->f};
    TRY(find_mode(context, s, &mode));
    s->optimality = mode.optimality;
    s->iterations = mode.iterations;
    s->converged = mode.converged;
    for (int64_t i = 0; i < s->n; i++) s->quadratic += s->a[i] * s->f[i];
    s->log_likelihood = s->quadratic / 2 - mode.objective;
    const gram_likelihood_values out = {.curvature = s->curvature};
    gram_likelihood_evaluate(&s->rule, s->n, s->y, NULL, s->f, &out);
    TRY(gram_curvature_make(context, &s->k, s->curvature, &s->h, &definite));
    FAIL_IF(!definite, context, GRAM_ERROR_NUMERICAL,
            "%s: Newton steps ended where the posterior has no peak; a larger scale or nu helps", name);
    s->jitter = fmax(mode.jitter, s->h.jitter);
    s->log_evidence = s->log_likelihood - s->quadratic / 2 - s->h.log_determinant / 2;
done:
    return status;
}

static gram_status find_several(gram_context *context, gram_laplace_state *s)
{
    gram_status status = GRAM_OK;
    double *constants = NULL;
    const int64_t numbers = s->n * s->outputs;
    TRY(gram_take(context, "constants", s->outputs, sizeof(double), (void **)&constants));
    memset(constants, 0, (size_t)s->outputs * sizeof(double));
    gram_softmax_mode mode = {.k = &s->k,
                              .classes = s->outputs,
                              .y = s->y,
                              .c = 1,
                              .most = s->options.iterations,
                              .tolerance = s->options.tolerance,
                              .a = s->a,
                              .b = constants,
                              .f = s->f,
                              .p = s->p};
    TRY(gram_softmax_mode_find(context, &mode));
    s->optimality = mode.optimality;
    s->iterations = mode.iterations;
    s->converged = mode.converged;
    for (int64_t i = 0; i < numbers; i++) s->quadratic += s->a[i] * s->f[i];
    s->log_likelihood = -mode.fit;
    TRY(gram_softmax_curvature_make(context, &s->k, s->outputs, s->p, &s->g));
    s->jitter = fmax(mode.jitter, s->g.jitter);
    s->log_evidence = s->log_likelihood - s->quadratic / 2 - s->g.log_determinant / 2;
done:
    gram_give(context, constants);
    return status;
}

gram_status gram_laplace_state_make(gram_context *context, const char *name, gram_kernel *kernel, const gram_points *x,
                                    const double *y, const gram_laplace_options *options, gram_laplace_state *s)
{
    gram_status status = GRAM_OK;
    memset(s, 0, sizeof *s);
    s->memory = context->memory;
    s->options = *options;
    s->rule = (gram_likelihood_rule){.kind = options->likelihood, .nu = options->nu, .scale = options->scale};
    TRY(gram_points_must_be_plain(context, name, x));
    TRY(gram_problem_make(context, name, kernel, x, 1, y, 1, NULL, &s->problem));
    s->n = s->problem.n;
    TRY(check_observations(context, name, s));
    const int64_t numbers = s->n * s->outputs;
    TRY(gram_take(context, "mode", numbers, sizeof(double), (void **)&s->a));
    TRY(gram_take(context, "mode", numbers, sizeof(double), (void **)&s->f));
    TRY(gram_take(context, "mode", numbers, sizeof(double), (void **)&s->p));
    TRY(gram_take(context, "mode", s->n, sizeof(double), (void **)&s->curvature));
    TRY(gram_loss_matrix_make(context, kernel, s->problem.x, &s->k));
    TRY(start(context, s));
    if (s->outputs == 1)
        TRY(find_one(context, name, s));
    else
        TRY(find_several(context, s));
done:
    return status;
}

void gram_laplace_state_free(gram_context *context, gram_laplace_state *s)
{
    if (!s->memory) return;
    gram_curvature_free(s->memory, &s->h);
    gram_softmax_curvature_free(s->memory, &s->g);
    gram_loss_matrix_free(context, &s->k);
    gram_give(context, s->y);
    gram_give(context, s->a);
    gram_give(context, s->f);
    gram_give(context, s->p);
    gram_give(context, s->curvature);
    gram_problem_free(context, &s->problem);
    memset(s, 0, sizeof *s);
}
