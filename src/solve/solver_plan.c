/* Choosing how to fit, before any of the work.
 *
 * Exact comes first. Its matrix is half of n^2 numbers, in f64 where quantities of the factor itself are wanted
 * (leave-one-out, determinants) or the condition is bad, in f32 with refinement otherwise: half the memory, half the
 * time. What does not fit exactly is fitted on landmarks. Estimates of memory are upper bounds, and what a fit takes is
 * counted against the same budget anyway; those of time are from rates that ordinary processors reach. */
#include "solve/solver_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gram/text.h>

#include "base/context.h"
#include "base/ranks/collective.h"
#include "base/sized_struct.h"
#include "base/system/time_limit.h"
#include "operator/tiled_matrix.h"
#include "solve/cholesky/spread_cholesky.h"
#include "solve/landmarks/landmark_choice.h"
#include "tile/panels.h"

enum {
    MOST_FOR_LOO = 5000,
    LEAST_FOR_MIXED = 1024, /* below that an f64 factor takes a few milliseconds */
    DEFAULT_LANDMARKS = 3000,
    DEFAULT_RANK = 1000, /* of the preconditioner of cg */
    SKETCH_RANK = 100,   /* of a block of sketch-and-project */
    SKETCH_PASSES = 40,  /* some, to a residual of 1e-5 */
    LEAST_LANDMARKS = 100,
    MOST_LANDMARKS = 1 << 16,
    CG_VECTORS = 8,
    PANEL = 96,              /* rows that are packed together */
    ROWS_FOR_ESTIMATES = 20, /* for each landmark: then leverages are small, and estimated */
    PACKINGS = 10            /* of a fit and its report: each sweep over the pairs packs the points anew */
};

static const double MOST_SECONDS =
    300; /* for an exact fit that nobody asked for, on a processor as the rates below say */
static const double MOST_PASS = 1e12;     /* operations for leave-one-out of landmarks that nobody asked for */
static const double PACKED_NUMBERS = 3e8; /* a second: fresh memory, cleared and written */

static const char *const solver_names[] = {"auto", "exact", "cg", "nystrom", "markov", "inducing", "vecchia", "sketch"};
static const char *const precision_names[] = {"auto", "f64", "mixed", "f32"};

const char *gram_solver_name(gram_solver solver)
{
    const int count = sizeof solver_names / sizeof *solver_names;
    return (int)solver >= 0 && (int)solver < count ? solver_names[solver] : "unknown";
}

const char *gram_precision_name(gram_precision precision)
{
    const int count = sizeof precision_names / sizeof *precision_names;
    return (int)precision >= 0 && (int)precision < count ? precision_names[precision] : "unknown";
}

void gram_krr_plan_request_init(gram_krr_plan_request *request, size_t size)
{
    gram_krr_plan_request defaults = {.outputs = 1, .leave_one_out = -1};
    gram_sized_init(request, size, &defaults, sizeof defaults);
}

/* ---- what a way takes ---- */

/* Rows as the engine packs them: in whole panels. */
static double padded(int64_t n)
{
    return ceil((double)n / PANEL) * PANEL;
}

/* Points packed for the engine (rows and a copy for products), right-hand sides and their companions. */
static double packed_bytes(const gram_krr_plan_request *r, int64_t n, int64_t packed)
{
    const double columns = (double)(r->outputs + 1) * (4 + CG_VECTORS) + 16;
    return (2 * padded(packed) * (double)r->d + (double)n * columns) * sizeof(double) + 4e6;
}

static double vectors_bytes(const gram_krr_plan_request *r, int64_t n)
{
    return packed_bytes(r, n, n);
}

static double factor_bytes(int64_t n, size_t size)
{
    const gram_tiled shape = gram_tiled_shape(n);
    return (double)gram_tiled_numbers(&shape) * (double)size;
}

