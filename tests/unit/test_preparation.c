/* Preparations: roles, categories, scaling, missing values; learnt, described, made again and applied to other tables. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"
#include "support.h"

static gram_table *read_table(gram_context *context, const char *text)
{
    gram_table *table;
    gram_table_options options;
    gram_table_options_init(&options, sizeof options);
    options.text = GRAM_TEXT_CATEGORIES;
    options.keep_missing = 1;
    OK(context, gram_table_read_memory(context, "data.csv", text, strlen(text), &options, &table));
    return table;
}

static gram_preparation_options options_of(const char *target, const char *features, const char *ignore,
                                           const char *weights)
{
    gram_preparation_options options;
    gram_preparation_options_init(&options, sizeof options);
    options.target = target;
    options.features = features;
    options.ignore = ignore;
    options.weights = weights;
    return options;
}

static gram_preparation *learn(gram_context *context, const gram_table *table, const gram_preparation_options *options)
{
    gram_preparation *preparation;
    OK(context, gram_preparation_learn(context, table, options, &preparation));
    return preparation;
}

static void refuse(gram_context *context, const gram_table *table, const gram_preparation_options *options,
                   gram_status status, const char *message)
{
    gram_preparation *preparation = (gram_preparation *)context;
    assert_int_equal(gram_preparation_learn(context, table, options, &preparation), status);
    assert_null(preparation);
    assert_string_equal(gram_context_message(context), message);
}

static void check_names(const gram_preparation *preparation, const char *names)
{
    char have[256] = "", one[64];
    for (int64_t j = 0; j < gram_preparation_dimension(preparation); j++) {
        const size_t length = gram_preparation_column_name(preparation, j, one, sizeof one);
        assert_int_equal(length, strlen(one));
        strcat(strcat(have, j ? " " : ""), one);
    }
    assert_string_equal(have, names);
}

static void check_numbers(const double *numbers, int64_t count, const double *wanted)
{
    for (int64_t i = 0; i < count; i++)
        if (!(fabs(numbers[i] - wanted[i]) < 1e-14) && !(isnan(numbers[i]) && isnan(wanted[i])))
            FAIL_TEST("number %d is %.17g, not %.17g", (int)i, numbers[i], wanted[i]);
}

/* ---- roles ---- */

