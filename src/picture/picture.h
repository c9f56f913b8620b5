/* Pictures from inside. A maker begins a picture, adds to its script and ends it:
 *
 *     TRY(gram_picture_begin(context, 800, 500, picture));
 *     gram_script_title(&(*picture)->script, kernel, file);
 *     ...
 * done:
 *     return gram_picture_end(context, status, picture);
 *
 * What a script is made of is in script_parts.h. */
#ifndef GRAM_PICTURE_PICTURE_H
#define GRAM_PICTURE_PICTURE_H

#include <gram/picture.h>

#include "base/arena.h"
#include "base/context.h"

struct gram_picture {
    gram_memory *memory;
    gram_arena scratch; /* what is made on the way; gone when the picture ends */
    gram_string script;
    int width, height;
};

/* An empty picture of that size, which may still be changed; *picture is NULL after a failure. */
gram_status gram_picture_begin(gram_context *context, int width, int height, gram_picture **picture);

/* What a maker returns: after a failure, or if there was no memory for the script, the picture is destroyed and *picture is NULL. */
gram_status gram_picture_end(gram_context *context, gram_status status, gram_picture **picture);

/* Zeroed memory that is gone when the picture ends. */
gram_status gram_picture_take(gram_context *context, gram_picture *picture, int64_t count, size_t size, void **out);

/* Cannot be drawn: GRAM_ERROR_ARGUMENT or GRAM_ERROR_DATA, with advice. Options are written --name in both texts, and said with the caller's
 * `dashes`. Returns the status. */
gram_status gram_picture_refuse(gram_context *context, gram_status status, const char *dashes, const char *advice,
                                const char *format, ...) GRAM_PRINTF(5, 6);

#endif
