#include "picture/script_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/number.h"

/* ---- texts ---- */

/* `twice`: a character that is doubled besides the quote. What is not UTF-8 becomes U+FFFD. */
static void quote(gram_string *script, const char *text, char twice)
{
    gram_string_put(script, "'", 1);
    while (*text) {
        const size_t length = gram_utf8_length(text);
        if (*text == '\'' || *text == twice) gram_string_put(script, text, 1);
        if (length == 0)
            gram_string_put(script, "\xef\xbf\xbd", 3);
        else
            gram_string_put(script, (unsigned char)*text < ' ' || *text == 0x7F ? " " : text, length);
        text += length > 0 ? length : 1;
    }
    gram_string_put(script, "'", 1);
}

void gram_script_quote(gram_string *script, const char *text)
{
    quote(script, text, '\'');
}

void gram_script_tic(gram_string *script, const char *name, int64_t place)
{
    if (place > 0) gram_string_add(script, ", ");
    quote(script, name, '%');
    gram_string_add(script, " %" PRId64, place);
}

/* Quotes what was gathered, and frees it. */
static void quote_gathered(gram_string *script, gram_string *words)
{
    gram_script_quote(script, words->data ? words->data : "");
    script->failed |= words->failed;
    gram_string_free(words);
}

void gram_script_heading(gram_string *script, const gram_kernel *kernel, const char *words)
{
    enum { LONGEST = 72 };
    gram_string title = {0};
    char text[LONGEST + 1];
    const size_t length = gram_kernel_print(kernel, text, sizeof text);
    gram_string_add(&title, "%s%s%s", text, length > LONGEST ? "..." : "", words);
    quote_gathered(script, &title);
    gram_string_add(script, " font ',10'");
}

const char *gram_script_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void gram_script_heading_of(gram_string *script, const char *command, const gram_kernel *kernel, const char *file)
{
    gram_string words = {0};
    gram_string_add(&words, " on %s", gram_script_file(file));
    gram_string_add(script, "%s ", command);
    gram_script_heading(script, kernel, words.data ? words.data : "");
    gram_string_add(script, "\n");
    script->failed |= words.failed;
    gram_string_free(&words);
}

void gram_script_title(gram_string *script, const gram_kernel *kernel, const char *file)
{
    gram_script_heading_of(script, "set title", kernel, file);
}

void gram_script_label(gram_string *script, const char *axis, const char *words, const char *name)
{
    gram_string label = {0};
    gram_string_add(&label, "%s%s%s", words, words[0] ? " " : "", name);
    gram_string_add(script, "set %slabel ", axis);
    quote_gathered(script, &label);
    gram_string_add(script, "\n");
}

/* ---- numbers ---- */

void gram_script_number(gram_string *script, double value, const char *after)
{
    char number[GRAM_NUMBER_SIZE];
    gram_string_add(script, "%s%s", gram_number_format(value, number), after);
}

void gram_script_short(gram_string *script, double value, const char *after)
{
    char number[GRAM_NUMBER_SIZE];
    gram_string_add(script, "%s%s", gram_number_short(value, 6, number), after);
}

void gram_script_fixed(gram_string *script, double value, const char *after)
{
    char number[GRAM_NUMBER_SIZE];
    (void)snprintf(number, sizeof number, "%.6f", value);
    char *comma = strchr(number, ','); /* the locale's point */
    if (comma) *comma = '.';
    gram_string_add(script, "%s%s", number, after);
}

void gram_script_block(gram_string *script, const char *name, int64_t rows, int count, const double *const *columns,
                       const int64_t *ld)
{
    gram_string_add(script, "$%s << END_OF_BLOCK\n", name);
    for (int64_t i = 0; i < rows; i++)
        for (int j = 0; j < count; j++)
            gram_script_number(script, columns[j][ld ? i * ld[j] : i], j + 1 < count ? " " : "\n");
    gram_string_add(script, "END_OF_BLOCK\n");
}

void gram_script_points(gram_string *script, const char *name, const gram_preparation *preparation, int64_t n,
                        const double *x, int64_t ld, int64_t most, const double *labels, int64_t class)
{
    const int64_t step = (n + most - 1) / most;
    gram_string_add(script, "$%s << END_OF_POINTS\n", name);
    for (int64_t i = 0; i < n; i += step) {
        if (labels && (int64_t)labels[i] != class) continue;
        gram_script_number(script, gram_preparation_unit(preparation, 0, x[i * ld]), " ");
        gram_script_number(script, gram_preparation_unit(preparation, 1, x[i * ld + 1]), "\n");
    }
    gram_string_add(script, "END_OF_POINTS\n");
}

