/* gram's side of the benchmark of bags: one call of the public interface, timed, in a fresh process.
 *
 *     bench_bags fit N SIZE D FREQUENCIES     ridge regression on N bags of SIZE rows of D numbers, after(mean(rbf, fourier), rbf)
 *     bench_bags gram N SIZE D                the whole matrix of mean(rbf), exact
 *
 * The rows of a bag are spread by a width of its own, whose logarithm is the target; bench/peers/bags.py makes the same. Prints one line of JSON as bench_gram does. */
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

int main(int count, char **arguments)
{
    const int fit = count == 6 && strcmp(arguments[1], "fit") == 0;
    char text[96];
    gram_points *points;
    gram_kernel *kernel;
    if (!fit && !(count == 5 && strcmp(arguments[1], "gram") == 0))
        fail("usage: bench_bags fit N SIZE D FREQUENCIES | gram N SIZE D");
    const int64_t n = parse_count(arguments[2]), size = parse_count(arguments[3]), d = parse_count(arguments[4]);
    gram_context_options options = {.size = sizeof options, .threads = thread_count()};
    must(gram_context_create(&options, &context));
    double *rows = random_numbers(SEED_X, n * size * d), *y = random_numbers(SEED_V, n);
    int64_t *start = malloc((size_t)(n + 1) * sizeof *start);
    for (int64_t i = 0; i <= n; i++) start[i] = i * size;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = i * size * d; k < (i + 1) * size * d; k++) rows[k] *= exp(0.3 * y[i]);
    must(gram_points_create_bags(context, n, d, start, rows, &points));
    if (fit)
        snprintf(text, sizeof text, "after(mean(rbf(ell=1.5), fourier=%lld), rbf(ell=0.3))",
                 (long long)parse_count(arguments[5]));
    else
        snprintf(text, sizeof text, "mean(rbf(ell=1.5))");
    must(gram_kernel_parse(context, text, &kernel));
    double *k = fit ? NULL : fresh_memory((size_t)(n * n) * sizeof *k);
    gram_krr_options how;
    gram_krr_options_init(&how, sizeof how);
    how.lambda = 1e-5;
    gram_krr *made = NULL;
    const int64_t memory = memory_resident();
    const double processor = processor_seconds(), begin = clock_seconds();
    must(fit ? gram_krr_fit(context, kernel, points, 1, y, 1, &how, &made)
             : gram_matrix(context, kernel, points, NULL, k, n));
    printf("{\"seconds\": %.6f, \"cpu_seconds\": %.6f, \"peak_bytes\": %lld", clock_seconds() - begin,
           processor_seconds() - processor, (long long)(memory_peak() - memory));
    if (fit) {
        printf(", \"train_rmse\": %.4g", gram_krr_get_report(made)->train_rmse);
    } else {
        printf(", ");
        print_check(k, n * n, 1);
    }
    printf("}\n");
    return 0;
}
