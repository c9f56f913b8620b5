#include "cli/terminal/model_open.h"

int cli_model_read(cli_session *session, const char *path, gram_model **model)
{
    const gram_status status = gram_model_read(session->context, path, model);
    if (status >= 0) return CLI_DONE;
    const int unreadable = status == GRAM_ERROR_FILE || status == GRAM_ERROR_DATA;
    return cli_session_fail(session, status, 1, unreadable ? "Models are made by `gram fit DATA -o M.gram`." : NULL);
}