static void test_roles(void **state)
{
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    gram_table *table = read_table(context, "a,w,b,c,y\n1,1,x,2,3\n2,1,y,4,5\n3,2,x,9,8\n");
    gram_preparation_options options = options_of(NULL, NULL, NULL, NULL);
    gram_preparation *preparation = learn(context, table, NULL);
    check_names(preparation, "a w b=x b=y c");
    assert_int_equal(gram_preparation_feature_of(preparation, 3), 2);
    assert_int_equal(gram_preparation_feature_of(preparation, 4), 3);
    assert_string_equal(gram_preparation_describe(preparation)->targets[0].name, "y");
    char small[4];
    assert_int_equal(gram_preparation_column_name(preparation, 2, small, sizeof small), 3);
    assert_int_equal(gram_preparation_column_name(preparation, 2, NULL, 0), 3);
    gram_preparation_release(preparation);

    options = options_of("c,1", "b:b,5", NULL, "w");
    preparation = learn(context, table, &options);
    check_names(preparation, "b=x b=y y");
    const gram_preparation_description *own = gram_preparation_describe(preparation);
    assert_int_equal(own->target_count, 2);
    assert_string_equal(own->targets[1].name, "a");
    assert_string_equal(own->weights->name, "w");
    assert_true(own->named && own->scaled && own->features[0].text && own->features[1].place == 4);
    gram_preparation_release(preparation);

    options = options_of(NULL, NULL, "y", "c"); /* the last column that has no other role */
    preparation = learn(context, table, &options);
    check_names(preparation, "a w");
    assert_string_equal(gram_preparation_describe(preparation)->targets[0].name, "b");
    assert_int_equal(gram_preparation_describe(preparation)->targets[0].level_count, 2);
    gram_preparation_release(preparation);

    options = options_of("", "a:c", "w,b", NULL);
    preparation = learn(context, table, &options);
    check_names(preparation, "a c");
    assert_int_equal(gram_preparation_describe(preparation)->target_count, 0);
    gram_preparation_release(gram_preparation_retain(preparation));
    gram_preparation_release(preparation);
    gram_preparation_release(NULL);

    options = options_of("a", "a,b", NULL, NULL);
    refuse(context, table, &options, GRAM_ERROR_SYNTAX, "data.csv: column 'a' is both a target and a feature");
    options = options_of(NULL, "a,y", NULL, NULL);
    refuse(context, table, &options, GRAM_ERROR_SYNTAX, "data.csv: column 'y' is both a target and a feature");
    options = options_of("a", NULL, "1", NULL);
    refuse(context, table, &options, GRAM_ERROR_SYNTAX, "data.csv: column 'a' is both ignored and a target");
    options = options_of(NULL, NULL, NULL, "a,w");
    refuse(context, table, &options, GRAM_ERROR_SYNTAX, "weights 'a,w': one column is needed");
    options = options_of(NULL, NULL, NULL, "b");
    refuse(context, table, &options, GRAM_ERROR_DATA, "data.csv: column 'b': weights cannot be text");
    options = options_of("yy", NULL, NULL, NULL);
    refuse(context, table, &options, GRAM_ERROR_DATA, "data.csv: no column 'yy', did you mean 'y'?");
    options = options_of(NULL, NULL, "1:4", NULL);
    refuse(context, table, &options, GRAM_ERROR_DATA, "data.csv: no column is left for the features");
    options = options_of(NULL, NULL, "1:5", NULL);
    refuse(context, table, &options, GRAM_ERROR_DATA, "data.csv: no column is left for the target");
    options = options_of(NULL, NULL, NULL, NULL);
    options.most_levels = 1;
    refuse(context, table, &options, GRAM_ERROR_DATA,
           "data.csv: column 'b': text with 2 levels, at most 1 can be categories; leave it out (--ignore)");
    options.size = 3;
    assert_int_equal(gram_preparation_learn(context, table, &options, &preparation), GRAM_ERROR_ARGUMENT);
    gram_table_destroy(table);
    gram_context_destroy(context);
}

/* ---- values ---- */

static void test_values(void **state)
{
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    gram_table *table = read_table(context, "a,b,c,y\n1,x,0.1,3\n2,y,0.1,5\n6,x,0.1,8\n");
    gram_preparation *preparation = learn(context, table, NULL);
    gram_prepared *prepared;
    OK(context, gram_preparation_apply(context, preparation, table, 1, &prepared));
    const double s = sqrt(14.0 / 3);
    const double x[] = {-2 / s, 1, 0, 0, -1 / s, 0, 1, 0, 3 / s, 1, 0, 0}, y[] = {3, 5, 8};
    assert_int_equal(prepared->n, 3);
    assert_int_equal(prepared->d, 4);
    assert_int_equal(prepared->table_rows, 3);
    assert_null(prepared->rows);
    assert_null(prepared->weights);
    check_numbers(prepared->x, 12, x);
    check_numbers(prepared->y, 3, y);
    assert_true(prepared->x[3] == 0 && prepared->x[7] == 0); /* a constant column is exactly centred */
    gram_prepared_destroy(prepared);
    gram_prepared_destroy(NULL);

    /* other columns, another order, levels that were not seen, no target */
    gram_table *other = read_table(context, "c,extra,b,a\n0.2,?,z,3\n0.1,,y,NA\n");
    assert_int_equal(gram_preparation_apply(context, preparation, other, 0, &prepared), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context), "data.csv:3: column 'a': missing value");
    assert_int_equal(gram_preparation_apply(context, preparation, other, 1, &prepared), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context),
                        "data.csv: no column 'y', which is needed; there are 'c', 'extra', 'b', 'a'");
    gram_table_destroy(other);
    other = read_table(context, "c,extra,b,a\n0.2,?,z,3\n0.1,,y,3\n");
    OK(context, gram_preparation_apply(context, preparation, other, 0, &prepared));
    const double again[] = {0, 0, 0, 0.1, 0, 0, 1, 0};
    check_numbers(prepared->x, 8, again);
    assert_int_equal(prepared->targets, 0);
    assert_null(prepared->y);
    gram_prepared_destroy(prepared);
    gram_table_destroy(other);

    other = read_table(context, "A,b,c\n0.2,x,3\n");
    assert_int_equal(gram_preparation_apply(context, preparation, other, 0, &prepared), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context), "data.csv: no column 'a', which is needed; is it 'A'?");
    gram_table_destroy(other);
    other = read_table(context, "a,b,c\n0.2,x,3\n0.2,x,3\n1,x,abc\n");
    assert_int_equal(gram_preparation_apply(context, preparation, other, 0, &prepared), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context), "data.csv:4: column 'c': not a number: 'abc'");
    gram_table_destroy(other);
    gram_preparation_release(preparation);
    gram_table_destroy(table);
    gram_context_destroy(context);
}

