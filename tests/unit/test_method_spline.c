/* Smoothing splines: against dense kernel equations with unpenalised polynomials in 113 bits, on a line and on a circle, for every
 * order, with ties and weights; against Fourier series for many rows; leaving out against refits; criteria; bands; and the edges. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/spline.h>

#include "support.h"

__extension__ typedef __float128 real; /* long double loses the variances of order 3 to the size of the kernel */

static real power(real x, int k)
{
    real product = 1;
    for (; k > 0; k--) product *= x;
    return product;
}

static real absolute(real x)
{
    return x < 0 ? -x : x;
}

static void near(const char *what, int order, double value, double wanted, double tolerance)
{
    if (!(fabs(value - wanted) <= tolerance * fmax(1, fabs(wanted))))
        FAIL_TEST("%s, order %d: %.15g instead of %.15g", what, order, value, wanted);
}

/* ---- the twin: y = T b + f + e, cov f = K sigma^2/alpha, cov e = sigma^2/w, b flat ---- */

enum { N = 18, MOST = 4, AT = 9 };

static real factorial(int k)
{
    return k < 2 ? 1 : k * factorial(k - 1);
}

/* d^p/dx^p d^q/dt^q of int (x - z)^(m-1) (t - z)^(m-1) dz/(m-1)!^2 from z = 0 on. */
static real of_line(int m, int p, int q, real x, real t)
{
    const int low = m - 1 - (x <= t ? p : q), high = m - 1 - (x <= t ? q : p);
    const real s = x < t ? x : t, h = absolute(x - t);
    real sum = 0;
    for (int i = 0; i <= high; i++)
        sum += factorial(high) / (factorial(i) * factorial(high - i)) * power(h, high - i) * power(s, low + i + 1) /
               (low + i + 1);
    return sum / (factorial(low) * factorial(high));
}

/* Bernoulli's polynomial of degree k over k!, from B_k' = k B_(k-1) and a mean of 0. */
static real bernoulli(int k, real u)
{
    real c[2 * MOST + 1] = {1}, sum = 0;
    for (int degree = 1; degree <= k; degree++) {
        real mean = 0;
        for (int i = degree; i > 0; i--) c[i] = c[i - 1] / i, mean += c[i] / (i + 1);
        c[0] = -mean;
    }
    for (int i = k; i >= 0; i--) sum = sum * u + c[i];
    return sum;
}

static real of_circle(int m, real period, int p, int q, real x, real t)
{
    const real turns = (x - t) / period, u = turns - (real)floorl((long double)turns);
    const int k = 2 * m - p - q;
    return ((m - 1 + q) % 2 ? -1 : 1) * bernoulli(k, u) * power(period, k - 1);
}

typedef struct twin {
    int m, free;
    real period, origin, alpha, total;
    real x[N], y[N], w[N];
    real inverse[N][N]; /* of K/alpha + 1/w */
    real t[N][MOST], inner[MOST][MOST], b[MOST], a[N];
    real projector[N]; /* diagonal of P */
    real log_determinant, form;
} twin;

static real kernel(const twin *s, int p, int q, real x, real t)
{
    if (s->period > 0) return of_circle(s->m, s->period, p, q, x, t) / s->alpha;
    return of_line(s->m, p, q, x - s->origin, t - s->origin) / s->alpha;
}

/* x^j differentiated r times. */
static real monomial(int j, int r, real x)
{
    return r > j ? 0 : factorial(j) / factorial(j - r) * power(x, j - r);
}

/* Inverts in place by elimination with pivots on the diagonal; returns log of the determinant. */
static real invert(int n, real *a, int ld)
{
    real sum = 0;
    for (int k = 0; k < n; k++) {
        const real pivot = a[k * ld + k];
        sum += logl((long double)pivot);
        a[k * ld + k] = 1;
        for (int j = 0; j < n; j++) a[k * ld + j] /= pivot;
        for (int i = 0; i < n; i++) {
            const real factor = a[i * ld + k];
            if (i == k) continue;
            a[i * ld + k] = 0;
            for (int j = 0; j < n; j++) a[i * ld + j] -= factor * a[k * ld + j];
        }
    }
    return sum;
}

