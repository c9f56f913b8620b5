/* Block vector math: functions over arrays, chosen once by the processor.
 *
 * Every n is a multiple of GRAM_LANES, every array 64-byte aligned, and `out` may be the same array as `x` (not
 * overlapping otherwise). An element's result depends on its own inputs only, not on its place in the array: this is
 * what makes a Gram matrix equal to its transpose bit for bit.
 *
 * Error bounds, in units in the last place (ulp) of the result, tested at every level:
 *   exp 1.0, log 2, sin and cos 4 (|x| < 1e5, absolute below 2^-40), atan and erf 4, pow 2, exp_scaled: see below; sqrt, add, mul: 0.5.
 * Results of exp and exp_scaled below 2^-1021.5 = 3.1e-308 (f32: 2^-125.5 = 1.7e-38) are 0: subnormal numbers are slow
 * and worth nothing here. NaN stays NaN, what is too large is inf. */
#ifndef GRAM_BASE_VECMATH_VECMATH_H
#define GRAM_BASE_VECMATH_VECMATH_H

#include <gram/context.h>

enum { GRAM_LANES = 16 };

/* A function of z > 0 as polynomials on pieces of a logarithmic grid: each octave [2^e, 2^(e+1)) has GRAM_PIECES_OCTAVE
 * pieces of equal width, and the polynomial of a piece is in u, -1 <= u < 1 across it. */
enum { GRAM_PIECES_OCTAVE = 4, GRAM_PIECES_OCTAVES = 48, GRAM_PIECES_TERMS = 12 };

typedef struct gram_pieces {
    double coefficients[GRAM_PIECES_OCTAVE * GRAM_PIECES_OCTAVES]
                       [GRAM_PIECES_TERMS]; /* of u^0, u^1, ...; 32-byte aligned */
    double low;                             /* where the first piece begins: a power of two */
    double high;                            /* a number in the last piece, which stands for all z above it */
    double at_zero, most;
} gram_pieces;

/* What arc_layer knows of a layer: one row x against columns y. A part is what a layer made of S(x,x) before the bias, b2 = sb^2. */
typedef struct gram_arc_layer {
    double b2, w2;              /* sb^2, sw^2 */
    double part, root, inverse; /* of x: root of its part, root of S(x,x), and 1 over it (0 for 0) */
    const double *y_part, *y_root, *y_inverse;
} gram_arc_layer;

