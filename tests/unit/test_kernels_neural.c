/* nngp and ntk against what they are expectations of, and what networks without biases must satisfy. Their values to the last
 * digits are in test_engine_reference. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "samples.h"

enum { DRAWS = 40000 };

static double entry(gram_context *context, const char *text, int64_t d, const double *x, const double *y)
{
    double k = NAN;
    gram_kernel *kernel = test_kernel(context, text);
    gram_points *a = test_points(context, 1, d, x), *b = test_points(context, 1, d, y);
    OK(context, gram_matrix(context, kernel, a, b, &k, 1));
    gram_points_release(a);
    gram_points_release(b);
    gram_kernel_release(kernel);
    return k;
}

/* ---- expectations by drawing ---- */

static double act(int relu, double z)
{
    return relu ? fmax(z, 0) : erf(z);
}

static double act_slope(int relu, double z)
{
    return relu ? (double)(z > 0) : 2 / sqrt(3.14159265358979323846) * exp(-z * z);
}

typedef struct mean {
    double sum, squares;
} mean;

static void add(mean *m, double value)
{
    m->sum += value;
    m->squares += value * value;
}

/* `want` is within five standard errors of the mean of the draws */
static void check_mean(const char *what, const mean *m, double want)
{
    const double average = m->sum / DRAWS, error = sqrt(fmax(m->squares / DRAWS - average * average, 0) / DRAWS);
    if (!(fabs(average - want) <= 5 * error + 1e-12))
        FAIL_TEST("%s: %g by drawing (standard error %g), the kernel has %g", what, average, error, want);
}

/* Layer `depth` from what the kernel of the layer below says of (u, v), which are drawn: E[act act] and E[act' act']. */
static void check_layer(gram_context *context, int relu, int depth, const double *x, const double *y)
{
    enum { D = 3 };
    const double sw = 1.3, sb = 0.4;
    char below[96], text[96];
    double s[3], *z = sample_normal((uint64_t)(100 + depth + 10 * relu), 2 * DRAWS);
    const double *pairs[3][2] = {{x, x}, {y, y}, {x, y}};
    mean product = {0, 0}, slopes = {0, 0};
    (void)snprintf(below, sizeof below, "nngp(depth=%d, act=%s, sw=1.3, sb=0.4)", depth - 1, relu ? "relu" : "erf");
    for (int i = 0; i < 3; i++) {
        double dot = 0;
        for (int l = 0; l < D; l++) dot += pairs[i][0][l] * pairs[i][1][l];
        s[i] = depth == 1 ? sb * sb + sw * sw * dot : entry(context, below, D, pairs[i][0], pairs[i][1]);
    }
    const double slope = s[2] / s[0], rest = sqrt(s[1] - s[2] * s[2] / s[0]);
    for (int i = 0; i < DRAWS; i++) {
        const double u = sqrt(s[0]) * z[2 * i], v = slope * u + rest * z[2 * i + 1];
        add(&product, act(relu, u) * act(relu, v));
        add(&slopes, act_slope(relu, u) * act_slope(relu, v));
    }
    free(z);
    (void)snprintf(text, sizeof text, "nngp(depth=%d, act=%s, sw=1.3, sb=0.4)", depth, relu ? "relu" : "erf");
    const double covariance = entry(context, text, D, x, y);
    check_mean(text, &product, (covariance - sb * sb) / (sw * sw));
    /* T_l = S_l + sw^2 T_(l-1) E[act' act'] */
    (void)snprintf(below, sizeof below, "ntk(depth=%d, act=%s, sw=1.3, sb=0.4)", depth - 1, relu ? "relu" : "erf");
    (void)snprintf(text, sizeof text, "ntk(depth=%d, act=%s, sw=1.3, sb=0.4)", depth, relu ? "relu" : "erf");
    const double tangent_below = depth == 1 ? s[2] : entry(context, below, D, x, y);
    check_mean(text, &slopes, (entry(context, text, D, x, y) - covariance) / (sw * sw * tangent_below));
}

