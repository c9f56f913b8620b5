/* Networks against a slow twin, differences and closed forms: values, gradients, tangent kernels, descent. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dense_twin.h"
#include "oom.h"
#include "support.h"

/* ---- networks to look at ---- */

typedef struct shape {
    gram_activation activation;
    gram_parameterisation parameterisation;
    int64_t inputs, outputs, depth, widths[3];
    double sb, scale;
    int centred;
} shape;

static const shape SHAPES[] = {
    {GRAM_ACTIVATION_TANH, GRAM_PARAMETERISATION_NTK, 3, 1, 1, {7}, 0.4, 1, 0},
    {GRAM_ACTIVATION_ERF, GRAM_PARAMETERISATION_NTK, 2, 2, 2, {5, 6}, 0.3, 1.7, 0},
    {GRAM_ACTIVATION_RELU, GRAM_PARAMETERISATION_NTK, 4, 1, 3, {6, 4, 5}, 0.5, 1, 0},
    {GRAM_ACTIVATION_TANH, GRAM_PARAMETERISATION_STANDARD, 3, 2, 2, {5, 4}, 0.2, 0.6, 1},
    {GRAM_ACTIVATION_RELU, GRAM_PARAMETERISATION_STANDARD, 1, 1, 1, {9}, 0.7, 1, 0},
    {GRAM_ACTIVATION_ERF, GRAM_PARAMETERISATION_NTK, 1, 3, 1, {300}, 0, 2, 1},
};
enum { SHAPE_COUNT = sizeof SHAPES / sizeof *SHAPES };

static gram_network *network_of(gram_context *context, const shape *s)
{
    gram_network_options o;
    gram_network *network;
    gram_network_options_init(&o, sizeof o);
    o.inputs = s->inputs;
    o.outputs = s->outputs;
    o.depth = s->depth;
    o.widths = s->widths;
    o.activation = s->activation;
    o.parameterisation = s->parameterisation;
    o.sw = 1.3;
    o.sb = s->sb;
    o.scale = s->scale;
    o.centred = s->centred;
    OK(context, gram_network_create(context, &o, &network));
    return network;
}

/* The network after some steps away from its start. */
static gram_network *moved_network(gram_context *context, const shape *s, uint64_t seed)
{
    gram_network *network = network_of(context, s);
    const int64_t count = gram_network_parameter_count(network);
    double *theta = test_random(seed, count, -0.3, 0.3);
    for (int64_t i = 0; i < count; i++) theta[i] += gram_network_start(network)[i];
    OK(context, gram_network_set(context, network, theta, NULL));
    free(theta);
    return network;
}

/* ---- a slow twin ---- */

static double act(gram_activation activation, double z)
{
    return activation == GRAM_ACTIVATION_RELU ? (z > 0 ? z : 0) : activation == GRAM_ACTIVATION_ERF ? erf(z) : tanh(z);
}

/* f(x; theta), unit by unit from the definition */
static void twin(const gram_network_options *o, const double *theta, const double *x, double *f)
{
    double below[512], above[512];
    const int ntk = o->parameterisation == GRAM_PARAMETERISATION_NTK;
    int64_t in = o->inputs;
    memcpy(below, x, (size_t)in * sizeof *x);
    for (int64_t l = 0; l <= o->depth; l++) {
        const int64_t out = l < o->depth ? o->widths[l] : o->outputs;
        const double fan = l == 0 && o->fan > 0 ? o->fan : (double)in;
        for (int64_t u = 0; u < out; u++) {
            double z = 0;
            for (int64_t i = 0; i < in; i++) z += theta[u * in + i] * below[i];
            z = (ntk ? o->sw / sqrt(fan) : 1) * z + (ntk ? o->sb : 1) * theta[out * in + u];
            above[u] = l < o->depth ? act(o->activation, z) : o->scale * z;
        }
        theta += out * in + out;
        memcpy(below, above, (size_t)out * sizeof *below);
        in = out;
    }
    memcpy(f, below, (size_t)o->outputs * sizeof *f);
}

/* f of the network with other weights */
static void twin_values(const gram_network *network, const double *theta, int64_t n, const double *x, double *f)
{
    const gram_network_options *o = gram_network_get_options(network);
    double start[8];
    for (int64_t i = 0; i < n; i++) {
        twin(o, theta, x + i * o->inputs, f + i * o->outputs);
        if (!o->centred) continue;
        twin(o, gram_network_start(network), x + i * o->inputs, start);
        for (int64_t k = 0; k < o->outputs; k++) f[i * o->outputs + k] -= start[k];
    }
}

/* d f(theta + t u)/dt by differences of fourth order */
static void twin_along(const gram_network *network, int64_t n, const double *x, const double *u, double *out)
{
    const int64_t m = gram_network_get_options(network)->outputs, count = gram_network_parameter_count(network);
    const double weights[] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12}, at[] = {-2, -1, 1, 2}, h = 2e-4;
    double *theta = test_numbers(count), *f = test_numbers(n * m);
    memset(out, 0, (size_t)(n * m) * sizeof *out);
    for (int k = 0; k < 4; k++) {
        for (int64_t i = 0; i < count; i++) theta[i] = gram_network_parameters(network)[i] + h * at[k] * u[i];
        twin_values(network, theta, n, x, f);
        for (int64_t i = 0; i < n * m; i++) out[i] += weights[k] * f[i] / h;
    }
    free(theta);
    free(f);
}

/* ---- values and gradients ---- */

static void values_are_the_twins(void **state)
{
    for (int s = 0; s < SHAPE_COUNT; s++) {
        gram_network *network = moved_network(*state, &SHAPES[s], 5);
        const int64_t d = SHAPES[s].inputs, m = SHAPES[s].outputs, n = 150;
        double *x = test_random(3, n * d, -2, 2), *f = test_numbers(n * m), *wanted = test_numbers(n * m);
        gram_points *points = test_points(*state, n, d, x);
        OK(*state, gram_network_evaluate(*state, network, points, f, m));
        twin_values(network, gram_network_parameters(network), n, x, wanted);
        test_near("values", NULL, n * m, f, wanted, 1e-13);
        gram_points_release(points);
        gram_network_destroy(network);
        free(x);
        free(f);
        free(wanted);
    }
}

