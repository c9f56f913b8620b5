/* What the machine allows, measured in the same run as gram.
 *
 *     bench_limit matrix N D
 *         A Gram matrix of N points in D dimensions cannot do without its inner products, its exponentials and its
 *         memory. Times one dgemm N x N x D into memory that exists already, exp over N^2/2 numbers that lie in the
 *         first-level cache, and the first write to N^2 fresh doubles in huge pages; "seconds" is their sum. For
 *         comparison "blocked_gemm_seconds" does the inner products block by block in cache, nothing kept.
 *     bench_limit gemm f64|f32 N M D blas|pool ROWS COLUMNS
 *         All N M inner products in blocks of ROWS x COLUMNS, each thrown away: what a matrix-free product must do at
 *         least when D is large. blas: one BLAS call at a time, threaded by the BLAS. pool: as many calls at a time as
 *         there are threads, each with a BLAS of one thread (set OPENBLAS_NUM_THREADS=1).
 *     bench_limit tune f64|f32 N M D blas|pool
 *         Tries block sizes; prints the fastest with its time.
 *     bench_limit touch BYTES
 *         Writes to that much fresh memory. In a virtual machine the host may have taken back memory that was idle, and
 *         whoever touches it first then waits for the host; after this nobody does.
 *     bench_limit potrf f64|f32 N
 *         LAPACK's Cholesky factorisation alone, of a matrix that is in memory already.
 *     bench_limit potri N
 *         dpotrf and dpotri, the second of two calls.
 *
 * Prints one line of JSON. */
#include <cblas.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "limit_exp.h"
#include "measure.h"

enum { BLOCK = 1536 }; /* doubles; two blocks fill three quarters of a first-level cache of 32 KiB */

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t uplo_length);
void spotrf_(const char *uplo, const int *n, float *a, const int *lda, int *info, size_t uplo_length);
void dpotri_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t uplo_length);

typedef struct problem {
    int64_t n, m, d;
    int single; /* f32 */
    int pool;   /* parallel over blocks, not inside the BLAS */
    void *x, *y;
} problem;

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void multiply_block(const problem *p, int64_t i, int64_t rows, int64_t j, int64_t columns, void *block)
{
    const int r = (int)smaller(rows, p->n - i), c = (int)smaller(columns, p->m - j), d = (int)p->d;
    if (p->single)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, r, c, d, 1, (float *)p->x + i * d, d,
                    (float *)p->y + j * d, d, 0, block, (int)columns);
    else
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, r, c, d, 1, (double *)p->x + i * d, d,
                    (double *)p->y + j * d, d, 0, block, (int)columns);
}

/* Seconds for all blocks. */
static double time_blocks(const problem *p, int64_t rows, int64_t columns)
{
    const double start = clock_seconds();
#pragma omp parallel if (p->pool)
    {
        void *block = malloc((size_t)(rows * columns) * sizeof(double));
        if (!block) fail("out of memory");
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < p->n; i += rows)
            for (int64_t j = 0; j < p->m; j += columns) multiply_block(p, i, rows, j, columns, block);
        free(block);
    }
    return clock_seconds() - start;
}

static problem make_problem(int single, int64_t n, int64_t m, int64_t d, int pool)
{
    problem p = {n, m, d, single, pool, NULL, NULL};
    p.x = single ? (void *)random_numbers_f32(1, n * d) : random_numbers(1, n * d);
    p.y = single ? (void *)random_numbers_f32(2, m * d) : random_numbers(2, m * d);
    return p;
}

static void free_problem(problem *p)
{
    free(p->x);
    free(p->y);
}

/* The fastest of some block sizes, each tried twice. */
static double tune(const problem *p, int64_t *rows, int64_t *columns)
{
    static const int64_t sizes[][2] = {{128, 128},  {128, 256},  {256, 256},  {192, 384},   {256, 512},   {500, 500},
                                       {256, 1024}, {500, 1000}, {500, 2000}, {1000, 1000}, {1000, 4000}, {4000, 4000}};
    double best = 0;
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            const double seconds = time_blocks(p, sizes[i][0], sizes[i][1]);
            if (best > 0 && seconds >= best) continue;
            best = seconds;
            *rows = sizes[i][0];
            *columns = sizes[i][1];
        }
    return best;
}

static double time_whole_gemm(int64_t n, int64_t d)
{
    const size_t bytes = (size_t)n * (size_t)n * sizeof(double);
    double *x = random_numbers(1, n * d);
    double *out = fresh_memory(bytes);
    memset(out, 0, bytes);
    const double start = clock_seconds();
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)n, (int)d, 1, x, (int)d, x, (int)d, 0, out,
                (int)n);
    const double seconds = clock_seconds() - start;
    fresh_memory_free(out, bytes);
    free(x);
    return seconds;
}

