/* What belongs together: classes, or nearest rows of the second view. */
#include <math.h>
#include <string.h>

#include <gram/matrix.h>

#include "method/couple/couple.h"
#include "points/points.h"

enum { BLOCK = 256 };

/* ---- the nearest rows ---- */

/* The `count` nearest of a row's distances, itself aside; of equal ones those that come first. In ascending order of rows. */
static void find_nearest(int64_t n, const double *distance, int64_t self, int64_t count, int64_t *nearest)
{
    int64_t found = 0;
    for (int64_t j = 0; j < n; j++) {
        if (j == self || (found == count && distance[j] >= distance[nearest[count - 1]])) continue;
        int64_t at = found < count ? found++ : count - 1;
        for (; at > 0 && distance[nearest[at - 1]] > distance[j]; at--) nearest[at] = nearest[at - 1];
        nearest[at] = j;
    }
    for (int64_t i = 1; i < count; i++) {
        const int64_t row = nearest[i];
        int64_t at = i;
        for (; at > 0 && nearest[at - 1] > row; at--) nearest[at] = nearest[at - 1];
        nearest[at] = row;
    }
}

/* nearest: n x count. Distances are made for a block of rows at a time. */
static gram_status find_all_nearest(gram_context *context, gram_kernel *kernel, const gram_points *points,
                                    int64_t count, int64_t *nearest)
{
    gram_status status = GRAM_OK;
    const int64_t n = points->n, d = points->d;
    double *rows = NULL, *distance = NULL;
    gram_points *block = NULL;
    TRY(gram_take(context, "couple: rows", BLOCK * d, sizeof *rows, (void **)&rows));
    TRY(gram_take(context, "couple: distances", BLOCK * n, sizeof *distance, (void **)&distance));
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int64_t in = n - first < BLOCK ? n - first : BLOCK;
        for (int64_t i = 0; i < in; i++)
            for (int64_t l = 0; l < d; l++) rows[i * d + l] = gram_points_cell(points, first + i, l);
        TRY(gram_points_create_like(context, points, in, rows, 0, &block));
        TRY(gram_matrix_distance(context, kernel, block, points, distance, n));
        for (int64_t i = 0; i < in; i++)
            find_nearest(n, distance + i * n, first + i, count, nearest + (first + i) * count);
        gram_points_release(block);
        block = NULL;
    }
done:
    gram_points_release(block);
    gram_give(context, distance);
    gram_give(context, rows);
    return status;
}

/* Both lists ascend; the union goes to out, and its length is returned. */
static int64_t join(const int64_t *a, int64_t m, const int64_t *b, int64_t n, int64_t *out)
{
    int64_t i = 0, j = 0, count = 0;
    while (i < m || j < n) {
        const int64_t next = j == n || (i < m && a[i] < b[j]) ? a[i] : b[j];
        i += i < m && a[i] == next;
        j += j < n && b[j] == next;
        out[count++] = next;
    }
    return count;
}

/* Rows that have row j among their nearest, in ascending order, then the union of both lists. */
static gram_status make_lists(gram_context *context, int64_t n, int64_t count, const int64_t *nearest,
                              gram_affinity *affinity)
{
    gram_status status = GRAM_OK;
    int64_t *begin = NULL, *back = NULL, at = 0;
    TRY(gram_take(context, "couple: neighbours", n + 2, sizeof *begin, (void **)&begin));
    TRY(gram_take(context, "couple: neighbours", n * count, sizeof *back, (void **)&back));
    TRY(gram_take(context, "couple: neighbours", n + 1, sizeof *back, (void **)&affinity->first));
    TRY(gram_take(context, "couple: neighbours", 2 * n * count, sizeof *back, (void **)&affinity->neighbour));
    memset(begin, 0, (size_t)(n + 2) * sizeof *begin);
    for (int64_t e = 0; e < n * count; e++) begin[nearest[e] + 2]++;
    for (int64_t i = 0; i < n; i++) begin[i + 2] += begin[i + 1];
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = 0; e < count; e++) back[begin[nearest[i * count + e] + 1]++] = i;
    for (int64_t i = 0; i < n; i++) {
        affinity->first[i] = at;
        at += join(nearest + i * count, count, back + begin[i], begin[i + 1] - begin[i], affinity->neighbour + at);
    }
    affinity->first[n] = at;
