/* nngp(depth, act, sw, sb, fan) and ntk(...): what a fully connected network of infinite width and `depth` hidden layers is
 * at random (its covariance) and while gradient descent trains it (its tangent kernel). With (u, v) Gaussian of covariance S,
 *
 *   S_0 = sb^2 + sw^2 x.y/fan,    S_l = sb^2 + sw^2 E[act(u) act(v)],    T_0 = S_0,    T_l = S_l + sw^2 T_(l-1) E[act'(u) act'(v)]
 *
 * nngp = S_depth, ntk = T_depth. S stands for S(x,x), S(y,y) and S(x,y), which go through the layers together. In closed form,
 * t being the angle of the pair, cos t = S_xy/sqrt(S_xx S_yy) (Cho and Saul 2009; Williams 1997; Jacot, Gabriel, Hongler 2018),
 *
 *   relu   E = sqrt(S_xx S_yy) (sin t + (pi - t) cos t)/(2 pi),    E' = (pi - t)/(2 pi)
 *   erf    E = (2/pi) atan2(2 S_xy, r),   E' = 4/(pi r),   r^2 = (1 + 2 S_xx)(1 + 2 S_yy) - 4 S_xy^2
 *
 * Near t = 0 and t = pi an arc cosine of a rounded cosine has lost half of its digits, and E' with it. So what goes through
 * the layers of relu is q = tan^2(t/2) = (1 - cos t)/(1 + cos t), and both parts of that quotient are sums of positive terms:
 * with a, b the parts of S_xx and S_yy from below, g = sqrt(a b), A = a + sb^2, B = b + sb^2 and c the cosine from below,
 *
 *   sqrt(A B) - (sb^2 + g c) = sb^2 (sqrt a - sqrt b)^2/(sqrt(A B) + sb^2 + g) + g (1 - c)
 *
 * r^2 of the first layer of erf is 1 + 2 (S_xx + S_yy) + 4 det S, det S likewise; later S are bounded, and nothing is lost.
 * The angle of x and y themselves comes from their inner product, and from x/|x| - y/|y| where they are nearly parallel. */
#include <math.h>
#include <string.h>

#include "kernel/coordinate_products.h"
#include "kernel/family_facts.h"

enum { DEPTH, ACT, SW, SB, FAN, SPECS };
enum { RELU, ERF };
enum { MOST_LAYERS = 1000 };

static const char *const ACTIVATIONS[] = {"relu", "erf", NULL};
static const double PI = 3.14159265358979323846;

typedef struct network {
    int depth, act, tangent; /* tangent: ntk */
    double w2, b2;           /* sw^2, sb^2 */
    double input;            /* sw^2/fan */
} network;

static network network_of(const gram_shape *shape, int tangent)
{
    const double *par = shape->par;
    return (network){.depth = (int)par[DEPTH],
                     .act = (int)par[ACT],
                     .tangent = tangent,
                     .w2 = par[SW] * par[SW],
                     .b2 = par[SB] * par[SB],
                     .input = par[SW] * par[SW] / par[FAN]};
}

/* ---- the angle of two points ---- */

/* cosines beyond this one are made again */
static const double NEARLY_PARALLEL = 0.9995;

/* tan^2(t/2) from x/|x| - y/|y|, or their sum: exactly 0 for equal points */
static double careful_tangent(const gram_coords_block *block, int i, int j, double x_inverse, double y_inverse,
                              double cosine)
{
    const double sign = cosine > 0 ? -1 : 1;
    double sum = 0;
    for (int64_t l = 0; l < block->d; l++) {
        const double part = gram_coords_x(block, l, i) * x_inverse + sign * (gram_coords_y(block, l)[j] * y_inverse);
        sum += part * part;
    }
    const double near = 0.5 * sum, far = 2 - near; /* 1 - |cos t| and 1 + |cos t| */
    return cosine > 0 ? near / far : far / fmax(near, 1e-300);
}

/* ---- one row through the layers ---- */

/* What a block's points y bring to the first layer; TINY is added to what is 0 only where a point is, so that rows can be
 * divided without a branch. */
