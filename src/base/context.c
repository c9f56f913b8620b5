#include "base/context.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <gram/text.h>

#include "base/sized_struct.h"
#include "base/system/address_space.h"

enum { MAX_THREADS = 1024 };

void gram_context_options_init(gram_context_options *options, size_t size)
{
    const gram_context_options defaults = {.threads = 0};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

static gram_status check_options(const gram_context_options *options)
{
    if (options->threads < 0 || options->threads > MAX_THREADS) return GRAM_ERROR_ARGUMENT;
    if (!options->allocator.allocate != !options->allocator.release) return GRAM_ERROR_ARGUMENT;
    return GRAM_OK;
}

/* Data may not take the address space that BLAS will need: OpenBLAS would wait for it without end. Blocks begin on huge
 * pages, hence a tenth less. */
static size_t within_address_space(size_t budget, int threads)
{
    const size_t space = gram_address_space_for_data(1 + gram_address_space_threads(threads - 1));
    if (space == (size_t)-1) return budget;
    const size_t most = space / 10 * 9 > (1 << 20) ? space / 10 * 9 : 1 << 20;
    return budget == 0 || budget > most ? most : budget;
}

gram_status gram_context_create(const gram_context_options *options, gram_context **context)
{
    gram_status status = GRAM_OK;
    gram_memory *memory = NULL;
    gram_context_options o;
    if (!context) return GRAM_ERROR_ARGUMENT;
    *context = NULL;
    gram_context_options_init(&o, sizeof o);
    TRY(gram_sized_read(NULL, "context_create", "options", "gram_context_options", options, &o, sizeof o));
    TRY(check_options(&o));
    const gram_vecmath *vecmath = gram_vecmath_choose(o.isa);
    if (!vecmath) return GRAM_ERROR_UNSUPPORTED;

    const int threads = o.threads ? o.threads : gram_system_processors();
    TRY(gram_memory_create(&o.allocator, within_address_space(o.memory_budget, threads), &memory));
    TRY(gram_memory_take(memory, sizeof **context, (void **)context));
    memset(*context, 0, sizeof **context);
    (*context)->memory = gram_memory_retain(memory);
    (*context)->threads = threads;
    (*context)->seed = o.seed;
    (*context)->progress = o.progress;
    (*context)->progress_user = o.progress_user;
    (*context)->cancel = o.cancel;
    (*context)->cancel_user = o.cancel_user;
    (*context)->vecmath = vecmath;
    (*context)->failed_row = (*context)->failed_column = -1;
    if (threads > 1) TRY(gram_crew_create(memory, threads, &(*context)->crew));
done:
    if (status < 0 && *context) {
        gram_context_destroy(*context);
        *context = NULL;
    }
    gram_memory_release(memory);
    return status;
}

void gram_context_destroy(gram_context *context)
{
    if (!context) return;
    gram_memory *memory = context->memory;
    gram_crew_destroy(memory, context->crew);
    gram_memory_give(memory, context->together.table);
    gram_memory_give(memory, context->checkpoint.path);
    gram_memory_give(memory, context);
    gram_memory_release(memory);
}

const char *gram_context_message(const gram_context *context)
{
    return context ? context->message : "";
}

const char *gram_context_advice(const gram_context *context)
{
    return context ? context->advice : "";
}

int gram_context_place(const gram_context *context, int64_t *row, int64_t *column)
{
    const int known = context && context->failed_row >= 0;
    if (row) *row = known ? context->failed_row : -1;
    if (column) *column = known ? context->failed_column : -1;
    return known;
}

void gram_context_name_place(gram_context *context, const char *file, int64_t row, const char *column)
{
    char message[GRAM_MESSAGE_SIZE], place[64];
    if (!context || context->failed_row < 0) return;
    memcpy(message, context->message, sizeof message);
    if (context->failed_column < 0) {
        const char *what = strchr(message, ':');
        (void)snprintf(context->message, sizeof context->message, "%s: row %lld%s", file, (long long)row + 1,
                       what ? what : "");
        return;
    }
    (void)snprintf(place, sizeof place, "x[%lld][%lld] = ", (long long)context->failed_row,
                   (long long)context->failed_column);
    const char *rest = strstr(message, place);
    (void)snprintf(context->message, sizeof context->message, "%s: row %lld, column '%s': %.*s%s", file,
                   (long long)row + 1, column, (int)(rest ? rest - message : 0), message,
                   rest ? rest + strlen(place) : message);
}

int gram_context_threads(const gram_context *context)
{
    return context->threads;
}

uint64_t gram_context_seed(const gram_context *context)
{
    return context->seed;
}

size_t gram_context_memory_used(const gram_context *context)
{
    return gram_memory_used(context->memory);
}

size_t gram_context_memory_peak(const gram_context *context)
{
    return gram_memory_peak(context->memory);
}

const char *gram_context_isa(const gram_context *context)
{
    return context->vecmath->name;
}

const char *gram_version(void)
{
    return GRAM_VERSION;
}

static gram_status keep_failure(gram_context *context, gram_status status, const char *format, va_list arguments)
{
    (void)vsnprintf(context->message, sizeof context->message, format, arguments);
    context->advice[0] = '\0';
    context->failed_row = context->failed_column = -1;
    return status;
}

gram_status gram_fail(gram_context *context, gram_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)keep_failure(context, status, format, arguments);
    va_end(arguments);
    return status;
}

gram_status gram_advise(gram_context *context, gram_status status, const char *advice)
{
    (void)snprintf(context->advice, sizeof context->advice, "%s", advice ? advice : "");
    return status;
}

gram_status gram_fail_place(gram_context *context, gram_status status, int64_t row, int64_t column, const char *format,
                            ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)keep_failure(context, status, format, arguments);
    va_end(arguments);
    context->failed_row = row;
    context->failed_column = column;
    return status;
}

static gram_status lacks_memory(gram_context *context, const gram_memory *memory, gram_status status, const char *what,
                                size_t bytes)
{
    char needed[GRAM_BYTES_SIZE], held[GRAM_BYTES_SIZE], budget[GRAM_BYTES_SIZE];
    gram_bytes_format(bytes, needed);
    gram_bytes_format(gram_memory_used(memory), held);
    gram_bytes_format(gram_memory_budget(memory), budget);
    if (status == GRAM_ERROR_BUDGET)
        return gram_fail(context, status, "%s: needs %s, with %s in use and a memory budget of %s", what, needed, held,
                         budget);
    if (status == GRAM_ERROR_MEMORY) return gram_fail(context, status, "%s: the system has no %s left", what, needed);
    return status;
}

gram_status gram_take_from(gram_context *context, gram_memory *memory, const char *what, int64_t count, size_t size,
                           void **out)
{
    int64_t bytes;
    *out = NULL;
    if (!gram_size_multiply(count, (int64_t)size, &bytes))
        return gram_fail(context, GRAM_ERROR_OVERFLOW, "%s: %lld items of %zu bytes are more than can be addressed",
                         what, (long long)count, size);
    const gram_status status = gram_memory_take(memory, (size_t)bytes, out);
    return status < 0 ? lacks_memory(context, memory, status, what, (size_t)bytes) : status;
}

gram_status gram_take(gram_context *context, const char *what, int64_t count, size_t size, void **out)
{
    return gram_take_from(context, context->memory, what, count, size, out);
}

void gram_give(gram_context *context, void *block)
{
    gram_memory_give(context->memory, block);
}
