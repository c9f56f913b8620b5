#include "cli/terminal/data_origin.h"

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
    const char *advice = gram_context_advice(session->context);
    return cli_session_fail(session, status, 1, advice[0] ? advice : reading_help(status, contents));
}

int cli_model_read(cli_session *session, const char *path, gram_model **model)
{
    const gram_status status = gram_model_read(session->context, path, model);
    if (status >= 0) return CLI_DONE;
    const int unreadable = status == GRAM_ERROR_FILE || status == GRAM_ERROR_DATA;
    return cli_session_fail(session, status, 1, unreadable ? "Models are made by `gram fit DATA -o M.gram`." : NULL);
}
