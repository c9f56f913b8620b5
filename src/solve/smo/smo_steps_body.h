/* What an SMO step does over its working set, for one type: included by smo_loops_body.h for f64 and for f32, which defines
 * REAL, VECTOR, INDEX (a vector of integers of the same width), LANES and NAME(name). Two vectors at a time, so that a
 * comparison does not wait for the one before. */

/* The best of each lane, and the round in which it was first seen. */
typedef struct NAME(lanes) {
    VECTOR best[PARTS];
    INDEX at[PARTS];
} NAME(lanes);

GRAM_INLINE INDEX NAME(counting)(void)
{
    INDEX index = {0};
    for (int l = 0; l < LANES; l++) index[l] = l;
    return index;
}

/* The largest, at the lowest index where it stands; indices are those of the first part. */
static int64_t NAME(settle)(const NAME(lanes) * all, double *best)
{
    const INDEX second = all->at[1] + LANES;
    const INDEX later = (all->best[1] > all->best[0]) | ((all->best[1] == all->best[0]) & (second < all->at[0]));
    const VECTOR values = NAME(select)(later, all->best[1], all->best[0]);
    const INDEX places = (second & later) | (all->at[0] & ~later);
    REAL most = -INFINITY;
    int64_t at = -1;
    for (int l = 0; l < LANES; l++) {
        if (values[l] == -INFINITY || values[l] < most || (values[l] == most && places[l] > at)) continue;
        most = values[l];
        at = places[l];
    }
    *best = (double)most;
    return at;
}

static gram_smo_extremes NAME(move)(int64_t count, REAL step, const REAL *first, const REAL *second, const REAL *rise,
                                    const REAL *fall, REAL *v)
{
    const VECTOR t = NAME(spread)(step), minus = NAME(spread)(-INFINITY), plus = NAME(spread)(INFINITY);
    INDEX index = NAME(counting)();
    NAME(lanes) high = {{minus, minus}, {index, index}};
    VECTOR low[PARTS] = {plus, plus};
    for (int64_t k = 0; k < count; k += PARTS * LANES) {
        for (int p = 0; p < PARTS; p++) {
            const int64_t at = k + p * LANES;
            const VECTOR difference = NAME(load)(first + at) - NAME(load)(second + at);
            const VECTOR moved = NAME(load)(v + at) - t * difference;
            NAME(store)(v + at, moved);
            const VECTOR up = moved + NAME(load)(rise + at);
            const INDEX better = up > high.best[p];
            high.best[p] = NAME(select)(better, up, high.best[p]);
            high.at[p] = (index & better) | (high.at[p] & ~better);
            low[p] = NAME(min)(moved + NAME(load)(fall + at), low[p]);
        }
        index += PARTS * LANES;
    }
    gram_smo_extremes out = {.lowest = INFINITY};
    out.at = NAME(settle)(&high, &out.highest);
    const VECTOR lowest = NAME(min)(low[0], low[1]);
    for (int l = 0; l < LANES; l++) out.lowest = (double)lowest[l] < out.lowest ? (double)lowest[l] : out.lowest;
    return out;
}

/* The gain b^2/a is compared as b^2 a' > b'^2 a: a product is several times faster than a quotient. */
static int64_t NAME(partner)(int64_t count, REAL top, REAL own, REAL smallest, const REAL *row, const REAL *diagonal,
                             const REAL *v, const REAL *fall, double *gain)
{
    const VECTOR least = NAME(spread)(smallest), zero = {0}, one = NAME(spread)(1);
    INDEX index = NAME(counting)();
    VECTOR over[PARTS] = {zero, zero}, under[PARTS] = {one, one};
    NAME(lanes) high = {{zero, zero}, {index, index}};
    for (int64_t k = 0; k < count; k += PARTS * LANES) {
        for (int p = 0; p < PARTS; p++) {
            const int64_t at = k + p * LANES;
            const VECTOR b = NAME(max)(top - (NAME(load)(v + at) + NAME(load)(fall + at)), zero), square = b * b;
            const VECTOR a = NAME(max)(own + NAME(load)(diagonal + at) - 2 * NAME(load)(row + at), least);
            const INDEX better = square * under[p] > over[p] * a;
            over[p] = NAME(select)(better, square, over[p]);
            under[p] = NAME(select)(better, a, under[p]);
            high.at[p] = (index & better) | (high.at[p] & ~better);
        }
        index += PARTS * LANES;
    }
    for (int p = 0; p < PARTS; p++)
        high.best[p] = NAME(select)(over[p] > zero, over[p] / under[p], NAME(spread)(-INFINITY));
    return NAME(settle)(&high, gain);
}
