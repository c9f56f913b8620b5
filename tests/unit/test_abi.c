/* Structs that begin with their size, as <gram/export.h> promises: every function of the interface that takes one is
 * called with a struct of an older, shorter version, of a newer, longer one, and without a size.
 *
 * The struct lies in a block of exactly the bytes that its size says, so that AddressSanitizer sees any access beyond;
 * without it a margin after the block is checked, which finds writes. The house test check_sizes demands a row here
 * for each function and struct in the headers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { N = 24, CLASSES = 2 };

/* Small data that every function can work with. */
typedef struct world {
    gram_context *context;
    gram_kernel *kernel;
    double *numbers, *others; /* which the points borrow */
    gram_points *x, *line, *other;
    double y[N], classes[N], spare[N * N];
    int64_t fold[N];
    gram_table *table;
    gram_preparation *preparation;
    gram_gp *gp; /* by inducing points */
    gram_model *model;
    size_t reported; /* the size of the report that the last fit has */
} world;

static const char csv[] = "a,b\n1,2\n2,3\n4,1\n";

/* Arrays to learn from: an older caller's hold as much of it as their size says. */
static double array_x[2 * N], array_y[N];

static void gram_arrays_start(void *made, size_t size)
{
    gram_arrays all = {.n = N, .d = 2, .targets = 1, .x = array_x, .y = array_y, .ldx = 2, .ldy = 1};
    gram_arrays_init(made, size);
    if (made && size > sizeof size)
        memcpy((char *)made + sizeof size, (char *)&all + sizeof size,
               (size < sizeof all ? size : sizeof all) - sizeof size);
}

static gram_status learn_arrays(gram_context *context, const void *arrays, gram_model **model)
{
    gram_learner *learner = NULL;
    *model = NULL;
    OK(context, gram_learner_create(context, &learner));
    OK(context, gram_learner_set(context, learner, "lambda", "0.1"));
    OK(context, gram_learner_set(context, learner, "kernel", "rbf(ell=1)"));
    const gram_status status = gram_learn_arrays(context, learner, arrays, model);
    gram_learner_destroy(learner);
    return status;
}

static world make_world(void)
{
    world w = {.context = test_context(1, GRAM_ISA_AUTO)};
    const double *x = w.numbers = test_random(1, 2 * N, 0, 3);
    w.others = test_random(3, 2 * N, 0, 3);
    w.kernel = test_kernel(w.context, "2*matern(nu=1.5, ell=1)");
    w.x = test_points(w.context, N, 2, x);
    w.line = test_points(w.context, N, 1, x);
    w.other = test_points(w.context, N, 2, w.others);
    test_uniform(2, N, -0.1, 0.1, w.y);
    for (int i = 0; i < N; i++) {
        w.y[i] += sin(x[2 * i]);
        w.classes[i] = x[2 * i] + 3 * w.y[i] > 2 || i % 5 == 0;
        w.fold[i] = i % 4;
    }
    OK(w.context, gram_table_read_memory(w.context, "t.csv", csv, sizeof csv - 1, NULL, &w.table));
    OK(w.context, gram_preparation_learn(w.context, w.table, NULL, &w.preparation));
    gram_gp_options options;
    gram_gp_options_init(&options, sizeof options);
    options.solver = GRAM_SOLVER_INDUCING;
    OK(w.context, gram_gp_fit(w.context, w.kernel, w.x, w.y, &options, &w.gp));
    gram_arrays arrays;
    memcpy(array_x, x, sizeof array_x);
    memcpy(array_y, w.y, sizeof array_y);
    gram_arrays_start(&arrays, sizeof arrays);
    OK(w.context, learn_arrays(w.context, &arrays, &w.model));
    return w;
}

static void free_world(world *w)
{
    gram_model_destroy(w->model);
    gram_gp_destroy(w->gp);
    gram_preparation_release(w->preparation);
    gram_table_destroy(w->table);
    gram_points_release(w->other);
    gram_points_release(w->line);
    gram_points_release(w->x);
    gram_kernel_release(w->kernel);
    gram_context_destroy(w->context);
    free(w->numbers);
    free(w->others);
}

/* ---- one call of each function; `given` is the struct in question ---- */

static gram_status context_create(world *w, void *given)
{
    gram_context *made;
    (void)w;
    const gram_status status = gram_context_create(given, &made);
    gram_context_destroy(made);
    return status;
}

static gram_status solve(world *w, const gram_cg_options *options, gram_cg_report *report)
{
    gram_operator *a = NULL, *shifted = NULL;
    memset(w->spare, 0, sizeof w->spare);
    OK(w->context, gram_operator_create_free(w->context, w->kernel, w->x, &a));
    OK(w->context, gram_operator_create_shifted(w->context, a, 1, &shifted));
    const gram_status status = gram_cg_solve(w->context, shifted, 1, w->y, 1, w->spare, 1, options, report);
    gram_operator_release(shifted);
    gram_operator_release(a);
    return status;
}

static gram_status cg_solve(world *w, void *given)
{
    return solve(w, given, NULL);
}

static gram_status cg_solve_report(world *w, void *given)
{
    return solve(w, NULL, given);
}

static gram_status gp_likelihood(world *w, void *given)
{
    return gram_gp_likelihood(w->context, w->kernel, w->x, w->y, given, w->spare, w->spare + 1);
}

static gram_status gp_objective_value(world *w, void *given)
{
    return gram_gp_objective_value(w->context, w->kernel, w->x, w->y, given, GRAM_GP_OBJECTIVE_LOO, w->spare,
                                   w->spare + 1);
}

static gram_status gp_fit(world *w, void *given)
{
    gram_gp *fit = NULL;
    const gram_status status = gram_gp_fit(w->context, w->kernel, w->x, w->y, given, &fit);
    if (fit) w->reported = gram_gp_get_report(fit)->size;
    gram_gp_destroy(fit);
    return status;
}

static gram_status gp_tune(world *w, const gram_gp_options *options, const gram_gp_tune_options *tune,
                           gram_gp_tune_report *report)
{
    gram_kernel *tuned = NULL;
    const gram_status status = gram_gp_tune(w->context, w->kernel, w->x, w->y, options, tune, &tuned, w->spare, report);
    gram_kernel_release(tuned);
    return status;
}

static gram_status gp_tune_options(world *w, void *given)
{
    return gp_tune(w, given, NULL, NULL);
}

static gram_status gp_tune_tune(world *w, void *given)
{
    return gp_tune(w, NULL, given, NULL);
}

static gram_status gp_tune_report(world *w, void *given)
{
    return gp_tune(w, NULL, NULL, given);
}

static gram_status markov_tune(world *w, const gram_gp_options *options, const gram_gp_tune_options *tune,
                               gram_gp_tune_report *report)
{
    gram_kernel *tuned = NULL;
    const gram_status status =
        gram_markov_tune(w->context, w->kernel, w->line, w->y, options, tune, &tuned, w->spare, report);
    gram_kernel_release(tuned);
    return status;
}

static gram_status markov_tune_options(world *w, void *given)
{
    return markov_tune(w, given, NULL, NULL);
}

static gram_status markov_tune_tune(world *w, void *given)
{
    return markov_tune(w, NULL, given, NULL);
}

static gram_status markov_tune_report(world *w, void *given)
{
    return markov_tune(w, NULL, NULL, given);
}

/* With options of the solver, or of the other. */
static gram_status gp_solve(world *w, const gram_gp_cg_options *cg, const gram_gp_inducing_options *inducing,
                            const gram_gp_vecchia_options *vecchia)
{
    gram_gp *fit = NULL;
    gram_gp_options options;
    gram_gp_options_init(&options, sizeof options);
    options.solver = cg ? GRAM_SOLVER_CG : vecchia ? GRAM_SOLVER_VECCHIA : GRAM_SOLVER_INDUCING;
    options.cg = cg;
    options.inducing = inducing;
    options.vecchia = vecchia;
    const gram_status status = gram_gp_fit(w->context, w->kernel, w->x, w->y, &options, &fit);
    gram_gp_destroy(fit);
    return status;
}

static gram_status gp_fit_cg(world *w, void *given)
{
    return gp_solve(w, given, NULL, NULL);
}

static gram_status gp_fit_inducing(world *w, void *given)
{
    return gp_solve(w, NULL, given, NULL);
}

static gram_status gp_fit_vecchia(world *w, void *given)
{
    return gp_solve(w, NULL, NULL, given);
}

static gram_status gp_plan(world *w, void *given)
{
    gram_plan plan;
    return gram_gp_plan(w->context, w->kernel, N, 2, given, &plan);
}

