/* The object: made from a description of which nothing is believed, copied as a whole. */
#include "data/preparation.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sized_struct.h"

/* ---- checking ---- */

static gram_status check_levels(gram_context *context, const char *role, int64_t index, const gram_column *column)
{
    gram_status status = GRAM_OK;
    FAIL_IF(column->level_count < 1 || column->level_count > GRAM_MOST_LEVELS || !column->levels, context,
            GRAM_ERROR_ARGUMENT, "preparation: %s %" PRId64 " has %" PRId64 " levels", role, index + 1,
            column->level_count);
    for (int64_t k = 0; k < column->level_count; k++) {
        FAIL_IF(!column->levels[k] || strlen(column->levels[k]) > GRAM_LONGEST_LEVEL, context, GRAM_ERROR_ARGUMENT,
                "preparation: %s %" PRId64 ": level %" PRId64 " is missing or too long", role, index + 1, k + 1);
        FAIL_IF(k > 0 && strcmp(column->levels[k - 1], column->levels[k]) >= 0, context, GRAM_ERROR_ARGUMENT,
                "preparation: %s %" PRId64 ": its levels are not in order", role, index + 1);
    }
    FAIL_IF(!(column->fill >= 0 && column->fill < (double)column->level_count && floor(column->fill) == column->fill),
            context, GRAM_ERROR_ARGUMENT, "preparation: %s %" PRId64 ": its fill is not one of its levels", role,
            index + 1);
done:
    return status;
}

static gram_status check_thing(gram_context *context, const char *role, int64_t index, const gram_column *column)
{
    gram_status status = GRAM_OK;
    FAIL_IF((unsigned)column->kind > GRAM_COLUMN_GIVEN || column->text || column->date ||
                strcmp(role, "feature") != 0 || column->mean != 0 || column->deviation != 1,
            context, GRAM_ERROR_ARGUMENT, "preparation: %s %" PRId64 " cannot be of kind %d", role, index + 1,
            (int)column->kind);
    FAIL_IF(column->kind == GRAM_COLUMN_SPARSE && (column->width < 1 || column->width > INT32_MAX), context,
            GRAM_ERROR_ARGUMENT, "preparation: %s %" PRId64 ": sparse rows of %" PRId64 " columns", role, index + 1,
            column->width);
    FAIL_IF(column->kind == GRAM_COLUMN_GIVEN && (column->width < 1 || column->width > INT32_MAX), context,
            GRAM_ERROR_ARGUMENT, "preparation: %s %" PRId64 ": a given matrix of %" PRId64 " rows", role, index + 1,
            column->width);
    for (int64_t l = 0; column->kind == GRAM_COLUMN_SPARSE && column->deviations && l < column->width; l++)
        FAIL_IF(!(column->deviations[l] > 0) || !isfinite(column->deviations[l]), context, GRAM_ERROR_ARGUMENT,
                "preparation: %s %" PRId64 ": deviation %" PRId64 " is not a positive number", role, index + 1, l + 1);
done:
    return status;
}

