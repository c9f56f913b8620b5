/* gram fit: learns a model from data. */
#define _POSIX_C_SOURCE 200809L
#include "cli/fit/verb_fit.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/fit/fit_resume.h"
#include "cli/plot/class_picture.h"
#include "cli/plot/fit_picture.h"
#include "cli/plot/gnuplot.h"
#include "cli/report/model_report.h"
#include "cli/report/report_rows.h"
#include "cli/terminal/free_memory.h"
#include "cli/terminal/json_print.h"

static const cli_choice METHODS[] = {
    {"auto", FIT_METHOD_AUTO, NULL, 0, 0},
    {"krr", FIT_METHOD_KRR, NULL, 0, 0},
    {"gp", FIT_METHOD_GP, NULL, 0, 0},
    {"svm", FIT_METHOD_SVM, NULL, 0, 0},
    {"logistic", FIT_METHOD_LOGISTIC, NULL, 0, 0},
    {"spline", CLI_LATER, NULL, 0, 0},
    {NULL, 0, NULL, 0, 0},
};

static const cli_choice TASKS[] = {
    {"regression", FIT_TASK_REGRESSION, NULL, 0, 0},
    {"classification", FIT_TASK_CLASSIFICATION, NULL, 0, 0},
    {NULL, 0, NULL, 0, 0},
};

static const cli_choice TUNES[] = {
    {"loo", FIT_TUNE_LOO, NULL, 0, 0}, {"gcv", FIT_TUNE_GCV, NULL, 0, 0},   {"cv", FIT_TUNE_CV, "K", 2, 1000},
    {"ml", FIT_TUNE_ML, NULL, 0, 0},   {"none", FIT_TUNE_NONE, NULL, 0, 0}, {NULL, 0, NULL, 0, 0},
};

static const cli_choice SOLVERS[] = {
    {"auto", GRAM_SOLVER_AUTO, NULL, 0, 0},
    {"exact", GRAM_SOLVER_EXACT, NULL, 0, 0},
    {"cg", GRAM_SOLVER_CG, NULL, 0, 0},
    {"nystrom", GRAM_SOLVER_NYSTROM, "M", 1, 1 << 30},
    {"inducing", GRAM_SOLVER_INDUCING, "M", 1, 1 << 20},
    {"fourier", CLI_LATER, "D", 0, 0},
    {"binning", CLI_LATER, "P", 0, 0},
    {"markov", GRAM_SOLVER_MARKOV, NULL, 0, 0},
    {"cells", CLI_LATER, NULL, 0, 0},
    {NULL, 0, NULL, 0, 0},
};

static const cli_choice PRECISIONS[] = {
    {"f64", GRAM_PRECISION_F64, NULL, 0, 0},
    {"mixed", GRAM_PRECISION_MIXED, NULL, 0, 0},
    {"f32", GRAM_PRECISION_F32, NULL, 0, 0},
    {NULL, 0, NULL, 0, 0},
};

static const cli_choice MEANS[] = {
    {"zero", FIT_MEAN_ZERO, NULL, 0, 0},
    {"constant", FIT_MEAN_CONSTANT, NULL, 0, 0},
    {"linear", FIT_MEAN_LINEAR, NULL, 0, 0},
    {"flat", FIT_MEAN_FLAT, NULL, 0, 0},
    {NULL, 0, NULL, 0, 0},
};

static const cli_choice SVMS[] = {
    {"c", FIT_SVM_C, NULL, 0, 0},
    {"nu", FIT_SVM_NU, NULL, 0, 0},
    {"one-class", FIT_SVM_ONE_CLASS, NULL, 0, 0},
    {NULL, 0, NULL, 0, 0},
};

static const cli_choice LOSSES[] = {
    {"squared", GRAM_LOSS_SQUARED, NULL, 0, 0},
    {"absolute", GRAM_LOSS_ABSOLUTE, NULL, 0, 0},
    {"huber", GRAM_LOSS_HUBER, NULL, 0, 0},
    {"quantile", GRAM_LOSS_QUANTILE, NULL, 0, 0},
    {"insensitive", GRAM_LOSS_INSENSITIVE, NULL, 0, 0},
    {NULL, 0, NULL, 0, 0},
};

