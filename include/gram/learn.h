/* The learner: from a table or from arrays to a model, from a model to predictions.
 *
 * This is what the command calls, what other languages call, and what a C program calls that wants gram's choices: which
 * method, which kernel, which numbers. Three calls learn, predict and save:
 *
 *     gram_learner_set(context, learner, "method", "gp");
 *     gram_learn_file(context, learner, "data.csv", GRAM_FORMAT_AUTO, &model);
 *     gram_predict(context, model, NULL, n, x, d, values, 1);
 *     gram_model_write(context, model, "model.gram");
 *
 * A method is one folder of src/method and one row of a table; the functions at the end of this header tell what there is.
 * Programs that make their own choices call a method's typed interface (<gram/krr.h>, <gram/svm.h>, ...) instead; their
 * fits become models of the same kind with gram_krr_model and the like.
 *
 * Common failures: GRAM_ERROR_ARGUMENT (an option; the message names it), GRAM_ERROR_DATA (file, line and column),
 * GRAM_ERROR_NUMERICAL (also a fit that does not converge), GRAM_ERROR_BUDGET, GRAM_ERROR_MEMORY, GRAM_ERROR_CANCELLED.
 * gram_context_advice says what to do about the last failure. */
#ifndef GRAM_LEARN_H
#define GRAM_LEARN_H

#include <gram/model.h>
#include <gram/output.h>

GRAM_BEGIN

typedef enum gram_task {
    GRAM_TASK_AUTO = 0, /* by the target */
    GRAM_TASK_REGRESSION = 1,
    GRAM_TASK_CLASSIFICATION = 2,
    GRAM_TASK_ONE_CLASS = 3, /* no target: a region that holds most rows */
    GRAM_TASK_TRANSFORM = 4, /* no target: coordinates */
    GRAM_TASK_CLUSTER = 5    /* no target: labels */
} gram_task;

enum { GRAM_TASK_COUNT = 6 };

/* "auto", "regression", "classification", "one-class", ... Static. */
GRAM_API const char *gram_task_name(gram_task task);

/* ---- learning ---- */

typedef struct gram_learner gram_learner;

/* The caller destroys it (takes NULL). */
GRAM_API gram_status gram_learner_create(gram_context *context, gram_learner **learner);
GRAM_API void gram_learner_destroy(gram_learner *learner);

/* Sets an option by its name and a text, both copied; NULL takes it back. Options of every method: method, task, kernel, target,
 * features, ignore, weights, missing (error, drop, mean), scale (yes, no), groups (a column: folds keep its groups together), ordered
 * (yes, no: rows are in order of time, and folds go forward in it). Others are those of the methods, listed by
 * gram_method_option; which of them the chosen method takes is checked when it learns. A name or a text that no method takes
 * is GRAM_ERROR_ARGUMENT and names a near one. */
GRAM_API gram_status gram_learner_set(gram_context *context, gram_learner *learner, const char *option,
                                      const char *value);

/* A kernel as it is, in the place of the option `kernel`: for those that have no text, such as gram_kernel_callback. One more owner
 * of it; NULL takes it back. Of paired views it is that of both. */
GRAM_API gram_status gram_learner_set_kernel(gram_context *context, gram_learner *learner, gram_kernel *kernel);

/* How messages speak: who (default "learn"), and what stands before an option's name (default ""; "--" for a command). */
GRAM_API gram_status gram_learner_speak(gram_context *context, gram_learner *learner, const char *who,
                                        const char *dashes);

/* What is about to be done, announced before the work. */
typedef struct gram_learn_plan {
    const char *words; /* solver and precision: "exact, f64" */
    const char *reason;
    int64_t n, d;   /* rows of weight above 0, prepared columns */
    size_t bytes;   /* at most, about */
    double seconds; /* a rough estimate of all of it */
    int tunes;
    double tuning_seconds; /* of these: for what is tuned, and for the error on new rows */
} gram_learn_plan;

