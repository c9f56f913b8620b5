#define _DEFAULT_SOURCE
#include "cli/terminal/options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/report_rows.h"

enum { MAX_OPTIONS = 128, FIRST_LONG = 256, CONTINUE = -1 };

static const cli_option common_options[] = {
    CLI_ROW_FLAG("json", offsetof(cli_common, json), "one JSON object instead of the table"),
    {"out", 'o', CLI_TEXT, offsetof(cli_common, out), "FILE", "write the result to FILE", 0, 0, NULL},
    CLI_ROW("seed", CLI_SEED, offsetof(cli_common, seed), "N", "seed of all random numbers (default 0)"),
    CLI_ROW_INTEGER("threads", offsetof(cli_common, threads), "N", 1, CLI_MOST_THREADS,
                    "threads to use (default: all)"),
    CLI_ROW("memory", CLI_SIZE, offsetof(cli_common, memory), "SIZE",
            "a budget, e.g. 8G (default: 80 % of what is free)"),
    CLI_ROW("time", CLI_TIME, offsetof(cli_common, time), "T",
            "bounds learning, e.g. 90s, 5m, 1h: the best so far is kept"),
    CLI_ROW("query", CLI_TEXT, offsetof(cli_common, query), "SQL",
            "of a SQLite database as DATA (.sqlite, .db): its rows, e.g. 'select x, y from t'"),
    {"quiet", 'q', CLI_FLAG, offsetof(cli_common, quiet), NULL, "results and failures only: no progress, no plan", 0, 0,
     NULL},
    CLI_ROW_FLAG("verbose", offsetof(cli_common, verbose), "tell on standard error what is used, done and taken"),
    {"help", 'h', CLI_FLAG, offsetof(cli_common, help), NULL, "this text", 0, 0, NULL},
};

const cli_choice cli_formats[] = {
    CLI_WORD("csv", GRAM_FORMAT_CSV),       CLI_WORD("tsv", GRAM_FORMAT_TSV),
    CLI_WORD("npy", GRAM_FORMAT_NPY),       CLI_WORD("libsvm", GRAM_FORMAT_LIBSVM),
    CLI_WORD("svm", GRAM_FORMAT_LIBSVM),    CLI_WORD("fasta", GRAM_FORMAT_FASTA),
    CLI_WORD("sqlite", GRAM_FORMAT_SQLITE), CLI_WORD("txt", GRAM_FORMAT_TEXT),
    CLI_WORD("npz", GRAM_FORMAT_NPZ),       CLI_WORDS_END,
};

const cli_choice cli_missings[] = {
    CLI_WORD("drop", GRAM_MISSING_DROP),
    CLI_WORD("mean", GRAM_MISSING_MEAN),
    CLI_WORD("error", GRAM_MISSING_ERROR),
    CLI_WORDS_END,
};

static const cli_option data_options[CLI_DATA_OPTIONS] = {
    CLI_ROW_CHOICE("format", offsetof(cli_data, format), "FORMAT", cli_formats, CLI_FORMAT_HELP),
    CLI_ROW("features", CLI_TEXT, offsetof(cli_data, features), "LIST", "the columns to use, e.g. x1,x3:x5,7"),
    CLI_ROW("ignore", CLI_TEXT, offsetof(cli_data, ignore), "LIST", "the columns to leave out"),
    CLI_ROW("text", CLI_TEXT, offsetof(cli_data, texts), "LIST",
            "columns of texts, for kernels of strings: on(2, spectrum(k=3))"),
    CLI_ROW_FLAG("scale", offsetof(cli_data, scale), "standardise the columns"),
};

cli_group cli_common_group(cli_common *common)
{
    return (cli_group){"Common options", common_options, sizeof common_options / sizeof *common_options, common};
}

cli_group cli_data_group(cli_data *data)
{
    return (cli_group){"Data", data_options, sizeof data_options / sizeof *data_options, data};
}

/* ---- values ---- */