static void solve(twin *s)
{
    real st[N][MOST] = {{0}}, weighted = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) s->inverse[i][j] = kernel(s, 0, 0, s->x[i], s->x[j]) + (i == j ? 1 / s->w[i] : 0);
    s->log_determinant = invert(N, s->inverse[0], N);
    for (int i = 0; i < N; i++)
        for (int c = 0; c < s->free; c++) {
            s->t[i][c] = monomial(c, 0, s->x[i]);
            for (int j = 0; j < N; j++) st[i][c] += s->inverse[i][j] * monomial(c, 0, s->x[j]);
        }
    memset(s->inner, 0, sizeof s->inner);
    for (int c = 0; c < s->free; c++)
        for (int e = 0; e < s->free; e++)
            for (int i = 0; i < N; i++) s->inner[c][e] += s->t[i][c] * st[i][e];
    s->log_determinant += invert(s->free, s->inner[0], MOST);
    s->form = 0;
    for (int c = 0; c < s->free; c++) {
        s->b[c] = 0;
        for (int e = 0; e < s->free; e++)
            for (int i = 0; i < N; i++) s->b[c] += s->inner[c][e] * st[i][e] * s->y[i];
    }
    for (int i = 0; i < N; i++) {
        s->a[i] = 0;
        s->projector[i] = s->inverse[i][i];
        for (int j = 0; j < N; j++) {
            real mean = 0;
            for (int c = 0; c < s->free; c++) mean += s->t[j][c] * s->b[c];
            s->a[i] += s->inverse[i][j] * (s->y[j] - mean);
        }
        for (int c = 0; c < s->free; c++)
            for (int e = 0; e < s->free; e++) s->projector[i] -= st[i][c] * s->inner[c][e] * st[i][e];
        s->form += s->y[i] * s->a[i];
        weighted += s->w[i];
    }
    s->total = weighted;
}

/* Derivative r at x, and its variance over sigma^2. */
static real predict(const twin *s, real x, int r, real *variance)
{
    real k[N], u[MOST], mean = 0, v = kernel(s, r, r, x, x);
    for (int i = 0; i < N; i++) k[i] = kernel(s, r, 0, x, s->x[i]);
    for (int c = 0; c < s->free; c++) {
        u[c] = monomial(c, r, x);
        mean += u[c] * s->b[c];
    }
    for (int i = 0; i < N; i++) {
        real row = 0;
        for (int j = 0; j < N; j++) row += s->inverse[i][j] * k[j];
        v -= k[i] * row;
        mean += k[i] * s->a[i];
        for (int c = 0; c < s->free; c++) u[c] -= s->t[i][c] * row;
    }
    for (int c = 0; c < s->free; c++)
        for (int e = 0; e < s->free; e++) v += u[c] * s->inner[c][e] * u[e];
    *variance = v;
    return mean;
}

static twin make_twin(int m, double period, double lambda, double *x, double *y, double *w)
{
    twin s = {.m = m, .free = period > 0 ? 1 : m, .period = period, .origin = -3, .alpha = N * (real)lambda};
    double noise[N];
    test_uniform(31, N, -1, 4, x);
    test_uniform(32, N, -0.3, 0.3, noise);
    test_uniform(33, N, 0.2, 3, w);
    x[4] = x[11]; /* a tie, and a near one */
    x[5] = x[2] + 1e-7;
    for (int i = 0; i < N; i++) {
        y[i] = sin(2 * x[i]) + 0.3 * x[i] + noise[i];
        s.x[i] = x[i], s.y[i] = y[i], s.w[i] = w[i];
    }
    solve(&s);
    return s;
}

