/* The table of kernels: a new kernel is a file and a row here. */
#include <string.h>

#include "kernel/kernel.h"

#define KERNELS(ROW)                                                                                                   \
    ROW(chi2)                                                                                                          \
    ROW(const)                                                                                                         \
    ROW(cosine)                                                                                                        \
    ROW(expdot)                                                                                                        \
    ROW(imq)                                                                                                           \
    ROW(intersection)                                                                                                  \
    ROW(intpow)                                                                                                        \
    ROW(laplace)                                                                                                       \
    ROW(laplace1)                                                                                                      \
    ROW(linear)                                                                                                        \
    ROW(matern)                                                                                                        \
    ROW(min)                                                                                                           \
    ROW(monomial)                                                                                                      \
    ROW(nngp)                                                                                                          \
    ROW(ntk)                                                                                                           \
    ROW(periodic)                                                                                                      \
    ROW(poly)                                                                                                          \
    ROW(powexp)                                                                                                        \
    ROW(rbf)                                                                                                           \
    ROW(rq)                                                                                                            \
    ROW(sigmoid)                                                                                                       \
    ROW(sinc)                                                                                                          \
    ROW(sobolev)                                                                                                       \
    ROW(tanimoto)                                                                                                      \
    ROW(wendland)                                                                                                      \
    ROW(white)

/* Those of a given matrix (family/given.c). */
#define GIVEN_KERNELS(WORD) WORD(given)

/* Those of texts (text/string_kernels.c). */
#define TEXT_KERNELS(WORD)                                                                                             \
    WORD(blended)                                                                                                      \
    WORD(gapped)                                                                                                       \
    WORD(hamming)                                                                                                      \
    WORD(mismatch)                                                                                                     \
    WORD(overlap)                                                                                                      \
    WORD(same)                                                                                                         \
    WORD(spectrum)                                                                                                     \
    WORD(subseq)

/* Those of graphs (graph/graph_kernels.c). */
#define GRAPH_KERNELS(WORD)                                                                                            \
    WORD(paths)                                                                                                        \
    WORD(wl)

#define DECLARE(name) extern const gram_kernel_type gram_kernel_##name;
KERNELS(DECLARE)
TEXT_KERNELS(DECLARE)
GIVEN_KERNELS(DECLARE)
GRAPH_KERNELS(DECLARE)
DECLARE(path_signature) /* of series (series/signature_kernel.c) */

#define ENTRY(name) &gram_kernel_##name,
static const gram_kernel_type *const TABLE[] = {KERNELS(ENTRY) TEXT_KERNELS(ENTRY) GIVEN_KERNELS(ENTRY)
                                                    GRAPH_KERNELS(ENTRY) ENTRY(path_signature)};

const gram_kernel_type *gram_kernel_type_get(int index)
{
    return index >= 0 && (size_t)index < sizeof TABLE / sizeof *TABLE ? TABLE[index] : NULL;
}

const gram_kernel_type *gram_kernel_type_find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++)
        if (strlen(TABLE[i]->name) == length && memcmp(TABLE[i]->name, name, length) == 0) return TABLE[i];
    return NULL;
}
