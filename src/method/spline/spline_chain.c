/* Smoothing splines as a chain of states.
 *
 * f minimises sum w (y - f(t))^2 + alpha int (f^(m))^2 if and only if it is the posterior mean of a process whose m-th derivative is
 * white noise of variance 1/alpha, with nothing known of its start (Wahba 1978; Kohn and Ansley 1987). The state s = (f^(m-1), ..., f', f)
 * then goes from one place to the next as
 *
 *     s_(i+1) = F(h) s_i + sqrt(h) D(h) C v_i,     |v_i|^2 = int over the gap of (f^(m))^2 for the best f between two states,
 *
 * F(h) Taylor's matrix, D(h) = diag(1, h, ..., h^(m-1)), C C' the covariance of a gap of length 1. So the spline is the least squares
 * problem of unknown kicks v_i and a last state, with rows sqrt(w_i) (f_i - y_i) and sqrt(alpha) v_i: a chain that orthogonal
 * transformations take apart link by link (a square-root information filter, Bierman 1977), O(n m^3). Written in kicks nothing is divided
 * by a gap.
 *
 * Why not the banded equations of Reinsch, which take a third of the time for m = 2? Their condition grows as (n/df)^(2m): for a
 * smooth fit of a million rows it is beyond 1e20, and nothing is left of the digits. Here a rounding error is one of the
 * dynamics, as if x or a slope were off by one unit in the last place; errors add up over the places, and that is all. Equal
 * gaps, gaps of 1e-12 and of 1 side by side, weights of 1e-10 and of 1e10 (the interior-point method of other losses ends
 * there) all work. And no start has to be guessed: no information is R = 0.
 *
 * With A = R F(-h), R the information of s_i so far, a link is the QR factor of
 *
 *     [ sqrt(alpha) I                   0  |  0 ]
 *     [ -A sqrt(h) D(h) C               A  |  z ]
 *
 * in columns v_i, s_(i+1), rows exchanged so that the largest pivot comes first, which Householder transformations need where rows are of
 * different sizes (Powell and Reid 1969; Cox and Higham 1998). Its upper rows give v_i = g - G s_(i+1) on the way back, with covariance
 * (S S'), S = Rv^-1, and so
 *
 *     s_i = M s_(i+1) - E g,  cov(s_i) = M cov(s_(i+1)) M' + (E S)(E S)',  M = F(-h) + E G,  E = sqrt(h) F(-h) D(h) C:
 *
 * variances are sums of squares, without cancellation.
 *
 * A circle is the same with the first state as a border of m more columns: joint information of (s_i, s_1), and at the end, after the
 * last gap, s_(n+1) = s_1. Only its first gap is written in states, [-C^-1 F, C^-1] over the gap's scale. */
#include "method/spline/spline_chain.h"

#include <math.h>
#include <string.h>

enum { M = GRAM_SPLINE_ORDERS, JOINT = 2 * M, ROWS = 3 * M, COLUMNS = 3 * M + 1, CHECK_EVERY = 1 << 16 };

/* ---- numbers of the order ---- */

static double factorial(int k)
{
    double product = 1;
    for (int i = 2; i <= k; i++) product *= i;
    return product;
}

static void make_root(int m, gram_chain_order *o)
{
    for (int j = 0; j < m; j++)
        for (int k = 0; k <= j; k++) {
            long double sum = 1 / ((long double)factorial(j) * factorial(k) * (j + k + 1));
            for (int l = 0; l < k; l++) sum -= (long double)o->root[j][l] * o->root[k][l];
            o->root[j][k] = (double)(j == k ? sqrtl(sum) : sum / o->root[k][k]);
        }
    for (int k = 0; k < m; k++)
        for (int j = k; j < m; j++) {
            long double sum = j == k;
            for (int l = k; l < j; l++) sum -= (long double)o->root[j][l] * o->inverse[l][k];
            o->inverse[j][k] = (double)(sum / o->root[j][j]);
        }
}

/* `drawn` is F(-1) C. The p-th derivative at 0 of the orthonormal polynomial k in 1 - x is `pieces`. */
static void make_order(int m, gram_chain_order *o)
{
    *o = (gram_chain_order){0};
    make_root(m, o);
    for (int k = 0; k < m; k++)
        for (int c = 0; c < m; c++)
            for (int j = c; j <= k; j++) o->drawn[k][c] += ((k - j) % 2 ? -1 : 1) / factorial(k - j) * o->root[j][c];
    for (int p = 0; p < m; p++)
        for (int k = 0; k < m; k++)
            for (int j = p; j <= k; j++) o->pieces[p][k] += (p % 2 ? -1 : 1) * o->inverse[k][j] / factorial(j - p);
}