static const cli_choice LIKELIHOODS[] = {
    {"gaussian", FIT_LIKELIHOOD_GAUSSIAN, NULL, 0, 0},
    {"poisson", FIT_LIKELIHOOD_POISSON, NULL, 0, 0},
    {"student", FIT_LIKELIHOOD_STUDENT, NULL, 0, 0},
    {NULL, 0, NULL, 0, 0},
};

#define PLACE(field) offsetof(fit_options, field)

static const cli_option own_options[] = {
    {"method", 0, CLI_CHOICE, PLACE(method), "NAME",
     "krr (ridge regression), gp (Gaussian process), svm or logistic (default: krr for numbers, svm for classes)", 0, 0,
     METHODS},
    {"task", 0, CLI_CHOICE, PLACE(task), "TASK", "regression or classification (default: by the target)", 0, 0, TASKS},
    {"kernel", 0, CLI_TEXT, PLACE(kernel), "E",
     "an expression (default rbf, for gp const*rbf, one length-scale per feature)", 0, 0, NULL},
    {"lambda", 0, CLI_NUMBER, PLACE(lambda), "L", "the ridge of (1/n) sum |y - f|^2 + L |f|^2; 0: interpolate", 0, 0,
     NULL},
    {"noise", 0, CLI_NUMBER, PLACE(noise), "S", "the same as a variance of noise: S = n L", 0, 0, NULL},
    {"alpha", 0, CLI_NUMBER, PLACE(alpha), "A", "the same in scikit-learn's words: A = n L", 0, 0, NULL},
    {"tune", 0, CLI_CHOICE, PLACE(tune), "HOW",
     "loo, gcv, cv:K, ml or none (default loo for krr, ml for gp, else cv:5; none if all is given)", 0, 0, TUNES},
    {"grid", 0, CLI_INTEGER, PLACE(grid), "N", "tune by a grid of N values each, not by gradients", 2, 1000, NULL},
    {"ard", 0, CLI_FLAG, PLACE(ard), NULL, "try one length-scale per feature for --kernel too", 0, 0, NULL},
    {"no-ard", 0, CLI_FLAG, PLACE(no_ard), NULL, "one length-scale for all features", 0, 0, NULL},
    {"no-intercept", 0, CLI_FLAG, PLACE(no_intercept), NULL, "no unpenalised constant", 0, 0, NULL},
    {"loo", 0, CLI_FLAG, PLACE(loo), NULL, "leave-one-out errors also above 5,000 rows", 0, 0, NULL},
    {"solver", 0, CLI_CHOICE, PLACE(solver), "NAME",
     "auto, exact, cg, nystrom:M (M landmarks); gp: auto, exact, markov, cg, inducing:M", 0, 0, SOLVERS},
    {"precision", 0, CLI_CHOICE, PLACE(precision), "P", "f64, mixed or f32 (default: by the size)", 0, 0, PRECISIONS},
    {"tolerance", 0, CLI_POSITIVE, PLACE(tolerance), "T", "of the solution (default: by the method)", 0, 0, NULL},
    {"plot", 0, CLI_TEXT, PLACE(plot), "FILE", "draw the fit: .svg, .png or .pdf (by gnuplot)", 0, 0, NULL},
};

static const cli_option process_options[] = {
    {"mean", 0, CLI_CHOICE, PLACE(mean), "M", "zero, constant (default), linear, or flat (integrated out)", 0, 0,
     MEANS},
    {"keep-factor", 0, CLI_FLAG, PLACE(keep_factor), NULL,
     "of gp: the model keeps its factor, n^2/2 numbers, above 1,000 rows too, so that --std is quick", 0, 0, NULL},
    {"likelihood", 0, CLI_CHOICE, PLACE(likelihood), "L",
     "of gp: gaussian (default), poisson for counts, student for outliers", 0, 0, LIKELIHOODS},
    {"student", 0, CLI_POSITIVE, PLACE(student), "NU", "of --likelihood student: degrees of freedom (default 4)", 0, 0,
     NULL},
};

