/* Everything that reads tables, and what is learnt from their columns. Whatever the bytes are, all ways to read them give the
 * same table or the same message: delimited text by pieces and as a stream, any format from a file, from memory, from a pipe
 * and by blocks. What was read can be written as .npy, and learnt from or refused; what was learnt prepares whole and blocks alike.
 *
 * The first byte chooses the sizes of buffer and pieces, so small that short texts have many seams, the second the options of
 * reading, the third the format and what else is done, the fourth the options of learning; the rest is the file. */
#define _GNU_SOURCE
#include "require.h"
#include "temporary_file.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/gram.h>

#include "data/csv/csv_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 4, MOST_WANTED = 256, MOST_PIPED = 16 << 10 };

/* The third byte. */
enum { KIND_CSV, KIND_LIBSVM, KIND_NPY, KIND_PAIR, KINDS, DO_FILE = 4, DO_PIPE = 8, DO_WRITE = 16, DO_LEARN = 32 };

typedef struct outcome {
    gram_status status;
    gram_table *table;
    char message[GRAM_MESSAGE_SIZE];
} outcome;

static gram_context *make_context(void)
{
    gram_context *context;
    gram_context_options options;
    gram_context_options_init(&options, sizeof options);
    options.memory_budget = 256 << 20;
    options.threads = 1;
    require(gram_context_create(&options, &context) == GRAM_OK);
    return context;
}

static void note(gram_context *context, gram_status status, outcome *out)
{
    out->status = status;
    (void)snprintf(out->message, sizeof out->message, "%s", status < 0 ? gram_context_message(context) : "");
    require((status == GRAM_OK) == (out->table != NULL));
}

/* ---- comparison ---- */

static void same_text(const gram_table *a, const gram_table *b, int64_t j)
{
    require(gram_table_column_is_text(a, j) == gram_table_column_is_text(b, j));
    require(gram_table_level_count(a, j) == gram_table_level_count(b, j));
    for (int64_t k = 0; k < gram_table_level_count(a, j); k++)
        require(strcmp(gram_table_level(a, j, k), gram_table_level(b, j, k)) == 0);
}

static int same_number(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}

/* The rows of a from `first` on are those of b. The numbers of levels are, if b is a whole table. */
static void same_rows(const gram_table *a, const gram_table *b, int64_t first, int whole)
{
    const int64_t n = gram_table_rows(b), d = gram_table_columns(b);
    for (int64_t i = 0; i < n; i++) {
        const double *left = gram_table_numbers(a) + (first + i) * gram_table_ld(a);
        const double *right = gram_table_numbers(b) + i * gram_table_ld(b);
        require(gram_table_line(a, first + i) == gram_table_line(b, i));
        for (int64_t j = 0; j < d; j++)
            if (whole || !gram_table_column_is_text(b, j)) require(same_number(left[j], right[j]));
    }
}

static void same_tables(const gram_table *a, const gram_table *b)
{
    require(gram_table_rows(a) == gram_table_rows(b) && gram_table_columns(a) == gram_table_columns(b));
    require(gram_table_has_header(a) == gram_table_has_header(b));
    for (int64_t j = 0; j < gram_table_columns(a); j++) {
        require(strcmp(gram_table_column_name(a, j), gram_table_column_name(b, j)) == 0);
        same_text(a, b, j);
    }
    same_rows(a, b, 0, 1);
}

static void same(const outcome *a, const outcome *b)
{
    require(a->status == b->status && strcmp(a->message, b->message) == 0);
    if (a->table) same_tables(a->table, b->table);
}

/* ---- by pieces and as a stream ---- */

static void read_with_sizes(gram_context *context, const uint8_t *data, size_t size, const gram_table_options *options,
                            const gram_csv_sizes *sizes, outcome *out)
{
    gram_source *source = NULL;
    gram_table *table = NULL;
    require(gram_source_open_memory(context, "text", data, size, &source) == GRAM_OK);
    require(gram_table_create(context, "text", &table) == GRAM_OK);
    const gram_status status = gram_csv_read(context, source, options, sizes, table);
    if (status < 0) gram_table_destroy(table);
    out->table = status < 0 ? NULL : table;
    note(context, status, out);
    gram_source_close(source);
}

