/* Between the files of regression with any loss. */
#ifndef GRAM_METHOD_LOSS_LOSS_H
#define GRAM_METHOD_LOSS_LOSS_H

#include <gram/loss.h>

#include "points/weighted_problem.h"
#include "solve/factored_matrix.h"

typedef struct gram_loss_solution {
    const gram_loss_matrix *k;
    const gram_loss_options *options;
    const double *y, *weights;    /* n; weights may be NULL */
    const gram_row_sense *senses; /* n, or NULL: all are data */
    int64_t outputs;
    int intercept; /* the first of the unpenalised columns is the constant's */
    int64_t q;
    const double *unpenalised; /* n x q */
    int64_t fitted;            /* rows that are data: n of lambda */
    double c;                  /* 2 n lambda */
    int warm;                  /* start from what is there */
    double *a, *b, *f;         /* n x outputs, q x outputs, n x outputs */
    double *numbers;           /* of the interior-point method */
    int64_t count;
    double objective, dual, gap, jitter; /* objective and dual are sums over rows */
    double violation;                    /* of the constraints */
    int64_t worst;                       /* the row where that is */
    int infeasible;                      /* no function satisfies them */
    int64_t iterations;
    int converged;
} gram_loss_solution;

gram_status gram_loss_options_read(gram_context *context, const char *name, const char *argument,
                                   const gram_loss_options *options, gram_loss_options *known);
/* Of complete options: the loss of one row, of one level. */
double gram_loss_at(const gram_loss_options *options, int64_t quantile, double y, double f);
int64_t gram_loss_outputs(const gram_loss_options *options);

gram_status gram_loss_solution_take(gram_context *context, gram_loss_solution *s);
void gram_loss_solution_give(gram_context *context, gram_loss_solution *s);
gram_status gram_loss_solve(gram_context *context, gram_loss_solution *s);

/* sum_i w_i loss_o(y_i - f_io) over rows that are data and outputs. */
double gram_loss_sum(const gram_loss_solution *s);

/* Is row i one of the data? */
static inline int gram_loss_is_fitted(const gram_loss_solution *s, int64_t i)
{
    return !s->senses || s->senses[i] == GRAM_ROW_FITTED;
}

#endif
