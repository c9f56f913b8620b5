#include "kernel/kernel_widen.h"

#include <math.h>
#include <string.h>

#include "base/context.h"

static int is_length(const gram_parameter *parameter)
{
    const char *dot = strrchr(parameter->name, '.');
    return dot && strncmp(dot, ".ell", 4) == 0 && !parameter->fixed;
}

gram_status gram_kernel_widen(gram_context *context, const gram_kernel *kernel, double factor, gram_kernel **out)
{
    gram_status status = GRAM_OK;
    const int64_t count = gram_kernel_parameter_count(kernel);
    double *values = NULL;
    int lengths = 0;
    TRY(gram_take(context, "parameters", count, sizeof *values, (void **)&values));
    for (int64_t i = 0; i < count; i++) {
        gram_parameter parameter;
        TRY(gram_kernel_parameter_get(context, kernel, i, &parameter));
        lengths += is_length(&parameter);
        values[i] = is_length(&parameter) ? parameter.value * factor : parameter.value;
        if (is_length(&parameter)) values[i] = fmin(fmax(values[i], parameter.lower), parameter.upper);
    }
    FAIL_IF(lengths == 0, context, GRAM_ERROR_ARGUMENT,
            "the kernel has no length-scale that could take several widths");
    TRY(gram_kernel_with_values(context, kernel, values, out));
done:
    gram_give(context, values);
    return status;
}
