#include <gram/gram.h>
#include <stdio.h>

int main(void)
{
    const double x[] = {0.25, 0.5, 0.75}; /* three new rows of one feature */
    double y[3] = {0};
    gram_context *context = NULL;
    gram_learner *learner = NULL;
    gram_model *model = NULL;

    gram_status status = gram_context_create(NULL, &context);
    if (status >= 0) status = gram_learner_create(context, &learner);
    if (status >= 0) status = gram_learn_file(context, learner, "examples/sine.csv", GRAM_FORMAT_AUTO, &model);
    if (status >= 0) status = gram_predict(context, model, NULL, 3, x, 1, y, 1);
    if (status >= 0) status = gram_model_write(context, model, "sine.gram");
    if (status >= 0)
        printf("f(x) = %.4f %.4f %.4f\n", y[0], y[1], y[2]);
    else
        fprintf(stderr, "%s\n", context ? gram_context_message(context) : gram_status_text(status));

    gram_model_destroy(model);
    gram_learner_destroy(learner);
    gram_context_destroy(context);
    return status < 0;
}
