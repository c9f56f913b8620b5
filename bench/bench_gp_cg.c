/* gram's side of the benchmarks of large Gaussian processes.
 *
 *     bench_gp_cg KERNEL N D NOISE fit|likelihood|gradient|predict RANK
 *
 * RANK is that of the preconditioner (0: chosen). Prints one line of JSON as bench_gram
 * does, with the value and, of a fit, iterations and the errors. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/gram.h>

#include "measure.h"

enum { SEED_X = 1, SEED_Y = 2, MOST = 256, NEW = 64 };

static gram_context *context;

static void must(gram_status status)
{
    if (status < 0) fail(context ? gram_context_message(context) : gram_status_text(status));
}

typedef struct job {
    gram_kernel *kernel;
    gram_points *x, *z;
    double *y;
    gram_gp_options options;
    gram_gp_cg_options cg;
    gram_gp_report report;
    double seconds;
} job;

static void fit(job *j, int variances)
{
    gram_gp *gp;
    double mean[NEW], variance[NEW], start = clock_seconds();
    must(gram_gp_fit(context, j->kernel, j->x, j->y, &j->options, &gp));
    j->report = *gram_gp_get_report(gp);
    if (variances) {
        start = clock_seconds();
        must(gram_gp_predict(context, gp, j->z, NULL, 0, mean, variance));
    }
    j->seconds = clock_seconds() - start;
    gram_gp_destroy(gp);
}

static void likelihood(job *j, int gradient)
{
    double slopes[MOST];
    const double start = clock_seconds();
    must(gram_gp_likelihood(context, j->kernel, j->x, j->y, &j->options, &j->report.log_marginal_likelihood,
                            gradient ? slopes : NULL));
    j->seconds = clock_seconds() - start;
}

/* Smooth in all columns, with noise of the given variance. */
static void make_target(int64_t n, int64_t d, double noise, const double *x, double *y)
{
    for (int64_t i = 0; i < n; i++) {
        double f = 0;
        for (int64_t l = 0; l < d; l++) f += sin((double)(l + 1) * 0.5 * x[i * d + l]) / sqrt((double)d);
        y[i] = f + sqrt(noise) * y[i];
    }
}

int main(int argc, char **argv)
{
    if (argc != 7) fail("bench_gp_cg KERNEL N D NOISE fit|likelihood|gradient|predict RANK");
    const int64_t n = parse_count(argv[2]), d = parse_count(argv[3]);
    const char *what = argv[5];
    double *x = random_numbers(SEED_X, (n + NEW) * d);
    job j = {.y = random_numbers(SEED_Y, n)};
    gram_context_options options;
    gram_context_options_init(&options, sizeof options);
    options.threads = thread_count();
    must(gram_context_create(&options, &context));
    gram_gp_options_init(&j.options, sizeof j.options);
    gram_gp_cg_options_init(&j.cg, sizeof j.cg);
    j.options.noise = strtod(argv[4], NULL);
    j.options.solver = GRAM_SOLVER_CG;
    j.options.cg = &j.cg;
    j.cg.rank = parse_count(argv[6]);
    make_target(n, d, j.options.noise, x, j.y);
    must(gram_kernel_parse(context, argv[1], &j.kernel));
    must(gram_points_create_f64(context, n, d, x, d, &j.x));
    must(gram_points_create_f64(context, NEW, d, x + n * d, d, &j.z));
    if (gram_kernel_parameter_count(j.kernel) >= MOST) fail("too many parameters");
    const int64_t memory = memory_resident();
    const double processor = processor_seconds();
    if (strcmp(what, "fit") == 0 || strcmp(what, "predict") == 0)
        fit(&j, strcmp(what, "predict") == 0);
    else if (strcmp(what, "likelihood") == 0 || strcmp(what, "gradient") == 0)
        likelihood(&j, strcmp(what, "gradient") == 0);
    else
        fail("fit, likelihood, gradient or predict");
    printf("{\"seconds\": %.6f, \"cpu_seconds\": %.6f, \"peak_bytes\": %lld, \"iterations\": %lld, \"rank\": %lld, "
           "\"residual\": %.3g, \"trace_error\": %.3g, \"log_marginal_likelihood\": %.6f, \"standard_error\": %.3g, "
           "\"quadrature_error\": %.3g}\n",
           j.seconds, processor_seconds() - processor, (long long)(memory_peak() - memory),
           (long long)j.report.iterations, (long long)j.report.rank, j.report.residual, j.report.trace_error,
           j.report.log_marginal_likelihood, j.report.likelihood_error, j.report.quadrature_error);
    gram_points_release(j.x);
    gram_points_release(j.z);
    gram_kernel_release(j.kernel);
    gram_context_destroy(context);
    free(x);
    free(j.y);
    return 0;
}
