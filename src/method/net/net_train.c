/* Training: networks by gradient descent, the first of them beside what its tangent kernel predicts. That is the network linearised
 * about its start, under the same descent with the same batches; for the squared loss and all rows it is (I - 2 rate H/n)^steps. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "method/net/net.h"
#include <gram/random.h>

enum { DRIFT_ROWS = 128, HALVINGS = 8, STREAM = 0x6e657472 /* "netr" */ };

/* Some rows on which the tangent kernel is watched. */
typedef struct watched {
    double *x, *before, *now; /* the rows; H at the start and later */
    gram_points *points;
    int64_t n;
} watched;

static gram_status watch_begin(gram_learning *learning, const gram_network *network, watched *w)
{
    gram_status status = GRAM_OK;
    const gram_prepared *data = learning->data;
    const int64_t d = data->d;
    int64_t *order = NULL;
    w->n = data->n < DRIFT_ROWS ? data->n : DRIFT_ROWS;
    TRY(gram_learning_take(learning, data->n, sizeof *order, &order));
    TRY(gram_learning_take(learning, w->n * d, sizeof *w->x, &w->x));
    TRY(gram_learning_take(learning, w->n * w->n, sizeof *w->before, &w->before));
    TRY(gram_learning_take(learning, w->n * w->n, sizeof *w->now, &w->now));
    gram_random_permutation((gram_random){learning->context->seed, STREAM}, 0, data->n, order);
    for (int64_t i = 0; i < w->n; i++) memcpy(w->x + i * d, data->x + order[i] * d, (size_t)d * sizeof *w->x);
    TRY(gram_points_create_f64(learning->context, w->n, d, w->x, d, &w->points));
    TRY(gram_network_tangent_matrix(learning->context, network, -1, w->points, NULL, w->before, w->n));
done:
    return status;
}

/* |H_t - H_0|/|H_0| in the Frobenius norm */
static gram_status kernel_drift(gram_context *context, const gram_network *network, watched *w, double *drift)
{
    gram_status status = GRAM_OK;
    double difference = 0, norm = 0;
    TRY(gram_network_tangent_matrix(context, network, -1, w->points, NULL, w->now, w->n));
    for (int64_t i = 0; i < w->n * w->n; i++) {
        difference += (w->now[i] - w->before[i]) * (w->now[i] - w->before[i]);
        norm += w->before[i] * w->before[i];
    }
    *drift = norm > 0 ? sqrt(difference / norm) : 0;
done:
    return status;
}

static gram_status look(gram_learning *learning, int64_t step, watched *w)
{
    gram_status status = GRAM_OK;
    net_state *state = learning->own;
    net_curves *c = &state->curves;
    gram_context *context = learning->context;
    const int64_t at = c->count, m = state->outputs;
    TRY(gram_network_loss_of(context, state->networks[0], learning->points, state->y, m, state->loss, &c->loss[at]));
    TRY(gram_network_loss_of(context, state->linear, learning->points, state->y, m, state->loss, &c->ntk_loss[at]));
    TRY(kernel_drift(context, state->networks[0], w, &c->drift[at]));
    gram_network_drift(state->networks[0], &state->each, &state->whole);
    c->change[at] = state->each;
    c->step[at] = (double)step;
    c->count++;
done:
    return status;
}

static gram_status start(gram_learning *learning, gram_network *network, uint64_t number, gram_descent **descent)
{
    const net_settings *own = learning->settings;
    const net_state *state = learning->own;
    gram_descent_options o;
    gram_descent_options_init(&o, sizeof o);
    o.rate = state->rate;
    o.momentum = own->momentum;
    o.batch = own->batch;
    o.loss = state->loss;
    o.number = number;
    return gram_descent_create(learning->context, network, learning->points, state->y, state->outputs, &o, descent);
}

/* Steps at which to look: 0, 1, 2, 3, ... and then ever farther apart, so that there are at most NET_SEEN. */
static int64_t next_look(int64_t step, int64_t steps)
{
    const double ratio = pow((double)steps + 1, 1.0 / (NET_SEEN - 12));
    const int64_t far = (int64_t)ceil(((double)step + 1) * ratio) - 1, next = far > step ? far : step + 1;
    return next < steps ? next : steps;
}

static gram_status train_watched(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const net_settings *own = learning->settings;
    net_state *state = learning->own;
    gram_descent *descent = NULL, *linear = NULL;
    watched w = {0};
    TRY(start(learning, state->networks[0], 0, &descent));
    state->rate = gram_descent_rate(descent);
    TRY(gram_network_linearise(learning->context, state->networks[0], &state->linear));
    TRY(start(learning, state->linear, 0, &linear));
    TRY(watch_begin(learning, state->networks[0], &w));
    TRY(look(learning, 0, &w));
    for (int64_t step = 0, next; step < own->steps; step = next) {
        next = next_look(step, own->steps);
        TRY(gram_descent_run(learning->context, descent, next - step, NULL));
        TRY(gram_descent_run(learning->context, linear, next - step, NULL));
        TRY(look(learning, next, &w));
    }
done:
    gram_points_release(w.points);
    gram_descent_destroy(descent);
    gram_descent_destroy(linear);
    return status;
}