/* ---- small matrices ---- */

/* Upper triangle of the first `columns` columns by Householder transformations, applied to all `width` columns. */
GRAM_INLINE void triangle(int rows, int columns, int width, double (*a)[COLUMNS])
{
    for (int c = 0; c < columns && c < rows - 1; c++) {
        int best = c;
        double square = 0;
        for (int r = c; r < rows; r++) {
            square += a[r][c] * a[r][c];
            if (fabs(a[r][c]) > fabs(a[best][c])) best = r;
        }
        if (square == 0) continue;
        for (int k = c; k < width && best != c; k++) {
            const double kept = a[c][k];
            a[c][k] = a[best][k];
            a[best][k] = kept;
        }
        const double pivot = a[c][c], norm = pivot > 0 ? -sqrt(square) : sqrt(square);
        const double head = pivot - norm, factor = 1 / (norm * head);
        for (int k = c + 1; k < width; k++) {
            double sum = head * a[c][k];
            for (int r = c + 1; r < rows; r++) sum += a[r][c] * a[r][k];
            sum *= factor;
            a[c][k] += sum * head;
            for (int r = c + 1; r < rows; r++) a[r][k] += sum * a[r][c];
        }
        a[c][c] = norm;
        for (int r = c + 1; r < rows; r++) a[r][c] = 0;
    }
}

/* Rotates one more row into an upper triangle of q columns whose right-hand side is column q. */
GRAM_INLINE void add_row(int q, int from, double (*r)[JOINT + 1], double *row)
{
    for (int k = from; k < q; k++) {
        if (row[k] == 0) continue;
        const double length = sqrt(r[k][k] * r[k][k] + row[k] * row[k]), c = r[k][k] / length, s = row[k] / length;
        for (int j = k; j <= q; j++) {
            const double upper = r[k][j], lower = row[j];
            r[k][j] = c * upper + s * lower;
            row[j] = c * lower - s * upper;
        }
    }
}

/* Taylor's matrix of length h (which may be negative), lower triangle. */
GRAM_INLINE void taylor(int m, double h, double (*f)[M])
{
    double power[M] = {1};
    for (int k = 1; k < m; k++) power[k] = power[k - 1] * h / k;
    for (int k = 0; k < m; k++)
        for (int j = 0; j < m; j++) f[k][j] = j <= k ? power[k - j] : 0;
}

/* sqrt(h) D(h) times a matrix of the order. */
GRAM_INLINE void scaled(int m, double h, const double (*from)[M], double (*to)[M])
{
    double scale = sqrt(h);
    for (int k = 0; k < m; k++, scale *= h)
        for (int j = 0; j < m; j++) to[k][j] = scale * from[k][j];
}

/* ---- one step of the way back ---- */

/* G (m x q), g (m), S (m x m, upper). */
static int64_t step_size(int m, int q)
{
    return (int64_t)m * q + m + m * m;
}

/* The upper rows of a link, solved for the kick. */
GRAM_INLINE void keep_step(int m, int q, double (*a)[COLUMNS], double *step)
{
    double *gain = step, *g = step + m * q, *root = g + m;
    for (int k = m - 1; k >= 0; k--) {
        const double pivot = 1 / a[k][k];
        for (int j = 0; j < q + 1; j++) {
            double sum = a[k][m + j];
            for (int l = k + 1; l < m; l++) sum -= a[k][l] * (j < q ? gain[l * q + j] : g[l]);
            if (j < q)
                gain[k * q + j] = sum * pivot;
            else
                g[k] = sum * pivot;
        }
        for (int j = 0; j < m; j++) {
            double sum = j == k;
            for (int l = k + 1; l < m; l++) sum -= a[k][l] * root[l * m + j];
            root[k * m + j] = j < k ? 0 : sum * pivot;
        }
    }
}