static gram_status check_column(gram_context *context, const char *role, int64_t index, const gram_column *column,
                                int scaled)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!column->name || column->name[0] == '\0', context, GRAM_ERROR_ARGUMENT,
            "preparation: %s %" PRId64 " has no name", role, index + 1);
    FAIL_IF(column->place < 0, context, GRAM_ERROR_ARGUMENT, "preparation: %s %" PRId64 ": its place is %" PRId64, role,
            index + 1, column->place);
    FAIL_IF(column->text != 0 && column->text != 1, context, GRAM_ERROR_ARGUMENT,
            "preparation: %s %" PRId64 ": its text flag is %d", role, index + 1, column->text);
    FAIL_IF((column->date | 1) != 1 || (column->date && column->text), context, GRAM_ERROR_ARGUMENT,
            "preparation: %s %" PRId64 ": its date flag is %d", role, index + 1, column->date);
    FAIL_IF(!isfinite(column->mean) || !isfinite(column->deviation) || !(column->deviation > 0) ||
                !isfinite(column->fill),
            context, GRAM_ERROR_ARGUMENT,
            "preparation: %s %" PRId64 ": its mean, deviation or fill is not a valid number", role, index + 1);
    FAIL_IF((!scaled || column->text) && (column->mean != 0 || column->deviation != 1), context, GRAM_ERROR_ARGUMENT,
            "preparation: %s %" PRId64 " has a scale and should have none", role, index + 1);
    FAIL_IF(!isfinite(column->log_centre) || !isfinite(column->log_size) || column->log_size < 0 ||
                (column->log_size > 0 &&
                 (!scaled || column->text || column->date || column->kind || strcmp(role, "feature") != 0)),
            context, GRAM_ERROR_ARGUMENT, "preparation: %s %" PRId64 ": its logarithm is not a valid one", role,
            index + 1);
    FAIL_IF(!column->text && column->level_count != 0, context, GRAM_ERROR_ARGUMENT,
            "preparation: %s %" PRId64 " has levels but is not text", role, index + 1);
    if (column->text) TRY(check_levels(context, role, index, column));
    if (column->kind != GRAM_COLUMN_PLAIN) TRY(check_thing(context, role, index, column));
done:
    return status;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Every column has one role only. */
static gram_status check_names(gram_context *context, const gram_preparation_description *description)
{
    gram_status status = GRAM_OK;
    const char **names = NULL;
    const int64_t features = description->feature_count, targets = description->target_count;
    const int64_t count = features + targets + (description->weights != NULL) + (description->bag != NULL) +
                          (description->bag_weights != NULL);
    TRY(gram_take(context, "preparation", count, sizeof *names, (void **)&names));
    for (int64_t i = 0; i < features; i++) names[i] = description->features[i].name;
    for (int64_t i = 0; i < targets; i++) names[features + i] = description->targets[i].name;
    if (description->weights) names[features + targets] = description->weights->name;
    if (description->bag_weights) names[count - 1] = description->bag_weights->name;
    if (description->bag) names[count - 1 - (description->bag_weights != NULL)] = description->bag->name;
    qsort(names, (size_t)count, sizeof *names, compare_names);
    for (int64_t i = 1; i < count; i++)
        FAIL_IF(strcmp(names[i - 1], names[i]) == 0, context, GRAM_ERROR_ARGUMENT,
                "preparation: column '%.200s' is given twice", names[i]);
done:
    gram_give(context, names);
    return status;
}

/* Rows of bags are numbers. */
static gram_status check_bag(gram_context *context, const gram_preparation_description *description)
{
    gram_status status = GRAM_OK;
    TRY(check_column(context, "bag", 0, description->bag, 0));
    if (description->bag_weights) TRY(check_column(context, "bag_weights", 0, description->bag_weights, 0));
    FAIL_IF(description->bag_weights && (description->bag_weights->text || description->bag_weights->kind), context,
            GRAM_ERROR_ARGUMENT, "preparation: weights in bags are no numbers");
    FAIL_IF(description->bag->text || description->bag->date, context, GRAM_ERROR_ARGUMENT,
            "preparation: the column of bags has levels or dates");
    for (int64_t i = 0; i < description->feature_count; i++)
        FAIL_IF(description->features[i].kind != GRAM_COLUMN_PLAIN, context, GRAM_ERROR_ARGUMENT,
                "preparation: column '%.200s' holds no numbers, and a bag has rows of numbers",
                description->features[i].name);
done:
    return status;
}

