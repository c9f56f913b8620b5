/* What every row of the method table keeps to, whatever it computes: arrays and tables are learnt alike, a model that was
 * written and read predicts the same bits, any number of threads does, rows may come in pieces, and options that are not a
 * method's own are refused by name. A row that no way of method_ways.h reaches fails the test. */
#include <stdio.h>

#include "method_ways.h"
#include "support.h"
#include <gram/text.h>

enum { N = 48, M = 23, MOST_COLUMNS = 8 };

static const char FILE_NAME[] = "test_method_contract.gram";

/* ---- a model, and all that it says ---- */

typedef struct answers {
    int64_t columns;
    double values[M * MOST_COLUMNS];
} answers;

static double *places(void)
{
    return test_random(21, (int64_t)M * WAY_D, -0.5, 3.5);
}

static void ask(gram_context *context, const way *w, const gram_model *model, answers *out)
{
    gram_predictor *predictor = NULL;
    double *x = places();
    const gram_predict_options wish = way_wish(w);
    memset(out, 0, sizeof *out);
    OK(context, gram_predictor_create(context, model, &wish, &predictor));
    out->columns = gram_predictor_columns(predictor)->count;
    assert_true(gram_predictor_columns(predictor)->ld <= MOST_COLUMNS);
    gram_predictor_destroy(predictor);
    OK(context, gram_predict(context, model, &wish, M, x, WAY_D, out->values, MOST_COLUMNS));
    for (int i = 0; i < M; i++)
        for (int64_t j = 0; j < out->columns; j++)
            if (isnan(out->values[i * MOST_COLUMNS + j])) FAIL_TEST("%s: no number at row %d", w->what, i);
    free(x);
}

static void same_answers(const way *w, const char *what, const answers *a, const answers *b)
{
    assert_int_equal(a->columns, b->columns);
    if (!test_same_bits(M, a->columns, a->values, MOST_COLUMNS, b->values, MOST_COLUMNS))
        FAIL_TEST("%s: %s: other predictions", w->what, what);
}

static void same_facts(const way *w, const char *what, const gram_model *a, const gram_model *b)
{
    assert_string_equal(gram_model_method(a), gram_model_method(b));
    assert_string_equal(gram_model_task(a), gram_model_task(b));
    assert_int_equal(gram_model_fact_count(a), gram_model_fact_count(b));
    for (int64_t i = 0; i < gram_model_fact_count(a); i++) {
        const gram_fact f = gram_model_fact(a, i), g = gram_model_fact(b, i);
        assert_string_equal(f.name, g.name);
        if (f.kind != g.kind || f.integer != g.integer || test_to_bits(f.number) != test_to_bits(g.number))
            FAIL_TEST("%s: %s: %s was %.17g and is %.17g", w->what, what, f.name, f.number, g.number);
        if (f.text) assert_string_equal(f.text, g.text);
    }
}

static void same_rows(gram_context *context, const gram_model *a, const gram_model *b)
{
    gram_description *first = NULL, *second = NULL;
    OK(context, gram_model_describe(context, a, "m.gram", &first));
    OK(context, gram_model_describe(context, b, "m.gram", &second));
    assert_true(gram_description_count(first) >= 2);
    assert_int_equal(gram_description_count(first), gram_description_count(second));
    for (int64_t i = 0; i < gram_description_count(first); i++) {
        assert_string_equal(gram_description_label(first, i), gram_description_label(second, i));
        assert_string_equal(gram_description_value(first, i), gram_description_value(second, i));
    }
    const gram_classes *c = gram_description_classes(first), *d = gram_description_classes(second);
    assert_int_equal(c->count, d->count);
    for (int64_t i = 0; i < c->count; i++) assert_string_equal(c->names[i], d->names[i]);
    gram_description_destroy(first);
    gram_description_destroy(second);
}

static gram_model *learn(gram_context *context, const way *w, const gram_method **row)
{
    gram_learner *learner = NULL;
    gram_model *model = NULL;
    way_data data = way_make(w->target, N);
    OK(context, way_learner(context, w, &learner));
    OK(context, way_learn_arrays(context, learner, &data, &model));
    assert_int_equal(gram_learner_lesson(learner)->n, N);
    if (row) *row = learner->learning.method;
    gram_learner_destroy(learner);
    way_free(&data);
    return model;
}

