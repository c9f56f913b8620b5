#include "cli/report/report_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/terminal/ranks.h"

char *cli_short_number(double value, char out[CLI_SHORT_SIZE])
{
    if (isnan(value)) return strcpy(out, "-");
    (void)snprintf(out, CLI_SHORT_SIZE, "%.6g", value);
    return out;
}

void cli_add_label(gram_string *text, const char *label)
{
    gram_string_add(text, "%s", label);
    gram_string_pad(text, CLI_VALUE_COLUMN);
}

void cli_add_row(gram_string *text, const char *label, const char *value)
{
    cli_add_label(text, label);
    gram_string_add(text, "%s\n", value);
}

/* Characters of the line so far. */
static size_t line_width(const gram_string *text)
{
    size_t start = text->length;
    while (start > 0 && text->data[start - 1] != '\n') start--;
    return text->length > start ? gram_string_width(text->data + start, text->length - start) : 0;
}

void cli_add_wrapped(gram_string *text, const char *words, const char *after, size_t column)
{
    enum { WIDTH = 100 };
    while (*words) {
        size_t length = strcspn(words, after);
        length += words[length] != '\0';
        const size_t line = line_width(text);
        if (line + gram_string_width(words, length) > WIDTH && line > column) {
            while (text->length > 0 && text->data[text->length - 1] == ' ') text->data[--text->length] = '\0';
            gram_string_add(text, "\n");
            if (column > 0) gram_string_pad(text, column);
        }
        gram_string_put(text, words, length);
        words += length;
    }
    gram_string_add(text, "\n");
}

void cli_add_number(gram_string *text, const char *label, double value)
{
    char number[CLI_SHORT_SIZE];
    if (!isnan(value)) cli_add_row(text, label, cli_short_number(value, number));
}

void cli_add_rounded(gram_string *text, const char *label, const char *value)
{
    gram_string row = {0};
    while (*value) {
        double number;
        char shown[CLI_SHORT_SIZE];
        const int begins = *value >= '0' && *value <= '9';
        const size_t length = begins ? gram_number_parse(value, strlen(value), &number) : strcspn(value, "0123456789");
        if (begins && length > 8) /* six digits, a point and a sign of the exponent are short enough */
            gram_string_add(&row, "%s", cli_short_number(number, shown));
        else
            gram_string_put(&row, value, length > 0 ? length : 1);
        value += length > 0 ? length : 1;
    }
    cli_add_row(text, label, row.data ? row.data : "");
    text->failed |= row.failed;
    gram_string_free(&row);
}

void cli_add_heading(cli_session *session, gram_string *text, const char *heading)
{
    gram_string_add(text, "\n%s%s%s\n", cli_bold(session->common), heading, cli_plain(session->common));
}

void cli_add_values(gram_string *text, int64_t count, const double *values, const char *after)
{
    char number[GRAM_NUMBER_SIZE];
    for (int64_t j = 0; j < count; j++)
        gram_string_add(text, "%s%s", j > 0 ? "," : "", gram_number_format(values[j], number));
    gram_string_add(text, "%s", after);
}

const char *cli_plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

void cli_json_end(cli_session *session, gram_json *json, const char *plot)
{
    const char *left_out = gram_context_left_out(session->context);
    if (plot) gram_json_string(json, "plot", plot);
    if (left_out[0]) gram_json_string(json, "left_out", left_out);
    gram_json_number(json, "seconds", cli_session_seconds(session));
    gram_json_integer(json, "peak_bytes", (int64_t)gram_system_memory_peak());
    cli_ranks_json(session, json);
}

void cli_add_cost(cli_session *session, gram_string *text)
{
    char size[GRAM_BYTES_SIZE];
    const char *left_out = gram_context_left_out(session->context);
    gram_string_add(text, "\n");
    cli_add_label(text, "time, memory");
    gram_string_add(text, "%.2f s, %s\n", cli_session_seconds(session),
                    gram_bytes_format(gram_system_memory_peak(), size));
    if (left_out[0]) cli_add_row(text, "left out", left_out);
    cli_ranks_cost(session, text);
}

int cli_report_print(cli_session *session, const void *report,
                     void (*json)(cli_session *session, const void *report, gram_json *json),
                     void (*print)(cli_session *session, const void *report, gram_string *text))
{
    gram_string text = {0};
    gram_json object = {.text = &text};
    if (session->common->json) {
        gram_json_open(&object, NULL, '{');
        json(session, report, &object);
        gram_json_close(&object, '{');
        gram_string_add(&text, "\n");
    } else {
        print(session, report, &text);
    }
    cli_session_clear(session);
    const int code = cli_write(session, session->common->out, &text);
    gram_string_free(&text);
    return code;
}
