/* A file of a solve: a line that says what it is, then doubles in this machine's order:
 *
 *     ORDER n columns key[4] count state[count] hash
 *
 * ORDER is a number that other orders of bytes would not make; the hash is of all bytes before it. The reader knows the size that it must have. */
#include "solve/checkpoint/solve_checkpoint.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gram/text.h>

#include "base/file_aside.h"
#include "base/ranks/collective.h"
#include "base/sized_struct.h"
#include "base/system/system_call.h"
#include "base/system/time_limit.h"

static const char HEAD[16] = "gram-solve 1\n";
static const double ORDER = 1.0 / 3; /* another number in another order of bytes */
static const double NEAR = 1e-6;     /* of a key's numbers */

enum { HEADER = 8 }; /* numbers before the state: ORDER, n, columns, keys, count */

gram_status gram_context_set_checkpoint(gram_context *context, const char *path, double seconds)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!(seconds >= 0), context, GRAM_ERROR_ARGUMENT,
            "context_set_checkpoint: seconds = %s, need a number that is 0 or more",
            gram_number_format(seconds, shown));
    gram_give(context, context->checkpoint.path);
    context->checkpoint = (gram_kept_solve){.every = seconds, .last = gram_clock()};
    if (!path) goto done;
    FAIL_IF(path[0] == '\0', context, GRAM_ERROR_ARGUMENT, "context_set_checkpoint: path is empty");
    const size_t length = strlen(path) + 1;
    TRY(gram_take(context, "context_set_checkpoint", (int64_t)length, 1, (void **)&context->checkpoint.path));
    memcpy(context->checkpoint.path, path, length);
done:
    return status;
}

gram_status gram_context_checkpoint_report(gram_context *context, gram_checkpoint_report *report)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(gram_sized_check(context, "context_checkpoint_report", "report", "gram_checkpoint_report", report,
                         sizeof *report));
    const gram_kept_solve *kept = &context->checkpoint;
    const gram_checkpoint_report made = {.solves = kept->solves, .written = kept->written, .resumed = kept->resumed};
    gram_sized_write(report, &made, sizeof made);
done:
    return status;
}

int gram_checkpoint_wanted(const gram_context *context)
{
    return context->checkpoint.path != NULL && context->together.aside == 0; /* not of ranks that work each by itself */
}

void gram_checkpoint_went_on(gram_context *context, int64_t steps)
{
    context->checkpoint.resumed = steps;
}

gram_status gram_checkpoint_due(gram_context *context, int *due)
{
    *due = gram_clock() - context->checkpoint.last >= context->checkpoint.every;
    return gram_ranks_broadcast(context, 0, due, sizeof *due);
}

/* ---- writing ---- */

static double hash_number(uint64_t hash)
{
    return (double)((hash ^ (hash >> 52)) & 0xFFFFFFFFFFFFFu);
}

static void write_header(const gram_checkpoint_key *key, int64_t count, double header[HEADER])
{
    header[0] = ORDER;
    header[1] = (double)key->n;
    header[2] = (double)key->columns;
    memcpy(header + 3, key->numbers, sizeof key->numbers);
    header[HEADER - 1] = (double)count;
}

gram_status gram_checkpoint_keep(gram_context *context, const gram_checkpoint_key *key, int64_t count,
                                 const double *state)
{
    gram_status status = GRAM_OK;
    gram_aside *file = NULL;
    double header[HEADER];
    write_header(key, count, header);
    uint64_t hash = gram_ranks_hash(0, HEAD, sizeof HEAD);
    hash = gram_ranks_hash(hash, header, sizeof header);
    hash = gram_ranks_hash(hash, state, (size_t)count * sizeof *state);
    const double end = hash_number(hash);
    TRY(gram_aside_create(context, context->checkpoint.path, &file));
    TRY(gram_aside_put(context, file, HEAD, sizeof HEAD));
    TRY(gram_aside_put(context, file, header, sizeof header));
    TRY(gram_aside_put(context, file, state, (size_t)count * sizeof *state));
    TRY(gram_aside_put(context, file, &end, sizeof end));
    TRY(gram_aside_finish(context, file));
    context->checkpoint.written++;
    context->checkpoint.last = gram_clock();
done:
    gram_aside_destroy(file);
    return status;
}

