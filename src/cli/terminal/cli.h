/* What the verbs share: exit codes, messages, a session with its context, and where results go. */
#ifndef GRAM_CLI_TERMINAL_CLI_H
#define GRAM_CLI_TERMINAL_CLI_H

#include <gram/gram.h>

typedef enum cli_code {
    CLI_DONE = 0,
    CLI_FAULT = 1,      /* internal error */
    CLI_WRONG_USE = 2,  /* unknown verb, option, kernel, parameter */
    CLI_BAD_DATA = 3,   /* unreadable, malformed, missing values, wrong columns */
    CLI_NUMERICAL = 4,  /* numerical failure */
    CLI_OVER_LIMIT = 5, /* memory budget, disk, output not writable */
    CLI_REJECTED = 10,  /* test --gate: the null hypothesis was rejected */
    CLI_INTERRUPTED = 130
} cli_code;

/* One row of the table of verbs: `run` gets the arguments from the verb's name on and returns the exit code. */
typedef struct cli_verb {
    const char *name;
    const char *summary;
    int (*run)(int count, char **arguments);
} cli_verb;

int cli_compare(int count, char **arguments);
int cli_convert(int count, char **arguments);
int cli_cv(int count, char **arguments);
int cli_explain(int count, char **arguments);
int cli_fit(int count, char **arguments);
int cli_function(int count, char **arguments);
int cli_accumulate(int count, char **arguments);
int cli_make(int count, char **arguments);
int cli_merge(int count, char **arguments);
int cli_info(int count, char **arguments);
int cli_kernel(int count, char **arguments);
int cli_optimize(int count, char **arguments);
int cli_predict(int count, char **arguments);
int cli_report(int count, char **arguments);
int cli_sample_verb(int count, char **arguments);
int cli_structure(int count, char **arguments); /* the verbs that methods bring */
int cli_test(int count, char **arguments);
int cli_thin(int count, char **arguments);

/* ---- messages, on standard error ---- */

/* "gram: ..." and, unless it is NULL, a line that helps. Returns `code`. */
int cli_fail(int code, const char *help, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* "VERB: --OPTION cannot be 'VALUE'", with "did you mean 'NEAR'?" unless that is NULL. Returns CLI_WRONG_USE. */
int cli_cannot_be(const char *verb, const char *option, const char *value, const char *near, const char *help);

/* "no verb 'NAME', did you mean ...?" for a word that is none of the rows; `before` starts it ("test: "). */
int cli_no_such(const char *before, const char *what, const char *name, const cli_verb *rows, size_t count,
                const char *help);
/* Adds a line for each: its name, and from `column` on its summary. */
void cli_add_verbs(gram_string *text, const cli_verb *rows, size_t count, size_t column);

enum { CLI_MESSAGE_SIZE = 6000 }; /* what is longer is cut off */

/* Makes a text harmless to a terminal, which would obey the control characters that a name in a file may hold: each becomes
 * a question mark. Line ends stay unless lines are to be tamed, too; bold and plain stay, which are our own. */
typedef enum cli_taming { CLI_TAME_CONTROLS, CLI_TAME_LINES } cli_taming;
void cli_tame(char *text, size_t length, cli_taming taming);

/* For memory that is not the context's. Returns CLI_OVER_LIMIT after a message. */
int cli_no_memory(void);

/* The exit code of a failed status. `reading`: it came from reading the user's data, where a file that cannot be read
 * is bad data; elsewhere GRAM_ERROR_FILE is an output that cannot be written. */
int cli_exit_code(gram_status status, int reading);

/* A general line that helps after a failed status, or NULL. */
const char *cli_help(gram_status status);

/* ---- options that every verb has ---- */

enum { CLI_MOST_THREADS = 1024 };

typedef struct cli_common {
    int json;
    int quiet;
    int verbose;
    int help;
    const char *out;
    uint64_t seed;
    int64_t threads;   /* 0: not given */
    uint64_t memory;   /* 0: not given */
    double time;       /* in seconds; 0: not given */
    const char *query; /* NULL: not given */
} cli_common;

/* Ctrl-C and the like stop the work of a session; writing to a closed pipe, or beyond a limit of files, is an error like others.
 * Called once. */
void cli_catch_signals(void);

/* The number of threads to use: as asked for, else as GRAM_THREADS or OMP_NUM_THREADS say, else one for each processor; less
 * where memory or the address space have no room for so many, 0 where they have none for BLAS. */
int cli_threads(int wanted);

/* ---- a session: the context, its budget, progress on a terminal, and Ctrl-C ---- */

typedef struct cli_session {
    const cli_common *common;
    const char *out; /* of --out, also where it is not the report that goes there; NULL: not given */
    gram_context *context;
    size_t budget;
    double started;
    double what_started; /* of the work that the progress line shows */
    double last_shown;
    char what[48];
    int on_terminal; /* standard error is one that may show progress */
    int shown;       /* and shows it now */
} cli_session;

/* Returns CLI_DONE or the exit code after a message. cli_session_end takes a session that was not begun, too. */
int cli_session_begin(cli_session *session, const cli_common *common);
void cli_session_end(cli_session *session);
double cli_session_seconds(const cli_session *session);

/* Of work that the command does itself: its share that is done. Returns CLI_DONE, or the exit code after a message if it is to stop. */
int cli_session_progress(cli_session *session, const char *what, double share);

/* Takes the progress line off the terminal; before results are printed. */
void cli_session_clear(cli_session *session);

/* Prints the context's message and a line that helps (NULL: a general one for that status); returns the exit code. */
int cli_session_fail(cli_session *session, gram_status status, int reading, const char *help);

/* ---- results ---- */

/* Bold on a terminal, unless NO_COLOR or --out say otherwise: "\033[1m" and "\033[0m", or "" and "". */
const char *cli_bold(const cli_common *common);
const char *cli_plain(const cli_common *common);

/* Can a file be written there? To be asked before long work. Returns CLI_DONE, or the exit code after a message. */
int cli_output_check(cli_session *session, const char *path);

/* Writes the text to a file, or to standard output if the path is NULL or "-". A regular file is put in its place whole. A reader
 * that went away early is not a failure. What goes to a terminal is tamed. Returns the exit code. */
int cli_write(cli_session *session, const char *path, gram_string *text);

/* To standard output, without a session; the text is freed. */
int cli_print(gram_string *text);

/* cli_write piece by piece, for results that are never held whole. */
typedef struct cli_stream {
    cli_session *session;
    const char *path;
    gram_aside *aside; /* a regular file's, or NULL */
    int descriptor;
    int gone; /* the reader went away: the rest need not be made */
} cli_stream;

/* All return CLI_DONE, or the exit code after a message. A stream that was opened is closed, with the code so far. */
int cli_stream_open(cli_session *session, const char *path, cli_stream *stream);
int cli_stream_put(cli_stream *stream, gram_string *text);
int cli_stream_close(cli_stream *stream, int code);

#endif
