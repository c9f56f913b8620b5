/* gram solve from C, as a user would call it: the heat equation on a rectangle, Poisson's on a disc, on a cloud of places and with slopes at the
 * boundary, Helmholtz and advection with diffusion, against known solutions; errors fall at the rate that the kernel's smoothness gives, and
 * beside them are finite differences with as many unknowns. Unknown coefficients: found, with error bars that hold, whatever an
 * equation is multiplied by. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/learn.h>
#include <gram/text.h>

#include "samples.h"
#include "support.h"

static const double PI = 3.14159265358979323846;

typedef double (*function_2d)(double x, double y);

/* ---- tables ---- */

static void add_row(gram_string *csv, double x, double y, const char *kind, double u)
{
    char a[GRAM_NUMBER_SIZE], b[GRAM_NUMBER_SIZE], c[GRAM_NUMBER_SIZE];
    gram_string_add(csv, "%s,%s,%s,%s\n", gram_number_format(x, a), gram_number_format(y, b), kind,
                    gram_number_format(u, c));
}

static gram_table *read_table(gram_context *context, const char *csv)
{
    gram_table_options options;
    gram_table *table = NULL;
    gram_table_options_init(&options, sizeof options);
    options.text = GRAM_TEXT_CATEGORIES;
    OK(context, gram_table_read_memory(context, "t.csv", csv, strlen(csv), &options, &table));
    return table;
}

/* Settings are pairs of texts, the last NULL. */
static gram_status try_solve(gram_context *context, const char *csv, const char *const *settings, gram_model **model)
{
    gram_learner *learner = NULL;
    gram_table *table = read_table(context, csv);
    OK(context, gram_learner_create(context, &learner));
    gram_status status = gram_learner_set(context, learner, "method", "solve");
    for (int i = 0; settings[i] && status >= 0; i += 2)
        status = gram_learner_set(context, learner, settings[i], settings[i + 1]);
    if (status >= 0) status = gram_learn_table(context, learner, table, "t.csv", model);
    gram_learner_destroy(learner);
    gram_table_destroy(table);
    return status;
}

static gram_model *solve(gram_context *context, const char *csv, const char *const *settings)
{
    gram_model *model = NULL;
    OK(context, try_solve(context, csv, settings, &model));
    return model;
}

/* Root mean square of u - truth at places, two numbers each; their number is at most 400. */
static double error_at(gram_context *context, const gram_model *model, int n, const double *places, function_2d truth)
{
    double u[400], sum = 0;
    assert_true(n <= 400);
    OK(context, gram_predict(context, model, NULL, n, places, 2, u, 1));
    for (int i = 0; i < n; i++) sum += pow(u[i] - truth(places[2 * i], places[2 * i + 1]), 2) / n;
    return sqrt(sum);
}

/* ---- known solutions ---- */

static double heat(double x, double t)
{
    return exp(-0.1 * PI * PI * t) * sin(PI * x);
}

static double wave(double x, double y)
{
    return sin(2 * x) * exp(y);
}

/* Steady: a u_x = 0.5 Laplacian u with a = 1 has the solution exp(2x). */
static double carried(double x, double y)
{
    (void)y;
    return exp(2 * x) / 5;
}

/* Places inside the unit square, 15 x 15; those in the disc about its middle with radius 0.45 only. */
static int make_places(double *places, int disc)
{
    int n = 0;
    for (int i = 0; i < 225; i++) {
        const double x = (i % 15 + 0.5) / 15, y = ((double)(i / 15) + 0.5) / 15;
        if (disc && hypot(x - 0.5, y - 0.5) > 0.45) continue;
        places[2 * n] = x;
        places[2 * n++ + 1] = y;
    }
    return n;
}

/* ---- the cases ---- */

/* Rows of a grid with m steps; at t = 0 and both ends of x values. */
static void heat_rows(gram_string *csv, int m)
{
    gram_string_add(csv, "x,t,kind,u\n");
    for (int i = 0; i <= m; i++)
        for (int j = 0; j <= m; j++) {
            const double x = (double)i / m, t = (double)j / m;
            const int known = j == 0 || i == 0 || i == m;
            add_row(csv, x, t, known ? "value" : "heat", known ? heat(x, t) : 0);
        }
}