static const cli_option class_options[] = {
    {"C", 0, CLI_POSITIVE, PLACE(C), "C", "of svm: the price of errors; of logistic: 1/(2 n L)", 0, 0, NULL},
    {"svm", 0, CLI_CHOICE, PLACE(svm), "KIND", "of svm: c (default), nu, or one-class, which learns no target", 0, 0,
     SVMS},
    {"nu", 0, CLI_POSITIVE, PLACE(nu), "NU", "of svm nu and one-class: a share of the rows, in (0, 1] (default 0.5)", 0,
     0, NULL},
    {"epsilon", 0, CLI_NUMBER, PLACE(epsilon), "E",
     "of svm for numbers and --loss insensitive: half the width of the tube (default 0.1)", 0, 0, NULL},
    {"class-weight", 0, CLI_TEXT, PLACE(class_weight), "W", "of classes: balanced, or NAME=W,NAME=W", 0, 0, NULL},
    {"prob", 0, CLI_FLAG, PLACE(prob), NULL, "of svm: probabilities also when nothing is tuned, by 5 more fits", 0, 0,
     NULL},
    {"seconds", 0, CLI_POSITIVE, PLACE(seconds), "S",
     "of svm: stop the machine's fit, after tuning, about then; --resume goes on", 0, 0, NULL},
    {"iterations", 0, CLI_INTEGER, PLACE(iterations), "N", "of svm: stop it after N steps for each pair of classes", 1,
     INT64_C(1000000000000000), NULL},
    {"resume", 0, CLI_TEXT, PLACE(resume), "M.gram",
     "go on with a machine that was stopped, on the same DATA; all but --tolerance is the model's", 0, 0, NULL},
    {"loss", 0, CLI_CHOICE, PLACE(loss), "LOSS", "of krr: squared (default), absolute, huber, quantile or insensitive",
     0, 0, LOSSES},
    {"quantile", 0, CLI_TEXT, PLACE(quantile), "LIST", "levels of --loss quantile, e.g. 0.1,0.5,0.9; implies it", 0, 0,
     NULL},
    {"non-crossing", 0, CLI_FLAG, PLACE(non_crossing), NULL, "quantiles do not cross at the rows of DATA", 0, 0, NULL},
    {"delta", 0, CLI_POSITIVE, PLACE(delta), "D",
     "of huber: where it becomes linear (default: by the spread of the target)", 0, 0, NULL},
};

static const cli_option data_options[] = {
    {"target", 0, CLI_TEXT, PLACE(target), "LIST", "the columns to learn (default: the last)", 0, 0, NULL},
    {"features", 0, CLI_TEXT, PLACE(features), "LIST",
     "the columns to learn from, e.g. x1,x3:x5,7 (default: the others)", 0, 0, NULL},
    {"ignore", 0, CLI_TEXT, PLACE(ignore), "LIST", "the columns to leave out", 0, 0, NULL},
    {"weights", 0, CLI_TEXT, PLACE(weights), "COL", "a column with the weights of the rows", 0, 0, NULL},
    {"row-noise", 0, CLI_TEXT, PLACE(row_noise), "COL", "of gp: a column with known variances of the rows' noise", 0, 0,
     NULL},
    {"missing", 0, CLI_CHOICE, PLACE(missing), "HOW", "drop rows with missing values, or take the mean", 0, 0,
     cli_missings},
    {"no-scale", 0, CLI_FLAG, PLACE(no_scale), NULL, "take the features as they are, do not standardise", 0, 0, NULL},
    {"format", 0, CLI_CHOICE, PLACE(format), "FORMAT", CLI_FORMAT_HELP, 0, 0, cli_formats},
};

static const cli_usage usage = {
    "fit",
    "DATA",
    "Learns a model from a table (.csv, .tsv, .npy, .svm; - is standard input) and writes it with -o. Text columns "
    "become\n"
    "categories and numbers are standardised. A target of text or of few whole numbers is learnt as classes. Numbers "
    "of the "
    "kernel\n"
    "that are left out, and the ridge, are chosen from the data: by the leave-one-out error (krr), the likelihood (gp) "
    "or folds\n"
    "(svm, logistic, other losses). A number that is given is where the choice starts; with a ! behind it, it is "
    "kept.\n",
    "  gram fit data.csv -o model.gram\n"
    "  gram fit data.csv --target price --ignore id --kernel 'matern(nu=1.5)' --plot fit.svg -o model.gram\n"
    "  gram fit data.csv --kernel 'rbf(ell=0.5)' --noise 0.1 -o model.gram\n"
    "  gram fit data.csv --method gp --plot band.svg -o model.gram\n"
    "  gram fit classes.csv --method logistic -o model.gram\n"
    "  gram fit data.csv --quantile 0.1,0.5,0.9 -o model.gram\n"
    "  gram fit classes.csv --seconds 600 -o model.gram\n"
    "  gram fit classes.csv --resume model.gram --seconds 600 -o model.gram\n",
    1,
    1,
    NULL,
    "write the model to FILE",
};