static void products_with_the_jacobian(void **state)
{
    for (int s = 0; s < SHAPE_COUNT; s++) {
        gram_network *network = moved_network(*state, &SHAPES[s], 7);
        const int64_t d = SHAPES[s].inputs, m = SHAPES[s].outputs, n = 70;
        const int64_t count = gram_network_parameter_count(network);
        double *x = test_random(3, n * d, -2, 2), *u = test_random(9, count, -1, 1), *v = test_random(10, n * m, -1, 1);
        double *along = test_numbers(n * m), *wanted = test_numbers(n * m), *gradient = test_numbers(count);
        double left = 0, right = 0;
        gram_points *points = test_points(*state, n, d, x);
        OK(*state, gram_network_directional(*state, network, points, u, along, m));
        twin_along(network, n, x, u, wanted);
        test_near("along u", gram_activation_name(SHAPES[s].activation), n * m, along, wanted,
                  SHAPES[s].activation == GRAM_ACTIVATION_RELU ? 1e-7 : 1e-9);
        OK(*state, gram_network_gradient(*state, network, points, v, m, gradient));
        for (int64_t i = 0; i < n * m; i++) left += v[i] * along[i];
        for (int64_t i = 0; i < count; i++) right += gradient[i] * u[i];
        test_near("v'J u both ways", NULL, 1, &left, &right, 1e-12);
        gram_points_release(points);
        gram_network_destroy(network);
        free(x), free(u), free(v), free(along), free(wanted), free(gradient);
    }
}

/* Every single derivative, by differences. */
static void gradients_by_differences(void **state)
{
    for (int s = 0; s < 5; s++) {
        gram_network *network = moved_network(*state, &SHAPES[s], 11);
        const int64_t d = SHAPES[s].inputs, m = SHAPES[s].outputs, n = 3, count = gram_network_parameter_count(network);
        double *x = test_random(4, n * d, -2, 2), v[6], *gradient = test_numbers(count), *u = test_numbers(count), f[6];
        gram_points *points = test_points(*state, n, d, x);
        test_uniform(12, n * m, -1, 1, v);
        OK(*state, gram_network_gradient(*state, network, points, v, m, gradient));
        for (int64_t p = 0; p < count; p++) {
            double sum = 0;
            u[p] = 1;
            twin_along(network, n, x, u, f);
            u[p] = 0;
            for (int64_t i = 0; i < n * m; i++) sum += v[i] * f[i];
            test_near("gradient", NULL, 1, &gradient[p], &sum, 1e-8);
        }
        gram_points_release(points);
        gram_network_destroy(network);
        free(x), free(gradient), free(u);
    }
}

/* f(theta_0) + grad.(theta - theta_0); and many rows, more than are in memory at once. */
static void linearised_networks(void **state)
{
    enum { N = 2 * 2048 + 77 };
    const shape s = SHAPES[0];
    gram_network *network = moved_network(*state, &s, 13), *linear, *start = network_of(*state, &s);
    const int64_t count = gram_network_parameter_count(network);
    double *x = test_random(5, N * s.inputs, -2, 2), *f = test_numbers(N), *f0 = test_numbers(N),
           *along = test_numbers(N);
    double *u = test_numbers(count), *gradient = test_numbers(count), *part = test_numbers(count),
           *sum = test_numbers(count);
    gram_points *points = test_points(*state, N, s.inputs, x);
    OK(*state, gram_network_linearise(*state, network, &linear));
    for (int64_t i = 0; i < count; i++) u[i] = gram_network_parameters(network)[i] - gram_network_start(network)[i];
    OK(*state, gram_network_evaluate(*state, linear, points, f, 1));
    OK(*state, gram_network_evaluate(*state, start, points, f0, 1));
    OK(*state, gram_network_directional(*state, start, points, u, along, 1));
    for (int64_t i = 0; i < N; i++) f0[i] += along[i];
    test_near("linearised", NULL, N, f, f0, 1e-13);
    OK(*state, gram_network_gradient(*state, linear, points, f, 1, gradient));
    for (int64_t from = 0; from < N; from += 500) {
        const int64_t rows = N - from < 500 ? N - from : 500;
        gram_points *some = test_points(*state, rows, s.inputs, x + from * s.inputs);
        OK(*state, gram_network_gradient(*state, start, some, f + from, 1, part));
        for (int64_t i = 0; i < count; i++) sum[i] += part[i];
        gram_points_release(some);
    }
    test_near("a sum over rows", NULL, count, gradient, sum, 1e-11);
    gram_points_release(points);
    gram_network_destroy(network);
    gram_network_destroy(linear);
    gram_network_destroy(start);
    free(x), free(f), free(f0), free(along), free(u), free(gradient), free(part), free(sum);
}

/* ---- tangent kernels ---- */

/* H from the whole Jacobian, row by row by products with unit vectors. */
static double *jacobian_of(gram_context *context, const gram_network *network, const gram_points *points,
                           int64_t output)
{
    const int64_t n = gram_points_count(points), m = gram_network_get_options(network)->outputs;
    const int64_t count = gram_network_parameter_count(network);
    double *jacobian = test_numbers(n * count), *v = test_numbers(n * m);
    for (int64_t i = 0; i < n; i++) {
        v[i * m + output] = 1;
        OK(context, gram_network_gradient(context, network, points, v, m, jacobian + i * count));
        v[i * m + output] = 0;
    }
    free(v);
    return jacobian;
}

static void add_products(int64_t n, int64_t count, const double *jacobian, double share, double *h)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t p = 0; p < count; p++)
                h[i * n + j] += share * jacobian[i * count + p] * jacobian[j * count + p];
}

