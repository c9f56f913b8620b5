/* k-means on inner products alone: Lloyd's iterations of several starts, which go through A together.
 *
 * With s_ic = sum over the rows j of cluster c of w_j a_ij and W_c their weight, the mean of a cluster is m_c = sum_j w_j phi(x_j)/W_c,
 * and
 *
 *   |phi(x_i) - m_c|^2 = a_ii - 2 s_ic/W_c + |m_c|^2,   |m_c|^2 = sum_(i in c) w_i s_ic/W_c^2
 *
 * The sums of all starts are one product of A with (clusters x starts) columns. Later iterations move few rows: they add the columns
 * of A that belong to these rows to the sums of the clusters that they went to and take them from those that they left, which costs
 * their share of a product. Where more than half of the rows moved the sums are made anew.
 *
 * The first means are rows: the first is drawn by weight, each next one from a few candidates drawn in proportion to their squared
 * distance to the nearest so far, the one that leaves the least sum of such distances (greedy k-means++). A cluster that loses all its
 * rows takes the row that is farthest from its mean. */
#include <math.h>
#include <string.h>

#include <gram/random.h>

#include "base/arena.h"
#include "method/cluster/cluster.h"

enum { GROUP_COLUMNS = 64, STREAM = 0x6b6d6e73 /* "kmns" */, MOST_CANDIDATES = 16, NONE = -1 };

/* One start. */
typedef struct start {
    int64_t *labels; /* n */
    int64_t *summed; /* n: the labels that the sums are of, NONE before the first */
    double *mass;    /* clusters */
    double *squares; /* clusters: |m_c|^2 */
    double objective;
    int64_t used;
    int done;
} start;

typedef struct work {
    gram_context *context;
    const gram_kmeans *run;
    int64_t n, k;
    double *diagonal, *nearest, *candidate; /* n; n; n x MOST_CANDIDATES */
    int64_t group;                          /* starts that go together */
    start *starts;                          /* group of them */
    double *sums;                           /* n x (group k): k columns for each start */
    double *v, *product;                    /* the same size: what A is multiplied with */
    int64_t *moved, *pending;               /* n rows; group of starts */
} work;

static double weight_of(const gram_kmeans *run, int64_t i)
{
    return run->weights ? run->weights[i] : 1;
}

static int64_t group_size(int64_t clusters, int64_t starts)
{
    const int64_t most = GROUP_COLUMNS / clusters > 1 ? GROUP_COLUMNS / clusters : 1;
    return starts < most ? starts : most;
}

double gram_kmeans_bytes(int64_t n, int64_t clusters, int64_t starts)
{
    const double group = (double)group_size(clusters, starts), columns = (double)clusters * group;
    const double products = 24 + 32; /* bytes for each column: here, and in the operator for its copies */
    return (double)n * (products * columns + 16 * group + 8 * (MOST_CANDIDATES + 5));
}

/* ---- the first means ---- */

/* The row at which the running sum of weight times `of` (NULL: 1) reaches the share u of the whole. */
static int64_t draw_row(const work *w, const double *of, double u)
{
    double whole = 0, sum = 0;
    int64_t last = 0;
    for (int64_t i = 0; i < w->n; i++) whole += weight_of(w->run, i) * (of ? of[i] : 1);
    for (int64_t i = 0; i < w->n; i++) {
        const double part = weight_of(w->run, i) * (of ? of[i] : 1);
        sum += part;
        if (part > 0) last = i;
        if (part > 0 && sum >= u * whole) return i;
    }
    return last;
}

/* nearest = min(nearest, distance to candidate `column`), labels where that is less; returns the weighted sum. `label` < 0: only
 * the sum. */
static double take_nearer(const work *w, int64_t row, const double *column, int64_t ld, int64_t label, start *s)
{
    double sum = 0;
    for (int64_t i = 0; i < w->n; i++) {
        const double d = fmax(0, w->diagonal[i] + w->diagonal[row] - 2 * column[i * ld]);
        const int nearer = d < w->nearest[i];
        sum += weight_of(w->run, i) * (nearer ? d : w->nearest[i]);
        if (label < 0 || !nearer) continue;
        w->nearest[i] = d;
        s->labels[i] = label;
    }
    return sum;
}

