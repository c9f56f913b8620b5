/* The solution of a differential equation and its error indicator, the deviation of the process: over one feature two panels, one below
 * the other, over two features two maps side by side. Over each the rows are marked, values apart from equations.
 *
 * A map is drawn inside the convex hull of the rows only: outside of it (a disc has corners) a solution is not looked for, and the
 * deviation, which grows there, would decide the colours. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/plan.h>

#include "method/method.h"
#include "picture/model/model_scene.h"
#include "points/functionals.h"

enum { GRID = 400, SIDE = 96, SIDE_OF_MANY = 48, MANY = 1500 };

typedef struct solution {
    int64_t count;    /* of places, */
    double *prepared; /* d numbers each, as the model takes them, */
    double *shown;    /* and in the features' own units */
    double *f, *deviation;
} solution;

/* ---- values ---- */

/* Without a factor a deviation is a solve for each place: too long for a map. */
static int knows_deviation(const gram_scene *scene)
{
    const char *solver = gram_kept_text(scene->model, "solver");
    return gram_scene_dimension(scene->model) == 1 || !solver || strcmp(solver, gram_solver_name(GRAM_SOLVER_CG)) != 0;
}

static gram_status open_predictor(gram_context *context, const gram_scene *scene, gram_predictor **predictor)
{
    gram_predict_options wish;
    gram_predict_options_init(&wish, sizeof wish);
    wish.name = scene->name;
    wish.dashes = scene->dashes;
    wish.std = wish.latent = knows_deviation(scene);
    return gram_predictor_create(context, scene->model, &wish, predictor);
}

static gram_status take_places(gram_context *context, gram_picture *picture, int64_t count, int64_t d, solution *s)
{
    gram_status status = GRAM_OK;
    *s = (solution){.count = count};
    TRY(gram_picture_take(context, picture, 2 * count * (d + 1), sizeof *s->f, (void **)&s->f));
    s->deviation = s->f + count;
    s->prepared = s->deviation + count;
    s->shown = s->prepared + count * d;
done:
    return status;
}

/* Solution and deviation at the places where inside[i] is not 0 (NULL: at all), NaN at the others. */
static gram_status evaluate(gram_context *context, const gram_scene *scene, gram_picture *picture, int64_t d,
                            const char *inside, solution *s)
{
    gram_status status = GRAM_OK;
    gram_predictor *predictor = NULL;
    double *x = NULL, *values = NULL;
    int64_t used = 0, next = 0;
    TRY(open_predictor(context, scene, &predictor));
    const gram_columns *columns = gram_predictor_columns(predictor);
    TRY(gram_picture_take(context, picture, s->count * d, sizeof *x, (void **)&x));
    TRY(gram_picture_take(context, picture, s->count * columns->ld, sizeof *values, (void **)&values));
    for (int64_t i = 0; i < s->count; i++) {
        if (inside && !inside[i]) continue;
        for (int64_t l = 0; l < d; l++) x[used * d + l] = s->prepared[i * d + l];
        used++;
    }
    if (used > 0) TRY(gram_predictor_evaluate(context, predictor, used, x, NULL, values, columns->ld));
    for (int64_t i = 0; i < s->count; i++) {
        const double *row = inside && !inside[i] ? NULL : values + next++ * columns->ld;
        s->f[i] = row ? row[0] : NAN;
        s->deviation[i] = row && columns->std >= 0 ? row[columns->std] : NAN;
    }
done:
    gram_predictor_destroy(predictor);
    return status;
}

/* ---- the rows ---- */

/* Is row i a value? Without functionals all are. */
static int is_value(const gram_scene *scene, int64_t i)
{
    const gram_points *rows = gram_function_centres(gram_model_function(scene->model));
    return rows->n != scene->n || gram_points_are_value(rows, i);
}

/* Blocks `$values` (with targets if there is one feature) and `$equations` of at most GRAM_PICTURE_POINTS rows. */
static void add_rows(gram_string *script, const gram_scene *scene, int64_t d)
{
    static const char *const names[] = {"equations", "values"};
    const gram_preparation *preparation = gram_model_preparation(scene->model);
    const int64_t step = (scene->n + GRAM_PICTURE_POINTS - 1) / GRAM_PICTURE_POINTS;
    for (int values = 0; values < 2; values++) {
        gram_string_add(script, "$%s << END_OF_ROWS\n", names[values]);
        for (int64_t i = 0; i < scene->n; i += step) {
            if (is_value(scene, i) != values) continue;
            for (int64_t l = 0; l < d; l++)
                gram_script_number(script, gram_preparation_unit(preparation, l, scene->x[i * d + l]), " ");
            gram_script_number(script, d == 1 && values ? scene->data->y[i * scene->data->targets] : 0, "\n");
        }
        gram_string_add(script, "END_OF_ROWS\n");
    }
}

/* Has one of the two blocks anything in it? */
static int has_rows(const gram_scene *scene, int values)
{
    for (int64_t i = 0; i < scene->n; i++)
        if (is_value(scene, i) == values) return 1;
    return 0;
}

