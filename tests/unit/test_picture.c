/* Pictures: every picture of the table is drawn from a model, and what is in its script is what the data and the model say: points, curves,
 * eigenvalues, histograms, read back from the blocks. Names are quoted, refusals say what is needed, every allocation fails once. The program
 * also runs under a locale with a decimal comma, which no script may show. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "method_ways.h"
#include "oom.h"
#include "picture/script_parts.h"

enum { N = 30 };

/* ---- scripts ---- */

static const char *script_of(const gram_picture *picture)
{
    int width = 0, height = 0;
    gram_picture_pixels(picture, &width, &height);
    assert_in_range(width, 300, 4000);
    assert_in_range(height, 300, 4000);
    assert_int_equal(gram_picture_script(picture)->failed, 0);
    assert_int_equal(strlen(gram_picture_script(picture)->data), gram_picture_script(picture)->length);
    return gram_picture_script(picture)->data;
}

static void has(const gram_picture *picture, const char *part)
{
    if (!strstr(script_of(picture), part)) FAIL_TEST("'%s' is not in the script:\n%.3000s", part, script_of(picture));
}

static void has_not(const gram_picture *picture, const char *part)
{
    if (strstr(script_of(picture), part)) FAIL_TEST("'%s' is in the script", part);
}

/* The numbers of the block $name; returns how many there are. */
static int64_t block(const gram_picture *picture, const char *name, int64_t most, double *numbers)
{
    char start[64], end[32] = "\n";
    int64_t count = 0;
    (void)snprintf(start, sizeof start, "$%s << ", name);
    const char *at = strstr(script_of(picture), start);
    if (!at) FAIL_TEST("no block %s in the script", name);
    at += strlen(start);
    (void)snprintf(end, sizeof end, "\n%.*s\n", (int)strcspn(at, "\n"), at);
    const char *stop = strstr(at, end);
    assert_non_null(stop);
    at = strchr(at, '\n');
    while (at < stop) {
        at += strspn(at, " \n");
        if (at >= stop) break;                       /* after a blank line */
        const int none = strncmp(at, "NaN", 3) == 0; /* gnuplot's word for what is not to be drawn */
        const size_t length = none ? 3 : gram_number_parse(at, (size_t)(stop - at), &numbers[count]);
        if (none) numbers[count] = NAN;
        if (length == 0) FAIL_TEST("block %s: not a number: %.20s", name, at);
        assert_true(count++ < most);
        at += length;
    }
    return count;
}

/* Each block ends, and nothing that is not finite is among the numbers of the axes. */
static void is_whole(const gram_picture *picture)
{
    for (const char *at = script_of(picture); (at = strstr(at, " << ")); at += 4) {
        char end[40];
        (void)snprintf(end, sizeof end, "\n%.*s\n", (int)strcspn(at + 4, "\n"), at + 4);
        assert_non_null(strstr(at, end));
    }
    has(picture, "plot ");
    has_not(picture, "range [nan");
    has_not(picture, "inf]");
}

/* ---- models ---- */

typedef struct taught {
    gram_context *context;
    gram_learner *learner;
    gram_model *model;
} taught;

static taught teach(gram_context *context, const way *w, int64_t n)
{
    taught made = {context, NULL, NULL};
    way_data data = way_make(w->target, n);
    OK(context, way_learner(context, w, &made.learner));
    OK(context, way_learn_arrays(context, made.learner, &data, &made.model));
    way_free(&data);
    return made;
}

static gram_table *categories(gram_context *context, const char *csv)
{
    gram_table_options options;
    gram_table *table = NULL;
    gram_table_options_init(&options, sizeof options);
    options.text = GRAM_TEXT_CATEGORIES;
    options.keep_missing = 1;
    OK(context, gram_table_read_memory(context, "t.csv", csv, strlen(csv), &options, &table));
    return table;
}

/* Of a table in text. */
static taught teach_table(gram_context *context, const way *w, const char *csv)
{
    taught made = {context, NULL, NULL};
    gram_table *table = categories(context, csv);
    OK(context, way_learner(context, w, &made.learner));
    OK(context, gram_learn_table(context, made.learner, table, "t.csv", &made.model));
    gram_table_destroy(table);
    return made;
}

static void forget(taught *made)
{
    gram_learner_destroy(made->learner);
    gram_model_destroy(made->model);
}

static gram_status draw(const taught *of, const char *show, gram_picture **picture)
{
    gram_picture_options options;
    gram_picture_options_init(&options, sizeof options);
    options.show = show;
    return gram_picture_of_learner(of->context, of->learner, of->model, &options, picture);
}

static gram_picture *drawn(const taught *of, const char *show)
{
    gram_picture *picture = NULL;
    OK(of->context, draw(of, show, &picture));
    return picture;
}

/* A table with rows of x and y, and perhaps others before y. */
static const char *numbers_csv(gram_string *text, const char *header, int columns)
{
    gram_string_add(text, "%s\n", header);
    for (int i = 0; i < N; i++) {
        for (int c = 0; c < columns - 1; c++) gram_string_add(text, "%d.%d,", i * (c + 3) % 11, i * 7 % 10);
        gram_string_add(text, "%s%d.%d\n", i % 3 ? "" : "-", i * i % 5, i % 10);
    }
    return text->data;
}

static const way RIDGE = {"krr", WAY_NUMBERS, {{"method", "krr"}, WAY_KERNEL, {"lambda", "0.01"}}, 0, 0, 0};
static const way PROCESS = {"gp", WAY_NUMBERS, {{"method", "gp"}, {"kernel", "rbf(ell=0.9)+linear"}, {"noise", "0.1"}},
                            0,    0,           0};
static const way LINEAR = {"pca", WAY_NO_TARGET, {{"method", "pca"}, {"kernel", "linear"}, {"k", "2"}}, 0, 0, 0};
static const way CLUSTERS = {"kmeans", WAY_NO_TARGET, {{"method", "kmeans"}, WAY_KERNEL, {"k", "3"}}, 0, 0, 0};

/* ---- every picture of the table ---- */

static const char *const NAMES[] = {"fit", "classes", "scatter", "space",       "boxes",   "directions", "spectrum",
                                    "map", "pairs",   "views",   "eigenvalues", "descent", "convergence"};
enum { NAME_COUNT = sizeof NAMES / sizeof *NAMES };

/* Whatever a method says can be drawn of its models is drawn, the same for any number of threads, or says what it needs. */
static void draw_all(gram_context *context, gram_context *other, const way *w, int *seen)
{
    taught one = teach(context, w, N), two = teach(other, w, N);
    const char *words = gram_model_pictures(one.model);
    for (int k = 0; k < NAME_COUNT; k++) {
        gram_picture *a = NULL, *b = NULL;
        const int listed = gram_words_have(words, NAMES[k]);
        const gram_status status = draw(&one, NAMES[k], &a);
        if (!listed) REFUSED(context, status, GRAM_ERROR_ARGUMENT, "show cannot be");
        if (listed && status < 0) REFUSED(context, status, GRAM_ERROR_ARGUMENT, "plot");
        if (status < 0) {
            assert_null(a);
            assert_true(gram_context_advice(context)[0] != '\0');
            continue;
        }
        seen[k]++;
        is_whole(a);
        OK(other, draw(&two, NAMES[k], &b));
        if (strcmp(script_of(a), script_of(b)) != 0) FAIL_TEST("%s of %s depends on threads", NAMES[k], w->what);
        gram_picture_destroy(a);
        gram_picture_destroy(b);
    }
    forget(&one);
    forget(&two);
}

