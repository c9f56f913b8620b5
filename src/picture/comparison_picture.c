/* Methods by their errors: a dot with one standard error to both sides for each, the best at the top, baselines hollow. */
#include <inttypes.h>

#include "picture/picture.h"
#include "picture/script_parts.h"

/* One block of those with an error that are baselines, or not. Returns how many. */
static int64_t add_block(gram_string *script, const char *name, const gram_comparison *comparison, int baselines)
{
    int64_t count = 0;
    gram_string_add(script, "$%s << END_OF_ROWS\n", name);
    for (int64_t k = 0; k < gram_comparison_count(comparison); k++) {
        const gram_compared *row = gram_comparison_row(comparison, k);
        if (row->skipped || row->baseline != baselines) continue;
        gram_script_number(script, row->error, " ");
        gram_string_add(script, "%" PRId64 " ", k);
        gram_script_number(script, row->se, "\n");
        count++;
    }
    gram_string_add(script, "END_OF_ROWS\n");
    return count;
}

static int64_t count_done(const gram_comparison *comparison)
{
    int64_t count = 0;
    while (count < gram_comparison_count(comparison) && !gram_comparison_row(comparison, count)->skipped) count++;
    return count;
}

static void add_names(gram_string *script, const gram_comparison *comparison, int64_t count)
{
    gram_string_add(script, "set ytics (");
    for (int64_t k = 0; k < count; k++) {
        const gram_compared *row = gram_comparison_row(comparison, k);
        gram_string name = {0};
        gram_string_add(&name, "%s%s", row->best ? "* " : row->near ? "+ " : "", row->name);
        gram_script_tic(script, name.data ? name.data : "", k);
        script->failed |= name.failed;
        gram_string_free(&name);
    }
    gram_string_add(script, ")\n");
}

gram_status gram_picture_of_comparison(gram_context *context, const gram_comparison *comparison, const char *data,
                                       gram_picture **picture)
{
    static const char *const STYLES[] = {
        "with xerrorbars pt 7 ps 0.9 lw 1.5 lc rgb '#0060ad' title 'methods, one standard error'",
        "with xerrorbars pt 6 ps 0.9 lw 1.5 lc rgb '#d95319' title 'baselines'"};
    gram_status status = GRAM_OK;
    *picture = NULL;
    FAIL_IF(!comparison || !data, context, GRAM_ERROR_ARGUMENT, "picture_of_comparison: comparison or data is NULL");
    const int64_t count = count_done(comparison);
    const int classes = gram_comparison_lesson(comparison)->task == GRAM_TASK_CLASSIFICATION;
    TRY(gram_picture_begin(context, 800, 140 + 26 * (int)count, picture));
    gram_string *script = &(*picture)->script;
    gram_script_look(script);
    gram_string_add(script, "set title ");
    gram_script_quote(script, gram_script_file(data));
    gram_string_add(script,
                    "\nset xlabel '%s'\nset grid xtics\nset key top outside horizontal\nset yrange [%" PRId64 ":-1]\n",
                    classes ? "share of wrong classes on left-out rows" : "rmse on left-out rows", count);
    add_names(script, comparison, count);
    const int64_t methods = add_block(script, "methods", comparison, 0),
                  baselines = add_block(script, "baselines", comparison, 1);
    gram_string_add(script, "plot ");
    if (methods > 0) gram_string_add(script, "$methods using 1:2:3 %s", STYLES[0]);
    if (baselines > 0) gram_string_add(script, "%s$baselines using 1:2:3 %s", methods > 0 ? ", " : "", STYLES[1]);
    gram_string_add(script, "\n");
done:
    return gram_picture_end(context, status, picture);
}
