#include "picture/picture.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text/spoken_failure.h"

gram_status gram_picture_begin(gram_context *context, int width, int height, gram_picture **picture)
{
    gram_status status = GRAM_OK;
    gram_picture *made = NULL;
    *picture = NULL;
    TRY(gram_take(context, "picture", 1, sizeof *made, (void **)&made));
    *made = (gram_picture){.memory = gram_memory_retain(context->memory), .width = width, .height = height};
    gram_arena_init(&made->scratch, made->memory);
    *picture = made;
done:
    return status;
}

gram_status gram_picture_end(gram_context *context, gram_status status, gram_picture **picture)
{
    gram_picture *made = *picture;
    if (made) gram_arena_release(&made->scratch);
    if (status >= 0 && made->script.failed)
        status = gram_fail(context, GRAM_ERROR_MEMORY, "picture: the system has no memory left for the script");
    if (status >= 0) return status;
    gram_picture_destroy(made);
    *picture = NULL;
    return status;
}

void gram_picture_destroy(gram_picture *picture)
{
    if (!picture) return;
    gram_memory *memory = picture->memory;
    gram_arena_release(&picture->scratch);
    gram_string_free(&picture->script);
    gram_memory_give(memory, picture);
    gram_memory_release(memory);
}

gram_status gram_picture_take(gram_context *context, gram_picture *picture, int64_t count, size_t size, void **out)
{
    return gram_arena_take(context, &picture->scratch, "picture", count, size, out);
}

gram_status gram_picture_refuse(gram_context *context, gram_status status, const char *dashes, const char *advice,
                                const char *format, ...)
{
    char message[GRAM_MESSAGE_SIZE], spoken[GRAM_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    gram_write_dashes(message, dashes, spoken, sizeof spoken);
    (void)gram_fail(context, status, "%s", spoken);
    gram_write_dashes(advice, dashes, spoken, sizeof spoken);
    return gram_advise(context, status, spoken);
}

const gram_string *gram_picture_script(const gram_picture *picture)
{
    return &picture->script;
}

void gram_picture_pixels(const gram_picture *picture, int *width, int *height)
{
    *width = picture->width;
    *height = picture->height;
}
