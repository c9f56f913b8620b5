/* A sparse factor of the inverse, group by group.
 *
 * The rows are put in an order in which each is as far as can be from all before it (neighbour_tree.h): coarse to fine. Levels of
 * this order, each with twice as many rows as all before it, are parted into groups of near rows. With S the nearest `count` rows before
 * a group, and T those and the group, A_TT = L L', the column of U for the j-th row of T is
 *
 *     u = L_j^-T e_j,   L_j the leading j x j block,
 *
 * which makes N(0, (U U')^-1) the nearest of all with that pattern to N(0, A) in the sense of Kullback and Leibler: each row given the rows
 * of T before it has the right conditional law (Vecchia 1988). It does not matter what the rows are multiplied by, so that values and
 * second derivatives, whose variances differ by orders of magnitude, go together.
 *
 * Distances are between the places of the rows, each column over its range. */
#include "solve/neighbours/neighbour_preconditioner.h"

#include <math.h>
#include <string.h>

#include "base/lapack.h"
#include "points/points.h"
#include "solve/neighbours/neighbour_tree.h"

enum { MOST_NEIGHBOURS = 256, GROUP = 32, STEPS_BETWEEN_CANCELS = 64 };

/* By place in the order: the row order[p] is the last of the first length[p] rows of its group's list T. */
struct gram_neighbours {
    gram_memory *memory;
    int64_t n, room; /* room: of a list */
    int64_t groups;
    int64_t *end;    /* groups: the place after its last row */
    int64_t *order;  /* n rows */
    int64_t *group;  /* n: which group it is in */
    int64_t *length; /* n */
    int64_t *lists;  /* groups x room: T */
    double *u;       /* n x room: columns of U on them */
};

/* What making it needs beside the result. */
typedef struct making {
    gram_context *context;
    const gram_kernel *kernel;
    const gram_points *x;
    const double *shift;
    int64_t d;
    double *place; /* n x d, each column over its range */
    gram_neighbour_tree *tree;
    int32_t *near;
    double *nearest, *block, *middle;
} making;

/* ---- neighbours ---- */

static void fill_places(making *m, int64_t n)
{
    for (int64_t l = 0; l < m->d; l++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < n; i++) {
            low = fmin(low, gram_points_at(m->x, i, l));
            high = fmax(high, gram_points_at(m->x, i, l));
        }
        for (int64_t i = 0; i < n; i++)
            m->place[i * m->d + l] = high > low ? (gram_points_at(m->x, i, l) - low) / (high - low) : 0;
    }
}

/* Has the caller asked to stop? Then that is the status. */
static gram_status look_up(const making *m, int64_t step)
{
    gram_context *context = m->context;
    if (step % STEPS_BETWEEN_CANCELS != 0 || !context->cancel || !context->cancel(context->cancel_user)) return GRAM_OK;
    return gram_fail(context, GRAM_ERROR_CANCELLED, "preconditioner: cancelled");
}

/* Groups of the rows at places from .. to - 1: halves of halves. Depth is the logarithm of their number. */
static void make_groups(const making *m, gram_neighbours *s, int64_t from, int64_t to)
{
    const int64_t count = to - from, half = count / 2;
    if (count <= GROUP) {
        for (int64_t p = from; p < to; p++) s->group[p] = s->groups;
        s->end[s->groups++] = to;
        return;
    }
    gram_neighbour_halve(m->place, m->d, count, s->order + from, half);
    make_groups(m, s, from, from + half);
    make_groups(m, s, from + half, to);
}

/* The rows before a group that are nearest to its middle, then its own: T. Returns how many there are. */
static int64_t list_rows(const making *m, gram_neighbours *s, int64_t g)
{
    const int64_t from = g > 0 ? s->end[g - 1] : 0, to = s->end[g];
    int64_t *rows = s->lists + g * s->room;
    for (int64_t l = 0; l < m->d; l++) {
        m->middle[l] = 0;
        for (int64_t p = from; p < to; p++) m->middle[l] += m->place[s->order[p] * m->d + l] / (double)(to - from);
    }
    const gram_neighbour_query query = {.place = m->middle,
                                        .before = from,
                                        .without = -1,
                                        .count = s->room - GROUP,
                                        .rows = m->near,
                                        .far = m->nearest};
    int64_t count = gram_neighbour_tree_find(m->tree, &query);
    for (int64_t k = 0; k < count; k++) rows[k] = m->near[k];
    for (int64_t p = from; p < to; p++) {
        rows[count++] = s->order[p];
        s->length[p] = count;
    }
    return count;
}

