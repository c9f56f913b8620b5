#include "base/ranks/collective.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sized_struct.h"

enum { LEAST_ROWS = 1000, MOST_RANKS = 1 << 20, PIECE = 1 << 26 /* numbers in one call: MPI counts in 32 bits */ };

void gram_collective_init(gram_collective *table, size_t size)
{
    const gram_collective defaults = {.ranks = 1};
    gram_sized_init(table, size, &defaults, sizeof defaults);
}

static gram_status check_table(gram_context *context, const gram_collective *t)
{
    gram_status status = GRAM_OK;
    FAIL_IF(t->ranks < 1 || t->ranks > MOST_RANKS || t->rank < 0 || t->rank >= t->ranks, context, GRAM_ERROR_ARGUMENT,
            "context_set_collective: rank = %d of ranks = %d", t->rank, t->ranks);
    FAIL_IF(t->ranks > 1 && (!t->broadcast || !t->gather || !t->exchange), context, GRAM_ERROR_ARGUMENT,
            "context_set_collective: broadcast, gather and exchange are needed");
    FAIL_IF(!t->factor != !t->triangle || !t->factor != !t->invert, context, GRAM_ERROR_ARGUMENT,
            "context_set_collective: factor, triangle and invert are needed together");
    FAIL_IF(t->grid_rows < 0 || (t->grid_rows > 0 && t->ranks % t->grid_rows != 0), context, GRAM_ERROR_ARGUMENT,
            "context_set_collective: grid_rows = %d does not divide ranks = %d", t->grid_rows, t->ranks);
    FAIL_IF(t->ranks > 1 && context->limit.seconds > 0, context, GRAM_ERROR_ARGUMENT,
            "context_set_collective: a limit of time is not for several ranks, whose clocks differ");
done:
    return status;
}

/* The squarest grid. */
static int rows_of_grid(int ranks)
{
    int rows = 1;
    for (int r = 2; (int64_t)r * r <= ranks; r++)
        if (ranks % r == 0) rows = r;
    return rows;
}

/* Plans go by it, and must be the same everywhere: the least of all. 0 is none. */
static gram_status share_budget(gram_context *context)
{
    const size_t own = gram_memory_budget(context->memory);
    double least = own ? (double)own : INFINITY;
    const gram_status status = gram_ranks_least(context, &least);
    if (status >= 0 && !isinf(least)) gram_memory_set_budget(context->memory, (size_t)least);
    return status;
}

gram_status gram_context_set_collective(gram_context *context, const gram_collective *table)
{
    gram_status status = GRAM_OK;
    gram_collective known;
    if (!context) return GRAM_ERROR_ARGUMENT;
    gram_collective_init(&known, sizeof known);
    TRY(gram_sized_read(context, "context_set_collective", "table", "gram_collective", table, &known, sizeof known));
    TRY(check_table(context, &known));
    gram_give(context, context->together.table);
    context->together = (gram_together){.ranks = known.ranks, .rank = known.rank};
    if (known.grid_rows == 0) known.grid_rows = rows_of_grid(known.ranks);
    if (known.least_rows <= 0) known.least_rows = LEAST_ROWS;
    if (known.ranks == 1) goto done;
    TRY(gram_take(context, "context_set_collective", 1, sizeof known, (void **)&context->together.table));
    *context->together.table = known;
    TRY(share_budget(context));
done:
    if (status < 0) context->together.ranks = 1;
    return status;
}

gram_status gram_context_collective_report(gram_context *context, gram_collective_report *report)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(gram_sized_check(context, "context_collective_report", "report", "gram_collective_report", report,
                         sizeof *report));
    const gram_together *t = &context->together;
    const gram_collective_report made = {.rank = gram_rank(context),
                                         .ranks = t->ranks > 1 ? t->ranks : 1,
                                         .bytes_sent = t->bytes_sent,
                                         .calls = t->calls,
                                         .operations = t->operations,
                                         .spread = t->spread};
    gram_sized_write(report, &made, sizeof made);
done:
    return status;
}

/* ---- who does what ---- */

int gram_ranks_share(const gram_context *context, int64_t rows)
{
    return gram_ranks(context) > 1 && rows >= context->together.table->least_rows;
}

int gram_ranks_have_dense(const gram_context *context)
{
    return gram_ranks(context) > 1 && context->together.table->factor != NULL;
}

void gram_ranks_grid(const gram_context *context, int64_t *rows, int64_t *columns)
{
    const int ranks = gram_ranks(context);
    *rows = ranks > 1 ? context->together.table->grid_rows : 1;
    *columns = ranks / *rows;
}

int gram_ranks_own(const gram_context *context, int64_t i, int64_t j)
{
    int64_t rows, columns;
    if (gram_ranks(context) == 1) return 1;
    gram_ranks_grid(context, &rows, &columns);
    return i % rows * columns + j % columns == context->together.rank;
}

