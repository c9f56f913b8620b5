/* Making functionals: terms become atoms, atoms are gathered with their rows.
 *
 * Points of functionals have places too, one for each row, where it is: what asks for coordinates (length-scales from
 * distances, ranges of columns) sees those. They own everything, because what a row needs is not a row of one array. */
#include "points/functionals.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/text.h>

/* ---- room ---- */

static int64_t atom_count(const gram_points *x)
{
    return x->functionals ? x->functionals->count : x->n;
}

/* Rows of x become rows first ... of the points, with atoms from `at` on. */
static void put_rows(const gram_points *x, int64_t first, int64_t at, gram_points *points)
{
    gram_functionals *u = points->functionals;
    for (int64_t i = 0; i < x->n; i++) {
        if (x->functionals) {
            for (int64_t k = x->functionals->first[i]; k < x->functionals->first[i + 1]; k++)
                gram_functionals_copy_atom(x, k, x->functionals->coefficient[k], points, at++);
        } else {
            u->kind[at] = GRAM_ATOM_VALUE;
            u->coefficient[at] = 1;
            for (int64_t l = 0; l < x->d; l++) u->place[at * x->d + l] = gram_points_at(x, i, l);
            at++;
        }
        u->first[first + i + 1] = at;
    }
}

gram_status gram_functionals_join(gram_context *context, const gram_points *x, const gram_points *y, gram_points **out)
{
    gram_status status = GRAM_OK;
    gram_points *made = NULL;
    *out = NULL;
    TRY(gram_functionals_make(context, x->n + y->n, x->d, atom_count(x) + atom_count(y), &made));
    made->functionals->first[0] = 0;
    put_rows(x, 0, 0, made);
    put_rows(y, x->n, atom_count(x), made);
    TRY(gram_functionals_seal(context, made));
    *out = made;
    made = NULL;
done:
    gram_points_release(made);
    return status;
}

int gram_functionals_equal(const gram_points *x, const gram_points *y)
{
    const gram_functionals *u = x->functionals, *v = y->functionals;
    if (!u || !v || x->n != y->n || x->d != y->d || u->count != v->count) return 0;
    const size_t numbers = (size_t)(u->count * x->d) * sizeof(double);
    return memcmp(u->first, v->first, (size_t)(x->n + 1) * sizeof *u->first) == 0 &&
           memcmp(u->coefficient, v->coefficient, (size_t)u->count * sizeof(double)) == 0 &&
           memcmp(u->kind, v->kind, (size_t)u->count) == 0 && memcmp(u->place, v->place, numbers) == 0 &&
           memcmp(u->v, v->v, numbers) == 0 && memcmp(u->w, v->w, numbers) == 0;
}

void gram_functionals_free(gram_points *points)
{
    gram_functionals *u = points->functionals;
    if (!u) return;
    gram_memory_give(points->memory, u->first);
    gram_memory_give(points->memory, u->coefficient);
    gram_memory_give(points->memory, u->kind);
    gram_memory_give(points->memory, u->place);
    gram_memory_give(points->memory, u->v);
    gram_memory_give(points->memory, u->w);
    gram_memory_give(points->memory, u);
    points->functionals = NULL;
}

static gram_status take_atoms(gram_context *context, int64_t n, int64_t d, gram_functionals *u)
{
    gram_status status = GRAM_OK;
    const char *what = "functionals";
    int64_t numbers;
    FAIL_IF(!gram_size_multiply(u->count, d, &numbers), context, GRAM_ERROR_OVERFLOW,
            "functionals: %" PRId64 " terms of %" PRId64 " columns are more than can be addressed", u->count, d);
    TRY(gram_take(context, what, n + 1, sizeof *u->first, (void **)&u->first));
    TRY(gram_take(context, what, u->count, sizeof *u->coefficient, (void **)&u->coefficient));
    TRY(gram_take(context, what, u->count, sizeof *u->kind, (void **)&u->kind));
    TRY(gram_take(context, what, numbers, sizeof(double), (void **)&u->place));
    TRY(gram_take(context, what, numbers, sizeof(double), (void **)&u->v));
    TRY(gram_take(context, what, numbers, sizeof(double), (void **)&u->w));
    memset(u->v, 0, (size_t)numbers * sizeof(double));
    memset(u->w, 0, (size_t)numbers * sizeof(double));
done:
    return status;
}

