#define _POSIX_C_SOURCE 200809L
#include "base/system/time_limit.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

double gram_clock(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

gram_status gram_context_set_time(gram_context *context, double seconds)
{
    if (!context) return GRAM_ERROR_ARGUMENT;
    if (!(seconds >= 0))
        return gram_fail(context, GRAM_ERROR_ARGUMENT, "context_set_time: seconds = %g is not 0 or more", seconds);
    context->limit.seconds = isinf(seconds) ? 0 : seconds;
    context->limit.begun = gram_clock();
    context->limit.share = 1;
    context->limit.left_out[0] = '\0';
    return GRAM_OK;
}

double gram_context_time_left(const gram_context *context)
{
    return gram_time_of(context, 1) - gram_clock();
}

const char *gram_context_left_out(const gram_context *context)
{
    return context->limit.left_out;
}

double gram_time_of(const gram_context *context, double share)
{
    return context->limit.seconds > 0 ? context->limit.begun + share * context->limit.seconds : INFINITY;
}

int gram_time_is_up(const gram_context *context, double share)
{
    return context->limit.seconds > 0 && gram_clock() >= gram_time_of(context, share);
}

void gram_time_left_out(gram_context *context, const char *words)
{
    if (context->limit.seconds > 0 && !context->limit.left_out[0])
        (void)snprintf(context->limit.left_out, sizeof context->limit.left_out, "%s", words);
}

int gram_time_ends_iterations(gram_context *context, double began)
{
    const double now = gram_clock();
    if (!(context->limit.seconds > 0) || now + (now - began) < gram_time_of(context, GRAM_TIME_OF_ITERATIONS)) return 0;
    gram_time_left_out(context, "iterations ended early");
    return 1;
}
