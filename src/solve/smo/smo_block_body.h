/* SMO on a block, for one type: included by smo_block.c for f64 and for f32, which defines REAL and NAME(name). */

static entry NAME(entry_of)(const NAME(gram_smo_block) * block, int segment, int64_t row)
{
    return (entry){segment, row, (segment ? block->count[0] : 0) + row};
}

static const REAL *NAME(row_of)(const NAME(gram_smo_block) * block, const entry *e, int segment)
{
    if (e->segment < 0) return block->zero;
    return block->k[e->segment][segment] + e->row * block->ld[e->segment][segment];
}

static REAL NAME(v_of)(const NAME(gram_smo_block) * block, const entry *e)
{
    return e->segment < 0 ? block->level : block->v[e->at];
}

static REAL NAME(diagonal_of)(const NAME(gram_smo_block) * block, const entry *e)
{
    return e->segment < 0 ? 0 : block->diagonal[e->at];
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
    const int64_t row = loops->NAME(partner)(block->count[segment], NAME(v_of)(block, up), NAME(diagonal_of)(block, up),
                                             (REAL)block->least, NAME(row_of)(block, up, segment),
                                             block->diagonal + first, block->v + first, block->fall + first, &found);
    if (row < 0 || found <= *gain) return 0;
    *gain = found;
    *down = NAME(entry_of)(block, segment, row);
    return 1;
}

/* The next variable with its partner, which may be nobody; 0 if no violation exceeds the tolerance. */
static int NAME(choose_alone)(const gram_smo_loops *loops, const NAME(gram_smo_block) * block,
                              const gram_smo_extremes e[2], double tolerance, entry *up, entry *down)
{
    const int top = e[1].highest > e[0].highest;
    const double level = (double)block->level, highest = fmax(e[top].highest, level);
    double gain = -INFINITY;
    int found = 0;
    if (!(highest - fmin(fmin(e[0].lowest, e[1].lowest), level) > tolerance)) return 0;
    *up = e[top].highest > level ? NAME(entry_of)(block, top, e[top].at) : NOBODY;
    for (int s = 0; s < 2; s++) found |= NAME(find_partner)(loops, block, up, s, down, &gain);
    if (up->segment < 0) return found;
    const double above = highest - level,
                 own = above * above / fmax((double)NAME(diagonal_of)(block, up), block->least);
    if (found && gain >= own) return 1;
    *down = NOBODY;
    return 1;
}

/* The next pair; 0 if no violation exceeds the tolerance. */
static int NAME(choose)(const gram_smo_loops *loops, const NAME(gram_smo_block) * block, const gram_smo_extremes e[2],
                        double tolerance, entry *up, entry *down)
{
    double gain = -INFINITY;
    int found = 0;
    if (block->alone) return NAME(choose_alone)(loops, block, e, tolerance, up, down);
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

/* b[e->at] moves by `change`, which is not beyond `room`, to `bound` if it is all of it. Did it? */
static int NAME(move_one)(NAME(gram_smo_block) * block, const entry *e, double change, double room, double bound)
{
    if (e->segment < 0) return 0;
    const double before = block->b[e->at];
    block->b[e->at] = fabs(change) < room ? before + change : bound;
    NAME(note_bounds)(block, e->at);
    return block->b[e->at] != before;
}

/* b rises at `up` and falls at `down` by the same, as far as the objective and the bounds say; v is to change by *t. 0 if b does
 * not change for rounding. */
static int NAME(step)(NAME(gram_smo_block) * block, const entry *up, const entry *down, REAL *t)
{
    const REAL product = down->segment < 0 ? 0 : NAME(row_of)(block, up, down->segment)[down->row];
    const REAL curvature = NAME(diagonal_of)(block, up) + NAME(diagonal_of)(block, down) - 2 * product;
    const double slope = (double)(NAME(v_of)(block, up) - NAME(v_of)(block, down));
    const double free = slope / fmax((double)curvature, block->least) * block->unit;
    const double top = up->segment < 0 ? INFINITY : block->upper[up->at];
    const double bottom = down->segment < 0 ? -INFINITY : block->lower[down->at];
    const double above = up->segment < 0 ? INFINITY : top - block->b[up->at];
    const double below = down->segment < 0 ? INFINITY : block->b[down->at] - bottom;
    const double change = fmin(free, fmin(above, below));
    const int rose = NAME(move_one)(block, up, change, above, top);
    const int fell = NAME(move_one)(block, down, -change, below, bottom);
    *t = (REAL)(change / block->unit);
    return rose || fell;
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
