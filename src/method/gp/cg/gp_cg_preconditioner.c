/* Three kinds of M: a low rank of K plus the noise, which takes O(n rank) memory; for functionals one from neighbours
 * (solve/neighbours/neighbour_preconditioner.h), which as many numbers suffice for where no low rank does; and the f32 Cholesky factor of A itself, n^2/2
 * numbers of half the size. The f32 factor leaves M^-1/2 A M^-1/2 - I of about the rounding unit of f32 times the condition number. */
#include "method/gp/cg/gp_cg_preconditioner.h"

#include <math.h>

#include <gram/text.h>

#include <gram/functional.h>

#include "solve/cholesky/cholesky_wide.h"
#include "solve/neighbours/neighbour_preconditioner.h"
#include "solve/nystrom_preconditioner.h"

enum { MOST_WITH_FACTOR = 50 };

/* ---- a low rank ---- */

static double low_rank_log_determinant(const void *data)
{
    return gram_nystrom_log_determinant(data);
}

static gram_status low_rank_draw(gram_context *context, const void *data, gram_random random, int64_t columns,
                                 double *v, int64_t ldv)
{
    return gram_nystrom_draw(context, data, random, columns, v, ldv);
}

static void low_rank_destroy(void *data)
{
    gram_nystrom_destroy(data);
}

static const gram_gp_preconditioner_kind LOW_RANK = {gram_nystrom_precondition, low_rank_log_determinant, low_rank_draw,
                                                     low_rank_destroy, 0};

/* A rank that costs about as much as a few iterations, and no more than a third of the memory that is left. */
static int64_t choose_rank(const gram_context *context, int64_t n, int64_t asked)
{
    const size_t budget = gram_memory_budget(context->memory), used = gram_memory_used(context->memory);
    int64_t rank = asked > 0 ? asked : 64 + (int64_t)(8 * sqrt((double)n));
    rank = rank < n ? rank : n;
    while (asked == 0 && budget > 0 && rank > 1 && gram_nystrom_bytes(n, rank) > (budget - used) / 3) rank -= rank / 2;
    return rank;
}

static gram_status make_low_rank(gram_context *context, const char *name, const gram_kernel *kernel,
                                 const gram_points *x, const double *shift, const gram_gp_cg_options *options,
                                 gram_gp_preconditioner *m)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    gram_nystrom *low_rank = NULL;
    const int64_t rank = choose_rank(context, gram_points_count(x), options->rank);
    for (int64_t i = 0; i < gram_points_count(x); i++)
        FAIL_IF(!(shift[i] > 0) || isinf(shift[i]), context, GRAM_ERROR_ARGUMENT,
                "%s: the noise of row %lld is %s, need a positive number", name, (long long)i,
                gram_number_format(shift[i], shown));
    TRY(gram_nystrom_create(context, kernel, x, shift, rank, &low_rank));
    *m = (gram_gp_preconditioner){.kind = &LOW_RANK,
                                  .data = low_rank,
                                  .rank = gram_nystrom_rank(low_rank),
                                  .most = options->iterations,
                                  .trace_error = gram_nystrom_trace_error(low_rank)};
done:
    return status;
}

/* ---- from neighbours ---- */

static double neighbours_log_determinant(const void *data)
{
    return gram_neighbours_log_determinant(data);
}

static gram_status neighbours_draw(gram_context *context, const void *data, gram_random random, int64_t columns,
                                   double *v, int64_t ldv)
{
    return gram_neighbours_draw(context, data, random, columns, v, ldv);
}

static void neighbours_destroy(void *data)
{
    gram_neighbours_destroy(data);
}

static const gram_gp_preconditioner_kind NEIGHBOURS = {gram_neighbours_precondition, neighbours_log_determinant,
                                                       neighbours_draw, neighbours_destroy, 0};

static gram_status make_neighbours(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                   const double *shift, const gram_gp_cg_options *options, gram_gp_preconditioner *m)
{
    enum { USUAL = 160 };
    gram_status status = GRAM_OK;
    gram_neighbours *made = NULL;
    const int64_t asked = options->neighbours > 0 ? options->neighbours : options->rank,
                  rank = asked > 0 ? asked : USUAL;
    TRY(gram_neighbours_create(context, kernel, x, shift, rank, &made));
    *m = (gram_gp_preconditioner){
        .kind = &NEIGHBOURS, .data = made, .rank = rank, .most = options->iterations, .trace_error = NAN};
done:
    return status;
}

/* ---- a factor in f32 ---- */

static double factor_log_determinant(const void *data)
{
    return gram_cholesky_log_determinant(data);
}

static gram_status factor_draw(gram_context *context, const void *data, gram_random random, int64_t columns, double *v,
                               int64_t ldv)
{
    return gram_cholesky_wide_draw(context, data, random, columns, v, ldv);
}

static void factor_destroy(void *data)
{
    gram_cholesky_destroy(data);
}

static const gram_gp_preconditioner_kind FACTOR = {gram_cholesky_wide_solve, factor_log_determinant, factor_draw,
                                                   factor_destroy, 1};

static gram_status too_ill_conditioned(gram_context *context, const char *name)
{
    return gram_fail(context, GRAM_ERROR_NUMERICAL,
                     "%s: the matrix is too ill-conditioned for an f32 factor: raise the noise or use the exact f64 "
                     "path",
                     name);
}

/* A jitter that f32 may need is in M, not in A: it costs iterations, and is corrected like the other rounding errors. */
static gram_status make_factor(gram_context *context, const char *name, const gram_kernel *kernel, const gram_points *x,
                               const double *shift, const gram_gp_cg_options *options, gram_gp_preconditioner *m)
{
    gram_cholesky *factor = NULL;
    double jitter = 0;
    const gram_status status = gram_cholesky_create(context, kernel, x, shift, GRAM_STORAGE_F32, &jitter, &factor);
    if (status == GRAM_ERROR_NUMERICAL) return too_ill_conditioned(context, name);
    if (status < 0) return status;
    *m = (gram_gp_preconditioner){.kind = &FACTOR,
                                  .data = factor,
                                  .rank = gram_cholesky_size(factor),
                                  .most =
                                      options->iterations < MOST_WITH_FACTOR ? options->iterations : MOST_WITH_FACTOR};
    return GRAM_OK;
}

/* ---- both ---- */

gram_status gram_gp_preconditioner_make(gram_context *context, const char *name, const gram_kernel *kernel,
                                        const gram_points *x, const double *shift, int mixed,
                                        const gram_gp_cg_options *options, gram_gp_preconditioner *m)
{
    if (!mixed && (options->neighbours > 0 || gram_points_are_functionals(x)))
        return make_neighbours(context, kernel, x, shift, options, m);
    return mixed ? make_factor(context, name, kernel, x, shift, options, m)
                 : make_low_rank(context, name, kernel, x, shift, options, m);
}

void gram_gp_preconditioner_free(gram_gp_preconditioner *m)
{
    if (m->kind) m->kind->destroy(m->data);
    *m = (gram_gp_preconditioner){0};
}

gram_status gram_gp_preconditioner_judge(gram_context *context, const char *name, const gram_gp_preconditioner *m,
                                         const gram_gp_cg_options *options, gram_status status, int64_t iterations)
{
    if (status != GRAM_NOT_CONVERGED || !m->kind->whole || iterations >= options->iterations) return status;
    return too_ill_conditioned(context, name);
}
