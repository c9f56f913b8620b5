#include "cli/plot/structure_picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/gnuplot.h"
#include "cli/plot/picture_parts.h"
#include "cli/report/kernel_text.h"

enum { SIDE = 160, MOST_POINTS = 3000, MOST_GROUPS = 24, MOST_BOXES = 4, MOST_DIRECTIONS = 2 };

/* Points and their colours. */
typedef struct points {
    int64_t n, step; /* of which every step-th is drawn */
    const double *x; /* n x columns, ld apart */
    int64_t columns, ld;
    int64_t groups;               /* 1: all are of one colour; 0: by their numbers */
    double *number;               /* n: the group, -1: none; or the number itself */
    char names[MOST_GROUPS][128]; /* of the groups */
    const char *title;            /* of the column, or NULL */
} points;

/* ---- colours ---- */

static int is_group(double value)
{
    return value == floor(value) && fabs(value) < 1e9;
}

/* Where the value is among the first `count`, which are in order; they grow by it if it is new. -1: there are too many. */
static int64_t place_of(double *known, int64_t *count, double value)
{
    int64_t at = 0;
    while (at < *count && known[at] < value) at++;
    if (at < *count && known[at] == value) return at;
    if (*count == MOST_GROUPS) return -1;
    memmove(known + at + 1, known + at, (size_t)(*count - at) * sizeof *known);
    known[at] = value;
    ++*count;
    return at;
}

/* The column of labels that rows of views were learnt with, NULL: none. */
static const gram_column *label_of(const cli_structure_picture *picture)
{
    return picture->data->targets > 0 ? gram_preparation_describe(gram_model_preparation(picture->model))->targets
                                      : NULL;
}

/* Whole numbers with few different values are groups, and so are texts. */
static void find_groups(const cli_structure_picture *picture, points *p)
{
    double known[MOST_GROUPS];
    int64_t count = 0;
    int groups = 1;
    for (int64_t i = 0; i < p->n && groups; i++)
        groups = isnan(p->number[i]) || (is_group(p->number[i]) && place_of(known, &count, p->number[i]) >= 0);
    p->groups = groups && count > 0 ? count : 0;
    for (int64_t i = 0; i < p->n && p->groups; i++)
        p->number[i] = isnan(p->number[i]) ? -1 : (double)place_of(known, &count, p->number[i]);
    for (int64_t g = 0; g < p->groups; g++) {
        char number[GRAM_NUMBER_SIZE];
        const int text = picture->table && gram_table_column_is_text(picture->table, picture->column);
        const gram_column *label = picture->table ? NULL : label_of(picture);
        (void)snprintf(p->names[g], sizeof p->names[g], "%s%s", picture->table || label ? "" : "cluster ",
                       text                   ? gram_table_level(picture->table, picture->column, (int64_t)known[g])
                       : label && label->text ? label->levels[(int64_t)known[g]]
                                              : gram_number_format(known[g], number));
    }
}

/* The numbers of the column that colours, or with `labels` those of the clusters. */
static int find_colours(const cli_structure_picture *picture, int labels, points *p)
{
    const gram_prepared *data = picture->data;
    p->number = calloc((size_t)p->n, sizeof *p->number);
    if (!p->number) return cli_no_memory();
    p->groups = 1;
    p->step = (p->n + MOST_POINTS - 1) / MOST_POINTS;
    if (!picture->table && !labels && !label_of(picture)) return CLI_DONE;
    for (int64_t i = 0; i < p->n; i++) {
        const int64_t row = data->rows ? data->rows[i] : i;
        p->number[i] = picture->table
                           ? gram_table_numbers(picture->table)[row * gram_table_ld(picture->table) + picture->column]
                       : labels ? picture->values[i * picture->ld]
                                : data->y[i * data->targets];
    }
    if (picture->table) p->title = gram_table_column_name(picture->table, picture->column);
    find_groups(picture, p);
    return CLI_DONE;
}

/* Blocks $group0, $group1, ... of the columns, with the number after them. */
static void add_groups(gram_string *script, const points *p, const gram_preparation *preparation)
{
    for (int64_t g = 0; g < (p->groups > 0 ? p->groups : 1); g++) {
        gram_string_add(script, "$group%" PRId64 " << END_OF_GROUP\n", g);
        for (int64_t i = 0; i < p->n; i += p->step) {
            if (p->groups > 0 ? p->number[i] != (double)g : isnan(p->number[i])) continue;
            for (int64_t c = 0; c < p->columns; c++) {
                const double value = p->x[i * p->ld + c];
                cli_picture_number(script, preparation ? gram_preparation_unit(preparation, c, value) : value, " ");
            }
            cli_picture_number(script, p->number[i], "\n");
        }
        gram_string_add(script, "END_OF_GROUP\n");
    }
}

