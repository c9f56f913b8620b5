/* Support vector machines: classification (C and nu), regression (epsilon and nu) and one class, with any kernel.
 *
 * All minimise |f|^2/2 plus losses, f in the kernel's Hilbert space with a free constant b (C and epsilon: or none); the formulas, and the dual
 * problems with the objective values that are reported, are LIBSVM's:
 *
 *   C             sum_i C_i max(0, 1 - y_i (f(x_i) + b)), C_i = C times the weights of row i and of its class
 *   nu            the same with nu instead of C: at most that share of margin errors, at least that share of support vectors
 *   one class     a region that holds all but at most a share nu of the rows: f(x) + b >= 0 inside
 *   epsilon       sum_i C_i max(0, |y_i - f(x_i) - b| - epsilon)
 *   nu regression the same with the epsilon that leaves at most a share nu of the rows outside of the tube
 *
 * Several classes are solved by pairs: output (a, b), a < b, of the function speaks for class a where it is above 0. The
 * outputs' order is (0,1), (0,2), ..., (1,2), ... A class gets a vote for each pair that it wins; the most votes decide, of
 * equals the lowest number.
 *
 * Deterministic: the same bits for any number of threads. A kernel that is not positive definite (sigmoid) is taken as it is:
 * the result is a stationary point. Rows that repeat, and kernels that are constant on the data, are no special case.
 *
 * Failures: what <gram/matrix.h> lists; GRAM_ERROR_ARGUMENT for an option out of its range or a nu that the classes do not
 * allow; GRAM_ERROR_DATA for a label that is not 0, 1, ..., a target or weight that is not finite, a class without a row of
 * weight above 0, and one class only where several are needed. */
#ifndef GRAM_SVM_H
#define GRAM_SVM_H

#include <gram/cross_validation.h>
#include <gram/model.h>

GRAM_BEGIN

typedef enum gram_svm_kind {
    GRAM_SVM_C = 0,
    GRAM_SVM_NU = 1,
    GRAM_SVM_ONE_CLASS = 2,
    GRAM_SVM_EPSILON_REGRESSION = 3,
    GRAM_SVM_NU_REGRESSION = 4
} gram_svm_kind;

typedef struct gram_svm_options {
    size_t size;
    gram_svm_kind kind;
    double C;                    /* > 0, default 1; not of nu and one class */
    double nu;                   /* in (0, 1], default 0.5 */
    double epsilon;              /* >= 0, default 0.1 */
    double tolerance;            /* of the optimality conditions, as LIBSVM's -e; default 1e-3 */
    double gap;                  /* stop at a duality gap of this part of the objective; 0 (default): never */
    size_t cache_bytes;          /* for rows of the kernel matrix; 0: up to 1 GiB, and half of what the budget leaves */
    const double *class_weights; /* one for each class, > 0; NULL: 1 */
    const double *weights;       /* one for each row, >= 0; NULL: 1 */
    int64_t iterations;          /* at most this many steps for each output; 0: no limit */
    double seconds;              /* at most about this long, shared by the outputs; 0: no limit */
    const double *start;         /* n x outputs dual variables to start from, as gram_svm_duals gives; NULL: none */
    int64_t probability_folds;   /* >= 2: probabilities from this many folds; 0 (default): none */
    const double
        *held_out; /* n x outputs decision values for probabilities, instead of folds; rows of NaN do not count */
    const int64_t
        *groups; /* n numbers: probability_folds keep their rows together (<gram/cross_validation.h>); NULL: none */
    int ordered; /* rows are in order of time: probability_folds go forward in it; default 0 */
    /* default 1; 0: b = 0. Of C and epsilon only: nu and one class are what they are by their constants (GRAM_ERROR_UNSUPPORTED) */
    int intercept;
} gram_svm_options;

GRAM_API void gram_svm_options_init(gram_svm_options *options, size_t size);

