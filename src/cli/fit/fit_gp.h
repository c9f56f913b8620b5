/* `gram fit --method gp` in four files: use and work (fit_gp.c), the solver (fit_gp_plan.c), parameters (fit_gp_choose.c),
 * model (fit_gp_model.c). */
#ifndef GRAM_CLI_FIT_FIT_GP_H
#define GRAM_CLI_FIT_FIT_GP_H

#include "cli/fit/verb_fit.h"

typedef enum gp_solver { GP_EXACT, GP_MARKOV, GP_CG, GP_INDUCING } gp_solver;

typedef struct gp_state {
    gp_solver solver;
    int mixed; /* with GP_EXACT: an f32 factor and refinement, in `cg` */
    fit_mean mean;
    gram_gp_options options; /* noise is in the target's own units */
    int noise_given, noise_is_default;
    double *y;        /* the target less the offset */
    double offset;    /* its mean, 0 with --no-scale */
    double scale;     /* its deviation, 1 with --no-scale */
    double deviation; /* in any case; 1 for a constant target */
    gram_gp_tune_report tuned;
    /* the one of the solver */
    gram_gp *exact;
    gram_markov *markov;
    gram_gp_cg *cg;
    gram_gp_inducing *inducing;
} gp_state;

/* "exact", ... */
const char *cli_fit_gp_solver_name(gp_solver solver);

/* Chooses the solver, says so, and refuses what cannot be. Returns CLI_DONE or the exit code after a message. */
int cli_fit_gp_plan(cli_session *session, fit_state *fit);

/* Sets fit->kernel and the noise: tunes, or takes defaults. */
gram_status cli_fit_gp_choose(cli_session *session, fit_state *fit);

/* Makes the model with its facts and arrays. */
gram_status cli_fit_gp_model(cli_session *session, fit_state *fit);

#endif