static void expectations(void **state)
{
    static const double x[] = {0.7, -0.3, 1.1}, y[][3] = {{0.2, 0.9, 0.4}, {-1, 0.2, -0.8}, {0.71, -0.29, 1.1}};
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (int relu = 0; relu < 2; relu++)
        for (int depth = 1; depth <= 3; depth++)
            for (int i = 0; i < 3; i++) check_layer(context, relu, depth, x, y[i]);
    gram_context_destroy(context);
}

/* ---- without biases ---- */

static void near(const char *what, double got, double want, double scale)
{
    if (!(fabs(got - want) <= 1e-14 * scale)) FAIL_TEST("%s: %.17g, should be %.17g", what, got, want);
}

/* relu is homogeneous, erf odd; a row of zeros sees nothing */
static void without_biases(void **state)
{
    static const char *const RELU[] = {"nngp(depth=1)", "nngp(depth=4)", "ntk(depth=1)", "ntk(depth=3, sw=1.7)"};
    static const char *const ERF[] = {"nngp(depth=1, act=erf)", "ntk(depth=3, act=erf, sw=1.7)"};
    const double x[] = {0.3, -1.1, 0.7}, y[] = {0.9, 0.4, -0.2}, zero[] = {0, 0, 0};
    double triple[3], minus[3];
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (int l = 0; l < 3; l++) triple[l] = 3 * x[l], minus[l] = -x[l];
    for (int i = 0; i < 4; i++) {
        const double k = entry(context, RELU[i], 3, x, y), own = entry(context, RELU[i], 3, x, x);
        near(RELU[i], entry(context, RELU[i], 3, triple, y), 3 * k, 3 * fabs(k));
        near(RELU[i], entry(context, RELU[i], 3, triple, x), 3 * own, 3 * own);
        assert_true(entry(context, RELU[i], 3, zero, y) == 0 && entry(context, RELU[i], 3, zero, zero) == 0);
    }
    for (int i = 0; i < 2; i++) {
        const double k = entry(context, ERF[i], 3, x, y), own = entry(context, ERF[i], 3, x, x);
        near(ERF[i], entry(context, ERF[i], 3, minus, y), -k, fabs(k));
        near(ERF[i], entry(context, ERF[i], 3, minus, x), -own, own);
        assert_true(entry(context, ERF[i], 3, zero, y) == 0);
    }
    gram_context_destroy(context);
}

/* ---- derivatives ---- */

/* Points of the plane whose directions are apart, so that differences cross no kink. */
static void apart_in_plane(void **state)
{
    static const char *const TEXTS[] = {"ntk(depth=1)", "ntk(depth=3, sw=1.3, sb=0.4, fan=2)", "nngp(depth=2)"};
    enum { N = 5, M = 4 };
    const double h = 1e-5;
    double x[2 * N], y[2 * M], weight[N * M], got[2 * N], k[N * M];
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (int i = 0; i < N; i++) x[2 * i] = (1 + 0.2 * i) * cos(1.2 * i), x[2 * i + 1] = (1 + 0.2 * i) * sin(1.2 * i);
    for (int j = 0; j < M; j++) y[2 * j] = 0.8 * cos(1.2 * j + 0.5), y[2 * j + 1] = 0.8 * sin(1.2 * j + 0.5);
    for (int i = 0; i < N * M; i++) weight[i] = sin(1 + 3 * i);
    for (size_t t = 0; t < sizeof TEXTS / sizeof *TEXTS; t++) {
        gram_kernel *kernel = test_kernel(context, TEXTS[t]);
        gram_points *px = test_points(context, N, 2, x), *py = test_points(context, M, 2, y);
        const gram_weights w = {.dense = weight, .ld = M};
        OK(context, gram_matrix_input_gradient(context, kernel, px, py, &w, got, 2));
        for (int l = 0; l < 2; l++) {
            double sums[N] = {0};
            for (int side = -1; side <= 1; side += 2) {
                double moved[2 * N];
                memcpy(moved, x, sizeof moved);
                for (int i = 0; i < N; i++) moved[2 * i + l] += side * h;
                gram_points *pm = test_points(context, N, 2, moved);
                OK(context, gram_matrix(context, kernel, pm, py, k, M));
                for (int i = 0; i < N * M; i++) sums[i / M] += side * weight[i] * k[i] / (2 * h);
                gram_points_release(pm);
            }
            for (int i = 0; i < N; i++)
                if (!(fabs(got[2 * i + l] - sums[i]) <= 1e-8))
                    FAIL_TEST("%s: derivative %d of point %d is %.10g, differences give %.10g", TEXTS[t], l, i,
                              got[2 * i + l], sums[i]);
        }
        gram_points_release(px);
        gram_points_release(py);
        gram_kernel_release(kernel);
    }
    gram_context_destroy(context);
}

