/* Thinning by greedy choice: Stein thinning (Riabiz, Chen, Cockayne, Swietach, Niederer, Mackey and Oates 2022), greedy
 * MMD, and kernel herding (Chen, Welling and Smola 2010).
 *
 * After t choices S the discrepancy of S and one more point x is, up to what x does not change and a factor,
 *
 *   k(x, x)/2 + sum_{y in S} k(x, y) - (t + 1) mean_i k(x, x_i)
 *
 * where k is the Stein kernel and the mean is 0 for it, or any kernel and the sample its own target. The next choice is
 * where this is least; herding leaves k(x, x)/2 out. The sums over S are kept for all n points, so a step is one row of the
 * matrix: n kernel values, made, added and compared in one sweep over blocks of points. (A known density has a second matrix:
 * thin_anchor.c.) Nothing else of size n is read:
 * O(n m) time and O(n) memory. Ties go to the first point, whatever the number of threads. */
#include "embed/thin.h"

#include <math.h>
#include <string.h>

#include "base/sized_struct.h"
#include "points/functionals.h"

enum { ROWS_FOR_ALL = 20000 };

/* ---- the target ---- */

double gram_target_root(double square)
{
    return square > 0 ? sqrt(square) : 0;
}

gram_status gram_target_make(gram_context *context, const char *function, const gram_kernel *kernel,
                             const gram_points *points, const double *scores, int64_t lds, const gram_law *law,
                             gram_target *target)
{
    gram_status status = GRAM_OK;
    if (scores) {
        TRY(gram_stein_create(context, function, kernel, points, scores, lds, &target->stein));
        target->rows = target->stein->rows;
    } else {
        const gram_engine_request request = {.kernel = kernel, .x = points, .always_double = 1};
        TRY(gram_engine_create(context, &request, &target->engine));
        target->rows = gram_rows_of_engine(target->engine);
    }
    const int64_t n = target->rows.n;
    TRY(gram_take(context, "thinning: diagonal", n, sizeof(double), (void **)&target->diagonal));
    TRY(gram_take(context, "thinning: means", n, sizeof(double), (void **)&target->means));
    TRY(gram_rows_diagonal(context, &target->rows, target->diagonal));
    memset(target->means, 0, (size_t)n * sizeof(double));
    if (scores) goto done;
    if (law) {
        TRY(gram_law_embed(context, kernel, law, points, target->means));
        TRY(gram_law_inner(context, kernel, law, law, &target->total));
        goto done;
    }
    TRY(gram_rows_means(context, &target->rows, target->means));
    for (int64_t i = 0; i < n; i++) target->total += target->means[i];
    target->total /= (double)n;
done:
    return status;
}

void gram_target_free(gram_context *context, gram_target *target)
{
    gram_give(context, target->diagonal);
    gram_give(context, target->means);
    gram_stein_destroy(target->stein);
    gram_engine_destroy(target->engine);
}

gram_status gram_target_check(gram_context *context, const char *function, const gram_points *points, int64_t m,
                              const int64_t *index)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!points, context, GRAM_ERROR_ARGUMENT, "%s: points is NULL", function);
    TRY(gram_points_must_be_plain(context, function, points));
    const int64_t n = gram_points_count(points);
    FAIL_IF(m < 1 || m > n, context, GRAM_ERROR_ARGUMENT, "%s: m = %lld, need 1 to n = %lld", function, (long long)m,
            (long long)n);
    for (int64_t a = 0; index && a < m; a++)
        FAIL_IF(index[a] < 0 || index[a] >= n, context, GRAM_ERROR_ARGUMENT,
                "%s: index[%lld] = %lld is not among the %lld points", function, (long long)a, (long long)index[a],
                (long long)n);
done:
    return status;
}

/* One row of the choice's matrix for each task. */
typedef struct measure {
    const gram_target *target;
    int64_t m;
    const int64_t *index;
    double *sums;
} measure;

static gram_status measure_task(void *argument, const gram_worker *worker)
{
    const measure *job = argument;
    const gram_rows *rows = &job->target->rows;
    const int64_t a = worker->task;
    const double *row = NULL;
    int64_t panel = -1;
    double sum = 0;
    rows->begin(rows->self, worker->scratch);
    for (int64_t b = 0; b < job->m; b++) {
        if (job->index[b] / GRAM_PANEL != panel) {
            panel = job->index[b] / GRAM_PANEL;
            row = rows->row(rows->self, worker->scratch, job->index[a], panel);
        }
        sum += row[job->index[b] % GRAM_PANEL];
    }
    job->sums[a] = sum;
    return GRAM_OK;
}

