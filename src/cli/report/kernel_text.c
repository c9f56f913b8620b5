#include "cli/report/kernel_text.h"

#include "cli/report/report_rows.h"

int cli_kernel_read(cli_session *session, const char *expression, gram_kernel **kernel)
{
    const gram_status status = gram_kernel_parse(session->context, expression, kernel);
    if (status >= 0) return CLI_DONE;
    return cli_session_fail(session, status, 0,
                            "Kernels look like '2*rbf(ell=0.3) + on(1:2, matern(nu=1.5))'; see `gram help kernel`.");
}

void cli_add_kernel(gram_string *text, const char *label, const gram_kernel *kernel)
{
    cli_add_label(text, label);
    gram_kernel_append_short(kernel, text);
    gram_string_add(text, "\n");
}

int cli_words_print(cli_session *session, gram_string *text, const gram_kernel *kernel, int64_t d)
{
    int any = 0, first = 0;
    for (int tool = 0; tool < GRAM_TOOL_COUNT; tool++) {
        gram_string words = {0};
        if (gram_kernel_append_words(session->context, kernel, d, (gram_tool)tool, &words) < 0 || words.failed)
            text->failed = 1;
        if (words.length > 0) {
            if (!any) cli_add_heading(session, text, "In other tools");
            any = 1;
            first |= tool == GRAM_TOOL_SCIKIT_LEARN;
            cli_add_rounded(text, gram_tool_name((gram_tool)tool), words.data);
        }
        gram_string_free(&words);
    }
    return first;
}

void cli_words_json(cli_session *session, gram_json *json, const gram_kernel *kernel, int64_t d)
{
    if (gram_kernel_words_json(session->context, kernel, d, json) < 0) json->text->failed = 1;
}
