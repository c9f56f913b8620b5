/* A factor as one array: the rows of L one after the other, row i of i + 1 numbers. Files keep it so, since tiles change with
 * their width. */
#include <math.h>

#include "solve/cholesky/cholesky.h"

/* The numbers of row i that lie in tile column j: where they are in the tiles, and how many. */
static int64_t piece(const gram_tiled *tiles, int64_t i, int64_t j, int64_t *count)
{
    const int64_t row = i / tiles->width, width = gram_tiled_rows(tiles, j);
    *count = j < row ? width : i - j * tiles->width + 1;
    return gram_tiled_place(tiles, row, j) + (i - row * tiles->width) * gram_tiled_ld(tiles, j);
}

gram_status gram_cholesky_pack(gram_context *context, const gram_cholesky *factor, double *out)
{
    if (gram_cholesky_is_spread(factor)) return gram_spread_pack(context, factor, out);
    const gram_tiled *tiles = &factor->tiles;
    const double *numbers = factor->numbers;
    int64_t count;
    for (int64_t i = 0; i < tiles->n; i++)
        for (int64_t j = 0; j * tiles->width <= i; j++) {
            const int64_t at = piece(tiles, i, j, &count);
            for (int64_t k = 0; k < count; k++) *out++ = numbers[at + k];
        }
    return GRAM_OK;
}

gram_status gram_cholesky_unpack(gram_context *context, const char *name, int64_t n, const double *packed,
                                 gram_cholesky **factor)
{
    gram_status status = GRAM_OK;
    gram_cholesky *made = NULL;
    int64_t count;
    *factor = NULL;
    FAIL_IF(gram_cholesky_bytes(n, GRAM_STORAGE_F64) == 0, context, GRAM_ERROR_OVERFLOW, "%s: n = %lld is too large",
            name, (long long)n);
    TRY(gram_cholesky_take(context, n, GRAM_STORAGE_F64, &made));
    double *numbers = made->numbers;
    for (int64_t i = 0; i < made->count; i++) numbers[i] = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j * made->tiles.width <= i; j++) {
            const int64_t at = piece(&made->tiles, i, j, &count);
            for (int64_t k = 0; k < count; k++, packed++) {
                FAIL_IF(!isfinite(*packed), context, GRAM_ERROR_DATA, "%s: a number of row %lld is not finite", name,
                        (long long)i);
                numbers[at + k] = *packed;
            }
        }
        FAIL_IF(!(packed[-1] > 0), context, GRAM_ERROR_DATA, "%s: the diagonal of row %lld is not positive", name,
                (long long)i);
    }
    *factor = made;
    made = NULL;
done:
    gram_cholesky_destroy(made);
    return status;
}