static gram_status gp_path_create(world *w, void *given)
{
    gram_gp_path *path = NULL;
    const gram_status status = gram_gp_path_create(w->context, w->kernel, 2, w->x, w->y, given, &path);
    gram_gp_path_destroy(path);
    return status;
}

static gram_status gp_describe(world *w, void *given)
{
    return gram_gp_describe(w->gp, given);
}

static gram_status gp_create(world *w, void *given)
{
    gram_gp *made = NULL;
    (void)gram_gp_describe(w->gp, given);
    const gram_status status = gram_gp_create(w->context, w->kernel, given, &made);
    gram_gp_destroy(made);
    return status;
}

static gram_status gp_read_parts(world *w, void *given)
{
    gram_context *c = w->context;
    gram_function *f = NULL;
    gram_model *model = NULL;
    OK(c, gram_function_create(c, w->kernel, w->x, 1, w->y, 1, NULL, &f));
    OK(c, gram_model_create(c, "gp", "regression", NULL, f, &model));
    OK(c, gram_model_set_text(c, model, "solver", "exact"));
    OK(c, gram_model_set_number(c, model, "noise", 0.1));
    OK(c, gram_model_set_array(c, model, "targets", N, 1, w->y, 1));
    const gram_status status = gram_gp_read_parts(c, model, given);
    gram_model_destroy(model);
    gram_function_release(f);
    return status;
}

static gram_status krr_fit(world *w, void *given)
{
    gram_krr *fit = NULL;
    const gram_status status = gram_krr_fit(w->context, w->kernel, w->x, 1, w->y, 1, given, &fit);
    if (fit) w->reported = gram_krr_get_report(fit)->size;
    gram_krr_destroy(fit);
    return status;
}

static gram_status krr_fold_residuals(world *w, void *given)
{
    return gram_krr_fold_residuals(w->context, w->kernel, w->x, 1, w->y, 1, given, w->fold, w->spare, 1);
}

static gram_status krr_path(world *w, void *given)
{
    gram_krr_path_point path[2] = {{.lambda = 0.1}, {.lambda = 0.01}};
    return gram_krr_path(w->context, w->kernel, w->x, 1, w->y, 1, given, 2, path, NULL, NULL);
}

static gram_status krr_criterion(world *w, void *given)
{
    return gram_krr_criterion(w->context, w->kernel, w->x, 1, w->y, 1, given, 0.01, w->spare, NULL);
}

static gram_status tune_ridge(world *w, const gram_krr_tune_options *options, gram_krr_tune_report *report)
{
    gram_kernel *tuned = NULL;
    const gram_status status =
        gram_krr_tune(w->context, w->kernel, w->x, 1, w->y, 1, options, &tuned, w->spare, report);
    gram_kernel_release(tuned);
    return status;
}

static gram_status krr_tune(world *w, void *given)
{
    return tune_ridge(w, given, NULL);
}

static gram_status krr_tune_report(world *w, void *given)
{
    return tune_ridge(w, NULL, given);
}

static gram_status set_collective(world *w, void *given)
{
    return gram_context_set_collective(w->context, given);
}

static gram_status collective_report(world *w, void *given)
{
    return gram_context_collective_report(w->context, given);
}

static gram_status checkpoint_report(world *w, void *given)
{
    return gram_context_checkpoint_report(w->context, given);
}

static gram_status krr_plan(world *w, void *given)
{
    gram_plan plan;
    return gram_krr_plan(w->context, given, &plan);
}

static gram_status laplace_evidence(world *w, void *given)
{
    return gram_laplace_evidence(w->context, w->kernel, w->x, w->classes, given, w->spare, NULL);
}

static gram_status laplace_fit(world *w, void *given)
{
    gram_laplace *fit = NULL;
    const gram_status status = gram_laplace_fit(w->context, w->kernel, w->x, w->classes, given, &fit);
    if (fit) w->reported = gram_laplace_get_report(fit)->size;
    gram_laplace_destroy(fit);
    return status;
}

static gram_status tune_laplace(world *w, const gram_laplace_tune_options *options, gram_laplace_tune_report *report)
{
    gram_kernel *tuned = NULL;
    const gram_status status =
        gram_laplace_tune(w->context, w->kernel, w->x, w->classes, options, &tuned, NULL, report);
    gram_kernel_release(tuned);
    return status;
}

static gram_status laplace_tune(world *w, void *given)
{
    return tune_laplace(w, given, NULL);
}

static gram_status laplace_tune_report(world *w, void *given)
{
    return tune_laplace(w, NULL, given);
}

static gram_status spline_fit(world *w, void *given)
{
    gram_spline *fit = NULL;
    const gram_status status = gram_spline_fit(w->context, w->line, w->y, given, &fit);
    if (fit) w->reported = gram_spline_get_report(fit)->size;
    gram_spline_destroy(fit);
    return status;
}

static gram_status bayes_fit(world *w, void *given)
{
    gram_bayes *fit = NULL;
    const gram_status status = gram_bayes_fit(w->context, w->x, w->y, given, &fit);
    if (fit) w->reported = gram_bayes_get_report(fit)->size;
    gram_bayes_destroy(fit);
    return status;
}

static gram_status features_create(world *w, void *given)
{
    gram_features *map = NULL;
    gram_kernel *kernel = NULL;
    gram_status status = gram_kernel_parse(w->context, "linear", &kernel);
    if (status >= 0) status = gram_features_create(w->context, kernel, gram_points_dimension(w->x), w->x, given, &map);
    if (map) w->reported = gram_features_get_report(map)->size;
    gram_features_destroy(map);
    gram_kernel_release(kernel);
    return status;
}

static gram_status spectral_density_create(world *w, void *given)
{
    gram_spectral_density *density = NULL;
    gram_kernel *kernel = NULL;
    gram_status status = gram_kernel_parse(w->context, "rbf(ell=1)", &kernel);
    (void)given;
    if (status >= 0) status = gram_spectral_density_create(w->context, kernel, 1, NULL, &density);
    if (density) w->reported = gram_spectral_density_get_report(density)->size;
    gram_spectral_density_destroy(density);
    gram_kernel_release(kernel);
    return status;
}

static gram_status mercer_fit(world *w, void *given)
{
    gram_mercer *fit = NULL;
    const gram_status status = gram_mercer_fit(w->context, w->kernel, w->x, given, &fit);
    if (fit) w->reported = gram_mercer_get_report(fit)->size;
    gram_mercer_destroy(fit);
    return status;
}

static gram_status pca_fit(world *w, void *given)
{
    gram_pca *fit = NULL;
    const gram_status status = gram_pca_fit(w->context, w->kernel, w->x, given, &fit);
    if (fit) w->reported = gram_pca_get_report(fit)->size;
    gram_pca_destroy(fit);
    return status;
}

static const int64_t network_widths[] = {5};

static const gram_network_options network_shape = {
    .size = sizeof network_shape, .inputs = 2, .outputs = 1, .depth = 1, .widths = network_widths, .sw = 1, .scale = 1};

static gram_status network_create(world *w, void *given)
{
    gram_network *network = NULL;
    const gram_status status = gram_network_create(w->context, given ? given : &network_shape, &network);
    if (network) w->reported = gram_network_get_options(network)->size;
    gram_network_destroy(network);
    return status;
}

static gram_status descent_create(world *w, void *given)
{
    gram_network *network = NULL;
    gram_descent *descent = NULL;
    OK(w->context, gram_network_create(w->context, &network_shape, &network));
    const gram_status status = gram_descent_create(w->context, network, w->x, w->y, 1, given, &descent);
    gram_descent_destroy(descent);
    gram_network_destroy(network);
    return status;
}

static gram_status cca_fit(world *w, void *given)
{
    gram_cca *fit = NULL;
    const gram_status status = gram_cca_fit(w->context, w->kernel, w->x, w->kernel, w->x, given, &fit);
    if (fit) w->reported = gram_cca_get_report(fit)->size;
    gram_cca_destroy(fit);
    return status;
}

static gram_status couple_fit(world *w, void *given)
{
    gram_couple *fit = NULL;
    const gram_status status = gram_couple_fit(w->context, w->kernel, w->x, w->kernel, w->x, given, &fit);
    if (fit) w->reported = gram_couple_get_report(fit)->size;
    gram_couple_destroy(fit);
    return status;
}

static gram_status cluster_fit(world *w, void *given)
{
    gram_cluster *fit = NULL;
    const gram_status status = gram_cluster_fit(w->context, w->kernel, w->x, given, &fit);
    if (fit) w->reported = gram_cluster_get_report(fit)->size;
    gram_cluster_destroy(fit);
    return status;
}

