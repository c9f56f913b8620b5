/* Pictures of models, spectra, tests and draws, as scripts for gnuplot.
 *
 * What a picture of a model shows is decided here; gnuplot is the caller's to run, as the command does, or to leave to the reader of
 * the script. A script sets neither terminal nor output, and counts on
 *
 *     set encoding utf8
 *     set terminal svg size WIDTH,HEIGHT noenhanced      # or pngcairo, pdfcairo, ...
 *
 * before it: names of columns and files are quoted so that nothing in them is a command, a format or markup. The same data give the same
 * bytes, whatever the locale.
 *
 * Common failures: GRAM_ERROR_ARGUMENT for what cannot be drawn (the message says what the picture needs, gram_context_advice what to do),
 * those of gram_predictor_evaluate, GRAM_ERROR_BUDGET, GRAM_ERROR_MEMORY, GRAM_ERROR_CANCELLED. On failure *picture is NULL. */
#ifndef GRAM_PICTURE_H
#define GRAM_PICTURE_H

#include <gram/compare.h>
#include <gram/draw_points.h>
#include <gram/explain.h>
#include <gram/learn.h>
#include <gram/sample_groups.h>
#include <gram/scored_points.h>
#include <gram/spectral_density.h>
#include <gram/spectrum.h>
#include <gram/study.h>

GRAM_BEGIN

typedef struct gram_picture gram_picture;

/* Takes NULL. */
GRAM_API void gram_picture_destroy(gram_picture *picture);
/* The script belongs to the picture. */
GRAM_API const gram_string *gram_picture_script(const gram_picture *picture);
/* How large it is meant to be drawn. */
GRAM_API void gram_picture_pixels(const gram_picture *picture, int *width, int *height);

/* ---- of models ---- */

typedef struct gram_picture_options {
    size_t size;
    const char *show; /* one of gram_model_pictures; NULL: the first */
    const char *data; /* what titles and messages call the data; NULL: "data" */
    const char *name; /* what messages call the model; NULL: "the model" */
    /* the column of a table, whose rows are those of the data, that colours points; NULL: their labels or clusters, or one colour */
    const gram_table *table;
    int64_t column;
    int terms;          /* of predictions of a Gaussian process over one feature: each term of its kernel as well */
    const char *dashes; /* how messages write an option; NULL: "", "--" for a command */
} gram_picture_options;

GRAM_API void gram_picture_options_init(gram_picture_options *options, size_t size);

/* Words for what can be drawn of a model with the rows that it was learnt from, with blanks between, the first by default; "": nothing.
 * Static. What there is:
 *
 *     fit          regression: data and curve over one feature, else observations against predictions, residuals and relevances
 *     classes      regions of two features, else the ROC curve of two classes and how well probabilities hold
 *     scatter      rows by their first two coordinates, coloured by groups
 *     space        by their first three
 *     boxes        quartiles of each coordinate by groups
 *     directions   of two features: the rows, and along what they vary most
 *     spectrum     variances of components
 *     map          clusters, as regions of two features or of two principal components
 *     pairs        paired views: the first coordinate of one against that of the other
 *     views        paired views: the rows of both in one plane
 *     eigenvalues  of a kernel on the rows and, over one feature, the first eigenfunctions
 *     descent      of networks: losses, drift and, over one feature, functions
 *     solution     of a differential equation over one or two features, and its error indicator
 *
 * Each is a row of a table (src/picture/model/picture_table.c); a method names its own in its verb. */
GRAM_API const char *gram_model_pictures(const gram_model *model);
/* The same of a verb that methods have, and whether a word is among them. */
GRAM_API int gram_verb_draws(const gram_verb *verb, const char *show);

/* Of a model and the rows that it was learnt from, which the learner still has. options may be NULL. The caller destroys the picture. */
GRAM_API gram_status gram_picture_of_learner(gram_context *context, gram_learner *learner, const gram_model *model,
                                             const gram_picture_options *options, gram_picture **picture);

/* What a picture shows of rows that are predicted piece by piece: a seeded sample of them, or the first of each class. Memory does not
 * grow with their number. The predictor is borrowed. The caller destroys it (takes NULL). */
typedef struct gram_seen_rows gram_seen_rows;

GRAM_API gram_status gram_seen_rows_create(gram_context *context, const gram_predictor *predictor,
                                           gram_seen_rows **rows);
