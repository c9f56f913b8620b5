/* Which cell of a grid of cross-validated scores to choose. */
#include <math.h>

#include "tune/grid_search.h"

/* A cell's score, larger being better, among its neighbours' if the rule says so. */
static double worth(const gram_grid_rule *rule, const gram_grid_scores *grid, int64_t cell)
{
    static const double weights[] = {1, 2, 1};
    const int64_t width = cell / grid->strengths, strength = cell % grid->strengths;
    const double sign = rule->maximise ? 1 : -1;
    double sum = 0, total = 0;
    if (!rule->smooth || isnan(grid->scores[cell])) return sign * grid->scores[cell];
    for (int64_t w = width - 1; w <= width + 1; w++)
        for (int64_t k = strength - 1; k <= strength + 1; k++) {
            if (w < 0 || w >= grid->widths || k < 0 || k >= grid->strengths) continue;
            if (isnan(grid->scores[w * grid->strengths + k])) continue; /* not fitted */
            const double weight = weights[w - width + 1] * weights[k - strength + 1];
            sum += weight * grid->scores[w * grid->strengths + k];
            total += weight;
        }
    return sign * (sum / total);
}

/* NaN is worse than any number. */
static int is_better(const gram_grid_rule *rule, const gram_grid_scores *grid, int64_t a, int64_t b)
{
    const double x = worth(rule, grid, a), y = worth(rule, grid, b);
    if (isnan(x) || isnan(y)) return !isnan(x);
    if (x != y) return x > y;
    const int64_t first = a % grid->strengths, second = b % grid->strengths;
    return first != second ? first < second : a / grid->strengths > b / grid->strengths;
}

int64_t gram_grid_choose(const gram_grid_rule *rule, const gram_grid_scores *grid)
{
    const int64_t cells = grid->widths * grid->strengths;
    int64_t best = 0, simple;
    for (int64_t i = 1; i < cells; i++)
        if (is_better(rule, grid, i, best)) best = i;
    if (!(rule->as_good > 0)) return best;
    const double enough = worth(rule, grid, best) - rule->as_good * grid->errors[best];
    simple = best;
    for (int64_t i = 0; i < cells; i++) {
        const int64_t strength = i % grid->strengths, least = simple % grid->strengths;
        if (!(worth(rule, grid, i) >= enough)) continue;
        if (strength < least || (strength == least && is_better(rule, grid, i, simple))) simple = i;
    }
    return simple;
}

gram_grid_rest gram_grid_screen(const gram_grid_rule *rule, const gram_grid_scores *grid)
{
    const int64_t cells = grid->widths * grid->strengths;
    int64_t best = 0;
    gram_grid_rest rest = {grid->widths, 0, 0};
    for (int64_t i = 1; i < cells; i++)
        if (is_better(rule, grid, i, best)) best = i;
    const double enough = worth(rule, grid, best) - grid->errors[best];
    for (int64_t i = 0; i < cells; i++) {
        const int64_t width = i / grid->strengths, strength = i % grid->strengths;
        if (i != best && !(worth(rule, grid, i) >= enough)) continue;
        if (width < rest.first) rest.first = width;
        if (width >= rest.end) rest.end = width + 1;
        if (strength >= rest.strengths) rest.strengths = strength + 1;
    }
    return rest;
}

static int is_end(int64_t place, int64_t count)
{
    return count > 1 && (place == 0 || place == count - 1);
}

int gram_grid_at_edge(const gram_grid_scores *grid, int64_t cell)
{
    return is_end(cell / grid->strengths, grid->widths) || is_end(cell % grid->strengths, grid->strengths);
}

int gram_grid_is_clearly_better(const gram_grid_rule *rule, const gram_grid_found *a, const gram_grid_found *b)
{
    if (!(rule->errors > 0)) return a->score < rule->ratio * b->score;
    return (rule->maximise ? a->score - b->score : b->score - a->score) > rule->errors * b->error;
}
