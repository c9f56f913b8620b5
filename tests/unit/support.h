/* What the tests share: contexts, points and kernels without ceremony, what is near, equal or refused, a random number
 * generator that is not the library's, tables of reference values, and a list of kernels that grows with the table of
 * kernels. Linked to every unit test, with dense_twin.h. */
#ifndef GRAM_TESTS_SUPPORT_H
#define GRAM_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <gram/gram.h>

#include "random_numbers.h"

/* Fails the test, with the context's message, unless call returns GRAM_OK. */
#define OK(context, call) test_ok(context, call, #call, __FILE__, __LINE__)
void test_ok(const gram_context *context, gram_status status, const char *call, const char *file, int line);

/* Fails the test with a printf message. */
#define FAIL_TEST(...)                                                                                                 \
    do {                                                                                                               \
        print_error(__VA_ARGS__);                                                                                      \
        print_error("\n");                                                                                             \
        fail();                                                                                                        \
    } while (0)

/* Fails the test unless call returns the wanted status and leaves a message with `part` in it. */
#define REFUSED(context, call, wanted, part) test_refused(context, call, wanted, part, #call, __FILE__, __LINE__)
void test_refused(const gram_context *context, gram_status got, gram_status wanted, const char *part, const char *call,
                  const char *file, int line);

gram_context *test_context(int threads, gram_isa isa);
int test_has_isa(gram_isa isa);

/* A context with these of its options, the others being the defaults: TEST_CONTEXT(.threads = 1, .seed = 7) */
#define TEST_CONTEXT(...) test_context_of(&(gram_context_options){.size = sizeof(gram_context_options), __VA_ARGS__})
gram_context *test_context_of(const gram_context_options *options);

/* For cmocka_run_group_tests: a context in *state, which must hold no memory but its own at the end. */
int test_open(void **state);
int test_close(void **state);

/* For .cancel: 1 from the call on that takes the int at `user`, the number of calls left, to 0; user NULL: at once. */
int test_stop(void *user);

/* Doubles as bits and back. */
uint64_t test_to_bits(double value);
double test_from_bits(uint64_t bits);

gram_points *test_points(gram_context *context, int64_t n, int64_t d, const double *data);
gram_kernel *test_kernel(gram_context *context, const char *text);

/* The kernel's printed form is `wanted`. */
void test_prints(const gram_kernel *kernel, const char *wanted);

/* The values of the kernel's parameters; returns how many. */
int64_t test_parameter_values(gram_context *context, const gram_kernel *kernel, double *values);
/* The kernel with parameter `index` moved by `step`; no parameter of that index: a copy. */
gram_kernel *test_moved(gram_context *context, const gram_kernel *kernel, int64_t index, double step);

/* The Gram matrix in new memory; y NULL: of x */
double *test_matrix(gram_context *context, const gram_kernel *kernel, const gram_points *x, const gram_points *y);

/* n rows of d columns on (0.1, 1.5). In each column all coordinates keep a distance from each other, in a random order, so
 * that no pair is within a difference's reach of a kink. */
double *test_spread(uint64_t seed, int64_t n, int64_t d);

/* Kernel expressions that take points of d columns with positive coordinates of the order of 1: every kernel of the table
 * (one length-scale, one per column, full covariance), some more settings of those known, and composites. Kernels for whole
 * numbers are not among them but in a list of their own. Length-scales are of the order of the distances. */
enum { TEST_MAX_EXPRESSIONS = 160 };
typedef struct test_expressions {
    int count;
    char *text[TEST_MAX_EXPRESSIONS];
} test_expressions;

void test_expressions_make(int64_t d, test_expressions *list);
void test_expressions_make_whole(int64_t d, test_expressions *list);
/* The same for differences: kernels that vanish from r = ell on, where their derivatives jump, have an ell that is longer than
 * any distance of coordinates between 0 and 1.5. */
void test_expressions_make_smooth(int64_t d, test_expressions *list);
/* For positive definiteness, which a long length-scale hides: the kernels of the table that have length-scales, with one of
 * this length and with several around it. */
void test_expressions_make_lengths(int64_t d, double ell, test_expressions *list);
void test_expressions_free(test_expressions *list);

/* max_ij |a_ij - b_ij| of two row-major arrays, NaN counting as infinite */
double test_distance(int64_t rows, int64_t columns, const double *a, int64_t lda, const double *b, int64_t ldb);

/* Fails the test unless |a_i - b_i| <= tolerance (1 + |b_i|) for all i; of: whose `what` this is, or NULL */
void test_near(const char *what, const char *of, int64_t count, const double *a, const double *b, double tolerance);

/* Ascending; not for NaN */
void test_sort(int64_t count, double *numbers);

/* tests/reference/NAME for reading, and its next numbers */
FILE *test_open_reference(const char *name);
void test_read_numbers(FILE *file, int64_t count, double *out);

/* Bytes as a file */
void test_write_file(const char *path, const void *bytes, size_t size);

/* Fails the test unless `fill` writes the same bits with any number of threads. */
void test_any_threads(int64_t count, void (*fill)(gram_context *context, double *out));

/* All bits equal? */
int test_same_bits(int64_t rows, int64_t columns, const double *a, int64_t lda, const double *b, int64_t ldb);

#endif
