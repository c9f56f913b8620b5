/* Tuning from inside: what is minimised (a table of functions), the samples of rows that a search climbs through, and the
 * search. gradient_search.c has the strategy; kernel ridge regression (ridge_tune.c) and Gaussian processes (gp_tune.c)
 * bring their criteria. */
#ifndef GRAM_TUNE_GRADIENT_SEARCH_H
#define GRAM_TUNE_GRADIENT_SEARCH_H

#include "points/row_sample.h"
#include "tune/parameter_space.h"
#include "tune/trail/search_trail.h"

enum { GRAM_TUNING_LEVELS = 3 };

typedef struct gram_tuning gram_tuning;
typedef struct gram_candidate gram_candidate;

/* Evaluations with gradient of one descent, at most. */
typedef struct gram_tuning_limits {
    int64_t small, medium, last;
    int64_t
        guide; /* of the isotropic one on the middle sample when it is only the start of another; 0: not even there */
} gram_tuning_limits;

/* What is tuned. Functions that may be NULL say so. */
typedef struct gram_tuning_method {
    const char *name; /* of the public function, for messages */
    gram_tuning_limits limits;
    /* Sizes of the samples below the last. */
    int64_t small_rows, medium_rows;
    double cost;  /* an evaluation on n rows is n^cost operations */
    double clear; /* a lead of one length-scale per column that needs no second look, besides that of its numbers */

    /* Sets every open number of the kernel, and noise, noise_unit and noise_start. */
    gram_status (*prepare)(gram_tuning *t, const gram_kernel *kernel, gram_kernel **resolved);
    /* Other bounds than those of parameter_space.c; may be NULL. */
    gram_status (*bounds)(gram_tuning *t, gram_space *space);
    /* What evaluations on a level need (levels[which].work), and its end. */
    gram_status (*open)(gram_tuning *t, int which, void **work);
    void (*close)(gram_tuning *t, int which, void *work);
    /* A descent begins: what evaluations have left for those that follow is forgotten, so that it takes the same way whatever was tried
     * before it, and by whom. May be NULL. */
    void (*begin)(gram_tuning *t, int which);
    /* The criterion, and unless NULL its gradient by all parameters of the kernel and last by the noise. A failure that
     * is GRAM_ERROR_NUMERICAL or GRAM_ERROR_DOMAIN says that it has no value there. */
    gram_status (*evaluate)(gram_tuning *t, int which, gram_kernel *kernel, double noise, double *value,
                            double *gradient);
    /* What is minimised for a value of the criterion (of order 1 for each row), and its derivative by it. */
    double (*objective)(const gram_tuning *t, int which, double value, double *slope);
    /* What priors add to the objective; gradients are added. May be NULL. */
    double (*prior)(const gram_tuning *t, const gram_candidate *c, int which, const double *variables,
                    double *gradient);
    /* A descent ends when steps gain less. */
    double (*tolerance)(const gram_tuning *t, int which);
    /* Or when the model of the Hessian promises less; may be NULL. */
    double (*promise)(const gram_tuning *t, int which);
    /* Looks at the result on the last level before all is freed; may be NULL. */
    gram_status (*finish)(gram_tuning *t, gram_candidate *c);
} gram_tuning_method;

typedef struct gram_level {
    gram_sample sample;
    int64_t *rows; /* of the caller, sample.n of them */
    void *work;    /* the method's; made when it is first needed */
} gram_level;

struct gram_tuning {
    gram_context *context;
    const gram_tuning_method *method;
    void *self; /* the method's own */
    gram_given given;
    int intercept;      /* a constant explains what is constant */
    int64_t least_rows; /* with fewer there is nothing to choose by */
    /* descents are also from the kernel's own values: the first one on the smallest sample, and one on all rows */
    int from_start;
    int refine;      /* the Hessian is computed at the ends of descents on samples */
    int second_look; /* on the second sample another descent is from shorter lengths */
    double worth;    /* of one more number, in units of log(n)/n of the objective */
    /* starts have lengths times 10^(-shorter .. longer); with several lengths times 10^(-1 .. 1) */
    int shorter, longer;
    int more_starts;         /* for small samples */
    int narrows;             /* nothing but the kernel sees the columns */
    int noise_starts;        /* values of the noise among starts, a decade apart; 0: 7 of them */
    const gram_kernel *hint; /* several lengths are searched from here, too; NULL: from nowhere else */
    double hint_noise;
    gram_search_trails trails;
    int trail_search;     /* GRAM_TRAIL_MAIN or GRAM_TRAIL_GUIDE */
    int64_t ard_restarts; /* descents with one length-scale per column; 0: `restarts` */
    int ard;
    int64_t rows_limit, restarts, evaluations_limit, grid; /* as in gram_krr_tune_options */
    int64_t *rows, count;                                  /* those that count, and how many */
    gram_level levels[GRAM_TUNING_LEVELS];
    int last;                 /* the level of all rows that are tuned on */
    int64_t evaluations;      /* there */
    const gram_kernel *start; /* every number set, before anything was searched */
    gram_noise_range noise;
    double noise_unit, noise_start;
    gram_progress_fn progress; /* the caller's: the one in the context is silent meanwhile */
    double done, expected;     /* operations */
};

