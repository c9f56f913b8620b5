/* The seam between methods and the learner. A method is one folder, src/method/NAME, and one row: a `gram_method` in
 * NAME_model.c that the table in src/learn/method_table.c names. The learner (src/learn) reads data, decides the task, reads
 * options by the row's table and calls the row; the row plans, fits, and keeps what it found in a model; later it predicts from
 * that model and reports it. Everything by name (options, facts) is in the row's file; docs/adding.md shows how to write one. */
#ifndef GRAM_METHOD_METHOD_H
#define GRAM_METHOD_METHOD_H

#include <gram/learn.h>
#include <gram/loss.h>

#include "base/arena.h"
#include "base/context.h"
#include "base/text/spoken_failure.h"
#include "method/unknown_numbers.h"
#include "tune/trail/search_trail.h"

/* ---- options ---- */

/* A word that a choice may be; tables end with a row whose name is NULL. */
typedef struct gram_choice {
    const char *name;
    int value;
    const char *number; /* what may follow, as M in "nystrom:M"; NULL: nothing may */
    int64_t least, most;
} gram_choice;

/* What a field of kind GRAM_OPTION_CHOICE holds. */
typedef struct gram_chosen {
    int value;
    int64_t number; /* 0: not given */
} gram_chosen;

enum {
    GRAM_OPTION_STRENGTH = 1, /* given together with the kernel it leaves nothing to tune */
    GRAM_OPTION_RESUMES = 2,  /* may be given to a fit that goes on */
    GRAM_OPTION_AUTO = 4,     /* of a number or an integer: the word "auto" too, which is NaN or 0 */
    GRAM_OPTION_INFINITE = 8, /* of a number: the word "inf" too */
    /* of a strength whose number a model keeps under the option's name, for fits to other rows that share it: it stands against one row,
     * as it is or times n */
    GRAM_OPTION_PER_ROW = 16,
    GRAM_OPTION_OVER_ROWS = 32
};

/* One option of a method: `offset` is that of its field in the method's settings, an int (switch), const char *, int64_t,
 * double or gram_chosen. Without a default a number is NaN, a text NULL, an integer 0 and a switch -1. */
typedef struct gram_option {
    const char *name;
    gram_option_kind kind;
    size_t offset;
    const char *argument, *help, *help_no;
    const char *otherwise;
    double least, most; /* of numbers and integers; most 0: no limit */
    int above;          /* `least` itself is not allowed */
    const gram_choice *choices;
    unsigned flags;
    unsigned tasks;        /* bit 1 << gram_task of those that have it; 0: all of the method's */
    const char *group;     /* at most one option of a group is given, NULL: it is in none */
    const char *elsewhere; /* the words of other tools */
} gram_option;

/* How the free numbers of a kernel and the strength are chosen; what `tune` of a row may be is a table of these. */
typedef enum gram_tuning {
    GRAM_TUNING_AUTO,
    GRAM_TUNING_NONE,
    GRAM_TUNING_LOO,
    GRAM_TUNING_GCV,
    GRAM_TUNING_CV,
    GRAM_TUNING_ML,
    GRAM_TUNING_HOLDOUT
} gram_tuning;

/* The settings of a row that has the option `tune` begin with this. */
typedef struct gram_tuned_settings {
    gram_chosen tune; /* gram_tuning */
    int ard;          /* one length-scale per feature: 1, 0, or -1 for the default kernel only */
} gram_tuned_settings;

/* The ridge in its three names, of which one may be given: noise = alpha = n lambda. */
typedef struct gram_ridge_settings {
    double lambda, noise, alpha;
} gram_ridge_settings;

/* What no penalty acts on: a constant, and features that enter linearly besides the function. */
enum { GRAM_UNPENALISED_ZERO, GRAM_UNPENALISED_CONSTANT, GRAM_UNPENALISED_LINEAR };

typedef struct gram_unpenalised_settings {
    int intercept;
    gram_chosen mean;
    const char *list; /* of features; NULL: none */
} gram_unpenalised_settings;

/* ---- one fit ---- */

typedef struct gram_method gram_method;

typedef struct gram_setting {
    const char *name, *value;
} gram_setting;

/* The second of two paired views: row i belongs to row i of the first, with columns, preparation and kernel of its own. */
typedef struct gram_paired {
    const char *source;
    gram_preparation *preparation;
    gram_prepared *data;
    gram_points *points;
    gram_kernel *written, *kernel; /* as those of the first; the method sets the last */
} gram_paired;

