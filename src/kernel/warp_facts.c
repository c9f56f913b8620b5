/* What kind of map is the matrix A of a warp, as far as its operand sees it?
 *
 * Its rank comes from elimination with complete pivoting. Rows and then columns are first multiplied by powers of two
 * that bring their largest entries near 1, so that units of measurement do not matter; a pivot below 1e-12 then counts
 * as 0: what is left of a row that others make up, after rounding. A'A is a multiple of the identity if no entry is off
 * by more than 1e-12 of it, as for a rotation in rounded numbers. */
#include <math.h>
#include <string.h>

#include "kernel/kernel_facts.h"

static const double TOLERANCE = 1e-12;

enum { WORD = 64 };

/* Row-major, `rows` of `columns`. */
typedef struct small_matrix {
    int64_t rows, columns;
    double *values;
} small_matrix;

/* The largest |entry| of count numbers, `step` apart, becomes one of [1/2, 1). */
static void balance(double *x, int64_t count, int64_t step)
{
    double most = 0;
    int exponent;
    for (int64_t i = 0; i < count; i++) most = fmax(most, fabs(x[i * step]));
    if (most == 0) return;
    (void)frexp(most, &exponent);
    for (int64_t i = 0; i < count; i++) x[i * step] = ldexp(x[i * step], -exponent);
}

static void swap(double *a, double *b)
{
    const double kept = *a;
    *a = *b;
    *b = kept;
}

/* Brings the largest entry of what is left at step k to the place k,k. */
static void bring_pivot(const small_matrix *m, int64_t k)
{
    int64_t row = k, column = k;
    for (int64_t i = k; i < m->rows; i++)
        for (int64_t j = k; j < m->columns; j++)
            if (fabs(m->values[i * m->columns + j]) > fabs(m->values[row * m->columns + column])) row = i, column = j;
    for (int64_t j = 0; j < m->columns && row != k; j++)
        swap(&m->values[k * m->columns + j], &m->values[row * m->columns + j]);
    for (int64_t i = 0; i < m->rows && column != k; i++)
        swap(&m->values[i * m->columns + k], &m->values[i * m->columns + column]);
}

/* Overwrites the matrix. */
static int64_t eliminate(const small_matrix *m)
{
    const int64_t most = m->rows < m->columns ? m->rows : m->columns;
    for (int64_t k = 0; k < most; k++) {
        bring_pivot(m, k);
        const double *pivot = m->values + k * m->columns;
        if (fabs(pivot[k]) < TOLERANCE) return k;
        for (int64_t i = k + 1; i < m->rows; i++) {
            double *row = m->values + i * m->columns;
            const double factor = row[k] / pivot[k];
            for (int64_t j = k; j < m->columns; j++) row[j] -= factor * pivot[j];
        }
    }
    return most;
}

/* (A'A)_ij */
static double inner(const small_matrix *m, int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t row = 0; row < m->rows; row++)
        sum += m->values[row * m->columns + i] * m->values[row * m->columns + j];
    return sum;
}

/* Columns of zeros are left out: `used` are not such, though one may have vanished beside much larger ones. */
static int is_similarity(const small_matrix *m, int64_t used)
{
    double square = 0;
    for (int64_t i = 0; i < m->columns; i++) square = fmax(square, inner(m, i, i));
    for (int64_t i = 0; i < m->columns; i++) {
        const double here = inner(m, i, i);
        used -= here > 0;
        if (here > 0 && fabs(here - square) > TOLERANCE * square) return 0;
        for (int64_t j = 0; j < i; j++)
            if (fabs(inner(m, i, j)) > TOLERANCE * square) return 0;
    }
    return used == 0;
}

/* Those rows of the warp's matrix that are in the set. */
static void copy_rows(const gram_kernel *warp, const uint64_t *seen, small_matrix *m)
{
    m->rows = 0;
    for (int64_t i = 0; i < warp->matrix_rows; i++) {
        if (!(seen[i / WORD] >> (i % WORD) & 1)) continue;
        memcpy(m->values + m->rows * m->columns, warp->matrix + i * m->columns, (size_t)m->columns * sizeof *m->values);
        m->rows++;
    }
}

static int64_t used_columns(const small_matrix *m)
{
    int64_t used = 0;
    for (int64_t j = 0; j < m->columns; j++) {
        int64_t i = 0;
        while (i < m->rows && m->values[i * m->columns + j] == 0) i++;
        used += i < m->rows;
    }
    return used;
}

gram_status gram_warp_look(gram_context *context, const gram_kernel *warp, const uint64_t *seen,
                           gram_warp_nature *nature)
{
    gram_status status = GRAM_OK;
    small_matrix m = {0, warp->matrix_columns, NULL};
    const int64_t room = warp->matrix_rows * warp->matrix_columns;
    *nature = (gram_warp_nature){0};
    TRY(gram_take(context, "kernel_facts: matrix of a warp", room, sizeof *m.values, (void **)&m.values));
    copy_rows(warp, seen, &m);
    nature->rows = m.rows;
    nature->whole = m.rows == warp->matrix_rows;
    nature->columns = used_columns(&m);
    balance(m.values, m.rows * m.columns, 1); /* squares neither overflow nor vanish */
    nature->similarity = is_similarity(&m, nature->columns);
    copy_rows(warp, seen, &m);
    for (int64_t i = 0; i < m.rows; i++) balance(m.values + i * m.columns, m.columns, 1);
    for (int64_t j = 0; j < m.columns; j++) balance(m.values + j, m.rows, m.columns);
    nature->rank = eliminate(&m);
done:
    gram_give(context, m.values);
    return status;
}