typedef void (*gram_plan_fn)(void *user, const gram_learn_plan *plan);
GRAM_API void gram_learner_on_plan(gram_learner *learner, gram_plan_fn tell, void *user);

/* The model is for a file (1) or not (0, the default): columns whose names and levels no model file can hold are then
 * GRAM_ERROR_UNSUPPORTED before the fit, in the words of gram_model_write. */
GRAM_API void gram_learner_to_file(gram_learner *learner, int to_file);

/* Asks the method what a fit of n rows, d prepared columns and `outputs` targets (of classification: classes) would take, before
 * there are data: `tell` is called once; two views share the columns. Without a task it is one of numbers, if the method has that. GRAM_ERROR_BUDGET, with what
 * would fit, if it does not. O(n outputs). */
GRAM_API gram_status gram_learner_plan(gram_context *context, gram_learner *learner, int64_t n, int64_t d,
                                       int64_t outputs, gram_plan_fn tell, void *user);

/* Goes on with a fit that its budget stopped, on the same data: the model (borrowed while it learns; NULL: none) decides all
 * but the options that say how far and how long. Of methods that can; GRAM_ERROR_ARGUMENT for others. */
GRAM_API gram_status gram_learner_resume(gram_context *context, gram_learner *learner, const gram_model *before,
                                         const char *name);

/* Are the options such that the learner could begin? What can be said before there are data. */
GRAM_API gram_status gram_learner_check(gram_context *context, gram_learner *learner);

/* Learn. The caller destroys the model. A file is read, prepared and given back before the fit takes its memory; a table that
 * the caller holds is best read with GRAM_TEXT_CATEGORIES and keep_missing. */
GRAM_API gram_status gram_learn_file(gram_context *context, gram_learner *learner, const char *path, gram_format format,
                                     gram_model **model);
GRAM_API gram_status gram_learn_table(gram_context *context, gram_learner *learner, const gram_table *table,
                                      const char *name, gram_model **model);

/* A file whose table does not fit in the context's budget is read in passes where the method can (krr: landmarks), in memory that does not
 * grow with it; the option `stream` asks for that, or forbids it. Data of the lesson are then a sample of the rows. GRAM_ERROR_DATA if the
 * file changes between passes.
 *
 * A part of the rows: what its rows add up to, as a model to be written, read and merged. Without `like` preparation, kernel and features are
 * learnt from this file, which is read twice; with `plan` that is all, and the sums are empty. With `like`, the sums of another part or a plan, those are taken, and
 * it is read once. */
GRAM_API gram_status gram_accumulate_file(gram_context *context, gram_learner *learner, const char *path,
                                          gram_format format, const gram_model *like, int plan, gram_model **sums);
/* The model of all parts, the same to rounding for any partition of the rows; with `partial` only their sums. The sums must
 * have one preparation and one feature map: GRAM_ERROR_ARGUMENT. Options of the learner are those of the strength (lambda, ...). `names` are
 * for messages, or NULL. */
GRAM_API gram_status gram_merge_sums(gram_context *context, gram_learner *learner, int64_t count,
                                     const gram_model *const *sums, const char *const *names, int partial,
                                     gram_model **model);

/* The same for methods of paired views, from two files or tables: row i of the first belongs to row i of the second. From one
 * table such methods take the columns that two options list, which are called as the views are. */
GRAM_API gram_status gram_learn_file_pair(gram_context *context, gram_learner *learner, const char *first,
                                          const char *second, gram_format format, gram_model **model);
GRAM_API gram_status gram_learn_table_pair(gram_context *context, gram_learner *learner, const gram_table *first,
                                           const char *first_name, const gram_table *second, const char *second_name,
                                           gram_model **model);

/* Arrays, borrowed for the call: n rows of d features and of `targets` numbers (0 for methods without a target), row-major,
 * rows ldx and ldy apart, and weights or NULL. Columns are called x1, x2, ... and y, or y1, y2, ...: the names by which the
 * command finds them again. Classes are the different values of y. */
