#include "cli/plot/fit_picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/gnuplot.h"
#include "cli/plot/picture_parts.h"

enum {
    GRID = 600,     /* points of a curve */
    MOST_BARS = 12, /* features in the panel of relevances */
    SAMPLE_STREAM = 0x706C6F74
};

/* ---- the sample ---- */

int cli_sample_begin(cli_session *session, cli_sample *sample)
{
    *sample = (cli_sample){.random = {session->common->seed, SAMPLE_STREAM}};
    sample->x = calloc((size_t)3 * CLI_PICTURE_POINTS, sizeof *sample->x);
    if (!sample->x) return cli_no_memory();
    sample->y = sample->x + CLI_PICTURE_POINTS;
    sample->f = sample->y + CLI_PICTURE_POINTS;
    return CLI_DONE;
}

void cli_sample_free(cli_sample *sample)
{
    free(sample->x);
    *sample = (cli_sample){0};
}

void cli_sample_add(cli_sample *sample, double x, double y, double f)
{
    if (!isfinite(x) || !isfinite(y) || !isfinite(f)) return;
    const int64_t place = gram_random_reservoir(sample->random, sample->seen++, CLI_PICTURE_POINTS);
    if (place < 0) return;
    if (place == sample->count) sample->count++;
    sample->x[place] = x;
    sample->y[place] = y;
    sample->f[place] = f;
}

/* ---- one feature: data and curve ---- */

typedef struct curve {
    double x[GRID], f[GRID];
    int banded; /* the model knows intervals, or several quantiles */
    double lower[GRID], upper[GRID];
    char band[64]; /* what the band is */
} curve;

/* Of several quantiles the first and the last make the band, the middle one the curve. */
static void keep_values(const gram_columns *columns, const double *values, curve *c)
{
    const int64_t levels = columns->level_count;
    const int64_t lower = levels > 1 ? 0 : columns->lower, upper = levels > 1 ? levels - 1 : columns->upper;
    c->banded = lower >= 0;
    (void)snprintf(c->band, sizeof c->band, "95 %% of new observations");
    if (levels > 1)
        (void)snprintf(c->band, sizeof c->band, "quantiles %g to %g", columns->levels[0], columns->levels[levels - 1]);
    for (int i = 0; i < GRID; i++) {
        const double *row = values + i * columns->ld;
        c->f[i] = row[levels / 2];
        c->lower[i] = c->banded ? row[lower] : NAN;
        c->upper[i] = c->banded ? row[upper] : NAN;
    }
}

/* The first output at evenly spaced values of the feature, in its own units. */
static gram_status evaluate_curve(cli_session *session, const gram_preparation *preparation,
                                  const gram_predictor *predictor, double from, double to, curve *c)
{
    const gram_columns *columns = gram_predictor_columns(predictor);
    double scaled[GRID];
    double *values = calloc((size_t)(GRID * columns->ld), sizeof *values);
    if (!values) return GRAM_ERROR_MEMORY;
    cli_picture_grid(GRID, from, to, c->x);
    gram_preparation_scale(preparation, GRID, c->x, 1, scaled);
    const gram_status status =
        gram_predictor_evaluate(session->context, predictor, GRID, scaled, NULL, values, columns->ld);
    if (status >= 0) keep_values(columns, values, c);
    free(values);
    return status;
}

