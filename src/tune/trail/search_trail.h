/* Where searches ended, for searches that are like them.
 *
 * An estimate of the error on new rows chooses all numbers anew for each fold. Nine tenths of the rows have nearly the optimum of all of
 * them: a descent from there, with what is known of the Hessian, takes some ten evaluations where a search from nothing takes two hundred.
 * It ends at a minimum of the fold's own criterion, which the rows left out have no part in. What they may have a part in is which of
 * several minima that is; so with one length-scale per column each fold also descends from where its own search with one for all
 * ended, and keeps the lower of both (docs/estimate.md has what was measured).
 *
 * In the same way kernels of another family are searched from where the first one ended (choice/kernel_choice.h). */
#ifndef GRAM_TUNE_TRAIL_SEARCH_TRAIL_H
#define GRAM_TUNE_TRAIL_SEARCH_TRAIL_H

#include "base/arena.h"

/* A criterion is searched with one length-scale for all columns, then with one for each; ridge regression does so by two criteria. */
enum { GRAM_TRAIL_ONE, GRAM_TRAIL_SEVERAL, GRAM_TRAIL_ENDS };
enum { GRAM_TRAIL_MAIN, GRAM_TRAIL_GUIDE, GRAM_TRAIL_SEARCHES };

typedef struct gram_search_end {
    int64_t numbers, variables;
    double *point;   /* the kernel's numbers and the noise; NULL: there was no such search */
    double *inverse; /* of the Hessian by the variables, as far as it was known; NULL: not at all */
} gram_search_end;

typedef struct gram_search_trail {
    gram_arena *arena; /* borrowed, for the ends */
    int coarse;        /* those that follow are for an error with a standard error, and may end early */
    gram_search_end ends[GRAM_TRAIL_SEARCHES][GRAM_TRAIL_ENDS];
} gram_search_trail;

/* What a search has of them; either may be NULL. */
typedef struct gram_search_trails {
    const gram_search_trail *from; /* it begins there, */
    gram_search_trail *to;         /* and leaves its ends here */
} gram_search_trails;

#endif