done:
    gram_give(context, begin);
    gram_give(context, back);
    return status;
}

/* ---- the object ---- */

gram_status gram_affinity_make(gram_context *context, gram_kernel *kernel, const gram_points *points,
                               const gram_couple_options *options, gram_affinity *affinity)
{
    gram_status status = GRAM_OK;
    const int64_t n = gram_points_count(points), count = options->neighbours < n ? options->neighbours : n - 1;
    int64_t *nearest = NULL;
    *affinity = (gram_affinity){.n = n, .labels = options->labels};
    for (int64_t i = 0; options->labels && i < n; i++)
        if (options->labels[i] >= affinity->classes) affinity->classes = options->labels[i] + 1;
    if (options->labels) return GRAM_OK;
    TRY(gram_take(context, "couple: neighbours", n * count, sizeof *nearest, (void **)&nearest));
    if (count > 0) TRY(find_all_nearest(context, kernel, points, count, nearest));
    TRY(make_lists(context, n, count, nearest, affinity));
done:
    gram_give(context, nearest);
    return status;
}

void gram_affinity_free(gram_context *context, gram_affinity *affinity)
{
    gram_give(context, affinity->first);
    gram_give(context, affinity->neighbour);
    *affinity = (gram_affinity){0};
}

int gram_affinity_is_pairs(const gram_affinity *affinity)
{
    return affinity->labels ? affinity->classes == affinity->n : affinity->first[affinity->n] == 0;
}

/* ---- products ---- */

static int64_t row_of(const gram_affinity_rows *rows, int64_t i)
{
    return rows->row ? rows->row[i] : i;
}

static int64_t place_of(const gram_affinity_rows *rows, int64_t row)
{
    return rows->place ? rows->place[row] : row;
}

gram_status gram_affinity_apply(gram_context *context, const gram_affinity *affinity, const gram_affinity_rows *rows,
                                gram_tall f, double *out)
{
    gram_status status = GRAM_OK;
    const int64_t r = f.columns;
    double *sums = NULL;
    memset(out, 0, (size_t)(rows->n * r) * sizeof *out);
    if (affinity->labels) {
        /* (W F)_i = the sum over the rows of its class */
        TRY(gram_take(context, "couple: sums of classes", affinity->classes * r, sizeof *sums, (void **)&sums));
        memset(sums, 0, (size_t)(affinity->classes * r) * sizeof *sums);
        for (int64_t i = 0; i < rows->n; i++)
            for (int64_t j = 0; j < r; j++) sums[affinity->labels[row_of(rows, i)] * r + j] += f.data[i * f.ld + j];
        for (int64_t i = 0; i < rows->n; i++)
            memcpy(out + i * r, sums + affinity->labels[row_of(rows, i)] * r, (size_t)r * sizeof *out);
        goto done;
    }
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t row = row_of(rows, i);
        for (int64_t j = 0; j < r; j++) out[i * r + j] = f.data[i * f.ld + j];
        for (int64_t e = affinity->first[row]; e < affinity->first[row + 1]; e++) {
            const int64_t other = place_of(rows, affinity->neighbour[e]);
            for (int64_t j = 0; j < r && other >= 0; j++) out[i * r + j] += f.data[other * f.ld + j];
        }
    }
done:
    gram_give(context, sums);
    return status;
}

gram_status gram_affinity_degrees(gram_context *context, const gram_affinity *affinity, const gram_affinity_rows *rows,
                                  double *degree)
{
    gram_status status = GRAM_OK;
    double *ones = NULL;
    TRY(gram_take(context, "couple: ones", rows->n, sizeof *ones, (void **)&ones));
    for (int64_t i = 0; i < rows->n; i++) ones[i] = 1;
    TRY(gram_affinity_apply(context, affinity, rows, (gram_tall){rows->n, 1, 1, ones}, degree));
done:
    gram_give(context, ones);
    return status;
}
