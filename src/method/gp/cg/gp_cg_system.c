/* One block of right-hand sides [T, y, Z], one run of conjugate gradients.
 *
 * Of the solutions V of A V = B with residuals R = B - A V the products B'A^-1 B are taken as
 *
 *     B'V + V'B - V'A V = B'V + V'R,
 *
 * whose error is quadratic in R. log |A| is log |M| + n times the mean over the probes of a quadrature, see lanczos.h: the
 * probes z ~ N(0, M) have directions M^-1/2 z that are uniform on the sphere, and their lengths, which would only add noise,
 * are not used. */
#include "method/gp/cg/gp_cg_system.h"

#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "base/sized_struct.h"
#include "points/points.h"

static const uint64_t PROBES = 0x67705f6367U; /* the name of this use of the seed */
static const double DEPENDENT = 1e-10, SINGLE = 1e-5;

void gram_gp_cg_options_init(gram_gp_cg_options *options, size_t size)
{
    const gram_gp_cg_options defaults = {
        .tolerance = 1e-8, .training_tolerance = 1e-6, .probes = 16, .iterations = 1000};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

gram_status gram_gp_cg_options_read(gram_context *context, const char *name, const gram_gp_cg_options *options,
                                    gram_gp_cg_options *out)
{
    gram_gp_cg_options_init(out, sizeof *out);
    return gram_sized_read(context, name, "options.cg", "gram_gp_cg_options", options, out, sizeof *out);
}

static gram_status check(gram_context *context, const char *name, int64_t n, const gram_gp_cg_options *o)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    FAIL_IF(!(o->tolerance > 0 && o->tolerance < 1), context, GRAM_ERROR_ARGUMENT,
            "%s: tolerance = %s, need a number between 0 and 1", name, gram_number_format(o->tolerance, shown));
    FAIL_IF(!(o->training_tolerance > 0 && o->training_tolerance < 1), context, GRAM_ERROR_ARGUMENT,
            "%s: training_tolerance = %s, need a number between 0 and 1", name,
            gram_number_format(o->training_tolerance, shown));
    FAIL_IF(o->rank < 0 || o->rank > n, context, GRAM_ERROR_ARGUMENT, "%s: rank = %lld, need 0 to %lld", name,
            (long long)o->rank, (long long)n);
    FAIL_IF(o->probes < 0 || o->probes == 1 || o->probes > 4096, context, GRAM_ERROR_ARGUMENT,
            "%s: probes = %lld, need 0 or 2 to 4096", name, (long long)o->probes);
    FAIL_IF(o->neighbours < 0 || o->neighbours > 256, context, GRAM_ERROR_ARGUMENT,
            "%s: neighbours = %lld, need 0 to 256", name, (long long)o->neighbours);
    FAIL_IF(o->iterations < 1, context, GRAM_ERROR_ARGUMENT, "%s: iterations = %lld, need 1 or more", name,
            (long long)o->iterations);
done:
    return status;
}

static gram_status take(gram_context *context, gram_gp_system *s)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(context, "gp: mean", s->n * s->q, sizeof(double), (void **)&s->t));
    TRY(gram_take(context, "gp: mean", s->n * s->q, sizeof(double), (void **)&s->h));
    TRY(gram_take(context, "gp: mean", s->q * s->q, sizeof(double), (void **)&s->small));
    TRY(gram_take(context, "gp: mean", s->q, sizeof(double), (void **)&s->beta));
    TRY(gram_take(context, "gp: noise", s->n, sizeof(double), (void **)&s->shift));
    TRY(gram_take(context, "gp: coefficients", s->n, sizeof(double), (void **)&s->a));
done:
    return status;
}

static gram_status make_operator(gram_context *context, gram_kernel *kernel, gram_gp_cg_system *s)
{
    gram_status status = GRAM_OK;
    gram_operator *k = NULL;
    TRY(gram_operator_create_free(context, kernel, s->x, &k));
    TRY(gram_operator_create_shifted_by(context, k, s->base.shift, &s->op));
done:
    gram_operator_release(k);
    return status;
}

/* Rows that are functionals may have no noise: equations hold. Each then has a share of its own variance, which rounding errors of
 * products with K have in any case. */
