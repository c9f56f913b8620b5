/* Regression with inducing points: arguments, the bound at given positions, fits, and models from their parts. */
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "base/sized_struct.h"
#include "method/gp/inducing/gp_inducing.h"
#include "points/points.h"

void gram_gp_inducing_options_init(gram_gp_inducing_options *options, size_t size)
{
    const gram_gp_inducing_options defaults = {.tolerance = 1e-3, .jitter = 1e-10};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

gram_status gram_gp_inducing_options_read(gram_context *context, const char *name,
                                          const gram_gp_inducing_options *options, gram_gp_inducing_options *out)
{
    gram_gp_inducing_options_init(out, sizeof *out);
    return gram_sized_read(context, name, "options.inducing", "gram_gp_inducing_options", options, out, sizeof *out);
}

/* ---- beginning ---- */

static gram_status check(gram_context *context, const char *name, const gram_inducing *s,
                         const gram_gp_inducing_options *o)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    const int64_t n = s->base.n;
    FAIL_IF(o->count < 0, context, GRAM_ERROR_ARGUMENT, "%s: count = %lld, need 0 or more", name, (long long)o->count);
    FAIL_IF((int)o->choice < 0 || o->choice > GRAM_INDUCING_KMEANS, context, GRAM_ERROR_ARGUMENT,
            "%s: choice = %d is not a valid choice", name, (int)o->choice);
    FAIL_IF(o->evaluations < 0, context, GRAM_ERROR_ARGUMENT, "%s: evaluations = %lld, need 0 or more", name,
            (long long)o->evaluations);
    FAIL_IF(!(o->tolerance >= 0) || !(o->jitter >= 0 && o->jitter < 1e-4), context, GRAM_ERROR_ARGUMENT,
            "%s: tolerance or jitter = %s is out of range", name,
            gram_number_format(o->tolerance >= 0 ? o->jitter : o->tolerance, shown));
    for (int64_t i = 0; i < n; i++)
        FAIL_IF(!(gram_gp_row_noise(&s->base.options, i) > 0), context, GRAM_ERROR_ARGUMENT,
                "%s: the noise of row %lld is 0, need a positive number", name, (long long)i);
done:
    return status;
}

static gram_status begin(gram_context *context, const char *name, gram_kernel *kernel, const gram_points *x,
                         const double *y, const gram_gp_options *options, gram_gp_inducing_options *o, gram_inducing *s)
{
    gram_status status = GRAM_OK;
    memset(s, 0, sizeof *s);
    TRY(gram_gp_system_begin(context, name, kernel, x, y, options, &s->base));
    TRY(gram_gp_inducing_options_read(context, name, s->base.options.inducing, o));
    TRY(check(context, name, s, o));
    s->kernel = kernel;
    s->x = x;
done:
    return status;
}

static gram_status copy_positions(gram_context *context, const char *name, const gram_points *z, gram_inducing *s)
{
    gram_status status = GRAM_OK;
    FAIL_IF(z->d != s->base.d, context, GRAM_ERROR_DIMENSION, "%s: inducing points of %lld columns, x has %lld", name,
            (long long)z->d, (long long)s->base.d);
    TRY(gram_inducing_take(context, z->n, s));
    for (int64_t i = 0; i < z->n; i++)
        for (int64_t l = 0; l < z->d; l++) s->positions[i * z->d + l] = gram_points_at(z, i, l);
done:
    return status;
}

gram_status gram_gp_inducing_bound(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                   const gram_points *z, const gram_gp_options *options, gram_gp_inducing_value *value,
                                   double *gradient, double *position_gradient, int64_t ld)
{
    gram_status status = GRAM_OK;
    gram_inducing s = {0};
    gram_gp_inducing_options o;
    double *positions = NULL, *slopes = NULL;
    int64_t parameters = 0;
    if (!context || !value) return GRAM_ERROR_ARGUMENT;
    TRY(begin(context, "gp_likelihood", kernel, x, y, options, &o, &s));
    FAIL_IF(!z, context, GRAM_ERROR_ARGUMENT, "gp_likelihood: z is NULL");
    FAIL_IF(position_gradient && ld < s.base.d, context, GRAM_ERROR_ARGUMENT,
            "gp_likelihood: ld = %lld, need %lld or more", (long long)ld, (long long)s.base.d);
    TRY(copy_positions(context, "gp_likelihood", z, &s));
    TRY(gram_inducing_evaluate(context, o.jitter, &s));
    *value = s.value;
    if (!gradient && !position_gradient) goto done;
    parameters = gram_kernel_parameter_count(kernel) + 1;
    TRY(gram_take(context, "gp_likelihood", parameters, sizeof(double), (void **)&slopes));
    TRY(gram_take(context, "gp_likelihood", s.m * s.base.d, sizeof(double), (void **)&positions));
    TRY(gram_inducing_differentiate(context, &s, slopes, position_gradient ? positions : NULL));
    if (gradient) memcpy(gradient, slopes, (size_t)parameters * sizeof(double));
    for (int64_t i = 0; i < s.m * s.base.d && position_gradient; i++)
        position_gradient[i / s.base.d * ld + i % s.base.d] = positions[i];
done:
    gram_give(context, positions);
    gram_give(context, slopes);
    gram_inducing_free(context->memory, &s);
    return status;
}

