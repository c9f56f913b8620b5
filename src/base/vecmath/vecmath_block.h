/* The simple block operations, for one type: included by vecmath_body.h for f64 and for f32.
 *
 * The includer defines REAL, VECTOR, LANES, GROUP and NAME(name), which gives a name its type. */

static void NAME(exp_scaled)(int n, REAL c, const REAL *x, REAL *out)
{
    const REAL rate = c * (REAL)LOG2_E;
    for (int i = 0; i < n; i += GRAM_LANES) {
        VECTOR t[GROUP], f[GROUP], q[GROUP];
        for (int v = 0; v < GROUP; v++) NAME(split)(rate * NAME(load)(x + i + v * LANES), &t[v], &f[v]);
        NAME(polynomial)(f, q);
        for (int v = 0; v < GROUP; v++) NAME(store)(out + i + v * LANES, NAME(join)(t[v], f[v], q[v]));
    }
}

static void NAME(sqrt_scaled)(int n, REAL c, REAL cap, const REAL *x, REAL *out)
{
    const VECTOR bound = NAME(spread)(cap);
    for (int i = 0; i < n; i += LANES) NAME(store)(out + i, NAME(min)(bound, NAME(sqrt)(c * NAME(load)(x + i))));
}

static void NAME(multiply_poly)(int n, int degree, const REAL *coefficients, const REAL *x, REAL *out)
{
    for (int i = 0; i < n; i += GRAM_LANES) {
        VECTOR p[GROUP];
        for (int v = 0; v < GROUP; v++) p[v] = NAME(spread)(coefficients[degree]);
        for (int k = degree - 1; k >= 0; k--)
            for (int v = 0; v < GROUP; v++) p[v] = p[v] * NAME(load)(x + i + v * LANES) + coefficients[k];
        for (int v = 0; v < GROUP; v++) NAME(store)(out + i + v * LANES, NAME(load)(out + i + v * LANES) * p[v]);
    }
}

/* From the highest bit of m down: square, and multiply by x where the bit is set. */
static void NAME(power)(int n, int m, const REAL *x, REAL *out)
{
    int top = 1;
    while (top <= m / 2) top *= 2;
    for (int i = 0; i < n; i += GRAM_LANES) {
        VECTOR base[GROUP], p[GROUP];
        for (int v = 0; v < GROUP; v++) p[v] = base[v] = NAME(load)(x + i + v * LANES);
        for (int bit = top / 2; bit > 0; bit /= 2)
            for (int v = 0; v < GROUP; v++) p[v] = m & bit ? p[v] * p[v] * base[v] : p[v] * p[v];
        for (int v = 0; v < GROUP; v++) NAME(store)(out + i + v * LANES, p[v]);
    }
}

static void NAME(affine)(int n, REAL a, REAL b, const REAL *x, REAL *out)
{
    for (int i = 0; i < n; i += LANES) NAME(store)(out + i, a * NAME(load)(x + i) + b);
}

static void NAME(add)(int n, const REAL *x, REAL *out)
{
    for (int i = 0; i < n; i += LANES) NAME(store)(out + i, NAME(load)(out + i) + NAME(load)(x + i));
}

static void NAME(combine)(int n, REAL a, const REAL *x, REAL b, REAL *out)
{
    for (int i = 0; i < n; i += LANES) NAME(store)(out + i, a * NAME(load)(x + i) + b * NAME(load)(out + i));
}

static void NAME(multiply)(int n, const REAL *x, REAL *out)
{
    for (int i = 0; i < n; i += LANES) NAME(store)(out + i, NAME(load)(out + i) * NAME(load)(x + i));
}

static void NAME(fill)(int n, REAL c, REAL *out)
{
    const VECTOR value = NAME(spread)(c);
    for (int i = 0; i < n; i += LANES) NAME(store)(out + i, value);
}

/* The root is at most EXP_SQRT_CAP, beyond which the exponential is 0 anyway: inf * 0 would be NaN. One loop for root,
 * polynomial and exponential, because the root's unit works beside the others. */
GRAM_INLINE void NAME(poly_exp_sqrt_loop)(int n, REAL c, int degree, const REAL *coefficients, const REAL *x, REAL *out)
{
    const VECTOR cap = NAME(spread)(NAME(EXP_SQRT_CAP));
    for (int i = 0; i < n; i += GRAM_LANES) {
        VECTOR p[GROUP], t[GROUP], f[GROUP], q[GROUP];
        for (int v = 0; v < GROUP; v++) {
            const VECTOR a = NAME(min)(cap, NAME(sqrt)(c * NAME(load)(x + i + v * LANES)));
            p[v] = NAME(spread)(coefficients[degree]);
            for (int k = degree - 1; k >= 0; k--) p[v] = p[v] * a + coefficients[k];
            NAME(split)(-(REAL)LOG2_E * a, &t[v], &f[v]);
        }
        NAME(polynomial)(f, q);
        for (int v = 0; v < GROUP; v++) NAME(store)(out + i + v * LANES, p[v] * NAME(join)(t[v], f[v], q[v]));
    }
}

static void NAME(poly_exp_sqrt)(int n, REAL c, int degree, const REAL *coefficients, const REAL *x, REAL *out)
{
    switch (degree) {
    case 0: NAME(poly_exp_sqrt_loop)(n, c, 0, coefficients, x, out); break;
    case 1: NAME(poly_exp_sqrt_loop)(n, c, 1, coefficients, x, out); break;
    case 2: NAME(poly_exp_sqrt_loop)(n, c, 2, coefficients, x, out); break;
    default: NAME(poly_exp_sqrt_loop)(n, c, degree, coefficients, x, out);
    }
}