const fit_kind *cli_fit_kind(const fit_options *own, fit_task task)
{
    const int classes = task == FIT_TASK_CLASSIFICATION;
    const int loss = own->loss.value > GRAM_LOSS_SQUARED || own->quantile;
    switch ((fit_method)own->method.value) {
    case FIT_METHOD_KRR: return classes ? NULL : loss ? &cli_fit_loss : &cli_fit_krr;
    case FIT_METHOD_GP:
        return classes                                           ? &cli_fit_laplace
               : own->likelihood.value == FIT_LIKELIHOOD_POISSON ? &cli_fit_poisson
               : own->likelihood.value == FIT_LIKELIHOOD_STUDENT ? &cli_fit_student
                                                                 : &cli_fit_gp;
    case FIT_METHOD_SVM: return &cli_fit_svm;
    case FIT_METHOD_LOGISTIC: return task == FIT_TASK_REGRESSION ? NULL : &cli_fit_logistic;
    default: return classes || task == FIT_TASK_ONE_CLASS ? &cli_fit_svm : loss ? &cli_fit_loss : &cli_fit_krr;
    }
}

/* ---- the report ---- */

static void add_task(cli_text *text, const fit_state *fit)
{
    const char *name = gram_preparation_describe(fit->preparation)->targets[0].name;
    if (fit->task == FIT_TASK_CLASSIFICATION) {
        cli_text_add(text, "Classification%s: ",
                     fit->own->task.value == FIT_TASK_AUTO && fit->classes.values
                         ? " (--task regression if these are numbers)"
                         : "");
        cli_text_add(text, "%s, ", name);
        cli_classes_print(text, &fit->classes);
    } else if (fit->few_values > 0) {
        cli_text_add(text, "Regression, though %s has only %" PRId64 " values (--task regression says so): ", name,
                     fit->few_values);
    } else {
        cli_text_add(text, "Regression: ");
    }
}

static void add_assumptions(cli_text *text, const fit_state *fit)
{
    char rows[CLI_SHORT_SIZE];
    const gram_preparation_description *known = gram_preparation_describe(fit->preparation);
    const int64_t dropped = fit->prepared->table_rows - fit->n;
    if (fit->task == FIT_TASK_ONE_CLASS) {
        cli_text_add(text, "One class: a region that holds most rows");
    } else {
        add_task(text, fit);
        if (fit->task == FIT_TASK_REGRESSION) cli_add_targets(text, known);
    }
    cli_text_add(text, " on ");
    cli_add_features(text, known);
    cli_text_add(text, "; %s row%s", cli_count(fit->n, rows), cli_plural(fit->n));
    if (dropped > 0) cli_text_add(text, ", %s dropped", cli_count(dropped, rows));
    cli_text_add(text, fit->own->no_scale ? "; not scaled.\n\n" : "; numbers are standardised.\n\n");
}

static void add_place(cli_session *session, cli_text *text, const fit_state *fit)
{
    char size[GRAM_BYTES_SIZE];
    struct stat facts;
    cli_text_add(text, "\n");
    cli_add_label(text, "time, memory");
    cli_text_add(text, "%.2f s, %s\n", cli_session_seconds(session), gram_bytes_format(cli_memory_peak(), size));
    if (!fit->own->model) cli_add_row(text, "model", "not kept; -o FILE writes it");
    if (fit->own->model && stat(fit->own->model, &facts) == 0) {
        cli_add_label(text, "model");
        cli_text_add(text, "%s, %s\n", fit->own->model, gram_bytes_format((size_t)facts.st_size, size));
    }
    if (fit->own->plot) cli_add_row(text, "plot", fit->own->plot);
}

static void write_table(cli_session *session, const fit_state *fit, const cli_model_report *report, cli_text *text)
{
    add_assumptions(text, fit);
    cli_model_report_print(session, text, report);
    add_place(session, text, fit);
}

