/* Coupled embeddings against what they must be: the matrices that define them, their constraint, the limit gamma = 0, new rows that are
 * matched across views, and input that they cannot take. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/couple.h>

#include "dense_twin.h"
#include "support.h"

enum { DA = 2, DB = 3 };

/* Pairs: two views of a point in the plane, one of them bent into space; classes by its angle. */
typedef struct pairs {
    int64_t n;
    double *a, *b;
    int64_t *labels;
} pairs;

static pairs make_pairs(uint64_t seed, int64_t n, int64_t classes)
{
    pairs p = {n, test_random(seed, n * DA, -1, 1), test_random(seed + 1, n * DB, -0.05, 0.05), NULL};
    p.labels = calloc((size_t)n, sizeof *p.labels);
    assert_non_null(p.labels);
    for (int64_t i = 0; i < n; i++) {
        const double x = p.a[i * DA], y = p.a[i * DA + 1], angle = atan2(y, x) + 3.14159265358979;
        p.b[i * DB] += x * y, p.b[i * DB + 1] += sin(2 * x), p.b[i * DB + 2] += y * y * y + y;
        p.labels[i] = (int64_t)(angle / 6.2831854 * (double)classes) % classes;
    }
    return p;
}

static void free_pairs(pairs *p)
{
    free(p->a), free(p->b), free(p->labels);
}

static const char *const KERNELS[2] = {"rbf(ell=0.4)", "matern(nu=1.5, ell=0.6)"};

static gram_status try_fit(gram_context *context, const pairs *p, const gram_couple_options *options,
                           gram_couple **couple)
{
    gram_kernel *ka = test_kernel(context, KERNELS[0]), *kb = test_kernel(context, KERNELS[1]);
    gram_points *a = test_points(context, p->n, DA, p->a), *b = test_points(context, p->n, DB, p->b);
    const gram_status status = gram_couple_fit(context, ka, a, kb, b, options, couple);
    gram_points_release(a), gram_points_release(b);
    gram_kernel_release(ka), gram_kernel_release(kb);
    return status;
}

static gram_couple *fit(gram_context *context, const pairs *p, gram_couple_options options)
{
    gram_couple *couple = NULL;
    OK(context, try_fit(context, p, &options, &couple));
    return couple;
}

static gram_couple_options want(int64_t components, double gamma, const int64_t *labels, int64_t neighbours)
{
    gram_couple_options options;
    gram_couple_options_init(&options, sizeof options);
    options.components = components;
    options.gamma = gamma;
    options.labels = labels;
    options.neighbours = neighbours;
    return options;
}

/* Coordinates of rows of view a, then of view b: 2n x k. */
static double *coordinates(gram_context *context, const gram_couple *couple, const pairs *p)
{
    const int64_t k = gram_couple_get_report(couple)->components;
    double *out = test_numbers(2 * p->n * k);
    gram_points *a = test_points(context, p->n, DA, p->a), *b = test_points(context, p->n, DB, p->b);
    OK(context, gram_function_evaluate(context, gram_couple_function(couple, 0), a, out, k));
    OK(context, gram_function_evaluate(context, gram_couple_function(couple, 1), b, out + p->n * k, k));
    gram_points_release(a), gram_points_release(b);
    return out;
}

/* ---- the definition ---- */

/* W from labels, or from nearest rows of view b by the kernel's metric: slow and obvious. */
static double *affinities(gram_context *context, const pairs *p, const int64_t *labels, int64_t neighbours)
{
    const int64_t n = p->n;
    double *w = test_numbers(n * n), *distance = test_numbers(n * n);
    gram_kernel *kernel = test_kernel(context, KERNELS[1]);
    gram_points *b = test_points(context, n, DB, p->b);
    OK(context, gram_matrix_distance(context, kernel, b, NULL, distance, n));
    for (int64_t i = 0; i < n; i++) {
        w[i * n + i] = 1;
        for (int64_t j = 0; j < n; j++) {
            int64_t nearer = 0;
            for (int64_t l = 0; l < n; l++) nearer += l != i && distance[i * n + l] < distance[i * n + j];
            if (labels ? labels[i] == labels[j] : j != i && nearer < neighbours) w[i * n + j] = w[j * n + i] = 1;
        }
    }
    gram_points_release(b);
    gram_kernel_release(kernel);
    free(distance);
    return w;
}

typedef struct twin {
    int64_t size;
    double *zz, *m; /* Z Z, and Z G Z + gamma Z */
} twin;

