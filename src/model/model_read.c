/* Reading models: model.json says what there is, the entries must be just that. An array's header, the shape in
 * model.json and the size of its entry must agree before memory is taken, so a model never takes more than its file
 * justifies; numbers go straight to where they stay, and are believed when the checksum of their entry is right. */
#include <inttypes.h>
#include <string.h>

#include "data/npy_header.h"
#include "function/function.h"
#include "kernel/kernel.h"
#include "model/model_read.h"
#include "points/points.h"

enum { MOST_HEADER = 4096, FUNCTION_ARRAYS = 3 };

/* An array whose header is read and checked; the numbers come next. */
typedef struct open_array {
    gram_archive_cursor cursor;
    int64_t rows, columns;
    size_t item;
} open_array;

/* ---- arrays ---- */

/* Magic, version, length and dictionary of the entry. */
static gram_status read_header(gram_model_reader *reader, open_array *array, gram_npy_shape *shape)
{
    gram_status status = GRAM_OK;
    char text[MOST_HEADER];
    unsigned char prelude[GRAM_NPY_PRELUDE];
    const char *file = reader->archive->name, *entry = array->cursor.entry->name;
    TRY(gram_archive_take(reader->context, &array->cursor, prelude, 10));
    FAIL_IF(memcmp(prelude, "\x93NUMPY", 6) != 0 || prelude[6] < 1 || prelude[6] > 3 || prelude[7] != 0,
            reader->context, GRAM_ERROR_DATA, "%s: %s is not an array", file, entry);
    size_t length = (size_t)gram_little_get(prelude + 8, 2);
    if (prelude[6] > 1) {
        TRY(gram_archive_take(reader->context, &array->cursor, prelude + 10, 2));
        length |= (size_t)gram_little_get(prelude + 10, 2) << 16;
    }
    FAIL_IF(length > sizeof text, reader->context, GRAM_ERROR_DATA, "%s: %s has a header of %zu bytes", file, entry,
            length);
    TRY(gram_archive_take(reader->context, &array->cursor, text, length));
    const char *wrong = gram_npy_parse(text, length, shape);
    FAIL_IF(wrong, reader->context, GRAM_ERROR_DATA, "%s: %s: %s", file, entry, wrong);
done:
    return status;
}

/* The shape is that of model.json, and its numbers are the rest of the entry. */
static gram_status check_shape(gram_model_reader *reader, open_array *array, const gram_npy_shape *shape,
                               const char *type)
{
    gram_status status = GRAM_OK;
    const gram_archive_entry *entry = array->cursor.entry;
    int64_t numbers, bytes;
    FAIL_IF(strcmp(shape->type, type) != 0 || shape->fortran_order || shape->dimensions != 2 ||
                shape->size[0] != array->rows || shape->size[1] != array->columns,
            reader->context, GRAM_ERROR_DATA, "%s: %s is not the array that model.json says", reader->archive->name,
            entry->name);
    array->item = strcmp(type, "<f4") == 0 ? sizeof(float) : sizeof(double);
    FAIL_IF(!gram_size_multiply(array->rows, array->columns, &numbers) ||
                !gram_size_multiply(numbers, (int64_t)array->item, &bytes) || bytes != entry->size - array->cursor.at,
            reader->context, GRAM_ERROR_DATA,
            "%s: %s has %" PRId64 " bytes, which are not %" PRId64 " x %" PRId64 " numbers", reader->archive->name,
            entry->name, entry->size - array->cursor.at, array->rows, array->columns);
done:
    return status;
}

