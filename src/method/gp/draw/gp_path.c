/* Path-wise draws: sums of waves, and the update that makes them pass near the data.
 *
 * Matheron's rule: if (f, y) are jointly normal and f', y' is a draw of both, f' + Cov(f, y) Cov(y)^-1 (y - y') is a draw of f
 * given y. Here y' = f'(X) + e. With beta estimated the rule is applied to y - T beta; with a flat prior beta is the
 * generalised least squares estimate from y - y', whose variance is that of beta given y.
 *
 * Frequencies are kept in turns, so that whole turns of a phase are taken off exactly before sine and cosine, and phases count
 * from the centre of the data. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/cholesky.h>
#include <gram/gp_path.h>

#include "base/sized_struct.h"
#include "base/sweep.h"
#include "kernel/spectral/spectral_measure.h"
#include "method/gp/cg/gp_cg_system.h"
#include "points/functionals.h"
#include "points/points.h"
#include "solve/cholesky/cholesky.h"
#include "solve/cholesky/reduced_matrix.h"

enum { ROWS = 16, MOST_EXACT = 8000, SOLVE_COLUMNS = 64 };
static const uint64_t WAVES = 0x776176657300U, NOISE = 0x6e6f69736500U; /* names of uses of the seed */
static const double TURN = 6.28318530717958647692, DEPENDENT = 1e-10;

struct gram_gp_path {
    gram_memory *memory;
    gram_kernel *kernel;
    gram_gp_system base; /* n, d, q, options */
    int64_t draws, frequencies;
    double amplitude;        /* sqrt(k(0)/frequencies) */
    double *numbers;         /* the arrays below */
    double *centre;          /* d */
    double *turns;           /* draws x frequencies x d: w/(2 pi) */
    double *cosines, *sines; /* draws x frequencies */
    double *beta;            /* draws x q */
    gram_function *update;   /* of `draws` outputs; NULL for the prior */
    gram_solver solver;
    double residual;
};

void gram_gp_path_options_init(gram_gp_path_options *options, size_t size)
{
    const gram_gp_path_options defaults = {.draws = 1, .frequencies = 1024};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

static int64_t path_numbers(const gram_gp_path *p)
{
    return p->base.d + p->draws * (p->frequencies * (p->base.d + 2) + p->base.q);
}

void gram_gp_path_destroy(gram_gp_path *path)
{
    if (!path) return;
    gram_memory *memory = path->memory;
    gram_memory_give(memory, path->numbers);
    gram_function_release(path->update);
    gram_kernel_release(path->kernel);
    gram_memory_give(memory, path);
    gram_memory_release(memory);
}

int64_t gram_gp_path_count(const gram_gp_path *path)
{
    return path->draws;
}

gram_solver gram_gp_path_solver(const gram_gp_path *path, double *residual)
{
    if (residual) *residual = path->residual;
    return path->solver;
}

/* ---- waves ---- */

typedef struct wave_making {
    const gram_gp_path *path;
    uint64_t seed;
} wave_making;

/* Frequencies and amplitudes of one draw; scratch is for the spectrum. */
static gram_status make_waves_task(void *argument, const gram_worker *worker)
{
    const wave_making *job = argument;
    const gram_gp_path *p = job->path;
    const int64_t draw = worker->task, count = p->frequencies, d = p->base.d;
    double *turns = p->turns + draw * count * d;
    const gram_random random = {job->seed, WAVES + (uint64_t)draw};
    for (int64_t f = 0; f < count; f++) {
        gram_spectrum_draw(p->kernel, job->seed, draw, f, count, d, NULL, NULL, worker->scratch, turns + f * d);
        for (int64_t l = 0; l < d; l++) turns[f * d + l] /= TURN;
    }
    gram_random_normal(random, 0, count, p->cosines + draw * count);
    gram_random_normal(random, (uint64_t)count, count, p->sines + draw * count);
    return GRAM_OK;
}

static gram_status make_waves(gram_context *context, gram_gp_path *p)
{
    wave_making job = {p, context->seed};
    const gram_sweep sweep = {.what = "frequencies",
                              .tasks = p->draws,
                              .scratch_bytes = (size_t)(gram_spectrum_work(p->kernel) + 1) * sizeof(double),
                              .run = make_waves_task,
                              .argument = &job};
    return gram_sweep_run(context, &sweep);
}

typedef struct wave_adding {
    const gram_gp_path *path;
    const gram_vecmath_f64 *math;
    const gram_points *points;
    double *out;
    int64_t ldo;
} wave_adding;

/* The waves of all draws at ROWS points, added to out. Scratch: coordinates, phases, sines. */
static gram_status add_waves_task(void *argument, const gram_worker *worker)
{
    const wave_adding *job = argument;
    const gram_gp_path *p = job->path;
    const int64_t first = worker->task * ROWS, d = p->base.d, count = p->frequencies;
    const int rows = (int)(job->points->n - first < ROWS ? job->points->n - first : ROWS);
    double *phase = worker->scratch, *sine = phase + ROWS * count, *x = sine + ROWS * count;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t l = 0; l < d; l++) x[i * d + l] = gram_points_at(job->points, first + i, l) - p->centre[l];
    for (int64_t draw = 0; draw < p->draws; draw++) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, (int)count, (int)d, 1, x, (int)d,
                    p->turns + draw * count * d, (int)d, 0, phase, (int)count);
        for (int64_t i = 0; i < rows * count; i++) phase[i] = TURN * (phase[i] - rint(phase[i]));
        job->math->sin((int)(rows * count), phase, sine);
        job->math->cos((int)(rows * count), phase, phase);
        for (int64_t i = 0; i < rows; i++)
            job->out[(first + i) * job->ldo + draw] +=
                p->amplitude * (cblas_ddot((int)count, phase + i * count, 1, p->cosines + draw * count, 1) +
                                cblas_ddot((int)count, sine + i * count, 1, p->sines + draw * count, 1));
    }
    return GRAM_OK;
}

