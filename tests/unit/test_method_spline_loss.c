/* Splines of other losses: optimality by the definition, from a dense inverse; order 1 against gram_loss_fit with the kernel min; the gap;
 * quantiles of many rows; what has no minimum. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/loss.h>
#include <gram/spline.h>

#include "support.h"

typedef long double real;

enum { N = 30 };

static void near(const char *what, const char *of, double value, double wanted, double tolerance)
{
    if (!(fabs(value - wanted) <= tolerance * fmax(1, fabs(wanted))))
        FAIL_TEST("%s, %s: %.12g instead of %.12g", what, of, value, wanted);
}

static void make_rows(double *x, double *y, double *w)
{
    double noise[3 * N];
    test_uniform(91, N, -0.3, 0.3, x);
    test_uniform(92, 3 * N, -1, 1, noise);
    test_uniform(93, N, 0.5, 2, w);
    for (int i = 0; i < N; i++) {
        x[i] = (x[i] + (i * 7) % N) / N;
        y[i] = sin(6 * x[i]) + 0.2 * noise[i] + (noise[N + i] > 0.9 ? 3 : 0);
    }
}

static void invert(int n, real *a, int ld)
{
    for (int k = 0; k < n; k++) {
        const real pivot = a[k * ld + k];
        a[k * ld + k] = 1;
        for (int j = 0; j < n; j++) a[k * ld + j] /= pivot;
        for (int i = 0; i < n; i++) {
            const real factor = a[i * ld + k];
            if (i == k) continue;
            a[i * ld + k] = 0;
            for (int j = 0; j < n; j++) a[i * ld + j] -= factor * a[k * ld + j];
        }
    }
}

/* What int f''^2/2 pulls at the values f of a cubic spline: K^-1 f less its part along lines. Lines are added to K with a large factor,
 * which leaves that alone. */
static void pull(const double *x, const double *f, double *out)
{
    real k[N][N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const real s = x[i] < x[j] ? x[i] : x[j], t = x[i] < x[j] ? x[j] : x[i], o = 0.1L;
            k[i][j] = (s + o) * (s + o) * (3 * (t + o) - (s + o)) / 6 + 1e7L * (1 + (real)x[i] * x[j]);
        }
    invert(N, k[0], N);
    for (int i = 0; i < N; i++) {
        real sum = 0;
        for (int j = 0; j < N; j++) sum += k[i][j] * f[j];
        out[i] = (double)sum;
    }
}

/* The least and the greatest slope of w loss at r = y - f, tolerance for kinks. */
static void slopes(const gram_spline_options *o, double y, double f, double kink, double *low, double *high)
{
    const double r = y - f;
    switch (o->loss) {
    case GRAM_SPLINE_LOSS_ABSOLUTE: *low = r > kink ? 1 : -1, *high = r < -kink ? -1 : 1; break;
    case GRAM_SPLINE_LOSS_QUANTILE:
        *low = r > kink ? o->quantile : o->quantile - 1, *high = r < -kink ? o->quantile - 1 : o->quantile;
        break;
    case GRAM_SPLINE_LOSS_HUBER: *low = *high = 2 * fmax(-o->delta, fmin(o->delta, r)); break;
    case GRAM_SPLINE_LOSS_INSENSITIVE:
        *low = r > o->epsilon + kink ? 1 : r > -o->epsilon + kink ? 0 : -1;
        *high = r < -o->epsilon - kink ? -1 : r < o->epsilon - kink ? 0 : 1;
        break;
    default: *low = *high = y - 1 / (1 + exp(-f));
    }
}

static void optimal(void **state)
{
    (void)state;
    double x[N], y[N], w[N], f[N], force[N];
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    make_rows(x, y, w);
    gram_points *points = test_points(context, N, 1, x);
    for (int way = 1; way <= 10; way++) {
        gram_spline_options o;
        gram_spline *spline = NULL;
        gram_spline_options_init(&o, sizeof o);
        o.loss = (gram_spline_loss)(1 + (way - 1) % 5);
        o.lambda = way > 5 ? 1e-3 : 1e-5;
        o.quantile = 0.3;
        o.delta = 0.15;
        o.weights = w;
        const char *name = gram_spline_loss_name(o.loss);
        for (int i = 0; i < N && o.loss == GRAM_SPLINE_LOSS_LOGISTIC; i++)
            y[i] = sin(9 * x[i]) + 0.4 * cos(50 * x[i]) > 0;
        OK(context, gram_spline_fit(context, points, y, &o, &spline));
        memcpy(f, gram_spline_fitted(spline), sizeof f);
        pull(x, f, force);
        double loss = 0, total = 0;
        for (int i = 0; i < N; i++) { /* 2 n lambda K^-1 f = w slope */
            const double z = 2 * N * o.lambda * force[i] / w[i];
            double low, high;
            slopes(&o, y[i], f[i], 1e-5, &low, &high);
            if (!(z > low - 2e-3 && z < high + 2e-3))
                FAIL_TEST("%s: row %d pulls with %g, which is not between %g and %g", name, i, z, low, high);
            total += w[i];
        }
        const gram_spline_report *r = gram_spline_get_report(spline);
        assert_true(r->gap <= 1e-8);
        loss = r->train_loss * total / N + o.lambda * r->roughness;
        near("objective", name, r->objective, loss, 1e-10);
        gram_spline_destroy(spline);
    }
    gram_points_release(points);
    gram_context_destroy(context);
}

