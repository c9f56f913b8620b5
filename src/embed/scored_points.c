/* Points and scores from files: which columns are which, that they fit each other, and the base kernel. */
#include <gram/scored_points.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gram/preparation.h>

#include "base/arena.h"
#include "base/context.h"
#include "base/sized_struct.h"
#include "base/text/spoken_failure.h"
#include "embed/stein.h"
#include "kernel/kernel.h"

struct gram_scored_points {
    gram_memory *memory;
    gram_arena arena;
    gram_table *table;
    gram_points *points;
    gram_kernel *kernel;
    double *x, *scores, *log_density, *laplacian; /* of the report */
    gram_scored_report report;
};

/* One reading. */
typedef struct reading {
    gram_context *context;
    gram_scored_options options;
    gram_speech speech;
    gram_scored_points *made;
} reading;

void gram_scored_options_init(gram_scored_options *options, size_t size)
{
    const gram_scored_options defaults = {.metric = GRAM_STEIN_METRIC_MED};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

void gram_scored_points_destroy(gram_scored_points *scored)
{
    if (!scored) return;
    gram_memory *memory = scored->memory;
    gram_points_release(scored->points);
    gram_kernel_release(scored->kernel);
    gram_table_destroy(scored->table);
    gram_arena_release(&scored->arena);
    gram_memory_give(memory, scored);
    gram_memory_release(memory);
}

const gram_scored_report *gram_scored_points_get_report(const gram_scored_points *scored)
{
    return &scored->report;
}

void gram_scored_points_name_place(gram_context *context, const gram_scored_points *scored)
{
    int64_t row, column;
    const gram_scored_report *report = &scored->report;
    if (!gram_context_place(context, &row, &column) || column < 0 || column >= report->d) return;
    gram_context_name_place(context, report->file, row, gram_table_column_name(report->table, report->columns[column]));
}

static gram_status check_options(const reading *r, const char *path)
{
    const gram_scored_options *o = &r->options;
    const int ways = (o->score_columns != NULL) + (o->score_file != NULL) + (o->density != NULL);
    if (ways > 1)
        return gram_fail_spoken(r->context, GRAM_ERROR_ARGUMENT, r->speech, NULL,
                                "--scores and --density are two ways to say the same thing");
    if (o->density_data && !o->density)
        return gram_fail_spoken(r->context, GRAM_ERROR_ARGUMENT, r->speech, NULL,
                                "--density-data is for --density logistic");
    if (ways > 0 && (o->texts || o->gram))
        return gram_fail_spoken(r->context, GRAM_ERROR_ARGUMENT, r->speech, "Leave the scores out.",
                                "%s has no density, and no scores", o->texts ? "a text" : "a given matrix");
    if (o->score_file && strcmp(o->score_file, "-") == 0 && strcmp(path, "-") == 0)
        return gram_fail_spoken(r->context, GRAM_ERROR_ARGUMENT, r->speech,
                                "Give one of them as a file, or the scores as columns of DATA.",
                                "both points and scores from standard input");
    return GRAM_OK;
}

/* ---- the table ---- */

static gram_status read_table(reading *r, const char *path)
{
    gram_status status = GRAM_OK;
    const gram_scored_options *o = &r->options;
    gram_table_options how;
    gram_string both = {0}; /* features and score columns have to be read */
    gram_table_options_init(&how, sizeof how);
    how.format = o->format;
    how.ignore = o->ignore;
    how.features = o->features;
    how.texts = o->texts;
    how.gram = o->gram;
    how.sparse = !o->scale && !o->score_columns && !o->score_file && !o->density;
    if (o->gram) how.text = GRAM_TEXT_CATEGORIES;
    how.keep_missing = o->gram != NULL;
    if (o->features && o->score_columns) {
        gram_string_add(&both, "%s,%s", o->features, o->score_columns);
        FAIL_IF(both.failed, r->context, GRAM_ERROR_MEMORY, "%s: no memory for a list of columns", r->speech.who);
        how.features = both.data;
    }
    TRY(gram_table_read(r->context, path, &how, &r->made->table));
    r->made->report.table = r->made->table;
    r->made->report.n = gram_table_rows(r->made->table);
done:
    gram_string_free(&both);
    return status;
}

static void copy_columns(const gram_table *table, int64_t count, const int64_t *columns, double *out)
{
    const int64_t n = gram_table_rows(table), ld = gram_table_ld(table);
    const double *numbers = gram_table_numbers(table);
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < count; l++) out[i * count + l] = numbers[i * ld + columns[l]];
}

