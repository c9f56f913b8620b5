/* The upper envelope of lines and what it gains.
 *
 * With the lines that are somewhere the largest in the order of their slopes, neighbours i and i + 1 cross at a distance |height_i - height_(i+1)|
 * over s_i = slope_(i+1) - slope_i from 0, and
 *
 *     E max - max height = sum_i s_i h(-|height_i - height_(i+1)|/s_i),   h(z) = phi(z) + z Phi(z)
 *
 * (P. Frazier, W. Powell and S. Dayanik, The knowledge-gradient policy for correlated normal beliefs, INFORMS J. Computing 2009). Each term is an
 * expected improvement, so its logarithm and slopes are those of improvement.c and nothing underflows. */
#include <math.h>
#include <stdlib.h>

#include "study/improvement.h"
#include "study/line_gain.h"

static int by_slope_then_height(const void *first, const void *second)
{
    const gram_line *a = first, *b = second;
    if (a->slope != b->slope) return a->slope < b->slope ? -1 : 1;
    if (a->height != b->height) return a->height < b->height ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Is b never above both a and c, whose slopes are on its two sides? */
static int is_below(const gram_line *a, const gram_line *b, const gram_line *c)
{
    return (a->height - b->height) * (c->slope - b->slope) >= (b->height - c->height) * (b->slope - a->slope);
}

/* The envelope's lines are moved to the front; returns how many. */
static int64_t find_envelope(gram_line *lines, int64_t count)
{
    int64_t kept = 0;
    qsort(lines, (size_t)count, sizeof *lines, by_slope_then_height);
    for (int64_t i = 0; i < count; i++) {
        if (kept && lines[kept - 1].slope == lines[i].slope) kept--;
        while (kept > 1 && is_below(lines + kept - 2, lines + kept - 1, lines + i)) kept--;
        lines[kept++] = lines[i];
    }
    return kept;
}

/* log s h(z) of two neighbours, and the derivative of log h. */
static double log_term(const gram_line *a, double *z, double *slope)
{
    const double s = a[1].slope - a[0].slope;
    *z = -fabs(a[0].height - a[1].height) / s;
    return log(s) + gram_log_improvement(*z, slope);
}

static void add_slopes(const gram_line *a, double share, double z, double slope, double *by_height, double *by_slope)
{
    const double s = a[1].slope - a[0].slope, apart = copysign(share * slope / s, a[0].height - a[1].height);
    by_height[a[0].index] -= apart;
    by_height[a[1].index] += apart;
    by_slope[a[0].index] -= share * (1 - z * slope) / s;
    by_slope[a[1].index] += share * (1 - z * slope) / s;
}

double gram_line_gain(gram_line *lines, int64_t count, double *by_height, double *by_slope)
{
    const int64_t kept = find_envelope(lines, count);
    double top = -INFINITY, sum = 0, z, slope;
    for (int64_t i = 0; i + 1 < kept; i++) top = fmax(top, log_term(lines + i, &z, &slope));
    if (!isfinite(top)) return -INFINITY;
    for (int64_t i = 0; i + 1 < kept; i++) sum += exp(log_term(lines + i, &z, &slope) - top);
    for (int64_t i = 0; by_height && i < kept; i++) by_height[lines[i].index] = by_slope[lines[i].index] = 0;
    for (int64_t i = 0; by_height && i + 1 < kept; i++) {
        const double share = exp(log_term(lines + i, &z, &slope) - top) / sum;
        add_slopes(lines + i, share, z, slope, by_height, by_slope);
    }
    return top + log(sum);
}
