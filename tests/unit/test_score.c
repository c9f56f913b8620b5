/* Scores of predictions against sums worked out by hand, and the area under the ROC curve against all pairs; rows in pieces
 * give the same bits as at once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"
#include "support.h"

static const gram_classes no_classes;

static gram_columns columns_of_means(int64_t outputs, int with_std)
{
    return (gram_columns){.count = outputs + with_std,
                          .ld = outputs + with_std,
                          .outputs = outputs,
                          .classes = &no_classes,
                          .std = with_std ? outputs : -1,
                          .spread = with_std ? outputs : -1,
                          .lower = -1,
                          .upper = -1,
                          .half_width = 1.5};
}

static gram_score_report report_of(gram_context *context, const gram_columns *columns, int64_t n, const double *y,
                                   int64_t targets, const double *values)
{
    gram_score *score;
    gram_score_report report = {.size = sizeof report};
    OK(context, gram_score_create(context, columns, &score));
    OK(context, gram_score_add(context, score, n, y, targets, values, columns->ld));
    OK(context, gram_score_sum_up(context, score, &report));
    gram_score_destroy(score);
    return report;
}

static int near(double a, double b)
{
    return fabs(a - b) <= 1e-14 * (1 + fabs(b));
}

/* y = 1, 2, 6 about their mean 3: 4 + 1 + 9 = 14; errors -1, 0, 2: 5 squared, 3 absolute. */
static void test_means(void **state)
{
    gram_context *context = *state;
    const gram_columns columns = columns_of_means(1, 1);
    const double y[] = {1, 2, NAN, 6}, values[] = {2, 1, 2, 0.5, 0, 1, 4, 1};
    const gram_score_report r = report_of(context, &columns, 4, y, 1, values);
    assert_true(r.scored && r.rows == 3 && r.densities == 3);
    assert_true(near(r.rmse, sqrt(5.0 / 3)) && near(r.mae, 1) && near(r.r2, 1 - 5.0 / 14));
    const double constant = 0.5 * log(2 * acos(-1));
    assert_true(near(r.nlpd, constant + (0.5 + log(0.5) + 2) / 3));
    assert_true(near(r.coverage, 2.0 / 3)); /* 6 is two deviations from 4 */
    assert_true(isnan(r.accuracy) && isnan(r.auc) && r.level_count == 0 && !r.confusion);
}

/* Each target varies about its own mean: 1, 3 and 10, 30. */
static void test_several(void **state)
{
    gram_context *context = *state;
    const gram_columns columns = columns_of_means(2, 0);
    const double y[] = {1, 10, 3, 30}, values[] = {1, 12, 2, 30};
    const gram_score_report r = report_of(context, &columns, 2, y, 2, values);
    assert_true(r.rows == 2 && r.densities == 0 && isnan(r.nlpd));
    assert_true(near(r.rmse, sqrt(5.0 / 4)) && near(r.mae, 0.75) && near(r.r2, 1 - 5.0 / 202));
    assert_false(report_of(context, &columns, 2, y, 1, values).scored);
    assert_false(report_of(context, &columns, 2, NULL, 0, values).scored);
    assert_true(isnan(report_of(context, &columns, 0, y, 2, values).rmse));
}

static void test_quantiles(void **state)
{
    gram_context *context = *state;
    const double levels[] = {0.25, 0.5}, y[] = {0, 2, NAN}, values[] = {1, 1, 1, 2, 0, 0};
    gram_columns columns = columns_of_means(0, 0);
    columns.count = columns.ld = columns.level_count = 2;
    columns.levels = levels;
    gram_score *score;
    gram_score_report r = {.size = sizeof r};
    OK(context, gram_score_create(context, &columns, &score));
    OK(context, gram_score_add(context, score, 3, y, 1, values, 2));
    OK(context, gram_score_sum_up(context, score, &r));
    assert_true(r.scored && r.rows == 2 && r.level_count == 2);
    assert_true(near(r.level_loss[0], (0.75 + 0.25) / 2) && near(r.level_loss[1], 0.25));
    assert_true(r.level_below[0] == 0.5 && r.level_below[1] == 1);
    gram_score_destroy(score);
}

enum { N = 400 };

static const char *const names[] = {"a", "b"};

static gram_columns columns_of_two(const gram_classes *classes)
{
    gram_columns columns = columns_of_means(0, 0);
    columns.count = 1;
    columns.ld = 4;
    columns.classes = classes;
    columns.probability = 1;
    columns.score = 3;
    return columns;
}

