/* Linear differential equations by symmetric collocation: `gram solve`.
 *
 * A solution is looked for in the kernel's Hilbert space: of all functions that satisfy the rows, L f = g at the places inside and
 * f = h (or a slope) at those of the boundary, the one of least norm. By the representer theorem it is a sum of the rows'
 * representers, and conditioning a Gaussian process on functionals without noise is the same computation (Fasshauer 1997; Cockayne et
 * al. 2019); its deviation is the error indicator, a multiple of the worst error over functions of a given norm. So this is the row of
 * Gaussian processes with other defaults: no noise, mean zero, nothing tuned, features as they are. --row-noise gives rows a weight of
 * their own.
 *
 * What makes a problem ill-posed is said before it is solved: no row that is an equation, and two values for one place. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "method/gp/gp_model.h"
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
    {.name = "keep-factor",
     .kind = GRAM_OPTION_SWITCH,
     .offset = PLACE(keep_factor),
     .help = "the model keeps its factor, n^2/2 numbers, above 1,000 rows too: --std is quicker",
     .help_no = "it keeps none, however small"},
};

static gram_status check(gram_learning *learning)
{
    gp_settings *own = learning->settings;
    own->ridge.lambda = own->ridge.alpha = own->tolerance = NAN; /* which have no option here */
    if (!gram_given_text(learning, "kind"))
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT,
                                  "Give --kind COL: its words are laplacian, d:NAME, value, or a name of --operator.",
                                  "what each row says of the solution is not known");
    return GRAM_OK;
}

/* Does row i differentiate? */
static int is_equation(const gram_points *x, int64_t i)
{
    const gram_functionals *u = x->functionals;
    for (int64_t k = u->first[i]; k < u->first[i + 1]; k++)
        if (u->kind[k] == GRAM_ATOM_FIRST || u->kind[k] == GRAM_ATOM_SECOND) return 1;
    return 0;
}

static gram_status check_equations(gram_learning *learning)
{
    int64_t count = 0;
    for (int64_t i = 0; i < learning->points->n; i++) count += is_equation(learning->points, i);
    if (count > 0) return GRAM_OK;
    return gram_learning_fail_data(learning,
                                   "Rows inside have a kind such as laplacian; `gram fit` interpolates values.",
                                   "no row is an equation: all %" PRId64 " are values", learning->points->n);
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
            if (!gram_points_are_value(x, j)) continue;
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
    if (learning->functionals && own->ridge.noise == 0 && !own->row_noise) TRY(check_values(learning));
    TRY(gram_method_gp.plan(learning));
done:
    return status;
}

static gram_status fit(gram_learning *learning)
{
    return gram_method_gp.fit(learning);
}

static gram_status fitted(gram_learning *learning, double *f, const char **what)
{
    return gram_method_gp.fitted(learning, f, what);
}

static void forget(gram_learning *learning)
{
    gram_method_gp.forget(learning);
}

static void report_solution(gram_report *report)
{
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
        "  gram predict u.gram grid.csv --std -o u.csv\n",
    .out = "write the solution to FILE, for `gram predict`",
    .out_is_model = 1,
};

static const gram_kept_words WORDS[] = {{"solver", "exact cg markov inducing"},
                                        {"precision", "f64 mixed"},
                                        {"mean", "zero constant linear flat"},
                                        {NULL, NULL}};

const gram_method gram_method_solve = {
    .name = "solve",
    .kept = "gp",
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
    .keep = gram_gp_row_keep,
    .fitted = fitted,
    .forget = forget,
    .open = gram_gp_row_open,
    .evaluate = gram_gp_row_evaluate,
    .close = gram_gp_row_close,
    .report = report_solution,
};
