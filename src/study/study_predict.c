/* What a study's model says: predictions, and how much each variable matters. */
#include <math.h>
#include <string.h>

#include "study/study_core.h"

enum { SAMPLE = 1024 };
static const uint64_t FIRST_DESIGN = 1000001, SECOND_DESIGN = 1000002;

static gram_status encode_all(gram_context *context, const gram_study *study, int64_t count, const double *x, double *u)
{
    gram_status status = GRAM_OK;
    const gram_domain *space = &study->space;
    for (int64_t i = 0; i < count; i++) {
        TRY(gram_domain_check(context, "study_predict", space, x + i * space->count));
        gram_domain_encode(space, x + i * space->count, u + i * space->columns);
    }
done:
    return status;
}

static gram_status acquire(gram_context *context, gram_study *study, int64_t count, const double *u, double *out)
{
    gram_status status = GRAM_OK;
    gram_acquisition acquisition = {0};
    TRY(gram_study_open(context, study, &acquisition));
    TRY(gram_acquisition_values(context, &acquisition, count, u, out));
done:
    gram_study_close(context, study, &acquisition);
    return status;
}

gram_status gram_study_predict(gram_context *context, gram_study *study, int64_t count, const double *x, double *mean,
                               double *deviation, double *acquisition)
{
    gram_status status = GRAM_OK;
    double *u = NULL;
    if (!context || !study || !x) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(count < 1, context, GRAM_ERROR_ARGUMENT, "study_predict: count = %lld, need at least 1", (long long)count);
    const int64_t columns = study->space.columns;
    const gram_surrogate *s = &study->objective;
    TRY(gram_take(context, "study_predict", count * (columns + 2), sizeof *u, (void **)&u));
    double *means = u + count * columns, *variances = means + count;
    TRY(encode_all(context, study, count, x, u));
    TRY(gram_study_learn(context, study));
    TRY(gram_surrogate_predict(context, s, count, u, means, variances));
    for (int64_t i = 0; i < count; i++) {
        const double value = gram_surrogate_value(s, means[i]);
        if (mean) mean[i] = study->options.maximize ? -value : value;
        if (deviation) deviation[i] = s->scale * sqrt(variances[i]);
    }
    if (acquisition) TRY(acquire(context, study, count, u, acquisition));
done:
    gram_give(context, u);
    return status;
}

/* E (m(a) - m(a with variable v of b))^2/2: what of the variance is lost without v. */
static gram_status lost_without(gram_context *context, const gram_study *study, const gram_domain_variable *v,
                                const double *b, double *a, const double *mean, double *work, double *lost)
{
    gram_status status = GRAM_OK;
    const int64_t columns = study->space.columns;
    double *kept = work, *moved = work + SAMPLE * v->columns, *variances = moved + SAMPLE;
    const size_t bytes = (size_t)v->columns * sizeof *a;
    for (int64_t i = 0; i < SAMPLE; i++) {
        memcpy(kept + i * v->columns, a + i * columns + v->column, bytes);
        memcpy(a + i * columns + v->column, b + i * columns + v->column, bytes);
    }
    TRY(gram_surrogate_predict(context, &study->objective, SAMPLE, a, moved, variances));
    *lost = 0;
    for (int64_t i = 0; i < SAMPLE; i++) {
        *lost += (moved[i] - mean[i]) * (moved[i] - mean[i]) / (2 * SAMPLE);
        memcpy(a + i * columns + v->column, kept + i * v->columns, bytes);
    }
done:
    return status;
}

gram_status gram_study_importance(gram_context *context, gram_study *study, double *out)
{
    gram_status status = GRAM_OK;
    double *a = NULL, sum = 0, squares = 0;
    if (!context || !study || !out) return GRAM_ERROR_ARGUMENT;
    const gram_domain *space = &study->space;
    const int64_t size = SAMPLE * space->columns;
    TRY(gram_study_learn(context, study));
    TRY(gram_take(context, "study_importance", 3 * size + 4 * SAMPLE, sizeof *a, (void **)&a));
    double *b = a + size, *mean = b + size, *work = mean + SAMPLE;
    TRY(gram_domain_design(context, space, study->options.seed, FIRST_DESIGN, SAMPLE, 1, a));
    TRY(gram_domain_design(context, space, study->options.seed, SECOND_DESIGN, SAMPLE, 1, b));
    TRY(gram_surrogate_predict(context, &study->objective, SAMPLE, a, mean, work));
    for (int64_t i = 0; i < SAMPLE; i++) sum += mean[i] / SAMPLE;
    for (int64_t i = 0; i < SAMPLE; i++) squares += (mean[i] - sum) * (mean[i] - sum) / SAMPLE;
    for (int64_t l = 0; l < space->count; l++) {
        TRY(lost_without(context, study, space->variables + l, b, a, mean, work, out + l));
        out[l] = squares > 0 ? fmin(out[l] / squares, 1) : 0;
    }
done:
    gram_give(context, a);
    return status;
}