typedef struct gram_arrays {
    size_t size;
    int64_t n, d, targets;
    const double *x, *y;
    int64_t ldx, ldy;
    const double *weights;
    const double *second; /* n rows of a second view, NULL: none; columns are called after the views then */
    int64_t second_d, second_ld;
    /* What the columns are, as a data frame knows it: of each its name (NULL: as above) and, if it is `text`, its levels; x or y
     * then holds the place of the level, from 0, or NaN where there is none. Other members are not looked at. NULL: numbers. */
    const gram_column *features; /* d of them */
    const gram_column *target;   /* of the only target */
    const gram_column *second_features;
    /* Further columns that options name (row-noise, groups, ...), n x extras numbers without gaps, and their names. */
    int64_t extras;
    const double *extra;
    const char *const *extra_names;
    const gram_column *extra_columns; /* which of them are text, and their levels, as above; NULL: all are numbers */
    /* Sparse rows in place of x, which is NULL then: row i has sparse_value[k] in columns sparse_index[k] (from 0, ascending, below d), sparse_start[i] <= k < sparse_start[i + 1]
     * (scipy's CSR); features are not looked at. They are copied, and stay sparse: one column, x, as of LIBSVM's text. */
    const int64_t *sparse_start;
    const int32_t *sparse_index;
    const double *sparse_value;
    /* Is x lent for longer, unchanged until the learner learns again or is destroyed? Then it is not copied where the fit takes it as it
     * is: numbers without gaps that are not scaled; and only once, scaled, where they are. */
    int lend;
} gram_arrays;

GRAM_API void gram_arrays_init(gram_arrays *arrays, size_t size);
GRAM_API gram_status gram_learn_arrays(gram_context *context, gram_learner *learner, const gram_arrays *arrays,
                                       gram_model **model);
/* Arrays (the second view apart) as a table, for a model's preparation to be applied to: a copy. The caller destroys it. */
GRAM_API gram_status gram_arrays_table(gram_context *context, const gram_arrays *arrays, gram_table **table);

/* The classes of a target: their names, and the numbers 0, 1, ... that learners know them by. */
typedef struct gram_classes {
    int64_t count;            /* 0: none */
    const char *const *names; /* as the table has them */
    const double *values;     /* of a column of numbers, ascending; NULL for text */
} gram_classes;

/* The number of the class that a prepared target is; -1 if there is no such class. */
GRAM_API int64_t gram_classes_find(const gram_classes *classes, double target);

/* What the last call found in the data; belongs to the learner, until it learns again or is destroyed. NULL before. */
typedef struct gram_lesson {
    gram_task task;
    int task_was_given;
    int64_t n;          /* rows of weight above 0 */
    int64_t few_values; /* distinct values if the target could be classes and is not taken for them, else 0 */
    const gram_prepared *data;
    const gram_preparation *preparation;
    const gram_classes *classes; /* of classification */
    const double *labels;        /* their numbers, one for each row; NULL otherwise */
    const gram_prepared *second; /* of the second of two views; NULL: there is one */
    const gram_preparation *second_preparation;
} gram_lesson;

GRAM_API const gram_lesson *gram_learner_lesson(const gram_learner *learner);

/* Predictions of the first target for the rows that were learnt from, n numbers, and what they are: "leave-one-out prediction"
 * or "fitted value". `model` is what the last call made of them. */
GRAM_API gram_status gram_learner_fitted(gram_context *context, gram_learner *learner, const gram_model *model,
                                         double *f, const char **what);

/* What the model says of the rows that were learnt from, all columns that it predicts (values[i * ldv + j], ldv at least their
 * count): coordinates of a transformation, labels of clusters. */
GRAM_API gram_status gram_learner_values(gram_context *context, gram_learner *learner, const gram_model *model,
                                         double *values, int64_t ldv);

/* ---- predicting ---- */