static gram_status add_waves(gram_context *context, const gram_gp_path *p, const gram_points *points, double *out,
                             int64_t ldo)
{
    wave_adding job = {p, &context->vecmath->f64, points, out, ldo};
    const gram_sweep sweep = {.what = "draws",
                              .tasks = (points->n + ROWS - 1) / ROWS,
                              .scratch_bytes = (size_t)(ROWS * (2 * p->frequencies + p->base.d)) * sizeof(double),
                              .run = add_waves_task,
                              .argument = &job};
    return gram_sweep_run(context, &sweep);
}

/* ---- the update ---- */

typedef struct update {
    gram_gp_path *path;
    const gram_points *x;
    const double *y;
    gram_gp_options gp;
    gram_gp_cg_options cg;
    int64_t columns; /* q of the mean, y, the draws */
    double *b, *v;   /* n x columns: right-hand sides and solutions */
    int not_converged;
} update;

/* [T, y, y - f(X) - e] */
static gram_status fill_right(gram_context *context, update *u)
{
    gram_status status = GRAM_OK;
    const gram_gp_path *p = u->path;
    const gram_gp_system *s = &p->base;
    const int64_t n = s->n, q = s->q, columns = u->columns;
    double *row = NULL, *noise = NULL;
    TRY(gram_take(context, "gp_path_create", q + s->d, sizeof(double), (void **)&row));
    TRY(gram_take(context, "gp_path_create", n, sizeof(double), (void **)&noise));
    memset(u->b, 0, (size_t)(n * columns) * sizeof *u->b);
    TRY(add_waves(context, p, u->x, u->b + q + 1, columns));
    for (int64_t i = 0; i < n; i++) {
        gram_gp_system_rows(s, u->x, i, 1, s->options.basis, s->options.ld, row + q, row);
        memcpy(u->b + i * columns, row, (size_t)q * sizeof *row);
        u->b[i * columns + q] = u->y[i];
    }
    for (int64_t draw = 0; draw < p->draws; draw++) {
        gram_random_normal((gram_random){context->seed, NOISE + (uint64_t)draw}, 0, n, noise);
        for (int64_t i = 0; i < n; i++) {
            double *own = u->b + i * columns + q + 1 + draw;
            *own = u->y[i] - *own - sqrt(gram_gp_row_noise(&s->options, i)) * noise[i];
        }
    }
done:
    gram_give(context, row);
    gram_give(context, noise);
    return status;
}

