/* What the tests of the engine share: contexts, points and kernels without ceremony, a random number generator that is
 * not the library's, and a list of kernels that grows with the table of kernels. Linked to every unit test. */
#ifndef GRAM_TESTS_SUPPORT_H
#define GRAM_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <gram/gram.h>

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

gram_context *test_context(int threads, gram_isa isa);
int test_has_isa(gram_isa isa);

/* count numbers, uniform on (lower, upper). */
void test_uniform(uint64_t seed, int64_t count, double lower, double upper, double *out);

/* Zeroed memory, never NULL; freed with free. */
double *test_numbers(int64_t count);
/* count uniform numbers in new memory */
double *test_random(uint64_t seed, int64_t count, double lower, double upper);

gram_points *test_points(gram_context *context, int64_t n, int64_t d, const double *data);
gram_kernel *test_kernel(gram_context *context, const char *text);

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

/* All bits equal? */
int test_same_bits(int64_t rows, int64_t columns, const double *a, int64_t lda, const double *b, int64_t ldb);

#endif