/* What is asked for beyond the mean or the label; what a model cannot say is GRAM_ERROR_ARGUMENT. */
typedef struct gram_predict_options {
    size_t size;
    int std;            /* standard deviations */
    double interval;    /* probability of an interval about the mean; 0: none */
    int latent;         /* both of f, not of a new observation */
    int terms;          /* the terms of a sum kernel, each alone */
    int prob;           /* probabilities of classes */
    const char *dashes; /* how messages write an option: NULL: "", "--" for a command */
    const char *who;    /* and who speaks; NULL: "predict" */
    const char *name;   /* of the model; NULL: "the model" */
    const char *view;   /* of models of two views: which of them the rows are of; NULL: rows have the columns of both */
    /* what scores need beyond what is asked for (gram_columns.spread), where it costs little: for models with at most 2,000 centres,
     * or of a filter on the line */
    int scores;
    int reconstruct;  /* of methods that reconstruct: rows made of their coordinates, in the features' own units */
    const char *kind; /* the column that says what rows are; NULL: that of the fit. Without such a column: values */
    const char *keep; /* names of columns that a stream reads too, as text, with commas between; NULL: none */
    /* the file with the kernel of new rows with those of the fit, for a stream of a model of a given matrix: m x n numbers; as many columns as the model needs rows; or
     * m x (n + m), the new ones among themselves, too, for deviations. NULL: LIBSVM's precomputed format has it */
    const char *gram;
} gram_predict_options;

GRAM_API void gram_predict_options_init(gram_predict_options *options, size_t size);

typedef struct gram_predictor gram_predictor;

/* How values are written, by the end of the file's name. */
typedef enum gram_value_format { GRAM_VALUES_TEXT, GRAM_VALUES_NPY, GRAM_VALUES_NPZ } gram_value_format;
GRAM_API gram_value_format gram_value_format_of(const char *path);

/* What the model says of the rows that were learnt from (gram_learner_values) as a file: an array of NumPy (.npy), where rows of the table without values are NaN, or sparse rows (.npz) that scipy.sparse.load_npz
 * reads, where they are empty. `reconstruct`: rows made of coordinates. */
GRAM_API gram_status gram_learner_write_values(gram_context *context, gram_learner *learner, const gram_model *model,
                                               int reconstruct, const char *path);

/* Prepares a model, which is borrowed, for predictions; options may be NULL. What the model lacks, such as a factor, is made
 * here, once. The caller destroys it (takes NULL). */
GRAM_API gram_status gram_predictor_create(gram_context *context, const gram_model *model,
                                           const gram_predict_options *options, gram_predictor **predictor);
GRAM_API void gram_predictor_destroy(gram_predictor *predictor);

/* What the predictor says of prepared rows, whatever their columns hold: values[i * ldv + j]. Weights are one for each row, or NULL. */
GRAM_API gram_status gram_predictor_evaluate_prepared(gram_context *context, const gram_predictor *predictor,
                                                      const gram_prepared *prepared, const double *weights,
                                                      double *values, int64_t ldv);

/* Rows of the training data, of a model of a given matrix (gram_table_options.gram); 0: it is none. */
GRAM_API int64_t gram_model_given_rows(const gram_model *model);

/* What rows are prepared by for it: the model's preparation, or that of the view or views that were asked for. NULL: the model
 * has none, or two views with columns of one name. It belongs to the predictor. */
GRAM_API gram_preparation *gram_predictor_preparation(const gram_predictor *predictor);

/* The columns of its values. A place of -1: there is no such column. */
typedef struct gram_columns {
    int64_t count;               /* columns that were asked for */
    int64_t ld;                  /* and further ones after them */
    const char *const *names;    /* of the first `count` */
    int64_t outputs;             /* regression: the first ones are means */
    const gram_classes *classes; /* classification: the first column is the number of the class; count 0 for others */
    int64_t probability;         /* the first of as many columns, NaN if the model has none */
    int64_t score;               /* of two classes: grows with the second */
    int64_t std, lower, upper;
    double
        half_width; /* of the interval in standard deviations (of Student's t: in scales); of 95 % if none is asked for */
    double freedom;      /* predictions are Student's t with so many degrees of freedom; 0: normal */
    int64_t term;        /* each term of the kernel, of gp its mean and its deviation, from here on */
    int64_t level_count; /* quantiles: the first columns, of these levels */
    const double *levels;
    /* what scores are from: the scale of a new observation, also where std is that of f; its standard deviation, or with `freedom`
     * that of Student's t */
    int64_t spread;
    const gram_column
        *features; /* of rows that were reconstructed: what column j is, of text the number of a level; else NULL */
} gram_columns;

