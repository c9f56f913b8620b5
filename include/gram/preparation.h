/* Preparation: how the columns of a table become features, targets and weights, learnt once and applied by name.
 *
 * Numeric features are standardised (unless asked not to), text columns become one 0/1 column for each level. Sparse rows are
 * divided by the deviations of their columns and not centred, which would fill them; texts that are no categories stay as they are. What was
 * learnt from the training table is a description, a plain struct that model files keep; applying it to another table
 * finds the columns by name (by place if neither table had a header) whatever their order, ignores columns that are not
 * needed, and names the one that is missing. Preparations never change and are counted.
 *
 * Common failures: GRAM_ERROR_DATA (contents and columns; the message names file, line and column), GRAM_ERROR_SYNTAX (a
 * LIST that cannot be read), GRAM_ERROR_ARGUMENT, GRAM_ERROR_BUDGET or GRAM_ERROR_MEMORY. */
#ifndef GRAM_PREPARATION_H
#define GRAM_PREPARATION_H

#include <gram/points.h>
#include <gram/table.h>

GRAM_BEGIN

/* What a missing value in a needed column does. GRAM_MISSING_MEAN puts a feature's mean over the training rows in its
 * place, or the most frequent level of a text column; a missing target or weight drops the row. */
typedef enum gram_missing {
    GRAM_MISSING_ERROR = 0, /* it is an error */
    GRAM_MISSING_DROP = 1,  /* its row is left out */
    GRAM_MISSING_MEAN = 2
} gram_missing;

/* One column of the training table. */
typedef struct gram_column {
    const char *name;
    int64_t place;             /* in the training table, from 0 */
    int text;                  /* 1: categories; numbers otherwise */
    double mean, deviation;    /* numbers: (value - mean)/deviation is the feature; 0 and 1 when not scaled */
    double fill;               /* numbers: what a missing value becomes; text: the number of the level */
    int64_t level_count;       /* text; 0 for numbers */
    const char *const *levels; /* in the order of strcmp */
    int date;                  /* numbers: 1 if they were dates, in days since 1970-01-01 */
    gram_column_kind kind;     /* sparse rows and texts are one prepared column each, which holds places in a store */
    int64_t width;             /* of sparse rows: their columns; 0 for others */
    const double
        *deviations; /* of sparse rows: what each of their columns is divided by (nothing is subtracted); NULL: 1 */
    /* numbers: with log_size above 0 asinh((value - log_centre)/log_size) takes the value's place before mean and deviation do */
    double log_centre, log_size;
} gram_column;

typedef struct gram_preparation_description {
    int64_t feature_count;
    const gram_column *features;
    int64_t target_count;       /* 0 for methods without a target */
    const gram_column *targets; /* mean and deviation are 0 and 1 */
    const gram_column *weights; /* NULL: none */
    gram_missing missing;
    int scaled;
    int named;                 /* the training table had a header */
    const char *missing_texts; /* as in gram_table_options; NULL: none */
    const gram_column *bag; /* the column that groups rows into bags, of which only name and place count; NULL: none */
    const gram_column *bag_weights; /* numbers that weigh the rows of a bag within it; NULL: they are alike */
} gram_preparation_description;

typedef struct gram_preparation gram_preparation;

typedef struct gram_preparation_options {
    size_t size;
    const char *target;   /* LIST; NULL: the last column that is neither ignored nor the weights; "": none */
    const char *features; /* LIST; NULL: all that have no other role */
    const char *ignore;   /* LIST; NULL: none */
    const char *weights;  /* one column; NULL: none */
    int scale;            /* standardise numeric features; default 1 */
    gram_missing missing;
    int64_t most_levels;       /* of a text feature; default 50 */
    const char *missing_texts; /* that the table was read with: kept for other tables; NULL: none */
    const char *bag;           /* one column: rows that agree in it are one bag, one point; NULL: each row is a point */
    const char *bag_weights;   /* one column, with `bag`: weights of the rows in their bags; NULL: they are alike */
} gram_preparation_options;

GRAM_API void gram_preparation_options_init(gram_preparation_options *options, size_t size);

/* Learns it from a table, which is best read with GRAM_TEXT_CATEGORIES and keep_missing: then columns without a role may
 * hold anything. Levels, means and deviations are those of the rows that are not dropped; missing values do not count.
 * Constant columns are only centred. The same bits for any number of threads. O(n d). The caller releases the
 * preparation. */
GRAM_API gram_status gram_preparation_learn(gram_context *context, const gram_table *table,
                                            const gram_preparation_options *options, gram_preparation **preparation);

/* Learns one preparation from two tables, for samples that are compared: columns are matched by name, levels, means and
 * deviations are those of both together. A column that is text in one of them is text in both: numbers are read as text.
 * Targets and weights have no place here: target NULL means none. Columns that only one of them has are GRAM_ERROR_DATA.
 * O((n + m) d). The caller releases it. */
GRAM_API gram_status gram_preparation_learn_both(gram_context *context, const gram_table *a, const gram_table *b,
                                                 const gram_preparation_options *options,
                                                 gram_preparation **preparation);

