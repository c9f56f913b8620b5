/* The losses as problems of the interior-point method (interior_points.h), on a Gram matrix in memory. */
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "base/sized_struct.h"
#include "method/loss/loss.h"
#include "solve/interior_points.h"
#include "solve/likelihood/likelihood.h"
#include "solve/small_system.h"

/* ---- losses and options ---- */

static const char *const NAMES[] = {"squared", "absolute", "huber", "quantile", "insensitive", "callback"};
enum { KINDS = sizeof NAMES / sizeof *NAMES };

const char *gram_loss_name(gram_loss_kind kind)
{
    return (int)kind < 0 || (int)kind >= KINDS ? "none" : NAMES[kind];
}

static double level(const gram_loss_options *o, int64_t quantile)
{
    return o->quantile_count > 0 ? o->quantiles[quantile] : 0.5;
}

/* Of complete options. */
static double value_of(const gram_loss_options *options, int64_t quantile, double r)
{
    const double size = fabs(r), delta = options->delta;
    switch (options->kind) {
    case GRAM_LOSS_SQUARED: return r * r;
    case GRAM_LOSS_ABSOLUTE: return size;
    case GRAM_LOSS_HUBER: return size <= delta ? r * r : 2 * delta * size - delta * delta;
    case GRAM_LOSS_QUANTILE: return r * (level(options, quantile) - (r < 0));
    case GRAM_LOSS_INSENSITIVE: return fmax(0, size - options->epsilon);
    case GRAM_LOSS_CALLBACK: break;
    }
    return NAN;
}

double gram_loss_at(const gram_loss_options *options, int64_t quantile, double y, double f)
{
    double out[3];
    if (options->kind != GRAM_LOSS_CALLBACK) return value_of(options, quantile, y - f);
    options->callback(options->user, y, f, out);
    return out[0];
}

double gram_loss_value(const gram_loss_options *options, int64_t quantile, double r)
{
    gram_loss_options known;
    gram_loss_options_init(&known, sizeof known);
    if (gram_sized_read(NULL, "loss_value", "options", "gram_loss_options", options, &known, sizeof known) < 0)
        return NAN;
    return known.kind == GRAM_LOSS_CALLBACK && !known.callback ? NAN : gram_loss_at(&known, quantile, r, 0);
}