/* The best of some rows as the next mean. */
static gram_status add_mean(const work *w, int64_t label, int64_t count, const int64_t *rows, start *s)
{
    gram_status status = GRAM_OK;
    double least = INFINITY;
    int64_t best = 0;
    TRY(gram_operator_columns(w->context, w->run->a, count, rows, w->candidate, count));
    for (int64_t c = 0; c < count; c++) {
        const double sum = count > 1 ? take_nearer(w, rows[c], w->candidate + c, count, -1, s) : 0;
        if (sum >= least) continue;
        least = sum;
        best = c;
    }
    (void)take_nearer(w, rows[best], w->candidate + best, count, label, s);
done:
    return status;
}

static gram_status seed_start(const work *w, int64_t number, start *s)
{
    gram_status status = GRAM_OK;
    const gram_random random = {w->context->seed, STREAM};
    const int64_t wanted = 2 + (int64_t)log((double)w->k), count = wanted < MOST_CANDIDATES ? wanted : MOST_CANDIDATES;
    int64_t rows[MOST_CANDIDATES];
    double u[MOST_CANDIDATES];
    for (int64_t i = 0; i < w->n; i++) w->nearest[i] = INFINITY;
    for (int64_t label = 0; label < w->k; label++) {
        const uint64_t at = (uint64_t)((number * w->k + label) * MOST_CANDIDATES);
        const int64_t some = label == 0 || w->run->first ? 1 : count;
        gram_random_uniform(random, at, some, u);
        for (int64_t c = 0; c < some; c++) rows[c] = draw_row(w, label == 0 ? NULL : w->nearest, u[c]);
        if (w->run->first) rows[0] = w->run->first[label];
        TRY(add_mean(w, label, some, rows, s));
    }
done:
    return status;
}

/* ---- iterations ---- */

static void weigh(const work *w, start *s)
{
    for (int64_t c = 0; c < w->k; c++) s->mass[c] = 0;
    for (int64_t i = 0; i < w->n; i++) s->mass[s->labels[i]] += weight_of(w->run, i);
}

/* Every cluster without weight takes the row that is farthest from its mean, out of clusters with other rows. 0 if none is away
 * from its mean. */
static int fill_empty(const work *w, start *s)
{
    for (int64_t c = 0; c < w->k; c++) {
        double most = 0;
        int64_t row = -1;
        if (s->mass[c] > 0) continue;
        for (int64_t i = 0; i < w->n; i++) {
            const double far = weight_of(w->run, i) * w->nearest[i];
            if (far > most && s->mass[s->labels[i]] > weight_of(w->run, i)) most = far, row = i;
        }
        if (row < 0) return 0;
        s->mass[s->labels[row]] -= weight_of(w->run, row);
        s->mass[c] += weight_of(w->run, row);
        s->labels[row] = c;
        w->nearest[row] = 0;
    }
    return 1;
}

/* Rows whose label is not the one that is in the sums, of any start that is pending. */
static int64_t find_moved(const work *w, int64_t pending)
{
    int64_t count = 0;
    for (int64_t i = 0; i < w->n; i++) {
        int moved = 0;
        for (int64_t p = 0; p < pending; p++) {
            const start *s = &w->starts[w->pending[p]];
            moved |= s->labels[i] != s->summed[i];
        }
        if (moved) w->moved[count++] = i;
    }
    return count;
}

/* Row of v: the weight at the new label and, if sums are kept, less it at the old one. */
static void write_move(const work *w, int64_t pending, int64_t i, int whole, double *row)
{
    const double weight = weight_of(w->run, i);
    memset(row, 0, (size_t)(pending * w->k) * sizeof *row);
    for (int64_t p = 0; p < pending; p++) {
        const start *s = &w->starts[w->pending[p]];
        row[p * w->k + s->labels[i]] += weight;
        if (!whole && s->summed[i] != NONE) row[p * w->k + s->summed[i]] -= weight;
    }
}

static void add_products(const work *w, int64_t pending, int whole)
{
    for (int64_t i = 0; i < w->n; i++)
        for (int64_t p = 0; p < pending; p++) {
            const double *from = w->product + (i * pending + p) * w->k;
            double *to = w->sums + (i * w->group + w->pending[p]) * w->k;
            for (int64_t c = 0; c < w->k; c++) to[c] = (whole ? 0 : to[c]) + from[c];
        }
}

