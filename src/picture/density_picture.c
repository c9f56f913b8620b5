/* A spectral density as a filled curve, and atoms as impulses on a scale of their own. */
#include <inttypes.h>
#include <math.h>

#include "picture/picture.h"
#include "picture/script_parts.h"

static void add_axes(gram_string *script, double from, double to, int curve, int atoms)
{
    gram_string_add(script, "\nset xlabel 'angular frequency w'\nset yrange [0:*]\n");
    gram_script_range(script, "x", from, to);
    if (curve) gram_string_add(script, "set ylabel 'spectral density S(w)'\n");
    if (atoms)
        gram_string_add(script, "%s'mass of atoms'\n%s",
                        curve ? "set y2range [0:*]\nset y2tics\nset y2label " : "set ylabel ",
                        curve ? "set border 11\n" : "");
}

static void add_blocks(gram_string *script, const gram_spectral_report *report, int64_t n, const double *w,
                       const double *values)
{
    gram_string_add(script, "$density << END_OF_VALUES\n");
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(values[i])) continue;
        gram_script_number(script, w[i], " ");
        gram_script_number(script, values[i], "\n");
    }
    gram_string_add(script, "END_OF_VALUES\n$atoms << END_OF_VALUES\n");
    for (int64_t i = 0; i < report->atoms; i++) {
        gram_script_number(script, report->atom[i].frequency, " ");
        gram_script_number(script, report->atom[i].mass, "\n");
    }
    gram_string_add(script, "END_OF_VALUES\n");
}

static void add_plot(gram_string *script, int curve, int atoms)
{
    gram_string_add(script, "plot ");
    if (curve)
        gram_string_add(script, "$density with filledcurves y=0 lc rgb '#c5d9ec' notitle, $density with lines lw 2 lc "
                                "rgb '#0060ad' title 'density'");
    if (atoms)
        gram_string_add(script, "%s$atoms %s with impulses lw 3 lc rgb '#c04000' title 'atoms'", curve ? ", " : "",
                        curve ? "axes x1y2" : "");
    gram_string_add(script, "\n");
}

gram_status gram_picture_of_density(gram_context *context, const gram_kernel *kernel,
                                    const gram_spectral_density *density, int64_t n, const double *w,
                                    const double *values, gram_picture **picture)
{
    gram_status status = GRAM_OK;
    *picture = NULL;
    FAIL_IF(!kernel || !density || !w || !values || n < 1, context, GRAM_ERROR_ARGUMENT,
            "picture_of_density: kernel, density, w or values is NULL, or n = %" PRId64 " is below 1", n);
    const gram_spectral_report *report = gram_spectral_density_get_report(density);
    const int atoms = report->atoms > 0, curve = report->atom_mass < report->height;
    TRY(gram_picture_begin(context, 800, 500, picture));
    gram_string *script = &(*picture)->script;
    gram_script_look(script);
    gram_string_add(script, "set title ");
    gram_script_heading(script, kernel, "");
    add_axes(script, w[0], w[n - 1], curve, atoms);
    add_blocks(script, report, n, w, values);
    add_plot(script, curve, atoms);
done:
    return gram_picture_end(context, status, picture);
}