static void every_picture_of_every_method(void **state)
{
    gram_context *other = test_context(2, GRAM_ISA_AUTO);
    int seen[NAME_COUNT] = {0};
    for (int w = 0; w < WAYS; w++)
        if (!ways[w].slow) draw_all(*state, other, &ways[w], seen);
    for (int k = 0; k < NAME_COUNT; k++)
        if (!seen[k]) FAIL_TEST("no method draws %s", NAMES[k]);
    gram_context_destroy(other);
}

/* By default the first. */
static void the_first_by_default(void **state)
{
    taught of = teach(*state, &LINEAR, N);
    gram_picture *first = drawn(&of, NULL), *named = drawn(&of, "scatter"), *without = NULL;
    assert_string_equal(script_of(first), script_of(named));
    OK(*state, gram_picture_of_learner(*state, of.learner, of.model, NULL, &without));
    assert_string_equal(script_of(first), script_of(without));
    gram_picture_destroy(first);
    gram_picture_destroy(named);
    gram_picture_destroy(without);
    forget(&of);
}

/* ---- what they show ---- */

/* One feature: the data, and the curve that the model predicts, to the last digit. */
static void data_and_curve(void **state)
{
    gram_string text = {0};
    taught of = teach_table(*state, &RIDGE, numbers_csv(&text, "it's 5 %,\"a\nb\"", 2));
    gram_picture *picture = drawn(&of, NULL);
    double data[2 * N], curve[1200], f;
    assert_int_equal(block(picture, "data", 2 * N, data), 2 * N);
    for (int i = 0; i < N; i++) { /* x was standardised, and back */
        test_near("x", NULL, 1, &data[2 * i], (double[]){i * 3 % 11 + i * 7 % 10 / 10.0}, 1e-14);
        assert_true(data[2 * i + 1] == (i % 3 ? 1 : -1) * (i * i % 5 + i % 10 / 10.0));
    }
    assert_int_equal(block(picture, "curve", 1200, curve), 1200);
    for (int i = 0; i < 600; i += 37) {
        OK(*state, gram_predict(*state, of.model, NULL, 1, &curve[2 * i], 1, &f, 1));
        test_near("curve", NULL, 1, &curve[2 * i + 1], &f, 1e-9);
    }
    has(picture, "set xlabel 'it''s 5 %'\n"); /* a quote is doubled, and a label is no format */
    has(picture, "set ylabel 'a b'\n");       /* no line ends within */
    has(picture, " ps 0.84 ");                /* with a point, whatever the locale */
    has(picture, "set title 'rbf(ell=0.9) on data' font ',10'\n");
    gram_picture_destroy(picture);
    gram_string_free(&text);
    forget(&of);
}

/* Several features: observations against fitted values, and a bar for each feature that has a length-scale. */
static void observations_and_relevances(void **state)
{
    static const way ard = {"ard", WAY_NUMBERS, {{"method", "krr"}, {"kernel", "rbf(ell=[0.5,4])"}, {"lambda", "0.01"}},
                            0,     0,           0};
    taught of = teach(*state, &ard, N);
    gram_picture *picture = drawn(&of, NULL);
    static double plane[3 * 80 * 80];
    double pairs[2 * N], bars[6], f[N], rmse = 0;
    const char *what;
    OK(*state, gram_learner_fitted(*state, of.learner, of.model, f, &what));
    assert_int_equal(block(picture, "pairs", 2 * N, pairs), 2 * N);
    for (int i = 0; i < N; i++) {
        assert_true(pairs[2 * i] == f[i]);
        assert_true(pairs[2 * i + 1] == gram_learner_lesson(of.learner)->data->y[i]);
    }
    assert_int_equal(block(picture, "bars", 6, bars), 6);
    assert_true(bars[0] == 2 && bars[1] == 0 && bars[3] == 0.25 && bars[4] == 1);
    has(picture, "relevance, 1/ell");
    /* the score of what is drawn, and a map of two features that has what the model predicts there */
    for (int i = 0; i < N; i++) rmse += pow(pairs[2 * i + 1] - pairs[2 * i], 2) / N;
    const char *title = strstr(script_of(picture), "set title 'rmse ");
    double said = 0;
    assert_true(title && gram_number_parse(title + strlen("set title 'rmse "), 12, &said) > 0);
    assert_true(fabs(said - sqrt(rmse)) < 1e-3 * said);
    assert_int_equal(block(picture, "plane", 3 * 80 * 80, plane), 3 * 80 * 80);
    for (int c = 0; c < 80 * 80; c += 613) {
        double value = 0;
        OK(*state, gram_predict(*state, of.model, NULL, 1, plane + 3 * c, 2, &value, 1));
        test_near("map", NULL, 1, plane + 3 * c + 2, &value, 1e-9);
    }
    has(picture, "set ytics ('x1' 0, 'x2' 1)");
    has(picture, "set yrange [1.6:-0.6]\n");
    gram_picture_destroy(picture);
    forget(&of);
}

/* Two classes of three features: the curves are of rows that fits left out, with the classes' names, the area and counts. */
static void curves_of_left_out_rows(void **state)
{
    static const way both[] = {
        {"left out",
         WAY_NUMBERS,
         {{"method", "logistic"}, {"kernel", "rbf(ell=1)"}, {"lambda", "0.01"}, {"estimate", "folds:4"}},
         0,
         0,
         0},
        {"fitted",
         WAY_NUMBERS,
         {{"method", "logistic"}, {"kernel", "rbf(ell=1)"}, {"lambda", "0.01"}, {"estimate", "no"}},
         0,
         0,
         0}};
    gram_string csv = {0};
    double areas[2];
    gram_string_add(&csv, "a,b,c,kind\n");
    for (int i = 0; i < 80; i++)
        gram_string_add(&csv, "%d,%d,%d,%s\n", i * 7 % 23, i * 11 % 17, i * 5 % 13,
                        (i * 7 % 23 > 11) != (i * 3 % 7 == 0) ? "yes" : "no");
    for (int k = 0; k < 2; k++) {
        taught of = teach_table(*state, &both[k], csv.data);
        gram_picture *picture = drawn(&of, NULL);
        double roc[2 * 90], bins[30], rows = 0, area = 0;
        const int64_t count = block(picture, "roc", 2 * 90, roc) / 2, filled = block(picture, "bins", 30, bins) / 3;
        for (int64_t i = 1; i < count; i++)
            area += (roc[2 * i] - roc[2 * i - 2]) * (roc[2 * i + 1] + roc[2 * i - 1]) / 2;
        for (int64_t i = 0; i < filled; i++) rows += bins[3 * i + 2];
        assert_true(rows == 2 * 80); /* each row has two probabilities */
        has(picture, k == 0 ? "left-out rows" : "rows of the fit");
        has(picture, "'false positive rate (no taken for yes)");
        has(picture, "'true positive rate (yes found)");
        const char *title = strstr(script_of(picture), "AUC ");
        assert_true(title && gram_number_parse(title + 4, 8, &areas[k]) > 0 && fabs(areas[k] - area) < 1e-3);
        gram_picture_destroy(picture);
        forget(&of);
    }
    assert_true(areas[0] < areas[1] - 0.02); /* what the fit says of its own rows flatters */
    gram_string_free(&csv);
}

