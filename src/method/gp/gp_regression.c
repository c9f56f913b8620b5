/* One Gaussian process, whichever way it is solved: what the solvers share is done here, the rest by a row of the table in
 * gp_plan.c. */
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "base/sized_struct.h"
#include "method/gp/gp_solvers.h"
#include "method/gp/markov/gp_markov.h"
#include "points/functionals.h"
#include "points/points.h"

static gram_status refuse(gram_context *context, const char *name, const gram_gp_solver *row)
{
    return gram_fail(context, GRAM_ERROR_UNSUPPORTED, "%s: not implemented for solver %s with precision %s", name,
                     gram_solver_name(row->solver), gram_precision_name(row->precision));
}

/* ---- making and ending ---- */

static gram_status make(gram_context *context, const char *name, const gram_gp_solver *row, int64_t n, int64_t d,
                        const gram_gp_options *options, gram_gp **gp)
{
    gram_status status = GRAM_OK;
    gram_gp *made = NULL;
    TRY(gram_take(context, name, 1, sizeof *made, (void **)&made));
    *made =
        (gram_gp){.memory = gram_memory_retain(context->memory), .solver = row, .options = *options, .n = n, .d = d};
    gram_gp_options_forget(&made->options);
    made->q = (options->mean != GRAM_MEAN_ZERO) + (options->mean == GRAM_MEAN_LINEAR ? d : 0) + options->columns;
    gram_gp_report *r = &made->report;
    *r = (gram_gp_report){.size = sizeof *r, .n = n, .d = d, .solver = row->solver, .precision = row->precision};
    r->noise = options->noise;
    r->log_marginal_likelihood = r->likelihood_error = r->quadrature_error = r->bound = r->trace_error = NAN;
    r->jitter = r->condition = r->residual = r->backward_error = r->train_rmse = r->train_r2 = NAN;
    r->error_bound = r->loo_rmse = r->loo_r2 = r->loo_log_density = r->loo_coverage = r->constant_deviation = NAN;
    r->converged = 1;
    *gp = made;
done:
    return status;
}

void gram_gp_destroy(gram_gp *gp)
{
    if (!gp) return;
    gram_memory *memory = gp->memory;
    gram_function_release(gp->function);
    if (gp->state) gp->solver->destroy(gp->state);
    gram_memory_give(memory, gp);
    gram_memory_release(memory);
}

static gram_status fit_by(gram_context *context, const gram_gp_solver *row, gram_kernel *kernel, const gram_points *x,
                          const double *y, const gram_gp_options *options, gram_gp **gp)
{
    gram_status status = GRAM_OK;
    gram_gp *made = NULL;
    gram_gp_options own = *options;
    own.precision = row->precision;
    TRY(make(context, "gp_fit", row, x->n, x->d, options, &made));
    TRY(row->fit(context, kernel, x, y, &own, 0, made));
    *gp = made;
    made = NULL;
done:
    gram_gp_destroy(made);
    return status;
}

/* Functionals, and columns that hold no numbers, have two solvers. */
static gram_status settle_functionals(gram_context *context, const char *name, const gram_points *x, gram_gp_options *o)
{
    gram_status status = GRAM_OK;
    if (!x->functionals && !x->objects) return GRAM_OK;
    const int takes = o->solver == GRAM_SOLVER_AUTO || o->solver == GRAM_SOLVER_EXACT || o->solver == GRAM_SOLVER_CG;
    FAIL_IF(!takes || o->precision == GRAM_PRECISION_MIXED, context, GRAM_ERROR_UNSUPPORTED,
            "%s: %s, which solver exact and cg in f64 take, not %s", name,
            x->functionals ? "the rows are functionals" : "a column holds no numbers",
            o->precision == GRAM_PRECISION_MIXED ? "mixed precision" : gram_solver_name(o->solver));
    if (o->solver == GRAM_SOLVER_AUTO) o->solver = GRAM_SOLVER_EXACT;
    o->precision = GRAM_PRECISION_F64;
done:
    if (status < 0) (void)gram_advise(context, status, "Leave --solver and --precision out, or use --solver cg.");
    return status;
}

gram_status gram_gp_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                        const gram_gp_options *options, gram_gp **gp)
{
    gram_status status = GRAM_OK;
    gram_gp_options o;
    const gram_gp_solver *row = NULL;
    if (!context || !gp) return GRAM_ERROR_ARGUMENT;
    *gp = NULL;
    TRY(gram_gp_options_read(context, "gp_fit", options, &o));
    TRY(gram_gp_check(context, "gp_fit", kernel, x, y, &o));
    TRY(settle_functionals(context, "gp_fit", x, &o));
    const gram_gp_case what = {kernel, x->n, x->d, &o};
    TRY(gram_gp_solver_choose(context, "gp_fit", &what, &row));
    status = fit_by(context, row, kernel, x, y, &o, gp);
    /* a factor in f32 that nobody asked for and the matrix does not allow */
    if (status == GRAM_ERROR_NUMERICAL && row == &gram_gp_solver_mixed && o.precision != GRAM_PRECISION_MIXED)
        status = fit_by(context, &gram_gp_solver_cg, kernel, x, y, &o, gp);
done:
    return status;
}

