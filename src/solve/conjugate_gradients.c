/* Preconditioned conjugate gradients (Hestenes and Stiefel 1952) for several right-hand sides.
 *
 *     q = A p,      alpha = (r, z)/(p, q),   x += alpha p,   r -= alpha q,
 *     z = M^-1 r,   beta = (z, r - r_old)/(r_old, z_old),   p = z + beta p
 *
 * This beta (Polak and Ribiere 1969; Notay 2000) is the usual one when M is symmetric and the same in each step. An f32
 * factor is neither, by rounding, which this one forgives.
 *
 * The r of the recursion drifts away from b - A x. So when it says that a column has converged the true residual is
 * made, and the iteration starts again from there where that one is too large, as iterative refinement would: as
 * long as each start halves the worst backward error. |A| in the backward error |r|/(|A| |x| + |b|) is the largest
 * |A v|/|v| seen, a lower bound, so that the error is never made to look smaller than it is. Directions of a good
 * preconditioner see the small eigenvalues only, hence one product more at the start: with a vector of positive
 * numbers, which is near the first eigenvector of a matrix whose entries are positive.
 *
 * Each right-hand side has its own scalars and stops when it has converged: its direction is 0 from then on. Products
 * and preconditioning are for all at once. Sums are made in order by one thread: O(n) beside the product's O(n^2). */
#include <math.h>
#include <string.h>

#include <gram/cg.h>

#include "base/context.h"
#include "base/sized_struct.h"
#include "base/system/time_limit.h"
#include "solve/checkpoint/solve_checkpoint.h"

/* What is known of one right-hand side. */
typedef struct side {
    double b_norm;
    double r_norm; /* of the recursion, or true where just computed */
    double rz;
    double best_norm;
    int active;
} side;

typedef struct iteration {
    gram_context *context;
    const gram_operator *a;
    gram_cg_options options;
    int64_t n, columns;
    const double *b;
    int64_t ldb;
    double *x;
    int64_t ldx;
    double *r, *z, *p, *q, *best; /* n x columns each, in one array */
    side *side;
    double a_norm, first_norm; /* and after the first product */
    double before;             /* the worst backward error when it last began from a true residual */
    int64_t steps;
    double best_worst; /* for the stall: the worst column's |r|/|b| when it was last halved ... */
    int64_t since;     /* ... and the steps since then */
} iteration;

void gram_cg_options_init(gram_cg_options *options, size_t size)
{
    const gram_cg_options defaults = {.tolerance = 1e-14, .iterations = 1000};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

/* ---- columns of row-major arrays ---- */

static double dot(int64_t n, const double *x, int64_t ldx, const double *y, int64_t ldy)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i * ldx] * y[i * ldy];
    return sum;
}

static double norm(int64_t n, const double *x, int64_t ld)
{
    return sqrt(dot(n, x, ld, x, ld));
}

/* y = x + beta y */
static void add_scaled(int64_t n, const double *x, int64_t ldx, double beta, double *y, int64_t ldy)
{
    for (int64_t i = 0; i < n; i++) y[i * ldy] = x[i * ldx] + beta * y[i * ldy];
}

static void copy(int64_t n, const double *x, int64_t ldx, double *y, int64_t ldy)
{
    for (int64_t i = 0; i < n; i++) y[i * ldy] = x[i * ldx];
}

static void clear(int64_t n, double *x, int64_t ld)
{
    for (int64_t i = 0; i < n; i++) x[i * ld] = 0;
}

/* ---- errors ---- */

static double backward_error(const iteration *s, int64_t c)
{
    const side *own = &s->side[c];
    if (own->r_norm == 0) return 0;
    return own->r_norm / (s->a_norm * norm(s->n, s->x + c, s->ldx) + own->b_norm);
}

static double worst_backward_error(const iteration *s)
{
    double worst = 0;
    for (int64_t c = 0; c < s->columns; c++) worst = fmax(worst, backward_error(s, c));
    return worst;
}

