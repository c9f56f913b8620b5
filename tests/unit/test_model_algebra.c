/* Models as functions: terms of a sum kernel, sums of models against sums of their values, spaces that differ, and centres that are
 * functionals. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { N = 15, D = 2 };

typedef struct pair {
    double *x, *z, y[N];
    gram_points *first, *second; /* different points */
    gram_kernel *kernel;
} pair;

static void open_pair(gram_context *context, const char *kernel, pair *p)
{
    p->x = test_spread(5, N, D);
    p->z = test_spread(6, N, D);
    for (int i = 0; i < N; i++) p->y[i] = sin(2 * p->x[i * D]) + p->z[i * D + 1];
    p->first = test_points(context, N, D, p->x);
    p->second = test_points(context, N, D, p->z);
    p->kernel = test_kernel(context, kernel);
}

static void close_pair(pair *p)
{
    gram_points_release(p->first);
    gram_points_release(p->second);
    gram_kernel_release(p->kernel);
    free(p->x);
    free(p->z);
}

static gram_model *model_of(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y)
{
    static const int64_t COLUMN[] = {1};
    gram_krr *krr;
    gram_model *model;
    gram_krr_options options;
    gram_krr_options_init(&options, sizeof options);
    options.unpenalised_count = 1;
    options.unpenalised = COLUMN;
    OK(context, gram_krr_fit(context, kernel, x, 1, y, 1, &options, &krr));
    OK(context, gram_krr_model(context, krr, NULL, &model));
    gram_krr_destroy(krr);
    return model;
}

static void terms(void **state)
{
    gram_context *context = *state;
    pair p;
    gram_krr *krr;
    gram_function *term;
    double sum[N], part[N], whole[N], norm, squares = 0, all;
    open_pair(context, "1.5*rbf(ell=0.6) + on(1, matern(nu=2.5, ell=1)) + 0.5*linear(c=0)", &p);
    OK(context, gram_krr_fit(context, p.kernel, p.first, 1, p.y, 1, NULL, &krr));
    const gram_function *f = gram_krr_function(krr);
    for (int i = 0; i < N; i++) sum[i] = gram_function_constant(f)[0];
    for (int64_t t = 0; t < 3; t++) {
        OK(context, gram_function_term(context, f, t, &term));
        OK(context, gram_function_evaluate(context, term, p.second, part, 1));
        OK(context, gram_function_norm(context, term, &norm));
        for (int i = 0; i < N; i++) sum[i] += part[i];
        squares += norm * norm;
        gram_function_release(term);
    }
    OK(context, gram_function_evaluate(context, f, p.second, whole, 1));
    test_near("sum of terms", NULL, N, sum, whole, 1e-13);
    OK(context, gram_function_norm(context, f, &all));
    all *= all;
    test_near("squares of norms", NULL, 1, &squares, &all, 1e-12);
    REFUSED(context, gram_function_term(context, f, 3, &term), GRAM_ERROR_ARGUMENT, "the kernel has 3 terms");
    gram_krr_destroy(krr);
    close_pair(&p);
}

