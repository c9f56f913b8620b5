/* The signature kernel against sums over all sequences of segments, written out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"
#include "support.h"

enum { N = 20, POINTS = 6, CHANNELS = 2, DEPTH = 3, LETTERS = 200, WORDS = 1 + 3 + 9 + 27 };

typedef struct all_series {
    int points[N];
    double x[N][POINTS][CHANNELS];
    gram_table *table;
    gram_preparation *preparation;
    gram_prepared *data;
    gram_points *rows;
} all_series;

static gram_status make_series(gram_context *context, uint64_t seed, int twice, all_series *a)
{
    char csv[N * LETTERS], *at = csv;
    gram_status status = GRAM_OK;
    gram_table_options options;
    gram_preparation_options preparing;
    memset(a, 0, sizeof *a);
    at += sprintf(at, "path,y\n");
    for (int i = 0; i < N; i++) {
        a->points[i] = 2 + (int)(test_bits(&seed) % (POINTS - 1));
        for (int p = 0; p < a->points[i]; p++) {
            for (int l = 0; l < CHANNELS; l++) a->x[i][p][l] = (double)(test_bits(&seed) % 200) / 100 - 1;
            at += sprintf(at, "%s%.2f %.2f", p ? ";" : "", a->x[i][p][0], a->x[i][p][1]);
            if (twice) at += sprintf(at, ";%.2f %.2f", a->x[i][p][0], a->x[i][p][1]);
        }
        at += sprintf(at, ",%d\n", i % 2);
    }
    gram_table_options_init(&options, sizeof options);
    options.texts = "path";
    gram_preparation_options_init(&preparing, sizeof preparing);
    STEP(gram_table_read_memory(context, "s.csv", csv, strlen(csv), &options, &a->table));
    STEP(gram_preparation_learn(context, a->table, &preparing, &a->preparation));
    STEP(gram_preparation_apply(context, a->preparation, a->table, 1, &a->data));
    STEP(gram_points_of_prepared(context, a->data, &a->rows));
done:
    return status;
}

static void free_series(all_series *a)
{
    gram_points_release(a->rows);
    gram_prepared_destroy(a->data);
    gram_preparation_release(a->preparation);
    gram_table_destroy(a->table);
}

/* The integral of one word: over all sequences of segments that do not go back, products of their increments; r places in one segment have the share 1/r! of it in order. */
static double integral(int segments, double step[][3], int length, const int *word, int from, int run)
{
    double sum = 0;
    if (length == 0) return 1;
    for (int s = from; s < segments; s++) {
        const int again = s == from ? run + 1 : 1;
        sum += step[s][word[0]] / again * integral(segments, step, length - 1, word + 1, s, again);
    }
    return sum;
}

static void signature_twin(const all_series *a, int i, int with_time, double out[WORDS])
{
    double step[POINTS][3];
    const int c = CHANNELS + with_time, segments = a->points[i] - 1;
    int used = 0;
    for (int s = 0; s < segments; s++) {
        step[s][0] = 1.0 / segments;
        for (int l = 0; l < CHANNELS; l++) step[s][with_time + l] = a->x[i][s + 1][l] - a->x[i][s][l];
    }
    memset(out, 0, WORDS * sizeof *out);
    for (int k = 0, size = 1; k <= DEPTH; k++, size *= c)
        for (int w = 0; w < size; w++) {
            int word[DEPTH] = {0};
            for (int p = k - 1, rest = w; p >= 0; p--, rest /= c) word[p] = rest % c;
            out[used++] = integral(segments, step, k, word, 0, 0);
        }
}

