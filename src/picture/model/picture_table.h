/* The table of pictures of models: name, what it needs, function. */
#ifndef GRAM_PICTURE_MODEL_PICTURE_TABLE_H
#define GRAM_PICTURE_MODEL_PICTURE_TABLE_H

#include "picture/model/model_scene.h"

/* What of a scene is made for a picture, beside the rows. */
enum {
    GRAM_SCENE_SAMPLE = 1,  /* a sample of rows with predictions of the first target */
    GRAM_SCENE_POINTS = 2,  /* what the model says of the rows, as points in groups of a colour */
    GRAM_SCENE_CLUSTERS = 4 /* of these: values are labels, which colour unless a column does */
};

typedef struct gram_picture_row {
    const char *name;
    unsigned parts; /* GRAM_SCENE_... */
    /* what must be so, and what is said if it is not */
    int64_t columns;   /* of what the model says of a row, at least */
    int64_t features;  /* all of them numbers, exactly so many; 0: any */
    int groups;        /* points are in groups, not coloured by a number */
    const char *array; /* the model has it; NULL: any model */
    const char *needs;
    gram_status (*draw)(gram_context *context, gram_scene *scene, gram_picture *picture);
} gram_picture_row;

/* The row of that name, NULL: there is none. */
const gram_picture_row *gram_picture_find(const char *name);

/* Makes the picture of a row from a scene that has all but its coloured points, which are made here as the options say. */
gram_status gram_scene_draw(gram_context *context, const gram_picture_row *row, gram_scene *scene,
                            const gram_picture_options *options, gram_picture **picture);

#endif
