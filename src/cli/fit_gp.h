/* `gram fit --method gp` in three files: use and plan (fit_gp.c), parameters (fit_gp_choose.c), model (fit_gp_model.c). */
#ifndef GRAM_CLI_FIT_GP_H
#define GRAM_CLI_FIT_GP_H

#include "fit.h"

typedef enum gp_solver { GP_EXACT, GP_MARKOV } gp_solver;

typedef struct gp_state {
    gp_solver solver;
    fit_mean mean;
    gram_gp_options options; /* noise is in the target's own units */
    int noise_given, noise_is_default;
    double *y;        /* the target less the offset */
    double offset;    /* its mean, 0 with --no-scale */
    double scale;     /* its deviation, 1 with --no-scale */
    double deviation; /* in any case; 1 for a constant target */
    gram_gp_tune_report tuned;
    gram_gp *exact;
    gram_markov *markov;
} gp_state;

/* Sets fit->kernel and the noise: tunes, or takes defaults. */
gram_status cli_fit_gp_choose(cli_session *session, fit_state *fit);

/* Makes the model with its facts and arrays. */
gram_status cli_fit_gp_model(cli_session *session, fit_state *fit);

#endif
