/* Dual coordinate descent against the other machine, working sets with a linear kernel: the same objective and the same w, without a constant;
 * and the gap that it reports is one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve/smo/coordinate_descent.h"
#include "support.h"

enum { N = 120, P = 4 };

typedef struct scene {
    double *z, *sign, *upper, *work, *w;
    int64_t rows[N], order[N];
    gram_linear_machine machine;
} scene;

static gram_status run(void *argument, const gram_worker *worker)
{
    gram_linear_machine_solve(argument, worker);
    return GRAM_OK;
}

static void solve(gram_context *context, double bias, double tolerance, scene *s)
{
    s->z = test_random(1, N * P, -1, 1);
    s->sign = test_random(2, N, -1, 1);
    s->upper = test_random(3, N, 0.2, 3);
    s->work = test_numbers(3 * N);
    s->w = test_numbers(P);
    for (int i = 0; i < N; i++) {
        s->sign[i] = s->z[i * P] + 0.5 * s->z[i * P + 1] + 0.7 * s->sign[i] > 0.2 ? 1 : -1;
        s->rows[i] = i;
    }
    s->machine = (gram_linear_machine){.n = N,
                                       .p = P,
                                       .ld = P,
                                       .z = s->z,
                                       .rows = s->rows,
                                       .sign = s->sign,
                                       .upper = s->upper,
                                       .bias = bias,
                                       .tolerance = tolerance,
                                       .epochs = 100000,
                                       .w = s->w,
                                       .work = s->work,
                                       .order = s->order};
    const gram_sweep sweep = {.what = "test", .tasks = 1, .run = run, .argument = &s->machine};
    OK(context, gram_sweep_run(context, &sweep));
    assert_true(s->machine.converged);
}

static void end(scene *s)
{
    free(s->z), free(s->sign), free(s->upper), free(s->work), free(s->w);
}

/* |w|^2/2 + losses, written out. */
static double primal(const scene *s, const double *w, double constant, double bias)
{
    double value = bias > 0 ? constant * constant / (2 * bias * bias) : 0;
    for (int j = 0; j < P; j++) value += w[j] * w[j] / 2;
    for (int i = 0; i < N; i++) {
        double f = constant;
        for (int j = 0; j < P; j++) f += w[j] * s->z[i * P + j];
        value += s->upper[i] * fmax(0, 1 - s->sign[i] * f);
    }
    return value;
}

static void against_working_sets(void **state)
{
    gram_context *context = *state;
    scene s;
    solve(context, 0, 1e-8, &s);
    gram_points *points = test_points(context, N, P, s.z);
    gram_kernel *kernel = test_kernel(context, "linear(c=0)");
    double labels[N], w[P] = {0};
    for (int i = 0; i < N; i++) labels[i] = s.sign[i] > 0 ? 0 : 1; /* class 0 is on the side above 0 */
    gram_svm_options options;
    gram_svm_options_init(&options, sizeof options);
    options.weights = s.upper;
    options.intercept = 0;
    options.tolerance = 1e-8;
    gram_svm *svm = NULL;
    OK(context, gram_svm_fit(context, kernel, points, labels, &options, &svm));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < P; j++) w[j] += gram_svm_duals(svm)[i] * s.z[i * P + j];
    test_near("w", NULL, P, s.w, w, 1e-4);
    const double best = primal(&s, w, 0, 0), found = primal(&s, s.w, 0, 0);
    test_near("objective", NULL, 1, &found, &best, 1e-7);
    test_near("its own word", NULL, 1, &s.machine.objective, &found, 1e-12);
    gram_svm_destroy(svm);
    gram_kernel_release(kernel);
    gram_points_release(points);
    end(&s);
}

/* Stopped early, the objective is above the best one by no more than the gap, with and without a constant. */
static void gap_holds(void **state)
{
    for (int k = 0; k < 2; k++) {
        scene best, early;
        const double bias = k ? 1.5 : 0;
        solve(*state, bias, 1e-9, &best);
        solve(*state, bias, 0.2, &early);
        const double least = primal(&best, best.w, best.machine.constant, bias),
                     value = primal(&early, early.w, early.machine.constant, bias);
        test_near("objective", NULL, 1, &early.machine.objective, &value, 1e-12);
        assert_true(value >= least * (1 - 1e-9) && value - least <= early.machine.gap + 1e-9);
        assert_true(early.machine.gap <= 0.2 * value);
        end(&best), end(&early);
    }
}

/* Sparse rows, here with all their numbers, make the same steps. */
static void sparse_rows(void **state)
{
    scene s;
    gram_csr csr = {0};
    double w[P];
    solve(*state, 1.5, 1e-6, &s);
    memcpy(w, s.w, sizeof w);
    const double constant = s.machine.constant;
    OK(*state, gram_csr_take(*state, N, P, P, &csr));
    for (int k = 0; k < N * P; k++) csr.column[k] = k % P, csr.value[k] = s.z[k];
    s.machine.z = NULL;
    s.machine.csr = &csr;
    const gram_sweep sweep = {.what = "test", .tasks = 1, .run = run, .argument = &s.machine};
    OK(*state, gram_sweep_run(*state, &sweep));
    test_near("w", NULL, P, s.w, w, 1e-4);
    test_near("constant", NULL, 1, &s.machine.constant, &constant, 1e-4);
    assert_true(s.machine.converged);
    gram_csr_free(*state, &csr);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_working_sets), cmocka_unit_test(gap_holds),
                                       cmocka_unit_test(sparse_rows)};
    return cmocka_run_group_tests(tests, test_open, test_close);
}
