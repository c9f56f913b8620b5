/* The column of kinds: what each row of a table observes of the function.
 *
 *   value             the function there
 *   d:NAME            its derivative by a feature, d:NAME:NAME a second one
 *   laplacian         the sum of its second derivatives by all features
 *   box, average      its integral, or mean, from the row's features to the columns NAME_to
 *   normal            its mean over normal distributions about the features, with deviations in the columns NAME_sd
 *   sum:ID            with all rows of that ID one functional, the sum of the values there times their coefficients
 *
 * each of them with >=, <= or == behind it for a row whose target is a bound,
 * and any name that an operator was given, NAME = EXPRESSION: terms such as 0.1*d:x:x, value or 2, with + and - between. A factor
 * may be the name of an unknown number (method/unknown_numbers.h): an operator is then a sum of one that is known and one for each
 * unknown, and its row has as many terms.
 *
 * Everything is in the features' own units: where they are scaled, derivatives, sides and deviations are as well. A kind is read once
 * for each level of the column. */
#include "learn/row_kinds.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/text.h>

#include "base/text/number.h"

enum { NAME_SIZE = 256 };

typedef enum kind_type { KIND_OPERATOR, KIND_SUM, KIND_BOX, KIND_AVERAGE, KIND_NORMAL } kind_type;

/* A second-order operator in scaled units; slope and matrix are NULL where they are 0. */
typedef struct operator_part {
    int used;
    double constant, *slope, *matrix;
} operator_part;

/* One level of the column. */
typedef struct kind {
    kind_type type;
    operator_part known, times[GRAM_MOST_UNKNOWNS]; /* of an operator: known + sum of unknown i times[i] */
    int64_t functional;                             /* of a sum: its row, -1 before its first */
    gram_row_sense sense;                           /* a bound, or data */
} kind;

typedef struct reading {
    gram_context *context;
    gram_arena *arena;
    const gram_kinds *kinds;
    const gram_preparation *preparation;
    const gram_table *table;
    const gram_prepared *data;
    int64_t d;
    int64_t column, coefficient; /* of the table */
    int64_t *to, *sd;            /* for each prepared column: of the table, -1: none */
    double *unit;                /* how long a scaled unit is */
    const double *x;             /* the data's, or a copy that lasts as long as the terms do */
    kind *levels;
    gram_unknowns unknowns;
} reading;

static gram_status take(reading *r, int64_t count, size_t size, void *out)
{
    return gram_arena_take(r->context, r->arena, "kinds of rows", count, size, (void **)out);
}

/* ---- columns ---- */

int64_t gram_kinds_find(const gram_table *table, const char *name)
{
    for (int64_t c = 0; c < gram_table_columns(table); c++)
        if (strcmp(gram_table_column_name(table, c), name) == 0) return c;
    return -1;
}

static int64_t find_with(const gram_table *table, const char *name, const char *ending)
{
    char text[NAME_SIZE + 8];
    (void)snprintf(text, sizeof text, "%s%s", name, ending);
    return gram_kinds_find(table, text);
}

gram_status gram_kinds_columns(gram_context *context, gram_arena *arena, const gram_kinds *kinds,
                               const gram_table *table, const char **list)
{
    gram_status status = GRAM_OK;
    static const char *const endings[] = {"_to", "_sd"};
    size_t size = 8;
    char *made;
    for (int64_t c = 0; c < gram_table_columns(table); c++) size += strlen(gram_table_column_name(table, c)) + 2;
    if (kinds->coefficient) size += strlen(kinds->coefficient) + 1;
    size += strlen(kinds->column) + 1;
    TRY(gram_arena_take(context, arena, "kinds of rows", (int64_t)size, 1, (void **)&made));
    int used = snprintf(made, size, "%s%s%s", kinds->column, kinds->coefficient ? "," : "",
                        kinds->coefficient ? kinds->coefficient : "");
    for (int64_t c = 0; c < gram_table_columns(table); c++)
        for (int e = 0; e < 2; e++) {
            const int64_t beside = find_with(table, gram_table_column_name(table, c), endings[e]);
            if (beside < 0) continue;
            used += snprintf(made + used, size - (size_t)used, ",%s", gram_table_column_name(table, beside));
        }
    *list = made;
done:
    return status;
}