static void check_rows(const twin *s, const gram_spline *spline)
{
    const gram_spline_report *r = gram_spline_get_report(spline);
    real rss = 0, loo = 0, df = 0, variance;
    for (int i = 0; i < N; i++) {
        const real f = predict(s, s->x[i], 0, &variance), left = s->a[i] / s->projector[i];
        near("fitted", s->m, gram_spline_fitted(spline)[i], (double)f, 1e-10);
        near("left out", s->m, gram_spline_loo_residuals(spline)[i], (double)left, 1e-7);
        rss += s->w[i] * (s->y[i] - f) * (s->y[i] - f);
        loo += s->w[i] * left * left;
        df += 1 - s->projector[i] / s->w[i];
    }
    near("df", s->m, r->effective_dimension, (double)df, 1e-10);
    near("gcv", s->m, r->gcv, (double)(rss / s->total / ((1 - df / N) * (1 - df / N))), 1e-8);
    near("loo", s->m, r->loo_rmse, sqrt((double)(loo / s->total)), 1e-8);
    near("sigma", s->m, r->sigma, sqrt((double)(rss / (N - df))), 1e-9);
    const real freedom = N - s->free, square = s->form / freedom;
    near("likelihood", s->m, r->log_marginal_likelihood,
         (double)(-freedom / 2 * (logl(2 * acosl(-1) * (long double)square) + 1) - s->log_determinant / 2), 1e-9);
}

static void check_places(gram_context *context, const twin *s, const gram_spline *spline, int r)
{
    double at[AT] = {-2.9, -1.2, -0.3, 0.4, 1.1, 2, 3.3, 4.4, 6}, mean[AT], variance[AT];
    const double sigma = gram_spline_get_report(spline)->sigma;
    at[5] = (double)s->x[3];
    gram_points *points = test_points(context, AT, 1, at);
    OK(context, gram_spline_predict(context, spline, points, 0, r, mean, variance));
    for (int i = 0; i < AT; i++) {
        real wanted;
        near("mean", s->m, mean[i], (double)predict(s, at[i], r, &wanted), 1e-8);
        near("variance", s->m, variance[i], (double)wanted * sigma * sigma, 1e-8);
    }
    gram_points_release(points);
}

static void dense(void **state)
{
    (void)state;
    static const double lambdas[] = {1e-5, 1e-2, 10};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (int way = 0; way < 24; way++) {
        const int m = 1 + way % 4;
        double x[N], y[N], w[N];
        gram_spline_options options;
        gram_spline *spline = NULL;
        gram_spline_options_init(&options, sizeof options);
        options.order = m;
        options.lambda = lambdas[way / 4 % 3];
        options.period = way / 12 ? 5.5 : 0;
        const twin s = make_twin(m, options.period, options.lambda, x, y, w);
        options.weights = w;
        gram_points *points = test_points(context, N, 1, x);
        OK(context, gram_spline_fit(context, points, y, &options, &spline));
        check_rows(&s, spline);
        for (int r = 0; r < m; r++) check_places(context, &s, spline, r);
        gram_spline_destroy(spline);
        gram_points_release(points);
    }
    gram_context_destroy(context);
}

/* ---- many rows: on a regular circle the map is diagonal in Fourier's basis ---- */

static double kept(int m, int64_t n, int64_t k, double alpha)
{
    long double sum = 0;
    for (int64_t j = -40; j <= 40; j++) sum += powl(2 * acosl(-1) * fabsl((long double)(k + j * n)), -2 * m);
    return (double)((long double)n * sum / ((long double)n * sum + alpha));
}

