/* One sparse row against a panel of sparse rows: each value of the row meets what the panel has in its column.
 *
 * Most values end at the test of their bit; the others find the bucket by counting the bits before theirs. */

/* The place of a bucket, or -1 if the panel has nothing there. */
GRAM_INLINE int32_t sparse_slot(const gram_sparse_panel *panel, int32_t bucket)
{
    const uint64_t word = panel->bits[bucket >> 6], bit = UINT64_C(1) << (bucket & 63);
    if (!(word & bit)) return -1;
    return panel->rank[bucket >> 6] + __builtin_popcountll(word & (bit - 1));
}

GRAM_INLINE void sparse_row(int l1, int64_t count, const int32_t *index, const double *value,
                            const gram_sparse_panel *panel, double *out)
{
    for (int64_t k = 0; k < count; k++) {
        const int32_t slot = sparse_slot(panel, index[k] & panel->shape.mask);
        if (slot < 0) continue;
        const double x = value[k];
        for (int32_t e = panel->begin[slot]; e < panel->begin[slot + 1]; e++) {
            if (panel->index[e] != index[k]) continue;
            const double y = panel->value[e], size = x < 0 ? -x : x, other = y < 0 ? -y : y, apart = x - y;
            out[panel->owner[e]] += l1 ? (apart < 0 ? -apart : apart) - (size + other) : x * y;
        }
    }
}

static void sparse_dot(int64_t count, const int32_t *index, const double *value, const gram_sparse_panel *panel,
                       double *out)
{
    sparse_row(0, count, index, value, panel, out);
}

static void sparse_l1(int64_t count, const int32_t *index, const double *value, const gram_sparse_panel *panel,
                      double *out)
{
    sparse_row(1, count, index, value, panel, out);
}
