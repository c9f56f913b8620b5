/* The log marginal likelihood and its gradient without a factor.
 *
 * Every derivative is sum_ij W_ij dA_ij with W = (a a' - A^-1)/2. For z ~ N(0, M), E[A^-1 z (M^-1 z)'] = A^-1, so that A^-1 is
 * replaced by the mean over the probes of A^-1 z (M^-1 z)', each times n/(z'M^-1 z), which takes the noise of the length out.
 * W is then a product of two thin arrays, and the engine contracts it with all parameters in one pass over the pairs. With
 * a flat prior on the mean's parameters P takes the place of A^-1: + g g'/2, g = H L_small^-T.
 *
 * Where M is A to rounding, tr(A^-1 dA) = tr(M^-1 dA) + tr((A^-1 - M^-1) dA): the first is made of the columns of M^-1, some at
 * a time; only the second, with A^-1 z - M^-1 z in place of A^-1 z, is left to the probes.
 *
 * Standard errors: the probes in GROUPS groups, a contraction of each; the spread of the groups' means. */
#include <math.h>
#include <string.h>

#include <gram/matrix.h>

#include "method/gp/cg/gp_cg_system.h"

enum { GROUPS = 4, UNIT_COLUMNS = 192 };

typedef struct contraction {
    gram_kernel *kernel;
    const gram_gp_cg_system *system;
    int64_t parameters, fixed; /* fixed: columns of a and, with a flat mean, of g */
    int64_t rank;              /* fixed + probes: columns of both arrays */
    double *left, *right;      /* n x rank */
} contraction;

static void fill(const contraction *c)
{
    const gram_gp_cg_system *s = c->system;
    const gram_gp_system *base = &s->base;
    const int64_t q = c->fixed - 1;
    for (int64_t i = 0; i < base->n; i++) {
        double *left = c->left + i * c->rank, *right = c->right + i * c->rank;
        left[0] = base->a[i];
        for (int64_t j = 0; j < q; j++) left[1 + j] = base->h[i * q + j];
        if (q > 0) gram_gp_small_solve(base, left + 1);
        for (int64_t j = 0; j < c->fixed; j++) right[j] = 0.5 * left[j];
        for (int64_t j = 0; j < s->probes; j++) {
            left[c->fixed + j] = s->weighted[i * s->probes + j];
            right[c->fixed + j] = -0.5 * s->solved[i * s->probes + j] / (double)s->probes;
        }
    }
}

/* The columns [first, first + count): derivatives by the kernel's parameters, and by the noise. */
static gram_status contract(gram_context *context, const contraction *c, int64_t first, int64_t count, double *out)
{
    gram_status status = GRAM_OK;
    const int64_t n = c->system->base.n;
    const gram_weights weights = {
        .rank = count, .a = c->left + first, .lda = c->rank, .b = c->right + first, .ldb = c->rank};
    TRY(gram_matrix_parameter_gradient(context, c->kernel, c->system->x, NULL, &weights, out));
    out[c->parameters] = 0;
    for (int64_t i = 0; i < n; i++) {
        double weight = 0;
        for (int64_t j = first; j < first + count; j++) weight += c->left[i * c->rank + j] * c->right[i * c->rank + j];
        out[c->parameters] += gram_gp_noise_share(&c->system->base.options, i) * weight;
    }
done:
    return status;
}

/* Group by group: their sum to the gradient, their spread to the error. */
static gram_status contract_groups(gram_context *context, const contraction *c, double *gradient, double *error)
{
    gram_status status = GRAM_OK;
    const int64_t probes = c->system->probes, count = c->parameters + 1, groups = probes < GROUPS ? probes : GROUPS;
    double *parts = NULL;
    TRY(gram_take(context, "gp_likelihood: groups", groups * count, sizeof(double), (void **)&parts));
    for (int64_t g = 0; g < groups; g++) {
        const int64_t first = g * probes / groups, end = (g + 1) * probes / groups;
        double *part = parts + g * count;
        TRY(contract(context, c, c->fixed + first, end - first, part));
        for (int64_t p = 0; p < count; p++) {
            gradient[p] += part[p];
            part[p] *= (double)probes / (double)(end - first); /* an estimate of the whole by this group */
        }
    }
    for (int64_t p = 0; p < count; p++) {
        double mean = 0, spread = 0;
        for (int64_t g = 0; g < groups; g++) mean += parts[g * count + p] / (double)groups;
        for (int64_t g = 0; g < groups; g++) spread += (parts[g * count + p] - mean) * (parts[g * count + p] - mean);
        error[p] = sqrt(spread / (double)(groups - 1) / (double)groups);
    }
done:
    gram_give(context, parts);
    return status;
}

