/* Splines of several columns: functions that are linear in finitely many parameters, f(x) = b + phi(x)'c with the variance
 * sigma^2 (1/sum w + phi(x)'V phi(x)). What an additive model and a thin plate have in common. */
#ifndef GRAM_METHOD_SPLINE_SPLINE_SUM_H
#define GRAM_METHOD_SPLINE_SPLINE_SUM_H

#include <gram/spline.h>

#include "base/arena.h"
#include "method/spline/spline_basis.h"
#include "points/points.h"

typedef struct gram_spline_sum {
    gram_arena arena; /* of everything below */
    int m;
    int64_t d, p; /* columns; parameters */
    /* B-splines of each column, the last coefficient of each being 0: constants are in b */
    gram_basis *basis;
    int64_t *first; /* d + 1: the parameters of each component */
    double *c, *mean,
        *v;         /* p, p, p x p or NULL: coefficients, what is subtracted of phi so that components have mean 0, V */
    double b, lift; /* constant; 1/sum w */
    double *lambda, *df; /* of the components */
    /* a thin plate instead: phi are kernels at the centres and then monomials of (x - middle)/width; b = 0, no means */
    int plate;
    int64_t centre_count;
    double *centres, *middle, *width; /* count x d, d, d */
} gram_spline_sum;

/* A linear functional of f in these terms. */
typedef struct gram_spline_row {
    double *phi;     /* p */
    double constant; /* what it makes of 1 */
} gram_spline_row;

/* Adds factor times the derivative of order `first` by column `by` (0: the value), then of order `second` by column `with`, at x; of
 * component `only`, -1: of all. */
void gram_sum_add(const gram_spline_sum *sum, const double *x, int64_t by, int first, int64_t with, int second,
                  int64_t only, double factor, gram_spline_row *row);
/* The value of the functional, and its variance over sigma^2 unless NULL. */
double gram_sum_value(const gram_spline_sum *sum, const gram_spline_row *row, double *variance);

/* Fits an additive model. fitted, left (n, NaN for rows of weight 0) and the report are filled. Free it after a failure, too. */
gram_status gram_sum_fit(gram_context *context, const gram_points *x, const double *y,
                         const gram_spline_options *options, double *fitted, double *left, gram_spline_report *report,
                         gram_spline_sum *sum);
void gram_sum_free(gram_spline_sum *sum);

/* Bytes that a fit takes at most, and how many knots a column of n rows gets. */
double gram_sum_bytes(int64_t n, int64_t d, int m);
int64_t gram_sum_knots(int64_t n);

/* The same for a thin plate (spline_plate.c): gram_sum_add calls the first. */
void gram_plate_add(const gram_spline_sum *sum, const double *x, int64_t by, int first, int64_t with, int second,
                    double factor, gram_spline_row *row);
gram_status gram_plate_fit(gram_context *context, const gram_points *x, const double *y,
                           const gram_spline_options *options, double *fitted, double *left, gram_spline_report *report,
                           gram_spline_sum *sum);
int64_t gram_plate_powers(int m, int64_t d); /* monomials */
double gram_plate_bytes(int64_t n);

#endif
