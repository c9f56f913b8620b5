/* Pre-images: from coordinates back to a point whose feature is near the projection that they stand for.
 *
 * The projection of phi(x) with coordinates b is P = sum_i c_i phi(z_i) over the centres z_i of the components, c = A b + g, A the
 * coefficients and g the weights of the mean (0 if nothing is centred).
 *
 *     linear        P is a point itself: sum_i c_i z_i
 *     fixed point   of rbf, k(z, z) being constant, the nearest phi(z) has the largest g(z) = <phi(z), P> = sum_i c_i k(z_i, z), and
 *                   where its gradient vanishes z = sum_i c_i k(z_i, z) z_i/g(z), whatever the metric (Mika and others, NIPS 11, 1999).
 *                   The iteration goes uphill while g > 0, but may step too far where some c_i < 0: then the step is halved until
 *                   g does not fall. It starts at the better of the row itself and the centre with the nearest coordinates.
 *     ridge         of any kernel: kernel ridge regression from the coordinates of centres to the centres, with an rbf of
 *                   coordinates whose width and ridge have the least leave-one-out error (Bakir, Weston and Schoelkopf, NIPS 16, 2004).
 *
 * Beside the ridge's one fit, O(m^3) for at most RIDGE_ROWS centres, a row takes O(m (d + k)) for each iteration of the fixed
 * point, O(m k) by the ridge. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/cholesky.h>
#include <gram/krr_tune.h>
#include <gram/random.h>

#include "base/arena.h"
#include "base/sweep.h"
#include "function/function.h"
#include "kernel/kernel.h"
#include "method/pca/pca.h"
#include "points/points.h"
#include "solve/eigen/tall_matrix.h"

enum {
    RIDGE_ROWS = 1000,
    STREAM = 0x70726569 /* "prei" */,
    MOST_STEPS = 500,
    CHUNK_NUMBERS = 1 << 21,
    MOST_CHUNK = 512
};
static const double STEP = 1e-8; /* of a column's spread: a smaller step is the end */

struct gram_preimage {
    gram_memory *memory;
    gram_function *function; /* the coordinates of a point */
    gram_preimage_method method;
    int64_t m, d, k;
    double *centres; /* m x d */
    double *known;   /* m x k: the coordinates of the centres */
    double *across;  /* k x m: the coefficients */
    double *mean;    /* m: weights of the mean */
    double *spread;  /* d: of the centres' columns */
    double *origin;  /* d, and d x k: of linear, the mean and the directions */
    double *directions;
    gram_function *ridge; /* of coordinates: d outputs */
};

const char *gram_preimage_method_name(gram_preimage_method method)
{
    static const char *const names[] = {"auto", "fixed-point", "ridge", "linear"};
    return (int)method >= 0 && method <= GRAM_PREIMAGE_LINEAR ? names[method] : "unknown";
}

static int is_leaf(const gram_kernel *kernel, const char *name)
{
    return kernel->node == GRAM_NODE_LEAF && strcmp(kernel->type->name, name) == 0;
}

/* An rbf, or a constant times one. */
int gram_preimage_has_fixed_point(const gram_kernel *kernel)
{
    int constants = 0, gaussians = 0;
    if (kernel->node != GRAM_NODE_PRODUCT) return is_leaf(kernel, "rbf");
    for (int c = 0; c < kernel->child_count; c++) {
        constants += is_leaf(kernel->children[c], "const");
        gaussians += is_leaf(kernel->children[c], "rbf");
    }
    return gaussians == 1 && constants == kernel->child_count - 1;
}

/* ---- linear ---- */

