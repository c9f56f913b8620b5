/* The distance from samples to one law: what all samples of a size share. */
#ifndef GRAM_EMBED_LAW_DISTANCE_H
#define GRAM_EMBED_LAW_DISTANCE_H

#include <gram/law.h>

#include "base/context.h"

typedef struct gram_law_setting {
    gram_context *context;
    const gram_kernel *kernel;
    const gram_law *law;
    int64_t n;
    double inner;                           /* |mu_P|^2 */
    double *ones, *sums, *means, *diagonal; /* n each, in one block, `ones`, which the caller gives back */
} gram_law_setting;

/* No argument is NULL, and points and law have as many columns; `who` begins the messages. */
gram_status gram_law_check(gram_context *context, const char *who, const gram_kernel *kernel, const gram_points *points,
                           const gram_law *law, const void *out);

gram_status gram_law_begin(gram_context *context, const gram_kernel *kernel, const gram_law *law, int64_t n,
                           gram_law_setting *setting);

/* From a sample of n points. */
gram_status gram_law_measure(gram_law_setting *setting, const gram_points *x, gram_law_distance *distance);

#endif
