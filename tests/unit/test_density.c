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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_slopes),
        cmocka_unit_test(logistic),
        cmocka_unit_test(far_away),
        cmocka_unit_test(messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
