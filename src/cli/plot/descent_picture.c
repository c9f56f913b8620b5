#include "cli/plot/descent_picture.h"

#include "cli/plot/gnuplot.h"
#include "cli/plot/picture_parts.h"

int cli_is_descent(const gram_model *model)
{
    return gram_model_array(model, "ntk_losses", NULL, NULL) != NULL;
}

/* Step 0 is drawn at 1: the axis is logarithmic. */
static void add_losses(gram_string *script, const gram_model *model)
{
    int64_t count, rows;
    const double *columns[] = {
        gram_model_array(model, "seen_steps", &rows, &count), gram_model_array(model, "losses", NULL, NULL),
        gram_model_array(model, "ntk_losses", NULL, NULL), gram_model_array(model, "drifts", NULL, NULL)};
    cli_picture_block(script, "seen", count, 4, columns, NULL);
    gram_string_add(script,
                    "set logscale xy\nset format '%%h'\nset xlabel 'step + 1'\nset ylabel 'loss'\nset key bottom left\n"
                    "plot $seen using ($1+1):2 with lines lw 2 lc '" CLI_CURVE_COLOUR "' title 'network', "
                    "$seen using ($1+1):3 with lines lw 2 dt 2 lc '#1f6fb4' title 'its tangent kernel predicts'\n"
                    "unset logscale y\nset yrange [0:*]\nset ylabel 'drift of the tangent kernel'\n"
                    "plot $seen using ($1+1):4 with lines lw 2 lc '#555555' notitle\n"
                    "unset logscale x\nset yrange [*:*]\n");
}

/* Bands of two deviations. */
static void add_functions(gram_string *script, const gram_model *model, const gram_prepared *data)
{
    const gram_preparation *preparation = gram_model_preparation(model);
    const gram_preparation_description *known = gram_preparation_describe(preparation);
    int64_t rows, ld;
    const double *f = gram_model_array(model, "functions", &rows, &ld);
    if (!f || ld != 6) return;
    const double *columns[] = {f, f + 1, f + 2, f + 3, f + 4, f + 5};
    cli_picture_block(script, "functions", rows, 6, columns, (const int64_t[]){ld, ld, ld, ld, ld, ld});
    gram_string_add(script, "$rows << EOD\n");
    for (int64_t i = 0; i < data->n; i++) {
        cli_picture_number(script, gram_preparation_unit(preparation, 0, data->x[i]), " ");
        cli_picture_number(script, data->y[i], "\n");
    }
    gram_string_add(script, "EOD\nset key top left\n");
    cli_picture_label(script, "x", "", known->features[0].name);
    cli_picture_label(script, "y", "", known->targets[0].name);
    gram_string_add(script,
                    "plot $functions using 1:($5-2*$6):($5+2*$6) with filledcurves lc '#d6e4f0' title 'infinite width, "
                    "2 deviations', "
                    "$functions using 1:($2-2*$3):($2+2*$3) with filledcurves lc '#80" /* half transparent */
                    "f6d5c4' notitle, "
                    "$functions using 1:5 with lines lw 1 lc '#1f6fb4' title 'infinite width', "
                    "$functions using 1:4 with lines lw 2 dt 2 lc '#1f6fb4' title 'its tangent kernel predicts', "
                    "$functions using 1:2 with lines lw 2 lc '" CLI_CURVE_COLOUR "' title 'network', "
                    "$rows using 1:2 with points pt 7 ps 0.5 lc '#333333' notitle\n");
}

int cli_descent_picture_draw(cli_session *session, const char *path, const gram_model *model, const gram_prepared *data)
{
    gram_string script = {0};
    const int functions = gram_model_array(model, "functions", NULL, NULL) != NULL;
    cli_picture_look(&script);
    gram_string_add(&script, "set multiplot layout 1,%d\n", functions ? 3 : 2);
    add_losses(&script, model);
    add_functions(&script, model, data);
    gram_string_add(&script, "unset multiplot\n");
    const int code = cli_plot(session, path, functions ? 1350 : 900, 420, &script);
    gram_string_free(&script);
    return code;
}
