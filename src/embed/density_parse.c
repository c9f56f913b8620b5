/* Reads a density: NAME or NAME(key=value, ...), a value being a number, a list [1,2] or a matrix [1,0;0,1].
 *
 * Two passes: first the text becomes key and values, without knowing which density it is; then each density takes the keys
 * that it has and complains of the others. */
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "embed/density.h"
#include "kernel/kernel.h"

enum { MAX_KEYS = 8, MAX_TEXT = 1 << 20 };

typedef struct given_value {
    char name[16];
    int64_t rows, columns; /* 1 x 1 for a number, 1 x n for a list */
    double *numbers;
    int used;
} given_value;

typedef struct reader {
    gram_context *context;
    const char *text, *at, *end;
    gram_density *density;
    const gram_table *data; /* or NULL */
    gram_density *of_data;  /* made from them, in the place of `density` */
    char name[16];
    given_value values[MAX_KEYS];
    int count;
} reader;

/* ---- text ---- */

static void skip_spaces(reader *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n') r->at++;
}

static gram_status refuse(reader *r, const char *what)
{
    return gram_fail(r->context, GRAM_ERROR_SYNTAX, "density '%.60s': %s at character %lld", r->text, what,
                     (long long)(r->at - r->text) + 1);
}

static gram_status read_word(reader *r, char word[16])
{
    gram_status status = GRAM_OK;
    skip_spaces(r);
    const size_t length = strspn(r->at, "abcdefghijklmnopqrstuvwxyz_");
    if (length == 0 || length > 15) {
        status = refuse(r, "a name is missing");
        goto done;
    }
    memcpy(word, r->at, length);
    word[length] = 0;
    r->at += length;
done:
    return status;
}

static int eat(reader *r, char c)
{
    skip_spaces(r);
    if (*r->at != c) return 0;
    r->at++;
    return 1;
}

static gram_status read_number(reader *r, double *number)
{
    gram_status status = GRAM_OK;
    skip_spaces(r);
    const size_t length = gram_number_parse(r->at, (size_t)(r->end - r->at), number);
    if (length == 0 || !isfinite(*number)) {
        status = refuse(r, "a number is missing");
        goto done;
    }
    r->at += length;
done:
    return status;
}

/* How many numbers a list can have: one more than its separators up to the bracket. */
static int64_t count_numbers(const char *at)
{
    int64_t count = 1;
    for (; *at && *at != ']'; at++) count += *at == ',' || *at == ';';
    return count;
}

static gram_status read_list(reader *r, given_value *value)
{
    gram_status status = GRAM_OK;
    int64_t count = 0, columns = 0;
    TRY(gram_arena_take(r->context, &r->density->arena, "density: numbers", count_numbers(r->at), sizeof(double),
                        (void **)&value->numbers));
    do {
        const int64_t row_start = count;
        do {
            TRY(read_number(r, &value->numbers[count]));
            count++;
        } while (eat(r, ','));
        if (value->rows > 0 && count - row_start != columns) {
            status = refuse(r, "a row of another length ends");
            goto done;
        }
        columns = count - row_start;
        value->rows++;
    } while (eat(r, ';'));
    if (!eat(r, ']')) status = refuse(r, "']' is missing");
    value->columns = columns;
done:
    return status;
}

static gram_status read_value(reader *r)
{
    gram_status status = GRAM_OK;
    given_value *value = &r->values[r->count];
    if (r->count == MAX_KEYS) {
        status = refuse(r, "too many parameters");
        goto done;
    }
    TRY(read_word(r, value->name));
    for (int i = 0; i < r->count; i++)
        FAIL_IF(strcmp(r->values[i].name, value->name) == 0, r->context, GRAM_ERROR_SYNTAX,
                "density '%.60s': %s is given twice", r->text, value->name);
    if (!eat(r, '=')) {
        status = refuse(r, "'=' is missing");
        goto done;
    }
    r->count++;
    if (eat(r, '[')) {
        TRY(read_list(r, value));
        goto done;
    }
    TRY(gram_arena_take(r->context, &r->density->arena, "density: number", 1, sizeof(double),
                        (void **)&value->numbers));
    TRY(read_number(r, value->numbers));
    value->rows = value->columns = 1;
done:
    return status;
}