typedef struct gram_learning {
    gram_context *context; /* of the call */
    gram_arena arena;      /* for everything that the fit makes: it goes with it */
    const gram_method *method;
    const char *who, *dashes; /* how messages speak */
    int64_t given_count;
    const gram_setting *given; /* options, as texts */
    void *settings;            /* the row's, read from them */
    /* the data */
    const char *source;                  /* what messages call them */
    const char *target, *weights_column; /* of arrays; NULL: as the options say */
    const char *ignore;                  /* the columns to ignore, if they are others than the options say */
    int64_t *table_groups;               /* of all rows of the table, NULL: none */
    int64_t *groups;                     /* of the prepared rows: folds keep a group together; NULL: none */
    int ordered;                         /* rows are in order of time: folds go forward in it */
    int to_file;                         /* the model is written afterwards */
    gram_preparation *preparation;
    gram_prepared *data;
    int streamed;      /* the rows go by in blocks: data are a sample of them, or the present block, and n counts all */
    int64_t first_row; /* of the file, of a block */
    int64_t file_rows; /* of such a file */
    int64_t sample_rows;          /* that the sample had */
    gram_points *functionals;     /* of a column of kinds: the rows, and then the points too; NULL: they are values */
    const gram_row_sense *senses; /* of those rows: data, or constraints; NULL: all are data */
    gram_unknowns unknowns;       /* in their operators, and the terms that such rows are made of */
    gram_points *points;
    int has_row_noise;           /* data->weights are known variances of the rows' noise */
    int64_t n;                   /* rows of weight above 0 */
    gram_task task;              /* never auto once the data are read */
    gram_classes classes;        /* of classification, */
    const double *labels;        /* and their numbers, one for each row */
    const double *class_weights; /* NULL: all 1 */
    const double *weights;       /* of rows with those of their classes; NULL: all 1 */
    int64_t few_values;
    /* the kernel */
    gram_kernel *asked;   /* that was given as it is, the learner's; NULL: by its text */
    gram_kernel *written; /* as it was given; NULL for a row without one */
    gram_kernel *kernel;  /* with all its numbers: the method sets it */
    gram_tuning tuning;   /* never auto */
    int numbers_found;    /* with tuning none: kernel and strength were chosen by a fit to some of the rows */
    /* How many more times it is tuned and fitted for the error on new rows, to which share of the rows, and at what part of the cost
     * of a first search. */
    double more_fits, more_share, more_cost;
    char transform_words[160]; /* of logarithms of features; "": they were not thought of */
    char kernel_reason[200];   /* why it is the kernel if none was asked for; "": nothing was compared */
    gram_search_trails trails; /* that searches for its numbers follow and leave */
    gram_paired second;        /* of methods of two views */
    /* a fit that goes on */
    const gram_model *before;
    const char *before_name;
    gram_model *initial; /* of the option `initial`: what the fit starts from, with its preparation; NULL: none */
    /* results */
    void *own; /* the method's, in the arena */
    gram_model *model;
    gram_plan_fn tell;
    void *tell_user;
} gram_learning;

/* ---- predictions ---- */

/* How a table says what its rows are (learn/row_kinds.h): as options say it, or the facts of a model. */
typedef struct gram_kinds {
    const char *column;      /* that says what a row is; NULL: all rows are values */
    const char *coefficient; /* of rows of sums; NULL: 1 each */
    const char *operators;   /* NAME = EXPRESSION; ... or NULL */
    const char *unknowns;    /* numbers in them: NAME=LOW:HIGH, or NAME=VALUE of a model; NULL: none */
} gram_kinds;

/* Prepared rows to predict at. */
typedef struct gram_places {
    const gram_points *points;
    int64_t n, d;
    const double *x;       /* n x d, what the points are of */
    const double *weights; /* n, NULL: none */
    /* of a predictor for both of two views: points are those of the first, these of the second, and x has the columns of both */
    const gram_points *second;
    int scored; /* 0: there are no targets, and what only scores need may be NaN */
} gram_places;

/* Which of two views a predictor is for. */
enum { GRAM_VIEW_FIRST = 0, GRAM_VIEW_SECOND = 1, GRAM_VIEW_BOTH = 2 };

struct gram_predictor {
    gram_memory *memory;
    gram_arena arena;        /* for what it is made of */
    const gram_model *model; /* borrowed */
    const gram_method *method;
    gram_predict_options wish;
    char wiser[64];                /* the names of methods whose models say more */
    int view;                      /* GRAM_VIEW_FIRST for models of one view */
    gram_preparation *preparation; /* of its rows; NULL: the model has none */
    gram_kinds kinds;              /* of rows that are functionals; without a column: values */
    gram_columns columns;
    gram_classes classes;
    void *own;      /* the method's */
    void *interval; /* from rows that were left out (learn/estimate/left_out_interval.h); NULL: none */
};

typedef struct gram_report gram_report;

