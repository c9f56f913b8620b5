#include "cli/terminal/data_origin.h"

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

int cli_data_fail(cli_session *session, gram_status status, const cli_origin *origin)
{
    int64_t row, column;
    char name[256] = "";
    if (gram_context_place(session->context, &row, &column) && column >= 0) {
        if (origin->preparation)
            (void)gram_preparation_column_name(origin->preparation, origin->first_column + column, name, sizeof name);
        gram_context_name_place(session->context, origin->file,
                                origin->first + (origin->rows ? origin->rows[row] : row),
                                origin->table ? gram_table_column_name(origin->table, column) : name);
    }
    return cli_session_fail(session, status, 1, origin->help);
}

int cli_model_read(cli_session *session, const char *path, gram_model **model)
{
    const gram_status status = gram_model_read(session->context, path, model);
    if (status >= 0) return CLI_DONE;
    const int unreadable = status == GRAM_ERROR_FILE || status == GRAM_ERROR_DATA;
    return cli_session_fail(session, status, 1, unreadable ? "Models are made by `gram fit DATA -o M.gram`." : NULL);
}
