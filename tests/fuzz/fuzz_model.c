/* The reader of model files, from a file and from memory, and the writer for what it makes. Each input is read as it is
 * and, if it has entries, packed anew, so that mutations get past the checksums. */
#define _GNU_SOURCE
#include "archive_input.h"
#include "temporary_file.h"

#include <math.h>

#include <gram/gram.h>

enum { BUDGET = 16 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int truth)
{
    if (!truth) abort();
}

static void check_model(gram_context *context, const gram_model *model)
{
    const gram_function *f = gram_model_function(model);
    const gram_points *centres = gram_function_centres(f);
    const int64_t n = gram_points_count(centres), m = gram_function_outputs(f);
    require(n >= 1 && m >= 1 && gram_points_dimension(centres) >= 1);
    for (int64_t k = 0; k < n * m; k++) require(isfinite(gram_function_coefficients(f)[k]));
    require(gram_model_method(model) && gram_model_task(model) && gram_model_version(model));
    for (int64_t i = 0; i < gram_model_fact_count(model); i++) {
        const gram_fact fact = gram_model_fact(model, i);
        require(fact.name && strcmp(gram_model_find(model, fact.name).name, fact.name) == 0);
    }
    if (n * m > 4096) return;
    double *out = malloc((size_t)(n * m) * sizeof *out);
    if (out) (void)gram_function_evaluate(context, f, centres, out, m); /* may be outside of the kernel's domain */
    free(out);
}

/* A file is read as memory is. */
static void read_file(const uint8_t *data, size_t size, gram_status status)
{
    gram_context *other;
    gram_context_options options;
    gram_model *model = NULL;
    gram_context_options_init(&options, sizeof options);
    options.memory_budget = BUDGET;
    options.threads = 1;
    require(gram_context_create(&options, &other) == GRAM_OK);
    const gram_status found = gram_model_read(other, temporary_file(data, size), &model);
    require(found == status || found == GRAM_ERROR_BUDGET || status == GRAM_ERROR_BUDGET);
    gram_model_destroy(model);
    gram_context_destroy(other);
}

/* What was read can be written, and the file says the same. */
static void write_back(gram_context *context, const gram_model *model)
{
    char path[TEMPORARY_PATH];
    gram_model *again = NULL;
    (void)snprintf(path, sizeof path, "/dev/shm/fuzz_model.%ld", (long)getpid());
    gram_status status = gram_model_write(context, model, path);
    require(status == GRAM_OK || status == GRAM_ERROR_BUDGET);
    if (status == GRAM_OK) {
        status = gram_model_read(context, path, &again);
        require(status == GRAM_OK || status == GRAM_ERROR_BUDGET);
        require(unlink(path) == 0);
    }
    if (again) {
        require(strcmp(gram_model_method(model), gram_model_method(again)) == 0);
        require(gram_model_fact_count(model) == gram_model_fact_count(again));
        require(gram_kernel_equal(gram_function_kernel(gram_model_function(model)),
                                  gram_function_kernel(gram_model_function(again))));
    }
    gram_model_destroy(again);
}

static void read_once(const uint8_t *data, size_t size)
{
    gram_context *context;
    gram_context_options options;
    gram_model *model = NULL;
    gram_context_options_init(&options, sizeof options);
    options.memory_budget = BUDGET;
    options.threads = 1;
    if (gram_context_create(&options, &context) != GRAM_OK) return;
    const size_t before = gram_context_memory_used(context);
    const gram_status status = gram_model_read_memory(context, "m.gram", data, size, &model);
    require((status == GRAM_OK) == (model != NULL));
    read_file(data, size, status);
    if (model) {
        check_model(context, model);
        write_back(context, model);
    } else
        require(status == GRAM_ERROR_BUDGET ||
                (status == GRAM_ERROR_DATA && strncmp(gram_context_message(context), "m.gram: ", 8) == 0));
    gram_model_destroy(model);
    require(gram_context_memory_used(context) == before);
    gram_context_destroy(context);
}

/* Mutations that did not come from the archive's own mutator. */
static void read_mended(const uint8_t *data, size_t size)
{
    packed_entry entries[PACK_ENTRIES];
    const int count = unpack(data, size, entries);
    if (count == 0) return;
    uint8_t *whole = malloc(packed_size(entries, count));
    require(whole != NULL);
    pack(entries, count, whole);
    read_once(whole, packed_size(entries, count));
    free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_once(data, size);
    read_mended(data, size);
    return 0;
}
