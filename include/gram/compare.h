/* Rows left out: one learner judged by folds, and methods side by side by the same folds.
 *
 * Each fold of the rows is predicted by a fit to the others, and what the fit chooses (lengths, ridge, C) is chosen anew for each fold,
 * without the rows that judge it: errors are those to expect on new rows. Scales of features and levels of categories are those of all rows,
 * which no target has a say in. Folds keep groups together (`groups`) or go forward in time (`ordered`), as the learner's options say.
 *
 *     gram_learner_read_table(context, learner, "data.csv", GRAM_FORMAT_AUTO, &table);
 *     gram_compare_table(context, learner, table, "data.csv", NULL, &comparison);
 *     gram_comparison_choose(context, comparison, learner);
 *     gram_learn_table(context, learner, table, "data.csv", &model);
 *
 * Common failures: those of learning (<gram/learn.h>); GRAM_ERROR_DATA for rows that cannot be divided. A method that fails is no failure of a
 * comparison, unless all of them do. The same bits for any number of threads, unless the context's time is limited. */
#ifndef GRAM_COMPARE_H
#define GRAM_COMPARE_H

#include <gram/learn.h>
#include <gram/output.h>

GRAM_BEGIN

/* A file as gram_learn_file reads it, by the learner's options (na, categories), sparse rows as columns. The caller destroys the table. */
GRAM_API gram_status gram_learner_read_table(gram_context *context, const gram_learner *learner, const char *path,
                                             gram_format format, gram_table **table);

/* ---- one learner ---- */

typedef struct gram_cv_options {
    size_t size;
    int64_t folds;    /* at least 2; 0 (default): 20 up to 60 rows, 10 up to 250, else 5 */
    int64_t fit_rows; /* rows of a fit, at most, a share of each class; 0 (default): all but the fold */
} gram_cv_options;

GRAM_API void gram_cv_options_init(gram_cv_options *options, size_t size);

/* Predictions of left-out rows, and their errors. */
typedef struct gram_cv gram_cv;

/* A fit for each fold with all the options of the learner, which is not changed; its task must be of numbers or classes. The table is borrowed for
 * the call. The caller destroys the result (takes NULL). */
GRAM_API gram_status gram_cv_table(gram_context *context, const gram_learner *learner, const gram_table *table,
                                   const char *name, const gram_cv_options *options, gram_cv **cv);
GRAM_API void gram_cv_destroy(gram_cv *cv);

/* Means of the losses of left-out rows with standard errors (of groups, if there are); NaN for what is not of this kind. All belongs to
 * the result. */
typedef struct gram_cv_report {
    size_t size; /* the caller sets it */
    gram_task task;
    const char *method, *kernel; /* of the fits; NULL: it has no kernel. As it was given, or the method's own */
    const char *numbers;         /* "anew": chosen in each fold, "given": nothing was chosen */
    const char *by;              /* "groups", "order" or NULL */
    int64_t n, rows;             /* rows of the data, and those that were left out and judged */
    int64_t folds, fit_rows;     /* fits, and rows of the largest of them */
    double rmse, rmse_se, r2, mae, mae_se, nlpd, nlpd_se; /* of numbers */
    double loss, loss_se;                                 /* of quantiles */
    double accuracy, accuracy_se, log_loss, log_loss_se;  /* of classes */
} gram_cv_report;

GRAM_API gram_status gram_cv_get_report(gram_context *context, const gram_cv *cv, gram_cv_report *report);

/* What was found in the data, as gram_learner_lesson says it. */
GRAM_API const gram_lesson *gram_cv_lesson(const gram_cv *cv);

/* Prediction i of the n prepared rows (lesson->data): `values` as columns say (means or quantiles, then the scale of a new observation; or class,
 * probabilities and score), NaN if no fold left it out, and its fold, -1 if none. */
GRAM_API const gram_columns *gram_cv_columns(const gram_cv *cv);
GRAM_API const double *gram_cv_values(const gram_cv *cv, int64_t row);
GRAM_API int64_t gram_cv_fold(const gram_cv *cv, int64_t row);

/* Adds lines of text with commas, the first with names: row of the table (from 1), fold (from 1), truth, prediction, and std or p_CLASS where there
 * are any; only of rows that were left out. */
