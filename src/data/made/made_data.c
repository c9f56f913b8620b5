/* Rules of data. A rule turns a few uniform and normal numbers, which belong to the row, into the row's values; the last one may be a
 * class. Adding a rule is a function and a row of the table. */
#include <gram/made_data.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/random.h>
#include <gram/text.h>

#include "base/context.h"
#include "base/sized_struct.h"

enum {
    MOST_VALUES = 11,
    MOST_UNIFORM = 10,
    MOST_NORMAL = 3,
    UNIFORM_STREAM = 0x6d616475 /* "madu" */,
    NORMAL_STREAM = 0x6d61646e
};

static const double PI = 3.14159265358979323846;

/* What belongs to one row. */
typedef struct chance {
    int64_t row;
    double uniform[MOST_UNIFORM];
    double normal[MOST_NORMAL]; /* times the noise */
} chance;

typedef struct rule {
    gram_made_facts facts;
    int values;                 /* numbers of a row, without the class */
    const char *const *classes; /* or NULL; row i is of class i modulo their number */
    int class_count;
    void (*make)(const chance *c, int class, double *out);
} rule;

/* ---- the rules ---- */

static void make_sine(const chance *c, int class, double *out)
{
    (void)class;
    out[0] = 10 * c->uniform[0];
    out[1] = sin(out[0]) + c->normal[0];
}

static void make_circle(const chance *c, int class, double *out)
{
    const double angle = 2 * PI * c->uniform[0], radius = class == 0 ? 0.5 : 1;
    out[0] = radius * cos(angle) + c->normal[0];
    out[1] = radius * sin(angle) + c->normal[1];
}

/* Half circles that reach into each other. */
static void make_moon(const chance *c, int class, double *out)
{
    const double angle = PI * c->uniform[0];
    out[0] = (class == 0 ? cos(angle) : 1 - cos(angle)) + c->normal[0];
    out[1] = (class == 0 ? sin(angle) : 0.5 - sin(angle)) + c->normal[1];
}

static void make_blob(const chance *c, int class, double *out)
{
    const double angle = PI / 2 + 2 * PI * class / 3;
    out[0] = 4 * cos(angle) + c->normal[0];
    out[1] = 4 * sin(angle) + c->normal[1];
}

/* A sheet rolled up; the target is the angle, the way along the sheet. */
static void make_roll(const chance *c, int class, double *out)
{
    const double angle = 1.5 * PI * (1 + 2 * c->uniform[0]);
    (void)class;
    out[0] = angle * cos(angle) + c->normal[0];
    out[1] = 21 * c->uniform[1] + c->normal[1];
    out[2] = angle * sin(angle) + c->normal[2];
    out[3] = angle;
}

/* Friedman, "Multivariate adaptive regression splines", 1991: five of ten columns matter. */
static void make_friedman(const chance *c, int class, double *out)
{
    const double *x = c->uniform;
    (void)class;
    memcpy(out, x, 10 * sizeof *out);
    out[10] = 10 * sin(PI * x[0] * x[1]) + 20 * (x[2] - 0.5) * (x[2] - 0.5) + 10 * x[3] + 5 * x[4] + c->normal[0];
}

/* Three minima of equal value, 0.397887. */
static void make_branin(const chance *c, int class, double *out)
{
    const double x = 15 * c->uniform[0] - 5, z = 15 * c->uniform[1];
    const double bend = z - 5.1 / (4 * PI * PI) * x * x + 5 / PI * x - 6;
    (void)class;
    out[0] = x;
    out[1] = z;
    out[2] = bend * bend + 10 * (1 - 1 / (8 * PI)) * cos(x) + 10 + c->normal[0];
}

static const char *const rings[] = {"inner", "outer"}, *const moons[] = {"upper", "lower"},
                         *const blobs[] = {"a", "b", "c"};

#define FACTS(name, columns, summary, noise)                                                                           \
    {                                                                                                                  \
        sizeof(gram_made_facts), name, columns, summary, noise                                                         \
    }