/* Rows with the same coordinates become one, the first: right-hand sides and solutions are 0 at the others. */
static gram_status solve_distinct(gram_context *context, update *u, const double *shift)
{
    gram_status status = GRAM_OK;
    const gram_gp_system *s = &u->path->base;
    const size_t width = (size_t)u->columns * sizeof(double);
    gram_reduced r = {0};
    double *said = NULL;
    TRY(gram_reduced_make(context, GRAM_REDUCE_DISTINCT, u->path->kernel, u->x, shift, s->options.weights, &r));
    TRY(gram_take(context, "gp_path_create: solutions", r.rank, width, (void **)&said));
    TRY(gram_reduced_split(context, &r, u->columns, u->b, said));
    memset(u->b, 0, (size_t)s->n * width);
    memset(u->v, 0, (size_t)s->n * width);
    for (int64_t k = 0; k < r.rank; k++) memcpy(u->b + r.row[k] * u->columns, said + k * u->columns, width);
    gram_reduced_solve(&r, u->columns, said);
    for (int64_t k = 0; k < r.rank; k++) memcpy(u->v + r.row[k] * u->columns, said + k * u->columns, width);
done:
    gram_give(context, said);
    gram_reduced_free(context->memory, &r);
    return status;
}

static gram_status solve_exactly(gram_context *context, update *u)
{
    gram_status status = GRAM_OK;
    const gram_gp_system *s = &u->path->base;
    gram_cholesky *factor = NULL;
    double *shift = NULL, jitter, least, most;
    int repeated = 0;
    TRY(gram_take(context, "gp_path_create: noise", s->n, sizeof(double), (void **)&shift));
    for (int64_t i = 0; i < s->n; i++) shift[i] = gram_gp_row_noise(&s->options, i);
    TRY(gram_cholesky_create(context, u->path->kernel, u->x, shift, GRAM_STORAGE_F64, &jitter, &factor));
    gram_cholesky_pivots(factor, &least, &most);
    if (jitter > 0 || !gram_pivots_hold(s->n, least, most))
        TRY(gram_reduced_repeated(context, u->path->kernel, u->x, &repeated));
    if (repeated) {
        TRY(solve_distinct(context, u, shift));
        goto done;
    }
    memcpy(u->v, u->b, (size_t)(s->n * u->columns) * sizeof *u->v);
    TRY(gram_cholesky_solve(context, factor, u->columns, u->v, u->columns));
done:
    gram_cholesky_destroy(factor);
    gram_give(context, shift);
    return status;
}

/* SOLVE_COLUMNS right-hand sides at a time. */
static gram_status solve_part(gram_context *context, update *u, const gram_gp_cg_system *system, int64_t first,
                              double *work)
{
    gram_status status = GRAM_OK;
    const int64_t n = u->path->base.n, left = u->columns - first, count = left < SOLVE_COLUMNS ? left : SOLVE_COLUMNS;
    double *b = work, *x = b + n * count, *residual = x + n * count;
    gram_lanczos run = {.a = system->op,
                        .precondition = system->m.kind->solve,
                        .user = system->m.data,
                        .columns = count,
                        .b = b,
                        .x = x,
                        .residual = residual,
                        .tolerance = system->tolerance,
                        .most = system->options.iterations};
    for (int64_t i = 0; i < n; i++) memcpy(b + i * count, u->b + i * u->columns + first, (size_t)count * sizeof *b);
    TRY(gram_lanczos_run(context, &run));
    if (status == GRAM_NOT_CONVERGED) u->not_converged = 1;
    for (int64_t i = 0; i < n; i++) memcpy(u->v + i * u->columns + first, x + i * count, (size_t)count * sizeof *x);
    u->path->residual = fmax(u->path->residual, run.worst);
done:
    return status;
}

static gram_status solve_by_cg(gram_context *context, update *u)
{
    gram_status status = GRAM_OK;
    gram_gp_cg_system system = {0};
    const int64_t columns = u->columns < SOLVE_COLUMNS ? u->columns : SOLVE_COLUMNS;
    const int64_t size = 3 * u->path->base.n * columns;
    double *work = NULL;
    TRY(gram_gp_cg_system_make(context, "gp_path_create", u->path->kernel, u->x, u->y, &u->gp, &system));
    TRY(gram_take(context, "gp_path_create: right-hand sides", size, sizeof(double), (void **)&work));
    u->path->residual = 0;
    for (int64_t first = 0; first < u->columns; first += SOLVE_COLUMNS)
        TRY(solve_part(context, u, &system, first, work));
done:
    gram_give(context, work);
    gram_gp_cg_system_free(context->memory, &system);
    return status;
}

