/* Studies as files.
 *
 *     {"format": "gram-study", "version": 1,
 *      "variables": [{"name": "x", "kind": "real", "lower": 0.0, "upper": 10.0}, ...],
 *      "maximize": false, "acquisition": "auto", "noise": null, "kappa": 2.0, "start": 4, "constraints": 0,
 *      "trust_region": -1, "seed": "0", "candidates": [[...], ...],
 *      "trials": [{"x": [...], "state": "done", "origin": "start", "row": 3, "value": 1.5, "constraints": [...]}, ...],
 *      "order": [0, 2, 1]}
 *
 * Categories are numbers of their levels. A trial that runs is written as such: whoever goes on evaluates it again. The whole
 * file is written aside and renamed, which costs O(trials) each time and keeps the file whole whenever the process dies. jansson
 * makes the tree; what it takes is put on the account of the context first, as for models. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/output.h>

#include "base/file_aside.h"
#include "base/system/system_call.h"
#include "base/text/json_writer.h"
#include "study/study_core.h"

enum { VERSION = 1, BYTES_PER_CHARACTER = 200 };
static const int64_t MOST_BYTES = (int64_t)1 << 30;
static const char *const KINDS[] = {"real", "log", "int", "category"};
static const char *const STATES[] = {"queued", "running", "done", "failed"};
static const char *const ORIGINS[] = {"given", "start", "model"};

/* ---- writing ---- */

static void write_variable(gram_json *json, const gram_domain_variable *v)
{
    gram_json_open(json, NULL, '{');
    gram_json_string(json, "name", v->name);
    gram_json_string(json, "kind", KINDS[v->kind]);
    if (v->kind == GRAM_VARIABLE_CATEGORY)
        gram_json_strings(json, "levels", v->level_count, (const char *const *)v->levels);
    else {
        gram_json_number(json, "lower", v->lower);
        gram_json_number(json, "upper", v->upper);
    }
    gram_json_close(json, '{');
}

static void write_trial(gram_json *json, const gram_study *study, int64_t i)
{
    const gram_record *r = study->records + i;
    const int64_t outputs = study->options.constraints;
    gram_json_open(json, NULL, '{');
    gram_json_numbers(json, "x", study->space.count, gram_study_point(study, i), 1);
    gram_json_string(json, "state", STATES[r->state]);
    gram_json_string(json, "origin", ORIGINS[r->origin]);
    if (r->row >= 0) gram_json_integer(json, "row", r->row);
    if (r->state == GRAM_TRIAL_DONE) gram_json_number(json, "value", r->value);
    if (r->state == GRAM_TRIAL_DONE && outputs)
        gram_json_numbers(json, "constraints", outputs, study->constraints + i * outputs, 1);
    gram_json_close(json, '{');
}

static void write_options(gram_json *json, const gram_study_options *o)
{
    char seed[24];
    (void)snprintf(seed, sizeof seed, "%" PRIu64, o->seed);
    gram_json_truth(json, "maximize", o->maximize);
    gram_json_string(json, "acquisition", gram_acquisition_name(o->acquisition));
    gram_json_number(json, "noise", o->noise);
    gram_json_number(json, "kappa", o->kappa);
    gram_json_integer(json, "start", o->start);
    gram_json_integer(json, "constraints", o->constraints);
    gram_json_integer(json, "trust_region", o->trust_region);
    gram_json_string(json, "seed", seed);
}