static double worst_residual(const iteration *s)
{
    double worst = 0;
    for (int64_t c = 0; c < s->columns; c++)
        if (s->side[c].r_norm > 0) worst = fmax(worst, s->side[c].r_norm / s->side[c].b_norm);
    return worst;
}

static int any_active(const iteration *s)
{
    for (int64_t c = 0; c < s->columns; c++)
        if (s->side[c].active) return 1;
    return 0;
}

/* ---- the parts of the iteration ---- */

static void see_norm(iteration *s, const double *v, int64_t ldv, const double *product, int64_t ldp)
{
    const double size = norm(s->n, v, ldv), made = norm(s->n, product, ldp);
    if (size > 0 && made > s->a_norm * size) s->a_norm = made / size;
}

/* A first bound of |A|. */
static gram_status find_norm(iteration *s)
{
    static const double GOLDEN = 0.6180339887498949;
    gram_status status = GRAM_OK;
    double *v = s->p, *product = s->q;
    for (int64_t i = 0; i < s->n; i++) v[i] = 0.5 + fmod(GOLDEN * (double)i, 1);
    TRY(gram_operator_apply(s->context, s->a, 1, v, 1, product, 1));
    see_norm(s, v, 1, product, 1);
done:
    return status;
}

static int is_zero(const iteration *s)
{
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t c = 0; c < s->columns; c++)
            if (s->x[i * s->ldx + c] != 0) return 0;
    return 1;
}

/* r = b - A x, truly; says which columns have not converged. */
static gram_status find_residual(iteration *s)
{
    gram_status status = GRAM_OK;
    if (is_zero(s))
        memset(s->q, 0, (size_t)(s->n * s->columns) * sizeof *s->q);
    else
        TRY(gram_operator_apply(s->context, s->a, s->columns, s->x, s->ldx, s->q, s->columns));
    for (int64_t c = 0; c < s->columns; c++) {
        copy(s->n, s->b + c, s->ldb, s->r + c, s->columns);
        see_norm(s, s->x + c, s->ldx, s->q + c, s->columns);
        for (int64_t i = 0; i < s->n; i++) s->r[i * s->columns + c] -= s->q[i * s->columns + c];
        s->side[c].r_norm = s->side[c].best_norm = norm(s->n, s->r + c, s->columns);
        copy(s->n, s->x + c, s->ldx, s->best + c, s->columns);
    }
    for (int64_t c = 0; c < s->columns; c++) s->side[c].active = !(backward_error(s, c) <= s->options.tolerance);
done:
    return status;
}

/* z = M^-1 r, of the active columns; the others are 0. */
static gram_status precondition(iteration *s)
{
    gram_status status = GRAM_OK;
    memcpy(s->z, s->r, (size_t)(s->n * s->columns) * sizeof *s->z);
    for (int64_t c = 0; c < s->columns; c++)
        if (!s->side[c].active) clear(s->n, s->z + c, s->columns);
    if (s->options.precondition)
        TRY(s->options.precondition(s->options.user, s->context, s->columns, s->z, s->columns));
done:
    return status;
}

static gram_status first_direction(iteration *s)
{
    gram_status status = GRAM_OK;
    TRY(precondition(s));
    memcpy(s->p, s->z, (size_t)(s->n * s->columns) * sizeof *s->p);
    for (int64_t c = 0; c < s->columns; c++) s->side[c].rz = dot(s->n, s->r + c, s->columns, s->z + c, s->columns);
    s->best_worst = worst_residual(s);
    s->since = 0;
done:
    return status;
}

/* x += alpha p and r -= alpha q. A column ends when it has converged, or when p or M shows that A or M is not positive
 * definite to working precision: then its best iterate stands. */
