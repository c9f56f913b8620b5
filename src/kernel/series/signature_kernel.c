/* Series of numbers as texts, and the signature kernel of the paths that they draw.
 *
 * A series is a text: points with semicolons between, and the numbers of a point with blanks between (or commas). Without a semicolon each number is a point. The path goes
 * from point to point in straight lines; `time` puts a further coordinate before the others, which goes from 0 to 1 in equal steps, without which a path of one coordinate would be
 * known by its ends only. The features are the iterated integrals
 *
 *     S_w = integral over 0 < t_1 < ... < t_k < 1 of dX_w1(t_1) ... dX_wk(t_k)
 *
 * for all words w of up to `depth` coordinates, the empty one (1) among them (Kiraly and Oberhauser, "Kernels for sequentially ordered data", JMLR 20, 2019). They do not
 * change with the speed at which the path is gone through, and they tell paths apart up to that and to ways that are gone back at once (Hambly and Lyons, Annals of Mathematics
 * 171, 2010).
 *
 * A line with increments D has exp(D) as its signature, in the algebra of tensors, and a path the product of those of its lines (Chen). One product is done in place from the
 * longest words down, by Horner's rule: O(points c^depth) for c coordinates. */
#include <math.h>
#include <string.h>

#include "base/text/number.h"
#include "kernel/text/text_features.h"

enum { DEPTH, TIME, SIGNATURE_SCALED };
enum { MOST_DEPTH = 5, MOST_CHANNELS = 10 };

static const char *const NO_YES[] = {"no", "yes", NULL};

typedef struct series {
    int64_t points, channels; /* of the text, without time */
    double *numbers;          /* points x channels */
} series;

static int is_blank(char c)
{
    return c == ' ' || c == ',' || c == '\t' || c == '\r' || c == '\n';
}

/* The numbers up to a semicolon or the end; returns how many, -1 if something is none, which begins at *at. */
static int64_t read_point(const char *text, int64_t length, int64_t *at, double *out)
{
    int64_t count = 0;
    for (;;) {
        while (*at < length && is_blank(text[*at])) (*at)++;
        if (*at == length || text[*at] == ';') return count;
        const size_t used = gram_number_parse(text + *at, (size_t)(length - *at), &out[count]);
        const int64_t end = *at + (int64_t)used;
        if (used == 0 || !isfinite(out[count]) || (end < length && !is_blank(text[end]) && text[end] != ';')) return -1;
        *at = end;
        count++;
    }
}

/* NULL, or what is wrong at *at. `numbers` has room for length + 1 of them. */
static const char *read_series(const char *text, int64_t length, double *numbers, series *s, int64_t *at)
{
    int64_t first = -1;
    *s = (series){.numbers = numbers};
    for (*at = 0; *at < length; (*at)++) { /* past a semicolon */
        const int64_t start = *at, count = read_point(text, length, at, numbers + s->points * (first > 0 ? first : 0));
        if (count < 0) return "not a finite number";
        if (count == 0) continue;
        if (first < 0) first = count;
        if (count != first) {
            *at = start;
            return "this point has another number of coordinates than the first";
        }
        s->points++;
    }
    s->channels = first;
    if (s->points == 1) { /* no semicolon: a point for each number */
        s->points = first;
        s->channels = 1;
    }
    *at = 0;
    if (s->points < 2) return "a series needs two points or more";
    if (s->channels > MOST_CHANNELS) return "a series has at most 10 coordinates";
    return NULL;
}

static gram_status check_series(gram_context *context, const char *text, int64_t length)
{
    enum { SHOWN = 24 };
    gram_status status = GRAM_OK;
    series s;
    double *numbers = NULL;
    int64_t at = 0;
    TRY(gram_take(context, "series", length + 1, sizeof *numbers, (void **)&numbers));
    const char *wrong = read_series(text, length, numbers, &s, &at);
    const int64_t left = length - at;
    FAIL_IF(wrong, context, GRAM_ERROR_DATA, "signature: not a series: '%.*s'%s: %s",
            (int)(left < SHOWN ? left : SHOWN), text + at, left > SHOWN ? "..." : "", wrong);
done:
    gram_give(context, numbers);
    if (status == GRAM_ERROR_DATA)
        (void)gram_advise(
            context, status,
            "A series is numbers with blanks between, or points with semicolons between: '0 1; 0.5 1.2'.");
    return status;
}

/* ---- the signature ---- */

