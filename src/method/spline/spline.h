/* Between the files of smoothing splines. */
#ifndef GRAM_METHOD_SPLINE_SPLINE_H
#define GRAM_METHOD_SPLINE_SPLINE_H

#include <gram/spline.h>

#include "method/spline/spline_chain.h"
#include "method/spline/spline_sum.h"
#include "points/points.h"

/* A piecewise polynomial: what a fit, or a model, knows of its function. */
typedef struct gram_spline_curve {
    int m;
    int64_t n;            /* knots */
    const double *t;      /* n, ascending; of a circle all within one period */
    const double *pieces; /* n x 2m: f and its derivatives from each knot on */
    double period;        /* 0: a line */
    int64_t outputs;      /* curves whose pieces are side by side, this one the first; 0: one */
} gram_spline_curve;

/* The gap that x is in, -1 before the first knot of a line, and how far into it. x of a circle is moved by whole periods. */
int64_t gram_curve_find(const gram_spline_curve *curve, double x, double *along);
/* Derivative r of the polynomial there. */
double gram_curve_at(const gram_spline_curve *curve, int64_t gap, double along, int r);

/* Rows sorted, those of one x pooled. */
typedef struct gram_spline_rows {
    int64_t given, n, places;  /* rows of the caller, of weight above 0, distinct x */
    double *t, *weight, *mean; /* of the places */
    int64_t *place;            /* of each row of the caller, -1 for one of weight 0 */
    double period;
    double within;     /* sum w (y - mean)^2 over rows of one place */
    double total;      /* sum of the weights */
    double log_weight; /* sum of the logarithms of the rows' weights */
    double variation;  /* sum w (y - mean of all)^2 */
} gram_spline_rows;

/* Are y and the weights numbers that a fit takes? `function` starts the messages. */
gram_status gram_spline_rows_check(gram_context *context, const char *function, const gram_points *x, const double *y,
                                   const double *weights);
/* Checks and gathers; `function` starts the messages. On failure too, gram_spline_rows_free is due. */
gram_status gram_spline_rows_make(gram_context *context, const char *function, const gram_points *x, const double *y,
                                  const double *weights, int m, double period, gram_spline_rows *rows);
void gram_spline_rows_free(gram_context *context, gram_spline_rows *rows);

/* What a criterion sees of one lambda. */
typedef struct gram_spline_score {
    double alpha;                         /* n lambda */
    double rss, df, gcv, loo, likelihood; /* loo: mean square */
} gram_spline_score;

/* Solves for alpha and finds what `criterion` needs, or everything for -1. */
gram_status gram_spline_try(gram_context *context, gram_chain *chain, const gram_spline_rows *rows, const double *y,
                            const double *weights, double alpha, int criterion, gram_spline_score *score);
/* Chooses alpha. */
gram_status gram_spline_choose(gram_context *context, gram_chain *chain, const gram_spline_rows *rows, const double *y,
                               const double *weights, gram_criterion criterion, double *alpha,
                               gram_spline_report *report);

struct gram_spline {
    gram_memory *memory;
    gram_spline_report report;
    gram_spline_curve curve;
    double *t, *pieces, *weight;
    gram_chain chain; /* with variances, if there are bands */
    int bands;
    double *fitted, *left; /* n */
    double *coefficients;  /* of the places: w (y - f)/alpha */
    gram_spline_sum sum;   /* of several columns, in place of curve and chain */
};

/* A fit without its rows, from what a model keeps; weight NULL: without bands. */
gram_status gram_spline_restore(gram_context *context, const gram_spline_curve *curve, const double *weight,
                                const gram_spline_report *report, gram_spline **spline);

/* Makes an object without anything in it. */
gram_status gram_spline_make(gram_context *context, gram_spline **spline);

/* A functional of f: the sum of its terms. Each has factor times a derivative of order `first` by column `by` and of order `second` by
 * column `with`. */
typedef struct gram_spline_term {
    const double *x; /* d numbers */
    int64_t by, with;
    int first, second;
    double factor;
} gram_spline_term;

/* Of one term for a curve with variance. `only` as in gram_sum_add; phi has room for p numbers (NULL for a curve). */
gram_status gram_spline_apply(gram_context *context, const gram_spline *spline, int64_t count,
                              const gram_spline_term *terms, int64_t only, double *phi, double *mean, double *variance);

#endif
