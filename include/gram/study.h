/* Bayesian optimisation: where to evaluate an expensive function next, so that few evaluations find its least value.
 *
 * A study holds variables, evaluations and a Gaussian process that is learnt from them. Ask it for a point, evaluate the
 * function there by whatever means, and tell it the value:
 *
 *     gram_study_create(context, 2, variables, NULL, &study);
 *     for (int i = 0; i < 40; i++) {
 *         gram_study_ask(context, study, x, &proposal);
 *         gram_study_tell(context, study, proposal.trial, f(x), NULL);
 *     }
 *     best = gram_study_best(study);
 *
 * The first points are a Latin hypercube. After that a point is one where an acquisition is largest, by its exact gradient
 * from many starts. Asking again before telling gives further points to evaluate at the same time: points that are out count as
 * if they had come out as the model expects (or, with noisy improvement, as it draws them). With more than 15 columns the search stays
 * in a trust region about the best point. Once a point promises less than the noise that the model reckons with, and nobody said whether there is any, the best
 * point is evaluated a second time: equal values say that there is none. Points are arrays with one number for each variable; of a category it is the number of
 * the level, from 0.
 *
 * The model: y = b + f + noise on the unit cube (log variables on the log scale, a column for each level of a category),
 * f of a Matern kernel of order 5/2 with one length for each column. A model of n evaluations takes O(n^3) to learn and O(n^2) to extend;
 * at most 20,000 evaluations.
 *
 * The same study, seed and calls give the same points, with any number of threads. A study is used by one thread at a time.
 *
 * Common failures: GRAM_ERROR_ARGUMENT, GRAM_ERROR_DATA (a value out of its range is named), GRAM_ERROR_NUMERICAL,
 * GRAM_ERROR_BUDGET, GRAM_ERROR_MEMORY, GRAM_ERROR_CANCELLED. */
#ifndef GRAM_STUDY_H
#define GRAM_STUDY_H

#include <gram/output.h>
#include <gram/table.h>

GRAM_BEGIN

/* ---- variables ---- */

typedef enum gram_variable_kind {
    GRAM_VARIABLE_REAL = 0,
    GRAM_VARIABLE_LOG = 1,     /* positive, searched on the log scale */
    GRAM_VARIABLE_INTEGER = 2, /* whole numbers from lower to upper */
    GRAM_VARIABLE_CATEGORY = 3 /* one of the levels */
} gram_variable_kind;

typedef struct gram_variable {
    const char *name;
    gram_variable_kind kind;
    double lower, upper; /* finite, lower < upper; not used for categories */
    int64_t level_count; /* categories: 2 to 1000 different texts */
    const char *const *levels;
} gram_variable;

/* Variables from text, and the points of a table: what a study is made of. */
typedef struct gram_variables gram_variables;

/* Each text is NAME=LOWER:UPPER, NAME=LOWER:UPPER:log, NAME=LOWER:UPPER:int, or NAME=LEVEL,LEVEL,... for a category. A text that is none of
 * these is GRAM_ERROR_SYNTAX and named. The caller destroys it. */
GRAM_API gram_status gram_variables_parse(gram_context *context, int64_t count, const char *const *texts,
                                          gram_variables **variables);
/* The columns of a table that are features: one of numbers is a real variable from its least to its greatest number, one of text a category. Its
 * rows are the candidates. The table must outlive it. */
GRAM_API gram_status gram_variables_of_table(gram_context *context, const gram_table *table,
                                             gram_variables **variables);
/* The same of a file (gram_table_read), whose table it keeps. */
GRAM_API gram_status gram_variables_read(gram_context *context, const char *path, gram_variables **variables);
/* Takes NULL. */
GRAM_API void gram_variables_destroy(gram_variables *variables);
/* They belong to it; *count gets their number. */
GRAM_API const gram_variable *gram_variables_list(const gram_variables *variables, int64_t *count);
/* The rows of the table, row-major without gaps; NULL, and *rows = 0, without one. */
GRAM_API const double *gram_variables_candidates(const gram_variables *variables, int64_t *rows);

/* ---- options ---- */

/* What a point is worth, when minimising; mu and s are the posterior's mean and deviation there, f* the best value so far. */
typedef enum gram_acquisition_kind {
    GRAM_ACQUISITION_AUTO =
        0, /* IMPROVEMENT; where the model reckons with noise NOISY, and MEAN (every fourth time NOISY) once it is known to be there */
    GRAM_ACQUISITION_IMPROVEMENT =
        1, /* E max(f* - f, 0) = (f* - mu) Phi(z) + s phi(z), z = (f* - mu)/s; as its logarithm */
    GRAM_ACQUISITION_NOISY =
        2, /* the same, f* being the least of f at the points evaluated, which noise hides: mean over draws */
    GRAM_ACQUISITION_PROBABILITY = 3, /* P(f < f*) = Phi(z) */
    GRAM_ACQUISITION_BOUND = 4,       /* -(mu - kappa s) */
    GRAM_ACQUISITION_VARIANCE = 5,    /* s: exploration alone */
    GRAM_ACQUISITION_THOMPSON = 6,    /* -f of one draw of the posterior */
    GRAM_ACQUISITION_MEAN =
        7 /* of the least mean, at the points evaluated and at this one, by one more value with noise; without noise, and with constraints, IMPROVEMENT */
} gram_acquisition_kind;