static void json_path(cli_json *json, const char *key, const char *path)
{
    if (path)
        cli_json_string(json, key, path);
    else
        cli_json_null(json, key);
}

static void write_json(cli_session *session, const fit_state *fit, const cli_model_report *report, cli_text *text)
{
    cli_json json = {text, 0};
    cli_json_open(&json, NULL, '{');
    cli_model_report_json(&json, report);
    cli_json_string(&json, "data", fit->file);
    cli_json_truth(&json, "looks_like_classes", fit->few_values > 0);
    cli_json_number(&json, "seconds", cli_session_seconds(session));
    cli_json_integer(&json, "peak_bytes", (int64_t)cli_memory_peak());
    if (fit->own->resume) cli_json_string(&json, "resume", fit->own->resume);
    json_path(&json, "model", fit->own->model);
    if (fit->own->plot) cli_json_string(&json, "plot", fit->own->plot);
    cli_json_close(&json, '{');
    cli_text_add(text, "\n");
}

/* ---- the picture ---- */

static int draw(cli_session *session, const fit_state *fit, const cli_model_report *report)
{
    const gram_prepared *data = fit->prepared;
    const gram_column *feature = gram_preparation_describe(fit->preparation)->features;
    double *f = calloc((size_t)data->n, sizeof *f);
    cli_sample sample = {0};
    if (!f) return cli_no_memory();
    const char *kind = fit->kind->fitted(session, fit, f);
    const cli_picture picture = {fit->model, fit->file, kind, &sample, &report->relevance};
    int code = kind ? CLI_DONE : cli_session_fail(session, GRAM_ERROR_BUDGET, 0, NULL);
    if (code == CLI_DONE) code = cli_sample_begin(session, &sample);
    if (code == CLI_DONE) {
        for (int64_t i = 0; i < data->n; i++)
            cli_sample_add(&sample, data->x[i * data->d] * feature->deviation + feature->mean,
                           data->y[i * data->targets], f[i]);
        code = cli_picture_draw(session, fit->own->plot, &picture);
    }
    cli_sample_free(&sample);
    free(f);
    return code;
}

/* Regions for two features, else how well the probabilities hold on the rows of the fit. */
static int draw_classes(cli_session *session, const fit_state *fit)
{
    const cli_class_picture picture = {fit->model,       fit->own->model ? fit->own->model : "the model",
                                       fit->file,        fit->prepared->n,
                                       fit->prepared->x, fit->labels};
    return cli_class_picture_draw(session, fit->own->plot, &picture);
}

/* ---- the verb ---- */

/* Options that only some methods have. */
static int check_losses(const fit_kind *kind, const fit_options *own)
{
    int code = CLI_DONE;
    if (kind != &cli_fit_loss) {
        code = cli_fit_refuse("--loss", kind->name, own->loss.value > GRAM_LOSS_SQUARED);
        if (code == CLI_DONE) code = cli_fit_refuse("--quantile", kind->name, own->quantile != NULL);
        if (code == CLI_DONE) code = cli_fit_refuse("--delta", kind->name, !isnan(own->delta));
    }
    if (code == CLI_DONE && own->method.value != FIT_METHOD_GP)
        code = cli_fit_refuse("--likelihood", kind->name, own->likelihood.value > FIT_LIKELIHOOD_GAUSSIAN);
    if (code == CLI_DONE && own->method.value != FIT_METHOD_GP)
        code = cli_fit_refuse("--keep-factor", kind->name, own->keep_factor);
    return code;
}

static int check_use(const fit_kind *kind, const fit_options *own)
{
    if (cli_fit_ridges(own) > 1)
        return cli_fail(CLI_WRONG_USE, "They are one number: noise = alpha = n lambda.",
                        "fit: give one of --lambda, --noise and --alpha");
    if (own->ard && own->no_ard)
        return cli_fail(CLI_WRONG_USE, "Leave one out.", "fit: --ard and --no-ard contradict each other");
    if (own->grid > 0 && own->tune.value == FIT_TUNE_NONE)
        return cli_fail(CLI_WRONG_USE, "Leave one out.", "fit: --grid tunes, and --tune none does not");
    if (own->model && strcmp(own->model, "-") == 0)
        return cli_fail(CLI_WRONG_USE, "Give a file's name.", "fit: a model cannot be written to standard output");
    int code = check_losses(kind, own);
    if (code == CLI_DONE && (own->method.value != FIT_METHOD_AUTO || own->task.value != FIT_TASK_AUTO))
        code = cli_fit_check_budget(kind, own); /* otherwise the data decide what the method is */
    if (code == CLI_DONE) code = kind->check_use(own);
    if (code == CLI_DONE && own->model) code = cli_output_check(own->model);
    return code == CLI_DONE && own->plot ? cli_plot_check(own->plot) : code;
}