/* Moves the information r of a state (and the border) over a gap. Returns the product of the pivots of the kick. */
GRAM_INLINE double link(const gram_chain_order *o, int m, int q, double h, double root_alpha, double (*r)[JOINT + 1],
                        double *step)
{
    double a[ROWS][COLUMNS], back[M][M], drawn[M][M], product = 1;
    taylor(m, -h, back);
    scaled(m, h, o->drawn, drawn);
    for (int k = 0; k < m; k++)
        for (int j = 0; j < m + q + 1; j++) a[k][j] = j == k ? root_alpha : 0;
    for (int k = 0; k < q; k++) {
        double *row = a[m + k];
        for (int j = 0; j < m; j++) {
            double kicked = 0, moved = 0;
            for (int l = 0; l < m; l++) kicked -= r[k][l] * drawn[l][j];
            for (int l = j; l < m; l++) moved += r[k][l] * back[l][j];
            row[j] = kicked;
            row[m + j] = moved;
        }
        for (int j = m; j <= q; j++) row[m + j] = r[k][j];
    }
    triangle(m + q, m + q, m + q + 1, a);
    keep_step(m, q, a, step);
    for (int k = 0; k < m; k++) product *= a[k][k];
    for (int k = 0; k < q; k++)
        for (int j = 0; j <= q; j++) r[k][j] = a[m + k][m + j];
    return fabs(product);
}

GRAM_INLINE void observe(int m, int q, double w, double y, double (*r)[JOINT + 1])
{
    double row[JOINT + 1] = {0};
    row[m - 1] = sqrt(w);
    row[q] = row[m - 1] * y;
    add_row(q, m - 1, r, row);
}

/* ---- the way there ---- */

/* Information of (s_2, s_1) after the first gap of a circle. */
static void begin_circle(const gram_chain *c, double w, double y, double (*r)[JOINT + 1])
{
    const int m = c->m, q = 2 * m;
    const double h = c->gap[0], root = sqrt(c->alpha / h);
    double a[ROWS][COLUMNS] = {{0}}, forth[M][M];
    taylor(m, h, forth);
    for (int k = 0; k < m; k++)
        for (int j = 0; j < m; j++) {
            for (int l = j; l <= k; l++) a[k][m + j] -= root * c->order.inverse[k][l] * pow(h, -l) * forth[l][j];
            a[k][j] = root * c->order.inverse[k][j] * pow(h, -j);
        }
    a[m][q - 1] = sqrt(w);
    a[m][q] = sqrt(w) * y;
    triangle(m + 1, m + 1, q + 1, a);
    for (int k = 0; k < q; k++)
        for (int j = 0; j <= q; j++) r[k][j] = k <= m ? a[k][j] : 0;
}

GRAM_INLINE gram_status go(gram_context *context, gram_chain *c, int m, int periodic, const double *w, const double *y,
                           double (*r)[JOINT + 1])
{
    gram_status status = GRAM_OK;
    const int q = m * (1 + periodic);
    const int64_t size = step_size(m, q);
    const double root = sqrt(c->alpha);
    for (int k = 0; k < q; k++)
        for (int j = 0; j <= q; j++) r[k][j] = 0;
    if (periodic)
        begin_circle(c, w[0], y[0], r);
    else
        observe(m, q, w[0], y[0], r);
    c->log_root = 0;
    for (int64_t i = periodic; i < c->gaps; i++) {
        if (periodic) observe(m, q, w[i], y[i], r);
        c->log_root += log(link(&c->order, m, q, c->gap[i], root, r, c->steps + i * size));
        if (!periodic) observe(m, q, w[i + 1], y[i + 1], r);
        if (i % CHECK_EVERY == 0 && context->cancel && context->cancel(context->cancel_user))
            FAIL(context, GRAM_ERROR_CANCELLED, "spline_fit: cancelled");
    }
done:
    return status;
}

/* ---- the way back ---- */

