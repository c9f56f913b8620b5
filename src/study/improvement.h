/* What a normal prediction promises, in logarithms that do not underflow.
 *
 * With z = (best - mean)/deviation, minimising:
 *
 *     expected improvement       E max(best - f, 0) = deviation h(z),   h(z) = phi(z) + z Phi(z)
 *     probability of improvement P(f < best) = Phi(z)
 *
 * Far from the best point z is -50, h is 1e-540, and a search that sees zeros cannot climb. The logarithm has no such floor. */
#ifndef GRAM_STUDY_IMPROVEMENT_H
#define GRAM_STUDY_IMPROVEMENT_H

/* log h(z), to about 1e-14 relative for any finite z, and its derivative Phi(z)/h(z) unless slope is NULL. */
double gram_log_improvement(double z, double *slope);

/* log Phi(z), and its derivative phi(z)/Phi(z) unless slope is NULL. */
double gram_log_normal(double z, double *slope);

#endif
