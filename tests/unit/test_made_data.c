/* Made data: what each rule promises of its rows, and that rows do not depend on how many are made. */
#include <math.h>
#include <string.h>

#include <gram/made_data.h>
#include <gram/table.h>

#include "support.h"

static gram_context *CONTEXT;

static gram_table *make(const char *name, double noise, int64_t n)
{
    gram_string text = {0};
    gram_table *table = NULL;
    gram_table_options options;
    gram_table_options_init(&options, sizeof options);
    options.text = GRAM_TEXT_CATEGORIES;
    OK(CONTEXT, gram_made_rows(CONTEXT, name, noise, 0, n, &text));
    OK(CONTEXT, gram_table_read_memory(CONTEXT, "made.csv", text.data, text.length, &options, &table));
    assert_int_equal(gram_table_rows(table), n);
    gram_string_free(&text);
    return table;
}

static const double *row(const gram_table *table, int64_t i)
{
    return gram_table_numbers(table) + i * gram_table_ld(table);
}

/* Without noise the target is the function of the columns, written down anew. */
static void test_functions(void **state)
{
    (void)state;
    const double pi = acos(-1.0);
    gram_table *sine = make("sine", 0, 500), *friedman = make("friedman", 0, 500), *branin = make("branin", 0, 500);
    double least = INFINITY;
    for (int64_t i = 0; i < 500; i++) {
        const double *x = row(sine, i), *z = row(friedman, i), *b = row(branin, i);
        assert_true(x[0] > 0 && x[0] < 10 && fabs(x[1] - sin(x[0])) < 1e-14);
        assert_true(fabs(z[10] - (10 * sin(pi * z[0] * z[1]) + 20 * pow(z[2] - 0.5, 2) + 10 * z[3] + 5 * z[4])) <
                    1e-12);
        assert_true(b[0] > -5 && b[0] < 10 && b[1] > 0 && b[1] < 15);
        const double near = fmin(hypot(b[0] + pi, b[1] - 12.275),
                                 fmin(hypot(b[0] - pi, b[1] - 2.275), hypot(b[0] - 9.42478, b[1] - 2.475)));
        if (near < 0.3) assert_true(b[2] < 2.5);
        least = fmin(least, b[2]);
    }
    assert_true(least >= 0.397887 && least < 1.5);
    gram_table_destroy(sine);
    gram_table_destroy(friedman);
    gram_table_destroy(branin);
}

/* Without noise rows lie where they should; each class has its share. */
static void test_shapes(void **state)
{
    (void)state;
    gram_table *rings = make("circles", 0, 400), *moons = make("moons", 0, 400), *roll = make("swiss-roll", 0, 400);
    int64_t inner = 0;
    for (int64_t i = 0; i < 400; i++) {
        const double *x = row(rings, i), *m = row(moons, i), *r = row(roll, i);
        assert_string_equal(gram_table_level(rings, 2, 0), "inner");
        inner += x[2] == 0;
        assert_true(fabs(hypot(x[0], x[1]) - (x[2] == 0 ? 0.5 : 1)) < 1e-14);
        const int lower = strcmp(gram_table_level(moons, 2, (int64_t)m[2]), "lower") == 0;
        assert_true(fabs(hypot(lower ? 1 - m[0] : m[0], lower ? 0.5 - m[1] : m[1]) - 1) < 1e-14);
        assert_true(lower ? m[1] < 0.5 : m[1] > 0);
        assert_true(fabs(hypot(r[0], r[2]) - r[3]) < 1e-12 && r[1] > 0 && r[1] < 21);
    }
    assert_int_equal(inner, 200);
    gram_table_destroy(rings);
    gram_table_destroy(moons);
    gram_table_destroy(roll);
}

/* The noise is normal with the deviation that is asked for: mean and square of 20,000 residuals, within four deviations of theirs. */
static void test_noise(void **state)
{
    (void)state;
    enum { N = 20000 };
    gram_table *sine = make("sine", 0.3, N), *blobs = make("blobs", NAN, 3 * N / 2);
    double mean = 0, square = 0, spread = 0;
    for (int64_t i = 0; i < N; i++) {
        const double *x = row(sine, i), e = (x[1] - sin(x[0])) / 0.3;
        mean += e / N;
        square += e * e / N;
    }
    for (int64_t i = 0; i < N / 2; i++) spread += pow(row(blobs, 3 * i)[1] - 4, 2) / (N / 2.0); /* "a" is above */
    assert_true(fabs(mean) < 4 / sqrt(N) && fabs(square - 1) < 4 * sqrt(2.0 / N));
    assert_true(fabs(spread - 1) < 4 * sqrt(4.0 / N));
    gram_table_destroy(sine);
    gram_table_destroy(blobs);
}

static void test_parts(void **state)
{
    (void)state;
    gram_string whole = {0}, parts = {0};
    gram_made_facts facts = {.size = sizeof facts};
    for (int64_t which = 0; gram_made_describe(which, &facts) == GRAM_OK && facts.name; which++) {
        const size_t before = whole.length;
        OK(CONTEXT, gram_made_rows(CONTEXT, facts.name, 1, 0, 10, &whole));
        OK(CONTEXT, gram_made_rows(CONTEXT, facts.name, 1, 0, 3, &parts));
        OK(CONTEXT, gram_made_rows(CONTEXT, facts.name, 1, 3, 7, &parts));
        assert_memory_equal(whole.data + before, facts.columns, strlen(facts.columns));
    }
    assert_int_equal(whole.length, parts.length);
    assert_memory_equal(whole.data, parts.data, whole.length);
    gram_string_free(&whole);
    gram_string_free(&parts);
}

static void test_bad_names(void **state)
{
    (void)state;
    gram_string text = {0};
    REFUSED(CONTEXT, gram_made_rows(CONTEXT, "circle", 0, 0, 1, &text), GRAM_ERROR_ARGUMENT, "did you mean 'circles'");
    REFUSED(CONTEXT, gram_made_rows(CONTEXT, NULL, 0, 0, 1, &text), GRAM_ERROR_ARGUMENT, "swiss-roll");
    REFUSED(CONTEXT, gram_made_rows(CONTEXT, "sine", -1, 0, 1, &text), GRAM_ERROR_ARGUMENT, "noise = -1");
    REFUSED(CONTEXT, gram_made_rows(CONTEXT, "sine", 1, -1, 1, &text), GRAM_ERROR_ARGUMENT, "first = -1");
    gram_string_free(&text);
}

int main(void)
{
    CONTEXT = TEST_CONTEXT(.seed = 11);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_functions), cmocka_unit_test(test_shapes),
                                       cmocka_unit_test(test_noise), cmocka_unit_test(test_parts),
                                       cmocka_unit_test(test_bad_names)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gram_context_destroy(CONTEXT);
    return failed;
}
