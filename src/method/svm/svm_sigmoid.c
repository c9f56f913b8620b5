/* Probabilities: a sigmoid over decision values that the machine did not see in training.
 *
 * For each pair of classes, minimise over A the cross entropy of p = 1/(1 + exp(A f)) with the targets (n+ + 1)/(n+ + 2) for the
 * first class and 1/(n- + 2) for the second, which keep it finite when the classes part (Platt, 2000). Platt's sigmoid has an offset
 * B as well, which moves the even odds away from f = 0: labels and probabilities then disagree in between, and labels by the
 * probabilities are worse than those by f (by 0.1 to 0.3 % on the sets of docs/validation.md, for a log loss better by 1 %) and forget
 * the weights of the classes. So B is 0; models of LIBSVM bring their own. Newton's method with a ridge and halved steps, all terms
 * written so that nothing overflows (Lin, Lin and Weng, 2007). Decision values come from folds: each row's from a machine that was
 * fitted without its fold. */
#include <math.h>
#include <string.h>

#include "method/svm/svm.h"

enum { STEPS = 100, FOLD_STREAM = 0x53564d };

/* A is below 0, so that the label by the probability is the label by f. Without that bound, decision values that are all of one sign, as
 * very unequal class weights make them, would have it turned round if more rows are of the other class. */
static const double LEAST_SLOPE = 1e-3;

typedef struct sample {
    int64_t n;
    const double *f; /* decision values */
    const double *t; /* targets */
} sample;

/* sum of log(1 + e^z) - (1 - t) z, z = A f, from the side that does not overflow */
static double entropy(const sample *s, double a)
{
    double sum = 0;
    for (int64_t i = 0; i < s->n; i++) {
        const double z = a * s->f[i];
        sum += z >= 0 ? s->t[i] * z + log1p(exp(-z)) : (s->t[i] - 1) * z + log1p(exp(z));
    }
    return sum;
}

static void slopes(const sample *s, double a, double *first, double *second)
{
    *first = 0;
    *second = 1e-12;
    for (int64_t i = 0; i < s->n; i++) {
        const double z = a * s->f[i], e = exp(-fabs(z));
        const double p = z >= 0 ? e / (1 + e) : 1 / (1 + e), w = e / ((1 + e) * (1 + e));
        *first += s->f[i] * (s->t[i] - p);
        *second += s->f[i] * s->f[i] * w;
    }
}

static double fit_one(const sample *s)
{
    double a = 0, value = entropy(s, a), first, second;
    for (int step = 0; step < STEPS; step++) {
        slopes(s, a, &first, &second);
        if (fabs(first) < 1e-9 * (double)s->n) return a;
        const double whole = -first / second;
        double length = 1;
        for (; length > 1e-10; length /= 2) {
            const double next = entropy(s, a + length * whole);
            if (!(next < value + 1e-4 * length * first * whole)) continue;
            a += length * whole;
            value = next;
            break;
        }
        if (length <= 1e-10) break;
    }
    return a;
}

/* The rows of a pair with their decision values and targets. Divided by the largest |f|, so that the ridge means the same at any
 * size. */
static void fit_pair(const gram_svm_data *data, int64_t output, const double *decisions, double *f, double *t,
                     double *sigmoid)
{
    const gram_svm_pair *pair = &data->pairs[output];
    const int64_t classes[2] = {pair->first, pair->second};
    int64_t n = 0, count[2] = {0, 0};
    double largest = 0;
    for (int k = 0; k < 2; k++)
        for (int64_t i = data->first[classes[k]]; i < data->first[classes[k] + 1]; i++) {
            const double value = decisions[data->member[i] * data->outputs + output];
            if (!isfinite(value)) continue;
            f[n++] = value;
            count[k]++;
            largest = fmax(largest, fabs(value));
        }
    for (int64_t i = 0; i < n; i++)
        t[i] = i < count[0] ? ((double)count[0] + 1) / ((double)count[0] + 2) : 1 / ((double)count[1] + 2);
    for (int64_t i = 0; largest > 0 && i < n; i++) f[i] /= largest;
    const sample s = {n, f, t};
    sigmoid[0] = largest > 0 ? fmin(fit_one(&s), -LEAST_SLOPE) / largest : 0;
    sigmoid[1] = 0;
}

gram_status gram_svm_fit_sigmoids(gram_context *context, const gram_svm_data *data, const double *decisions,
                                  double *sigmoids)
{
    gram_status status = GRAM_OK;
    double *f = NULL, *t = NULL;
    TRY(gram_take(context, "decision values", data->n, sizeof(double), (void **)&f));
    TRY(gram_take(context, "targets", data->n, sizeof(double), (void **)&t));
    for (int64_t o = 0; o < data->outputs; o++) fit_pair(data, o, decisions, f, t, sigmoids + 2 * o);
done:
    gram_give(context, f);
    gram_give(context, t);
    return status;
}

/* ---- folds ---- */

