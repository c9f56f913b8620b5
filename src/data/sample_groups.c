#include <gram/sample_groups.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <gram/matrix.h>

#include "base/arena.h"
#include "base/context.h"
#include "base/sized_struct.h"
#include "base/text/spoken_failure.h"
#include "data/given/given_table.h"
#include "points/points.h"

struct gram_sample {
    gram_memory *memory;
    gram_arena arena;
    gram_table *table; /* until it is prepared */
    gram_preparation *preparation;
    gram_prepared *data;
    gram_sample_group groups[GRAM_SAMPLE_MOST_GROUPS];
    gram_sample_report report;
};

void gram_sample_options_init(gram_sample_options *options, size_t size)
{
    const gram_sample_options defaults = {.scale = 1};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

void gram_sample_destroy(gram_sample *sample)
{
    if (!sample) return;
    gram_memory *memory = sample->memory;
    for (int64_t g = 0; g < sample->report.group_count; g++) gram_points_release(sample->groups[g].points);
    gram_prepared_destroy(sample->data);
    gram_preparation_release(sample->preparation);
    gram_table_destroy(sample->table);
    gram_arena_release(&sample->arena);
    gram_memory_give(memory, sample);
    gram_memory_release(memory);
}

const gram_sample_report *gram_sample_get_report(const gram_sample *sample)
{
    return &sample->report;
}

int gram_sample_blame(gram_context *context, const gram_sample *sample, int64_t group, const gram_kernel *kernel)
{
    int64_t row, column;
    char name[256];
    const gram_sample_group *own = &sample->groups[group];
    if (gram_matrix_check(context, kernel, own->points) >= 0 || !gram_context_place(context, &row, &column)) return 0;
    (void)gram_preparation_column_name(sample->preparation, own->first + column, name, sizeof name);
    gram_context_name_place(context, sample->report.file, sample->data->rows ? sample->data->rows[row] : row, name);
    if (gram_preparation_describe(sample->preparation)->scaled)
        (void)gram_advise(context, GRAM_ERROR_DOMAIN,
                          "Standardised columns have negative values; --no-scale takes them as they are.");
    return 1;
}

/* ---- reading ---- */

static gram_status read_options(gram_context *context, const char *function, const gram_sample_options *given,
                                gram_sample_options *options)
{
    gram_sample_options_init(options, sizeof *options);
    const gram_status status =
        gram_sized_read(context, function, "options", "gram_sample_options", given, options, sizeof *options);
    if (!options->who) options->who = "sample";
    if (!options->dashes) options->dashes = "";
    return status;
}

static gram_status read_table(gram_context *context, const char *path, const gram_sample_options *options,
                              gram_sample **sample)
{
    gram_status status = GRAM_OK;
    gram_table_options how;
    gram_sample *made = NULL;
    char *file = NULL;
    const char *name = gram_data_name(path);
    TRY(gram_take(context, "sample", 1, sizeof *made, (void **)&made));
    *made = (gram_sample){.memory = gram_memory_retain(context->memory), .report.size = sizeof made->report};
    *sample = made;
    gram_arena_init(&made->arena, made->memory);
    TRY(gram_arena_take(context, &made->arena, "sample", (int64_t)strlen(name) + 1, 1, (void **)&file));
    made->report.file = strcpy(file, name);
    gram_table_options_init(&how, sizeof how);
    how.format = options->format;
    how.features = options->features;
    how.ignore = options->ignore;
    how.text = GRAM_TEXT_CATEGORIES;
    how.keep_missing = 1; /* what to do with them is the preparation's matter */
    how.texts = options->texts;
    how.graphs = options->graphs;
    how.bag = options->bag;
    how.sparse = 1;
    how.gram = options->gram;
    TRY(gram_table_read(context, path, &how, &made->table));
done:
    return status;
}

static gram_preparation_options how_to_prepare(const gram_sample_options *options, const char *list)
{
    gram_preparation_options how;
    gram_preparation_options_init(&how, sizeof how);
    how.target = "";
    how.features = list;
    how.scale = options->scale;
    how.missing = options->missing;
    how.bag = options->bag;
    how.bag_weights = options->bag_weights;
    return how;
}

/* Makes the table ready, which is then given back. A sample without groups has one of all columns. */
static gram_status prepare(gram_context *context, gram_sample *sample)
{
    gram_status status = GRAM_OK;
    int64_t column = 0;
    gram_sample_report *report = &sample->report;
    TRY(gram_preparation_apply(context, sample->preparation, sample->table, 1, &sample->data));
    gram_table_destroy(sample->table);
    sample->table = NULL;
    const gram_prepared *data = sample->data;
    if (report->group_count == 0) {
        report->group_count = 1;
        sample->groups[0].features = gram_preparation_describe(sample->preparation)->feature_count;
    }
    for (int64_t g = 0; g < report->group_count; g++) {
        gram_sample_group *group = &sample->groups[g];
        const int64_t end = group->first_feature + group->features;
        group->first = column;
        while (column < data->d && gram_preparation_feature_of(sample->preparation, column) < end) column++;
        group->d = column - group->first;
        TRY(gram_points_create_f64(context, data->n, group->d, data->x + group->first, data->d, &group->points));
        if (data->objects) TRY(gram_points_set_objects(context, data->objects + group->first, &group->points));
    }
    report->preparation = sample->preparation;
    report->data = data;
    report->dropped = data->table_rows - data->n;
    report->groups = sample->groups;
done:
    return status;
}

/* ---- groups ---- */

/* One reading of groups: the columns of the table that are taken so far. */
typedef struct grouping {
    gram_context *context;
    const gram_sample_options *options;
    gram_sample *sample;
    int64_t *columns; /* room for two lists */
    int64_t taken;
} grouping;

static gram_status add_group(grouping *g, int64_t features)
{
    gram_sample_report *report = &g->sample->report;
    if (report->group_count == GRAM_SAMPLE_MOST_GROUPS)
        return gram_fail_spoken(g->context, GRAM_ERROR_ARGUMENT, (gram_speech){g->options->who, g->options->dashes},
                                NULL, "more than %d groups of columns", GRAM_SAMPLE_MOST_GROUPS);
    g->sample->groups[report->group_count++] = (gram_sample_group){.first_feature = g->taken, .features = features};
    g->taken += features;
    return GRAM_OK;
}

/* A column in two groups depends on itself: surely a slip. */
static gram_status check_list(const grouping *g, const int64_t *columns, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < g->taken; j++)
            if (columns[i] == g->columns[j])
                return gram_fail_spoken(g->context, GRAM_ERROR_ARGUMENT,
                                        (gram_speech){g->options->who, g->options->dashes},
                                        "A column belongs to one group.", "column '%s' is in two groups",
                                        gram_table_column_name(g->sample->table, columns[i]));
    return GRAM_OK;
}