static void write_all(gram_json *json, const gram_study *study)
{
    gram_json_open(json, NULL, '{');
    gram_json_string(json, "format", "gram-study");
    gram_json_integer(json, "version", VERSION);
    gram_json_open(json, "variables", '[');
    for (int64_t i = 0; i < study->space.count; i++) write_variable(json, study->space.variables + i);
    gram_json_close(json, '[');
    write_options(json, &study->options);
    gram_json_open(json, "candidates", '[');
    for (int64_t i = 0; i < study->options.candidate_count; i++)
        gram_json_numbers(json, NULL, study->space.count, study->candidates + i * study->space.count, 1);
    gram_json_close(json, '[');
    gram_json_open(json, "trials", '[');
    for (int64_t i = 0; i < study->count; i++) write_trial(json, study, i);
    gram_json_close(json, '[');
    gram_json_open(json, "order", '[');
    for (int64_t k = 0; k < study->told; k++) gram_json_integer(json, NULL, study->order[k]);
    gram_json_close(json, '[');
    gram_json_close(json, '{');
}

gram_status gram_study_write(gram_context *context, const gram_study *study, const char *path)
{
    gram_status status = GRAM_OK;
    gram_string text = {0};
    gram_aside *aside = NULL;
    gram_json json = {.text = &text, .exact = 1};
    if (!context || !study || !path) return GRAM_ERROR_ARGUMENT;
    write_all(&json, study);
    gram_string_put(&text, "\n", 1);
    FAIL_IF(text.failed, context, GRAM_ERROR_MEMORY, "study_write: the system has no memory left");
    TRY(gram_aside_create(context, path, &aside));
    TRY(gram_aside_put(context, aside, text.data, text.length));
    TRY(gram_aside_finish(context, aside));
done:
    gram_aside_destroy(aside);
    gram_string_free(&text);
    return status;
}

/* ---- reading ---- */

typedef struct reading {
    gram_context *context;
    const char *path;
    char *text;
    size_t length;
    void *reserved;
    json_t *root;
    int64_t variable_count;
    gram_variable *variables;
    const char **levels; /* of all variables */
    gram_study_options options;
    double *candidates;
    gram_study *study;
} reading;

static gram_status bad(const reading *r, const char *what)
{
    return gram_fail(r->context, GRAM_ERROR_DATA, "%s: this is not a study of gram: %s", r->path, what);
}

#define BAD_IF(condition, what)                                                                                        \
    do {                                                                                                               \
        if (condition) {                                                                                               \
            status = bad(r, what);                                                                                     \
            goto done;                                                                                                 \
        }                                                                                                              \
    } while (0)

static gram_status read_text(reading *r)
{
    gram_status status = GRAM_OK;
    FILE *file = fopen(r->path, "rbe");
    char reason[GRAM_SYSTEM_REASON_SIZE];
    long size = 0;
    FAIL_IF(!file, r->context, GRAM_ERROR_FILE, "%s: cannot be opened: %s", r->path, gram_system_reason(errno, reason));
    FAIL_IF(fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET) != 0, r->context,
            GRAM_ERROR_FILE, "%s: is not a regular file", r->path);
    BAD_IF(size == 0 || size > MOST_BYTES, "it is empty or too large");
    TRY(gram_take(r->context, "study_read", size, 1, (void **)&r->text));
    r->length = fread(r->text, 1, (size_t)size, file);
    FAIL_IF(r->length != (size_t)size, r->context, GRAM_ERROR_FILE, "%s: cannot be read", r->path);
done:
    if (file) (void)fclose(file);
    return status;
}

/* A tree of JSON takes at most so many bytes for each character of its text. */
static gram_status make_tree(reading *r)
{
    gram_status status = GRAM_OK;
    json_error_t error;
    TRY(gram_take(r->context, "study_read", (int64_t)r->length, BYTES_PER_CHARACTER, &r->reserved));
    r->root = json_loadb(r->text, r->length, JSON_REJECT_DUPLICATES, &error);
    FAIL_IF(!r->root, r->context, GRAM_ERROR_DATA, "%s: this is not a study of gram: line %d, column %d is not JSON",
            r->path, error.line, error.column);
    const char *format = json_string_value(json_object_get(r->root, "format"));
    BAD_IF(!format || strcmp(format, "gram-study") != 0, "it does not say so");
    const json_int_t version = json_integer_value(json_object_get(r->root, "version"));
    FAIL_IF(version < 1 || version > VERSION, r->context, GRAM_ERROR_DATA,
            "%s: version %" JSON_INTEGER_FORMAT " of the study format; gram %s reads versions up to %d", r->path,
            version, gram_version(), (int)VERSION);
done:
    return status;
}

