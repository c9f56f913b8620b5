/* The fit of Laplace's approximation, and what it predicts. */
#include "method/laplace/laplace_fit.h"

#include <math.h>
#include <string.h>

#include "points/functionals.h"
#include "points/points.h"

enum { DRAWS = 2048 };

struct gram_laplace {
    gram_memory *memory;
    gram_function *function; /* the mode */
    gram_function *mean;     /* of the posterior */
    gram_likelihood_rule rule;
    int64_t n, outputs;
    gram_curvature h;
    gram_softmax_curvature g;
    gram_laplace_rows rows; /* none: marginals are Gaussian */
    gram_laplace_report report;
};

static void report(const gram_laplace_state *s, gram_laplace_report *r)
{
    *r = (gram_laplace_report){.size = sizeof *r,
                               .n = s->n,
                               .d = s->problem.d,
                               .outputs = s->outputs,
                               .likelihood = s->rule.kind,
                               .log_evidence = s->log_evidence,
                               .log_likelihood = s->log_likelihood,
                               .optimality = s->optimality,
                               .norm = sqrt(fmax(0, s->quadratic)),
                               .iterations = s->iterations,
                               .negative = s->h.m,
                               .jitter = s->jitter};
}

/* The posterior mean: the mode, or where every row's tilted mean is. */
static gram_status make_mean(gram_context *context, const gram_laplace_state *s, gram_laplace *made)
{
    gram_status status = GRAM_OK;
    const int64_t m = s->outputs;
    double *several = NULL;
    if (!s->options.correction || s->rule.kind == GRAM_LIKELIHOOD_STUDENT) {
        made->mean = gram_function_retain(made->function);
        return GRAM_OK;
    }
    if (m == 1) {
        TRY(gram_laplace_rows_take(context, s->n, &made->rows));
        TRY(gram_laplace_match(context, s, &made->rows, &made->report.mismatch));
    } else {
        TRY(gram_take(context, "laplace_fit", s->n * m, sizeof(double), (void **)&several));
        TRY(gram_laplace_match_softmax(context, s, several, &made->report.mismatch));
    }
    TRY(gram_function_create(context, s->problem.kernel, s->problem.x, m, m == 1 ? made->rows.a : several, m, NULL,
                             &made->mean));
done:
    gram_give(context, several);
    return status;
}

/* Variances of Student-t. Its curvature at the mode is below 0 at outliers, and where K^-1 + W is nearly singular variances by it
 * mean nothing; its mean under the law itself, (nu + 1)/((nu + 3) scale^2) (Fisher's information), is above 0. */
static gram_status use_fisher(gram_context *context, gram_laplace_state *s)
{
    gram_status status = GRAM_OK;
    const double nu = s->rule.nu, scale = s->rule.scale;
    int definite;
    if (s->rule.kind != GRAM_LIKELIHOOD_STUDENT) return GRAM_OK;
    for (int64_t i = 0; i < s->n; i++) s->curvature[i] = (nu + 1) / (nu + 3) / scale / scale;
    gram_curvature_free(context->memory, &s->h);
    TRY(gram_curvature_make(context, &s->k, s->curvature, &s->h, &definite));
done:
    return status;
}