void gram_loss_options_init(gram_loss_options *options, size_t size)
{
    const gram_loss_options defaults = {.kind = GRAM_LOSS_ABSOLUTE,
                                        .lambda = 1e-3,
                                        .intercept = 1,
                                        .delta = 1,
                                        .epsilon = 0.1,
                                        .tolerance = 1e-8,
                                        .iterations = 100};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

static gram_status check_quantiles(gram_context *context, const char *name, const gram_loss_options *o)
{
    gram_status status = GRAM_OK;
    char text[GRAM_NUMBER_SIZE];
    enum { MOST = 100 };
    FAIL_IF(o->quantile_count < 0 || o->quantile_count > MOST || (o->quantile_count > 0 && !o->quantiles), context,
            GRAM_ERROR_ARGUMENT, "%s: quantile_count = %lld, need 0 to %d, with quantiles", name,
            (long long)o->quantile_count, (int)MOST);
    for (int64_t i = 0; i < o->quantile_count; i++)
        FAIL_IF(!(o->quantiles[i] > (i ? o->quantiles[i - 1] : 0) && o->quantiles[i] < 1), context, GRAM_ERROR_ARGUMENT,
                "%s: quantiles[%lld] = %s, need increasing numbers between 0 and 1", name, (long long)i,
                gram_number_format(o->quantiles[i], text));
done:
    return status;
}

gram_status gram_loss_options_read(gram_context *context, const char *name, const char *argument,
                                   const gram_loss_options *options, gram_loss_options *known)
{
    gram_status status = GRAM_OK;
    char text[GRAM_NUMBER_SIZE];
    gram_loss_options_init(known, sizeof *known);
    TRY(gram_sized_read(context, name, argument, "gram_loss_options", options, known, sizeof *known));
    FAIL_IF((int)known->kind < 0 || (int)known->kind >= KINDS, context, GRAM_ERROR_ARGUMENT,
            "%s: kind = %d is not a valid loss", name, (int)known->kind);
    FAIL_IF(!(known->lambda > 0 && isfinite(known->lambda)), context, GRAM_ERROR_ARGUMENT,
            "%s: lambda = %s, need a finite number above 0", name, gram_number_format(known->lambda, text));
    FAIL_IF(!(known->delta > 0 && isfinite(known->delta)), context, GRAM_ERROR_ARGUMENT,
            "%s: delta = %s, need a finite number above 0", name, gram_number_format(known->delta, text));
    FAIL_IF(!(known->epsilon >= 0 && isfinite(known->epsilon)), context, GRAM_ERROR_ARGUMENT,
            "%s: epsilon = %s, need a finite number >= 0", name, gram_number_format(known->epsilon, text));
    FAIL_IF(!(known->norm >= 0 && isfinite(known->norm)), context, GRAM_ERROR_ARGUMENT,
            "%s: norm = %s, need a finite number >= 0", name, gram_number_format(known->norm, text));
    FAIL_IF(!(known->tolerance > 0) || known->iterations < 1, context, GRAM_ERROR_ARGUMENT,
            "%s: tolerance must be above 0 and iterations at least 1", name);
    FAIL_IF(known->kind == GRAM_LOSS_CALLBACK && !known->callback, context, GRAM_ERROR_ARGUMENT,
            "%s: callback is NULL, and the loss is one", name);
    if (known->kind == GRAM_LOSS_QUANTILE) TRY(check_quantiles(context, name, known));
done:
    return status;
}

int64_t gram_loss_outputs(const gram_loss_options *options)
{
    return options->kind == GRAM_LOSS_QUANTILE && options->quantile_count > 0 ? options->quantile_count : 1;
}

double gram_loss_sum(const gram_loss_solution *s)
{
    double sum = 0;
    for (int64_t i = 0; i < s->k->n; i++)
        for (int64_t o = 0; o < s->outputs && gram_loss_is_fitted(s, i); o++)
            sum += (s->weights ? s->weights[i] : 1) * gram_loss_at(s->options, o, s->y[i], s->f[i * s->outputs + o]);
    return sum;
}

/* ---- the interior-point problem ---- */

static int is_joint(const gram_loss_solution *s)
{
    return s->outputs > 1 && s->options->non_crossing;
}

static int64_t variables_of(const gram_loss_solution *s)
{
    if (is_joint(s)) return 2 * s->outputs - 1;
    return s->options->kind == GRAM_LOSS_INSENSITIVE && s->options->epsilon > 0 ? 2 : 1;
}

/* Arrays of the problem: lower, upper, target, z, s, t of n x variables; rho, alpha and f of n (x outputs); A. */
static int64_t numbers_of(const gram_loss_solution *s)
{
    const int64_t n = s->k->n, j = variables_of(s), m = is_joint(s) ? s->outputs : 1;
    return n * (6 * j + 2 * m + 1) + m * j;
}

gram_status gram_loss_solution_take(gram_context *context, gram_loss_solution *s)
{
    gram_status status = GRAM_OK;
    const int64_t numbers = s->k->n * s->outputs;
    s->count = numbers_of(s);
    TRY(gram_take(context, "coefficients", numbers, sizeof(double), (void **)&s->a));
    TRY(gram_take(context, "constants", (s->q > 0 ? s->q : 1) * s->outputs, sizeof(double), (void **)&s->b));
    TRY(gram_take(context, "values of the rows", numbers, sizeof(double), (void **)&s->f));
    TRY(gram_take(context, "interior points", s->count, sizeof(double), (void **)&s->numbers));
done:
    return status;
}

void gram_loss_solution_give(gram_context *context, gram_loss_solution *s)
{
    if (!s->k) return;
    gram_give(context, s->a);
    gram_give(context, s->b);
    gram_give(context, s->f);
    gram_give(context, s->numbers);
    s->a = s->b = s->f = s->numbers = NULL;
}

/* What the method's callback sees. */
typedef struct part {
    const gram_loss_solution *solution;
    int64_t first, outputs; /* which outputs */
} part;

static double primal(const void *argument, const double *f)
{
    const part *at = argument;
    const gram_loss_solution *s = at->solution;
    double sum = 0;
    for (int64_t i = 0; i < s->k->n; i++)
        for (int64_t o = 0; o < at->outputs && gram_loss_is_fitted(s, i); o++)
            sum += (s->weights ? s->weights[i] : 1) *
                   gram_loss_at(s->options, at->first + o, s->y[i], f[i * at->outputs + o]);
    return sum;
}

/* Bounds and target of variable j of a row with weight w and target y; `o` is the first output. */
static void set_variable(const gram_loss_solution *s, int64_t o, int64_t j, double w, double y, double *lower,
                         double *upper, double *target)
{
    const gram_loss_options *known = s->options;
    *lower = -w;
    *upper = w;
    *target = y;
    switch (known->kind) {
    case GRAM_LOSS_SQUARED:
        *lower = -INFINITY;
        *upper = INFINITY;
        break;
    case GRAM_LOSS_HUBER:
        *lower = -2 * known->delta * w;
        *upper = 2 * known->delta * w;
        break;
    case GRAM_LOSS_QUANTILE:
        if (j < s->outputs) {
            *lower = w * (level(known, o + j) - 1);
            *upper = w * level(known, o + j);
        } else {
            *lower = *target = 0;
            *upper = INFINITY;
        }
        break;
    case GRAM_LOSS_INSENSITIVE:
        if (known->epsilon == 0) break;
        *lower = 0;
        *target = (j == 0 ? y : -y) - known->epsilon;
        break;
    default: break;
    }
}

/* The force that a constraint may have. */
static void set_constraint(gram_row_sense sense, double y, double *lower, double *upper, double *target)
{
    *lower = sense == GRAM_ROW_AT_LEAST ? 0 : -INFINITY;
    *upper = sense == GRAM_ROW_AT_MOST ? 0 : INFINITY;
    *target = y;
}

static void set_incidence(const gram_loss_solution *s, int64_t m, int64_t j, double *a)
{
    memset(a, 0, (size_t)(m * j) * sizeof *a);
    for (int64_t o = 0; o < m; o++) {
        a[o * j + o] = 1;
        if (!is_joint(s)) continue;
        if (o > 0) a[o * j + m + o - 1] = 1;
        if (o + 1 < m) a[o * j + m + o] = -1;
    }
    if (!is_joint(s) && j == 2) a[1] = -1;
}

/* The mean of y, and the mean distance from it. */
static void measure(const gram_loss_solution *s, double *mean, double *scale, double *total)
{
    *mean = *scale = *total = 0;
    for (int64_t i = 0; i < s->k->n; i++) {
        const double w = gram_loss_is_fitted(s, i) ? s->weights ? s->weights[i] : 1 : 0;
        *mean += w * s->y[i];
        *total += w;
    }
    *mean /= *total;
    for (int64_t i = 0; i < s->k->n; i++)
        if (gram_loss_is_fitted(s, i)) *scale += (s->weights ? s->weights[i] : 1) * fabs(s->y[i] - *mean) / *total;
    if (!(*scale > 0)) *scale = 1;
}

/* A force that moves f by the targets' spread. */
static double force_of(const gram_loss_solution *s, double scale)
{
    const int64_t n = s->k->n;
    double trace = 0;
    for (int64_t i = 0; i < n; i++) trace += s->k->k[i * n + i];
    if (!s->senses) return 0;
    return trace > 0 ? s->c * scale * (double)n / trace : 1;
}

/* Outputs first ... of one interior-point problem. */
static gram_status solve_part(gram_context *context, gram_loss_solution *s, int64_t first, int64_t m)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->k->n, j = variables_of(s);
    const part at = {s, first, m};
    double mean, scale, total, *lower = s->numbers, *upper = lower + n * j, *target = upper + n * j;
    double *z = target + n * j, *rho = z + 3 * n * j, *alpha = rho + n, *f = alpha + n * m, *incidence = f + n * m;
    measure(s, &mean, &scale, &total);
    for (int64_t i = 0; i < n; i++) {
        const double w = s->weights ? s->weights[i] : 1;
        rho[i] = gram_loss_is_fitted(s, i) ? 1 / (2 * w) : 0;
        if (!gram_loss_is_fitted(s, i)) set_constraint(s->senses[i], s->y[i], &lower[i], &upper[i], &target[i]);
        for (int64_t v = 0; v < j && gram_loss_is_fitted(s, i); v++)
            set_variable(s, first, v, w, s->y[i], &lower[i * j + v], &upper[i * j + v], &target[i * j + v]);
    }
    set_incidence(s, m, j, incidence);
    for (int64_t l = 0; l < s->q && !s->warm; l++)
        for (int64_t o = 0; o < m; o++) s->b[l * s->outputs + first + o] = s->intercept && l == 0 ? mean : 0;
    gram_interior p = {.k = s->k,
                       .outputs = m,
                       .variables = j,
                       .incidence = incidence,
                       .target = target,
                       .lower = lower,
                       .upper = upper,
                       .rho = s->options->kind == GRAM_LOSS_HUBER || s->options->kind == GRAM_LOSS_SQUARED ? rho : NULL,
                       .c = s->c,
                       .q = s->q,
                       .unpenalised = s->unpenalised,
                       .most = s->options->iterations,
                       .tolerance = s->options->tolerance,
                       .scale = scale,
                       .force = force_of(s, scale),
                       .floor = 1e-9 * total * scale,
                       .primal = primal,
                       .argument = &at,
                       .warm = s->warm && s->outputs == 1,
                       .z = z,
                       .s = z + n * j,
                       .t = z + 2 * n * j,
                       .alpha = alpha,
                       .f = f,
                       .b = s->b + first,
                       .ldb = s->outputs};
    TRY(gram_interior_solve(context, &p));
    for (int64_t i = 0; i < n; i++)
        for (int64_t o = 0; o < m; o++) {
            s->a[i * s->outputs + first + o] = alpha[i * m + o] / s->c;
            s->f[i * s->outputs + first + o] = f[i * m + o];
        }
    s->objective += p.objective;
    s->dual += p.dual;
    s->gap = fmax(s->gap, p.gap);
    s->jitter = fmax(s->jitter, p.jitter);
    s->iterations = p.iterations > s->iterations ? p.iterations : s->iterations;
    s->converged &= p.converged;
    if (s->senses && p.violation >= s->violation) {
        s->violation = p.violation;
        s->worst = p.worst;
    }
    s->infeasible |= p.infeasible;
done:
    return status;
}

