#include "cli/verb/judge/left_out_report.h"

#include <inttypes.h>
#include <string.h>

#include "cli/report/report_rows.h"

void cli_add_left_out(gram_string *text, const gram_cv_report *r)
{
    char rows[CLI_SHORT_SIZE], fit[CLI_SHORT_SIZE], all[CLI_SHORT_SIZE];
    gram_string line = {0};
    const int once = r->folds == 1;
    gram_string_add(&line, "%s rows left out", gram_count_format(r->rows, rows));
    if (once)
        gram_string_add(&line, " once");
    else
        gram_string_add(&line, " in %" PRId64 " folds", r->folds);
    if (r->by) gram_string_add(&line, strcmp(r->by, "order") == 0 ? ", forward in time" : ", by groups");
    gram_string_add(&line, ", by %s to %s%s rows", once ? "a fit" : "fits", once ? "" : "at most ",
                    gram_count_format(r->fit_rows, fit));
    if (r->fit_rows + r->rows < r->n && once) gram_string_add(&line, " of %s", gram_count_format(r->n, all));
    if (strcmp(r->numbers, "anew") == 0)
        gram_string_add(&line, "; numbers are chosen anew %s", once ? "without them" : "in each");
    cli_add_label(text, "judged on");
    cli_add_wrapped(text, line.data ? line.data : "", " ", CLI_VALUE_COLUMN);
    gram_string_free(&line);
}
