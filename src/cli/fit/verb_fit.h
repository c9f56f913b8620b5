/* The verb `fit`: what it is asked and prints (verb_fit.c), the data and the task (fit_data.c), and one file for each method
 * (fit_krr.c, ...), which is a row of the table in verb_fit.c. */
#ifndef GRAM_CLI_FIT_VERB_FIT_H
#define GRAM_CLI_FIT_VERB_FIT_H

#include "cli/report/target_classes.h"
#include "cli/terminal/cli.h"
#include "cli/terminal/options.h"
#include "cli/verb/model_facts.h"

typedef enum fit_method {
    FIT_METHOD_AUTO,
    FIT_METHOD_KRR,
    FIT_METHOD_GP,
    FIT_METHOD_SVM,
    FIT_METHOD_LOGISTIC
} fit_method;
typedef enum fit_task { FIT_TASK_AUTO, FIT_TASK_REGRESSION, FIT_TASK_CLASSIFICATION, FIT_TASK_ONE_CLASS } fit_task;
typedef enum fit_likelihood { FIT_LIKELIHOOD_GAUSSIAN, FIT_LIKELIHOOD_POISSON, FIT_LIKELIHOOD_STUDENT } fit_likelihood;
typedef enum fit_svm { FIT_SVM_C, FIT_SVM_NU, FIT_SVM_ONE_CLASS } fit_svm;
typedef enum fit_tune { FIT_TUNE_AUTO, FIT_TUNE_NONE, FIT_TUNE_LOO, FIT_TUNE_GCV, FIT_TUNE_CV, FIT_TUNE_ML } fit_tune;

typedef enum fit_mean { FIT_MEAN_ZERO, FIT_MEAN_CONSTANT, FIT_MEAN_LINEAR, FIT_MEAN_FLAT } fit_mean;

typedef struct fit_options {
    cli_chosen method, task, tune, solver, precision, missing, format, mean, svm, loss, likelihood;
    const char *model;  /* --out */
    const char *resume; /* a model whose fit goes on */
    const char *kernel, *target, *features, *ignore, *weights, *row_noise, *plot, *class_weight, *quantile;
    double lambda, noise, alpha; /* NaN: not given */
    double tolerance, C, nu;     /* 0: not given */
    double epsilon, delta;       /* NaN: not given */
    double student;              /* degrees of freedom; 0: not given */
    double seconds;              /* 0: no limit, like the next */
    int64_t iterations;
    int keep_factor; /* in the model, whatever its size */
    int no_intercept, no_scale, loo, ard, no_ard, prob, non_crossing;
    int64_t grid;
} fit_options;

typedef struct fit_kind fit_kind;

/* Everything that a fit is made of. */
typedef struct fit_state {
    const fit_options *own;
    const fit_kind *kind;
    const char *file;
    gram_table *table;
    gram_preparation *preparation;
    gram_prepared *prepared;
    gram_points *points;
    int64_t n;             /* rows of weight above 0 */
    fit_task task;         /* never auto once the data are read */
    int64_t few_values;    /* distinct values if the target could be classes and is not taken for them, else 0 */
    cli_classes classes;   /* of classification, */
    double *labels;        /* and their numbers, one for each row */
    double *class_weights; /* NULL: all 1 */
    double *weights;       /* of rows with those of their classes; NULL: all 1 */
    gram_kernel *given;    /* as the user wrote it */
    gram_kernel *kernel;   /* with all its numbers */
    fit_tune tune;
    gram_model *before; /* --resume: the model to go on from, else NULL */
    gram_model *model;
    void *result; /* the method's own */
} fit_state;

struct fit_kind {
    const char *name;   /* of --method */
    const char *kernel; /* if none is given */
    fit_tune tune;      /* unless all is given */
    /* Options that do not go with the method, before anything is read. Like all below: CLI_DONE, or the exit code after a
     * message. */
    int (*check_use)(const fit_options *own);
    /* Decides how it will be done, says so, and refuses what does not fit, before the work. */
    int (*plan)(cli_session *session, fit_state *fit);
    /* Chooses what is free, fits, and makes the model with its facts. */
    int (*work)(cli_session *session, fit_state *fit);
    /* Predictions of the first target for the rows that it was fitted on; returns what they are ("fitted value"), or NULL after
     * a failure that the context tells of. NULL for classifiers. */
    const char *(*fitted)(cli_session *session, const fit_state *fit, double *f);
    void (*free)(fit_state *fit);
};

extern const fit_kind cli_fit_krr, cli_fit_gp, cli_fit_svm, cli_fit_logistic, cli_fit_laplace, cli_fit_poisson,
    cli_fit_student, cli_fit_loss;

/* The method for a task; FIT_TASK_AUTO before it is known. NULL if it has none such. */
const fit_kind *cli_fit_kind(const fit_options *own, fit_task task);

/* Reads and prepares the data, decides the task, reads the kernel and makes the plan. */
int cli_fit_prepare(cli_session *session, const char *path, fit_state *fit);
void cli_fit_free(fit_state *fit);

/* ---- for the methods ---- */

/* A failure of a computation on the prepared points. Returns the exit code. */
int cli_fit_fail(cli_session *session, gram_status status, const fit_state *fit);

/* How many of --lambda, --noise and --alpha are given; the noise n lambda that they say, NaN if there is none. */
int cli_fit_ridges(const fit_options *own);
double cli_fit_noise(const fit_state *fit);

/* The default kernel has one length-scale per feature; a kernel that was written down has what it says. */
int cli_fit_wants_ard(const fit_options *own);
/* Folds of cross-validation: as given, or 5, fewer for very few rows; below 2 there is nothing to tune by. */
int64_t cli_fit_folds(const fit_state *fit);
/* Rows to tune on, so that `matrices` of them squared take at most half of the budget. */
int64_t cli_fit_tuning_rows(const cli_session *session, int64_t matrices);

/* How many amplitudes (`const`) the kernel has; in the new one those that are unset have that variance. */
gram_status cli_fit_set_amplitudes(cli_session *session, const gram_kernel *kernel, double variance, int64_t *count,
                                   gram_kernel **out);

/* "tune" and, without tuning, what nobody gave and nothing chose ("defaults"). */
void cli_fit_tune_facts(cli_facts *facts, const fit_state *fit, const char *default_ridge);

/* "train_accuracy" and, if there are probabilities, "train_log_loss", from the labels and probabilities (n x classes, or NULL)
 * of the rows. */
void cli_fit_class_facts(cli_facts *facts, const fit_state *fit, const double *labels, const double *probabilities);

/* --seconds and --iterations are for the support vector machine. */
int cli_fit_check_budget(const fit_kind *kind, const fit_options *own);

/* Is a solution that missed the default tolerance as near as rounding lets it? One that the user asked for is kept to. */
int cli_fit_is_near(const fit_options *own, double missed);

/* Options of other methods, named: `what` is given if `given` is not 0. */
int cli_fit_refuse(const char *what, const char *method, int given);

/* The line on standard error. `words`: solver and precision. */
void cli_fit_say_plan(cli_session *session, const fit_state *fit, const char *words, size_t bytes, double seconds,
                      const char *reason);

#endif