/* The sums of the starts that are pending become those of their labels. */
static gram_status update_sums(const work *w, int64_t pending)
{
    gram_status status = GRAM_OK;
    const int64_t columns = pending * w->k, moved = find_moved(w, pending), whole = 2 * moved > w->n;
    const int64_t rows = whole ? w->n : moved;
    if (moved == 0) return GRAM_OK;
    for (int64_t r = 0; r < rows; r++) write_move(w, pending, whole ? r : w->moved[r], (int)whole, w->v + r * columns);
    if (whole)
        TRY(gram_operator_apply(w->context, w->run->a, columns, w->v, columns, w->product, columns));
    else
        TRY(gram_operator_apply_columns(w->context, w->run->a, moved, w->moved, columns, w->v, columns, w->product,
                                        columns));
    add_products(w, pending, (int)whole);
    for (int64_t p = 0; p < pending; p++) {
        const start *s = &w->starts[w->pending[p]];
        memcpy(s->summed, s->labels, (size_t)w->n * sizeof *s->labels);
    }
done:
    return status;
}

static const double *sums_of(const work *w, int64_t g, int64_t i)
{
    return w->sums + (i * w->group + g) * w->k;
}

/* |m_c|^2 of the labels that the sums are of */
static void find_squares(const work *w, int64_t g)
{
    start *s = &w->starts[g];
    for (int64_t c = 0; c < w->k; c++) s->squares[c] = 0;
    for (int64_t i = 0; i < w->n; i++)
        s->squares[s->labels[i]] += weight_of(w->run, i) * sums_of(w, g, i)[s->labels[i]];
    for (int64_t c = 0; c < w->k; c++) s->squares[c] /= s->mass[c] * s->mass[c];
}

/* Labels anew, or as they are, and the objective; returns how many changed. */
static int64_t assign(const work *w, int64_t g, int keep)
{
    start *s = &w->starts[g];
    int64_t changed = 0;
    find_squares(w, g);
    s->objective = 0;
    for (int64_t i = 0; i < w->n; i++) {
        const double *sums = sums_of(w, g, i);
        int64_t best = s->labels[i];
        double least = s->squares[best] - 2 * sums[best] / s->mass[best];
        for (int64_t c = 0; c < w->k && !keep; c++) {
            const double distance = s->squares[c] - 2 * sums[c] / s->mass[c];
            if (distance < least) least = distance, best = c;
        }
        changed += best != s->labels[i];
        s->labels[i] = best;
        w->nearest[i] = fmax(0, w->diagonal[i] + least);
        s->objective += weight_of(w->run, i) * w->nearest[i];
    }
    return changed;
}

static gram_status too_few(const work *w)
{
    return gram_fail(w->context, GRAM_ERROR_DATA, "cluster: fewer points than the %lld clusters differ",
                     (long long)w->k);
}

/* One iteration of the starts that are pending. Where rounding alone moves a row between means the objective does not fall any
 * more: that is the end too. */
static gram_status iterate(const work *w, int64_t pending)
{
    gram_status status = GRAM_OK;
    TRY(update_sums(w, pending));
    for (int64_t p = 0; p < pending; p++) {
        start *s = &w->starts[w->pending[p]];
        const double before = s->objective;
        const int64_t changed = assign(w, w->pending[p], 0);
        s->used++;
        s->done = changed == 0 || (s->used > 1 && s->objective >= before * (1 - 1e-14));
        weigh(w, s);
        if (!fill_empty(w, s)) return too_few(w);
    }
done:
    return status;
}

static int64_t find_pending(const work *w, int64_t count)
{
    int64_t pending = 0;
    for (int64_t g = 0; g < count; g++)
        if (!w->starts[g].done) w->pending[pending++] = g;
    return pending;
}

/* Objectives and squares of the labels as they were left, which may have moved after the last sums. */
static gram_status settle(const work *w, int64_t count)
{
    gram_status status = GRAM_OK;
    for (int64_t g = 0; g < count; g++) w->pending[g] = g;
    TRY(update_sums(w, count));
    for (int64_t g = 0; g < count; g++) (void)assign(w, g, 1);
done:
    return status;
}

static gram_status run_group(const work *w, int64_t first, int64_t count)
{
    gram_status status = GRAM_OK;
    int64_t pending;
    for (int64_t g = 0; g < count; g++) {
        start *s = &w->starts[g];
        *s = (start){.labels = s->labels, .summed = s->summed, .mass = s->mass, .squares = s->squares};
        s->objective = INFINITY;
        for (int64_t i = 0; i < w->n; i++) s->summed[i] = NONE;
        TRY(seed_start(w, first + g, s));
        weigh(w, s);
        if (!fill_empty(w, s)) return too_few(w);
    }
    for (int64_t t = 0; t < w->run->iterations && (pending = find_pending(w, count)) > 0; t++) TRY(iterate(w, pending));
    TRY(settle(w, count));
done:
    return status;
}

