/* Fits under constraints: the conditions of Karush, Kuhn and Tucker, checked from the function alone, for monotone, convex and bounded fits
 * of several losses; constraints that change nothing; those that contradict each other; the norm ball in the place of a penalty. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { N = 30, M = 25, ALL = N + M };

static const double LAMBDA = 2e-3;

/* Noisy data of a rising function, and constraints of one kind on a grid. */
typedef struct problem {
    double at[ALL], y[ALL], along;
    gram_row_sense senses[ALL];
    gram_functional_term terms[ALL];
    gram_points *x;
    gram_kernel *kernel;
} problem;

static void open_problem(gram_context *context, gram_functional_kind kind, gram_row_sense sense, double bound,
                         problem *p)
{
    double *noise = test_random(11, N, -1, 1);
    p->along = 1;
    for (int i = 0; i < ALL; i++) {
        const int fitted = i < N;
        p->at[i] = fitted ? (i + 0.5) / N * 3 : (double)(i - N) / (M - 1) * 3;
        p->y[i] = fitted ? tanh(2 * p->at[i] - 3) + 0.4 * noise[i] : bound;
        p->senses[i] = fitted ? GRAM_ROW_FITTED : sense;
        if (sense == GRAM_ROW_EQUAL && !fitted &&
            (i - N) % 6 != 0) /* few: all would leave f no freedom but lost digits */
            p->senses[i] = GRAM_ROW_AT_LEAST, p->y[i] = -5;
        p->terms[i] = (gram_functional_term){.row = i,
                                             .kind = fitted ? GRAM_FUNCTIONAL_VALUE : kind,
                                             .coefficient = 1,
                                             .at = &p->at[i],
                                             .first = &p->along,
                                             .second = &p->along};
    }
    OK(context, gram_points_create_functionals(context, ALL, 1, ALL, p->terms, &p->x));
    p->kernel = test_kernel(context, "rbf(ell=0.5)");
    free(noise);
}

static void close_problem(problem *p)
{
    gram_points_release(p->x);
    gram_kernel_release(p->kernel);
}

static gram_loss_options options_of(const problem *p, gram_loss_kind kind)
{
    gram_loss_options options;
    gram_loss_options_init(&options, sizeof options);
    options.kind = kind;
    options.lambda = LAMBDA;
    options.delta = 0.3;
    options.senses = p->senses;
    options.tolerance = 1e-10;
    return options;
}

/* The least and the largest slope of the loss at a residual. */
static void subgradient(gram_loss_kind kind, double r, double tolerance, double *low, double *high)
{
    const double sign = r > 0 ? 1 : -1;
    *low = *high = NAN;
    if (kind == GRAM_LOSS_SQUARED) *low = *high = 2 * r;
    if (kind == GRAM_LOSS_HUBER) *low = *high = fabs(r) <= 0.3 ? 2 * r : 0.6 * sign;
    if (kind == GRAM_LOSS_ABSOLUTE) *low = *high = sign;
    if (kind == GRAM_LOSS_ABSOLUTE && fabs(r) < tolerance) *low = -1, *high = 1;
}

/* Stationarity, 2 n lambda a_i in the subgradient of the loss; signs and complementarity of the constraints; 1'a = 0 over what rows make of 1. */
static void check_conditions(gram_context *context, const problem *p, gram_loss_kind kind, const gram_loss *fit,
                             int expected_active)
{
    const gram_function *f = gram_loss_function(fit);
    const double *a = gram_function_coefficients(f), c = 2 * N * LAMBDA, tolerance = 1e-5;
    double u[ALL], sum = 0, low, high;
    int active = 0;
    OK(context, gram_function_evaluate(context, f, p->x, u, 1));
    for (int i = 0; i < ALL; i++) {
        sum += gram_points_of_one(p->x, i) * a[i];
        if (i < N) {
            subgradient(kind, p->y[i] - u[i], tolerance, &low, &high);
            if (!(c * a[i] >= low - tolerance && c * a[i] <= high + tolerance))
                FAIL_TEST("row %d: c a = %g, slopes of the loss %g to %g", i, c * a[i], low, high);
            continue;
        }
        const double room = p->senses[i] == GRAM_ROW_AT_LEAST ? u[i] - p->y[i] : p->y[i] - u[i];
        const double force = (p->senses[i] == GRAM_ROW_AT_LEAST ? a[i] : -a[i]) * c;
        if (p->senses[i] == GRAM_ROW_EQUAL) {
            if (fabs(room) > 1e-7) FAIL_TEST("row %d: %g of %g", i, u[i], p->y[i]);
            continue;
        }
        if (room < -1e-7) FAIL_TEST("row %d: a constraint is missed by %g", i, -room);
        if (force < -1e-9) FAIL_TEST("row %d: a force of the wrong sign, %g", i, force);
        if (force > 1e-4 && room > 1e-4) FAIL_TEST("row %d: a force of %g with room %g", i, force, room);
        active += force > 1e-4;
    }
    assert_true(fabs(sum) < 1e-6);
    if (expected_active >= 0) assert_true(expected_active ? active > 0 : active == 0);
    assert_int_equal(gram_loss_get_report(fit)->constraints, M);
    assert_int_equal(gram_loss_get_report(fit)->n, N);
}

