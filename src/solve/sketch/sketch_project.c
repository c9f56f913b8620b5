/* Accelerated sketch-and-project with approximate projections (Rathore, Frangella, Yang, Derezinski and Udell 2024, 2025).
 *
 * The exact step of a block B of rows would solve its own equations, x_B -= A_BB^-1 (A x - b)_B: a projection. Here a low rank stands in for A_BB,
 *
 *     d = P^-1 (A z - b)_B,   P = F F' + diag(shift_B) + rho,   F F' ~ K_BB of rank 100,
 *     w' = z - d/L,   v' = beta v + (1 - beta) z - gamma d/L,   z' = alpha v' + (1 - alpha) w'   (d at the rows of B),
 *
 * L = the largest eigenvalue of P^-1 A_BB, by power iterations, so that w' is never a step too far; and the momentum of Nesterov with the
 * constants of its theory, nu = n/|B| and mu = shift/(10 k(x,x)):  beta = 1 - sqrt(mu/nu), gamma = 1/sqrt(mu nu), alpha = 1/(1 + gamma nu).
 *
 * rho is what the low rank leaves out, about its first eigenvalue that is missed: found by trying for the first block, and carried from
 * block to block, since blocks are alike: larger where L says that it was too small.
 *
 * Blocks of a pass part all rows, in a new random order each time. So the squares of (A z - b)_B over a pass add up to an estimate of the residual that
 * costs nothing; when it is small enough the true residual is made, which is the certificate, too. */
#include "solve/sketch/sketch_project.h"

#include <math.h>
#include <string.h>

#include <gram/nystrom.h>
#include <gram/operator.h>
#include <gram/random.h>

#include "base/system/time_limit.h"
#include "points/points.h"

enum { SHARE = 100, LEAST_BLOCK = 200, USUAL_RANK = 100, USUAL_PASSES = 300, POWERS = 8, MOST_TRIES = 6 };
/* Of the shift over the diagonal, the constant of the momentum. The papers take all of it; measured with n = 4,000 in five columns, passes to a
 * residual of 1e-3: matern 1/2, shift 0.05: 34, 15 and 29 with 1, 0.1 and 0.01 of it; rbf, shift 0.01: over 60, 37 and over 60. */
static const double MU = 0.1;
static const uint64_t STREAM = 0x736b65746368U; /* the name of this use of the seed */

typedef struct sketching {
    gram_context *context;
    gram_kernel *kernel;
    const gram_points *points;
    const double *shift;
    int64_t n, columns, block, rank;
    const double *b;
    double *w;                 /* the result */
    double *v, *z;             /* n x columns */
    double *step, *product;    /* block x columns */
    double *part_shift, *ones; /* block */
    double *square;            /* columns: of the residual, over a pass */
    int64_t *order;
    double rho, alpha, beta, gamma;
    int ended; /* there is no time for more */
} sketching;

/* The rows of one step. */
typedef struct block {
    int64_t size;
    const int64_t *rows;
    gram_points *points;
    gram_operator *a; /* A_BB */
    gram_nystrom *p;
    double step; /* 1/L */
} block;

/* ---- one block ---- */

static void release_block(block *o)
{
    gram_points_release(o->points);
    gram_operator_release(o->a);
    gram_nystrom_destroy(o->p);
    *o = (block){.size = 0};
}

/* The largest eigenvalue of P^-1 A_BB, from below. The quotients |P^-1 A v|/|v| rise to it. */
static gram_status find_largest(sketching *s, const block *o, double *largest)
{
    gram_status status = GRAM_OK;
    double *v = s->step, *u = s->product;
    for (int64_t i = 0; i < o->size; i++) v[i] = s->ones[i];
    for (int k = 0; k < POWERS; k++) {
        double before = 0, after = 0;
        for (int64_t i = 0; i < o->size; i++) before += v[i] * v[i];
        TRY(gram_operator_apply(s->context, o->a, 1, v, 1, u, 1));
        TRY(gram_nystrom_solve(s->context, o->p, 1, u, 1));
        for (int64_t i = 0; i < o->size; i++) after += u[i] * u[i];
        *largest = sqrt(after / before);
        for (int64_t i = 0; i < o->size; i++) v[i] = u[i] / sqrt(after);
    }
done:
    return status;
}

static gram_status make_preconditioner(sketching *s, block *o)
{
    gram_status status = GRAM_OK;
    gram_nystrom_destroy(o->p);
    o->p = NULL;
    for (int64_t i = 0; i < o->size; i++) s->part_shift[i] = s->shift[o->rows[i]] + s->rho;
    TRY(gram_nystrom_create(s->context, s->kernel, o->points, s->part_shift, s->rank < o->size ? s->rank : o->size,
                            &o->p));
done:
    return status;
}

