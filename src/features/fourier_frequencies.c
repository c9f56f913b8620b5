/* Each frequency has the kernel's law whatever the kind: features are unbiased. What differs is how frequencies stand to each other.
 *
 *     orthogonal   the normal directions of d frequencies are the rows of a random rotation times independent lengths of normal vectors (Yu, Suresh,
 *                  Choromanski, Holtmann-Rice and Kumar 2016): what one overlooks the next ones see
 *     qmc          the uniform numbers that directions are made of are points of a Halton sequence whose digits are permuted at random (Owen 2017),
 *                  so that each point is uniform, and together they fill the cube evenly; normal ones by the quantile function
 *
 * Kernels whose frequencies have no normal directions (laplace1, periodic, cosine, sinc) gain nothing from the first; scales of mixtures (matern,
 * rq, ...) and factors beyond the first are drawn independently in either.
 *
 * The bound of gram_features_dimension is that of Rahimi and Recht (2007) with the constants of Sutherland and Schneider (2015). */
#include "features/fourier_frequencies.h"

#include <cblas.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/random.h>

#include "base/distribution_tails.h"
#include "kernel/spectral/spectral_measure.h"
#include "points/points.h"

enum { STREAM = 1, MOST_DIGITS = 53, MOST_QMC = 1000 }; /* the stream of the seed: path draws have 0 */
static const uint64_t ROTATIONS = 0x6f7274686f67U, LENGTHS = 0x6c656e677468U, DIGITS = 0x68616c746f6eU;

static const char *const NAMES[] = {"plain", "orthogonal", "qmc"};

const char *gram_frequencies_name(gram_frequencies which)
{
    return (int)which >= 0 && (int)which < (int)(sizeof NAMES / sizeof *NAMES) ? NAMES[which] : NULL;
}

/* ---- orthogonal ---- */

/* Rows of a d x d normal matrix made orthonormal, twice for rounding, each times the length of a normal vector. The first row is uniform
 * on the sphere, the next on what is orthogonal to it, and so on. */
static void rotate_block(uint64_t seed, int64_t block, int64_t d, double *q, double *spare)
{
    for (int64_t i = 0; i < d; i++) {
        double *row = q + i * d;
        const int64_t number = block * d + i;
        gram_random_normal((gram_random){seed, ROTATIONS}, (uint64_t)(number * d), d, row);
        for (int again = 0; again < 2; again++)
            for (int64_t k = 0; k < i; k++)
                cblas_daxpy((int)d, -cblas_ddot((int)d, row, 1, q + k * d, 1), q + k * d, 1, row, 1);
        cblas_dscal((int)d, 1 / cblas_dnrm2((int)d, row, 1), row, 1);
    }
    for (int64_t i = 0; i < d; i++) {
        gram_random_normal((gram_random){seed, LENGTHS}, (uint64_t)((block * d + i) * d), d, spare);
        cblas_dscal((int)d, cblas_dnrm2((int)d, spare, 1), q + i * d, 1);
    }
}

/* ---- quasi-Monte-Carlo ---- */

static int64_t next_prime(int64_t after)
{
    for (int64_t candidate = after + 1;; candidate++) {
        int64_t k = 2;
        while (k * k <= candidate && candidate % k != 0) k++;
        if (k * k > candidate) return candidate;
    }
}

/* Coordinate number `column` of points 0 .. count - 1: the digits of the point's number to the base of a prime, each place permuted. */
static void halton_column(uint64_t seed, int64_t column, int64_t base, int64_t count, int64_t d, int64_t *permutations,
                          double *u)
{
    int places = 0;
    for (double size = 1; size > 0x1p-53 && places < MOST_DIGITS; size /= (double)base, places++)
        gram_random_permutation((gram_random){seed, DIGITS + (uint64_t)places}, (uint64_t)column, base,
                                permutations + places * base);
    for (int64_t i = 0; i < count; i++) {
        double value = 0, size = 1;
        int64_t rest = i;
        for (int k = 0; k < places; k++, rest /= base) {
            size /= (double)base;
            value += size * (double)permutations[k * base + rest % base];
        }
        u[i * d + column] = fmin(fmax(value, 0x1p-54), 1 - 0x1p-53);
    }
}

