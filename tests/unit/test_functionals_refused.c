/* What is about points refuses rows that are functionals, by name, instead of taking the places of their rows for points. */
#include "support.h"

enum { N = 6, D = 2 };

/* Slopes: their places are points, and a slope is none. */
static gram_points *slopes(gram_context *context)
{
    static const double ALONG[D] = {1, 0};
    double at[N][D];
    gram_functional_term terms[N];
    gram_points *x;
    for (int i = 0; i < N; i++) {
        at[i][0] = 0.1 * i, at[i][1] = 1 - 0.2 * i;
        terms[i] = (gram_functional_term){
            .row = i, .kind = GRAM_FUNCTIONAL_SLOPE, .coefficient = 1, .at = at[i], .first = ALONG};
    }
    OK(context, gram_points_create_functionals(context, N, D, N, terms, &x));
    return x;
}

#define REFUSES(name, call) REFUSED(context, call, GRAM_ERROR_UNSUPPORTED, name)

static const double Y[N] = {0, 1, 0, 1, 0, 1};

static void methods(void **state)
{
    gram_context *context = *state;
    gram_points *x = slopes(context);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)"), *tuned = NULL;
    gram_pca *pca = NULL;
    gram_cluster *cluster = NULL;
    gram_flow *flow = NULL;
    gram_svm *svm = NULL;
    gram_logistic *logistic = NULL;
    gram_laplace *laplace = NULL;
    gram_conditional *conditional = NULL;
    double time, value;
    REFUSES("pca_fit", gram_pca_fit(context, kernel, x, NULL, &pca));
    REFUSES("cluster_fit", gram_cluster_fit(context, kernel, x, NULL, &cluster));
    REFUSES("flow_create", gram_flow_create(context, kernel, x, 1, Y, 1, NULL, &flow));
    REFUSES("flow_tune", gram_flow_tune(context, kernel, x, 1, Y, 1, NULL, NULL, &tuned, &time, NULL));
    REFUSES("svm_fit", gram_svm_fit(context, kernel, x, Y, NULL, &svm));
    REFUSES("logistic_fit", gram_logistic_fit(context, kernel, x, 2, Y, NULL, &logistic));
    REFUSES("laplace_fit", gram_laplace_fit(context, kernel, x, Y, NULL, &laplace));
    REFUSES("laplace_evidence", gram_laplace_evidence(context, kernel, x, Y, NULL, &value, NULL));
    REFUSES("conditional_create", gram_conditional_create(context, kernel, x, 0.1, &conditional));
    gram_kernel_release(kernel);
    gram_points_release(x);
}

static void tests_of_samples(void **state)
{
    gram_context *context = *state;
    gram_points *x = slopes(context);
    const gram_points *pair[2] = {x, x};
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)"), *centred = NULL, *stein = NULL;
    gram_hsic_result hsic;
    gram_function *witness = NULL;
    gram_operator *op = NULL;
    double scores[N * D] = {0}, value, score[D * D];
    int64_t index[2] = {0, 1};
    gram_hsic_result_init(&hsic, sizeof hsic);
    REFUSES("hsic", gram_hsic(context, kernel, x, kernel, x, &value));
    REFUSES("hsic_test", gram_hsic_test(context, 2, NULL, pair, NULL, &hsic));
    REFUSES("hsic_columns", gram_hsic_columns(context, x, x, score));
    REFUSES("mmd_columns", gram_mmd_columns(context, x, x, score, index));
    REFUSES("mmd_witness", gram_mmd_witness(context, kernel, x, x, &witness));
    REFUSES("operator_create_stein", gram_operator_create_stein(context, kernel, x, scores, D, &op));
    REFUSES("stein_kernel", gram_stein_kernel(context, x, GRAM_STEIN_METRIC_MED, 2, &stein));
    REFUSES("thin_weights", gram_thin_weights(context, kernel, x, NULL, 0, 2, index, score, &value));
    REFUSES("thin", gram_thin(context, kernel, x, NULL, 0, NULL, 2, index, &value));
    REFUSES("kernel_centre", gram_kernel_centre(context, x, kernel, &centred));
    gram_hsic_result_clear(&hsic);
    gram_kernel_release(kernel);
    gram_points_release(x);
}

static double no_function(void *user, int64_t d, const double *x, const double *theta, double *gradient)
{
    (void)user, (void)d, (void)x, (void)theta, (void)gradient;
    return 0;
}

static void networks(void **state)
{
    gram_context *context = *state;
    gram_points *x = slopes(context);
    gram_network_options options;
    gram_network *network;
    gram_descent *descent = NULL;
    gram_density *density;
    const gram_parametric f = {.inputs = D, .parameters = 1, .function = no_function};
    const int64_t width = 3;
    const double theta = 0;
    double values[N * N];
    gram_network_options_init(&options, sizeof options);
    options.inputs = D;
    options.widths = &width;
    OK(context, gram_network_create(context, &options, &network));
    REFUSES("network_evaluate", gram_network_evaluate(context, network, x, values, 1));
    REFUSES("network_gradient", gram_network_gradient(context, network, x, Y, 1, values));
    REFUSES("network_tangent_matrix", gram_network_tangent_matrix(context, network, 0, x, NULL, values, N));
    REFUSES("descent_create", gram_descent_create(context, network, x, Y, 1, NULL, &descent));
    REFUSES("parametric_evaluate", gram_parametric_evaluate(context, &f, &theta, x, values));
    gram_network_destroy(network);
    OK(context, gram_density_parse(context, "gaussian", D, &density));
    REFUSES("density_log", gram_density_log(context, density, x, values));
    gram_density_destroy(density);
    gram_points_release(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods),
        cmocka_unit_test(tests_of_samples),
        cmocka_unit_test(networks),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
