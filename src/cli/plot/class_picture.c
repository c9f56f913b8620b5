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

static const char *const STRONG[] = {"#0060ad", "#d95319", "#3a923a", "#8e44ad", "#b8860b", "#16a085"};
static const char *const PALE[] = {"#cfe0f0", "#f8dccb", "#d5ead5", "#e6d5ee", "#f0e6c8", "#cdeae4"};
enum { COLOURS = sizeof STRONG / sizeof *STRONG };

static const gram_column *features_of(const cli_class_picture *picture)
{
    return gram_preparation_describe(gram_model_preparation(picture->model))->features;
}

/* In the features' own units. */
static double own_value(const cli_class_picture *picture, int feature, double x)
{
    return gram_preparation_unit(gram_model_preparation(picture->model), feature, x);
}

/* ---- regions ---- */

/* SIDE x SIDE places. A prediction for each of them would be slow for some methods, and most places are amid others of their class:
 * first one is asked in each block of BLOCK x BLOCK, then all in blocks beside one of another class, or with a point in it. */
enum { BLOCK = 4, BLOCKS = SIDE / BLOCK };

typedef struct region {
    double low[2], high[2];         /* prepared units */
    double *x;                      /* SIDE^2 x 2: the places that are asked for */
    double *values;                 /* SIDE^2 x ld */
    int place[SIDE * SIDE];         /* of these */
    int shade[SIDE * SIDE];         /* of all */
    char detailed[BLOCKS * BLOCKS]; /* is every place of the block asked for? */
} region;

static void find_frame(const cli_class_picture *picture, region *r)
{
    for (int f = 0; f < 2; f++) {
        r->low[f] = r->high[f] = NAN;
        cli_picture_extend(picture->n, picture->x + f, 2, &r->low[f], &r->high[f]);
        const double beyond = r->high[f] > r->low[f] ? 0.06 * (r->high[f] - r->low[f]) : 1;
        r->low[f] -= beyond;
        r->high[f] += beyond;
    }
}

/* Inside of one class is 1, outside 0. */
static int64_t shade(const gram_columns *columns, double label)
{
    return columns->classes->count > 0 ? (int64_t)label : label > 0;
}

static void ask(region *r, int i, int j, int64_t *count)
{
    r->x[2 * *count] = r->low[0] + (r->high[0] - r->low[0]) * (i + 0.5) / SIDE;
    r->x[2 * *count + 1] = r->low[1] + (r->high[1] - r->low[1]) * (j + 0.5) / SIDE;
    r->place[(*count)++] = i * SIDE + j;
}

static gram_status answer(cli_session *session, const gram_predictor *predictor, int64_t count, region *r)
{
    const gram_columns *columns = gram_predictor_columns(predictor);
    const gram_status status =
        count > 0 ? gram_predictor_evaluate(session->context, predictor, count, r->x, NULL, r->values, columns->ld)
                  : GRAM_OK;
    for (int64_t k = 0; status >= 0 && k < count; k++)
        r->shade[r->place[k]] = (int)(shade(columns, r->values[k * columns->ld]) % COLOURS);
    return status;
}

/* The place of a block that speaks for it. */
static int speaker(int a, int b)
{
    return (a * BLOCK + BLOCK / 2) * SIDE + b * BLOCK + BLOCK / 2;
}

static int block_of(const region *r, int f, double x)
{
    const double at = (x - r->low[f]) / (r->high[f] - r->low[f]) * BLOCKS;
    return at < 0 ? 0 : at >= BLOCKS ? BLOCKS - 1 : (int)at;
}

static void choose_detailed(const cli_class_picture *picture, region *r)
{
    for (int a = 0; a < BLOCKS; a++)
        for (int b = 0; b < BLOCKS; b++)
            for (int k = 0; k < 9; k++) {
                const int i = a + k / 3 - 1, j = b + k % 3 - 1;
                if (i < 0 || j < 0 || i >= BLOCKS || j >= BLOCKS) continue;
                if (r->shade[speaker(i, j)] != r->shade[speaker(a, b)]) r->detailed[a * BLOCKS + b] = 1;
            }
    for (int64_t i = 0; i < picture->n; i++)
        r->detailed[block_of(r, 0, picture->x[2 * i]) * BLOCKS + block_of(r, 1, picture->x[2 * i + 1])] = 1;
}

