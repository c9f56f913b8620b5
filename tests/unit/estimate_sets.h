/* Learners of arrays by their options, and data sets, for the tests of what is estimated on rows that were left out. */
#ifndef GRAM_TESTS_ESTIMATE_SETS_H
#define GRAM_TESTS_ESTIMATE_SETS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"
#include "support.h"

typedef const char *const *settings;

static inline gram_learner *learner_of(gram_context *context, settings options)
{
    gram_learner *learner = NULL;
    OK(context, gram_learner_create(context, &learner));
    for (; options[0]; options += 2) OK(context, gram_learner_set(context, learner, options[0], options[1]));
    return learner;
}

static inline gram_arrays arrays_of(int64_t n, int64_t d, const double *x, const double *y)
{
    gram_arrays arrays;
    gram_arrays_init(&arrays, sizeof arrays);
    arrays.n = n;
    arrays.d = d;
    arrays.x = x;
    arrays.ldx = d;
    arrays.targets = 1;
    arrays.y = y;
    arrays.ldy = 1;
    return arrays;
}

static inline gram_model *learn(gram_context *context, const gram_arrays *arrays, settings options)
{
    gram_model *model = NULL;
    gram_learner *learner = learner_of(context, options);
    OK(context, gram_learn_arrays(context, learner, arrays, &model));
    gram_learner_destroy(learner);
    return model;
}

static inline double fact(const gram_model *model, const char *name)
{
    return gram_model_find(model, name).number;
}

static inline void mean_and_error(int64_t n, const double *losses, double *mean, double *se)
{
    double squares = 0;
    *mean = 0;
    for (int64_t i = 0; i < n; i++) *mean += losses[i] / (double)n;
    for (int64_t i = 0; i < n; i++) squares += (losses[i] - *mean) * (losses[i] - *mean);
    *se = sqrt(squares / (double)(n - 1) / (double)n);
}

/* sin(3 x1) + x2^2 with noise 0.3, d columns. */
static inline void make_set(uint64_t seed, int64_t n, int64_t d, double **x, double **y)
{
    double *noise = sample_normal(seed + 50000, n);
    *x = test_random(seed, n * d, -1, 1);
    *y = test_numbers(n);
    for (int64_t i = 0; i < n; i++) (*y)[i] = sin(3 * (*x)[i * d]) + (*x)[i * d + 1] * (*x)[i * d + 1] + 0.3 * noise[i];
    free(noise);
}

#endif
