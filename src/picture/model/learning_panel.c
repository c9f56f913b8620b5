/* What was learnt when, of models that followed a gradient: the training error, and what is left in directions of the tangent kernel. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "picture/model/model_scene.h"

static void add_stop(gram_string *script, double stop)
{
    if (!isfinite(stop) || !(stop > 0)) return;
    gram_string_add(script, "set arrow from first ");
    gram_script_number(script, stop, ", graph 0 to first ");
    gram_script_number(script, stop, ", graph 1 nohead dt 2 lc rgb '" GRAM_CURVE_COLOUR "'\n");
}

void gram_add_learning_panel(gram_string *script, const gram_learning_curve *left)
{
    const int64_t ld[] = {left->columns, left->columns};
    gram_script_label(script, "x", "time", "");
    gram_script_label(script, "y", "share of the initial error that is left", "");
    gram_script_range(script, "x", left->data[0], left->data[(left->rows - 1) * left->columns]);
    gram_string_add(script, "set logscale x\nset format x '%%.0e'\nset yrange [0:1.02]\nset key bottom left\n");
    for (int64_t c = 1; c < left->columns; c++) {
        char name[32];
        (void)snprintf(name, sizeof name, "left%" PRId64, c);
        gram_script_block(script, name, left->rows, 2, (const double *[]){left->data, left->data + c}, ld);
    }
    add_stop(script, left->stop);
    gram_string_add(script, "plot ");
    for (int64_t c = 2; c < left->columns; c++)
        gram_string_add(script,
                        "$left%" PRId64 " with lines lw 1.3 lc rgb '#%02x%02xad' title 'direction %" PRId64 "', ", c,
                        (unsigned)(25 * (c - 2)), (unsigned)(96 + 18 * (c - 2)), (int64_t)1 << (c - 2));
    gram_string_add(script, "$left1 with lines lw 2.5 lc rgb '" GRAM_CURVE_COLOUR "' title 'training error'\n"
                            "unset logscale x\nset format x\nset autoscale\nunset arrow\n");
}
