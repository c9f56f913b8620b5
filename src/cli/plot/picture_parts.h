/* Parts of pictures, written to a gnuplot script. */
#ifndef GRAM_CLI_PLOT_PICTURE_PARTS_H
#define GRAM_CLI_PLOT_PICTURE_PARTS_H

#include "cli/terminal/cli.h"

#define CLI_POINT_COLOUR "#700060ad" /* the first two digits: how transparent */
#define CLI_CURVE_COLOUR "#d95319"
#define CLI_BAND_COLOUR "#f6d5c4"
#define CLI_QUIET_COLOUR "#808080"

/* Borders, tics and key as all pictures have them. */
void cli_picture_look(cli_text *script);
/* A block of data `$name` of pairs. */
void cli_picture_pairs(cli_text *script, const char *name, int64_t count, const double *a, const double *b);
/* "set xlabel 'words NAME'" */
void cli_picture_label(cli_text *script, const char *axis, const char *words, const char *name);
/* Fewer points are larger ones. */
double cli_picture_point_size(int64_t count);

#endif