static gram_status take_numbers(reading *r, double **numbers)
{
    const gram_scored_report *report = &r->made->report;
    return gram_arena_take(r->context, &r->made->arena, "scored_points", report->n,
                           (size_t)report->d * sizeof **numbers, (void **)numbers);
}

/* The columns of the points are those that hold no scores: --features was applied while reading, with the scores last. */
static gram_status part_columns(reading *r)
{
    gram_status status = GRAM_OK;
    gram_scored_points *made = r->made;
    gram_scored_report *report = &made->report;
    const int64_t all = gram_table_columns(made->table);
    int64_t *scores = NULL, *columns = NULL, count = 0;
    TRY(gram_arena_take(r->context, &made->arena, "scored_points", 2 * all, sizeof *columns, (void **)&columns));
    scores = columns + all;
    if (r->options.score_columns) {
        status = gram_table_find_columns(r->context, made->table, r->options.score_columns, scores, &count);
        if (status == GRAM_ERROR_DATA)
            (void)gram_advise(r->context, status, "--scores is neither a file nor columns of DATA.");
        if (status < 0) goto done;
    }
    for (int64_t c = 0; c < all; c++) {
        int taken = 0;
        for (int64_t k = 0; k < count; k++) taken |= scores[k] == c;
        taken |= r->options.gram && gram_table_column_kind(made->table, c, NULL) != GRAM_COLUMN_GIVEN;
        if (!taken) columns[report->d++] = c;
    }
    report->columns = columns;
    if (r->options.score_columns && count != report->d)
        return gram_fail_spoken(r->context, GRAM_ERROR_DATA, r->speech,
                                "There is one score for each column of the points; --features says which these are.",
                                "%s: %" PRId64 " score columns for %" PRId64 " columns", report->file, count,
                                report->d);
    if (report->d == 0)
        return gram_fail_spoken(r->context, GRAM_ERROR_DATA, r->speech, "--scores names the columns of scores only.",
                                "%s: no column is left for the points", report->file);
    if (count > 0) TRY(take_numbers(r, &made->scores));
    if (count > 0) copy_columns(made->table, report->d, scores, made->scores);
done:
    return status;
}

static gram_status make_points(reading *r)
{
    gram_status status = GRAM_OK;
    gram_scored_points *made = r->made;
    TRY(take_numbers(r, &made->x));
    copy_columns(made->table, made->report.d, made->report.columns, made->x);
    TRY(gram_points_of_table(r->context, made->table, made->report.d, made->report.columns, &made->points));
done:
    return status;
}

/* ---- scores from elsewhere ---- */

static const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

static gram_status read_score_file(reading *r)
{
    gram_status status = GRAM_OK;
    const gram_scored_report *s = &r->made->report;
    const char *path = r->options.score_file;
    gram_table *table = NULL;
    TRY(gram_table_read(r->context, path, NULL, &table));
    const int64_t rows = gram_table_rows(table), columns = gram_table_columns(table);
    if (rows != s->n || columns != s->d) {
        status = gram_fail_spoken(
            r->context, GRAM_ERROR_DATA, r->speech,
            "The file has one row for each row of DATA and one column for each of its columns.",
            "%s: %" PRId64 " row%s of %" PRId64 " score%s for %" PRId64 " row%s of %" PRId64 " column%s",
            gram_data_name(path), rows, plural(rows), columns, plural(columns), s->n, plural(s->n), s->d, plural(s->d));
        goto done;
    }
    TRY(take_numbers(r, &r->made->scores));
    for (int64_t i = 0; i < s->n; i++)
        memcpy(r->made->scores + i * s->d, gram_table_numbers(table) + i * gram_table_ld(table),
               (size_t)s->d * sizeof *r->made->scores);
done:
    gram_table_destroy(table);
    return status;
}

/* A density that is wrong is one that was given: the speaker says so. */
static gram_status refuse_density(reading *r, gram_status status)
{
    static const char advice[] =
        "Densities: gaussian, student, mixture, banana and logistic, which needs --density-data "
        "FILE with its observations.";
    char message[GRAM_MESSAGE_SIZE];
    if (status == GRAM_ERROR_DIMENSION || status == GRAM_ERROR_DATA) return gram_advise(r->context, status, advice);
    if (status != GRAM_ERROR_ARGUMENT && status != GRAM_ERROR_SYNTAX) return status;
    (void)snprintf(message, sizeof message, "%s", gram_context_message(r->context));
    return gram_fail_spoken(r->context, status, r->speech, advice, "%s", message);
}

