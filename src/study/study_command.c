/* A study and a command: values into its arguments, and out of what it prints. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gram/output.h>

#include "base/text/number.h"
#include "study/study_core.h"

enum { MOST_NAMES = 64, VALUE_SIZE = 1100 };

/* The length of "{name}" at this place, 0 if there is none. */
static size_t placeholder(const char *at)
{
    size_t length = 1;
    if (*at != '{' || (!isalpha((unsigned char)at[1]) && at[1] != '_')) return 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_') length++;
    return at[length] == '}' ? length + 1 : 0;
}

static int64_t find_name(const gram_study *study, const char *name, size_t length)
{
    for (int64_t i = 0; i < study->space.count; i++) {
        const char *own = study->space.variables[i].name;
        if (strlen(own) == length && memcmp(own, name, length) == 0) return i;
    }
    return -1;
}

static int is_row(const gram_study *study, const char *name, size_t length)
{
    return study->options.candidate_count > 0 && length == 3 && memcmp(name, "row", 3) == 0;
}

void gram_study_fill_word(const gram_study *study, const char *word, const double *x, int64_t row, gram_string *out)
{
    char value[VALUE_SIZE];
    while (*word) {
        const size_t length = placeholder(word);
        const int64_t i = length ? find_name(study, word + 1, length - 2) : -1;
        if (i >= 0)
            (void)gram_study_format(study, i, x[i], value, sizeof value);
        else if (length && is_row(study, word + 1, length - 2))
            (void)snprintf(value, sizeof value, "%lld", (long long)row + 1);
        else {
            gram_string_put(out, word++, 1);
            continue;
        }
        gram_string_put(out, value, strlen(value));
        word += length;
    }
}

static gram_status no_variable(gram_context *context, const gram_study *study, const char *at, size_t length)
{
    const char *names[MOST_NAMES];
    char name[128];
    size_t count = 0;
    for (int64_t i = 0; i < study->space.count && count < MOST_NAMES; i++)
        names[count++] = study->space.variables[i].name;
    (void)snprintf(name, sizeof name, "%.*s", (int)(length < 100 ? length - 2 : 98), at + 1);
    const char *near = gram_suggest(name, names, count);
    return near ? gram_fail(context, GRAM_ERROR_ARGUMENT, "{%s} in the command is no variable, did you mean {%s}?",
                            name, near)
                : gram_fail(context, GRAM_ERROR_ARGUMENT, "{%s} in the command is no variable", name);
}

static gram_status check_word(gram_context *context, const gram_study *study, const char *word, unsigned char *used)
{
    for (const char *at = word; *at; at++) {
        const size_t length = placeholder(at);
        const int64_t i = length ? find_name(study, at + 1, length - 2) : -1;
        if (i >= 0)
            used[i] = 1;
        else if (length && !is_row(study, at + 1, length - 2))
            return no_variable(context, study, at, length);
    }
    return GRAM_OK;
}

gram_status gram_study_check_words(gram_context *context, const gram_study *study, const char *const *words)
{
    gram_status status = GRAM_OK;
    unsigned char *used = NULL;
    if (!context || !study || !words) return GRAM_ERROR_ARGUMENT;
    TRY(gram_take(context, "study_check_words", study->space.count, 1, (void **)&used));
    memset(used, 0, (size_t)study->space.count);
    for (; *words; words++) TRY(check_word(context, study, *words, used));
    for (int64_t i = 0; i < study->space.count; i++)
        FAIL_IF(!used[i] && study->options.candidate_count == 0, context, GRAM_ERROR_ARGUMENT,
                "variable '%s' appears nowhere in the command", study->space.variables[i].name);
done:
    gram_give(context, used);
    return status;
}

gram_status gram_study_parse_values(gram_context *context, const gram_study *study, const char *line, double *values)
{
    gram_status status = GRAM_OK;
    static const char between[] = " \t\r,";
    const int64_t wanted = 1 + study->options.constraints;
    const char *at = line + strspn(line, between);
    int64_t count = 0;
    for (size_t length; *at && count < wanted; at += length, at += strspn(at, between), count++) {
        length = strcspn(at, between);
        if (gram_number_read(at, length, values + count) != length) break;
    }
    const int read = count == wanted && !*at;
    FAIL_IF(!read && !*line, context, GRAM_ERROR_DATA, "it printed nothing; its last line must be the value");
    FAIL_IF(!read && wanted == 1, context, GRAM_ERROR_DATA, "its last line is not a number: '%.200s'", line);
    FAIL_IF(!read, context, GRAM_ERROR_DATA, "its last line is not the value and %lld constraints: '%.200s'",
            (long long)wanted - 1, line);
    for (int64_t i = 0; i < wanted; i++)
        FAIL_IF(!isfinite(values[i]), context, GRAM_ERROR_DATA, "its value is not finite: '%.200s'", line);
done:
    return status;
}
