/* Functionals as points: Gram entries against 30 digits, what they are for functions of the space, integrals against fine
 * rules, which of them are refused, and that every way to K agrees. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"
#include "points/points.h"
#include "support.h"

enum { D = 2, KINDS = 6 };

/* The kinds of tests/reference/make_functionals.py: how many derivatives by each column, Laplacian apart. */
static const double E1[D] = {1, 0}, E2[D] = {0, 1};

static gram_functional_term term_of(int64_t row, int kind, const double *at)
{
    gram_functional_term term = {.row = row, .coefficient = 1, .at = at};
    if (kind == 1 || kind == 2) term.kind = GRAM_FUNCTIONAL_SLOPE;
    if (kind == 3 || kind == 4) term.kind = GRAM_FUNCTIONAL_CURVATURE;
    if (kind == 5) term.kind = GRAM_FUNCTIONAL_LAPLACIAN;
    term.first = kind == 2 ? E2 : E1;
    term.second = kind == 3 ? E2 : E1;
    return term;
}

/* All `kinds` at each of n points, point by point. */
static gram_points *jets(gram_context *context, int64_t n, const double *points, int kinds)
{
    gram_functional_term *terms = calloc((size_t)(n * kinds), sizeof *terms);
    gram_points *made;
    for (int64_t i = 0; i < n * kinds; i++) terms[i] = term_of(i, (int)(i % kinds), points + i / kinds * D);
    OK(context, gram_points_create_functionals(context, n * kinds, D, n * kinds, terms, &made));
    free(terms);
    return made;
}

/* ---- the table ---- */

static const double REFERENCE[3][D] = {{0.375, 0.625}, {0.875, 0.25}, {1.25, 1.125}};

/* One kernel: entries of the first kinds for each ordered pair of different points, to 2e-13 of the row's size. */
static void check_reference(gram_context *context, FILE *file, const char *text, int kinds)
{
    gram_kernel *written = test_kernel(context, text), *kernel = NULL;
    gram_points *x = jets(context, 3, REFERENCE[0], kinds), *sample = test_points(context, 3, D, REFERENCE[0]);
    OK(context, gram_kernel_resolve(context, written, sample, &kernel));
    double *k = test_matrix(context, kernel, x, NULL), *wanted = test_numbers(kinds * kinds);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            double most = 0;
            if (a == b) continue;
            test_read_numbers(file, kinds * kinds, wanted);
            for (int e = 0; e < kinds * kinds; e++) most = fmax(most, fabs(wanted[e]));
            for (int e = 0; e < kinds * kinds; e++) {
                const double got = k[(a * kinds + e / kinds) * 3 * kinds + b * kinds + e % kinds];
                if (!(fabs(got - wanted[e]) <= 2e-13 * most))
                    FAIL_TEST("%s, points %d and %d, kinds %d and %d: %.17g, wanted %.17g", text, a, b, e / kinds,
                              e % kinds, got, wanted[e]);
            }
        }
    free(wanted);
    free(k);
    gram_points_release(x);
    gram_points_release(sample);
    gram_kernel_release(written);
    gram_kernel_release(kernel);
}

static void reference_entries(void **state)
{
    FILE *file = test_open_reference("functionals.txt");
    char line[512];
    int order, count = 0;
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "kernel ", 7) != 0) continue;
        line[strcspn(line, "\n")] = 0;
        assert_int_equal(sscanf(line, "kernel %d", &order), 1);
        check_reference(*state, file, line + 9, order == 0 ? 1 : order == 1 ? 3 : 6);
        count++;
    }
    assert_int_equal(count, 47);
    (void)fclose(file);
}

/* ---- every kernel ---- */

/* How many of the kinds the kernel's facts promise. */
static int kinds_of(gram_context *context, const gram_kernel *kernel)
{
    gram_properties facts;
    OK(context, gram_kernel_properties(context, kernel, D, &facts));
    return facts.derivatives == GRAM_INFINITE || facts.derivatives >= 2 ? 6 : facts.derivatives == 1 ? 3 : 1;
}

