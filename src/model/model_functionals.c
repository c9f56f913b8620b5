/* What some functions have and others do not, as arrays of the model: slopes, outputs x d, the sample about which the kernel is centred, rows x d,
 * and centres that are functionals, a row for each atom,
 *
 *     row, kind, coefficient, place (d numbers), v (d), w (d),
 *
 * rows counted from 0 and in order. The array of centres beside it has the places of the rows. */
#include <math.h>
#include <string.h>

#include "function/function.h"
#include "kernel/kernel.h"
#include "model/model.h"
#include "points/functionals.h"

enum { HEAD = 3 };

static const char NAME[] = "functionals";

gram_status gram_model_keep_functionals(gram_context *context, gram_model *model)
{
    gram_status status = GRAM_OK;
    const gram_points *x = gram_function_centres(gram_model_function(model));
    double *rows;
    if (!x->functionals) return GRAM_OK;
    const gram_functionals *u = x->functionals;
    const int64_t d = x->d, width = HEAD + 3 * d;
    TRY(gram_model_add_array(context, model, NAME, u->count, width, &rows));
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t k = u->first[i]; k < u->first[i + 1]; k++) {
            double *row = rows + k * width;
            row[0] = (double)i;
            row[1] = u->kind[k];
            row[2] = u->coefficient[k];
            memcpy(row + HEAD, u->place + k * d, (size_t)d * sizeof *row);
            memcpy(row + HEAD + d, u->v + k * d, (size_t)d * sizeof *row);
            memcpy(row + HEAD + 2 * d, u->w + k * d, (size_t)d * sizeof *row);
        }
done:
    return status;
}

/* Rows in order, each with an atom, of kinds that there are. */
static int is_sound(const double *rows, int64_t count, int64_t width, int64_t n)
{
    double before = -1;
    for (int64_t k = 0; k < count; k++) {
        const double *row = rows + k * width;
        if (row[0] != before && row[0] != before + 1) return 0;
        if (!(row[1] >= GRAM_ATOM_VALUE && row[1] <= GRAM_ATOM_MEAN) || row[1] != floor(row[1])) return 0;
        for (int64_t l = (width - HEAD) / 3; row[1] == GRAM_ATOM_MEAN && l < width - HEAD; l++)
            if (!(row[HEAD + l] >= 0)) return 0;
        before = row[0];
    }
    return before == (double)(n - 1);
}

gram_status gram_model_restore_functionals(gram_context *context, gram_model *model)
{
    gram_status status = GRAM_OK;
    gram_function *function = gram_model_function(model);
    int64_t count, width;
    const double *rows = gram_model_array(model, NAME, &count, &width);
    const int64_t n = function->n, d = function->d;
    gram_points *points = NULL;
    if (!rows) return GRAM_OK;
    FAIL_IF(width != HEAD + 3 * d || !is_sound(rows, count, width, n), context, GRAM_ERROR_DATA,
            "the array of functionals does not fit the centres");
    TRY(gram_functionals_make(context, n, d, count, &points));
    gram_functionals *u = points->functionals;
    for (int64_t k = 0; k < count; k++) {
        const double *row = rows + k * width;
        u->first[(int64_t)row[0] + 1] = k + 1;
        u->kind[k] = (unsigned char)row[1];
        u->coefficient[k] = row[2];
        memcpy(u->place + k * d, row + HEAD, (size_t)d * sizeof *row);
        memcpy(u->v + k * d, row + HEAD + d, (size_t)d * sizeof *row);
        memcpy(u->w + k * d, row + HEAD + 2 * d, (size_t)d * sizeof *row);
    }
    u->first[0] = 0;
    TRY(gram_functionals_seal(context, points));
    gram_points_release(function->centres);
    function->centres = points;
    points = NULL;
done:
    gram_points_release(points);
    return status;
}

/* ---- slopes ---- */

static const char SLOPES[] = "slopes";

gram_status gram_model_keep_slopes(gram_context *context, gram_model *model)
{
    gram_status status = GRAM_OK;
    const gram_function *f = gram_model_function(model);
    double *slopes;
    if (!f->slopes) return GRAM_OK;
    TRY(gram_model_add_array(context, model, SLOPES, f->outputs, f->d, &slopes));
    memcpy(slopes, f->slopes, (size_t)(f->outputs * f->d) * sizeof *slopes);
done:
    return status;
}

gram_status gram_model_restore_slopes(gram_context *context, gram_model *model)
{
    gram_status status = GRAM_OK;
    gram_function *f = gram_model_function(model);
    int64_t rows, columns;
    const double *slopes = gram_model_array(model, SLOPES, &rows, &columns);
    if (!slopes) return GRAM_OK;
    FAIL_IF(rows != f->outputs || columns != f->d, context, GRAM_ERROR_DATA,
            "the array of slopes does not fit the centres");
    for (int64_t k = 0; k < rows * columns; k++)
        FAIL_IF(!isfinite(slopes[k]), context, GRAM_ERROR_DATA, "a slope is not a finite number");
    TRY(gram_function_take_slopes(context, f));
    memcpy(f->slopes, slopes, (size_t)(rows * columns) * sizeof *slopes);
done:
    return status;
}

/* ---- the sample of a centred kernel ---- */

static gram_status keep_sample(gram_context *context, gram_model *model, const gram_function *f, const char *name)
{
    gram_status status = GRAM_OK;
    const gram_points *sample = gram_kernel_sample(f->kernel);
    double *rows;
    if (!sample) return GRAM_OK;
    TRY(gram_points_must_be_numbers(context, "a model of a centred kernel", sample));
    TRY(gram_model_add_array(context, model, name, sample->n, sample->d, &rows));
    for (int64_t i = 0; i < sample->n; i++)
        for (int64_t l = 0; l < sample->d; l++) rows[i * sample->d + l] = gram_points_at(sample, i, l);
done:
    return status;
}

gram_status gram_model_keep_sample(gram_context *context, gram_model *model, int second)
{
    return keep_sample(context, model, second ? model->second : model->function, gram_model_sample_name(second));
}

const char *gram_model_sample_name(int second)
{
    return second ? "second_centred_about" : "centred_about";
}
