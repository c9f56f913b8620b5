/* Bytes that go out, counted where all of them pass: MPI's profiling interface. MPI's functions may be defined by a program, which then calls the same ones by
 * the names PMPI_...; the dynamic linker gives these here to ScaLAPACK too, whose messages are thus among them. A message from one to one counts once, at its
 * sender; of collective operations what a rank has to give away: to each of the others its own part. What BLACS needs for its bookkeeping counts as well. */
#include <mpi.h>

#include "cluster/mpi_ranks.h"

static int64_t bytes_sent;

int64_t cluster_bytes_sent(void)
{
    return bytes_sent;
}

static int64_t others(MPI_Comm comm)
{
    int ranks = 1;
    PMPI_Comm_size(comm, &ranks);
    return ranks - 1;
}

static void count(int64_t number, MPI_Datatype type, int64_t times)
{
    int size = 0;
    PMPI_Type_size(type, &size);
    bytes_sent += number * size * times;
}

int MPI_Send(const void *data, int number, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    count(number, type, 1);
    return PMPI_Send(data, number, type, to, tag, comm);
}

int MPI_Isend(const void *data, int number, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    count(number, type, 1);
    return PMPI_Isend(data, number, type, to, tag, comm, request);
}

int MPI_Rsend(const void *data, int number, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    count(number, type, 1);
    return PMPI_Rsend(data, number, type, to, tag, comm);
}

int MPI_Ssend(const void *data, int number, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    count(number, type, 1);
    return PMPI_Ssend(data, number, type, to, tag, comm);
}

int MPI_Sendrecv(const void *out, int number, MPI_Datatype type, int to, int tag, void *in, int in_number,
                 MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status *status)
{
    count(number, type, 1);
    return PMPI_Sendrecv(out, number, type, to, tag, in, in_number, in_type, from, in_tag, comm, status);
}

int MPI_Bcast(void *data, int number, MPI_Datatype type, int from, MPI_Comm comm)
{
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    if (rank == from) count(number, type, others(comm));
    return PMPI_Bcast(data, number, type, from, comm);
}

int MPI_Allgatherv(const void *out, int number, MPI_Datatype type, void *in, const int numbers[], const int places[],
                   MPI_Datatype in_type, MPI_Comm comm)
{
    count(number, type, others(comm));
    return PMPI_Allgatherv(out, number, type, in, numbers, places, in_type, comm);
}

int MPI_Alltoallv(const void *out, const int numbers[], const int places[], MPI_Datatype type, void *in,
                  const int in_numbers[], const int in_places[], MPI_Datatype in_type, MPI_Comm comm)
{
    int rank = 0, ranks = 1;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    for (int r = 0; r < ranks; r++)
        if (r != rank) count(numbers[r], type, 1);
    return PMPI_Alltoallv(out, numbers, places, type, in, in_numbers, in_places, in_type, comm);
}

int MPI_Allreduce(const void *out, void *in, int number, MPI_Datatype type, MPI_Op operation, MPI_Comm comm)
{
    count(number, type, others(comm) > 0);
    return PMPI_Allreduce(out, in, number, type, operation, comm);
}

int MPI_Reduce(const void *out, void *in, int number, MPI_Datatype type, MPI_Op operation, int to, MPI_Comm comm)
{
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    count(number, type, rank != to);
    return PMPI_Reduce(out, in, number, type, operation, to, comm);
}
