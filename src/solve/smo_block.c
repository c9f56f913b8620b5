#include "smo_block.h"

#include <math.h>

/* An entry: its segment, its place there, and its place in the arrays. */
typedef struct entry {
    int segment;
    int64_t row;
    int64_t at;
} entry;

double gram_smo_least_curvature(double largest_diagonal)
{
    return largest_diagonal > 0 ? 1e-12 * largest_diagonal : 1e-12;
}

static entry entry_of(const gram_smo_block *block, int segment, int64_t row)
{
    return (entry){segment, row, (segment ? block->count[0] : 0) + row};
}

static const double *row_of(const gram_smo_block *block, const entry *e, int segment)
{
    return block->k[e->segment][segment] + e->row * block->ld[e->segment][segment];
}

static void note_bounds(gram_smo_block *block, int64_t i)
{
    block->rise[i] = block->b[i] < block->upper[i] ? 0 : -INFINITY;
    block->fall[i] = block->b[i] > block->lower[i] ? 0 : INFINITY;
}

/* The partner for `up` in one segment, if it gains more than *gain. */
static int find_partner(const gram_smo_loops *loops, const gram_smo_block *block, const entry *up, int segment,
                        entry *down, double *gain)
{
    const int64_t first = segment ? block->count[0] : 0;
    double found = 0;
    const int64_t row = loops->partner(block->count[segment], block->v[up->at], block->diagonal[up->at], block->least,
                                       row_of(block, up, segment), block->diagonal + first, block->v + first,
                                       block->fall + first, &found);
    if (row < 0 || found <= *gain) return 0;
    *gain = found;
    *down = entry_of(block, segment, row);
    return 1;
}

/* The next pair; 0 if no violation exceeds the tolerance. */
static int choose(const gram_smo_loops *loops, gram_smo_block *block, const gram_smo_extremes e[2], double tolerance,
                  entry *up, entry *down)
{
    double gain = -INFINITY;
    int found = 0;
    block->violation = 0;
    if (block->joined) {
        const int top = e[1].highest > e[0].highest;
        block->violation = fmax(0, e[top].highest - fmin(e[0].lowest, e[1].lowest));
        if (!(block->violation > tolerance)) return 0;
        *up = entry_of(block, top, e[top].at);
        for (int s = 0; s < 2; s++) found |= find_partner(loops, block, up, s, down, &gain);
        return found;
    }
    for (int s = 0; s < 2; s++) {
        const double violation = e[s].highest - e[s].lowest;
        if (violation > block->violation) block->violation = violation;
        if (!(violation > tolerance)) continue;
        const entry candidate = entry_of(block, s, e[s].at);
        if (!find_partner(loops, block, &candidate, s, down, &gain)) continue;
        *up = candidate;
        found = 1;
    }
    return found;
}

/* b rises at `up` and falls at `down` by the same, as far as the objective and the bounds say. */
static double step(gram_smo_block *block, const entry *up, const entry *down)
{
    const int64_t i = up->at, j = down->at;
    const double curvature = block->diagonal[i] + block->diagonal[j] - 2 * row_of(block, up, down->segment)[down->row];
    const double above = block->upper[i] - block->b[i], below = block->b[j] - block->lower[j];
    const double t =
        fmin((block->v[i] - block->v[j]) / (curvature > block->least ? curvature : block->least), fmin(above, below));
    block->b[i] = t < above ? block->b[i] + t : block->upper[i];
    block->b[j] = t < below ? block->b[j] - t : block->lower[j];
    note_bounds(block, i);
    note_bounds(block, j);
    return t;
}

int64_t gram_smo_block_solve(const gram_smo_loops *loops, gram_smo_block *block, double tolerance, int64_t most)
{
    entry up = {0, 0, 0}, down = {0, 0, 0};
    double t = 0;
    for (int64_t k = 0; k < block->count[0] + block->count[1]; k++) note_bounds(block, k);
    for (int64_t steps = 0;; steps++) {
        gram_smo_extremes e[2];
        for (int s = 0; s < 2; s++) {
            const int64_t o = s ? block->count[0] : 0;
            e[s] = loops->move(block->count[s], t, row_of(block, &up, s), row_of(block, &down, s), block->rise + o,
                               block->fall + o, block->v + o);
        }
        if (!choose(loops, block, e, tolerance, &up, &down) || steps == most) return steps;
        t = step(block, &up, &down);
    }
}
