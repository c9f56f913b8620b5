/* Scores against differences of log p, closed forms, and every message of the reader. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* log p at one point, or its score */
static double log_at(gram_context *context, const gram_density *density, int64_t d, const double *x, double *score)
{
    double value = 0;
    gram_points *points = test_points(context, 1, d, x);
    if (score)
        OK(context, gram_density_score(context, density, points, score, d));
    else
        OK(context, gram_density_log(context, density, points, &value));
    gram_points_release(points);
    return value;
}

static void check_score(gram_context *context, const gram_density *density, int64_t d)
{
    static const double weights[3] = {0.75, -0.15, 1.0 / 60};
    const double h = 1e-2;
    for (int t = 0; t < 10; t++) {
        double x[3], score[3];
        test_uniform((uint64_t)t, d, -2, 2, x);
        (void)log_at(context, density, d, x, score);
        for (int64_t l = 0; l < d; l++) {
            double slope = 0;
            const double at = x[l];
            for (int s = 1; s <= 3; s++)
                for (int side = -1; side <= 1; side += 2) {
                    x[l] = at + side * s * h;
                    slope += side * weights[s - 1] * log_at(context, density, d, x, NULL) / h;
                }
            x[l] = at;
            if (!(fabs(slope - score[l]) <= 1e-8 * (1 + fabs(slope))))
                FAIL_TEST("%s: score %.12g, by differences %.12g", gram_density_name(density), score[l], slope);
        }
    }
}

/* Second derivatives are slopes of the scores. */
static void check_second(gram_context *context, const gram_density *density, int64_t d)
{
    static const double weights[3] = {0.75, -0.15, 1.0 / 60};
    const double h = 1e-2;
    for (int t = 0; t < 10; t++) {
        double x[3], second[3], score[3];
        test_uniform((uint64_t)t, d, -2, 2, x);
        gram_points *points = test_points(context, 1, d, x);
        OK(context, gram_density_second(context, density, points, second, d));
        gram_points_release(points);
        for (int64_t l = 0; l < d; l++) {
            double slope = 0;
            const double at = x[l];
            for (int s = 1; s <= 3; s++)
                for (int side = -1; side <= 1; side += 2) {
                    x[l] = at + side * s * h;
                    (void)log_at(context, density, d, x, score);
                    slope += side * weights[s - 1] * score[l] / h;
                }
            x[l] = at;
            if (!(fabs(slope - second[l]) <= 1e-8 * (1 + fabs(slope))))
                FAIL_TEST("%s: second derivative %.12g, by differences %.12g", gram_density_name(density), second[l],
                          slope);
        }
    }
}

static void scores_are_slopes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t d;
    } cases[] = {{"gaussian", 2},
                 {"gaussian(mean=1, sd=2)", 3},
                 {"gaussian(mean=[0.5,-1], cov=[2,0.7;0.7,1])", 2},
                 {"student(df=3)", 1},
                 {" student( df = 5 , mean=[1,0], cov=[1,0.2;0.2,3] ) ", 2},
                 {"mixture(means=[0,0;3,3])", 2},
                 {"mixture(weights=[1,3], means=[-1,1], sd=[0.5,2])", 1},
                 {"mixture(means=[-1,0;1,0;0,2], cov=[1,0.3;0.3,0.5], weights=[0.2,0.3,0.5])", 2},
                 {"banana", 2},
                 {"banana(b=0.1, sd=3)", 3}};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        gram_density *density;
        OK(context, gram_density_parse(context, cases[c].text, cases[c].d, &density));
        check_score(context, density, cases[c].d);
        check_second(context, density, cases[c].d);
        gram_density_destroy(density);
    }
    gram_context_destroy(context);
}