/* The last state, or the border that it is equal to: solves R s = z; P = R^-1 R^-T. 0: there is no solution. */
static int finish(const gram_chain *c, double (*r)[JOINT + 1], double *s, double (*p)[M], double *log_root)
{
    const int m = c->m, q = c->periodic ? 2 * m : m;
    double a[ROWS][COLUMNS] = {{0}}, inverse[M][M] = {{0}};
    for (int k = 0; k < q; k++) {
        for (int j = 0; j < m; j++) a[k][j] = r[k][j] + (c->periodic ? r[k][m + j] : 0);
        a[k][m] = r[k][q];
    }
    triangle(q, m, m + 1, a);
    for (int k = m - 1; k >= 0; k--) {
        if (!isfinite(1 / a[k][k])) return 0;
        *log_root += log(fabs(a[k][k]));
        for (int j = 0; j <= m; j++) {
            double sum = j < m ? j == k : a[k][m];
            for (int l = k + 1; l < m; l++) sum -= a[k][l] * (j < m ? inverse[l][j] : s[l]);
            if (j < m)
                inverse[k][j] = sum / a[k][k];
            else
                s[k] = sum / a[k][k];
        }
    }
    for (int k = 0; k < m; k++)
        for (int j = 0; j < m; j++) {
            p[k][j] = 0;
            for (int l = 0; l < m; l++) p[k][j] += inverse[k][l] * inverse[j][l];
        }
    return 1;
}

/* What the way back carries: the state, and variances of it and with the border. */
typedef struct carried {
    double state[M], border[M];
    double p[M][M], with[M][M], of_border[M][M];
} carried;

GRAM_INLINE void step_mean(const gram_chain_order *o, int m, int q, double h, const double *step, carried *at,
                           double *kick)
{
    const double *g = step + m * q;
    double back[M][M], drawn[M][M], before[M];
    taylor(m, -h, back);
    scaled(m, h, o->drawn, drawn);
    for (int k = 0; k < m; k++) {
        kick[k] = g[k];
        for (int j = 0; j < m; j++) kick[k] -= step[k * q + j] * at->state[j];
        for (int j = m; j < q; j++) kick[k] -= step[k * q + j] * at->border[j - m];
    }
    for (int k = 0; k < m; k++) {
        before[k] = 0;
        for (int j = 0; j <= k; j++) before[k] += back[k][j] * at->state[j];
        for (int j = 0; j < m; j++) before[k] -= drawn[k][j] * kick[j];
    }
    for (int k = 0; k < m; k++) at->state[k] = before[k];
}

/* C = A B + A2 B2 with B2 of a circle only. */
GRAM_INLINE void multiply(int m, const double (*a)[M], const double (*b)[M], double (*c)[M], int add)
{
    for (int k = 0; k < m; k++)
        for (int j = 0; j < m; j++) {
            double sum = add ? c[k][j] : 0;
            for (int l = 0; l < m; l++) sum += a[k][l] * b[l][j];
            c[k][j] = sum;
        }
}

/* C += A B'. */
GRAM_INLINE void multiply_turned(int m, const double (*a)[M], const double (*b)[M], double (*c)[M])
{
    for (int k = 0; k < m; k++)
        for (int j = 0; j < m; j++)
            for (int l = 0; l < m; l++) c[k][j] += a[k][l] * b[j][l];
}

/* [G H] J [G H]' + S S'. */
GRAM_INLINE void kick_variance(int m, int q, const carried *at, const double (*gain)[M], const double (*slant)[M],
                               const double (*root)[M], double (*kicked)[M])
{
    double left[M][M], right[M][M], turned[M][M];
    for (int k = 0; k < m; k++)
        for (int j = 0; j < m; j++) turned[k][j] = at->with[j][k];
    multiply(m, gain, at->p, left, 0);
    memset(kicked, 0, M * sizeof *kicked);
    if (q > m) {
        multiply(m, slant, turned, left, 1);
        multiply(m, gain, at->with, right, 0);
        multiply(m, slant, at->of_border, right, 1);
        multiply_turned(m, right, slant, kicked);
    }
    multiply_turned(m, left, gain, kicked);
    multiply_turned(m, root, root, kicked);
}

/* [M N] moves (s_(i+1), border) to s_i; [G H] are the gains of the kick, S its own root. `cross` and `kicked`, unless NULL, are the
 * covariances of s_i with the kick and of the kick: -[M N] J [G H]' - E S S' and [G H] J [G H]' + S S', J that of state and border. */