gram_status gram_gp_likelihood(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                               const gram_gp_options *options, double *value, double *gradient)
{
    gram_status status = GRAM_OK;
    gram_gp_options o;
    const gram_gp_solver *row = NULL;
    if (!context || !value) return GRAM_ERROR_ARGUMENT;
    TRY(gram_gp_options_read(context, "gp_likelihood", options, &o));
    TRY(gram_gp_check(context, "gp_likelihood", kernel, x, y, &o));
    TRY(settle_functionals(context, "gp_likelihood", x, &o));
    const gram_gp_case what = {kernel, x->n, x->d, &o};
    TRY(gram_gp_solver_choose(context, "gp_likelihood", &what, &row));
    o.precision = row->precision;
    status = row->likelihood(context, kernel, x, y, &o, value, gradient);
done:
    return status;
}

/* ---- parts ---- */

static gram_status check_parts(gram_context *context, const gram_kernel *kernel, const gram_gp_parts *p)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    FAIL_IF(!kernel || !p->centres, context, GRAM_ERROR_ARGUMENT, "gp_create: %s is NULL",
            kernel ? "centres" : "kernel");
    FAIL_IF(p->n < 1 || p->columns < 0 || (int)p->mean < 0 || p->mean > GRAM_MEAN_LINEAR, context, GRAM_ERROR_ARGUMENT,
            "gp_create: n = %lld, columns = %lld or mean = %d is out of range", (long long)p->n, (long long)p->columns,
            (int)p->mean);
    FAIL_IF(!(p->noise >= 0) || isinf(p->noise), context, GRAM_ERROR_ARGUMENT,
            "gp_create: noise = %s, need a number >= 0", gram_number_format(p->noise, shown));
    FAIL_IF(p->solver != GRAM_SOLVER_INDUCING && p->n != p->centres->n, context, GRAM_ERROR_DIMENSION,
            "gp_create: n = %lld with %lld centres", (long long)p->n, (long long)p->centres->n);
    TRY(gram_kernel_check_dimension(context, kernel, p->centres->d));
done:
    return status;
}

gram_status gram_gp_refit(gram_context *context, gram_kernel *kernel, const gram_gp_parts *p, gram_gp *gp)
{
    gram_status status = GRAM_OK;
    gram_gp_options o = gp->options;
    FAIL_IF(!p->y, context, GRAM_ERROR_ARGUMENT, "gp_create: y is NULL, and solver %s needs the data",
            gram_solver_name(p->solver));
    o.row_noise = p->row_noise;
    o.weights = p->weights;
    o.basis = p->basis;
    o.ld = p->ld;
    o.precision = gp->solver->precision;
    TRY(gram_gp_check(context, "gp_create", kernel, p->centres, p->y, &o));
    status = gp->solver->fit(context, kernel, p->centres, p->y, &o, 1, gp);
done:
    return status;
}

gram_status gram_gp_create(gram_context *context, gram_kernel *kernel, const gram_gp_parts *parts, gram_gp **gp)
{
    gram_status status = GRAM_OK;
    gram_gp *made = NULL;
    gram_gp_parts p = {0};
    gram_gp_options o;
    if (!context || !gp) return GRAM_ERROR_ARGUMENT;
    *gp = NULL;
    FAIL_IF(!parts, context, GRAM_ERROR_ARGUMENT, "gp_create: parts is NULL");
    TRY(gram_sized_check(context, "gp_create", "parts", "gram_gp_parts", parts, sizeof p));
    TRY(gram_sized_read(context, "gp_create", "parts", "gram_gp_parts", parts, &p, sizeof p));
    TRY(check_parts(context, kernel, &p));
    const gram_gp_solver *row = gram_gp_solver_find(p.solver, p.precision);
    FAIL_IF(!row, context, GRAM_ERROR_ARGUMENT, "gp_create: solver %s with precision %s is not a valid one",
            gram_solver_name(p.solver), gram_precision_name(p.precision));
    gram_gp_options_init(&o, sizeof o);
    o.mean = p.mean;
    o.flat = p.flat;
    o.noise = p.noise;
    o.columns = p.columns;
    TRY(make(context, "gp_create", row, p.n, p.centres->d, &o, &made));
    TRY(row->create ? row->create(context, kernel, &p, made) : gram_gp_refit(context, kernel, &p, made));
    *gp = made;
    made = NULL;
done:
    gram_gp_destroy(made);
    return status;
}

