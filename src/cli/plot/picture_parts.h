/* Parts of pictures, written to a gnuplot script. */
#ifndef GRAM_CLI_PLOT_PICTURE_PARTS_H
#define GRAM_CLI_PLOT_PICTURE_PARTS_H

#include "cli/terminal/cli.h"

#define CLI_POINT_COLOUR "#700060ad" /* the first two digits: how transparent */
#define CLI_CURVE_COLOUR "#d95319"
#define CLI_BAND_COLOUR "#f6d5c4"
#define CLI_QUIET_COLOUR "#808080"

/* Colours of classes and groups, strong for points and pale for regions; they repeat. */
enum { CLI_COLOURS = 6 };
const char *cli_picture_strong(int64_t group);
/* The palette of pale colours for numbers of groups, and its range. */
void cli_picture_palette(gram_string *script);
/* A block `$frame` of the cells of a map in the features' own units (preparation NULL: as they are), with the colours of the groups
 * that their values less `first` are. */
void cli_picture_map(gram_string *script, const gram_map *map, const gram_preparation *preparation, int64_t first);
/* The ranges of both axes from the frame of a map. */
void cli_picture_frame(gram_string *script, const gram_map *map, const gram_preparation *preparation);

/* What the model says, for a picture: with a 95 % interval, with terms. Returns the exit code; the caller destroys it. */
int cli_picture_predictor(cli_session *session, const gram_model *model, const char *name, int interval, int terms,
                          gram_predictor **predictor);
/* How many features the model has, 0 if one of them is text or they are not known. */
int64_t cli_picture_dimension(const gram_model *model);
/* Borders, tics and key as all pictures have them. */
void cli_picture_look(gram_string *script);
/* A number, and what stands behind it. */
void cli_picture_number(gram_string *script, double value, const char *after);
/* A block of data `$name`: rows of as many numbers as there are columns, the numbers of column j ld[j] apart (NULL: 1). */
void cli_picture_block(gram_string *script, const char *name, int64_t rows, int count, const double *const *columns,
                       const int64_t *ld);
/* A block `$name` of the first two columns of rows of prepared numbers, ld apart, in the features' own units, and of at most `most`
 * of them; with labels (NULL: none) those of one class only. */
void cli_picture_points(gram_string *script, const char *name, const gram_preparation *preparation, int64_t n,
                        const double *x, int64_t ld, int64_t most, const double *labels, int64_t class);
/* A block `$data` of what a model of one feature was fitted to, as far as it is between `from` and `to`. Returns how many there
 * are; no block if the model (or NULL) has none. */
int64_t cli_picture_observations(gram_string *script, const gram_model *model, double from, double to);
/* "set xrange [from:to]" */
void cli_picture_range(gram_string *script, const char *axis, double from, double to);
/* Evenly spaced numbers, the ends among them. */
void cli_picture_grid(int count, double from, double to, double *out);
/* From the least to the greatest of some numbers, ld apart; goes on from *least and *most, which start as NaN. */
void cli_picture_extend(int64_t n, const double *x, int64_t ld, double *least, double *most);
/* "set xlabel 'words NAME'" */
void cli_picture_label(gram_string *script, const char *axis, const char *words, const char *name);
/* Fewer points are larger ones. */
double cli_picture_point_size(int64_t count);

#endif
