/* How good a kernel and a ridge are, in closed form and with exact gradients.
 *
 * A = K + s diag(1/w) with the noise s = n lambda, and P = A^-1, or with columns T that are free, a constant and some columns
 * of the points,
 *
 *     P = A^-1 - C (T'C)^-1 C',   C = A^-1 T,   so that a = P y are the coefficients of the fit.
 *
 * Sums run over outputs o, too, and W is the sum of the weights w.
 *
 *     LOO  sum w_i r_io^2/(m W),  r_io = a_io/P_ii: the residual of a fit without row i, to the same noise s
 *     CV   the same with r_B = P_BB^-1 a_B for each fold B
 *     GCV  (n^2/(m W)) sum a_io^2/w_i/T^2,  T = sum P_ii/w_i: the mean squared residual over (1 - df/n)^2 (Craven and
 *          Wahba 1979, on the whitened rows sqrt(w_i) y_i); with w = 1 this is n |a|^2/(tr P)^2
 *     ML   sum_o n/2 (1 + log(2 pi y_o'a_o/n)) + m/2 log|A|: minus the log likelihood of y_o ~ N(b 1, t_o A), where b
 *          and the amplitude t_o take their best values (plain profile likelihood: n, not n - 1)
 *
 * For the derivatives use dP = -P dA P and da = -P dA a. Each criterion then changes by sum_ij W_ij dA_ij for a matrix
 *
 *     LOO  P diag(v) P - sum_o a_o (P u_o)',  u_io = 2 w_i a_io/P_ii^2, v_i = sum_o 2 w_i a_io^2/P_ii^3, over m W
 *     GCV  the same with u_io = 2 a_io/(w_i T^2), v_i = 2 (sum a^2/w)/(w_i T^3), times n^2/(m W)
 *     CV   2 sum_Bo (P_:B g_B)(P_:B e_B)' - 2 sum_o (P g_o) a_o',  e = r, g_B = P_BB^-1 (w e)_B, over m W
 *     ML   m/2 A^-1 - sum_o n/(2 y_o'a_o) a_o a_o'
 *
 * and all parameters of the kernel get their derivative from one contraction of W with dK
 * (gram_matrix_parameter_gradient), the noise from the diagonal of W. The form of LOO is that of Sundararajan and Keerthi
 * (Neural Computation 13, 2001) with the product of P and dA, n^3 for each parameter, done once for all.
 *
 * Cost: n^3/3 operations for the factor, 2 n^3/3 for the inverse, n^3 for P diag(v) P (LOO and GCV: one triangle, by
 * tiles), O(n^2 (d + parameters)) for the rest. Memory: 2 n^2 numbers for LOO and GCV with gradient, n^2 for CV and ML,
 * none for values of LOO and GCV; and a factor, n^2/2, on top.
 *
 * Here are the workspace, the coefficients a and c, and the steps that gradients share; each criterion has a file of its
 * own. */
#include <gram/functional.h>

#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/matrix.h>
#include <gram/text.h>

#include "base/sweep.h"
#include "points/weighted_problem.h"
#include "solve/cholesky/cholesky.h"
#include "solve/small_system.h"
#include "tune/ridge_criterion_work.h"

/* ---- the workspace ---- */

int64_t gram_criterion_least_rows(const gram_criterion_rule *rule)
{
    return (rule->intercept || rule->kind == GRAM_CRITERION_CV ? 2 : 1) + rule->unpenalised_count;
}

static int64_t thin_rank(const gram_criterion_rule *rule, int64_t m)
{
    switch (rule->kind) {
    case GRAM_CRITERION_CV: return m * (rule->folds + !rule->ordered);
    case GRAM_CRITERION_ML: return m;
    default: return 2 * m;
    }
}

