/* Weights of classes: --class-weight balanced, or NAME=W,NAME=W. */
#ifndef GRAM_CLI_FIT_CLASS_WEIGHT_H
#define GRAM_CLI_FIT_CLASS_WEIGHT_H

#include "cli/fit/verb_fit.h"

/* One number for each class to *weights, which the caller frees; NULL if none are given. Returns CLI_DONE or the exit code
 * after a message. `balanced` makes classes count alike: n/(classes times the rows of the class). */
int cli_class_weights(const fit_state *fit, double **weights);

#endif
