/* X'X by blocks of columns, each a task: with AVX-512 by column_products.h, else by BLAS, symmetric rank updates on the diagonal (gemm would make both
 * halves) and gemm elsewhere. Measured on one core for 4096 rows: gemm of blocks of 256, 384, 512 columns at 40, 44, 45e9 operations a second, so that
 * blocks are some 384 wide and as equal as they can be. */
#include "features/equations/feature_products.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/lapack.h"
#include "base/sweep.h"
#include "features/equations/column_products.h"

enum { WIDE = 384, LINE = 8, OWN_WIDE = 240, OWN_LINE = 48 };

typedef struct product_work {
    const gram_product_rows *r;
    int64_t block;
    int own; /* by column_products.h */
    double *products;
} product_work;

#if defined(__x86_64__)
static int has_own(const gram_context *context)
{
    return context->vecmath->isa == GRAM_ISA_AVX512;
}

static void add_own(const product_work *w, int64_t i, int64_t j, int64_t high, int64_t wide, void *scratch)
{
    const gram_column_block block = {w->r->rows, w->r->width, i, j, high, wide};
    if (w->r->f64)
        gram_column_products_f64(&block, w->r->f64, w->products, scratch);
    else
        gram_column_products_f32(&block, w->r->f32, w->products, scratch);
}
#else
static int has_own(const gram_context *context)
{
    (void)context;
    return 0;
}

static void add_own(const product_work *w, int64_t i, int64_t j, int64_t high, int64_t wide, void *scratch)
{
    (void)w, (void)i, (void)j, (void)high, (void)wide, (void)scratch;
}
#endif

static void add_f64(const product_work *w, int64_t i, int64_t j, int64_t high, int64_t wide)
{
    const int width = (int)w->r->width, rows = (int)w->r->rows;
    double *out = w->products + i * w->r->width + j;
    if (i == j)
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)high, rows, 1, w->r->f64 + i, width, 1, out, width);
    else
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)high, (int)wide, rows, 1, w->r->f64 + i, width,
                    w->r->f64 + j, width, 1, out, width);
}

static void add_f32(const product_work *w, int64_t i, int64_t j, int64_t high, int64_t wide, float *room)
{
    const int width = (int)w->r->width, rows = (int)w->r->rows, stride = (int)w->block;
    if (i == j)
        cblas_ssyrk(CblasRowMajor, CblasLower, CblasTrans, (int)high, rows, 1, w->r->f32 + i, width, 0, room, stride);
    else
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)high, (int)wide, rows, 1, w->r->f32 + i, width,
                    w->r->f32 + j, width, 0, room, stride);
    for (int64_t k = 0; k < high; k++) {
        double *out = w->products + (i + k) * w->r->width + j;
        const int64_t to = i == j ? k + 1 : wide;
        for (int64_t l = 0; l < to; l++) out[l] += (double)room[k * stride + l];
    }
}

/* Task number t owns a block of the lower triangle, counted row by row. */
static gram_status product_task(void *argument, const gram_worker *worker)
{
    const product_work *w = argument;
    int64_t i = 0, j = worker->task;
    while (j > i) j -= ++i;
    i *= w->block, j *= w->block;
    const int64_t width = w->r->width, high = width - i < w->block ? width - i : w->block,
                  wide = width - j < w->block ? width - j : w->block;
    if (w->own)
        add_own(w, i, j, high, wide, worker->scratch);
    else if (w->r->f64)
        add_f64(w, i, j, high, wide);
    else
        add_f32(w, i, j, high, wide, worker->scratch);
    return GRAM_OK;
}

gram_status gram_feature_products(gram_context *context, const gram_product_rows *rows, double *products)
{
    const int own = has_own(context), wide = own ? OWN_WIDE : WIDE, line = own ? OWN_LINE : LINE;
    const int64_t parts = (rows->width + wide - 1) / wide,
                  block = ((rows->width + parts - 1) / parts + line - 1) / line * line,
                  blocks = (rows->width + block - 1) / block;
    product_work work = {rows, block, own, products};
    const gram_sweep sweep = {.what = "features",
                              .tasks = blocks * (blocks + 1) / 2,
                              .scratch_bytes = own         ? GRAM_COLUMN_PRODUCTS_SCRATCH(block)
                                               : rows->f64 ? 0
                                                           : (size_t)(block * block) * sizeof(float),
                              .run = product_task,
                              .argument = &work,
                              .share_before = rows->share_done,
                              .share_after = rows->share};
    return gram_sweep_run(context, &sweep);
}

int gram_equations_factor(int64_t p, double *a)
{
    const int size = (int)p;
    double trace = 0, smallest = INFINITY;
    int info = 0;
    for (int64_t i = 0; i < p; i++) trace += a[i * p + i];
    dpotrf_("U", &size, a, &size, &info, 1); /* the row-major lower triangle */
    for (int64_t i = 0; i < p && info == 0; i++) {
        smallest = fmin(smallest, a[i * p + i] * a[i * p + i]);
        memset(a + i * p + i + 1, 0, (size_t)(p - i - 1) * sizeof *a);
    }
    return info == 0 && smallest > DBL_EPSILON * trace;
}

void gram_equations_solve(int64_t p, const double *factor, int64_t m, double *c)
{
    for (int transposed = 0; transposed < 2; transposed++)
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, transposed ? CblasTrans : CblasNoTrans, CblasNonUnit, (int)p,
                    (int)m, 1, factor, (int)p, c, (int)m);
}
