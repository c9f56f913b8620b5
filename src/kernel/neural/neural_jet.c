/* Second derivatives of nngp and ntk by the inputs: d2k/dx dy'. The kernel is a function of x.y, |x|^2 and |y|^2, so that its gradients lie in
 * the plane of x and y. With g = dS_xy and h = dS_xx or dS_yy of the layer below, D = d2S_xy/dx dy', and t the angle of the pair,
 *
 *   relu   u_x = g_x/R - (cos t/2) h_x/S_xx, which is -sin t dt/dx, R = sqrt(S_xx S_yy), and u_y likewise:
 *          d2E = E' D + R u_x u_y'/(2 pi sin t) + sin t h_x h_y'/(8 pi R)
 *   erf    c = 2 S_xy/sqrt(X Y), X = 1 + 2 S_xx, Y = 1 + 2 S_yy, u_x = dc/dx = 2 g_x/sqrt(X Y) - c h_x/X, E = (2/pi) asin c:
 *          d2E = (2/pi) (c u_x u_y'/(1 - c^2) + d2c)/sqrt(1 - c^2),
 *          d2c = 2 D/sqrt(X Y) - u_x h_y'/Y - h_x u_y'/X - c h_x h_y'/(X Y)
 *
 * Where points are nearly parallel the derivatives of relu's E by x.y and the norms grow like 1/t, and cancel. u_x u_y'/sin t does
 * not: u is a sum of two vectors that is of the order of t, with an error of the order of rounding, and so is the quotient's. Hence
 * vectors in the plane are written as a n_x + b x with n_x = y - (x.y/|x|^2) x, which is small too. */
#include <math.h>
#include <string.h>

#include "kernel/coordinate_products.h"
#include "kernel/neural/neural_layers.h"

/* A function of a pair: gradients in the bases (n_x, x) and (n_y, y), and the second derivative own I + (n_x x) both (n_y y)'. */
typedef struct plane {
    double x[2], y[2], own, both[2][2];
} plane;

/* A pair on its way: S_xy and T, and the factors of x in dS_xx and of y in dS_yy. */
typedef struct pair {
    plane s, t;
    double h_x, h_y;
} pair;

/* second += f a b' */
static void add_outer(double f, const double *a, const double *b, plane *p)
{
    for (int k = 0; k < 2; k++)
        for (int l = 0; l < 2; l++) p->both[k][l] += f * a[k] * b[l];
}

/* second = f second */
static void scale_second(double f, plane *p)
{
    p->own *= f;
    for (int k = 0; k < 2; k++)
        for (int l = 0; l < 2; l++) p->both[k][l] *= f;
}

/* second += f that of q */
static void add_second(double f, const plane *q, plane *p)
{
    p->own += f * q->own;
    for (int k = 0; k < 2; k++)
        for (int l = 0; l < 2; l++) p->both[k][l] += f * q->both[k][l];
}

/* Angles below this are rounding alone, and u with them. */
static const double LEAST_SINE = 1e-15;

static void relu_pair(const gram_neural *net, double xx, double yy, gram_neural_angle a, pair *p)
{
    const double w2 = net->w2, root = sqrt(xx) * sqrt(yy), along = a.sine * (0.25 / GRAM_NEURAL_PI) * root;
    const double h_x[2] = {0, p->h_x}, h_y[2] = {0, p->h_y};
    double u_x[2], u_y[2];
    for (int k = 0; k < 2; k++) {
        u_x[k] = p->s.x[k] / root - 0.5 * a.cosine * h_x[k] / xx;
        u_y[k] = p->s.y[k] / root - 0.5 * a.cosine * h_y[k] / yy;
        p->s.x[k] = w2 * (a.slope * p->s.x[k] + along / xx * h_x[k]);
        p->s.y[k] = w2 * (a.slope * p->s.y[k] + along / yy * h_y[k]);
    }
    scale_second(w2 * a.slope, &p->s);
    if (a.sine > LEAST_SINE) add_outer(w2 * (0.5 / GRAM_NEURAL_PI) * root / a.sine, u_x, u_y, &p->s);
    add_outer(w2 * (0.125 / GRAM_NEURAL_PI) * a.sine / root, h_x, h_y, &p->s);
    p->h_x *= 0.5 * w2;
    p->h_y *= 0.5 * w2;
}

/* What E' = 4/(pi r) adds to T: r^2 = X Y - 4 S_xy^2, e being E' and its derivatives */
static plane erf_slope_plane(const pair *p, double x, double y, double xy, double square, double slope)
{
    plane e = {.own = 4 * slope * xy / square * p->s.own};
    const double h_x[2] = {0, p->h_x}, h_y[2] = {0, p->h_y};
    double by_x[2], by_y[2]; /* of r^2 */
    for (int k = 0; k < 2; k++) {
        by_x[k] = 2 * y * h_x[k] - 8 * xy * p->s.x[k];
        by_y[k] = 2 * x * h_y[k] - 8 * xy * p->s.y[k];
        e.x[k] = -0.5 * slope / square * by_x[k];
        e.y[k] = -0.5 * slope / square * by_y[k];
    }
    for (int k = 0; k < 2; k++)
        for (int l = 0; l < 2; l++) e.both[k][l] = 4 * slope * xy / square * p->s.both[k][l];
    add_outer(0.75 * slope / (square * square), by_x, by_y, &e);
    add_outer(-2 * slope / square, h_x, h_y, &e);
    add_outer(4 * slope / square, p->s.x, p->s.y, &e);
    return e;
}

