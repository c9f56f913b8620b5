/* What happens to networks as they grow: their start is a Gaussian process, their tangent kernel stands still, and both by the rates
 * that theory says. All random numbers are seeded. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static gram_network *make_network(gram_context *context, gram_network_options o, int64_t width)
{
    gram_network *network;
    const int64_t widths[] = {width, width, width};
    o.size = sizeof o;
    o.widths = widths;
    o.sw = 1.2;
    o.sb = 0.4;
    OK(context, gram_network_create(context, &o, &network));
    return network;
}

static gram_network *network_of(gram_context *context, gram_activation activation, int64_t inputs, int64_t depth,
                                int64_t width, double scale, int centred, uint64_t number)
{
    return make_network(context,
                        (gram_network_options){.inputs = inputs,
                                               .outputs = 1,
                                               .depth = depth,
                                               .activation = activation,
                                               .scale = scale,
                                               .centred = centred,
                                               .number = number},
                        width);
}

/* The slope of log y over log x by least squares. */
static double exponent(int count, const double *x, const double *y)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < count; i++) {
        sx += log(x[i]) / count;
        sy += log(y[i]) / count;
    }
    for (int i = 0; i < count; i++) {
        sxx += (log(x[i]) - sx) * (log(x[i]) - sx);
        sxy += (log(x[i]) - sx) * (log(y[i]) - sy);
    }
    return sxy / sxx;
}

static void near_exponent(const char *what, int count, const double *x, const double *y, double wanted, double within)
{
    const double found = exponent(count, x, y);
    if (!(fabs(found - wanted) <= within)) FAIL_TEST("%s: exponent %g instead of %g", what, found, wanted);
}

/* ---- the start ---- */

/* What a network says of a kernel: H, or the mean of f_o(x) f_o(y) over as many outputs o as it has units. */
static void estimate(gram_context *context, int tangent, gram_activation activation, int depth, int64_t width,
                     uint64_t number, const gram_points *points, int n, double *out)
{
    const int64_t m = tangent ? 1 : width;
    gram_network *network = make_network(context,
                                         (gram_network_options){.inputs = gram_points_dimension(points),
                                                                .outputs = m,
                                                                .depth = depth,
                                                                .activation = activation,
                                                                .scale = 1,
                                                                .number = number},
                                         width);
    double *f = test_numbers(n * m);
    if (tangent)
        OK(context, gram_network_tangent_matrix(context, network, 0, points, NULL, out, n));
    else
        OK(context, gram_network_evaluate(context, network, points, f, m));
    for (int i = 0; i < n * n && !tangent; i++) {
        out[i] = 0;
        for (int64_t o = 0; o < m; o++) out[i] += f[i / n * m + o] * f[i % n * m + o] / (double)m;
    }
    free(f);
    gram_network_destroy(network);
}

/* Monte Carlo: H of a wide network is ntk and its covariance nngp but for a random error of size M^-1/2. */
static void networks_tend_to_their_kernels(void **state)
{
    enum { N = 6, D = 3, NETWORKS = 24 };
    const double widths[] = {32, 128, 512};
    double x[N * D], h[N * N];
    test_uniform(1, N * D, -1.5, 1.5, x);
    gram_points *points = test_points(*state, N, D, x);
    for (int which = 0; which < 8; which++) {
        const int tangent = which & 1, act = which >> 1 & 1, depth = 1 + (which >> 2);
        char text[96];
        double error[3];
        (void)snprintf(text, sizeof text, "%s(depth=%d, act=%s, sw=1.2, sb=0.4, fan=3)", tangent ? "ntk" : "nngp",
                       depth, gram_activation_name((gram_activation)act));
        gram_kernel *kernel = test_kernel(*state, text);
        double *limit = test_matrix(*state, kernel, points, NULL);
        for (int w = 0; w < 3; w++) {
            double squares = 0;
            for (int r = 0; r < NETWORKS; r++) {
                estimate(*state, tangent, (gram_activation)act, depth, (int64_t)widths[w], (uint64_t)r, points, N, h);
                for (int i = 0; i < N * N; i++) squares += (h[i] - limit[i]) * (h[i] - limit[i]);
            }
            error[w] = sqrt(squares / (NETWORKS * N * N));
        }
        near_exponent(text, 3, widths, error, -0.5, 0.1);
        gram_kernel_release(kernel);
        free(limit);
    }
    gram_points_release(points);
}