static gram_status start_array(gram_model_reader *reader, const char *name, open_array *array)
{
    gram_status status = GRAM_OK;
    char entry_name[GRAM_ARCHIVE_NAME];
    const char *type = NULL;
    gram_npy_shape shape;
    const json_t *declared = json_object_get(reader->arrays, name);
    if (!json_is_object(declared)) return gram_model_bad_json(reader, "no array '%s'", name);
    TRY(gram_model_want_integer(reader, declared, "rows", 1, &array->rows));
    TRY(gram_model_want_integer(reader, declared, "columns", 1, &array->columns));
    TRY(gram_model_want_text(reader, declared, "dtype", &type));
    if (strcmp(type, "<f8") != 0 && (strcmp(type, "<f4") != 0 || !strstr(name, "centres")))
        return gram_model_bad_json(reader, "array '%s' has an unknown 'dtype'", name);
    (void)strcat(strcpy(entry_name, name), ".npy");
    const gram_archive_entry *entry = gram_archive_find(reader->archive, entry_name);
    FAIL_IF(!entry, reader->context, GRAM_ERROR_DATA, "%s: %s is missing", reader->archive->name, entry_name);
    gram_archive_start(reader->archive, entry, &array->cursor);
    TRY(read_header(reader, array, &shape));
    TRY(check_shape(reader, array, &shape, type));
done:
    return status;
}

static gram_status load_array(gram_model_reader *reader, open_array *array, void *numbers)
{
    gram_status status = GRAM_OK;
    const size_t bytes = (size_t)(array->rows * array->columns) * array->item;
    TRY(gram_archive_take(reader->context, &array->cursor, numbers, bytes));
    TRY(gram_archive_end(reader->context, &array->cursor));
done:
    return status;
}

/* Every array of model.json has an entry of its own; with model.json these are all. */
static gram_status check_entries(const gram_model_reader *reader)
{
    gram_status status = GRAM_OK;
    const char *key;
    json_t *value;
    const int64_t arrays = (int64_t)json_object_size(reader->arrays);
    json_object_foreach((json_t *)reader->arrays, key, value) if (!gram_model_is_name(key)) return gram_model_bad_json(
        reader, "an array's name is not valid");
    FAIL_IF(arrays > GRAM_MODEL_MOST_ARRAYS + 2 * FUNCTION_ARRAYS || arrays + 1 != reader->archive->count,
            reader->context, GRAM_ERROR_DATA, "%s: %" PRId64 " entries, but model.json lists %" PRId64 " arrays",
            reader->archive->name, reader->archive->count, arrays);
done:
    return status;
}

static gram_status read_arrays(gram_model_reader *reader, gram_model *model)
{
    gram_status status = GRAM_OK;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)reader->arrays, key, value)
    {
        open_array array;
        double *data;
        if (gram_model_is_taken(key)) continue;
        TRY(start_array(reader, key, &array));
        TRY(gram_model_add_array(reader->context, model, key, array.rows, array.columns, &data));
        TRY(load_array(reader, &array, data));
    }
done:
    return status;
}

/* ---- the function ---- */

/* It has to be the kernel that was written, as far as a text can tell. */
static gram_status take_given(gram_model_reader *reader, const char *text, gram_kernel **kernel)
{
    gram_string own = {0};
    gram_kernel_append(reader->given, &own);
    const int same = own.data && strcmp(own.data, text) == 0;
    const gram_status status =
        own.failed ? gram_fail(reader->context, GRAM_ERROR_MEMORY, "model_read_part: no memory for the kernel's text")
        : same     ? GRAM_OK
                   : gram_fail(reader->context, GRAM_ERROR_ARGUMENT,
                               "model_read_part: the kernel is %.80s, the model has %.80s", own.data, text);
    if (same) *kernel = gram_kernel_retain(reader->given);
    gram_string_free(&own);
    return status;
}

