/* Where the search for the parameters of a Gaussian process starts, and how far it may go.
 *
 * Amplitudes: a constant factor of a summand of the kernel has the units of y squared. An open one starts with its share of
 * the variance of y, over the mean diagonal of what it multiplies, so that linear kernels of large inputs begin at a
 * sensible size, too.
 *
 * Periods: a likelihood has a narrow peak at each period of the data and little slope towards it. For points on the line
 * an open period starts at the highest peak of the periodogram: the least-squares fit of one wave to y less a parabola,
 * over frequencies of two waves and more (longer ones are trends) up to half the number of points. */
#include <math.h>
#include <string.h>

#include <gram/matrix.h>

#include "kernel/kernel.h"
#include "method/gp/tune/gp_tune.h"

enum { MOST_FREQUENCIES = 4000, PER_WAVE = 4, LEAST_FOR_PERIODS = 8 };

static const double LEAST_AMPLITUDE = 1e-6, MOST_AMPLITUDE = 1e6, LEAST_NOISE = 1e-10, MOST_NOISE = 10,
                    FIRST_NOISE = 1e-2; /* of the variance of y */

/* ---- amplitudes ---- */

typedef struct amplitudes {
    gram_tuning *tuning;
    double *units, *diagonal;
    int64_t count;
} amplitudes;

static int is_constant(const gram_kernel *kernel)
{
    return kernel->node == GRAM_NODE_LEAF && kernel->type == &gram_kernel_const;
}

/* Mean of k(x, x) over the rows. */
static gram_status mean_diagonal(const amplitudes *a, const gram_kernel *kernel, double *mean)
{
    gram_status status = GRAM_OK;
    const gram_sample *sample = &a->tuning->levels[a->tuning->last].sample;
    *mean = 0;
    TRY(gram_matrix_diagonal(a->tuning->context, kernel, sample->points, a->diagonal));
    for (int64_t i = 0; i < sample->n; i++) *mean += fabs(a->diagonal[i]) / (double)sample->n;
done:
    return status;
}

/* `index`: of the kernel's first parameter; `factor`: what it is multiplied by further out. */
static gram_status measure(amplitudes *a, const gram_kernel *kernel, int64_t index, double factor)
{
    gram_status status = GRAM_OK;
    const gram_kernel *inner = NULL;
    int64_t inner_index = 0, free_constant = -1;
    double mean, value = 1, constants = 1;
    int inner_count = 0;
    if (kernel->node == GRAM_NODE_SUM)
        for (int i = 0; i < kernel->child_count; i++) {
            TRY(measure(a, kernel->children[i], index, factor));
            index += gram_kernel_parameter_count(kernel->children[i]);
        }
    for (int i = 0; i < kernel->child_count && kernel->node == GRAM_NODE_PRODUCT; i++) {
        const gram_kernel *child = kernel->children[i];
        const int constant = is_constant(child);
        if (constant) constants *= child->arguments[0].values[0];
        if (constant && free_constant < 0 && !child->arguments[0].fixed[0]) {
            free_constant = index;
            value = child->arguments[0].values[0];
        }
        if (!constant) {
            inner = child;
            inner_index = index;
            inner_count++;
        }
        index += gram_kernel_parameter_count(child);
    }
    if (is_constant(kernel) && !kernel->arguments[0].fixed[0]) {
        free_constant = index;
        value = kernel->arguments[0].values[0];
    }
    if (free_constant >= 0 && value > 0) {
        TRY(mean_diagonal(a, kernel, &mean));
        const double unit = gram_gp_tuning_of(a->tuning)->unit / (factor * (mean / value));
        if (!(unit > 0 && isfinite(unit))) goto done;
        a->units[free_constant] = unit;
        a->count++;
    } else if (inner_count == 1) {
        TRY(measure(a, inner, inner_index, factor * constants));
    }
done:
    return status;
}

gram_status gram_gp_amplitude_units(gram_tuning *t, const gram_kernel *kernel, double *units, int64_t *count)
{
    gram_status status = GRAM_OK;
    const int64_t n = t->levels[t->last].sample.n, parameters = gram_kernel_parameter_count(kernel);
    amplitudes a = {.tuning = t, .units = units};
    for (int64_t i = 0; i < parameters; i++) units[i] = NAN;
    TRY(gram_take(t->context, "gp_tune: diagonal", n, sizeof(double), (void **)&a.diagonal));
    TRY(measure(&a, kernel, 0, 1));
    *count = a.count;
done:
    gram_give(t->context, a.diagonal);
    return status;
}