/* Learning from rows that go by in blocks, from files that are larger than memory or from parts of the rows in several places. First
 * `begin` with a sample of the rows in learning->data, or `restore` from a model of sums; then `add` for each block, `restore` for further sums;
 * then `finish` and the row's `keep`, or `keep_sums`, which makes learning->model of the sums so far. */
typedef struct gram_streaming {
    int (*possible)(const gram_learning *learning); /* do the settings allow it? */
    gram_status (*begin)(gram_learning *learning);
    gram_status (*add)(gram_learning *learning, const gram_prepared *rows);
    gram_status (*join)(
        gram_learning
            *learning); /* after the rows: what ranks added each becomes the sum of all; NULL: none may part them */
    gram_status (*finish)(gram_learning *learning);
    gram_status (*keep_sums)(gram_learning *learning);
    /* `name` is what messages call the model. Those of other features or preparations than the first are refused. Without `with_sums`
     * only its features are taken. */
    gram_status (*restore)(gram_learning *learning, const gram_model *sums, const char *name, int with_sums);
} gram_streaming;

/* A fact of a model that is one of a few words, with blanks between: a model with another one is damaged, or newer. */
typedef struct gram_kept_words {
    const char *fact, *words;
} gram_kept_words;

/* What a comparison of methods tries (learn/compare): one of several kernels. A list ends with a row without tasks. */
typedef struct gram_comparable {
    unsigned tasks; /* bit 1 << gram_task */
    int cost; /* cheap ones are tried first: 2 linear, 4 one pass, 6 a search by gradients, 8 several or a grid, 10 more */
    const char *kernel;   /* NULL: none is given */
    int ard;              /* one length-scale per feature is tried too */
    const char *baseline; /* what people call it, if it is there to be beaten; NULL: it is not */
} gram_comparable;

/* ---- the row ---- */

/* What is NULL is not needed or has one obvious answer, which is said here. */
struct gram_method {
    const char *name;  /* of the option `method` and in model files */
    const char *kept;  /* the name in model files, if it is another */
    const char *title; /* "kernel ridge regression" */
    const char *
        formula; /* what it computes, in letters that every terminal has; lines are parted by newlines. NULL: not said */
    const char *variant;     /* of rows with one name: what this one is for, "the likelihood poisson" */
    unsigned tasks;          /* bit 1 << gram_task */
    unsigned first_for;      /* the tasks for which it is the method if none is named */
    int intervals;           /* its predictions have intervals about the mean */
    int process;             /* its models are posteriors of Gaussian processes: functions can be drawn from them */
    int reconstructs;        /* its models can make rows of what they say of them */
    int numbers_are_classes; /* a target of whole numbers is one of classes */
    const char *marker;      /* the fact that tells its models from those of other rows of this name */
    const gram_kept_words *words; /* of its models; the last has no fact. NULL: none */
    int quadrature;               /* weights of rows are those of a quadrature rule, used as they are */
    const char *refuses;          /* an option of every method that this one does not take, or NULL */
    const char *kernel;           /* if none is given; NULL: it takes none, and the kernel of its function is its own */
    /* Paired views have names, "x" and "y". The row has options of these names, lists of the columns of one table (from two tables
     * all columns, unless they choose), and kernel-x, kernel-y; learning->second is the second view. NULL: one view. */
    const char *views[2];
    const char *label; /* of paired views: the option that names a column of labels, which is a target; NULL: none */
    int needs_kinds;   /* rows without `kind` are refused: it learns from tables only */
    int functionals;   /* rows may be functionals: it takes `kind`, and learning->points that are no points */
    int constraints;   /* rows may be constraints: it looks at learning->senses */
    int unscaled;      /* features are taken as they are unless `scale` is asked for */
    int plain;         /* predictions are the function's values, whatever `evaluate` adds beside them */
    const gram_verb *verb;           /* of the command, if it has one of its own; NULL: `fit` */
    const gram_streaming *streaming; /* NULL: it needs all rows at once */
    const gram_method *sums_of;      /* of a row whose models are sums: the method that they are for */
    gram_tuning tuning;              /* unless all is given */
    const gram_comparable *compared; /* NULL: not among those that are compared by default */
    const char *python[GRAM_TASK_COUNT];
    const gram_option *options;
    size_t option_count, settings_size;

