/* Fits made through the methods' own interfaces, kept as models: written and read they predict what the fit does. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"
#include "support.h"

enum { N = 36, M = 11, D = 2 };

static const char FILE_NAME[] = "test_method_models.gram";
static const double VALUES[] = {-2, 3, 7};

typedef struct scene {
    gram_kernel *kernel;
    double x[N * D], z[M * D];
    gram_points *points, *places;
    double y[N], counts[N], two[N], three[N];
} scene;

static gram_status set(gram_context *context, scene *s)
{
    gram_status status;
    memset(s, 0, sizeof *s);
    test_uniform(1, (int64_t)N * D, 0, 3, s->x);
    test_uniform(2, (int64_t)M * D, 0, 3, s->z);
    for (int i = 0; i < N; i++) {
        s->y[i] = sin(2 * s->x[i * D]) + 0.3 * s->x[i * D + 1] + 0.05 * (i % 3);
        s->counts[i] = floor(2 * exp(0.5 * s->y[i]));
        s->two[i] = s->y[i] > 0.5;
        s->three[i] = (s->y[i] > 0.2) + (s->y[i] > 0.8);
    }
    STEP(gram_kernel_parse(context, "2*rbf(ell=0.9)", &s->kernel));
    STEP(gram_points_create_f64(context, N, D, s->x, D, &s->points));
    STEP(gram_points_create_f64(context, M, D, s->z, D, &s->places));
done:
    return status;
}

static void clear(scene *s)
{
    gram_points_release(s->points);
    gram_points_release(s->places);
    gram_kernel_release(s->kernel);
}

/* The model, written and read, predicts these columns; it is destroyed. */
static void predicts(gram_context *context, const scene *s, gram_model *model, int prob, int64_t columns,
                     const double *wanted)
{
    gram_model *read = NULL;
    gram_predictor *predictor = NULL;
    gram_description *description = NULL;
    gram_predict_options wish;
    double values[M * 8];
    gram_predict_options_init(&wish, sizeof wish);
    wish.prob = prob;
    assert_true(gram_model_find(model, "n").integer == N && gram_model_find(model, "d").integer == D);
    OK(context, gram_model_write(context, model, FILE_NAME));
    gram_model_destroy(model);
    OK(context, gram_model_read(context, FILE_NAME, &read));
    OK(context, gram_predictor_create(context, read, &wish, &predictor));
    assert_int_equal(gram_predictor_columns(predictor)->count, columns);
    OK(context, gram_predict(context, read, &wish, M, s->z, D, values, 8));
    if (!test_same_bits(M, columns, values, 8, wanted, columns)) FAIL_TEST("other predictions");
    OK(context, gram_model_describe(context, read, NULL, &description));
    gram_description_destroy(description);
    gram_predictor_destroy(predictor);
    gram_model_destroy(read);
    (void)remove(FILE_NAME);
}

/* Labels by the largest probability, before them: what predictions of classes are. */
static void label_first(int64_t classes, const double *p, double *out)
{
    for (int64_t i = 0; i < M; i++) {
        int64_t best = 0;
        for (int64_t c = 1; c < classes; c++)
            if (p[i * classes + c] > p[i * classes + best]) best = c;
        out[i * (classes + 1)] = (double)best;
        memcpy(out + i * (classes + 1) + 1, p + i * classes, (size_t)classes * sizeof *p);
    }
}

static void ridge_regression(void **state)
{
    gram_context *context = *state;
    scene s;
    gram_krr *krr = NULL;
    gram_model *model = NULL;
    double wanted[M];
    OK(context, set(context, &s));
    OK(context, gram_krr_fit(context, s.kernel, s.points, 1, s.y, 1, NULL, &krr));
    OK(context, gram_function_evaluate(context, gram_krr_function(krr), s.places, wanted, 1));
    OK(context, gram_krr_model(context, krr, NULL, &model));
    assert_string_equal(gram_model_method(model), "krr");
    predicts(context, &s, model, 0, 1, wanted);
    gram_krr_destroy(krr);
    clear(&s);
}

