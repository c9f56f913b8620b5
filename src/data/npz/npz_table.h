/* Sparse rows as scipy.sparse.save_npz writes them. */
#ifndef GRAM_DATA_NPZ_NPZ_TABLE_H
#define GRAM_DATA_NPZ_NPZ_TABLE_H

#include "data/table.h"

extern const gram_format_type gram_npz_type;

/* ---- the zip (npz_entries.c) ---- */

/* An array of the file: numbers, or text of |S3. Its bytes are in memory of the table's, and given back by the caller. */
typedef struct gram_npz_array {
    char type[16];         /* as NumPy writes it: "<f8" */
    int64_t rows, columns; /* columns 0: of one dimension or none */
    size_t item;           /* bytes of a number */
    void *bytes;           /* the file of the array, unpacked; NULL: there is none */
    const char *at;        /* where its numbers begin */
} gram_npz_array;

/* The array NAME.npy of a zip in memory; without one nothing happens. Stored or deflated entries with a right checksum: else GRAM_ERROR_DATA. */
gram_status gram_npz_find(gram_context *context, gram_memory *memory, const char *file, const unsigned char *zip,
                          size_t length, const char *name, gram_npz_array *array);

/* Number i of it: of types <f8, <f4, <i8, <i4. */
double gram_npz_number(const gram_npz_array *array, int64_t i);

#endif
