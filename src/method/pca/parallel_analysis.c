/* How many components stand out from chance: parallel analysis by permutation (Horn 1965; Buja and Eyuboglu 1992).
 *
 * Columns that are shuffled, each by itself, keep their own distributions and lose what ties them together. Component s stands
 * out if its eigenvalue is above what it is in all but a share `level` of such tables:
 *
 *     p_s = (1 + #{shuffled l_s >= l_s})/(1 + permutations) <= level
 *
 * and all before it do. Above ROWS rows it is done on ROWS of them, drawn. Columns of one group, such as the levels of one text,
 * are shuffled together. O(permutations) times the components of at most ROWS rows. */
#include <math.h>
#include <string.h>

#include <gram/random.h>

#include "base/arena.h"
#include "base/order_statistics.h"
#include "method/pca/pca.h"
#include "points/points.h"

enum { ROWS = 500, STREAM = 0x70617261 /* "para" */ };
static const double TOLERANCE = 1e-4; /* of vectors: eigenvalues are right to its square */

typedef struct analysis {
    gram_context *context;
    gram_kernel *kernel;
    gram_pca_options options;
    int64_t n, d;      /* rows that are looked at */
    double *x, *mixed; /* n x d each */
    int64_t *order;    /* n */
    double *values;    /* (permutations + 1) x most_components; the first are those of x */
} analysis;

/* The first eigenvalues of K~ of these rows, over n: variances. */
static gram_status find_values(const analysis *a, const double *x, double *values)
{
    gram_status status = GRAM_OK;
    gram_component_options asked = gram_pca_components(&a->options);
    gram_components found = {0};
    gram_points *points = NULL;
    asked.any_rank = 1;
    TRY(gram_points_create_f64(a->context, a->n, a->d, x, a->d, &points));
    TRY(gram_components_find(a->context, a->kernel, points, &asked, &found));
    for (int64_t s = 0; s < asked.count; s++) values[s] = found.values[s] / (double)a->n;
done:
    gram_components_free(a->context->memory, &found);
    gram_points_release(points);
    return status;
}

/* Column l is shuffled with those of its group; without groups, by itself. */
static void shuffle(const analysis *a, int64_t number)
{
    const int64_t *groups = a->options.column_groups;
    for (int64_t l = 0; l < a->d; l++) {
        const uint64_t group = (uint64_t)(groups ? groups[l] : l);
        gram_random_permutation((gram_random){a->context->seed, STREAM}, (group << 32) + (uint64_t)number, a->n,
                                a->order);
        for (int64_t i = 0; i < a->n; i++) a->mixed[i * a->d + l] = a->x[a->order[i] * a->d + l];
    }
}

/* The rows: all of them, or ROWS drawn. */
static void copy_rows(const analysis *a, const gram_points *x, int64_t *order)
{
    const int64_t all = gram_points_count(x);
    gram_random_permutation((gram_random){a->context->seed, STREAM}, UINT64_MAX, all, order);
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t l = 0; l < a->d; l++) a->x[i * a->d + l] = gram_points_at(x, a->n < all ? order[i] : i, l);
}

/* Counts the components that stand out; chance[s] is what an eigenvalue must be above. */
static int64_t count_significant(const analysis *a, double *column, double *chance)
{
    const int64_t most = a->options.components, count = a->options.permutations;
    const int64_t allowed = (int64_t)floor(a->options.level * (double)(count + 1) * (1 + 1e-12)) - 1;
    int64_t significant = 0;
    for (int64_t s = 0; s < most; s++) {
        for (int64_t t = 0; t < count; t++) column[t] = a->values[(t + 1) * most + s];
        gram_sort_numbers(count, column);
        chance[s] = column[count - 1 - allowed];
        if (significant == s && a->values[s] > chance[s]) significant = s + 1;
    }
    return significant;
}

gram_status gram_pca_parallel_analysis(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                       const gram_pca_options *options, gram_pca_analysis *found)
{
    gram_status status = GRAM_OK;
    const int64_t all = gram_points_count(x), count = options->permutations;
    analysis a = {.context = context, .kernel = kernel, .options = *options, .n = all < ROWS ? all : ROWS};
    int64_t *order;
    gram_arena arena;
    gram_arena_init(&arena, context->memory);
    a.d = gram_points_dimension(x);
    a.options.components = options->most_components < a.n - 1 ? options->most_components : a.n - 1;
    a.options.solver = GRAM_PCA_AUTO;
    a.options.tolerance = TOLERANCE;
    const int64_t most = a.options.components;
    TRY(gram_arena_take(context, &arena, "pca: rows", 2 * a.n * a.d, sizeof(double), (void **)&a.x));
    TRY(gram_arena_take(context, &arena, "pca: order", all + a.n, sizeof *order, (void **)&order));
    TRY(gram_arena_take(context, &arena, "pca: eigenvalues", (count + 1) * (most + 1), sizeof(double),
                        (void **)&a.values));
    a.mixed = a.x + a.n * a.d;
    a.order = order + all;
    copy_rows(&a, x, order);
    TRY(find_values(&a, a.x, a.values));
    for (int64_t t = 1; t <= count; t++) {
        shuffle(&a, t);
        TRY(find_values(&a, a.mixed, a.values + t * most));
    }
    found->rows = a.n;
    found->tested = most;
    found->significant = count_significant(&a, a.values + (count + 1) * most, found->chance);
    while (found->tested > 1 && !(found->chance[found->tested - 1] > 1e-12 * found->chance[0])) found->tested--;
done:
    gram_arena_release(&arena);
    return status;
}
