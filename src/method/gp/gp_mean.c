/* Generalised least squares from the Gram matrix of the mean's columns and the target.
 *
 * With G = [T, y]'A^-1 [T, y] and L the Cholesky factor of its T part, z = L^-1 G_Ty:
 *
 *     beta = L^-T z,   y'P y = G_yy - |z|^2. */
#include "method/gp/gp_mean.h"

#include <math.h>
#include <string.h>

#include "base/sized_struct.h"
#include "points/functionals.h"

static const double BARRED = 1e300; /* x/BARRED is nothing */

gram_status gram_gp_system_begin(gram_context *context, const char *name, const gram_kernel *kernel,
                                 const gram_points *x, const double *y, const gram_gp_options *options,
                                 gram_gp_system *s)
{
    gram_status status = GRAM_OK;
    gram_gp_options *o = &s->options;
    memset(s, 0, sizeof *s);
    TRY(gram_gp_options_read(context, name, options, o));
    TRY(gram_gp_check(context, name, kernel, x, y, o));
    s->n = x->n;
    s->d = x->d;
    s->y = y;
    s->q = (o->mean != GRAM_MEAN_ZERO) + (o->mean == GRAM_MEAN_LINEAR ? s->d : 0) + o->columns;
done:
    return status;
}

void gram_gp_system_restore(const gram_gp_parts *p, gram_gp_system *s)
{
    gram_gp_options *o = &s->options;
    memset(s, 0, sizeof *s);
    gram_gp_options_init(o, sizeof *o);
    o->mean = p->mean;
    o->flat = p->flat;
    o->noise = p->noise;
    o->columns = p->columns;
    s->n = p->n;
    s->d = p->centres->d;
    s->q = (p->mean != GRAM_MEAN_ZERO) + (p->mean == GRAM_MEAN_LINEAR ? s->d : 0) + p->columns;
}

static void factor_small(gram_gp_system *s, double dependent)
{
    const int64_t q = s->q;
    double *c = s->small;
    s->rank = q;
    s->log_small = 0;
    for (int64_t j = 0; j < q; j++) {
        double pivot = c[j * q + j];
        const double size = pivot;
        for (int64_t k = 0; k < j; k++) pivot -= c[j * q + k] * c[j * q + k];
        const int barred = !(pivot > dependent * size);
        for (int64_t k = 0; k < j && barred; k++) c[j * q + k] = 0;
        c[j * q + j] = barred ? BARRED : sqrt(pivot);
        s->rank -= barred;
        s->log_small += barred ? 0 : log(pivot);
        for (int64_t i = j + 1; i < q; i++) {
            for (int64_t k = 0; k < j; k++) c[i * q + j] -= c[i * q + k] * c[j * q + k];
            c[i * q + j] = barred ? 0 : c[i * q + j] / c[j * q + j];
        }
    }
}

void gram_gp_system_combine(gram_gp_system *s, const double *g, double dependent)
{
    const int64_t q = s->q, width = q + 1;
    for (int64_t i = 0; i < q; i++) {
        for (int64_t j = 0; j < q; j++) s->small[i * q + j] = j <= i ? g[i * width + j] : 0;
        s->beta[i] = g[q * width + i];
    }
    factor_small(s, dependent);
    gram_gp_small_solve(s, s->beta);
    s->quadratic = g[q * width + q];
    for (int64_t j = 0; j < q; j++) s->quadratic -= s->beta[j] * s->beta[j];
    for (int64_t i = q - 1; i >= 0; i--) {
        for (int64_t k = i + 1; k < q; k++) s->beta[i] -= s->small[k * q + i] * s->beta[k];
        s->beta[i] = s->small[i * q + i] == BARRED ? 0 : s->beta[i] / s->small[i * q + i];
    }
}

void gram_gp_system_rows(const gram_gp_system *s, const gram_points *points, int64_t first, int64_t count,
                         const double *basis, int64_t ldb, double *point, double *out)
{
    for (int64_t i = 0; i < count && s->q > 0; i++) {
        for (int64_t l = 0; l < s->d; l++) point[l] = gram_points_of_column(points, first + i, l);
        gram_gp_mean_row(s, gram_points_of_one(points, first + i), point, basis ? basis + (first + i) * ldb : NULL,
                         out + i * s->q);
    }
}

gram_status gram_gp_system_check_points(gram_context *context, const char *name, const gram_gp_system *s,
                                        const gram_points *points, const double *basis, int64_t ldb)
{
    gram_status status = GRAM_OK;
    const int64_t columns = s->options.columns;
    FAIL_IF(!points, context, GRAM_ERROR_ARGUMENT, "%s: points is NULL", name);
    FAIL_IF(points->d != s->d, context, GRAM_ERROR_DIMENSION, "%s: points of %lld columns, the fit had %lld", name,
            (long long)points->d, (long long)s->d);
    FAIL_IF(columns > 0 && (!basis || ldb < columns), context, GRAM_ERROR_ARGUMENT,
            "%s: the fit had %lld columns of the mean; basis must have them", name, (long long)columns);
done:
    return status;
}

gram_status gram_gp_points_part(gram_context *context, const gram_points *x, int64_t first, int64_t count,
                                gram_points **out)
{
    return gram_points_part(context, x, first, count, out);
}
