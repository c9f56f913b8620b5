/* What the fits of all methods share: messages, plans, folds, kernels without tuning. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "method/method.h"
#include <gram/text.h>

/* ---- messages ---- */

gram_status gram_learning_fail(gram_learning *learning, gram_status status, const char *advice, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)gram_fail_spoken_list(learning->context, status, (gram_speech){learning->who, learning->dashes}, advice,
                                format, arguments);
    va_end(arguments);
    return status;
}

gram_status gram_learning_fail_data(gram_learning *learning, const char *advice, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)gram_fail_spoken_list(learning->context, GRAM_ERROR_DATA, (gram_speech){learning->source, learning->dashes},
                                advice, format, arguments);
    va_end(arguments);
    return GRAM_ERROR_DATA;
}

gram_status gram_predictor_fail(gram_context *context, const gram_predictor *predictor, gram_status status,
                                const char *advice, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)gram_fail_spoken_list(context, status, (gram_speech){predictor->wish.who, predictor->wish.dashes}, advice,
                                format, arguments);
    va_end(arguments);
    return status;
}

/* ---- memory and plans ---- */

gram_status gram_learning_take(gram_learning *learning, int64_t count, size_t size, void *out)
{
    void *block = NULL;
    const gram_status status = gram_arena_take(learning->context, &learning->arena, learning->who, count, size, &block);
    memcpy(out, &block, sizeof block);
    return status;
}

/* What comes on top of one solve: the search, and for the error on new rows the same for some of them. */
static double tuning_seconds(const gram_learning *learning, double solve, size_t *bytes)
{
    const double n = (double)learning->n, share = learning->more_share;
    const int tunes = learning->tuning != GRAM_TUNING_NONE && learning->method->tuning_cost;
    double most = 0, first = 0, more = 0, ignored = 0;
    if (tunes) learning->method->tuning_cost(learning, n, &most, &first);
    if (tunes && learning->more_fits > 0) learning->method->tuning_cost(learning, share * n, &ignored, &more);
    if (most > (double)*bytes) *bytes = (size_t)most;
    return first + learning->more_fits * (learning->more_cost * more + share * share * share * solve);
}

/* A fit keeps its budget, so it takes no more than what is left of that. */
void gram_learning_plan(gram_learning *learning, const char *words, size_t bytes, double seconds, const char *reason)
{
    const size_t budget = gram_memory_budget(learning->context->memory);
    const size_t used = gram_memory_used(learning->context->memory), left = budget > used ? budget - used : 0;
    const double solve = seconds, tuning = tuning_seconds(learning, solve, &bytes);
    if (budget > 0 && bytes > left) bytes = left;
    const gram_learn_plan plan = {.words = words,
                                  .reason = reason,
                                  .n = learning->n,
                                  .d = learning->data->d,
                                  .bytes = bytes,
                                  .seconds = solve + tuning,
                                  .tunes = learning->tuning != GRAM_TUNING_NONE,
                                  .tuning_seconds = tuning};
    if (learning->tell) learning->tell(learning->tell_user, &plan);
}

gram_status gram_learning_room(gram_learning *learning, double bytes, const char *advice, const char *what)
{
    char size[GRAM_BYTES_SIZE];
    const size_t budget = gram_memory_budget(learning->context->memory);
    if (budget == 0 || bytes <= (double)budget) return GRAM_OK;
    return gram_learning_fail(learning, GRAM_ERROR_BUDGET, advice, "%s %" PRId64 " rows needs about %s", what,
                              learning->n, gram_bytes_format((size_t)fmin(bytes, 1e18), size));
}

/* ---- the data ---- */

const char *gram_learning_target(const gram_learning *learning)
{
    return gram_preparation_describe(learning->preparation)->targets[0].name;
}

int64_t gram_learning_row(const gram_learning *learning, int64_t row)
{
    const gram_prepared *data = learning->data;
    return learning->first_row + (data->first ? data->first[row] : data->rows ? data->rows[row] : row) + 1;
}

gram_status gram_learning_one_target(gram_learning *learning, const char *who, const char *advice)
{
    if (learning->data->targets == 1) return GRAM_OK;
    return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, advice, "%s learns one target, not %" PRId64, who,
                              learning->data->targets);
}

/* ---- choices ---- */

double gram_learning_noise(const gram_learning *learning, const gram_ridge_settings *ridge)
{
    if (!isnan(ridge->lambda)) return ridge->lambda * (double)learning->n;
    return isnan(ridge->noise) ? ridge->alpha : ridge->noise;
}

