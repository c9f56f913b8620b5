/* Kernel thinning (Dwivedi and Mackey 2021): halving by a self-balancing walk, then refinement.
 *
 * A list of 2h points is taken in pairs (x, x'). One of each pair stays, the other goes; with
 *
 *   alpha = sum_{gone z} (k(z, x) - k(z, x')) - sum_{kept z} (k(z, x) - k(z, x'))
 *
 * the pair is swapped with probability max(0, 1 - alpha/a)/2 (at most 1), so that what is kept stays in balance with what
 * is gone; a is a bound on |alpha| that holds with high probability and grows with what was seen,
 *
 *   b^2 = k(x, x) + k(x', x') - 2 k(x, x')     a = max(b sigma sqrt(2 log(2/delta)), b^2)
 *   sigma^2 += b^2 max(0, 1 + (b^2 - 2 a) sigma^2/a^2)
 *
 * and x stays. After g halvings m 2^g points have become m. Refinement then replaces each of them in turn by the point of
 * all n that makes the discrepancy least. Points are taken in groups: inside of a group the sums are brought up to date
 * pair by pair from a small matrix, after it for all later points in one sweep. O(n^2) kernel values for each halving, O(n)
 * memory. */
#include <math.h>
#include <string.h>

#include <gram/random.h>

#include "embed/thin.h"

enum { STREAM = 0x73706c6974, GROUP = 96 };

typedef struct walk {
    const gram_target *target;
    double *sums;    /* for each point: over the gone minus over the kept, of k(z, point) */
    double *block;   /* GROUP x GROUP: the matrix of the group */
    double *uniform; /* one for each pair of the group */
    double *signs;   /* of the group: 1 gone, -1 kept */
    double variance; /* sigma^2 */
    double spread;   /* sqrt(2 log(2/delta)) */
    uint64_t drawn;
    uint64_t seed;
} walk;

/* ---- one pair ---- */

/* The bound a of the pair, and sigma for the next one. */
static double bound_of(walk *w, double square)
{
    const double least = sqrt(square * w->variance) * w->spread;
    const double a = least > square ? least : square;
    const double factor = 1 + (square - 2 * a) * w->variance / (a * a);
    if (factor > 0) w->variance += square * factor;
    return a;
}

/* Is the second of pair p of the group kept instead of the first? alpha holds all earlier pairs. */
static int swaps(walk *w, const int64_t *group, int64_t p)
{
    const int64_t x = 2 * p, y = 2 * p + 1;
    const double *K = w->block;
    const double square = K[x * GROUP + x] + K[y * GROUP + y] - 2 * K[x * GROUP + y];
    if (!(square > 0)) return 0;
    const double a = bound_of(w, square);
    double alpha = w->sums[group[x]] - w->sums[group[y]];
    for (int64_t z = 0; z < x; z++) alpha += w->signs[z] * (K[z * GROUP + x] - K[z * GROUP + y]);
    return w->uniform[p] < 0.5 * (1 - alpha / a);
}

/* ---- a group ---- */

typedef struct update {
    const walk *w;
    int64_t count;
    const int64_t *group;
} update;

/* The sums of one panel of points, for all points of the group. */
static gram_status update_task(void *argument, const gram_worker *worker)
{
    const update *u = argument;
    const gram_rows *rows = &u->w->target->rows;
    double *sums = u->w->sums + worker->task * GRAM_PANEL;
    rows->begin(rows->self, worker->scratch);
    for (int64_t z = 0; z < u->count; z++) {
        const double *row = rows->row(rows->self, worker->scratch, u->group[z], worker->task);
        for (int i = 0; i < GRAM_PANEL; i++) sums[i] += u->w->signs[z] * row[i];
    }
    return GRAM_OK;
}

