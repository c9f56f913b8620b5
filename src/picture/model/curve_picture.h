/* A regression over its one feature: data and curve. */
#ifndef GRAM_PICTURE_MODEL_CURVE_PICTURE_H
#define GRAM_PICTURE_MODEL_CURVE_PICTURE_H

#include "picture/model/model_scene.h"

/* Adds it to the script, with a title. */
gram_status gram_draw_curve(gram_context *context, const gram_scene *scene, gram_picture *picture);

#endif