/* The kernel about the sample that the model has for it. */
static gram_status bind_sample(gram_model_reader *reader, const char *name, gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    open_array array;
    double *numbers = NULL;
    gram_points *borrowed = NULL, *sample = NULL;
    gram_kernel *bound = NULL;
    TRY(start_array(reader, name, &array));
    TRY(gram_take(reader->context, "model: sample", array.rows * array.columns, sizeof *numbers, (void **)&numbers));
    TRY(load_array(reader, &array, numbers));
    TRY(gram_model_blame(
        reader, gram_points_create_f64(reader->context, array.rows, array.columns, numbers, array.columns, &borrowed),
        "its sample"));
    TRY(gram_points_gather(reader->context, borrowed, array.rows, NULL, &sample));
    TRY(gram_kernel_bind(reader->context, *kernel, sample, &bound));
    gram_kernel_release(*kernel);
    *kernel = bound;
done:
    gram_points_release(sample);
    gram_points_release(borrowed);
    gram_give(reader->context, numbers);
    return status;
}

static gram_status read_kernel(gram_model_reader *reader, const json_t *from, int64_t d, gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    const char *text = NULL;
    TRY(gram_model_want_text(reader, from, "kernel", &text));
    if (reader->given && from == reader->root)
        TRY(take_given(reader, text, kernel));
    else
        TRY(gram_model_blame(reader, gram_kernel_parse(reader->context, text, kernel), "its kernel"));
    if (gram_kernel_lacks_sample(*kernel))
        TRY(bind_sample(reader, gram_model_sample_name(from != reader->root), kernel));
    TRY(gram_model_blame(reader, gram_function_check_kernel(reader->context, *kernel, d), "its kernel"));
done:
    return status;
}

static gram_status load_function(gram_model_reader *reader, gram_kernel *kernel, open_array arrays[FUNCTION_ARRAYS],
                                 gram_function **function)
{
    gram_status status = GRAM_OK;
    gram_function *made = NULL;
    const gram_function_room room = {kernel, arrays[0].rows, arrays[0].columns, arrays[1].columns,
                                     arrays[0].item == sizeof(float)};
    TRY(gram_function_make(reader->context, room, &made));
    TRY(load_array(reader, &arrays[0], gram_function_row(made, 0)));
    TRY(load_array(reader, &arrays[1], made->a));
    TRY(load_array(reader, &arrays[2], made->constant));
    TRY(gram_model_blame(reader, gram_function_seal(reader->context, "numbers", GRAM_ERROR_DATA, made),
                         "its function"));
    *function = made;
    made = NULL;
done:
    gram_function_release(made);
    return status;
}

/* Of the tree's root, or of its second view: `names` are those of its arrays. */
static gram_status read_function(gram_model_reader *reader, const json_t *from,
                                 const char *const names[FUNCTION_ARRAYS], gram_function **function)
{
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL;
    open_array arrays[FUNCTION_ARRAYS];
    int64_t outputs = 0;
    TRY(gram_model_want_integer(reader, from, "outputs", 1, &outputs));
    for (int i = 0; i < FUNCTION_ARRAYS; i++) TRY(start_array(reader, names[i], &arrays[i]));
    if (arrays[1].rows != arrays[0].rows || arrays[1].columns != outputs || arrays[2].rows != 1 ||
        arrays[2].columns != outputs) {
        status = gram_model_bad_json(reader, "centres, coefficients, constant and outputs do not fit together");
        goto done;
    }
    TRY(read_kernel(reader, from, arrays[0].columns, &kernel));
    TRY(load_function(reader, kernel, arrays, function));
done:
    gram_kernel_release(kernel);
    return status;
}

/* ---- the whole ---- */

/* A second view is there or not; arrays that say so without it belong to nothing. */
static gram_status read_second(gram_model_reader *reader, gram_model *model)
{
    static const char *const names[] = {"second_centres", "second_coefficients", "second_constant"};
    gram_status status = GRAM_OK;
    gram_preparation *preparation = NULL;
    gram_function *function = NULL;
    const json_t *from = json_object_get(reader->root, "second");
    if (!from) {
        for (int i = 0; i < FUNCTION_ARRAYS; i++)
            if (json_object_get(reader->arrays, names[i]))
                return gram_model_bad_json(reader, "array '%s' without a second view", names[i]);
        return GRAM_OK;
    }
    if (!json_is_object(from)) return gram_model_bad_json(reader, "'second' is not an object");
    TRY(read_function(reader, from, names, &function));
    TRY(gram_model_read_preparation(reader, from, &preparation));
    TRY(gram_model_blame(reader, gram_model_set_second(reader->context, model, preparation, function), "its parts"));
done:
    gram_function_release(function);
    gram_preparation_release(preparation);
    return status;
}

