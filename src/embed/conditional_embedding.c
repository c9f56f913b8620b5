/* Conditional mean embeddings: a Cholesky factor of K + n lambda I, and two ways to use it.
 *
 * Weights solve with the columns k_z, one for each new point. Expectations solve with the values g once and multiply by
 * K(Z, X), which is the same by symmetry, (k_z' A^-1) g = k_z' (A^-1 g), and cheaper when there are many new points. */
#include <math.h>
#include <string.h>

#include <gram/conditional.h>
#include <gram/matrix.h>
#include <gram/text.h>

#include "base/context.h"
#include "points/functionals.h"
#include "points/points.h"

struct gram_conditional {
    gram_memory *memory;
    gram_kernel *kernel;
    gram_points *x;
    gram_cholesky *factor;
};

/* New points whose columns are held at one time. */
enum { AT_ONCE = 256 };

static gram_status check_creation(gram_context *context, const gram_kernel *kernel, const gram_points *x, double lambda)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "conditional_create: kernel is NULL");
    FAIL_IF(!x, context, GRAM_ERROR_ARGUMENT, "conditional_create: x is NULL");
    FAIL_IF(!(lambda > 0 && isfinite(lambda)), context, GRAM_ERROR_ARGUMENT,
            "conditional_create: lambda = %s, need a number above 0", gram_number_format(lambda, shown));
done:
    return status;
}

gram_status gram_conditional_create(gram_context *context, gram_kernel *kernel, gram_points *x, double lambda,
                                    gram_conditional **conditional)
{
    gram_status status = GRAM_OK;
    gram_conditional *made = NULL;
    double *shift = NULL;
    int64_t n = 0;
    if (!context || !conditional) return GRAM_ERROR_ARGUMENT;
    *conditional = NULL;
    TRY(check_creation(context, kernel, x, lambda));
    TRY(gram_points_must_be_plain(context, "conditional_create", x));
    n = x->n;
    TRY(gram_take(context, "conditional_create", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    made->kernel = gram_kernel_retain(kernel);
    made->x = gram_points_retain(x);
    TRY(gram_take(context, "conditional_create: shift", n, sizeof(double), (void **)&shift));
    for (int64_t i = 0; i < n; i++) shift[i] = (double)n * lambda;
    TRY(gram_cholesky_create(context, kernel, x, shift, GRAM_STORAGE_F64, NULL, &made->factor));
    *conditional = made;
    made = NULL;
done:
    gram_give(context, shift);
    gram_conditional_destroy(made);
    return status;
}

void gram_conditional_destroy(gram_conditional *conditional)
{
    if (!conditional) return;
    gram_memory *memory = conditional->memory;
    gram_cholesky_destroy(conditional->factor);
    gram_points_release(conditional->x);
    gram_kernel_release(conditional->kernel);
    gram_memory_give(memory, conditional);
    gram_memory_release(memory);
}

/* The weights of points first .. first + count - 1 of z; block has room for n x count numbers. */
static gram_status weights_part(gram_context *context, const gram_conditional *c, const gram_points *z, int64_t first,
                                int64_t count, double *block, double *out, int64_t ld)
{
    gram_status status = GRAM_OK;
    gram_points *part = NULL;
    TRY(gram_points_part(context, z, first, count, &part));
    TRY(gram_matrix(context, c->kernel, c->x, part, block, count));
    TRY(gram_cholesky_solve(context, c->factor, count, block, count));
    for (int64_t j = 0; j < count; j++)
        for (int64_t i = 0; i < c->x->n; i++) out[(first + j) * ld + i] = block[i * count + j];
done:
    gram_points_release(part);
    return status;
}

gram_status gram_conditional_weights(gram_context *context, const gram_conditional *conditional, const gram_points *z,
                                     double *out, int64_t ld)
{
    gram_status status = GRAM_OK;
    double *block = NULL;
    int64_t room = 0;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!conditional || !z || !out, context, GRAM_ERROR_ARGUMENT, "conditional_weights: %s is NULL",
            !conditional ? "conditional"
            : !z         ? "z"
                         : "out");
    const int64_t n = conditional->x->n;
    FAIL_IF(ld < n, context, GRAM_ERROR_ARGUMENT, "conditional_weights: ld = %lld is less than n = %lld", (long long)ld,
            (long long)n);
    room = n * (z->n < AT_ONCE ? z->n : AT_ONCE);
    TRY(gram_take(context, "conditional_weights", room, sizeof(double), (void **)&block));
    for (int64_t first = 0; first < z->n; first += AT_ONCE) {
        const int64_t count = z->n - first < AT_ONCE ? z->n - first : AT_ONCE;
        TRY(weights_part(context, conditional, z, first, count, block, out, ld));
    }
done:
    gram_give(context, block);
    return status;
}

static gram_status check_values(gram_context *context, int64_t n, int64_t columns, const double *g, int64_t ldg)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    FAIL_IF(columns < 1 || ldg < columns, context, GRAM_ERROR_ARGUMENT,
            "conditional_expect: columns = %lld, ldg = %lld, need 1 <= columns <= ldg", (long long)columns,
            (long long)ldg);
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < columns; c++)
            FAIL_IF(!isfinite(g[i * ldg + c]), context, GRAM_ERROR_DATA, "conditional_expect: g[%lld][%lld] is %s",
                    (long long)i, (long long)c, gram_number_format(g[i * ldg + c], shown));
done:
    return status;
}

gram_status gram_conditional_expect(gram_context *context, const gram_conditional *conditional, int64_t columns,
                                    const double *g, int64_t ldg, const gram_points *z, double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    double *a = NULL;
    int64_t room = 0;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!conditional || !g || !z || !out, context, GRAM_ERROR_ARGUMENT, "conditional_expect: %s is NULL",
            !conditional ? "conditional"
            : !g         ? "g"
            : !z         ? "z"
                         : "out");
    const int64_t n = conditional->x->n;
    TRY(check_values(context, n, columns, g, ldg));
    room = n * columns;
    TRY(gram_take(context, "conditional_expect", room, sizeof(double), (void **)&a));
    for (int64_t i = 0; i < n; i++) memcpy(a + i * columns, g + i * ldg, (size_t)columns * sizeof *a);
    TRY(gram_cholesky_solve(context, conditional->factor, columns, a, columns));
    TRY(gram_matrix_product(context, conditional->kernel, z, conditional->x, columns, a, columns, out, ldo));
done:
    gram_give(context, a);
    return status;
}
