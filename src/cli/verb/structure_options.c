#include "cli/verb/structure_options.h"

#include <stdio.h>
#include <string.h>

#include "cli/plot/gnuplot.h"

#define PLACE(field) offsetof(structure_options, field)

/* The first two are for verbs of several methods, and for those whose kernel is no operand; their help is made. The others are for
 * verbs whose -o is not the model, for methods that reconstruct, and for those that say what `at` or `plot` is. */
enum { METHOD_OPTION, KERNEL_OPTION, MODEL_OPTION, RECONSTRUCT_OPTION, AT_OPTION, PLOT_OPTION, OWN_OPTIONS };
static const cli_option own_options[OWN_OPTIONS] = {
    CLI_ROW("method", CLI_SETTING, PLACE(settings), "NAME", NULL),
    CLI_ROW("kernel", CLI_SETTING, PLACE(settings), "E", NULL),
    CLI_ROW("model", CLI_TEXT, PLACE(model), "FILE", "write the model to FILE, for `gram predict`"),
    CLI_ROW_FLAG("reconstruct", PLACE(reconstruct), "-o writes rows made of their coordinates, in the columns of DATA"),
    CLI_ROW("at", CLI_TEXT, PLACE(at), "FILE", NULL),
    CLI_ROW("plot", CLI_TEXT, PLACE(plot), "FILE", NULL),
};

/* The first two are for verbs whose methods have a target. */
enum { TARGET_OPTIONS = 2 };
static const cli_option data_options[] = {
    CLI_ROW("target", CLI_SETTING, PLACE(settings), "LIST", "the target columns (default: the last)"),
    CLI_ROW("task", CLI_SETTING, PLACE(settings), "TASK", "regression or classification (default: by the target)"),
    CLI_ROW("features", CLI_SETTING, PLACE(settings), "LIST", "the columns to use, e.g. x1,x3:x5,7 (default: all)"),
    CLI_ROW("ignore", CLI_SETTING, PLACE(settings), "LIST", "the columns to leave out"),
    CLI_ROW("weights", CLI_SETTING, PLACE(settings), "COL", "a column with the weights of the rows"),
    CLI_ROW("missing", CLI_SETTING, PLACE(settings), "HOW", "drop rows with missing values, or use the mean"),
    CLI_ROW("na", CLI_SETTING, PLACE(settings), "LIST", "texts that mean a missing value, e.g. unknown,-999"),
    CLI_ROW("categories", CLI_SETTING, PLACE(settings), "LIST",
            "columns that are categories, though they look like numbers"),
    CLI_ROW("text", CLI_SETTING, PLACE(settings), "LIST",
            "columns of texts, for kernels of strings: on(2, spectrum(k=3))"),
    CLI_ROW("gram", CLI_SETTING, PLACE(settings), "K.npy",
            "a given matrix: the kernel of each two rows of DATA, n x n; the kernel `given`"),
    CLI_ROW("bag", CLI_SETTING, PLACE(settings), "COL",
            "rows that agree in COL are one point, a bag (default kernel after(mean(rbf), rbf))"),
    CLI_ROW("bag-weights", CLI_SETTING, PLACE(settings), "COL", "a column with the weights of the rows in their bags"),
    CLI_ROW("graph", CLI_SETTING, PLACE(settings), "LIST",
            "columns of graphs such as 'a-b b-c; a:C b:O c:C', for wl and paths"),
    CLI_ROW("no-scale", CLI_NO, PLACE(settings), NULL, "take the features as they are, do not standardise"),
    CLI_ROW_CHOICE("format", PLACE(format), "FORMAT", cli_formats, CLI_FORMAT_HELP),
};
enum { DATA_OPTIONS = sizeof data_options / sizeof *data_options };

/* For verbs that have pictures; help of the second is made, and only where there are several. */
enum { SHOW_OPTION = 1, PLOT_OPTIONS = 3 };
static const cli_option plot_options[PLOT_OPTIONS] = {
    CLI_ROW("plot", CLI_TEXT, PLACE(plot), "FILE", "draw a picture: .svg, .png or .pdf (by gnuplot)"),
    CLI_ROW("show", CLI_TEXT, PLACE(show), "WHAT", NULL),
    CLI_ROW("colour", CLI_TEXT, PLACE(colour), "COL",
            "colour the picture by a column, which is no feature then unless --features lists it"),
};

static const cli_option scale_option = CLI_ROW("scale", CLI_YES, PLACE(settings), NULL, "standardise the features");

/* ---- the groups ---- */

static void begin_group(structure_groups *made, const char *title, structure_options *own)
{
    made->groups[made->count++] = (cli_group){title, made->options + made->option_count, 0, own};
}

/* Adds an option to the last group; with help, unless that is the table's. */
static void add_option(structure_groups *made, const cli_option *option, const char *help)
{
    cli_option *added = &made->options[made->option_count++];
    *added = *option;
    if (help) added->help = help;
    made->groups[made->count - 1].count++;
}