/* ---- the factor ---- */

/* L'u = e_j with the leading block: row-major lower triangle, ld numbers apart. */
static void back_substitute(const double *factor, int64_t ld, int64_t count, double *u)
{
    for (int64_t i = 0; i < count; i++) u[i] = i == count - 1;
    for (int64_t i = count - 1; i >= 0; i--) {
        u[i] /= factor[i * ld + i];
        for (int64_t k = 0; k < i; k++) u[k] -= factor[i * ld + k] * u[i];
    }
}

static gram_status make_columns(const making *m, gram_neighbours *s, int64_t g)
{
    gram_status status = GRAM_OK;
    const int size = (int)list_rows(m, s, g);
    const int64_t *rows = s->lists + g * s->room;
    gram_points *some = NULL;
    int info = 0;
    TRY(gram_points_gather(m->context, m->x, size, rows, &some));
    TRY(gram_matrix(m->context, m->kernel, some, NULL, m->block, size));
    for (int i = 0; i < size; i++) m->block[i * size + i] += m->shift[rows[i]];
    dpotrf_("U", &size, m->block, &size, &info, 1); /* the row-major lower triangle */
    FAIL_IF(info != 0, m->context, GRAM_ERROR_NUMERICAL,
            "preconditioner: row %lld and its neighbours have a matrix that is not positive definite",
            (long long)rows[info > 0 ? info - 1 : 0]);
    for (int64_t p = g > 0 ? s->end[g - 1] : 0; p < s->end[g]; p++)
        back_substitute(m->block, size, s->length[p], s->u + p * s->room);
done:
    gram_points_release(some);
    return status;
}

static gram_status fill(making *m, gram_neighbours *s)
{
    gram_status status = GRAM_OK;
    gram_context *context = m->context;
    const char *what = "preconditioner";
    TRY(gram_take(context, what, s->n * m->d, sizeof *m->place, (void **)&m->place));
    TRY(gram_take(context, what, s->room, sizeof *m->near, (void **)&m->near));
    TRY(gram_take(context, what, s->room, sizeof *m->nearest, (void **)&m->nearest));
    TRY(gram_take(context, what, s->room * s->room, sizeof *m->block, (void **)&m->block));
    TRY(gram_take(context, what, m->d, sizeof *m->middle, (void **)&m->middle));
    fill_places(m, s->n);
    TRY(gram_neighbour_tree_create(context, s->n, m->d, m->place, &m->tree));
    TRY(gram_neighbour_tree_order(context, m->tree, s->order));
    for (int64_t from = 0, to; from < s->n; from = to) { /* levels: twice as many as before */
        to = from == 0 ? GROUP : 3 * from;
        if (to > s->n) to = s->n;
        make_groups(m, s, from, to);
    }
    TRY(gram_neighbour_tree_place(context, m->tree, s->order));
    for (int64_t g = 0; g < s->groups; g++) {
        TRY(look_up(m, g));
        TRY(make_columns(m, s, g));
    }
done:
    gram_give(context, m->place);
    gram_give(context, m->near);
    gram_neighbour_tree_destroy(m->tree);
    gram_give(context, m->nearest);
    gram_give(context, m->block);
    gram_give(context, m->middle);
    return status;
}

