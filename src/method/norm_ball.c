/* min loss over |f| <= B is min loss + lambda |f|^2 for the lambda >= 0 with |f_lambda| = B, or lambda = 0 if |f_0| <= B. |f_lambda| is continuous and falls
 * with lambda, so that its logarithm by that of lambda is bracketed by tens and then closed in on by the Illinois method (Dowell and Jarratt
 * 1971): regula falsi with the weight of an end that stays halved. */
#include "method/norm_ball.h"

#include <math.h>

enum { MOST_TENS = 40, MOST_STEPS = 60 };
static const double FIRST = 1e-2, NOTHING = 1e-14; /* of the unit */

typedef struct search {
    gram_context *context;
    double ball;
    gram_norm_fn fit;
    void *self;
    double norm; /* of the last fit */
} search;

/* log(|f|/B) at exp(x). A norm of 0 is far below. */
static gram_status miss(search *s, double x, double *out)
{
    const gram_status status = s->fit(s->context, s->self, exp(x), &s->norm);
    *out = s->norm > 0 ? log(s->norm / s->ball) : -1e3;
    return status;
}

/* Two lambdas with the norm at most B at the larger, x[1], and above it at the other; *binds 0 if there is no such other. */
static gram_status bracket(search *s, double unit, double x[2], double y[2], int *binds)
{
    gram_status status = GRAM_OK;
    const double least = log(NOTHING * unit);
    x[1] = x[0] = log(FIRST * unit);
    TRY(miss(s, x[1], &y[1]));
    x[0] = x[1];
    y[0] = y[1];
    *binds = 1;
    for (int i = 0; i < MOST_TENS && y[1] > 0; i++) {
        x[0] = x[1];
        y[0] = y[1];
        x[1] += log(10);
        TRY(miss(s, x[1], &y[1]));
    }
    while (y[0] <= 0 && *binds) {
        x[1] = x[0];
        y[1] = y[0];
        *binds = x[0] > least;
        if (!*binds) break;
        x[0] -= log(10);
        TRY(miss(s, x[0], &y[0]));
    }
done:
    return status;
}

gram_status gram_norm_ball(gram_context *context, const char *name, double ball, double unit, double tolerance,
                           gram_norm_fn fit, void *self, double *lambda, double *norm)
{
    gram_status status = GRAM_OK;
    search s = {context, ball, fit, self, 0};
    double x[2], y[2], weight[2] = {1, 1}, at, value;
    int binds, side = -1;
    TRY(bracket(&s, unit > 0 ? unit : 1, x, y, &binds));
    at = x[1];
    value = y[1];
    for (int i = 0; i < MOST_STEPS && binds; i++) {
        const double low = y[0] * weight[0], high = y[1] * weight[1];
        if (value <= 0 && value > -tolerance) break;
        at = i % 8 == 7 ? (x[0] + x[1]) / 2 : x[1] - high * (x[1] - x[0]) / (high - low);
        if (!(at > x[0] && at < x[1])) at = (x[0] + x[1]) / 2;
        TRY(miss(&s, at, &value));
        const int now = value <= 0;
        weight[!now] = side == now ? weight[!now] / 2 : 1;
        weight[now] = 1;
        side = now;
        x[now] = at;
        y[now] = value;
        if (x[1] - x[0] < 1e-14 * fabs(x[1])) break;
    }
    if (!(value <= 0)) TRY(miss(&s, at = x[1], &value));
    FAIL_IF(!(value <= 0) || (binds && value < -1e3 * tolerance), context, GRAM_ERROR_NUMERICAL,
            "%s: no penalty gives the norm %g: the fit has %g", name, ball, s.norm);
    *lambda = exp(at);
    *norm = s.norm;
done:
    return status;
}
