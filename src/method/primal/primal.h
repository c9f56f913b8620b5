/* Between the files of learners on finitely many features: krr, logistic and svm with --solver fourier:D and the like are rows of their
 * own, variants of the methods of these names. What they learn is f(x) = z(x) c + b, z a feature map of the kernel that the model keeps. */
#ifndef GRAM_METHOD_PRIMAL_PRIMAL_H
#define GRAM_METHOD_PRIMAL_PRIMAL_H

#include <gram/cross_validation.h>
#include <gram/features.h>
#include <gram/krr_tune.h>

#include "base/sparse/csr.h"
#include "features/feature_ridge.h"
#include "method/method.h"

typedef struct primal_settings {
    gram_tuned_settings tuned;
    gram_ridge_settings ridge;
    gram_unpenalised_settings free;
    gram_chosen solver;      /* gram_features_kind */
    gram_chosen frequencies; /* gram_frequencies */
    gram_chosen precision;   /* gram_precision */
    int loo;
    double C, tolerance;
    const char *landmarks, *class_weight;
} primal_settings;

typedef struct primal_state {
    double lambda; /* NaN: to be chosen */
    int lambda_is_default;
    gram_landmark_rule landmark_rule;
    gram_points *landmarks;
    gram_csr z;              /* features of all rows, if they are sparse */
    gram_feature_function f; /* map, c and b */
    double *c, *b;           /* in the arena */
    gram_function *holder;
    gram_krr_tune_report tuned;
    gram_grid_report grid;
    double cv_accuracy;
    /* what was found */
    double residual, trace_error, train_rmse, train_r2, loo_rmse, loo_r2, gcv, norm, effective_dimension,
        log_marginal_likelihood;
    double objective, gap;
    int64_t iterations, sample; /* rows that a preconditioner was made of */
    const char *precision;
} primal_state;

#define PRIMAL_PLACE(field) offsetof(primal_settings, field)

#define PRIMAL_SOLVER_OPTION(words, table)                                                                             \
    {                                                                                                                  \
        .name = "solver", .kind = GRAM_OPTION_CHOICE, .offset = PRIMAL_PLACE(solver), .argument = "NAME",              \
        .help = words, .choices = table                                                                                \
    }

#define PRIMAL_CLASS_WEIGHT_OPTION(words)                                                                              \
    {                                                                                                                  \
        .name = "class-weight", .kind = GRAM_OPTION_TEXT, .offset = PRIMAL_PLACE(class_weight), .argument = "W",       \
        .help = "of classes: balanced, or NAME=W,NAME=W", .elsewhere = words                                           \
    }

/* Of classifiers: how they are tuned, and the features that they may have. */
extern const gram_choice gram_primal_tunings[], gram_primal_solvers[];

/* Is --solver one of the words (each with its colon)? Or is the kernel of low finite rank, the rows many, and none of the options `others` given
 * (they end with NULL)? */
int gram_primal_takes(const gram_learning *learning, const char *const *words, const char *const *others, int64_t many);

/* Settings that contradict each other; before the data. */
gram_status gram_primal_check(gram_learning *learning);
/* Takes the state, reads landmarks, and plans p features of the rows: normal equations of them, or passes if it `iterates`. */
gram_status gram_primal_begin(gram_learning *learning, const char *words, int iterates);
/* Kernel and lambda by `tune`, or as given: then lambda is `usual` unless it is. */
gram_status gram_primal_choose(gram_learning *learning, double usual, gram_status (*tune)(gram_learning *learning));
/* The map of learning->kernel, state->c and state->b for m outputs, and the holder. */
gram_status gram_primal_make_map(gram_learning *learning, int64_t m);
/* Kernel and lambda of learning and state from least squares on the classes: -1 and 1, or one column for each. */
gram_status gram_primal_tune_classes(gram_learning *learning);
/* The sparse features of rows into state->z, if the map has such. */
gram_status gram_primal_hold_sparse(gram_learning *learning, int64_t n, const double *x, int64_t ldx);
/* Sets state->norm. */
void gram_primal_find_norm(primal_state *state);
void gram_primal_forget(gram_learning *learning);
/* The row's function, map, coefficients and solver. */
gram_keeper gram_primal_keep(gram_learning *learning);
void gram_primal_close(gram_predictor *predictor);
/* What classifiers keep: intercept, iterations, objective, norm, training errors, tuning, classes. */
gram_status gram_primal_keep_classes(gram_keeper *keeper, gram_learning *learning, const double *labels,
                                     const double *p, const char *strength);
/* `f` of the predictor, m outputs. */
gram_status gram_primal_open(gram_context *context, gram_predictor *predictor);
void gram_primal_report_features(gram_report *report);
/* Rows of a report that all classifiers have, after their strength. */
void gram_primal_report_classes(gram_report *report);

#endif