static gram_status halton(gram_context *context, int64_t d, int64_t count, double *u)
{
    gram_status status = GRAM_OK;
    int64_t base = 1, *permutations = NULL;
    FAIL_IF(d > MOST_QMC, context, GRAM_ERROR_ARGUMENT,
            "features_create: quasi-Monte-Carlo frequencies are for at most %d columns, not %" PRId64, (int)MOST_QMC,
            d);
    for (int64_t j = 0; j < d; j++) base = next_prime(base);
    TRY(gram_take(context, "frequencies", MOST_DIGITS * base, sizeof *permutations, (void **)&permutations));
    base = 1;
    for (int64_t j = 0; j < d; j++) {
        base = next_prime(base);
        halton_column(gram_context_seed(context), j, base, count, d, permutations, u);
    }
done:
    gram_give(context, permutations);
    return status;
}

/* ---- drawing ---- */

gram_status gram_fourier_frequencies(gram_context *context, const gram_kernel *kernel, int64_t d,
                                     gram_frequencies which, int64_t count, double *w)
{
    gram_status status = GRAM_OK;
    const uint64_t seed = gram_context_seed(context);
    double *work = NULL, *uniform = NULL, *normal = NULL;
    TRY(gram_take(context, "frequencies", gram_spectrum_work(kernel) + 1, sizeof *work, (void **)&work));
    TRY(gram_take(context, "frequencies", (d + 1) * d, sizeof *normal, (void **)&normal));
    if (which == GRAM_FREQUENCIES_QMC) {
        TRY(gram_take(context, "frequencies", count * d, sizeof *uniform, (void **)&uniform));
        TRY(halton(context, d, count, uniform));
    }
    for (int64_t i = 0; i < count; i++) {
        const double *row = normal + i % d * d, *even = uniform ? uniform + i * d : NULL;
        if (which == GRAM_FREQUENCIES_ORTHOGONAL && i % d == 0) rotate_block(seed, i / d, d, normal, normal + d * d);
        for (int64_t l = 0; even && l < d; l++) normal[i % d * d + l] = -gram_quantile_student(INFINITY, even[l]);
        gram_spectrum_draw(kernel, seed, STREAM, i, count, d, which == GRAM_FREQUENCIES_PLAIN ? NULL : row, even, work,
                           w + i * d);
    }
done:
    gram_give(context, uniform);
    gram_give(context, normal);
    gram_give(context, work);
    return status;
}

/* ---- how many ---- */

gram_status gram_features_dimension(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                    double error, double probability, int64_t *dimension)
{
    gram_status status = GRAM_OK;
    double height, square = 0;
    if (!context || !kernel || !x || !dimension) return GRAM_ERROR_ARGUMENT;
    const int64_t d = x->d;
    FAIL_IF(!(error > 0 && error < 1) || !(probability > 0 && probability < 1), context, GRAM_ERROR_ARGUMENT,
            "features_dimension: error = %g or probability = %g is not in (0, 1)", error, probability);
    TRY(gram_kernel_check_set(context, kernel));
    TRY(gram_kernel_check_dimension(context, kernel, d));
    TRY(gram_spectrum_check(context, "features_dimension", "nystrom is for any kernel", kernel, d, &height));
    for (int64_t l = 0; l < d; l++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < x->n; i++) {
            low = fmin(low, gram_points_at(x, i, l));
            high = fmax(high, gram_points_at(x, i, l));
        }
        square += (high - low) * (high - low);
    }
    const double spread = gram_spectrum_square(kernel, d);
    FAIL_IF(isinf(spread), context, GRAM_ERROR_UNSUPPORTED,
            "features_dimension: the frequencies of this kernel have no finite mean square (laplace, laplace1, powexp "
            "with p < 2, matern with nu <= 1, or a covariance S): "
            "no uniform bound is known");
    const double inside = 256 * spread * square / (error * error * probability),
                 wanted = 8 * ((double)d + 2) / (error * error) * log(fmax(inside, 1));
    FAIL_IF(wanted > 1 << 30, context, GRAM_ERROR_ARGUMENT, "features_dimension: error = %g would take %.3g features",
            error, wanted);
    *dimension = 2 * (int64_t)fmax(ceil(wanted / 2), 1);
done:
    return status;
}
