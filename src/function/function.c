/* Making functions, and what they are at points: values by the matrix-free product K(X, centres) a, gradients by the
 * engine's derivative by the inputs with weights of rank 1. Nothing of the size n x m is ever held. */
#include "function/function.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "points/functionals.h"
#include <gram/text.h>

enum { MOST_OUTPUTS = 1 << 24 }; /* of gram_matrix_product */

/* ---- making ---- */

gram_status gram_function_make(gram_context *context, gram_function_room room, gram_function **function)
{
    gram_status status = GRAM_OK;
    gram_function *made = NULL;
    int64_t numbers;
    *function = NULL;
    TRY(gram_take(context, "function", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    atomic_init(&made->references, 1);
    made->memory = gram_memory_retain(context->memory);
    made->kernel = gram_kernel_retain(room.kernel);
    made->n = room.n;
    made->d = room.d;
    made->outputs = room.outputs;
    FAIL_IF(!gram_size_multiply(room.n, room.d, &numbers), context, GRAM_ERROR_OVERFLOW,
            "function: %" PRId64 " x %" PRId64 " numbers are more than can be addressed", room.n, room.d);
    if (room.single)
        TRY(gram_take(context, "function: centres", numbers, sizeof(float), (void **)&made->f32));
    else
        TRY(gram_take(context, "function: centres", numbers, sizeof(double), (void **)&made->f64));
    FAIL_IF(!gram_size_multiply(room.n, room.outputs, &numbers), context, GRAM_ERROR_OVERFLOW,
            "function: %" PRId64 " x %" PRId64 " numbers are more than can be addressed", room.n, room.outputs);
    TRY(gram_take(context, "function: coefficients", numbers, sizeof(double), (void **)&made->a));
    TRY(gram_take(context, "function: constant", room.outputs, sizeof(double), (void **)&made->constant));
    memset(made->constant, 0, (size_t)room.outputs * sizeof(double));
    *function = made;
    made = NULL;
done:
    gram_function_release(made);
    return status;
}

gram_status gram_function_take_slopes(gram_context *context, gram_function *function)
{
    gram_status status = GRAM_OK;
    const int64_t numbers = function->outputs * function->d;
    if (function->slopes) return GRAM_OK;
    TRY(gram_take(context, "function: slopes", numbers, sizeof(double), (void **)&function->slopes));
    memset(function->slopes, 0, (size_t)numbers * sizeof(double));
done:
    return status;
}

gram_status gram_function_seal(gram_context *context, const char *who, gram_status code, gram_function *function)
{
    gram_status status = GRAM_OK;
    char value[GRAM_NUMBER_SIZE];
    const int64_t m = function->outputs;
    for (int64_t k = 0; k < function->n * m; k++)
        FAIL_IF(!isfinite(function->a[k]), context, code, "%s: a[%" PRId64 "][%" PRId64 "] is %s", who, k / m, k % m,
                gram_number_format(function->a[k], value));
    for (int64_t o = 0; o < m; o++)
        FAIL_IF(!isfinite(function->constant[o]), context, code, "%s: constant[%" PRId64 "] is %s", who, o,
                gram_number_format(function->constant[o], value));
    for (int64_t k = 0; k < m * function->d && function->slopes; k++)
        FAIL_IF(!isfinite(function->slopes[k]), context, code, "%s: slopes[%" PRId64 "][%" PRId64 "] is %s", who,
                k / function->d, k % function->d, gram_number_format(function->slopes[k], value));
    if (function->centres) goto done; /* functionals: made with the function */
    if (function->f64)
        TRY(gram_points_create_f64(context, function->n, function->d, function->f64, function->d, &function->centres));
    else
        TRY(gram_points_create_f32(context, function->n, function->d, function->f32, function->d, &function->centres));
done:
    return status;
}

void gram_function_put_row(const gram_function *f, int64_t i, gram_function *to, int64_t at)
{
    const int64_t d = f->d;
    if (gram_function_row_bytes(f) == gram_function_row_bytes(to))
        memcpy(gram_function_row(to, at), gram_function_row(f, i), gram_function_row_bytes(f));
    else
        for (int64_t l = 0; l < d; l++) to->f64[at * d + l] = (double)f->f32[i * d + l];
}

gram_status gram_function_check_kernel(gram_context *context, const gram_kernel *kernel, int64_t d)
{
    gram_status status = GRAM_OK;
    TRY(gram_kernel_check_dimension(context, kernel, d));
    const int64_t count = gram_kernel_parameter_count(kernel);
    for (int64_t p = 0; p < count; p++) {
        gram_parameter parameter;
        TRY(gram_kernel_parameter_get(context, kernel, p, &parameter));
        FAIL_IF(!parameter.set, context, GRAM_ERROR_UNSET, "function_create: %s has no value", parameter.name);
    }
done:
    return status;
}

static gram_status check_request(gram_context *context, const gram_kernel *kernel, const gram_points *centres,
                                 int64_t outputs, const double *a, int64_t lda)
{
    gram_status status = GRAM_OK;
    int64_t numbers;
    FAIL_IF(!kernel || !centres || !a, context, GRAM_ERROR_ARGUMENT, "function_create: %s is NULL",
            !kernel    ? "kernel"
            : !centres ? "centres"
                       : "a");
    FAIL_IF(outputs < 1 || outputs > MOST_OUTPUTS, context, GRAM_ERROR_ARGUMENT,
            "function_create: outputs = %" PRId64 ", need 1 to %d", outputs, (int)MOST_OUTPUTS);
    FAIL_IF(lda < outputs, context, GRAM_ERROR_ARGUMENT,
            "function_create: lda = %" PRId64 " is less than outputs = %" PRId64, lda, outputs);
    FAIL_IF(!gram_size_multiply(centres->n, lda, &numbers), context, GRAM_ERROR_OVERFLOW,
            "function_create: %" PRId64 " rows of %" PRId64 " numbers are more than can be addressed", centres->n, lda);
    TRY(gram_function_check_kernel(context, kernel, centres->d));
done:
    return status;
}

static void copy_centres(const gram_points *from, gram_function *to)
{
    const size_t bytes = gram_function_row_bytes(to);
    for (int64_t i = 0; i < to->n; i++) {
        const void *row =
            from->f64 ? (const void *)(from->f64 + i * from->ld) : (const void *)(from->f32 + i * from->ld);
        memcpy(gram_function_row(to, i), row, bytes);
    }
}

gram_status gram_function_create(gram_context *context, gram_kernel *kernel, const gram_points *centres,
                                 int64_t outputs, const double *a, int64_t lda, const double *constant,
                                 gram_function **function)
{
    return gram_function_create_sloped(context, kernel, centres, outputs, a, lda, constant, NULL, 0, function);
}

gram_status gram_function_create_sloped(gram_context *context, gram_kernel *kernel, const gram_points *centres,
                                        int64_t outputs, const double *a, int64_t lda, const double *constant,
                                        const double *slopes, int64_t lds, gram_function **function)
{
    gram_status status = GRAM_OK;
    gram_function *made = NULL;
    if (!context || !function) return GRAM_ERROR_ARGUMENT;
    *function = NULL;
    TRY(check_request(context, kernel, centres, outputs, a, lda));
    FAIL_IF(slopes && lds < centres->d, context, GRAM_ERROR_ARGUMENT,
            "function_create_sloped: lds = %" PRId64 " is less than the %" PRId64 " columns", lds, centres->d);
    TRY(gram_function_make(context, (gram_function_room){kernel, centres->n, centres->d, outputs, centres->f32 != NULL},
                           &made));
    copy_centres(centres, made);
    if (centres->functionals) TRY(gram_points_gather(context, centres, centres->n, NULL, &made->centres));
    if (centres->objects) TRY(gram_points_keep_objects(context, centres, made->n, made->f64, &made->centres));
    for (int64_t i = 0; i < made->n; i++) memcpy(made->a + i * outputs, a + i * lda, (size_t)outputs * sizeof(double));
    if (constant) memcpy(made->constant, constant, (size_t)outputs * sizeof(double));
    if (slopes) TRY(gram_function_take_slopes(context, made));
    for (int64_t o = 0; o < outputs && slopes; o++)
        memcpy(made->slopes + o * made->d, slopes + o * lds, (size_t)made->d * sizeof(double));
    TRY(gram_function_seal(context, "function_create", GRAM_ERROR_DATA, made));
    *function = made;
    made = NULL;
done:
    gram_function_release(made);
    return status;
}

gram_status gram_function_of_problem(gram_context *context, const gram_problem *p, const gram_points *centres,
                                     int64_t outputs, const double *a, const double *b, gram_function **function)
{
    gram_status status = GRAM_OK;
    double *slopes = NULL;
    if (p->linear_count > 0) {
        TRY(gram_take(context, "slopes", outputs * p->d, sizeof *slopes, (void **)&slopes));
        memset(slopes, 0, (size_t)(outputs * p->d) * sizeof *slopes);
    }
    for (int64_t j = 0; j < p->linear_count; j++)
        for (int64_t o = 0; o < outputs; o++) slopes[o * p->d + p->linear[j]] = b[(p->intercept + j) * outputs + o];
    TRY(gram_function_create_sloped(context, p->kernel, centres, outputs, a, outputs, p->intercept ? b : NULL, slopes,
                                    p->d, function));
done:
    gram_give(context, slopes);
    return status;
}

gram_status gram_function_term(gram_context *context, const gram_function *f, int64_t index, gram_function **term)
{
    gram_status status = GRAM_OK;
    if (!context || !term) return GRAM_ERROR_ARGUMENT;
    *term = NULL;
    FAIL_IF(!f, context, GRAM_ERROR_ARGUMENT, "function_term: f is NULL");
    FAIL_IF(index < 0 || index >= gram_kernel_term_count(f->kernel), context, GRAM_ERROR_ARGUMENT,
            "function_term: index = %" PRId64 ", the kernel has %" PRId64 " terms", index,
            gram_kernel_term_count(f->kernel));
    TRY(gram_function_create(context, gram_kernel_term(f->kernel, index), f->centres, f->outputs, f->a, f->outputs,
                             NULL, term));
done:
    return status;
}

gram_function *gram_function_retain(gram_function *function)
{
    if (function) atomic_fetch_add(&function->references, 1);
    return function;
}

void gram_function_release(gram_function *function)
{
    if (!function || atomic_fetch_sub(&function->references, 1) != 1) return;
    gram_memory *memory = function->memory;
    gram_points_release(function->centres);
    gram_kernel_release(function->kernel);
    gram_memory_give(memory, function->f64);
    gram_memory_give(memory, function->f32);
    gram_memory_give(memory, function->a);
    gram_memory_give(memory, function->constant);
    gram_memory_give(memory, function->slopes);
    gram_memory_give(memory, function);
    gram_memory_release(memory);
}

gram_kernel *gram_function_kernel(const gram_function *function)
{
    return function->kernel;
}

gram_points *gram_function_centres(const gram_function *function)
{
    return function->centres;
}

const double *gram_function_centres_f64(const gram_function *function)
{
    return function->f64;
}

const float *gram_function_centres_f32(const gram_function *function)
{
    return function->f32;
}

int64_t gram_function_outputs(const gram_function *function)
{
    return function->outputs;
}

const double *gram_function_coefficients(const gram_function *function)
{
    return function->a;
}

const double *gram_function_constant(const gram_function *function)
{
    return function->constant;
}

const double *gram_function_slopes(const gram_function *function)
{
    return function->slopes;
}

/* ---- at points ---- */

static gram_status check_points(gram_context *context, const char *who, const gram_function *function,
                                const gram_points *x, const double *out)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!function || !x || !out, context, GRAM_ERROR_ARGUMENT, "%s: %s is NULL", who,
            !function ? "function"
            : !x      ? "x"
                      : "out");
    FAIL_IF(x->d != function->d, context, GRAM_ERROR_DIMENSION,
            "%s: x has %" PRId64 " columns, the centres have %" PRId64, who, x->d, function->d);
done:
    return status;
}