static void compare_seams(gram_context *context, const uint8_t *data, size_t size, unsigned sizes,
                          const gram_table_options *options)
{
    const gram_csv_sizes stream = {.buffer = (size_t)16 << (sizes & 7)};
    const gram_csv_sizes pieces = {.buffer = stream.buffer, .share = (size_t)8 << (sizes >> 3 & 7)};
    outcome one = {0}, two = {0};
    read_with_sizes(context, data, size, options, &stream, &one);
    read_with_sizes(context, data, size, options, &pieces, &two);
    same(&one, &two);
    gram_table_destroy(one.table);
    gram_table_destroy(two.table);
}

/* ---- from elsewhere ---- */

/* The blocks are the table, or end in the failure that it has. */
static void compare_blocks(gram_context *context, const uint8_t *data, size_t size, const gram_table_options *options,
                           const outcome *whole)
{
    gram_reader *reader = NULL;
    const gram_table *block = NULL;
    int64_t rows = 0;
    gram_status status = gram_reader_open_memory(context, "input", data, size, options, &reader);
    while (status == GRAM_OK) {
        status = gram_reader_next(context, reader, 3, &block);
        if (status < 0 || !block) break;
        if (whole->table) {
            require(rows + gram_table_rows(block) <= gram_table_rows(whole->table));
            same_rows(whole->table, block, rows, 0);
        }
        rows += gram_table_rows(block);
    }
    require(status == whole->status);
    if (whole->table) require(rows == gram_table_rows(whole->table));
    gram_reader_close(reader);
}

/* Blocks must be told the columns: those that were found in the whole. */
static void compare_wanted(gram_context *context, const uint8_t *data, size_t size, const gram_table_options *options,
                           const outcome *whole)
{
    gram_wanted wanted[MOST_WANTED];
    gram_table_options known = *options;
    if (!whole->table) {
        if (options->text == GRAM_TEXT_ERROR && options->format == GRAM_FORMAT_CSV)
            compare_blocks(context, data, size, options, whole);
        return;
    }
    known.wanted_count = gram_table_columns(whole->table);
    if (known.wanted_count > MOST_WANTED) return;
    for (int64_t j = 0; j < known.wanted_count; j++)
        wanted[j] = (gram_wanted){.name = gram_table_column_name(whole->table, j),
                                  .text = gram_table_column_is_text(whole->table, j),
                                  .date = gram_table_column_is_date(whole->table, j)};
    known.wanted = wanted;
    compare_blocks(context, data, size, &known, whole);
}

static void compare_file(gram_context *context, const uint8_t *data, size_t size, const gram_table_options *options)
{
    outcome memory = {0}, file = {0};
    const char *path = temporary_file(data, size);
    note(context, gram_table_read_memory(context, path, data, size, options, &memory.table), &memory);
    note(context, gram_table_read(context, path, options, &file.table), &file);
    same(&memory, &file);
    gram_table_destroy(memory.table);
    gram_table_destroy(file.table);
}

/* Standard input, which has no size and cannot be read twice. */
static void compare_pipe(gram_context *context, const uint8_t *data, size_t size, const gram_table_options *options,
                         const outcome *whole)
{
    int ends[2];
    outcome piped = {0};
    if (size > MOST_PIPED) return;
    require(pipe(ends) == 0 && write(ends[1], data, size) == (ssize_t)size && close(ends[1]) == 0);
    require(dup2(ends[0], STDIN_FILENO) == STDIN_FILENO && close(ends[0]) == 0);
    note(context, gram_table_read(context, "-", options, &piped.table), &piped);
    require(piped.status == whole->status);
    if (piped.table) same_tables(whole->table, piped.table);
    gram_table_destroy(piped.table);
}