GRAM_API const gram_columns *gram_predictor_columns(const gram_predictor *predictor);

/* values[i * ldv + j]: column j at row i of x, n x d prepared features without gaps; ldv >= columns->ld. `weights` of the rows, NULL:
 * none, for models that were fitted with them. Rows may come in pieces: the result is the same, but for the last digits of
 * deviations. */
GRAM_API gram_status gram_predictor_evaluate(gram_context *context, const gram_predictor *predictor, int64_t n,
                                             const double *x, const double *weights, double *values, int64_t ldv);

/* Do predictions of the model have intervals about their mean? Is it the posterior of a Gaussian process, to draw from? */
GRAM_API int gram_model_has_intervals(const gram_model *model);
GRAM_API int gram_model_is_process(const gram_model *model);

/* What training left over, of models that followed a gradient: rows of a time, the error over that at the start, and the share that
 * was left in directions 1, 2, 4, 8, ... of the tangent kernel; `stop` is the model's own time, NaN if it is infinite. All belong to the model.
 * 0 if it has none. */
typedef struct gram_learning_curve {
    int64_t rows, columns;
    const double *data;
    double stop;
} gram_learning_curve;
GRAM_API int gram_model_learning_curve(const gram_model *model, gram_learning_curve *curve);

/* All in one, from features as they are: values gets the `count` columns. For models of numeric features. */
GRAM_API gram_status gram_predict(gram_context *context, const gram_model *model, const gram_predict_options *options,
                                  int64_t n, const double *x, int64_t ldx, double *values, int64_t ldv);

/* Predictions for the rows of a file, piece by piece: memory does not grow with the file. Columns are found by name as the
 * model's preparation says; `preparation` NULL: that one, another may treat missing values otherwise. Predictor and
 * preparation are borrowed. "-" is standard input. The caller closes it (takes NULL). */
typedef struct gram_predict_stream gram_predict_stream;

GRAM_API gram_status gram_predict_stream_open(gram_context *context, const gram_predictor *predictor,
                                              const gram_preparation *preparation, const char *path, gram_format format,
                                              gram_predict_stream **stream);
GRAM_API void gram_predict_stream_close(gram_predict_stream *stream);

/* A piece: rows that were prepared, with their targets if the file has them, and their values, columns->ld apart. */
typedef struct gram_predicted {
    const gram_prepared *data;
    const double *values;
    int64_t first;           /* rows of the file before the piece */
    const gram_table *table; /* what was read, with the columns that were to be kept */
} gram_predicted;

/* The next one, valid until the next call; NULL at the end. A number that the kernel cannot take is named by file, row and
 * column. After a failure the stream can only be closed. */
GRAM_API gram_status gram_predict_stream_next(gram_context *context, gram_predict_stream *stream,
                                              const gram_predicted **piece);

/* ---- the table of methods ---- */

typedef enum gram_option_kind {
    GRAM_OPTION_SWITCH, /* "yes" or "no" */
    GRAM_OPTION_TEXT,
    GRAM_OPTION_INTEGER,
    GRAM_OPTION_NUMBER,
    GRAM_OPTION_CHOICE /* one of some words, of which some take a number: "cv:10" */
} gram_option_kind;

/* All texts are static. */
typedef struct gram_option_facts {
    size_t size;
    const char *name;
    gram_option_kind kind;
    const char *argument;  /* what help calls its value; NULL for switches */
    const char *help;      /* of "yes"; NULL: that is the default */
    const char *help_no;   /* of "no"; NULL: that is the default */
    const char *otherwise; /* the default as text; NULL: chosen from the data */
    double least, most;
    int above;             /* `least` itself is not allowed */
    const char *elsewhere; /* the words of other tools for it, or NULL */
    unsigned tasks;        /* bit 1 << task of those that have it, with one method or another */
} gram_option_facts;