/* s f + t g has the values s f(x) + t g(x), through a file too, and |f - g|^2 = |f|^2 + |g|^2 - 2 <f, g>. */
static void check_sum(gram_context *context, const gram_model *f, const gram_model *g, const gram_points *at)
{
    gram_model *sum, *read;
    double a[N], b[N], got[N], norm[2], inner, distance;
    size_t size;
    OK(context, gram_model_check_space(context, f, g));
    OK(context, gram_model_combine(context, 2, f, -0.5, g, &sum));
    OK(context, gram_model_write_memory(context, sum, NULL, 0, &size));
    void *bytes = malloc(size);
    OK(context, gram_model_write_memory(context, sum, bytes, size, &size));
    OK(context, gram_model_read_memory(context, "sum", bytes, size, &read));
    OK(context, gram_function_evaluate(context, gram_model_function(f), at, a, 1));
    OK(context, gram_function_evaluate(context, gram_model_function(g), at, b, 1));
    OK(context, gram_function_evaluate(context, gram_model_function(read), at, got, 1));
    for (int i = 0; i < N; i++) a[i] = 2 * a[i] - 0.5 * b[i];
    test_near("2 f - g/2", NULL, N, got, a, 1e-11);
    OK(context, gram_function_norm(context, gram_model_function(f), &norm[0]));
    OK(context, gram_function_norm(context, gram_model_function(g), &norm[1]));
    OK(context, gram_function_inner(context, gram_model_function(f), gram_model_function(g), &inner));
    OK(context, gram_function_distance(context, gram_model_function(f), gram_model_function(g), &distance));
    const double wanted = norm[0] * norm[0] + norm[1] * norm[1] - 2 * inner;
    distance *= distance;
    test_near("distance", NULL, 1, &distance, &wanted, 1e-9);
    free(bytes);
    gram_model_destroy(sum);
    gram_model_destroy(read);
}

static void sums(void **state)
{
    gram_context *context = *state;
    pair p;
    open_pair(context, "rbf(ell=0.8)", &p);
    gram_model *f = model_of(context, p.kernel, p.first, p.y), *g = model_of(context, p.kernel, p.second, p.y);
    check_sum(context, f, g, p.second);
    gram_model_destroy(f);
    gram_model_destroy(g);
    close_pair(&p);
}

/* Slopes as centres: with others, and with the same. */
static void functionals(void **state)
{
    gram_context *context = *state;
    static const double ALONG[D] = {1, 0};
    gram_functional_term rows[N];
    gram_points *x;
    pair p;
    double other[N];
    open_pair(context, "rbf(ell=0.8)", &p);
    for (int i = 0; i < N; i++) {
        rows[i] = (gram_functional_term){.row = i,
                                         .kind = i % 2 ? GRAM_FUNCTIONAL_SLOPE : GRAM_FUNCTIONAL_VALUE,
                                         .coefficient = 1,
                                         .at = p.x + i * D,
                                         .first = i % 2 ? ALONG : NULL};
        other[i] = cos((double)i);
    }
    OK(context, gram_points_create_functionals(context, N, D, N, rows, &x));
    gram_model *f = model_of(context, p.kernel, x, p.y), *g = model_of(context, p.kernel, p.second, p.y),
               *h = model_of(context, p.kernel, x, other);
    check_sum(context, f, g, x);
    check_sum(context, f, h, x);
    gram_function *sum;
    OK(context, gram_function_combine(context, 1, gram_model_function(f), 1, gram_model_function(h), &sum));
    assert_int_equal(gram_points_count(gram_function_centres(sum)), N); /* the same centres are merged */
    gram_function_release(sum);
    gram_model_destroy(f);
    gram_model_destroy(g);
    gram_model_destroy(h);
    gram_points_release(x);
    close_pair(&p);
}

static void spaces(void **state)
{
    gram_context *context = *state;
    pair p;
    gram_model *sum;
    open_pair(context, "rbf(ell=0.8)", &p);
    gram_kernel *other = test_kernel(context, "rbf(ell=0.9)");
    gram_model *f = model_of(context, p.kernel, p.first, p.y), *g = model_of(context, other, p.second, p.y);
    REFUSED(context, gram_model_check_space(context, f, g), GRAM_ERROR_ARGUMENT, "the kernels differ");
    REFUSED(context, gram_model_combine(context, 1, f, 1, g, &sum), GRAM_ERROR_ARGUMENT, "rbf(ell=0.9)");
    REFUSED(context, gram_model_combine(context, NAN, f, 1, NULL, &sum), GRAM_ERROR_ARGUMENT, "s is");
    gram_model_destroy(f);
    gram_model_destroy(g);
    gram_kernel_release(other);
    close_pair(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms),
        cmocka_unit_test(sums),
        cmocka_unit_test(functionals),
        cmocka_unit_test(spaces),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
