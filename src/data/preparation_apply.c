/* Applying a preparation: columns found by name, rows chosen, features written.
 *
 * Texts are looked up once for each level of the table, not once for each row. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/text.h>

#include "base/sweep.h"
#include "data/group/bag_weights.h"
#include "data/group/row_groups.h"
#include "data/preparation.h"
#include "points/bags.h"
#include "points/points.h"

enum { BLOCK_ROWS = 1024 };

typedef struct prepared_object {
    gram_prepared view; /* first: what the caller sees */
    gram_memory *memory;
    int64_t *rows, *first;
    double *x, *y, *weights;
    gram_objects **objects; /* d of them, or NULL */
} prepared_object;

/* A column of the preparation in this table. */
typedef struct binding {
    const gram_column *column;
    int64_t place;      /* in the table */
    const int64_t *map; /* text: the preparation's level for each level of the table, -1 if it has none */
} binding;

typedef struct applier {
    gram_context *context;
    const gram_preparation *preparation;
    const gram_table *table;
    int training;
    int block;        /* of a larger table: no row may be left of it */
    gram_arena arena; /* scratch */
    gram_roles roles;
    binding *features, *targets;
    gram_row_choice choice;
    prepared_object *made;
} applier;

/* ---- columns ---- */

static int compare_level(const void *text, const void *level)
{
    return strcmp(text, *(const char *const *)level);
}

static int64_t find_level(const gram_column *column, const char *text)
{
    const char *const *found =
        bsearch(text, column->levels, (size_t)column->level_count, sizeof *column->levels, compare_level);
    return found ? found - column->levels : -1;
}

/* The table has text where numbers are needed: says where. */
static gram_status not_numbers(const applier *a, int64_t column)
{
    const gram_table *table = a->table;
    char where[GRAM_WHERE_SIZE], excerpt[GRAM_EXCERPT_SIZE];
    for (int64_t i = 0; i < table->n && gram_table_level_count(table, column) > 0; i++) {
        const double x = gram_table_at(table, i, column);
        double value;
        if (isnan(x)) continue;
        const char *text = gram_table_level(table, column, (int64_t)x);
        const size_t length = strlen(text);
        if (length > 0 && gram_number_parse(text, length, &value) == length) continue;
        return gram_fail(a->context, GRAM_ERROR_DATA, "%s column '%s': not a number: '%s'",
                         gram_table_where(table, i, where), table->names[column],
                         gram_data_excerpt(text, length, excerpt));
    }
    return gram_fail(a->context, GRAM_ERROR_DATA, "%s: column '%s': text, where numbers are needed", table->file,
                     table->names[column]);
}

static gram_status map_levels(applier *a, binding *b)
{
    gram_status status = GRAM_OK;
    const int64_t count = gram_table_level_count(a->table, b->place);
    int64_t *map = NULL;
    FAIL_IF(count < 0, a->context, GRAM_ERROR_DATA,
            "%s: column '%s': text with more than %d levels, or one of more than %d bytes", a->table->file,
            b->column->name, (int)GRAM_MOST_LEVELS, (int)GRAM_LONGEST_LEVEL);
    if (count == 0) return status;
    TRY(gram_arena_take(a->context, &a->arena, "preparation", count, sizeof *map, (void **)&map));
    for (int64_t k = 0; k < count; k++) map[k] = find_level(b->column, gram_table_level(a->table, b->place, k));
    b->map = map;
done:
    return status;
}

/* Looks first where it should be: after the column that was found before. */
static int64_t find_place(const gram_table *table, const char *name, int64_t guess)
{
    if (guess < table->d && strcmp(table->names[guess], name) == 0) return guess;
    return gram_table_column(table, name);
}

static gram_status bind(applier *a, const gram_column *column, int64_t place, binding *b)
{
    *b = (binding){column, place, NULL};
    const gram_column_kind kind = gram_table_column_kind(a->table, place, NULL);
    if (kind != column->kind)
        return gram_fail(a->context, GRAM_ERROR_DATA, "%s: column '%s' is not of the kind that the model was fitted to",
                         a->table->file, column->name);
    if (kind != GRAM_COLUMN_PLAIN) return GRAM_OK;
    if (column->text && a->table->levels[place]) return map_levels(a, b);
    if (!column->text && a->table->levels[place]) return not_numbers(a, place);
    return GRAM_OK;
}

