/* A fit that starts from a model: the option `initial` of methods that have it. The model decides columns and scaling, so that
 * its function and the new one are of the same prepared features. */
#include <string.h>

#include "learn/learn_steps.h"
#include "learn/learner.h"
#include "learn/method_table.h"

/* What the preparation of the model has decided already. */
static gram_status check_options(gram_learning *learning, const char *name)
{
    static const gram_common_option decided[] = {GRAM_COMMON_TARGET,  GRAM_COMMON_FEATURES, GRAM_COMMON_IGNORE,
                                                 GRAM_COMMON_WEIGHTS, GRAM_COMMON_MISSING,  GRAM_COMMON_SCALE};
    for (size_t i = 0; i < sizeof decided / sizeof *decided; i++)
        if (gram_learning_common(learning, decided[i]))
            return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave it out; `gram info` shows what it has.",
                                      "--%s does not go with --initial %s: the model decides",
                                      gram_common_options[decided[i]].name, name);
    return GRAM_OK;
}

/* Its predictions are its function at prepared rows, and nothing else. */
static gram_status check_model(gram_learning *learning, const gram_model *model, const char *name)
{
    const gram_method *method = gram_method_of_model(model);
    const int plain = method && (!method->evaluate || method->plain || method == learning->method);
    if (!plain || !gram_method_has_task(method, GRAM_TASK_REGRESSION) || gram_model_second_function(model))
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT,
                                  "Use a model of regression whose prediction is one function, as krr's is.",
                                  "--initial %s: a model of %s for %s cannot be started from", name,
                                  gram_model_method(model), gram_model_task(model));
    if (!gram_model_preparation(model))
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Fit it from a table.",
                                  "--initial %s: it does not say how the columns of a table became its features", name);
    return GRAM_OK;
}

gram_status gram_learning_read_initial(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const char *name = gram_given_text(learning, "initial");
    gram_model *model = NULL;
    if (!name || !gram_method_find_option(learning->method, "initial")) return GRAM_OK;
    TRY(check_options(learning, name));
    status = gram_model_read(learning->context, name, &model);
    if (status < 0 && !gram_context_advice(learning->context)[0])
        (void)gram_advise(learning->context, status, "Models are made by `gram fit DATA -o M.gram`.");
    if (status < 0) goto done;
    TRY(check_model(learning, model, name));
    gram_model_destroy(learning->initial);
    learning->initial = model;
    model = NULL;
done:
    gram_model_destroy(model);
    return status;
}
