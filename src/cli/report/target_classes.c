#include "cli/report/target_classes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHOWN = 6 };

static int add_class(cli_classes *classes, const char *name)
{
    const size_t size = strlen(name) + 1;
    char *copy = malloc(size);
    if (!copy) return cli_no_memory();
    memcpy(copy, name, size);
    classes->names[classes->count++] = copy;
    return CLI_DONE;
}

static int make_room(int64_t count, cli_classes *classes)
{
    classes->names = calloc((size_t)count + 1, sizeof *classes->names);
    return classes->names ? CLI_DONE : cli_no_memory();
}

static int find_levels(const gram_column *target, cli_classes *classes)
{
    int code = make_room(target->level_count, classes);
    for (int64_t i = 0; i < target->level_count && code == CLI_DONE; i++) code = add_class(classes, target->levels[i]);
    return code;
}

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Takes `values`, which it frees or keeps. */
static int name_values(int64_t count, double *values, cli_classes *classes)
{
    char number[GRAM_NUMBER_SIZE];
    classes->values = values;
    int code = make_room(count, classes);
    for (int64_t i = 0; i < count && code == CLI_DONE; i++)
        code = add_class(classes, gram_number_format(values[i], number));
    return code;
}

int cli_classes_find(const gram_column *target, int64_t n, const double *y, cli_classes *classes)
{
    int64_t count = 0;
    if (target->text) return find_levels(target, classes);
    double *values = malloc((size_t)(n > 0 ? n : 1) * sizeof *values);
    if (!values) return cli_no_memory();
    for (int64_t i = 0; i < n; i++) values[i] = y[i];
    qsort(values, (size_t)n, sizeof *values, compare_numbers);
    for (int64_t i = 0; i < n; i++)
        if (count == 0 || values[i] != values[count - 1]) values[count++] = values[i];
    return name_values(count, values, classes);
}

int cli_classes_of_model(const gram_model *model, const char *file, cli_classes *classes)
{
    const gram_preparation *preparation = gram_model_preparation(model);
    const gram_preparation_description *known = preparation ? gram_preparation_describe(preparation) : NULL;
    int64_t rows = 0, count = 0;
    const double *stored = gram_model_array(model, "classes", &rows, &count);
    if (known && known->target_count == 1 && known->targets[0].text) return find_levels(&known->targets[0], classes);
    if (!stored || rows != 1 || count < 1)
        return cli_fail(CLI_BAD_DATA, "Fit it again.", "%s: a classifier without the names of its classes", file);
    double *values = malloc((size_t)count * sizeof *values);
    if (!values) return cli_no_memory();
    memcpy(values, stored, (size_t)count * sizeof *values);
    return name_values(count, values, classes);
}

void cli_classes_free(cli_classes *classes)
{
    for (int64_t i = 0; i < classes->count; i++) free(classes->names[i]);
    free(classes->names);
    free(classes->values);
    *classes = (cli_classes){0};
}

int64_t cli_classes_number(const cli_classes *classes, double y)
{
    if (isnan(y)) return -1;
    if (!classes->values) return y >= 0 && y < (double)classes->count ? (int64_t)y : -1;
    const double *found =
        bsearch(&y, classes->values, (size_t)classes->count, sizeof *classes->values, compare_numbers);
    return found ? found - classes->values : -1;
}

void cli_classes_facts(cli_facts *facts, const cli_classes *classes)
{
    cli_facts_integer(facts, "class_count", classes->count);
    if (classes->values) cli_facts_array(facts, "classes", 1, classes->count, classes->values);
}

void cli_classes_json(cli_json *json, const cli_classes *classes)
{
    cli_json_open(json, "classes", '[');
    for (int64_t i = 0; i < classes->count; i++) cli_json_string(json, NULL, classes->names[i]);
    cli_json_close(json, '[');
}

void cli_classes_print(cli_text *text, const cli_classes *classes)
{
    cli_text_add(text, "%" PRId64 " classes (", classes->count);
    for (int64_t i = 0; i < classes->count && i < MOST_SHOWN; i++)
        cli_text_add(text, "%s%s", i > 0 ? ", " : "", classes->names[i]);
    cli_text_add(text, classes->count > MOST_SHOWN ? ", ...)" : ")");
}