gram_status gram_learning_check_ridge(gram_learning *learning, const gram_ridge_settings *ridge)
{
    const char *name = ridge->lambda == 0 ? "lambda" : ridge->noise == 0 ? "noise" : ridge->alpha == 0 ? "alpha" : NULL;
    if (!name) return GRAM_OK;
    return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "It must be above 0 here.", "--%s '0' is not allowed",
                              name);
}

gram_status gram_learning_check_norm(gram_learning *learning, const gram_ridge_settings *ridge, double norm)
{
    if (isnan(norm) || (isnan(ridge->lambda) && isnan(ridge->noise) && isnan(ridge->alpha))) return GRAM_OK;
    return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Each strength has a ball that belongs to it.",
                              "give one of --lambda (--noise, --alpha) and --norm");
}

int gram_learning_was_tuned(const gram_learning *learning)
{
    return learning->tuning != GRAM_TUNING_NONE || learning->numbers_found;
}

static int has_kernel(const gram_learning *learning)
{
    const char *text = gram_given_text(learning, "kernel");
    return learning->asked || (text && strcmp(text, "auto") != 0);
}

int gram_learning_ard(const gram_learning *learning)
{
    const gram_tuned_settings *tuned = learning->settings;
    if (tuned->ard >= 0) return tuned->ard;
    return has_kernel(learning) ? 0 : -1;
}

/* Folds of groups or of time are not what families are compared by, and fewer rows tell nothing of them. */
int gram_learning_chooses_kernel(const gram_learning *learning)
{
    enum { LEAST_ROWS = 20 };
    return !has_kernel(learning) && learning->tuning != GRAM_TUNING_NONE && !learning->before && !learning->initial &&
           !learning->functionals && !learning->streamed && !learning->data->objects && !learning->groups &&
           !learning->ordered && !learning->trails.from && learning->n >= LEAST_ROWS;
}

gram_status gram_learning_set_written(gram_learning *learning, const char *text)
{
    gram_kernel *kernel = NULL;
    const gram_status status = gram_kernel_parse(learning->context, text, &kernel);
    if (status < 0) return status;
    gram_kernel_release(learning->written);
    learning->written = kernel;
    return status;
}

int64_t gram_learning_folds(const gram_learning *learning)
{
    enum { FOLDS = 5 };
    const gram_tuned_settings *tuned = learning->settings;
    if (tuned->tune.number > 0) return tuned->tune.number;
    return learning->n / 2 < FOLDS ? learning->n / 2 : FOLDS;
}

int64_t gram_learning_tuning_rows(const gram_learning *learning, int64_t matrices)
{
    enum { MOST = 3000, LEAST = 100 };
    const size_t budget = gram_memory_budget(learning->context->memory);
    const double rows = sqrt((double)budget / (2 * (double)matrices * sizeof(double)));
    return budget == 0 || rows > MOST ? MOST : rows < LEAST ? LEAST : (int64_t)rows;
}

gram_status gram_learning_resolve(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    gram_paired *second = &learning->second;
    TRY(gram_kernel_resolve(learning->context, learning->written, learning->points, &learning->kernel));
    if (second->written) TRY(gram_kernel_resolve(learning->context, second->written, second->points, &second->kernel));
done:
    return status;
}

int gram_learning_is_near(double tolerance, double missed)
{
    return isnan(tolerance) && missed <= 1e-6;
}

static int is_amplitude(const gram_parameter *parameter)
{
    return strncmp(parameter->name, "const", 5) == 0;
}

gram_status gram_learning_set_amplitudes(gram_context *context, const gram_kernel *kernel, double variance,
                                         int64_t *count, gram_kernel **out)
{
    gram_status status = GRAM_OK;
    gram_parameter parameter;
    const int64_t parameters = gram_kernel_parameter_count(kernel);
    double *values = NULL;
    TRY(gram_take(context, "amplitudes", parameters + 1, sizeof *values, (void **)&values));
    *count = 0;
    for (int64_t i = 0; i < parameters; i++) {
        TRY(gram_kernel_parameter_get(context, kernel, i, &parameter));
        *count += is_amplitude(&parameter);
        values[i] = is_amplitude(&parameter) && !parameter.set ? variance : parameter.value;
    }
    TRY(gram_kernel_with_values(context, kernel, values, out));
done:
    gram_give(context, values);
    return status;
}

const char *gram_task_name(gram_task task)
{
    static const char *const names[GRAM_TASK_COUNT] = {"auto",      "regression", "classification",
                                                       "one-class", "transform",  "cluster"};
    return (int)task >= 0 && (int)task < GRAM_TASK_COUNT ? names[task] : "unknown";
}
