/* One kernel at many widths, for tests that look at all of them. */
#ifndef GRAM_KERNEL_KERNEL_WIDEN_H
#define GRAM_KERNEL_KERNEL_WIDEN_H

#include <gram/kernel.h>

/* The kernel with its free length-scales times a factor, within their bounds; the caller releases it. GRAM_ERROR_ARGUMENT: it has none. */
gram_status gram_kernel_widen(gram_context *context, const gram_kernel *kernel, double factor, gram_kernel **out);

#endif