/* ---- one feature ---- */

static void plot_lines(gram_string *script, const gram_scene *scene)
{
    gram_script_label(script, "y", "", gram_scene_target(scene));
    gram_string_add(script,
                    "plot $solution using 1:($2-1.96*$3):($2+1.96*$3) with filledcurves fc rgb '" GRAM_BAND_COLOUR
                    "' title '1.96 deviations'");
    if (has_rows(scene, 1))
        gram_string_add(script, ", $values with points pt 7 ps 0.9 lc rgb '" GRAM_POINT_COLOUR "' title 'values'");
    gram_string_add(script, ", $solution using 1:2 with lines lw 2 lc rgb '" GRAM_CURVE_COLOUR "' title 'solution'\n"
                            "unset title\nset ylabel 'deviation'\nset yrange [0:*]\n"
                            "plot $solution using 1:3 with lines lw 2 lc rgb '#0060ad' title 'deviation'");
    if (has_rows(scene, 0))
        gram_string_add(script, ", $equations using 1:(0) with points pt 2 ps 0.6 lc rgb '" GRAM_QUIET_COLOUR
                                "' title 'equations'");
    gram_string_add(script, "\nunset multiplot\n");
}

static gram_status draw_line(gram_context *context, const gram_scene *scene, gram_picture *picture)
{
    gram_status status = GRAM_OK;
    gram_string *script = &picture->script;
    double least = NAN, most = NAN;
    solution s;
    TRY(take_places(context, picture, GRID, 1, &s));
    gram_picture_extend(scene->n, scene->x, 1, &least, &most);
    gram_picture_grid(GRID, least, most > least ? most : least + 1, s.prepared);
    for (int64_t i = 0; i < GRID; i++)
        s.shown[i] = gram_preparation_unit(gram_model_preparation(scene->model), 0, s.prepared[i]);
    TRY(evaluate(context, scene, picture, 1, NULL, &s));
    gram_scene_title(scene, script);
    gram_script_block(script, "solution", GRID, 3, (const double *[]){s.shown, s.f, s.deviation}, NULL);
    add_rows(script, scene, 1);
    gram_script_label(script, "x", "", gram_scene_features(scene)->name);
    gram_script_range(script, "x", s.shown[0], s.shown[GRID - 1]);
    gram_string_add(script, "set lmargin 10\nset multiplot layout 2,1\n");
    plot_lines(script, scene);
    picture->width = 800;
    picture->height = 720;
done:
    return status;
}

/* ---- two features ---- */

static int compare_points(const void *a_, const void *b_)
{
    const double *a = a_, *b = b_;
    const int first = (a[0] > b[0]) - (a[0] < b[0]);
    return first ? first : (a[1] > b[1]) - (a[1] < b[1]);
}

/* Twice the area of the triangle a b c, positive if it turns to the left. */
static double turn(const double *a, const double *b, const double *c)
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/* The corners of the convex hull of n sorted points, counterclockwise (Andrew's chains); room for n + 1. Returns how many. */
static int64_t find_hull(int64_t n, const double *x, double *hull)
{
    int64_t count = 0;
    for (int chain = 0; chain < 2; chain++) {
        const int64_t start = count;
        for (int64_t k = 0; k < n; k++) {
            const double *p = x + 2 * (chain ? n - 1 - k : k);
            while (count >= start + 2 && !(turn(hull + 2 * (count - 2), hull + 2 * (count - 1), p) > 0)) count--;
            hull[2 * count] = p[0];
            hull[2 * count + 1] = p[1];
            count++;
        }
        count--; /* the last is the first of the other chain */
    }
    return count;
}

static int in_hull(int64_t corners, const double *hull, const double *place, double slack)
{
    for (int64_t c = 0; c < corners; c++)
        if (turn(hull + 2 * c, hull + 2 * ((c + 1) % corners), place) < -slack) return 0;
    return 1;
}

/* Places of a grid over the rows, and which of them are inside; of rows on one line all. */
static gram_status make_plane(gram_context *context, const gram_scene *scene, gram_picture *picture, int64_t side,
                              char **inside, solution *s)
{
    gram_status status = GRAM_OK;
    const gram_preparation *preparation = gram_model_preparation(scene->model);
    double low[2] = {NAN, NAN}, high[2] = {NAN, NAN}, *sorted = NULL, *hull = NULL;
    TRY(take_places(context, picture, side * side, 2, s));
    TRY(gram_picture_take(context, picture, side * side, 1, (void **)inside));
    TRY(gram_picture_take(context, picture, 2 * scene->n, sizeof *sorted, (void **)&sorted));
    TRY(gram_picture_take(context, picture, 2 * (scene->n + 2), sizeof *hull, (void **)&hull));
    for (int64_t i = 0; i < 2 * scene->n; i++) sorted[i] = scene->x[i];
    qsort(sorted, (size_t)scene->n, 2 * sizeof *sorted, compare_points);
    const int64_t corners = find_hull(scene->n, sorted, hull);
    for (int axis = 0; axis < 2; axis++) {
        gram_picture_extend(scene->n, scene->x + axis, 2, &low[axis], &high[axis]);
        if (!(high[axis] > low[axis])) high[axis] = low[axis] + 1;
    }
    const double slack = 1e-9 * (high[0] - low[0]) * (high[1] - low[1]);
    for (int64_t c = 0; c < side * side; c++) {
        const int64_t cell[] = {c / side, c % side};
        for (int axis = 0; axis < 2; axis++) {
            const double share = (double)cell[axis] / (double)(side - 1);
            s->prepared[2 * c + axis] = low[axis] + share * (high[axis] - low[axis]);
            s->shown[2 * c + axis] = gram_preparation_unit(preparation, axis, s->prepared[2 * c + axis]);
        }
        (*inside)[c] = (char)(corners < 3 || in_hull(corners, hull, s->prepared + 2 * c, slack));
    }
done:
    return status;
}