void gram_ranks_part(const gram_context *context, int64_t count, int rank, int64_t *first, int64_t *end)
{
    const int64_t ranks = gram_ranks(context), each = count / ranks, more = count % ranks;
    *first = rank * each + (rank < more ? rank : more);
    *end = *first + each + (rank < more);
}

void gram_ranks_part_ways(gram_context *context)
{
    context->together.aside++;
}

void gram_ranks_join(gram_context *context)
{
    context->together.aside--;
}

/* Names that are there already are not added again. */
void gram_ranks_note(gram_context *context, const char *road, double operations)
{
    gram_together *t = &context->together;
    const size_t used = strlen(t->spread);
    if (t->ranks < 2) return;
    t->operations += operations;
    for (const char *at = t->spread; (at = strstr(at, road)); at++) {
        const char after = at[strlen(road)];
        if ((at == t->spread || at[-1] == ' ') && (after == '\0' || after == ',')) return;
    }
    if (used + strlen(road) + 3 <= sizeof t->spread)
        (void)snprintf(t->spread + used, sizeof t->spread - used, "%s%s", used > 0 ? ", " : "", road);
}

/* ---- calls ---- */

static gram_status called(gram_context *context, const char *what, gram_status status, int64_t numbers)
{
    context->together.calls++;
    context->together.bytes_sent += numbers * (int64_t)sizeof(double);
    if (status >= 0) return GRAM_OK;
    return gram_fail(context, status, "%s: rank %d of %d could not reach the others", what, gram_rank(context),
                     gram_ranks(context));
}

static gram_status take_counts(gram_context *context, int64_t **counts)
{
    return gram_take(context, "ranks", 2 * gram_ranks(context), sizeof **counts, (void **)counts);
}

/* Sum of what the ranks sent: mine is as long as each of theirs. */
static void add_up(int64_t ranks, int64_t count, const double *theirs, double *mine)
{
    for (int64_t i = 0; i < count; i++) {
        double sum = theirs[i];
        for (int64_t r = 1; r < ranks; r++) sum += theirs[r * count + i];
        mine[i] = sum;
    }
}

static gram_status sum_piece(gram_context *context, const char *what, int64_t count, double *values, int64_t *counts,
                             double *room)
{
    gram_status status = GRAM_OK;
    const gram_collective *t = context->together.table;
    const int64_t ranks = gram_ranks(context);
    int64_t first, end;
    gram_ranks_part(context, count, t->rank, &first, &end);
    const int64_t own = end - first;
    for (int r = 0; r < ranks; r++) {
        gram_ranks_part(context, count, r, &first, &end);
        counts[r] = end - first;
        counts[ranks + r] = own;
    }
    gram_ranks_part(context, count, t->rank, &first, &end);
    TRY(called(context, what, t->exchange(t->user, values, counts, room, counts + ranks), count - own));
    add_up(ranks, own, room, room);
    TRY(called(context, what, t->gather(t->user, room, counts, values), own * (ranks - 1)));
done:
    return status;
}

gram_status gram_ranks_sum(gram_context *context, const char *what, int64_t count, double *values)
{
    gram_status status = GRAM_OK;
    const int64_t ranks = gram_ranks(context), piece = count < PIECE ? count : PIECE;
    int64_t *counts = NULL;
    double *room = NULL;
    if (ranks == 1 || count == 0) return GRAM_OK;
    TRY(take_counts(context, &counts));
    TRY(gram_take(context, "ranks", piece + ranks, sizeof *room, (void **)&room));
    for (int64_t at = 0; at < count; at += piece)
        TRY(sum_piece(context, what, count - at < piece ? count - at : piece, values + at, counts, room));
done:
    gram_give(context, room);
    gram_give(context, counts);
    return status;
}

gram_status gram_ranks_gather(gram_context *context, const char *what, int64_t count, int64_t width, double *values)
{
    gram_status status = GRAM_OK;
    const int64_t ranks = gram_ranks(context);
    const gram_collective *t = context->together.table;
    int64_t *counts = NULL, first, end;
    double *mine = NULL;
    if (ranks == 1 || count == 0) return GRAM_OK;
    TRY(take_counts(context, &counts));
    for (int r = 0; r < ranks; r++) {
        gram_ranks_part(context, count, r, &first, &end);
        counts[r] = (end - first) * width;
    }
    gram_ranks_part(context, count, t->rank, &first, &end);
    const int64_t own = (end - first) * width;
    TRY(gram_take(context, "ranks", (count + ranks - 1) / ranks * width, sizeof *mine, (void **)&mine));
    if (own > 0) memcpy(mine, values + first * width, (size_t)own * sizeof *mine);
    TRY(called(context, what, t->gather(t->user, mine, counts, values), own * (ranks - 1)));
done:
    gram_give(context, mine);
    gram_give(context, counts);
    return status;
}

