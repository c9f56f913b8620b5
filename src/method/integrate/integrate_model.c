/* Bayesian quadrature: `gram integrate`.
 *
 * The target is known at some places, and its mean under a measure is wanted. With a Gaussian process of mean zero for it the mean is
 * normal too (O'Hagan 1991): with u the functional of the measure, z_i = u k(., x_i) and A = K + noise,
 *
 *     mean z'A^-1 y,   variance u u k - z'A^-1 z,   weights A^-1 z:
 *
 * the rule of those weights is the best one for functions of the kernel's space at these places, and its worst error over the unit ball
 * is the deviation. The measure is a product over the features of uniform(a,b) and normal(m,v), v the variance, or the rows of a file:
 * one functional (<gram/law.h>), with closed forms for rbf and rules of nodes for other kernels. Which of some candidates to look at
 * next is in integrate_choose.c. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gram/cholesky.h>
#include <gram/law.h>
#include <gram/matrix.h>
#include <gram/text.h>

#include "method/further_rows.h"
#include "method/integrate/integrate_choose.h"
#include "method/method.h"

typedef struct integrate_settings {
    const char *measure, *candidates;
    double noise;
    int64_t next; /* 0: one, if there are candidates */
} integrate_settings;

typedef struct integrate_state {
    gram_law *law;
    gram_function *function;
    gram_cholesky *factor;
    double *weights;
    int64_t chosen;          /* of the candidates, */
    double *next, *next_std; /* their rows in the file, from 1, and the deviation with each */
    int64_t candidates;      /* how many there are */
    double mean, variance, jitter;
} integrate_state;

static const gram_option OPTIONS[] = {
    {.name = "measure",
     .kind = GRAM_OPTION_TEXT,
     .offset = offsetof(integrate_settings, measure),
     .argument = "M",
     .help = "uniform(a,b) or normal(m,v), v the variance; a product of them for several features, in their order; or "
             "sample(FILE): its rows"},
    {.name = "noise",
     .kind = GRAM_OPTION_NUMBER,
     .offset = offsetof(integrate_settings, noise),
     .argument = "S",
     .help = "the variance of the target's noise (default 0)",
     .otherwise = "0"},
    {.name = "candidates",
     .kind = GRAM_OPTION_TEXT,
     .offset = offsetof(integrate_settings, candidates),
     .argument = "FILE",
     .help = "places where the target could be looked at next: those that lower the deviation most are named"},
    {.name = "next",
     .kind = GRAM_OPTION_INTEGER,
     .offset = offsetof(integrate_settings, next),
     .argument = "M",
     .help = "how many of the candidates (default 1)",
     .least = 1,
     .most = 1 << 20},
};

static const char ADVICE[] =
    "Measures look like 'uniform(0,1)' and 'normal(0,2)*uniform(-1,1)', one factor for each feature.";

static gram_status check(gram_learning *learning)
{
    const integrate_settings *own = learning->settings;
    if (!own->measure) return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, ADVICE, "--measure is missing");
    if (own->next > 0 && !own->candidates)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Give --candidates FILE.",
                                  "--next is how many of the candidates, and there are none");
    return GRAM_OK;
}

/* ---- plan and fit ---- */

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const integrate_settings *own = learning->settings;
    const double n = (double)learning->n;
    integrate_state *state = NULL;
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    TRY(gram_learning_one_target(learning, "an integral", "Choose one with --target."));
    TRY(gram_learning_read_law(learning, "measure", own->measure, &state->law));
    TRY(gram_learning_room(learning, (double)gram_cholesky_bytes(learning->n, GRAM_STORAGE_F64), "Take fewer rows.",
                           "the factor"));
    gram_learning_plan(learning, "exact, f64", gram_cholesky_bytes(learning->n, GRAM_STORAGE_F64), 2e-11 * n * n * n,
                       "one factor");
done:
    return status;
}

/* A^-1 [y, z] in `both`, n x 2, and z beside it. */
static gram_status solve(gram_learning *learning, double *z, double *both)
{
    gram_status status = GRAM_OK;
    const integrate_settings *own = learning->settings;
    const int64_t n = learning->data->n;
    integrate_state *state = learning->own;
    double *shift = NULL;
    TRY(gram_take(learning->context, "integrate", n, sizeof *shift, (void **)&shift));
    for (int64_t i = 0; i < n; i++) shift[i] = own->noise;
    TRY(gram_law_embed(learning->context, learning->kernel, state->law, learning->points, z));
    TRY(gram_cholesky_create(learning->context, learning->kernel, learning->points, shift, GRAM_STORAGE_F64,
                             &state->jitter, &state->factor));
    for (int64_t i = 0; i < n; i++) {
        both[2 * i] = learning->data->y[i];
        both[2 * i + 1] = z[i];
    }
    TRY(gram_cholesky_solve(learning->context, state->factor, 2, both, 2));
done:
    gram_give(learning->context, shift);
    return status;
}