/* Symmetric, positive semi-definite, the same from products, columns and the diagonal. */
static void check_matrix(gram_context *context, const char *text, const gram_kernel *kernel, const gram_points *x)
{
    const int64_t n = gram_points_count(x);
    double *k = test_matrix(context, kernel, x, NULL), *diagonal = test_numbers(n), *v = test_numbers(4 * n),
           *product = test_numbers(4 * n), *wanted = test_numbers(4 * n), *columns = test_numbers(2 * n), trace = 0;
    const int64_t index[2] = {n - 1, 0};
    OK(context, gram_matrix_diagonal(context, kernel, x, diagonal));
    OK(context, gram_matrix_columns(context, kernel, x, 2, index, columns, 2));
    for (int64_t i = 0; i < 4 * n; i++) v[i] = sin(1.0 + (double)i);
    OK(context, gram_matrix_product(context, kernel, x, NULL, 4, v, 4, product, 4));
    for (int64_t i = 0; i < n; i++) {
        trace += k[i * n + i];
        if (diagonal[i] != k[i * n + i]) FAIL_TEST("%s: diagonal %lld", text, (long long)i);
        for (int64_t j = 0; j < i; j++)
            if (k[i * n + j] != k[j * n + i]) FAIL_TEST("%s: not symmetric", text);
        for (int c = 0; c < 2; c++)
            if (!(fabs(columns[i * 2 + c] - k[i * n + index[c]]) <= 1e-12 * trace)) FAIL_TEST("%s: columns", text);
        for (int c = 0; c < 4; c++) {
            double size = 0;
            wanted[i * 4 + c] = 0;
            for (int64_t j = 0; j < n; j++) {
                wanted[i * 4 + c] += k[i * n + j] * v[j * 4 + c];
                size += fabs(k[i * n + j]);
            }
            if (!(fabs(product[i * 4 + c] - wanted[i * 4 + c]) <= 1e-13 * size)) FAIL_TEST("%s: product", text);
        }
    }
    for (int64_t i = 0; i < n; i++) k[i * n + i] += 1e-11 * trace;
    double *factor = test_numbers(n * n);
    if (!gram_small_cholesky(n, k, factor))
        FAIL_TEST("%s: values and derivatives are not positive semi-definite", text);
    free(factor);
    free(k);
    free(diagonal);
    free(v);
    free(product);
    free(wanted);
    free(columns);
}

static void every_kernel(void **state)
{
    gram_context *context = *state;
    test_expressions list;
    double *data = test_spread(5, 7, D);
    test_expressions_make_smooth(D, &list);
    for (int e = 0; e < list.count; e++) {
        gram_kernel *kernel = test_kernel(context, list.text[e]);
        gram_properties facts;
        OK(context, gram_kernel_properties(context, kernel, D, &facts));
        gram_points *x = jets(context, 7, data, kinds_of(context, kernel));
        double *out = test_numbers(42L * 42);
        const gram_status status = gram_matrix(context, kernel, x, NULL, out, gram_points_count(x));
        free(out);
        if (status == GRAM_OK && facts.positive_definite == GRAM_YES)
            check_matrix(context, list.text[e], kernel, x);
        else if (status != GRAM_OK && !strstr(list.text[e], "white") && !strstr(list.text[e], "nngp") &&
                 !strstr(list.text[e], "ntk"))
            FAIL_TEST("%s: %s", list.text[e], gram_context_message(context));
        gram_points_release(x);
        gram_kernel_release(kernel);
    }
    test_expressions_free(&list);
    free(data);
}

/* ---- what a functional does to a function ---- */