/* Of functionals, what they make of 1 and of the columns. */
static void add_unpenalised(const gram_function *f, const gram_points *x, double *out, int64_t ldo)
{
    for (int64_t i = 0; i < x->n; i++) {
        for (int64_t o = 0; o < f->outputs; o++) out[i * ldo + o] += gram_points_of_one(x, i) * f->constant[o];
        for (int64_t l = 0; l < f->d && f->slopes; l++) {
            const double column = gram_points_of_column(x, i, l);
            for (int64_t o = 0; o < f->outputs; o++) out[i * ldo + o] += column * f->slopes[o * f->d + l];
        }
    }
}

gram_status gram_function_evaluate(gram_context *context, const gram_function *function, const gram_points *x,
                                   double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(check_points(context, "function_evaluate", function, x, out));
    const int64_t m = function->outputs;
    FAIL_IF(ldo < m, context, GRAM_ERROR_ARGUMENT,
            "function_evaluate: ldo = %" PRId64 " is less than the %" PRId64 " outputs", ldo, m);
    TRY(gram_matrix_product(context, function->kernel, x, function->centres, m, function->a, m, out, ldo));
    add_unpenalised(function, x, out, ldo);
done:
    return status;
}

/* The slopes by all columns at each point are functionals: d rows for each. */
static gram_status slope_rows(gram_context *context, const gram_points *x, gram_points **out)
{
    gram_status status = GRAM_OK;
    const int64_t d = x->d;
    gram_points *made = NULL;
    TRY(gram_functionals_make(context, x->n * d, d, x->n * d, &made));
    gram_functionals *u = made->functionals;
    for (int64_t k = 0; k < x->n * d; k++) {
        u->first[k + 1] = k + 1;
        u->coefficient[k] = 1;
        u->kind[k] = GRAM_ATOM_FIRST;
        u->v[k * d + k % d] = 1;
        for (int64_t l = 0; l < d; l++) u->place[k * d + l] = gram_points_at(x, k / d, l);
    }
    u->first[0] = 0;
    TRY(gram_functionals_seal(context, made));
    *out = made;
    made = NULL;
done:
    gram_points_release(made);
    return status;
}

