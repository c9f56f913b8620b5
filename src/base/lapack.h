/* The routines of LAPACK that libgram calls. OpenBLAS holds them, but not every package of it brings lapacke.h.
 *
 * Integers are of 32 bits: libgram links the ordinary interface, never one with 64-bit integers (ILP64, symbols that end in
 * 64_). Callers keep sizes in int64_t and check them before they narrow: no dimension and no stride above 2^31 - 1, and
 * where a routine counts the entries of a matrix itself, not more of those either.
 *
 * Matrices are stored by columns: a row-major lower triangle is LAPACK's upper one ("U"), with the same stride. Fortran
 * passes everything by address and the lengths of texts behind all other arguments.
 *
 * OpenBLAS's threaded versions change bits with the number of threads. So these are called from tasks of a sweep, or
 * between gram_blas_enter and gram_blas_leave (base/sweep.h); tests/house/check_blas sees to it. */
#ifndef GRAM_BASE_LAPACK_H
#define GRAM_BASE_LAPACK_H

#include <stddef.h>

/* ---- Cholesky factors ---- */

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t uplo_length);
void spotrf_(const char *uplo, const int *n, float *a, const int *lda, int *info, size_t uplo_length);
void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda, double *b,
             const int *ldb, int *info, size_t uplo_length);
void dposv_(const char *uplo, const int *n, const int *nrhs, double *a, const int *lda, double *b, const int *ldb,
            int *info, size_t uplo_length);

/* Inverses of triangles, and products U U' of them, in place. */
void dtrtri_(const char *uplo, const char *diag, const int *n, double *a, const int *lda, int *info, size_t uplo_length,
             size_t diag_length);
void dlauum_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t uplo_length);

/* An estimate of a 1-norm by products; kase says what is wanted next: 0 nothing, 1 B x, 2 B'x. */
void dlacn2_(const int *n, double *v, double *x, int *isgn, double *est, int *kase, int *isave);

/* ---- factors Q R, and singular values ---- */

void dgeqrf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work, const int *lwork,
             int *info);
void dgesdd_(const char *jobz, const int *m, const int *n, double *a, const int *lda, double *s, double *u,
             const int *ldu, double *vt, const int *ldvt, double *work, const int *lwork, int *iwork, int *info,
             size_t jobz_length);

/* ---- symmetric eigenproblems ---- */

void dsyev_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w, double *work,
            const int *lwork, int *info, size_t jobz_length, size_t uplo_length);

/* Of tridiagonal matrices: eigenvalues; eigenvalues and vectors; some of them. */
void dsterf_(const int *n, double *d, double *e, int *info);
void dstev_(const char *job, const int *n, double *d, double *e, double *z, const int *ldz, double *work, int *info,
            size_t job_length);
void dstemr_(const char *jobz, const char *range, const int *n, double *d, double *e, const double *vl,
             const double *vu, const int *il, const int *iu, int *m, double *w, double *z, const int *ldz,
             const int *nzc, int *isuppz, int *tryrac, double *work, const int *lwork, int *iwork, const int *liwork,
             int *info, size_t jobz_length, size_t range_length);

/* To tridiagonal form: a panel, the rest; the orthogonal matrix applied, and made. */
void dlatrd_(const char *uplo, const int *n, const int *nb, double *a, const int *lda, double *e, double *tau,
             double *w, const int *ldw, size_t uplo_length);
void dsytd2_(const char *uplo, const int *n, double *a, const int *lda, double *d, double *e, double *tau, int *info,
             size_t uplo_length);
void dormtr_(const char *side, const char *uplo, const char *trans, const int *m, const int *n, const double *a,
             const int *lda, const double *tau, double *c, const int *ldc, double *work, const int *lwork, int *info,
             size_t side_length, size_t uplo_length, size_t trans_length);
void dorgtr_(const char *uplo, const int *n, double *a, const int *lda, const double *tau, double *work,
             const int *lwork, int *info, size_t uplo_length);

#endif