/* ---- tables ---- */

/* "x1,x2,y" and the rows; words NULL: the target as a number, else the words for -2, 3 and 7. */
static gram_table *make_table(gram_context *context, const way_data *data, const char *const *words)
{
    enum { LINE = 128 };
    gram_table *table = NULL;
    gram_table_options options;
    char numbers[3][GRAM_NUMBER_SIZE], *text = (char *)test_numbers((data->n + 1) * LINE / 8);
    int length = snprintf(text, LINE, "x1,x2%s\n", data->y ? ",y" : "");
    for (int64_t i = 0; i < data->n; i++) {
        const double y = data->y ? data->y[i] : 0;
        const char *target = words ? words[y == -2 ? 0 : y == 3 ? 1 : 2] : gram_number_format(y, numbers[2]);
        length +=
            snprintf(text + length, LINE, "%s,%s%s%s\n", gram_number_format(data->x[i * WAY_D], numbers[0]),
                     gram_number_format(data->x[i * WAY_D + 1], numbers[1]), data->y ? "," : "", data->y ? target : "");
    }
    gram_table_options_init(&options, sizeof options);
    options.format = GRAM_FORMAT_CSV;
    options.text = GRAM_TEXT_CATEGORIES;
    options.keep_missing = 1;
    OK(context, gram_table_read_memory(context, "table", text, (size_t)length, &options, &table));
    free(text);
    return table;
}

static gram_model *learn_table(gram_context *context, const way *w, const char *const *words)
{
    gram_learner *learner = NULL;
    gram_model *model = NULL;
    way_data data = way_make(w->target, N);
    gram_table *table = make_table(context, &data, words);
    OK(context, way_learner(context, w, &learner));
    OK(context, gram_learn_table(context, learner, table, "table", &model));
    gram_learner_destroy(learner);
    gram_table_destroy(table);
    way_free(&data);
    return model;
}

/* ---- the tests ---- */

static void every_row_is_reached(void **state)
{
    gram_context *context = *state;
    int reached[WAY_MOST_ROWS] = {0};
    assert_true(gram_method_count() <= WAY_MOST_ROWS);
    for (int k = 0; k < WAYS; k++) {
        const gram_method *row = NULL;
        gram_model *model = learn(context, &ways[k], &row);
        if (gram_method_of_model(model) != row && gram_method_of_model(model)->open != row->open)
            FAIL_TEST("%s: its model is taken for one of another row", ways[k].what);
        for (int64_t i = 0; gram_method_row(i); i++) reached[i] |= gram_method_row(i) == row;
        gram_model_destroy(model);
    }
    for (int64_t i = 0; i < gram_method_count(); i++) {
        gram_method_facts facts = {.size = sizeof facts};
        gram_method_describe(i, &facts);
        if (!reached[i] && !gram_method_row(i)->needs_kinds)
            FAIL_TEST("no way leads to %s: add one to method_ways.h", facts.title);
    }
}

static void rows_say_what_they_are(void **state)
{
    (void)state;
    for (int64_t i = 0; i < gram_method_count(); i++) {
        gram_method_facts facts = {.size = sizeof facts};
        gram_method_describe(i, &facts);
        assert_non_null(facts.name);
        assert_non_null(facts.title);
        assert_true(facts.tasks != 0 && facts.tasks >> GRAM_TASK_COUNT == 0 && !(facts.tasks & 1u));
        for (int task = 1; task < GRAM_TASK_COUNT; task++)
            if ((facts.tasks >> task & 1u) != (facts.python[task] != NULL))
                FAIL_TEST("%s: a task without a class in Python, or a class without a task", facts.title);
        for (int64_t k = 0; k < facts.options; k++) {
            gram_option_facts option = {.size = sizeof option};
            gram_method_option(i, k, &option);
            if (!option.name || !(option.help || option.help_no)) FAIL_TEST("%s: option %d", facts.title, (int)k);
            if (option.kind != GRAM_OPTION_SWITCH && !option.argument) FAIL_TEST("%s: what is it?", option.name);
            if ((gram_method_choice(i, k, 0) != NULL) != (option.kind == GRAM_OPTION_CHOICE))
                FAIL_TEST("%s: choices of what is not one, or none", option.name);
        }
    }
    gram_method_facts none = {.size = sizeof none, .name = "left"};
    gram_method_describe(gram_method_count(), &none);
    assert_null(none.name);
    assert_null(gram_method_choice(0, -1, 0));
}