/* ---- reading ---- */

static gram_status damaged(gram_context *context, const char *why)
{
    (void)gram_fail(context, GRAM_ERROR_DATA, "%s: not a checkpoint that can be gone on from: %s",
                    context->checkpoint.path, why);
    return gram_advise(context, GRAM_ERROR_DATA, "Remove the file, or name another one.");
}

static int is_near(double a, double b)
{
    return fabs(a - b) <= NEAR * fmax(fabs(a), fabs(b));
}

static int is_like(const gram_checkpoint_key *key, const double header[HEADER])
{
    for (int k = 0; k < GRAM_CHECKPOINT_KEYS; k++)
        if (!is_near(header[3 + k], key->numbers[k])) return 0;
    return (double)key->columns == header[2];
}

/* The header, and of a solve that is like this one the rest. */
static gram_status read_file(gram_context *context, FILE *file, const gram_checkpoint_key *key, int64_t count,
                             double *state, int *found)
{
    gram_status status = GRAM_OK;
    char head[sizeof HEAD];
    double header[HEADER], end = 0;
    if (fread(head, 1, sizeof head, file) != sizeof head || memcmp(head, HEAD, sizeof head) != 0)
        return damaged(context, "it begins otherwise");
    if (fread(header, sizeof *header, HEADER, file) != HEADER) return damaged(context, "it is cut off");
    if (header[0] != ORDER) return damaged(context, "its numbers are of another sort of machine");
    if (header[1] != (double)key->n) {
        (void)gram_fail(context, GRAM_ERROR_DATA, "%s: the checkpoint is of another fit: %.0f rows, not %lld",
                        context->checkpoint.path, header[1], (long long)key->n);
        return gram_advise(context, GRAM_ERROR_DATA, "Remove the file, or name another one.");
    }
    if (!is_like(key, header) || header[HEADER - 1] != (double)count) return GRAM_OK;
    if (fread(state, sizeof *state, (size_t)count, file) != (size_t)count || fread(&end, sizeof end, 1, file) != 1)
        return damaged(context, "it is cut off");
    uint64_t hash = gram_ranks_hash(gram_ranks_hash(0, head, sizeof head), header, sizeof header);
    hash = gram_ranks_hash(hash, state, (size_t)count * sizeof *state);
    if (end != hash_number(hash) || fgetc(file) != EOF) return damaged(context, "its bytes were changed");
    *found = 1;
    return status;
}

/* The first rank reads; a file that is not there is no failure. */
static gram_status read_first(gram_context *context, const gram_checkpoint_key *key, int64_t count, double *state,
                              int *found)
{
    char reason[GRAM_SYSTEM_REASON_SIZE];
    FILE *file = fopen(context->checkpoint.path, "rb");
    if (!file && errno == ENOENT) return GRAM_OK;
    if (!file)
        return gram_fail(context, GRAM_ERROR_FILE, "%s: cannot be read: %s", context->checkpoint.path,
                         gram_system_reason(errno, reason));
    const gram_status status = read_file(context, file, key, count, state, found);
    (void)fclose(file);
    return status;
}

gram_status gram_checkpoint_find(gram_context *context, const gram_checkpoint_key *key, int64_t count, double *state,
                                 int *found)
{
    gram_status status = GRAM_OK;
    *found = 0;
    if (gram_rank(context) == 0) status = read_first(context, key, count, state, found);
    TRY(gram_ranks_agree(context, status));
    context->checkpoint.solves++;
    TRY(gram_ranks_broadcast(context, 0, found, sizeof *found));
    if (*found) TRY(gram_ranks_broadcast(context, 0, state, (size_t)count * sizeof *state));
done:
    return status;
}