/* Long numbers do not run into each other: at most five tics. */
static void few_tics(void **state)
{
    static const struct {
        double from, to;
        const char *tics;
    } cases[] = {{-2000, 16000, "set xtics 5000\n"}, {0, 1, "set xtics 0.25\n"}, {0, 7, "set xtics 2\n"}, {3, 3, ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gram_string script = {0};
        gram_script_few_tics(&script, "x", cases[i].from, cases[i].to);
        assert_string_equal(script.data ? script.data : "", cases[i].tics);
        gram_string_free(&script);
    }
}

/* An additive model: each component over its own feature is what the model says of that term, with its band where it knows one. */
static void components_of_sums(void **state)
{
    static const way sums[] = {
        {"gp",
         WAY_NUMBERS,
         {{"method", "gp"}, {"kernel", "2*on(2, rbf(ell=1)) + on(1, rbf(ell=2))"}, {"noise", "0.1"}},
         0,
         0,
         0},
        {"krr",
         WAY_NUMBERS,
         {{"method", "krr"}, {"kernel", "2*on(2, rbf(ell=1)) + on(1, rbf(ell=2))"}, {"lambda", "0.1"}},
         0,
         0,
         0},
        {"spline", WAY_NUMBERS, {{"method", "spline"}, {"lambda", "0.01"}}, 0, 0, 0}};
    for (int k = 0; k < 3; k++) {
        taught of = teach(*state, &sums[k], N);
        gram_picture *picture = drawn(&of, NULL);
        const int own[2] = {k < 2 ? 1 : 0, k < 2 ? 0 : 1}, stride = k == 1 ? 1 : 2;
        gram_predict_options wish;
        double block0[800], block1[800], x[2], values[8];
        gram_predict_options_init(&wish, sizeof wish);
        wish.terms = 1;
        assert_int_equal(block(picture, "term0", 800, block0), 800);
        assert_int_equal(block(picture, "term1", 800, block1), 800);
        for (int i = 0; i < 200; i += 13) {
            x[own[0]] = block0[4 * i];
            x[own[1]] = block1[4 * (199 - i)]; /* the other feature does not matter */
            OK(*state, gram_predict(*state, of.model, &wish, 1, x, 2, values, 8));
            const double half = stride == 2 ? 1.959963984540054 * values[2] : 0;
            test_near("lower", sums[k].what, 1, &block0[4 * i + 1], (double[]){values[1] - half}, 1e-9);
            test_near("upper", sums[k].what, 1, &block0[4 * i + 2], (double[]){values[1] + half}, 1e-9);
            test_near("middle", sums[k].what, 1, &block1[4 * (199 - i) + 3], &values[1 + stride], 1e-9);
        }
        has(picture, own[0] ? "set ylabel 'component of x2'" : "set ylabel 'component of x1'");
        if (stride == 1) has_not(picture, "$term0 using 1:2:3");
        gram_picture_destroy(picture);
        forget(&of);
    }
}

/* Principal directions of a linear kernel: the mean less and plus two deviations, which is the covariance again. */
static void arrows_are_two_deviations(void **state)
{
    taught of = teach(*state, &LINEAR, N);
    gram_picture *picture = drawn(&of, "directions");
    const gram_lesson *lesson = gram_learner_lesson(of.learner);
    double arrows[8], mean[2] = {0}, covariance[3] = {0}, back[3] = {0};
    assert_int_equal(block(picture, "arrows", 8, arrows), 8);
    for (int i = 0; i < N; i++)
        for (int l = 0; l < 2; l++)
            mean[l] += gram_preparation_unit(lesson->preparation, l, lesson->data->x[2 * i + l]) / N;
    for (int i = 0; i < N; i++) {
        double x[2];
        for (int l = 0; l < 2; l++)
            x[l] = gram_preparation_unit(lesson->preparation, l, lesson->data->x[2 * i + l]) - mean[l];
        covariance[0] += x[0] * x[0] / N;
        covariance[1] += x[0] * x[1] / N;
        covariance[2] += x[1] * x[1] / N;
    }
    for (int s = 0; s < 2; s++) { /* four deviations from end to end */
        const double *a = arrows + 4 * s;
        back[0] += a[2] * a[2] / 16;
        back[1] += a[2] * a[3] / 16;
        back[2] += a[3] * a[3] / 16;
        assert_true(fabs(a[0] + a[2] / 2 - mean[0]) < 1e-9 && fabs(a[1] + a[3] / 2 - mean[1]) < 1e-9);
    }
    test_near("covariance", NULL, 3, back, covariance, 1e-9);
    gram_picture_destroy(picture);
    forget(&of);
}

/* Points are in the group that the column of a table says, rows without a value in none. */
static void groups_of_a_column(void **state)
{
    static const char csv[] = "a,b,kind\n0,1,oak\n3,2,ash\n1,1,oak\n5,5,\n2,7,elm\n4,4,oak\n";
    static const way some = {"pca", WAY_NO_TARGET, {{"method", "pca"}, {"kernel", "linear"}, {"features", "a,b"}}, 0, 0,
                             0};
    taught of = teach_table(*state, &some, csv);
    gram_picture_options options;
    gram_picture *picture = NULL;
    gram_table *table = categories(*state, csv);
    double rows[18];
    gram_picture_options_init(&options, sizeof options);
    options.table = table;
    options.column = 2;
    OK(*state, gram_picture_of_learner(*state, of.learner, of.model, &options, &picture));
    assert_int_equal(block(picture, "group0", 18, rows), 3); /* ash: two coordinates and the group */
    assert_int_equal(block(picture, "group1", 18, rows), 3); /* elm */
    assert_int_equal(block(picture, "group2", 18, rows), 9); /* oak */
    has(picture, "title 'ash', $group1");
    has_not(picture, "$group3");
    gram_picture_destroy(picture);
    options.column = 0; /* whole numbers are groups as well */
    options.show = "boxes";
    OK(*state, gram_picture_of_learner(*state, of.learner, of.model, &options, &picture));
    has(picture, "'0' 0, '1' 1, '2' 2, '3' 3, '4' 4, '5' 5)");
    gram_picture_destroy(picture);
    gram_table_destroy(table);
    forget(&of);
}

/* A map of clusters is of the features if there are two, else of principal components. */
static void maps_of_clusters(void **state)
{
    gram_string text = {0};
    static double cells[3 * 160 * 160];
    taught plane = teach(*state, &CLUSTERS, N), space = teach_table(*state, &CLUSTERS, numbers_csv(&text, "a,b,c", 3));
    gram_picture *a = drawn(&plane, NULL), *b = drawn(&space, NULL);
    has(a, "set xlabel 'x1'\n");
    has(b, "set xlabel 'pc1'\n");
    assert_int_equal(block(a, "frame", 3 * 160 * 160, cells), 3 * 160 * 160);
    for (int c = 0; c < 160 * 160; c++) assert_true(cells[3 * c + 2] >= 0 && cells[3 * c + 2] < 3);
    gram_picture_destroy(a);
    gram_picture_destroy(b);
    gram_string_free(&text);
    forget(&plane);
    forget(&space);
}

/* Colours by another column leave the areas grey, and say in words which is which. */
static void maps_of_other_colours(void **state)
{
    static const char csv[] = "a,b,kind,size\n0,1,oak,1.5\n9,2,ash,2.5\n1,1,oak,3\n8,1,elm,7\n2,2,elm,4.5\n9,4,oak,5\n";
    static const way two = {
        "kmeans", WAY_NO_TARGET, {{"method", "kmeans"}, {"kernel", "linear"}, {"k", "2"}, {"features", "a,b"}}, 0, 0,
        0};
    taught of = teach_table(*state, &two, csv);
    gram_picture *plain = drawn(&of, NULL), *picture = NULL;
    gram_picture_options options;
    gram_table *table = categories(*state, csv);
    has_not(plain, "set label 'cluster");
    has_not(plain, "0xf4f4f4");
    gram_picture_options_init(&options, sizeof options);
    options.table = table;
    for (options.column = 2; options.column < 4; options.column++) {
        OK(*state, gram_picture_of_learner(*state, of.learner, of.model, &options, &picture));
        is_whole(picture);
        has(picture, "tints = ' 0xf4f4f4 0xe2e2e2 ");
        has(picture, "set label 'cluster 1' at ");
        has(picture, "set label 'cluster 2' at ");
        has(picture, options.column == 2 ? "title 'ash'" : "lc palette");
        if (options.column == 3) has(picture, "set cblabel 'size'\n");
        gram_picture_destroy(picture);
    }
    gram_picture_destroy(plain);
    gram_table_destroy(table);
    forget(&of);
}

/* Of two clusters by a linear kernel the border is known: the places that are as far from the mean of one as from that of the other. */
static void borders_are_where_labels_change(void **state)
{
    enum { SIDE = 160, MOST = 8 * SIDE * SIDE };
    static const way two = {"kmeans", WAY_NO_TARGET, {{"method", "kmeans"}, {"kernel", "linear"}, {"k", "2"}}, 0, 0, 0};
    static double borders[MOST];
    taught of = teach(*state, &two, N);
    const gram_lesson *lesson = gram_learner_lesson(of.learner);
    gram_picture *picture = drawn(&of, NULL);
    double labels[N], mean[2][2] = {{0}}, count[2] = {0}, low[2] = {INFINITY, INFINITY},
                      high[2] = {-INFINITY, -INFINITY};
    OK(*state, gram_learner_values(*state, of.learner, of.model, labels, 1));
    for (int i = 0; i < N; i++) count[(int)labels[i] - 1]++;
    for (int i = 0; i < 2 * N; i++) {
        const int c = (int)labels[i / 2] - 1;
        mean[c][i % 2] += lesson->data->x[i] / count[c];
        low[i % 2] = fmin(low[i % 2], lesson->data->x[i]);
        high[i % 2] = fmax(high[i % 2], lesson->data->x[i]);
    }
    const double u[] = {mean[1][0] - mean[0][0], mean[1][1] - mean[0][1]}, length = hypot(u[0], u[1]);
    const double cell =
        1.12 * fmax(high[0] - low[0], high[1] - low[1]) / SIDE; /* the frame has 6 % more on each side */
    const int64_t numbers = block(picture, "borders", MOST, borders);
    assert_true(numbers > 4 * 100 && numbers % 4 == 0);
    for (int64_t k = 0; k < numbers; k += 2) {
        double x[2], off = 0;
        gram_preparation_scale(lesson->preparation, 1, &borders[k], 2, x);
        const int inside = x[0] > low[0] && x[0] < high[0] && x[1] > low[1] && x[1] < high[1];
        for (int axis = 0; axis < 2; axis++) off += (x[axis] - (mean[0][axis] + mean[1][axis]) / 2) * u[axis] / length;
        if (inside && fabs(off) > 0.01 * cell) FAIL_TEST("a border is %g cells beside the border", off / cell);
    }
    gram_picture_destroy(picture);
    forget(&of);
}

/* Two views: both kernels in the caption, in short digits; and coordinate 2 of the rows if the first of two is the same for all. */
static void two_views(void **state)
{
    static const way cca = {"cca",
                            WAY_NO_TARGET,
                            {{"method", "cca"},
                             {"x", "x1"},
                             {"y", "x2"},
                             {"kernel-x", "rbf(ell=1.23456789)"},
                             {"kernel-y", "matern(nu=1.5, ell=0.1)"},
                             {"kappa", "0.1"}},
                            0,
                            0,
                            0};
    static const way even = {
        "couple",
        WAY_NO_TARGET,
        {{"method", "couple"}, {"a", "x1"}, {"b", "x2"}, {"kernel", "rbf(ell=50)"}, {"gamma", "1"}, {"k", "2"}},
        0,
        0,
        0};
    taught pairs = teach(*state, &cca, N), views = teach(*state, &even, N);
    gram_picture *a = drawn(&pairs, NULL), *b = drawn(&views, NULL);
    has(a, "set title 'rbf(ell=1.235) and matern(nu=1.5, ell=0.1) on data' font ',10'\n");
    has(b, "unset xtics\n");
    has(b, "$group0 using (0+0.8*(($0+0.5)/30-0.5)):2 with points");
    has(b, "$group0 using (0+0.8*(($0+0.5)/30-0.5)):4 with points");
    gram_picture_destroy(a);
    gram_picture_destroy(b);
    forget(&pairs);
    forget(&views);
}

/* Over one feature: eigenfunctions, and the functions of a network. */
static void functions_of_one_feature(void **state)
{
    static const way mercer = {"mercer", WAY_NO_TARGET, {{"method", "mercer"}, WAY_KERNEL, {"k", "3"}}, 0, 0, 0};
    static const way net = {"net", WAY_NUMBERS, {{"method", "net"}, {"width", "8"}, {"steps", "9"}}, 0, 0, 0};
    gram_string line = {0}, pair = {0};
    static double curves[4 * 400];
    double values[64];
    gram_string_add(&line, "x\n");
    for (int i = 0; i < N; i++) gram_string_add(&line, "%d\n", i * i % 17);
    taught a = teach_table(*state, &mercer, line.data), b = teach_table(*state, &net, numbers_csv(&pair, "x,y", 2));
    gram_picture *first = drawn(&a, NULL), *second = drawn(&b, NULL);
    assert_int_equal(block(first, "curves", 4 * 400, curves), 4 * 400);
    for (int i = 0; i < 400; i += 57) {
        OK(*state, gram_predict(*state, a.model, NULL, 1, &curves[4 * i], 1, values, 3));
        test_near("eigenfunctions", NULL, 3, &curves[4 * i + 1], values, 1e-9);
    }
    assert_int_equal(block(second, "rows", 64, values), 2 * N);
    has(second, "set multiplot layout 1,3\n");
    gram_picture_destroy(first);
    gram_picture_destroy(second);
    gram_string_free(&line);
    gram_string_free(&pair);
    forget(&a);
    forget(&b);
}

/* ---- features ---- */

/* Errors fall as frequencies are added, and are those that the library finds. */
static void growing_features(void **state)
{
    static const way FOURIER = {
        "features", WAY_NO_TARGET, {{"method", "feature-map"}, WAY_KERNEL, {"fourier", "512"}}, 0, 0, 0};
    gram_features *map = NULL;
    gram_features_step steps[GRAM_FEATURES_STEPS];
    double found[3 * GRAM_FEATURES_STEPS];
    int64_t count = 0;
    taught of = teach(*state, &FOURIER, N);
    const gram_prepared *data = gram_learner_lesson(of.learner)->data;
    gram_picture *picture = drawn(&of, NULL);
    is_whole(picture);
    has(picture, "1/sqrt(x)");
    OK(of.context, gram_features_of_model(of.context, of.model, &map));
    OK(of.context, gram_features_convergence(of.context, map, data->n, data->x, data->d, &count, steps));
    assert_int_equal(block(picture, "steps", 3 * GRAM_FEATURES_STEPS, found), 3 * count);
    for (int64_t i = 0; i < count; i++)
        assert_true(found[3 * i] == (double)steps[i].features && found[3 * i + 1] == steps[i].rms &&
                    found[3 * i + 2] == steps[i].largest);
    assert_true(count == 9 && steps[8].rms < 0.2 * steps[0].rms);
    gram_features_destroy(map);
    gram_picture_destroy(picture);
    forget(&of);
}

/* ---- differential equations ---- */

static const way COLLOCATION = {
    "solve", WAY_NUMBERS, {{"method", "solve"}, {"kind", "kind"}, {"kernel", "matern(nu=4.5, ell=1)"}}, 0, 0, 0};

/* What a model says at a place: its first column, or its deviation. */
static void check_at(const taught *of, int64_t d, const double *at, double f, double deviation)
{
    gram_predict_options wish;
    double row[2];
    gram_predict_options_init(&wish, sizeof wish);
    wish.std = 1;
    OK(of->context, gram_predict(of->context, of->model, &wish, 1, at, d, row, 2));
    test_near("solution", NULL, 1, &f, row, 1e-9);
    test_near("deviation", NULL, 1, &deviation, row + 1, 1e-6);
}

/* Over one feature u'' = -1, u(0) = u(1) = 0: the curve, its deviation, and the rows. */
static void solutions_on_a_line(void **state)
{
    static const char csv[] = "x,kind,u\n0,value,0\n0.25,d:x:x,-1\n0.5,d:x:x,-1\n0.75,d:x:x,-1\n1,value,0\n";
    static double curve[3 * 400];
    double rows[10];
    taught of = teach_table(*state, &COLLOCATION, csv);
    assert_string_equal(gram_model_pictures(of.model), "solution");
    gram_picture *picture = drawn(&of, NULL);
    is_whole(picture);
    assert_int_equal(block(picture, "solution", 3 * 400, curve), 3 * 400);
    for (int i = 0; i < 400; i += 57) check_at(&of, 1, curve + 3 * i, curve[3 * i + 1], curve[3 * i + 2]);
    assert_true(fabs(curve[3 * 200 + 1] - 0.125) < 0.01);
    assert_int_equal(block(picture, "values", 10, rows), 4);
    assert_true(rows[0] == 0 && rows[2] == 1);
    assert_int_equal(block(picture, "equations", 10, rows), 6);
    gram_picture_destroy(picture);
    forget(&of);
}

/* Over two features: nothing is said of the corner that the rows leave free, and the model's values elsewhere. */
static void solutions_in_a_plane(void **state)
{
    enum { SIDE = 96 };
    static const char csv[] = "x,y,kind,u\n0,0,value,0\n1,0,value,0\n0,1,value,0\n0.3,0.3,laplacian,-2\n"
                              "0.5,0.2,laplacian,-2\n0.2,0.5,laplacian,-2\n";
    static double solution[3 * SIDE * SIDE], deviation[3 * SIDE * SIDE];
    taught of = teach_table(*state, &COLLOCATION, csv);
    gram_picture *picture = drawn(&of, NULL);
    int64_t inside = 0;
    has(picture, "1 1 NaN\n");
    assert_int_equal(block(picture, "solution", 3 * SIDE * SIDE, solution), 3 * SIDE * SIDE);
    assert_int_equal(block(picture, "deviation", 3 * SIDE * SIDE, deviation), 3 * SIDE * SIDE);
    for (int c = 0; c < SIDE * SIDE; c++) {
        const double *at = solution + 3 * c;
        assert_int_equal(isnan(at[2]), at[0] + at[1] > 1 + 1e-9);
        inside += !isnan(at[2]);
        if (c % 977 == 0 && !isnan(at[2])) check_at(&of, 2, at, at[2], deviation[3 * c + 2]);
    }
    assert_int_equal(inside, SIDE * (SIDE + 1) / 2);
    gram_picture_destroy(picture);
    forget(&of);
}

static void solutions_in_space(void **state)
{
    static const char csv[] = "x,y,z,kind,u\n0,0,0,value,0\n1,0,0,value,0\n0.3,0.3,1,laplacian,-2\n";
    taught of = teach_table(*state, &COLLOCATION, csv);
    gram_picture *picture = NULL;
    REFUSED(*state, draw(&of, NULL, &picture), GRAM_ERROR_ARGUMENT, "solution needs one or two features");
    forget(&of);
}

/* ---- predictions ---- */

/* Rows with or without targets, in pieces of `piece` rows. */
static gram_status predict_picture(gram_context *context, const gram_model *model, int64_t n, const double *x,
                                   const double *y, int64_t piece, int terms, gram_picture **picture)
{
    gram_predict_options wish;
    gram_picture_options options;
    gram_predictor *predictor = NULL;
    gram_seen_rows *rows = NULL;
    gram_predict_options_init(&wish, sizeof wish);
    gram_picture_options_init(&options, sizeof options);
    options.data = "new.csv";
    options.terms = terms;
    gram_status status = gram_predictor_create(context, model, &wish, &predictor);
    const int64_t d = predictor ? gram_preparation_dimension(gram_predictor_preparation(predictor)) : 1;
    const int64_t ld = predictor ? gram_predictor_columns(predictor)->ld : 1;
    double *values = malloc((size_t)(n * ld) * sizeof *values);
    if (status >= 0) status = gram_seen_rows_create(context, predictor, &rows);
    for (int64_t i = 0; i < n && status >= 0; i += piece) {
        const int64_t count = n - i < piece ? n - i : piece;
        const gram_prepared data = {
            .n = count, .d = d, .table_rows = count, .x = x + i * d, .targets = y != NULL, .y = y ? y + i : NULL};
        const gram_predicted some = {&data, values, i, NULL};
        status = gram_predictor_evaluate(context, predictor, count, data.x, NULL, values, ld);
        if (status >= 0) status = gram_seen_rows_add(context, rows, &some);
    }
    if (status >= 0) status = gram_picture_of_predictions(context, rows, &options, picture);
    free(values);
    gram_seen_rows_destroy(rows);
    gram_predictor_destroy(predictor);
    return status;
}

static void predictions_in_pieces(void **state)
{
    static const way svm = {"svm", WAY_TWO_CLASSES, {{"method", "svm"}, WAY_KERNEL, {"C", "3"}}, 0, 0, 0};
    const way *kinds[] = {&RIDGE, &svm};
    for (int k = 0; k < 2; k++) {
        taught of = teach(*state, kinds[k], N);
        const gram_prepared *data = gram_learner_lesson(of.learner)->data;
        gram_picture *a = NULL, *b = NULL;
        OK(*state, predict_picture(*state, of.model, N, data->x, data->y, N, 0, &a));
        OK(*state, predict_picture(*state, of.model, N, data->x, data->y, 7, 0, &b));
        assert_string_equal(script_of(a), script_of(b));
        is_whole(a);
        gram_picture_destroy(a);
        gram_picture_destroy(b);
        REFUSED(*state, predict_picture(*state, of.model, N, data->x, NULL, N, 0, &a), GRAM_ERROR_DATA,
                k == 0 ? "new.csv: plot needs the target, which is missing"
                       : "new.csv: plot needs the classes of the rows");
        forget(&of);
    }
}

/* A Gaussian process over one feature: bands and terms, whether observations are known or not. */
static void posteriors(void **state)
{
    static double panel[4 * 800];
    gram_string text = {0};
    taught of = teach_table(*state, &PROCESS, numbers_csv(&text, "x,y", 2));
    const gram_prepared *data = gram_learner_lesson(of.learner)->data;
    gram_picture *picture = NULL;
    gram_predict_options wish;
    double row[3];
    OK(*state, predict_picture(*state, of.model, N, data->x, NULL, N, 1, &picture));
    is_whole(picture);
    assert_int_equal(block(picture, "panel2", 4 * 800, panel), 4 * 800);
    assert_int_equal(block(picture, "panel0", 4 * 800, panel), 4 * 800);
    gram_predict_options_init(&wish, sizeof wish);
    wish.interval = 0.95;
    for (int i = 0; i < 800; i += 111) { /* x, lower, upper, mean against mean, lower, upper */
        OK(*state, gram_predict(*state, of.model, &wish, 1, &panel[4 * i], 1, row, 3));
        test_near("posterior", NULL, 3, (double[]){panel[4 * i + 3], panel[4 * i + 1], panel[4 * i + 2]}, row, 1e-6);
    }
    has(picture, "set origin 0,0.475000\nset size 1,0.525000\n"); /* 420 of 800: with a point, too */
    gram_picture_destroy(picture);
    REFUSED(*state, predict_picture(*state, of.model, 1, data->x, NULL, 1, 0, &picture), GRAM_ERROR_DATA,
            "new.csv: plot needs at least two different values of the feature");
    gram_string_free(&text);
    forget(&of);
}

/* ---- what is not a model ---- */

static gram_sample *sample_of(gram_context *context, const char *name, const char *lists)
{
    const char *const columns[] = {"a", lists};
    gram_sample *sample = NULL;
    OK(context, gram_sample_read(context, name, NULL, 2, columns, &sample));
    return sample;
}

/* A file of N rows; `moved` moves them. */
static void write_rows(const char *path, const char *header, int columns, int moved)
{
    gram_string text = {0};
    gram_string_add(&text, "%s\n", header);
    for (int i = 0; i < N; i++)
        for (int c = 0; c < columns; c++)
            gram_string_add(&text, "%d%s", (i * (7 + c) + i * i * c) % 19 + moved * (i % 2),
                            c + 1 < columns ? "," : "\n");
    test_write_file(path, text.data, text.length);
    gram_string_free(&text);
}

static gram_picture *two_samples(gram_context *context, int columns)
{
    static const char *const headers[] = {"", "a", "a,b", "a,b,c"};
    gram_sample *pair[2];
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)");
    gram_picture *picture = NULL;
    double score[3];
    int64_t order[3];
    write_rows("one.csv", headers[columns], columns, 0);
    write_rows("other.csv", headers[columns], columns, 5);
    OK(context, gram_sample_read_pair(context, "one.csv", "other.csv", NULL, pair));
    OK(context, gram_mmd_columns(context, gram_sample_get_report(pair[0])->groups[0].points,
                                 gram_sample_get_report(pair[1])->groups[0].points, score, order));
    OK(context, gram_picture_of_two_samples(context, pair[0], pair[1], kernel, 0.5, score, order, &picture));
    is_whole(picture);
    has(picture, "'one.csv and other.csv: p = 0.5, rbf(ell=1)'");
    if (columns == 3) {
        double bars[6];
        assert_int_equal(block(picture, "bars", 6, bars), 6);
        for (int i = 0; i < 3; i++) assert_true(bars[2 * i + 1] == score[order[i]]);
    }
    gram_sample_destroy(pair[0]);
    gram_sample_destroy(pair[1]);
    gram_kernel_release(kernel);
    return picture;
}

