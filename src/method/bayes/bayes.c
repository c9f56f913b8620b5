/* Bayesian linear regression: the fit, its report and its predictions. The formulas are in <gram/bayes.h>. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/distribution_tails.h"
#include "base/sized_struct.h"
#include "method/bayes/bayes.h"
#include "points/functionals.h"
#include "points/points.h"
#include <gram/text.h>

struct gram_bayes {
    gram_memory *memory;
    gram_bayes_report report;
    gram_bayes_posterior posterior; /* of the arrays below */
    double *weights, *centre, *factor;
    double *loo_mean;
    gram_function *function;
};

void gram_bayes_options_init(gram_bayes_options *options, size_t size)
{
    const gram_bayes_options defaults = {.size = sizeof defaults, .alpha = NAN, .intercept = 1};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

double gram_student_quantile(double freedom, double p)
{
    return p > 0 && p < 1 ? -gram_quantile_student(freedom, p) : NAN;
}

/* ---- arguments ---- */

static gram_status check_number(gram_context *context, const char *name, double value)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    FAIL_IF(!(value >= 0) || isinf(value), context, GRAM_ERROR_ARGUMENT, "bayes_fit: %s = %s, need a number >= 0", name,
            gram_number_format(value, shown));
done:
    return status;
}

static gram_status check(gram_context *context, const gram_points *x, const double *y, const gram_bayes_options *o)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!x || !y, context, GRAM_ERROR_ARGUMENT, "bayes_fit: %s is NULL", x ? "y" : "x");
    if (!isnan(o->alpha)) TRY(check_number(context, "alpha", o->alpha));
    TRY(check_number(context, "shape", o->shape));
    TRY(check_number(context, "scale", o->scale));
    for (int64_t i = 0; i < x->n; i++) {
        FAIL_IF(!isfinite(y[i]), context, GRAM_ERROR_DATA, "bayes_fit: y[%" PRId64 "] is not a finite number", i);
        FAIL_IF(o->weights && (!(o->weights[i] >= 0) || isinf(o->weights[i])), context, GRAM_ERROR_DATA,
                "bayes_fit: weights[%" PRId64 "] is not a finite number >= 0", i);
    }
done:
    return status;
}

/* ---- the posterior ---- */

static gram_status take_all(gram_context *context, int64_t n, int64_t d, gram_bayes **bayes)
{
    gram_status status = GRAM_OK;
    gram_bayes *made = NULL;
    TRY(gram_take(context, "bayes_fit", 1, sizeof *made, (void **)&made));
    *made = (gram_bayes){.memory = gram_memory_retain(context->memory)};
    *bayes = made;
    TRY(gram_take(context, "bayes_fit", d, sizeof(double), (void **)&made->weights));
    TRY(gram_take(context, "bayes_fit", d, sizeof(double), (void **)&made->centre));
    TRY(gram_take(context, "bayes_fit", d * d, sizeof(double), (void **)&made->factor));
    TRY(gram_take(context, "bayes_fit", n, sizeof(double), (void **)&made->loo_mean));
done:
    return status;
}

/* Least squares need columns that are independent, up to rounding of their entries. */
static gram_status check_rank(gram_context *context, const gram_bayes_data *data)
{
    gram_status status = GRAM_OK;
    const double rounding = 2.3e-16 * (double)(data->n > data->d ? data->n : data->d);
    for (int64_t j = 0; j < data->d; j++)
        FAIL_IF(!(data->values[j] > rounding * data->values[0]), context, GRAM_ERROR_NUMERICAL,
                "bayes_fit: alpha = 0, and of %" PRId64 " columns only %" PRId64
                " are independent on these rows: give alpha above 0",
                data->d, j);
done:
    return status;
}

static void find_posterior(const gram_bayes_data *data, double alpha, gram_bayes *bayes)
{
    const int64_t d = data->d;
    gram_bayes_report *r = &bayes->report;
    memcpy(bayes->centre, data->centre, (size_t)d * sizeof *bayes->centre);
    memset(bayes->weights, 0, (size_t)d * sizeof *bayes->weights);
    r->effective_dimension = 0;
    for (int64_t j = 0; j < d; j++) {
        const double s = data->values[j], square = s * s + alpha;
        const double along = square > 0 ? s * data->z[j] / square : 0, root = square > 0 ? 1 / sqrt(square) : 0;
        r->effective_dimension += square > 0 ? s * s / square : 0;
        for (int64_t l = 0; l < d; l++) {
            bayes->weights[l] += data->vectors[l * d + j] * along;
            bayes->factor[l * d + j] = data->vectors[l * d + j] * root;
        }
    }
    r->constant = data->target;
    for (int64_t l = 0; l < d; l++) r->constant -= bayes->weights[l] * data->centre[l];
    bayes->posterior = (gram_bayes_posterior){.d = d,
                                              .weights = bayes->weights,
                                              .centre = bayes->centre,
                                              .factor = bayes->factor,
                                              .constant = r->constant,
                                              .spread = r->scale / r->shape,
                                              .lift = data->intercept ? 1 / data->weight : 0};
}

