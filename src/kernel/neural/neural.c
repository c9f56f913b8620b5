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
 * the layers of relu are 1 - cos t and 1 + cos t, both sums of positive terms: with a, b the parts of S_xx and S_yy from below,
 * g = sqrt(a b), A = a + sb^2, B = b + sb^2 and c the cosine from below, 1 - cos t is
 *
 *   (sqrt(A B) - (sb^2 + g c))/sqrt(A B),    sqrt(A B) - sb^2 - g = sb^2 (sqrt a - sqrt b)^2/(sqrt(A B) + sb^2 + g)
 *
 * r^2 of the first layer of erf is 1 + 2 (S_xx + S_yy) + 4 det S, det S likewise; later S are bounded, and nothing is lost.
 * The angle of x and y themselves comes from their inner product, and from x/|x| - y/|y| where they are nearly parallel. */
#include <math.h>

#include "kernel/coordinate_products.h"
#include "kernel/family_facts.h"
#include "kernel/neural/neural_layers.h"

enum { MOST_LAYERS = 1000 };

static const char *const ACTIVATIONS[] = {"relu", "erf", NULL};

/* Some rows at a time: what a layer does to the columns is done once for them. */
enum { ROWS = 4 };

static void values(const gram_neural *net, const gram_vecmath_f64 *v, const gram_coords_block *block, double *out)
{
    gram_neural_columns y;
    gram_neural_row s[ROWS];
    for (int first = 0; first < block->rows; first += ROWS) {
        const int rows = block->rows - first < ROWS ? block->rows - first : ROWS;
        gram_neural_columns_begin(net, v, block, &y);
        for (int i = 0; i < rows; i++) gram_neural_begin(net, v, block, &y, first + i, &s[i]);
        for (int layer = 0; layer < net->depth; layer++) {
            gram_neural_columns_next(net, v, &y);
            for (int i = 0; i < rows; i++) gram_neural_layer(net, v, &y, &s[i]);
        }
        for (int i = 0; i < rows; i++) v->affine(y.n, 1, 0, net->tangent ? s[i].t : s[i].xy, out + (first + i) * y.n);
    }
}

static void nngp_coords(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, double *out)
{
    const gram_neural net = gram_neural_of(shape, 0);
    values(&net, v, block, out);
}

static void ntk_coords(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, double *out)
{
    const gram_neural net = gram_neural_of(shape, 1);
    values(&net, v, block, out);
}

/* ---- derivatives ---- */

/* How S and T of a row change with one number: forward mode, beside gram_neural_row. */
typedef struct row_rates {
    double xx, yy[GRAM_BLOCK_COLUMNS], xy[GRAM_BLOCK_COLUMNS], t[GRAM_BLOCK_COLUMNS];
    double b2, w2; /* of sb^2 and sw^2 */
} row_rates;

/* By which number: the two that are learnt, x.y, and |x|^2. */
typedef enum direction { BY_SW, BY_SB, BY_DOT, BY_NORM } direction;