/* One of the problems that were solved: a pair of classes, or the only one (first = second = -1). */
typedef struct gram_svm_pair {
    int64_t first, second; /* classes */
    int64_t n;             /* rows of weight above 0 */
    int64_t n_support;     /* rows with a coefficient */
    int64_t n_bounded;     /* of them at their upper bound */
    int64_t iterations;
    double objective; /* of the dual, as LIBSVM prints it */
    double gap;       /* primal minus dual, >= 0 up to rounding */
    double violation; /* of the optimality conditions */
    double constant;  /* b; LIBSVM's rho is -b */
    int converged;
} gram_svm_pair;

typedef struct gram_svm_report {
    size_t size;
    gram_svm_kind kind;
    int64_t n, d;
    int64_t classes;    /* of classification, else 0 */
    int64_t outputs;    /* of the function: classes (classes - 1)/2, or 1 */
    int64_t n_support;  /* rows with a coefficient in any output */
    int64_t n_bounded;  /* rows at their bound in any output */
    int64_t iterations; /* sums over the outputs: */
    double objective, gap;
    double violation; /* the worst */
    double epsilon;   /* of the tube (regression), else NaN */
    double seconds;
    int converged;
    double C, nu; /* of the options; NaN for kinds without it */
} gram_svm_report;

typedef struct gram_svm gram_svm;

/* Fits n points x with y: labels 0, 1, ..., classes - 1 (classification), targets (regression), not used for one class (NULL).
 * The caller destroys the result. GRAM_NOT_CONVERGED when the budget of iterations or seconds ended first, or when rounding
 * does not allow the tolerance: the machine is the best so far, its report says how good, and a fit that starts from its duals
 * goes on from there.
 *
 * Time: a few hundred steps share a pass over their rows, made by the engine in batches; some n n_support kernel values at
 * least. Memory: cache_bytes, the duals (n x outputs), a copy of the support vectors, some n numbers for each problem. */
GRAM_API gram_status gram_svm_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                  const gram_svm_options *options, gram_svm **svm);
GRAM_API void gram_svm_destroy(gram_svm *svm);

/* These belong to the machine. The function has the support vectors of all outputs as centres. */
GRAM_API gram_function *gram_svm_function(const gram_svm *svm);
GRAM_API const gram_svm_report *gram_svm_get_report(const gram_svm *svm);
GRAM_API const gram_svm_pair *gram_svm_pairs(const gram_svm *svm); /* one for each output */
/* n x outputs dual variables with the sign of their class (regression: alpha - alpha*): where a later fit of the same rows
 * starts. They are the function's coefficients, but for nu and nu regression before LIBSVM's rescaling. A start for another C is
 * better multiplied by the ratio of both. */
GRAM_API const double *gram_svm_duals(const gram_svm *svm);
/* The rows of x that are the function's centres, in order. */
GRAM_API const int64_t *gram_svm_support(const gram_svm *svm);
/* 2 numbers for each output, A and B of 1/(1 + exp(A f + B)), the probability of the pair's first class, B = 0; NULL if the machine
 * has no probabilities. */
GRAM_API const double *gram_svm_sigmoids(const gram_svm *svm);

/* The machine as a model, as gram_krr_model does. values[c]: the number that class c stands for, ascending; NULL: c itself. A target
 * of text is named by the preparation. */
GRAM_API gram_status gram_svm_model(gram_context *context, const gram_svm *svm, gram_preparation *preparation,
                                    const double *values, gram_model **model);

/* For each point what was asked for (NULL: not): the label (classification; 1 inside and -1 outside for one class; the value
 * for regression), the decision values, m x outputs, and the probabilities, m x classes. A machine with probabilities labels by
 * the largest of them, so that labels and probabilities never disagree. GRAM_ERROR_UNSUPPORTED for probabilities that there are
 * none of. O(m n_support (d + outputs)). */
GRAM_API gram_status gram_svm_predict(gram_context *context, const gram_svm *svm, const gram_points *x, double *labels,
                                      double *decisions, double *probabilities);