static gram_status logistic_fit(world *w, void *given)
{
    gram_logistic *fit = NULL;
    const gram_status status = gram_logistic_fit(w->context, w->kernel, w->x, CLASSES, w->classes, given, &fit);
    if (fit) w->reported = gram_logistic_get_report(fit)->size;
    gram_logistic_destroy(fit);
    return status;
}

static gram_status folds_make(world *w, void *given)
{
    int64_t fold[N];
    return gram_folds_make(w->context, N, given, fold);
}

static gram_status tune_logistic(world *w, const gram_logistic_tune_options *options, gram_grid_report *report)
{
    gram_kernel *tuned = NULL;
    const gram_status status = gram_logistic_tune(w->context, w->kernel, w->x, CLASSES, w->classes, options, &tuned,
                                                  w->spare, report, NULL, NULL, 0);
    gram_kernel_release(tuned);
    return status;
}

static gram_status logistic_tune(world *w, void *given)
{
    return tune_logistic(w, given, NULL);
}

static gram_status logistic_tune_report(world *w, void *given)
{
    return tune_logistic(w, NULL, given);
}

static gram_status loss_value(world *w, void *given)
{
    (void)w;
    return isnan(gram_loss_value(given, 0, -0.5)) ? GRAM_ERROR_ARGUMENT : GRAM_OK;
}

static gram_status flow_create(world *w, void *given)
{
    gram_flow *flow = NULL;
    const gram_status status = gram_flow_create(w->context, w->kernel, w->x, 1, w->y, 1, given, &flow);
    if (flow) w->reported = gram_flow_get_report(flow)->size;
    gram_flow_destroy(flow);
    return status;
}

static gram_status descend(world *w, const gram_flow_options *options, gram_flow_descent *report)
{
    const double time = 1;
    return gram_flow_descend(w->context, w->kernel, w->x, 1, w->y, 1, options, 1, &time, w->spare, w->spare + N,
                             report);
}

static gram_status flow_descend(world *w, void *given)
{
    return descend(w, given, NULL);
}

static gram_status flow_descend_report(world *w, void *given)
{
    return descend(w, NULL, given);
}

static gram_status tune_flow(world *w, const gram_flow_options *options, const gram_flow_tune_options *tune,
                             gram_grid_report *report)
{
    gram_kernel *tuned = NULL;
    const gram_status status =
        gram_flow_tune(w->context, w->kernel, w->x, 1, w->y, 1, options, tune, &tuned, w->spare, report);
    gram_kernel_release(tuned);
    return status;
}

static gram_status flow_tune_flow(world *w, void *given)
{
    return tune_flow(w, given, NULL, NULL);
}

static gram_status flow_tune(world *w, void *given)
{
    return tune_flow(w, NULL, given, NULL);
}

static gram_status flow_tune_report(world *w, void *given)
{
    return tune_flow(w, NULL, NULL, given);
}

static gram_status loss_fit(world *w, void *given)
{
    gram_loss *fit = NULL;
    const gram_status status = gram_loss_fit(w->context, w->kernel, w->x, w->y, given, &fit);
    if (fit) w->reported = gram_loss_get_report(fit)->size;
    gram_loss_destroy(fit);
    return status;
}

static gram_status tune_loss(world *w, const gram_loss_tune_options *options, gram_grid_report *report)
{
    gram_kernel *tuned = NULL;
    const gram_status status =
        gram_loss_tune(w->context, w->kernel, w->x, w->y, options, &tuned, w->spare, report, NULL, NULL, 0);
    gram_kernel_release(tuned);
    return status;
}

static gram_status loss_tune(world *w, void *given)
{
    return tune_loss(w, given, NULL);
}

static gram_status loss_tune_report(world *w, void *given)
{
    return tune_loss(w, NULL, given);
}

static gram_status svm_fit(world *w, void *given)
{
    gram_svm *fit = NULL;
    const gram_status status = gram_svm_fit(w->context, w->kernel, w->x, w->classes, given, &fit);
    if (fit) w->reported = gram_svm_get_report(fit)->size;
    gram_svm_destroy(fit);
    return status;
}

static gram_status tune_svm(world *w, const gram_svm_options *machine, const gram_svm_tune_options *options,
                            gram_svm_tune_report *report)
{
    gram_kernel *tuned = NULL;
    const gram_status status =
        gram_svm_tune(w->context, w->kernel, w->x, w->classes, machine, options, &tuned, w->spare, NULL, NULL, report);
    gram_kernel_release(tuned);
    return status;
}

static gram_status svm_tune_machine(world *w, void *given)
{
    return tune_svm(w, given, NULL, NULL);
}

static gram_status svm_tune_options(world *w, void *given)
{
    return tune_svm(w, NULL, given, NULL);
}

static gram_status svm_tune_report(world *w, void *given)
{
    return tune_svm(w, NULL, NULL, given);
}

static gram_status test_mmd(world *w, const gram_mmd_options *options, gram_mmd_result *result)
{
    const gram_status status = gram_mmd_test(w->context, w->kernel, w->x, w->other, options, result);
    gram_mmd_result_clear(result);
    return status;
}

static gram_status mmd_test(world *w, void *given)
{
    gram_mmd_result result = {.size = sizeof result};
    return test_mmd(w, given, &result);
}

static gram_status mmd_test_result(world *w, void *given)
{
    return test_mmd(w, NULL, given);
}

static gram_status test_hsic(world *w, const gram_hsic_options *options, gram_hsic_result *result)
{
    const gram_points *points[2] = {w->x, w->other};
    const gram_status status = gram_hsic_test(w->context, 2, NULL, points, options, result);
    gram_hsic_result_clear(result);
    return status;
}

static gram_status hsic_test(world *w, void *given)
{
    gram_hsic_result result = {.size = sizeof result};
    return test_hsic(w, given, &result);
}

static gram_status hsic_test_result(world *w, void *given)
{
    return test_hsic(w, NULL, given);
}

static gram_status test_stein(world *w, const gram_stein_test_options *options, gram_stein_test_result *result)
{
    gram_kernel *imq = test_kernel(w->context, "imq(c=1, beta=0.5)");
    test_uniform(7, 2 * N, -1, 1, w->spare);
    gram_status status = gram_stein_test(w->context, imq, w->x, w->spare, 2, options, result);
    if (status >= 0) status = gram_stein_test_many(w->context, 1, &imq, w->x, w->spare, 2, options, result);
    gram_kernel_release(imq);
    return status;
}

static gram_status stein_test(world *w, void *given)
{
    gram_stein_test_result result = {.size = sizeof result};
    return test_stein(w, given, &result);
}

static gram_status stein_test_result(world *w, void *given)
{
    return test_stein(w, NULL, given);
}

static gram_status test_law(world *w, const gram_law_test_options *options, gram_law_test_result *result)
{
    gram_law *law = NULL;
    OK(w->context, gram_law_of_points(w->context, w->x, NULL, &law));
    const gram_status status = gram_law_test(w->context, w->kernel, w->x, law, options, result);
    gram_law_release(law);
    return status;
}

static gram_status law_test(world *w, void *given)
{
    gram_law_test_result result = {.size = sizeof result};
    return test_law(w, given, &result);
}

static gram_status law_test_result(world *w, void *given)
{
    return test_law(w, NULL, given);
}

static gram_status thin(world *w, void *given)
{
    int64_t index[5];
    return gram_thin(w->context, w->kernel, w->x, NULL, 0, given, 5, index, NULL);
}

/* A study of one variable, with one point asked for. */
static gram_status with_study(world *w, const void *options, void *proposal, void *trial, void *back)
{
    const gram_variable variable = {.name = "x", .lower = 0, .upper = 1};
    gram_study *study = NULL;
    double x;
    gram_status status = gram_study_create(w->context, 1, &variable, options, &study);
    if (status >= 0) status = gram_study_ask(w->context, study, &x, proposal);
    if (status >= 0 && trial) status = gram_study_trial(w->context, study, 0, trial);
    if (status >= 0 && back) status = gram_study_get_options(w->context, study, back);
    gram_study_destroy(study);
    return status;
}

static gram_status study_create(world *w, void *given)
{
    return with_study(w, given, NULL, NULL, NULL);
}

static gram_status study_ask(world *w, void *given)
{
    return with_study(w, NULL, given, NULL, NULL);
}

static gram_status study_trial(world *w, void *given)
{
    return with_study(w, NULL, NULL, given, NULL);
}