gram_status gram_functionals_make(gram_context *context, int64_t n, int64_t d, int64_t count, gram_points **points)
{
    gram_status status = GRAM_OK;
    gram_points *made = NULL;
    *points = NULL;
    TRY(gram_take(context, "functionals", 1, sizeof *made, (void **)&made));
    *made = (gram_points){.n = n, .d = d, .ld = d};
    atomic_init(&made->references, 1);
    made->memory = gram_memory_retain(context->memory);
    TRY(gram_take(context, "functionals", 1, sizeof *made->functionals, (void **)&made->functionals));
    *made->functionals = (gram_functionals){.count = count};
    TRY(take_atoms(context, n, d, made->functionals));
    TRY(gram_take(context, "functionals", n * d, sizeof(double), &made->own));
    made->f64 = made->own;
    *points = made;
    made = NULL;
done:
    gram_points_release(made);
    return status;
}

void gram_functionals_copy_atom(const gram_points *x, int64_t from, double coefficient, gram_points *points, int64_t to)
{
    const gram_functionals *u = x->functionals;
    gram_functionals *out = points->functionals;
    const int64_t d = x->d;
    const size_t bytes = (size_t)d * sizeof(double);
    out->coefficient[to] = coefficient;
    out->kind[to] = u->kind[from];
    memcpy(out->place + to * d, u->place + from * d, bytes);
    memcpy(out->v + to * d, u->v + from * d, bytes);
    memcpy(out->w + to * d, u->w + from * d, bytes);
}

gram_points gram_functionals_places(const gram_points *points)
{
    return (gram_points){
        .n = points->functionals->count, .d = points->d, .ld = points->d, .f64 = points->functionals->place};
}

gram_status gram_functionals_seal(gram_context *context, gram_points *points)
{
    gram_status status = GRAM_OK;
    const gram_functionals *u = points->functionals;
    const int64_t d = points->d;
    double *places = points->own;
    char shown[GRAM_NUMBER_SIZE];
    memset(places, 0, (size_t)(points->n * d) * sizeof *places);
    for (int64_t i = 0; i < points->n; i++)
        for (int64_t k = u->first[i]; k < u->first[i + 1]; k++) {
            FAIL_IF(!isfinite(u->coefficient[k]), context, GRAM_ERROR_DATA,
                    "functionals: a coefficient of row %" PRId64 " is %s; every one must be finite", i,
                    gram_number_format(u->coefficient[k], shown));
            for (int64_t l = 0; l < d; l++) {
                const double sum = u->place[k * d + l] + u->v[k * d + l] + u->w[k * d + l];
                FAIL_IF(!isfinite(sum), context, GRAM_ERROR_DATA,
                        "functionals: row %" PRId64 ", column %" PRId64 ": a number is %s; every one must be finite", i,
                        l, gram_number_format(sum, shown));
                places[i * d + l] += u->place[k * d + l] / (double)(u->first[i + 1] - u->first[i]);
            }
        }
done:
    return status;
}

/* ---- rows ---- */

gram_status gram_functionals_gather(gram_context *context, const gram_points *x, int64_t count, const int64_t *rows,
                                    gram_points **out)
{
    gram_status status = GRAM_OK;
    const gram_functionals *u = x->functionals;
    gram_points *made = NULL;
    int64_t atoms = 0;
    *out = NULL;
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = rows ? rows[i] : i;
        atoms += u->first[row + 1] - u->first[row];
    }
    TRY(gram_functionals_make(context, count, x->d, atoms, &made));
    atoms = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = rows ? rows[i] : i;
        made->functionals->first[i] = atoms;
        for (int64_t k = u->first[row]; k < u->first[row + 1]; k++)
            gram_functionals_copy_atom(x, k, u->coefficient[k], made, atoms++);
    }
    made->functionals->first[count] = atoms;
    TRY(gram_functionals_seal(context, made));
    *out = made;
    made = NULL;
