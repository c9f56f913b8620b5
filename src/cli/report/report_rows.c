#include "cli/report/report_rows.h"

#include <math.h>

void cli_add_label(cli_text *text, const char *label)
{
    cli_text_add(text, "%s", label);
    cli_text_pad(text, CLI_VALUE_COLUMN);
}

void cli_add_row(cli_text *text, const char *label, const char *value)
{
    cli_add_label(text, label);
    cli_text_add(text, "%s\n", value);
}

void cli_add_number(cli_text *text, const char *label, double value)
{
    char number[CLI_SHORT_SIZE];
    if (!isnan(value)) cli_add_row(text, label, cli_short_number(value, number));
}

void cli_add_heading(cli_session *session, cli_text *text, const char *heading)
{
    cli_text_add(text, "\n%s%s%s\n", cli_bold(session->common), heading, cli_plain(session->common));
}

const char *cli_plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

int cli_report_write(cli_session *session, cli_text *text)
{
    cli_session_clear(session);
    const int code = cli_write(session->common, text);
    cli_text_free(text);
    return code;
}
