/* Given matrices against the kernel that they were made of: entries, parts of the rows, fits, models; new rows by all columns, by those that are needed and with themselves; and what
 * cannot be. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"
#include "points/given_things.h"
#include "points/points.h"
#include "solve/eigen/given_psd.h"
#include "support.h"

enum { N = 130, M = 47, D = 3 };

/* The same rows as numbers, and as rows of the matrix of rbf(ell=0.9). */
typedef struct rows {
    double *x, *k;
    gram_points *plain, *given;
} rows;

static gram_points *as_points(gram_context *context, gram_objects *store, int64_t n)
{
    double *places = test_numbers(n);
    gram_points *borrowed = NULL, *points = NULL;
    for (int64_t i = 0; i < n; i++) places[i] = (double)i;
    OK(context, gram_points_create_f64(context, n, 1, places, 1, &borrowed));
    OK(context, gram_points_set_objects(context, &store, &borrowed));
    OK(context, gram_points_gather(context, borrowed, n, NULL, &points));
    gram_points_release(borrowed);
    free(places);
    return points;
}

/* A matrix is the store's: a copy of k, in memory of the context. */
static gram_objects *store_of(gram_context *context, const double *k, gram_given_matrix matrix)
{
    gram_objects *store = NULL;
    void *copy = NULL;
    const size_t bytes = (size_t)(matrix.rows * matrix.width) * sizeof(double);
    OK(context, gram_take(context, "test", (int64_t)bytes, 1, &copy));
    matrix.value = memcpy(copy, k, bytes);
    matrix.name = "K.npy";
    OK(context, gram_given_create(context, &matrix, &store));
    return store;
}

static void make_rows(gram_context *context, rows *r)
{
    gram_kernel *rbf = test_kernel(context, "rbf(ell=0.9)");
    r->x = test_random(3, N * D, -1, 1);
    r->plain = test_points(context, N, D, r->x);
    r->k = test_matrix(context, rbf, r->plain, NULL);
    gram_objects *store =
        store_of(context, r->k, (gram_given_matrix){.rows = N, .width = N, .known = N, .training = 1});
    OK(context, gram_given_symmetrise(context, store));
    r->given = as_points(context, store, N);
    gram_objects_release(store);
    gram_kernel_release(rbf);
}

static void free_rows(rows *r)
{
    gram_points_release(r->plain);
    gram_points_release(r->given);
    free(r->x);
    free(r->k);
}

/* ---- entries ---- */

static const char *const PAIRS[][2] = {
    {"given", "rbf(ell=0.9)"},
    {"2.5*given + 0.5", "2.5*rbf(ell=0.9) + 0.5"},
    {"given^3", "rbf(ell=0.9)^3"},
    {"exp(given) + white", "exp(rbf(ell=0.9)) + white"},
    {"normalize(3*given)", "normalize(3*rbf(ell=0.9))"},
};
enum { PAIR_COUNT = sizeof PAIRS / sizeof *PAIRS };

static void expressions_are_equal(void **state)
{
    gram_context *context = *state;
    rows r;
    make_rows(context, &r);
    for (int c = 0; c < PAIR_COUNT; c++) {
        gram_kernel *given = test_kernel(context, PAIRS[c][0]), *plain = test_kernel(context, PAIRS[c][1]);
        double *a = test_matrix(context, given, r.given, NULL), *b = test_matrix(context, plain, r.plain, NULL);
        test_near("K(X, X)", PAIRS[c][0], N * N, a, b, 1e-14);
        for (int64_t i = 0; i < N * N; i++) assert_true(a[i] == a[i % N * N + i / N]);
        free(a), free(b);
        gram_kernel_release(given);
        gram_kernel_release(plain);
    }
    free_rows(&r);
}

/* Rows in another order, some of them twice. */
static void parts_are_equal(void **state)
{
    gram_context *context = *state;
    rows r;
    int64_t which[70];
    gram_points *some = NULL, *others = NULL;
    gram_kernel *given = test_kernel(context, "given");
    make_rows(context, &r);
    for (int64_t i = 0; i < 70; i++) which[i] = (i * 37 + 5) % 101;
    OK(context, gram_points_gather(context, r.given, 70, which, &some));
    OK(context, gram_points_gather(context, r.given, 40, which + 30, &others));
    double *k = test_matrix(context, given, some, others);
    for (int64_t i = 0; i < 70; i++)
        for (int64_t j = 0; j < 40; j++) assert_true(k[i * 40 + j] == r.k[which[i] * N + which[30 + j]]);
    free(k);
    gram_points_release(some);
    gram_points_release(others);
    gram_kernel_release(given);
    free_rows(&r);
}

