/* Curves of classifiers: what is found against what is mistaken, and how often probabilities come true. */
#include <math.h>
#include <stdlib.h>

#include <gram/score.h>

#include "base/context.h"

typedef struct scored_row {
    double score;
    int second;
} scored_row;

static int descending(const void *a, const void *b)
{
    const double x = ((const scored_row *)a)->score, y = ((const scored_row *)b)->score;
    return (x < y) - (x > y);
}

/* From all rows taken for the first class to none. Rows of one score are one step. */
static int64_t follow(int64_t n, const scored_row *rows, double *mistaken, double *found)
{
    double all[2] = {0, 0}, seen[2] = {0, 0};
    int64_t count = 1;
    for (int64_t i = 0; i < n; i++) all[rows[i].second]++;
    mistaken[0] = found[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        seen[rows[i].second]++;
        if (i + 1 < n && rows[i + 1].score == rows[i].score) continue;
        mistaken[count] = all[0] > 0 ? seen[0] / all[0] : 0;
        found[count++] = all[1] > 0 ? seen[1] / all[1] : 0;
    }
    return count;
}

gram_status gram_roc_curve(gram_context *context, int64_t n, const double *labels, const double *scores, int64_t lds,
                           double *mistaken, double *found, int64_t *count)
{
    gram_status status = GRAM_OK;
    scored_row *rows = NULL;
    int64_t known = 0;
    if (!context || n < 0 || (n > 0 && (!labels || !scores)) || !mistaken || !found || !count)
        return GRAM_ERROR_ARGUMENT;
    TRY(gram_take(context, "roc_curve", n + 1, sizeof *rows, (void **)&rows));
    for (int64_t i = 0; i < n; i++)
        if (labels[i] >= 0) rows[known++] = (scored_row){scores[i * lds], labels[i] == 1};
    qsort(rows, (size_t)known, sizeof *rows, descending);
    *count = follow(known, rows, mistaken, found);
done:
    gram_give(context, rows);
    return status;
}

void gram_calibration(int64_t n, int64_t classes, const double *labels, const double *p, int64_t ldp, int64_t bins,
                      double *probability, double *share, int64_t *rows)
{
    for (int64_t b = 0; b < bins; b++) probability[b] = share[b] = 0, rows[b] = 0;
    for (int64_t i = 0; i < n; i++) {
        if (labels[i] < 0 || isnan(p[i * ldp])) continue;
        for (int64_t c = 0; c < classes; c++) {
            const double value = p[i * ldp + c];
            const int64_t bin = (int64_t)fmin((double)(bins - 1), value * (double)bins);
            probability[bin] += value;
            share[bin] += c == (int64_t)labels[i];
            rows[bin]++;
        }
    }
    for (int64_t b = 0; b < bins; b++) {
        probability[b] /= (double)rows[b];
        share[b] /= (double)rows[b];
    }
}