GRAM_API gram_status gram_seen_rows_add(gram_context *context, gram_seen_rows *rows, const gram_predicted *piece);
GRAM_API void gram_seen_rows_destroy(gram_seen_rows *rows);

/* Of predictions for rows: classes; the posterior over one feature where the model knows intervals, with or without observations; else
 * as `fit`. GRAM_ERROR_DATA if the rows have no targets where these are needed, or are at one place. options may be NULL; `show` is not
 * looked at. */
GRAM_API gram_status gram_picture_of_predictions(gram_context *context, const gram_seen_rows *rows,
                                                 const gram_picture_options *options, gram_picture **picture);

/* ---- of comparisons ---- */

/* The errors of methods and baselines with their standard errors, the best first; `data` is for the title. */
GRAM_API gram_status gram_picture_of_comparison(gram_context *context, const gram_comparison *comparison,
                                                const char *data, gram_picture **picture);

/* ---- of explanations ---- */

/* The importance of features with standard errors, the most important first, at most 20: by permutation, without targets by derivatives. */
GRAM_API gram_status gram_picture_of_importance(gram_context *context, const gram_explanation *explanation,
                                                gram_picture **picture);
/* The dependence of predictions on features: a panel for each that the explanation has. */
GRAM_API gram_status gram_picture_of_explanation(gram_context *context, const gram_explanation *explanation,
                                                 gram_picture **picture);

/* ---- of kernels ---- */

/* The `count` largest eigenvalues by their number, on a log scale; kernel and data are for the title. GRAM_ERROR_NUMERICAL if none of
 * them is positive. */
GRAM_API gram_status gram_picture_of_spectrum(gram_context *context, const gram_kernel *kernel, const char *data,
                                              const gram_spectrum *spectrum, int64_t count, gram_picture **picture);

/* A spectral density at n >= 1 frequencies w, ascending, where it has these values (gram_spectral_density_values), and its atoms. */
GRAM_API gram_status gram_picture_of_density(gram_context *context, const gram_kernel *kernel,
                                             const gram_spectral_density *density, int64_t n, const double *w,
                                             const double *values, gram_picture **picture);

/* ---- of tests ---- */

/* Two samples that were read together. One column: both densities, and the witness of the kernel below. Two: the points over the witness.
 * More: the scores of the columns, the highest first (gram_mmd_columns). */
GRAM_API gram_status gram_picture_of_two_samples(gram_context *context, const gram_sample *first,
                                                 const gram_sample *second, gram_kernel *kernel, double p_value,
                                                 const double *score, const int64_t *order, gram_picture **picture);

/* The rows by the two columns of the first two groups that depend most; `kernels` has one for each group, for the title. */
GRAM_API gram_status gram_picture_of_dependence(gram_context *context, const gram_sample *sample,
                                                gram_kernel *const *kernels, double p_value, gram_picture **picture);

/* The statistic of a test of fit, and its threshold (NaN: none), among the draws of its bootstrap, which are sorted. */
GRAM_API gram_status gram_picture_of_fit_test(gram_context *context, const gram_scored_points *scored, double statistic,
                                              double threshold, int64_t draws, const double *bootstrap,
                                              gram_picture **picture);

/* ---- of points ---- */

/* Rows that were chosen of all, in the first two columns, or of one column by their number. */
GRAM_API gram_status gram_picture_of_choice(gram_context *context, const gram_scored_points *scored, int64_t m,
                                            const int64_t *index, gram_picture **picture);

/* Draws of a Gaussian process at a grid: values[i * draws + j], mean and deviation of f at its points; curves with their 95 % band over
 * one dimension, maps over two. With a model (NULL: a prior) the observations as well. */
GRAM_API gram_status gram_picture_of_draws(gram_context *context, const gram_draw_points *points,
                                           const gram_kernel *kernel, const gram_model *model, int64_t draws,
                                           const double *values, const double *mean, const double *std,
                                           gram_picture **picture);

/* ---- of studies ---- */

/* Of one variable: posterior with its 95 % band, evaluations, the acquisition and where it is largest, and how the best value came. Of
 * several: the last, and the model along each of the first eight variables through the best point. Learns the model. */
GRAM_API gram_status gram_picture_of_study(gram_context *context, gram_study *study, gram_picture **picture);

GRAM_END

#endif
