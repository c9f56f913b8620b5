/* Which family of kernels? The default one is tuned first; others follow from where its search ended, on a sample of rows, and one of them
 * takes its place only if it is better beyond what another sample of rows would change. */
#ifndef GRAM_TUNE_CHOICE_KERNEL_CHOICE_H
#define GRAM_TUNE_CHOICE_KERNEL_CHOICE_H

#include <gram/kernel.h>

#include "points/row_sample.h"
#include "tune/trail/search_trail.h"

/* Up to ALL rows the sample is all of them, and what the default was tuned to needs no second search. */
enum { GRAM_CHOICE_ALL = 600, GRAM_CHOICE_ROWS = 400, GRAM_CHOICE_MOST = 4, GRAM_CHOICE_REASON = 200 };

/* A family, tuned on the sample. */
typedef struct gram_kernel_trial {
    const char *text;    /* without its numbers */
    gram_kernel *kernel; /* tuned; new. NULL: there is none */
    double strength;
    double *losses;         /* of the rows of the sample, by fits without them */
    gram_search_trail ends; /* of its search */
} gram_kernel_trial;

typedef struct gram_kernel_choice {
    const gram_sample *sample;
    /* Tunes a family on the sample from `from`, leaves ends in trial->ends, and fills the rest. */
    gram_status (*run)(gram_context *context, void *argument, const gram_search_trail *from, gram_kernel_trial *trial);
    void *argument;
    const char *what; /* losses are, for the reason: "squared leave-one-out error" */
    int logarithms;   /* losses are logarithms: differences are told, not ratios */
    int64_t count;
    gram_kernel_trial trials[GRAM_CHOICE_MOST]; /* the default first, with losses or without its kernel */
    int64_t best;
    char reason[GRAM_CHOICE_REASON];
} gram_kernel_choice;

/* The families that are tried for these rows, the default first; `amplitude`: terms have a free factor of their own. A sum with a linear
 * kernel is among them if a third of the columns have two values. */
void gram_kernel_families(const gram_sample *sample, int amplitude, gram_kernel_choice *choice);

/* All rows, or GRAM_CHOICE_ROWS of many, drawn by the context's seed. gram_sample_free in any case. */
gram_status gram_choice_sample(gram_context *context, const gram_given *given, gram_sample *sample);

/* Runs the trials, chooses, and says why. gram_kernel_choice_free in any case. */
gram_status gram_kernel_choose(gram_context *context, const gram_search_trail *from, gram_kernel_choice *choice);
void gram_kernel_choice_free(gram_context *context, gram_kernel_choice *choice);

#endif