/* Levels that look like numbers, where the new table has numbers only. */
static void test_number_levels(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_table *table = read_table(context, "a,y\n1,0\n2,1\nx,2\n");
    gram_table *other = read_table(context, "a,y\n2,7\n9,7\n1,7\n");
    gram_preparation *preparation = learn(context, table, NULL);
    gram_prepared *prepared;
    check_names(preparation, "a=1 a=2 a=x");
    OK(context, gram_preparation_apply(context, preparation, other, 0, &prepared));
    const double x[] = {0, 1, 0, 0, 0, 0, 1, 0, 0};
    check_numbers(prepared->x, 9, x);
    gram_prepared_destroy(prepared);
    gram_preparation_release(preparation);
    gram_table_destroy(other);
    gram_table_destroy(table);
    gram_context_destroy(context);
}

/* ---- missing values ---- */

static void test_missing(void **state)
{
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    const char *text = "# comment\na,b,w,y\n1,x,1,1\n,x,1,2\n\n3,,1,3\n8,z,1,NaN\n5,y,,5\n7,y,2,6\n";
    gram_table *table = read_table(context, text);
    gram_preparation_options options = options_of(NULL, NULL, NULL, "w");
    refuse(context, table, &options, GRAM_ERROR_DATA, "data.csv:4: column 'a': missing value");
    options.missing = GRAM_MISSING_DROP;
    gram_preparation *preparation = learn(context, table, &options);
    gram_prepared *prepared;
    check_names(preparation, "a b=x b=y");
    OK(context, gram_preparation_apply(context, preparation, table, 1, &prepared));
    const double dropped_x[] = {-1, 1, 0, 1, 0, 1}, dropped_y[] = {1, 6}, dropped_w[] = {1, 2};
    assert_int_equal(prepared->n, 2);
    assert_int_equal(prepared->table_rows, 6);
    assert_true(prepared->rows && prepared->rows[0] == 0 && prepared->rows[1] == 5);
    check_numbers(prepared->x, 6, dropped_x);
    check_numbers(prepared->y, 2, dropped_y);
    check_numbers(prepared->weights, 2, dropped_w);
    gram_prepared_destroy(prepared);
    OK(context, gram_preparation_apply(context, preparation, table, 0, &prepared)); /* targets and weights may miss */
    assert_int_equal(prepared->n, 4);
    assert_true(isnan(prepared->y[1]) && isnan(prepared->weights[2]));
    gram_prepared_destroy(prepared);
    gram_preparation_release(preparation);

    options.missing = GRAM_MISSING_MEAN;
    options.scale = 0;
    preparation = learn(context, table, &options);
    check_names(preparation, "a b=x b=y");
    const gram_preparation_description *own = gram_preparation_describe(preparation);
    assert_true(fabs(own->features[0].fill - 11.0 / 3) < 1e-15 && own->features[0].deviation == 1);
    assert_true(own->features[1].fill == 0 && !own->scaled);
    OK(context, gram_preparation_apply(context, preparation, table, 1, &prepared));
    const double filled[] = {1, 1, 0, 11.0 / 3, 1, 0, 3, 1, 0, 7, 0, 1};
    assert_int_equal(prepared->n, 4);
    check_numbers(prepared->x, 12, filled);
    gram_prepared_destroy(prepared);
    gram_preparation_release(preparation);
    gram_table_destroy(table);

    table = read_table(context, "a,y\n,1\nNA,2\n");
    options = options_of(NULL, NULL, NULL, NULL);
    options.missing = GRAM_MISSING_DROP;
    refuse(context, table, &options, GRAM_ERROR_DATA, "data.csv: no row is left: every row has a missing value");
    options.missing = GRAM_MISSING_MEAN;
    refuse(context, table, &options, GRAM_ERROR_DATA, "data.csv: column 'a': all values are missing");
    gram_table_destroy(table);
    options = options_of(NULL, NULL, NULL, "w");
    table = read_table(context, "a,w,y\n1,0,1\n2,-1,2\n");
    refuse(context, table, &options, GRAM_ERROR_DATA, "data.csv:3: column 'w': a weight below 0: -1");
    gram_table_destroy(table);
    table = read_table(context, "a,y\n1,0\n2,-inf\n");
    refuse(context, table, NULL, GRAM_ERROR_DATA, "data.csv:3: column 'y': not a finite number: '-inf'");
    gram_table_destroy(table);
    gram_context_destroy(context);
}

