/* Variables, points and values as text, and variables from the columns of a table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gram/table.h>
#include <gram/text.h>

#include "base/text/number.h"
#include "study/study_core.h"

struct gram_variables {
    gram_memory *memory;
    gram_arena arena;
    int64_t count, rows;
    gram_variable *list;
    double *candidates;
    gram_table *table; /* its own, or NULL */
};

static gram_status begin(gram_context *context, int64_t count, gram_variables **out)
{
    gram_status status = GRAM_OK;
    gram_variables *made = NULL;
    TRY(gram_take(context, "variables", 1, sizeof *made, (void **)&made));
    *made = (gram_variables){.memory = gram_memory_retain(context->memory), .count = count};
    gram_arena_init(&made->arena, made->memory);
    *out = made;
    TRY(gram_arena_take(context, &made->arena, "variables", count, sizeof *made->list, (void **)&made->list));
done:
    return status;
}

void gram_variables_destroy(gram_variables *variables)
{
    if (!variables) return;
    gram_memory *memory = variables->memory;
    gram_table_destroy(variables->table);
    gram_arena_release(&variables->arena);
    gram_memory_give(memory, variables);
    gram_memory_release(memory);
}

const gram_variable *gram_variables_list(const gram_variables *variables, int64_t *count)
{
    *count = variables->count;
    return variables->list;
}

const double *gram_variables_candidates(const gram_variables *variables, int64_t *rows)
{
    *rows = variables->rows;
    return variables->candidates;
}

/* ---- from text ---- */

/* The number up to `end`, all of it. */
static int whole_number(const char *text, const char *end, double *value)
{
    const size_t length = (size_t)(end - text);
    return length > 0 && gram_number_read(text, length, value) == length;
}

/* LOWER:UPPER, LOWER:UPPER:log, LOWER:UPPER:int */
static int parse_range(const char *text, gram_variable *v)
{
    const char *colon = strchr(text, ':');
    if (!colon) return 0;
    const char *end = strchr(colon + 1, ':');
    const char *word = end ? end + 1 : "";
    if (end && strcmp(word, "log") != 0 && strcmp(word, "int") != 0) return 0;
    if (!end) end = colon + strlen(colon);
    v->kind = *word == 'l' ? GRAM_VARIABLE_LOG : *word == 'i' ? GRAM_VARIABLE_INTEGER : GRAM_VARIABLE_REAL;
    return whole_number(text, colon, &v->lower) && whole_number(colon + 1, end, &v->upper);
}

/* LEVEL,LEVEL,...: the text is cut at its commas. */
static gram_status parse_levels(gram_context *context, gram_variables *all, char *text, gram_variable *v)
{
    gram_status status = GRAM_OK;
    const char **levels;
    int64_t count = 1;
    for (const char *at = text; *at; at++) count += *at == ',';
    TRY(gram_arena_take(context, &all->arena, "variables: levels", count, sizeof *levels, (void **)&levels));
    for (int64_t i = 0; i < count; i++) {
        levels[i] = text;
        text += strcspn(text, ",");
        *text++ = '\0';
    }
    v->kind = GRAM_VARIABLE_CATEGORY;
    v->level_count = count;
    v->levels = levels;
done:
    return status;
}

/* What was said in the place of log or int, and is near one of them; NULL if nothing is. */
static const char *nearest_scale(const char *text, char found[GRAM_WORD_SIZE])
{
    const char *colon = strchr(text, ':'), *second = colon ? strchr(colon + 1, ':') : NULL;
    return second ? gram_suggest_word(second + 1, "log int", found) : NULL;
}

