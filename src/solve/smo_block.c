#include "smo_block.h"

#include <math.h>

static void note_bounds(gram_smo_block *block, int64_t i)
{
    block->rise[i] = block->b[i] < block->upper[i] ? 0 : -INFINITY;
    block->fall[i] = block->b[i] > block->lower[i] ? 0 : INFINITY;
}

/* The pair of one group that would gain most; 0 if its violation is within the tolerance. */
static int choose(const gram_smo_loops *loops, const gram_smo_block *block, int64_t first, int64_t count,
                  const gram_smo_extremes *extremes, double tolerance, int64_t *i, int64_t *j, double *gain)
{
    if (extremes->at < 0 || !(extremes->highest - extremes->lowest > tolerance)) return 0;
    *i = first + extremes->at;
    const double *row = block->k + *i * block->size;
    const int64_t found = loops->partner(count, extremes->highest, block->diagonal[*i], block->least, row + first,
                                         block->diagonal + first, block->v + first, block->fall + first, gain);
    *j = first + found;
    return found >= 0;
}

/* b_i rises and b_j falls by the same, as far as the objective and the bounds say. */
static double step(gram_smo_block *block, int64_t i, int64_t j)
{
    const double curvature = block->diagonal[i] + block->diagonal[j] - 2 * block->k[i * block->size + j];
    const double up = block->upper[i] - block->b[i], down = block->b[j] - block->lower[j];
    const double t =
        fmin((block->v[i] - block->v[j]) / (curvature > block->least ? curvature : block->least), fmin(up, down));
    block->b[i] = t < up ? block->b[i] + t : block->upper[i];
    block->b[j] = t < down ? block->b[j] - t : block->lower[j];
    note_bounds(block, i);
    note_bounds(block, j);
    return t;
}

int64_t gram_smo_block_solve(const gram_smo_loops *loops, gram_smo_block *block, double tolerance, int64_t most)
{
    const int64_t first[2] = {0, block->group}, count[2] = {block->group, block->size - block->group};
    double t = 0;
    int64_t i = 0, j = 0, steps = 0;
    for (int64_t k = 0; k < block->size; k++) note_bounds(block, k);
    for (;; steps++) {
        double best = -INFINITY;
        const double *row_i = block->k + i * block->size, *row_j = block->k + j * block->size;
        for (int g = 0; g < 2; g++) {
            const int64_t o = first[g];
            int64_t up = 0, down = 0;
            double gain = 0;
            const gram_smo_extremes extremes = loops->move(count[g], t, row_i + o, row_j + o, block->rise + o,
                                                           block->fall + o, block->v + o);
            if (!choose(loops, block, o, count[g], &extremes, tolerance, &up, &down, &gain) || gain <= best) continue;
            best = gain;
            i = up;
            j = down;
        }
        if (best == -INFINITY || steps == most) return steps;
        t = step(block, i, j);
    }
}
