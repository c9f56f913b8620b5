/* Predictions of rows by fits without them. */
#ifndef GRAM_LEARN_ESTIMATE_LEFT_OUT_H
#define GRAM_LEARN_ESTIMATE_LEFT_OUT_H

#include "learn/estimate/learning_part.h"

typedef struct gram_left_out gram_left_out;

/* What stands in the place of a fit by the method: predicts the rows that are held from those that train, by gram_left_out_take. */
typedef gram_status (*gram_left_out_rule)(gram_left_out *out, int64_t train_count, const int64_t *train,
                                          int64_t held_count, const int64_t *held);

/* One row for each of the data: NaN where no fit left it out. Columns are as a predictor has them: means (or quantiles), then the scale
 * of a new observation; or the class, probabilities and score. */
struct gram_left_out {
    const gram_learning *whole;
    gram_arena arena;
    gram_preparation *preparation; /* of the parts */
    gram_columns columns;
    gram_classes classes;
    int64_t n, ld, rows; /* rows: that were left out */
    double *values;
    double *rises;     /* n x features: of the loss when one is permuted (feature_importance.h); NULL: not found */
    gram_model **kept; /* those of the folds, in their order, that are kept; NULL: none */
    int64_t kept_count;
    gram_left_out_rule rule; /* of baselines; NULL: the method fits */
    int64_t most_rows;       /* that a fit of a fold gets, a share of each class; 0: all of them */
    int64_t fit_rows;        /* that the largest of them had */
    int plain;               /* importances are not wanted */
};

/* For learning that is ready. gram_left_out_free in any case. */
gram_status gram_left_out_begin(const gram_learning *whole, gram_left_out *out);
void gram_left_out_free(gram_left_out *out);

/* Each row's fold, in the arena: by classes, groups or order, as the data have them. *folds is how many are asked for, and then how many
 * there are, less if rows or groups are too few: 1 if they cannot be divided. `stream` is that of random numbers. */
gram_status gram_left_out_deal(const gram_learning *learning, gram_arena *arena, uint64_t stream, int64_t *folds,
                               int64_t **fold);

/* Predictions of rows: values has part->ld numbers for each. */
gram_status gram_left_out_take(gram_left_out *out, const gram_columns *part, int64_t count, const int64_t *rows,
                               const double *values);

/* A row of a fit's predictions as a row of the values. */
void gram_left_out_put(const gram_left_out *out, const gram_columns *part, const double *from, double *to);

/* Fits to the rows that train and predicts those that are held. `found`: with these numbers; NULL: all are chosen anew. `fit`, unless
 * NULL, gets the fit, for gram_part_forget. */
gram_status gram_left_out_fit(gram_left_out *out, const gram_found_numbers *found, int64_t train_count,
                              const int64_t *train, int64_t held_count, const int64_t *held, gram_learning *fit);

/* The same for a division into folds, as gram_folds_deal makes it, fold `first` to `last`. With `keep` the models stay in `kept`. */
gram_status gram_left_out_folds(gram_left_out *out, const gram_found_numbers *found, const int64_t *fold, int64_t first,
                                int64_t last, int keep);

#endif
