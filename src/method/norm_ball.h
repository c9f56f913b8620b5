/* The ball |f| <= B in the place of a penalty: its Lagrange multiplier. */
#ifndef GRAM_METHOD_NORM_BALL_H
#define GRAM_METHOD_NORM_BALL_H

#include "base/context.h"

/* Fits with lambda > 0 and says the norm of what comes out, which falls as lambda grows. */
typedef gram_status (*gram_norm_fn)(gram_context *context, void *self, double lambda, double *norm);

/* Finds the lambda whose fit has the norm `ball` to `tolerance` of it, and not more; where even next to no penalty has less (lambda at
 * 1e-14 `unit`, the mean of k(x, x)) the ball does not bind, and that fit is the one. The last call of `fit` made the result. *norm is its
 * norm. Some 10 to 20 fits. GRAM_ERROR_NUMERICAL if the norm does not fall with lambda. */
gram_status gram_norm_ball(gram_context *context, const char *name, double ball, double unit, double tolerance,
                           gram_norm_fn fit, void *self, double *lambda, double *norm);

#endif
