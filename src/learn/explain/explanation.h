/* An explanation from inside: what its parts share. */
#ifndef GRAM_LEARN_EXPLAIN_EXPLANATION_H
#define GRAM_LEARN_EXPLAIN_EXPLANATION_H

#include <gram/explain.h>

#include "method/method.h"

struct gram_explanation {
    gram_memory *memory;
    gram_arena arena;
    gram_preparation *preparation; /* retained: names of features are its */
    int64_t rows;
    double loss;
    const char *no_shares;
    int64_t feature_count, dependence_count, term_count, weight_count;
    gram_explained_feature *features; /* by number until they are sorted */
    gram_dependence *dependences;
    gram_explained_term *terms;
    gram_row_weight *weights;
    int64_t row;
    double function, constant;
    const char *centres;
};

/* The work on it. */
typedef struct gram_explaining {
    gram_context *context;
    gram_explain_options wish;
    const gram_model *model;
    gram_predictor *predictor;
    gram_explanation *made;
    const gram_prepared *data; /* all rows of the table, */
    int64_t n, d;              /* and those that are looked at: */
    double *x, *y, *labels;    /* y NULL: not known. Labels of classes, -1 for one that the model does not know */
    double *values;            /* their predictions, ld apart */
    int64_t ld;
    int is_function; /* predictions are values of the model's function */
} gram_explaining;

/* Each fills its part; what a model does not have is left out without failure. */
gram_status gram_explain_permutations(gram_explaining *e);
gram_status gram_explain_derivatives(gram_explaining *e);
gram_status gram_explain_dependences(gram_explaining *e);
gram_status gram_explain_terms(gram_explaining *e);
gram_status gram_explain_weights(gram_explaining *e);

/* Predictions of rows, made->ld apart. */
gram_status gram_explain_predict(gram_explaining *e, int64_t n, const double *x, double *values);
/* From the arena of the explanation, zeroed. */
gram_status gram_explain_take(gram_explaining *e, int64_t count, size_t size, void *out);

#endif