/* "auto", "ei", "noisy-ei", "pi", "bound", "variance", "thompson", "mean-ei"; NULL past the end. Static. */
GRAM_API const char *gram_acquisition_name(gram_acquisition_kind kind);

typedef struct gram_study_options {
    size_t size;
    int maximize; /* default 0: least values are sought */
    gram_acquisition_kind acquisition;
    double noise;             /* variance of the values; 0: they are exact; NaN (default): learnt */
    double kappa;             /* of the bound; default 2 */
    int64_t start;            /* points of the Latin hypercube; 0 (default): twice the variables, 4 to 20 */
    int64_t constraints;      /* further outputs, which must be <= 0; default 0, at most 100 */
    int trust_region;         /* 1: yes, 0: no, -1 (default): above 15 columns */
    uint64_t seed;            /* of all that is drawn; default 0 */
    int64_t candidate_count;  /* rows of a table that are all points there are; default 0: any point */
    const double *candidates; /* candidate_count x variables, row-major without gaps; copied */
} gram_study_options;

GRAM_API void gram_study_options_init(gram_study_options *options, size_t size);

/* ---- a study ---- */

typedef struct gram_study gram_study;

/* Copies all it is given. The caller destroys the study. */
GRAM_API gram_status gram_study_create(gram_context *context, int64_t variable_count, const gram_variable *variables,
                                       const gram_study_options *options, gram_study **study);
/* Takes NULL. */
GRAM_API void gram_study_destroy(gram_study *study);

/* What it was made with; names and arrays belong to the study. */
GRAM_API int64_t gram_study_variable_count(const gram_study *study);
/* Number `index` from 0; out of range: one without a name. */
GRAM_API gram_variable gram_study_variable(const gram_study *study, int64_t index);
GRAM_API gram_status gram_study_get_options(gram_context *context, const gram_study *study,
                                            gram_study_options *options);

/* ---- asking and telling ---- */

typedef enum gram_trial_state {
    GRAM_TRIAL_QUEUED = 0,  /* given to be asked for first */
    GRAM_TRIAL_RUNNING = 1, /* asked for, not told yet */
    GRAM_TRIAL_DONE = 2,
    GRAM_TRIAL_FAILED = 3
} gram_trial_state;

/* Where a proposal came from, and what the model expects there. Numbers that the model does not know yet are NaN. */
typedef struct gram_proposal {
    size_t size;
    int64_t trial;               /* its number, from 0 */
    int64_t row;                 /* of the candidates, from 0; -1: there are none */
    int by_model;                /* 0: of the start, or given */
    double mean, deviation;      /* of the function there, in the units of the values */
    double expected_improvement; /* over the best so far, in the units of the values, never negative */
} gram_proposal;

/* The next point: x gets a number for each variable. proposal may be NULL, else its size is set. GRAM_ERROR_ARGUMENT when all
 * candidates were evaluated. */
GRAM_API gram_status gram_study_ask(gram_context *context, gram_study *study, double *x, gram_proposal *proposal);

/* The value of a trial that was asked for, and of its constraints (as many as the study has; NULL if none). A value that is not
 * finite says that the evaluation failed: the point counts as one as bad as the worst, so that its neighbourhood is left. A trial that
 * was told already is GRAM_ERROR_ARGUMENT. */
GRAM_API gram_status gram_study_tell(gram_context *context, gram_study *study, int64_t trial, double value,
                                     const double *constraints);

/* A point that nobody asked for: with its value as gram_study_tell; or to be asked for before any other. */
GRAM_API gram_status gram_study_add(gram_context *context, gram_study *study, const double *x, double value,
                                    const double *constraints);
GRAM_API gram_status gram_study_suggest(gram_context *context, gram_study *study, const double *x);

/* Trials that are running go back to the queue: whoever evaluated them is gone. */
GRAM_API void gram_study_requeue(gram_study *study);

/* ---- what is known ---- */

typedef struct gram_trial {
    size_t size;
    gram_trial_state state;
    int64_t row;               /* of the candidates, -1: none */
    const double *x;           /* belongs to the study, until its next call */
    double value;              /* NaN unless done */
    const double *constraints; /* likewise; NULL: none */
    int feasible;              /* done, and all constraints hold */
} gram_trial;

/* Trials of any state, in the order in which they came; those that are done or failed. */
GRAM_API int64_t gram_study_trial_count(const gram_study *study);
GRAM_API int64_t gram_study_evaluation_count(const gram_study *study);
GRAM_API gram_status gram_study_trial(gram_context *context, const gram_study *study, int64_t index, gram_trial *trial);

