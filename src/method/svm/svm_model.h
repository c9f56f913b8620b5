/* Between svm_model.c and svm_resume.c: the settings and the state of one fit. */
#ifndef GRAM_METHOD_SVM_SVM_MODEL_H
#define GRAM_METHOD_SVM_SVM_MODEL_H

#include "method/method.h"
#include <gram/svm.h>

enum { SVM_C, SVM_NU, SVM_ONE_CLASS };

typedef struct svm_settings {
    gram_tuned_settings tuned;
    gram_chosen svm;
    double C, lambda, nu, epsilon, tolerance, seconds; /* NaN: not given */
    int64_t iterations;                                /* 0: not given */
    const char *class_weight;
    int prob, intercept;
} svm_settings;

typedef struct svm_state {
    gram_svm_options options;
    int c_is_default;
    gram_svm_tune_report tuned;
    double *held_out;       /* n x outputs, of the tuning */
    const double *sigmoids; /* of the model that goes on, or NULL */
    int64_t iterations;     /* of all calls so far */
    gram_svm *svm;
} svm_state;

/* The row's `resume`: the settings as if the model had been asked for again; a tolerance that is given is kept. */
gram_status gram_svm_resume(gram_learning *learning);
/* Where the machine starts, n x outputs, and its sigmoids. */
gram_status gram_svm_resume_start(gram_learning *learning, int64_t outputs);
/* What the model says of its tuning, for the new one. */
void gram_svm_resume_keep_tuning(gram_keeper *keeper, const gram_learning *learning);
/* What an unfinished machine keeps so that a later call goes on. `folds`: of probabilities that are still to be made, or 0. */
void gram_svm_resume_keep(gram_keeper *keeper, const gram_learning *learning, int64_t folds);

/* (svm_risk.c) The norm, of several functions the root of the sum, and what it says of new data. `values`: n x outputs, above 0
 * for the first class of a pair; their signs are changed. */
gram_status gram_svm_keep_risk(gram_keeper *keeper, gram_learning *learning, double *values);

#endif
