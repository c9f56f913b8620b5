/* What to use in the end: the point where the model's mean is least; and how much better another can be.
 *
 * The bound on the regret is that of A. Makarova et al., Automatic termination for hyperparameter optimization (AutoML 2022): f lies above mean - kappa
 * deviations everywhere and below mean + kappa deviations at the point recommended, as far as the model can be believed. */
#include <math.h>
#include <string.h>

#include "study/study_core.h"

/* Where mean - kappa deviations is least: u, and *value, which is less that, standardised. */
static gram_status search_bound(gram_context *context, const gram_study *study, int64_t best, double kappa, double *u,
                                double *value)
{
    gram_status status = GRAM_OK;
    const gram_domain *space = &study->space;
    const int64_t columns = space->columns, rows = study->options.candidate_count;
    const gram_acquisition_request request = {
        .kind = GRAM_ACQUISITION_BOUND, .objective = &study->objective, .feasible = 1, .kappa = kappa};
    gram_acquisition mean = {0};
    unsigned char *taken = NULL;
    double *box = NULL;
    int64_t row;
    TRY(gram_acquisition_make(context, &request, &mean));
    TRY(gram_take(context, "study_recommend", 3 * columns, sizeof *box, (void **)&box));
    for (int64_t l = 0; l < 2 * columns; l++) box[l] = l >= columns;
    gram_domain_encode(space, gram_study_point(study, best), box + 2 * columns);
    const gram_search search = {.space = space,
                                .acquisition = &mean,
                                .lower = box,
                                .upper = box + columns,
                                .centre = box + 2 * columns,
                                .seed = study->options.seed,
                                .which = (uint64_t)study->count};
    if (rows == 0) {
        TRY(gram_search_box(context, &search, u, value));
        goto done;
    }
    TRY(gram_take(context, "study_recommend", rows, 1, (void **)&taken));
    memset(taken, 0, (size_t)rows);
    TRY(gram_search_rows(context, &search, rows, study->candidate_cube, taken, &row, value));
    memcpy(u, study->candidate_cube + row * columns, (size_t)columns * sizeof *u);
done:
    gram_give(context, taken);
    gram_give(context, box);
    gram_acquisition_free(context, &mean);
    return status;
}

gram_status gram_study_recommend(gram_context *context, gram_study *study, double *x, double *mean, double *deviation)
{
    gram_status status = GRAM_OK;
    double *u = NULL, value;
    if (!context || !study || !x) return GRAM_ERROR_ARGUMENT;
    TRY(gram_study_learn(context, study));
    const int64_t best = gram_study_best(study);
    FAIL_IF(best < 0, context, GRAM_ERROR_ARGUMENT, "study_recommend: no point keeps the constraints yet");
    memcpy(x, gram_study_point(study, best), (size_t)study->space.count * sizeof *x);
    if (gram_study_is_noisy(study) && study->options.constraints == 0) {
        TRY(gram_take(context, "study_recommend", study->space.columns, sizeof *u, (void **)&u));
        TRY(search_bound(context, study, best, 0, u, &value));
        gram_domain_decode(&study->space, u, x);
    }
    TRY(gram_study_predict(context, study, 1, x, mean, deviation, NULL));
done:
    gram_give(context, u);
    return status;
}

gram_status gram_study_regret(gram_context *context, gram_study *study, double *bound)
{
    gram_status status = GRAM_OK;
    const gram_surrogate *s = study ? &study->objective : NULL;
    double *u = NULL, value, mean, deviation;
    if (!context || !study || !bound) return GRAM_ERROR_ARGUMENT;
    *bound = NAN;
    FAIL_IF(study->options.constraints > 0, context, GRAM_ERROR_UNSUPPORTED,
            "study_regret: no bound is known with constraints");
    TRY(gram_study_learn(context, study));
    TRY(gram_take(context, "study_regret", study->space.columns + study->space.count, sizeof *u, (void **)&u));
    TRY(gram_study_recommend(context, study, u + study->space.columns, &mean, &deviation));
    TRY(search_bound(context, study, gram_study_best(study), study->options.kappa, u, &value));
    const double upper = (study->options.maximize ? -mean : mean) + study->options.kappa * deviation;
    *bound = fmax(upper - gram_surrogate_value(s, -value), 0);
done:
    gram_give(context, u);
    return status;
}