static gram_status check(gram_context *context, const gram_preparation_description *description)
{
    gram_status status = GRAM_OK;
    FAIL_IF(description->feature_count < 1 || !description->features, context, GRAM_ERROR_ARGUMENT,
            "preparation: %" PRId64 " features", description->feature_count);
    FAIL_IF(description->target_count < 0 || (description->target_count > 0 && !description->targets), context,
            GRAM_ERROR_ARGUMENT, "preparation: %" PRId64 " targets", description->target_count);
    FAIL_IF((unsigned)description->missing > GRAM_MISSING_MEAN, context, GRAM_ERROR_ARGUMENT,
            "preparation: missing = %d", (int)description->missing);
    FAIL_IF((description->scaled | 1) != 1 || (description->named | 1) != 1, context, GRAM_ERROR_ARGUMENT,
            "preparation: scaled = %d, named = %d", description->scaled, description->named);
    for (int64_t i = 0; i < description->feature_count; i++)
        TRY(check_column(context, "feature", i, &description->features[i], description->scaled));
    for (int64_t i = 0; i < description->target_count; i++)
        TRY(check_column(context, "target", i, &description->targets[i], 0));
    if (description->weights) {
        TRY(check_column(context, "weights", 0, description->weights, 0));
        FAIL_IF(description->weights->text, context, GRAM_ERROR_ARGUMENT, "preparation: weights are text");
    }
    FAIL_IF(description->bag_weights && !description->bag, context, GRAM_ERROR_ARGUMENT,
            "preparation: weights in bags, and no bags");
    if (description->bag) TRY(check_bag(context, description));
    TRY(check_names(context, description));
done:
    return status;
}

/* ---- copying ---- */

static gram_status copy_text(gram_context *context, gram_arena *arena, const char *text, const char **out)
{
    gram_status status = GRAM_OK;
    void *copy;
    const size_t size = strlen(text) + 1;
    TRY(gram_arena_take(context, arena, "preparation", (int64_t)size, 1, &copy));
    *out = memcpy(copy, text, size);
done:
    return status;
}

static gram_status copy_column(gram_context *context, gram_arena *arena, const gram_column *from, gram_column *to)
{
    gram_status status = GRAM_OK;
    const char **levels = NULL;
    *to = *from;
    to->levels = NULL;
    TRY(copy_text(context, arena, from->name, &to->name));
    if (from->deviations) {
        double *copy;
        TRY(gram_arena_take(context, arena, "preparation", from->width, sizeof *copy, (void **)&copy));
        memcpy(copy, from->deviations, (size_t)from->width * sizeof *copy);
        to->deviations = copy;
    }
    if (from->level_count == 0) return status;
    TRY(gram_arena_take(context, arena, "preparation", from->level_count, sizeof *levels, (void **)&levels));
    for (int64_t k = 0; k < from->level_count; k++) TRY(copy_text(context, arena, from->levels[k], &levels[k]));
    to->levels = levels;
done:
    return status;
}

static gram_status copy_columns(gram_context *context, gram_arena *arena, int64_t count, const gram_column *from,
                                const gram_column **to)
{
    gram_status status = GRAM_OK;
    gram_column *copy = NULL;
    *to = NULL;
    if (count == 0) return status;
    TRY(gram_arena_take(context, arena, "preparation", count, sizeof *copy, (void **)&copy));
    for (int64_t i = 0; i < count; i++) TRY(copy_column(context, arena, &from[i], &copy[i]));
    *to = copy;
done:
    return status;
}

static gram_status place_columns(gram_context *context, gram_preparation *made)
{
    gram_status status = GRAM_OK;
    const gram_preparation_description *own = &made->description;
    TRY(gram_arena_take(context, &made->arena, "preparation", own->feature_count + 1, sizeof *made->first,
                        (void **)&made->first));
    for (int64_t i = 0; i < own->feature_count; i++) {
        made->first[i] = made->dimension;
        made->dimension += own->features[i].text ? own->features[i].level_count : 1;
        made->has_things |= own->features[i].kind != GRAM_COLUMN_PLAIN;
    }
    made->first[own->feature_count] = made->dimension;
    made->width = made->dimension;
    if (own->bag) made->dimension = 1;
done:
    return status;
}

