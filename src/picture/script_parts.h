/* What the scripts of pictures are made of: gnuplot's commands with names and numbers of the user's, which are quoted, and written with a
 * point whatever the locale. */
#ifndef GRAM_PICTURE_SCRIPT_PARTS_H
#define GRAM_PICTURE_SCRIPT_PARTS_H

#include <gram/learn.h>

#define GRAM_POINT_COLOUR "#700060ad" /* the first two digits: how transparent */
#define GRAM_CURVE_COLOUR "#d95319"
#define GRAM_BAND_COLOUR "#f6d5c4"
#define GRAM_QUIET_COLOUR "#808080"

/* At most this many points of a set are drawn: more would hide each other. */
enum { GRAM_PICTURE_POINTS = 3000 };

/* ---- texts ---- */

/* The text as a gnuplot string in which nothing is special. */
void gram_script_quote(gram_string *script, const char *text);
/* The next of a list of tics: "'NAME' 0", or ", 'NAME' 1" and so on. Names of tics are formats to gnuplot: % is doubled. */
void gram_script_tic(gram_string *script, const char *name, int64_t place);
/* A kernel in short digits, at most so many characters and "..." of it, at the end of a text. */
void gram_script_kernel(gram_string *text, const gram_kernel *kernel, size_t most);
/* A kernel, cut where it would be too long, and words after it, as a string in a small font. */
void gram_script_heading(gram_string *script, const gram_kernel *kernel, const char *words);
/* "KERNEL on FILE" after a command such as "set title", cut where it would not fit; and as the title. */
void gram_script_heading_of(gram_string *script, const char *command, const gram_kernel *kernel, const char *file);
void gram_script_title(gram_string *script, const gram_kernel *kernel, const char *file);
/* "KERNEL and KERNEL on FILE", for two views. */
void gram_script_title_of_two(gram_string *script, const gram_kernel *first, const gram_kernel *second,
                              const char *file);
/* The file without its folder. */
const char *gram_script_file(const char *path);

/* ---- numbers ---- */

/* A number in full, and what stands behind it; in a few digits; with six digits after the point. */
void gram_script_number(gram_string *script, double value, const char *after);
void gram_script_short(gram_string *script, double value, const char *after);
void gram_script_fixed(gram_string *script, double value, const char *after);
/* A block of data `$name`: rows of as many numbers as there are columns, the numbers of column j ld[j] apart (NULL: 1). */
void gram_script_block(gram_string *script, const char *name, int64_t rows, int count, const double *const *columns,
                       const int64_t *ld);
/* A block `$name` of the first two columns of rows of prepared numbers, ld apart, in the features' own units, and of at most `most`
 * of them; with labels (NULL: none) those of one class only. */
void gram_script_points(gram_string *script, const char *name, const gram_preparation *preparation, int64_t n,
                        const double *x, int64_t ld, int64_t most, const double *labels, int64_t class);
/* A block `$data` of what a model of one feature was fitted to, as far as it is between `from` and `to`. Returns how many there
 * are; no block if the model (or NULL) has none. */
int64_t gram_script_observations(gram_string *script, const gram_model *model, double from, double to);

/* ---- axes and looks ---- */

/* Borders, tics and key as most pictures have them. */
void gram_script_look(gram_string *script);
/* "set xrange [from:to]" */
void gram_script_range(gram_string *script, const char *axis, double from, double to);
/* At most five tics at round numbers between them, which do not run into each other in a small panel however long they are. */
void gram_script_few_tics(gram_string *script, const char *axis, double from, double to);
/* "set xlabel 'words NAME'" */
void gram_script_label(gram_string *script, const char *axis, const char *words, const char *name);
/* " ps SIZE" for so many points, times a factor: fewer are larger ones. */
void gram_script_point_size(gram_string *script, int64_t count, double factor);

/* Colours of classes and groups: strong ones for points (map_parts.h has pale ones); they repeat. */
enum { GRAM_PICTURE_COLOURS = 6 };
const char *gram_script_colour(int64_t group);

/* ---- numbers to draw ---- */

/* Evenly spaced numbers, the ends among them. */
void gram_picture_grid(int count, double from, double to, double *out);
/* From the least to the greatest of some numbers, ld apart; goes on from *least and *most, which start as NaN. */
void gram_picture_extend(int64_t n, const double *x, int64_t ld, double *least, double *most);

#endif