static gram_status raise_noise(gram_context *context, const gram_kernel *kernel, const gram_points *x, double *shift)
{
    static const double SHARE = 1e-10;
    gram_status status = GRAM_OK;
    double *variance = NULL;
    TRY(gram_take(context, "gp: noise", x->n, sizeof *variance, (void **)&variance));
    TRY(gram_matrix_diagonal(context, kernel, x, variance));
    for (int64_t i = 0; i < x->n; i++) shift[i] = fmax(shift[i], SHARE * variance[i]);
done:
    gram_give(context, variance);
    return status;
}

gram_status gram_gp_cg_system_make(gram_context *context, const char *name, gram_kernel *kernel, const gram_points *x,
                                   const double *y, const gram_gp_options *options, gram_gp_cg_system *s)
{
    gram_status status = GRAM_OK;
    gram_gp_cg_options *o = &s->options;
    double *point = NULL;
    memset(s, 0, sizeof *s);
    s->name = name;
    TRY(gram_gp_system_begin(context, name, kernel, x, y, options, &s->base));
    gram_gp_system *base = &s->base;
    TRY(gram_gp_cg_options_read(context, name, base->options.cg, o));
    TRY(check(context, name, base->n, o));
    if (x->f32) o->tolerance = fmax(o->tolerance, SINGLE), o->training_tolerance = fmax(o->training_tolerance, SINGLE);
    s->tolerance = o->tolerance;
    s->probes = o->probes;
    TRY(take(context, base));
    for (int64_t i = 0; i < base->n; i++) base->shift[i] = gram_gp_row_noise(&base->options, i);
    TRY(gram_take(context, "a point", base->d, sizeof(double), (void **)&point));
    gram_gp_system_rows(base, x, 0, base->n, base->options.basis, base->options.ld, point, base->t);
    TRY(gram_gp_points_part(context, x, 0, x->n, &s->x));
    if (x->functionals) TRY(raise_noise(context, kernel, x, base->shift));
    TRY(gram_gp_preconditioner_make(context, name, kernel, s->x, base->shift,
                                    base->options.precision == GRAM_PRECISION_MIXED, o, &s->m));
    TRY(make_operator(context, kernel, s));
done:
    gram_give(context, point);
    return status;
}

void gram_gp_cg_system_free(gram_memory *memory, gram_gp_cg_system *s)
{
    gram_gp_system *base = &s->base;
    gram_operator_release(s->op);
    gram_gp_preconditioner_free(&s->m);
    gram_points_release(s->x);
    gram_memory_give(memory, base->t);
    gram_memory_give(memory, base->h);
    gram_memory_give(memory, base->small);
    gram_memory_give(memory, base->beta);
    gram_memory_give(memory, base->shift);
    gram_memory_give(memory, base->a);
    gram_memory_give(memory, s->weighted);
    gram_memory_give(memory, s->solved);
    memset(s, 0, sizeof *s);
}

/* ---- solving ---- */

typedef struct block {
    int64_t columns;          /* q of the mean, the target, the probes */
    double *b, *x, *residual; /* n x columns each, in one array */
    double *quadrature, *change, *size;
    double *products; /* (q + 1)^2 */
} block;

static int64_t block_numbers(const gram_gp_cg_system *s, const block *k)
{
    return 3 * s->base.n * k->columns + 3 * s->probes + (s->base.q + 1) * (s->base.q + 1);
}

static gram_status fill_block(gram_context *context, const gram_gp_cg_system *s, block *k)
{
    gram_status status = GRAM_OK;
    const gram_gp_system *base = &s->base;
    const int64_t n = base->n, q = base->q, columns = k->columns;
    TRY(gram_take(context, "gp: right-hand sides", block_numbers(s, k), sizeof(double), (void **)&k->b));
    k->x = k->b + n * columns;
    k->residual = k->x + n * columns;
    k->quadrature = k->residual + n * columns;
    k->change = k->quadrature + s->probes;
    k->size = k->change + s->probes;
    k->products = k->size + s->probes;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < q; j++) k->b[i * columns + j] = base->t[i * q + j];
        k->b[i * columns + q] = base->y[i];
    }
    if (s->probes > 0)
        TRY(s->m.kind->draw(context, s->m.data, (gram_random){context->seed, PROBES}, s->probes, k->b + q + 1,
                            columns));
done:
    return status;
}