/* A verb of the command that methods have of their own, beside `fit`. */
typedef struct gram_verb {
    const char *name;     /* "pca" */
    const char *summary;  /* a line for the list of verbs */
    const char *operands; /* "DATA", "E DATA" */
    const char *about;    /* paragraph and examples of its help, lines ended */
    const char *examples;
    const char *out;  /* what its help says of -o */
    const char *at;   /* and of --at FILE, rows to evaluate at instead of those of the data; NULL: it has none */
    const char *plot; /* and of --plot FILE, if there is one picture without colours; NULL: of `pictures` in general */
    int tables;       /* files of data at most: 2 for paired views, else 0 or 1 */
    int kernel_operand; /* the kernel is the first operand, not an option */
    int out_is_model;   /* -o writes the model, else what the model says of the rows */
    const char *
        pictures; /* words for what can be drawn (<gram/picture.h>), with blanks between, the first by default; NULL: nothing */
} gram_verb;

typedef struct gram_method_facts {
    size_t size;
    const char *name;                    /* several rows may share one: variants that options choose */
    const char *title;                   /* "kernel ridge regression" */
    const char *variant;                 /* what chooses this row of several: "with loss"; NULL: it is the plain one */
    unsigned tasks;                      /* bit 1 << task */
    const char *kernel;                  /* by default; NULL: it has none */
    const char *python[GRAM_TASK_COUNT]; /* the estimator's name for each task, or NULL */
    int64_t options;
    int unscaled;          /* features are taken as they are, unless `scale` is asked for */
    const gram_verb *verb; /* NULL: `fit` */
    int reconstructs;      /* its models can make rows of their coordinates */
    const char *views[2];  /* of paired views: their names, which are options that list columns; NULL: one view */
    const char *refuses;   /* an option of every method that this one does not take, or NULL */
    int intervals;         /* predictions have intervals about their mean */
    const char *kept;      /* the method's name in model files */
    int knows_rows;        /* the fit knows its own rows better than the model does: gram_learner_fitted costs little */
    int quadrature; /* weights of rows are those of a quadrature rule: they are used as they are, not as counts of rows */
    const char *formula; /* what it computes, for people: one or several lines; NULL: not said */
} gram_method_facts;

GRAM_API int64_t gram_method_count(void);
/* Both fill facts, whose size the caller sets (GRAM_ERROR_ARGUMENT if not); a name of NULL: there is no such row. */
GRAM_API gram_status gram_method_describe(int64_t method, gram_method_facts *facts);
GRAM_API gram_status gram_method_option(int64_t method, int64_t option, gram_option_facts *facts);
/* The words of a choice, one after the other; NULL after the last. "nystrom:M" for one that takes a number. */
GRAM_API const char *gram_method_choice(int64_t method, int64_t option, int64_t choice);

/* The options of the methods of a verb of the command (NULL: those of `fit`) as one list: those of one name count once, in the order
 * of the table. A tool that takes them all lists them from here. */
GRAM_API int64_t gram_option_count(const char *verb);
/* As gram_method_option does for the first method that has it; *method (unless NULL) is the name of the only one, NULL if there
 * are several. */
GRAM_API gram_status gram_option_describe(const char *verb, int64_t option, gram_option_facts *facts,
                                          const char **method);
/* Adds what help says of it, or of its "no": "WORDS (krr, gp)" where all methods say the same, else "krr, gp: WORDS; svm: WORDS". */
GRAM_API void gram_option_help(const char *verb, int64_t option, int no, gram_string *text);
/* Adds "krr (kernel ridge regression), ...", and "rbf for krr, svm; ...", the kernels that are taken if none is given; only "rbf" if that is
 * the same for all. */
GRAM_API void gram_methods_help(const char *verb, gram_string *names, gram_string *kernels);

GRAM_END

#endif