/* f = sum_i a_i u_i k for functionals u_i: its values, its derivatives as functionals, and those as differences of values. */
static void reproducing(void **state)
{
    gram_context *context = *state;
    static const char *const TEXTS[] = {"rbf(ell=0.6)", "matern(nu=3.5, ell=0.9)", "rq(alpha=2, ell=0.8)*linear(c=1)"};
    const double h = 1e-3;
    for (size_t e = 0; e < sizeof TEXTS / sizeof *TEXTS; e++) {
        gram_kernel *kernel = test_kernel(context, TEXTS[e]);
        gram_points *centres = jets(context, 3, REFERENCE[0], KINDS), *places;
        const double at[D] = {0.6, 0.4}, a[18] = {1, -2, 0.5, 0.3, 0.2, -0.1, 2, 1, -1, 0.1, 0.2, 0.1, -1, 1, 1, 0.3};
        double grid[25][D], f[25], got[KINDS], slopes[D];
        gram_function *function;
        OK(context, gram_function_create(context, kernel, centres, 1, a, 1, NULL, &function));
        for (int i = 0; i < 25; i++) grid[i][0] = at[0] + h * (i % 5 - 2), grid[i][1] = at[1] + h * (i / 5 - 2);
        gram_points *x = test_points(context, 25, D, grid[0]);
        OK(context, gram_function_evaluate(context, function, x, f, 1));
        places = jets(context, 1, at, KINDS);
        OK(context, gram_function_evaluate(context, function, places, got, 1));
        const double by1 = (8 * (f[13] - f[11]) - (f[14] - f[10])) / (12 * h);
        const double by2 = (8 * (f[17] - f[7]) - (f[22] - f[2])) / (12 * h);
        const double both = (f[18] - f[16] - f[8] + f[6]) / (4 * h * h);
        const double twice1 = (16 * (f[13] + f[11]) - f[14] - f[10] - 30 * f[12]) / (12 * h * h);
        const double twice2 = (16 * (f[17] + f[7]) - f[22] - f[2] - 30 * f[12]) / (12 * h * h);
        const double wanted[KINDS] = {f[12], by1, by2, both, twice1, twice1 + twice2};
        for (int i = 0; i < KINDS; i++)
            if (!(fabs(got[i] - wanted[i]) <= 2e-4 * (1 + fabs(wanted[i]))))
                FAIL_TEST("%s: kind %d is %.10g, by differences %.10g", TEXTS[e], i, got[i], wanted[i]);
        gram_points *one = test_points(context, 1, D, at);
        OK(context, gram_function_gradient(context, function, 0, one, slopes, D));
        test_near("gradient", TEXTS[e], D, slopes, got + 1, 1e-12);
        gram_points_release(one);
        gram_points_release(x);
        gram_points_release(places);
        gram_points_release(centres);
        gram_function_release(function);
        gram_kernel_release(kernel);
    }
}

/* An operator is the sum of its parts, and a row the sum of its terms. */
static void combinations(void **state)
{
    gram_context *context = *state;
    const double matrix[D * D] = {2, -1, 0.5, 0}, slope[D] = {3, -4}, *p = REFERENCE[0], *q = REFERENCE[1];
    const gram_functional_term whole[] = {
        {.kind = GRAM_FUNCTIONAL_OPERATOR,
         .coefficient = 2,
         .constant = 0.7,
         .at = p,
         .first = slope,
         .second = matrix},
        {.kind = GRAM_FUNCTIONAL_VALUE, .coefficient = -1.5, .at = q},
    };
    const double weights[2 * KINDS] = {1.4, 6, -8, -1, 4, 0, -1.5};
    gram_kernel *kernel = test_kernel(context, "matern(nu=2.5, ell=0.9)*rbf(ell=2)");
    gram_points *row, *parts = jets(context, 2, REFERENCE[0], KINDS), *y = test_points(context, 1, D, REFERENCE[2]);
    OK(context, gram_points_create_functionals(context, 1, D, 2, whole, &row));
    double *k = test_matrix(context, kernel, row, y), *each = test_matrix(context, kernel, parts, y), sum = 0;
    for (int i = 0; i < 2 * KINDS; i++) sum += weights[i] * each[i];
    test_near("operator", NULL, 1, k, &sum, 1e-13);
    double *with = test_matrix(context, kernel, row, NULL), *all = test_matrix(context, kernel, parts, NULL);
    sum = 0;
    for (int i = 0; i < 4 * KINDS * KINDS; i++) sum += weights[i / 12] * weights[i % 12] * all[i];
    test_near("operator with itself", NULL, 1, with, &sum, 1e-12);
    assert_true(fabs(gram_points_of_one(row, 0) - (1.4 - 1.5)) < 1e-15);
    assert_true(fabs(gram_points_of_column(row, 0, 1) - (1.4 * p[1] - 8 - 1.5 * q[1])) < 1e-14);
    free(k);
    free(each);
    free(with);
    free(all);
    gram_points_release(row);
    gram_points_release(parts);
    gram_points_release(y);
    gram_kernel_release(kernel);
}