/* ---- text targets ---- */

static void test_text_target(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_table *table = read_table(context, "a,y\n1,no\n2,yes\n3,no\n");
    gram_table *other = read_table(context, "a,y\n1,yes\n2,maybe\n");
    gram_preparation *preparation = learn(context, table, NULL);
    gram_prepared *prepared;
    OK(context, gram_preparation_apply(context, preparation, table, 1, &prepared));
    const double y[] = {0, 1, 0}, others[] = {1, NAN};
    check_numbers(prepared->y, 3, y);
    gram_prepared_destroy(prepared);
    OK(context, gram_preparation_apply(context, preparation, other, 0, &prepared));
    check_numbers(prepared->y, 2, others);
    gram_prepared_destroy(prepared);
    assert_int_equal(gram_preparation_apply(context, preparation, other, 1, &prepared), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context), "data.csv:3: column 'y': not a level of the target: 'maybe'");
    gram_preparation_release(preparation);

    gram_preparation_options options = options_of(NULL, NULL, NULL, NULL);
    options.missing = GRAM_MISSING_DROP;
    preparation = learn(context, table, &options);
    OK(context, gram_preparation_apply(context, preparation, other, 1, &prepared));
    assert_int_equal(prepared->n, 1);
    check_numbers(prepared->y, 1, others);
    gram_prepared_destroy(prepared);
    gram_preparation_release(preparation);
    gram_table_destroy(other);
    gram_table_destroy(table);
    gram_context_destroy(context);
}

/* ---- reading what is needed ---- */

