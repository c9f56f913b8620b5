/* What the tests of support vector machines share: samples, fits without ceremony, and the optimality conditions written down
 * anew, from the whole Gram matrix and the coefficients of the function alone. */
#ifndef GRAM_TESTS_SVM_CHECK_H
#define GRAM_TESTS_SVM_CHECK_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"
#include "support.h"

typedef struct svm_sample {
    int64_t n, d, classes;
    double *x, *labels, *targets;
} svm_sample;

/* Points uniform on (-1, 1)^d. The class is that of the angle in the first two columns, `noise` of the labels are drawn anew;
 * the target is sin(3 x_1) + x_2^2 + noise * normal. */
static inline svm_sample svm_sample_make(uint64_t seed, int64_t n, int64_t d, int64_t classes, double noise)
{
    svm_sample s = {n, d, classes, test_random(seed, n * d, -1, 1), test_numbers(n), test_numbers(n)};
    double *u = test_random(seed + 1000, 2 * n, 0, 1), *z = sample_normal(seed + 2000, n);
    for (int64_t i = 0; i < n; i++) {
        const double first = s.x[i * d], second = d > 1 ? s.x[i * d + 1] : 0.5;
        double share = atan2(second, first) / 6.283185307179586 + 0.5;
        if (u[2 * i] < noise) share = u[2 * i + 1];
        const double label = floor(share * (double)classes);
        s.labels[i] = label < (double)classes ? label : (double)classes - 1;
        s.targets[i] = sin(3 * first) + second * second + noise * z[i];
    }
    free(u);
    free(z);
    return s;
}

static inline void svm_sample_free(svm_sample *s)
{
    free(s->x);
    free(s->labels);
    free(s->targets);
}

static inline const double *svm_sample_y(const svm_sample *s, gram_svm_kind kind)
{
    if (kind == GRAM_SVM_ONE_CLASS) return NULL;
    return kind == GRAM_SVM_C || kind == GRAM_SVM_NU ? s->labels : s->targets;
}

static inline gram_svm_options svm_options(gram_svm_kind kind)
{
    gram_svm_options o;
    gram_svm_options_init(&o, sizeof o);
    o.kind = kind;
    o.nu = 0.3;
    return o;
}

static inline gram_svm *svm_fit(gram_context *context, const char *kernel, const svm_sample *s,
                                const gram_svm_options *o)
{
    gram_svm *svm = NULL;
    gram_kernel *k = test_kernel(context, kernel);
    gram_points *x = test_points(context, s->n, s->d, s->x);
    const gram_status status = gram_svm_fit(context, k, x, svm_sample_y(s, o->kind), o, &svm);
    if (status < 0) FAIL_TEST("%s: %s", kernel, gram_context_message(context));
    gram_points_release(x);
    gram_kernel_release(k);
    return svm;
}

/* The kernel matrix of the sample; the caller frees it. */
static inline double *svm_matrix(gram_context *context, const char *kernel, const svm_sample *s)
{
    double *k = test_numbers(s->n * s->n);
    gram_kernel *parsed = test_kernel(context, kernel);
    gram_points *x = test_points(context, s->n, s->d, s->x);
    OK(context, gram_matrix(context, parsed, x, NULL, k, s->n));
    gram_points_release(x);
    gram_kernel_release(parsed);
    return k;
}

/* Which rows an output is about, and on which side they are: +1, -1, 0 for none. */
static inline int svm_side(const svm_sample *s, const gram_svm_options *o, const gram_svm_pair *pair, int64_t row)
{
    if (o->weights && o->weights[row] == 0) return 0;
    if (pair->first < 0) return 1;
    if (s->labels[row] == (double)pair->first) return 1;
    return s->labels[row] == (double)pair->second ? -1 : 0;
}

static inline double svm_bound(const svm_sample *s, const gram_svm_options *o, int64_t row)
{
    const double c = o->kind == GRAM_SVM_NU || o->kind == GRAM_SVM_ONE_CLASS ? 1 : o->C;
    const int labelled = o->kind == GRAM_SVM_C || o->kind == GRAM_SVM_NU;
    return c * (o->weights ? o->weights[row] : 1) *
           (o->class_weights && labelled ? o->class_weights[(int)s->labels[row]] : 1);
}

/* The worst violation of the optimality conditions of C classification, epsilon regression and one class, in units of the
 * function's values, with the fitted constant: a row at 0 may not ask for more, a row at its bound not for less, and others lie
 * on the margin. And the sums that the equality constraint is about, or without an intercept a constant of 0. */