/* ---- fitting ---- */

static gram_status make(gram_context *context, const char *name, gram_kernel *kernel, gram_gp_inducing **out)
{
    gram_status status = GRAM_OK;
    gram_gp_inducing *made = NULL;
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "%s: kernel is NULL", name);
    TRY(gram_take(context, name, 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    made->kernel = gram_kernel_retain(kernel);
    made->report = (gram_gp_inducing_report){.size = sizeof made->report, .converged = 1};
    *out = made;
done:
    return status;
}

static gram_status set_positions(gram_context *context, const gram_gp_inducing_options *o, gram_inducing *s)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->base.n, d = s->base.d, wanted = o->count > 0 ? o->count : (int64_t)(16 * sqrt((double)n));
    const int64_t count = wanted < n ? wanted : n;
    double *chosen = NULL;
    int64_t made = 0;
    if (o->positions) return copy_positions(context, "gp_fit", o->positions, s);
    TRY(gram_take(context, "gp_fit: positions", count * d, sizeof(double), (void **)&chosen));
    TRY(gram_inducing_choose(context, s->kernel, s->x, o->choice, count, chosen, &made));
    TRY(gram_inducing_take(context, made, s));
    memcpy(s->positions, chosen, (size_t)(made * d) * sizeof *chosen);
done:
    gram_give(context, chosen);
    return status;
}

/* Of the bound with its gradient: about two minutes of work. */
static int64_t affordable_evaluations(int64_t n, const gram_gp_inducing_options *o)
{
    enum { LEAST = 5, MOST = 100 };
    const double OPERATIONS = 5e12;
    const double m = o->positions ? (double)o->positions->n : o->count > 0 ? (double)o->count : 16 * sqrt((double)n);
    const double count = OPERATIONS / (6 * (double)n * m * m);
    return (int64_t)fmin(MOST, fmax(LEAST, count));
}

/* The jitter acts as noise does. A given noise below it would be another one; what was learnt is what the bound said. */
static gram_status check_jitter(gram_context *context, const gram_gp_inducing_options *o, const gram_inducing *s)
{
    gram_status status = GRAM_OK;
    char noise[GRAM_NUMBER_SIZE];
    FAIL_IF(!o->learn_noise && s->base.options.noise < s->added, context, GRAM_ERROR_NUMERICAL,
            "gp_fit: noise = %s is below the jitter that the inducing points need, %.2g",
            gram_number_format(s->base.options.noise, noise), s->added);
done:
    return status;
}

gram_status gram_gp_inducing_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                 const gram_gp_options *options, gram_gp_inducing **gp)
{
    gram_status status = GRAM_OK;
    gram_gp_inducing *made = NULL;
    gram_gp_inducing_options o;
    if (!context || !gp) return GRAM_ERROR_ARGUMENT;
    *gp = NULL;
    TRY(make(context, "gp_fit", kernel, &made));
    gram_inducing *s = &made->model;
    TRY(begin(context, "gp_fit", kernel, x, y, options, &o, s));
    TRY(set_positions(context, &o, s));
    if (o.evaluations == 0) o.evaluations = affordable_evaluations(s->base.n, &o);
    if (o.learn_parameters || o.learn_noise || o.learn_positions) TRY(gram_inducing_learn(context, &o, made));
    TRY(gram_inducing_evaluate(context, o.jitter, s));
    TRY(check_jitter(context, &o, s));
    gram_gp_inducing_report *r = &made->report;
    r->n = s->base.n;
    r->d = s->base.d;
    r->m = s->m;
    r->noise = s->base.options.noise;
    r->value = s->value;
    s->x = NULL; /* the caller's, as are these */
    s->base.y = NULL;
    gram_gp_options_forget(&s->base.options);
    if (!r->converged) status = GRAM_NOT_CONVERGED;
    *gp = made;
    made = NULL;
done:
    gram_gp_inducing_destroy(made);
    return status;
}

