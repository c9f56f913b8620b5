/* How far is a fit on landmarks from the fit with the whole kernel?
 *
 * The objective F(f, b) = (1/n) sum_i w_i |y_i - f(x_i) - b|^2 + lambda |f|^2 is quadratic: about its least value F* it grows by exactly
 * (1/n) sum_i w_i |v_i - v*_i|^2 + lambda |f - f*|^2, v the fitted values. Every a with T'a = 0 bounds F* from below, F* >= D(a) = lambda (2 a'y - a'(K +
 * n lambda W^-1) a), with equality at the solution. The residuals r of the fit on landmarks give a = W r/(n lambda), scaled by the best factor, so that
 *
 *     (1/n) sum_i w_i |v_i - v*_i|^2 + lambda |f - f*|^2 <= gap = F(f, b) - lambda (a'y)^2/(a'K a + n lambda a'W^-1 a).
 *
 * The first term bounds the root mean square difference of fitted values, the second that of f and f* anywhere.
 *
 * a'K a = a'K~ a + a'E a, E = K - K~. The normal equations say Phi'a = c, hence K~ a = f at the rows. a'E a takes a product with the whole matrix; or
 * (E a)_i = (K a)_i - f(x_i) of rows that are drawn (krr_certificate_rows.c), whose a_i (E a)_i/probability have the mean a'E a: the mean of the sample and Z
 * standard errors more bound it with probability 0.99, as far as the mean of a thousand rows is normal; and it is never more than tr(E) |a|^2. */
#include <math.h>

#include <gram/matrix.h>

#include "method/krr/krr_solution.h"
#include "points/points.h"

enum { MOST_ROWS = 30000, SAMPLE = 1000, SLICE = 1 << 14 };

static const double Z = 2.3263; /* of the normal distribution: 0.99 */

/* Rows of the product with K that `which` names, by slices of the columns, so that the points are never packed all at once. */
static gram_status multiply_rows(gram_context *context, const gram_problem *p, const int64_t *which, int64_t rows,
                                 const double *a, double *products)
{
    gram_status status = GRAM_OK;
    const int64_t m = p->m;
    gram_points *some = NULL, *slice = NULL;
    double *part = NULL;
    TRY(gram_points_gather(context, p->x, rows, which, &some));
    TRY(gram_take(context, "certificate", rows * m, sizeof *part, (void **)&part));
    for (int64_t k = 0; k < rows * m; k++) products[k] = 0;
    for (int64_t first = 0; first < p->n; first += SLICE) {
        const int64_t count = p->n - first < SLICE ? p->n - first : SLICE;
        TRY(gram_points_part(context, p->x, first, count, &slice));
        TRY(gram_matrix_product(context, p->kernel, some, slice, m, a + first * m, m, part, m));
        for (int64_t k = 0; k < rows * m; k++) products[k] += part[k];
        gram_points_release(slice);
        slice = NULL;
    }
done:
    gram_give(context, part);
    gram_points_release(slice);
    gram_points_release(some);
    return status;
}

/* f(x_i) without what no penalty acts on. */
static double value_of(const gram_problem *p, const gram_solution *s, const double *residuals, int64_t i, int64_t o)
{
    return p->y[i * p->m + o] - gram_problem_unpenalised(p, i, s->b, o) - residuals[i * p->m + o];
}

/* Rows that were drawn with these probabilities; which is NULL: all rows. */
typedef struct drawn {
    int64_t rows, *which;
    double *probability;
} drawn;

/* a'E a of output o from rows of K a: exactly if they are all, else what it is at most with probability 0.99. */
static double form_of(const gram_problem *p, const gram_solution *s, const double *residuals, const double *a,
                      const drawn *d, const double *products, int64_t o)
{
    const double count = (double)d->rows;
    double sum = 0, squares = 0;
    for (int64_t k = 0; k < d->rows; k++) {
        const int64_t i = d->which ? d->which[k] : k;
        double one = a[i * p->m + o] * (products[k * p->m + o] - value_of(p, s, residuals, i, o));
        if (d->which) one /= d->probability[k] * count;
        sum += one;
        squares += one * one;
    }
    return d->which ? sum + Z * sqrt(fmax(squares - sum * sum / count, 0) * count / (count - 1)) : sum;
}

/* forms[o] = a'K a of each output. */
static gram_status find_forms(gram_context *context, const gram_problem *p, const gram_solution *s,
                              const double *residuals, const double *a, int64_t rows, double *forms)
{
    gram_status status = GRAM_OK;
    const int64_t n = p->n, m = p->m;
    drawn d = {.rows = rows};
    double *products = NULL;
    TRY(gram_take(context, "certificate", rows * m, sizeof *products, (void **)&products));
    if (rows < n) {
        TRY(gram_take(context, "certificate", rows, sizeof *d.which, (void **)&d.which));
        TRY(gram_take(context, "certificate", rows, sizeof *d.probability, (void **)&d.probability));
        TRY(gram_certificate_rows(context, p, s->centres, a, rows, d.which, d.probability));
    }
    TRY(d.which ? multiply_rows(context, p, d.which, rows, a, products)
                : gram_matrix_product(context, p->kernel, p->x, NULL, m, a, m, products, m));
    for (int64_t o = 0; o < m; o++) {
        double squares = 0, seen = 0;
        for (int64_t i = 0; i < n; i++) {
            squares += a[i * m + o] * a[i * m + o];
            seen += a[i * m + o] * value_of(p, s, residuals, i, o);
        }
        const double rest = form_of(p, s, residuals, a, &d, products, o);
        forms[o] = seen + fmin(fmax(rest, 0), s->trace_missed * squares);
    }
done:
    gram_give(context, products);
    gram_give(context, d.which);
    gram_give(context, d.probability);
    return status;
}

gram_status gram_landmark_certificate(gram_context *context, const gram_problem *p, const gram_solution *s, int certify,
                                      const double *residuals, gram_krr_report *r)
{
    gram_status status = GRAM_OK;
    const int64_t n = p->n, m = p->m;
    const double lambda = r->lambda;
    double *a = NULL, *forms, primal = lambda * r->norm * r->norm, dual = 0;
    TRY(gram_take(context, "certificate", n * m + m, sizeof *a, (void **)&a));
    forms = a + n * m;
    for (int64_t k = 0; k < n * m; k++) a[k] = residuals[k] / p->ridge[k / m];
    r->gap_rows = n <= SAMPLE || certify > 0 || (certify == 0 && n <= MOST_ROWS) ? n : SAMPLE;
    r->gap_exact = r->gap_rows == n;
    TRY(find_forms(context, p, s, residuals, a, r->gap_rows, forms));
    for (int64_t o = 0; o < m; o++) {
        double target = 0, noise = 0;
        for (int64_t i = 0; i < n; i++) {
            const double one = a[i * m + o], left = residuals[i * m + o];
            target += one * p->y[i * m + o];
            noise += p->ridge[i] * one * one;
            primal += gram_problem_weight(p, i) * left * left / (double)n;
        }
        if (forms[o] + noise > 0) dual += lambda * target * target / (forms[o] + noise);
    }
    r->gap = fmax(primal - dual, 0);
    r->certificate = r->radius * sqrt(r->gap / lambda);
    r->certificate_rms = sqrt(r->gap * (double)n / (p->total * (double)m));
done:
    gram_give(context, a);
    return status;
}
