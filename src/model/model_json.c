/* Reading model.json. jansson makes the tree; what it allocates cannot be counted, so before it starts the text is scanned
 * for its number of values and its depth, and the most that a tree of that many values can take is put on the account of
 * the context: taken, but never touched. Keys that are not known are passed over, see docs/model-file.md. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text/json_writer.h"
#include "data/byte_source.h"
#include "model/model_read.h"

/* Measured with jansson 2.14, 64 bits, for texts of 50,000 values of one kind: an empty object, the dearest, takes 235 bytes
 * (and counts as two values), and what is reserved was 1.5 to 17 times what the tree took, buffers included. */
enum { BYTES_PER_VALUE = 256, BYTES_PER_CHARACTER = 3 };

gram_status gram_model_bad_json(const gram_model_reader *reader, const char *format, ...)
{
    char what[GRAM_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return gram_fail(reader->context, GRAM_ERROR_DATA, "%s: model.json: %s", reader->archive->name, what);
}

gram_status gram_model_blame(const gram_model_reader *reader, gram_status status, const char *what)
{
    char message[GRAM_MESSAGE_SIZE];
    if (status >= 0 || status == GRAM_ERROR_MEMORY || status == GRAM_ERROR_BUDGET || status == GRAM_ERROR_CANCELLED ||
        status == GRAM_ERROR_INTERNAL)
        return status;
    memcpy(message, gram_context_message(reader->context), sizeof message);
    return gram_fail(reader->context, GRAM_ERROR_DATA, "%s: %s: %s", reader->archive->name, what, message);
}

/* ---- the tree ---- */

/* Values (at most) and depth of a text, whether or not it is JSON. */
static void scan(const char *text, size_t length, int64_t *values, int *depth)
{
    int in_string = 0, level = 0;
    *values = 1;
    *depth = 0;
    for (size_t i = 0; i < length; i++) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\') i++;
            in_string = c != '"';
            continue;
        }
        in_string = c == '"';
        *values += c == ',' || c == ':' || c == '{' || c == '[';
        if (c == '{' || c == '[') level++;
        if ((c == '}' || c == ']') && level > 0) level--;
        if (level > *depth) *depth = level;
    }
}

static gram_status make_tree(gram_model_reader *reader, const char *text, size_t length)
{
    gram_status status = GRAM_OK;
    json_error_t error;
    int64_t values;
    int depth;
    char excerpt[GRAM_EXCERPT_SIZE];
    scan(text, length, &values, &depth);
    if (depth > GRAM_MODEL_MOST_DEPTH) return gram_model_bad_json(reader, "nested too deeply");
    const int64_t bytes = values * BYTES_PER_VALUE + (int64_t)length * BYTES_PER_CHARACTER;
    TRY(gram_take(reader->context, "model_read: model.json", bytes, 1, &reader->reserved));
    reader->root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (reader->root) goto done;
    FAIL_IF(json_error_code(&error) == json_error_out_of_memory, reader->context, GRAM_ERROR_MEMORY,
            "model_read: model.json: the system has no memory left");
    status = gram_model_bad_json(reader, "line %d, column %d: %s", error.line, error.column,
                                 gram_data_excerpt(error.text, strlen(error.text), excerpt));
done:
    return status;
}

static gram_status check_format(gram_model_reader *reader)
{
    gram_status status = GRAM_OK;
    const char *format = json_string_value(json_object_get(reader->root, "format"));
    const json_t *version = json_object_get(reader->root, "version");
    FAIL_IF(!format || strcmp(format, "gram-model") != 0, reader->context, GRAM_ERROR_DATA,
            "%s: this is not a model of gram: its model.json does not say so", reader->archive->name);
    if (!json_is_integer(version) || json_integer_value(version) < 1)
        return gram_model_bad_json(reader, "'version' is not a version");
    FAIL_IF(json_integer_value(version) > GRAM_MODEL_VERSION, reader->context, GRAM_ERROR_DATA,
            "%s: version %" JSON_INTEGER_FORMAT " of the model format; gram %s reads versions up to %d",
            reader->archive->name, json_integer_value(version), gram_version(), (int)GRAM_MODEL_VERSION);
    reader->arrays = json_object_get(reader->root, "arrays");
    if (!json_is_object(reader->arrays)) return gram_model_bad_json(reader, "'arrays' is missing");
done:
    return status;
}

