/* How each row of the method table is reached: options and data, small enough to be run often. For the contract tests
 * and the fuzz targets. */
#ifndef GRAM_TESTS_METHOD_WAYS_H
#define GRAM_TESTS_METHOD_WAYS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/learner.h"
#include "learn/method_table.h"
#include "random_numbers.h"

enum { WAY_D = 2, WAY_MOST_OPTIONS = 6, WAY_MOST_ROWS = 64 };

typedef enum way_target { WAY_NUMBERS, WAY_COUNTS, WAY_TWO_CLASSES, WAY_THREE_CLASSES, WAY_NO_TARGET } way_target;

typedef struct way {
    const char *what;
    way_target target;
    gram_setting options[WAY_MOST_OPTIONS]; /* up to the first without a name */
    int std, prob;                          /* asked of its predictions */
    int slow;                               /* it tunes: not for every failing allocation */
} way;

#define WAY_KERNEL                                                                                                     \
    {                                                                                                                  \
        "kernel", "rbf(ell=0.9)"                                                                                       \
    }
#define WAY_AMPLITUDE                                                                                                  \
    {                                                                                                                  \
        "kernel", "2*rbf(ell=0.9)"                                                                                     \
    }

/* At least one for each row. */
static const way ways[] = {
    {"krr", WAY_NUMBERS, {{"method", "krr"}, WAY_KERNEL, {"lambda", "0.01"}}, 0, 0, 0},
    {"krr, tuned", WAY_NUMBERS, {{"method", "krr"}}, 0, 0, 1},
    {"krr by cg", WAY_NUMBERS, {{"method", "krr"}, WAY_KERNEL, {"alpha", "0.5"}, {"solver", "cg"}}, 0, 0, 0},
    {"krr, unpenalised",
     WAY_NUMBERS,
     {{"method", "krr"}, {"kernel", "rbf(ell=1.5) + linear"}, {"lambda", "0.01"}, {"unpenalised", "x2"}},
     0,
     0,
     0},
    {"krr in a ball", WAY_NUMBERS, {{"method", "krr"}, WAY_KERNEL, {"norm", "2"}, {"mean", "linear"}}, 0, 0, 1},
    {"krr, monotone",
     WAY_NUMBERS,
     {{"method", "krr"}, WAY_KERNEL, {"lambda", "0.01"}, {"increasing", "x1"}, {"constraint-rows", "5"}},
     0,
     0,
     0},
    {"krr, concave",
     WAY_NUMBERS,
     {{"loss", "absolute"}, WAY_KERNEL, {"lambda", "0.01"}, {"concave", "all"}, {"constraint-rows", "4"}},
     0,
     0,
     1},
    {"sgd", WAY_NUMBERS, {{"method", "sgd"}, WAY_KERNEL, {"passes", "2"}, {"budget", "20"}}, 0, 0, 0},
    {"sgd on features",
     WAY_NUMBERS,
     {{"method", "sgd"}, WAY_KERNEL, {"loss", "huber"}, {"solver", "nystrom:9"}},
     0,
     0,
     0},
    {"sgd of classes", WAY_THREE_CLASSES, {{"method", "sgd"}, WAY_KERNEL, {"passes", "2"}}, 0, 1, 0},
    {"sgd, hinge", WAY_TWO_CLASSES, {{"method", "sgd"}, WAY_KERNEL, {"loss", "hinge"}}, 0, 0, 0},
    {"krr on landmarks",
     WAY_NUMBERS,
     {{"method", "krr"}, WAY_KERNEL, {"lambda", "0.01"}, {"solver", "nystrom:9"}},
     1,
     0,
     0},
    {"krr, frequencies",
     WAY_NUMBERS,
     {{"method", "krr"}, WAY_KERNEL, {"lambda", "0.01"}, {"solver", "fourier:20"}},
     0,
     0,
     0},
    {"krr, absolute", WAY_NUMBERS, {{"method", "krr"}, WAY_KERNEL, {"lambda", "0.01"}, {"loss", "absolute"}}, 0, 0, 0},
    {"krr, Huber", WAY_NUMBERS, {{"method", "krr"}, WAY_KERNEL, {"lambda", "0.01"}, {"loss", "huber"}}, 0, 0, 0},
    {"krr, quantiles", WAY_NUMBERS, {WAY_KERNEL, {"lambda", "0.01"}, {"quantile", "0.2,0.8"}}, 0, 0, 0},
    {"integrate",
     WAY_NUMBERS,
     {{"method", "integrate"}, WAY_KERNEL, {"noise", "0.01"}, {"measure", "uniform(0,3)*normal(1,2)"}},
     0,
     0,
     0},
    {"embed", WAY_NO_TARGET, {{"method", "embed"}, WAY_KERNEL}, 0, 0, 0},
    {"embed, a law",
     WAY_NO_TARGET,
     {{"method", "embed"}, WAY_KERNEL, {"measure", "uniform(0,3)*normal(1,2)"}},
     0,
     0,
     0},
    {"gp", WAY_NUMBERS, {{"method", "gp"}, WAY_AMPLITUDE, {"noise", "0.05"}}, 1, 0, 0},
    {"gp, tuned", WAY_NUMBERS, {{"method", "gp"}}, 1, 0, 1},
    {"gp by cg", WAY_NUMBERS, {{"method", "gp"}, WAY_AMPLITUDE, {"noise", "0.05"}, {"solver", "cg"}}, 1, 0, 1},
    {"gp, inducing",
     WAY_NUMBERS,
     {{"method", "gp"}, WAY_AMPLITUDE, {"noise", "0.05"}, {"solver", "inducing:9"}},
     1,
     0,
     1},
    {"gp, Student",
     WAY_NUMBERS,
     {{"method", "gp"}, WAY_AMPLITUDE, {"likelihood", "student"}, {"tune", "none"}},
     1,
     0,
     0},
    {"gp, Poisson",
     WAY_COUNTS,
     {{"method", "gp"}, WAY_AMPLITUDE, {"likelihood", "poisson"}, {"tune", "none"}},
     1,
     0,
     0},
    {"gp, classes", WAY_TWO_CLASSES, {{"method", "gp"}, WAY_AMPLITUDE, {"tune", "none"}}, 0, 1, 0},
    {"gp, three", WAY_THREE_CLASSES, {{"method", "gp"}, WAY_AMPLITUDE, {"tune", "none"}}, 0, 1, 1},
    {"bayes", WAY_NUMBERS, {{"method", "bayes"}}, 1, 0, 0},
    {"bayes, prior",
     WAY_NUMBERS,
     {{"method", "bayes"}, {"alpha", "0.5"}, {"prior-shape", "2"}, {"prior-scale", "0.1"}, {"intercept", "no"}},
     1,
     0,
     0},
    {"spline", WAY_NUMBERS, {{"method", "spline"}, {"lambda", "0.01"}}, 1, 0, 0},
    {"spline, thin plate", WAY_NUMBERS, {{"method", "spline"}, {"spline", "thin-plate"}, {"lambda", "0.01"}}, 1, 0, 1},
    {"spline, huber",
     WAY_NUMBERS,
     {{"method", "spline"}, {"loss", "huber"}, {"delta", "0.5"}, {"lambda", "0.01"}},
     0,
     0,
     1},
    {"spline, tuned", WAY_NUMBERS, {{"method", "spline"}, {"order", "3"}, {"tune", "ml"}}, 1, 0, 1},
    {"flow", WAY_NUMBERS, {{"method", "flow"}, WAY_KERNEL, {"flow-time", "30"}}, 0, 0, 0},
    {"flow, for ever",
     WAY_NUMBERS,
     {{"method", "flow"}, WAY_KERNEL, {"flow-time", "inf"}, {"parameters", "coefficients"}, {"intercept", "yes"}},
     0,
     0,
     0},
    {"flow by descent",
     WAY_NUMBERS,
     {{"method", "flow"}, WAY_KERNEL, {"flow-time", "9"}, {"solver", "descent"}},
     0,
     0,
     1},
    {"flow, tuned", WAY_NUMBERS, {{"method", "flow"}, {"tune", "holdout:25"}}, 0, 0, 1},
    {"svm", WAY_TWO_CLASSES, {{"method", "svm"}, WAY_KERNEL, {"C", "3"}}, 0, 0, 0},
    {"svm, three", WAY_THREE_CLASSES, {{"method", "svm"}, WAY_KERNEL, {"C", "3"}, {"prob", "yes"}}, 0, 1, 1},
    {"svm, tuned", WAY_TWO_CLASSES, {{"task", "classification"}, {"tune", "cv:3"}}, 0, 1, 1},
    {"svm, frequencies",
     WAY_THREE_CLASSES,
     {{"method", "svm"}, WAY_KERNEL, {"C", "3"}, {"solver", "fourier:20"}},
     0,
     0,
     0},
    {"svm, landmarks", WAY_TWO_CLASSES, {{"method", "svm"}, WAY_KERNEL, {"C", "3"}, {"solver", "nystrom:9"}}, 0, 0, 0},
    {"svm, explicit",
     WAY_TWO_CLASSES,
     {{"method", "svm"}, {"kernel", "linear"}, {"C", "3"}, {"solver", "explicit"}},
     0,
     0,
     0},
    {"svm, numbers", WAY_NUMBERS, {{"method", "svm"}, WAY_KERNEL, {"C", "3"}, {"epsilon", "0.05"}}, 0, 0, 0},
    {"svm, one class", WAY_NO_TARGET, {{"svm", "one-class"}, WAY_KERNEL, {"nu", "0.2"}}, 0, 0, 0},
    {"logistic, frequencies",
     WAY_THREE_CLASSES,
     {{"method", "logistic"}, WAY_KERNEL, {"lambda", "0.01"}, {"solver", "fourier:20"}},
     0,
     1,
     1},
    {"logistic, landmarks",
     WAY_TWO_CLASSES,
     {{"method", "logistic"}, WAY_KERNEL, {"lambda", "0.01"}, {"solver", "nystrom:9"}},
     0,
     1,
     0},
    {"logistic", WAY_TWO_CLASSES, {{"method", "logistic"}, WAY_KERNEL, {"lambda", "0.01"}}, 0, 1, 0},
    {"logistic, three", WAY_THREE_CLASSES, {{"method", "logistic"}, WAY_KERNEL, {"lambda", "0.01"}}, 0, 1, 0},
    {"logistic, unpenalised",
     WAY_THREE_CLASSES,
     {{"method", "logistic"}, WAY_KERNEL, {"lambda", "0.01"}, {"unpenalised", "x2"}},
     0,
     1,
     1},
    {"pca", WAY_NO_TARGET, {{"method", "pca"}, WAY_KERNEL, {"k", "3"}}, 0, 0, 0},
    {"pca, not centred", WAY_NO_TARGET, {{"method", "pca"}, WAY_KERNEL, {"centre", "no"}}, 0, 0, 0},
    {"pca by pivots", WAY_NO_TARGET, {{"method", "pca"}, WAY_KERNEL, {"solver", "nystrom:9"}}, 0, 0, 0},
    {"mercer", WAY_NO_TARGET, {{"method", "mercer"}, WAY_KERNEL, {"k", "3"}}, 0, 0, 0},
    {"mercer by pivots", WAY_NO_TARGET, {{"method", "mercer"}, WAY_KERNEL, {"solver", "nystrom:9"}}, 0, 0, 0},
    {"features", WAY_NO_TARGET, {{"method", "feature-map"}, WAY_KERNEL, {"degree", "2"}}, 0, 0, 0},
    {"features, drawn", WAY_NO_TARGET, {{"method", "feature-map"}, WAY_KERNEL, {"fourier", "8"}}, 0, 0, 0},
    {"features, landmarks", WAY_NO_TARGET, {{"method", "feature-map"}, WAY_KERNEL, {"nystrom", "5"}}, 0, 0, 0},
    {"kmeans", WAY_NO_TARGET, {{"method", "kmeans"}, WAY_KERNEL, {"k", "3"}}, 0, 0, 0},
    {"spectral", WAY_NO_TARGET, {{"method", "spectral"}, WAY_KERNEL, {"k", "3"}}, 0, 0, 0},
    {"net",
     WAY_NUMBERS,
     {{"method", "net"}, {"width", "9"}, {"act", "erf"}, {"steps", "20"}, {"members", "3"}},
     1,
     0,
     0},
    {"net, centred",
     WAY_NUMBERS,
     {{"method", "net"}, {"width", "8"}, {"depth", "2"}, {"steps", "20"}, {"batch", "7"}, {"centred", "yes"}},
     0,
     0,
     0},
    {"net, classes",
     WAY_THREE_CLASSES,
     {{"method", "net"}, {"width", "8"}, {"act", "tanh"}, {"steps", "20"}, {"momentum", "0.5"}},
     0,
     1,
     0},
    {"cca",
     WAY_NO_TARGET,
     {{"method", "cca"}, {"x", "x1"}, {"y", "x2"}, WAY_KERNEL, {"kappa", "0.1"}, {"k", "2"}},
     0,
     0,
     0},
    {"cca, kappa by rows",
     WAY_NO_TARGET,
     {{"method", "cca"}, {"x", "x1"}, {"y", "x2"}, {"permutations", "9"}},
     0,
     0,
     1},
    {"couple",
     WAY_NO_TARGET,
     {{"method", "couple"}, {"a", "x1"}, {"b", "x2"}, WAY_KERNEL, {"gamma", "0.1"}, {"k", "2"}},
     0,
     0,
     0},
    {"pca, linear", WAY_NO_TARGET, {{"method", "pca"}, {"kernel", "linear"}, {"k", "1"}}, 0, 0, 0},
};