/* beta of the right-hand side number `column` (the target, or a draw's), from T'A^-1 T and T'A^-1 b. */
static void find_beta(const update *u, gram_gp_system *s, int64_t column, double *g)
{
    const int64_t q = s->q, width = q + 1, columns = u->columns;
    memset(g, 0, (size_t)(width * width) * sizeof *g);
    for (int64_t i = 0; i < s->n; i++) {
        const double *b = u->b + i * columns, *v = u->v + i * columns;
        for (int64_t j = 0; j < q; j++) {
            for (int64_t l = 0; l <= j; l++) g[j * width + l] += 0.5 * (b[j] * v[l] + b[l] * v[j]);
            g[q * width + j] += b[column] * v[j];
        }
    }
    gram_gp_system_combine(s, g, DEPENDENT);
}

/* Coefficients of each draw in place of its solution, beta beside. */
static gram_status subtract_means(gram_context *context, update *u)
{
    gram_status status = GRAM_OK;
    gram_gp_path *p = u->path;
    gram_gp_system s = p->base;
    const int64_t q = s.q, columns = u->columns, size = (q + 1) * (q + 1) + q * (q + 1);
    double *g = NULL;
    TRY(gram_take(context, "gp_path_create: mean", size, sizeof(double), (void **)&g));
    s.small = g + (q + 1) * (q + 1);
    s.beta = s.small + q * q;
    for (int64_t draw = 0; draw < p->draws && q > 0; draw++) {
        if (draw == 0 || s.options.flat) find_beta(u, &s, s.options.flat ? q + 1 + draw : q, g);
        memcpy(p->beta + draw * q, s.beta, (size_t)q * sizeof *g);
        for (int64_t i = 0; i < s.n; i++)
            for (int64_t j = 0; j < q; j++) u->v[i * columns + q + 1 + draw] -= u->v[i * columns + j] * s.beta[j];
    }
done:
    gram_give(context, g);
    return status;
}

static gram_solver choose_solver(const gram_context *context, int64_t n, gram_solver asked)
{
    const size_t budget = gram_memory_budget(context->memory), used = gram_memory_used(context->memory);
    if (asked != GRAM_SOLVER_AUTO) return asked;
    if (n > MOST_EXACT) return GRAM_SOLVER_CG;
    const size_t factor = gram_cholesky_bytes(n, GRAM_STORAGE_F64);
    return budget > 0 && factor > (budget - used) / 2 ? GRAM_SOLVER_CG : GRAM_SOLVER_EXACT;
}

static gram_status condition(gram_context *context, gram_gp_path *p, const gram_points *x, const double *y,
                             const gram_gp_path_options *o, int *not_converged)
{
    gram_status status = GRAM_OK;
    update u = {.path = p, .x = x, .y = y, .columns = p->base.q + 1 + p->draws};
    const int64_t size = p->base.n * u.columns;
    u.gp = *o->gp;
    TRY(gram_gp_cg_options_read(context, "gp_path_create", u.gp.cg, &u.cg));
    u.cg.probes = 0;
    u.gp.cg = &u.cg;
    u.gp.precision = GRAM_PRECISION_F64;
    TRY(gram_take(context, "gp_path_create: right-hand sides", 2 * size, sizeof(double), (void **)&u.b));
    u.v = u.b + size;
    TRY(fill_right(context, &u));
    p->solver = choose_solver(context, p->base.n, o->solver);
    if (p->solver == GRAM_SOLVER_CG)
        TRY(solve_by_cg(context, &u));
    else
        TRY(solve_exactly(context, &u));
    TRY(subtract_means(context, &u));
    TRY(gram_function_create(context, p->kernel, x, p->draws, u.v + p->base.q + 1, u.columns, NULL, &p->update));
    *not_converged = u.not_converged;
done:
    gram_give(context, u.b);
    return status;
}

/* ---- creation ---- */

