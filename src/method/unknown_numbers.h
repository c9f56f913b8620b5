/* Numbers in operators that are not known: `--unknown k=0.01:10` beside `--operator 'heat=d:t - k*d:x:x'`.
 *
 * Rows are linear in them: each is a sum of terms, of which some are multiplied by an unknown. So the rows at other values are made
 * anew from the same terms (gram_unknowns_points). In a model the numbers have one value, `k=0.31`. */
#ifndef GRAM_METHOD_UNKNOWN_NUMBERS_H
#define GRAM_METHOD_UNKNOWN_NUMBERS_H

#include <gram/functional.h>

#include "base/context.h"

enum { GRAM_MOST_UNKNOWNS = 4, GRAM_UNKNOWN_NAME = 64 };

typedef struct gram_unknown {
    char name[GRAM_UNKNOWN_NAME];
    double low, high; /* equal: it is known */
    double value;
} gram_unknown;

typedef struct gram_unknowns {
    int count;
    gram_unknown each[GRAM_MOST_UNKNOWNS];
    /* what rows are made of, once they are read; the arrays are the learner's */
    int64_t term_count;
    gram_functional_term *terms;
    int *which; /* for each term the unknown that its coefficient is multiplied by, -1: none */
} gram_unknowns;

/* Reads NAME=LOW:HIGH or NAME=VALUE; several have ; between. Without a value an unknown has the middle of its range, on the log scale
 * if both ends are above 0. NULL: there are none. GRAM_ERROR_ARGUMENT says which one cannot be read, and why. */
gram_status gram_unknowns_read(gram_context *context, const char *text, gram_unknowns *unknowns);

/* The unknown whose name is the first `length` letters of the text; -1: none. */
int gram_unknowns_find(const gram_unknowns *unknowns, const char *text, size_t length);

/* "k=0.31;c=2" */
void gram_unknowns_print(const gram_unknowns *unknowns, char *text, size_t size);

/* The n rows of d columns at the values that the unknowns have. The caller releases them. */
gram_status gram_unknowns_points(gram_context *context, const gram_unknowns *unknowns, int64_t n, int64_t d,
                                 gram_points **points);

#endif
