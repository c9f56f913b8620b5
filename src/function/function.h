/* Functions from inside: f_o(x) = sum_i a_io k(x_i, x) + b_o + s_o.x. */
#ifndef GRAM_FUNCTION_FUNCTION_H
#define GRAM_FUNCTION_FUNCTION_H

#include <stdatomic.h>

#include <gram/function.h>

#include "base/context.h"
#include "points/weighted_problem.h"

struct gram_function {
    atomic_int references;
    gram_memory *memory;
    gram_kernel *kernel;
    gram_points *centres; /* of f64 or f32 below; NULL until gram_function_seal */
    int64_t n, d, outputs;
    double *f64; /* n x d; exactly one of these two is not NULL */
    float *f32;
    double *a;        /* n x outputs */
    double *constant; /* outputs */
    double *slopes;   /* outputs x d, NULL: none */
};

/* What a new function is made for. */
typedef struct gram_function_room {
    gram_kernel *kernel;
    int64_t n, d, outputs;
    int single; /* centres in f32 */
} gram_function_room;

/* A function with room for its numbers, which the caller fills in before gram_function_seal. The constants are 0. */
gram_status gram_function_make(gram_context *context, gram_function_room room, gram_function **function);

/* The function of coefficients a (of the centres) and b (q x outputs, of what no penalty acts on) of a problem. */
gram_status gram_function_of_problem(gram_context *context, const gram_problem *problem, const gram_points *centres,
                                     int64_t outputs, const double *a, const double *b, gram_function **function);

/* Gives a new function slopes, all 0. */
gram_status gram_function_take_slopes(gram_context *context, gram_function *function);

/* Makes the points of a function whose arrays are filled in; `who` begins the message about a number that is not finite,
 * which is given the status `code`. */
gram_status gram_function_seal(gram_context *context, const char *who, gram_status code, gram_function *function);

/* Bytes of one centre, and where centre i starts. */
static inline size_t gram_function_row_bytes(const gram_function *f)
{
    return (size_t)f->d * (f->f64 ? sizeof(double) : sizeof(float));
}

static inline void *gram_function_row(const gram_function *f, int64_t i)
{
    return f->f64 ? (void *)(f->f64 + i * f->d) : (void *)(f->f32 + i * f->d);
}

/* Is the kernel complete, and does it take points of d columns? */
gram_status gram_function_check_kernel(gram_context *context, const gram_kernel *kernel, int64_t d);

/* Centre number `at` of `to` becomes centre i of f; f32 numbers may become f64. */
void gram_function_put_row(const gram_function *f, int64_t i, gram_function *to, int64_t at);

/* The same function with equal centres merged, each at the place of the first of its kind: f itself, with one more owner,
 * if no two are equal. */
gram_status gram_function_merge(gram_context *context, gram_function *f, gram_function **out);

/* NULL, or why f and g have no inner product and no sum. */
const char *gram_function_mismatch(const gram_function *f, const gram_function *g);

#endif
