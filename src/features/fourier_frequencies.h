/* The frequencies of random Fourier features, and how many of them a wanted error takes. */
#ifndef GRAM_FEATURES_FOURIER_FREQUENCIES_H
#define GRAM_FEATURES_FOURIER_FREQUENCIES_H

#include <gram/features.h>

#include "base/context.h"

/* `count` frequencies of a kernel that gram_spectrum_check let pass, d numbers each. O(count d), orthogonal ones O(count d^2). */
gram_status gram_fourier_frequencies(gram_context *context, const gram_kernel *kernel, int64_t d,
                                     gram_frequencies which, int64_t count, double *w);

#endif
