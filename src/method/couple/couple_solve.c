/* The embedding in features. With Ka = F F', Kb = G G' and weights w = [F'u_a; G'u_b], coordinates are Z u = [F; G] w, and
 *
 *     u'Z Z u = w'A w,    u'Z G Z u = w'B w,    u'Z u = w'w,
 *
 * so that Z Z u = mu (Z G Z + gamma Z + e I) u becomes A w = mu (B + (gamma + e) I) w, of the size of both ranks: with the
 * Cholesky factor L of the right-hand side, the leading eigenvectors v of L^-1 A L^-T, w = L^-T v/sqrt(mu). e is at the level of
 * rounding; it decides only where gamma = 0 leaves null directions, among which it prefers functions of small norm.
 *
 * The constant coordinates are such a direction, if both views have them: F t = 1. All other solutions of gamma = 0 are then
 * orthogonal to it, sum_i (F w)_i = 0, and are sought there. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "method/couple/couple.h"
#include "solve/cholesky/cholesky.h"
#include "solve/eigen/leading_eigen.h"
#include "solve/factored_matrix.h"

static const double ROUNDING = 1e-14; /* e as a share of tr B; values below that share of the largest are none */
static const double CONSTANT = 1e-12; /* the variance of coordinates about their mean, of their mean square */

/* ---- the matrices ---- */

static void scale_rows(gram_tall f, const double *factor, double *out)
{
    for (int64_t i = 0; i < f.n; i++)
        for (int64_t j = 0; j < f.columns; j++) out[i * f.columns + j] = factor[i] * f.data[i * f.ld + j];
}

/* One block of B at (row, column) = F' times what is in `right`, with a sign. */
static gram_status put_block(gram_context *context, gram_tall f, gram_tall right, double sign, double *b, int64_t size)
{
    gram_status status = GRAM_OK;
    TRY(gram_tall_inner(context, f, right, b, size));
    for (int64_t i = 0; i < f.columns && sign < 0; i++)
        for (int64_t j = 0; j < right.columns; j++) b[i * size + j] = -b[i * size + j];
done:
    return status;
}

static gram_status fill(gram_context *context, const gram_affinity *affinity, const gram_affinity_rows *rows,
                        const gram_tall f[2], gram_couple_problem *problem)
{
    gram_status status = GRAM_OK;
    const int64_t n = rows->n, size = problem->size, ra = problem->rank[0], rb = problem->rank[1];
    double *degree = NULL, *scratch = NULL, *b = problem->b;
    TRY(gram_take(context, "couple: row sums", n, sizeof *degree, (void **)&degree));
    TRY(gram_take(context, "couple: features", n * (ra > rb ? ra : rb), sizeof *scratch, (void **)&scratch));
    TRY(gram_affinity_degrees(context, affinity, rows, degree));
    for (int v = 0; v < 2; v++) {
        const int64_t r = problem->rank[v], at = v == 0 ? 0 : ra;
        TRY(gram_tall_inner(context, f[v], f[v], problem->own[v], r));
        scale_rows(f[v], degree, scratch);
        TRY(put_block(context, f[v], (gram_tall){n, r, r, scratch}, 1, b + at * size + at, size));
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < r; j++) problem->sums[at + j] += f[v].data[i * f[v].ld + j];
    }
    TRY(gram_affinity_apply(context, affinity, rows, f[1], scratch));
    TRY(put_block(context, f[0], (gram_tall){n, rb, rb, scratch}, -1, b + ra, size));
    for (int64_t i = 0; i < ra; i++)
        for (int64_t j = ra; j < size; j++) b[j * size + i] = b[i * size + j];
    for (int64_t i = 0; i < size; i++) problem->trace += b[i * (size + 1)];
done:
    gram_give(context, degree);
    gram_give(context, scratch);
    return status;
}

gram_status gram_couple_problem_make(gram_context *context, const gram_affinity *affinity,
                                     const gram_affinity_rows *rows, gram_tall fa, gram_tall fb,
                                     gram_couple_problem *problem)
{
    gram_status status = GRAM_OK;
    const int64_t size = fa.columns + fb.columns;
    *problem = (gram_couple_problem){.n = rows->n, .rank = {fa.columns, fb.columns}, .size = size};
    for (int v = 0; v < 2; v++)
        TRY(gram_take(context, "couple: matrix", problem->rank[v] * problem->rank[v], sizeof(double),
                      (void **)&problem->own[v]));
    TRY(gram_take(context, "couple: matrix", size * size, sizeof(double), (void **)&problem->b));
    TRY(gram_take(context, "couple: sums", size, sizeof(double), (void **)&problem->sums));
    memset(problem->sums, 0, (size_t)size * sizeof(double));
    TRY(fill(context, affinity, rows, (const gram_tall[]){fa, fb}, problem));
done:
    return status;
}