static void tables_are_learnt_as_arrays(void **state)
{
    gram_context *context = *state;
    for (int k = 0; k < WAYS; k++) {
        answers a, b;
        gram_model *first = learn(context, &ways[k], NULL), *second = learn_table(context, &ways[k], NULL);
        ask(context, &ways[k], first, &a);
        ask(context, &ways[k], second, &b);
        same_answers(&ways[k], "a table", &a, &b);
        same_facts(&ways[k], "a table", first, second);
        same_rows(context, first, second);
        gram_model_destroy(first);
        gram_model_destroy(second);
    }
}

/* Classes by name: the same model, whatever stands for its classes, if their order is the same. */
static void words_are_classes(void **state)
{
    static const char *const words[] = {"high, \"too\"", "low", "middle"};
    static const char *const quoted[] = {"\"high, \"\"too\"\"\"", "low", "middle"};
    gram_context *context = *state;
    for (int k = 0; k < WAYS; k++) {
        const way *w = &ways[k];
        if (w->target != WAY_TWO_CLASSES && w->target != WAY_THREE_CLASSES) continue;
        answers a, b;
        gram_description *description = NULL;
        gram_model *first = learn(context, w, NULL), *second = learn_table(context, w, quoted);
        ask(context, w, first, &a);
        ask(context, w, second, &b);
        same_answers(w, "words for classes", &a, &b);
        OK(context, gram_model_describe(context, second, NULL, &description));
        const gram_classes *classes = gram_description_classes(description);
        assert_int_equal(classes->count, w->target == WAY_TWO_CLASSES ? 2 : 3);
        assert_string_equal(classes->names[0], words[0]);
        assert_string_equal(classes->names[1], words[w->target == WAY_TWO_CLASSES ? 2 : 1]);
        gram_description_destroy(description);
        gram_model_destroy(first);
        gram_model_destroy(second);
    }
}

static void models_read_back(void **state)
{
    gram_context *context = *state;
    for (int k = 0; k < WAYS; k++) {
        answers a, b;
        gram_model *model = learn(context, &ways[k], NULL), *read = NULL;
        ask(context, &ways[k], model, &a);
        OK(context, gram_model_write(context, model, FILE_NAME));
        OK(context, gram_model_read(context, FILE_NAME, &read));
        ask(context, &ways[k], read, &b);
        same_answers(&ways[k], "read back", &a, &b);
        same_facts(&ways[k], "read back", model, read);
        same_rows(context, model, read);
        gram_model_destroy(model);
        gram_model_destroy(read);
    }
    (void)remove(FILE_NAME);
}

/* What was told of a plan; words and reason are copied. */
typedef struct told {
    int calls, tunes;
    int64_t n, d;
    size_t bytes;
    double seconds;
    char words[64], reason[256];
} told;

static void note_plan(void *user, const gram_learn_plan *plan)
{
    told *t = user;
    t->calls++;
    t->tunes = plan->tunes;
    t->n = plan->n;
    t->d = plan->d;
    t->bytes = plan->bytes;
    t->seconds = plan->seconds;
    (void)snprintf(t->words, sizeof t->words, "%s", plan->words);
    (void)snprintf(t->reason, sizeof t->reason, "%s", plan->reason);
}

