/* The error to expect on new rows: which rows are left out, and how.
 *
 * The criterion that numbers were tuned by is no honest estimate: it is too low, because the best of many was taken, the more so the
 * fewer rows there are and the more numbers (measured for kernel ridge regression with one length-scale per feature: by 12 % at
 * n = 100, d = 2, by 28 % with ten irrelevant columns more). So
 *
 *     up to 250 rows         ten folds (twenty up to 60 rows), and all numbers are chosen anew for each
 *     up to 600, gradients   five folds, numbers anew. Methods that search a grid of two numbers cost too much for that and gain little
 *     beyond, gradients      a fifth of the rows, at most 2,000, is held out; numbers are chosen on the others, which are fitted and
 *                            judged by it; then it joins the fit, with the numbers as they are: one more solve, no more tuning
 *     beyond, grids          the numbers as found, by five folds up to 2,000 rows, by a holdout above
 *     nothing tuned          leave-one-out where the fit knows it, else folds, or a holdout above 5,000 rows
 *
 * Folds keep groups together and go forward in time, as those of the tuning do. */
#include "learn/estimate/error_estimate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "learn/cells/cells.h"
#include "learn/estimate/feature_importance.h"
#include "learn/estimate/left_out_interval.h"
#include "learn/learner.h"

enum {
    FEW = 60,
    NESTED = 250,        /* rows, up to which everything is chosen anew */
    NESTED_SMOOTH = 600, /* by gradients */
    FOLDS_MOST = 2000,
    UNTUNED_MOST = 5000,
    HELD_MOST = 2000, /* rows of a holdout, at most */
    FOLD_STREAM = 0x65737469
};

/* What `estimate` may be. */
enum { WORD_AUTO, WORD_NO, WORD_LOO, WORD_FOLDS, WORD_HOLDOUT };

const gram_choice gram_estimate_choices[] = {
    {"auto", WORD_AUTO, NULL, 0, 0},     {"no", WORD_NO, NULL, 0, 0},           {"loo", WORD_LOO, NULL, 0, 0},
    {"folds", WORD_FOLDS, "K", 2, 1000}, {"holdout", WORD_HOLDOUT, NULL, 0, 0}, {NULL, 0, NULL, 0, 0},
};

static gram_chosen asked(const gram_learning *learning)
{
    gram_chosen chosen = {WORD_NO, 0};
    const char *text = gram_learning_common(learning, GRAM_COMMON_ESTIMATE);
    if (text) (void)gram_option_read(&gram_common_options[GRAM_COMMON_ESTIMATE], text, &chosen);
    return chosen;
}

int gram_estimate_is_wanted(const gram_learning *learning)
{
    return asked(learning).value != WORD_NO && learning->task <= GRAM_TASK_CLASSIFICATION;
}

const char *gram_estimate_obstacle(const gram_learning *learning)
{
    if (learning->functionals || learning->senses) return "rows are not all values";
    if (learning->before) return "the fit goes on from an earlier one";
    if (learning->initial) return "the fit starts from a model";
    if (learning->n < 4) return "there are fewer than 4 rows";
    return NULL;
}

static int64_t holdout_folds(int64_t n)
{
    return n / HELD_MOST > 5 ? n / HELD_MOST : 5;
}

/* As the top of this file says. */
static void decide(const gram_learning *learning, gram_estimate_state *state)
{
    const int64_t n = learning->n;
    const int tuned = learning->tuning != GRAM_TUNING_NONE;
    const int smooth = tuned && learning->method->tuning != GRAM_TUNING_CV;
    const int grouped = learning->groups || learning->ordered;
    state->anew = n <= NESTED || smooth;
    state->way = GRAM_ESTIMATE_FOLDS;
    state->folds = n <= FEW ? 20 : n <= NESTED ? 10 : 5;
    if (!tuned) {
        state->way = n <= UNTUNED_MOST ? GRAM_ESTIMATE_FOLDS : GRAM_ESTIMATE_HOLDOUT;
        if (learning->method->fitted && learning->task == GRAM_TASK_REGRESSION && learning->data->targets == 1 &&
            !grouped)
            state->way = GRAM_ESTIMATE_OWN;
    } else if (n > (smooth ? NESTED_SMOOTH : FOLDS_MOST)) {
        state->way = GRAM_ESTIMATE_HOLDOUT;
    }
    if (state->way == GRAM_ESTIMATE_HOLDOUT) state->folds = holdout_folds(n);
    state->joins = state->way == GRAM_ESTIMATE_HOLDOUT && smooth;
}

