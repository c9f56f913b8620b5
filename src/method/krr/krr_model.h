/* Kernel ridge regression as a method of the learner: what its files share. */
#ifndef GRAM_METHOD_KRR_KRR_MODEL_H
#define GRAM_METHOD_KRR_KRR_MODEL_H

#include <gram/krr.h>
#include <gram/krr_tune.h>

#include "method/method.h"

typedef struct krr_settings {
    gram_tuned_settings tuned;
    gram_ridge_settings ridge;
    gram_unpenalised_settings free;
    int loo;
    int64_t grid;
    gram_chosen solver, precision, loss;
    double tolerance, norm;
    const char *landmarks;
    int keep_factor, certify;
} krr_settings;

typedef struct krr_state {
    double lambda;
    int lambda_is_default;
    gram_unpenalised free;
    gram_krr_tune_report tuned;
    gram_points *landmarks; /* that were given, or NULL */
    gram_landmark_rule landmark_rule;
    gram_krr *krr;
    struct krr_stream *stream; /* of rows that go by in blocks; NULL: they are all there */
} krr_state;

/* Chooses kernel and lambda from the learner's rows, or takes defaults, as its tuning says (krr_model.c). */
gram_status gram_krr_choose(gram_learning *learning);

/* After the default kernel was tuned: are others better? `to` has its ends, and gets those of the one that stays (krr_rivals.c). */
gram_status gram_krr_meet_rivals(gram_learning *learning, const gram_krr_tune_options *options, gram_search_trail *to);

/* (krr_stream.c) */
extern const gram_streaming gram_krr_streaming;
extern const gram_method gram_method_krr;
gram_status gram_krr_keep_streamed(gram_learning *learning);
gram_status gram_krr_fitted_streamed(gram_learning *learning, double *f);
void gram_krr_forget_streamed(gram_learning *learning);

#endif
