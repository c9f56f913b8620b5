/* Thin-plate splines: minimise (1/n) sum w (y - f(x))^2 + lambda sum_(|a|=m) (m!/a!) int (D^a f)^2 over R^d, 2m > d (Duchon 1977; Wahba 1990,
 * chapter 2). f = sum_i c_i E(|x - x_i|) + a polynomial of degree below m, with E = r^(2m-d) log r or r^(2m-d) times a constant, which is positive
 * definite on coefficients that polynomials do not see: T'c = 0.
 *
 * With weights taken in (rows times sqrt(w)) and T = Q_1 R, Q_2 the rest of an orthogonal matrix, Q_2'E Q_2 = U diag(l) U' is an ordinary
 * positive semi-definite matrix, made once, n^3. With G = Q_2 U and z = G'y every lambda then costs O(n), alpha = n lambda:
 *
 *     residuals    G diag(alpha/(l + alpha)) z          df     q + sum l/(l + alpha)
 *     1 - h_i      sum_k G_ik^2 alpha/(l_k + alpha)      REML   (n - q) log sum alpha z^2/(l + alpha) + sum log((l + alpha)/alpha)
 *
 * The variance at x is - phi' M^-1 phi with phi = (E(x, x_i)/alpha, t(x)) and M = [E/alpha + 1/w, T; T', 0], since E(0) = 0. */
#include <cblas.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/eigen.h>

#include "base/sweep.h"
#include "method/spline/spline.h"
#include "method/spline/spline_sum.h"

enum { MOST_POWERS = 20, GRID = 80, REFINE = 40 };

static const double PI = 3.14159265358979323846;

/* ---- kernel and polynomials ---- */

/* E and, over r, its first derivative, and (E'' - E'/r)/r^2: what gradients and Hessians are made of. */
static void kernel_at(int m, int64_t d, double r, double *value, double *first, double *second)
{
    const double k = (double)(2 * m - (int)d);
    double constant;
    *value = *first = *second = 0;
    if (r == 0) return;
    if (d % 2 == 0) {
        double divisor = pow(2, 2 * m - 1) * pow(PI, (double)d / 2);
        for (int j = 2; j < m; j++) divisor *= j;
        for (int j = 2; j <= m - (int)d / 2; j++) divisor *= j;
        constant = (((int)d / 2 + 1 + m) % 2 ? -1 : 1) / divisor;
        *value = constant * pow(r, k) * log(r);
        *first = constant * pow(r, k - 2) * (k * log(r) + 1);
        *second = constant * pow(r, k - 4) * (k * (k - 2) * log(r) + 2 * k - 2);
    } else {
        double divisor = pow(2, 2 * m) * pow(PI, (double)d / 2);
        for (int j = 2; j < m; j++) divisor *= j;
        double gamma = sqrt(PI); /* of 1/2, and down to d/2 - m */
        for (double at = -0.5; at > (double)d / 2 - m - 0.25; at--) gamma /= at;
        constant = gamma / divisor;
        *value = constant * pow(r, k);
        *first = constant * k * pow(r, k - 2);
        *second = constant * k * (k - 2) * pow(r, k - 4);
    }
}

/* Exponents of the monomials of degree below m in d variables; returns how many. */
static int64_t powers_of(int m, int64_t d, int (*powers)[3])
{
    int64_t count = 0;
    for (int a = 0; a < m; a++)
        for (int b = 0; b < (d > 1 ? m : 1); b++)
            for (int c = 0; c < (d > 2 ? m : 1); c++)
                if (a + b + c < m && count < MOST_POWERS) {
                    powers[count][0] = a, powers[count][1] = b, powers[count][2] = c;
                    count++;
                }
    return count;
}

/* The monomial in columns moved to about [-1, 1], differentiated `order[l]` times by column l. */
static double monomial(const gram_spline_sum *sum, const int *power, const double *x, const int *order)
{
    double product = 1;
    for (int64_t l = 0; l < sum->d; l++) {
        const double z = (x[l] - sum->middle[l]) / sum->width[l];
        for (int j = 0; j < order[l]; j++) product *= (power[l] - j) / sum->width[l];
        for (int j = order[l]; j < power[l]; j++) product *= z;
        if (order[l] > power[l]) product = 0;
    }
    return product;
}