static gram_status take_vectors(gram_context *context, gram_criterion_work *k)
{
    gram_status status = GRAM_OK;
    const int64_t n = k->n, m = k->m, cv = k->rule.kind == GRAM_CRITERION_CV;
    const int64_t thin = k->rule.gradients ? k->rank : 0;
    const int64_t q = k->q, count = n * (3 + 3 * m + 3 * q) + q * q + 2 * n * thin + cv * (2 * n * m + n * thin);
    TRY(gram_take(context, "tuning", count, sizeof(double), (void **)&k->numbers));
    k->shift = k->numbers;
    k->t = k->shift + n;
    k->c = k->t + n * q;
    k->small = k->c + n * q;
    k->diagonal = k->small + q * q;
    k->v = k->diagonal + n;
    k->rhs = k->v + n;
    k->a = k->rhs + n * (m + q);
    k->u = k->a + n * m;
    k->left = k->u + n * m;
    k->right = k->left + n * thin;
    k->e = k->right + n * thin;
    k->g = k->e + n * m;
    k->spread = k->g + n * m;
done:
    return status;
}

static gram_status take_matrices(gram_context *context, gram_criterion_work *k)
{
    gram_status status = GRAM_OK;
    const gram_criterion kind = k->rule.kind;
    const int two = kind == GRAM_CRITERION_LOO || kind == GRAM_CRITERION_GCV;
    if (kind == GRAM_CRITERION_CV && k->rule.ordered) goto done;
    if (k->rule.gradients || kind == GRAM_CRITERION_CV)
        TRY(gram_take(context, "tuning: inverse", k->n * k->n, sizeof(double), (void **)&k->p));
    if (k->rule.gradients && two)
        TRY(gram_take(context, "tuning: derivative by the matrix", k->n * k->n, sizeof(double), (void **)&k->w));
done:
    return status;
}

static void fill_unpenalised(gram_criterion_work *k)
{
    const gram_points *x = k->sample->points;
    const int64_t first = k->rule.intercept != 0;
    for (int64_t i = 0; i < k->n; i++) {
        if (first) k->t[i * k->q] = gram_points_of_one(x, i);
        for (int64_t j = first; j < k->q; j++)
            k->t[i * k->q + j] = gram_points_of_column(x, i, k->rule.unpenalised[j - first]);
    }
}

gram_status gram_criterion_create(gram_context *context, const gram_sample *sample, const gram_criterion_rule *rule,
                                  gram_criterion_work **work)
{
    gram_status status = GRAM_OK;
    gram_criterion_work *k = NULL;
    *work = NULL;
    TRY(gram_take(context, "tuning", 1, sizeof *k, (void **)&k));
    *k = (gram_criterion_work){.sample = sample, .rule = *rule, .n = sample->n, .m = sample->outputs};
    FAIL_IF(k->n > INT32_MAX || k->m > INT32_MAX / 4, context, GRAM_ERROR_OVERFLOW,
            "tuning: %lld rows with %lld outputs are more than BLAS can count", (long long)k->n, (long long)k->m);
    if (rule->kind == GRAM_CRITERION_CV) TRY(gram_criterion_draw_folds(context, k));
    k->rank = thin_rank(&k->rule, k->m);
    k->q = (k->rule.intercept != 0) + k->rule.unpenalised_count;
    TRY(take_vectors(context, k));
    fill_unpenalised(k);
    TRY(take_matrices(context, k));
    *work = k;
    k = NULL;
done:
    gram_criterion_destroy(context, k);
    return status;
}

void gram_criterion_destroy(gram_context *context, gram_criterion_work *k)
{
    if (!k) return;
    gram_give(context, k->fold_rows);
    gram_give(context, k->w);
    gram_give(context, k->p);
    gram_give(context, k->numbers);
    gram_give(context, k);
}

/* ---- coefficients ---- */

/* a = A^-1 y - C b with b = (T'C)^-1 T'A^-1 y */
void gram_criterion_split(gram_criterion_work *k, int64_t n, double *b)
{
    const int64_t m = k->m, q = k->q, ld = m + q;
    memset(k->small, 0, (size_t)(q * q) * sizeof(double));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < q; j++) {
            k->c[i * q + j] = k->rhs[i * ld + m + j];
            for (int64_t l = 0; l <= j; l++) k->small[j * q + l] += k->t[i * q + j] * k->rhs[i * ld + m + l];
        }
    (void)gram_small_factor(q, k->small);
    double *found = b ? b : k->u; /* m q numbers that nothing needs yet */
    for (int64_t o = 0; o < m; o++) {
        for (int64_t j = 0; j < q; j++) {
            found[j * m + o] = 0;
            for (int64_t i = 0; i < n; i++) found[j * m + o] += k->t[i * q + j] * k->rhs[i * ld + o];
        }
        gram_small_solve(q, k->small, found + o, m);
        for (int64_t i = 0; i < n; i++) {
            k->a[i * m + o] = k->rhs[i * ld + o];
            for (int64_t j = 0; j < q; j++) k->a[i * m + o] -= k->c[i * q + j] * found[j * m + o];
        }
    }
}

