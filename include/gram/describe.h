/* What is known of a model or a kernel: rows for people, and JSON for programs. Both are what the command prints, from the same
 * facts: a program that keeps the JSON of `gram info --json` can make it itself, and so can a server or another language. */
#ifndef GRAM_DESCRIBE_H
#define GRAM_DESCRIBE_H

#include <gram/learn.h>
#include <gram/spectrum.h>

GRAM_BEGIN

/* ---- models ---- */

/* Rows of a label and a value, as the command's report has them, and what is listed beside them. The caller destroys the description
 * (takes NULL), before the model. `file`: where it is kept; NULL: it is not. */
typedef struct gram_description gram_description;

GRAM_API gram_status gram_model_describe(gram_context *context, const gram_model *model, const char *file,
                                         gram_description **description);
GRAM_API void gram_description_destroy(gram_description *description);
GRAM_API const gram_model *gram_description_model(const gram_description *description);
GRAM_API int64_t gram_description_count(const gram_description *description);
/* Labels that begin with two blanks belong to the row above; the label "" goes on with that row. */
GRAM_API const char *gram_description_label(const gram_description *description, int64_t row);
GRAM_API const char *gram_description_value(const gram_description *description, int64_t row);
/* The classes of a classifier, count 0 for others. */
GRAM_API const gram_classes *gram_description_classes(const gram_description *description);

/* Lists of numbers that the description has, such as eigenvalues, and their names; NULL after the last. They belong to the
 * model. */
GRAM_API const double *gram_description_list(const gram_description *description, int64_t list, const char **name,
                                             int64_t *count);

/* Bayesian linear regression: the weight of a prepared column, in the units of its feature. */
typedef struct gram_weight {
    double mean, std;
    const char *name; /* of the column: "age", "colour=red" */
} gram_weight;

/* The weights that a Gaussian process with a linear kernel keeps, one for each prepared column; *count is 0 for other models. They belong
 * to the description. */
GRAM_API const gram_weight *gram_description_weights(const gram_description *description, int64_t *count);

/* How much a fitted kernel looks at a feature. */
typedef struct gram_relevance {
    int64_t feature; /* of the preparation */
    double value;    /* 1/ell in scaled units; the largest of its columns if it is text */
    double length;   /* ell in the feature's own units, NaN for text */
    const char *name;
} gram_relevance;

/* rows[feature_count of the preparation], the caller's: the features, the most relevant first; names belong to the preparation. Known
 * for kernels that have exactly one list of length-scales, one for each of at least two prepared columns; *count is 0 for others, else
 * feature_count. */
GRAM_API gram_status gram_kernel_relevance(gram_context *context, const gram_kernel *kernel,
                                           const gram_preparation *preparation, gram_relevance *rows, int64_t *count);
/* The same of the model; they belong to the description. */
GRAM_API const gram_relevance *gram_description_relevance(const gram_description *description, int64_t *count);

/* How much worse predictions of rows that were left out become when a feature is permuted among them. */
typedef struct gram_importance {
    int64_t feature; /* of the preparation */
    double value; /* the rise of the mean squared error, of the log loss of classes, of the pinball loss of quantiles */
    double se;    /* its standard error */
    const char *name;
} gram_importance;

/* The features of a model whose fit had an estimate by folds or a holdout, the most important first; *count is 0 for others, and for one
 * feature or more than 100. They belong to the description. */
GRAM_API const gram_importance *gram_description_importance(const gram_description *description, int64_t *count);

/* The model's ridge or noise in the words of scikit-learn, "" if it has none: "KernelRidge(alpha=0.1), ...". Returns text. */
enum { GRAM_ELSEWHERE_SIZE = 128 };
GRAM_API const char *gram_model_elsewhere(const gram_model *model, char text[GRAM_ELSEWHERE_SIZE]);

/* ---- JSON: keys of an object that the caller opens and closes, in the order in which they are listed here ---- */

/* method, task, kernel, second_kernel, classes, the model's facts, its lists, targets, features, scaled, second_features, weights,
 * importance, relevance: those that apply. */
GRAM_API void gram_description_json(const gram_description *description, gram_json *json);
GRAM_API void gram_classes_json(const gram_classes *classes, gram_json *json); /* classes */
/* columns: name, kind, and levels or mean and deviation of each feature. */
GRAM_API void gram_preparation_json(const gram_preparation *preparation, gram_json *json);

/* ---- kernels ---- */

/* Rows of what is known of a kernel on R^d (gram_kernel_properties), for people: a description without a model, whose rows are all that it
 * has. The caller destroys it. */
GRAM_API gram_status gram_kernel_describe(gram_context *context, const gram_kernel *kernel, int64_t d,
                                          gram_description **description);

/* A kernel as a string under the key, or NULL in an array. */
GRAM_API void gram_json_kernel(gram_json *json, const char *key, const gram_kernel *kernel);

/* The kernel as reports for people have it, its numbers in five digits. */
GRAM_API void gram_kernel_append_short(const gram_kernel *kernel, gram_string *text);

/* properties and parameters of a kernel on R^d. `given` is what the kernel was resolved from, which tells what was free; NULL: it is as it
 * was given. Fails as gram_kernel_properties does. */
GRAM_API gram_status gram_kernel_json(gram_context *context, const gram_kernel *kernel, const gram_kernel *given,
                                      int64_t d, gram_json *json);
/* equivalents: the kernel in the words of each tool that has it (<gram/words.h>). */
GRAM_API gram_status gram_kernel_words_json(gram_context *context, const gram_kernel *kernel, int64_t d,
                                            gram_json *json);

/* rows_checked, psd, min_eigenvalue, max_eigenvalue, tolerance; if it was checked: symmetric, certificate, cauchy_schwarz, kernel_metric; the
 * `count` largest eigenvalues as spectrum, and spectrum_shares, their parts of the trace; lambda and effective_dimension. Rows
 * count from 1. */
GRAM_API void gram_spectrum_json(const gram_spectrum *spectrum, int64_t count, gram_json *json);

GRAM_END

#endif