GRAM_INLINE void step_variance(const gram_chain_order *o, int m, int q, double h, const double *step, carried *at,
                               double (*cross)[M], double (*kicked)[M])
{
    double move[M][M], lean[M][M] = {{0}}, drawn[M][M], noise[M][M], root[M][M];
    double gain[M][M], slant[M][M] = {{0}}, of_state[M][M], with[M][M] = {{0}}, turned[M][M];
    taylor(m, -h, move);
    scaled(m, h, o->drawn, drawn);
    for (int k = 0; k < m; k++)
        for (int j = 0; j < m; j++) {
            gain[k][j] = step[k * q + j];
            if (q > m) slant[k][j] = step[k * q + m + j];
            root[k][j] = step[m * q + m + k * m + j];
            turned[k][j] = at->with[j][k];
        }
    multiply(m, drawn, gain, move, 1);
    multiply(m, drawn, root, noise, 0);
    multiply(m, move, at->p, of_state, 0); /* of s_i and s_(i+1), */
    if (q > m) {
        multiply(m, drawn, slant, lean, 0);
        multiply(m, lean, turned, of_state, 1);
        multiply(m, move, at->with, with, 0); /* and of s_i and the border */
        multiply(m, lean, at->of_border, with, 1);
    }
    if (cross) {
        kick_variance(m, q, at, gain, slant, root, kicked);
        memset(cross, 0, M * sizeof *cross);
        multiply_turned(m, of_state, gain, cross);
        if (q > m) multiply_turned(m, with, slant, cross);
        multiply_turned(m, noise, root, cross);
        for (int k = 0; k < m; k++)
            for (int j = 0; j < m; j++) cross[k][j] = -cross[k][j];
    }
    memset(at->p, 0, sizeof at->p);
    multiply_turned(m, of_state, move, at->p);
    if (q > m) multiply_turned(m, with, lean, at->p);
    multiply_turned(m, noise, noise, at->p);
    for (int k = 0; k < m; k++)
        for (int j = 0; j < k; j++) at->p[k][j] = at->p[j][k] = 0.5 * (at->p[k][j] + at->p[j][k]);
    memcpy(at->with, with, sizeof with);
}

static void put_matrix(int m, const double (*from)[M], double *to)
{
    for (int k = 0; k < m; k++)
        for (int j = 0; j < m; j++) to[k * m + j] = from[k][j];
}

GRAM_INLINE void put_place(gram_chain *c, int m, int64_t i, const carried *at, gram_chain_wish wish)
{
    for (int k = 0; k < m; k++) c->state[i * m + k] = at->state[k];
    if (wish >= GRAM_CHAIN_SPREAD) c->spread[i] = at->p[m - 1][m - 1];
    if (wish >= GRAM_CHAIN_EVERYWHERE) put_matrix(m, at->p, c->variance + i * m * m);
}

GRAM_INLINE void come_back(gram_chain *c, int m, int periodic, carried *at, gram_chain_wish wish)
{
    const int q = m * (1 + periodic);
    const int64_t size = step_size(m, q);
    const int all = wish >= GRAM_CHAIN_EVERYWHERE;
    double cross[M][M], kicked[M][M], bending = 0;
    if (!periodic) put_place(c, m, c->n - 1, at, wish);
    for (int64_t i = c->gaps - 1; i >= periodic; i--) {
        double *kick = c->kick + i * m;
        const double *step = c->steps + i * size;
        step_mean(&c->order, m, q, c->gap[i], step, at, kick);
        for (int k = 0; k < m; k++) bending += kick[k] * kick[k];
        if (wish >= GRAM_CHAIN_SPREAD) step_variance(&c->order, m, q, c->gap[i], step, at, all ? cross : NULL, kicked);
        if (all) put_matrix(m, cross, c->cross + i * m * m);
        if (all) put_matrix(m, kicked, c->kicked + i * m * m);
        put_place(c, m, i, at, wish);
    }
    c->bending = bending;
}

/* (sqrt(h) D(h) C)^-1, which turns what is left of a state into the kick. */
static void unkick(const gram_chain *c, double h, double (*out)[M])
{
    for (int k = 0; k < c->m; k++)
        for (int j = 0; j < c->m; j++) out[k][j] = c->order.inverse[k][j] * pow(h, -j - 0.5);
}

/* The first gap of a circle, from the border to s_2, which `at` has now: the kick is what is left of s_2 - F s_1. A circle starts with
 * its widest gap, where these differences are least of a loss. */