static void add_own(structure_groups *made, const cli_method_options *methods, structure_options *own)
{
    const gram_verb *verb = methods->first.verb;
    const struct {
        int has;
        const char *help;
    } known[OWN_OPTIONS] = {
        [METHOD_OPTION] = {methods->method_count > 1, methods->names.data},
        [KERNEL_OPTION] = {!verb->kernel_operand && methods->first.kernel, methods->kernels.data},
        [MODEL_OPTION] = {!verb->out_is_model, NULL},
        [RECONSTRUCT_OPTION] = {methods->first.reconstructs, NULL},
        [AT_OPTION] = {verb->at != NULL, verb->at},
        [PLOT_OPTION] = {verb->plot != NULL, verb->plot},
    };
    begin_group(made, "Options", own);
    for (int i = 0; i < OWN_OPTIONS; i++)
        if (known[i].has) add_option(made, &own_options[i], known[i].help);
}

static void add_data(structure_groups *made, const cli_method_options *methods, structure_options *own)
{
    const unsigned with_target = 1u << GRAM_TASK_REGRESSION | 1u << GRAM_TASK_CLASSIFICATION;
    begin_group(made, "Data", own);
    for (int i = methods->first.tasks & with_target ? 0 : TARGET_OPTIONS; i < DATA_OPTIONS; i++)
        add_option(made,
                   methods->first.unscaled && strcmp(data_options[i].name, "no-scale") == 0 ? &scale_option
                                                                                            : &data_options[i],
                   NULL);
}

/* Verbs whose --plot is among their own options have one picture, without colours. */
static void add_pictures(structure_groups *made, const gram_verb *verb, structure_options *own)
{
    if (!verb->pictures || verb->plot) return;
    begin_group(made, "Pictures", own);
    (void)snprintf(made->pictures, sizeof made->pictures, "what to draw: %s (default: the first)", verb->pictures);
    for (int i = 0; i < PLOT_OPTIONS; i++)
        if (i != SHOW_OPTION || strchr(verb->pictures, ' '))
            add_option(made, &plot_options[i], i == SHOW_OPTION ? made->pictures : NULL);
}

void structure_groups_make(const cli_method_options *methods, structure_options *own, cli_common *common,
                           structure_groups *made)
{
    made->count = made->option_count = 0;
    add_own(made, methods, own);
    for (size_t g = 0; g < methods->group_count; g++)
        if (methods->groups[g].count > 0) made->groups[made->count++] = methods->groups[g];
    add_data(made, methods, own);
    add_pictures(made, methods->first.verb, own);
    made->groups[made->count++] = cli_common_group(common);
}

/* ---- checks ---- */

int structure_is_standard_output(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

int structure_check_use(cli_session *session, const gram_verb *of, const structure_options *own)
{
    const char *verb = of->name;
    if (structure_is_standard_output(own->model))
        return cli_fail(CLI_WRONG_USE, "Give a file's name.", "%s: a model cannot be written to standard output", verb);
    if (session->common->json && structure_is_standard_output(own->rows))
        return cli_fail(CLI_WRONG_USE, "Give -o a file's name.", "%s: --json and rows both on standard output", verb);
    if (own->reconstruct && !own->rows)
        return cli_fail(CLI_WRONG_USE, "Give -o FILE, or - for standard output.", "%s: --reconstruct writes rows to -o",
                        verb);
    if (own->at && !own->rows)
        return cli_fail(CLI_WRONG_USE, "Give -o FILE, or - for standard output.", "%s: --at writes rows to -o", verb);
    int code = own->model ? cli_output_check(session, own->model) : CLI_DONE;
    if (code == CLI_DONE && own->rows && !structure_is_standard_output(own->rows))
        code = cli_output_check(session, own->rows);
    return code;
}

int structure_check_picture(cli_session *session, const gram_verb *verb, const structure_options *own)
{
    char help[128], found[GRAM_WORD_SIZE];
    if ((own->show || own->colour) && !own->plot)
        return cli_fail(CLI_WRONG_USE, "Give --plot FILE.", "%s: --%s is for a picture", verb->name,
                        own->show ? "show" : "colour");
    (void)snprintf(help, sizeof help, "It may be one of: %s.", verb->pictures ? verb->pictures : "");
    if (own->show && !gram_verb_draws(verb, own->show))
        return cli_cannot_be(verb->name, "show", own->show,
                             gram_suggest_word(own->show, verb->pictures ? verb->pictures : "", found), help);
    return own->plot ? cli_plot_check(session, own->plot) : CLI_DONE;
}

/* Is it a method of the verb? If not, *near is the one that was most likely meant, or NULL. */
static int is_method(const gram_verb *verb, const char *name, const char **near)
{
    enum { MOST = 16 };
    const char *names[MOST];
    size_t count = 0;
    for (int64_t i = 0; i < gram_method_count() && count < MOST; i++) {
        gram_method_facts method = {.size = sizeof method};
        gram_method_describe(i, &method);
        if (method.verb != verb) continue;
        if (strcmp(method.name, name) == 0) return 1;
        names[count++] = method.name;
    }
    *near = gram_suggest(name, names, count);
    return 0;
}

int structure_add_settings(const gram_verb *verb, const cli_method_options *methods, const char *kernel,
                           cli_settings *settings)
{
    const char *named = cli_setting(settings, "method"), *near = NULL;
    char help[256];
    (void)snprintf(help, sizeof help, "It may be %s.", methods->names.data);
    if (named && !is_method(verb, named, &near)) return cli_cannot_be(verb->name, "method", named, near, help);
    if (!named) cli_set(settings, "method", methods->first.name);
    if (kernel) cli_set(settings, "kernel", kernel);
    return CLI_DONE;
}
