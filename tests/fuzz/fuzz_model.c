/* The reader of model files. Mutations of the bytes are mostly stopped by a checksum, so each input is read twice: as it
 * is, and with the checksums of its entries made right, so that mutations get past them. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include <gram/gram.h>

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

static void read_once(const uint8_t *data, size_t size)
{
    gram_context *context;
    gram_context_options options;
    gram_model *model = NULL;
    gram_context_options_init(&options, sizeof options);
    options.memory_budget = 16 << 20;
    options.threads = 1;
    if (gram_context_create(&options, &context) != GRAM_OK) return;
    const size_t before = gram_context_memory_used(context);
    const gram_status status = gram_model_read_memory(context, "m.gram", data, size, &model);
    require((status == GRAM_OK) == (model != NULL));
    if (model)
        check_model(context, model);
    else
        require(status == GRAM_ERROR_BUDGET ||
                (status == GRAM_ERROR_DATA && strncmp(gram_context_message(context), "m.gram: ", 8) == 0));
    gram_model_destroy(model);
    require(gram_context_memory_used(context) == before);
    gram_context_destroy(context);
}

static uint32_t get(const uint8_t *bytes, int count)
{
    uint32_t value = 0;
    for (int i = count - 1; i >= 0; i--) value = value << 8 | bytes[i];
    return value;
}

static void put_crc(uint8_t *bytes, uint32_t crc)
{
    for (int i = 0; i < 4; i++) bytes[i] = (uint8_t)(crc >> 8 * i);
}

/* Makes the checksums of local headers right, and those of the directory's records for the same entries. */
static void mend(uint8_t *bytes, size_t size)
{
    uint32_t crcs[64] = {0};
    int count = 0, record = 0;
    for (size_t at = 0; at + 46 <= size;) {
        if (memcmp(bytes + at, "PK\3\4", 4) == 0) {
            const size_t start = at + 30 + get(bytes + at + 26, 2) + get(bytes + at + 28, 2);
            const size_t length = get(bytes + at + 22, 4);
            if (start > size || length > size - start || count == 64) return;
            crcs[count] = (uint32_t)crc32(0, bytes + start, (uInt)length);
            put_crc(bytes + at + 14, crcs[count++]);
            at = start + length;
        } else if (memcmp(bytes + at, "PK\1\2", 4) == 0 && record < count) {
            put_crc(bytes + at + 16, crcs[record++]);
            at += 46 + get(bytes + at + 28, 2) + get(bytes + at + 30, 2);
        } else {
            return;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_once(data, size);
    uint8_t *copy = malloc(size + 1);
    if (!copy) return 0;
    memcpy(copy, data, size);
    mend(copy, size);
    read_once(copy, size);
    free(copy);
    return 0;
}
