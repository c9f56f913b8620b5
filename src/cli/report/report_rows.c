#include "cli/report/report_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

char *cli_short_number(double value, char out[CLI_SHORT_SIZE])
{
    if (isnan(value)) return strcpy(out, "-");
    (void)snprintf(out, CLI_SHORT_SIZE, "%.6g", value);
    return out;
}

char *cli_count(long long value, char out[CLI_SHORT_SIZE])
{
    char digits[CLI_SHORT_SIZE];
    const int length = snprintf(digits, sizeof digits, "%lld", value);
    char *end = out;
    for (int i = 0; i < length; i++) {
        *end++ = digits[i];
        if (digits[i] != '-' && i + 1 < length && (length - i - 1) % 3 == 0) *end++ = ',';
    }
    *end = '\0';
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

void cli_add_number(gram_string *text, const char *label, double value)
{
    char number[CLI_SHORT_SIZE];
    if (!isnan(value)) cli_add_row(text, label, cli_short_number(value, number));
}

void cli_add_heading(cli_session *session, gram_string *text, const char *heading)
{
    gram_string_add(text, "\n%s%s%s\n", cli_bold(session->common), heading, cli_plain(session->common));
}

const char *cli_plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

int cli_report_write(cli_session *session, gram_string *text)
{
    cli_session_clear(session);
    const int code = cli_write(session->common, text);
    gram_string_free(text);
    return code;
}