static void end_circle(gram_chain *c, carried *at, gram_chain_wish wish)
{
    const int m = c->m;
    double forth[M][M], back[M][M], left[M] = {0}, cross[M][M], kicked[M][M], work[M][M] = {{0}}, other[M][M];
    taylor(m, c->gap[0], forth);
    unkick(c, c->gap[0], back);
    for (int k = 0; k < m; k++) {
        left[k] = at->state[k];
        for (int j = 0; j <= k; j++) left[k] -= forth[k][j] * at->border[j];
    }
    for (int k = 0; k < m; k++) {
        c->kick[k] = 0;
        for (int j = 0; j <= k; j++) c->kick[k] += back[k][j] * left[j];
        c->bending += c->kick[k] * c->kick[k];
    }
    /* cov(s_1, left) = with' - Pb F', cov(left) = P - with F' - F with' + F Pb F' */
    memset(other, 0, sizeof other);
    multiply_turned(m, at->of_border, forth, other);
    for (int k = 0; k < m; k++)
        for (int j = 0; j < m; j++) other[k][j] = at->with[j][k] - other[k][j];
    multiply_turned(m, at->with, forth, work);
    multiply(m, forth, other, kicked, 0);
    for (int k = 0; k < m; k++)
        for (int j = 0; j < m; j++) work[k][j] = at->p[k][j] - work[k][j] - kicked[k][j];
    memset(cross, 0, sizeof cross);
    multiply_turned(m, other, back, cross);
    multiply(m, back, work, other, 0);
    memset(kicked, 0, sizeof kicked);
    multiply_turned(m, other, back, kicked);
    if (wish >= GRAM_CHAIN_EVERYWHERE) put_matrix(m, cross, c->cross), put_matrix(m, kicked, c->kicked);
    memcpy(at->state, at->border, sizeof at->state);
    memcpy(at->p, at->of_border, sizeof at->p);
    put_place(c, m, 0, at, wish);
}

/* Each order by itself, so that loops have lengths that the compiler knows. */
static gram_status go_by_order(gram_context *context, gram_chain *c, const double *w, const double *y,
                               double (*r)[JOINT + 1])
{
    switch (2 * c->m + c->periodic) {
    case 2: return go(context, c, 1, 0, w, y, r);
    case 3: return go(context, c, 1, 1, w, y, r);
    case 4: return go(context, c, 2, 0, w, y, r);
    case 5: return go(context, c, 2, 1, w, y, r);
    default: return go(context, c, c->m, c->periodic, w, y, r);
    }
}

static void come_by_order(gram_chain *c, carried *at, gram_chain_wish wish)
{
    switch (2 * c->m + c->periodic) {
    case 2: come_back(c, 1, 0, at, wish); break;
    case 3: come_back(c, 1, 1, at, wish); break;
    case 4: come_back(c, 2, 0, at, wish); break;
    case 5: come_back(c, 2, 1, at, wish); break;
    default: come_back(c, c->m, c->periodic, at, wish);
    }
}

gram_status gram_chain_solve(gram_context *context, gram_chain *chain, double alpha, const double *w, const double *y,
                             gram_chain_wish wish)
{
    gram_status status = GRAM_OK;
    double r[JOINT][JOINT + 1];
    carried at = {.state = {0}};
    chain->alpha = alpha / pow(chain->unit, 2 * chain->m - 1);
    FAIL_IF(!(chain->alpha > 0 && isfinite(chain->alpha)), context, GRAM_ERROR_NUMERICAL,
            "spline_fit: n lambda = %.6g is lost over a range of %.6g", alpha, chain->unit);
    TRY(go_by_order(context, chain, w, y, r));
    FAIL_IF(!finish(chain, r, at.state, at.p, &chain->log_root), context, GRAM_ERROR_NUMERICAL,
            "spline_fit: the places are so near one another that nothing can be told of a slope");
    if (chain->periodic) {
        memcpy(at.border, at.state, sizeof at.border);
        memcpy(at.with, at.p, sizeof at.p);
        memcpy(at.of_border, at.p, sizeof at.p);
    }
    come_by_order(chain, &at, wish);
    if (chain->periodic) end_circle(chain, &at, wish);
    chain->bending *= chain->alpha;
    FAIL_IF(!isfinite(chain->bending) || !isfinite(chain->log_root) || !isfinite(chain->state[chain->m - 1]), context,
            GRAM_ERROR_NUMERICAL, "spline_fit: numbers overflow with n lambda = %.6g", alpha);
done:
    return status;
}

/* ---- making ---- */