static void tangent_matrices(void **state)
{
    for (int s = 0; s < SHAPE_COUNT; s++) {
        gram_network *network = moved_network(*state, &SHAPES[s], 17);
        const int64_t d = SHAPES[s].inputs, m = SHAPES[s].outputs, n = 150, few = 20;
        double *x = test_random(6, n * d, -2, 2), *h = test_numbers(n * n), *part = test_numbers(few * n);
        double *wanted = test_numbers(few * few), *mean = test_numbers(few * few), *k = test_numbers(few * few);
        gram_points *points = test_points(*state, n, d, x), *first = test_points(*state, few, d, x);
        gram_kernel *kernel;
        for (int64_t o = 0; o < m; o++) {
            double *jacobian = jacobian_of(*state, network, first, o);
            memset(wanted, 0, (size_t)(few * few) * sizeof *wanted);
            add_products(few, gram_network_parameter_count(network), jacobian, 1, wanted);
            add_products(few, gram_network_parameter_count(network), jacobian, 1 / (double)m, mean);
            OK(*state, gram_network_tangent_matrix(*state, network, o, first, NULL, k, few));
            test_near("tangent kernel", NULL, few * few, k, wanted, 1e-12);
            OK(*state, gram_kernel_network_tangent(*state, network, o, &kernel));
            OK(*state, gram_matrix(*state, kernel, first, NULL, k, few));
            test_near("as a kernel", NULL, few * few, k, wanted, 1e-12);
            gram_kernel_release(kernel);
            free(jacobian);
        }
        OK(*state, gram_network_tangent_matrix(*state, network, -1, points, NULL, h, n));
        for (int64_t i = 0; i < few; i++) test_near("mean", NULL, few, h + i * n, mean + i * few, 1e-12);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) assert_true(h[i * n + j] == h[j * n + i]);
        OK(*state, gram_network_tangent_matrix(*state, network, -1, first, points, part, n));
        test_near("two sets", NULL, few * n, part, h, 1e-12);
        OK(*state, gram_kernel_network_tangent(*state, network, -1, &kernel));
        double *engine = test_matrix(*state, kernel, points, NULL), *one = test_matrix(*state, kernel, first, points);
        test_near("blocks", NULL, n * n, engine, h, 1e-12);
        assert_true(test_same_bits(few, n, one, n, engine, n));
        gram_kernel_release(kernel);
        gram_points_release(points);
        gram_points_release(first);
        gram_network_destroy(network);
        free(x), free(h), free(part), free(wanted), free(mean), free(k), free(engine), free(one);
    }
}

/* f = sum_i theta_i k(x_i, .): its tangent kernel is sum_i k(u, x_i) k(x_i, v), K^2 on the data. */
typedef struct machine {
    int64_t n;
    const double *x;
    int released;
} machine;

static double machine_function(void *user, int64_t d, const double *x, const double *theta, double *gradient)
{
    const machine *k = user;
    double sum = 0;
    for (int64_t i = 0; i < k->n; i++) {
        double r = 0;
        for (int64_t l = 0; l < d; l++) r += (x[l] - k->x[i * d + l]) * (x[l] - k->x[i * d + l]);
        sum += theta[i] * exp(-0.5 * r);
        if (gradient) gradient[i] = exp(-0.5 * r);
    }
    return sum;
}

static void machine_release(void *user)
{
    ((machine *)user)->released++;
}

static void tangent_kernel_of_a_kernel_machine(void **state)
{
    enum { N = 130, D = 2 };
    double *x = test_random(8, N * D, -1, 1);
    machine k = {N, x, 0};
    gram_points *points = test_points(*state, N, D, x), *narrow = test_points(*state, N, 1, x);
    gram_kernel *rbf = test_kernel(*state, "rbf(ell=1)"), *tangent;
    double theta[N] = {0};
    gram_parametric f = {D, N, machine_function, &k};
    OK(*state, gram_kernel_tangent(*state, "machine", &f, theta, machine_release, &tangent));
    double *a = test_matrix(*state, rbf, points, NULL), *h = test_matrix(*state, tangent, points, NULL);
    double *square = test_numbers(N * N), unused[1];
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            for (int64_t l = 0; l < N; l++) square[i * N + j] += a[i * N + l] * a[l * N + j];
    test_near("K^2", NULL, N * N, h, square, 1e-12);
    REFUSED(*state, gram_matrix_diagonal(*state, tangent, narrow, unused), GRAM_ERROR_DIMENSION, "column");
    gram_kernel_release(tangent);
    assert_int_equal(k.released, 1);
    REFUSED(*state, gram_kernel_tangent(*state, "a name", &f, theta, machine_release, &tangent), GRAM_ERROR_ARGUMENT,
            "'a name'");
    f.parameters = 0;
    REFUSED(*state, gram_kernel_tangent(*state, "machine", &f, theta, machine_release, &tangent), GRAM_ERROR_ARGUMENT,
            "f.parameters = 0");
    assert_int_equal(k.released, 3);
    gram_kernel_release(rbf);
    gram_points_release(points);
    gram_points_release(narrow);
    free(x), free(a), free(h), free(square);
}

/* ---- any function of parameters ---- */

/* theta_0 sin(theta_1 x_0 + theta_2) + theta_3 x_1^2 */
static double wave(void *user, int64_t d, const double *x, const double *theta, double *gradient)
{
    const double phase = theta[1] * x[0] + theta[2];
    (void)user, (void)d;
    if (gradient) {
        gradient[0] = sin(phase);
        gradient[1] = theta[0] * x[0] * cos(phase);
        gradient[2] = theta[0] * cos(phase);
        gradient[3] = x[1] * x[1];
    }
    return theta[0] * sin(phase) + theta[3] * x[1] * x[1];
}

