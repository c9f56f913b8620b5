/* What a person should know of the result, in plain words.
 *
 * A parameter of which the data say nothing is found by trying twice and half its value on the smallest sample of the rows;
 * what changes there counts for as many times as there are more rows in all. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gram/text.h>

#include "method/gp/tune/gp_tune.h"

enum { MOST_TRIED = 64 };

static const double VANISHED = 1e-8, NOTHING = 0.1;
static const double HELD = 10; /* the weak prior still presses a little above where it begins */

/* Appends a sentence if there is room for all of it. */
static void say(const gram_tuning *t, const char *format, const char *name, const char *text)
{
    char *out = gram_gp_tuning_of(t)->diagnosis;
    const size_t used = strlen(out);
    char sentence[400];
    const int length = snprintf(sentence, sizeof sentence, format, name, text);
    if (length < 0 || (size_t)length >= sizeof sentence || used + (size_t)length + 2 > GRAM_GP_DIAGNOSIS) return;
    snprintf(out + used, GRAM_GP_DIAGNOSIS - used, "%s%s", used ? " " : "", sentence);
}

/* "noise", or the parameter's name */
static gram_status name_of(const gram_tuning *t, const gram_space *space, int64_t index, gram_parameter *parameter)
{
    if (index < space->parameters) return gram_kernel_parameter_get(t->context, space->kernel, index, parameter);
    memcpy(parameter->name, "the noise", sizeof "the noise");
    return GRAM_OK;
}

/* -1, 1: at the lower or upper end of its range; 0: between */
static int side_of(const gram_space *space, int64_t i, double variable)
{
    const double margin = 1e-6 * (space->upper[i] - space->lower[i]);
    return variable <= space->lower[i] + margin ? -1 : variable >= space->upper[i] - margin;
}

/* ---- bounds ---- */

static void say_bound(const gram_tuning *t, const gram_space *space, int64_t i, const char *name, int side)
{
    const int64_t index = space->index[i];
    char bound[GRAM_NUMBER_SIZE];
    const double end = side < 0 ? space->lower[i] : space->upper[i];
    gram_number_format(space->is_log[i] ? exp(end) : end, bound);
    if (index == space->parameters && side < 0) return; /* said below */
    if (index == space->parameters)
        say(t, "%s is at its upper bound %s: the kernel explains nothing of the target.", name, bound);
    else if (strncmp(name, "const", 5) == 0)
        say(t,
            side < 0 ? "The amplitude %s is at its lower bound %s: this part of the kernel explains nothing."
                     : "The amplitude %s is at its upper bound %s: the target looks like a trend; a linear mean or a "
                       "longer bound may fit better.",
            name, bound);
    else if (space->is_length[index] && side > 0)
        say(t, "%s is at its upper bound %s: the target does not depend on these columns, or only linearly.", name,
            bound);
    else if (space->is_length[index])
        say(t, "%s is at its lower bound %s: neighbouring rows look unrelated.", name, bound);
    else
        say(t, side < 0 ? "%s is at its lower bound %s." : "%s is at its upper bound %s.", name, bound);
}

static gram_status say_bounds(gram_tuning *t, const gram_candidate *c)
{
    gram_status status = GRAM_OK;
    const gram_space *space = &c->space;
    for (int64_t i = 0; i < space->count; i++) {
        gram_parameter parameter;
        const int side = side_of(space, i, c->variables[i]);
        if (!side) continue;
        TRY(name_of(t, space, space->index[i], &parameter));
        say_bound(t, space, i, parameter.name, side);
    }
done:
    return status;
}

static void say_noise(const gram_tuning *t, const gram_candidate *c)
{
    char text[GRAM_NUMBER_SIZE];
    const double share = c->point[c->space.parameters] / t->noise_unit;
    if (t->noise.fixed || share >= VANISHED) return;
    gram_number_format(share, text);
    say(t,
        "The noise vanished (%s%s of the target's variance): the data look noise-free, or rows are duplicated or "
        "interpolated.",
        text, "");
}

/* ---- what the data say nothing about ---- */

static gram_status value_at(gram_tuning *t, gram_candidate *c, double *value)
{
    double unused;
    return gram_candidate_try(t, c, 0, value, &unused);
}

/* What changes on the smallest sample counts for so many times. */
static double rows_ratio(const gram_tuning *t)
{
    return (double)t->levels[t->last].sample.n / (double)t->levels[0].sample.n;
}

