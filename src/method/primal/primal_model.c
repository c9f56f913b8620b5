/* What the rows share: making the map, keeping it, opening it. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "method/further_rows.h"
#include "method/primal/primal.h"
#include "points/points.h"
#include "solve/landmarks/landmark_choice.h"

enum { MOST_RANK = 2000, ROWS_PER_FEATURE = 10, MOST_GRIDS = 1 << 14 };

const gram_choice gram_primal_tunings[] = {{"auto", GRAM_TUNING_AUTO, NULL, 0, 0},
                                           {"loo", GRAM_TUNING_LOO, NULL, 0, 0},
                                           {"none", GRAM_TUNING_NONE, NULL, 0, 0},
                                           {NULL, 0, NULL, 0, 0}};

const gram_choice gram_primal_solvers[] = {{"explicit", GRAM_FEATURES_EXPLICIT, NULL, 0, 0},
                                           {"fourier", GRAM_FEATURES_FOURIER, "D", 2, 1 << 16},
                                           {"nystrom", GRAM_FEATURES_NYSTROM, "M", 1, 1 << 15},
                                           {"binning", GRAM_FEATURES_BINNING, "P", 1, MOST_GRIDS},
                                           {NULL, 0, NULL, 0, 0}};

/* The rank of the kernel that was asked for, 0 if it is not low. */
static int64_t low_rank(const gram_learning *learning)
{
    const char *text = gram_given_text(learning, "kernel");
    gram_context *scratch = NULL;
    gram_kernel *kernel = NULL;
    gram_properties facts = {.rank = GRAM_INFINITE};
    if (!text || gram_context_create(NULL, &scratch) < 0) return 0;
    if (gram_kernel_parse(scratch, text, &kernel) >= 0)
        (void)gram_kernel_properties(scratch, kernel, learning->data->d, &facts);
    gram_kernel_release(kernel);
    gram_context_destroy(scratch);
    return facts.rank > 0 && facts.rank <= MOST_RANK ? facts.rank : 0;
}

int gram_primal_takes(const gram_learning *learning, const char *const *words, const char *const *others, int64_t many)
{
    const char *given = gram_given_text(learning, "solver");
    for (; given && *words; words++)
        if (strncmp(given, *words, strlen(*words)) == 0) return 1;
    if (given || !learning->data || learning->data->objects || learning->task == GRAM_TASK_AUTO ||
        learning->n <= many || learning->before || learning->initial || learning->functionals || learning->asked ||
        learning->streamed)
        return 0;
    for (; *others; others++)
        if (gram_given_text(learning, *others)) return 0;
    const int64_t rank = low_rank(learning);
    return rank > 0 && rank * ROWS_PER_FEATURE <= learning->n;
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
    if (gram_given_text(learning, "frequencies") && own->solver.value != GRAM_FEATURES_FOURIER)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Add --solver fourier:D.",
                                  "--frequencies is for --solver fourier");
    return gram_unpenalised_check_settings(learning, &own->free);
}

gram_status gram_primal_begin(gram_learning *learning, const char *words, int iterates)
{
    gram_status status = GRAM_OK;
    const primal_settings *own = learning->settings;
    const int sparse = own->solver.value == GRAM_FEATURES_BINNING,
              explicit = own->solver.value == GRAM_FEATURES_EXPLICIT;
    const double p = (double)(explicit ? low_rank(learning) : own->solver.number), n = (double)learning->n;
    primal_state *state = NULL;
    if (own->solver.value == GRAM_FEATURES_NYSTROM)
        TRY(gram_learning_check_landmarks(learning, "--solver nystrom:", own->solver.number));
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    TRY(gram_learning_read_landmarks(learning, own->landmarks, &state->landmark_rule, &state->landmarks));
    double bytes = 8 * (4 * p * p + 4096 * p + 8 * n);
    if (sparse) bytes = gram_csr_bytes(n, p) + 8 * (6 * p * 65536 + 8 * n);
    if (own->solver.value == GRAM_FEATURES_NYSTROM)
        bytes += gram_landmark_set_bytes(learning->n, learning->data->d, own->solver.number);
    TRY(gram_learning_room(learning, bytes, "Use fewer features, or more --memory.",
                           "the products of the features of"));
    const double seconds = sparse ? n * p * 5e-7 : iterates ? n * p * 1.2e-8 : n * p * p * 2e-11;
    gram_learning_plan(learning, words, (size_t)bytes, seconds,
                       gram_given_text(learning, "solver") ? "as asked for" : "a kernel of finite rank and many rows");
done:
    return status;
}

static gram_status explain(gram_learning *learning, gram_status status)
{
    if (status != GRAM_ERROR_UNSUPPORTED || gram_context_advice(learning->context)[0]) return status;
    return gram_advise(learning->context, GRAM_ERROR_ARGUMENT, "Use --solver nystrom:M, which is for any kernel.");
}

gram_status gram_primal_choose(gram_learning *learning, double usual, gram_status (*tune)(gram_learning *learning))
{
    primal_state *state = learning->own;
    if (learning->tuning != GRAM_TUNING_NONE) return tune(learning);
    state->lambda_is_default = isnan(state->lambda);
    if (state->lambda_is_default) state->lambda = usual;
    return gram_learning_resolve(learning);
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
    options.frequencies = (gram_frequencies)own->frequencies.value;
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

gram_status gram_primal_hold_sparse(gram_learning *learning, int64_t n, const double *x, int64_t ldx)
{
    primal_state *state = learning->own;
    if (!state->f.map->type->sparse) return GRAM_OK;
    return gram_features_csr(learning->context, state->f.map, n, x, ldx, &state->z);
}

void gram_primal_find_norm(primal_state *state)
{
    double squares = 0;
    for (int64_t k = 0; k < state->f.p * state->f.m; k++) squares += state->c[k] * state->c[k];
    state->norm = sqrt(squares);
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
    gram_keep_text(&keeper, "precision", state->precision ? state->precision : "f64");
    gram_keep_integer(&keeper, "rank", state->f.p);
    return keeper;
}

gram_status gram_primal_keep_classes(gram_keeper *keeper, gram_learning *learning, const double *labels,
                                     const double *p, const char *strength)
{
    const primal_settings *own = learning->settings;
    const primal_state *state = learning->own;
    gram_keep_number(keeper, "C", 1 / (2 * (double)learning->n * state->lambda));
    gram_keep_integer(keeper, "intercept", own->free.intercept);
    gram_keep_integer(keeper, "iterations", state->iterations);
    gram_keep_number(keeper, "objective", state->objective);
    gram_keep_number(keeper, "norm", state->norm);
    gram_keep_training(keeper, learning, labels, p);
    gram_keep_tuning(keeper, learning, state->lambda_is_default ? strength : NULL);
    if (learning->tuning != GRAM_TUNING_NONE) gram_keep_integer(keeper, "tuned_rows", state->tuned.rows);
    gram_keep_classes(keeper, &learning->classes);
    return keeper->status;
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

void gram_primal_report_classes(gram_report *report)
{
    gram_report_tuning(report);
    gram_primal_report_features(report);
    gram_report_solution(report);
    gram_report_accuracy(report);
    gram_report_function(report);
}
