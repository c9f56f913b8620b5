/* What the rows of kernel PCA and of Mercer expansions share. */
#ifndef GRAM_METHOD_COMPONENT_ROWS_H
#define GRAM_METHOD_COMPONENT_ROWS_H

#include "method/method.h"
#include "solve/components/components.h"

/* The option `solver` as a row of a table of options, for settings with a gram_chosen of that name. */
extern const gram_choice gram_component_solvers[];
#define GRAM_COMPONENT_SOLVER_OPTION(settings, words)                                                                  \
    {                                                                                                                  \
        .name = "solver", .kind = GRAM_OPTION_CHOICE, .offset = offsetof(settings, solver), .argument = "HOW",         \
        .help = "auto (default), dense, krylov, nystrom[:M] (M columns of K), covariance (linear kernel)",             \
        .otherwise = "auto", .choices = gram_component_solvers, .elsewhere = words                                     \
    }

/* Chooses the road, looks whether there is room (`what` for the message: "the components of"), and announces it. */
gram_status gram_component_rows_plan(gram_learning *learning, const gram_component_options *asked, const char *what);

/* After a fit that found fewer eigenvalues above rounding: one component less, if no number was asked for. 0: there is nothing to try. */
int gram_component_rows_fewer(const gram_learning *learning, gram_status status, int64_t *components);

/* Advice after a fit that failed; one that did not converge is a failure, after so many products. */
gram_status gram_component_rows_end(gram_learning *learning, gram_status status, const char *data_advice,
                                    int64_t products, double residual);

#endif