/* Makes it from a description, which is copied: what a model file held. Every field is checked: GRAM_ERROR_ARGUMENT. */
GRAM_API gram_status gram_preparation_create(gram_context *context, const gram_preparation_description *description,
                                             gram_preparation **preparation);
GRAM_API const gram_preparation_description *gram_preparation_describe(const gram_preparation *preparation);

/* The same that treats missing values otherwise. The caller releases it. */
GRAM_API gram_status gram_preparation_with_missing(gram_context *context, const gram_preparation *preparation,
                                                   gram_missing missing, gram_preparation **changed);

/* Both take NULL. */
GRAM_API gram_preparation *gram_preparation_retain(gram_preparation *preparation);
GRAM_API void gram_preparation_release(gram_preparation *preparation);

/* Prepared columns: one for a numeric feature, one for each level of a text feature; with bags one, which holds them, of the name of their column. The feature that a column belongs
 * to, and its name ("age", "colour=red") written like gram_kernel_print does. */
GRAM_API int64_t gram_preparation_dimension(const gram_preparation *preparation);
GRAM_API int64_t gram_preparation_feature_of(const gram_preparation *preparation, int64_t column);
GRAM_API size_t gram_preparation_column_name(const gram_preparation *preparation, int64_t column, char *text,
                                             size_t size);

/* A number of a prepared column in its feature's own unit: mean + deviation value, or of a logarithm the inverse; and n rows of numbers of all features, ldx apart,
 * as they are prepared, without gaps. Features of text are not numbers: they have no such unit. */
GRAM_API double gram_preparation_unit(const gram_preparation *preparation, int64_t column, double value);
GRAM_API void gram_preparation_scale(const gram_preparation *preparation, int64_t n, const double *x, int64_t ldx,
                                     double *out);

/* Sets the options (initialised before, or it is GRAM_ERROR_ARGUMENT; the format stays) so that they read what the preparation needs and no more: names
 * the columns, says which are text, keeps missing values, and allows targets and weights to be absent. They borrow from the
 * preparation. For gram_table_read and gram_reader_open alike. */
GRAM_API gram_status gram_preparation_reading(const gram_preparation *preparation, gram_table_options *options);

/* A table made ready; everything belongs to it. */
typedef struct gram_prepared {
    int64_t n;           /* rows kept */
    int64_t d;           /* gram_preparation_dimension */
    int64_t table_rows;  /* rows of the table */
    const int64_t *rows; /* which row of the table each one is, NULL: all of them in order */
    const double *x;     /* n x d, row-major without gaps; of arrays that were lent (gram_arrays) it may be theirs */
    int64_t targets;     /* 0 if the table has not all of them */
    const double *y;     /* n x targets; NULL if targets is 0. For text the number of the level. Without `training` NaN
                          * where the value is missing or the level was not seen in training */
    const double *weights; /* n; NULL: none. Without `training` NaN where the value is missing */
    /* d stores of the columns that hold no numbers, NULL for the others; NULL: all hold numbers. For gram_points_of_prepared */
    struct gram_objects *const *objects;
    /* of bags, in the order of their first rows: which row of the table each begins with. n and table_rows count bags then, and rows is NULL. NULL: no bags */
    const int64_t *first;
} gram_prepared;

/* Applies it. `training`: targets and weights must be there and are checked (finite, weights >= 0); rows whose
 * target or weight is missing, or a level that was not learnt, are an error or dropped as `missing` says. Otherwise targets
 * and weights may be absent; a level of a feature that was not seen in training gives 0 in all of its columns. The caller
 * destroys the result (takes NULL). Of bags a target or a weight that varies within one is GRAM_ERROR_DATA, naming bag, lines and values; so are weights in bags that are missing, below 0 or all 0. O(n d), bags: O(n (d + log n)). */
GRAM_API gram_status gram_preparation_apply(gram_context *context, const gram_preparation *preparation,
                                            const gram_table *table, int training, gram_prepared **prepared);
GRAM_API void gram_prepared_destroy(gram_prepared *prepared);

/* Its features as points. The array x is borrowed; the caller releases them. */
GRAM_API gram_status gram_points_of_prepared(gram_context *context, const gram_prepared *prepared,
                                             gram_points **points);

/* Columns of a table as they are, whatever they hold, as points: a copy. columns NULL: the first `count`. A missing value is GRAM_ERROR_DATA. The caller releases them; sparse
 * rows and a given matrix are shared with the table, which may go. O(n count), and a copy of texts. */
GRAM_API gram_status gram_points_of_table(gram_context *context, const gram_table *table, int64_t count,
                                          const int64_t *columns, gram_points **points);

/* Moves `columns` numbers of each of the n rows, without gaps, to the places that the rows have in their table; NaN for rows that were
 * dropped. values has room for table_rows of them. O(table_rows columns). */
GRAM_API void gram_prepared_spread(const gram_prepared *prepared, int64_t columns, double *values);

GRAM_END

#endif
