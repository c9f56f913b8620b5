/* A part of a spectral measure that has a density. */
#ifndef GRAM_FEATURES_SPECTRAL_PIECE_H
#define GRAM_FEATURES_SPECTRAL_PIECE_H

#include <gram/spectral_density.h>

#include "base/context.h"
#include "kernel/spectral/frequency_forms.h"

typedef struct gram_spectral_piece {
    gram_frequency_form form; /* NULL: numeric */
    double shape, scale, shift, mass;
    const gram_kernel *kernel; /* of numeric ones, with the direction that it sees, */
    int64_t d;
    const double *direction;
    double end; /* and where it is 0 from */
} gram_spectral_piece;

/* Of a numeric one: its mass, k(0, 0), and where it ends. GRAM_ERROR_NUMERICAL: it falls too slowly. */
gram_status gram_spectral_find_end(gram_context *context, gram_spectral_piece *p);

/* Adds its density at n frequencies to out. */
gram_status gram_spectral_transform(gram_context *context, const gram_spectral_piece *p, int64_t n, const double *w,
                                    double *out);

#endif
