#include "cli/report/kernel_text.h"

#include <stdlib.h>

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
    const size_t length = gram_kernel_print(kernel, NULL, 0);
    char *text = malloc(length + 1);
    if (text) (void)gram_kernel_print(kernel, text, length + 1);
    return text;
}

/* One tool's; nothing is added if it has no such kernel. */
static int find_tool(cli_session *session, const gram_kernel *kernel, int64_t d, gram_tool tool, gram_string *words)
{
    size_t length;
    gram_status status = gram_kernel_words(session->context, kernel, d, tool, NULL, 0, &length);
    if (status < 0) return cli_session_fail(session, status, 0, NULL);
    if (length == 0) return CLI_DONE;
    char *text = malloc(length + 1);
    if (!text) return cli_no_memory();
    status = gram_kernel_words(session->context, kernel, d, tool, text, length + 1, &length);
    if (status >= 0) gram_string_put(words, text, length);
    free(text);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

int cli_words_find(cli_session *session, const gram_kernel *kernel, int64_t d, cli_words *words)
{
    int code = CLI_DONE;
    for (int tool = 0; tool < GRAM_TOOL_COUNT && code == CLI_DONE; tool++)
        code = find_tool(session, kernel, d, (gram_tool)tool, &words->tools[tool]);
    return code;
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