static gram_status make_linear(gram_context *context, gram_preimage *p)
{
    gram_status status = GRAM_OK;
    const double *a = gram_function_coefficients(p->function);
    TRY(gram_take(context, "preimage", p->d, sizeof(double), (void **)&p->origin));
    TRY(gram_take(context, "preimage", p->d * p->k, sizeof(double), (void **)&p->directions));
    for (int64_t l = 0; l < p->d; l++) {
        p->origin[l] = 0;
        for (int64_t i = 0; i < p->m; i++) p->origin[l] += p->mean[i] * p->centres[i * p->d + l];
        for (int64_t s = 0; s < p->k; s++) {
            double sum = 0;
            for (int64_t i = 0; i < p->m; i++) sum += a[i * p->k + s] * p->centres[i * p->d + l];
            p->directions[l * p->k + s] = sum;
        }
    }
done:
    return status;
}

static void find_linear(const gram_preimage *p, int64_t n, const double *b, int64_t ldb, double *x, int64_t ldx)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < p->d; l++) {
            double sum = p->origin[l];
            for (int64_t s = 0; s < p->k; s++) sum += b[i * ldb + s] * p->directions[l * p->k + s];
            x[i * ldx + l] = sum;
        }
}

/* ---- ridge ---- */

/* Some centres (y, rows x d) and their coordinates (b, rows x k). */
static gram_status draw_centres(gram_context *context, const gram_preimage *p, int64_t rows, double *b, double *y)
{
    gram_status status = GRAM_OK;
    int64_t *order = NULL;
    TRY(gram_take(context, "preimage: rows", p->m, sizeof *order, (void **)&order));
    gram_random_permutation((gram_random){context->seed, STREAM}, 0, p->m, order);
    for (int64_t r = 0; r < rows; r++) {
        const int64_t i = rows < p->m ? order[r] : r;
        memcpy(y + r * p->d, p->centres + i * p->d, (size_t)p->d * sizeof *y);
        memcpy(b + r * p->k, p->known + i * p->k, (size_t)p->k * sizeof *b);
    }
done:
    gram_give(context, order);
    return status;
}

/* a = A^-1 (y - 1 c'), c = y'A^-1 1/(1'A^-1 1) and A = K + noise I: in y, with the constants in c. */
static gram_status solve_ridge(gram_context *context, const gram_kernel *kernel, const gram_points *b, double noise,
                               int64_t d, double *y, double *c)
{
    gram_status status = GRAM_OK;
    const int64_t rows = gram_points_count(b);
    gram_cholesky *factor = NULL;
    double *work = NULL, jitter = 0, sum = 0;
    TRY(gram_take(context, "preimage: ridge", 2 * rows, sizeof *work, (void **)&work));
    double *ones = work, *shift = work + rows;
    for (int64_t i = 0; i < rows; i++) ones[i] = 1, shift[i] = noise;
    TRY(gram_cholesky_create(context, kernel, b, shift, GRAM_STORAGE_F64, &jitter, &factor));
    TRY(gram_cholesky_solve(context, factor, d, y, d));
    TRY(gram_cholesky_solve(context, factor, 1, ones, 1));
    for (int64_t l = 0; l < d; l++) c[l] = 0;
    for (int64_t i = 0; i < rows; i++) {
        sum += ones[i];
        for (int64_t l = 0; l < d; l++) c[l] += y[i * d + l];
    }
    for (int64_t l = 0; l < d; l++) c[l] /= sum;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t l = 0; l < d; l++) y[i * d + l] -= c[l] * ones[i];
done:
    gram_cholesky_destroy(factor);
    gram_give(context, work);
    return status;
}