static void losses(void **state)
{
    gram_context *context = *state;
    scene s;
    gram_loss_options options;
    double wanted[M * 2];
    OK(context, set(context, &s));
    for (int kind = GRAM_LOSS_ABSOLUTE; kind <= GRAM_LOSS_INSENSITIVE; kind++) {
        static const double levels[] = {0.2, 0.7};
        const int64_t outputs = kind == GRAM_LOSS_QUANTILE ? 2 : 1;
        gram_loss *fit = NULL;
        gram_model *model = NULL;
        gram_loss_options_init(&options, sizeof options);
        options.kind = (gram_loss_kind)kind;
        options.quantile_count = kind == GRAM_LOSS_QUANTILE ? 2 : 0;
        options.quantiles = levels;
        OK(context, gram_loss_fit(context, s.kernel, s.points, s.y, &options, &fit));
        OK(context, gram_function_evaluate(context, gram_loss_function(fit), s.places, wanted, outputs));
        OK(context, gram_loss_model(context, fit, &options, NULL, &model));
        assert_string_equal(gram_model_find(model, "loss").text, gram_loss_name((gram_loss_kind)kind));
        predicts(context, &s, model, 0, outputs, wanted);
        options.kind = GRAM_LOSS_QUANTILE;
        options.quantile_count = 3;
        REFUSED(context, gram_loss_model(context, fit, &options, NULL, &model), GRAM_ERROR_ARGUMENT,
                "not those of the fit");
        assert_null(model);
        gram_loss_destroy(fit);
    }
    clear(&s);
}

static void machines(void **state)
{
    gram_context *context = *state;
    scene s;
    OK(context, set(context, &s));
    for (int kind = GRAM_SVM_C; kind <= GRAM_SVM_NU_REGRESSION; kind++) {
        const int regression = kind >= GRAM_SVM_EPSILON_REGRESSION, one = kind == GRAM_SVM_ONE_CLASS;
        double labels[M], decisions[M * 3], p[M * 3], wanted[M * 4];
        gram_svm *svm = NULL;
        gram_model *model = NULL;
        gram_svm_options options;
        gram_svm_options_init(&options, sizeof options);
        options.kind = (gram_svm_kind)kind;
        options.nu = 0.2;
        options.probability_folds = kind == GRAM_SVM_C ? 3 : 0;
        OK(context, gram_svm_fit(context, s.kernel, s.points, regression ? s.y : one ? NULL : s.three, &options, &svm));
        OK(context, gram_svm_predict(context, svm, s.places, labels, decisions, kind == GRAM_SVM_C ? p : NULL));
        if (kind == GRAM_SVM_C) label_first(3, p, wanted);
        for (int i = 0; i < M && one; i++) {
            wanted[2 * i] = labels[i];
            wanted[2 * i + 1] = decisions[i];
        }
        OK(context, gram_svm_model(context, svm, NULL, regression || one ? NULL : VALUES, &model));
        assert_string_equal(gram_model_method(model), "svm");
        predicts(context, &s, model, kind == GRAM_SVM_C,
                 kind == GRAM_SVM_C ? 4
                 : one              ? 2
                                    : 1,
                 kind == GRAM_SVM_C || one ? wanted : labels);
        gram_svm_destroy(svm);
    }
    clear(&s);
}

static void logistic_regression(void **state)
{
    static const double wrong[] = {1, 1, 2};
    gram_context *context = *state;
    scene s;
    gram_logistic *logistic = NULL;
    gram_model *model = NULL;
    gram_description *description = NULL;
    double p[M * 3], wanted[M * 4];
    OK(context, set(context, &s));
    OK(context, gram_logistic_fit(context, s.kernel, s.points, 3, s.three, NULL, &logistic));
    OK(context, gram_logistic_probabilities(context, gram_logistic_function(logistic), s.places, p, 3));
    label_first(3, p, wanted);
    REFUSED(context, gram_logistic_model(context, logistic, NULL, wrong, &model), GRAM_ERROR_ARGUMENT, "values[1]");
    assert_null(model);
    OK(context, gram_logistic_model(context, logistic, NULL, NULL, &model));
    OK(context, gram_model_describe(context, model, NULL, &description));
    assert_string_equal(gram_description_classes(description)->names[2], "2");
    gram_description_destroy(description);
    gram_model_destroy(model);
    OK(context, gram_logistic_model(context, logistic, NULL, VALUES, &model));
    OK(context, gram_model_describe(context, model, NULL, &description));
    assert_string_equal(gram_description_classes(description)->names[2], "7");
    gram_description_destroy(description);
    predicts(context, &s, model, 1, 4, wanted);
    gram_logistic_destroy(logistic);
    clear(&s);
}

