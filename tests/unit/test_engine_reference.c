/* Every value of the tables in tests/reference, through every function that gives values, at every instruction level.
 *
 * |k - ref| <= 4e-15 (1 + |s k'(s)/k(s)|) |k|; tests/reference/make_kernels.py says how this reads for composites, the
 * script of each other table what it is for its kernels. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { MAX_LINE = 65536, MAX_POINTS = 16, MAX_SETS = 32 };

static const double RULE = 4e-15;

/* each with at least this many kernels in it */
static const struct {
    const char *file;
    int kernels;
} TABLES[] = {
    {"kernels.txt", 200},
    {"kernels_dot_dist.txt", 200},
    {"kernels_coords.txt", 100},
    {"kernels_neural.txt", 100},
};

typedef struct point_set {
    char name[32];
    int64_t n, d;
    double *data;
} point_set;

typedef struct reference {
    point_set sets[MAX_SETS];
    int set_count;
    int kernel_count;
    double worst; /* the largest error, as a share of what is allowed */
} reference;

/* One kernel on one set: the lower triangle, row by row. */
typedef struct expected {
    const char *text;
    const point_set *set;
    long double k[MAX_POINTS * (MAX_POINTS + 1) / 2];
    double allowed[MAX_POINTS * (MAX_POINTS + 1) / 2]; /* relative, in units of RULE */
} expected;

static void read_line(FILE *file, char *line)
{
    assert_non_null(fgets(line, MAX_LINE, file));
    assert_true(strlen(line) < MAX_LINE - 1);
}

static void read_points(FILE *file, char *line, reference *table)
{
    point_set *set = &table->sets[table->set_count++];
    long long n, d;
    assert_true(table->set_count < MAX_SETS);
    assert_int_equal(sscanf(line, "points %31s %lld %lld", set->name, &n, &d), 3);
    assert_true(n <= MAX_POINTS);
    set->n = n;
    set->d = d;
    set->data = test_numbers(n * d);
    for (int64_t i = 0; i < n; i++) {
        read_line(file, line);
        char *at = line;
        for (int64_t l = 0; l < d; l++) set->data[i * d + l] = strtod(at, &at);
    }
}

static void read_kernel(FILE *file, char *line, const reference *table, expected *want)
{
    char name[32];
    int start = 0;
    assert_int_equal(sscanf(line, "kernel %31s %n", name, &start), 1);
    line[strcspn(line, "\n")] = 0;
    want->text = line + start;
    want->set = NULL;
    for (int i = 0; i < table->set_count; i++)
        if (strcmp(table->sets[i].name, name) == 0) want->set = &table->sets[i];
    assert_non_null(want->set);
    static char value_line[MAX_LINE];
    for (int64_t p = 0; p < want->set->n * (want->set->n + 1) / 2; p++) {
        read_line(file, value_line);
        char *at = value_line;
        want->k[p] = strtold(value_line, &at);
        want->allowed[p] = strtod(at, NULL);
    }
}

static void check(reference *table, const expected *want, const char *through, int64_t i, int64_t j, double k)
{
    const int64_t p = i > j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
    const double error = (double)fabsl((long double)k - want->k[p]);
    const double allowed = RULE * want->allowed[p] * (double)fabsl(want->k[p]);
    if (!(error <= allowed))
        FAIL_TEST("%.200s on %s through %s: k(%lld,%lld) = %.17g, should be %.22Lg: off by %.3g, allowed %.3g",
                  want->text, want->set->name, through, (long long)i, (long long)j, k, want->k[p], error, allowed);
    if (allowed > 0 && error / allowed > table->worst) table->worst = error / allowed;
}

static void check_all(gram_context *context, reference *table, const expected *want)
{
    const int64_t n = want->set->n, d = want->set->d;
    const int white = strstr(want->text, "white") != NULL;
    double *copy = test_numbers(n * d), *out = test_numbers(n * n);
    memcpy(copy, want->set->data, (size_t)(n * d) * sizeof *copy);
    gram_points *x = test_points(context, n, d, want->set->data), *y = test_points(context, n, d, copy);
    gram_kernel *kernel = test_kernel(context, want->text);

    OK(context, gram_matrix(context, kernel, x, NULL, out, n));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) check(table, want, "matrix", i, j, out[i * n + j]);
    OK(context, gram_matrix(context, kernel, x, y, out, n));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            if (i != j || !white) check(table, want, "cross matrix", i, j, out[i * n + j]);
    OK(context, gram_matrix_diagonal(context, kernel, x, out));
    for (int64_t i = 0; i < n; i++) check(table, want, "diagonal", i, i, out[i]);
    const int64_t index[2] = {n - 1, 1};
    OK(context, gram_matrix_columns(context, kernel, x, 2, index, out, 2));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < 2; j++) check(table, want, "columns", i, index[j], out[i * 2 + j]);

    gram_kernel_release(kernel);
    gram_points_release(y);
    gram_points_release(x);
    free(out);
    free(copy);
    table->kernel_count++;
}

static void run_table(gram_context *context, const char *name, int least)
{
    static char line[MAX_LINE];
    static expected want;
    char path[512];
    reference table = {.set_count = 0};
    (void)snprintf(path, sizeof path, "%s/reference/%s", GRAM_TEST_SOURCE, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "points ", 7) == 0) {
            read_points(file, line, &table);
        } else if (strncmp(line, "kernel ", 7) == 0) {
            read_kernel(file, line, &table, &want);
            check_all(context, &table, &want);
        }
    }
    (void)fclose(file);
    print_message("%s, %s: %d kernels, worst error %.2f of the allowed\n", name, gram_context_isa(context),
                  table.kernel_count, table.worst);
    assert_true(table.kernel_count >= least);
    for (int i = 0; i < table.set_count; i++) free(table.sets[i].data);
}

static void run(gram_isa isa)
{
    gram_context *context = test_context(1, isa);
    for (size_t i = 0; i < sizeof TABLES / sizeof *TABLES; i++) run_table(context, TABLES[i].file, TABLES[i].kernels);
    gram_context_destroy(context);
}

static void plain(void **state)
{
    (void)state;
    run(GRAM_ISA_PLAIN);
}

static void avx2(void **state)
{
    (void)state;
    if (!test_has_isa(GRAM_ISA_AVX2)) skip();
    run(GRAM_ISA_AVX2);
}

static void avx512(void **state)
{
    (void)state;
    if (!test_has_isa(GRAM_ISA_AVX512)) skip();
    run(GRAM_ISA_AVX512);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plain), cmocka_unit_test(avx2), cmocka_unit_test(avx512)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
