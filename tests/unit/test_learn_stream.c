/* Learning in passes: the preparation of blocks is that of the whole table, the model is optimal over all rows, sums of parts make the same
 * model for every partition, and a file that changes meanwhile is refused. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/preparation.h"
#include "dense_twin.h"

enum { N = 900, D = 2, LANDMARKS = 25 };

static const char FILE_NAME[] = "stream.csv";

typedef struct sample {
    double x[N][D], y[N], w[N];
} sample;

static void make_sample(sample *s)
{
    double u[N][4];
    test_uniform(7, 4 * N, 0, 1, &u[0][0]);
    for (int i = 0; i < N; i++) {
        s->x[i][0] = 3 * u[i][0];
        s->x[i][1] = 50 + 10 * u[i][1];
        s->w[i] = i % 17 == 0 ? 0 : 0.5 + u[i][2];
        s->y[i] = 1e4 + sin(2 * s->x[i][0]) + 0.1 * s->x[i][1] + 0.1 * (u[i][3] - 0.5);
    }
}

/* Rows [from, to). */
static void write_rows(const sample *s, const char *path, int from, int to)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "a,b,w,y\n");
    for (int i = from; i < to; i++)
        fprintf(file, "%.17g,%.17g,%.17g,%.17g\n", s->x[i][0], s->x[i][1], s->w[i], s->y[i]);
    assert_int_equal(fclose(file), 0);
}

static gram_learner *learner_of(gram_context *context, int count, const char *const options[][2])
{
    gram_learner *learner = NULL;
    OK(context, gram_learner_create(context, &learner));
    for (int i = 0; i < count; i++) OK(context, gram_learner_set(context, learner, options[i][0], options[i][1]));
    return learner;
}

static const char *const GIVEN[][2] = {{"method", "krr"},        {"kernel", "rbf(ell=0.8)"}, {"lambda", "1e-5"},
                                       {"solver", "nystrom:25"}, {"weights", "w"},           {"stream", "yes"}};
enum { GIVEN_COUNT = 6, WITHOUT_STREAM = 5 };

static gram_model *learn(gram_context *context, const char *path, int count, const char *const options[][2])
{
    gram_learner *learner = learner_of(context, count, options);
    gram_model *model = NULL;
    OK(context, gram_learn_file(context, learner, path, GRAM_FORMAT_AUTO, &model));
    gram_learner_destroy(learner);
    return model;
}

/* ---- preparation ---- */