gram_status gram_ranks_gather_dealt(gram_context *context, const char *what, int64_t count, int64_t width,
                                    double *values)
{
    gram_status status = GRAM_OK;
    const int64_t ranks = gram_ranks(context);
    const size_t row = (size_t)width * sizeof(double);
    double *sorted = NULL;
    int64_t first, end;
    if (ranks == 1 || count == 0 || width == 0) return GRAM_OK;
    TRY(gram_take(context, "ranks", count * width, sizeof *sorted, (void **)&sorted));
    gram_ranks_part(context, count, gram_rank(context), &first, &end);
    for (int64_t k = first; k < end; k++)
        memcpy(sorted + k * width, values + ((k - first) * ranks + gram_rank(context)) * width, row);
    TRY(gram_ranks_gather(context, what, count, width, sorted));
    for (int r = 0; r < ranks; r++) {
        gram_ranks_part(context, count, r, &first, &end);
        for (int64_t k = first; k < end; k++)
            memcpy(values + ((k - first) * ranks + r) * width, sorted + k * width, row);
    }
done:
    gram_give(context, sorted);
    return status;
}

gram_status gram_ranks_broadcast(gram_context *context, int from, void *bytes, size_t count)
{
    gram_status status = GRAM_OK;
    const gram_collective *t = context->together.table;
    const size_t piece = (size_t)PIECE * sizeof(double);
    if (gram_ranks(context) == 1) return GRAM_OK;
    for (size_t at = 0; at < count; at += piece) {
        const size_t some = count - at < piece ? count - at : piece;
        TRY(called(context, "broadcast", t->broadcast(t->user, from, (char *)bytes + at, some), 0));
    }
    if (from == t->rank) context->together.bytes_sent += (int64_t)count * (gram_ranks(context) - 1);
done:
    return status;
}

/* ---- what must be alike ---- */

/* FNV-1a. */
uint64_t gram_ranks_hash(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    if (hash == 0) hash = 14695981039346656037u;
    for (size_t i = 0; i < count; i++) hash = (hash ^ at[i]) * 1099511628211u;
    return hash;
}

static gram_status gather_number(gram_context *context, double value, double **all)
{
    gram_status status = GRAM_OK;
    const int ranks = gram_ranks(context);
    TRY(gram_take(context, "ranks", ranks, sizeof **all, (void **)all));
    (*all)[gram_rank(context)] = value;
    TRY(gram_ranks_gather(context, "ranks", ranks, 1, *all));
done:
    return status;
}

gram_status gram_context_same_everywhere(gram_context *context, const char *what, const void *bytes, size_t count)
{
    if (!context) return GRAM_ERROR_ARGUMENT;
    return gram_ranks_compare(context, what, gram_ranks_hash(0, bytes, count));
}

/* 52 bits of the hash are a number. */
gram_status gram_ranks_compare(gram_context *context, const char *what, uint64_t hash)
{
    gram_status status = GRAM_OK;
    double *all = NULL;
    if (gram_ranks(context) == 1) return GRAM_OK;
    TRY(gather_number(context, (double)((hash ^ (hash >> 52)) & 0xFFFFFFFFFFFFFu), &all));
    for (int r = 1; r < gram_ranks(context); r++)
        FAIL_IF(all[r] != all[0], context, GRAM_ERROR_DATA, "rank %d of %d has another %s than rank 0", r,
                gram_ranks(context), what);
done:
    if (status == GRAM_ERROR_DATA) (void)gram_advise(context, status, "All ranks need the same program and files.");
    gram_give(context, all);
    return status;
}

gram_status gram_ranks_least(gram_context *context, double *value)
{
    gram_status status = GRAM_OK;
    double *all = NULL;
    if (gram_ranks(context) == 1) return GRAM_OK;
    TRY(gather_number(context, *value, &all));
    for (int r = 0; r < gram_ranks(context); r++) *value = fmin(*value, all[r]);
done:
    gram_give(context, all);
    return status;
}

/* The message of one rank, with its number, becomes that of all. */
static gram_status take_message(gram_context *context, int from, gram_status status)
{
    char theirs[2][GRAM_MESSAGE_SIZE];
    memcpy(theirs[0], context->message, GRAM_MESSAGE_SIZE);
    memcpy(theirs[1], context->advice, GRAM_MESSAGE_SIZE);
    const gram_status told = gram_ranks_broadcast(context, from, theirs, sizeof theirs);
    if (told < 0) return told;
    (void)gram_fail(context, status, "%s", theirs[0]);
    return gram_advise(context, status, theirs[1]);
}

gram_status gram_ranks_agree(gram_context *context, gram_status status)
{
    double *all = NULL;
    if (gram_ranks(context) == 1) return status;
    gram_status agreed = gather_number(context, (double)status, &all);
    for (int r = 0; r < gram_ranks(context) && agreed >= 0; r++)
        if (all[r] < 0) agreed = take_message(context, r, (gram_status)all[r]);
    gram_give(context, all);
    return agreed < 0 ? agreed : status;
}
