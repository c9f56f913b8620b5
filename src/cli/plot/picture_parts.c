#include "cli/plot/picture_parts.h"

#include <inttypes.h>

#include "cli/plot/gnuplot.h"

enum { MOST_DATA = 3000 };

static const char *const STRONG[] = {"#0060ad", "#d95319", "#3a923a", "#8e44ad", "#b8860b", "#16a085"};
static const char *const PALE[] = {"#cfe0f0", "#f8dccb", "#d5ead5", "#e6d5ee", "#f0e6c8", "#cdeae4"};

const char *cli_picture_strong(int64_t group)
{
    return STRONG[group % CLI_COLOURS];
}

void cli_picture_palette(gram_string *script)
{
    gram_string_add(script, "set palette defined (");
    for (int c = 0; c < CLI_COLOURS; c++) gram_string_add(script, "%s%d '%s'", c > 0 ? ", " : "", c, PALE[c]);
    gram_string_add(script, ")\nset cbrange [0:%d]\nunset colorbox\nunset grid\n", CLI_COLOURS - 1);
}

static double own_unit(const gram_preparation *preparation, int axis, double value)
{
    return preparation ? gram_preparation_unit(preparation, axis, value) : value;
}

void cli_picture_map(gram_string *script, const gram_map *map, const gram_preparation *preparation, int64_t first)
{
    gram_string_add(script, "$frame << END_OF_FRAME\n");
    for (int64_t c = 0; c < map->side * map->side; c++) {
        const int64_t cell[] = {c / map->side, c % map->side};
        for (int axis = 0; axis < 2; axis++) {
            const double share = ((double)cell[axis] + 0.5) / (double)map->side;
            cli_picture_number(
                script, own_unit(preparation, axis, map->low[axis] + (map->high[axis] - map->low[axis]) * share), " ");
        }
        gram_string_add(script, "%" PRId64 "\n", ((int64_t)map->values[c] - first) % CLI_COLOURS);
    }
    gram_string_add(script, "END_OF_FRAME\n");
}

void cli_picture_frame(gram_string *script, const gram_map *map, const gram_preparation *preparation)
{
    static const char *const axes[] = {"x", "y"};
    for (int axis = 0; axis < 2; axis++)
        cli_picture_range(script, axes[axis], own_unit(preparation, axis, map->low[axis]),
                          own_unit(preparation, axis, map->high[axis]));
}

int cli_picture_predictor(cli_session *session, const gram_model *model, const char *name, int interval, int terms,
                          gram_predictor **predictor)
{
    gram_predict_options wish;
    gram_predict_options_init(&wish, sizeof wish);
    wish.name = name;
    wish.dashes = "--";
    wish.interval = interval ? 0.95 : 0;
    wish.terms = terms;
    const gram_status status = gram_predictor_create(session->context, model, &wish, predictor);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

int64_t cli_picture_dimension(const gram_model *model)
{
    const gram_preparation *preparation = gram_model_preparation(model);
    const gram_preparation_description *known = preparation ? gram_preparation_describe(preparation) : NULL;
    for (int64_t f = 0; known && f < known->feature_count; f++)
        if (known->features[f].text) return 0;
    return known ? known->feature_count : 0;
}

void cli_picture_number(gram_string *script, double value, const char *after)
{
    char number[GRAM_NUMBER_SIZE];
    gram_string_add(script, "%s%s", gram_number_format(value, number), after);
}

void cli_picture_block(gram_string *script, const char *name, int64_t rows, int count, const double *const *columns,
                       const int64_t *ld)
{
    gram_string_add(script, "$%s << END_OF_BLOCK\n", name);
    for (int64_t i = 0; i < rows; i++)
        for (int j = 0; j < count; j++)
            cli_picture_number(script, columns[j][ld ? i * ld[j] : i], j + 1 < count ? " " : "\n");
    gram_string_add(script, "END_OF_BLOCK\n");
}

void cli_picture_points(gram_string *script, const char *name, const gram_preparation *preparation, int64_t n,
                        const double *x, int64_t ld, int64_t most, const double *labels, int64_t class)
{
    const int64_t step = (n + most - 1) / most;
    gram_string_add(script, "$%s << END_OF_POINTS\n", name);
    for (int64_t i = 0; i < n; i += step) {
        if (labels && (int64_t)labels[i] != class) continue;
        cli_picture_number(script, gram_preparation_unit(preparation, 0, x[i * ld]), " ");
        cli_picture_number(script, gram_preparation_unit(preparation, 1, x[i * ld + 1]), "\n");
    }
    gram_string_add(script, "END_OF_POINTS\n");
}

void cli_picture_grid(int count, double from, double to, double *out)
{
    for (int i = 0; i < count; i++) out[i] = i == count - 1 ? to : from + (to - from) * i / (count - 1);
}

void cli_picture_extend(int64_t n, const double *x, int64_t ld, double *least, double *most)
{
    for (int64_t i = 0; i < n; i++) {
        if (!(x[i * ld] >= *least)) *least = x[i * ld];
        if (!(x[i * ld] <= *most)) *most = x[i * ld];
    }
}

int64_t cli_picture_observations(gram_string *script, const gram_model *model, double from, double to)
{
    int64_t n = 0, columns = 0, count = 0;
    const double *y = model ? gram_model_array(model, "targets", &n, &columns) : NULL;
    const double *x = y ? gram_function_centres_f64(gram_model_function(model)) : NULL;
    if (!x) return 0;
    const gram_fact offset = gram_model_find(model, "offset");
    gram_string_add(script, "$data << END_OF_DATA\n");
    for (int64_t i = 0; i < n; i += n / MOST_DATA + 1) {
        const double value = gram_preparation_unit(gram_model_preparation(model), 0, x[i]);
        if (value < from || value > to) continue;
        cli_picture_number(script, value, " ");
        cli_picture_number(script, y[i] + (offset.name ? offset.number : 0), "\n");
        count++;
    }
    gram_string_add(script, "END_OF_DATA\n");
    return count;
}

void cli_picture_range(gram_string *script, const char *axis, double from, double to)
{
    gram_string_add(script, "set %srange [", axis);
    cli_picture_number(script, from, ":");
    cli_picture_number(script, to, "]\n");
}

void cli_picture_label(gram_string *script, const char *axis, const char *words, const char *name)
{
    gram_string label = {0};
    gram_string_add(&label, "%s%s%s", words, words[0] ? " " : "", name);
    gram_string_add(script, "set %slabel ", axis);
    cli_plot_quote(script, label.data ? label.data : "");
    gram_string_add(script, "\n");
    gram_string_free(&label);
}

double cli_picture_point_size(int64_t count)
{
    return count <= 150 ? 0.6 : count <= 1000 ? 0.45 : 0.3;
}

void cli_picture_look(gram_string *script)
{
    gram_string_add(script, "set border 3 lc rgb '" CLI_QUIET_COLOUR
                            "'\nset tics nomirror out scale 0.6 textcolor rgb 'black'\n"
                            "set grid lc rgb '#e0e0e0' lw 1 dt 1\nset key above Left reverse samplen 2\n");
}