static gram_status list_wanted(gram_context *context, gram_preparation *made)
{
    gram_status status = GRAM_OK;
    const gram_preparation_description *own = &made->description;
    const int64_t count = own->feature_count + own->target_count + (own->weights != NULL) + (own->bag != NULL) +
                          (own->bag_weights != NULL);
    gram_wanted *wanted = NULL;
    TRY(gram_arena_take(context, &made->arena, "preparation", count, sizeof *wanted, (void **)&wanted));
    made->wanted = wanted;
    made->wanted_count = count;
    for (int64_t i = 0; i < own->feature_count; i++)
        *wanted++ = (gram_wanted){.name = own->features[i].name,
                                  .text = own->features[i].text,
                                  .date = own->features[i].date,
                                  .kind = own->features[i].kind,
                                  .width = own->features[i].width};
    for (int64_t i = 0; i < own->target_count; i++)
        *wanted++ = (gram_wanted){
            .name = own->targets[i].name, .text = own->targets[i].text, .optional = 1, .date = own->targets[i].date};
    if (own->weights) *wanted++ = (gram_wanted){.name = own->weights->name, .optional = 1, .date = own->weights->date};
    if (own->bag_weights) *wanted++ = (gram_wanted){.name = own->bag_weights->name, .date = own->bag_weights->date};
    if (own->bag) *wanted = (gram_wanted){.name = own->bag->name, .kind = GRAM_COLUMN_TEXTS};
done:
    return status;
}

