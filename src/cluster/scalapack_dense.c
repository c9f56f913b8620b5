#include "cluster/scalapack_dense.h"

#include "cluster/scalapack.h"

enum { DESCRIPTOR = 9 }; /* numbers that describe a matrix, as its users' guide has them */

static int grid = -1;
static const int ONE = 1, ZERO = 0;

void cluster_dense_begin(int rows, int columns)
{
    Cblacs_get(-1, 0, &grid);
    Cblacs_gridinit(&grid, "Row", rows, columns);
}

static gram_status describe(int64_t rows, int64_t columns, int64_t block, int64_t ld, int desc[DESCRIPTOR])
{
    const int m = (int)rows, n = (int)columns, size = (int)block, lead = (int)ld;
    int info = 0;
    if (rows > INT32_MAX || columns > INT32_MAX || ld > INT32_MAX) return GRAM_ERROR_OVERFLOW;
    descinit_(desc, &m, &n, &size, &size, &ZERO, &ZERO, &grid, &lead, &info);
    return info == 0 ? GRAM_OK : GRAM_ERROR_INTERNAL;
}

gram_status cluster_factor(void *user, int single, int64_t n, int64_t block, void *part, int64_t ld, int64_t *bad)
{
    const int size = (int)n;
    int desc[DESCRIPTOR], info = 0;
    const gram_status status = describe(n, n, block, ld, desc);
    (void)user;
    if (status < 0) return status;
    if (single)
        pspotrf_("L", &size, part, &ONE, &ONE, desc, &info);
    else
        pdpotrf_("L", &size, part, &ONE, &ONE, desc, &info);
    *bad = info > 0 ? info - 1 : -1;
    return info < 0 ? GRAM_ERROR_INTERNAL : GRAM_OK;
}

gram_status cluster_triangle(void *user, int single, int inverse, int transposed, int64_t n, int64_t block,
                             const void *part, int64_t ld, int64_t columns, void *b, int64_t ldb)
{
    const int rows = (int)n, count = (int)columns;
    const char *way = transposed ? "T" : "N";
    const double one = 1;
    const float one_f32 = 1;
    int desc[DESCRIPTOR], side[DESCRIPTOR];
    gram_status status = describe(n, n, block, ld, desc);
    (void)user;
    if (status >= 0) status = describe(n, columns, block, ldb, side);
    if (status < 0) return status;
    if (single)
        (inverse ? pstrsm_ : pstrmm_)("L", "L", way, "N", &rows, &count, &one_f32, part, &ONE, &ONE, desc, b, &ONE,
                                      &ONE, side);
    else
        (inverse ? pdtrsm_ : pdtrmm_)("L", "L", way, "N", &rows, &count, &one, part, &ONE, &ONE, desc, b, &ONE, &ONE,
                                      side);
    return GRAM_OK;
}

gram_status cluster_invert(void *user, int64_t n, int64_t block, double *part, int64_t ld)
{
    const int size = (int)n;
    int desc[DESCRIPTOR], info = 0;
    const gram_status status = describe(n, n, block, ld, desc);
    (void)user;
    if (status < 0) return status;
    pdpotri_("L", &size, part, &ONE, &ONE, desc, &info);
    return info == 0 ? GRAM_OK : GRAM_ERROR_INTERNAL;
}
