/* `gram fit --method gp` in three files: use, plan and work (fit_gp.c), parameters (fit_gp_choose.c), model (fit_gp_model.c). */
#ifndef GRAM_CLI_FIT_FIT_GP_H
#define GRAM_CLI_FIT_FIT_GP_H

#include "cli/fit/verb_fit.h"

typedef struct gp_state {
    fit_mean mean;
    gram_gp_options options; /* noise is in the target's own units */
    gram_gp_cg_options cg;
    gram_gp_inducing_options inducing;
    gram_plan plan;
    int noise_given, noise_is_default;
    double *y;        /* the target less the offset */
    double offset;    /* its mean, 0 with --no-scale */
    double scale;     /* its deviation, 1 with --no-scale */
    double deviation; /* in any case; 1 for a constant target */
    gram_gp_tune_report tuned;
    gram_gp *gp;
} gp_state;

/* Sets fit->kernel and the noise: tunes, or takes defaults. */
gram_status cli_fit_gp_choose(cli_session *session, fit_state *fit);

/* Makes the model with its facts and arrays. */
gram_status cli_fit_gp_model(cli_session *session, fit_state *fit);

#endif
