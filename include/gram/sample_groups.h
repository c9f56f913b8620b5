/* Samples of tests from files: rows that are made ready as `gram fit` makes them, as points, in one group of columns or in several. What
 * `gram test` reads for <gram/mmd.h> (two files, prepared together) and <gram/hsic.h> (groups of columns of one file). */
#ifndef GRAM_SAMPLE_GROUPS_H
#define GRAM_SAMPLE_GROUPS_H

#include <gram/kernel.h>
#include <gram/preparation.h>

GRAM_BEGIN

typedef struct gram_sample_options {
    size_t size; /* sizeof of this struct, set by gram_sample_options_init */
    gram_format format;
    const char *features, *ignore; /* lists of columns, NULL: all, none */
    gram_missing missing;
    int scale;                /* standardise columns of numbers; default 1 */
    int each;                 /* with one list: each of its columns is a group of its own */
    const char *who, *dashes; /* how messages speak: NULL: "sample" and "" */
    const char *texts;        /* a LIST of columns of texts, for kernels of strings; NULL: none */
    const char *graphs, *bag; /* a LIST of columns of graphs, and the column that groups rows into bags; NULL: none */
    const char
        *gram; /* a file with a given matrix, of a pair over the rows of the first and then of the second; NULL: none */
    const char *bag_weights; /* a column with weights of the rows in their bags; NULL: they are alike */
} gram_sample_options;

GRAM_API void gram_sample_options_init(gram_sample_options *options, size_t size);

/* Columns that belong together. */
typedef struct gram_sample_group {
    int64_t first_feature, features; /* of the preparation */
    int64_t first, d;                /* prepared columns */
    gram_points *points;
} gram_sample_group;

typedef struct gram_sample gram_sample;

/* What there is; belongs to the sample. */
typedef struct gram_sample_report {
    size_t size;      /* of libgram's own struct */
    const char *file; /* as messages call it */
    const gram_preparation *preparation;
    const gram_prepared *data;
    int64_t dropped; /* rows of the file that are not among them */
    int64_t group_count;
    const gram_sample_group *groups;
} gram_sample_report;

enum { GRAM_SAMPLE_MOST_GROUPS = 16 };

/* Reads a file ("-": standard input) and prepares the columns of `count` lists (2 to GRAM_SAMPLE_MOST_GROUPS; 1 with `each`; 0: all columns,
 * one group), in their order: a row that misses a value of one group is missing in all. A column in two lists is GRAM_ERROR_ARGUMENT.
 * options may be NULL. The caller destroys it (takes NULL). */
GRAM_API gram_status gram_sample_read(gram_context *context, const char *path, const gram_sample_options *options,
                                      int count, const char *const *lists, gram_sample **sample);

/* Two samples together: columns matched by name; levels of text, means and deviations over both. A column that is text in one of them is
 * text in both. */
GRAM_API gram_status gram_sample_read_pair(gram_context *context, const char *first, const char *second,
                                           const gram_sample_options *options, gram_sample *samples[2]);

GRAM_API void gram_sample_destroy(gram_sample *sample);
GRAM_API const gram_sample_report *gram_sample_get_report(const gram_sample *sample);

/* After a kernel failed on several sets of points with GRAM_ERROR_DOMAIN: is it for a single number of this group? Then 1, and the message
 * names file, row and column. */
GRAM_API int gram_sample_blame(gram_context *context, const gram_sample *sample, int64_t group,
                               const gram_kernel *kernel);

GRAM_END

#endif