static void advance_column(iteration *s, int64_t c)
{
    side *own = &s->side[c];
    const double *p = s->p + c, *q = s->q + c;
    const double pq = dot(s->n, p, s->columns, q, s->columns), alpha = own->rz / pq;
    if (!(pq > 0) || !(own->rz > 0) || !isfinite(alpha)) {
        own->active = 0;
        return;
    }
    for (int64_t i = 0; i < s->n; i++) s->x[i * s->ldx + c] += alpha * p[i * s->columns];
    for (int64_t i = 0; i < s->n; i++) s->r[i * s->columns + c] -= alpha * q[i * s->columns];
    own->r_norm = norm(s->n, s->r + c, s->columns);
    if (own->r_norm < own->best_norm) {
        own->best_norm = own->r_norm;
        copy(s->n, s->x + c, s->ldx, s->best + c, s->columns);
    }
    if (backward_error(s, c) <= s->options.tolerance) own->active = 0;
}

/* p = z + beta p; (z, r - r_old) is -alpha (z, q), whose alpha is (r, z)/(p, q). */
static void turn_column(iteration *s, int64_t c)
{
    side *own = &s->side[c];
    const double *z = s->z + c;
    if (!own->active) {
        clear(s->n, s->p + c, s->columns);
        return;
    }
    const double pq = dot(s->n, s->p + c, s->columns, s->q + c, s->columns);
    const double beta = -dot(s->n, z, s->columns, s->q + c, s->columns) / pq;
    own->rz = dot(s->n, s->r + c, s->columns, z, s->columns);
    add_scaled(s->n, z, s->columns, beta, s->p + c, s->columns);
}

static gram_status step(iteration *s)
{
    gram_status status = GRAM_OK;
    TRY(gram_operator_apply(s->context, s->a, s->columns, s->p, s->columns, s->q, s->columns));
    s->steps++;
    for (int64_t c = 0; c < s->columns; c++) {
        if (!s->side[c].active) continue;
        see_norm(s, s->p + c, s->columns, s->q + c, s->columns);
        advance_column(s, c);
    }
    if (!any_active(s)) return status;
    TRY(precondition(s));
    for (int64_t c = 0; c < s->columns; c++) turn_column(s, c);
done:
    return status;
}

/* Too many steps, or too many since the worst residual was last halved? */
static int exhausted(iteration *s)
{
    if (s->steps >= s->options.iterations) return 1;
    if (gram_time_is_up(s->context, GRAM_TIME_OF_ITERATIONS)) {
        gram_time_left_out(s->context, "iterations ended early");
        return 1;
    }
    const double worst = worst_residual(s);
    s->since++;
    if (worst <= s->best_worst / 2) {
        s->best_worst = worst;
        s->since = 0;
    }
    return s->options.stall > 0 && s->since >= s->options.stall;
}

static void take_best(const iteration *s)
{
    for (int64_t c = 0; c < s->columns; c++) copy(s->n, s->best + c, s->columns, s->x + c, s->ldx);
}

/* ---- checkpoints ---- */

/* What goes on from a step: x, r, p and the best x, and a few numbers of each column and of all. */
enum { KEPT_ARRAYS = 4, KEPT_OF_SIDE = 4, KEPT_OF_ALL = 5 };

static int64_t kept_count(const iteration *s)
{
    return s->columns * (KEPT_ARRAYS * s->n + KEPT_OF_SIDE) + KEPT_OF_ALL;
}

/* Tells this solve from others: |A| as the first product has it, and b. */
static gram_checkpoint_key key_of(const iteration *s)
{
    gram_checkpoint_key key = {.n = s->n, .columns = s->columns, .numbers = {s->first_norm}};
    for (int64_t c = 0; c < s->columns; c++) {
        key.numbers[1] += s->side[c].b_norm;
        for (int64_t i = 0; i < s->n; i++) {
            key.numbers[2] += fabs(s->b[i * s->ldb + c]) * (double)(1 + i % 7);
            key.numbers[3] += fabs(s->b[i * s->ldb + c]) * (double)(1 + c + i % 11);
        }
    }
    return key;
}

