/* Several threads at once: each with a context of its own learns every method of the table, and then all of them predict
 * from one model and one predictor. The bits are those of a single thread. Under the thread sanitizer (the preset tsan,
 * `tests/run threads`) this is also the test that nothing is shared that should not be. The contexts have one thread each:
 * the sanitizer does not know OpenMP's own synchronisation. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "method_ways.h"
#include "support.h"

enum { N = 30, M = 9, THREADS = 4, MOST_COLUMNS = 8 };

typedef struct answers {
    gram_status status;
    double values[M * MOST_COLUMNS];
} answers;

typedef struct job {
    const way *w;
    const way_data *data;
    const double *x;
    const gram_model *model;         /* NULL: learn one */
    const gram_predictor *predictor; /* of that model */
    answers out;
} job;

/* ---- what one thread does; cmocka's own checks are for the main thread only ---- */

static gram_status learn(gram_context *context, const job *j, gram_model **model)
{
    gram_learner *learner = NULL;
    gram_status status = way_learner(context, j->w, &learner);
    if (status >= 0) status = way_learn_arrays(context, learner, j->data, model);
    gram_learner_destroy(learner);
    return status;
}

static gram_status ask(gram_context *context, const job *j, const gram_model *model, answers *out)
{
    const gram_predict_options wish = way_wish(j->w);
    return gram_predict(context, model, &wish, M, j->x, WAY_D, out->values, MOST_COLUMNS);
}

/* The shared predictor, without the preparation: how often it is called matters, not what it is given. */
static gram_status ask_shared(gram_context *context, const job *j)
{
    const int64_t ld = gram_predictor_columns(j->predictor)->ld;
    double *values = calloc((size_t)(M * ld), sizeof *values);
    if (!values) return GRAM_ERROR_MEMORY;
    const gram_status status = gram_predictor_evaluate(context, j->predictor, M, j->x, NULL, values, ld);
    free(values);
    return status;
}

static void *work(void *argument)
{
    job *j = argument;
    gram_context *context = NULL;
    gram_model *own = NULL;
    gram_context_options options;
    gram_context_options_init(&options, sizeof options);
    options.threads = 1;
    answers *out = &j->out;
    out->status = gram_context_create(&options, &context);
    if (out->status >= 0 && !j->model) out->status = learn(context, j, &own);
    if (out->status >= 0) out->status = ask(context, j, j->model ? j->model : own, out);
    if (out->status >= 0 && j->predictor) out->status = ask_shared(context, j);
    gram_model_destroy(own);
    if (context) gram_context_destroy(context);
    return NULL;
}

/* ---- all of them ---- */

static void run_together(const job *one)
{
    pthread_t threads[THREADS];
    job jobs[THREADS];
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = *one;
        memset(&jobs[i].out, 0, sizeof jobs[i].out);
        assert_int_equal(pthread_create(&threads[i], NULL, work, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++)
        if (jobs[i].out.status != GRAM_OK || memcmp(jobs[i].out.values, one->out.values, sizeof one->out.values) != 0)
            FAIL_TEST("%s: thread %d of %d, status %d: not what one thread says", one->w->what, i, THREADS,
                      (int)jobs[i].out.status);
}

static void test_contexts(void **state)
{
    double *x = test_random(21, (int64_t)M * WAY_D, -0.5, 3.5);
    (void)state;
    for (int i = 0; i < WAYS; i++) {
        if (ways[i].slow) continue;
        way_data data = way_make(ways[i].target, N);
        job one = {.w = &ways[i], .data = &data, .x = x};
        (void)work(&one);
        assert_int_equal(one.out.status, GRAM_OK);
        run_together(&one);
        way_free(&data);
    }
    free(x);
}

static void test_one_model(void **state)
{
    gram_context *context = *state;
    double *x = test_random(21, (int64_t)M * WAY_D, -0.5, 3.5);
    for (int i = 0; i < WAYS; i++) {
        if (ways[i].slow) continue;
        gram_model *model = NULL;
        gram_predictor *predictor = NULL;
        way_data data = way_make(ways[i].target, N);
        const gram_predict_options wish = way_wish(&ways[i]);
        job one = {.w = &ways[i], .data = &data, .x = x};
        OK(context, learn(context, &one, &model));
        OK(context, gram_predictor_create(context, model, &wish, &predictor));
        one.model = model;
        one.predictor = predictor;
        (void)work(&one);
        assert_int_equal(one.out.status, GRAM_OK);
        run_together(&one);
        gram_predictor_destroy(predictor);
        gram_model_destroy(model);
        way_free(&data);
    }
    free(x);
}

/* Kernels, points and models are counted: the last of several threads frees them. */
static void *retain_and_release(void *argument)
{
    const gram_model *model = argument;
    for (int i = 0; i < 2000; i++) gram_preparation_release(gram_preparation_retain(gram_model_preparation(model)));
    return NULL;
}

static void test_counts(void **state)
{
    gram_context *context = *state;
    pthread_t threads[THREADS];
    gram_model *model = NULL;
    way_data data = way_make(WAY_NUMBERS, N);
    const job one = {.w = &ways[0], .data = &data};
    OK(context, learn(context, &one, &model));
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, retain_and_release, model), 0);
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    gram_model_destroy(model);
    way_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_one_model),
        cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