static double landmark_bytes(const gram_krr_plan_request *r, int64_t n, int64_t landmarks)
{
    const double p = (double)landmarks + (double)r->outputs + 1;
    const double chunk = (double)(n < GRAM_PLAN_CHUNK ? n : GRAM_PLAN_CHUNK);
    const int64_t piece =
        gram_packed_rows(r->d) > landmarks ? gram_packed_rows(r->d) : landmarks; /* rows go by in pieces */
    const double solving = 4 * p * p * sizeof(double) + chunk * p * sizeof(double) +
                           packed_bytes(r, n, piece < n ? piece : n) +
                           3 * (double)n * (double)(r->outputs + 1) * sizeof(double);
    return fmax(solving, gram_landmark_set_bytes(n, r->d, landmarks) + packed_bytes(r, n, piece < n ? piece : n));
}

/* Conjugate gradients: the preconditioner, of which a rank has its rows, and a panel of it while it is made. */
static double cg_bytes(const gram_krr_plan_request *r, int64_t n, int64_t rank)
{
    const double ranks = r->ranks > 1 ? r->ranks : 1;
    return (double)n * (double)rank * sizeof(double) * (1 / ranks + 0.25) +
           3.0 * (double)rank * (double)rank * sizeof(double) + vectors_bytes(r, n);
}

/* The ridgeless limit may need all eigenvectors. */
static double exact_bytes(const gram_krr_plan_request *r, int64_t n, gram_precision precision)
{
    if (r->ridgeless) return 2.0 * (double)n * (double)n * sizeof(double) + vectors_bytes(r, n);
    const size_t size = precision == GRAM_PRECISION_F64 ? sizeof(double) : sizeof(float);
    if (r->ranks > 1) return gram_spread_numbers((double)n, r->ranks) * (double)size + vectors_bytes(r, n);
    return factor_bytes(n, size) + vectors_bytes(r, n);
}

/* Sketch-and-project: the matrix and the low rank of a block of n/100 rows, and a few vectors. */
static double sketch_bytes(const gram_krr_plan_request *r, int64_t n)
{
    const double block = fmin(fmax(200, (double)n / 100), (double)n);
    return (block * block / 2 + block * 3 * SKETCH_RANK + 2 * block * (double)r->d) * sizeof(double) +
           vectors_bytes(r, n);
}

static double low_rank_bytes(const gram_krr_plan_request *r, gram_solver solver, int64_t rank)
{
    if (solver == GRAM_SOLVER_SKETCH) return sketch_bytes(r, r->n);
    return solver == GRAM_SOLVER_CG ? cg_bytes(r, r->n, rank) : landmark_bytes(r, r->n, rank);
}

static double bytes_of(const gram_krr_plan_request *r, const gram_plan *plan)
{
    if (plan->solver == GRAM_SOLVER_EXACT) return exact_bytes(r, r->n, plan->precision);
    return low_rank_bytes(r, plan->solver, plan->landmarks);
}

/* Operations and pairs a second of one core: as measured, or what AVX2 and plain code reach. */
static double seconds_at(const gram_context *context, int measured, const gram_krr_plan_request *r,
                         const gram_plan *plan)
{
    const int fast = strcmp(gram_context_isa(context), "plain") != 0;
    const double threads = context->threads, n = (double)r->n, p = (double)plan->landmarks,
                 share = 0.8 + 0.06 * (double)r->d;
    double rate = (fast ? 4e10 : 1e10) * threads, pair = (fast ? 1e-9 : 6e-9) * share / threads;
    if (measured && context->operations > 0) {
        rate = 0.8 * context->operations * threads; /* large products, not small ones */
        pair = share / 1.4 / context->entries / threads;
    }
    const double ranks = r->ranks;
    const double product = n * n / 2 * pair / ranks, packing = PACKINGS * padded(r->n) * (double)r->d / PACKED_NUMBERS;
    if (plan->solver == GRAM_SOLVER_NYSTROM) return packing + n * p * pair + (2 * n * p * p + p * p * p) / rate;
    if (plan->solver == GRAM_SOLVER_SKETCH) return packing + 2 * SKETCH_PASSES * product;
    if (plan->solver == GRAM_SOLVER_CG)
        return packing + n * p * pair + (2 * n * p * p + p * p * p) / rate + 100 * product;
    if (r->ridgeless) return packing + product + 4 * n * n * n / rate;
    if (plan->precision != GRAM_PRECISION_F64) return packing + 8 * product + n * n * n / 3 / (2 * rate) / ranks;
    return packing + 2 * product + (plan->leave_one_out ? n * n * n : n * n * n / 3) / rate / ranks;
}

