/* A k-d tree whose leaves are all at one depth: node k has the children 2 k + 1 and 2 k + 2, each with half of its rows, parted along
 * the widest column. Places are copied in the tree's own order, so that a leaf is contiguous.
 *
 * Order. Each row keeps its squared distance to the rows chosen so far, each node the largest of its rows. The next row is at the root's
 * largest; after it was chosen, only nodes are looked at whose box is nearer to it than their largest distance, since no other row's
 * distance can become less. In few columns that is a constant number of leaves for a row (farthest-point sampling with buckets).
 *
 * Neighbours. Depth first, the nearer child first; a node is left out if its box is farther than the worst of a full list, or if none of
 * its rows comes before the one that asks: each node knows the first place in the order that it holds. In many columns boxes are near to
 * everything and nothing could be left out; there the search ends after so many looks, the nearest boxes having come first. */
#include "solve/neighbours/neighbour_tree.h"

#include <math.h>
#include <string.h>

#include "base/sweep.h"

enum { LEAF = 16, MOST_LOOKS = 4096, QUERIES = 64, STEPS_BETWEEN_CANCELS = 1024 };

struct gram_neighbour_tree {
    gram_memory *memory;
    int64_t n, d, nodes, inner; /* nodes before `inner` have children */
    int64_t *from, *to;         /* nodes */
    double *low, *high;         /* nodes x d: the box */
    int64_t *row;               /* n: the row at a place of the tree */
    double *place;              /* n x d, in that order */
    int64_t *position;          /* n: its place in the order; NULL: there is none */
    int64_t *first;             /* nodes: the least of them */
};

/* ---- making ---- */

static int64_t widest(const double *places, int64_t d, int64_t count, const int64_t *rows)
{
    int64_t best = 0;
    double most = -1;
    for (int64_t l = 0; l < d; l++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < count; i++) {
            const double at = places[rows[i] * d + l];
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        if (high - low > most) most = high - low, best = l;
    }
    return best;
}

/* Hoare's selection; of equal ones the one with the lower number. */
void gram_neighbour_halve(const double *places, int64_t d, int64_t count, int64_t *rows, int64_t half)
{
    const int64_t l = widest(places, d, count, rows);
    int64_t from = 0, to = count - 1;
    while (from < to) {
        const int64_t pivot = rows[from + (to - from) / 2];
        const double at = places[pivot * d + l];
        int64_t i = from, j = to;
        while (i <= j) {
            for (double x; x = places[rows[i] * d + l], x < at || (x == at && rows[i] < pivot); i++) continue;
            for (double x; x = places[rows[j] * d + l], x > at || (x == at && rows[j] > pivot); j--) continue;
            if (i > j) break;
            const int64_t swapped = rows[i];
            rows[i++] = rows[j];
            rows[j--] = swapped;
        }
        if (half <= j)
            to = j;
        else if (half >= i)
            from = i;
        else
            break;
    }
}

static void part(gram_neighbour_tree *t, const double *places)
{
    t->from[0] = 0;
    t->to[0] = t->n;
    for (int64_t k = 0; k < t->inner; k++) {
        const int64_t count = t->to[k] - t->from[k], half = count / 2;
        if (count > 1) gram_neighbour_halve(places, t->d, count, t->row + t->from[k], half);
        t->from[2 * k + 1] = t->from[k];
        t->to[2 * k + 1] = t->from[2 * k + 2] = t->from[k] + half;
        t->to[2 * k + 2] = t->to[k];
    }
}

/* Boxes of leaves from their rows, of other nodes from their children's. */
static void make_boxes(gram_neighbour_tree *t)
{
    const int64_t d = t->d;
    for (int64_t k = t->nodes - 1; k >= 0; k--)
        for (int64_t l = 0; l < d; l++) {
            double low = INFINITY, high = -INFINITY;
            if (k < t->inner) {
                low = fmin(t->low[(2 * k + 1) * d + l], t->low[(2 * k + 2) * d + l]);
                high = fmax(t->high[(2 * k + 1) * d + l], t->high[(2 * k + 2) * d + l]);
            }
            for (int64_t i = t->from[k]; i < t->to[k] && k >= t->inner; i++) {
                low = fmin(low, t->place[i * d + l]);
                high = fmax(high, t->place[i * d + l]);
            }
            t->low[k * d + l] = low;
            t->high[k * d + l] = high;
        }
}

