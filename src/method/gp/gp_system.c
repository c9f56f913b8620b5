/* One Cholesky factor, and solves with y and the columns T of the mean:
 *
 *     H = A^-1 T,  S = T'H,  beta = S^-1 H'y,  a = A^-1 y - H beta,  y'P y = (y - T beta)'a.
 *
 * A column of T that depends on others (a constant feature beside the constant) makes S singular; it gets the coefficient
 * 0, which changes nothing. */
#include "method/gp/gp_system.h"

#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "base/sized_struct.h"
#include "method/gp/gp_mean.h"
#include "points/points.h"
#include "solve/cholesky/cholesky.h"

static const double DEPENDENT = 1e-12; /* of a pivot, relative to the column's own size */

const char *gram_mean_name(gram_mean mean)
{
    static const char *const names[] = {"zero", "constant", "linear"};
    return (int)mean >= 0 && (int)mean < 3 ? names[mean] : "unknown";
}

void gram_gp_options_init(gram_gp_options *options, size_t size)
{
    const gram_gp_options defaults = {.mean = GRAM_MEAN_CONSTANT, .noise = 1e-2};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

gram_status gram_gp_options_read(gram_context *context, const char *name, const gram_gp_options *options,
                                 gram_gp_options *out)
{
    gram_gp_options_init(out, sizeof *out);
    return gram_sized_read(context, name, "options", "gram_gp_options", options, out, sizeof *out);
}

void gram_gp_options_forget(gram_gp_options *options)
{
    options->basis = options->row_noise = options->weights = NULL;
    options->plan = NULL;
    options->cg = NULL;
    options->inducing = NULL;
    options->vecchia = NULL;
}

/* ---- arguments ---- */

static gram_status check_rows(gram_context *context, const char *name, int64_t n, const double *y,
                              const gram_gp_options *o)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    for (int64_t i = 0; i < n; i++) {
        FAIL_IF(!isfinite(y[i]), context, GRAM_ERROR_DATA, "%s: y[%lld] is %s", name, (long long)i,
                gram_number_format(y[i], shown));
        FAIL_IF(o->row_noise && !(o->row_noise[i] >= 0 && isfinite(o->row_noise[i])), context, GRAM_ERROR_DATA,
                "%s: row_noise[%lld] is %s, need a number >= 0", name, (long long)i,
                gram_number_format(o->row_noise[i], shown));
        FAIL_IF(o->weights && !(o->weights[i] > 0 && isfinite(o->weights[i])), context, GRAM_ERROR_DATA,
                "%s: weights[%lld] is %s, need a number > 0", name, (long long)i,
                gram_number_format(o->weights[i], shown));
        for (int64_t j = 0; j < o->columns; j++)
            FAIL_IF(!isfinite(o->basis[i * o->ld + j]), context, GRAM_ERROR_DATA, "%s: basis[%lld][%lld] is %s", name,
                    (long long)i, (long long)j, gram_number_format(o->basis[i * o->ld + j], shown));
    }
done:
    return status;
}

gram_status gram_gp_check(gram_context *context, const char *name, const gram_kernel *kernel, const gram_points *x,
                          const double *y, const gram_gp_options *o)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "%s: kernel is NULL", name);
    FAIL_IF(!x, context, GRAM_ERROR_ARGUMENT, "%s: x is NULL", name);
    FAIL_IF(!y, context, GRAM_ERROR_ARGUMENT, "%s: y is NULL", name);
    FAIL_IF(!(o->noise >= 0 && isfinite(o->noise)), context, GRAM_ERROR_ARGUMENT, "%s: noise = %s, need a number >= 0",
            name, gram_number_format(o->noise, shown));
    FAIL_IF((int)o->mean < 0 || o->mean > GRAM_MEAN_LINEAR, context, GRAM_ERROR_ARGUMENT,
            "%s: mean = %d is not a valid mean", name, (int)o->mean);
    FAIL_IF(o->columns < 0 || (o->columns > 0 && (!o->basis || o->ld < o->columns)), context, GRAM_ERROR_ARGUMENT,
            "%s: %lld columns of the mean need a basis with ld at least that", name, (long long)o->columns);
    TRY(check_rows(context, name, x->n, y, o));
done:
    return status;
}

/* ---- the mean's columns ---- */

void gram_gp_mean_row(const gram_gp_system *s, double one, const double *x, const double *basis, double *row)
{
    int64_t j = 0;
    if (s->options.mean != GRAM_MEAN_ZERO) row[j++] = one;
    if (s->options.mean == GRAM_MEAN_LINEAR)
        for (int64_t l = 0; l < s->d; l++) row[j++] = x[l];
    for (int64_t l = 0; l < s->options.columns; l++) row[j++] = basis[l];
}

static gram_status fill_columns(gram_context *context, const gram_points *x, gram_gp_system *s)
{
    gram_status status = GRAM_OK;
    const gram_gp_options *o = &s->options;
    double *point = NULL;
    TRY(gram_take(context, "a point", s->d, sizeof(double), (void **)&point));
    gram_gp_system_rows(s, x, 0, s->n, o->basis, o->ld, point, s->t);
done:
    gram_give(context, point);
    return status;
}

/* ---- S = T'A^-1 T and its factor ---- */