/* ---- second derivatives ---- */

enum { WIDE = 3, LINE = 4096 };

static void read_row(FILE *file, int count, double *out)
{
    char line[LINE], *at = line;
    assert_non_null(fgets(line, sizeof line, file));
    for (int i = 0; i < count; i++) out[i] = strtod(at, &at);
}

/* Row by row of neural_second.txt: 2e-15 of the size of second derivatives, however near x and y are to each other or to opposite directions. */
static double check_second(gram_context *context, const char *text, FILE *file)
{
    double x[WIDE], y[WIDE], slopes[WIDE], mixed[WIDE * WIDE], e, by_x[WIDE], got[WIDE * WIDE], trace, worst = 0;
    read_row(file, WIDE, x);
    read_row(file, WIDE, y);
    read_row(file, WIDE, slopes);
    read_row(file, WIDE * WIDE, mixed);
    read_row(file, 1, &e);
    gram_kernel *kernel = test_kernel(context, text);
    gram_points *a = test_points(context, 1, WIDE, x), *b = test_points(context, 1, WIDE, y);
    const gram_derivatives all = {.ld = 1, .by_x = by_x, .mixed = got}, sum = {.ld = 1, .trace = &trace};
    OK(context, gram_matrix_derivatives(context, kernel, a, b, &all));
    OK(context, gram_matrix_derivatives(context, kernel, a, b, &sum));
    for (int l = 0; l < WIDE * WIDE; l++) worst = fmax(worst, fabs(got[l] - mixed[l]) / e);
    worst = fmax(worst, fabs(trace - mixed[0] - mixed[4] - mixed[8]) / e);
    for (int l = 0; l < WIDE; l++) worst = fmax(worst, fabs(by_x[l] - slopes[l]) / (e * (1 + fabs(y[0]) + fabs(y[1]))));
    if (!(worst <= 2e-15))
        FAIL_TEST("%s at (%g, %g, %g): second derivatives are wrong by %g of their size", text, y[0], y[1], y[2],
                  worst);
    gram_points_release(a);
    gram_points_release(b);
    gram_kernel_release(kernel);
    return worst;
}

static void second_derivatives(void **state)
{
    char line[LINE], text[LINE];
    int d, count = 0;
    double worst = 0;
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    FILE *file = fopen(GRAM_TEST_SOURCE "/reference/neural_second.txt", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#') continue;
        assert_int_equal(sscanf(line, "%s %d", text, &d), 2);
        assert_int_equal(d, WIDE);
        worst = fmax(worst, check_second(context, text, file));
        count++;
    }
    (void)fclose(file);
    assert_true(count >= 100);
    print_message("%d pairs, worst error %g\n", count, worst);
    gram_context_destroy(context);
}

