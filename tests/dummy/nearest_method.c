/* A method for the tests: the mean target of the nearest rows. This file and one row of the method table are all that it is;
 * it has no target for tuning, no kernel to choose and nothing to say beyond the mean, so that everything else is a default.
 *
 * Near is what its kernel finds alike, c/sqrt(c^2 + r^2), which does not vanish however far a row is. The model's function
 * holds the rows as centres and their targets as coefficients. */
#include <inttypes.h>

#include "method/method.h"
#include <gram/matrix.h>

enum { MOST_NEIGHBOURS = 1000 };

typedef struct nearest_settings {
    int64_t nearby;
} nearest_settings;

static const gram_option OPTIONS[] = {
    {.name = "nearby",
     .kind = GRAM_OPTION_INTEGER,
     .offset = offsetof(nearest_settings, nearby),
     .argument = "N",
     .help = "average the targets of the N nearest rows (default 1)",
     .otherwise = "1",
     .least = 1,
     .most = MOST_NEIGHBOURS,
     .elsewhere = "scikit-learn KNeighborsRegressor: n_neighbors"},
};

static gram_status fit(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const nearest_settings *own = learning->settings;
    const gram_prepared *data = learning->data;
    gram_function *function = NULL;
    if (own->nearby > data->n)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Ask for fewer.",
                                  "--nearby %" PRId64 " is more than the %" PRId64 " rows", own->nearby, data->n);
    TRY(gram_kernel_parse(learning->context, "imq(c=1, beta=0.5)", &learning->kernel));
    TRY(gram_function_create(learning->context, learning->kernel, learning->points, data->targets, data->y,
                             data->targets, NULL, &function));
    learning->own = function;
done:
    return status;
}

static gram_status keep(gram_learning *learning)
{
    const nearest_settings *own = learning->settings;
    gram_keeper keeper = gram_keep_begin(learning, learning->own);
    gram_keep_integer(&keeper, "nearby", own->nearby);
    return keeper.status;
}

static void forget(gram_learning *learning)
{
    gram_function_release(learning->own);
}

/* The mean of the rows of y that are most like, each found once: like[] is used up. */
static void average(int64_t n, double *like, int64_t count, int64_t outputs, const double *y, double *mean)
{
    for (int64_t o = 0; o < outputs; o++) mean[o] = 0;
    for (int64_t k = 0; k < count; k++) {
        int64_t best = 0;
        for (int64_t j = 1; j < n; j++)
            if (like[j] > like[best]) best = j;
        for (int64_t o = 0; o < outputs; o++) mean[o] += y[best * outputs + o] / (double)count;
        like[best] = -1;
    }
}

static gram_status evaluate(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                            double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const gram_function *function = gram_model_function(predictor->model);
    const gram_points *centres = gram_function_centres(function);
    const int64_t n = gram_points_count(centres), outputs = gram_function_outputs(function);
    const int64_t nearby = (int64_t)gram_kept_number(predictor->model, "nearby", 1);
    double *like = NULL;
    if (nearby < 1 || nearby > n)
        return gram_predictor_damaged(context, predictor, "damaged: it asks for more rows than it has");
    TRY(gram_take(context, "predict", places->n, (size_t)n * sizeof *like, (void **)&like));
    TRY(gram_matrix(context, gram_function_kernel(function), places->points, centres, like, n));
    for (int64_t i = 0; i < places->n; i++)
        average(n, like + i * n, nearby, outputs, gram_function_coefficients(function), values + i * ldv);
done:
    gram_give(context, like);
    return status;
}

static void report_nearest(gram_report *report)
{
    gram_report_row(report, "nearby");
    gram_report_value(report, GRAM_WHOLE, gram_report_number(report, "nearby"));
}

extern const gram_method gram_method_nearest;

const gram_method gram_method_nearest = {
    .name = "nearest",
    .title = "mean of the nearest rows",
    .formula = "f(x) = (1/m) sum of y_i over the m rows x_i nearest to x",
    .tasks = 1u << GRAM_TASK_REGRESSION,
    .refuses = "weights",
    .python = {[GRAM_TASK_REGRESSION] = "NearestMean"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(nearest_settings),
    .fit = fit,
    .keep = keep,
    .forget = forget,
    .evaluate = evaluate,
    .report = report_nearest,
};