/* "plot" of the groups' points by some columns, after `before`, which ends with a comma if there is something. */
static void plot_groups(gram_string *script, const points *p, const char *what, const char *columns)
{
    const double size = cli_picture_point_size(p->n / p->step) * 1.2;
    gram_string_add(script, "%s", what);
    for (int64_t g = 0; g < (p->groups > 0 ? p->groups : 1); g++) {
        gram_string_add(script, "%s$group%" PRId64 " using %s", g > 0 ? ", " : "", g, columns);
        if (p->groups == 0)
            gram_string_add(script, ":%" PRId64 " with points pt 7 ps %g lc palette notitle", p->columns + 1, size);
        else
            gram_string_add(script, " with points pt %d ps %g lc rgb '%s' ", 7 - 2 * (int)(g / CLI_COLOURS % 2), size,
                            cli_picture_strong(g));
        if (p->groups == 1 && !p->names[0][0]) gram_string_add(script, "notitle");
        if (p->groups > 0 && p->names[0][0]) gram_string_add(script, "title "), cli_plot_quote(script, p->names[g]);
    }
    gram_string_add(script, "\n");
}

static void set_colour_bar(gram_string *script, const points *p)
{
    if (p->groups > 0) return;
    gram_string_add(script, "set palette defined (0 '#0060ad', 1 '#f0e6c8', 2 '#d95319')\n");
    cli_picture_label(script, "cb", "", p->title);
}

/* ---- coordinates ---- */

static void add_scatter(gram_string *script, const points *p, int dimensions)
{
    static const char *const axes[] = {"x", "y", "z"};
    char name[32];
    add_groups(script, p, NULL);
    for (int c = 0; c < dimensions; c++) {
        (void)snprintf(name, sizeof name, "pc%d", c + 1);
        cli_picture_label(script, axes[c], "", name);
    }
    set_colour_bar(script, p);
    if (dimensions == 3) gram_string_add(script, "set view 65,35\nset xyplane 0\nset border 127\nset ticslevel 0\n");
    plot_groups(script, p, dimensions == 3 ? "splot " : "plot ", dimensions == 3 ? "1:2:3" : "1:2");
}

/* ---- two views, whose coordinates are side by side ---- */

/* The first of one view against the first of the other. */
static void add_pairs(gram_string *script, const points *p)
{
    char columns[32];
    (void)snprintf(columns, sizeof columns, "1:%" PRId64, p->columns / 2 + 1);
    add_groups(script, p, NULL);
    cli_picture_label(script, "x", "", "x1");
    cli_picture_label(script, "y", "", "y1");
    set_colour_bar(script, p);
    plot_groups(script, p, "plot ", columns);
}

/* Is the first coordinate nearly the same for all rows? Then the next two show more. */
static int starts_even(const points *p)
{
    const int64_t k = p->columns / 2;
    double sum = 0, square = 0;
    for (int64_t i = 0; i < 2 * p->n; i++) {
        const double value = p->x[i / 2 * p->ld + i % 2 * k];
        sum += value / (double)(2 * p->n);
        square += value * value / (double)(2 * p->n);
    }
    return k > 2 && square - sum * sum < 0.05 * square;
}

/* Rows of the first view as dots, those of the second as circles. */
static void add_views(gram_string *script, const points *p)
{
    const int64_t k = p->columns / 2, first = 1 + starts_even(p);
    const double size = cli_picture_point_size(2 * p->n / p->step) * 1.2;
    char name[2][32];
    add_groups(script, p, NULL);
    for (int axis = 0; axis < 2; axis++) {
        (void)snprintf(name[axis], sizeof *name, "coordinate %" PRId64, first + axis);
        cli_picture_label(script, axis ? "y" : "x", "", name[axis]);
    }
    gram_string_add(script, "plot NaN with points pt 7 lc rgb '#808080' title 'view a', NaN with points pt 6 lc rgb "
                            "'#808080' title 'view b'");
    for (int64_t g = 0; g < (p->groups > 0 ? p->groups : 1); g++)
        for (int64_t v = 0; v < 2; v++) {
            gram_string_add(script,
                            ", $group%" PRId64 " using %" PRId64 ":%" PRId64 " with points pt %d ps %g lc rgb '%s' ", g,
                            first + v * k, first + 1 + v * k, (v == 0 ? 7 : 6) - 2 * (int)(g / CLI_COLOURS % 2), size,
                            cli_picture_strong(g));
            if (v == 1 || !p->names[0][0]) gram_string_add(script, "notitle");
            if (v == 0 && p->names[0][0]) gram_string_add(script, "title "), cli_plot_quote(script, p->names[g]);
        }
    gram_string_add(script, "\n");
}

