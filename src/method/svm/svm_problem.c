/* Every kind as minimise b'Kb/2 - c'b, lower <= b <= upper, sums of groups given.
 *
 *   C              b_i = y_i a_i, c_i = y_i, 0 <= a_i <= C_i, sum b = 0
 *   nu             b_i = y_i a_i, c_i = 0, 0 <= a_i <= w_i, sum over each class +-nu W/2, W the sum of the weights
 *   one class      b_i = a_i, c_i = 0, 0 <= a_i <= w_i, sum b = nu W
 *   epsilon        two variables a row, 0 <= b+ <= C_i with c = y - epsilon, -C_i <= b- <= 0 with c = y + epsilon, sum 0
 *   nu regression  the same with c = y, sum b+ = nu sum C_i/2 = -sum b-
 *
 * Without an intercept (C and epsilon) there is no sum to keep.
 *
 * At the solution v = c - f is the same for all variables of a group between their bounds, its level. */
#include <math.h>
#include <string.h>

#include "method/svm/svm.h"

static void classes_of(const gram_svm_data *data, int64_t output, int64_t *a, int64_t *b)
{
    *a = *b = 0;
    if (!gram_svm_is_classification(data->options.kind)) return;
    for (int64_t left = output, row = data->classes - 1; left >= row; row--) {
        left -= row;
        output = left;
        (*a)++;
    }
    *b = *a + 1 + output;
}

static int64_t class_count(const gram_svm_data *data, int64_t class)
{
    return data->first[class + 1] - data->first[class];
}

int64_t gram_svm_problem_size(const gram_svm_data *data, int64_t output)
{
    int64_t a, b;
    classes_of(data, output, &a, &b);
    return class_count(data, a) + (a == b ? 0 : class_count(data, b));
}

static int64_t variables_of(const gram_svm_data *data, int64_t rows)
{
    return gram_svm_is_regression(data->options.kind) ? 2 * rows : rows;
}

static size_t whole(size_t bytes)
{
    return (bytes + GRAM_ALIGNMENT - 1) / GRAM_ALIGNMENT * GRAM_ALIGNMENT;
}

size_t gram_svm_problem_bytes(const gram_svm_data *data, int64_t rows)
{
    return 6 * whole((size_t)variables_of(data, rows) * sizeof(double));
}

int64_t gram_svm_problem_row(const gram_svm_problem *p, int64_t i)
{
    const gram_svm_data *data = p->data;
    if (i < p->count[0]) return data->member[data->first[p->class[0]] + i];
    return data->member[data->first[p->class[1]] + i - p->count[0]];
}

/* b is moved within the bounds, from the first variable on, until its sum over [from, to) is the target. What rounding left is
 * no reason to move a variable off its bound. */
static void settle_sum(const gram_svm_problem *p, int64_t from, int64_t to, double target)
{
    double missing = target, range = 0;
    for (int64_t i = from; i < to; i++) {
        missing -= p->smo.b[i];
        range += p->upper[i] - p->lower[i];
    }
    if (fabs(missing) <= 1e-13 * range) return;
    for (int64_t i = from; i < to && missing != 0; i++) {
        const double old = p->smo.b[i], now = fmin(p->upper[i], fmax(p->lower[i], old + missing));
        missing -= now - old;
        p->smo.b[i] = now;
    }
}

/* Both variables of a row by the same amount, which f does not feel, until those of [0, half) have the sum. A start knows their
 * sum alone: without this, settling would move rows that are in their place. */
static void widen_rows(const gram_svm_problem *p, double target)
{
    const int64_t half = p->smo.group;
    double *b = p->smo.b, missing = target;
    for (int64_t i = 0; i < half; i++) missing -= b[i];
    for (int64_t i = 0; i < half && missing > 0; i++) {
        const double room = fmin(p->upper[i] - b[i], b[half + i] - p->lower[half + i]), step = fmin(missing, room);
        b[i] += step;
        b[half + i] -= step;
        missing -= step;
    }
}

static double sum_of(const double *numbers, int64_t from, int64_t to)
{
    double sum = 0;
    for (int64_t i = from; i < to; i++) sum += numbers[i];
    return sum;
}

void gram_svm_problem_settle(gram_svm_problem *p)
{
    const gram_svm_options *o = &p->data->options;
    const int64_t count = p->smo.count, half = p->smo.group;
    double share = 0;
    switch (o->kind) {
    case GRAM_SVM_NU:
        share = o->nu / 2 * (sum_of(p->upper, 0, half) - sum_of(p->lower, half, count));
        settle_sum(p, 0, half, share);
        settle_sum(p, half, count, -share);
        break;
    case GRAM_SVM_ONE_CLASS: settle_sum(p, 0, count, o->nu * sum_of(p->upper, 0, count)); break;
    case GRAM_SVM_NU_REGRESSION:
        share = o->nu / 2 * sum_of(p->upper, 0, half);
        widen_rows(p, share);
        settle_sum(p, 0, half, share);
        settle_sum(p, half, count, -share);
        break;
    default:
        if (o->intercept) settle_sum(p, 0, count, 0);
    }
}