static twin make_twin(gram_context *context, const pairs *p, double gamma, const double *w)
{
    const int64_t n = p->n, size = 2 * n;
    twin t = {size, test_numbers(size * size), test_numbers(size * size)};
    double *z = test_numbers(size * size), *g = test_numbers(size * size), *zg = test_numbers(size * size);
    for (int v = 0; v < 2; v++) {
        gram_kernel *kernel = test_kernel(context, KERNELS[v]);
        gram_points *x = test_points(context, n, v == 0 ? DA : DB, v == 0 ? p->a : p->b);
        double *k = test_matrix(context, kernel, x, NULL);
        for (int64_t i = 0; i < n; i++) memcpy(z + (v * n + i) * size + v * n, k + i * n, (size_t)n * sizeof *k);
        free(k);
        gram_points_release(x);
        gram_kernel_release(kernel);
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            g[i * size + i] += w[i * n + j];
            g[(n + j) * size + n + j] += w[i * n + j];
            g[i * size + n + j] = g[(n + j) * size + i] = -w[i * n + j];
        }
    dense_multiply(size, size, size, z, z, t.zz);
    dense_multiply(size, size, size, z, g, zg);
    dense_multiply(size, size, size, zg, z, t.m);
    for (int64_t i = 0; i < size * size; i++) t.m[i] += gamma * z[i];
    free(z), free(g), free(zg);
    return t;
}

static double inner(const twin *t, const double *matrix, const double *u, const double *v)
{
    double sum = 0;
    for (int64_t i = 0; i < t->size; i++)
        for (int64_t j = 0; j < t->size; j++) sum += u[i] * matrix[i * t->size + j] * v[j];
    return sum;
}

/* mu_1, ..., mu_k by powers of M^-1 Z Z, which is symmetric in the inner product u'Z Z v: each start is kept orthogonal there to the
 * vectors before. */
static void twin_values(const twin *t, int64_t count, double *values)
{
    const int64_t size = t->size;
    double *step = test_numbers(size * size), *u = test_random(21, count * size, -1, 1), *next = test_numbers(size);
    memcpy(step, t->zz, (size_t)(size * size) * sizeof *step);
    dense_solve(size, t->m, size, step);
    for (int64_t s = 0; s < count; s++) {
        double *v = u + s * size;
        for (int round = 0; round < 600; round++) {
            dense_multiply(size, size, 1, step, v, next);
            for (int64_t r = 0; r < s; r++) {
                const double part = inner(t, t->zz, u + r * size, next);
                for (int64_t i = 0; i < size; i++) next[i] -= part * u[r * size + i];
            }
            const double norm = sqrt(inner(t, t->zz, next, next));
            for (int64_t i = 0; i < size; i++) v[i] = next[i] / norm;
        }
        values[s] = 1 / inner(t, t->m, v, v);
    }
    free(step), free(u), free(next);
}

/* C'C = I over the coordinates of both views. */
static void check_constraint(const char *what, int64_t rows, int64_t k, const double *c, double tolerance)
{
    for (int64_t s = 0; s < k; s++)
        for (int64_t t = 0; t < k; t++) {
            double sum = 0;
            for (int64_t i = 0; i < rows; i++) sum += c[i * k + s] * c[i * k + t];
            if (fabs(sum - (s == t)) > tolerance) FAIL_TEST("%s: U'ZZU[%d, %d] = %.15g", what, (int)s, (int)t, sum);
        }
}

/* sum_ij W_ij |f(a_i) - g(b_j)|^2, output by output. */
static void objective(int64_t n, int64_t k, const double *w, const double *c, double *out)
{
    memset(out, 0, (size_t)k * sizeof *out);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t s = 0; s < k; s++)
                out[s] += w[i * n + j] * (c[i * k + s] - c[(n + j) * k + s]) * (c[i * k + s] - c[(n + j) * k + s]);
}

/* The values are those of the matrices; coordinates meet the constraint, and their objective is 1/mu. */
static void check_definition(gram_context *context, const char *what, const int64_t *use, int64_t neighbours)
{
    enum { N = 24, K = 3 };
    pairs p = make_pairs(31, N, 3);
    const int64_t *labels = use ? p.labels : NULL;
    const double gamma = 0.05;
    double values[K], inverse[K], parts[K], norms[2][K];
    gram_couple *couple = fit(context, &p, want(K, gamma, labels, neighbours));
    double *w = affinities(context, &p, labels, neighbours), *c = coordinates(context, couple, &p);
    twin t = make_twin(context, &p, gamma, w);
    twin_values(&t, K, values);
    test_near(what, "eigenvalues", K, gram_couple_eigenvalues(couple), values, 1e-6);
    check_constraint(what, 2 * N, K, c, 1e-9);
    objective(N, K, w, c, parts);
    for (int v = 0; v < 2; v++) OK(context, gram_function_norm(context, gram_couple_function(couple, v), norms[v]));
    for (int s = 0; s < K; s++) {
        parts[s] += gamma * (norms[0][s] * norms[0][s] + norms[1][s] * norms[1][s]);
        inverse[s] = 1 / values[s];
    }
    test_near(what, "objective", K, parts, inverse, 1e-6);
    gram_couple_destroy(couple);
    free(t.zz), free(t.m), free(w), free(c);
    free_pairs(&p);
}

