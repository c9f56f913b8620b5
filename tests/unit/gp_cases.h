/* Rows in three columns and Gaussian processes of all kinds of means, noises and kernels on them. */
#ifndef GRAM_TEST_GP_CASES_H
#define GRAM_TEST_GP_CASES_H

#include <math.h>

#include "support.h"

enum { D = 3, NEW = 70, MOST = 700 };

typedef struct data {
    int n;
    double x[MOST * D], y[MOST], row_noise[MOST], weights[MOST], basis[MOST], z[NEW * D], new_basis[NEW];
} data;

static inline void make_data(uint64_t seed, int n, data *t)
{
    t->n = n;
    test_uniform(seed, n * D, 0, 2, t->x);
    test_uniform(seed + 1, NEW * D, 0, 2.5, t->z);
    test_uniform(seed + 2, n, -0.3, 0.3, t->y);
    test_uniform(seed + 3, n, 0, 0.1, t->row_noise);
    test_uniform(seed + 4, n, 0.5, 3, t->weights);
    for (int i = 0; i < n; i++) {
        t->y[i] += 2 + sin(3 * t->x[i * D]) + t->x[i * D + 1];
        t->basis[i] = exp(t->x[i * D]);
    }
    for (int i = 0; i < NEW; i++) t->new_basis[i] = exp(t->z[i * D]);
}

typedef struct setting {
    const char *kernel;
    gram_mean mean;
    int flat, row_noise, columns;
    double noise;
} setting;

static const setting SETTINGS[] = {
    {"1.3*rbf(ell=0.7)", GRAM_MEAN_ZERO, 0, 0, 0, 0.01},
    {"1.3*rbf(ell=[0.7,1.4,3])", GRAM_MEAN_CONSTANT, 0, 0, 0, 0.1},
    {"0.4*matern(nu=1.5, ell=0.9) + 0.2*linear(c=0.3)", GRAM_MEAN_CONSTANT, 1, 1, 0, 0.05},
    {"0.9*matern(nu=2.5, ell=[0.8,2,1])", GRAM_MEAN_LINEAR, 1, 0, 1, 0.02},
    {"1.1*rbf(ell=0.5)*periodic(p=1.7, ell=1.2) + 0.05*white()", GRAM_MEAN_LINEAR, 0, 1, 1, 0.03},
};
enum { SETTINGS_COUNT = sizeof SETTINGS / sizeof *SETTINGS };

static inline gram_gp_options options_of(const setting *s, const data *t)
{
    gram_gp_options o;
    gram_gp_options_init(&o, sizeof o);
    o.mean = s->mean;
    o.flat = s->flat;
    o.noise = s->noise;
    o.row_noise = s->row_noise ? t->row_noise : NULL;
    o.weights = s->row_noise ? t->weights : NULL;
    o.columns = s->columns;
    o.basis = s->columns ? t->basis : NULL;
    o.ld = 1;
    return o;
}

#endif
