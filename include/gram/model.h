/* Model files: what was learnt, in one file that the command, C and Python read alike.
 *
 * A zip of stored entries: `model.json` and NumPy arrays, so that numpy.load reads it too. A model holds a method and task
 * name, the preparation of the data, a function, facts (named numbers and texts: what `fit` reported) and any further
 * arrays a method needs. It is written aside, brought to the disk and renamed: a model that is being replaced stays whole
 * until the new one is. Reading checks every size and offset; a file that is corrupt, truncated, of another program or of
 * a later version is GRAM_ERROR_DATA with a message that says which. */
#ifndef GRAM_MODEL_H
#define GRAM_MODEL_H

#include <gram/function.h>
#include <gram/preparation.h>

GRAM_BEGIN

typedef struct gram_model gram_model;

/* `method` ("krr") and `task` ("regression") are copied; preparation and function get one more owner; the preparation may
 * be NULL for a model of bare arrays. The caller destroys the model. */
GRAM_API gram_status gram_model_create(gram_context *context, const char *method, const char *task,
                                       gram_preparation *preparation, gram_function *function, gram_model **model);
/* Takes NULL. */
GRAM_API void gram_model_destroy(gram_model *model);

GRAM_API const char *gram_model_method(const gram_model *model);
GRAM_API const char *gram_model_task(const gram_model *model);
GRAM_API gram_preparation *gram_model_preparation(const gram_model *model);
GRAM_API gram_function *gram_model_function(const gram_model *model);
/* The version of gram that wrote it. */
GRAM_API const char *gram_model_version(const gram_model *model);

/* ---- facts, kept in the order in which they were first set ---- */

typedef enum gram_fact_kind { GRAM_FACT_NUMBER = 0, GRAM_FACT_INTEGER = 1, GRAM_FACT_TEXT = 2 } gram_fact_kind;

typedef struct gram_fact {
    const char *name;
    gram_fact_kind kind;
    double number; /* may be NaN: not known, null in the file */
    int64_t integer;
    const char *text;
} gram_fact;

GRAM_API gram_status gram_model_set_number(gram_context *context, gram_model *model, const char *name, double value);
GRAM_API gram_status gram_model_set_integer(gram_context *context, gram_model *model, const char *name, int64_t value);
GRAM_API gram_status gram_model_set_text(gram_context *context, gram_model *model, const char *name, const char *value);
GRAM_API int64_t gram_model_fact_count(const gram_model *model);
GRAM_API gram_fact gram_model_fact(const gram_model *model, int64_t index);
/* NULL fields and NaN if there is none of that name. */
GRAM_API gram_fact gram_model_find(const gram_model *model, const char *name);

/* ---- further arrays, rows x columns, row-major without gaps ---- */

/* Copied; a name is 1 to 31 letters, digits and '_'. */
GRAM_API gram_status gram_model_set_array(gram_context *context, gram_model *model, const char *name, int64_t rows,
                                          int64_t columns, const double *data, int64_t ld);
/* NULL if there is none of that name. */
GRAM_API const double *gram_model_array(const gram_model *model, const char *name, int64_t *rows, int64_t *columns);

/* ---- files ---- */

GRAM_API gram_status gram_model_write(gram_context *context, const gram_model *model, const char *path);
GRAM_API gram_status gram_model_read(gram_context *context, const char *path, gram_model **model);
/* From memory; `name` is what messages call it. */
GRAM_API gram_status gram_model_read_memory(gram_context *context, const char *name, const void *bytes, size_t length,
                                            gram_model **model);

GRAM_END

#endif