/* The curvature moves from the state to the fit. */
static gram_status take_over(gram_context *context, gram_laplace_state *s, gram_laplace **out)
{
    gram_status status = GRAM_OK;
    gram_laplace *made = NULL;
    TRY(gram_take(context, "laplace_fit", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    made->rule = s->rule;
    made->n = s->n;
    made->outputs = s->outputs;
    TRY(gram_function_create(context, s->problem.kernel, s->problem.x, s->outputs, s->a, s->outputs, NULL,
                             &made->function));
    report(s, &made->report);
    TRY(use_fisher(context, s));
    TRY(make_mean(context, s, made));
    made->h = s->h;
    made->g = s->g;
    memset(&s->h, 0, sizeof s->h);
    memset(&s->g, 0, sizeof s->g);
    *out = made;
    made = NULL;
done:
    gram_laplace_destroy(made);
    return status;
}

gram_status gram_laplace_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                             const gram_laplace_options *options, gram_laplace **laplace)
{
    gram_status status = GRAM_OK;
    gram_laplace_options known;
    gram_laplace_state s = {0};
    if (!context || !laplace) return GRAM_ERROR_ARGUMENT;
    *laplace = NULL;
    TRY(gram_laplace_options_read(context, "laplace_fit", "options", options, &known));
    TRY(gram_laplace_state_make(context, "laplace_fit", kernel, x, y, &known, &s));
    TRY(take_over(context, &s, laplace));
    if (!s.converged) status = GRAM_NOT_CONVERGED;
done:
    gram_laplace_state_free(context, &s);
    return status;
}

void gram_laplace_destroy(gram_laplace *laplace)
{
    if (!laplace) return;
    gram_memory *memory = laplace->memory;
    gram_function_release(laplace->function);
    gram_function_release(laplace->mean);
    gram_curvature_free(memory, &laplace->h);
    gram_softmax_curvature_free(memory, &laplace->g);
    gram_laplace_rows_free(memory, &laplace->rows);
    gram_memory_give(memory, laplace);
    gram_memory_release(memory);
}

const gram_laplace_report *gram_laplace_get_report(const gram_laplace *laplace)
{
    return &laplace->report;
}

gram_function *gram_laplace_function(const gram_laplace *laplace)
{
    return laplace->function;
}

gram_function *gram_laplace_mean(const gram_laplace *laplace)
{
    return laplace->mean;
}

/* ---- the latent functions at new points ---- */

/* Numbers that a chunk of `room` points works with. */
static int64_t chunk_numbers(const gram_laplace *l, int64_t room)
{
    return (l->outputs > 1 ? l->outputs + 2 : 1) * l->n * room + room;
}

/* Variances, or covariances of the classes, of one chunk. */
static gram_status chunk_variance(gram_context *context, const gram_laplace *l, const gram_points *part, double *work,
                                  double *out)
{
    gram_status status = GRAM_OK;
    const int64_t count = part->n;
    double *k = work, *diagonal = work + l->n * count;
    gram_kernel *kernel = gram_function_kernel(l->function);
    TRY(gram_matrix(context, kernel, gram_function_centres(l->function), part, k, count));
    TRY(gram_matrix_diagonal(context, kernel, part, diagonal));
    if (l->outputs > 1) {
        TRY(gram_softmax_curvature_covariance(context, &l->g, count, k, diagonal, diagonal + count, out));
        goto done;
    }
    TRY(gram_curvature_quadratic(context, &l->h, count, k, out));
    for (int64_t j = 0; j < count; j++) out[j] = fmax(0, diagonal[j] - out[j]);
done:
    return status;
}

static gram_status check_points(gram_context *context, const char *name, const gram_laplace *l,
                                const gram_points *points, const double *out)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!l || !points || !out, context, GRAM_ERROR_ARGUMENT, "%s: %s is NULL", name,
            !l        ? "laplace"
            : !points ? "points"
                      : "an output");
    TRY(gram_points_must_be_plain(context, name, points));
    FAIL_IF(points->d != l->report.d, context, GRAM_ERROR_DIMENSION, "%s: points of %lld columns, the fit had %lld",
            name, (long long)points->d, (long long)l->report.d);
done:
    return status;
}