GRAM_API void gram_cv_rows(const gram_cv *cv, gram_string *text);
/* The object `estimate` as models have it: kind, rows, folds, fit_rows, numbers, and the errors with their _se. */
GRAM_API void gram_cv_json(const gram_cv *cv, gram_json *json);

/* ---- several ---- */

typedef struct gram_compare_options {
    size_t size;
    const char *methods; /* names with commas between: krr, gp, ..., linear, nearest, mean, baselines; NULL (default): all */
    const char *kernel;  /* one more, for every method of kernels; NULL (default): none */
    int64_t folds;       /* 0 (default): by the rows, see below */
    int64_t fit_rows;    /* rows of a fit, at most; 0 (default): 2,000; if folds are given, all */
    double share;        /* of the time that the context gives, 0 to 1; default 1 */
} gram_compare_options;

/* Folds by default: 10 up to 60 rows, 5 up to 300, 3 up to 1,000; above that one part of a fifth of the rows, at most 5,000 and up to twice
 * that, is left out once. */
GRAM_API void gram_compare_options_init(gram_compare_options *options, size_t size);

/* One of those that were compared. Texts are static or belong to the comparison. */
typedef struct gram_compared {
    const char *name;    /* for people: "krr rbf", "nearest neighbours" */
    const char *method;  /* as the learner takes it; of baselines without a model: mean, frequent, nearest */
    const char *kernel;  /* as the learner takes it; NULL: none */
    int baseline;        /* it is here to be beaten */
    int model;           /* gram_comparison_choose can choose it */
    const char *skipped; /* why there is no error: the time was up, or what failed; NULL: there is one */
    double error, se;    /* root mean squared error, or the share of wrong classes; and its standard error */
    double other, other_se; /* nlpd of distributions, log loss of classes; NaN where there is none */
    double seconds;
    double behind, behind_se; /* mean of (squared error or wrong) less that of the least, row by row, and its standard error */
    int near;                 /* no more than one standard error of that behind the least */
    int best;                 /* the one that is named: of numbers the least error; of classes the least log loss of those within two of these standard errors */
} gram_compared;

typedef struct gram_comparison gram_comparison;

/* Methods that suit the task with a few kernels, and baselines, the cheap ones first: mean (or the most frequent class), linear (ridge or
 * logistic), nearest (neighbours, their number by leave-one-out), then the methods of gram. Options of the learner are those of the data: target,
 * features, ignore, weights, groups, ordered, missing, scale, task. With limited time those that it does not suffice for are skipped and
 * named. The caller destroys the result (takes NULL). */
GRAM_API gram_status gram_compare_table(gram_context *context, const gram_learner *learner, const gram_table *table,
                                        const char *name, const gram_compare_options *options,
                                        gram_comparison **comparison);
GRAM_API void gram_comparison_destroy(gram_comparison *comparison);

/* The rows: those with an error first, the least one first. */
GRAM_API int64_t gram_comparison_count(const gram_comparison *comparison);
GRAM_API const gram_compared *gram_comparison_row(const gram_comparison *comparison, int64_t row);
/* How: n, rows, folds and fit_rows are those of gram_cv_report, as are task, numbers and by. */
GRAM_API gram_status gram_comparison_get_report(gram_context *context, const gram_comparison *comparison,
                                                gram_cv_report *report);
GRAM_API const gram_lesson *gram_comparison_lesson(const gram_comparison *comparison);

/* Sets method and kernel of the learner to the best row, of those that have a model; *row (unless NULL) is its place. GRAM_ERROR_ARGUMENT if there is
 * none. */
GRAM_API gram_status gram_comparison_choose(gram_context *context, const gram_comparison *comparison,
                                            gram_learner *learner, int64_t *row);

/* Keys task, n, rows_left_out, folds, fit_rows, numbers, by; rows, a list of name, method, kernel, baseline, error, se, seconds, behind, behind_se, near,
 * nlpd or log_loss; best, one of them; skipped, a list of name and reason. */
GRAM_API void gram_comparison_json(const gram_comparison *comparison, gram_json *json);

GRAM_END

#endif
