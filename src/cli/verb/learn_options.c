#include "cli/verb/learn_options.h"

#include <string.h>

#define PLACE(field) offsetof(cli_learn_options, field)

/* The first ones are for rows that are read in passes, too. */
enum { OF_PARTS = 9 };

static const cli_option OPTIONS[] = {
    CLI_ROW("target", CLI_SETTING, PLACE(settings), "LIST", "the target columns (default: the last)"),
    CLI_ROW("features", CLI_SETTING, PLACE(settings), "LIST",
            "the feature columns, e.g. x1,x3:x5,7 (default: the others)"),
    CLI_ROW("ignore", CLI_SETTING, PLACE(settings), "LIST", "the columns to leave out"),
    CLI_ROW("weights", CLI_SETTING, PLACE(settings), "COL", "a column with the weights of the rows"),
    CLI_ROW("missing", CLI_SETTING, PLACE(settings), "HOW", "drop rows with missing values, or use the mean"),
    CLI_ROW("na", CLI_SETTING, PLACE(settings), "LIST", "texts that mean a missing value, e.g. unknown,-999"),
    CLI_ROW("categories", CLI_SETTING, PLACE(settings), "LIST",
            "columns that are categories, though they look like numbers"),
    CLI_ROW("no-scale", CLI_NO, PLACE(settings), NULL, "take the features as they are, do not standardise"),
    CLI_ROW_CHOICE("format", PLACE(format), "FORMAT", cli_formats, CLI_FORMAT_HELP),
    CLI_ROW("groups", CLI_SETTING, PLACE(settings), "COL", "a column of groups: folds of --tune cv keep each together"),
    CLI_ROW("kind", CLI_SETTING, PLACE(settings), "COL",
            "a column that says what rows are: value, d:NAME, d:NAME:NAME, laplacian, sum:ID, box, average, normal "
            "(krr, gp)"),
    CLI_ROW("operator", CLI_SETTING, PLACE(settings), "NAME=E",
            "kinds of your own, e.g. 'heat=d:t - 0.1*d:x:x'; several with ; between"),
    CLI_ROW("coefficient", CLI_SETTING, PLACE(settings), "COL", "coefficients of the rows of kind sum:ID (default: 1)"),
    CLI_ROW("ordered", CLI_YES, PLACE(settings), NULL,
            "rows are in order of time: folds of --tune cv go forward in it"),
    CLI_ROW("estimate", CLI_SETTING, PLACE(settings), "HOW",
            "the error on new rows: auto (default), loo, folds:K, holdout or no"),
    CLI_ROW("transform", CLI_SETTING, PLACE(settings), "HOW",
            "logarithms of features with heavy tails: auto (default: if rows left out say so), log or none"),
    CLI_ROW("text", CLI_SETTING, PLACE(settings), "LIST",
            "columns of texts, for kernels of strings: on(2, spectrum(k=3))"),
    CLI_ROW("gram", CLI_SETTING, PLACE(settings), "K.npy",
            "a given matrix: the kernel of each two rows of DATA, n x n; the kernel `given`"),
    CLI_ROW("bag", CLI_SETTING, PLACE(settings), "COL",
            "rows that agree in COL are one point, a bag (default kernel after(mean(rbf), rbf))"),
    CLI_ROW("bag-weights", CLI_SETTING, PLACE(settings), "COL", "a column with the weights of the rows in their bags"),
    CLI_ROW("graph", CLI_SETTING, PLACE(settings), "LIST",
            "columns of graphs such as 'a-b b-c; a:C b:O c:C', for wl and paths"),
    CLI_ROW("scale", CLI_YES, PLACE(settings), NULL, "standardise the features also with --kind"),
    CLI_ROW("stream", CLI_YES, PLACE(settings), NULL,
            "read DATA in passes, in memory that does not grow with it (krr; default: if it does not fit)"),
    CLI_ROW("cells", CLI_SETTING, PLACE(settings), "SIZE",
            "part the space into cells of at most SIZE rows with a model each, blended at the borders; also --solver "
            "cells[:SIZE]"),
    CLI_ROW("cell-tuning", CLI_SETTING, PLACE(settings), "HOW",
            "each, or shared: once, on a sample (default from 17 cells on)"),
    CLI_ROW("no-stream", CLI_NO, PLACE(settings), NULL, "never do so"),
};

cli_group cli_learn_data_group(cli_learn_options *own)
{
    return (cli_group){"Data", OPTIONS, sizeof OPTIONS / sizeof *OPTIONS, own};
}

cli_group cli_learn_parts_group(cli_learn_options *own)
{
    return (cli_group){"Data", OPTIONS, OF_PARTS, own};
}

cli_group cli_learn_rows_group(cli_learn_options *own)
{
    static const char *const NAMES[] = {"target",  "features", "ignore",     "weights",    "groups", "ordered",
                                        "missing", "na",       "categories", "no-scale",   "scale",  "format",
                                        "text",    "bag",      "graph",      "bag-weights"};
    size_t count = 0;
    for (size_t i = 0; i < sizeof OPTIONS / sizeof *OPTIONS; i++)
        for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++)
            if (strcmp(OPTIONS[i].name, NAMES[k]) == 0 && count < CLI_ROW_OPTIONS) own->rows[count++] = OPTIONS[i];
    return (cli_group){"Data", own->rows, count, own};
}
