/* Integrals of kernels against Gaussian distributions.
 *
 * rbf: the convolution of two Gaussians is one again. With L = diag(ell^2) or the kernel's S,
 * E k(x, X) = sqrt(|L|/|L + S|) exp(-(x - m)'(L + S)^-1 (x - m)/2), and E k(X, Y) is that at x = m_1 with S_1 + S_2.
 *
 * A polynomial in the inner product needs moments. x'X is normal with mean x'm and variance x'Sx: M_k = mean M_(k-1) + (k-1) variance
 * M_(k-2). For X'Y, both random, log E exp(t X'Y) is a power series in t, from the Gaussian integral over X and then over Y: with
 * A = S_2 S_1, u = m_1, w = S_1 m_2
 *
 *     t u'm_2 + t^2 m_2'S_1 m_2/2 - log|I - t^2 A|/2 + (t u + t^2 w)'(I - t^2 A)^-1 S_2 (t u + t^2 w)/2,
 *
 * whose exponential's coefficient of t^k is E (X'Y)^k/k!. */
#include <gram/embedding.h>

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "base/sweep.h"
#include "kernel/kernel.h"
#include "points/points.h"

enum { MOST_DEGREE = 64 };

/* What is integrated over: points against one Gaussian, or (points NULL) two Gaussians. */
typedef struct integral {
    int64_t d;
    const gram_points *points;
    gram_gaussian p, q;             /* points are against q */
    double *matrix, *factor, *work; /* d x d each */
    double *vectors;                /* 4 x d */
    double *out;
} integral;

static int64_t places(const integral *in)
{
    return in->points ? in->points->n : 1;
}

static double covariance_at(const gram_gaussian *g, int64_t at, int64_t d)
{
    return g->covariance ? g->covariance[at] : at % (d + 1) == 0;
}

static double coordinate(const integral *in, int64_t i, int64_t l)
{
    return in->points ? gram_points_at(in->points, i, l) : in->p.mean[l];
}

/* ---- rbf ---- */

/* matrix = L; returns log|L|. */
static double fill_lengths(integral *in, const gram_kernel *leaf)
{
    const gram_argument *length = gram_kernel_argument(leaf, GRAM_ROLE_LENGTH);
    const gram_argument *covariance = gram_kernel_argument(leaf, GRAM_ROLE_COVARIANCE);
    const int64_t d = in->d;
    double log_determinant = 0;
    memset(in->matrix, 0, (size_t)(d * d) * sizeof(double));
    if (covariance && covariance->count > 0) {
        memcpy(in->matrix, covariance->values, (size_t)(d * d) * sizeof(double));
        (void)gram_small_cholesky(d, in->matrix, in->factor);
        for (int64_t l = 0; l < d; l++) log_determinant += 2 * log(in->factor[l * d + l]);
        return log_determinant;
    }
    for (int64_t l = 0; l < d; l++) {
        const double ell = length->values[length->count == 1 ? 0 : l];
        in->matrix[l * d + l] = ell * ell;
        log_determinant += 2 * log(ell);
    }
    return log_determinant;
}

static gram_status add_rbf(gram_context *context, integral *in, const gram_kernel *leaf, double scale)
{
    gram_status status = GRAM_OK;
    const int64_t d = in->d;
    double change = fill_lengths(in, leaf), *v = in->vectors;
    for (int64_t at = 0; at < d * d; at++) {
        in->matrix[at] += covariance_at(&in->q, at, d);
        if (!in->points) in->matrix[at] += covariance_at(&in->p, at, d);
    }
    FAIL_IF(!gram_small_cholesky(d, in->matrix, in->factor), context, GRAM_ERROR_ARGUMENT,
            "gaussian: the covariance is not positive semi-definite");
    for (int64_t l = 0; l < d; l++) change -= 2 * log(in->factor[l * d + l]);
    for (int64_t i = 0; i < places(in); i++) {
        double square = 0;
        for (int64_t l = 0; l < d; l++) { /* forward substitution: v = factor^-1 (x - m) */
            v[l] = coordinate(in, i, l) - in->q.mean[l];
            for (int64_t k = 0; k < l; k++) v[l] -= in->factor[l * d + k] * v[k];
            v[l] /= in->factor[l * d + l];
            square += v[l] * v[l];
        }
        in->out[i] += scale * exp((change - square) / 2);
    }
done:
    return status;
}