static gram_status study_get_options(world *w, void *given)
{
    return with_study(w, NULL, NULL, NULL, given);
}

static gram_status study_begin(world *w, void *given)
{
    const char *const text = "x=0:1";
    gram_variables *variables = NULL;
    gram_study *study = NULL;
    gram_status status = gram_variables_parse(w->context, 1, &text, &variables);
    if (status >= 0) status = gram_study_begin(w->context, variables, given, 0, NULL, NULL, 0, &study);
    gram_study_destroy(study);
    gram_variables_destroy(variables);
    return status;
}

static gram_status study_run(world *w, void *given)
{
    const gram_variable variable = {.name = "x", .lower = 0, .upper = 1};
    gram_study *study = NULL;
    gram_status status = gram_study_create(w->context, 1, &variable, NULL, &study);
    if (status >= 0) status = gram_study_run(w->context, study, given, NULL);
    gram_study_destroy(study);
    return status;
}

static gram_status spectrum_create(world *w, void *given)
{
    gram_spectrum *made = NULL;
    const gram_status status = gram_spectrum_create(w->context, w->kernel, w->x, given, &made);
    if (made) w->reported = gram_spectrum_get_report(made)->size;
    gram_spectrum_destroy(made);
    return status;
}

static gram_status score_sum_up(world *w, void *given)
{
    const gram_classes none = {0};
    const gram_columns columns = {.outputs = 1, .ld = 1, .classes = &none, .std = -1, .spread = -1, .lower = -1};
    gram_score *score = NULL;
    gram_status status = gram_score_create(w->context, &columns, &score);
    if (status == GRAM_OK) status = gram_score_add(w->context, score, N, w->y, 1, w->y, 1);
    if (status == GRAM_OK) status = gram_score_sum_up(w->context, score, given);
    gram_score_destroy(score);
    return status;
}

/* Two folds of a straight line, or one baseline; `report` of either, NULL: none. */
static gram_status with_folds(world *w, const void *cv_options, const void *compare_options, void *cv_report,
                              void *compare_report)
{
    gram_learner *learner = NULL;
    gram_table *table = NULL;
    gram_cv *cv = NULL;
    gram_comparison *comparison = NULL;
    gram_compare_options quick;
    gram_arrays arrays;
    gram_arrays_start(&arrays, sizeof arrays);
    gram_compare_options_init(&quick, sizeof quick);
    quick.methods = "mean";
    OK(w->context, gram_arrays_table(w->context, &arrays, &table));
    OK(w->context, gram_learner_create(w->context, &learner));
    OK(w->context, gram_learner_set(w->context, learner, "kernel", "rbf(ell=1)"));
    OK(w->context, gram_learner_set(w->context, learner, "lambda", "0.1"));
    gram_status status = gram_cv_table(w->context, learner, table, "t", cv_options, &cv);
    if (status == GRAM_OK && cv_report) status = gram_cv_get_report(w->context, cv, cv_report);
    if (status == GRAM_OK)
        status = gram_compare_table(w->context, learner, table, "t", compare_options ? compare_options : &quick,
                                    &comparison);
    if (status == GRAM_OK && compare_report) status = gram_comparison_get_report(w->context, comparison, compare_report);
    gram_comparison_destroy(comparison);
    gram_cv_destroy(cv);
    gram_learner_destroy(learner);
    gram_table_destroy(table);
    return status;
}

static gram_status cv_table(world *w, void *given)
{
    return with_folds(w, given, NULL, NULL, NULL);
}

static gram_status cv_get_report(world *w, void *given)
{
    return with_folds(w, NULL, NULL, given, NULL);
}

static gram_status compare_table(world *w, void *given)
{
    return with_folds(w, NULL, given, NULL, NULL);
}

static gram_status comparison_get_report(world *w, void *given)
{
    return with_folds(w, NULL, NULL, NULL, given);
}

static gram_status explain_table(world *w, void *given)
{
    gram_table *table = NULL;
    gram_explanation *made = NULL;
    gram_arrays arrays;
    gram_arrays_start(&arrays, sizeof arrays);
    OK(w->context, gram_arrays_table(w->context, &arrays, &table));
    const gram_status status = gram_explain_table(w->context, w->model, table, "t", given, &made);
    gram_explanation_destroy(made);
    gram_table_destroy(table);
    return status;
}

static gram_status preparation_learn(world *w, void *given)
{
    gram_preparation *made = NULL;
    const gram_status status = gram_preparation_learn(w->context, w->table, given, &made);
    gram_preparation_release(made);
    return status;
}

static gram_status preparation_learn_both(world *w, void *given)
{
    gram_preparation *made = NULL;
    const gram_status status = gram_preparation_learn_both(w->context, w->table, w->table, given, &made);
    gram_preparation_release(made);
    return status;
}

static gram_status preparation_reading(world *w, void *given)
{
    return gram_preparation_reading(w->preparation, given);
}

static gram_status table_read(world *w, void *given)
{
    gram_table *made = NULL;
    FILE *file = fopen("test_abi.csv", "wb");
    assert_non_null(file);
    assert_int_equal(fputs(csv, file) >= 0 && fclose(file) == 0, 1);
    const gram_status status = gram_table_read(w->context, "test_abi.csv", given, &made);
    gram_table_destroy(made);
    (void)remove("test_abi.csv");
    return status;
}

static gram_status scored_points_read(world *w, void *given)
{
    gram_scored_points *made = NULL;
    FILE *file = fopen("test_abi_scored.csv", "wb");
    assert_non_null(file);
    assert_int_equal(fputs("a,b\n1,2\n3,5\n4,4\n", file) >= 0 && fclose(file) == 0, 1);
    const gram_status status = gram_scored_points_read(w->context, "test_abi_scored.csv", given, &made);
    if (made) w->reported = gram_scored_points_get_report(made)->size;
    gram_scored_points_destroy(made);
    (void)remove("test_abi_scored.csv");
    return status;
}

static gram_status draw_points(world *w, void *given)
{
    gram_draw_points *made = NULL;
    (void)given;
    const gram_status status = gram_draw_points_of_grid(w->context, "0:1:5", NULL, &made);
    if (made) w->reported = gram_draw_points_get_report(made)->size;
    gram_draw_points_destroy(made);
    return status;
}

static gram_status sample_read(world *w, void *given)
{
    gram_sample *made = NULL;
    FILE *file = fopen("test_abi_sample.csv", "wb");
    assert_non_null(file);
    assert_int_equal(fputs("a,b\n1,2\n3,5\n4,4\n", file) >= 0 && fclose(file) == 0, 1);
    const gram_status status = gram_sample_read(w->context, "test_abi_sample.csv", given, 0, NULL, &made);
    if (made) w->reported = gram_sample_get_report(made)->size;
    gram_sample_destroy(made);
    (void)remove("test_abi_sample.csv");
    return status;
}

static gram_status sample_read_pair(world *w, void *given)
{
    gram_sample *made[2] = {NULL, NULL};
    FILE *file = fopen("test_abi_pair.csv", "wb");
    assert_non_null(file);
    assert_int_equal(fputs("a,b\n1,2\n3,5\n4,4\n", file) >= 0 && fclose(file) == 0, 1);
    const gram_status status = gram_sample_read_pair(w->context, "test_abi_pair.csv", "test_abi_pair.csv", given, made);
    for (int i = 0; i < 2; i++) gram_sample_destroy(made[i]);
    (void)remove("test_abi_pair.csv");
    return status;
}

static gram_status table_read_memory(world *w, void *given)
{
    gram_table *made = NULL;
    const gram_status status = gram_table_read_memory(w->context, "t.csv", csv, sizeof csv - 1, given, &made);
    gram_table_destroy(made);
    return status;
}

static gram_status reader_open(world *w, void *given)
{
    gram_reader *made = NULL;
    FILE *file = fopen("test_abi_reader.csv", "wb");
    assert_non_null(file);
    assert_int_equal(fputs(csv, file) >= 0 && fclose(file) == 0, 1);
    const gram_status status = gram_reader_open(w->context, "test_abi_reader.csv", given, &made);
    gram_reader_close(made);
    (void)remove("test_abi_reader.csv");
    return status;
}

static gram_status reader_open_memory(world *w, void *given)
{
    gram_reader *made = NULL;
    const gram_status status = gram_reader_open_memory(w->context, "t.csv", csv, sizeof csv - 1, given, &made);
    gram_reader_close(made);
    return status;
}