gram_folds_rule gram_svm_folds_rule(const gram_svm_data *data, int64_t folds, const int64_t *groups,
                                    const int64_t *rows, int ordered)
{
    return (gram_folds_rule){.folds = folds,
                             .labels = gram_svm_is_classification(data->options.kind) ? data->y : NULL,
                             .classes = data->classes,
                             .weights = data->c_of,
                             .groups = groups,
                             .rows = rows,
                             .ordered = ordered,
                             .stream = FOLD_STREAM};
}

/* The rows of other folds, all their numbers in f64; and the rows of this one. */
typedef struct part {
    int64_t n, held;
    double *x, *y, *weights, *held_x, *decisions;
    int64_t *held_row;
} part;

static gram_status take_part(gram_context *context, const gram_svm_data *data, part *p)
{
    gram_status status = GRAM_OK;
    const int64_t n = data->n, d = data->x->d;
    TRY(gram_take(context, "rows of a fold", n * d, sizeof(double), (void **)&p->x));
    TRY(gram_take(context, "rows of a fold", n * d, sizeof(double), (void **)&p->held_x));
    TRY(gram_take(context, "rows of a fold", n, sizeof(double), (void **)&p->y));
    TRY(gram_take(context, "rows of a fold", n, sizeof(double), (void **)&p->weights));
    TRY(gram_take(context, "rows of a fold", n, sizeof(int64_t), (void **)&p->held_row));
    TRY(gram_take(context, "rows of a fold", n * data->outputs, sizeof(double), (void **)&p->decisions));
done:
    return status;
}

static void free_part(gram_context *context, part *p)
{
    gram_give(context, p->x);
    gram_give(context, p->held_x);
    gram_give(context, p->y);
    gram_give(context, p->weights);
    gram_give(context, p->held_row);
    gram_give(context, p->decisions);
}

static void divide(const gram_svm_data *data, const int64_t *fold, int64_t which, part *p)
{
    const int64_t d = data->x->d;
    p->n = p->held = 0;
    for (int64_t i = 0; i < data->n; i++) {
        if (fold[i] != which && !gram_fold_trains(fold[i], which, data->options.ordered)) continue;
        double *to = fold[i] == which ? p->held_x + p->held * d : p->x + p->n * d;
        for (int64_t l = 0; l < d; l++) to[l] = gram_points_cell(data->x, i, l);
        if (fold[i] == which) {
            p->held_row[p->held++] = i;
            continue;
        }
        p->y[p->n] = data->y[i];
        p->weights[p->n++] = data->options.weights ? data->options.weights[i] : 1;
    }
}

static gram_status leave_out(gram_context *context, const gram_svm_data *data, part *p)
{
    gram_status status = GRAM_OK;
    gram_points *x = NULL, *held = NULL;
    gram_svm *svm = NULL;
    gram_svm_options options = data->options;
    options.weights = p->weights;
    options.start = options.held_out = NULL;
    options.probability_folds = 0;
    options.cache_bytes = data->cache_bytes;
    TRY(gram_points_create_like(context, data->x, p->n, p->x, 0, &x));
    TRY(gram_points_create_like(context, data->x, p->held, p->held_x, 0, &held));
    TRY(gram_svm_fit(context, data->kernel, x, p->y, &options, &svm));
    TRY(gram_svm_predict(context, svm, held, NULL, p->decisions, NULL));
done:
    gram_svm_destroy(svm);
    gram_points_release(held);
    gram_points_release(x);
    return status < 0 ? status : GRAM_OK;
}

gram_status gram_svm_out_of_fold(gram_context *context, const gram_svm_data *data, int64_t folds, double *decisions)
{
    gram_status status = GRAM_OK;
    const size_t row = (size_t)data->outputs * sizeof(double);
    int64_t *fold = NULL;
    part p = {0};
    for (int64_t c = 0; c < data->classes; c++)
        FAIL_IF(data->first[c + 1] - data->first[c] < 2, context, GRAM_ERROR_DATA,
                "svm_fit: class %lld has one row: probabilities need two", (long long)c);
    FAIL_IF(data->indexed, context, GRAM_ERROR_UNSUPPORTED,
            "svm_fit: probabilities by folds need a kernel of the points' coordinates");
    TRY(gram_take(context, "folds", data->n, sizeof *fold, (void **)&fold));
    const gram_folds_rule rule = gram_svm_folds_rule(data, folds, data->options.groups, NULL, data->options.ordered);
    TRY(gram_folds_deal(context, "svm_fit", data->n, &rule, fold));
    TRY(gram_folds_check_classes(context, "svm_fit", data->n, &rule, fold));
    for (int64_t i = 0; i < data->n * data->outputs; i++) decisions[i] = NAN;
    TRY(take_part(context, data, &p));
    for (int64_t k = 0; k < folds; k++) {
        divide(data, fold, k, &p);
        if (p.held == 0) continue;
        TRY(leave_out(context, data, &p));
        for (int64_t i = 0; i < p.held; i++)
            memcpy(decisions + p.held_row[i] * data->outputs, p.decisions + i * data->outputs, row);
    }
done:
    free_part(context, &p);
    gram_give(context, fold);
    return status;
}
