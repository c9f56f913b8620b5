/* Tuning from inside: the samples of rows that a search climbs through, and the search on one of them. tune.c has the
 * strategy. */
#ifndef GRAM_METHOD_TUNING_H
#define GRAM_METHOD_TUNING_H

#include "criterion.h"
#include "space.h"

enum { GRAM_TUNING_LEVELS = 3 };

typedef struct gram_level {
    gram_sample sample;
    gram_criterion_work *work; /* made when it is first needed */
    double floor;              /* an error below this is rounding */
} gram_level;

typedef struct gram_tuning {
    gram_context *context;
    gram_tune_options options;
    gram_given given;
    gram_criterion_rule rule;
    int64_t *rows, count; /* those that count, and how many */
    gram_level levels[GRAM_TUNING_LEVELS];
    int last;            /* the level of all rows that are tuned on */
    int64_t evaluations; /* there */
    gram_noise_range noise;
    double noise_unit; /* the mean diagonal of K */
    double noise_start;
    gram_progress_fn progress; /* the caller's: the one in the context is silent meanwhile */
    double done, expected;     /* operations */
} gram_tuning;

/* A kernel's space and where the search is in it. */
typedef struct gram_candidate {
    gram_space space;
    double *numbers;
    double *point, *trial, *gradient; /* parameters + 1 numbers each */
    double *variables;
    double *inverse; /* of the Hessian, as far as it is known; carried from sample to sample */
    int inverse_known;
    double objective; /* what is minimised, at point: lower is better, +inf if it has no value */
    double value;     /* the criterion there */
    int hold;         /* several lengths are held together */
} gram_candidate;

/* ---- levels.c ---- */

/* Samples of the rows, each within the next; only the largest unless `subsets`. */
gram_status gram_tuning_make_levels(gram_tuning *t, int subsets);
gram_status gram_tuning_open_level(gram_tuning *t, int which);
void gram_tuning_free_levels(gram_tuning *t);
/* Does a constant (0 without intercept) explain every target of a level? */
int gram_tuning_is_flat(const gram_tuning *t, int which);

/* ---- descent.c ---- */

/* At the kernel's own values. */
gram_status gram_candidate_make(gram_tuning *t, const gram_kernel *kernel, int hold, gram_candidate *c);
void gram_candidate_free(gram_tuning *t, gram_candidate *c);

/* The criterion and the objective at c->trial, both infinite where there is none. */
gram_status gram_candidate_try(gram_tuning *t, gram_candidate *c, int which, double *value, double *objective);
/* Moves c->point there, and sets c->value and c->objective for this level. */
gram_status gram_candidate_look(gram_tuning *t, gram_candidate *c, int which);
/* From c->point down, with at most `limit` evaluations. */
gram_status gram_candidate_descend(gram_tuning *t, gram_candidate *c, int which, int64_t limit);

void gram_candidate_copy(const gram_candidate *c, const double *from, double *to);

/* ---- starts.c ---- */

/* c->point goes to the best end of options.restarts descents on level 0: from itself if `from_point`, and from the best
 * starts of a coarse grid around it. */
gram_status gram_tuning_search_starts(gram_tuning *t, gram_candidate *c, int from_point, int64_t limit);
/* c->point goes to the best of options.grid values for each variable, on the last level. */
gram_status gram_tuning_search_grid(gram_tuning *t, gram_candidate *c);

#endif
