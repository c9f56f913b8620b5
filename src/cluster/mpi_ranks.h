/* The row of MPI in the place of gram's collective operations, for the command of `make cluster`. libgram knows nothing of it. */
#ifndef GRAM_CLUSTER_MPI_RANKS_H
#define GRAM_CLUSTER_MPI_RANKS_H

#include <gram/collective.h>

enum { CLUSTER_NAME_SIZE = 256 };

/* Starts MPI; 0 if that fails. */
int cluster_begin(int *count, char ***arguments);
int cluster_rank(void);
int cluster_ranks(void);
/* Ranks on this machine, and its name. */
int cluster_local_ranks(void);
const char *cluster_host(void);

/* The table, with ScaLAPACK's operations on dense matrices. `user` is NULL. */
void cluster_table(gram_collective *table);

/* Bytes that this process gave to MPI to send, ScaLAPACK's among them. */
int64_t cluster_bytes_sent(void);

/* The least of the ranks' numbers. */
double cluster_least(double value);
void cluster_broadcast(int from, void *bytes, int count);

/* Each rank's code on all of them, or 0 after so many seconds (0: however long it takes) without all of them. `codes` has a place for each. */
int cluster_gather_codes(int code, double seconds, int *codes);

/* Numbers of this rank to rank 0, where `all` has a place for those of each; elsewhere it may be NULL. */
void cluster_gather_numbers(int count, const double *mine, double *all);

void cluster_end(void);
void cluster_abort(int code);

#endif
