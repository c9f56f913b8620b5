/* What a search by gradients takes, before it begins. */
#ifndef GRAM_TUNE_FORECAST_SEARCH_FORECAST_H
#define GRAM_TUNE_FORECAST_SEARCH_FORECAST_H

#include "base/context.h"

/* Evaluations with gradient on the samples that a search climbs through (gradient_search.h), as they were counted on data of many kinds, and
 * what one of them on n rows takes: `cubes` n^3 operations. */
typedef struct gram_search_cost {
    double small, medium, last;
    double cubes;
} gram_search_cost;

/* Of the search for one length-scale per column of methods that are tuned by a grid (length_scales.h). */
extern const gram_search_cost gram_lengths_cost;

/* Seconds on all threads of a search on n rows of d columns, of which at most `most` are tuned on. */
double gram_search_seconds(const gram_context *context, const gram_search_cost *cost, double n, double most, double d);

#endif