    /* Does this row take what is asked? Of rows with one name the first that does is the one. NULL: it does. */
    int (*takes)(const gram_learning *learning);
    /* The task that its options imply, GRAM_TASK_AUTO if none. */
    gram_task (*implied_task)(const gram_learning *learning);
    /* Settings that contradict each other, before the data are read. */
    gram_status (*check)(gram_learning *learning);
    /* Decides how it will be done, says so (gram_learning_plan), and refuses what does not fit, before the work. */
    gram_status (*plan)(gram_learning *learning);
    /* What tuning on n rows takes, in bytes and seconds; NULL: not known. */
    void (*tuning_cost)(const gram_learning *learning, double n, double *bytes, double *seconds);
    /* Chooses what is free and fits; sets learning->kernel. */
    gram_status (*fit)(gram_learning *learning);
    /* Makes learning->model with everything that predictions and reports need. */
    gram_status (*keep)(gram_learning *learning);
    /* Predictions of the first target for the rows that it was fitted on, and what they are. NULL: what the model
     * predicts for these rows. */
    gram_status (*fitted)(gram_learning *learning, double *f, const char **what);
    /* All columns of what the model says of these rows: coordinates, labels. NULL: what it predicts for them. */
    gram_status (*values)(gram_learning *learning, double *values, int64_t ldv);
    /* Frees what is not in the arena. */
    void (*forget)(gram_learning *learning);
    /* Sets the settings of a model whose fit goes on; NULL: it cannot. */
    gram_status (*resume)(gram_learning *learning);

    /* From a model: names the columns and makes what the model lacks; NULL: means, nothing more. */
    gram_status (*open)(gram_context *context, gram_predictor *predictor);
    /* NULL: the model's function. */
    gram_status (*evaluate)(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                            double *values, int64_t ldv);
    void (*close)(gram_predictor *predictor);
    /* Rows of the report; NULL: the kernel only. */
    void (*report)(gram_report *report);
    /* The ridge or the noise of a model in the words of scikit-learn; NULL: it has none. */
    void (*elsewhere)(const gram_model *model, char *text, size_t size);
};

/* Does the row have that task? */
int gram_method_has_task(const gram_method *method, gram_task task);

/* ---- for rows: options (method_options.c) ---- */

/* The option of that name, NULL if the row has none. */
const gram_option *gram_method_find_option(const gram_method *method, const char *name);
/* Is the text a value of the option? Then it is put into its field of the settings, unless these are NULL. */
int gram_option_read(const gram_option *option, const char *text, void *settings);
/* What a value must be, as a sentence. */
void gram_option_explain(const gram_option *option, char *text, size_t size);
void gram_method_set_defaults(const gram_method *method, void *settings);

/* The text that was given for an option, NULL if none was. */
const char *gram_given_text(const gram_learning *learning, const char *name);

/* Choices that many rows have. */
extern const gram_choice gram_precision_choices[], gram_mean_choices[], gram_frequencies_choices[];

/* The options of gram_tuned_settings and gram_ridge_settings as rows of a table, for a struct whose members are so named. */
#define GRAM_OPTION_PLACE(settings, field) offsetof(settings, field)
#define GRAM_TUNE_OPTION(settings, words, table)                                                                       \
    {                                                                                                                  \
        .name = "tune", .kind = GRAM_OPTION_CHOICE, .offset = offsetof(settings, tuned.tune), .argument = "HOW",       \
        .help = words, .choices = table                                                                                \
    }
#define GRAM_ARD_OPTION(settings)                                                                                      \
    {                                                                                                                  \
        .name = "ard", .kind = GRAM_OPTION_SWITCH, .offset = offsetof(settings, tuned.ard),                            \
        .help = "try one length-scale per feature for --kernel too", .help_no = "one length-scale for all features"    \
    }
#define GRAM_LAMBDA_OPTION(settings)                                                                                   \
    {                                                                                                                  \
        .name = "lambda", .kind = GRAM_OPTION_NUMBER, .offset = offsetof(settings, ridge.lambda), .argument = "L",     \
        .help = "the ridge of (1/n) sum |y - f|^2 + L |f|^2; 0: interpolate",                                          \
        .flags = GRAM_OPTION_STRENGTH | GRAM_OPTION_OVER_ROWS, .group = "ridge"                                        \
    }
#define GRAM_NOISE_OPTION(settings)                                                                                    \
    {                                                                                                                  \
        .name = "noise", .kind = GRAM_OPTION_NUMBER, .offset = offsetof(settings, ridge.noise), .argument = "S",       \
        .help = "the same as a variance of noise: S = n L", .flags = GRAM_OPTION_STRENGTH | GRAM_OPTION_PER_ROW,       \
        .group = "ridge"                                                                                               \
    }
#define GRAM_ALPHA_OPTION(settings)                                                                                    \
    {                                                                                                                  \
        .name = "alpha", .kind = GRAM_OPTION_NUMBER, .offset = offsetof(settings, ridge.alpha), .argument = "A",       \
        .help = "the same in scikit-learn's words: A = n L", .flags = GRAM_OPTION_STRENGTH, .group = "ridge",          \
        .elsewhere = "scikit-learn KernelRidge: alpha"                                                                 \
    }
