#include "kernel/family_facts.h"

#include "base/distribution_tails.h"

void gram_facts_smooth_stationary(gram_properties *facts)
{
    facts->positive_definite = GRAM_YES;
    facts->strictly = GRAM_YES;
    facts->stationary = GRAM_YES;
    facts->isotropic = GRAM_YES;
    facts->universal = GRAM_YES;
    facts->characteristic = GRAM_YES;
    facts->continuous = GRAM_YES;
    facts->bounded_below = GRAM_YES;
    facts->rank = GRAM_INFINITE;
    facts->sobolev_order = NAN;
}

void gram_facts_polynomial(gram_properties *facts, int64_t rank, int positive_diagonal)
{
    facts->positive_definite = GRAM_YES;
    facts->strictly = GRAM_NO;
    facts->stationary = GRAM_NO;
    facts->isotropic = GRAM_NO;
    facts->universal = GRAM_NO;
    facts->characteristic = GRAM_NO;
    facts->continuous = GRAM_YES;
    facts->bounded_below = positive_diagonal ? GRAM_YES : GRAM_NO;
    facts->rank = rank;
    facts->derivatives = GRAM_INFINITE;
    facts->draws_in_space = GRAM_YES; /* however large the rank */
    facts->sobolev_order = NAN;
}

int64_t gram_monomial_count(int64_t d, double m)
{
    const double count =
        round(exp(gram_log_gamma((double)d + m + 1) - gram_log_gamma(m + 1) - gram_log_gamma((double)d + 1)));
    return count < 9e15 ? (int64_t)count : GRAM_INFINITE;
}

/* Up to this power what the sum lost is worth at most 8 roundings. */
static const double SMALL_POWER = 8;

/* What base + t lost when it was rounded to sum (Knuth), as a share of it. */
static double lost_share(double base, double rest, double t, double sum)
{
    const double added = sum - base;
    const double lost = (base - (sum - added)) + (t - added);
    return sum <= 1e300 ? (lost + rest) / sum : 0;
}

void gram_profile_inverse_power(const gram_vecmath_f64 *v, const gram_inverse_power *form, int n, const double *s,
                                double *out, double *work)
{
    if (form->power > SMALL_POWER) {
        for (int i = 0; i < n; i++) {
            const double t = form->scale * s[i];
            work[i] = -form->power * lost_share(form->base, form->rest, t, form->base + t);
        }
        v->exp(n, work, work);
    }
    v->affine(n, form->scale, form->base, s, out);
    if (form->power == 1)
        for (int i = 0; i < n; i++) out[i] = 1 / out[i];
    else if (form->power == 0.5)
        for (int i = 0; i < n; i++) out[i] = 1 / sqrt(out[i]);
    else
        v->pow(n, -form->power, out, out);
    if (form->power > SMALL_POWER) v->multiply(n, work, out);
}

/* Up to this power what the sum lost in f64 is nothing in f32. Above it, where rq is all but rbf, pairs go one by one. */
static const double MOST_POWER_F32 = 1e6;

/* Is it far from the ends of f32, so that sums and products with it are too? */
static int moderate(double x)
{
    return x > 1e-18 && x < 1e18;
}

void gram_profile_inverse_power_f32(const gram_vecmath_f32 *v, const gram_inverse_power *form, int n, const float *s,
                                    float *out)
{
    const int simple = form->power == 1 || form->power == 0.5;
    if (form->power > MOST_POWER_F32) {
        for (int i = 0; i < n; i++) {
            const double share = log(form->base) + log1p(form->scale / form->base * (double)s[i]);
            out[i] = (float)exp(-form->power * share);
        }
        return;
    }
    if (!simple || !moderate(form->base) || !moderate(form->scale)) {
        v->pow_affine(n, form->base, form->scale, -form->power, s, out);
        return;
    }
    v->affine(n, (float)form->scale, (float)form->base, s, out);
    if (form->power == 1)
        for (int i = 0; i < n; i++) out[i] = 1 / out[i];
    else
        for (int i = 0; i < n; i++) out[i] = 1 / sqrtf(out[i]);
}
