/* How far predictions are from what was observed, summed up row by row. */
#ifndef GRAM_CLI_SCORE_H
#define GRAM_CLI_SCORE_H

#include "cli.h"
#include "json.h"

/* For each output: rows with a target, their mean and sum of squares about it, and sums of errors. */
typedef struct cli_score_sums {
    int64_t count;
    double mean, squares;
    double squared, absolute;
} cli_score_sums;

typedef struct cli_score {
    int64_t outputs;
    cli_score_sums *sums;
} cli_score;

/* Returns the exit code; the caller frees it. */
int cli_score_begin(int64_t outputs, cli_score *score);
/* One row of observations and predictions, `outputs` each; a NaN is left out. */
void cli_score_add(cli_score *score, const double *y, const double *f);
void cli_score_free(cli_score *score);

/* Over all outputs: the rows that had one, NaN if there was none. */
int64_t cli_score_count(const cli_score *score);
double cli_score_rmse(const cli_score *score);
double cli_score_mae(const cli_score *score);
/* 1 - sum of squared errors/sum of squares about each output's mean; NaN if nothing varies. */
double cli_score_r2(const cli_score *score);

#endif