static gram_status parse_one(gram_context *context, gram_variables *all, const char *given, gram_variable *v)
{
    gram_status status = GRAM_OK;
    char *text = NULL;
    const size_t length = strlen(given);
    const char *equals = strchr(given, '=');
    FAIL_IF(!equals || equals == given || !equals[1], context, GRAM_ERROR_SYNTAX,
            "'%.100s' is not a variable: write NAME=LOWER:UPPER", given);
    TRY(gram_arena_take(context, &all->arena, "variables: names", (int64_t)length + 1, 1, (void **)&text));
    memcpy(text, given, length + 1);
    text[equals - given] = '\0';
    v->name = text;
    char *rest = text + (equals - given) + 1;
    if (parse_range(rest, v)) goto done;
    char found[GRAM_WORD_SIZE];
    const char *near = nearest_scale(rest, found);
    FAIL_IF(near, context, GRAM_ERROR_SYNTAX,
            "'%.100s' is not a variable, did you mean ':%s'? Write NAME=LOWER:UPPER, with :log or :int after it", given,
            near);
    FAIL_IF(!strchr(rest, ','), context, GRAM_ERROR_SYNTAX,
            "'%.100s' is not a variable: write NAME=LOWER:UPPER, with :log or :int after it, or NAME=LEVEL,LEVEL",
            given);
    TRY(parse_levels(context, all, rest, v));
done:
    return status;
}

gram_status gram_variables_parse(gram_context *context, int64_t count, const char *const *texts,
                                 gram_variables **variables)
{
    gram_status status = GRAM_OK;
    gram_variables *made = NULL;
    if (!context || !variables || !texts) return GRAM_ERROR_ARGUMENT;
    *variables = NULL;
    FAIL_IF(count < 1, context, GRAM_ERROR_ARGUMENT, "variables_parse: there are no variables");
    TRY(begin(context, count, &made));
    for (int64_t i = 0; i < count; i++) TRY(parse_one(context, made, texts[i], made->list + i));
    *variables = made;
    made = NULL;
done:
    gram_variables_destroy(made);
    return status;
}

/* ---- from a table ---- */

static gram_status column_levels(gram_context *context, gram_variables *all, const gram_table *table, int64_t column,
                                 gram_variable *v)
{
    gram_status status = GRAM_OK;
    const char **levels;
    v->kind = GRAM_VARIABLE_CATEGORY;
    v->level_count = gram_table_level_count(table, column);
    FAIL_IF(v->level_count < 1, context, GRAM_ERROR_DATA,
            "variables_of_table: column '%s' has too many different texts", gram_table_column_name(table, column));
    TRY(gram_arena_take(context, &all->arena, "variables: levels", v->level_count, sizeof *levels, (void **)&levels));
    for (int64_t i = 0; i < v->level_count; i++) levels[i] = gram_table_level(table, column, i);
    v->levels = levels;
done:
    return status;
}

/* A column of one number is a variable that does not vary: any bounds will do. */
static void column_range(const gram_variables *all, int64_t column, gram_variable *v)
{
    v->kind = GRAM_VARIABLE_REAL;
    v->lower = INFINITY;
    v->upper = -INFINITY;
    for (int64_t i = 0; i < all->rows; i++) {
        v->lower = fmin(v->lower, all->candidates[i * all->count + column]);
        v->upper = fmax(v->upper, all->candidates[i * all->count + column]);
    }
    if (v->lower == v->upper) v->upper = v->lower + fmax(1, fabs(v->lower));
}

gram_status gram_variables_of_table(gram_context *context, const gram_table *table, gram_variables **variables)
{
    gram_status status = GRAM_OK;
    gram_variables *made = NULL;
    if (!context || !variables || !table) return GRAM_ERROR_ARGUMENT;
    *variables = NULL;
    const int64_t count = gram_table_columns(table), rows = gram_table_rows(table), ld = gram_table_ld(table);
    TRY(begin(context, count, &made));
    TRY(gram_arena_take(context, &made->arena, "variables: rows", rows * count, sizeof(double),
                        (void **)&made->candidates));
    made->rows = rows;
    for (int64_t i = 0; i < rows; i++)
        memcpy(made->candidates + i * count, gram_table_numbers(table) + i * ld, (size_t)count * sizeof(double));
    for (int64_t l = 0; l < count; l++) {
        made->list[l].name = gram_table_column_name(table, l);
        if (gram_table_column_is_text(table, l))
            TRY(column_levels(context, made, table, l, made->list + l));
        else
            column_range(made, l, made->list + l);
    }
    *variables = made;
    made = NULL;
done:
    gram_variables_destroy(made);
    return status;
}

