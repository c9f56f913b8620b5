/* The posterior by conjugate gradients.
 *
 * With v ~ A^-1 k and its true residual r = k - A v the variance is taken as
 *
 *     k(x,x) - 2 k'v + v'A v = k(x,x) - k'v - v'r = |k(x,.) - sum_i v_i k(x_i,.)|_H^2 + v'D v,
 *
 * the mean squared error of the linear prediction v'y of f(x). It is least at the exact v, so an unfinished solve makes the
 * variance larger, by an amount that is quadratic in r. Its last term is known without any cancellation, and stands where
 * rounding errors would leave less. */
#include <math.h>
#include <string.h>

#include "method/gp/cg/gp_cg_system.h"
#include "points/points.h"

enum { CHUNK = 64 };

/* ---- conditioning ---- */

/* The operator anew, over points that are ours. */
static gram_status adopt_points(gram_context *context, gram_gp_cg *gp)
{
    gram_status status = GRAM_OK;
    gram_gp_cg_system *s = &gp->system;
    gram_operator *k = NULL;
    gram_operator_release(s->op);
    s->op = NULL;
    gram_points_release(s->x);
    s->x = gram_points_retain(gram_function_centres(gp->function));
    TRY(gram_operator_create_free(context, gp->kernel, s->x, &k));
    TRY(gram_operator_create_shifted_by(context, k, s->base.shift, &s->op));
    s->base.y = NULL; /* the caller's */
    gram_gp_options_forget(&s->base.options);
done:
    gram_operator_release(k);
    return status;
}

/* sqrt(max k(x,x)) |D^-1/2 r|/2, as krr.c has it. */
static gram_status find_bound(gram_context *context, gram_gp_cg *gp)
{
    gram_status status = GRAM_OK;
    const gram_gp_cg_system *s = &gp->system;
    double *diagonal = NULL, most = 0;
    TRY(gram_take(context, "gp_fit", s->base.n, sizeof *diagonal, (void **)&diagonal));
    TRY(gram_matrix_diagonal(context, gp->kernel, s->x, diagonal));
    for (int64_t i = 0; i < s->base.n; i++) most = fmax(most, diagonal[i]);
    gp->report.error_bound = sqrt(most * s->left_over) / 2;
done:
    gram_give(context, diagonal);
    return status;
}

static void report(gram_gp_cg *gp)
{
    const gram_gp_cg_system *s = &gp->system;
    gp->report = (gram_gp_cg_report){.size = sizeof gp->report,
                                     .n = s->base.n,
                                     .d = s->base.d,
                                     .noise = s->base.options.noise,
                                     .tolerance = s->tolerance,
                                     .value = s->value,
                                     .train_rmse = sqrt(s->misfit / (double)s->base.n)};
}

gram_status gram_gp_cg_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                           const gram_gp_options *options, gram_gp_cg **gp)
{
    gram_status status = GRAM_OK;
    gram_gp_cg *made = NULL;
    if (!context || !gp) return GRAM_ERROR_ARGUMENT;
    *gp = NULL;
    TRY(gram_take(context, "gp_fit", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    gram_gp_cg_system *s = &made->system;
    TRY(gram_gp_cg_system_make(context, "gp_fit", kernel, x, y, options, s));
    made->kernel = gram_kernel_retain(kernel);
    TRY(gram_gp_cg_system_solve(context, s, 0));
    TRY(gram_function_create(context, kernel, x, 1, s->base.a, 1,
                             s->base.options.mean != GRAM_MEAN_ZERO ? s->base.beta : NULL, &made->function));
    report(made);
    TRY(find_bound(context, made));
    TRY(adopt_points(context, made));
    if (s->not_converged) status = GRAM_NOT_CONVERGED;
    *gp = made;
    made = NULL;
done:
    gram_gp_cg_destroy(made);
    return status;
}

void gram_gp_cg_destroy(gram_gp_cg *gp)
{
    if (!gp) return;
    gram_memory *memory = gp->memory;
    gram_gp_cg_system_free(memory, &gp->system);
    gram_function_release(gp->function);
    gram_kernel_release(gp->kernel);
    gram_memory_give(memory, gp);
    gram_memory_release(memory);
}

const gram_gp_cg_report *gram_gp_cg_get_report(const gram_gp_cg *gp)
{
    return &gp->report;
}

gram_function *gram_gp_cg_function(const gram_gp_cg *gp)
{
    return gp->function;
}

const double *gram_gp_cg_slopes(const gram_gp_cg *gp)
{
    return gp->system.base.options.mean == GRAM_MEAN_LINEAR ? gp->system.base.beta + 1 : NULL;
}

const double *gram_gp_cg_column_coefficients(const gram_gp_cg *gp)
{
    const gram_gp_system *s = &gp->system.base;
    return s->options.columns > 0 ? s->beta + s->q - s->options.columns : NULL;
}

/* ---- prediction ---- */

/* What one chunk of points needs. */
typedef struct chunk {
    int64_t room;
    double *k, *v, *residual; /* n x count each */
    double *rows;             /* count x q: the mean's columns */
    double *point, *diagonal, *floor;
} chunk;

static int64_t chunk_numbers(const gram_gp_system *s, const chunk *c, int solves)
{
    return (solves ? 3 * s->n * c->room : 0) + (s->q + 2) * c->room + s->d;
}

static gram_status take_chunk(gram_context *context, const gram_gp_system *s, int solves, chunk *c)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(context, "gp_predict: a chunk of points", chunk_numbers(s, c, solves), sizeof(double),
                  (void **)&c->k));
    c->v = c->k + (solves ? s->n * c->room : 0);
    c->residual = c->v + (solves ? s->n * c->room : 0);
    c->rows = c->residual + (solves ? s->n * c->room : 0);
    c->diagonal = c->rows + s->q * c->room;
    c->floor = c->diagonal + c->room;
    c->point = c->floor + c->room;
done:
    return status;
}

