/* Features by their names, as options have them, and what no penalty acts on. */
#include <stdio.h>
#include <string.h>

#include <gram/features.h>

#include "method/method.h"

enum { NAME_SIZE = 256 };

/* Is the prepared column of that name, or one of a text column of that name? */
static int is_named(const gram_learning *learning, int64_t column, const char *name, size_t length)
{
    const gram_preparation *preparation = learning->preparation;
    const gram_preparation_description *all = gram_preparation_describe(preparation);
    const char *feature = all->features[gram_preparation_feature_of(preparation, column)].name;
    char own[NAME_SIZE];
    if (strlen(feature) == length && strncmp(feature, name, length) == 0) return 1;
    (void)gram_preparation_column_name(preparation, column, own, sizeof own);
    return strlen(own) == length && strncmp(own, name, length) == 0;
}

/* Marks the columns of one name, or of `all`; how many were found. */
static int64_t mark(const gram_learning *learning, const char *name, size_t length, char *chosen)
{
    int64_t found = 0;
    const int all = length == 3 && strncmp(name, "all", 3) == 0;
    for (int64_t l = 0; l < learning->data->d; l++)
        if (all || is_named(learning, l, name, length)) {
            chosen[l] = 1;
            found++;
        }
    return found;
}

gram_status gram_learning_features(gram_learning *learning, const char *option, const char *list, int64_t *count,
                                   int64_t **columns)
{
    gram_status status = GRAM_OK;
    const int64_t d = learning->data->d;
    char *chosen = NULL;
    *count = 0;
    TRY(gram_learning_take(learning, d, sizeof **columns, columns));
    TRY(gram_learning_take(learning, d, 1, &chosen));
    for (const char *at = list; at && *at;) {
        const size_t length = strcspn(at, ",");
        if (mark(learning, at, length, chosen) == 0)
            return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Name features, with commas between, or say all.",
                                      "--%s: there is no feature '%.*s'", option, (int)length, at);
        at += length + (at[length] == ',');
    }
    for (int64_t l = 0; l < d; l++)
        if (chosen[l]) (*columns)[(*count)++] = l;
done:
    return status;
}

const gram_choice gram_frequencies_choices[] = {{"plain", GRAM_FREQUENCIES_PLAIN, NULL, 0, 0},
                                                {"orthogonal", GRAM_FREQUENCIES_ORTHOGONAL, NULL, 0, 0},
                                                {"qmc", GRAM_FREQUENCIES_QMC, NULL, 0, 0},
                                                {NULL, 0, NULL, 0, 0}};

/* ---- what no penalty acts on ---- */

const gram_choice gram_mean_choices[] = {{"zero", GRAM_UNPENALISED_ZERO, NULL, 0, 0},
                                         {"constant", GRAM_UNPENALISED_CONSTANT, NULL, 0, 0},
                                         {"linear", GRAM_UNPENALISED_LINEAR, NULL, 0, 0},
                                         {NULL, 0, NULL, 0, 0}};

gram_status gram_unpenalised_check_settings(gram_learning *learning, const gram_unpenalised_settings *own)
{
    const int given = gram_given_text(learning, "mean") != NULL;
    if (!own->intercept && given && own->mean.value != GRAM_UNPENALISED_ZERO)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave one out.",
                                  "--no-intercept means --mean zero, and another is given");
    if (own->list && given && own->mean.value == GRAM_UNPENALISED_LINEAR)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave one out.",
                                  "--mean linear leaves all features unpenalised, and --unpenalised names some");
    return GRAM_OK;
}

gram_status gram_unpenalised_read(gram_learning *learning, const gram_unpenalised_settings *own, gram_unpenalised *out)
{
    const char *list = own->mean.value == GRAM_UNPENALISED_LINEAR ? "all" : own->list;
    *out = (gram_unpenalised){.intercept = own->intercept && own->mean.value != GRAM_UNPENALISED_ZERO};
    return list ? gram_learning_features(learning, "unpenalised", list, &out->count, &out->columns) : GRAM_OK;
}

/* "x1, x2" of prepared columns, as far as there is room. */
void gram_unpenalised_keep(gram_keeper *keeper, const gram_learning *learning, const gram_unpenalised *own)
{
    char text[1024] = "", name[NAME_SIZE];
    size_t used = 0;
    if (own->count == 0) return;
    for (int64_t j = 0; j < own->count && used + NAME_SIZE + 8 < sizeof text; j++) {
        (void)gram_preparation_column_name(learning->preparation, own->columns[j], name, sizeof name);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", j > 0 ? ", " : "", name);
    }
    gram_keep_text(keeper, "unpenalised", text);
}