/* Rings about (0.5, 0.5), radius 0.5; the outermost has values or, but for one, slopes outwards (by the place's own kind). */
static void disc_rows(gram_string *csv, int m)
{
    gram_string_add(csv, "x,y,kind,u\n");
    for (int ring = 0; ring <= m; ring++) {
        const int count = ring == 0 ? 1 : (int)ceil(2 * PI * ring);
        for (int k = 0; k < count; k++) {
            const double angle = 2 * PI * (k + 0.3 * (ring % 3)) / count, r = 0.5 * ring / m;
            const double x = 0.5 + r * cos(angle), y = 0.5 + r * sin(angle);
            add_row(csv, x, y, ring == m ? "value" : "laplacian", ring == m ? wave(x, y) : -3 * wave(x, y));
        }
    }
}

/* A cloud: places that no grid has, and values on the square's sides. */
static void cloud_rows(gram_string *csv, int m, const char *kind, function_2d truth, double factor)
{
    gram_string_add(csv, "x,y,kind,u\n");
    for (int k = 0; k < m * m; k++) { /* Halton's points */
        double x = 0, y = 0, f = 0.5;
        for (int i = k + 1; i > 0; i /= 2, f /= 2) x += f * (i % 2);
        f = 1.0 / 3;
        for (int i = k + 1; i > 0; i /= 3, f /= 3) y += f * (i % 3);
        add_row(csv, x, y, kind, factor * truth(x, y));
    }
    for (int k = 0; k < m; k++)
        for (int side = 0; side < 4; side++) {
            const double s = (double)k / m, ends[4][2] = {{s, 0}, {1, s}, {1 - s, 1}, {0, 1 - s}};
            add_row(csv, ends[side][0], ends[side][1], "value", truth(ends[side][0], ends[side][1]));
        }
}

/* On the grid, slopes at the side x = 1: Neumann's condition. */
static void neumann_rows(gram_string *csv, int m)
{
    gram_string_add(csv, "x,y,kind,u\n");
    for (int i = 0; i <= m; i++)
        for (int j = 0; j <= m; j++) {
            const double x = (double)i / m, y = (double)j / m;
            const int inside = i > 0 && i < m && j > 0 && j < m, slope = i == m && j > 0 && j < m;
            add_row(csv, x, y,
                    inside  ? "laplacian"
                    : slope ? "d:x"
                            : "value",
                    inside  ? -3 * wave(x, y)
                    : slope ? 2 * cos(2 * x) * exp(y)
                            : wave(x, y));
        }
}

static void helmholtz_rows(gram_string *csv, int m)
{
    cloud_rows(csv, m, "helmholtz", wave, 6); /* Laplacian u + 9 u = (-3 + 9) u */
}

static void advection_rows(gram_string *csv, int m)
{
    cloud_rows(csv, m, "carried", carried, 0);
}

static void scattered_rows(gram_string *csv, int m)
{
    cloud_rows(csv, m, "laplacian", wave, -3);
}

typedef struct equation {
    const char *what, *operators;
    void (*rows)(gram_string *csv, int m);
    function_2d truth;
    int disc;
    double least; /* of the slope */
    double error; /* at the finer step, at most */
} equation;

static double error_of(gram_context *context, const equation *e, const char *kernel, int m)
{
    const char *settings[] = {"kind", "kind", "kernel", kernel, e->operators ? "operator" : NULL, e->operators, NULL};
    gram_string csv = {0};
    double places[450];
    e->rows(&csv, m);
    gram_model *model = solve(context, csv.data, settings);
    const double error = error_at(context, model, make_places(places, e->disc), places, e->truth);
    gram_model_destroy(model);
    gram_string_free(&csv);
    return error;
}

/* matern(nu=4.5) in the plane has the Sobolev order 5.5: for second-order equations theory promises h^3.5 in L2 (Giesl and Wendland
 * 2007) and more for solutions that are smoother still; h goes from 1/4 to 1/12. */
static void rates(void **state)
{
    static const equation EQUATIONS[] = {
        {"heat", "heat=d:t - 0.1*d:x:x", heat_rows, heat, 0, 3.3, 6e-4},
        {"Poisson on a disc", NULL, disc_rows, wave, 1, 3.5, 4e-6},
        {"Poisson with slopes at a side", NULL, neumann_rows, wave, 0, 3.3, 2e-4},
        {"Poisson on a cloud", NULL, scattered_rows, wave, 0, 3.5, 4e-5},
        {"Helmholtz on a cloud", "helmholtz=laplacian + 9", helmholtz_rows, wave, 0, 3.5, 4e-5},
        {"advection and diffusion", "carried=0.5*laplacian - d:x", advection_rows, carried, 0, 3.5, 3e-5},
    };
    for (size_t e = 0; e < sizeof EQUATIONS / sizeof *EQUATIONS; e++) {
        const double coarse = error_of(*state, &EQUATIONS[e], "matern(nu=4.5, ell=1)", 4);
        const double fine = error_of(*state, &EQUATIONS[e], "matern(nu=4.5, ell=1)", 12);
        const double slope = log(coarse / fine) / log(3);
        print_message("%s: L2 error %.3g and %.3g at h = 1/4 and 1/12, slope %.2f\n", EQUATIONS[e].what, coarse, fine,
                      slope);
        if (!(slope >= EQUATIONS[e].least && fine <= EQUATIONS[e].error))
            FAIL_TEST("%s: L2 error %g and %g, slope %.2f", EQUATIONS[e].what, coarse, fine, slope);
    }
}