/* The same from decision values (m x outputs, as gram_function_evaluate makes them from a stored function) and stored sigmoids
 * (NULL: none). classes >= 2. */
GRAM_API gram_status gram_svm_decide(gram_context *context, int64_t classes, int64_t m, const double *decisions,
                                     const double *sigmoids, double *labels, double *probabilities);

/* ---- choosing width and strength ---- */

typedef struct gram_svm_tune_options {
    size_t size;
    int64_t folds;                  /* default 5 */
    int64_t width_count;            /* how many factors for the length-scales, default 10; 1 keeps them */
    int64_t C_count;                /* how many values of C, default 10; 1 keeps that of the machine's options */
    double width_least, width_most; /* range of the factors, default 1/8 to 4 */
    double C_least, C_most;         /* range of C, default 2^-4 to 2^11 */
    int64_t rows;                   /* tune on at most this many rows, drawn by the seed; default 5,000 */
    int64_t iterations;             /* at most this many steps in one fit; 0 (default): 100 for each row */
    /* one length-scale per column: 1 try it, 0 (default) do not, -1 try it with 30 rows for each column (up to 20). Their proportions come from kernel
     * ridge regression on y; kept if the score is better by two standard errors */
    int ard;
    const int64_t
        *groups; /* n numbers: folds keep their rows together (<gram/cross_validation.h>); NULL (default): none */
    int ordered; /* rows are in order of time: folds go forward in it; default 0 */
} gram_svm_tune_options;

GRAM_API void gram_svm_tune_options_init(gram_svm_tune_options *options, size_t size);

typedef struct gram_svm_tune_report {
    size_t size;
    int64_t rows; /* tuned on */
    int64_t fits; /* machines that were solved: folds x width_count x C_count x outputs, less those known beforehand */
    int64_t iterations;    /* steps of all of them */
    double C, width;       /* chosen: the strength, and the factor on the length-scales */
    double score;          /* cross-validated: accuracy (classification), or mean squared error (regression) */
    double standard_error; /* of the score */
    int at_bound;          /* the choice is at an edge of the grid */
    int ard_kept;          /* one length-scale per column was better */
    int64_t unfinished;    /* fits that ended at `iterations`: those of the largest C, whose scores count as they are */
} gram_svm_tune_report;

/* Cross-validates a grid of factors for all length-scales of the kernel that are not fixed, and of strengths, both evenly on the
 * log scale. Unset numbers of the kernel are set as gram_kernel_resolve does first, so the default grid is that of the data. The
 * best mean squared error is chosen; accuracies are smoothed over neighbours in the grid first, and of cells within a quarter of a
 * standard error of the best those of the least C compete. For nu kinds C is not searched; one class has
 * nothing to tune by (GRAM_ERROR_UNSUPPORTED).
 *
 * The kernel matrix of a width is made once for all folds, pairs and strengths; each fit starts from that of the strength
 * before; decision values at held-out rows come out of the solver with the solution. Where no coefficient is at its bound, larger
 * C change nothing and are not solved. Fits are solved to a tolerance of 1e-2 at least. Widths and folds run in parallel. With several
 * length-scales (ard) the grid is searched once more, its factors on all of them; scores are those of what was kept.
 *
 * options: kind, weights, epsilon, tolerance and so on of the machine; both NULL: defaults. *tuned is a new kernel (the caller
 * releases it). Unless NULL, scores gets width_count x C_count scores, from the least width and C on, and held_out the n x outputs
 * decision values of the chosen machine at rows that it had not seen, NaN for rows that were not tuned on or that no fold leaves out: what gram_svm_fit makes
 * probabilities from. report may be NULL. Memory: 4 r^2 bytes for each width at a time, as many as cache_bytes allow (at least
 * one), r rows that are tuned on. */
GRAM_API gram_status gram_svm_tune(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                   const gram_svm_options *options, const gram_svm_tune_options *tune,
                                   gram_kernel **tuned, double *C, double *scores, double *held_out,
                                   gram_svm_tune_report *report);

GRAM_END

#endif
