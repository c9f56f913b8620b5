/* Kernels of strings against slow and obvious twins, which compare substrings and enumerate subsequences. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { N = 40, M = 25, LONGEST = 24 };

typedef struct texts {
    int64_t n;
    char text[N][LONGEST];
    gram_points *points;
    gram_prepared *data;
    gram_table *table;
    gram_preparation *preparation;
} texts;

/* Random strings of 6 to 20 bases; some repeat. */
static void make_texts(gram_context *context, uint64_t seed, int64_t n, texts *t)
{
    char csv[N * (LONGEST + 8)], *at = csv;
    gram_table_options options;
    gram_preparation_options preparing;
    *t = (texts){.n = n};
    at += sprintf(at, "s,y\n");
    for (int64_t i = 0; i < n; i++) {
        const int length = 6 + (int)(test_bits(&seed) % 15);
        for (int k = 0; k < length; k++) t->text[i][k] = "ACGT"[test_bits(&seed) % 4];
        if (i % 7 == 6) strcpy(t->text[i], t->text[i - 1]);
        at += sprintf(at, "%s,%d\n", t->text[i], (int)(i % 3));
    }
    gram_table_options_init(&options, sizeof options);
    options.texts = "s";
    OK(context, gram_table_read_memory(context, "t.csv", csv, strlen(csv), &options, &t->table));
    gram_preparation_options_init(&preparing, sizeof preparing);
    OK(context, gram_preparation_learn(context, t->table, &preparing, &t->preparation));
    OK(context, gram_preparation_apply(context, t->preparation, t->table, 1, &t->data));
    OK(context, gram_points_of_prepared(context, t->data, &t->points));
}

static void free_texts(texts *t)
{
    gram_points_release(t->points);
    gram_prepared_destroy(t->data);
    gram_preparation_release(t->preparation);
    gram_table_destroy(t->table);
}

/* ---- twins ---- */

static int equal(const char *x, const char *y, int k)
{
    return strncmp(x, y, (size_t)k) == 0;
}

static double spectrum_twin(const char *x, const char *y, int k)
{
    double sum = 0;
    for (int i = 0; i + k <= (int)strlen(x); i++)
        for (int j = 0; j + k <= (int)strlen(y); j++) sum += equal(x + i, y + j, k);
    return sum;
}

static double spectrum3(const char *x, const char *y)
{
    return spectrum_twin(x, y, 3);
}

static double blended3(const char *x, const char *y)
{
    return spectrum_twin(x, y, 1) + spectrum_twin(x, y, 2) + spectrum_twin(x, y, 3);
}

/* Windows of 5 that agree in q places share binom(q, 3) sets of 3 places. */
static double gapped53(const char *x, const char *y)
{
    static const double binomial[] = {0, 0, 0, 1, 4, 10};
    double sum = 0;
    for (int i = 0; i + 5 <= (int)strlen(x); i++)
        for (int j = 0; j + 5 <= (int)strlen(y); j++) {
            int agree = 0;
            for (int p = 0; p < 5; p++) agree += x[i + p] == y[j + p];
            sum += binomial[agree];
        }
    return sum;
}

/* How many 4-mers of the text differ from this one in at most one place? */
static double near_mers(const char *text, const char mer[4])
{
    double count = 0;
    for (int i = 0; i + 4 <= (int)strlen(text); i++) {
        int differ = 0;
        for (int p = 0; p < 4; p++) differ += text[i + p] != mer[p];
        count += differ <= 1;
    }
    return count;
}

static double mismatch41(const char *x, const char *y)
{
    double sum = 0;
    for (int code = 0; code < 256; code++) {
        char mer[4];
        for (int p = 0; p < 4; p++) mer[p] = "ACGT"[code >> (2 * p) & 3];
        sum += near_mers(x, mer) * near_mers(y, mer);
    }
    return sum;
}

/* All pairs of triples of places. */
static double subseq3(const char *x, const char *y)
{
    const int n = (int)strlen(x), m = (int)strlen(y);
    double sum = 0;
    for (int a = 0; a < n; a++)
        for (int b = a + 1; b < n; b++)
            for (int c = b + 1; c < n; c++)
                for (int d = 0; d < m; d++)
                    for (int e = d + 1; e < m && x[a] == y[d]; e++)
                        for (int f = e + 1; f < m && x[b] == y[e]; f++)
                            if (x[c] == y[f]) sum += pow(0.7, c - a + 1 + f - d + 1);
    return sum;
}

static double hamming(const char *x, const char *y)
{
    double sum = 0;
    for (int i = 0; x[i] && y[i]; i++) sum += x[i] == y[i];
    return sum;
}

static double same(const char *x, const char *y)
{
    return strcmp(x, y) == 0;
}

static double overlap(const char *x, const char *y)
{
    double sum = 0;
    for (const char *base = "ACGT"; *base; base++) sum += strchr(x, *base) && strchr(y, *base);
    return sum;
}

