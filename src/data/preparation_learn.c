/* Learning a preparation: roles of the columns, then what the rows say about each.
 *
 * Means and deviations come from two passes over blocks of rows. The first finds each column's range and its mean m, the
 * second sums z = (x - m)/s and z^2, where s is the power of two at the range, so that squares neither overflow nor
 * vanish: mean = m + s S1/c, deviation = s sqrt((S2 - S1^2/c)/c) for c values. What S1 corrects is the rounding of m
 * (Chan, Golub and LeVeque, "Algorithms for computing the sample variance", 1983). Blocks are added in order: the same
 * bits for any number of threads. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sized_struct.h"
#include "base/sweep.h"
#include "data/preparation.h"

/* ---- roles ---- */

enum { NO_ROLE = 0, FEATURE, TARGET, WEIGHTS, IGNORED, BAG, BAG_WEIGHTS };

static const char *const role_names[] = {"",        "a feature", "a target",           "the weights",
                                         "ignored", "the bags",  "the weights in bags"};

static gram_status give_role(gram_context *context, const gram_table *table, char *role_of, int64_t column, int role)
{
    gram_status status = GRAM_OK;
    FAIL_IF(role_of[column] != NO_ROLE, context, GRAM_ERROR_SYNTAX, "%s: column '%s' is both %s and %s", table->file,
            table->names[column], role_names[(int)role_of[column]], role_names[role]);
    role_of[column] = (char)role;
done:
    return status;
}

/* The columns of a list get the role. */
static gram_status give_roles(gram_context *context, const gram_table *table, const char *list, char *role_of, int role,
                              int64_t *columns, int64_t *count)
{
    gram_status status = GRAM_OK;
    *count = 0;
    if (!list || list[0] == '\0') return status;
    TRY(gram_table_find_columns(context, table, list, columns, count));
    for (int64_t i = 0; i < *count; i++) TRY(give_role(context, table, role_of, columns[i], role));
done:
    return status;
}

/* The last column that has no other role. */
static gram_status default_target(gram_context *context, const gram_table *table, char *role_of, gram_roles *roles)
{
    gram_status status = GRAM_OK;
    int64_t last = table->d - 1;
    while (last >= 0 && role_of[last] != NO_ROLE) last--;
    FAIL_IF(last < 0, context, GRAM_ERROR_DATA, "%s: no column is left for the target", table->file);
    TRY(give_role(context, table, role_of, last, TARGET));
    roles->targets[0] = last;
    roles->target_count = 1;
done:
    return status;
}

static gram_status find_bag_weights(gram_context *context, const gram_table *table,
                                    const gram_preparation_options *options, char *role_of, int64_t *scratch,
                                    gram_roles *roles)
{
    gram_status status = GRAM_OK;
    int64_t count;
    TRY(give_roles(context, table, options->bag_weights, role_of, BAG_WEIGHTS, scratch, &count));
    FAIL_IF(count > 1, context, GRAM_ERROR_SYNTAX, "bag-weights '%s': one column is needed", options->bag_weights);
    FAIL_IF(count == 1 && roles->bag < 0, context, GRAM_ERROR_SYNTAX,
            "bag-weights '%s': there are no bags; bag names the column that groups rows", options->bag_weights);
    roles->bag_weights = count == 1 ? scratch[0] : -1;
done:
    return status;
}