/* ---- integrals ---- */

enum { FINE = 41 };

/* The mean over a box or a normal distribution by many values: Simpson's rule on boxes, to 1e-6, and equal steps on normal
 * distributions, to rounding. */
static gram_points *by_values(gram_context *context, int normal, const double *at, const double *v)
{
    gram_functional_term *terms = calloc((size_t)FINE * FINE, sizeof *terms);
    double *nodes = test_numbers((int64_t)FINE * FINE * D), sum = 0;
    gram_points *made;
    for (int i = 0; i < FINE * FINE; i++) {
        double weight = 1;
        for (int l = 0; l < D; l++) {
            const int step = l ? i / FINE : i % FINE;
            const double u = 2.0 * step / (FINE - 1) - 1, reach = normal ? 9 : 1;
            nodes[i * D + l] = at[l] + reach * v[l] * u;
            weight *= normal ? exp(-0.5 * 81 * u * u) : step == 0 || step == FINE - 1 ? 1 : step % 2 ? 4 : 2;
        }
        terms[i] = (gram_functional_term){.coefficient = weight, .at = nodes + (int64_t)i * D};
        sum += weight;
    }
    for (int i = 0; i < FINE * FINE; i++) terms[i].coefficient /= sum;
    OK(context, gram_points_create_functionals(context, 1, D, FINE * FINE, terms, &made));
    free(terms);
    free(nodes);
    return made;
}

static gram_points *integrals(gram_context *context)
{
    static const double LOW[D] = {0.1, 0.3}, HIGH[D] = {0.5, 1.2}, FAR[D] = {2.5, 1.2}, AT[D] = {0.3, 0.4},
                        S[D] = {0.2, 0.5}, HALF[D] = {0.1, 1.2};
    const gram_functional_term terms[] = {
        {.row = 0, .kind = GRAM_FUNCTIONAL_MEAN, .coefficient = 1, .at = LOW, .first = HIGH},
        {.row = 1, .kind = GRAM_FUNCTIONAL_INTEGRAL, .coefficient = 1, .at = LOW, .first = FAR},
        {.row = 2, .kind = GRAM_FUNCTIONAL_NORMAL, .coefficient = 1, .at = AT, .first = S},
        {.row = 3, .kind = GRAM_FUNCTIONAL_INTEGRAL, .coefficient = 1, .at = LOW, .first = HALF},
        term_of(4, 0, REFERENCE[0]),
        term_of(5, 1, REFERENCE[0]),
        term_of(6, 5, REFERENCE[1]),
    };
    gram_points *made;
    OK(context, gram_points_create_functionals(context, 7, D, 7, terms, &made));
    return made;
}

/* Against values on a fine grid, for kernels with a closed form and for others. */
static void integrals_of_values(void **state)
{
    gram_context *context = *state;
    static const char *const TEXTS[] = {"rbf(ell=0.6)", "rbf(ell=[0.2,0.9]) + 2",
                                        "on(1, rbf(ell=0.3))*on(2, rbf(ell=2))", "rbf(ell=0.8)*rbf(ell=1.5)",
                                        "linear(c=1)^2"};
    const double centre[D] = {0.3, 0.75}, half[D] = {0.2, 0.45}, at[D] = {0.3, 0.4}, s[D] = {0.2, 0.5};
    gram_points *x = integrals(context), *box = by_values(context, 0, centre, half),
                *normal = by_values(context, 1, at, s);
    for (size_t e = 0; e < sizeof TEXTS / sizeof *TEXTS; e++) {
        gram_kernel *kernel = test_kernel(context, TEXTS[e]);
        double *k = test_matrix(context, kernel, x, NULL), *a = test_matrix(context, kernel, x, box),
               *b = test_matrix(context, kernel, x, normal);
        for (int i = 0; i < 7; i++) {
            if (!(fabs(k[i * 7] - a[i]) <= 2e-5 * (1 + fabs(a[i]))))
                FAIL_TEST("%s: row %d with a box: %.10g, by values %.10g", TEXTS[e], i, k[i * 7], a[i]);
            if (!(fabs(k[i * 7 + 2] - b[i]) <= 1e-10 * (1 + fabs(b[i]))))
                FAIL_TEST("%s: row %d with a normal: %.12g, by values %.12g", TEXTS[e], i, k[i * 7 + 2], b[i]);
        }
        check_matrix(context, TEXTS[e], kernel, x);
        free(k);
        free(a);
        free(b);
        gram_kernel_release(kernel);
    }
    gram_points_release(x);
    gram_points_release(box);
    gram_points_release(normal);
}