/* S_xy of the next layer, from that below */
static void erf_covariance(double w2, double x, double y, double xy, double square, pair *p)
{
    const double root = sqrt(x) * sqrt(y), c = 2 * xy / root, rest = square / (x * y); /* 1 - c^2 */
    const double factor = w2 * (2 / GRAM_NEURAL_PI) / sqrt(rest), h_x[2] = {0, p->h_x}, h_y[2] = {0, p->h_y};
    double u_x[2], u_y[2];
    for (int k = 0; k < 2; k++) {
        u_x[k] = 2 * p->s.x[k] / root - c * h_x[k] / x;
        u_y[k] = 2 * p->s.y[k] / root - c * h_y[k] / y;
        p->s.x[k] = factor * u_x[k];
        p->s.y[k] = factor * u_y[k];
    }
    scale_second(2 * factor / root, &p->s);
    add_outer(factor * c / rest, u_x, u_y, &p->s);
    add_outer(-factor / y, u_x, h_y, &p->s);
    add_outer(-factor / x, h_x, u_y, &p->s);
    add_outer(-factor * c / (x * y), h_x, h_y, &p->s);
}

static void erf_pair(const gram_neural *net, double xx, double yy, double xy, double det, double t, pair *p)
{
    const double w2 = net->w2, x = 1 + 2 * xx, y = 1 + 2 * yy, square = 1 + 2 * (xx + yy) + 4 * det;
    const double slope = 4 / (GRAM_NEURAL_PI * sqrt(square));
    const plane e = erf_slope_plane(p, x, y, xy, square, slope);
    erf_covariance(w2, x, y, xy, square, p);
    scale_second(w2 * slope, &p->t);
    add_outer(w2, p->t.x, e.y, &p->t);
    add_outer(w2, e.x, p->t.y, &p->t);
    add_second(w2 * t, &e, &p->t);
    add_second(1, &p->s, &p->t);
    for (int k = 0; k < 2; k++) {
        p->t.x[k] = p->s.x[k] + w2 * (slope * p->t.x[k] + t * e.x[k]);
        p->t.y[k] = p->s.y[k] + w2 * (slope * p->t.y[k] + t * e.y[k]);
    }
    p->h_x *= w2 * gram_neural_erf_square_rate(xx);
    p->h_y *= w2 * gram_neural_erf_square_rate(yy);
}

/* Layer 0: S = T = sb^2 + input x.y */
static pair begin(const gram_neural *net, double c, double e)
{
    const double in = net->input;
    const plane first = {.x = {in, in * c}, .y = {in, in * e}, .own = in};
    return (pair){.s = first, .t = first, .h_x = 2 * in, .h_y = 2 * in};
}

static void write(const plane *p, double value, int j, gram_plane_jet *out)
{
    out->value[j] = value;
    out->own[j] = p->own;
    for (int k = 0; k < 2; k++) {
        out->by_x[k][j] = p->x[k];
        out->by_y[k][j] = p->y[k];
        for (int l = 0; l < 2; l++) out->both[k][l][j] = p->both[k][l];
    }
}

static void next_pair(const gram_neural *net, const gram_neural_columns *y, const gram_neural_row *s, int j, pair *p)
{
    if (net->act == GRAM_NEURAL_RELU)
        relu_pair(net, s->x.square, y->square[j], gram_neural_angle_of(s->minus[j], s->rest[j]), p);
    else
        erf_pair(net, s->x.square, y->square[j], s->xy[j], s->rest[j], s->t[j], p);
}

/* LANES columns at a time, whose pairs fit on the stack. */
static void jet_of_lanes(const gram_neural *net, const gram_vecmath_f64 *v, const gram_coords_block *block, int i,
                         int first, gram_plane_jet *out)
{
    enum { LANES = GRAM_LANES };
    gram_coords_block some = *block;
    gram_neural_columns y;
    gram_neural_row s;
    pair pairs[LANES];
    _Alignas(64) double dots[LANES]; /* vector math loads them */
    memcpy(dots, block->dots + i * block->columns + first, sizeof dots);
    some.y += first;
    some.y_norms += first;
    some.x += i;
    some.x_norms += i;
    some.dots = dots;
    some.rows = 1;
    some.columns = LANES;
    gram_neural_columns_begin(net, v, &some, &y);
    gram_neural_begin(net, v, &some, &y, 0, &s);
    for (int j = 0; j < LANES; j++) pairs[j] = begin(net, out->x_share[first + j], out->y_share[first + j]);
    for (int layer = 0; layer < net->depth; layer++) {
        for (int j = 0; j < LANES; j++) next_pair(net, &y, &s, j, &pairs[j]);
        gram_neural_columns_next(net, v, &y);
        gram_neural_layer(net, v, &y, &s);
    }
    for (int j = 0; j < LANES; j++)
        write(net->tangent ? &pairs[j].t : &pairs[j].s, net->tangent ? s.t[j] : s.xy[j], first + j, out);
}

void gram_neural_jet(const gram_neural *net, const gram_vecmath_f64 *v, const gram_coords_block *block, int i,
                     gram_plane_jet *out)
{
    for (int j = 0; j < block->columns; j++) {
        const double dot = block->dots[i * block->columns + j], x_norm = block->x_norms[i], y_norm = block->y_norms[j];
        out->x_share[j] = x_norm > 0 ? dot / x_norm : 0;
        out->y_share[j] = y_norm > 0 ? dot / y_norm : 0;
    }
    for (int first = 0; first < block->columns; first += GRAM_LANES) jet_of_lanes(net, v, block, i, first, out);
}
