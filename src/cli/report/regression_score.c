#include "cli/report/regression_score.h"

#include <math.h>
#include <stdlib.h>

int cli_score_begin(int64_t outputs, int64_t level_count, cli_score *score)
{
    score->outputs = outputs;
    score->level_count = level_count;
    score->levels = calloc((size_t)level_count + 1, sizeof *score->levels);
    score->sums = calloc((size_t)outputs + 1, sizeof *score->sums);
    return score->sums && score->levels ? CLI_DONE : cli_no_memory();
}

void cli_score_free(cli_score *score)
{
    free(score->sums);
    free(score->levels);
    *score = (cli_score){0};
}

void cli_score_add_levels(cli_score *score, double y, const double *levels, const double *quantiles)
{
    for (int64_t i = 0; i < score->level_count && !isnan(y); i++) {
        const double r = y - quantiles[i];
        score->levels[i].count++;
        score->levels[i].loss += r > 0 ? levels[i] * r : (levels[i] - 1) * r;
        score->levels[i].below += y <= quantiles[i];
    }
}

/* Welford's update: the sum of squares about the mean without cancellation. */
void cli_score_add(cli_score *score, const double *y, const double *f)
{
    for (int64_t o = 0; o < score->outputs; o++) {
        cli_score_sums *sums = &score->sums[o];
        if (isnan(y[o]) || isnan(f[o])) continue;
        const double from_mean = y[o] - sums->mean, error = y[o] - f[o];
        sums->count++;
        sums->mean += from_mean / (double)sums->count;
        sums->squares += from_mean * (y[o] - sums->mean);
        sums->squared += error * error;
        sums->absolute += fabs(error);
    }
}

void cli_score_add_density(cli_score *score, double y, double mean, double std, double quantile)
{
    cli_score_densities *all = &score->densities;
    const double z = (y - mean) / std;
    if (isnan(y) || isnan(mean) || isnan(std)) return;
    all->count++;
    all->nlpd += std > 0 ? 0.5 * z * z + log(std) + 0.91893853320467274178 : y == mean ? -INFINITY : INFINITY;
    all->inside += fabs(y - mean) <= quantile * std;
}

static cli_score_sums total(const cli_score *score)
{
    cli_score_sums all = {0};
    for (int64_t o = 0; o < score->outputs; o++) {
        all.count += score->sums[o].count;
        all.squares += score->sums[o].squares;
        all.squared += score->sums[o].squared;
        all.absolute += score->sums[o].absolute;
    }
    return all;
}

int64_t cli_score_count(const cli_score *score)
{
    int64_t most = 0;
    for (int64_t o = 0; o < score->outputs; o++)
        if (score->sums[o].count > most) most = score->sums[o].count;
    return most;
}

double cli_score_rmse(const cli_score *score)
{
    const cli_score_sums all = total(score);
    return all.count > 0 ? sqrt(all.squared / (double)all.count) : NAN;
}

double cli_score_mae(const cli_score *score)
{
    const cli_score_sums all = total(score);
    return all.count > 0 ? all.absolute / (double)all.count : NAN;
}

double cli_score_r2(const cli_score *score)
{
    const cli_score_sums all = total(score);
    return all.squares > 0 ? 1 - all.squared / all.squares : NAN;
}

double cli_score_nlpd(const cli_score *score)
{
    return score->densities.count > 0 ? score->densities.nlpd / (double)score->densities.count : NAN;
}

double cli_score_coverage(const cli_score *score)
{
    return score->densities.count > 0 ? score->densities.inside / (double)score->densities.count : NAN;
}
