/* gram's side of the benchmarks of support vector machines: one call of the public interface, timed, in a fresh process.
 *
 *     bench_svm fit c|epsilon N D C TOLERANCE     noisy labels, or a noisy target; rbf with gamma = 1/D, a cache of 1 GiB
 *     bench_svm letters N D CLASSES C             many classes
 *     bench_svm predict N D C ROWS                a machine of N rows with noisy labels, at ROWS points
 *     bench_svm grid N D FOLDS WIDTHS STRENGTHS   cross-validation over a grid
 *
 * bench/peers/svm_fit.py makes the same rows. Prints one line of JSON as bench_gram does. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/gram.h>

#include "measure.h"

enum { SEED_X = 1, SEED_Y = 2, SEED_V = 3, SEED_TEST = 5 };

static gram_context *context;

static void must(gram_status status)
{
    if (status < 0) fail(context ? gram_context_message(context) : gram_status_text(status));
}

static double surface(const double *x)
{
    return x[0] + x[1] * x[2] + 0.5 * (x[3] * x[3] * x[3]);
}

/* 1 where the surface is above 0; 15 % of the labels the other way. Or the surface with noise. */
static double *make_targets(const double *x, int64_t n, int64_t d, int labels)
{
    double *y = random_numbers(SEED_V, n);
    for (int64_t i = 0; i < n; i++) {
        const double f = surface(x + i * d);
        y[i] = labels ? (double)((f > 0) != (y[i] < -1.2124)) : f + 0.5 * y[i];
    }
    return y;
}

/* Row i is of class i modulo classes: its centre plus noise. */
static double *make_letters(int64_t n, int64_t d, int64_t classes, double *y)
{
    double *x = random_numbers(SEED_X, n * d), *centres = random_numbers(SEED_Y, classes * d);
    for (int64_t i = 0; i < n; i++) {
        y[i] = (double)(i % classes);
        for (int64_t l = 0; l < d; l++) x[i * d + l] += centres[i % classes * d + l];
    }
    free(centres);
    return x;
}

typedef struct cost {
    int64_t memory;
    double processor, start;
} cost;

static cost begin(void)
{
    return (cost){memory_resident(), processor_seconds(), clock_seconds()};
}

static void print_cost(const cost *c)
{
    const double seconds = clock_seconds() - c->start;
    printf("{\"seconds\": %.6f, \"cpu_seconds\": %.6f, \"peak_bytes\": %lld, ", seconds,
           processor_seconds() - c->processor, (long long)(memory_peak() - c->memory));
}

static gram_kernel *make_kernel(int64_t d)
{
    char text[64];
    gram_kernel *kernel;
    snprintf(text, sizeof text, "rbf(gamma=%.17g)", 1 / (double)d);
    must(gram_kernel_parse(context, text, &kernel));
    return kernel;
}

static gram_svm_options make_options(double c)
{
    gram_svm_options options;
    gram_svm_options_init(&options, sizeof options);
    options.C = c;
    options.cache_bytes = (size_t)1 << 30;
    return options;
}

static gram_svm *fit(int64_t n, int64_t d, const double *x, const double *y, const gram_svm_options *options, int print)
{
    gram_kernel *kernel = make_kernel(d);
    gram_points *points;
    gram_svm *svm;
    must(gram_points_create_f64(context, n, d, x, d, &points));
    const cost c = begin();
    must(gram_svm_fit(context, kernel, points, y, options, &svm));
    if (print) print_cost(&c);
    const gram_svm_report *r = gram_svm_get_report(svm);
    if (print)
        printf("\"objective\": %.10g, \"gap\": %.3g, \"support\": %lld, \"bounded\": %lld, \"iterations\": %lld}\n",
               r->objective, r->gap, (long long)r->n_support, (long long)r->n_bounded, (long long)r->iterations);
    gram_points_release(points);
    gram_kernel_release(kernel);
    return svm;
}

