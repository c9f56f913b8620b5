/* How much worse than on its sample a fitted function may be on new data: what models keep of the bounds in <gram/function.h>, and
 * how reports say it.
 *
 * They hold for rows that were drawn independently and a kernel that was fixed before they were seen. So nothing is kept where
 * columns were standardised or filled by their means, numbers of the kernel were chosen from the data, rows have weights or
 * belong to groups, or the kernel is not known to be positive definite. What bounds k(x,x) and |y| is taken from the sample:
 * that of k(x,x) is certain only where it is one number, and the report says what is assumed. Nor is anything kept that says
 * less than is known without data: a 0-1 risk of 1, a squared risk of max |y|^2.
 *
 * A constant b that is not penalised: f + b is a function of the kernel k/R^2 + 1, with the squared norm R^2 |f|^2 + b^2 at most. Both
 * parts of this kernel are at most 1, and the balls of 2^i, which ask nothing of how the function was found, hold it. */
#include <math.h>

#include "method/method.h"

static const double DELTA = 0.05;

gram_status gram_risk_measure(gram_learning *learning, gram_risk *risk)
{
    gram_status status = GRAM_OK;
    const int64_t n = learning->data->n;
    double *diagonal = NULL;
    TRY(gram_take(learning->context, "risk", n, sizeof *diagonal, (void **)&diagonal));
    TRY(gram_matrix_diagonal(learning->context, learning->kernel, learning->points, diagonal));
    risk->radius = risk->trace = 0;
    for (int64_t i = 0; i < n; i++) {
        risk->radius = fmax(risk->radius, sqrt(fmax(0, diagonal[i])));
        risk->trace += diagonal[i];
    }
done:
    gram_give(learning->context, diagonal);
    return status;
}

/* Was every number of the kernel given, and kept? */
static int is_kernel_fixed(const gram_learning *learning)
{
    gram_parameter parameter;
    if (learning->before) return 0; /* how its numbers were found is not known here */
    if (!learning->written) return 1;
    if (learning->tuning == GRAM_TUNING_NONE) return gram_kernel_equal(learning->written, learning->kernel);
    for (int64_t i = 0; i < gram_kernel_parameter_count(learning->written); i++)
        if (gram_kernel_parameter_get(learning->context, learning->written, i, &parameter) < 0 || !parameter.fixed)
            return 0;
    return gram_kernel_equal(learning->written, learning->kernel);
}

/* Is this a sample that the bounds are for? */
static int is_sound(const gram_learning *learning, const gram_properties *facts)
{
    const gram_preparation_description *known = gram_preparation_describe(learning->preparation);
    if (known->scaled || known->missing == GRAM_MISSING_MEAN) return 0;
    if (learning->data->weights || learning->weights || learning->groups || learning->ordered) return 0;
    return facts->positive_definite == GRAM_YES && is_kernel_fixed(learning);
}

int gram_keep_complexity(gram_keeper *keeper, gram_learning *learning, const gram_risk *risk, gram_properties *facts)
{
    gram_properties known;
    if (keeper->status < 0) return 0;
    keeper->status = gram_kernel_properties(learning->context, learning->kernel, learning->data->d, &known);
    if (keeper->status < 0) return 0;
    if (known.positive_definite == GRAM_YES && !learning->data->weights && !learning->weights)
        gram_keep_number(keeper, "rademacher", gram_bound_rademacher(risk->norm, risk->trace, learning->n));
    if (facts) *facts = known;
    return is_sound(learning, &known);
}

static void keep_bound(gram_keeper *keeper, const gram_properties *facts, double radius, double bound, double ball)
{
    gram_keep_number(keeper, "risk_bound", bound);
    gram_keep_number(keeper, "risk_delta", DELTA);
    gram_keep_number(keeper, "risk_ball", ball);
    gram_keep_number(keeper, "risk_radius", radius);
    gram_keep_integer(keeper, "risk_radius_sure", facts->constant_diagonal == GRAM_YES);
}

static void keep_stability(gram_keeper *keeper, double excess, double ball, double less_than)
{
    if (!(excess < less_than)) return;
    gram_keep_number(keeper, "stability_bound", excess);
    gram_keep_number(keeper, "stability_ball", ball);
}

