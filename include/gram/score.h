/* Scores: how far predictions are from what was observed, summed up piece by piece.
 *
 * Rows come in as many pieces as the caller likes, each as a predictor gave it, with the targets beside it; memory does not
 * grow with their number, but for a seeded sample of at most a million scores of two classes, which the area under the ROC
 * curve is from. The same pieces give the same bits. */
#ifndef GRAM_SCORE_H
#define GRAM_SCORE_H

#include <gram/learn.h>

GRAM_BEGIN

typedef struct gram_score gram_score;

/* For values of these columns (of a predictor, borrowed: they must outlive the score). The caller destroys it (takes NULL). */
GRAM_API gram_status gram_score_create(gram_context *context, const gram_columns *columns, gram_score **score);
GRAM_API void gram_score_destroy(gram_score *score);

/* Adds n rows: y has `targets` numbers a row as gram_prepared has them (NULL: the targets are not known), values are those
 * of gram_predictor_evaluate, ldv apart. A NaN among targets or predictions is left out, a class that the model does not know
 * counts as wrong. Targets that do not fit the columns (another number of them) are not scored, and are no failure. */
GRAM_API gram_status gram_score_add(gram_context *context, gram_score *score, int64_t n, const double *y,
                                    int64_t targets, const double *values, int64_t ldv);

/* What is known so far; NaN for what was not observed, or is not of this kind of model. */
typedef struct gram_score_report {
    size_t size;               /* the caller sets it */
    int scored;                /* targets that fit were added, if only of 0 rows */
    int64_t rows;              /* that had a target; with several targets, of the one that most rows have */
    double rmse, mae;          /* regression: over all targets */
    double r2;                 /* 1 - sum of squared errors/sum of squares about each target's mean */
    int64_t densities;         /* rows with a standard deviation, */
    double nlpd;               /* their mean minus log density of a normal distribution, of the first target, */
    double coverage;           /* and the share of them within the interval of columns->half_width deviations */
    int64_t level_count;       /* quantiles; the arrays belong to the score */
    const double *level_loss;  /* the mean pinball loss of each level */
    const double *level_below; /* the share of observations at most the quantile */
    int64_t other;             /* classification: rows of classes that the model does not know, counted in `rows` */
    double accuracy;
    int64_t probable;         /* rows with probabilities, */
    double log_loss;          /* and their mean -log p of the true class, clipped at 1e-15 as scikit-learn does */
    double auc;               /* two classes: the area under the ROC curve, ties counting half */
    const int64_t *confusion; /* classes x classes: true, predicted; belongs to the score */
} gram_score_report;

/* O(kept log kept) for two classes. */
GRAM_API gram_status gram_score_sum_up(gram_context *context, const gram_score *score, gram_score_report *report);

/* The same as keys of an object that is open, none if no targets were known: scored, and accuracy, log_loss, auc, unknown_classes, classes,
 * confusion of classes; quantiles, a list of level, loss and below; or rmse, mae, r2, nlpd, coverage. */
GRAM_API gram_status gram_score_json(gram_context *context, const gram_score *score, gram_json *json);

/* The ROC curve of two classes: with a falling threshold on the scores (lds apart), the share of class 1 that is found against
 * the share of class 0 that is taken for it. labels are 0, 1, or negative for rows that do not count. *count points, at
 * most n + 1, from (0, 0) on; both arrays are the caller's and have room for n + 1. O(n log n). */
GRAM_API gram_status gram_roc_curve(gram_context *context, int64_t n, const double *labels, const double *scores,
                                    int64_t lds, double *mistaken, double *found, int64_t *count);

/* How often probabilities come true: those of all classes (p[i * ldp + c]; a row that begins with NaN does not count) fall into
 * `bins` equal parts of [0, 1]. For each: how many there are, their mean, and the share of them that were of the true class, NaN
 * where there are none. */
GRAM_API void gram_calibration(int64_t n, int64_t classes, const double *labels, const double *p, int64_t ldp,
                               int64_t bins, double *probability, double *share, int64_t *rows);

GRAM_END

#endif