static void many_rows(void **state)
{
    (void)state;
    enum { MANY = 100000, WAVES = 3 };
    static const int64_t waves[WAVES] = {1, 7, 40};
    const double tau = 2 * acos(-1);
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double *x = test_numbers(MANY), *y = test_numbers(MANY);
    for (int m = 1; m <= 4; m++) {
        gram_spline_options options;
        gram_spline *spline = NULL;
        gram_spline_options_init(&options, sizeof options);
        options.order = m;
        options.period = 1;
        options.bands = 0;
        options.lambda = pow(tau * 7, -2 * m); /* halves wave 7 */
        for (int64_t i = 0; i < MANY; i++) {
            x[i] = (double)i / MANY;
            y[i] = 5;
            for (int c = 0; c < WAVES; c++) y[i] += cos(tau * (double)waves[c] * x[i] + c);
        }
        gram_points *points = test_points(context, MANY, 1, x);
        OK(context, gram_spline_fit(context, points, y, &options, &spline));
        double df = 1;
        for (int64_t k = 1; k < 2000; k++) df += 2 * kept(m, MANY, k, MANY * options.lambda);
        for (int64_t k = 2000; k < MANY / 2; k += 100) df += 200 * kept(m, MANY, k + 50, MANY * options.lambda);
        near("df of a circle", m, gram_spline_get_report(spline)->effective_dimension, df, 1e-4);
        for (int64_t i = 0; i < MANY; i += 997) {
            double wanted = 5;
            for (int c = 0; c < WAVES; c++)
                wanted += kept(m, MANY, waves[c], MANY * options.lambda) * cos(tau * (double)waves[c] * x[i] + c);
            near("circle", m, gram_spline_fitted(spline)[i], wanted, 1e-8);
        }
        gram_points_release(points);
        gram_spline_destroy(spline);
    }
    free(x);
    free(y);
    gram_context_destroy(context);
}

/* Gaps of 1e-9 beside gaps of 1e3, in any units: the same curve. */
static void any_range(void **state)
{
    (void)state;
    enum { COUNT = 60 };
    double x[COUNT], y[COUNT], other[COUNT], noise[COUNT];
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    test_uniform(41, COUNT, -1, 1, noise);
    for (int i = 0; i < COUNT; i++) {
        x[i] = (i / 3) * 1e3 + (i % 3) * 1e-9;
        y[i] = sin(0.4 * (i / 3)) + 0.2 * noise[i];
        other[i] = 1e6 + 1e-12 * (i / 3); /* about 1e4 units in the last place apart */
    }
    for (int m = 1; m <= 4; m++) {
        gram_spline_options options;
        gram_spline *near_by = NULL, *pooled = NULL;
        gram_spline_options_init(&options, sizeof options);
        options.order = m;
        gram_points *a = test_points(context, COUNT, 1, x);
        for (int i = 0; i < COUNT; i++) other[i] = (i / 3) * 1e3;
        gram_points *b = test_points(context, COUNT, 1, other);
        OK(context, gram_spline_fit(context, b, y, &options, &pooled));
        options.lambda = gram_spline_get_report(pooled)->lambda;
        OK(context, gram_spline_fit(context, a, y, &options, &near_by));
        for (int i = 0; i < COUNT; i++)
            near("near rows", m, gram_spline_fitted(near_by)[i], gram_spline_fitted(pooled)[i], 1e-8);
        gram_spline_destroy(near_by);
        gram_spline_destroy(pooled);
        gram_points_release(a);
        gram_points_release(b);
    }
    gram_context_destroy(context);
}

/* ---- the choice of lambda ---- */

enum { ROWS = 150 };

static void make_rows(uint64_t seed, double *x, double *y)
{
    double *noise = test_random(seed + 1, 12 * ROWS, 0, 1);
    test_uniform(seed, ROWS, 0, 3, x);
    for (int i = 0; i < ROWS; i++) {
        double sum = -6;
        for (int k = 0; k < 12; k++) sum += noise[12 * i + k];
        y[i] = sin(3 * x[i]) + x[i] + 0.3 * sum;
    }
    free(noise);
}

static double criterion_of(const gram_spline_report *r, gram_criterion criterion)
{
    return criterion == GRAM_CRITERION_GCV   ? r->gcv
           : criterion == GRAM_CRITERION_LOO ? r->loo_rmse * r->loo_rmse
                                             : -r->log_marginal_likelihood;
}

