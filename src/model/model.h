/* Models from inside. */
#ifndef GRAM_MODEL_MODEL_H
#define GRAM_MODEL_MODEL_H

#include <gram/model.h>

#include "base/context.h"
#include "points/objects.h"

enum {
    GRAM_MODEL_VERSION = 1, /* of the format: what this gram writes, and the latest that it reads */
    GRAM_MODEL_NAME = 32,   /* bytes of an array's name with its final 0 */
    GRAM_MODEL_MOST_FACTS = 4096,
    GRAM_MODEL_MOST_ARRAYS = 1024,
    GRAM_MODEL_MOST_JSON = 64 << 20, /* bytes of model.json */
    GRAM_MODEL_MOST_DEPTH = 16       /* brackets inside of brackets */
};

/* Facts and arrays are chains in the order of their setting; each link is one block. */
typedef struct gram_model_fact_link {
    struct gram_model_fact_link *next;
    gram_fact fact; /* name and text lie after it */
} gram_model_fact_link;

typedef struct gram_model_array_link {
    struct gram_model_array_link *next;
    char name[GRAM_MODEL_NAME];
    int64_t rows, columns;
    double *data; /* after it */
} gram_model_array_link;

struct gram_model {
    gram_memory *memory;
    const char *method, *task, *version;
    gram_preparation *preparation; /* or NULL */
    gram_function *function;
    gram_preparation *second_preparation; /* of models of two views, else NULL */
    gram_function *second;
    gram_model_fact_link *facts;
    gram_model_array_link *arrays;
    int64_t fact_count, array_count;
};

/* gram_model_create for a model that another version wrote. */
gram_status gram_model_make(gram_context *context, const char *method, const char *task, const char *version,
                            gram_preparation *preparation, gram_function *function, gram_model **model);

/* Room for an array of a name that is checked; replaces an older one of that name. */
gram_status gram_model_add_array(gram_context *context, gram_model *model, const char *name, int64_t rows,
                                 int64_t columns, double **data);

/* Can a model file hold the names and levels of these columns? Either may be NULL. */
gram_status gram_model_check_columns(gram_context *context, const gram_preparation *first,
                                     const gram_preparation *second);

/* (model_functionals.c) Centres that are functionals, to an array and back: the array is there when the model is written, and the
 * function has its functionals again when it was read. */
gram_status gram_model_keep_functionals(gram_context *context, gram_model *model);

/* The same for columns of the centres that hold no numbers, of the function or of the second view (model_things.c). */
gram_status gram_model_keep_things(gram_context *context, gram_model *model, int second);
gram_status gram_model_restore_things(gram_context *context, gram_model *model, int second);

/* An array of things of a column (-1 - l: column l of the second view), "things_WHAT_COLUMN", of so many numbers: a new one, and the one that the model has (NULL: none of that size). */
gram_status gram_things_add(gram_context *context, gram_model *model, const char *what, int64_t column, int64_t count,
                            double **data);
const double *gram_things_find(const gram_model *model, const char *what, int64_t column, int64_t count);

/* Things of a given matrix (model_given.c). */
gram_status gram_model_keep_given(gram_context *context, gram_model *model, int64_t column, const gram_objects *store);
gram_status gram_model_restore_given(gram_context *context, const gram_model *model, int64_t column, int64_t n,
                                     int64_t known, gram_objects **store);
gram_status gram_model_restore_functionals(gram_context *context, gram_model *model);
gram_status gram_model_keep_slopes(gram_context *context, gram_model *model);
gram_status gram_model_restore_slopes(gram_context *context, gram_model *model);

/* The sample of a kernel with centre(a), of the function or of the second view; the name of its array. */
gram_status gram_model_keep_sample(gram_context *context, gram_model *model, int second);
const char *gram_model_sample_name(int second);

/* 1 to 31 letters, digits and '_'? And is it the name of an array that the function has? */
int gram_model_is_name(const char *name);
int gram_model_is_taken(const char *name);

#endif
