#include "cli/verb/prepared_samples.h"

#include "cli/terminal/data_origin.h"

#define PLACE(field) offsetof(cli_rows_options, field)

static const cli_option sample_options[] = {
    CLI_ROW_CHOICE("format", PLACE(format), "FORMAT", cli_formats, CLI_FORMAT_HELP),
    CLI_ROW("features", CLI_TEXT, PLACE(features), "LIST", "the columns to use, e.g. x1,x3:x5,7"),
    CLI_ROW("ignore", CLI_TEXT, PLACE(ignore), "LIST", "the columns to leave out"),
    CLI_ROW_CHOICE("missing", PLACE(missing), "HOW", cli_missings, "drop rows with missing values, or use the mean"),
    CLI_ROW("text", CLI_TEXT, PLACE(texts), "LIST", "columns of texts, for kernels of strings: spectrum(k=3)"),
    CLI_ROW("graph", CLI_TEXT, PLACE(graphs), "LIST",
            "columns of graphs such as 'a-b b-c; a:C b:O c:C', for wl and paths"),
    CLI_ROW("bag", CLI_TEXT, PLACE(bag), "COL", "rows that agree in COL are one point, a bag: after(mean(rbf), rbf)"),
    CLI_ROW("bag-weights", CLI_TEXT, PLACE(bag_weights), "COL", "a column with the weights of the rows in their bags"),
    CLI_ROW("gram", CLI_TEXT, PLACE(gram), "K.npy",
            "a given matrix, for the kernel `given` of the column gram; of two files over the rows of A and then of B"),
    CLI_ROW_FLAG("no-scale", PLACE(no_scale), "do not standardise the columns"),
};

cli_group cli_rows_group(cli_rows_options *options)
{
    return (cli_group){"Data", sample_options, sizeof sample_options / sizeof *sample_options, options};
}

gram_sample_options cli_rows_wish(const cli_rows_options *options, const char *verb)
{
    gram_sample_options wish;
    gram_sample_options_init(&wish, sizeof wish);
    wish.format = (gram_format)options->format.value;
    wish.features = options->features;
    wish.ignore = options->ignore;
    wish.missing = (gram_missing)options->missing.value;
    wish.scale = !options->no_scale;
    wish.texts = options->texts;
    wish.graphs = options->graphs;
    wish.bag = options->bag;
    wish.bag_weights = options->bag_weights;
    wish.gram = options->gram;
    wish.who = verb;
    wish.dashes = "--";
    return wish;
}

int cli_rows_unread(cli_session *session, gram_status status)
{
    return cli_data_unread(session, status,
                           "--ignore LIST leaves columns out; --missing drop or mean helps with missing values.");
}

const char *cli_rows_name(const gram_sample_report *sample, int64_t column, char name[CLI_COLUMN_NAME_SIZE])
{
    (void)gram_preparation_column_name(sample->preparation, column, name, CLI_COLUMN_NAME_SIZE);
    return name;
}

int cli_rows_scaled(const gram_sample_report *sample)
{
    return gram_preparation_describe(sample->preparation)->scaled;
}
