/* Columns that are not what they seem: numbers but for a few texts, and numbers with separators between their digits.
 *
 * To take such a column for categories would make a useless model without a word. It stays what its reader saw, and who
 * gives it a role hears of it, with what stands there and what can be done. All odd texts of a table are in one set, each
 * after the name of its column: a table may have a million columns. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/csv/csv_field.h"
#include "data/table.h"

enum {
    MOST_WORDS = 5,    /* that are few */
    ONE_IN = 5,        /* rows that may hold one */
    LONGEST_WORD = 40, /* bytes of it that are kept */
    KEY = GRAM_LONGEST_LEVEL
};

static const char BETWEEN = '\1'; /* a column's name and its word */

double gram_odd_cell(void)
{
    return nan("1");
}

static int is_odd(double cell)
{
    const double odd = gram_odd_cell();
    return memcmp(&cell, &odd, sizeof cell) == 0;
}

gram_status gram_odd_words_add(gram_levels *words, const char *column, const char *text, size_t length)
{
    char key[KEY];
    int64_t slot;
    const size_t name = strlen(column);
    if (length > LONGEST_WORD) length = LONGEST_WORD;
    if (name + 1 + length > sizeof key || memchr(text, '\0', length)) return GRAM_OK;
    memcpy(key, column, name);
    key[name] = BETWEEN;
    memcpy(key + name + 1, text, length);
    return gram_levels_insert(words, key, name + 1 + length, &slot);
}

/* The words of a column: the first, and how many. They follow each other in the sorted set. */
static int64_t words_of(const gram_levels *words, const char *column, int64_t *first)
{
    const size_t name = strlen(column);
    const int64_t all = gram_levels_count(words);
    int64_t count = 0;
    for (int64_t i = 0; i < all; i++) {
        const char *key = gram_levels_text(words, i);
        if (strncmp(key, column, name) != 0 || key[name] != BETWEEN) continue;
        if (count++ == 0) *first = i;
    }
    return count;
}

int gram_odd_words_few(const gram_levels *words, const char *column, int64_t texts, int64_t rows)
{
    int64_t first, count;
    if (texts == 0 || texts * ONE_IN > rows) return 0;
    count = words_of(words, column, &first);
    return count >= 1 && count <= MOST_WORDS;
}

int gram_odd_words_grouped(const gram_levels *words, const char *column)
{
    const size_t name = strlen(column);
    int64_t first = 0;
    const int64_t count = words_of(words, column, &first);
    for (int64_t i = first; i < first + count; i++) {
        const char *word = gram_levels_text(words, i) + name + 1;
        const gram_csv_field field = {word, strlen(word), 0};
        if (!gram_field_is_grouped(&field)) return 0;
    }
    return count > 0;
}

/* 'a', 'b' */
static void list_words(const gram_table *table, int64_t column, const char *quote, char *out, size_t size)
{
    const size_t name = strlen(table->names[column]);
    int64_t first = 0;
    const int64_t count = words_of(table->words, table->names[column], &first);
    size_t length = 0;
    out[0] = '\0';
    for (int64_t i = 0; i < count && length < size; i++)
        length += (size_t)snprintf(out + length, size - length, "%s%s%s%s", i > 0 ? (quote[0] ? ", " : ",") : "", quote,
                                   gram_levels_text(table->words, first + i) + name + 1, quote);
}

static gram_status fail_odd(gram_context *context, const gram_table *table, int64_t column)
{
    char where[GRAM_WHERE_SIZE], quoted[300], plain[300];
    int64_t row = -1, odd = 0;
    for (int64_t i = 0; i < table->n; i++) {
        if (!is_odd(gram_table_at(table, i, column))) continue;
        if (odd++ == 0) row = i;
    }
    list_words(table, column, "'", quoted, sizeof quoted);
    list_words(table, column, "", plain, sizeof plain);
    return gram_fail(context, GRAM_ERROR_DATA,
                     "%s column '%s': %s among %s, in %" PRId64 " of %" PRId64 " rows; if that means a missing value, "
                     "--na '%s'; if the column is of categories, --categories '%s'",
                     gram_table_where(table, row < 0 ? 0 : row, where), table->names[column], quoted,
                     gram_table_column_is_date(table, column) ? "dates" : "numbers", odd, table->n, plain,
                     table->names[column]);
}

gram_status gram_table_check_odd(gram_context *context, const gram_table *table, int64_t column)
{
    gram_status status = GRAM_OK;
    const unsigned char marks = table->marks[column];
    if (marks & GRAM_COLUMN_ODD) return fail_odd(context, table, column);
    if (marks & GRAM_COLUMN_GROUPED) {
        const char *example = gram_table_level_count(table, column) > 0 ? gram_table_level(table, column, 0) : "1,000";
        FAIL(context, GRAM_ERROR_DATA,
             "%s: column '%s': numbers with separators between their digits, as '%.40s'; write them without, or, if "
             "they "
             "are names, --categories '%s'",
             table->file, table->names[column], example, table->names[column]);
    }
done:
    return status;
}
