/* Mercer expansions in closed form, on the line: a table of kernels and measures. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/mercer.h>
#include <gram/text.h>

#include "kernel/kernel.h"
#include "kernel/spectral/bessel_i.h"

static const double PI = 3.14159265358979323846;

/* ---- measures ---- */

gram_status gram_measure_parse(gram_context *context, const char *text, gram_measure *measure)
{
    static const char *const names[] = {"uniform", "normal"};
    gram_status status = GRAM_OK;
    if (!context || !text || !measure) return GRAM_ERROR_ARGUMENT;
    for (int kind = 0; kind < 2; kind++) {
        const size_t name = strlen(names[kind]);
        const char *at = text + name, *end = text + strlen(text);
        double value[2];
        if (strncmp(text, names[kind], name) != 0 || *at++ != '(') continue;
        for (int i = 0; i < 2; i++) {
            at += strspn(at, " ");
            const size_t used = gram_number_parse(at, (size_t)(end - at), &value[i]);
            at += used;
            at += strspn(at, " ");
            FAIL_IF(used == 0 || *at++ != (i == 0 ? ',' : ')'), context, GRAM_ERROR_SYNTAX,
                    "measure_parse: '%s' is not %s(NUMBER,NUMBER)", text, names[kind]);
        }
        FAIL_IF(*at, context, GRAM_ERROR_SYNTAX, "measure_parse: '%s' goes on after the measure", text);
        FAIL_IF(kind == 0 && !(value[0] < value[1]), context, GRAM_ERROR_ARGUMENT,
                "measure_parse: '%s': the second end is not above the first", text);
        FAIL_IF(kind == 1 && !(value[1] > 0), context, GRAM_ERROR_ARGUMENT,
                "measure_parse: '%s': the variance is not above 0", text);
        FAIL_IF(!isfinite(value[0]) || !isfinite(value[1]), context, GRAM_ERROR_ARGUMENT,
                "measure_parse: '%s': a number is not finite", text);
        *measure = (gram_measure){(gram_measure_kind)kind, value[0], value[1]};
        return GRAM_OK;
    }
    FAIL(context, GRAM_ERROR_SYNTAX, "measure_parse: '%s' is neither uniform(A,B) nor normal(MEAN,VARIANCE)", text);
done:
    return status;
}

/* ---- expansions ---- */

/* values: count of them; functions: count values at x. The leaf's numbers are in par, ell beside them. */
typedef struct expansion {
    const char *kernel;
    gram_measure_kind measure;
    /* Is the measure one that it is known for? */
    int (*suits)(const double *par, const gram_measure *measure);
    gram_status (*values)(gram_context *context, const double *par, const gram_measure *measure, int64_t count,
                          double *values);
    void (*functions)(const double *par, const gram_measure *measure, int64_t count, double x, double *out);
} expansion;

static int suits_min(const double *par, const gram_measure *measure)
{
    return measure->a == par[0];
}

static gram_status min_values(gram_context *context, const double *par, const gram_measure *measure, int64_t count,
                              double *values)
{
    (void)context, (void)par;
    for (int64_t j = 0; j < count; j++) {
        const double w = ((double)j + 0.5) * PI;
        values[j] = (measure->b - measure->a) / (w * w);
    }
    return GRAM_OK;
}

static void min_functions(const double *par, const gram_measure *measure, int64_t count, double x, double *out)
{
    const double u = (x - measure->a) / (measure->b - measure->a);
    (void)par;
    for (int64_t j = 0; j < count; j++) out[j] = sqrt(2) * sin(((double)j + 0.5) * PI * u);
}

/* a, b, c and A of the header; 1 - b/A = (a + c)/A without cancellation is not needed: b/A is what is powered. */
typedef struct gaussian_numbers {
    double a, b, c, all;
} gaussian_numbers;

static gaussian_numbers find_numbers(const double *par, const gram_measure *measure)
{
    gaussian_numbers g = {.a = 1 / (4 * measure->b), .b = 1 / (2 * par[0] * par[0])};
    g.c = sqrt(g.a * g.a + 2 * g.a * g.b);
    g.all = g.a + g.b + g.c;
    return g;
}

static gram_status rbf_values(gram_context *context, const double *par, const gram_measure *measure, int64_t count,
                              double *values)
{
    const gaussian_numbers g = find_numbers(par, measure);
    (void)context;
    for (int64_t j = 0; j < count; j++) values[j] = sqrt(2 * g.a / g.all) * pow(g.b / g.all, (double)j);
    return GRAM_OK;
}

/* phi_j = (c/a)^(1/4) exp(-(c - a) t^2) h_j, h_j = H_j(y)/sqrt(2^j j!), y = sqrt(2 c) t:
 * h_(j+1) = sqrt(2/(j + 1)) y h_j - sqrt(j/(j + 1)) h_(j-1). c - a = 2 a b/(c + a). */
