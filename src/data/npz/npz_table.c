/* A table from scipy's CSR rows: data, indices, indptr, shape and format, as scipy.sparse.save_npz writes them; the column x holds the rows, which stay sparse. An array y of
 * as many numbers in the same file is the column y (numpy.savez_compressed(file, y=y, format="csr", shape=X.shape, data=X.data, ...)). */
#include "data/npz/npz_table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { DATA, INDICES, INDPTR, SHAPE, FORMAT, TARGET, ARRAYS };

static const char *const NAMES[ARRAYS] = {"data.npy", "indices.npy", "indptr.npy", "shape.npy", "format.npy", "y.npy"};

typedef struct npz_reader {
    gram_table *table;
    gram_npz_array arrays[ARRAYS];
    int done;
} npz_reader;

static gram_status read_bytes(gram_context *context, gram_source *source, gram_memory *memory, unsigned char **bytes,
                              size_t *length)
{
    gram_status status = GRAM_OK;
    size_t room = gram_source_size(source) > 0 ? (size_t)gram_source_size(source) + 1 : 1 << 20, got;
    void *more = NULL;
    *bytes = NULL;
    for (*length = 0;; room *= 2) {
        TRY(gram_take_from(context, memory, gram_source_name(source), (int64_t)room, 1, &more));
        if (*length > 0) memcpy(more, *bytes, *length);
        gram_memory_give(memory, *bytes);
        *bytes = more;
        TRY(gram_source_read(context, source, *bytes + *length, room - *length, &got));
        *length += got;
        if (*length < room) break;
    }
done:
    return status;
}

/* The three letters of the format, which NumPy keeps as bytes or in four bytes each. */
static void read_format(const gram_npz_array *array, char out[4])
{
    const int step = array->type[1] == 'U' ? 4 : 1;
    for (int i = 0; i < 3; i++) out[i] = array->at[i * step];
    out[3] = '\0';
}

static gram_status check(gram_context *context, const npz_reader *r)
{
    gram_status status = GRAM_OK;
    const char *file = r->table->file;
    const gram_npz_array *a = r->arrays;
    for (int i = 0; i < FORMAT; i++) {
        FAIL_IF(!a[i].bytes, context, GRAM_ERROR_DATA, "%s: no array '%s'; scipy.sparse.save_npz writes it", file,
                NAMES[i]);
        FAIL_IF(strcmp(a[i].type, "<f8") != 0 && strcmp(a[i].type, "<f4") != 0 && strcmp(a[i].type, "<i8") != 0 &&
                    strcmp(a[i].type, "<i4") != 0,
                context, GRAM_ERROR_DATA, "%s: '%s' has numbers of type '%s'", file, NAMES[i], a[i].type);
    }
    char format[4] = "csr";
    if (a[FORMAT].bytes) read_format(&a[FORMAT], format);
    FAIL_IF(strcmp(format, "csr") != 0, context, GRAM_ERROR_DATA,
            "%s: the format is '%s', not csr; X.tocsr() makes it so", file, format);
    const double n = gram_npz_number(&a[SHAPE], 0), d = a[SHAPE].rows > 1 ? gram_npz_number(&a[SHAPE], 1) : 0;
    FAIL_IF(!(n >= 1 && n <= 0x1p40) || !(d >= 1 && d <= INT32_MAX), context, GRAM_ERROR_DATA,
            "%s: %.0f rows of %.0f columns; 1 to %d columns can be read", file, n, d, (int)INT32_MAX);
    FAIL_IF((double)a[INDPTR].rows != n + 1 || a[DATA].rows != a[INDICES].rows || gram_npz_number(&a[INDPTR], 0) != 0 ||
                gram_npz_number(&a[INDPTR], (int64_t)n) != (double)a[DATA].rows,
            context, GRAM_ERROR_DATA, "%s: 'indptr.npy' does not fit %.0f rows of %" PRId64 " values", file, n,
            a[DATA].rows);
    FAIL_IF(a[TARGET].bytes && ((double)a[TARGET].rows != n || a[TARGET].columns > 1), context, GRAM_ERROR_DATA,
            "%s: 'y.npy' has %" PRId64 " rows, not one number for each of %.0f", file, a[TARGET].rows, n);
done:
    return status;
}

/* Row i, of which columns beyond `width` are left out. */
static gram_status copy_row(gram_context *context, const npz_reader *r, int64_t i, int64_t width, int64_t *at,
                            int32_t *index, double *value)
{
    gram_status status = GRAM_OK;
    const gram_npz_array *a = r->arrays;
    const double first = gram_npz_number(&a[INDPTR], i), last = gram_npz_number(&a[INDPTR], i + 1);
    const double d = gram_npz_number(&a[SHAPE], 1);
    double before = -1;
    FAIL_IF(!(first <= last && last <= (double)a[DATA].rows), context, GRAM_ERROR_DATA,
            "%s: row %" PRId64 ": 'indptr.npy' does not ascend", r->table->file, i + 1);
    for (int64_t k = (int64_t)first; k < (int64_t)last; k++) {
        const double column = gram_npz_number(&a[INDICES], k), number = gram_npz_number(&a[DATA], k);
        FAIL_IF(!(column >= 0 && column < d), context, GRAM_ERROR_DATA,
                "%s: row %" PRId64 ": index %.0f is not among the %.0f columns", r->table->file, i + 1, column, d);
        FAIL_IF(column <= before, context, GRAM_ERROR_DATA,
                "%s: row %" PRId64 ": index %.0f after %.0f; indices must ascend, and none may be repeated "
                "(X.sum_duplicates())",
                r->table->file, i + 1, column, before);
        FAIL_IF(!isfinite(number), context, GRAM_ERROR_DATA, "%s: row %" PRId64 ", index %.0f: not a finite number",
                r->table->file, i + 1, column);
        before = column;
        if (column >= (double)width || number == 0) continue;
        index[*at] = (int32_t)column;
        value[(*at)++] = number;
    }
done:
    return status;
}