/* Covariances of the start over many networks, beside their standard errors; for one hidden layer nngp is exact at any width. */
static void starts_have_the_covariance_nngp(void **state)
{
    enum { N = 4, D = 2, NETWORKS = 10000 };
    double x[N * D], f[N];
    test_uniform(3, N * D, -1.5, 1.5, x);
    gram_points *points = test_points(*state, N, D, x);
    for (int act = 0; act < 2; act++) {
        double sum[N * N] = {0}, squares[N * N] = {0};
        gram_kernel *kernel = test_kernel(*state, act ? "nngp(depth=1, act=erf, sw=1.2, sb=0.4, fan=2)"
                                                      : "nngp(depth=1, act=relu, sw=1.2, sb=0.4, fan=2)");
        double *limit = test_matrix(*state, kernel, points, NULL);
        for (int r = 0; r < NETWORKS; r++) {
            gram_network *network = network_of(*state, (gram_activation)act, D, 1, 8, 1, 0, (uint64_t)r);
            OK(*state, gram_network_evaluate(*state, network, points, f, 1));
            for (int i = 0; i < N * N; i++) {
                const double product = f[i / N] * f[i % N];
                sum[i] += product / NETWORKS;
                squares[i] += product * product / NETWORKS;
            }
            gram_network_destroy(network);
        }
        for (int i = 0; i < N * N; i++) {
            const double error = sqrt((squares[i] - sum[i] * sum[i]) / NETWORKS);
            if (fabs(sum[i] - limit[i]) > 4 * error) FAIL_TEST("covariance %g, nngp %g", sum[i], limit[i]);
        }
        gram_kernel_release(kernel);
        free(limit);
    }
    gram_points_release(points);
}

/* Given its hidden units, f is normal with the variance v = sw^2 mean s^2 + sb^2, so that its excess kurtosis is 3 var v/(E v)^2. Of relu s^2 has the mean S/2
 * and the variance 5/4 S^2, S = sw^2 |x|^2/d + sb^2 being that of z: the excess is 3 (5/4 sw^4 S^2/M)/(sw^2 S/2 + sb^2)^2.
 * Since E f^2 is known (V), E f^4/V^2 - 3 is taken as the mean of f^4/V^2 - 6 f^2/V + 3, which varies far less, over many outputs. */
static void kurtosis_falls_like_1_over_width(void **state)
{
    enum { WIDTHS = 3, NETWORKS = 12000, OUTPUTS = 64 };
    const double widths[WIDTHS] = {4, 16, 64}, x = 1.4, w2 = 1.44, b2 = 0.16, s = w2 * x * x + b2;
    const double variance = w2 * s / 2 + b2;
    double excess[WIDTHS], f[OUTPUTS];
    gram_points *points = test_points(*state, 1, 1, &x);
    for (int k = 0; k < WIDTHS; k++) {
        const double wanted = 3.75 * w2 * w2 * s * s / (variance * variance) / widths[k];
        double sum = 0, squares = 0;
        for (int r = 0; r < NETWORKS; r++) {
            const gram_network_options o = {
                .inputs = 1, .outputs = OUTPUTS, .depth = 1, .scale = 1, .number = (uint64_t)r};
            gram_network *network = make_network(*state, o, (int64_t)widths[k]);
            double mean = 0;
            OK(*state, gram_network_evaluate(*state, network, points, f, OUTPUTS));
            for (int i = 0; i < OUTPUTS; i++) {
                const double square = f[i] * f[i] / variance;
                mean += (square * square - 6 * square + 3) / OUTPUTS;
            }
            sum += mean / NETWORKS;
            squares += mean * mean / NETWORKS;
            gram_network_destroy(network);
        }
        const double error = sqrt((squares - sum * sum) / NETWORKS);
        excess[k] = sum;
        if (fabs(sum - wanted) > 4 * error)
            FAIL_TEST("excess kurtosis %g at width %g instead of %g +- %g", sum, widths[k], wanted, error);
    }
    near_exponent("excess kurtosis", WIDTHS, widths, excess, -1, 0.1);
    gram_points_release(points);
}

/* ---- training ---- */

enum { ROWS = 20, COLUMNS = 2 };

typedef struct lesson {
    double x[ROWS * COLUMNS], y[ROWS];
    gram_points *points;
} lesson;

static void lesson_make(gram_context *context, lesson *l)
{
    test_uniform(7, ROWS * COLUMNS, -1.5, 1.5, l->x);
    for (int i = 0; i < ROWS; i++) l->y[i] = sin(2 * l->x[2 * i]) + 0.5 * l->x[2 * i + 1];
    l->points = test_points(context, ROWS, COLUMNS, l->x);
}

/* What training changed: weights, the kernel (relative, in the Frobenius norm), f. */
typedef struct change {
    double each, whole, kernel, f;
} change;

static double relative(int n, const double *after, const double *before)
{
    double difference = 0, norm = 0;
    for (int i = 0; i < n; i++) {
        difference += (after[i] - before[i]) * (after[i] - before[i]);
        norm += before[i] * before[i];
    }
    return sqrt(difference / norm);
}