gram_status gram_model_parse(gram_model_reader *reader)
{
    gram_status status = GRAM_OK;
    char *text = NULL;
    gram_archive_cursor cursor;
    const gram_archive_entry *entry = gram_archive_find(reader->archive, "model.json");
    FAIL_IF(!entry, reader->context, GRAM_ERROR_DATA, "%s: this is not a model of gram: it has no model.json",
            reader->archive->name);
    if (entry->size > GRAM_MODEL_MOST_JSON)
        return gram_model_bad_json(reader, "%" PRId64 " bytes are too many", entry->size);
    TRY(gram_take(reader->context, "model_read: model.json", entry->size, 1, (void **)&text));
    gram_archive_start(reader->archive, entry, &cursor);
    TRY(gram_archive_take(reader->context, &cursor, text, (size_t)entry->size));
    TRY(gram_archive_end(reader->context, &cursor));
    TRY(make_tree(reader, text ? text : "", (size_t)entry->size));
    TRY(check_format(reader));
done:
    gram_give(reader->context, text);
    return status;
}

void gram_model_parse_end(gram_model_reader *reader)
{
    json_decref(reader->root);
    reader->root = NULL;
    gram_give(reader->context, reader->reserved);
    reader->reserved = NULL;
}

/* ---- values ---- */

static gram_status keep_text(gram_model_reader *reader, const char *value, const char **text)
{
    gram_status status = GRAM_OK;
    char *copy;
    TRY(gram_arena_take(reader->context, &reader->scratch, "model_read: texts", (int64_t)strlen(value) + 1, 1,
                        (void **)&copy));
    gram_json_decode(value, copy);
    *text = copy;
done:
    return status;
}

gram_status gram_model_want_text(gram_model_reader *reader, const json_t *object, const char *key, const char **text)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value)) return gram_model_bad_json(reader, "'%s' is not a text", key);
    return keep_text(reader, json_string_value(value), text);
}

gram_status gram_model_want_number(const gram_model_reader *reader, const json_t *object, const char *key,
                                   double *number)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value) && !json_is_null(value)) return gram_model_bad_json(reader, "'%s' is not a number", key);
    *number = json_is_null(value) ? NAN : json_number_value(value);
    return GRAM_OK;
}

gram_status gram_model_want_integer(const gram_model_reader *reader, const json_t *object, const char *key,
                                    int64_t least, int64_t *integer)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value) || json_integer_value(value) < least)
        return gram_model_bad_json(reader, "'%s' is not a count", key);
    *integer = json_integer_value(value);
    return GRAM_OK;
}

static gram_status want_truth(const gram_model_reader *reader, const json_t *object, const char *key, int *truth)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_boolean(value)) return gram_model_bad_json(reader, "'%s' is neither true nor false", key);
    *truth = json_is_true(value);
    return GRAM_OK;
}

/* ---- the preparation ---- */

static gram_status read_levels(gram_model_reader *reader, const json_t *object, gram_column *column)
{
    gram_status status = GRAM_OK;
    const json_t *list = json_object_get(object, "levels");
    const char **levels;
    if (!json_is_array(list)) return gram_model_bad_json(reader, "'levels' of a text column is not a list");
    column->level_count = (int64_t)json_array_size(list);
    TRY(gram_arena_take(reader->context, &reader->scratch, "model_read: levels", column->level_count, sizeof *levels,
                        (void **)&levels));
    for (int64_t i = 0; i < column->level_count; i++) {
        const char *level = json_string_value(json_array_get(list, (size_t)i));
        if (!level) return gram_model_bad_json(reader, "a level is not a text");
        TRY(keep_text(reader, level, &levels[i]));
    }
    column->levels = levels;
done:
    return status;
}

