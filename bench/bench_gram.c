/* gram's side of the benchmarks: one call of the public interface, timed, in a fresh process with the default context.
 *
 *     bench_gram about
 *     bench_gram matrix  KERNEL N D
 *     bench_gram whole   KERNEL N D                matrix, on points of whole numbers >= 0, which every kernel takes
 *     bench_gram packed  KERNEL N D
 *     bench_gram product KERNEL N M D f64|f32      M = 0: a set with itself
 *     bench_gram factor  KERNEL N D f64|f32        fills and factors K + 0.1 I and solves for one right-hand side: with
 *                                                  the f64 factor, or by CG with the f32 factor to the default tolerance
 *     bench_gram invert  KERNEL N D                fills, factors and inverts K + 0.1 I; the second of two calls
 *     bench_gram write   FILE N D                  makes a CSV file of numbers in 17 digits; nothing is timed
 *     bench_gram read    FILE
 *     bench_gram two-sample KERNEL N M D PERMUTATIONS
 *     bench_gram tune    N D                       rbf and lambda for Friedman's function, default options
 *
 * Prints one line of JSON: seconds of the call, its processor seconds, bytes by which the call raised the
 * process's peak memory, and check values of the result. Making the data, the points, the kernel and the context is not
 * timed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/gram.h>

#include "measure.h"

enum { SEED_X = 1, SEED_Y = 2, SEED_V = 3 };

/* Odd, so that a check of a matrix meets every column. */
enum { CHECK_STRIDE = 997 };

static const double RIDGE = 0.1;

static gram_context *context;

static void must(gram_status status)
{
    if (status != GRAM_OK) fail(context ? gram_context_message(context) : gram_status_text(status));
}

static gram_kernel *make_kernel(const char *text)
{
    gram_kernel *kernel;
    must(gram_kernel_parse(context, text, &kernel));
    return kernel;
}

/* Points with their data, which they borrow. */
typedef struct data {
    gram_points *points;
    void *numbers;
} data;

static data make_points(uint64_t seed, int64_t n, int64_t d, int single)
{
    data made = {NULL, NULL};
    if (single) {
        float *numbers = random_numbers_f32(seed, n * d);
        must(gram_points_create_f32(context, n, d, numbers, d, &made.points));
        made.numbers = numbers;
    } else {
        double *numbers = random_numbers(seed, n * d);
        must(gram_points_create_f64(context, n, d, numbers, d, &made.points));
        made.numbers = numbers;
    }
    return made;
}

static void free_points(data made)
{
    gram_points_release(made.points);
    free(made.numbers);
}

/* What there was before the call. */
typedef struct meter {
    double start, processor;
    int64_t memory;
} meter;

static meter start_meter(void)
{
    const meter now = {.memory = memory_resident(), .processor = processor_seconds(), .start = clock_seconds()};
    return now;
}

static void print_cost(meter before)
{
    const double seconds = clock_seconds() - before.start;
    printf("{\"seconds\": %.6f, \"cpu_seconds\": %.6f, \"peak_bytes\": %lld, ", seconds,
           processor_seconds() - before.processor, (long long)(memory_peak() - before.memory));
}

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown compiler"
#endif

static void about(void)
{
    printf("{\"gram\": \"%s\", \"compiler\": \"%s\", \"blas\": \"%s\", \"isa\": \"%s\", \"threads\": %d}\n",
           gram_version(), COMPILER, gram_blas_name(), gram_context_isa(context), gram_context_threads(context));
}

/* The same points, as 0, 1, 2 or 3. */
static data make_whole_points(int64_t n, int64_t d)
{
    data made = {NULL, random_numbers(SEED_X, n * d)};
    double *numbers = made.numbers;
    for (int64_t i = 0; i < n * d; i++) numbers[i] = (double)(int)(1.15 * (numbers[i] + 1.74));
    must(gram_points_create_f64(context, n, d, numbers, d, &made.points));
    return made;
}