/* log p and the positive parts of its second derivatives, these in the units that the points will have. */
static gram_status make_regularity(reading *r, const gram_density *density)
{
    gram_status status = GRAM_OK;
    gram_scored_points *made = r->made;
    const int64_t n = made->report.n, d = made->report.d;
    double *second = NULL, mean, deviation;
    TRY(gram_arena_take(r->context, &made->arena, "scored_points", n, sizeof(double), (void **)&made->log_density));
    TRY(gram_arena_take(r->context, &made->arena, "scored_points", n, sizeof(double), (void **)&made->laplacian));
    TRY(gram_take(r->context, "scored_points", n * d, sizeof *second, (void **)&second));
    TRY(gram_density_log(r->context, density, made->points, made->log_density));
    TRY(gram_density_second(r->context, density, made->points, second, d));
    for (int64_t i = 0; i < n; i++) made->laplacian[i] = 0;
    for (int64_t l = 0; l < d; l++) {
        deviation = 1;
        if (r->options.scale) gram_stein_measure(n, made->x + l, d, &mean, &deviation);
        for (int64_t i = 0; i < n; i++) made->laplacian[i] += fmax(second[i * d + l], 0) * deviation * deviation;
    }
done:
    gram_give(r->context, second);
    return status;
}

static gram_status make_scores(reading *r)
{
    gram_status status = GRAM_OK;
    gram_scored_points *made = r->made;
    gram_table *data = NULL;
    gram_density *density = NULL;
    if (r->options.density_data) TRY(gram_table_read(r->context, r->options.density_data, NULL, &data));
    status = gram_density_parse_data(r->context, r->options.density, made->report.d, data, &density);
    if (status < 0) {
        status = refuse_density(r, status);
        goto done;
    }
    TRY(take_numbers(r, &made->scores));
    TRY(gram_density_score(r->context, density, made->points, made->scores, made->report.d));
    TRY(make_regularity(r, density));
done:
    gram_density_destroy(density);
    gram_table_destroy(data);
    return status;
}

static gram_status name_source(reading *r)
{
    gram_status status = GRAM_OK;
    const gram_scored_options *o = &r->options;
    const char *word = o->density         ? "density "
                       : o->score_columns ? "scores in columns "
                       : o->score_file    ? "scores of "
                                          : "the sample itself";
    const char *name = o->density         ? o->density
                       : o->score_columns ? o->score_columns
                       : o->score_file    ? o->score_file
                                          : "";
    char *text = NULL;
    const size_t size = strlen(word) + strlen(name) + 1;
    TRY(gram_arena_take(r->context, &r->made->arena, "scored_points", (int64_t)size, 1, (void **)&text));
    (void)snprintf(text, size, "%s%s", word, name);
    r->made->report.source = text;
done:
    return status;
}

/* ---- kernel ---- */

static gram_status make_stein_kernel(reading *r)
{
    char message[GRAM_MESSAGE_SIZE];
    gram_scored_points *made = r->made;
    const gram_status status =
        gram_stein_kernel(r->context, made->points, r->options.metric, r->options.m, &made->kernel);
    if (status == GRAM_ERROR_NUMERICAL)
        return gram_advise(r->context, status, "Use --precondition med, or leave a column out.");
    if (status != GRAM_ERROR_ARGUMENT) return status;
    /* distances beyond what a parameter may be: not the fault of the options given */
    (void)snprintf(message, sizeof message, "%s", gram_context_message(r->context));
    return gram_fail_spoken(r->context, GRAM_ERROR_NUMERICAL, (gram_speech){made->report.file, r->speech.dashes},
                            "Use other units, or give a --kernel.", "no kernel for these distances: %s", message);
}