enum { WAYS = sizeof ways / sizeof *ways };

/* n rows, the same for the same n; y NULL if there is no target. */
typedef struct way_data {
    int64_t n;
    double *x, *y;
} way_data;

static inline double way_value(way_target target, const double *x, double noise)
{
    const double f = sin(2 * x[0]) + 0.4 * x[1];
    switch (target) {
    case WAY_NUMBERS: return f + noise;
    case WAY_COUNTS: return floor(2 * exp(0.7 * f));
    case WAY_TWO_CLASSES: return f + 3 * noise > 0.6 ? 7 : -2; /* any numbers may stand for classes */
    case WAY_THREE_CLASSES: return f + noise > 1 ? 7 : f + noise > 0.3 ? 3 : -2;
    case WAY_NO_TARGET: break;
    }
    return 0;
}

static inline way_data way_make(way_target target, int64_t n)
{
    way_data made = {n, test_random(11, n * WAY_D, 0, 3), target == WAY_NO_TARGET ? NULL : test_numbers(n)};
    double *noise = test_random(12, n, -0.1, 0.1);
    for (int64_t i = 0; i < n && made.y; i++) made.y[i] = way_value(target, made.x + i * WAY_D, noise[i]);
    free(noise);
    return made;
}

static inline void way_free(way_data *data)
{
    free(data->x);
    free(data->y);
}

static inline gram_status way_learner(gram_context *context, const way *w, gram_learner **learner)
{
    gram_status status = gram_learner_create(context, learner);
    for (int i = 0; i < WAY_MOST_OPTIONS && w->options[i].name && status >= 0; i++)
        status = gram_learner_set(context, *learner, w->options[i].name, w->options[i].value);
    return status;
}

static inline gram_status way_learn_arrays(gram_context *context, gram_learner *learner, const way_data *data,
                                           gram_model **model)
{
    gram_arrays arrays;
    gram_arrays_init(&arrays, sizeof arrays);
    arrays.n = data->n;
    arrays.d = arrays.ldx = WAY_D;
    arrays.targets = arrays.ldy = data->y != NULL;
    arrays.x = data->x;
    arrays.y = data->y;
    return gram_learn_arrays(context, learner, &arrays, model);
}

static inline gram_predict_options way_wish(const way *w)
{
    gram_predict_options wish;
    gram_predict_options_init(&wish, sizeof wish);
    wish.std = w->std;
    wish.prob = w->prob;
    return wish;
}

#endif