static gram_status check(gram_context *context, const gram_gp_path_options *o, int64_t d, const gram_points *x,
                         const double *y)
{
    gram_status status = GRAM_OK;
    FAIL_IF((x == NULL) != (y == NULL), context, GRAM_ERROR_ARGUMENT,
            "gp_path_create: %s is NULL, need both or neither", x ? "y" : "x");
    FAIL_IF(d < 1 || (x && x->d != d), context, GRAM_ERROR_DIMENSION, "gp_path_create: d = %lld does not fit",
            (long long)d);
    FAIL_IF(o->draws < 1 || o->draws > 1 << 20, context, GRAM_ERROR_ARGUMENT,
            "gp_path_create: draws = %lld, need 1 to 1048576", (long long)o->draws);
    FAIL_IF(o->frequencies < 1 || o->frequencies > 1 << 20, context, GRAM_ERROR_ARGUMENT,
            "gp_path_create: frequencies = %lld, need 1 to 1048576", (long long)o->frequencies);
    FAIL_IF((int)o->solver < 0 || o->solver > GRAM_SOLVER_CG, context, GRAM_ERROR_ARGUMENT,
            "gp_path_create: solver %s is not exact or cg", gram_solver_name(o->solver));
done:
    return status;
}

static gram_status take(gram_context *context, gram_gp_path *p)
{
    gram_status status = GRAM_OK;
    const int64_t d = p->base.d, waves = p->draws * p->frequencies;
    TRY(gram_take(context, "gp_path_create", path_numbers(p), sizeof(double), (void **)&p->numbers));
    memset(p->numbers, 0, (size_t)path_numbers(p) * sizeof(double));
    p->centre = p->numbers;
    p->turns = p->centre + d;
    p->cosines = p->turns + waves * d;
    p->sines = p->cosines + waves;
    p->beta = p->sines + waves;
done:
    return status;
}