gram_status gram_preparation_create(gram_context *context, const gram_preparation_description *description,
                                    gram_preparation **preparation)
{
    gram_status status = GRAM_OK;
    gram_preparation *made = NULL;
    if (!context || !description || !preparation) return GRAM_ERROR_ARGUMENT;
    *preparation = NULL;
    TRY(check(context, description));
    TRY(gram_take(context, "preparation", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    atomic_init(&made->references, 1);
    gram_arena_init(&made->arena, made->memory);
    gram_preparation_description *own = &made->description;
    *own = *description;
    TRY(copy_columns(context, &made->arena, own->feature_count, description->features, &own->features));
    TRY(copy_columns(context, &made->arena, own->target_count, description->targets, &own->targets));
    TRY(copy_columns(context, &made->arena, own->weights != NULL, description->weights, &own->weights));
    TRY(copy_columns(context, &made->arena, own->bag != NULL, description->bag, &own->bag));
    TRY(copy_columns(context, &made->arena, own->bag_weights != NULL, description->bag_weights, &own->bag_weights));
    if (own->missing_texts) TRY(copy_text(context, &made->arena, description->missing_texts, &own->missing_texts));
    TRY(place_columns(context, made));
    TRY(list_wanted(context, made));
    *preparation = made;
    made = NULL;
done:
    gram_preparation_release(made);
    return status;
}

gram_preparation *gram_preparation_retain(gram_preparation *preparation)
{
    if (preparation) atomic_fetch_add(&preparation->references, 1);
    return preparation;
}

void gram_preparation_release(gram_preparation *preparation)
{
    if (!preparation || atomic_fetch_sub(&preparation->references, 1) != 1) return;
    gram_memory *memory = preparation->memory;
    gram_arena_release(&preparation->arena);
    gram_memory_give(memory, preparation);
    gram_memory_release(memory);
}

/* ---- asking ---- */

const gram_preparation_description *gram_preparation_describe(const gram_preparation *preparation)
{
    return &preparation->description;
}

int64_t gram_preparation_dimension(const gram_preparation *preparation)
{
    return preparation->dimension;
}

int64_t gram_preparation_feature_of(const gram_preparation *preparation, int64_t column)
{
    int64_t low = 0, high = preparation->description.feature_count - 1;
    while (low < high) { /* first[low] <= column < first[high + 1] */
        const int64_t middle = low + (high - low + 1) / 2;
        if (preparation->first[middle] <= column)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

size_t gram_preparation_column_name(const gram_preparation *preparation, int64_t column, char *text, size_t size)
{
    if (preparation->description.bag) return (size_t)snprintf(text, size, "%s", preparation->description.bag->name);
    const int64_t index = gram_preparation_feature_of(preparation, column);
    const gram_column *feature = &preparation->description.features[index];
    const char *level = feature->text ? feature->levels[column - preparation->first[index]] : "";
    return (size_t)snprintf(text, size, "%s%s%s", feature->name, feature->text ? "=" : "", level);
}

gram_status gram_preparation_with_missing(gram_context *context, const gram_preparation *preparation,
                                          gram_missing missing, gram_preparation **changed)
{
    gram_preparation_description description;
    if (!context || !preparation || !changed) return GRAM_ERROR_ARGUMENT;
    description = preparation->description;
    description.missing = missing;
    return gram_preparation_create(context, &description, changed);
}

const char *gram_column_difference(const gram_column *a, const gram_column *b)
{
    if (strcmp(a->name, b->name) != 0) return "have other names";
    if (a->text != b->text) return "is text in one of them";
    if (a->mean != b->mean || a->deviation != b->deviation) return "is scaled by other numbers";
    if (a->log_size != b->log_size || a->log_centre != b->log_centre) return "has another logarithm";
    if (a->kind != b->kind || a->width != b->width) return "holds other things";
    if (!a->deviations != !b->deviations ||
        (a->deviations && memcmp(a->deviations, b->deviations, (size_t)a->width * sizeof *a->deviations) != 0))
        return "is scaled by other numbers";
    if (a->text && a->level_count != b->level_count) return "has other levels";
    for (int64_t i = 0; a->text && i < a->level_count; i++)
        if (strcmp(a->levels[i], b->levels[i]) != 0) return "has other levels";
    return NULL;
}

static int same_columns(int64_t count, const gram_column *a, const gram_column *b)
{
    for (int64_t i = 0; i < count; i++)
        if (gram_column_difference(&a[i], &b[i])) return 0;
    return 1;
}

int gram_preparation_equal(const gram_preparation *a, const gram_preparation *b)
{
    if (!a || !b) return a == b;
    const gram_preparation_description *f = &a->description, *g = &b->description;
    return f->feature_count == g->feature_count && f->target_count == g->target_count && !f->weights == !g->weights &&
           f->missing == g->missing && same_columns(f->feature_count, f->features, g->features) &&
           same_columns(f->target_count, f->targets, g->targets) &&
           (!f->weights || same_columns(1, f->weights, g->weights)) && !f->bag == !g->bag &&
           (!f->bag || same_columns(1, f->bag, g->bag)) && !f->bag_weights == !g->bag_weights &&
           (!f->bag_weights || same_columns(1, f->bag_weights, g->bag_weights));
}

double gram_column_prepare(const gram_column *column, double value)
{
    const double bent = column->log_size > 0 ? asinh((value - column->log_centre) / column->log_size) : value;
    return (bent - column->mean) / column->deviation;
}

double gram_column_unprepare(const gram_column *column, double value)
{
    const double bent = column->mean + column->deviation * value;
    return column->log_size > 0 ? column->log_centre + column->log_size * sinh(bent) : bent;
}

double gram_preparation_unit(const gram_preparation *preparation, int64_t column, double value)
{
    const gram_column *feature = &preparation->description.features[gram_preparation_feature_of(preparation, column)];
    return gram_column_unprepare(feature, value);
}

void gram_preparation_scale(const gram_preparation *preparation, int64_t n, const double *x, int64_t ldx, double *out)
{
    const int64_t d = preparation->description.feature_count;
    const gram_column *features = preparation->description.features;
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < d; l++) out[i * d + l] = gram_column_prepare(&features[l], x[i * ldx + l]);
}

gram_status gram_preparation_reading(const gram_preparation *preparation, gram_table_options *options)
{
    gram_table_options known;
    gram_table_options_init(&known, sizeof known);
    const gram_status status =
        gram_sized_read(NULL, "preparation_reading", "options", "gram_table_options", options, &known, sizeof known);
    if (status < 0) return status;
    known.features = known.ignore = known.categories = NULL;
    known.text = GRAM_TEXT_ERROR;
    known.header = preparation->description.named ? GRAM_HEADER_YES : GRAM_HEADER_AUTO;
    known.keep_missing = 1;
    known.wanted = preparation->wanted;
    known.wanted_count = preparation->wanted_count;
    if (!known.missing_texts) known.missing_texts = preparation->description.missing_texts;
    gram_sized_write(options, &known, sizeof known);
    return GRAM_OK;
}

void gram_preparation_options_init(gram_preparation_options *options, size_t size)
{
    const gram_preparation_options defaults = {.scale = 1, .most_levels = 50};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}