/* Points, A_BB and P, whose rho is raised until L is near 1. */
static gram_status make_block(sketching *s, block *o, int tries)
{
    static const double NEAR = 1.5;
    gram_status status = GRAM_OK;
    gram_operator *k = NULL;
    double largest = 1;
    TRY(gram_points_gather(s->context, s->points, o->size, o->rows, &o->points));
    TRY(gram_operator_create_packed(s->context, s->kernel, o->points, &k));
    for (int64_t i = 0; i < o->size; i++) s->part_shift[i] = s->shift[o->rows[i]];
    TRY(gram_operator_create_shifted_by(s->context, k, s->part_shift, &o->a));
    for (int t = 0; t < tries; t++) {
        TRY(make_preconditioner(s, o));
        TRY(find_largest(s, o, &largest));
        if (largest <= NEAR) break;
        if (t + 1 < tries || tries == 1) s->rho *= largest; /* for this block, or for the next */
    }
    o->step = 1 / fmax(largest, 1);
done:
    gram_operator_release(k);
    return status;
}

/* (A z - b)_B to the step, its squares to the pass. */
static gram_status find_residual(sketching *s, const block *o)
{
    gram_status status = GRAM_OK;
    const int64_t m = s->columns;
    TRY(gram_matrix_product(s->context, s->kernel, o->points, s->points, m, s->z, m, s->step, m));
    for (int64_t i = 0; i < o->size; i++)
        for (int64_t c = 0; c < m; c++) {
            const int64_t at = o->rows[i] * m + c;
            double *r = &s->step[i * m + c];
            *r += s->shift[o->rows[i]] * s->z[at] - s->b[at];
            s->square[c] += *r * *r;
        }
done:
    return status;
}

/* w, v and z from d, which is in the step. */
static void advance(sketching *s, const block *o)
{
    const int64_t m = s->columns;
    for (int64_t i = 0; i < s->n * m; i++) {
        s->w[i] = s->z[i];
        s->v[i] = s->beta * s->v[i] + (1 - s->beta) * s->z[i];
    }
    for (int64_t i = 0; i < o->size; i++)
        for (int64_t c = 0; c < m; c++) {
            const double d = o->step * s->step[i * m + c];
            s->w[o->rows[i] * m + c] -= d;
            s->v[o->rows[i] * m + c] -= s->gamma * d;
        }
    for (int64_t i = 0; i < s->n * m; i++) s->z[i] = s->alpha * s->v[i] + (1 - s->alpha) * s->w[i];
}

static gram_status take_step(sketching *s, int64_t size, const int64_t *rows, int tries)
{
    gram_status status = GRAM_OK;
    block o = {.size = size, .rows = rows};
    TRY(make_block(s, &o, tries));
    TRY(find_residual(s, &o));
    TRY(gram_nystrom_solve(s->context, o.p, s->columns, s->step, s->columns));
    advance(s, &o);
done:
    release_block(&o);
    return status;
}

/* ---- passes ---- */

static double worst_of(const sketching *s, const double *squares)
{
    double worst = 0;
    for (int64_t c = 0; c < s->columns; c++) {
        double size = 0;
        for (int64_t i = 0; i < s->n; i++) size += s->b[i * s->columns + c] * s->b[i * s->columns + c];
        if (size > 0) worst = fmax(worst, sqrt(squares[c] / size));
    }
    return worst;
}

/* The true residual of w. */
static gram_status check_residual(sketching *s, double *residual)
{
    gram_status status = GRAM_OK;
    const int64_t m = s->columns;
    double *made = NULL;
    TRY(gram_take(s->context, "sketch: residual", s->n * m, sizeof *made, (void **)&made));
    TRY(gram_matrix_product(s->context, s->kernel, s->points, NULL, m, s->w, m, made, m));
    memset(s->square, 0, (size_t)m * sizeof *s->square);
    for (int64_t i = 0; i < s->n * m; i++) {
        const double r = s->b[i] - made[i] - s->shift[i / m] * s->w[i];
        s->square[i % m] += r * r;
    }
    *residual = worst_of(s, s->square);
done:
    gram_give(s->context, made);
    return status;
}

static gram_status run_pass(sketching *s, int64_t pass, double *estimate)
{
    gram_status status = GRAM_OK;
    memset(s->square, 0, (size_t)s->columns * sizeof *s->square);
    gram_random_permutation((gram_random){s->context->seed, STREAM}, (uint64_t)pass, s->n, s->order);
    for (int64_t at = 0; at < s->n; at += s->block) {
        const int64_t left = s->n - at, size = left < s->block ? left : s->block;
        const double began = gram_clock();
        TRY(take_step(s, size, s->order + at, pass == 0 && at == 0 ? MOST_TRIES : 1));
        if (gram_time_ends_iterations(s->context, began)) {
            s->ended = 1;
            break;
        }
    }
    *estimate = worst_of(s, s->square);
done:
    return status;
}

