/* Model files: what was learnt, in one file that the command, C and Python read alike.
 *
 * A zip of stored entries: `model.json` and NumPy arrays, so that numpy.load reads it too. A model holds a method and task
 * name, the preparation of the data, a function, facts (named numbers and texts: what `fit` reported) and any further
 * arrays a method needs. It is written aside, brought to the disk and renamed: a model that is being replaced stays whole
 * until the new one is. Reading checks every size and offset; a file that is corrupt, truncated, of another program or of
 * a later version is GRAM_ERROR_DATA with a message that says which. docs/model-file.md describes the format.
 *
 * Common failures: GRAM_ERROR_ARGUMENT, GRAM_ERROR_BUDGET or GRAM_ERROR_MEMORY. Texts may be any bytes and come back as
 * they were. Models may outlive the context that they were made with; one thread at a time changes a model. */
#ifndef GRAM_MODEL_H
#define GRAM_MODEL_H

#include <gram/function.h>
#include <gram/output.h>
#include <gram/preparation.h>

GRAM_BEGIN

typedef struct gram_model gram_model;

/* `method` ("krr") and `task` ("regression") are copied; preparation and function get one more owner; the preparation may
 * be NULL for a model of bare arrays, otherwise it makes as many columns as the function takes (GRAM_ERROR_DIMENSION). The
 * caller destroys the model. */
GRAM_API gram_status gram_model_create(gram_context *context, const char *method, const char *task,
                                       gram_preparation *preparation, gram_function *function, gram_model **model);
/* Takes NULL. */
GRAM_API void gram_model_destroy(gram_model *model);

GRAM_API const char *gram_model_method(const gram_model *model);
GRAM_API const char *gram_model_task(const gram_model *model);
GRAM_API gram_preparation *gram_model_preparation(const gram_model *model);
GRAM_API gram_function *gram_model_function(const gram_model *model);

/* Models of paired views, such as two sets of columns, have a second function, over the second view, with a preparation of its
 * own (or NULL). Both get one more owner; set again, they are replaced. NULL where there is none. */
GRAM_API gram_status gram_model_set_second(gram_context *context, gram_model *model, gram_preparation *preparation,
                                           gram_function *function);
GRAM_API gram_preparation *gram_model_second_preparation(const gram_model *model);
GRAM_API gram_function *gram_model_second_function(const gram_model *model);

/* The version of gram that wrote it; of this library if it was made here. */
GRAM_API const char *gram_model_version(const gram_model *model);

/* ---- facts, at most 4096, kept in the order in which they were first set ---- */

typedef enum gram_fact_kind { GRAM_FACT_NUMBER = 0, GRAM_FACT_INTEGER = 1, GRAM_FACT_TEXT = 2 } gram_fact_kind;

typedef struct gram_fact {
    const char *name;
    gram_fact_kind kind;
    double number;    /* may be NaN: not known, null in the file; that of an integer, NaN of a text */
    int64_t integer;  /* 0 if it is not one */
    const char *text; /* NULL if it is not one */
} gram_fact;

/* Setting a name again replaces the fact, in its place. What the last two return belongs to the model and is valid until
 * that fact is set again. O(number of facts). */
GRAM_API gram_status gram_model_set_number(gram_context *context, gram_model *model, const char *name, double value);
GRAM_API gram_status gram_model_set_integer(gram_context *context, gram_model *model, const char *name, int64_t value);
GRAM_API gram_status gram_model_set_text(gram_context *context, gram_model *model, const char *name, const char *value);
GRAM_API int64_t gram_model_fact_count(const gram_model *model);
GRAM_API gram_fact gram_model_fact(const gram_model *model, int64_t index);
/* NULL fields and NaN if there is none of that name. */
GRAM_API gram_fact gram_model_find(const gram_model *model, const char *name);

/* ---- further arrays, rows x columns, row-major without gaps ---- */

/* Copied, at most 1024 arrays of 1 x 1 and more, any numbers; an array set again is replaced. A name is 1 to 31 letters,
 * digits and '_', and none of centres, coefficients, constant, which the function has, nor these after `second_`. */
GRAM_API gram_status gram_model_set_array(gram_context *context, gram_model *model, const char *name, int64_t rows,
                                          int64_t columns, const double *data, int64_t ld);
/* NULL, and 0 x 0, if there is none of that name; rows and columns may be NULL. */
GRAM_API const double *gram_model_array(const gram_model *model, const char *name, int64_t *rows, int64_t *columns);

/* ---- files ---- */

/* Replaces the file in one step (a link is followed). GRAM_ERROR_FILE if that is not possible, including a full disk, found
 * before anything is written; GRAM_ERROR_UNSUPPORTED for a kernel that exists in C only; GRAM_ERROR_CANCELLED. After a
 * failure the old file is whole and nothing is left behind. O(bytes); memory for the JSON text only. */
GRAM_API gram_status gram_model_write(gram_context *context, const gram_model *model, const char *path);
/* The same bytes to memory of the caller, for programs that keep models elsewhere than in files: *size is what it takes, and nothing is
 * written if `room` is less (0, with bytes NULL, asks for the size). */
GRAM_API gram_status gram_model_write_memory(gram_context *context, const gram_model *model, void *bytes, size_t room,
                                             size_t *size);
/* GRAM_ERROR_FILE if it cannot be opened or read, GRAM_ERROR_DATA if it is not a model, each with a message that begins with
 * the path; GRAM_ERROR_CANCELLED. O(bytes), and memory in proportion to the size of the file whatever it says inside. */
GRAM_API gram_status gram_model_read(gram_context *context, const char *path, gram_model **model);
/* From memory; `name` is what messages call it. */
GRAM_API gram_status gram_model_read_memory(gram_context *context, const char *name, const void *bytes, size_t length,
                                            gram_model **model);

/* Models whose kernel exists in this program only (gram_kernel_callback): all but the kernel, of which the bytes have a text to look at. Whoever
 * keeps them keeps the kernel too, and gives one that prints the same (GRAM_ERROR_ARGUMENT if it does not; NULL: it is read) to have
 * the model back. The kernel is retained. Else as above. */
GRAM_API gram_status gram_model_write_part(gram_context *context, const gram_model *model, void *bytes, size_t room,
                                           size_t *size);
GRAM_API gram_status gram_model_read_part(gram_context *context, const char *name, const void *bytes, size_t length,
                                          gram_kernel *kernel, gram_model **model);

/* Does the file begin as a model of gram does? 0 also for one that cannot be read. */
GRAM_API int gram_model_is_file(const char *path);

/* The fact as a key of an open object. */
GRAM_API void gram_json_fact(gram_json *json, const gram_fact *fact);

GRAM_END

#endif
