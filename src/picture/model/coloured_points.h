/* Points in groups, each of a colour: by the column of a table, by labels, or by clusters. */
#ifndef GRAM_PICTURE_MODEL_COLOURED_POINTS_H
#define GRAM_PICTURE_MODEL_COLOURED_POINTS_H

#include "picture/picture.h"

enum { GRAM_MOST_GROUPS = 24 };

typedef struct gram_coloured_points {
    int64_t n, step; /* of which every step-th is drawn */
    const double *x; /* n x columns, ld apart */
    int64_t columns, ld;
    int64_t groups;                    /* 1: all are of one colour; 0: by their numbers */
    double *number;                    /* n: the group, -1: none; or the number itself */
    char names[GRAM_MOST_GROUPS][128]; /* of the groups */
    const char *title;                 /* of the column, or NULL */
} gram_coloured_points;

/* Where colours come from: the column of a table, else with `clusters` their labels (lda apart), else the first target of the data, if
 * there is one. */
typedef struct gram_colour_source {
    const gram_prepared *data;
    const gram_table *table; /* NULL: none */
    int64_t column;
    const double *clusters; /* NULL: none */
    int64_t ld;
    const gram_column *label; /* of that target; NULL: none */
} gram_colour_source;

/* Sets groups, numbers and names of n points. The numbers are the picture's. */
gram_status gram_points_colour(gram_context *context, const gram_colour_source *source, gram_picture *picture,
                               gram_coloured_points *points);

/* Blocks $group0, $group1, ... of the columns, in the features' own units (preparation NULL: as they are), with the number after them. */
void gram_script_groups(gram_string *script, const gram_coloured_points *points, const gram_preparation *preparation);
/* `what`, then the groups' points by some columns. */
void gram_script_plot_groups(gram_string *script, const gram_coloured_points *points, const char *what,
                             const char *columns);
/* The bar that says what colours by numbers mean. */
void gram_script_colour_bar(gram_string *script, const gram_coloured_points *points);
/* " with points pt TYPE ps SIZE lc rgb COLOUR " of group g: `type`, or one that is 2 less for every other six groups. */
void gram_script_group_look(gram_string *script, int type, int64_t count, int64_t group);

/* How many blocks of groups there are. */
int64_t gram_group_blocks(const gram_coloured_points *points);

#endif
