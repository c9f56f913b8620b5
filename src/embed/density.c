/* Densities with a name: log p, its gradient (the score), and its second derivatives by each coordinate.
 *
 *   Gaussians   log p = log sum_c w_c/|L_c| exp(-q_c/2),  q_c = |L_c^-1 (x - m_c)|^2
 *               score = -sum_c r_c v_c,  v_c = S_c^-1 (x - m_c),  r_c the share of c in the sum (taken off its largest term)
 *               second = sum_c r_c (v_c^2 - diag S_c^-1) - score^2
 *   student     log p = -(df + d)/2 log(1 + q/df),        score = -(df + d)/(df + q) S^-1 (x - m)
 *   banana      log p = -x1^2/(2 sd^2) - t^2/2 - sum_{l>2} x_l^2/2,   t = x2 + b (x1^2 - sd^2)
 *   logistic    log p = -sum_i log(1 + exp(-y_i x_i.z)) - |z|^2/(2 sd^2),   y = +-1
 *
 * Nothing is divided by a normalising constant. */
#include "embed/density.h"

#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "base/sweep.h"
#include "points/functionals.h"
#include "points/points.h"

/* ---- formulas ---- */

/* u = L^-1 (x - m), then back = S^-1 (x - m) = L'^-1 u; returns |u|^2. */
static double solve_component(const gram_component *c, int64_t d, const double *x, double *u, double *back)
{
    double square = 0;
    const double *L = c->factor;
    for (int64_t i = 0; i < d; i++) {
        u[i] = x[i] - c->mean[i];
        for (int64_t j = 0; j < i; j++) u[i] -= L[i * d + j] * u[j];
        u[i] /= L[i * d + i];
        square += u[i] * u[i];
    }
    for (int64_t i = d - 1; i >= 0; i--) {
        back[i] = u[i];
        for (int64_t j = i + 1; j < d; j++) back[i] -= L[j * d + i] * back[j];
        back[i] /= L[i * d + i];
    }
    return square;
}

/* A running sum of exponentials and their derivatives, kept relative to the largest term. */
double gram_density_mixture(const gram_density *density, const double *x, double *first, double *second, double *work)
{
    const int64_t d = density->d;
    double *u = work, *back = work + d, *mean = work + 2 * d, *bend = work + 3 * d, most = -INFINITY, sum = 0;
    memset(mean, 0, (size_t)(2 * d) * sizeof *mean);
    for (int64_t c = 0; c < density->count; c++) {
        const gram_component *component = &density->components[c];
        const double square = solve_component(component, d, x, u, back);
        const double term = component->log_weight - square / 2;
        const double larger = term > most ? term : most;
        const double before = exp(most - larger), now = exp(term - larger);
        sum = sum * before + now;
        for (int64_t l = 0; l < d; l++) {
            mean[l] = mean[l] * before + now * back[l];
            bend[l] = bend[l] * before + now * (back[l] * back[l] - component->precision[l]);
        }
        most = larger;
    }
    for (int64_t l = 0; first && l < d; l++) first[l] = -mean[l] / sum;
    for (int64_t l = 0; second && l < d; l++) second[l] = bend[l] / sum - first[l] * first[l];
    return most + log(sum);
}

double gram_density_student(const gram_density *density, const double *x, double *first, double *second, double *work)
{
    const int64_t d = density->d;
    const gram_component *component = &density->components[0];
    const double square = solve_component(component, d, x, work, work + d);
    const double power = density->df + (double)d, slope = power / (density->df + square);
    for (int64_t l = 0; first && l < d; l++) first[l] = -slope * work[d + l];
    for (int64_t l = 0; second && l < d; l++)
        second[l] = 2 * first[l] * first[l] / power - slope * component->precision[l];
    return -power / 2 * log1p(square / density->df);
}

double gram_density_banana(const gram_density *density, const double *x, double *first, double *second, double *work)
{
    (void)work;
    const double b = density->b, variance = density->sd * density->sd, t = x[1] + b * (x[0] * x[0] - variance);
    double sum = -x[0] * x[0] / (2 * variance) - t * t / 2;
    for (int64_t l = 2; l < density->d; l++) sum -= x[l] * x[l] / 2;
    for (int64_t l = 2; first && l < density->d; l++) first[l] = -x[l];
    for (int64_t l = 1; second && l < density->d; l++) second[l] = -1;
    if (second) second[0] = -1 / variance - 2 * b * t - 4 * b * b * x[0] * x[0];
    if (!first) return sum;
    first[0] = -x[0] / variance - 2 * b * x[0] * t;
    first[1] = -t;
    return sum;
}