static inline double svm_violation(const svm_sample *s, const double *k, const gram_svm_options *o, const gram_svm *svm,
                                   int64_t output)
{
    const gram_svm_report *r = gram_svm_get_report(svm);
    const gram_svm_pair *pair = gram_svm_pairs(svm) + output;
    const double *duals = gram_svm_duals(svm);
    double worst = 0, sum = 0, total = 0;
    for (int64_t i = 0; i < s->n; i++) {
        const int side = svm_side(s, o, pair, i);
        const double b = duals[i * r->outputs + output], most = svm_bound(s, o, i);
        double f = pair->constant;
        if (!side) {
            if (b != 0) FAIL_TEST("row %lld has a coefficient in a pair that is not its own", (long long)i);
            continue;
        }
        for (int64_t j = 0; j < s->n; j++) f += k[i * s->n + j] * duals[j * r->outputs + output];
        sum += b;
        total += most;
        if (fabs(b) > most) FAIL_TEST("|b[%lld]| = %g is above its bound %g", (long long)i, fabs(b), most);
        if (o->kind == GRAM_SVM_EPSILON_REGRESSION) {
            const double over = s->targets[i] - f - o->epsilon, under = f - s->targets[i] - o->epsilon;
            if (b < most) worst = fmax(worst, over);
            if (b > 0) worst = fmax(worst, -over);
            if (b > -most) worst = fmax(worst, under);
            if (b < 0) worst = fmax(worst, -under);
            continue;
        }
        const double a = side * b, margin = o->kind == GRAM_SVM_C ? side * f - 1 : f;
        if (a < 0) FAIL_TEST("b[%lld] = %g has the wrong sign", (long long)i, b);
        if (a < most) worst = fmax(worst, -margin);
        if (a > 0) worst = fmax(worst, margin);
    }
    const double target = o->kind == GRAM_SVM_ONE_CLASS ? o->nu * total : 0;
    if (!o->intercept && pair->constant != 0) FAIL_TEST("a constant of %g without an intercept", pair->constant);
    if (o->intercept && fabs(sum - target) > 1e-9 * (1 + total))
        FAIL_TEST("the coefficients' sum is %g, not %g", sum, target);
    return worst;
}

/* b'Kb/2 - c'b of an output from the matrix. */
static inline double svm_objective(const svm_sample *s, const double *k, const gram_svm_options *o, const gram_svm *svm,
                                   int64_t output)
{
    const gram_svm_report *r = gram_svm_get_report(svm);
    const double *duals = gram_svm_duals(svm);
    double sum = 0;
    for (int64_t i = 0; i < s->n; i++) {
        const double b = duals[i * r->outputs + output];
        double f = 0;
        if (b == 0) continue;
        for (int64_t j = 0; j < s->n; j++) f += k[i * s->n + j] * duals[j * r->outputs + output];
        sum += b * f / 2;
        if (o->kind == GRAM_SVM_C) sum -= fabs(b);
        if (o->kind == GRAM_SVM_EPSILON_REGRESSION) sum -= s->targets[i] * b - o->epsilon * fabs(b);
        if (o->kind == GRAM_SVM_NU_REGRESSION) sum -= s->targets[i] * b;
    }
    return sum;
}

/* The primal objective with the fitted constant: |f|^2/2 plus the losses of C classification or epsilon regression. */
static inline double svm_primal(const svm_sample *s, const double *k, const gram_svm_options *o, const gram_svm *svm,
                                int64_t output)
{
    const gram_svm_report *r = gram_svm_get_report(svm);
    const gram_svm_pair *pair = gram_svm_pairs(svm) + output;
    const double *duals = gram_svm_duals(svm);
    double sum = 0;
    for (int64_t i = 0; i < s->n; i++) {
        const int side = svm_side(s, o, pair, i);
        double f = 0;
        for (int64_t j = 0; j < s->n; j++) f += k[i * s->n + j] * duals[j * r->outputs + output];
        sum += f * duals[i * r->outputs + output] / 2;
        if (!side) continue;
        f += pair->constant;
        const double loss = o->kind == GRAM_SVM_C ? 1 - side * f : fabs(s->targets[i] - f) - o->epsilon;
        sum += svm_bound(s, o, i) * fmax(0, loss);
    }
    return sum;
}

#endif
