/* The header of NumPy's .npy format: magic, version, the length of a text, and that text, a Python dictionary literal
 *
 *     {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
 *
 * padded by spaces so that the numbers start at a multiple of 64. */
#ifndef GRAM_DATA_NPY_HEADER_H
#define GRAM_DATA_NPY_HEADER_H

#include <stddef.h>
#include <stdint.h>

enum { GRAM_NPY_PRELUDE = 12, GRAM_NPY_HEADER = 192, GRAM_NPY_TYPE_SIZE = 16, GRAM_NPY_DIMENSIONS = 2 };

typedef struct gram_npy_shape {
    char type[GRAM_NPY_TYPE_SIZE]; /* "<f8" */
    int fortran_order;
    int dimensions; /* how many sizes were given, also when that is more than are kept */
    int64_t size[GRAM_NPY_DIMENSIONS];
} gram_npy_shape;

/* Reads the dictionary text[0 .. length): these three keys, each once, in any order, and nothing else. NULL if it can
 * be read, else what is wrong with it. */
const char *gram_npy_parse(const char *text, size_t length, gram_npy_shape *shape);

/* Writes magic, version 1.0, length and dictionary for rows x columns numbers of a type ("<f8") in C order, with columns 0 for an array of one
 * dimension; returns the
 * bytes taken, a multiple of 64. */
size_t gram_npy_format(const char *type, int64_t rows, int64_t columns, char header[GRAM_NPY_HEADER]);

#endif