/* Crank and Nicolson's differences on the same grid as the collocation: h^2. */
static double difference_error(int m)
{
    const double r = 0.1 * m / 2; /* k dt/(2 h^2) with dt = h = 1/m */
    double u[64] = {0}, right[64], c[64], sum = 0;
    int count = 0;
    for (int i = 0; i <= m; i++) u[i] = heat((double)i / m, 0);
    for (int j = 1; j <= m; j++) {
        for (int i = 1; i < m; i++) right[i] = u[i] + r * (u[i - 1] - 2 * u[i] + u[i + 1]);
        u[0] = u[m] = 0;
        c[0] = 0;
        for (int i = 1; i < m; i++) { /* Thomas's elimination */
            const double pivot = 1 + 2 * r + r * c[i - 1];
            c[i] = -r / pivot;
            right[i] = (right[i] + r * (i > 1 ? right[i - 1] : 0)) / pivot;
        }
        for (int i = m - 1; i > 0; i--) u[i] = right[i] - c[i] * u[i + 1];
        for (int i = 0; i <= m; i++, count++) sum += pow(u[i] - heat((double)i / m, (double)j / m), 2);
    }
    return sqrt(sum / count);
}

static void beside_differences(void **state)
{
    static const equation HEAT = {"heat", "heat=d:t - 0.1*d:x:x", heat_rows, heat, 0, 0, 0};
    const double coarse = difference_error(4), fine = difference_error(12);
    const double own = error_of(*state, &HEAT, "matern(nu=4.5, ell=1)", 12);
    print_message("differences: error %.3g at h = 1/12, slope %.2f; collocation %.3g\n", fine,
                  log(coarse / fine) / log(3), own);
    assert_true(fabs(log(coarse / fine) / log(3) - 2) < 0.3);
    assert_true(own < fine / 2);
}

/* ---- matrix-free ---- */

/* Conjugate gradients find the same solution, with a residual as small as is asked for. */
static void without_a_factor(void **state)
{
    static const equation HEAT = {"heat", "heat=d:t - 0.1*d:x:x", heat_rows, heat, 0, 0, 0};
    const char *exact[] = {"kind", "kind", "kernel", "matern(nu=4.5, ell=1)", "operator", HEAT.operators, NULL};
    const char *free[] = {"kind",   "kind", "kernel", "matern(nu=4.5, ell=1)", "operator", HEAT.operators,
                          "solver", "cg",   NULL};
    gram_string csv = {0};
    double places[450], u[2][225];
    const int n = make_places(places, 0);
    heat_rows(&csv, 14);
    for (int k = 0; k < 2; k++) {
        gram_model *model = solve(*state, csv.data, k ? free : exact);
        OK(*state, gram_predict(*state, model, NULL, n, places, 2, u[k], 1));
        if (k) {
            print_message("225 rows: %g iterations, residual %.2g\n", gram_model_find(model, "iterations").number,
                          gram_model_find(model, "residual").number);
            assert_true(gram_model_find(model, "residual").number < 1e-8);
            assert_string_equal(gram_model_find(model, "solver").text, "cg");
        }
        gram_model_destroy(model);
    }
    for (int i = 0; i < n; i++) assert_true(fabs(u[0][i] - u[1][i]) < 1e-5); /* the solution's own error is 2e-4 */
    gram_string_free(&csv);
}

/* ---- boundary rows that hold exactly, or nearly ---- */

static void exact_or_weighted(void **state)
{
    static const char csv[] = "x,kind,s,u\n0,value,0,0\n1,value,0,0\n1,value2,0.01,1\n0.3,d:x:x,0,-2\n0.6,d:x:x,0,-2\n";
    const char *settings[] = {
        "kind",   "kind", "kernel", "matern(nu=4.5, ell=1)", "operator", "value2=value", "row-noise", "s",
        "target", "u",    NULL};
    gram_model *model = solve(*state, csv, settings);
    const double ends[] = {0, 1};
    double u[2];
    OK(*state, gram_predict(*state, model, NULL, 2, ends, 1, u, 1));
    test_near("exact", NULL, 2, u, (double[]){0, 0},
              1e-9); /* the row that holds nearly says nothing beside one that holds */
    gram_model_destroy(model);
}

