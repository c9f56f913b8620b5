/* A Gaussian process over its one feature: panels one below the other with the same horizontal axis, first the data, the mean and its
 * 95 % band, then each term of the kernel. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "picture/model/model_scene.h"

enum { GRID = 800, FIRST_HEIGHT = 420, TERM_HEIGHT = 190 };

/* What is drawn: `terms` of them at the GRID values x of the feature. */
typedef struct posterior {
    const gram_columns *columns;
    const gram_kernel *kernel;
    int64_t terms;
    double *x, *values;             /* GRID, and GRID rows of columns->ld */
    double *lower, *upper, *middle; /* GRID: of the panel that is being made */
} posterior;

/* ---- values ---- */

static gram_status evaluate(gram_context *context, const gram_scene *scene, const gram_predictor *predictor,
                            gram_picture *picture, posterior *p)
{
    gram_status status = GRAM_OK;
    double scaled[GRID];
    TRY(gram_picture_take(context, picture, GRID * (p->columns->ld + 4), sizeof *p->x, (void **)&p->x));
    p->lower = p->x + GRID;
    p->upper = p->lower + GRID;
    p->middle = p->upper + GRID;
    p->values = p->middle + GRID;
    gram_picture_grid(GRID, scene->from, scene->to, p->x);
    gram_preparation_scale(gram_model_preparation(scene->model), GRID, p->x, 1, scaled);
    TRY(gram_predictor_evaluate(context, predictor, GRID, scaled, NULL, p->values, p->columns->ld));
done:
    return status;
}

/* The mean of term t at place i, with its deviation after it. */
static const double *term_at(const posterior *p, int64_t t, int i)
{
    return p->values + i * p->columns->ld + p->columns->term + 2 * t;
}

/* From the lowest to the highest of a term's band. */
static double band_range(const posterior *p, int64_t t)
{
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < GRID; i++) {
        const double *at = term_at(p, t, i);
        least = fmin(least, at[0] - p->columns->half_width * at[1]);
        most = fmax(most, at[0] + p->columns->half_width * at[1]);
    }
    return most - least;
}

/* ---- the script ---- */

/* The first panel is 0; panel t + 1 is that of term t. */
static void fill_panel(posterior *p, int64_t panel)
{
    for (int i = 0; i < GRID; i++) {
        const double *row = p->values + i * p->columns->ld, *at = panel > 0 ? term_at(p, panel - 1, i) : row;
        p->middle[i] = at[0];
        p->lower[i] = panel > 0 ? at[0] - p->columns->half_width * at[1] : row[p->columns->lower];
        p->upper[i] = panel > 0 ? at[0] + p->columns->half_width * at[1] : row[p->columns->upper];
    }
}

/* Block `$panel0` and those of the terms: x, lower, upper, mean. */
static void add_bands(gram_string *script, posterior *p)
{
    for (int64_t panel = 0; panel <= p->terms; panel++) {
        char name[32];
        fill_panel(p, panel);
        (void)snprintf(name, sizeof name, "panel%" PRId64, panel);
        gram_script_block(script, name, GRID, 4, (const double *[]){p->x, p->lower, p->upper, p->middle}, NULL);
    }
}

static void add_first(gram_string *script, const gram_scene *scene, int64_t data)
{
    gram_script_label(script, "y", "", gram_scene_target(scene));
    gram_string_add(script, "plot $panel0 using 1:2:3 with filledcurves fc rgb '" GRAM_BAND_COLOUR
                            "' title '95 %% of new observations', ");
    if (data > 0) {
        gram_string_add(script, "$data with points pt 7");
        gram_script_point_size(script, data, data > 1000 ? 1 : 1.4);
        gram_string_add(script, " lc rgb '" GRAM_POINT_COLOUR "' title 'data', ");
    }
    gram_string_add(script, "$panel0 using 1:4 with lines lw 1.5 lc rgb '" GRAM_CURVE_COLOUR "' title 'mean'\n");
}

/* 1, 2 or 5 times a power of ten: three or so of them make up the range. */
static double tic_step(double range)
{
    const double ten = pow(10, floor(log10(range / 3)));
    const double rest = range / 3 / ten;
    return ten * (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10);
}

static void add_term(gram_string *script, const posterior *p, int64_t t)
{
    const double range = band_range(p, t);
    if (range > 0 && isfinite(range)) {
        gram_string_add(script, "set ytics ");
        gram_script_short(script, tic_step(range), "\n");
    }
    gram_string_add(script, "set title ");
    gram_script_heading(script, gram_kernel_term(p->kernel, t), "");
    gram_string_add(script,
                    "\nunset ylabel\nunset key\nplot $panel%" PRId64
                    " using 1:2:3 with filledcurves fc rgb '#d5e3f2', $panel%" PRId64
                    " using 1:4 with lines lw 1.5 lc rgb '#0060ad'\n",
                    t + 1, t + 1);
}

/* The share of the height that is below the top of a panel; the first is higher than those of the terms. */
static void add_place(gram_string *script, int64_t panel, int64_t terms)
{
    const double height = FIRST_HEIGHT + TERM_HEIGHT * (double)terms;
    const double top = panel == 0 ? 1 : 1 - (FIRST_HEIGHT + TERM_HEIGHT * (double)(panel - 1)) / height;
    const double share = (panel == 0 ? FIRST_HEIGHT : TERM_HEIGHT) / height;
    gram_string_add(script, "set origin 0,");
    gram_script_fixed(script, top - share, "\nset size 1,");
    gram_script_fixed(script, share, "\n");
}

static void add_script(gram_string *script, const gram_scene *scene, posterior *p)
{
    gram_script_look(script);
    add_bands(script, p);
    const int64_t data = gram_script_observations(script, scene->model, scene->from, scene->to);
    gram_string_add(script, "set lmargin 10\n");
    gram_script_range(script, "x", scene->from, scene->to);
    gram_string_add(script, "set multiplot\n");
    add_place(script, 0, p->terms);
    gram_script_label(script, "x", "", gram_scene_features(scene)->name);
    add_first(script, scene, data);
    gram_string_add(script, "unset xlabel\n");
    for (int64_t t = 0; t < p->terms; t++) {
        add_place(script, t + 1, p->terms);
        add_term(script, p, t);
    }
    gram_string_add(script, "unset multiplot\n");
}

gram_status gram_draw_posterior(gram_context *context, gram_scene *scene, gram_picture *picture)
{
    gram_status status = GRAM_OK;
    gram_predictor *predictor = NULL;
    posterior p = {.kernel = gram_scene_kernel(scene)};
    p.terms = scene->terms ? gram_kernel_term_count(p.kernel) : 0;
    TRY(gram_scene_predictor(context, scene, 1, scene->terms, &predictor));
    p.columns = gram_predictor_columns(predictor);
    TRY(evaluate(context, scene, predictor, picture, &p));
    add_script(&picture->script, scene, &p);
    picture->width = 900;
    picture->height = FIRST_HEIGHT + TERM_HEIGHT * (int)p.terms;
done:
    gram_predictor_destroy(predictor);
    return status;
}
