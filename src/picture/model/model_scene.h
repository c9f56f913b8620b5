/* Pictures of models. A picture is a function and a row of the table in picture_table.c: its name, what it needs of the scene, and what is
 * said if that is not there. A method names its pictures in its verb (gram_verb.pictures). */
#ifndef GRAM_PICTURE_MODEL_MODEL_SCENE_H
#define GRAM_PICTURE_MODEL_MODEL_SCENE_H

#include <gram/random.h>

#include "picture/model/coloured_points.h"
#include "picture/picture.h"
#include "picture/script_parts.h"

/* A sample of rows: the first feature in its own units, the first target, and its prediction. */
typedef struct gram_row_sample {
    gram_random random;
    int64_t seen, count;
    double *x, *y, *f; /* GRAM_PICTURE_POINTS of each, one after the other */
} gram_row_sample;

/* For a block of 3 GRAM_PICTURE_POINTS numbers. Every row is in it with the same probability; one with a number that is not finite is not. */
gram_row_sample gram_row_sample_begin(const gram_context *context, double *block);
void gram_row_sample_add(gram_row_sample *sample, double x, double y, double f);

/* What a picture of a model may show. */
typedef struct gram_scene {
    const gram_model *model;
    const char *name;   /* of the model, for messages */
    const char *file;   /* of the data */
    const char *dashes; /* before options in messages */
    /* the rows, prepared, */
    const gram_prepared *data; /* of the rows that it was learnt from; NULL: others */
    int64_t n;
    const double *x;
    const double *labels;   /* numbers of classes, -1: not known; NULL: none */
    gram_row_sample sample; /* some of them, with predictions, */
    const char *predicted;  /* and what these are, as in "leave-one-out prediction" */
    const double *left_out; /* of classes: what fits without a row said of it, NaN where none was; NULL: not known, */
    int64_t left_out_ld;    /* so many numbers of each row */
    const double *values;   /* what the model says of them: coordinates, or labels from 1, */
    int64_t ld;             /* so many of each row */
    gram_coloured_points points;
    const double *least, *most; /* the range of each prepared column; NULL: not known */
    /* of one feature, in its own units */
    double from, to;
    int terms;
} gram_scene;

/* ---- the pictures; what their row needs is there ---- */

gram_status gram_draw_fit(gram_context *context, gram_scene *scene, gram_picture *picture);
gram_status gram_draw_classes(gram_context *context, gram_scene *scene, gram_picture *picture);
gram_status gram_draw_posterior(gram_context *context, gram_scene *scene, gram_picture *picture);
gram_status gram_draw_scatter(gram_context *context, gram_scene *scene, gram_picture *picture);
gram_status gram_draw_space(gram_context *context, gram_scene *scene, gram_picture *picture);
gram_status gram_draw_boxes(gram_context *context, gram_scene *scene, gram_picture *picture);
gram_status gram_draw_directions(gram_context *context, gram_scene *scene, gram_picture *picture);
gram_status gram_draw_components(gram_context *context, gram_scene *scene, gram_picture *picture);
gram_status gram_draw_clusters(gram_context *context, gram_scene *scene, gram_picture *picture);
gram_status gram_draw_pairs(gram_context *context, gram_scene *scene, gram_picture *picture);
gram_status gram_draw_views(gram_context *context, gram_scene *scene, gram_picture *picture);
gram_status gram_draw_eigenvalues(gram_context *context, gram_scene *scene, gram_picture *picture);
gram_status gram_draw_solution(gram_context *context, gram_scene *scene, gram_picture *picture);
gram_status gram_draw_descent(gram_context *context, gram_scene *scene, gram_picture *picture);
gram_status gram_draw_convergence(gram_context *context, gram_scene *scene, gram_picture *picture);

/* ---- what they share ---- */

/* The caller's options, with a text for each name (learner_picture.c); and a scene of the model and these names. */
gram_status gram_picture_read_options(gram_context *context, const char *function, const gram_picture_options *given,
                                      gram_picture_options *options);
gram_scene gram_scene_begin(const gram_model *model, const gram_picture_options *options);

/* Borders as all pictures have them, and "KERNEL on FILE" as the title, with both kernels of two views. */
void gram_scene_title(const gram_scene *scene, gram_string *script);

/* Takes n rows of d prepared columns into their ranges, `least` and `most`, which start as NaN. */
void gram_scene_extend(int64_t n, int64_t d, const double *x, double *least, double *most);

const gram_kernel *gram_scene_kernel(const gram_scene *scene);
const gram_column *gram_scene_features(const gram_scene *scene);
/* The name of the first target, "" without one. */
const char *gram_scene_target(const gram_scene *scene);

/* How many features the model has, 0 if one of them is text or they are not known. */
int64_t gram_scene_dimension(const gram_model *model);
/* Is it a model of one column of numbers that knows intervals about its mean? */
int gram_scene_is_posterior(const gram_model *model);

/* What the model says, for a picture: with a 95 % interval, with terms. The caller destroys it. */
gram_status gram_scene_predictor(gram_context *context, const gram_scene *scene, int interval, int terms,
                                 gram_predictor **predictor);

/* Of models that followed a gradient: what was learnt when, as a panel (learning_panel.c). */
void gram_add_learning_panel(gram_string *script, const gram_learning_curve *left);

#endif
