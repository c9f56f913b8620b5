/* The posterior of a Gaussian process that a model holds, whichever way it was solved. */
#ifndef GRAM_CLI_FIT_POSTERIOR_H
#define GRAM_CLI_FIT_POSTERIOR_H

#include "cli/fit/predictor.h"

typedef struct cli_posterior {
    const gram_model *model; /* borrowed */
    double noise;
    double offset;        /* what was subtracted from the target before the fit */
    const double *slopes; /* of a linear mean, or NULL */
    gram_gp *gp;          /* NULL if only means are asked for */
} cli_posterior;

/* The model keeps points, targets and parameters; what variances need is computed anew. `whole` 0: only means will be asked
 * for. Returns CLI_DONE or the exit code after a message; the caller closes it in any case. */
int cli_posterior_open(cli_session *session, const gram_model *model, const char *file, int whole,
                       cli_posterior *posterior);
void cli_posterior_close(cli_posterior *posterior);

/* Mean and, unless NULL, variance of f + m. */
gram_status cli_posterior_predict(cli_session *session, const cli_posterior *posterior, const cli_places *places,
                                  double *mean, double *variance);

/* The options that the model was fitted with; they borrow from it. */
void cli_posterior_options(const cli_posterior *posterior, gram_gp_options *options);

/* The variance of the noise of a new observation: by its weight or its known variance, if the model has those. */
double cli_posterior_noise(const cli_posterior *posterior, const cli_places *places, int64_t row);

#endif