static void approximate_posteriors(void **state)
{
    gram_context *context = *state;
    scene s;
    OK(context, set(context, &s));
    for (int correction = 0; correction <= 1; correction++)
        for (int k = 0; k < 5; k++) {
            static const gram_likelihood kinds[] = {GRAM_LIKELIHOOD_LOGISTIC, GRAM_LIKELIHOOD_SOFTMAX,
                                                    GRAM_LIKELIHOOD_SOFTMAX, GRAM_LIKELIHOOD_POISSON,
                                                    GRAM_LIKELIHOOD_STUDENT};
            const double *observed[] = {s.two, s.two, s.three, s.counts, s.y};
            const int64_t classes = k < 2 ? 2 : k == 2 ? 3 : 1;
            double p[M * 3], wanted[M * 4];
            gram_laplace *laplace = NULL;
            gram_model *model = NULL;
            gram_laplace_options options;
            gram_laplace_options_init(&options, sizeof options);
            options.likelihood = kinds[k];
            options.scale = 0.2;
            options.correction = correction;
            OK(context, gram_laplace_fit(context, s.kernel, s.points, observed[k], &options, &laplace));
            OK(context, gram_laplace_predict(context, laplace, s.places, p, classes));
            if (classes > 1) label_first(classes, p, wanted);
            OK(context, gram_laplace_model(context, laplace, observed[k], &options, NULL, NULL, &model));
            predicts(context, &s, model, classes > 1, classes > 1 ? classes + 1 : 1, classes > 1 ? wanted : p);
            options.likelihood = k == 4 ? GRAM_LIKELIHOOD_POISSON : GRAM_LIKELIHOOD_STUDENT;
            REFUSED(context, gram_laplace_model(context, laplace, observed[k], &options, NULL, NULL, &model),
                    GRAM_ERROR_ARGUMENT, "not those of the fit");
            gram_laplace_destroy(laplace);
        }
    clear(&s);
}

/* A Gaussian process by each solver and mean: mean and deviation of its model, written and read, are those of the fit. */
static void same_posterior(gram_context *context, const scene *s, const gram_gp_options *options)
{
    gram_gp *gp = NULL;
    gram_model *model = NULL, *read = NULL;
    gram_predict_options wish;
    double mean[M], variance[M], values[M * 2], noise;
    gram_predict_options_init(&wish, sizeof wish);
    wish.std = 1;
    OK(context, gram_gp_fit(context, s->kernel, s->points, s->y, options, &gp));
    OK(context, gram_gp_predict(context, gp, s->places, NULL, 0, mean, variance));
    noise = gram_gp_get_report(gp)->noise;
    OK(context, gram_gp_model(context, gp, s->y, options, NULL, &model));
    OK(context, gram_model_write(context, model, FILE_NAME));
    OK(context, gram_model_read(context, FILE_NAME, &read));
    OK(context, gram_predict(context, read, &wish, M, s->z, D, values, 2));
    for (int i = 0; i < M; i++)
        if (fabs(values[2 * i] - mean[i]) > 1e-9 || fabs(values[2 * i + 1] - sqrt(variance[i] + noise)) > 1e-7)
            FAIL_TEST("solver %d, place %d: %g and %g, not %g and %g", (int)options->solver, i, values[2 * i],
                      values[2 * i + 1], mean[i], sqrt(variance[i] + noise));
    gram_model_destroy(read);
    gram_model_destroy(model);
    gram_gp_destroy(gp);
    (void)remove(FILE_NAME);
}

