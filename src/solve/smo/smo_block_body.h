/* SMO on a block, for one type: included by smo_block.c for f64 and for f32, which defines REAL and NAME(name). */

static entry NAME(entry_of)(const NAME(gram_smo_block) * block, int segment, int64_t row)
{
    return (entry){segment, row, (segment ? block->count[0] : 0) + row};
}

static const REAL *NAME(row_of)(const NAME(gram_smo_block) * block, const entry *e, int segment)
{
    return block->k[e->segment][segment] + e->row * block->ld[e->segment][segment];
}

static void NAME(note_bounds)(NAME(gram_smo_block) * block, int64_t i)
{
    block->rise[i] = block->b[i] < block->upper[i] ? 0 : -(REAL)INFINITY;
    block->fall[i] = block->b[i] > block->lower[i] ? 0 : (REAL)INFINITY;
}

/* The partner for `up` in one segment, if it gains more than *gain. */
static int NAME(find_partner)(const gram_smo_loops *loops, const NAME(gram_smo_block) * block, const entry *up,
                              int segment, entry *down, double *gain)
{
    const int64_t first = segment ? block->count[0] : 0;
    double found = 0;
    const int64_t row = loops->NAME(partner)(block->count[segment], block->v[up->at], block->diagonal[up->at],
                                             (REAL)block->least, NAME(row_of)(block, up, segment),
                                             block->diagonal + first, block->v + first, block->fall + first, &found);
    if (row < 0 || found <= *gain) return 0;
    *gain = found;
    *down = NAME(entry_of)(block, segment, row);
    return 1;
}

/* The next pair; 0 if no violation exceeds the tolerance. */
static int NAME(choose)(const gram_smo_loops *loops, const NAME(gram_smo_block) * block, const gram_smo_extremes e[2],
                        double tolerance, entry *up, entry *down)
{
    double gain = -INFINITY;
    int found = 0;
    if (block->joined) {
        const int top = e[1].highest > e[0].highest;
        if (!(e[top].highest - fmin(e[0].lowest, e[1].lowest) > tolerance)) return 0;
        *up = NAME(entry_of)(block, top, e[top].at);
        for (int s = 0; s < 2; s++) found |= NAME(find_partner)(loops, block, up, s, down, &gain);
        return found;
    }
    for (int s = 0; s < 2; s++) {
        if (!(e[s].highest - e[s].lowest > tolerance)) continue;
        const entry candidate = NAME(entry_of)(block, s, e[s].at);
        if (!NAME(find_partner)(loops, block, &candidate, s, down, &gain)) continue;
        *up = candidate;
        found = 1;
    }
    return found;
}

/* b rises at `up` and falls at `down` by the same, as far as the objective and the bounds say; v is to change by *t. 0 if b does
 * not change for rounding. */
static int NAME(step)(NAME(gram_smo_block) * block, const entry *up, const entry *down, REAL *t)
{
    const int64_t i = up->at, j = down->at;
    const REAL curvature =
        block->diagonal[i] + block->diagonal[j] - 2 * NAME(row_of)(block, up, down->segment)[down->row];
    const double free = (double)(block->v[i] - block->v[j]) / fmax((double)curvature, block->least) * block->unit;
    const double above = block->upper[i] - block->b[i], below = block->b[j] - block->lower[j];
    const double change = fmin(free, fmin(above, below));
    if (block->b[i] + change == block->b[i] && block->b[j] - change == block->b[j]) return 0;
    block->b[i] = change < above ? block->b[i] + change : block->upper[i];
    block->b[j] = change < below ? block->b[j] - change : block->lower[j];
    NAME(note_bounds)(block, i);
    NAME(note_bounds)(block, j);
    *t = (REAL)(change / block->unit);
    return 1;
}

int64_t NAME(gram_smo_block_solve)(const gram_smo_loops *loops, NAME(gram_smo_block) * block, double tolerance,
                                   int64_t most)
{
    entry up = {0, 0, 0}, down = {0, 0, 0};
    REAL t = 0;
    for (int64_t k = 0; k < block->count[0] + block->count[1]; k++) NAME(note_bounds)(block, k);
    for (int64_t steps = 0;; steps++) {
        gram_smo_extremes e[2];
        for (int s = 0; s < 2; s++) {
            const int64_t o = s ? block->count[0] : 0;
            e[s] = loops->NAME(move)(block->count[s], t, NAME(row_of)(block, &up, s), NAME(row_of)(block, &down, s),
                                     block->rise + o, block->fall + o, block->v + o);
        }
        if (!NAME(choose)(loops, block, e, tolerance, &up, &down) || steps == most) return steps;
        if (!NAME(step)(block, &up, &down, &t)) return steps;
    }
}
