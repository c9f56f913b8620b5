/* The innermost loops for one type: included by strips_body.h for f64 and for f32.
 *
 * The includer defines REAL, VECTOR, INTEGERS (a vector of integers of the same width), LANES and NAME(name). Four rows
 * by two vectors of columns are accumulated in registers: on machines with two FMA units of four cycles this is what
 * keeps them busy. */

enum { NAME(ROWS) = 4, NAME(GROUP) = 2 * LANES };

/* acc + the term of one coordinate, for four forms. `form` is a constant where this is inlined. */
GRAM_INLINE VECTOR NAME(term)(int form, VECTOR acc, REAL x, VECTOR y, REAL w)
{
    const VECTOR t = x - y;
    switch (form) {
    case TERM_SQUARE: return acc + t * t;
    case TERM_WEIGHTED_SQUARE: return acc + (w * t) * t;
    case TERM_ABSOLUTE: return acc + w * -NAME(min)(-t, t);
    default: return acc + x * y;
    }
}

GRAM_INLINE void NAME(strip_form)(int form, int64_t d, const REAL *weights, const REAL *GRAM_RESTRICT x,
                                  const REAL *GRAM_RESTRICT y, REAL *GRAM_RESTRICT out)
{
    for (int i = 0; i < GRAM_STRIP; i += NAME(ROWS))
        for (int j = 0; j < GRAM_PANEL; j += NAME(GROUP)) {
            VECTOR acc[NAME(ROWS)][2] = {{{0}}};
            for (int64_t l = 0; l < d; l++) {
                const REAL w = weights ? weights[l] : 1;
                const VECTOR y0 = NAME(load)(y + l * GRAM_PANEL + j), y1 = NAME(load)(y + l * GRAM_PANEL + j + LANES);
                for (int r = 0; r < NAME(ROWS); r++) {
                    const REAL xr = x[l * GRAM_PANEL + i + r];
                    acc[r][0] = NAME(term)(form, acc[r][0], xr, y0, w);
                    acc[r][1] = NAME(term)(form, acc[r][1], xr, y1, w);
                }
            }
            for (int r = 0; r < NAME(ROWS); r++) {
                NAME(store)(out + (i + r) * GRAM_PANEL + j, acc[r][0]);
                NAME(store)(out + (i + r) * GRAM_PANEL + j + LANES, acc[r][1]);
            }
        }
}

static void NAME(sqdist)(int64_t d, const REAL *weights, const REAL *x, const REAL *y, REAL *out)
{
    if (weights)
        NAME(strip_form)(TERM_WEIGHTED_SQUARE, d, weights, x, y, out);
    else
        NAME(strip_form)(TERM_SQUARE, d, NULL, x, y, out);
}

static void NAME(l1)(int64_t d, const REAL *weights, const REAL *x, const REAL *y, REAL *out)
{
    if (weights)
        NAME(strip_form)(TERM_ABSOLUTE, d, weights, x, y, out);
    else
        NAME(strip_form)(TERM_ABSOLUTE, d, NULL, x, y, out);
}

static void NAME(dot)(int64_t d, const REAL *weights, const REAL *x, const REAL *y, REAL *out)
{
    (void)weights;
    NAME(strip_form)(TERM_PRODUCT, d, NULL, x, y, out);
}

static int NAME(sqdist_from_dot)(REAL cut, const REAL *x_norms, const REAL *y_norms, const REAL *dot, REAL *out)
{
    INTEGERS below = {0};
    for (int i = 0; i < GRAM_STRIP; i++)
        for (int j = 0; j < GRAM_PANEL; j += LANES) {
            const VECTOR norms = x_norms[i] + NAME(load)(y_norms + j);
            const VECTOR s = norms - 2 * NAME(load)(dot + i * GRAM_PANEL + j);
            below -= s < cut * norms; /* a true comparison is -1 */
            NAME(store)(out + i * GRAM_PANEL + j, s);
        }
    int count = 0;
    for (int lane = 0; lane < LANES; lane++) count += (int)below[lane];
    return count;
}

GRAM_INLINE double NAME(lane_sum)(VECTOR v)
{
    REAL half[LANES / 2];
    for (int lane = 0; lane < LANES / 2; lane++) half[lane] = v[lane] + v[lane + LANES / 2];
    double sum = 0;
    for (int lane = 0; lane < LANES / 2; lane++) sum += (double)half[lane];
    return sum;
}

static void NAME(multiply)(const REAL *GRAM_RESTRICT k, const REAL *GRAM_RESTRICT v, double *GRAM_RESTRICT out)
{
    for (int i = 0; i < GRAM_STRIP; i += NAME(ROWS)) {
        VECTOR acc[NAME(ROWS)] = {{0}};
        for (int j = 0; j < GRAM_PANEL; j += LANES) {
            const VECTOR vj = NAME(load)(v + j);
            for (int r = 0; r < NAME(ROWS); r++) acc[r] += NAME(load)(k + (i + r) * GRAM_PANEL + j) * vj;
        }
        for (int r = 0; r < NAME(ROWS); r++) out[i + r] += NAME(lane_sum)(acc[r]);
    }
}

static void NAME(multiply_both)(const REAL *GRAM_RESTRICT k, const REAL *GRAM_RESTRICT v,
                                const REAL *GRAM_RESTRICT v_rows, double *GRAM_RESTRICT out,
                                double *GRAM_RESTRICT out_columns)
{
    NAME(multiply)(k, v, out);
    for (int j = 0; j < GRAM_PANEL; j += NAME(GROUP)) {
        VECTOR acc0 = {0}, acc1 = {0};
        for (int i = 0; i < GRAM_STRIP; i++) {
            acc0 += v_rows[i] * NAME(load)(k + i * GRAM_PANEL + j);
            acc1 += v_rows[i] * NAME(load)(k + i * GRAM_PANEL + j + LANES);
        }
        for (int lane = 0; lane < LANES; lane++) {
            out_columns[j + lane] += (double)acc0[lane];
            out_columns[j + LANES + lane] += (double)acc1[lane];
        }
    }
}
