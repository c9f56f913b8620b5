/* Settings that methods with several losses share: levels of quantiles, and where Huber's loss becomes linear. */
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "base/order_statistics.h"
#include "method/method.h"

int64_t gram_learning_levels(const char *text, int64_t most, double *levels)
{
    int64_t count = 0;
    for (;;) {
        const size_t length = gram_number_parse(text, strlen(text), &levels[count]);
        if (length == 0 || !(levels[count] > 0 && levels[count] < 1)) return 0;
        if (count > 0 && levels[count] <= levels[count - 1]) return 0;
        count++;
        if (text[length] == '\0') return count;
        if (text[length] != ',' || count == most) return 0;
        text += length + 1;
    }
}

/* Huber's delta: 1.345 robust deviations of the target about its median would be that of a constant fit; a fit leaves less,
 * so a tenth of that. */
gram_status gram_learning_huber(gram_learning *learning, double *delta)
{
    const int64_t n = learning->data->n;
    double *sorted = NULL;
    const gram_status status = gram_learning_take(learning, n + 1, sizeof *sorted, &sorted);
    *delta = 1;
    if (status < 0) return status;
    memcpy(sorted, learning->data->y, (size_t)n * sizeof *sorted);
    gram_sort_numbers(n, sorted);
    const double median = sorted[n / 2];
    for (int64_t i = 0; i < n; i++) sorted[i] = fabs(sorted[i] - median);
    gram_sort_numbers(n, sorted);
    if (sorted[n / 2] > 0) *delta = 0.1345 * 1.4826 * sorted[n / 2];
    return GRAM_OK;
}