gram_status gram_gp_describe(const gram_gp *gp, gram_gp_parts *parts)
{
    const gram_gp_options *o = &gp->options;
    gram_gp_parts p = {.solver = gp->report.solver,
                       .precision = gp->report.precision,
                       .n = gp->n,
                       .columns = o->columns,
                       .mean = o->mean,
                       .flat = o->flat,
                       .noise = gp->report.noise,
                       .centres = gram_function_centres(gp->function),
                       .coefficients = gram_function_coefficients(gp->function),
                       .beta = gp->q > 0 ? gp->beta : NULL};
    if (gp->solver->describe) gp->solver->describe(gp->state, &p);
    gram_sized_write(parts, &p, sizeof p);
    return gram_sized_check(NULL, "gp_describe", "parts", "gram_gp_parts", parts, sizeof p);
}

gram_status gram_gp_factor(gram_context *context, const gram_gp *gp, double *out)
{
    if (!context || !gp || !out) return GRAM_ERROR_ARGUMENT;
    if (!gp->solver->factor) return refuse(context, "gp_factor", gp->solver);
    return gp->solver->factor(context, gp->state, out);
}

/* ---- what belongs to it ---- */

const gram_gp_report *gram_gp_get_report(const gram_gp *gp)
{
    return &gp->report;
}

gram_function *gram_gp_function(const gram_gp *gp)
{
    return gp->function;
}

const double *gram_gp_slopes(const gram_gp *gp)
{
    return gp->options.mean == GRAM_MEAN_LINEAR ? gp->beta + 1 : NULL;
}

const double *gram_gp_column_coefficients(const gram_gp *gp)
{
    return gp->options.columns > 0 ? gp->beta + gp->q - gp->options.columns : NULL;
}

const double *gram_gp_loo_mean(const gram_gp *gp)
{
    return gp->loo_mean;
}

const double *gram_gp_loo_variance(const gram_gp *gp)
{
    return gp->loo_variance;
}

/* ---- what it says ---- */

gram_status gram_gp_predict(gram_context *context, const gram_gp *gp, const gram_points *points, const double *basis,
                            int64_t ldb, double *mean, double *variance)
{
    if (!context || !gp || !mean) return GRAM_ERROR_ARGUMENT;
    return gp->solver->predict(context, gp->state, points, basis, ldb, mean, variance);
}

gram_status gram_gp_predict_term(gram_context *context, const gram_gp *gp, gram_kernel *term, const gram_points *points,
                                 double *mean, double *variance)
{
    if (!context || !gp || !term || !mean) return GRAM_ERROR_ARGUMENT;
    if (!gp->solver->predict_term) return refuse(context, "gp_predict_term", gp->solver);
    return gp->solver->predict_term(context, gp->state, term, points, mean, variance);
}

gram_status gram_gp_covariance(gram_context *context, const gram_gp *gp, const gram_points *points, const double *basis,
                               int64_t ldb, double *covariance, int64_t ld)
{
    if (!context || !gp || !covariance) return GRAM_ERROR_ARGUMENT;
    if (!gp->solver->covariance) return refuse(context, "gp_covariance", gp->solver);
    return gp->solver->covariance(context, gp->state, points, basis, ldb, covariance, ld);
}

gram_status gram_gp_draw(gram_context *context, const gram_gp *gp, const gram_points *points, const double *basis,
                         int64_t ldb, int64_t count, double *out, int64_t ldo, double *jitter)
{
    if (!context || !gp || !out) return GRAM_ERROR_ARGUMENT;
    if (!gp->solver->draw) return refuse(context, "gp_draw", gp->solver);
    return gp->solver->draw(context, gp->state, points, basis, ldb, count, out, ldo, jitter);
}

gram_status gram_gp_gradient(gram_context *context, const gram_gp *gp, const gram_points *points, double *out,
                             int64_t ldo)
{
    gram_status status = GRAM_OK;
    if (!context || !gp || !out) return GRAM_ERROR_ARGUMENT;
    if (gp->solver->filters) return refuse(context, "gp_gradient", gp->solver);
    TRY(gram_points_must_be_plain(context, "gp_gradient", points));
    FAIL_IF(gp->options.columns > 0, context, GRAM_ERROR_UNSUPPORTED,
            "gp_gradient: the derivative of given columns of the mean is not known");
    TRY(gram_function_gradient(context, gp->function, 0, points, out, ldo));
    const double *slopes = gram_gp_slopes(gp);
    for (int64_t i = 0; i < points->n && slopes; i++)
        for (int64_t l = 0; l < points->d; l++) out[i * ldo + l] += slopes[l];
done:
    return status;
}