int64_t gram_script_observations(gram_string *script, const gram_model *model, double from, double to)
{
    int64_t n = 0, columns = 0, count = 0;
    const double *y = model ? gram_model_array(model, "targets", &n, &columns) : NULL;
    const double *x = y ? gram_function_centres_f64(gram_model_function(model)) : NULL;
    if (!x) return 0;
    const gram_fact offset = gram_model_find(model, "offset");
    gram_string_add(script, "$data << END_OF_DATA\n");
    for (int64_t i = 0; i < n; i += n / GRAM_PICTURE_POINTS + 1) {
        const double value = gram_preparation_unit(gram_model_preparation(model), 0, x[i]);
        if (value < from || value > to) continue;
        gram_script_number(script, value, " ");
        gram_script_number(script, y[i] + (offset.name ? offset.number : 0), "\n");
        count++;
    }
    gram_string_add(script, "END_OF_DATA\n");
    return count;
}

/* ---- axes and looks ---- */

void gram_script_look(gram_string *script)
{
    gram_string_add(script, "set border 3 lc rgb '" GRAM_QUIET_COLOUR
                            "'\nset tics nomirror out scale 0.6 textcolor rgb 'black'\n"
                            "set grid lc rgb '#e0e0e0' lw 1 dt 1\nset key above Left reverse samplen 2\n");
}

void gram_script_range(gram_string *script, const char *axis, double from, double to)
{
    gram_string_add(script, "set %srange [", axis);
    gram_script_number(script, from, ":");
    gram_script_number(script, to, "]\n");
}

void gram_script_point_size(gram_string *script, int64_t count, double factor)
{
    gram_string_add(script, " ps ");
    gram_script_short(script, (count <= 150 ? 0.6 : count <= 1000 ? 0.45 : 0.3) * factor, "");
}

const char *gram_script_colour(int64_t group)
{
    static const char *const strong[] = {"#0060ad", "#d95319", "#3a923a", "#8e44ad", "#b8860b", "#16a085"};
    return strong[group % GRAM_PICTURE_COLOURS];
}

/* ---- maps of a plane ---- */

void gram_script_palette(gram_string *script)
{
    static const char *const pale[] = {"#cfe0f0", "#f8dccb", "#d5ead5", "#e6d5ee", "#f0e6c8", "#cdeae4"};
    gram_string_add(script, "set palette defined (");
    for (int c = 0; c < GRAM_PICTURE_COLOURS; c++) gram_string_add(script, "%s%d '%s'", c > 0 ? ", " : "", c, pale[c]);
    gram_string_add(script, ")\nset cbrange [0:%d]\nunset colorbox\nunset grid\n", GRAM_PICTURE_COLOURS - 1);
}

static double own_unit(const gram_preparation *preparation, int axis, double value)
{
    return preparation ? gram_preparation_unit(preparation, axis, value) : value;
}

void gram_script_cell(gram_string *script, const gram_map *map, const gram_preparation *preparation, int64_t i,
                      int64_t j)
{
    const int64_t cell[] = {i, j};
    for (int axis = 0; axis < 2; axis++) {
        const double share = ((double)cell[axis] + 0.5) / (double)map->side;
        const double at = map->low[axis] + (map->high[axis] - map->low[axis]) * share;
        gram_script_number(script, own_unit(preparation, axis, at), " ");
    }
}

void gram_script_map(gram_string *script, const gram_map *map, const gram_preparation *preparation, int64_t first)
{
    gram_string_add(script, "$frame << END_OF_FRAME\n");
    for (int64_t c = 0; c < map->side * map->side; c++) {
        gram_script_cell(script, map, preparation, c / map->side, c % map->side);
        gram_string_add(script, "%" PRId64 "\n", ((int64_t)map->values[c] - first) % GRAM_PICTURE_COLOURS);
    }
    gram_string_add(script, "END_OF_FRAME\n");
}

void gram_script_frame(gram_string *script, const gram_map *map, const gram_preparation *preparation)
{
    static const char *const axes[] = {"x", "y"};
    for (int axis = 0; axis < 2; axis++)
        gram_script_range(script, axes[axis], own_unit(preparation, axis, map->low[axis]),
                          own_unit(preparation, axis, map->high[axis]));
}

/* ---- numbers to draw ---- */

void gram_picture_grid(int count, double from, double to, double *out)
{
    for (int i = 0; i < count; i++) out[i] = i == count - 1 ? to : from + (to - from) * i / (count - 1);
}

void gram_picture_extend(int64_t n, const double *x, int64_t ld, double *least, double *most)
{
    for (int64_t i = 0; i < n; i++) {
        if (!(x[i * ld] >= *least)) *least = x[i * ld];
        if (!(x[i * ld] <= *most)) *most = x[i * ld];
    }
}
