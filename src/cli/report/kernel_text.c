#include "cli/report/kernel_text.h"

#include "cli/report/report_rows.h"

int cli_kernel_read(cli_session *session, const char *expression, gram_kernel **kernel)
{
    const gram_status status = gram_kernel_parse(session->context, expression, kernel);
    if (status >= 0) return CLI_DONE;
    return cli_session_fail(session, status, 0,
                            "Kernels look like '2*rbf(ell=0.3) + on(1:2, matern(nu=1.5))'; see `gram help kernel`.");
}

char *cli_kernel_text(const gram_kernel *kernel)
{
    gram_string text = {0};
    gram_kernel_append(kernel, &text);
    return text.data;
}

int cli_words_find(cli_session *session, const gram_kernel *kernel, int64_t d, cli_words *words)
{
    gram_status status = GRAM_OK;
    for (int tool = 0; tool < GRAM_TOOL_COUNT && status >= 0; tool++)
        status = gram_kernel_append_words(session->context, kernel, d, (gram_tool)tool, &words->tools[tool]);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

void cli_words_free(cli_words *words)
{
    for (int tool = 0; tool < GRAM_TOOL_COUNT; tool++) gram_string_free(&words->tools[tool]);
}

void cli_words_json(gram_json *json, const cli_words *words)
{
    gram_json_open(json, "equivalents", '{');
    for (int tool = 0; tool < GRAM_TOOL_COUNT; tool++)
        if (words->tools[tool].length > 0)
            gram_json_string(json, gram_tool_name((gram_tool)tool), words->tools[tool].data);
    gram_json_close(json, '{');
}

void cli_words_print(cli_session *session, gram_string *text, const cli_words *words)
{
    int any = 0;
    for (int tool = 0; tool < GRAM_TOOL_COUNT; tool++) {
        if (words->tools[tool].length == 0) continue;
        if (!any) cli_add_heading(session, text, "In other tools");
        any = 1;
        cli_add_row(text, gram_tool_name((gram_tool)tool), words->tools[tool].data);
    }
}