/* A kernel's space and where the search is in it. */
struct gram_candidate {
    gram_space space;
    double *numbers;
    double *point, *trial, *gradient; /* parameters + 1 numbers each */
    double *variables;
    double *inverse; /* of the Hessian, as far as it is known; carried from sample to sample */
    int inverse_known;
    double objective; /* what is minimised, without priors, at point: lower is better, +inf if it has no value */
    double value;     /* the criterion there */
    int hold;         /* several lengths are held together */
};

/* ---- gradient_search.c ---- */

/* What came out. */
typedef struct gram_tuned {
    gram_kernel *kernel; /* new */
    double noise;
    double value, value_isotropic; /* NaN where there is none */
    int ard_kept, at_bound;
    int64_t rows; /* tuned on */
} gram_tuned;

/* Checks `given` (but not the kernel for NULL), tunes, and frees everything but *out. `t` has been filled in up to `grid`. */
gram_status gram_tuning_run(gram_tuning *t, const gram_kernel *kernel, gram_tuned *out);

/* ---- search_samples.c ---- */

/* Samples of the rows, each within the next; only the largest if the kernel has no rows to choose from. Few rows of very many
 * columns are made narrow where the kernel allows it. */
gram_status gram_tuning_make_levels(gram_tuning *t, const gram_kernel *kernel);
gram_status gram_tuning_open_level(gram_tuning *t, int which);
void gram_tuning_free_levels(gram_tuning *t);
/* Does a constant (0 without intercept) explain every target of a level? */
int gram_tuning_is_flat(const gram_tuning *t, int which);

/* ---- search_descent.c ---- */

/* At the kernel's own values. */
gram_status gram_candidate_make(gram_tuning *t, const gram_kernel *kernel, int hold, gram_candidate *c);
void gram_candidate_free(gram_tuning *t, gram_candidate *c);

/* The criterion and the objective at c->trial, both infinite where there is none. */
gram_status gram_candidate_try(gram_tuning *t, gram_candidate *c, int which, double *value, double *objective);
/* Moves c->point there, and sets c->value and c->objective for this level. */
gram_status gram_candidate_look(gram_tuning *t, gram_candidate *c, int which);
/* From c->point down, with at most `limit` evaluations. */
gram_status gram_candidate_descend(gram_tuning *t, gram_candidate *c, int which, int64_t limit);

/* The Hessian at c->point by differences of gradients, as many evaluations as there are variables, and on from there: for
 * valleys so narrow that steps became short before the Hessian was known. */
gram_status gram_candidate_refine(gram_tuning *t, gram_candidate *c, int which, int64_t limit);

void gram_candidate_copy(const gram_candidate *c, const double *from, double *to);

/* ---- trail/search_trail.c ---- */

/* Does it begin where another ended? Then tolerances are so many times as large. */
int gram_tuning_follows(const gram_tuning *t);
double gram_tuning_coarseness(const gram_tuning *t);
/* Leaves where c is (GRAM_TRAIL_ONE or GRAM_TRAIL_SEVERAL) for searches that follow. */
gram_status gram_tuning_leave(gram_tuning *t, int which, const gram_candidate *c);
/* Moves c to where an earlier search was left; 0: there was none of these numbers. */
int gram_tuning_begin_there(const gram_tuning *t, int which, gram_candidate *c);

/* ---- search_starts.c ---- */

/* c->point goes to the best end of `restarts` descents on level 0: from itself if `from_point`, and from the best
 * starts of a coarse grid around it. */
gram_status gram_tuning_search_starts(gram_tuning *t, gram_candidate *c, int from_point, int64_t limit);
/* Descends from c->trial, too, on a level where c is at the end of a descent: c ends at the better of both. */
gram_status gram_tuning_search_also(gram_tuning *t, gram_candidate *c, int which, int64_t limit);
/* c->point goes to the best of `grid` values for each variable, on the last level. */
gram_status gram_tuning_search_grid(gram_tuning *t, gram_candidate *c);

#endif
