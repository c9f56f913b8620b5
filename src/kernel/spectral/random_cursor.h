/* Random numbers one after the other, for laws that take as many as they need: number `which` of a drawing has a part of the seed's
 * stream of its own, so that any of them can be made at any time. */
#ifndef GRAM_KERNEL_SPECTRAL_RANDOM_CURSOR_H
#define GRAM_KERNEL_SPECTRAL_RANDOM_CURSOR_H

#include <gram/random.h>

typedef struct gram_cursor {
    gram_random normal, uniform;
    uint64_t at_normal, at_uniform;
    /* directions that were chosen beforehand, as normal and as uniform numbers, the next `given` of each; NULL: drawn */
    const double *normals, *uniforms;
    int64_t given;
    double first; /* for the first choice, spread evenly over the numbers of a drawing; negative when used */
} gram_cursor;

/* For number `which` of `count`. Takes the streams `stream` and `stream + 1`. */
gram_cursor gram_cursor_start(uint64_t seed, uint64_t stream, int64_t which, int64_t count);

/* Of a direction: a number that was chosen beforehand, or the next one. */
double gram_cursor_direction_normal(gram_cursor *cursor);
double gram_cursor_direction_uniform(gram_cursor *cursor);

double gram_cursor_normal(gram_cursor *cursor);
double gram_cursor_uniform(gram_cursor *cursor);
double gram_cursor_gamma(gram_cursor *cursor, double shape);
double gram_cursor_poisson(gram_cursor *cursor, double mean);
/* Positive stable of index a in (0, 1], E exp(-s A) = exp(-s^a). */
double gram_cursor_stable(gram_cursor *cursor, double a);

#endif