static gram_status add_list(grouping *g, const char *list)
{
    gram_status status = GRAM_OK;
    int64_t count = 0, *columns = g->columns + g->taken;
    status = gram_table_find_columns(g->context, g->sample->table, list, columns, &count);
    if (status == GRAM_ERROR_DATA)
        (void)gram_advise(g->context, status, "A list of columns is names, places and ranges: x1,x3:x5,7.");
    if (status < 0) return status;
    TRY(check_list(g, columns, count));
    for (int64_t i = 0; i < count && g->options->each; i++) TRY(add_group(g, 1));
    if (!g->options->each) TRY(add_group(g, count));
done:
    return status;
}

/* All lists as one: they are prepared together. */
static gram_status learn_groups(gram_context *context, const gram_sample_options *options, int count,
                                const char *const *lists, gram_sample *sample)
{
    gram_status status = GRAM_OK;
    gram_string all = {0};
    grouping g = {.context = context, .options = options, .sample = sample};
    const int64_t columns = gram_table_columns(sample->table);
    TRY(gram_take(context, "sample", 2 * columns, sizeof *g.columns, (void **)&g.columns));
    for (int i = 0; i < count; i++) {
        TRY(add_list(&g, lists[i]));
        gram_string_add(&all, "%s%s", i ? "," : "", lists[i]);
    }
    FAIL_IF(all.failed, context, GRAM_ERROR_MEMORY, "sample_read: no memory for a list of columns");
    const gram_preparation_options how = how_to_prepare(options, all.data);
    TRY(gram_preparation_learn(context, sample->table, &how, &sample->preparation));
done:
    gram_string_free(&all);
    gram_give(context, g.columns);
    return status;
}

gram_status gram_sample_read(gram_context *context, const char *path, const gram_sample_options *options, int count,
                             const char *const *lists, gram_sample **sample)
{
    gram_status status = GRAM_OK;
    gram_sample_options o;
    gram_sample *made = NULL;
    if (!context || !path || !sample || count < 0 || (count > 0 && !lists)) return GRAM_ERROR_ARGUMENT;
    *sample = NULL;
    TRY(read_options(context, "sample_read", options, &o));
    TRY(read_table(context, path, &o, &made));
    TRY(learn_groups(context, &o, count, lists, made));
    TRY(prepare(context, made));
    *sample = made;
    made = NULL;
done:
    gram_sample_destroy(made);
    return status;
}

gram_status gram_sample_read_pair(gram_context *context, const char *first, const char *second,
                                  const gram_sample_options *options, gram_sample *samples[2])
{
    gram_status status = GRAM_OK;
    gram_sample_options o;
    gram_sample *a = NULL, *b = NULL;
    if (!context || !first || !second || !samples) return GRAM_ERROR_ARGUMENT;
    samples[0] = samples[1] = NULL;
    TRY(read_options(context, "sample_read_pair", options, &o));
    if (strcmp(first, "-") == 0 && strcmp(second, "-") == 0) {
        status = gram_fail_spoken(context, GRAM_ERROR_ARGUMENT, (gram_speech){o.who, o.dashes},
                                  "Give one of the samples as a file.", "both samples from standard input");
        goto done;
    }
    const char *gram = o.gram;
    o.gram = NULL;
    TRY(read_table(context, first, &o, &a));
    TRY(read_table(context, second, &o, &b));
    if (gram) TRY(gram_given_table_pair(context, gram, &a->table, &b->table));
    const gram_preparation_options how = how_to_prepare(&o, NULL);
    TRY(gram_preparation_learn_both(context, a->table, b->table, &how, &a->preparation));
    b->preparation = gram_preparation_retain(a->preparation);
    TRY(prepare(context, a));
    TRY(prepare(context, b));
    samples[0] = a;
    samples[1] = b;
    a = b = NULL;
done:
    gram_sample_destroy(a);
    gram_sample_destroy(b);
    return status;
}
