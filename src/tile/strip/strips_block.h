/* The innermost loops for one type: included by strips_body.h for f64 and for f32.
 *
 * The includer defines REAL, VECTOR, INTEGERS (a vector of integers of the same width), LANES and NAME(name). */

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

/* CHUNK coordinates at a time, so that the columns' panel stays in the first level cache whatever d is; `vectors` of
 * columns beside ROWS rows are summed in registers. */
GRAM_INLINE void NAME(strip_form)(int form, int vectors, int64_t d, const REAL *weights, const REAL *GRAM_RESTRICT x,
                                  const REAL *GRAM_RESTRICT y, REAL *GRAM_RESTRICT out)
{
    for (int64_t from = 0; from < d; from += CHUNK) {
        const int64_t to = from + CHUNK < d ? from + CHUNK : d;
        for (int i = 0; i < GRAM_STRIP; i += ROWS)
            for (int j = 0; j < GRAM_PANEL; j += vectors * LANES) {
                VECTOR acc[ROWS][3] = {{{0}}};
                REAL *block = out + i * GRAM_PANEL + j;
                for (int r = 0; from > 0 && r < ROWS; r++)
                    for (int v = 0; v < vectors; v++) acc[r][v] = NAME(load)(block + r * GRAM_PANEL + v * LANES);
                for (int64_t l = from; l < to; l++) {
                    const REAL w = weights ? weights[l] : 1;
                    const REAL *yl = y + l * GRAM_PANEL + j;
                    for (int r = 0; r < ROWS; r++)
                        for (int v = 0; v < vectors; v++)
                            acc[r][v] =
                                NAME(term)(form, acc[r][v], x[l * GRAM_PANEL + i + r], NAME(load)(yl + v * LANES), w);
                }
                for (int r = 0; r < ROWS; r++)
                    for (int v = 0; v < vectors; v++) NAME(store)(block + r * GRAM_PANEL + v * LANES, acc[r][v]);
            }
    }
}

static void NAME(sqdist)(int64_t d, const REAL *weights, const REAL *x, const REAL *y, REAL *out)
{
    if (weights)
        NAME(strip_form)(TERM_WEIGHTED_SQUARE, 2, d, weights, x, y, out);
    else if (d > WIDE)
        NAME(strip_form)(TERM_SQUARE, 3, d, NULL, x, y, out);
    else
        NAME(strip_form)(TERM_SQUARE, 2, d, NULL, x, y, out);
}

static void NAME(l1)(int64_t d, const REAL *weights, const REAL *x, const REAL *y, REAL *out)
{
    if (weights)
        NAME(strip_form)(TERM_ABSOLUTE, 2, d, weights, x, y, out);
    else
        NAME(strip_form)(TERM_ABSOLUTE, 2, d, NULL, x, y, out);
}

static void NAME(dot)(int64_t d, const REAL *x, const REAL *y, REAL *out)
{
    NAME(strip_form)(TERM_PRODUCT, 2, d, NULL, x, y, out);
}

static int NAME(sqdist_from_dot)(REAL cut, const REAL *x_norms, const REAL *y_norms, const REAL *dot, REAL *out)
{
    INTEGERS below = {0};
    for (int i = 0; i < GRAM_STRIP; i++)
        for (int j = 0; j < GRAM_PANEL; j += LANES) {
            const VECTOR norms = x_norms[i] + NAME(load)(y_norms + j);
            const VECTOR s = norms - 2 * NAME(load)(dot + i * GRAM_PANEL + j);
            below += 1 + (s >= cut * norms); /* a true comparison is -1; NaN, after an overflow, is lost too */
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
    for (int i = 0; i < GRAM_STRIP; i += ROWS) {
        VECTOR acc[ROWS] = {{0}};
        for (int j = 0; j < GRAM_PANEL; j += LANES) {
            const VECTOR vj = NAME(load)(v + j);
            for (int r = 0; r < ROWS; r++) acc[r] += NAME(load)(k + (i + r) * GRAM_PANEL + j) * vj;
        }
        for (int r = 0; r < ROWS; r++) out[i + r] += NAME(lane_sum)(acc[r]);
    }
}

/* Each number of K is read once for both sums. */
static void NAME(multiply_both)(const REAL *GRAM_RESTRICT k, const REAL *GRAM_RESTRICT v,
                                const REAL *GRAM_RESTRICT v_rows, double *GRAM_RESTRICT out,
                                double *GRAM_RESTRICT out_columns)
{
    VECTOR columns[GRAM_PANEL / LANES] = {{0}};
    for (int i = 0; i < GRAM_STRIP; i += ROWS) {
        VECTOR acc[ROWS] = {{0}};
        for (int j = 0; j < GRAM_PANEL / LANES; j++) {
            const VECTOR vj = NAME(load)(v + j * LANES);
            VECTOR column = columns[j];
            for (int r = 0; r < ROWS; r++) {
                const VECTOR kr = NAME(load)(k + (i + r) * GRAM_PANEL + j * LANES);
                acc[r] += kr * vj;
                column += v_rows[i + r] * kr;
            }
            columns[j] = column;
        }
        for (int r = 0; r < ROWS; r++) out[i + r] += NAME(lane_sum)(acc[r]);
    }
    for (int j = 0; j < GRAM_PANEL; j++) out_columns[j] += (double)columns[j / LANES][j % LANES];
}