/* Without data a row plans as it does with them. A task that only data tell is given. */
static void plans_need_no_data(void **state)
{
    gram_context *context = *state;
    for (int k = 0; k < WAYS; k++) {
        const int classes = ways[k].target == WAY_TWO_CLASSES ? 2 : ways[k].target == WAY_THREE_CLASSES ? 3 : 0;
        told with = {0}, without = {0};
        way_data data = way_make(ways[k].target, 40);
        gram_learner *learner = NULL;
        gram_model *model = NULL;
        OK(context, way_learner(context, &ways[k], &learner));
        if (classes) OK(context, gram_learner_set(context, learner, "task", "classification"));
        gram_learner_on_plan(learner, note_plan, &with);
        OK(context, gram_learner_plan(context, learner, 40, WAY_D, classes ? classes : 1, note_plan, &without));
        OK(context, way_learn_arrays(context, learner, &data, &model));
        if (with.calls != 1 || without.calls != 1 || memcmp(with.words, without.words, sizeof with.words) != 0 ||
            strcmp(with.reason, without.reason) != 0 || with.bytes != without.bytes ||
            with.seconds != without.seconds || with.n != without.n || with.d != without.d ||
            with.tunes != without.tunes)
            FAIL_TEST("%s: planned '%s' (%s), %zu bytes without data, '%s' (%s), %zu with them", ways[k].what,
                      without.words, without.reason, without.bytes, with.words, with.reason, with.bytes);
        gram_model_destroy(model);
        gram_learner_destroy(learner);
        way_free(&data);
    }
}

static void plans_are_refused(void **state)
{
    (void)state;
    gram_context *small = TEST_CONTEXT(.threads = 1, .memory_budget = 64 << 20);
    gram_learner *learner = NULL;
    OK(small, gram_learner_create(small, &learner));
    OK(small, gram_learner_set(small, learner, "solver", "exact"));
    REFUSED(small, gram_learner_plan(small, learner, 1000000, 3, 1, NULL, NULL), GRAM_ERROR_BUDGET, "n = 1000000");
    REFUSED(small, gram_learner_plan(small, learner, 0, 3, 1, NULL, NULL), GRAM_ERROR_ARGUMENT, "n = 0");
    OK(small, gram_learner_set(small, learner, "solver", NULL));
    OK(small, gram_learner_set(small, learner, "method", "logistic"));
    REFUSED(small, gram_learner_plan(small, learner, 100000, 3, 4, NULL, NULL), GRAM_ERROR_BUDGET, "100000 rows");
    REFUSED(small, gram_learner_plan(small, learner, 100, 3, 1, NULL, NULL), GRAM_ERROR_ARGUMENT, "outputs = 1");
    gram_learner_destroy(learner);
    gram_context_destroy(small);
}

static void any_thread_count_gives_the_same(void **state)
{
    (void)state;
    for (int k = 0; k < WAYS; k++) {
        answers first, other;
        gram_context *one = test_context(1, GRAM_ISA_AUTO);
        gram_model *model = learn(one, &ways[k], NULL);
        ask(one, &ways[k], model, &first);
        for (int threads = 2; threads <= 3; threads++) {
            gram_context *more = test_context(threads, GRAM_ISA_AUTO);
            gram_model *again = learn(more, &ways[k], NULL);
            ask(more, &ways[k], again, &other);
            same_answers(&ways[k], "more threads", &first, &other);
            same_facts(&ways[k], "more threads", model, again);
            gram_model_destroy(again);
            gram_context_destroy(more);
        }
        gram_model_destroy(model);
        gram_context_destroy(one);
    }
}

/* Variances come from triangular solves with all rows as right-hand sides, whose number BLAS's rounding depends on. */
static void same_pieces(const way *w, const gram_predictor *predictor, const double *whole, const double *pieces)
{
    const int64_t ld = gram_predictor_columns(predictor)->ld;
    const int has_variance = strcmp(gram_model_method(predictor->model), "gp") == 0;
    const double distance = test_distance(M, ld, whole, MOST_COLUMNS, pieces, MOST_COLUMNS);
    if (has_variance ? !(distance < 1e-12) : !test_same_bits(M, ld, whole, MOST_COLUMNS, pieces, MOST_COLUMNS))
        FAIL_TEST("%s: pieces are predicted otherwise, by %g", w->what, distance);
}