/* Centres that are functionals have derivatives as functionals have them. */
static gram_status functional_gradient(gram_context *context, const gram_function *function, int64_t output,
                                       const gram_points *x, double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    const int64_t d = x->d, m = function->outputs;
    gram_points *rows = NULL;
    double *values = NULL;
    TRY(slope_rows(context, x, &rows));
    TRY(gram_take(context, "function_gradient", x->n * d * m, sizeof(double), (void **)&values));
    TRY(gram_matrix_product(context, function->kernel, rows, function->centres, m, function->a, m, values, m));
    for (int64_t k = 0; k < x->n * d; k++) out[k / d * ldo + k % d] = values[k * m + output];
done:
    gram_points_release(rows);
    gram_give(context, values);
    return status;
}

static void add_slopes(const gram_function *f, int64_t output, int64_t n, double *out, int64_t ldo)
{
    for (int64_t i = 0; i < n && f->slopes; i++)
        for (int64_t l = 0; l < f->d; l++) out[i * ldo + l] += f->slopes[output * f->d + l];
}

gram_status gram_function_gradient(gram_context *context, const gram_function *function, int64_t output,
                                   const gram_points *x, double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    double *ones = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(check_points(context, "function_gradient", function, x, out));
    FAIL_IF(output < 0 || output >= function->outputs, context, GRAM_ERROR_ARGUMENT,
            "function_gradient: output = %" PRId64 ", there are %" PRId64, output, function->outputs);
    FAIL_IF(ldo < x->d, context, GRAM_ERROR_ARGUMENT,
            "function_gradient: ldo = %" PRId64 " is less than the %" PRId64 " columns", ldo, x->d);
    TRY(gram_points_must_be_plain(context, "function_gradient", x));
    if (function->centres->functionals) {
        TRY(functional_gradient(context, function, output, x, out, ldo));
        add_slopes(function, output, x->n, out, ldo);
        goto done;
    }
    TRY(gram_take(context, "function_gradient", x->n, sizeof(double), (void **)&ones));
    for (int64_t i = 0; i < x->n; i++) ones[i] = 1;
    const gram_weights weights = {
        .rank = 1, .a = ones, .lda = 1, .b = function->a + output, .ldb = function->outputs}; /* W_ij = a_j */
    TRY(gram_matrix_input_gradient(context, function->kernel, x, function->centres, &weights, out, ldo));
    add_slopes(function, output, x->n, out, ldo);
done:
    gram_give(context, ones);
    return status;
}
