#include "base/sized_struct.h"

#include <string.h>

/* A caller's struct may be longer than the known one by so much; a size beyond that was never set. */
enum { MOST_BEYOND = 4096 };

static size_t size_of(const void *given)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    return size;
}

static int is_valid(size_t size, size_t known)
{
    return size >= sizeof size && size <= known + MOST_BEYOND;
}

/* GRAM_ERROR_ARGUMENT: "krr_fit: options.size is 0; call gram_krr_options_init". */
static gram_status fail_size(gram_context *context, const char *function, const char *name, size_t size,
                             const char *cure, const char *type, const char *end)
{
    if (!context) return GRAM_ERROR_ARGUMENT;
    if (size == 0)
        return gram_fail(context, GRAM_ERROR_ARGUMENT, "%s: %s.size is 0; %s%s%s", function, name, cure, type, end);
    return gram_fail(context, GRAM_ERROR_ARGUMENT, "%s: %s.size = %zu is not valid; %s%s%s", function, name, size, cure,
                     type, end);
}

void gram_sized_init(void *made, size_t size, const void *defaults, size_t known)
{
    if (!made || size < sizeof size) return;
    memset(made, 0, size);
    memcpy(made, defaults, size < known ? size : known);
    memcpy(made, &size, sizeof size);
}

gram_status gram_sized_read(gram_context *context, const char *function, const char *name, const char *type,
                            const void *given, void *out, size_t known)
{
    if (!given) return GRAM_OK;
    const size_t size = size_of(given);
    if (!is_valid(size, known)) return fail_size(context, function, name, size, "call ", type, "_init");
    for (size_t i = known; i < size; i++)
        if (((const unsigned char *)given)[i] != 0)
            return !context ? GRAM_ERROR_ARGUMENT
                            : gram_fail(context, GRAM_ERROR_ARGUMENT,
                                        "%s: byte %zu of %s is not 0, but this libgram knows %zu bytes of %s", function,
                                        i, name, known, type);
    memcpy(out, given, size < known ? size : known);
    memcpy(out, &known, sizeof known);
    return GRAM_OK;
}

gram_status gram_sized_check(gram_context *context, const char *function, const char *name, const char *type,
                             const void *given, size_t known)
{
    if (!given) return GRAM_OK;
    const size_t size = size_of(given);
    return is_valid(size, known) ? GRAM_OK : fail_size(context, function, name, size, "set it to sizeof(", type, ")");
}

void gram_sized_write(void *given, const void *made, size_t known)
{
    if (!given) return;
    const size_t size = size_of(given), filled = size < known ? size : known;
    if (filled > sizeof size)
        memcpy((char *)given + sizeof size, (const char *)made + sizeof size, filled - sizeof size);
}