/* log(1 + e^-a) without overflow */
static double logistic_loss(double a)
{
    return a > 0 ? log1p(exp(-a)) : -a + log1p(exp(a));
}

static double logistic_posterior(const gram_density *density, const double *z, double *first, double *second,
                                 double *work)
{
    (void)work;
    const int64_t d = density->d;
    const double precision = 1 / (density->sd * density->sd);
    double sum = 0;
    for (int64_t l = 0; l < d; l++) {
        sum -= precision * z[l] * z[l] / 2;
        if (first) first[l] = -precision * z[l];
        if (second) second[l] = -precision;
    }
    for (int64_t i = 0; i < density->count; i++) {
        const double *x = density->x + i * d, y = density->sign[i];
        double a = 0;
        for (int64_t l = 0; l < d; l++) a += x[l] * z[l];
        sum -= logistic_loss(y * a);
        const double chance = 1 / (1 + exp(y * a)); /* of the other label */
        for (int64_t l = 0; first && l < d; l++) first[l] += y * chance * x[l];
        for (int64_t l = 0; second && l < d; l++) second[l] -= chance * (1 - chance) * x[l] * x[l];
    }
    return sum;
}

/* ---- the object ---- */

gram_status gram_density_new(gram_context *context, const char *name, int64_t d, gram_density **density)
{
    gram_status status = GRAM_OK;
    gram_density *made = NULL;
    TRY(gram_take(context, "density", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    gram_arena_init(&made->arena, made->memory);
    made->name = name;
    made->d = d;
    made->work_numbers = 5 * d;
    *density = made;
done:
    return status;
}

void gram_density_destroy(gram_density *density)
{
    if (!density) return;
    gram_memory *memory = density->memory;
    gram_arena_release(&density->arena);
    gram_memory_give(memory, density);
    gram_memory_release(memory);
}

const char *gram_density_name(const gram_density *density)
{
    return density ? density->name : "";
}

static gram_status check_logistic(gram_context *context, int64_t n, int64_t d, const double *x, int64_t ldx,
                                  const double *labels, double sd)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    FAIL_IF(n < 1 || d < 1, context, GRAM_ERROR_ARGUMENT, "density_logistic: n = %lld, d = %lld, need at least 1",
            (long long)n, (long long)d);
    FAIL_IF(!x || !labels, context, GRAM_ERROR_ARGUMENT, "density_logistic: %s is NULL", !x ? "x" : "labels");
    FAIL_IF(ldx < d, context, GRAM_ERROR_ARGUMENT, "density_logistic: ldx = %lld is less than d = %lld", (long long)ldx,
            (long long)d);
    FAIL_IF(!(sd > 0 && isfinite(sd)), context, GRAM_ERROR_ARGUMENT, "density_logistic: sd = %s, need a number above 0",
            gram_number_format(sd, shown));
    for (int64_t i = 0; i < n; i++) {
        FAIL_IF(labels[i] != 0 && labels[i] != 1, context, GRAM_ERROR_DATA,
                "density_logistic: labels[%lld] = %s is neither 0 nor 1", (long long)i,
                gram_number_format(labels[i], shown));
        for (int64_t l = 0; l < d; l++)
            FAIL_IF(!isfinite(x[i * ldx + l]), context, GRAM_ERROR_DATA, "density_logistic: x[%lld][%lld] is %s",
                    (long long)i, (long long)l, gram_number_format(x[i * ldx + l], shown));
    }
done:
    return status;
}

gram_status gram_density_logistic(gram_context *context, int64_t n, int64_t d, const double *x, int64_t ldx,
                                  const double *labels, double sd, gram_density **density)
{
    gram_status status = GRAM_OK;
    gram_density *made = NULL;
    double *copy, *sign;
    int64_t numbers = 0;
    if (!context || !density) return GRAM_ERROR_ARGUMENT;
    *density = NULL;
    TRY(check_logistic(context, n, d, x, ldx, labels, sd));
    FAIL_IF(!gram_size_multiply(n, d, &numbers), context, GRAM_ERROR_OVERFLOW,
            "density_logistic: %lld x %lld numbers are more than can be addressed", (long long)n, (long long)d);
    TRY(gram_density_new(context, "logistic", d, &made));
    TRY(gram_arena_take(context, &made->arena, "density", numbers, sizeof(double), (void **)&copy));
    TRY(gram_arena_take(context, &made->arena, "density", n, sizeof(double), (void **)&sign));
    for (int64_t i = 0; i < n; i++) {
        memcpy(copy + i * d, x + i * ldx, (size_t)d * sizeof *copy);
        sign[i] = labels[i] == 1 ? 1 : -1;
    }
    made->evaluate = logistic_posterior;
    made->count = n;
    made->x = copy;
    made->sign = sign;
    made->sd = sd;
    *density = made;
    made = NULL;
done:
    gram_density_destroy(made);
    return status;
}

/* ---- over points ---- */

enum { POINTS = 128 };

typedef struct evaluation {
    const gram_density *density;
    const gram_points *x;
    double *log, *score, *second;
    int64_t ldo;
} evaluation;

static gram_status evaluate_task(void *argument, const gram_worker *worker)
{
    const evaluation *job = argument;
    const int64_t d = job->density->d, first = worker->task * POINTS;
    double *x = worker->scratch;
    for (int64_t i = first; i < first + POINTS && i < job->x->n; i++) {
        for (int64_t l = 0; l < d; l++) x[l] = gram_points_at(job->x, i, l);
        double *second = job->second ? job->second + i * job->ldo : NULL;
        double *score = job->score ? job->score + i * job->ldo : second ? x + 5 * d : NULL;
        const double value = job->density->evaluate(job->density, x, score, second, x + d);
        if (job->log) job->log[i] = value;
    }
    return GRAM_OK;
}

static gram_status evaluate(gram_context *context, const char *function, const gram_density *density,
                            const gram_points *x, const evaluation *out)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!density || !x, context, GRAM_ERROR_ARGUMENT, "%s: %s is NULL", function, !density ? "density" : "x");
    FAIL_IF(!out->log && !out->score && !out->second, context, GRAM_ERROR_ARGUMENT, "%s: out is NULL", function);
    TRY(gram_points_must_be_plain(context, function, x));
    FAIL_IF(x->d != density->d, context, GRAM_ERROR_DIMENSION,
            "%s: the density is on R^%lld, the points have %lld columns", function, (long long)density->d,
            (long long)x->d);
    FAIL_IF(!out->log && out->ldo < x->d, context, GRAM_ERROR_ARGUMENT, "%s: ldo = %lld is less than the %lld columns",
            function, (long long)out->ldo, (long long)x->d);
    evaluation job = {density, x, out->log, out->score, out->second, out->ldo};
    const gram_sweep sweep = {.what = "scores",
                              .tasks = (x->n + POINTS - 1) / POINTS,
                              .scratch_bytes = (size_t)(density->d + density->work_numbers) * sizeof(double),
                              .run = evaluate_task,
                              .argument = &job};
    TRY(gram_sweep_run(context, &sweep));
done:
    return status;
}

gram_status gram_density_score(gram_context *context, const gram_density *density, const gram_points *x, double *out,
                               int64_t ldo)
{
    const evaluation job = {.score = out, .ldo = ldo};
    return context ? evaluate(context, "density_score", density, x, &job) : GRAM_ERROR_ARGUMENT;
}

gram_status gram_density_log(gram_context *context, const gram_density *density, const gram_points *x, double *out)
{
    const evaluation job = {.log = out};
    return context ? evaluate(context, "density_log", density, x, &job) : GRAM_ERROR_ARGUMENT;
}

gram_status gram_density_second(gram_context *context, const gram_density *density, const gram_points *x, double *out,
                                int64_t ldo)
{
    const evaluation job = {.second = out, .ldo = ldo};
    return context ? evaluate(context, "density_second", density, x, &job) : GRAM_ERROR_ARGUMENT;
}
