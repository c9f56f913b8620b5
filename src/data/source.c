#define _POSIX_C_SOURCE 200809L
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *gram_data_excerpt(const char *text, size_t length, char out[GRAM_EXCERPT_SIZE])
{
    const size_t room = GRAM_EXCERPT_SIZE - sizeof "...";
    size_t kept = length < room ? length : room;
    while (kept < length && kept > 0 && ((unsigned char)text[kept] & 0xC0) == 0x80) kept--;
    for (size_t i = 0; i < kept; i++) {
        const unsigned char c = (unsigned char)text[i];
        out[i] = c < ' ' || c == 0x7F ? '?' : text[i];
    }
    (void)strcpy(out + kept, kept < length ? "..." : "");
    return out;
}

char *gram_data_reason(int error, char out[GRAM_REASON_SIZE])
{
    if (strerror_r(error, out, GRAM_REASON_SIZE) != 0) (void)snprintf(out, GRAM_REASON_SIZE, "error %d", error);
    return out;
}

gram_status gram_data_pulse(gram_context *context, const char *what, double share)
{
    if (context->progress) context->progress(context->progress_user, what, share);
    if (context->cancel && context->cancel(context->cancel_user))
        return gram_fail(context, GRAM_ERROR_CANCELLED, "%s: cancelled", what);
    return GRAM_OK;
}

gram_status gram_source_open(gram_context *context, const char *path, gram_source *source)
{
    char reason[GRAM_REASON_SIZE];
    const int is_input = strcmp(path, "-") == 0;
    *source = (gram_source){.name = is_input ? "standard input" : path, .descriptor = -1, .size = -1};
    source->descriptor = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (source->descriptor < 0)
        return gram_fail(context, GRAM_ERROR_FILE, "%s: cannot be opened: %s", source->name,
                         gram_data_reason(errno, reason));
    struct stat facts;
    if (fstat(source->descriptor, &facts) == 0 && S_ISREG(facts.st_mode) && lseek(source->descriptor, 0, SEEK_CUR) == 0)
        source->size = (int64_t)facts.st_size;
    return GRAM_OK;
}

void gram_source_open_memory(const char *name, const void *bytes, size_t length, gram_source *source)
{
    *source = (gram_source){.name = name, .descriptor = -1, .memory = bytes, .size = (int64_t)length};
}

void gram_source_close(gram_source *source)
{
    if (source->descriptor > STDIN_FILENO) (void)close(source->descriptor);
    source->descriptor = -1;
}

static void read_memory(gram_source *source, char *buffer, size_t size, size_t *got)
{
    const size_t left = (size_t)(source->size - source->read);
    *got = size < left ? size : left;
    if (*got > 0) memcpy(buffer, source->memory + source->read, *got);
    source->read += (int64_t)*got;
}

gram_status gram_source_read(gram_context *context, gram_source *source, void *buffer, size_t size, size_t *got)
{
    gram_status status = GRAM_OK;
    char reason[GRAM_REASON_SIZE];
    const size_t piece = 4 << 20; /* between two calls of the callbacks */
    *got = 0;
    if (source->descriptor < 0) read_memory(source, buffer, size, got);
    while (source->descriptor >= 0 && *got < size) {
        const double share = source->size > 0 ? (double)source->read / (double)source->size : 0;
        TRY(gram_data_pulse(context, "reading", share));
        const size_t wanted = size - *got < piece ? size - *got : piece;
        const ssize_t count = read(source->descriptor, (char *)buffer + *got, wanted);
        if (count < 0 && errno == EINTR) continue;
        FAIL_IF(count < 0, context, GRAM_ERROR_FILE, "%s: cannot be read: %s", source->name,
                gram_data_reason(errno, reason));
        if (count == 0) break;
        *got += (size_t)count;
        source->read += count;
    }
done:
    return status;
}