void gram_plate_add(const gram_spline_sum *sum, const double *x, int64_t by, int first, int64_t with, int second,
                    double factor, gram_spline_row *row)
{
    int powers[MOST_POWERS][3], order[3] = {0};
    const int64_t d = sum->d, q = powers_of(sum->m, d, powers);
    for (int64_t i = 0; i < sum->centre_count; i++) {
        const double *c = sum->centres + i * d;
        double square = 0, e, e1, e2;
        for (int64_t l = 0; l < d; l++) square += (x[l] - c[l]) * (x[l] - c[l]);
        kernel_at(sum->m, d, sqrt(square), &e, &e1, &e2);
        if (first + second == 1) e = e1 * (x[first ? by : with] - c[first ? by : with]);
        if (first + second == 2) {
            const int64_t l = first > 0 ? by : with, k = second > 0 ? with : by;
            e = e2 * (x[l] - c[l]) * (x[k] - c[k]) + (l == k ? e1 : 0);
        }
        row->phi[i] += factor * e;
    }
    order[by] += first;
    order[with] += second;
    for (int64_t j = 0; j < q; j++) row->phi[sum->centre_count + j] += factor * monomial(sum, powers[j], x, order);
}

int64_t gram_plate_powers(int m, int64_t d)
{
    int powers[MOST_POWERS][3];
    return powers_of(m, d, powers);
}

/* ---- the problem ---- */

typedef struct plate {
    int64_t n, q, k; /* rows of weight above 0, polynomials, n - q */
    int64_t *row;    /* of the caller */
    double *root;    /* sqrt(w) */
    double *e;       /* n x n: E with weights, then turned */
    double *t;       /* n x q: reflectors, and R above them */
    double *beta;    /* q */
    double *g;       /* n x k */
    double *l, *z;   /* k */
    double *y;       /* n, with weights */
    double square;   /* sum w (y - mean)^2 */
    double total;
} plate;

static gram_status take_plate(gram_context *context, gram_arena *arena, int64_t n, int64_t q, plate *p)
{
    gram_status status = GRAM_OK;
    p->n = n;
    p->q = q;
    p->k = n - q;
    TRY(gram_arena_take(context, arena, "thin plate: rows", n, sizeof *p->row, (void **)&p->row));
    TRY(gram_arena_take(context, arena, "thin plate: rows", 2 * n, sizeof(double), (void **)&p->root));
    TRY(gram_arena_take(context, arena, "thin plate: matrix", n * n, sizeof(double), (void **)&p->e));
    TRY(gram_arena_take(context, arena, "thin plate: polynomials", n * q + q, sizeof(double), (void **)&p->t));
    TRY(gram_arena_take(context, arena, "thin plate: vectors", n * p->k, sizeof(double), (void **)&p->g));
    TRY(gram_arena_take(context, arena, "thin plate: values", 2 * p->k, sizeof(double), (void **)&p->l));
    p->y = p->root + n;
    p->beta = p->t + n * q;
    p->z = p->l + p->k;
done:
    return status;
}

/* Reflector j of T from the left to a vector with the given stride. */
static void reflect(const plate *p, int64_t j, double *v, int64_t stride)
{
    double sum = v[j * stride];
    for (int64_t i = j + 1; i < p->n; i++) sum += p->t[i * p->q + j] * v[i * stride];
    sum *= p->beta[j];
    v[j * stride] -= sum;
    for (int64_t i = j + 1; i < p->n; i++) v[i * stride] -= sum * p->t[i * p->q + j];
}

/* T = Q R by reflectors with 1 on top, kept below the diagonal. */
static gram_status factor_polynomials(gram_context *context, plate *p)
{
    gram_status status = GRAM_OK;
    for (int64_t j = 0; j < p->q; j++) {
        double square = 0, whole = 0;
        for (int64_t i = 0; i < p->n; i++) whole += p->t[i * p->q + j] * p->t[i * p->q + j];
        for (int64_t i = j; i < p->n; i++) square += p->t[i * p->q + j] * p->t[i * p->q + j];
        FAIL_IF(!(square > 1e-12 * whole), context, GRAM_ERROR_DATA,
                "spline_fit: the rows of x do not determine the unpenalised polynomial: they lie on a line, or on a "
                "curve of its degree");
        const double pivot = p->t[j * p->q + j], norm = pivot > 0 ? -sqrt(square) : sqrt(square), head = pivot - norm;
        for (int64_t i = j + 1; i < p->n; i++) p->t[i * p->q + j] /= head;
        p->beta[j] = -head / norm;
        p->t[j * p->q + j] = norm;
        for (int64_t c = j + 1; c < p->q; c++) reflect(p, j, p->t + c, p->q);
    }
done:
    return status;
}

