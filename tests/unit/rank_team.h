/* Ranks that are threads of one process, for tests without MPI: a table of collective operations by shared memory, and operations on dense matrices that put the
 * whole together on every rank and work on it the slow way. A rank that fails breaks the team, so that nobody waits for it. */
#ifndef GRAM_TESTS_RANK_TEAM_H
#define GRAM_TESTS_RANK_TEAM_H

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "oom.h"

enum { TEAM_MOST = 4 };

typedef struct team {
    int ranks, here, broken;
    int64_t turn;
    pthread_mutex_t lock;
    pthread_cond_t all;
    const void *posted[TEAM_MOST];
    const int64_t *counts[TEAM_MOST];
    int64_t ld[TEAM_MOST];
} team;

typedef struct member {
    team *team;
    int rank, columns; /* of the grid */
    int with_dense;
    int64_t moved; /* bytes to others, counted here */
    gram_status (*play)(gram_context *context, struct member *self);
    gram_status status;
    double *out;
    int64_t out_count;
    long long fail_at; /* as in oom_book; below 0: none */
} member;

/* 0 if the team is broken. */
static inline int team_wait(team *t)
{
    pthread_mutex_lock(&t->lock);
    const int64_t turn = t->turn;
    if (++t->here == t->ranks) {
        t->here = 0;
        t->turn++;
        pthread_cond_broadcast(&t->all);
    }
    while (t->turn == turn && !t->broken) pthread_cond_wait(&t->all, &t->lock);
    const int whole = !t->broken;
    pthread_mutex_unlock(&t->lock);
    return whole;
}

static inline void team_break(team *t)
{
    pthread_mutex_lock(&t->lock);
    t->broken = 1;
    pthread_cond_broadcast(&t->all);
    pthread_mutex_unlock(&t->lock);
}

static inline int team_post(member *self, const void *data, const int64_t *counts)
{
    self->team->posted[self->rank] = data;
    self->team->counts[self->rank] = counts;
    return team_wait(self->team);
}

static gram_status team_broadcast(void *user, int from, void *bytes, size_t count)
{
    member *self = user;
    if (!team_post(self, bytes, NULL)) return GRAM_ERROR_INTERNAL;
    if (self->rank != from) memcpy(bytes, self->team->posted[from], count);
    if (self->rank == from) self->moved += (int64_t)count * (self->team->ranks - 1);
    return team_wait(self->team) ? GRAM_OK : GRAM_ERROR_INTERNAL;
}

static gram_status team_gather(void *user, const double *mine, const int64_t *counts, double *all)
{
    member *self = user;
    if (!team_post(self, mine, counts)) return GRAM_ERROR_INTERNAL;
    for (int r = 0; r < self->team->ranks; r++) {
        if (counts[r] > 0) memcpy(all, self->team->posted[r], (size_t)counts[r] * sizeof *all);
        all += counts[r];
    }
    self->moved += counts[self->rank] * 8 * (self->team->ranks - 1);
    return team_wait(self->team) ? GRAM_OK : GRAM_ERROR_INTERNAL;
}

static gram_status team_exchange(void *user, const double *out, const int64_t *out_counts, double *in,
                                 const int64_t *in_counts)
{
    member *self = user;
    if (!team_post(self, out, out_counts)) return GRAM_ERROR_INTERNAL;
    for (int r = 0; r < self->team->ranks; r++) {
        const double *from = self->team->posted[r];
        for (int s = 0; s < self->rank; s++) from += self->team->counts[r][s];
        assert_int_equal(self->team->counts[r][self->rank], in_counts[r]);
        if (in_counts[r] > 0) memcpy(in, from, (size_t)in_counts[r] * sizeof *in);
        in += in_counts[r];
        if (r != self->rank) self->moved += out_counts[r] * 8;
    }
    return team_wait(self->team) ? GRAM_OK : GRAM_ERROR_INTERNAL;
}

/* ---- dense matrices ---- */

/* Number (i, j) of a matrix whose parts are posted. */
static inline double *team_place(const member *self, int64_t block, int64_t i, int64_t j, int single, void **part)
{
    const int64_t rows = self->team->ranks / self->columns, columns = self->columns;
    const int owner = (int)(i / block % rows * columns + j / block % columns);
    const int64_t at =
        (j / block / columns * block + j % block) * self->team->ld[owner] + i / block / rows * block + i % block;
    *part = (void *)self->team->posted[owner];
    return single ? (double *)(void *)((float *)*part + at) : (double *)*part + at;
}

static inline double team_read(const member *self, int64_t block, int64_t i, int64_t j, int single)
{
    void *part;
    const double *at = team_place(self, block, i, j, single, &part);
    return single ? (double)*(const float *)(const void *)at : *at;
}

/* The whole, lower triangle, from all parts; the caller frees it. NULL if the team is broken. */
static inline double *team_whole(member *self, int64_t n, int64_t columns, int64_t block, const void *part, int64_t ld,
                                 int single, int lower)
{
    self->team->ld[self->rank] = ld;
    if (!team_post(self, part, NULL)) return NULL;
    double *whole = calloc((size_t)(n * columns), sizeof *whole);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < (lower ? i + 1 : columns); j++)
            whole[i * columns + j] = team_read(self, block, i, j, single);
    return team_wait(self->team) ? whole : (free(whole), NULL);
}

/* The numbers of the whole that this rank has, to its part. */
static inline void team_put(member *self, int64_t n, int64_t columns, int64_t block, void *part, int single, int lower,
                            const double *whole)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < (lower ? i + 1 : columns); j++) {
            void *owner;
            double *at = team_place(self, block, i, j, single, &owner);
            if (owner != part) continue;
            if (single)
                *(float *)(void *)at = (float)whole[i * columns + j];
            else
                *at = whole[i * columns + j];
        }
}

