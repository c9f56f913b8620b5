#include "method/further_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <gram/law.h>
#include <gram/table.h>
#include <gram/text.h>

#include "points/points.h"

gram_status gram_learning_read_rows(gram_learning *learning, const char *path, gram_prepared **rows)
{
    gram_status status = GRAM_OK;
    gram_table_options options;
    gram_table *table = NULL;
    *rows = NULL;
    gram_table_options_init(&options, sizeof options);
    TRY(gram_preparation_reading(learning->preparation, &options));
    status = gram_table_read(learning->context, path, &options, &table);
    if (status == GRAM_ERROR_FILE)
        (void)gram_advise(learning->context, status, "Check the name, and that you may read it.");
    if (status == GRAM_ERROR_DATA)
        (void)gram_advise(learning->context, status, "It needs the columns of the features, by their names.");
    TRY(status);
    TRY(gram_preparation_apply(learning->context, learning->preparation, table, 0, rows));
    if ((*rows)->n < 1)
        status = gram_learning_fail(learning, GRAM_ERROR_DATA, "Give a file with rows.", "%s has no rows",
                                    gram_data_name(path));
done:
    gram_table_destroy(table);
    if (status < 0) {
        gram_prepared_destroy(*rows);
        *rows = NULL;
    }
    return status;
}

/* The law of the rows of a file. Points borrow, so that the rows are copied to the fit's arena. */
static gram_status sample_law(gram_learning *learning, const char *path, gram_law **law)
{
    gram_status status = GRAM_OK;
    gram_prepared *rows = NULL;
    gram_points *points = NULL;
    double *copy = NULL;
    TRY(gram_learning_read_rows(learning, path, &rows));
    TRY(gram_learning_take(learning, rows->n * rows->d, sizeof *copy, &copy));
    memcpy(copy, rows->x, (size_t)(rows->n * rows->d) * sizeof *copy);
    TRY(gram_points_create_f64(learning->context, rows->n, rows->d, copy, rows->d, &points));
    TRY(gram_law_of_points(learning->context, points, NULL, law));
done:
    gram_points_release(points);
    gram_prepared_destroy(rows);
    return status;
}

static gram_status product_law(gram_learning *learning, const char *option, const char *text, gram_law **law)
{
    gram_status status = GRAM_OK;
    char message[GRAM_MESSAGE_SIZE];
    gram_law *read = NULL;
    status = gram_law_parse(learning->context, text, learning->data->d, &read);
    if (status == GRAM_ERROR_ARGUMENT) {
        (void)snprintf(message, sizeof message, "%s", gram_context_message(learning->context));
        return gram_learning_fail(learning, status,
                                  "Measures look like 'uniform(0,1)', 'normal(0,2)*uniform(-1,1)', one factor for each "
                                  "feature, and 'sample(FILE)'.",
                                  "--%s cannot be %s", option, message);
    }
    TRY(status);
    TRY(gram_law_prepare(learning->context, read, learning->preparation, law));
done:
    gram_law_release(read);
    return status;
}

gram_status gram_learning_read_law(gram_learning *learning, const char *option, const char *text, gram_law **law)
{
    const size_t length = strlen(text);
    char path[4096];
    *law = NULL;
    if (strncmp(text, "sample(", 7) != 0 || length < 9 || text[length - 1] != ')')
        return product_law(learning, option, text, law);
    (void)snprintf(path, sizeof path, "%.*s", (int)(length - 8), text + 7);
    return sample_law(learning, path, law);
}

static gram_status no_landmarks(gram_learning *learning, const char *text)
{
    char found[GRAM_WORD_SIZE];
    const char *near = gram_suggest_word(text, "rpcholesky uniform kmeans++ leverage", found);
    return gram_learning_fail(
        learning, GRAM_ERROR_ARGUMENT, "Give rpcholesky, uniform, kmeans++, leverage, or the name of a file of points.",
        near ? "--landmarks cannot be '%s', did you mean '%s'?" : "--landmarks cannot be '%s'", text, near);
}

gram_status gram_learning_read_landmarks(gram_learning *learning, const char *text, gram_landmark_rule *rule,
                                         gram_points **points)
{
    gram_status status = GRAM_OK;
    gram_prepared *rows = NULL;
    gram_points *borrowed = NULL;
    *points = NULL;
    *rule = GRAM_LANDMARKS_CHOLESKY;
    for (int i = 0; i < (int)GRAM_LANDMARKS_GIVEN && text; i++)
        if (strcmp(gram_landmark_rule_name((gram_landmark_rule)i), text) == 0) {
            *rule = (gram_landmark_rule)i;
            return GRAM_OK;
        }
    if (!text) return GRAM_OK;
    *rule = GRAM_LANDMARKS_GIVEN;
    if (!strpbrk(text, "./")) /* no name of a table */
        return no_landmarks(learning, text);
    status = gram_learning_read_rows(learning, text, &rows);
    if (status == GRAM_ERROR_FILE)
        (void)gram_advise(learning->context, status,
                          "Give rpcholesky, uniform, kmeans++, leverage, or the name of a file of points.");
    TRY(status);
    TRY(gram_points_create_f64(learning->context, rows->n, rows->d, rows->x, rows->d, &borrowed));
    TRY(gram_points_gather(learning->context, borrowed, rows->n, NULL, points));
done:
    gram_points_release(borrowed);
    gram_prepared_destroy(rows);
    return status;
}

gram_status gram_learning_check_landmarks(gram_learning *learning, const char *option, int64_t landmarks)
{
    if (landmarks <= learning->n) return GRAM_OK;
    return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Ask for at most as many landmarks as rows.",
                              "%s%" PRId64 " is more than the %" PRId64 " rows", option, landmarks, learning->n);
}