gram_status gram_target_measure(gram_context *context, const gram_target *target, int64_t m, const int64_t *index,
                                double *discrepancy)
{
    gram_status status = GRAM_OK;
    measure job = {.target = target, .m = m, .index = index};
    double pairs = 0, means = 0;
    TRY(gram_take(context, "thinning: sums", m, sizeof(double), (void **)&job.sums));
    const gram_sweep sweep = {.what = "discrepancy of the choice",
                              .tasks = m,
                              .scratch_bytes = target->rows.scratch_bytes,
                              .run = measure_task,
                              .argument = &job};
    TRY(gram_sweep_run(context, &sweep));
    for (int64_t a = 0; a < m; a++) {
        pairs += job.sums[a];
        means += target->means[index[a]];
    }
    *discrepancy = gram_target_root(pairs / (double)m / (double)m - 2 * means / (double)m + target->total);
done:
    gram_give(context, job.sums);
    return status;
}

/* ---- one step ---- */

/* Panels of one task: enough work to be worth handing out, few enough to share. */
enum { BLOCK = 16 };

static int64_t blocks_of(const gram_target *target)
{
    return (gram_rows_panels(&target->rows) + BLOCK - 1) / BLOCK;
}

gram_status gram_greedy_begin(gram_context *context, const gram_target *target, gram_greedy *greedy)
{
    gram_status status = GRAM_OK;
    const int64_t padded = gram_rows_panels(&target->rows) * GRAM_PANEL;
    *greedy = (gram_greedy){.target = target, .own = 0.5};
    TRY(gram_take(context, "thinning: sums", padded, sizeof(double), (void **)&greedy->sums));
    TRY(gram_take(context, "thinning", blocks_of(target), sizeof(double), (void **)&greedy->best));
    TRY(gram_take(context, "thinning", blocks_of(target), sizeof(int64_t), (void **)&greedy->where));
    memset(greedy->sums, 0, (size_t)padded * sizeof(double));
done:
    return status;
}

void gram_greedy_end(gram_context *context, gram_greedy *greedy)
{
    if (!greedy->target) return;
    gram_give(context, greedy->sums);
    gram_give(context, greedy->anchor_sums);
    gram_give(context, greedy->best);
    gram_give(context, greedy->where);
}

/* The search looks at the sample too. */
static gram_status hold_to(gram_context *context, const gram_anchor *anchor, gram_greedy *greedy)
{
    gram_status status = GRAM_OK;
    const int64_t padded = gram_rows_panels(&greedy->target->rows) * GRAM_PANEL;
    TRY(gram_take(context, "thinning: sums", padded, sizeof(double), (void **)&greedy->anchor_sums));
    memset(greedy->anchor_sums, 0, (size_t)padded * sizeof(double));
    greedy->anchor = anchor;
done:
    return status;
}

typedef struct step {
    gram_greedy *greedy;
    int64_t j;
    double c;
} step;

static void search_panel(const gram_greedy *greedy, int64_t panel, double *best, int64_t *where)
{
    const gram_target *target = greedy->target;
    const gram_anchor *a = greedy->anchor;
    const int64_t first = panel * GRAM_PANEL;
    for (int64_t i = first; i < first + gram_rows_width(&target->rows, panel); i++) {
        double value = greedy->own * target->diagonal[i] + greedy->sums[i] - greedy->weight * target->means[i];
        if (a) value += greedy->own * a->extra[i] + a->weight * (greedy->anchor_sums[i] - greedy->weight * a->means[i]);
        if (value < *best && !(greedy->taken && greedy->taken[i])) {
            *best = value;
            *where = i;
        }
    }
}

/* sums += c times row j, in the panels first .. end - 1 */
static void add_row(const gram_rows *rows, void *scratch, const step *s, int64_t first, int64_t end, double *sums)
{
    rows->begin(rows->self, scratch);
    for (int64_t panel = first; panel < end && s->c != 0; panel++) {
        const double *row = rows->row(rows->self, scratch, s->j, panel);
        for (int i = 0; i < GRAM_PANEL; i++) sums[panel * GRAM_PANEL + i] += s->c * row[i];
    }
}

static gram_status step_task(void *argument, const gram_worker *worker)
{
    const step *s = argument;
    const gram_greedy *greedy = s->greedy;
    const gram_rows *rows = &greedy->target->rows;
    const int64_t panels = gram_rows_panels(rows), from = worker->task * BLOCK;
    const int64_t end = from + BLOCK < panels ? from + BLOCK : panels;
    double best = INFINITY;
    int64_t where = -1;
    add_row(rows, worker->scratch, s, from, end, greedy->sums);
    if (greedy->anchor) add_row(&greedy->anchor->rows, worker->scratch, s, from, end, greedy->anchor_sums);
    for (int64_t panel = from; panel < end; panel++) {
        search_panel(s->greedy, panel, &best, &where);
    }
    s->greedy->best[worker->task] = best;
    s->greedy->where[worker->task] = where;
    return GRAM_OK;
}