/* Features as they are, by gram_predict, and prepared by the model's preparation, at once and in pieces. */
static void pieces_are_enough(void **state)
{
    static const int64_t sizes[] = {1, 7, 11, 4}; /* M in all */
    gram_context *context = *state;
    double *x = places(), values[M * MOST_COLUMNS], pieces[M * MOST_COLUMNS];
    way_data data = {M, x, NULL};
    gram_table *table = make_table(context, &data, NULL);
    for (int k = 0; k < WAYS; k++) {
        answers a;
        gram_predictor *predictor = NULL;
        gram_prepared *prepared = NULL;
        gram_model *model = learn(context, &ways[k], NULL);
        const gram_predict_options wish = way_wish(&ways[k]);
        ask(context, &ways[k], model, &a);
        OK(context, gram_predictor_create(context, model, &wish, &predictor));
        OK(context, gram_preparation_apply(context, gram_predictor_preparation(predictor), table, 0, &prepared));
        OK(context, gram_predictor_evaluate(context, predictor, M, prepared->x, NULL, values, MOST_COLUMNS));
        if (!test_same_bits(M, a.columns, a.values, MOST_COLUMNS, values, MOST_COLUMNS))
            FAIL_TEST("%s: gram_predict prepares otherwise", ways[k].what);
        for (int64_t i = 0, p = 0; i < M; i += sizes[p++])
            OK(context, gram_predictor_evaluate(context, predictor, sizes[p], prepared->x + i * WAY_D, NULL,
                                                pieces + i * MOST_COLUMNS, MOST_COLUMNS));
        const int64_t ld = gram_predictor_columns(predictor)->ld;
        same_pieces(&ways[k], predictor, values, pieces);
        OK(context, gram_predictor_evaluate(context, predictor, 0, prepared->x, NULL, NULL, MOST_COLUMNS));
        REFUSED(context, gram_predictor_evaluate(context, predictor, M, prepared->x, NULL, values, ld - 1),
                GRAM_ERROR_ARGUMENT, "ldv");
        gram_predictor_destroy(predictor);
        gram_prepared_destroy(prepared);
        gram_model_destroy(model);
    }
    gram_table_destroy(table);
    free(x);
}

/* What was fitted to the rows is what the model says of them: nothing was lost on the way into it. */
static void fitted_values_are_predicted(void **state)
{
    gram_context *context = *state;
    int compared = 0;
    for (int k = 0; k < WAYS; k++) {
        double fitted[N], values[N * MOST_COLUMNS];
        const char *what = NULL;
        gram_learner *learner = NULL;
        gram_model *model = NULL;
        gram_predictor *predictor = NULL;
        way_data data = way_make(ways[k].target, N);
        OK(context, way_learner(context, &ways[k], &learner));
        OK(context, way_learn_arrays(context, learner, &data, &model));
        OK(context, gram_learner_fitted(context, learner, model, fitted, &what));
        OK(context, gram_predictor_create(context, model, NULL, &predictor));
        OK(context, gram_predict(context, model, NULL, N, data.x, WAY_D, values, MOST_COLUMNS));
        const int64_t column = gram_predictor_columns(predictor)->level_count / 2; /* of quantiles the middle one */
        for (int i = 0; i < N && strcmp(what, "fitted value") == 0; i++) {
            const double value = values[i * MOST_COLUMNS + column];
            if (!(fabs(fitted[i] - value) <= 1e-8 * (1 + fabs(value))))
                FAIL_TEST("%s: row %d: %.17g was fitted, %.17g is predicted", ways[k].what, i, fitted[i], value);
            compared++;
        }
        gram_predictor_destroy(predictor);
        gram_model_destroy(model);
        gram_learner_destroy(learner);
        way_free(&data);
    }
    assert_true(compared > WAYS / 2 * N);
}