static void rbf_functions(const double *par, const gram_measure *measure, int64_t count, double x, double *out)
{
    const gaussian_numbers g = find_numbers(par, measure);
    const double t = x - measure->a, y = sqrt(2 * g.c) * t;
    double before = 0;
    out[0] = pow(g.c / g.a, 0.25) * exp(-2 * g.a * g.b / (g.c + g.a) * t * t);
    for (int64_t j = 0; j + 1 < count; j++) {
        const double next = (double)j + 1;
        out[j + 1] = sqrt(2 / next) * y * out[j] - sqrt((double)j / next) * before;
        before = out[j];
    }
}

/* Whole periods, to rounding. */
static int suits_periodic(const double *par, const gram_measure *measure)
{
    const double periods = (measure->b - measure->a) / par[0];
    return periods > 0.5 && fabs(periods - round(periods)) < 1e-12 * periods;
}

static gram_status periodic_values(gram_context *context, const double *par, const gram_measure *measure, int64_t count,
                                   double *values)
{
    gram_status status = GRAM_OK;
    double *orders = NULL;
    (void)measure;
    TRY(gram_take(context, "mercer_analytic", count / 2 + 1, sizeof *orders, (void **)&orders));
    gram_bessel_i_scaled(count / 2 + 1, 1 / (par[1] * par[1]), orders);
    for (int64_t j = 0; j < count; j++) values[j] = orders[(j + 1) / 2];
done:
    gram_give(context, orders);
    return status;
}

static void periodic_functions(const double *par, const gram_measure *measure, int64_t count, double x, double *out)
{
    const double turn = 2 * PI * fmod(x, par[0]) / par[0];
    (void)measure;
    out[0] = 1;
    for (int64_t j = 1; j < count; j++) {
        const double angle = (double)((j + 1) / 2) * turn;
        out[j] = sqrt(2) * (j % 2 == 1 ? cos(angle) : sin(angle));
    }
}

static const expansion EXPANSIONS[] = {
    {"min", GRAM_MEASURE_UNIFORM, suits_min, min_values, min_functions},
    {"rbf", GRAM_MEASURE_NORMAL, NULL, rbf_values, rbf_functions},
    {"periodic", GRAM_MEASURE_UNIFORM, suits_periodic, periodic_values, periodic_functions},
};
enum { EXPANSION_COUNT = sizeof EXPANSIONS / sizeof *EXPANSIONS };

/* The only leaf beside constants, and their product; NULL if there is no such leaf. */
static const gram_kernel *find_leaf(const gram_kernel *kernel, double *factor)
{
    const gram_kernel *leaf = kernel->node == GRAM_NODE_LEAF ? kernel : NULL;
    *factor = 1;
    for (int i = 0; kernel->node == GRAM_NODE_PRODUCT && i < kernel->child_count; i++) {
        const gram_kernel *child = kernel->children[i];
        if (child->node != GRAM_NODE_LEAF) return NULL;
        if (child->type == &gram_kernel_const)
            *factor *= child->arguments[0].values[0];
        else if (leaf)
            return NULL;
        else
            leaf = child;
    }
    return leaf;
}

static const expansion *find_expansion(const gram_kernel *leaf, const gram_measure *measure, double *par)
{
    const gram_argument *ell = leaf ? gram_kernel_argument(leaf, GRAM_ROLE_LENGTH) : NULL;
    if (!leaf || gram_kernel_argument(leaf, GRAM_ROLE_COVARIANCE) || (ell && ell->count > 1)) return NULL;
    gram_kernel_par(leaf, par);
    if (ell) par[0] = ell->values[0];
    for (int i = 0; i < EXPANSION_COUNT; i++)
        if (strcmp(leaf->type->name, EXPANSIONS[i].kernel) == 0 && measure->kind == EXPANSIONS[i].measure &&
            (!EXPANSIONS[i].suits || EXPANSIONS[i].suits(par, measure)))
            return &EXPANSIONS[i];
    return NULL;
}

gram_status gram_mercer_analytic(gram_context *context, const gram_kernel *kernel, const gram_measure *measure,
                                 int64_t count, double *values, int64_t n, const double *x, double *out)
{
    gram_status status = GRAM_OK;
    double par[GRAM_MAX_SPECS], factor;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!kernel || !measure, context, GRAM_ERROR_ARGUMENT, "mercer_analytic: %s is NULL",
            !kernel ? "kernel" : "measure");
    FAIL_IF(count < 1 || n < 0 || (out && !x), context, GRAM_ERROR_ARGUMENT,
            "mercer_analytic: count = %" PRId64 ", n = %" PRId64 " or x = NULL cannot be", count, n);
    TRY(gram_kernel_check_set(context, kernel));
    const gram_kernel *leaf = find_leaf(kernel, &factor);
    const expansion *known = find_expansion(leaf, measure, par);
    FAIL_IF(!known, context, GRAM_ERROR_UNSUPPORTED,
            "mercer_analytic: no expansion is known of this kernel under this measure; known are min(o) under "
            "uniform(o,B), rbf under normal(M,V), periodic under uniform(A,B) over whole periods, and these times "
            "constants");
    if (values) TRY(known->values(context, par, measure, count, values));
    for (int64_t j = 0; j < count && values; j++) values[j] *= factor;
    for (int64_t i = 0; i < n && out; i++) known->functions(par, measure, count, x[i], out + i * count);
done:
    return status;
}