static gram_status choose_kernel(reading *r)
{
    gram_status status = GRAM_OK;
    gram_scored_points *made = r->made;
    const gram_kernel *given = r->options.kernel;
    gram_kernel *plain = NULL;
    if (!given && made->scores) return make_stein_kernel(r);
    /* towards a sample: laplace sees every scale, rbf at the median distance not how rows lie within a mode of several */
    if (!given) TRY(gram_kernel_parse(r->context, r->options.gram ? "given" : "laplace", &plain));
    if (!given) given = plain;
    TRY(gram_kernel_check_dimension(r->context, given, made->report.d));
    TRY(gram_kernel_check_kinds(r->context, given, made->points));
    TRY(gram_kernel_resolve(r->context, given, made->points, &made->kernel));
done:
    gram_kernel_release(plain);
    return status;
}

/* Scores that were read may be those of other rows: what speaks against them, in a sentence. */
static gram_status doubt_scores(reading *r)
{
    static const char *const SENTENCES[] = {
        [GRAM_SCORES_TORN] = "rows %" PRId64 " and %" PRId64
                             " are the same point with different scores: the scores do not belong to these rows",
        [GRAM_SCORES_UNRELATED] = "the scores do not depend on the points: they belong to other rows or to another "
                                  "sample",
        [GRAM_SCORES_OUTWARD] = "the scores point away from the points' mean: they may be the gradient of -log p, "
                                "which is minus the score"};
    enum { ROOM = 160 };
    gram_status status = GRAM_OK;
    gram_scored_points *made = r->made;
    gram_scores_doubt doubt;
    int64_t row;
    char *text = NULL;
    TRY(gram_stein_scores_check(r->context, made->points, made->scores, made->report.d, &doubt, &row));
    if (doubt == GRAM_SCORES_FIT) goto done;
    TRY(gram_arena_take(r->context, &made->arena, "scored_points", ROOM, 1, (void **)&text));
    /* NOLINTNEXTLINE: the forms are those of the table */
    (void)snprintf(text, ROOM, SENTENCES[doubt], row, row + 1);
    made->report.doubt = text;
done:
    return status;
}

static gram_status read_all(reading *r, const char *path)
{
    gram_status status = GRAM_OK;
    gram_scored_points *made = r->made;
    gram_scored_report *report = &made->report;
    const gram_scored_options *o = &r->options;
    TRY(check_options(r, path));
    TRY(read_table(r, path));
    TRY(part_columns(r));
    TRY(make_points(r));
    if (o->score_file) TRY(read_score_file(r));
    if (o->density) TRY(make_scores(r));
    if (made->scores && !o->density) TRY(doubt_scores(r));
    TRY(name_source(r));
    if (o->scale) {
        gram_stein_standardise(report->n, report->d, made->x, report->d, made->scores, report->d);
        gram_points_release(made->points);
        made->points = NULL;
        TRY(gram_points_create_f64(r->context, report->n, report->d, made->x, report->d, &made->points));
    }
    report->x = made->x;
    report->scores = made->scores;
    report->log_density = made->log_density;
    report->laplacian = made->laplacian;
    report->points = made->points;
    TRY(choose_kernel(r));
    report->kernel = made->kernel;
done:
    if (status < 0 && report->columns) gram_scored_points_name_place(r->context, made);
    return status;
}

gram_status gram_scored_points_read(gram_context *context, const char *path, const gram_scored_options *options,
                                    gram_scored_points **scored)
{
    gram_status status = GRAM_OK;
    size_t length;
    char *file = NULL;
    reading r = {.context = context};
    if (!context || !path || !scored) return GRAM_ERROR_ARGUMENT;
    *scored = NULL;
    gram_scored_options_init(&r.options, sizeof r.options);
    TRY(gram_sized_read(context, "scored_points_read", "options", "gram_scored_options", options, &r.options,
                        sizeof r.options));
    r.speech = (gram_speech){r.options.who ? r.options.who : "scored_points", r.options.dashes ? r.options.dashes : ""};
    TRY(gram_take(context, "scored_points", 1, sizeof *r.made, (void **)&r.made));
    *r.made = (gram_scored_points){.memory = gram_memory_retain(context->memory)};
    gram_arena_init(&r.made->arena, r.made->memory);
    r.made->report.size = sizeof r.made->report;
    length = strlen(gram_data_name(path)) + 1;
    TRY(gram_arena_take(context, &r.made->arena, "scored_points", (int64_t)length, 1, (void **)&file));
    memcpy(file, gram_data_name(path), length);
    r.made->report.file = file;
    TRY(read_all(&r, path));
    *scored = r.made;
    r.made = NULL;
done:
    gram_scored_points_destroy(r.made);
    return status;
}