gram_status gram_variables_read(gram_context *context, const char *path, gram_variables **variables)
{
    gram_status status = GRAM_OK;
    gram_table *table = NULL;
    gram_table_options options;
    if (!context || !variables || !path) return GRAM_ERROR_ARGUMENT;
    *variables = NULL;
    gram_table_options_init(&options, sizeof options);
    options.text = GRAM_TEXT_CATEGORIES;
    TRY(gram_table_read(context, path, &options, &table));
    TRY(gram_variables_of_table(context, table, variables));
    (*variables)->table = table;
    table = NULL;
done:
    gram_table_destroy(table);
    return status;
}

/* ---- values ---- */

size_t gram_study_format(const gram_study *study, int64_t variable, double value, char *text, size_t size)
{
    const gram_domain_variable *v = study->space.variables + variable;
    char number[GRAM_NUMBER_SIZE];
    const char *word = gram_number_format(value, number);
    if (v->kind == GRAM_VARIABLE_CATEGORY) word = v->levels[(int64_t)value];
    if (v->kind == GRAM_VARIABLE_INTEGER) {
        (void)snprintf(number, sizeof number, "%lld", (long long)value);
        word = number;
    }
    const size_t length = strlen(word), room = size ? size - 1 : 0, put = length < room ? length : room;
    memcpy(text, word, size ? put : 0);
    if (size) text[put] = '\0';
    return length;
}

static int parse_value(const gram_domain_variable *v, const char *text, size_t length, double *value)
{
    if (v->kind != GRAM_VARIABLE_CATEGORY) return whole_number(text, text + length, value);
    for (int64_t i = 0; i < v->level_count; i++)
        if (strlen(v->levels[i]) == length && memcmp(v->levels[i], text, length) == 0) {
            *value = (double)i;
            return 1;
        }
    return 0;
}

/* The variable whose name is before the '=', -1: none. */
static int64_t find_variable(const gram_study *study, const char *text, size_t length)
{
    for (int64_t i = 0; i < study->space.count; i++) {
        const char *name = study->space.variables[i].name;
        if (strlen(name) == length && memcmp(name, text, length) == 0) return i;
    }
    return -1;
}

gram_status gram_study_parse_point(gram_context *context, const gram_study *study, const char *text, double *x)
{
    gram_status status = GRAM_OK;
    if (!context || !study || !text || !x) return GRAM_ERROR_ARGUMENT;
    for (int64_t i = 0; i < study->space.count; i++) x[i] = NAN;
    for (const char *at = text; *at;) {
        const size_t length = strcspn(at, ","), name = strcspn(at, "=");
        const int64_t i = name < length ? find_variable(study, at, name) : -1;
        FAIL_IF(i < 0, context, GRAM_ERROR_DATA, "'%.*s' is not NAME=VALUE of a variable",
                (int)(length < 100 ? length : 100), at);
        FAIL_IF(!isnan(x[i]), context, GRAM_ERROR_DATA, "'%s' is given twice", study->space.variables[i].name);
        FAIL_IF(!parse_value(study->space.variables + i, at + name + 1, length - name - 1, x + i), context,
                GRAM_ERROR_DATA, "'%.*s': the value is not one of '%s'", (int)(length < 100 ? length : 100), at,
                study->space.variables[i].name);
        at += length + (at[length] == ',');
    }
    for (int64_t i = 0; i < study->space.count; i++)
        FAIL_IF(isnan(x[i]), context, GRAM_ERROR_DATA, "'%s' has no value in '%.100s'", study->space.variables[i].name,
                text);
    TRY(gram_domain_check(context, "point", &study->space, x));
done:
    return status;
}
