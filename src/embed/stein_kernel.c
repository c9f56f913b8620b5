/* The Stein kernel of a base kernel and a score function, as a kernel like any other: for sums and products with others,
 * for regression and embeddings under a density.
 *
 * To the engine it is a kernel of the caller's code. A block of pairs asks for the base kernel's derivatives at its points
 * with a context of its own on the stack, whose memory is counted where the kernel's is. The operator of stein.c, which
 * has the scores of all points beforehand, is several times faster where only the matrix of one sample is wanted. */
#include <math.h>
#include <string.h>

#include <gram/matrix.h>
#include <gram/stein.h>

#include "base/context.h"

typedef struct stein {
    gram_memory *memory;
    const gram_vecmath *vecmath;
    gram_kernel *base;
    gram_score_fn score;
    void *user;
    void (*release)(void *user);
} stein;

/* What one block needs. */
typedef struct block_work {
    int64_t rows, columns, d;
    double *x, *y, *score_x, *score_y; /* row-major */
    gram_derivatives at;
} block_work;

static void release_stein(void *user)
{
    stein *self = user;
    gram_memory *memory = self->memory;
    gram_kernel_release(self->base);
    if (self->release) self->release(self->user);
    gram_memory_give(memory, self);
    gram_memory_release(memory);
}

static void gather(const stein *self, int64_t d, int64_t n, const double *from, int64_t ld, double *points,
                   double *scores)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t l = 0; l < d; l++) points[i * d + l] = from[l * ld + i];
        self->score(self->user, d, points + i * d, scores + i * d);
    }
}

/* trace + s(x).grad_y + s(y).grad_x + s(x).s(y) k */
static double combine(const block_work *w, int64_t i, int64_t j)
{
    const int64_t pair = i * w->at.ld + j;
    const double *sx = w->score_x + i * w->d, *sy = w->score_y + j * w->d;
    const double *by_x = w->at.by_x + pair * w->d, *by_y = w->at.by_y + pair * w->d;
    double sum = w->at.trace[pair], product = 0;
    for (int64_t l = 0; l < w->d; l++) {
        sum += sx[l] * by_y[l] + sy[l] * by_x[l];
        product += sx[l] * sy[l];
    }
    return sum + product * w->at.value[pair];
}

static gram_status differentiate(gram_context *context, const stein *self, const block_work *w)
{
    gram_status status = GRAM_OK;
    gram_points *x = NULL, *y = NULL;
    TRY(gram_points_create_f64(context, w->rows, w->d, w->x, w->d, &x));
    TRY(gram_points_create_f64(context, w->columns, w->d, w->y, w->d, &y));
    TRY(gram_matrix_derivatives(context, self->base, x, y, &w->at));
done:
    gram_points_release(x);
    gram_points_release(y);
    return status;
}

static void evaluate(void *user, int64_t d, int64_t rows, const double *x, int64_t ldx, int64_t columns,
                     const double *y, int64_t ldy, double *out, int64_t ldo)
{
    const stein *self = user;
    gram_context context = {.memory = self->memory, .threads = 1, .vecmath = self->vecmath};
    const int64_t pairs = rows * columns, numbers = 2 * (rows + columns) * d + pairs * (2 + 2 * d);
    block_work w = {.rows = rows, .columns = columns, .d = d};
    double *room = NULL;
    gram_status status = gram_take(&context, "stein kernel: a block", numbers, sizeof(double), (void **)&room);
    if (status >= 0) {
        w.x = room;
        w.score_x = w.x + rows * d;
        w.y = w.score_x + rows * d;
        w.score_y = w.y + columns * d;
        w.at.ld = columns;
        w.at.value = w.score_y + columns * d;
        w.at.trace = w.at.value + pairs;
        w.at.by_x = w.at.trace + pairs;
        w.at.by_y = w.at.by_x + pairs * d;
        gather(self, d, rows, x, ldx, w.x, w.score_x);
        gather(self, d, columns, y, ldy, w.y, w.score_y);
        status = differentiate(&context, self, &w);
    }
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) out[i * ldo + j] = status < 0 ? NAN : combine(&w, i, j);
    gram_give(&context, room);
}

/* A base without second derivatives is refused at once, by one pair of points where every kernel is defined. */
static gram_status check_base(gram_context *context, const gram_kernel *base)
{
    gram_status status = GRAM_OK;
    int64_t d = 0;
    double *one = NULL, trace;
    gram_points *x = NULL;
    FAIL_IF(!base, context, GRAM_ERROR_ARGUMENT, "kernel_stein: the base kernel is NULL");
    TRY(gram_kernel_least_dimension(context, base, &d));
    TRY(gram_take(context, "kernel_stein", d, sizeof(double), (void **)&one));
    for (int64_t l = 0; l < d; l++) one[l] = 1;
    TRY(gram_points_create_f64(context, 1, d, one, d, &x));
    TRY(gram_matrix_derivatives(context, base, x, NULL, &(gram_derivatives){.ld = 1, .trace = &trace}));
done:
    gram_points_release(x);
    gram_give(context, one);
    return status;
}

gram_status gram_kernel_stein(gram_context *context, const char *name, gram_kernel *base, gram_score_fn score,
                              void *user, void (*release)(void *user), gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    stein *self = NULL;
    if (kernel) *kernel = NULL;
    if (!context || !kernel) {
        if (release) release(user);
        return GRAM_ERROR_ARGUMENT;
    }
    FAIL_IF(!score, context, GRAM_ERROR_ARGUMENT, "kernel_stein: score is NULL");
    TRY(check_base(context, base));
    TRY(gram_take(context, "kernel_stein", 1, sizeof *self, (void **)&self));
    *self =
        (stein){gram_memory_retain(context->memory), context->vecmath, gram_kernel_retain(base), score, user, release};
    return gram_kernel_callback(context, name, evaluate, self, release_stein, kernel);
done:
    if (release) release(user);
    return status;
}