typedef struct column_terms {
    _Alignas(64) double inverse[GRAM_BLOCK_COLUMNS];         /* 1/|y|, 0 for y = 0 */
    double root_b[GRAM_BLOCK_COLUMNS];                       /* sqrt(b), b the part of S(y,y) without the bias */
    double yy[GRAM_BLOCK_COLUMNS], root[GRAM_BLOCK_COLUMNS]; /* S(y,y) and its root */
} column_terms;

static const double TINY = 1e-300;

/* One point x against n points y. */
typedef struct row_state {
    _Alignas(64) double yy[GRAM_BLOCK_COLUMNS]; /* S(y,y) */
    double root[GRAM_BLOCK_COLUMNS];            /* its root */
    double xy[GRAM_BLOCK_COLUMNS];              /* S(x,y) */
    double rest[GRAM_BLOCK_COLUMNS];            /* relu: q = tan^2(t/2); erf: det S */
    double t[GRAM_BLOCK_COLUMNS];               /* T(x,y) */
    double work[GRAM_BLOCK_COLUMNS], slope[GRAM_BLOCK_COLUMNS];
    double xx; /* S(x,x) */
    int n;
} row_state;

static void make_column_terms(const network *net, const gram_coords_block *block, column_terms *y)
{
    for (int j = 0; j < block->columns; j++) {
        const double norm = block->y_norms[j], b = net->input * norm;
        y->inverse[j] = norm > 0 ? 1 / sqrt(norm) : 0;
        y->root_b[j] = sqrt(b);
        y->yy[j] = net->b2 + b;
        y->root[j] = sqrt(y->yy[j]);
    }
}

/* rest_j = q of row i with all columns; 1, a right angle, with a point that is 0 */
static void row_tangents(const gram_coords_block *block, const column_terms *y, int i, row_state *s)
{
    const double x_norm = block->x_norms[i], x_inverse = x_norm > 0 ? 1 / sqrt(x_norm) : 0;
    const double *dots = block->dots + i * block->columns;
    double largest = 0;
    for (int j = 0; j < s->n; j++) {
        const double cosine = dots[j] * (x_inverse * y->inverse[j]), size = fabs(cosine);
        s->work[j] = cosine;
        s->rest[j] = (1 - cosine) / (1 + cosine);
        largest = size > largest ? size : largest;
    }
    for (int j = 0; j < s->n && largest > NEARLY_PARALLEL; j++)
        if (fabs(s->work[j]) > NEARLY_PARALLEL)
            s->rest[j] = careful_tangent(block, i, j, x_inverse, y->inverse[j], s->work[j]);
}

/* What a layer makes of the roots of a and b, of sqrt(A B), and of 1 - c and 1 + c: q of the new angle */
static inline double next_tangent(double b2, double root_a, double root_b, double root, double one_minus,
                                  double one_plus)
{
    const double g = root_a * root_b, difference = root_a - root_b;
    const double minus = b2 * difference * difference / (root + b2 + g + TINY) + g * one_minus;
    const double plus = root - g + b2 + g * one_plus;
    return minus / (plus + TINY);
}

static void first_layer(const network *net, const gram_coords_block *block, const column_terms *y, int i, row_state *s)
{
    const double a = net->input * block->x_norms[i], root_a = sqrt(a), b2 = net->b2;
    s->n = block->columns;
    s->xx = b2 + a;
    const double root_x = sqrt(s->xx);
    row_tangents(block, y, i, s);
    for (int j = 0; j < s->n; j++) {
        const double q = s->rest[j], share = 1 / (1 + q), minus = 2 * q * share, plus = 2 * share;
        const double g = root_a * y->root_b[j], difference = root_a - y->root_b[j];
        s->yy[j] = y->yy[j];
        s->root[j] = y->root[j];
        s->xy[j] = s->t[j] = b2 + g * (plus - 1);
        s->work[j] = next_tangent(b2, root_a, y->root_b[j], root_x * y->root[j], minus, plus);
        s->slope[j] = b2 * (difference * difference + 2 * g * minus) + g * g * (minus * plus);
    }
    memcpy(s->rest, net->act == RELU ? s->work : s->slope, (size_t)s->n * sizeof(double));
}