/* Blocks of 37 rows, with missing values, text in one column from the start and in another from row 700 on. */
static void blocks_prepare_alike(void **state)
{
    gram_context *context = *state;
    gram_preparation_options options;
    gram_table_options reading;
    gram_table *table = NULL, *kept = NULL;
    const gram_table *block = NULL;
    gram_preparation *whole = NULL, *parts = NULL;
    gram_reader *reader = NULL;
    gram_block_learner *learner = NULL;
    int64_t rows = 0, restarts = 0;
    static const char *const big[13] = {"1e9", "1000000001", "NA",  "1e9", "1e9", "1000000003", "1e9",
                                        "1e9", "1000000007", "1e9", "1e9", "NA",  "1000000002"};
    FILE *file = fopen("stream_mixed.csv", "w");
    assert_non_null(file);
    fprintf(file, "big,late,colour,y\n");
    for (int i = 0; i < 1000; i++)
        fprintf(file, "%s,%s,%s,%d\n", big[i % 13], i < 700 ? "12" : "other",
                i % 3 == 0   ? "red"
                : i % 3 == 1 ? "blue"
                             : "green",
                i);
    assert_int_equal(fclose(file), 0);
    gram_preparation_options_init(&options, sizeof options);
    options.missing = GRAM_MISSING_MEAN;
    gram_table_options_init(&reading, sizeof reading);
    reading.text = GRAM_TEXT_CATEGORIES;
    reading.keep_missing = 1;
    OK(context, gram_table_read(context, "stream_mixed.csv", &reading, &table));
    OK(context, gram_preparation_learn(context, table, &options, &whole));
    OK(context, gram_reader_open(context, "stream_mixed.csv", &reading, &reader));
    for (;;) {
        OK(context, gram_reader_next(context, reader, 37, &block));
        if (!block) break;
        if (!learner || restarts != gram_reader_restarts(reader)) {
            gram_block_learner_destroy(learner);
            OK(context, gram_block_learner_create(context, &options, 100, &learner));
            restarts = gram_reader_restarts(reader);
        }
        OK(context, gram_block_learner_add(context, learner, block));
    }
    assert_int_equal(restarts, 1); /* the column `late` */
    OK(context, gram_block_learner_finish(context, learner, &parts, &rows, &kept));
    assert_int_equal(rows, 1000);
    assert_int_equal(gram_table_rows(kept), 100);
    const gram_preparation_description *a = gram_preparation_describe(whole), *b = gram_preparation_describe(parts);
    assert_int_equal(a->feature_count, b->feature_count);
    for (int64_t i = 0; i < a->feature_count; i++) {
        test_near("mean", a->features[i].name, 1, &b->features[i].mean, &a->features[i].mean, 1e-15);
        test_near("deviation", a->features[i].name, 1, &b->features[i].deviation, &a->features[i].deviation, 1e-13);
        assert_int_equal(a->features[i].text, b->features[i].text);
        assert_int_equal(a->features[i].level_count, b->features[i].level_count);
        assert_true(a->features[i].fill == b->features[i].fill || !a->features[i].text);
        for (int64_t k = 0; k < a->features[i].level_count; k++)
            assert_string_equal(a->features[i].levels[k], b->features[i].levels[k]);
    }
    /* the sample is in the order of the file, and each row of it is a row of the file */
    for (int64_t i = 0; i < 100; i++) {
        const double *row = gram_table_numbers(kept) + i * gram_table_ld(kept);
        const int64_t at = (int64_t)row[3];
        assert_true(i == 0 || row[3] > row[3 - gram_table_ld(kept)]);
        const double stands = gram_table_numbers(table)[at * gram_table_ld(table)];
        assert_true(row[0] == stands || (isnan(row[0]) && isnan(stands)));
        assert_string_equal(gram_table_level(kept, 2, (int64_t)row[2]), at % 3 == 0   ? "red"
                                                                        : at % 3 == 1 ? "blue"
                                                                                      : "green");
    }
    gram_block_learner_destroy(learner);
    gram_reader_close(reader);
    gram_table_destroy(kept);
    gram_table_destroy(table);
    gram_preparation_release(whole);
    gram_preparation_release(parts);
}

/* Every row is in the sample equally often: 60 of 300 rows, 400 seeds; a binomial count within 5 deviations. */
static void samples_are_uniform(void **state)
{
    enum { ROWS = 300, KEPT = 60, SEEDS = 400 };
    int counts[ROWS] = {0};
    gram_preparation_options options;
    gram_table_options reading;
    (void)state;
    gram_preparation_options_init(&options, sizeof options);
    gram_table_options_init(&reading, sizeof reading);
    FILE *file = fopen("stream_rows.csv", "w");
    assert_non_null(file);
    fprintf(file, "x,y\n");
    for (int i = 0; i < ROWS; i++) fprintf(file, "%d,%d\n", i % 7, i);
    assert_int_equal(fclose(file), 0);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        gram_context *context = TEST_CONTEXT(.threads = 1, .seed = seed);
        gram_block_learner *learner = NULL;
        gram_preparation *preparation = NULL;
        gram_table *table = NULL, *kept = NULL;
        int64_t rows;
        OK(context, gram_table_read(context, "stream_rows.csv", &reading, &table));
        OK(context, gram_block_learner_create(context, &options, KEPT, &learner));
        OK(context, gram_block_learner_add(context, learner, table));
        OK(context, gram_block_learner_finish(context, learner, &preparation, &rows, &kept));
        for (int64_t i = 0; i < gram_table_rows(kept); i++) counts[(int)gram_table_numbers(kept)[2 * i + 1]]++;
        gram_block_learner_destroy(learner);
        gram_preparation_release(preparation);
        gram_table_destroy(kept);
        gram_table_destroy(table);
        gram_context_destroy(context);
    }
    const double share = (double)KEPT / ROWS, deviation = sqrt(SEEDS * share * (1 - share));
    for (int i = 0; i < ROWS; i++)
        if (fabs(counts[i] - SEEDS * share) > 5 * deviation) FAIL_TEST("row %d is in %d samples", i, counts[i]);
}

/* ---- the model ---- */

