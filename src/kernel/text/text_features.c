#include "kernel/text/text_features.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sweep.h"
#include <gram/text.h>

const char *const gram_over_words[] = {"letters", "bytes", "words", "dna", "strands", NULL};

/* ---- symbols ---- */

/* A code point of UTF-8, or a byte that is none; *at moves behind it. */
static uint64_t next_letter(const unsigned char *text, int64_t length, int64_t *at)
{
    const unsigned char first = text[*at];
    const int more = first < 0xc2 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : 0;
    uint64_t code = more ? first & (0x3fu >> more) : first;
    ++*at;
    for (int k = 0; k < more; k++) {
        if (*at >= length || (text[*at] & 0xc0) != 0x80) break;
        code = code << 6 | (text[(*at)++] & 0x3fu);
    }
    return code;
}

static int is_word(unsigned char c)
{
    return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static uint64_t next_word(const unsigned char *text, int64_t length, int64_t *at)
{
    uint64_t key = 0;
    while (*at < length && !is_word(text[*at])) ++*at;
    if (*at >= length) return GRAM_NO_SYMBOL;
    for (; *at < length && is_word(text[*at]); ++*at) key = gram_feature_mix(key, text[*at]);
    return key == GRAM_NO_SYMBOL ? 0 : key;
}

/* ---- items of a list ---- */

static int is_blank(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '"' || c == '\'';
}

static int is_bar(unsigned char c)
{
    return c == ',' || c == ';' || c == '|';
}

/* The next item of a list whose items end at bars, or at blanks if it has no bars; without blanks around it. */
static uint64_t next_item(const unsigned char *text, int64_t length, int bars, int64_t *at)
{
    uint64_t key = 0;
    while (*at < length && is_blank(text[*at])) ++*at;
    const int64_t start = *at;
    while (*at < length && !(bars ? is_bar(text[*at]) : is_blank(text[*at]))) ++*at;
    int64_t end = (*at)++;
    while (end > start && is_blank(text[end - 1])) end--;
    if (end == start) return GRAM_NO_SYMBOL;
    for (int64_t i = start; i < end; i++) key = gram_feature_mix(key, (uint64_t)text[i] + 1);
    return key == GRAM_NO_SYMBOL ? 0 : key;
}

static gram_symbols read_items(const unsigned char *text, int64_t length, uint64_t *code)
{
    int64_t count = 0, at = 0;
    int bars = 0;
    while (length > 0 && is_blank(text[length - 1])) length--;
    while (at < length && is_blank(text[at])) at++;
    if (length - at >= 2 && memchr("[{(", text[at], 3) && memchr("]})", text[length - 1], 3)) {
        at++;
        length--;
    }
    for (int64_t i = at; i < length; i++) bars |= is_bar(text[i]);
    while (at < length) {
        const uint64_t item = next_item(text, length, bars, &at);
        if (item != GRAM_NO_SYMBOL) code[count++] = item;
    }
    return (gram_symbols){count, code};
}

static uint64_t base_of(unsigned char letter)
{
    switch (letter | 0x20) {
    case 'a': return 0;
    case 'c': return 1;
    case 'g': return 2;
    case 't':
    case 'u': return 3;
    default: return GRAM_NO_SYMBOL;
    }
}

/* code has room for one symbol a byte. */
static gram_symbols read_symbols(int over, const char *bytes, int64_t length, uint64_t *code)
{
    const unsigned char *text = (const unsigned char *)bytes;
    int64_t count = 0;
    if (over == GRAM_OVER_ITEMS) return read_items(text, length, code);
    for (int64_t at = 0; at < length;) {
        switch (over) {
        case GRAM_OVER_LETTERS: code[count++] = next_letter(text, length, &at); break;
        case GRAM_OVER_WORDS: {
            const uint64_t word = next_word(text, length, &at);
            if (word != GRAM_NO_SYMBOL) code[count++] = word;
            break;
        }
        case GRAM_OVER_BYTES: code[count++] = text[at++]; break;
        default: code[count++] = base_of(text[at++]);
        }
    }
    return (gram_symbols){count, code};
}

/* ---- one text ---- */

typedef struct feature {
    uint64_t key;
    double value;
} feature;

/* A hash table that grows; keys of 0 are empty places, and no feature has that key. */
struct gram_feature_sink {
    gram_memory *memory;
    feature *table;
    int64_t size, used; /* a power of two */
    gram_status status;
    size_t lacking; /* bytes that could not be had */
    double *room;
};

double *gram_feature_room(gram_feature_sink *sink, int64_t count)
{
    sink->status = gram_memory_take(sink->memory, (size_t)(count + 1) * sizeof *sink->room, (void **)&sink->room);
    if (sink->status < 0) sink->lacking = (size_t)(count + 1) * sizeof *sink->room;
    return sink->status < 0 ? NULL : sink->room;
}

static gram_status grow(gram_feature_sink *sink)
{
    const int64_t size = sink->size ? 2 * sink->size : 256;
    feature *table = NULL;
    const gram_status status = gram_memory_take(sink->memory, (size_t)size * sizeof *table, (void **)&table);
    if (status < 0) {
        sink->lacking = (size_t)size * sizeof *table;
        return status;
    }
    memset(table, 0, (size_t)size * sizeof *table);
    for (int64_t i = 0; i < sink->size; i++) {
        if (!sink->table[i].key) continue;
        int64_t at = (int64_t)(sink->table[i].key & (uint64_t)(size - 1));
        while (table[at].key) at = (at + 1) & (size - 1);
        table[at] = sink->table[i];
    }
    gram_memory_give(sink->memory, sink->table);
    sink->table = table;
    sink->size = size;
    return status;
}

void gram_feature_add(gram_feature_sink *sink, uint64_t key, double value)
{
    if (sink->status < 0) return;
    if (2 * sink->used >= sink->size) sink->status = grow(sink);
    if (sink->status < 0) return;
    key += key == 0;
    int64_t at = (int64_t)(key & (uint64_t)(sink->size - 1));
    while (sink->table[at].key && sink->table[at].key != key) at = (at + 1) & (sink->size - 1);
    sink->used += sink->table[at].key == 0;
    sink->table[at].key = key;
    sink->table[at].value += value;
}

static int compare_features(const void *a, const void *b)
{
    const uint64_t x = ((const feature *)a)->key, y = ((const feature *)b)->key;
    return x < y ? -1 : x > y;
}

/* ---- all texts of a store ---- */

/* What was made of a store for one kernel: features by text, sorted by key, and the keys that there are. */
struct gram_derived {
    struct gram_derived *next;
    const gram_kernel_type *type;
    double par[GRAM_MAX_SPECS];
    gram_objects *rows; /* indices are places among the keys */
    uint64_t *keys;
};

typedef struct making {
    const gram_kernel_type *type;
    const double *par;
    const gram_objects *texts;
    gram_memory *memory;
    feature **made; /* of each text */
    int64_t *count;
    _Atomic(size_t) lacking; /* bytes that one of them could not have */
} making;

static gram_status make_text(void *argument, const gram_worker *worker)
{
    making *m = argument;
    const int64_t i = worker->task, length = m->texts->start[i + 1] - m->texts->start[i];
    gram_feature_sink sink = {.memory = m->memory};
    uint64_t *code = NULL;
    int64_t count = 0;
    gram_status status = gram_memory_take(m->memory, (size_t)(length + 1) * sizeof *code, (void **)&code);
    if (status < 0) {
        atomic_store(&m->lacking, (size_t)(length + 1) * sizeof *code);
        return status;
    }
    const gram_symbols symbols = read_symbols(m->type->sets       ? GRAM_OVER_ITEMS
                                              : m->type->over < 0 ? GRAM_OVER_BYTES
                                                                  : (int)m->par[m->type->over],
                                              m->texts->text + m->texts->start[i], length, code);
    m->type->features(m->par, &symbols, &sink);
    for (int64_t k = 0; sink.status >= 0 && k < sink.size; k++)
        if (sink.table[k].key && sink.table[k].value != 0) sink.table[count++] = sink.table[k];
    if (count > 0) qsort(sink.table, (size_t)count, sizeof *sink.table, compare_features);
    m->made[i] = sink.table;
    m->count[i] = count;
    gram_memory_give(m->memory, sink.room);
    gram_memory_give(m->memory, code);
    if (sink.status < 0) atomic_store(&m->lacking, sink.lacking);
    return sink.status;
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* All keys, ascending, each once; returns how many. */
static int64_t list_keys(const making *m, uint64_t *keys)
{
    int64_t all = 0, kept = 0;
    for (int64_t i = 0; i < m->texts->count; i++)
        for (int64_t k = 0; k < m->count[i]; k++) keys[all++] = m->made[i][k].key;
    if (all > 0) qsort(keys, (size_t)all, sizeof *keys, compare_keys);
    for (int64_t k = 0; k < all; k++)
        if (k == 0 || keys[k] != keys[k - 1]) keys[kept++] = keys[k];
    return kept;
}

static int64_t find_key(const uint64_t *keys, int64_t count, uint64_t key)
{
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && keys[low] == key ? low : -1;
}

static double length_of(int64_t count, const feature *features)
{
    double sum = 0;
    for (int64_t k = 0; k < count; k++) sum += features[k].value * features[k].value;
    return sqrt(sum);
}

static gram_status no_features(gram_context *context, const making *m, int64_t i)
{
    enum { SHOWN = 40 };
    const int64_t length = m->texts->start[i + 1] - m->texts->start[i];
    (void)gram_fail(context, GRAM_ERROR_DOMAIN,
                    "%s: the text '%.*s'%s has no feature, and so no length to divide by: it is too short",
                    m->type->name, (int)(length < SHOWN ? length : SHOWN), m->texts->text + m->texts->start[i],
                    length > SHOWN ? "..." : "");
    return gram_advise(context, GRAM_ERROR_DOMAIN,
                       "Use a smaller k, leave such rows out, or scaled=no, which makes them 0.");
}

/* The features as sparse rows. */
static gram_status fill_rows(gram_context *context, const making *m, int64_t total, struct gram_derived *derived)
{
    gram_status status = GRAM_OK;
    const int scaled = !m->type->sets && m->par[m->type->scaled] != 0;
    gram_objects shape = {.kind = GRAM_OBJECT_SPARSE, .count = m->texts->count};
    TRY(gram_take(context, "features of texts", total + 1, sizeof(uint64_t), (void **)&derived->keys));
    shape.d = list_keys(m, derived->keys);
    if (shape.d < 1) derived->keys[0] = 0;       /* which no feature has */
    if (shape.d < 1 || m->type->sets) shape.d++; /* one more for what other texts have beside (translate) */
    FAIL_IF(shape.d > INT32_MAX, context, GRAM_ERROR_OVERFLOW, "%s: more features than can be told apart",
            m->type->name);
    TRY(gram_take(context, "features of texts", shape.count + 1, sizeof(int64_t), &shape.own[0]));
    TRY(gram_take(context, "features of texts", total + 1, sizeof(int32_t), &shape.own[1]));
    TRY(gram_take(context, "features of texts", total + 1, sizeof(double), &shape.own[2]));
    int64_t *start = shape.own[0], at = 0;
    int32_t *index = shape.own[1];
    double *value = shape.own[2];
    for (int64_t i = 0; i < shape.count; i++) {
        const double length = scaled ? length_of(m->count[i], m->made[i]) : 1;
        if (!(length > 0)) TRY(no_features(context, m, i));
        start[i] = at;
        for (int64_t k = 0; k < m->count[i]; k++) {
            index[at] = (int32_t)find_key(derived->keys, shape.d - m->type->sets, m->made[i][k].key);
            value[at++] = m->made[i][k].value / length;
        }
    }
    start[shape.count] = at;
    shape.start = start;
    shape.index = index;
    shape.value = value;
    return gram_objects_new(context, &shape, &derived->rows);
done:
    for (int i = 0; i < 3; i++) gram_give(context, shape.own[i]);
    return status;
}

static void free_derived(gram_memory *memory, struct gram_derived *derived)
{
    if (!derived) return;
    gram_objects_release(derived->rows);
    gram_memory_give(memory, derived->keys);
    gram_memory_give(memory, derived);
}

static void free_all(gram_memory *memory, void *first)
{
    for (struct gram_derived *one = first; one;) {
        struct gram_derived *next = one->next;
        free_derived(memory, one);
        one = next;
    }
}

/* The tasks have no context to say so. */
static gram_status lacks_memory(gram_context *context, gram_status status, size_t bytes)
{
    char needed[GRAM_BYTES_SIZE], budget[GRAM_BYTES_SIZE];
    gram_bytes_format(bytes, needed);
    gram_bytes_format(gram_memory_budget(context->memory), budget);
    if (status == GRAM_ERROR_MEMORY)
        return gram_fail(context, status, "features of texts: the system has no %s left", needed);
    return gram_fail(context, status, "features of texts: needs %s, more than what is left of a memory budget of %s",
                     needed, budget);
}

static gram_status make(gram_context *context, const gram_kernel_type *type, const double *par, gram_objects *texts,
                        struct gram_derived **derived)
{
    gram_status status = GRAM_OK;
    making m = {.type = type, .par = par, .texts = texts, .memory = context->memory};
    struct gram_derived *made = NULL;
    int64_t total = 0;
    for (int64_t i = 0; type->check_text && i < texts->count; i++)
        TRY(type->check_text(context, texts->text + texts->start[i], texts->start[i + 1] - texts->start[i]));
    TRY(gram_take(context, "features of texts", texts->count, sizeof *m.made, (void **)&m.made));
    memset(m.made, 0, (size_t)texts->count * sizeof *m.made);
    TRY(gram_take(context, "features of texts", texts->count, sizeof *m.count, (void **)&m.count));
    TRY(gram_take(context, "features of texts", 1, sizeof *made, (void **)&made));
    *made = (struct gram_derived){.type = type};
    memcpy(made->par, par, (size_t)type->spec_count * sizeof *par);
    const gram_sweep sweep = {.what = "features of texts", .tasks = texts->count, .run = make_text, .argument = &m};
    status = gram_sweep_run(context, &sweep);
    if (status == GRAM_ERROR_MEMORY || status == GRAM_ERROR_BUDGET)
        (void)lacks_memory(context, status, atomic_load(&m.lacking));
    TRY(status);
    for (int64_t i = 0; i < texts->count; i++) total += m.count[i];
    TRY(fill_rows(context, &m, total, made));
    *derived = made;
    made = NULL;
done:
    for (int64_t i = 0; m.made && i < texts->count; i++) gram_give(context, m.made[i]);
    gram_give(context, m.made);
    gram_give(context, m.count);
    free_derived(context->memory, made);
    return status;
}

/* What was made before, or now; it is the store's. */
static gram_status derive(gram_context *context, const gram_kernel_type *type, const double *par, gram_objects *texts,
                          const struct gram_derived **derived)
{
    gram_status status = GRAM_OK;
    struct gram_derived *made = NULL;
    for (struct gram_derived *one = atomic_load(&texts->derived); one; one = one->next) {
        if (one->type != type || memcmp(one->par, par, (size_t)type->spec_count * sizeof *par) != 0) continue;
        *derived = one;
        return status;
    }
    TRY(make(context, type, par, texts, &made));
    texts->forget = free_all;
    void *first = atomic_load(&texts->derived);
    do made->next = first;
    while (!atomic_compare_exchange_weak(&texts->derived, &first, made));
    *derived = made;
done:
    return status;
}

/* Keys ascend in both, so that indices that ascend still do. Of sets what is left out counts in their size: it becomes the last column, which no other text has. */
static gram_status translate(gram_context *context, const struct gram_derived *from, const struct gram_derived *to,
                             gram_objects **rows)
{
    gram_status status = GRAM_OK;
    const gram_objects *own = from->rows;
    const int sets = to->type->sets;
    const int64_t total = own->start[own->count], keys = to->rows->d - sets;
    gram_objects shape = {.kind = GRAM_OBJECT_SPARSE, .count = own->count, .d = to->rows->d};
    TRY(gram_take(context, "features of texts", own->count + 1, sizeof(int64_t), &shape.own[0]));
    TRY(gram_take(context, "features of texts", total + own->count + 1, sizeof(int32_t), &shape.own[1]));
    TRY(gram_take(context, "features of texts", total + own->count + 1, sizeof(double), &shape.own[2]));
    int64_t *start = shape.own[0], at = 0;
    int32_t *index = shape.own[1];
    double *value = shape.own[2];
    for (int64_t i = 0; i < own->count; i++) {
        double beside = 0;
        start[i] = at;
        for (int64_t k = own->start[i]; k < own->start[i + 1]; k++) {
            const int64_t column = find_key(to->keys, keys, from->keys[own->index[k]]);
            if (column < 0) beside += own->value[k] * own->value[k];
            if (column < 0) continue;
            index[at] = (int32_t)column;
            value[at++] = own->value[k];
        }
        if (!sets || beside == 0) continue;
        index[at] = (int32_t)keys;
        value[at++] = sqrt(beside);
    }
    start[own->count] = at;
    shape.start = start;
    shape.index = index;
    shape.value = value;
    return gram_objects_new(context, &shape, rows);
done:
    for (int i = 0; i < 3; i++) gram_give(context, shape.own[i]);
    return status;
}

gram_status gram_text_rows(gram_context *context, const gram_kernel_type *type, const double *par, gram_objects *x,
                           gram_objects *y, gram_objects **x_rows, gram_objects **y_rows)
{
    gram_status status = GRAM_OK;
    const struct gram_derived *of_x, *of_y;
    *x_rows = *y_rows = NULL;
    TRY(derive(context, type, par, x, &of_x));
    TRY(derive(context, type, par, y, &of_y));
    if (x != y) TRY(translate(context, of_y, of_x, y_rows));
    *x_rows = gram_objects_retain(of_x->rows);
    if (x == y) *y_rows = gram_objects_retain(of_x->rows);
done:
    return status;
}