/* Columns of sparse rows, and what they are divided by. */
static gram_status read_width(gram_model_reader *reader, const json_t *object, gram_column *column)
{
    gram_status status = GRAM_OK;
    double *made;
    const json_t *list = json_object_get(object, "deviations");
    TRY(gram_model_want_integer(reader, object, "width", 1, &column->width));
    if (!list) return status;
    if (!json_is_array(list) || (int64_t)json_array_size(list) != column->width)
        return gram_model_bad_json(reader, "'deviations' do not fit the 'width'");
    TRY(gram_arena_take(reader->context, &reader->scratch, "model_read: columns", column->width, sizeof *made,
                        (void **)&made));
    for (int64_t l = 0; l < column->width; l++) made[l] = json_number_value(json_array_get(list, (size_t)l));
    column->deviations = made;
done:
    return status;
}

static gram_status read_column(gram_model_reader *reader, const json_t *object, gram_column *column)
{
    gram_status status = GRAM_OK;
    const char *kind = NULL;
    if (!json_is_object(object)) return gram_model_bad_json(reader, "a column is not an object");
    TRY(gram_model_want_text(reader, object, "name", &column->name));
    TRY(gram_model_want_text(reader, object, "kind", &kind));
    TRY(gram_model_want_integer(reader, object, "place", 0, &column->place));
    TRY(gram_model_want_number(reader, object, "mean", &column->mean));
    TRY(gram_model_want_number(reader, object, "deviation", &column->deviation));
    TRY(gram_model_want_number(reader, object, "fill", &column->fill));
    if (json_object_get(object, "log_size")) {
        TRY(gram_model_want_number(reader, object, "log_centre", &column->log_centre));
        TRY(gram_model_want_number(reader, object, "log_size", &column->log_size));
    }
    column->text = strcmp(kind, "text") == 0;
    column->date = strcmp(kind, "date") == 0;
    column->kind = strcmp(kind, "sparse") == 0  ? GRAM_COLUMN_SPARSE
                   : strcmp(kind, "texts") == 0 ? GRAM_COLUMN_TEXTS
                   : strcmp(kind, "given") == 0 ? GRAM_COLUMN_GIVEN
                                                : GRAM_COLUMN_PLAIN;
    if (!column->text && !column->date && !column->kind && strcmp(kind, "number") != 0)
        return gram_model_bad_json(reader, "'kind' is none of number, date, text, texts, sparse and given");
    if (column->kind == GRAM_COLUMN_SPARSE || column->kind == GRAM_COLUMN_GIVEN)
        TRY(read_width(reader, object, column));
    if (column->text) TRY(read_levels(reader, object, column));
done:
    return status;
}

static gram_status read_columns(gram_model_reader *reader, const json_t *list, const char *what, int64_t *count,
                                const gram_column **columns)
{
    gram_status status = GRAM_OK;
    gram_column *made;
    if (!json_is_array(list)) return gram_model_bad_json(reader, "'%s' is not a list", what);
    *count = (int64_t)json_array_size(list);
    TRY(gram_arena_take(reader->context, &reader->scratch, "model_read: columns", *count, sizeof *made,
                        (void **)&made));
    for (int64_t i = 0; i < *count; i++) TRY(read_column(reader, json_array_get(list, (size_t)i), &made[i]));
    *columns = made;
done:
    return status;
}

static gram_status read_weights(gram_model_reader *reader, const json_t *object, const gram_column **weights)
{
    gram_status status = GRAM_OK;
    gram_column *made;
    *weights = NULL;
    if (json_is_null(object)) return GRAM_OK;
    TRY(gram_arena_take(reader->context, &reader->scratch, "model_read: columns", 1, sizeof *made, (void **)&made));
    TRY(read_column(reader, object, made));
    *weights = made;
done:
    return status;
}