/* So are all columns of methods without a target: coordinates, labels. */
static void values_are_predicted(void **state)
{
    gram_context *context = *state;
    int compared = 0;
    for (int k = 0; k < WAYS; k++) {
        double learnt[N * MOST_COLUMNS], values[N * MOST_COLUMNS];
        gram_learner *learner = NULL;
        gram_model *model = NULL;
        gram_predictor *predictor = NULL;
        if (ways[k].target != WAY_NO_TARGET) continue;
        way_data data = way_make(ways[k].target, N);
        OK(context, way_learner(context, &ways[k], &learner));
        OK(context, way_learn_arrays(context, learner, &data, &model));
        OK(context, gram_learner_values(context, learner, model, learnt, MOST_COLUMNS));
        OK(context, gram_predictor_create(context, model, NULL, &predictor));
        OK(context, gram_predict(context, model, NULL, N, data.x, WAY_D, values, MOST_COLUMNS));
        const int64_t columns = gram_predictor_columns(predictor)->count;
        const double distance = test_distance(N, columns, learnt, MOST_COLUMNS, values, MOST_COLUMNS);
        if (!(distance < 1e-9)) FAIL_TEST("%s: other values are predicted, by %g", ways[k].what, distance);
        compared++;
        gram_predictor_destroy(predictor);
        gram_model_destroy(model);
        gram_learner_destroy(learner);
        way_free(&data);
    }
    assert_true(compared >= 2);
}

/* ---- options ---- */

/* A value that the option takes. */
static const char *good_value(int64_t row, int64_t place, const gram_option_facts *option)
{
    static const char *const texts[][2] = {{"class-weight", "balanced"}, {"quantile", "0.5"}};
    static char number[GRAM_NUMBER_SIZE];
    switch (option->kind) {
    case GRAM_OPTION_SWITCH: return option->help ? "yes" : "no";
    case GRAM_OPTION_CHOICE: return gram_method_choice(row, place, 0);
    case GRAM_OPTION_INTEGER: return gram_number_format(option->least, number);
    case GRAM_OPTION_NUMBER: return gram_number_format(option->least + 0.25, number);
    case GRAM_OPTION_TEXT: break;
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(texts[i][0], option->name) == 0) return texts[i][1];
    return "x1";
}

/* Does the message name the option, or one that it does not go with? */
static int is_named(const char *message, const way *w, const char *option)
{
    int named = strstr(message, option) != NULL;
    for (int i = 0; i < WAY_MOST_OPTIONS && w->options[i].name; i++)
        named |= strstr(message, w->options[i].name) != NULL;
    return named;
}

/* The row that learns with one option more, NULL if it is refused, with a message that names the option. */
static const gram_method *learn_with(gram_context *context, const way *w, const char *option, const char *value)
{
    gram_learner *learner = NULL;
    gram_model *model = NULL;
    way_data data = way_make(w->target, N);
    OK(context, way_learner(context, w, &learner));
    gram_status status = gram_learner_set(context, learner, option, value);
    if (status >= 0) status = way_learn_arrays(context, learner, &data, &model);
    const gram_method *row = status >= 0 ? learner->learning.method : NULL;
    if (status < 0 && (status != GRAM_ERROR_ARGUMENT || !is_named(gram_context_message(context), w, option)))
        FAIL_TEST("%s with %s = '%s': %s", w->what, option, value, gram_context_message(context));
    gram_model_destroy(model);
    gram_learner_destroy(learner);
    way_free(&data);
    return row;
}

/* Options of other rows: refused, unless they choose a row that has them. */
static void options_of_others_are_refused(void **state)
{
    gram_context *context = *state;
    int refused = 0;
    for (int k = 0; k < WAYS; k++) {
        const gram_method *row = NULL;
        if (ways[k].slow) continue;
        gram_model_destroy(learn(context, &ways[k], &row));
        for (int64_t i = 0; i < gram_method_count(); i++)
            for (int64_t o = 0; o < (int64_t)gram_method_row(i)->option_count; o++) {
                gram_option_facts option = {.size = sizeof option};
                gram_method_option(i, o, &option);
                if (gram_method_find_option(row, option.name)) continue;
                const gram_method *took = learn_with(context, &ways[k], option.name, good_value(i, o, &option));
                if (took && !gram_method_find_option(took, option.name))
                    FAIL_TEST("%s ignores %s", ways[k].what, option.name);
                refused += !took;
            }
    }
    assert_true(refused > 300);
}