static gram_status read_parts(gram_model_reader *reader, gram_model **model)
{
    gram_status status = GRAM_OK;
    gram_preparation *preparation = NULL;
    gram_function *function = NULL;
    gram_model *made = NULL;
    static const char *const names[] = {"centres", "coefficients", "constant"};
    const char *method = NULL, *task = NULL, *version = NULL;
    TRY(gram_model_parse(reader));
    TRY(check_entries(reader));
    TRY(gram_model_want_text(reader, reader->root, "method", &method));
    TRY(gram_model_want_text(reader, reader->root, "task", &task));
    TRY(gram_model_want_text(reader, reader->root, "gram", &version));
    TRY(read_function(reader, reader->root, names, &function));
    TRY(gram_model_read_preparation(reader, reader->root, &preparation));
    TRY(gram_model_blame(reader, gram_model_make(reader->context, method, task, version, preparation, function, &made),
                         "its parts"));
    TRY(read_second(reader, made));
    TRY(gram_model_read_facts(reader, made));
    TRY(read_arrays(reader, made));
    for (int view = 0; view < 2; view++)
        TRY(gram_model_blame(reader, gram_model_restore_things(reader->context, made, view), "its things"));
    TRY(gram_model_blame(reader, gram_model_restore_functionals(reader->context, made), "its functionals"));
    TRY(gram_model_blame(reader, gram_model_restore_slopes(reader->context, made), "its slopes"));
    *model = made;
    made = NULL;
done:
    gram_model_destroy(made);
    gram_function_release(function);
    gram_preparation_release(preparation);
    return status;
}

static gram_status read_archive(gram_context *context, gram_archive *archive, gram_kernel *given, gram_model **model)
{
    gram_model_reader reader = {.context = context, .archive = archive, .given = given};
    gram_arena_init(&reader.scratch, context->memory);
    const gram_status status = read_parts(&reader, model);
    gram_model_parse_end(&reader);
    gram_arena_release(&reader.scratch);
    gram_archive_close(context, archive);
    return status;
}

gram_status gram_model_read(gram_context *context, const char *path, gram_model **model)
{
    gram_status status = GRAM_OK;
    gram_archive archive;
    if (!context || !model) return GRAM_ERROR_ARGUMENT;
    *model = NULL;
    FAIL_IF(!path, context, GRAM_ERROR_ARGUMENT, "model_read: path is NULL");
    TRY(gram_archive_open(context, path, &archive));
    TRY(read_archive(context, &archive, NULL, model));
done:
    return status;
}

static gram_status from_memory(gram_context *context, const char *who, const char *name, const void *bytes,
                               size_t length, gram_kernel *given, gram_model **model)
{
    gram_status status = GRAM_OK;
    gram_archive archive;
    if (!context || !model) return GRAM_ERROR_ARGUMENT;
    *model = NULL;
    FAIL_IF(!name || (!bytes && length > 0), context, GRAM_ERROR_ARGUMENT, "%s: %s is NULL", who,
            !name ? "name" : "bytes");
    TRY(gram_archive_open_memory(context, name, bytes, length, &archive));
    TRY(read_archive(context, &archive, given, model));
done:
    return status;
}

gram_status gram_model_read_memory(gram_context *context, const char *name, const void *bytes, size_t length,
                                   gram_model **model)
{
    return from_memory(context, "model_read_memory", name, bytes, length, NULL, model);
}

gram_status gram_model_read_part(gram_context *context, const char *name, const void *bytes, size_t length,
                                 gram_kernel *kernel, gram_model **model)
{
    return from_memory(context, "model_read_part", name, bytes, length, kernel, model);
}
