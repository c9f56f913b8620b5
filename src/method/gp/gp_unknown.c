/* Unknown coefficients of a linear differential equation, by likelihood.
 *
 * With the rows parted into equations E, whose functionals have an unknown k in them, and the others V (values, boundary conditions),
 * what is maximised is the density of what was observed, given that the equations hold:
 *
 *     log p(y_V | y_E, k) = log p(y_V, y_E | k) - log p(y_E | k).
 *
 * The joint density alone (Raissi, Perdikaris and Karniadakis 2017 take it) would not do for equations that hold exactly: multiplied
 * by a number an equation is the same, but the density of its rows is another, and a k that multiplies the largest term would be
 * drawn to 0. The difference does not change.
 *
 * Variables are the unknowns, on the log scale if their range is above 0, and the logarithms of the kernel's amplitude and, with --tune
 * ml, of its other free numbers: the amplitude is what error bars are in proportion to. A coarse grid over the unknowns comes first,
 * because far from its maximum the likelihood may have others; then quasi-Newton steps with gradients by differences. The error
 * bar is the inverse of the second derivatives there, all variables taken together (Laplace's approximation).
 *
 * Rows without noise may determine each other to all digits. Then each row gets a noise of a share of its own prior variance, the least
 * of a few with which rounding errors are in nobody's way, for the search alone; it is reported. */
#include "method/gp/gp_unknown.h"

#include <math.h>
#include <string.h>

#include <gram/matrix.h>

#include "base/lapack.h"
#include "method/gp/gp_system.h"
#include "points/points.h"
#include "solve/minimise.h"

enum { MOST_PARAMETERS = 60, MOST_VARIABLES = GRAM_MOST_UNKNOWNS + MOST_PARAMETERS };

static const double NUGGETS[] = {0, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6};
enum { NUGGET_COUNT = sizeof NUGGETS / sizeof *NUGGETS };

typedef struct search {
    gram_learning *learning;
    gp_state *state;
    gram_unknowns *unknowns;
    gram_kernel *kernel; /* with a value for every number, where the search starts */
    int amplitude;       /* the variable that is it; -1: it is held */
    int parameters;      /* of the kernel that are searched, */
    int64_t index[MOST_PARAMETERS];
    double *values, *own; /* all numbers of the kernel: of the moment, and as they start */
    int variables;
    double lower[MOST_VARIABLES], upper[MOST_VARIABLES];
    int64_t equations, *rows; /* E */
    double *y, *noise;        /* of E: targets; and noises of all rows, then of E */
    double nugget;
    int64_t evaluations;
} search;

/* ---- variables ---- */

/* An unknown is t in 0 .. 1 along its range. */
static double unknown_at(const gram_unknown *u, double t)
{
    if (t <= 0 || u->low == u->high) return u->low;
    if (t >= 1) return u->high;
    return u->low > 0 ? u->low * exp(t * log(u->high / u->low)) : u->low + t * (u->high - u->low);
}

/* What a step of t is in the unknown's own units. */
static double unknown_slope(const gram_unknown *u)
{
    return u->low > 0 ? u->value * log(u->high / u->low) : u->high - u->low;
}

static void set_unknowns(search *s, const double *v)
{
    for (int i = 0; i < s->unknowns->count; i++) s->unknowns->each[i].value = unknown_at(&s->unknowns->each[i], v[i]);
}

static gram_status make_kernel(search *s, const double *v, gram_kernel **kernel)
{
    const int64_t count = gram_kernel_parameter_count(s->kernel);
    memcpy(s->values, s->own, (size_t)count * sizeof *s->values);
    for (int i = 0; i < s->parameters; i++) s->values[s->index[i]] *= exp(v[s->unknowns->count + i]);
    return gram_kernel_with_values(s->learning->context, s->kernel, s->values, kernel);
}

/* ---- the likelihood ---- */

