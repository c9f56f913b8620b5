/* The verb `fit` in two files: what it is asked and prints (fit.c), and the work (fit_work.c). */
#ifndef GRAM_CLI_FIT_H
#define GRAM_CLI_FIT_H

#include "cli.h"
#include "options.h"

typedef enum fit_method { FIT_METHOD_AUTO, FIT_METHOD_KRR } fit_method;
typedef enum fit_task { FIT_TASK_AUTO, FIT_TASK_REGRESSION } fit_task;
typedef enum fit_tune { FIT_TUNE_AUTO, FIT_TUNE_NONE, FIT_TUNE_LOO, FIT_TUNE_GCV, FIT_TUNE_CV, FIT_TUNE_ML } fit_tune;

typedef struct fit_options {
    cli_chosen method, task, tune, solver, precision, missing, format;
    const char *model; /* --out */
    const char *kernel, *target, *features, *ignore, *weights, *plot;
    double lambda, noise, alpha; /* NaN: not given */
    double tolerance;            /* 0: not given */
    int no_intercept, no_scale, loo, ard, no_ard;
    int64_t grid;
} fit_options;

/* Everything that a fit is made of. */
typedef struct fit_state {
    const fit_options *own;
    const char *file;
    gram_table *table;
    gram_preparation *preparation;
    gram_prepared *prepared;
    gram_points *points;
    int64_t n;          /* rows of weight above 0 */
    int64_t classes;    /* distinct values if the target could be classes, else 0 */
    gram_kernel *given; /* as the user wrote it */
    gram_kernel *kernel;
    double lambda;
    int lambda_is_default;
    fit_tune tune;
    gram_tune_report tuned;
    gram_krr *krr;
    gram_model *model;
} fit_state;

/* Reads and prepares the data, decides the task and the plan. Returns the exit code. */
int cli_fit_prepare(cli_session *session, const char *path, fit_state *fit);
/* Chooses what is free, fits, and makes the model with its facts. */
int cli_fit_work(cli_session *session, fit_state *fit);
void cli_fit_free(fit_state *fit);

#endif