/* `scratch` has room for d columns. A column may be both in the list of features and ignored: then it is ignored. */
static gram_status find_roles(gram_context *context, const gram_table *table, const gram_preparation_options *options,
                              char *role_of, int64_t *scratch, gram_roles *roles)
{
    gram_status status = GRAM_OK;
    int64_t count;
    TRY(give_roles(context, table, options->ignore, role_of, IGNORED, scratch, &count));
    TRY(give_roles(context, table, options->weights, role_of, WEIGHTS, scratch, &count));
    FAIL_IF(count > 1, context, GRAM_ERROR_SYNTAX, "weights '%s': one column is needed", options->weights);
    roles->weights = count == 1 ? scratch[0] : -1;
    TRY(give_roles(context, table, options->bag, role_of, BAG, scratch, &count));
    FAIL_IF(count > 1, context, GRAM_ERROR_SYNTAX, "bag '%s': one column is needed", options->bag);
    roles->bag = count == 1 ? scratch[0] : -1;
    TRY(find_bag_weights(context, table, options, role_of, scratch, roles));
    TRY(give_roles(context, table, options->target, role_of, TARGET, roles->targets, &roles->target_count));
    if (!options->target) TRY(default_target(context, table, role_of, roles));
    count = 0;
    if (options->features) TRY(gram_table_find_columns(context, table, options->features, scratch, &count));
    for (int64_t i = 0; !options->features && i < table->d;
         i++) /* a given matrix is all that there is, unless others are asked for */
        if (role_of[i] == NO_ROLE && (!table->given || table->marks[i] & GRAM_COLUMN_HAS_GIVEN)) scratch[count++] = i;
    for (int64_t i = 0; i < count; i++) {
        if (role_of[scratch[i]] == IGNORED) continue;
        TRY(give_role(context, table, role_of, scratch[i], FEATURE));
        roles->features[roles->feature_count++] = scratch[i];
    }
    FAIL_IF(roles->feature_count == 0, context, GRAM_ERROR_DATA, "%s: no column is left for the features%s",
            table->file, gram_table_hint(table));
done:
    return status;
}

/* Text that cannot serve its role. */
static gram_status check_text(gram_context *context, const gram_table *table, const gram_roles *roles,
                              int64_t most_levels)
{
    gram_status status = GRAM_OK;
    const int64_t features = roles->feature_count, both = features + roles->target_count;
    for (int64_t i = 0; i < both; i++) {
        const int64_t column = i < features ? roles->features[i] : roles->targets[i - features];
        const int64_t count = gram_table_level_count(table, column);
        const gram_column_kind kind = gram_table_column_kind(table, column, NULL);
        FAIL_IF(kind != GRAM_COLUMN_PLAIN && i >= features, context, GRAM_ERROR_DATA,
                "%s: column '%s': %s cannot be a target", table->file, table->names[column],
                kind == GRAM_COLUMN_SPARSE  ? "sparse rows"
                : kind == GRAM_COLUMN_TEXTS ? "texts"
                                            : "a given matrix");
        if (kind != GRAM_COLUMN_PLAIN) continue;
        TRY(gram_table_check_odd(context, table, column));
        FAIL_IF(count < 0, context, GRAM_ERROR_DATA,
                "%s: column '%s': text with more than %d levels, or one of more than %d bytes; leave it out (--ignore)",
                table->file, table->names[column], (int)GRAM_MOST_LEVELS, (int)GRAM_LONGEST_LEVEL);
        FAIL_IF(i < features && count > most_levels, context, GRAM_ERROR_DATA,
                "%s: column '%s': text with %" PRId64 " levels, at most %" PRId64 " can be categories; leave it out "
                "(--ignore)",
                table->file, table->names[column], count, most_levels);
    }
    const int64_t weights[] = {roles->weights, roles->bag_weights};
    for (int i = 0; i < 2; i++) {
        if (weights[i] < 0) continue;
        TRY(gram_table_check_odd(context, table, weights[i]));
        FAIL_IF(table->levels[weights[i]], context, GRAM_ERROR_DATA, "%s: column '%s': weights cannot be text",
                table->file, table->names[weights[i]]);
    }
done:
    return status;
}

/* ---- numbers ---- */

enum { BLOCK_ROWS = 4096 };

/* What one block knows of one column. */
typedef struct part {
    double count, sum, square; /* pass 1: sum of x / n; pass 2: of z and z^2 */
    double least, greatest;
} part;

typedef struct moments {
    const gram_table *table;
    const gram_row_choice *choice;
    const int64_t *columns;
    int64_t count; /* of columns */
    int scaled;    /* are deviations wanted? */
    int pass;
    double *mean, *scale; /* of each column */
    part *parts;          /* blocks x count */
} moments;

static int64_t row_of(const gram_row_choice *choice, int64_t i)
{
    return choice->rows ? choice->rows[i] : i;
}

