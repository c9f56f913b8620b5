/* Data made by a rule and a seed, for examples, trials and tests: what the books draw.
 *
 * A rule is a name: sine, circles, moons, blobs, swiss-roll, friedman, branin. Row i of a rule depends on the seed of the context and
 * on i alone, so that any part of the rows can be made, and more rows begin with the same ones.
 *
 * Common failures: GRAM_ERROR_ARGUMENT (a name that is no rule, which a near one is suggested for, a noise below 0), GRAM_ERROR_MEMORY. */
#ifndef GRAM_MADE_DATA_H
#define GRAM_MADE_DATA_H

#include <gram/output.h>

GRAM_BEGIN

typedef struct gram_made_facts {
    size_t size;         /* sizeof of this struct, set by the caller */
    const char *name;    /* NULL: there is no rule of that number */
    const char *columns; /* "x1,x2,class" */
    const char *summary; /* "two rings, one within the other" */
    double noise;        /* the usual deviation */
} gram_made_facts;

/* Fills facts, whose size the caller sets (GRAM_ERROR_ARGUMENT if not), with rule number 0, 1, ... */
GRAM_API gram_status gram_made_describe(int64_t which, gram_made_facts *facts);

/* Adds rows first .. first + count - 1 as CSV to the text, the names of the columns before row 0. `noise` is a deviation: of the target
 * or, where rows are classes or lie on a surface, of each coordinate; NaN: the usual one. O(count). */
GRAM_API gram_status gram_made_rows(gram_context *context, const char *name, double noise, int64_t first, int64_t count,
                                    gram_string *text);

GRAM_END

#endif