gram_status gram_neighbours_create(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                   const double *shift, int64_t count, gram_neighbours **neighbours)
{
    gram_status status = GRAM_OK;
    gram_neighbours *made = NULL;
    making m = {.context = context, .kernel = kernel, .x = x, .shift = shift, .d = x->d};
    *neighbours = NULL;
    FAIL_IF(count < 1 || count > MOST_NEIGHBOURS, context, GRAM_ERROR_ARGUMENT,
            "preconditioner: %lld neighbours, need 1 to %d", (long long)count, (int)MOST_NEIGHBOURS);
    TRY(gram_take(context, "preconditioner", 1, sizeof *made, (void **)&made));
    *made = (gram_neighbours){.memory = gram_memory_retain(context->memory), .n = x->n, .room = count + GROUP};
    const int64_t all = made->n * made->room,
                  groups = 2 * made->n / GROUP + 64; /* halves have more than GROUP/2 rows */
    TRY(gram_take(context, "preconditioner", made->n, sizeof *made->order, (void **)&made->order));
    TRY(gram_take(context, "preconditioner", made->n, sizeof *made->length, (void **)&made->length));
    TRY(gram_take(context, "preconditioner", made->n, sizeof *made->group, (void **)&made->group));
    TRY(gram_take(context, "preconditioner", groups, sizeof *made->end, (void **)&made->end));
    TRY(gram_take(context, "preconditioner", groups * made->room, sizeof *made->lists, (void **)&made->lists));
    TRY(gram_take(context, "preconditioner", all, sizeof *made->u, (void **)&made->u));
    TRY(fill(&m, made));
    *neighbours = made;
    made = NULL;
done:
    gram_neighbours_destroy(made);
    return status;
}

void gram_neighbours_destroy(gram_neighbours *s)
{
    if (!s) return;
    gram_memory *memory = s->memory;
    gram_memory_give(memory, s->order);
    gram_memory_give(memory, s->length);
    gram_memory_give(memory, s->group);
    gram_memory_give(memory, s->end);
    gram_memory_give(memory, s->lists);
    gram_memory_give(memory, s->u);
    gram_memory_give(memory, s);
    gram_memory_release(memory);
}

/* ---- what it is for ---- */

/* v = U (U'v), the inner product kept for each row. */
gram_status gram_neighbours_precondition(void *user, gram_context *context, int64_t columns, double *v, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const gram_neighbours *s = user;
    double *inner = NULL;
    TRY(gram_take(context, "preconditioner", s->n * columns, sizeof *inner, (void **)&inner));
    memset(inner, 0, (size_t)(s->n * columns) * sizeof *inner);
    for (int64_t p = 0; p < s->n; p++)
        for (int64_t k = 0; k < s->length[p]; k++) {
            const double u = s->u[p * s->room + k], *from = v + s->lists[s->group[p] * s->room + k] * ldv;
            for (int64_t c = 0; c < columns; c++) inner[p * columns + c] += u * from[c];
        }
    for (int64_t i = 0; i < s->n; i++) memset(v + i * ldv, 0, (size_t)columns * sizeof *v);
    for (int64_t p = 0; p < s->n; p++)
        for (int64_t k = 0; k < s->length[p]; k++) {
            const double u = s->u[p * s->room + k];
            double *to = v + s->lists[s->group[p] * s->room + k] * ldv;
            for (int64_t c = 0; c < columns; c++) to[c] += u * inner[p * columns + c];
        }
done:
    gram_give(context, inner);
    return status;
}

/* |M| = |U|^-2, U triangular in the order. */
double gram_neighbours_log_determinant(const gram_neighbours *s)
{
    double sum = 0;
    for (int64_t p = 0; p < s->n; p++) sum -= 2 * log(s->u[p * s->room + s->length[p] - 1]);
    return sum;
}

/* U'z = e by substitution, row after row. */
gram_status gram_neighbours_draw(gram_context *context, const gram_neighbours *s, gram_random random, int64_t columns,
                                 double *v, int64_t ldv)
{
    gram_status status = GRAM_OK;
    double *e = NULL;
    TRY(gram_take(context, "preconditioner", s->n, sizeof *e, (void **)&e));
    for (int64_t c = 0; c < columns; c++) {
        gram_random_normal(random, (uint64_t)(c * s->n), s->n, e);
        for (int64_t p = 0; p < s->n; p++) {
            const int64_t last = s->length[p] - 1, *rows = s->lists + s->group[p] * s->room;
            const double *u = s->u + p * s->room;
            double rest = e[p];
            for (int64_t k = 0; k < last; k++) rest -= u[k] * v[rows[k] * ldv + c];
            v[s->order[p] * ldv + c] = rest / u[last];
        }
    }
done:
    gram_give(context, e);
    return status;
}
