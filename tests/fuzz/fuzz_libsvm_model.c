/* The reader of LIBSVM's model files, and the writer for what it makes. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <gram/gram.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int truth)
{
    if (!truth) abort();
}

typedef struct text {
    char *bytes;
    size_t length;
} text;

static int keep(void *user, const char *bytes, size_t length)
{
    text *t = user;
    char *larger = realloc(t->bytes, t->length + length + 1);
    if (!larger) return 1;
    memcpy(larger + t->length, bytes, length);
    t->bytes = larger;
    t->length += length;
    return 0;
}

static void check_function(const gram_model *model)
{
    const gram_function *f = gram_model_function(model);
    const gram_points *centres = gram_function_centres(f);
    const int64_t n = gram_points_count(centres), d = gram_points_dimension(centres), m = gram_function_outputs(f);
    require(n >= 1 && m >= 1 && d >= 1);
    for (int64_t k = 0; k < n * m; k++) require(isfinite(gram_function_coefficients(f)[k]));
    for (int64_t k = 0; k < n * d; k++) require(isfinite(gram_function_centres_f64(f)[k]));
    for (int64_t o = 0; o < m; o++) require(isfinite(gram_function_constant(f)[o]));
    require(gram_preparation_dimension(gram_model_preparation(model)) == d);
}

/* It can be written unless a number overflows, and what is written can be read; zeros are left out, which may make it look
 * too sparse. */
static void write_back(gram_context *context, const gram_model *model)
{
    text t = {0};
    gram_model *again = NULL;
    gram_status status = gram_model_print_libsvm(context, model, keep, &t);
    require(status == GRAM_OK || status == GRAM_ERROR_NUMERICAL || status == GRAM_ERROR_BUDGET);
    if (status == GRAM_OK) {
        status = gram_model_read_libsvm_memory(context, "again", t.bytes, t.length, &again);
        require(status == GRAM_OK || status == GRAM_ERROR_BUDGET ||
                strstr(gram_context_message(context), "too sparse") != NULL);
    }
    if (again) {
        require(strcmp(gram_model_task(model), gram_model_task(again)) == 0);
        require(gram_function_outputs(gram_model_function(model)) == gram_function_outputs(gram_model_function(again)));
    }
    gram_model_destroy(again);
    free(t.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gram_context *context;
    gram_context_options options;
    gram_model *model = NULL;
    gram_context_options_init(&options, sizeof options);
    options.memory_budget = 16 << 20;
    options.threads = 1;
    if (gram_context_create(&options, &context) != GRAM_OK) return 0;
    const size_t before = gram_context_memory_used(context);
    const gram_status status = gram_model_read_libsvm_memory(context, "m.model", data, size, &model);
    require((status == GRAM_OK) == (model != NULL));
    if (model) {
        check_function(model);
        write_back(context, model);
    } else
        require(status == GRAM_ERROR_BUDGET || ((status == GRAM_ERROR_DATA || status == GRAM_ERROR_UNSUPPORTED) &&
                                                strncmp(gram_context_message(context), "m.model:", 8) == 0));
    gram_model_destroy(model);
    require(gram_context_memory_used(context) == before);
    gram_context_destroy(context);
    return 0;
}