/* Steps against a loop, for any number of threads; its tangent kernel says how f moves in a small one: -(2 rate/n) H (f - y). */
static void functions_of_parameters(void **state)
{
    enum { N = 50, D = 2, P = 4, STEPS = 40 };
    const gram_parametric f = {D, P, wave, NULL};
    double *x = test_random(31, N * D, -1, 1), y[N], before[N], after[N], losses[STEPS], theta[P] = {1, 2, 0.3, -0.5};
    double twin_theta[P], h[N * N];
    gram_points *points = test_points(*state, N, D, x);
    gram_kernel *kernel;
    memcpy(twin_theta, theta, sizeof theta);
    for (int i = 0; i < N; i++) y[i] = sin(3 * x[2 * i]) + x[2 * i + 1];
    OK(*state, gram_kernel_tangent(*state, "wave", &f, theta, NULL, &kernel));
    OK(*state, gram_matrix(*state, kernel, points, NULL, h, N));
    OK(*state, gram_parametric_evaluate(*state, &f, theta, points, before));
    OK(*state, gram_parametric_descend(*state, &f, points, y, 1e-7, 1, theta, NULL));
    OK(*state, gram_parametric_evaluate(*state, &f, theta, points, after));
    for (int i = 0; i < N; i++) {
        double wanted = 0;
        for (int j = 0; j < N; j++) wanted -= 2.0 / N * h[i * N + j] * (before[j] - y[j]);
        if (!(fabs((after[i] - before[i]) / 1e-7 - wanted) < 1e-5)) FAIL_TEST("row %d does not move by its kernel", i);
    }
    memcpy(theta, twin_theta, sizeof theta);
    OK(*state, gram_parametric_descend(*state, &f, points, y, 0.05, STEPS, theta, losses));
    for (int s = 0; s < STEPS; s++) {
        double g[P], sum[P] = {0}, loss = 0;
        for (int i = 0; i < N; i++) {
            const double error = wave(NULL, D, x + (ptrdiff_t)i * D, twin_theta, g) - y[i];
            loss += error * error / N;
            for (int p = 0; p < P; p++) sum[p] += 2 * error * g[p] / N;
        }
        for (int p = 0; p < P; p++) twin_theta[p] -= 0.05 * sum[p];
        test_near("loss", NULL, 1, &losses[s], &loss, 1e-12);
    }
    test_near("parameters", NULL, P, theta, twin_theta, 1e-12);
    REFUSED(*state, gram_parametric_descend(*state, &f, points, y, 1e9, 5, theta, NULL), GRAM_ERROR_NUMERICAL,
            "diverges");
    test_near("parameters after it diverged", NULL, P, theta, twin_theta, 1e-12);
    REFUSED(*state, gram_parametric_descend(*state, &f, points, y, 0, 5, theta, NULL), GRAM_ERROR_ARGUMENT, "rate = 0");
    theta[2] = NAN;
    REFUSED(*state, gram_parametric_evaluate(*state, &f, theta, points, after), GRAM_ERROR_DATA, "theta[2]");
    gram_kernel_release(kernel);
    gram_points_release(points);
    free(x);
}

/* A kernel machine by its coefficients: with small steps descent is the flow of K^2, half the step half the error. */
static void kernel_machines_follow_their_flow(void **state)
{
    enum { N = 20, D = 2, M = 3 };
    double *x = test_random(8, N * D, -1, 1), y[N], exact[N], found[N], error[M];
    machine k = {N, x, 0};
    const gram_parametric f = {D, N, machine_function, &k};
    gram_points *points = test_points(*state, N, D, x);
    gram_kernel *rbf = test_kernel(*state, "rbf(ell=1)");
    gram_flow_options o;
    gram_flow *flow = NULL;
    gram_flow_options_init(&o, sizeof o);
    o.parameters = GRAM_FLOW_COEFFICIENTS;
    for (int i = 0; i < N; i++) y[i] = sin(3 * x[2 * i]) + x[2 * i + 1];
    OK(*state, gram_flow_create(*state, rbf, points, 1, y, 1, &o, &flow));
    const double time = 10 * N / gram_flow_get_report(flow)->largest;
    OK(*state, gram_flow_values(*state, flow, 1, &time, exact));
    for (int m = 0; m < M; m++) {
        const int64_t steps = 200 << m;
        double theta[N] = {0};
        OK(*state, gram_parametric_descend(*state, &f, points, y, time / (double)steps, steps, theta, NULL));
        OK(*state, gram_parametric_evaluate(*state, &f, theta, points, found));
        error[m] = 0;
        for (int i = 0; i < N; i++) error[m] = fmax(error[m], fabs(found[i] - exact[i]));
    }
    for (int m = 0; m + 1 < M; m++)
        if (!(fabs(error[m] / error[m + 1] - 2) < 0.1)) FAIL_TEST("errors %g, %g", error[m], error[m + 1]);
    gram_flow_destroy(flow);
    gram_kernel_release(rbf);
    gram_points_release(points);
    free(x);
}

/* ---- descent ---- */

typedef struct lesson {
    gram_network *network;
    gram_points *points;
    double *x, *y;
    int64_t n, m;
} lesson;

static lesson lesson_of(gram_context *context, const shape *s, int64_t n)
{
    lesson l = {.n = n, .m = s->outputs};
    l.network = network_of(context, s);
    l.x = test_random(21, n * s->inputs, -1.5, 1.5);
    l.y = test_numbers(n * l.m);
    for (int64_t i = 0; i < n; i++)
        for (int64_t o = 0; o < l.m; o++) l.y[i * l.m + o] = sin(2 * l.x[i * s->inputs] + (double)o);
    l.points = test_points(context, n, s->inputs, l.x);
    return l;
}

static void lesson_free(lesson *l)
{
    gram_network_destroy(l->network);
    gram_points_release(l->points);
    free(l->x);
    free(l->y);
}

static gram_descent *descend(gram_context *context, lesson *l, gram_network *network, gram_descent_options o)
{
    gram_descent *descent;
    o.size = sizeof o;
    OK(context, gram_descent_create(context, network, l->points, l->y, l->m, &o, &descent));
    return descent;
}

