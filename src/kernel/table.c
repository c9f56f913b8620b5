/* The table of kernels: a new kernel is a file and a row here. */
#include <string.h>

#include "kernel.h"

extern const gram_kernel_type gram_kernel_expdot, gram_kernel_imq, gram_kernel_intpow, gram_kernel_laplace,
    gram_kernel_laplace1, gram_kernel_linear, gram_kernel_matern, gram_kernel_min, gram_kernel_monomial,
    gram_kernel_poly, gram_kernel_powexp, gram_kernel_rbf, gram_kernel_rq, gram_kernel_sigmoid, gram_kernel_white;

static const gram_kernel_type *const TABLE[] = {
    &gram_kernel_const,   &gram_kernel_expdot,   &gram_kernel_imq,     &gram_kernel_intpow,
    &gram_kernel_laplace, &gram_kernel_laplace1, &gram_kernel_linear,  &gram_kernel_matern,
    &gram_kernel_min,     &gram_kernel_monomial, &gram_kernel_poly,    &gram_kernel_powexp,
    &gram_kernel_rbf,     &gram_kernel_rq,       &gram_kernel_sigmoid, &gram_kernel_white,
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