/* The candidates that lower the deviation most. */
static gram_status choose(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const integrate_settings *own = learning->settings;
    integrate_state *state = learning->own;
    gram_prepared *rows = NULL;
    gram_points *candidates = NULL;
    int64_t *index = NULL;
    if (!own->candidates) return GRAM_OK;
    TRY(gram_learning_read_rows(learning, own->candidates, &rows));
    const int64_t wanted = own->next > 0 ? own->next : 1, count = wanted < rows->n ? wanted : rows->n;
    state->candidates = rows->n;
    TRY(gram_points_create_f64(learning->context, rows->n, rows->d, rows->x, rows->d, &candidates));
    TRY(gram_learning_take(learning, count, sizeof *index, &index));
    TRY(gram_learning_take(learning, 2 * count, sizeof *state->next, &state->next));
    state->next_std = state->next + count;
    const gram_quadrature known = {.kernel = learning->kernel,
                                   .points = learning->points,
                                   .factor = state->factor,
                                   .weights = state->weights,
                                   .law = state->law,
                                   .noise = own->noise,
                                   .variance = state->variance};
    TRY(gram_quadrature_choose(learning->context, &known, candidates, count, index, state->next_std, &state->chosen));
    for (int64_t t = 0; t < state->chosen; t++) {
        state->next[t] = (double)((rows->rows ? rows->rows[index[t]] : index[t]) + 1);
        state->next_std[t] = sqrt(state->next_std[t]);
    }
done:
    gram_points_release(candidates);
    gram_prepared_destroy(rows);
    return status;
}

static gram_status fit(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const int64_t n = learning->data->n;
    integrate_state *state = learning->own;
    double *both = NULL;
    TRY(gram_learning_resolve(learning));
    TRY(gram_take(learning->context, "integrate", 3 * n, sizeof *both, (void **)&both));
    TRY(gram_learning_take(learning, n, sizeof *state->weights, &state->weights));
    double *z = both + 2 * n;
    TRY(solve(learning, z, both));
    TRY(gram_law_inner(learning->context, learning->kernel, state->law, state->law, &state->variance));
    for (int64_t i = 0; i < n; i++) {
        state->weights[i] = both[2 * i + 1];
        state->mean += state->weights[i] * learning->data->y[i];
        state->variance -= state->weights[i] * z[i];
    }
    state->variance = fmax(state->variance, 0);
    TRY(gram_function_create(learning->context, learning->kernel, learning->points, 1, both, 2, NULL,
                             &state->function));
    TRY(choose(learning));
done:
    gram_give(learning->context, both);
    return status;
}

static void forget(gram_learning *learning)
{
    integrate_state *state = learning->own;
    if (!state) return;
    gram_function_release(state->function);
    gram_cholesky_destroy(state->factor);
    gram_law_release(state->law);
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
    if (own->candidates) gram_keep_integer(&keeper, "candidates", state->candidates);
    if (state->chosen > 0) {
        gram_keep_array(&keeper, "next", 1, state->chosen, state->next);
        gram_keep_array(&keeper, "next_std", 1, state->chosen, state->next_std);
    }
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
    if (gram_report_number(report, "candidates") > 0) {
        gram_report_row(report, "next");
        gram_report_part(report, "of candidates", "candidates", GRAM_WHOLE);
        gram_report_list(report, "  rows", "next", GRAM_WHOLE);
        gram_report_list(report, "  deviation then", "next_std", GRAM_FINE);
    }
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
             "the deviation is in proportion to the root of the kernel's amplitude. With --candidates it says where to "
             "look next.\n",
    .examples = "  gram integrate values.csv --kernel 'rbf(ell=0.5)' --measure 'uniform(0,1)'\n"
                "  gram integrate values.csv --measure 'normal(0,1)*uniform(-1,1)' --noise 1e-4 --json\n"
                "  gram integrate values.csv --measure 'sample(points.csv)' --candidates points.csv --next 5\n",
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
