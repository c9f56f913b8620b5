/* The table of kernels: a new kernel is a file and a row here. */
#include <string.h>

#include "kernel.h"

extern const gram_kernel_type gram_kernel_chi2, gram_kernel_cosine, gram_kernel_intersection, gram_kernel_laplace1,
    gram_kernel_matern, gram_kernel_min, gram_kernel_periodic, gram_kernel_poly, gram_kernel_rbf, gram_kernel_sinc,
    gram_kernel_sobolev, gram_kernel_tanimoto, gram_kernel_white;

static const gram_kernel_type *const TABLE[] = {
    &gram_kernel_chi2,   &gram_kernel_const,   &gram_kernel_cosine,   &gram_kernel_intersection, &gram_kernel_laplace1,
    &gram_kernel_matern, &gram_kernel_min,     &gram_kernel_periodic, &gram_kernel_poly,         &gram_kernel_rbf,
    &gram_kernel_sinc,   &gram_kernel_sobolev, &gram_kernel_tanimoto, &gram_kernel_white,
};

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