/* Quartiles, whiskers and what is beyond, one box for each group and a panel for each coordinate. */
static int add_boxes(gram_string *script, const points *p)
{
    const int panels = p->columns < MOST_BOXES ? (int)p->columns : MOST_BOXES;
    add_groups(script, p, NULL);
    gram_string_add(
        script,
        "set style fill solid 0.35 border\nset style boxplot outliers pointtype 7\nset boxwidth 0.6\nunset key\n"
        "set multiplot layout 1,%d\nset xtics (",
        panels);
    for (int64_t g = 0; g < p->groups; g++) cli_plot_tic(script, p->names[g], g);
    gram_string_add(script, ") rotate by %d\nset xrange [-0.7:%g]\n", p->groups > 4 ? -35 : 0, (double)p->groups - 0.3);
    for (int c = 0; c < panels; c++) {
        gram_string_add(script, "set title 'pc%d'\nplot ", c + 1);
        for (int64_t g = 0; g < p->groups; g++)
            gram_string_add(script, "%s$group%" PRId64 " using (%" PRId64 "):%d with boxplot ps 0.4 lc rgb '%s'",
                            g > 0 ? ", " : "", g, g, c + 1, cli_picture_strong(g));
        gram_string_add(script, "\n");
    }
    gram_string_add(script, "unset multiplot\n");
    return panels;
}

static void add_spectrum(gram_string *script, const gram_model *model)
{
    int64_t rows, count = 0, chance_count = 0;
    const double *variances = gram_model_array(model, "variances", &rows, &count);
    const double *chance = gram_model_array(model, "chance", &rows, &chance_count);
    const double *const columns[] = {variances}, *const by_chance[] = {chance};
    cli_picture_block(script, "spectrum", count, 1, columns, NULL);
    if (chance) cli_picture_block(script, "chance", chance_count, 1, by_chance, NULL);
    gram_string_add(script,
                    "set xlabel 'component'\nset ylabel 'variance (eigenvalue/n)'\nset yrange [0:*]\nset xtics 1\n"
                    "set xrange [0.3:%" PRId64 ".7]\nset style fill solid 0.6 noborder\nset boxwidth 0.6\n"
                    "plot $spectrum using ($0+1):1 with boxes lc rgb '%s' title 'components'",
                    chance_count > count ? chance_count : count, cli_picture_strong(0));
    if (chance)
        gram_string_add(script, ", $chance using ($0+1):1 with linespoints pt 7 ps 0.5 lw 1.5 lc rgb '" CLI_CURVE_COLOUR
                                "' title '95 %% of shuffled tables are below'");
    gram_string_add(script, "\n");
}

/* ---- directions in the data ---- */

/* Of a linear kernel: the mean plus and minus two deviations along each direction. */
static gram_status add_arrows(cli_session *session, gram_string *script, const cli_structure_picture *picture)
{
    const gram_function *f = gram_model_function(picture->model);
    const gram_preparation *preparation = gram_model_preparation(picture->model);
    const gram_prepared *data = picture->data;
    int64_t rows, count = 0;
    const double *variances = gram_model_array(picture->model, "variances", &rows, &count);
    double mean[2] = {0};
    gram_points *at = NULL;
    for (int64_t i = 0; i < 2 * data->n; i++) mean[i % 2] += data->x[i] / (double)data->n;
    gram_status status = gram_points_create_f64(session->context, 1, 2, mean, 2, &at);
    gram_string_add(script, "$arrows << END_OF_ARROWS\n");
    for (int64_t s = 0; s < count && s < MOST_DIRECTIONS && status >= 0; s++) {
        double u[2], ends[4];
        status = gram_function_gradient(session->context, f, s, at, u, 2);
        if (status < 0) break;
        for (int axis = 0; axis < 2; axis++) /* from one end to the other */
            ends[axis] = gram_preparation_unit(preparation, axis, mean[axis] - 2 * sqrt(variances[s]) * u[axis]);
        for (int axis = 0; axis < 2; axis++)
            ends[2 + axis] =
                gram_preparation_unit(preparation, axis, mean[axis] + 2 * sqrt(variances[s]) * u[axis]) - ends[axis];
        for (int e = 0; e < 4; e++) cli_picture_number(script, ends[e], e < 3 ? " " : "\n");
    }
    gram_string_add(script, "END_OF_ARROWS\n");
    gram_points_release(at);
    return status;
}