static int find_word(const json_t *value, const char *const *words, size_t count, int *out)
{
    const char *text = json_string_value(value);
    for (size_t i = 0; text && i < count; i++)
        if (strcmp(text, words[i]) == 0) {
            *out = (int)i;
            return 1;
        }
    return 0;
}

/* `count` numbers of an array. */
static int get_numbers(const json_t *array, int64_t count, double *out)
{
    if (!json_is_array(array) || json_array_size(array) != (size_t)count) return 0;
    for (int64_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(array, (size_t)i);
        if (!json_is_number(value)) return 0;
        out[i] = json_number_value(value);
    }
    return 1;
}

/* The text as it was before it became JSON: in place, in the tree's copy. */
static const char *plain_text(const json_t *value)
{
    char *text = (char *)(uintptr_t)json_string_value(value);
    if (text) gram_json_decode(text, text);
    return text;
}

static int get_variable(const json_t *given, gram_variable *v, const char **levels, size_t *used)
{
    int kind;
    const json_t *texts = json_object_get(given, "levels");
    if (!find_word(json_object_get(given, "kind"), KINDS, sizeof KINDS / sizeof *KINDS, &kind)) return 0;
    *v = (gram_variable){.name = plain_text(json_object_get(given, "name")),
                         .kind = (gram_variable_kind)kind,
                         .lower = json_number_value(json_object_get(given, "lower")),
                         .upper = json_number_value(json_object_get(given, "upper")),
                         .levels = levels + *used};
    if (kind != GRAM_VARIABLE_CATEGORY) return v->name != NULL;
    for (size_t i = 0; i < json_array_size(texts); i++) levels[(*used)++] = plain_text(json_array_get(texts, i));
    v->level_count = (int64_t)json_array_size(texts);
    return v->name != NULL;
}

static gram_status read_variables(reading *r)
{
    gram_status status = GRAM_OK;
    const json_t *list = json_object_get(r->root, "variables");
    size_t count = 0, used = 0;
    BAD_IF(!json_is_array(list) || json_array_size(list) == 0, "'variables' is missing");
    r->variable_count = (int64_t)json_array_size(list);
    for (size_t i = 0; i < json_array_size(list); i++)
        count += json_array_size(json_object_get(json_array_get(list, i), "levels"));
    TRY(gram_take(r->context, "study_read", r->variable_count, sizeof *r->variables, (void **)&r->variables));
    TRY(gram_take(r->context, "study_read", (int64_t)count + 1, sizeof *r->levels, (void **)&r->levels));
    for (size_t i = 0; i < json_array_size(list); i++)
        BAD_IF(!get_variable(json_array_get(list, i), r->variables + i, r->levels, &used), "a variable is not one");
done:
    return status;
}

static int find_acquisition(const json_t *value, gram_acquisition_kind *out)
{
    const char *text = json_string_value(value), *name;
    for (int kind = 0; text && (name = gram_acquisition_name((gram_acquisition_kind)kind)); kind++)
        if (strcmp(text, name) == 0) {
            *out = (gram_acquisition_kind)kind;
            return 1;
        }
    return 0;
}

static gram_status read_options(reading *r)
{
    gram_status status = GRAM_OK;
    gram_study_options *o = &r->options;
    const json_t *noise = json_object_get(r->root, "noise");
    const char *seed = json_string_value(json_object_get(r->root, "seed"));
    gram_study_options_init(o, sizeof *o);
    BAD_IF(!find_acquisition(json_object_get(r->root, "acquisition"), &o->acquisition) || !seed,
           "an option is missing");
    o->maximize = json_is_true(json_object_get(r->root, "maximize"));
    o->noise = json_is_number(noise) ? json_number_value(noise) : NAN;
    o->kappa = json_number_value(json_object_get(r->root, "kappa"));
    o->start = json_integer_value(json_object_get(r->root, "start"));
    o->constraints = json_integer_value(json_object_get(r->root, "constraints"));
    o->trust_region = (int)json_integer_value(json_object_get(r->root, "trust_region"));
    o->seed = strtoull(seed, NULL, 10);
done:
    return status;
}

