/* The quadratic programs of support vector machines, by decomposition.
 *
 *     minimise b'Kb/2 - c'b   over   lower <= b <= upper,   the sum of b over each of two groups as it is at the start
 *
 * With `alone` the sums are free, too: there is one group, and each variable moves by itself or with another.
 *
 * All kinds of support vector machines take this form once signs are moved from K to b (the coefficients of the function
 * itself): no kind has code of its own here. f = K b is kept in f64; a variable has v = c - f, and the state is optimal when
 * within each group no variable that can rise has a higher v than one that can fall. The largest excess is the violation,
 * LIBSVM's stopping rule.
 *
 * Each round takes a working set of some hundred variables, the worst and half of those of the round before, asks for their
 * rows of K at once, solves for them alone (smo_block.h), and brings f up to date by one pass over the rows. So rows are made
 * in batches, passes over memory are shared by hundreds of steps, and both run on all threads; a step itself only touches the
 * working set. */
#ifndef GRAM_SOLVE_SMO_SMO_H
#define GRAM_SOLVE_SMO_SMO_H

#include "base/context.h"
#include "solve/smo/smo_block.h"

/* Where rows of K come from. */
typedef struct gram_smo_source {
    void *self;
    double unit; /* rows are K divided by this */
    /* out[r] = row points[r], n numbers, valid until the next call. */
    gram_status (*rows)(void *self, gram_context *context, int64_t count, const int64_t *points, const float **out);
} gram_smo_source;

typedef struct gram_smo {
    /* the problem */
    int64_t n;            /* of K */
    int64_t count;        /* variables */
    int64_t group;        /* the first this many are group 0 */
    int alone;            /* no sum is kept; group = count. A v of 0 is then what all others are compared with */
    const int64_t *point; /* of a variable, NULL: its number */
    const double *c, *lower, *upper;
    const double *diagonal; /* of K */
    double *b;              /* within the bounds */
    double *f;              /* K b over the points */
    gram_smo_source source;
    /* when to stop */
    double tolerance; /* of the violation, > 0 */
    int64_t most;     /* steps */
    double deadline;  /* of gram_smo_clock; 0: none */
    int64_t enough;   /* at most this many active variables; 0: never for that reason */
    int64_t patience; /* rounds before that is looked at */
    double margin;    /* of active variables */
    /* what was done */
    int64_t steps, rounds;
    double violation;
    int out_of_budget; /* stopped by `most` or the deadline */
    int shrunk;        /* stopped by `enough` */
    /* scratch */
    int64_t width;                    /* of working sets */
    gram_context *context;            /* NULL: this thread alone, inside of a sweep */
    const struct gram_worker *worker; /* of that sweep; NULL: it cannot be stopped */
    const gram_smo_loops *loops;
    double last_call; /* of the callbacks */
    double *v;
    gram_smo_block_f32 block;
    float *matrix; /* the block's */
    float *zero;
    int64_t *set, *kept, *points;
    int64_t set_count, kept_count;
    double *before, *weights;
    const float **rows;
    struct gram_smo_candidate *candidates;
    unsigned char *chosen;
} gram_smo;

/* Seconds of a clock that never goes back. */
double gram_smo_clock(void);

/* Reports progress and asks for cancel, at most 20 times a second: *last is when it was done. Only in the context's own thread. */
gram_status gram_smo_call_back(gram_context *context, double share, double *last);

/* Bytes of scratch for this many variables, and their division: sets width, loops and everything below. A width of 0 means the
 * default. */
size_t gram_smo_scratch(int64_t count, int64_t width);
void gram_smo_prepare(gram_smo *smo, const gram_smo_loops *loops, int64_t width, void *scratch);

/* Improves b and f until the violation is within the tolerance or the budget ends. With a context, failures of the source
 * and of sweeps are returned and cancel is asked for; without one nothing can fail but the source, and a
 * sweep that stops counts as the end of the budget. Deterministic for any number
 * of threads. */
gram_status gram_smo_solve(gram_smo *smo);

/* The violation as it is, and what the optimality conditions make of the free constants: level[g] is the mean v of the
 * variables of group g between their bounds, else the middle of the range that the others leave; 0 if they are alone. */
double gram_smo_violation(const gram_smo *smo);
/* The violation that rounding may make of c and f of this size: no step gets below. */
double gram_smo_rounding(double size);
/* Variables that may still move: those between their bounds, and those whose v is on the wrong side of the others' or within
 * `margin` times the violation of it. Returns their number; their numbers go to `variables` unless NULL. */
int64_t gram_smo_active(const gram_smo *smo, double margin, int64_t *variables);
void gram_smo_levels(const gram_smo *smo, double level[2]);

/* Primal minus dual objective at b with these levels as constants, >= 0 up to rounding: sum of upper max(0, v - level) + lower
 * min(0, v - level) - b (v - level). And the dual, b'Kb/2 - c'b. */
double gram_smo_gap(const gram_smo *smo, const double level[2]);
double gram_smo_objective(const gram_smo *smo);

#endif
