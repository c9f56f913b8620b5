/* gram's side of the benchmarks of sparse rows: one call of the public interface, timed, in a fresh process.
 *
 *     bench_sparse svm N D VALUES C      classification by rbf with gamma = 1/(2 VALUES), a cache of 1 GiB
 *     bench_sparse gram N D VALUES       the whole matrix of the same kernel
 *     bench_sparse gapped N LENGTH       the whole matrix of gapped(l=7, k=4) of strings of DNA
 *
 * bench/peers/sparse.py makes the same rows. Prints one line of JSON as bench_gram does. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/gram.h>

#include "measure.h"

enum { SEED_X = 1, SEED_V = 3 };

static gram_context *context;

static void must(gram_status status)
{
    if (status < 0) fail(context ? gram_context_message(context) : gram_status_text(status));
}

typedef struct rows {
    int64_t *start;
    int32_t *index;
    double *value, *y;
} rows;

/* A value in each of `values` parts of the columns, at a random place; labels by the signs of every other column, a tenth turned. */
static rows make_rows(int64_t n, int64_t d, int64_t values)
{
    const int64_t width = d / values;
    rows r = {.start = malloc((size_t)(n + 1) * sizeof(int64_t)),
              .index = malloc((size_t)(n * values) * sizeof(int32_t)),
              .value = random_numbers(SEED_X, n * values),
              .y = random_numbers(SEED_V, n)};
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        r.start[i] = i * values;
        for (int64_t k = 0; k < values; k++) {
            double *value = &r.value[i * values + k];
            const double size = fabs(*value), place = size * 4096;
            const int64_t column = k * width + (int64_t)((place - floor(place)) * (double)width);
            r.index[i * values + k] = (int32_t)column;
            *value = size;
            sum += column % 2 ? size : -size;
        }
        r.y[i] = (double)((sum > 0) != (r.y[i] < -1.3856));
    }
    r.start[n] = n * values;
    return r;
}

/* Strings of `length` bases, by the quarters of random numbers. */
static gram_points *make_strings(int64_t n, int64_t length)
{
    double *u = random_numbers(SEED_X, n * length);
    char *csv = malloc((size_t)(n * (length + 1)) + 8), *at = csv + sprintf(csv, "s\n");
    gram_table_options options;
    gram_table *table;
    gram_points *points;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < length; k++) {
            const double place = fabs(u[i * length + k]) * 4096;
            *at++ = "ACGT"[(int)(4 * (place - floor(place)))];
        }
        *at++ = '\n';
    }
    gram_table_options_init(&options, sizeof options);
    options.texts = "s";
    must(gram_table_read_memory(context, "strings.csv", csv, (size_t)(at - csv), &options, &table));
    must(gram_points_of_table(context, table, 1, NULL, &points));
    gram_table_destroy(table);
    free(csv);
    free(u);
    return points;
}

/* With the features, which are made in the same call. */
static int time_strings(char **arguments)
{
    const int64_t n = parse_count(arguments[2]), length = parse_count(arguments[3]);
    gram_kernel *kernel;
    gram_context_options options = {.size = sizeof options, .threads = thread_count()};
    must(gram_context_create(&options, &context));
    gram_points *points = make_strings(n, length);
    must(gram_kernel_parse(context, "gapped(l=7, k=4, over=dna)", &kernel));
    double *k = fresh_memory((size_t)(n * n) * sizeof *k);
    const int64_t memory = memory_resident();
    const double processor = processor_seconds(), start = clock_seconds();
    must(gram_matrix(context, kernel, points, NULL, k, n));
    printf("{\"seconds\": %.6f, \"cpu_seconds\": %.6f, \"peak_bytes\": %lld, ", clock_seconds() - start,
           processor_seconds() - processor, (long long)(memory_peak() - memory));
    print_check(k, n * n, 1);
    printf("}\n");
    return 0;
}

int main(int count, char **arguments)
{
    if (count == 4 && strcmp(arguments[1], "gapped") == 0) return time_strings(arguments);
    const int svm = count == 6 && strcmp(arguments[1], "svm") == 0;
    char text[64];
    gram_points *points;
    gram_kernel *kernel;
    if (!svm && !(count == 5 && strcmp(arguments[1], "gram") == 0))
        fail("usage: bench_sparse svm N D VALUES C | gram N D VALUES | gapped N LENGTH");
    const int64_t n = parse_count(arguments[2]), d = parse_count(arguments[3]), values = parse_count(arguments[4]);
    gram_context_options options = {.size = sizeof options, .threads = thread_count()};
    must(gram_context_create(&options, &context));
    const rows r = make_rows(n, d, values);
    must(gram_points_create_sparse(context, n, d, r.start, r.index, r.value, &points));
    snprintf(text, sizeof text, "rbf(gamma=%.17g)", 0.5 / (double)values);
    must(gram_kernel_parse(context, text, &kernel));
    double *k = svm ? NULL : fresh_memory((size_t)(n * n) * sizeof *k);
    gram_svm_options how;
    gram_svm_options_init(&how, sizeof how);
    how.C = svm ? strtod(arguments[5], NULL) : 1;
    how.cache_bytes = (size_t)1 << 30;
    gram_svm *machine = NULL;
    const int64_t memory = memory_resident();
    const double processor = processor_seconds(), start = clock_seconds();
    must(svm ? gram_svm_fit(context, kernel, points, r.y, &how, &machine)
             : gram_matrix(context, kernel, points, NULL, k, n));
    printf("{\"seconds\": %.6f, \"cpu_seconds\": %.6f, \"peak_bytes\": %lld, ", clock_seconds() - start,
           processor_seconds() - processor, (long long)(memory_peak() - memory));
    if (svm)
        printf("\"objective\": %.10g, \"support\": %lld, \"iterations\": %lld", gram_svm_get_report(machine)->objective,
               (long long)gram_svm_get_report(machine)->n_support, (long long)gram_svm_get_report(machine)->iterations);
    else
        print_check(k, n * n, 1);
    printf("}\n");
    return 0;
}
