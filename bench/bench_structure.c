/* gram's side of the benchmarks of structure: one call of the public interface, timed, in a fresh process.
 *
 *     bench_structure pca KERNEL N D K TOLERANCE RANK     the first K components of N points; RANK columns of K, 0: by products with K
 *     bench_structure kmeans KERNEL N D K STARTS          K clusters; STARTS 0: one start from the first K points
 *     bench_structure spectral KERNEL N D K STARTS        the same by the graph that the kernel is
 *
 * Clusters are of points about K centres, one after the other. Prints one line of JSON as bench_gram does. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/gram.h>

#include "measure.h"

enum { SEED_X = 1, SEED_CENTRES = 5 };

static gram_context *context;

static void must(gram_status status)
{
    if (status < 0) fail(context ? gram_context_message(context) : gram_status_text(status));
}

static void print_cost(double start, double processor, int64_t memory)
{
    printf("{\"seconds\": %.6f, \"cpu_seconds\": %.6f, \"peak_bytes\": %lld, ", clock_seconds() - start,
           processor_seconds() - processor, (long long)(memory_peak() - memory));
}

/* The largest |K~ v - l v| over l of all components, v the coordinates scaled to length 1. */
static double find_residual(const gram_pca *pca, gram_kernel *kernel, gram_points *points)
{
    const int64_t n = gram_points_count(points), k = gram_pca_get_report(pca)->components;
    const double *f = gram_pca_coordinates(pca), *l = gram_pca_eigenvalues(pca);
    gram_operator *plain = NULL, *centred = NULL;
    double *out = malloc((size_t)(n * k) * sizeof *out), worst = 0;
    if (!out) fail("no memory");
    must(gram_operator_create_free(context, kernel, points, &plain));
    must(gram_operator_create_centred(context, plain, &centred));
    must(gram_operator_apply(context, centred, k, f, k, out, k));
    for (int64_t s = 0; s < k; s++) {
        double sum = 0, length = 0;
        for (int64_t i = 0; i < n; i++) {
            sum += pow(out[i * k + s] - l[s] * f[i * k + s], 2);
            length += f[i * k + s] * f[i * k + s];
        }
        worst = fmax(worst, sqrt(sum / length) / l[s]);
    }
    gram_operator_release(centred);
    gram_operator_release(plain);
    free(out);
    return worst;
}

static void pca(const char *text, int64_t n, int64_t d, int64_t k, double tolerance, int64_t rank)
{
    double *x = random_numbers(SEED_X, n * d);
    gram_points *points = NULL;
    gram_kernel *kernel = NULL;
    gram_pca *found = NULL;
    gram_pca_options options;
    gram_pca_options_init(&options, sizeof options);
    options.components = k;
    options.tolerance = tolerance;
    options.rank = rank;
    options.solver = rank > 0 ? GRAM_PCA_NYSTROM : GRAM_PCA_KRYLOV;
    must(gram_points_create_f64(context, n, d, x, d, &points));
    must(gram_kernel_parse(context, text, &kernel));
    const int64_t memory = memory_resident();
    const double processor = processor_seconds(), start = clock_seconds();
    must(gram_pca_fit(context, kernel, points, &options, &found));
    print_cost(start, processor, memory);
    const gram_pca_report *report = gram_pca_get_report(found);
    printf("\"solver\": \"%s\", \"products\": %lld, \"trace_error\": %.3g, \"residual\": %.3g, ",
           gram_pca_solver_name(report->solver), (long long)report->products, report->trace_error,
           find_residual(found, kernel, points));
    print_check(gram_pca_eigenvalues(found), k, 1);
    printf("}\n");
    gram_pca_destroy(found);
    gram_kernel_release(kernel);
    gram_points_release(points);
    free(x);
}

/* Points about k centres: x_i = 2 c_(i mod k) + noise. */
static double *blobs(int64_t n, int64_t d, int64_t k)
{
    double *x = random_numbers(SEED_X, n * d), *centres = random_numbers(SEED_CENTRES, k * d);
    for (int64_t i = 0; i < n * d; i++) x[i] += 2 * centres[i / d % k * d + i % d];
    free(centres);
    return x;
}

static void cluster(const char *text, gram_cluster_method method, int64_t n, int64_t d, int64_t k, int64_t starts)
{
    double *x = blobs(n, d, k);
    int64_t *first = calloc((size_t)k, sizeof *first);
    gram_points *points = NULL;
    gram_kernel *kernel = NULL;
    gram_cluster *found = NULL;
    gram_cluster_options options;
    if (!first) fail("no memory");
    for (int64_t c = 0; c < k; c++) first[c] = c;
    gram_cluster_options_init(&options, sizeof options);
    options.method = method;
    options.clusters = k;
    options.first = starts == 0 ? first : NULL;
    if (starts > 0) options.starts = starts;
    must(gram_points_create_f64(context, n, d, x, d, &points));
    must(gram_kernel_parse(context, text, &kernel));
    const int64_t memory = memory_resident();
    const double processor = processor_seconds(), start = clock_seconds();
    must(gram_cluster_fit(context, kernel, points, &options, &found));
    print_cost(start, processor, memory);
    const gram_cluster_report *report = gram_cluster_get_report(found);
    int64_t agree = 0;
    for (int64_t i = k; i < n; i++) agree += gram_cluster_labels(found)[i] == gram_cluster_labels(found)[i - k];
    printf("\"iterations\": %lld, \"agree\": %.6f, ", (long long)report->iterations, (double)agree / (double)(n - k));
    print_check(&report->objective, 1, 1);
    printf("}\n");
    gram_cluster_destroy(found);
    gram_kernel_release(kernel);
    gram_points_release(points);
    free(first);
    free(x);
}

int main(int argc, char **argv)
{
    gram_context_options options;
    gram_context_options_init(&options, sizeof options);
    options.threads = thread_count();
    must(gram_context_create(&options, &context));
    if (argc == 8 && strcmp(argv[1], "pca") == 0)
        pca(argv[2], parse_count(argv[3]), parse_count(argv[4]), parse_count(argv[5]), atof(argv[6]),
            parse_count(argv[7]));
    else if (argc == 7 && (strcmp(argv[1], "kmeans") == 0 || strcmp(argv[1], "spectral") == 0))
        cluster(argv[2], argv[1][0] == 's' ? GRAM_CLUSTER_SPECTRAL : GRAM_CLUSTER_KMEANS, parse_count(argv[3]),
                parse_count(argv[4]), parse_count(argv[5]), parse_count(argv[6]));
    else
        fail("bench_structure pca KERNEL N D K TOLERANCE RANK | kmeans|spectral KERNEL N D K STARTS");
    gram_context_destroy(context);
    return 0;
}