static gram_status add_block(void *argument, const gram_worker *worker)
{
    const moments *m = argument;
    part *parts = m->parts + worker->task * m->count;
    const int64_t start = worker->task * BLOCK_ROWS, n = m->choice->count;
    const int64_t end = start + BLOCK_ROWS < n ? start + BLOCK_ROWS : n;
    for (int64_t j = 0; j < m->count; j++) parts[j] = (part){.least = INFINITY, .greatest = -INFINITY};
    for (int64_t i = start; i < end; i++) {
        const int64_t row = row_of(m->choice, i);
        for (int64_t j = 0; j < m->count; j++) {
            const double x = gram_table_at(m->table, row, m->columns[j]);
            if (isnan(x)) continue;
            const double z = m->pass == 1 ? x / (double)n : (x - m->mean[j]) / m->scale[j];
            parts[j].count++;
            parts[j].sum += z;
            parts[j].square += z * z;
            parts[j].least = x < parts[j].least ? x : parts[j].least;
            parts[j].greatest = x > parts[j].greatest ? x : parts[j].greatest;
        }
    }
    return GRAM_OK;
}

static part add_parts(const moments *m, int64_t blocks, int64_t column)
{
    part all = {.least = INFINITY, .greatest = -INFINITY};
    for (int64_t b = 0; b < blocks; b++) {
        const part *one = &m->parts[b * m->count + column];
        all.count += one->count;
        all.sum += one->sum;
        all.square += one->square;
        all.least = fmin(all.least, one->least);
        all.greatest = fmax(all.greatest, one->greatest);
    }
    return all;
}

static gram_status first_pass(gram_context *context, const moments *m, int64_t blocks)
{
    gram_status status = GRAM_OK;
    for (int64_t j = 0; j < m->count; j++) {
        const part all = add_parts(m, blocks, j);
        const char *name = m->table->names[m->columns[j]];
        FAIL_IF(all.count == 0, context, GRAM_ERROR_DATA, "%s: column '%s': all values are missing", m->table->file,
                name);
        const double range = all.greatest - all.least;
        FAIL_IF(m->scaled && !isfinite(range), context, GRAM_ERROR_DATA,
                "%s: column '%s': its numbers are too large to be scaled", m->table->file, name);
        int exponent = 1;
        if (range > 0 && isfinite(range)) (void)frexp(range, &exponent);
        m->scale[j] = ldexp(1, exponent < -1000 ? -1000 : exponent - 1);
        m->mean[j] = range > 0 ? all.sum * ((double)m->choice->count / all.count) : all.least;
    }
done:
    return status;
}

/* Leaves mean and deviation in m->mean and m->scale. */
static void second_pass(const moments *m, int64_t blocks)
{
    for (int64_t j = 0; j < m->count; j++) {
        const part all = add_parts(m, blocks, j);
        const double s = m->scale[j], c = all.count;
        if (all.least < all.greatest) m->mean[j] += s * (all.sum / c);
        const double deviation = s * sqrt((all.square - all.sum * all.sum / c) / c);
        m->scale[j] = all.least < all.greatest && deviation > 0 ? deviation : 1;
    }
}

static gram_status find_moments(gram_context *context, moments *m)
{
    gram_status status = GRAM_OK;
    const int64_t blocks = (m->choice->count + BLOCK_ROWS - 1) / BLOCK_ROWS;
    const gram_sweep sweep = {.what = "scaling", .tasks = blocks, .run = add_block, .argument = m};
    if (m->count == 0) return status;
    TRY(gram_take(context, "preparation: moments", blocks * m->count, sizeof *m->parts, (void **)&m->parts));
    m->pass = 1;
    TRY(gram_sweep_run(context, &sweep));
    TRY(first_pass(context, m, blocks));
    m->pass = 2;
    if (m->scaled) TRY(gram_sweep_run(context, &sweep));
    if (m->scaled) second_pass(m, blocks);
done:
    gram_give(context, m->parts);
    m->parts = NULL;
    return status;
}

/* ---- describing ---- */

typedef struct learner {
    gram_context *context;
    const gram_table *table;
    const gram_preparation_options *options;
    gram_arena arena; /* all scratch */
    gram_roles roles;
    gram_row_choice choice;
} learner;

