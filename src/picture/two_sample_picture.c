/* Two samples: densities and witness over one column, points over the witness in two, else how much each column differs. */
#include <gram/embedding.h>
#include <gram/mmd.h>

#include <inttypes.h>
#include <math.h>

#include "base/text/number.h"
#include "picture/picture.h"
#include "picture/script_parts.h"

static const char FIRST_COLOUR[] = "#1f6fb4", SECOND_COLOUR[] = "#d1495b";

enum { LINE_STEPS = 400, GRID = 121, MOST_POINTS = 1500, MOST_BARS = 12, NAME_SIZE = 256 };

typedef struct pair {
    const gram_sample_report *a, *b;
    gram_kernel *kernel;
    double p_value;
    const double *score;
    const int64_t *order;
} pair;

static void add_title(gram_string *script, const pair *p)
{
    gram_string title = {0};
    char number[GRAM_NUMBER_SIZE];
    gram_string_add(&title, "%s and %s: p = %s, ", gram_script_file(p->a->file), gram_script_file(p->b->file),
                    gram_number_short(p->p_value, 6, number));
    gram_script_kernel(&title, p->kernel, 60);
    gram_string_add(script, "set title ");
    gram_script_quote(script, title.data ? title.data : "");
    gram_string_add(script, " font ',10'\n");
    gram_string_free(&title);
}

static void add_column_label(gram_string *script, const char *axis, const pair *p, int64_t column)
{
    char name[NAME_SIZE];
    (void)gram_preparation_column_name(p->a->preparation, column, name, sizeof name);
    gram_script_label(script, axis, "", name);
}

/* The range of column l over both samples, and a margin. */
static void range_of(const pair *p, int64_t l, double *low, double *high)
{
    *low = *high = NAN;
    gram_picture_extend(p->a->data->n, p->a->data->x + l, p->a->data->d, low, high);
    gram_picture_extend(p->b->data->n, p->b->data->x + l, p->b->data->d, low, high);
    const double margin = *high > *low ? 0.08 * (*high - *low) : 1;
    *low -= margin;
    *high += margin;
}

/* The witness at `count` points of d columns. */
static gram_status witness_at(gram_context *context, const pair *p, int64_t count, const double *at, double *out)
{
    gram_status status = GRAM_OK;
    gram_function *witness = NULL;
    gram_points *points = NULL;
    const int64_t d = p->a->data->d;
    TRY(gram_mmd_witness(context, p->kernel, p->a->groups[0].points, p->b->groups[0].points, &witness));
    TRY(gram_points_create_f64(context, count, d, at, d, &points));
    TRY(gram_function_evaluate(context, witness, points, out, 1));
done:
    gram_points_release(points);
    gram_function_release(witness);
    return status;
}

/* ---- one column ---- */

static void add_lines(gram_string *script, const pair *p, double *at, const double *witness)
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
    gram_script_block(script, "lines", LINE_STEPS, 4, (const double *[]){at, first, second, witness}, NULL);
}

static void plot_densities(gram_string *script, const pair *p)
{
    gram_string_add(script,
                    "plot $lines using 1:2 with filledcurves y1=0 fc '%s' fs transparent solid 0.25 notitle, "
                    "'' using 1:3 with filledcurves y1=0 fc '%s' fs transparent solid 0.25 notitle, "
                    "'' using 1:2 with lines lw 2 lc '%s' title ",
                    FIRST_COLOUR, SECOND_COLOUR, FIRST_COLOUR);
    gram_script_quote(script, gram_script_file(p->a->file));
    gram_string_add(script, ", '' using 1:3 with lines lw 2 lc '%s' title ", SECOND_COLOUR);
    gram_script_quote(script, gram_script_file(p->b->file));
}

static void add_panels(gram_string *script, const pair *p, const double *witness)
{
    double least = NAN, most = NAN;
    gram_picture_extend(LINE_STEPS, witness, 1, &least, &most);
    gram_string_add(script,
                    "set multiplot\nset lmargin 10\nset rmargin 3\nset grid lc '#dddddd'\nset border 3 lc '#555555'\n"
                    "set tics nomirror textcolor rgb 'black'\nset format y '%%g'\n"
                    "set tmargin at screen 0.91\nset bmargin at screen 0.44\nset ylabel 'density'\nset format x ''\n"
                    "set yrange [0:*]\nset key top right\n");
    add_title(script, p);
    plot_densities(script, p);
    gram_string_add(script,
                    "\nunset title\nset tmargin at screen 0.40\nset bmargin at screen 0.13\nset format x '%%g'\n"
                    "set yrange [*:*]\nset ylabel 'witness'\n");
    gram_script_few_tics(script, "y", least, most);
    add_column_label(script, "x", p, 0);
    gram_string_add(script,
                    "set xzeroaxis lc '#555555'\n"
                    "plot $lines using 1:($4>0?$4:0) with filledcurves y1=0 fc '%s' fs transparent solid 0.35 notitle, "
                    "'' using 1:($4<0?$4:0) with filledcurves y1=0 fc '%s' fs transparent solid 0.35 notitle, "
                    "'' using 1:4 with lines lw 2 lc '#333333' notitle\nunset multiplot\n",
                    FIRST_COLOUR, SECOND_COLOUR);
}