static void matrix(const char *text, int64_t n, int64_t d, int whole)
{
    gram_kernel *kernel = make_kernel(text);
    data x = whole ? make_whole_points(n, d) : make_points(SEED_X, n, d, 0);
    const size_t bytes = (size_t)n * (size_t)n * sizeof(double);
    double *out = fresh_memory(bytes);

    const meter before = start_meter();
    must(gram_matrix(context, kernel, x.points, NULL, out, n));
    print_cost(before);

    print_check(out, (n * n + CHECK_STRIDE - 1) / CHECK_STRIDE, CHECK_STRIDE);
    printf("}\n");
    fresh_memory_free(out, bytes);
    free_points(x);
    gram_kernel_release(kernel);
}

static void packed(const char *text, int64_t n, int64_t d)
{
    gram_kernel *kernel = make_kernel(text);
    data x = make_points(SEED_X, n, d, 0);
    double *v = random_numbers(SEED_V, n);
    double *out = random_numbers(SEED_V, n);
    gram_operator *op;

    const meter before = start_meter();
    must(gram_operator_create_packed(context, kernel, x.points, &op));
    print_cost(before);

    const double applying = clock_seconds();
    must(gram_operator_apply(context, op, 1, v, 1, out, 1));
    printf("\"apply_seconds\": %.6f, ", clock_seconds() - applying);
    print_check(out, n, 1);
    printf("}\n");
    gram_operator_release(op);
    free(out);
    free(v);
    free_points(x);
    gram_kernel_release(kernel);
}

static void product(const char *text, int64_t n, int64_t m, int64_t d, int single)
{
    gram_kernel *kernel = make_kernel(text);
    data x = make_points(SEED_X, n, d, single);
    data y = {NULL, NULL};
    if (m) y = make_points(SEED_Y, m, d, single);
    double *v = random_numbers(SEED_V, m ? m : n);
    double *out = random_numbers(SEED_V, n);

    const meter before = start_meter();
    must(gram_matrix_product(context, kernel, x.points, y.points, 1, v, 1, out, 1));
    print_cost(before);

    print_check(out, n, 1);
    printf("}\n");
    free(out);
    free(v);
    free_points(y);
    free_points(x);
    gram_kernel_release(kernel);
}

static double *constant(int64_t n, double value)
{
    double *out = random_numbers(SEED_V, n);
    for (int64_t i = 0; i < n; i++) out[i] = value;
    return out;
}

static void refine(const gram_kernel *kernel, const gram_points *points, gram_cholesky *factor, const double *b,
                   double *x, gram_cg_report *report)
{
    gram_operator *lazy, *shifted;
    gram_cg_options cg;
    gram_cg_options_init(&cg, sizeof cg);
    cg.precondition = gram_cholesky_precondition;
    cg.user = factor;
    must(gram_operator_create_free(context, (gram_kernel *)kernel, (gram_points *)points, &lazy));
    must(gram_operator_create_shifted(context, lazy, RIDGE, &shifted));
    must(gram_cg_solve(context, shifted, 1, b, 1, x, 1, &cg, report));
    gram_operator_release(shifted);
    gram_operator_release(lazy);
}

static void factor(const char *text, int64_t n, int64_t d, int single)
{
    gram_kernel *kernel = make_kernel(text);
    data x = make_points(SEED_X, n, d, 0);
    double *shift = constant(n, RIDGE), *b = random_numbers(SEED_V, n), *solution = constant(n, 0);
    gram_cholesky *made;
    gram_cg_report report = {.size = sizeof report};
    if (!single) memcpy(solution, b, (size_t)n * sizeof *b);

    const meter before = start_meter();
    must(gram_cholesky_create(context, kernel, x.points, shift, single ? GRAM_STORAGE_F32 : GRAM_STORAGE_F64, NULL,
                              &made));
    const double factored = clock_seconds() - before.start;
    if (single)
        refine(kernel, x.points, made, b, solution, &report);
    else
        must(gram_cholesky_solve(context, made, 1, solution, 1));
    print_cost(before);

    printf("\"factor_seconds\": %.6f, \"iterations\": %lld, ", factored, (long long)report.iterations);
    print_check(solution, n, 1);
    printf("}\n");
    gram_cholesky_destroy(made);
    free(solution);
    free(b);
    free(shift);
    free_points(x);
    gram_kernel_release(kernel);
}