static void fill_plate(const gram_points *x, const double *y, const double *weights, const gram_spline_sum *sum,
                       plate *p)
{
    int powers[MOST_POWERS][3];
    const int order[3] = {0};
    const int64_t n = p->n, d = sum->d;
    double e1, e2, mean = 0;
    (void)powers_of(sum->m, d, powers);
    for (int64_t i = 0, next = 0; i < x->n; i++)
        if (!weights || weights[i] > 0) p->row[next++] = i;
    for (int64_t i = 0; i < n; i++) {
        const double w = weights ? weights[p->row[i]] : 1;
        p->root[i] = sqrt(w);
        p->y[i] = p->root[i] * y[p->row[i]];
        p->total += w;
        const double far = y[p->row[i]] - mean;
        mean += far * w / p->total;
        p->square += w * far * (y[p->row[i]] - mean);
        for (int64_t j = 0; j < p->q; j++)
            p->t[i * p->q + j] = p->root[i] * monomial(sum, powers[j], sum->centres + i * d, order);
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double r = 0, e;
            for (int64_t l = 0; l < d; l++) r += pow(sum->centres[i * d + l] - sum->centres[j * d + l], 2);
            kernel_at(sum->m, d, sqrt(r), &e, &e1, &e2);
            p->e[i * n + j] = p->e[j * n + i] = p->root[i] * p->root[j] * e;
        }
}

/* Q'E Q, the eigenvalues of its last block, G and z. */
static gram_status decompose(gram_context *context, plate *p)
{
    gram_status status = GRAM_OK;
    const int64_t n = p->n, q = p->q, k = p->k;
    double *block = NULL, *vectors = NULL;
    TRY(gram_take(context, "thin plate: block", 2 * k * k, sizeof *block, (void **)&block));
    vectors = block + k * k;
    for (int64_t j = 0; j < q; j++) {
        for (int64_t c = 0; c < n; c++) reflect(p, j, p->e + c, n);
        for (int64_t r = 0; r < n; r++) reflect(p, j, p->e + r * n, 1);
    }
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < k; j++)
            block[i * k + j] = 0.5 * (p->e[(q + i) * n + q + j] + p->e[(q + j) * n + q + i]);
    TRY(gram_eigen_symmetric(context, k, block, k, 0, k, p->l, vectors, k));
    for (int64_t c = 0; c < k; c++) {
        if (p->l[c] < 0) p->l[c] = 0; /* rounding */
        for (int64_t i = 0; i < n; i++) p->g[i * k + c] = i < q ? 0 : vectors[c * k + i - q];
        for (int64_t j = q - 1; j >= 0; j--) reflect(p, j, p->g + c, k);
        p->z[c] = 0;
        for (int64_t i = 0; i < n; i++) p->z[c] += p->g[i * k + c] * p->y[i];
    }
done:
    gram_give(context, block);
    return status;
}

/* ---- criteria ---- */

typedef struct verdict {
    double rss, df, bent, loo, gcv, likelihood;
} verdict;

static verdict judge(const plate *p, double alpha, int loo)
{
    verdict v = {.df = (double)p->q};
    const double n = (double)p->n, freedom = (double)p->k;
    double log_root = 0;
    for (int64_t c = 0; c < p->k; c++) {
        const double kept = alpha / (p->l[c] + alpha);
        v.rss += kept * kept * p->z[c] * p->z[c];
        v.bent += kept * p->z[c] * p->z[c];
        v.df += p->l[c] / (p->l[c] + alpha);
        log_root -= 0.5 * log(kept);
    }
    for (int64_t i = 0; i < p->n && loo; i++) {
        double r = 0, left = 0;
        for (int64_t c = 0; c < p->k; c++) {
            const double kept = alpha / (p->l[c] + alpha), g = p->g[i * p->k + c];
            r += g * kept * p->z[c];
            left += g * g * kept;
        }
        v.loo += pow(r / fmax(left, 1e-12), 2) / p->total;
    }
    v.gcv = n * n * v.rss / ((n - v.df) * (n - v.df)) / p->total;
    v.likelihood = -0.5 * freedom * log(v.bent) - log_root;
    return v;
}