/* No lambda of a fine grid is better, and none nearby. */
static void choice(void **state)
{
    (void)state;
    static const gram_criterion criteria[] = {GRAM_CRITERION_GCV, GRAM_CRITERION_LOO, GRAM_CRITERION_ML};
    double x[ROWS], y[ROWS];
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    make_rows(51, x, y);
    gram_points *points = test_points(context, ROWS, 1, x);
    for (int way = 0; way < 12; way++) {
        gram_spline_options options;
        gram_spline *best = NULL;
        gram_spline_options_init(&options, sizeof options);
        options.order = 1 + way % 4;
        options.criterion = criteria[way / 4];
        OK(context, gram_spline_fit(context, points, y, &options, &best));
        const gram_spline_report *r = gram_spline_get_report(best);
        const double least = criterion_of(r, options.criterion), lambda = r->lambda;
        assert_int_equal(r->at_bound, 0);
        near("criterion", 0, r->criterion, least, 1e-12);
        for (int k = -40; k <= 40; k++) {
            gram_spline *other = NULL;
            options.lambda = lambda * pow(10, k < 0 ? k * 0.15 : k * 0.1);
            OK(context, gram_spline_fit(context, points, y, &options, &other));
            assert_true(criterion_of(gram_spline_get_report(other), options.criterion) >= least - 1e-7 * fabs(least));
            gram_spline_destroy(other);
        }
        gram_spline_destroy(best);
    }
    gram_points_release(points);
    gram_context_destroy(context);
}

/* Intervals for f cover it as often as they say, on the average over x (Wahba 1983; Nychka 1988). */
static void coverage(void **state)
{
    (void)state;
    enum { RUNS = 60 };
    double x[ROWS], y[ROWS], mean[ROWS], variance[ROWS], inside = 0;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (int run = 0; run < RUNS; run++) {
        gram_spline_options options;
        gram_spline *spline = NULL;
        gram_spline_options_init(&options, sizeof options);
        options.criterion = GRAM_CRITERION_ML;
        make_rows(100 + 2 * (uint64_t)run, x, y);
        gram_points *points = test_points(context, ROWS, 1, x);
        OK(context, gram_spline_fit(context, points, y, &options, &spline));
        OK(context, gram_spline_predict(context, spline, points, 0, 0, mean, variance));
        for (int i = 0; i < ROWS; i++) inside += fabs(mean[i] - sin(3 * x[i]) - x[i]) <= 1.959964 * sqrt(variance[i]);
        gram_spline_destroy(spline);
        gram_points_release(points);
    }
    inside /= RUNS * ROWS;
    if (!(inside > 0.92 && inside < 0.98)) FAIL_TEST("95 %% bands cover %.3f", inside);
    gram_context_destroy(context);
}

/* ---- edges ---- */

/* Polynomials of degree below the order are fitted as they are, and the greatest lambda is chosen. */
static void polynomials(void **state)
{
    (void)state;
    double x[ROWS], y[ROWS];
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    test_uniform(61, ROWS, -2, 5, x);
    for (int m = 1; m <= 4; m++) {
        gram_spline *spline = NULL;
        gram_spline_options options;
        gram_spline_options_init(&options, sizeof options);
        options.order = m;
        for (int i = 0; i < ROWS; i++) y[i] = 3 - (m > 1) * x[i] + (m > 2) * x[i] * x[i] - (m > 3) * pow(x[i], 3);
        gram_points *points = test_points(context, ROWS, 1, x);
        OK(context, gram_spline_fit(context, points, y, &options, &spline));
        assert_int_equal(gram_spline_get_report(spline)->at_bound, 1);
        for (int i = 0; i < ROWS; i++) near("polynomial", m, gram_spline_fitted(spline)[i], y[i], 1e-10);
        gram_spline_destroy(spline);
        gram_points_release(points);
    }
    gram_context_destroy(context);
}

