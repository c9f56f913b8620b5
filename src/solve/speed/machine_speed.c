/* How fast this machine is, for estimates of time: operations of BLAS and entries of a kernel matrix a second, on one thread. It is measured once, in some
 * hundredths of a second, and kept in a file of one line,
 *
 *     gram-speed 1 ISA BLAS OPERATIONS ENTRIES
 *
 * that is believed if it is of this instruction set and BLAS. Without it, and for every choice where no limit of time is given, there are rates that do not
 * depend on the machine's state, so that the same call gives the same result. */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gram/matrix.h>
#include <gram/output.h>
#include <gram/plan.h>
#include <gram/random.h>
#include <gram/text.h>

#include "base/context.h"
#include "base/sweep.h"
#include "base/system/time_limit.h"

enum { SIZE = 384, POINTS = 600, COLUMNS = 10, ROUNDS = 3, LINE = 256 };

/* The name of the BLAS without blanks. */
static void head_of(const gram_context *context, char *text, size_t size)
{
    char blas[64];
    (void)snprintf(blas, sizeof blas, "%s", gram_blas_name());
    for (char *c = blas; *c; c++)
        if (*c == ' ') *c = '_';
    (void)snprintf(text, size, "gram-speed 1 %s %s ", gram_context_isa(context), blas);
}

static gram_status measure_blas(gram_context *context, double *rate)
{
    gram_status status = GRAM_OK;
    double *a = NULL, best = INFINITY;
    TRY(gram_take(context, "measuring", 3 * SIZE * SIZE, sizeof *a, (void **)&a));
    gram_random_uniform((gram_random){1, 1}, 0, 2 * SIZE * SIZE, a);
    const int blas = gram_blas_enter();
    for (int k = 0; k < ROUNDS; k++) {
        const double start = gram_clock();
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIZE, SIZE, SIZE, 1, a, SIZE, a + SIZE * SIZE, SIZE, 0,
                    a + 2 * SIZE * SIZE, SIZE);
        best = fmin(best, gram_clock() - start);
    }
    gram_blas_leave(blas);
    *rate = 2.0 * SIZE * SIZE * SIZE / best;
done:
    gram_give(context, a);
    return status;
}

static gram_status measure_entries(gram_context *context, double *rate)
{
    gram_status status = GRAM_OK;
    double *x = NULL, *k, best = INFINITY;
    gram_points *points = NULL;
    gram_kernel *kernel = NULL;
    TRY(gram_take(context, "measuring", POINTS * (COLUMNS + POINTS), sizeof *x, (void **)&x));
    k = x + POINTS * COLUMNS;
    gram_random_uniform((gram_random){2, 1}, 0, POINTS * COLUMNS, x);
    TRY(gram_points_create_f64(context, POINTS, COLUMNS, x, COLUMNS, &points));
    TRY(gram_kernel_parse(context, "rbf(ell=1)", &kernel));
    for (int round = 0; round < ROUNDS; round++) {
        const double start = gram_clock();
        TRY(gram_matrix(context, kernel, points, NULL, k, POINTS));
        best = fmin(best, gram_clock() - start);
    }
    *rate = POINTS * (POINTS + 1) / 2.0 / best / context->threads;
done:
    gram_kernel_release(kernel);
    gram_points_release(points);
    gram_give(context, x);
    return status;
}

static int is_sensible(double operations, double entries)
{
    return operations > 1e7 && operations < 1e13 && entries > 1e5 && entries < 1e12;
}

static int read_speed(gram_context *context, const char *path)
{
    char line[LINE] = "", head[LINE];
    double numbers[2] = {0, 0};
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    const int read = fgets(line, sizeof line, file) != NULL;
    (void)fclose(file);
    head_of(context, head, sizeof head);
    if (!read || strncmp(line, head, strlen(head)) != 0) return 0;
    const char *at = line + strlen(head);
    for (int k = 0; k < 2; k++) {
        const size_t taken = gram_number_parse(at, strlen(at), &numbers[k]);
        if (taken == 0) return 0;
        at += taken + strspn(at + taken, " ");
    }
    if (!is_sensible(numbers[0], numbers[1])) return 0;
    context->operations = numbers[0];
    context->entries = numbers[1];
    return 1;
}

/* A file that cannot be written is no failure: the next call measures again. */
static void write_speed(gram_context *context, const char *path)
{
    char head[LINE], numbers[2][GRAM_NUMBER_SIZE], line[2 * LINE];
    gram_aside *file = NULL;
    head_of(context, head, sizeof head);
    const int length =
        snprintf(line, sizeof line, "%s%s %s\n", head, gram_number_format(context->operations, numbers[0]),
                 gram_number_format(context->entries, numbers[1]));
    if (gram_aside_create(context, path, &file) >= 0 && gram_aside_put(context, file, line, (size_t)length) >= 0)
        (void)gram_aside_finish(context, file);
    gram_aside_destroy(file);
    context->message[0] = '\0';
}

gram_status gram_context_use_speed(gram_context *context, const char *path)
{
    gram_status status = GRAM_OK;
    double operations = 0, entries = 0;
    if (!context) return GRAM_ERROR_ARGUMENT;
    if (path && read_speed(context, path)) return GRAM_OK;
    TRY(measure_blas(context, &operations));
    TRY(measure_entries(context, &entries));
    if (!is_sensible(operations, entries)) return GRAM_OK;
    context->operations = operations;
    context->entries = entries;
    if (path) write_speed(context, path);
done:
    return status;
}