static void invert(const char *text, int64_t n, int64_t d)
{
    gram_kernel *kernel = make_kernel(text);
    data x = make_points(SEED_X, n, d, 0);
    double *shift = constant(n, RIDGE), *diagonal = constant(n, 0);
    for (int run = 0; run < 2; run++) {
        gram_cholesky *made;
        const meter before = start_meter();
        must(gram_cholesky_create(context, kernel, x.points, shift, GRAM_STORAGE_F64, NULL, &made));
        must(gram_cholesky_invert(context, made));
        if (run == 1) print_cost(before);
        must(gram_cholesky_inverse_diagonal(context, made, diagonal));
        gram_cholesky_destroy(made);
    }
    print_check(diagonal, n, 1);
    printf("}\n");
    free(diagonal);
    free(shift);
    free_points(x);
    gram_kernel_release(kernel);
}

/* 10 sin(pi u_1 u_2) + 20 (u_3 - 1/2)^2 + 10 u_4 + 5 u_5 with noise of variance 1, u the points in the unit cube */
static double *friedman(const double *x, int64_t n, int64_t d)
{
    double *y = random_numbers(SEED_V, n);
    for (int64_t i = 0; i < n; i++) {
        double u[5];
        for (int l = 0; l < 5; l++) u[l] = x[i * d + l] / sqrt(12) + 0.5;
        y[i] += 10 * sin(acos(-1) * u[0] * u[1]) + 20 * (u[2] - 0.5) * (u[2] - 0.5) + 10 * u[3] + 5 * u[4];
    }
    return y;
}

static void print_lengths(const gram_kernel *kernel, int64_t d)
{
    const int64_t count = gram_kernel_parameter_count(kernel);
    for (int64_t l = 0; l < d; l++) {
        gram_parameter parameter;
        must(gram_kernel_parameter_get(context, kernel, count == 1 ? 0 : l, &parameter));
        printf("%s%.17g", l ? ", " : "", parameter.value);
    }
}

static void tune(int64_t n, int64_t d)
{
    gram_kernel *kernel = make_kernel("rbf"), *tuned;
    data x = make_points(SEED_X, n, d, 0);
    double *y = friedman(x.numbers, n, d), lambda;
    gram_krr_tune_report report = {.size = sizeof report};

    const meter before = start_meter();
    must(gram_krr_tune(context, kernel, x.points, 1, y, 1, NULL, &tuned, &lambda, &report));
    print_cost(before);

    printf("\"evaluations\": %lld, \"value\": %.17g, \"intercept\": 1, \"noise\": %.17g, \"ell\": [",
           (long long)report.evaluations, report.value, lambda * (double)n);
    print_lengths(tuned, d);
    printf("]}\n");
    gram_kernel_release(tuned);
    free(y);
    free_points(x);
    gram_kernel_release(kernel);
}

/* The permutation test of two samples of one distribution; the check value is the statistic. */
static void two_sample(const char *text, int64_t n, int64_t m, int64_t d, int64_t permutations)
{
    gram_kernel *kernel = make_kernel(text);
    data x = make_points(SEED_X, n, d, 0), y = make_points(SEED_Y, m, d, 0);
    gram_mmd_options options;
    gram_mmd_result result;
    gram_mmd_options_init(&options, sizeof options);
    gram_mmd_result_init(&result, sizeof result);
    options.method = GRAM_MMD_TEST_PERMUTATION;
    options.permutations = permutations;

    const meter before = start_meter();
    must(gram_mmd_test(context, kernel, x.points, y.points, &options, &result));
    print_cost(before);

    printf("\"p_value\": %.17g, \"redone\": %lld, ", result.p_value, (long long)result.redone);
    print_check(&result.statistic, 1, 1);
    printf("}\n");
    gram_mmd_result_clear(&result);
    free_points(y);
    free_points(x);
    gram_kernel_release(kernel);
}