static double value_of(const plate *p, double x, gram_criterion criterion)
{
    const verdict v = judge(p, exp(x), criterion == GRAM_CRITERION_LOO);
    return criterion == GRAM_CRITERION_ML ? -v.likelihood : criterion == GRAM_CRITERION_LOO ? v.loo : v.gcv;
}

static double choose(const plate *p, gram_criterion criterion, gram_spline_report *report)
{
    static const double GOLDEN = 0.61803398874989485;
    const double top = p->l[0] > p->l[p->k - 1] ? p->l[0] : p->l[p->k - 1];
    const double low = log(top) - 30, high = log(top) + 14, step = (high - low) / GRID;
    double best = high, least = INFINITY;
    for (int k = 0; k <= GRID; k++) {
        const double value = value_of(p, high - k * step, criterion);
        if (value < least) least = value, best = high - k * step;
    }
    report->at_bound = best >= high ? 1 : best <= low + step ? -1 : 0;
    double a = best - step, b = best + step;
    for (int k = 0; k < REFINE && report->at_bound == 0; k++) {
        const double left = b - GOLDEN * (b - a), right = a + GOLDEN * (b - a);
        if (value_of(p, left, criterion) < value_of(p, right, criterion))
            b = right;
        else
            a = left;
        best = 0.5 * (a + b);
    }
    report->evaluations = GRID + 1 + 2 * REFINE;
    report->criterion = value_of(p, best, criterion);
    return exp(best);
}

/* ---- coefficients and variances ---- */

/* x becomes R^-1 x for a column of q numbers. */
static void back_solve(const plate *p, double *x, int64_t stride)
{
    for (int64_t j = p->q - 1; j >= 0; j--) {
        for (int64_t c = j + 1; c < p->q; c++) x[j * stride] -= p->t[j * p->q + c] * x[c * stride];
        x[j * stride] /= p->t[j * p->q + j];
    }
}

/* H = Q_1'E G, q x k: rows of the turned E times U, and U is the turned G, which is left in `turned`. */
static void fill_h(const plate *p, double *turned, double *h)
{
    const int64_t n = p->n, q = p->q, k = p->k;
    memset(h, 0, (size_t)(q * k) * sizeof *h);
    memcpy(turned, p->g, (size_t)(n * k) * sizeof *turned);
    for (int64_t e = 0; e < k; e++)
        for (int64_t j = 0; j < q; j++) reflect(p, j, turned + e, k);
    for (int64_t a = 0; a < q; a++)
        for (int64_t i = 0; i < k; i++)
            for (int64_t e = 0; e < k; e++) h[a * k + e] += p->e[a * n + q + i] * turned[(q + i) * k + e];
}

/* C' = R^-1 (Q_1' - H (l + alpha)^-1 G') sqrt(w), q x n; `unit` has room for n numbers. */
static void fill_c(const plate *p, double alpha, const double *h, double *unit, double *c)
{
    const int64_t n = p->n, q = p->q, k = p->k;
    for (int64_t i = 0; i < n; i++) {
        memset(unit, 0, (size_t)n * sizeof *unit);
        unit[i] = 1; /* reflected, its entry a is (Q_1)_ia */
        for (int64_t j = 0; j < q; j++) reflect(p, j, unit, 1);
        for (int64_t a = 0; a < q; a++) {
            double left = 0;
            for (int64_t e = 0; e < k; e++) left -= h[a * k + e] * p->g[i * k + e] / (p->l[e] + alpha);
            c[a * n + i] = left + unit[a];
        }
        back_solve(p, c + i, n);
        for (int64_t a = 0; a < q; a++) c[a * n + i] *= p->root[i];
    }
}

