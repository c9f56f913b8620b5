/* Between the files of coupled embeddings. */
#ifndef GRAM_METHOD_COUPLE_COUPLE_H
#define GRAM_METHOD_COUPLE_COUPLE_H

#include <gram/couple.h>

#include "base/context.h"
#include "method/kernel_features.h"

struct gram_couple {
    gram_memory *memory;
    gram_function *functions[2];
    gram_couple_report report;
    double *values;
};

/* ---- affinities (couple_affinity.c) ---- */

/* W, symmetric, with 1 on the diagonal: by classes, or by lists of the other rows that a row belongs to. */
typedef struct gram_affinity {
    int64_t n, classes;
    const int64_t *labels;      /* NULL: lists */
    int64_t *first, *neighbour; /* those of row i: neighbour[first[i]] .. neighbour[first[i + 1] - 1], ascending */
} gram_affinity;

gram_status gram_affinity_make(gram_context *context, gram_kernel *kernel, const gram_points *points,
                               const gram_couple_options *options, gram_affinity *affinity);
/* Takes zeroed ones. */
void gram_affinity_free(gram_context *context, gram_affinity *affinity);
/* Is W = I? */
int gram_affinity_is_pairs(const gram_affinity *affinity);

/* Some of the rows, as the affinities see them: place[row] is the row's number among them, -1: it is not. NULL: all rows. */
typedef struct gram_affinity_rows {
    int64_t n;
    const int64_t *row, *place;
} gram_affinity_rows;

/* degree[i] = sum_j W_ij over these rows; and out = W F for features of them, without gaps. */
gram_status gram_affinity_degrees(gram_context *context, const gram_affinity *affinity, const gram_affinity_rows *rows,
                                  double *degree);
gram_status gram_affinity_apply(gram_context *context, const gram_affinity *affinity, const gram_affinity_rows *rows,
                                gram_tall f, double *out);

/* ---- one problem (couple_solve.c) ---- */

/* In features: A w = mu (B + gamma I) w with A = diag(F'F, G'G) and B = [F'D F, -F'W G; -G'W F, G'D G]. */
typedef struct gram_couple_problem {
    int64_t n, rank[2], size; /* size: both ranks */
    double *own[2];           /* rank x rank */
    double *b;                /* size x size */
    double *sums;             /* size: of the features' columns */
    double trace;             /* of B */
} gram_couple_problem;

gram_status gram_couple_problem_make(gram_context *context, const gram_affinity *affinity,
                                     const gram_affinity_rows *rows, gram_tall fa, gram_tall fb,
                                     gram_couple_problem *problem);
/* Takes zeroed ones. */
void gram_couple_problem_free(gram_context *context, gram_couple_problem *problem);
/* The first `count` values mu and weights, size x count, with w'A w = 1; *found of them, without those whose coordinates do not
 * vary. */
gram_status gram_couple_problem_solve(gram_context *context, const gram_couple_problem *problem, double gamma,
                                      int64_t count, double *values, double *weights, int64_t *found);

/* ---- the fit ---- */

typedef struct gram_couple_work {
    gram_context *context;
    gram_couple_options options;
    gram_kernel_features views[2];
    gram_affinity affinity;
    gram_couple *couple;
} gram_couple_work;

/* Sets gamma, unless it is given, and the accuracy of the report (couple_folds.c). */
gram_status gram_couple_validate(gram_couple_work *work);

#endif
