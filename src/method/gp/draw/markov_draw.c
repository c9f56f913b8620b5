/* Draws, by simulation and smoothing (Durbin and Koopman 2002).
 *
 * A draw f+ of the prior at all places is simulated step by step, and noisy observations y+ of it at the data's. As f - E(f|y)
 * does not depend on y, f+ + E(f | y - y+) is a draw of the posterior. It takes the filter of a few columns of data and never a
 * factor of a posterior covariance. With a flat prior on beta the mean of y - y+ is estimated anew for each draw. */
#include <math.h>
#include <string.h>

#include <gram/random.h>

#include "method/gp/markov/gp_markov.h"
#include "points/points.h"

enum { CHUNK = 8, STATE = 0, NOISE = 1, WHITE = 2, STREAMS = 3 };

static const uint64_t STREAM = 0x6d61726b00000000u; /* "mark": those from here on */

static gram_random stream(const gram_context *context, int64_t draw, int purpose)
{
    return (gram_random){context->seed, STREAM + (uint64_t)(STREAMS * draw + purpose)};
}

/* ---- the prior ---- */

/* x = Phi x + C z, or with phi NULL x = C z */
static void move(const gram_markov_model *model, const double *phi, const double *c, const double *z, double *x)
{
    double next[GRAM_MARKOV_STATES];
    for (int k = 0; k < model->term_count; k++) {
        const gram_markov_term *term = &model->terms[k];
        const int n = term->states;
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int j = 0; j < n && phi; j++) sum += phi[term->block + i * n + j] * x[term->first + j];
            for (int j = 0; j <= i; j++) sum += c[term->block + i * n + j] * z[term->first + j];
            next[term->first + i] = sum;
        }
    }
    /* cppcheck-suppress uninitvar ; the terms' states are all of the model's */
    for (int i = 0; i < model->states; i++) x[i] = next[i];
}

static double read_out(const gram_markov_model *model, double t, const double *x)
{
    double f = 0;
    for (int k = 0; k < model->term_count; k++) {
        double h = 1;
        for (int i = 0; i < model->terms[k].lines; i++) h *= t;
        f += h * x[model->terms[k].first];
    }
    return f;
}

/* out[i * draws + j]: draw first + j at place i. */
static gram_status simulate(gram_context *context, const gram_markov_model *model, const gram_markov_merge *g,
                            int64_t first, int draws, double *out)
{
    gram_status status = GRAM_OK;
    gram_markov_stepper stepper = {0};
    double *start = NULL, x[CHUNK][GRAM_MARKOV_STATES] = {{0}}, z[GRAM_MARKOV_STATES];
    const int s = model->states;
    TRY(gram_markov_stepper_make(context, model, 0, &stepper));
    TRY(gram_take(context, "gp_draw: first state", model->blocks, sizeof(double), (void **)&start));
    gram_markov_stepper_start(&stepper, g->t[0], start, NULL);
    for (int64_t i = 0; i < g->count; i++) {
        const double gap = i > 0 ? g->t[i] - g->t[i - 1] : 0;
        const gram_markov_step *step = gap > 0 ? gram_markov_stepper_get(&stepper, g->t[i - 1], gap) : NULL;
        for (int j = 0; j < draws; j++) {
            if (step || i == 0) gram_random_normal(stream(context, first + j, STATE), (uint64_t)(i * s), s, z);
            if (i == 0)
                move(model, NULL, start, z, x[j]);
            else if (step)
                move(model, step->phi, step->noise, z, x[j]);
            out[i * draws + j] = read_out(model, g->t[i], x[j]);
        }
    }
done:
    gram_give(context, start);
    gram_markov_stepper_free(context, &stepper);
    return status;
}

/* White noise of the kernel's own at new point j: another observation in each draw. */
static double white_at(const gram_context *context, const gram_markov_model *model, double t, int64_t draw,
                       int64_t point)
{
    double z;
    const double variance = gram_markov_white(model, t);
    if (variance == 0) return 0;
    gram_random_normal(stream(context, draw, WHITE), (uint64_t)point, 1, &z);
    return sqrt(variance) * z;
}

gram_status gram_markov_draw_prior(gram_context *context, gram_kernel *kernel, const gram_points *points, int64_t count,
                                   double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    gram_markov_model model = {0};
    gram_markov_merge g = {0};
    double *f = NULL;
    if (!context || !kernel || !points || !out) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(count < 1 || ldo < count, context, GRAM_ERROR_ARGUMENT, "gp_draw_prior: count = %lld with ldo = %lld",
            (long long)count, (long long)ldo);
    TRY(gram_markov_model_make(context, "gp_draw_prior", kernel, 0, &model));
    TRY(gram_markov_check_points(context, "gp_draw_prior", "points", &model, points));
    TRY(gram_markov_merge_make(context, NULL, points, &g));
    TRY(gram_take(context, "gp_draw_prior: values", g.count * CHUNK, sizeof(double), (void **)&f));
    for (int64_t first = 0; first < count; first += CHUNK) {
        const int draws = count - first < CHUNK ? (int)(count - first) : CHUNK;
        TRY(simulate(context, &model, &g, first, draws, f));
        for (int64_t i = 0; i < g.m; i++)
            for (int j = 0; j < draws; j++)
                out[g.order[i] * ldo + first + j] =
                    f[i * draws + j] + white_at(context, &model, g.sorted[i], first + j, g.order[i]);
    }
done:
    gram_give(context, f);
    gram_markov_merge_free(context, &g);
    gram_markov_model_free(&model);
    return status;
}

