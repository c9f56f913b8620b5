/* Components from eigenvectors of K~ itself: all of it in memory, or products with it.
 *
 * Centred, with unit eigenvectors v_s of K~ = H K H, whose entries sum up to 0, the centring of a new point's row of K cancels but for a
 * constant: f_s(x) = sum_i a_is k(x_i, x) - sum_i a_is m_i, a_s = v_s/sqrt(l_s) and m_i = sum_j k(x_i, x_j)/n.
 * Weighted, a_is = s_i v_is/sqrt(l_s). */
#include <math.h>
#include <string.h>

#include <gram/eigen.h>
#include <gram/matrix.h>
#include <gram/operator.h>

#include "solve/components/components.h"
#include "solve/eigen/leading_eigen.h"

/* The means of the rows, and their mean. */
static double centre_rows(int64_t n, const double *k, double *means)
{
    double all = 0;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += k[i * n + j];
        means[i] = sum / (double)n;
        all += means[i] / (double)n;
    }
    return all;
}

static void centre_matrix(int64_t n, double *k, const double *means, double all)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) k[i * n + j] += all - means[i] - means[j];
}

static void weight_matrix(int64_t n, double *k, const double *weights)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) k[i * n + j] *= sqrt(weights[i]) * sqrt(weights[j]);
}

static gram_status by_dense(gram_component_work *work, double *vectors, double *means)
{
    gram_status status = GRAM_OK;
    gram_context *context = work->context;
    const int64_t n = work->found->n, count = work->options.count;
    double *k = NULL, *rows = NULL;
    TRY(gram_take(context, "components: the matrix", n * n, sizeof *k, (void **)&k));
    TRY(gram_take(context, "components: vectors", n * count, sizeof *rows, (void **)&rows));
    TRY(gram_matrix(context, work->kernel, work->x, NULL, k, n));
    if (work->options.weights) weight_matrix(n, k, work->options.weights);
    for (int64_t i = 0; i < n; i++) work->found->whole += k[i * n + i];
    if (work->options.centre) centre_matrix(n, k, means, centre_rows(n, k, means));
    for (int64_t i = 0; i < n; i++) work->found->trace += k[i * n + i];
    TRY(gram_eigen_symmetric(context, n, k, n, 0, count, work->found->values, rows, n));
    for (int64_t i = 0; i < n; i++)
        for (int64_t s = 0; s < count; s++) vectors[i * count + s] = rows[s * n + i];
done:
    gram_give(context, rows);
    gram_give(context, k);
    return status;
}

static gram_status find_means(gram_context *context, const gram_operator *op, double *means)
{
    gram_status status = GRAM_OK;
    const int64_t n = gram_operator_size(op);
    double *even = NULL;
    TRY(gram_take(context, "components: means", n, sizeof *even, (void **)&even));
    for (int64_t i = 0; i < n; i++) even[i] = 1 / (double)n;
    TRY(gram_operator_apply(context, op, 1, even, 1, means, 1));
done:
    gram_give(context, even);
    return status;
}

/* K~ from K: centred, or with the roots of the weights on both sides, or K itself (with one more owner). */
static gram_status transform(gram_component_work *work, gram_operator *plain, double *means, gram_operator **op)
{
    gram_status status = GRAM_OK;
    gram_context *context = work->context;
    const double *weights = work->options.weights;
    const int64_t n = work->found->n;
    double *roots = NULL;
    if (work->options.centre) {
        TRY(find_means(context, plain, means));
        TRY(gram_operator_create_centred(context, plain, op));
    } else if (weights) {
        TRY(gram_take(context, "components: weights", n, sizeof *roots, (void **)&roots));
        for (int64_t i = 0; i < n; i++) roots[i] = sqrt(weights[i]);
        TRY(gram_operator_create_scaled(context, plain, roots, op));
    } else {
        *op = gram_operator_retain(plain);
    }
done:
    gram_give(context, roots);
    return status;
}

