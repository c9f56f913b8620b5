/* Explicit features from inside: an expression compiled to nodes, by recursion over it.
 *
 *     series in inner products   k = sum_i c_i (u.v)^i: the features sqrt(c_i i!) prod_l u_l^(a_l)/sqrt(a_l!) for all exponents a of the
 *                                degrees i with c_i > 0. linear, poly and monomial end by themselves, expdot and intpow at the
 *                                degree of the map
 *     rbf                        exp(-|u|^2/2 - |v|^2/2) exp(u.v), u = (x - c)/ell: a series with the factor exp(-u_l^2/2) in each
 *                                coordinate; so is normalize(expdot)
 *     sum, product               side by side; all products
 *     power, exp                 a series in the inner products of the child's features
 *     on, warp, normalize, scale   the child's, of the columns seen, or times a number of x
 *
 * What is cut off is a kernel too. For each x the pair (h, e), h = |z(x)|^2 and e = k(x, x) - h, follows from those of the parts
 * without cancellation; the series of exp leaves exp(t) P(X > N), X Poisson of mean t = |u|^2. */
#ifndef GRAM_FEATURES_EXPLICIT_NODES_H
#define GRAM_FEATURES_EXPLICIT_NODES_H

#include "base/arena.h"
#include "kernel/kernel.h"

typedef struct gram_feature_node {
    const gram_kernel *kernel;
    int64_t d;         /* columns that it sees */
    double dimension;  /* as a double: it may be beyond all bounds */
    int64_t scratch;   /* numbers, with its children's */
    int series;        /* a series in u.v, u being coordinates or the child's features */
    int gaussian;      /* with exp(-u_l^2/2) in each coordinate */
    int64_t variables; /* of the series */
    int64_t degree;    /* its highest */
    double *roots;     /* sqrt(c_i i!), i = 0 .. degree; -1: there is no such term */
    double scale;      /* of coordinates that have one length-scale */
    double *metric; /* of those that have several: d numbers 1/ell, or the d x d inverse of the Cholesky factor of S */
    int full;
    struct gram_feature_node **children;
} gram_feature_node;

/* Compiles the kernel on d columns with series cut off at the degree; *endless: there are such. GRAM_ERROR_UNSUPPORTED names a part that
 * has no explicit features. What it is made of is in the arena, and of the kernel. */
gram_status gram_explicit_compile(gram_context *context, gram_arena *arena, const gram_kernel *kernel, int64_t d,
                                  int64_t degree, gram_feature_node **root, int *endless);

/* The features of x, with rbf about the centre; scratch of node->scratch numbers. */
void gram_explicit_put(const gram_feature_node *node, const double *x, const double *centre, double *out,
                       double *scratch);

typedef struct gram_explicit_parts {
    double kept, left; /* h = |z|^2, and e = k(x, x) less that */
} gram_explicit_parts;

gram_explicit_parts gram_explicit_diagonal(const gram_feature_node *node, const double *x, const double *centre,
                                           double *scratch);

#endif
