/* Regression with each of its allocations failing in turn: a clean status, nothing held. */
#include <string.h>

#include "oom.h"
#include "support.h"

enum { N = 24, D = 2, M = 2, COUNT = 3 };

typedef struct scene {
    double x[N * D], y[N * M], w[N], out[N * N], constants[COUNT * M];
    int64_t fold[N];
    gram_kernel *kernel;
    gram_points *points;
} scene;

static gram_status set(gram_context *c, scene *s)
{
    memset(s, 0, sizeof *s);
    test_uniform(1, N * D, 0, 1, s->x);
    test_uniform(2, N * M, 0, 1, s->y);
    test_uniform(3, N, 0.5, 2, s->w);
    for (int i = 0; i < N; i++) s->fold[i] = i % 3;
    s->w[5] = 0;
    gram_status status = gram_kernel_parse(c, "rbf(ell=0.4)", &s->kernel);
    if (status >= 0) status = gram_points_create_f64(c, N, D, s->x, D, &s->points);
    return status;
}

static void clear(scene *s)
{
    gram_points_release(s->points);
    gram_kernel_release(s->kernel);
}

static gram_status fit(gram_context *c, scene *s, const gram_krr_options *o)
{
    gram_krr *krr = NULL;
    const gram_status status = gram_krr_fit(c, s->kernel, s->points, M, s->y, M, o, &krr);
    gram_krr_destroy(krr);
    return status;
}

static gram_status play_krr(gram_context *c)
{
    static const gram_solver solvers[] = {GRAM_SOLVER_EXACT, GRAM_SOLVER_EXACT, GRAM_SOLVER_CG, GRAM_SOLVER_NYSTROM};
    scene s;
    gram_status status = set(c, &s);
    gram_krr_options o;
    gram_krr_options_init(&o, sizeof o);
    o.weights = s.w;
    for (int k = 0; k < 4 && status >= 0; k++) {
        o.solver = solvers[k];
        o.precision = k == 1 ? GRAM_PRECISION_MIXED : GRAM_PRECISION_AUTO;
        o.landmarks = k > 1 ? 9 : 0;
        status = fit(c, &s, &o);
    }
    gram_krr_options_init(&o, sizeof o);
    o.lambda = 0;
    memcpy(s.x + D, s.x, D * sizeof(double)); /* a repeated point: the pseudo-inverse */
    if (status >= 0) status = fit(c, &s, &o);
    clear(&s);
    return status;
}

static gram_status play_path(gram_context *c)
{
    scene s;
    gram_krr_path_point path[COUNT] = {{.lambda = 1e-3}, {.lambda = 1e-2}, {.lambda = 1}};
    double coefficients[COUNT * N * M];
    gram_krr_options o;
    gram_krr_options_init(&o, sizeof o);
    gram_status status = set(c, &s);
    o.weights = s.w;
    if (status >= 0)
        status = gram_krr_path(c, s.kernel, s.points, M, s.y, M, &o, COUNT, path, coefficients, s.constants);
    if (status >= 0) status = gram_krr_fold_residuals(c, s.kernel, s.points, M, s.y, M, &o, s.fold, s.out, M);
    clear(&s);
    return status;
}

static void each(oom_play play)
{
    oom_all(play, 20);
}

static void kernel_ridge_regression(void **state)
{
    (void)state;
    each(play_krr);
}

static void paths_and_folds(void **state)
{
    (void)state;
    each(play_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_ridge_regression),
        cmocka_unit_test(paths_and_folds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
