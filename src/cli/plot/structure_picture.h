/* Pictures of coordinates and clusters: scatter plots in the plane and in space, boxes by group, principal directions, spectra, maps
 * of clusters. */
#ifndef GRAM_CLI_PLOT_STRUCTURE_PICTURE_H
#define GRAM_CLI_PLOT_STRUCTURE_PICTURE_H

#include "cli/terminal/cli.h"

typedef struct cli_structure_picture {
    const char *show; /* "scatter", "space", "boxes", "directions", "spectrum", "map", "pairs", "views" */
    const gram_model *model;
    const char *file;
    const gram_prepared *data; /* the rows */
    const double *values;      /* what the model says of them: coordinates, or labels from 1 */
    int64_t ld;
    const gram_table *table; /* of the file, and the column that colours the points; NULL: none */
    int64_t column;
} cli_structure_picture;

/* Returns CLI_DONE or the exit code after a message. */
int cli_structure_picture_draw(cli_session *session, const char *path, const cli_structure_picture *picture);

#endif