static gram_status take(gram_context *context, gram_neighbour_tree *t)
{
    gram_status status = GRAM_OK;
    const char *what = "neighbours: a tree";
    TRY(gram_take(context, what, t->nodes, sizeof *t->from, (void **)&t->from));
    TRY(gram_take(context, what, t->nodes, sizeof *t->to, (void **)&t->to));
    TRY(gram_take(context, what, t->nodes, sizeof *t->first, (void **)&t->first));
    TRY(gram_take(context, what, t->nodes * t->d, sizeof *t->low, (void **)&t->low));
    TRY(gram_take(context, what, t->nodes * t->d, sizeof *t->high, (void **)&t->high));
    TRY(gram_take(context, what, t->n, sizeof *t->row, (void **)&t->row));
    TRY(gram_take(context, what, t->n * t->d, sizeof *t->place, (void **)&t->place));
done:
    return status;
}

gram_status gram_neighbour_tree_create(gram_context *context, int64_t n, int64_t d, const double *places,
                                       gram_neighbour_tree **tree)
{
    gram_status status = GRAM_OK;
    gram_neighbour_tree *made = NULL;
    int64_t leaves = 1;
    *tree = NULL;
    FAIL_IF(n >= INT32_MAX, context, GRAM_ERROR_OVERFLOW, "neighbours: n = %lld, need less than %d", (long long)n,
            INT32_MAX);
    while (n / leaves > LEAF) leaves *= 2;
    TRY(gram_take(context, "neighbours: a tree", 1, sizeof *made, (void **)&made));
    *made = (gram_neighbour_tree){.memory = gram_memory_retain(context->memory), .n = n, .d = d};
    made->nodes = 2 * leaves - 1;
    made->inner = leaves - 1;
    TRY(take(context, made));
    for (int64_t i = 0; i < n; i++) made->row[i] = i;
    part(made, places);
    for (int64_t i = 0; i < n; i++) memcpy(made->place + i * d, places + made->row[i] * d, (size_t)d * sizeof *places);
    make_boxes(made);
    *tree = made;
    made = NULL;
done:
    gram_neighbour_tree_destroy(made);
    return status;
}

void gram_neighbour_tree_destroy(gram_neighbour_tree *t)
{
    if (!t) return;
    gram_memory *memory = t->memory;
    gram_memory_give(memory, t->from);
    gram_memory_give(memory, t->to);
    gram_memory_give(memory, t->first);
    gram_memory_give(memory, t->low);
    gram_memory_give(memory, t->high);
    gram_memory_give(memory, t->row);
    gram_memory_give(memory, t->place);
    gram_memory_give(memory, t->position);
    gram_memory_give(memory, t);
    gram_memory_release(memory);
}

/* ---- distances ---- */

static double squared_distance(int64_t d, const double *a, const double *b)
{
    double sum = 0, other = 0; /* two chains of additions */
    int64_t l = 0;
    for (; l + 2 <= d; l += 2) {
        sum += (a[l] - b[l]) * (a[l] - b[l]);
        other += (a[l + 1] - b[l + 1]) * (a[l + 1] - b[l + 1]);
    }
    return l < d ? sum + other + (a[l] - b[l]) * (a[l] - b[l]) : sum + other;
}

/* From a place to the box of a node; 0 inside. */
static double box_distance(const gram_neighbour_tree *t, int64_t node, const double *at)
{
    const double *low = t->low + node * t->d, *high = t->high + node * t->d;
    double sum = 0;
    for (int64_t l = 0; l < t->d; l++) {
        const double away = at[l] < low[l] ? low[l] - at[l] : at[l] > high[l] ? at[l] - high[l] : 0;
        sum += away * away;
    }
    return sum;
}

/* ---- the order ---- */

typedef struct ordering {
    const gram_neighbour_tree *tree;
    double *gap; /* n, by places of the tree: to the rows chosen so far; -1: it is one of them */
    double *top; /* nodes: the largest of them */
    double done; /* distances, and boxes looked at */
} ordering;