/* The other strand's reading counts as well: k-mers with either of two spellings are one. */
static double strands3(const char *x, const char *y)
{
    char back[LONGEST] = "";
    const int m = (int)strlen(y);
    double sum = spectrum_twin(x, y, 3);
    for (int j = 0; j < m; j++) back[j] = "TGCA"[strchr("ACGT", y[m - 1 - j]) - "ACGT"];
    return sum + spectrum_twin(x, back, 3); /* no 3-mer is its own reverse complement */
}

typedef struct string_case {
    const char *kernel, *unscaled;
    double (*twin)(const char *x, const char *y);
} string_case;

static const string_case CASES[] = {
    {"spectrum(k=3)", "spectrum(k=3, scaled=no)", spectrum3},
    {"spectrum(k=3, over=bytes)", "spectrum(k=3, over=dna, scaled=no)", spectrum3},
    {"spectrum(k=3, over=strands)", "spectrum(k=3, over=strands, scaled=no)", strands3},
    {"blended(k=3, over=dna)", "blended(k=3, scaled=no)", blended3},
    {"gapped(l=5, k=3, over=dna)", "gapped(l=5, k=3, scaled=no)", gapped53},
    {"mismatch(k=4, m=1)", "mismatch(k=4, m=1, scaled=no)", mismatch41},
    {"subseq(k=3, decay=0.7)", "subseq(k=3, decay=0.7, over=dna, scaled=no)", subseq3},
    {"hamming", "hamming(scaled=no)", hamming},
    {"same", "same(scaled=no)", same},
    {"overlap(over=letters)", "overlap(over=letters, scaled=no)", overlap},
};
enum { CASE_COUNT = sizeof CASES / sizeof *CASES };

static void fill_twin(const string_case *c, int scaled, const texts *x, const texts *y, double *out)
{
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t j = 0; j < y->n; j++) {
            const double own = sqrt(c->twin(x->text[i], x->text[i]) * c->twin(y->text[j], y->text[j]));
            out[i * y->n + j] = c->twin(x->text[i], y->text[j]) / (scaled ? own : 1);
        }
}

static void kernels_count_as_twins_do(void **state)
{
    gram_context *context = *state;
    texts x, y;
    double *wanted = test_numbers(N * N);
    make_texts(context, 1, N, &x);
    make_texts(context, 2, M, &y);
    for (int c = 0; c < 2 * CASE_COUNT; c++) {
        const string_case *one = &CASES[c / 2];
        const char *text = c % 2 ? one->unscaled : one->kernel;
        gram_kernel *kernel = test_kernel(context, text);
        double *k = test_matrix(context, kernel, x.points, NULL),
               *cross = test_matrix(context, kernel, x.points, y.points);
        fill_twin(one, !(c % 2), &x, &x, wanted);
        test_near("K(X, X)", text, N * N, k, wanted, 1e-12);
        for (int64_t i = 0; i < N * N; i++) assert_true(k[i] == k[i % N * N + i / N]);
        fill_twin(one, !(c % 2), &x, &y, wanted);
        test_near("K(X, Y)", text, N * M, cross, wanted, 1e-12);
        free(k), free(cross);
        gram_kernel_release(kernel);
    }
    free(wanted);
    free_texts(&x);
    free_texts(&y);
}

/* With a jitter of 1e-9 K has a Cholesky factor; and the kernel mixes with others. */
static void matrices_are_positive(void **state)
{
    gram_context *context = *state;
    texts x;
    make_texts(context, 3, N, &x);
    for (int c = 0; c < CASE_COUNT; c++) {
        gram_kernel *kernel = test_kernel(context, CASES[c].kernel);
        double *k = test_matrix(context, kernel, x.points, NULL);
        for (int64_t i = 0; i < N; i++) k[i * N + i] += 1e-9;
        for (int64_t j = 0; j < N; j++) {
            double pivot = k[j * N + j];
            for (int64_t l = 0; l < j; l++) pivot -= k[j * N + l] * k[j * N + l];
            if (!(pivot > 0)) FAIL_TEST("%s: pivot %lld is %g", CASES[c].kernel, (long long)j, pivot);
            k[j * N + j] = sqrt(pivot);
            for (int64_t i = j + 1; i < N; i++) {
                for (int64_t l = 0; l < j; l++) k[i * N + j] -= k[i * N + l] * k[j * N + l];
                k[i * N + j] /= k[j * N + j];
            }
        }
        free(k);
        gram_kernel_release(kernel);
    }
    free_texts(&x);
}

/* ---- sets ---- */

enum { SETS = 30, OTHERS = 17, ITEMS = 9 };

