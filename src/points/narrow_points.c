/* A few rows of very many columns, in as many columns as there are rows.
 *
 * n points span at most n dimensions. In an orthonormal basis of what they span, made by Gram and Schmidt's method done twice (Giraud,
 * Langou and Rozloznik 2005: twice is enough), their inner products and distances are the same up to rounding, and row i needs
 * i + 1 coordinates. O(n^2 d) once; after that a kernel of distances or inner products costs n in place of d for each pair, and the
 * packed points, which are padded to whole panels, n in place of d columns. */
#include <math.h>
#include <string.h>

#include "points/row_sample.h"

enum { LANES = 8 };

/* Vanishing lengths of what is left of a row, beside the row's own: it is in the span of those before. */
static const double NOTHING = 1e-14;

/* Sums in a fixed order that compilers can do side by side. */
static double dot(int64_t d, const double *a, const double *b)
{
    double lanes[LANES] = {0}, sum = 0;
    int64_t l = 0;
    for (; l + LANES <= d; l += LANES)
        for (int k = 0; k < LANES; k++) lanes[k] += a[l + k] * b[l + k];
    for (; l < d; l++) sum += a[l] * b[l];
    for (int k = 0; k < LANES; k++) sum += lanes[k];
    return sum;
}

/* Takes the part along each of the first `count` directions out of v, and adds it to the coordinates. */
static void take_parts(int64_t count, int64_t d, const double *directions, double *v, double *coordinates)
{
    for (int64_t j = 0; j < count; j++) {
        const double *q = directions + j * d, part = dot(d, q, v);
        coordinates[j] += part;
        for (int64_t l = 0; l < d; l++) v[l] -= part * q[l];
    }
}

/* rows: n x d, and on return the directions; coordinates: n x n */
static void orthogonalise(int64_t n, int64_t d, double *rows, double *coordinates)
{
    memset(coordinates, 0, (size_t)(n * n) * sizeof *coordinates);
    for (int64_t i = 0; i < n; i++) {
        double *v = rows + i * d;
        const double before = sqrt(dot(d, v, v));
        for (int pass = 0; pass < 2; pass++) take_parts(i, d, rows, v, coordinates + i * n);
        const double length = sqrt(dot(d, v, v));
        const int is_new = length > NOTHING * before;
        coordinates[i * n + i] = is_new ? length : 0;
        for (int64_t l = 0; l < d; l++) v[l] = is_new ? v[l] / length : 0;
    }
}

gram_status gram_sample_narrow(gram_context *context, gram_sample *sample)
{
    gram_status status = GRAM_OK;
    const int64_t n = sample->n, d = sample->points->d;
    double *rows = NULL, *coordinates = NULL;
    gram_points *points = NULL;
    TRY(gram_take(context, "tuning: directions", n * d, sizeof *rows, (void **)&rows));
    TRY(gram_take(context, "tuning: points", n * n, sizeof *coordinates, (void **)&coordinates));
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < d; l++) rows[i * d + l] = gram_points_at(sample->points, i, l);
    orthogonalise(n, d, rows, coordinates);
    TRY(gram_points_create_f64(context, n, n, coordinates, n, &points));
    gram_points_release(sample->own);
    gram_give(context, sample->data);
    sample->points = sample->own = points;
    sample->data = coordinates;
    coordinates = NULL;
done:
    gram_give(context, rows);
    gram_give(context, coordinates);
    return status;
}
