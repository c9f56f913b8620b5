/* Archives that gram did not write: zip64 records, other files, and model.json with one thing wrong at a time. */
#define _DEFAULT_SOURCE
#include <inttypes.h>

#include "data/npy_header.h"
#include "model/archive.h"
#include "model_sample.h"

enum { NUMBERS = 4 };

static const char JSON[] =
    "{\"format\": \"gram-model\", \"version\": 1, \"gram\": \"0.0.9\", \"method\": \"krr\", \"task\": \"regression\", "
    "\"kernel\": \"rbf(ell=0.5)\", \"outputs\": 1, \"preparation\": {\"features\": [{\"name\": \"x\", \"kind\": "
    "\"number\", \"place\": 0, \"mean\": 0, \"deviation\": 1, \"fill\": 0.5}], \"targets\": [], \"weights\": null, "
    "\"missing\": \"error\", \"scaled\": false, \"named\": true}, \"facts\": {\"n\": 4}, \"arrays\": {\"centres\": "
    "{\"rows\": 4, \"columns\": 1, \"dtype\": \"<f8\"}, \"coefficients\": {\"rows\": 4, \"columns\": 1, \"dtype\": "
    "\"<f8\"}, \"constant\": {\"rows\": 1, \"columns\": 1, \"dtype\": \"<f8\"}}}";

static double numbers[NUMBERS] = {1, 2, 3, 4};
static char heads[3][GRAM_NPY_HEADER];

static void set_array(gram_archive_part *part, int which, const char *name, int64_t rows)
{
    *part = (gram_archive_part){.head = heads[which], .data = numbers, .data_size = (size_t)rows * 8};
    (void)strcpy(part->name, name);
    part->head_size = gram_npy_format("<f8", rows, 1, heads[which]);
}

static void set_parts(const char *json, gram_archive_part parts[4])
{
    parts[0] = (gram_archive_part){.name = "model.json", .head = json, .head_size = strlen(json)};
    set_array(&parts[1], 0, "centres.npy", NUMBERS);
    set_array(&parts[2], 1, "coefficients.npy", NUMBERS);
    set_array(&parts[3], 2, "constant.npy", 1);
}

static gram_status read_json(gram_context *context, const char *json, gram_model **model)
{
    gram_archive_part parts[4];
    *model = NULL;
    set_parts(json, parts);
    OK(context, gram_archive_write(context, "m.gram", 4, parts, 0));
    return gram_model_read(context, "m.gram", model);
}

/* JSON with the first `from` replaced. */
static char *replaced(const char *from, const char *to)
{
    const char *at = strstr(JSON, from);
    if (!at) FAIL_TEST("no %s", from);
    char *text = malloc(sizeof JSON + strlen(to));
    assert_non_null(text);
    (void)sprintf(text, "%.*s%s%s", (int)(at - JSON), JSON, to, at + strlen(from));
    return text;
}

static void by_hand(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_model *model = NULL;
    OK(context, read_json(context, JSON, &model));
    assert_string_equal(gram_model_version(model), "0.0.9");
    assert_int_equal(gram_model_find(model, "n").integer, 4);
    assert_true(gram_preparation_describe(gram_model_preparation(model))->features[0].fill == 0.5);
    gram_model_destroy(model);
    char *more = replaced("\"outputs\"", "\"later\": [{\"a\": [1, 2]}], \"outputs\"");
    OK(context, read_json(context, more, &model)); /* keys of later versions are passed over */
    free(more);
    gram_model_destroy(model);
    gram_context_destroy(context);
}