static gram_status read_missing(gram_model_reader *reader, const json_t *object, gram_missing *missing)
{
    gram_status status = GRAM_OK;
    const char *word = NULL;
    TRY(gram_model_want_text(reader, object, "missing", &word));
    if (strcmp(word, "error") == 0)
        *missing = GRAM_MISSING_ERROR;
    else if (strcmp(word, "drop") == 0)
        *missing = GRAM_MISSING_DROP;
    else if (strcmp(word, "mean") == 0)
        *missing = GRAM_MISSING_MEAN;
    else
        status = gram_model_bad_json(reader, "'missing' is not one of error, drop, mean");
done:
    return status;
}

gram_status gram_model_read_preparation(gram_model_reader *reader, const json_t *from, gram_preparation **preparation)
{
    gram_status status = GRAM_OK;
    gram_preparation_description d;
    const json_t *object = json_object_get(from, "preparation");
    memset(&d, 0, sizeof d);
    *preparation = NULL;
    if (json_is_null(object)) return GRAM_OK;
    if (!json_is_object(object)) return gram_model_bad_json(reader, "'preparation' is missing");
    TRY(read_columns(reader, json_object_get(object, "features"), "features", &d.feature_count, &d.features));
    TRY(read_columns(reader, json_object_get(object, "targets"), "targets", &d.target_count, &d.targets));
    TRY(read_weights(reader, json_object_get(object, "weights"), &d.weights));
    TRY(read_missing(reader, object, &d.missing));
    TRY(want_truth(reader, object, "scaled", &d.scaled));
    TRY(want_truth(reader, object, "named", &d.named));
    if (json_object_get(object, "missing_texts"))
        TRY(gram_model_want_text(reader, object, "missing_texts", &d.missing_texts));
    if (json_object_get(object, "bag")) TRY(read_weights(reader, json_object_get(object, "bag"), &d.bag));
    if (json_object_get(object, "bag_weights"))
        TRY(read_weights(reader, json_object_get(object, "bag_weights"), &d.bag_weights));
    TRY(gram_model_blame(reader, gram_preparation_create(reader->context, &d, preparation), "its preparation"));
done:
    return status;
}

/* ---- facts ---- */

/* {"number": "inf"} */
static gram_status read_infinite(gram_model_reader *reader, gram_model *model, const char *name, const json_t *object)
{
    const char *text = json_string_value(json_object_get(object, "number"));
    if (!text || (strcmp(text, "inf") != 0 && strcmp(text, "-inf") != 0))
        return gram_model_bad_json(reader, "a fact is neither number nor text");
    return gram_model_set_number(reader->context, model, name, text[0] == '-' ? -INFINITY : INFINITY);
}

static gram_status read_fact(gram_model_reader *reader, gram_model *model, const char *key, const json_t *value)
{
    gram_status status = GRAM_OK;
    const char *name, *text;
    TRY(keep_text(reader, key, &name));
    if (json_is_string(value)) {
        TRY(keep_text(reader, json_string_value(value), &text));
        TRY(gram_model_set_text(reader->context, model, name, text));
    } else if (json_is_integer(value)) {
        TRY(gram_model_set_integer(reader->context, model, name, json_integer_value(value)));
    } else if (json_is_real(value) || json_is_null(value)) {
        TRY(gram_model_set_number(reader->context, model, name, json_is_null(value) ? NAN : json_real_value(value)));
    } else {
        TRY(read_infinite(reader, model, name, value));
    }
done:
    return status;
}

gram_status gram_model_read_facts(gram_model_reader *reader, gram_model *model)
{
    gram_status status = GRAM_OK;
    json_t *facts = json_object_get(reader->root, "facts"), *value;
    const char *key;
    if (!json_is_object(facts)) return gram_model_bad_json(reader, "'facts' is missing");
    if (json_object_size(facts) > GRAM_MODEL_MOST_FACTS) return gram_model_bad_json(reader, "too many facts");
    json_object_foreach(facts, key, value) TRY(read_fact(reader, model, key, value));
done:
    return status;
}