static void report_noise(const gram_bayes_noise *noise, double lift, gram_bayes_report *r)
{
    const double shape = noise->shape, scale = noise->scale;
    r->shape = shape;
    r->scale = scale;
    r->freedom = 2 * shape;
    r->noise = shape > 1 ? scale / (shape - 1) : NAN;
    r->noise_lower = scale / gram_quantile_gamma(shape, 0.025);
    r->noise_upper = scale / gram_quantile_gamma(shape, 0.975);
    r->log_evidence = noise->log_evidence;
    r->centre_deviation = lift > 0 ? sqrt(r->noise * lift) : NAN;
}

/* ---- the rows again: errors, each row by the others ---- */

typedef struct sums {
    double squares, left_out, density, inside;
    double half_width;
} sums;

/* Row i of weight v with the error e and the leverage h: without it the posterior has a - 1/2 and c - v e^2/(2 (1 - h)), the error is
 * e/(1 - h), and a new observation there has the spread 1/(v (1 - h)). */
static void add_row(const gram_bayes_report *r, double v, double e, double h, sums *s)
{
    const double left = 1 - h, error = e / left, shape = r->shape - 0.5, freedom = 2 * shape;
    const double scale = r->scale - 0.5 * v * e * error, width = sqrt(scale / shape / (v * left)), t = error / width;
    s->squares += v * e * e;
    s->left_out += v * error * error;
    s->density += gram_log_gamma(shape + 0.5) - gram_log_gamma(shape) - 0.5 * log(freedom * 3.14159265358979323846) -
                  log(width) - (shape + 0.5) * log1p(t * t / freedom);
    s->inside += fabs(t) <= s->half_width;
}

static gram_status assess(gram_context *context, const gram_points *x, const double *y, const gram_bayes_options *o,
                          const gram_bayes_data *data, gram_bayes *bayes)
{
    gram_status status = GRAM_OK;
    gram_bayes_report *r = &bayes->report;
    const double n = (double)data->n;
    double *work = NULL, f, leverage;
    sums s = {.half_width = gram_quantile_student(r->freedom - 1, 0.025)};
    TRY(gram_take(context, "bayes_fit", 2 * data->d, sizeof *work, (void **)&work));
    double *row = work + data->d;
    for (int64_t i = 0; i < x->n; i++) {
        const double v = o->weights ? o->weights[i] : 1;
        bayes->loo_mean[i] = NAN;
        if (v == 0) continue;
        for (int64_t l = 0; l < data->d; l++) row[l] = gram_points_at(x, i, l);
        gram_bayes_at(&bayes->posterior, row, &f, &leverage, work);
        add_row(r, v, y[i] - f, v * leverage, &s);
        bayes->loo_mean[i] = y[i] - (y[i] - f) / (1 - v * leverage);
    }
    const double weight = data->weight;
    r->train_rmse = sqrt(s.squares / weight);
    r->train_r2 = 1 - s.squares / data->squares;
    r->loo_rmse = sqrt(s.left_out / weight);
    r->loo_r2 = 1 - s.left_out / data->squares;
    r->loo_log_density = s.density / n;
    r->loo_coverage = isnan(s.density) ? NAN : s.inside / n;
done:
    gram_give(context, work);
    return status;
}

/* ---- the whole ---- */

static gram_status make_function(gram_context *context, gram_bayes *bayes)
{
    gram_status status = GRAM_OK;
    const double one = 1;
    const int64_t d = bayes->posterior.d;
    gram_kernel *kernel = NULL;
    gram_points *centre = NULL;
    TRY(gram_kernel_parse(context, "linear(c=0)", &kernel));
    TRY(gram_points_create_f64(context, 1, d, bayes->weights, d, &centre));
    TRY(gram_function_create(context, kernel, centre, 1, &one, 1, &bayes->report.constant, &bayes->function));
done:
    gram_points_release(centre);
    gram_kernel_release(kernel);
    return status;
}

static gram_status choose(gram_context *context, const gram_bayes_data *data, const gram_bayes_options *o,
                          gram_bayes *bayes)
{
    gram_status status = GRAM_OK;
    gram_bayes_report *r = &bayes->report;
    *r = (gram_bayes_report){
        .size = sizeof *r, .n = data->n, .d = data->d, .intercept = o->intercept, .alpha = o->alpha};
    if (isnan(o->alpha)) r->alpha = gram_bayes_find_alpha(data, o, &r->at_bound);
    if (r->alpha == 0) TRY(check_rank(context, data));
    const gram_bayes_noise noise = gram_bayes_find_noise(data, o, r->alpha);
    FAIL_IF(!isfinite(noise.scale) || !isfinite(data->values[0] * data->values[0]), context, GRAM_ERROR_DATA,
            "bayes_fit: numbers of %s are so large that their squares overflow",
            isfinite(data->values[0] * data->values[0]) ? "y" : "x");
    FAIL_IF(!(noise.shape > 0), context, GRAM_ERROR_DATA,
            "bayes_fit: %" PRId64 " rows and %" PRId64 " columns leave no degree of freedom for the noise", data->n,
            data->d);
    report_noise(&noise, data->intercept ? 1 / data->weight : 0, r);
    r->centre_mean = data->intercept ? data->target : NAN;
    find_posterior(data, r->alpha, bayes);
done:
    return status;
}