static void samples_by_their_columns(void **state)
{
    static double lines[4 * 400];
    double area = 0;
    gram_picture *line = two_samples(*state, 1), *plane = two_samples(*state, 2), *many = two_samples(*state, 3);
    assert_int_equal(block(line, "lines", 4 * 400, lines), 4 * 400);
    for (int i = 1; i < 400; i++) area += (lines[4 * i] - lines[4 * i - 4]) * (lines[4 * i + 1] + lines[4 * i - 3]) / 2;
    assert_true(area > 0.8 && area < 1.01); /* a density; its tails are cut */
    has(plane, "$first using 1:2");
    gram_picture_destroy(line);
    gram_picture_destroy(plane);
    gram_picture_destroy(many);
}

static void columns_that_depend(void **state)
{
    gram_context *context = *state;
    write_rows("pairs.csv", "a,b,c", 3, 0);
    gram_sample *sample = sample_of(context, "pairs.csv", "b,c");
    gram_kernel *kernels[] = {test_kernel(context, "rbf(ell=1)"), test_kernel(context, "rbf(ell=2)")};
    gram_picture *picture = NULL;
    double rows[2 * N];
    OK(context, gram_picture_of_dependence(context, sample, kernels, 0.01, &picture));
    assert_int_equal(block(picture, "rows", 2 * N, rows), 2 * N);
    for (int i = 0; i < N; i++) test_near("a", NULL, 1, &rows[2 * i], (double[]){i * 7 % 19}, 1e-12);
    has(picture, "'independence: p = 0.01, rbf(ell=1), rbf(ell=2)'");
    gram_picture_destroy(picture);
    gram_sample_destroy(sample);
    OK(context, gram_sample_read(context, "pairs.csv", NULL, 0, NULL, &sample));
    REFUSED(context, gram_picture_of_dependence(context, sample, kernels, 0.01, &picture), GRAM_ERROR_ARGUMENT,
            "1 group of columns");
    gram_sample_destroy(sample);
    for (int g = 0; g < 2; g++) gram_kernel_release(kernels[g]);
}