static void relu_layer(const network *net, const gram_vecmath_f64 *v, row_state *s)
{
    const double half = 0.5 * net->w2, root_half = sqrt(half), b2 = net->b2, w2 = net->w2;
    const double root_a = root_half * sqrt(s->xx), next_xx = b2 + half * s->xx, root_x = sqrt(next_xx);
    for (int j = 0; j < s->n; j++) s->slope[j] = sqrt(s->rest[j]);
    v->atan(s->n, s->slope, s->work);
    for (int j = 0; j < s->n; j++) {
        const double q = s->rest[j], t = 2 * s->work[j], share = 1 / (1 + q);
        const double cosine = 1 - 2 * q * share, sine = 2 * s->slope[j] * share;
        const double root_b = root_half * s->root[j], next_yy = b2 + half * s->yy[j], root_y = sqrt(next_yy);
        const double kappa = (sine + (PI - t) * cosine) * (1 / PI);
        const double minus = 2 * q * share - (sine - t * cosine) * (1 / PI);
        s->xy[j] = b2 + root_a * root_b * kappa;
        s->t[j] = s->xy[j] + w2 * s->t[j] * ((PI - t) * (0.5 / PI));
        s->yy[j] = next_yy;
        s->root[j] = root_y;
        s->rest[j] = next_tangent(b2, root_a, root_b, root_x * root_y, minus, 1 + kappa);
    }
    s->xx = next_xx;
}

/* What E of a point with itself is 2/pi times the arc tangent of. */
static inline double erf_square_tangent(double s)
{
    return 2 * s / sqrt(1 + 4 * s);
}

/* S(x,x) by the same arc tangent as S(y,y), so that k(x,y) = k(y,x) */
static double erf_next_square(const network *net, const gram_vecmath_f64 *v, double xx)
{
    _Alignas(64) double angle[GRAM_LANES];
    v->fill(GRAM_LANES, erf_square_tangent(xx), angle);
    v->atan(GRAM_LANES, angle, angle);
    return net->b2 + net->w2 * (2 / PI) * angle[0];
}

static void erf_layer(const network *net, const gram_vecmath_f64 *v, row_state *s)
{
    const double next_xx = erf_next_square(net, v, s->xx);
    for (int j = 0; j < s->n; j++) {
        const double r = sqrt(1 + 2 * (s->xx + s->yy[j]) + 4 * s->rest[j]);
        s->work[j] = 2 * s->xy[j] / r;
        s->slope[j] = 4 / (PI * r);
    }
    v->atan(s->n, s->work, s->work);
    for (int j = 0; j < s->n; j++) {
        s->xy[j] = net->b2 + net->w2 * (2 / PI) * s->work[j];
        s->t[j] = s->xy[j] + net->w2 * s->t[j] * s->slope[j];
        s->work[j] = erf_square_tangent(s->yy[j]);
    }
    v->atan(s->n, s->work, s->work);
    for (int j = 0; j < s->n; j++) {
        s->yy[j] = net->b2 + net->w2 * (2 / PI) * s->work[j];
        s->rest[j] = fmax(0, next_xx * s->yy[j] - s->xy[j] * s->xy[j]);
    }
    s->xx = next_xx;
}

static void values(const network *net, const gram_vecmath_f64 *v, const gram_coords_block *block, double *out)
{
    column_terms y;
    row_state s;
    make_column_terms(net, block, &y);
    for (int i = 0; i < block->rows; i++) {
        first_layer(net, block, &y, i, &s);
        for (int layer = 0; layer < net->depth; layer++) (net->act == RELU ? relu_layer : erf_layer)(net, v, &s);
        v->affine(s.n, 1, 0, net->tangent ? s.t : s.xy, out + i * s.n);
    }
}

static void nngp_coords(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, double *out)
{
    const network net = network_of(shape, 0);
    values(&net, v, block, out);
}

static void ntk_coords(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, double *out)
{
    const network net = network_of(shape, 1);
    values(&net, v, block, out);
}

/* ---- derivatives ---- */

