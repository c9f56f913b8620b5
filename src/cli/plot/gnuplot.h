/* Pictures of the library (<gram/picture.h>), drawn by gnuplot through a pipe. */
#ifndef GRAM_CLI_PLOT_GNUPLOT_H
#define GRAM_CLI_PLOT_GNUPLOT_H

#include "cli/terminal/cli.h"

/* Can it be drawn? To be asked before the work: the ending of the name is .svg, .png or .pdf, there is a gnuplot, and the
 * file can be written. Returns CLI_DONE or the exit code after a message. */
int cli_plot_check(cli_session *session, const char *path);

/* Draws what gram_picture_of_... made, and destroys it, to the file, which is replaced when the new one is whole; or says why there is
 * none, if its status is a failure. The path was checked. Returns the exit code, after a message that has gnuplot's own words. */
int cli_plot(cli_session *session, const char *path, gram_status status, gram_picture *picture);

/* Is there a gnuplot? */
int cli_plot_available(void);
/* Draws the same as SVG at the end of a text; `words` is what messages call it. */
int cli_plot_text(cli_session *session, const char *words, gram_status status, gram_picture *picture, gram_string *svg);

#endif
