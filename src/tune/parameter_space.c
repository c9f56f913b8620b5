/* Which numbers of a kernel are searched, on which scale and between which bounds.
 *
 * A length-scale is measured by the extent of what it divides: the range of its column, or for one length of several
 * columns the diagonal of their box (their sum of ranges where the form is L1). Below a thousandth of it all points are
 * strangers, above a hundred times it the column no longer counts; between them is the search. Other positive numbers
 * may move by a factor of 1,000 from where they start, numbers of either sign by ten times their size. What the kernel
 * itself allows comes on top. */
#include "tune/parameter_space.h"

#include <math.h>
#include <string.h>

#include "kernel/kernel.h"

static const double SHORTEST = 1e-3, LONGEST = 100, WIDTH = 1000, REACH = 10;

/* ---- extents: a walk over the leaves, in the order of the parameters ---- */

typedef struct walk {
    const gram_points *points;
    gram_space *space;
    int64_t next; /* number of the point that the next leaf begins with */
} walk;

static double column_range(const walk *w, const gram_view *view, int64_t l)
{
    const int64_t column = view->columns ? view->columns[l] : l;
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < w->points->n; i++) {
        const double x = gram_points_at(w->points, i, column);
        least = fmin(least, x);
        most = fmax(most, x);
    }
    return most - least;
}

/* Of sparse rows: no two are further apart than twice the longest. */
static double sparse_extent(const gram_points *points, int64_t column, int l1)
{
    const gram_objects *rows = points->objects[column];
    double most = 0;
    for (int64_t i = 0; i < points->n; i++) {
        const int64_t at = gram_points_place(points, i, column);
        double sum = 0;
        for (int64_t k = rows->start[at]; k < rows->start[at + 1]; k++)
            sum += l1 ? fabs(rows->value[k]) : rows->value[k] * rows->value[k];
        most = fmax(most, l1 ? sum : sqrt(sum));
    }
    return 2 * most;
}

/* Under a warp columns are not those of the points: unknown. */
static double extent_of(const walk *w, const gram_view *view, int64_t column, int l1)
{
    double sum = 0;
    if (view->warp || view->apart) return NAN;
    const int64_t only = view->columns ? view->columns[0] : 0;
    if (view->d == 1 && gram_points_kind(w->points, only) == GRAM_OBJECT_SPARSE) {
        const double most = sparse_extent(w->points, only, l1);
        return most > 0 ? most : NAN;
    }
    for (int64_t l = 0; l < view->d; l++) {
        const double range = column < 0 || column == l ? column_range(w, view, l) : 0;
        sum += l1 ? range : range * range;
    }
    const double extent = l1 ? sum : sqrt(sum);
    return extent > 0 && isfinite(extent) ? extent : NAN;
}

static void measure_lengths(walk *w, const gram_kernel *leaf, const gram_view *view, const gram_argument *argument)
{
    const int l1 = leaf->type->form == GRAM_FORM_L1;
    for (int64_t i = 0; i < argument->count; i++) {
        w->space->extent[w->next + i] = extent_of(w, view, argument->count == 1 ? -1 : i, l1);
        w->space->is_length[w->next + i] = 1;
        w->space->apart |= view->apart;
    }
    w->next += argument->count;
}

/* Row r of L is in units of column r. */
static void measure_factor(walk *w, const gram_view *view, const gram_argument *argument)
{
    for (int64_t row = 0; row < argument->rows; row++)
        for (int64_t column = 0; column <= row; column++) {
            w->space->is_length[w->next] = 1;
            w->space->extent[w->next++] = extent_of(w, view, row, 0);
        }
}

static gram_status measure_leaf(gram_context *context, void *state, const gram_kernel *leaf, const gram_view *view,
                                gram_kernel **out)
{
    walk *w = state;
    for (int i = 0; i < leaf->type->spec_count; i++) {
        const gram_argument *argument = &leaf->arguments[i];
        switch (leaf->type->specs[i].role) {
        case GRAM_ROLE_LENGTH: measure_lengths(w, leaf, view, argument); break;
        case GRAM_ROLE_COVARIANCE: measure_factor(w, view, argument); break;
        case GRAM_ROLE_SHAPE:
            for (int64_t j = 0; j < argument->count; j++) w->space->extent[w->next++] = NAN;
            break;
        case GRAM_ROLE_STRUCTURE: break;
        }
    }
    return gram_kernel_leaf(context, leaf->type, leaf->arguments, out);
}

static gram_status measure(gram_context *context, const gram_points *points, gram_space *space)
{
    gram_kernel *same = NULL;
    const gram_view all = {.d = points->d};
    walk w = {points, space, 0};
    const gram_status status = gram_kernel_rebuild(context, space->kernel, &all, measure_leaf, &w, &same);
    gram_kernel_release(same);
    return status;
}