static void wrong_json(void **state)
{
    (void)state;
    const struct {
        const char *from, *to, *part;
    } cases[] = {
        {"gram-model", "other", "not a model of gram"},
        {"\"version\": 1", "\"version\": 2", "version 2 of the model format; gram 1.0.0 reads versions up to 1"},
        {"\"version\": 1", "\"version\": 0", "version"},
        {"\"version\": 1", "\"version\": \"1\"", "version"},
        {"\"method\": \"krr\", ", "", "'method'"},
        {"\"task\": \"regression\"", "\"task\": 3", "'task'"},
        {"rbf(ell=0.5)", "rbf(ell=", "its kernel"},
        {"rbf(ell=0.5)", "nonsense", "its kernel"},
        {"rbf(ell=0.5)", "rbf", "rbf.ell has no value"},
        {"rbf(ell=0.5)", "rbf(ell=[1,2])", "its kernel"},
        {"rbf(ell=0.5)", "<callback x>", "its kernel"},
        {"\"outputs\": 1", "\"outputs\": 2", "do not fit"},
        {"\"outputs\": 1", "\"outputs\": -1", "'outputs'"},
        {"\"outputs\": 1", "\"outputs\": 1e99", "'outputs'"},
        {"\"kind\": \"number\"", "\"kind\": \"time\"", "'kind'"},
        {"\"kind\": \"number\"", "\"kind\": \"text\"", "'levels'"},
        {"\"mean\": 0", "\"mean\": \"0\"", "'mean'"},
        {"\"place\": 0", "\"place\": -3", "'place'"},
        {"\"targets\": []", "\"targets\": {}", "'targets'"},
        {"\"targets\": []", "\"targets\": [3]", "column"},
        {"\"missing\": \"error\"", "\"missing\": \"maybe\"", "'missing'"},
        {"\"scaled\": false", "\"scaled\": 0", "'scaled'"},
        {"\"n\": 4", "\"n\": [4]", "fact"},
        {"\"n\": 4", "\"n\": {\"number\": \"nan\"}", "fact"},
        {"\"n\": 4", "\"n\": 4, \"n\": 5", "model.json: line 1"},
        {"\"n\": 4", "\"n\": 99999999999999999999", "model.json: line 1"},
        {"\"n\": 4", "\"n\": \"\\u0000\"", "model.json: line 1"},
        {"\"n\": 4", "\"n\": \"\xff\"", "model.json: line 1"},
        {"\"n\": 4", "\"n\": \"\\ud800\"", "model.json: line 1"},
        {"\"n\": 4", "\"n\": NaN", "model.json: line 1"},
        {"\"rows\": 4", "\"rows\": 5", "not the array that model.json says"},
        {"\"rows\": 4", "\"rows\": 0", "'rows'"},
        {"<f8", "<f4", "not the array that model.json says"},
        {"<f8", ">f8", "'dtype'"},
        {"\"constant\": {", "\"other\": {", "no array 'constant'"},
        {"\"constant\"", "\"../x\": 1, \"constant\"", "name"},
        {"\"constant\"", "\"more\": {\"rows\": 1, \"columns\": 1, \"dtype\": \"<f8\"}, \"constant\"", "entries"},
        {"{\"format\"", "[[[[[[[[[[[[[[[[[[[[{\"format\"", "nested too deeply"},
        {"}}}", "}}", "model.json: line 1"},
        {"}}}", "}}} x", "model.json: line 1"}};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gram_model *model;
        char *json = replaced(cases[i].from, cases[i].to);
        sample_refused(context, "m.gram: ", read_json(context, json, &model), GRAM_ERROR_DATA, cases[i].part);
        assert_null(model);
        free(json);
    }
    gram_model *model;
    sample_refused(context, "m.gram: ", read_json(context, "", &model), GRAM_ERROR_DATA, "model.json");
    gram_context_destroy(context);
}

static void wrong_arrays(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (int what = 0; what < 7; what++) {
        static const char *const parts_of[] = {"not the array",
                                               "not the array",
                                               "bytes, which are not",
                                               "is not an array",
                                               "is cut off",
                                               "is missing",
                                               "nan"};
        gram_archive_part parts[4];
        gram_model *model = NULL;
        const double bad[NUMBERS] = {1, NAN, 3, 4};
        set_parts(JSON, parts);
        if (what == 0) parts[1].head_size = gram_npy_format("<f4", NUMBERS, 1, heads[0]);
        if (what == 1) parts[1].head_size = gram_npy_format("<f8", NUMBERS / 2, 2, heads[0]);
        if (what == 2) parts[1].data_size -= 8;
        if (what == 3) heads[0][1] = 'X';
        if (what == 4) parts[1].head_size = 8, parts[1].data_size = 0;
        if (what == 5) (void)strcpy(parts[1].name, "centers.npy");
        if (what == 6) parts[1].data = bad;
        OK(context, gram_archive_write(context, "m.gram", 4, parts, 0));
        sample_refused(context, "m.gram: ", gram_model_read(context, "m.gram", &model), GRAM_ERROR_DATA,
                       parts_of[what]);
    }
    gram_context_destroy(context);
}

/* Shapes as large as they can be said must not take memory, nor must values without number. */
static void modest(void **state)
{
    (void)state;
    gram_context *context = TEST_CONTEXT(.memory_budget = 1 << 20);
    gram_archive_part parts[4];
    gram_model *model = NULL;
    char *json = replaced("\"rows\": 4", "\"rows\": 1000000000000");
    set_parts(json, parts);
    parts[1].head_size = gram_npy_format("<f8", 1000000000000, 1, heads[0]);
    OK(context, gram_archive_write(context, "m.gram", 4, parts, 0));
    sample_refused(context, "m.gram: ", gram_model_read(context, "m.gram", &model), GRAM_ERROR_DATA, "which are not");
    free(json);
    enum { MANY = 100000 };
    json = malloc(4 * MANY);
    assert_non_null(json);
    (void)strcpy(json, "[");
    for (int i = 0; i < MANY; i++) (void)memcpy(json + 1 + 3 * i, "{},", 4);
    set_parts(json, parts);
    OK(context, gram_archive_write(context, "m.gram", 4, parts, 0));
    assert_int_equal(gram_model_read(context, "m.gram", &model), GRAM_ERROR_BUDGET);
    assert_true(gram_context_memory_peak(context) <= 1 << 20);
    free(json);
    gram_context_destroy(context);
}

