/* For scripts/analyze only, included before each file: functions in other files that return the status they are given, in a
 * form that an analyzer of one file can follow. Without it a function that failed seems to go on as if it had not. */
#include "base/context.h"
#include "base/text/spoken_failure.h"

#define gram_fail(context, status, ...) ((void)gram_fail(context, status, __VA_ARGS__), (status))
#define gram_fail_place(context, status, ...) ((void)gram_fail_place(context, status, __VA_ARGS__), (status))
#define gram_fail_spoken(context, status, ...) ((void)gram_fail_spoken(context, status, __VA_ARGS__), (status))
#define gram_advise(context, status, ...) ((void)gram_advise(context, status, __VA_ARGS__), (status))
