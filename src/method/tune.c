/* Tuning: the kernel's free numbers and the ridge, by minimising a criterion with its gradient.
 *
 * A criterion has several minima (everything is noise; everything is signal), and an evaluation on all rows is dear: some
 * 2 n^3 operations. So the search climbs through samples of the rows, each within the next (levels.c):
 *
 *     1. On the smallest: a coarse grid, and descents from its local minima (starts.c).
 *     2. With one length-scale per column: from the isotropic optimum there, and from other starts around it.
 *     3. The best end goes through the larger samples. What is carried over is the noise n lambda: in the Gaussian-process
 *        reading it belongs to one observation, however many there are. On a small sample a column that matters little may
 *        be given up, and would not come back, because far out the derivative by its length vanishes; so before each larger
 *        sample lengths are pulled back to PULL ranges of their column.
 *
 * One length-scale per column is kept only if it lowers the criterion by more than extra numbers may do when there is
 * nothing to learn, as in Schwarz's criterion: log(n) extra/n on the log scale of an error. The isotropic kernel of the
 * smallest sample is only looked at on all rows, and taken through the samples itself if the comparison is not clear
 * (CLEAR). */
#include <math.h>
#include <string.h>

#include <gram/matrix.h>

#include "../kernel/kernel.h"
#include "tuning.h"

enum { ARD_COLUMNS = 30 };

/* Evaluations with gradient: of each descent on the smallest, the middle and the last sample. */
enum { SMALL_LIMIT = 30, MEDIUM_LIMIT = 25, LAST_LIMIT = 40 };

static const double LEAST_NOISE = 1e-10, MOST_NOISE = 100, FIRST_NOISE = 1e-2; /* of the mean diagonal of K */
static const double PULL = 30, CLEAR = 0.06;

/* ---- the climb ---- */

static int64_t limit_of(const gram_tuning *t, int which)
{
    if (which == t->last) return LAST_LIMIT;
    return which == 0 ? SMALL_LIMIT : MEDIUM_LIMIT;
}

static void pull_back(gram_candidate *c)
{
    const gram_space *space = &c->space;
    for (int64_t i = 0; i < space->count; i++) {
        const int64_t index = space->index[i];
        if (space->is_log[i] && space->is_length[index] && c->point[index] > PULL * space->extent[index])
            c->point[index] = PULL * space->extent[index];
    }
}

/* Through the larger samples. */
static gram_status climb(gram_tuning *t, gram_candidate *c)
{
    gram_status status = GRAM_OK;
    for (int which = 1; which <= t->last; which++) {
        TRY(gram_tuning_open_level(t, which));
        if (c->hold) pull_back(c);
        TRY(gram_candidate_descend(t, c, which, limit_of(t, which)));
    }
done:
    return status;
}

/* By how much the objective must be lower for so many more numbers. */
static double worth(const gram_tuning *t, int64_t extra)
{
    const gram_sample *sample = &t->levels[t->last].sample;
    const double n = (double)sample->n, each = log(n) / (n * (double)sample->outputs);
    return (t->rule.kind == GRAM_CRITERION_ML ? 0.5 : 1) * (double)extra * each;
}

/* Climbs with one length-scale per column and compares on all rows; *kept tells which one won. `one` ends there, too. */
static gram_status try_ard(gram_tuning *t, gram_candidate *one, gram_candidate *several, int *kept)
{
    gram_status status = GRAM_OK;
    const double needed = worth(t, several->space.count - one->space.count);
    TRY(gram_tuning_search_starts(t, several, 1, limit_of(t, 0)));
    if (t->last == 0) TRY(gram_candidate_look(t, several, 0));
    TRY(climb(t, several));
    if (t->last > 0) TRY(gram_candidate_look(t, one, t->last));
    if (t->last > 0 && several->objective > one->objective - needed - CLEAR) TRY(climb(t, one));
    *kept = several->objective < one->objective - needed;
done:
    return status;
}

/* ---- the start ---- */