static void refuse_value(gram_context *context, const way *w, const char *option, const char *value)
{
    if (learn_with(context, w, option, value)) FAIL_TEST("%s takes %s = '%s'", w->what, option, value);
}

/* Values that no method takes, and words that are another row's. */
static void bad_values_are_refused(void **state)
{
    gram_context *context = *state;
    for (int k = 0; k < WAYS; k++) {
        const way *w = &ways[k];
        const gram_method *row = NULL;
        if (w->slow) continue;
        gram_model_destroy(learn(context, w, &row));
        for (size_t o = 0; o < row->option_count; o++) {
            const gram_option *option = &row->options[o];
            char number[GRAM_NUMBER_SIZE];
            refuse_value(context, w, option->name, "");
            if (option->kind == GRAM_OPTION_TEXT) continue;
            refuse_value(context, w, option->name, "neither");
            refuse_value(context, w, option->name, "nan");
            if (option->kind != GRAM_OPTION_INTEGER && option->kind != GRAM_OPTION_NUMBER) continue;
            refuse_value(context, w, option->name, gram_number_format(option->least - 1, number));
            refuse_value(context, w, option->name, "1x");
            if (option->above) refuse_value(context, w, option->name, gram_number_format(option->least, number));
            if (option->most > 0) refuse_value(context, w, option->name, gram_number_format(option->most + 1, number));
        }
        for (int64_t i = 0; gram_method_row(i); i++)
            for (size_t o = 0; o < row->option_count; o++) {
                const gram_option *mine = &row->options[o];
                const gram_option *theirs = gram_method_find_option(gram_method_row(i), mine->name);
                for (const gram_choice *c = theirs ? theirs->choices : NULL; c && c->name; c++)
                    if (!gram_option_read(mine, c->name, NULL) && learn_with(context, w, mine->name, c->name) == row)
                        FAIL_TEST("%s takes %s = '%s'", w->what, mine->name, c->name);
            }
    }
}

static void what_no_method_has_is_named(void **state)
{
    gram_context *context = *state;
    gram_learner *learner = NULL;
    OK(context, gram_learner_create(context, &learner));
    REFUSED(context, gram_learner_set(context, learner, "lamda", "1"), GRAM_ERROR_ARGUMENT, "did you mean 'lambda'");
    REFUSED(context, gram_learner_set(context, learner, "wonder", "1"), GRAM_ERROR_ARGUMENT, "'wonder'");
    REFUSED(context, gram_learner_set(context, learner, "method", "krrr"), GRAM_ERROR_ARGUMENT, "did you mean 'krr'");
    REFUSED(context, gram_learner_set(context, learner, "task", "dance"), GRAM_ERROR_ARGUMENT, "task");
    OK(context, gram_learner_set(context, learner, "nu", "0.5"));
    OK(context, gram_learner_set(context, learner, "method", "krr"));
    REFUSED(context, gram_learner_check(context, learner), GRAM_ERROR_ARGUMENT, "nu is an option of svm, not of krr");
    OK(context, gram_learner_set(context, learner, "nu", NULL));
    OK(context, gram_learner_check(context, learner));
    assert_null(gram_learner_lesson(learner));
    gram_learner_destroy(learner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_reached),
        cmocka_unit_test(rows_say_what_they_are),
        cmocka_unit_test(tables_are_learnt_as_arrays),
        cmocka_unit_test(words_are_classes),
        cmocka_unit_test(models_read_back),
        cmocka_unit_test(plans_need_no_data),
        cmocka_unit_test(plans_are_refused),
        cmocka_unit_test(any_thread_count_gives_the_same),
        cmocka_unit_test(pieces_are_enough),
        cmocka_unit_test(fitted_values_are_predicted),
        cmocka_unit_test(values_are_predicted),
        cmocka_unit_test(options_of_others_are_refused),
        cmocka_unit_test(bad_values_are_refused),
        cmocka_unit_test(what_no_method_has_is_named),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