/* Of all rows, or of the equations alone; -infinity where it has no value. */
static gram_status add_density(search *s, gram_kernel *kernel, const gram_points *x, double sign, double *value)
{
    gram_status status = GRAM_OK;
    const int all = x->n == s->learning->points->n;
    gram_gp_options options = s->state->options;
    double density = 0;
    options.plan = NULL;
    options.solver = GRAM_SOLVER_EXACT; /* estimates would not have a smooth maximum */
    options.noise = 0;
    options.weights = NULL;
    options.row_noise = all ? s->noise : s->noise + s->learning->points->n;
    status = gram_gp_likelihood(s->learning->context, kernel, x, all ? s->state->y : s->y, &options, &density, NULL);
    if (status == GRAM_ERROR_NUMERICAL || (status >= 0 && !isfinite(density))) {
        *value = -INFINITY;
        return GRAM_OK;
    }
    *value += sign * density;
    return status;
}

/* Noises of the rows: what they have, and a share of their variance at the moment. */
static gram_status set_noise(search *s, const gram_kernel *kernel, const gram_points *x)
{
    gram_status status = GRAM_OK;
    const gram_gp_options *o = &s->state->options;
    TRY(gram_matrix_diagonal(s->learning->context, kernel, x, s->noise));
    for (int64_t i = 0; i < x->n; i++) s->noise[i] = s->nugget * s->noise[i] + gram_gp_row_noise(o, i);
    for (int64_t i = 0; i < s->equations; i++) s->noise[x->n + i] = s->noise[s->rows[i]];
done:
    return status;
}

static gram_status evaluate(search *s, const double *v, double *value)
{
    gram_status status = GRAM_OK;
    gram_context *context = s->learning->context;
    const gram_points *now = s->learning->points;
    gram_points *x = NULL, *equations = NULL;
    gram_kernel *kernel = NULL;
    *value = 0;
    set_unknowns(s, v);
    TRY(make_kernel(s, v, &kernel));
    TRY(gram_unknowns_points(context, s->unknowns, now->n, now->d, &x));
    TRY(gram_points_gather(context, x, s->equations, s->rows, &equations));
    TRY(set_noise(s, kernel, x));
    TRY(add_density(s, kernel, x, 1, value));
    if (isfinite(*value)) TRY(add_density(s, kernel, equations, -1, value));
    s->evaluations++;
done:
    gram_points_release(x);
    gram_points_release(equations);
    gram_kernel_release(kernel);
    return status;
}

/* For the minimiser: the negative, with central differences that stay inside the bounds. */
static gram_status objective(void *argument, const double *v, double *value, double *gradient)
{
    static const double step = 1e-4;
    gram_status status = GRAM_OK;
    search *s = argument;
    double moved[MOST_VARIABLES], at[2], f[2];
    memcpy(moved, v, (size_t)s->variables * sizeof *moved);
    for (int i = 0; i < s->variables; i++) {
        at[0] = fmax(v[i] - step, s->lower[i]);
        at[1] = fmin(v[i] + step, s->upper[i]);
        for (int side = 0; side < 2; side++) {
            moved[i] = at[side];
            TRY(evaluate(s, moved, &f[side]));
        }
        moved[i] = v[i];
        gradient[i] = at[1] > at[0] ? -(f[1] - f[0]) / (at[1] - at[0]) : 0;
        if (!isfinite(gradient[i])) gradient[i] = 0;
    }
    TRY(evaluate(s, v, value));
    *value = -*value;
done:
    return status;
}

/* ---- the start ---- */

/* The best point of a grid over the unknowns, each with a few amplitudes: at one that is far too small every k misfits. *whole: each
 * point has a value. */
static gram_status look_around(search *s, double *best, int *whole)
{
    static const int sides[] = {0, 17, 7, 5, 3};
    static const double amplitudes[] = {0, -4, 4, 8}; /* logarithms */
    gram_status status = GRAM_OK;
    const int p = s->unknowns->count, side = sides[p];
    double v[MOST_VARIABLES] = {0}, most = -INFINITY, value;
    int count = s->amplitude < 0 ? 1 : 4;
    for (int i = 0; i < p; i++) count *= side;
    *whole = 1;
    for (int c = 0; c < count && *whole; c++) {
        int rest = c;
        for (int i = 0; i < p; i++, rest /= side) v[i] = s->upper[i] * (rest % side + 0.5) / side;
        if (s->amplitude >= 0) v[s->amplitude] = amplitudes[rest];
        TRY(evaluate(s, v, &value));
        if (!isfinite(value)) *whole = 0;
        if (!(value > most)) continue;
        most = value;
        memcpy(best, v, sizeof v);
    }
done:
    return status;
}