/* rbf has closed forms; the same kernel in words that have none goes through rules of nodes. */
static void closed_forms(void **state)
{
    gram_context *context = *state;
    static const char *const PAIRS[][2] = {{"rbf(ell=0.6)", "powexp(p=2, ell=0.8485281374238569)"},
                                           {"rbf(ell=[1.5,2])", "rbf(S=[2.25,0;0,4])"}};
    gram_points *x = integrals(context);
    for (size_t e = 0; e < 2; e++) {
        gram_kernel *closed = test_kernel(context, PAIRS[e][0]), *rules = test_kernel(context, PAIRS[e][1]);
        double *a = test_matrix(context, closed, x, NULL), *b = test_matrix(context, rules, x, NULL);
        test_near("integrals", PAIRS[e][0], 49, b, a, 1e-12); /* sums of up to two million values */
        free(a);
        free(b);
        gram_kernel_release(closed);
        gram_kernel_release(rules);
    }
    gram_points_release(x);
}

/* Uniform on [a, b] in one dimension: the formulas of Bayesian quadrature. */
static void one_interval(void **state)
{
    gram_context *context = *state;
    const double ells[] = {0.01, 0.3, 5, 1000}, low = -0.5, high = 1.5, length = 2, x = 0.25, pi = acos(-1);
    const gram_functional_term terms[] = {
        {.row = 0, .kind = GRAM_FUNCTIONAL_MEAN, .coefficient = 1, .at = &low, .first = &high},
        {.row = 1, .kind = GRAM_FUNCTIONAL_VALUE, .coefficient = 1, .at = &x}};
    gram_points *points;
    OK(context, gram_points_create_functionals(context, 2, 1, 2, terms, &points));
    for (int e = 0; e < 4; e++) {
        const double ell = ells[e], root = sqrt(2) * ell;
        char text[64];
        (void)snprintf(text, sizeof text, "rbf(ell=%g)", ell);
        gram_kernel *kernel = test_kernel(context, text);
        double *k = test_matrix(context, kernel, points, NULL);
        const double z = ell * sqrt(pi / 2) * (erf((high - x) / root) - erf((low - x) / root)) / length;
        const double twice =
            2 / (length * length) *
            (ell * sqrt(pi / 2) * length * erf(length / root) + ell * ell * expm1(-length * length / (2 * ell * ell)));
        const double rough = ell > 100 ? 1e-8 : 1e-14; /* the formulas of the test cancel */
        test_near("one integral", text, 1, &k[1], &z, rough);
        test_near("two integrals", text, 1, &k[0], &twice, rough);
        free(k);
        gram_kernel_release(kernel);
    }
    gram_points_release(points);
}

/* ---- what is refused ---- */

static void refuse_kernel(gram_context *context, const char *text, int kind, const char *part)
{
    const gram_functional_term term = term_of(0, kind, REFERENCE[0]);
    gram_kernel *kernel = test_kernel(context, text);
    gram_points *x;
    double k;
    OK(context, gram_points_create_functionals(context, 1, D, 1, &term, &x));
    REFUSED(context, gram_matrix(context, kernel, x, NULL, &k, 1), GRAM_ERROR_UNSUPPORTED, part);
    gram_points_release(x);
    gram_kernel_release(kernel);
}

