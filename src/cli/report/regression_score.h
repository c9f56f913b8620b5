/* How far predictions are from what was observed, summed up row by row. */
#ifndef GRAM_CLI_REPORT_REGRESSION_SCORE_H
#define GRAM_CLI_REPORT_REGRESSION_SCORE_H

#include "cli/terminal/cli.h"
#include "cli/terminal/json_print.h"

/* For each output: rows with a target, their mean and sum of squares about it, and sums of errors. */
typedef struct cli_score_sums {
    int64_t count;
    double mean, squares;
    double squared, absolute;
} cli_score_sums;

/* Of predictive distributions: rows, sums of minus log densities, and rows within their interval. */
typedef struct cli_score_densities {
    int64_t count;
    double nlpd, inside;
} cli_score_densities;

/* Of one level of a quantile: the mean pinball loss, and the share of observations below. */
typedef struct cli_score_level {
    int64_t count;
    double loss, below;
} cli_score_level;

typedef struct cli_score {
    int64_t outputs;
    int64_t level_count;
    cli_score_level *levels;
    cli_score_densities densities;
    cli_score_sums *sums;
} cli_score;

/* Returns the exit code; the caller frees it. */
int cli_score_begin(int64_t outputs, int64_t level_count, cli_score *score);
/* One observation and its predicted quantiles at those levels. */
void cli_score_add_levels(cli_score *score, double y, const double *levels, const double *quantiles);
/* One row of observations and predictions, `outputs` each; a NaN is left out. */
void cli_score_add(cli_score *score, const double *y, const double *f);
/* A normal predictive distribution of one observation; the interval is `quantile` deviations wide on both sides. Left out if
 * a number is NaN. */
void cli_score_add_density(cli_score *score, double y, double mean, double std, double quantile);
void cli_score_free(cli_score *score);

/* Over all outputs: the rows that had one, NaN if there was none. */
int64_t cli_score_count(const cli_score *score);
double cli_score_rmse(const cli_score *score);
double cli_score_mae(const cli_score *score);
/* 1 - sum of squared errors/sum of squares about each output's mean; NaN if nothing varies. */
double cli_score_r2(const cli_score *score);
/* The mean of minus the log density, and the share of rows within their interval; NaN if there was none. */
double cli_score_nlpd(const cli_score *score);
double cli_score_coverage(const cli_score *score);

#endif
