/* Gaussian-process regression as a method of the learner, in four files: options and fit (gp_model.c), the solver
 * (gp_model_plan.c), what is kept (gp_model_keep.c), and predictions from it (gp_model_predict.c). */
#ifndef GRAM_METHOD_GP_GP_MODEL_H
#define GRAM_METHOD_GP_GP_MODEL_H

#include "method/method.h"
#include <gram/gp.h>
#include <gram/gp_cg.h>
#include <gram/gp_inducing.h>
#include <gram/gp_tune.h>
#include <gram/markov.h>

typedef enum gp_solver { GP_AUTO, GP_EXACT, GP_MARKOV, GP_CG, GP_INDUCING } gp_solver;
typedef enum gp_mean { GP_MEAN_ZERO, GP_MEAN_CONSTANT, GP_MEAN_LINEAR, GP_MEAN_FLAT } gp_mean;

typedef struct gp_settings {
    gram_tuned_settings tuned;
    gram_ridge_settings ridge;
    int intercept;
    gram_chosen mean, solver, precision, likelihood;
    double tolerance;
    const char *row_noise;
} gp_settings;

typedef struct gp_state {
    gp_solver solver;
    int mixed; /* with GP_EXACT: an f32 factor and refinement, in `cg` */
    gp_mean mean;
    gram_gp_options options; /* noise is in the target's own units */
    int noise_given, noise_is_default;
    double *y;        /* the target less the offset */
    double offset;    /* its mean, 0 without scaling */
    double scale;     /* its deviation, 1 without scaling */
    double deviation; /* in any case; 1 for a constant target */
    gram_gp_tune_report tuned;
    /* the one of the solver */
    gram_gp *exact;
    gram_markov *markov;
    gram_gp_cg *cg;
    gram_gp_inducing *inducing;
} gp_state;

/* "exact", ...; "zero", ... */
const char *gram_gp_solver_word(gp_solver solver);
const char *gram_gp_mean_word(gp_mean mean);

/* Chooses the solver, says so, and refuses what cannot be. */
gram_status gram_gp_plan_solver(gram_learning *learning);

/* Makes the model with its facts and arrays. */
gram_status gram_gp_row_keep(gram_learning *learning);

gram_status gram_gp_row_open(gram_context *context, gram_predictor *predictor);
gram_status gram_gp_row_evaluate(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                                 double *values, int64_t ldv);
void gram_gp_row_close(gram_predictor *predictor);

#endif