static void find_top(ordering *o, int64_t k)
{
    const gram_neighbour_tree *t = o->tree;
    double top = -1;
    if (k < t->inner)
        top = fmax(o->top[2 * k + 1], o->top[2 * k + 2]);
    else
        for (int64_t i = t->from[k]; i < t->to[k]; i++) top = o->gap[i] > top ? o->gap[i] : top;
    o->top[k] = top;
}

/* Takes the chosen place into account, below a node. */
static void shorten(ordering *o, int64_t k, const double *chosen)
{
    const gram_neighbour_tree *t = o->tree;
    o->done++;
    if (o->top[k] < 0 || box_distance(t, k, chosen) >= o->top[k]) return;
    if (k < t->inner) {
        shorten(o, 2 * k + 1, chosen);
        shorten(o, 2 * k + 2, chosen);
    } else {
        for (int64_t i = t->from[k]; i < t->to[k]; i++) {
            const double far = squared_distance(t->d, t->place + i * t->d, chosen);
            if (o->gap[i] > far) o->gap[i] = far;
        }
        o->done += (double)(t->to[k] - t->from[k]);
    }
    find_top(o, k);
}

/* The place with the largest distance, which is taken; of equal ones the first. */
static int64_t choose(ordering *o)
{
    const gram_neighbour_tree *t = o->tree;
    int64_t k = 0, found;
    while (k < t->inner) k = o->top[2 * k + 1] >= o->top[k] ? 2 * k + 1 : 2 * k + 2;
    for (found = t->from[k]; o->gap[found] < o->top[k]; found++) continue;
    o->gap[found] = -1;
    for (find_top(o, k); k > 0;) find_top(o, k = (k - 1) / 2);
    return found;
}

/* The first is as far from the middle of the box as need be: not at all. */
static int64_t choose_first(ordering *o)
{
    const gram_neighbour_tree *t = o->tree;
    double least = INFINITY;
    int64_t found = 0;
    for (int64_t i = 0; i < t->n; i++) {
        double far = 0;
        for (int64_t l = 0; l < t->d; l++) {
            const double away = t->place[i * t->d + l] - (t->low[l] + t->high[l]) / 2;
            far += away * away;
        }
        if (far < least || (far == least && t->row[i] < t->row[found])) least = far, found = i;
    }
    for (int64_t i = 0; i < t->n; i++) o->gap[i] = INFINITY;
    o->gap[found] = -1;
    for (int64_t k = t->nodes - 1; k >= 0; k--) find_top(o, k);
    return found;
}

static gram_status find_order(gram_context *context, ordering *o, int64_t *order)
{
    gram_status status = GRAM_OK;
    const gram_neighbour_tree *t = o->tree;
    const double most = 40 * (double)t->n * log2((double)t->n + 1);
    for (int64_t p = 0; p < t->n; p++) {
        FAIL_IF(p % STEPS_BETWEEN_CANCELS == 0 && context->cancel && context->cancel(context->cancel_user), context,
                GRAM_ERROR_CANCELLED, "neighbours: cancelled");
        const int64_t at = p == 0 ? choose_first(o) : choose(o);
        order[p] = t->row[at];
        if (o->done < most) shorten(o, 0, t->place + at * t->d);
    }
done:
    return status;
}

gram_status gram_neighbour_tree_place(gram_context *context, gram_neighbour_tree *t, const int64_t *order)
{
    gram_status status = GRAM_OK;
    int64_t *of_row = NULL;
    TRY(gram_take(context, "neighbours: an order", t->n, sizeof *of_row, (void **)&of_row));
    if (!t->position)
        TRY(gram_take_from(context, t->memory, "neighbours: an order", t->n, sizeof *t->position,
                           (void **)&t->position));
    for (int64_t p = 0; p < t->n; p++) of_row[order[p]] = p;
    for (int64_t i = 0; i < t->n; i++) t->position[i] = of_row[t->row[i]];
    for (int64_t k = t->nodes - 1; k >= 0; k--) {
        t->first[k] = t->n;
        for (int64_t i = t->from[k]; i < t->to[k] && k >= t->inner; i++)
            if (t->position[i] < t->first[k]) t->first[k] = t->position[i];
        for (int64_t c = 2 * k + 1; c <= 2 * k + 2 && k < t->inner; c++)
            if (t->first[c] < t->first[k]) t->first[k] = t->first[c];
    }
done:
    gram_give(context, of_row);
    return status;
}