static gram_status take_arrays(gram_context *context, gram_chain *c)
{
    gram_status status = GRAM_OK;
    const int64_t m = c->m, n = c->n, size = step_size(c->m, c->periodic ? 2 * c->m : c->m);
    TRY(gram_take(context, "spline: gaps", n, sizeof *c->gap, (void **)&c->gap));
    TRY(gram_take(context, "spline: steps", n * size, sizeof *c->steps, (void **)&c->steps));
    TRY(gram_take(context, "spline: states", n * m, sizeof *c->state, (void **)&c->state));
    TRY(gram_take(context, "spline: kicks", n * m, sizeof *c->kick, (void **)&c->kick));
    if (c->wish >= GRAM_CHAIN_SPREAD)
        TRY(gram_take(context, "spline: variances", n, sizeof *c->spread, (void **)&c->spread));
    if (c->wish >= GRAM_CHAIN_EVERYWHERE) {
        TRY(gram_take(context, "spline: variances", n * m * m, sizeof *c->variance, (void **)&c->variance));
        TRY(gram_take(context, "spline: variances", n * m * m, sizeof *c->cross, (void **)&c->cross));
        TRY(gram_take(context, "spline: variances", n * m * m, sizeof *c->kicked, (void **)&c->kicked));
    }
done:
    return status;
}

gram_status gram_chain_make(gram_context *context, int m, int64_t n, const double *t, double period,
                            gram_chain_wish wish, gram_chain *chain)
{
    gram_status status = GRAM_OK;
    *chain = (gram_chain){.memory = context->memory, .m = m, .periodic = period > 0, .n = n, .wish = wish};
    chain->gaps = chain->periodic ? n : n - 1;
    chain->unit = chain->periodic ? period : t[n - 1] - t[0];
    if (!(chain->unit > 0)) chain->unit = 1;
    make_order(m, &chain->order);
    TRY(take_arrays(context, chain));
    for (int64_t i = 0; i + 1 < n; i++) chain->gap[i] = (t[i + 1] - t[i]) / chain->unit;
    if (chain->periodic) chain->gap[n - 1] = (t[0] + period - t[n - 1]) / chain->unit;
done:
    return status;
}

void gram_chain_free(gram_chain *chain)
{
    double *const arrays[] = {chain->gap,    chain->steps,    chain->state, chain->kick,
                              chain->spread, chain->variance, chain->cross, chain->kicked};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (arrays[i]) gram_memory_give(chain->memory, arrays[i]);
    *chain = (gram_chain){0};
}

/* ---- the function ---- */

void gram_chain_pieces(const gram_chain *chain, double *pieces)
{
    const int m = chain->m;
    for (int64_t i = 0; i < chain->n; i++) {
        double *piece = pieces + i * 2 * m, unit = 1;
        for (int k = 0; k < m; k++, unit *= chain->unit) piece[k] = chain->state[i * m + m - 1 - k] / unit;
        for (int p = 0; p < m; p++, unit *= chain->unit) {
            double sum = 0;
            for (int k = 0; k < m && i < chain->gaps; k++) sum += chain->order.pieces[p][k] * chain->kick[i * m + k];
            piece[m + p] = i < chain->gaps ? sum / (sqrt(chain->gap[i]) * pow(chain->gap[i], p) * unit) : 0;
        }
    }
}

/* ---- variances between the places ---- */

/* The inverse of the covariance of a gap of length h. */
static void gap_information(const gram_chain *c, double h, double (*out)[M])
{
    const int m = c->m;
    for (int k = 0; k < m; k++)
        for (int j = 0; j < m; j++) {
            double sum = 0;
            for (int l = k > j ? k : j; l < m; l++) sum += c->order.inverse[l][k] * c->order.inverse[l][j];
            out[k][j] = sum / (h * pow(h, k + j));
        }
}

