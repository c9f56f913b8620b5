/* Feature maps: z(x) of finitely many numbers with z(x).z(y) = k(x, y), exactly or nearly.
 *
 *     explicit   the monomials of inner products, (x.y)^i = sum over |a| = i of i!/a! x^a y^a: exact for const, linear, poly, monomial
 *                and what sums, products, powers, `on` and `warp` make of them; a power series cut off at a degree for expdot,
 *                intpow, exp and rbf, the last about the centre c of the points: exp(-|u|^2/2) u^a/sqrt(a!), u = (x - c)/ell. Sums are
 *                features side by side, products all products of two features.
 *     fourier    sqrt(2 k(0)/D) [cos(w_1.x), ..., sin(w_1.x), ...] with D/2 random frequencies w of a stationary kernel
 *                (Rahimi and Recht 2007): P(|z.z - k| >= e k(0)) <= 2 exp(-D e^2/4) for each pair
 *     binning    the bins of P random grids (Rahimi and Recht 2007), for kernels that are products of convex ones over columns, such as
 *                laplace1: one number of each grid is not 0, sqrt(k(0)/P) at a place and with a sign that are hashed from the bin:
 *                P(|z.z - k| >= e k(0)) <= 2 exp(-2 P e^2) for each pair, but for bins that share a place
 *     neural     (sb, sw act(w_i.x + b_i)/sqrt(D)), random units of a network with one hidden layer, for nngp(depth=1)
 *     nystrom    L^-1 k(P, x) for landmarks P (<gram/landmarks.h>), L L' = K(P, P)
 *
 * Of explicit maps and nystrom k(x, y) - z(x).z(y) is a kernel too, so that it is at most sqrt(e(x) e(y)) in size with e(x) = k(x, x) -
 * |z(x)|^2, which gram_features_residual has.
 *
 * A map never changes and may be shared by threads. Common failures: GRAM_ERROR_ARGUMENT, GRAM_ERROR_DIMENSION, GRAM_ERROR_UNSET,
 * GRAM_ERROR_UNSUPPORTED (the part of the kernel that has no such features is named), GRAM_ERROR_BUDGET, GRAM_ERROR_MEMORY,
 * GRAM_ERROR_CANCELLED. */
#ifndef GRAM_FEATURES_H
#define GRAM_FEATURES_H

#include <gram/landmarks.h>
#include <gram/model.h>

GRAM_BEGIN

typedef enum gram_features_kind {
    GRAM_FEATURES_EXPLICIT = 0,
    GRAM_FEATURES_FOURIER = 1,
    GRAM_FEATURES_NYSTROM = 2,
    GRAM_FEATURES_BINNING = 3,
    GRAM_FEATURES_NEURAL = 4
} gram_features_kind;

/* "explicit", "fourier", "nystrom", "binning", "neural"; NULL past the end. Static. */
GRAM_API const char *gram_features_kind_name(gram_features_kind kind);

/* How the frequencies of fourier stand to each other; each has the kernel's law. */
typedef enum gram_frequencies {
    GRAM_FREQUENCIES_PLAIN = 0, /* independent: what the bounds below are for */
    GRAM_FREQUENCIES_ORTHOGONAL =
        1, /* at right angles by d at a time: smaller errors for rbf and mixtures of it, from D = 2 d on */
    GRAM_FREQUENCIES_QMC = 2 /* quasi-Monte-Carlo: evenly spread, for few columns, at most 1000 */
} gram_frequencies;

/* "plain", "orthogonal", "qmc"; NULL past the end. Static. */
GRAM_API const char *gram_frequencies_name(gram_frequencies which);

typedef struct gram_features_options {
    size_t size;
    gram_features_kind kind;
    /* of fourier, even, and of nystrom at most; of binning the grids P, at most 16384, of neural units; 0: 1000, of nystrom no more than points */
    int64_t dimension;
    int64_t degree;   /* of explicit: where power series end, 0 to 10000; -1: where `tolerance` is met at all points */
    double tolerance; /* of explicit: the largest e(x) over the largest k(x, x), in (0, 1); default 1e-6 */
    int64_t most;     /* of explicit: the most features there may be; default 1,000,000 */
    gram_landmark_rule landmark_rule; /* of nystrom: how its points are chosen; default randomly pivoted Cholesky */
    const gram_points *landmarks;     /* of nystrom with GRAM_LANDMARKS_GIVEN: the points, d columns, at most 32768 */
    int64_t width; /* of binning: places of each grid, a power of two up to 65536; 0: at least as many as points */
    gram_frequencies frequencies; /* of fourier */
} gram_features_options;

GRAM_API void gram_features_options_init(gram_features_options *options, size_t size);

