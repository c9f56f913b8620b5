/* Pre-images against what they must be: the projection itself for the linear kernel, stationary points of the distance in feature
 * space for rbf, the rows where nothing was projected away, points that no fit has seen for the ridge; and bad input. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/gram.h>

#include "oom.h"
#include "samples.h"

static gram_pca *fit(gram_context *context, const char *text, int64_t n, int64_t d, const double *x, int64_t k,
                     int centre, gram_pca_solver solver)
{
    gram_pca_options options;
    gram_pca *pca = NULL;
    gram_kernel *kernel = test_kernel(context, text);
    gram_points *points = test_points(context, n, d, x);
    gram_pca_options_init(&options, sizeof options);
    options.components = k;
    options.centre = centre;
    options.solver = solver;
    options.rank = solver == GRAM_PCA_NYSTROM ? n : 0;
    OK(context, gram_pca_fit(context, kernel, points, &options, &pca));
    gram_points_release(points);
    gram_kernel_release(kernel);
    return pca;
}

/* The rows of x, projected and brought back; from the rows on if `near`. */
static double *bring_back(gram_context *context, const gram_pca *pca, gram_preimage_method method, int64_t n, int64_t d,
                          const double *x, int near)
{
    const int64_t k = gram_pca_get_report(pca)->components;
    double *b = test_numbers(n * k), *out = test_numbers(n * d);
    gram_preimage *preimage = NULL;
    gram_points *points = test_points(context, n, d, x);
    OK(context, gram_function_evaluate(context, gram_pca_function(pca), points, b, k));
    OK(context, gram_preimage_create(context, gram_pca_function(pca), gram_pca_mean(pca), method, &preimage));
    OK(context, gram_preimage_find(context, preimage, n, b, k, near ? points : NULL, out, d));
    gram_preimage_destroy(preimage);
    gram_points_release(points);
    free(b);
    return out;
}

/* ---- linear ---- */

/* x^ = m + sum_s u_s u_s'(x - m) with eigenvectors of the covariance, m = 0 if nothing is centred. */
static double *project(gram_context *context, int64_t n, int64_t d, const double *x, int64_t k, int centre,
                       int64_t rows, const double *z)
{
    double *mean = test_numbers(d), *c = test_numbers(d * d), *u = test_numbers(k * d), *values = test_numbers(k),
           *out = test_numbers(rows * d);
    for (int64_t i = 0; i < n * d && centre; i++) mean[i % d] += x[i] / (double)n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < d * d; l++) c[l] += (x[i * d + l / d] - mean[l / d]) * (x[i * d + l % d] - mean[l % d]);
    OK(context, gram_eigen_symmetric(context, d, c, d, 0, k, values, u, d));
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t l = 0; l < d; l++) out[i * d + l] = mean[l];
        for (int64_t s = 0; s < k; s++) {
            double b = 0;
            for (int64_t l = 0; l < d; l++) b += u[s * d + l] * (z[i * d + l] - mean[l]);
            for (int64_t l = 0; l < d; l++) out[i * d + l] += b * u[s * d + l];
        }
    }
    free(mean), free(c), free(u), free(values);
    return out;
}

static void linear_is_the_projection(void **state)
{
    enum { N = 40, D = 4, K = 2, M = 10 };
    gram_context *context = *state;
    double *x = test_random(3, N * D, 1, 4), *z = test_random(4, M * D, 0, 5);
    const gram_pca_solver roads[] = {GRAM_PCA_DENSE, GRAM_PCA_KRYLOV, GRAM_PCA_COVARIANCE, GRAM_PCA_NYSTROM};
    for (int r = 0; r < 4; r++)
        for (int centre = 0; centre < 2; centre++) {
            const char *const kernel = centre ? "linear(c=2)" : "linear";
            gram_pca *pca = fit(context, kernel, N, D, x, K, centre, roads[r]);
            double *got = bring_back(context, pca, GRAM_PREIMAGE_AUTO, M, D, z, 0);
            double *want = project(context, N, D, x, K, centre, M, z);
            test_near("projection", gram_pca_solver_name(roads[r]), M * D, got, want, 1e-7);
            gram_pca_destroy(pca);
            free(got), free(want);
        }
    free(x), free(z);
}

/* ---- fixed point ---- */

