/* Maps of a plane in scripts: areas as an image of cells, and smooth borders between them. */
#ifndef GRAM_PICTURE_MAP_PARTS_H
#define GRAM_PICTURE_MAP_PARTS_H

#include <gram/map.h>

#include "picture/picture.h"

/* The labels of n places of a plane, two prepared numbers each, where whatever `of` is made the map. */
typedef gram_status (*gram_label_fn)(gram_context *context, const void *of, const gram_map *map, int64_t n,
                                     const double *places, double *labels);

/* A map of labels, and how it is to be drawn. */
typedef struct gram_areas {
    const gram_map *map;
    gram_label_fn label;                 /* what labels other places have, */
    const void *of;                      /* and of what */
    const gram_preparation *preparation; /* of the axes; NULL: they are as they are */
    int64_t first;                       /* the label of the first colour */
    int neutral;                         /* greys, because colours say something else */
    int colours[6];                      /* are there patches of this colour? (gram_script_areas) */
} gram_areas;

/* Blocks of the cells, `$frame`, of the patches that cover the steps where labels change, `$patch0`, ..., and of the lines between
 * them, `$borders`; and the ranges of both axes. */
gram_status gram_script_areas(gram_context *context, gram_picture *picture, gram_areas *areas);
/* "plot" of the areas and, if they are wanted, the borders; what is drawn over them may follow a ", ". */
void gram_script_plot_areas(gram_string *script, const gram_areas *areas, int borders);

/* Labels from the first column of what a gram_predictor says. */
gram_status gram_label_by_predictor(gram_context *context, const void *of, const gram_map *map, int64_t n,
                                    const double *places, double *labels);

/* A place in units of cells, whole numbers being their middles: two numbers. */
void gram_script_place(gram_string *script, const gram_map *map, const gram_preparation *preparation, double i,
                       double j);
/* The ranges of both axes from the frame of a map. */
void gram_script_frame(gram_string *script, const gram_map *map, const gram_preparation *preparation);

#endif