static gram_status evaluate_frame(cli_session *session, const cli_class_picture *picture,
                                  const gram_predictor *predictor, region *r)
{
    int64_t count = 0;
    for (int a = 0; a < BLOCKS; a++)
        for (int b = 0; b < BLOCKS; b++) ask(r, speaker(a, b) / SIDE, speaker(a, b) % SIDE, &count);
    const gram_status status = answer(session, predictor, count, r);
    if (status < 0) return status;
    choose_detailed(picture, r);
    count = 0;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            const int a = i / BLOCK, b = j / BLOCK;
            if (r->detailed[a * BLOCKS + b])
                ask(r, i, j, &count);
            else
                r->shade[i * SIDE + j] = r->shade[speaker(a, b)];
        }
    return answer(session, predictor, count, r);
}

/* A matrix, whose columns go along x. */
static void add_frame(gram_string *script, const region *r)
{
    gram_string_add(script, "$frame << END_OF_FRAME\n");
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++)
            gram_string_add(script, "%d%c", r->shade[i * SIDE + j], i + 1 < SIDE ? ' ' : '\n');
    gram_string_add(script, "END_OF_FRAME\n");
}

/* The value at place number `column` of the matrix, for gnuplot: low + (number + 1/2) (high - low)/SIDE. */
static void add_position(gram_string *script, const cli_class_picture *picture, const region *r, int f)
{
    const double low = own_value(picture, f, r->low[f]), high = own_value(picture, f, r->high[f]);
    gram_string_add(script, "((");
    cli_picture_number(script, low, "");
    gram_string_add(script, ") + ($%d + 0.5) * (", f + 1);
    cli_picture_number(script, (high - low) / SIDE, "))");
}

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
                        const region *r)
{
    const int64_t classes = picture->labels ? columns->classes->count : 1;
    add_frame(script, r);
    for (int64_t c = 0; c < classes; c++) add_points(script, picture, c);
    const int64_t support = add_support(script, picture);
    cli_picture_label(script, "x", "", features_of(picture)[0].name);
    cli_picture_label(script, "y", "", features_of(picture)[1].name);
    gram_string_add(script, "set palette defined (");
    for (int c = 0; c < COLOURS; c++) gram_string_add(script, "%s%d '%s'", c > 0 ? ", " : "", c, PALE[c]);
    gram_string_add(script, ")\nset cbrange [0:%d]\nunset colorbox\nunset grid\n", COLOURS - 1);
    cli_picture_range(script, "x", own_value(picture, 0, r->low[0]), own_value(picture, 0, r->high[0]));
    cli_picture_range(script, "y", own_value(picture, 1, r->low[1]), own_value(picture, 1, r->high[1]));
    gram_string_add(script, "plot $frame matrix using ");
    add_position(script, picture, r, 0);
    gram_string_add(script, ":");
    add_position(script, picture, r, 1);
    gram_string_add(script, ":3 with image notitle");
    for (int64_t c = 0; c < classes; c++) {
        gram_string_add(script, ", $class%" PRId64 " with points pt 7 ps %g lc rgb '%s' title ", c,
                        cli_picture_point_size(picture->n) * 1.2, STRONG[c % COLOURS]);
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
    region *r = calloc(1, sizeof *r);
    double *x = calloc((size_t)SIDE * SIDE * 2, sizeof *x);
    double *values = calloc((size_t)SIDE * SIDE * (size_t)columns->ld, sizeof *values);
    int code = r && x && values ? CLI_DONE : cli_no_memory();
    char *kernel = cli_kernel_text(gram_function_kernel(gram_model_function(picture->model)));
    if (code == CLI_DONE) {
        r->x = x;
        r->values = values;
        find_frame(picture, r);
        const gram_status status = evaluate_frame(session, picture, predictor, r);
        if (status < 0) code = cli_session_fail(session, status, 0, NULL);
    }
    if (code == CLI_DONE) {
        cli_picture_look(&script);
        cli_plot_title(&script, kernel ? kernel : "", picture->file);
        add_regions(&script, picture, columns, r);
        code = cli_plot(session, path, 720, 640, &script);
    }
    free(kernel);
    free(r);
    free(x);
    free(values);
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