done:
    gram_points_release(made);
    return status;
}

gram_status gram_functionals_part(gram_context *context, const gram_points *x, int64_t first, int64_t count,
                                  gram_points **out)
{
    gram_status status = GRAM_OK;
    int64_t *rows = NULL;
    TRY(gram_take(context, "functionals", count, sizeof *rows, (void **)&rows));
    for (int64_t i = 0; i < count; i++) rows[i] = first + i;
    TRY(gram_functionals_gather(context, x, count, rows, out));
done:
    gram_give(context, rows);
    return status;
}

/* ---- from terms ---- */

/* Row l of the matrix of an operator is not 0. */
static int has_row(const gram_functional_term *term, int64_t d, int64_t l)
{
    for (int64_t m = 0; term->second && m < d; m++)
        if (term->second[l * d + m] != 0) return 1;
    return 0;
}

static int is_integral(const gram_functional_term *term)
{
    return term->kind == GRAM_FUNCTIONAL_INTEGRAL || term->kind == GRAM_FUNCTIONAL_MEAN;
}

/* Has an operator a value, or nothing else? */
static int has_value(const gram_functional_term *term, int64_t d)
{
    int others = term->first != NULL;
    for (int64_t l = 0; l < d; l++) others += has_row(term, d, l);
    return term->constant != 0 || !others;
}

/* Atoms of a term. */
static int64_t atoms_of(const gram_functional_term *term, int64_t d)
{
    if (term->kind == GRAM_FUNCTIONAL_LAPLACIAN) return d;
    if (term->kind != GRAM_FUNCTIONAL_OPERATOR) return 1;
    int64_t count = has_value(term, d) + (term->first != NULL);
    for (int64_t l = 0; l < d; l++) count += has_row(term, d, l);
    return count;
}

typedef struct filling {
    gram_points *points;
    int64_t at;
} filling;

/* The next atom, at the term's place; v and w as given. */
static int64_t add(filling *f, gram_atom_kind kind, double coefficient, const double *place, const double *v,
                   const double *w)
{
    gram_functionals *u = f->points->functionals;
    const int64_t d = f->points->d, at = f->at++;
    u->kind[at] = (unsigned char)kind;
    u->coefficient[at] = coefficient;
    memcpy(u->place + at * d, place, (size_t)d * sizeof(double));
    if (v) memcpy(u->v + at * d, v, (size_t)d * sizeof(double));
    if (w) memcpy(u->w + at * d, w, (size_t)d * sizeof(double));
    return at;
}

/* d2/dx_l, applied to the derivative along w, or along x_l itself */
static void add_second(filling *f, double coefficient, const double *place, int64_t l, const double *w)
{
    gram_functionals *u = f->points->functionals;
    const int64_t d = f->points->d, at = add(f, GRAM_ATOM_SECOND, coefficient, place, NULL, w);
    u->v[at * d + l] = 1;
    if (!w) u->w[at * d + l] = 1;
}

static void add_operator(filling *f, const gram_functional_term *term)
{
    const int64_t d = f->points->d;
    if (has_value(term, d)) add(f, GRAM_ATOM_VALUE, term->coefficient * term->constant, term->at, NULL, NULL);
    if (term->first) add(f, GRAM_ATOM_FIRST, term->coefficient, term->at, term->first, NULL);
    for (int64_t l = 0; l < d; l++)
        if (has_row(term, d, l)) add_second(f, term->coefficient, term->at, l, term->second + l * d);
}

/* From the ends of a box to its centre and half its sides. */
static void add_box(filling *f, const gram_functional_term *term)
{
    gram_functionals *u = f->points->functionals;
    const int64_t d = f->points->d, at = add(f, GRAM_ATOM_MEAN, term->coefficient, term->at, term->first, term->second);
    for (int64_t l = 0; l < d; l++) {
        const double low = term->at[l], high = term->first[l], side = high - low;
        u->place[at * d + l] = low + 0.5 * side;
        u->v[at * d + l] = 0.5 * side;
        if (term->kind == GRAM_FUNCTIONAL_INTEGRAL && side > 0) u->coefficient[at] *= side;
    }
}

