/* HSIC and its test.
 *
 * The p-value of the gamma distribution: under shuffles of y's rows the mean and the variance of trace(C P D P') are known
 * (hsic_moments.c).
 * The statistic is nearly a weighted sum of chi-squared variables, which the gamma distribution of these two moments imitates. */
#include "test/independence/hsic.h"

#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "base/distribution_tails.h"
#include "base/sized_struct.h"
#include "points/functionals.h"
#include "points/points.h"

void gram_hsic_options_init(gram_hsic_options *options, size_t size)
{
    const gram_hsic_options defaults = {.level = 0.05, .permutations = 999};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

void gram_hsic_result_init(gram_hsic_result *result, size_t size)
{
    const gram_hsic_result empty = {.size = 0};
    gram_sized_init(result, size, &empty, sizeof empty);
}

void gram_hsic_result_clear(gram_hsic_result *result)
{
    if (!result || !GRAM_SIZED_HAS(result, kernels)) return;
    for (int v = 0; v < GRAM_HSIC_MAX_VARIABLES; v++) {
        gram_kernel_release(result->kernels[v]);
        result->kernels[v] = NULL;
    }
}

/* ---- two variables ---- */

/* trace(C D) */
static gram_status trace_of_product(gram_context *context, const gram_pairs *c, const gram_pairs *d, double *out)
{
    gram_status status = GRAM_OK;
    double sum;
    TRY(gram_pairs_products(context, c, d, &sum));
    *out = 2 * sum;
    for (int64_t i = 0; i < c->n; i++) *out += c->diagonal[i] * d->diagonal[i];
done:
    return status;
}

gram_status gram_hsic(gram_context *context, const gram_kernel *kernel_x, const gram_points *x,
                      const gram_kernel *kernel_y, const gram_points *y, double *out)
{
    gram_status status = GRAM_OK;
    gram_pairs c = {0}, d = {0};
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(gram_points_must_be_plain(context, "hsic", x));
    TRY(gram_points_must_be_plain(context, "hsic", y));
    FAIL_IF(!kernel_x || !kernel_y, context, GRAM_ERROR_ARGUMENT, "hsic: kernel_%s is NULL", !kernel_x ? "x" : "y");
    FAIL_IF(!x || !y || !out, context, GRAM_ERROR_ARGUMENT, "hsic: %s is NULL", !x ? "x" : !y ? "y" : "out");
    FAIL_IF(x->n != y->n, context, GRAM_ERROR_DIMENSION, "hsic: x has %lld rows, y has %lld", (long long)x->n,
            (long long)y->n);
    FAIL_IF(x->n < 2, context, GRAM_ERROR_DIMENSION, "hsic: x has %lld rows, need 2 or more", (long long)x->n);
    TRY(gram_pairs_create(context, kernel_x, x, GRAM_CENTRE_ALL, &c));
    TRY(gram_pairs_create(context, kernel_y, y, GRAM_CENTRE_ALL, &d));
    TRY(trace_of_product(context, &c, &d, out));
    *out /= (double)x->n * (double)x->n;
done:
    gram_pairs_destroy(context, &c);
    gram_pairs_destroy(context, &d);
    return status;
}

/* The statistic, its moments, and the p-value of the gamma distribution; *degenerate: one of the matrices is 0. */
static gram_status moments(gram_context *context, gram_kernel *const *kernels, const gram_points *const *points,
                           gram_hsic_result *result, int *degenerate)
{
    gram_status status = GRAM_OK;
    gram_pairs c = {0}, d = {0};
    const double n = (double)points[0]->n, n2 = n * n;
    double trace;
    TRY(gram_pairs_create(context, kernels[0], points[0], GRAM_CENTRE_ALL, &c));
    TRY(gram_pairs_create(context, kernels[1], points[1], GRAM_CENTRE_ALL, &d));
    const gram_hsic_traces tc = gram_hsic_traces_of(&c), td = gram_hsic_traces_of(&d);
    TRY(trace_of_product(context, &c, &d, &trace));
    *degenerate = tc.none || td.none;
    result->statistic = *degenerate ? 0 : trace / n2;
    result->null_mean = *degenerate ? 0 : tc.t * td.t / (n - 1) / n2;
    result->null_deviation = *degenerate ? 0 : sqrt(fmax(gram_hsic_shuffle_variance(n, &tc, &td), 0)) / n2;
    result->p_value = 1;
    if (result->null_mean > 0 && result->null_deviation > 0) {
        const double variance = result->null_deviation * result->null_deviation, mean = result->null_mean;
        result->p_value = gram_tail_gamma(mean * mean / variance, result->statistic * mean / variance);
    }
done:
    gram_pairs_destroy(context, &c);
    gram_pairs_destroy(context, &d);
    return status;
}

/* ---- the test ---- */

/* Values that differ by less than this share of their scale are equal. */
static const double TIE = 1e-11;

static void count_reached(int64_t count, const double *values, double scale, gram_hsic_result *result)
{
    const double tie = TIE * scale;
    int64_t reached = 1;
    for (int64_t b = 1; b < count; b++) reached += values[b] >= values[0] - tie;
    result->p_value = (double)reached / (double)count;
}

static gram_status permute(gram_context *context, int variables, const gram_points *const *points, int64_t count,
                           gram_hsic_result *result)
{
    gram_status status = GRAM_OK;
    const double n2 = (double)points[0]->n * (double)points[0]->n;
    double *values = NULL, scale = 0;
    TRY(gram_take(context, "hsic_test: permutations", count, sizeof *values, (void **)&values));
    if (variables == 2) {
        TRY(gram_hsic_shuffled(context, result->kernels[0], points[0], result->kernels[1], points[1], count, values,
                               result->rank));
        scale = result->null_mean * n2;
    } else {
        TRY(gram_dhsic_shuffled(context, variables, result->kernels, points, count, values, &scale));
        result->statistic = fabs(values[0]) <= TIE * scale ? 0 : values[0] / n2;
    }
    count_reached(count, values, scale, result);
done:
    gram_give(context, values);
    return status;
}

gram_status gram_hsic_check_numbers(gram_context *context, const char *function, const gram_hsic_options *o)
{
    enum { MOST_PERMUTATIONS = 10000000 };
    gram_status status = GRAM_OK;
    char number[GRAM_NUMBER_SIZE];
    FAIL_IF(!(o->level > 0 && o->level < 1), context, GRAM_ERROR_ARGUMENT, "%s: level = %s, need 0 to 1", function,
            gram_number_format(o->level, number));
    FAIL_IF(o->permutations < 1 || o->permutations > MOST_PERMUTATIONS, context, GRAM_ERROR_ARGUMENT,
            "%s: permutations = %lld, need 1 to %d", function, (long long)o->permutations, (int)MOST_PERMUTATIONS);
done:
    return status;
}

static gram_status check(gram_context *context, int variables, const gram_points *const *points,
                         const gram_hsic_options *o)
{
    enum { LEAST_ROWS = 4 };
    gram_status status = GRAM_OK;
    FAIL_IF(variables < 2 || variables > GRAM_HSIC_MAX_VARIABLES, context, GRAM_ERROR_ARGUMENT,
            "hsic_test: variables = %d, need 2 to %d", variables, (int)GRAM_HSIC_MAX_VARIABLES);
    FAIL_IF(!points, context, GRAM_ERROR_ARGUMENT, "hsic_test: points is NULL");
    for (int v = 0; v < variables; v++) {
        FAIL_IF(!points[v], context, GRAM_ERROR_ARGUMENT, "hsic_test: points[%d] is NULL", v);
        FAIL_IF(points[v]->n != points[0]->n, context, GRAM_ERROR_DIMENSION,
                "hsic_test: points[%d] has %lld rows, points[0] has %lld", v, (long long)points[v]->n,
                (long long)points[0]->n);
    }
    FAIL_IF(points[0]->n < LEAST_ROWS, context, GRAM_ERROR_DIMENSION, "hsic_test: %lld rows, need %d or more",
            (long long)points[0]->n, (int)LEAST_ROWS);
    FAIL_IF(o->method < GRAM_HSIC_AUTO || o->method > GRAM_HSIC_AGGREGATED, context, GRAM_ERROR_ARGUMENT,
            "hsic_test: method = %d is not a valid method", (int)o->method);
    FAIL_IF(o->method >= GRAM_HSIC_GAMMA && variables > 2, context, GRAM_ERROR_ARGUMENT,
            "hsic_test: %s is for two variables, not %d",
            o->method == GRAM_HSIC_GAMMA ? "the gamma approximation" : "the aggregated test", variables);
    TRY(gram_hsic_check_numbers(context, "hsic_test", o));
done:
    return status;
}

/* Kernels without open numbers, into the result. */
static gram_status resolve(gram_context *context, int variables, gram_kernel *const *kernels,
                           const gram_points *const *points, gram_hsic_result *result)
{
    gram_status status = GRAM_OK;
    gram_kernel *rbf = NULL;
    TRY(gram_kernel_parse(context, "rbf", &rbf));
    for (int v = 0; v < variables; v++) {
        const gram_kernel *kernel = kernels && kernels[v] ? kernels[v] : rbf;
        TRY(gram_kernel_resolve(context, kernel, points[v], &result->kernels[v]));
    }
done:
    gram_kernel_release(rbf);
    return status;
}

static int is_given(gram_kernel *const *kernels)
{
    return kernels && (kernels[0] || kernels[1]);
}

static void begin(gram_hsic_result *result, const gram_hsic_options *o, int variables)
{
    gram_hsic_result_init(result, sizeof *result);
    result->used = o->method;
    result->variables = variables;
    result->null_mean = result->null_deviation = result->statistic = NAN;
    result->p_value = 1;
}

/* Fills the caller's struct; kernels that it has no room for are not kept. */
static void tell(gram_hsic_result *made, gram_status status, gram_hsic_result *result)
{
    if (status < 0 || !GRAM_SIZED_HAS(result, kernels)) gram_hsic_result_clear(made);
    gram_sized_write(result, made, sizeof *made);
}

gram_status gram_hsic_test(gram_context *context, int variables, gram_kernel *const *kernels,
                           const gram_points *const *points, const gram_hsic_options *options, gram_hsic_result *result)
{
    gram_status status = GRAM_OK;
    gram_hsic_options o;
    gram_hsic_result made;
    int degenerate = 0;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!result, context, GRAM_ERROR_ARGUMENT, "hsic_test: result is NULL");
    gram_hsic_options_init(&o, sizeof o);
    begin(&made, &o, variables);
    TRY(gram_sized_check(context, "hsic_test", "result", "gram_hsic_result", result, sizeof made));
    TRY(gram_sized_read(context, "hsic_test", "options", "gram_hsic_options", options, &o, sizeof o));
    begin(&made, &o, variables);
    TRY(check(context, variables, points, &o));
    if (made.used == GRAM_HSIC_AUTO)
        made.used = variables == 2 && !is_given(kernels) ? GRAM_HSIC_AGGREGATED : GRAM_HSIC_PERMUTATION;
    made.n = points[0]->n;
    TRY(resolve(context, variables, kernels, points, &made));
    if (variables == 2) TRY(moments(context, made.kernels, points, &made, &degenerate));
    if (made.used == GRAM_HSIC_PERMUTATION && !degenerate)
        TRY(permute(context, variables, points, o.permutations + 1, &made));
    if (made.used == GRAM_HSIC_AGGREGATED && !degenerate)
        TRY(gram_hsic_aggregated(context, kernels, points, o.permutations + 1, &made));
    FAIL_IF(!isfinite(made.statistic), context, GRAM_ERROR_NUMERICAL,
            "hsic_test: the kernels' values on these points are too large to be summed");
    made.reject = made.p_value <= o.level;
done:
    if (result) tell(&made, status, result);
    return status;
}