gram_status gram_kinds_wanted(gram_context *context, gram_arena *arena, const gram_kinds *kinds,
                              const gram_preparation *preparation, gram_table_options *options)
{
    gram_status status = GRAM_OK;
    static const char *const endings[] = {"_to", "_sd"};
    const gram_preparation_description *known = gram_preparation_describe(preparation);
    int64_t count = options->wanted_count;
    gram_wanted *all;
    TRY(gram_arena_take(context, arena, "kinds of rows", count + 2 + 2 * known->feature_count, sizeof *all,
                        (void **)&all));
    memcpy(all, options->wanted, (size_t)count * sizeof *all);
    all[count++] = (gram_wanted){.name = kinds->column, .text = 1, .optional = 1};
    if (kinds->coefficient) all[count++] = (gram_wanted){.name = kinds->coefficient, .optional = 1};
    for (int64_t f = 0; f < known->feature_count; f++)
        for (int e = 0; e < 2 && !known->features[f].text; e++) {
            const size_t size = strlen(known->features[f].name) + strlen(endings[e]) + 1;
            char *name;
            TRY(gram_arena_take(context, arena, "kinds of rows", (int64_t)size, 1, (void **)&name));
            (void)snprintf(name, size, "%s%s", known->features[f].name, endings[e]);
            all[count++] = (gram_wanted){.name = name, .optional = 1};
        }
    options->wanted = all;
    options->wanted_count = count;
done:
    return status;
}

static gram_status find_columns(reading *r)
{
    gram_status status = GRAM_OK;
    char name[NAME_SIZE];
    r->column = gram_kinds_find(r->table, r->kinds->column);
    FAIL_IF(r->column < 0, r->context, GRAM_ERROR_DATA, "there is no column '%s', which says what each row is",
            r->kinds->column);
    FAIL_IF(!gram_table_column_is_text(r->table, r->column), r->context, GRAM_ERROR_ARGUMENT,
            "column '%s' has numbers, and kinds of rows are words: value, d:NAME, laplacian, ...", r->kinds->column);
    r->coefficient = r->kinds->coefficient ? gram_kinds_find(r->table, r->kinds->coefficient) : -1;
    TRY(take(r, r->d, sizeof *r->to, &r->to));
    TRY(take(r, r->d, sizeof *r->sd, &r->sd));
    TRY(take(r, r->d, sizeof *r->unit, &r->unit));
    for (int64_t l = 0; l < r->d; l++) {
        const int64_t feature = gram_preparation_feature_of(r->preparation, l);
        (void)gram_preparation_column_name(r->preparation, l, name, sizeof name);
        if (gram_preparation_describe(r->preparation)->features[feature].log_size > 0) {
            (void)gram_fail(r->context, GRAM_ERROR_ARGUMENT,
                            "the model takes '%.60s' as a logarithm, and derivatives would be by that", name);
            return gram_advise(r->context, GRAM_ERROR_ARGUMENT, "Fit it with --transform none.");
        }
        r->to[l] = find_with(r->table, name, "_to");
        r->sd[l] = find_with(r->table, name, "_sd");
        r->unit[l] = gram_preparation_unit(r->preparation, l, 1) - gram_preparation_unit(r->preparation, l, 0);
    }
done:
    return status;
}

/* ---- kinds as text ---- */

/* The feature whose name is the first `length` letters; -1: none. */
static int64_t feature_named(const reading *r, const char *text, size_t length)
{
    char name[NAME_SIZE];
    for (int64_t l = 0; l < r->d; l++) {
        (void)gram_preparation_column_name(r->preparation, l, name, sizeof name);
        if (strlen(name) == length && strncmp(name, text, length) == 0) return l;
    }
    return -1;
}