static gram_status read_candidates(reading *r)
{
    gram_status status = GRAM_OK;
    const json_t *list = json_object_get(r->root, "candidates");
    const int64_t count = (int64_t)json_array_size(list);
    if (count == 0) return GRAM_OK;
    TRY(gram_take(r->context, "study_read: candidates", count * r->variable_count, sizeof *r->candidates,
                  (void **)&r->candidates));
    for (int64_t i = 0; i < count; i++)
        BAD_IF(!get_numbers(json_array_get(list, (size_t)i), r->variable_count, r->candidates + i * r->variable_count),
               "a candidate is not one");
    r->options.candidate_count = count;
    r->options.candidates = r->candidates;
done:
    return status;
}

static gram_status read_trial(reading *r, const json_t *given, double *x, double *limits)
{
    gram_status status = GRAM_OK;
    gram_study *study = r->study;
    const json_t *row = json_object_get(given, "row");
    int state, origin;
    int64_t trial;
    BAD_IF(!get_numbers(json_object_get(given, "x"), r->variable_count, x) ||
               !find_word(json_object_get(given, "state"), STATES, sizeof STATES / sizeof *STATES, &state) ||
               !find_word(json_object_get(given, "origin"), ORIGINS, sizeof ORIGINS / sizeof *ORIGINS, &origin),
           "a trial is not one");
    TRY(gram_domain_check(r->context, r->path, &study->space, x));
    gram_record record = {(gram_trial_state)state, (gram_origin)origin, row ? json_integer_value(row) : -1, NAN};
    BAD_IF(record.row < -1 || record.row >= study->options.candidate_count, "a trial is of a row that is not there");
    BAD_IF((record.row >= 0) != (study->options.candidate_count > 0), "a trial is of no candidate");
    if (state == GRAM_TRIAL_DONE) {
        record.value = json_number_value(json_object_get(given, "value"));
        BAD_IF(!json_is_number(json_object_get(given, "value")) || !isfinite(record.value), "a value is not a number");
        BAD_IF(study->options.constraints &&
                   !get_numbers(json_object_get(given, "constraints"), study->options.constraints, limits),
               "a trial has not as many constraints as the study");
    }
    TRY(gram_study_push(r->context, study, x, record, &trial));
    if (state == GRAM_TRIAL_DONE && study->options.constraints)
        memcpy(study->constraints + trial * study->options.constraints, limits,
               (size_t)study->options.constraints * sizeof *limits);
done:
    return status;
}

/* Each trial that was told is in it once. */
static gram_status read_order(reading *r)
{
    gram_status status = GRAM_OK;
    gram_study *study = r->study;
    const json_t *list = json_object_get(r->root, "order");
    unsigned char *seen = NULL;
    int64_t told = 0;
    TRY(gram_take(r->context, "study_read", study->count + 1, 1, (void **)&seen));
    memset(seen, 0, (size_t)study->count + 1);
    for (int64_t i = 0; i < study->count; i++) told += study->records[i].state >= GRAM_TRIAL_DONE;
    BAD_IF(!json_is_array(list) || json_array_size(list) != (size_t)told, "'order' does not fit the trials");
    for (int64_t k = 0; k < told; k++) {
        const int64_t trial = json_integer_value(json_array_get(list, (size_t)k));
        BAD_IF(trial < 0 || trial >= study->count || seen[trial] || study->records[trial].state < GRAM_TRIAL_DONE,
               "'order' does not fit the trials");
        seen[trial] = 1;
        study->order[k] = trial;
    }
    study->told = told;
done:
    gram_give(r->context, seen);
    return status;
}

