/* The squared MMD from a sample to a law: the mean over pairs, less twice the mean of the embedding, and its norm's square. */
#include "embed/law_distance.h"

#include <math.h>

#include <gram/matrix.h>

#include "points/functionals.h"
#include "points/points.h"

gram_status gram_law_begin(gram_context *context, const gram_kernel *kernel, const gram_law *law, int64_t n,
                           gram_law_setting *s)
{
    gram_status status = GRAM_OK;
    *s = (gram_law_setting){.context = context, .kernel = kernel, .law = law, .n = n};
    TRY(gram_take(context, "law: sums", 4 * n, sizeof *s->ones, (void **)&s->ones));
    s->sums = s->ones + n;
    s->means = s->sums + n;
    s->diagonal = s->means + n;
    for (int64_t i = 0; i < n; i++) s->ones[i] = 1;
    TRY(gram_law_inner(context, kernel, law, law, &s->inner));
done:
    return status;
}

gram_status gram_law_measure(gram_law_setting *s, const gram_points *x, gram_law_distance *d)
{
    gram_status status = GRAM_OK;
    const double n = (double)s->n;
    double pairs = 0, own = 0, cross = 0;
    TRY(gram_matrix_product(s->context, s->kernel, x, NULL, 1, s->ones, 1, s->sums, 1));
    TRY(gram_matrix_diagonal(s->context, s->kernel, x, s->diagonal));
    TRY(gram_law_embed(s->context, s->kernel, s->law, x, s->means));
    for (int64_t i = 0; i < s->n; i++) {
        pairs += s->sums[i];
        own += s->diagonal[i];
        cross += s->means[i];
    }
    d->v_statistic = fmax(pairs / n / n - 2 * cross / n + s->inner, 0);
    d->u_statistic = s->n > 1 ? (pairs - own) / n / (n - 1) - 2 * cross / n + s->inner : NAN;
    d->mmd = sqrt(d->v_statistic);
    d->norm = sqrt(fmax(s->inner, 0));
done:
    return status;
}

gram_status gram_law_check(gram_context *context, const char *who, const gram_kernel *kernel, const gram_points *points,
                           const gram_law *law, const void *out)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!kernel || !points || !law || !out, context, GRAM_ERROR_ARGUMENT, "%s: an argument is NULL", who);
    TRY(gram_points_must_be_plain(context, who, points));
    FAIL_IF(points->d != gram_law_dimension(law), context, GRAM_ERROR_DIMENSION,
            "%s: points of %lld columns, a law of %lld", who, (long long)points->d, (long long)gram_law_dimension(law));
done:
    return status;
}

gram_status gram_law_mmd(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                         const gram_law *law, gram_law_distance *distance)
{
    gram_status status = GRAM_OK;
    gram_law_setting s = {0};
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(gram_law_check(context, "law_mmd", kernel, points, law, distance));
    TRY(gram_law_begin(context, kernel, law, points->n, &s));
    TRY(gram_law_measure(&s, points, distance));
done:
    if (context) gram_give(context, s.ones);
    return status;
}