/* NAME or NAME:NAME, where a name may have colons itself. *second is -1 for the first. */
static int read_features(const reading *r, const char *text, size_t length, int64_t *first, int64_t *second)
{
    *first = feature_named(r, text, length);
    *second = -1;
    for (size_t cut = 1; *first < 0 && cut + 1 < length; cut++) {
        if (text[cut] != ':') continue;
        *first = feature_named(r, text, cut);
        *second = feature_named(r, text + cut + 1, length - cut - 1);
        if (*first < 0 || *second < 0) *first = *second = -1;
    }
    return *first >= 0;
}

static gram_status add_slope(reading *r, operator_part *k, int64_t l, double c)
{
    gram_status status = GRAM_OK;
    if (!k->slope) TRY(take(r, r->d, sizeof *k->slope, &k->slope));
    k->slope[l] += c / r->unit[l];
done:
    return status;
}

static gram_status add_curvature(reading *r, operator_part *k, int64_t l, int64_t m, double c)
{
    gram_status status = GRAM_OK;
    if (!k->matrix) TRY(take(r, r->d * r->d, sizeof *k->matrix, &k->matrix));
    k->matrix[l * r->d + m] += c / (r->unit[l] * r->unit[m]);
done:
    return status;
}

/* Adds c times what the word says. */
static gram_status add_word(reading *r, operator_part *k, double c, const char *word, size_t length)
{
    gram_status status = GRAM_OK;
    int64_t first, second;
    if (length == 5 && strncmp(word, "value", 5) == 0) {
        k->constant += c;
    } else if (length == 9 && strncmp(word, "laplacian", 9) == 0) {
        for (int64_t l = 0; l < r->d; l++) TRY(add_curvature(r, k, l, l, c));
    } else if (length > 2 && strncmp(word, "d:", 2) == 0) {
        FAIL_IF(!read_features(r, word + 2, length - 2, &first, &second), r->context, GRAM_ERROR_DATA,
                "'%.*s': there is no feature of that name", (int)length, word);
        TRY(second < 0 ? add_slope(r, k, first, c) : add_curvature(r, k, first, second, c));
    } else {
        status = gram_fail(r->context, GRAM_ERROR_DATA, "'%.*s' is not a kind of row", (int)length, word);
    }
done:
    return status;
}

/* A factor of a term that is not its word: a number, which *c is multiplied by, or the name of an unknown, of which a term has
 * one at most. 0: it is neither. */
static int read_factor(const reading *r, const char *text, size_t length, double *c, int *unknown)
{
    double number;
    if (length > 0 && gram_number_parse(text, length, &number) == length) {
        *c *= number;
        return 1;
    }
    const int found = gram_unknowns_find(&r->unknowns, text, length);
    if (found < 0 || *unknown >= 0) return 0;
    *unknown = found;
    return 1;
}

static gram_status refuse_factor(const reading *r, const char *factor, size_t length, const char *term, size_t whole)
{
    const int twice = gram_unknowns_find(&r->unknowns, factor, length) >= 0;
    if (length == 0) return gram_fail(r->context, GRAM_ERROR_DATA, "'%.*s' has nothing before *", (int)whole, term);
    return gram_fail(r->context, GRAM_ERROR_DATA, "'%.*s' in '%.*s' is %s", (int)length, factor, (int)whole, term,
                     twice ? "a second unknown: a term has one at most"
                           : "not a number, in an operator, nor an unknown");
}