static gram_status run(sketching *s, const gram_sketch_options *o, gram_sketch_report *report)
{
    gram_status status = GRAM_OK;
    const double tolerance = o->tolerance > 0 ? o->tolerance : 1e-5;
    const int64_t most = o->passes > 0 ? o->passes : USUAL_PASSES;
    double estimate = INFINITY;
    for (report->passes = 0; report->passes < most;) {
        TRY(run_pass(s, report->passes, &estimate));
        report->passes++;
        if (estimate > tolerance && report->passes < most && !s->ended) continue;
        TRY(check_residual(s, &report->residual));
        if (report->residual <= tolerance) goto done;
        if (s->ended) break;
    }
    status = GRAM_NOT_CONVERGED;
done:
    return status;
}

/* ---- the call ---- */

static gram_status take(sketching *s)
{
    gram_status status = GRAM_OK;
    gram_context *context = s->context;
    const int64_t all = s->n * s->columns, part = s->block * s->columns;
    TRY(gram_take(context, "sketch", all, sizeof *s->v, (void **)&s->v));
    TRY(gram_take(context, "sketch", all, sizeof *s->z, (void **)&s->z));
    TRY(gram_take(context, "sketch", part, sizeof *s->step, (void **)&s->step));
    TRY(gram_take(context, "sketch", s->block, sizeof *s->product, (void **)&s->product));
    TRY(gram_take(context, "sketch", s->block, sizeof *s->part_shift, (void **)&s->part_shift));
    TRY(gram_take(context, "sketch", s->block, sizeof *s->ones, (void **)&s->ones));
    TRY(gram_take(context, "sketch", s->columns, sizeof *s->square, (void **)&s->square));
    TRY(gram_take(context, "sketch", s->n, sizeof *s->order, (void **)&s->order));
done:
    return status;
}

static void give(sketching *s)
{
    gram_context *context = s->context;
    gram_give(context, s->v);
    gram_give(context, s->z);
    gram_give(context, s->step);
    gram_give(context, s->product);
    gram_give(context, s->part_shift);
    gram_give(context, s->ones);
    gram_give(context, s->square);
    gram_give(context, s->order);
}

/* The constants of the momentum; rho begins at a small share of the diagonal. */
static gram_status set_constants(sketching *s)
{
    gram_status status = GRAM_OK;
    double *diagonal = NULL, mean = 0, least = INFINITY;
    TRY(gram_take(s->context, "sketch", s->n, sizeof *diagonal, (void **)&diagonal));
    TRY(gram_matrix_diagonal(s->context, s->kernel, s->points, diagonal));
    for (int64_t i = 0; i < s->n; i++) {
        mean += diagonal[i] / (double)s->n;
        least = fmin(least, s->shift[i]);
    }
    const double nu = (double)s->n / (double)s->block, mu = fmin(mean > 0 ? MU * least / mean : 1, 1 / nu);
    s->rho = 1e-3 * mean;
    s->beta = 1 - sqrt(mu / nu);
    s->gamma = 1 / sqrt(mu * nu);
    s->alpha = 1 / (1 + s->gamma * nu);
done:
    gram_give(s->context, diagonal);
    return status;
}

gram_status gram_sketch_solve(gram_context *context, gram_kernel *kernel, gram_points *points, const double *shift,
                              int64_t columns, const double *b, double *x, const gram_sketch_options *options,
                              gram_sketch_report *report)
{
    gram_status status = GRAM_OK;
    sketching s = {.context = context, .kernel = kernel, .points = points, .shift = shift, .n = points->n};
    const int64_t usual = s.n / SHARE > LEAST_BLOCK ? s.n / SHARE : LEAST_BLOCK;
    s.columns = columns;
    s.b = b;
    s.w = x;
    s.block = options->block > 0 ? options->block : usual;
    if (s.block > s.n) s.block = s.n;
    s.rank = options->rank > 0 ? options->rank : USUAL_RANK;
    *report = (gram_sketch_report){.residual = INFINITY};
    for (int64_t i = 0; i < s.n; i++)
        FAIL_IF(!(shift[i] > 0), context, GRAM_ERROR_ARGUMENT, "sketch: shift[%lld] is not above 0", (long long)i);
    TRY(take(&s));
    TRY(set_constants(&s));
    for (int64_t i = 0; i < s.block; i++) s.ones[i] = 1 + 0.5 * sin((double)i); /* near no eigenvector but the first */
    memcpy(s.v, x, (size_t)(s.n * columns) * sizeof *s.v);
    memcpy(s.z, x, (size_t)(s.n * columns) * sizeof *s.z);
    TRY(run(&s, options, report));
done:
    give(&s);
    return status;
}
