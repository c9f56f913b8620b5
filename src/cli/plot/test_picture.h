/* Pictures of tests. */
#ifndef GRAM_CLI_PLOT_TEST_PICTURE_H
#define GRAM_CLI_PLOT_TEST_PICTURE_H

#include "cli/verb/prepared_samples.h"

typedef struct cli_test_picture {
    const gram_sample_report *a, *b;
    gram_kernel *kernel;
    double p_value;
    const double *score;
    const int64_t *order; /* columns, the highest score first */
} cli_test_picture;

/* One column: both densities, and the witness below. Two: the points over the witness. More: the scores of the columns. Returns the
 * exit code. */
int cli_test_draw_two_sample(cli_session *session, const char *path, const cli_test_picture *picture);

/* The rows as points: y against x, in the file's own units. */
typedef struct cli_test_scatter {
    const char *x_name, *y_name;
    const double *x, *y;
    int64_t n;
    const char *title;
} cli_test_scatter;

int cli_test_draw_scatter(cli_session *session, const char *path, const cli_test_scatter *scatter);

#endif