/* One term: factors with * between, the last of which may be a word; a term without a word is a multiple of the value. */
static gram_status add_term(reading *r, kind *k, double sign, const char *text, size_t length)
{
    const char *end = text + length, *at = text, *word = NULL;
    int unknown = -1;
    if (length == 0) return gram_fail(r->context, GRAM_ERROR_DATA, "an operator has an empty term");
    while (at < end) {
        const char *star = memchr(at, '*', (size_t)(end - at)), *stop = star ? star : end;
        while (at < stop && *at == ' ') at++;
        size_t used = (size_t)(stop - at);
        while (used > 0 && at[used - 1] == ' ') used--;
        if (!read_factor(r, at, used, &sign, &unknown)) {
            if (star) return refuse_factor(r, at, used, text, length);
            word = at;
        }
        at = star ? star + 1 : end;
    }
    operator_part *part = unknown >= 0 ? &k->times[unknown] : &k->known;
    part->used = 1;
    if (word) return add_word(r, part, sign, word, (size_t)(end - word));
    part->constant += sign;
    return GRAM_OK;
}

/* Where the term ends that starts at text: at a + or - with a blank before it, or at the end. */
static size_t term_length(const char *text, size_t length)
{
    for (size_t i = 1; i < length; i++)
        if ((text[i] == '+' || text[i] == '-') && text[i - 1] == ' ') return i;
    return length;
}

static gram_status read_expression(reading *r, kind *k, const char *text, size_t length)
{
    gram_status status = GRAM_OK;
    double sign = 1;
    while (length > 0) {
        while (length > 0 && (*text == ' ' || *text == '+' || *text == '-')) {
            if (*text == '-') sign = -sign;
            text++;
            length--;
        }
        const size_t part = term_length(text, length);
        size_t used = part;
        while (used > 0 && text[used - 1] == ' ') used--;
        TRY(add_term(r, k, sign, text, used));
        text += part;
        length -= part;
        sign = 1;
    }
done:
    return status;
}

/* The expression of an operator's name, in NAME = EXPRESSION; NAME = ...; NULL: there is none. */
static const char *find_operator(const char *all, const char *name, size_t *length)
{
    while (all && *all) {
        while (*all == ' ' || *all == ';') all++;
        const char *equals = strchr(all, '='), *end = strchr(all, ';');
        if (!equals) return NULL;
        if (!end) end = all + strlen(all);
        size_t used = (size_t)(equals - all);
        while (used > 0 && all[used - 1] == ' ') used--;
        if (used == strlen(name) && strncmp(all, name, used) == 0) {
            *length = (size_t)(end - equals - 1);
            return equals + 1;
        }
        all = end;
    }
    return NULL;
}

/* A kind that ends in >=, <= or == is a bound: its word without that, and its sense. */
static gram_status cut_sense(reading *r, const char **text, kind *k)
{
    static const struct {
        const char *sign;
        gram_row_sense sense;
    } SIGNS[] = {{">=", GRAM_ROW_AT_LEAST}, {"<=", GRAM_ROW_AT_MOST}, {"==", GRAM_ROW_EQUAL}};
    gram_status status = GRAM_OK;
    size_t length = strlen(*text);
    char *word;
    k->sense = GRAM_ROW_FITTED;
    for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++)
        if (length > 2 && strcmp(*text + length - 2, SIGNS[i].sign) == 0) k->sense = SIGNS[i].sense;
    if (k->sense == GRAM_ROW_FITTED) goto done;
    TRY(take(r, (int64_t)length, 1, &word));
    length -= 2;
    memcpy(word, *text, length);
    while (length > 0 && word[length - 1] == ' ') length--;
    word[length] = 0;
    *text = word;
done:
    return status;
}

static gram_status read_level(reading *r, const char *text, kind *k)
{
    size_t length = 0;
    k->functional = -1;
    const gram_status status = cut_sense(r, &text, k);
    if (status < 0) return status;
    const char *expression = find_operator(r->kinds->operators, text, &length);
    if (expression && length == 0)
        return gram_fail(r->context, GRAM_ERROR_DATA, "operator '%.100s' has no expression", text);
    if (expression) return read_expression(r, k, expression, length);
    if (strncmp(text, "sum:", 4) == 0)
        k->type = KIND_SUM;
    else if (strcmp(text, "box") == 0)
        k->type = KIND_BOX;
    else if (strcmp(text, "average") == 0)
        k->type = KIND_AVERAGE;
    else if (strcmp(text, "normal") == 0)
        k->type = KIND_NORMAL;
    else {
        k->known.used = 1;
        return add_word(r, &k->known, 1, text, strlen(text));
    }
    return GRAM_OK;
}

