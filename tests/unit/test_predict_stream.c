/* Predictions for a file, piece by piece: what gram_predict says of all rows at once; columns in another order, rows that
 * are dropped, a number outside of the kernel's domain. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

enum { N = 30, ROWS = 20000 };

static char path[64];

static void write_rows(int64_t count, const double *x, int64_t missing)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "x2,y,x1\n");
    for (int64_t i = 0; i < count; i++)
        if (i == missing)
            fprintf(file, "1,,0\n");
        else
            fprintf(file, "%.17g,%d,%.17g\n", x[2 * i + 1], (int)(i % 7), x[2 * i]);
    fclose(file);
}

static gram_model *learn(gram_context *context, const char *kernel)
{
    gram_learner *learner;
    gram_model *model;
    gram_arrays arrays;
    double *x = test_random(1, 2 * N, 0.5, 2), y[N];
    for (int i = 0; i < N; i++) y[i] = sin(x[2 * i]) + x[2 * i + 1];
    gram_arrays_init(&arrays, sizeof arrays);
    arrays.n = N;
    arrays.d = 2;
    arrays.targets = 1;
    arrays.x = x;
    arrays.y = y;
    arrays.ldx = 2;
    arrays.ldy = 1;
    OK(context, gram_learner_create(context, &learner));
    OK(context, gram_learner_set(context, learner, "method", "krr"));
    OK(context, gram_learner_set(context, learner, "kernel", kernel));
    OK(context, gram_learner_set(context, learner, "lambda", "0.01"));
    OK(context, gram_learner_set(context, learner, "scale", "no"));
    OK(context, gram_learn_arrays(context, learner, &arrays, &model));
    gram_learner_destroy(learner);
    free(x);
    return model;
}

static void test_pieces(void **state)
{
    gram_context *context = *state;
    gram_model *model = learn(context, "rbf(ell=1)");
    gram_predictor *predictor;
    gram_predict_stream *stream;
    const gram_predicted *piece;
    double *x = test_random(2, 2 * ROWS, 0.5, 2), *all = test_numbers(ROWS);
    int64_t rows = 0, pieces = 0;
    write_rows(ROWS, x, -1);
    OK(context, gram_predict(context, model, NULL, ROWS, x, 2, all, 1));
    OK(context, gram_predictor_create(context, model, NULL, &predictor));
    OK(context, gram_predict_stream_open(context, predictor, NULL, path, GRAM_FORMAT_CSV, &stream));
    for (OK(context, gram_predict_stream_next(context, stream, &piece)); piece; pieces++) {
        assert_int_equal(piece->first, rows);
        assert_memory_equal(piece->values, all + rows, (size_t)piece->data->n * sizeof *all);
        for (int64_t i = 0; i < piece->data->n; i++) assert_true(piece->data->y[i] == (double)((rows + i) % 7));
        rows += piece->data->table_rows;
        OK(context, gram_predict_stream_next(context, stream, &piece));
    }
    assert_int_equal(rows, ROWS);
    assert_true(pieces > 1);
    gram_predict_stream_close(stream);
    gram_predict_stream_close(NULL);
    gram_predictor_destroy(predictor);
    gram_model_destroy(model);
    free(x);
    free(all);
}

/* A row without a target is predicted all the same; a negative number is not for chi2. */
static void test_rows(void **state)
{
    gram_context *context = *state;
    gram_model *model = learn(context, "chi2");
    gram_predictor *predictor;
    gram_predict_stream *stream;
    const gram_predicted *piece;
    const double x[] = {1, 1, 1, 2, 1, 1}, bad[] = {1, 1, 1, 1, 1, -3};
    char message[256];
    OK(context, gram_predictor_create(context, model, NULL, &predictor));
    write_rows(3, x, 1);
    OK(context, gram_predict_stream_open(context, predictor, NULL, path, GRAM_FORMAT_CSV, &stream));
    OK(context, gram_predict_stream_next(context, stream, &piece));
    assert_int_equal(piece->data->n, 3);
    assert_true(isnan(piece->data->y[1]) && isfinite(piece->values[1]));
    gram_predict_stream_close(stream);
    write_rows(3, bad, -1);
    OK(context, gram_predict_stream_open(context, predictor, NULL, path, GRAM_FORMAT_CSV, &stream));
    snprintf(message, sizeof message, "%s: row 3, column 'x2': ", path);
    REFUSED(context, gram_predict_stream_next(context, stream, &piece), GRAM_ERROR_DOMAIN, message);
    assert_null(piece);
    gram_predict_stream_close(stream);
    assert_int_equal(gram_predict_stream_open(context, predictor, NULL, "/nowhere.csv", GRAM_FORMAT_CSV, &stream),
                     GRAM_ERROR_FILE);
    assert_null(stream);
    gram_predictor_destroy(predictor);
    gram_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pieces), cmocka_unit_test(test_rows)};
    snprintf(path, sizeof path, "/tmp/gram-stream-%d.csv", (int)getpid());
    const int failed = cmocka_run_group_tests(tests, test_open, test_close);
    remove(path);
    return failed;
}
