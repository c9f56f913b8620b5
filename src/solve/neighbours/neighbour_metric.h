/* In which metric are rows near each other, as far as a kernel is concerned? */
#ifndef GRAM_SOLVE_NEIGHBOURS_NEIGHBOUR_METRIC_H
#define GRAM_SOLVE_NEIGHBOURS_NEIGHBOUR_METRIC_H

#include "kernel/kernel.h"
#include "points/points.h"

/* rates[l], d of them, the largest 1: how fast the kernel changes along column l, relative to the others. 1/ell of kernels with
 * length-scales; a product changes with all its factors (squares add up), a sum as its fastest term; a kernel without length-scales by the
 * column's deviation. 0: the kernel does not see it. */
gram_status gram_neighbour_rates(gram_context *context, const gram_kernel *kernel, const gram_points *x, double *rates);

/* places[i * d + l] = rates[l] x_il. */
void gram_neighbour_places(const gram_points *x, const double *rates, double *places);

#endif