static void fill_matrix(gram_context *context, double *out)
{
    rows r;
    make_rows(context, &r);
    gram_kernel *kernel = test_kernel(context, "2*given + given^2");
    OK(context, gram_matrix(context, kernel, r.given, NULL, out, N));
    gram_kernel_release(kernel);
    free_rows(&r);
}

static void any_threads(void **state)
{
    (void)state;
    test_any_threads(N * N, fill_matrix);
}

/* ---- new rows ---- */

/* M new rows: their kernel with the N known ones, and with each other, N + M columns. */
static double *new_entries(gram_context *context, const rows *r)
{
    gram_kernel *rbf = test_kernel(context, "rbf(ell=0.9)");
    double *z = test_random(4, M * D, -1, 1), *wide = test_numbers(M * (N + M));
    gram_points *fresh = test_points(context, M, D, z);
    double *cross = test_matrix(context, rbf, fresh, r->plain), *own = test_matrix(context, rbf, fresh, NULL);
    for (int64_t i = 0; i < M; i++) {
        memcpy(wide + i * (N + M), cross + i * N, N * sizeof *wide);
        memcpy(wide + i * (N + M) + N, own + i * M, M * sizeof *wide);
    }
    free(cross), free(own), free(z);
    gram_points_release(fresh);
    gram_kernel_release(rbf);
    return wide;
}

static gram_points *new_rows(gram_context *context, const double *wide, int64_t width, int64_t count,
                             const int64_t *columns)
{
    double *k = test_numbers(M * width);
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < width; j++) k[i * width + j] = wide[i * (N + M) + (columns ? columns[j] : j)];
    gram_objects *store = store_of(context, k, (gram_given_matrix){.rows = M, .width = width, .known = N});
    if (count > 0) OK(context, gram_given_name_columns(context, store, count, columns));
    gram_points *points = as_points(context, store, M);
    gram_objects_release(store);
    free(k);
    return points;
}

static void new_rows_meet_known_ones(void **state)
{
    gram_context *context = *state;
    static const int64_t needed[] = {2, 3, 17, 40, 99, 128};
    const int64_t centres[] = {17, 128, 2, 99, 3, 40};
    rows r;
    gram_points *some = NULL;
    make_rows(context, &r);
    double *wide = new_entries(context, &r);
    gram_kernel *given = test_kernel(context, "given");
    gram_points *all = new_rows(context, wide, N, 0, NULL), *few = new_rows(context, wide, 6, 6, needed);
    OK(context, gram_points_gather(context, r.given, 6, centres, &some));
    double *a = test_matrix(context, given, all, some), *b = test_matrix(context, given, few, some);
    double *c = test_matrix(context, given, some, few); /* the matrix is on the other side */
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < 6; j++) {
            const double wanted = wide[i * (N + M) + centres[j]];
            assert_true(a[i * 6 + j] == wanted && b[i * 6 + j] == wanted && c[j * M + i] == wanted);
        }
    free(a), free(b), free(c);
    double out[M * N];
    REFUSED(context, gram_matrix(context, given, few, r.given, out, N), GRAM_ERROR_DATA,
            "no column for row 1 of the training data");
    REFUSED(context, gram_matrix(context, given, all, NULL, out, M), GRAM_ERROR_DATA, "with themselves");
    gram_points_release(all);
    gram_points_release(few);
    gram_points_release(some);
    gram_kernel_release(given);
    free(wide);
    free_rows(&r);
}