static gram_status train_member(gram_learning *learning, int64_t r)
{
    gram_status status = GRAM_OK;
    const net_settings *own = learning->settings;
    const net_state *state = learning->own;
    gram_descent *descent = NULL;
    TRY(start(learning, state->networks[r], (uint64_t)r, &descent));
    TRY(gram_descent_run(learning->context, descent, own->steps, NULL));
done:
    gram_descent_destroy(descent);
    return status;
}

static gram_status make_networks(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const net_settings *own = learning->settings;
    net_state *state = learning->own;
    for (int64_t r = 0; r < own->members; r++) {
        gram_network_options o = state->made;
        o.number = (uint64_t)r;
        gram_network_destroy(state->networks[r]);
        state->networks[r] = NULL;
        TRY(gram_network_create(learning->context, &o, &state->networks[r]));
    }
    gram_network_destroy(state->linear);
    state->linear = NULL;
    state->curves.count = 0;
done:
    return status;
}

static gram_status attempt(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const net_settings *own = learning->settings;
    TRY(make_networks(learning));
    TRY(train_watched(learning));
    for (int64_t r = 1; r < own->members; r++) TRY(train_member(learning, r));
done:
    return status;
}

/* Steps of their own length are stable at the start; where the tangent kernel grows on the way they are halved, and all begins anew. */
gram_status gram_net_train(gram_learning *learning)
{
    const net_settings *own = learning->settings;
    net_state *state = learning->own;
    char what[256];
    state->rate = isnan(own->rate) ? 0 : own->rate;
    gram_status status = attempt(learning);
    for (int k = 0; k < HALVINGS && isnan(own->rate) && status == GRAM_ERROR_NUMERICAL && state->rate > 0; k++) {
        state->rate /= 2;
        status = attempt(learning);
    }
    if (status != GRAM_ERROR_NUMERICAL) return status;
    (void)snprintf(what, sizeof what, "%s", gram_context_message(learning->context));
    const char *message = strstr(what, ": ");
    return gram_learning_fail(learning, status,
                              "Give a shorter --rate, or leave it out: auto finds one that is stable.", "%s",
                              message ? message + 2 : what);
}

/* ---- functions of one feature ---- */

int gram_net_has_grid(const gram_learning *learning)
{
    const net_state *state = learning->own;
    return learning->data->d == 1 && state->outputs == 1 && learning->task == GRAM_TASK_REGRESSION;
}

/* Evenly spaced over the rows, and a tenth beyond them. */
static void space_grid(const gram_learning *learning, double *x)
{
    const gram_prepared *data = learning->data;
    double least = data->x[0], most = data->x[0];
    for (int64_t i = 1; i < data->n; i++) {
        least = fmin(least, data->x[i]);
        most = fmax(most, data->x[i]);
    }
    const double margin = most > least ? 0.1 * (most - least) : 1, step = (most - least + 2 * margin) / (NET_GRID - 1);
    for (int i = 0; i < NET_GRID; i++) x[i] = least - margin + i * step;
}

gram_status gram_net_fill_grid(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const net_settings *own = learning->settings;
    net_state *state = learning->own;
    double *x = NULL, *f = NULL;
    gram_points *points = NULL;
    TRY(gram_learning_take(learning, NET_GRID * NET_GRID_COLUMNS, sizeof *state->grid, &state->grid));
    TRY(gram_learning_take(learning, NET_GRID, sizeof *x, &x));
    TRY(gram_learning_take(learning, NET_GRID, sizeof *f, &f));
    space_grid(learning, x);
    TRY(gram_points_create_f64(learning->context, NET_GRID, 1, x, 1, &points));
    for (int64_t r = 0; r <= own->members; r++) {
        const gram_network *network = r < own->members ? state->networks[r] : state->linear;
        TRY(gram_network_evaluate(learning->context, network, points, f, 1));
        for (int i = 0; i < NET_GRID; i++) {
            double *row = state->grid + (ptrdiff_t)i * NET_GRID_COLUMNS;
            const double step = f[i] - row[1];
            row[0] = x[i];
            if (r == own->members) {
                row[3] = f[i];
                continue;
            }
            row[1] += step / (double)(r + 1); /* Welford's sums */
            row[2] += step * (f[i] - row[1]);
        }
    }
    for (int i = 0; i < NET_GRID; i++) {
        double *squares = state->grid + (ptrdiff_t)i * NET_GRID_COLUMNS + 2;
        *squares = own->members > 1 ? sqrt(*squares / (double)(own->members - 1)) : 0;
    }
done:
    gram_points_release(points);
    return status;
}