/* The prepared rows, all of them. */
static gram_points *prepared_points(gram_context *context, const sample *s, const gram_model *model, double *z)
{
    const gram_preparation_description *known = gram_preparation_describe(gram_model_preparation(model));
    for (int i = 0; i < N; i++)
        for (int l = 0; l < D; l++)
            z[i * D + l] = (s->x[i][l] - known->features[l].mean) / known->features[l].deviation;
    return test_points(context, N, D, z);
}

/* The gradient of (1/n) sum w (y - K_nP a - b)^2 + lambda a'K_PP a is 0, relative to its parts. */
static void model_is_optimal(void **state)
{
    gram_context *context = *state;
    static sample s;
    static double z[N * D];
    double gradient[LANDMARKS], size = 0, worst = 0, sum = 0, rows = 0;
    make_sample(&s);
    write_rows(&s, FILE_NAME, 0, N);
    gram_model *model = learn(context, FILE_NAME, GIVEN_COUNT, GIVEN);
    const gram_function *f = gram_model_function(model);
    const gram_points *centres = gram_function_centres(f);
    const int64_t p = gram_points_count(centres);
    assert_in_range(p, 2, LANDMARKS);
    gram_points *x = prepared_points(context, &s, model, z);
    double *cross = test_matrix(context, gram_function_kernel(f), x, centres);
    double *own = test_matrix(context, gram_function_kernel(f), centres, NULL);
    double *values = malloc(N * sizeof *values);
    assert_non_null(values);
    OK(context, gram_function_evaluate(context, f, x, values, 1));
    for (int i = 0; i < N; i++) {
        rows += s.w[i] > 0;
        sum += s.w[i] * (s.y[i] - values[i]);
    }
    assert_true(fabs(sum) < 1e-7 * N);
    assert_int_equal((int64_t)gram_model_find(model, "n").integer, (int64_t)rows);
    const double *a = gram_function_coefficients(f);
    for (int64_t j = 0; j < p; j++) {
        double part = 0;
        gradient[j] = 0;
        for (int i = 0; i < N; i++) gradient[j] += s.w[i] * (s.y[i] - values[i]) * cross[i * p + j] / rows;
        for (int i = 0; i < N; i++) size += fabs(s.w[i] * (s.y[i] - values[i]) * cross[i * p + j]) / rows / (double)p;
        for (int64_t k = 0; k < p; k++) part += own[j * p + k] * a[k];
        gradient[j] -= 1e-5 * part;
        worst = fmax(worst, fabs(gradient[j]));
    }
    if (!(worst < 1e-6 * size)) FAIL_TEST("gradient %g of %g", worst, size);
    free(values);
    free(cross);
    free(own);
    gram_points_release(x);
    gram_model_destroy(model);
}

static void predict_grid(gram_context *context, const gram_model *model, double *values)
{
    double x[40][D];
    for (int i = 0; i < 40; i++) {
        x[i][0] = 3 * i / 39.0;
        x[i][1] = 50 + (i * 7 % 11);
    }
    OK(context, gram_predict(context, model, NULL, 40, &x[0][0], D, values, 1));
}

/* A small budget and a large one cut the rows into other blocks; the model is the same to rounding, for one thread and for two. */
static void budget_does_not_matter(void **state)
{
    static sample s;
    double a[40], b[40], c[40];
    (void)state;
    make_sample(&s);
    write_rows(&s, FILE_NAME, 0, N);
    gram_context *large = TEST_CONTEXT(.threads = 2), *small = TEST_CONTEXT(.threads = 2, .memory_budget = 3 << 20),
                 *one = TEST_CONTEXT(.threads = 1);
    gram_model *first = learn(large, FILE_NAME, GIVEN_COUNT, GIVEN),
               *second = learn(small, FILE_NAME, GIVEN_COUNT, GIVEN),
               *third = learn(one, FILE_NAME, GIVEN_COUNT, GIVEN);
    predict_grid(large, first, a);
    predict_grid(large, second, b);
    predict_grid(large, third, c);
    test_near("prediction", "a small budget", 40, b, a, 1e-11);
    assert_true(test_same_bits(40, 1, a, 1, c, 1));
    gram_model_destroy(first);
    gram_model_destroy(second);
    gram_model_destroy(third);
    gram_context_destroy(large);
    gram_context_destroy(small);
    gram_context_destroy(one);
}

/* ---- sums of parts ---- */