/* ---- what a table can do ---- */

static void check_table(const gram_table *table, int keeps_missing)
{
    const int64_t n = gram_table_rows(table), d = gram_table_columns(table);
    require(n >= 1 && d >= 1 && gram_table_ld(table) >= d);
    for (int64_t j = 0; j < d; j++) {
        const int64_t levels = gram_table_level_count(table, j);
        const int is_text = gram_table_column_is_text(table, j);
        require(gram_table_column_name(table, j)[0] != '\0' && (is_text || levels == 0));
        for (int64_t i = 0; i < n; i++) {
            const double value = gram_table_numbers(table)[i * gram_table_ld(table) + j];
            if (is_text) require(value != value || (value >= 0 && value < (double)levels));
            if (!is_text && !keeps_missing) require(isfinite(value));
        }
    }
}

/* Names and places are found again; the first column can go unless it is the only one. */
static void choose_columns(gram_context *context, gram_table *table, const char *list)
{
    int64_t *found = malloc((size_t)gram_table_columns(table) * sizeof *found), count = 0;
    const int64_t d = gram_table_columns(table);
    char range[32];
    require(found != NULL);
    (void)snprintf(range, sizeof range, "1:%" PRId64, d);
    gram_status status = gram_table_find_columns(context, table, range, found, &count);
    require(status != GRAM_OK || count <= d);
    status = gram_table_find_columns(context, table, list, found, &count);
    require(status == GRAM_OK || gram_context_message(context)[0] != '\0');
    if (status == GRAM_OK) require(count >= 1 && count <= d && found[0] >= 0 && found[count - 1] < d);
    (void)gram_table_standardise(context, table, NULL, NULL);
    status = gram_table_select(context, table, NULL, "1");
    require(status == (d > 1 ? GRAM_OK : GRAM_ERROR_DATA) && gram_table_columns(table) == (d > 1 ? d - 1 : 1));
    free(found);
}

/* Written as .npy and read again, the numbers have the same bits. */
static void write_numbers(gram_context *context, const gram_table *table)
{
    const int64_t n = gram_table_rows(table), d = gram_table_columns(table);
    char path[TEMPORARY_PATH];
    gram_npy *file = NULL;
    gram_table *again = NULL;
    gram_table_options options;
    gram_table_options_init(&options, sizeof options);
    options.keep_missing = 1;
    (void)snprintf(path, sizeof path, "/dev/shm/fuzz_tables.%ld.npy", (long)getpid());
    require(gram_npy_create(context, path, n, d, &file) == GRAM_OK);
    for (int64_t i = 0; i < n; i++)
        memcpy(gram_npy_numbers(file) + i * d, gram_table_numbers(table) + i * gram_table_ld(table), (size_t)d * 8);
    require(gram_npy_finish(context, file) == GRAM_OK);
    gram_npy_destroy(file);
    require(gram_table_read(context, path, &options, &again) == GRAM_OK && unlink(path) == 0);
    require(gram_table_rows(again) == n && gram_table_columns(again) == d);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++)
            require(same_number(gram_table_numbers(table)[i * gram_table_ld(table) + j],
                                gram_table_numbers(again)[i * gram_table_ld(again) + j]));
    gram_table_destroy(again);
}

/* ---- preparation ---- */

static gram_preparation_options learning_options(unsigned choice)
{
    static const char *const TARGETS[] = {NULL, "", "1", "1:2"};
    gram_preparation_options options;
    gram_preparation_options_init(&options, sizeof options);
    options.target = TARGETS[choice & 3];
    options.weights = choice >> 2 & 1 ? "2" : NULL;
    options.features = choice >> 3 & 1 ? "3:4" : NULL;
    options.scale = choice >> 4 & 1;
    options.most_levels = choice >> 5 & 1 ? 2 : 50;
    options.missing = (gram_missing)((choice >> 6) % 3);
    return options;
}