static gram_status arrays_table(world *w, void *given)
{
    gram_table *table = NULL;
    const gram_status status = gram_arrays_table(w->context, given, &table);
    gram_table_destroy(table);
    return status;
}

static gram_status learn_arrays_given(world *w, void *given)
{
    gram_model *model;
    const gram_status status = learn_arrays(w->context, given, &model);
    gram_model_destroy(model);
    return status;
}

static gram_status predictor_create(world *w, void *given)
{
    gram_predictor *predictor = NULL;
    const gram_status status = gram_predictor_create(w->context, w->model, given, &predictor);
    gram_predictor_destroy(predictor);
    return status;
}

static gram_status picture_of_learner(world *w, void *given)
{
    gram_arrays arrays;
    gram_learner *learner = NULL;
    gram_model *model = NULL;
    gram_picture *picture = NULL;
    gram_arrays_start(&arrays, sizeof arrays);
    OK(w->context, gram_learner_create(w->context, &learner));
    OK(w->context, gram_learner_set(w->context, learner, "lambda", "0.1"));
    OK(w->context, gram_learner_set(w->context, learner, "kernel", "rbf(ell=1)"));
    OK(w->context, gram_learn_arrays(w->context, learner, &arrays, &model));
    const gram_status status = gram_picture_of_learner(w->context, learner, model, given, &picture);
    gram_picture_destroy(picture);
    gram_model_destroy(model);
    gram_learner_destroy(learner);
    return status;
}

static gram_status picture_of_predictions(world *w, void *given)
{
    const gram_prepared data = {.n = N, .d = 2, .table_rows = N, .x = w->numbers, .targets = 1, .y = w->y};
    const gram_predicted piece = {&data, w->spare, 0, NULL};
    gram_predictor *predictor = NULL;
    gram_seen_rows *rows = NULL;
    gram_picture *picture = NULL;
    OK(w->context, gram_predictor_create(w->context, w->model, NULL, &predictor));
    OK(w->context, gram_predictor_evaluate(w->context, predictor, N, data.x, NULL, w->spare,
                                           gram_predictor_columns(predictor)->ld));
    OK(w->context, gram_seen_rows_create(w->context, predictor, &rows));
    OK(w->context, gram_seen_rows_add(w->context, rows, &piece));
    const gram_status status = gram_picture_of_predictions(w->context, rows, given, &picture);
    gram_picture_destroy(picture);
    gram_seen_rows_destroy(rows);
    gram_predictor_destroy(predictor);
    return status;
}

static gram_status predict(world *w, void *given)
{
    return gram_predict(w->context, w->model, given, N, w->numbers, 2, w->spare, 1);
}

static gram_status method_describe(world *w, void *given)
{
    (void)w;
    return gram_method_describe(0, given);
}

static gram_status made_describe(world *w, void *given)
{
    (void)w;
    return gram_made_describe(0, given);
}

static gram_status method_option(world *w, void *given)
{
    (void)w;
    return gram_method_option(0, 0, given);
}

static gram_status option_describe(world *w, void *given)
{
    (void)w;
    return gram_option_describe(NULL, 0, given, NULL);
}

static gram_status sampler_draw(world *w, void *given)
{
    gram_sampler *sampler = NULL;
    gram_status status = gram_sampler_of_kernel(w->context, w->kernel, &sampler);
    if (status == GRAM_OK) status = gram_sampler_draw(w->context, sampler, w->x, 1, 0, w->spare, 1, given);
    gram_sampler_destroy(sampler);
    return status;
}

static gram_status laplace_model(world *w, void *given)
{
    gram_laplace *fit = NULL;
    gram_model *model = NULL;
    OK(w->context, gram_laplace_fit(w->context, w->kernel, w->x, w->classes, NULL, &fit));
    const gram_status status = gram_laplace_model(w->context, fit, w->classes, given, NULL, NULL, &model);
    gram_model_destroy(model);
    gram_laplace_destroy(fit);
    return status;
}

static gram_status gp_model(world *w, void *given)
{
    gram_gp *fit = NULL;
    gram_model *model = NULL;
    OK(w->context, gram_gp_fit(w->context, w->kernel, w->x, w->y, NULL, &fit));
    const gram_status status = gram_gp_model(w->context, fit, w->y, given, NULL, &model);
    gram_model_destroy(model);
    gram_gp_destroy(fit);
    return status;
}

static gram_status loss_model(world *w, void *given)
{
    gram_loss *fit = NULL;
    gram_model *model = NULL;
    OK(w->context, gram_loss_fit(w->context, w->kernel, w->x, w->y, NULL, &fit));
    const gram_status status = gram_loss_model(w->context, fit, given, NULL, &model);
    gram_model_destroy(model);
    gram_loss_destroy(fit);
    return status;
}

/* A result that was never filled holds nothing; without a size nothing of it is looked at. */
static gram_status mmd_result_clear(world *w, void *given)
{
    (void)w;
    gram_mmd_result_clear(given);
    return *(size_t *)given ? GRAM_OK : GRAM_ERROR_ARGUMENT;
}

static gram_status test_given(world *w, const gram_hsic_options *options, gram_hsic_given_result *result)
{
    double third[N];
    test_uniform(77, N, -1, 1, third);
    gram_points *given = test_points(w->context, N, 1, third);
    const gram_points *points[3] = {w->x, w->other, given};
    const gram_status status = gram_hsic_given_test(w->context, NULL, points, options, result);
    gram_hsic_given_result_clear(result);
    gram_points_release(given);
    return status;
}

static gram_status hsic_given_test(world *w, void *given)
{
    gram_hsic_given_result result = {.size = sizeof result};
    return test_given(w, given, &result);
}

static gram_status hsic_given_test_result(world *w, void *given)
{
    return test_given(w, NULL, given);
}

static gram_status hsic_given_result_clear(world *w, void *given)
{
    (void)w;
    gram_hsic_given_result_clear(given);
    return *(size_t *)given ? GRAM_OK : GRAM_ERROR_ARGUMENT;
}

static gram_status hsic_result_clear(world *w, void *given)
{
    (void)w;
    gram_hsic_result_clear(given);
    return *(size_t *)given ? GRAM_OK : GRAM_ERROR_ARGUMENT;
}

/* ---- the _init functions ---- */

typedef void (*init_fn)(void *made, size_t size);

#define INIT(type)                                                                                                     \
    static void type##_start(void *made, size_t size)                                                                  \
    {                                                                                                                  \
        type##_init(made, size);                                                                                       \
    }

INIT(gram_cg_options)
INIT(gram_context_options)
INIT(gram_collective)
INIT(gram_folds_options)
INIT(gram_gp_options)
INIT(gram_gp_cg_options)
INIT(gram_gp_inducing_options)
INIT(gram_gp_vecchia_options)
INIT(gram_gp_path_options)
INIT(gram_gp_tune_options)
INIT(gram_hsic_options)
INIT(gram_hsic_result)
INIT(gram_hsic_given_result)
INIT(gram_bayes_options)
INIT(gram_spline_options)
INIT(gram_krr_options)
INIT(gram_laplace_options)
INIT(gram_laplace_tune_options)
INIT(gram_logistic_options)
INIT(gram_logistic_tune_options)
INIT(gram_flow_options)
INIT(gram_flow_tune_options)
INIT(gram_loss_options)
INIT(gram_loss_tune_options)
INIT(gram_cca_options)
INIT(gram_compare_options)
INIT(gram_cv_options)
INIT(gram_explain_options)
INIT(gram_cluster_options)
INIT(gram_couple_options)
INIT(gram_features_options)
INIT(gram_mercer_options)
INIT(gram_pca_options)
INIT(gram_mmd_options)
INIT(gram_mmd_result)
INIT(gram_picture_options)
INIT(gram_predict_options)
INIT(gram_preparation_options)
INIT(gram_sample_options)
INIT(gram_scored_options)
INIT(gram_spectrum_options)
INIT(gram_stein_test_options)
INIT(gram_law_test_options)
INIT(gram_study_options)
INIT(gram_svm_options)
INIT(gram_svm_tune_options)
INIT(gram_table_options)
INIT(gram_thin_options)
INIT(gram_krr_tune_options)

INIT(gram_descent_options)

/* A network has inputs and units. */
static void gram_network_options_start(void *made, size_t size)
{
    gram_network_options *options = made;
    gram_network_options_init(made, size);
    if (!made) return;
    if (size >= offsetof(gram_network_options, inputs) + sizeof options->inputs) options->inputs = 2;
    if (size >= offsetof(gram_network_options, widths) + sizeof options->widths) options->widths = network_widths;
}