gram_status gram_laplace_latent(gram_context *context, const gram_laplace *laplace, const gram_points *points,
                                double *mean, double *variance)
{
    gram_status status = GRAM_OK;
    double *work = NULL;
    gram_points *part = NULL;
    int64_t room = 0;
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(check_points(context, "laplace_latent", laplace, points, mean));
    const int64_t m = laplace->outputs, each = m > 1 ? m * m : 1;
    TRY(gram_function_evaluate(context, laplace->mean, points, mean, m));
    if (!variance) goto done;
    room = points->n < GRAM_LAPLACE_CHUNK ? points->n : GRAM_LAPLACE_CHUNK;
    TRY(gram_take(context, "laplace: a chunk of points", chunk_numbers(laplace, room), sizeof(double), (void **)&work));
    for (int64_t first = 0; first < points->n; first += room) {
        TRY(gram_points_part(context, points, first, points->n - first < room ? points->n - first : room, &part));
        TRY(chunk_variance(context, laplace, part, work, variance + first * each));
        gram_points_release(part);
        part = NULL;
    }
done:
    gram_points_release(part);
    gram_give(context, work);
    return status;
}

/* ---- prediction ---- */

/* Averages over Gaussians. */
static gram_laplace_average average_gaussian(const gram_laplace *l, double mean, double variance)
{
    const double rate = exp(mean + variance / 2);
    switch (l->rule.kind) {
    case GRAM_LIKELIHOOD_LOGISTIC:
        return (gram_laplace_average){gram_logistic_normal(mean, variance), gram_logistic_normal(-mean, variance), 0};
    case GRAM_LIKELIHOOD_POISSON: return (gram_laplace_average){rate, 0, rate * rate * expm1(variance)};
    default: return (gram_laplace_average){mean, 0, variance};
    }
}

/* k becomes cov(f_j, f) = (Z k)_j/W_j, and the variances go to out: both from one solve. */
static gram_status chunk_covariance(gram_context *context, const gram_laplace *l, const gram_points *part, double *k,
                                    double *copy, double *variance)
{
    gram_status status = GRAM_OK;
    const int64_t count = part->n;
    gram_kernel *kernel = gram_function_kernel(l->function);
    TRY(gram_matrix(context, kernel, gram_function_centres(l->function), part, k, count));
    TRY(gram_matrix_diagonal(context, kernel, part, variance));
    memcpy(copy, k, (size_t)(l->n * count) * sizeof *copy);
    TRY(gram_curvature_apply(context, &l->h, count, k));
    for (int64_t i = 0; i < l->n; i++)
        for (int64_t j = 0; j < count; j++) {
            variance[j] -= copy[i * count + j] * k[i * count + j];
            k[i * count + j] *= l->h.shift[i];
        }
    for (int64_t j = 0; j < count; j++) variance[j] = fmax(0, variance[j]);
done:
    return status;
}

/* One latent function, some points; work has 2 (n + 1) numbers for each. */
static gram_status average_chunk(gram_context *context, const gram_laplace *l, const gram_points *part, int spread,
                                 double *work, gram_laplace_average *out)
{
    gram_status status = GRAM_OK;
    const int64_t count = part->n;
    double *mean = work, *variance = mean + count, *k = variance + count, *copy = k + l->n * count;
    if (l->rows.n == 0) {
        TRY(gram_laplace_latent(context, l, part, mean, variance));
        for (int64_t j = 0; j < count; j++) out[j] = average_gaussian(l, mean[j], variance[j]);
        goto done;
    }
    TRY(gram_function_evaluate(context, l->mean, part, mean, 1));
    TRY(chunk_covariance(context, l, part, k, copy, variance));
    TRY(gram_laplace_average_points(context, &l->rule, &l->rows, count, mean, variance, k, spread, out));
done:
    return status;
}

/* One latent function, all points. */
static gram_status average(gram_context *context, const gram_laplace *l, const gram_points *points, int spread,
                           gram_laplace_average *out)
{
    gram_status status = GRAM_OK;
    const int64_t room = points->n < GRAM_LAPLACE_CHUNK ? points->n : GRAM_LAPLACE_CHUNK;
    double *work = NULL;
    gram_points *part = NULL;
    TRY(gram_take(context, "laplace: a chunk of points", 2 * (l->n + 1) * room, sizeof(double), (void **)&work));
    for (int64_t first = 0; first < points->n; first += room) {
        TRY(gram_points_part(context, points, first, points->n - first < room ? points->n - first : room, &part));
        TRY(average_chunk(context, l, part, spread, work, out + first));
        gram_points_release(part);
        part = NULL;
    }
done:
    gram_points_release(part);
    gram_give(context, work);
    return status;
}

