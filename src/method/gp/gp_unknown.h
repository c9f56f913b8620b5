/* Inverse problems: numbers of the equations that are not known. */
#ifndef GRAM_METHOD_GP_GP_UNKNOWN_H
#define GRAM_METHOD_GP_GP_UNKNOWN_H

#include "method/gp/gp_model.h"

/* What was found, beside the values in learning->unknowns. */
typedef struct gram_gp_found {
    double deviation[GRAM_MOST_UNKNOWNS]; /* NaN: the likelihood has no maximum inside the range */
    int at_bound;                         /* one of them is at an end of its range */
    double nugget;                        /* the noise, as a share of a row's own variance, that the search needed */
    double log_likelihood;                /* of the other rows given the equations */
    int64_t evaluations;
} gram_gp_found;

/* Finds learning->unknowns, the kernel's amplitude and, with tuning, all its free numbers. Then points and functionals are the rows at
 * these values, and learning->written is the kernel as it was found. The gp's plan has been made. */
gram_status gram_gp_find_unknowns(gram_learning *learning, gram_gp_found *found);

#endif
