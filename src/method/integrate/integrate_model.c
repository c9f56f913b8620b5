/* Bayesian quadrature: `gram integrate`.
 *
 * The target is known at some places, and its mean under a measure is wanted. With a Gaussian process of mean zero for it the mean is
 * normal too (O'Hagan 1991): with u the functional of the measure, z_i = u k(., x_i) and A = K + noise,
 *
 *     mean z'A^-1 y,   variance u u k - z'A^-1 z,   weights A^-1 z:
 *
 * the rule of those weights is the best one for functions of the kernel's space at these places, and its worst error over the unit ball
 * is the deviation. The measure is a product over the features of uniform(a,b) and normal(m,v), v the variance, which is one functional
 * (points/functionals.h): closed forms for rbf, rules of nodes for other kernels. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gram/cholesky.h>
#include <gram/functional.h>
#include <gram/matrix.h>
#include <gram/text.h>

#include "method/method.h"

typedef struct integrate_settings {
    const char *measure;
    double noise;
} integrate_settings;

typedef struct integrate_state {
    double *low, *high, *deviation; /* of the measure, d each: low is the mean where it is normal */
    gram_function *function;
    double *weights;
    double mean, variance, jitter;
} integrate_state;

static const gram_option OPTIONS[] = {
    {.name = "measure",
     .kind = GRAM_OPTION_TEXT,
     .offset = offsetof(integrate_settings, measure),
     .argument = "M",
     .help = "uniform(a,b) or normal(m,v), v the variance; a product of them for several features, in their order"},
    {.name = "noise",
     .kind = GRAM_OPTION_NUMBER,
     .offset = offsetof(integrate_settings, noise),
     .argument = "S",
     .help = "the variance of the target's noise (default 0)",
     .otherwise = "0"},
};

static const char ADVICE[] =
    "Measures look like 'uniform(0,1)' and 'normal(0,2)*uniform(-1,1)', one factor for each feature.";

static gram_status check(gram_learning *learning)
{
    const integrate_settings *own = learning->settings;
    if (own->measure) return GRAM_OK;
    return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, ADVICE, "--measure is missing");
}

/* ---- the measure ---- */

static const char *skip(const char *text)
{
    while (*text == ' ' || *text == '\t') text++;
    return text;
}

/* A number and then `end`; NULL if they are not there. */
static const char *read_number(const char *text, char end, double *out)
{
    text = skip(text);
    const size_t used = gram_number_parse(text, strlen(text), out);
    const char *after = skip(text + used);
    return used > 0 && isfinite(*out) && *after == end ? after + 1 : NULL;
}

/* One factor; NULL if it cannot be read. */
static const char *read_factor(const char *text, double *low, double *high, double *deviation)
{
    double a, b;
    text = skip(text);
    const int uniform = strncmp(text, "uniform", 7) == 0, normal = strncmp(text, "normal", 6) == 0;
    if (!uniform && !normal) return NULL;
    text = skip(text + (uniform ? 7 : 6));
    if (*text != '(') return NULL;
    text = read_number(text + 1, ',', &a);
    if (text) text = read_number(text, ')', &b);
    if (!text || (uniform ? !(a < b) : !(b > 0))) return NULL;
    *low = a;
    *high = uniform ? b : a;
    *deviation = uniform ? 0 : sqrt(b);
    return skip(text);
}

/* In the units of the features that --scale makes. */
static void scale_measure(const gram_learning *learning, integrate_state *state)
{
    for (int64_t l = 0; l < learning->data->d; l++) {
        const double centre = gram_preparation_unit(learning->preparation, l, 0);
        const double unit = gram_preparation_unit(learning->preparation, l, 1) - centre;
        state->low[l] = (state->low[l] - centre) / unit;
        state->high[l] = (state->high[l] - centre) / unit;
        state->deviation[l] /= unit;
    }
}

static gram_status read_measure(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const integrate_settings *own = learning->settings;
    integrate_state *state = learning->own;
    const int64_t d = learning->data->d;
    const char *text = own->measure;
    TRY(gram_learning_take(learning, 3 * d, sizeof *state->low, &state->low));
    state->high = state->low + d;
    state->deviation = state->high + d;
    for (int64_t l = 0; l < d; l++) {
        if (l > 0 && *text == '\0')
            return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, ADVICE,
                                      "--measure has %" PRId64 " factors, and there are %" PRId64 " features", l, d);
        const char *next = read_factor(text, &state->low[l], &state->high[l], &state->deviation[l]);
        if (!next || (*next != '\0' && *next != '*') || (*next == '*' && l == d - 1))
            return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, ADVICE, "--measure cannot be '%s': %s",
                                      own->measure,
                                      next && *next == '*' ? "it has more factors than there are features"
                                                           : "a < b of uniform(a,b), v > 0 of normal(m,v)");
        text = *next == '*' ? next + 1 : next;
    }
    if (gram_preparation_describe(learning->preparation)->scaled) scale_measure(learning, state);
done:
    return status;
}

static gram_status make_functional(gram_learning *learning, gram_points **out)
{
    const integrate_state *state = learning->own;
    const gram_functional_term term = {.kind = GRAM_FUNCTIONAL_MEAN,
                                       .coefficient = 1,
                                       .at = state->low,
                                       .first = state->high,
                                       .second = state->deviation};
    return gram_points_create_functionals(learning->context, 1, learning->data->d, 1, &term, out);
}