#define GRAM_FREQUENCIES_OPTION(settings)                                                                              \
    {                                                                                                                  \
        .name = "frequencies", .kind = GRAM_OPTION_CHOICE, .offset = offsetof(settings, frequencies),                  \
        .argument = "HOW", .help = "of fourier: plain (default), orthogonal, or qmc (quasi-Monte-Carlo)",              \
        .otherwise = "plain", .choices = gram_frequencies_choices                                                      \
    }
#define GRAM_INTERCEPT_OPTION(settings)                                                                                \
    {                                                                                                                  \
        .name = "intercept", .kind = GRAM_OPTION_SWITCH, .offset = offsetof(settings, intercept),                      \
        .help_no = "no unpenalised constant", .otherwise = "yes"                                                       \
    }
/* The three options of a gram_unpenalised_settings that is called `free`. */
#define GRAM_UNPENALISED_OPTIONS(settings)                                                                             \
    {.name = "intercept",                                                                                              \
     .kind = GRAM_OPTION_SWITCH,                                                                                       \
     .offset = offsetof(settings, free.intercept),                                                                     \
     .help_no = "no unpenalised constant",                                                                             \
     .otherwise = "yes"},                                                                                              \
        {.name = "mean",                                                                                               \
         .kind = GRAM_OPTION_CHOICE,                                                                                   \
         .offset = offsetof(settings, free.mean),                                                                      \
         .argument = "M",                                                                                              \
         .help = "unpenalised: zero, constant (default) or linear (all features too)",                                 \
         .otherwise = "constant",                                                                                      \
         .choices = gram_mean_choices},                                                                                \
    {                                                                                                                  \
        .name = "unpenalised", .kind = GRAM_OPTION_TEXT, .offset = offsetof(settings, free.list), .argument = "LIST",  \
        .help = "features that enter linearly besides f, without a penalty"                                            \
    }
#define GRAM_NORM_OPTION(settings)                                                                                     \
    {                                                                                                                  \
        .name = "norm", .kind = GRAM_OPTION_NUMBER, .offset = offsetof(settings, norm), .argument = "B",               \
        .help = "the ball |f| <= B in the place of the penalty", .above = 1, .flags = GRAM_OPTION_STRENGTH             \
    }
#define GRAM_TOLERANCE_OPTION(settings)                                                                                \
    {                                                                                                                  \
        .name = "tolerance", .kind = GRAM_OPTION_NUMBER, .offset = offsetof(settings, tolerance), .argument = "T",     \
        .help = "of the solution (default: by the method)", .above = 1, .flags = GRAM_OPTION_RESUMES                   \
    }

/* ---- for rows: one fit (learning.c) ---- */

/* A failure with a line that says what to do. The message gets "WHO: " in front; options are written --name in both texts and
 * come out with the dashes that the learner speaks with. */
gram_status gram_learning_fail(gram_learning *learning, gram_status status, const char *advice, const char *format, ...)
    GRAM_PRINTF(4, 5);
/* The same for a failure in the data, which names them instead. */
gram_status gram_learning_fail_data(gram_learning *learning, const char *advice, const char *format, ...)
    GRAM_PRINTF(3, 4);

/* count * size bytes, zeroed, that live as long as the fit. */
gram_status gram_learning_take(gram_learning *learning, int64_t count, size_t size, void *out);

/* Says what is about to be done. `bytes` is an estimate from above; of a budget no more than what is left is told. */
void gram_learning_plan(gram_learning *learning, const char *words, size_t bytes, double seconds, const char *reason);

/* The noise n lambda that the ridge says, NaN if there is none. */
double gram_learning_noise(const gram_learning *learning, const gram_ridge_settings *ridge);
/* Fails for a ridge of 0, for methods that have no limit there. */
gram_status gram_learning_check_ridge(gram_learning *learning, const gram_ridge_settings *ridge);
/* Fails if both a ridge and the norm of a ball are given. */
gram_status gram_learning_check_norm(gram_learning *learning, const gram_ridge_settings *ridge, double norm);
/* Were kernel or strength chosen by the targets, here or by a fit to some of the rows? */
int gram_learning_was_tuned(const gram_learning *learning);
/* One length-scale per feature: by the settings, otherwise for the default kernel only. */
int gram_learning_ard(const gram_learning *learning);
/* Was no kernel asked for, so that the method may compare families? Not for a part of rows that was compared as a whole. */
int gram_learning_chooses_kernel(const gram_learning *learning);
/* The family takes the place of the kernel as it was written. */
gram_status gram_learning_set_written(gram_learning *learning, const char *text);
/* Folds of cross-validation: as given, or 5, fewer for very few rows; below 2 there is nothing to tune by. */
int64_t gram_learning_folds(const gram_learning *learning);
/* Rows to tune on, so that `matrices` of them squared take at most half of the budget. */
int64_t gram_learning_tuning_rows(const gram_learning *learning, int64_t matrices);
/* The kernel without tuning, of both views if there are two: its free numbers by the median heuristic. */
gram_status gram_learning_resolve(gram_learning *learning);
/* Does one target fit the method? Names the number that is there otherwise. `who`: "a Gaussian process". */
gram_status gram_learning_one_target(gram_learning *learning, const char *who, const char *advice);
/* Is there room for this many bytes? */
gram_status gram_learning_room(gram_learning *learning, double bytes, const char *advice, const char *what);
/* Is a solution that missed the default tolerance as near as rounding lets it? One that the user asked for is kept to. */
int gram_learning_is_near(double tolerance, double missed);
/* How many amplitudes (`const`) the kernel has; in the new one those that are unset have that variance. */
gram_status gram_learning_set_amplitudes(gram_context *context, const gram_kernel *kernel, double variance,
                                         int64_t *count, gram_kernel **out);