static const rule rules[] = {
    {FACTS("sine", "x,y", "a sine over [0, 10], with noise", 0.1), 2, NULL, 0, make_sine},
    {FACTS("circles", "x1,x2,class", "two rings, one within the other", 0.05), 2, rings, 2, make_circle},
    {FACTS("moons", "x1,x2,class", "two half circles that reach into each other", 0.1), 2, moons, 2, make_moon},
    {FACTS("blobs", "x1,x2,class", "three normal clouds", 1), 2, blobs, 3, make_blob},
    {FACTS("swiss-roll", "x1,x2,x3,y", "a sheet rolled up in three dimensions", 0), 4, NULL, 0, make_roll},
    {FACTS("friedman", "x1,x2,x3,x4,x5,x6,x7,x8,x9,x10,y", "Friedman's function of five columns out of ten", 1), 11,
     NULL, 0, make_friedman},
    {FACTS("branin", "x1,x2,y", "Branin's function with its three minima", 0), 3, NULL, 0, make_branin},
};

enum { RULES = sizeof rules / sizeof *rules };

/* ---- names ---- */

gram_status gram_made_describe(int64_t which, gram_made_facts *facts)
{
    const gram_made_facts none = {.size = sizeof none};
    gram_sized_write(facts, which >= 0 && which < RULES ? &rules[which].facts : &none, sizeof none);
    return gram_sized_check(NULL, "made_describe", "facts", "gram_made_facts", facts, sizeof none);
}

static gram_status find_rule(gram_context *context, const char *name, const rule **found)
{
    const char *names[RULES];
    for (int i = 0; i < RULES; i++) {
        names[i] = rules[i].facts.name;
        if (name && strcmp(names[i], name) == 0) *found = &rules[i];
    }
    if (*found) return GRAM_OK;
    const char *near = name ? gram_suggest(name, names, RULES) : NULL;
    if (near) return gram_fail(context, GRAM_ERROR_ARGUMENT, "make: no data '%s', did you mean '%s'?", name, near);
    return gram_fail(context, GRAM_ERROR_ARGUMENT,
                     "make: no data '%s'; there are sine, circles, moons, blobs, swiss-roll, friedman and branin",
                     name ? name : "");
}

/* ---- rows ---- */

static void draw(uint64_t seed, int64_t row, double noise, chance *c)
{
    const gram_random uniform = {seed, UNIFORM_STREAM}, normal = {seed, NORMAL_STREAM};
    c->row = row;
    gram_random_uniform(uniform, (uint64_t)row * MOST_UNIFORM, MOST_UNIFORM, c->uniform);
    gram_random_normal(normal, (uint64_t)row * MOST_NORMAL, MOST_NORMAL, c->normal);
    for (int k = 0; k < MOST_NORMAL; k++) c->normal[k] *= noise;
}

static void add_row(const rule *made, const chance *c, gram_string *text)
{
    double values[MOST_VALUES];
    char number[GRAM_NUMBER_SIZE];
    const int class = made->class_count ? (int)(c->row % made->class_count) : 0;
    made->make(c, class, values);
    for (int k = 0; k < made->values; k++)
        gram_string_add(text, "%s%s", k ? "," : "", gram_number_format(values[k], number));
    gram_string_add(text, made->classes ? ",%s\n" : "\n", made->classes ? made->classes[class] : "");
}

gram_status gram_made_rows(gram_context *context, const char *name, double noise, int64_t first, int64_t count,
                           gram_string *text)
{
    gram_status status = GRAM_OK;
    const rule *made = NULL;
    char number[GRAM_NUMBER_SIZE];
    chance c;
    TRY(find_rule(context, name, &made));
    if (isnan(noise)) noise = made->facts.noise;
    FAIL_IF(!(noise >= 0 && noise <= 1e150), context, GRAM_ERROR_ARGUMENT, "made_rows: noise = %s, need 0 or more",
            gram_number_format(noise, number));
    FAIL_IF(first < 0 || count < 0, context, GRAM_ERROR_ARGUMENT, "made_rows: first = %" PRId64 ", count = %" PRId64,
            first, count);
    if (first == 0) gram_string_add(text, "%s\n", made->facts.columns);
    for (int64_t i = 0; i < count && !text->failed; i++) {
        draw(gram_context_seed(context), first + i, noise, &c);
        add_row(made, &c, text);
    }
    FAIL_IF(text->failed, context, GRAM_ERROR_MEMORY, "made_rows: no memory for the text");
done:
    return status;
}
