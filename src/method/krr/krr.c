/* Kernel ridge regression: plans, solves, and reports how good the result is.
 *
 * The report is made from the solution alone, by one product K [a, 1] in f64: fitted values, the residual of the system, the
 * norm a'K a, and a lower bound of |A| for the backward error. So it is the same account for every way of solving. */
#include <math.h>
#include <string.h>

#include <gram/krr.h>
#include <gram/text.h>

#include "base/sized_struct.h"
#include "function/function.h"
#include "method/krr/krr.h"
#include "method/krr/krr_solution.h"
#include "method/norm_ball.h"
#include "points/functionals.h"

static const double BALL = 1e-9; /* of the norm */

struct gram_krr {
    gram_memory *memory;
    gram_function *function;
    gram_krr_report report;
    int64_t given, m;
    double *fitted, *loo;
    double *factors; /* L and R of landmarks, or NULL */
};

void gram_krr_options_init(gram_krr_options *options, size_t size)
{
    const gram_krr_options defaults = {.lambda = 1e-3, .intercept = 1, .leave_one_out = -1, .keep_factor = -1};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

gram_status gram_krr_options_read(gram_context *context, const char *name, const gram_krr_options *options,
                                  gram_krr_options *known)
{
    gram_krr_options_init(known, sizeof *known);
    return gram_sized_read(context, name, "options", "gram_krr_options", options, known, sizeof *known);
}

/* ---- a solution ---- */

gram_status gram_solution_make(gram_context *context, const gram_problem *p, int64_t count, gram_solution *s)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(context, "coefficients", count * p->m, sizeof(double), (void **)&s->a));
    TRY(gram_take(context, "constants", (p->q > 0 ? p->q : 1) * p->m, sizeof(double), (void **)&s->b));
    memset(s->b, 0, (size_t)((p->q > 0 ? p->q : 1) * p->m) * sizeof(double));
    s->condition = s->log_determinant = s->effective_dimension = s->trace_error = NAN;
    s->rank = count;
done:
    return status;
}

static int64_t centre_count(const gram_problem *p, const gram_krr_options *options, const gram_solution *s)
{
    if (s->plan.solver != GRAM_SOLVER_NYSTROM) return p->n;
    const int given = options->landmark_rule == GRAM_LANDMARKS_GIVEN && options->landmark_points;
    return given ? options->landmark_points->n : s->plan.landmarks;
}

void gram_solution_free(gram_context *context, gram_solution *s)
{
    gram_give(context, s->a);
    gram_give(context, s->b);
    gram_give(context, s->projected);
    gram_give(context, s->noise);
    gram_give(context, s->full);
    if (s->plan.solver == GRAM_SOLVER_NYSTROM) gram_points_release(s->centres);
    gram_give(context, s->factors);
}

static gram_status plan(gram_context *context, const gram_problem *p, const gram_krr_options *options, gram_plan *out)
{
    gram_krr_plan_request request;
    gram_krr_plan_request_init(&request, sizeof request);
    request.n = p->n;
    request.d = p->d;
    request.outputs = p->m;
    request.kernel = p->kernel;
    request.solver = options->solver;
    request.precision = options->precision;
    request.landmarks = options->landmarks;
    if (options->landmark_rule == GRAM_LANDMARKS_GIVEN && options->landmark_points)
        request.landmarks = options->landmark_points->n;
    request.leave_one_out = options->leave_one_out;
    request.ridgeless = options->lambda == 0;
    return gram_krr_plan(context, &request, out);
}

static gram_status solve(gram_context *context, gram_problem *p, const gram_krr_options *options, gram_solution *s)
{
    gram_status status = GRAM_OK;
    s->intercept = p->intercept;
    s->tolerance = options->tolerance;
    TRY(plan(context, p, options, &s->plan));
    TRY(gram_solution_make(context, p, centre_count(p, options, s), s));
    switch (s->plan.solver) {
    case GRAM_SOLVER_NYSTROM:
        TRY(gram_points_must_be_plain(context, "krr_fit: solver nystrom", p->x));
        TRY(gram_points_must_be_numbers(context, "krr_fit: solver nystrom", p->x));
        TRY(gram_solve_landmarks(context, p, options, s));
        break;
    case GRAM_SOLVER_CG: TRY(gram_solve_cg(context, p, s)); break;
    case GRAM_SOLVER_SKETCH: TRY(gram_solve_sketch(context, p, s)); break;
    default: TRY(gram_solve_exact(context, p, s));
    }
done:
    return status;
}

/* ---- the report ---- */