/* Where rows nearly determine each other the likelihood is made of rounding errors: then its values at three near places are not on a
 * smooth curve. */
static gram_status is_smooth(search *s, const double *v, int *smooth)
{
    static const double step = 1e-5, rough = 1e-2;
    gram_status status = GRAM_OK;
    double moved[MOST_VARIABLES], f[3];
    *smooth = 1;
    memcpy(moved, v, sizeof moved);
    for (int i = 0; i < s->variables && *smooth; i++) {
        for (int k = 0; k < 3; k++) {
            moved[i] = v[i] + (k - 1) * step * (s->upper[i] > s->lower[i]);
            TRY(evaluate(s, moved, &f[k]));
        }
        moved[i] = v[i];
        if (!(fabs(f[0] + f[2] - 2 * f[1]) < rough)) *smooth = 0;
    }
done:
    return status;
}

/* ---- the error bars ---- */

/* A step of each variable on which the likelihood changes by about one half. */
static gram_status find_steps(search *s, const double *v, double most, double *steps)
{
    gram_status status = GRAM_OK;
    double moved[MOST_VARIABLES], value;
    memcpy(moved, v, (size_t)s->variables * sizeof *moved);
    for (int i = 0; i < s->variables; i++) {
        double step = 1e-3;
        for (int round = 0; round < 12; round++) {
            const double side = v[i] + step <= s->upper[i] ? step : -step;
            moved[i] = v[i] + side;
            TRY(evaluate(s, moved, &value));
            const double lost = most - value;
            if (lost > 0.1 && lost < 2) break;
            step *= lost >= 2 ? (isfinite(lost) ? fmax(0.7 / sqrt(lost), 0.05) : 0.1) : 3;
            step = fmin(step, 0.5 * (s->upper[i] - s->lower[i]));
        }
        moved[i] = v[i];
        steps[i] = fmin(step, fmin(v[i] - s->lower[i], s->upper[i] - v[i]));
    }
done:
    return status;
}

/* The likelihood at v moved by a of variable i and b of variable j. */
static gram_status value_beside(search *s, const double *v, int i, double a, int j, double b, double *value)
{
    double moved[MOST_VARIABLES];
    memcpy(moved, v, (size_t)s->variables * sizeof *moved);
    moved[i] += a;
    moved[j] += b;
    return evaluate(s, moved, value);
}

static gram_status second_derivatives(search *s, const double *v, double most, const double *steps, double *h)
{
    gram_status status = GRAM_OK;
    const int m = s->variables;
    double f[4];
    for (int i = 0; i < m; i++)
        for (int j = 0; j <= i; j++) {
            const double a = steps[i], b = steps[j];
            if (i == j) {
                TRY(value_beside(s, v, i, a, i, 0, &f[0]));
                TRY(value_beside(s, v, i, -a, i, 0, &f[1]));
                h[i * m + i] = -(f[0] + f[1] - 2 * most) / (a * a);
                continue;
            }
            TRY(value_beside(s, v, i, a, j, b, &f[0]));
            TRY(value_beside(s, v, i, -a, j, -b, &f[1]));
            TRY(value_beside(s, v, i, a, j, -b, &f[2]));
            TRY(value_beside(s, v, i, -a, j, b, &f[3]));
            h[i * m + j] = h[j * m + i] = -(f[0] + f[1] - f[2] - f[3]) / (4 * a * b);
        }
done:
    return status;
}

