/* gram's side of the benchmarks of many rows.
 *
 *     bench_scale features N D P      P random Fourier features of an rbf kernel, made from points in memory
 *     bench_scale ridge N D P [f32]   ridge regression on them; f32: with --precision f32
 *     bench_scale landmarks N D M     ridge regression on M landmarks
 *     bench_scale machine N D         a linear support vector machine without a constant, C = 1
 *
 * Prints one line of JSON as bench_gram does, with "r2" of the rows, or the primal "objective" of the machine. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/gram.h>

#include "measure.h"

enum { SEED_X = 1, SEED_Y = 2 };

static gram_context *context;

static void must(gram_status status)
{
    if (status < 0) fail(context ? gram_context_message(context) : gram_status_text(status));
}

/* Targets: a sum of waves of the first columns and some noise; of classes, the side of a plane. */
static double *make_targets(int64_t n, int64_t d, const double *x, int classes)
{
    double *y = random_numbers(SEED_Y, n);
    for (int64_t i = 0; i < n; i++) {
        const double *row = x + i * d;
        if (classes) {
            double sum = y[i];
            for (int64_t l = 0; l < d; l++) sum += row[l] * (l % 3 == 0 ? 1 : -0.5);
            y[i] = sum > 0;
        } else {
            y[i] = sin(1.5 * row[0]) + row[1] * row[2] + 0.3 * y[i];
        }
    }
    return y;
}

static gram_model *learn(int64_t n, int64_t d, const double *x, const double *y, const char *const *options,
                         gram_learner **learner)
{
    gram_model *model = NULL;
    const gram_arrays arrays = {
        .size = sizeof arrays, .n = n, .d = d, .targets = 1, .x = x, .y = y, .ldx = d, .ldy = 1, .lend = 1};
    must(gram_learner_create(context, learner));
    for (; options[0]; options += 2) must(gram_learner_set(context, *learner, options[0], options[1]));
    must(gram_learn_arrays(context, *learner, &arrays, &model));
    return model;
}

int main(int argc, char **argv)
{
    if (argc < 4) fail("usage: bench_scale features|ridge|landmarks|machine N D [P [PRECISION]]");
    const char *what = argv[1], *size = argc > 4 ? argv[4] : "";
    const int64_t n = parse_count(argv[2]), d = parse_count(argv[3]), p = argc > 4 ? parse_count(size) : 0;
    const int machine = strcmp(what, "machine") == 0;
    double *x = random_numbers(SEED_X, n * d), *y = make_targets(n, d, x, machine), *z = NULL;
    char solver[64], kernel[64], lambda[64];
    gram_learner *learner = NULL;
    gram_model *model = NULL;
    gram_features *map = NULL;
    gram_kernel *rbf = NULL;
    must(gram_context_create(NULL, &context));
    (void)snprintf(kernel, sizeof kernel, "rbf(ell=%.17g)", sqrt((double)d));
    (void)snprintf(solver, sizeof solver, "%s:%s", strcmp(what, "landmarks") == 0 ? "nystrom" : "fourier", size);
    (void)snprintf(lambda, sizeof lambda, "%.17g", 1 / (double)n);
    must(gram_kernel_parse(context, kernel, &rbf));
    const char *const of_ridge[] = {"method", "krr",  "kernel", kernel, "lambda",    lambda,
                                    "solver", solver, "scale",  "no",   "precision", argc > 5 ? argv[5] : "auto",
                                    NULL,     NULL};
    const char *const of_machine[] = {"method",   "svm",   "kernel", "linear",    "C",  "1",  "solver",
                                      "explicit", "scale", "no",     "intercept", "no", NULL, NULL};
    const int64_t memory = memory_resident();
    const double processor = processor_seconds(), start = clock_seconds();
    if (strcmp(what, "features") == 0) {
        gram_features_options options;
        gram_features_options_init(&options, sizeof options);
        options.kind = GRAM_FEATURES_FOURIER;
        options.dimension = p;
        z = fresh_memory((size_t)(n * p) * sizeof *z);
        must(gram_features_create(context, rbf, d, NULL, &options, &map));
        must(gram_features_transform(context, map, n, x, d, z, p));
    } else {
        model = learn(n, d, x, y, machine ? of_machine : of_ridge, &learner);
    }
    printf("{\"seconds\": %.6f, \"cpu_seconds\": %.6f, \"peak_bytes\": %lld", clock_seconds() - start,
           processor_seconds() - processor, (long long)(memory_peak() - memory));
    if (model) {
        const gram_fact fact = gram_model_find(model, machine ? "objective" : "train_r2");
        printf(", \"%s\": %.12g", machine ? "objective" : "r2", fact.number);
    }
    printf("}\n");
    gram_model_destroy(model);
    gram_learner_destroy(learner);
    gram_features_destroy(map);
    gram_kernel_release(rbf);
    gram_context_destroy(context);
    if (z) fresh_memory_free(z, (size_t)(n * p) * sizeof *z);
    free(x), free(y);
    return 0;
}