static gram_status read_text(reader *r)
{
    gram_status status = GRAM_OK;
    TRY(read_word(r, r->name));
    if (eat(r, '(') && !eat(r, ')')) {
        do TRY(read_value(r));
        while (eat(r, ','));
        if (!eat(r, ')')) {
            status = refuse(r, "',' or ')' is missing");
            goto done;
        }
    }
    skip_spaces(r);
    if (*r->at) status = refuse(r, "something follows");
done:
    return status;
}

/* ---- values ---- */

static given_value *find(reader *r, const char *name)
{
    for (int i = 0; i < r->count; i++)
        if (strcmp(r->values[i].name, name) == 0) {
            r->values[i].used = 1;
            return &r->values[i];
        }
    return NULL;
}

static gram_status wrong_size(const reader *r, const given_value *value, const char *need)
{
    return gram_fail(r->context, GRAM_ERROR_DIMENSION, "density %s: %s is %lld x %lld, need %s", r->name, value->name,
                     (long long)value->rows, (long long)value->columns, need);
}

/* One number, above 0 if `positive`. */
static gram_status take_number(reader *r, const char *name, double otherwise, int positive, double *number)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    const given_value *value = find(r, name);
    *number = value ? value->numbers[0] : otherwise;
    if (value && value->rows * value->columns != 1) TRY(wrong_size(r, value, "one number"));
    FAIL_IF(isnan(*number), r->context, GRAM_ERROR_ARGUMENT, "density %s: %s is missing", r->name, name);
    FAIL_IF(positive && !(*number > 0), r->context, GRAM_ERROR_ARGUMENT, "density %s: %s = %s, need a number above 0",
            r->name, name, gram_number_format(*number, shown));
done:
    return status;
}

static gram_status take_array(reader *r, int64_t numbers, double **out)
{
    return gram_arena_take(r->context, &r->density->arena, "density", numbers, sizeof(double), (void **)out);
}

/* `count` numbers: given as one for all, as a list, or not at all. */
static gram_status take_list(reader *r, const char *name, int64_t count, double otherwise, int positive, double **out)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    const given_value *value = find(r, name);
    TRY(take_array(r, count, out));
    FAIL_IF(value && !(value->rows == 1 && (value->columns == 1 || value->columns == count)), r->context,
            GRAM_ERROR_DIMENSION, "density %s: %s is %lld x %lld, need one number or a list of %lld", r->name, name,
            (long long)value->rows, (long long)value->columns, (long long)count);
    for (int64_t i = 0; i < count; i++) {
        (*out)[i] = !value ? otherwise : value->numbers[value->columns == 1 ? 0 : i];
        FAIL_IF(positive && !((*out)[i] > 0), r->context, GRAM_ERROR_ARGUMENT,
                "density %s: %s = %s, need numbers above 0", r->name, name, gram_number_format((*out)[i], shown));
    }
done:
    return status;
}

/* L of S = cov, or diag(sd^2) */
static gram_status take_factor(reader *r, double **out)
{
    gram_status status = GRAM_OK;
    const int64_t d = r->density->d;
    const given_value *cov = find(r, "cov");
    double *sd;
    TRY(take_array(r, d * d, out));
    FAIL_IF(cov && find(r, "sd"), r->context, GRAM_ERROR_ARGUMENT, "density %s: cov and sd are both given", r->name);
    if (!cov) {
        TRY(take_list(r, "sd", d, 1, 1, &sd));
        for (int64_t l = 0; l < d; l++) (*out)[l * d + l] = sd[l];
        goto done;
    }
    if (cov->rows != d || cov->columns != d) TRY(wrong_size(r, cov, "a square matrix of the points' columns"));
    for (int64_t a = 0; a < d; a++)
        for (int64_t b = 0; b < a; b++)
            FAIL_IF(cov->numbers[a * d + b] != cov->numbers[b * d + a], r->context, GRAM_ERROR_ARGUMENT,
                    "density %s: cov is not symmetric", r->name);
    FAIL_IF(!gram_small_cholesky(d, cov->numbers, *out), r->context, GRAM_ERROR_ARGUMENT,
            "density %s: cov is not positive definite", r->name);
done:
    return status;
}