static void gaussian_processes(void **state)
{
    gram_context *context = *state;
    const gram_solver solvers[] = {GRAM_SOLVER_EXACT, GRAM_SOLVER_CG, GRAM_SOLVER_INDUCING, GRAM_SOLVER_VECCHIA};
    scene s;
    gram_gp_options options;
    OK(context, set(context, &s));
    for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++)
        for (int mean = 0; mean < 4; mean++) {
            gram_gp_options_init(&options, sizeof options);
            options.solver = solvers[i];
            options.noise = 0.05;
            options.mean = mean == 0 ? GRAM_MEAN_ZERO : mean == 1 ? GRAM_MEAN_LINEAR : GRAM_MEAN_CONSTANT;
            options.flat = mean == 3;
            same_posterior(context, &s, &options);
        }
    gram_gp *gp = NULL;
    gram_model *model = NULL;
    OK(context, gram_gp_fit(context, s.kernel, s.points, s.y, &options, &gp));
    options.mean = GRAM_MEAN_LINEAR;
    REFUSED(context, gram_gp_model(context, gp, s.y, &options, NULL, &model), GRAM_ERROR_UNSUPPORTED, "linear mean");
    REFUSED(context, gram_gp_model(context, gp, NULL, NULL, NULL, &model), GRAM_ERROR_ARGUMENT, "y is NULL");
    gram_gp_destroy(gp);
    clear(&s);
}

/* Classes of text are named by the preparation, which must know as many. */
static void names_are_the_preparations(void **state)
{
    static const char two[] = "a,b,kind\n1,2,no\n2,1,yes\n3,5,no\n1,1,yes\n";
    gram_context *context = *state;
    scene s;
    gram_table *table = NULL;
    gram_preparation *preparation = NULL;
    gram_logistic *logistic = NULL;
    gram_model *model = NULL;
    gram_table_options reading;
    OK(context, set(context, &s));
    gram_table_options_init(&reading, sizeof reading);
    reading.text = GRAM_TEXT_CATEGORIES;
    OK(context, gram_table_read_memory(context, "t.csv", two, sizeof two - 1, &reading, &table));
    OK(context, gram_preparation_learn(context, table, NULL, &preparation));
    OK(context, gram_logistic_fit(context, s.kernel, s.points, 3, s.three, NULL, &logistic));
    REFUSED(context, gram_logistic_model(context, logistic, preparation, NULL, &model), GRAM_ERROR_ARGUMENT,
            "3 classes, and a preparation of a target with 2 levels");
    assert_null(model);
    gram_logistic_destroy(logistic);
    gram_preparation_release(preparation);
    gram_table_destroy(table);
    clear(&s);
}

static gram_status play(gram_context *context)
{
    gram_status status;
    scene s;
    gram_krr *krr = NULL;
    gram_logistic *logistic = NULL;
    gram_svm *svm = NULL;
    gram_model *models[3] = {NULL, NULL, NULL};
    STEP(set(context, &s));
    STEP(gram_krr_fit(context, s.kernel, s.points, 1, s.y, 1, NULL, &krr));
    STEP(gram_krr_model(context, krr, NULL, &models[0]));
    STEP(gram_logistic_fit(context, s.kernel, s.points, 3, s.three, NULL, &logistic));
    STEP(gram_logistic_model(context, logistic, NULL, VALUES, &models[1]));
    STEP(gram_svm_fit(context, s.kernel, s.points, s.three, NULL, &svm));
    STEP(gram_svm_model(context, svm, NULL, NULL, &models[2]));
done:
    for (int i = 0; i < 3; i++) gram_model_destroy(models[i]);
    gram_svm_destroy(svm);
    gram_logistic_destroy(logistic);
    gram_krr_destroy(krr);
    clear(&s);
    return status;
}

static void allocations_fail(void **state)
{
    (void)state;
    assert_true(oom_each(play, 0) > 60);
    (void)oom_each(play, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ridge_regression),
        cmocka_unit_test(losses),
        cmocka_unit_test(machines),
        cmocka_unit_test(logistic_regression),
        cmocka_unit_test(approximate_posteriors),
        cmocka_unit_test(gaussian_processes),
        cmocka_unit_test(names_are_the_preparations),
        cmocka_unit_test(allocations_fail),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
