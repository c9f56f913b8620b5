/* The posterior of a Gaussian process that a model holds, whichever way it was solved. */
#ifndef GRAM_CLI_VERB_SAMPLE_POSTERIOR_H
#define GRAM_CLI_VERB_SAMPLE_POSTERIOR_H

#include "cli/terminal/cli.h"

/* Prepared rows to predict at. */
typedef struct cli_places {
    gram_points *points;
    int64_t n, d;
    const double *x;       /* n x d, what the points are of */
    const double *weights; /* n, NULL: none */
} cli_places;

/* A fact of the model as a number, `otherwise` if there is none; and as a text, or NULL. */
double cli_model_number(const gram_model *model, const char *name, double otherwise);
const char *cli_model_text(const gram_model *model, const char *name);

typedef struct cli_posterior {
    const gram_model *model; /* borrowed */
    double noise;
    double offset;        /* what was subtracted from the target before the fit */
    const double *slopes; /* of a linear mean, or NULL */
    gram_gp *exact;       /* one of these, unless only means are asked for */
    gram_markov *markov;
    gram_gp_cg *cg;
    gram_gp_inducing *inducing;
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
