/* Gaussian-process regression as a method of the learner, in three files: options and fit (gp_model.c), what is kept
 * (gp_model_keep.c), and predictions from it (gp_model_predict.c). */
#ifndef GRAM_METHOD_GP_GP_MODEL_H
#define GRAM_METHOD_GP_GP_MODEL_H

#include <gram/gp_tune.h>

#include "method/method.h"

typedef enum gp_mean { GP_MEAN_ZERO, GP_MEAN_CONSTANT, GP_MEAN_LINEAR, GP_MEAN_FLAT } gp_mean;

typedef struct gp_settings {
    gram_tuned_settings tuned;
    gram_ridge_settings ridge;
    int intercept;
    gram_chosen mean, solver, precision, likelihood, preconditioner;
    double tolerance;
    int keep_factor; /* -1: if it is small */
    int noise_prior;
    const char *row_noise;
    const char *unknown; /* of equations (gp_solve_model.c) */
    const char *common;  /* options of every method that a row has help for: the learner reads them */
} gp_settings;

typedef struct gp_state {
    gp_mean mean;
    gram_gp_options options; /* noise is in the target's own units */
    gram_gp_cg_options cg;
    gram_gp_inducing_options inducing;
    gram_gp_vecchia_options vecchia;
    gram_plan plan;
    int may_iterate; /* functionals, and no solver was asked for: conjugate gradients if the factor does not fit */
    int noise_given, noise_is_default;
    double *y;        /* the target less the offset */
    double offset;    /* its mean, 0 without scaling */
    double scale;     /* its deviation, 1 without scaling */
    double deviation; /* in any case; 1 for a constant target */
    gram_gp_tune_report tuned;
    struct gram_gp_found *found; /* of unknown numbers in equations (gp_unknown.h); NULL: there are none */
    gram_gp *gp;
} gp_state;

/* Has it a factor in f64, which terms are made from and models may keep? */
static inline int gram_gp_has_factor(gram_solver solver, gram_precision precision)
{
    return solver == GRAM_SOLVER_EXACT && precision == GRAM_PRECISION_F64;
}

extern const gram_method gram_method_gp;

/* The kernel times an amplitude of that variance, which is held or may be learnt. */
gram_status gram_gp_add_amplitude(gram_learning *learning, const gram_kernel *kernel, double variance, int held,
                                  gram_kernel **out);

/* After the default kernel was tuned: are others better? `to` has its ends, and gets those of the one that stays (tune/gp_rivals.c). */
gram_status gram_gp_meet_rivals(gram_learning *learning, const gram_gp_tune_options *tune, gram_search_trail *to);

/* Makes the model with its facts and arrays. */
gram_status gram_gp_row_keep(gram_learning *learning);

gram_status gram_gp_row_open(gram_context *context, gram_predictor *predictor);
gram_status gram_gp_row_evaluate(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                                 double *values, int64_t ldv);
void gram_gp_row_close(gram_predictor *predictor);

#endif