/* Binds all columns of a role; *present is 0 if one of them is not in the table, which only `needed` makes a failure. */
static gram_status bind_all(applier *a, int64_t count, const gram_column *columns, int needed, binding *bindings,
                            int64_t *places, int *present)
{
    gram_status status = GRAM_OK;
    int64_t guess = 0;
    *present = 1;
    for (int64_t i = 0; i < count; i++) {
        places[i] = find_place(a->table, columns[i].name, guess);
        if (places[i] < 0 && needed) return gram_table_no_column(a->context, a->table, columns[i].name);
        if (places[i] < 0) {
            *present = 0;
            return status;
        }
        guess = places[i] + 1;
    }
    for (int64_t i = 0; i < count; i++) TRY(bind(a, &columns[i], places[i], &bindings[i]));
done:
    return status;
}

static gram_status bind_roles(applier *a)
{
    gram_status status = GRAM_OK;
    const gram_preparation_description *own = &a->preparation->description;
    const int64_t features = own->feature_count, targets = own->target_count;
    gram_roles *roles = &a->roles;
    binding weights;
    int present;
    TRY(gram_arena_take(a->context, &a->arena, "preparation", features, sizeof(binding), (void **)&a->features));
    TRY(gram_arena_take(a->context, &a->arena, "preparation", targets, sizeof(binding), (void **)&a->targets));
    TRY(gram_arena_take(a->context, &a->arena, "preparation", features, sizeof(int64_t), (void **)&roles->features));
    TRY(gram_arena_take(a->context, &a->arena, "preparation", targets, sizeof(int64_t), (void **)&roles->targets));
    TRY(bind_all(a, features, own->features, 1, a->features, roles->features, &present));
    TRY(bind_all(a, targets, own->targets, a->training, a->targets, roles->targets, &present));
    roles->feature_count = features;
    roles->target_count = present ? targets : 0;
    present = 0;
    if (own->weights) TRY(bind_all(a, 1, own->weights, a->training, &weights, &roles->weights, &present));
    if (!present) roles->weights = -1;
    roles->bag_weights = -1;
    if (own->bag_weights) TRY(bind_all(a, 1, own->bag_weights, 1, &weights, &roles->bag_weights, &present));
done:
    return status;
}

/* ---- values ---- */

/* The level of a text column, -1 if it was not seen in training, -2 if it is missing. */
static int64_t level_of(const binding *b, double x)
{
    char digits[GRAM_NUMBER_SIZE];
    if (isnan(x)) return -2;
    return b->map ? b->map[(int64_t)x] : find_level(b->column, gram_number_format(x, digits));
}

static int64_t row_of(const applier *a, int64_t i)
{
    return a->choice.rows ? a->choice.rows[i] : i;
}

static void write_features(const applier *a, int64_t row, double *x)
{
    const gram_preparation *preparation = a->preparation;
    for (int64_t f = 0; f < a->roles.feature_count; f++) {
        const binding *b = &a->features[f];
        const gram_column *column = b->column;
        double *out = x + preparation->first[f];
        const double value = gram_table_at(a->table, row, b->place);
        if (column->kind != GRAM_COLUMN_PLAIN) {
            out[0] = value; /* its place */
            continue;
        }
        if (!column->text) {
            out[0] = gram_column_prepare(column, isnan(value) ? column->fill : value);
            continue;
        }
        const int64_t level = level_of(b, value);
        for (int64_t k = 0; k < column->level_count; k++) out[k] = 0;
        if (level != -1) out[level == -2 ? (int64_t)column->fill : level] = 1;
    }
}

static gram_status write_block(void *argument, const gram_worker *worker)
{
    const applier *a = argument;
    const int64_t start = worker->task * BLOCK_ROWS, d = a->made->view.d, m = a->roles.target_count;
    const int64_t end = start + BLOCK_ROWS < a->choice.count ? start + BLOCK_ROWS : a->choice.count;
    for (int64_t i = start; i < end; i++) {
        const int64_t row = row_of(a, i);
        if (a->made->x) write_features(a, row, a->made->x + i * d);
        for (int64_t j = 0; j < m; j++) {
            const binding *b = &a->targets[j];
            const double value = gram_table_at(a->table, row, b->place);
            const int64_t level = b->column->text ? level_of(b, value) : 0;
            a->made->y[i * m + j] = !b->column->text ? value : level < 0 ? NAN : (double)level;
        }
        if (a->made->weights) a->made->weights[i] = gram_table_at(a->table, row, a->roles.weights);
    }
    return GRAM_OK;
}

