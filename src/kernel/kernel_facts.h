/* What is known of a part of an expression, and how nodes with one operand change it. kernel_facts.c says what the rules are. */
#ifndef GRAM_KERNEL_KERNEL_FACTS_H
#define GRAM_KERNEL_KERNEL_FACTS_H

#include "kernel/kernel.h"

typedef enum gram_known_kind { GRAM_KNOWN_ORDINARY, GRAM_KNOWN_ZERO, GRAM_KNOWN_CONSTANT } gram_known_kind;

/* Facts are those on the columns that the part sees. */
typedef struct gram_known {
    gram_properties facts;
    gram_answer injective; /* is the feature map: k(x,.) = k(y,.) only for x = y? */
    gram_known_kind kind;
    int pinned;     /* one column; but for one point, where k(x,x) = 0, strictly positive definite and universal */
    double origin;  /* k(x,x) = 0 where all columns are this; NaN: no such number is known */
    int opaque;     /* ORDINARY, but may be constant all the same */
    int observes;   /* tells observations apart by more than their coordinates: white, precomputed */
    uint64_t *seen; /* the set of columns */
    int64_t seen_count;
} gram_known;

/* What finite rank, a zero on the diagonal and equal features rule out, and what makes features differ. */
void gram_known_settle(gram_known *part);

/* The kernels 0 and a positive constant; the columns are left alone. */
void gram_known_zero(gram_known *part);
void gram_known_constant(gram_known *part);

/* The operand's -> the node's. */
void gram_known_exp(gram_known *part);
void gram_known_normalize(gram_known *part);
void gram_known_centre(gram_known *part);
/* (embedding/embedding_facts.c) The rows' -> the bags'; the first operand's -> that of after(a, outer). */
void gram_known_mean(gram_known *part, int frequencies);
void gram_known_after(gram_known *part, const gram_kernel *outer);
/* f sees `more` columns that the operand does not. */
void gram_known_scale(gram_known *part, int more);

/* Those rows of a warp's matrix that its operand sees. */
typedef struct gram_warp_nature {
    int64_t rows;
    int64_t columns; /* that are not all 0 */
    int64_t rank;
    int whole;      /* the operand sees all rows */
    int everything; /* the columns are all that the points have */
    int similarity; /* A'A is a multiple of the identity, on those columns */
} gram_warp_nature;

/* `seen` is the set of rows that the operand sees, 64 to a word; `everything` is left open. O(rows columns min(rows,
 * columns)). */
gram_status gram_warp_look(gram_context *context, const gram_kernel *warp, const uint64_t *seen,
                           gram_warp_nature *nature);

void gram_known_warp(gram_known *part, const gram_warp_nature *nature);

#endif