static void add_term(filling *f, const gram_functional_term *term)
{
    const double c = term->coefficient;
    switch (term->kind) {
    case GRAM_FUNCTIONAL_SLOPE: add(f, GRAM_ATOM_FIRST, c, term->at, term->first, NULL); break;
    case GRAM_FUNCTIONAL_CURVATURE: add(f, GRAM_ATOM_SECOND, c, term->at, term->first, term->second); break;
    case GRAM_FUNCTIONAL_LAPLACIAN:
        for (int64_t l = 0; l < f->points->d; l++) add_second(f, c, term->at, l, NULL);
        break;
    case GRAM_FUNCTIONAL_OPERATOR: add_operator(f, term); break;
    case GRAM_FUNCTIONAL_INTEGRAL:
    case GRAM_FUNCTIONAL_MEAN: add_box(f, term); break;
    case GRAM_FUNCTIONAL_NORMAL: add(f, GRAM_ATOM_MEAN, c, term->at, NULL, term->first); break;
    default: add(f, GRAM_ATOM_VALUE, c, term->at, NULL, NULL); break;
    }
}

/* ---- checks ---- */

static gram_status check_term(gram_context *context, int64_t d, int64_t number, const gram_functional_term *term)
{
    gram_status status = GRAM_OK;
    char low[GRAM_NUMBER_SIZE], high[GRAM_NUMBER_SIZE];
    const int needs_first = term->kind == GRAM_FUNCTIONAL_SLOPE || term->kind == GRAM_FUNCTIONAL_CURVATURE ||
                            is_integral(term) || term->kind == GRAM_FUNCTIONAL_NORMAL;
    FAIL_IF(term->kind < GRAM_FUNCTIONAL_VALUE || term->kind > GRAM_FUNCTIONAL_NORMAL, context, GRAM_ERROR_ARGUMENT,
            "points_create_functionals: terms[%" PRId64 "].kind = %d is not a valid gram_functional_kind", number,
            (int)term->kind);
    FAIL_IF(!term->at, context, GRAM_ERROR_ARGUMENT, "points_create_functionals: terms[%" PRId64 "].at is NULL",
            number);
    FAIL_IF(needs_first && !term->first, context, GRAM_ERROR_ARGUMENT,
            "points_create_functionals: terms[%" PRId64 "].first is NULL", number);
    FAIL_IF(term->kind == GRAM_FUNCTIONAL_CURVATURE && !term->second, context, GRAM_ERROR_ARGUMENT,
            "points_create_functionals: terms[%" PRId64 "].second is NULL", number);
    for (int64_t l = 0; l < d; l++) {
        FAIL_IF(is_integral(term) && !(term->first[l] >= term->at[l]), context, GRAM_ERROR_DATA,
                "points_create_functionals: terms[%" PRId64 "]: in column %" PRId64
                " the box ends at %s, before it begins at %s",
                number, l, gram_number_format(term->first[l], high), gram_number_format(term->at[l], low));
        const double *deviations = term->kind == GRAM_FUNCTIONAL_NORMAL ? term->first
                                   : is_integral(term)                  ? term->second
                                                                        : NULL;
        FAIL_IF(deviations && !(deviations[l] >= 0), context, GRAM_ERROR_DATA,
                "points_create_functionals: terms[%" PRId64 "]: the deviation of column %" PRId64
                " is %s, need a number >= 0",
                number, l, gram_number_format(deviations[l], low));
        FAIL_IF(is_integral(term) && deviations && deviations[l] > 0 && term->first[l] > term->at[l], context,
                GRAM_ERROR_ARGUMENT,
                "points_create_functionals: terms[%" PRId64 "]: column %" PRId64 " has a side and a deviation", number,
                l);
    }
done:
    return status;
}