/* g(z) = <phi(z), P> and its gradient, P the projection of phi(x): from K and its eigenvectors alone. */
typedef struct projection {
    int64_t n, d, k;
    const double *x;
    double *c; /* P = sum_i c_i phi(x_i) */
    double ell;
} projection;

static double rbf(const projection *p, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t l = 0; l < p->d; l++) sum += (a[l] - b[l]) * (a[l] - b[l]);
    return exp(-sum / (2 * p->ell * p->ell));
}

/* c for a point z, by the definition: mean + sum_s <phi(z) - mean, v_s> v_s, v_s = sum_i (e_is/sqrt(l_s)) (phi(x_i) - mean). */
static void find_weights(gram_context *context, projection *p, int centre, const double *z)
{
    const int64_t n = p->n;
    double *k = test_numbers(n * n), *means = test_numbers(n), *e = test_numbers(n * p->k),
           *values = test_numbers(p->k), *row = test_numbers(n), all = 0, row_mean = 0;
    for (int64_t i = 0; i < n * n; i++) {
        k[i] = rbf(p, p->x + i / n * p->d, p->x + i % n * p->d);
        means[i / n] += centre * k[i] / (double)n;
        all += centre * k[i] / (double)(n * n);
    }
    for (int64_t i = 0; i < n * n; i++) k[i] += all - means[i / n] - means[i % n];
    OK(context, gram_eigen_symmetric(context, n, k, n, 0, p->k, values, e, n));
    for (int64_t i = 0; i < n; i++) {
        row[i] = rbf(p, z, p->x + i * p->d);
        row_mean += centre * row[i] / (double)n;
    }
    for (int64_t i = 0; i < n; i++) p->c[i] = centre / (double)n;
    for (int64_t s = 0; s < p->k; s++) {
        double b = 0, sum = 0;
        for (int64_t i = 0; i < n; i++) b += e[s * n + i] / sqrt(values[s]) * (row[i] - means[i] - row_mean + all);
        for (int64_t i = 0; i < n; i++) sum += centre * e[s * n + i] / (double)n;
        for (int64_t i = 0; i < n; i++) p->c[i] += b / sqrt(values[s]) * (e[s * n + i] - sum);
    }
    free(k), free(means), free(e), free(values), free(row);
}

static double value_at(const projection *p, const double *z)
{
    double sum = 0;
    for (int64_t i = 0; i < p->n; i++) sum += p->c[i] * rbf(p, z, p->x + i * p->d);
    return sum;
}

/* The gradient vanishes, no small step leads nearer, and the row that it began at is not nearer to its projection. */
static void no_point_is_nearer(void **state)
{
    enum { N = 40, D = 2, M = 6, K = 4 };
    gram_context *context = *state;
    const gram_pca_solver roads[] = {GRAM_PCA_DENSE, GRAM_PCA_KRYLOV, GRAM_PCA_NYSTROM};
    double *x = test_random(5, N * D, 0, 3), *z = test_random(6, M * D, 0.3, 2.7), c[N];
    projection p = {N, D, K, x, c, 0.9};
    for (int centre = 0; centre < 2; centre++)
        for (int r = 0; r < 3; r++) {
            gram_pca *pca = fit(context, "3*rbf(ell=0.9)", N, D, x, K, centre, roads[r]);
            double *got = bring_back(context, pca, GRAM_PREIMAGE_AUTO, M, D, z, 1);
            for (int i = 0; i < M; i++) {
                const double *at = got + i * D;
                find_weights(context, &p, centre, z + i * D);
                const double there = value_at(&p, at);
                assert_true(there > 0 && there >= value_at(&p, z + i * D) - 1e-9);
                for (int l = 0; l < D; l++) {
                    double fixed = 0, moved[D] = {at[0], at[1]};
                    for (int j = 0; j < N; j++) fixed += c[j] * rbf(&p, at, x + j * D) * x[j * D + l] / there;
                    if (!(fabs(fixed - at[l]) < 1e-6))
                        FAIL_TEST("road %d, centre %d, row %d: %.9g, not %.9g", r, centre, i, at[l], fixed);
                    for (int sign = -1; sign < 2; sign += 2) {
                        moved[l] = at[l] + sign * 1e-2;
                        assert_true(value_at(&p, moved) < there);
                    }
                }
            }
            gram_pca_destroy(pca);
            free(got);
        }
    free(x), free(z);
}

