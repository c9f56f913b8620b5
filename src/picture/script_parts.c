#include "picture/script_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/number.h"
#include "kernel/kernel_print.h"

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

void gram_script_kernel(gram_string *text, const gram_kernel *kernel, size_t most)
{
    enum { LONGEST = 200, DIGITS = 4 };
    char words[LONGEST + 1];
    const size_t size = most < LONGEST ? most + 1 : sizeof words;
    const size_t length = gram_kernel_print_short(kernel, DIGITS, words, size);
    gram_string_add(text, "%s%s", words, length >= size ? "..." : "");
}

/* What was gathered, in a small font. */
static void add_caption(gram_string *script, gram_string *words)
{
    quote_gathered(script, words);
    gram_string_add(script, " font ',10'");
}

void gram_script_heading(gram_string *script, const gram_kernel *kernel, const char *words)
{
    gram_string title = {0};
    gram_script_kernel(&title, kernel, 72);
    gram_string_add(&title, "%s", words);
    add_caption(script, &title);
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

void gram_script_title_of_two(gram_string *script, const gram_kernel *first, const gram_kernel *second,
                              const char *file)
{
    gram_string title = {0};
    gram_script_kernel(&title, first, 44);
    gram_string_add(&title, " and ");
    gram_script_kernel(&title, second, 44);
    gram_string_add(&title, " on %s", gram_script_file(file));
    gram_string_add(script, "set title ");
    add_caption(script, &title);
    gram_string_add(script, "\n");
}

void gram_script_few_tics(gram_string *script, const char *axis, double from, double to)
{
    static const double round[] = {1, 2, 2.5, 5, 10};
    const double least = (to - from) / 4, power = pow(10, floor(log10(least)));
    int k = 0;
    if (!(least > 0) || !isfinite(least)) return;
    while (k < 4 && round[k] * power < least * (1 - 1e-9)) k++;
    gram_string_add(script, "set %stics ", axis);
    gram_script_short(script, round[k] * power, "\n");
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
