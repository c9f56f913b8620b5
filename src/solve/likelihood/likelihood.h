/* Likelihoods of one observation given one latent number f, and what is made of them: modes of posteriors.
 *
 * One table serves kernel logistic regression and Laplace's approximation alike. Softmax, which has one latent number
 * for each class, has files of its own (likelihood_softmax.c). */
#ifndef GRAM_SOLVE_LIKELIHOOD_LIKELIHOOD_H
#define GRAM_SOLVE_LIKELIHOOD_LIKELIHOOD_H

#include <gram/laplace.h>

#include "solve/factored_matrix.h"

/* Which likelihood, with its numbers. */
typedef struct gram_likelihood_rule {
    gram_likelihood kind;
    double nu;    /* Student-t: degrees of freedom */
    double scale; /* Student-t */
    /* instead of the kind's: out as evaluate of gram_likelihood_type has it; NULL: none */
    void (*evaluate)(const void *argument, double y, double f, double out[4]);
    const void *argument;
} gram_likelihood_rule;

/* Arrays of n numbers; NULL for what is not wanted. */
typedef struct gram_likelihood_values {
    double *log_p;
    double *first;     /* d log p/df */
    double *curvature; /* -d2 log p/df2 */
    double *third;     /* d3 log p/df3 */
} gram_likelihood_values;

typedef struct gram_likelihood_type {
    const char *name;
    /* log p and its derivatives of one observation: out[0 .. 3] as in gram_likelihood_values */
    void (*evaluate)(const gram_likelihood_rule *rule, double y, double f, double out[4]);
    /* derivatives by log scale of log_p, first and curvature; NULL: there is no scale */
    void (*by_scale)(const gram_likelihood_rule *rule, double y, double f, double out[3]);
    /* is y possible? The text completes "y[3] = 1.5, need ..." */
    int (*allows)(double y);
    const char *needs;
    /* exp(log_weight) p(y | at + delta)/p(y | at), whose parts may overflow alone; NULL: log p is not concave */
    double (*ratio)(double y, double at, double delta, double log_weight);
    double detail; /* places so far apart show all of p that there is to see */
} gram_likelihood_type;

/* NULL for a kind that has no row: softmax, and anything that is not a kind. */
const gram_likelihood_type *gram_likelihood_find(gram_likelihood kind);

/* For n observations; everything is multiplied by weights[i] unless they are NULL. */
void gram_likelihood_evaluate(const gram_likelihood_rule *rule, int64_t n, const double *y, const double *weights,
                              const double *f, const gram_likelihood_values *out);

/* ---- one observation and a Gaussian: the tilted law, proportional to p(y | f) N(f; mean, variance) ---- */

typedef struct gram_tilted {
    double log_integral;          /* log int p(y | f) N(f; mean, variance) df */
    double mean, variance, third; /* third: the third moment about the mean */
} gram_tilted;

/* For likelihoods whose log p is concave (those with a ratio); relative errors below 1e-4, as a rule 1e-7. Some 20
 * evaluations of p, up to a few hundred where the Gaussian is much wider than what p shows. */
gram_tilted gram_likelihood_tilt(const gram_likelihood_rule *rule, double y, double mean, double variance);

/* ---- the Hessian at a latent f ----
 *
 * V = diag(curvature)/c. Z = (K + V^-1)^-1 = V (I + K V)^-1 is what steps, evidence and variances are made of. With V
 * > 0 everywhere K + V^-1 has a Cholesky factor, whose error does not grow with the spread of V: scaling rows and
 * columns leaves the rounding of Cholesky alone, hence this is I + V^1/2 K V^1/2 in other units. Rows with V < 0
 * (outliers under Student-t) are split, V = V+ - V-, and corrected for afterwards: with Q = (I - Z+ K) restricted to
 * the m columns of those rows, and S = K - K Z+ K on them,
 *
 *     Z = Z+ - Q P Q',   P = V-^1/2 (I - V-^1/2 S V-^1/2)^-1 V-^1/2,
 *
 * where the matrix in brackets is positive definite exactly if K^-1 + V is: if f can be a mode. */
typedef struct gram_curvature {
    int64_t n, m;
    gram_cholesky *factor;  /* of K + V+^-1 */
    double *shift;          /* n: 1/V+ */
    int64_t *negative;      /* n places, m used: rows with V < 0 */
    double *q;              /* n x m */
    double *half;           /* m x m: R with P = R'R, lower triangle */
    double log_determinant; /* log |I + K V| */
    double jitter;
    int64_t room; /* numbers of q and of half */
} gram_curvature;

/* curvature: n numbers, already divided by c. *definite = 0 if K^-1 + V is not positive definite: then the rows with V
 * < 0 were taken as 0, which is still a direction of descent. The matrix need not live longer than this call. */
gram_status gram_curvature_make(gram_context *context, const gram_loss_matrix *k, const double *curvature,
                                gram_curvature *h, int *definite);
void gram_curvature_free(gram_memory *memory, gram_curvature *h);

/* v = Z v, n x columns without gaps, in place. */
gram_status gram_curvature_apply(gram_context *context, const gram_curvature *h, int64_t columns, double *v);

/* out[j] = v_j'Z v_j for the columns of v, which is overwritten. */
gram_status gram_curvature_quadratic(gram_context *context, const gram_curvature *h, int64_t columns, double *v,
                                     double *out);

/* ---- the mode: the least of -sum_i w_i log p(y_i | f_i) + (c/2) a'K a, f = K a + T b ---- */

typedef struct gram_mode {
    const gram_loss_matrix *k;
    const gram_likelihood_rule *rule;
    const double *y, *weights; /* weights may be NULL */
    double c;
    int64_t q;                 /* columns that no penalty acts on, */
    const double *unpenalised; /* n x q */
    int64_t most;              /* Newton steps */
    double tolerance;          /* of optimality */
    int may_end;               /* before the tolerance is met, when there is a limit of time */
    double *a, *b;             /* n and q: where to start, and the result */
    double *f;                 /* n: K a + T b, made here */
    double objective;
    /* the largest |g_i - c a_i|, g_i = w_i d log p/df, and |T'g|, over the largest |g_i| or
     * |f_i dg_i/df| */
    double optimality;
    double gradient; /* the norm of the gradient in the kernel's Hilbert space, and that by b beside it */
    int64_t iterations;
    double jitter;
    int converged;
} gram_mode;

gram_status gram_mode_find(gram_context *context, gram_mode *mode);

#endif
