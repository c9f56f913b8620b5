/* Predictions of classifiers: the class, its probabilities, and for two classes a score that grows with the second. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fit/predictor.h"

/* ---- columns ---- */

static int refuse_wishes(const cli_predictor *predictor)
{
    const cli_wish *wish = &predictor->wish;
    const char *asked = wish->std            ? "std"
                        : wish->interval > 0 ? "interval"
                        : wish->latent       ? "latent"
                        : wish->terms        ? "terms"
                                             : NULL;
    if (!asked) return CLI_DONE;
    return cli_fail(CLI_WRONG_USE, "It predicts classes; --prob gives their probabilities.",
                    "predict: --%s is not for a classifier", asked);
}

/* label, then the probabilities (shown with --prob), then the score. */
static int open_classes(cli_predictor *predictor)
{
    int code = refuse_wishes(predictor);
    if (code == CLI_DONE) code = cli_classes_of_model(predictor->model, predictor->file, &predictor->classes);
    if (code == CLI_DONE) code = cli_predictor_column(predictor, "label", "");
    predictor->probability = 1;
    predictor->stride = predictor->classes.count + 2;
    for (int64_t c = 0; c < predictor->classes.count && predictor->wish.prob && code == CLI_DONE; c++)
        code = cli_predictor_column(predictor, "p_", predictor->classes.names[c]);
    return code;
}

static int bad_model(const cli_predictor *predictor)
{
    return cli_fail(CLI_BAD_DATA, "Fit it again.", "%s: a classifier whose parts do not belong together",
                    predictor->file);
}

static int64_t likeliest(int64_t classes, const double *p)
{
    int64_t best = 0;
    for (int64_t c = 1; c < classes; c++)
        if (p[c] > p[best]) best = c;
    return best;
}

/* ---- support vector machines ---- */

static int64_t pair_count(int64_t classes)
{
    return classes * (classes - 1) / 2;
}

/* Two numbers for each pair, or NULL. */
static const double *sigmoids_of(const cli_predictor *predictor)
{
    int64_t rows = 0, columns = 0;
    const double *sigmoids = gram_model_array(predictor->model, "sigmoids", &rows, &columns);
    return sigmoids && rows == pair_count(predictor->classes.count) && columns == 2 ? sigmoids : NULL;
}

static int open_svm(cli_session *session, cli_predictor *predictor)
{
    (void)session;
    const int code = open_classes(predictor);
    if (code != CLI_DONE) return code;
    if (gram_function_outputs(gram_model_function(predictor->model)) != pair_count(predictor->classes.count))
        return bad_model(predictor);
    if (predictor->wish.prob && !sigmoids_of(predictor))
        return cli_fail(CLI_WRONG_USE,
                        cli_model_number(predictor->model, "probability_folds", 0) > 0
                            ? "They are made when the fit is finished: `gram fit DATA --resume M.gram`."
                            : "`gram fit --prob` makes a model that has them.",
                        "predict: %s has no probabilities", predictor->file);
    return CLI_DONE;
}

/* Of classes with as many votes the first wins: a model that came from LIBSVM says in which order. NULL: ascending. */
static const double *order_of(const cli_predictor *predictor)
{
    int64_t rows = 0, count = 0;
    const double *order = gram_model_array(predictor->model, "vote_order", &rows, &count);
    if (!order || rows != 1 || count != predictor->classes.count) return NULL;
    for (int64_t c = 0; c < count; c++) {
        if (!(order[c] >= 0 && order[c] < (double)count) || order[c] != floor(order[c])) return NULL;
        for (int64_t before = 0; before < c; before++)
            if (order[before] == order[c]) return NULL;
    }
    return order;
}

/* The place of a pair a != b of classes; *sign is -1 if they are the other way round there. */
static int64_t pair_place(int64_t classes, int64_t a, int64_t b, double *sign)
{
    const int64_t low = a < b ? a : b, high = a < b ? b : a;
    *sign = a < b ? 1 : -1;
    return low * classes - low * (low + 1) / 2 + (high - low - 1);
}

/* Votes in an order of the classes' own: decisions of the pairs in that order, and labels back from it. */
static gram_status vote_in_order(cli_session *session, int64_t classes, int64_t n, const double *order,
                                 const double *decisions, double *labels)
{
    const int64_t pairs = pair_count(classes);
    double sign, *ordered = malloc((size_t)(n * pairs + 1) * sizeof *ordered), *next = ordered;
    if (!ordered) return GRAM_ERROR_MEMORY;
    for (int64_t i = 0; i < n; i++)
        for (int64_t a = 0; a < classes; a++)
            for (int64_t b = a + 1; b < classes; b++) {
                const int64_t pair = pair_place(classes, (int64_t)order[a], (int64_t)order[b], &sign);
                *next++ = sign * decisions[i * pairs + pair];
            }
    const gram_status status = gram_svm_decide(session->context, classes, n, ordered, NULL, labels, NULL);
    for (int64_t i = 0; i < n && status >= 0; i++) labels[i] = order[(int64_t)labels[i]];
    free(ordered);
    return status;
}