/* Puts the first row that has the level in front of the message. */
static gram_status name_row(const reading *r, int64_t level, gram_status status)
{
    char message[GRAM_MESSAGE_SIZE];
    const double *at = gram_table_numbers(r->table) + r->column;
    int64_t row = 0;
    if (status != GRAM_ERROR_DATA) return status;
    (void)snprintf(message, sizeof message, "%s", gram_context_message(r->context));
    while (row < gram_table_rows(r->table) && at[row * gram_table_ld(r->table)] != (double)level) row++;
    if (row == gram_table_rows(r->table)) return status;
    return gram_fail(r->context, status, "row %" PRId64 ": %s", row + 1, message);
}

static gram_status read_levels(reading *r)
{
    gram_status status = GRAM_OK;
    const int64_t count = gram_table_level_count(r->table, r->column);
    TRY(take(r, count, sizeof *r->levels, &r->levels));
    for (int64_t i = 0; i < count; i++) {
        status = read_level(r, gram_table_level(r->table, r->column, i), &r->levels[i]);
        if (status < 0) return name_row(r, i, status);
    }
done:
    return status;
}

/* ---- rows ---- */

static int64_t table_row(const reading *r, int64_t i)
{
    return r->data->rows ? r->data->rows[i] : i;
}

static gram_status number_at(const reading *r, int64_t i, int64_t column, double *out)
{
    const int64_t row = table_row(r, i);
    *out = gram_table_numbers(r->table)[row * gram_table_ld(r->table) + column];
    if (isfinite(*out) && !gram_table_column_is_text(r->table, column)) return GRAM_OK;
    return gram_fail(r->context, GRAM_ERROR_DATA, "row %" PRId64 ": column '%s': its kind of row needs a number there",
                     row + 1, gram_table_column_name(r->table, column));
}

static gram_status kind_of(const reading *r, int64_t i, kind **out)
{
    const int64_t row = table_row(r, i);
    const double level = gram_table_numbers(r->table)[row * gram_table_ld(r->table) + r->column];
    if (!(level >= 0))
        return gram_fail(r->context, GRAM_ERROR_DATA, "row %" PRId64 ": column '%s': the kind of row is missing",
                         row + 1, r->kinds->column);
    *out = &r->levels[(int64_t)level];
    return GRAM_OK;
}

/* Which functional each row is of; sums are where their first row is. */
static gram_status number_rows(reading *r, gram_kind_rows *rows)
{
    gram_status status = GRAM_OK;
    kind *k;
    TRY(take(r, r->data->n, sizeof *rows->of_row, &rows->of_row));
    for (int64_t i = 0; i < r->data->n; i++) {
        TRY(kind_of(r, i, &k));
        if (k->type == KIND_SUM && k->functional < 0) k->functional = rows->n;
        if (k->type == KIND_SUM && k->functional < rows->n)
            rows->of_row[i] = k->functional;
        else
            rows->of_row[i] = rows->n++;
    }
done:
    return status;
}

/* A box ends where it begins or after it, and deviations are not negative. */
static gram_status check_side(const reading *r, int64_t i, const kind *k, int64_t l, double number)
{
    gram_status status = GRAM_OK;
    const double least =
        k->type == KIND_NORMAL ? 0 : gram_preparation_unit(r->preparation, l, r->data->x[i * r->d + l]);
    const int64_t column = (k->type == KIND_NORMAL ? r->sd : r->to)[l];
    char shown[GRAM_NUMBER_SIZE], bound[GRAM_NUMBER_SIZE];
    FAIL_IF(number < least && !(least - number <= 1e-12 * fabs(least)), r->context, GRAM_ERROR_DATA,
            "row %" PRId64 ": column '%s': %s is below %s%s", table_row(r, i) + 1,
            gram_table_column_name(r->table, column), gram_number_format(number, shown),
            k->type == KIND_NORMAL ? "" : "the beginning of the box, ", gram_number_short(least, 6, bound));
done:
    return status;
}