/* ---- the result ---- */

/* Clusters are numbered by weight, the heaviest first, and by their first row. */
static void number_clusters(const start *s, int64_t n, int64_t k, int64_t *order, gram_kmeans *run)
{
    int64_t *number = order + k, given = 0;
    for (int64_t c = 0; c < k; c++) number[c] = -1;
    for (int64_t i = 0; i < n; i++)
        if (number[s->labels[i]] < 0) number[s->labels[i]] = given++;
    for (int64_t c = 0; c < k; c++) {
        int64_t at = c;
        for (; at > 0; at--) {
            const int64_t other = order[at - 1];
            const int heavier =
                s->mass[c] > s->mass[other] || (s->mass[c] == s->mass[other] && number[c] < number[other]);
            if (!heavier) break;
            order[at] = other;
        }
        order[at] = c;
    }
    for (int64_t c = 0; c < k; c++) {
        number[order[c]] = c;
        run->sizes[c] = s->mass[order[c]];
        run->squares[c] = s->squares[order[c]];
    }
    for (int64_t i = 0; i < n; i++) run->labels[i] = number[s->labels[i]];
}

static gram_status take_work(gram_context *context, const gram_kmeans *run, gram_arena *arena, work *w)
{
    gram_status status = GRAM_OK;
    const int64_t n = w->n, k = w->k;
    TRY(gram_arena_take(context, arena, "cluster", n * (2 + MOST_CANDIDATES), sizeof(double), (void **)&w->diagonal));
    w->nearest = w->diagonal + n;
    w->candidate = w->nearest + n;
    TRY(gram_arena_take(context, arena, "cluster: starts", w->group, sizeof(start), (void **)&w->starts));
    for (int64_t g = 0; g < w->group; g++) {
        TRY(gram_arena_take(context, arena, "cluster: labels", 2 * n, sizeof(int64_t), (void **)&w->starts[g].labels));
        w->starts[g].summed = w->starts[g].labels + n;
        TRY(gram_arena_take(context, arena, "cluster: means", 2 * k, sizeof(double), (void **)&w->starts[g].mass));
        w->starts[g].squares = w->starts[g].mass + k;
    }
    TRY(gram_arena_take(context, arena, "cluster: rows", n + w->group, sizeof(int64_t), (void **)&w->moved));
    w->pending = w->moved + n;
    TRY(gram_arena_take(context, arena, "cluster: products", 3 * n * k * w->group, sizeof(double), (void **)&w->sums));
    w->v = w->sums + n * k * w->group;
    w->product = w->v + n * k * w->group;
    TRY(gram_operator_diagonal(context, run->a, w->diagonal));
done:
    return status;
}

/* Starts that end in the same clusters differ by rounding, which must not choose among them: the first of them is taken. */
static int is_better(double objective, double best)
{
    return objective < best * (1 - 1e-10);
}

gram_status gram_kmeans_run(gram_context *context, gram_kmeans *run)
{
    gram_status status = GRAM_OK;
    const int64_t n = gram_operator_size(run->a), starts = run->first ? 1 : run->starts;
    work w = {.context = context, .run = run, .n = n, .k = run->clusters, .group = group_size(run->clusters, starts)};
    gram_arena arena;
    int64_t *order = NULL;
    double best = INFINITY;
    gram_arena_init(&arena, context->memory);
    TRY(take_work(context, run, &arena, &w));
    TRY(gram_arena_take(context, &arena, "cluster", 2 * run->clusters, sizeof *order, (void **)&order));
    for (int64_t first = 0; first < starts; first += w.group) {
        const int64_t count = starts - first < w.group ? starts - first : w.group;
        TRY(run_group(&w, first, count));
        for (int64_t g = 0; g < count; g++) {
            if (!is_better(w.starts[g].objective, best)) continue;
            best = w.starts[g].objective;
            number_clusters(&w.starts[g], n, w.k, order, run);
            run->objective = best;
            run->used = w.starts[g].used;
            run->converged = w.starts[g].done;
            run->best_start = first + g;
        }
    }
    if (!run->converged) status = GRAM_NOT_CONVERGED;
done:
    gram_arena_release(&arena);
    return status;
}
