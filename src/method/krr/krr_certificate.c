/* How far is a fit on landmarks from the fit with the whole kernel?
 *
 * The objective F(f, b) = (1/n) sum_i w_i |y_i - f(x_i) - b|^2 + lambda |f|^2 grows at least like lambda |f - f*|^2 about its least value F*, and
 * every a with T'a = 0 bounds that from below: F* >= D(a) = lambda (2 a'y - a'(K + n lambda W^-1) a), with equality at the solution. The
 * residuals r of the fit on landmarks give a = W r/(n lambda), scaled by the best factor:
 *
 *     lambda |f - f*|^2 <= gap = F(f, b) - lambda (a'y)^2/(a'K a + n lambda a'W^-1 a).
 *
 * a'K a takes a product with the whole matrix. Without it, a'K a <= |f|^2 + tr(K - K~) |a|^2, because Phi'a = c for the normal equations: a bound
 * that says something only where the trace that the landmarks miss is small beside n lambda. */
#include <math.h>

#include <gram/matrix.h>

#include "method/krr/krr_solution.h"

enum { MOST_ROWS = 30000 };

/* a = W r/(n lambda) for all targets, and a'K a of each. */
static gram_status whole_forms(gram_context *context, const gram_problem *p, const double *a, double *forms)
{
    gram_status status = GRAM_OK;
    double *products = NULL;
    TRY(gram_take(context, "certificate", p->n * p->m, sizeof *products, (void **)&products));
    TRY(gram_matrix_product(context, p->kernel, p->x, NULL, p->m, a, p->m, products, p->m));
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t o = 0; o < p->m; o++) forms[o] += a[i * p->m + o] * products[i * p->m + o];
done:
    gram_give(context, products);
    return status;
}

gram_status gram_landmark_certificate(gram_context *context, const gram_problem *p, const gram_solution *s, int always,
                                      const double *residuals, gram_krr_report *r)
{
    gram_status status = GRAM_OK;
    const int64_t n = p->n, m = p->m;
    const double lambda = r->lambda;
    double *a = NULL, *forms, primal = lambda * r->norm * r->norm, dual = 0, rest = 0;
    TRY(gram_take(context, "certificate", n * m + m, sizeof *a, (void **)&a));
    forms = a + n * m;
    for (int64_t o = 0; o < m; o++) forms[o] = 0;
    for (int64_t k = 0; k < n * m; k++) a[k] = residuals[k] / p->ridge[k / m];
    r->gap_exact = always || n <= MOST_ROWS;
    if (r->gap_exact) TRY(whole_forms(context, p, a, forms));
    for (int64_t o = 0; o < m; o++) {
        double target = 0, squares = 0, noise = 0;
        for (int64_t i = 0; i < n; i++) {
            const double one = a[i * m + o], left = residuals[i * m + o];
            target += one * p->y[i * m + o];
            squares += one * one;
            noise += p->ridge[i] * one * one;
            primal += gram_problem_weight(p, i) * left * left / (double)n;
        }
        rest += squares;
        const double form = forms[o] + noise;
        if (r->gap_exact && form > 0) dual += lambda * target * target / form;
        if (!r->gap_exact) dual += lambda * (2 * target - noise);
    }
    if (!r->gap_exact) dual -= lambda * (r->norm * r->norm + s->trace_missed * rest);
    r->gap = fmax(primal - fmax(dual, 0), 0);
    r->certificate = r->radius * sqrt(r->gap / lambda);
done:
    gram_give(context, a);
    return status;
}
