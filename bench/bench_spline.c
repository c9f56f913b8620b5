/* gram's side of the benchmark of smoothing splines: cubic, with leave-one-out errors and degrees of freedom.
 *
 *     bench_spline N LAMBDA
 *
 * LAMBDA 0: chosen by GCV. Prints one line of JSON as bench_gram does, the check being of fitted values. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <gram/gram.h>

#include "measure.h"

enum { SEED_X = 1, SEED_Y = 2 };

static gram_context *context;

static void must(gram_status status)
{
    if (status != GRAM_OK) fail(context ? gram_context_message(context) : gram_status_text(status));
}

int main(int argc, char **argv)
{
    if (argc != 3) fail("usage: bench_spline N LAMBDA");
    const int64_t n = strtoll(argv[1], NULL, 10);
    const double lambda = strtod(argv[2], NULL);
    gram_spline_options options;
    gram_spline *spline = NULL;
    gram_points *points = NULL;
    must(gram_context_create(NULL, &context));
    double *x = random_numbers(SEED_X, n), *y = random_numbers(SEED_Y, n);
    for (int64_t i = 0; i < n; i++) { /* a grid, moved by up to a third of a step: in order */
        x[i] = 10 * ((double)i + 0.2 * x[i]) / (double)n;
        y[i] = sin(x[i]) + 0.3 * y[i];
    }
    must(gram_points_create_f64(context, n, 1, x, 1, &points));
    gram_spline_options_init(&options, sizeof options);
    options.lambda = lambda > 0 ? lambda : NAN;
    options.bands = 0;
    const int64_t memory = memory_resident();
    const double processor = processor_seconds(), start = clock_seconds();
    must(gram_spline_fit(context, points, y, &options, &spline));
    printf("{\"seconds\": %.6f, \"cpu_seconds\": %.6f, \"peak_bytes\": %lld, ", clock_seconds() - start,
           processor_seconds() - processor, (long long)(memory_peak() - memory));
    print_check(gram_spline_fitted(spline), n, 1);
    printf("}\n");
    gram_spline_destroy(spline);
    gram_points_release(points);
    gram_context_destroy(context);
    free(x);
    free(y);
    return 0;
}