/* Deviations of the unknowns in their own units. A variable at an end of its range is held there. */
static gram_status find_deviations(search *s, const double *v, gram_gp_found *found)
{
    gram_status status = GRAM_OK;
    const int m = s->variables;
    double steps[MOST_VARIABLES], *h = NULL;
    int info = 0;
    for (int i = 0; i < s->unknowns->count; i++) found->deviation[i] = NAN;
    TRY(find_steps(s, v, found->log_likelihood, steps));
    for (int i = 0; i < s->unknowns->count; i++) found->at_bound |= !(steps[i] > 0);
    for (int i = 0; i < m; i++)
        if (!(steps[i] > 0)) goto done;
    TRY(gram_take(s->learning->context, "unknowns", 2 * m * m, sizeof *h, (void **)&h));
    TRY(second_derivatives(s, v, found->log_likelihood, steps, h));
    double *inverse = h + m * m;
    memset(inverse, 0, (size_t)(m * m) * sizeof *inverse);
    for (int i = 0; i < m; i++) inverse[i * m + i] = 1;
    dpotrf_("U", &m, h, &m, &info, 1);
    if (info != 0) goto done;
    dpotrs_("U", &m, &m, h, &m, inverse, &m, &info, 1);
    set_unknowns(s, v);
    for (int i = 0; i < s->unknowns->count; i++)
        found->deviation[i] = sqrt(inverse[i * m + i]) * unknown_slope(&s->unknowns->each[i]);
done:
    gram_give(s->learning->context, h);
    return status;
}

/* ---- the search ---- */

/* Which rows are equations, and their targets. */
static gram_status list_equations(search *s)
{
    gram_status status = GRAM_OK;
    gram_learning *learning = s->learning;
    const gram_unknowns *u = s->unknowns;
    const int64_t n = learning->points->n;
    int used[GRAM_MOST_UNKNOWNS] = {0};
    TRY(gram_learning_take(learning, n, sizeof *s->rows, &s->rows));
    TRY(gram_learning_take(learning, n, sizeof *s->y, &s->y));
    TRY(gram_learning_take(learning, 2 * n, sizeof *s->noise, &s->noise));
    for (int64_t t = 0; t < u->term_count; t++) {
        const int64_t row = u->terms[t].row;
        if (u->which[t] < 0) continue;
        used[u->which[t]] = 1;
        if (s->equations > 0 && s->rows[s->equations - 1] == row) continue;
        s->y[s->equations] = s->state->y[row];
        s->rows[s->equations++] = row;
    }
    for (int i = 0; i < u->count; i++)
        if (!used[i])
            return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT,
                                      "Name it in --operator, e.g. 'heat=d:t - k*d:x:x'.",
                                      "--unknown: no row has '%s' in its operator", u->each[i].name);
    if (s->equations == n)
        return gram_learning_fail_data(learning, "Values of the solution, at the boundary and inside, tell what it is.",
                                       "all %lld rows are equations with an unknown in them", (long long)n);
done:
    return status;
}

/* The amplitude is searched unless it is held (!), other free numbers with tuning. */
static gram_status list_parameters(search *s)
{
    gram_status status = GRAM_OK;
    gram_context *context = s->learning->context;
    const int64_t count = gram_kernel_parameter_count(s->kernel);
    gram_parameter p;
    TRY(gram_learning_take(s->learning, 2 * count, sizeof *s->own, &s->own));
    s->values = s->own + count;
    for (int64_t i = 0; i < count; i++) {
        TRY(gram_kernel_parameter_get(context, s->kernel, i, &p));
        s->own[i] = p.value;
        const int wanted = strcmp(p.name, "const") == 0 || s->learning->tuning == GRAM_TUNING_ML;
        if (!wanted || p.fixed || !(p.value > 0) || s->parameters == MOST_PARAMETERS) continue;
        const int at = s->unknowns->count + s->parameters;
        if (s->amplitude < 0 && strcmp(p.name, "const") == 0) s->amplitude = at;
        s->index[s->parameters++] = i;
        s->lower[at] = p.lower > 0 ? fmax(log(p.lower / p.value), -14) : -14; /* a million */
        s->upper[at] = p.upper < INFINITY ? fmin(log(p.upper / p.value), 14) : 14;
    }
    for (int i = 0; i < s->unknowns->count; i++)
        s->upper[i] = s->unknowns->each[i].low < s->unknowns->each[i].high; /* one that is known stays */
    s->variables = s->unknowns->count + s->parameters;
done:
    return status;
}

