/* Densities from inside: what the reader (density_parse.c) fills in and the formulas (density.c) use. */
#ifndef GRAM_EMBED_DENSITY_H
#define GRAM_EMBED_DENSITY_H

#include <gram/density.h>

#include "base/arena.h"

/* One Gaussian: S = L L'. */
typedef struct gram_component {
    double log_weight; /* less log |L| */
    const double *mean;
    const double *factor;    /* L, d x d, row-major */
    const double *precision; /* the diagonal of S^-1 */
} gram_component;

struct gram_density {
    gram_memory *memory;
    gram_arena arena; /* of everything below */
    const char *name;
    int64_t d;
    /* log p and, unless NULL, its first and second derivatives by each coordinate (the first where the second are wanted); `work` has
     * room for work_numbers */
    double (*evaluate)(const gram_density *density, const double *x, double *first, double *second, double *work);
    int64_t work_numbers;
    int64_t count; /* of components, or of observations */
    gram_component *components;
    double df;          /* student */
    double b, sd;       /* banana; sd of the prior of logistic */
    const double *x;    /* logistic: count x d */
    const double *sign; /* 1 for label 1, -1 for 0 */
};

/* An empty density on R^d. */
gram_status gram_density_new(gram_context *context, const char *name, int64_t d, gram_density **density);

/* The formulas. */
double gram_density_mixture(const gram_density *density, const double *x, double *first, double *second, double *work);
double gram_density_student(const gram_density *density, const double *x, double *first, double *second, double *work);
double gram_density_banana(const gram_density *density, const double *x, double *first, double *second, double *work);

#endif