/* The diagonal of S^-1: the squared columns of L^-1, each by forward substitution. */
static gram_status take_precision(reader *r, const double *factor, const double **out)
{
    gram_status status = GRAM_OK;
    const int64_t d = r->density->d;
    double *made, *column;
    TRY(take_array(r, d, &made));
    TRY(take_array(r, d, &column));
    for (int64_t l = 0; l < d; l++) {
        for (int64_t i = l; i < d; i++) {
            column[i] = i == l;
            for (int64_t j = l; j < i; j++) column[i] -= factor[i * d + j] * column[j];
            column[i] /= factor[i * d + i];
            made[l] += column[i] * column[i];
        }
    }
    *out = made;
done:
    return status;
}

static gram_status take_components(reader *r, int64_t count)
{
    gram_status status = GRAM_OK;
    r->density->count = count;
    TRY(gram_arena_take(r->context, &r->density->arena, "density", count, sizeof(gram_component),
                        (void **)&r->density->components));
done:
    return status;
}

/* ---- the densities ---- */

static gram_status make_gaussian(reader *r)
{
    gram_status status = GRAM_OK;
    double *mean, *factor;
    TRY(take_components(r, 1));
    TRY(take_list(r, "mean", r->density->d, 0, 0, &mean));
    TRY(take_factor(r, &factor));
    r->density->components[0] = (gram_component){0, mean, factor, NULL};
    TRY(take_precision(r, factor, &r->density->components[0].precision));
    r->density->evaluate = gram_density_mixture;
done:
    return status;
}

static gram_status make_student(reader *r)
{
    gram_status status = GRAM_OK;
    TRY(make_gaussian(r));
    TRY(take_number(r, "df", NAN, 1, &r->density->df));
    r->density->evaluate = gram_density_student;
done:
    return status;
}

/* Each Gaussian's own sd, or the cov of all. */
static gram_status make_mixture_factors(reader *r)
{
    gram_status status = GRAM_OK;
    const int64_t d = r->density->d, count = r->density->count;
    double *sd = NULL, *factor = NULL;
    const double *precision = NULL;
    if (find(r, "cov"))
        TRY(take_factor(r, &factor));
    else
        TRY(take_list(r, "sd", count, 1, 1, &sd));
    for (int64_t c = 0; c < count; c++) {
        gram_component *component = &r->density->components[c];
        if (sd) TRY(take_array(r, d * d, &factor));
        for (int64_t l = 0; sd && l < d; l++) factor[l * d + l] = sd[c];
        if (sd || c == 0) TRY(take_precision(r, factor, &precision));
        for (int64_t l = 0; l < d; l++) component->log_weight -= log(factor[l * d + l]);
        component->factor = factor;
        component->precision = precision;
    }
done:
    return status;
}

static gram_status make_mixture(reader *r)
{
    gram_status status = GRAM_OK;
    const int64_t d = r->density->d;
    given_value *means = find(r, "means");
    double *weights;
    FAIL_IF(!means, r->context, GRAM_ERROR_ARGUMENT, "density mixture: means is missing");
    /* in one dimension a list of means is as good as a column */
    if (d == 1 && means->rows == 1) {
        means->rows = means->columns;
        means->columns = 1;
    }
    if (means->columns != d) TRY(wrong_size(r, means, "as many columns as the points have"));
    TRY(take_components(r, means->rows));
    TRY(take_list(r, "weights", means->rows, 1, 1, &weights));
    for (int64_t c = 0; c < means->rows; c++)
        r->density->components[c] = (gram_component){log(weights[c]), means->numbers + c * d, NULL, NULL};
    TRY(make_mixture_factors(r));
    r->density->evaluate = gram_density_mixture;
done:
    return status;
}

static gram_status make_banana(reader *r)
{
    gram_status status = GRAM_OK;
    FAIL_IF(r->density->d < 2, r->context, GRAM_ERROR_DIMENSION, "density banana: needs at least two columns");
    TRY(take_number(r, "b", 0.03, 0, &r->density->b));
    TRY(take_number(r, "sd", 10, 1, &r->density->sd));
    r->density->evaluate = gram_density_banana;
done:
    return status;
}