/* B'V + V'R of the mean's columns and the target. */
static void find_products(const gram_gp_cg_system *s, block *k)
{
    const int64_t width = s->base.q + 1;
    memset(k->products, 0, (size_t)(width * width) * sizeof(double));
    for (int64_t i = 0; i < s->base.n; i++) {
        const double *b = k->b + i * k->columns, *x = k->x + i * k->columns, *r = k->residual + i * k->columns;
        for (int64_t j = 0; j < width; j++)
            for (int64_t l = 0; l <= j; l++) k->products[j * width + l] += b[j] * x[l] + x[j] * r[l];
    }
}

/* a, h and the misfit y - T beta - K a = D a + (residual of a). */
static void finish(gram_gp_cg_system *s, const block *k)
{
    gram_gp_system *base = &s->base;
    const int64_t q = base->q;
    s->misfit = s->left_over = 0;
    for (int64_t i = 0; i < base->n; i++) {
        const double *x = k->x + i * k->columns, *r = k->residual + i * k->columns;
        double a = x[q], left = r[q];
        for (int64_t j = 0; j < q; j++) {
            base->h[i * q + j] = x[j];
            a -= x[j] * base->beta[j];
            left -= r[j] * base->beta[j];
        }
        base->a[i] = a;
        s->left_over += left * left / base->shift[i];
        left += base->shift[i] * a;
        s->misfit += left * left;
    }
}

static void find_determinant(gram_gp_cg_system *s, const block *k)
{
    const double n = (double)s->base.n, probes = (double)s->probes;
    double mean = 0, change = 0, spread = 0;
    for (int64_t j = 0; j < s->probes; j++) {
        mean += k->quadrature[j] / probes;
        change += k->change[j] / probes;
    }
    for (int64_t j = 0; j < s->probes; j++) spread += (k->quadrature[j] - mean) * (k->quadrature[j] - mean);
    s->base.log_determinant = s->probes > 0 ? s->m.kind->log_determinant(s->m.data) + n * mean : NAN;
    s->value.standard_error = s->probes > 0 ? 0.5 * n * sqrt(spread / (probes - 1) / probes) : NAN;
    s->value.quadrature_error = s->probes > 0 ? 0.5 * n * change : NAN;
}

static gram_status keep(gram_context *context, gram_gp_cg_system *s, const block *k)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->base.n, probes = s->probes, first = s->base.q + 1;
    TRY(gram_take(context, "gp: probes", n * probes, sizeof(double), (void **)&s->weighted));
    TRY(gram_take(context, "gp: probes", n * probes, sizeof(double), (void **)&s->solved));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < probes; j++) {
            s->weighted[i * probes + j] = k->b[i * k->columns + first + j];
            s->solved[i * probes + j] = k->x[i * k->columns + first + j];
        }
    TRY(s->m.kind->solve(s->m.data, context, probes, s->weighted, probes));
    for (int64_t i = 0; i < n * probes && s->m.kind->whole; i++) s->solved[i] -= s->weighted[i];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < probes; j++) s->weighted[i * probes + j] *= (double)n / k->size[j];
done:
    return status;
}

gram_status gram_gp_cg_system_solve(gram_context *context, gram_gp_cg_system *s, int keep_probes)
{
    gram_status status = GRAM_OK;
    block k = {.columns = s->base.q + 1 + s->probes};
    TRY(fill_block(context, s, &k));
    gram_lanczos run = {.a = s->op,
                        .precondition = s->m.kind->solve,
                        .user = s->m.data,
                        .columns = k.columns,
                        .b = k.b,
                        .x = k.x,
                        .residual = k.residual,
                        .tolerance = s->tolerance,
                        .most = s->m.most,
                        .probes = s->probes,
                        .quadrature = k.quadrature,
                        .change = k.change,
                        .size = k.size};
    TRY(gram_lanczos_run(context, &run));
    TRY(gram_gp_preconditioner_judge(context, s->name, &s->m, &s->options, status, run.iterations));
    s->not_converged = status == GRAM_NOT_CONVERGED;
    find_products(s, &k);
    gram_gp_system_combine(&s->base, k.products, DEPENDENT);
    finish(s, &k);
    find_determinant(s, &k);
    s->value.log_marginal_likelihood = gram_gp_log_likelihood(&s->base);
    s->value.residual = run.worst;
    s->value.iterations = run.iterations;
    s->value.rank = s->m.rank;
    s->value.trace_error = s->m.trace_error;
    if (keep_probes) TRY(keep(context, s, &k));
done:
    gram_give(context, k.b);
    return status < 0 ? status : GRAM_OK;
}