/* v <- momentum v + g, theta <- theta - rate v by the public gradient */
static void steps_are_the_twins(void **state)
{
    enum { STEPS = 7 };
    const double rate = 0.05, momentum = 0.6;
    for (int s = 0; s < SHAPE_COUNT; s++) {
        lesson l = lesson_of(*state, &SHAPES[s], 100);
        gram_network *twin_net;
        const int64_t count = gram_network_parameter_count(l.network), all = l.n * l.m;
        double *v = test_numbers(count), *g = test_numbers(count), *theta = test_numbers(count), *e = test_numbers(all);
        double losses[STEPS];
        OK(*state, gram_network_copy(*state, l.network, &twin_net));
        gram_descent *descent =
            descend(*state, &l, l.network, (gram_descent_options){.rate = rate, .momentum = momentum});
        OK(*state, gram_descent_run(*state, descent, 3, losses));
        OK(*state, gram_descent_run(*state, descent, STEPS - 3, losses + 3));
        for (int step = 0; step < STEPS; step++) {
            double loss = 0, known;
            OK(*state, gram_network_evaluate(*state, twin_net, l.points, e, l.m));
            for (int64_t i = 0; i < all; i++) {
                e[i] -= l.y[i];
                loss += e[i] * e[i] / (double)l.n;
                e[i] *= 2 / (double)l.n;
            }
            test_near("loss", NULL, 1, &losses[step], &loss, 1e-11);
            OK(*state, gram_network_loss_of(*state, twin_net, l.points, l.y, l.m, GRAM_NETWORK_SQUARED, &known));
            test_near("loss of all", NULL, 1, &known, &loss, 1e-12);
            OK(*state, gram_network_gradient(*state, twin_net, l.points, e, l.m, g));
            for (int64_t i = 0; i < count; i++) {
                v[i] = momentum * v[i] + g[i];
                theta[i] = gram_network_parameters(twin_net)[i] - rate * v[i];
            }
            OK(*state, gram_network_set(*state, twin_net, theta, NULL));
        }
        test_near("weights", NULL, count, gram_network_parameters(l.network), theta, 1e-10);
        gram_descent_destroy(descent);
        gram_network_destroy(twin_net);
        lesson_free(&l);
        free(v), free(g), free(theta), free(e);
    }
}

/* A pass over batches takes every row once: with tiny steps the weights move as by one gradient of all rows, and not in the
 * order of the rows. */
static void batches_take_every_row(void **state)
{
    lesson l = lesson_of(*state, &SHAPES[0], 90);
    const int64_t count = gram_network_parameter_count(l.network), passes = 3;
    double *e = test_numbers(90), *g = test_numbers(count), *change = test_numbers(count), losses[27], sums[3] = {0};
    OK(*state, gram_network_evaluate(*state, l.network, l.points, e, 1));
    for (int i = 0; i < 90; i++) e[i] = 2 * (e[i] - l.y[i]) / 10;
    OK(*state, gram_network_gradient(*state, l.network, l.points, e, 1, g));
    gram_descent *descent = descend(*state, &l, l.network, (gram_descent_options){.rate = 1e-9, .batch = 10});
    OK(*state, gram_descent_run(*state, descent, 9 * passes, losses));
    for (int64_t i = 0; i < count; i++)
        change[i] =
            (gram_network_start(l.network)[i] - gram_network_parameters(l.network)[i]) / (1e-9 * (double)passes);
    test_near("a pass", NULL, count, change, g, 1e-5);
    for (int i = 0; i < 27; i++) sums[i / 9] += losses[i];
    test_near("the loss of passes", NULL, 1, &sums[1], &sums[0], 1e-6);
    assert_true(fabs(losses[0] - losses[9]) > 1e-4 && fabs(losses[0] - losses[18]) > 1e-4);
    gram_descent_destroy(descent);
    lesson_free(&l);
    free(e), free(g), free(change);
}

/* More rows than are in memory at once, and a last batch that is smaller. */
static void large_batches(void **state)
{
    lesson l = lesson_of(*state, &SHAPES[1], 5000);
    gram_network *other;
    const int64_t count = gram_network_parameter_count(l.network);
    double *e = test_numbers(2 * 5000), *g = test_numbers(count), *theta = test_numbers(count), losses[2];
    OK(*state, gram_network_copy(*state, l.network, &other));
    OK(*state, gram_network_evaluate(*state, other, l.points, e, 2));
    for (int i = 0; i < 10000; i++) e[i] = 2 * (e[i] - l.y[i]) / 5000;
    OK(*state, gram_network_gradient(*state, other, l.points, e, 2, g));
    for (int64_t i = 0; i < count; i++) theta[i] = gram_network_start(other)[i] - 0.1 * g[i];
    gram_descent *descent = descend(*state, &l, l.network, (gram_descent_options){.rate = 0.1});
    OK(*state, gram_descent_run(*state, descent, 1, NULL));
    test_near("one step", NULL, count, gram_network_parameters(l.network), theta, 1e-12);
    gram_descent_destroy(descent);
    descent = descend(*state, &l, other, (gram_descent_options){.rate = 1e-9, .batch = 4000});
    OK(*state, gram_descent_run(*state, descent, 2, losses));
    double all, mean = 0.8 * losses[0] + 0.2 * losses[1];
    OK(*state, gram_network_loss_of(*state, other, l.points, l.y, 2, GRAM_NETWORK_SQUARED, &all));
    test_near("both batches", NULL, 1, &mean, &all, 1e-6);
    gram_descent_destroy(descent);
    gram_network_destroy(other);
    lesson_free(&l);
    free(e), free(g), free(theta);
}

