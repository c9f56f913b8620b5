/* A test of fit: the statistic among the draws of its bootstrap, as a histogram. */
#include <inttypes.h>
#include <math.h>

#include "picture/picture.h"
#include "picture/script_parts.h"

enum { BARS = 40 };

/* How many draws fall into each of BARS bars over all of them and the statistic. */
static void add_histogram(gram_string *script, double statistic, int64_t draws, const double *sorted)
{
    const double least = fmin(sorted[0], statistic), most = fmax(sorted[draws - 1], statistic);
    const double width = (most - least) / BARS;
    int64_t counts[BARS] = {0};
    for (int64_t i = 0; i < draws; i++) {
        const int bar = width > 0 ? (int)((sorted[i] - least) / width) : 0;
        counts[bar < BARS ? bar : BARS - 1]++;
    }
    gram_string_add(script, "$bars << END_OF_BARS\n");
    for (int bar = 0; bar < BARS; bar++) {
        gram_script_number(script, least + (bar + 0.5) * width, " ");
        gram_string_add(script, "%" PRId64 "\n", counts[bar]);
    }
    gram_string_add(script, "END_OF_BARS\n");
}

static void add_arrow(gram_string *script, double at, const char *look)
{
    gram_string_add(script, "set arrow from ");
    gram_script_number(script, at, ", graph 0 to ");
    gram_script_number(script, at, ", graph 1 nohead ");
    gram_string_add(script, "%s\n", look);
}

gram_status gram_picture_of_fit_test(gram_context *context, const gram_scored_points *scored, double statistic,
                                     double threshold, int64_t draws, const double *bootstrap, gram_picture **picture)
{
    gram_status status = GRAM_OK;
    *picture = NULL;
    FAIL_IF(!scored || !bootstrap || draws < 1, context, GRAM_ERROR_ARGUMENT,
            "picture_of_fit_test: scored or bootstrap is NULL, or draws = %" PRId64 " is below 1", draws);
    const gram_scored_report *points = gram_scored_points_get_report(scored);
    TRY(gram_picture_begin(context, 640, 420, picture));
    gram_string *script = &(*picture)->script;
    add_histogram(script, statistic, draws, bootstrap);
    gram_script_title(script, points->kernel, points->file);
    gram_string_add(script, "set xlabel 'squared discrepancy'\nset ylabel 'draws of the bootstrap'\n"
                            "set style fill solid 0.5 noborder\nset yrange [0:*]\nset key top right\n");
    add_arrow(script, statistic, "lw 2 lc rgb '#d95319'");
    if (!isnan(threshold)) add_arrow(script, threshold, "dt 2 lc rgb '#808080'");
    gram_string_add(script, "plot $bars using 1:2 with boxes lc rgb '#0060ad' title 'if the density is right', "
                            "NaN with lines lw 2 lc rgb '#d95319' title 'the sample', "
                            "NaN with lines dt 2 lc rgb '#808080' title 'threshold'\n");
done:
    return gram_picture_end(context, status, picture);
}
