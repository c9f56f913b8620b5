/* The mean's parameters from products with A^-1, however those were made. */
#ifndef GRAM_METHOD_GP_GP_MEAN_H
#define GRAM_METHOD_GP_GP_MEAN_H

#include <math.h>

#include "method/gp/gp_system.h"

/* Numbers of the options, n, d and q of a system that has no factor; everything is checked (`name` for messages). */
gram_status gram_gp_system_begin(gram_context *context, const char *name, const gram_kernel *kernel,
                                 const gram_points *x, const double *y, const gram_gp_options *options,
                                 gram_gp_system *system);

/* The same from parts, which have been checked; n is that of the parts. */
void gram_gp_system_restore(const gram_gp_parts *parts, gram_gp_system *system);

/* From G = [T, y]'A^-1 [T, y] ((q + 1) x (q + 1), lower triangle): small, rank, log_small, beta and quadratic. A column of T
 * whose pivot is below `dependent` of its own size depends on others: its coefficient is 0, and its diagonal entry of `small`
 * so large that gram_gp_small_solve makes 0 of anything. */
void gram_gp_system_combine(gram_gp_system *system, const double *g, double dependent);

/* The deviation of the constant if it is all that the mean has, else NaN. `small` is the factor of T'A^-1 T. */
static inline double gram_gp_constant_deviation(const gram_gp_options *options, int64_t q, const double *small)
{
    return q == 1 && options->mean == GRAM_MEAN_CONSTANT ? 1 / small[0] : NAN;
}

/* Rows of the mean's columns at points first .. first + count - 1: count x q. `point` has room for d numbers. */
void gram_gp_system_rows(const gram_gp_system *system, const gram_points *points, int64_t first, int64_t count,
                         const double *basis, int64_t ldb, double *point, double *out);

/* Are these points to predict at, with the columns that the fit had? */
gram_status gram_gp_system_check_points(gram_context *context, const char *name, const gram_gp_system *system,
                                        const gram_points *points, const double *basis, int64_t ldb);

/* Rows [first, first + count) of the points, as points of their own, which the caller releases. */
gram_status gram_gp_points_part(gram_context *context, const gram_points *x, int64_t first, int64_t count,
                                gram_points **out);

#endif