static void test_reading(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_table *table = read_table(context, "a,b,y\n1,1,3\n2,x,5\n6,x,8\n"), *other;
    gram_preparation *preparation = learn(context, table, NULL);
    gram_table_options options;
    gram_table_options_init(&options, sizeof options);
    gram_preparation_reading(preparation, &options);
    const char *text = "junk,b,a\n\"?,\n\",1,2\n,2,3\n";
    OK(context, gram_table_read_memory(context, "new.csv", text, strlen(text), &options, &other));
    assert_int_equal(gram_table_columns(other), 2);
    assert_string_equal(gram_table_column_name(other, 0), "a");
    assert_true(gram_table_column_is_text(other, 1) && !gram_table_column_is_text(other, 0));
    gram_prepared *prepared;
    OK(context, gram_preparation_apply(context, preparation, other, 0, &prepared));
    assert_true(prepared->x[1] == 1 && prepared->x[2] == 0 && prepared->x[4] == 0 && prepared->x[5] == 0);
    gram_prepared_destroy(prepared);
    gram_table_destroy(other);
    text = "b,A\n1,2\n";
    assert_int_equal(gram_table_read_memory(context, "new.csv", text, strlen(text), &options, &other), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context), "new.csv: no column 'a', which is needed; is it 'A'?");
    text = "a,b\n1,2\nq,2\n";
    assert_int_equal(gram_table_read_memory(context, "new.csv", text, strlen(text), &options, &other), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context), "new.csv:3: column 'a': not a number: 'q'");
    gram_preparation_release(preparation);
    gram_table_destroy(table);

    /* no header: by place */
    table = read_table(context, "1,2,3\n2,3,5\n");
    preparation = learn(context, table, NULL);
    assert_false(gram_preparation_describe(preparation)->named);
    gram_preparation_reading(preparation, &options);
    text = "5,6\n";
    OK(context, gram_table_read_memory(context, "new.csv", text, strlen(text), &options, &other));
    OK(context, gram_preparation_apply(context, preparation, other, 0, &prepared));
    assert_true(prepared->x[0] == 7 && prepared->x[1] == 7 && prepared->targets == 0);
    gram_prepared_destroy(prepared);
    gram_table_destroy(other);
    text = "5\n";
    assert_int_equal(gram_table_read_memory(context, "new.csv", text, strlen(text), &options, &other), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context),
                        "new.csv: no column 'x2'; the file has no header, and 1 columns");
    gram_preparation_release(preparation);
    gram_table_destroy(table);
    gram_context_destroy(context);
}

/* ---- from a description ---- */

static void test_create(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    const char *levels[] = {"a", "b"}, *wrong[] = {"b", "a"}, *none[] = {"a", NULL};
    const gram_column good[] = {
        {.name = "n", .mean = 1, .deviation = 2, .fill = 3},
        {.name = "t", .place = 1, .text = 1, .deviation = 1, .fill = 1, .level_count = 2, .levels = levels}};
    const gram_column target = {.name = "y", .place = 2, .deviation = 1};
    const gram_preparation_description fine = {
        .feature_count = 2, .features = good, .target_count = 1, .targets = &target, .scaled = 1, .named = 1};
    gram_preparation *preparation;
    OK(context, gram_preparation_create(context, &fine, &preparation));
    check_names(preparation, "n t=a t=b");
    gram_preparation_release(preparation);

    for (int k = 0; k < 21; k++) {
        gram_column columns[2] = {good[0], good[1]};
        gram_preparation_description bad = fine;
        bad.features = columns;
        if (k == 0) bad.feature_count = 0;
        if (k == 1) bad.features = NULL;
        if (k == 2) bad.target_count = -1;
        if (k == 3) bad.targets = NULL;
        if (k == 4) bad.missing = (gram_missing)3;
        if (k == 5) bad.scaled = 2;
        if (k == 6) bad.named = -1;
        if (k == 7) columns[0].name = NULL;
        if (k == 8) columns[0].name = "";
        if (k == 9) columns[0].name = "y";
        if (k == 10) columns[0].place = -1;
        if (k == 11) columns[0].text = 2;
        if (k == 12) columns[0].mean = NAN;
        if (k == 13) columns[0].deviation = 0;
        if (k == 14) columns[0].fill = INFINITY;
        if (k == 15) columns[0].level_count = 1;
        if (k == 16) columns[1].level_count = 0;
        if (k == 17) columns[1].levels = wrong;
        if (k == 18) columns[1].levels = none;
        if (k == 19) columns[1].fill = 2;
        if (k == 20) bad.scaled = 0;
        assert_int_equal(gram_preparation_create(context, &bad, &preparation), GRAM_ERROR_ARGUMENT);
        assert_null(preparation);
        assert_memory_equal(gram_context_message(context), "preparation: ", 13);
    }
    gram_context_destroy(context);
}

/* ---- many rows: the same bits for any number of threads, and moments that do not lose digits ---- */