/* The gradient of the softmax loss, by differences of the loss along it. */
static void softmax(void **state)
{
    const shape s = {GRAM_ACTIVATION_TANH, GRAM_PARAMETERISATION_NTK, 2, 3, 1, {8}, 0.3, 2, 1};
    for (int linear = 0; linear < 2; linear++) {
        lesson l = lesson_of(*state, &s, 60);
        gram_network *network = l.network, *tangent = NULL;
        double losses[400], before, after;
        for (int i = 0; i < 60; i++)
            for (int o = 0; o < 3; o++) l.y[3 * i + o] = o == (l.x[2 * i] > 0.3) + (l.x[2 * i + 1] > 0);
        if (linear) OK(*state, gram_network_linearise(*state, network, &tangent));
        if (linear) network = tangent;
        const double third = log(3), step = 1e-6;
        gram_descent *descent =
            descend(*state, &l, network, (gram_descent_options){.rate = step, .loss = GRAM_NETWORK_SOFTMAX});
        OK(*state, gram_network_loss_of(*state, network, l.points, l.y, 3, GRAM_NETWORK_SOFTMAX, &before));
        test_near("a centred start", NULL, 1, &before, &third, 1e-14);
        OK(*state, gram_descent_run(*state, descent, 1, NULL));
        OK(*state, gram_network_loss_of(*state, network, l.points, l.y, 3, GRAM_NETWORK_SOFTMAX, &after));
        double each, whole, fall = (before - after) / step;
        gram_network_drift(network, &each, &whole);
        const double square = whole * whole / (step * step);
        test_near("the loss falls by |gradient|^2", NULL, 1, &fall, &square, 1e-4);
        gram_descent_destroy(descent);
        descent = descend(*state, &l, network, (gram_descent_options){.loss = GRAM_NETWORK_SOFTMAX});
        OK(*state, gram_descent_run(*state, descent, 400, losses));
        assert_true(losses[399] < 0.3 * third);
        for (int i = 1; i < 400; i++) assert_true(losses[i] <= losses[i - 1] * (1 + 1e-12));
        gram_descent_destroy(descent);
        gram_network_destroy(tangent);
        lesson_free(&l);
    }
}

/* exp(-2 t H/n) e by the eigenvectors of H, and the same by the powers (1 - 2 rate H/n)^steps */
static void closed_form(gram_context *context, int64_t n, double *h, const double *e, double t, int64_t steps,
                        double *flow, double *powers)
{
    double *values = test_numbers(n), *vectors = test_numbers(n * n);
    OK(context, gram_eigen_symmetric(context, n, h, n, 0, n, values, vectors, n));
    memset(flow, 0, (size_t)n * sizeof *flow);
    memset(powers, 0, (size_t)n * sizeof *powers);
    for (int64_t j = 0; j < n; j++) {
        double along = 0;
        for (int64_t i = 0; i < n; i++) along += vectors[j * n + i] * e[i];
        for (int64_t i = 0; i < n; i++) {
            flow[i] += exp(-2 * t * values[j] / (double)n) * along * vectors[j * n + i];
            powers[i] += pow(1 - 2 * t * values[j] / (double)(n * steps), (double)steps) * along * vectors[j * n + i];
        }
    }
    free(values);
    free(vectors);
}

static double largest_difference(int64_t n, const double *a, const double *b)
{
    return test_distance(n, 1, a, 1, b, 1);
}

/* Descent on the linearised network is the power of I - 2 rate H/n; smaller steps come nearer to the flow, in proportion; and so does
 * a wide network. */
static void small_steps_follow_the_flow(void **state)
{
    enum { N = 25 };
    const shape s = {GRAM_ACTIVATION_ERF, GRAM_PARAMETERISATION_NTK, 2, 1, 1, {2000}, 0.3, 30, 1};
    double h[N * N], e[N], flow[N], powers[N], f[N], far[3], error[3], t = 0;
    for (int k = 0; k < 3; k++) {
        lesson l = lesson_of(*state, &s, N);
        gram_network *linear;
        const int64_t steps = 20 << k;
        OK(*state, gram_network_linearise(*state, l.network, &linear));
        OK(*state, gram_network_tangent_matrix(*state, l.network, 0, l.points, NULL, h, N));
        if (k == 0) {
            double largest;
            OK(*state, gram_network_largest_eigenvalue(*state, l.network, l.points, &largest));
            t = 2.0 * N / largest;
        }
        for (int i = 0; i < N; i++) e[i] = -l.y[i];
        closed_form(*state, N, h, e, t, steps, flow, powers);
        const gram_descent_options o = {.rate = t / (double)steps};
        gram_descent *a = descend(*state, &l, linear, o), *b = descend(*state, &l, l.network, o);
        OK(*state, gram_descent_run(*state, a, steps, NULL));
        OK(*state, gram_network_evaluate(*state, linear, l.points, f, 1));
        for (int i = 0; i < N; i++) f[i] -= l.y[i];
        test_near("powers", NULL, N, f, powers, 1e-10);
        error[k] = largest_difference(N, f, flow);
        OK(*state, gram_descent_run(*state, b, steps, NULL));
        OK(*state, gram_network_evaluate(*state, l.network, l.points, f, 1));
        for (int i = 0; i < N; i++) f[i] -= l.y[i];
        far[k] = largest_difference(N, f, flow);
        gram_descent_destroy(a);
        gram_descent_destroy(b);
        gram_network_destroy(linear);
        lesson_free(&l);
    }
    for (int k = 0; k < 2; k++) {
        assert_true(fabs(error[k] / error[k + 1] - 2) < 0.2);
        assert_true(fabs(far[k] / far[k + 1] - 2) < 0.3);
    }
    assert_true(error[2] < 0.02 && far[2] < 0.02);
}

/* The largest eigenvalue, and steps that it makes stable. */
static void steps_of_their_own_length(void **state)
{
    enum { N = 40 };
    lesson l = lesson_of(*state, &SHAPES[2], N);
    double *h = test_numbers(N * N), values[N], largest, losses[300];
    OK(*state, gram_network_tangent_matrix(*state, l.network, 0, l.points, NULL, h, N));
    OK(*state, gram_eigen_symmetric(*state, N, h, N, 0, 1, values, NULL, N));
    OK(*state, gram_network_largest_eigenvalue(*state, l.network, l.points, &largest));
    assert_true(largest <= values[0] * (1 + 1e-12) && largest > 0.95 * values[0]);
    gram_descent *descent = descend(*state, &l, l.network, (gram_descent_options){0});
    const double rate = gram_descent_rate(descent), wanted = 0.5 * N / largest;
    test_near("rate", NULL, 1, &rate, &wanted, 1e-12);
    OK(*state, gram_descent_run(*state, descent, 300, losses));
    assert_true(losses[299] < 0.2 * losses[0]);
    gram_descent_destroy(descent);
    free(h);
    lesson_free(&l);
}