static void logistic(void **state)
{
    (void)state;
    enum { N = 30, D = 3 };
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double x[N * D], y[N];
    gram_density *density;
    test_uniform(1, N * D, -2, 2, x);
    test_uniform(2, N, 0, 1, y);
    for (int i = 0; i < N; i++) y[i] = y[i] < 0.4;
    OK(context, gram_density_logistic(context, N, D, x, D, y, 2, &density));
    check_score(context, density, D);
    check_second(context, density, D);
    gram_density_destroy(density);
    y[7] = 2;
    REFUSED(context, gram_density_logistic(context, N, D, x, D, y, 2, &density), GRAM_ERROR_DATA, "labels[7] = 2");
    y[7] = 0;
    assert_int_equal(gram_density_logistic(context, N, D, x, D, y, 0, &density), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_density_logistic(context, N, D, NULL, D, y, 1, &density), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_density_logistic(context, N, D, x, D - 1, y, 1, &density), GRAM_ERROR_ARGUMENT);
    gram_context_destroy(context);
}

/* Far away in the tails nothing overflows. */
static void far_away(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_density *density;
    const double x[1] = {1e6};
    double score[1];
    OK(context, gram_density_parse(context, "mixture(means=[-1,1], sd=[1,2])", 1, &density));
    (void)log_at(context, density, 1, x, score);
    assert_true(fabs(score[0] + (1e6 - 1) / 4) <= 1e-6);
    gram_density_destroy(density);
    gram_context_destroy(context);
}

static void messages(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        gram_status status;
        const char *says;
    } cases[] = {{"", GRAM_ERROR_SYNTAX, "a name is missing at character 1"},
                 {"gausian", GRAM_ERROR_SYNTAX, "did you mean 'gaussian'?"},
                 {"cauchy", GRAM_ERROR_SYNTAX, "no density 'cauchy': gaussian"},
                 {"gaussian(", GRAM_ERROR_SYNTAX, "a name is missing"},
                 {"gaussian(mean", GRAM_ERROR_SYNTAX, "'=' is missing"},
                 {"gaussian(mean=", GRAM_ERROR_SYNTAX, "a number is missing"},
                 {"gaussian(mean=1", GRAM_ERROR_SYNTAX, "',' or ')' is missing"},
                 {"gaussian(mean=[1,2", GRAM_ERROR_SYNTAX, "']' is missing"},
                 {"gaussian(mean=1)x", GRAM_ERROR_SYNTAX, "something follows"},
                 {"gaussian(mean=1, mean=2)", GRAM_ERROR_SYNTAX, "mean is given twice"},
                 {"gaussian(man=1)", GRAM_ERROR_SYNTAX, "no parameter 'man'"},
                 {"gaussian(cov=[1,0;0])", GRAM_ERROR_SYNTAX, "a row of another length"},
                 {"gaussian(mean=[1,2,3])", GRAM_ERROR_DIMENSION, "mean is 1 x 3, need one number or a list of 2"},
                 {"gaussian(cov=[1])", GRAM_ERROR_DIMENSION, "cov is 1 x 1"},
                 {"gaussian(cov=[1,0.5;0,1])", GRAM_ERROR_ARGUMENT, "not symmetric"},
                 {"gaussian(cov=[1,2;2,1])", GRAM_ERROR_ARGUMENT, "not positive definite"},
                 {"gaussian(cov=[1,0;0,1], sd=2)", GRAM_ERROR_ARGUMENT, "both given"},
                 {"gaussian(sd=0)", GRAM_ERROR_ARGUMENT, "sd = 0"},
                 {"student", GRAM_ERROR_ARGUMENT, "df is missing"},
                 {"student(df=-1)", GRAM_ERROR_ARGUMENT, "df = -1"},
                 {"student(df=[1,2])", GRAM_ERROR_DIMENSION, "df is 1 x 2, need one number"},
                 {"mixture", GRAM_ERROR_ARGUMENT, "means is missing"},
                 {"mixture(means=[1,2,3])", GRAM_ERROR_DIMENSION, "means is 1 x 3"},
                 {"mixture(means=[1,2;3,4], weights=[1,0])", GRAM_ERROR_ARGUMENT, "weights = 0"}};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_density *density;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const gram_status status = gram_density_parse(context, cases[c].text, 2, &density);
        if (status != cases[c].status || !strstr(gram_context_message(context), cases[c].says))
            FAIL_TEST("'%s': %s, %s", cases[c].text, gram_status_name(status), gram_context_message(context));
        assert_null(density);
    }
    assert_int_equal(gram_density_parse(context, "banana", 1, &density), GRAM_ERROR_DIMENSION);
    assert_int_equal(gram_density_parse(context, NULL, 1, &density), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_density_parse(context, "gaussian", 0, &density), GRAM_ERROR_ARGUMENT);
    OK(context, gram_density_parse(context, "gaussian()", 2, &density));
    const double x[3] = {0};
    double out[3];
    gram_points *points = test_points(context, 1, 3, x);
    assert_int_equal(gram_density_score(context, density, points, out, 3), GRAM_ERROR_DIMENSION);
    assert_int_equal(gram_density_score(context, NULL, points, out, 3), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_density_log(context, density, points, NULL), GRAM_ERROR_ARGUMENT);
    gram_points_release(points);
    gram_density_destroy(density);
    gram_density_destroy(NULL);
    gram_context_destroy(context);
}

