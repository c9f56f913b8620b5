/* Labels and probabilities of several classes from the decision values of their pairs.
 *
 * Without probabilities each pair votes. With them, r_ab = 1/(1 + exp(A f + B)) is the probability of a among a and b, and p
 * minimises sum_a sum_{b != a} (r_ba p_a - r_ab p_b)^2 over the simplex (the second method of Wu, Lin and Weng, 2004): with
 * Q_aa = sum_{b != a} r_ba^2, Q_ab = -r_ba r_ab, the solution has (Q p)_a = p'Q p for all a, which a fixed-point sweep over a
 * reaches. Both are functions of their arguments alone. */
#include <math.h>
#include <string.h>

#include "base/sweep.h"
#include "method/svm/svm.h"

enum { CHUNK = 256, SWEEPS = 1000 };

/* A probability is kept off 0 and 1, as the sigmoid is never sure. */
static const double LEAST = 1e-7;

typedef struct deciding {
    int64_t classes, outputs, m;
    const double *decisions, *sigmoids;
    double *labels, *probabilities;
} deciding;

double gram_svm_sigmoid(double f, double a, double b)
{
    const double z = a * f + b;
    return z >= 0 ? exp(-z) / (1 + exp(-z)) : 1 / (1 + exp(z));
}

static int64_t first_largest(int64_t count, const double *numbers)
{
    int64_t best = 0;
    for (int64_t k = 1; k < count; k++)
        if (numbers[k] > numbers[best]) best = k;
    return best;
}

static void vote(const deciding *job, const double *f, double *votes)
{
    const int64_t classes = job->classes;
    memset(votes, 0, (size_t)classes * sizeof *votes);
    for (int64_t a = 0; a < classes; a++)
        for (int64_t b = a + 1; b < classes; b++) votes[*f++ > 0 ? a : b] += 1;
}

/* Q, classes x classes, from r. */
static void fill_q(const deciding *job, const double *f, double *q)
{
    const int64_t classes = job->classes;
    const double *sigmoid = job->sigmoids;
    for (int64_t a = 0; a < classes; a++) q[a * classes + a] = 0;
    for (int64_t a = 0; a < classes; a++)
        for (int64_t b = a + 1; b < classes; b++, f++, sigmoid += 2) {
            const double r = fmin(1 - LEAST, fmax(LEAST, gram_svm_sigmoid(*f, sigmoid[0], sigmoid[1])));
            q[a * classes + a] += (1 - r) * (1 - r);
            q[b * classes + b] += r * r;
            q[a * classes + b] = q[b * classes + a] = -r * (1 - r);
        }
}

/* One sweep of the fixed point; qp = Q p is kept up to date and p on the simplex. */
static void couple_once(int64_t classes, const double *q, double *p, double *qp, double *total)
{
    for (int64_t a = 0; a < classes; a++) {
        const double change = (*total - qp[a]) / q[a * classes + a], whole = 1 + change;
        p[a] += change;
        *total = (*total + change * (change * q[a * classes + a] + 2 * qp[a])) / (whole * whole);
        for (int64_t b = 0; b < classes; b++) {
            qp[b] = (qp[b] + change * q[a * classes + b]) / whole;
            p[b] /= whole;
        }
    }
}

static void couple(int64_t classes, const double *q, double *p, double *qp)
{
    for (int64_t a = 0; a < classes; a++) p[a] = 1 / (double)classes;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double total = 0, worst = 0;
        for (int64_t a = 0; a < classes; a++) {
            qp[a] = 0;
            for (int64_t b = 0; b < classes; b++) qp[a] += q[a * classes + b] * p[b];
            total += p[a] * qp[a];
        }
        for (int64_t a = 0; a < classes; a++) worst = fmax(worst, fabs(qp[a] - total));
        if (worst < 1e-10 / (double)classes) return;
        couple_once(classes, q, p, qp, &total);
    }
}

static gram_status decide_chunk(void *argument, const gram_worker *worker)
{
    const deciding *job = argument;
    const int64_t classes = job->classes, end = (worker->task + 1) * CHUNK;
    double *p = worker->scratch, *qp = p + classes, *q = qp + classes;
    for (int64_t i = worker->task * CHUNK; i < end && i < job->m; i++) {
        const double *f = job->decisions + i * job->outputs;
        if (!job->sigmoids)
            vote(job, f, p);
        else if (classes == 2) {
            p[0] = gram_svm_sigmoid(f[0], job->sigmoids[0], job->sigmoids[1]);
            p[1] = 1 - p[0];
        } else {
            fill_q(job, f, q);
            couple(classes, q, p, qp);
        }
        if (job->labels) job->labels[i] = (double)first_largest(classes, p);
        if (job->probabilities) memcpy(job->probabilities + i * classes, p, (size_t)classes * sizeof *p);
    }
    return GRAM_OK;
}

gram_status gram_svm_decide(gram_context *context, int64_t classes, int64_t m, const double *decisions,
                            const double *sigmoids, double *labels, double *probabilities)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(classes < 2 || classes > 4096, context, GRAM_ERROR_ARGUMENT, "svm_decide: classes = %lld is not 2 to 4096",
            (long long)classes);
    FAIL_IF(m < 1, context, GRAM_ERROR_ARGUMENT, "svm_decide: m = %lld is not above 0", (long long)m);
    FAIL_IF(!decisions, context, GRAM_ERROR_ARGUMENT, "svm_decide: decisions is NULL");
    FAIL_IF(probabilities && !sigmoids, context, GRAM_ERROR_UNSUPPORTED, "svm_decide: probabilities need sigmoids");
    deciding job = {.classes = classes,
                    .outputs = classes * (classes - 1) / 2,
                    .m = m,
                    .decisions = decisions,
                    .sigmoids = sigmoids,
                    .labels = labels,
                    .probabilities = probabilities};
    const gram_sweep sweep = {.what = "labels",
                              .tasks = (m + CHUNK - 1) / CHUNK,
                              .scratch_bytes = (size_t)(classes * (classes + 2)) * sizeof(double),
                              .run = decide_chunk,
                              .argument = &job};
    TRY(gram_sweep_run(context, &sweep));
done:
    return status;
}