void gram_couple_problem_free(gram_context *context, gram_couple_problem *problem)
{
    gram_give(context, problem->own[0]);
    gram_give(context, problem->own[1]);
    gram_give(context, problem->b);
    gram_give(context, problem->sums);
    *problem = (gram_couple_problem){0};
}

/* ---- the constant ---- */

/* Can the features of both views make coordinates that are 1 everywhere? s'(F'F)^-1 s, s the sums, is |1|^2 = n then, and the
 * weights are t = (F'F)^-1 s of each view. */
static gram_status find_constant(gram_context *context, const gram_couple_problem *problem, double *t, int *found)
{
    gram_status status = GRAM_OK;
    gram_cholesky *factor = NULL;
    memcpy(t, problem->sums, (size_t)problem->size * sizeof *t);
    *found = 1;
    for (int v = 0; v < 2 && *found; v++) {
        const int64_t r = problem->rank[v], at = v == 0 ? 0 : problem->rank[0];
        double trace = 0, square = 0;
        for (int64_t i = 0; i < r; i++) trace += problem->own[v][i * (r + 1)];
        TRY(gram_matrix_factor_shifted(context, r, problem->own[v], ROUNDING * trace, &factor));
        TRY(gram_cholesky_solve(context, factor, 1, t + at, 1));
        for (int64_t i = 0; i < r; i++) square += problem->sums[at + i] * t[at + i];
        *found = square > (1 - 1e-6) * (double)problem->n;
        gram_cholesky_destroy(factor);
        factor = NULL;
    }
done:
    gram_cholesky_destroy(factor);
    return status;
}

/* w less its part along the constant, which the factor of a matrix that is singular there lets in. */
static void leave_constant(const gram_couple_problem *problem, const double *t, int64_t count, int64_t k, double *w)
{
    double all = 0;
    for (int64_t i = 0; i < problem->size; i++) all += problem->sums[i] * t[i];
    for (int64_t s = 0; s < k; s++) {
        double sum = 0;
        for (int64_t i = 0; i < problem->size; i++) sum += problem->sums[i] * w[i * count + s];
        for (int64_t i = 0; i < problem->size; i++) w[i * count + s] -= sum / all * t[i];
    }
}

/* T becomes P T P with P = I - h h'/h'h, h = L^-1 s: solutions with s'w = 0. */
static gram_status project(gram_context *context, const gram_couple_problem *problem, const gram_cholesky *factor,
                           double *t)
{
    gram_status status = GRAM_OK;
    const int64_t size = problem->size;
    double *h = NULL, *th = NULL, square = 0, middle = 0;
    TRY(gram_take(context, "couple: constant", size, sizeof *h, (void **)&h));
    TRY(gram_take(context, "couple: constant", size, sizeof *th, (void **)&th));
    memcpy(h, problem->sums, (size_t)size * sizeof *h);
    TRY(gram_cholesky_half_solve(context, factor, 1, h, 1));
    for (int64_t i = 0; i < size; i++) square += h[i] * h[i];
    for (int64_t i = 0; i < size; i++) h[i] /= sqrt(square);
    for (int64_t i = 0; i < size; i++) {
        th[i] = 0;
        for (int64_t j = 0; j < size; j++) th[i] += t[i * size + j] * h[j];
        middle += th[i] * h[i];
    }
    for (int64_t i = 0; i < size; i++)
        for (int64_t j = 0; j < size; j++) t[i * size + j] += middle * h[i] * h[j] - h[i] * th[j] - th[i] * h[j];
done:
    gram_give(context, h);
    gram_give(context, th);
    return status;
}

/* ---- solutions ---- */

/* t = L^-1 A L^-T. */
static gram_status whiten(gram_context *context, const gram_couple_problem *problem, const gram_cholesky *factor,
                          double *t)
{
    gram_status status = GRAM_OK;
    const int64_t size = problem->size;
    double *a = NULL;
    TRY(gram_take(context, "couple: matrix", size * size, sizeof *a, (void **)&a));
    memset(a, 0, (size_t)(size * size) * sizeof *a);
    for (int v = 0; v < 2; v++) {
        const int64_t r = problem->rank[v], at = v == 0 ? 0 : problem->rank[0];
        for (int64_t i = 0; i < r; i++)
            memcpy(a + (at + i) * size + at, problem->own[v] + i * r, (size_t)r * sizeof *a);
    }
    TRY(gram_cholesky_whiten(context, factor, factor, a, t));
done:
    gram_give(context, a);
    return status;
}