/* ---- rows ---- */

/* In training: rows whose target is a text that was not seen are left out, or a failure. */
static gram_status check_targets(applier *a)
{
    gram_status status = GRAM_OK;
    const gram_table *table = a->table;
    char where[GRAM_WHERE_SIZE], excerpt[GRAM_EXCERPT_SIZE];
    int64_t kept = 0;
    for (int64_t i = 0; i < a->choice.count; i++) {
        const int64_t row = row_of(a, i);
        int unseen = 0;
        for (int64_t j = 0; j < a->roles.target_count; j++) {
            const binding *b = &a->targets[j];
            const double x = gram_table_at(table, row, b->place);
            if (!b->column->text || level_of(b, x) >= 0) continue;
            const char *text = b->map ? gram_table_level(table, b->place, (int64_t)x) : "a number";
            FAIL_IF(a->preparation->description.missing == GRAM_MISSING_ERROR, a->context, GRAM_ERROR_DATA,
                    "%s column '%s': not a level of the target: '%s'", gram_table_where(table, row, where),
                    table->names[b->place], gram_data_excerpt(text, strlen(text), excerpt));
            unseen = 1;
        }
        if (unseen && !a->choice.rows) {
            TRY(gram_take(a->context, "preparation: rows", table->n, sizeof(int64_t), (void **)&a->choice.rows));
            for (int64_t k = 0; k < table->n; k++) a->choice.rows[k] = k;
        }
        if (!unseen && a->choice.rows) a->choice.rows[kept] = row;
        kept += !unseen;
    }
    a->choice.count = kept;
done:
    return status;
}

/* ---- the result ---- */

void gram_prepared_destroy(gram_prepared *prepared)
{
    if (!prepared) return;
    prepared_object *made = (prepared_object *)prepared;
    gram_memory *memory = made->memory;
    for (int64_t l = 0; made->objects && l < made->view.d; l++) gram_objects_release(made->objects[l]);
    gram_memory_give(memory, made->objects);
    gram_memory_give(memory, made->rows);
    gram_memory_give(memory, made->first);
    gram_memory_give(memory, made->x);
    gram_memory_give(memory, made->y);
    gram_memory_give(memory, made->weights);
    gram_memory_give(memory, made);
    gram_memory_release(memory);
}

gram_status gram_points_of_prepared(gram_context *context, const gram_prepared *prepared, gram_points **points)
{
    gram_status status = GRAM_OK;
    if (!context || !prepared || !points) return GRAM_ERROR_ARGUMENT;
    TRY(gram_points_create_f64(context, prepared->n, prepared->d, prepared->x, prepared->d, points));
    TRY(gram_points_set_objects(context, prepared->objects, points));
done:
    return status;
}

/* ---- pairs ---- */

static int64_t kept_row(const gram_prepared *prepared, int64_t i)
{
    return prepared->rows ? prepared->rows[i] : i;
}

/* Row `from` moves to place `to`, which is not after it. */
static void move_row(prepared_object *made, int64_t from, int64_t to)
{
    const int64_t d = made->view.d, m = made->view.targets;
    made->rows[to] = kept_row(&made->view, from);
    memmove(made->x + to * d, made->x + from * d, (size_t)d * sizeof *made->x);
    if (made->y) memmove(made->y + to * m, made->y + from * m, (size_t)m * sizeof *made->y);
    if (made->weights) made->weights[to] = made->weights[from];
}

static gram_status take_rows(gram_context *context, prepared_object *made)
{
    if (made->rows) return GRAM_OK;
    return gram_take_from(context, made->memory, "preparation: rows", made->view.n, sizeof *made->rows,
                          (void **)&made->rows);
}