static void check_prepared(const gram_prepared *prepared)
{
    require(prepared->n >= 1 && prepared->n <= prepared->table_rows);
    for (int64_t i = 0; i < prepared->n; i++) {
        require(!prepared->rows || (prepared->rows[i] >= i && prepared->rows[i] < prepared->table_rows));
        for (int64_t j = 0; j < prepared->d; j++) require(!isnan(prepared->x[i * prepared->d + j]));
    }
}

static void check_names(const gram_preparation *preparation)
{
    const int64_t d = gram_preparation_dimension(preparation);
    const gram_preparation_description *about = gram_preparation_describe(preparation);
    for (int64_t j = 0; j < d; j++) {
        const int64_t feature = gram_preparation_feature_of(preparation, j);
        char name[64];
        require(feature >= 0 && feature < about->feature_count);
        require(gram_preparation_column_name(preparation, j, name, sizeof name) > 0 && name[0] != '\0');
        if (!about->features[feature].text) require(!isnan(gram_preparation_unit(preparation, j, 0)));
    }
}

/* The blocks of a reader that was told what is wanted give the rows that the whole table gives. */
static void prepare_blocks(gram_context *context, const gram_preparation *preparation, const uint8_t *data, size_t size,
                           const gram_prepared *whole)
{
    gram_table_options options;
    gram_reader *reader = NULL;
    const gram_table *block = NULL;
    int64_t rows = 0;
    gram_table_options_init(&options, sizeof options);
    options.format = GRAM_FORMAT_CSV;
    require(gram_preparation_reading(preparation, &options) == GRAM_OK);
    require(gram_reader_open_memory(context, "input", data, size, &options, &reader) == GRAM_OK);
    while (gram_reader_next(context, reader, 3, &block) == GRAM_OK && block) {
        gram_prepared *prepared = NULL;
        const gram_status status = gram_preparation_apply(context, preparation, block, 0, &prepared);
        require((status == GRAM_OK) == (prepared != NULL));
        if (status == GRAM_OK) {
            check_prepared(prepared);
            require(!whole || rows + prepared->n <= whole->n);
            if (whole)
                require(memcmp(whole->x + rows * whole->d, prepared->x,
                               (size_t)(prepared->n * whole->d) * sizeof(double)) == 0);
            rows += prepared->n;
        } else /* all of a block's rows may be dropped */
            require(!whole || gram_preparation_describe(preparation)->missing == GRAM_MISSING_DROP);
        gram_prepared_destroy(prepared);
    }
    require(!whole || rows == whole->n);
    gram_reader_close(reader);
}

static void use_preparation(gram_context *context, const gram_preparation *learnt, const gram_table *table,
                            int training)
{
    gram_preparation *again = NULL, *changed = NULL;
    gram_prepared *prepared = NULL;
    require(gram_preparation_create(context, gram_preparation_describe(learnt), &again) == GRAM_OK);
    const gram_status status = gram_preparation_apply(context, again, table, training, &prepared);
    require(status == GRAM_OK || !training);
    if (prepared) check_prepared(prepared);
    check_names(again);
    require(gram_preparation_with_missing(context, again, GRAM_MISSING_MEAN, &changed) == GRAM_OK);
    gram_preparation_release(changed);
    gram_prepared_destroy(prepared);
    gram_preparation_release(again);
}

static void learn(gram_context *context, const gram_table *table, unsigned choice, const uint8_t *data, size_t size)
{
    const gram_preparation_options options = learning_options(choice);
    gram_preparation *preparation = NULL;
    gram_prepared *whole = NULL;
    const gram_status status = gram_preparation_learn(context, table, &options, &preparation);
    require((status == GRAM_OK) == (preparation != NULL));
    require(status == GRAM_OK || gram_context_message(context)[0] != '\0');
    if (preparation) {
        use_preparation(context, preparation, table, 1);
        (void)gram_preparation_apply(context, preparation, table, 0, &whole);
        if (data) prepare_blocks(context, preparation, data, size, whole);
    }
    gram_prepared_destroy(whole);
    gram_preparation_release(preparation);
}