static gram_status make_ridge(gram_context *context, gram_preimage *p)
{
    gram_status status = GRAM_OK;
    const int64_t rows = p->m < RIDGE_ROWS ? p->m : RIDGE_ROWS;
    gram_arena arena;
    gram_points *points = NULL;
    gram_kernel *free_one = NULL, *kernel = NULL;
    gram_krr_tune_options options;
    double *b, *y, *c, lambda = 0;
    gram_arena_init(&arena, context->memory);
    gram_krr_tune_options_init(&options, sizeof options);
    options.ard = 0;
    TRY(gram_arena_take(context, &arena, "preimage: coordinates", rows * p->k, sizeof *b, (void **)&b));
    TRY(gram_arena_take(context, &arena, "preimage: centres", (rows + 1) * p->d, sizeof *y, (void **)&y));
    c = y + rows * p->d;
    TRY(draw_centres(context, p, rows, b, y));
    TRY(gram_points_create_f64(context, rows, p->k, b, p->k, &points));
    TRY(gram_kernel_parse(context, "rbf", &free_one));
    TRY(gram_krr_tune(context, free_one, points, p->d, y, p->d, &options, &kernel, &lambda, NULL));
    TRY(solve_ridge(context, kernel, points, lambda * (double)rows, p->d, y, c));
    TRY(gram_function_create(context, kernel, points, p->d, y, p->d, c, &p->ridge));
done:
    gram_kernel_release(kernel);
    gram_kernel_release(free_one);
    gram_points_release(points);
    gram_arena_release(&arena);
    return status;
}

static gram_status find_by_ridge(gram_context *context, const gram_preimage *p, int64_t n, const double *b, int64_t ldb,
                                 double *x, int64_t ldx)
{
    gram_status status = GRAM_OK;
    gram_points *points = NULL;
    TRY(gram_points_create_f64(context, n, p->k, b, ldb, &points));
    TRY(gram_function_evaluate(context, p->ridge, points, x, ldx));
done:
    gram_points_release(points);
    return status;
}

/* ---- fixed point ---- */

/* Rows that go together; all arrays have a row for each. */
typedef struct chunk {
    int64_t n, going;
    int64_t *active; /* going: those that have not ended */
    double *weights; /* n x m: c */
    double *kernel;  /* n x m */
    double *at;      /* n x d: where the best so far is */
    double *trial;   /* n x d: where the next look is */
    double *step;    /* n x d: from `at` on */
    double *mean;    /* n x d */
    double *value;   /* n: g at the best so far */
    double *seen;    /* n: g at the trial */
} chunk;

static gram_status take_chunk(gram_context *context, gram_arena *arena, const gram_preimage *p, int64_t n, chunk *c)
{
    gram_status status = GRAM_OK;
    TRY(gram_arena_take(context, arena, "preimage", n, sizeof *c->active, (void **)&c->active));
    TRY(gram_arena_take(context, arena, "preimage: weights", n * p->m, sizeof(double), (void **)&c->weights));
    TRY(gram_arena_take(context, arena, "preimage: kernel", n * p->m, sizeof(double), (void **)&c->kernel));
    TRY(gram_arena_take(context, arena, "preimage: points", n * (4 * p->d + 2), sizeof(double), (void **)&c->at));
    c->trial = c->at + n * p->d;
    c->step = c->trial + n * p->d;
    c->mean = c->step + n * p->d;
    c->value = c->mean + n * p->d;
    c->seen = c->value + n;
done:
    return status;
}

/* For the active rows: seen = g(trial) and mean = sum_i c_i k(z_i, trial) z_i. */
static gram_status look(gram_context *context, const gram_preimage *p, chunk *c, double *packed)
{
    gram_status status = GRAM_OK;
    const int64_t d = p->d, m = p->m;
    gram_points *points = NULL;
    for (int64_t r = 0; r < c->going; r++)
        memcpy(packed + r * d, c->trial + c->active[r] * d, (size_t)d * sizeof *packed);
    TRY(gram_points_create_f64(context, c->going, d, packed, d, &points));
    TRY(gram_matrix(context, gram_function_kernel(p->function), points, gram_function_centres(p->function), c->kernel,
                    m));
    for (int64_t r = 0; r < c->going; r++) {
        const double *weights = c->weights + c->active[r] * m;
        double *k = c->kernel + r * m, sum = 0;
        for (int64_t i = 0; i < m; i++) sum += (k[i] *= weights[i]);
        c->seen[c->active[r]] = sum;
    }
    memset(packed, 0, (size_t)(c->going * d) * sizeof *packed);
    TRY(gram_tall_add(context, (gram_tall){c->going, m, m, c->kernel}, 1, p->centres, d,
                      (gram_tall){c->going, d, d, packed}));
    for (int64_t r = 0; r < c->going; r++)
        memcpy(c->mean + c->active[r] * d, packed + r * d, (size_t)d * sizeof *packed);
done:
    gram_points_release(points);
    return status;
}