static void not_continuous(void **state)
{
    gram_context *context = *state;
    refuse_kernel(context, "laplace(ell=1)", 1, "takes 1 derivative, and functions of laplace have 0");
    refuse_kernel(context, "laplace1(ell=1)", 1, "laplace1 have 0");
    refuse_kernel(context, "matern(nu=1, ell=1)", 1, "matern have 0");
    refuse_kernel(context, "matern(nu=2, ell=1)", 5, "takes 2 derivatives, and functions of matern have 1");
    refuse_kernel(context, "rbf(ell=1) + matern(nu=1.5, ell=1)", 3, "matern have 1");
    refuse_kernel(context, "rbf(ell=1)*wendland(k=1, ell=1)", 5, "wendland have 1");
    refuse_kernel(context, "sobolev(a=2)", 4, "sobolev have 1");
    refuse_kernel(context, "min()", 2, "min have 0");
    refuse_kernel(context, "powexp(p=1.5, ell=1)", 1, "powexp have 0");
    refuse_kernel(context, "sigmoid(a=1, c=0)", 1, "sigmoid have 0");
    refuse_kernel(context, "nngp(depth=1, act=erf, sw=1, sb=1)", 3, "not known for nngp");
    refuse_kernel(context, "nngp(depth=1, act=relu, sw=1, sb=1)", 3, "functions of nngp have 1");
    refuse_kernel(context, "ntk(depth=1, act=relu, sw=1, sb=1)", 1, "functions of ntk have 0");
    refuse_kernel(context, "normalize(2*laplace(ell=1))", 1, "functions of laplace have 0");
    refuse_kernel(context, "rbf(ell=1) + white()", 0, "white has no functionals");
    refuse_kernel(context, "on(1, rbf(ell=1))*on(2, laplace(ell=1))", 2, "laplace have 0");
}

/* A kernel that is rough in another column is smooth enough. */
static void other_column(void **state)
{
    gram_context *context = *state;
    gram_kernel *kernel = test_kernel(context, "on(1, rbf(ell=1))*on(2, laplace(ell=1)) + on(2, min())");
    const gram_functional_term term = term_of(0, 4, REFERENCE[0]);
    gram_points *x;
    double k;
    OK(context, gram_points_create_functionals(context, 1, D, 1, &term, &x));
    OK(context, gram_matrix(context, kernel, x, NULL, &k, 1));
    assert_true(fabs(k - 3) < 1e-14); /* d4/dx^2 dy^2 exp(-t^2/2) at 0 */
    gram_points_release(x);
    gram_kernel_release(kernel);
}

static void bad_terms(void **state)
{
    gram_context *context = *state;
    const double nan[D] = {NAN, 0}, *at = REFERENCE[0], *below = REFERENCE[1];
    gram_points *x;
    gram_functional_term term = {.row = 1, .coefficient = 1, .at = at};
    REFUSED(context, gram_points_create_functionals(context, 2, D, 1, &term, &x), GRAM_ERROR_ARGUMENT,
            "rows come in order");
    term.row = 0;
    REFUSED(context, gram_points_create_functionals(context, 2, D, 1, &term, &x), GRAM_ERROR_ARGUMENT,
            "end before row 1");
    REFUSED(context, gram_points_create_functionals(context, 1, D, 1, NULL, &x), GRAM_ERROR_ARGUMENT, "terms is NULL");
    term.kind = GRAM_FUNCTIONAL_SLOPE;
    REFUSED(context, gram_points_create_functionals(context, 1, D, 1, &term, &x), GRAM_ERROR_ARGUMENT, "first is NULL");
    term.first = nan;
    REFUSED(context, gram_points_create_functionals(context, 1, D, 1, &term, &x), GRAM_ERROR_DATA, "must be finite");
    term.kind = GRAM_FUNCTIONAL_INTEGRAL;
    term.first = below;
    REFUSED(context, gram_points_create_functionals(context, 1, D, 1, &term, &x), GRAM_ERROR_DATA, "before it begins");
    term.kind = (gram_functional_kind)8;
    REFUSED(context, gram_points_create_functionals(context, 1, D, 1, &term, &x), GRAM_ERROR_ARGUMENT, "not a valid");
    term = (gram_functional_term){.coefficient = INFINITY, .at = at};
    REFUSED(context, gram_points_create_functionals(context, 1, D, 1, &term, &x), GRAM_ERROR_DATA, "coefficient");
}

/* ---- rows ---- */