/* What the caller asks for instead. */
static void decide_as_asked(const gram_learning *learning, gram_chosen word, gram_estimate_state *state)
{
    decide(learning, state);
    if (word.value == WORD_AUTO) return;
    const int tuned = learning->tuning != GRAM_TUNING_NONE;
    state->anew = tuned;
    state->joins = 0;
    state->way = word.value == WORD_LOO     ? GRAM_ESTIMATE_OWN
                 : word.value == WORD_FOLDS ? GRAM_ESTIMATE_FOLDS
                                            : GRAM_ESTIMATE_HOLDOUT;
    state->folds = word.value == WORD_HOLDOUT ? holdout_folds(learning->n) : word.number > 0 ? word.number : 5;
    state->joins = word.value == WORD_HOLDOUT && tuned;
}

/* Each row's fold; fewer of them than asked for if rows or groups are too few. */
static gram_status deal(gram_learning *learning, gram_estimate_state *state)
{
    gram_status status = GRAM_OK;
    TRY(gram_left_out_deal(learning, &learning->arena, FOLD_STREAM, &state->folds, &state->fold));
    if (state->folds > 1) return status;
    state->way = GRAM_ESTIMATE_NONE;
    (void)snprintf(state->missing, sizeof state->missing, "rows cannot be divided into two folds");
done:
    return status;
}

/* The fold that a holdout is: the last in time, else the first. */
static int64_t held_fold(const gram_learning *learning, const gram_estimate_state *state)
{
    return learning->ordered ? state->folds - 1 : 0;
}

/* A failure of a part is no failure of the fit, unless nothing more may be done at all. */
static gram_status forgive(gram_context *context, gram_estimate_state *state, gram_status status)
{
    if (status >= 0 || status == GRAM_ERROR_CANCELLED || status == GRAM_ERROR_MEMORY) return status;
    state->way = GRAM_ESTIMATE_NONE;
    (void)snprintf(state->missing, sizeof state->missing, "a fit to some of the rows failed: %.110s",
                   gram_context_message(context));
    return GRAM_OK;
}

static gram_status fit_held(gram_learning *learning, gram_estimate_state *state, const gram_found_numbers *found,
                            gram_learning *fit)
{
    gram_status status = GRAM_OK;
    const int64_t n = learning->data->n, held = held_fold(learning, state);
    int64_t *rows = NULL, counts[2] = {0, 0};
    TRY(gram_take(learning->context, "estimate", 2 * n, sizeof *rows, (void **)&rows));
    for (int64_t i = 0; i < n; i++) {
        const int is_held = state->fold[i] == held;
        rows[is_held * n + counts[is_held]++] = i;
    }
    TRY(gram_left_out_fit(&state->out, found, counts[0], rows, counts[1], rows + n, fit));
done:
    gram_give(learning->context, rows);
    return status;
}

/* A holdout that joins: the others are fitted first, and the whole gets their numbers. */
static gram_status fit_first(gram_learning *learning, gram_estimate_state *state)
{
    gram_status status = GRAM_OK;
    gram_found_numbers found = {0};
    TRY(fit_held(learning, state, NULL, &state->first));
    if (state->first.model && gram_part_found(&state->first, &found)) {
        TRY(gram_part_use(&found, learning));
        learning->numbers_found = 1;
    }
done:
    gram_kernel_release(found.kernel);
    return status;
}

/* For the plan: how often the work is done again. Searches that follow the whole's take a fifth; a holdout that joins is the only search, with
 * one more solve. */