static gram_model *accumulate(gram_context *context, const char *path, const gram_model *like, int plan, int chosen)
{
    /* without a ridge, kernel and landmarks are fixed and the merge chooses it */
    static const char *const FREE[][2] = {
        {"kernel", "rbf(ell=0.8)"}, {"tune", "none"}, {"solver", "nystrom:25"}, {"weights", "w"}};
    gram_learner *learner = like     ? learner_of(context, 0, NULL)
                            : chosen ? learner_of(context, 4, FREE)
                                     : learner_of(context, WITHOUT_STREAM, GIVEN);
    gram_model *sums = NULL;
    OK(context, gram_accumulate_file(context, learner, path, GRAM_FORMAT_AUTO, like, plan, &sums));
    gram_learner_destroy(learner);
    return sums;
}

static gram_model *merge(gram_context *context, int64_t count, gram_model **parts, int partial)
{
    gram_learner *learner = learner_of(context, 0, NULL);
    gram_model *model = NULL;
    OK(context, gram_merge_sums(context, learner, count, (const gram_model *const *)parts, NULL, partial, &model));
    gram_learner_destroy(learner);
    return model;
}

/* Cut into parts at these rows; two levels of merging if `tree`. */
static gram_model *merged(gram_context *context, const sample *s, const gram_model *plan, int count, const int *cuts,
                          int tree)
{
    gram_model *parts[8] = {NULL};
    for (int i = 0; i < count; i++) {
        write_rows(s, "stream_part.csv", cuts[i], cuts[i + 1]);
        parts[i] = accumulate(context, "stream_part.csv", plan, 0, 0);
    }
    if (tree) {
        gram_model *both = merge(context, 2, parts, 1);
        gram_model_destroy(parts[0]);
        gram_model_destroy(parts[1]);
        parts[0] = both;
        parts[1] = parts[--count];
    }
    gram_model *model = merge(context, count, parts, 0);
    for (int i = 0; i < count; i++) gram_model_destroy(parts[i]);
    return model;
}

static void parts_make_the_same_model(void **state)
{
    gram_context *context = *state;
    static const int ONE[] = {0, N}, THREE[] = {0, 10, 500, N}, OTHERS[] = {0, 333, 334, N};
    static sample s;
    double a[40], b[40], c[40], whole[40];
    make_sample(&s);
    for (int chosen = 0; chosen < 2; chosen++) {
        write_rows(&s, FILE_NAME, 0, N);
        gram_model *plan = accumulate(context, FILE_NAME, NULL, 1, chosen);
        assert_int_equal(gram_model_find(plan, "n").integer, 0);
        gram_model *first = merged(context, &s, plan, 1, ONE, 0), *second = merged(context, &s, plan, 3, THREE, 0),
                   *third = merged(context, &s, plan, 3, OTHERS, 1);
        predict_grid(context, first, a);
        predict_grid(context, second, b);
        predict_grid(context, third, c);
        test_near("prediction", "three parts", 40, b, a, 1e-9);
        test_near("prediction", "other parts, merged in pairs", 40, c, a, 1e-9);
        assert_int_equal(gram_model_find(third, "rows").integer, N);
        if (!chosen) { /* the fit of the whole file is the same model, too */
            gram_model *all = learn(context, FILE_NAME, GIVEN_COUNT, GIVEN);
            predict_grid(context, all, whole);
            test_near("prediction", "the whole", 40, a, whole, 1e-11);
            gram_model_destroy(all);
        }
        gram_model_destroy(first);
        gram_model_destroy(second);
        gram_model_destroy(third);
        gram_model_destroy(plan);
    }
}

