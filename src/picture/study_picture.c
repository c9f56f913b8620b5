/* A study: how its best value came down, and the model along each variable through the best point. With one variable that is the picture of
 * the textbooks: posterior, band, evaluations, acquisition, and where it is largest. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/study.h>

#include "picture/picture.h"
#include "picture/script_parts.h"

enum { CURVE = 201, MOST_SLICES = 8, COLUMNS = 3, PANEL = 320, MOST_DECADES = 4 /* labels of a log axis */ };

typedef struct scene {
    gram_study *study;
    int64_t count, variables; /* trials */
    int maximize;
    gram_trial best;
    double *x;                                       /* CURVE x variables */
    double *place, *mean, *low, *high, *acquisition; /* CURVE */
    double *number, *value, *record;                 /* evaluations */
} scene;

static gram_status take(gram_context *context, gram_picture *picture, scene *s)
{
    gram_status status = GRAM_OK;
    double **const curves[] = {&s->place, &s->mean, &s->low, &s->high, &s->acquisition};
    double **const rows[] = {&s->number, &s->value, &s->record};
    TRY(gram_picture_take(context, picture, CURVE * s->variables, sizeof(double), (void **)&s->x));
    for (size_t i = 0; i < sizeof curves / sizeof *curves; i++)
        TRY(gram_picture_take(context, picture, CURVE, sizeof(double), (void **)curves[i]));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        TRY(gram_picture_take(context, picture, s->count, sizeof(double), (void **)rows[i]));
done:
    return status;
}

/* Values by their number, and the best so far. Returns how many have one. */
static int64_t fill_history(gram_context *context, const scene *s)
{
    int64_t done = 0;
    double best = NAN;
    gram_trial trial = {.size = sizeof trial};
    for (int64_t i = 0; i < s->count; i++) {
        if (gram_study_trial(context, s->study, i, &trial) < 0 || trial.state != GRAM_TRIAL_DONE) continue;
        if (trial.feasible) best = s->maximize ? fmax(best, trial.value) : fmin(best, trial.value);
        s->number[done] = (double)(i + 1);
        s->value[done] = trial.value;
        s->record[done++] = best;
    }
    return done;
}

static void add_history(gram_context *context, gram_string *script, const scene *s)
{
    const int64_t done = fill_history(context, s);
    gram_script_block(script, "history", done, 3, (const double *[]){s->number, s->value, s->record}, NULL);
    gram_string_add(script,
                    "unset title\nset xtics %s\nunset logscale x\nset autoscale x\nset format x "
                    "'%%h'\nset xlabel 'evaluation'\nset ylabel 'value'\n",
                    s->count <= 10 ? "1" : "autofreq"); /* no half evaluations */
    gram_string_add(script,
                    "plot $history using 1:2 with points pt 7 ps 0.5 lc rgb '%s' title 'values', $history using 1:3 "
                    "with steps lw 2 lc rgb '%s' title 'best so far'\n",
                    GRAM_POINT_COLOUR, GRAM_CURVE_COLOUR);
}

/* The place number i of a variable's range. */
static double place_at(const gram_variable *v, int64_t i, int64_t count)
{
    const double share = (double)i / (double)(count - 1);
    if (v->kind == GRAM_VARIABLE_LOG) return v->lower * pow(v->upper / v->lower, share);
    const double place = v->lower + share * (v->upper - v->lower);
    return v->kind == GRAM_VARIABLE_REAL ? place : rint(place);
}

/* At a point that was evaluated a logarithm has no floor: nothing below e^-12 of the largest is shown. */
static void clip(int64_t count, double *acquisition)
{
    double top = -INFINITY;
    for (int64_t i = 0; i < count; i++) top = fmax(top, acquisition[i]);
    for (int64_t i = 0; i < count; i++) acquisition[i] = fmax(acquisition[i], top - 12);
}

/* The model along variable l, all others being as at the best point. */
static gram_status fill_slice(gram_context *context, const scene *s, int64_t l, const gram_variable *v, int64_t count)
{
    gram_status status = GRAM_OK;
    for (int64_t i = 0; i < count; i++) {
        memcpy(s->x + i * s->variables, s->best.x, (size_t)s->variables * sizeof *s->x);
        s->place[i] = fmin(fmax(place_at(v, i, count), v->lower), v->upper);
        s->x[i * s->variables + l] = s->place[i];
    }
    TRY(gram_study_predict(context, s->study, count, s->x, s->mean, s->high, s->acquisition));
    for (int64_t i = 0; i < count; i++) {
        s->low[i] = s->mean[i] - 1.96 * s->high[i];
        s->high[i] = s->mean[i] + 1.96 * s->high[i];
    }
    clip(count, s->acquisition);
done:
    return status;
}

static void add_axis(gram_string *script, const gram_variable *v)
{
    gram_string_add(script, "unset logscale x\nunset xtics\nset xtics autofreq\n");
    if (v->kind == GRAM_VARIABLE_LOG) {
        const double decades = fmax(ceil(log10(v->upper / v->lower) / MOST_DECADES), 1); /* from label to label */
        gram_string_add(script, "set logscale x\nset format x '%%.0e'\nset xtics 1e%d\n", (int)decades);
    }
    if (v->kind != GRAM_VARIABLE_LOG) gram_string_add(script, "set format x '%%h'\n");
    gram_script_range(script, "x", v->kind == GRAM_VARIABLE_CATEGORY ? -0.5 : v->lower,
                      v->kind == GRAM_VARIABLE_CATEGORY ? v->upper + 0.5 : v->upper);
    if (v->kind == GRAM_VARIABLE_CATEGORY) {
        gram_string_add(script, "set xtics (");
        for (int64_t i = 0; i < v->level_count && i < 20; i++) gram_script_tic(script, v->levels[i], i);
        gram_string_add(script, ")\n");
    }
    gram_script_label(script, "x", "", v->name);
}

