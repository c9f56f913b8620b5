#include "learn/estimate/learning_part.h"

#include <math.h>
#include <string.h>

#include <gram/text.h>

gram_status gram_part_preparation(const gram_learning *whole, gram_preparation **preparation)
{
    gram_preparation_description known = *gram_preparation_describe(whole->preparation);
    gram_column target;
    *preparation = NULL;
    if (whole->task != GRAM_TASK_CLASSIFICATION) return GRAM_OK;
    target = known.targets[0];
    target.text = 0;
    target.level_count = 0;
    target.levels = NULL;
    target.fill = 0;
    known.targets = &target;
    return gram_preparation_create(whole->context, &known, preparation);
}

void gram_part_forget(gram_learning *part)
{
    if (part->method && part->method->forget && part->own) part->method->forget(part);
    gram_kernel_release(part->kernel);
    gram_kernel_release(part->written);
    gram_points_release(part->points);
    gram_model_destroy(part->model);
    gram_arena_release(&part->arena);
}

/* Classes that the rows have: numbers of the whole are their values. */
static gram_status part_classes(const gram_learning *whole, int64_t count, const int64_t *rows, gram_learning *part)
{
    gram_status status = GRAM_OK;
    const int64_t all = whole->classes.count;
    double *values = NULL, *labels = NULL, *weights = NULL;
    const char **names = NULL;
    int64_t *place = NULL, found = 0;
    TRY(gram_learning_take(part, all, sizeof *values, &values));
    TRY(gram_learning_take(part, all, sizeof *names, &names));
    TRY(gram_learning_take(part, all, sizeof *place, &place));
    TRY(gram_learning_take(part, all, sizeof *weights, &weights));
    TRY(gram_learning_take(part, count, sizeof *labels, &labels));
    for (int64_t i = 0; i < count; i++) place[(int64_t)whole->labels[rows[i]]] = 1;
    for (int64_t c = 0; c < all; c++) {
        if (!place[c]) continue;
        values[found] = (double)c;
        names[found] = whole->classes.names[c];
        weights[found] = whole->class_weights ? whole->class_weights[c] : 1;
        place[c] = found++;
    }
    for (int64_t i = 0; i < count; i++) labels[i] = (double)place[(int64_t)whole->labels[rows[i]]];
    part->classes = (gram_classes){found, names, values};
    part->labels = labels;
    if (whole->class_weights) part->class_weights = weights;
done:
    return status;
}

static gram_status pick(gram_learning *part, int64_t count, const int64_t *rows, int64_t width, const double *from,
                        const double **to)
{
    gram_status status = GRAM_OK;
    double *copy = NULL;
    if (!from) return status;
    TRY(gram_learning_take(part, count * width, sizeof *copy, &copy));
    for (int64_t i = 0; i < count; i++) memcpy(copy + i * width, from + rows[i] * width, (size_t)width * sizeof *copy);
    *to = copy;
done:
    return status;
}

static gram_status pick_groups(const gram_learning *whole, int64_t count, const int64_t *rows, gram_learning *part)
{
    gram_status status = GRAM_OK;
    part->groups = NULL;
    if (!whole->groups) return status;
    TRY(gram_learning_take(part, count, sizeof *part->groups, &part->groups));
    for (int64_t i = 0; i < count; i++) part->groups[i] = whole->groups[rows[i]];
done:
    return status;
}

/* Nothing of the whole's results, and an arena of its own. */
static void begin_part(const gram_learning *whole, gram_learning *part)
{
    *part = *whole;
    gram_arena_init(&part->arena, whole->arena.memory);
    part->kernel = part->written = NULL;
    part->points = NULL;
    part->model = NULL;
    part->own = NULL;
    part->tell = NULL;
    part->to_file = 0;
    part->data = NULL;
    part->class_weights = NULL;
}

gram_status gram_part_make(const gram_learning *whole, gram_preparation *preparation, int64_t count,
                           const int64_t *rows, gram_learning *part)
{
    gram_status status = GRAM_OK;
    const gram_prepared *data = whole->data;
    gram_prepared *own = NULL;
    begin_part(whole, part);
    TRY(gram_learning_take(part, 1, sizeof *own, &own));
    *own = (gram_prepared){.n = count, .d = data->d, .table_rows = count, .targets = data->targets};
    part->data = own;
    TRY(pick(part, count, rows, data->d, data->x, &own->x));
    TRY(pick(part, count, rows, data->targets, data->y, &own->y));
    TRY(pick(part, count, rows, 1, data->weights, &own->weights));
    TRY(pick(part, count, rows, 1, whole->weights, &part->weights));
    TRY(pick_groups(whole, count, rows, part));
    if (whole->task == GRAM_TASK_CLASSIFICATION) {
        TRY(pick(part, count, rows, 1, whole->labels, &own->y));
        TRY(part_classes(whole, count, rows, part));
        part->preparation = preparation;
    }
    part->n = 0;
    for (int64_t i = 0; i < count; i++) part->n += part->has_row_noise || !own->weights || own->weights[i] > 0;
    own->objects = data->objects;
    TRY(gram_points_of_prepared(whole->context, own, &part->points));
    part->written = gram_kernel_retain(whole->written);
done:
    return status;
}

gram_status gram_part_fit(gram_learning *part)
{
    gram_status status = GRAM_OK;
    if (part->method->plan) TRY(part->method->plan(part));
    TRY(part->method->fit(part));
    TRY(part->method->keep(part));
done:
    return status;
}

/* ---- numbers that are shared ---- */

int gram_part_found(const gram_learning *from, gram_found_numbers *found)
{
    static const unsigned WAYS[] = {GRAM_OPTION_PER_ROW, GRAM_OPTION_OVER_ROWS};
    const gram_method *method = from->method;
    int has_strength = 0;
    *found = (gram_found_numbers){.kernel = gram_kernel_retain(from->kernel)};
    for (size_t i = 0; i < method->option_count; i++) {
        if (!(method->options[i].flags & GRAM_OPTION_STRENGTH)) continue;
        if (gram_given_text(from, method->options[i].name)) return 1; /* one that was given is everybody's already */
        has_strength = 1;
    }
    for (size_t i = 0; i < 2 * method->option_count && !found->option; i++) {
        const gram_option *option = &method->options[i % method->option_count];
        const unsigned way = WAYS[i / method->option_count];
        const double value = gram_kept_number(from->model, option->name, NAN);
        if (!(option->flags & way) || isnan(value)) continue;
        found->option = option;
        found->strength = way == GRAM_OPTION_OVER_ROWS ? value * (double)from->n : value;
    }
    return found->option || !has_strength;
}

gram_status gram_part_use(const gram_found_numbers *found, gram_learning *part)
{
    gram_status status = GRAM_OK;
    char text[GRAM_NUMBER_SIZE];
    char *settings = NULL;
    if (!found->kernel) return status;
    gram_kernel_release(part->written);
    part->written = gram_kernel_retain(found->kernel);
    part->tuning = GRAM_TUNING_NONE;
    if (!found->option) return status;
    TRY(gram_learning_take(part, (int64_t)part->method->settings_size, 1, &settings));
    memcpy(settings, part->settings, part->method->settings_size);
    const int over = (found->option->flags & GRAM_OPTION_OVER_ROWS) != 0;
    (void)gram_number_format(over ? found->strength / (double)part->n : found->strength, text);
    (void)gram_option_read(found->option, text, settings);
    part->settings = settings;
done:
    return status;
}