/* Panels of mixed kinds, several of them: an entry depends on its rows only, and gathered rows are the same rows. */
static void gathered(void **state)
{
    gram_context *context = *state;
    enum { POINTS = 40, N = POINTS * KINDS, SOME = 150 };
    double *data = test_spread(11, POINTS, D), *all, *k;
    int64_t rows[SOME];
    gram_points *x = jets(context, POINTS, data, KINDS), *some;
    gram_kernel *kernel = test_kernel(context, "matern(nu=2.5, ell=0.4) + on(2, rbf(ell=1))*linear(c=1)");
    for (int i = 0; i < SOME; i++) rows[i] = (i * 101 + 7) % N;
    OK(context, gram_points_gather(context, x, SOME, rows, &some));
    all = test_matrix(context, kernel, x, NULL);
    k = test_matrix(context, kernel, some, x);
    for (int i = 0; i < SOME; i++)
        for (int j = 0; j <= rows[i]; j++)
            if (k[i * N + j] != all[rows[i] * N + j]) FAIL_TEST("row %d, column %d", i, j);
    free(k);
    free(all);
    free(data);
    gram_points_release(x);
    gram_points_release(some);
    gram_kernel_release(kernel);
}

static void fill_matrix(gram_context *context, double *out)
{
    enum { POINTS = 30, N = POINTS * KINDS };
    double *data = test_spread(11, POINTS, D);
    gram_points *x = jets(context, POINTS, data, KINDS);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=0.4)*periodic(p=2, ell=1)");
    OK(context, gram_matrix(context, kernel, x, NULL, out, N));
    gram_points_release(x);
    gram_kernel_release(kernel);
    free(data);
}

static void any_threads(void **state)
{
    (void)state;
    test_any_threads(180L * 180, fill_matrix);
}

/* sum_ij W_ij dk_ij/dtheta against differences of K itself; for values alone against the engine's own. */
static void parameter_gradients(void **state)
{
    gram_context *context = *state;
    enum { N = 3 * KINDS };
    gram_kernel *kernel = test_kernel(context, "1.5*rbf(ell=[0.6,1.2]) + matern(nu=2.5, ell=0.8) + poly(m=2, c=0.3)");
    gram_points *x = jets(context, 3, REFERENCE[0], KINDS), *plain = test_points(context, 3, D, REFERENCE[0]),
                *values = jets(context, 3, REFERENCE[0], 1);
    double w[N * N], got[8], wanted[8];
    for (int e = 0; e < N * N; e++) w[e] = cos(3.0 * e);
    const gram_weights weights = {.dense = w, .ld = N}, few = {.dense = w, .ld = 3};
    const int64_t count = gram_kernel_parameter_count(kernel);
    OK(context, gram_matrix_parameter_gradient(context, kernel, values, NULL, &few, got));
    OK(context, gram_matrix_parameter_gradient(context, kernel, plain, NULL, &few, wanted));
    test_near("gradient of values", NULL, count, got, wanted, 1e-10);
    OK(context, gram_matrix_parameter_gradient(context, kernel, x, NULL, &weights, got));
    for (int64_t p = 0; p < count; p++) {
        const double h = 1e-5;
        gram_kernel *up = test_moved(context, kernel, p, h), *down = test_moved(context, kernel, p, -h);
        double *a = test_matrix(context, up, x, NULL), *b = test_matrix(context, down, x, NULL), size = 0;
        wanted[p] = 0;
        for (int e = 0; e < N * N; e++) {
            wanted[p] += w[e] * (a[e] - b[e]) / (2 * h);
            size += fabs(w[e] * (a[e] - b[e]) / (2 * h));
        }
        if (!(fabs(got[p] - wanted[p]) <= 1e-7 * size))
            FAIL_TEST("parameter %d: %.10g, %.10g", (int)p, got[p], wanted[p]);
        free(a);
        free(b);
        gram_kernel_release(up);
        gram_kernel_release(down);
    }
    gram_points_release(x);
    gram_points_release(plain);
    gram_points_release(values);
    gram_kernel_release(kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_entries),
        cmocka_unit_test(every_kernel),
        cmocka_unit_test(reproducing),
        cmocka_unit_test(combinations),
        cmocka_unit_test(integrals_of_values),
        cmocka_unit_test(closed_forms),
        cmocka_unit_test(one_interval),
        cmocka_unit_test(not_continuous),
        cmocka_unit_test(other_column),
        cmocka_unit_test(bad_terms),
        cmocka_unit_test(gathered),
        cmocka_unit_test(any_threads),
        cmocka_unit_test(parameter_gradients),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
