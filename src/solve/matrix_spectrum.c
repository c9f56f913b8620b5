/* The spectrum of a Gram matrix: K is made, looked at and destroyed for its eigenvalues; only if one is clearly negative is it
 * made again, for the vector that proves it. */
#include <gram/spectrum.h>

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include <gram/eigen.h>
#include <gram/random.h>
#include <gram/text.h>

#include "base/arena.h"
#include "base/sized_struct.h"
#include "points/points.h"

enum { MOST_ROWS = 4000, MAX_METRIC_ROWS = 512, LEAST_ROWS = 16, SAMPLE_STREAM = 0x726f7773 };

struct gram_spectrum {
    gram_memory *memory;
    gram_arena arena; /* rows and values */
    gram_spectrum_report report;
};

void gram_spectrum_options_init(gram_spectrum_options *options, size_t size)
{
    const gram_spectrum_options defaults = {.size = sizeof defaults, .rows = MOST_ROWS};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

/* ---- rows ---- */

static int compare_rows(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* How many rows: K and what is beside it may take half of what the budget has left. */
static int64_t rows_that_fit(const gram_context *context, int64_t n, int64_t most)
{
    const size_t budget = gram_memory_budget(context->memory), used = gram_memory_used(context->memory);
    const double left = budget == 0 ? INFINITY : budget > used ? (double)(budget - used) : 0;
    const double fit = sqrt(left / 16);
    if (fit < (double)most) most = fit < LEAST_ROWS ? LEAST_ROWS : (int64_t)fit;
    return n < most ? n : most;
}

/* What is worked on: the chosen rows, side by side, and room for K. */
typedef struct workplace {
    gram_context *context;
    const gram_kernel *kernel;
    int64_t n;
    int64_t *rows;
    double *values;
    double *numbers;
    gram_points *points;
    double *K;
    double *vector, *product;
} workplace;

static gram_status choose_rows(workplace *w, gram_arena *arena, int64_t total, int64_t most)
{
    gram_status status = GRAM_OK;
    const gram_random random = {w->context->seed, SAMPLE_STREAM};
    int64_t *order = NULL;
    w->n = rows_that_fit(w->context, total, most);
    TRY(gram_arena_take(w->context, arena, "spectrum", w->n, sizeof *w->rows, (void **)&w->rows));
    TRY(gram_arena_take(w->context, arena, "spectrum", w->n, sizeof *w->values, (void **)&w->values));
    TRY(gram_take(w->context, "spectrum: the sample", total, sizeof *order, (void **)&order));
    if (w->n < total)
        gram_random_permutation(random, 0, total, order);
    else
        for (int64_t i = 0; i < total; i++) order[i] = i;
    for (int64_t i = 0; i < w->n; i++) w->rows[i] = order[i];
    qsort(w->rows, (size_t)w->n, sizeof *w->rows, compare_rows);
done:
    gram_give(w->context, order);
    return status;
}

static gram_status open_workplace(const gram_points *given, workplace *w)
{
    gram_status status = GRAM_OK;
    const int64_t d = given->d, n = w->n;
    TRY(gram_take(w->context, "spectrum: points", n * d, sizeof *w->numbers, (void **)&w->numbers));
    TRY(gram_take(w->context, "spectrum: the matrix", n * n, sizeof *w->K, (void **)&w->K));
    TRY(gram_take(w->context, "spectrum", n, sizeof *w->vector, (void **)&w->vector));
    TRY(gram_take(w->context, "spectrum", n, sizeof *w->product, (void **)&w->product));
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < d; l++) w->numbers[i * d + l] = gram_points_cell(given, w->rows[i], l);
    TRY(gram_points_create_like(w->context, given, n, w->numbers, 0, &w->points));
done:
    return status;
}

static void close_workplace(workplace *w)
{
    gram_points_release(w->points);
    gram_give(w->context, w->numbers);
    gram_give(w->context, w->K);
    gram_give(w->context, w->vector);
    gram_give(w->context, w->product);
}

static gram_status make_matrix(workplace *w)
{
    return gram_matrix(w->context, w->kernel, w->points, NULL, w->K, w->n);
}

/* ---- facts about K ---- */

static void check_entries(const workplace *w, gram_spectrum_report *s)
{
    s->symmetric = 1;
    s->ratio = NAN;
    for (int64_t i = 0; i < w->n; i++)
        for (int64_t j = 0; j < i; j++) {
            const double k = w->K[i * w->n + j], scale = w->K[i * w->n + i] * w->K[j * w->n + j];
            s->symmetric &= k == w->K[j * w->n + i];
            const double ratio = k == 0 ? 0 : scale > 0 ? fabs(k) / sqrt(scale) : INFINITY;
            if (ratio <= s->ratio) continue;
            s->ratio = ratio;
            s->ratio_rows[0] = s->rows[j];
            s->ratio_rows[1] = s->rows[i];
        }
    s->cauchy_schwarz = !(s->ratio > 1 + 8 * DBL_EPSILON);
}

static double effective_dimension(const gram_spectrum_report *s, double lambda)
{
    double sum = 0;
    for (int64_t i = 0; i < s->n; i++) {
        const double value = s->values[i] < 0 && s->values[i] >= -s->tolerance ? 0 : s->values[i];
        sum += value / (value + (double)s->n * lambda);
    }
    return sum;
}

static gram_status find_values(workplace *w, const gram_spectrum_options *options, gram_spectrum_report *s)
{
    const gram_status status = gram_eigen_symmetric(w->context, w->n, w->K, w->n, 0, w->n, w->values, NULL, 0);
    if (status < 0) return status;
    const double largest = fmax(fabs(s->values[0]), fabs(s->values[s->n - 1]));
    s->tolerance = (double)s->n * DBL_EPSILON * largest;
    s->psd = s->values[s->n - 1] >= -s->tolerance;
    for (int64_t i = 0; i < s->n; i++) s->trace += s->values[i];
    s->effective_dimension = options->lambda > 0 ? effective_dimension(s, options->lambda) : NAN;
    return GRAM_OK;
}

/* The largest entries of the vector, by insertion. */
static void keep_largest(const workplace *w, gram_spectrum_report *s)
{
    for (int64_t i = 0; i < w->n; i++) {
        int place = GRAM_SPECTRUM_ENTRIES;
        while (place > 0 && fabs(w->vector[i]) > fabs(s->entry[place - 1])) place--;
        if (place == GRAM_SPECTRUM_ENTRIES) continue;
        for (int p = GRAM_SPECTRUM_ENTRIES - 1; p > place; p--) {
            s->entry[p] = s->entry[p - 1];
            s->entry_row[p] = s->entry_row[p - 1];
        }
        s->entry[place] = w->vector[i];
        s->entry_row[place] = s->rows[i];
        if (s->entry_count < GRAM_SPECTRUM_ENTRIES) s->entry_count++;
    }
}

/* v'Kv is computed from K itself, not taken from the eigenvalue. */
static gram_status find_certificate(workplace *w, gram_spectrum_report *s)
{
    double value;
    gram_status status = make_matrix(w);
    if (status >= 0) status = gram_eigen_symmetric(w->context, w->n, w->K, w->n, w->n - 1, 1, &value, w->vector, w->n);
    if (status >= 0)
        status = gram_matrix_product(w->context, w->kernel, w->points, NULL, 1, w->vector, 1, w->product, 1);
    if (status < 0) return status;
    s->form = 0;
    for (int64_t i = 0; i < w->n; i++) s->form += w->vector[i] * w->product[i];
    keep_largest(w, s);
    return GRAM_OK;
}

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* d_k over the pairs of evenly spaced rows. K's room is used for it. */
static gram_status find_metric(workplace *w, gram_spectrum_report *s)
{
    const int64_t d = gram_points_dimension(w->points), step = (w->n + MAX_METRIC_ROWS - 1) / MAX_METRIC_ROWS;
    const int64_t m = (w->n + step - 1) / step;
    gram_points *points = NULL;
    int64_t count = 0;
    gram_status status = gram_points_create_f64(w->context, m, d, w->numbers, step * d, &points);
    if (status >= 0) status = gram_points_set_objects(w->context, w->points->objects, &points);
    if (status >= 0) status = gram_matrix_distance(w->context, w->kernel, points, NULL, w->K, m);
    gram_points_release(points);
    if (status < 0) return status;
    s->metric_rows = m;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < i; j++)
            w->K[count++] = w->K[i * m + j]; /* count <= i m + j: read before it is written */
    if (count == 0) return GRAM_OK;
    qsort(w->K, (size_t)count, sizeof *w->K, compare_numbers);
    s->metric[0] = w->K[0];
    s->metric[1] = 0.5 * (w->K[(count - 1) / 2] + w->K[count / 2]);
    s->metric[2] = w->K[count - 1];
    return GRAM_OK;
}