/* R^-1 (I + E_11/alpha - H (alpha (l + alpha))^-1 H') R^-T, q x q. */
static void fill_b(const plate *p, double alpha, const double *h, double *b)
{
    const int64_t n = p->n, q = p->q, k = p->k;
    for (int64_t a = 0; a < q; a++)
        for (int64_t e = 0; e < q; e++) {
            double value = (a == e) + p->e[a * n + e] / alpha;
            for (int64_t f = 0; f < k; f++) value -= h[a * k + f] * h[e * k + f] / (alpha * (p->l[f] + alpha));
            b[a * q + e] = value;
        }
    for (int64_t e = 0; e < q; e++) back_solve(p, b + e, q);
    for (int64_t a = 0; a < q; a++) back_solve(p, b + a * q, 1);
}

static void fill_coefficients(const plate *p, double alpha, const double *c, double *out)
{
    const int64_t n = p->n, q = p->q, k = p->k;
    for (int64_t i = 0; i < n; i++) {
        out[i] = 0;
        for (int64_t e = 0; e < k; e++) out[i] += p->root[i] * p->g[i * k + e] * p->z[e] / (p->l[e] + alpha);
    }
    for (int64_t a = 0; a < q; a++) {
        out[n + a] = 0;
        for (int64_t i = 0; i < n; i++) out[n + a] += c[a * n + i] * p->y[i] / p->root[i];
    }
}

/* V = - M^-1 scaled to phi, the covariance of the coefficients: blocks - P/alpha^2, -C/alpha and B, where P y = coefficients alpha,
 * C'y = polynomial. `scaled` is n x k. */
static void fill_covariance(const plate *p, double alpha, const double *c, const double *b, double *scaled, double *v)
{
    const int64_t n = p->n, q = p->q, k = p->k, all = n + q;
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = 0; e < k; e++) scaled[i * k + e] = p->g[i * k + e] / (p->l[e] + alpha);
    const int before = gram_blas_enter();
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)n, (int)k, -1 / alpha, scaled, (int)k, p->g,
                (int)k, 0, v, (int)all);
    gram_blas_leave(before);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) v[i * all + j] = v[j * all + i] = v[i * all + j] * p->root[i] * p->root[j];
    for (int64_t a = 0; a < q; a++) {
        for (int64_t i = 0; i < n; i++) v[(n + a) * all + i] = v[i * all + n + a] = -c[a * n + i] / alpha;
        for (int64_t e = 0; e < q; e++) v[(n + a) * all + n + e] = b[a * q + e];
    }
}

static gram_status fill_sum(gram_context *context, const plate *p, double alpha, gram_spline_sum *sum)
{
    gram_status status = GRAM_OK;
    const int64_t n = p->n, q = p->q, k = p->k;
    double *h = NULL, *c = NULL, *b = NULL, *turned = NULL;
    TRY(gram_take(context, "thin plate: polynomials", q * (k + n + q), sizeof *h, (void **)&h));
    TRY(gram_take(context, "thin plate: vectors", n * (k > 0 ? k : 1), sizeof *turned, (void **)&turned));
    c = h + q * k;
    b = c + q * n;
    fill_h(p, turned, h);
    fill_c(p, alpha, h, turned, c);
    fill_b(p, alpha, h, b);
    fill_coefficients(p, alpha, c, sum->c);
    if (sum->v) fill_covariance(p, alpha, c, b, turned, sum->v);
done:
    gram_give(context, h);
    gram_give(context, turned);
    return status;
}

static gram_status take_sum(gram_context *context, const gram_points *x, const double *weights, int bands,
                            gram_spline_sum *sum)
{
    gram_status status = GRAM_OK;
    const int64_t d = x->d;
    TRY(gram_arena_take(context, &sum->arena, "thin plate", x->n * d, sizeof(double), (void **)&sum->centres));
    TRY(gram_arena_take(context, &sum->arena, "thin plate", 2 * d, sizeof(double), (void **)&sum->middle));
    TRY(gram_arena_take(context, &sum->arena, "thin plate", 2, sizeof(double), (void **)&sum->lambda));
    sum->df = sum->lambda + 1;
    sum->width = sum->middle + d;
    for (int64_t l = 0; l < d; l++) {
        double least = INFINITY, most = -INFINITY;
        int64_t next = 0;
        for (int64_t i = 0; i < x->n; i++) {
            if (weights && !(weights[i] > 0)) continue;
            const double value = gram_points_at(x, i, l);
            sum->centres[next++ * d + l] = value;
            least = fmin(least, value);
            most = fmax(most, value);
        }
        sum->centre_count = next;
        sum->middle[l] = 0.5 * (least + most);
        sum->width[l] = most > least ? 0.5 * (most - least) : 1;
    }
    sum->p = sum->centre_count + gram_plate_powers(sum->m, d);
    TRY(gram_arena_take(context, &sum->arena, "thin plate", sum->p, sizeof(double), (void **)&sum->c));
    if (bands)
        TRY(gram_arena_take(context, &sum->arena, "thin plate", sum->p * sum->p, sizeof(double), (void **)&sum->v));
done:
    return status;
}

