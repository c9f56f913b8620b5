/* Densities of frequencies in closed form, each of total mass 1: those of random numbers W with E cos(W t) = phi(t). */
#ifndef GRAM_KERNEL_SPECTRAL_FREQUENCY_FORMS_H
#define GRAM_KERNEL_SPECTRAL_FREQUENCY_FORMS_H

/* The density at w >= 0 for a shape number p. */
typedef double (*gram_frequency_form)(double p, double w);

double gram_frequency_normal(double p, double w); /* exp(-t^2/2) */
double gram_frequency_student(double p,
                              double w); /* matern of nu = p, ell = 1: Student's t with 2 p degrees of freedom */
double gram_frequency_cauchy(double p, double w);  /* exp(-|t|) */
double gram_frequency_bessel(double p, double w);  /* (1 + t^2)^-p: a mixture of normals by a gamma law */
double gram_frequency_stable(double p, double w);  /* exp(-|t|^p), 0 < p <= 2: a symmetric stable law */
double gram_frequency_uniform(double p, double w); /* sin(t)/t */

#endif
