/* Gradient flow from inside: the directions in which a problem is learnt, and how far each has come at a time. */
#ifndef GRAM_METHOD_FLOW_FLOW_H
#define GRAM_METHOD_FLOW_FLOW_H

#include <gram/flow.h>

#include "base/context.h"
#include "points/weighted_problem.h"

/* S K S = V diag(l) V' on n points. */
typedef struct gram_flow_spectrum {
    int64_t n, rank; /* rank: |l| above tolerance */
    int64_t most;    /* the kernel's own rank: eigenvalues from this number on are 0 */
    gram_flow_parameters parameters;
    double *values;   /* l, from the largest down */
    double *vectors;  /* row j is the vector of value j */
    double tolerance; /* what rounding makes of 0 */
} gram_flow_spectrum;

/* How many directions the kernel can have in d dimensions. */
gram_status gram_flow_most(gram_context *context, const gram_kernel *kernel, int64_t d, int64_t *most);
/* From K, n x n, lower triangle, which is destroyed; root: sqrt(w) of the rows, or NULL. On failure too, the free is due. */
gram_status gram_flow_decompose(gram_context *context, const char *name, int64_t n, double *k, const double *root,
                                int64_t most, gram_flow_parameters parameters, gram_flow_spectrum *spectrum);
void gram_flow_spectrum_free(gram_memory *memory, gram_flow_spectrum *spectrum);

/* The rate of direction j, an eigenvalue of the tangent kernel's matrix. */
double gram_flow_rate(const gram_flow_spectrum *spectrum, int64_t j);
/* The share of the initial error of direction j that is gone at a time, and what the error is multiplied by to give coefficients:
 * (1 - exp(-2 t l/n))/l of the function, that of l^2 times l of coefficients. */
double gram_flow_learnt(const gram_flow_spectrum *spectrum, double time, int64_t j);
double gram_flow_gain(const gram_flow_spectrum *spectrum, double time, int64_t j);

/* out = V'c and out = V b, n x columns, without gaps; V'c has row j for vector j. */
gram_status gram_flow_project(gram_context *context, const gram_flow_spectrum *spectrum, int64_t columns,
                              const double *c, double *out);
gram_status gram_flow_combine(gram_context *context, const gram_flow_spectrum *spectrum, int64_t columns,
                              const double *b, double *out);
/* out_i = sum_j v_ji^2 learnt_j, the diagonal of the smoother. */
void gram_flow_smoother(const gram_flow_spectrum *spectrum, const double *learnt, double *out);

/* Values of f_t at the rows of a flow (n x m) become y_i - (y_i - f_t(x_i))/(1 - A_ii), the prediction of row i as if it had been left
 * out; `even`: with the mean of A_ii. (flow.c) */
gram_status gram_flow_correct(gram_context *context, const gram_flow *flow, double time, int even, double *values);

/* A problem that is learnt by a flow: rows, the values and constants of f_0. (flow_problem.c) */
typedef struct gram_flow_problem {
    gram_flow_options options; /* known */
    gram_problem p;
    double *initial;  /* n x m: f_0 at the points */
    double *constant; /* m: the mean if f_0 is that, else 0 */
    double *root;     /* n: sqrt(w); NULL: all 1 */
} gram_flow_problem;

gram_status gram_flow_problem_make(gram_context *context, const char *name, gram_kernel *kernel, const gram_points *x,
                                   int64_t outputs, const double *y, int64_t ldy, const gram_flow_options *options,
                                   gram_flow_problem *problem);
void gram_flow_problem_free(gram_context *context, gram_flow_problem *problem);
gram_status gram_flow_check_times(gram_context *context, const char *name, int64_t count, const double *times,
                                  int finite);

static inline double gram_flow_root(const double *root, int64_t i)
{
    return root ? root[i] : 1;
}

#endif