/* What is not known of the mean's parameters: t - T'A^-1 k through the small factor. T'A^-1 k is T'v + H'r to second order. */
static void add_flat(const gram_gp_system *s, const chunk *c, int64_t count, double *variance)
{
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t p = 0; p < count; p++)
            for (int64_t j = 0; j < s->q; j++)
                c->rows[p * s->q + j] -=
                    c->v[i * count + p] * s->t[i * s->q + j] + c->residual[i * count + p] * s->h[i * s->q + j];
    for (int64_t p = 0; p < count; p++) {
        gram_gp_small_solve(s, c->rows + p * s->q);
        for (int64_t j = 0; j < s->q; j++) variance[p] += c->rows[p * s->q + j] * c->rows[p * s->q + j];
    }
}

static void combine_variance(const gram_gp_system *s, const chunk *c, int64_t count, double *variance)
{
    for (int64_t p = 0; p < count; p++) variance[p] = c->diagonal[p], c->floor[p] = 0;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t p = 0; p < count; p++) {
            const double v = c->v[i * count + p];
            variance[p] -= v * (c->k[i * count + p] + c->residual[i * count + p]);
            c->floor[p] += s->shift[i] * v * v;
        }
    for (int64_t p = 0; p < count; p++) variance[p] = fmax(variance[p], c->floor[p]);
}

static gram_status chunk_variance(gram_context *context, const gram_gp_cg *gp, const gram_points *part, chunk *c,
                                  int *not_converged, double *variance)
{
    gram_status status = GRAM_OK;
    const gram_gp_cg_system *s = &gp->system;
    gram_lanczos run = {.a = s->op,
                        .precondition = s->m.kind->solve,
                        .user = s->m.data,
                        .columns = part->n,
                        .b = c->k,
                        .x = c->v,
                        .residual = c->residual,
                        .tolerance = s->tolerance,
                        .most = s->m.most};
    TRY(gram_matrix(context, gp->kernel, s->x, part, c->k, part->n));
    TRY(gram_matrix_diagonal(context, gp->kernel, part, c->diagonal));
    TRY(gram_lanczos_run(context, &run));
    TRY(gram_gp_preconditioner_judge(context, "gp_predict", &s->m, &s->options, status, run.iterations));
    if (status == GRAM_NOT_CONVERGED) *not_converged = 1;
    combine_variance(&s->base, c, part->n, variance);
    if (s->base.options.flat && s->base.q > 0) add_flat(&s->base, c, part->n, variance);
done:
    return status;
}

/* The mean's part beyond the constant, which the function has. */
static void add_mean(const gram_gp_system *s, const double *rows, int64_t count, double *mean)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = s->options.mean != GRAM_MEAN_ZERO; j < s->q; j++) mean[i] += rows[i * s->q + j] * s->beta[j];
}

gram_status gram_gp_cg_predict(gram_context *context, const gram_gp_cg *gp, const gram_points *points,
                               const double *basis, int64_t ldb, double *mean, double *variance)
{
    gram_status status = GRAM_OK;
    chunk c = {0};
    gram_points *part = NULL;
    int not_converged = 0;
    if (!context || !gp || !mean) return GRAM_ERROR_ARGUMENT;
    const gram_gp_system *s = &gp->system.base;
    TRY(gram_gp_system_check_points(context, "gp_predict", s, points, basis, ldb));
    TRY(gram_function_evaluate(context, gp->function, points, mean, 1));
    c.room = points->n < CHUNK ? points->n : CHUNK;
    TRY(take_chunk(context, s, variance != NULL, &c));
    for (int64_t first = 0; first < points->n; first += CHUNK) {
        const int64_t count = points->n - first < CHUNK ? points->n - first : CHUNK;
        gram_gp_system_rows(s, points, first, count, basis, ldb, c.point, c.rows);
        add_mean(s, c.rows, count, mean + first);
        if (!variance) continue;
        TRY(gram_gp_points_part(context, points, first, count, &part));
        TRY(chunk_variance(context, gp, part, &c, &not_converged, variance + first));
        gram_points_release(part);
        part = NULL;
    }
    status = not_converged ? GRAM_NOT_CONVERGED : GRAM_OK;
done:
    gram_points_release(part);
    gram_give(context, c.k);
    return status;
}