static void first_rates(const gram_neural *net, const gram_shape *shape, const gram_coords_block *block, int i,
                        direction by, row_rates *r)
{
    const double sw = shape->par[GRAM_NEURAL_SW], sb = shape->par[GRAM_NEURAL_SB];
    const double input = by == BY_SW ? 2 * sw / shape->par[GRAM_NEURAL_FAN] : 0;
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
static void layer_rates(const gram_neural *net, double e, double e_rate, double slope, double slope_rate, double t,
                        int j, row_rates *r)
{
    r->xy[j] = r->b2 + r->w2 * e + net->w2 * e_rate;
    r->t[j] = r->xy[j] + r->w2 * t * slope + net->w2 * (r->t[j] * slope + t * slope_rate);
}

/* E' has a kink at t = 0 and pi: so near to them that t is rounding alone its rate is taken as 0. */
static const double LEAST_SINE = 1e-8;

/* E is homogeneous: 2 S_xx dE/dS_xx + S_xy E' = E. */
static void relu_rates(const gram_neural *net, const gram_neural_columns *y, const gram_neural_row *s, row_rates *r)
{
    const double xx = s->x.square;
    for (int j = 0; j < y->n; j++) {
        const gram_neural_angle a = gram_neural_angle_of(s->minus[j], s->rest[j]);
        const double yy = y->square[j], root = s->x.root * y->root[j], along = root * a.sine * (0.25 / GRAM_NEURAL_PI);
        const double by_xx = root > 0 ? along / xx : 0, by_yy = root > 0 ? along / yy : 0;
        const double turn = root > 0 ? r->xy[j] / root - 0.5 * a.cosine * (r->xx / xx + r->yy[j] / yy) : 0;
        layer_rates(net, root * (a.sine * (0.5 / GRAM_NEURAL_PI) + a.slope * a.cosine),
                    a.slope * r->xy[j] + by_xx * r->xx + by_yy * r->yy[j], a.slope,
                    a.sine > LEAST_SINE ? turn / a.sine * (0.5 / GRAM_NEURAL_PI) : 0, s->t[j], j, r);
        r->yy[j] = r->b2 + 0.5 * (r->w2 * yy + net->w2 * r->yy[j]);
    }
    r->xx = r->b2 + 0.5 * (r->w2 * xx + net->w2 * r->xx);
}

static void erf_rates(const gram_neural *net, const gram_neural_columns *y, const gram_neural_row *s, row_rates *r)
{
    const double xx = s->x.square;
    for (int j = 0; j < y->n; j++) {
        const double yy = y->square[j], xy = s->xy[j], x_side = 1 + 2 * xx, y_side = 1 + 2 * yy;
        const double square = 1 + 2 * (xx + yy) + 4 * s->rest[j], slope = 4 / (GRAM_NEURAL_PI * sqrt(square));
        const double square_rate = 2 * (y_side * r->xx + x_side * r->yy[j]) - 8 * xy * r->xy[j];
        layer_rates(net, 2 / GRAM_NEURAL_PI * atan(2 * xy / sqrt(square)),
                    slope * (r->xy[j] - xy * (r->xx / x_side + r->yy[j] / y_side)), slope,
                    -0.5 * slope * square_rate / square, s->t[j], j, r);
        r->yy[j] = r->b2 + r->w2 * gram_neural_erf_square(yy) + net->w2 * gram_neural_erf_square_rate(yy) * r->yy[j];
    }
    r->xx = r->b2 + r->w2 * gram_neural_erf_square(xx) + net->w2 * gram_neural_erf_square_rate(xx) * r->xx;
}

/* out_j = the derivative of k(x_i, y_j) */
static void row_derivative(const gram_neural *net, const gram_vecmath_f64 *v, const gram_shape *shape,
                           const gram_coords_block *block, int i, direction by, double *out)
{
    gram_neural_columns y;
    gram_neural_row s;
    row_rates r;
    gram_neural_columns_begin(net, v, block, &y);
    gram_neural_begin(net, v, block, &y, i, &s);
    first_rates(net, shape, block, i, by, &r);
    for (int layer = 0; layer < net->depth; layer++) {
        (net->act == GRAM_NEURAL_RELU ? relu_rates : erf_rates)(net, &y, &s, &r);
        gram_neural_columns_next(net, v, &y);
        gram_neural_layer(net, v, &y, &s);
    }
    for (int j = 0; j < y.n; j++) out[j] = net->tangent ? r.t[j] : r.xy[j];
}

static void parameter_slopes(const gram_neural *net, const gram_vecmath_f64 *v, const gram_shape *shape, int spec,
                             const gram_coords_block *block, double *out)
{
    for (int i = 0; i < block->rows; i++)
        row_derivative(net, v, shape, block, i, spec == GRAM_NEURAL_SW ? BY_SW : BY_SB, out + i * block->columns);
}

/* dk/dx_l = y_l dk/d(x.y) + 2 x_l dk/d|x|^2 */
static void input_slopes(const gram_neural *net, const gram_vecmath_f64 *v, const gram_shape *shape,
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
    const gram_neural net = gram_neural_of(shape, 0);
    parameter_slopes(&net, v, shape, spec, block, out);
}

static void ntk_parameter(const gram_vecmath_f64 *v, const gram_shape *shape, int spec, const gram_coords_block *block,
                          double *out)
{
    const gram_neural net = gram_neural_of(shape, 1);
    parameter_slopes(&net, v, shape, spec, block, out);
}

static void nngp_jet(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, int i,
                     gram_plane_jet *out)
{
    const gram_neural net = gram_neural_of(shape, 0);
    gram_neural_jet(&net, v, block, i, out);
}

static void ntk_jet(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, int i,
                    gram_plane_jet *out)
{
    const gram_neural net = gram_neural_of(shape, 1);
    gram_neural_jet(&net, v, block, i, out);
}

static void nngp_slope(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, int i,
                       double *out)
{
    const gram_neural net = gram_neural_of(shape, 0);
    input_slopes(&net, v, shape, block, i, out);
}

static void ntk_slope(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, int i,
                      double *out)
{
    const gram_neural net = gram_neural_of(shape, 1);
    input_slopes(&net, v, shape, block, i, out);
}

/* ---- facts ---- */

/* With sb > 0 the features act(w.x + b) of all w and b are dense in the continuous functions on a compact set (Leshno and
 * others 1993), and a deeper S is a positive multiple of the one before it plus a kernel; T is S plus a kernel. With sb = 0
 * every function of H is 0 at 0; relu's are homogeneous, so that x and 2 x are dependent, erf's are odd, so that x and -x are. */
static void facts_of(const double *par, int64_t d, int tangent, gram_properties *facts)
{
    const int relu = par[GRAM_NEURAL_ACT] == GRAM_NEURAL_RELU, bias = par[GRAM_NEURAL_SB] > 0;
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

static const char *nngp_rough(const double *par)
{
    return par[GRAM_NEURAL_ACT] == GRAM_NEURAL_RELU && par[GRAM_NEURAL_SB] == 0
               ? "relu without biases, sb = 0, has a kink at 0"
               : NULL;
}

static const char *ntk_rough(const double *par)
{
    return par[GRAM_NEURAL_ACT] == GRAM_NEURAL_RELU ? "that of relu has a kink where points are parallel" : NULL;
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
             .initial = GRAM_NEURAL_RELU,                                                                              \
             .lower = GRAM_NEURAL_RELU,                                                                                \
             .upper = GRAM_NEURAL_ERF,                                                                                 \
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
    .spec_count = GRAM_NEURAL_SPECS,
    .specs = SPECS_OF_NETWORKS,
    .facts = nngp_facts,
    .injective = injective,
    .coords = nngp_coords,
    .coords_slope = nngp_slope,
    .coords_parameter_slope = nngp_parameter,
    .coords_jet = nngp_jet,
    .rough = nngp_rough,
    .domain_refuse = domain_refuse,
};

const gram_kernel_type gram_kernel_ntk = {
    .name = "ntk",
    .formula = "tangent kernel of a wide network: T_l = S_l + sw^2 T_(l-1) E[act'(u) act'(v)], T_0 = S_0",
    .form = GRAM_FORM_COORDS,
    .dots = 1,
    .spec_count = GRAM_NEURAL_SPECS,
    .specs = SPECS_OF_NETWORKS,
    .facts = ntk_facts,
    .injective = injective,
    .coords = ntk_coords,
    .coords_slope = ntk_slope,
    .coords_parameter_slope = ntk_parameter,
    .coords_jet = ntk_jet,
    .rough = ntk_rough,
    .domain_refuse = domain_refuse,
};
