/* Is a given matrix that of a kernel? */
#ifndef GRAM_SOLVE_EIGEN_GIVEN_PSD_H
#define GRAM_SOLVE_EIGEN_GIVEN_PSD_H

#include <gram/points.h>

/* GRAM_ERROR_NUMERICAL, with a certificate, if a column of the points holds rows of a matrix that is not positive semi-definite: two rows whose entry is larger than those of the
 * diagonal allow, or an eigenvalue that is more negative than rounding of f32 numbers makes it, -(1e-6 + 1e-7 sqrt(n)) times the largest of the diagonal. Of more than 3,000 rows
 * 3,000, drawn by the seed, are looked at, as their matrix must be so too. One Cholesky factor: n^3/3 operations; an eigenvalue only if there is none. */
gram_status gram_given_check_psd(gram_context *context, const gram_points *points);

#endif