/* With all components a row is its own projection: the search finds it, wherever it begins. */
static void nothing_projected_away(void **state)
{
    enum { N = 25, D = 3 };
    gram_context *context = *state;
    double *x = test_random(7, N * D, 0, 6), *b = test_numbers(N * N), out[N * D];
    for (int centre = 0; centre < 2; centre++) {
        const int64_t k = N - centre;
        gram_pca *pca = fit(context, "rbf(ell=1)", N, D, x, k, centre, GRAM_PCA_DENSE);
        gram_preimage *preimage = NULL;
        double *shifted = test_random(8, N * D, -0.2, 0.2);
        for (int i = 0; i < N * D; i++) shifted[i] += x[i];
        gram_points *near = test_points(context, N, D, shifted);
        OK(context,
           gram_preimage_create(context, gram_pca_function(pca), gram_pca_mean(pca), GRAM_PREIMAGE_AUTO, &preimage));
        assert_int_equal(gram_preimage_get_method(preimage), GRAM_PREIMAGE_FIXED_POINT);
        OK(context, gram_preimage_find(context, preimage, N, gram_pca_coordinates(pca), k, NULL, out, D));
        test_near("rows from centres", NULL, N * D, out, x, 1e-6);
        OK(context, gram_preimage_find(context, preimage, N, gram_pca_coordinates(pca), k, near, out, D));
        test_near("rows from elsewhere", NULL, N * D, out, x, 1e-6);
        gram_preimage_destroy(preimage);
        gram_points_release(near);
        gram_pca_destroy(pca);
        free(shifted);
    }
    free(x), free(b);
}

/* Noise about a circle shrinks, for the rows and for a ring of new ones; rows far outside come back to the circle. */
static void circle_is_denoised(void **state)
{
    enum { N = 400 };
    gram_context *context = *state;
    double x[2 * N], *noise = sample_normal(9, N), before = 0, after = 0;
    const double far[] = {30, -40};
    for (int i = 0; i < N; i++) {
        const double radius = 3 + 0.4 * noise[i], angle = 2.399963229728653 * i;
        x[2 * i] = radius * cos(angle);
        x[2 * i + 1] = radius * sin(angle);
    }
    gram_pca *pca = fit(context, "rbf(ell=2)", N, 2, x, 4, 1, GRAM_PCA_AUTO);
    double *got = bring_back(context, pca, GRAM_PREIMAGE_AUTO, N, 2, x, 1);
    for (int i = 0; i < N; i++) {
        before += pow(hypot(x[2 * i], x[2 * i + 1]) - 3, 2) / N;
        after += pow(hypot(got[2 * i], got[2 * i + 1]) - 3, 2) / N;
    }
    if (!(after < 0.3 * before)) FAIL_TEST("the noise of %g became %g", sqrt(before), sqrt(after));
    double *back = bring_back(context, pca, GRAM_PREIMAGE_AUTO, 1, 2, far, 1);
    assert_true(hypot(back[0], back[1]) < 4.5);
    gram_pca_destroy(pca);
    free(got), free(back), free(noise);
}

/* ---- ridge ---- */

/* Coordinates that determine the point: points of no fit come back. */
static void ridge_finds_new_points(void **state)
{
    enum { N = 200, M = 30, D = 2 };
    gram_context *context = *state;
    const char *const kernels[] = {"poly(m=2, c=1)", "matern(nu=1.5, ell=2)", "rbf(ell=2)"};
    double *x = test_random(10, N * D, -1, 1), *z = test_random(11, M * D, -0.8, 0.8);
    for (int t = 0; t < 3; t++) {
        gram_pca *pca = fit(context, kernels[t], N, D, x, 5, 1, GRAM_PCA_AUTO);
        double *got = bring_back(context, pca, GRAM_PREIMAGE_RIDGE, M, D, z, 0), worst = 0;
        for (int i = 0; i < M * D; i++) worst = fmax(worst, fabs(got[i] - z[i]));
        if (!(worst < 0.02)) FAIL_TEST("%s: off by %g", kernels[t], worst);
        gram_pca_destroy(pca);
        free(got);
    }
    free(x), free(z);
}

/* ---- models, threads, failures ---- */

