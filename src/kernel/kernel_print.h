/* Kernels in captions. */
#ifndef GRAM_KERNEL_KERNEL_PRINT_H
#define GRAM_KERNEL_KERNEL_PRINT_H

#include <gram/kernel.h>

/* gram_kernel_print with at most so many significant digits of each number; 0: all of them. */
size_t gram_kernel_print_short(const gram_kernel *kernel, int digits, char *text, size_t size);

#endif