gram_status gram_prepared_pair(gram_context *context, gram_prepared *a, gram_prepared *b)
{
    gram_status status = GRAM_OK;
    prepared_object *one = (prepared_object *)a, *other = (prepared_object *)b;
    int64_t count = 0;
    if (!a->rows && !b->rows) return GRAM_OK;
    TRY(take_rows(context, one));
    TRY(take_rows(context, other));
    for (int64_t i = 0, j = 0; i < a->n && j < b->n;) {
        const int64_t p = kept_row(a, i), q = kept_row(b, j);
        if (p == q) {
            move_row(one, i, count);
            move_row(other, j, count++);
        }
        i += p <= q;
        j += q <= p;
    }
    a->n = b->n = count;
    a->rows = one->rows;
    b->rows = other->rows;
done:
    return status;
}

/* Are the features, as they were lent, what would be written? */
static int is_ready(const applier *a)
{
    const gram_table *table = a->table;
    const int64_t d = a->preparation->width;
    if (!table->lent || a->choice.rows || a->roles.feature_count != d || table->lent_d < d || table->lent_ld != d)
        return 0;
    if (a->preparation->description.missing == GRAM_MISSING_MEAN) return 0;
    for (int64_t f = 0; f < d; f++) {
        const gram_column *column = a->features[f].column;
        if (column->text || column->kind != GRAM_COLUMN_PLAIN || column->mean != 0 || column->deviation != 1 ||
            column->log_size > 0 || a->features[f].place != f)
            return 0;
    }
    return 1;
}

static gram_status take_result(applier *a)
{
    gram_status status = GRAM_OK;
    gram_context *context = a->context;
    const int64_t n = a->choice.count, d = a->preparation->width, m = a->roles.target_count;
    int64_t numbers;
    prepared_object *made = NULL;
    TRY(gram_take(context, "preparation", 1, sizeof *made, (void **)&made));
    *made = (prepared_object){.memory = gram_memory_retain(context->memory)};
    made->view = (gram_prepared){.n = n, .d = d, .table_rows = a->table->n, .targets = m};
    a->made = made;
    FAIL_IF(!gram_size_multiply(n, d, &numbers), context, GRAM_ERROR_OVERFLOW,
            "%s: %" PRId64 " rows of %" PRId64 " features are more than can be addressed", a->table->file, n, d);
    if (is_ready(a))
        made->view.x = a->table->lent;
    else
        TRY(gram_take(context, "preparation: features", numbers, sizeof(double), (void **)&made->x));
    TRY(gram_take(context, "preparation: targets", n * m, sizeof(double), (void **)&made->y));
    if (a->roles.weights >= 0)
        TRY(gram_take(context, "preparation: weights", n, sizeof(double), (void **)&made->weights));
    if (a->choice.rows) {
        TRY(gram_take(context, "preparation: rows", n, sizeof(int64_t), (void **)&made->rows));
        memcpy(made->rows, a->choice.rows, (size_t)n * sizeof(int64_t));
    }
done:
    return status;
}

/* A missing text has no place: it is not filled in. */
static gram_status check_things(const applier *a)
{
    for (int64_t f = 0; f < a->roles.feature_count; f++)
        for (int64_t i = 0; a->features[f].column->kind != GRAM_COLUMN_PLAIN && i < a->choice.count; i++)
            if (isnan(gram_table_at(a->table, row_of(a, i), a->features[f].place)))
                return gram_table_bad_value(a->context, a->table, row_of(a, i), a->features[f].place);
    return GRAM_OK;
}

static gram_status take_things(applier *a)
{
    gram_status status = GRAM_OK;
    prepared_object *made = a->made;
    const int64_t d = made->view.d;
    if (!a->preparation->has_things) return GRAM_OK;
    TRY(check_things(a));
    TRY(gram_take(a->context, "preparation: stores", d, sizeof *made->objects, (void **)&made->objects));
    memset(made->objects, 0, (size_t)d * sizeof *made->objects);
    for (int64_t f = 0; f < a->roles.feature_count; f++)
        if (a->features[f].column->kind != GRAM_COLUMN_PLAIN)
            TRY(gram_thing_store(a->context, a->table, a->features[f].place, a->features[f].column,
                                 &made->objects[a->preparation->first[f]]));
    made->view.objects = made->objects;
done:
    return status;
}

/* ---- bags ---- */

static gram_status read_keys(const applier *a, int64_t place, double *keys)
{
    gram_status status = GRAM_OK;
    char where[GRAM_WHERE_SIZE];
    for (int64_t i = 0; i < a->choice.count; i++) {
        keys[i] = gram_table_at(a->table, row_of(a, i), place);
        FAIL_IF(!isfinite(keys[i]), a->context, GRAM_ERROR_DATA,
                "%s column '%s': a missing value in the column of bags",
                gram_table_where(a->table, row_of(a, i), where), a->table->names[place]);
    }
done:
    return status;
}