/* Reads "0.1,0.5,0.9" into at most so many levels; returns how many, 0 if it is not such a list: between 0 and 1, increasing. */
int64_t gram_learning_levels(const char *text, int64_t most, double *levels);
/* The delta of Huber's loss by the spread of the target. (loss_settings.c) */
gram_status gram_learning_huber(gram_learning *learning, double *delta);
/* The name of the first target, for messages. */
const char *gram_learning_target(const gram_learning *learning);
/* The place of a prepared row in the table, counted from 1. */
int64_t gram_learning_row(const gram_learning *learning, int64_t row);

/* ---- for rows: keeping (keeper.c) ---- */

/* Facts and arrays of a model, set in a row: after the first failure nothing more is set, and `status` says what it was. */
typedef struct gram_keeper {
    gram_context *context;
    gram_model *model;
    gram_status status;
} gram_keeper;

void gram_keep_number(gram_keeper *keeper, const char *name, double value);
void gram_keep_integer(gram_keeper *keeper, const char *name, int64_t value);
void gram_keep_text(gram_keeper *keeper, const char *name, const char *value);
void gram_keep_array(gram_keeper *keeper, const char *name, int64_t rows, int64_t columns, const double *data);

/* Numbers of a report, by their places in it. */
typedef struct gram_keep_place {
    const char *name;
    size_t offset;
} gram_keep_place;
void gram_keep_numbers(gram_keeper *keeper, const void *report, const gram_keep_place *places, size_t count);

/* Makes learning->model with the function, and a keeper for it; "n", "d" and "rows" are kept. */
gram_keeper gram_keep_begin(gram_learning *learning, gram_function *function);
/* The second view's preparation and function. */
void gram_keep_second(gram_keeper *keeper, const gram_learning *learning, gram_function *function);
/* The same for a fit that no learner made: a model of its own, which gram_keep_end hands out or, after a failure, destroys. */
gram_keeper gram_keep_fit(gram_context *context, const gram_method *method, gram_task task,
                          gram_preparation *preparation, gram_function *function, int64_t n);
gram_status gram_keep_end(gram_keeper *keeper, gram_model **model);
/* "tune" and, without tuning, what was neither given nor chosen ("defaults"). */
void gram_keep_tuning(gram_keeper *keeper, const gram_learning *learning, const char *default_strength);
/* "train_accuracy" and, if there are probabilities, "train_log_loss", from the labels and probabilities (n x classes, or
 * NULL) of the rows; and what predictions need to name the classes. */
void gram_keep_training(gram_keeper *keeper, const gram_learning *learning, const double *labels,
                        const double *probabilities);
void gram_keep_classes(gram_keeper *keeper, const gram_classes *classes);
/* The same for classes 0, 1, ... of such a fit: what they stand for, NULL: themselves. */
void gram_keep_class_values(gram_keeper *keeper, int64_t count, const double *values);

/* What a fit that can go on keeps to know its data again; and are they those? (fingerprints.c) */
void gram_keep_fingerprints(gram_keeper *keeper, const gram_learning *learning);
gram_status gram_check_fingerprints(gram_learning *learning);

/* A fact of a model as a number, `otherwise` if there is none; and as a text, or NULL. An array of that shape, or NULL. */
double gram_kept_number(const gram_model *model, const char *name, double otherwise);
const char *gram_kept_text(const gram_model *model, const char *name);
const double *gram_kept_array(const gram_model *model, const char *name, int64_t rows, int64_t columns);

/* ---- for rows: feature maps (feature_models.c) ---- */