static gram_status check_terms(gram_context *context, int64_t n, int64_t d, int64_t count,
                               const gram_functional_term *terms)
{
    gram_status status = GRAM_OK;
    FAIL_IF(n < 1 || d < 1, context, GRAM_ERROR_ARGUMENT,
            "points_create_functionals: n = %" PRId64 ", d = %" PRId64 ", need at least 1 of each", n, d);
    FAIL_IF(!terms, context, GRAM_ERROR_ARGUMENT, "points_create_functionals: terms is NULL");
    for (int64_t k = 0; k < count; k++) {
        const int64_t before = k ? terms[k - 1].row : -1;
        FAIL_IF(terms[k].row != before && terms[k].row != before + 1, context, GRAM_ERROR_ARGUMENT,
                "points_create_functionals: terms[%" PRId64 "].row = %" PRId64 " follows row %" PRId64
                "; rows come in order, and each has a term",
                k, terms[k].row, before);
        TRY(check_term(context, d, k, &terms[k]));
    }
    FAIL_IF(count < 1 || terms[count - 1].row != n - 1, context, GRAM_ERROR_ARGUMENT,
            "points_create_functionals: the terms end before row %" PRId64 ", the last; each row has at least one",
            n - 1);
done:
    return status;
}

gram_status gram_points_create_functionals(gram_context *context, int64_t n, int64_t d, int64_t count,
                                           const gram_functional_term *terms, gram_points **points)
{
    gram_status status = GRAM_OK;
    filling f = {0};
    int64_t atoms = 0;
    if (!context || !points) return GRAM_ERROR_ARGUMENT;
    *points = NULL;
    TRY(check_terms(context, n, d, count, terms));
    for (int64_t k = 0; k < count; k++) atoms += atoms_of(&terms[k], d);
    TRY(gram_functionals_make(context, n, d, atoms, &f.points));
    for (int64_t k = 0; k < count; k++) {
        f.points->functionals->first[terms[k].row + 1] = f.at + atoms_of(&terms[k], d);
        add_term(&f, &terms[k]);
    }
    f.points->functionals->first[0] = 0;
    TRY(gram_functionals_seal(context, f.points));
    *points = f.points;
    f.points = NULL;
done:
    gram_points_release(f.points);
    return status;
}

/* ---- what they are ---- */

int gram_points_are_functionals(const gram_points *points)
{
    return points->functionals != NULL;
}

gram_status gram_points_must_be_plain(gram_context *context, const char *who, const gram_points *points)
{
    if (!points || !points->functionals) return GRAM_OK;
    (void)gram_fail(context, GRAM_ERROR_UNSUPPORTED, "%s: the rows are functionals; it takes points only", who);
    return gram_advise(context, GRAM_ERROR_UNSUPPORTED,
                       "Rows of other kinds than values are for krr and gp, by the solvers exact and cg.");
}

int gram_points_are_value(const gram_points *points, int64_t i)
{
    const gram_functionals *u = points->functionals;
    return !u || (u->first[i + 1] == u->first[i] + 1 && u->kind[u->first[i]] == GRAM_ATOM_VALUE &&
                  u->coefficient[u->first[i]] == 1);
}

double gram_points_of_one(const gram_points *points, int64_t i)
{
    const gram_functionals *u = points->functionals;
    double sum = 0;
    if (!u) return 1;
    for (int64_t k = u->first[i]; k < u->first[i + 1]; k++)
        if (u->kind[k] != GRAM_ATOM_FIRST && u->kind[k] != GRAM_ATOM_SECOND) sum += u->coefficient[k];
    return sum;
}

/* The mean over a box or a normal distribution is the coordinate of its centre. */
double gram_points_of_column(const gram_points *points, int64_t i, int64_t l)
{
    const gram_functionals *u = points->functionals;
    double sum = 0;
    if (!u) return gram_points_at(points, i, l);
    for (int64_t k = u->first[i]; k < u->first[i + 1]; k++) {
        const int64_t at = k * points->d + l;
        if (u->kind[k] != GRAM_ATOM_SECOND)
            sum += u->coefficient[k] * (u->kind[k] == GRAM_ATOM_FIRST ? u->v[at] : u->place[at]);
    }
    return sum;
}
