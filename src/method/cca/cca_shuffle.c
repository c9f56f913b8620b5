/* The permutation test of independence by the first correlation.
 *
 * With eigenvectors V of F'F and eigenvalues l, and so for G, the matrix whose singular values are the correlations of shuffled rows is
 *
 *     (V'F' P G W)_ij/sqrt((l_i + n kappa) (m_j + n kappa)),
 *
 * so that one product for each shuffle P serves all kappa. A task is one shuffle; shuffle 0 is the observed order. A p-value
 * (1 + number of shuffles that reach the observed statistic)/(1 + shuffles) has an exact level for any statistic that treats all
 * orders alike (Phipson and Smyth, 2010), which that of the header does: means and deviations are those over all orders. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/random.h>

#include "base/sweep.h"
#include "method/cca/cca.h"

enum { SHUFFLE_STREAM = 0x63636173 /* "ccas" */, MOST_COLUMNS = 128, CHUNK = 256, ITERATIONS = 500 };

typedef struct shuffle_work {
    uint64_t seed;
    int64_t n, rank[2];
    int grid;            /* kappas */
    const double *kappa; /* grid */
    double *scores[2];   /* F V: n x rank */
    double *squares[2];  /* l */
    double *values;      /* (shuffles + 1) x grid: first correlations */
} shuffle_work;

/* ---- features along their principal directions ---- */

static gram_status turn_view(gram_context *context, gram_tall f, double *scores, double *squares)
{
    gram_status status = GRAM_OK;
    double *c = NULL;
    TRY(gram_take(context, "cca: covariance", f.columns * f.columns, sizeof *c, (void **)&c));
    TRY(gram_tall_inner(context, f, f, c, f.columns));
    TRY(gram_tall_eigen(context, f.columns, c, f.columns, squares));
    memset(scores, 0, (size_t)(f.n * f.columns) * sizeof *scores);
    TRY(gram_tall_add(context, f, 1, c, f.columns, (gram_tall){f.n, f.columns, f.columns, scores}));
done:
    gram_give(context, c);
    return status;
}

static gram_status begin(gram_cca_work *work, shuffle_work *s)
{
    gram_status status = GRAM_OK;
    gram_context *context = work->context;
    const gram_cca_report *report = &work->cca->report;
    *s = (shuffle_work){.seed = gram_context_seed(context),
                        .n = report->n,
                        .grid = report->chosen ? GRAM_CCA_GRID : 1,
                        .kappa = report->chosen ? work->grid : &report->kappa};
    for (int v = 0; v < 2; v++) {
        const gram_tall f = gram_cca_first(&work->views[v], MOST_COLUMNS);
        s->rank[v] = f.columns;
        TRY(gram_take(context, "cca: scores", f.n * f.columns, sizeof(double), (void **)&s->scores[v]));
        TRY(gram_take(context, "cca: eigenvalues", f.columns, sizeof(double), (void **)&s->squares[v]));
        TRY(turn_view(context, f, s->scores[v], s->squares[v]));
    }
    TRY(gram_take(context, "cca: shuffles", (work->options.permutations + 1) * s->grid, sizeof(double),
                  (void **)&s->values));
done:
    return status;
}

/* ---- one order of the rows ---- */

/* c = F'P G, from gathered rows. */
static void multiply(const shuffle_work *s, const int64_t *order, double *rows, double *c)
{
    const int64_t rx = s->rank[0], ry = s->rank[1];
    memset(c, 0, (size_t)(rx * ry) * sizeof *c);
    for (int64_t first = 0; first < s->n; first += CHUNK) {
        const int64_t count = s->n - first < CHUNK ? s->n - first : CHUNK;
        for (int64_t i = 0; i < count; i++)
            memcpy(rows + i * ry, s->scores[1] + order[first + i] * ry, (size_t)ry * sizeof *rows);
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)rx, (int)ry, (int)count, 1, s->scores[0] + first * rx,
                    (int)rx, rows, (int)ry, 1, c, (int)ry);
    }
}

/* 1/sqrt(l + n kappa), 0 for directions in which nothing varies. */
static double scale(const shuffle_work *s, int v, int64_t i, double kappa)
{
    const double square = fmax(s->squares[v][i], 0) + (double)s->n * kappa;
    return s->squares[v][i] > 1e-14 * s->squares[v][0] ? 1 / sqrt(square) : 0;
}

