/* Landmarks: points P of a few rows that stand for all, in k(x, y) ~ k(x, P) K(P, P)^-1 k(P, y) (Nystrom). */
#ifndef GRAM_LANDMARKS_H
#define GRAM_LANDMARKS_H

#include <gram/points.h>

GRAM_BEGIN

/* How they are chosen. Rules that must look at many columns of K do so on max(5,000, 5 M) rows at most, drawn by the seed. */
typedef enum gram_landmark_rule {
    GRAM_LANDMARKS_CHOLESKY =
        0, /* randomly pivoted Cholesky: each with the probability of what those before it leave of k(x, x) */
    GRAM_LANDMARKS_UNIFORM = 1,  /* rows drawn without replacement */
    GRAM_LANDMARKS_KMEANS = 2,   /* k-means++ in the kernel's metric: by the squared distance to the nearest landmark */
    GRAM_LANDMARKS_LEVERAGE = 3, /* by approximate ridge leverage scores, without replacement */
    GRAM_LANDMARKS_GIVEN = 4     /* the caller's points */
} gram_landmark_rule;

/* "rpcholesky", "uniform", "kmeans++", "leverage", "given"; NULL past the end. Static. */
GRAM_API const char *gram_landmark_rule_name(gram_landmark_rule rule);

GRAM_END

#endif
