#include "cli/plot/test_picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/gnuplot.h"
#include "cli/plot/picture_parts.h"
#include "cli/report/report_rows.h"

static const char FIRST_COLOUR[] = "#1f6fb4", SECOND_COLOUR[] = "#d1495b";

enum { LINE_STEPS = 400, GRID = 121, MOST_POINTS = 1500 };

static void add_title(gram_string *script, const cli_test_picture *p)
{
    gram_string title = {0};
    char number[CLI_SHORT_SIZE], kernel[61];
    (void)gram_kernel_print(p->kernel, kernel, sizeof kernel);
    gram_string_add(&title, "%s and %s: p = %s, %s", cli_plot_file(p->a->file), cli_plot_file(p->b->file),
                    cli_short_number(p->p_value, number), kernel);
    gram_string_add(script, "set title ");
    cli_plot_quote(script, title.data ? title.data : "");
    gram_string_add(script, " font ',10'\n");
    gram_string_free(&title);
}

/* The range of column l over both samples, and a margin. */
static void range_of(const cli_test_picture *p, int64_t l, double *low, double *high)
{
    *low = *high = NAN;
    cli_picture_extend(p->a->data->n, p->a->data->x + l, p->a->data->d, low, high);
    cli_picture_extend(p->b->data->n, p->b->data->x + l, p->b->data->d, low, high);
    const double margin = *high > *low ? 0.08 * (*high - *low) : 1;
    *low -= margin;
    *high += margin;
}