void gram_criterion_right_side(gram_criterion_work *k, int64_t n)
{
    const int64_t m = k->m, q = k->q, ld = m + q;
    for (int64_t i = 0; i < n; i++) {
        memcpy(k->rhs + i * ld, k->sample->y + i * m, (size_t)m * sizeof(double));
        for (int64_t j = 0; j < q; j++) k->rhs[i * ld + m + j] = k->t[i * q + j];
    }
}

static gram_status solve(gram_context *context, gram_criterion_work *k, const gram_cholesky *factor)
{
    const int64_t ld = k->m + k->q;
    gram_criterion_right_side(k, k->n);
    const gram_status status = gram_cholesky_solve(context, factor, ld, k->rhs, ld);
    if (status < 0) return status;
    gram_criterion_split(k, k->n, NULL);
    return status;
}

/* ---- steps that the criteria share ---- */

gram_status gram_criterion_sweep(gram_context *context, gram_criterion_work *k, gram_task_fn run)
{
    const gram_sweep sweep = {
        .what = "tuning", .tasks = (k->n + GRAM_CRITERION_ROWS - 1) / GRAM_CRITERION_ROWS, .run = run, .argument = k};
    return gram_sweep_run(context, &sweep);
}

int64_t gram_criterion_first(const gram_worker *worker)
{
    return worker->task * GRAM_CRITERION_ROWS;
}

int64_t gram_criterion_end(const gram_criterion_work *k, const gram_worker *worker)
{
    const int64_t end = (worker->task + 1) * GRAM_CRITERION_ROWS;
    return end < k->n ? end : k->n;
}

void gram_criterion_subtract_unpenalised(gram_criterion_work *k, int64_t from, int64_t to)
{
    const int64_t q = k->q;
    for (int64_t i = from; i < to && q > 0; i++) {
        double *row = k->p + i * k->n, *factor = k->rhs + i * (k->m + q); /* which is of no use any more */
        for (int64_t l = 0; l < q; l++) factor[l] = k->c[i * q + l];
        gram_small_solve(q, k->small, factor, 1);
        for (int64_t j = 0; j < k->n; j++)
            for (int64_t l = 0; l < q; l++) row[j] -= factor[l] * k->c[j * q + l];
    }
}

static double thin_entry(const gram_criterion_work *k, int64_t i)
{
    return cblas_ddot((int)k->rank, k->left + i * k->rank, 1, k->right + i * k->rank, 1);
}

double gram_criterion_noise_slope(const gram_criterion_work *k, const double *dense, int with_p)
{
    const int64_t n = k->n;
    double sum = 0;
    const int blas = gram_blas_enter();
    for (int64_t i = 0; i < n; i++) {
        double entry = dense ? dense[i * n + i] : thin_entry(k, i);
        if (!dense && with_p) entry += cblas_ddot((int)n, k->p + i * n, 1, k->p + i * n, 1);
        sum += entry / k->sample->weights[i];
    }
    gram_blas_leave(blas);
    return sum;
}

gram_status gram_criterion_contract(gram_context *context, const gram_criterion_work *k, const gram_kernel *kernel,
                                    const double *dense, double *gradient)
{
    gram_weights weights = {.dense = dense, .ld = k->n};
    if (!gradient || gram_kernel_parameter_count(kernel) == 0) return GRAM_OK;
    if (!dense) weights = (gram_weights){.rank = k->rank, .a = k->left, .lda = k->rank, .b = k->right, .ldb = k->rank};
    return gram_matrix_parameter_gradient(context, kernel, k->sample->points, NULL, &weights, gradient);
}

/* ---- the whole ---- */