static void fill(gram_context *context, double *out)
{
    enum { N = 300 };
    double *x = test_random(12, 2 * N, 0, 4);
    const char *const kernels[] = {"rbf(ell=0.8)", "matern(ell=1)"};
    for (int t = 0; t < 2; t++) {
        gram_pca *pca = fit(context, kernels[t], N, 2, x, 3, 1, GRAM_PCA_AUTO);
        double *got = bring_back(context, pca, GRAM_PREIMAGE_AUTO, N, 2, x, 1);
        memcpy(out + t * 2 * N, got, sizeof(double[2 * N]));
        gram_pca_destroy(pca);
        free(got);
    }
    free(x);
}

static void any_threads(void **state)
{
    (void)state;
    test_any_threads(4 * 300, fill);
}

/* A model brings rows back as the fit in memory does, whatever its centres are, without a preparation as columns x1, x2. */
static void models(void **state)
{
    enum { N = 60 };
    gram_context *context = *state;
    const gram_pca_solver roads[] = {GRAM_PCA_DENSE, GRAM_PCA_NYSTROM, GRAM_PCA_COVARIANCE};
    double *x = test_random(13, 2 * N, 0, 3), values[2 * N];
    gram_predict_options wish;
    gram_predict_options_init(&wish, sizeof wish);
    wish.reconstruct = 1;
    for (int r = 0; r < 3; r++) {
        gram_pca *pca = fit(context, r == 2 ? "linear" : "rbf(ell=1)", N, 2, x, 1 + (r < 2), 1, roads[r]);
        gram_model *model = NULL;
        gram_predictor *predictor = NULL;
        double *want = bring_back(context, pca, GRAM_PREIMAGE_AUTO, N, 2, x, 1);
        OK(context, gram_pca_model(context, pca, NULL, &model));
        OK(context, gram_predict(context, model, &wish, N, x, 2, values, 2));
        test_near("model", gram_pca_solver_name(roads[r]), 2 * N, values, want, 1e-12);
        OK(context, gram_predictor_create(context, model, &wish, &predictor));
        assert_int_equal(gram_predictor_columns(predictor)->count, 2);
        assert_string_equal(gram_predictor_columns(predictor)->names[1], "x2");
        gram_predictor_destroy(predictor);
        gram_model_destroy(model);
        gram_pca_destroy(pca);
        free(want);
    }
    free(x);
}

/* From a table: numbers come back in their units, text as the level that is nearest. */
static void columns_of_a_table(void **state)
{
    static const char csv[] = "a,colour,b\n100,red,1\n110,red,2\n120,red,3\n500,blue,3\n510,blue,4\n520,blue,5\n";
    gram_context *context = *state;
    gram_table *table = NULL;
    gram_learner *learner = NULL;
    gram_model *model = NULL;
    gram_predictor *predictor = NULL;
    gram_predict_options wish;
    double values[18];
    gram_table_options options;
    gram_table_options_init(&options, sizeof options);
    options.text = GRAM_TEXT_CATEGORIES;
    OK(context, gram_table_read_memory(context, "t.csv", csv, sizeof csv - 1, &options, &table));
    OK(context, gram_learner_create(context, &learner));
    OK(context, gram_learner_set(context, learner, "method", "pca"));
    OK(context, gram_learner_set(context, learner, "kernel", "linear"));
    OK(context, gram_learn_table(context, learner, table, "t.csv", &model));
    gram_predict_options_init(&wish, sizeof wish);
    wish.reconstruct = 1;
    OK(context, gram_predictor_create(context, model, &wish, &predictor));
    const gram_columns *columns = gram_predictor_columns(predictor);
    const gram_prepared *data = gram_learner_lesson(learner)->data;
    assert_int_equal(columns->count, 3);
    assert_string_equal(columns->names[1], "colour");
    OK(context, gram_predictor_evaluate(context, predictor, data->n, data->x, NULL, values, 3));
    for (int i = 0; i < 6; i++) {
        assert_string_equal(columns->features[1].levels[(int64_t)values[3 * i + 1]], i < 3 ? "red" : "blue");
        assert_true(fabs(values[3 * i] - (i < 3 ? 110 : 510)) < 15); /* two of the three directions are kept */
    }
    gram_predictor_destroy(predictor);
    gram_model_destroy(model);
    gram_learner_destroy(learner);
    gram_table_destroy(table);
}