/* How many Fourier features (plain ones) make |k - z.z| <= error k(0) for all pairs of points of the box about x with at least 1 - probability:
 * D >= 8 (d + 2)/error^2 log(2^8 E|w|^2 R^2/(error^2 probability)), R the diagonal of the box. The bound is far from sharp. GRAM_ERROR_UNSUPPORTED:
 * there are no frequencies, or E|w|^2 is infinite. The kernel is complete. O(n d). */
GRAM_API gram_status gram_features_dimension(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                             double error, double probability, int64_t *dimension);

typedef struct gram_features_report {
    size_t size;
    gram_features_kind kind;
    int64_t d, dimension;
    int64_t degree; /* of explicit with a power series; else -1 */
    int exact;      /* z(x).z(y) = k(x, y) everywhere, but for rounding */
    /* explicit, nystrom: the largest e(x) of the points, which bounds |k - z.z| over all their pairs. Others: the root mean square of
     * k - z.z over pairs of at most 256 points. NaN: there were no points. */
    double error;
    double trace_error; /* nystrom: tr(K - Z Z')/tr K over the points; else NaN */
    int64_t
        nonzeros; /* binning: numbers of a row that are not 0, one in each of as many equal ranges of columns; else 0 */
} gram_features_report;

typedef struct gram_features gram_features;

/* Makes the map of a complete kernel on d columns. The points are those whose errors are found; explicit maps are centred in the
 * middle of their columns, nystrom takes rows of them. They may be NULL for fourier, and for explicit if the degree is given or not
 * needed: then the centre is 0. Options may be NULL. Random numbers come from the context's seed. The caller destroys the map
 * (takes NULL). Explicit: O(n size of the kernel) for each of some ten degrees that are tried. */
GRAM_API gram_status gram_features_create(gram_context *context, gram_kernel *kernel, int64_t d, const gram_points *x,
                                          const gram_features_options *options, gram_features **features);
GRAM_API void gram_features_destroy(gram_features *features);

/* Both belong to the map. */
GRAM_API const gram_features_report *gram_features_get_report(const gram_features *features);
GRAM_API gram_kernel *gram_features_kernel(const gram_features *features);

/* out[i * ldo + j] = z_j(x_i) for n rows of d numbers, ldx apart: `dimension` columns. Parallel over blocks of rows, the same bits for any
 * number of threads and any other rows beside. O(n dimension), fourier and nystrom O(n d dimension) and more. */
GRAM_API gram_status gram_features_transform(gram_context *context, const gram_features *features, int64_t n,
                                             const double *x, int64_t ldx, double *out, int64_t ldo);

/* The same of sparse maps (binning) without the zeros: `nonzeros` columns and values for each row, without gaps, columns in increasing order, as
 * in CSR. GRAM_ERROR_UNSUPPORTED for others. O(n nonzeros d). */
GRAM_API gram_status gram_features_sparse(gram_context *context, const gram_features *features, int64_t n,
                                          const double *x, int64_t ldx, int32_t *columns, double *values);

/* out[i] = e(x_i) = k(x_i, x_i) - |z(x_i)|^2, of explicit maps by the rest of their series, without cancellation. Of fourier and binning it is 0,
 * of neural it has either sign. */
GRAM_API gram_status gram_features_residual(gram_context *context, const gram_features *features, int64_t n,
                                            const double *x, int64_t ldx, double *out);

/* How near the kernel the map comes as it grows: `features` of its first columns, or grids of binning, and the errors k - z.z over pairs of rows. */
typedef struct gram_features_step {
    int64_t features;
    double rms, largest;
} gram_features_step;

enum { GRAM_FEATURES_STEPS = 32 };

/* The steps of doubling size up to the whole map, at most GRAM_FEATURES_STEPS of them, over the pairs of at most 256 rows, evenly spaced ones. A
 * part of a random map is scaled as a map of that size is, so that its inner products have the right mean. O(256^2 dimension). */
GRAM_API gram_status gram_features_convergence(gram_context *context, const gram_features *features, int64_t n,
                                               const double *x, int64_t ldx, int64_t *count, gram_features_step *steps);

/* What it is, as a few words on one line: "all monomials up to degree 12 in 2 columns". */
GRAM_API void gram_features_describe(const gram_features *features, gram_string *text);

/* The map as a model that `gram predict` and `gram info` know, and the map of such a model (GRAM_ERROR_DATA: it is of another method, or
 * damaged). The preparation may be NULL. The caller destroys both. */
GRAM_API gram_status gram_features_model(gram_context *context, const gram_features *features,
                                         gram_preparation *preparation, int64_t n, gram_model **model);
GRAM_API gram_status gram_features_of_model(gram_context *context, const gram_model *model, gram_features **features);

GRAM_END

#endif
