/* What matters and how: bars of importance with one standard error, and a panel of partial dependence for each feature, with its band. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "picture/picture.h"
#include "picture/script_parts.h"

enum { MOST_BARS = 20, PANEL_WIDTH = 270, PANEL_HEIGHT = 230, BAR_HEIGHT = 24, ACROSS = 3 };

static int64_t count_bars(const gram_explanation *explanation)
{
    int64_t count;
    (void)gram_explanation_features(explanation, &count);
    return count < MOST_BARS ? count : MOST_BARS;
}

/* ---- importance ---- */

static void add_bars(gram_string *script, const gram_explanation *explanation)
{
    int64_t count, bars = count_bars(explanation);
    const gram_explained_feature *features = gram_explanation_features(explanation, &count);
    const int permuted = !isnan(gram_explanation_loss(explanation));
    gram_string_add(script, "$bars << END_OF_BARS\n");
    for (int64_t k = 0; k < bars; k++) {
        const double value = permuted ? features[k].value : features[k].share,
                     se = permuted ? features[k].se : features[k].share_se;
        gram_script_number(script, isnan(value) ? 0 : value, " ");
        gram_string_add(script, "%" PRId64 " ", k);
        gram_script_number(script, isnan(se) ? 0 : se, "\n");
    }
    gram_string_add(script, "END_OF_BARS\nset ytics (");
    for (int64_t k = 0; k < bars; k++) gram_script_tic(script, features[k].name, k);
    gram_string_add(
        script,
        ")\nset xlabel '%s'\nset yrange [%" PRId64 ":-1]\nset autoscale x\nset xrange [:]\nunset key\nset grid xtics\n"
        "plot $bars using (0):($2-0.35):(0):1:($2-0.35):($2+0.35) with boxxyerror fs solid 0.6 noborder lc rgb "
        "'#0060ad' notitle, $bars using 1:2:3 with xerrorbars pt 7 ps 0.3 lc rgb '#333333' notitle\n",
        permuted ? "rise of the loss when permuted" : "share of squared derivatives", bars);
}

/* ---- dependence ---- */

static void add_block(gram_string *script, const char *name, const gram_dependence *d, int64_t curve)
{
    const int64_t ld[] = {1, d->curves, d->curves, d->curves};
    gram_script_block(script, name, d->places, 4,
                      (const double *[]){d->at, d->lower + curve, d->upper + curve, d->value + curve}, ld);
}

static void add_curve(gram_string *script, const gram_dependence *d, const char *name, int64_t curve, int first)
{
    const char *colour = d->curves > 1 ? gram_script_colour(curve) : GRAM_CURVE_COLOUR;
    gram_string_add(script, first ? "plot " : ", ");
    if (d->levels)
        gram_string_add(script, "$%s using 1:4:2:3 with yerrorbars pt 7 ps 0.7 lc rgb '%s' title ", name, colour);
    else if (d->curves == 1)
        gram_string_add(script,
                        "$%s using 1:2:3 with filledcurves lc rgb '" GRAM_BAND_COLOUR
                        "' notitle, $%s using 1:4 with lines lw 2 lc rgb '%s' title ",
                        name, name, colour);
    else
        gram_string_add(script, "$%s using 1:4 with lines lw 2 lc rgb '%s' title ", name, colour);
    gram_script_quote(script, d->names[curve]);
}

/* A step of 1, 2 or 5 times a power of ten that makes at most five steps of the range: panels are small. */
static double step_of(double range)
{
    const double rough = range / 5, unit = pow(10, floor(log10(rough)));
    return unit * (rough <= unit ? 1 : rough <= 2 * unit ? 2 : rough <= 5 * unit ? 5 : 10);
}

static void add_panel(gram_string *script, const gram_dependence *d, int64_t index)
{
    char name[48];
    for (int64_t c = 0; c < d->curves; c++) {
        (void)snprintf(name, sizeof name, "panel%" PRId64 "_%" PRId64, index, c);
        add_block(script, name, d, c);
    }
    gram_string_add(script, "set autoscale y\nset ytics auto\n");
    if (d->levels) {
        gram_string_add(script, "set xtics rotate by -30 (");
        for (int64_t g = 0; g < d->places; g++) gram_script_tic(script, d->levels[g], g);
        gram_string_add(script, ")\n");
        gram_script_range(script, "x", -0.5, (double)d->places - 0.5);
    } else {
        const double least = d->at[0], most = d->at[d->places - 1];
        gram_string_add(script, "set autoscale x\nset xtics norotate auto\n");
        if (least < most) {
            gram_string_add(script, "set xtics norotate ");
            gram_script_short(script, step_of(most - least), "\n");
            gram_script_range(script, "x", least, most);
        }
    }
    gram_script_label(script, "x", "", d->name);
    gram_string_add(script, d->curves > 1 && d->curves <= 6 ? "set key top samplen 1 font ',9'\n" : "unset key\n");
    for (int64_t c = 0; c < d->curves; c++) {
        (void)snprintf(name, sizeof name, "panel%" PRId64 "_%" PRId64, index, c);
        add_curve(script, d, name, c, c == 0);
    }
    gram_string_add(script, "\n");
}

static void add_panels(gram_string *script, const gram_explanation *explanation, int64_t rows, int64_t across)
{
    const gram_dependence *first = gram_explanation_dependence(explanation, 0);
    gram_string heading = {0};
    gram_string_add(&heading, "mean prediction of %s; %s", first->curves > 1 ? "each class" : first->names[0],
                    first->posterior ? "band: two posterior deviations, at most"
                                     : "band: one deviation of the shape over rows");
    gram_string_add(script, "set multiplot layout %" PRId64 ",%" PRId64 " title ", rows, across);
    gram_script_quote(script, heading.data ? heading.data : "");
    gram_string_add(script, "\nunset title\nset grid\n");
    for (int64_t k = 0; k < gram_explanation_dependences(explanation); k++)
        add_panel(script, gram_explanation_dependence(explanation, k), k);
    gram_string_add(script, "unset multiplot\n");
    script->failed |= heading.failed;
    gram_string_free(&heading);
}

gram_status gram_picture_of_importance(gram_context *context, const gram_explanation *explanation,
                                       gram_picture **picture)
{
    gram_status status = GRAM_OK;
    *picture = NULL;
    FAIL_IF(!explanation, context, GRAM_ERROR_ARGUMENT, "picture_of_importance: explanation is NULL");
    TRY(gram_picture_begin(context, 800, 110 + BAR_HEIGHT * (int)count_bars(explanation), picture));
    gram_script_look(&(*picture)->script);
    add_bars(&(*picture)->script, explanation);
done:
    return gram_picture_end(context, status, picture);
}

gram_status gram_picture_of_explanation(gram_context *context, const gram_explanation *explanation,
                                        gram_picture **picture)
{
    gram_status status = GRAM_OK;
    *picture = NULL;
    FAIL_IF(!explanation, context, GRAM_ERROR_ARGUMENT, "picture_of_explanation: explanation is NULL");
    const int64_t count = gram_explanation_dependences(explanation);
    FAIL_IF(count == 0, context, GRAM_ERROR_ARGUMENT, "picture_of_explanation: there is no dependence to draw");
    const int64_t across = count < ACROSS ? count : ACROSS, rows = (count + across - 1) / across;
    TRY(gram_picture_begin(context, across == 1 ? 500 : PANEL_WIDTH * (int)across, 60 + PANEL_HEIGHT * (int)rows,
                           picture));
    gram_script_look(&(*picture)->script);
    add_panels(&(*picture)->script, explanation, rows, across);
done:
    return gram_picture_end(context, status, picture);
}