/* ---- polynomials in the inner product ---- */

/* out = S x */
static void times_covariance(const gram_gaussian *g, int64_t d, const double *x, double *out)
{
    for (int64_t r = 0; r < d; r++) {
        out[r] = 0;
        for (int64_t c = 0; c < d; c++) out[r] += covariance_at(g, r * d + c, d) * x[c];
    }
}

static double dot(int64_t d, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t l = 0; l < d; l++) sum += x[l] * y[l];
    return sum;
}

/* moments[k] = E (x'X)^k */
static void point_moments(integral *in, int64_t i, int degree, double *moments)
{
    double *x = in->vectors, *sx = x + in->d;
    for (int64_t l = 0; l < in->d; l++) x[l] = coordinate(in, i, l);
    times_covariance(&in->q, in->d, x, sx);
    const double mean = dot(in->d, x, in->q.mean), variance = dot(in->d, x, sx);
    moments[0] = 1;
    for (int k = 1; k <= degree; k++)
        moments[k] = mean * moments[k - 1] + (k > 1 ? (k - 1) * variance * moments[k - 2] : 0);
}

static void fill_covariance(const gram_gaussian *g, int64_t d, double *out)
{
    for (int64_t at = 0; at < d * d; at++) out[at] = covariance_at(g, at, d);
}

/* g[2k] += tr(A^k)/(2k), A = S_2 S_1 */
static void add_traces(integral *in, int degree, double *g)
{
    const int64_t d = in->d;
    double *first = in->factor, *power = in->matrix, *next = in->work;
    fill_covariance(&in->p, d, first);
    for (int64_t at = 0; at < d * d; at++) power[at] = at % (d + 1) == 0;
    const int blas = gram_blas_enter();
    for (int k = 1; 2 * k <= degree; k++) { /* power = (power S_2) S_1 */
        double *second = next;
        for (int64_t r = 0; r < d; r++) {
            for (int64_t c = 0; c < d; c++) {
                double sum = 0;
                for (int64_t l = 0; l < d; l++) sum += power[r * d + l] * covariance_at(&in->q, l * d + c, d);
                second[r * d + c] = sum;
            }
        }
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)d, (int)d, (int)d, 1, second, (int)d, first, (int)d,
                    0, power, (int)d);
        for (int64_t l = 0; l < d; l++) g[2 * k] += power[l * d + l] / (2 * k);
    }
    gram_blas_leave(blas);
}

/* moments[k] = E (X'Y)^k, X of p, Y of q */
static void pair_moments(integral *in, int degree, double *moments)
{
    const int64_t d = in->d;
    double g[MOST_DEGREE + 5] = {0}, e[MOST_DEGREE + 1], *w = in->vectors, *a = w + d, *b = a + d, *t = b + d;
    times_covariance(&in->p, d, in->q.mean, w);
    g[1] = dot(d, in->p.mean, in->q.mean);
    g[2] = dot(d, in->q.mean, w) / 2;
    times_covariance(&in->q, d, in->p.mean, a);
    times_covariance(&in->q, d, w, b);
    for (int k = 0; 2 * k + 2 <= degree; k++) { /* a = A^k S_2 u, b = A^k S_2 w */
        g[2 * k + 2] += dot(d, in->p.mean, a) / 2;
        g[2 * k + 3] += dot(d, in->p.mean, b);
        g[2 * k + 4] += dot(d, w, b) / 2;
        times_covariance(&in->p, d, a, t);
        times_covariance(&in->q, d, t, a);
        times_covariance(&in->p, d, b, t);
        times_covariance(&in->q, d, t, b);
    }
    add_traces(in, degree, g);
    double factorial = 1;
    e[0] = moments[0] = 1;
    for (int r = 1; r <= degree; r++) { /* the exponential of a power series: r e_r = sum_k k g_k e_(r-k) */
        e[r] = 0;
        for (int k = 1; k <= r; k++) e[r] += k * g[k] * e[r - k] / r;
        factorial *= r;
        moments[r] = factorial * e[r];
    }
}