typedef struct gram_vecmath_f64 {
    void (*exp)(int n, const double *x, double *out);
    void (*log)(int n, const double *x, double *out);
    void (*sin)(int n, const double *x, double *out);
    void (*cos)(int n, const double *x, double *out);
    void (*atan)(int n, const double *x, double *out);
    void (*erf)(int n, const double *x, double *out);
    /* Pairs through one layer of a wide relu network (kernel/neural): minus = 1 - cos and plus = 1 + cos of their angle a become those
     * of the next one, xy = b2 + part_x part_y kappa, kappa = (sin a + (pi - a) cos a)/pi, and t = xy + w2 t (pi - a)/(2 pi). Angles are
     * right to 4 units of 2^-53, near pi their supplements too. */
    void (*arc_layer)(int n, const gram_arc_layer *layer, double *minus, double *plus, double *xy, double *t);
    /* The same of the first layer, which only adds the bias: kappa = cos a, t = xy. */
    void (*arc_begin)(int n, const gram_arc_layer *layer, double *minus, double *plus, double *xy, double *t);
    /* minus = 1 - cos, plus = 1 + cos, cos = dot (x y); returns the largest |cos| */
    double (*arc_cosines)(int n, double x, const double *y, const double *dots, double *minus, double *plus);
    /* x^y, x >= 0 */
    void (*pow)(int n, double y, const double *x, double *out);

    /* exp(c x): relative error at most (2 + 2 |c x|) 2^-53, exactly 1 for x = 0. What kernels call. */
    void (*exp_scaled)(int n, double c, const double *x, double *out);
    /* P(a) exp(-a), a = sqrt(c x), P of the given degree; 0 where exp(-a) is. At most (4 + 4 a) 2^-53 relative to the
     * sum of the absolute terms. */
    void (*poly_exp_sqrt)(int n, double c, int degree, const double *coefficients, const double *x, double *out);
    /* min(2^T(z), most), T being the pieces, z = c x; at_zero for x <= 0. Where z is below the first piece (and x > 0) it
     * leaves -x, for the caller to replace; returns how many there are. NaN stays. Relative error (3 + 4 sum_j |c_j|) 2^-53, c_j being the
     * coefficients of the piece. */
    int (*exp2_pieces)(int n, const gram_pieces *pieces, double c, const double *x, double *out);
    /* min(sqrt(c x), cap) */
    void (*sqrt_scaled)(int n, double c, double cap, const double *x, double *out);
    /* out *= min(x, y) - origin, x one number */
    void (*multiply_min)(int n, double x, double origin, const double *y, double *out);
    /* out *= coefficients[0] + coefficients[1] x + ... + coefficients[degree] x^degree */
    void (*multiply_poly)(int n, int degree, const double *coefficients, const double *x, double *out);
    /* x^m by repeated squaring, m >= 1 */
    void (*power)(int n, int m, const double *x, double *out);
    /* a x + b */
    void (*affine)(int n, double a, double b, const double *x, double *out);
    /* out += x; out = a x + b out; out *= x; out = c */
    void (*add)(int n, const double *x, double *out);
    void (*combine)(int n, double a, const double *x, double b, double *out);
    void (*multiply)(int n, const double *x, double *out);
    void (*fill)(int n, double c, double *out);
    /* sum of x, sum of x y: in a fixed order */
    double (*sum)(int n, const double *x);
    double (*dot)(int n, const double *x, const double *y);
} gram_vecmath_f64;

/* The same in f32, as far as kernels with a profile in f32 need it. exp_scaled: (4 + 2 |c x|) 2^-24. */
typedef struct gram_vecmath_f32 {
    void (*exp_scaled)(int n, float c, const float *x, float *out);
    void (*poly_exp_sqrt)(int n, float c, int degree, const float *coefficients, const float *x, float *out);
    /* in f64 inside, with the pieces of f64 */
    int (*exp2_pieces)(int n, const gram_pieces *pieces, double c, const float *x, float *out);
    /* (base + scale x)^power, base + scale x >= 0, and tanh(a x + b), in f64 inside: 1 ulp. Powers below FLT_MIN are 0. */
    void (*pow_affine)(int n, double base, double scale, double power, const float *x, float *out);
    void (*tanh_affine)(int n, double a, double b, const float *x, float *out);
    void (*sqrt_scaled)(int n, float c, float cap, const float *x, float *out);
    void (*multiply_poly)(int n, int degree, const float *coefficients, const float *x, float *out);
    void (*power)(int n, int m, const float *x, float *out);
    void (*affine)(int n, float a, float b, const float *x, float *out);
    void (*add)(int n, const float *x, float *out);
    void (*combine)(int n, float a, const float *x, float b, float *out);
    void (*multiply)(int n, const float *x, float *out);
    void (*fill)(int n, float c, float *out);
    void (*widen)(int n, const float *x, double *out);
    void (*narrow)(int n, const double *x, float *out);
    /* height cos(a) and height sin(a), a = x pi/2 (x counts quarters of a turn, |x| < 2^50), to 2^-22 of the height. */
    void (*waves)(int n, const double *x, float height, float *cosines, float *sines);
} gram_vecmath_f32;

typedef struct gram_vecmath {
    const char *name; /* "avx2", "plain" */
    gram_isa isa;
    gram_vecmath_f64 f64;
    gram_vecmath_f32 f32;
} gram_vecmath;

/* The table for a level, NULL if this processor lacks it. */
const gram_vecmath *gram_vecmath_choose(gram_isa isa);

#endif