/* Is the step of row i below what matters? */
static int is_small(const gram_preimage *p, const chunk *c, int64_t i)
{
    for (int64_t l = 0; l < p->d; l++)
        if (!(fabs(c->step[i * p->d + l]) <= STEP * p->spread[l] + 4 * DBL_EPSILON * fabs(c->at[i * p->d + l])))
            return 0;
    return 1;
}

/* What was seen at the trial of row i decides where to look next; 0: nowhere. */
static int move(const gram_preimage *p, chunk *c, int64_t i)
{
    const int64_t d = p->d;
    if (c->seen[i] >= c->value[i]) {
        c->value[i] = c->seen[i];
        for (int64_t l = i * d; l < (i + 1) * d; l++) {
            c->at[l] = c->trial[l];
            c->step[l] = c->mean[l] / c->seen[i] - c->at[l];
        }
    } else
        for (int64_t l = i * d; l < (i + 1) * d; l++) c->step[l] /= 2;
    if (!(c->value[i] > 0) || is_small(p, c, i)) return 0;
    for (int64_t l = i * d; l < (i + 1) * d; l++) c->trial[l] = c->at[l] + c->step[l];
    return 1;
}

/* The centre whose coordinates are nearest to b. */
static const double *nearest_centre(const gram_preimage *p, const double *b)
{
    double least = INFINITY;
    int64_t best = 0;
    for (int64_t i = 0; i < p->m; i++) {
        double sum = 0;
        for (int64_t s = 0; s < p->k; s++) sum += (p->known[i * p->k + s] - b[s]) * (p->known[i * p->k + s] - b[s]);
        if (sum < least) least = sum, best = i;
    }
    return p->centres + best * p->d;
}

/* Looks at the rows `near`, if there are such, and at the nearest centres; the better is where it begins. */
static gram_status start_chunk(gram_context *context, const gram_preimage *p, const double *b, int64_t ldb,
                               const double *near, chunk *c, double *packed)
{
    gram_status status = GRAM_OK;
    const int64_t d = p->d, n = c->n;
    for (int64_t i = 0; i < n; i++) {
        memcpy(c->weights + i * p->m, p->mean, (size_t)p->m * sizeof *p->mean);
        memcpy(c->trial + i * d, nearest_centre(p, b + i * ldb), (size_t)d * sizeof *c->trial);
        c->value[i] = -INFINITY;
        c->active[i] = i;
    }
    c->going = n;
    TRY(gram_tall_add(context, (gram_tall){n, p->k, ldb, (double *)b}, 1, p->across, p->m,
                      (gram_tall){n, p->m, p->m, c->weights}));
    TRY(look(context, p, c, packed));
    for (int64_t i = 0; i < n; i++) (void)move(p, c, i);
    if (!near) goto done;
    memcpy(c->trial, near, (size_t)(n * d) * sizeof *near);
    TRY(look(context, p, c, packed));
    for (int64_t i = 0; i < n; i++)
        if (c->seen[i] >= c->value[i])
            (void)move(p, c, i);
        else
            for (int64_t l = i * d; l < (i + 1) * d; l++) c->trial[l] = c->at[l] + c->step[l];
done:
    return status;
}

/* Returns GRAM_NOT_CONVERGED if a row still moved at the end. */
static gram_status iterate(gram_context *context, const gram_preimage *p, chunk *c, double *packed)
{
    gram_status status = GRAM_OK;
    for (int64_t s = 0; s < MOST_STEPS; s++) {
        int64_t going = 0;
        for (int64_t r = 0; r < c->going; r++) {
            const int64_t i = c->active[r];
            const int goes = s > 0 ? move(p, c, i) : c->value[i] > 0 && !is_small(p, c, i);
            if (goes) c->active[going++] = i;
        }
        c->going = going;
        if (going == 0) goto done;
        TRY(look(context, p, c, packed));
    }
    status = GRAM_NOT_CONVERGED;
done:
    return status;
}