/* ---- unknown coefficients ---- */

static double number_of(const gram_model *model, const char *array)
{
    int64_t rows, columns;
    const double *found = gram_model_array(model, array, &rows, &columns);
    assert_non_null(found);
    assert_int_equal(rows * columns, 1);
    return found[0];
}

/* u' = -k u with u(0) = 1, from the equation at some places and noisy values. */
static void decay_rows(gram_string *csv, double k, const double *normal, double noise)
{
    char a[GRAM_NUMBER_SIZE], b[GRAM_NUMBER_SIZE], s[GRAM_NUMBER_SIZE];
    gram_string_add(csv, "t,kind,s,u\n0,value,0,1\n");
    for (int i = 0; i <= 10; i++) gram_string_add(csv, "%s,decay,0,0\n", gram_number_format(0.2 * i, a));
    for (int i = 0; i < 8; i++) {
        const double t = 0.25 * (i + 1) - 0.1;
        gram_string_add(csv, "%s,value,%s,%s\n", gram_number_format(t, a), gram_number_format(noise * noise, s),
                        gram_number_format(exp(-k * t) + noise * normal[i], b));
    }
}

static gram_model *find_decay(gram_context *context, double k, const double *normal, double noise,
                              const char *operators)
{
    const char *settings[] = {"kind",       "kind",      "operator", operators, "unknown", "k=0.05:20", "kernel",
                              "rbf(ell=1)", "row-noise", "s",        "target",  "u",       NULL};
    gram_string csv = {0};
    decay_rows(&csv, k, normal, noise);
    gram_model *model = solve(context, csv.data, settings);
    gram_string_free(&csv);
    return model;
}

/* Against least squares: with noise as it is, the deviation of k is 1/sqrt(sum (t exp(-kt))^2)/noise. Covered as often as it says. */
static void calibrated(void **state)
{
    enum { SETS = 60 };
    const double k = 0.8, noise = 0.03;
    double *normal = sample_normal(5, SETS * 8), information = 0, squares = 0, ratio = 0;
    int inside = 0;
    for (int i = 0; i < 8; i++) information += pow((0.25 * (i + 1) - 0.1) * exp(-k * (0.25 * (i + 1) - 0.1)), 2);
    const double best = noise / sqrt(information);
    for (int set = 0; set < SETS; set++) {
        gram_model *model = find_decay(*state, k, normal + (ptrdiff_t)set * 8, noise, "decay=d:t + k");
        const double z = (number_of(model, "unknown_value") - k) / number_of(model, "unknown_std");
        inside += fabs(z) < 1.96;
        squares += z * z / SETS;
        ratio += number_of(model, "unknown_std") / best / SETS;
        gram_model_destroy(model);
    }
    print_message("95 %% intervals cover %d of %d, mean square %.2f, deviation over that of least squares %.3f\n",
                  inside, (int)SETS, squares, ratio);
    assert_true(inside >= 51); /* binomial(60, 0.95): fewer than 51 have a probability of 0.001 */
    assert_true(squares > 0.6 && squares < 1.6);
    assert_true(ratio > 0.9 && ratio < 1.2);
    free(normal);
}

/* Multiplied by 100 an equation is the same. */
static void scale_of_an_equation(void **state)
{
    double *normal = sample_normal(9, 8);
    gram_model *one = find_decay(*state, 3, normal, 0.01, "decay=d:t + k*value");
    gram_model *other = find_decay(*state, 3, normal, 0.01, "decay=100*d:t + 100*k");
    print_message("k = %.4f +- %.4f (3), and %.4f +- %.4f\n", number_of(one, "unknown_value"),
                  number_of(one, "unknown_std"), number_of(other, "unknown_value"), number_of(other, "unknown_std"));
    assert_true(fabs(number_of(one, "unknown_value") - 3) < 4 * number_of(one, "unknown_std"));
    const double a[] = {number_of(one, "unknown_value"), number_of(one, "unknown_std")};
    const double b[] = {number_of(other, "unknown_value"), number_of(other, "unknown_std")};
    assert_true(fabs(a[0] - b[0]) < 0.05 * a[1]); /* the search ends where steps gain 1e-5 of a logarithm */
    assert_true(fabs(a[1] - b[1]) < 0.05 * a[1]);
    gram_model_destroy(one);
    gram_model_destroy(other);
    free(normal);
}

