/* The same kernel in the words of other tools.
 *
 * Tools disagree on what a parameter is called and on its powers and factors: a Gaussian of width ell = 0.3 has
 * gamma = 5.56 in LIBSVM, sigma = 5.56 in kernlab, length_scale = 0.3 in scikit-learn and gamma = 0.42 in liquidSVM. */
#ifndef GRAM_WORDS_H
#define GRAM_WORDS_H

#include <gram/kernel.h>

GRAM_BEGIN

typedef enum gram_tool {
    GRAM_TOOL_SCIKIT_LEARN,     /* sklearn.gaussian_process.kernels */
    GRAM_TOOL_SCIKIT_LEARN_SVM, /* arguments of sklearn.svm.SVC and the like */
    GRAM_TOOL_LIBSVM,           /* options of svm-train */
    GRAM_TOOL_GPYTORCH,         /* gpytorch.kernels, in versions whose PeriodicKernel is a product over columns */
    GRAM_TOOL_KERNLAB,          /* kernel functions of the R package */
    GRAM_TOOL_LIQUIDSVM,        /* its configuration: KERNEL and gamma */
    GRAM_TOOL_COUNT
} gram_tool;

/* "scikit-learn", "LIBSVM", ...; NULL for a number that is not a tool. Static. */
GRAM_API const char *gram_tool_name(gram_tool tool);

/* Writes the kernel on R^d as the tool says it, like gram_kernel_print: *length is that of the whole text, 0 if the tool
 * has no such kernel (a part that it lacks, a number that is still unset, ...). Numbers have the shortest digits that
 * read back, in double. text may be NULL if size is 0. Fails as gram_kernel_check_dimension does. O(size of the
 * expression). */
GRAM_API gram_status gram_kernel_words(gram_context *context, const gram_kernel *kernel, int64_t d, gram_tool tool,
                                       char *text, size_t size, size_t *length);
/* The same onto a text that grows: nothing is added if the tool has no such kernel. */
GRAM_API gram_status gram_kernel_append_words(gram_context *context, const gram_kernel *kernel, int64_t d,
                                              gram_tool tool, gram_string *text);

GRAM_END

#endif