static gram_status find_by_steps(gram_context *context, const gram_preimage *p, int64_t n, const double *b, int64_t ldb,
                                 const gram_points *near, double *x, int64_t ldx)
{
    gram_status status = GRAM_OK, found = GRAM_OK;
    const int64_t d = p->d, fits = CHUNK_NUMBERS / p->m + 1, most = fits < MOST_CHUNK ? fits : MOST_CHUNK;
    double *packed, *starts;
    chunk c = {0};
    gram_arena arena;
    gram_arena_init(&arena, context->memory);
    TRY(take_chunk(context, &arena, p, n < most ? n : most, &c));
    TRY(gram_arena_take(context, &arena, "preimage: points", 2 * most * d, sizeof *packed, (void **)&packed));
    starts = packed + most * d;
    for (int64_t first = 0; first < n; first += most) {
        c.n = n - first < most ? n - first : most;
        for (int64_t i = 0; near && i < c.n * d; i++) starts[i] = gram_points_at(near, first + i / d, i % d);
        TRY(start_chunk(context, p, b + first * ldb, ldb, near ? starts : NULL, &c, packed));
        const gram_status ended = iterate(context, p, &c, packed);
        TRY(ended);
        if (ended == GRAM_NOT_CONVERGED) found = ended;
        for (int64_t i = 0; i < c.n; i++) memcpy(x + (first + i) * ldx, c.at + i * d, (size_t)d * sizeof *x);
    }
    status = found;
done:
    gram_arena_release(&arena);
    return status;
}

/* ---- the object ---- */

static gram_status choose(gram_context *context, const gram_kernel *kernel, gram_preimage *p)
{
    gram_status status = GRAM_OK;
    if (is_leaf(kernel, "linear"))
        p->method = GRAM_PREIMAGE_LINEAR;
    else if (p->method == GRAM_PREIMAGE_AUTO)
        p->method = gram_preimage_has_fixed_point(kernel) ? GRAM_PREIMAGE_FIXED_POINT : GRAM_PREIMAGE_RIDGE;
    FAIL_IF((int)p->method < 0 || p->method > GRAM_PREIMAGE_LINEAR ||
                (p->method == GRAM_PREIMAGE_LINEAR && !is_leaf(kernel, "linear")),
            context, GRAM_ERROR_ARGUMENT, "preimage_create: method = %d is not for this kernel", (int)p->method);
    FAIL_IF(p->method == GRAM_PREIMAGE_FIXED_POINT && !gram_preimage_has_fixed_point(kernel), context,
            GRAM_ERROR_ARGUMENT, "preimage_create: the fixed point is of the kernel rbf alone");
done:
    return status;
}

static gram_status copy_centres(gram_context *context, const double *mean, gram_preimage *p)
{
    gram_status status = GRAM_OK;
    const gram_points *centres = gram_function_centres(p->function);
    const double *a = gram_function_coefficients(p->function);
    TRY(gram_take(context, "preimage: centres", p->m * p->d, sizeof(double), (void **)&p->centres));
    TRY(gram_take(context, "preimage: coordinates", p->m * p->k, sizeof(double), (void **)&p->known));
    TRY(gram_take(context, "preimage: coefficients", p->m * p->k, sizeof(double), (void **)&p->across));
    TRY(gram_take(context, "preimage: mean", p->m, sizeof(double), (void **)&p->mean));
    TRY(gram_take(context, "preimage: spread", p->d, sizeof(double), (void **)&p->spread));
    for (int64_t i = 0; i < p->m; i++) {
        p->mean[i] = mean ? mean[i] : 0;
        for (int64_t l = 0; l < p->d; l++) p->centres[i * p->d + l] = gram_points_at(centres, i, l);
        for (int64_t s = 0; s < p->k; s++) p->across[s * p->m + i] = a[i * p->k + s];
    }
    for (int64_t l = 0; l < p->d; l++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < p->m; i++) {
            low = fmin(low, p->centres[i * p->d + l]);
            high = fmax(high, p->centres[i * p->d + l]);
        }
        p->spread[l] = high - low;
    }
    TRY(gram_function_evaluate(context, p->function, centres, p->known, p->k));
