/* The directions of a flow and their rates. Where an eigenvalue is rounding alone, the direction's share of a function is 0 to
 * rounding whatever its coefficient; the coefficient itself grows like 2t/n, and is let go before it would drown the others. */
#include <float.h>
#include <math.h>
#include <string.h>

#include <gram/eigen.h>

#include "method/flow/flow.h"
#include "solve/eigen/tall_matrix.h"

static const double FADING = 1e3;
static const double CLEARLY_NEGATIVE = 1e4; /* times what rounding makes of 0 */

/* Is the eigenvalue more than rounding? */
static int is_seen(const gram_flow_spectrum *e, int64_t j)
{
    const double l = e->values[j];
    return (e->parameters == GRAM_FLOW_COEFFICIENTS ? fabs(l) : l) > e->tolerance;
}

gram_status gram_flow_most(gram_context *context, const gram_kernel *kernel, int64_t d, int64_t *most)
{
    gram_properties facts;
    const gram_status status = gram_kernel_properties(context, kernel, d, &facts);
    *most = status >= 0 && facts.rank > 0 ? facts.rank : INT64_MAX;
    return status;
}

gram_status gram_flow_decompose(gram_context *context, const char *name, int64_t n, double *k, const double *root,
                                int64_t most, gram_flow_parameters parameters, gram_flow_spectrum *spectrum)
{
    gram_status status = GRAM_OK;
    gram_flow_spectrum *e = spectrum;
    *e = (gram_flow_spectrum){.n = n, .most = most, .parameters = parameters};
    TRY(gram_take(context, "flow: eigenvalues", n, sizeof(double), (void **)&e->values));
    TRY(gram_take(context, "flow: eigenvectors", n * n, sizeof(double), (void **)&e->vectors));
    for (int64_t i = 0; i < n && root; i++)
        for (int64_t j = 0; j <= i; j++) k[i * n + j] *= root[i] * root[j];
    TRY(gram_eigen_symmetric(context, n, k, n, 0, n, e->values, e->vectors, n));
    const double least = e->values[n - 1];
    e->tolerance = (double)n * DBL_EPSILON * fmax(fabs(e->values[0]), fabs(least));
    FAIL_IF(parameters == GRAM_FLOW_FUNCTION && least < -CLEARLY_NEGATIVE * e->tolerance, context, GRAM_ERROR_NUMERICAL,
            "%s: the Gram matrix has the negative eigenvalue %g: along it the flow would grow for ever", name, least);
    for (int64_t j = 0; j < n; j++) e->rank += is_seen(e, j);
done:
    return status;
}

void gram_flow_spectrum_free(gram_memory *memory, gram_flow_spectrum *spectrum)
{
    gram_memory_give(memory, spectrum->values);
    gram_memory_give(memory, spectrum->vectors);
    *spectrum = (gram_flow_spectrum){0};
}

double gram_flow_rate(const gram_flow_spectrum *spectrum, int64_t j)
{
    const double l = spectrum->values[j];
    return spectrum->parameters == GRAM_FLOW_COEFFICIENTS ? l * l : fmax(0, l);
}

/* (2t/n) exp(-1000 (2t/n) tolerance): the coefficient of a direction of eigenvalue 0, which fades before its eigenvalue could show,
 * and before it is so large that its rounding errors do. */
static double unseen_gain(const gram_flow_spectrum *e, double time, int64_t j)
{
    const double tolerance = e->parameters == GRAM_FLOW_COEFFICIENTS ? e->tolerance * e->tolerance : e->tolerance;
    const double doubled = 2 * (time / (double)e->n), seen = FADING * doubled * tolerance;
    return j < e->most && seen < 700 ? doubled * exp(-seen) : 0;
}

double gram_flow_gain(const gram_flow_spectrum *spectrum, double time, int64_t j)
{
    const double l = spectrum->values[j];
    if (time == 0) return 0;
    if (is_seen(spectrum, j)) return gram_flow_learnt(spectrum, time, j) / l;
    if (spectrum->tolerance == 0 && isinf(time)) return 0; /* K = 0 */
    return unseen_gain(spectrum, time, j) * (spectrum->parameters == GRAM_FLOW_COEFFICIENTS ? l : 1);
}

double gram_flow_learnt(const gram_flow_spectrum *spectrum, double time, int64_t j)
{
    const double l = spectrum->values[j];
    if (time == 0) return 0;
    if (is_seen(spectrum, j)) return -expm1(-2 * (time / (double)spectrum->n) * gram_flow_rate(spectrum, j));
    return l > 0 || spectrum->parameters == GRAM_FLOW_COEFFICIENTS ? l * gram_flow_gain(spectrum, time, j) : 0;
}

gram_status gram_flow_project(gram_context *context, const gram_flow_spectrum *spectrum, int64_t columns,
                              const double *c, double *out)
{
    const int64_t n = spectrum->n;
    memset(out, 0, (size_t)(n * columns) * sizeof *out);
    return gram_tall_add(context, (gram_tall){n, n, n, spectrum->vectors}, 1, c, columns,
                         (gram_tall){n, columns, columns, out});
}

gram_status gram_flow_combine(gram_context *context, const gram_flow_spectrum *spectrum, int64_t columns,
                              const double *b, double *out)
{
    const int64_t n = spectrum->n;
    return gram_tall_inner(context, (gram_tall){n, n, n, spectrum->vectors},
                           (gram_tall){n, columns, columns, (double *)b}, out, columns);
}

void gram_flow_smoother(const gram_flow_spectrum *spectrum, const double *learnt, double *out)
{
    const int64_t n = spectrum->n;
    memset(out, 0, (size_t)n * sizeof *out);
    for (int64_t j = 0; j < n; j++) {
        const double *v = spectrum->vectors + j * n, share = learnt[j];
        if (share == 0) continue;
        for (int64_t i = 0; i < n; i++) out[i] += share * v[i] * v[i];
    }
}