/* A search has a command, a budget and somebody who runs it: here all runs end at once with 0. */
static int start_nothing(void *argument, int64_t slot, char *const *words)
{
    (void)argument, (void)slot, (void)words;
    return 0;
}

static int64_t wait_for_nothing(void *argument, const char **line, const char **why)
{
    (void)argument, (void)why;
    *line = "0";
    return 0;
}

static void gram_study_run_options_start(void *made, size_t size)
{
    static const char *const command[] = {"{x}", NULL};
    gram_study_run_options *options = made;
    gram_study_run_options_init(made, size);
    if (!made) return;
    if (size >= offsetof(gram_study_run_options, budget)) options->command = command;
    if (size >= offsetof(gram_study_run_options, start)) options->budget = 1;
    if (size >= offsetof(gram_study_run_options, wait)) options->start = start_nothing;
    if (size >= offsetof(gram_study_run_options, argument)) options->wait = wait_for_nothing;
}

/* A plan is asked for something, or it is refused. */
static void gram_krr_plan_request_start(void *made, size_t size)
{
    gram_krr_plan_request *request = made;
    gram_krr_plan_request_init(made, size);
    if (!made) return;
    if (size >= offsetof(gram_krr_plan_request, n) + sizeof request->n) request->n = 100;
    if (size >= offsetof(gram_krr_plan_request, d) + sizeof request->d) request->d = 2;
}

static void set_size(void *made, size_t size)
{
    memset(made, 0, size);
    memcpy(made, &size, sizeof size);
}

/* ---- the table ---- */

typedef enum role { OPTIONS, REPORT } role;

typedef struct use {
    const char *function, *type, *name; /* name: of the argument, as messages have it; NULL: there is no message */
    role role;
    size_t size, least; /* least: a shorter struct lacks what the function cannot do without */
    init_fn start;
    gram_status (*call)(world *w, void *given);
} use;

#define READS(function, type, name, call)                                                                              \
    {                                                                                                                  \
#function, #type, name, OPTIONS, sizeof(type), 0, type##_start, call                                           \
    }
#define FILLS(function, type, name, call)                                                                              \
    {                                                                                                                  \
#function, #type, name, REPORT, sizeof(type), 0, set_size, call                                                \
    }

static const use uses[] = {
    READS(gram_context_create, gram_context_options, NULL, context_create),
    READS(gram_context_set_collective, gram_collective, "context_set_collective: table", set_collective),
    FILLS(gram_context_collective_report, gram_collective_report, "context_collective_report: report",
          collective_report),
    FILLS(gram_context_checkpoint_report, gram_checkpoint_report, "context_checkpoint_report: report",
          checkpoint_report),
    READS(gram_cg_solve, gram_cg_options, "cg_solve: options", cg_solve),
    FILLS(gram_cg_solve, gram_cg_report, "cg_solve: report", cg_solve_report),
    READS(gram_gp_likelihood, gram_gp_options, "gp_likelihood: options", gp_likelihood),
    READS(gram_gp_fit, gram_gp_options, "gp_fit: options", gp_fit),
    READS(gram_gp_tune, gram_gp_options, "gp_tune: options", gp_tune_options),
    READS(gram_gp_tune, gram_gp_tune_options, "gp_tune: tune", gp_tune_tune),
    FILLS(gram_gp_tune, gram_gp_tune_report, "gp_tune: report", gp_tune_report),
    READS(gram_gp_objective_value, gram_gp_options, "gp_objective_value: options", gp_objective_value),
    READS(gram_markov_tune, gram_gp_options, "markov_tune: options", markov_tune_options),
    READS(gram_markov_tune, gram_gp_tune_options, "markov_tune: tune", markov_tune_tune),
    FILLS(gram_markov_tune, gram_gp_tune_report, "markov_tune: report", markov_tune_report),
    READS(gram_gp_fit, gram_gp_cg_options, "gp_fit: options.cg", gp_fit_cg),
    READS(gram_gp_fit, gram_gp_inducing_options, "gp_fit: options.inducing", gp_fit_inducing),
    READS(gram_gp_fit, gram_gp_vecchia_options, "gp_fit: options.vecchia", gp_fit_vecchia),
    READS(gram_gp_plan, gram_gp_options, "gp_plan: options", gp_plan),
    READS(gram_gp_path_create, gram_gp_path_options, "gp_path_create: options", gp_path_create),
    FILLS(gram_gp_describe, gram_gp_parts, NULL, gp_describe),
    {"gram_gp_create", "gram_gp_parts", "gp_create: parts", REPORT, sizeof(gram_gp_parts),
     offsetof(gram_gp_parts, mean_weights), set_size, gp_create},
    FILLS(gram_gp_read_parts, gram_gp_parts, "gp_read_parts: parts", gp_read_parts),
    READS(gram_folds_make, gram_folds_options, "folds_make: options", folds_make),
    READS(gram_bayes_fit, gram_bayes_options, "bayes_fit: options", bayes_fit),
    READS(gram_spline_fit, gram_spline_options, "spline_fit: options", spline_fit),
    READS(gram_krr_fit, gram_krr_options, "krr_fit: options", krr_fit),
    READS(gram_krr_fold_residuals, gram_krr_options, "krr_fold_residuals: options", krr_fold_residuals),
    READS(gram_krr_path, gram_krr_options, "krr_path: options", krr_path),
    READS(gram_krr_tune, gram_krr_tune_options, "krr_tune: options", krr_tune),
    FILLS(gram_krr_tune, gram_krr_tune_report, "krr_tune: report", krr_tune_report),
    READS(gram_krr_criterion, gram_krr_tune_options, "krr_criterion: options", krr_criterion),
    {"gram_krr_plan", "gram_krr_plan_request", "krr_plan: request", OPTIONS, sizeof(gram_krr_plan_request),
     offsetof(gram_krr_plan_request, outputs), gram_krr_plan_request_start, krr_plan},
    READS(gram_laplace_evidence, gram_laplace_options, "laplace_evidence: options", laplace_evidence),
    READS(gram_gp_model, gram_gp_options, "gp_model: options", gp_model),
    READS(gram_laplace_model, gram_laplace_options, "laplace_model: options", laplace_model),
    READS(gram_loss_model, gram_loss_options, "loss_model: options", loss_model),
    READS(gram_laplace_fit, gram_laplace_options, "laplace_fit: options", laplace_fit),
    READS(gram_laplace_tune, gram_laplace_tune_options, "laplace_tune: options", laplace_tune),
    FILLS(gram_laplace_tune, gram_laplace_tune_report, "laplace_tune: report", laplace_tune_report),
    READS(gram_cca_fit, gram_cca_options, "cca_fit: options", cca_fit),
    READS(gram_couple_fit, gram_couple_options, "couple_fit: options", couple_fit),
    READS(gram_cluster_fit, gram_cluster_options, "cluster_fit: options", cluster_fit),
    READS(gram_features_create, gram_features_options, "features_create: options", features_create),
    READS(gram_mercer_fit, gram_mercer_options, "mercer_fit: options", mercer_fit),
    READS(gram_pca_fit, gram_pca_options, "pca_fit: options", pca_fit),
    {"gram_network_create", "gram_network_options", "network_create: options", OPTIONS, sizeof(gram_network_options),
     offsetof(gram_network_options, activation), gram_network_options_start, network_create},
    READS(gram_descent_create, gram_descent_options, "descent_create: options", descent_create),
    READS(gram_logistic_fit, gram_logistic_options, "logistic_fit: options", logistic_fit),
    READS(gram_logistic_tune, gram_logistic_tune_options, "logistic_tune: options", logistic_tune),
    FILLS(gram_logistic_tune, gram_grid_report, "logistic_tune: report", logistic_tune_report),
    READS(gram_loss_value, gram_loss_options, NULL, loss_value),
    READS(gram_flow_create, gram_flow_options, "flow_create: options", flow_create),
    READS(gram_flow_descend, gram_flow_options, "flow_descend: options", flow_descend),
    FILLS(gram_flow_descend, gram_flow_descent, "flow_descend: report", flow_descend_report),
    READS(gram_flow_tune, gram_flow_options, "flow_tune: options", flow_tune_flow),
    READS(gram_flow_tune, gram_flow_tune_options, "flow_tune: tune", flow_tune),
    FILLS(gram_flow_tune, gram_grid_report, "flow_tune: report", flow_tune_report),
    READS(gram_loss_fit, gram_loss_options, "loss_fit: options", loss_fit),
    READS(gram_loss_tune, gram_loss_tune_options, "loss_tune: options", loss_tune),
    FILLS(gram_loss_tune, gram_grid_report, "loss_tune: report", loss_tune_report),
    READS(gram_svm_fit, gram_svm_options, "svm_fit: options", svm_fit),
    READS(gram_svm_tune, gram_svm_options, "svm_tune: options", svm_tune_machine),
    READS(gram_svm_tune, gram_svm_tune_options, "svm_tune: tune", svm_tune_options),
    FILLS(gram_svm_tune, gram_svm_tune_report, "svm_tune: report", svm_tune_report),
    READS(gram_mmd_test, gram_mmd_options, "mmd_test: options", mmd_test),
    FILLS(gram_mmd_test, gram_mmd_result, "mmd_test: result", mmd_test_result),
    FILLS(gram_mmd_result_clear, gram_mmd_result, NULL, mmd_result_clear),
    READS(gram_hsic_test, gram_hsic_options, "hsic_test: options", hsic_test),
    FILLS(gram_hsic_test, gram_hsic_result, "hsic_test: result", hsic_test_result),
    FILLS(gram_hsic_result_clear, gram_hsic_result, NULL, hsic_result_clear),
    READS(gram_hsic_given_test, gram_hsic_options, "hsic_given_test: options", hsic_given_test),
    FILLS(gram_hsic_given_test, gram_hsic_given_result, "hsic_given_test: result", hsic_given_test_result),
    FILLS(gram_hsic_given_result_clear, gram_hsic_given_result, NULL, hsic_given_result_clear),
    READS(gram_stein_test, gram_stein_test_options, "stein_test: options", stein_test),
    FILLS(gram_stein_test, gram_stein_test_result, "stein_test: result", stein_test_result),
    READS(gram_stein_test_many, gram_stein_test_options, "stein_test: options", stein_test),
    FILLS(gram_stein_test_many, gram_stein_test_result, "stein_test: result", stein_test_result),
    READS(gram_law_test, gram_law_test_options, "law_test: options", law_test),
    FILLS(gram_law_test, gram_law_test_result, "law_test: result", law_test_result),
    READS(gram_thin, gram_thin_options, "thin: options", thin),
    READS(gram_study_create, gram_study_options, "study_create: options", study_create),
    READS(gram_study_begin, gram_study_options, "study_begin: options", study_begin),
    {"gram_study_run", "gram_study_run_options", "study_run: options", OPTIONS, sizeof(gram_study_run_options),
     offsetof(gram_study_run_options, argument), gram_study_run_options_start, study_run},
    FILLS(gram_study_ask, gram_proposal, "study_ask: proposal", study_ask),
    FILLS(gram_study_trial, gram_trial, "study_trial: trial", study_trial),
    FILLS(gram_study_get_options, gram_study_options, "study_get_options: options", study_get_options),
    READS(gram_spectrum_create, gram_spectrum_options, "spectrum_create: options", spectrum_create),
    READS(gram_cv_table, gram_cv_options, "cv_table: options", cv_table),
    READS(gram_compare_table, gram_compare_options, "compare_table: options", compare_table),
    FILLS(gram_cv_get_report, gram_cv_report, "cv_get_report: report", cv_get_report),
    FILLS(gram_comparison_get_report, gram_cv_report, "comparison_get_report: report", comparison_get_report),
    READS(gram_explain_table, gram_explain_options, "explain_table: options", explain_table),
    FILLS(gram_score_sum_up, gram_score_report, "score_sum_up: report", score_sum_up),
    READS(gram_preparation_learn, gram_preparation_options, "preparation_learn: options", preparation_learn),
    READS(gram_preparation_learn_both, gram_preparation_options, "preparation_learn_both: options",
          preparation_learn_both),
    READS(gram_preparation_reading, gram_table_options, NULL, preparation_reading),
    READS(gram_scored_points_read, gram_scored_options, "scored_points_read: options", scored_points_read),
    READS(gram_sample_read, gram_sample_options, "sample_read: options", sample_read),
    READS(gram_sample_read_pair, gram_sample_options, "sample_read_pair: options", sample_read_pair),
    READS(gram_table_read, gram_table_options, "table_read: options", table_read),
    READS(gram_table_read_memory, gram_table_options, "table_read: options", table_read_memory),
    READS(gram_reader_open, gram_table_options, "table_read: options", reader_open),
    {"gram_learn_arrays", "gram_arrays", "learn_arrays: arrays", OPTIONS, sizeof(gram_arrays),
     offsetof(gram_arrays, weights), gram_arrays_start, learn_arrays_given},
    {"gram_arrays_table", "gram_arrays", "arrays_table: arrays", OPTIONS, sizeof(gram_arrays),
     offsetof(gram_arrays, weights), gram_arrays_start, arrays_table},
    READS(gram_predictor_create, gram_predict_options, "predictor_create: options", predictor_create),
    READS(gram_predict, gram_predict_options, "predictor_create: options", predict),
    READS(gram_picture_of_learner, gram_picture_options, "picture_of_learner: options", picture_of_learner),
    READS(gram_picture_of_predictions, gram_picture_options, "picture_of_predictions: options", picture_of_predictions),
    FILLS(gram_method_describe, gram_method_facts, NULL, method_describe),
    FILLS(gram_made_describe, gram_made_facts, NULL, made_describe),
    FILLS(gram_method_option, gram_option_facts, NULL, method_option),
    FILLS(gram_option_describe, gram_option_facts, NULL, option_describe),
    FILLS(gram_sampler_draw, gram_draw_report, "sampler_draw: report", sampler_draw),
    READS(gram_reader_open_memory, gram_table_options, "table_read: options", reader_open_memory),
};