/* The levels that the chosen rows have, and the most frequent one. */
static gram_status describe_text(learner *l, int64_t column, gram_column *out)
{
    gram_status status = GRAM_OK;
    const gram_table *table = l->table;
    const int64_t count = gram_table_level_count(table, column);
    int64_t *seen = NULL, most = 0;
    const char **levels = NULL;
    TRY(gram_arena_take(l->context, &l->arena, "preparation", count, sizeof *seen, (void **)&seen));
    TRY(gram_arena_take(l->context, &l->arena, "preparation", count, sizeof *levels, (void **)&levels));
    for (int64_t i = 0; i < l->choice.count; i++) {
        const double x = gram_table_at(table, row_of(&l->choice, i), column);
        if (!isnan(x)) seen[(int64_t)x]++;
    }
    out->text = 1;
    out->levels = levels;
    for (int64_t k = 0; k < count; k++) {
        if (seen[k] == 0) continue;
        if (seen[k] > most) {
            most = seen[k];
            out->fill = (double)out->level_count;
        }
        levels[out->level_count++] = gram_table_level(table, column, k);
    }
    FAIL_IF(out->level_count == 0, l->context, GRAM_ERROR_DATA, "%s: column '%s': all values are missing", table->file,
            table->names[column]);
done:
    return status;
}

static gram_status describe_columns(learner *l, int64_t count, const int64_t *columns, gram_column **out)
{
    gram_status status = GRAM_OK;
    *out = NULL;
    if (count == 0) return status;
    TRY(gram_arena_take(l->context, &l->arena, "preparation", count, sizeof **out, (void **)out));
    for (int64_t i = 0; i < count; i++) {
        (*out)[i] = (gram_column){.name = l->table->names[columns[i]],
                                  .place = columns[i],
                                  .deviation = 1,
                                  .date = gram_table_column_is_date(l->table, columns[i])};
        (*out)[i].kind = gram_table_column_kind(l->table, columns[i], &(*out)[i].width);
        if ((*out)[i].kind == GRAM_COLUMN_SPARSE && l->options->scale)
            TRY(gram_sparse_deviations(l->context, &l->arena, (*out)[i].width, 1,
                                       &(gram_sparse_part){l->table, columns[i], &l->choice}, &(*out)[i].deviations));
        if (l->table->levels[columns[i]] && (*out)[i].kind == GRAM_COLUMN_PLAIN)
            TRY(describe_text(l, columns[i], &(*out)[i]));
    }
done:
    return status;
}

static int is_number(const gram_column *column)
{
    return !column->text && column->kind == GRAM_COLUMN_PLAIN;
}

/* Mean and deviation of the features that are numbers. */
static gram_status measure_features(learner *l, gram_column *features)
{
    gram_status status = GRAM_OK;
    const int64_t count = l->roles.feature_count;
    moments m = {.table = l->table, .choice = &l->choice, .scaled = l->options->scale};
    int64_t *columns = NULL;
    TRY(gram_arena_take(l->context, &l->arena, "preparation", count, sizeof *columns, (void **)&columns));
    TRY(gram_arena_take(l->context, &l->arena, "preparation", count, sizeof *m.mean, (void **)&m.mean));
    TRY(gram_arena_take(l->context, &l->arena, "preparation", count, sizeof *m.scale, (void **)&m.scale));
    m.columns = columns;
    for (int64_t i = 0; i < count; i++)
        if (is_number(&features[i])) columns[m.count++] = l->roles.features[i];
    TRY(find_moments(l->context, &m));
    for (int64_t i = 0, j = 0; i < count; i++) {
        if (!is_number(&features[i])) continue;
        features[i].fill = m.mean[j];
        if (l->options->scale) {
            features[i].mean = m.mean[j];
            features[i].deviation = m.scale[j];
        }
        j++;
    }
done:
    return status;
}

