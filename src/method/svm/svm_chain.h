/* Cross-validation's fits: for one width, one fold and one output, those of all strengths, each from the one before. */
#ifndef GRAM_METHOD_SVM_SVM_CHAIN_H
#define GRAM_METHOD_SVM_SVM_CHAIN_H

#include "base/sweep.h"
#include "method/svm/svm.h"
#include "tune/grid_search.h"

/* What a chain did. */
typedef struct gram_svm_chain_work {
    int64_t steps, fits, cores;
    int64_t unfinished; /* fits that their steps were not enough for */
} gram_svm_chain_work;

/* What the chains of some widths share. */
typedef struct gram_svm_chains {
    const gram_svm_data *data; /* of the rows that are tuned on */
    const gram_smo_loops *loops;
    int64_t n, outputs, folds, strengths;
    const int64_t *fold;       /* n, as gram_folds_make has it */
    int ordered;               /* and how it is to be read */
    const double *c;           /* strengths, rising */
    float **k;                 /* the widths' matrices, n x n */
    double *decisions;         /* widths x strengths x n x outputs: those of the fit without the row's fold */
    gram_svm_chain_work *work; /* of each chain */
    int64_t most;              /* steps of a fit */
    size_t bytes;              /* of scratch for one chain, and its parts */
    size_t problem_bytes, smo_bytes, f_bytes, compact_bytes, core_bytes;
    int64_t core;     /* most variables of a core */
    int64_t patience; /* rounds of a fit before it may shrink to one */
} gram_svm_chains;

/* Fills in what scratch takes, and patience; data, n, outputs, folds and fold are set. */
void gram_svm_chains_measure(gram_svm_chains *chains);

/* A task of a sweep: chain number task, the outputs of a fold one after another, then the folds, then the widths. */
gram_status gram_svm_chain_run(void *chains, const gram_worker *worker);

static inline double *gram_svm_decisions_at(const gram_svm_chains *chains, int64_t width, int64_t strength)
{
    return chains->decisions + (width * chains->strengths + strength) * chains->n * chains->outputs;
}

#endif
