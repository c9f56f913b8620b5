/* Writing NumPy's .npy: a matrix of doubles that goes straight to disk.
 *
 * The file is made aside under a temporary name in the same folder, its space is reserved, and it is mapped into memory
 * for the caller to fill: nothing of its size is held elsewhere, and a full disk is noticed before the work. Finishing
 * puts it in its place in one step. Until then an older file of that name stays whole, and when the work is given up
 * nothing is left behind.
 *
 *     gram_npy *file = NULL;
 *     status = gram_npy_create(context, "K.npy", n, n, &file);
 *     if (status == GRAM_OK) status = gram_matrix(context, kernel, x, NULL, gram_npy_numbers(file), n);
 *     if (status == GRAM_OK) status = gram_npy_finish(context, file);
 *     gram_npy_destroy(file); */
#ifndef GRAM_NPY_H
#define GRAM_NPY_H

#include <gram/context.h>

GRAM_BEGIN

typedef struct gram_npy gram_npy;

/* Makes the temporary file for rows x columns doubles ('<f8', C order), both at least 1. A path that names something
 * else than a regular file is refused; a symbolic link is followed. GRAM_ERROR_FILE when the folder cannot be written
 * or the disk has no room. The caller destroys the object. */
GRAM_API gram_status gram_npy_create(gram_context *context, const char *path, int64_t rows, int64_t columns,
                                     gram_npy **file);

/* Where the rows * columns numbers go, row-major and without gaps, 64-byte aligned; 0 at first. */
GRAM_API double *gram_npy_numbers(gram_npy *file);

/* Brings the numbers to the disk and the file to its name. To be called once, and after it only gram_npy_destroy: the
 * numbers are no longer there. GRAM_ERROR_FILE or GRAM_ERROR_CANCELLED leave no file behind. */
GRAM_API gram_status gram_npy_finish(gram_context *context, gram_npy *file);

/* Takes NULL. A file that was not finished is removed. */
GRAM_API void gram_npy_destroy(gram_npy *file);

GRAM_END

#endif