static void refused(gram_context *context, int64_t n, const double *x, const double *y,
                    const gram_spline_options *options, gram_status status, const char *part)
{
    gram_spline *spline = NULL;
    gram_points *points = test_points(context, n, 1, x);
    REFUSED(context, gram_spline_fit(context, points, y, options, &spline), status, part);
    assert_null(spline);
    gram_points_release(points);
}

static void edges(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    const double x[] = {1, 1, 1, 2, 3}, y[] = {1, 2, 3, 4, 5}, bad[] = {1, 2, NAN, 4, 5}, w[] = {1, 1, -1, 1, 1};
    const double out[] = {1, 1, 1, 0, 0};
    gram_spline_options o;
    gram_spline_options_init(&o, sizeof o);
    refused(context, 3, x, y, &o, GRAM_ERROR_DATA,
            "spline_fit: x has 1 distinct value, and a spline of order 2 needs 2");
    refused(context, 5, x, bad, &o, GRAM_ERROR_DATA, "spline_fit: y[2] = nan is not finite");
    o.weights = w;
    refused(context, 5, x, y, &o, GRAM_ERROR_DATA, "spline_fit: weights[2] = -1");
    o.weights = out;
    refused(context, 5, x, y, &o, GRAM_ERROR_DATA, "1 distinct value");
    gram_spline_options_init(&o, sizeof o);
    o.order = 5;
    refused(context, 5, x, y, &o, GRAM_ERROR_ARGUMENT, "order = 5 is not 1 to 4");
    o.order = 4;
    refused(context, 5, x, y, &o, GRAM_ERROR_DATA, "x has 3 distinct values, and a spline of order 4 needs 4");
    gram_spline_options_init(&o, sizeof o);
    for (int k = 0; k < 3; k++) {
        o.lambda = k == 0 ? 0 : k == 1 ? -1 : INFINITY;
        refused(context, 5, x, y, &o, GRAM_ERROR_ARGUMENT, "is not a finite number above 0");
    }
    o.lambda = 1;
    o.period = -1;
    refused(context, 5, x, y, &o, GRAM_ERROR_ARGUMENT, "period = -1");
    o.period = 0;
    o.criterion = GRAM_CRITERION_CV;
    refused(context, 5, x, y, &o, GRAM_ERROR_ARGUMENT, "criterion = 2 is not GCV, LOO or ML");
    gram_context_destroy(context);
}

/* As many places as the order: the polynomial through all, no error to expect; a derivative that there is not. */
static void few_places(void **state)
{
    (void)state;
    const double x[] = {0, 1}, y[] = {1, 3}, at = 2;
    double mean, variance;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_points *points = test_points(context, 2, 1, x), *other = test_points(context, 1, 1, &at);
    gram_spline *spline = NULL;
    OK(context, gram_spline_fit(context, points, y, NULL, &spline));
    OK(context, gram_spline_predict(context, spline, other, 0, 0, &mean, NULL));
    near("line", 2, mean, 5, 1e-12);
    OK(context, gram_spline_predict(context, spline, other, 0, 1, &mean, NULL));
    near("slope", 2, mean, 2, 1e-12);
    assert_true(isnan(gram_spline_get_report(spline)->loo_rmse));
    REFUSED(context, gram_spline_predict(context, spline, other, 0, 4, &mean, NULL), GRAM_ERROR_UNSUPPORTED,
            "derivative = 4 is not 0 to 3");
    REFUSED(context, gram_spline_predict(context, spline, other, 0, 2, &mean, &variance), GRAM_ERROR_UNSUPPORTED,
            "the variance of derivative 2 is infinite");
    gram_spline_destroy(spline);
    gram_spline_destroy(NULL);
    gram_points_release(points);
    gram_points_release(other);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense),  cmocka_unit_test(many_rows),  cmocka_unit_test(any_range),
        cmocka_unit_test(choice), cmocka_unit_test(coverage),   cmocka_unit_test(polynomials),
        cmocka_unit_test(edges),  cmocka_unit_test(few_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
