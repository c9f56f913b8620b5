/* The innermost loops of the SMO solver, chosen once by the processor.
 *
 * A working set of variables lies in arrays whose two groups each fill whole vectors: every count is a multiple of
 * GRAM_SMO_LANES, what fills up can neither rise nor fall. `rise` is 0 for variables below their upper bound and -inf for
 * others, `fall` is 0 for variables above their lower bound and +inf for others: so the extremes over those that can move
 * are those of v + rise and v + fall. Ties go to the lowest index, at every level. */
#ifndef GRAM_SOLVE_SMO_SMO_LOOPS_H
#define GRAM_SOLVE_SMO_SMO_LOOPS_H

#include <gram/context.h>

enum { GRAM_SMO_LANES = 16 };

typedef struct gram_smo_extremes {
    double highest; /* of v + rise: -inf if none can rise */
    int64_t at;     /* the first such index, -1 if there is none */
    double lowest;  /* of v + fall */
} gram_smo_extremes;

typedef struct gram_smo_loops {
    /* v -= step (first - second), then the extremes; a step of 0 leaves v. */
    gram_smo_extremes (*move_f64)(int64_t count, double step, const double *first, const double *second,
                                  const double *rise, const double *fall, double *v);
    /* The k with the largest (top - v_k)^2/(own + diagonal_k - 2 row_k) among those that can fall and have v_k < top; -1 if
     * there is none. *gain is that number. A curvature below `least` (equal points, a kernel that is not positive definite)
     * is replaced by it. */
    int64_t (*partner_f64)(int64_t count, double top, double own, double least, const double *row,
                           const double *diagonal, const double *v, const double *fall, double *gain);
    /* the same for f32 */
    gram_smo_extremes (*move_f32)(int64_t count, float step, const float *first, const float *second, const float *rise,
                                  const float *fall, float *v);
    int64_t (*partner_f32)(int64_t count, float top, float own, float least, const float *row, const float *diagonal,
                           const float *v, const float *fall, double *gain);
    /* The highest v of those with b below upper and the lowest of those with b above lower, any count. */
    void (*range)(int64_t count, const double *v, const double *b, const double *lower, const double *upper,
                  double *highest, double *lowest);
    /* out[k] += sum_r weights[r] rows[r][first + k], k < count, any count. */
    void (*add_rows)(int64_t rows, const double *weights, const float *const *row, int64_t first, int64_t count,
                     double *out);
} gram_smo_loops;

/* The table for a level that the context has chosen; never NULL. */
const gram_smo_loops *gram_smo_loops_choose(gram_isa isa);

extern const gram_smo_loops gram_smo_loops_plain;
#if defined(__x86_64__)
extern const gram_smo_loops gram_smo_loops_avx2;
#endif

#endif
