/* The table of likelihoods. To add one: its kind in <gram/laplace.h>, its functions and its row here. */
#include "solve/likelihood/likelihood.h"

#include <math.h>

#include "base/distribution_tails.h"

/* ---- logistic, y = -1 or 1: p = 1/(1 + exp(-y f)) ---- */

/* Everything from e = exp(-|f|) <= 1, so that nothing overflows and small probabilities keep their digits. */
static void logistic_evaluate(const gram_likelihood_rule *rule, double y, double f, double out[4])
{
    (void)rule;
    const double e = exp(-fabs(f)), larger = 1 / (1 + e), smaller = e * larger, margin = y * f;
    out[0] = margin >= 0 ? -log1p(e) : margin - log1p(e);
    out[1] = y * (margin >= 0 ? smaller : larger);
    out[2] = larger * smaller;
    out[3] = larger * smaller * (f >= 0 ? larger - smaller : smaller - larger); /* -W (1 - 2 p(f)) */
}

static double logistic_ratio(double y, double at, double delta, double log_weight)
{
    const double before = y * at, after = y * (at + delta);
    return exp(log_weight + fmin(after, 0) - fmin(before, 0)) * (1 + exp(-fabs(before))) / (1 + exp(-fabs(after)));
}

static int is_sign(double y)
{
    return y == 1 || y == -1;
}

/* ---- Poisson, y = 0, 1, ...: the rate is exp(f) ---- */

static void poisson_evaluate(const gram_likelihood_rule *rule, double y, double f, double out[4])
{
    (void)rule;
    const double rate = exp(f);
    out[0] = y * f - rate - gram_log_gamma(y + 1);
    out[1] = y - rate;
    out[2] = rate;
    out[3] = -rate;
}

/* y delta - rate (exp(delta) - 1): of many counts neither part is rounded by more than it moves. */
static double poisson_ratio(double y, double at, double delta, double log_weight)
{
    return exp(log_weight + y * delta - exp(at) * expm1(delta));
}

static int is_count(double y)
{
    return y >= 0 && y == floor(y) && isfinite(y);
}

/* ---- Student-t around f: r = y - f, s = nu scale^2 ---- */

static void student_evaluate(const gram_likelihood_rule *rule, double y, double f, double out[4])
{
    const double nu = rule->nu, s = nu * rule->scale * rule->scale, r = y - f, q = s + r * r,
                 pi = 3.14159265358979323846;
    out[0] = gram_log_gamma((nu + 1) / 2) - gram_log_gamma(nu / 2) - log(pi * s) / 2 - (nu + 1) / 2 * log1p(r * r / s);
    out[1] = (nu + 1) * r / q;
    out[2] = (nu + 1) * (s - r * r) / q / q;
    out[3] = (nu + 1) * 2 * r * (r * r - 3 * s) / q / q / q;
}

static void student_by_scale(const gram_likelihood_rule *rule, double y, double f, double out[3])
{
    const double nu = rule->nu, s = nu * rule->scale * rule->scale, r = y - f, q = s + r * r;
    out[0] = (nu + 1) * r * r / q - 1;
    out[1] = -(nu + 1) * r * 2 * s / q / q;
    out[2] = (nu + 1) * 2 * s * (3 * r * r - s) / q / q / q;
}

static int is_finite(double y)
{
    return isfinite(y);
}

/* ---- the table ---- */

static const gram_likelihood_type TYPES[] = {
    [GRAM_LIKELIHOOD_LOGISTIC] = {"logistic", logistic_evaluate, NULL, is_sign, "-1 or 1", logistic_ratio, 1.5},
    [GRAM_LIKELIHOOD_SOFTMAX] = {.name = "softmax"},
    [GRAM_LIKELIHOOD_POISSON] = {"poisson", poisson_evaluate, NULL, is_count, "a whole number >= 0", poisson_ratio,
                                 0.75},
    [GRAM_LIKELIHOOD_STUDENT] = {"student", student_evaluate, student_by_scale, is_finite, "a finite number", NULL, 0},
};
enum { TYPE_COUNT = sizeof TYPES / sizeof *TYPES };

const gram_likelihood_type *gram_likelihood_find(gram_likelihood kind)
{
    if ((int)kind < 0 || (int)kind >= TYPE_COUNT || !TYPES[kind].evaluate) return NULL;
    return &TYPES[kind];
}

const char *gram_likelihood_name(gram_likelihood kind)
{
    return (int)kind < 0 || (int)kind >= TYPE_COUNT ? "none" : TYPES[kind].name;
}

void gram_likelihood_evaluate(const gram_likelihood_rule *rule, int64_t n, const double *y, const double *weights,
                              const double *f, const gram_likelihood_values *out)
{
    const gram_likelihood_type *type = gram_likelihood_find(rule->kind);
    for (int64_t i = 0; i < n; i++) {
        const double weight = weights ? weights[i] : 1;
        double one[4];
        if (rule->evaluate)
            rule->evaluate(rule->argument, y[i], f[i], one);
        else
            type->evaluate(rule, y[i], f[i], one);
        if (out->log_p) out->log_p[i] = weight * one[0];
        if (out->first) out->first[i] = weight * one[1];
        if (out->curvature) out->curvature[i] = weight * one[2];
        if (out->third) out->third[i] = weight * one[3];
    }
}