/* Range and start of the noise, from the mean diagonal of K on the rows that are tuned on. */
static gram_status set_noise(gram_tuning *t, const gram_kernel *kernel)
{
    gram_status status = GRAM_OK;
    const gram_sample *sample = &t->levels[t->last].sample;
    double *diagonal = NULL, sum = 0;
    TRY(gram_take(t->context, "krr_tune: diagonal", sample->n, sizeof(double), (void **)&diagonal));
    TRY(gram_matrix_diagonal(t->context, kernel, sample->points, diagonal));
    for (int64_t i = 0; i < sample->n; i++) sum += fabs(diagonal[i]);
    t->noise_unit = sum > 0 && isfinite(sum) ? sum / (double)sample->n : 1;
    const double given = t->options.lambda * (double)t->count;
    t->noise_start = isnan(given) ? FIRST_NOISE * t->noise_unit : given;
    t->noise = (gram_noise_range){fmin(LEAST_NOISE * t->noise_unit, t->noise_start),
                                  fmax(MOST_NOISE * t->noise_unit, t->noise_start), t->options.lambda_fixed};
done:
    gram_give(t->context, diagonal, sample->n, sizeof(double));
    return status;
}

/* Of three levels of descents, most of the time is the last one's. */
static void expect(gram_tuning *t, int ard)
{
    t->expected = 0;
    for (int i = 0; i <= t->last; i++) {
        const double n = (double)t->levels[i].sample.n;
        t->expected += n * n * n * (double)limit_of(t, i) * (ard ? 1.5 : 0.7);
    }
}

static int wants_ard(const gram_tuning *t)
{
    return t->options.ard > 0 || (t->options.ard < 0 && t->given.x->d <= ARD_COLUMNS);
}

/* A matrix that is given by its entries has no rows to choose from. */
static int takes_subsets(const gram_kernel *kernel)
{
    if (kernel->node == GRAM_NODE_LEAF) return kernel->type->form != GRAM_FORM_INDEX;
    for (int i = 0; i < kernel->child_count; i++)
        if (!takes_subsets(kernel->children[i])) return 0;
    return 1;
}

/* ---- the whole ---- */

/* What came out: a new kernel, the noise and the figures. */
typedef struct outcome {
    gram_kernel *kernel;
    double noise;
    gram_tune_report report;
} outcome;

static gram_status take_outcome(gram_tuning *t, const gram_candidate *c, outcome *out)
{
    gram_kernel_release(out->kernel);
    out->kernel = NULL;
    out->noise = c->point[c->space.parameters];
    out->report.value = c->value;
    out->report.at_bound = gram_space_at_bound(&c->space, c->point);
    return gram_space_kernel(t->context, &c->space, c->point, &out->kernel);
}

/* After the isotropic search: one length-scale per column, if that makes a difference. */
static gram_status tune_ard(gram_tuning *t, gram_candidate *one, outcome *out)
{
    gram_status status = GRAM_OK;
    gram_kernel *ard = NULL;
    gram_candidate several = {.numbers = NULL};
    int kept = 0;
    TRY(gram_kernel_with_ard(t->context, out->kernel, t->given.x->d, &ard));
    if (gram_kernel_parameter_count(ard) == one->space.parameters) {
        TRY(climb(t, one));
        TRY(take_outcome(t, one, out));
        goto done;
    }
    t->noise_start = out->noise;
    TRY(gram_candidate_make(t, ard, 1, &several));
    TRY(try_ard(t, one, &several, &kept));
    TRY(take_outcome(t, kept ? &several : one, out));
    out->report.ard_kept = kept;
    out->report.value_isotropic = one->value;
done:
    gram_candidate_free(t, &several);
    gram_kernel_release(ard);
    return status;
}

/* With several lengths to come the isotropic search ends on the smallest sample: it is a start, and a rival that is hardly
 * ever near. */
static gram_status search(gram_tuning *t, gram_candidate *c, outcome *out)
{
    gram_status status = GRAM_OK;
    const int ard = wants_ard(t);
    expect(t, ard);
    TRY(gram_tuning_open_level(t, 0));
    TRY(gram_tuning_search_starts(t, c, 0, limit_of(t, 0)));
    if (t->last == 0) TRY(gram_candidate_look(t, c, 0));
    if (!ard) TRY(climb(t, c));
    TRY(take_outcome(t, c, out));
    if (ard) TRY(tune_ard(t, c, out));
done:
    return status;
}