static change train(gram_context *context, const lesson *l, gram_network *network, double rate, int64_t steps)
{
    gram_descent_options o;
    gram_descent *descent;
    double before[ROWS * ROWS], after[ROWS * ROWS], f0[ROWS], f[ROWS];
    change c = {0};
    gram_descent_options_init(&o, sizeof o);
    o.rate = rate;
    OK(context, gram_network_tangent_matrix(context, network, 0, l->points, NULL, before, ROWS));
    OK(context, gram_network_evaluate(context, network, l->points, f0, 1));
    OK(context, gram_descent_create(context, network, l->points, l->y, 1, &o, &descent));
    OK(context, gram_descent_run(context, descent, steps, NULL));
    gram_descent_destroy(descent);
    OK(context, gram_network_tangent_matrix(context, network, 0, l->points, NULL, after, ROWS));
    OK(context, gram_network_evaluate(context, network, l->points, f, 1));
    gram_network_drift(network, &c.each, &c.whole);
    c.kernel = relative(ROWS * ROWS, after, before);
    for (int i = 0; i < ROWS; i++) c.f += fabs(f[i] - f0[i]) / ROWS;
    return c;
}

/* a = sqrt M, unscaled time: a weight moves by M^-1/2, all of them together and f by as much as ever, and H less and less. The general bound for H is
 * M^-1/2 (Chizat, Oyallon, Bach 2019). Of two layers it is M^-1 for smooth activations: H is a mean over units, its change to first order odd in the
 * output weight of each, hence of mean 0 and of size M^-1/2 M^-1/2, and to second order M^-1. Of relu a share M^-1/2 of the units changes its
 * sign at some row, each by as much as ever: the sum of M^1/2 such changes of random sign is M^(1/4), and the mean M^-3/4. */
static void lazy_training_by_width(void **state)
{
    enum { WIDTHS = 5, NETWORKS = 3 };
    double widths[WIDTHS] = {64, 128, 256, 512, 1024}, each[WIDTHS], whole[WIDTHS], kernel[WIDTHS], f[WIDTHS];
    lesson l;
    lesson_make(*state, &l);
    for (int act = 0; act < 3; act++) {
        for (int w = 0; w < WIDTHS; w++) {
            each[w] = whole[w] = kernel[w] = f[w] = 0;
            for (int r = 0; r < NETWORKS; r++) {
                gram_network *network =
                    network_of(*state, (gram_activation)act, COLUMNS, 1, (int64_t)widths[w], 1, 1, (uint64_t)r);
                const change c = train(*state, &l, network, 0.1, 150);
                each[w] += c.each / NETWORKS;
                whole[w] += c.whole / NETWORKS;
                kernel[w] += c.kernel / NETWORKS;
                f[w] += c.f / NETWORKS;
                gram_network_destroy(network);
            }
        }
        near_exponent("a weight", WIDTHS, widths, each, -0.5, 0.1);
        near_exponent("all weights", WIDTHS, widths, whole, 0, 0.1);
        near_exponent("f", WIDTHS, widths, f, 0, 0.1);
        near_exponent("the kernel", WIDTHS, widths, kernel, act == GRAM_ACTIVATION_RELU ? -0.75 : -1, 0.15);
    }
    gram_points_release(l.points);
}

/* At fixed width a growing scale is lazy too: the same time in units of H needs weights to move by 1/scale, and H moves with them. With
 * the scale 1/sqrt(M) of mean fields H moves however wide the network is. */
static void lazy_training_by_scale(void **state)
{
    enum { SCALES = 4 };
    const double scales[SCALES] = {2, 8, 32, 128};
    double kernel[SCALES], whole[SCALES];
    lesson l;
    lesson_make(*state, &l);
    for (int s = 0; s < SCALES; s++) {
        gram_network *network = network_of(*state, GRAM_ACTIVATION_TANH, COLUMNS, 1, 30, scales[s], 1, 0);
        const change c = train(*state, &l, network, 0.1 / (scales[s] * scales[s]), 300);
        kernel[s] = c.kernel;
        whole[s] = c.whole;
        gram_network_destroy(network);
    }
    near_exponent("the kernel by scale", SCALES, scales, kernel, -1, 0.1);
    near_exponent("all weights by scale", SCALES, scales, whole, -1, 0.1);
    gram_network *lazy = network_of(*state, GRAM_ACTIVATION_TANH, COLUMNS, 1, 1024, 1, 1, 0);
    gram_network *mean = network_of(*state, GRAM_ACTIVATION_TANH, COLUMNS, 1, 1024, 1 / sqrt(1024), 1, 0);
    const change a = train(*state, &l, lazy, 0.1, 300), b = train(*state, &l, mean, 0.1 * 1024, 300);
    if (!(a.kernel < 0.05 && b.kernel > 0.3)) FAIL_TEST("the kernel moves by %g, and %g", a.kernel, b.kernel);
    gram_network_destroy(lazy);
    gram_network_destroy(mean);
    gram_points_release(l.points);
}