void gram_gp_inducing_destroy(gram_gp_inducing *gp)
{
    if (!gp) return;
    gram_memory *memory = gp->memory;
    gram_inducing_free(memory, &gp->model);
    gram_kernel_release(gp->kernel);
    gram_memory_give(memory, gp);
    gram_memory_release(memory);
}

const gram_gp_inducing_report *gram_gp_inducing_get_report(const gram_gp_inducing *gp)
{
    return &gp->report;
}

gram_kernel *gram_gp_inducing_kernel(const gram_gp_inducing *gp)
{
    return gp->kernel;
}

/* ---- parts ---- */

void gram_gp_inducing_describe(const gram_gp_inducing *gp, gram_gp_parts *parts)
{
    const gram_inducing *s = &gp->model;
    const int flat = s->base.options.flat && s->base.q > 0;
    parts->centres = s->z;
    parts->coefficients = s->coefficients;
    parts->factor = s->factor;
    parts->inner = s->inner;
    parts->mean_weights = flat ? s->mean_weights : NULL;
    parts->mean_factor = flat ? s->base.small : NULL;
}

/* count numbers, all finite. */
static gram_status copy_part(gram_context *context, const char *name, int64_t count, const double *from, double *to)
{
    gram_status status = GRAM_OK;
    FAIL_IF(count > 0 && !from, context, GRAM_ERROR_ARGUMENT, "gp_create: %s is NULL", name);
    for (int64_t i = 0; i < count; i++) {
        FAIL_IF(!isfinite(from[i]), context, GRAM_ERROR_DATA, "gp_create: %s[%lld] is not finite", name, (long long)i);
        to[i] = from[i];
    }
done:
    return status;
}

/* The lower triangle of a factor; above it is 0. */
static gram_status copy_factor(gram_context *context, const char *name, int64_t m, const double *from, double *to)
{
    gram_status status = GRAM_OK;
    FAIL_IF(m > 0 && !from, context, GRAM_ERROR_ARGUMENT, "gp_create: %s is NULL", name);
    for (int64_t i = 0; i < m; i++) {
        TRY(copy_part(context, name, i + 1, from + i * m, to + i * m));
        for (int64_t j = i + 1; j < m; j++) to[i * m + j] = 0;
        FAIL_IF(!(to[i * m + i] > 0), context, GRAM_ERROR_DATA, "gp_create: %s has a diagonal entry <= 0", name);
    }
done:
    return status;
}

static gram_status copy_parts(gram_context *context, const gram_gp_parts *p, gram_inducing *s)
{
    gram_status status = GRAM_OK;
    const int64_t m = p->centres->n, q = s->base.q, d = s->base.d;
    const int flat = p->flat && q > 0;
    TRY(gram_inducing_take(context, m, s));
    memset(s->numbers, 0, (size_t)s->size * sizeof(double));
    for (int64_t i = 0; i < m * d; i++) s->positions[i] = gram_points_at(p->centres, i / d, i % d);
    TRY(copy_part(context, "coefficients", m, p->coefficients, s->coefficients));
    TRY(copy_part(context, "beta", q, p->beta, s->base.beta));
    TRY(copy_factor(context, "factor", m, p->factor, s->factor));
    TRY(copy_factor(context, "inner", m, p->inner, s->inner));
    if (flat) TRY(copy_part(context, "mean_weights", m * q, p->mean_weights, s->mean_weights));
    if (flat) TRY(copy_factor(context, "mean_factor", q, p->mean_factor, s->base.small));
    TRY(gram_points_create_f64(context, m, d, s->positions, d, &s->z));
done:
    return status;
}

gram_status gram_gp_inducing_create(gram_context *context, gram_kernel *kernel, const gram_gp_parts *parts,
                                    gram_gp_inducing **gp)
{
    gram_status status = GRAM_OK;
    gram_gp_inducing *made = NULL;
    *gp = NULL;
    TRY(make(context, "gp_create", kernel, &made));
    gram_gp_system_restore(parts, &made->model.base);
    made->model.kernel = made->kernel;
    TRY(copy_parts(context, parts, &made->model));
    made->report.n = parts->n;
    made->report.d = parts->centres->d;
    made->report.m = parts->centres->n;
    made->report.noise = parts->noise;
    made->report.value = (gram_gp_inducing_value){NAN, NAN, NAN, NAN, NAN};
    *gp = made;
    made = NULL;
done:
    gram_gp_inducing_destroy(made);
    return status;
}