static void new_rows_meet_each_other(void **state)
{
    gram_context *context = *state;
    rows r;
    double diagonal[M];
    int64_t columns[N + 1];
    make_rows(context, &r);
    double *wide = new_entries(context, &r);
    gram_kernel *given = test_kernel(context, "2*given");
    gram_points *all = new_rows(context, wide, N + M, 0, NULL);
    double *k = test_matrix(context, given, all, NULL);
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < M; j++) assert_true(k[i * M + j] == 2 * wide[i * (N + M) + N + j]);
    free(k);
    gram_points_release(all);
    /* only with themselves: the last column */
    for (int64_t j = 0; j <= N; j++) columns[j] = j;
    for (int64_t i = 0; i < M; i++) wide[i * (N + M) + N] = 3 + (double)i;
    all = new_rows(context, wide, N + 1, 0, columns);
    OK(context, gram_matrix_diagonal(context, given, all, diagonal));
    for (int64_t i = 0; i < M; i++) assert_true(diagonal[i] == 2 * (3 + (double)i));
    k = test_matrix(context, given, all, NULL);
    assert_true(isnan(k[1]) && isnan(k[M + 7]) && k[M + 1] == 8);
    double *cross = test_matrix(context, given, all, r.given);
    assert_true(cross[5 * N + 9] == 2 * wide[5 * (N + M) + 9]);
    free(k), free(cross), free(wide);
    gram_points_release(all);
    gram_kernel_release(given);
    free_rows(&r);
}

/* ---- fits and models ---- */

/* A fit, written, read back and asked about new rows: as the same with numbers. */
static void models_are_equal(void **state)
{
    gram_context *context = *state;
    rows r;
    double *y = test_random(5, N, -1, 1), f[M], wanted[M], norm[2];
    make_rows(context, &r);
    double *wide = new_entries(context, &r), *z = test_random(4, M * D, -1, 1);
    gram_kernel *given = test_kernel(context, "2*given"), *rbf = test_kernel(context, "2*rbf(ell=0.9)");
    gram_points *fresh = test_points(context, M, D, z), *all = new_rows(context, wide, N, 0, NULL);
    gram_function *fit = NULL, *same = NULL;
    gram_model *model = NULL, *read = NULL;
    OK(context, gram_function_create(context, given, r.given, 1, y, 1, NULL, &fit));
    OK(context, gram_function_create(context, rbf, r.plain, 1, y, 1, NULL, &same));
    OK(context, gram_model_create(context, "krr", "regression", NULL, fit, &model));
    OK(context, gram_model_write(context, model, "given_test.gram"));
    OK(context, gram_model_read(context, "given_test.gram", &read));
    OK(context, gram_function_evaluate(context, gram_model_function(read), all, f, 1));
    OK(context, gram_function_evaluate(context, same, fresh, wanted, 1));
    test_near("f", "read back", M, f, wanted, 1e-12);
    OK(context, gram_function_norm(context, gram_model_function(read), &norm[0]));
    OK(context, gram_function_norm(context, same, &norm[1]));
    test_near("norm", "read back", 1, &norm[0], &norm[1], 1e-12);
    gram_model_destroy(model);
    gram_model_destroy(read);
    gram_function_release(fit);
    gram_function_release(same);
    gram_points_release(fresh);
    gram_points_release(all);
    gram_kernel_release(given);
    gram_kernel_release(rbf);
    free(y), free(z), free(wide);
    free_rows(&r);
    (void)remove("given_test.gram");
}

/* ---- what cannot be ---- */

static gram_status make_bad(gram_context *context, double *k, int64_t at, double value, gram_objects **store)
{
    const double before = k[at];
    k[at] = value;
    void *copy = NULL;
    OK(context, gram_take(context, "test", N * N, sizeof(double), &copy));
    gram_status status = gram_given_create(context,
                                           &(gram_given_matrix){.name = "K.npy",
                                                                .rows = N,
                                                                .width = N,
                                                                .known = N,
                                                                .training = 1,
                                                                .value = memcpy(copy, k, N * N * sizeof *k)},
                                           store);
    if (status >= 0) status = gram_given_symmetrise(context, *store);
    k[at] = before;
    return status;
}

static void bad_entries_are_named(void **state)
{
    gram_context *context = *state;
    rows r;
    gram_objects *store = NULL;
    make_rows(context, &r);
    REFUSED(context, make_bad(context, r.k, 3 * N + 7, NAN, &store), GRAM_ERROR_DATA, "row 4, column 8 is nan");
    REFUSED(context, make_bad(context, r.k, 3 * N + 7, 2, &store), GRAM_ERROR_DATA,
            "not symmetric: row 8, column 4 is");
    gram_objects_release(store);
    /* rounding is no asymmetry: both become the mean */
    OK(context, make_bad(context, r.k, 3 * N + 7, r.k[3 * N + 7] + 1e-9, &store));
    assert_true(store->value[3 * N + 7] == store->value[7 * N + 3] && store->value[7 * N + 3] > r.k[7 * N + 3]);
    gram_objects_release(store);
    free_rows(&r);
}

