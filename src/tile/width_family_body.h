/* Writing a strip, for one type: included by width_family.c for f64 and for f32, which defines REAL and NAME(name). */

/* On and below the diagonal as it is, above it what was computed below. */
static void NAME(write)(int64_t n, const place *at, const double *k, REAL *out)
{
    for (int64_t i = 0; i < at->rows; i++) {
        REAL *row = out + (at->first_row + i) * n + at->first_column;
        const int64_t end = least(at->columns, at->first_row + i - at->first_column + 1);
        for (int64_t j = 0; j < end; j++) row[j] = (REAL)k[i * GRAM_PANEL + j];
    }
    for (int64_t j = 0; j < at->columns; j++) {
        REAL *row = out + (at->first_column + j) * n + at->first_row;
        const int64_t below = at->first_column + j + 1 - at->first_row;
        for (int64_t i = below > 0 ? below : 0; i < at->rows; i++) row[i] = (REAL)k[i * GRAM_PANEL + j];
    }
}