static void histograms_and_choices(void **state)
{
    static const double bootstrap[] = {-1, 0, 0.25, 0.5, 3};
    gram_context *context = *state;
    gram_scored_points *scored = NULL;
    gram_picture *picture = NULL;
    const int64_t index[] = {4, 2}, wrong[] = {1, N};
    double bars[80], sum = 0, chosen[4];
    write_rows("points.csv", "a,b", 2, 0);
    OK(context, gram_scored_points_read(context, "points.csv", NULL, &scored));
    OK(context, gram_picture_of_fit_test(context, scored, 7, 2.5, 5, bootstrap, &picture));
    assert_int_equal(block(picture, "bars", 80, bars), 80);
    for (int b = 0; b < 40; b++) sum += bars[2 * b + 1];
    assert_true(sum == 5 && bars[0] == -0.9 && bars[1] == 1);
    has(picture, "set arrow from 7, graph 0 to 7, graph 1 nohead lw 2");
    gram_picture_destroy(picture);
    OK(context, gram_picture_of_choice(context, scored, 2, index, &picture));
    assert_int_equal(block(picture, "chosen", 4, chosen), 4);
    assert_true(chosen[0] == 4 * 7 % 19 && chosen[2] == 2 * 7 % 19);
    gram_picture_destroy(picture);
    REFUSED(context, gram_picture_of_choice(context, scored, 2, wrong, &picture), GRAM_ERROR_ARGUMENT, "index[1] = 30");
    REFUSED(context, gram_picture_of_fit_test(context, scored, 7, 2.5, 0, bootstrap, &picture), GRAM_ERROR_ARGUMENT,
            "draws = 0");
    gram_scored_points_destroy(scored);
}

