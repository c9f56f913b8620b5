/* What the rows share: making the map, keeping it, opening it. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "method/further_rows.h"
#include "method/primal/primal.h"
#include "points/points.h"
#include "solve/landmarks/landmark_choice.h"

int gram_primal_solver_is(const gram_learning *learning, const char *const *words)
{
    const char *given = gram_given_text(learning, "solver");
    for (; given && *words; words++)
        if (strncmp(given, *words, strlen(*words)) == 0) return 1;
    return 0;
}

gram_status gram_primal_check(gram_learning *learning)
{
    const primal_settings *own = learning->settings;
    const int64_t number = own->solver.number;
    if (own->solver.value == GRAM_FEATURES_FOURIER && number % 2 != 0)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Give an even number.",
                                  "--solver fourier:%" PRId64 " is odd: each frequency has a cosine and a sine",
                                  number);
    if (own->landmarks && own->solver.value != GRAM_FEATURES_NYSTROM)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Add --solver nystrom:M.",
                                  "--landmarks is for --solver nystrom");
    return gram_unpenalised_check_settings(learning, &own->free);
}

gram_status gram_primal_begin(gram_learning *learning, const char *words)
{
    gram_status status = GRAM_OK;
    const primal_settings *own = learning->settings;
    const double p = (double)own->solver.number, n = (double)learning->n;
    primal_state *state = NULL;
    if (own->solver.value == GRAM_FEATURES_NYSTROM)
        TRY(gram_learning_check_landmarks(learning, "--solver nystrom:", own->solver.number));
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    TRY(gram_learning_read_landmarks(learning, own->landmarks, &state->landmark_rule, &state->landmarks));
    double bytes = 8 * (4 * p * p + 4096 * p + 8 * n);
    if (own->solver.value == GRAM_FEATURES_NYSTROM)
        bytes += gram_landmark_set_bytes(learning->n, learning->data->d, own->solver.number);
    TRY(gram_learning_room(learning, bytes, "Use fewer features, or more --memory.",
                           "the products of the features of"));
    gram_learning_plan(learning, words, (size_t)bytes, n * p * p * 2e-11, "as asked for");
done:
    return status;
}

static gram_status explain(gram_learning *learning, gram_status status)
{
    if (status != GRAM_ERROR_UNSUPPORTED || gram_context_advice(learning->context)[0]) return status;
    return gram_advise(learning->context, GRAM_ERROR_ARGUMENT, "Use --solver nystrom:M, which is for any kernel.");
}

gram_status gram_primal_make_map(gram_learning *learning, int64_t m)
{
    gram_status status = GRAM_OK;
    const primal_settings *own = learning->settings;
    primal_state *state = learning->own;
    gram_features_options options;
    gram_features_options_init(&options, sizeof options);
    options.kind = (gram_features_kind)own->solver.value;
    options.dimension = own->solver.number;
    options.landmark_rule = state->landmark_rule;
    options.landmarks = state->landmarks;
    status = gram_features_make(learning->context, learning->kernel, learning->data->d, learning->points, &options,
                                &state->f.map);
    if (status < 0) return explain(learning, status);
    state->f.p = state->f.map->report.dimension;
    state->f.m = m;
    TRY(gram_learning_take(learning, state->f.p * m, sizeof *state->c, &state->c));
    TRY(gram_learning_take(learning, m, sizeof *state->b, &state->b));
    state->f.coefficients = state->c;
    state->f.constants = state->b;
    TRY(gram_features_holder(learning->context, learning->kernel, learning->data->d, learning->data->x,
                             &state->holder));
done:
    return status;
}

gram_status gram_primal_tune_classes(gram_learning *learning)
{
    enum { MATRICES = 4 };
    gram_status status = GRAM_OK;
    primal_state *state = learning->own;
    const int64_t n = learning->data->n, classes = learning->classes.count, m = classes == 2 ? 1 : classes;
    gram_krr_tune_options options;
    double *y = NULL;
    gram_krr_tune_options_init(&options, sizeof options);
    options.lambda = state->lambda;
    options.lambda_fixed = !isnan(state->lambda);
    options.weights = learning->weights;
    options.ard = gram_learning_ard(learning);
    options.groups = learning->groups;
    options.ordered = learning->ordered;
    options.rows = gram_learning_tuning_rows(learning, MATRICES);
    TRY(gram_take(learning->context, "classes", n * m, sizeof *y, (void **)&y));
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < m; c++) y[i * m + c] = learning->labels[i] == (double)c ? 1 : -1;
    state->tuned.size = sizeof state->tuned;
    TRY(gram_krr_tune(learning->context, learning->written, learning->points, m, y, m, &options, &learning->kernel,
                      &state->lambda, &state->tuned));
done:
    gram_give(learning->context, y);
    return status;
}

void gram_primal_forget(gram_learning *learning)
{
    primal_state *state = learning->own;
    if (!state) return;
    gram_points_release(state->landmarks);
    gram_features_destroy(state->f.map);
    gram_function_release(state->holder);
}

gram_keeper gram_primal_keep(gram_learning *learning)
{
    const primal_state *state = learning->own;
    gram_keeper keeper = gram_keep_begin(learning, state->holder);
    gram_keep_features(&keeper, state->f.map);
    gram_keep_array(&keeper, "feature_coefficients", state->f.p, state->f.m, state->c);
    gram_keep_array(&keeper, "feature_constants", 1, state->f.m, state->b);
    gram_keep_text(&keeper, "solver", state->f.map->type->name);
    gram_keep_text(&keeper, "precision", "f64");
    gram_keep_integer(&keeper, "rank", state->f.p);
    return keeper;
}

gram_status gram_primal_open(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    gram_feature_function *f = NULL;
    TRY(gram_arena_take(context, &predictor->arena, "predictor", 1, sizeof *f, (void **)&f));
    *f = (gram_feature_function){0};
    predictor->own = f;
    TRY(gram_feature_function_open(context, predictor, f));
done:
    return status;
}

void gram_primal_close(gram_predictor *predictor)
{
    gram_feature_function *f = predictor->own;
    if (f) gram_features_destroy(f->map);
}

void gram_primal_report_features(gram_report *report)
{
    gram_report_row(report, "features");
    gram_report_add(report, "%s",
                    gram_report_text(report, "description") ? gram_report_text(report, "description") : "");
}
