/* Plots, drawn by gnuplot through a pipe. */
#ifndef GRAM_CLI_PLOT_GNUPLOT_H
#define GRAM_CLI_PLOT_GNUPLOT_H

#include "cli/terminal/cli.h"

/* Can it be drawn? To be asked before the work: the ending of the name is .svg, .png or .pdf, there is a gnuplot, and the
 * file can be written. Returns CLI_DONE or the exit code after a message. */
int cli_plot_check(cli_session *session, const char *path);

/* Draws what the script says, which sets neither terminal nor output, to the file of that many pixels, which is replaced when
 * the new one is whole. The path was checked. Returns the exit code, after a message that has gnuplot's own words. */
int cli_plot(cli_session *session, const char *path, int width, int height, const gram_string *script);

/* The text as a gnuplot string in which nothing is special. */
void cli_plot_quote(gram_string *script, const char *text);

/* The next of a list of tics: "'NAME' 0", or ", 'NAME' 1" and so on. Names of tics are formats to gnuplot: % is doubled. */
void cli_plot_tic(gram_string *script, const char *name, int64_t place);

/* A kernel, cut where it would be too long, and words after it, as a string in a small font. */
void cli_plot_heading(gram_string *script, const gram_kernel *kernel, const char *words);

/* The file without its folder. */
const char *cli_plot_file(const char *path);

/* "KERNEL on FILE" as the title, cut where it would not fit. */
void cli_plot_title(gram_string *script, const gram_kernel *kernel, const char *file);

#endif