/* The largest singular value of diag(a) C diag(b) by powers of its square, from a start that is the same for all orders. */
static double first_value(const shuffle_work *s, const double *c, double kappa, double *scaled, double *q, double *p)
{
    const int64_t rx = s->rank[0], ry = s->rank[1];
    double value = 0, before = -1;
    for (int64_t i = 0; i < rx; i++)
        for (int64_t j = 0; j < ry; j++)
            scaled[i * ry + j] = c[i * ry + j] * scale(s, 0, i, kappa) * scale(s, 1, j, kappa);
    for (int64_t j = 0; j < ry; j++) q[j] = 1 / sqrt((double)ry);
    for (int step = 0; step < ITERATIONS && fabs(value - before) > 1e-10 * value; step++) {
        before = value;
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)rx, (int)ry, 1, scaled, (int)ry, q, 1, 0, p, 1);
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)rx, (int)ry, 1, scaled, (int)ry, p, 1, 0, q, 1);
        value = cblas_dnrm2((int)ry, q, 1);
        if (!(value > 0)) return 0;
        cblas_dscal((int)ry, 1 / value, q, 1);
    }
    return sqrt(value);
}

static gram_status shuffle_task(void *argument, const gram_worker *worker)
{
    const shuffle_work *s = argument;
    const int64_t rx = s->rank[0], ry = s->rank[1], draw = worker->task;
    double *c = worker->scratch, *scaled = c + rx * ry, *rows = scaled + rx * ry, *q = rows + CHUNK * ry, *p = q + ry;
    void *rest = p + rx;
    int64_t *order = rest;
    if (draw == 0)
        for (int64_t i = 0; i < s->n; i++) order[i] = i;
    else
        gram_random_permutation((gram_random){s->seed, SHUFFLE_STREAM}, (uint64_t)draw, s->n, order);
    multiply(s, order, rows, c);
    for (int g = 0; g < s->grid; g++) s->values[draw * s->grid + g] = first_value(s, c, s->kappa[g], scaled, q, p);
    return GRAM_OK;
}

/* ---- the statistic ---- */

/* The largest over kappa of (value - mean)/deviation goes to the first column. */
static void standardise(const shuffle_work *s, int64_t orders)
{
    if (s->grid == 1) return;
    for (int g = 0; g < s->grid; g++) {
        double mean = 0, square = 0;
        for (int64_t b = 0; b < orders; b++) mean += s->values[b * s->grid + g] / (double)orders;
        for (int64_t b = 0; b < orders; b++) {
            const double from = s->values[b * s->grid + g] - mean;
            square += from * from / (double)orders;
        }
        for (int64_t b = 0; b < orders; b++) {
            double *value = &s->values[b * s->grid + g];
            *value = square > 0 ? (*value - mean) / sqrt(square) : 0;
            if (g > 0 && *value > s->values[b * s->grid]) s->values[b * s->grid] = *value;
        }
    }
}

gram_status gram_cca_test(gram_cca_work *work)
{
    gram_status status = GRAM_OK;
    gram_context *context = work->context;
    const int64_t orders = work->options.permutations + 1;
    shuffle_work s = {0};
    int64_t reached = 0;
    TRY(begin(work, &s));
    const int64_t numbers = 2 * s.rank[0] * s.rank[1] + (CHUNK + 1) * s.rank[1] + s.rank[0] + s.n;
    const gram_sweep sweep = {.what = "permutations",
                              .tasks = orders,
                              .scratch_bytes = (size_t)numbers * sizeof(double),
                              .run = shuffle_task,
                              .argument = &s};
    TRY(gram_sweep_run(context, &sweep));
    standardise(&s, orders);
    for (int64_t b = 0; b < orders; b++) reached += s.values[b * s.grid] >= s.values[0];
    work->cca->report.p_value = (double)reached / (double)orders;
done:
    for (int v = 0; v < 2; v++) {
        gram_give(context, s.scores[v]);
        gram_give(context, s.squares[v]);
    }
    gram_give(context, s.values);
    return status;
}