/* The kernel as a polynomial sum_k p_k (x'y)^k; its degree, or -1 if it is not a polynomial. */
static int polynomial(const gram_kernel *leaf, double p[MOST_DEGREE + 1])
{
    double par[GRAM_MAX_SPECS];
    const char *name = leaf->type->name;
    gram_kernel_par(leaf, par);
    memset(p, 0, (MOST_DEGREE + 1) * sizeof *p);
    if (strcmp(name, "linear") == 0) {
        p[0] = par[0];
        p[1] = 1;
        return 1;
    }
    const int degree = par[0] <= MOST_DEGREE ? (int)par[0] : -1;
    if (strcmp(name, "monomial") == 0)
        for (int k = 0; k <= degree; k++) p[k] = 1;
    else if (strcmp(name, "poly") == 0) { /* (t + c)^m, one factor after the other */
        p[0] = 1;
        for (int factor = 0; factor < degree; factor++)
            for (int k = degree; k >= 0; k--) p[k] = par[1] * p[k] + (k > 0 ? p[k - 1] : 0);
    } else
        return -1;
    return degree;
}

static gram_status add_leaf(gram_context *context, integral *in, const gram_kernel *leaf, double scale)
{
    gram_status status = GRAM_OK;
    double p[MOST_DEGREE + 1], moments[MOST_DEGREE + 1];
    const int degree = polynomial(leaf, p);
    if (leaf->type == &gram_kernel_const) {
        for (int64_t i = 0; i < places(in); i++) in->out[i] += scale * leaf->arguments[0].values[0];
        goto done;
    }
    if (strcmp(leaf->type->name, "rbf") == 0) return add_rbf(context, in, leaf, scale);
    FAIL_IF(degree < 0, context, GRAM_ERROR_UNSUPPORTED,
            "gaussian: no closed form for %s; there is one for rbf, linear, poly, monomial, const, their sums and "
            "multiples",
            leaf->type->name);
    for (int64_t i = 0; i < places(in); i++) {
        if (in->points)
            point_moments(in, i, degree, moments);
        else
            pair_moments(in, degree, moments);
        for (int k = 0; k <= degree; k++) in->out[i] += scale * p[k] * moments[k];
    }
done:
    return status;
}

/* out += scale times the integral of the kernel */
static gram_status add(gram_context *context, integral *in, const gram_kernel *kernel, double scale)
{
    gram_status status = GRAM_OK;
    const gram_kernel *rest = NULL;
    if (kernel->node == GRAM_NODE_LEAF) return add_leaf(context, in, kernel, scale);
    if (kernel->node == GRAM_NODE_SUM) {
        for (int i = 0; i < kernel->child_count; i++) TRY(add(context, in, kernel->children[i], scale));
        goto done;
    }
    FAIL_IF(kernel->node != GRAM_NODE_PRODUCT, context, GRAM_ERROR_UNSUPPORTED,
            "gaussian: no closed form for this kernel; sums and multiples of rbf, linear, poly, monomial have one");
    for (int i = 0; i < kernel->child_count; i++) {
        const gram_kernel *child = kernel->children[i];
        if (child->node == GRAM_NODE_LEAF && child->type == &gram_kernel_const) {
            scale *= child->arguments[0].values[0];
            continue;
        }
        FAIL_IF(rest, context, GRAM_ERROR_UNSUPPORTED, "gaussian: no closed form for products of kernels");
        rest = child;
    }
    if (rest) TRY(add(context, in, rest, scale));
    for (int64_t i = 0; i < places(in) && !rest; i++) in->out[i] += scale;
done:
    return status;
}

/* ---- the whole ---- */

