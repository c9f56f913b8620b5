/* Numbers that are too large or too small to be learnt from.
 *
 * Every method squares its numbers: distances, residuals, variances, curvatures. So a fit takes numbers whose squares are
 * ordinary ones: 0, or between GRAM_LEAST_NUMBER and GRAM_MOST_NUMBER in size. What is beyond is refused by name before any work,
 * rather than as an infinity somewhere in it. A column may stand far from 0 or hold single tiny numbers: it is too small only if
 * all of its numbers are. Features that are standardised are of order 1 here, however they were in the file. */
#include <inttypes.h>
#include <math.h>

#include <gram/text.h>

#include "learn/learn_steps.h"
#include "method/method_numbers.h"

/* Of one column: the size of its largest number and where it stands, and its smallest but 0. */
typedef struct column_size {
    double most, least;
    int64_t row;
} column_size;

static column_size measure(int64_t n, const double *numbers, int64_t stride)
{
    column_size size = {.least = INFINITY};
    for (int64_t i = 0; i < n; i++) {
        const double x = fabs(numbers[i * stride]);
        if (x > size.most) size.row = i;
        if (x > size.most) size.most = x;
        if (x > 0 && x < size.least) size.least = x;
    }
    return size;
}

static int is_usable(double largest)
{
    return largest == 0 || (largest >= GRAM_LEAST_NUMBER && largest <= GRAM_MOST_NUMBER);
}

static gram_status refuse(gram_learning *learning, const char *name, int64_t row, double number, const char *advice)
{
    char text[GRAM_NUMBER_SIZE];
    return gram_learning_fail_data(
        learning, advice, "row %" PRId64 ", column '%s': %s is too %s: a fit needs squares of its numbers",
        gram_learning_row(learning, row), name, gram_number_format(number, text), fabs(number) > 1 ? "large" : "small");
}

static gram_status check_features(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    char name[256];
    const gram_prepared *data = learning->data;
    for (int64_t l = 0; l < data->d; l++) {
        const column_size size = measure(data->n, data->x + l, data->d);
        if (is_usable(size.most)) continue;
        (void)gram_preparation_column_name(learning->preparation, l, name, sizeof name);
        TRY(refuse(learning, name, size.row, data->x[size.row * data->d + l],
                   "Multiply the column by a constant, leave it out (--ignore), or leave out --no-scale."));
    }
done:
    return status;
}

static gram_status check_targets(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const gram_preparation_description *known = gram_preparation_describe(learning->preparation);
    const gram_prepared *data = learning->data;
    if (learning->task != GRAM_TASK_REGRESSION) return status;
    for (int64_t k = 0; k < data->targets; k++) {
        const column_size size = measure(data->n, data->y + k, data->targets);
        if (is_usable(size.most)) continue;
        TRY(refuse(learning, known->targets[k].name, size.row, data->y[size.row * data->targets + k],
                   "Multiply the target by a constant, to have it in other units."));
    }
done:
    return status;
}

/* Every single one counts, as a factor or as a variance; 0 is for the method to judge. */
static gram_status check_weights(gram_learning *learning)
{
    static const char advice[] = "Multiply the column by a constant, or leave such rows out.";
    const gram_prepared *data = learning->data;
    char text[GRAM_NUMBER_SIZE];
    if (!data->weights) return GRAM_OK;
    const char *name = gram_preparation_describe(learning->preparation)->weights->name;
    const double most = learning->has_row_noise ? GRAM_MOST_NUMBER : GRAM_MOST_WEIGHT;
    const double least = learning->has_row_noise ? GRAM_LEAST_NUMBER : GRAM_LEAST_WEIGHT;
    const column_size size = measure(data->n, data->weights, 1);
    if (size.most > most) return refuse(learning, name, size.row, data->weights[size.row], advice);
    if (!(size.most > 0) && !learning->has_row_noise) /* no noise at all is for the method to judge */
        return gram_learning_fail_data(learning, "Choose another column with --weights, or leave it out.",
                                       "column '%s': all weights are 0", name);
    for (int64_t i = 0; i < data->n && size.least < least; i++)
        if (data->weights[i] == size.least) return refuse(learning, name, i, data->weights[i], advice);
    if (learning->has_row_noise || size.least >= GRAM_LEAST_SHARE * size.most) return GRAM_OK;
    return gram_learning_fail_data(learning, "Leave such rows out.",
                                   "column '%s': its weights go from %s to more than %s", name,
                                   gram_number_format(size.least, text), "1e+30 times that");
}

gram_status gram_learning_check_numbers(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    TRY(check_features(learning));
    TRY(check_targets(learning));
    TRY(check_weights(learning));
done:
    return status;
}

gram_status gram_learning_check_kernel_numbers(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const int64_t count = learning->written ? gram_kernel_parameter_count(learning->written) : 0;
    for (int64_t i = 0; i < count; i++) {
        gram_parameter parameter;
        char text[GRAM_NUMBER_SIZE];
        TRY(gram_kernel_parameter_get(learning->context, learning->written, i, &parameter));
        const double size = fabs(parameter.value);
        if (!parameter.set || is_usable(size)) continue;
        TRY(gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "It must be 0, or from 1e-150 to 1e+150 in size.",
                               "--kernel: %s = %s is too %s", parameter.name, gram_number_format(parameter.value, text),
                               size > 1 ? "large" : "small"));
    }
done:
    return status;
}