static void optimality(void **state)
{
    gram_context *context = *state;
    static const struct {
        gram_functional_kind kind;
        gram_row_sense sense;
        double bound;
    } CASES[] = {{GRAM_FUNCTIONAL_SLOPE, GRAM_ROW_AT_LEAST, 0},     {GRAM_FUNCTIONAL_SLOPE, GRAM_ROW_AT_MOST, 1},
                 {GRAM_FUNCTIONAL_CURVATURE, GRAM_ROW_AT_LEAST, 0}, {GRAM_FUNCTIONAL_VALUE, GRAM_ROW_AT_LEAST, -0.5},
                 {GRAM_FUNCTIONAL_VALUE, GRAM_ROW_AT_MOST, 0.5},    {GRAM_FUNCTIONAL_SLOPE, GRAM_ROW_EQUAL, 0.5}};
    static const gram_loss_kind KINDS[] = {GRAM_LOSS_SQUARED, GRAM_LOSS_HUBER, GRAM_LOSS_ABSOLUTE};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++) {
            problem p;
            gram_loss *fit;
            open_problem(context, CASES[i].kind, CASES[i].sense, CASES[i].bound, &p);
            const gram_loss_options options = options_of(&p, KINDS[k]);
            OK(context, gram_loss_fit(context, p.kernel, p.x, p.y, &options, &fit));
            assert_true(gram_loss_get_report(fit)->iterations <= 25);
            check_conditions(context, &p, KINDS[k], fit, CASES[i].sense == GRAM_ROW_EQUAL ? -1 : 1);
            gram_loss_destroy(fit);
            close_problem(&p);
        }
}

/* Bounds that nothing reaches change nothing. */
static void loose(void **state)
{
    gram_context *context = *state;
    problem p;
    gram_loss *fit;
    gram_krr *krr;
    gram_krr_options squares;
    double values[2][N];
    open_problem(context, GRAM_FUNCTIONAL_VALUE, GRAM_ROW_AT_LEAST, -10, &p);
    gram_points *data = test_points(context, N, 1, p.at);
    const gram_loss_options options = options_of(&p, GRAM_LOSS_SQUARED);
    OK(context, gram_loss_fit(context, p.kernel, p.x, p.y, &options, &fit));
    check_conditions(context, &p, GRAM_LOSS_SQUARED, fit, 0);
    gram_krr_options_init(&squares, sizeof squares);
    squares.lambda = LAMBDA;
    OK(context, gram_krr_fit(context, p.kernel, data, 1, p.y, 1, &squares, &krr));
    OK(context, gram_function_evaluate(context, gram_loss_function(fit), data, values[0], 1));
    OK(context, gram_function_evaluate(context, gram_krr_function(krr), data, values[1], 1));
    test_near("without constraints", NULL, N, values[0], values[1], 1e-6);
    gram_krr_destroy(krr);
    gram_loss_destroy(fit);
    gram_points_release(data);
    close_problem(&p);
}

static void contradictions(void **state)
{
    gram_context *context = *state;
    problem p;
    gram_loss *fit;
    open_problem(context, GRAM_FUNCTIONAL_VALUE, GRAM_ROW_AT_LEAST, -1, &p);
    gram_loss_options options = options_of(&p, GRAM_LOSS_SQUARED);
    /* at one place at least 0.5 and at most 0.2 */
    gram_points_release(p.x);
    p.at[N + 3] = p.at[N + 4];
    p.y[N + 3] = 0.5;
    p.y[N + 4] = 0.2;
    p.senses[N + 4] = GRAM_ROW_AT_MOST;
    OK(context, gram_points_create_functionals(context, ALL, 1, ALL, p.terms, &p.x));
    for (int kind = 0; kind < 2; kind++) {
        options.kind = kind ? GRAM_LOSS_ABSOLUTE : GRAM_LOSS_SQUARED;
        REFUSED(context, gram_loss_fit(context, p.kernel, p.x, p.y, &options, &fit), GRAM_ERROR_DATA,
                "the constraints contradict each other");
    }
    /* a line through 0 that is at least 1 on both sides of it */
    gram_kernel *linear = test_kernel(context, "linear(c=0)");
    const double at[] = {0.5, 1, -1}, y[] = {0.4, 1, 1};
    const gram_row_sense senses[] = {GRAM_ROW_FITTED, GRAM_ROW_AT_LEAST, GRAM_ROW_AT_LEAST};
    gram_points *x = test_points(context, 3, 1, at);
    options.senses = senses;
    options.intercept = 0;
    REFUSED(context, gram_loss_fit(context, linear, x, y, &options, &fit), GRAM_ERROR_DATA, "contradict each other");
    gram_points_release(x);
    gram_kernel_release(linear);
    close_problem(&p);
}