/* tr K~, which is tr K - 1'K1/n of the centred one. */
static gram_status find_trace(gram_component_work *work, const gram_operator *plain, const gram_operator *op,
                              const double *means)
{
    gram_status status = GRAM_OK;
    gram_components *found = work->found;
    TRY(gram_operator_trace(work->context, work->options.centre ? plain : op, &found->whole));
    found->trace = found->whole;
    for (int64_t i = 0; i < found->n && work->options.centre; i++) found->trace -= means[i];
done:
    return status;
}

static gram_status by_products(gram_component_work *work, int packed, double *vectors, double *means)
{
    gram_status status = GRAM_OK;
    gram_context *context = work->context;
    gram_operator *plain = NULL, *op = NULL;
    gram_leading run = {.count = work->options.count,
                        .tolerance = work->options.tolerance,
                        .values = work->found->values,
                        .vectors = vectors};
    if (packed)
        TRY(gram_operator_create_packed(context, work->kernel, (gram_points *)work->x, &plain));
    else
        TRY(gram_operator_create_free(context, work->kernel, (gram_points *)work->x, &plain));
    TRY(transform(work, plain, means, &op));
    TRY(find_trace(work, plain, op, means));
    run.a = op;
    status = gram_leading_run(context, &run);
    if (status < 0) goto done;
    work->found->converged = status != GRAM_NOT_CONVERGED;
    work->found->residual = run.residual;
    work->found->products = run.columns;
    status = GRAM_OK;
done:
    gram_operator_release(op);
    gram_operator_release(plain);
    return status;
}

/* Coefficients, constants and coordinates from vectors, which are centred to the last digit: that of the constant counts on it. */
static void make_centred(gram_components *found, double *vectors, const double *means)
{
    const int64_t n = found->n, count = found->count;
    double all = 0;
    for (int64_t i = 0; i < n; i++) all += means[i] / (double)n;
    for (int64_t s = 0; s < count; s++) {
        const double root = sqrt(found->values[s]);
        double mean = 0, constant = 0;
        for (int64_t i = 0; i < n; i++) mean += vectors[i * count + s] / (double)n;
        for (int64_t i = 0; i < n; i++) {
            const double v = vectors[i * count + s] - mean;
            found->coefficients[i * count + s] = v / root;
            found->coordinates[i * count + s] = v * root;
            constant -= v / root * (means[i] - all);
        }
        found->constant[s] = constant;
    }
}

static void make_plain(gram_components *found, double *vectors, const double *weights)
{
    const int64_t n = found->n, count = found->count;
    for (int64_t i = 0; i < n; i++) {
        const double scale = weights ? sqrt(weights[i]) : 1;
        for (int64_t s = 0; s < count; s++) {
            const double v = vectors[i * count + s], root = sqrt(found->values[s]);
            found->coefficients[i * count + s] = v * scale / root;
            found->coordinates[i * count + s] = v * root / scale;
        }
    }
}

gram_status gram_components_by_matrix(gram_component_work *work, const gram_component_plan *plan)
{
    gram_status status = GRAM_OK;
    gram_context *context = work->context;
    const int64_t n = work->found->n, count = work->options.count;
    double *means = NULL;
    TRY(gram_take(context, "components: coefficients", n * count, sizeof(double), (void **)&work->found->coefficients));
    TRY(gram_take(context, "components: means", n, sizeof *means, (void **)&means));
    TRY(plan->solver == GRAM_PCA_DENSE ? by_dense(work, work->found->coefficients, means)
                                       : by_products(work, plan->packed, work->found->coefficients, means));
    TRY(gram_components_check_rank(work));
    if (work->options.centre)
        make_centred(work->found, work->found->coefficients, means);
    else
        make_plain(work->found, work->found->coefficients, work->options.weights);
done:
    gram_give(context, means);
    return status;
}
