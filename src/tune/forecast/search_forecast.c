#include "tune/forecast/search_forecast.h"

#include <math.h>

const gram_search_cost gram_lengths_cost = {.small = 120, .medium = 15, .last = 5, .cubes = 2};

enum { SMALL = 400, MEDIUM = 1000 };

/* One evaluation: factor, inverse and products, and passes over the pairs for the kernel and its derivatives. Threads share it from some
 * hundred rows on. */
static double evaluation(const gram_context *context, const gram_search_cost *cost, double n, double d)
{
    const double known = context->operations > 0 ? 0.5 * context->operations : 2e10;
    const double pair = 1.2e-8 + 3e-10 * d, threads = n > 700 ? (double)context->threads : 1;
    return (cost->cubes * n * n * n / known + pair * n * n) / threads + 2e-5;
}

double gram_search_seconds(const gram_context *context, const gram_search_cost *cost, double n, double most, double d)
{
    const double all = fmin(n, most);
    double seconds = 0;
    if (all <= 1.5 * SMALL) return (cost->small + 5) * evaluation(context, cost, all, d);
    seconds += cost->small * evaluation(context, cost, SMALL, d);
    if (all > 1.5 * MEDIUM) seconds += cost->medium * evaluation(context, cost, MEDIUM, d);
    return seconds + cost->last * evaluation(context, cost, all, d);
}
