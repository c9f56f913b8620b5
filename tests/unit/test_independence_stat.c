/* Independence with many looks, and given other columns: levels and power over seeded runs. */
#include "levels.h"

enum { RUNS = 200 };

typedef void (*draw)(uint64_t seed, int64_t n, double *x, double *y, double *z);

static void independent(uint64_t seed, int64_t n, double *x, double *y, double *z)
{
    double *e = sample_normal(seed, 2 * n);
    for (int64_t i = 0; i < n; i++) x[i] = e[2 * i], y[i] = e[2 * i + 1], z[i] = 0;
    free(e);
}

/* Categories, so that there are many ties. */
static void categories(uint64_t seed, int64_t n, double *x, double *y, double *z)
{
    double *u = test_random(seed, 2 * n, 0, 3);
    for (int64_t i = 0; i < n; i++) x[i] = floor(u[2 * i]), y[i] = floor(u[2 * i + 1]), z[i] = 0;
    free(u);
}

/* Four periods over the range of x. */
static void sine(uint64_t seed, int64_t n, double *x, double *y, double *z)
{
    double *u = test_random(seed, n, -1, 1), *e = sample_normal(seed, n);
    for (int64_t i = 0; i < n; i++) x[i] = u[i], y[i] = sin(12.566370614359172 * u[i]) + 0.5 * e[i], z[i] = 0;
    free(u);
    free(e);
}

static void circle(uint64_t seed, int64_t n, double *x, double *y, double *z)
{
    double *u = test_random(seed, n, 0, 6.283185307179586), *e = sample_normal(seed, 2 * n);
    for (int64_t i = 0; i < n; i++) x[i] = cos(u[i]) + 0.2 * e[2 * i], y[i] = sin(u[i]) + 0.2 * e[2 * i + 1], z[i] = 0;
    free(u);
    free(e);
}

/* Both bend with z; `shared` of the noise of x is in y. */
static void bend(uint64_t seed, int64_t n, double shared, double *x, double *y, double *z)
{
    double *e = sample_normal(seed, 3 * n);
    for (int64_t i = 0; i < n; i++) {
        z[i] = e[3 * i];
        x[i] = sin(2 * z[i]) + 0.4 * e[3 * i + 1];
        y[i] = z[i] * z[i] - 1 + sin(2 * z[i]) + 0.4 * e[3 * i + 2] + shared * e[3 * i + 1];
    }
    free(e);
}

static void bent(uint64_t seed, int64_t n, double *x, double *y, double *z)
{
    bend(seed, n, 0, x, y, z);
}

static void linked(uint64_t seed, int64_t n, double *x, double *y, double *z)
{
    bend(seed, n, 0.3, x, y, z);
}

/* Noise that grows with |z|, on both sides. */
static void uneven(uint64_t seed, int64_t n, double *x, double *y, double *z)
{
    double *e = sample_normal(seed, 3 * n);
    for (int64_t i = 0; i < n; i++) {
        z[i] = e[3 * i];
        x[i] = sin(2 * z[i]) + 0.3 * (1 + fabs(z[i])) * e[3 * i + 1];
        y[i] = cos(2 * z[i]) + 0.3 * (1 + fabs(z[i])) * e[3 * i + 2];
    }
    free(e);
}

static int count(draw make, int given, gram_hsic_method method, int runs, int64_t n)
{
    int rejected = 0;
    gram_hsic_options options;
    double *data = test_numbers(3 * n);
    gram_hsic_options_init(&options, sizeof options);
    options.method = method;
    options.permutations = 199;
    for (int run = 0; run < runs; run++) {
        gram_context *context = sample_context((uint64_t)run, 2);
        make(1000 + (uint64_t)run, n, data, data + n, data + 2 * n);
        gram_points *points[3];
        for (int v = 0; v < 3; v++) points[v] = test_points(context, n, 1, data + v * n);
        gram_hsic_result plain;
        gram_hsic_given_result conditional;
        gram_hsic_result_init(&plain, sizeof plain);
        gram_hsic_given_result_init(&conditional, sizeof conditional);
        const gram_points *const *all = (const gram_points *const *)points;
        if (given)
            OK(context, gram_hsic_given_test(context, NULL, all, &options, &conditional));
        else
            OK(context, gram_hsic_test(context, 2, NULL, all, &options, &plain));
        rejected += given ? conditional.reject : plain.reject;
        gram_hsic_result_clear(&plain);
        gram_hsic_given_result_clear(&conditional);
        for (int v = 0; v < 3; v++) gram_points_release(points[v]);
        gram_context_destroy(context);
    }
    free(data);
    return rejected;
}

/* Binomial(200, 0.05) is above 21 with a probability of 0.0006, below 2 with 0.0004. */
static void levels(void **state)
{
    (void)state;
    const int normal = count(independent, 0, GRAM_HSIC_AUTO, RUNS, 40);
    const int few = count(categories, 0, GRAM_HSIC_AUTO, RUNS, 40);
    print_message("level: normal %d, categories %d of %d\n", normal, few, RUNS);
    assert_true(normal >= 2 && normal <= 21 && few <= 21);
}

/* One width is blind to them; any of the many that fits is not. */
static void power(void **state)
{
    enum { FEWER = 60 };
    (void)state;
    const int wave = count(sine, 0, GRAM_HSIC_AUTO, FEWER, 100),
              one = count(sine, 0, GRAM_HSIC_PERMUTATION, FEWER, 100);
    const int ring = count(circle, 0, GRAM_HSIC_AUTO, FEWER, 100);
    const int many = count(sine, 0, GRAM_HSIC_AUTO, 2, 1100);
    print_message("power: sine %d (one width %d), circle %d of %d; 1,100 rows %d of 2\n", wave, one, ring, FEWER, many);
    assert_true(wave >= 55 && one <= 25 && ring >= 55 && many == 2);
}

/* Binomial(40, 0.05) is above 8 with a probability of 0.0003. */
static void given(void **state)
{
    enum { FEWER = 40, FEW = 12 };
    (void)state;
    const int smooth = count(bent, 1, GRAM_HSIC_AUTO, FEWER, 100), rough = count(uneven, 1, GRAM_HSIC_AUTO, FEWER, 100);
    const int seen = count(linked, 1, GRAM_HSIC_AUTO, FEW, 100);
    const int without = count(bent, 0, GRAM_HSIC_AUTO, FEW, 100);
    print_message("given: level %d and %d of %d, power %d of 12; not given %d of 12\n", smooth, rough, FEWER, seen,
                  without);
    assert_true(smooth <= 8 && rough <= 8 && seen >= 10 && without >= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(levels), cmocka_unit_test(power), cmocka_unit_test(given)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