struct gram_features;
/* A function that is 0, with one centre: a model keeps its kernel in one. The caller releases it. */
gram_status gram_features_holder(gram_context *context, gram_kernel *kernel, int64_t d, const double *row,
                                 gram_function **function);
/* What gram_features_of_model makes the map of: facts and arrays. */
void gram_keep_features(gram_keeper *keeper, const struct gram_features *map);

/* f(x) = z(x) c + b, m outputs. */
typedef struct gram_feature_function {
    struct gram_features *map; /* its own: gram_features_destroy */
    int64_t p, m;
    const double *coefficients, *constants; /* p x m, and m: the model's, or the fit's */
} gram_feature_function;

/* That of a model: the map, and the arrays "feature_coefficients" and "feature_constants". */
gram_status gram_feature_function_open(gram_context *context, gram_predictor *predictor, gram_feature_function *f);
/* f64 points. A row's values do not depend on the others. */
gram_status gram_feature_function_values(gram_context *context, const gram_feature_function *f, const gram_points *x,
                                         double *out, int64_t ldo);

/* ---- for rows: features by name (feature_lists.c) ---- */

/* The prepared columns of a list of features, all of a text feature's levels; `all`: every one. In the arena. */
gram_status gram_learning_features(gram_learning *learning, const char *option, const char *list, int64_t *count,
                                   int64_t **columns);

/* What the settings say that no penalty acts on. */
typedef struct gram_unpenalised {
    int intercept;
    int64_t count, *columns;
} gram_unpenalised;

/* Settings that contradict each other. */
gram_status gram_unpenalised_check_settings(gram_learning *learning, const gram_unpenalised_settings *settings);
gram_status gram_unpenalised_read(gram_learning *learning, const gram_unpenalised_settings *settings,
                                  gram_unpenalised *out);
/* The text "unpenalised", if there are such features. */
void gram_unpenalised_keep(gram_keeper *keeper, const gram_learning *learning, const gram_unpenalised *own);

/* ---- for rows: bounds on the risk (risk_bounds.c) ---- */

/* A fitted function, as the bounds see it. */
typedef struct gram_risk {
    double norm, radius, trace; /* |f|, sqrt of the largest k(x, x), tr K */
    double lambda;              /* of (1/n) sum loss + lambda |f|^2, NaN: there is none, or it was chosen by the data */
    double zero_loss;           /* of classes: the loss of f = 0 */
    int intercept;
    double constant;
} gram_risk;

/* Finds radius and trace. */
gram_status gram_risk_measure(gram_learning *learning, gram_risk *risk);
/* "rademacher", the complexity of the ball that the function is in. Do bounds hold for this sample? Then more can be said. The
 * facts of the kernel go to `facts` unless it is NULL. */
int gram_keep_complexity(gram_keeper *keeper, gram_learning *learning, const gram_risk *risk, gram_properties *facts);
/* That, and what is known of the squared error on new data: "risk_bound" with "risk_delta", "risk_ball", "risk_radius" and
 * "risk_radius_sure", "stability_bound" with "stability_ball", where they say something. */
void gram_keep_squared_risk(gram_keeper *keeper, gram_learning *learning, const gram_risk *risk, double mean_square);
/* Of two classes: also "ramp_loss"; the bound is on the share of errors. f: n values, above 0 for the second class. */
void gram_keep_class_risk(gram_keeper *keeper, gram_learning *learning, const gram_risk *risk, const double *f);
/* Rows for these. What is expected to be small, and than the least of what it is not much more: "share of errors" and "hinge
 * loss" by stability. */
void gram_report_risk(gram_report *report, const char *what, const char *least);

/* ---- for rows: the classes of a target (target_classes.c) ---- */

/* The classes of a target of text, or of these numbers; and of a model. In the arena. */
gram_status gram_classes_of_target(gram_context *context, gram_arena *arena, const gram_column *target, int64_t n,
                                   const double *y, gram_classes *classes);
gram_status gram_classes_of_model(gram_context *context, gram_arena *arena, const gram_model *model, const char *name,
                                  gram_classes *classes);

/* ---- for rows: predictions (predictor_columns.c) ---- */

gram_status gram_predictor_fail(gram_context *context, const gram_predictor *predictor, gram_status status,
                                const char *advice, const char *format, ...) GRAM_PRINTF(5, 6);
/* A model whose parts do not belong together: "NAME: what". */
gram_status gram_predictor_damaged(gram_context *context, const gram_predictor *predictor, const char *what);
/* One more column. */
gram_status gram_predictor_column(gram_context *context, gram_predictor *predictor, const char *name, const char *more);
/* One column for each output: "mean" or "mean_NAME". */
gram_status gram_predictor_means(gram_context *context, gram_predictor *predictor);