done:
    return status;
}

gram_status gram_preimage_create(gram_context *context, gram_function *function, const double *mean,
                                 gram_preimage_method method, gram_preimage **preimage)
{
    gram_status status = GRAM_OK;
    gram_preimage *made = NULL;
    if (!context || !preimage) return GRAM_ERROR_ARGUMENT;
    *preimage = NULL;
    FAIL_IF(!function, context, GRAM_ERROR_ARGUMENT, "preimage_create: function is NULL");
    TRY(gram_take(context, "preimage", 1, sizeof *made, (void **)&made));
    const gram_points *centres = gram_function_centres(function);
    *made = (gram_preimage){.memory = gram_memory_retain(context->memory),
                            .function = gram_function_retain(function),
                            .method = method,
                            .m = gram_points_count(centres),
                            .d = gram_points_dimension(centres),
                            .k = gram_function_outputs(function)};
    TRY(choose(context, gram_function_kernel(function), made));
    TRY(copy_centres(context, mean, made));
    if (made->method == GRAM_PREIMAGE_LINEAR) TRY(make_linear(context, made));
    if (made->method == GRAM_PREIMAGE_RIDGE) TRY(make_ridge(context, made));
    *preimage = made;
    made = NULL;
done:
    gram_preimage_destroy(made);
    return status;
}

void gram_preimage_destroy(gram_preimage *p)
{
    if (!p) return;
    gram_memory *memory = p->memory;
    double *const arrays[] = {p->centres, p->known, p->across, p->mean, p->spread, p->origin, p->directions};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) gram_memory_give(memory, arrays[i]);
    gram_function_release(p->ridge);
    gram_function_release(p->function);
    gram_memory_give(memory, p);
    gram_memory_release(memory);
}

gram_preimage_method gram_preimage_get_method(const gram_preimage *preimage)
{
    return preimage->method;
}

gram_status gram_preimage_find(gram_context *context, const gram_preimage *preimage, int64_t n,
                               const double *coordinates, int64_t ldc, const gram_points *near, double *x, int64_t ldx)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!preimage || !coordinates || !x, context, GRAM_ERROR_ARGUMENT, "preimage_find: %s is NULL",
            !preimage      ? "preimage"
            : !coordinates ? "coordinates"
                           : "x");
    FAIL_IF(n < 0 || ldc < preimage->k || ldx < preimage->d, context, GRAM_ERROR_ARGUMENT,
            "preimage_find: n = %" PRId64 ", ldc = %" PRId64 " of %" PRId64 " coordinates, ldx = %" PRId64
            " of %" PRId64 " columns",
            n, ldc, preimage->k, ldx, preimage->d);
    FAIL_IF(near && (gram_points_count(near) != n || gram_points_dimension(near) != preimage->d), context,
            GRAM_ERROR_ARGUMENT,
            "preimage_find: near has %" PRId64 " points of %" PRId64 " columns, not %" PRId64 " of %" PRId64,
            gram_points_count(near), gram_points_dimension(near), n, preimage->d);
    if (n == 0) goto done;
    switch (preimage->method) {
    case GRAM_PREIMAGE_LINEAR: find_linear(preimage, n, coordinates, ldc, x, ldx); break;
    case GRAM_PREIMAGE_RIDGE: status = find_by_ridge(context, preimage, n, coordinates, ldc, x, ldx); break;
    default: status = find_by_steps(context, preimage, n, coordinates, ldc, near, x, ldx); break;
    }
done:
    return status;
}
