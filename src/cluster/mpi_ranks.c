#define _POSIX_C_SOURCE 200809L
#include "cluster/mpi_ranks.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cluster/scalapack_dense.h"

/* Codes at the end have a communicator of their own: some rank may still be in an operation of the other. */
static MPI_Comm work_ranks, end_ranks;
static int own_rank, all_ranks = 1, local_ranks = 1;
static char host[CLUSTER_NAME_SIZE];

int cluster_begin(int *count, char ***arguments)
{
    int given, length = 0;
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    MPI_Comm local;
    if (MPI_Init_thread(count, arguments, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS) return 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &work_ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &end_ranks);
    MPI_Comm_rank(work_ranks, &own_rank);
    MPI_Comm_size(work_ranks, &all_ranks);
    MPI_Comm_split_type(work_ranks, MPI_COMM_TYPE_SHARED, own_rank, MPI_INFO_NULL, &local);
    MPI_Comm_size(local, &local_ranks);
    MPI_Comm_free(&local);
    MPI_Get_processor_name(name, &length);
    (void)snprintf(host, sizeof host, "%s", name);
    return 1;
}

int cluster_rank(void)
{
    return own_rank;
}

int cluster_ranks(void)
{
    return all_ranks;
}

int cluster_local_ranks(void)
{
    return local_ranks;
}

const char *cluster_host(void)
{
    return host;
}

/* ---- the table ---- */

static gram_status told(int result)
{
    return result == MPI_SUCCESS ? GRAM_OK : GRAM_ERROR_INTERNAL;
}

static gram_status broadcast(void *user, int from, void *bytes, size_t count)
{
    (void)user;
    return told(MPI_Bcast(bytes, (int)count, MPI_BYTE, from, work_ranks));
}

/* Counts and places in 32 bits, which MPI counts in. 0 if they are more. */
static int narrow(const int64_t *counts, int *lengths, int *places)
{
    int64_t at = 0;
    for (int r = 0; r < all_ranks; r++) {
        if (at > INT32_MAX || counts[r] > INT32_MAX) return 0;
        lengths[r] = (int)counts[r];
        places[r] = (int)at;
        at += counts[r];
    }
    return 1;
}

static gram_status gather(void *user, const double *mine, const int64_t *counts, double *all)
{
    gram_status status = GRAM_ERROR_MEMORY;
    int *numbers = malloc(2 * (size_t)all_ranks * sizeof *numbers), *places = numbers + all_ranks;
    (void)user;
    if (!numbers) return status;
    status = GRAM_ERROR_OVERFLOW;
    if (narrow(counts, numbers, places))
        status =
            told(MPI_Allgatherv(mine, numbers[own_rank], MPI_DOUBLE, all, numbers, places, MPI_DOUBLE, work_ranks));
    free(numbers);
    return status;
}

static gram_status exchange(void *user, const double *out, const int64_t *out_counts, double *in,
                            const int64_t *in_counts)
{
    gram_status status = GRAM_ERROR_MEMORY;
    const size_t ranks = (size_t)all_ranks;
    int *numbers = malloc(4 * ranks * sizeof *numbers);
    (void)user;
    if (!numbers) return status;
    status = GRAM_ERROR_OVERFLOW;
    if (narrow(out_counts, numbers, numbers + ranks) && narrow(in_counts, numbers + 2 * ranks, numbers + 3 * ranks))
        status = told(MPI_Alltoallv(out, numbers, numbers + ranks, MPI_DOUBLE, in, numbers + 2 * ranks,
                                    numbers + 3 * ranks, MPI_DOUBLE, work_ranks));
    free(numbers);
    return status;
}

void cluster_table(gram_collective *table)
{
    gram_collective_init(table, sizeof *table);
    table->rank = own_rank;
    table->ranks = all_ranks;
    table->broadcast = broadcast;
    table->gather = gather;
    table->exchange = exchange;
    table->factor = cluster_factor;
    table->triangle = cluster_triangle;
    table->invert = cluster_invert;
    while (table->grid_rows < all_ranks && (int64_t)(table->grid_rows + 1) * (table->grid_rows + 1) <= all_ranks)
        table->grid_rows++;
    while (all_ranks % table->grid_rows != 0) table->grid_rows--;
    cluster_dense_begin(table->grid_rows, all_ranks / table->grid_rows);
}

/* ---- beginning and end ---- */

double cluster_least(double value)
{
    double least = value;
    MPI_Allreduce(&value, &least, 1, MPI_DOUBLE, MPI_MIN, end_ranks);
    return least;
}

void cluster_broadcast(int from, void *bytes, int count)
{
    MPI_Bcast(bytes, count, MPI_BYTE, from, end_ranks);
}

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int cluster_gather_codes(int code, double seconds, int *codes)
{
    const struct timespec little = {.tv_nsec = 2000000};
    const double begun = now();
    MPI_Request request;
    int done = 0;
    MPI_Iallgather(&code, 1, MPI_INT, codes, 1, MPI_INT, end_ranks, &request);
    for (;;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done) return 1;
        if (seconds > 0 && now() - begun > seconds) return 0;
        (void)nanosleep(&little, NULL);
    }
}

void cluster_gather_numbers(int count, const double *mine, double *all)
{
    MPI_Gather(mine, count, MPI_DOUBLE, all, count, MPI_DOUBLE, 0, end_ranks);
}

void cluster_end(void)
{
    MPI_Finalize();
}

void cluster_abort(int code)
{
    MPI_Abort(MPI_COMM_WORLD, code);
    _Exit(code);
}