static void forecast(gram_learning *learning, const gram_estimate_state *state)
{
    const double folds = (double)state->folds;
    const int smooth = learning->tuning != GRAM_TUNING_NONE && learning->method->tuning != GRAM_TUNING_CV;
    learning->more_fits = state->way == GRAM_ESTIMATE_FOLDS ? folds : state->way == GRAM_ESTIMATE_HOLDOUT ? 1 : 0;
    learning->more_share = 1 - 1 / folds;
    learning->more_cost = !state->anew || state->joins ? 0 : smooth ? 0.2 : 1;
}

/* Where the first fit is one to some of the rows, what is about to be done is said before that, and once. */
static gram_status tell_plan(gram_learning *learning)
{
    if (!learning->tell || !learning->method->plan || gram_learning_wants_cells(learning)) return GRAM_OK;
    const gram_status status = learning->method->plan(learning);
    if (learning->own && learning->method->forget) learning->method->forget(learning);
    learning->own = NULL;
    learning->tell = NULL;
    return status;
}

gram_status gram_estimate_begin(gram_learning *learning, gram_estimate_state *state)
{
    gram_status status = GRAM_OK;
    const char *why = gram_estimate_obstacle(learning);
    *state = (gram_estimate_state){.way = GRAM_ESTIMATE_NONE};
    if (!gram_estimate_is_wanted(learning)) return status;
    if (why) {
        (void)snprintf(state->missing, sizeof state->missing, "%s", why);
        return status;
    }
    decide_as_asked(learning, asked(learning), state);
    TRY(deal(learning, state));
    if (state->way == GRAM_ESTIMATE_NONE) return status;
    forecast(learning, state);
    TRY(gram_left_out_begin(learning, &state->out));
    state->trail = (gram_search_trail){.arena = &learning->arena, .coarse = 1};
    if (state->anew && !state->joins) learning->trails.to = &state->trail;
    if (state->joins) TRY(tell_plan(learning));
    if (state->joins) TRY(forgive(learning->context, state, fit_first(learning, state)));
done:
    return status;
}

void gram_estimate_free(gram_estimate_state *state)
{
    if (state->first.context) gram_part_forget(&state->first);
    gram_left_out_free(&state->out);
    state->first = (gram_learning){0};
}

/* ---- after the fit ---- */

/* Leave-one-out predictions that the fit has; without them folds. */
static gram_status take_own(gram_learning *learning, gram_estimate_state *state)
{
    gram_status status = GRAM_OK;
    gram_left_out *out = &state->out;
    const char *what = "";
    double *f = NULL;
    TRY(gram_arena_take(learning->context, &out->arena, "estimate", out->n, sizeof *f, (void **)&f));
    if (learning->own) TRY(learning->method->fitted(learning, f, &what));
    if (strcmp(what, "leave-one-out prediction") != 0) {
        state->way = learning->n <= UNTUNED_MOST ? GRAM_ESTIMATE_FOLDS : GRAM_ESTIMATE_HOLDOUT;
        return status;
    }
    out->values = f;
    out->ld = out->columns.ld = out->columns.count = out->columns.outputs = 1;
    out->columns.spread = -1;
    out->rows = out->n;
done:
    return status;
}

/* Intervals of few rows need the fits of the folds. */
static int keeps_folds(const gram_learning *learning, const gram_estimate_state *state)
{
    return learning->n <= NESTED && state->folds <= 20 && learning->task == GRAM_TASK_REGRESSION &&
           learning->data->targets == 1 && !learning->method->intervals;
}

static gram_status leave_out(gram_learning *learning, gram_estimate_state *state)
{
    gram_status status = GRAM_OK;
    gram_found_numbers found = {0};
    if (state->way == GRAM_ESTIMATE_OWN) TRY(take_own(learning, state));
    if (state->way == GRAM_ESTIMATE_OWN || state->out.rows > 0) return status;
    if (!state->anew && !gram_part_found(learning, &found)) state->anew = 1;
    learning->trails = (gram_search_trails){.from = &state->trail};
    const gram_found_numbers *numbers = state->anew ? NULL : &found;
    if (state->way == GRAM_ESTIMATE_HOLDOUT)
        TRY(fit_held(learning, state, numbers, NULL));
    else
        TRY(gram_left_out_folds(&state->out, numbers, state->fold, 0, state->folds - 1, keeps_folds(learning, state)));
done:
    gram_kernel_release(found.kernel);
    return status;
}