static void write_numbers(const iteration *s, double *at)
{
    const double all[KEPT_OF_ALL] = {s->a_norm, s->best_worst, s->before, (double)s->steps, (double)s->since};
    memcpy(at, all, sizeof all);
    for (int64_t c = 0; c < s->columns; c++) {
        const side *own = &s->side[c];
        const double each[KEPT_OF_SIDE] = {own->r_norm, own->rz, own->best_norm, own->active};
        memcpy(at + KEPT_OF_ALL + c * KEPT_OF_SIDE, each, sizeof each);
    }
}

static void read_numbers(iteration *s, const double *at)
{
    s->a_norm = at[0], s->best_worst = at[1], s->before = at[2];
    s->steps = (int64_t)at[3], s->since = (int64_t)at[4];
    for (int64_t c = 0; c < s->columns; c++) {
        const double *each = at + KEPT_OF_ALL + c * KEPT_OF_SIDE;
        side *own = &s->side[c];
        own->r_norm = each[0], own->rz = each[1], own->best_norm = each[2], own->active = each[3] != 0;
    }
}

/* To the array, or from it. */
static void move_arrays(iteration *s, int out, double *at)
{
    const int64_t size = s->n * s->columns;
    double *const arrays[] = {s->r, s->p, s->best};
    for (int k = 0; k < KEPT_ARRAYS - 1; k++, at += size)
        memcpy(out ? at : arrays[k], out ? arrays[k] : at, (size_t)size * sizeof *at);
    for (int64_t c = 0; c < s->columns; c++)
        copy(s->n, out ? s->x + c : at + c, out ? s->ldx : s->columns, out ? at + c : s->x + c,
             out ? s->columns : s->ldx);
}

static void move_state(iteration *s, int out, double *at)
{
    if (out)
        write_numbers(s, at);
    else
        read_numbers(s, at);
    move_arrays(s, out, at + KEPT_OF_ALL + KEPT_OF_SIDE * s->columns);
}

static gram_status keep_state(iteration *s)
{
    gram_status status = GRAM_OK;
    const gram_checkpoint_key key = key_of(s);
    double *state = NULL;
    int due = 0;
    if (!gram_checkpoint_wanted(s->context)) return status;
    TRY(gram_checkpoint_due(s->context, &due));
    if (!due) goto done;
    TRY(gram_take(s->context, "cg_solve: checkpoint", kept_count(s), sizeof *state, (void **)&state));
    move_state(s, 1, state);
    TRY(gram_checkpoint_keep(s->context, &key, kept_count(s), state));
done:
    gram_give(s->context, state);
    return status;
}

static gram_status find_state(iteration *s, int *found)
{
    gram_status status = GRAM_OK;
    double *state = NULL;
    *found = 0;
    if (!gram_checkpoint_wanted(s->context)) return status;
    const gram_checkpoint_key key = key_of(s);
    TRY(gram_take(s->context, "cg_solve: checkpoint", kept_count(s), sizeof *state, (void **)&state));
    TRY(gram_checkpoint_find(s->context, &key, kept_count(s), state, found));
    if (!*found) goto done;
    move_state(s, 0, state);
    gram_checkpoint_went_on(s->context, s->steps);
done:
    gram_give(s->context, state);
    return status;
}

/* ---- all of it ---- */

/* Steps until all columns have converged, or no more are allowed. */
static gram_status descend(iteration *s, int *stop)
{
    gram_status status = GRAM_OK;
    while (any_active(s) && !*stop) {
        TRY(step(s));
        *stop = exhausted(s);
        if (any_active(s)) TRY(keep_state(s));
    }
    take_best(s);
    TRY(find_residual(s));
done:
    return status;
}

