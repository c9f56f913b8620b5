/* A kernel on the line as a state-space model: what gp_markov.c filters with.
 *
 *     f(t) = sum over terms of h_T(t) x_T(t),   x_T(t + gap) = Phi x_T(t) + w,   w ~ N(0, Q),   x_T(t) ~ N(0, P(t))
 *
 * The expression is multiplied out into terms, each a coefficient times a product of leaves. A term's state is the Kronecker
 * product of its leaves' states, of which the first number is the process itself. */
#ifndef GRAM_SOLVE_MARKOV_MARKOV_MODEL_H
#define GRAM_SOLVE_MARKOV_MARKOV_MODEL_H

#include "base/arena.h"
#include "kernel/kernel.h"

enum {
    GRAM_MARKOV_STATES = 32,     /* of the whole model, at most */
    GRAM_MARKOV_PARAMETERS = 64, /* of the kernel, at most */
    GRAM_MARKOV_FACTORS = 32,    /* of one term, at most */
    GRAM_MARKOV_TERMS = 48,      /* those of white among them */
    GRAM_MARKOV_LEAF = 8         /* states of one leaf, at most */
};

typedef enum gram_markov_kind {
    GRAM_MARKOV_MATERN, /* nu = 1/2, 3/2, 5/2, 7/2, 9/2 */
    GRAM_MARKOV_COSINE,
    GRAM_MARKOV_SPLINE, /* min and sobolev: Brownian motion, integrated a - 1 times */
    GRAM_MARKOV_LINE,   /* x y: one number that never changes, seen through h(t) = t */
    GRAM_MARKOV_WHITE
} gram_markov_kind;

typedef struct gram_markov_leaf {
    const char *name;
    gram_markov_kind kind;
    int states;
    int parameter; /* number of its length-scale or period among the kernel's parameters, -1 if it has none */
    double value;  /* of that parameter */
    double origin; /* spline */
    int null;      /* spline: with the polynomials of degree below a */
    /* matern, in time a = rate * gap: Phi = e^-a sum_k powers[k] a^k, Q = driving * int_0^a phi phi' with phi the last column */
    double rate, driving;
    double binomials[GRAM_MARKOV_LEAF]; /* of states: the last row of F, but for the sign */
    double powers[GRAM_MARKOV_LEAF][GRAM_MARKOV_LEAF * GRAM_MARKOV_LEAF];
    double moments[GRAM_MARKOV_LEAF * GRAM_MARKOV_LEAF][2 * GRAM_MARKOV_LEAF]; /* Q_ij = sum_k moments[ij][k] I_k(a) */
    double stationary[GRAM_MARKOV_LEAF * GRAM_MARKOV_LEAF];                    /* P */
} gram_markov_leaf;

/* Matrices of one leaf for one step; row-major, tightly packed. Q = P - A. */
typedef struct gram_markov_move {
    double phi[GRAM_MARKOV_LEAF * GRAM_MARKOV_LEAF];
    double q[GRAM_MARKOV_LEAF * GRAM_MARKOV_LEAF];
    double after[GRAM_MARKOV_LEAF * GRAM_MARKOV_LEAF]; /* P at the end of the step */
    double kept[GRAM_MARKOV_LEAF * GRAM_MARKOV_LEAF];  /* A = Phi P Phi', what is left of P at its beginning */
    double phi_slope[GRAM_MARKOV_LEAF * GRAM_MARKOV_LEAF];
    double q_slope[GRAM_MARKOV_LEAF * GRAM_MARKOV_LEAF];
} gram_markov_move;

/* (markov_leaf.c) Tables of a matern leaf of order p = nu - 1/2; states, value and rate are set. */
void gram_markov_matern_prepare(gram_markov_leaf *leaf);
/* P(t), and the step from `from` to `from + gap`, gap >= 0, with derivatives only if `slopes`. */
void gram_markov_leaf_variance(const gram_markov_leaf *leaf, double t, double *p);
void gram_markov_leaf_move(const gram_markov_leaf *leaf, double from, double gap, int slopes, gram_markov_move *move);

typedef struct gram_markov_term {
    double coefficient;
    double slope[GRAM_MARKOV_PARAMETERS]; /* of the coefficient by each parameter of the kernel */
    int count;
    short factors[GRAM_MARKOV_FACTORS]; /* numbers of leaves, in ascending order */
    int states, first;                  /* of the whole state, from `first` on */
    int block;                          /* where its matrices begin among those of all terms */
    int lines;                          /* h = t^lines */
    int noisy, noise;                   /* is Q other than 0; its first column among those that are */
    int white;                          /* no state: noise of variance coefficient * prod k(t, t) */
} gram_markov_term;

/* The derivative of one term by the parameter of one of its factors. */
typedef struct gram_markov_slot {
    int term, factor, parameter;
    int block; /* where its two matrices begin */
} gram_markov_slot;

typedef struct gram_markov_model {
    gram_arena arena;
    int leaf_count, term_count, slot_count, parameters;
    int white_count; /* terms of white come last */
    int states, noises;
    int blocks;      /* numbers of all Phi_T together */
    int slot_blocks; /* numbers of all derivatives together */
    int shifting;    /* Q depends on where the step begins */
    double lower;    /* no point may be below */
    const char *lower_name;
    gram_markov_leaf *leaves;
    gram_markov_term *terms;
    gram_markov_slot *slots;
} gram_markov_model;

/* GRAM_ERROR_UNSUPPORTED, with the first part that has no such form (after `name`), GRAM_ERROR_UNSET. With `structure` values
 * may be unset, and the model only has its sizes. gram_markov_model_free is due after a failure, too. */
gram_status gram_markov_model_make(gram_context *context, const char *name, const gram_kernel *kernel, int structure,
                                   gram_markov_model *model);
void gram_markov_model_free(gram_markov_model *model);

/* Variance of the white terms, and of all others, at t. */
double gram_markov_white(const gram_markov_model *model, double t);
double gram_markov_variance(const gram_markov_model *model, double t);
/* k(t, t)/coefficient of one term, white or not. */
double gram_markov_term_variance(const gram_markov_model *model, const gram_markov_term *term, double t);

/* ---- steps of the whole model (markov_step.c) ---- */

/* All blocks in one array each: term T at its `block`. */
typedef struct gram_markov_step {
    double from, gap; /* NaN: nothing yet */
    double *phi;      /* Phi_T */
    double *noise;    /* C_T, lower, C C' = coefficient * Q_T */
    double *q;        /* Q_T over the coefficient */
    double *slopes;   /* for each slot d Phi_T, then d Q_T over the coefficient */
} gram_markov_step;

typedef struct gram_markov_stepper {
    const gram_markov_model *model;
    int slopes;  /* with derivatives */
    int entries; /* 1 if nothing can be kept */
    gram_markov_step *steps;
    double *numbers; /* theirs */
    int64_t number_count;
    double *scratch;
    int64_t scratch_count;
    gram_markov_move *moves;
} gram_markov_stepper;

/* Keeps steps of some gaps: regular grids have few. Zeroed before; freed also after a failure. */
gram_status gram_markov_stepper_make(gram_context *context, const gram_markov_model *model, int slopes,
                                     gram_markov_stepper *s);
void gram_markov_stepper_free(gram_context *context, gram_markov_stepper *s);
/* Valid until the next call. */
const gram_markov_step *gram_markov_stepper_get(gram_markov_stepper *s, double from, double gap);
/* P_T(t): its factor times the coefficient's root in `factor`, itself over the coefficient in `p` (or NULL). */
void gram_markov_stepper_start(gram_markov_stepper *s, double t, double *factor, double *p);

#endif
