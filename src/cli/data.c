#include "data.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *cli_data_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

static const char *reading_help(gram_status status)
{
    if (status == GRAM_ERROR_FILE) return "Check the name, and that you may read it.";
    if (status == GRAM_ERROR_SYNTAX) return "A list of columns is names, places and ranges: x1,x3:x5,7.";
    if (status != GRAM_ERROR_DATA) return NULL;
    return "DATA is a table of numbers: csv, tsv or npy (--format); --ignore LIST leaves columns out.";
}

int cli_data_unread(cli_session *session, gram_status status)
{
    return cli_session_fail(session, status, 1, reading_help(status));
}

int cli_data_fail(cli_session *session, gram_status status, const char *file, const int64_t *rows,
                  cli_column_name column_name, const void *from)
{
    int64_t row, column;
    char place[64];
    const char *message = gram_context_message(session->context), *rest;
    if (!gram_context_place(session->context, &row, &column)) return cli_session_fail(session, status, 1, NULL);
    (void)snprintf(place, sizeof place, "x[%" PRId64 "][%" PRId64 "] = ", row, column);
    rest = strstr(message, place);
    cli_session_clear(session);
    return cli_fail(cli_exit_code(status, 1), cli_help(status), "%s: row %" PRId64 ", column '%s': %.*s%s", file,
                    (rows ? rows[row] : row) + 1, column_name(from, column), (int)(rest ? rest - message : 0), message,
                    rest ? rest + strlen(place) : message);
}