/* Lines on which the first coordinate is constant, across which the data vary most. */
static int add_contours(cli_session *session, gram_string *script, const cli_structure_picture *picture)
{
    const gram_preparation *preparation = gram_model_preparation(picture->model);
    gram_predictor *predictor = NULL;
    gram_map *map = NULL;
    int code = cli_picture_predictor(session, picture->model, picture->file, 0, 0, &predictor);
    if (code != CLI_DONE) return code;
    const gram_status status =
        gram_map_of_predictor(session->context, predictor, picture->data->n, picture->data->x, 2, SIDE / 2, &map);
    gram_predictor_destroy(predictor);
    if (status < 0) return cli_session_fail(session, status, 0, NULL);
    gram_string_add(script, "$surface << END_OF_SURFACE\n");
    for (int64_t i = 0; i < map->side; i++) {
        for (int64_t j = 0; j < map->side; j++) {
            const double place[] = {((double)i + 0.5) / (double)map->side, ((double)j + 0.5) / (double)map->side};
            for (int axis = 0; axis < 2; axis++)
                cli_picture_number(
                    script,
                    gram_preparation_unit(preparation, axis,
                                          map->low[axis] + (map->high[axis] - map->low[axis]) * place[axis]),
                    " ");
            cli_picture_number(script, map->values[i * map->side + j], "\n");
        }
        gram_string_add(script, "\n");
    }
    gram_string_add(script,
                    "END_OF_SURFACE\nset contour base\nset cntrparam levels 12\nunset surface\nset table $lines\n"
                    "splot $surface\nunset table\nunset contour\nset surface\n");
    cli_picture_frame(script, map, preparation);
    gram_map_destroy(map);
    return CLI_DONE;
}

static int add_directions(cli_session *session, gram_string *script, const cli_structure_picture *picture,
                          const points *colours)
{
    const gram_preparation *preparation = gram_model_preparation(picture->model);
    const gram_column *features = gram_preparation_describe(preparation)->features;
    points p = *colours;
    p.x = picture->data->x;
    p.columns = p.ld = 2;
    char *kernel = cli_kernel_text(gram_function_kernel(gram_model_function(picture->model)));
    const int linear = kernel && strncmp(kernel, "linear", 6) == 0;
    free(kernel);
    add_groups(script, &p, preparation);
    for (int axis = 0; axis < 2; axis++) cli_picture_label(script, axis ? "y" : "x", "", features[axis].name);
    set_colour_bar(script, &p);
    const gram_status status = linear ? add_arrows(session, script, picture) : GRAM_OK;
    if (status < 0) return cli_session_fail(session, status, 0, NULL);
    const int code = linear ? CLI_DONE : add_contours(session, script, picture);
    plot_groups(script, &p,
                linear ? "plot $arrows with vectors heads size screen 0.015,20 lw 2.5 lc rgb '" CLI_CURVE_COLOUR
                         "' title 'two deviations', "
                       : "plot $lines using 1:2 with lines lw 1.2 lc rgb '#a06040' title 'pc1 is constant', ",
                "1:2");
    return code;
}

/* ---- maps of clusters ---- */

/* In the plane of two features what the model says; else that of two principal components of its kernel, and what the nearest row is. */
static gram_status find_map(cli_session *session, const cli_structure_picture *picture, const gram_predictor *predictor,
                            points *p, gram_pca **pca, gram_map **map)
{
    const gram_prepared *data = picture->data;
    gram_points *x = NULL;
    if (cli_picture_dimension(picture->model) == 2)
        return gram_map_of_predictor(session->context, predictor, data->n, data->x, 2, SIDE, map);
    gram_status status = gram_points_create_f64(session->context, data->n, data->d, data->x, data->d, &x);
    if (status >= 0)
        status =
            gram_pca_fit(session->context, gram_function_kernel(gram_model_function(picture->model)), x, NULL, pca);
    gram_points_release(x);
    if (status < 0) return status;
    p->x = gram_pca_coordinates(*pca);
    return gram_map_of_nearest(session->context, data->n, p->x, 2, picture->values, SIDE, map);
}

static void add_borders(gram_string *script, const gram_map *map, const gram_preparation *preparation, double *segments)
{
    const int64_t count = gram_map_borders(map, segments);
    gram_string_add(script, "$borders << END_OF_BORDERS\n");
    for (int64_t s = 0; s < 4 * count; s++) {
        const double value = preparation ? gram_preparation_unit(preparation, s % 2, segments[s]) : segments[s];
        cli_picture_number(script, value, s % 4 == 1 ? "\n" : s % 4 == 3 ? "\n\n" : " ");
    }
    gram_string_add(script, "END_OF_BORDERS\n");
}

