/* Sums of products of columns at every instruction level against plain loops: odd shapes, what is added to, and what is left alone. */
#include <math.h>
#include <stdlib.h>

#include "features/equations/feature_products.h"
#include "support.h"

static const struct shape {
    int64_t rows, width;
} SHAPES[] = {{1, 1}, {3, 7}, {255, 23}, {256, 24}, {257, 25}, {300, 48}, {600, 241}, {40, 485}};
enum { SHAPE_COUNT = sizeof SHAPES / sizeof *SHAPES };

static const gram_isa LEVELS[] = {GRAM_ISA_PLAIN, GRAM_ISA_AVX2, GRAM_ISA_AVX512};
static const double UNTOUCHED = 12345;

static double product(const struct shape *s, const double *x, int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t k = 0; k < s->rows; k++) sum += x[k * s->width + i] * x[k * s->width + j];
    return sum;
}

static void compare(gram_context *context, const struct shape *s, int single)
{
    const int64_t numbers = s->rows * s->width, w = s->width;
    double *x = test_random(5, numbers, -1, 1), *sums = test_numbers(w * w);
    float *narrow = malloc((size_t)numbers * sizeof *narrow);
    assert_non_null(narrow);
    for (int64_t k = 0; k < numbers; k++) {
        narrow[k] = (float)x[k];
        if (single) x[k] = (double)narrow[k];
    }
    for (int64_t i = 0; i < w; i++)
        for (int64_t j = 0; j < w; j++) sums[i * w + j] = j <= i ? 0.5 : UNTOUCHED;
    const gram_product_rows rows = {.rows = s->rows, .width = w, .f64 = single ? NULL : x, .f32 = narrow, .share = 1};
    OK(context, gram_feature_products(context, &rows, sums));
    const double most = (single ? 1e-6 : 1e-14) * (double)(s->rows + 1);
    for (int64_t i = 0; i < w; i++)
        for (int64_t j = 0; j < w; j++)
            if (j > i)
                assert_true(sums[i * w + j] == UNTOUCHED);
            else
                assert_true(fabs(sums[i * w + j] - 0.5 - product(s, x, i, j)) <= most);
    free(x), free(sums), free(narrow);
}

static void against_loops(void **state)
{
    (void)state;
    for (int level = 0; level < 3; level++) {
        if (!test_has_isa(LEVELS[level])) continue;
        gram_context *context = test_context(2, LEVELS[level]);
        for (int s = 0; s < SHAPE_COUNT; s++)
            for (int single = 0; single < 2; single++) compare(context, &SHAPES[s], single);
        gram_context_destroy(context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_loops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