/* The inverse of a positive definite matrix, scaled to a diagonal of 1 first. */
static void invert(int m, double (*a)[M])
{
    double scale[M], root[M][M] = {{0}}, inverse[M][M] = {{0}};
    for (int k = 0; k < m; k++) scale[k] = 1 / sqrt(a[k][k]);
    for (int k = 0; k < m; k++)
        for (int j = 0; j <= k; j++) {
            double sum = a[k][j] * scale[k] * scale[j];
            for (int l = 0; l < j; l++) sum -= root[k][l] * root[j][l];
            root[k][j] = j < k ? sum / root[j][j] : sqrt(sum > 1e-16 ? sum : 1e-16);
        }
    for (int j = 0; j < m; j++)
        for (int k = j; k < m; k++) {
            double sum = j == k;
            for (int l = j; l < k; l++) sum -= root[k][l] * inverse[l][j];
            inverse[k][j] = sum / root[k][k];
        }
    for (int k = 0; k < m; k++)
        for (int j = 0; j < m; j++) {
            a[k][j] = 0;
            for (int l = k > j ? k : j; l < m; l++) a[k][j] += inverse[l][k] * inverse[l][j];
            a[k][j] *= scale[k] * scale[j];
        }
}

/* left' X right with X m x m stored without gaps. */
static double quadratic(int m, const double *left, const double *matrix, const double *right)
{
    double sum = 0;
    for (int k = 0; k < m; k++)
        for (int j = 0; j < m; j++) sum += left[k] * matrix[k * m + j] * right[j];
    return sum;
}

/* Entry k of the covariance of the state at u given those at both ends of a gap, over 1/alpha: C^-1 = Q(u)^-1 + F(w)'Q(w)^-1 F(w), u and w
 * the distances to the ends, Q the covariance of a gap. */
static double bridge(const gram_chain *c, double u, double w, int k)
{
    const int m = c->m;
    double both[M][M], far[M][M], forth[M][M], drop[M][M];
    gap_information(c, u, both);
    gap_information(c, w, far);
    taylor(m, w, forth);
    for (int r = 0; r < m; r++)
        for (int j = 0; j < m; j++) {
            drop[r][j] = 0;
            for (int l = r; l < m; l++) drop[r][j] += forth[l][r] * far[l][j];
        }
    multiply(m, drop, forth, both, 1);
    invert(m, both);
    return both[k][k];
}

/* Inside of a gap: with p_j the orthonormal polynomials that kicks are coefficients of,
 *
 *     s(u)_k = (F(u) s_i)_k + sum_j v_j int_0^u (u - z)^k/k! p_j(z/h)/sqrt(h) dz + bridge,
 *
 * three parts of which the last is independent of the others; no weight is divided by the gap. */
static double variance_inside(const gram_chain *c, int64_t i, double u, int k)
{
    const int m = c->m;
    const double h = c->gap[i];
    double forth[M][M], b[M] = {0};
    taylor(m, u, forth);
    for (int j = 0; j < m; j++) { /* Taylor's series of p_j at 0, integrated k + 1 times */
        double power = pow(u, k + 1) / (sqrt(h) * factorial(k + 1));
        for (int p = 0; p < m; p++, power *= u / (h * (k + 1 + p))) b[j] += c->order.pieces[p][j] * power;
    }
    return quadratic(m, forth[k], c->variance + i * m * m, forth[k]) +
           2 * quadratic(m, forth[k], c->cross + i * m * m, b) + quadratic(m, b, c->kicked + i * m * m, b) +
           bridge(c, u, h - u, k) / c->alpha;
}

/* Beyond an end of a line: s moved on by a distance, with the variance of the way. */
static double variance_outside(const gram_chain *c, int64_t i, double distance, int k)
{
    const int m = c->m;
    double forth[M][M], root[M][M], sum;
    taylor(m, distance, forth);
    scaled(m, fabs(distance), c->order.root, root);
    sum = quadratic(m, forth[k], c->variance + i * m * m, forth[k]);
    for (int j = 0; j <= k; j++) sum += root[k][j] * root[k][j] / c->alpha;
    return sum;
}

double gram_chain_variance(const gram_chain *chain, int64_t i, double along, int r)
{
    const int m = chain->m, k = m - 1 - r;
    const double u = along / chain->unit, scale = pow(chain->unit, -2 * r);
    double v;
    if (i < 0)
        v = variance_outside(chain, 0, u, k);
    else if (i >= chain->gaps)
        v = variance_outside(chain, chain->n - 1, u, k);
    else if (!(u > 1e-14 * chain->gap[i]))
        v = chain->variance[(i * m + k) * m + k];
    else if (!(chain->gap[i] - u > 1e-14 * chain->gap[i]))
        v = chain->variance[((i + 1 < chain->n ? i + 1 : 0) * m + k) * m + k];
    else
        v = variance_inside(chain, i, u, k);
    return scale * (v > 0 ? v : 0);
}