static void predict(int64_t n, int64_t d, double strength, int64_t rows)
{
    double *x = random_numbers(SEED_X, n * d), *y = make_targets(x, n, d, 1), *z = random_numbers(SEED_TEST, rows * d);
    double *f = random_numbers(SEED_V, rows);
    const gram_svm_options options = make_options(strength);
    gram_svm *svm = fit(n, d, x, y, &options, 0);
    gram_points *points;
    must(gram_points_create_f64(context, rows, d, z, d, &points));
    const cost c = begin();
    must(gram_svm_predict(context, svm, points, NULL, f, NULL));
    print_cost(&c);
    print_check(f, rows, 1);
    printf("}\n");
}

static void tune(int64_t n, int64_t d, int64_t folds, int64_t widths, int64_t strengths)
{
    double *x = random_numbers(SEED_X, n * d), *y = make_targets(x, n, d, 1), strength;
    gram_kernel *kernel, *tuned;
    gram_points *points;
    gram_svm_tune_options options;
    gram_svm_tune_report report = {.size = sizeof report};
    gram_svm_tune_options_init(&options, sizeof options);
    options.folds = folds;
    options.width_count = widths;
    options.C_count = strengths;
    options.rows = n;
    must(gram_kernel_parse(context, "rbf", &kernel));
    must(gram_points_create_f64(context, n, d, x, d, &points));
    const cost c = begin();
    must(gram_svm_tune(context, kernel, points, y, NULL, &options, &tuned, &strength, NULL, NULL, &report));
    print_cost(&c);
    gram_parameter p;
    must(gram_kernel_parameter_get(context, tuned, 0, &p));
    printf("\"C\": %.10g, \"gamma\": %.10g, \"score\": %.6f, \"standard_error\": %.6f, \"fits\": %lld, "
           "\"iterations\": %lld}\n",
           strength, 1 / (2 * p.value * p.value), report.score, report.standard_error, (long long)report.fits,
           (long long)report.iterations);
}

int main(int argc, char **argv)
{
    gram_context_options options;
    gram_context_options_init(&options, sizeof options);
    options.threads = thread_count();
    must(gram_context_create(&options, &context));
    const int64_t n = argc > 3 ? parse_count(argv[argc == 7 && strcmp(argv[1], "fit") == 0 ? 3 : 2]) : 0;
    if (argc == 7 && strcmp(argv[1], "fit") == 0) {
        const int64_t d = parse_count(argv[4]);
        const int labels = strcmp(argv[2], "c") == 0;
        double *x = random_numbers(SEED_X, n * d), *y = make_targets(x, n, d, labels);
        gram_svm_options options = make_options(atof(argv[5]));
        options.kind = labels ? GRAM_SVM_C : GRAM_SVM_EPSILON_REGRESSION;
        options.tolerance = atof(argv[6]);
        gram_svm_destroy(fit(n, d, x, y, &options, 1));
    } else if (argc == 6 && strcmp(argv[1], "letters") == 0) {
        const int64_t d = parse_count(argv[3]);
        double *y = random_numbers(SEED_V, n), *x = make_letters(n, d, parse_count(argv[4]), y);
        const gram_svm_options options = make_options(atof(argv[5]));
        gram_svm_destroy(fit(n, d, x, y, &options, 1));
    } else if (argc == 6 && strcmp(argv[1], "predict") == 0)
        predict(n, parse_count(argv[3]), atof(argv[4]), parse_count(argv[5]));
    else if (argc == 7 && strcmp(argv[1], "grid") == 0)
        tune(n, parse_count(argv[3]), parse_count(argv[4]), parse_count(argv[5]), parse_count(argv[6]));
    else
        fail("bench_svm fit c|epsilon N D C TOLERANCE | letters N D CLASSES C | predict N D C ROWS | grid N D FOLDS "
             "WIDTHS STRENGTHS");
    gram_context_destroy(context);
    return 0;
}
