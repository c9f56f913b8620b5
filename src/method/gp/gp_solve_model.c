/* Linear differential equations by symmetric collocation: `gram solve`.
 *
 * A solution is looked for in the kernel's Hilbert space: of all functions that satisfy the rows, L f = g at the places inside and
 * f = h (or a slope) at those of the boundary, the one of least norm. By the representer theorem it is a sum of the rows'
 * representers, and conditioning a Gaussian process on functionals without noise is the same computation (Fasshauer 1997; Cockayne et
 * al. 2019); its deviation is the error indicator, a multiple of the worst error over functions of a given norm. So this is the row of
 * Gaussian processes with other defaults: no noise, mean zero, nothing tuned, features as they are. --row-noise gives rows a weight of
 * their own.
 *
 * Where a factor of all rows has no room the system is solved matrix-free, by conjugate gradients with a preconditioner from neighbours
 * (solve/neighbours/neighbour_preconditioner.h); the residual is reported.
 *
 * What makes a problem ill-posed is said before it is solved: no row that is an equation, and two values for one place. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gram/text.h>

#include "method/gp/gp_model.h"
#include "method/gp/gp_unknown.h"
#include "points/functionals.h"

#define PLACE(field) offsetof(gp_settings, field)

static const gram_choice TUNINGS[] = {{"auto", GRAM_TUNING_AUTO, NULL, 0, 0},
                                      {"none", GRAM_TUNING_NONE, NULL, 0, 0},
                                      {"ml", GRAM_TUNING_ML, NULL, 0, 0},
                                      {"loo", GRAM_TUNING_LOO, NULL, 0, 0},
                                      {NULL, 0, NULL, 0, 0}};
static const gram_choice MEANS[] = {{"zero", GP_MEAN_ZERO, NULL, 0, 0},
                                    {"constant", GP_MEAN_CONSTANT, NULL, 0, 0},
                                    {"linear", GP_MEAN_LINEAR, NULL, 0, 0},
                                    {NULL, 0, NULL, 0, 0}};

static const gram_choice SOLVERS[] = {{"auto", GRAM_SOLVER_AUTO, NULL, 0, 0},
                                      {"exact", GRAM_SOLVER_EXACT, NULL, 0, 0},
                                      {"cg", GRAM_SOLVER_CG, NULL, 0, 0},
                                      {NULL, 0, NULL, 0, 0}};

/* kind, operator and coefficient are the learner's; here they have their help. */
static const gram_option OPTIONS[] = {
    {.name = "kind",
     .kind = GRAM_OPTION_TEXT,
     .offset = PLACE(common),
     .argument = "COL",
     .help = "the column that says what rows are: laplacian, d:NAME, value, ..."},
    {.name = "operator",
     .kind = GRAM_OPTION_TEXT,
     .offset = PLACE(common),
     .argument = "NAME=E",
     .help = "kinds of your own, e.g. 'heat=d:t - 0.1*d:x:x'; several with ; between"},
    {.name = "unknown",
     .kind = GRAM_OPTION_TEXT,
     .offset = PLACE(unknown),
     .argument = "NAME=LOW:HIGH",
     .help = "a number in operators that is to be found, and between what; several with ; between"},
    {.name = "coefficient",
     .kind = GRAM_OPTION_TEXT,
     .offset = PLACE(common),
     .argument = "COL",
     .help = "coefficients of the rows of kind sum:ID (default: 1)"},
    {.name = "noise",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(ridge.noise),
     .argument = "S",
     .help = "the variance of the rows' errors (default 0: they hold exactly)",
     .otherwise = "0",
     .flags = GRAM_OPTION_STRENGTH},
    {.name = "row-noise",
     .kind = GRAM_OPTION_TEXT,
     .offset = PLACE(row_noise),
     .argument = "COL",
     .help = "a column with variances of their own for the rows"},
    GRAM_TUNE_OPTION(gp_settings, "the kernel's free numbers: none (default: the median heuristic), ml or loo",
                     TUNINGS),
    GRAM_ARD_OPTION(gp_settings),
    GRAM_INTERCEPT_OPTION(gp_settings),
    {.name = "mean",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PLACE(mean),
     .argument = "M",
     .help = "zero (default), constant or linear",
     .otherwise = "zero",
     .choices = MEANS},
    {.name = "solver",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PLACE(solver),
     .argument = "NAME",
     .help = "auto, exact (a factor), or cg: matrix-free, for more rows than a factor has room for",
     .otherwise = "auto",
     .choices = SOLVERS},
    GRAM_TOLERANCE_OPTION(gp_settings),
    {.name = "keep-factor",
     .kind = GRAM_OPTION_SWITCH,
     .offset = PLACE(keep_factor),
     .help = "the model keeps its factor, n^2/2 numbers, above 1,000 rows too: --std is quicker",
     .help_no = "it keeps none, however small"},
};

