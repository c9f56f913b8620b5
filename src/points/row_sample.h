/* The rows that something is tuned on. */
#ifndef GRAM_POINTS_ROW_SAMPLE_H
#define GRAM_POINTS_ROW_SAMPLE_H

#include "points/points.h"

/* What the caller gave: n points, targets and weights (NULL: all 1). */
typedef struct gram_given {
    const gram_points *x;
    int64_t outputs;
    const double *y;
    int64_t ldy;
    const double *weights;
} gram_given;

/* Some of its rows, always in f64. */
typedef struct gram_sample {
    const gram_points *points;
    int64_t n, outputs;
    double *y;       /* n x outputs */
    double *weights; /* all above 0 */
    double total;    /* their sum */
    gram_points *own;
    double *data; /* of `own`; NULL: the points are the caller's */
} gram_sample;

/* Fails for a NULL, a NaN and the like with `function` in front of the message. */
gram_status gram_given_check(gram_context *context, const char *function, const gram_given *given);

/* Rows with a weight above 0, in order: *rows (n numbers taken, the first *count of them used). */
gram_status gram_given_rows(gram_context *context, const gram_given *given, int64_t **rows, int64_t *count);

/* The given rows; those of all rows of f64 points borrow the points. */
gram_status gram_sample_make(gram_context *context, const gram_given *given, int64_t count, const int64_t *rows,
                             gram_sample *sample);
/* The same inner products and distances up to rounding, in n columns: for samples with fewer rows than columns
 * (narrow_points.c). O(n^2 d), memory for n d + n^2 numbers. */
gram_status gram_sample_narrow(gram_context *context, gram_sample *sample);
void gram_sample_free(gram_context *context, gram_sample *sample);

#endif