gram_status gram_greedy_step(gram_context *context, gram_greedy *greedy, int64_t j, double c, double share_before,
                             double share_after, int64_t *least)
{
    gram_status status = GRAM_OK;
    step s = {greedy, j, c};
    const size_t own = greedy->target->rows.scratch_bytes,
                 other = greedy->anchor ? greedy->anchor->rows.scratch_bytes : 0;
    const gram_sweep sweep = {.what = "thinning",
                              .tasks = blocks_of(greedy->target),
                              .scratch_bytes = own > other ? own : other,
                              .run = step_task,
                              .argument = &s,
                              .share_before = share_before,
                              .share_after = share_after};
    TRY(gram_sweep_run(context, &sweep));
    int64_t found = -1;
    double best = INFINITY;
    for (int64_t b = 0; b < blocks_of(greedy->target); b++)
        if (greedy->where[b] >= 0 && greedy->best[b] < best) {
            best = greedy->best[b];
            found = greedy->where[b];
        }
    FAIL_IF(found < 0, context, GRAM_ERROR_NUMERICAL, "thin: the kernel overflows, no value is finite");
    *least = found;
done:
    return status;
}

/* ---- choices ---- */

static gram_status choose_greedily(gram_context *context, const gram_target *target, const gram_anchor *anchor,
                                   const gram_thin_options *options, int64_t m, int64_t *index, double *discrepancy)
{
    gram_status status = GRAM_OK;
    gram_greedy greedy = {0};
    char *taken = NULL;
    double pairs = 0, means = 0;
    TRY(gram_greedy_begin(context, target, &greedy));
    if (anchor) TRY(hold_to(context, anchor, &greedy));
    TRY(gram_take(context, "thinning: taken", target->rows.n, 1, (void **)&taken));
    memset(taken, 0, (size_t)target->rows.n);
    greedy.own = options->method == GRAM_THIN_HERDING ? 0 : 0.5;
    greedy.taken = options->distinct ? taken : NULL;
    for (int64_t t = 0; t < m; t++) {
        const int64_t last = t > 0 ? index[t - 1] : 0;
        int64_t next;
        greedy.weight = (double)(t + 1);
        TRY(gram_greedy_step(context, &greedy, last, t > 0, (double)t / (double)m, (double)(t + 1) / (double)m, &next));
        index[t] = next;
        taken[next] = 1;
        pairs += target->diagonal[next] + 2 * greedy.sums[next];
        means += target->means[next];
        const double count = (double)(t + 1);
        if (discrepancy) discrepancy[t] = gram_target_root(pairs / count / count - 2 * means / count + target->total);
    }
done:
    gram_greedy_end(context, &greedy);
    gram_give(context, taken);
    return status;
}

/* floor((t + 1) n/m) - 1 without overflow */
void gram_thin_evenly(int64_t n, int64_t m, int64_t *index)
{
    const int64_t whole = n / m, rest = n % m;
    for (int64_t t = 0; t < m; t++)
        index[t] = (t + 1) * whole + (int64_t)((double)(t + 1) * (double)rest / (double)m) - 1;
    index[m - 1] = n - 1;
}

