/* Functionals as points: rows that are not where a function is looked at but how.
 *
 * The representer theorem holds for every continuous linear functional u, not only for values f(x): whatever is learnt from
 * u_1 f, ..., u_n f is a sum of their representers, and the Gram matrix has the entries u_i u_j k, the first acting on the
 * first argument of the kernel and the second on the second. Points made here are such functionals. Everything that takes
 * points and says so takes them: the functions of <gram/matrix.h> (but derivatives by the inputs), operators, functions,
 * gram_krr_fit, gram_gp_fit and gram_loss_fit, for rows to learn from and for rows to predict at alike.
 *
 * A row is a sum of terms, each of them one of
 *
 *   GRAM_FUNCTIONAL_VALUE       f(at)
 *   GRAM_FUNCTIONAL_SLOPE       first . grad f(at)                             first: a direction, d numbers
 *   GRAM_FUNCTIONAL_CURVATURE   sum_lm first_l second_m d2f/dx_l dx_m (at)     two directions
 *   GRAM_FUNCTIONAL_LAPLACIAN   sum_l d2f/dx_l^2 (at)
 *   GRAM_FUNCTIONAL_OPERATOR    second : D2f + first . grad f + constant f     second: d x d, row-major; NULL for none
 *   GRAM_FUNCTIONAL_INTEGRAL    of f over the box from `at` to `first`         a side of length 0 is not integrated over
 *   GRAM_FUNCTIONAL_MEAN        the same over the volume of the box
 *                               of both, `second` may hold deviations, d numbers: where a side is 0, the mean over a normal
 *                               distribution about it
 *   GRAM_FUNCTIONAL_NORMAL      E f(X), X normal with mean `at` and independent columns of deviation `first`
 *
 * times its coefficient. Derivatives of order q ask for a kernel whose functions have q of them in the sense of
 * gram_properties.derivatives (matern: q < nu); a part of the kernel that has fewer is named, GRAM_ERROR_UNSUPPORTED, where
 * K is made. Integrals are closed forms for sums of rbf (one length-scale or one per column) and for products of them over
 * different columns, and rules of Gauss and Legendre on pieces of the length-scale otherwise: to rounding for smooth
 * kernels, to about the square of a node's distance where k has a kink. */
#ifndef GRAM_FUNCTIONAL_H
#define GRAM_FUNCTIONAL_H

#include <gram/points.h>

GRAM_BEGIN

typedef enum gram_functional_kind {
    GRAM_FUNCTIONAL_VALUE = 0,
    GRAM_FUNCTIONAL_SLOPE = 1,
    GRAM_FUNCTIONAL_CURVATURE = 2,
    GRAM_FUNCTIONAL_LAPLACIAN = 3,
    GRAM_FUNCTIONAL_OPERATOR = 4,
    GRAM_FUNCTIONAL_INTEGRAL = 5,
    GRAM_FUNCTIONAL_MEAN = 6,
    GRAM_FUNCTIONAL_NORMAL = 7
} gram_functional_kind;

typedef struct gram_functional_term {
    int64_t row; /* of which it is a term: 0 first, and never less than that of the term before */
    gram_functional_kind kind;
    double coefficient;
    double constant;     /* operator */
    const double *at;    /* d numbers */
    const double *first; /* as above, NULL where there is none */
    const double *second;
} gram_functional_term;

/* Makes n functionals of functions of d columns from their terms, which are copied: nothing is borrowed. Each row has at
 * least one. GRAM_ERROR_DATA for a number that is not finite, GRAM_ERROR_ARGUMENT for a row without terms, a kind that is
 * not one of these and arrays that a kind needs and a term does not have. O(count d^2). The caller releases the points. */
GRAM_API gram_status gram_points_create_functionals(gram_context *context, int64_t n, int64_t d, int64_t count,
                                                    const gram_functional_term *terms, gram_points **points);

/* 1 if the rows are functionals, 0 if they are points; one that is only made of values is a functional too. */
GRAM_API int gram_points_are_functionals(const gram_points *points);

/* 1 if row i is the value at one place, as every row of points is. */
GRAM_API int gram_points_are_value(const gram_points *points, int64_t i);

/* The functional of row i applied to the function 1: 1 for a value, 0 for a derivative, the volume for an integral. */
GRAM_API double gram_points_of_one(const gram_points *points, int64_t i);

/* And to the function x_l: the coordinate for a value, a direction's for a slope. */
GRAM_API double gram_points_of_column(const gram_points *points, int64_t i, int64_t l);

GRAM_END

#endif
