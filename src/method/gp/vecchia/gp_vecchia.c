/* The likelihood of conditionals.
 *
 * Row i has e_i = B_i - b'B_N for the columns B = [T, y] and the variance v_i. Everything that an exact likelihood takes from a factor is a
 * sum over rows,
 *
 *     B'A^-1 B = sum_i e_i e_i'/v_i,   log |A| = sum_i log v_i,
 *
 * and the mean's parameters follow as ever. They are needed for the gradient, which takes a second pass: with c = (-beta, 1), r_i = e_i
 * c/sqrt(v_i), and for a flat mean s_i = S^-1 e_i^T/sqrt(v_i), S = T'A^-1 T, the derivative of -y'Py/2 - log|A|/2 (- log|S|/2) is what
 * gram_conditionals_differentiate makes of g_i = r_i c + (s_i, 0) and r_i^2 - 1 (+ e_i^T s_i/sqrt(v_i)). */
#include "method/gp/vecchia/gp_vecchia.h"

#include <math.h>
#include <string.h>

#include "base/sized_struct.h"
#include "points/points.h"
#include "solve/neighbours/neighbour_metric.h"

enum { USUAL_NEIGHBOURS = 30 };
static const double DEPENDENT = 1e-12; /* of a pivot, relative to the column's own size */