/* K a from what it leaves of the targets. */
static void values_from_left(const gram_problem *p, const gram_solution *s, double *out)
{
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t o = 0; o < p->m; o++)
            out[i * (p->m + 1) + o] =
                p->y[i * p->m + o] - gram_problem_unpenalised(p, i, s->b, o) - s->noise[i * p->m + o];
}

/* K [a, 1] for the points: n x (m + 1); of landmarks the last column may be left as it is. */
static gram_status multiply(gram_context *context, const gram_problem *p, const gram_solution *s, double *out)
{
    gram_status status = GRAM_OK;
    const int64_t columns = p->m + 1, count = s->centres->n;
    double *v = NULL;
    if (s->centres != p->x && s->noise) {
        values_from_left(p, s, out);
        return GRAM_OK;
    }
    TRY(gram_take(context, "coefficients and 1", count * columns, sizeof(double), (void **)&v));
    for (int64_t i = 0; i < count; i++) {
        memcpy(v + i * columns, s->a + i * p->m, (size_t)p->m * sizeof *v);
        v[i * columns + p->m] = 1;
    }
    TRY(gram_matrix_product(context, p->kernel, p->x, s->centres == p->x ? NULL : s->centres, columns, v, columns, out,
                            columns));
done:
    gram_give(context, v);
    return status;
}

static double root_sum(double sum)
{
    return sum > 0 ? sqrt(sum) : 0;
}

/* |A|_2 from below: |A 1|/sqrt(n), and its largest diagonal entry. */
static double norm_from_below(const gram_problem *p, const double *products, const double *diagonal)
{
    double sum = 0, most = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const double shift = p->ridge[i], row = products[i * (p->m + 1) + p->m] + shift;
        sum += row * row;
        if (diagonal[i] + shift > most) most = diagonal[i] + shift;
    }
    return fmax(most, sqrt(sum / (double)p->n));
}

/* |y - b - A a| against |y - b| (or y, where b is much larger) and |A| |a|, the worst output; A as it was asked for, without a
 * jitter.
 *
 * And what it says of f: with D = diag(ridge), |f^ - f|^2 = r'A^-1 K A^-1 r <= r'D^-1 r/4, since t/(1 + t)^2 <= 1/4, and |f^(x) - f(x)| <=
 * sqrt(k(x,x)) |f^ - f|. Infinite without a ridge, but for a residual of 0. */
static void report_residual(const gram_problem *p, gram_solution *s, const double *products, const double *diagonal,
                            gram_krr_report *r)
{
    const double norm = norm_from_below(p, products, diagonal);
    r->residual = r->backward_error = r->error_bound = 0;
    for (int64_t o = 0; o < p->m; o++) {
        double residual = 0, weighted = 0, right = 0, a = 0, applied = 0;
        for (int64_t i = 0; i < p->n; i++) {
            const double coefficient = s->a[i * p->m + o],
                         target = p->y[i * p->m + o] - gram_problem_unpenalised(p, i, s->b, o);
            const double noise = s->noise ? s->noise[i * p->m + o] : p->ridge[i] * coefficient;
            const double left = products[i * (p->m + 1) + o] + noise;
            residual += (target - left) * (target - left);
            weighted += (target - left) * (target - left) / p->ridge[i];
            right += target * target;
            a += coefficient * coefficient;
            applied += left * left;
        }
        const double size = fmax(norm * sqrt(a), sqrt(applied)) + sqrt(right);
        const double targets = gram_target_size(p->n, p->y + o, p->m, s->intercept);
        const double error = targets > 0 ? sqrt(residual) / targets : 0, own = right > 0 ? sqrt(residual / right) : 0;
        if (right > 0) r->residual = fmax(r->residual, error > 2 * own ? error : own);
        s->error = fmax(s->error, error);
        r->error_bound = fmax(r->error_bound, r->radius * sqrt(weighted) / 2);
        if (size > 0) r->backward_error = fmax(r->backward_error, sqrt(residual) / size);
    }
}

/* |f|^2 = a'K a, where K a is in the products; for landmarks it takes their own matrix. */
static gram_status report_norm(gram_context *context, const gram_problem *p, const gram_solution *s,
                               const gram_function *f, const double *products, gram_krr_report *r)
{
    gram_status status = GRAM_OK;
    double sum = 0, *norms = NULL;
    if (s->centres == p->x) {
        for (int64_t i = 0; i < p->n; i++)
            for (int64_t o = 0; o < p->m; o++) sum += s->a[i * p->m + o] * products[i * (p->m + 1) + o];
    } else {
        TRY(gram_take(context, "norms", p->m, sizeof(double), (void **)&norms));
        TRY(gram_function_norm(context, f, norms));
        for (int64_t o = 0; o < p->m; o++) sum += norms[o] * norms[o];
    }
    r->norm = root_sum(sum);
done:
    gram_give(context, norms);
    return status;
}

