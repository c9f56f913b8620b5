/* Tuning of Gaussian processes for fits to parts of the rows. */
#ifndef GRAM_METHOD_GP_TUNE_GP_TUNE_ALONG_H
#define GRAM_METHOD_GP_TUNE_GP_TUNE_ALONG_H

#include <gram/gp_tune.h>

#include "tune/trail/search_trail.h"

/* gram_gp_tune, or gram_markov_tune for `markov`,, on trails. */
gram_status gram_gp_tune_along(gram_context *context, int markov, gram_kernel *kernel, const gram_points *x,
                               const double *y, const gram_gp_options *options, const gram_gp_tune_options *tune,
                               gram_search_trails trails, gram_kernel **tuned, double *noise,
                               gram_gp_tune_report *report);

#endif
