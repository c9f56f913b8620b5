/* The components of an additive model, each over its own feature: panels of the picture of a fit. */
#ifndef GRAM_PICTURE_MODEL_TERM_PANELS_H
#define GRAM_PICTURE_MODEL_TERM_PANELS_H

#include "picture/model/model_scene.h"

/* Those that are drawn: terms of the kernel that see one feature, which is a number. */
typedef struct gram_term_panels {
    int64_t count;
    const int64_t *terms, *features;
    const gram_columns *columns;
    gram_predictor *predictor;
    int banded;         /* the model knows deviations of its terms */
    int64_t stride;     /* columns of a term */
    double *x, *values; /* the grid: a row of d features in their own units, and what is said of it */
} gram_term_panels;

/* count is 0 if fewer than two components can be told apart, or the model does not tell its terms. The caller ends it in any case. */
gram_status gram_term_panels_find(gram_context *context, const gram_scene *scene, gram_picture *picture,
                                  gram_term_panels *panels);
void gram_term_panels_end(gram_term_panels *panels);
/* Panel i, after "set multiplot layout". */
void gram_term_panels_add(gram_string *script, const gram_scene *scene, const gram_term_panels *panels, int64_t i);

#endif