/* ---- periods ---- */

/* Solves the 3 x 3 normal equations of a parabola by elimination; m is 3 x 4. */
static void solve_three(double m[3][4])
{
    for (int k = 0; k < 3; k++)
        for (int i = k + 1; i < 3; i++) {
            const double factor = m[k][k] > 0 ? m[i][k] / m[k][k] : 0;
            for (int j = k; j < 4; j++) m[i][j] -= factor * m[k][j];
        }
    for (int k = 2; k >= 0; k--) {
        for (int j = k + 1; j < 3; j++) m[k][3] -= m[k][j] * m[j][3];
        m[k][3] = m[k][k] > 1e-12 ? m[k][3] / m[k][k] : 0;
    }
}

/* rest = y less the best parabola in t, which runs from -1 to 1 */
static void take_trend(int64_t n, const double *t, const double *y, double *rest)
{
    double m[3][4] = {{0}};
    for (int64_t i = 0; i < n; i++) {
        const double row[4] = {1, t[i], t[i] * t[i], y[i]};
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 4; b++) m[a][b] += row[a] * row[b] / (double)n;
    }
    solve_three(m);
    for (int64_t i = 0; i < n; i++) rest[i] = y[i] - m[0][3] - t[i] * (m[1][3] + t[i] * m[2][3]);
}

/* By how much the wave a cos + b sin of this frequency lowers the sum of squares. */
static double power_at(int64_t n, const double *t, const double *rest, double frequency)
{
    double cc = 0, ss = 0, cs = 0, yc = 0, ys = 0;
    for (int64_t i = 0; i < n; i++) {
        const double c = cos(frequency * t[i]), s = sin(frequency * t[i]);
        cc += c * c;
        ss += s * s;
        cs += c * s;
        yc += rest[i] * c;
        ys += rest[i] * s;
    }
    const double determinant = cc * ss - cs * cs;
    if (!(determinant > 1e-6 * cc * ss)) return 0;
    return (yc * yc * ss - 2 * yc * ys * cs + ys * ys * cc) / determinant;
}

/* The period of the highest peak; NaN if there is nothing to see. `all` points come after the sample. */
static double strongest_period(int64_t n, double *t, const double *y, double *rest, int64_t all)
{
    const double pi = 3.14159265358979323846;
    double least = INFINITY, most = -INFINITY, best = 0, best_waves = NAN;
    for (int64_t i = 0; i < n; i++) {
        least = fmin(least, t[i]);
        most = fmax(most, t[i]);
    }
    if (n < LEAST_FOR_PERIODS || !(most > least) || !isfinite(most - least)) return NAN;
    for (int64_t i = 0; i < n; i++) t[i] = 2 * (t[i] - least) / (most - least) - 1;
    take_trend(n, t, y, rest);
    const int64_t frequencies = all / 2 * PER_WAVE < MOST_FREQUENCIES ? all / 2 * PER_WAVE : MOST_FREQUENCIES;
    for (int64_t k = 2 * PER_WAVE; k <= frequencies; k++) {
        const double waves = (double)k / PER_WAVE, power = power_at(n, t, rest, pi * waves);
        if (power <= best) continue;
        best = power;
        best_waves = waves;
    }
    return (most - least) / best_waves;
}

static gram_status guess_period(gram_tuning *t, double *period)
{
    gram_status status = GRAM_OK;
    const gram_sample *sample = &t->levels[0].sample;
    const int64_t n = sample->n;
    double *numbers = NULL;
    *period = NAN;
    if (t->given.x->d != 1) goto done;
    TRY(gram_take(t->context, "gp_tune: periods", 2 * n, sizeof(double), (void **)&numbers));
    for (int64_t i = 0; i < n; i++) numbers[i] = gram_points_at(sample->points, i, 0);
    *period = strongest_period(n, numbers, sample->y, numbers + n, t->count);
done:
    gram_give(t->context, numbers);
    return status;
}

/* "periodic.p", "cosine#2.p", ... */
static int is_period(const gram_parameter *parameter)
{
    const char *dot = strrchr(parameter->name, '.');
    const int waves = strncmp(parameter->name, "periodic", 8) == 0 || strncmp(parameter->name, "cosine", 6) == 0;
    return waves && dot && strcmp(dot, ".p") == 0;
}

/* ---- the start ---- */