/* ---- bits, bad use, failures ---- */

static void train(gram_context *context, double *out)
{
    lesson l = lesson_of(context, &SHAPES[1], 300);
    gram_descent *descent =
        descend(context, &l, l.network, (gram_descent_options){.rate = 0.01, .momentum = 0.5, .batch = 70});
    OK(context, gram_descent_run(context, descent, 20, NULL));
    const int64_t count = gram_network_parameter_count(l.network);
    memcpy(out, gram_network_parameters(l.network), (size_t)count * sizeof *out);
    OK(context, gram_network_evaluate(context, l.network, l.points, out + count, 2));
    OK(context, gram_network_tangent_matrix(context, l.network, -1, l.points, NULL, out + count + 600, 300));
    gram_descent_destroy(descent);
    lesson_free(&l);
}

static void any_number_of_threads(void **state)
{
    (void)state;
    gram_context *context = TEST_CONTEXT(.threads = 1);
    gram_network *network = network_of(context, &SHAPES[1]);
    const int64_t count = gram_network_parameter_count(network);
    gram_network_destroy(network);
    gram_context_destroy(context);
    test_any_threads(count + 600 + 300 * 300, train);
}

/* Values of rows do not depend on the rows beside them. */
static void rows_alone(void **state)
{
    lesson l = lesson_of(*state, &SHAPES[2], 200);
    double all[200], one;
    OK(*state, gram_network_evaluate(*state, l.network, l.points, all, 1));
    for (int i = 0; i < 200; i += 7) {
        gram_points *row = test_points(*state, 1, SHAPES[2].inputs, l.x + i * SHAPES[2].inputs);
        OK(*state, gram_network_evaluate(*state, l.network, row, &one, 1));
        assert_true(one == all[i]);
        gram_points_release(row);
    }
    lesson_free(&l);
}

/* Numbers, networks of one seed, and both parameterisations at their start. */
static void random_starts(void **state)
{
    gram_network_options o;
    gram_network *a, *b;
    const int64_t width = 40;
    gram_network_options_init(&o, sizeof o);
    o.inputs = 3;
    o.widths = &width;
    OK(*state, gram_network_create(*state, &o, &a));
    o.number = 1;
    OK(*state, gram_network_create(*state, &o, &b));
    const int64_t count = gram_network_parameter_count(a);
    assert_int_equal(count, 3 * 40 + 40 + 40 + 1);
    int same = 0;
    for (int64_t i = 0; i < count; i++) same += gram_network_start(a)[i] == gram_network_start(b)[i];
    assert_int_equal(same, 0);
    gram_network_destroy(b);
    o.number = 0;
    o.parameterisation = GRAM_PARAMETERISATION_STANDARD;
    o.sb = 0.5;
    OK(*state, gram_network_create(*state, &o, &b));
    gram_network_destroy(a);
    o.parameterisation = GRAM_PARAMETERISATION_NTK;
    OK(*state, gram_network_create(*state, &o, &a));
    double x[30], fa[10], fb[10];
    test_uniform(2, 30, -1, 1, x);
    gram_points *points = test_points(*state, 10, 3, x);
    OK(*state, gram_network_evaluate(*state, a, points, fa, 1));
    OK(*state, gram_network_evaluate(*state, b, points, fb, 1));
    test_near("the same start", NULL, 10, fa, fb, 1e-13);
    gram_points_release(points);
    gram_network_destroy(a);
    gram_network_destroy(b);
}

static void bad_networks(void **state)
{
    const int64_t widths[2] = {4, 0};
    gram_network_options good, o;
    gram_network *network;
    gram_network_options_init(&good, sizeof good);
    good.inputs = 2;
    good.widths = widths;
#define BAD(change, part)                                                                                              \
    do {                                                                                                               \
        o = good;                                                                                                      \
        change;                                                                                                        \
        REFUSED(*state, gram_network_create(*state, &o, &network), GRAM_ERROR_ARGUMENT, part);                         \
        assert_null(network);                                                                                          \
    } while (0)
    BAD(o.depth = 0, "depth = 0 is not a number of hidden layers");
    BAD(o.depth = 2, "widths[1] = 0 is not a number of units");
    BAD(o.depth = 65, "depth = 65");
    BAD(o.widths = NULL, "widths is NULL");
    BAD(o.inputs = 0, "inputs = 0");
    BAD(o.outputs = -1, "outputs = -1");
    BAD(o.sw = -1, "sw = -1 is not a number above 0");
    BAD(o.sb = -0.5, "sb = -0.5 is not a number from 0");
    BAD(o.fan = NAN, "fan = nan");
    BAD(o.scale = -2, "scale = -2");
    BAD(o.scale = 0, "scale = 0 is not a number above 0");
    BAD(o.activation = (gram_activation)7, "activation = 7");
    BAD(o.parameterisation = (gram_parameterisation)2, "parameterisation = 2");
#undef BAD
}