static const char *value_text(const gram_column *column, double value, char number[GRAM_NUMBER_SIZE])
{
    if (column->text && value >= 0) return column->levels[(int64_t)value];
    return isnan(value) ? "a missing value" : gram_number_format(value, number);
}

/* A bag has one target and one weight: rows i and j of it differ. */
static gram_status varies(const applier *a, const char *what, const gram_column *column, int64_t place, int64_t i,
                          int64_t j, double one, double other)
{
    char where[GRAM_WHERE_SIZE], there[GRAM_WHERE_SIZE], number[GRAM_NUMBER_SIZE], value[GRAM_NUMBER_SIZE],
        name[GRAM_NUMBER_SIZE];
    const gram_table *table = a->table;
    const double key = gram_table_at(table, row_of(a, i), place);
    const char *bag =
        table->levels[place] ? gram_table_level(table, place, (int64_t)key) : gram_number_format(key, name);
    char *end = gram_table_where(table, row_of(a, i), there);
    end[strlen(end) - 1] = '\0';
    return gram_fail(a->context, GRAM_ERROR_DATA, "%s column '%s': %s in bag '%.60s', which has %s at %s: %s",
                     gram_table_where(table, row_of(a, j), where), column->name, value_text(column, other, number), bag,
                     value_text(column, one, value), there, what);
}

static int differ(double a, double b)
{
    return a != b && !(isnan(a) && isnan(b));
}

static gram_status check_alike(const applier *a, const gram_row_groups *groups, int64_t place)
{
    gram_status status = GRAM_OK;
    const prepared_object *made = a->made;
    const int64_t m = made->view.targets;
    for (int64_t j = 0; j < made->view.n; j++) {
        const int64_t i = groups->order[groups->start[groups->of_row[j]]];
        for (int64_t t = 0; t < m; t++)
            if (differ(made->y[i * m + t], made->y[j * m + t]))
                TRY(varies(a, "a bag has one target", a->targets[t].column, place, i, j, made->y[i * m + t],
                           made->y[j * m + t]));
        if (made->weights && differ(made->weights[i], made->weights[j]))
            TRY(varies(a, "a bag has one weight", a->preparation->description.weights, place, i, j, made->weights[i],
                       made->weights[j]));
    }
done:
    return status;
}

/* The store of the bags: prepared rows, those of a bag next to each other. */
static gram_status store_bags(const applier *a, int64_t place, const gram_row_groups *groups, gram_objects **bags)
{
    gram_status status = GRAM_OK;
    const gram_prepared *view = &a->made->view;
    gram_objects shape = {.kind = GRAM_OBJECT_BAG, .count = groups->count, .d = view->d};
    TRY(gram_take(a->context, "bags", groups->count + 1, sizeof(int64_t), &shape.own[0]));
    TRY(gram_take(a->context, "bags", view->n * view->d, sizeof(double), &shape.own[2]));
    if (a->roles.bag_weights >= 0) {
        TRY(gram_take(a->context, "bags", view->n, sizeof(double), &shape.own[1]));
        TRY(gram_bag_weights_read(a->context, a->table, place, a->roles.bag_weights, a->choice.rows, groups,
                                  shape.own[1]));
        shape.weight = shape.own[1];
    }
    memcpy(shape.own[0], groups->start, (size_t)(groups->count + 1) * sizeof(int64_t));
    double *out = shape.own[2];
    for (int64_t k = 0; k < view->n; k++)
        memcpy(out + k * view->d, view->x + groups->order[k] * view->d, (size_t)view->d * sizeof *out);
    shape.start = shape.own[0];
    shape.value = out;
    return gram_bags_new(a->context, a->table->file, &shape, bags);
done:
    for (int i = 0; i < 3; i++) gram_give(a->context, shape.own[i]);
    return status;
}