static void spectra_and_densities(void **state)
{
    static const double x[] = {1, 2, 4}, w[] = {0, 1, 2}, zero[] = {0, 0};
    gram_context *context = *state;
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)"), *flat = test_kernel(context, "linear");
    gram_points *points = test_points(context, 3, 1, x), *origin = test_points(context, 2, 1, zero);
    gram_spectrum *spectrum = NULL, *none = NULL;
    gram_spectral_density *density = NULL;
    gram_picture *picture = NULL;
    double values[6], s[3], curve[6];
    OK(context, gram_spectrum_create(context, kernel, points, NULL, &spectrum));
    OK(context, gram_picture_of_spectrum(context, kernel, "a/b.csv", spectrum, 2, &picture));
    assert_int_equal(block(picture, "values", 6, values), 4);
    for (int i = 0; i < 2; i++) assert_true(values[2 * i + 1] == gram_spectrum_get_report(spectrum)->values[i]);
    has(picture, "'rbf(ell=1) on b.csv'");
    gram_picture_destroy(picture);
    OK(context, gram_spectrum_create(context, flat, origin, NULL, &none));
    REFUSED(context, gram_picture_of_spectrum(context, flat, "x", none, 2, &picture), GRAM_ERROR_NUMERICAL,
            "no eigenvalue is positive");
    OK(context, gram_spectral_density_create(context, kernel, 1, NULL, &density));
    OK(context, gram_spectral_density_values(context, density, 3, w, s));
    OK(context, gram_picture_of_density(context, kernel, density, 3, w, s, &picture));
    assert_int_equal(block(picture, "density", 6, curve), 6);
    for (int i = 0; i < 3; i++) /* of a Gaussian, by its formula */
        test_near("density", NULL, 1, &curve[2 * i + 1], (double[]){exp(-w[i] * w[i] / 2) / sqrt(2 * acos(-1))}, 1e-12);
    has_not(picture, "mass of atoms");
    gram_picture_destroy(picture);
    gram_spectral_density_destroy(density);
    gram_spectrum_destroy(spectrum);
    gram_spectrum_destroy(none);
    gram_points_release(points);
    gram_points_release(origin);
    gram_kernel_release(kernel);
    gram_kernel_release(flat);
}