/* Variable i of a row: its linear term and bounds. `side` is +1 for b >= 0 and -1 for b <= 0. */
static void set_variable(gram_svm_problem *p, int64_t i, int64_t row, int side, double start)
{
    const gram_svm_options *o = &p->data->options;
    const double most = p->data->c_of[row];
    p->lower[i] = side > 0 ? 0 : -most;
    p->upper[i] = side > 0 ? most : 0;
    switch (o->kind) {
    case GRAM_SVM_C: p->c[i] = side; break;
    case GRAM_SVM_EPSILON_REGRESSION: p->c[i] = p->data->y[row] - side * o->epsilon; break;
    case GRAM_SVM_NU_REGRESSION: p->c[i] = p->data->y[row]; break;
    default: p->c[i] = 0;
    }
    p->smo.b[i] = fmin(p->upper[i], fmax(p->lower[i], start));
}

static void set_variables(gram_svm_problem *p)
{
    const gram_svm_data *data = p->data;
    const int regression = gram_svm_is_regression(data->options.kind);
    for (int64_t k = 0; k < p->rows; k++) {
        const int64_t row = gram_svm_problem_row(p, k);
        const double start = data->options.start ? data->options.start[row * data->outputs + p->output] : 0;
        set_variable(p, k, row, k < p->count[0] ? 1 : -1, start);
        if (regression) set_variable(p, p->rows + k, row, -1, start);
    }
    for (int64_t i = 0; i < p->smo.count; i++) p->point[i] = i < p->rows ? i : i - p->rows;
}

void gram_svm_problem_make(const gram_svm_data *data, int64_t output, void *memory, gram_svm_problem *p)
{
    const int classification = gram_svm_is_classification(data->options.kind);
    int64_t a, b;
    memset(p, 0, sizeof *p);
    classes_of(data, output, &a, &b);
    p->data = data;
    p->output = output;
    p->count[0] = class_count(data, a);
    p->count[1] = classification ? class_count(data, b) : 0;
    p->rows = p->count[0] + p->count[1];
    p->smo.count = variables_of(data, p->rows);
    const size_t bytes = whole((size_t)p->smo.count * sizeof(double));
    char *place = memory;
    p->c = (double *)(void *)place;
    p->lower = (double *)(void *)(place + bytes);
    p->upper = (double *)(void *)(place + 2 * bytes);
    p->smo.b = (double *)(void *)(place + 3 * bytes);
    p->smo.f = (double *)(void *)(place + 4 * bytes);
    p->point = (int64_t *)(void *)(place + 5 * bytes);
    p->class[0] = a;
    p->class[1] = b;
    p->smo.n = p->rows;
    p->smo.group = p->smo.count;
    p->smo.alone = !data->options.intercept;
    if (data->options.kind == GRAM_SVM_NU) p->smo.group = p->count[0];
    if (data->options.kind == GRAM_SVM_NU_REGRESSION) p->smo.group = p->rows;
    p->smo.point = p->point;
    p->smo.c = p->c;
    p->smo.lower = p->lower;
    p->smo.upper = p->upper;
    p->smo.tolerance = data->options.tolerance;
    p->smo.most = data->options.iterations > 0 ? data->options.iterations : INT64_MAX;
    p->smo.deadline = data->deadline;
    set_variables(p);
    gram_svm_problem_settle(p);
}

void gram_svm_read_levels(gram_svm_kind kind, const double level[2], double *constant, double *scale)
{
    const double middle = level[0] / 2 + level[1] / 2, distance = (level[1] - level[0]) / 2;
    *scale = 1;
    *constant = kind == GRAM_SVM_NU || kind == GRAM_SVM_NU_REGRESSION ? middle : level[0];
    if (kind != GRAM_SVM_NU) return;
    /* margins at +-1; classes that lie on each other have none */
    if (distance > 1e-12 * (fabs(level[0]) + fabs(level[1]))) *scale = 1 / distance;
    *constant *= *scale;
}

static void count_support(const gram_svm_problem *p, gram_svm_pair *pair)
{
    const gram_svm_data *data = p->data;
    for (int64_t k = 0; k < p->rows; k++) {
        const int64_t row = gram_svm_problem_row(p, k);
        double dual = p->smo.b[k];
        if (p->smo.count > p->rows) dual += p->smo.b[p->rows + k];
        data->duals[row * data->outputs + p->output] = dual;
        if (dual == 0) continue;
        pair->n_support++;
        pair->n_bounded += fabs(dual) >= data->c_of[row];
    }
}

void gram_svm_problem_finish(const gram_svm_problem *p)
{
    const gram_svm_data *data = p->data;
    gram_svm_pair *pair = &data->pairs[p->output];
    const int classification = gram_svm_is_classification(data->options.kind);
    double level[2];
    *pair = (gram_svm_pair){
        .first = classification ? p->class[0] : -1, .second = classification ? p->class[1] : -1, .n = p->rows};
    gram_smo_levels(&p->smo, level);
    gram_svm_read_levels(data->options.kind, level, &pair->constant, &data->scale[p->output]);
    if (data->options.kind == GRAM_SVM_NU_REGRESSION) *data->tube = (level[0] - level[1]) / 2;
    const double square = data->scale[p->output] * data->scale[p->output];
    pair->objective = gram_smo_objective(&p->smo) * square;
    pair->gap = gram_smo_gap(&p->smo, level) * square;
    pair->violation = gram_smo_violation(&p->smo);
    pair->iterations = p->smo.steps;
    const double goal = data->options.gap * fabs(pair->objective);
    pair->converged = pair->violation <= data->options.tolerance * (1 + 1e-9) || (goal > 0 && pair->gap <= goal);
    count_support(p, pair);
}