gram_status gram_neighbour_tree_order(gram_context *context, gram_neighbour_tree *t, int64_t *order)
{
    gram_status status = GRAM_OK;
    ordering o = {.tree = t};
    TRY(gram_take(context, "neighbours: an order", t->n, sizeof *o.gap, (void **)&o.gap));
    TRY(gram_take(context, "neighbours: an order", t->nodes, sizeof *o.top, (void **)&o.top));
    TRY(find_order(context, &o, order));
    TRY(gram_neighbour_tree_place(context, t, order));
done:
    gram_give(context, o.gap);
    gram_give(context, o.top);
    return status;
}

/* ---- neighbours ---- */

typedef struct finding {
    const gram_neighbour_tree *tree;
    const gram_neighbour_query *query;
    int64_t found;
    int64_t looks; /* at rows and boxes that are left */
} finding;

/* Into the list, which is sorted as it grows. */
static void insert(finding *f, int64_t row, double far)
{
    const gram_neighbour_query *q = f->query;
    const int64_t last = f->found - 1;
    if (f->found == q->count && (far > q->far[last] || (far == q->far[last] && row > q->rows[last]))) return;
    int64_t at = f->found < q->count ? f->found++ : last;
    for (; at > 0 && (q->far[at - 1] > far || (q->far[at - 1] == far && q->rows[at - 1] > row)); at--) {
        q->far[at] = q->far[at - 1];
        q->rows[at] = q->rows[at - 1];
    }
    q->far[at] = far;
    q->rows[at] = (int32_t)row;
}

static void look_into(finding *f, int64_t k)
{
    const gram_neighbour_tree *t = f->tree;
    const gram_neighbour_query *q = f->query;
    for (int64_t i = t->from[k]; i < t->to[k]; i++) {
        if (q->before >= 0 && t->position[i] >= q->before) continue;
        if (t->row[i] == q->without) continue;
        insert(f, t->row[i], squared_distance(t->d, t->place + i * t->d, q->place));
    }
}

static void search_below(finding *f, int64_t k, double away)
{
    const gram_neighbour_tree *t = f->tree;
    const gram_neighbour_query *q = f->query;
    if (q->before >= 0 && t->first[k] >= q->before) return;
    if (f->found == q->count && away > q->far[f->found - 1]) return;
    if (f->looks <= 0) return;
    f->looks -= k >= t->inner ? LEAF : 2;
    if (k >= t->inner) {
        look_into(f, k);
        return;
    }
    const double left = box_distance(t, 2 * k + 1, q->place), right = box_distance(t, 2 * k + 2, q->place);
    search_below(f, 2 * k + (left <= right ? 1 : 2), fmin(left, right));
    search_below(f, 2 * k + (left <= right ? 2 : 1), fmax(left, right));
}

int64_t gram_neighbour_tree_find(const gram_neighbour_tree *tree, const gram_neighbour_query *query)
{
    const int64_t most = 2 * LEAF * query->count;
    finding f = {.tree = tree, .query = query, .looks = most > MOST_LOOKS ? most : MOST_LOOKS};
    if (query->count > 0) search_below(&f, 0, 0);
    return f.found;
}

static gram_status search_task(void *argument, const gram_worker *worker)
{
    const gram_neighbour_search *s = argument;
    const int64_t first = worker->task * QUERIES, d = s->tree->d;
    for (int64_t i = first; i < s->queries && i < first + QUERIES && !gram_worker_stopped(worker); i++) {
        const gram_neighbour_query query = {.place = s->places + i * d,
                                            .before = s->before ? s->before[i] : -1,
                                            .without = s->without ? s->without[i] : -1,
                                            .count = s->count,
                                            .rows = s->lists + i * s->room,
                                            .far = worker->scratch};
        s->length[i] = (int32_t)gram_neighbour_tree_find(s->tree, &query);
    }
    return GRAM_OK;
}

gram_status gram_neighbour_search_run(gram_context *context, const gram_neighbour_search *search)
{
    const gram_sweep sweep = {.what = "neighbours",
                              .tasks = (search->queries + QUERIES - 1) / QUERIES,
                              .scratch_bytes = (size_t)(search->count + 1) * sizeof(double),
                              .run = search_task,
                              .argument = (void *)search};
    return gram_sweep_run(context, &sweep);
}