gram_status gram_bayes_fit(gram_context *context, const gram_points *x, const double *y,
                           const gram_bayes_options *options, gram_bayes **bayes)
{
    gram_status status = GRAM_OK;
    gram_bayes_options o;
    gram_bayes_data data = {0};
    gram_bayes *made = NULL;
    if (!context || !bayes) return GRAM_ERROR_ARGUMENT;
    *bayes = NULL;
    gram_bayes_options_init(&o, sizeof o);
    TRY(gram_points_must_be_plain(context, "bayes_fit", x));
    TRY(gram_sized_read(context, "bayes_fit", "options", "gram_bayes_options", options, &o, sizeof o));
    TRY(check(context, x, y, &o));
    TRY(take_all(context, x->n, x->d, &made));
    TRY(gram_bayes_data_make(context, x, y, o.weights, o.intercept, &data));
    TRY(choose(context, &data, &o, made));
    TRY(assess(context, x, y, &o, &data, made));
    TRY(make_function(context, made));
    *bayes = made;
    made = NULL;
done:
    gram_bayes_data_free(context, &data);
    gram_bayes_destroy(made);
    return status;
}

void gram_bayes_destroy(gram_bayes *bayes)
{
    if (!bayes) return;
    gram_memory *memory = bayes->memory;
    gram_function_release(bayes->function);
    gram_memory_give(memory, bayes->weights);
    gram_memory_give(memory, bayes->centre);
    gram_memory_give(memory, bayes->factor);
    gram_memory_give(memory, bayes->loo_mean);
    gram_memory_give(memory, bayes);
    gram_memory_release(memory);
}

const gram_bayes_report *gram_bayes_get_report(const gram_bayes *bayes)
{
    return &bayes->report;
}

const double *gram_bayes_weights(const gram_bayes *bayes)
{
    return bayes->weights;
}

const double *gram_bayes_loo_mean(const gram_bayes *bayes)
{
    return bayes->loo_mean;
}

gram_function *gram_bayes_function(const gram_bayes *bayes)
{
    return bayes->function;
}

const gram_bayes_posterior *gram_bayes_get_posterior(const gram_bayes *bayes)
{
    return &bayes->posterior;
}

gram_status gram_bayes_weight_scale(gram_context *context, const gram_bayes *bayes, double *out, int64_t ld)
{
    gram_status status = GRAM_OK;
    if (!context || !bayes || !out) return GRAM_ERROR_ARGUMENT;
    const int64_t d = bayes->posterior.d;
    FAIL_IF(ld < d, context, GRAM_ERROR_ARGUMENT, "bayes_weight_scale: ld = %" PRId64 " is less than d = %" PRId64, ld,
            d);
    for (int64_t i = 0; i < d; i++)
        for (int64_t k = 0; k < d; k++) {
            double sum = 0;
            for (int64_t j = 0; j < d; j++) sum += bayes->factor[i * d + j] * bayes->factor[k * d + j];
            out[i * ld + k] = bayes->posterior.spread * sum;
        }
done:
    return status;
}

gram_status gram_bayes_predict(gram_context *context, const gram_bayes *bayes, const gram_points *points, double *mean,
                               double *scale)
{
    gram_status status = GRAM_OK;
    double *work = NULL, leverage;
    if (!context || !bayes || !points || !mean) return GRAM_ERROR_ARGUMENT;
    const gram_bayes_posterior *p = &bayes->posterior;
    TRY(gram_points_must_be_plain(context, "bayes_predict", points));
    FAIL_IF(points->d != p->d, context, GRAM_ERROR_DIMENSION,
            "bayes_predict: points of %" PRId64 " columns, the fit had %" PRId64, points->d, p->d);
    TRY(gram_take(context, "bayes_predict", 2 * p->d, sizeof *work, (void **)&work));
    double *row = work + p->d;
    for (int64_t i = 0; i < points->n; i++) {
        for (int64_t l = 0; l < p->d; l++) row[l] = gram_points_at(points, i, l);
        gram_bayes_at(p, row, &mean[i], scale ? &leverage : NULL, work);
        if (scale) scale[i] = sqrt(p->spread * leverage);
    }
done:
    gram_give(context, work);
    return status;
}