static void write_csv(const char *path, int64_t n, int64_t d)
{
    double *numbers = random_numbers(SEED_X, n * d);
    FILE *file = fopen(path, "w");
    if (!file) fail("the file cannot be written");
    for (int64_t j = 0; j < d; j++) fprintf(file, "x%d%c", (int)j + 1, j + 1 < d ? ',' : '\n');
    for (int64_t i = 0; i < n * d; i++) fprintf(file, "%.17g%c", numbers[i], (i + 1) % d ? ',' : '\n');
    if (fclose(file) != 0) fail("the file cannot be written");
    printf("{}\n");
    free(numbers);
}

static void read_csv(const char *path)
{
    gram_table *table;
    const meter before = start_meter();
    must(gram_table_read(context, path, NULL, &table));
    print_cost(before);
    const int64_t count = gram_table_rows(table) * gram_table_columns(table);
    print_check(gram_table_numbers(table), (count + CHECK_STRIDE - 1) / CHECK_STRIDE, CHECK_STRIDE);
    printf("}\n");
    gram_table_destroy(table);
}

int main(int argc, char **argv)
{
    gram_context_options options;
    gram_context_options_init(&options, sizeof options);
    options.threads = thread_count();
    must(gram_context_create(&options, &context));
    if (argc == 2 && !strcmp(argv[1], "about"))
        about();
    else if (argc == 5 && !strcmp(argv[1], "matrix"))
        matrix(argv[2], parse_count(argv[3]), parse_count(argv[4]), 0);
    else if (argc == 5 && !strcmp(argv[1], "whole"))
        matrix(argv[2], parse_count(argv[3]), parse_count(argv[4]), 1);
    else if (argc == 5 && !strcmp(argv[1], "packed"))
        packed(argv[2], parse_count(argv[3]), parse_count(argv[4]));
    else if (argc == 7 && !strcmp(argv[1], "product"))
        product(argv[2], parse_count(argv[3]), parse_count(argv[4]), parse_count(argv[5]), !strcmp(argv[6], "f32"));
    else if (argc == 6 && !strcmp(argv[1], "factor"))
        factor(argv[2], parse_count(argv[3]), parse_count(argv[4]), !strcmp(argv[5], "f32"));
    else if (argc == 5 && !strcmp(argv[1], "invert"))
        invert(argv[2], parse_count(argv[3]), parse_count(argv[4]));
    else if (argc == 5 && !strcmp(argv[1], "write"))
        write_csv(argv[2], parse_count(argv[3]), parse_count(argv[4]));
    else if (argc == 3 && !strcmp(argv[1], "read"))
        read_csv(argv[2]);
    else if (argc == 7 && !strcmp(argv[1], "two-sample"))
        two_sample(argv[2], parse_count(argv[3]), parse_count(argv[4]), parse_count(argv[5]), parse_count(argv[6]));
    else if (argc == 4 && !strcmp(argv[1], "tune"))
        tune(parse_count(argv[2]), parse_count(argv[3]));
    else
        fail("bench_gram about | matrix KERNEL N D | whole KERNEL N D | packed KERNEL N D | product KERNEL N M D "
             "f64|f32 | factor KERNEL N D f64|f32 | invert KERNEL N D | write FILE N D | read FILE | "
             "tune N D | two-sample KERNEL N M D PERMUTATIONS");
    gram_context_destroy(context);
    return 0;
}