/* The labels are the table's last column. */
static gram_status make_logistic(reader *r)
{
    gram_status status = GRAM_OK;
    const int64_t n = gram_table_rows(r->data), d = gram_table_columns(r->data) - 1, ld = gram_table_ld(r->data);
    const double *numbers = gram_table_numbers(r->data);
    double sd, *labels;
    TRY(take_number(r, "sd", 10, 1, &sd));
    FAIL_IF(d != r->density->d, r->context, GRAM_ERROR_DIMENSION,
            "density logistic: %lld columns beside the labels, the points have %lld", (long long)d,
            (long long)r->density->d);
    TRY(take_array(r, n, &labels));
    for (int64_t i = 0; i < n; i++) labels[i] = numbers[i * ld + d];
    TRY(gram_density_logistic(r->context, n, d, numbers, ld, labels, sd, &r->of_data));
done:
    return status;
}

static const struct {
    const char *name;
    gram_status (*make)(reader *r);
    int of_data;
} densities[] = {{"gaussian", make_gaussian, 0},
                 {"student", make_student, 0},
                 {"mixture", make_mixture, 0},
                 {"banana", make_banana, 0},
                 {"logistic", make_logistic, 1}};

enum { DENSITIES = sizeof densities / sizeof *densities };

static gram_status make_named(reader *r)
{
    gram_status status = GRAM_OK;
    const char *names[DENSITIES];
    int found = -1;
    for (int i = 0; i < DENSITIES; i++) {
        names[i] = densities[i].name;
        if (strcmp(r->name, names[i]) == 0) found = i;
    }
    if (found < 0) {
        const char *near = gram_suggest(r->name, names, DENSITIES);
        FAIL(r->context, GRAM_ERROR_SYNTAX, "no density '%s'%s%s%s", r->name, near ? ", did you mean '" : "",
             near ? near : "", near ? "'?" : ": gaussian, student, mixture, banana, logistic");
    }
    r->density->name = densities[found].name;
    FAIL_IF(densities[found].of_data != (r->data != NULL), r->context, GRAM_ERROR_ARGUMENT, "density %s: %s", r->name,
            r->data ? "takes no data" : "needs data: columns, and labels 0 or 1 last");
    TRY(densities[found].make(r));
    for (int i = 0; i < r->count; i++)
        FAIL_IF(!r->values[i].used, r->context, GRAM_ERROR_SYNTAX, "density %s: no parameter '%s'", r->name,
                r->values[i].name);
done:
    return status;
}

gram_status gram_density_parse(gram_context *context, const char *text, int64_t d, gram_density **density)
{
    return gram_density_parse_data(context, text, d, NULL, density);
}

gram_status gram_density_parse_data(gram_context *context, const char *text, int64_t d, const gram_table *data,
                                    gram_density **density)
{
    enum { MOST_COLUMNS = 4096 }; /* a covariance has its square */
    gram_status status = GRAM_OK;
    reader r = {.context = context, .text = text, .at = text, .data = data};
    if (!context || !density) return GRAM_ERROR_ARGUMENT;
    *density = NULL;
    FAIL_IF(!text, context, GRAM_ERROR_ARGUMENT, "density_parse: text is NULL");
    FAIL_IF(d < 1 || d > MOST_COLUMNS, context, GRAM_ERROR_ARGUMENT, "density_parse: d = %lld, need 1 to %d",
            (long long)d, (int)MOST_COLUMNS);
    r.end = text + strlen(text);
    FAIL_IF(r.end - text > MAX_TEXT, context, GRAM_ERROR_SYNTAX, "density_parse: the text is longer than 1 MiB");
    TRY(gram_density_new(context, "", d, &r.density));
    TRY(read_text(&r));
    TRY(make_named(&r));
    *density = r.of_data ? r.of_data : r.density;
    if (!r.of_data) r.density = NULL;
    r.of_data = NULL;
done:
    gram_density_destroy(r.density);
    gram_density_destroy(r.of_data);
    return status;
}
