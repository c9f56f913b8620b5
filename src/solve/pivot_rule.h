/* How the pivots of a partial Cholesky factor are chosen (solve/pivoted_cholesky.h).
 *
 * A rule proposes rows, is shown what the factor leaves of K between them, and takes some of them, in an order of its own. Where
 * it proposes one row at a time, that is textbook pivoting; many at once turn the work on K and F into matrix products. A new way
 * to choose is one gram_pivot_rule. */
#ifndef GRAM_SOLVE_PIVOT_RULE_H
#define GRAM_SOLVE_PIVOT_RULE_H

#include <gram/random.h>

enum { GRAM_PIVOT_MOST = 256 }; /* rows proposed together */

typedef struct gram_pivot_search {
    int64_t n;
    const double *left; /* n: the diagonal of K - F F' */
    double floor;       /* what is not above it is rounding error: such rows are no pivots */
    int block;          /* rows that may be proposed together, 1 to GRAM_PIVOT_MOST */
    int most;           /* that may be taken of them */
    int candidates;     /* rows proposed */
    int count;          /* of them taken */
    int64_t *candidate; /* block: the rows, each once; those taken come first */
    double *h;          /* block x block: K - F F' between the candidates, changed by what was taken */
    uint64_t seed;      /* of rules that draw, */
    uint64_t drawn;     /*              and how many numbers they drew */
    double *work;       /* n numbers, the rule's own */
    int64_t
        proposed[GRAM_PIVOT_MOST]; /* the rule's own: rows in the order in which they were drawn, some of them again */
} gram_pivot_search;

typedef struct gram_pivot_rule {
    /* Sets candidate and candidates; 0 of them end the factorisation. */
    void (*propose)(gram_pivot_search *search);
    /* Calls gram_pivot_take for at most `most` of them; if for none, the factorisation ends. */
    void (*accept)(gram_pivot_search *search);
} gram_pivot_rule;

/* Each pivot has the largest variance that is left; of those proposed together, at least half of the largest. */
extern const gram_pivot_rule gram_pivot_largest;
/* Each pivot is drawn with the probability of its variance that is left, also within a block: the law does not depend on the block. */
extern const gram_pivot_rule gram_pivot_drawn;

/* Candidate number `at` (count or above) becomes the next pivot. It changes places with candidate number `count`; the
 * first `count` rows and columns of h are the Cholesky factor of what was taken, the others what it leaves. */
void gram_pivot_take(gram_pivot_search *search, int at);

#endif
