/* Bayesian linear regression from inside. */
#ifndef GRAM_METHOD_BAYES_BAYES_H
#define GRAM_METHOD_BAYES_BAYES_H

#include <gram/bayes.h>

#include "base/context.h"

/* The data in the coordinates in which every alpha is easy: the weighted features about their means are U S V'. */
typedef struct gram_bayes_data {
    int64_t n, d;
    int intercept;
    double *centre;     /* d: means of the features, 0 without an intercept */
    double *varies;     /* d: 1, or 0 for a feature that is constant but for rounding */
    double target;      /* mean of y */
    double weight;      /* sum of v */
    double log_weights; /* sum of log v */
    double squares;     /* sum of v (y - mean of y)^2 */
    double *values;     /* d: S, descending */
    double *vectors;    /* d x d: V, row-major: vectors[l * d + j] belongs to feature l and value j */
    double *z;          /* d: U'y */
    double rest;        /* |y|^2 - |z|^2: what no weights explain */
} gram_bayes_data;

/* (bayes_data.c) Reads the rows. gram_bayes_data_free is due after a failure, too. */
gram_status gram_bayes_data_make(gram_context *context, const gram_points *x, const double *y, const double *weights,
                                 int intercept, gram_bayes_data *data);
void gram_bayes_data_free(gram_context *context, gram_bayes_data *data);

/* (bayes_evidence.c) The posterior of the noise variance for an alpha, and log p(y). */
typedef struct gram_bayes_noise {
    double shape, scale, log_evidence;
} gram_bayes_noise;

gram_bayes_noise gram_bayes_find_noise(const gram_bayes_data *data, const gram_bayes_options *options, double alpha);

/* The alpha with the greatest evidence. */
double gram_bayes_find_alpha(const gram_bayes_data *data, const gram_bayes_options *options, int *at_bound);

/* (bayes_data.c) What Student's t at points needs; models keep it. */
typedef struct gram_bayes_posterior {
    int64_t d;
    const double *weights, *centre;
    const double *factor; /* d x d, row-major: V (S^2 + alpha)^(-1/2), so that A^-1 = F F' */
    double constant;      /* of b + m.x */
    double spread;        /* c/a */
    double lift;          /* 1/sum v, 0 without an intercept */
} gram_bayes_posterior;

const gram_bayes_posterior *gram_bayes_get_posterior(const gram_bayes *bayes);

/* mean, and unless NULL the squared scale over c/a: lift + |F'(x - centre)|^2. `work` has room for d numbers. */
void gram_bayes_at(const gram_bayes_posterior *p, const double *x, double *mean, double *leverage, double *work);

#endif