/* ---- plan and fit ---- */

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const double n = (double)learning->n;
    integrate_state *state = NULL;
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    TRY(gram_learning_one_target(learning, "an integral", "Choose one with --target."));
    TRY(read_measure(learning));
    TRY(gram_learning_room(learning, (double)gram_cholesky_bytes(learning->n, GRAM_STORAGE_F64), "Take fewer rows.",
                           "the factor"));
    gram_learning_plan(learning, "exact, f64", gram_cholesky_bytes(learning->n, GRAM_STORAGE_F64), 2e-11 * n * n * n,
                       "one factor");
done:
    return status;
}

/* A^-1 [y, z] in `both`, n x 2, and z beside it. */
static gram_status solve(gram_learning *learning, const gram_points *functional, double *z, double *both)
{
    gram_status status = GRAM_OK;
    const integrate_settings *own = learning->settings;
    const int64_t n = learning->data->n;
    integrate_state *state = learning->own;
    gram_cholesky *factor = NULL;
    double *shift = NULL;
    TRY(gram_take(learning->context, "integrate", n, sizeof *shift, (void **)&shift));
    for (int64_t i = 0; i < n; i++) shift[i] = own->noise;
    TRY(gram_matrix(learning->context, learning->kernel, learning->points, functional, z, 1));
    TRY(gram_cholesky_create(learning->context, learning->kernel, learning->points, shift, GRAM_STORAGE_F64,
                             &state->jitter, &factor));
    for (int64_t i = 0; i < n; i++) {
        both[2 * i] = learning->data->y[i];
        both[2 * i + 1] = z[i];
    }
    TRY(gram_cholesky_solve(learning->context, factor, 2, both, 2));
done:
    gram_give(learning->context, shift);
    gram_cholesky_destroy(factor);
    return status;
}

static gram_status fit(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const int64_t n = learning->data->n;
    integrate_state *state = learning->own;
    gram_points *functional = NULL;
    double *both = NULL;
    TRY(gram_learning_resolve(learning));
    TRY(make_functional(learning, &functional));
    TRY(gram_take(learning->context, "integrate", 3 * n, sizeof *both, (void **)&both));
    TRY(gram_learning_take(learning, n, sizeof *state->weights, &state->weights));
    double *z = both + 2 * n;
    TRY(solve(learning, functional, z, both));
    TRY(gram_matrix(learning->context, learning->kernel, functional, NULL, &state->variance, 1));
    for (int64_t i = 0; i < n; i++) {
        state->weights[i] = both[2 * i + 1];
        state->mean += state->weights[i] * learning->data->y[i];
        state->variance -= state->weights[i] * z[i];
    }
    state->variance = fmax(state->variance, 0);
    TRY(gram_function_create(learning->context, learning->kernel, learning->points, 1, both, 2, NULL,
                             &state->function));
done:
    gram_points_release(functional);
    gram_give(learning->context, both);
    return status;
}

static void forget(gram_learning *learning)
{
    integrate_state *state = learning->own;
    if (state) gram_function_release(state->function);
}

/* ---- the model ---- */

static gram_status keep(gram_learning *learning)
{
    const integrate_settings *own = learning->settings;
    const integrate_state *state = learning->own;
    gram_keeper keeper = gram_keep_begin(learning, state->function);
    gram_keep_text(&keeper, "measure", own->measure);
    gram_keep_number(&keeper, "noise", own->noise);
    gram_keep_number(&keeper, "mean", state->mean);
    gram_keep_number(&keeper, "std", sqrt(state->variance));
    gram_keep_number(&keeper, "jitter", state->jitter);
    gram_keep_array(&keeper, "weights", 1, learning->data->n, state->weights);
    return keeper.status;
}

static void report_integral(gram_report *report)
{
    gram_report_row(report, "measure");
    gram_report_add(report, "%s", gram_report_text(report, "measure"));
    gram_report_row(report, "integral");
    gram_report_part(report, "mean", "mean", GRAM_FINE + 3);
    gram_report_part(report, "deviation", "std", GRAM_FINE);
    gram_report_list(report, "  weights", "weights", GRAM_FINE);
    if (gram_report_number(report, "jitter") > 0) {
        gram_report_row(report, "  jitter");
        gram_report_part(report, "", "jitter", GRAM_FINE);
    }
}

static const gram_verb VERB = {
    .name = "integrate",
    .summary = "integrals from values, with their uncertainty",
    .operands = "DATA",
    .about = "Bayesian quadrature: the mean of the target under a measure of the features, from its values at the "
             "rows, and the\n"
             "deviation of that mean under a Gaussian process of mean zero. The weights are those of the best rule "
             "with these\n"
             "places. Features are taken as they are. Numbers of the kernel that are left out are set by the median "
             "heuristic;\n"
             "the deviation is in proportion to the root of the kernel's amplitude.\n",
    .examples = "  gram integrate values.csv --kernel 'rbf(ell=0.5)' --measure 'uniform(0,1)'\n"
                "  gram integrate values.csv --measure 'normal(0,1)*uniform(-1,1)' --noise 1e-4 --json\n",
    .out = "write the model of the target to FILE, for `gram predict`",
    .out_is_model = 1,
};

const gram_method gram_method_integrate = {
    .name = "integrate",
    .title = "Bayesian quadrature",
    .formula = "int f dP ~ N(z'A^-1 y, int int k dP dP - z'A^-1 z),  z_i = int k(x, x_i) dP(x),  A = K + noise I",
    .tasks = 1u << GRAM_TASK_REGRESSION,
    .unscaled = 1,
    .refuses = "weights",
    .verb = &VERB,
    .kernel = "rbf",
    .python = {[GRAM_TASK_REGRESSION] = "BayesianQuadrature"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(integrate_settings),
    .check = check,
    .plan = plan,
    .fit = fit,
    .keep = keep,
    .forget = forget,
    .report = report_integral,
};