static void kernels_are_inner_products_of_integrals(void **state)
{
    gram_context *context = *state;
    static all_series a;
    static double twins[N][WORDS];
    double wanted[N * N];
    OK(context, make_series(context, 1, 0, &a));
    for (int c = 0; c < 4; c++) {
        static const char *const texts[] = {"signature", "signature(depth=3, scaled=no)", "signature(depth=3, time=no)",
                                            "signature(depth=3, time=no, scaled=no)"};
        gram_kernel *kernel = test_kernel(context, texts[c]);
        double *k = test_matrix(context, kernel, a.rows, NULL);
        for (int i = 0; i < N; i++) signature_twin(&a, i, c < 2, twins[i]);
        for (int i = 0; i < N * N; i++) {
            double dot = 0, x = 0, y = 0;
            for (int w = 0; w < WORDS; w++) {
                dot += twins[i / N][w] * twins[i % N][w];
                x += twins[i / N][w] * twins[i / N][w];
                y += twins[i % N][w] * twins[i % N][w];
            }
            wanted[i] = c % 2 ? dot : dot / sqrt(x * y);
            assert_true(k[i] == k[i % N * N + i / N]);
        }
        test_near("K", texts[c], N * N, k, wanted, 1e-12);
        free(k);
        gram_kernel_release(kernel);
    }
    free_series(&a);
}

/* Without time a path is the same however often it stops on its way. */
static void stops_do_not_matter(void **state)
{
    gram_context *context = *state;
    static all_series a, b;
    OK(context, make_series(context, 1, 0, &a));
    OK(context, make_series(context, 1, 1, &b));
    gram_kernel *kernel = test_kernel(context, "signature(depth=4, time=no)");
    double *k = test_matrix(context, kernel, a.rows, NULL), *other = test_matrix(context, kernel, a.rows, b.rows);
    test_near("with stops", NULL, N * N, other, k, 1e-12);
    free(k), free(other);
    gram_kernel_release(kernel);
    free_series(&a), free_series(&b);
}

static void refuse(gram_context *context, const char *cell, const char *part)
{
    char csv[128];
    double out[4];
    gram_table *table = NULL;
    gram_preparation *preparation = NULL;
    gram_prepared *data = NULL;
    gram_points *points = NULL;
    gram_table_options options;
    gram_preparation_options preparing;
    gram_kernel *kernel = test_kernel(context, "signature");
    gram_table_options_init(&options, sizeof options);
    options.texts = "s";
    gram_preparation_options_init(&preparing, sizeof preparing);
    (void)snprintf(csv, sizeof csv, "s,y\n1 2 3,1\n%s,2\n", cell);
    OK(context, gram_table_read_memory(context, "s.csv", csv, strlen(csv), &options, &table));
    OK(context, gram_preparation_learn(context, table, &preparing, &preparation));
    OK(context, gram_preparation_apply(context, preparation, table, 1, &data));
    OK(context, gram_points_of_prepared(context, data, &points));
    REFUSED(context, gram_matrix(context, kernel, points, NULL, out, 2), GRAM_ERROR_DATA, part);
    gram_kernel_release(kernel);
    gram_points_release(points);
    gram_prepared_destroy(data);
    gram_preparation_release(preparation);
    gram_table_destroy(table);
}

static void what_is_no_series_is_named(void **state)
{
    gram_context *context = *state;
    refuse(context, "1 2 x3", "'x3': not a finite number");
    refuse(context, "1 2;3", "another number of coordinates");
    refuse(context, "7", "two points or more");
    refuse(context, "1 2 3 4 5 6 7 8 9 10 11;1 2 3 4 5 6 7 8 9 10 11", "at most 10 coordinates");
}

static gram_status play(gram_context *context)
{
    static all_series a;
    static double out[N * N];
    gram_kernel *kernel = NULL;
    gram_status status = make_series(context, 2, 0, &a);
    if (status < 0) goto done;
    STEP(gram_kernel_parse(context, "signature(depth=2)", &kernel));
    STEP(gram_matrix(context, kernel, a.rows, NULL, out, N));
done:
    gram_kernel_release(kernel);
    free_series(&a);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(oom_each(play, 0) > 50);
    (void)oom_each(play, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_inner_products_of_integrals),
        cmocka_unit_test(stops_do_not_matter),
        cmocka_unit_test(what_is_no_series_is_named),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