/* All but what goes forward in time starts from the factor of the whole matrix. */
static gram_status evaluate_whole(gram_context *context, gram_criterion_work *k, const gram_kernel *kernel,
                                  const gram_criterion_slopes *slopes, double *value)
{
    gram_status status = GRAM_OK;
    gram_cholesky *factor = NULL;
    TRY(gram_cholesky_create(context, kernel, k->sample->points, k->shift, GRAM_STORAGE_F64, NULL, &factor));
    TRY(gram_cholesky_check_pivots(context, "tuning", factor));
    TRY(solve(context, k, factor));
    switch (k->rule.kind) {
    case GRAM_CRITERION_ML: status = gram_criterion_by_likelihood(context, k, factor, kernel, slopes, value); break;
    case GRAM_CRITERION_CV: status = gram_criterion_by_folds(context, k, factor, kernel, slopes, value); break;
    default: status = gram_criterion_by_diagonal(context, k, factor, kernel, slopes, value); break;
    }
done:
    gram_cholesky_destroy(factor);
    return status;
}

gram_status gram_criterion_evaluate(gram_context *context, gram_criterion_work *k, const gram_kernel *kernel,
                                    double noise, double *value, double *gradient, double *noise_gradient)
{
    gram_status status = GRAM_OK;
    const gram_criterion_slopes slopes = {gradient, noise_gradient};
    const int in_order = k->rule.kind == GRAM_CRITERION_CV && k->rule.ordered;
    for (int64_t i = 0; i < k->n; i++) k->shift[i] = noise / k->sample->weights[i];
    TRY((in_order ? gram_criterion_in_order : evaluate_whole)(context, k, kernel, &slopes, value));
    FAIL_IF(!isfinite(*value), context, GRAM_ERROR_NUMERICAL, "tuning: the criterion is not a finite number");
done:
    return status;
}

/* ---- the public function ---- */

static gram_status check_call(gram_context *context, const gram_kernel *kernel, const gram_given *given, double lambda,
                              const double *value)
{
    gram_status status = GRAM_OK;
    char text[GRAM_NUMBER_SIZE];
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "krr_criterion: kernel is NULL");
    FAIL_IF(!value, context, GRAM_ERROR_ARGUMENT, "krr_criterion: value is NULL");
    FAIL_IF(!(lambda >= 0 && isfinite(lambda)), context, GRAM_ERROR_ARGUMENT,
            "krr_criterion: lambda = %s, need a finite number >= 0", gram_number_format(lambda, text));
    TRY(gram_given_check(context, "krr_criterion", given));
done:
    return status;
}

gram_status gram_krr_criterion(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t outputs,
                               const double *y, int64_t ldy, const gram_krr_tune_options *options, double lambda,
                               double *value, double *gradient)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    gram_krr_tune_options read;
    gram_sample sample = {.n = 0};
    gram_criterion_work *work = NULL;
    int64_t *rows = NULL, count = 0;
    double slope = 0;
    TRY(gram_krr_tune_options_read(context, "krr_criterion", options, &read));
    const gram_given given = {x, outputs, y, ldy, read.weights};
    gram_criterion_rule rule = gram_criterion_rule_of(&read);
    rule.gradients = gradient != NULL;
    TRY(check_call(context, kernel, &given, lambda, value));
    TRY(gram_unpenalised_check(context, "krr_criterion", x->d, rule.unpenalised_count, rule.unpenalised));
    TRY(gram_given_rows(context, &given, &rows, &count));
    rule.rows = rows;
    TRY(gram_criterion_check_groups(context, "krr_criterion", &rule, count));
    FAIL_IF(count < gram_criterion_least_rows(&rule), context, GRAM_ERROR_ARGUMENT,
            "krr_criterion: %lld rows of weight above 0, need at least %lld", (long long)count,
            (long long)gram_criterion_least_rows(&rule));
    TRY(gram_sample_make(context, &given, count, rows, &sample));
    TRY(gram_criterion_create(context, &sample, &rule, &work));
    TRY(gram_criterion_evaluate(context, work, kernel, lambda * (double)count, value, gradient,
                                gradient ? &slope : NULL));
    if (gradient) gradient[gram_kernel_parameter_count(kernel)] = slope * (double)count;
done:
    gram_criterion_destroy(context, work);
    gram_sample_free(context, &sample);
    if (x) gram_give(context, rows);
    return status;
}
