/* gram's side of the benchmarks of the Stein methods: one call of the public interface, timed, in a fresh process.
 *
 *     bench_stein thin N D M      Stein thinning: M of N points with the scores of a standard normal, imq(c=1)
 *     bench_stein ksd N D         the V-statistic of the kernel Stein discrepancy of N points
 *
 * Prints one line of JSON as bench_gram does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/gram.h>

#include "measure.h"

enum { SEED_X = 1 };

static gram_context *context;

static void must(gram_status status)
{
    if (status != GRAM_OK) fail(context ? gram_context_message(context) : gram_status_text(status));
}

typedef struct problem {
    int64_t n, d;
    double *x, *scores;
    gram_points *points;
    gram_kernel *kernel;
} problem;

static problem make_problem(int64_t n, int64_t d)
{
    problem p = {.n = n, .d = d, .x = random_numbers(SEED_X, n * d)};
    p.scores = malloc((size_t)(n * d) * sizeof *p.scores);
    if (!p.scores) fail("no memory");
    for (int64_t i = 0; i < n * d; i++) p.scores[i] = -p.x[i];
    must(gram_points_create_f64(context, n, d, p.x, d, &p.points));
    must(gram_kernel_parse(context, "imq(c=1)", &p.kernel));
    return p;
}

static void free_problem(problem *p)
{
    gram_kernel_release(p->kernel);
    gram_points_release(p->points);
    free(p->x);
    free(p->scores);
}

static void print_cost(double start, double processor, int64_t memory)
{
    printf("{\"seconds\": %.6f, \"cpu_seconds\": %.6f, \"peak_bytes\": %lld, ", clock_seconds() - start,
           processor_seconds() - processor, (long long)(memory_peak() - memory));
}

static void thin(int64_t n, int64_t d, int64_t m)
{
    problem p = make_problem(n, d);
    int64_t *index = calloc((size_t)m, sizeof *index);
    double *shown = calloc((size_t)m, sizeof *shown), *discrepancy = calloc((size_t)m, sizeof *discrepancy);
    if (!index || !shown || !discrepancy) fail("no memory");
    const int64_t memory = memory_resident();
    const double processor = processor_seconds(), start = clock_seconds();
    must(gram_thin(context, p.kernel, p.points, p.scores, d, NULL, m, index, discrepancy));
    print_cost(start, processor, memory);
    for (int64_t t = 0; t < m; t++) shown[t] = (double)index[t];
    printf("\"discrepancy\": %.17g, ", discrepancy[m - 1]);
    print_check(shown, m, 1);
    printf("}\n");
    free(index);
    free(shown);
    free(discrepancy);
    free_problem(&p);
}

static void ksd(int64_t n, int64_t d)
{
    problem p = make_problem(n, d);
    gram_discrepancy out;
    const int64_t memory = memory_resident();
    const double processor = processor_seconds(), start = clock_seconds();
    must(gram_stein_discrepancy(context, p.kernel, p.points, p.scores, d, NULL, &out));
    print_cost(start, processor, memory);
    print_check(&out.v_statistic, 1, 1);
    printf("}\n");
    free_problem(&p);
}

int main(int argc, char **argv)
{
    gram_context_options options;
    gram_context_options_init(&options, sizeof options);
    options.threads = thread_count();
    must(gram_context_create(&options, &context));
    if (argc == 5 && strcmp(argv[1], "thin") == 0)
        thin(parse_count(argv[2]), parse_count(argv[3]), parse_count(argv[4]));
    else if (argc == 4 && strcmp(argv[1], "ksd") == 0)
        ksd(parse_count(argv[2]), parse_count(argv[3]));
    else
        fail("bench_stein thin N D M | ksd N D");
    gram_context_destroy(context);
    return 0;
}