/* ---- the posterior ---- */

typedef struct work {
    const gram_markov *fit;
    gram_markov_merge g;
    int q;            /* columns of the mean that are estimated anew */
    int64_t numbers;  /* of the three arrays */
    double *f, *data; /* prior draws; then columns to be smoothed: draws and, with a flat prior, those of the mean */
    double *smoothed;
    double *row;
} work;

/* y - y+ at the data's places, 0 at the others; after them the mean's columns. */
static void fill(const gram_context *context, work *w, int64_t first, int draws)
{
    const gram_markov_system *s = &w->fit->system;
    const int c = draws + w->q;
    memset(w->data, 0, (size_t)(w->g.count * c) * sizeof(double));
    for (int64_t i = 0; i < s->n; i++) {
        const int64_t at = w->g.place[i];
        const double *row = s->data + i * (s->q + 1);
        for (int j = 0; j < draws; j++) {
            double z;
            gram_random_normal(stream(context, first + j, NOISE), (uint64_t)i, 1, &z);
            w->data[at * c + j] = row[0] - w->f[at * draws + j] - sqrt(s->noise[i]) * z;
        }
        for (int k = 0; k < w->q; k++) w->data[at * c + draws + k] = row[k + 1];
    }
}

/* products: of all columns, from the way forward; the mean's are orthonormal, so these are coefficients. */
static void deliver(const gram_context *context, work *w, int64_t first, int draws, const double *products,
                    const double *basis, int64_t ldb, double *out, int64_t ldo)
{
    const gram_markov_system *s = &w->fit->system;
    const int c = draws + w->q;
    for (int64_t i = 0; i < w->g.m; i++) {
        const int64_t at = w->g.place[w->g.n + i], home = w->g.order[i];
        const double *smoothed = w->smoothed + at * c;
        double mean = 0;
        gram_markov_mean_row(s, w->g.sorted[i], basis ? basis + home * ldb : NULL, w->row);
        for (int k = 0; k < s->q; k++) mean += w->row[k] * s->beta[k];
        gram_markov_small_solve(s, w->row);
        for (int j = 0; j < draws; j++) {
            double f = mean + w->f[at * draws + j] + smoothed[j];
            for (int k = 0; k < w->q; k++) f += products[(draws + k) * c + j] * (w->row[k] - smoothed[draws + k]);
            out[home * ldo + first + j] = f + white_at(context, &s->model, w->g.sorted[i], first + j, home);
        }
    }
}

static gram_status draw_chunk(gram_context *context, work *w, int64_t first, int draws, const double *basis,
                              int64_t ldb, double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    gram_markov_pass pass = {0};
    const gram_markov_model *model = &w->fit->system.model;
    TRY(simulate(context, model, &w->g, first, draws, w->f));
    fill(context, w, first, draws);
    const gram_markov_events events = {
        .count = w->g.count, .columns = draws + w->q, .t = w->g.t, .noise = w->g.noise, .data = w->data};
    TRY(gram_markov_pass_make(context, "gp_draw", model, 0, &events, &pass));
    TRY(gram_markov_forward(context, &pass));
    TRY(gram_markov_backward(context, &pass, &(gram_markov_results){.mean = w->smoothed}));
    deliver(context, w, first, draws, pass.products, basis, ldb, out, ldo);
done:
    gram_markov_pass_free(context, &pass);
    return status;
}

gram_status gram_markov_draw(gram_context *context, const gram_markov *fit, const gram_points *points,
                             const double *basis, int64_t ldb, int64_t count, double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    work w = {.fit = fit};
    if (!context || !fit || !out) return GRAM_ERROR_ARGUMENT;
    TRY(gram_markov_check_new(context, "gp_draw", fit, points, basis, ldb));
    FAIL_IF(count < 1 || ldo < count, context, GRAM_ERROR_ARGUMENT, "gp_draw: count = %lld with ldo = %lld",
            (long long)count, (long long)ldo);
    w.q = fit->system.options.flat ? fit->system.q : 0;
    TRY(gram_markov_merge_make(context, fit, points, &w.g));
    w.numbers = w.g.count * (CHUNK + w.q);
    TRY(gram_take(context, "gp_draw: values", w.numbers, sizeof(double), (void **)&w.f));
    TRY(gram_take(context, "gp_draw: data", w.numbers, sizeof(double), (void **)&w.data));
    TRY(gram_take(context, "gp_draw: means", w.numbers, sizeof(double), (void **)&w.smoothed));
    TRY(gram_take(context, "gp_draw: a row", fit->system.q + 1, sizeof(double), (void **)&w.row));
    for (int64_t first = 0; first < count; first += CHUNK)
        TRY(draw_chunk(context, &w, first, count - first < CHUNK ? (int)(count - first) : CHUNK, basis, ldb, out, ldo));
done:
    gram_give(context, w.f);
    gram_give(context, w.data);
    gram_give(context, w.smoothed);
    gram_give(context, w.row);
    gram_markov_merge_free(context, &w.g);
    return status;
}