static void test_threads(void **state)
{
    (void)state;
    enum { N = 20000 };
    char *text = malloc(N * 64), *end = text;
    uint64_t seed = 5;
    for (int i = 0; i < N; i++) {
        double u;
        test_uniform(seed++, 1, -1, 1, &u);
        end += sprintf(end, "%d.%06d,%s,1e-200,%d\n", 100000000 + i % 7, (int)(1e6 * fabs(u)), i % 3 ? "p" : "q", i);
    }
    gram_prepared *prepared[2];
    gram_context *contexts[2];
    for (int k = 0; k < 2; k++) {
        contexts[k] = test_context(k + 1, GRAM_ISA_AUTO);
        gram_table *table = read_table(contexts[k], text);
        gram_preparation *preparation = learn(contexts[k], table, NULL);
        OK(contexts[k], gram_preparation_apply(contexts[k], preparation, table, 1, &prepared[k]));
        gram_preparation_release(preparation);
        gram_table_destroy(table);
    }
    assert_true(test_same_bits(N, 4, prepared[0]->x, 4, prepared[1]->x, 4));
    long double sum = 0, square = 0;
    for (int i = 0; i < N; i++) {
        sum += prepared[0]->x[4 * i];
        square += (long double)prepared[0]->x[4 * i] * prepared[0]->x[4 * i];
        assert_true(prepared[0]->x[4 * i + 3] == 0);
    }
    assert_true(fabsl(sum / N) < 1e-8L && fabsl(square / N - 1) < 1e-8L); /* x itself is rounded to 1e-8 */
    for (int k = 0; k < 2; k++) {
        gram_prepared_destroy(prepared[k]);
        gram_context_destroy(contexts[k]);
    }
    free(text);
}

/* Numbers so large or small that their squares are not: the deviation is right all the same. */
static void test_scales(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_table *table = read_table(context, "a,b,c,y\n1e200,1e-200,5e-324,0\n3e200,3e-200,0,0\n");
    gram_preparation *preparation = learn(context, table, NULL);
    gram_prepared *prepared;
    OK(context, gram_preparation_apply(context, preparation, table, 1, &prepared));
    const double x[] = {-1, -1, 0, 1, 1, 0};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) assert_true(fabs(prepared->x[3 * i + j] - x[3 * i + j]) < 1e-14);
    gram_prepared_destroy(prepared);
    gram_preparation_release(preparation);
    gram_table_destroy(table);
    table = read_table(context, "a,y\n1.7e308,0\n-1.7e308,1\n");
    refuse(context, table, NULL, GRAM_ERROR_DATA, "data.csv: column 'a': its numbers are too large to be scaled");
    gram_preparation_options options = options_of(NULL, NULL, NULL, NULL);
    options.scale = 0;
    preparation = learn(context, table, &options);
    assert_true(fabs(gram_preparation_describe(preparation)->features[0].fill) < 1e300);
    gram_preparation_release(preparation);
    gram_table_destroy(table);
    gram_context_destroy(context);
}

/* ---- two tables ---- */

static void refuse_both(gram_context *context, const char *a, const char *b, const char *message)
{
    gram_table *first = read_table(context, a), *second = read_table(context, b);
    gram_preparation *preparation = (gram_preparation *)context;
    assert_int_equal(gram_preparation_learn_both(context, first, second, NULL, &preparation), GRAM_ERROR_DATA);
    assert_null(preparation);
    assert_string_equal(gram_context_message(context), message);
    assert_true(gram_context_advice(context)[0] != '\0');
    gram_table_destroy(first);
    gram_table_destroy(second);
}

