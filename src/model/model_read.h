/* What the two halves of the reader share: model_json.c knows model.json, model_read.c the arrays and the whole. */
#ifndef GRAM_MODEL_MODEL_READ_H
#define GRAM_MODEL_MODEL_READ_H

#include <jansson.h>

#include "base/arena.h"
#include "model/archive.h"
#include "model/model.h"

typedef struct gram_model_reader {
    gram_context *context;
    gram_archive *archive;
    gram_arena scratch; /* texts and descriptions while reading */
    json_t *root;
    const json_t *arrays; /* of root */
    void *reserved;       /* the share of the budget that the tree takes */
    gram_kernel *given;   /* the kernel of the function, if its text cannot be read; else NULL */
} gram_model_reader;

/* Fails with "FILE: model.json: WHAT". */
gram_status gram_model_bad_json(const gram_model_reader *reader, const char *format, ...) GRAM_PRINTF(2, 3);

/* A failure inside of the file's contents becomes one of the file, "FILE: WHAT: message"; failures of memory and of the
 * caller's wish stay what they are. */
gram_status gram_model_blame(const gram_model_reader *reader, gram_status status, const char *what);

/* Reads and checks model.json as far as format and version. */
gram_status gram_model_parse(gram_model_reader *reader);
void gram_model_parse_end(gram_model_reader *reader);

/* A text of the tree, in scratch as it was before it became JSON. */
gram_status gram_model_want_text(gram_model_reader *reader, const json_t *object, const char *key, const char **text);
/* A number that is null for NaN, and an integer within bounds. */
gram_status gram_model_want_number(const gram_model_reader *reader, const json_t *object, const char *key,
                                   double *number);
gram_status gram_model_want_integer(const gram_model_reader *reader, const json_t *object, const char *key,
                                    int64_t least, int64_t *integer);

/* Of the tree's root, or of its second view. */
gram_status gram_model_read_preparation(gram_model_reader *reader, const json_t *from, gram_preparation **preparation);
gram_status gram_model_read_facts(gram_model_reader *reader, gram_model *model);

#endif