static int add_map(cli_session *session, gram_string *script, const cli_structure_picture *picture, points *p)
{
    const int plane = cli_picture_dimension(picture->model) == 2;
    gram_preparation *preparation = gram_model_preparation(picture->model);
    gram_predictor *predictor = NULL;
    gram_pca *pca = NULL;
    gram_map *map = NULL;
    p->x = picture->data->x;
    p->columns = p->ld = 2;
    int code = cli_picture_predictor(session, picture->model, picture->file, 0, 0, &predictor);
    const gram_status status = code == CLI_DONE ? find_map(session, picture, predictor, p, &pca, &map) : GRAM_OK;
    if (status < 0) code = cli_session_fail(session, status, 0, NULL);
    double *segments = calloc((size_t)SIDE * SIDE * 8, sizeof *segments);
    if (code == CLI_DONE && !segments) code = cli_no_memory();
    if (code == CLI_DONE) {
        cli_picture_map(script, map, plane ? preparation : NULL, 1);
        add_borders(script, map, plane ? preparation : NULL, segments);
        add_groups(script, p, plane ? preparation : NULL);
        for (int axis = 0; axis < 2; axis++)
            cli_picture_label(script, axis ? "y" : "x", "",
                              plane  ? gram_preparation_describe(preparation)->features[axis].name
                              : axis ? "pc2"
                                     : "pc1");
        cli_picture_palette(script);
        cli_picture_frame(script, map, plane ? preparation : NULL);
        plot_groups(script, p, "plot $frame with image notitle, $borders with lines lw 1.5 lc rgb '#404040' notitle, ",
                    "1:2");
    }
    free(segments);
    gram_map_destroy(map);
    gram_pca_destroy(pca);
    gram_predictor_destroy(predictor);
    return code;
}

/* ---- drawing ---- */

static int refuse(const char *show, const char *needs)
{
    return cli_fail(CLI_WRONG_USE, "Choose another with --show, or leave --plot out.", "--plot: %s needs %s", show,
                    needs);
}

/* What the picture cannot be drawn without. */
static int check(const cli_structure_picture *picture, const points *p)
{
    const char *show = picture->show;
    const int64_t dimension = cli_picture_dimension(picture->model);
    if (strcmp(show, "scatter") == 0 && p->columns < 2) return refuse(show, "two components: -k 2");
    if (strcmp(show, "space") == 0 && p->columns < 3) return refuse(show, "three components: -k 3");
    if (strcmp(show, "views") == 0 && p->columns < 4) return refuse(show, "two coordinates of each view: -k 2");
    if (strcmp(show, "boxes") == 0 && p->groups == 0)
        return refuse(show, "groups: a column of texts or of at most 24 whole numbers");
    if (strcmp(show, "directions") == 0 && dimension != 2) return refuse(show, "two features that are numbers");
    return CLI_DONE;
}

int cli_structure_picture_draw(cli_session *session, const char *path, const cli_structure_picture *picture)
{
    const char *show = picture->show;
    gram_string script = {0};
    points p = {.n = picture->data->n, .x = picture->values, .columns = picture->ld, .ld = picture->ld};
    int panels = 1, code = find_colours(picture, strcmp(show, "map") == 0, &p);
    if (code == CLI_DONE) code = check(picture, &p);
    char *kernel = cli_kernel_text(gram_function_kernel(gram_model_function(picture->model)));
    cli_picture_look(&script);
    cli_plot_title(&script, kernel ? kernel : "", picture->file);
    free(kernel);
    if (code != CLI_DONE)
        ;
    else if (strcmp(show, "map") == 0)
        code = add_map(session, &script, picture, &p);
    else if (strcmp(show, "directions") == 0)
        code = add_directions(session, &script, picture, &p);
    else if (strcmp(show, "spectrum") == 0)
        add_spectrum(&script, picture->model);
    else if (strcmp(show, "pairs") == 0)
        add_pairs(&script, &p);
    else if (strcmp(show, "views") == 0)
        add_views(&script, &p);
    else if (strcmp(show, "boxes") == 0)
        panels = add_boxes(&script, &p);
    else
        add_scatter(&script, &p, strcmp(show, "space") == 0 ? 3 : 2);
    if (code == CLI_DONE)
        code = cli_plot(session, path, panels > 2 ? 260 * panels : 720, panels > 1 ? 480 : 640, &script);
    free(p.number);
    gram_string_free(&script);
    return code;
}