static gram_status make_rows(gram_context *context, npz_reader *r, int64_t width)
{
    gram_status status = GRAM_OK;
    const int64_t n = r->arrays[INDPTR].rows - 1, count = r->arrays[DATA].rows;
    gram_objects shape = {.kind = GRAM_OBJECT_SPARSE, .count = n, .d = width};
    int64_t at = 0, *start;
    TRY(gram_take(context, "sparse rows", n + 1, sizeof(int64_t), &shape.own[0]));
    TRY(gram_take(context, "sparse rows", count + 1, sizeof(int32_t), &shape.own[1]));
    TRY(gram_take(context, "sparse rows", count + 1, sizeof(double), &shape.own[2]));
    start = shape.own[0];
    for (int64_t i = 0; i < n; i++) {
        start[i] = at;
        TRY(copy_row(context, r, i, width, &at, shape.own[1], shape.own[2]));
    }
    start[n] = at;
    shape.start = start;
    shape.index = shape.own[1];
    shape.value = shape.own[2];
    return gram_objects_new(context, &shape, &r->table->sparse);
done:
    for (int i = 0; i < 3; i++) gram_give(context, shape.own[i]);
    return status;
}

/* How many columns the rows have: those of the file, or of the fit. */
static int64_t width_of(const npz_reader *r, const gram_table_options *options)
{
    for (int64_t i = 0; i < options->wanted_count; i++)
        if (options->wanted[i].kind == GRAM_COLUMN_SPARSE) return options->wanted[i].width;
    return (int64_t)gram_npz_number(&r->arrays[SHAPE], 1);
}

static void close_npz(void *state)
{
    npz_reader *r = state;
    if (!r) return;
    gram_memory *memory = r->table->memory;
    for (int i = 0; i < ARRAYS; i++) gram_memory_give(memory, r->arrays[i].bytes);
    gram_memory_give(memory, r);
}

static gram_status open_npz(gram_context *context, gram_source *source, const gram_table_options *options,
                            gram_table *table, void **state)
{
    gram_status status = GRAM_OK;
    npz_reader *r = NULL;
    unsigned char *bytes = NULL;
    size_t length;
    TRY(gram_take_from(context, table->memory, "npz: reading", 1, sizeof *r, (void **)&r));
    *r = (npz_reader){.table = table};
    *state = r;
    TRY(read_bytes(context, source, table->memory, &bytes, &length));
    for (int i = 0; i < ARRAYS; i++)
        TRY(gram_npz_find(context, table->memory, table->file, bytes, length, NAMES[i], &r->arrays[i]));
    TRY(check(context, r));
    TRY(make_rows(context, r, width_of(r, options)));
    table->named = 1;
    TRY(gram_table_set_names(context, table, r->arrays[TARGET].bytes ? 2 : 1, "x\0y", r->arrays[TARGET].bytes ? 4 : 2));
    table->marks[0] |= GRAM_COLUMN_HAS_SPARSE;
    for (int64_t i = 0; i < options->wanted_count && table->d > 1; i++)
        if (strcmp(options->wanted[i].name, "y") == 0 && options->wanted[i].text)
            TRY(gram_table_make_text(context, table, 1));
done:
    gram_memory_give(table->memory, bytes);
    return status;
}

/* All rows at once: they are there. */
static gram_status fill_npz(gram_context *context, void *state, int64_t most)
{
    gram_status status = GRAM_OK;
    npz_reader *r = state;
    gram_table *table = r->table;
    (void)most;
    if (r->done) return status;
    TRY(gram_table_reserve(context, table, table->sparse->count));
    table->n = table->sparse->count;
    for (int64_t i = 0; i < table->n; i++) {
        table->numbers[i * table->d] = (double)i;
        if (table->d > 1) table->numbers[i * table->d + 1] = gram_npz_number(&r->arrays[TARGET], i);
    }
    r->done = 1;
    TRY(gram_table_numbers_to_text(context, table));
done:
    return status;
}

static gram_status read_npz(gram_context *context, gram_source *source, const gram_table_options *options,
                            gram_table *table)
{
    gram_status status = GRAM_OK;
    void *state = NULL;
    FAIL_IF(!options->wanted && !options->sparse, context, GRAM_ERROR_DATA, "%s: sparse rows, which are not taken here",
            table->file);
    TRY(open_npz(context, source, options, table, &state));
    TRY(fill_npz(context, state, INT64_MAX));
    if (!options->wanted) TRY(gram_table_apply_options(context, table, options));
    TRY(gram_table_check_finite(context, table, options));
done:
    close_npz(state);
    return status;
}

const gram_format_type gram_npz_type = {open_npz, fill_npz, close_npz, read_npz, NULL};