static void formula(void **state)
{
    static const int64_t yes = 1;
    check_definition(*state, "labels", &yes, 0);
    check_definition(*state, "neighbours", NULL, 4);
    check_definition(*state, "pairs", NULL, 0);
}

/* ---- gamma = 0 ---- */

/* With labels the objective is 0: all rows of a class at one point, and different classes at different ones. */
static void no_ridge_labels(void **state)
{
    enum { N = 40, CLASSES = 4, K = CLASSES - 1 };
    gram_context *context = *state;
    pairs p = make_pairs(41, N, CLASSES);
    gram_couple *couple = fit(context, &p, want(K, 0, p.labels, 0));
    double *c = coordinates(context, couple, &p), *w = affinities(context, &p, p.labels, 0), parts[K], sums[K] = {0};
    check_constraint("gamma = 0", 2 * N, K, c, 1e-7);
    objective(N, K, w, c, parts);
    for (int s = 0; s < K; s++) {
        for (int64_t i = 0; i < 2 * N; i++) sums[s] += c[i * K + s];
        assert_true(parts[s] < 1e-8);
        assert_true(fabs(sums[s]) < 1e-4); /* orthogonal to the constant, which was dropped */
    }
    gram_couple_destroy(couple);
    REFUSED(context, try_fit(context, &p, &(gram_couple_options){0}, &couple), GRAM_ERROR_ARGUMENT, "size");
    const gram_couple_options more = want(CLASSES, 0, p.labels, 0), single = want(2, 0, NULL, 0);
    REFUSED(context, try_fit(context, &p, &more, &couple), GRAM_ERROR_ARGUMENT, "one less than classes");
    REFUSED(context, try_fit(context, &p, &single, &couple), GRAM_ERROR_ARGUMENT, "40 null directions");
    for (int64_t i = 0; i < N; i++) p.labels[i] = i; /* classes of one row each: W = I, too */
    const gram_couple_options alone = want(2, 0, p.labels, 0);
    REFUSED(context, try_fit(context, &p, &alone, &couple), GRAM_ERROR_ARGUMENT, "W = I");
    free(c), free(w);
    free_pairs(&p);
}

/* With neighbours it is solved, is no constant, and is what gamma to 0 tends to. */
static void no_ridge_neighbours(void **state)
{
    enum { N = 40, K = 2, NEIGHBOURS = 6 };
    gram_context *context = *state;
    pairs p = make_pairs(43, N, 4);
    gram_couple *zero = fit(context, &p, want(K, 0, NULL, NEIGHBOURS));
    gram_couple *some = fit(context, &p, want(K, 1e-9, NULL, NEIGHBOURS));
    double *c = coordinates(context, zero, &p), *w = affinities(context, &p, NULL, NEIGHBOURS), parts[K], inverse[K];
    check_constraint("gamma = 0", 2 * N, K, c, 1e-7);
    objective(N, K, w, c, parts);
    for (int s = 0; s < K; s++) {
        double sum = 0;
        for (int64_t i = 0; i < 2 * N; i++) sum += c[i * K + s];
        assert_true(fabs(sum) < 1e-6);
        inverse[s] = 1 / gram_couple_eigenvalues(some)[s]; /* the constant was dropped there, too */
    }
    assert_true(parts[0] > 1e-3);
    test_near("objective", "gamma = 0", K, parts, inverse, 1e-4);
    gram_couple_destroy(zero), gram_couple_destroy(some);
    free(c), free(w);
    free_pairs(&p);
}

/* ---- matching ---- */

static int64_t nearest(int64_t n, int64_t k, const double *probe, const double *gallery)
{
    double best = INFINITY;
    int64_t found = 0;
    for (int64_t j = 0; j < n; j++) {
        double square = 0;
        for (int64_t s = 0; s < k; s++) square += pow(probe[s] - gallery[j * k + s], 2);
        if (square < best) best = square, found = j;
    }
    return found;
}