/* The same posterior from a table and from arrays; and densities that have no data, or lack them. */
static void densities_of_data(void **state)
{
    static const char csv[] = "a,b,y\n1,2,0\n-1,0.5,1\n0.3,-2,1\n";
    const double x[] = {1, 2, -1, 0.5, 0.3, -2}, labels[] = {0, 1, 1}, at[] = {0.2, -0.4};
    double scores[2][2];
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_table *table = NULL;
    gram_density *parsed = NULL, *made = NULL;
    gram_points *points = test_points(context, 1, 2, at);
    (void)state;
    OK(context, gram_table_read_memory(context, "labels.csv", csv, sizeof csv - 1, NULL, &table));
    OK(context, gram_density_parse_data(context, "logistic(sd=3)", 2, table, &parsed));
    OK(context, gram_density_logistic(context, 3, 2, x, 2, labels, 3, &made));
    OK(context, gram_density_score(context, parsed, points, scores[0], 2));
    OK(context, gram_density_score(context, made, points, scores[1], 2));
    assert_memory_equal(scores[0], scores[1], sizeof *scores);
    gram_density_destroy(parsed);
    gram_density_destroy(made);
    REFUSED(context, gram_density_parse_data(context, "logistic", 3, table, &parsed), GRAM_ERROR_DIMENSION,
            "2 columns beside the labels");
    REFUSED(context, gram_density_parse_data(context, "logistic(mean=1)", 2, table, &parsed), GRAM_ERROR_SYNTAX,
            "mean");
    REFUSED(context, gram_density_parse_data(context, "gaussian", 2, table, &parsed), GRAM_ERROR_ARGUMENT,
            "takes no data");
    REFUSED(context, gram_density_parse(context, "logistic", 2, &parsed), GRAM_ERROR_ARGUMENT, "needs data");
    assert_null(parsed);
    gram_table_destroy(table);
    gram_points_release(points);
    gram_context_destroy(context);
}

/* The mean of Gaussians integrates to 1, and is that of one row where there is one. */
static void estimates(void **state)
{
    enum { N = 50, M = 4001 };
    double *x = test_random(3, N, -1, 2), *at = test_numbers(M), *p = test_numbers(M), sum = 0;
    const double one = 0.7, width = 0.09;
    (void)state;
    for (int i = 0; i < M; i++) at[i] = -10 + 20.0 * i / (M - 1);
    gram_density_estimate(N, x, M, at, p);
    for (int i = 0; i < M; i++) sum += p[i] * 20.0 / (M - 1);
    assert_true(fabs(sum - 1) < 1e-12);
    gram_density_estimate(1, &one, M, at, p);
    for (int i = 0; i < M; i++) {
        const double t = (at[i] - one) / width;
        assert_true(fabs(p[i] - exp(-t * t / 2) / (width * sqrt(8 * atan(1)))) <= 1e-14);
    }
    free(x);
    free(at);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_slopes), cmocka_unit_test(logistic),          cmocka_unit_test(far_away),
        cmocka_unit_test(messages),          cmocka_unit_test(densities_of_data), cmocka_unit_test(estimates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