static gram_status check_gaussian(gram_context *context, const gram_gaussian *g, int64_t d, integral *in)
{
    gram_status status = GRAM_OK;
    double most = 0;
    FAIL_IF(!g || !g->mean, context, GRAM_ERROR_ARGUMENT, "gaussian: %s is NULL", !g ? "the gaussian" : "its mean");
    FAIL_IF(g->d != d, context, GRAM_ERROR_DIMENSION, "gaussian: d = %lld, need %lld", (long long)g->d, (long long)d);
    for (int64_t l = 0; l < d; l++)
        FAIL_IF(!isfinite(g->mean[l]), context, GRAM_ERROR_DATA, "gaussian: mean[%lld] is not finite", (long long)l);
    if (!g->covariance) goto done;
    for (int64_t at = 0; at < d * d; at++) {
        const double value = g->covariance[at], mirror = g->covariance[at % d * d + at / d];
        FAIL_IF(!isfinite(value), context, GRAM_ERROR_DATA, "gaussian: covariance[%lld] is not finite", (long long)at);
        FAIL_IF(fabs(value - mirror) > 1e-12 * (fabs(value) + fabs(mirror)), context, GRAM_ERROR_ARGUMENT,
                "gaussian: the covariance is not symmetric at row %lld, column %lld", (long long)(at / d),
                (long long)(at % d));
        most = fmax(most, fabs(value));
    }
    memcpy(in->matrix, g->covariance, (size_t)(d * d) * sizeof(double));
    for (int64_t l = 0; l < d; l++) in->matrix[l * d + l] += 1e-10 * most;
    FAIL_IF(most > 0 && !gram_small_cholesky(d, in->matrix, in->factor), context, GRAM_ERROR_ARGUMENT,
            "gaussian: the covariance is not positive semi-definite");
done:
    return status;
}

static gram_status integrate(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                             const gram_gaussian *p, const gram_gaussian *q, double *out)
{
    gram_status status = GRAM_OK;
    integral in = {.points = points, .out = out};
    double *room = NULL;
    int64_t numbers = 0;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!kernel || !q || !out, context, GRAM_ERROR_ARGUMENT, "gaussian: %s is NULL",
            !kernel ? "kernel"
            : !q    ? "the gaussian"
                    : "out");
    in.d = q->d;
    FAIL_IF(in.d < 1 || in.d > 1 << 15, context, GRAM_ERROR_ARGUMENT, "gaussian: d = %lld, need 1 to %d",
            (long long)in.d, 1 << 15);
    FAIL_IF(points && points->d != in.d, context, GRAM_ERROR_DIMENSION,
            "gaussian: the points have %lld columns, the gaussian has %lld", (long long)points->d, (long long)in.d);
    TRY(gram_kernel_check_set(context, kernel));
    TRY(gram_kernel_check_dimension(context, kernel, in.d));
    numbers = 3 * in.d * in.d + 4 * in.d;
    TRY(gram_take(context, "gaussian: matrices", numbers, sizeof(double), (void **)&room));
    in.matrix = room;
    in.factor = in.matrix + in.d * in.d;
    in.work = in.factor + in.d * in.d;
    in.vectors = in.work + in.d * in.d;
    TRY(check_gaussian(context, q, in.d, &in));
    if (!points) TRY(check_gaussian(context, p, in.d, &in));
    in.q = *q;
    if (!points) in.p = *p;
    memset(out, 0, (size_t)places(&in) * sizeof *out);
    TRY(add(context, &in, kernel, 1));
done:
    gram_give(context, room);
    return status;
}

gram_status gram_gaussian_embed(gram_context *context, const gram_kernel *kernel, const gram_gaussian *gaussian,
                                const gram_points *points, double *out)
{
    if (context && !points) return gram_fail(context, GRAM_ERROR_ARGUMENT, "gaussian_embed: points is NULL");
    return integrate(context, kernel, points, NULL, gaussian, out);
}

gram_status gram_gaussian_inner(gram_context *context, const gram_kernel *kernel, const gram_gaussian *p,
                                const gram_gaussian *q, double *out)
{
    return integrate(context, kernel, NULL, p, q, out);
}

gram_status gram_gaussian_mmd_squared(gram_context *context, const gram_kernel *kernel, const gram_gaussian *p,
                                      const gram_gaussian *q, double *out)
{
    gram_status status = GRAM_OK;
    double pp, qq, pq;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!out, context, GRAM_ERROR_ARGUMENT, "gaussian_mmd_squared: out is NULL");
    TRY(gram_gaussian_inner(context, kernel, p, p, &pp));
    TRY(gram_gaussian_inner(context, kernel, q, q, &qq));
    TRY(gram_gaussian_inner(context, kernel, p, q, &pq));
    *out = fmax(pp + qq - 2 * pq, 0);
done:
    return status;
}