/* Of a model that predicts its function and nothing more: its means and, if they are asked for, the terms of a sum kernel, whose
 * columns the second fills in (function_terms.c). */
gram_status gram_predictor_function(gram_context *context, gram_predictor *predictor);
gram_status gram_predictor_function_terms(gram_context *context, const gram_predictor *predictor,
                                          const gram_places *places, double *values, int64_t ldv);
/* "term_norms" of a sum kernel's terms, of one output and not too many centres. */
void gram_keep_term_norms(gram_keeper *keeper, const gram_function *function);
/* Columns "NAME1", "NAME2", ...: coordinates. What is asked for beyond them is refused. */
gram_status gram_predictor_coordinates(gram_context *context, gram_predictor *predictor, const char *name,
                                       int64_t count);
/* The same of one or both views, by the outputs of their functions: "x1", "x2", ..., "y1", ... */
gram_status gram_predictor_views(gram_context *context, gram_predictor *predictor);
/* label, then the probabilities (shown if asked for), then the score. */
gram_status gram_predictor_classes(gram_context *context, gram_predictor *predictor);
/* Refuses what is asked for beyond the mean; `prob` 0: all but probabilities. Without `whom` it is a model of this method, and
 * the advice names methods that know more. */
gram_status gram_predictor_refuse(gram_context *context, const gram_predictor *predictor, int prob, const char *advice,
                                  const char *whom);
/* gram_predictor_evaluate for rows whose targets are known, or not (predictor.c). */
/* The same for points as they are, functionals too. */
/* At rows of numbers, or with columns that hold places in the stores `objects`, of which there are d (NULL: none). */
gram_status gram_predictor_evaluate_stored(gram_context *context, const gram_predictor *predictor,
                                           struct gram_objects *const *objects, int64_t n, const double *x,
                                           const double *weights, int scored, double *values, int64_t ldv);
gram_status gram_predictor_evaluate_points(gram_context *context, const gram_predictor *predictor,
                                           const gram_points *points, const double *weights, int scored, double *values,
                                           int64_t ldv);
gram_status gram_predictor_evaluate_rows(gram_context *context, const gram_predictor *predictor, int64_t n,
                                         const double *x, const double *weights, int scored, double *values,
                                         int64_t ldv);
/* One column for each level, "quantile_0.1"; the levels belong to the model. */
gram_status gram_predictor_levels(gram_context *context, gram_predictor *predictor, int64_t count,
                                  const double *levels);
/* std, lower and upper, as far as they are asked for; and a row of them for a normal prediction: the variances of f and of the noise. */
gram_status gram_predictor_intervals(gram_context *context, gram_predictor *predictor);
void gram_predictor_put_normal(const gram_predictor *predictor, double mean, double variance, double noise,
                               double *row);
/* The column `spread`: that of `std` if it is of new observations, else one more that is not shown; after all others. */
void gram_predictor_spread(gram_predictor *predictor);
/* Puts labels, probabilities and the score of n rows into place. */
void gram_predictor_put_probabilities(const gram_predictor *predictor, int64_t n, const double *p, double *values,
                                      int64_t ldv);

/* ---- for rows: reports (method_report.c) ---- */

/* Digits of what is of interest by its size only, of results, and of counts. */
enum { GRAM_ROUGH = 2, GRAM_FINE = 5, GRAM_WHOLE = 15 };

const gram_model *gram_report_model(const gram_report *report);
/* Where the model is kept, NULL: it is not. */
const char *gram_report_file(const gram_report *report);
double gram_report_number(const gram_report *report, const char *fact);    /* NaN: there is none */
const char *gram_report_text(const gram_report *report, const char *fact); /* NULL: there is none */
/* A new row, whose value is added piece by piece; one whose value stays empty is dropped. */
void gram_report_row(gram_report *report, const char *label);
void gram_report_add(gram_report *report, const char *format, ...) GRAM_PRINTF(2, 3);
/* A row of any length. */
void gram_report_long(gram_report *report, const char *label, const char *value);
void gram_report_value(gram_report *report, int digits, double value);
/* Adds ", WORDS VALUE" (without the comma at the start of a row) for a fact that is there. */
void gram_report_part(gram_report *report, const char *words, const char *fact, int digits);

/* An array of the model as a row of its first numbers, and as a list of JSON under the array's name. */
void gram_report_list(gram_report *report, const char *label, const char *array, int digits);

/* Rows that many methods have, nothing where their facts are not there. */
void gram_report_ridge(gram_report *report);
void gram_report_tuning(gram_report *report);
void gram_report_solver(gram_report *report);
void gram_report_solution(gram_report *report);
void gram_report_accuracy(gram_report *report);
void gram_report_errors(gram_report *report, int leave_one_out);
void gram_report_function(gram_report *report);

#endif