/* ---- the object ---- */

static gram_status find_facts(workplace *w, const gram_spectrum_options *options, gram_spectrum_report *report)
{
    gram_status status = GRAM_OK;
    TRY(make_matrix(w));
    if (options->check) check_entries(w, report);
    TRY(find_values(w, options, report));
    if (options->check && !report->psd) TRY(find_certificate(w, report));
    if (options->check) TRY(find_metric(w, report));
done:
    return status;
}

static gram_status read_options(gram_context *context, const gram_spectrum_options *options, gram_spectrum_options *out)
{
    gram_status status = GRAM_OK;
    char lambda[GRAM_NUMBER_SIZE];
    gram_spectrum_options_init(out, sizeof *out);
    TRY(gram_sized_read(context, "spectrum_create", "options", "gram_spectrum_options", options, out, sizeof *out));
    FAIL_IF(out->rows < 1 || !(out->lambda >= 0) || isinf(out->lambda), context, GRAM_ERROR_ARGUMENT,
            "spectrum_create: options.rows = %" PRId64 ", lambda = %s", out->rows,
            gram_number_format(out->lambda, lambda));
done:
    return status;
}

gram_status gram_spectrum_create(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                                 const gram_spectrum_options *options, gram_spectrum **spectrum)
{
    gram_status status = GRAM_OK;
    gram_spectrum_options o;
    gram_spectrum *made = NULL;
    workplace w = {.context = context, .kernel = kernel};
    if (!context || !kernel || !points || !spectrum) return GRAM_ERROR_ARGUMENT;
    *spectrum = NULL;
    TRY(read_options(context, options, &o));
    TRY(gram_take(context, "spectrum", 1, sizeof *made, (void **)&made));
    *made = (gram_spectrum){.memory = gram_memory_retain(context->memory)};
    made->report = (gram_spectrum_report){
        .size = sizeof made->report, .form = NAN, .ratio = NAN, .ratio_rows = {-1, -1}, .metric = {NAN, NAN, NAN}};
    made->report.lambda = o.lambda;
    made->report.checked = o.check;
    gram_arena_init(&made->arena, made->memory);
    TRY(choose_rows(&w, &made->arena, points->n, o.rows));
    made->report.n = w.n;
    made->report.rows = w.rows;
    made->report.values = w.values;
    TRY(open_workplace(points, &w));
    TRY(find_facts(&w, &o, &made->report));
    *spectrum = made;
    made = NULL;
done:
    close_workplace(&w);
    gram_spectrum_destroy(made);
    return status;
}

void gram_spectrum_destroy(gram_spectrum *spectrum)
{
    if (!spectrum) return;
    gram_memory *memory = spectrum->memory;
    gram_arena_release(&spectrum->arena);
    gram_memory_give(memory, spectrum);
    gram_memory_release(memory);
}

const gram_spectrum_report *gram_spectrum_get_report(const gram_spectrum *spectrum)
{
    return &spectrum->report;
}