static gram_status evaluate_svm(cli_session *session, const cli_predictor *predictor, const cli_places *places,
                                double *values)
{
    const int64_t classes = predictor->classes.count, pairs = pair_count(classes), n = places->n;
    const double *sigmoids = sigmoids_of(predictor), *order = sigmoids ? NULL : order_of(predictor);
    double *work = calloc((size_t)(n * (pairs + 1 + classes) + 1), sizeof *work);
    if (!work) return GRAM_ERROR_MEMORY;
    double *decisions = work, *labels = decisions + n * pairs, *p = labels + n;
    gram_status status = gram_function_evaluate(session->context, gram_model_function(predictor->model), places->points,
                                                decisions, pairs);
    if (status >= 0)
        status = order
                     ? vote_in_order(session, classes, n, order, decisions, labels)
                     : gram_svm_decide(session->context, classes, n, decisions, sigmoids, labels, sigmoids ? p : NULL);
    for (int64_t i = 0; i < n && status >= 0; i++) {
        double *row = values + i * predictor->stride;
        row[0] = labels[i];
        for (int64_t c = 0; c < classes; c++) row[1 + c] = sigmoids ? p[i * classes + c] : NAN;
        row[1 + classes] = -decisions[i * pairs]; /* above 0 speaks for the first of the pair */
    }
    free(work);
    return status;
}

const cli_predictor_kind cli_predictor_svm = {"svm", "classification", 0, open_svm, evaluate_svm, NULL};

/* One class: 1 inside, -1 outside, and by how much. */
static int open_one_class(cli_session *session, cli_predictor *predictor)
{
    (void)session;
    int code = refuse_wishes(predictor);
    if (code == CLI_DONE && predictor->wish.prob)
        return cli_fail(CLI_WRONG_USE, "It tells inside (1) from outside (-1), and how far by the score.",
                        "predict: --prob is not for a model of one class");
    if (code == CLI_DONE) code = cli_predictor_column(predictor, "label", "");
    return code == CLI_DONE ? cli_predictor_column(predictor, "score", "") : code;
}

static gram_status evaluate_one_class(cli_session *session, const cli_predictor *predictor, const cli_places *places,
                                      double *values)
{
    const gram_status status = gram_function_evaluate(session->context, gram_model_function(predictor->model),
                                                      places->points, values + 1, predictor->stride);
    for (int64_t i = 0; i < places->n && status >= 0; i++)
        values[i * predictor->stride] = values[i * predictor->stride + 1] >= 0 ? 1 : -1;
    return status;
}

const cli_predictor_kind cli_predictor_one_class = {"svm", "one-class", 0, open_one_class, evaluate_one_class, NULL};

/* ---- what has probabilities from the start ---- */

static void put_probabilities(const cli_predictor *predictor, int64_t n, const double *p, double *values)
{
    const int64_t classes = predictor->classes.count;
    for (int64_t i = 0; i < n; i++) {
        double *row = values + i * predictor->stride;
        row[0] = (double)likeliest(classes, p + i * classes);
        for (int64_t c = 0; c < classes; c++) row[1 + c] = p[i * classes + c];
        row[1 + classes] = p[i * classes + classes - 1];
    }
}

static int open_logistic(cli_session *session, cli_predictor *predictor)
{
    (void)session;
    const int code = open_classes(predictor);
    const int64_t outputs = gram_function_outputs(gram_model_function(predictor->model));
    const int64_t classes = predictor->classes.count;
    if (code != CLI_DONE) return code;
    return outputs == classes || (classes == 2 && outputs == 1) ? CLI_DONE : bad_model(predictor);
}

static gram_status evaluate_logistic(cli_session *session, const cli_predictor *predictor, const cli_places *places,
                                     double *values)
{
    const int64_t classes = predictor->classes.count;
    double *p = calloc((size_t)(places->n * classes + 1), sizeof *p);
    if (!p) return GRAM_ERROR_MEMORY;
    const gram_status status = gram_logistic_probabilities(session->context, gram_model_function(predictor->model),
                                                           places->points, p, classes);
    if (status >= 0) put_probabilities(predictor, places->n, p, values);
    free(p);
    return status;
}

const cli_predictor_kind cli_predictor_logistic = {"logistic",    "classification",  0,
                                                   open_logistic, evaluate_logistic, NULL};

/* ---- Gaussian processes: probabilities averaged over the posterior, which is found anew ---- */