void gram_thin_options_init(gram_thin_options *options, size_t size)
{
    const gram_thin_options defaults = {.method = GRAM_THIN_GREEDY};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

static gram_status check_options(gram_context *context, const gram_thin_options *options, const double *scores,
                                 const int64_t *index)
{
    gram_status status = GRAM_OK;
    FAIL_IF((int)options->method < GRAM_THIN_GREEDY || options->method > GRAM_THIN_PLAIN, context, GRAM_ERROR_ARGUMENT,
            "thin: options.method = %d is not a valid method", (int)options->method);
    FAIL_IF(scores && options->method == GRAM_THIN_HERDING, context, GRAM_ERROR_ARGUMENT,
            "thin: herding takes no scores: the mean of a Stein kernel is 0, use the greedy method");
    FAIL_IF(options->law && scores, context, GRAM_ERROR_ARGUMENT, "thin: scores and a law are two targets: give one");
    FAIL_IF(options->law && options->method == GRAM_THIN_SPLIT, context, GRAM_ERROR_ARGUMENT,
            "thin: the split method halves a sample: towards a law use greedy or herding");
    FAIL_IF(!options->log_density != !options->laplacian, context, GRAM_ERROR_ARGUMENT,
            "thin: log_density and laplacian are given together");
    FAIL_IF(options->log_density && !scores, context, GRAM_ERROR_ARGUMENT,
            "thin: log_density and laplacian go with scores");
    FAIL_IF(!index, context, GRAM_ERROR_ARGUMENT, "thin: index is NULL");
done:
    return status;
}

gram_status gram_thin(gram_context *context, const gram_kernel *kernel, const gram_points *points, const double *scores,
                      int64_t lds, const gram_thin_options *options, int64_t m, int64_t *index, double *discrepancy)
{
    gram_status status = GRAM_OK;
    gram_target target = {0};
    gram_anchor anchor = {0};
    gram_thin_options o;
    if (!context) return GRAM_ERROR_ARGUMENT;
    gram_thin_options_init(&o, sizeof o);
    TRY(gram_sized_read(context, "thin", "options", "gram_thin_options", options, &o, sizeof o));
    TRY(check_options(context, &o, scores, index));
    TRY(gram_target_check(context, "thin", points, m, NULL));
    TRY(gram_target_make(context, "thin", kernel, points, scores, lds, o.law, &target));
    if (o.method == GRAM_THIN_GREEDY || o.method == GRAM_THIN_HERDING) {
        if (o.log_density)
            TRY(gram_anchor_make(context, &target, points, scores, lds, o.log_density, o.laplacian, &anchor));
        TRY(choose_greedily(context, &target, o.log_density ? &anchor : NULL, &o, m, index, discrepancy));
        goto done;
    }
    if (o.method == GRAM_THIN_SPLIT)
        TRY(gram_thin_split(context, &target, m, index));
    else
        gram_thin_evenly(target.rows.n, m, index);
    for (int64_t t = 0; discrepancy && t + 1 < m; t++) discrepancy[t] = NAN;
    if (discrepancy) TRY(gram_target_measure(context, &target, m, index, &discrepancy[m - 1]));
done:
    gram_anchor_free(context, &anchor);
    gram_target_free(context, &target);
    return status;
}

/* Of evenly spaced rows, and of all rows as the target says it unless `all` is NULL. */
static gram_status measure_plain(gram_context *context, const gram_target *target, int64_t m, double *plain,
                                 double *all)
{
    gram_status status = GRAM_OK;
    int64_t *index = NULL;
    const int64_t n = target->rows.n;
    TRY(gram_take(context, "thin_reference", n, sizeof *index, (void **)&index));
    gram_thin_evenly(n, m, index);
    TRY(gram_target_measure(context, target, m, index, plain));
    for (int64_t i = 0; i < n; i++) index[i] = i;
    if (all) TRY(gram_target_measure(context, target, n, index, all));
done:
    gram_give(context, index);
    return status;
}

gram_status gram_thin_reference(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                                const double *scores, int64_t lds, int64_t m, double *plain, double *all)
{
    gram_status status = GRAM_OK;
    gram_target target = {0};
    gram_discrepancy whole = {.discrepancy = NAN};
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!plain || !all, context, GRAM_ERROR_ARGUMENT, "thin_reference: %s is NULL", plain ? "all" : "plain");
    TRY(gram_target_check(context, "thin_reference", points, m, NULL));
    TRY(gram_target_make(context, "thin_reference", kernel, points, scores, lds, NULL, &target));
    TRY(measure_plain(context, &target, m, plain, NULL));
    if (!scores)
        whole.discrepancy = 0;
    else if (points->n <= ROWS_FOR_ALL)
        TRY(gram_stein_discrepancy(context, kernel, points, scores, lds, NULL, &whole));
    *all = whole.discrepancy;
done:
    gram_target_free(context, &target);
    return status;
}

gram_status gram_thin_law_reference(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                                    const gram_law *law, int64_t m, double *plain, double *all)
{
    gram_status status = GRAM_OK;
    gram_target target = {0};
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!law || !plain || !all, context, GRAM_ERROR_ARGUMENT, "thin_law_reference: an argument is NULL");
    TRY(gram_target_check(context, "thin_law_reference", points, m, NULL));
    TRY(gram_points_must_be_plain(context, "thin_law_reference", points));
    TRY(gram_target_make(context, "thin_law_reference", kernel, points, NULL, 0, law, &target));
    *all = NAN;
    TRY(measure_plain(context, &target, m, plain, points->n <= ROWS_FOR_ALL ? all : NULL));
done:
    gram_target_free(context, &target);
    return status;
}