gram_status gram_roles_find(gram_context *context, gram_arena *arena, const gram_table *table,
                            const gram_preparation_options *options, gram_roles *roles)
{
    gram_status status = GRAM_OK;
    const int64_t d = table->d;
    char *role_of = NULL;
    int64_t *scratch = NULL;
    TRY(gram_arena_take(context, arena, "preparation", d, 1, (void **)&role_of));
    TRY(gram_arena_take(context, arena, "preparation", 3 * d, sizeof *scratch, (void **)&scratch));
    roles->features = scratch + d;
    roles->targets = scratch + 2 * d;
    TRY(find_roles(context, table, options, role_of, scratch, roles));
    TRY(check_text(context, table, roles, options->most_levels));
done:
    return status;
}

/* Rows of bags are numbers. */
static gram_status check_bag(const learner *l)
{
    gram_status status = GRAM_OK;
    for (int64_t i = 0; l->roles.bag >= 0 && i < l->roles.feature_count; i++)
        FAIL_IF(gram_table_column_kind(l->table, l->roles.features[i], NULL) != GRAM_COLUMN_PLAIN, l->context,
                GRAM_ERROR_DATA,
                "%s: column '%s' holds no numbers, and a bag has rows of numbers; leave it out (--ignore)",
                l->table->file, l->table->names[l->roles.features[i]]);
done:
    return status;
}

static gram_status learn(learner *l, gram_preparation **preparation)
{
    gram_status status = GRAM_OK;
    gram_column *features, *targets, *weights = NULL, *bag_weights = NULL;
    TRY(gram_roles_find(l->context, &l->arena, l->table, l->options, &l->roles));
    TRY(gram_rows_choose(l->context, l->table, &l->roles, l->options->missing, 1, &l->choice));
    if (l->choice.count == 0) TRY(gram_rows_none(l->context, l->table));
    TRY(describe_columns(l, l->roles.feature_count, l->roles.features, &features));
    TRY(describe_columns(l, l->roles.target_count, l->roles.targets, &targets));
    TRY(describe_columns(l, l->roles.weights >= 0, &l->roles.weights, &weights));
    TRY(describe_columns(l, l->roles.bag_weights >= 0, &l->roles.bag_weights, &bag_weights));
    TRY(measure_features(l, features));
    TRY(check_bag(l));
    const int64_t place = l->roles.bag >= 0 ? l->roles.bag : 0;
    const gram_column bag = {.name = l->table->names[place], .place = place, .deviation = 1};
    const gram_preparation_description description = {.feature_count = l->roles.feature_count,
                                                      .features = features,
                                                      .target_count = l->roles.target_count,
                                                      .targets = targets,
                                                      .weights = weights,
                                                      .missing = l->options->missing,
                                                      .scaled = l->options->scale,
                                                      .named = l->table->named,
                                                      .missing_texts = l->options->missing_texts,
                                                      .bag = l->roles.bag >= 0 ? &bag : NULL,
                                                      .bag_weights = bag_weights};
    TRY(gram_preparation_create(l->context, &description, preparation));
done:
    gram_give(l->context, l->choice.rows);
    return status;
}

gram_status gram_preparation_options_read(gram_context *context, const gram_preparation_options *given,
                                          gram_preparation_options *options)
{
    gram_status status = GRAM_OK;
    gram_preparation_options_init(options, sizeof *options);
    TRY(gram_sized_read(context, "preparation_learn", "options", "gram_preparation_options", given, options,
                        sizeof *options));
    FAIL_IF((unsigned)options->missing > GRAM_MISSING_MEAN || (options->scale | 1) != 1 || options->most_levels < 1,
            context, GRAM_ERROR_ARGUMENT, "preparation_learn: options.missing = %d, scale = %d, most_levels = %" PRId64,
            (int)options->missing, options->scale, options->most_levels);
done:
    return status;
}

gram_status gram_preparation_learn(gram_context *context, const gram_table *table,
                                   const gram_preparation_options *options, gram_preparation **preparation)
{
    gram_status status = GRAM_OK;
    gram_preparation_options o;
    learner l = {.context = context, .table = table};
    if (!context || !table || !preparation) return GRAM_ERROR_ARGUMENT;
    *preparation = NULL;
    gram_arena_init(&l.arena, context->memory);
    l.options = &o;
    TRY(gram_preparation_options_read(context, options, &o));
    TRY(learn(&l, preparation));
done:
    gram_arena_release(&l.arena);
    return status;
}
