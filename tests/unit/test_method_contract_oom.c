/* Every row of the method table with each of its allocations failing in turn: learning, predicting and telling give a clean
 * status, and nothing is held. */
#include "method_ways.h"
#include "oom.h"
#include "support.h"

enum { N = 20, M = 5 };

static const way *played;

static gram_status predict(gram_context *context, const gram_model *model, const double *x)
{
    gram_status status;
    gram_predictor *predictor = NULL;
    double values[M * 8];
    const gram_predict_options wish = way_wish(played);
    STEP(gram_predictor_create(context, model, &wish, &predictor));
    assert_true(gram_predictor_columns(predictor)->ld <= 8);
    STEP(gram_predict(context, model, &wish, M, x, WAY_D, values, 8));
done:
    gram_predictor_destroy(predictor);
    return status;
}

static gram_status play(gram_context *context)
{
    gram_status status;
    way_data data = way_make(played->target, N);
    gram_learner *learner = NULL;
    gram_model *model = NULL;
    gram_description *description = NULL;
    const char *what;
    double fitted[N], all[N * 8];
    STEP(way_learner(context, played, &learner));
    STEP(way_learn_arrays(context, learner, &data, &model));
    STEP(gram_learner_fitted(context, learner, model, fitted, &what));
    STEP(gram_learner_values(context, learner, model, all, 8));
    STEP(predict(context, model, data.x));
    STEP(gram_model_describe(context, model, NULL, &description));
done:
    gram_description_destroy(description);
    gram_model_destroy(model);
    gram_learner_destroy(learner);
    way_free(&data);
    return status;
}

/* That failures are noticed, the release build shows for all of them; the sanitizers look at fewer. */
#ifdef __SANITIZE_ADDRESS__
enum { FOR_GOOD = 7 };
#else
enum { FOR_GOOD = 1 };
#endif

static void each_allocation_fails(void **state)
{
    (void)state;
    for (int k = 0; k < WAYS; k++) {
        played = &ways[k];
        if (played->slow) continue;
        print_message("%s: ", played->what);
        const long long count = oom_each(play, 0);
        if (count < 50) FAIL_TEST("only %lld allocations", count);
        (void)oom_every(play, 1, FOR_GOOD);
        print_message("%lld allocations\n", count);
    }
}

/* Tuning repeats itself: all of its first allocations fail, then some. */
static void some_of_many_fail(void **state)
{
    (void)state;
    for (int k = 0; k < WAYS; k++) {
        played = &ways[k];
        if (played->slow) print_message("%s: %lld allocations\n", played->what, oom_some(play, 60, 101));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_fails),
        cmocka_unit_test(some_of_many_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