/* Errors on the rows, and the fitted values. */
static void report_training(const gram_problem *p, const gram_solution *s, const double *products, double *fitted,
                            gram_krr_report *r)
{
    double sum = 0;
    const double variation = gram_problem_variation(p);
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t o = 0; o < p->m; o++) {
            const double value = products[i * (p->m + 1) + o] + gram_problem_unpenalised(p, i, s->b, o),
                         miss = p->y[i * p->m + o] - value;
            fitted[(p->rows ? p->rows[i] : i) * p->m + o] = value;
            sum += gram_problem_weight(p, i) * miss * miss;
        }
    r->train_rmse = sqrt(sum / (p->total * (double)p->m));
    r->train_r2 = variation > 0 ? 1 - sum / variation : NAN;
}

/* y_i - f_(-i)(x_i) = a_i/P_ii. GCV, the weighted mean squared residual over (1 - df/n)^2:
 * (n^2/W) sum_i a_i^2/w_i / (sum_i P_ii/w_i)^2, W the sum of the weights. */
static void report_leave_one_out(const gram_problem *p, const gram_solution *s, double *loo, gram_krr_report *r)
{
    double sum = 0, whitened = 0, trace = 0;
    const double variation = gram_problem_variation(p);
    for (int64_t i = 0; i < p->n; i++) {
        const double w = gram_problem_weight(p, i);
        trace += s->projected[i] / w;
        for (int64_t o = 0; o < p->m; o++) {
            const double a = (s->full ? s->full : s->a)[i * p->m + o],
                         miss = s->projected[i] > 0 ? a / s->projected[i] : NAN;
            loo[(p->rows ? p->rows[i] : i) * p->m + o] = miss;
            sum += w * miss * miss;
            whitened += a * a / w;
        }
    }
    r->loo_rmse = sqrt(sum / (p->total * (double)p->m));
    r->loo_r2 = variation > 0 ? 1 - sum / variation : NAN;
    r->gcv = (double)p->n * (double)p->n * whitened / (trace * trace) / (p->total * (double)p->m);
}

/* y ~ N(b, s^2 A) with the s^2 that fits best: y'P y/n. Without a factor of A there is none; of landmarks A is that of their kernel. */
static void report_likelihood(const gram_problem *p, const gram_solution *s, gram_krr_report *r)
{
    const double n = (double)p->n, pi = 3.14159265358979323846;
    double sum = 0;
    r->log_marginal_likelihood = NAN;
    if (isnan(s->log_determinant) || (s->noise && !s->full)) return;
    for (int64_t o = 0; o < p->m; o++) {
        double quadratic = 0;
        for (int64_t i = 0; i < p->n; i++)
            quadratic += (p->y[i * p->m + o] - gram_problem_unpenalised(p, i, s->b, o)) *
                         (s->full ? s->full : s->a)[i * p->m + o];
        sum -= n / 2 * (log(2 * pi * quadratic / n) + 1) + s->log_determinant / 2;
    }
    r->log_marginal_likelihood = isfinite(sum) ? sum : NAN;
}

static void report_solution(const gram_problem *p, const gram_solution *s, const double *diagonal, gram_krr_report *r)
{
    r->n = p->n;
    r->d = p->d;
    r->outputs = p->m;
    r->solver = s->plan.solver;
    r->precision = s->plan.precision;
    r->jitter = s->jitter;
    r->condition = s->condition;
    r->iterations = s->iterations;
    r->rank = s->rank;
    r->trace_error = s->trace_error;
    r->effective_dimension = s->effective_dimension;
    r->plan = s->plan;
    r->intercept = s->intercept;
    for (int64_t i = 0; i < p->n; i++) {
        r->trace += diagonal[i];
        r->radius = fmax(r->radius, sqrt(fmax(0, diagonal[i])));
    }
}

static gram_status take_rows(gram_context *context, gram_krr *krr, double **out)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(context, "values of the rows", krr->given * krr->m, sizeof(double), (void **)out));
    for (int64_t i = 0; i < krr->given * krr->m; i++) (*out)[i] = NAN;
done:
    return status;
}