/* x is 1, 3 and 5, 7: mean 4, variance 5; c is text in the second table only; the row without x counts nowhere. */
static void test_both(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_table *a = read_table(context, "x,c\n1,2\n3,10\n,77\n"), *b = read_table(context, "c,x\nred,5\n2,7\n");
    gram_preparation_options options = options_of(NULL, NULL, NULL, NULL);
    gram_preparation *preparation;
    gram_prepared *prepared;
    options.missing = GRAM_MISSING_DROP;
    OK(context, gram_preparation_learn_both(context, a, b, &options, &preparation));
    check_names(preparation, "x c=10 c=2 c=red");
    const gram_column *features = gram_preparation_describe(preparation)->features;
    assert_true(features[0].mean == 4 && fabs(features[0].deviation - sqrt(5)) < 1e-15);
    assert_true(features[1].fill == 1); /* 2 is there twice */
    OK(context, gram_preparation_apply(context, preparation, b, 1, &prepared));
    const double s = sqrt(5), wanted[] = {1 / s, 0, 0, 1, 3 / s, 0, 1, 0};
    check_numbers(prepared->x, 8, wanted);
    gram_prepared_destroy(prepared);
    gram_preparation_release(preparation);
    options.target = "x";
    assert_int_equal(gram_preparation_learn_both(context, a, b, &options, &preparation), GRAM_ERROR_ARGUMENT);
    gram_table_destroy(a);
    gram_table_destroy(b);
    refuse_both(context, "x,y\n1,2\n", "x\n1\n", "data.csv has 2 columns, data.csv has 1");
    refuse_both(context, "x,y\n1,2\n", "x,z\n1,2\n", "data.csv has no column 'y', which data.csv has");
    refuse_both(context, "x\n-1.7e308\n-1.7e308\n-1.7e308\n", "x\n1.7e308\n",
                "data.csv and data.csv: column 'x': its numbers are too large to be scaled");
    gram_context_destroy(context);
}

/* ---- each allocation failing in turn ---- */

static gram_status all_steps(gram_context *context)
{
    const char *text = "a,b,w,y\n1,x,1,u\n,x,1,v\n3,,1,u\n8,z,1,NaN\n";
    gram_table_options reading;
    gram_preparation_options options = options_of(NULL, NULL, NULL, "w");
    gram_table *table = NULL;
    gram_preparation *preparation = NULL;
    gram_prepared *prepared = NULL;
    options.missing = GRAM_MISSING_MEAN;
    gram_table_options_init(&reading, sizeof reading);
    reading.text = GRAM_TEXT_CATEGORIES;
    reading.keep_missing = 1;
    gram_status status = gram_table_read_memory(context, "data.csv", text, strlen(text), &reading, &table);
    if (status == GRAM_OK) status = gram_preparation_learn(context, table, &options, &preparation);
    if (status == GRAM_OK) status = gram_preparation_apply(context, preparation, table, 1, &prepared);
    gram_prepared_destroy(prepared);
    gram_preparation_release(preparation);
    preparation = NULL;
    options.weights = NULL;
    if (status == GRAM_OK) status = gram_preparation_learn_both(context, table, table, &options, &preparation);
    gram_preparation_release(preparation);
    gram_table_destroy(table);
    return status;
}

static void test_no_memory(void **state)
{
    (void)state;
    assert_true(oom_each(all_steps, 0) > 30);
}

/* Values of rows go to the places of the rows in the table, whatever lies there; of a whole table they stay. */
static void test_spread_rows(void **state)
{
    (void)state;
    const int64_t rows[] = {1, 2, 4};
    const gram_prepared some = {.n = 3, .table_rows = 6, .rows = rows}, all = {.n = 3, .table_rows = 3};
    const double wanted[] = {NAN, NAN, 1, 2, 3, 4, NAN, NAN, 5, 6, NAN, NAN};
    double values[12] = {1, 2, 3, 4, 5, 6};
    gram_prepared_spread(&all, 2, values);
    assert_true(values[0] == 1 && values[5] == 6 && values[6] == 0);
    gram_prepared_spread(&some, 2, values);
    for (int i = 0; i < 12; i++) assert_true(isnan(wanted[i]) ? isnan(values[i]) : values[i] == wanted[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spread_rows),   cmocka_unit_test(test_roles),   cmocka_unit_test(test_values),
        cmocka_unit_test(test_number_levels), cmocka_unit_test(test_missing), cmocka_unit_test(test_text_target),
        cmocka_unit_test(test_reading),       cmocka_unit_test(test_create),  cmocka_unit_test(test_threads),
        cmocka_unit_test(test_scales),        cmocka_unit_test(test_both),    cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
