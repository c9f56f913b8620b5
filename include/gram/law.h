/* Laws of random vectors that are known, as points of the kernel's Hilbert space: mu_P = E k(X, .), X of P.
 *
 * A law is a product of uniform and normal ones, one for each column,
 *
 *     uniform(0,1)*normal(2,0.25)      the second number of normal is the variance
 *
 * or that of a weighted sample. As a functional (<gram/functional.h>) it is one row, f -> E f(X), so that integrals are closed forms for rbf
 * and rules of nodes for other kernels, and whatever takes functionals takes laws. The square of the MMD from a sample to a law is
 *
 *     (1/n^2) sum_ij k(x_i, x_j) - (2/n) sum_i mu_P(x_i) + |mu_P|^2      (V-statistic; without the pairs i = j, over n (n - 1): U).
 *
 * Laws never change and may be used by several threads. Common failures: GRAM_ERROR_ARGUMENT, GRAM_ERROR_DIMENSION, GRAM_ERROR_UNSUPPORTED for
 * kernels that functionals do not have, GRAM_ERROR_BUDGET, GRAM_ERROR_MEMORY, GRAM_ERROR_CANCELLED. */
#ifndef GRAM_LAW_H
#define GRAM_LAW_H

#include <gram/function.h>
#include <gram/preparation.h>

GRAM_BEGIN

typedef struct gram_law gram_law;

/* Reads a product of d laws; the message of a failure says what is wrong with the text. The caller releases it. */
GRAM_API gram_status gram_law_parse(gram_context *context, const char *text, int64_t d, gram_law **law);

/* The law of a sample: point i with the probability weights[i]/sum (NULL: equal). The points, which are no functionals, are retained;
 * weights are copied. */
GRAM_API gram_status gram_law_of_points(gram_context *context, gram_points *points, const double *weights,
                                        gram_law **law);

/* The law of the prepared columns if this one is of the columns' own units: where they are scaled it moves with them. Of a product only. */
GRAM_API gram_status gram_law_prepare(gram_context *context, const gram_law *law, const gram_preparation *preparation,
                                      gram_law **prepared);

GRAM_API gram_law *gram_law_retain(gram_law *law);
/* Takes NULL. */
GRAM_API void gram_law_release(gram_law *law);
GRAM_API int64_t gram_law_dimension(const gram_law *law);

/* The functional f -> E f(X), one row; it belongs to the law. */
GRAM_API const gram_points *gram_law_functional(const gram_law *law);

/* *embedding = mu_P, a function like any other: of a product with one centre, the functional. The caller releases it. */
GRAM_API gram_status gram_law_embedding(gram_context *context, gram_kernel *kernel, const gram_law *law,
                                        gram_function **embedding);

/* out[i] = mu_P(x_i). O(n) integrals. */
GRAM_API gram_status gram_law_embed(gram_context *context, const gram_kernel *kernel, const gram_law *law,
                                    const gram_points *points, double *out);
/* *out = E k(X, Y) for independent X of p and Y of q: the inner product of their embeddings. */
GRAM_API gram_status gram_law_inner(gram_context *context, const gram_kernel *kernel, const gram_law *p,
                                    const gram_law *q, double *out);

/* n independent draws, row-major without gaps, by the context's seed and the number of a stream. O(n d). */
GRAM_API gram_status gram_law_draw(gram_context *context, const gram_law *law, uint64_t stream, int64_t n, double *out);

/* ---- from a sample to a law ---- */

typedef struct gram_law_distance {
    double v_statistic, u_statistic; /* the squared MMD; U is NaN for one point */
    double mmd;                      /* the square root of the V-statistic */
    double norm;                     /* |mu_P| */
} gram_law_distance;

/* O(n^2 d) and n integrals. */
GRAM_API gram_status gram_law_mmd(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                                  const gram_law *law, gram_law_distance *distance);

typedef struct gram_law_test_options {
    size_t size;   /* sizeof of this struct, set by gram_law_test_options_init */
    double level;  /* 0.05 */
    int64_t draws; /* samples of the law, 999 */
    double *null;  /* takes the U-statistics of the draws, sorted; or NULL */
} gram_law_test_options;

GRAM_API void gram_law_test_options_init(gram_law_test_options *options, size_t size);

typedef struct gram_law_test_result {
    size_t size; /* the caller sets it */
    gram_law_distance statistic;
    double p_value;   /* (1 + #{drawn >= observed})/(1 + draws), by the U-statistic */
    double threshold; /* the U-statistic from which on the test rejects */
    int reject;       /* p_value <= level */
} gram_law_test_result;

/* Is the sample one of the law? The null distribution is that of the statistic itself, by samples of n points that are drawn from the law:
 * the level is exact for every n, kernel and law. n >= 2. O(draws n (n d + an integral)). options may be NULL. */
GRAM_API gram_status gram_law_test(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                                   const gram_law *law, const gram_law_test_options *options,
                                   gram_law_test_result *result);

GRAM_END

#endif