/* How S and T of a row change with one number: forward mode, beside row_state. */
typedef struct row_rates {
    double xx, yy[GRAM_BLOCK_COLUMNS], xy[GRAM_BLOCK_COLUMNS], t[GRAM_BLOCK_COLUMNS];
    double b2, w2; /* of sb^2 and sw^2 */
} row_rates;

/* By which number: the two that are learnt, x.y, and |x|^2. */
typedef enum direction { BY_SW, BY_SB, BY_DOT, BY_NORM } direction;

static void first_rates(const network *net, const gram_shape *shape, const gram_coords_block *block, int i,
                        direction by, row_rates *r)
{
    const double sw = shape->par[SW], sb = shape->par[SB];
    const double input = by == BY_SW ? 2 * sw / shape->par[FAN] : 0;
    r->w2 = by == BY_SW ? 2 * sw : 0;
    r->b2 = by == BY_SB ? 2 * sb : 0;
    r->xx = r->b2 + input * block->x_norms[i] + (by == BY_NORM ? net->input : 0);
    for (int j = 0; j < block->columns; j++) {
        r->yy[j] = r->b2 + input * block->y_norms[j];
        r->xy[j] = r->b2 + input * block->dots[i * block->columns + j] + (by == BY_DOT ? net->input : 0);
        r->t[j] = r->xy[j];
    }
}

/* A layer's E and E' with their rates become those of S and T. */
static void layer_rates(const network *net, double e, double e_rate, double slope, double slope_rate, double t, int j,
                        row_rates *r)
{
    r->xy[j] = r->b2 + r->w2 * e + net->w2 * e_rate;
    r->t[j] = r->xy[j] + r->w2 * t * slope + net->w2 * (r->t[j] * slope + t * slope_rate);
}

/* E' has a kink at t = 0 and pi: so near to them that t is rounding alone its rate is taken as 0. */
static const double LEAST_SINE = 1e-8;

/* E is homogeneous: 2 S_xx dE/dS_xx + S_xy E' = E. */
static void relu_rates(const network *net, const row_state *s, row_rates *r)
{
    for (int j = 0; j < s->n; j++) {
        const double q = s->rest[j], angle = 2 * atan(sqrt(q > 1 ? 1 / q : q)), supplement = q > 1 ? angle : PI - angle;
        const double share = 1 / (1 + q), cosine = q > 1 ? 2 * share - 1 : 1 - 2 * q * share;
        const double sine = 2 * sqrt(q) * share, root = sqrt(s->xx) * sqrt(s->yy[j]), slope = supplement * (0.5 / PI);
        const double by_xx = root > 0 ? root / s->xx * sine * (0.25 / PI) : 0;
        const double by_yy = root > 0 ? root / s->yy[j] * sine * (0.25 / PI) : 0;
        const double turn = root > 0 ? r->xy[j] / root - 0.5 * cosine * (r->xx / s->xx + r->yy[j] / s->yy[j]) : 0;
        layer_rates(net, root * (sine + supplement * cosine) * (0.5 / PI),
                    slope * r->xy[j] + by_xx * r->xx + by_yy * r->yy[j], slope,
                    sine > LEAST_SINE ? turn / sine * (0.5 / PI) : 0, s->t[j], j, r);
        r->yy[j] = r->b2 + 0.5 * (r->w2 * s->yy[j] + net->w2 * r->yy[j]);
    }
    r->xx = r->b2 + 0.5 * (r->w2 * s->xx + net->w2 * r->xx);
}

/* E of a point with itself, and how it changes with S */
static double erf_square(double s)
{
    return 2 / PI * atan(erf_square_tangent(s));
}

static double erf_square_rate(double s)
{
    return 4 / (PI * (1 + 2 * s) * sqrt(1 + 4 * s));
}