static gram_status make(gram_context *context, gram_kernel *kernel, gram_gp_path **path)
{
    gram_status status = GRAM_OK;
    gram_gp_path *made = NULL;
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "gp_path_create: kernel is NULL");
    TRY(gram_take(context, "gp_path_create", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    made->kernel = gram_kernel_retain(kernel);
    made->residual = NAN;
    *path = made;
done:
    return status;
}

gram_status gram_gp_path_create(gram_context *context, gram_kernel *kernel, int64_t d, const gram_points *x,
                                const double *y, const gram_gp_path_options *options, gram_gp_path **path)
{
    gram_status status = GRAM_OK;
    gram_gp_path *made = NULL;
    gram_gp_path_options o;
    gram_gp_options gp;
    double height;
    int not_converged = 0;
    if (!context || !path) return GRAM_ERROR_ARGUMENT;
    *path = NULL;
    gram_gp_path_options_init(&o, sizeof o);
    TRY(gram_points_must_be_plain(context, "gp_path_create", x));
    TRY(gram_sized_read(context, "gp_path_create", "options", "gram_gp_path_options", options, &o, sizeof o));
    gram_gp_options_init(&gp, sizeof gp);
    TRY(gram_sized_read(context, "gp_path_create", "options.gp", "gram_gp_options", o.gp, &gp, sizeof gp));
    o.gp = &gp;
    TRY(make(context, kernel, &made));
    TRY(check(context, &o, d, x, y));
    TRY(gram_kernel_check_set(context, kernel));
    TRY(gram_kernel_check_dimension(context, kernel, d));
    TRY(gram_spectrum_check(context, "gp_path_create", "gram_gp_draw draws from any kernel, at given points", kernel, d,
                            &height));
    if (x) TRY(gram_gp_system_begin(context, "gp_path_create", kernel, x, y, o.gp, &made->base));
    made->base.d = d;
    made->draws = o.draws;
    made->frequencies = (o.frequencies + GRAM_LANES - 1) / GRAM_LANES * GRAM_LANES;
    made->amplitude = sqrt(height / (double)made->frequencies);
    TRY(take(context, made));
    for (int64_t i = 0; x && i < x->n; i++)
        for (int64_t l = 0; l < d; l++) made->centre[l] += gram_points_at(x, i, l) / (double)x->n;
    TRY(make_waves(context, made));
    if (x) TRY(condition(context, made, x, y, &o, &not_converged));
    made->base.y = NULL; /* the caller's */
    gram_gp_options_forget(&made->base.options);
    if (not_converged) status = GRAM_NOT_CONVERGED;
    *path = made;
    made = NULL;
done:
    gram_gp_path_destroy(made);
    return status;
}

/* ---- evaluation ---- */

gram_status gram_gp_path_evaluate(gram_context *context, const gram_gp_path *path, const gram_points *points,
                                  const double *basis, int64_t ldb, double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    double *row = NULL;
    if (!context || !path || !out) return GRAM_ERROR_ARGUMENT;
    const gram_gp_system *s = &path->base;
    TRY(gram_gp_system_check_points(context, "gp_path_evaluate", s, points, basis, ldb));
    FAIL_IF(ldo < path->draws, context, GRAM_ERROR_ARGUMENT, "gp_path_evaluate: ldo = %lld is less than the %lld draws",
            (long long)ldo, (long long)path->draws);
    TRY(gram_take(context, "gp_path_evaluate", s->q + s->d, sizeof(double), (void **)&row));
    if (path->update) TRY(gram_function_evaluate(context, path->update, points, out, ldo));
    for (int64_t i = 0; i < points->n; i++) {
        gram_gp_system_rows(s, points, i, 1, basis, ldb, row + s->q, row);
        for (int64_t draw = 0; draw < path->draws; draw++) {
            if (!path->update) out[i * ldo + draw] = 0;
            for (int64_t j = 0; j < s->q; j++) out[i * ldo + draw] += row[j] * path->beta[draw * s->q + j];
        }
    }
    TRY(add_waves(context, path, points, out, ldo));
done:
    gram_give(context, row);
    return status;
}

/* Adds the derivatives of a draw's waves at one point, whose phases in turns are given:
 * sum_f (b_f cos - a_f sin) 2 pi t_f. */
static void add_wave_slopes(const gram_gp_path *p, int64_t draw, const double *phase, double *out)
{
    const int64_t count = p->frequencies, d = p->base.d;
    const double *turns = p->turns + draw * count * d;
    for (int64_t f = 0; f < count; f++) {
        const double angle = TURN * (phase[f] - rint(phase[f]));
        const double slope = p->sines[draw * count + f] * cos(angle) - p->cosines[draw * count + f] * sin(angle);
        for (int64_t l = 0; l < d; l++) out[l] += p->amplitude * TURN * slope * turns[f * d + l];
    }
}

gram_status gram_gp_path_gradient(gram_context *context, const gram_gp_path *path, int64_t draw,
                                  const gram_points *points, double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    double *phase = NULL;
    if (!context || !path || !out) return GRAM_ERROR_ARGUMENT;
    const int64_t d = path->base.d, count = path->frequencies, q = path->base.q;
    TRY(gram_points_must_be_plain(context, "gp_path_gradient", points));
    FAIL_IF(!points || points->d != d, context, GRAM_ERROR_DIMENSION,
            "gp_path_gradient: points are missing or have not %lld columns", (long long)d);
    FAIL_IF(draw < 0 || draw >= path->draws || ldo < d, context, GRAM_ERROR_ARGUMENT,
            "gp_path_gradient: draw = %lld of %lld, ldo = %lld for %lld columns", (long long)draw,
            (long long)path->draws, (long long)ldo, (long long)d);
    TRY(gram_take(context, "gp_path_gradient", count, sizeof *phase, (void **)&phase));
    if (path->update) TRY(gram_function_gradient(context, path->update, draw, points, out, ldo));
    for (int64_t i = 0; i < points->n; i++) {
        double *own = out + i * ldo;
        if (!path->update) memset(own, 0, (size_t)d * sizeof *own);
        for (int64_t l = 0; l < d && path->base.options.mean == GRAM_MEAN_LINEAR && q > d; l++)
            own[l] += path->beta[draw * q + 1 + l];
        for (int64_t f = 0; f < count; f++) {
            const double *turn = path->turns + (draw * count + f) * d;
            phase[f] = 0;
            for (int64_t l = 0; l < d; l++) phase[f] += turn[l] * (gram_points_at(points, i, l) - path->centre[l]);
        }
        add_wave_slopes(path, draw, phase, own);
    }
done:
    gram_give(context, phase);
    return status;
}