static int64_t places_of(const gram_variable *v)
{
    if (v->kind == GRAM_VARIABLE_CATEGORY) return v->level_count < CURVE ? v->level_count : CURVE;
    if (v->kind == GRAM_VARIABLE_INTEGER && v->upper - v->lower < CURVE - 1)
        return v->upper > v->lower ? (int64_t)(v->upper - v->lower) + 1 : 2;
    return CURVE;
}

static gram_status add_slice(gram_context *context, gram_string *script, const scene *s, int64_t l)
{
    gram_status status = GRAM_OK;
    const gram_variable v = gram_study_variable(s->study, l);
    const int64_t count = places_of(&v);
    const char *looks = v.kind == GRAM_VARIABLE_CATEGORY ? "linespoints pt 7" : "lines";
    TRY(fill_slice(context, s, l, &v, count));
    gram_script_block(script, "slice", count, 5, (const double *[]){s->place, s->low, s->high, s->mean, s->acquisition},
                      NULL);
    add_axis(script, &v);
    gram_string_add(script, "set ylabel 'value'\n$here << END_OF_HERE\n");
    gram_script_number(script, s->best.x[l], " ");
    gram_script_number(script, s->best.value, "\nEND_OF_HERE\n");
    gram_string_add(script,
                    "plot $slice using 1:2:3 with filledcurves fc rgb '%s' title '95 %% band', $slice using 1:4 with "
                    "%s lw 2 lc rgb '%s' title 'mean', $here with points pt 7 ps 1 lc rgb 'black' title 'best'",
                    GRAM_BAND_COLOUR, looks, GRAM_CURVE_COLOUR);
done:
    return status;
}

/* Values over the only variable; fill_history made them. */
static void add_points(gram_context *context, gram_string *script, const scene *s)
{
    gram_trial trial = {.size = sizeof trial};
    gram_string_add(script, "$points << END_OF_POINTS\n");
    for (int64_t i = 0; i < s->count; i++) {
        if (gram_study_trial(context, s->study, i, &trial) < 0 || trial.state != GRAM_TRIAL_DONE) continue;
        gram_script_number(script, trial.x[0], " ");
        gram_script_number(script, trial.value, "\n");
    }
    gram_string_add(script, "END_OF_POINTS\n");
}

/* Posterior above, acquisition below with a line where it is largest. */
static gram_status add_textbook(gram_context *context, gram_string *script, const scene *s)
{
    gram_status status = GRAM_OK;
    const gram_variable v = gram_study_variable(s->study, 0);
    int64_t next = 0;
    add_points(context, script, s);
    gram_string_add(script, "set multiplot layout 3,1\n");
    TRY(add_slice(context, script, s, 0));
    gram_string_add(script, ", $points with points pt 6 ps 0.8 lc rgb 'black' title 'evaluations'\n");
    for (int64_t i = 1; i < places_of(&v); i++)
        if (s->acquisition[i] > s->acquisition[next]) next = i;
    gram_string_add(script, "set ylabel 'acquisition'\nset arrow 1 from ");
    gram_script_number(script, s->place[next], ", graph 0 to ");
    gram_script_number(script, s->place[next], ", graph 1 nohead dt 2 lc rgb '#606060'\n");
    gram_string_add(script, "plot $slice using 1:5 with lines lw 2 lc rgb '#3a923a' title 'acquisition', NaN dt 2 lc "
                            "rgb '#606060' title 'next point'\nunset arrow 1\n");
    add_history(context, script, s);
done:
    return status;
}

static gram_status add_slices(gram_context *context, gram_picture *picture, const scene *s)
{
    gram_status status = GRAM_OK;
    const int64_t slices = s->variables < MOST_SLICES ? s->variables : MOST_SLICES;
    const int rows = (int)((slices + COLUMNS) / COLUMNS);
    picture->width = COLUMNS * PANEL;
    picture->height = rows * PANEL;
    gram_string_add(&picture->script, "set multiplot layout %d,%d\n", rows, (int)COLUMNS);
    add_history(context, &picture->script, s);
    for (int64_t l = 0; l < slices; l++) {
        TRY(add_slice(context, &picture->script, s, l));
        gram_string_add(&picture->script, "\nunset key\n"); /* the same for all */
    }
done:
    return status;
}

gram_status gram_picture_of_study(gram_context *context, gram_study *study, gram_picture **picture)
{
    gram_status status = GRAM_OK;
    scene s = {.study = study, .best = {.size = sizeof s.best}};
    gram_study_options options = {.size = sizeof options};
    if (!context || !picture) return GRAM_ERROR_ARGUMENT;
    *picture = NULL;
    FAIL_IF(!study, context, GRAM_ERROR_ARGUMENT, "picture_of_study: study is NULL");
    TRY(gram_study_learn(context, study));
    const int64_t best = gram_study_best(study);
    FAIL_IF(best < 0, context, GRAM_ERROR_ARGUMENT, "picture_of_study: no evaluation keeps the constraints yet");
    TRY(gram_study_trial(context, study, best, &s.best));
    TRY(gram_study_get_options(context, study, &options));
    s.maximize = options.maximize;
    s.count = gram_study_trial_count(study);
    s.variables = gram_study_variable_count(study);
    TRY(gram_picture_begin(context, 800, 800, picture));
    TRY(take(context, *picture, &s));
    gram_script_look(&(*picture)->script);
    if (s.variables == 1)
        TRY(add_textbook(context, &(*picture)->script, &s));
    else
        TRY(add_slices(context, *picture, &s));
    gram_string_add(&(*picture)->script, "unset multiplot\n");
done:
    return gram_picture_end(context, status, picture);
}