/* New rows of view a find the class, or the partner, among rows of view b; and about as often as left-out rows said. */
static void matching(void **state)
{
    enum { N = 240, M = N / 5, K = 3 }; /* as many new rows as a fold leaves out */
    gram_context *context = *state;
    pairs p = make_pairs(51, N, 4), q = make_pairs(53, M, 4);
    for (int by_labels = 0; by_labels < 2; by_labels++) {
        gram_couple *couple = fit(context, &p, want(K, NAN, by_labels ? p.labels : NULL, 0));
        const gram_couple_report *report = gram_couple_get_report(couple);
        double *old = coordinates(context, couple, &p), *new = coordinates(context, couple, &q), right = 0;
        for (int64_t i = 0; i < M; i++)
            right += by_labels ? p.labels[nearest(N, K, new + i *K, old + N * K)] == q.labels[i]
                               : nearest(M, K, new + i *K, new + M *K) == i;
        assert_int_equal(report->chosen, 1);
        assert_int_equal(report->classes, by_labels ? 4 : 0);
        if (!(right / M > (by_labels ? 0.9 : 0.5) && fabs(right / M - report->accuracy) < 0.15))
            FAIL_TEST("%d: %g of new rows are right, %g of left-out ones", by_labels, right / M, report->accuracy);
        gram_couple_destroy(couple);
        free(old), free(new);
    }
    free_pairs(&p), free_pairs(&q);
}

/* ---- the rest ---- */

static void fill_threads(gram_context *context, double *out)
{
    pairs p = make_pairs(61, 120, 3);
    gram_couple *couple = fit(context, &p, want(2, NAN, NULL, 5));
    memcpy(out, gram_couple_eigenvalues(couple), 2 * sizeof *out);
    out[2] = gram_couple_get_report(couple)->gamma;
    out[3] = gram_couple_get_report(couple)->accuracy;
    OK(context, gram_function_norm(context, gram_couple_function(couple, 1), out + 4));
    gram_couple_destroy(couple);
    free_pairs(&p);
}

static void same_bits(void **state)
{
    (void)state;
    test_any_threads(6, fill_threads);
}

static void refused(void **state)
{
    enum { N = 12 };
    gram_context *context = *state;
    gram_couple *couple = NULL;
    pairs p = make_pairs(71, N, 3);
    gram_couple_options options = want(2 * N + 1, 1, NULL, 2);
    REFUSED(context, try_fit(context, &p, &options, &couple), GRAM_ERROR_ARGUMENT,
            "25 components are more than the 24");
    options = want(0, 1, NULL, 2);
    REFUSED(context, try_fit(context, &p, &options, &couple), GRAM_ERROR_ARGUMENT, "components = 0");
    options = want(1, -1, NULL, 2);
    REFUSED(context, try_fit(context, &p, &options, &couple), GRAM_ERROR_ARGUMENT, "gamma = -1");
    options = want(1, 1, NULL, -1);
    REFUSED(context, try_fit(context, &p, &options, &couple), GRAM_ERROR_ARGUMENT, "neighbours = -1");
    options = want(1, 1, p.labels, 0);
    p.labels[3] = N;
    REFUSED(context, try_fit(context, &p, &options, &couple), GRAM_ERROR_ARGUMENT, "labels[3] = 12");
    memset(p.labels, 0, N * sizeof *p.labels);
    REFUSED(context, try_fit(context, &p, &options, &couple), GRAM_ERROR_DATA, "one label");
    p.n = 9;
    options = want(1, NAN, NULL, 2);
    REFUSED(context, try_fit(context, &p, &options, &couple), GRAM_ERROR_ARGUMENT, "9 rows are too few");
    p.n = 2;
    REFUSED(context, try_fit(context, &p, &options, &couple), GRAM_ERROR_DIMENSION, "2 rows are fewer");
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)");
    gram_points *a = test_points(context, N, DA, p.a), *b = test_points(context, N - 1, DB, p.b);
    REFUSED(context, gram_couple_fit(context, kernel, a, kernel, b, NULL, &couple), GRAM_ERROR_DIMENSION,
            "12 rows of a and 11 of b");
    gram_points_release(a), gram_points_release(b);
    gram_kernel_release(kernel);
    free_pairs(&p);
}

/* Repeated rows: equal coordinates, and nothing fails; every row is a neighbour of its copy. */
static void duplicates(void **state)
{
    enum { N = 30, K = 2 };
    gram_context *context = *state;
    pairs p = make_pairs(81, N, 3);
    memcpy(p.a + N / 2 * DA, p.a, N / 2 * DA * sizeof(double));
    memcpy(p.b + N / 2 * DB, p.b, N / 2 * DB * sizeof(double));
    gram_couple *couple = fit(context, &p, want(K, NAN, NULL, 1));
    double *c = coordinates(context, couple, &p);
    test_near("coordinates", "repeated rows", N / 2 * K, c + N / 2 * K, c, 1e-9);
    check_constraint("repeated rows", 2 * N, K, c, 1e-7);
    gram_couple_destroy(couple);
    free(c);
    free_pairs(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formula),   cmocka_unit_test(no_ridge_labels), cmocka_unit_test(no_ridge_neighbours),
        cmocka_unit_test(matching),  cmocka_unit_test(same_bits),       cmocka_unit_test(refused),
        cmocka_unit_test(duplicates)};
    return cmocka_run_group_tests(tests, test_open, test_close);
}