static void bad_descents(void **state)
{
    lesson l = lesson_of(*state, &SHAPES[0], 30);
    gram_descent *descent;
    gram_descent_options o;
    double f[30], *bad = test_numbers(30);
    gram_points *wide = test_points(*state, 10, 9, l.x);
    gram_descent_options_init(&o, sizeof o);
    REFUSED(*state, gram_network_evaluate(*state, l.network, wide, f, 1), GRAM_ERROR_DIMENSION, "9 columns");
    REFUSED(*state, gram_descent_create(*state, l.network, wide, l.y, 1, &o, &descent), GRAM_ERROR_DIMENSION, "inputs");
    REFUSED(*state, gram_network_tangent_matrix(*state, l.network, 1, l.points, NULL, f, 30), GRAM_ERROR_ARGUMENT,
            "output = 1");
    bad[4] = NAN;
    REFUSED(*state, gram_descent_create(*state, l.network, l.points, bad, 1, &o, &descent), GRAM_ERROR_DATA, "y[4][0]");
    o.rate = -1;
    REFUSED(*state, gram_descent_create(*state, l.network, l.points, l.y, 1, &o, &descent), GRAM_ERROR_ARGUMENT,
            "rate = -1");
    o.rate = 0;
    o.momentum = 1;
    REFUSED(*state, gram_descent_create(*state, l.network, l.points, l.y, 1, &o, &descent), GRAM_ERROR_ARGUMENT,
            "momentum = 1");
    o.momentum = 0;
    o.batch = 31;
    REFUSED(*state, gram_descent_create(*state, l.network, l.points, l.y, 1, &o, &descent), GRAM_ERROR_ARGUMENT,
            "batch = 31");
    o.batch = 0;
    o.loss = GRAM_NETWORK_SOFTMAX;
    REFUSED(*state, gram_descent_create(*state, l.network, l.points, l.y, 1, &o, &descent), GRAM_ERROR_ARGUMENT,
            "two outputs");
    gram_points_release(wide);
    free(bad);
    lesson_free(&l);
}

/* Steps that are too long are found out; the network is left as it started. */
static void divergence(void **state)
{
    const double rates[] = {3, 1e3, 1e200};
    for (int k = 0; k < 3; k++) {
        lesson l = lesson_of(*state, &SHAPES[4], 30);
        const int64_t count = gram_network_parameter_count(l.network);
        gram_descent *descent = descend(*state, &l, l.network, (gram_descent_options){.rate = rates[k]});
        REFUSED(*state, gram_descent_run(*state, descent, 5000, NULL), GRAM_ERROR_NUMERICAL, "diverges");
        assert_string_equal(gram_context_advice(*state), "Take shorter steps.");
        assert_true(
            test_same_bits(1, count, gram_network_parameters(l.network), count, gram_network_start(l.network), count));
        REFUSED(*state, gram_descent_run(*state, descent, 1, NULL), GRAM_ERROR_ARGUMENT, "failed before");
        gram_descent_destroy(descent);
        lesson_free(&l);
    }
}

static void cancelled(void **state)
{
    int calls = 3;
    (void)state;
    gram_context *context = TEST_CONTEXT(.threads = 2, .cancel = test_stop, .cancel_user = &calls);
    const shape s = {GRAM_ACTIVATION_TANH, GRAM_PARAMETERISATION_NTK, 2, 1, 2, {200, 200}, 0.3, 1, 0};
    lesson l = lesson_of(context, &s, 500);
    gram_descent *descent = descend(context, &l, l.network, (gram_descent_options){.rate = 1e-6});
    REFUSED(context, gram_descent_run(context, descent, 1000000000, NULL), GRAM_ERROR_CANCELLED, "cancelled");
    gram_descent_destroy(descent);
    lesson_free(&l);
    gram_context_destroy(context);
}

static gram_status play(gram_context *context)
{
    gram_status status;
    gram_network *network = NULL, *linear = NULL;
    gram_points *points = NULL;
    gram_descent *descent = NULL;
    gram_kernel *kernel = NULL, *any = NULL;
    gram_network_options o;
    gram_descent_options d;
    machine k = {3, (const double[]){0, 0, 1, 1, 2, 2}, 0};
    const int64_t widths[] = {5, 4};
    double x[40], y[20], h[400], value;
    test_uniform(1, 40, -1, 1, x);
    test_uniform(2, 20, -1, 1, y);
    gram_network_options_init(&o, sizeof o);
    o.inputs = 2;
    o.depth = 2;
    o.widths = widths;
    o.activation = GRAM_ACTIVATION_ERF;
    o.centred = 1;
    gram_descent_options_init(&d, sizeof d);
    d.batch = 6;
    d.momentum = 0.5;
    STEP(gram_points_create_f64(context, 20, 2, x, 2, &points));
    STEP(gram_network_create(context, &o, &network));
    STEP(gram_network_linearise(context, network, &linear));
    STEP(gram_descent_create(context, network, points, y, 1, &d, &descent));
    STEP(gram_descent_run(context, descent, 4, NULL));
    STEP(gram_network_loss_of(context, network, points, y, 1, GRAM_NETWORK_SQUARED, &value));
    STEP(gram_network_tangent_matrix(context, network, -1, points, NULL, h, 20));
    STEP(gram_kernel_network_tangent(context, linear, 0, &kernel));
    const gram_parametric f = {2, 3, machine_function, &k};
    double theta[3] = {0};
    STEP(gram_kernel_tangent(context, "machine", &f, theta, machine_release, &any));
    STEP(gram_parametric_descend(context, &f, points, y, 0.1, 3, theta, NULL));
done:
    gram_kernel_release(any);
    gram_kernel_release(kernel);
    gram_descent_destroy(descent);
    gram_network_destroy(linear);
    gram_network_destroy(network);
    gram_points_release(points);
    return status;
}

static void out_of_memory(void **state)
{
    (void)state;
    oom_all(play, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_the_twins),
        cmocka_unit_test(products_with_the_jacobian),
        cmocka_unit_test(gradients_by_differences),
        cmocka_unit_test(linearised_networks),
        cmocka_unit_test(tangent_matrices),
        cmocka_unit_test(tangent_kernel_of_a_kernel_machine),
        cmocka_unit_test(functions_of_parameters),
        cmocka_unit_test(kernel_machines_follow_their_flow),
        cmocka_unit_test(steps_are_the_twins),
        cmocka_unit_test(batches_take_every_row),
        cmocka_unit_test(large_batches),
        cmocka_unit_test(softmax),
        cmocka_unit_test(small_steps_follow_the_flow),
        cmocka_unit_test(steps_of_their_own_length),
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(rows_alone),
        cmocka_unit_test(random_starts),
        cmocka_unit_test(bad_networks),
        cmocka_unit_test(bad_descents),
        cmocka_unit_test(divergence),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
