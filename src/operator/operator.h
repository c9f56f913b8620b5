/* Operators from inside: what a new kind declares.
 *
 * Two functions are required; the others have a default made of them. A new operator is one file with one
 * gram_operator_type and a creator; the contract tests take it from there. */
#ifndef GRAM_OPERATOR_OPERATOR_H
#define GRAM_OPERATOR_OPERATOR_H

#include <stdatomic.h>

#include <gram/operator.h>

#include "base/context.h"

typedef struct gram_operator_type {
    const char *name;
    /* out = A V; arguments are checked already */
    gram_status (*apply)(gram_context *context, const gram_operator *op, int64_t columns, const double *v, int64_t ldv,
                         double *out, int64_t ldo);
    /* gives back what the operator holds, not the operator */
    void (*destroy)(gram_operator *op);
    /* optional */
    gram_status (*diagonal)(gram_context *context, const gram_operator *op, double *out);
    gram_status (*columns)(gram_context *context, const gram_operator *op, int64_t count, const int64_t *index,
                           double *out, int64_t ld);
    gram_status (*apply_columns)(gram_context *context, const gram_operator *op, int64_t count, const int64_t *index,
                                 int64_t columns, const double *v, int64_t ldv, double *out, int64_t ldo);
} gram_operator_type;

/* Every operator starts with this. */
struct gram_operator {
    const gram_operator_type *type;
    atomic_int references;
    gram_memory *memory;
    int64_t n;
};

/* Takes `bytes` for an operator whose first member is a gram_operator, zeroed but for that. */
gram_status gram_operator_make(gram_context *context, const gram_operator_type *type, size_t bytes, int64_t n,
                               gram_operator **op);

#endif