/* How much more likely all rows are with half the noise, priors left out; by the smallest sample. */
static gram_status gain_of_half(gram_tuning *t, gram_candidate *c, double middle, double *gain)
{
    gram_status status = GRAM_OK;
    double value;
    gram_candidate_copy(c, c->point, c->trial);
    c->trial[c->space.parameters] *= 0.5;
    TRY(value_at(t, c, &value));
    *gain = rows_ratio(t) * (middle - value);
done:
    return status;
}

/* Is it the weak prior that the noise rests on? */
static gram_status say_held(gram_tuning *t, gram_candidate *c, double middle)
{
    gram_status status = GRAM_OK;
    gram_gp_tuning *g = gram_gp_tuning_of(t);
    const double noise = c->point[c->space.parameters] * g->scale * g->scale;
    double gain;
    if (!(noise < HELD * g->weak_noise)) goto done;
    TRY(gain_of_half(t, c, middle, &gain));
    g->noise_held = gain > -NOTHING;
    if (g->noise_held)
        say(t, "A weak prior holds the noise off 0%s%s: less would fit these rows as well, and be too sure of others.",
            "", "");
done:
    return status;
}

/* How much the objective of all rows changes at most when a variable moves by a factor of 2 either way. */
static gram_status sway(gram_tuning *t, gram_candidate *c, int64_t i, double middle, double *change)
{
    gram_status status = GRAM_OK;
    *change = 0;
    for (int way = -1; way <= 1; way += 2) {
        double value;
        gram_candidate_copy(c, c->point, c->trial);
        c->trial[c->space.index[i]] *= way < 0 ? 0.5 : 2;
        TRY(value_at(t, c, &value));
        *change = fmax(*change, rows_ratio(t) * fabs(value - middle));
    }
done:
    return status;
}

static gram_status say_flat(gram_tuning *t, gram_candidate *c)
{
    gram_status status = GRAM_OK;
    const gram_space *space = &c->space;
    double middle, change;
    TRY(gram_tuning_open_level(t, 0));
    gram_candidate_copy(c, c->point, c->trial);
    TRY(value_at(t, c, &middle));
    if (!isfinite(middle)) goto done;
    TRY(say_held(t, c, middle));
    for (int64_t i = 0; i < space->count && i < MOST_TRIED; i++) {
        gram_parameter parameter;
        if (!space->is_log[i] || side_of(space, i, c->variables[i])) continue;
        if (space->index[i] == space->parameters && gram_gp_tuning_of(t)->noise_held) continue;
        TRY(sway(t, c, i, middle, &change));
        if (change >= NOTHING) continue;
        TRY(name_of(t, space, space->index[i], &parameter));
        say(t, "The data say nothing about %s%s: twice or half the value fits as well.", parameter.name, "");
    }
done:
    return status;
}

/* ---- the whole ---- */

static gram_status take_value(gram_tuning *t, const gram_candidate *c)
{
    gram_status status = GRAM_OK;
    gram_gp_tuning *g = gram_gp_tuning_of(t);
    gram_kernel *kernel = NULL;
    double density = 0;
    TRY(gram_space_kernel(t->context, &c->space, c->point, &kernel));
    TRY(gram_gp_log_prior(t->context, g, kernel, c->point[c->space.parameters] * g->scale * g->scale, &density, NULL));
    g->value = isfinite(c->value) ? -c->value - density : NAN;
done:
    gram_kernel_release(kernel);
    return status;
}

gram_status gram_gp_tuning_finish(gram_tuning *t, gram_candidate *c)
{
    gram_status status = GRAM_OK;
    gram_gp_tuning *g = gram_gp_tuning_of(t);
    TRY(take_value(t, c));
    if (t->levels[t->last].sample.n < t->least_rows) {
        say(t, "There are too few rows to learn from%s%s: parameters are where the search would start.", "", "");
        goto done;
    }
    if (gram_tuning_is_flat(t, t->last)) {
        say(t, "The target is constant%s%s: there is nothing to learn, parameters are where the search would start.",
            "", "");
        goto done;
    }
    if (gram_tuning_follows(t)) goto done; /* a part of the rows: nobody reads it */
    gram_space_to_variables(&c->space, c->point, c->variables);
    TRY(say_bounds(t, c));
    say_noise(t, c);
    g->no_priors = 1;
    TRY(say_flat(t, c));
done:
    g->no_priors = 0;
    return status;
}
