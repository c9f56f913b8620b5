/* The time that a call may take, and what was left out for it. */
#ifndef GRAM_BASE_SYSTEM_TIME_LIMIT_H
#define GRAM_BASE_SYSTEM_TIME_LIMIT_H

#include "base/context.h"

/* Shares of the time that parts of a fit may use, counted from its beginning: searches for parameters, iterations; the rest is for what must be
 * done in any case. */
#define GRAM_TIME_OF_TUNING 0.5
#define GRAM_TIME_OF_ITERATIONS 0.9

/* Seconds that do not jump. */
double gram_clock(void);

/* Has that share of the time gone? Never without a limit. */
int gram_time_is_up(const gram_context *context, double share);

/* For iterations, the last of which began at that time of gram_clock: has their share of the time gone, or will it have before another one that long is
 * over? Then it is remembered, too, that they ended early. */
int gram_time_ends_iterations(gram_context *context, double began);

/* When it will have gone, for gram_clock; infinite without a limit. */
double gram_time_of(const gram_context *context, double share);

/* Remembers what was left out, in a few words; of several the first. Nothing happens without a limit. */
void gram_time_left_out(gram_context *context, const char *words);

#endif
