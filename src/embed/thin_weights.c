/* The best weights for a choice: minimise w'Kw/2 - w'mu over w >= 0, sum w = 1 (solve/simplex_program.h), K the matrix of the
 * choice and mu the means of its points. */
#include "embed/thin.h"
#include "solve/simplex_program.h"

static const double TOLERANCE = 1e-4; /* of the least squared discrepancy */

/* Marks the first of equal points and gives them equal weights. */
static void start(int64_t m, const int64_t *index, double *w, char *used)
{
    int64_t count = 0;
    for (int64_t i = 0; i < m; i++) {
        used[i] = 1;
        for (int64_t j = 0; j < i && used[i]; j++) used[i] = index[i] != index[j];
        count += used[i];
    }
    for (int64_t i = 0; i < m; i++) w[i] = used[i] ? 1 / (double)count : 0;
}

/* The matrix and the means of a choice: K (m x m) and mu after it, then room for g. */
static gram_status take_choice(gram_context *context, const gram_target *target, int64_t m, const int64_t *index,
                               double **K)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(context, "thin_weights: matrix of the choice", m * m + 2 * m, sizeof(double), (void **)K));
    TRY(gram_rows_block(context, &target->rows, m, index, *K, m));
    for (int64_t a = 0; a < m; a++) (*K)[m * m + a] = target->means[index[a]];
done:
    return status;
}

static gram_simplex_program program_of(const gram_target *target, int64_t m, double *K, double *weights)
{
    return (gram_simplex_program){.m = m,
                                  .K = K,
                                  .mu = K + m * m,
                                  .constant = target->total,
                                  .tolerance = TOLERANCE,
                                  .w = weights,
                                  .gradient = K + m * m + m};
}

static gram_status check_size(gram_context *context, const char *function, const int64_t *index, int64_t m)
{
    enum { MOST = 1 << 20 };
    gram_status status = GRAM_OK;
    FAIL_IF(!index, context, GRAM_ERROR_ARGUMENT, "%s: index is NULL", function);
    FAIL_IF(m > MOST, context, GRAM_ERROR_ARGUMENT, "%s: m = %lld, its square is too large", function, (long long)m);
done:
    return status;
}

/* What is known of a density beside its scores; NULL: nothing. */
typedef struct known_density {
    const double *log_density, *laplacian;
} known_density;

/* K and mu of a choice gain what holds it to the sample. */
static gram_status add_anchor(gram_context *context, const gram_target *target, const gram_points *points,
                              const double *scores, int64_t lds, const known_density *known, int64_t m,
                              const int64_t *index, double *K)
{
    gram_status status = GRAM_OK;
    gram_anchor anchor = {0};
    double *block = NULL;
    TRY(gram_anchor_make(context, target, points, scores, lds, known->log_density, known->laplacian, &anchor));
    TRY(gram_take(context, "thin_weights: matrix of the choice", m * m, sizeof *block, (void **)&block));
    TRY(gram_rows_block(context, &anchor.rows, m, index, block, m));
    for (int64_t a = 0; a < m; a++) {
        for (int64_t b = 0; b < m; b++) K[a * m + b] += anchor.weight * block[a * m + b];
        K[a * m + a] += anchor.extra[index[a]];
        K[m * m + a] += anchor.weight * anchor.means[index[a]];
    }
done:
    gram_give(context, block);
    gram_anchor_free(context, &anchor);
    return status;
}

static gram_status find_weights(gram_context *context, const char *who, const gram_kernel *kernel,
                                const gram_points *points, const double *scores, int64_t lds, const gram_law *law,
                                const known_density *known, int64_t m, const int64_t *index, double *weights,
                                double *discrepancy)
{
    gram_status status = GRAM_OK, found;
    gram_target target = {0};
    double *K = NULL;
    char *used = NULL;
    FAIL_IF(!weights, context, GRAM_ERROR_ARGUMENT, "%s: weights is NULL", who);
    TRY(check_size(context, who, index, m));
    TRY(gram_target_check(context, who, points, m, index));
    TRY(gram_target_make(context, who, kernel, points, scores, lds, law, &target));
    TRY(gram_take(context, "thin_weights", m, 1, (void **)&used));
    TRY(take_choice(context, &target, m, index, &K));
    if (known) TRY(add_anchor(context, &target, points, scores, lds, known, m, index, K));
    start(m, index, weights, used);
    gram_simplex_program program = program_of(&target, m, K, weights);
    program.active = used;
    found = gram_simplex_minimise(&program);
    if (known) {
        gram_give(context, K);
        K = NULL;
        TRY(take_choice(context, &target, m, index, &K));
        program = program_of(&target, m, K, weights);
    }
    if (discrepancy) *discrepancy = gram_target_root(gram_simplex_value(&program));
    status = found;
done:
    gram_give(context, K);
    gram_give(context, used);
    gram_target_free(context, &target);
    return status;
}

gram_status gram_thin_weights(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                              const double *scores, int64_t lds, int64_t m, const int64_t *index, double *weights,
                              double *discrepancy)
{
    if (!context) return GRAM_ERROR_ARGUMENT;
    return find_weights(context, "thin_weights", kernel, points, scores, lds, NULL, NULL, m, index, weights,
                        discrepancy);
}

gram_status gram_thin_law_weights(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                                  const gram_law *law, int64_t m, const int64_t *index, double *weights,
                                  double *discrepancy)
{
    if (!context) return GRAM_ERROR_ARGUMENT;
    if (!law) return gram_fail(context, GRAM_ERROR_ARGUMENT, "thin_law_weights: law is NULL");
    return find_weights(context, "thin_law_weights", kernel, points, NULL, 0, law, NULL, m, index, weights,
                        discrepancy);
}

gram_status gram_thin_density_weights(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                                      const double *scores, int64_t lds, const double *log_density,
                                      const double *laplacian, int64_t m, const int64_t *index, double *weights,
                                      double *discrepancy)
{
    const char *who = "thin_density_weights";
    const known_density known = {log_density, laplacian};
    if (!context) return GRAM_ERROR_ARGUMENT;
    if (!scores || !log_density || !laplacian)
        return gram_fail(context, GRAM_ERROR_ARGUMENT, "%s: %s is NULL", who,
                         !scores        ? "scores"
                         : !log_density ? "log_density"
                                        : "laplacian");
    return find_weights(context, who, kernel, points, scores, lds, NULL, &known, m, index, weights, discrepancy);
}

gram_status gram_thin_discrepancy(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                                  const double *scores, int64_t lds, int64_t m, const int64_t *index,
                                  const double *weights, double *discrepancy)
{
    gram_status status = GRAM_OK;
    gram_target target = {0};
    double *K = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!discrepancy, context, GRAM_ERROR_ARGUMENT, "thin_discrepancy: discrepancy is NULL");
    TRY(check_size(context, "thin_discrepancy", index, weights ? m : 1));
    TRY(gram_target_check(context, "thin_discrepancy", points, m, index));
    TRY(gram_target_make(context, "thin_discrepancy", kernel, points, scores, lds, NULL, &target));
    if (weights) {
        TRY(take_choice(context, &target, m, index, &K));
        const gram_simplex_program program = program_of(&target, m, K, (double *)(uintptr_t)weights);
        *discrepancy = gram_target_root(gram_simplex_value(&program));
    } else {
        TRY(gram_target_measure(context, &target, m, index, discrepancy));
    }
done:
    gram_give(context, K);
    gram_target_free(context, &target);
    return status;
}
