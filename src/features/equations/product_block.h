/* Sums of products of columns for one type of number, included once for each by column_products_avx512.c; FLOAT, VECTOR, LANES and NAME say which.
 *
 * A tile of TALL x 3 LANES sums stays in registers while the rows go by. Rows come in turns of DEEP, copied so that what the registers take next lies
 * next: 3 LANES columns, which stay in the first-level cache while all others, TALL at a time, pass by from the second. */

enum { NAME(WIDE) = 3 * LANES };

/* `count` columns of `rows` rows, `step` of them beside each other, zeros behind the last. */
GRAM_INLINE void NAME(pack)(int64_t rows, int64_t ld, const FLOAT *x, int64_t count, int64_t step, FLOAT *out)
{
    for (int64_t from = 0; from < count; from += step)
        for (int64_t k = 0; k < rows; k++, out += step)
            if (count - from >= step)
                memcpy(out, x + k * ld + from, (size_t)step * sizeof *out);
            else
                for (int64_t l = 0; l < step; l++) out[l] = from + l < count ? x[k * ld + from + l] : 0;
}

/* sums = A'B */
static void NAME(multiply)(int64_t rows, const FLOAT *a, const FLOAT *b, FLOAT *sums)
{
    VECTOR s[TALL][3];
    for (int i = 0; i < TALL; i++)
        for (int l = 0; l < 3; l++) s[i][l] = (VECTOR){0};
    for (int64_t k = 0; k < rows; k++, a += TALL, b += 3 * LANES) {
        const VECTOR first = NAME(load)(b), second = NAME(load)(b + LANES), third = NAME(load)(b + 2 * LANES);
#pragma GCC unroll 8
        for (int i = 0; i < TALL; i++) {
            const VECTOR each = NAME(spread)(a[i]);
            s[i][0] += each * first;
            s[i][1] += each * second;
            s[i][2] += each * third;
        }
    }
    for (int i = 0; i < TALL; i++)
        for (int l = 0; l < 3; l++) NAME(store)(sums + (3 * i + l) * LANES, s[i][l]);
}

/* What of a tile is wanted: high x wide, and of that the lower triangle, `offset` being the number of its first row less that of its first column. */
GRAM_INLINE void NAME(add)(const FLOAT *sums, int64_t high, int64_t wide, int64_t offset, double *out, int64_t ld)
{
    if (high == TALL && wide == NAME(WIDE) && offset >= NAME(WIDE)) {
        for (int i = 0; i < TALL; i++)
            for (int j = 0; j < NAME(WIDE); j++) out[i * ld + j] += (double)sums[i * NAME(WIDE) + j];
        return;
    }
    for (int64_t i = 0; i < high; i++)
        for (int64_t j = 0; j < wide && j <= offset + i; j++) out[i * ld + j] += (double)sums[i * NAME(WIDE) + j];
}

void NAME(gram_column_products)(const gram_column_block *block, const FLOAT *x, double *out, void *scratch)
{
    const int64_t high = block->high, wide = block->wide, ld = block->width;
    FLOAT *a = scratch, *b = a + DEEP * ((high + TALL - 1) / TALL * TALL),
          sums[TALL * 3 * LANES] __attribute__((aligned(64)));
    for (int64_t first = 0; first < block->rows; first += DEEP) {
        const int64_t rows = block->rows - first < DEEP ? block->rows - first : DEEP;
        NAME(pack)(rows, ld, x + first * ld + block->i, high, TALL, a);
        NAME(pack)(rows, ld, x + first * ld + block->j, wide, NAME(WIDE), b);
        for (int64_t j = 0; j < wide; j += NAME(WIDE))
            for (int64_t i = 0; i < high; i += TALL) {
                const int64_t offset = block->i + i - block->j - j;
                if (offset + TALL <= 0) continue;
                NAME(multiply)(rows, a + i * rows, b + j * rows, sums);
                NAME(add)
                (sums, high - i < TALL ? high - i : TALL, wide - j < NAME(WIDE) ? wide - j : NAME(WIDE), offset,
                 out + (block->i + i) * ld + block->j + j, ld);
            }
    }
}