/* What is to be found can be read, and is looked for by likelihood about a mean of zero. */
static gram_status check_unknowns(gram_learning *learning)
{
    const gp_settings *own = learning->settings;
    const char *advice = "It looks like --unknown k=0.01:10.";
    gram_unknowns read;
    char message[GRAM_MESSAGE_SIZE];
    if (!own->unknown) return GRAM_OK;
    if (gram_unknowns_read(learning->context, own->unknown, &read) < 0) {
        (void)snprintf(message, sizeof message, "%s", gram_context_message(learning->context));
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, advice, "--unknown: %s", message);
    }
    if (!gram_given_text(learning, "operator"))
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Name it there, e.g. --operator 'heat=d:t - k*d:x:x'.",
                                  "--unknown is a number in --operator, which is not given");
    if (own->mean.value != GP_MEAN_ZERO && own->intercept)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave one out.", "--unknown is for --mean zero");
    if (own->tuned.tune.value == GRAM_TUNING_LOO)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Use --tune ml or none.",
                                  "--unknown is found by likelihood, and --tune loo is another criterion");
    return GRAM_OK;
}

static gram_status check(gram_learning *learning)
{
    gp_settings *own = learning->settings;
    own->ridge.lambda = own->ridge.alpha = NAN; /* which have no option here */
    if (!gram_given_text(learning, "kind"))
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT,
                                  "Give --kind COL: its words are laplacian, d:NAME, value, or a name of --operator.",
                                  "what each row says of the solution is not known");
    return check_unknowns(learning);
}

/* Does row i differentiate? */
static int is_equation(const gram_points *x, int64_t i)
{
    const gram_functionals *u = x->functionals;
    for (int64_t k = u->first[i]; k < u->first[i + 1]; k++)
        if (u->kind[k] == GRAM_ATOM_FIRST || u->kind[k] == GRAM_ATOM_SECOND) return 1;
    return 0;
}

static int64_t count_equations(const gram_points *x)
{
    int64_t count = 0;
    for (int64_t i = 0; i < x->n; i++) count += is_equation(x, i);
    return count;
}

static gram_status check_equations(gram_learning *learning)
{
    if (count_equations(learning->points) > 0) return GRAM_OK;
    return gram_learning_fail_data(learning,
                                   "Rows inside have a kind such as laplacian; `gram fit` interpolates values.",
                                   "no row is an equation: all %" PRId64 " are values", learning->points->n);
}

/* Does row i hold exactly? */
static int is_exact(const gram_learning *learning, int64_t i)
{
    return !learning->has_row_noise || learning->data->weights[i] == 0;
}

/* Two values for one place have no solution without noise. */
static gram_status check_values(gram_learning *learning)
{
    const gram_points *x = learning->points;
    const double *y = learning->data->y;
    const size_t bytes = (size_t)x->d * sizeof(double);
    char one[GRAM_NUMBER_SIZE], other[GRAM_NUMBER_SIZE];
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t j = 0; j < i && gram_points_are_value(x, i); j++) {
            if (y[i] == y[j] || memcmp(x->f64 + i * x->d, x->f64 + j * x->d, bytes) != 0) continue;
            if (!gram_points_are_value(x, j) || !is_exact(learning, i) || !is_exact(learning, j)) continue;
            return gram_learning_fail_data(learning, "Keep one of them, or give --noise S above 0.",
                                           "rows %" PRId64 " and %" PRId64 ": one place has the values %s and %s",
                                           gram_learning_row(learning, j), gram_learning_row(learning, i),
                                           gram_number_format(y[j], one), gram_number_format(y[i], other));
        }
    return GRAM_OK;
}

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const gp_settings *own = learning->settings;
    if (learning->functionals) TRY(check_equations(learning)); /* without: a plan before the data are there */
    if (learning->functionals && own->ridge.noise == 0) TRY(check_values(learning));
    TRY(gram_method_gp.plan(learning));
done:
    return status;
}

/* With unknowns all that is to be chosen is chosen with them, and the fit has nothing left to tune. */
static gram_status fit_inverse(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    gp_state *state = learning->own;
    const gram_tuning tuning = learning->tuning;
    TRY(gram_learning_take(learning, 1, sizeof *state->found, &state->found));
    TRY(gram_gp_find_unknowns(learning, state->found));
    state->tuned.rows = learning->n;
    state->tuned.evaluations = state->found->evaluations;
    state->tuned.value = state->found->log_likelihood;
    learning->tuning = GRAM_TUNING_NONE;
    status = gram_method_gp.fit(learning);
    learning->tuning = tuning;
done:
    return status;
}

static gram_status fit(gram_learning *learning)
{
    return learning->unknowns.count > 0 ? fit_inverse(learning) : gram_method_gp.fit(learning);
}

static gram_status fitted(gram_learning *learning, double *f, const char **what)
{
    return gram_method_gp.fitted(learning, f, what);
}

static void forget(gram_learning *learning)
{
    gram_method_gp.forget(learning);
}

