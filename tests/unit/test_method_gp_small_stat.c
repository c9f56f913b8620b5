/* Gaussian processes on a few rows: the likelihood that tuning reaches and how well held-out rows are predicted, beside
 * scikit-learn with ten restarts. bench/peers/gp_small.py made the table and says what a set is; here is its twin. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static const double PI = 3.14159265358979323846;

enum { HELD = 100, KINDS = 7, WAVES = 4 };

typedef struct small_set {
    int64_t number, n, d;
    double last, several, one, density; /* the last target; scikit-learn's */
    double *x, *y;                      /* n + HELD rows; columns in units of the first n */
} small_set;

/* ---- the sets ---- */

static double *uniform(uint64_t seed, int64_t count)
{
    double *out = test_numbers(count);
    uint64_t state = seed << 32;
    for (int64_t i = 0; i < count; i++) out[i] = ((double)(test_bits(&state) >> 11) + 0.5) * 0x1p-53;
    return out;
}

static double *normal(uint64_t seed, int64_t count)
{
    double *u = uniform(seed, 2 * count), *out = test_numbers(count);
    for (int64_t i = 0; i < count; i++) out[i] = sqrt(-2 * log(u[i])) * cos(2 * PI * u[count + i]);
    free(u);
    return out;
}

static double waves(int64_t d, const double *x, const double *directions, const double *phases)
{
    double f = 0;
    for (int k = 0; k < WAVES; k++) {
        double at = 2 * PI * phases[k];
        for (int64_t l = 0; l < d; l++) at += directions[k * d + l] * 1.5 / sqrt((double)d) * x[l];
        f += cos(at);
    }
    return f;
}

static double function(int kind, int64_t d, const double *x)
{
    double f = 0;
    switch (kind) {
    case 1:
        for (int64_t l = 0; l < d; l++) f += sin(1.5 * x[l] + (double)l);
        return f;
    case 2: return sin(2 * x[0]);
    case 3: return (x[0] > 0) + 0.5 * (x[d - 1] > 0.5);
    case 4:
        for (int64_t l = 0; l < d; l++) f += x[l] / (double)(1 + l);
        return f;
    case 5: return x[0] * x[d - 1] + 0.5 * x[0] * x[0];
    default: return 0;
    }
}

/* Mean and population deviation of every stride-th number. */
static double deviation_of(int64_t n, int64_t stride, const double *numbers, double *mean)
{
    double sum = 0;
    *mean = 0;
    for (int64_t i = 0; i < n; i++) *mean += numbers[i * stride] / (double)n;
    for (int64_t i = 0; i < n; i++) sum += pow(numbers[i * stride] - *mean, 2) / (double)n;
    return sqrt(sum);
}

static void set_targets(small_set *s)
{
    static const double levels[] = {1e-3, 1e-2, 0.1, 0.3, 1, 3};
    const int kind = (int)(s->number % KINDS);
    const double level = levels[s->number / KINDS % 6];
    const uint64_t seed = 10 * (uint64_t)s->number;
    const int64_t rows = s->n + HELD, d = s->d;
    double *directions = normal(seed + 4, WAVES * d), *phases = uniform(seed + 5, WAVES), *e = normal(seed + 3, rows);
    double mean;
    s->y = test_numbers(rows);
    for (int64_t i = 0; i < rows; i++)
        s->y[i] = kind == 0 ? waves(d, s->x + i * d, directions, phases) : function(kind, d, s->x + i * d);
    const double deviation = kind == KINDS - 1 ? 1 / level : deviation_of(rows, 1, s->y, &mean);
    for (int64_t i = 0; i < rows; i++) s->y[i] = 5 + 2 * (s->y[i] + level * deviation * e[i]);
    free(directions);
    free(phases);
    free(e);
}

static void make_set(small_set *s)
{
    s->x = normal(10 * (uint64_t)s->number + 2, (s->n + HELD) * s->d);
    set_targets(s);
    for (int64_t l = 0; l < s->d; l++) {
        double mean;
        const double deviation = deviation_of(s->n, s->d, s->x + l, &mean);
        for (int64_t i = 0; i < s->n + HELD; i++) s->x[i * s->d + l] = (s->x[i * s->d + l] - mean) / deviation;
    }
    if (!(fabs(s->y[s->n + HELD - 1] - s->last) < 1e-9 * (1 + fabs(s->last))))
        FAIL_TEST("set %d is not the one of the table: %.17g, %.17g", (int)s->number, s->y[s->n + HELD - 1], s->last);
}

/* The next row of the table; 0 at its end. */
static int next_set(FILE *table, small_set *s)
{
    long long number, n, d;
    if (fscanf(table, "%lld %lld %lld %lf %lf %lf %lf", &number, &n, &d, &s->last, &s->several, &s->one, &s->density) !=
        7)
        return 0;
    s->number = number;
    s->n = n;
    s->d = d;
    make_set(s);
    return 1;
}

