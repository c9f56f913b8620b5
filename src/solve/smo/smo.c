#define _POSIX_C_SOURCE 200809L
#include "solve/smo/smo.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/sweep.h"

enum {
    WIDTH = 512,
    MIRROR = 32,    /* rows and columns of a tile of the block */
    CHUNK = 1024,   /* points of f that one task brings up to date */
    ALONE = 200000, /* numbers to touch, up to which other threads are not called */
    LOOKS = 64      /* rounds between looks at whether only rounding is left */
};

/* How far a working set is solved: to this part of the violation, or this many steps for each of its variables. */
static const double INNER = 0.1;
enum { MOST = 100 };

/* Violations away from the middle: no such variable takes part in a round's end. */
static const double FAR = 1e6;

struct gram_smo_candidate {
    double excess;
    int64_t variable;
};
typedef struct gram_smo_candidate candidate;

double gram_smo_clock(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

gram_status gram_smo_call_back(gram_context *context, double share, double *last)
{
    const double now = gram_smo_clock();
    if ((!context->progress && !context->cancel) || now - *last < 0.05) return GRAM_OK;
    *last = now;
    if (context->progress) context->progress(context->progress_user, "support vectors", share);
    if (!context->cancel || !context->cancel(context->cancel_user)) return GRAM_OK;
    return gram_fail(context, GRAM_ERROR_CANCELLED, "support vectors: cancelled");
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t point_of(const gram_smo *s, int64_t variable)
{
    return s->point ? s->point[variable] : variable;
}

static int group_of(const gram_smo *s, int64_t variable)
{
    return variable >= s->group;
}

static int can_rise(const gram_smo *s, int64_t i)
{
    return s->b[i] < s->upper[i];
}

static int can_fall(const gram_smo *s, int64_t i)
{
    return s->b[i] > s->lower[i];
}

/* ---- scratch ---- */

static int64_t width_of(int64_t count, int64_t width)
{
    return least(count, width > 0 ? width : WIDTH);
}

/* Both groups may need filling up. */
static int64_t padded(int64_t width)
{
    return (width + 2 * GRAM_SMO_LANES - 1) / GRAM_SMO_LANES * GRAM_SMO_LANES + GRAM_SMO_LANES;
}

/* Rows of the block a cache line further apart than they are long: at a power of two, a column's lines would all want the same
 * few places of a cache. */
static int64_t leading(int64_t size)
{
    return size + GRAM_SMO_LANES;
}

/* The next array of the memory at `start`; NULL has none, and `used` only grows. */
static void *carve(char *start, size_t *used, int64_t count, size_t size)
{
    char *place = start ? start + *used : NULL;
    *used += ((size_t)count * size + GRAM_ALIGNMENT - 1) / GRAM_ALIGNMENT * GRAM_ALIGNMENT;
    return place;
}

/* Divides the memory; with NULL as its start it only measures. */
static size_t divide(gram_smo *s, int64_t count, int64_t width, char *start)
{
    const int64_t size = padded(width);
    size_t used = 0;
    s->v = carve(start, &used, count, sizeof(double));
    s->candidates = carve(start, &used, 2 * count + 2, sizeof(candidate));
    s->chosen = carve(start, &used, count, 1);
    s->matrix = carve(start, &used, size * leading(size), sizeof(float));
    float **short_arrays[] = {&s->block.diagonal, &s->block.v, &s->block.rise, &s->block.fall};
    double **long_arrays[] = {&s->block.b, &s->block.lower, &s->block.upper, &s->before, &s->weights};
    for (size_t i = 0; i < sizeof short_arrays / sizeof *short_arrays; i++)
        *short_arrays[i] = carve(start, &used, size, sizeof(float));
    for (size_t i = 0; i < sizeof long_arrays / sizeof *long_arrays; i++)
        *long_arrays[i] = carve(start, &used, size, sizeof(double));
    s->set = carve(start, &used, size, sizeof(int64_t));
    s->kept = carve(start, &used, size, sizeof(int64_t));
    s->points = carve(start, &used, size, sizeof(int64_t));
    s->rows = carve(start, &used, size, sizeof *s->rows);
    s->zero = carve(start, &used, size, sizeof(float));
    return used;
}

size_t gram_smo_scratch(int64_t count, int64_t width)
{
    gram_smo measured;
    return divide(&measured, count, width_of(count, width), NULL);
}

void gram_smo_prepare(gram_smo *s, const gram_smo_loops *loops, int64_t width, void *scratch)
{
    s->loops = loops;
    s->width = width_of(s->count, width);
    (void)divide(s, s->count, s->width, scratch);
    memset(s->chosen, 0, (size_t)s->count);
    memset(s->zero, 0, (size_t)padded(s->width) * sizeof *s->zero);
    s->kept_count = 0;
}

/* ---- the state as a whole ---- */

typedef struct extremes {
    double highest[2], lowest[2];
} extremes;

/* Variables that move alone are compared with 0, too. */
static void add_zero(const gram_smo *s, extremes *e)
{
    if (!s->alone) return;
    e->highest[0] = fmax(e->highest[0], 0);
    e->lowest[0] = fmin(e->lowest[0], 0);
}

static extremes find_extremes(const gram_smo *s)
{
    extremes e = {{-INFINITY, -INFINITY}, {INFINITY, INFINITY}};
    for (int64_t i = 0; i < s->count; i++) {
        const int g = group_of(s, i);
        const double v = s->c[i] - s->f[point_of(s, i)];
        if (can_rise(s, i) && v > e.highest[g]) e.highest[g] = v;
        if (can_fall(s, i) && v < e.lowest[g]) e.lowest[g] = v;
    }
    add_zero(s, &e);
    return e;
}

/* The same from v, which is brought up to date; in every round, so without branches that nobody can predict. */
static extremes update_extremes(gram_smo *s)
{
    extremes e;
    for (int64_t i = 0; i < s->count; i++) s->v[i] = s->c[i] - s->f[point_of(s, i)];
    for (int g = 0; g < 2; g++) {
        const int64_t first = g ? s->group : 0, end = g ? s->count : s->group;
        s->loops->range(end - first, s->v + first, s->b + first, s->lower + first, s->upper + first, &e.highest[g],
                        &e.lowest[g]);
    }
    add_zero(s, &e);
    return e;
}

/* The middle between those that can rise and those that can fall. */
static double middle_of(const extremes *e, int group)
{
    const double high = e->highest[group], low = e->lowest[group];
    return isfinite(high) && isfinite(low) ? high / 2 + low / 2 : isfinite(high) ? high : isfinite(low) ? low : 0;
}

static double violation_of(const extremes *e)
{
    double worst = 0;
    for (int g = 0; g < 2; g++)
        if (e->highest[g] - e->lowest[g] > worst) worst = e->highest[g] - e->lowest[g];
    return worst;
}

double gram_smo_violation(const gram_smo *s)
{
    const extremes e = find_extremes(s);
    return violation_of(&e);
}

static int64_t list_active(const gram_smo *s, const extremes *e, double margin, int64_t *variables)
{
    int64_t count = 0;
    double low[2], high[2];
    for (int g = 0; g < 2; g++) {
        const double slack = margin * fmax(0, e->highest[g] - e->lowest[g]);
        low[g] = e->lowest[g] - slack;
        high[g] = e->highest[g] + slack;
    }
    for (int64_t i = 0; i < s->count; i++) {
        const int g = group_of(s, i), up = can_rise(s, i), down = can_fall(s, i);
        const double v = s->c[i] - s->f[point_of(s, i)];
        if (!(up && down) && !(up && v > low[g]) && !(down && v < high[g])) continue;
        if (variables) variables[count] = i;
        count++;
    }
    return count;
}

int64_t gram_smo_active(const gram_smo *s, double margin, int64_t *variables)
{
    const extremes e = find_extremes(s);
    return list_active(s, &e, margin, variables);
}

void gram_smo_levels(const gram_smo *s, double level[2])
{
    const extremes e = find_extremes(s);
    double sum[2] = {0, 0};
    int64_t count[2] = {0, 0};
    for (int64_t i = 0; i < s->count; i++) {
        if (!can_rise(s, i) || !can_fall(s, i)) continue;
        sum[group_of(s, i)] += s->c[i] - s->f[point_of(s, i)];
        count[group_of(s, i)]++;
    }
    for (int g = 0; g < 2; g++) level[g] = count[g] ? sum[g] / (double)count[g] : middle_of(&e, g);
    if (s->alone) level[0] = level[1] = 0;
}

double gram_smo_gap(const gram_smo *s, const double level[2])
{
    double gap = 0;
    for (int64_t i = 0; i < s->count; i++) {
        const double r = s->c[i] - s->f[point_of(s, i)] - level[group_of(s, i)];
        gap += r > 0 ? (s->upper[i] - s->b[i]) * r : (s->lower[i] - s->b[i]) * r;
    }
    return gap;
}

double gram_smo_objective(const gram_smo *s)
{
    double sum = 0;
    for (int64_t i = 0; i < s->count; i++) sum += s->b[i] * (s->f[point_of(s, i)] / 2 - s->c[i]);
    return sum;
}

/* ---- the working set ---- */

/* The worst first; of equals the one with the lower number. */
static int before(const candidate *a, const candidate *b)
{
    if (a->excess != b->excess) return a->excess > b->excess;
    return a->variable < b->variable;
}

static void exchange(candidate *a, candidate *b)
{
    const candidate kept = *a;
    *a = *b;
    *b = kept;
}

/* Brings the `wanted` worst to the front, in no particular order among them (Hoare's selection). */
static void select_worst(candidate *list, int64_t count, int64_t wanted)
{
    int64_t low = 0, high = count - 1;
    if (wanted >= count || wanted <= 0) return;
    while (low < high) {
        const candidate pivot = list[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (before(&list[i], &pivot)) i++;
            while (before(&pivot, &list[j])) j--;
            if (i > j) break;
            exchange(&list[i++], &list[j--]);
        }
        if (wanted - 1 <= j)
            high = j;
        else if (wanted - 1 >= i)
            low = i;
        else
            return;
    }
}

static void take(gram_smo *s, int64_t variable)
{
    if (s->chosen[variable]) return;
    s->chosen[variable] = 1;
    s->set[s->set_count++] = variable;
}

/* Variables that can rise and exceed the lowest that can fall, and the other way round: half of the places each. */
static void take_violators(gram_smo *s, const extremes *e, int64_t places)
{
    candidate *up = s->candidates, *down = s->candidates + s->count + 1;
    int64_t ups = 0, downs = 0;
    for (int64_t i = 0; i < s->count; i++) {
        const int g = group_of(s, i), open = !s->chosen[i];
        const double above = s->v[i] - e->lowest[g], below = e->highest[g] - s->v[i];
        up[ups] = (candidate){.excess = above, .variable = i}; /* counted or overwritten: a branch would cost more */
        ups += open & can_rise(s, i) & (above > 0);
        down[downs] = (candidate){.excess = below, .variable = i};
        downs += open & can_fall(s, i) & (below > 0);
    }
    int64_t half = places / 2;
    if (ups < half) half = ups;
    if (downs < places - half) half = least(ups, places - downs);
    const int64_t rest = least(downs, places - half);
    select_worst(up, ups, half);
    select_worst(down, downs, rest);
    for (int64_t i = 0; i < half; i++) take(s, up[i].variable);
    for (int64_t i = 0; i < rest; i++) take(s, down[i].variable);
}

/* Half of the former set stays, what is between its bounds first: those are coupled with the newcomers most. */
static void keep_some(gram_smo *s, int64_t places)
{
    for (int pass = 0; pass < 2; pass++)
        for (int64_t k = 0; k < s->kept_count && s->set_count < places; k++) {
            const int64_t i = s->kept[k];
            if (pass == 1 || (can_rise(s, i) && can_fall(s, i))) take(s, i);
        }
}

/* In the order of the variables, group 0 first. */
static void choose_set(gram_smo *s, const extremes *e)
{
    s->set_count = 0;
    keep_some(s, s->width / 2);
    take_violators(s, e, s->width - s->set_count);
    s->kept_count = s->set_count;
    for (int64_t k = 0; k < s->set_count; k++) s->kept[s->set_count - 1 - k] = s->set[k]; /* newest first */
    s->set_count = 0;
    for (int64_t i = 0; i < s->count; i++) {
        if (!s->chosen[i]) continue;
        s->chosen[i] = 0;
        s->set[s->set_count++] = i;
    }
}

/* ---- a round ---- */

typedef struct round_job {
    gram_smo *smo;
    int64_t first_group; /* entries of the set in group 0 */
    int64_t size;        /* of the block, both segments */
    int64_t ld;          /* of its matrix */
    int64_t tasks;
    int64_t moved; /* rows of f's update */
} round_job;

/* Where entry k of the set is in the block: group 0, filled up, then group 1, filled up. */
static int64_t place_of(const round_job *job, int64_t k)
{
    return k < job->first_group ? k : job->smo->block.count[0] + (k - job->first_group);
}

static int64_t whole_lanes(int64_t count)
{
    return (count + GRAM_SMO_LANES - 1) / GRAM_SMO_LANES * GRAM_SMO_LANES;
}

static void shape_block(round_job *job)
{
    gram_smo *s = job->smo;
    gram_smo_block_f32 *block = &s->block;
    int64_t first = 0;
    while (first < s->set_count && s->set[first] < s->group) first++;
    job->first_group = first;
    block->count[0] = whole_lanes(first);
    block->count[1] = whole_lanes(s->set_count - first);
    job->size = block->count[0] + block->count[1];
    job->ld = leading(job->size);
    for (int g = 0; g < 2; g++)
        for (int h = 0; h < 2; h++) {
            block->k[g][h] = s->matrix + (g ? block->count[0] * job->ld : 0) + (h ? block->count[0] : 0);
            block->ld[g][h] = job->ld;
        }
}

/* Rows of the block's lower triangle. */
static gram_status gather_rows(void *argument, const gram_worker *worker)
{
    const round_job *job = argument;
    gram_smo *s = job->smo;
    for (int64_t k = worker->task; k < s->set_count; k += job->tasks) {
        float *row = s->matrix + place_of(job, k) * job->ld;
        const float *from = s->rows[k];
        const int64_t *point = s->points, first = least(k + 1, job->first_group);
        float *second = row + s->block.count[0] - job->first_group;
        for (int64_t m = 0; m < first; m++) row[m] = from[point[m]];
        for (int64_t m = first; m <= k; m++) second[m] = from[point[m]];
    }
    return GRAM_OK;
}

/* What fills up the segments; their columns are never read where it matters. */
static void fill_up(const round_job *job, int64_t first, int64_t end)
{
    gram_smo *s = job->smo;
    gram_smo_block_f32 *block = &s->block;
    for (int64_t i = first; i < end; i++) {
        for (int64_t k = 0; k < job->size; k++) s->matrix[i * job->ld + k] = s->matrix[k * job->ld + i] = 0;
        block->b[i] = block->lower[i] = block->upper[i] = 0;
        block->v[i] = 0;
        block->diagonal[i] = 1;
    }
}

/* Tiles left of the diagonal to their places above it, a row of tiles at a time. */
static gram_status mirror_rows(void *argument, const gram_worker *worker)
{
    const round_job *job = argument;
    float *k = job->smo->matrix;
    const int64_t n = job->size, ld = job->ld;
    for (int64_t i = MIRROR * worker->task; i < n; i += MIRROR * job->tasks)
        for (int64_t j = 0; j <= i; j += MIRROR)
            for (int64_t r = i; r < least(i + MIRROR, n); r++)
                for (int64_t q = j; q < least(j + MIRROR, r); q++) k[q * ld + r] = k[r * ld + q];
    return GRAM_OK;
}

/* Differences from the middle in units of the violation: in these f32 has digits to spare whatever the tolerance, and what is
 * far off need not be exact. */
static float scaled(double v, double middle, double violation)
{
    return (float)fmax(-FAR, fmin(FAR, (v - middle) / violation));
}

static void fill_block(const round_job *job, const extremes *e, double violation)
{
    gram_smo *s = job->smo;
    gram_smo_block_f32 *block = &s->block;
    const double middle[2] = {middle_of(e, 0), middle_of(e, 1)};
    double largest = 0;
    fill_up(job, job->first_group, block->count[0]);
    fill_up(job, block->count[0] + s->set_count - job->first_group, job->size);
    for (int64_t k = 0; k < s->set_count; k++) {
        const int64_t i = s->set[k], at = place_of(job, k);
        block->v[at] = scaled(s->v[i], middle[group_of(s, i)], violation);
        block->b[at] = s->before[k] = s->b[i];
        block->lower[at] = s->lower[i];
        block->upper[at] = s->upper[i];
        block->diagonal[at] = s->matrix[at * job->ld + at];
        largest = fmax(largest, fabs((double)block->diagonal[at]));
    }
    block->level = scaled(0, middle[0], violation);
    block->least = gram_smo_least_curvature(largest);
    block->unit = violation / s->source.unit;
}

static gram_status run(gram_smo *s, round_job *job, int64_t numbers, int64_t tasks, gram_task_fn task)
{
    job->tasks = tasks;
    if (s->context && numbers > ALONE) {
        const gram_sweep sweep = {.what = "support vectors", .tasks = tasks, .run = task, .argument = job};
        return gram_sweep_run(s->context, &sweep);
    }
    for (gram_worker worker = {.task = 0}; worker.task < tasks; worker.task++) (void)task(job, &worker);
    return GRAM_OK;
}

/* A chunk of f. */
static gram_status update_chunk(void *argument, const gram_worker *worker)
{
    const round_job *job = argument;
    const gram_smo *s = job->smo;
    const int64_t first = worker->task * CHUNK, count = least(CHUNK, s->n - first);
    s->loops->add_rows(job->moved, s->weights, s->rows, first, count, s->f + first);
    return GRAM_OK;
}

/* Back to the variables; rows of those that moved come to the front. */
static void store_moves(round_job *job)
{
    gram_smo *s = job->smo;
    job->moved = 0;
    for (int64_t k = 0; k < s->set_count; k++) {
        const double now = s->block.b[place_of(job, k)], change = now - s->before[k];
        s->b[s->set[k]] = now;
        if (change == 0) continue;
        s->rows[job->moved] = s->rows[k];
        s->weights[job->moved++] = s->source.unit * change;
    }
}

static gram_status play_round(gram_smo *s, const extremes *e)
{
    gram_status status = GRAM_OK;
    round_job job = {.smo = s};
    const double violation = violation_of(e);
    choose_set(s, e);
    for (int64_t k = 0; k < s->set_count; k++) s->points[k] = point_of(s, s->set[k]);
    TRY(s->source.rows(s->source.self, s->context, s->set_count, s->points, s->rows));
    shape_block(&job);
    TRY(run(s, &job, s->set_count * s->set_count / 2, least(s->set_count, 16), gather_rows));
    fill_block(&job, e, violation);
    TRY(run(s, &job, job.size * job.size / 2, (job.size + MIRROR - 1) / MIRROR, mirror_rows));
    const double goal = fmax(s->tolerance / 2 / violation, INNER);
    s->steps += gram_smo_block_solve_f32(s->loops, &s->block, goal, least(MOST * s->set_count, s->most - s->steps));
    store_moves(&job);
    TRY(run(s, &job, job.moved * s->n, (s->n + CHUNK - 1) / CHUNK, update_chunk));
done:
    return status;
}

double gram_smo_rounding(double size)
{
    return 64 * DBL_EPSILON * size;
}

/* The size of what v is the difference of. */
static double size_of_terms(const gram_smo *s)
{
    double size = 0;
    for (int64_t i = 0; i < s->count; i++) size = fmax(size, fabs(s->c[i]) + fabs(s->f[point_of(s, i)]));
    return size;
}

gram_status gram_smo_solve(gram_smo *s)
{
    gram_status status = GRAM_OK;
    double first = 0;
    s->out_of_budget = s->shrunk = 0;
    s->block.joined = 0;
    s->block.alone = s->alone;
    s->block.zero = s->zero;
    for (;;) {
        const extremes e = update_extremes(s);
        const int64_t steps = s->steps;
        s->violation = violation_of(&e);
        if (s->violation <= s->tolerance) break;
        s->out_of_budget = s->steps >= s->most || (s->deadline > 0 && gram_smo_clock() > s->deadline) ||
                           (s->worker && gram_worker_stopped(s->worker));
        s->shrunk = s->enough > 0 && s->rounds >= s->patience && list_active(s, &e, s->margin, NULL) <= s->enough;
        if (s->out_of_budget || s->shrunk) break;
        if (s->rounds % LOOKS == LOOKS - 1 && s->violation <= gram_smo_rounding(size_of_terms(s))) break;
        first = fmax(first, s->violation);
        const double share = first > s->tolerance ? log(first / s->violation) / log(first / s->tolerance) : 0;
        if (s->context) TRY(gram_smo_call_back(s->context, share, &s->last_call));
        TRY(play_round(s, &e));
        s->rounds++;
        if (s->steps == steps) break; /* the rest is rounding */
    }
done:
    return status;
}