/* As a text that predictions read, and as lists. */
static void keep_unknowns(gram_keeper *keeper, const gram_learning *learning)
{
    const gram_gp_found *found = ((const gp_state *)learning->own)->found;
    const gram_unknowns *u = &learning->unknowns;
    char text[GRAM_MOST_UNKNOWNS * (GRAM_UNKNOWN_NAME + GRAM_NUMBER_SIZE + 2)];
    double values[GRAM_MOST_UNKNOWNS];
    for (int i = 0; i < u->count; i++) values[i] = u->each[i].value;
    gram_unknowns_print(u, text, sizeof text);
    gram_keep_text(keeper, "unknown", text);
    gram_keep_array(keeper, "unknown_value", 1, u->count, values);
    gram_keep_array(keeper, "unknown_std", 1, u->count, found->deviation);
    gram_keep_integer(keeper, "unknown_at_bound", found->at_bound);
    gram_keep_number(keeper, "unknown_nugget", found->nugget);
    gram_keep_number(keeper, "unknown_log_likelihood", found->log_likelihood);
}

/* As a Gaussian process; the number of equations tells it from others. */
static gram_status keep(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    TRY(gram_gp_row_keep(learning));
    gram_keeper keeper = {learning->context, learning->model, GRAM_OK};
    gram_keep_integer(&keeper, "equations", count_equations(learning->points));
    if (learning->unknowns.count > 0) keep_unknowns(&keeper, learning);
    status = keeper.status;
done:
    return status;
}

static void report_unknowns(gram_report *report)
{
    const char *text = gram_report_text(report, "unknown");
    if (!text) return;
    gram_report_row(report, "unknown");
    gram_report_add(report, "%s", text);
    gram_report_list(report, "  value", "unknown_value", GRAM_FINE);
    gram_report_list(report, "  deviation", "unknown_std", GRAM_FINE);
    if (gram_report_number(report, "unknown_at_bound") > 0)
        gram_report_long(report, "  note", "at an end of its range: the likelihood has no maximum inside");
    if (gram_report_number(report, "unknown_nugget") > 0) {
        gram_report_row(report, "  search");
        gram_report_part(report, "with noise of this share of a row's variance:", "unknown_nugget", GRAM_ROUGH);
    }
}

static void report_solution(gram_report *report)
{
    report_unknowns(report);
    gram_report_row(report, "rows");
    gram_report_part(report, "with derivatives", "equations", GRAM_WHOLE);
    gram_report_add(report, ", without ");
    gram_report_value(report, GRAM_WHOLE, gram_report_number(report, "n") - gram_report_number(report, "equations"));
    gram_method_gp.report(report);
}

static const gram_verb VERB = {
    .name = "solve",
    .summary = "linear differential equations by collocation",
    .operands = "DATA",
    .about = "Solves a linear differential equation by symmetric collocation: a column says what each row is, an "
             "equation inside\n"
             "or a value or slope at the boundary, and the target holds the right-hand sides. The solution is the "
             "function of\n"
             "least norm that satisfies all rows; `gram predict --std` says where it is not yet sure. The kernel must "
             "be smooth\n"
             "enough for the operator: matern(nu=4.5) or rbf for second derivatives.\n",
    .examples =
        "  gram solve poisson.csv --kind kind --kernel 'matern(nu=4.5, ell=1)' -o u.gram\n"
        "  gram solve heat.csv --kind kind --operator 'heat=d:t - 0.1*d:x:x' --kernel 'rbf(ell=0.5)' -o u.gram\n"
        "  gram predict u.gram grid.csv --std -o u.csv\n"
        "  gram solve poisson.csv --kind kind -o u.gram --plot u.svg\n",
    .out = "write the solution to FILE, for `gram predict`",
    .out_is_model = 1,
    .pictures = "solution",
    .plot = "draw the solution and its deviation over one or two features: .svg, .png or .pdf (by gnuplot)",
};

static const gram_kept_words WORDS[] = {{"solver", "exact cg markov inducing vecchia"},
                                        {"precision", "f64 mixed"},
                                        {"mean", "zero constant linear flat"},
                                        {NULL, NULL}};

const gram_method gram_method_solve = {
    .name = "solve",
    .kept = "gp",
    .marker = "equations",
    .title = "collocation",
    .formula = "f(x) = sum_i a_i u_i k(., x) with u_j f = y_j for each row j: u_j is a value, a derivative, a "
               "Laplacian; (u_i u_j k)_ij a = y",
    .words = WORDS,
    .functionals = 1,
    .needs_kinds = 1,
    .python = {[GRAM_TASK_REGRESSION] = "Collocation"},
    .unscaled = 1,
    .verb = &VERB,
    .tasks = 1u << GRAM_TASK_REGRESSION,
    .intervals = 1,
    .process = 1,
    .kernel = "matern(nu=4.5)",
    .tuning = GRAM_TUNING_NONE,
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(gp_settings),
    .check = check,
    .plan = plan,
    .fit = fit,
    .keep = keep,
    .fitted = fitted,
    .forget = forget,
    .open = gram_gp_row_open,
    .evaluate = gram_gp_row_evaluate,
    .close = gram_gp_row_close,
    .report = report_solution,
};
