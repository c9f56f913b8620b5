#include "method/unknown_numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gram/text.h>

/* The middle of a range. */
static double middle(double low, double high)
{
    return low > 0 ? sqrt(low) * sqrt(high) : low + (high - low) / 2;
}

/* LOW:HIGH or VALUE, `length` letters; 0 if they are something else. */
static int read_range(const char *text, size_t length, gram_unknown *u)
{
    const size_t used = gram_number_parse(text, length, &u->low);
    if (used == 0) return 0;
    u->high = u->low;
    if (used < length) {
        if (text[used] != ':') return 0;
        const size_t rest = length - used - 1;
        if (rest == 0 || gram_number_parse(text + used + 1, rest, &u->high) != rest || !(u->low < u->high)) return 0;
    }
    u->value = u->low == u->high ? u->low : middle(u->low, u->high);
    return isfinite(u->low) && isfinite(u->high);
}

/* A name is a letter, then letters, digits and _: so it is no number, and no word of a kind. */
static int is_name(const char *text, size_t length)
{
    static const char *const taken[] = {"value", "laplacian", "d"};
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    if (length == 0 || length >= GRAM_UNKNOWN_NAME || !memchr(letters, text[0], 53)) return 0;
    for (size_t i = 0; i < length; i++)
        if (!memchr(letters, text[i], sizeof letters - 1)) return 0;
    for (int w = 0; w < 3; w++)
        if (strlen(taken[w]) == length && strncmp(text, taken[w], length) == 0) return 0;
    return 1;
}

/* The length without blanks at the end. */
static size_t trimmed(const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == ' ') length--;
    return length;
}

static gram_status read_one(gram_context *context, const char *text, size_t length, gram_unknowns *unknowns)
{
    gram_status status = GRAM_OK;
    const char *equals = memchr(text, '=', length);
    const size_t name = trimmed(text, equals ? (size_t)(equals - text) : length);
    FAIL_IF(!equals || !is_name(text, name), context, GRAM_ERROR_ARGUMENT,
            "'%.*s' is not NAME=LOW:HIGH with a name of letters, digits and _ that is no kind of row", (int)length,
            text);
    FAIL_IF(gram_unknowns_find(unknowns, text, name) >= 0, context, GRAM_ERROR_ARGUMENT, "'%.*s' is given twice",
            (int)name, text);
    FAIL_IF(unknowns->count == GRAM_MOST_UNKNOWNS, context, GRAM_ERROR_ARGUMENT, "there are more than %d of them",
            (int)GRAM_MOST_UNKNOWNS);
    gram_unknown *u = &unknowns->each[unknowns->count];
    (void)snprintf(u->name, sizeof u->name, "%.*s", (int)name, text);
    const char *range = equals + 1, *end = text + length;
    while (range < end && *range == ' ') range++;
    FAIL_IF(!read_range(range, trimmed(range, (size_t)(end - range)), u), context, GRAM_ERROR_ARGUMENT,
            "'%.*s': the range of %s is not LOW:HIGH with LOW below HIGH", (int)length, text, u->name);
    unknowns->count++;
done:
    return status;
}

gram_status gram_unknowns_read(gram_context *context, const char *text, gram_unknowns *unknowns)
{
    gram_status status = GRAM_OK;
    *unknowns = (gram_unknowns){.count = 0};
    while (text && *text) {
        while (*text == ' ' || *text == ';') text++;
        const size_t length = strcspn(text, ";");
        if (length > 0) TRY(read_one(context, text, trimmed(text, length), unknowns));
        text += length;
    }
done:
    return status;
}

int gram_unknowns_find(const gram_unknowns *unknowns, const char *text, size_t length)
{
    for (int i = 0; i < unknowns->count; i++)
        if (strlen(unknowns->each[i].name) == length && strncmp(unknowns->each[i].name, text, length) == 0) return i;
    return -1;
}

void gram_unknowns_print(const gram_unknowns *unknowns, char *text, size_t size)
{
    char number[GRAM_NUMBER_SIZE];
    size_t used = 0;
    if (size > 0) text[0] = 0;
    for (int i = 0; i < unknowns->count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s=%s", i > 0 ? ";" : "", unknowns->each[i].name,
                                 gram_number_format(unknowns->each[i].value, number));
}

gram_status gram_unknowns_points(gram_context *context, const gram_unknowns *unknowns, int64_t n, int64_t d,
                                 gram_points **points)
{
    gram_status status = GRAM_OK;
    gram_functional_term *terms = NULL;
    *points = NULL;
    TRY(gram_take(context, "rows with unknowns", unknowns->term_count, sizeof *terms, (void **)&terms));
    for (int64_t i = 0; i < unknowns->term_count; i++) {
        terms[i] = unknowns->terms[i];
        if (unknowns->which[i] >= 0) terms[i].coefficient *= unknowns->each[unknowns->which[i]].value;
    }
    TRY(gram_points_create_functionals(context, n, d, unknowns->term_count, terms, points));
done:
    gram_give(context, terms);
    return status;
}