/* values, where the kernel left them open: amplitudes and periods. */
static gram_status set_open(gram_tuning *t, const gram_kernel *kernel, const double *units, int64_t amplitude_count,
                            double *values)
{
    gram_status status = GRAM_OK;
    const int64_t count = gram_kernel_parameter_count(kernel);
    double period = NAN;
    int asked = 0;
    t->from_start = count > 0;
    for (int64_t i = 0; i < count; i++) {
        gram_parameter parameter;
        TRY(gram_kernel_parameter_get(t->context, kernel, i, &parameter));
        if (parameter.set) continue;
        t->from_start = 0;
        if (!isnan(units[i])) values[i] = units[i] / (double)amplitude_count;
        if (!is_period(&parameter)) continue;
        if (!asked) TRY(guess_period(t, &period));
        asked = 1;
        if (isfinite(period)) values[i] = period;
    }
done:
    return status;
}

/* The variance of one row is noise/w: the noise is measured by the mean weight. */
static void set_noise(gram_tuning *t)
{
    gram_gp_tuning *g = gram_gp_tuning_of(t);
    const gram_sample *sample = &t->levels[t->last].sample;
    const double given = g->options.noise;
    t->noise_unit = g->unit * (g->options.weights ? sample->total / (double)sample->n : 1);
    t->noise = (gram_noise_range){LEAST_NOISE * t->noise_unit, MOST_NOISE * t->noise_unit, g->tune.noise_fixed};
    t->noise_start = given > 0 ? fmin(fmax(given, t->noise.lower), t->noise.upper) : FIRST_NOISE * t->noise_unit;
    if (g->tune.noise_fixed) t->noise_start = given;
    /* many rows outweigh it, and its slope would only cost evaluations */
    g->weak_noise = t->last > 0 ? 0 : gram_gp_weak_noise(g, t->noise_unit * g->scale * g->scale);
}

gram_status gram_gp_tuning_prepare(gram_tuning *t, const gram_kernel *kernel, gram_kernel **resolved)
{
    gram_status status = GRAM_OK;
    const int64_t count = gram_kernel_parameter_count(kernel);
    gram_kernel *first = NULL;
    double *numbers = NULL;
    int64_t amplitude_count = 0;
    TRY(gram_kernel_resolve(t->context, kernel, t->levels[t->last].sample.points, &first));
    TRY(gram_take(t->context, "gp_tune: parameters", 2 * count, sizeof(double), (void **)&numbers));
    for (int64_t i = 0; i < count; i++) {
        gram_parameter parameter;
        TRY(gram_kernel_parameter_get(t->context, first, i, &parameter));
        numbers[i] = parameter.value;
    }
    TRY(gram_gp_amplitude_units(t, first, numbers + count, &amplitude_count));
    TRY(set_open(t, kernel, numbers + count, amplitude_count, numbers));
    TRY(gram_kernel_with_values(t->context, first, numbers, resolved));
    set_noise(t);
done:
    gram_give(t->context, numbers);
    gram_kernel_release(first);
    return status;
}

/* ---- bounds ---- */

/* Of the extent of its columns. With many rows the likelihood still gains where a column that says nothing has a length of
 * hundreds of extents. */
static const double LONGEST = 1e5;

gram_status gram_gp_tuning_bounds(gram_tuning *t, gram_space *space)
{
    gram_status status = GRAM_OK;
    double *units = NULL;
    int64_t amplitude_count;
    const double rows = (double)t->levels[t->last].sample.n;
    TRY(gram_take(t->context, "gp_tune: parameters", space->parameters, sizeof(double), (void **)&units));
    TRY(gram_gp_amplitude_units(t, space->kernel, units, &amplitude_count));
    for (int64_t i = 0; i < space->count; i++) {
        const int64_t index = space->index[i];
        gram_parameter parameter;
        if (index == space->parameters || !space->is_log[i]) continue;
        TRY(gram_kernel_parameter_get(t->context, space->kernel, index, &parameter));
        if (!isnan(units[index])) {
            space->lower[i] = log(fmin(LEAST_AMPLITUDE * units[index], parameter.value));
            space->upper[i] = log(fmax(MOST_AMPLITUDE * units[index], parameter.value));
            space->is_amplitude[index] = 1;
        } else if (space->is_length[index] && !isnan(space->extent[index])) {
            space->upper[i] = fmax(space->upper[i], log(fmin(LONGEST * space->extent[index], parameter.upper)));
            if (gram_gp_tuning_of(t)->on_the_line)
                space->lower[i] = fmin(space->lower[i], log(space->extent[index] / rows));
        }
    }
done:
    gram_give(t->context, units);
    return status;
}
