/* Maps of a plane: what a predictor says of the cells, the nearest of some points by definition, borders, frames, bad input. */
#include <math.h>
#include <stdlib.h>

#include <gram/gram.h>

#include "oom.h"
#include "random_numbers.h"

static double middle(const gram_map *map, int axis, int64_t cell)
{
    return map->low[axis] + (map->high[axis] - map->low[axis]) * ((double)cell + 0.5) / (double)map->side;
}

/* The frame is the range of the points and 6 % beyond; each cell has the label of the nearest point, measured by the frame. */
static void nearest_point(void **state)
{
    enum { N = 40, SIDE = 23 };
    gram_context *context = *state;
    double *x = test_random(3, 3 * N, 0, 1), labels[N];
    gram_map *map = NULL;
    for (int i = 0; i < N; i++) {
        labels[i] = i % 4;
        x[3 * i + 1] *= 1000; /* another unit */
    }
    OK(context, gram_map_of_nearest(context, N, x, 3, labels, SIDE, &map));
    assert_int_equal(map->side, SIDE);
    for (int axis = 0; axis < 2; axis++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < N; i++) low = fmin(low, x[3 * i + axis]), high = fmax(high, x[3 * i + axis]);
        assert_true(fabs(map->low[axis] - (low - 0.06 * (high - low))) < 1e-9);
        assert_true(fabs(map->high[axis] - (high + 0.06 * (high - low))) < 1e-9);
    }
    for (int64_t i = 0; i < SIDE; i++)
        for (int64_t j = 0; j < SIDE; j++) {
            int best = -1;
            double least = INFINITY;
            for (int p = 0; p < N; p++) {
                const double a = (x[3 * p] - middle(map, 0, i)) / (map->high[0] - map->low[0]);
                const double b = (x[3 * p + 1] - middle(map, 1, j)) / (map->high[1] - map->low[1]);
                if (hypot(a, b) < least) least = hypot(a, b), best = p;
            }
            assert_true(map->values[i * SIDE + j] == labels[best]);
        }
    gram_map_destroy(map);
    free(x);
}

/* Two points side by side: the border is the straight line half way, of SIDE segments that join. */
static void straight_border(void **state)
{
    enum { SIDE = 10 };
    gram_context *context = *state;
    const double x[] = {0, 5, 2, 5}, labels[] = {1, 2};
    double segments[4 * 2 * SIDE * (SIDE - 1)];
    gram_map *map = NULL;
    OK(context, gram_map_of_nearest(context, 2, x, 2, labels, SIDE, &map));
    assert_int_equal(gram_map_borders(map, NULL), SIDE);
    assert_int_equal(gram_map_borders(map, segments), SIDE);
    for (int s = 0; s < SIDE; s++) {
        assert_true(fabs(segments[4 * s] - 1) < 1e-12 && fabs(segments[4 * s + 2] - 1) < 1e-12);
        assert_true(fabs(segments[4 * s + 1] - (4 + 0.2 * s)) < 1e-12); /* a range of 0 has 1 on each side */
        assert_true(fabs(segments[4 * s + 3] - (4 + 0.2 * (s + 1))) < 1e-12);
    }
    gram_map_destroy(map);
}

/* A model of a linear function: the cells have its values at their middles. */
static void values_of_a_predictor(void **state)
{
    enum { N = 30, SIDE = 12 };
    gram_context *context = *state;
    double *x = test_random(4, 2 * N, -1, 1);
    gram_kernel *kernel = test_kernel(context, "linear");
    gram_points *points = test_points(context, N, 2, x);
    gram_pca *pca = NULL;
    gram_model *model = NULL;
    gram_predictor *predictor = NULL;
    gram_map *map = NULL;
    OK(context, gram_pca_fit(context, kernel, points, NULL, &pca));
    OK(context, gram_pca_model(context, pca, NULL, &model));
    OK(context, gram_predictor_create(context, model, NULL, &predictor));
    OK(context, gram_map_of_predictor(context, predictor, N, x, 2, SIDE, &map));
    for (int64_t i = 0; i < SIDE; i++)
        for (int64_t j = 0; j < SIDE; j++) {
            const double at[] = {middle(map, 0, i), middle(map, 1, j)};
            double value[2];
            OK(context, gram_predict(context, model, NULL, 1, at, 2, value, 2));
            assert_true(fabs(value[0] - map->values[i * SIDE + j]) < 1e-12);
        }
    gram_map_destroy(map);
    gram_predictor_destroy(predictor);
    gram_model_destroy(model);
    gram_pca_destroy(pca);
    gram_points_release(points);
    gram_kernel_release(kernel);
    free(x);
}

static gram_status play(gram_context *context)
{
    const double x[] = {0, 1, 2, 3}, labels[] = {0, 1};
    gram_map *map = NULL;
    const gram_status status = gram_map_of_nearest(context, 2, x, 2, labels, 8, &map);
    gram_map_destroy(map);
    return status;
}

static void bad_input(void **state)
{
    gram_context *context = *state;
    const double x[] = {0, 1}, labels[] = {0};
    gram_map *map = NULL;
    REFUSED(context, gram_map_of_nearest(context, 1, x, 2, labels, 1, &map), GRAM_ERROR_ARGUMENT, "side = 1");
    REFUSED(context, gram_map_of_nearest(context, 1, x, 1, labels, 5, &map), GRAM_ERROR_ARGUMENT, "ldx = 1");
    REFUSED(context, gram_map_of_nearest(context, 0, x, 2, labels, 5, &map), GRAM_ERROR_ARGUMENT, "0 points");
    assert_null(map);
    gram_map_destroy(NULL);
    assert_true(oom_each(play, 0) > 1);
    (void)oom_each(play, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nearest_point), cmocka_unit_test(straight_border),
                                       cmocka_unit_test(values_of_a_predictor), cmocka_unit_test(bad_input)};
    return cmocka_run_group_tests(tests, test_open, test_close);
}
