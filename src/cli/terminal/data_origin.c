#include "cli/terminal/data_origin.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *cli_data_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

static const char *reading_help(gram_status status, const char *contents)
{
    if (status == GRAM_ERROR_FILE) return "Check the name, and that you may read it.";
    if (status == GRAM_ERROR_SYNTAX) return "A list of columns is names, places and ranges: x1,x3:x5,7.";
    if (status != GRAM_ERROR_DATA) return NULL;
    return contents ? contents
                    : "DATA is a table: csv, tsv, npy or libsvm (--format); --ignore LIST leaves columns out.";
}

int cli_data_unread(cli_session *session, gram_status status, const char *contents)
{
    return cli_session_fail(session, status, 1, reading_help(status, contents));
}

enum { MAX_NAME = 256 };

static const char *column_name(const cli_origin *origin, int64_t column, char name[MAX_NAME])
{
    if (origin->table) return gram_table_column_name(origin->table, column);
    (void)gram_preparation_column_name(origin->preparation, column, name, MAX_NAME);
    return name;
}

int cli_data_fail(cli_session *session, gram_status status, const cli_origin *origin)
{
    int64_t row, column;
    char place[64], name[MAX_NAME];
    const char *message = gram_context_message(session->context), *rest;
    if (!gram_context_place(session->context, &row, &column) || column < 0)
        return cli_session_fail(session, status, 1, origin->help);
    (void)snprintf(place, sizeof place, "x[%" PRId64 "][%" PRId64 "] = ", row, column);
    rest = strstr(message, place);
    cli_session_clear(session);
    row = origin->first + (origin->rows ? origin->rows[row] : row);
    return cli_fail(cli_exit_code(status, 1), origin->help ? origin->help : cli_help(status),
                    "%s: row %" PRId64 ", column '%s': %.*s%s", origin->file, row + 1,
                    column_name(origin, origin->first_column + column, name), (int)(rest ? rest - message : 0), message,
                    rest ? rest + strlen(place) : message);
}
