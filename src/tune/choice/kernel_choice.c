/* The choice of a family.
 *
 * Families have the same numbers to tune, so what tuning makes of their losses is alike, and the losses of one row by two of them go up and
 * down together: what is compared is the mean of the differences with its standard error. With SURE standard errors two families that
 * are equally good change places in some 13 of 100 sets for two rivals, to no harm; LEAST keeps a rival out that gains nothing
 * that anybody would notice. */
#include "tune/choice/kernel_choice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gram/random.h>

static const double SURE = 1.5, LEAST = 0.01;
enum { SAMPLE_STREAM = 0x66616d69 /* "fami" */ };

/* ---- what is tried ---- */

static int has_two_values(const gram_points *x, int64_t column)
{
    double first = NAN, second = NAN;
    for (int64_t i = 0; i < gram_points_count(x); i++) {
        const double v = gram_points_at(x, i, column);
        if (isnan(first) || v == first)
            first = v;
        else if (isnan(second) || v == second)
            second = v;
        else
            return 0;
    }
    return !isnan(second);
}

void gram_kernel_families(const gram_sample *sample, int amplitude, gram_kernel_choice *choice)
{
    static const char *const PLAIN[] = {"rbf", "matern(nu=2.5)", "matern(nu=1.5)", "rbf + const*linear"};
    static const char *const SCALED[] = {"const*rbf", "const*matern(nu=2.5)", "const*matern(nu=1.5)",
                                         "const*rbf + const*linear"};
    const int64_t d = gram_points_dimension(sample->points);
    int64_t binary = 0;
    for (int64_t j = 0; j < d; j++) binary += has_two_values(sample->points, j);
    choice->sample = sample;
    choice->count = 3 * binary >= d ? GRAM_CHOICE_MOST : GRAM_CHOICE_MOST - 1;
    for (int64_t k = 0; k < choice->count; k++) choice->trials[k].text = amplitude ? SCALED[k] : PLAIN[k];
}

gram_status gram_choice_sample(gram_context *context, const gram_given *given, gram_sample *sample)
{
    gram_status status = GRAM_OK;
    int64_t *rows = NULL, *order = NULL, count = 0;
    TRY(gram_given_rows(context, given, &rows, &count));
    if (count > GRAM_CHOICE_ALL) {
        TRY(gram_take(context, "kernel choice", count, sizeof *order, (void **)&order));
        gram_random_permutation((gram_random){context->seed, SAMPLE_STREAM}, 0, count, order);
        for (int64_t i = 0; i < GRAM_CHOICE_ROWS; i++) order[i] = rows[order[i]];
        count = GRAM_CHOICE_ROWS;
    }
    TRY(gram_sample_make(context, given, count, order ? order : rows, sample));
done:
    gram_give(context, order);
    gram_give(context, rows);
    return status;
}

/* ---- which one ---- */

static double mean_loss(const gram_sample *sample, const double *losses)
{
    double sum = 0;
    for (int64_t i = 0; i < sample->n; i++) sum += sample->weights[i] * losses[i];
    return sum / sample->total;
}

/* By how much the losses of b are lower than those of a, and the standard error of that. */
static double gain_of(const gram_sample *sample, const double *a, const double *b, double *error)
{
    double mean = 0, squares = 0, weights = 0;
    for (int64_t i = 0; i < sample->n; i++) mean += sample->weights[i] * (a[i] - b[i]) / sample->total;
    for (int64_t i = 0; i < sample->n; i++) {
        const double away = a[i] - b[i] - mean, w = sample->weights[i] / sample->total;
        squares += w * away * away;
        weights += w * w;
    }
    *error = sqrt(squares * weights);
    return mean;
}

static int takes_its_place(const gram_kernel_choice *c, const gram_kernel_trial *rival)
{
    double error;
    const double *first = c->trials[0].losses, gain = gain_of(c->sample, first, rival->losses, &error);
    const double least = c->logarithms ? LEAST : LEAST * mean_loss(c->sample, first);
    return gain > SURE * error && gain > least;
}

/* ---- what is said ---- */

static void say(gram_kernel_choice *c)
{
    double error;
    size_t used;
    const double *first = c->trials[0].losses, all = mean_loss(c->sample, first);
    (void)snprintf(c->reason, sizeof c->reason, "%s", c->what);
    for (int64_t k = 1; k < c->count; k++) {
        const gram_kernel_trial *rival = &c->trials[k];
        if (!rival->kernel) continue;
        const double gain = gain_of(c->sample, first, rival->losses, &error), unit = c->logarithms ? 1 : all;
        used = strlen(c->reason);
        (void)snprintf(
            c->reason + used, sizeof c->reason - used, c->logarithms ? "%s %s %+.3f +- %.3f" : "%s %s %.3f +- %.3f",
            used == strlen(c->what) ? ":" : ",", rival->text, c->logarithms ? -gain : 1 - gain / unit, error / unit);
    }
    used = strlen(c->reason);
    (void)snprintf(c->reason + used, sizeof c->reason - used, c->logarithms ? " beside that of %s" : " of that of %s",
                   c->trials[0].text);
}

/* A family that cannot be tuned on these rows is out of the running. */
static gram_status run_trial(gram_context *context, gram_kernel_choice *c, const gram_search_trail *from, int64_t k)
{
    gram_kernel_trial *trial = &c->trials[k];
    trial->ends = (gram_search_trail){.arena = from->arena};
    if (!trial->losses) {
        const gram_status taken =
            gram_take(context, "kernel choice", c->sample->n, sizeof *trial->losses, (void **)&trial->losses);
        if (taken < 0) return taken;
    }
    const gram_status status = c->run(context, c->argument, from, trial);
    if (status != GRAM_ERROR_NUMERICAL && status != GRAM_ERROR_DOMAIN) return status;
    gram_kernel_release(trial->kernel);
    trial->kernel = NULL;
    return GRAM_OK;
}

gram_status gram_kernel_choose(gram_context *context, const gram_search_trail *from, gram_kernel_choice *choice)
{
    gram_status status = GRAM_OK;
    double lowest = INFINITY;
    gram_search_trail fine = *from;
    fine.coarse = 0;
    choice->best = 0;
    for (int64_t k = 0; k < choice->count; k++) TRY(run_trial(context, choice, &fine, k));
    if (!choice->trials[0].kernel) goto done;
    for (int64_t k = 1; k < choice->count; k++) {
        const gram_kernel_trial *rival = &choice->trials[k];
        if (!rival->kernel || !takes_its_place(choice, rival)) continue;
        const double loss = mean_loss(choice->sample, rival->losses);
        if (loss >= lowest) continue;
        lowest = loss;
        choice->best = k;
    }
    say(choice);
done:
    return status;
}

void gram_kernel_choice_free(gram_context *context, gram_kernel_choice *choice)
{
    for (int64_t k = 0; k < GRAM_CHOICE_MOST; k++) {
        gram_kernel_release(choice->trials[k].kernel);
        gram_give(context, choice->trials[k].losses);
        choice->trials[k] = (gram_kernel_trial){.text = NULL};
    }
}