static gram_status play(gram_context *context, const char *text)
{
    enum { N = 12 };
    gram_status status = GRAM_OK;
    double x[2 * N], out[2 * N];
    gram_kernel *kernel = NULL;
    gram_points *points = NULL;
    gram_pca *pca = NULL;
    gram_preimage *preimage = NULL;
    test_uniform(14, 2 * N, 0, 3, x);
    STEP(gram_kernel_parse(context, text, &kernel));
    STEP(gram_points_create_f64(context, N, 2, x, 2, &points));
    STEP(gram_pca_fit(context, kernel, points, NULL, &pca));
    STEP(gram_preimage_create(context, gram_pca_function(pca), gram_pca_mean(pca), GRAM_PREIMAGE_AUTO, &preimage));
    STEP(gram_preimage_find(context, preimage, N, gram_pca_coordinates(pca), 2, points, out, 2));
done:
    gram_preimage_destroy(preimage);
    gram_pca_destroy(pca);
    gram_points_release(points);
    gram_kernel_release(kernel);
    return status;
}

static gram_status play_steps(gram_context *context)
{
    return play(context, "rbf(ell=1)");
}

static gram_status play_ridge(gram_context *context)
{
    return play(context, "poly(m=2, c=1)");
}

static gram_status play_linear(gram_context *context)
{
    return play(context, "linear");
}

static void without_memory(void **state)
{
    (void)state;
    assert_true(oom_each(play_steps, 0) > 10);
    assert_true(oom_each(play_linear, 0) > 10);
    assert_true(oom_some(play_ridge, 60, 23) > 20);
    (void)oom_budget(play_steps);
}

static void bad_input(void **state)
{
    enum { N = 12 };
    gram_context *context = *state;
    double *x = test_random(15, 2 * N, 0, 1), out[2 * N];
    gram_pca *pca = fit(context, "matern(ell=1)", N, 2, x, 2, 1, GRAM_PCA_AUTO);
    gram_function *f = gram_pca_function(pca);
    const double *b = gram_pca_coordinates(pca);
    gram_preimage *preimage = NULL;
    gram_points *wrong = test_points(context, N / 2, 2, x);
    REFUSED(context, gram_preimage_create(context, f, NULL, GRAM_PREIMAGE_FIXED_POINT, &preimage), GRAM_ERROR_ARGUMENT,
            "the fixed point is of the kernel rbf alone");
    REFUSED(context, gram_preimage_create(context, f, NULL, GRAM_PREIMAGE_LINEAR, &preimage), GRAM_ERROR_ARGUMENT,
            "method = 3");
    REFUSED(context, gram_preimage_create(context, NULL, NULL, GRAM_PREIMAGE_AUTO, &preimage), GRAM_ERROR_ARGUMENT,
            "function is NULL");
    assert_null(preimage);
    OK(context, gram_preimage_create(context, f, gram_pca_mean(pca), GRAM_PREIMAGE_AUTO, &preimage));
    REFUSED(context, gram_preimage_find(context, preimage, N, b, 1, NULL, out, 2), GRAM_ERROR_ARGUMENT, "ldc = 1 of 2");
    REFUSED(context, gram_preimage_find(context, preimage, N, b, 2, wrong, out, 2), GRAM_ERROR_ARGUMENT,
            "near has 6 points");
    REFUSED(context, gram_preimage_find(context, preimage, N, NULL, 2, NULL, out, 2), GRAM_ERROR_ARGUMENT,
            "coordinates is NULL");
    OK(context, gram_preimage_find(context, preimage, 0, b, 2, NULL, out, 2));
    assert_string_equal(gram_preimage_method_name(gram_preimage_get_method(preimage)), "ridge");
    gram_preimage_destroy(preimage);
    gram_preimage_destroy(NULL);
    gram_points_release(wrong);
    gram_pca_destroy(pca);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_is_the_projection),
        cmocka_unit_test(no_point_is_nearer),
        cmocka_unit_test(nothing_projected_away),
        cmocka_unit_test(circle_is_denoised),
        cmocka_unit_test(ridge_finds_new_points),
        cmocka_unit_test(any_threads),
        cmocka_unit_test(models),
        cmocka_unit_test(columns_of_a_table),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(bad_input),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
