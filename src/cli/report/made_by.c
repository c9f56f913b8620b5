#include "cli/report/made_by.h"

#include <string.h>

/* Options with a value, and without one, that are left out: equal fits have equal models. */
static const char *const WITH_VALUE[] = {"--out", "-o", "--threads", "--memory", "--plot"};
static const char *const ALONE[] = {"--json", "--quiet", "-q", "--verbose"};

/* How many words from this one on are left out. */
static int left_out(const char *word)
{
    for (size_t i = 0; i < sizeof WITH_VALUE / sizeof *WITH_VALUE; i++) {
        const size_t length = strlen(WITH_VALUE[i]);
        if (strcmp(word, WITH_VALUE[i]) == 0) return 2;
        if (strncmp(word, WITH_VALUE[i], length) == 0 && (word[length] == '=' || word[1] != '-')) return 1;
    }
    for (size_t i = 0; i < sizeof ALONE / sizeof *ALONE; i++)
        if (strcmp(word, ALONE[i]) == 0) return 1;
    return 0;
}

/* A word as a shell reads it back. Bytes that are no text become question marks, since a model holds texts. */
static void add_word(gram_string *text, const char *word)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%";
    const int quoted = word[0] == '\0' || word[strspn(word, PLAIN)] != '\0';
    gram_string_add(text, quoted ? " '" : " ");
    while (*word) {
        const size_t length = gram_utf8_length(word);
        if (*word == '\'')
            gram_string_add(text, "'\\''");
        else if (length == 0 || (unsigned char)*word < ' ')
            gram_string_add(text, "?");
        else
            gram_string_put(text, word, length);
        word += length > 0 ? length : 1;
    }
    if (quoted) gram_string_add(text, "'");
}

void cli_command_text(int count, char **arguments, gram_string *text)
{
    gram_string_add(text, "gram");
    for (int i = 0; i < count;) {
        const int skipped = i > 0 ? left_out(arguments[i]) : 0;
        if (skipped == 0) add_word(text, arguments[i]);
        i += skipped > 0 ? skipped : 1;
    }
}

int cli_keep_command(cli_session *session, gram_model *model, int count, char **arguments)
{
    gram_string text = {0};
    cli_command_text(count, arguments, &text);
    const gram_status status = text.failed || !text.data
                                   ? GRAM_ERROR_MEMORY
                                   : gram_model_set_text(session->context, model, "command", text.data);
    gram_string_free(&text);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}
