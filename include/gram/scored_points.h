/* Points of a file with the scores of a density at them: what Stein thinning (<gram/thin.h>) and the test of fit (<gram/stein.h>) start
 * from, as `gram thin` and `gram test fit` read it. Scores come from columns of the file, from another file, or from a density with a
 * name; the base kernel is given, or imq with a metric from the sample. */
#ifndef GRAM_SCORED_POINTS_H
#define GRAM_SCORED_POINTS_H

#include <gram/density.h>
#include <gram/stein.h>
#include <gram/table.h>

GRAM_BEGIN

typedef struct gram_scored_options {
    size_t size; /* sizeof of this struct, set by gram_scored_options_init */
    gram_format format;
    const char *features, *ignore; /* lists of columns, NULL: all, none */
    int scale;                     /* standardise the points; scores are multiplied by the deviations */
    /* at most one of the three; without any, there are no scores */
    const char
        *score_columns; /* a list, one for each column of the points, in their order; other columns are the points */
    const char *score_file;   /* as many rows and columns as the points */
    const char *density;      /* as gram_density_parse_data reads it, */
    const char *density_data; /* with a file for the density logistic, or NULL */
    const gram_kernel *
        kernel; /* NULL: gram_stein_kernel of `metric`; without scores laplace. What is open is set by the median heuristic */
    gram_stein_metric metric; /* GRAM_STEIN_METRIC_MED */
    int64_t m;                /* of the metric SCLMED: rows that are to be chosen */
    const char *who, *dashes; /* how messages speak: NULL: "scored_points" and "" */
    const char *texts;        /* a LIST of columns of texts, for kernels of strings; without scores only; NULL: none */
    const char *
        gram; /* a file with a given matrix, which then alone is what the points are, whatever else the table holds; without scores only; NULL: none */
} gram_scored_options;

GRAM_API void gram_scored_options_init(gram_scored_options *options, size_t size);

typedef struct gram_scored_points gram_scored_points;

/* Reads, checks and computes all of it; options may be NULL. GRAM_ERROR_DATA for files that do not fit each other, GRAM_ERROR_ARGUMENT for
 * options that do not, GRAM_ERROR_NUMERICAL for a sample without a metric, and what <gram/table.h> and <gram/density.h> list. "-" is
 * standard input. The caller destroys it (takes NULL). */
GRAM_API gram_status gram_scored_points_read(gram_context *context, const char *path,
                                             const gram_scored_options *options, gram_scored_points **scored);
GRAM_API void gram_scored_points_destroy(gram_scored_points *scored);

/* What there is; belongs to the scored points. */
typedef struct gram_scored_report {
    size_t size;             /* of libgram's own struct */
    const char *file;        /* as messages call it */
    const gram_table *table; /* as it was read, with the score columns */
    int64_t n, d;
    const int64_t *columns; /* of the table that the points are */
    const double *x;        /* n x d, scaled if that was asked for */
    const double *scores;   /* n x d; NULL: none */
    const gram_points *points;
    gram_kernel *kernel; /* without open numbers */
    const char *source;  /* of the scores, in words: "density banana()", "scores of FILE", "the sample itself" */
    /* of a density, in the units of x: log p, and sum_l max(d^2 log p/dx_l^2, 0), as gram_thin takes them; NULL otherwise */
    const double *log_density, *laplacian;
    const char *
        doubt; /* a sentence: scores that were read cannot belong to the points (gram_stein_scores_check); NULL: they can */
} gram_scored_report;

GRAM_API const gram_scored_report *gram_scored_points_get_report(const gram_scored_points *scored);

/* After a failure of a computation on the points: one that is of a single number names its row of the file and its column. */
GRAM_API void gram_scored_points_name_place(gram_context *context, const gram_scored_points *scored);

GRAM_END

#endif
