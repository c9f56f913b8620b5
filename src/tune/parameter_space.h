/* The free numbers of a kernel and the noise as variables of a search. */
#ifndef GRAM_TUNE_PARAMETER_SPACE_H
#define GRAM_TUNE_PARAMETER_SPACE_H

#include <gram/kernel.h>

#include "points/points.h"

/* A point is what the kernel and the ridge are made from: all `parameters` values of the kernel, then the noise. The
 * search moves `count` of them, on the log scale where that is the parameter's own. */
typedef struct gram_space {
    const gram_kernel *kernel; /* borrowed; every number of it has a value */
    int64_t parameters, count;
    double *numbers; /* the arrays below are in it */
    int64_t *index;  /* which number of the point a variable is */
    double *lower, *upper;
    double *extent;           /* of the data, for numbers of the point that are lengths; else NaN */
    unsigned char *is_log;    /* of a variable */
    unsigned char *is_length; /* of a number of the point: a length-scale, or of the factor of S */
    int apart; /* there is a length of what are no columns of the points (gram_view): of rows of bags, or of a distance that a kernel makes */
    unsigned char
        *is_amplitude; /* of a number of the point: in units of the target squared; set by whom it matters to */
} gram_space;

typedef struct gram_noise_range {
    double lower, upper;
    int fixed;
} gram_noise_range;

gram_status gram_space_create(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                              gram_noise_range noise, gram_space *space);
void gram_space_free(gram_context *context, gram_space *space);

/* The kernel's own values; point[parameters], the noise, is left alone. */
gram_status gram_space_origin(gram_context *context, const gram_space *space, double *point);
/* The kernel at a point. */
gram_status gram_space_kernel(gram_context *context, const gram_space *space, const double *point, gram_kernel **out);

/* Between points and variables; `to_point` changes the numbers that are variables. */
void gram_space_to_variables(const gram_space *space, const double *point, double *variables);
void gram_space_to_point(const gram_space *space, const double *variables, double *point);

/* Is a variable at an end of its range? */
int gram_space_at_bound(const gram_space *space, const double *point);

#endif