/* Labels, probabilities and scores with many ties; class 2 is one that the model does not know. */
static void make_rows(double *y, double *values)
{
    uint64_t bits = 5;
    for (int64_t i = 0; i < N; i++) {
        double *row = values + 4 * i;
        y[i] = i % 50 == 7 ? 2 : (double)(test_bits(&bits) % 2);
        row[2] = (double)(test_bits(&bits) % 16 + (y[i] == 1 ? 5 : 0)) / 21;
        row[1] = 1 - row[2];
        row[0] = row[2] > 0.5;
        row[3] = row[2];
    }
}

static double area_by_pairs(const double *y, const double *values)
{
    double right = 0, pairs = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            if (y[i] != 0 || y[j] != 1) continue;
            const double a = values[4 * i + 3], b = values[4 * j + 3];
            pairs++;
            right += a < b ? 1 : a == b ? 0.5 : 0;
        }
    return right / pairs;
}

static void test_classes(void **state)
{
    gram_context *context = *state;
    const gram_classes classes = {.count = 2, .names = names};
    const gram_columns columns = columns_of_two(&classes);
    double y[N], values[4 * N], log_loss = 0;
    int64_t counts[4] = {0}, other = 0;
    make_rows(y, values);
    for (int64_t i = 0; i < N; i++) {
        if (y[i] == 2) {
            other++;
            continue;
        }
        counts[2 * (int)y[i] + (int)values[4 * i]]++;
        log_loss -= log(fmax(values[4 * i + 1 + (int)y[i]], 1e-15));
    }
    gram_score *score;
    gram_score_report r = {.size = sizeof r};
    OK(context, gram_score_create(context, &columns, &score));
    for (int64_t i = 0; i < N; i += 100) OK(context, gram_score_add(context, score, 100, y + i, 1, values + 4 * i, 4));
    OK(context, gram_score_sum_up(context, score, &r));
    assert_true(r.rows == N && r.other == other && r.probable == N - other);
    assert_memory_equal(r.confusion, counts, sizeof counts);
    assert_true(near(r.accuracy, (double)(counts[0] + counts[3]) / N));
    assert_true(near(r.log_loss, log_loss / (double)(N - other)));
    assert_true(near(r.auc, area_by_pairs(y, values)));
    const gram_score_report whole = report_of(context, &columns, N, y, 1, values);
    assert_true(whole.log_loss == r.log_loss && whole.auc == r.auc && whole.accuracy == r.accuracy);
    gram_score_destroy(score);
}

/* Two rows of one score are one step; the row of label -1 does not count. */
static void test_curves(void **state)
{
    gram_context *context = *state;
    const double labels[] = {1, 0, 1, -1, 0}, scores[] = {0.9, 0.5, 0.5, 0.7, 0.1};
    const double a[] = {0, 0, 0.5, 1}, b[] = {0, 0.5, 1, 1};
    double mistaken[6], found[6];
    int64_t count;
    OK(context, gram_roc_curve(context, 5, labels, scores, 1, mistaken, found, &count));
    assert_int_equal(count, 4);
    assert_memory_equal(mistaken, a, sizeof a);
    assert_memory_equal(found, b, sizeof b);

    const double p[] = {0.25, 0.75, 1, 0, NAN, NAN, 0.3, 0.7}, truth[] = {1, 0, 0, 0};
    double probability[2], share[2];
    int64_t rows[2];
    gram_calibration(4, 2, truth, p, 2, 2, probability, share, rows);
    assert_true(rows[0] == 3 && rows[1] == 3);
    assert_true(near(probability[0], 0.55 / 3) && near(probability[1], 2.45 / 3));
    assert_true(near(share[0], 1.0 / 3) && near(share[1], 2.0 / 3));
}

static gram_status all_steps(gram_context *context)
{
    const gram_classes classes = {.count = 2, .names = names};
    const gram_columns columns = columns_of_two(&classes);
    gram_score_report r = {.size = sizeof r};
    gram_score *score = NULL;
    gram_status status = GRAM_OK;
    double y[N], values[4 * N];
    make_rows(y, values);
    STEP(gram_score_create(context, &columns, &score));
    for (int i = 0; i < 6; i++) STEP(gram_score_add(context, score, N, y, 1, values, 4)); /* grows twice */
    STEP(gram_score_sum_up(context, score, &r));
done:
    gram_score_destroy(score);
    return status;
}

static void test_no_memory(void **state)
{
    (void)state;
    assert_true(oom_each(all_steps, 0) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_means),   cmocka_unit_test(test_several), cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_classes), cmocka_unit_test(test_curves),  cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
