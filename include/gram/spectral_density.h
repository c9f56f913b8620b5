/* The spectral measure of a stationary kernel (Bochner's theorem), along a line: for every x and a direction v
 *
 *     k(x, x + t v) = int S(w) cos(w t) dw + sum_a m_a cos(w_a t),
 *
 * S >= 0 a density of angular frequencies w over the whole line, S(-w) = S(w), and atoms w_a >= 0 of mass m_a, of both signs together. All
 * of it adds up to k(x, x). Closed forms are used for rbf, matern, laplace, laplace1, rq, imq, powexp (an integral that does not
 * oscillate) and sinc; cosine, periodic and const have atoms; sums add, atoms shift densities, products of Gaussians are Gaussian. Other
 * products, and wendland, are transformed numerically.
 *
 * Common failures: GRAM_ERROR_ARGUMENT, GRAM_ERROR_DIMENSION, GRAM_ERROR_UNSET, GRAM_ERROR_UNSUPPORTED (the part of the kernel that has no
 * density that is known is named), GRAM_ERROR_NUMERICAL (a product that falls too slowly to be transformed). */
#ifndef GRAM_SPECTRAL_DENSITY_H
#define GRAM_SPECTRAL_DENSITY_H

#include <gram/kernel.h>

GRAM_BEGIN

typedef struct gram_atom {
    double frequency, mass;
} gram_atom;

typedef struct gram_spectral_report {
    size_t size;
    double height;         /* k(x, x) */
    double atom_mass;      /* of all atoms together */
    int64_t atoms;         /* how many there are */
    const gram_atom *atom; /* by frequency */
    int numeric;           /* a part is transformed numerically */
    double
        reach; /* frequencies up to here show the density: it is below 1/1000 of its size near 0 beyond, or far from it */
} gram_spectral_report;

typedef struct gram_spectral_density gram_spectral_density;

/* For a complete kernel on d columns and a direction of d finite numbers, not all 0; NULL: the first column. The caller destroys it
 * (takes NULL). */
GRAM_API gram_status gram_spectral_density_create(gram_context *context, gram_kernel *kernel, int64_t d,
                                                  const double *direction, gram_spectral_density **density);
GRAM_API void gram_spectral_density_destroy(gram_spectral_density *density);

/* Belongs to the density. */
GRAM_API const gram_spectral_report *gram_spectral_density_get_report(const gram_spectral_density *density);

/* out[i] = S(w_i), infinite where it has a pole (rq and imq of small powers at 0). Closed forms have relative errors of rounding, powexp of
 * 1e-9, numerical ones errors of about 1e-12 k(x, x)/reach. */
GRAM_API gram_status gram_spectral_density_values(gram_context *context, const gram_spectral_density *density,
                                                  int64_t n, const double *w, double *out);

GRAM_END

#endif
