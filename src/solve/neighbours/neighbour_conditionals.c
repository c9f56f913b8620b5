/* Each target's matrix is gathered from that of its group and factored, A = R'R by rows, the target's own column going along as the
 * last one: after the neighbours' pivots it holds R_N^-T A_Ni, and its diagonal entry v_i. All inner loops run along rows.
 *
 * The derivative of a log density of neighbours and target less that of the neighbours alone is tr(W dA)/2 with
 *
 *     W = (alpha alpha' - A^-1) - (alpha_N alpha_N' - A_NN^-1),   A^-1 = A_NN^-1 + u u',   alpha = alpha_N + r u,
 *
 * so that W = (r^2 - 1) u u' + r (u alpha_N' + alpha_N u'): one solve for a vector, and no inverse. The weights of a group's targets are
 * added up before they meet the derivatives of the kernel. */
#include "solve/neighbours/neighbour_conditionals.h"

#include <math.h>
#include <string.h>

#include "base/ranks/collective.h"
#include "points/points.h"
#include "tile/small_blocks.h"

typedef struct running {
    const gram_conditionals *c;
    int64_t first, last; /* groups of this rank, first to last - 1 */
    double *out;
    const double *coefficients, *share; /* of the derivative; NULL: conditionals */
    double *by_shift;                   /* groups */
    int64_t *failed;                    /* groups: 1 + the target that has no factor, or 0 */
} running;

/* What a thread needs for one target of at most `room` rows. */
typedef struct corner {
    int64_t size, ld;
    const int32_t *list;
    double *a;         /* ld x ld: R above the diagonal */
    double *b, *t, *u; /* ld */
    const double *k;   /* the group's matrix */
    int64_t ldk;
} corner;

static double entry(const corner *c, int64_t i, int64_t j)
{
    const int64_t p = c->list[i], q = c->list[j];
    return p >= q ? c->k[p * c->ldk + q] : c->k[q * c->ldk + p];
}

static void gather(const gram_conditionals *all, const gram_block *block, corner *c)
{
    const int64_t last = c->size - 1;
    for (int64_t j = 0; j < last; j++) {
        const double *row = c->k + c->list[j] * c->ldk;
        for (int64_t i = 0; i <= j; i++) c->a[i * c->ld + j] = row[c->list[i]];
    }
    for (int64_t i = 0; i <= last; i++) c->a[i * c->ld + last] = entry(c, last, i);
    for (int64_t i = 0; i <= last; i++) {
        const int64_t row = block->members[c->list[i]];
        if (row < all->x->n) c->a[i * c->ld + i] += all->shift[row];
    }
}

/* y -= f x */
static void subtract(int64_t count, double f, const double *restrict x, double *restrict y)
{
    for (int64_t j = 0; j < count; j++) y[j] -= f * x[j];
}