/* Order 1: int f'^2 is the norm of the kernel min, and the constant its intercept. */
static void order_one(void **state)
{
    (void)state;
    static const gram_loss_kind kinds[] = {GRAM_LOSS_ABSOLUTE, GRAM_LOSS_HUBER, GRAM_LOSS_QUANTILE,
                                           GRAM_LOSS_INSENSITIVE};
    double x[N], y[N], w[N], wanted[N];
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    make_rows(x, y, w);
    gram_points *points = test_points(context, N, 1, x);
    gram_kernel *kernel = test_kernel(context, "min(o=-1)");
    const double level = 0.3;
    for (int k = 0; k < 4; k++) {
        gram_loss_options other;
        gram_spline_options o;
        gram_loss *fit = NULL;
        gram_spline *spline = NULL;
        gram_loss_options_init(&other, sizeof other);
        gram_spline_options_init(&o, sizeof o);
        other.kind = kinds[k];
        other.lambda = o.lambda = 0.01;
        other.weights = o.weights = w;
        other.delta = o.delta = 0.15;
        o.quantile = level;
        other.quantile_count = kinds[k] == GRAM_LOSS_QUANTILE;
        other.quantiles = &level;
        o.order = 1;
        o.loss = (gram_spline_loss)kinds[k];
        OK(context, gram_loss_fit(context, kernel, points, y, &other, &fit));
        OK(context, gram_spline_fit(context, points, y, &o, &spline));
        OK(context, gram_function_evaluate(context, gram_loss_function(fit), points, wanted, 1));
        near("objective", gram_loss_name(kinds[k]), gram_spline_get_report(spline)->objective,
             gram_loss_get_report(fit)->objective, 1e-7);
        for (int i = 0; i < N; i++)
            near("value", gram_loss_name(kinds[k]), gram_spline_fitted(spline)[i], wanted[i], 1e-3);
        gram_loss_destroy(fit);
        gram_spline_destroy(spline);
    }
    gram_kernel_release(kernel);
    gram_points_release(points);
    gram_context_destroy(context);
}

/* Chosen by folds, on a line and on a circle: as many rows below a quantile as it says. */
static void quantiles(void **state)
{
    (void)state;
    enum { ROWS = 3000 };
    double *x = test_random(95, ROWS, 0, 1), *noise = test_random(96, ROWS, 0, 1), y[ROWS];
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (int i = 0; i < ROWS; i++) y[i] = sin(6.283185307 * x[i]) + (0.2 + x[i] * (1 - x[i])) * noise[i];
    gram_points *points = test_points(context, ROWS, 1, x);
    for (int way = 0; way < 2; way++) {
        gram_spline_options o;
        gram_spline *spline = NULL;
        double below = 0, worst = 0;
        gram_spline_options_init(&o, sizeof o);
        o.loss = GRAM_SPLINE_LOSS_QUANTILE;
        o.quantile = 0.8;
        o.period = way;
        o.folds = 3;
        OK(context, gram_spline_fit(context, points, y, &o, &spline));
        for (int i = 0; i < ROWS; i++) {
            const double f = gram_spline_fitted(spline)[i];
            below += (y[i] < f) / (double)ROWS;
            worst = fmax(worst, fabs(f - sin(6.283185307 * x[i]) - 0.8 * (0.2 + x[i] * (1 - x[i]))));
        }
        near("share below", way ? "circle" : "line", below, 0.8, 0.02);
        if (!(worst < 0.1)) FAIL_TEST("the quantile is off by %g", worst);
        assert_true(isnan(gram_spline_get_report(spline)->loo_rmse));
        gram_spline_destroy(spline);
    }
    free(x);
    free(noise);
    gram_points_release(points);
    gram_context_destroy(context);
}

static void edges(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3, 4, 5, 6}, y[] = {0, 0, 0, 1, 1, 1}, bad[] = {0, 0, 2, 1, 1, 1};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_points *points = test_points(context, 6, 1, x), *plane = test_points(context, 3, 2, x);
    gram_spline *spline = NULL;
    double mean, variance;
    gram_spline_options o;
    gram_spline_options_init(&o, sizeof o);
    o.loss = GRAM_SPLINE_LOSS_LOGISTIC;
    o.lambda = 1;
    REFUSED(context, gram_spline_fit(context, points, y, &o, &spline), GRAM_ERROR_NUMERICAL,
            "a polynomial of degree 1 separates the classes");
    REFUSED(context, gram_spline_fit(context, points, bad, &o, &spline), GRAM_ERROR_DATA, "y[2] = 2 is not 0 or 1");
    o.loss = GRAM_SPLINE_LOSS_QUANTILE;
    o.quantile = 1;
    REFUSED(context, gram_spline_fit(context, points, y, &o, &spline), GRAM_ERROR_ARGUMENT,
            "quantile = 1 is not between");
    o.quantile = 0.5;
    o.shape = GRAM_SPLINE_THIN_PLATE;
    REFUSED(context, gram_spline_fit(context, plane, y, &o, &spline), GRAM_ERROR_UNSUPPORTED, "not for thin plates");
    o.shape = GRAM_SPLINE_ADDITIVE;
    OK(context, gram_spline_fit(context, points, y, &o, &spline));
    gram_points *one = test_points(context, 1, 1, x);
    REFUSED(context, gram_spline_predict(context, spline, one, 0, 0, &mean, &variance), GRAM_ERROR_UNSUPPORTED,
            "without bands");
    gram_points_release(one);
    gram_spline_destroy(spline);
    o.loss = (gram_spline_loss)9;
    REFUSED(context, gram_spline_fit(context, points, y, &o, &spline), GRAM_ERROR_ARGUMENT, "loss = 9 is not a loss");
    gram_points_release(points);
    gram_points_release(plane);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimal),
        cmocka_unit_test(order_one),
        cmocka_unit_test(quantiles),
        cmocka_unit_test(edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