/* Targets and weights move to the places of the bags, which never lie behind their first rows; places in the store take that of the features. */
static void settle_bags(const applier *a, const gram_row_groups *groups)
{
    prepared_object *made = a->made;
    const int64_t m = made->view.targets;
    for (int64_t g = 0; g < groups->count; g++) {
        const int64_t i = groups->order[groups->start[g]];
        if (m > 0) memmove(made->y + g * m, made->y + i * m, (size_t)m * sizeof *made->y);
        if (made->weights) made->weights[g] = made->weights[i];
        made->first[g] = row_of(a, i);
        made->x[g] = (double)g;
    }
    made->view.n = made->view.table_rows = groups->count;
    made->view.d = 1;
    made->view.rows = NULL;
    made->view.first = made->first;
    made->view.x = made->x;
    made->view.objects = made->objects;
}

/* Prepared rows that agree in the column of bags become one point. */
static gram_status gather_bags(applier *a)
{
    gram_status status = GRAM_OK;
    prepared_object *made = a->made;
    gram_context *context = a->context;
    const char *name = a->preparation->description.bag->name;
    const int64_t place = find_place(a->table, name, 0), n = made->view.n;
    gram_row_groups groups;
    double *keys, *x = NULL;
    if (place < 0) TRY(gram_table_no_column(context, a->table, name));
    if (n == 0) return status;
    TRY(gram_arena_take(context, &a->arena, "bags", n, sizeof *keys, (void **)&keys));
    TRY(read_keys(a, place, keys));
    TRY(gram_row_groups_find(context, &a->arena, n, keys, &groups));
    TRY(check_alike(a, &groups, place));
    TRY(gram_take(context, "bags", 1, sizeof *made->objects, (void **)&made->objects));
    made->objects[0] = NULL;
    TRY(store_bags(a, place, &groups, &made->objects[0]));
    TRY(gram_take(context, "bags", groups.count, sizeof *made->first, (void **)&made->first));
    TRY(gram_take(context, "bags", groups.count, sizeof *x, (void **)&x));
    gram_give(context, made->x);
    made->x = x;
    settle_bags(a, &groups);
done:
    if (status < 0 && made->objects && made->view.d != 1) { /* there are not as many as columns yet */
        gram_objects_release(made->objects[0]);
        gram_give(context, made->objects);
        made->objects = NULL;
    }
    return status;
}

static gram_status apply(applier *a)
{
    gram_status status = GRAM_OK;
    TRY(bind_roles(a));
    TRY(gram_rows_choose(a->context, a->table, &a->roles, a->preparation->description.missing, a->training,
                         &a->choice));
    if (a->choice.count == 0 && !a->block) TRY(gram_rows_none(a->context, a->table));
    if (a->training) TRY(check_targets(a));
    if (a->choice.count == 0 && !a->block) TRY(gram_rows_none(a->context, a->table));
    TRY(take_result(a));
    TRY(take_things(a));
    const gram_sweep sweep = {.what = "preparing",
                              .tasks = (a->choice.count + BLOCK_ROWS - 1) / BLOCK_ROWS,
                              .run = write_block,
                              .argument = a};
    TRY(gram_sweep_run(a->context, &sweep));
    prepared_object *made = a->made;
    made->view.rows = made->rows;
    if (made->x) made->view.x = made->x;
    made->view.y = made->y;
    made->view.weights = made->weights;
    if (a->preparation->description.bag) TRY(gather_bags(a));
done:
    gram_give(a->context, a->choice.rows);
    return status;
}

static gram_status apply_to(applier *a, gram_prepared **prepared)
{
    gram_status status = GRAM_OK;
    *prepared = NULL;
    gram_arena_init(&a->arena, a->context->memory);
    TRY(apply(a));
    *prepared = &a->made->view;
    a->made = NULL;
done:
    gram_prepared_destroy(a->made ? &a->made->view : NULL);
    gram_arena_release(&a->arena);
    return status;
}

gram_status gram_preparation_apply(gram_context *context, const gram_preparation *preparation, const gram_table *table,
                                   int training, gram_prepared **prepared)
{
    applier a = {.context = context, .preparation = preparation, .table = table, .training = training != 0};
    if (!context || !preparation || !table || !prepared) return GRAM_ERROR_ARGUMENT;
    return apply_to(&a, prepared);
}

gram_status gram_preparation_apply_block(gram_context *context, const gram_preparation *preparation,
                                         const gram_table *table, gram_prepared **prepared)
{
    applier a = {.context = context, .preparation = preparation, .table = table, .training = 1, .block = 1};
    return apply_to(&a, prepared);
}