static void report_plate(const plate *p, const gram_spline_options *o, double alpha, double *fitted, double *left,
                         gram_spline_report *r, const double *y)
{
    const verdict v = judge(p, alpha, 1);
    const double n = (double)p->n;
    for (int64_t i = 0; i < p->n; i++) {
        double residual = 0, part = 0;
        for (int64_t c = 0; c < p->k; c++) {
            const double kept = alpha / (p->l[c] + alpha), g = p->g[i * p->k + c];
            residual += g * kept * p->z[c];
            part += g * g * kept;
        }
        fitted[p->row[i]] = y[p->row[i]] - residual / p->root[i];
        left[p->row[i]] = residual / p->root[i] / fmax(part, 1e-12);
    }
    r->n = r->tuned_rows = r->knots = p->n;
    r->lambda = alpha / n;
    r->effective_dimension = v.df;
    r->sigma = n - v.df > 1e-9 * n ? sqrt(v.rss / (n - v.df)) : NAN;
    if (o->criterion == GRAM_CRITERION_ML && isnan(o->lambda)) r->sigma = sqrt(v.bent / (double)p->k);
    r->train_rmse = sqrt(v.rss / p->total);
    r->train_r2 = p->square > 0 ? 1 - v.rss / p->square : NAN;
    r->loo_rmse = sqrt(v.loo);
    r->loo_r2 = p->square > 0 ? 1 - v.loo * p->total / p->square : NAN;
    r->gcv = v.gcv;
}

double gram_plate_bytes(int64_t n)
{
    return 8.0 * 6 * (double)n * (double)n;
}

gram_status gram_plate_fit(gram_context *context, const gram_points *x, const double *y,
                           const gram_spline_options *options, double *fitted, double *left, gram_spline_report *report,
                           gram_spline_sum *sum)
{
    gram_status status = GRAM_OK;
    gram_arena arena;
    plate p = {0};
    gram_arena_init(&arena, context->memory);
    gram_arena_init(&sum->arena, context->memory);
    sum->d = x->d;
    sum->m = (int)options->order;
    sum->plate = 1;
    FAIL_IF(x->d > 3 || 2 * sum->m <= x->d || sum->m < 2, context, GRAM_ERROR_UNSUPPORTED,
            "spline_fit: a thin plate of order %d is not for %" PRId64
            " columns: 2 or 3, and twice the order above that",
            sum->m, x->d);
    for (int64_t i = 0; i < x->n; i++) fitted[i] = left[i] = NAN;
    TRY(take_sum(context, x, options->weights, options->bands, sum));
    const int64_t q = sum->p - sum->centre_count;
    FAIL_IF(sum->centre_count <= q, context, GRAM_ERROR_DATA,
            "spline_fit: %" PRId64 " rows are too few for a thin plate of order %d, which needs more than %" PRId64,
            sum->centre_count, sum->m, q);
    TRY(take_plate(context, &arena, sum->centre_count, q, &p));
    fill_plate(x, y, options->weights, sum, &p);
    TRY(factor_polynomials(context, &p));
    TRY(decompose(context, &p));
    const double alpha =
        isnan(options->lambda) ? choose(&p, options->criterion, report) : options->lambda * (double)p.n;
    TRY(fill_sum(context, &p, alpha, sum));
    report_plate(&p, options, alpha, fitted, left, report, y);
    sum->lambda[0] = alpha / (double)p.n;
    sum->df[0] = report->effective_dimension;
done:
    gram_arena_release(&arena);
    return status;
}