static void erf_rates(const network *net, const row_state *s, row_rates *r)
{
    for (int j = 0; j < s->n; j++) {
        const double x = 1 + 2 * s->xx, y = 1 + 2 * s->yy[j], xy = s->xy[j];
        const double square = 1 + 2 * (s->xx + s->yy[j]) + 4 * s->rest[j], slope = 4 / (PI * sqrt(square));
        const double square_rate = 2 * (y * r->xx + x * r->yy[j]) - 8 * xy * r->xy[j];
        layer_rates(net, 2 / PI * atan(2 * xy / sqrt(square)), slope * (r->xy[j] - xy * (r->xx / x + r->yy[j] / y)),
                    slope, -0.5 * slope * square_rate / square, s->t[j], j, r);
        r->yy[j] = r->b2 + r->w2 * erf_square(s->yy[j]) + net->w2 * erf_square_rate(s->yy[j]) * r->yy[j];
    }
    r->xx = r->b2 + r->w2 * erf_square(s->xx) + net->w2 * erf_square_rate(s->xx) * r->xx;
}

/* out_j = the derivative of k(x_i, y_j) */
static void row_derivative(const network *net, const gram_vecmath_f64 *v, const gram_shape *shape,
                           const gram_coords_block *block, int i, direction by, double *out)
{
    column_terms y;
    row_state s;
    row_rates r;
    make_column_terms(net, block, &y);
    first_layer(net, block, &y, i, &s);
    first_rates(net, shape, block, i, by, &r);
    for (int layer = 0; layer < net->depth; layer++) {
        (net->act == RELU ? relu_rates : erf_rates)(net, &s, &r);
        (net->act == RELU ? relu_layer : erf_layer)(net, v, &s);
    }
    for (int j = 0; j < s.n; j++) out[j] = net->tangent ? r.t[j] : r.xy[j];
}

static void parameter_slopes(const network *net, const gram_vecmath_f64 *v, const gram_shape *shape, int spec,
                             const gram_coords_block *block, double *out)
{
    for (int i = 0; i < block->rows; i++)
        row_derivative(net, v, shape, block, i, spec == SW ? BY_SW : BY_SB, out + i * block->columns);
}

/* dk/dx_l = y_l dk/d(x.y) + 2 x_l dk/d|x|^2 */
static void input_slopes(const network *net, const gram_vecmath_f64 *v, const gram_shape *shape,
                         const gram_coords_block *block, int i, double *out)
{
    double by_dot[GRAM_BLOCK_COLUMNS], by_norm[GRAM_BLOCK_COLUMNS];
    const int n = block->columns;
    row_derivative(net, v, shape, block, i, BY_DOT, by_dot);
    row_derivative(net, v, shape, block, i, BY_NORM, by_norm);
    for (int64_t l = 0; l < block->d; l++) {
        const double x = gram_coords_x(block, l, i), *y = gram_coords_y(block, l);
        for (int j = 0; j < n; j++) out[l * n + j] = by_dot[j] * y[j] + 2 * by_norm[j] * x;
    }
}

static void nngp_parameter(const gram_vecmath_f64 *v, const gram_shape *shape, int spec, const gram_coords_block *block,
                           double *out)
{
    const network net = network_of(shape, 0);
    parameter_slopes(&net, v, shape, spec, block, out);
}

static void ntk_parameter(const gram_vecmath_f64 *v, const gram_shape *shape, int spec, const gram_coords_block *block,
                          double *out)
{
    const network net = network_of(shape, 1);
    parameter_slopes(&net, v, shape, spec, block, out);
}

static void nngp_slope(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, int i,
                       double *out)
{
    const network net = network_of(shape, 0);
    input_slopes(&net, v, shape, block, i, out);
}

static void ntk_slope(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, int i,
                      double *out)
{
    const network net = network_of(shape, 1);
    input_slopes(&net, v, shape, block, i, out);
}

/* ---- facts ---- */

/* With sb > 0 the features act(w.x + b) of all w and b are dense in the continuous functions on a compact set (Leshno and
 * others 1993), and a deeper S is a positive multiple of the one before it plus a kernel; T is S plus a kernel. With sb = 0
 * every function of H is 0 at 0; relu's are homogeneous, so that x and 2 x are dependent, erf's are odd, so that x and -x are. */
