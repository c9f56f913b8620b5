/* What a model does with its features, seen on some rows: which of them matter, how predictions depend on each, the terms of its kernel, and
 * the training rows that weigh most in one prediction.
 *
 * Importance by permutation needs the targets of the rows; rows that the model was fitted to make it look better than it is, so new ones are to be
 * preferred. Features that tell the same share what they are worth between them, and permuted or fixed values make rows that may never be
 * seen: both are true of every such explanation.
 *
 * Common failures: GRAM_ERROR_ARGUMENT (options; a model that predicts neither numbers nor classes, or is of functionals or things that are no numbers),
 * those of gram_preparation_apply and gram_predictor_evaluate. The same bits for any number of threads. */
#ifndef GRAM_EXPLAIN_H
#define GRAM_EXPLAIN_H

#include <gram/learn.h>
#include <gram/output.h>

GRAM_BEGIN

typedef struct gram_explain_options {
    size_t size;
    int64_t repeats;      /* permutations of each feature; default 5 */
    int64_t rows;         /* that are looked at, at most: a seeded sample; default 1000 */
    const char *features; /* LIST of those whose dependence is found; NULL (default): the nine most important */
    int64_t row; /* of the table, from 0: the training rows that weigh most in its prediction; -1 (default): none */
    int64_t most_weights; /* how many of these; default 10 */
    const char *who, *dashes,
        *name; /* how messages speak, and what they call the model; defaults "explain", "" and "the model" */
} gram_explain_options;

GRAM_API void gram_explain_options_init(gram_explain_options *options, size_t size);

typedef struct gram_explanation gram_explanation;

/* The table has the features by name, and the targets or not. Model and table are borrowed for the call. The caller destroys the result (takes NULL).
 * O(repeats features) predictions of the rows, and 20 predictions of at most 200 of them (50, where there are bands) for each dependence. */
GRAM_API gram_status gram_explain_table(gram_context *context, const gram_model *model, const gram_table *table,
                                        const char *name, const gram_explain_options *options,
                                        gram_explanation **explanation);
GRAM_API void gram_explanation_destroy(gram_explanation *explanation);

/* Everything below belongs to the explanation. */
typedef struct gram_explained_feature {
    int64_t feature; /* in the order of the preparation */
    const char *name;
    /* rise of the mean loss (squared error, pinball loss, log loss, wrong classes) when the feature is permuted, and its standard error over rows; NaN
     * without targets */
    double value, se;
    /* share of sum_l Var(x_l) mean (df/dx_l)^2, over the prepared columns of the feature (all levels of a text), f being the model's function; of
     * several outputs their sum; NaN if the model has no such function, or its kernel no derivative */
    double share, share_se;
} gram_explained_feature;

/* The most important first: by value, else by share. */
GRAM_API const gram_explained_feature *gram_explanation_features(const gram_explanation *explanation, int64_t *count);
/* Rows looked at; the mean loss on them, NaN without targets; why there are no shares, NULL if there are. */
GRAM_API int64_t gram_explanation_rows(const gram_explanation *explanation);
GRAM_API double gram_explanation_loss(const gram_explanation *explanation);
GRAM_API const char *gram_explanation_no_shares(const gram_explanation *explanation);

/* Partial dependence (Friedman 2001): the mean prediction over rows when a feature is set to each of some places. */
typedef struct gram_dependence {
    int64_t feature;
    const char *name;
    int64_t places;
    const double *at;          /* in the feature's own unit; of text 0, 1, ..., */
    const char *const *levels; /* and their names; NULL for numbers */
    int64_t
        curves; /* 1 of numbers (the first target; of quantiles the one nearest the median) and of two classes, else one for each class */
    const char *const *
        names; /* of them: the target, or the class whose probability it is (without probabilities: the share of rows) */
    /* places x curves. The band is twice the mean posterior deviation of f, which is no less than that of the mean (`posterior`), else one deviation over
     * rows of how a row's own curve differs from it in shape (0 for an additive function) */
    const double *value, *lower, *upper;
    int posterior;
} gram_dependence;

GRAM_API int64_t gram_explanation_dependences(const gram_explanation *explanation);
GRAM_API const gram_dependence *gram_explanation_dependence(const gram_explanation *explanation, int64_t index);

/* f = constant + sum_t f_t over the terms of a sum kernel, of models of one number. */
typedef struct gram_explained_term {
    const char *kernel;
    double std;   /* of f_t over the rows */
    double share; /* Cov(f_t, sum f)/Var(sum f): they add up to 1 */
} gram_explained_term;

/* count 0: the kernel is no sum, or the model none of one number. */
GRAM_API const gram_explained_term *gram_explanation_terms(const gram_explanation *explanation, int64_t *count);

/* A centre of the model and its part a_i k(x_i, x) of the function at the row. */
typedef struct gram_row_weight {
    int64_t centre; /* of the model, from 0 */
    int64_t row;    /* of the table, from 0, if it has such a row; else -1 */
    double part, kernel, coefficient;
    const double *x; /* prepared features */
} gram_row_weight;

/* Largest absolute part first. *function: the value of the function at the row; *constant: what is not of centres. count 0: none was asked for, or the
 * model's predictions are no sum over centres. gram_explanation_centres: "training rows", "support vectors" or "landmarks". */
GRAM_API const gram_row_weight *gram_explanation_weights(const gram_explanation *explanation, int64_t *count,
                                                         double *function, double *constant);
GRAM_API const char *gram_explanation_centres(const gram_explanation *explanation);

/* Keys rows, loss, importance (list of feature, value, se, share, share_se), dependence, terms, and row, function, constant, centres, weights if a row was
 * asked for. */
GRAM_API void gram_explanation_json(const gram_explanation *explanation, gram_json *json);

GRAM_END

#endif
