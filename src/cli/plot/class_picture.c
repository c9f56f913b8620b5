#include "cli/plot/class_picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/gnuplot.h"
#include "cli/plot/picture_parts.h"
#include "cli/report/kernel_text.h"

enum { SIDE = 160, MOST_POINTS = 3000, BINS = 10, MOST_SUPPORT = 2000 };

static const gram_column *features_of(const cli_class_picture *picture)
{
    return gram_preparation_describe(gram_model_preparation(picture->model))->features;
}

/* ---- regions ---- */

/* A block of the points of each class. */
static void add_points(gram_string *script, const cli_class_picture *picture, int64_t class)
{
    char name[32];
    (void)snprintf(name, sizeof name, "class%" PRId64, class);
    cli_picture_points(script, name, gram_model_preparation(picture->model), picture->n, picture->x, 2, MOST_POINTS,
                       picture->labels, class);
}

/* Support vectors are circled, unless there are so many that circles would hide the rest. Returns how many. */
static int64_t add_support(gram_string *script, const cli_class_picture *picture)
{
    const gram_points *centres = gram_function_centres(gram_model_function(picture->model));
    const double *x = gram_function_centres_f64(gram_model_function(picture->model));
    const int64_t count = gram_points_count(centres);
    if (!gram_model_find(picture->model, "n_support").name || !x || count > MOST_SUPPORT) return 0;
    cli_picture_points(script, "support", gram_model_preparation(picture->model), count, x, 2, MOST_SUPPORT, NULL, 0);
    return count;
}

static void add_regions(gram_string *script, const cli_class_picture *picture, const gram_columns *columns,
                        const gram_map *map)
{
    const gram_preparation *preparation = gram_model_preparation(picture->model);
    const int64_t classes = picture->labels ? columns->classes->count : 1;
    cli_picture_map(script, map, preparation, 0);
    for (int64_t c = 0; c < classes; c++) add_points(script, picture, c);
    const int64_t support = add_support(script, picture);
    cli_picture_label(script, "x", "", features_of(picture)[0].name);
    cli_picture_label(script, "y", "", features_of(picture)[1].name);
    cli_picture_palette(script);
    cli_picture_frame(script, map, preparation);
    gram_string_add(script, "plot $frame with image notitle");
    for (int64_t c = 0; c < classes; c++) {
        gram_string_add(script, ", $class%" PRId64 " with points pt 7 ps %g lc rgb '%s' title ", c,
                        cli_picture_point_size(picture->n) * 1.2, cli_picture_strong(c));
        cli_plot_quote(script, picture->labels ? columns->classes->names[c] : "data");
    }
    if (support > 0)
        gram_string_add(script, ", $support with points pt 6 ps 1.1 lc rgb '#404040' title 'support vectors'");
    gram_string_add(script, "\n");
}

/* ---- curves ---- */

