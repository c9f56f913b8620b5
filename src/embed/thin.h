/* What the files of thinning share: the matrix and the target that a choice is measured against. */
#ifndef GRAM_EMBED_THIN_H
#define GRAM_EMBED_THIN_H

#include <gram/thin.h>

#include "embed/stein.h"

/* discrepancy^2 of weights w on a choice = sum_ab w_a w_b K_ab - 2 sum_a w_a mean_a + total */
typedef struct gram_target {
    gram_rows rows;
    double *diagonal; /* K_ii */
    double *means;    /* mean over the sample, or the law, of k(x_i, .); all 0 with scores */
    double total;     /* the mean of the means: the square of the target's norm */
    gram_stein *stein;
    gram_engine *engine;
} gram_target;

/* The target must be zeroed; `function` begins the messages. With scores their density, with a law that law, else the sample. */
gram_status gram_target_make(gram_context *context, const char *function, const gram_kernel *kernel,
                             const gram_points *points, const double *scores, int64_t lds, const gram_law *law,
                             gram_target *target);
void gram_target_free(gram_context *context, gram_target *target);

/* The square root of what is not below 0 but by rounding. */
double gram_target_root(double square);

/* 1 <= m <= n, and indices (if not NULL) among the points. */
gram_status gram_target_check(gram_context *context, const char *function, const gram_points *points, int64_t m,
                              const int64_t *index);

/* What a known density adds to scores (thin_anchor.c): the value of i gains extra_i/2 + weight (sum over the choice of k(i, j) - t mean_i),
 * k an rbf and mean its mean over the sample. */
typedef struct gram_anchor {
    gram_kernel *kernel;
    double *data; /* scaled points */
    gram_points *points;
    gram_engine *engine;
    gram_rows rows;
    double *means, *extra;
    double total; /* the mean of the means over the sample */
    double weight;
} gram_anchor;

/* The anchor must be zeroed; the target is that of the scores, and stays. */
gram_status gram_anchor_make(gram_context *context, const gram_target *target, const gram_points *points,
                             const double *scores, int64_t lds, const double *log_density, const double *laplacian,
                             gram_anchor *anchor);
void gram_anchor_free(gram_context *context, gram_anchor *anchor);

/* m evenly spaced rows of n, the last one among them. */
void gram_thin_evenly(int64_t n, int64_t m, int64_t *index);

/* A running sum over all points: sums[i] += c K(j, i). `next`, unless NULL, is asked for what is least now. Entries of sums
 * are padded to whole panels. */
typedef struct gram_greedy {
    const gram_target *target;
    double *sums;              /* sum over the choice of K(i, j) */
    double own;                /* value of i: own K_ii + sums_i - weight mean_i */
    double weight;             /*            infinite for those that are taken */
    const char *taken;         /* or NULL */
    const gram_anchor *anchor; /* or NULL; set before the first step, with room in anchor_sums */
    double *anchor_sums;       /* the same sums of the anchor's kernel */
    double *best;              /* for each task: the least value, */
    int64_t *where;            /* and the first point that has it */
} gram_greedy;

gram_status gram_greedy_begin(gram_context *context, const gram_target *target, gram_greedy *greedy);
void gram_greedy_end(gram_context *context, gram_greedy *greedy);

/* Adds c K(j, .) to the sums (nothing if c is 0) and finds the point with the least value. */
gram_status gram_greedy_step(gram_context *context, gram_greedy *greedy, int64_t j, double c, double share_before,
                             double share_after, int64_t *least);

/* The discrepancy of a choice of m points with equal weights. */
gram_status gram_target_measure(gram_context *context, const gram_target *target, int64_t m, const int64_t *index,
                                double *discrepancy);

/* thin_split.c */
gram_status gram_thin_split(gram_context *context, const gram_target *target, int64_t m, int64_t *index);

#endif
