/* What is known of a kernel, as rows for people. */
#include <math.h>

#include "base/text/number.h"
#include "kernel/kernel_print.h"
#include "learn/describe/description_parts.h"

void gram_kernel_append_short(const gram_kernel *kernel, gram_string *text)
{
    const size_t start = text->length, length = gram_kernel_print_short(kernel, GRAM_FINE, NULL, 0);
    for (size_t i = 0; i < length; i++) gram_string_put(text, " ", 1);
    if (!text->failed) (void)gram_kernel_print_short(kernel, GRAM_FINE, text->data + start, length + 1);
}

static void add_answer(gram_report *report, const char *label, gram_answer answer)
{
    gram_report_row(report, label);
    gram_report_add(report, answer == GRAM_YES ? "yes" : answer == GRAM_NO ? "no" : "not known");
}

static void add_order(gram_report *report, const char *label, double value)
{
    char number[GRAM_NUMBER_SIZE];
    gram_report_row(report, label);
    gram_report_add(report, "%s",
                    value == GRAM_INFINITE ? "infinite"
                    : isnan(value)         ? "-"
                                           : gram_number_short(value, 6, number));
}

/* Orders q + a: q derivatives, the last of them Hoelder continuous of every order below a. */
static void add_smoothness(gram_report *report, double order)
{
    char number[GRAM_NUMBER_SIZE];
    const double last = ceil(order) - 1;
    gram_report_row(report, "draws");
    if (isnan(order))
        gram_report_add(report, "smoothness not known");
    else if (isinf(order))
        gram_report_add(report, "all derivatives");
    else if (order == 0)
        gram_report_add(report, "not continuous");
    else if (last == 0)
        gram_report_add(report, "continuous, Hoelder below %s", gram_number_short(order, 6, number));
    else
        gram_report_add(report, "%.0f derivative%s, the last Hoelder below %s", last, last == 1 ? "" : "s",
                        gram_number_short(order - last, 6, number));
}

static void add_rows(gram_report *report, const gram_properties *facts)
{
    add_answer(report, "positive definite", facts->positive_definite);
    add_answer(report, "  strictly", facts->strictly);
    add_answer(report, "stationary", facts->stationary);
    add_answer(report, "isotropic", facts->isotropic);
    add_answer(report, "universal", facts->universal);
    add_answer(report, "characteristic", facts->characteristic);
    add_order(report, "rank", (double)facts->rank);
    add_order(report, "derivatives", facts->derivatives);
    if (!isnan(facts->sobolev_order)) add_order(report, "Sobolev order", facts->sobolev_order);
    if (facts->positive_definite != GRAM_YES) return;
    add_smoothness(report, facts->draw_smoothness);
    add_answer(report, "  in the RKHS", facts->draws_in_space);
}

gram_status gram_kernel_describe(gram_context *context, const gram_kernel *kernel, int64_t d,
                                 gram_description **description)
{
    gram_status status = GRAM_OK;
    gram_properties facts;
    gram_description *made = NULL;
    *description = NULL;
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "kernel_describe: kernel is NULL");
    TRY(gram_kernel_properties(context, kernel, d, &facts));
    TRY(gram_description_begin(context, NULL, NULL, &made));
    add_rows(&made->report, &facts);
    TRY(gram_description_end(made));
    *description = made;
    made = NULL;
done:
    gram_description_destroy(made);
    return status;
}