static void refusals(void **state)
{
    gram_context *context = *state;
    problem p;
    gram_loss *fit;
    open_problem(context, GRAM_FUNCTIONAL_VALUE, GRAM_ROW_AT_LEAST, -1, &p);
    gram_loss_options options = options_of(&p, GRAM_LOSS_INSENSITIVE);
    REFUSED(context, gram_loss_fit(context, p.kernel, p.x, p.y, &options, &fit), GRAM_ERROR_UNSUPPORTED, "insensitive");
    options.kind = GRAM_LOSS_SQUARED;
    p.senses[5] = (gram_row_sense)7;
    REFUSED(context, gram_loss_fit(context, p.kernel, p.x, p.y, &options, &fit), GRAM_ERROR_ARGUMENT,
            "senses[5] = 7 is not a valid sense");
    for (int i = 0; i < ALL; i++) p.senses[i] = GRAM_ROW_AT_MOST;
    REFUSED(context, gram_loss_fit(context, p.kernel, p.x, p.y, &options, &fit), GRAM_ERROR_DATA,
            "all 55 rows are constraints");
    close_problem(&p);
}

/* The norm is B, no more; lambda is the multiplier: the fit with it as a penalty is the same; a large ball does not bind. */
static void ball(void **state)
{
    gram_context *context = *state;
    problem p;
    gram_krr *krr, *same;
    gram_loss *fit;
    gram_krr_options options;
    double values[2][N];
    open_problem(context, GRAM_FUNCTIONAL_VALUE, GRAM_ROW_AT_LEAST, -10, &p);
    gram_points *data = test_points(context, N, 1, p.at);
    gram_krr_options_init(&options, sizeof options);
    for (int size = 0; size < 3; size++) {
        static const double BALLS[] = {0.5, 2, 8};
        options.norm = BALLS[size];
        OK(context, gram_krr_fit(context, p.kernel, data, 1, p.y, 1, &options, &krr));
        const gram_krr_report *report = gram_krr_get_report(krr);
        assert_true(report->norm <= BALLS[size] * (1 + 1e-12) && report->norm > BALLS[size] * (1 - 1e-8));
        gram_krr_options penalty = options;
        penalty.norm = 0;
        penalty.lambda = report->lambda;
        OK(context, gram_krr_fit(context, p.kernel, data, 1, p.y, 1, &penalty, &same));
        OK(context, gram_function_evaluate(context, gram_krr_function(krr), data, values[0], 1));
        OK(context, gram_function_evaluate(context, gram_krr_function(same), data, values[1], 1));
        test_near("with its multiplier", NULL, N, values[0], values[1], 1e-12);
        gram_krr_destroy(same);
        gram_krr_destroy(krr);
    }
    gram_kernel *rough = test_kernel(context, "laplace(ell=1)"); /* interpolates with a moderate norm */
    options.norm = 1e3;
    OK(context, gram_krr_fit(context, rough, data, 1, p.y, 1, &options, &krr));
    assert_true(gram_krr_get_report(krr)->norm < 100);
    assert_true(gram_krr_get_report(krr)->train_rmse < 1e-9);
    gram_krr_destroy(krr);
    gram_kernel_release(rough);
    gram_loss_options loss = options_of(&p, GRAM_LOSS_ABSOLUTE);
    loss.senses = NULL;
    loss.norm = 2;
    OK(context, gram_loss_fit(context, p.kernel, data, p.y, &loss, &fit));
    assert_true(fabs(gram_loss_get_report(fit)->norm - 2) < 1e-4);
    gram_loss_destroy(fit);
    options.norm = NAN;
    REFUSED(context, gram_krr_fit(context, p.kernel, data, 1, p.y, 1, &options, &krr), GRAM_ERROR_ARGUMENT,
            "norm = nan");
    gram_points_release(data);
    close_problem(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimality), cmocka_unit_test(loose), cmocka_unit_test(contradictions),
        cmocka_unit_test(refusals),   cmocka_unit_test(ball),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
