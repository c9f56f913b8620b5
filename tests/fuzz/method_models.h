/* Models of every row of the method table, made when they are first asked for: a new method's files are inputs without anybody
 * collecting them. */
#ifndef GRAM_FUZZ_METHOD_MODELS_H
#define GRAM_FUZZ_METHOD_MODELS_H

#include "temporary_file.h"

#include "unit/method_ways.h"

enum { MODEL_ROWS = 12, MOST_MODEL = 8192 };

typedef struct made_model {
    int tried;
    size_t length;
    uint8_t bytes[MOST_MODEL];
} made_model;

static inline void fit_way(const way *w, const char *path)
{
    gram_context *context = NULL;
    gram_learner *learner = NULL;
    gram_model *model = NULL;
    gram_context_options options;
    way_data data = way_make(w->target, MODEL_ROWS);
    gram_context_options_init(&options, sizeof options);
    options.threads = 1;
    if (gram_context_create(&options, &context) != GRAM_OK) abort();
    if (way_learner(context, w, &learner) == GRAM_OK && way_learn_arrays(context, learner, &data, &model) == GRAM_OK)
        (void)gram_model_write(context, model, path);
    gram_model_destroy(model);
    gram_learner_destroy(learner);
    gram_context_destroy(context);
    way_free(&data);
}

/* Of no bytes if the way does not lead to a model of so few rows, or to a large one. */
static inline const made_model *method_model(unsigned chosen)
{
    static made_model made[WAYS];
    made_model *m = &made[chosen % WAYS];
    char path[TEMPORARY_PATH];
    if (m->tried++) return m;
    (void)snprintf(path, sizeof path, "/dev/shm/fuzz_way.%ld", (long)getpid());
    fit_way(&ways[chosen % WAYS], path);
    FILE *file = fopen(path, "rb");
    if (!file) return m;
    m->length = fread(m->bytes, 1, sizeof m->bytes, file);
    if (m->length == sizeof m->bytes) m->length = 0;
    (void)fclose(file);
    (void)unlink(path);
    return m;
}

#endif
