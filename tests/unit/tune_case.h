/* What the tests of tuning share: a sample, and a tuning of it without ceremony. */
#ifndef GRAM_TESTS_TUNE_CASE_H
#define GRAM_TESTS_TUNE_CASE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { TUNE_D = 3 };

typedef struct tune_problem {
    gram_context *context;
    gram_points *points;
    int64_t n;
    double *x, *y;
} tune_problem;

/* y = sin(3 x_1) + x_2^2 + noise of deviation 0.1; x_3 has no influence */
static inline tune_problem tune_problem_make(int threads, int64_t n)
{
    tune_problem p = {.context = test_context(threads, GRAM_ISA_AUTO), .n = n};
    double *noise = test_random(22, n, -0.1732, 0.1732);
    p.x = test_random(21, n * TUNE_D, -1, 1);
    p.y = test_numbers(n);
    for (int64_t i = 0; i < n; i++)
        p.y[i] = 3 + sin(3 * p.x[i * TUNE_D]) + p.x[i * TUNE_D + 1] * p.x[i * TUNE_D + 1] + noise[i];
    p.points = test_points(p.context, n, TUNE_D, p.x);
    free(noise);
    return p;
}

static inline void tune_problem_free(tune_problem *p)
{
    gram_points_release(p->points);
    gram_context_destroy(p->context);
    free(p->x);
    free(p->y);
}

static inline gram_krr_tune_options tune_defaults(void)
{
    gram_krr_tune_options o;
    gram_krr_tune_options_init(&o, sizeof o);
    return o;
}

typedef struct tune_result {
    char text[1024];
    double lambda, values[16];
    int64_t count;
    gram_status status;
    gram_krr_tune_report report;
} tune_result;

static inline void tune_read(gram_context *context, const gram_kernel *kernel, tune_result *r)
{
    r->count = gram_kernel_parameter_count(kernel);
    assert_true(r->count <= 16);
    for (int64_t i = 0; i < r->count; i++) {
        gram_parameter parameter;
        OK(context, gram_kernel_parameter_get(context, kernel, i, &parameter));
        r->values[i] = parameter.value;
    }
    (void)gram_kernel_print(kernel, r->text, sizeof r->text);
}

static inline tune_result tune_run(const tune_problem *p, const char *text, const gram_krr_tune_options *o)
{
    tune_result r = {.lambda = NAN, .report = {.size = sizeof r.report}};
    gram_kernel *kernel = test_kernel(p->context, text), *tuned = NULL;
    r.status = gram_krr_tune(p->context, kernel, p->points, 1, p->y, 1, o, &tuned, &r.lambda, &r.report);
    if (r.status >= 0) tune_read(p->context, tuned, &r);
    gram_kernel_release(kernel);
    gram_kernel_release(tuned);
    return r;
}

#endif
