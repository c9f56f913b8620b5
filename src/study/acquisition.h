/* What a point of the cube is worth: values to be maximised, with exact gradients. */
#ifndef GRAM_STUDY_ACQUISITION_H
#define GRAM_STUDY_ACQUISITION_H

#include <gram/gp_path.h>
#include <gram/study.h>

#include "study/surrogate.h"

typedef struct gram_acquisition {
    gram_acquisition_kind kind; /* never AUTO */
    const gram_surrogate *objective;
    int64_t constraint_count;
    const gram_surrogate *constraints; /* feasible: <= 0 in their own units */
    int feasible;                      /* a feasible point is known; if not, only constraints count */
    double best;                       /* f*, standardised */
    double kappa;
    /* noisy improvement: the process without noise at the rows and at the points that are out, and draws of it there */
    gram_surrogate exact;
    int64_t draws;
    double *weights; /* rows x draws: coefficients of each draw's mean */
    double *stars;   /* draws: the least value of each */
    gram_gp_path *path;
    double *work; /* of one evaluation with gradient */
} gram_acquisition;

/* The surrogates (borrowed) have the rows that are known, and for kinds other than NOISY those that are pretended. `pending` are
 * the points that are out. `which` makes draws differ from one proposal to the next. gram_acquisition_free is due after a failure too. */
typedef struct gram_acquisition_request {
    gram_acquisition_kind kind;
    const gram_surrogate *objective;
    int64_t constraint_count;
    const gram_surrogate *constraints;
    int feasible;
    double best;
    double kappa;
    int64_t pending_count;
    const double *pending;
    uint64_t seed, which;
} gram_acquisition_request;

gram_status gram_acquisition_make(gram_context *context, const gram_acquisition_request *request,
                                  gram_acquisition *out);
void gram_acquisition_free(gram_context *context, gram_acquisition *acquisition);

/* At m points of the cube. */
gram_status gram_acquisition_values(gram_context *context, const gram_acquisition *a, int64_t m, const double *u,
                                    double *out);
/* At one, with the gradient: d numbers. */
gram_status gram_acquisition_slope(gram_context *context, const gram_acquisition *a, const double *u, double *value,
                                   double *gradient);

/* Expected improvement over `best` in the units of the values, from the objective alone. */
gram_status gram_acquisition_expected(gram_context *context, const gram_surrogate *objective, double best,
                                      const double *u, double *mean, double *deviation, double *expected);

#endif