/* Starts again from the true residual while that is worth it. */
static gram_status iterate(iteration *s)
{
    gram_status status = GRAM_OK;
    int stop = s->options.iterations < 1, found = 0;
    s->before = INFINITY;
    TRY(find_norm(s));
    s->first_norm = s->a_norm;
    TRY(find_state(s, &found));
    if (found)
        TRY(descend(s, &stop));
    else
        TRY(find_residual(s));
    while (any_active(s) && !stop) {
        const double now = worst_backward_error(s);
        if (!(now <= s->before / 2)) break;
        s->before = now;
        TRY(first_direction(s));
        TRY(descend(s, &stop));
    }
    if (any_active(s)) status = GRAM_NOT_CONVERGED;
done:
    return status;
}

/* ---- the call ---- */

static gram_status check_finite(gram_context *context, const char *name, const iteration *s, const double *v,
                                int64_t ld)
{
    gram_status status = GRAM_OK;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t c = 0; c < s->columns; c++)
            FAIL_IF(!isfinite(v[i * ld + c]), context, GRAM_ERROR_DATA, "cg_solve: %s[%lld, %lld] is not finite", name,
                    (long long)i, (long long)c);
done:
    return status;
}

static gram_status check(gram_context *context, const iteration *s)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!(s->options.tolerance >= 0), context, GRAM_ERROR_ARGUMENT, "cg_solve: the tolerance is not 0 or more");
    FAIL_IF(s->options.iterations < 0 || s->options.stall < 0, context, GRAM_ERROR_ARGUMENT,
            "cg_solve: iterations = %lld and stall = %lld, need 0 or more", (long long)s->options.iterations,
            (long long)s->options.stall);
    FAIL_IF(s->columns < 1 || s->ldb < s->columns || s->ldx < s->columns, context, GRAM_ERROR_ARGUMENT,
            "cg_solve: ldb = %lld or ldx = %lld does not fit columns = %lld", (long long)s->ldb, (long long)s->ldx,
            (long long)s->columns);
    TRY(check_finite(context, "b", s, s->b, s->ldb));
    TRY(check_finite(context, "x", s, s->x, s->ldx));
done:
    return status;
}

static gram_status run(gram_context *context, iteration *s, gram_cg_report *report)
{
    enum { ARRAYS = 5 };
    gram_status status = GRAM_OK;
    const int64_t size = s->n * s->columns;
    TRY(gram_take(context, "cg_solve", ARRAYS * size, sizeof *s->r, (void **)&s->r));
    TRY(gram_take(context, "cg_solve", s->columns, sizeof *s->side, (void **)&s->side));
    s->z = s->r + size, s->p = s->z + size, s->q = s->p + size, s->best = s->q + size;
    for (int64_t c = 0; c < s->columns; c++) s->side[c] = (side){.b_norm = norm(s->n, s->b + c, s->ldb)};
    TRY(iterate(s));
    const gram_cg_report made = {
        .iterations = s->steps, .backward_error = worst_backward_error(s), .residual = worst_residual(s)};
    gram_sized_write(report, &made, sizeof made);
done:
    gram_give(context, s->side);
    gram_give(context, s->r);
    return status;
}

gram_status gram_cg_solve(gram_context *context, const gram_operator *a, int64_t columns, const double *b, int64_t ldb,
                          double *x, int64_t ldx, const gram_cg_options *options, gram_cg_report *report)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!a || !b || !x, context, GRAM_ERROR_ARGUMENT, "cg_solve: %s is NULL", !a ? "a" : !b ? "b" : "x");
    iteration s = {.context = context, .a = a, .n = gram_operator_size(a), .columns = columns};
    s.b = b, s.ldb = ldb, s.x = x, s.ldx = ldx;
    gram_cg_options_init(&s.options, sizeof s.options);
    TRY(gram_sized_read(context, "cg_solve", "options", "gram_cg_options", options, &s.options, sizeof s.options));
    TRY(gram_sized_check(context, "cg_solve", "report", "gram_cg_report", report, sizeof *report));
    TRY(check(context, &s));
    status = run(context, &s, report);
done:
    return status;
}

gram_status gram_cholesky_precondition(void *user, gram_context *context, int64_t columns, double *v, int64_t ldv)
{
    return gram_cholesky_solve(context, user, columns, v, ldv);
}
