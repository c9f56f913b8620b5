/* Means of random Fourier features over the rows of each bag. */
#include <math.h>
#include <string.h>

#include <cblas.h>

#include "kernel/spectral/spectral_measure.h"
#include "points/bags.h"
#include "tile/embedding/bag_part.h"

/* The seed is the kernel's, not the context's: a model and whoever reads it make the same features. */
enum { SEED = 0x62616773 /* "bags" */, STREAM = 0x6d656e /* "men" */, ROWS_AT_ONCE = 64, BAGS_PER_TASK = 16 };

typedef struct embedding {
    const gram_vecmath_f64 *v;
    const gram_points *rows;
    const int64_t *start;
    const double *weights; /* of the rows, of sum 1 in each bag; NULL: all alike */
    int64_t n, d, count;   /* of frequencies, a multiple of GRAM_LANES with zeros */
    int64_t wanted;
    double height;
    const double *frequencies; /* count x d */
    double *out;               /* n x 2 wanted */
} embedding;

/* Cosines and sines of the angles of some rows of a bag, by their weights, are added to sums: count cosines, count sines. */
static void add_rows(const embedding *e, int64_t first, int rows, double *angles, double *turned, double *sums)
{
    const int64_t count = e->count;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, (int)count, (int)e->d, 1,
                e->rows->f64 + first * e->rows->ld, (int)e->rows->ld, e->frequencies, (int)e->d, 0, angles, (int)count);
    for (int half = 0; half < 2; half++) {
        double *sum = sums + half * count;
        (half ? e->v->sin : e->v->cos)((int)(rows * count), angles, turned);
        for (int i = 0; i < rows; i++) {
            const double weight = e->weights ? e->weights[first + i] : 1;
            for (int64_t l = 0; l < count; l++) sum[l] += weight * turned[i * count + l];
        }
    }
}

static gram_status embed_bags(void *argument, const gram_worker *worker)
{
    const embedding *e = argument;
    const int64_t first = worker->task * BAGS_PER_TASK;
    const int64_t end = first + BAGS_PER_TASK < e->n ? first + BAGS_PER_TASK : e->n;
    double *angles = worker->scratch, *turned = angles + ROWS_AT_ONCE * e->count,
           *sums = turned + ROWS_AT_ONCE * e->count;
    for (int64_t i = first; i < end; i++) {
        const double all = e->weights ? 1 : (double)(e->start[i + 1] - e->start[i]);
        const double scale = sqrt(e->height / (double)e->wanted) / all;
        memset(sums, 0, (size_t)(2 * e->count) * sizeof *sums);
        for (int64_t row = e->start[i]; row < e->start[i + 1]; row += ROWS_AT_ONCE) {
            const int64_t left = e->start[i + 1] - row;
            if (gram_worker_stopped(worker)) return GRAM_OK;
            add_rows(e, row, (int)(left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE), angles, turned, sums);
        }
        double *out = e->out + i * 2 * e->wanted;
        for (int64_t l = 0; l < e->wanted; l++) {
            out[l] = scale * sums[l];
            out[e->wanted + l] = scale * sums[e->count + l];
        }
    }
    return GRAM_OK;
}

static gram_status draw(gram_context *context, const gram_kernel *kernel, embedding *e, double **frequencies)
{
    gram_status status = GRAM_OK;
    double *work = NULL;
    TRY(gram_take(context, "mean: frequencies", e->count * e->d, sizeof **frequencies, (void **)frequencies));
    TRY(gram_take(context, "mean: frequencies", gram_spectrum_work(kernel) + 1, sizeof *work, (void **)&work));
    memset(*frequencies, 0, (size_t)(e->count * e->d) * sizeof **frequencies);
    for (int64_t l = 0; l < e->wanted; l++)
        gram_spectrum_draw(kernel, SEED, STREAM, l, e->wanted, e->d, NULL, NULL, work, *frequencies + l * e->d);
    e->frequencies = *frequencies;
done:
    gram_give(context, work);
    return status;
}

gram_status gram_bag_features(gram_context *context, const gram_kernel *kernel, int frequencies,
                              const gram_bag_rows *bags, int64_t n, gram_points **features)
{
    gram_status status = GRAM_OK;
    double *drawn = NULL, *out = NULL;
    const gram_points *rows = bags->rows;
    embedding e = {.v = &context->vecmath->f64,
                   .rows = rows,
                   .start = bags->start,
                   .weights = bags->weights,
                   .n = n,
                   .d = rows->d};
    e.wanted = frequencies;
    e.count = (frequencies + GRAM_LANES - 1) / GRAM_LANES * GRAM_LANES;
    *features = NULL;
    TRY(gram_kernel_check_part(context, kernel, rows->d, rows->d));
    TRY(gram_spectrum_check(context, "mean(..., fourier=D)", "leave out fourier", kernel, rows->d, &e.height));
    TRY(draw(context, kernel, &e, &drawn));
    TRY(gram_take(context, "mean: features of bags", n * 2 * e.wanted, sizeof *out, (void **)&out));
    e.out = out;
    const gram_sweep sweep = {.what = "features of bags",
                              .tasks = (n + BAGS_PER_TASK - 1) / BAGS_PER_TASK,
                              .scratch_bytes = (size_t)(2 * ROWS_AT_ONCE + 2) * (size_t)e.count * sizeof(double),
                              .run = embed_bags,
                              .argument = &e};
    TRY(gram_sweep_run(context, &sweep));
    TRY(gram_points_create_f64(context, n, 2 * e.wanted, out, 2 * e.wanted, features));
    (*features)->own = out;
    out = NULL;
done:
    gram_give(context, out);
    gram_give(context, drawn);
    return status;
}