/* What is left of the targets, and A~^-1 (y - b) for the kernel of the landmarks. */
static gram_status report_landmarks(gram_context *context, const gram_problem *p, const double *products,
                                    gram_solution *s, gram_krr_report *r)
{
    gram_status status = GRAM_OK;
    if (!s->noise) TRY(gram_take(context, "residuals", p->n * p->m, sizeof(double), (void **)&s->noise));
    TRY(gram_take(context, "residuals", p->n * p->m, sizeof(double), (void **)&s->full));
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t o = 0; o < p->m; o++) {
            const double left =
                p->y[i * p->m + o] - gram_problem_unpenalised(p, i, s->b, o) - products[i * (p->m + 1) + o];
            s->noise[i * p->m + o] = left;
            s->full[i * p->m + o] = left / p->ridge[i];
        }
    r->residual = s->reduced_error;
done:
    return status;
}

static gram_status report(gram_context *context, const gram_problem *p, gram_solution *s, int certify, gram_krr *krr)
{
    gram_status status = GRAM_OK;
    gram_krr_report *r = &krr->report;
    const int64_t numbers = p->n * (p->m + 1);
    double *products = NULL, *diagonal = NULL;
    TRY(gram_take(context, "products", numbers, sizeof(double), (void **)&products));
    TRY(gram_take(context, "diagonal", p->n, sizeof(double), (void **)&diagonal));
    TRY(multiply(context, p, s, products));
    TRY(gram_matrix_diagonal(context, p->kernel, p->x, diagonal));
    report_solution(p, s, diagonal, r);
    if (s->centres == p->x)
        report_residual(p, s, products, diagonal, r);
    else
        TRY(report_landmarks(context, p, products, s, r));
    TRY(report_norm(context, p, s, krr->function, products, r));
    TRY(take_rows(context, krr, &krr->fitted));
    report_training(p, s, products, krr->fitted, r);
    if (s->projected) {
        TRY(take_rows(context, krr, &krr->loo));
        report_leave_one_out(p, s, krr->loo, r);
    }
    report_likelihood(p, s, r);
    if (s->centres != p->x) TRY(gram_landmark_certificate(context, p, s, certify, s->noise, r));
done:
    gram_give(context, products);
    gram_give(context, diagonal);
    return status;
}

/* The root of the mean square of y about its means. */
static double spread_of(const gram_problem *p)
{
    return sqrt(gram_problem_variation(p) / (p->total * (double)p->m));
}

/* Is the solution what was asked for? Without a ridge, rows of a strictly positive definite kernel are interpolated, but
 * for what those with the same coordinates differ by. */
static gram_status judge(gram_context *context, const gram_problem *p, gram_solution *s, const gram_krr *krr)
{
    gram_status status = GRAM_OK;
    gram_properties facts;
    double least = 0;
    if (s->plan.solver == GRAM_SOLVER_NYSTROM || s->plan.precision == GRAM_PRECISION_F32) goto done;
    const int iterates = s->plan.solver == GRAM_SOLVER_CG || s->plan.solver == GRAM_SOLVER_SKETCH;
    if (iterates && s->tolerance > 0) goto done; /* the caller's word for what is enough */
    if (!(s->error > GRAM_SOLUTION_PROMISED)) goto done;
    s->not_converged = 1;
    if (p->ridge[0] > 0 || !gram_problem_is_plain(p)) goto done;
    TRY(gram_kernel_properties(context, p->kernel, p->d, &facts));
    if (facts.strictly == GRAM_YES) TRY(gram_solution_least_error(context, p, &least));
    s->not_converged =
        facts.strictly == GRAM_YES && krr->report.train_rmse > least + GRAM_SOLUTION_PROMISED * spread_of(p);
done:
    return status;
}

/* ---- the fit ---- */

