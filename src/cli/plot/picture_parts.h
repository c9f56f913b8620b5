/* Parts of pictures, written to a gnuplot script. */
#ifndef GRAM_CLI_PLOT_PICTURE_PARTS_H
#define GRAM_CLI_PLOT_PICTURE_PARTS_H

#include "cli/terminal/cli.h"

#define CLI_POINT_COLOUR "#700060ad" /* the first two digits: how transparent */
#define CLI_CURVE_COLOUR "#d95319"
#define CLI_BAND_COLOUR "#f6d5c4"
#define CLI_QUIET_COLOUR "#808080"

/* Borders, tics and key as all pictures have them. */
void cli_picture_look(gram_string *script);
/* A number, and what stands behind it. */
void cli_picture_number(gram_string *script, double value, const char *after);
/* A block of data `$name`: rows of as many numbers as there are columns. */
void cli_picture_block(gram_string *script, const char *name, int64_t rows, int count, const double *const *columns);
/* A block `$data` of what a model of one feature was fitted to, as far as it is between `from` and `to`; `offset` is added to the
 * targets that it kept. Returns how many there are; no block if the model (or NULL) has none. */
int64_t cli_picture_observations(gram_string *script, const gram_model *model, double offset, double from, double to);
/* "set xrange [from:to]" */
void cli_picture_range(gram_string *script, const char *axis, double from, double to);
/* "set xlabel 'words NAME'" */
void cli_picture_label(gram_string *script, const char *axis, const char *words, const char *name);
/* Fewer points are larger ones. */
double cli_picture_point_size(int64_t count);

#endif