/* A bit beyond the data on both sides, if the kernel is defined there. */
static int find_curve(cli_session *session, const cli_picture *picture, curve *c)
{
    const gram_preparation *preparation = gram_model_preparation(picture->model);
    double least = NAN, most = NAN;
    gram_predictor *predictor = NULL;
    cli_picture_extend(picture->sample->count, picture->sample->x, 1, &least, &most);
    const double beyond = most > least ? 0.05 * (most - least) : 1;
    const int code =
        cli_picture_predictor(session, picture->model, NULL, cli_picture_is_posterior(picture->model), 0, &predictor);
    if (code != CLI_DONE) return code;
    gram_status status = evaluate_curve(session, preparation, predictor, least - beyond, most + beyond, c);
    if (status == GRAM_ERROR_DOMAIN) status = evaluate_curve(session, preparation, predictor, least, most, c);
    gram_predictor_destroy(predictor);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

static void add_curve(gram_string *script, const cli_picture *picture, const curve *c, const char *target)
{
    const gram_column *feature = gram_preparation_describe(gram_model_preparation(picture->model))->features;
    const cli_sample *sample = picture->sample;
    cli_picture_block(script, "data", sample->count, 2, (const double *[]){sample->x, sample->y}, NULL);
    cli_picture_block(script, "curve", GRID, 2, (const double *[]){c->x, c->f}, NULL);
    if (c->banded) cli_picture_block(script, "band", GRID, 3, (const double *[]){c->x, c->lower, c->upper}, NULL);
    cli_picture_label(script, "x", "", feature->name);
    cli_picture_label(script, "y", "", target);
    cli_picture_range(script, "x", c->x[0], c->x[GRID - 1]);
    gram_string_add(script, "plot ");
    if (c->banded)
        gram_string_add(script, "$band with filledcurves fc rgb '" CLI_BAND_COLOUR "' title '%s', ", c->band);
    gram_string_add(script,
                    "$data with points pt 7 ps %g lc rgb '" CLI_POINT_COLOUR "' title 'data', "
                    "$curve with lines lw 2.5 lc rgb '" CLI_CURVE_COLOUR "' title '%s'\n",
                    cli_picture_point_size(sample->count) * 1.4, c->banded ? "middle" : "fit");
}

/* ---- several features: panels ---- */

static void add_agreement(gram_string *script, const cli_picture *picture, const char *target)
{
    const cli_sample *sample = picture->sample;
    double least = NAN, most = NAN;
    cli_picture_extend(sample->count, sample->y, 1, &least, &most);
    cli_picture_extend(sample->count, sample->f, 1, &least, &most);
    const double beyond = most > least ? 0.04 * (most - least) : 1;
    cli_picture_block(script, "pairs", sample->count, 2, (const double *[]){sample->f, sample->y}, NULL);
    cli_picture_label(script, "x", picture->predicted, "");
    cli_picture_label(script, "y", "observed", target);
    cli_picture_range(script, "x", least - beyond, most + beyond);
    cli_picture_range(script, "y", least - beyond, most + beyond);
    gram_string_add(script,
                    "unset key\n"
                    "plot $pairs with points pt 7 ps %g lc rgb '" CLI_POINT_COLOUR "', "
                    "x with lines lw 1.5 dt 2 lc rgb '" CLI_CURVE_COLOUR "'\n",
                    cli_picture_point_size(sample->count));
}

static void add_residuals(gram_string *script, const cli_picture *picture)
{
    cli_picture_label(script, "y", "observed - predicted", "");
    gram_string_add(script,
                    "set autoscale y\n"
                    "plot $pairs using 1:($2-$1) with points pt 7 ps %g lc rgb '" CLI_POINT_COLOUR "', "
                    "0 with lines lw 1.5 dt 2 lc rgb '" CLI_CURVE_COLOUR "'\n",
                    cli_picture_point_size(picture->sample->count));
}

static int64_t bar_count(const cli_picture *picture)
{
    int64_t count;
    (void)gram_description_relevance(picture->description, &count);
    return count < MOST_BARS ? count : MOST_BARS;
}

static void add_bars(gram_string *script, const cli_picture *picture)
{
    int64_t all;
    const gram_relevance *rows = gram_description_relevance(picture->description, &all);
    const int64_t count = bar_count(picture);
    char number[GRAM_NUMBER_SIZE];
    gram_string_add(script, "set ytics (");
    for (int64_t i = 0; i < count; i++) cli_plot_tic(script, rows[i].name, i);
    gram_string_add(script, ") scale 0\n$bars << END_OF_BARS\n");
    for (int64_t i = 0; i < count; i++)
        gram_string_add(script, "%s %" PRId64 "\n", gram_number_format(rows[i].value, number), i);
    gram_string_add(script,
                    "END_OF_BARS\nset grid xtics noytics\nset xrange [0:*]\nset yrange [%g:-0.6]\nunset ylabel\n"
                    "set xlabel 'relevance, 1/ell'\nset style fill solid 0.75 noborder\n"
                    "plot $bars using (0.5*$1):2:(0.5*$1):(0.35) with boxxyerror lc rgb '#0060ad'\n",
                    (double)count - 0.4);
}

/* ---- what was learnt when ---- */

static void add_learning(gram_string *script, const gram_learning_curve *left)
{
    const int64_t ld[] = {left->columns, left->columns};
    cli_picture_label(script, "x", "time", "");
    cli_picture_label(script, "y", "share of the initial error that is left", "");
    cli_picture_range(script, "x", left->data[0], left->data[(left->rows - 1) * left->columns]);
    gram_string_add(script, "set logscale x\nset format x '%%.0e'\nset yrange [0:1.02]\nset key bottom left\n");
    for (int64_t c = 1; c < left->columns; c++) {
        char name[32];
        (void)snprintf(name, sizeof name, "left%" PRId64, c);
        cli_picture_block(script, name, left->rows, 2, (const double *[]){left->data, left->data + c}, ld);
    }
    if (isfinite(left->stop) && left->stop > 0) {
        gram_string_add(script, "set arrow from first ");
        cli_picture_number(script, left->stop, ", graph 0 to first ");
        cli_picture_number(script, left->stop, ", graph 1 nohead dt 2 lc rgb '" CLI_CURVE_COLOUR "'\n");
    }
    gram_string_add(script, "plot ");
    for (int64_t c = 2; c < left->columns; c++)
        gram_string_add(script,
                        "$left%" PRId64 " with lines lw 1.3 lc rgb '#%02x%02xad' title 'direction %" PRId64 "', ", c,
                        (unsigned)(25 * (c - 2)), (unsigned)(96 + 18 * (c - 2)), (int64_t)1 << (c - 2));
    gram_string_add(script, "$left1 with lines lw 2.5 lc rgb '" CLI_CURVE_COLOUR "' title 'training error'\n"
                            "unset logscale x\nset format x\nset autoscale\nunset arrow\n");
}

static void add_panels(gram_string *script, const cli_picture *picture, const char *target)
{
    gram_learning_curve left;
    const int learning = gram_model_learning_curve(picture->model, &left);
    const int panels = 2 + (bar_count(picture) > 0) + learning;
    gram_string_add(script, "set multiplot layout 1,%d\n", panels);
    add_agreement(script, picture, target);
    gram_string_add(script, "unset title\n");
    add_residuals(script, picture);
    if (learning) add_learning(script, &left);
    if (bar_count(picture) > 0) add_bars(script, picture);
    gram_string_add(script, "unset multiplot\n");
}

/* ---- drawing ---- */

int cli_picture_draw(cli_session *session, const char *path, const cli_picture *picture)
{
    gram_string script = {0};
    curve c;
    const gram_preparation_description *known = gram_preparation_describe(gram_model_preparation(picture->model));
    const char *target = known->target_count > 0 ? known->targets[0].name : "";
    const int one = cli_picture_dimension(picture->model) == 1;
    const int found = one ? find_curve(session, picture, &c) : CLI_DONE;
    if (found != CLI_DONE) return found;
    cli_picture_look(&script);
    gram_learning_curve learnt;
    const int learning = gram_model_learning_curve(picture->model, &learnt);
    if (one) {
        if (learning) gram_string_add(&script, "set multiplot layout 1,2\n");
        cli_plot_title(&script, gram_function_kernel(gram_model_function(picture->model)), picture->file);
        add_curve(&script, picture, &c, target);
        if (learning) {
            gram_string_add(&script, "unset title\n");
            add_learning(&script, &learnt);
            gram_string_add(&script, "unset multiplot\n");
        }
    } else {
        add_panels(&script, picture, target);
    }
    const int wide = (one ? 800 : bar_count(picture) > 0 ? 1350 : 900) + (learning ? one ? 500 : 450 : 0);
    const int code = cli_plot(session, path, wide, one ? 500 : 420, &script);
    gram_string_free(&script);
    return code;
}