/* The number of the trial with the best value that keeps the constraints, -1 if there is none yet. Where values are noisy, the
 * best by the model's mean at the points evaluated: call gram_study_learn first, else by value. */
GRAM_API int64_t gram_study_best(const gram_study *study);

/* Learns the model from all that was told, unless it is up to date. GRAM_ERROR_ARGUMENT: no evaluation has a value yet. */
GRAM_API gram_status gram_study_learn(gram_context *context, gram_study *study);

/* The model at `count` points (count x variables, row-major without gaps): mean and deviation of the function without noise, in the
 * units of the values, and the acquisition, its logarithm where it has one (gram_acquisition_kind). Each may be NULL. Learns first. */
GRAM_API gram_status gram_study_predict(gram_context *context, gram_study *study, int64_t count, const double *x,
                                        double *mean, double *deviation, double *acquisition);

/* out[l]: the share of the model's variance over the whole space that is lost without variable l (total Sobol index of the posterior
 * mean, from 1,024 points). Learns first. */
GRAM_API gram_status gram_study_importance(gram_context *context, gram_study *study, double *out);

/* Where the model's mean is least (or greatest, when maximising), over the whole space, of a table over all rows: what to use where values are noisy, since the best of
 * them owes something to luck. Without noise, or with constraints, it is the best point (gram_study_best). x gets a number for each variable; mean and
 * deviation of the function there may be NULL. Learns first. GRAM_ERROR_ARGUMENT: no point that counts has a value yet. */
GRAM_API gram_status gram_study_recommend(gram_context *context, gram_study *study, double *x, double *mean,
                                          double *deviation);

/* How much better than the point recommended another can be, in the values' units: its mean + kappa deviations less the least mean - kappa deviations of any point
 * (kappa of the options), by the model, which may be wrong. Learns first. GRAM_ERROR_UNSUPPORTED with constraints. */
GRAM_API gram_status gram_study_regret(gram_context *context, gram_study *study, double *bound);

/* The variance of the noise that the model has, in the values' units squared; NaN before the first model. */
GRAM_API double gram_study_noise(const gram_study *study);

/* ---- values as text ---- */

/* The value of a variable as a command is given it: the shortest digits that read back, whole numbers without a point, levels by name.
 * Written like gram_kernel_print does. */
GRAM_API size_t gram_study_format(const gram_study *study, int64_t variable, double value, char *text, size_t size);

/* A point from "NAME=VALUE,NAME=VALUE,...", every variable once. GRAM_ERROR_DATA names what is wrong. */
GRAM_API gram_status gram_study_parse_point(gram_context *context, const gram_study *study, const char *text,
                                            double *x);

/* ---- commands ---- */

/* A word of a command with {NAME} replaced by the value of the variable at x, and {row} by the candidate's number from 1, added to out. */
GRAM_API void gram_study_fill_word(const gram_study *study, const char *word, const double *x, int64_t row,
                                   gram_string *out);
/* Do all {NAME} in the words (NULL at the end) name variables, and is every variable of a study without candidates in one? If not
 * GRAM_ERROR_ARGUMENT: the message names it and suggests a near name. */
GRAM_API gram_status gram_study_check_words(gram_context *context, const gram_study *study, const char *const *words);
/* A value and the study's constraints from a line of numbers with blanks or commas between; values has room for all of them. Anything else,
 * or a value that is not finite, is GRAM_ERROR_DATA. */
GRAM_API gram_status gram_study_parse_values(gram_context *context, const gram_study *study, const char *line,
                                             double *values);

/* ---- JSON ---- */

/* An object of names and values, which stays open for further keys if `open`. */
GRAM_API void gram_json_study_point(gram_json *json, const char *key, const gram_study *study, const double *x,
                                    int open);
/* The keys best (an object of names and value, or null), best_row, best_mean, best_std, recommended (an object of names, mean and std), evaluations, failed, running, noise and importance.
 * Learns the model, if there is an evaluation to learn from. */
GRAM_API gram_status gram_json_study(gram_context *context, gram_json *json, gram_study *study);

/* ---- files ---- */

/* A study as a file of JSON, which is put in its place whole (<gram/output.h>): whenever the process dies, the file is the one
 * before or the one after. Names, options and trials; the model is learnt again. */
GRAM_API gram_status gram_study_write(gram_context *context, const gram_study *study, const char *path);

/* GRAM_ERROR_FILE: it cannot be read; GRAM_ERROR_DATA: it is not a study, the message says why. */
GRAM_API gram_status gram_study_read(gram_context *context, const char *path, gram_study **study);

/* Are variables, direction, constraints and candidates of two studies the same? If not GRAM_ERROR_DATA, and the message says what differs. */
GRAM_API gram_status gram_study_check_same(gram_context *context, const gram_study *a, const gram_study *b);

GRAM_END

#endif