/* Upper ends of a box, or deviations, in scaled units. */
static gram_status read_sides(reading *r, int64_t i, const kind *k, const double **out)
{
    gram_status status = GRAM_OK;
    const int64_t *columns = k->type == KIND_NORMAL ? r->sd : r->to;
    const double *x = r->data->x + i * r->d;
    double *sides, number;
    int64_t found = 0;
    TRY(take(r, r->d, sizeof *sides, &sides));
    for (int64_t l = 0; l < r->d; l++) {
        sides[l] = k->type == KIND_NORMAL ? 0 : x[l];
        if (columns[l] < 0) continue;
        found++;
        TRY(number_at(r, i, columns[l], &number));
        TRY(check_side(r, i, k, l, number));
        if (k->type == KIND_NORMAL)
            sides[l] = number / r->unit[l];
        else
            sides[l] += (number - gram_preparation_unit(r->preparation, l, x[l])) / r->unit[l];
    }
    FAIL_IF(found == 0, r->context, GRAM_ERROR_DATA,
            "row %" PRId64 ": kind %s needs columns NAME_%s beside features NAME", table_row(r, i) + 1,
            k->type == KIND_NORMAL ? "normal" : "box", k->type == KIND_NORMAL ? "sd" : "to");
    *out = sides;
done:
    return status;
}

static void fill_operator(const operator_part *part, gram_functional_term *term)
{
    const int plain = !part->slope && !part->matrix && part->constant == 1;
    term->kind = plain ? GRAM_FUNCTIONAL_VALUE : GRAM_FUNCTIONAL_OPERATOR;
    term->constant = part->constant;
    term->first = part->slope;
    term->second = part->matrix;
}

/* The next term: of an operator, its part. */
static gram_status fill_term(reading *r, int64_t i, int64_t row, const kind *k, const operator_part *part,
                             gram_functional_term *term)
{
    static const gram_functional_kind INTEGRALS[] = {[KIND_BOX] = GRAM_FUNCTIONAL_INTEGRAL,
                                                     [KIND_AVERAGE] = GRAM_FUNCTIONAL_MEAN,
                                                     [KIND_NORMAL] = GRAM_FUNCTIONAL_NORMAL};
    gram_status status = GRAM_OK;
    *term = (gram_functional_term){.row = row, .coefficient = 1, .at = r->x + i * r->d};
    if (k->type == KIND_SUM) {
        FAIL_IF(r->kinds->coefficient && r->coefficient < 0, r->context, GRAM_ERROR_DATA,
                "row %" PRId64 ": there is no column '%s' with the coefficients of a sum", table_row(r, i) + 1,
                r->kinds->coefficient);
        if (r->coefficient >= 0) TRY(number_at(r, i, r->coefficient, &term->coefficient));
    } else if (k->type == KIND_OPERATOR) {
        fill_operator(part, term);
    } else {
        term->kind = INTEGRALS[k->type];
        TRY(read_sides(r, i, k, &term->first));
    }
done:
    return status;
}

/* What each functional is for, if any is a bound. */
static gram_status set_senses(reading *r, gram_kind_rows *rows)
{
    gram_status status = GRAM_OK;
    kind *k;
    int bounds = 0;
    for (int64_t i = 0; i < gram_table_level_count(r->table, r->column); i++)
        bounds |= r->levels[i].sense != GRAM_ROW_FITTED;
    if (!bounds) goto done;
    TRY(take(r, rows->n, sizeof *rows->senses, &rows->senses));
    for (int64_t i = 0; i < r->data->n; i++) {
        TRY(kind_of(r, i, &k));
        rows->senses[rows->of_row[i]] = k->sense;
    }
done:
    return status;
}