/* The share of the second class found against that of the first taken for it. */
static int add_roc(cli_session *session, gram_string *script, const cli_class_picture *picture,
                   const gram_columns *columns, const double *values)
{
    int64_t count = 0;
    double *mistaken = calloc((size_t)(2 * picture->n + 2), sizeof *mistaken);
    if (!mistaken) return cli_no_memory();
    double *found = mistaken + picture->n + 1;
    const gram_status status = gram_roc_curve(session->context, picture->n, picture->labels, values + columns->score,
                                              columns->ld, mistaken, found, &count);
    cli_picture_block(script, "roc", count, 2, (const double *[]){mistaken, found}, NULL);
    free(mistaken);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

/* Probabilities against how often they came true. Returns 0 if there are none. */
static int add_calibration(gram_string *script, const cli_class_picture *picture, const gram_columns *columns,
                           const double *values)
{
    double probability[BINS], share[BINS];
    int64_t rows[BINS];
    int filled = 0;
    gram_calibration(picture->n, columns->classes->count, picture->labels, values + columns->probability, columns->ld,
                     BINS, probability, share, rows);
    for (int b = 0; b < BINS; b++) {
        if (rows[b] == 0) continue;
        probability[filled] = probability[b];
        share[filled++] = share[b];
    }
    cli_picture_block(script, "bins", filled, 2, (const double *[]){probability, share}, NULL);
    return filled > 0;
}

/* Returns the number of panels, or -1 after a message. */
static int add_curves(cli_session *session, gram_string *script, const cli_class_picture *picture,
                      const gram_columns *columns, const double *values)
{
    const int two = columns->classes->count == 2;
    if (two && add_roc(session, script, picture, columns, values) != CLI_DONE) return -1;
    const int probable = add_calibration(script, picture, columns, values);
    gram_string_add(script,
                    "set multiplot layout 1,%d\nset xrange [0:1]\nset yrange [0:1]\nset size square\nunset key\n",
                    two + probable > 0 ? two + probable : 1);
    if (two) {
        gram_string_add(
            script,
            "set xlabel 'share of the first class taken for the second'\nset ylabel 'share of the second class found'\n"
            "plot $roc with lines lw 2 lc rgb '#0060ad', x with lines dt 2 lc rgb '#808080'\n");
    }
    if (probable)
        gram_string_add(script,
                        "set xlabel 'probability'\nset ylabel 'observed frequency'\n"
                        "plot $bins with linespoints pt 7 lw 2 lc rgb '#d95319', x with lines dt 2 lc rgb '#808080'\n");
    gram_string_add(script, "unset multiplot\n");
    return two + probable;
}

/* ---- drawing ---- */

static int draw_regions(cli_session *session, const char *path, const cli_class_picture *picture,
                        const gram_predictor *predictor)
{
    gram_string script = {0};
    const gram_columns *columns = gram_predictor_columns(predictor);
    gram_map *map = NULL;
    const gram_status status =
        gram_map_of_predictor(session->context, predictor, picture->n, picture->x, 2, SIDE, &map);
    int code = status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
    char *kernel = cli_kernel_text(gram_function_kernel(gram_model_function(picture->model)));
    if (code == CLI_DONE) {
        cli_picture_look(&script);
        cli_plot_title(&script, kernel ? kernel : "", picture->file);
        if (columns->classes->count == 0) /* of one class: inside is 1, outside -1 */
            for (int64_t c = 0; c < SIDE * SIDE; c++) map->values[c] = map->values[c] > 0;
        add_regions(&script, picture, columns, map);
        code = cli_plot(session, path, 720, 640, &script);
    }
    free(kernel);
    gram_map_destroy(map);
    gram_string_free(&script);
    return code;
}

static int draw_curves(cli_session *session, const char *path, const cli_class_picture *picture,
                       const gram_predictor *predictor)
{
    gram_string script = {0};
    const gram_columns *columns = gram_predictor_columns(predictor);
    double *values = calloc((size_t)(picture->n * columns->ld + 1), sizeof *values);
    if (!values) return cli_no_memory();
    const gram_status status =
        gram_predictor_evaluate(session->context, predictor, picture->n, picture->x, NULL, values, columns->ld);
    int code = status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
    if (code == CLI_DONE) {
        cli_picture_look(&script);
        const int panels = add_curves(session, &script, picture, columns, values);
        code = panels < 0 ? CLI_OVER_LIMIT
               : panels == 0
                   ? cli_fail(CLI_WRONG_USE, "`gram fit --prob` makes a model that has them.",
                              "--plot: several classes without probabilities, and not two features: nothing to draw")
                   : cli_plot(session, path, 80 + 480 * panels, 500, &script);
    }
    free(values);
    gram_string_free(&script);
    return code;
}

int cli_class_picture_draw(cli_session *session, const char *path, const cli_class_picture *picture)
{
    gram_predictor *predictor = NULL;
    int code = cli_picture_predictor(session, picture->model, picture->model_file, 0, 0, &predictor);
    if (code == CLI_DONE && cli_picture_dimension(picture->model) == 2)
        code = draw_regions(session, path, picture, predictor);
    else if (code == CLI_DONE && picture->labels)
        code = draw_curves(session, path, picture, predictor);
    else if (code == CLI_DONE)
        code = cli_fail(CLI_WRONG_USE, "Leave it out.", "--plot of one class is for two features");
    gram_predictor_destroy(predictor);
    return code;
}
