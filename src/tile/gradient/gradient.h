/* Between the two files of the gradients: one strip backwards (gradient_strip.c), all of them (gradient.c). */
#ifndef GRAM_TILE_GRADIENT_GRADIENT_H
#define GRAM_TILE_GRADIENT_GRADIENT_H

#include "tile/engine.h"

typedef struct gram_gradient {
    const gram_engine *engine;
    const gram_weights *weights;
    int inputs;     /* by the inputs, else by the parameters */
    int depth;      /* of the program */
    int64_t widest; /* largest number of columns of a metric, and of one with a covariance */
    int64_t widest_covariance;
    int64_t widest_coords; /* of a form of coordinates, by the inputs only */
    double *out;           /* inputs: n x d, ld; parameters: one row for each task */
    int64_t ld;
    size_t engine_scratch;       /* the tape lies after it */
    const double *diagonal;      /* instead of weights: of the pairs of a point with itself */
    double *row_sums;            /* for each node with terms: what its rows' numbers are worth, n padded */
    double *column_sums;         /* the same of its columns, for each task; parameters only */
    int64_t column_tasks;        /* how many rows that has: 1 if no two tasks have a column in common */
    const gram_context *sharing; /* unless NULL: each of its ranks sums over its tiles only */
} gram_gradient;

/* What a thread keeps for one strip. */
typedef struct gram_tape {
    gram_strip *strip;
    double *values;      /* one strip for each node */
    double *forms;       /* one strip for each form */
    double *adjoints;    /* one strip for each level */
    double *slope;       /* M, and */
    double *weighted;    /* M u_a */
    double *moments;     /* GRAM_STRIP x widest */
    double *sums;        /* widest_covariance^2 */
    double *factors;     /* widest_coords x GRAM_PANEL: factors of a row, and */
    double *slopes;      /* derivatives by all its coordinates */
    double *parameter;   /* this task's sums over the parameters */
    double *rows;        /* GRAM_STRIP x d: this strip's derivatives by the inputs */
    double *column_sums; /* this task's */
} gram_tape;

/* out[i * ld + l] += sum_j W_ij dk(x, y_j)/dx_l at x_i; how says the weights, or a diagonal instead, and no more. */
gram_status gram_gradient_add_inputs(gram_context *context, const gram_engine_request *request,
                                     const gram_gradient *how, double *out, int64_t ld);

/* What the engine of g asks of a tape: depth, widths and scratch. */
void gram_gradient_measure(gram_gradient *g);
/* Zeroed row_sums and column_sums, for so many tasks; and back. */
gram_status gram_gradient_take_sums(gram_context *context, int64_t column_tasks, gram_gradient *g);
void gram_gradient_give_sums(gram_context *context, gram_gradient *g);
/* After the last strip: out += what comes through the numbers of the points, by the parameters of the request's kernel. */
gram_status gram_gradient_add_terms(gram_context *context, const gram_gradient *g, const gram_engine_request *request,
                                    double *out);

/* Lays a thread's tape out after the engine's scratch at `base` and returns the size of both. */
size_t gram_tape_layout(const gram_gradient *g, char *base, gram_tape *t);

/* Adds what the strip (i, row; j) contributes to the tape's sums; `both` adds the weights of the mirrored pairs. */
void gram_gradient_strip(const gram_gradient *g, gram_tape *t, int64_t i, int row, int64_t j, int both);

/* Numbers of column_sums for one task. */
static inline int64_t gram_gradient_column_sums(const gram_engine *engine)
{
    return engine->term_count * gram_engine_column_panels(engine) * GRAM_PANEL;
}

/* The weights of a strip, and with `both` those of the mirrored pairs; 0 beyond the last row and column. */
void gram_gradient_weights(const gram_gradient *g, const gram_strip *strip, int both, double *out);

/* (functional_gradient.c) Has the kernel parts whose derivatives by parameters are differences: mean, after? */
int gram_gradient_by_differences(const gram_kernel *kernel);
/* gram_matrix_parameter_gradient where rows or columns are functionals, and for such kernels. */
gram_status gram_gradient_functionals(gram_context *context, const gram_engine_request *request,
                                      const gram_weights *weights, double *out);

#endif
