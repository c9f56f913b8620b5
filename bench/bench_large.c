/* gram's side of the benchmarks of many rows and the whole kernel.
 *
 *     bench_large vecchia N D M               likelihood of M neighbours, all in; then predictions at 2,000 new rows
 *     bench_large cg|sketch KERNEL N D NOISE  a solve with the whole kernel to a relative residual of 1e-3
 *
 * Prints one line of JSON. bench/peers/vecchia.py makes the same rows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/gram.h>

#include "measure.h"

enum { SEED_X = 1, SEED_Y = 2, NEW = 2000 };
static const double NOISE = 0.09;

static gram_context *context;

static void must(gram_status status)
{
    if (status < 0) fail(context ? gram_context_message(context) : gram_status_text(status));
}

/* Waves along the first two columns (of one: the same twice), and noise. */
static void make_target(int64_t n, int64_t d, double noise, const double *x, double *y)
{
    for (int64_t i = 0; i < n; i++) y[i] = sin(3 * x[i * d]) + cos(2.5 * x[i * d + (d > 1)]) + sqrt(noise) * y[i];
}

/* Root mean squared error, and the mean log density of the targets. */
static void score(const double *y, const double *mean, const double *variance, double *rmse, double *density)
{
    double squares = 0, sum = 0;
    for (int i = 0; i < NEW; i++) {
        const double off = y[i] - mean[i], all = variance[i] + NOISE;
        squares += off * off / NEW;
        sum -= (log(2 * 3.14159265358979323846 * all) + off * off / all) / (2 * NEW);
    }
    *rmse = sqrt(squares);
    *density = sum;
}

static void vecchia(int64_t n, int64_t d, int64_t m, const double *x, const double *y)
{
    static double mean[NEW], variance[NEW];
    gram_kernel *kernel = NULL;
    gram_points *points = NULL, *at = NULL;
    gram_gp_options options;
    gram_gp_vecchia_options own;
    gram_gp *gp = NULL;
    double value, rmse, density;
    gram_gp_options_init(&options, sizeof options);
    gram_gp_vecchia_options_init(&own, sizeof own);
    own.neighbours = m;
    options.vecchia = &own;
    options.solver = GRAM_SOLVER_VECCHIA;
    options.noise = NOISE;
    options.mean = GRAM_MEAN_ZERO;
    must(gram_kernel_parse(context, "matern(nu=1.5, ell=0.7)", &kernel));
    must(gram_points_create_f64(context, n, d, x, d, &points));
    must(gram_points_create_f64(context, NEW, d, x + n * d, d, &at));
    const int64_t memory = memory_resident();
    const double processor = processor_seconds(), start = clock_seconds();
    must(gram_gp_likelihood(context, kernel, points, y, &options, &value, NULL));
    const double seconds = clock_seconds() - start, used = processor_seconds() - processor;
    must(gram_gp_fit(context, kernel, points, y, &options, &gp));
    must(gram_gp_predict(context, gp, at, NULL, 0, mean, variance));
    score(y + n, mean, variance, &rmse, &density);
    printf("{\"seconds\": %.6f, \"cpu_seconds\": %.6f, \"peak_bytes\": %lld, \"log_likelihood\": %.6f, \"rmse\": %.8f, "
           "\"log_density\": %.8f}\n",
           seconds, used, (long long)(memory_peak() - memory), value, rmse, density);
    gram_gp_destroy(gp);
    gram_points_release(at);
    gram_points_release(points);
    gram_kernel_release(kernel);
}

/* By the Gaussian process, whose tolerance is of the residual, or by ridge regression: the same coefficients. */
static void whole(const char *solver, const char *text, int64_t n, int64_t d, double noise, const double *x,
                  const double *y)
{
    gram_kernel *kernel = NULL;
    gram_points *points = NULL;
    gram_gp_options options;
    gram_gp_cg_options cg;
    gram_krr_options ridge;
    gram_gp *gp = NULL;
    gram_krr *krr = NULL;
    must(gram_kernel_parse(context, text, &kernel));
    must(gram_points_create_f64(context, n, d, x, d, &points));
    const int64_t memory = memory_resident();
    const double processor = processor_seconds(), start = clock_seconds();
    gram_gp_options_init(&options, sizeof options);
    gram_gp_cg_options_init(&cg, sizeof cg);
    gram_krr_options_init(&ridge, sizeof ridge);
    cg.tolerance = ridge.tolerance = 1e-3;
    cg.probes = 0;
    options.cg = &cg;
    options.solver = GRAM_SOLVER_CG;
    options.mean = GRAM_MEAN_ZERO;
    options.noise = noise;
    ridge.solver = GRAM_SOLVER_SKETCH;
    ridge.intercept = 0;
    ridge.lambda = noise / (double)n;
    const int sketch = strcmp(solver, "sketch") == 0;
    if (sketch)
        must(gram_krr_fit(context, kernel, points, 1, y, 1, &ridge, &krr));
    else
        must(gram_gp_fit(context, kernel, points, y, &options, &gp));
    const gram_krr_report *r = krr ? gram_krr_get_report(krr) : NULL;
    const gram_gp_report *g = gp ? gram_gp_get_report(gp) : NULL;
    printf("{\"seconds\": %.6f, \"cpu_seconds\": %.6f, \"peak_bytes\": %lld, \"iterations\": %lld, \"rank\": %lld, "
           "\"residual\": %.6g, \"error_bound\": %.6g}\n",
           clock_seconds() - start, processor_seconds() - processor, (long long)(memory_peak() - memory),
           (long long)(r ? r->iterations : g->iterations), (long long)(r ? r->rank : g->rank),
           r ? r->residual : g->residual, r ? r->error_bound : g->error_bound);
    gram_gp_destroy(gp);
    gram_krr_destroy(krr);
    gram_points_release(points);
    gram_kernel_release(kernel);
}

int main(int argc, char **argv)
{
    const int neighbours = argc == 5 && strcmp(argv[1], "vecchia") == 0;
    const int all = argc == 6 && (strcmp(argv[1], "cg") == 0 || strcmp(argv[1], "sketch") == 0);
    if (!neighbours && !all) fail("bench_large vecchia N D M, or cg|sketch KERNEL N D NOISE");
    const int64_t n = parse_count(argv[neighbours ? 2 : 3]), d = parse_count(argv[neighbours ? 3 : 4]);
    const double noise = neighbours ? NOISE : strtod(argv[5], NULL);
    double *x = random_numbers(SEED_X, (n + NEW) * d), *y = random_numbers(SEED_Y, n + NEW);
    gram_context_options options;
    gram_context_options_init(&options, sizeof options);
    options.threads = thread_count();
    must(gram_context_create(&options, &context));
    make_target(n + NEW, d, noise, x, y);
    if (neighbours)
        vecchia(n, d, parse_count(argv[4]), x, y);
    else
        whole(argv[1], argv[2], n, d, noise, x, y);
    gram_context_destroy(context);
    free(x);
    free(y);
    return 0;
}
