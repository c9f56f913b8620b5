/* Features of a random network with one hidden layer, of which only the output is learnt: z = (sb, sw act(w_i.x + b_i)/sqrt(D)), w_i normal of
 * variance sw^2/fan and b_i of variance sb^2. z(x).z(y) tends to nngp of depth 1 as D grows, with errors like D^(-1/2). */
#include <cblas.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/matrix.h>
#include <gram/random.h>

#include "features/feature_map.h"
#include "kernel/kernel.h"
#include "kernel/neural/neural_layers.h"

enum { CHUNK = 1024 };
static const uint64_t STREAM = 0x6e657572616cU;

typedef struct network {
    double sw, sb;
    int erf;
} network;

typedef struct network_rows {
    const gram_features *map;
    const double *x;
    int64_t ldx;
    double *out;
    int64_t ldo;
} network_rows;

/* One row at a time, by a product with a vector: bits do not depend on the rows beside it. */
static void put_rows(const void *argument, int64_t begin, int64_t end, double *scratch)
{
    const network_rows *rows = argument;
    const network *net = rows->map->own;
    const int64_t units = rows->map->arrays[0].rows, d = rows->map->d, first = net->sb > 0;
    const double *w = rows->map->arrays[0].data, factor = net->sw / sqrt((double)units);
    (void)scratch;
    for (int64_t i = begin; i < end; i++) {
        double *out = rows->out + i * rows->ldo;
        if (first) *out++ = net->sb;
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)units, (int)d, 1, w, (int)(d + 1), rows->x + i * rows->ldx, 1, 0,
                    out, 1);
        for (int64_t j = 0; j < units; j++) {
            const double a = out[j] + w[j * (d + 1) + d];
            out[j] = factor * (net->erf ? erf(a) : fmax(a, 0));
        }
    }
}

static gram_status transform(gram_context *context, const gram_features *map, int64_t n, const double *x, int64_t ldx,
                             double *out, int64_t ldo)
{
    const network_rows rows = {map, x, ldx, out, ldo};
    return gram_feature_rows(context, n, map->report.dimension * (map->d + 8) / 8, 0, put_rows, &rows);
}

/* k(x, x) - |z|^2, of either sign. */
static gram_status residual(gram_context *context, const gram_features *map, int64_t n, const double *x, int64_t ldx,
                            double *out)
{
    gram_status status = GRAM_OK;
    const int64_t columns = map->report.dimension;
    gram_points *points = NULL;
    double *z = NULL;
    TRY(gram_points_create_f64(context, n, map->d, x, ldx, &points));
    TRY(gram_matrix_diagonal(context, map->kernel, points, out));
    TRY(gram_take(context, "features", (n < CHUNK ? n : CHUNK) * columns, sizeof *z, (void **)&z));
    for (int64_t first = 0; first < n; first += CHUNK) {
        const int64_t rows = n - first < CHUNK ? n - first : CHUNK;
        TRY(transform(context, map, rows, x + first * ldx, ldx, z, columns));
        for (int64_t i = 0; i < rows; i++)
            out[first + i] -= cblas_ddot((int)columns, z + i * columns, 1, z + i * columns, 1);
    }
done:
    gram_points_release(points);
    gram_give(context, z);
    return status;
}

static gram_status open_map(gram_context *context, gram_features *map)
{
    gram_status status = GRAM_OK;
    const gram_kernel *k = map->kernel;
    double par[GRAM_MAX_SPECS];
    network *net = NULL;
    const int named = k->node == GRAM_NODE_LEAF && strcmp(k->type->name, "nngp") == 0;
    if (named) gram_kernel_par(k, par);
    FAIL_IF(
        !named || par[GRAM_NEURAL_DEPTH] != 1, context, GRAM_ERROR_UNSUPPORTED,
        "features: neural ones are of the kernel nngp(depth=1) alone; fourier is for stationary kernels, nystrom for "
        "any");
    FAIL_IF(map->arrays[0].columns != map->d + 1, context, GRAM_ERROR_DATA,
            "features: the weights of the network have not one number for each column and one more");
    TRY(gram_arena_take(context, &map->arena, "features", 1, sizeof *net, (void **)&net));
    *net = (network){par[GRAM_NEURAL_SW], par[GRAM_NEURAL_SB], par[GRAM_NEURAL_ACT] == GRAM_NEURAL_ERF};
    map->own = net;
    map->report.dimension = map->arrays[0].rows + (net->sb > 0);
done:
    return status;
}

static gram_status make(gram_context *context, gram_features *map, const gram_points *x,
                        const gram_features_options *options)
{
    gram_status status = GRAM_OK;
    const int64_t d = map->d;
    double par[GRAM_MAX_SPECS];
    (void)x;
    TRY(gram_feature_array_take(context, map, 0, options->dimension, d + 1));
    TRY(open_map(context, map));
    gram_kernel_par(map->kernel, par);
    double *w = map->arrays[0].data;
    gram_random_normal((gram_random){gram_context_seed(context), STREAM}, 0, options->dimension * (d + 1), w);
    for (int64_t j = 0; j < options->dimension; j++, w += d + 1) {
        for (int64_t l = 0; l < d; l++) w[l] *= par[GRAM_NEURAL_SW] / sqrt(par[GRAM_NEURAL_FAN]);
        w[d] *= par[GRAM_NEURAL_SB];
    }
done:
    return status;
}

static void describe(const gram_features *map, gram_string *text)
{
    gram_string_add(text, "%" PRId64 " random units of one hidden layer over %" PRId64 " column%s", map->arrays[0].rows,
                    map->d, map->d == 1 ? "" : "s");
}

const gram_feature_type gram_feature_neural = {
    .name = "neural",
    .arrays = {"weights"},
    .make = make,
    .open = open_map,
    .measure = gram_feature_measure_pairs,
    .transform = transform,
    .residual = residual,
    .describe = describe,
};