static gram_status draw_line(gram_context *context, const pair *p, gram_picture *picture)
{
    gram_status status = GRAM_OK;
    double at[LINE_STEPS], witness[LINE_STEPS], low, high;
    range_of(p, 0, &low, &high);
    gram_picture_grid(LINE_STEPS, low, high, at);
    TRY(witness_at(context, p, LINE_STEPS, at, witness));
    add_lines(&picture->script, p, at, witness);
    add_panels(&picture->script, p, witness);
done:
    return status;
}

/* ---- two columns ---- */

static void add_grid(gram_string *script, const pair *p, const double *at, const double *witness)
{
    double most = 0;
    gram_string_add(script, "$grid << EOD\n");
    for (int i = 0; i < GRID * GRID; i++) {
        for (int l = 0; l < 2; l++)
            gram_script_number(script, gram_preparation_unit(p->a->preparation, l, at[2 * i + l]), " ");
        gram_script_number(script, witness[i], "\n");
        most = fmax(most, fabs(witness[i]));
    }
    gram_string_add(script, "EOD\n");
    gram_script_range(script, "cb", most > 0 ? -most : -1, most > 0 ? most : 1);
}

static void add_samples(gram_string *script, const pair *p)
{
    gram_script_points(script, "first", p->a->preparation, p->a->data->n, p->a->data->x, 2, MOST_POINTS, NULL, 0);
    gram_script_points(script, "second", p->b->preparation, p->b->data->n, p->b->data->x, 2, MOST_POINTS, NULL, 0);
}

static void plot_plane(gram_string *script, const pair *p)
{
    add_title(script, p);
    gram_string_add(script,
                    "set palette defined (-1 '#d1495b', -0.5 '#eeb4bb', 0 '#ffffff', 0.5 '#a9c9e4', 1 '#1f6fb4')\n"
                    "set tics nomirror out textcolor rgb 'black'\nset border 3 lc '#555555'\nset cblabel 'witness'\n"
                    "set lmargin at screen 0.11\nset rmargin at screen 0.8\nset bmargin at screen 0.15\n"
                    "set tmargin at screen 0.83\nset key above center horizontal\n"
                    "set autoscale xfix\nset autoscale yfix\n");
    add_column_label(script, "x", p, 0);
    add_column_label(script, "y", p, 1);
    gram_string_add(script, "plot $grid using 1:2:3 with image notitle, "
                            "$first using 1:2 with points pt 7 ps 0.4 lc '#0f4c81' title ");
    gram_script_quote(script, gram_script_file(p->a->file));
    gram_string_add(script, ", $second using 1:2 with points pt 7 ps 0.4 lc '#9e2a3c' title ");
    gram_script_quote(script, gram_script_file(p->b->file));
    gram_string_add(script, "\n");
}

static gram_status draw_plane(gram_context *context, const pair *p, gram_picture *picture)
{
    gram_status status = GRAM_OK;
    double low[2], high[2], *at = NULL, *witness = NULL;
    TRY(gram_picture_take(context, picture, 2 * GRID * GRID, sizeof *at, (void **)&at));
    TRY(gram_picture_take(context, picture, GRID * GRID, sizeof *witness, (void **)&witness));
    for (int l = 0; l < 2; l++) range_of(p, l, &low[l], &high[l]);
    for (int i = 0; i < GRID * GRID; i++) {
        at[2 * i] = low[0] + (high[0] - low[0]) * (i % GRID) / (GRID - 1);
        at[2 * i + 1] = low[1] + (high[1] - low[1]) * (double)(i / GRID) / (GRID - 1);
    }
    TRY(witness_at(context, p, GRID * GRID, at, witness));
    add_grid(&picture->script, p, at, witness);
    add_samples(&picture->script, p);
    plot_plane(&picture->script, p);
done:
    return status;
}

/* ---- many columns ---- */

static void draw_columns(const pair *p, gram_string *script)
{
    char name[NAME_SIZE];
    const int64_t shown = p->a->data->d < MOST_BARS ? p->a->data->d : MOST_BARS;
    gram_string_add(script, "$bars << EOD\n");
    for (int64_t i = 0; i < shown; i++) {
        gram_string_add(script, "%" PRId64 " ", i);
        gram_script_number(script, p->score[p->order[i]], "\n");
    }
    gram_string_add(script, "EOD\nset ytics (");
    for (int64_t i = 0; i < shown; i++) {
        (void)gram_preparation_column_name(p->a->preparation, p->order[i], name, sizeof name);
        gram_script_tic(script, name, i);
    }
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

gram_status gram_picture_of_two_samples(gram_context *context, const gram_sample *first, const gram_sample *second,
                                        gram_kernel *kernel, double p_value, const double *score, const int64_t *order,
                                        gram_picture **picture)
{
    gram_status status = GRAM_OK;
    *picture = NULL;
    FAIL_IF(!first || !second || !kernel || !score || !order, context, GRAM_ERROR_ARGUMENT,
            "picture_of_two_samples: first, second, kernel, score or order is NULL");
    const pair p = {gram_sample_get_report(first), gram_sample_get_report(second), kernel, p_value, score, order};
    const int64_t d = p.a->data->d;
    FAIL_IF(p.b->data->d != d, context, GRAM_ERROR_DIMENSION,
            "picture_of_two_samples: the samples have %" PRId64 " and %" PRId64 " columns", d, p.b->data->d);
    TRY(gram_picture_begin(context, 800, 500, picture));
    if (d == 1)
        TRY(draw_line(context, &p, *picture));
    else if (d == 2)
        TRY(draw_plane(context, &p, *picture));
    else
        draw_columns(&p, &(*picture)->script);
done:
    return gram_picture_end(context, status, picture);
}
