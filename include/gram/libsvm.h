/* Models of LIBSVM: its text files become models of gram, and the other way round.
 *
 * An imported model predicts what svm-predict does: C-SVC and nu-SVC (with probabilities, if the file has them), epsilon-SVR,
 * nu-SVR and one class; kernels linear, polynomial, rbf and sigmoid. Its columns are x1 .. xd and y, as in LIBSVM's data files
 * (table.h), d being the greatest index of the support vectors. One thing differs: gram does not look at columns of
 * the data that a model does not have (beyond xd, or left out when it was fitted), while they count in the distances of
 * LIBSVM's rbf.
 *
 * Common failures: GRAM_ERROR_ARGUMENT, GRAM_ERROR_BUDGET or GRAM_ERROR_MEMORY, GRAM_ERROR_CANCELLED. */
#ifndef GRAM_LIBSVM_H
#define GRAM_LIBSVM_H

#include <gram/model.h>

GRAM_BEGIN

/* Reads a model file of LIBSVM (or "-": standard input; gzip is undone). (g x.y + r)^m becomes g^m*poly(m, r/g). The method is
 * "svm", the task "classification", "regression" or "one-class"; facts: svm ("c", "nu", "one-class", "epsilon"), origin,
 * n_support, d, class_count, and laplace_scale, what a regression knows of its errors (probA); arrays: "classes" in
 * ascending order, "vote_order" (their places in it, in LIBSVM's order: of classes with the most votes the first there
 * wins) and, with probabilities, "sigmoids". Marks of density, which newer versions keep for one class, are dropped.
 *
 * Everything is checked: GRAM_ERROR_DATA names file and line; that of a precomputed kernel, or of a polynomial with a negative
 * coef0, which gram does not have, is GRAM_ERROR_UNSUPPORTED. GRAM_ERROR_FILE if it cannot be opened or read. O(bytes + n d)
 * for n support vectors; they are kept dense, and a file in which more than 256 numbers would come from a byte is refused. The
 * caller destroys the model. */
GRAM_API gram_status gram_model_read_libsvm(gram_context *context, const char *path, gram_model **model);
/* From memory; `name` is what messages call it. */
GRAM_API gram_status gram_model_read_libsvm_memory(gram_context *context, const char *name, const void *bytes,
                                                   size_t length, gram_model **model);

/* Gets the text piece by piece; anything but 0 stops the writing. */
typedef int (*gram_text_fn)(void *user, const char *bytes, size_t length);

/* Writes a support vector machine as LIBSVM's text, in digits that read back to the same numbers. Columns are numbered from 1
 * in their order; but if all are called x1, x7 and so on, as those of LIBSVM's data are, by their names. A factor of the
 * kernel goes into the coefficients. Labels ascend, or have the order that LIBSVM gave them.
 *
 * GRAM_ERROR_UNSUPPORTED, with the reason and what can be done, for what LIBSVM cannot say: another method, another
 * kernel, features that are text or were scaled (but rbf whose length-scales are the same in the units of the data is
 * possible), classes that are not whole numbers. GRAM_ERROR_DATA if the model's parts do not belong together,
 * GRAM_ERROR_NUMERICAL if a number overflows. O(n (d + classes^2)), no memory in proportion to n. */
GRAM_API gram_status gram_model_write_libsvm(gram_context *context, const gram_model *model, const char *path);
/* The same to a function, which gets pieces of at most 64 KiB; GRAM_ERROR_FILE if it stopped. */
GRAM_API gram_status gram_model_print_libsvm(gram_context *context, const gram_model *model, gram_text_fn put,
                                             void *user);

GRAM_END

#endif
