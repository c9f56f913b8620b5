/* The fit of Laplace's approximation, and what it predicts. */
#include "method/laplace/laplace_fit.h"

#include <math.h>
#include <string.h>

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

/* The posterior mean: the mode, or with the first-order correction for skewness. */
static gram_status make_mean(gram_context *context, const gram_laplace_state *s, gram_laplace *made)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->n, m = s->outputs;
    double *v = NULL;
    made->mean = gram_function_retain(made->function);
    if (!s->options.correction) return GRAM_OK;
    TRY(gram_take(context, "laplace_fit", n * (m + 1), sizeof(double), (void **)&v));
    if (m == 1)
        TRY(gram_laplace_shift(context, s, v + n, v));
    else
        TRY(gram_laplace_shift_softmax(context, s, v));
    for (int64_t i = 0; i < n * m; i++) v[i] += s->a[i];
    gram_function_release(made->mean);
    made->mean = NULL;
    TRY(gram_function_create(context, s->problem.kernel, s->problem.x, m, v, m, NULL, &made->mean));
done:
    gram_give(context, v);
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
    TRY(make_mean(context, s, made));
    report(s, &made->report);
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

static gram_status part_of(gram_context *context, const gram_points *x, int64_t first, int64_t count, gram_points **out)
{
    if (x->f64) return gram_points_create_f64(context, count, x->d, x->f64 + first * x->ld, x->ld, out);
    return gram_points_create_f32(context, count, x->d, x->f32 + first * x->ld, x->ld, out);
}

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
        TRY(part_of(context, points, first, points->n - first < room ? points->n - first : room, &part));
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

static void predict_one(const gram_laplace *l, double mean, double variance, double *out)
{
    switch (l->rule.kind) {
    case GRAM_LIKELIHOOD_LOGISTIC:
        out[0] = gram_logistic_normal(-mean, variance);
        out[1] = gram_logistic_normal(mean, variance);
        break;
    case GRAM_LIKELIHOOD_POISSON: out[0] = exp(mean + variance / 2); break;
    default: out[0] = mean;
    }
}

gram_status gram_laplace_predict(gram_context *context, const gram_laplace *laplace, const gram_points *points,
                                 double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    double *mean = NULL, *variance = NULL, *normal = NULL;
    gram_points *part = NULL;
    int64_t room = 0, m = 0, each = 0;
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(check_points(context, "laplace_predict", laplace, points, out));
    m = laplace->outputs, each = m > 1 ? m * m : 1;
    const int64_t columns = laplace->rule.kind == GRAM_LIKELIHOOD_LOGISTIC ? 2 : m;
    FAIL_IF(ldo < columns, context, GRAM_ERROR_ARGUMENT, "laplace_predict: ldo = %lld, need at least %lld",
            (long long)ldo, (long long)columns);
    room = points->n < GRAM_LAPLACE_CHUNK ? points->n : GRAM_LAPLACE_CHUNK;
    TRY(gram_take(context, "laplace_predict", room * m, sizeof(double), (void **)&mean));
    TRY(gram_take(context, "laplace_predict", room * each, sizeof(double), (void **)&variance));
    if (m > 1) {
        TRY(gram_take(context, "laplace_predict", DRAWS * m, sizeof(double), (void **)&normal));
        gram_normal_sequence(DRAWS, m, normal);
    }
    for (int64_t first = 0; first < points->n; first += room) {
        const int64_t count = points->n - first < room ? points->n - first : room;
        TRY(part_of(context, points, first, count, &part));
        TRY(gram_laplace_latent(context, laplace, part, mean, variance));
        for (int64_t i = 0; i < count && m == 1; i++)
            predict_one(laplace, mean[i], variance[i], out + (first + i) * ldo);
        if (m > 1) TRY(gram_softmax_normals(context, m, count, mean, variance, DRAWS, normal, out + first * ldo, ldo));
        gram_points_release(part);
        part = NULL;
    }
done:
    gram_points_release(part);
    gram_give(context, mean);
    gram_give(context, variance);
    gram_give(context, normal);
    return status;
}