/* n RSS/(n - df)^2 with df the trace of the hat matrix K_nP (K_nP'W K_nP + n lambda K_PP)^-1 K_nP'W, with a constant. */
static double dense_gcv(gram_context *context, const sample *s, const gram_model *model, double lambda)
{
    static double z[N * D];
    const gram_function *f = gram_model_function(model);
    const int64_t p = gram_points_count(gram_function_centres(f)), q = p + 1;
    gram_points *x = prepared_points(context, s, model, z);
    double *cross = test_matrix(context, gram_function_kernel(f), x, gram_function_centres(f));
    double *own = test_matrix(context, gram_function_kernel(f), gram_function_centres(f), NULL);
    double *a = calloc((size_t)(q * q), sizeof *a), *t = malloc((size_t)(N * q) * sizeof *t),
           *b = calloc((size_t)q, sizeof *b);
    double rows = 0, squares = 0, df = 0;
    assert_true(a && t && b);
    for (int i = 0; i < N; i++) {
        rows += s->w[i] > 0;
        for (int64_t j = 0; j < q; j++) t[i * q + j] = j < p ? cross[i * p + j] : 1;
    }
    for (int64_t j = 0; j < q; j++)
        for (int64_t k = 0; k < q; k++) {
            for (int i = 0; i < N; i++) a[j * q + k] += s->w[i] * t[i * q + j] * t[i * q + k];
            if (j < p && k < p) a[j * q + k] += rows * lambda * own[j * p + k];
        }
    for (int64_t j = 0; j < q; j++)
        for (int i = 0; i < N; i++) b[j] += s->w[i] * (s->y[i] - 1e4) * t[i * q + j];
    dense_solve(q, a, 1, b);
    dense_invert(q, a);
    for (int i = 0; i < N; i++) {
        double value = 0, leverage = 0;
        for (int64_t j = 0; j < q; j++) {
            value += t[i * q + j] * b[j];
            for (int64_t k = 0; k < q; k++) leverage += t[i * q + j] * a[j * q + k] * t[i * q + k];
        }
        squares += s->w[i] * (s->y[i] - 1e4 - value) * (s->y[i] - 1e4 - value);
        df += s->w[i] * leverage;
    }
    free(a), free(b), free(t), free(cross), free(own);
    gram_points_release(x);
    return rows * squares / (rows - df) / (rows - df);
}

static void ridge_has_least_gcv(void **state)
{
    gram_context *context = *state;
    static sample s;
    make_sample(&s);
    write_rows(&s, FILE_NAME, 0, N);
    gram_model *sums = accumulate(context, FILE_NAME, NULL, 0, 1), *model = merge(context, 1, &sums, 0);
    const double lambda = gram_model_find(model, "lambda").number, found = gram_model_find(model, "gcv").number;
    const double at = dense_gcv(context, &s, model, lambda);
    test_near("GCV", "the model", 1, &found, &at, 1e-6);
    for (int k = -12; k <= 12; k++) {
        const double other = dense_gcv(context, &s, model, lambda * exp2(k));
        if (k != 0 && other < at * (1 - 1e-6)) FAIL_TEST("GCV %.10g at 2^%d lambda, %.10g at lambda", other, k, at);
    }
    gram_model_destroy(sums);
    gram_model_destroy(model);
}

static void other_sums_are_refused(void **state)
{
    gram_context *context = *state;
    static sample s;
    gram_model *model = NULL;
    make_sample(&s);
    write_rows(&s, FILE_NAME, 0, N);
    gram_learner *learner = learner_of(context, 0, NULL);
    gram_model *parts[2] = {accumulate(context, FILE_NAME, NULL, 0, 0), NULL};
    write_rows(&s, FILE_NAME, 0, N / 2);
    parts[1] = accumulate(context, FILE_NAME, NULL, 0, 0);
    REFUSED(context, gram_merge_sums(context, learner, 2, (const gram_model *const *)parts, NULL, 0, &model),
            GRAM_ERROR_ARGUMENT, "sums[1]: its kernel, landmarks or preparation are others");
    gram_model_destroy(parts[1]);
    parts[1] = learn(context, FILE_NAME, GIVEN_COUNT, GIVEN);
    REFUSED(context, gram_merge_sums(context, learner, 2, (const gram_model *const *)parts, NULL, 0, &model),
            GRAM_ERROR_ARGUMENT, "sums[1] is not a file of sums but a model");
    gram_model *plan = accumulate(context, FILE_NAME, NULL, 1, 0);
    REFUSED(context, gram_merge_sums(context, learner, 1, (const gram_model *const *)&plan, NULL, 0, &model),
            GRAM_ERROR_DATA, "the sums are of no rows");
    gram_model_destroy(plan);
    gram_model_destroy(parts[0]);
    gram_model_destroy(parts[1]);
    gram_learner_destroy(learner);
}

/* ---- what is refused ---- */

typedef struct intruder {
    int calls, at;
} intruder;

/* One more row while the file is being read. */
static void append_row(void *user, const char *what, double share)
{
    intruder *self = user;
    (void)what, (void)share;
    if (++self->calls != self->at) return;
    FILE *file = fopen(FILE_NAME, "a");
    if (!file) return;
    (void)fprintf(file, "1,55,1,10005\n");
    (void)fclose(file);
}

