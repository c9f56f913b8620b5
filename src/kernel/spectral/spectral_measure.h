/* The spectral measure of a stationary kernel: k(x - y) = height E cos(w.(x - y)). */
#ifndef GRAM_KERNEL_SPECTRAL_MEASURE_H
#define GRAM_KERNEL_SPECTRAL_MEASURE_H

#include "kernel/kernel.h"
#include "kernel/spectral/random_cursor.h"

/* GRAM_ERROR_UNSUPPORTED, naming the part, if frequencies of the kernel on d columns cannot be drawn (`name` and what
 * to do `otherwise` are for the message); else its height k(x, x). The kernel fits d and has all its numbers. */
gram_status gram_spectrum_check(gram_context *context, const char *name, const char *otherwise,
                                const gram_kernel *kernel, int64_t d, double *height);

/* k(x, x) of a kernel that passed. */
double gram_spectrum_height(const gram_kernel *kernel, int64_t d);

/* E |w|^2, or a bound of it from above (`warp`, S); infinite where there is none. */
double gram_spectrum_square(const gram_kernel *kernel, int64_t d);

/* A term of a sum, each with the share that it has of the height. */
int gram_spectrum_term(gram_cursor *cursor, const gram_kernel *sum, int64_t d);

/* Numbers of scratch that gram_spectrum_draw needs. */
int64_t gram_spectrum_work(const gram_kernel *kernel);

/* Frequency number `which` of 0 .. count - 1 under the seed: d numbers to w. The first choice between the terms of a sum is
 * spread evenly over the numbers. Directions are made of `normals` or `uniforms`, d of each that belong together (quantiles), and
 * of random numbers if these are NULL or used up. */
void gram_spectrum_draw(const gram_kernel *kernel, uint64_t seed, int64_t stream, int64_t which, int64_t count,
                        int64_t d, const double *normals, const double *uniforms, double *work, double *w);

#endif