static gram_status predict_one(gram_context *context, const gram_laplace *l, const gram_points *points, double *out,
                               int64_t ldo)
{
    gram_status status = GRAM_OK;
    gram_laplace_average *found = NULL;
    TRY(gram_take(context, "laplace_predict", points->n, sizeof *found, (void **)&found));
    TRY(average(context, l, points, 0, found));
    for (int64_t i = 0; i < points->n; i++) {
        if (l->rule.kind != GRAM_LIKELIHOOD_LOGISTIC) {
            out[i * ldo] = found[i].mean;
            continue;
        }
        out[i * ldo] = found[i].rest;
        out[i * ldo + 1] = found[i].mean;
    }
done:
    gram_give(context, found);
    return status;
}

static gram_status predict_several(gram_context *context, const gram_laplace *l, const gram_points *points, double *out,
                                   int64_t ldo)
{
    gram_status status = GRAM_OK;
    const int64_t m = l->outputs, room = points->n < GRAM_LAPLACE_CHUNK ? points->n : GRAM_LAPLACE_CHUNK;
    double *work = NULL;
    gram_points *part = NULL;
    TRY(gram_take(context, "laplace_predict", DRAWS * m + room * (m * m + m), sizeof(double), (void **)&work));
    double *mean = work + DRAWS * m, *covariance = mean + room * m;
    gram_normal_sequence(DRAWS, m, work);
    for (int64_t first = 0; first < points->n; first += room) {
        const int64_t count = points->n - first < room ? points->n - first : room;
        TRY(gram_points_part(context, points, first, count, &part));
        TRY(gram_laplace_latent(context, l, part, mean, covariance));
        TRY(gram_softmax_normals(context, m, count, mean, covariance, DRAWS, work, out + first * ldo, ldo));
        gram_points_release(part);
        part = NULL;
    }
done:
    gram_points_release(part);
    gram_give(context, work);
    return status;
}

gram_status gram_laplace_predict(gram_context *context, const gram_laplace *laplace, const gram_points *points,
                                 double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(check_points(context, "laplace_predict", laplace, points, out));
    const int64_t columns = laplace->rule.kind == GRAM_LIKELIHOOD_LOGISTIC ? 2 : laplace->outputs;
    FAIL_IF(ldo < columns, context, GRAM_ERROR_ARGUMENT, "laplace_predict: ldo = %lld, need at least %lld",
            (long long)ldo, (long long)columns);
    status = laplace->outputs == 1 ? predict_one(context, laplace, points, out, ldo)
                                   : predict_several(context, laplace, points, out, ldo);
done:
    return status;
}

gram_status gram_laplace_spread(gram_context *context, const gram_laplace *laplace, const gram_points *points,
                                double *mean, double *variance)
{
    gram_status status = GRAM_OK;
    gram_laplace_average *found = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(check_points(context, "laplace_spread", laplace, points, mean && variance ? mean : NULL));
    FAIL_IF(laplace->rule.kind < GRAM_LIKELIHOOD_POISSON, context, GRAM_ERROR_ARGUMENT,
            "laplace_spread: the likelihood is %s, need poisson or student", gram_likelihood_name(laplace->rule.kind));
    TRY(gram_take(context, "laplace_spread", points->n, sizeof *found, (void **)&found));
    TRY(average(context, laplace, points, 1, found));
    for (int64_t i = 0; i < points->n; i++) {
        mean[i] = found[i].mean;
        variance[i] = found[i].variance;
    }
done:
    gram_give(context, found);
    return status;
}