static void factor_small(gram_gp_system *s)
{
    const int64_t q = s->q;
    double *c = s->small;
    s->log_small = 0;
    s->rank = q;
    for (int64_t j = 0; j < q; j++) {
        double pivot = c[j * q + j];
        const double size = pivot;
        for (int64_t k = 0; k < j; k++) pivot -= c[j * q + k] * c[j * q + k];
        const int dependent = !(pivot > DEPENDENT * size);
        s->rank -= dependent;
        c[j * q + j] = dependent ? INFINITY : sqrt(pivot); /* solves give 0 there */
        for (int64_t k = 0; k < j && dependent; k++) c[j * q + k] = 0;
        if (!dependent) s->log_small += log(pivot);
        for (int64_t i = j + 1; i < q; i++) {
            double sum = c[i * q + j];
            for (int64_t k = 0; k < j; k++) sum -= c[i * q + k] * c[j * q + k];
            c[i * q + j] = dependent ? 0 : sum / c[j * q + j];
        }
        if (dependent)
            for (int64_t i = 0; i < s->n; i++) s->t[i * q + j] = s->h[i * q + j] = 0;
    }
}

void gram_gp_small_solve(const gram_gp_system *s, double *v)
{
    for (int64_t i = 0; i < s->q; i++) {
        for (int64_t k = 0; k < i; k++) v[i] -= s->small[i * s->q + k] * v[k];
        v[i] /= s->small[i * s->q + i];
    }
}

static void small_solve_back(const gram_gp_system *s, double *v)
{
    for (int64_t i = s->q - 1; i >= 0; i--) {
        for (int64_t k = i + 1; k < s->q; k++) v[i] -= s->small[k * s->q + i] * v[k];
        v[i] /= s->small[i * s->q + i];
    }
}

/* From A^-1 [y, T]: H, S, beta, a and y'P y. */
static void combine(gram_gp_system *s, const double *u)
{
    const int64_t n = s->n, q = s->q, columns = q + 1;
    for (int64_t i = 0; i < n && q > 0; i++) memcpy(s->h + i * q, u + i * columns + 1, (size_t)q * sizeof *u);
    if (q > 0) memset(s->small, 0, (size_t)(q * q) * sizeof *u);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < q; j++)
            for (int64_t k = 0; k <= j; k++) s->small[j * q + k] += s->t[i * q + j] * s->h[i * q + k];
    factor_small(s);
    for (int64_t j = 0; j < q; j++) {
        s->beta[j] = 0;
        for (int64_t i = 0; i < n; i++) s->beta[j] += s->h[i * q + j] * s->y[i];
    }
    gram_gp_small_solve(s, s->beta);
    small_solve_back(s, s->beta);
    s->quadratic = 0;
    for (int64_t i = 0; i < n; i++) {
        double a = u[i * columns], left = s->y[i];
        for (int64_t j = 0; j < q; j++) {
            a -= s->h[i * q + j] * s->beta[j];
            left -= s->t[i * q + j] * s->beta[j];
        }
        s->a[i] = a;
        s->quadratic += left * a;
    }
}

/* ---- the whole ---- */

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

static gram_status solve(gram_context *context, gram_gp_system *s)
{
    gram_status status = GRAM_OK;
    const int64_t columns = s->q + 1;
    double *u = NULL;
    TRY(gram_take(context, "gp: solutions", s->n * columns, sizeof(double), (void **)&u));
    for (int64_t i = 0; i < s->n; i++) {
        u[i * columns] = s->y[i];
        if (s->q) memcpy(u + i * columns + 1, s->t + i * s->q, (size_t)s->q * sizeof *u);
    }
    TRY(gram_cholesky_solve(context, s->factor, columns, u, columns));
    combine(s, u);
done:
    gram_give(context, u);
    return status;
}

static gram_status factor(gram_context *context, const char *name, gram_kernel *kernel, const gram_points *x,
                          int lenient, gram_gp_system *s)
{
    gram_status status = GRAM_OK;
    TRY(gram_cholesky_create_together(context, kernel, x, s->shift, GRAM_STORAGE_F64, lenient ? &s->jitter : NULL,
                                      &s->factor));
    if (!lenient) TRY(gram_cholesky_check_pivots(context, name, s->factor));
    s->log_determinant = gram_cholesky_log_determinant(s->factor);
done:
    return status;
}

gram_status gram_gp_system_make(gram_context *context, const char *name, gram_kernel *kernel, const gram_points *x,
                                const double *y, const gram_gp_options *options, int lenient, gram_gp_system *system)
{
    gram_status status = GRAM_OK;
    gram_gp_system *s = system;
    memset(s, 0, sizeof *s);
    TRY(gram_gp_options_read(context, name, options, &s->options));
    const gram_gp_options *o = &s->options;
    TRY(gram_gp_check(context, name, kernel, x, y, o));
    s->n = x->n;
    s->d = x->d;
    s->y = y;
    s->q = (o->mean != GRAM_MEAN_ZERO) + (o->mean == GRAM_MEAN_LINEAR ? s->d : 0) + o->columns;
    TRY(take(context, s));
    for (int64_t i = 0; i < s->n; i++) s->shift[i] = gram_gp_row_noise(o, i);
    TRY(fill_columns(context, x, s));
    TRY(factor(context, name, kernel, x, lenient, s));
    TRY(solve(context, s));
done:
    return status;
}

void gram_gp_system_free(gram_context *context, gram_gp_system *s)
{
    gram_cholesky_destroy(s->factor);
    gram_give(context, s->t);
    gram_give(context, s->h);
    gram_give(context, s->small);
    gram_give(context, s->beta);
    gram_give(context, s->shift);
    gram_give(context, s->a);
    memset(s, 0, sizeof *s);
}

double gram_gp_log_likelihood(const gram_gp_system *s)
{
    const double log_2pi = 1.8378770664093454836;
    const double rows = (double)(s->options.flat ? s->n - s->rank : s->n);
    return -0.5 * (s->quadratic + s->log_determinant + (s->options.flat ? s->log_small : 0) + rows * log_2pi);
}