/* ---- variables ---- */

/* The search range of a parameter by its value, its extent and what the kernel allows. */
static void find_range(const gram_parameter *p, double extent, double *lower, double *upper)
{
    const double size = fabs(p->value);
    if (p->transform == GRAM_TRANSFORM_LOG) {
        const double centre = size > 0 ? size : 1;
        *lower = isnan(extent) ? centre / WIDTH : fmin(SHORTEST * extent, centre);
        *upper = isnan(extent) ? centre * WIDTH : fmax(LONGEST * extent, centre);
    } else {
        const double reach = REACH * fmax(isnan(extent) ? 1 : extent, size);
        *lower = p->value - reach;
        *upper = p->value + reach;
    }
    if (p->lower > *lower) *lower = p->lower;
    if (p->upper < *upper) *upper = p->upper;
}

static void add_variable(gram_space *space, int64_t index, int is_log, double lower, double upper)
{
    const int64_t i = space->count++;
    space->index[i] = index;
    space->is_log[i] = (unsigned char)is_log;
    space->lower[i] = is_log ? log(lower) : lower;
    space->upper[i] = is_log ? log(upper) : upper;
}

static gram_status add_parameters(gram_context *context, gram_space *space)
{
    gram_status status = GRAM_OK;
    for (int64_t i = 0; i < space->parameters; i++) {
        gram_parameter parameter;
        double lower, upper;
        TRY(gram_kernel_parameter_get(context, space->kernel, i, &parameter));
        if (parameter.fixed) continue;
        find_range(&parameter, space->extent[i], &lower, &upper);
        if (lower < upper) add_variable(space, i, parameter.transform == GRAM_TRANSFORM_LOG, lower, upper);
    }
done:
    return status;
}

/* Four arrays of numbers and three of bytes in one block. */
static int64_t block_numbers(const gram_space *space)
{
    return 5 * (space->parameters + 1);
}

gram_status gram_space_create(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                              gram_noise_range noise, gram_space *space)
{
    gram_status status = GRAM_OK;
    const int64_t most = gram_kernel_parameter_count(kernel) + 1;
    *space = (gram_space){.kernel = kernel, .parameters = most - 1};
    TRY(gram_take(context, "tuning: parameters", block_numbers(space), sizeof(double), (void **)&space->numbers));
    memset(space->numbers, 0, (size_t)block_numbers(space) * sizeof(double));
    space->lower = space->numbers;
    space->upper = space->lower + most;
    space->extent = space->upper + most;
    space->index = (int64_t *)(void *)(space->extent + most);
    space->is_log = (unsigned char *)(space->index + most);
    space->is_length = space->is_log + most;
    space->is_amplitude = space->is_length + most;
    TRY(measure(context, points, space));
    TRY(add_parameters(context, space));
    if (!noise.fixed) add_variable(space, most - 1, 1, noise.lower, noise.upper);
done:
    if (status < 0) gram_space_free(context, space);
    return status;
}

void gram_space_free(gram_context *context, gram_space *space)
{
    gram_give(context, space->numbers);
    space->numbers = NULL;
}

gram_status gram_space_origin(gram_context *context, const gram_space *space, double *point)
{
    gram_status status = GRAM_OK;
    for (int64_t i = 0; i < space->parameters; i++) {
        gram_parameter parameter;
        TRY(gram_kernel_parameter_get(context, space->kernel, i, &parameter));
        point[i] = parameter.value;
    }
done:
    return status;
}

gram_status gram_space_kernel(gram_context *context, const gram_space *space, const double *point, gram_kernel **out)
{
    return gram_kernel_with_values(context, space->kernel, point, out);
}

void gram_space_to_variables(const gram_space *space, const double *point, double *variables)
{
    for (int64_t i = 0; i < space->count; i++) {
        const double value = point[space->index[i]];
        const double variable = !space->is_log[i] ? value : value > 0 ? log(value) : space->lower[i];
        variables[i] = fmin(fmax(variable, space->lower[i]), space->upper[i]);
    }
}

/* exp(log(bound)) may pass the bound by a rounding error: no harm, the kernel's own bounds are 0 and infinity. */
void gram_space_to_point(const gram_space *space, const double *variables, double *point)
{
    for (int64_t i = 0; i < space->count; i++)
        point[space->index[i]] = space->is_log[i] ? exp(variables[i]) : variables[i];
}

int gram_space_at_bound(const gram_space *space, const double *point)
{
    for (int64_t i = 0; i < space->count; i++) {
        const double value = point[space->index[i]];
        const double variable = space->is_log[i] ? log(value) : value;
        const double margin = 1e-6 * (space->upper[i] - space->lower[i]);
        if (variable <= space->lower[i] + margin || variable >= space->upper[i] - margin) return 1;
    }
    return 0;
}