/* Two at once: u'' + c u' + k u = 0; the model keeps them, and predicts rows of that kind. */
static void two_unknowns(void **state)
{
    const char *settings[] = {"kind",      "kind",       "operator", "osc=d:t:t + c*d:t + k",
                              "kernel",    "rbf(ell=1)", "unknown",  "c=0:2;k=1:30",
                              "row-noise", "s",          "target",   "u",
                              NULL};
    gram_string csv = {0};
    char a[GRAM_NUMBER_SIZE], b[GRAM_NUMBER_SIZE];
    gram_model *model = NULL;
    int64_t rows, columns;
    gram_string_add(&csv, "t,kind,s,u\n");
    for (int i = 0; i <= 20; i++) gram_string_add(&csv, "%s,osc,0,0\n", gram_number_format(0.15 * i, a));
    for (int i = 0; i < 15; i++) /* damping 0.5: u = exp(-t/4) cos(w t), w^2 = 9 - 1/16 */
        gram_string_add(&csv, "%s,value,1e-6,%s\n", gram_number_format(0.2 * i, a),
                        gram_number_format(exp(-0.05 * i) * cos(sqrt(9 - 1.0 / 16) * 0.2 * i), b));
    model = solve(*state, csv.data, settings);
    const double *value = gram_model_array(model, "unknown_value", &rows, &columns);
    const double *deviation = gram_model_array(model, "unknown_std", &rows, &columns);
    print_message("c = %.4f +- %.4f (0.5), k = %.4f +- %.4f (9)\n", value[0], deviation[0], value[1], deviation[1]);
    assert_true(fabs(value[0] - 0.5) < 0.02 && fabs(value[1] - 9) < 0.05);
    assert_true(deviation[0] > 1e-5 && deviation[0] < 0.05 && deviation[1] > 1e-5 && deviation[1] < 0.2);
    gram_model_destroy(model);
    gram_string_free(&csv);
}

static void refusals(void **state)
{
    static const char csv[] = "t,kind,u\n0,value,1\n0.5,decay,0\n1,decay,0\n1,value,0.4\n";
    static const char equations[] = "t,kind,u\n0.5,decay,0\n1,decay,0\n";
    static const struct {
        const char *csv, *operators, *unknown, *says;
    } CASES[] = {
        {csv, "decay=d:t + k", NULL, "'k' is not a kind of row"},
        {csv, "decay=d:t + k*value", NULL, "'k' in 'k*value' is not a number"},
        {csv, "decay=d:t + k*value", "k", "unknown: 'k' is not NAME=LOW:HIGH"},
        {csv, "decay=d:t + k*value", "k=3:1", "LOW below HIGH"},
        {csv, "decay=d:t + k*value", "k=0:inf", "LOW:HIGH"},
        {csv, "decay=d:t + k*value", "k=1:2;k=1:3", "'k' is given twice"},
        {csv, "decay=d:t + k*value", "value=1:2", "'value=1:2' is not NAME"},
        {csv, "decay=d:t + k*value", "c=1:2;k=1:2", "no row has 'c' in its operator"},
        {csv, "decay=d:t + k*c*value", "c=1:2;k=1:2", "'c' in 'k*c*value' is a second unknown"},
        {csv, NULL, "k=1:2", "operator, which is not given"},
        {equations, "decay=d:t + k*value", "k=1:2", "all 2 rows are equations with an unknown"},
    };
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        const char *settings[8] = {"kind", "kind"};
        int count = 2;
        gram_model *model = NULL;
        if (CASES[c].operators) settings[count++] = "operator", settings[count++] = CASES[c].operators;
        if (CASES[c].unknown) settings[count++] = "unknown", settings[count++] = CASES[c].unknown;
        const gram_status status = try_solve(*state, CASES[c].csv, settings, &model);
        assert_true(status < 0);
        assert_null(model);
        if (!strstr(gram_context_message(*state), CASES[c].says))
            FAIL_TEST("'%s' is not in '%s'", CASES[c].says, gram_context_message(*state));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates),
        cmocka_unit_test(beside_differences),
        cmocka_unit_test(without_a_factor),
        cmocka_unit_test(exact_or_weighted),
        cmocka_unit_test(calibrated),
        cmocka_unit_test(scale_of_an_equation),
        cmocka_unit_test(two_unknowns),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
