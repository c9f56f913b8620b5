/* What a model says of points: the columns that `predict` writes, and that plots show, by the model's method. */
#ifndef GRAM_CLI_FIT_PREDICTOR_H
#define GRAM_CLI_FIT_PREDICTOR_H

#include "cli/report/target_classes.h"

/* Prepared rows to predict at. */
typedef struct cli_places {
    gram_points *points;
    int64_t n, d;
    const double *x;       /* n x d, what the points are of */
    const double *weights; /* n, NULL: none */
} cli_places;

/* What is asked for beyond the mean. */
typedef struct cli_wish {
    int std;         /* standard deviations */
    double interval; /* probability of an interval about the mean; 0: none */
    int latent;      /* both of f, not of a new observation */
    int terms;       /* the terms of a sum kernel, each alone */
    int prob;        /* the probabilities of classes */
} cli_wish;

typedef struct cli_predictor cli_predictor;

/* One method: a row of the table in predictor.c. */
typedef struct cli_predictor_kind {
    const char *method, *task; /* task NULL: any */
    int has_likelihood;        /* only models that name a likelihood, or only those that do not */
    /* Finds what the model lacks, names the columns. Returns CLI_DONE, or the exit code after a message. */
    int (*open)(cli_session *session, cli_predictor *predictor);
    gram_status (*evaluate)(cli_session *session, const cli_predictor *predictor, const cli_places *places,
                            double *values);
    void (*close)(cli_predictor *predictor);
} cli_predictor_kind;

struct cli_predictor {
    const gram_model *model; /* borrowed */
    const char *file;        /* of the model */
    cli_wish wish;
    const cli_predictor_kind *kind;
    int64_t outputs;     /* regression: the first so many columns are means */
    cli_classes classes; /* classification: the first column is the number of the class */
    int64_t
        probability; /* the first of as many columns, NaN if the model has none; behind them a score, binary classes only */
    int64_t count;  /* of columns that are shown */
    int64_t stride; /* of all */
    char **names;
    int64_t std, lower, upper; /* columns, -1: none */
    int64_t level_count;       /* quantiles: the first so many columns, of the levels */
    const double *levels;
    double quantile; /* half the width of the interval in standard deviations; of 95 % if none is asked for */
    void *own;       /* the kind's */
};

/* Returns CLI_DONE or the exit code after a message: what the method cannot do is refused by name. Closing takes one that
 * was not opened. */
int cli_predictor_open(cli_session *session, const gram_model *model, const char *file, const cli_wish *wish,
                       cli_predictor *predictor);
void cli_predictor_close(cli_predictor *predictor);

/* values[i * stride + j]: column j at row i. */
gram_status cli_predictor_evaluate(cli_session *session, const cli_predictor *predictor, const cli_places *places,
                                   double *values);

/* The standard deviation among the values of a row, NaN if it is not there. */
double cli_predictor_std(const cli_predictor *predictor, const double *values);

/* ---- for the kinds ---- */

/* One more column; returns CLI_DONE or the exit code after a message. */
int cli_predictor_column(cli_predictor *predictor, const char *name, const char *more);
/* One column for each output. */
int cli_predictor_means(cli_predictor *predictor);

/* A fact of the model as a number, `otherwise` if there is none; and as a text, or NULL. */
double cli_model_number(const gram_model *model, const char *name, double otherwise);
const char *cli_model_text(const gram_model *model, const char *name);

extern const cli_predictor_kind cli_predictor_function, cli_predictor_gp, cli_predictor_svm, cli_predictor_svm_values,
    cli_predictor_one_class, cli_predictor_logistic, cli_predictor_laplace, cli_predictor_loss,
    cli_predictor_laplace_values;

#endif