/* Keeps one of each pair of the group, in kept[]. */
static gram_status halve_group(gram_context *context, walk *w, int64_t count, const int64_t *group, int64_t *kept)
{
    gram_status status = GRAM_OK;
    TRY(gram_rows_block(context, &w->target->rows, count, group, w->block, GROUP));
    gram_random_uniform((gram_random){.seed = w->seed, .stream = STREAM}, w->drawn, count / 2, w->uniform);
    w->drawn += (uint64_t)(count / 2);
    for (int64_t p = 0; p < count / 2; p++) {
        const int swap = swaps(w, group, p);
        w->signs[2 * p + swap] = -1;
        w->signs[2 * p + !swap] = 1;
        kept[p] = group[2 * p + swap];
    }
    update u = {w, count, group};
    const gram_sweep sweep = {.what = "halving",
                              .tasks = gram_rows_panels(&w->target->rows),
                              .scratch_bytes = w->target->rows.scratch_bytes,
                              .run = update_task,
                              .argument = &u};
    TRY(gram_sweep_run(context, &sweep));
done:
    return status;
}

/* list[0 .. count) becomes list[0 .. count/2). The kept ones overtake nothing: they are written behind what is read. */
static gram_status halve(gram_context *context, walk *w, int64_t count, int64_t *list)
{
    gram_status status = GRAM_OK;
    int64_t kept[GROUP / 2], done_count = 0;
    const double delta = 0.5 / (double)count;
    memset(w->sums, 0, (size_t)(gram_rows_panels(&w->target->rows) * GRAM_PANEL) * sizeof(double));
    w->variance = 0;
    w->spread = sqrt(2 * log(2 / delta));
    for (int64_t first = 0; first < count; first += GROUP) {
        const int64_t now = count - first < GROUP ? count - first : GROUP;
        TRY(halve_group(context, w, now, list + first, kept));
        memcpy(list + done_count, kept, (size_t)(now / 2) * sizeof *list);
        done_count += now / 2;
    }
done:
    return status;
}

/* ---- refinement ---- */

static gram_status refine(gram_context *context, const gram_target *target, int64_t m, int64_t *index)
{
    gram_status status = GRAM_OK;
    gram_greedy greedy = {0};
    char *taken = NULL;
    int64_t least;
    TRY(gram_greedy_begin(context, target, &greedy));
    TRY(gram_take(context, "thinning: taken", target->rows.n, 1, (void **)&taken));
    memset(taken, 0, (size_t)target->rows.n);
    for (int64_t a = 0; a < m; a++) taken[index[a]] = 1;
    greedy.weight = (double)m;
    for (int64_t a = 0; a < m; a++) TRY(gram_greedy_step(context, &greedy, index[a], 1, 0, 0.3, &least));
    greedy.taken = taken;
    for (int64_t a = 0; a < m; a++) {
        const double share = 0.3 + 0.7 * (double)a / (double)m;
        taken[index[a]] = 0; /* it may stay */
        TRY(gram_greedy_step(context, &greedy, index[a], -1, share, share, &least));
        taken[least] = 1;
        index[a] = least;
        if (a + 1 < m) TRY(gram_greedy_step(context, &greedy, least, 1, share, share, &least));
    }
done:
    gram_greedy_end(context, &greedy);
    gram_give(context, taken);
    return status;
}

/* ---- the whole ---- */

gram_status gram_thin_split(gram_context *context, const gram_target *target, int64_t m, int64_t *index)
{
    gram_status status = GRAM_OK;
    const int64_t n = target->rows.n, padded = gram_rows_panels(&target->rows) * GRAM_PANEL;
    const int64_t room = padded + GROUP * GROUP + 2 * GROUP;
    int64_t count = m, *list = NULL;
    walk w = {.target = target, .seed = gram_context_seed(context)};
    while (count <= n / 2) count *= 2;
    TRY(gram_take(context, "thinning: halving", room, sizeof(double), (void **)&w.sums));
    TRY(gram_take(context, "thinning: list", count, sizeof(int64_t), (void **)&list));
    w.block = w.sums + padded;
    w.uniform = w.block + GROUP * GROUP;
    w.signs = w.uniform + GROUP;
    for (int64_t i = 0; i < count; i++)
        list[i] = n - count + i; /* the last ones: the start of a chain is its worst part */
    for (int64_t left = count; left > m; left /= 2) TRY(halve(context, &w, left, list));
    memcpy(index, list, (size_t)m * sizeof *index);
    TRY(refine(context, target, m, index));
done:
    gram_give(context, w.sums);
    gram_give(context, list);
    return status;
}