/* out = A w_s, w being size x count. */
static void multiply(const gram_couple_problem *problem, int64_t count, const double *w, int64_t s, double *out)
{
    for (int v = 0; v < 2; v++) {
        const int64_t rank = problem->rank[v], at = v == 0 ? 0 : problem->rank[0];
        for (int64_t i = 0; i < rank; i++) {
            out[at + i] = 0;
            for (int64_t j = 0; j < rank; j++) out[at + i] += problem->own[v][i * rank + j] * w[(at + j) * count + s];
        }
    }
}

/* The constraint to the last digits: w_s less its parts along those before it, in the inner product w'A v, and of length 1 there. */
static gram_status orthonormalise(gram_context *context, const gram_couple_problem *problem, int64_t count, int64_t k,
                                  double *w)
{
    gram_status status = GRAM_OK;
    const int64_t size = problem->size;
    double *aw = NULL;
    TRY(gram_take(context, "couple: vectors", size, sizeof *aw, (void **)&aw));
    for (int64_t s = 0; s < k; s++) {
        double square = 0;
        multiply(problem, count, w, s, aw);
        for (int64_t r = 0; r < s; r++) {
            double part = 0;
            for (int64_t i = 0; i < size; i++) part += w[i * count + r] * aw[i];
            for (int64_t i = 0; i < size; i++) w[i * count + s] -= part * w[i * count + r];
        }
        multiply(problem, count, w, s, aw);
        for (int64_t i = 0; i < size; i++) square += w[i * count + s] * aw[i];
        for (int64_t i = 0; i < size; i++) w[i * count + s] /= sqrt(square);
    }
done:
    gram_give(context, aw);
    return status;
}

/* The first `wanted` eigenvectors of t become weights, w'A w = 1, of which those are kept, at most `count`, that vary. */
static gram_status find_weights(gram_context *context, const gram_couple_problem *problem, const gram_cholesky *factor,
                                const double *t, int64_t wanted, int64_t count, double *values, double *weights,
                                int64_t *found)
{
    gram_status status = GRAM_OK;
    const int64_t size = problem->size;
    gram_operator *op = NULL;
    double *v = NULL, *mu = NULL;
    TRY(gram_take(context, "couple: vectors", size * wanted, sizeof *v, (void **)&v));
    TRY(gram_take(context, "couple: values", wanted, sizeof *mu, (void **)&mu));
    TRY(gram_operator_create_dense(context, size, t, size, &op));
    gram_leading run = {.a = op, .count = wanted, .tolerance = 1e-10, .values = mu, .vectors = v};
    TRY(gram_leading_run(context, &run));
    TRY(gram_cholesky_substitute_f64(context, factor, 1, wanted, v, wanted));
    *found = 0;
    for (int64_t s = 0; s < wanted && *found < count && mu[s] > ROUNDING * mu[0]; s++) {
        double sum = 0;
        for (int64_t i = 0; i < size; i++) sum += problem->sums[i] * v[i * wanted + s] / sqrt(mu[s]);
        if (1 - sum * sum / (2 * (double)problem->n) < CONSTANT) continue;
        for (int64_t i = 0; i < size; i++) weights[i * count + *found] = v[i * wanted + s] / sqrt(mu[s]);
        values[(*found)++] = mu[s];
    }
    status = GRAM_OK;
done:
    gram_operator_release(op);
    gram_give(context, mu);
    gram_give(context, v);
    return status;
}

gram_status gram_couple_problem_solve(gram_context *context, const gram_couple_problem *problem, double gamma,
                                      int64_t count, double *values, double *weights, int64_t *found)
{
    gram_status status = GRAM_OK;
    const int64_t size = problem->size;
    gram_cholesky *factor = NULL;
    double *t = NULL, *constant = NULL;
    int has_constant = 0;
    TRY(gram_matrix_factor_shifted(context, size, problem->b, gamma + ROUNDING * problem->trace, &factor));
    TRY(gram_take(context, "couple: matrix", size * size, sizeof *t, (void **)&t));
    TRY(gram_take(context, "couple: constant", size, sizeof *constant, (void **)&constant));
    TRY(whiten(context, problem, factor, t));
    if (gamma == 0) TRY(find_constant(context, problem, constant, &has_constant));
    if (has_constant) TRY(project(context, problem, factor, t));
    TRY(find_weights(context, problem, factor, t, count < size ? count + 1 : size, count, values, weights, found));
    if (has_constant) leave_constant(problem, constant, count, *found, weights);
    TRY(orthonormalise(context, problem, count, *found, weights));
done:
    gram_give(context, constant);
    gram_give(context, t);
    gram_cholesky_destroy(factor);
    return status;
}