/* A point with itself: of relu every layer halves, d2k/dx dy' = (sw^2/fan) (sw^2/2)^depth I. */
static void second_derivatives_of_a_point(void **state)
{
    const double x[] = {0.3, -1.1}, wanted = 1.44 / 2 * pow(0.72, 3);
    double mixed[4], trace;
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_kernel *kernel = test_kernel(context, "nngp(depth=3, sw=1.2, sb=0.4, fan=2)");
    gram_points *points = test_points(context, 1, 2, x);
    OK(context, gram_matrix_derivatives(context, kernel, points, NULL,
                                        &(gram_derivatives){.ld = 1, .trace = &trace, .mixed = mixed}));
    for (int l = 0; l < 4; l++) near("mixed", mixed[l], l == 0 || l == 3 ? wanted : 0, wanted);
    near("trace", trace, 2 * wanted, wanted);
    gram_points_release(points);
    gram_kernel_release(kernel);
    static const char *const ROUGH[][2] = {{"ntk(sb=0.5)", "ntk has no second derivative by the inputs: that of relu"},
                                           {"nngp(depth=2)", "relu without biases, sb = 0"}};
    points = test_points(context, 1, 2, x);
    for (int i = 0; i < 2; i++) {
        kernel = test_kernel(context, ROUGH[i][0]);
        REFUSED(context,
                gram_matrix_derivatives(context, kernel, points, NULL, &(gram_derivatives){.ld = 1, .trace = &trace}),
                GRAM_ERROR_UNSUPPORTED, ROUGH[i][1]);
        gram_kernel_release(kernel);
    }
    gram_points_release(points);
    gram_context_destroy(context);
}

/* ---- the language ---- */

/* Scales that are left out are held, those that are given are learnt unless they are marked. */
static void held_scales(void **state)
{
    static const struct {
        const char *text, *printed;
    } CASES[] = {
        {"ntk", "ntk(depth=1, act=relu, sw=1!, sb=0!, fan=1)"},
        {"nngp(2, erf, sb=0.5)", "nngp(depth=2, act=erf, sw=1!, sb=0.5, fan=1)"},
        {"nngp(act=erf, sw=1.5!, fan=3)", "nngp(depth=1, act=erf, sw=1.5!, sb=0!, fan=3)"},
    };
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char text[128];
        gram_kernel *kernel = test_kernel(context, CASES[i].text);
        (void)gram_kernel_print(kernel, text, sizeof text);
        assert_string_equal(text, CASES[i].printed);
        gram_kernel_release(kernel);
    }
    gram_kernel *none = NULL;
    REFUSED(context, gram_kernel_parse(context, "ntk(act=tanh)", &none), GRAM_ERROR_SYNTAX,
            "act is relu or erf, not 'tanh'");
    REFUSED(context, gram_kernel_parse(context, "ntk(act=1)", &none), GRAM_ERROR_SYNTAX, "relu or erf");
    REFUSED(context, gram_kernel_parse(context, "ntk(depth=0)", &none), GRAM_ERROR_ARGUMENT,
            "depth must be a whole number from 1 to 1000");
    REFUSED(context, gram_kernel_parse(context, "ntk(sw=-1)", &none), GRAM_ERROR_ARGUMENT, "sw must be above 0");
    gram_context_destroy(context);
}

static void too_large(void **state)
{
    const double x[] = {1, 1e150};
    double k[4];
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_kernel *kernel = test_kernel(context, "ntk");
    gram_points *points = test_points(context, 2, 1, x);
    REFUSED(context, gram_matrix(context, kernel, points, NULL, k, 2), GRAM_ERROR_DOMAIN,
            "x[1][0] = 1e+150 is too large");
    gram_points_release(points);
    gram_kernel_release(kernel);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(expectations),
                                       cmocka_unit_test(without_biases),
                                       cmocka_unit_test(apart_in_plane),
                                       cmocka_unit_test(second_derivatives),
                                       cmocka_unit_test(second_derivatives_of_a_point),
                                       cmocka_unit_test(held_scales),
                                       cmocka_unit_test(too_large)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