static double time_exp(int64_t count)
{
    /* Called through a volatile pointer: the compiler may not see that every block is the same. */
    void (*volatile function)(int, const double *, double *) = limit_exp;
    const int64_t blocks = (count + BLOCK - 1) / BLOCK;
    const double start = clock_seconds();
#pragma omp parallel
    {
        double x[BLOCK], out[BLOCK];
        for (int i = 0; i < BLOCK; i++) x[i] = -30.0 * i / BLOCK;
#pragma omp for schedule(static)
        for (int64_t b = 0; b < blocks; b++) function(BLOCK, x, out);
    }
    return clock_seconds() - start;
}

static double time_write(int64_t count)
{
    const size_t bytes = (size_t)count * sizeof(double);
    double *out = fresh_memory(bytes);
    const double start = clock_seconds();
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) out[i] = 1;
    const double seconds = clock_seconds() - start;
    fresh_memory_free(out, bytes);
    return seconds;
}

static void matrix(int64_t n, int64_t d)
{
    if (!limit_exp_available()) fail("the limit is written for AVX2 and FMA, which this processor lacks");
    problem p = make_problem(0, n, n, d, 0);
    (void)time_whole_gemm(512, d); /* starts the BLAS's and OpenMP's threads */
    (void)time_exp(BLOCK);
    const double gemm = time_whole_gemm(n, d);
    const double exponential = time_exp(n * n / 2);
    const double write = time_write(n * n);
    const double blocked = time_blocks(&p, 500, 1000);
    printf("{\"seconds\": %.6f, \"gemm_seconds\": %.6f, \"exp_seconds\": %.6f, \"write_seconds\": %.6f, "
           "\"blocked_gemm_seconds\": %.6f}\n",
           gemm + exponential + write, gemm, exponential, write, blocked);
    free_problem(&p);
}

static void gemm(int argc, char **argv)
{
    const int pool = !strcmp(argv[6], "pool");
    problem p =
        make_problem(!strcmp(argv[2], "f32"), parse_count(argv[3]), parse_count(argv[4]), parse_count(argv[5]), pool);
    int64_t rows = 0, columns = 0;
    double seconds;
    if (argc == 7) {
        seconds = tune(&p, &rows, &columns);
    } else {
        rows = parse_count(argv[7]);
        columns = parse_count(argv[8]);
        if (rows < 1 || columns < 1) fail("a block has at least one row and one column");
        seconds = time_blocks(&p, rows, columns);
    }
    printf("{\"seconds\": %.6f, \"rows\": %lld, \"columns\": %lld}\n", seconds, (long long)rows, (long long)columns);
    free_problem(&p);
}

/* A matrix with 1/(1 + |i - j|) and a large diagonal, f64 or f32. */
static void fill_definite(int n, int single, void *matrix)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const double value = i == j ? 20 : 1 / (1 + (double)(i < j ? j - i : i - j));
            if (single)
                ((float *)matrix)[i * n + j] = (float)value;
            else
                ((double *)matrix)[i * n + j] = value;
        }
}

static void potrf(int single, int n)
{
    const size_t bytes = (size_t)n * (size_t)n * (single ? sizeof(float) : sizeof(double));
    void *matrix = fresh_memory(bytes);
    int info = 0;
    fill_definite(n, single, matrix);
    const double start = clock_seconds();
    if (single)
        spotrf_("U", &n, matrix, &n, &info, 1);
    else
        dpotrf_("U", &n, matrix, &n, &info, 1);
    if (info) fail("potrf failed");
    printf("{\"seconds\": %.6f}\n", clock_seconds() - start);
    fresh_memory_free(matrix, bytes);
}

static void potri(int n)
{
    const size_t bytes = (size_t)n * (size_t)n * sizeof(double);
    double *matrix = fresh_memory(bytes), taken = 0;
    int info = 0;
    for (int run = 0; run < 2; run++) {
        fill_definite(n, 0, matrix);
        const double start = clock_seconds();
        dpotrf_("U", &n, matrix, &n, &info, 1);
        if (!info) dpotri_("U", &n, matrix, &n, &info, 1);
        taken = clock_seconds() - start;
        if (info) fail("potri failed");
    }
    printf("{\"seconds\": %.6f}\n", taken);
    fresh_memory_free(matrix, bytes);
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "matrix"))
        matrix(parse_count(argv[2]), parse_count(argv[3]));
    else if (argc == 3 && !strcmp(argv[1], "touch"))
        printf("{\"seconds\": %.6f}\n", time_write(parse_count(argv[2]) / (int64_t)sizeof(double)));
    else if ((argc == 7 && !strcmp(argv[1], "tune")) || (argc == 9 && !strcmp(argv[1], "gemm")))
        gemm(argc, argv);
    else if (argc == 4 && !strcmp(argv[1], "potrf"))
        potrf(!strcmp(argv[2], "f32"), (int)parse_count(argv[3]));
    else if (argc == 3 && !strcmp(argv[1], "potri"))
        potri((int)parse_count(argv[2]));
    else
        fail("bench_limit matrix N D | touch BYTES | potrf f64|f32 N | potri N | gemm f64|f32 N M D blas|pool ROWS "
             "COLUMNS | tune f64|f32 N M D "
             "blas|pool");
    return 0;
}