enum { USES = sizeof uses / sizeof *uses };

/* Reports that belong to the library: they say their size. */
static const struct owned {
    const char *function, *type;
    size_t size;
    gram_status (*call)(world *w, void *given);
} owned[] = {
#define OWNS(function, type, call)                                                                                     \
    {                                                                                                                  \
#function, #type, sizeof(type), call                                                                           \
    }
    OWNS(gram_gp_get_report, gram_gp_report, gp_fit),
    OWNS(gram_bayes_get_report, gram_bayes_report, bayes_fit),
    OWNS(gram_spline_get_report, gram_spline_report, spline_fit),
    OWNS(gram_krr_get_report, gram_krr_report, krr_fit),
    OWNS(gram_laplace_get_report, gram_laplace_report, laplace_fit),
    OWNS(gram_cca_get_report, gram_cca_report, cca_fit),
    OWNS(gram_couple_get_report, gram_couple_report, couple_fit),
    OWNS(gram_cluster_get_report, gram_cluster_report, cluster_fit),
    OWNS(gram_features_get_report, gram_features_report, features_create),
    OWNS(gram_spectral_density_get_report, gram_spectral_report, spectral_density_create),
    OWNS(gram_mercer_get_report, gram_mercer_report, mercer_fit),
    OWNS(gram_pca_get_report, gram_pca_report, pca_fit),
    OWNS(gram_network_get_options, gram_network_options, network_create),
    OWNS(gram_logistic_get_report, gram_logistic_report, logistic_fit),
    OWNS(gram_flow_get_report, gram_flow_report, flow_create),
    OWNS(gram_loss_get_report, gram_loss_report, loss_fit),
    OWNS(gram_draw_points_get_report, gram_draw_points_report, draw_points),
    OWNS(gram_sample_get_report, gram_sample_report, sample_read),
    OWNS(gram_scored_points_get_report, gram_scored_report, scored_points_read),
    OWNS(gram_spectrum_get_report, gram_spectrum_report, spectrum_create),
    OWNS(gram_svm_get_report, gram_svm_report, svm_fit),
};

/* Every _init, also of structs that several functions read. */
#define STARTS(type)                                                                                                   \
    {                                                                                                                  \
#type "_init", #type, NULL, OPTIONS, sizeof(type), 0, type##_start, NULL                                       \
    }