static double seconds_of(const gram_context *context, const gram_krr_plan_request *r, const gram_plan *plan)
{
    return seconds_at(context, 1, r, plan);
}

/* ---- the choice ---- */

static double room_left(const gram_context *context)
{
    const size_t budget = gram_memory_budget(context->memory), used = gram_memory_used(context->memory);
    if (!budget) return 1e300;
    return budget > used ? (double)(budget - used) : 0;
}

/* The most points that an exact fit takes within these bytes. */
static int64_t most_exact(const gram_krr_plan_request *r, gram_precision precision, double room)
{
    int64_t low = 0, high = r->n;
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (exact_bytes(r, middle, precision) <= room)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static int64_t most_landmarks(const gram_krr_plan_request *r, gram_solver solver, double room)
{
    const int64_t usual = solver == GRAM_SOLVER_CG ? DEFAULT_RANK : DEFAULT_LANDMARKS;
    if (solver == GRAM_SOLVER_SKETCH) return r->n < SKETCH_RANK ? r->n : SKETCH_RANK;
    int64_t landmarks = r->landmarks ? r->landmarks : usual;
    if (landmarks > r->n) landmarks = r->n;
    while (landmarks > LEAST_LANDMARKS && !r->landmarks && low_rank_bytes(r, solver, landmarks) > room)
        landmarks -= landmarks / 10 + 1;
    return landmarks;
}

static void set_reason(gram_plan *plan, const char *text)
{
    (void)snprintf(plan->reason, sizeof plan->reason, "%s", text);
}

/* Which precision an exact fit would take if it fits. */
static gram_precision exact_precision(const gram_krr_plan_request *r, const gram_plan *plan)
{
    if (r->precision != GRAM_PRECISION_AUTO) return r->precision;
    if (plan->leave_one_out || r->ridgeless || r->n < LEAST_FOR_MIXED) return GRAM_PRECISION_F64;
    return GRAM_PRECISION_MIXED;
}

static void plan_exact(const gram_krr_plan_request *r, gram_plan *plan)
{
    plan->solver = GRAM_SOLVER_EXACT;
    plan->precision = exact_precision(r, plan);
    plan->landmarks = 0;
    if (r->ridgeless)
        set_reason(plan, "no ridge: an f64 factor, or the pseudo-inverse if the matrix is singular");
    else if (plan->precision == GRAM_PRECISION_F64 && plan->leave_one_out)
        set_reason(plan, "exact, in f64 for leave-one-out");
    else if (plan->precision == GRAM_PRECISION_MIXED)
        set_reason(plan, "exact: an f32 factor, refined to the accuracy of f64");
    else
        set_reason(plan, "exact");
}

static void plan_landmarks(const gram_krr_plan_request *r, gram_solver solver, double room, gram_plan *plan)
{
    plan->solver = solver;
    plan->precision = GRAM_PRECISION_F64;
    plan->landmarks = most_landmarks(r, solver, room);
    set_reason(plan, "as asked for");
}

/* The seconds that a fit by itself may take: what is left of a limit, less a margin, since estimates are rough. Without one MOST_SECONDS by rates that do
 * not depend on the machine's present speed, so that results do not either. */
static double time_for(const gram_context *context)
{
    const double left = gram_context_time_left(context);
    return isinf(left) ? MOST_SECONDS : fmax(left, 0) / 4;
}

static int is_quick(const gram_context *context, const gram_krr_plan_request *r, const gram_plan *plan)
{
    return seconds_at(context, !isinf(gram_context_time_left(context)), r, plan) <= time_for(context);
}

/* As many landmarks as there is time for. */
static void shorten(gram_context *context, const gram_krr_plan_request *r, gram_plan *plan)
{
    const int64_t before = plan->landmarks;
    if (r->landmarks || isinf(gram_context_time_left(context))) return;
    while (plan->landmarks > LEAST_LANDMARKS && !is_quick(context, r, plan))
        plan->landmarks -= plan->landmarks / 10 + 1;
    if (plan->landmarks < before) gram_time_left_out(context, "fewer landmarks than there is memory for");
}

/* Exact without leave-one-out, and then landmarks, where exact as wished does not fit into memory or time. */
static void choose(gram_context *context, const gram_krr_plan_request *r, double room, gram_plan *plan)
{
    char sizes[2][GRAM_BYTES_SIZE];
    plan_exact(r, plan);
    if (bytes_of(r, plan) <= room && is_quick(context, r, plan)) return;
    if (plan->leave_one_out && r->leave_one_out < 0) {
        plan->leave_one_out = 0;
        plan_exact(r, plan);
        if (bytes_of(r, plan) <= room && is_quick(context, r, plan)) return;
    }
    const double needed = bytes_of(r, plan), seconds = seconds_of(context, r, plan);
    plan_landmarks(r, GRAM_SOLVER_NYSTROM, room, plan);
    shorten(context, r, plan);
    if (needed <= room) {
        (void)snprintf(plan->reason, sizeof plan->reason,
                       "an exact fit would take about %.0f s: a model of %lld landmarks", seconds,
                       (long long)plan->landmarks);
        return;
    }
    (void)snprintf(plan->reason, sizeof plan->reason,
                   "an exact fit would take %s of memory and %s is left: a model of %lld landmarks",
                   gram_bytes_format((size_t)needed, sizes[0]), gram_bytes_format((size_t)room, sizes[1]),
                   (long long)plan->landmarks);
}

static gram_status refuse(gram_context *context, const gram_krr_plan_request *r, const gram_plan *plan, double room)
{
    char needed[GRAM_BYTES_SIZE], left[GRAM_BYTES_SIZE], other[GRAM_BYTES_SIZE];
    const int64_t exact = most_exact(r, GRAM_PRECISION_MIXED, room),
                  landmarks = most_landmarks(r, GRAM_SOLVER_NYSTROM, room);
    (void)gram_bytes_format((size_t)bytes_of(r, plan), needed);
    (void)gram_bytes_format((size_t)room, left);
    const double by_landmarks = landmark_bytes(r, r->n, landmarks);
    if (!r->landmarks && by_landmarks <= room)
        return gram_fail(context, GRAM_ERROR_BUDGET,
                         "krr_plan: %s (%s) of n = %lld points takes %s, and %s of the budget is left; what would fit: "
                         "nystrom with %lld landmarks (%s), or exact up to n = %lld",
                         gram_solver_name(plan->solver), gram_precision_name(plan->precision), (long long)r->n, needed,
                         left, (long long)landmarks, gram_bytes_format((size_t)by_landmarks, other), (long long)exact);
    if (exact == 0)
        return gram_fail(
            context, GRAM_ERROR_BUDGET,
            "plan_fit: %s of n = %lld points takes %s, and %s of the budget is left, too little for any fit",
            gram_solver_name(plan->solver), (long long)r->n, needed, left);
    return gram_fail(context, GRAM_ERROR_BUDGET,
                     "krr_plan: %s of n = %lld points takes %s, and %s of the budget is left; what would fit: up to "
                     "n = %lld points exactly",
                     gram_solver_name(plan->solver), (long long)r->n, needed, left, (long long)exact);
}

static gram_status check(gram_context *context, const gram_krr_plan_request *r)
{
    gram_status status = GRAM_OK;
    FAIL_IF(r->n < 1 || r->d < 1 || r->outputs < 1, context, GRAM_ERROR_ARGUMENT,
            "krr_plan: n = %lld, d = %lld, outputs = %lld, each must be at least 1", (long long)r->n, (long long)r->d,
            (long long)r->outputs);
    FAIL_IF((int)r->solver < 0 || (r->solver > GRAM_SOLVER_NYSTROM && r->solver != GRAM_SOLVER_SKETCH), context,
            GRAM_ERROR_ARGUMENT, "krr_plan: solver %s is not one of ridge regression", gram_solver_name(r->solver));
    FAIL_IF((int)r->precision < 0 || r->precision > GRAM_PRECISION_F32, context, GRAM_ERROR_ARGUMENT,
            "krr_plan: precision = %d is not a valid precision", (int)r->precision);
    FAIL_IF(r->landmarks < 0 || r->landmarks > MOST_LANDMARKS, context, GRAM_ERROR_ARGUMENT,
            "krr_plan: landmarks = %lld, need 1 to %d, or 0 for a default", (long long)r->landmarks, MOST_LANDMARKS);
    FAIL_IF(r->ranks < 0, context, GRAM_ERROR_ARGUMENT, "krr_plan: ranks = %d is negative", r->ranks);
    FAIL_IF(r->leave_one_out > 0 && r->precision > GRAM_PRECISION_F64, context, GRAM_ERROR_ARGUMENT,
            "krr_plan: leave-one-out needs a factor in f64, not precision %s", gram_precision_name(r->precision));
    FAIL_IF(r->ridgeless && r->precision > GRAM_PRECISION_F64, context, GRAM_ERROR_ARGUMENT,
            "krr_plan: lambda = 0 needs a factor in f64, not precision %s", gram_precision_name(r->precision));
    FAIL_IF(r->ridgeless && r->solver > GRAM_SOLVER_EXACT, context, GRAM_ERROR_ARGUMENT,
            "krr_plan: lambda = 0 needs the exact solver");
done:
    return status;
}

gram_status gram_krr_plan(gram_context *context, const gram_krr_plan_request *request, gram_plan *plan)
{
    gram_status status = GRAM_OK;
    gram_krr_plan_request r;
    if (!context || !request || !plan) return GRAM_ERROR_ARGUMENT;
    memset(plan, 0, sizeof *plan);
    gram_krr_plan_request_init(&r, sizeof r);
    TRY(gram_sized_read(context, "krr_plan", "request", "gram_krr_plan_request", request, &r, sizeof r));
    TRY(check(context, &r));
    if (r.ranks == 0) r.ranks = gram_spread_wanted(context, r.n) ? gram_ranks(context) : 1;
    double room = room_left(context);
    TRY(gram_ranks_least(context, &room)); /* the same plan everywhere */
    plan->leave_one_out = r.leave_one_out < 0 ? r.n <= MOST_FOR_LOO : r.leave_one_out != 0;
    if (r.precision > GRAM_PRECISION_F64) plan->leave_one_out = 0;
    if (r.solver == GRAM_SOLVER_EXACT || r.ridgeless) {
        plan_exact(&r, plan);
    } else if (r.solver == GRAM_SOLVER_AUTO) {
        choose(context, &r, room, plan);
    } else {
        plan_landmarks(&r, r.solver, room, plan);
    }
    if (plan->solver == GRAM_SOLVER_CG && r.leave_one_out < 0) plan->leave_one_out = 0;
    if (plan->solver == GRAM_SOLVER_NYSTROM &&
        r.leave_one_out < 0) /* estimated (features/equations/feature_leverage.c), or one more pass */
        plan->leave_one_out = r.n >= ROWS_FOR_ESTIMATES * plan->landmarks ||
                              (double)r.n * (double)plan->landmarks * (double)plan->landmarks <= MOST_PASS;
    plan->bytes = (size_t)bytes_of(&r, plan);
    plan->seconds = seconds_of(context, &r, plan);
    if (bytes_of(&r, plan) > room) TRY(refuse(context, &r, plan, room));
done:
    return status;
}