static void changes_are_noticed(void **state)
{
    static sample s;
    (void)state;
    make_sample(&s);
    intruder self = {0, 1};
    write_rows(&s, FILE_NAME, 0, N);
    gram_context *context = TEST_CONTEXT(.threads = 1, .progress = append_row, .progress_user = &self);
    gram_learner *learner = learner_of(context, GIVEN_COUNT, GIVEN);
    gram_model *model = NULL;
    REFUSED(context, gram_learn_file(context, learner, FILE_NAME, GRAM_FORMAT_AUTO, &model), GRAM_ERROR_DATA,
            "the file was changed while it was being read");
    assert_null(model);
    assert_true(self.calls >= self.at);
    gram_learner_destroy(learner);
    gram_context_destroy(context);
}

static void bad_use(void **state)
{
    gram_context *context = *state;
    static const char *const SVM[][2] = {{"method", "svm"}, {"stream", "yes"}};
    static const char *const EXACT[][2] = {{"method", "krr"}, {"solver", "exact"}, {"stream", "yes"}};
    static const char *const GROUPS[][2] = {{"method", "krr"}, {"groups", "w"}, {"stream", "yes"}};
    static sample s;
    gram_model *model = NULL;
    make_sample(&s);
    write_rows(&s, FILE_NAME, 0, N);
    gram_learner *learner = learner_of(context, GIVEN_COUNT, GIVEN);
    REFUSED(context, gram_learn_file(context, learner, "-", GRAM_FORMAT_CSV, &model), GRAM_ERROR_UNSUPPORTED,
            "standard input can be read only once");
    gram_learner_destroy(learner);
    learner = learner_of(context, 2, SVM);
    REFUSED(context, gram_learn_file(context, learner, FILE_NAME, GRAM_FORMAT_AUTO, &model), GRAM_ERROR_BUDGET,
            "needs all of its rows at once");
    gram_learner_destroy(learner);
    learner = learner_of(context, 3, EXACT);
    REFUSED(context, gram_learn_file(context, learner, FILE_NAME, GRAM_FORMAT_AUTO, &model), GRAM_ERROR_ARGUMENT,
            "solver exact needs all rows at once");
    gram_learner_destroy(learner);
    learner = learner_of(context, 3, GROUPS);
    REFUSED(context, gram_learn_file(context, learner, FILE_NAME, GRAM_FORMAT_AUTO, &model), GRAM_ERROR_ARGUMENT,
            "groups needs the whole table");
    gram_learner_destroy(learner);
}

/* A table that does not fit in the budget is read in passes without being asked. */
static void large_tables_stream(void **state)
{
    enum { ROWS = 60000 };
    (void)state;
    FILE *file = fopen("stream_large.csv", "w");
    assert_non_null(file);
    fprintf(file, "a,b,y\n");
    for (int i = 0; i < ROWS; i++) fprintf(file, "%d,%d,%d\n", i % 97, i % 89, i % 101);
    assert_int_equal(fclose(file), 0);
    gram_context *context = TEST_CONTEXT(.threads = 1, .memory_budget = 1 << 20);
    static const char *const OPTIONS[][2] = {
        {"kernel", "rbf(ell=1)"}, {"lambda", "1e-3"}, {"solver", "nystrom:10"}, {"task", "regression"}};
    gram_model *model = learn(context, "stream_large.csv", 4, OPTIONS);
    assert_int_equal(gram_model_find(model, "n").integer, ROWS);
    assert_true(gram_model_find(model, "sample_rows").integer > 0);
    gram_model_destroy(model);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blocks_prepare_alike, test_open, test_close),
        cmocka_unit_test(samples_are_uniform),
        cmocka_unit_test_setup_teardown(model_is_optimal, test_open, test_close),
        cmocka_unit_test(budget_does_not_matter),
        cmocka_unit_test_setup_teardown(parts_make_the_same_model, test_open, test_close),
        cmocka_unit_test_setup_teardown(ridge_has_least_gcv, test_open, test_close),
        cmocka_unit_test_setup_teardown(other_sums_are_refused, test_open, test_close),
        cmocka_unit_test(changes_are_noticed),
        cmocka_unit_test_setup_teardown(bad_use, test_open, test_close),
        cmocka_unit_test(large_tables_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
