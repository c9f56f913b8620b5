/* The options of a verb, as tables: parsing, checking, suggestions and --help all come from them. */
#ifndef GRAM_CLI_TERMINAL_OPTIONS_H
#define GRAM_CLI_TERMINAL_OPTIONS_H

#include "cli/terminal/cli.h"

typedef enum cli_type {
    CLI_FLAG,     /* int */
    CLI_TEXT,     /* const char * */
    CLI_INTEGER,  /* int64_t, from `least` to `most` */
    CLI_POSITIVE, /* double, above 0 */
    CLI_NUMBER,   /* double, 0 or more */
    CLI_SEED,     /* uint64_t */
    CLI_SIZE,     /* uint64_t, in bytes: 8G */
    CLI_TIME,     /* double, in seconds: 5m */
    CLI_CHOICE,   /* cli_chosen: one of `choices` */
    CLI_SETTING,  /* cli_settings: a text, kept as it is under the option's name */
    CLI_LIST,     /* the same, and it may be given again */
    CLI_YES,      /* the same, "yes" */
    CLI_NO        /* the same, "no", under the name without its "no-" */
} cli_type;

/* A word that an option may be. Tables end with a row whose name is NULL. */
typedef struct cli_choice {
    const char *name;
    int value;
    const char *number; /* what may follow, as M in "nystrom:M"; NULL: nothing may */
    int64_t least, most;
} cli_choice;

typedef struct cli_chosen {
    int value;
    int64_t number; /* 0: not given */
} cli_chosen;

/* Options that the library reads: names and texts in the order of the command line. */
enum { CLI_MOST_SETTINGS = 128, CLI_ADDED_SETTINGS = 4 }; /* the last are left for what a verb adds */

typedef struct cli_given {
    const char *name, *value;
} cli_given;

typedef struct cli_settings {
    size_t count;
    cli_given given[CLI_MOST_SETTINGS];
} cli_settings;

/* What was given last under a name, NULL: nothing; and what a verb adds to it, which counts instead. */
const char *cli_setting(const cli_settings *settings, const char *name);
void cli_set(cli_settings *settings, const char *name, const char *value);

typedef struct cli_option {
    const char *name; /* without the dashes */
    char letter;      /* or 0 */
    cli_type type;
    size_t offset;        /* of its value in the group's struct */
    const char *argument; /* what help calls it; NULL for a flag */
    const char *help;     /* NULL: known, but not listed */
    int64_t least, most;
    const cli_choice *choices;
} cli_option;

/* Rows of such tables, for options without a letter. */
#define CLI_ROW(name, type, place, argument, help)                                                                     \
    {                                                                                                                  \
        name, 0, type, place, argument, help, 0, 0, NULL                                                               \
    }
#define CLI_ROW_FLAG(name, place, help)                                                                                \
    {                                                                                                                  \
        name, 0, CLI_FLAG, place, NULL, help, 0, 0, NULL                                                               \
    }
#define CLI_ROW_INTEGER(name, place, argument, least, most, help)                                                      \
    {                                                                                                                  \
        name, 0, CLI_INTEGER, place, argument, help, least, most, NULL                                                 \
    }
#define CLI_ROW_CHOICE(name, place, argument, choices, help)                                                           \
    {                                                                                                                  \
        name, 0, CLI_CHOICE, place, argument, help, 0, 0, choices                                                      \
    }
/* A choice that no number follows, and the end of a table of them. */
#define CLI_WORD(name, value)                                                                                          \
    {                                                                                                                  \
        name, value, NULL, 0, 0                                                                                        \
    }
#define CLI_WORDS_END CLI_WORD(NULL, 0)

/* A table and the struct that its values go to. */
typedef struct cli_group {
    const char *title;
    const cli_option *options;
    size_t count;
    void *target;
} cli_group;

typedef struct cli_usage {
    const char *verb;
    const char *operands; /* "EXPRESSION [DATA]" */
    const char *about;    /* paragraphs, which are filled anew, and lists, whose lines begin with a blank */
    const char *examples;
    int least_operands, most_operands;
    void (*more)(gram_string *text); /* adds a section to --help, or NULL */
    const char *out; /* --help of --out where the report goes to standard output; NULL: the report goes there */
} cli_usage;

/* The options that choose and prepare data. */
typedef struct cli_data {
    cli_chosen format; /* gram_format */
    const char *features;
    const char *ignore;
    const char *texts;
    int scale;
} cli_data;

/* What --format and --missing may be, and what help says of the former. */
extern const cli_choice cli_formats[], cli_missings[];
#define CLI_FORMAT_HELP "csv, tsv, npy, npz, libsvm, sqlite, fasta or txt (default: by the file's ending)"

cli_group cli_common_group(cli_common *common);
enum { CLI_DATA_OPTIONS = 5 }; /* the last is --scale */
cli_group cli_data_group(cli_data *data);

/* A verb: its options, its work, and what the work keeps in a struct of its own. */
typedef struct cli_job {
    const cli_usage *usage;
    const cli_group *groups; /* the last is that of cli_common; their structs hold the defaults */
    size_t group_count;
    int (*work)(cli_session *session, char **operands, void *state); /* returns the exit code; operands end with NULL */
    void (*release)(void *state);                                    /* in any case */
    void *state;
} cli_job;

/* From the arguments (arguments[0] is the verb's name) to the exit code: parses, begins a session, works. */
int cli_run(const cli_job *job, int count, char **arguments);

#endif
