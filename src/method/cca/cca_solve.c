/* Canonical correlations in features. With Kx~ = F F', Ky~ = G G' and Cholesky factors L L' = F'F + n kappa I, R R' = G'G + n kappa I
 *
 *     (Kx~ + n kappa I)^(-1/2) Kx~^(1/2) Ky~^(1/2) (Ky~ + n kappa I)^(-1/2)   and   S = L^-1 F'G R^-T
 *
 * have the same singular values rho_s: L^-1 F' is (Kx~ + n kappa I)^(-1/2) Kx~^(1/2) with orthonormal columns before it. With
 * singular vectors p_s, q_s of S the weights sqrt(n) L^-T p_s and sqrt(n) R^-T q_s make the canonical variables. Only the leading
 * vectors of S'S are found: O(r^3) for the factors, r the ranks. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "method/cca/cca.h"
#include "solve/cholesky/cholesky.h"
#include "solve/eigen/leading_eigen.h"
#include "solve/factored_matrix.h"

/* Squares of correlations below that share of the largest are rounding errors of it. */
static const double LEAST_SQUARE = 1e-13;

gram_status gram_cca_problem_make(gram_context *context, gram_tall fx, gram_tall fy, gram_cca_problem *problem)
{
    gram_status status = GRAM_OK;
    const gram_tall f[2] = {fx, fy};
    *problem = (gram_cca_problem){.n = fx.n, .rank = {fx.columns, fy.columns}};
    for (int v = 0; v < 2; v++) {
        const int64_t r = f[v].columns;
        TRY(gram_take(context, "cca: covariance", r * r, sizeof(double), (void **)&problem->own[v]));
        TRY(gram_tall_inner(context, f[v], f[v], problem->own[v], r));
    }
    TRY(gram_take(context, "cca: covariance", fx.columns * fy.columns, sizeof(double), (void **)&problem->cross));
    TRY(gram_tall_inner(context, fx, fy, problem->cross, fy.columns));
done:
    return status;
}

void gram_cca_problem_free(gram_context *context, gram_cca_problem *problem)
{
    gram_give(context, problem->own[0]);
    gram_give(context, problem->own[1]);
    gram_give(context, problem->cross);
    *problem = (gram_cca_problem){0};
}

/* A shift at the level of rounding stands for kappa = 0: directions in which the features do not vary then count for nothing. */
static double ridge_of(const gram_cca_problem *problem, int v, double kappa)
{
    double trace = 0;
    for (int64_t i = 0; i < problem->rank[v]; i++) trace += problem->own[v][i * (problem->rank[v] + 1)];
    return (double)problem->n * kappa + 4 * DBL_EPSILON * trace;
}

/* Vectors q of S'S, as a rank[1] x count array; t = S'. */
static gram_status find_vectors(gram_context *context, const gram_cca_problem *problem, const double *t, int64_t count,
                                double *values, double *q)
{
    gram_status status = GRAM_OK;
    gram_operator *op = NULL;
    gram_leading run = {.count = count, .tolerance = 1e-12, .values = values, .vectors = q};
    TRY(gram_operator_create_factor(context, problem->rank[1], problem->rank[0], t, problem->rank[0], &op));
    run.a = op;
    TRY(gram_leading_run(context, &run));
    status = GRAM_OK; /* the best that was found is within rounding of S'S */
done:
    gram_operator_release(op);
    return status;
}

/* p_s = S q_s/rho_s; *found: how many rho_s are above rounding. */
static void find_partners(const gram_cca_problem *problem, const double *t, int64_t count, double *values,
                          const double *q, double *p, int64_t *found)
{
    const int64_t rx = problem->rank[0], ry = problem->rank[1];
    const double first = values[0];
    *found = 0;
    while (*found < count && values[*found] > LEAST_SQUARE * first && values[*found] > 0) ++*found;
    memset(p, 0, (size_t)(rx * count) * sizeof *p);
    for (int64_t s = 0; s < count; s++) values[s] = s < *found ? fmin(sqrt(values[s]), 1) : 0;
    for (int64_t j = 0; j < ry; j++)
        for (int64_t i = 0; i < rx; i++)
            for (int64_t s = 0; s < *found; s++) p[i * count + s] += t[j * rx + i] * q[j * count + s] / values[s];
}

gram_status gram_cca_problem_solve(gram_context *context, const gram_cca_problem *problem, double kappa, int64_t count,
                                   double *values, double *weights[2], int64_t *found)
{
    gram_status status = GRAM_OK;
    const int64_t rx = problem->rank[0], ry = problem->rank[1];
    const double root = sqrt((double)problem->n);
    gram_cholesky *factors[2] = {NULL, NULL};
    double *c = NULL, *t = NULL;
    for (int v = 0; v < 2; v++)
        TRY(gram_matrix_factor_shifted(context, problem->rank[v], problem->own[v], ridge_of(problem, v, kappa),
                                       &factors[v]));
    TRY(gram_take(context, "cca: correlations", rx * ry, sizeof *c, (void **)&c));
    TRY(gram_take(context, "cca: correlations", rx * ry, sizeof *t, (void **)&t));
    memcpy(c, problem->cross, (size_t)(rx * ry) * sizeof *c);
    TRY(gram_cholesky_whiten(context, factors[0], factors[1], c, t));
    TRY(find_vectors(context, problem, t, count, values, weights[1]));
    find_partners(problem, t, count, values, weights[1], weights[0], found);
    for (int v = 0; v < 2; v++) {
        TRY(gram_cholesky_substitute_f64(context, factors[v], 1, count, weights[v], count));
        for (int64_t i = 0; i < problem->rank[v] * count; i++) weights[v][i] *= root;
    }
done:
    gram_give(context, t);
    gram_give(context, c);
    gram_cholesky_destroy(factors[0]);
    gram_cholesky_destroy(factors[1]);
    return status;
}