/* What tuning says of itself comes from the fit that was tuned. */
static void keep_tuning(gram_keeper *keeper, const gram_model *tuned)
{
    static const char *const NAMES[] = {"tune",      "tuned_",   "cv_",         "evaluations",
                                        "criterion", "at_bound", "noise_prior", "kernel_choice"};
    for (int64_t i = 0; i < gram_model_fact_count(tuned); i++) {
        const gram_fact fact = gram_model_fact(tuned, i);
        for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++) {
            if (strncmp(fact.name, NAMES[k], strlen(NAMES[k])) != 0) continue;
            if (fact.kind == GRAM_FACT_TEXT)
                gram_keep_text(keeper, fact.name, fact.text);
            else if (fact.kind == GRAM_FACT_INTEGER)
                gram_keep_integer(keeper, fact.name, fact.integer);
            else
                gram_keep_number(keeper, fact.name, fact.number);
            break;
        }
    }
}

static void keep_error(gram_keeper *keeper, const char *name, double value, double se)
{
    char text[64];
    if (isnan(value)) return;
    (void)snprintf(text, sizeof text, "estimate_%s", name);
    gram_keep_number(keeper, text, value);
    (void)snprintf(text, sizeof text, "estimate_%s_se", name);
    if (!isnan(se)) gram_keep_number(keeper, text, se);
}

static void keep_errors(gram_keeper *keeper, const gram_learning *learning, const gram_estimate_state *state,
                        const gram_left_out_errors *e)
{
    const int tuned = learning->tuning != GRAM_TUNING_NONE || learning->numbers_found;
    gram_keep_text(keeper, "estimate_kind",
                   state->way == GRAM_ESTIMATE_OWN       ? "loo"
                   : state->way == GRAM_ESTIMATE_HOLDOUT ? "holdout"
                                                         : "folds");
    gram_keep_integer(keeper, "estimate_rows", e->rows);
    if (state->way == GRAM_ESTIMATE_FOLDS) gram_keep_integer(keeper, "estimate_folds", state->folds);
    gram_keep_text(keeper, "estimate_numbers", !tuned ? "given" : state->anew || state->joins ? "anew" : "shared");
    if (learning->groups || learning->ordered)
        gram_keep_text(keeper, "estimate_by", learning->ordered ? "order" : "groups");
    keep_error(keeper, "rmse", e->rmse, e->rmse_se);
    keep_error(keeper, "r2", e->r2, NAN);
    keep_error(keeper, "mae", e->mae, e->mae_se);
    keep_error(keeper, "nlpd", e->nlpd, e->nlpd_se);
    keep_error(keeper, "loss", e->loss, e->loss_se);
    keep_error(keeper, "accuracy", e->accuracy, e->accuracy_se);
    keep_error(keeper, "log_loss", e->log_loss, e->log_loss_se);
}

gram_status gram_estimate_end(gram_learning *learning, gram_estimate_state *state)
{
    gram_status status = GRAM_OK;
    gram_left_out_errors errors;
    gram_keeper keeper = {learning->context, learning->model, GRAM_OK};
    if (state->first.model && learning->numbers_found) keep_tuning(&keeper, state->first.model);
    if (state->way != GRAM_ESTIMATE_NONE) TRY(forgive(learning->context, state, leave_out(learning, state)));
    if (state->missing[0]) gram_keep_text(&keeper, "estimate_missing", state->missing);
    if (state->way == GRAM_ESTIMATE_NONE) return keeper.status;
    TRY(gram_left_out_judge(&state->out, &errors));
    if (errors.rows > 0) keep_errors(&keeper, learning, state, &errors);
    if (errors.rows > 0) TRY(gram_interval_keep(&keeper, &state->out, state->fold));
    TRY(gram_importance_keep(&keeper, &state->out));
    status = keeper.status;
done:
    return status;
}

gram_status gram_estimate_miss(gram_learning *learning, const char *why)
{
    gram_keeper keeper = {learning->context, learning->model, GRAM_OK};
    if (gram_estimate_is_wanted(learning)) gram_keep_text(&keeper, "estimate_missing", why);
    return keeper.status;
}