void gram_keep_squared_risk(gram_keeper *keeper, gram_learning *learning, const gram_risk *risk, double mean_square)
{
    const int64_t n = learning->n;
    const double lambda = risk->lambda, radius = risk->radius;
    gram_properties facts;
    double most = 0, ball;
    if (!gram_keep_complexity(keeper, learning, risk, &facts) || risk->intercept) return;
    for (int64_t i = 0; i < learning->data->n; i++) most = fmax(most, fabs(learning->data->y[i]));
    const double within = lambda > 0 ? most / sqrt(lambda) : INFINITY;
    const double excess = gram_bound_squared_risk_best(risk->norm, within, radius, most, DELTA, n, &ball);
    if (mean_square + excess < most * most) keep_bound(keeper, &facts, radius, mean_square + excess, ball);
    if (!(lambda > 0)) return;
    const double reach = radius * most / lambda * sqrt(100 / (3 * (double)n));
    keep_stability(keeper, gram_bound_stability(reach, radius, most, n), reach, most * most);
}

/* (1/n) sum min(1, max(0, 1 - y f)), y = 1 for the second class and -1 for the first */
static double ramp_loss(const gram_learning *learning, const double *f)
{
    double sum = 0;
    for (int64_t i = 0; i < learning->data->n; i++)
        sum += fmin(1, fmax(0, 1 - (learning->labels[i] == 1 ? f[i] : -f[i])));
    return sum / (double)learning->data->n;
}

/* The bound over the ramp loss, and the ball that it is for. */
static double class_excess(const gram_risk *risk, int64_t n, double *ball)
{
    const double within = risk->lambda > 0 ? sqrt(risk->zero_loss / risk->lambda) : INFINITY;
    if (!risk->intercept) return gram_bound_classification_risk_best(risk->norm, within, risk->radius, DELTA, n, ball);
    const double norm = hypot(risk->radius * risk->norm, risk->constant);
    return gram_bound_classification_risk_best(norm, INFINITY, sqrt(2), DELTA, n, ball);
}

void gram_keep_class_risk(gram_keeper *keeper, gram_learning *learning, const gram_risk *risk, const double *f)
{
    const int64_t n = learning->n;
    gram_properties facts = {0};
    double ball;
    if (learning->classes.count != 2) return;
    const int sound = gram_keep_complexity(keeper, learning, risk, &facts);
    const double ramp = ramp_loss(learning, f), excess = class_excess(risk, n, &ball);
    gram_keep_number(keeper, "ramp_loss", ramp);
    if (!sound) return;
    if (ramp + excess < 1) keep_bound(keeper, &facts, risk->radius, ramp + excess, ball);
    if (risk->intercept || !(risk->lambda > 0)) return;
    const double reach = risk->radius / risk->lambda * sqrt(2 / (double)n);
    keep_stability(keeper, gram_bound_stability_hinge(reach, risk->radius, n), reach, risk->zero_loss);
}

/* ---- the report ---- */

/* What was taken from the sample. */
static void report_assumption(gram_report *report, int squared)
{
    const int sure = gram_report_number(report, "risk_radius_sure") == 1;
    if (sure && !squared) return;
    gram_report_add(report, ",");
    gram_report_row(report, "");
    gram_report_add(report, "if no %s above the largest one%s here",
                    sure      ? "|y| is"
                    : squared ? "|y| and no k(x, x) are"
                              : "k(x, x) is",
                    !sure && squared ? "s" : "");
}

void gram_report_risk(gram_report *report, const char *what, const char *least)
{
    const int squared = isnan(gram_report_number(report, "ramp_loss"));
    if (!isnan(gram_report_number(report, "risk_bound"))) {
        gram_report_row(report, "risk");
        gram_report_part(report, "at most", "risk_bound", GRAM_FINE);
        gram_report_add(report, " (%s on new data) with probability ",
                        squared ? "mean squared error" : "share of errors");
        gram_report_value(report, GRAM_FINE, 1 - gram_report_number(report, "risk_delta"));
        report_assumption(report, squared);
    }
    if (isnan(gram_report_number(report, "stability_bound"))) return;
    gram_report_row(report, "stability");
    gram_report_add(report, "expected %s on new data at most ", what);
    gram_report_value(report, GRAM_FINE, gram_report_number(report, "stability_bound"));
    gram_report_add(report, " above the least %s of any |f| <= ", least);
    gram_report_value(report, GRAM_FINE, gram_report_number(report, "stability_ball"));
}