/* ---- squared: one system ---- */

/* From u = A^-1 [y, T]: b and a. */
static void combine(gram_loss_solution *s, const double *u, double *small)
{
    const int64_t n = s->k->n, q = s->q, columns = 1 + q;
    memset(small, 0, (size_t)(q * q) * sizeof *small);
    memset(s->b, 0, (size_t)q * sizeof *s->b);
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < q; l++) {
            const double t = s->unpenalised[i * q + l];
            s->b[l] += t * u[i * columns];
            for (int64_t k = 0; k <= l; k++) small[l * q + k] += t * u[i * columns + 1 + k];
        }
    (void)gram_small_factor(q, small);
    gram_small_solve(q, small, s->b, 1);
    for (int64_t i = 0; i < n; i++) {
        s->a[i] = u[i * columns];
        for (int64_t l = 0; l < q; l++) s->a[i] -= s->b[l] * u[i * columns + 1 + l];
    }
}

/* (K + c rho) a + T b = y, rho = 1/(2 w). The dual objective is y'beta - sum rho beta^2/2 - beta'K beta/(2c), beta = c
 * a. */
static gram_status solve_squared(gram_context *context, gram_loss_solution *s)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->k->n, q = s->q, columns = 1 + q;
    double *room = NULL, quadratic = 0, linear = 0, rest = 0;
    gram_cholesky *factor = NULL;
    TRY(gram_take(context, "solutions", n * (1 + columns) + q * q, sizeof *room, (void **)&room));
    double *shift = room, *u = room + n;
    for (int64_t i = 0; i < n; i++) {
        shift[i] = s->c / (2 * (s->weights ? s->weights[i] : 1));
        u[i * columns] = s->y[i];
        for (int64_t l = 0; l < q; l++) u[i * columns + 1 + l] = s->unpenalised[i * q + l];
    }
    TRY(gram_loss_matrix_factor(context, s->k, shift, &s->jitter, &factor));
    TRY(gram_cholesky_solve(context, factor, columns, u, columns));
    combine(s, u, u + n * columns);
    TRY(gram_loss_matrix_apply(context, s->k, 1, s->a, s->f));
    for (int64_t i = 0; i < n; i++) {
        quadratic += s->a[i] * s->f[i];
        linear += s->y[i] * s->a[i];
        rest += shift[i] * s->a[i] * s->a[i];
        for (int64_t l = 0; l < q; l++) s->f[i] += s->unpenalised[i * q + l] * s->b[l];
    }
    s->objective = gram_loss_sum(s) + s->c / 2 * quadratic;
    s->dual = s->c * (linear - rest / 2 - quadratic / 2);
    s->gap = s->objective > 0 ? fabs(s->objective - s->dual) / s->objective : 0;
    s->iterations = 1;