void gram_gp_vecchia_options_init(gram_gp_vecchia_options *options, size_t size)
{
    const gram_gp_vecchia_options defaults = {.neighbours = 0};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

gram_status gram_gp_vecchia_options_read(gram_context *context, const char *name,
                                         const gram_gp_vecchia_options *options, gram_gp_vecchia_options *out)
{
    gram_status status = GRAM_OK;
    gram_gp_vecchia_options_init(out, sizeof *out);
    TRY(gram_sized_read(context, name, "options.vecchia", "gram_gp_vecchia_options", options, out, sizeof *out));
    FAIL_IF(out->neighbours < 0 || out->neighbours > GRAM_VECCHIA_MOST, context, GRAM_ERROR_ARGUMENT,
            "%s: neighbours = %lld, need 0 to %d", name, (long long)out->neighbours, (int)GRAM_VECCHIA_MOST);
done:
    return status;
}

int64_t gram_vecchia_neighbours(int64_t asked, int64_t n)
{
    const int64_t wanted = asked > 0 ? asked : USUAL_NEIGHBOURS;
    return wanted < n ? wanted : n;
}

/* ---- order and neighbours of the rows ---- */

static gram_status take_rows(gram_context *context, int64_t n, int64_t d, int64_t count, gram_vecchia_rows **out)
{
    gram_status status = GRAM_OK;
    gram_vecchia_rows *made = NULL;
    *out = NULL;
    TRY(gram_take(context, "vecchia: rows", 1, sizeof *made, (void **)&made));
    *made = (gram_vecchia_rows){.memory = gram_memory_retain(context->memory), .count = count};
    *out = made;
    TRY(gram_take(context, "vecchia: rows", d, sizeof *made->rates, (void **)&made->rates));
    TRY(gram_take(context, "vecchia: rows", n, sizeof *made->order, (void **)&made->order));
done:
    return status;
}

void gram_vecchia_rows_destroy(gram_vecchia_rows *rows)
{
    if (!rows) return;
    gram_memory *memory = rows->memory;
    gram_neighbour_groups_free(&rows->groups);
    gram_memory_give(memory, rows->rates);
    gram_memory_give(memory, rows->order);
    gram_memory_give(memory, rows);
    gram_memory_release(memory);
}

/* Lists of the nearest predecessors in the order, each with its own row behind them; places go into the order too. */
static gram_status make_lists(gram_context *context, const gram_vecchia_rows *rows, const gram_neighbour_tree *tree,
                              const double *places, gram_neighbour_lists *lists)
{
    gram_status status = GRAM_OK;
    const int64_t n = lists->targets, d = lists->d;
    int64_t *before = NULL;
    double *ordered = NULL;
    TRY(gram_take(context, "vecchia: rows", n, sizeof *before, (void **)&before));
    TRY(gram_take(context, "vecchia: rows", n * d, sizeof *ordered, (void **)&ordered));
    for (int64_t p = 0; p < n; p++) {
        before[p] = p;
        memcpy(ordered + p * d, places + rows->order[p] * d, (size_t)d * sizeof *ordered);
    }
    const gram_neighbour_search search = {.tree = tree,
                                          .queries = n,
                                          .count = rows->count,
                                          .places = ordered,
                                          .before = before,
                                          .room = lists->room,
                                          .lists = lists->lists,
                                          .length = lists->length};
    TRY(gram_neighbour_search_run(context, &search));
    for (int64_t p = 0; p < n; p++) lists->lists[p * lists->room + lists->length[p]++] = (int32_t)rows->order[p];
    lists->places = ordered;
    ordered = NULL;
done:
    gram_give(context, before);
    gram_give(context, ordered);
    return status;
}

static gram_status find_rows(gram_context *context, const gram_points *x, const double *places, gram_vecchia_rows *rows)
{
    gram_status status = GRAM_OK;
    const int64_t n = x->n;
    gram_neighbour_tree *tree = NULL;
    gram_neighbour_lists lists = {.targets = n, .room = rows->count + 1, .d = x->d, .rows = n, .by_level = 1};
    TRY(gram_take(context, "vecchia: rows", n * lists.room, sizeof *lists.lists, (void **)&lists.lists));
    TRY(gram_take(context, "vecchia: rows", n, sizeof *lists.length, (void **)&lists.length));
    TRY(gram_neighbour_tree_create(context, n, x->d, places, &tree));
    TRY(gram_neighbour_tree_order(context, tree, rows->order));
    TRY(make_lists(context, rows, tree, places, &lists));
    status = gram_neighbour_groups_make(context, &lists, &rows->groups);
    gram_give(context, (void *)lists.places);
    lists = (gram_neighbour_lists){.targets = 0}; /* the groups' now */
done:
    gram_give(context, lists.lists);
    gram_give(context, lists.length);
    gram_neighbour_tree_destroy(tree);
    return status;
}

gram_status gram_vecchia_rows_make(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                   int64_t count, gram_vecchia_rows **out)
{
    gram_status status = GRAM_OK;
    gram_vecchia_rows *made = NULL;
    double *places = NULL;
    *out = NULL;
    TRY(take_rows(context, x->n, x->d, count, &made));
    TRY(gram_take(context, "vecchia: rows", x->n * x->d, sizeof *places, (void **)&places));
    TRY(gram_neighbour_rates(context, kernel, x, made->rates));
    gram_neighbour_places(x, made->rates, places);
    TRY(find_rows(context, x, places, made));
    *out = made;
    made = NULL;
done:
    gram_give(context, places);
    gram_vecchia_rows_destroy(made);
    return status;
}

/* Proportions alone matter: all lengths twice as long have the same neighbours. */
static int same_metric(int64_t d, const double *a, const double *b)
{
    const double ENOUGH = 1.5;
    for (int64_t l = 0; l < d; l++)
        if (a[l] > ENOUGH * b[l] || b[l] > ENOUGH * a[l]) return 0;
    return 1;
}

gram_status gram_vecchia_rows_renew(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                    int64_t count, gram_vecchia_rows **rows)
{
    gram_status status = GRAM_OK;
    double *rates = NULL;
    TRY(gram_take(context, "vecchia: rows", x->d, sizeof *rates, (void **)&rates));
    TRY(gram_neighbour_rates(context, kernel, x, rates));
    if (*rows && same_metric(x->d, rates, (*rows)->rates)) goto done;
    gram_vecchia_rows_destroy(*rows);
    TRY(gram_vecchia_rows_make(context, kernel, x, count, rows));
done:
    gram_give(context, rates);
    return status;
}

/* ---- the system ---- */

gram_status gram_vecchia_system_make(gram_context *context, const char *name, gram_kernel *kernel, const gram_points *x,
                                     const double *y, const gram_gp_options *options, gram_vecchia_system *s)
{
    gram_status status = GRAM_OK;
    gram_gp_system *base = &s->base;
    double *point = NULL;
    memset(s, 0, sizeof *s);
    TRY(gram_gp_system_begin(context, name, kernel, x, y, options, base));
    s->name = name;
    s->kernel = kernel;
    s->x = x;
    const int64_t n = base->n, q = base->q;
    TRY(gram_take(context, "gp: mean", q * q, sizeof(double), (void **)&base->small));
    TRY(gram_take(context, "gp: mean", q, sizeof(double), (void **)&base->beta));
    TRY(gram_take(context, "gp: noise", n, sizeof(double), (void **)&s->shift));
    TRY(gram_take(context, "gp: right-hand sides", n * (q + 1), sizeof(double), (void **)&s->right));
    TRY(gram_take(context, "a point", base->d + q, sizeof(double), (void **)&point));
    const gram_gp_options *o = &base->options;
    if (o->weights) TRY(gram_take(context, "gp: noise", n, sizeof(double), (void **)&s->share));
    for (int64_t i = 0; i < n; i++) {
        double *row = s->right + i * (q + 1);
        s->shift[i] = gram_gp_row_noise(o, i);
        if (s->share) s->share[i] = gram_gp_noise_share(o, i);
        gram_gp_system_rows(base, x, i, 1, o->basis, o->ld, point, point + base->d);
        for (int64_t j = 0; j < q; j++) row[j] = point[base->d + j];
        row[q] = y[i];
    }
done:
    gram_give(context, point);
    return status;
}

void gram_vecchia_system_free(gram_memory *memory, gram_vecchia_system *s)
{
    gram_memory_give(memory, s->base.small);
    gram_memory_give(memory, s->base.beta);
    gram_memory_give(memory, s->shift);
    gram_memory_give(memory, s->right);
    gram_memory_give(memory, s->share);
    memset(s, 0, sizeof *s);
}

/* ---- the likelihood ---- */

/* Row i of `found`: e_i over the root of v_i, and that root. Adds up B'A^-1 B (lower triangle) and log |A|. */
static gram_status add_up(gram_context *context, gram_vecchia_system *s, int64_t n, double *found, double *products)
{
    gram_status status = GRAM_OK;
    const int64_t width = s->base.q + 1;
    s->base.log_determinant = 0;
    memset(products, 0, (size_t)(width * width) * sizeof *products);
    for (int64_t i = 0; i < n; i++) {
        double *e = found + i * (width + 1);
        FAIL_IF(!(e[width] > 0), context, GRAM_ERROR_NUMERICAL,
                "%s: a row has no variance given its neighbours: raise the noise", s->name);
        s->base.log_determinant += log(e[width]);
        e[width] = sqrt(e[width]);
        for (int64_t j = 0; j < width; j++) e[j] /= e[width];
        for (int64_t j = 0; j < width; j++)
            for (int64_t l = 0; l <= j; l++) products[j * width + l] += e[j] * e[l];
    }
done:
    return status;
}

/* What gram_conditionals_differentiate is asked for, in the place of what was found. */
static void make_coefficients(const gram_vecchia_system *s, int64_t n, double *found, double *work)
{
    const gram_gp_system *base = &s->base;
    const int64_t q = base->q, width = q + 1;
    for (int64_t i = 0; i < n; i++) {
        double *e = found + i * (width + 1), r = e[q], extra = 0;
        for (int64_t j = 0; j < q; j++) r -= e[j] * base->beta[j];
        for (int64_t j = 0; j < q; j++) work[j] = base->options.flat ? e[j] : 0;
        gram_gp_small_solve(base, work);
        for (int64_t j = 0; j < q; j++) extra += work[j] * work[j];
        for (int64_t j = q - 1; j >= 0; j--) { /* S^-1 e = L^-T of it */
            for (int64_t k = j + 1; k < q; k++) work[j] -= base->small[k * q + j] * work[k];
            work[j] /= base->small[j * q + j];
        }
        for (int64_t j = 0; j < q; j++) e[j] = work[j] - r * base->beta[j];
        e[q] = r;
        e[width] = r * r - 1 + extra;
    }
}

gram_status gram_vecchia_evaluate(gram_context *context, gram_vecchia_system *s, const gram_vecchia_rows *rows,
                                  double *value, double *gradient)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->base.n, width = s->base.q + 1;
    double *found = NULL, *products = NULL;
    const gram_conditionals c = {.kernel = s->kernel,
                                 .x = s->x,
                                 .groups = &rows->groups,
                                 .shift = s->shift,
                                 .columns = width,
                                 .right = s->right,
                                 .name = s->name};
    TRY(gram_take(context, "gp: conditionals", n * (width + 1), sizeof *found, (void **)&found));
    TRY(gram_take(context, "gp: conditionals", width * width, sizeof *products, (void **)&products));
    TRY(gram_conditionals_find(context, &c, found));
    TRY(add_up(context, s, n, found, products));
    gram_gp_system_combine(&s->base, products, DEPENDENT);
    *value = gram_gp_log_likelihood(&s->base);
    if (!gradient) goto done;
    make_coefficients(s, n, found, products);
    TRY(gram_conditionals_differentiate(context, &c, found, s->share, gradient,
                                        gradient + gram_kernel_parameter_count(s->kernel)));
done:
    gram_give(context, found);
    gram_give(context, products);
    return status;
}

gram_status gram_vecchia_likelihood(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                    const gram_gp_options *options, gram_vecchia_rows **rows, double *value,
                                    double *gradient)
{
    gram_status status = GRAM_OK;
    gram_vecchia_system s;
    gram_vecchia_rows *own = NULL;
    gram_gp_vecchia_options o;
    TRY(gram_vecchia_system_make(context, "gp_likelihood", kernel, x, y, options, &s));
    TRY(gram_gp_vecchia_options_read(context, "gp_likelihood", s.base.options.vecchia, &o));
    TRY(gram_vecchia_rows_renew(context, kernel, x, gram_vecchia_neighbours(o.neighbours, x->n), rows ? rows : &own));
    TRY(gram_vecchia_evaluate(context, &s, rows ? *rows : own, value, gradient));
done:
    gram_vecchia_rows_destroy(own);
    gram_vecchia_system_free(context->memory, &s);
    return status;
}
