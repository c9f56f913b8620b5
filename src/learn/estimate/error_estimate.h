/* The error to expect on new rows. */
#ifndef GRAM_LEARN_ESTIMATE_ERROR_ESTIMATE_H
#define GRAM_LEARN_ESTIMATE_ERROR_ESTIMATE_H

#include "learn/estimate/left_out.h"

/* How rows are left out. */
typedef enum gram_estimate_way {
    GRAM_ESTIMATE_NONE,   /* not asked for, or not possible */
    GRAM_ESTIMATE_OWN,    /* the fit knows its leave-one-out predictions, and nothing was tuned */
    GRAM_ESTIMATE_FOLDS,  /* all rows, by folds */
    GRAM_ESTIMATE_HOLDOUT /* one fold, after the fit */
} gram_estimate_way;

typedef struct gram_estimate_state {
    gram_estimate_way way;
    char missing[160]; /* why there is none; "": there is one, or it was not asked for */
    int anew;          /* numbers are chosen anew for each fit; 0: those of the whole */
    int joins;         /* of a holdout: it comes first, and its numbers are the whole's, whose fit it joins */
    int64_t folds;     /* that rows are dealt to */
    int64_t *fold;     /* of each row */
    gram_left_out out;
    gram_search_trail trail; /* from the searches of the whole to those of the folds */
    gram_learning first;     /* of a holdout that joins: the fit to the others */
} gram_estimate_state;

/* Why parts of the rows cannot be fitted by themselves; NULL: they can. */
const char *gram_estimate_obstacle(const gram_learning *learning);

/* Was one asked for? */
int gram_estimate_is_wanted(const gram_learning *learning);
/* Before the fit of learning that is ready: decides on a way, and fits to the others first if a holdout is to join. A way that
 * fails leaves a note, and the fit goes on. gram_estimate_free in any case. */
gram_status gram_estimate_begin(gram_learning *learning, gram_estimate_state *state);
/* After learning->model was made: leaves rows out, and keeps what was found in the model. */
gram_status gram_estimate_end(gram_learning *learning, gram_estimate_state *state);
/* For fits that have none: the model says why, if one was asked for. */
gram_status gram_estimate_miss(gram_learning *learning, const char *why);
void gram_estimate_free(gram_estimate_state *state);

/* Means of the losses of the rows that were left out, with standard errors; NaN for what is not of this kind of model. */
typedef struct gram_left_out_errors {
    int64_t rows;
    double rmse, rmse_se, r2;     /* of numbers, over all targets */
    double mae, mae_se;           /* of the first */
    double nlpd, nlpd_se;         /* minus the log density of the first, where predictions are distributions */
    double loss, loss_se;         /* of quantiles: pinball, the mean over levels */
    double accuracy, accuracy_se; /* of classes */
    double log_loss, log_loss_se; /* of classes, where there are probabilities */
} gram_left_out_errors;

gram_status gram_left_out_judge(const gram_left_out *out, gram_left_out_errors *errors);

/* The first row of a model's report, and a note if the training error is far below it; and an object of its JSON. */
void gram_estimate_report(gram_report *report);
void gram_estimate_json(const gram_model *model, gram_json *json);
/* Is this fact one of the estimate's? Those are in the object. */
int gram_estimate_is_fact(const char *name);

#endif