/* Nothing to choose by: no error to lower, or too few rows. The start is the result. */
static gram_status keep_start(gram_tuning *t, gram_candidate *c, outcome *out)
{
    gram_status status = GRAM_OK;
    const int possible = t->levels[t->last].sample.n >= gram_criterion_least_rows(&t->rule);
    if (possible) {
        TRY(gram_tuning_open_level(t, t->last));
        TRY(gram_candidate_look(t, c, t->last));
    }
    TRY(take_outcome(t, c, out));
done:
    return status;
}

static gram_status tune(gram_tuning *t, const gram_kernel *kernel, outcome *out)
{
    gram_status status = GRAM_OK;
    gram_kernel *resolved = NULL;
    gram_candidate c = {.numbers = NULL};
    TRY(gram_tuning_make_levels(t, takes_subsets(kernel)));
    TRY(gram_kernel_resolve(t->context, kernel, t->levels[t->last].sample.points, &resolved));
    TRY(set_noise(t, resolved));
    TRY(gram_candidate_make(t, resolved, 0, &c));
    t->expected = 1;
    if (gram_tuning_is_flat(t, t->last) || c.space.count == 0 ||
        t->levels[t->last].sample.n < gram_criterion_least_rows(&t->rule))
        TRY(keep_start(t, &c, out));
    else if (t->options.grid > 0) {
        TRY(gram_tuning_open_level(t, t->last));
        TRY(gram_tuning_search_grid(t, &c));
        TRY(take_outcome(t, &c, out));
    } else
        TRY(search(t, &c, out));
done:
    gram_candidate_free(t, &c);
    gram_kernel_release(resolved);
    return status;
}

/* ---- the public function ---- */

static gram_status check(gram_context *context, const gram_kernel *kernel, const gram_given *given,
                         gram_kernel *const *tuned, const double *lambda)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "krr_tune: kernel is NULL");
    FAIL_IF(!tuned, context, GRAM_ERROR_ARGUMENT, "krr_tune: tuned is NULL");
    FAIL_IF(!lambda, context, GRAM_ERROR_ARGUMENT, "krr_tune: lambda is NULL");
    TRY(gram_given_check(context, "krr_tune", given));
    TRY(gram_kernel_check_dimension(context, kernel, given->x->d));
done:
    return status;
}

/* The caller hears of "tuning" as a whole, not of each matrix in it. */
static gram_status tune_quietly(gram_tuning *t, const gram_kernel *kernel, outcome *out)
{
    t->progress = t->context->progress;
    t->context->progress = NULL;
    const gram_status status = tune(t, kernel, out);
    t->context->progress = t->progress;
    return status;
}

gram_status gram_krr_tune(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t outputs,
                          const double *y, int64_t ldy, const gram_tune_options *options, gram_kernel **tuned,
                          double *lambda, gram_tune_report *report)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    if (tuned) *tuned = NULL;
    gram_tuning t = {.context = context};
    outcome out = {.report = {.size = sizeof out.report, .value = NAN, .value_isotropic = NAN}};
    TRY(gram_tune_options_read(context, "krr_tune", options, &t.options));
    t.given = (gram_given){x, outputs, y, ldy, t.options.weights};
    t.rule = (gram_criterion_rule){t.options.criterion, t.options.intercept, t.options.folds, t.options.grid == 0};
    TRY(check(context, kernel, &t.given, tuned, lambda));
    TRY(gram_given_rows(context, &t.given, &t.rows, &t.count));
    FAIL_IF(t.count == 0, context, GRAM_ERROR_DATA, "krr_tune: every weight is 0");
    TRY(tune_quietly(&t, kernel, &out));
    out.report.rows = t.levels[t.last].sample.n;
    out.report.evaluations = t.evaluations;
    *lambda = out.noise / (double)t.count;
    *tuned = out.kernel;
    out.kernel = NULL;
    if (report) *report = out.report;
    if (t.options.grid == 0 && t.evaluations >= t.options.evaluations) status = GRAM_NOT_CONVERGED;
done:
    gram_kernel_release(out.kernel);
    gram_tuning_free_levels(&t);
    if (x) gram_give(context, t.rows, x->n, sizeof *t.rows);
    return status;
}