/* ---- ensembles ---- */

/* Trained networks are draws of f_t = f_0 + A (y - f_0(X)), A = h H^-1 (I - exp(-2 t H/n)): mean A y, and variance
 * S(x,x) - 2 A S(X,x) + A S A' for starts of covariance S = nngp and H = ntk. */
static void ensembles_are_draws(void **state)
{
    enum { NETWORKS = 200, AT = 4, STEPS = 200 };
    const double rate = 0.05, t = rate * STEPS, at[AT * COLUMNS] = {0, 0, 1, -1, -0.5, 1.2, 2.5, 0.3};
    const char *const parameters = "(depth=1, act=erf, sw=1.2, sb=0.4, fan=2)";
    double values[ROWS], vectors[ROWS * ROWS], mean[AT] = {0}, square[AT] = {0}, f[AT];
    char text[2][96];
    lesson l;
    lesson_make(*state, &l);
    (void)snprintf(text[0], sizeof text[0], "nngp%s", parameters);
    (void)snprintf(text[1], sizeof text[1], "ntk%s", parameters);
    gram_points *places = test_points(*state, AT, COLUMNS, at);
    gram_kernel *s = test_kernel(*state, text[0]), *h = test_kernel(*state, text[1]);
    double *hx = test_matrix(*state, h, l.points, NULL), *ha = test_matrix(*state, h, places, l.points);
    double *sx = test_matrix(*state, s, l.points, NULL), *sa = test_matrix(*state, s, places, l.points);
    double *ss = test_matrix(*state, s, places, NULL);
    OK(*state, gram_eigen_symmetric(*state, ROWS, hx, ROWS, 0, ROWS, values, vectors, ROWS));
    for (int r = 0; r < NETWORKS; r++) {
        gram_network *network = network_of(*state, GRAM_ACTIVATION_ERF, COLUMNS, 1, 400, 1, 0, (uint64_t)r);
        (void)train(*state, &l, network, rate, STEPS);
        OK(*state, gram_network_evaluate(*state, network, places, f, 1));
        for (int i = 0; i < AT; i++) {
            mean[i] += f[i] / NETWORKS;
            square[i] += f[i] * f[i] / NETWORKS;
        }
        gram_network_destroy(network);
    }
    for (int p = 0; p < AT; p++) {
        double a[ROWS] = {0}, wanted = 0, variance = ss[p * AT + p];
        for (int k = 0; k < ROWS; k++) {
            double along = 0;
            for (int i = 0; i < ROWS; i++) along += ha[p * ROWS + i] * vectors[k * ROWS + i];
            along *= values[k] > 1e-12 ? -expm1(-2 * t * values[k] / ROWS) / values[k] : 2 * t / ROWS;
            for (int i = 0; i < ROWS; i++) a[i] += along * vectors[k * ROWS + i];
        }
        for (int i = 0; i < ROWS; i++) {
            wanted += a[i] * l.y[i];
            variance -= 2 * a[i] * sa[p * ROWS + i];
            for (int j = 0; j < ROWS; j++) variance += a[i] * sx[i * ROWS + j] * a[j];
        }
        const double found = square[p] - mean[p] * mean[p];
        if (fabs(mean[p] - wanted) > 4 * sqrt(variance / NETWORKS) + 0.01)
            FAIL_TEST("mean %g at point %d, the kernels say %g", mean[p], p, wanted);
        if (fabs(found / variance - 1) > 4 * sqrt(2.0 / NETWORKS))
            FAIL_TEST("variance %g at point %d, the kernels say %g", found, p, variance);
    }
    gram_kernel_release(s);
    gram_kernel_release(h);
    gram_points_release(places);
    gram_points_release(l.points);
    free(hx), free(ha), free(sx), free(sa), free(ss);
}

/* One thread: the networks are small, and on a busy machine threads would wait for each other at every step. */
static int open_one(void **state)
{
    *state = TEST_CONTEXT(.threads = 1);
    return 0;
}

static int close_one(void **state)
{
    gram_context *context = *state, *fresh = TEST_CONTEXT(.threads = 1);
    const int leaked = gram_context_memory_used(context) != gram_context_memory_used(fresh);
    gram_context_destroy(fresh);
    gram_context_destroy(context);
    return leaked;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_tend_to_their_kernels),   cmocka_unit_test(starts_have_the_covariance_nngp),
        cmocka_unit_test(kurtosis_falls_like_1_over_width), cmocka_unit_test(lazy_training_by_width),
        cmocka_unit_test(lazy_training_by_scale),           cmocka_unit_test(ensembles_are_draws),
    };
    return cmocka_run_group_tests(tests, open_one, close_one);
}