/* With --resume the model decides all that made it; how long to go on and how far are the caller's. */
static int check_resume(const cli_group *groups, size_t group_count, int count, char **arguments, fit_options *own)
{
    static const char *const allowed[] = {"method", "tolerance", "seconds", "iterations",
                                          "resume", "plot",      "format",  NULL};
    if (!own->resume) return CLI_DONE;
    const char *other = cli_find_other(groups, group_count, count, arguments, allowed);
    if (own->method.value != FIT_METHOD_AUTO && own->method.value != FIT_METHOD_SVM) other = "method";
    own->method.value = FIT_METHOD_SVM;
    if (!other) return CLI_DONE;
    return cli_fail(CLI_WRONG_USE, "Leave it out; `gram info` shows what the model has.",
                    "fit: --%s does not go with --resume: the model decides", other);
}

static int write_model(cli_session *session, const fit_state *fit)
{
    if (!fit->own->model) return CLI_DONE;
    const gram_status status = gram_model_write(session->context, fit->model, fit->own->model);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

/* The model first: a picture that cannot be drawn costs no fit, and the report is printed all the same. */
static int finish(cli_session *session, const fit_state *fit)
{
    cli_text text = {0};
    cli_model_report report = {0};
    int drawn = CLI_DONE;
    int code = cli_model_report_find(session, fit->model, &report);
    report.file = fit->own->model;
    if (code == CLI_DONE) code = write_model(session, fit);
    if (code == CLI_DONE) {
        if (fit->own->plot)
            drawn = fit->task == FIT_TASK_REGRESSION ? draw(session, fit, &report) : draw_classes(session, fit);
        if (session->common->json)
            write_json(session, fit, &report, &text);
        else
            write_table(session, fit, &report, &text);
        code = cli_report_write(session, &text);
    }
    cli_model_report_free(&report);
    return code == CLI_DONE ? drawn : code;
}

int cli_fit(int count, char **arguments)
{
    fit_options own = {.lambda = NAN, .noise = NAN, .alpha = NAN, .epsilon = NAN, .delta = NAN, .mean = {-1, 0}};
    cli_common common = {0};
    cli_session session = {0};
    fit_state fit = {.own = &own};
    const cli_group groups[] = {
        {"Options", own_options, sizeof own_options / sizeof *own_options, &own},
        {"Gaussian processes (gp)", process_options, sizeof process_options / sizeof *process_options, &own},
        {"Classes, support vector machines, other losses", class_options, sizeof class_options / sizeof *class_options,
         &own},
        {"Data", data_options, sizeof data_options / sizeof *data_options, &own},
        cli_common_group(&common),
    };
    char **operands;
    int operand_count;
    int code = cli_parse(&usage, groups, 5, count, arguments, &operands, &operand_count);
    if (code != CLI_CONTINUE) return code;
    code = check_resume(groups, 5, count, arguments, &own);
    if (code != CLI_DONE) return code;
    own.model = common.out; /* the report goes to standard output all the same */
    common.out = NULL;
    fit.kind = cli_fit_kind(&own, (fit_task)own.task.value);
    if (!fit.kind) fit.kind = cli_fit_kind(&own, FIT_TASK_AUTO); /* the message needs the data */
    code = check_use(fit.kind, &own);
    if (code == CLI_DONE) code = cli_session_begin(&session, &common);
    if (code == CLI_DONE && own.resume) code = cli_fit_resume_open(&session, &own, &fit);
    if (code == CLI_DONE) code = cli_fit_prepare(&session, operands[0], &fit);
    if (code == CLI_DONE) code = fit.kind->work(&session, &fit);
    if (code == CLI_DONE) code = finish(&session, &fit);
    cli_fit_free(&fit);
    cli_session_end(&session);
    return code;
}
