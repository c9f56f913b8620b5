/* What mean(a) of an engine needs: the rows of its bags, as pairs or as features.
 *
 * Pairs. An engine of its own makes strips of a between the rows of the bags, one after the other. A strip of bags, 16 against 96, is made of all strips of rows that
 * meet them: columns of a strip of rows are added over the rows of each bag, 96 sums side by side, and when all rows are done these are added over the rows of each
 * column's bag; rows with weights are multiplied by them, others by 1 and the sums divided by their numbers. So a sum runs over the rows of the one, and for each over those of the other, in their order, wherever the bags lie: an entry depends on its two bags only.
 * n_a n_b evaluations of a for each pair of bags.
 *
 * Features (`fourier`). The mean of D random Fourier features over a bag, cos(w.x) and sin(w.x) with frequencies of a's spectral measure, is 2 D numbers, made once
 * for each bag: O(D d) for each row, and then O(D) for a pair of bags. The same frequencies always: a kernel is what its text says. */
#ifndef GRAM_TILE_EMBEDDING_BAG_PART_H
#define GRAM_TILE_EMBEDDING_BAG_PART_H

#include "points/bags.h"
#include "tile/engine.h"

typedef struct gram_bag_part {
    gram_memory *memory;
    gram_engine *rows;             /* between the rows; NULL: by features */
    int64_t n, m;                  /* bags */
    int64_t *x_start, *y_start;    /* n + 1 and m + 1; the same if the engine is symmetric */
    double *x_weights, *y_weights; /* of the rows, of sum 1 in each bag; NULL: all alike; the same if it is symmetric */
    gram_points *x, *y;            /* features of the bags; y is NULL if the engine is symmetric */
} gram_bag_part;

/* For the bags that the request's points have in a column, and the kernel of their rows. `frequencies` 0: pairs. */
gram_status gram_bag_part_create(gram_context *context, const gram_engine_request *request, int64_t column,
                                 const gram_kernel *kernel, int frequencies, gram_bag_part **part);
void gram_bag_part_destroy(gram_bag_part *part);

/* n x 2 frequencies means of features of the rows, one row for each bag. */
gram_status gram_bag_features(gram_context *context, const gram_kernel *kernel, int frequencies,
                              const gram_bag_rows *bags, int64_t n, gram_points **features);

/* Scratch of gram_bag_strip, and the strip: pairs only. */
size_t gram_bag_scratch(const gram_bag_part *part);
void gram_bag_strip(const gram_bag_part *part, const gram_strip *strip, void *scratch, double *out);

/* The diagonal of a symmetric part: each bag with itself. out has n numbers; pairs only. */
gram_status gram_bag_diagonal(gram_context *context, const gram_bag_part *part, double *out);

/* The leaf that the inner product of features is. */
extern const gram_kernel_type gram_bag_product;

#endif
