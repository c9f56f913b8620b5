/* The cosine transform of a kernel along a line, by Gauss's rule on panels. */
#include <inttypes.h>
#include <math.h>

#include <gram/matrix.h>

#include "features/spectral_piece.h"

static const double PI = 3.14159265358979323846;

enum { MOST_NODES = 4000000 };

/* out[i] = k(0, t_i v). */
static gram_status values_along(gram_context *context, const gram_spectral_piece *p, int64_t n, const double *t,
                                double *out)
{
    gram_status status = GRAM_OK;
    double *x = NULL;
    gram_points *points = NULL, *origin = NULL;
    TRY(gram_take(context, "spectral_density", (n + 1) * p->d, sizeof *x, (void **)&x));
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < p->d; l++) x[i * p->d + l] = t[i] * p->direction[l];
    for (int64_t l = 0; l < p->d; l++) x[n * p->d + l] = 0;
    TRY(gram_points_create_f64(context, n, p->d, x, p->d, &points));
    TRY(gram_points_create_f64(context, 1, p->d, x + n * p->d, p->d, &origin));
    TRY(gram_matrix(context, p->kernel, points, origin, out, 1));
done:
    gram_points_release(points);
    gram_points_release(origin);
    gram_give(context, x);
    return status;
}

/* From where on the kernel is 0 to rounding: looked for on a wide scale, then closer and closer. */
gram_status gram_spectral_find_end(gram_context *context, gram_spectral_piece *p)
{
    enum { COUNT = 400, ROUNDS = 6 };
    gram_status status = GRAM_OK;
    double t[COUNT], k[COUNT], size = 0, low = 0, high = 0;
    for (int l = 0; l < p->d; l++) size = hypot(size, p->direction[l]);
    for (int i = 0; i < COUNT; i++) t[i] = exp2(0.25 * (i - COUNT / 2)) / size;
    TRY(values_along(context, p, 1, &low, &p->mass));
    for (int round = 0; round < ROUNDS; round++) {
        int last = -1;
        TRY(values_along(context, p, COUNT, t, k));
        for (int i = 0; i < COUNT; i++)
            if (fabs(k[i]) > 1e-15 * p->mass) last = i;
        FAIL_IF(round == 0 && last >= 3 * COUNT / 4, context, GRAM_ERROR_NUMERICAL,
                "spectral_density: a product falls to 0 too slowly to be transformed");
        low = last >= 0 ? t[last] : low;
        high = last + 1 < COUNT ? t[last + 1] : high;
        for (int i = 0; i < COUNT; i++) t[i] = low + (high - low) * (i + 1) / (COUNT + 1);
    }
    p->end = high;
done:
    return status;
}

/* Gauss's rule of 8 nodes on (-1, 1): the positive half. */
static const double NODE[4] = {0.18343464249564980494, 0.52553240991632898582, 0.79666647741362673959,
                               0.96028985649753623168};
static const double WEIGHT[4] = {0.36268378337836198297, 0.31370664587788728734, 0.22238103445337447054,
                                 0.10122853629037625915};

/* The end of the panel that begins at t: panels grow from 0 on, so that a kink there does no harm, up to a length at which the kernel
 * and the cosines of all frequencies are smooth. */
static double next_panel(double t, double end, double longest)
{
    const double next = t == 0 ? 0x1p-60 * end : t + fmin(longest, 0.25 * t);
    return next < end ? next : end;
}

/* out += (1/pi) int_0^end k(t) cos(w t) dt */
gram_status gram_spectral_transform(gram_context *context, const gram_spectral_piece *p, int64_t n, const double *w,
                                    double *out)
{
    gram_status status = GRAM_OK;
    double longest = p->end / 64, most = 0, *t = NULL;
    int64_t count = 0, at = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(w[i]));
    if (most * longest > 2) longest = 2 / most;
    for (double from = 0; from < p->end && count <= MOST_NODES; from = next_panel(from, p->end, longest)) count += 8;
    FAIL_IF(count > MOST_NODES, context, GRAM_ERROR_NUMERICAL,
            "spectral_density: frequencies up to %g are too high for a product that is transformed numerically", most);
    TRY(gram_take(context, "spectral_density", 3 * count, sizeof *t, (void **)&t));
    double *weights = t + count, *k = weights + count;
    for (double from = 0; from < p->end;) {
        const double to = next_panel(from, p->end, longest), half = 0.5 * (to - from);
        for (int i = 0; i < 8; i++, at++) {
            t[at] = from + half * (1 + (i < 4 ? -NODE[3 - i] : NODE[i - 4]));
            weights[at] = half * WEIGHT[i < 4 ? 3 - i : i - 4] / PI;
        }
        from = to;
    }
    TRY(values_along(context, p, count, t, k));
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < count; j++) sum += weights[j] * k[j] * cos(w[i] * t[j]);
        out[i] += sum;
    }
done:
    gram_give(context, t);
    return status;
}