static const use inits[] = {
    STARTS(gram_arrays),
    STARTS(gram_cv_options),
    STARTS(gram_compare_options),
    STARTS(gram_explain_options),
    STARTS(gram_picture_options),
    STARTS(gram_predict_options),
    STARTS(gram_cg_options),
    STARTS(gram_context_options),
    STARTS(gram_collective),
    STARTS(gram_folds_options),
    STARTS(gram_gp_options),
    STARTS(gram_gp_cg_options),
    STARTS(gram_gp_inducing_options),
    STARTS(gram_gp_vecchia_options),
    STARTS(gram_gp_path_options),
    STARTS(gram_gp_tune_options),
    STARTS(gram_hsic_options),
    STARTS(gram_hsic_result),
    STARTS(gram_hsic_given_result),
    STARTS(gram_bayes_options),
    STARTS(gram_spline_options),
    STARTS(gram_krr_options),
    STARTS(gram_laplace_options),
    STARTS(gram_laplace_tune_options),
    STARTS(gram_logistic_options),
    STARTS(gram_cca_options),
    STARTS(gram_couple_options),
    STARTS(gram_cluster_options),
    STARTS(gram_features_options),
    STARTS(gram_mercer_options),
    STARTS(gram_pca_options),
    STARTS(gram_network_options),
    STARTS(gram_descent_options),
    STARTS(gram_logistic_tune_options),
    STARTS(gram_flow_options),
    STARTS(gram_flow_tune_options),
    STARTS(gram_loss_options),
    STARTS(gram_loss_tune_options),
    STARTS(gram_mmd_options),
    STARTS(gram_mmd_result),
    STARTS(gram_krr_plan_request),
    STARTS(gram_preparation_options),
    STARTS(gram_sample_options),
    STARTS(gram_scored_options),
    STARTS(gram_spectrum_options),
    STARTS(gram_stein_test_options),
    STARTS(gram_law_test_options),
    STARTS(gram_svm_options),
    STARTS(gram_svm_tune_options),
    STARTS(gram_table_options),
    STARTS(gram_thin_options),
    STARTS(gram_study_options),
    STARTS(gram_study_run_options),
    STARTS(gram_krr_tune_options),
};

/* ---- blocks of exactly their size ---- */

#if defined(__SANITIZE_ADDRESS__)
enum { MARGIN = 0 }; /* the sanitizer watches */
#else
enum { MARGIN = 64 };
#endif

enum { PATTERN = 0x55 };

static unsigned char *block_make(size_t size)
{
    unsigned char *block = malloc(size + MARGIN);
    assert_non_null(block);
    memset(block, PATTERN, size + MARGIN);
    return block;
}

static void block_free(const use *u, unsigned char *block, size_t size)
{
    for (size_t i = size; i < size + MARGIN; i++)
        if (block[i] != PATTERN) FAIL_TEST("%s wrote beyond the %zu bytes of its %s", u->function, size, u->type);
    free(block);
}

static size_t size_in(const unsigned char *block)
{
    size_t size;
    memcpy(&size, block, sizeof size);
    return size;
}

/* ---- the tests ---- */

static void inits_fill_what_there_is(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof inits / sizeof *inits; k++) {
        const use *u = &inits[k];
        unsigned char *whole = block_make(u->size);
        u->start(whole, u->size);
        for (size_t size = 8; size <= u->size + 16; size += 8) {
            unsigned char *block = block_make(size);
            u->start(block, size);
            assert_int_equal(size_in(block), size);
            for (size_t i = 8; i < size; i++)
                if (block[i] != (i < u->size ? whole[i] : 0))
                    FAIL_TEST("%s(%zu): byte %zu is %d", u->function, size, i, block[i]);
            block_free(u, block, size);
        }
        block_free(u, whole, u->size);
        u->start(NULL, u->size);
    }
}

static void shorter_ones_are_enough(void **state)
{
    (void)state;
    world w = make_world();
    for (int k = 0; k < USES; k++) {
        const use *u = &uses[k];
        const size_t sizes[] = {8, 16, u->size / 16 * 8, u->size - 8, u->size};
        for (int i = 0; i < 5; i++) {
            const size_t size = sizes[i] < 8 ? 8 : sizes[i];
            unsigned char *block = block_make(size);
            u->start(block, size);
            const gram_status status = u->call(&w, block);
            if (status < 0 && size >= u->least)
                FAIL_TEST("%s, %s of %zu bytes: %s", u->function, u->type, size, gram_context_message(w.context));
            assert_int_equal(size_in(block), size);
            block_free(u, block, size);
        }
    }
    free_world(&w);
}

static void longer_ones_end_in_zeros(void **state)
{
    (void)state;
    enum { MORE = 24 };
    world w = make_world();
    for (int k = 0; k < USES; k++) {
        const use *u = &uses[k];
        const size_t size = u->size + MORE;
        unsigned char *block = block_make(size);
        u->start(block, size);
        gram_status status = u->call(&w, block);
        if (status < 0) FAIL_TEST("%s, a longer %s: %s", u->function, u->type, gram_context_message(w.context));
        if (u->role == OPTIONS) {
            block[size - 1] = 1;
            status = u->call(&w, block);
            if (status != GRAM_ERROR_ARGUMENT) FAIL_TEST("%s ignores a part of its %s", u->function, u->type);
            if (u->name) assert_non_null(strstr(gram_context_message(w.context), "is not 0, but this libgram knows"));
        }
        for (size_t i = u->size; i < size - 1; i++) assert_int_equal(block[i], 0);
        block_free(u, block, size);
    }
    free_world(&w);
}

static void no_size_is_an_error(void **state)
{
    (void)state;
    static const size_t wrong[] = {0, 3, (size_t)1 << 40};
    world w = make_world();
    for (int k = 0; k < USES; k++) {
        const use *u = &uses[k];
        const int count = strstr(u->function, "_clear") ? 1 : 3; /* a clear says nothing */
        for (int i = 0; i < count; i++) {
            char wanted[200];
            unsigned char *block = block_make(u->size);
            u->start(block, u->size);
            memcpy(block, &wrong[i], sizeof wrong[i]);
            const gram_status status = u->call(&w, block);
            if (status != GRAM_ERROR_ARGUMENT)
                FAIL_TEST("%s, %s of size %zu: %s", u->function, u->type, wrong[i], gram_status_name(status));
            (void)snprintf(wanted, sizeof wanted,
                           u->role == OPTIONS ? "%s.size is 0; call %s_init" : "%s.size is 0; set it to sizeof(%s)",
                           u->name ? u->name : "", u->type);
            if (i == 0 && u->name && strcmp(gram_context_message(w.context), wanted) != 0)
                FAIL_TEST("'%s' is not '%s'", gram_context_message(w.context), wanted);
            block_free(u, block, u->size);
        }
    }
    free_world(&w);
}

/* Options within options: what they point to has a size as well. */
static void inner_options_have_a_size(void **state)
{
    (void)state;
    world w = make_world();
    gram_gp_options gp;
    gram_gp_options_init(&gp, sizeof gp);
    gp.size = 0;
    gram_gp_path_options path;
    gram_gp_path_options_init(&path, sizeof path);
    path.gp = &gp;
    assert_int_equal(gp_path_create(&w, &path), GRAM_ERROR_ARGUMENT);
    assert_string_equal(gram_context_message(w.context),
                        "gp_path_create: options.gp.size is 0; call gram_gp_options_init");
    gram_laplace_options laplace;
    gram_laplace_options_init(&laplace, sizeof laplace);
    laplace.size = 0;
    gram_laplace_tune_options evidence;
    gram_laplace_tune_options_init(&evidence, sizeof evidence);
    evidence.laplace = &laplace;
    assert_int_equal(laplace_tune(&w, &evidence), GRAM_ERROR_ARGUMENT);
    assert_string_equal(gram_context_message(w.context),
                        "laplace_tune: options.laplace.size is 0; call gram_laplace_options_init");
    gram_loss_options loss;
    gram_loss_options_init(&loss, sizeof loss);
    loss.size = 0;
    gram_loss_tune_options folds;
    gram_loss_tune_options_init(&folds, sizeof folds);
    folds.loss = &loss;
    assert_int_equal(loss_tune(&w, &folds), GRAM_ERROR_ARGUMENT);
    assert_string_equal(gram_context_message(w.context),
                        "loss_tune: options.loss.size is 0; call gram_loss_options_init");
    free_world(&w);
}

static void owned_reports_say_their_size(void **state)
{
    (void)state;
    world w = make_world();
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) {
        w.reported = 0;
        if (owned[k].call(&w, NULL) < 0) FAIL_TEST("%s: %s", owned[k].function, gram_context_message(w.context));
        if (w.reported != owned[k].size)
            FAIL_TEST("%s: size = %zu, need %zu", owned[k].function, w.reported, owned[k].size);
    }
    free_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inits_fill_what_there_is),  cmocka_unit_test(shorter_ones_are_enough),
        cmocka_unit_test(longer_ones_end_in_zeros),  cmocka_unit_test(no_size_is_an_error),
        cmocka_unit_test(inner_options_have_a_size), cmocka_unit_test(owned_reports_say_their_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
