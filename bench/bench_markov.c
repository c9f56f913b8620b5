/* gram's side of the benchmarks on the line: likelihood, with and without its gradient, and prediction.
 *
 *     bench_markov KERNEL N random|grid value|gradient|fit
 *
 * Prints one line of JSON as bench_gram does. `grid` has N equally spaced points, `random` the same number in random order. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/gram.h>

#include "measure.h"

enum { SEED_X = 1, SEED_Y = 2, MOST = 64 };

static gram_context *context;

static void must(gram_status status)
{
    if (status != GRAM_OK) fail(context ? gram_context_message(context) : gram_status_text(status));
}

static void run(const char *text, int64_t n, int grid, const char *what)
{
    gram_kernel *kernel;
    gram_points *points;
    gram_gp *fit = NULL;
    gram_gp_options options;
    double *x = random_numbers(SEED_X, n), *y = random_numbers(SEED_Y, n), out[MOST + 2] = {0};
    gram_gp_options_init(&options, sizeof options);
    options.solver = GRAM_SOLVER_MARKOV;
    must(gram_kernel_parse(context, text, &kernel));
    for (int64_t i = 0; i < n; i++) {
        x[i] = grid ? 0.01 * (double)i : 0.001 * (double)n * (x[i] + 2); /* ten or a hundred points for each unit */
        y[i] = sin(x[i]) + 0.1 * y[i];
    }
    must(gram_points_create_f64(context, n, 1, x, 1, &points));
    const int64_t memory = memory_resident();
    const double processor = processor_seconds(), start = clock_seconds();
    if (strcmp(what, "fit") == 0) {
        must(gram_gp_fit(context, kernel, points, y, &options, &fit));
        out[0] = gram_gp_get_report(fit)->log_marginal_likelihood;
    } else {
        must(gram_gp_likelihood(context, kernel, points, y, &options, out,
                                strcmp(what, "gradient") == 0 ? out + 1 : NULL));
    }
    printf("{\"seconds\": %.6f, \"cpu_seconds\": %.6f, \"peak_bytes\": %lld, ", clock_seconds() - start,
           processor_seconds() - processor, (long long)(memory_peak() - memory));
    print_check(out, 1, 1);
    printf("}\n");
    gram_gp_destroy(fit);
    gram_points_release(points);
    gram_kernel_release(kernel);
    free(x);
    free(y);
}

int main(int argc, char **argv)
{
    gram_context_options options;
    gram_context_options_init(&options, sizeof options);
    options.threads = thread_count();
    must(gram_context_create(&options, &context));
    if (argc != 5) fail("bench_markov KERNEL N random|grid value|gradient|fit");
    run(argv[1], parse_count(argv[2]), strcmp(argv[3], "grid") == 0, argv[4]);
    gram_context_destroy(context);
    return 0;
}
