/* Where an acquisition is largest: in a box of the cube, or among candidates. */
#ifndef GRAM_STUDY_PROPOSAL_SEARCH_H
#define GRAM_STUDY_PROPOSAL_SEARCH_H

#include "study/acquisition.h"
#include "study/search_domain.h"

typedef struct gram_search {
    const gram_domain *space;
    const gram_acquisition *acquisition;
    const double *lower, *upper; /* columns: the box */
    const double *centre;        /* the best point known, NULL: none */
    uint64_t seed, which;
} gram_search;

/* u, a point that the space has, and what it is worth. */
gram_status gram_search_box(gram_context *context, const gram_search *search, double *u, double *value);

/* The best of `count` rows (count x columns), leaving out those with taken[i]; -1 if all are. */
gram_status gram_search_rows(gram_context *context, const gram_search *search, int64_t count, const double *rows,
                             const unsigned char *taken, int64_t *best, double *value);

#endif
