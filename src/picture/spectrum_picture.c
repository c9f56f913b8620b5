/* Eigenvalues of a Gram matrix by their number, on a log scale. */
#include <inttypes.h>

#include "picture/picture.h"
#include "picture/script_parts.h"

/* How many of the first values are positive: a log scale has no others. */
static int64_t count_positive(const gram_spectrum_report *spectrum, int64_t count)
{
    int64_t positive = 0;
    while (positive < count && spectrum->values[positive] > 0) positive++;
    return positive;
}

static void add_values(gram_string *script, const gram_spectrum_report *spectrum, int64_t positive)
{
    gram_string_add(script, "$values << END_OF_VALUES\n");
    for (int64_t i = 0; i < positive; i++) {
        gram_string_add(script, "%" PRId64 " ", i + 1);
        gram_script_number(script, spectrum->values[i], "\n");
    }
    gram_string_add(script, "END_OF_VALUES\n");
    gram_string_add(script, "plot $values with linespoints pt 7 ps 0.5 lc rgb '#0060ad' title 'eigenvalues'");
    if (spectrum->values[positive - 1] < 1000 * spectrum->tolerance) {
        gram_string_add(script, ", ");
        gram_script_number(script, spectrum->tolerance, " with lines dt 2 lc rgb '#808080' title 'rounding'");
    }
    gram_string_add(script, "\n");
}

gram_status gram_picture_of_spectrum(gram_context *context, const gram_kernel *kernel, const char *data,
                                     const gram_spectrum *spectrum, int64_t count, gram_picture **picture)
{
    gram_status status = GRAM_OK;
    *picture = NULL;
    FAIL_IF(!kernel || !data || !spectrum || count < 1, context, GRAM_ERROR_ARGUMENT,
            "picture_of_spectrum: kernel, data or spectrum is NULL, or count = %" PRId64 " is below 1", count);
    const gram_spectrum_report *report = gram_spectrum_get_report(spectrum);
    const int64_t shown = count < report->n ? count : report->n, positive = count_positive(report, shown);
    FAIL_IF(positive == 0, context, GRAM_ERROR_NUMERICAL,
            "picture_of_spectrum: no eigenvalue is positive, and the scale is logarithmic");
    TRY(gram_picture_begin(context, 800, 500, picture));
    gram_script_look(&(*picture)->script);
    gram_script_title(&(*picture)->script, kernel, data);
    gram_string_add(&(*picture)->script,
                    "set xlabel 'number'\nset ylabel 'eigenvalue of K'\nset logscale y\nset format y '%%h'\n"
                    "set xrange [0:%" PRId64 "]\n",
                    shown + 1);
    add_values(&(*picture)->script, report, positive);
done:
    return gram_picture_end(context, status, picture);
}