static void facts_of(const double *par, int64_t d, int tangent, gram_properties *facts)
{
    const int relu = par[ACT] == RELU, bias = par[SB] > 0;
    facts->positive_definite = GRAM_YES;
    facts->stationary = GRAM_NO;
    facts->isotropic = GRAM_NO;
    facts->continuous = GRAM_YES;
    facts->strictly = facts->universal = facts->bounded_below = bias ? GRAM_YES : GRAM_NO;
    if (!bias) facts->characteristic = GRAM_NO;
    facts->rank = relu && !bias && d == 1 ? 2 : GRAM_INFINITE;
    /* E of relu is smooth up to |x - y|^3 and has a kink where a point is 0, E' has one where x and y are parallel */
    facts->derivatives = !relu ? GRAM_INFINITE : bias && !tangent ? 1 : 0;
    facts->sobolev_order = NAN;
}

static void nngp_facts(const double *par, int64_t d, gram_properties *facts)
{
    facts_of(par, d, 0, facts);
}

static void ntk_facts(const double *par, int64_t d, gram_properties *facts)
{
    facts_of(par, d, 1, facts);
}

static gram_answer injective(const double *par, int64_t d)
{
    (void)par, (void)d;
    return GRAM_YES;
}

static const char *rough(const double *par)
{
    return par[ACT] == RELU ? "that of relu has kinks" : "that of erf is not implemented";
}

/* Squares of larger coordinates could not be summed. */
static const char *domain_refuse(const double *par, double coordinate)
{
    (void)par;
    return fabs(coordinate) > 1e140 ? "is too large: its square is not a number" : NULL;
}

#define SPECS_OF_NETWORKS                                                                                              \
    {                                                                                                                  \
        {.name = "depth", .role = GRAM_ROLE_STRUCTURE, .initial = 1, .lower = 1, .upper = MOST_LAYERS, .whole = 1},    \
            {.name = "act",                                                                                            \
             .role = GRAM_ROLE_STRUCTURE,                                                                              \
             .initial = RELU,                                                                                          \
             .lower = RELU,                                                                                            \
             .upper = ERF,                                                                                             \
             .whole = 1,                                                                                               \
             .words = ACTIVATIONS},                                                                                    \
            {.name = "sw",                                                                                             \
             .role = GRAM_ROLE_SHAPE,                                                                                  \
             .initial = 1,                                                                                             \
             .held = 1,                                                                                                \
             .lower = 0,                                                                                               \
             .lower_open = 1,                                                                                          \
             .upper = INFINITY,                                                                                        \
             .transform = GRAM_TRANSFORM_LOG},                                                                         \
            {.name = "sb",                                                                                             \
             .role = GRAM_ROLE_SHAPE,                                                                                  \
             .initial = 0,                                                                                             \
             .held = 1,                                                                                                \
             .lower = 0,                                                                                               \
             .upper = INFINITY,                                                                                        \
             .transform = GRAM_TRANSFORM_LOG},                                                                         \
        {                                                                                                              \
            .name = "fan", .role = GRAM_ROLE_STRUCTURE, .initial = 1, .lower = 0, .lower_open = 1, .upper = INFINITY   \
        }                                                                                                              \
    }

const gram_kernel_type gram_kernel_nngp = {
    .name = "nngp",
    .formula = "covariance of a random network: S_l = sb^2 + sw^2 E[act(u) act(v)], S_0 = sb^2 + sw^2 x.y/fan",
    .form = GRAM_FORM_COORDS,
    .dots = 1,
    .spec_count = SPECS,
    .specs = SPECS_OF_NETWORKS,
    .facts = nngp_facts,
    .injective = injective,
    .coords = nngp_coords,
    .coords_slope = nngp_slope,
    .coords_parameter_slope = nngp_parameter,
    .rough = rough,
    .domain_refuse = domain_refuse,
};

const gram_kernel_type gram_kernel_ntk = {
    .name = "ntk",
    .formula = "tangent kernel of a wide network: T_l = S_l + sw^2 T_(l-1) E[act'(u) act'(v)], T_0 = S_0",
    .form = GRAM_FORM_COORDS,
    .dots = 1,
    .spec_count = SPECS,
    .specs = SPECS_OF_NETWORKS,
    .facts = ntk_facts,
    .injective = injective,
    .coords = ntk_coords,
    .coords_slope = ntk_slope,
    .coords_parameter_slope = ntk_parameter,
    .rough = rough,
    .domain_refuse = domain_refuse,
};
