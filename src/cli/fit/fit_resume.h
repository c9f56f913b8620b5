/* `gram fit --resume M.gram`: a fit that its budget stopped goes on. What the model keeps for that, what it decides instead of
 * the options, and how other data and damage are noticed. */
#ifndef GRAM_CLI_FIT_FIT_RESUME_H
#define GRAM_CLI_FIT_FIT_RESUME_H

#include "cli/fit/verb_fit.h"

/* All that return an int: CLI_DONE, or the exit code after a message. */

/* Reads the model to fit->before and sets the options that it decides. */
int cli_fit_resume_open(cli_session *session, fit_options *own, fit_state *fit);

/* Are the prepared data those that the model stopped on? */
int cli_fit_resume_check_data(const fit_state *fit);

/* The weights of the classes to *weights, which the caller frees; NULL if there are none. */
int cli_fit_resume_class_weights(const fit_state *fit, double **weights);

/* Where the machine starts, n x outputs, and its sigmoids, outputs x 2 or NULL. They belong to the model. */
int cli_fit_resume_start(const fit_state *fit, int64_t outputs, const double **duals, const double **sigmoids);

/* What the model tells of its tuning, for the new one. */
void cli_fit_resume_tune_facts(cli_facts *facts, const fit_state *fit);

/* What an unfinished machine keeps so that a later call goes on. `folds`: of probabilities that are still to be made, or 0. */
void cli_fit_resume_keep(cli_facts *facts, const fit_state *fit, const gram_svm *svm, double tolerance, int64_t folds);

#endif
