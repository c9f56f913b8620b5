/* What is used of ScaLAPACK and of BLACS, which have no headers for C. */
#ifndef GRAM_CLUSTER_SCALAPACK_H
#define GRAM_CLUSTER_SCALAPACK_H

void Cblacs_get(int context, int what, int *value);
void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
void descinit_(int *desc, const int *m, const int *n, const int *mb, const int *nb, const int *row, const int *column,
               const int *context, const int *ld, int *info);
void pdpotrf_(const char *uplo, const int *n, double *a, const int *ia, const int *ja, const int *desc, int *info);
void pspotrf_(const char *uplo, const int *n, float *a, const int *ia, const int *ja, const int *desc, int *info);
void pdpotri_(const char *uplo, const int *n, double *a, const int *ia, const int *ja, const int *desc, int *info);
void pdtrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m, const int *n,
             const double *alpha, const double *a, const int *ia, const int *ja, const int *desca, double *b,
             const int *ib, const int *jb, const int *descb);
void pstrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m, const int *n,
             const float *alpha, const float *a, const int *ia, const int *ja, const int *desca, float *b,
             const int *ib, const int *jb, const int *descb);
void pdtrmm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m, const int *n,
             const double *alpha, const double *a, const int *ia, const int *ja, const int *desca, double *b,
             const int *ib, const int *jb, const int *descb);
void pstrmm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m, const int *n,
             const float *alpha, const float *a, const int *ia, const int *ja, const int *desca, float *b,
             const int *ib, const int *jb, const int *descb);

#endif
