#include "learn/estimate/row_loss.h"

#include <math.h>

static double of_numbers(const gram_columns *columns, const double *y, const double *values)
{
    double sum = 0;
    for (int64_t o = 0; o < columns->outputs; o++) sum += (y[o] - values[o]) * (y[o] - values[o]);
    return sum / (double)columns->outputs;
}

static double of_levels(const gram_columns *columns, double y, const double *values)
{
    double sum = 0;
    for (int64_t k = 0; k < columns->level_count; k++) {
        const double r = y - values[k], level = columns->levels[k];
        sum += r > 0 ? level * r : (level - 1) * r;
    }
    return sum / (double)columns->level_count;
}

double gram_row_loss(const gram_columns *columns, const double *y, int64_t label, const double *values)
{
    if (columns->classes->count > 0) {
        const double p = columns->probability >= 0 ? values[columns->probability + label] : NAN;
        return isnan(p) ? values[0] != (double)label : -log(fmax(p, 1e-15));
    }
    return columns->level_count > 0 ? of_levels(columns, y[0], values) : of_numbers(columns, y, values);
}
