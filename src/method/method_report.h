/* A report from inside: what the learner begins and ends, and rows of the method table add to. */
#ifndef GRAM_METHOD_METHOD_REPORT_H
#define GRAM_METHOD_METHOD_REPORT_H

#include "method/method.h"

typedef struct gram_report_line {
    const char *label, *value;
} gram_report_line;

enum { GRAM_REPORT_VALUE_SIZE = 1024, GRAM_REPORT_MOST_LISTS = 16 };

struct gram_report {
    gram_context *context;
    gram_arena *arena;
    const gram_model *model;
    const char *file;
    gram_status status; /* of the first failure */
    int64_t count;
    gram_report_line *rows;
    int64_t list_count;
    const char *lists[GRAM_REPORT_MOST_LISTS]; /* names of arrays of the model */
    int open;                                  /* the last row's value is being added to */
    size_t length;
    char value[GRAM_REPORT_VALUE_SIZE];
};

/* After the last row. */
void gram_report_end_row(gram_report *report);

#endif