static gram_status read_trials(reading *r)
{
    gram_status status = GRAM_OK;
    const json_t *list = json_object_get(r->root, "trials");
    double *x = NULL;
    BAD_IF(!json_is_array(list), "'trials' is missing");
    TRY(gram_take(r->context, "study_read", r->variable_count + r->study->options.constraints, sizeof *x, (void **)&x));
    for (size_t i = 0; i < json_array_size(list); i++)
        TRY(read_trial(r, json_array_get(list, i), x, x + r->variable_count));
    TRY(read_order(r));
done:
    gram_give(r->context, x);
    return status;
}

/* What study_create finds wrong is a fault of the file here. */
static gram_status make_study(reading *r)
{
    char message[GRAM_MESSAGE_SIZE];
    const gram_status status = gram_study_create(r->context, r->variable_count, r->variables, &r->options, &r->study);
    if (status != GRAM_ERROR_ARGUMENT && status != GRAM_ERROR_UNSUPPORTED) return status;
    memcpy(message, r->context->message, sizeof message);
    return gram_fail(r->context, GRAM_ERROR_DATA, "%s: %.400s", r->path, message);
}

gram_status gram_study_read(gram_context *context, const char *path, gram_study **study)
{
    gram_status status = GRAM_OK;
    reading r = {.context = context, .path = path};
    if (!context || !path || !study) return GRAM_ERROR_ARGUMENT;
    *study = NULL;
    TRY(read_text(&r));
    TRY(make_tree(&r));
    TRY(read_variables(&r));
    TRY(read_options(&r));
    TRY(read_candidates(&r));
    TRY(make_study(&r));
    TRY(read_trials(&r));
    *study = r.study;
    r.study = NULL;
done:
    json_decref(r.root);
    gram_study_destroy(r.study);
    gram_give(context, r.text);
    gram_give(context, r.reserved);
    gram_give(context, r.variables);
    gram_give(context, r.levels);
    gram_give(context, r.candidates);
    return status;
}

/* ---- the same problem ---- */

static int same_variable(const gram_domain_variable *a, const gram_domain_variable *b)
{
    if (strcmp(a->name, b->name) != 0 || a->kind != b->kind || a->lower != b->lower || a->upper != b->upper) return 0;
    for (int64_t i = 0; i < a->level_count; i++)
        if (strcmp(a->levels[i], b->levels[i]) != 0) return 0;
    return 1;
}

gram_status gram_study_check_same(gram_context *context, const gram_study *a, const gram_study *b)
{
    gram_status status = GRAM_OK;
    if (!context || !a || !b) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(a->space.count != b->space.count, context, GRAM_ERROR_DATA,
            "the study is of another problem: it has %lld variables, not %lld", (long long)a->space.count,
            (long long)b->space.count);
    for (int64_t i = 0; i < a->space.count; i++)
        FAIL_IF(!same_variable(a->space.variables + i, b->space.variables + i), context, GRAM_ERROR_DATA,
                "the study is of another problem: its variable %lld, '%s', is not the same", (long long)i + 1,
                a->space.variables[i].name);
    FAIL_IF(a->options.maximize != b->options.maximize, context, GRAM_ERROR_DATA,
            "the study is of another problem: it %s", a->options.maximize ? "maximises" : "minimises");
    FAIL_IF(a->options.constraints != b->options.constraints, context, GRAM_ERROR_DATA,
            "the study is of another problem: it has %lld constraints", (long long)a->options.constraints);
    FAIL_IF(a->options.candidate_count != b->options.candidate_count ||
                (a->options.candidate_count &&
                 memcmp(a->candidates, b->candidates,
                        (size_t)(a->options.candidate_count * a->space.count) * sizeof(double)) != 0),
            context, GRAM_ERROR_DATA, "the study is of another problem: its candidates are not the same");
done:
    return status;
}
