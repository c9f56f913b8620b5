#define _POSIX_C_SOURCE 200809L
#include "cli/verb/density_options.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/report/kernel_text.h"

static const cli_choice preconditions[] = {
    CLI_WORD("med", GRAM_STEIN_METRIC_MED),
    CLI_WORD("sclmed", GRAM_STEIN_METRIC_SCLMED),
    CLI_WORD("smpcov", GRAM_STEIN_METRIC_SMPCOV),
    CLI_WORD("id", GRAM_STEIN_METRIC_ID),
    CLI_WORDS_END,
};

/* "Not given" differs from med by its number. */
enum { NOT_GIVEN = -7 };

#define PLACE(field) offsetof(cli_scored_options, field)

static const cli_option scored_options[] = {
    CLI_ROW("scores", CLI_TEXT, PLACE(scores), "S",
            "scores, grad log p at each row: a file beside DATA, or columns of it"),
    CLI_ROW("density", CLI_TEXT, PLACE(density), "NAME",
            "the density itself, e.g. 'gaussian(mean=[0,0], sd=1)'; see below"),
    CLI_ROW("density-data", CLI_TEXT, PLACE(density_data), "FILE",
            "observations of the density logistic: columns, and labels 0 or 1 last"),
    CLI_ROW("measure", CLI_TEXT, PLACE(measure), "M",
            "a law that is known by its integrals instead, e.g. 'normal(0,1)*uniform(0,1)', a factor for each column"),
    {"kernel", 'k', CLI_TEXT, PLACE(kernel), "E",
     "base kernel (default: imq by --precondition; of --measure rbf; of a sample laplace)", 0, 0, NULL},
    CLI_ROW_CHOICE("precondition", PLACE(precondition), "P", preconditions,
                   "metric of imq: med (default), sclmed, smpcov or id"),
};

cli_group cli_scored_group(cli_scored_options *options)
{
    options->precondition.value = NOT_GIVEN;
    return (cli_group){"Density and kernel", scored_options, sizeof scored_options / sizeof *scored_options, options};
}

void cli_scored_help(gram_string *text)
{
    gram_string_add(text,
                    "\nDensities:\n"
                    "  gaussian(mean=0, cov=[1,0;0,1])       or sd=1; mean and sd: one number or a list\n"
                    "  student(df=5, mean=0, cov=...)        multivariate t\n"
                    "  mixture(means=[0,0;3,3], weights=[1,2], sd=1)\n"
                    "                                        of Gaussians; sd: one number or one each; or cov\n"
                    "  banana(b=0.03, sd=10)                 x1 ~ N(0, sd^2), x2 + b (x1^2 - sd^2) ~ N(0, 1)\n"
                    "  logistic(sd=10)                       posterior of the coefficients of a logistic regression\n"
                    "                                        without intercept on --density-data, prior N(0, sd^2)\n"
                    "Preconditioners of the base kernel (1 + (x-y)' G^-1 (x-y))^-1/2:\n"
                    "  med: G = (median distance)^2; sclmed: that divided by log m; smpcov: the covariance; id: 1\n");
}

int cli_scored_open(const cli_scored_options *options)
{
    return !options->kernel && options->precondition.value == NOT_GIVEN;
}

int cli_scored_check(const char *verb, const cli_scored_options *options, int needed)
{
    char help[96];
    (void)snprintf(help, sizeof help, "`gram %s --help` has examples.", verb);
    if (options->scores && options->density)
        return cli_fail(CLI_WRONG_USE, help, "%s: --scores and --density are two ways to say the same thing", verb);
    if (options->measure && (options->scores || options->density || options->precondition.value != NOT_GIVEN))
        return cli_fail(CLI_WRONG_USE, help, "%s: --measure goes without --scores, --density and --precondition", verb);
    if (needed && !options->scores && !options->density && !options->measure)
        return cli_fail(CLI_WRONG_USE, help, "%s: needs the density: --scores S or --density NAME, or --measure M",
                        verb);
    if (options->kernel && options->precondition.value != NOT_GIVEN)
        return cli_fail(CLI_WRONG_USE, help, "%s: --precondition is for the default kernel, not for --kernel", verb);
    if (options->density_data && !options->density)
        return cli_fail(CLI_WRONG_USE, help, "%s: --density-data is for --density logistic", verb);
    return CLI_DONE;
}

int cli_scored_law(cli_session *session, const char *verb, const cli_scored_options *options, const cli_data *data,
                   const gram_scored_points *scored, gram_law **law)
{
    char message[CLI_MESSAGE_SIZE];
    *law = NULL;
    if (!options->measure) return CLI_DONE;
    if (data->scale)
        return cli_fail(CLI_WRONG_USE, "Leave --scale out.", "%s: --measure is in the columns' own units", verb);
    const gram_status status =
        gram_law_parse(session->context, options->measure, gram_scored_points_get_report(scored)->d, law);
    if (status != GRAM_ERROR_ARGUMENT) return status < 0 ? cli_session_fail(session, status, 1, NULL) : CLI_DONE;
    (void)snprintf(message, sizeof message, "%s", gram_context_message(session->context));
    return cli_fail(CLI_WRONG_USE, "Measures look like 'normal(0,2)*uniform(-1,1)', one factor for each column.",
                    "%s: --measure cannot be %s", verb, message);
}

int cli_scored_fail(cli_session *session, gram_status status, const gram_scored_points *scored)
{
    gram_scored_points_name_place(session->context, scored);
    return cli_session_fail(
        session, status, 1,
        status == GRAM_ERROR_NUMERICAL
            ? "Numbers of very different size need another kernel or other units; `gram thin` has --scale."
            : NULL);
}

static int is_file(const char *path)
{
    return strcmp(path, "-") == 0 || access(path, R_OK) == 0;
}

int cli_scored_read(cli_session *session, const char *verb, const char *path, const cli_data *data,
                    const cli_scored_options *options, int64_t m, gram_scored_points **scored)
{
    gram_scored_options how;
    gram_kernel *kernel = NULL;
    const char *expression = options->kernel ? options->kernel : options->measure ? "rbf" : NULL;
    int code = expression ? cli_kernel_read(session, expression, &kernel) : CLI_DONE;
    if (code != CLI_DONE) return code;
    gram_scored_options_init(&how, sizeof how);
    how.format = (gram_format)data->format.value;
    how.features = data->features;
    how.ignore = data->ignore;
    how.scale = data->scale;
    how.texts = data->texts;
    how.gram = options->gram;
    *(options->scores && is_file(options->scores) ? &how.score_file : &how.score_columns) = options->scores;
    how.density = options->density;
    how.density_data = options->density_data;
    how.kernel = kernel;
    if (options->precondition.value != NOT_GIVEN) how.metric = (gram_stein_metric)options->precondition.value;
    how.m = m;
    how.who = verb;
    how.dashes = "--";
    const gram_status status = gram_scored_points_read(session->context, path, &how, scored);
    if (status < 0) code = cli_data_unread(session, status, NULL);
    gram_kernel_release(kernel);
    return code;
}