static gram_status team_factor(void *user, int single, int64_t n, int64_t block, void *part, int64_t ld, int64_t *bad)
{
    member *self = user;
    double *a = team_whole(self, n, n, block, part, ld, single, 1);
    if (!a) return GRAM_ERROR_INTERNAL;
    *bad = -1;
    for (int64_t j = 0; j < n && *bad < 0; j++)
        for (int64_t i = j; i < n; i++) {
            double sum = a[i * n + j];
            for (int64_t k = 0; k < j; k++) sum -= a[i * n + k] * a[j * n + k];
            if (i == j && !(sum > 0)) {
                *bad = j;
                break;
            }
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
    team_put(self, n, n, block, part, single, 1, a);
    free(a);
    return team_wait(self->team) ? GRAM_OK : GRAM_ERROR_INTERNAL;
}

static void team_substitute(int64_t n, const double *l, int inverse, int transposed, int64_t m, double *b)
{
    for (int64_t c = 0; c < m; c++)
        for (int64_t step = 0; step < n; step++) {
            const int64_t i = inverse == transposed ? n - 1 - step : step;
            double sum = inverse ? b[i * m + c] : 0;
            for (int64_t k = 0; k < n; k++) {
                const double entry = transposed ? (k >= i ? l[k * n + i] : 0) : (k <= i ? l[i * n + k] : 0);
                if (!inverse)
                    sum += entry * b[k * m + c];
                else if (k != i)
                    sum -= entry * b[k * m + c];
            }
            b[i * m + c] = inverse ? sum / l[i * n + i] : sum;
        }
}

static gram_status team_triangle(void *user, int single, int inverse, int transposed, int64_t n, int64_t block,
                                 const void *part, int64_t ld, int64_t columns, void *b, int64_t ldb)
{
    member *self = user;
    double *l = team_whole(self, n, n, block, part, ld, single, 1);
    double *whole = l ? team_whole(self, n, columns, block, b, ldb, single, 0) : NULL;
    if (whole) {
        team_substitute(n, l, inverse, transposed, columns, whole);
        team_put(self, n, columns, block, b, single, 0, whole);
    }
    free(l);
    free(whole);
    return whole && team_wait(self->team) ? GRAM_OK : GRAM_ERROR_INTERNAL;
}

static gram_status team_invert(void *user, int64_t n, int64_t block, double *part, int64_t ld)
{
    member *self = user;
    double *l = team_whole(self, n, n, block, part, ld, 0, 1);
    double *inverse = l ? calloc((size_t)(n * n), sizeof *inverse) : NULL;
    for (int64_t i = 0; inverse && i < n; i++) inverse[i * (n + 1)] = 1;
    if (inverse) {
        team_substitute(n, l, 1, 0, n, inverse);
        team_substitute(n, l, 1, 1, n, inverse);
        team_put(self, n, n, block, part, 0, 1, inverse);
    }
    free(l);
    free(inverse);
    return inverse && team_wait(self->team) ? GRAM_OK : GRAM_ERROR_INTERNAL;
}

/* ---- a play by all ranks ---- */

static inline gram_status team_join(gram_context *context, member *self)
{
    gram_collective table;
    gram_collective_init(&table, sizeof table);
    table.rank = self->rank;
    table.ranks = self->team->ranks;
    table.user = self;
    table.broadcast = team_broadcast;
    table.gather = team_gather;
    table.exchange = team_exchange;
    table.least_rows = 1;
    if (self->with_dense) {
        table.factor = team_factor;
        table.triangle = team_triangle;
        table.invert = team_invert;
    }
    self->columns = self->team->ranks == 4 ? 2 : self->team->ranks;
    return gram_context_set_collective(context, &table);
}

static void *team_member(void *argument)
{
    member *self = argument;
    oom_book book = {.fail_at = self->fail_at};
    const gram_context_options options = {.size = sizeof options, .threads = 1, .allocator = oom_allocator(&book)};
    gram_context *context = NULL;
    self->status = gram_context_create(&options, &context);
    if (self->status >= 0 && self->team->ranks > 1) self->status = team_join(context, self);
    if (self->status >= 0) self->status = self->play(context, self);
    if (self->status < 0) team_break(self->team);
    gram_context_destroy(context);
    if (atomic_load(&book.blocks) != 0) self->status = GRAM_ERROR_INTERNAL;
    return NULL;
}

/* The play by `ranks` of them; each writes `count` numbers, those of rank 0 first. The status of the first that failed; `failing`: the rank whose allocation
 * number `fail_at` fails, -1: none. */
static inline gram_status team_run(int ranks, int with_dense, gram_status (*play)(gram_context *, member *),
                                   int64_t count, double *out, int failing, long long fail_at)
{
    team t = {.ranks = ranks, .lock = PTHREAD_MUTEX_INITIALIZER, .all = PTHREAD_COND_INITIALIZER};
    member members[TEAM_MOST];
    pthread_t threads[TEAM_MOST];
    gram_status status = GRAM_OK;
    for (int r = 0; r < ranks; r++) {
        members[r] = (member){.team = &t,
                              .rank = r,
                              .with_dense = with_dense,
                              .play = play,
                              .out = out + r * count,
                              .out_count = count,
                              .fail_at = r == failing ? fail_at : -1};
        if (pthread_create(&threads[r], NULL, team_member, &members[r]) != 0) abort();
    }
    for (int r = 0; r < ranks; r++) (void)pthread_join(threads[r], NULL);
    for (int r = 0; r < ranks && status >= 0; r++) status = members[r].status;
    if (failing >= 0 && members[failing].status < 0) status = members[failing].status;
    return status;
}

#endif
