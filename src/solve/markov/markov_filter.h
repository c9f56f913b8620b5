/* The Kalman filter and its adjoint over a sorted sequence of places, of which some have an observation. */
#ifndef GRAM_SOLVE_MARKOV_MARKOV_FILTER_H
#define GRAM_SOLVE_MARKOV_MARKOV_FILTER_H

#include "solve/markov/markov_model.h"

/* Places in ascending order. Several columns of data are filtered at once: they share gains and variances. */
typedef struct gram_markov_events {
    int64_t count;
    int columns;
    const double *t;
    const double *noise;   /* variance of the observation there; negative: there is none */
    double *data;          /* count x columns */
    const int64_t *order;  /* the caller's number of each, for messages; NULL: in order */
    const double *weights; /* in the caller's order: the derivative of a row's variance by the noise is 1/w; NULL: 1 */
} gram_markov_events;

typedef struct gram_markov_pass {
    const char *name; /* of the caller */
    const gram_markov_model *model;
    gram_markov_events events;
    gram_markov_stepper stepper;
    int columns_taken; /* events.columns when memory was taken */
    int64_t blocks;
    double *checkpoints; /* blocks x (states^2 + states columns): the filtered state before each block */
    double *records;     /* of one block */
    double *adjoint;
    int64_t adjoint_count;
    double *start;          /* blocks of P at the first place */
    double *products;       /* columns x columns: sum over observations of v v'/S = data' A^-1 data */
    double log_determinant; /* of A */
} gram_markov_pass;

/* Zeroes and takes memory; free also after a failure. */
gram_status gram_markov_pass_make(gram_context *context, const char *name, const gram_markov_model *model, int slopes,
                                  const gram_markov_events *events, gram_markov_pass *pass);
void gram_markov_pass_free(gram_context *context, gram_markov_pass *pass);

gram_status gram_markov_forward(gram_context *context, gram_markov_pass *pass);

/* Other columns between forward and backward: data becomes data * matrix (columns x fewer, row-major). */
gram_status gram_markov_recombine(gram_context *context, gram_markov_pass *pass, int fewer, const double *matrix);

/* What the way back gives; what is NULL is not made. */
typedef struct gram_markov_results {
    double *weights;   /* count x columns: A^-1 data; 0 where nothing was observed */
    double *precision; /* count: diagonal of A^-1 */
    double *mean;      /* count x columns: E f given the data */
    double *variance;  /* count: of f given the data, not negative */
    /* by the parameters of the kernel and last by the noise: sum_ij W_ij dA_ij, W = (sum over columns of a a' - A^-1)/2 */
    double *gradient;
} gram_markov_results;

gram_status gram_markov_backward(gram_context *context, gram_markov_pass *pass, const gram_markov_results *results);

#endif
