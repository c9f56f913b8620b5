#include "solve/eigen/given_psd.h"

#include <inttypes.h>
#include <math.h>

#include <gram/cholesky.h>
#include <gram/random.h>
#include <gram/spectrum.h>
#include <gram/text.h>

#include "points/given_things.h"
#include "points/points.h"

enum { MOST_ROWS = 3000, SAMPLE_STREAM = 0x67697665 };

/* One column of the points, by itself. */
static gram_status only_column(gram_context *context, const gram_points *x, int64_t l, gram_points **out)
{
    gram_status status = GRAM_OK;
    double *places = NULL;
    int64_t *rows = NULL;
    const int64_t n = x->n < MOST_ROWS ? x->n : MOST_ROWS;
    TRY(gram_take(context, "given matrix", x->n, sizeof *rows, (void **)&rows));
    TRY(gram_take(context, "given matrix", n, sizeof *places, (void **)&places));
    if (n < x->n)
        gram_random_permutation((gram_random){context->seed, SAMPLE_STREAM}, 0, x->n, rows);
    else
        for (int64_t i = 0; i < n; i++) rows[i] = i;
    for (int64_t i = 0; i < n; i++) places[i] = gram_points_cell(x, rows[i], l);
    TRY(gram_points_create_f64(context, n, 1, places, 1, out));
    (*out)->own = places;
    places = NULL;
    TRY(gram_points_set_objects(context, &x->objects[l], out));
done:
    gram_give(context, places);
    gram_give(context, rows);
    return status;
}

static double entry(const gram_points *x, int64_t i, int64_t j)
{
    const gram_objects *store = x->objects[0];
    const int64_t column = gram_given_column(store, store, gram_points_place(x, j, 0));
    return store->value[store->start[gram_points_place(x, i, 0)] + column];
}

static int64_t row_of(const gram_points *x, int64_t i)
{
    return 1 + gram_points_place(x, i, 0);
}

/* |K_ij| <= sqrt(K_ii K_jj), and K_ii >= 0: what can be seen with bare eyes. */
static gram_status check_pairs(gram_context *context, const gram_points *x, double slack)
{
    gram_status status = GRAM_OK;
    char shown[3][GRAM_NUMBER_SIZE];
    const char *name = x->objects[0]->text;
    for (int64_t i = 0; i < x->n; i++) {
        const double own = entry(x, i, i);
        FAIL_IF(own < -slack, context, GRAM_ERROR_NUMERICAL,
                "%s: not positive semi-definite: entry %" PRId64 " of the diagonal is %s", name, row_of(x, i),
                gram_number_format(own, shown[0]));
        for (int64_t j = 0; j < i; j++) {
            const double both = entry(x, i, j), other = entry(x, j, j);
            FAIL_IF((fabs(both) - slack) * (fabs(both) - slack) > (own + slack) * (other + slack) && fabs(both) > slack,
                    context, GRAM_ERROR_NUMERICAL,
                    "%s: not positive semi-definite: rows %" PRId64 " and %" PRId64
                    " have the entry %s, and %s and %s on the diagonal, whose product is less than its square",
                    name, row_of(x, j), row_of(x, i), gram_number_format(both, shown[0]),
                    gram_number_format(other, shown[1]), gram_number_format(own, shown[2]));
        }
    }
done:
    return status;
}

/* The least eigenvalue, and the rows that weigh most in its vector. */
static gram_status show_eigenvalue(gram_context *context, const gram_kernel *given, const gram_points *x, double slack)
{
    gram_status status = GRAM_OK;
    gram_spectrum *spectrum = NULL;
    gram_spectrum_options options;
    gram_spectrum_options_init(&options, sizeof options);
    options.rows = MOST_ROWS;
    options.check = 1;
    TRY(gram_spectrum_create(context, given, x, &options, &spectrum));
    const gram_spectrum_report *s = gram_spectrum_get_report(spectrum);
    const double least = s->values[s->n - 1];
    if (least >= -slack) goto done;
    status =
        gram_fail(context, GRAM_ERROR_NUMERICAL,
                  "%s: not positive semi-definite: the least eigenvalue%s is %.6g, the largest %.6g; a unit vector v "
                  "with v'Kv = %.6g has most of its weight on rows %" PRId64 " and %" PRId64,
                  x->objects[0]->text, s->n < x->objects[0]->count ? " of some of its rows" : "", least, s->values[0],
                  s->form, row_of(x, s->entry_row[0]), row_of(x, s->entry_row[s->entry_count > 1]));
done:
    gram_spectrum_destroy(spectrum);
    return status;
}

static gram_status advise(gram_context *context, gram_status status)
{
    return gram_advise(
        context, status,
        "No kernel has this matrix. Look for a mistake in it; or add as much as the least eigenvalue is below 0 "
        "to the diagonal, or leave out the negative eigenvalues (K = V max(E, 0) V').");
}

static gram_status check_column(gram_context *context, const gram_kernel *given, const gram_points *x)
{
    gram_status status = GRAM_OK;
    gram_cholesky *factor = NULL;
    double *shift = NULL, largest = 0;
    TRY(gram_take(context, "given matrix", x->n, sizeof *shift, (void **)&shift));
    for (int64_t i = 0; i < x->n; i++) largest = fmax(largest, fabs(entry(x, i, i)));
    const double slack = (1e-6 + 1e-7 * sqrt((double)x->n)) * largest;
    for (int64_t i = 0; i < x->n; i++) shift[i] = slack;
    status = check_pairs(context, x, slack);
    if (status < 0) {
        status = advise(context, status);
        goto done;
    }
    status = gram_cholesky_create(context, given, x, shift, GRAM_STORAGE_F64, NULL, &factor);
    if (status != GRAM_ERROR_NUMERICAL) goto done;
    status = show_eigenvalue(context, given, x, slack);
    if (status == GRAM_ERROR_NUMERICAL) status = advise(context, status);
done:
    gram_cholesky_destroy(factor);
    gram_give(context, shift);
    return status;
}

gram_status gram_given_check_psd(gram_context *context, const gram_points *points)
{
    gram_status status = GRAM_OK;
    gram_kernel *given = NULL;
    gram_points *x = NULL;
    for (int64_t l = 0; points->objects && l < points->d; l++) {
        if (gram_points_kind(points, l) != GRAM_OBJECT_GIVEN) continue;
        if (!given) TRY(gram_kernel_parse(context, "given", &given));
        TRY(only_column(context, points, l, &x));
        TRY(check_column(context, given, x));
        gram_points_release(x);
        x = NULL;
    }
done:
    gram_points_release(x);
    gram_kernel_release(given);
    return status;
}