/* levels[k] has the c^k words of length k; acc and next have room for c^depth. S becomes S exp(D). */
static void add_line(int depth, int64_t c, const double *d, double *const *levels, double *acc, double *next)
{
    for (int k = depth; k >= 1; k--) {
        int64_t size = c;
        for (int64_t i = 0; i < c; i++) acc[i] = d[i] / k;
        for (int j = 2; j <= k; j++) {
            for (int64_t w = 0; w < size; w++)
                for (int64_t i = 0; i < c; i++) next[w * c + i] = (acc[w] + levels[j - 1][w]) * d[i] / (k - j + 1);
            double *kept = acc;
            acc = next;
            next = kept;
            size *= c;
        }
        for (int64_t w = 0; w < size; w++) levels[k][w] += acc[w];
    }
}

static void add_path(const series *s, int with_time, int depth, double *const *levels, double *acc, double *next)
{
    const int64_t c = s->channels + with_time;
    double step[MOST_CHANNELS + 1];
    for (int64_t p = 1; p < s->points; p++) {
        step[0] = 1 / (double)(s->points - 1);
        for (int64_t l = 0; l < s->channels; l++)
            step[with_time + l] = s->numbers[p * s->channels + l] - s->numbers[(p - 1) * s->channels + l];
        add_line(depth, c, step, levels, acc, next);
    }
}

static void signature_features(const double *par, const gram_symbols *text, gram_feature_sink *sink)
{
    const int depth = (int)par[DEPTH], with_time = par[TIME] != 0;
    const int64_t length = text->count, widest = (int64_t)pow(MOST_CHANNELS + 1, depth);
    const int64_t letters = length / 8 + 1;
    double *room = gram_feature_room(sink, letters + length + 1 + 4 * widest), *levels[MOST_DEPTH + 1];
    series s;
    int64_t at;
    if (!room) return;
    memset(room, 0, (size_t)(letters + length + 1 + 4 * widest) * sizeof *room);
    char *copy = (char *)room;
    for (int64_t i = 0; i < length; i++) copy[i] = (char)text->code[i];
    if (read_series(copy, length, room + letters, &s, &at)) return; /* it was checked */
    const int64_t c = s.channels + with_time;
    double *place = room + letters + length + 1;
    int64_t size = 1;
    for (int k = 0; k <= depth; k++, size *= c) { /* together less than twice the last */
        levels[k] = place;
        place += size;
    }
    levels[0][0] = 1;
    double *acc = room + letters + length + 1 + 2 * widest;
    add_path(&s, with_time, depth, levels, acc, acc + widest);
    size = 1;
    for (int k = 0; k <= depth; k++, size *= c)
        for (int64_t w = 0; w < size; w++)
            gram_feature_add(sink, gram_feature_mix((uint64_t)(k ? 64 * k + c : 1), (uint64_t)w), levels[k][w]);
}

/* ---- the kernel ---- */

static void profile(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *x, double *out,
                    double *work)
{
    (void)shape, (void)work;
    v->affine(n, 1, 0, x, out);
}

static void facts(const double *par, int64_t d, gram_properties *facts)
{
    (void)par, (void)d;
    facts->positive_definite = GRAM_YES;
    facts->stationary = facts->isotropic = GRAM_NO;
    facts->strictly = facts->universal = facts->characteristic = GRAM_NO; /* finitely many features */
    facts->derivatives = 0;
    facts->sobolev_order = NAN;
}

const gram_kernel_type gram_kernel_path_signature = {
    .name = "signature",
    .formula = "inner product of iterated integrals of paths, over |.| |.|",
    .form = GRAM_FORM_DOT,
    .things = 1u << GRAM_OBJECT_TEXT,
    .spec_count = 3,
    .specs = {{.name = "depth", .role = GRAM_ROLE_STRUCTURE, .initial = 3, .lower = 1, .upper = MOST_DEPTH, .whole = 1},
              {.name = "time",
               .role = GRAM_ROLE_STRUCTURE,
               .initial = 1,
               .lower = 0,
               .upper = 1,
               .whole = 1,
               .words = NO_YES},
              {.name = "scaled",
               .role = GRAM_ROLE_STRUCTURE,
               .initial = 1,
               .lower = 0,
               .upper = 1,
               .whole = 1,
               .words = NO_YES}},
    .over = -1,
    .scaled = SIGNATURE_SCALED,
    .features = signature_features,
    .check_text = check_series,
    .facts = facts,
    .profile = profile,
};
