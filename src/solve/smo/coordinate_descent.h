/* Linear support vector machines by dual coordinate descent (Hsieh, Chang, Lin, Keerthi and Sundararajan 2008):
 *
 *     minimise |w|^2/2 + sum_i C_i max(0, 1 - s_i (w.z_i + b)),      b = bias w_0, which is penalised as w is.
 *
 * The bias is a feature of its own with one value for all rows; where the sum of losses is large beside (b/bias)^2/2 that penalty is not
 * noticed. A step changes one dual variable and w with it: O(p). Rows whose variables seem to stay at a bound are left out until the others
 * are done. */
#ifndef GRAM_SOLVE_SMO_COORDINATE_DESCENT_H
#define GRAM_SOLVE_SMO_COORDINATE_DESCENT_H

#include "base/sparse/csr.h"
#include "base/sweep.h"

typedef struct gram_linear_machine {
    int64_t n, p, ld;
    const double *z;     /* rows of features, */
    const gram_csr *csr; /* or sparse ones, if z is NULL */
    const int64_t *rows; /* n of them */
    const double *sign;  /* n: -1 or 1 */
    const double *upper; /* n: C_i >= 0 */
    double bias;         /* 0: none */
    double tolerance;    /* of the duality gap, relative to the primal objective */
    int64_t epochs;      /* at most */
    uint64_t seed;
    double *w;                     /* p: the result */
    double *work;                  /* 3 n numbers */
    int64_t *order;                /* n */
    double constant;               /* b */
    double objective, gap;         /* primal, and above the dual */
    int64_t iterations, n_support; /* epochs; rows with a dual variable above 0 */
    int converged;
} gram_linear_machine;

/* Within a task of a sweep. */
void gram_linear_machine_solve(gram_linear_machine *machine, const gram_worker *worker);

#endif