/* K - shift I has least eigenvalue lambda_min - shift. */
static void negative_eigenvalues_are_shown(void **state)
{
    gram_context *context = *state;
    rows r;
    make_rows(context, &r);
    OK(context, gram_given_check_psd(context, r.given));
    OK(context, gram_given_check_psd(context, r.plain));
    static const struct {
        double shift;
        const char *says;
    } cases[] = {{0.001, "the least eigenvalue is -0.00099"}, {2, "entry 1 of the diagonal is -1"}};
    for (int c = 0; c < 2; c++) {
        double *k = test_numbers(N * N);
        memcpy(k, r.k, N * N * sizeof *k);
        for (int64_t i = 0; i < N; i++) k[i * N + i] -= cases[c].shift;
        gram_objects *store =
            store_of(context, k, (gram_given_matrix){.rows = N, .width = N, .known = N, .training = 1});
        gram_points *points = as_points(context, store, N);
        REFUSED(context, gram_given_check_psd(context, points), GRAM_ERROR_NUMERICAL, cases[c].says);
        gram_points_release(points);
        gram_objects_release(store);
        free(k);
    }
    free_rows(&r);
}

/* Refused before any file is opened. */
static void wanted_columns_need_the_matrix(void **state)
{
    gram_context *context = *state;
    gram_table_options options;
    const gram_wanted wanted[] = {{.name = "x"}};
    gram_table *table = NULL;
    gram_table_options_init(&options, sizeof options);
    options.gram = "K.npy", options.wanted = wanted, options.wanted_count = 1;
    REFUSED(context, gram_table_read(context, "rows.csv", &options, &table), GRAM_ERROR_ARGUMENT,
            "none of the wanted columns is of GRAM_COLUMN_GIVEN");
    assert_null(table);
}

static gram_status play(gram_context *context)
{
    gram_status status = GRAM_OK;
    static const double k[] = {1, 0.5, 0.2, 0.5, 1, 0.1, 0.2, 0.1, 1}, places[] = {0, 1, 2};
    const int64_t which[] = {2, 0};
    gram_objects *store = NULL, *part = NULL, *both = NULL;
    gram_points *points = NULL;
    gram_kernel *given = NULL;
    gram_function *f = NULL;
    gram_model *model = NULL;
    void *copy = NULL;
    double out[9];
    STEP(gram_take(context, "test", 9, sizeof(double), &copy));
    const gram_given_matrix matrix = {
        .name = "K", .rows = 3, .width = 3, .known = 3, .training = 1, .value = memcpy(copy, k, sizeof k)};
    STEP(gram_given_create(context, &matrix, &store));
    STEP(gram_objects_gather(context, store, 2, which, &part));
    STEP(gram_objects_join(context, part, part, &both));
    STEP(gram_kernel_parse(context, "given", &given));
    STEP(gram_points_create_f64(context, 3, 1, places, 1, &points));
    STEP(gram_points_set_objects(context, &store, &points));
    STEP(gram_matrix(context, given, points, NULL, out, 3));
    STEP(gram_given_check_psd(context, points));
    STEP(gram_function_create(context, given, points, 1, k, 1, NULL, &f));
    STEP(gram_model_create(context, "krr", "regression", NULL, f, &model));
done:
    gram_model_destroy(model);
    gram_function_release(f);
    gram_objects_release(store);
    gram_objects_release(part);
    gram_objects_release(both);
    gram_points_release(points);
    gram_kernel_release(given);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    oom_all(play, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_are_equal),
        cmocka_unit_test(parts_are_equal),
        cmocka_unit_test(any_threads),
        cmocka_unit_test(new_rows_meet_known_ones),
        cmocka_unit_test(new_rows_meet_each_other),
        cmocka_unit_test(models_are_equal),
        cmocka_unit_test(bad_entries_are_named),
        cmocka_unit_test(negative_eigenvalues_are_shown),
        cmocka_unit_test(wanted_columns_need_the_matrix),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
