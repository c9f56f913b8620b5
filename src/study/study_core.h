/* A study from inside. Values are kept as they were told; the model sees them with the sign that makes less better. */
#ifndef GRAM_STUDY_STUDY_CORE_H
#define GRAM_STUDY_STUDY_CORE_H

#include "study/acquisition.h"
#include "study/proposal_search.h"
#include "study/search_domain.h"

typedef enum gram_origin { GRAM_ORIGIN_GIVEN = 0, GRAM_ORIGIN_START = 1, GRAM_ORIGIN_MODEL = 2 } gram_origin;

typedef struct gram_record {
    gram_trial_state state;
    gram_origin origin;
    int64_t row; /* of the candidates, -1: none */
    double value;
} gram_record;

/* What evaluations of the same point say: there are none, one is on its way, they were equal, they were not. */
typedef enum gram_repeat {
    GRAM_REPEAT_NONE,
    GRAM_REPEAT_RUNNING,
    GRAM_REPEAT_EQUAL,
    GRAM_REPEAT_DIFFERENT
} gram_repeat;

struct gram_study {
    gram_memory *memory;
    gram_domain space;
    gram_study_options options; /* its candidates are the study's copy */
    double *candidates;         /* as values, and in the cube */
    double *candidate_cube;
    int64_t count, room; /* trials */
    gram_record *records;
    double *x;           /* room x variables */
    double *constraints; /* room x constraints */
    double *design;      /* start x columns */
    /* the model: rows of these trials, in this order */
    gram_surrogate objective;
    gram_surrogate *limits; /* one for each constraint */
    int64_t modelled;       /* rows that the model has */
    int64_t told;           /* evaluations so far; each that is new adds one */
    int64_t learnt;         /* evaluations at the last learning of parameters, 0: never */
    int64_t *order;         /* room: trials in the order in which they were told */
    gram_repeat repeat;     /* at the last learning */
};

/* ---- trials (study.c) ---- */

gram_status gram_study_push(gram_context *context, gram_study *study, const double *x, gram_record record,
                            int64_t *trial);
/* Fills in what an evaluation gave; value not finite: it failed. */
gram_status gram_study_settle(gram_context *context, const char *name, gram_study *study, int64_t trial, double value,
                              const double *constraints);
static inline const double *gram_study_point(const gram_study *study, int64_t trial)
{
    return study->x + trial * study->space.count;
}
int gram_study_is_feasible(const gram_study *study, int64_t trial);
/* Less is better. */
static inline double gram_study_cost(const gram_study *study, int64_t trial)
{
    return study->options.maximize ? -study->records[trial].value : study->records[trial].value;
}

/* ---- the model (study_model.c) ---- */

/* Some evaluation has a value. */
int gram_study_has_values(const gram_study *study);
/* Is there noise that matters? Not where the same point gave the same value: then what the model calls noise is what it cannot follow. */
int gram_study_is_noisy(const gram_study *study);
/* It was given, or the same point gave different values; otherwise it is the model's guess. */
int gram_study_noise_is_known(const gram_study *study);
/* Is that in doubt, and worth an evaluation? The next point promises less than the noise that the model reckons with, nobody said how much there is,
 * and no point was evaluated twice. */
int gram_study_needs_repeat(const gram_study *study, double expected);
/* The kind that AUTO means now. */
gram_acquisition_kind gram_study_kind(const gram_study *study);

/* The model with the points that are out, and the acquisition on it; gram_study_close takes them off again, after a failure too. */
gram_status gram_study_open(gram_context *context, gram_study *study, gram_acquisition *acquisition);
void gram_study_close(gram_context *context, gram_study *study, gram_acquisition *acquisition);

/* The best f* that the acquisition counts from, standardised; INFINITY if no point is feasible. */
gram_status gram_study_incumbent(gram_context *context, const gram_study *study, double *best);

/* ---- the trust region (trust_region.c) ---- */

/* 1 and the box about `centre` (the cube's columns) if the study has one, else 0 and the whole cube. */
int gram_study_region(const gram_study *study, const double *centre, double *lower, double *upper);

#endif