/* The witness at `count` points of d columns. */
static int witness_at(cli_session *session, const cli_test_picture *p, int64_t count, const double *at, double *out)
{
    gram_function *witness = NULL;
    gram_points *points = NULL;
    gram_status status =
        gram_mmd_witness(session->context, p->kernel, p->a->groups[0].points, p->b->groups[0].points, &witness);
    if (status >= 0)
        status = gram_points_create_f64(session->context, count, p->a->data->d, at, p->a->data->d, &points);
    if (status >= 0) status = gram_function_evaluate(session->context, witness, points, out, 1);
    gram_points_release(points);
    gram_function_release(witness);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

/* ---- one column ---- */

static void add_lines(gram_string *script, const cli_test_picture *p, double *at, const double *witness)
{
    const double unit = gram_preparation_describe(p->a->preparation)->features[0].deviation;
    double first[LINE_STEPS], second[LINE_STEPS];
    gram_density_estimate(p->a->data->n, p->a->data->x, LINE_STEPS, at, first);
    gram_density_estimate(p->b->data->n, p->b->data->x, LINE_STEPS, at, second);
    for (int i = 0; i < LINE_STEPS; i++) {
        at[i] = gram_preparation_unit(p->a->preparation, 0, at[i]);
        first[i] /= unit;
        second[i] /= unit;
    }
    cli_picture_block(script, "lines", LINE_STEPS, 4, (const double *[]){at, first, second, witness}, NULL);
}

static void add_panels(gram_string *script, const cli_test_picture *p)
{
    char name[CLI_COLUMN_NAME_SIZE];
    gram_string_add(script,
                    "set multiplot\nset lmargin 10\nset rmargin 3\nset grid lc '#dddddd'\nset border 3 lc '#555555'\n"
                    "set tics nomirror\nset format y '%%g'\n"
                    "set tmargin at screen 0.91\nset bmargin at screen 0.44\nset ylabel 'density'\nset format x ''\n"
                    "set yrange [0:*]\nset key top right\n");
    add_title(script, p);
    gram_string_add(script,
                    "plot $lines using 1:2 with filledcurves y1=0 fc '%s' fs transparent solid 0.25 notitle, "
                    "'' using 1:3 with filledcurves y1=0 fc '%s' fs transparent solid 0.25 notitle, "
                    "'' using 1:2 with lines lw 2 lc '%s' title ",
                    FIRST_COLOUR, SECOND_COLOUR, FIRST_COLOUR);
    cli_plot_quote(script, cli_plot_file(p->a->file));
    gram_string_add(script, ", '' using 1:3 with lines lw 2 lc '%s' title ", SECOND_COLOUR);
    cli_plot_quote(script, cli_plot_file(p->b->file));
    gram_string_add(script,
                    "\nunset title\nset tmargin at screen 0.40\nset bmargin at screen 0.13\nset format x '%%g'\n"
                    "set yrange [*:*]\nset ytics autofreq\nset ylabel 'witness'\n");
    cli_picture_label(script, "x", "", cli_rows_name(p->a, 0, name));
    gram_string_add(script,
                    "set xzeroaxis lc '#555555'\n"
                    "plot $lines using 1:($4>0?$4:0) with filledcurves y1=0 fc '%s' fs transparent solid 0.35 notitle, "
                    "'' using 1:($4<0?$4:0) with filledcurves y1=0 fc '%s' fs transparent solid 0.35 notitle, "
                    "'' using 1:4 with lines lw 2 lc '#333333' notitle\nunset multiplot\n",
                    FIRST_COLOUR, SECOND_COLOUR);
}

static int draw_line(cli_session *session, const cli_test_picture *p, gram_string *script)
{
    double at[LINE_STEPS], witness[LINE_STEPS], low, high;
    range_of(p, 0, &low, &high);
    cli_picture_grid(LINE_STEPS, low, high, at);
    const int code = witness_at(session, p, LINE_STEPS, at, witness);
    if (code != CLI_DONE) return code;
    add_lines(script, p, at, witness);
    add_panels(script, p);
    return CLI_DONE;
}

/* ---- two columns ---- */

static void add_grid(gram_string *script, const cli_test_picture *p, const double *at, const double *witness)
{
    double most = 0;
    gram_string_add(script, "$grid << EOD\n");
    for (int i = 0; i < GRID * GRID; i++) {
        cli_picture_number(script, gram_preparation_unit(p->a->preparation, 0, at[2 * i]), " ");
        cli_picture_number(script, gram_preparation_unit(p->a->preparation, 1, at[2 * i + 1]), " ");
        cli_picture_number(script, witness[i], "\n");
        most = fmax(most, fabs(witness[i]));
    }
    gram_string_add(script, "EOD\n");
    cli_picture_range(script, "cb", most > 0 ? -most : -1, most > 0 ? most : 1);
}

static void add_map(gram_string *script, const cli_test_picture *p)
{
    char name[CLI_COLUMN_NAME_SIZE];
    add_title(script, p);
    gram_string_add(script,
                    "set palette defined (-1 '#d1495b', -0.5 '#eeb4bb', 0 '#ffffff', 0.5 '#a9c9e4', 1 '#1f6fb4')\n"
                    "set tics nomirror out\nset border 3 lc '#555555'\nset cblabel 'witness'\n"
                    "set lmargin at screen 0.11\nset rmargin at screen 0.8\nset bmargin at screen 0.15\n"
                    "set tmargin at screen 0.83\nset key above center horizontal\n"
                    "set autoscale xfix\nset autoscale yfix\n");
    cli_picture_label(script, "x", "", cli_rows_name(p->a, 0, name));
    cli_picture_label(script, "y", "", cli_rows_name(p->a, 1, name));
    gram_string_add(script, "plot $grid using 1:2:3 with image notitle, "
                            "$first using 1:2 with points pt 7 ps 0.4 lc '#0f4c81' title ");
    cli_plot_quote(script, cli_plot_file(p->a->file));
    gram_string_add(script, ", $second using 1:2 with points pt 7 ps 0.4 lc '#9e2a3c' title ");
    cli_plot_quote(script, cli_plot_file(p->b->file));
    gram_string_add(script, "\n");
}

static int draw_plane(cli_session *session, const cli_test_picture *p, gram_string *script)
{
    double low[2], high[2];
    double *at = calloc((size_t)(3 * GRID * GRID), sizeof *at),
           *witness = at ? at + (ptrdiff_t)(2 * GRID * GRID) : NULL;
    if (!at) return cli_no_memory();
    for (int l = 0; l < 2; l++) range_of(p, l, &low[l], &high[l]);
    for (int i = 0; i < GRID * GRID; i++) {
        at[2 * i] = low[0] + (high[0] - low[0]) * (i % GRID) / (GRID - 1);
        at[2 * i + 1] = low[1] + (high[1] - low[1]) * (double)(i / GRID) / (GRID - 1);
    }
    const int code = witness_at(session, p, GRID * GRID, at, witness);
    if (code == CLI_DONE) {
        add_grid(script, p, at, witness);
        cli_picture_points(script, "first", p->a->preparation, p->a->data->n, p->a->data->x, 2, MOST_POINTS, NULL, 0);
        cli_picture_points(script, "second", p->b->preparation, p->b->data->n, p->b->data->x, 2, MOST_POINTS, NULL, 0);
        add_map(script, p);
    }
    free(at);
    return code;
}

/* ---- many columns ---- */

static void draw_columns(const cli_test_picture *p, gram_string *script)
{
    enum { MOST = 12 };
    char name[CLI_COLUMN_NAME_SIZE];
    const int64_t shown = p->a->data->d < MOST ? p->a->data->d : MOST;
    gram_string_add(script, "$bars << EOD\n");
    for (int64_t i = 0; i < shown; i++) {
        gram_string_add(script, "%" PRId64 " ", i);
        cli_picture_number(script, p->score[p->order[i]], "\n");
    }
    gram_string_add(script, "EOD\nset ytics (");
    for (int64_t i = 0; i < shown; i++) cli_plot_tic(script, cli_rows_name(p->a, p->order[i], name), i);
    gram_string_add(script, ") nomirror\n");
    add_title(script, p);
    gram_string_add(script,
                    "set yrange [%" PRId64
                    ".5:-0.5]\nset border 3 lc '#555555'\nset xtics nomirror\nset grid x lc '#dddddd'\n"
                    "set xlabel 'MMD of the column alone, in standard deviations above chance'\n"
                    "set key bottom right\nset style fill solid 0.85\n"
                    "set arrow from 5, graph 0 to 5, graph 1 nohead dt 2 lc '#555555'\n"
                    "plot $bars using ($2/2):1:($2/2):(0.35) with boxxyerror lc '%s' notitle, "
                    "NaN with lines dt 2 lc '#555555' title 'unlikely to be chance from here on'\n",
                    shown - 1, FIRST_COLOUR);
}

static int finish(cli_session *session, const char *path, gram_string *script, int code)
{
    if (code == CLI_DONE) code = cli_plot(session, path, 800, 500, script);
    gram_string_free(script);
    return code;
}

int cli_test_draw_two_sample(cli_session *session, const char *path, const cli_test_picture *picture)
{
    gram_string script = {0};
    int code = CLI_DONE;
    if (picture->a->data->d == 1)
        code = draw_line(session, picture, &script);
    else if (picture->a->data->d == 2)
        code = draw_plane(session, picture, &script);
    else
        draw_columns(picture, &script);
    return finish(session, path, &script, code);
}

int cli_test_draw_scatter(cli_session *session, const char *path, const cli_test_scatter *scatter)
{
    gram_string script = {0};
    const int64_t step = (scatter->n + 2 * MOST_POINTS - 1) / (2 * (int64_t)MOST_POINTS);
    cli_picture_block(&script, "rows", (scatter->n + step - 1) / step, 2, (const double *[]){scatter->x, scatter->y},
                      (const int64_t[]){step, step});
    gram_string_add(&script, "set title ");
    cli_plot_quote(&script, scatter->title);
    gram_string_add(&script, " font ',10'\nset border 3 lc '#555555'\nset tics nomirror\nset grid lc '#dddddd'\n");
    cli_picture_label(&script, "x", "", scatter->x_name);
    cli_picture_label(&script, "y", "", scatter->y_name);
    gram_string_add(&script,
                    "set offsets graph 0.03, graph 0.03, graph 0.03, graph 0.03\n"
                    "plot $rows using 1:2 with points pt 7 ps 0.45 lc '%s' notitle\n",
                    FIRST_COLOUR);
    return finish(session, path, &script, CLI_DONE);
}