static void draws_at_grids(void **state)
{
    static const char *const grids[] = {"0:1:3", "0:1:3,0:1:3", "0:1:3,0:1:3,0:1:3"};
    static const int64_t counts[] = {3, 9, 27};
    gram_context *context = *state;
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)");
    double values[54], mean[27], std[27], rows[27];
    for (int i = 0; i < 54; i++) values[i] = i;
    for (int i = 0; i < 27; i++) mean[i] = 0, std[i] = 1;
    for (int g = 0; g < 3; g++) {
        gram_draw_points *points = NULL;
        gram_picture *picture = NULL;
        OK(context, gram_draw_points_of_grid(context, grids[g], NULL, &points));
        assert_int_equal(gram_draw_points_get_report(points)->n, counts[g]);
        const gram_status status = gram_picture_of_draws(context, points, kernel, NULL, 2, values, mean, std, &picture);
        if (g == 2) REFUSED(context, status, GRAM_ERROR_ARGUMENT, "grids of one or two dimensions");
        if (g < 2) OK(context, status);
        if (g == 0) assert_int_equal(block(picture, "curves", 27, rows), 18);
        if (g == 0) assert_true(rows[0] == 0 && rows[1] == -1.96 && rows[4] == 0 && rows[11] == 3);
        if (g == 1) assert_int_equal(block(picture, "map1", 27, rows), 27);
        if (g == 1) assert_true(rows[26] == 17);
        gram_picture_destroy(picture);
        gram_draw_points_destroy(points);
    }
    gram_kernel_release(kernel);
}

/* ---- bad use ---- */