static gram_status make(gram_context *context, const gram_problem *p, gram_krr **krr)
{
    gram_status status = GRAM_OK;
    gram_krr *made = NULL;
    TRY(gram_take(context, "krr_fit", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    made->given = p->given;
    made->m = p->m;
    gram_krr_report *r = &made->report;
    r->size = sizeof *r;
    r->error_bound = r->residual = r->backward_error = r->loo_rmse = r->loo_r2 = r->gcv = r->gap = r->certificate =
        r->certificate_rms = NAN;
    *krr = made;
done:
    return status;
}

/* What a fit is asked for. */
typedef struct request {
    gram_kernel *kernel;
    const gram_points *x;
    int64_t outputs;
    const double *y;
    int64_t ldy;
    const gram_krr_options *options; /* complete */
    gram_krr *krr;                   /* the last fit */
    gram_status status;              /* of it */
} request;

static gram_status fit(gram_context *context, const request *r, double lambda, gram_krr **krr)
{
    gram_status status = GRAM_OK;
    const gram_krr_options *o = r->options;
    gram_problem problem = {0};
    gram_solution solution = {0};
    gram_krr *made = NULL;
    TRY(gram_problem_make(context, "krr_fit", r->kernel, r->x, r->outputs, r->y, r->ldy, o->weights, &problem));
    TRY(gram_problem_set_lambda(context, "krr_fit", lambda, &problem));
    TRY(gram_problem_set_unpenalised(context, "krr_fit", o->intercept, o->unpenalised_count, o->unpenalised, &problem));
    TRY(make(context, &problem, &made));
    TRY(solve(context, &problem, o, &solution));
    TRY(gram_function_of_problem(context, &problem, solution.centres, r->outputs, solution.a, solution.b,
                                 &made->function));
    made->report.lambda = solution.lambda > 0 ? solution.lambda : lambda;
    TRY(report(context, &problem, &solution, o->certify, made));
    made->factors = solution.factors;
    solution.factors = NULL;
    TRY(judge(context, &problem, &solution, made));
    *krr = made;
    made = NULL;
    if (solution.not_converged) status = GRAM_NOT_CONVERGED;
done:
    gram_krr_destroy(made);
    gram_solution_free(context, &solution);
    gram_problem_free(context, &problem);
    return status;
}

/* ---- the ball |f| <= B ---- */

/* Fits that only look for lambda leave no row out. */
static gram_status norm_at(gram_context *context, void *self, double lambda, double *norm)
{
    request *r = self;
    gram_krr_destroy(r->krr);
    r->krr = NULL;
    r->status = fit(context, r, lambda, &r->krr);
    if (r->status < 0) return r->status;
    *norm = r->krr->report.norm;
    return GRAM_OK;
}

static gram_status fit_ball(gram_context *context, request *r, double *lambda)
{
    gram_status status = GRAM_OK;
    gram_krr_options quick = *r->options;
    request search = *r;
    double *diagonal = NULL, unit = 0, norm;
    quick.leave_one_out = 0;
    search.options = &quick;
    FAIL_IF(!r->x || !r->kernel, context, GRAM_ERROR_ARGUMENT, "krr_fit: %s is NULL", r->x ? "kernel" : "x");
    TRY(gram_take(context, "diagonal", r->x->n, sizeof *diagonal, (void **)&diagonal));
    TRY(gram_matrix_diagonal(context, r->kernel, r->x, diagonal));
    for (int64_t i = 0; i < r->x->n; i++) unit += diagonal[i] / (double)r->x->n;
    TRY(gram_norm_ball(context, "krr_fit", r->options->norm, unit, BALL, norm_at, &search, lambda, &norm));
done:
    gram_krr_destroy(search.krr);
    gram_give(context, diagonal);
    return status;
}

gram_status gram_krr_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t outputs,
                         const double *y, int64_t ldy, const gram_krr_options *options, gram_krr **krr)
{
    gram_status status = GRAM_OK;
    gram_krr_options known;
    char shown[GRAM_NUMBER_SIZE];
    if (!context || !krr) return GRAM_ERROR_ARGUMENT;
    *krr = NULL;
    TRY(gram_krr_options_read(context, "krr_fit", options, &known));
    FAIL_IF(!(known.norm >= 0 && isfinite(known.norm)), context, GRAM_ERROR_ARGUMENT,
            "krr_fit: norm = %s, need a finite number >= 0", gram_number_format(known.norm, shown));
    request r = {kernel, x, outputs, y, ldy, &known, NULL, GRAM_OK};
    if (known.norm > 0) TRY(fit_ball(context, &r, &known.lambda));
    status = fit(context, &r, known.lambda, krr);
done:
    return status;
}

void gram_krr_destroy(gram_krr *krr)
{
    if (!krr) return;
    gram_memory *memory = krr->memory;
    gram_function_release(krr->function);
    gram_memory_give(memory, krr->fitted);
    gram_memory_give(memory, krr->loo);
    gram_memory_give(memory, krr->factors);
    gram_memory_give(memory, krr);
    gram_memory_release(memory);
}

gram_function *gram_krr_function(const gram_krr *krr)
{
    return krr->function;
}

const gram_krr_report *gram_krr_get_report(const gram_krr *krr)
{
    return &krr->report;
}

const double *gram_krr_landmark_factor(const gram_krr *krr)
{
    return krr->factors;
}

const double *gram_krr_inner_factor(const gram_krr *krr)
{
    return krr->factors ? krr->factors + krr->report.rank * krr->report.rank : NULL;
}

const double *gram_krr_fitted(const gram_krr *krr)
{
    return krr->fitted;
}

const double *gram_krr_loo_residuals(const gram_krr *krr)
{
    return krr->loo;
}