done:
    gram_give(context, room);
    gram_cholesky_destroy(factor);
    return status;
}

/* ---- a callback: Newton steps ---- */

/* log p = -loss */
static void evaluate_callback(const void *argument, double y, double f, double out[4])
{
    const gram_loss_options *o = argument;
    double found[3];
    o->callback(o->user, y, f, found);
    out[0] = -found[0];
    out[1] = -found[1];
    out[2] = found[2];
    out[3] = NAN;
}

static gram_status solve_callback(gram_context *context, gram_loss_solution *s)
{
    gram_status status = GRAM_OK;
    const gram_likelihood_rule rule = {.evaluate = evaluate_callback, .argument = s->options};
    gram_mode mode = {.k = s->k,
                      .rule = &rule,
                      .y = s->y,
                      .weights = s->weights,
                      .c = s->c,
                      .q = s->q,
                      .unpenalised = s->unpenalised,
                      .most = s->options->iterations,
                      .tolerance = s->options->tolerance,
                      .may_end = 1,
                      .a = s->a,
                      .b = s->b,
                      .f = s->f};
    memset(s->a, 0, (size_t)s->k->n * sizeof *s->a);
    memset(s->b, 0, (size_t)s->q * sizeof *s->b);
    TRY(gram_mode_find(context, &mode));
    s->objective = mode.objective;
    s->dual = NAN;
    s->gap = mode.optimality;
    s->jitter = mode.jitter;
    s->iterations = mode.iterations;
    s->converged = mode.converged;
done:
    return status;
}

gram_status gram_loss_solve(gram_context *context, gram_loss_solution *s)
{
    gram_status status = GRAM_OK;
    s->objective = s->dual = s->gap = s->jitter = 0;
    s->iterations = 0;
    s->converged = 1;
    s->violation = 0;
    s->infeasible = 0;
    if (s->options->kind == GRAM_LOSS_CALLBACK)
        TRY(solve_callback(context, s));
    else if (s->options->kind == GRAM_LOSS_SQUARED && !s->senses)
        TRY(solve_squared(context, s));
    else if (is_joint(s))
        TRY(solve_part(context, s, 0, s->outputs));
    else
        for (int64_t o = 0; o < s->outputs; o++) TRY(solve_part(context, s, o, 1));
done:
    return status;
}