/* The parts of a kind: the unknown of each, -1: the known part. Returns how many there are. */
static int list_parts(const kind *k, int parts[GRAM_MOST_UNKNOWNS + 1])
{
    int count = 0;
    if (k->type != KIND_OPERATOR || k->known.used) parts[count++] = -1;
    for (int u = 0; u < GRAM_MOST_UNKNOWNS; u++)
        if (k->times[u].used) parts[count++] = u;
    return count;
}

/* Where the terms of each functional begin, by counting; place[n] is how many there are. */
static gram_status count_terms(const reading *r, const gram_kind_rows *rows, int64_t *place)
{
    gram_status status = GRAM_OK;
    int parts[GRAM_MOST_UNKNOWNS + 1];
    kind *k;
    memset(place, 0, (size_t)(rows->n + 1) * sizeof *place);
    for (int64_t i = 0; i < r->data->n; i++) {
        TRY(kind_of(r, i, &k));
        place[rows->of_row[i] + 1] += list_parts(k, parts);
    }
    for (int64_t i = 0; i < rows->n; i++) place[i + 1] += place[i];
done:
    return status;
}

/* Terms in the order of their functionals. */
static gram_status fill_terms(reading *r, const gram_kind_rows *rows, int64_t *place)
{
    gram_status status = GRAM_OK;
    gram_unknowns *u = &r->unknowns;
    int parts[GRAM_MOST_UNKNOWNS + 1];
    kind *k;
    for (int64_t i = 0; i < r->data->n; i++) {
        TRY(kind_of(r, i, &k));
        const int count = list_parts(k, parts);
        for (int p = 0; p < count; p++) {
            const int64_t at = place[rows->of_row[i]]++;
            u->which[at] = parts[p];
            TRY(fill_term(r, i, rows->of_row[i], k, parts[p] < 0 ? &k->known : &k->times[parts[p]], &u->terms[at]));
        }
    }
done:
    return status;
}

/* Rows that sums make fewer move in the data: what terms point to must not. */
static gram_status keep_places(reading *r)
{
    gram_status status = GRAM_OK;
    double *copy;
    if (r->unknowns.count == 0) goto done;
    TRY(take(r, r->data->n * r->d, sizeof *copy, &copy));
    memcpy(copy, r->data->x, (size_t)(r->data->n * r->d) * sizeof *copy);
    r->x = copy;
done:
    return status;
}

static gram_status make_points(reading *r, gram_kind_rows *rows)
{
    gram_status status = GRAM_OK;
    gram_unknowns *u = &r->unknowns;
    int64_t *place = NULL;
    TRY(keep_places(r));
    TRY(gram_take(r->context, "kinds of rows", rows->n + 1, sizeof *place, (void **)&place));
    TRY(count_terms(r, rows, place));
    u->term_count = place[rows->n];
    TRY(take(r, u->term_count, sizeof *u->terms, &u->terms));
    TRY(take(r, u->term_count, sizeof *u->which, &u->which));
    TRY(fill_terms(r, rows, place));
    TRY(gram_unknowns_points(r->context, u, rows->n, r->d, &rows->points));
    rows->unknowns = *u;
done:
    gram_give(r->context, place);
    return status;
}

gram_status gram_kinds_rows(gram_context *context, gram_arena *arena, const gram_kinds *kinds,
                            const gram_preparation *preparation, const gram_table *table, const gram_prepared *data,
                            gram_kind_rows *rows)
{
    gram_status status = GRAM_OK;
    reading r = {.context = context,
                 .arena = arena,
                 .kinds = kinds,
                 .preparation = preparation,
                 .table = table,
                 .data = data,
                 .x = data->x,
                 .d = data->d};
    *rows = (gram_kind_rows){.n = 0};
    TRY(gram_unknowns_read(context, kinds->unknowns, &r.unknowns));
    TRY(find_columns(&r));
    TRY(read_levels(&r));
    TRY(number_rows(&r, rows));
    TRY(set_senses(&r, rows));
    TRY(make_points(&r, rows));
done:
    return status;
}