static gram_status make_start_kernel(search *s)
{
    gram_status status = GRAM_OK;
    gram_learning *learning = s->learning;
    gram_kernel *start = NULL, *amplified = NULL;
    const double variance = s->state->deviation * s->state->deviation;
    int64_t amplitudes = 0;
    TRY(gram_learning_set_amplitudes(learning->context, learning->written, variance, &amplitudes, &start));
    if (amplitudes == 0) TRY(gram_gp_add_amplitude(learning, start, variance, 0, &amplified));
    TRY(gram_kernel_resolve(learning->context, amplified ? amplified : start, learning->points, &s->kernel));
done:
    gram_kernel_release(start);
    gram_kernel_release(amplified);
    return status;
}

static gram_status minimise(search *s, double *v, gram_gp_found *found)
{
    gram_status status = GRAM_OK;
    double *inverse = NULL;
    int known = 0;
    gram_minimise_report report = {0};
    const gram_minimise_problem problem = {.n = s->variables,
                                           .lower = s->lower,
                                           .upper = s->upper,
                                           .evaluations = 100,
                                           .tolerance = 1e-5,
                                           .promise = 1e-6,
                                           .first_step = 0.05,
                                           .longest_step = 1,
                                           .evaluate = objective,
                                           .argument = s};
    TRY(gram_learning_take(s->learning, s->variables * s->variables, sizeof *inverse, &inverse));
    TRY(gram_minimise(s->learning->context, &problem, v, inverse, &known, &report));
    found->log_likelihood = -report.value;
done:
    return status;
}

/* The rows at the values that were found, and the kernel. */
static gram_status settle(search *s, const double *v)
{
    gram_status status = GRAM_OK;
    gram_learning *learning = s->learning;
    gram_points *x = NULL;
    gram_kernel *kernel = NULL;
    set_unknowns(s, v);
    TRY(gram_unknowns_points(learning->context, s->unknowns, learning->points->n, learning->points->d, &x));
    TRY(make_kernel(s, v, &kernel));
    gram_points_release(learning->points);
    gram_points_release(learning->functionals);
    learning->functionals = gram_points_retain(x);
    learning->points = gram_points_retain(x);
    gram_kernel_release(learning->written);
    learning->written = gram_kernel_retain(kernel);
done:
    gram_points_release(x);
    gram_kernel_release(kernel);
    return status;
}

/* With one nugget, from the grid to the error bars. *whole: rounding errors were in nobody's way. */
static gram_status search_with(search *s, double nugget, double *v, gram_gp_found *found, int *whole)
{
    gram_status status = GRAM_OK;
    *found = (gram_gp_found){.nugget = nugget};
    s->nugget = nugget;
    TRY(look_around(s, v, whole));
    if (*whole) TRY(is_smooth(s, v, whole));
    if (!*whole) goto done;
    TRY(minimise(s, v, found));
    TRY(is_smooth(s, v, whole));
    if (*whole) TRY(find_deviations(s, v, found));
    for (int i = 0; i < s->unknowns->count; i++)
        if (s->upper[i] > 0 && !isfinite(found->deviation[i]) && !found->at_bound) *whole = 0;
done:
    return status;
}

gram_status gram_gp_find_unknowns(gram_learning *learning, gram_gp_found *found)
{
    gram_status status = GRAM_OK;
    double v[MOST_VARIABLES] = {0};
    int whole = 0;
    search s = {.learning = learning, .state = learning->own, .unknowns = &learning->unknowns, .amplitude = -1};
    TRY(list_equations(&s));
    TRY(make_start_kernel(&s));
    TRY(list_parameters(&s));
    for (int k = 0; k < NUGGET_COUNT && !whole; k++) TRY(search_with(&s, NUGGETS[k], v, found, &whole));
    if (!whole)
        status = gram_learning_fail(learning, GRAM_ERROR_NUMERICAL,
                                    "Give --noise S above 0, fewer rows, or a kernel that is less smooth.",
                                    "the likelihood of --unknown is lost to rounding, or has no maximum");
    if (status >= 0) TRY(settle(&s, v));
    found->evaluations = s.evaluations;
done:
    gram_kernel_release(s.kernel);
    return status;
}