/* One variable: the textbook's picture; several: convergence and slices. */
static void studies(void **state)
{
    gram_context *context = *state;
    const gram_variable variables[] = {{"a'b", GRAM_VARIABLE_LOG, 0.1, 10, 0, NULL},
                                       {"n", GRAM_VARIABLE_INTEGER, 0, 4, 0, NULL}};
    for (int64_t d = 1; d <= 2; d++) {
        gram_study *study = NULL;
        gram_picture *picture = NULL;
        double x[2], history[18];
        OK(context, gram_study_create(context, d, variables, NULL, &study));
        REFUSED(context, gram_picture_of_study(context, study, &picture), GRAM_ERROR_ARGUMENT, "no evaluation");
        for (int i = 0; i < 6; i++) {
            OK(context, gram_study_ask(context, study, x, NULL));
            OK(context, gram_study_tell(context, study, i, 6 - i, NULL));
        }
        OK(context, gram_picture_of_study(context, study, &picture));
        assert_int_equal(block(picture, "history", 18, history), 18);
        for (int i = 0; i < 6; i++) assert_true(history[3 * i] == i + 1 && history[3 * i + 2] == 6 - i);
        has(picture, "95 % band");
        (d == 1 ? has : has_not)(picture, "'next point'");
        (d == 2 ? has : has_not)(picture, "'n'");
        gram_picture_destroy(picture);
        gram_study_destroy(study);
    }
}

static void refusals(void **state)
{
    static const way one = {"pca", WAY_NO_TARGET, {{"method", "pca"}, {"kernel", "linear"}, {"k", "1"}}, 0, 0, 0};
    static const way plain = {"embed", WAY_NO_TARGET, {{"method", "embed"}, WAY_KERNEL}, 0, 0, 0};
    gram_context *context = *state;
    gram_picture *picture = NULL;
    gram_seen_rows *rows = NULL;
    gram_learner *empty = NULL;
    taught of = teach(context, &one, N), without = teach(context, &plain, N);
    gram_picture_options options;
    REFUSED(context, draw(&of, "scatter", &picture), GRAM_ERROR_ARGUMENT, "plot: scatter needs two components");
    assert_string_equal(gram_context_advice(context), "Choose another with show, or leave plot out.");
    gram_picture_options_init(&options, sizeof options);
    options.dashes = "--";
    options.show = "space";
    REFUSED(context, gram_picture_of_learner(context, of.learner, of.model, &options, &picture), GRAM_ERROR_ARGUMENT,
            "--plot: space needs three components: -k 3");
    assert_string_equal(gram_context_advice(context), "Choose another with --show, or leave --plot out.");
    REFUSED(context, draw(&of, "sculpture", &picture), GRAM_ERROR_ARGUMENT, "show cannot be 'sculpture'");
    assert_non_null(strstr(gram_context_advice(context), "scatter space boxes"));
    assert_string_equal(gram_model_pictures(without.model), "");
    REFUSED(context, draw(&without, NULL, &picture), GRAM_ERROR_ARGUMENT, "show cannot be ''");
    OK(context, gram_learner_create(context, &empty));
    REFUSED(context, gram_picture_of_learner(context, empty, of.model, NULL, &picture), GRAM_ERROR_ARGUMENT,
            "has not learnt");
    REFUSED(context, gram_picture_of_learner(context, NULL, NULL, NULL, &picture), GRAM_ERROR_ARGUMENT, "is NULL");
    REFUSED(context, gram_seen_rows_create(context, NULL, &rows), GRAM_ERROR_ARGUMENT, "predictor is NULL");
    REFUSED(context, gram_picture_of_predictions(context, NULL, NULL, &picture), GRAM_ERROR_ARGUMENT, "rows is NULL");
    REFUSED(context, gram_picture_of_spectrum(context, NULL, "x", NULL, 1, &picture), GRAM_ERROR_ARGUMENT, "NULL");
    REFUSED(context, gram_picture_of_density(context, NULL, NULL, 1, NULL, NULL, &picture), GRAM_ERROR_ARGUMENT,
            "NULL");
    assert_null(picture);
    gram_picture_destroy(NULL);
    gram_seen_rows_destroy(NULL);
    gram_learner_destroy(empty);
    forget(&of);
    forget(&without);
}

/* ---- every allocation ---- */

static taught known[3];
static int known_count;

static gram_status play(gram_context *context)
{
    gram_status status = GRAM_OK;
    for (int k = 0; k < known_count && status >= 0; k++) {
        const gram_prepared *data = gram_learner_lesson(known[k].learner)->data;
        gram_picture *picture = NULL;
        STEP(gram_picture_of_learner(context, known[k].learner, known[k].model, NULL, &picture));
        gram_picture_destroy(picture);
        picture = NULL;
        if (data->targets == 0) continue;
        STEP(predict_picture(context, known[k].model, data->n, data->x, data->y, 7, 1, &picture));
        gram_picture_destroy(picture);
    }
done:
    return status;
}

static void every_allocation(void **state)
{
    static const way ridge = {"krr", WAY_NUMBERS, {{"method", "krr"}, {"kernel", "rbf(ell=[1,2])"}, {"lambda", "0.01"}},
                              0,     0,           0};
    gram_string text = {0};
    known_count = 0;
    known[known_count++] = teach(*state, &ridge, 8);
    known[known_count++] = teach(*state, &LINEAR, 8);
    known[known_count++] = teach_table(*state, &PROCESS, numbers_csv(&text, "x,y", 2));
    assert_true(oom_each(play, 0) > 20);
    for (int k = 0; k < known_count; k++) forget(&known[k]);
    gram_string_free(&text);
}

/* Those with a map take longer: some of their allocations. */
static void allocations_of_maps(void **state)
{
    static const way logistic = {
        "logistic", WAY_TWO_CLASSES, {{"method", "logistic"}, WAY_KERNEL, {"lambda", "0.1"}}, 0, 0, 0};
    gram_string text = {0};
    known_count = 0;
    known[known_count++] = teach(*state, &logistic, 8);
    known[known_count++] = teach_table(*state, &CLUSTERS, numbers_csv(&text, "a,b,c", 3));
    assert_true(oom_some(play, 6, 13) > 20);
    for (int k = 0; k < known_count; k++) forget(&known[k]);
    gram_string_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_picture_of_every_method),
        cmocka_unit_test(the_first_by_default),
        cmocka_unit_test(data_and_curve),
        cmocka_unit_test(observations_and_relevances),
        cmocka_unit_test(curves_of_left_out_rows),
        cmocka_unit_test(few_tics),
        cmocka_unit_test(components_of_sums),
        cmocka_unit_test(arrows_are_two_deviations),
        cmocka_unit_test(groups_of_a_column),
        cmocka_unit_test(maps_of_clusters),
        cmocka_unit_test(maps_of_other_colours),
        cmocka_unit_test(borders_are_where_labels_change),
        cmocka_unit_test(two_views),
        cmocka_unit_test(functions_of_one_feature),
        cmocka_unit_test(growing_features),
        cmocka_unit_test(solutions_on_a_line),
        cmocka_unit_test(solutions_in_a_plane),
        cmocka_unit_test(solutions_in_space),
        cmocka_unit_test(predictions_in_pieces),
        cmocka_unit_test(posteriors),
        cmocka_unit_test(samples_by_their_columns),
        cmocka_unit_test(columns_that_depend),
        cmocka_unit_test(histograms_and_choices),
        cmocka_unit_test(spectra_and_densities),
        cmocka_unit_test(draws_at_grids),
        cmocka_unit_test(studies),
        cmocka_unit_test(refusals),
        cmocka_unit_test(every_allocation),
        cmocka_unit_test(allocations_of_maps),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