static int parse_unsigned(const char *text, uint64_t *value)
{
    char *end;
    if (text[0] < '0' || text[0] > '9') return 0;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

static int parse_integer(const char *text, int64_t least, int64_t most, int64_t *value)
{
    char *end;
    if (text[0] != '-' && (text[0] < '0' || text[0] > '9')) return 0;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return errno == 0 && *end == '\0' && *value >= least && *value <= most;
}

static int parse_number(const char *text, int zero_too, double *value)
{
    const size_t taken = gram_number_parse(text, strlen(text), value);
    return taken > 0 && text[taken] == '\0' && isfinite(*value) && (*value > 0 || (zero_too && *value == 0));
}

/* The choice whose name is the start of the text, up to a colon; NULL if there is none. */
static const cli_choice *find_choice(const cli_choice *choices, const char *text)
{
    const size_t length = strcspn(text, ":");
    for (; choices->name; choices++)
        if (strlen(choices->name) == length && strncmp(choices->name, text, length) == 0) return choices;
    return NULL;
}

static int parse_choice(const cli_choice *choices, const char *text, cli_chosen *chosen)
{
    const cli_choice *choice = find_choice(choices, text);
    if (!choice) return 0;
    const char *rest = text + strlen(choice->name);
    *chosen = (cli_chosen){choice->value, 0};
    if (*rest == '\0') return 1;
    return choice->number && parse_integer(rest + 1, choice->least, choice->most, &chosen->number);
}

const char *cli_setting(const cli_settings *settings, const char *name)
{
    size_t i = settings->count;
    while (i > 0 && strcmp(settings->given[i - 1].name, name) != 0) i--;
    return i > 0 ? settings->given[i - 1].value : NULL;
}

void cli_set(cli_settings *settings, const char *name, const char *value)
{
    if (settings->count < CLI_MOST_SETTINGS) settings->given[settings->count++] = (cli_given){name, value};
}

static int keep_setting(cli_settings *settings, const char *name, const char *value)
{
    if (settings->count >= CLI_MOST_SETTINGS - CLI_ADDED_SETTINGS) return 0;
    cli_set(settings, name, value);
    return 1;
}

/* Puts the value in its place; 0 if the text is not a valid value. */
static int set_value(const cli_option *option, void *target, const char *text)
{
    void *place = (char *)target + option->offset;
    switch (option->type) {
    case CLI_FLAG: *(int *)place = 1; return 1;
    case CLI_TEXT: *(const char **)place = text; return text[0] != '\0';
    case CLI_INTEGER: return parse_integer(text, option->least, option->most, place);
    case CLI_POSITIVE: return parse_number(text, 0, place);
    case CLI_NUMBER: return parse_number(text, 1, place);
    case CLI_SEED: return parse_unsigned(text, place);
    case CLI_SIZE: return gram_bytes_parse(text, place);
    case CLI_TIME: return gram_seconds_parse(text, place);
    case CLI_CHOICE: return parse_choice(option->choices, text, place);
    case CLI_SETTING:
    case CLI_LIST: return keep_setting(place, option->name, text);
    case CLI_YES: return keep_setting(place, option->name, "yes");
    case CLI_NO: return keep_setting(place, option->name + strlen("no-"), "no");
    }
    return 0;
}

/* "It may be auto, exact, cg or nystrom:M." */
static void list_choices(gram_string *text, const cli_choice *choices)
{
    gram_string_add(text, "It may be ");
    for (const cli_choice *c = choices; c->name; c++) {
        gram_string_add(text, "%s%s%s", c->name, c->number ? ":" : "", c->number ? c->number : "");
        if (c[1].name) gram_string_add(text, c[2].name ? ", " : " or ");
    }
    gram_string_add(text, ".");
}

/* The name that was most likely meant, or NULL. */
static const char *near_choice(const cli_choice *choices, const char *text)
{
    enum { MOST = 32 };
    const char *names[MOST];
    size_t count = 0;
    for (; choices->name && count < MOST; choices++) names[count++] = choices->name;
    return gram_suggest(text, names, count);
}

static int bad_choice(const cli_usage *usage, const cli_option *option, const char *text)
{
    gram_string help = {0};
    const char *near = near_choice(option->choices, text);
    const cli_choice *choice = find_choice(option->choices, text);
    list_choices(&help, option->choices);
    if (choice && choice->number)
        gram_string_add(&help, " %s is a whole number from %" PRId64 " to %" PRId64 ".", choice->number, choice->least,
                        choice->most);
    (void)cli_cannot_be(usage->verb, option->name, text, choice ? NULL : near, help.data);
    gram_string_free(&help);
    return CLI_WRONG_USE;
}

static int bad_value(const cli_usage *usage, const cli_option *option, const char *text)
{
    static const char *const musts[CLI_NO + 1] = {
        [CLI_POSITIVE] = "It must be a number above 0.",      [CLI_NUMBER] = "It must be a number, 0 or more.",
        [CLI_SEED] = "It must be a whole number, 0 or more.", [CLI_SIZE] = "Sizes look like 500M, 8G or 1.5G.",
        [CLI_TIME] = "Times look like 90s, 5m or 1.5h.",      [CLI_TEXT] = "It must not be empty."};
    char help[128] = "";
    if (option->type == CLI_CHOICE) return bad_choice(usage, option, text);
    (void)snprintf(help, sizeof help, "It must be a whole number from %" PRId64 " to %" PRId64 ".", option->least,
                   option->most);
    return cli_fail(CLI_WRONG_USE, option->type == CLI_INTEGER ? help : musts[option->type], "%s: --%s cannot be '%s'",
                    usage->verb, option->name, text);
}

/* ---- parsing ---- */

/* All options of all groups, as getopt_long wants them and as we need them afterwards. */
typedef struct option_table {
    struct option longs[MAX_OPTIONS + 1];
    char shorts[2 * MAX_OPTIONS + 2];
    const cli_option *options[MAX_OPTIONS];
    void *targets[MAX_OPTIONS];
    const char *names[MAX_OPTIONS];
    size_t count;
} option_table;

static int takes_value(const cli_option *option)
{
    return option->type != CLI_FLAG && option->type != CLI_YES && option->type != CLI_NO;
}

static void build_table(const cli_group *groups, size_t group_count, option_table *table)
{
    char *letters = table->shorts;
    table->count = 0;
    *letters++ = ':'; /* a missing argument is told apart from an unknown option */
    for (size_t g = 0; g < group_count; g++)
        for (size_t i = 0; i < groups[g].count && table->count < MAX_OPTIONS; i++) {
            const cli_option *option = &groups[g].options[i];
            const size_t k = table->count++;
            const int argument = takes_value(option);
            table->longs[k] = (struct option){option->name, argument, NULL, FIRST_LONG + (int)k};
            table->options[k] = option;
            table->targets[k] = groups[g].target;
            table->names[k] = option->name;
            if (!option->letter) continue;
            *letters++ = option->letter;
            if (argument) *letters++ = ':';
        }
    table->longs[table->count] = (struct option){0};
    *letters = '\0';
}

/* The index of what getopt_long returned, -1 if it is not an option. */
static int find_option(const option_table *table, int found)
{
    if (found >= FIRST_LONG) return found - FIRST_LONG;
    for (size_t i = 0; i < table->count; i++)
        if (found > 0 && table->options[i]->letter == found) return (int)i;
    return -1;
}

/* "--jsom=1" without dashes and value */
static void bare_name(const char *word, char *name, size_t size)
{
    while (*word == '-') word++;
    (void)snprintf(name, size, "%.*s", (int)strcspn(word, "="), word);
}

/* getopt_long found no option, one without its argument (':'), or one with an argument that it does not take. */
static int wrong_option(const cli_usage *usage, const option_table *table, int found, const char *word)
{
    char help[96], name[64];
    const int known = find_option(table, optopt);
    (void)snprintf(help, sizeof help, "`gram %s --help` lists the options.", usage->verb);
    if (known >= 0 && found == ':')
        return cli_fail(CLI_WRONG_USE, help, "%s: --%s needs a value: %s", usage->verb, table->names[known],
                        table->options[known]->argument);
    if (known >= 0) return cli_fail(CLI_WRONG_USE, help, "%s: --%s takes no value", usage->verb, table->names[known]);
    if (optopt) return cli_fail(CLI_WRONG_USE, help, "%s: no option '-%c'", usage->verb, optopt);
    bare_name(word, name, sizeof name);
    const char *near = gram_suggest(name, table->names, table->count);
    if (near)
        return cli_fail(CLI_WRONG_USE, help, "%s: no option '--%s', did you mean '--%s'?", usage->verb, name, near);
    return cli_fail(CLI_WRONG_USE, help, "%s: no option '--%s'", usage->verb, name);
}

/* An option given twice leaves open which one counts; so does one with its "no-" form. */
static int check_repeated(const cli_usage *usage, const option_table *table, int k, unsigned char *seen)
{
    const char *name = table->names[k];
    if (table->options[k]->type == CLI_LIST) return CLI_DONE;
    if (seen[k]) return cli_fail(CLI_WRONG_USE, "Leave one out.", "%s: --%s is given twice", usage->verb, name);
    seen[k] = 1;
    for (size_t i = 0; i < table->count; i++) {
        const char *other = table->names[i];
        const int opposite = (strncmp(name, "no-", 3) == 0 && strcmp(name + 3, other) == 0) ||
                             (strncmp(other, "no-", 3) == 0 && strcmp(other + 3, name) == 0);
        if (seen[i] && opposite)
            return cli_fail(CLI_WRONG_USE, "Leave one out.", "%s: --%s and --%s contradict each other", usage->verb,
                            other, name);
    }
    return CLI_DONE;
}

static int check_operands(const cli_usage *usage, char **operands, int count)
{
    char help[160];
    (void)snprintf(help, sizeof help, "Usage: gram %s %s [OPTIONS]", usage->verb, usage->operands);
    if (count < usage->least_operands) return cli_fail(CLI_WRONG_USE, help, "%s: too few arguments", usage->verb);
    if (count > usage->most_operands)
        return cli_fail(CLI_WRONG_USE, help, "%s: one argument too many: '%s'", usage->verb,
                        operands[usage->most_operands]);
    return CONTINUE;
}

/* ---- help ---- */

static void add_group(gram_string *text, const cli_group *group, const char *out)
{
    const size_t help_column = 24;
    gram_string_add(text, "\n%s:\n", group->title);
    for (size_t i = 0; i < group->count; i++) {
        const cli_option *option = &group->options[i];
        if (!option->help) continue;
        gram_string_add(text, "  ");
        if (option->letter) gram_string_add(text, "-%c, ", option->letter);
        gram_string_add(text, "--%s", option->name);
        if (option->argument) gram_string_add(text, " %s", option->argument);
        gram_string_pad(text, help_column);
        cli_add_wrapped(text, out && strcmp(option->name, "out") == 0 ? out : option->help, " ", help_column);
    }
}

/* A paragraph is filled anew, wherever its lines end in the source; lines that begin with a blank are rows of a list and stay so. */
static void add_about(gram_string *text, const char *about)
{
    while (*about) {
        gram_string line = {0};
        const int row = *about == ' ';
        size_t length = strcspn(about, "\n");
        gram_string_put(&line, about, length);
        about += length + (about[length] == '\n');
        while (!row && length > 0 && *about && *about != '\n' && *about != ' ') {
            length = strcspn(about, "\n");
            gram_string_add(&line, " %.*s", (int)length, about);
            about += length + (about[length] == '\n');
        }
        cli_add_wrapped(text, line.data ? line.data : "", " ", row ? 15 : 0);
        text->failed |= line.failed;
        gram_string_free(&line);
    }
}

static int print_help(const cli_usage *usage, const cli_group *groups, size_t group_count)
{
    gram_string text = {0};
    gram_string_add(&text, "Usage: gram %s %s [OPTIONS]\n\n", usage->verb, usage->operands);
    add_about(&text, usage->about);
    for (size_t g = 0; g < group_count; g++) add_group(&text, &groups[g], usage->out);
    if (usage->more) usage->more(&text);
    gram_string_add(&text, "\nExamples:\n%s", usage->examples);
    return cli_print(&text);
}

/* Operands are left in *operands. Returns CONTINUE, or the exit code: after the message of a wrong use, or 0 after --help. */
static int parse(const cli_usage *usage, const cli_group *groups, size_t group_count, int count, char **arguments,
                 char ***operands)
{
    option_table table = {0};
    unsigned char seen[MAX_OPTIONS] = {0};
    int found;
    build_table(groups, group_count, &table);
    opterr = 0;
    optind = 1;
    while ((found = getopt_long(count, arguments, table.shorts, table.longs, NULL)) != -1) {
        const int k = found == ':' ? -1 : find_option(&table, found);
        if (k < 0) return wrong_option(usage, &table, found, arguments[optind - 1]);
        const int code = check_repeated(usage, &table, k, seen);
        if (code != CLI_DONE) return code;
        if (!set_value(table.options[k], table.targets[k], optarg)) return bad_value(usage, table.options[k], optarg);
    }
    const cli_common *common = groups[group_count - 1].target;
    if (common->help) return print_help(usage, groups, group_count);
    *operands = arguments + optind;
    return check_operands(usage, *operands, count - optind);
}

/* ---- queries ---- */

static int is_database(const char *path)
{
    static const char *const endings[] = {".sqlite", ".sqlite3", ".db"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t length = strlen(path), tail = strlen(endings[i]);
        if (length > tail && strcmp(path + length - tail, endings[i]) == 0) return 1;
    }
    return 0;
}

/* The library reads "FILE?QUERY": --query belongs to the first operand that is a database. `joined` is to be freed. */
static int join_query(const cli_usage *usage, const char *query, char **operands, gram_string *joined)
{
    int at = 0;
    if (!query) return CLI_DONE;
    while (operands[at] && !is_database(operands[at])) at++;
    if (!operands[at])
        return cli_fail(CLI_WRONG_USE, "Such files end in .sqlite, .sqlite3 or .db.",
                        "%s: --query is for a SQLite database, and none is given", usage->verb);
    gram_string_add(joined, "%s?%s", operands[at], query);
    operands[at] = joined->data;
    return joined->failed ? cli_no_memory() : CLI_DONE;
}

int cli_run(const cli_job *job, int count, char **arguments)
{
    cli_session session = {0};
    gram_string joined = {0};
    cli_common *common = job->groups[job->group_count - 1].target;
    char **operands;
    int code = parse(job->usage, job->groups, job->group_count, count, arguments, &operands);
    if (code != CONTINUE) return code;
    const char *out = common->out;
    if (job->usage->out) common->out = NULL;
    code = join_query(job->usage, common->query, operands, &joined);
    if (code == CLI_DONE) code = cli_session_begin(&session, common);
    session.out = out;
    if (code == CLI_DONE) code = job->work(&session, operands, job->state);
    job->release(job->state);
    cli_session_end(&session);
    gram_string_free(&joined);
    return code;
}