/* Sets of 0 to 6 of 9 items as bits, and as lists in cells, which are written in many ways. */
static gram_points *make_sets(gram_context *context, uint64_t seed, int64_t n, unsigned *bits)
{
    static const char *const names[ITEMS] = {"red", "dark blue", "x-1", "gr\xc3\xbcn", "7", "a b c", "b", "ab", "ba"};
    static const char *const forms[][3] = {{"[", ", ", "]"}, {"{", ";", "}"}, {"(", " | ", ")"}};
    char csv[SETS * 160], *at = csv + sprintf(csv, "s\n");
    gram_table_options options;
    gram_table *table = NULL;
    gram_points *points = NULL;
    for (int64_t i = 0; i < n; i++) {
        const char *const *form = forms[i % 3];
        int count = 0;
        bits[i] = (unsigned)(i == 4 || i == 5 ? 0 : test_bits(&seed) & test_bits(&seed)) & ((1u << ITEMS) - 1);
        at += sprintf(at, "\"%s", form[0]);
        for (int pass = 0; pass < 2; pass++) /* items twice, in another order the second time */
            for (int k = 0; k < ITEMS; k++) {
                const int item = pass ? ITEMS - 1 - k : k;
                if (bits[i] >> item & 1) at += sprintf(at, "%s%s", count++ ? form[1] : "", names[item]);
            }
        at += sprintf(at, "%s\"\n", form[2]);
    }
    gram_table_options_init(&options, sizeof options);
    options.texts = "s";
    OK(context, gram_table_read_memory(context, "s.csv", csv, strlen(csv), &options, &table));
    OK(context, gram_points_of_table(context, table, 1, NULL, &points));
    gram_table_destroy(table);
    return points;
}

static int size_of(unsigned bits)
{
    int count = 0;
    for (int k = 0; k < ITEMS; k++) count += (int)(bits >> k & 1);
    return count;
}

static void sets_are_counted(void **state)
{
    gram_context *context = *state;
    unsigned a[SETS], b[OTHERS];
    gram_points *x = make_sets(context, 5, SETS, a), *y = make_sets(context, 6, OTHERS, b);
    gram_kernel *both = test_kernel(context, "intersection"), *share = test_kernel(context, "tanimoto");
    double *m = test_matrix(context, both, x, y), *t = test_matrix(context, share, x, y);
    double *own = test_matrix(context, share, x, NULL);
    for (int i = 0; i < SETS; i++)
        for (int j = 0; j < OTHERS; j++) {
            const double all = size_of(a[i] | b[j]), shared = size_of(a[i] & b[j]);
            assert_true(m[i * OTHERS + j] == shared);
            if (fabs(t[i * OTHERS + j] - (all > 0 ? shared / all : 1)) > 1e-15)
                FAIL_TEST("tanimoto of %x and %x is %g", a[i], b[j], t[i * OTHERS + j]);
        }
    for (int i = 0; i < SETS * SETS; i++) assert_true(own[i] == own[i % SETS * SETS + i / SETS]);
    for (int i = 0; i < SETS; i++) assert_true(own[i * SETS + i] == 1);
    free(m), free(t), free(own);
    gram_kernel_release(both);
    gram_kernel_release(share);
    gram_points_release(x);
    gram_points_release(y);
}

static void what_does_not_fit_is_named(void **state)
{
    gram_context *context = *state;
    static const double numbers[] = {1, 2};
    double out[N * N];
    texts x;
    gram_kernel *refused = NULL;
    make_texts(context, 1, N, &x);
    gram_points *plain = test_points(context, 2, 1, numbers);
    gram_kernel *spectrum = test_kernel(context, "spectrum(k=3)"), *rbf = test_kernel(context, "rbf(ell=1)");
    gram_kernel *wide = test_kernel(context, "spectrum(k=30)");
    REFUSED(context, gram_matrix(context, spectrum, plain, NULL, out, 2), GRAM_ERROR_UNSUPPORTED,
            "spectrum does not take numbers");
    REFUSED(context, gram_matrix(context, rbf, x.points, NULL, out, N), GRAM_ERROR_UNSUPPORTED,
            "rbf does not take texts");
    REFUSED(context, gram_matrix(context, wide, x.points, NULL, out, N), GRAM_ERROR_DOMAIN, "too short");
    REFUSED(context, gram_kernel_parse(context, "mismatch(k=3, m=1, over=letters)", &refused), GRAM_ERROR_ARGUMENT,
            "alphabet");
    REFUSED(context, gram_kernel_parse(context, "gapped(l=3, k=4)", &refused), GRAM_ERROR_ARGUMENT, "at most l");
    gram_kernel_release(wide);
    gram_kernel_release(spectrum);
    gram_kernel_release(rbf);
    gram_points_release(plain);
    free_texts(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_count_as_twins_do),
        cmocka_unit_test(matrices_are_positive),
        cmocka_unit_test(sets_are_counted),
        cmocka_unit_test(what_does_not_fit_is_named),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