static int open_laplace(cli_session *session, cli_predictor *predictor)
{
    const gram_function *function = gram_model_function(predictor->model);
    const gram_points *x = gram_function_centres(function);
    int64_t rows = 0, columns = 0;
    const double *y = gram_model_array(predictor->model, "targets", &rows, &columns);
    gram_laplace_options options;
    int code = open_classes(predictor);
    if (code != CLI_DONE) return code;
    if (!y || columns != 1 || rows != gram_points_count(x)) return bad_model(predictor);
    gram_laplace_options_init(&options, sizeof options);
    options.classes = predictor->classes.count;
    options.likelihood = options.classes == 2 ? GRAM_LIKELIHOOD_LOGISTIC : GRAM_LIKELIHOOD_SOFTMAX;
    gram_laplace *laplace = NULL;
    const gram_status status =
        gram_laplace_fit(session->context, gram_function_kernel(function), x, y, &options, &laplace);
    predictor->own = laplace;
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

/* Counts and heavy tails: the mean of y, and its deviation. */
static int open_laplace_values(cli_session *session, cli_predictor *predictor)
{
    const gram_function *function = gram_model_function(predictor->model);
    const gram_points *x = gram_function_centres(function);
    const char *name = cli_model_text(predictor->model, "likelihood");
    int64_t rows = 0, columns = 0;
    const double *y = gram_model_array(predictor->model, "targets", &rows, &columns);
    gram_laplace_options options;
    gram_laplace *laplace = NULL;
    int code = cli_predictor_means(predictor);
    if (code != CLI_DONE) return code;
    if (predictor->wish.interval > 0 || predictor->wish.terms || predictor->wish.prob)
        return cli_fail(CLI_WRONG_USE, "--std is there.",
                        "predict: --interval, --terms and --prob are not for the likelihood %s", name);
    if (!y || columns != 1 || rows != gram_points_count(x)) return bad_model(predictor);
    gram_laplace_options_init(&options, sizeof options);
    options.likelihood = strcmp(name, "poisson") == 0 ? GRAM_LIKELIHOOD_POISSON : GRAM_LIKELIHOOD_STUDENT;
    options.nu = cli_model_number(predictor->model, "student", options.nu);
    options.scale = cli_model_number(predictor->model, "scale", options.scale);
    const gram_status status =
        gram_laplace_fit(session->context, gram_function_kernel(function), x, y, &options, &laplace);
    predictor->own = laplace;
    if (status < 0) return cli_session_fail(session, status, 0, NULL);
    if (!predictor->wish.std) return CLI_DONE;
    predictor->std = predictor->count;
    return cli_predictor_column(predictor, "std", "");
}

/* The variance of an observation, or of what it scatters about: exp(f) or f. */
static double variance_of(const cli_predictor *predictor, double mean, double latent)
{
    const double nu = cli_model_number(predictor->model, "student", 4);
    const double scale = cli_model_number(predictor->model, "scale", 1);
    if (strcmp(cli_model_text(predictor->model, "likelihood"), "poisson") == 0)
        return mean * mean * expm1(latent) + (predictor->wish.latent ? 0 : mean);
    return latent + (predictor->wish.latent ? 0 : nu > 2 ? scale * scale * nu / (nu - 2) : INFINITY);
}

static gram_status evaluate_laplace_values(cli_session *session, const cli_predictor *predictor,
                                           const cli_places *places, double *values)
{
    const double offset = cli_model_number(predictor->model, "offset", 0);
    double *work = calloc((size_t)(3 * places->n + 1), sizeof *work);
    if (!work) return GRAM_ERROR_MEMORY;
    double *mean = work, *latent = mean + places->n, *variance = latent + places->n;
    gram_status status = gram_laplace_predict(session->context, predictor->own, places->points, mean, 1);
    if (status >= 0 && predictor->std >= 0)
        status = gram_laplace_latent(session->context, predictor->own, places->points, latent, variance);
    for (int64_t i = 0; i < places->n && status >= 0; i++) {
        values[i * predictor->stride] = mean[i] + offset;
        if (predictor->std >= 0)
            values[i * predictor->stride + predictor->std] = sqrt(variance_of(predictor, mean[i], variance[i]));
    }
    free(work);
    return status;
}

static gram_status evaluate_laplace(cli_session *session, const cli_predictor *predictor, const cli_places *places,
                                    double *values)
{
    const int64_t classes = predictor->classes.count;
    double *p = calloc((size_t)(places->n * classes + 1), sizeof *p);
    if (!p) return GRAM_ERROR_MEMORY;
    const gram_status status = gram_laplace_predict(session->context, predictor->own, places->points, p, classes);
    if (status >= 0) put_probabilities(predictor, places->n, p, values);
    free(p);
    return status;
}

static void close_laplace(cli_predictor *predictor)
{
    gram_laplace_destroy(predictor->own);
}

const cli_predictor_kind cli_predictor_laplace = {"gp",         "classification", 1,
                                                  open_laplace, evaluate_laplace, close_laplace};
const cli_predictor_kind cli_predictor_laplace_values = {
    "gp", "regression", 1, open_laplace_values, evaluate_laplace_values, close_laplace};
