/* Rows in up to three columns, and what Gaussian processes on them can be asked for: means, noises, kernels. */
#ifndef GRAM_TEST_GP_CASES_H
#define GRAM_TEST_GP_CASES_H

#include <math.h>
#include <string.h>

#include "support.h"

enum { GP_MOST = 700, GP_NEW = 70, GP_WIDE = 5 };

/* n rows x and GP_NEW new ones z, of d columns */
typedef struct gp_data {
    int n, d;
    double x[GP_MOST * 3], y[GP_MOST], row_noise[GP_MOST], weights[GP_MOST], basis[GP_MOST];
    double z[GP_NEW * 3], new_basis[GP_NEW];
} gp_data;

static inline void gp_make_data(uint64_t seed, int n, int d, gp_data *t)
{
    t->n = n;
    t->d = d;
    test_uniform(seed, n * d, 0, 2, t->x);
    test_uniform(seed + 1, GP_NEW * d, 0, 2.5, t->z);
    test_uniform(seed + 2, n, -0.3, 0.3, t->y);
    test_uniform(seed + 3, n, 0, 0.1, t->row_noise);
    test_uniform(seed + 4, n, 0.5, 3, t->weights);
    for (int i = 0; i < n; i++) {
        t->y[i] += 2 + sin(3 * t->x[i * d]) + (d > 1 ? t->x[i * d + 1] : 0);
        t->basis[i] = exp(t->x[i * d]);
    }
    for (int i = 0; i < GP_NEW; i++) t->new_basis[i] = exp(t->z[i * d]);
}

typedef struct gp_setting {
    const char *kernel;
    gram_mean mean;
    int flat, rows, columns; /* rows: noises and weights of each; columns: of the mean, the basis */
    double noise;
} gp_setting;

/* For three columns */
static const gp_setting GP_SETTINGS[] = {
    {"1.3*rbf(ell=0.7)", GRAM_MEAN_ZERO, 0, 0, 0, 0.01},
    {"1.3*rbf(ell=[0.7,1.4,3])", GRAM_MEAN_CONSTANT, 0, 0, 0, 0.1},
    {"0.4*matern(nu=1.5, ell=0.9) + 0.2*linear(c=0.3)", GRAM_MEAN_CONSTANT, 1, 1, 0, 0.05},
    {"0.9*matern(nu=2.5, ell=[0.8,2,1])", GRAM_MEAN_LINEAR, 1, 0, 1, 0.02},
    {"1.1*rbf(ell=0.5)*periodic(p=1.7, ell=1.2) + 0.05*white()", GRAM_MEAN_LINEAR, 0, 1, 1, 0.03},
};
/* For two columns */
static const gp_setting GP_SETTINGS_2[] = {
    {"1.3*rbf(ell=0.7)", GRAM_MEAN_ZERO, 0, 0, 0, 0.05},
    {"1.3*rbf(ell=[0.7,1.4])", GRAM_MEAN_CONSTANT, 0, 0, 0, 0.1},
    {"0.4*matern(nu=1.5, ell=0.9) + 0.2*linear(c=0.3)", GRAM_MEAN_CONSTANT, 1, 1, 0, 0.05},
    {"0.9*matern(nu=2.5, ell=[0.8,2])", GRAM_MEAN_LINEAR, 1, 0, 1, 0.02},
    {"1.1*rbf(ell=0.5)*periodic(p=1.7, ell=1.2)", GRAM_MEAN_LINEAR, 0, 1, 1, 0.03},
};
enum { GP_SETTINGS_COUNT = sizeof GP_SETTINGS / sizeof *GP_SETTINGS };
_Static_assert(sizeof GP_SETTINGS == sizeof GP_SETTINGS_2, "as many for two columns");

static inline gram_gp_options gp_options_of(const gp_setting *s, const gp_data *t)
{
    gram_gp_options o;
    gram_gp_options_init(&o, sizeof o);
    o.mean = s->mean;
    o.flat = s->flat;
    o.noise = s->noise;
    o.row_noise = s->rows ? t->row_noise : NULL;
    o.weights = s->rows ? t->weights : NULL;
    o.columns = s->columns;
    o.basis = s->columns ? t->basis : NULL;
    o.ld = 1;
    return o;
}

/* ---- for the twins ---- */

static inline double gp_noise_of_row(const gp_setting *s, const gp_data *t, int i)
{
    return s->rows ? s->noise / t->weights[i] + t->row_noise[i] : s->noise;
}

static inline int gp_columns_of(const gp_setting *s, int d)
{
    return (s->mean != GRAM_MEAN_ZERO) + (s->mean == GRAM_MEAN_LINEAR ? d : 0) + s->columns;
}

/* The mean's columns of n points, n x gp_columns_of. */
static inline void gp_mean_columns(const gp_setting *s, int n, int d, const double *x, const double *basis, double *out)
{
    for (int i = 0; i < n; i++) {
        if (s->mean != GRAM_MEAN_ZERO) *out++ = 1;
        for (int l = 0; l < d && s->mean == GRAM_MEAN_LINEAR; l++) *out++ = x[i * d + l];
        if (s->columns) *out++ = basis[i];
    }
}

#endif
