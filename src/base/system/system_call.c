#define _XOPEN_SOURCE 700
#include "base/system/system_call.h"

#include <stdio.h>
#include <string.h>

char *gram_system_reason(int error, char out[GRAM_SYSTEM_REASON_SIZE])
{
    if (strerror_r(error, out, GRAM_SYSTEM_REASON_SIZE) != 0)
        (void)snprintf(out, GRAM_SYSTEM_REASON_SIZE, "error %d", error);
    return out;
}

gram_status gram_pulse(gram_context *context, const char *what, double share)
{
    if (context->progress) context->progress(context->progress_user, what, share);
    if (context->cancel && context->cancel(context->cancel_user))
        return gram_fail(context, GRAM_ERROR_CANCELLED, "%s: cancelled", what);
    return GRAM_OK;
}
