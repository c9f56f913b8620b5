/* Checkpoints of long solves: what conjugate gradients know goes to a file every so often, and a later call with the same data goes on from there, in the
 * same or another number of processes (<gram/collective.h>).
 *
 * The file is written aside and renamed, so that it is whole at any time; a few vectors of n numbers for each right-hand side. It belongs to one fit: the caller
 * removes it when that is done. */
#ifndef GRAM_CHECKPOINT_H
#define GRAM_CHECKPOINT_H

#include <gram/context.h>

GRAM_BEGIN

/* Solves with this context keep their state in `path` every `seconds` (0: after each step), and begin with what is there: a solve of as many rows, columns and
 * the same numbers goes on; another one of as many rows begins anew, since a fit may have several; one of other rows is GRAM_ERROR_DATA, and so is a file that
 * is damaged or none of these. The path is copied; NULL: no more. */
GRAM_API gram_status gram_context_set_checkpoint(gram_context *context, const char *path, double seconds);

typedef struct gram_checkpoint_report {
    size_t size;     /* set by the caller */
    int64_t solves;  /* that could have been kept */
    int64_t written; /* times that the file was */
    int64_t resumed; /* steps that a solve went on after; 0: none did */
} gram_checkpoint_report;

GRAM_API gram_status gram_context_checkpoint_report(gram_context *context, gram_checkpoint_report *report);

GRAM_END

#endif