static void foreign(void **state)
{
    (void)state;
    static const char *const files[] = {"\xff\xd8\xff\xe0 JFIF",
                                        "svm_type c_svc\nkernel_type rbf\n",
                                        "PK\x03",
                                        "",
                                        "x,y\n1,2\n",
                                        "\x93NUMPY\x01",
                                        "PK\x05\x06",
                                        "\x7f"
                                        "ELF"};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        gram_model *model = NULL;
        sample_refused(context, "f: ", gram_model_read_memory(context, "f", files[i], strlen(files[i]), &model),
                       GRAM_ERROR_DATA, strlen(files[i]) ? "not a model of gram" : "empty");
    }
    gram_archive_part npz[1]; /* an npz of something else */
    gram_model *model = NULL;
    set_array(&npz[0], 0, "arr_0.npy", NUMBERS);
    OK(context, gram_archive_write(context, "m.npz", 1, npz, 0));
    sample_refused(context, "m.npz: ", gram_model_read(context, "m.npz", &model), GRAM_ERROR_DATA, "no model.json");
    gram_context_destroy(context);
}

/* The same archive with zip64 records everywhere; every byte of them matters or changes nothing. */
static void wide(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_archive_part parts[4];
    gram_model *model = NULL, *narrow = NULL;
    size_t size;
    set_parts(JSON, parts);
    OK(context, gram_archive_write(context, "n.gram", 4, parts, 0));
    OK(context, gram_archive_write(context, "w.gram", 4, parts, 1));
    OK(context, gram_model_read(context, "n.gram", &narrow));
    OK(context, gram_model_read(context, "w.gram", &model));
    assert_true(same_model(model, narrow));
    gram_model_destroy(model);
    unsigned char *bytes = sample_load("w.gram", &size);
    for (size_t at = 0; at < size; at++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[at] ^= (unsigned char)(1 << bit);
            const gram_status status = gram_model_read_memory(context, "w", bytes, size, &model);
            bytes[at] ^= (unsigned char)(1 << bit);
            assert_true(status == GRAM_OK ? same_model(model, narrow) : status == GRAM_ERROR_DATA);
            gram_model_destroy(model);
        }
    for (size_t length = 0; length < size; length++)
        assert_int_equal(gram_model_read_memory(context, "w", bytes, length, &model), GRAM_ERROR_DATA);
    free(bytes);
    gram_model_destroy(narrow);
    gram_context_destroy(context);
}

/* Arrays start at multiples of 64 in the file. */
static void aligned(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (int is_wide = 0; is_wide < 2; is_wide++) {
        gram_archive_part parts[4];
        gram_archive archive;
        set_parts(JSON, parts);
        OK(context, gram_archive_write(context, "m.gram", 4, parts, is_wide));
        OK(context, gram_archive_open(context, "m.gram", &archive));
        assert_int_equal(archive.count, 4);
        for (int64_t i = 0; i < archive.count; i++) assert_int_equal(archive.entries[i].offset % 64, 0);
        gram_archive_close(context, &archive);
    }
    gram_context_destroy(context);
}

/* Two entries of one name, and more entries than there may be. */
static void names(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_archive_part parts[4];
    gram_model *model = NULL;
    set_parts(JSON, parts);
    (void)strcpy(parts[3].name, "centres.npy");
    OK(context, gram_archive_write(context, "m.gram", 4, parts, 0));
    sample_refused(context, "m.gram: ", gram_model_read(context, "m.gram", &model), GRAM_ERROR_DATA, "one name");
    (void)strcpy(parts[3].name, "a/b.npy");
    OK(context, gram_archive_write(context, "m.gram", 4, parts, 0));
    sample_refused(context, "m.gram: ", gram_model_read(context, "m.gram", &model), GRAM_ERROR_DATA, "'a/b.npy'");
    gram_archive_part *many = calloc(GRAM_ARCHIVE_ENTRIES + 1, sizeof *many);
    assert_non_null(many);
    for (int i = 0; i <= GRAM_ARCHIVE_ENTRIES; i++) (void)snprintf(many[i].name, sizeof many[i].name, "e%d", i);
    OK(context, gram_archive_write(context, "m.gram", GRAM_ARCHIVE_ENTRIES + 1, many, 0));
    sample_refused(context, "m.gram: ", gram_model_read(context, "m.gram", &model), GRAM_ERROR_DATA,
                   "too many entries");
    free(many);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(by_hand, sample_set_up, sample_tear_down),
                                       cmocka_unit_test_setup_teardown(wrong_json, sample_set_up, sample_tear_down),
                                       cmocka_unit_test_setup_teardown(wrong_arrays, sample_set_up, sample_tear_down),
                                       cmocka_unit_test_setup_teardown(modest, sample_set_up, sample_tear_down),
                                       cmocka_unit_test_setup_teardown(foreign, sample_set_up, sample_tear_down),
                                       cmocka_unit_test_setup_teardown(wide, sample_set_up, sample_tear_down),
                                       cmocka_unit_test_setup_teardown(aligned, sample_set_up, sample_tear_down),
                                       cmocka_unit_test_setup_teardown(names, sample_set_up, sample_tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