/* A block of one line for each cell; what is not known is left out of the picture. */
static void add_map(gram_string *script, const char *name, const solution *s, const double *values)
{
    gram_string_add(script, "$%s << END_OF_MAP\n", name);
    for (int64_t c = 0; c < s->count; c++) {
        gram_script_number(script, s->shown[2 * c], " ");
        gram_script_number(script, s->shown[2 * c + 1], " ");
        if (isnan(values[c]))
            gram_string_add(script, "NaN\n");
        else
            gram_script_number(script, values[c], "\n");
    }
    gram_string_add(script, "END_OF_MAP\n");
}

static void plot_rows(gram_string *script, const gram_scene *scene)
{
    if (has_rows(scene, 0)) {
        gram_string_add(script, ", $equations using 1:2 with points pt 7");
        gram_script_point_size(script, scene->n, 0.6);
        gram_string_add(script, " lc rgb '#80404040' notitle");
    }
    if (has_rows(scene, 1)) {
        gram_string_add(script, ", $values using 1:2 with points pt 6");
        gram_script_point_size(script, scene->n, 1);
        gram_string_add(script, " lc rgb 'black' notitle");
    }
    gram_string_add(script, "\n");
}

static void plot_maps(gram_string *script, const gram_scene *scene)
{
    gram_string_add(script, "set multiplot layout 1,%d title ", 1 + knows_deviation(scene));
    gram_script_heading(script, gram_scene_kernel(scene), " (dots: equations, circles: values)");
    gram_string_add(script, "\nunset key\nunset grid\nset palette defined (0 '#053061', 1 '#4393c3', 2 '#f7f7f7', 3 "
                            "'#d6604d', 4 '#67001f')\nset title ");
    gram_script_quote(script, gram_scene_target(scene));
    gram_string_add(script, "\nplot $solution with image");
    plot_rows(script, scene);
    if (!knows_deviation(scene)) {
        gram_string_add(script, "unset multiplot\n");
        return;
    }
    gram_string_add(script, "set palette defined (0 '#ffffff', 1 '#9ecae1', 2 '#08306b')\nset cbrange [0:*]\n"
                            "set format cb '%%.1e'\nset rmargin 11\nset title 'deviation'\nplot $deviation with image");
    plot_rows(script, scene);
    gram_string_add(script, "unset multiplot\n");
}

static gram_status draw_plane(gram_context *context, const gram_scene *scene, gram_picture *picture)
{
    static const char *const axes[] = {"x", "y"};
    gram_status status = GRAM_OK;
    gram_string *script = &picture->script;
    const int64_t side = scene->n > MANY ? SIDE_OF_MANY : SIDE, last = side * side - 1;
    char *inside = NULL;
    solution s;
    TRY(make_plane(context, scene, picture, side, &inside, &s));
    TRY(evaluate(context, scene, picture, 2, inside, &s));
    gram_script_look(script);
    add_map(script, "solution", &s, s.f);
    if (knows_deviation(scene)) add_map(script, "deviation", &s, s.deviation);
    add_rows(script, scene, 2);
    for (int axis = 0; axis < 2; axis++) {
        gram_script_label(script, axes[axis], "", gram_scene_features(scene)[axis].name);
        gram_script_range(script, axes[axis], s.shown[axis], s.shown[2 * last + axis]);
    }
    plot_maps(script, scene);
    picture->width = knows_deviation(scene) ? 1100 : 600;
    picture->height = 480;
done:
    return status;
}

gram_status gram_draw_solution(gram_context *context, gram_scene *scene, gram_picture *picture)
{
    const int64_t d = gram_scene_dimension(scene->model);
    if (d == 1) return draw_line(context, scene, picture);
    if (d == 2) return draw_plane(context, scene, picture);
    return gram_picture_refuse(
        context, GRAM_ERROR_ARGUMENT, scene->dashes, "Leave --plot out, and draw what `gram predict` says of a grid.",
        "--plot: solution needs one or two features that are numbers, and there are %" PRId64, d);
}