static void free_set(small_set *s)
{
    free(s->x);
    free(s->y);
}

static FILE *open_table(void)
{
    char line[256];
    FILE *table = test_open_reference("gp_small.txt");
    for (int i = 0; i < 2; i++) assert_non_null(fgets(line, sizeof line, table)); /* comments */
    return table;
}

/* scikit-learn's by gram's rule: several lengths where they gain more than log(n)/2 for each more. */
static double goal_of(const small_set *s)
{
    const double worth = 0.5 * (double)(s->d - 1) * log((double)s->n);
    return s->several > s->one + worth ? s->several : s->one;
}

/* ---- learning ---- */

typedef struct outcome {
    double likelihood, density;
    int held;
} outcome;

static double held_out_density(gram_context *c, const gram_gp *gp, double noise, const small_set *s, double mean)
{
    double f[HELD], variance[HELD], sum = 0;
    gram_points *points = test_points(c, HELD, s->d, s->x + s->n * s->d);
    OK(c, gram_gp_predict(c, gp, points, NULL, 0, f, variance));
    for (int i = 0; i < HELD; i++) {
        const double v = variance[i] + noise, e = s->y[s->n + i] - mean - f[i];
        sum -= (0.5 * log(2 * PI * v) + e * e / (2 * v)) / HELD;
    }
    gram_points_release(points);
    return sum;
}

static outcome learn(gram_context *c, const small_set *s, int noise_prior)
{
    outcome out;
    gram_gp_options options;
    gram_gp_tune_options tune;
    gram_gp_tune_report report = {.size = sizeof report};
    gram_gp *gp = NULL;
    gram_kernel *kernel = test_kernel(c, "const*rbf"), *tuned = NULL;
    gram_points *points = test_points(c, s->n, s->d, s->x);
    double *y = test_numbers(s->n), mean;
    (void)deviation_of(s->n, 1, s->y, &mean);
    for (int64_t i = 0; i < s->n; i++) y[i] = s->y[i] - mean;
    gram_gp_options_init(&options, sizeof options);
    gram_gp_tune_options_init(&tune, sizeof tune);
    options.mean = GRAM_MEAN_ZERO;
    tune.noise_prior = noise_prior;
    OK(c, gram_gp_tune(c, kernel, points, y, &options, &tune, &tuned, &options.noise, &report));
    OK(c, gram_gp_fit(c, tuned, points, y, &options, &gp));
    out.likelihood = gram_gp_get_report(gp)->log_marginal_likelihood;
    out.density = held_out_density(c, gp, options.noise, s, mean);
    out.held = report.noise_held;
    /* what is reported is the likelihood, priors or not */
    assert_true(fabs(report.value - out.likelihood) < 1e-6 * (1 + fabs(out.likelihood)));
    gram_gp_destroy(gp);
    gram_kernel_release(kernel);
    gram_kernel_release(tuned);
    gram_points_release(points);
    free(y);
    return out;
}

/* ---- the tests ---- */

/* By the likelihood alone: no set ends at a poorer optimum. */
static void likelihood_as_high(void **state)
{
    gram_context *c = *state;
    FILE *table = open_table();
    small_set s;
    int count = 0;
    for (; next_set(table, &s); count++) {
        const outcome got = learn(c, &s, 0);
        if (!(got.likelihood > goal_of(&s) - 0.05))
            FAIL_TEST("set %d: log likelihood %.4f, scikit-learn's %.4f", (int)s.number, got.likelihood, goal_of(&s));
        assert_int_equal(got.held, 0);
        free_set(&s);
    }
    assert_true(count >= 15);
    fclose(table);
}

/* With the weak prior: at most the weight of one row below it, and held-out rows are predicted no worse. */
static void predicts_as_well(void **state)
{
    gram_context *c = *state;
    FILE *table = open_table();
    small_set s;
    int count = 0, better = 0, worse = 0, held = 0;
    double gain = 0;
    for (; next_set(table, &s); count++) {
        const outcome got = learn(c, &s, 1);
        if (!(got.likelihood > goal_of(&s) - 0.55))
            FAIL_TEST("set %d: log likelihood %.4f, scikit-learn's %.4f", (int)s.number, got.likelihood, goal_of(&s));
        gain += got.density - s.density;
        better += got.density > s.density + 0.1;
        worse += got.density < s.density - 0.1;
        held += got.held;
        free_set(&s);
    }
    print_message("%d sets: held-out log density %+.3f on average, better in %d, worse in %d; noise held in %d\n",
                  count, gain / count, better, worse, held);
    assert_true(gain > 0);
    assert_true(worse <= better / 3);
    assert_true(held > 0 && held < count);
    fclose(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(likelihood_as_high),
        cmocka_unit_test(predicts_as_well),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