/* ---- one file ---- */

static void read_one(gram_context *context, const uint8_t *head, const uint8_t *data, size_t size,
                     const gram_table_options *options)
{
    outcome whole = {0};
    const unsigned what = head[2];
    const int is_csv = options->format == GRAM_FORMAT_CSV;
    if (is_csv) compare_seams(context, data, size, head[0], options);
    note(context, gram_table_read_memory(context, "input", data, size, options, &whole.table), &whole);
    require(whole.table || strncmp(whole.message, "input", 5) == 0 || whole.status != GRAM_ERROR_DATA);
    compare_wanted(context, data, size, options, &whole);
    if (what & DO_FILE) compare_file(context, data, size, options);
    if (what & DO_PIPE) compare_pipe(context, data, size, options, &whole);
    if (whole.table) {
        check_table(whole.table, options->keep_missing);
        if (what & DO_WRITE) write_numbers(context, whole.table);
        if (what & DO_LEARN) /* a preparation without names does not say that there is no header: it is looked for */
            learn(context, whole.table, head[3], is_csv && options->header != GRAM_HEADER_NO ? data : NULL, size);
        choose_columns(context, whole.table, options->categories ? "x1,x2:3" : "y");
    }
    gram_table_destroy(whole.table);
}

/* ---- two tables, with a form feed between ---- */

static void read_two(gram_context *context, const uint8_t *head, const uint8_t *data, size_t size,
                     const gram_table_options *options)
{
    const gram_preparation_options setting = learning_options(head[3] & ~7u); /* no roles but that of a feature */
    const uint8_t *cut = size > 0 ? memchr(data, '\f', size) : NULL;
    const size_t first = cut ? (size_t)(cut - data) : size / 2, second = cut ? first + 1 : first;
    gram_table *a = NULL, *b = NULL;
    gram_preparation *both = NULL;
    if (gram_table_read_memory(context, "a", data, first, options, &a) == GRAM_OK &&
        gram_table_read_memory(context, "b", data + second, size - second, options, &b) == GRAM_OK) {
        const gram_status status = gram_preparation_learn_both(context, a, b, &setting, &both);
        require((status == GRAM_OK) == (both != NULL));
        require(status == GRAM_OK || gram_context_message(context)[0] != '\0');
        if (both) use_preparation(context, both, a, 0);
        if (both) use_preparation(context, both, b, 0);
    }
    gram_preparation_release(both);
    gram_table_destroy(a);
    gram_table_destroy(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const gram_format FORMATS[KINDS] = {GRAM_FORMAT_CSV, GRAM_FORMAT_LIBSVM, GRAM_FORMAT_NPY, GRAM_FORMAT_CSV};
    gram_table_options options;
    if (size < HEAD) return 0;
    const unsigned choice = data[1], kind = data[2] % KINDS;
    gram_table_options_init(&options, sizeof options);
    options.format = FORMATS[kind];
    options.header = (gram_header)((choice & 3) % 3);
    options.keep_missing = choice >> 2 & 1;
    options.text = choice >> 3 & 1 ? GRAM_TEXT_CATEGORIES : GRAM_TEXT_ERROR;
    options.categories = (choice >> 4 & 3) == 1 ? "1" : NULL;
    options.ignore = (choice >> 4 & 3) == 2 ? "2" : NULL;
    options.features = (choice >> 6) == 1 ? "1:3" : NULL;
    gram_context *context = make_context();
    const size_t before = gram_context_memory_used(context);
    if (kind == KIND_PAIR)
        read_two(context, data, data + HEAD, size - HEAD, &options);
    else
        read_one(context, data, data + HEAD, size - HEAD, &options);
    require(gram_context_memory_used(context) == before);
    gram_context_destroy(context);
    return 0;
}
