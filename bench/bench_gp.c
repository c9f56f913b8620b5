/* gram's side of the benchmarks of Gaussian processes, and what LAPACK takes for the same matrix.
 *
 *     bench_gp likelihood N D      log marginal likelihood with its gradient, one length-scale per column
 *     bench_gp fit N D             learns amplitude, length-scales and noise
 *     bench_gp lapack N D          dpotrf and dpotri of a matrix of this size
 *
 * Of likelihood and lapack the second call of the process counts: a search makes many. Prints one line of JSON as bench_gram
 * does. bench/peers/gp_scikit.py and gp_scipy.py make the same data. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/gram.h>

#include "measure.h"

enum { SEED_X = 1, SEED_Y = 2, MOST_COLUMNS = 64, TEXT = 4096 };

static const double AMPLITUDE = 1.5, NOISE = 0.05;

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t uplo_length);
void dpotri_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t uplo_length);

static gram_context *context;

static void must(gram_status status)
{
    if (status < 0) fail(context ? gram_context_message(context) : gram_status_text(status));
}

typedef struct problem {
    int64_t n, d;
    double *x, *y;
    gram_points *points;
} problem;

/* y = sin(x_1) + x_2 x_3/4 + noise; the first columns matter more than the last ones. */
static problem make_problem(int64_t n, int64_t d)
{
    problem p = {n, d, random_numbers(SEED_X, n * d), random_numbers(SEED_Y, n), NULL};
    if (d < 3 || d > MOST_COLUMNS) fail("bench_gp: need 3 to 64 columns");
    for (int64_t i = 0; i < n; i++) {
        const double *x = p.x + i * d;
        p.y[i] = sin(x[0]) + 0.25 * x[1] * x[2] + 0.1 * p.y[i];
    }
    must(gram_points_create_f64(context, n, d, p.x, d, &p.points));
    return p;
}

static void free_problem(problem *p)
{
    gram_points_release(p->points);
    free(p->x);
    free(p->y);
}

static void report(double start, double processor, int64_t memory, const double *check, int64_t count)
{
    printf("{\"seconds\": %.6f, \"cpu_seconds\": %.6f, \"peak_bytes\": %lld, ", clock_seconds() - start,
           processor_seconds() - processor, (long long)(memory_peak() - memory));
    print_check(check, count, 1);
}

static gram_kernel *kernel_of(int64_t d)
{
    char text[TEXT];
    gram_kernel *kernel;
    size_t used = (size_t)snprintf(text, sizeof text, "%g*rbf(ell=[", AMPLITUDE);
    for (int64_t l = 0; l < d; l++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%g", l ? "," : "", 2 + 0.25 * (double)l);
    snprintf(text + used, sizeof text - used, "])");
    must(gram_kernel_parse(context, text, &kernel));
    return kernel;
}

static gram_gp_options options_of(double noise)
{
    gram_gp_options o;
    gram_gp_options_init(&o, sizeof o);
    o.solver = GRAM_SOLVER_EXACT;
    o.mean = GRAM_MEAN_ZERO; /* as the peers have it */
    o.noise = noise;
    return o;
}

static void likelihood(int64_t n, int64_t d)
{
    problem p = make_problem(n, d);
    gram_kernel *kernel = kernel_of(d);
    const gram_gp_options o = options_of(NOISE);
    double out[MOST_COLUMNS + 3];
    const int64_t memory = memory_resident();
    must(gram_gp_likelihood(context, kernel, p.points, p.y, &o, out, out + 1));
    const double processor = processor_seconds(), start = clock_seconds();
    must(gram_gp_likelihood(context, kernel, p.points, p.y, &o, out, out + 1));
    report(start, processor, memory, out, d + 3);
    printf("}\n");
    gram_kernel_release(kernel);
    free_problem(&p);
}

static void fit(int64_t n, int64_t d)
{
    problem p = make_problem(n, d);
    gram_kernel *kernel, *tuned = NULL;
    const gram_gp_options o = options_of(NOISE);
    gram_gp_tune_options how;
    gram_gp_tune_report r = {.size = sizeof r};
    double noise;
    gram_gp_tune_options_init(&how, sizeof how);
    must(gram_kernel_parse(context, "const*rbf", &kernel));
    const int64_t memory = memory_resident();
    const double processor = processor_seconds(), start = clock_seconds();
    must(gram_gp_tune(context, kernel, p.points, p.y, &o, &how, &tuned, &noise, &r));
    report(start, processor, memory, &r.value, 1);
    printf(", \"value\": %.6f, \"evaluations\": %lld}\n", r.value, (long long)r.evaluations);
    gram_kernel_release(tuned);
    gram_kernel_release(kernel);
    free_problem(&p);
}

static void invert(int n, double *a)
{
    int info = 0;
    dpotrf_("L", &n, a, &n, &info, 1);
    if (info == 0) dpotri_("L", &n, a, &n, &info, 1);
    if (info != 0) fail("bench_gp: not positive definite");
}

static void lapack(int64_t n)
{
    const int size = (int)n;
    double *a = fresh_memory((size_t)(n * n) * sizeof *a), *b = fresh_memory((size_t)(n * n) * sizeof *a);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) a[i * n + j] = (i == j) + 1 / (double)(1 + (i > j ? i - j : j - i));
    for (int64_t i = 0; i < n * n; i++) b[i] = a[i];
    invert(size, b);
    const double processor = processor_seconds(), start = clock_seconds();
    invert(size, a);
    report(start, processor, 0, a, 1);
    printf("}\n");
    fresh_memory_free(a, (size_t)(n * n) * sizeof *a);
    fresh_memory_free(b, (size_t)(n * n) * sizeof *a);
}

int main(int argc, char **argv)
{
    if (argc != 4) fail("bench_gp likelihood|fit|lapack N D");
    const int64_t n = parse_count(argv[2]), d = parse_count(argv[3]);
    gram_context_options options;
    gram_context_options_init(&options, sizeof options);
    options.threads = thread_count();
    must(gram_context_create(&options, &context));
    if (strcmp(argv[1], "likelihood") == 0)
        likelihood(n, d);
    else if (strcmp(argv[1], "fit") == 0)
        fit(n, d);
    else if (strcmp(argv[1], "lapack") == 0)
        lapack(n);
    else
        fail("bench_gp likelihood|fit|lapack N D");
    gram_context_destroy(context);
    return 0;
}
