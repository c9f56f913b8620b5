/* The variables of a study, and the unit cube that its model sees.
 *
 * A variable takes one column of the cube: the share of the way from lower to upper, on the log scale for log variables.
 * Categories take one column for each level, 1 for the level that is meant and 0 for the others (one column for two levels), so
 * that all levels are equally far from each other. */
#ifndef GRAM_STUDY_SEARCH_DOMAIN_H
#define GRAM_STUDY_SEARCH_DOMAIN_H

#include <gram/study.h>

#include "base/arena.h"

typedef struct gram_domain_variable {
    const char *name;
    gram_variable_kind kind;
    double lower, upper;
    int64_t level_count;
    const char **levels;
    int64_t column, columns; /* of the cube */
} gram_domain_variable;

typedef struct gram_domain {
    gram_arena arena;
    int64_t count;
    gram_domain_variable *variables;
    int64_t columns; /* of the cube */
    int discrete;    /* some variable is */
} gram_domain;

/* Checks and copies; `name` begins messages. The space must be zero before; gram_domain_free is due after a failure too. */
gram_status gram_domain_make(gram_context *context, const char *name, int64_t count, const gram_variable *variables,
                             gram_domain *space);
void gram_domain_free(gram_domain *space);

/* GRAM_ERROR_DATA names the variable whose value is not in its range, not whole or no level. */
gram_status gram_domain_check(gram_context *context, const char *name, const gram_domain *space, const double *x);

/* From values of the variables (a category: the number of its level, from 0) to the cube and back. Back, discrete variables take
 * the nearest value, categories the level with the largest column. */
void gram_domain_encode(const gram_domain *space, const double *x, double *u);
void gram_domain_decode(const gram_domain *space, const double *u, double *x);

/* Moves a point of the cube to the nearest one that is an encoded value. */
void gram_domain_snap(const gram_domain *space, double *u);

static inline int gram_domain_is_discrete(const gram_domain_variable *v)
{
    return v->kind == GRAM_VARIABLE_INTEGER || v->kind == GRAM_VARIABLE_CATEGORY;
}

/* Values that a discrete variable has, and value number `index` of it. */
int64_t gram_domain_values(const gram_domain_variable *variable);
/* The number of the value that u has for the variable, and the other way round. */
int64_t gram_domain_index(const gram_domain_variable *variable, const double *u);
void gram_domain_set_index(const gram_domain_variable *variable, int64_t index, double *u);

/* A Latin hypercube: each of `count` points has a stratum of its own in every variable; of `tries` such designs the one
 * whose nearest pair is farthest apart. out is count x columns, snapped. `which` names the design. */
gram_status gram_domain_design(gram_context *context, const gram_domain *space, uint64_t seed, uint64_t which,
                               int64_t count, int tries, double *out);

#endif