/* -tr(M^-1 dA)/2: columns [first, ...) of M^-1 against those of the identity, all of them in turn. */
static gram_status add_trace(gram_context *context, const contraction *c, double *gradient)
{
    gram_status status = GRAM_OK;
    const gram_gp_cg_system *s = c->system;
    const int64_t n = s->base.n, most = n < UNIT_COLUMNS ? n : UNIT_COLUMNS, size = 2 * n * most;
    contraction units = {.kernel = c->kernel, .system = s, .parameters = c->parameters};
    double *part = NULL;
    TRY(gram_take(context, "gp_likelihood: trace", c->parameters + 1, sizeof(double), (void **)&part));
    TRY(gram_take(context, "gp_likelihood: trace", size, sizeof(double), (void **)&units.left));
    units.right = units.left + size / 2;
    for (int64_t first = 0; first < n; first += most) {
        units.rank = n - first < most ? n - first : most;
        memset(units.left, 0, (size_t)size * sizeof(double));
        for (int64_t j = 0; j < units.rank; j++) {
            units.left[(first + j) * units.rank + j] = 1;
            units.right[(first + j) * units.rank + j] = -0.5;
        }
        TRY(s->m.kind->solve(s->m.data, context, units.rank, units.left, units.rank));
        TRY(contract(context, &units, 0, units.rank, part));
        for (int64_t p = 0; p <= c->parameters; p++) gradient[p] += part[p];
    }
done:
    gram_give(context, units.left);
    gram_give(context, part);
    return status;
}

static gram_status differentiate(gram_context *context, gram_kernel *kernel, const gram_gp_cg_system *s,
                                 double *gradient, double *error)
{
    gram_status status = GRAM_OK;
    contraction c = {.kernel = kernel, .system = s, .parameters = gram_kernel_parameter_count(kernel)};
    c.fixed = 1 + (s->base.options.flat ? s->base.q : 0);
    c.rank = c.fixed + s->probes;
    const int64_t size = 2 * s->base.n * c.rank;
    TRY(gram_take(context, "gp_likelihood: weights", size, sizeof(double), (void **)&c.left));
    c.right = c.left + size / 2;
    fill(&c);
    TRY(contract(context, &c, 0, error ? c.fixed : c.rank, gradient));
    if (error) TRY(contract_groups(context, &c, gradient, error));
    if (s->m.kind->whole) TRY(add_trace(context, &c, gradient));
done:
    gram_give(context, c.left);
    return status;
}

gram_status gram_gp_cg_likelihood(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                  const gram_gp_options *options, gram_gp_cg_value *value, double *gradient,
                                  double *gradient_error)
{
    gram_status status = GRAM_OK;
    gram_gp_cg_system system = {0};
    if (!context || !value) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(gradient_error && !gradient, context, GRAM_ERROR_ARGUMENT, "gp_likelihood: standard errors of no gradient");
    TRY(gram_gp_cg_system_make(context, "gp_likelihood", kernel, x, y, options, &system));
    FAIL_IF(system.probes == 0, context, GRAM_ERROR_ARGUMENT, "gp_likelihood: probes = 0, need 2 or more");
    system.tolerance = system.options.training_tolerance;
    TRY(gram_gp_cg_system_solve(context, &system, gradient != NULL));
    *value = system.value;
    if (gradient) TRY(differentiate(context, kernel, &system, gradient, gradient_error));
    if (system.not_converged) status = GRAM_NOT_CONVERGED;
done:
    gram_gp_cg_system_free(context->memory, &system);
    return status;
}
