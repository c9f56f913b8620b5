/* gram's side of the regression benchmarks: one call of the public interface, timed, in a fresh process.
 *
 *     bench_fit krr KERNEL N D NOISE mixed|f64|auto      gram_krr_fit without intercept, n lambda = NOISE
 *     bench_fit predict KERNEL N D ROWS                  a function of N centres at ROWS points
 *
 * Targets are a smooth function of the first columns plus noise, the same in bench/peers/krr.py. Prints one line of JSON as
 * bench_gram does, with the backward error that was reached. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/gram.h>

#include "measure.h"

enum { SEED_X = 1, SEED_Y = 2, SEED_V = 3 };

static gram_context *context;

static void must(gram_status status)
{
    if (status != GRAM_OK) fail(context ? gram_context_message(context) : gram_status_text(status));
}

/* y_i = x_i1 + x_i2^2/2 + noise/5 */
static double *make_targets(const double *x, int64_t n, int64_t d)
{
    double *y = random_numbers(SEED_V, n);
    for (int64_t i = 0; i < n; i++) {
        const double second = x[i * d + 1];
        y[i] = x[i * d] + 0.5 * (second * second) + 0.2 * y[i];
    }
    return y;
}

static gram_precision parse_precision(const char *text)
{
    if (strcmp(text, "f64") == 0) return GRAM_PRECISION_F64;
    return strcmp(text, "mixed") == 0 ? GRAM_PRECISION_MIXED : GRAM_PRECISION_AUTO;
}

static void fit(const char *text, int64_t n, int64_t d, double noise, const char *precision)
{
    gram_kernel *kernel;
    gram_points *points;
    gram_krr *krr;
    gram_krr_options options;
    must(gram_kernel_parse(context, text, &kernel));
    double *x = random_numbers(SEED_X, n * d), *y = make_targets(x, n, d);
    must(gram_points_create_f64(context, n, d, x, d, &points));
    gram_krr_options_init(&options, sizeof options);
    options.lambda = noise / (double)n;
    options.intercept = 0;
    options.precision = parse_precision(precision);

    const int64_t memory = memory_resident();
    const double processor = processor_seconds(), start = clock_seconds();
    must(gram_krr_fit(context, kernel, points, 1, y, 1, &options, &krr));
    const double seconds = clock_seconds() - start;

    const gram_krr_report *report = gram_krr_get_report(krr);
    printf("{\"seconds\": %.6f, \"cpu_seconds\": %.6f, \"peak_bytes\": %lld, ", seconds,
           processor_seconds() - processor, (long long)(memory_peak() - memory));
    printf("\"backward_error\": %.3e, \"residual\": %.3e, \"iterations\": %lld, \"precision\": \"%s\", ",
           report->backward_error, report->residual, (long long)report->iterations,
           gram_precision_name(report->precision));
    print_check(gram_function_coefficients(gram_krr_function(krr)), n, 1);
    printf("}\n");
    gram_krr_destroy(krr);
    gram_points_release(points);
    gram_kernel_release(kernel);
    free(x);
    free(y);
}

static void predict(const char *text, int64_t n, int64_t d, int64_t rows)
{
    gram_kernel *kernel;
    gram_points *centres, *points;
    gram_function *function;
    must(gram_kernel_parse(context, text, &kernel));
    double *x = random_numbers(SEED_X, n * d), *z = random_numbers(SEED_Y, rows * d), *a = random_numbers(SEED_V, n);
    double *out = random_numbers(SEED_V, rows);
    must(gram_points_create_f64(context, n, d, x, d, &centres));
    must(gram_points_create_f64(context, rows, d, z, d, &points));
    must(gram_function_create(context, kernel, centres, 1, a, 1, NULL, &function));
    const double start = clock_seconds();
    must(gram_function_evaluate(context, function, points, out, 1));
    printf("{\"seconds\": %.6f, ", clock_seconds() - start);
    print_check(out, rows, 1);
    printf("}\n");
    gram_function_release(function);
    gram_points_release(points);
    gram_points_release(centres);
    gram_kernel_release(kernel);
    free(x);
    free(z);
    free(a);
    free(out);
}

int main(int argc, char **argv)
{
    gram_context_options options;
    gram_context_options_init(&options, sizeof options);
    options.threads = thread_count();
    must(gram_context_create(&options, &context));
    if (argc == 7 && strcmp(argv[1], "krr") == 0)
        fit(argv[2], parse_count(argv[3]), parse_count(argv[4]), atof(argv[5]), argv[6]);
    else if (argc == 6 && strcmp(argv[1], "predict") == 0)
        predict(argv[2], parse_count(argv[3]), parse_count(argv[4]), parse_count(argv[5]));
    else
        fail("bench_fit krr KERNEL N D NOISE mixed|f64|auto | predict KERNEL N D ROWS");
    gram_context_destroy(context);
    return 0;
}
