/* A Gaussian process from inside: one object, and the table of its solvers. A new solver is one folder and one row. */
#ifndef GRAM_METHOD_GP_GP_SOLVERS_H
#define GRAM_METHOD_GP_GP_SOLVERS_H

#include "method/gp/gp_mean.h"

typedef struct gram_gp_solver gram_gp_solver;

struct gram_gp {
    gram_memory *memory;
    const gram_gp_solver *solver;
    gram_gp_options options; /* mean, columns and noise; nothing that is the caller's */
    int64_t n, d, q;         /* q: of beta */
    gram_gp_report report;
    /* from here on the solver's to fill in */
    void *state;
    gram_function *function; /* retained here */
    const double *beta;      /* q: the constant, slopes and coefficients of the given columns; in the state, as are: */
    const double *loo_mean, *loo_variance;
};

/* What a plan is made for. */
typedef struct gram_gp_case {
    const gram_kernel *kernel;
    int64_t n, d;
    const gram_gp_options *options;
} gram_gp_case;

/* A row. What is NULL is refused with GRAM_ERROR_UNSUPPORTED, but for create. */
struct gram_gp_solver {
    gram_solver solver;
    gram_precision precision;
    int filters; /* gram_gp_function is not all of the posterior mean: it has no coefficients where rows have no noise */
    /* Fills in bytes, seconds, reason and landmarks, or says why it cannot be. */
    gram_status (*plan)(gram_context *context, const gram_gp_case *what, gram_plan *plan);
    /* Fills in the gp, and its report unless `bare`: then only predictions are asked for. */
    gram_status (*fit)(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                       const gram_gp_options *options, int bare, gram_gp *gp);
    gram_status (*likelihood)(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                              const gram_gp_options *options, double *value, double *gradient);
    /* From parts that have been checked; NULL: fitted again to the data. */
    gram_status (*create)(gram_context *context, gram_kernel *kernel, const gram_gp_parts *parts, gram_gp *gp);
    void (*describe)(const void *state, gram_gp_parts *parts);
    gram_status (*factor)(gram_context *context, const void *state, double *out);
    gram_status (*predict)(gram_context *context, const void *state, const gram_points *points, const double *basis,
                           int64_t ldb, double *mean, double *variance);
    gram_status (*predict_term)(gram_context *context, const void *state, gram_kernel *term, const gram_points *points,
                                double *mean, double *variance);
    gram_status (*covariance)(gram_context *context, const void *state, const gram_points *points, const double *basis,
                              int64_t ldb, double *covariance, int64_t ld);
    gram_status (*draw)(gram_context *context, const void *state, const gram_points *points, const double *basis,
                        int64_t ldb, int64_t count, double *out, int64_t ldo, double *jitter);
    void (*destroy)(void *state);
};

extern const gram_gp_solver gram_gp_solver_exact, gram_gp_solver_mixed, gram_gp_solver_markov, gram_gp_solver_cg,
    gram_gp_solver_inducing, gram_gp_solver_vecchia;

/* The row of a solver and a precision, NULL if there is none. GRAM_PRECISION_AUTO is F64. */
const gram_gp_solver *gram_gp_solver_find(gram_solver solver, gram_precision precision);

/* (gp_plan.c) The row that a fit will use: as the options ask, as their plan says, or chosen. `name` is for messages. */
gram_status gram_gp_solver_choose(gram_context *context, const char *name, const gram_gp_case *what,
                                  const gram_gp_solver **row);

/* For the rows: GRAM_ERROR_ARGUMENT where there is no noise; NaN is a noise that is not known yet. */
gram_status gram_gp_plan_check_noise(gram_context *context, const gram_gp_case *what, const char *solver);
/* The plan of a factor. */
gram_status gram_gp_plan_factor(gram_context *context, const gram_gp_case *what, gram_precision precision,
                                gram_plan *plan);

/* Fits to the data of the parts, bare. */
gram_status gram_gp_refit(gram_context *context, gram_kernel *kernel, const gram_gp_parts *parts, gram_gp *gp);

#endif