static double dot(int64_t count, const double *x, const double *y)
{
    double sum[4] = {0};
    int64_t j = 0;
    for (; j + 4 <= count; j += 4)
        for (int l = 0; l < 4; l++) sum[l] += x[j + l] * y[j + l];
    for (; j < count; j++) sum[0] += x[j] * y[j];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* 0 if a pivot of the neighbours is not above its rounding errors. */
static int factor(corner *c)
{
    const double EPSILON = 2.3e-16;
    const int64_t n = c->size, ld = c->ld;
    for (int64_t i = 0; i < n; i++) c->t[i] = EPSILON * (double)n * c->a[i * ld + i];
    for (int64_t k = 0; k < n - 1; k++) {
        double *row = c->a + k * ld;
        if (!(row[k] > c->t[k])) return 0;
        const double scale = 1 / sqrt(row[k]);
        for (int64_t j = k; j < n; j++) row[j] *= scale;
        for (int64_t i = k + 1; i < n; i++) subtract(n - i, row[i], row + i, c->a + i * ld + i);
    }
    return 1;
}

/* R_N x = y, in place */
static void solve_back(const corner *c, double *x)
{
    const int64_t last = c->size - 1;
    for (int64_t i = last - 1; i >= 0; i--)
        x[i] = (x[i] - dot(last - 1 - i, c->a + i * c->ld + i + 1, x + i + 1)) / c->a[i * c->ld + i];
}

/* R_N'x = y, in place */
static void solve_forward(const corner *c, double *x)
{
    const int64_t last = c->size - 1;
    for (int64_t i = 0; i < last; i++) {
        x[i] /= c->a[i * c->ld + i];
        subtract(last - 1 - i, x[i], c->a + i * c->ld + i + 1, x + i + 1);
    }
}

static int make_corner(const gram_conditionals *all, const gram_block *block, int64_t target, corner *c)
{
    const gram_neighbour_groups *g = all->groups;
    c->size = g->length[target];
    c->ld = g->room;
    c->list = g->lists + target * g->room;
    c->k = block->k;
    c->ldk = block->ld;
    c->a = block->scratch;
    c->b = c->a + c->ld * c->ld;
    c->t = c->b + c->ld;
    c->u = c->t + c->ld;
    gather(all, block, c);
    if (!factor(c)) return 0;
    for (int64_t i = 0; i < c->size - 1; i++) c->b[i] = c->a[i * c->ld + c->size - 1];
    solve_back(c, c->b);
    return 1;
}

static void put_conditional(const gram_conditionals *all, const gram_block *block, const corner *c, double *out)
{
    const int64_t last = c->size - 1, columns = all->columns, own = block->members[c->list[last]];
    for (int64_t l = 0; l < columns; l++) out[l] = own < all->x->n ? all->right[own * columns + l] : 0;
    for (int64_t i = 0; i < last; i++)
        subtract(columns, c->b[i], all->right + (int64_t)block->members[c->list[i]] * columns, out);
    out[columns] = fmax(c->a[last * c->ld + last], 0);
}

/* u and t of the header, t = 0 at the target. */
static void put_vectors(const gram_conditionals *all, const gram_block *block, corner *c, const double *g)
{
    const int64_t last = c->size - 1;
    const double deviation = sqrt(c->a[last * c->ld + last]);
    for (int64_t i = 0; i < last; i++) {
        c->u[i] = -c->b[i] / deviation;
        c->t[i] = dot(all->columns, all->right + (int64_t)block->members[c->list[i]] * all->columns, g);
    }
    c->u[last] = 1 / deviation;
    c->t[last] = 0;
    solve_forward(c, c->t);
    solve_back(c, c->t);
}

/* W/2 to the group's weights, each pair once; returns what its diagonal says of the shifts. */
static double add_weights(const running *r, const gram_block *block, const corner *c, double s)
{
    double by_shift = 0;
    for (int64_t i = 0; i < c->size; i++) {
        const double u = c->u[i], t = c->t[i];
        const int64_t p = c->list[i], row = block->members[p];
        double *to = block->w + p * block->ld;
        for (int64_t j = 0; j < i; j++) {
            const double weight = (s * u + t) * c->u[j] + u * c->t[j];
            const int64_t q = c->list[j];
            if (q <= p)
                to[q] += weight;
            else
                block->w[q * block->ld + p] += weight;
        }
        const double own = u * (s * u / 2 + t);
        to[p] += own;
        if (row < r->c->x->n) by_shift += own * (r->share ? r->share[row] : 1);
    }
    return by_shift;
}

static gram_status visit(void *argument, const gram_block *block)
{
    const running *r = argument;
    const gram_conditionals *all = r->c;
    const gram_neighbour_groups *g = all->groups;
    const int64_t step = all->columns + 1, group = r->first + block->number;
    double by_shift = 0;
    corner c;
    for (int64_t p = group > 0 ? g->end[group - 1] : 0; p < g->end[group]; p++) {
        const int64_t target = g->target[p];
        if (!make_corner(all, block, target, &c)) {
            r->failed[group] = 1 + block->members[c.list[c.size - 1]];
            return GRAM_ERROR_NUMERICAL;
        }
        if (r->out) put_conditional(all, block, &c, r->out + target * step);
        if (!r->coefficients) continue;
        put_vectors(all, block, &c, r->coefficients + target * step);
        by_shift += add_weights(r, block, &c, r->coefficients[target * step + all->columns]);
    }
    if (r->by_shift) r->by_shift[group] = by_shift;
    return GRAM_OK;
}

/* ---- all groups, or those of this rank ---- */

static gram_status run(gram_context *context, running *r, double *gradient)
{
    gram_status status = GRAM_OK;
    const gram_conditionals *all = r->c;
    const gram_neighbour_groups *g = all->groups;
    const gram_blocks blocks = {.kernel = all->kernel,
                                .x = all->x,
                                .more = all->more,
                                .count = r->last - r->first,
                                .start = g->start + r->first,
                                .members = g->members,
                                .scratch_bytes = (size_t)(g->room * (g->room + 3)) * sizeof(double),
                                .visit = visit,
                                .argument = r,
                                .what = "neighbours"};
    int64_t first = 0;
    TRY(gram_take(context, "neighbours", g->groups, sizeof *r->failed, (void **)&r->failed));
    memset(r->failed, 0, (size_t)g->groups * sizeof *r->failed);
    status = gram_blocks_run(context, &blocks, gradient);
    while (first < g->groups && r->failed[first] == 0) first++;
    FAIL_IF(status == GRAM_ERROR_NUMERICAL && first < g->groups, context, GRAM_ERROR_NUMERICAL,
            "%s: the neighbours of row %lld have a matrix that is not positive definite to working precision",
            all->name, (long long)r->failed[first] - 1);
done:
    gram_give(context, r->failed);
    return status;
}

/* Operations of a group: the entries of its matrix, and a factor for each target. */
static double operations(const gram_conditionals *all, int64_t group)
{
    const gram_neighbour_groups *g = all->groups;
    const double members = (double)(g->start[group + 1] - g->start[group]), room = (double)g->room,
                 targets = (double)(g->end[group] - (group > 0 ? g->end[group - 1] : 0));
    return members * members / 2 * (3 * (double)all->x->d + 20) + targets * room * room * room / 3;
}

/* Groups from coarse to fine differ in cost: each rank gets a stretch of about the same operations. Returns this rank's. */
static double part_groups(const gram_context *context, running *r)
{
    const int64_t groups = r->c->groups->groups;
    const double ranks = gram_ranks(context), rank = gram_rank(context);
    double total = 0, before = 0, own = 0;
    for (int64_t g = 0; g < groups; g++) total += operations(r->c, g);
    r->first = r->last = 0;
    for (int64_t g = 0; g < groups; g++) {
        const double middle = (before + operations(r->c, g) / 2) * ranks, cost = operations(r->c, g);
        before += cost;
        if (middle < rank * total) r->first = g + 1;
        if (middle < (rank + 1) * total) r->last = g + 1;
        if (middle >= rank * total && middle < (rank + 1) * total) own += cost;
    }
    return own;
}

/* Every rank some of the groups by itself. Sums over the ranks follow. */
static gram_status run_part(gram_context *context, running *r, double *gradient)
{
    const double cost = part_groups(context, r);
    gram_ranks_part_ways(context);
    const gram_status status = run(context, r, gradient);
    gram_ranks_join(context);
    gram_ranks_note(context, "neighbours", cost * (gradient ? 2 : 1));
    return gram_ranks_agree(context, status);
}

/* Results of targets that other ranks have are 0, so that sums over the ranks are what one process finds. */
gram_status gram_conditionals_find(gram_context *context, const gram_conditionals *c, double *out)
{
    gram_status status = GRAM_OK;
    const int64_t targets = c->groups->targets, numbers = targets * (c->columns + 1);
    running r = {.c = c, .last = c->groups->groups, .out = out};
    if (!gram_ranks_share(context, targets)) return run(context, &r, NULL);
    memset(out, 0, (size_t)numbers * sizeof *out);
    TRY(run_part(context, &r, NULL));
    TRY(gram_ranks_sum(context, "neighbours", numbers, out));
done:
    return status;
}

static gram_status sum_derivatives(gram_context *context, const gram_conditionals *c, double *gradient,
                                   double *by_shift)
{
    gram_status status = GRAM_OK;
    TRY(gram_ranks_sum(context, "neighbours", gram_kernel_parameter_count(c->kernel), gradient));
    if (by_shift) TRY(gram_ranks_sum(context, "neighbours", 1, by_shift));
done:
    return status;
}

gram_status gram_conditionals_differentiate(gram_context *context, const gram_conditionals *c,
                                            const double *coefficients, const double *share, double *gradient,
                                            double *by_shift)
{
    gram_status status = GRAM_OK;
    const int64_t groups = c->groups->groups;
    const int spread = gram_ranks_share(context, c->groups->targets);
    running r = {.c = c, .last = groups, .coefficients = coefficients, .share = share};
    TRY(gram_take(context, "neighbours", groups, sizeof *r.by_shift, (void **)&r.by_shift));
    memset(r.by_shift, 0, (size_t)groups * sizeof *r.by_shift);
    TRY(spread ? run_part(context, &r, gradient) : run(context, &r, gradient));
    if (by_shift) *by_shift = 0;
    for (int64_t g = 0; g < groups && by_shift; g++) *by_shift += r.by_shift[g];
    if (spread) TRY(sum_derivatives(context, c, gradient, by_shift));
done:
    gram_give(context, r.by_shift);
    return status;
}
