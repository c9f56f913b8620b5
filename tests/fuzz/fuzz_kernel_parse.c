/* Any text: it is read or refused with a message. What is read prints, reads back equal, and answers every question. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <gram/words.h>

#include "require.h"

static gram_context *context;

static void check_round_trip(const gram_kernel *kernel)
{
    gram_kernel *again = NULL;
    const size_t length = gram_kernel_print(kernel, NULL, 0);
    char *text = malloc(length + 1);
    require(text != NULL);
    require(gram_kernel_print(kernel, text, length + 1) == length);
    require(strlen(text) == length);
    /* a few characters may stand for many: 1e99 prints as 1e+99 */
    const gram_status status = gram_kernel_parse(context, text, &again);
    require(status == GRAM_OK || length > 1 << 20);
    if (again) require(gram_kernel_equal(kernel, again));
    gram_kernel_release(again);
    free(text);
}

static void check_parameters(const gram_kernel *kernel)
{
    enum { MOST = 64 };
    double values[MOST];
    gram_kernel *changed = NULL;
    const int64_t count = gram_kernel_parameter_count(kernel);
    gram_parameter parameter;
    for (int64_t i = 0; i < count && i < MOST; i++) {
        require(gram_kernel_parameter_get(context, kernel, i, &parameter) == GRAM_OK);
        require(parameter.set ? parameter.value >= parameter.lower && parameter.value <= parameter.upper
                              : parameter.value != parameter.value);
        values[i] = parameter.value;
    }
    if (count > MOST) return;
    /* a covariance near the edge of positive definiteness may fall over it */
    const gram_status status = gram_kernel_with_values(context, kernel, values, &changed);
    require(status == GRAM_OK || status == GRAM_ERROR_ARGUMENT);
    require((status == GRAM_OK) == (changed != NULL));
    if (changed) require(gram_kernel_parameter_count(changed) == count);
    gram_kernel_release(changed);
}

static void check_facts(const gram_kernel *kernel)
{
    static const int64_t DIMENSIONS[] = {1, 2, 3, 5, 5000};
    gram_properties facts;
    for (size_t i = 0; i < sizeof DIMENSIONS / sizeof *DIMENSIONS; i++) {
        const gram_status fits = gram_kernel_check_dimension(context, kernel, DIMENSIONS[i]);
        require(gram_kernel_properties(context, kernel, DIMENSIONS[i], &facts) == fits);
        if (fits == GRAM_OK) require(facts.rank >= -1 && facts.derivatives >= -1);
    }
}

/* The least dimension fits and the one below does not; what other tools call the kernel is as long as it says. */
static void check_words(const gram_kernel *kernel)
{
    int64_t d;
    const gram_status status = gram_kernel_least_dimension(context, kernel, &d);
    require(status == GRAM_OK || status == GRAM_ERROR_DIMENSION);
    if (status != GRAM_OK) return;
    require(gram_kernel_check_dimension(context, kernel, d) == GRAM_OK);
    if (d > 1) require(gram_kernel_check_dimension(context, kernel, d - 1) == GRAM_ERROR_DIMENSION);
    for (int tool = 0; tool < GRAM_TOOL_COUNT; tool++) {
        size_t length, again;
        require(gram_kernel_words(context, kernel, d, (gram_tool)tool, NULL, 0, &length) == GRAM_OK);
        char *text = malloc(length + 1);
        require(text != NULL);
        require(gram_kernel_words(context, kernel, d, (gram_tool)tool, text, length + 1, &again) == GRAM_OK);
        require(again == length && strlen(text) == length && !strchr(text, '!'));
        free(text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gram_kernel *kernel = NULL;
    if (!context) require(gram_context_create(NULL, &context) == GRAM_OK);
    const size_t before = gram_context_memory_used(context);
    char *text = malloc(size + 1);
    require(text != NULL);
    if (size > 0) memcpy(text, data, size);
    text[size] = 0;
    const gram_status status = gram_kernel_parse(context, text, &kernel);
    require((status == GRAM_OK) == (kernel != NULL));
    require(status == GRAM_OK || status == GRAM_ERROR_SYNTAX || status == GRAM_ERROR_ARGUMENT);
    if (status < 0) require(strncmp(gram_context_message(context), "kernel: ", 8) == 0);
    if (kernel) {
        check_round_trip(kernel);
        check_parameters(kernel);
        check_facts(kernel);
        check_words(kernel);
    }
    gram_kernel_release(kernel);
    require(gram_context_memory_used(context) == before);
    free(text);
    return 0;
}
