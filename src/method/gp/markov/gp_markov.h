/* A fit on the line from inside: the settled system, and what is kept of the way back. */
#ifndef GRAM_METHOD_GP_MARKOV_GP_MARKOV_H
#define GRAM_METHOD_GP_MARKOV_GP_MARKOV_H

#include <gram/markov.h>

#include "method/gp/markov/markov_system.h"

struct gram_markov {
    gram_memory *memory;
    gram_markov_system system; /* data: [y - T beta, T small^-T] */
    gram_markov_report report;
    double *coefficients; /* the mean's, by the caller's columns */
    double *fitted, *loo_mean, *loo_variance;
};

/* Data and new points in one ascending sequence. */
typedef struct gram_markov_merge {
    int64_t n, m, count; /* count = n + m */
    int64_t *order;      /* m: the caller's row of each new point, ascending */
    double *sorted;      /* m */
    int64_t *place;      /* n + m: where the sorted data, then the sorted new points, are in the sequence */
    double *t, *noise;   /* count; the noise of a new point is -1 */
} gram_markov_merge;

/* fit NULL: new points alone. Zeroes first; free also after a failure. */
gram_status gram_markov_merge_make(gram_context *context, const gram_markov *fit, const gram_points *points,
                                   gram_markov_merge *merge);
void gram_markov_merge_free(gram_context *context, gram_markov_merge *merge);

/* Arguments of a prediction. */
gram_status gram_markov_check_new(gram_context *context, const char *name, const gram_markov *fit,
                                  const gram_points *points, const double *basis, int64_t ldb);

#endif
