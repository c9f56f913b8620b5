/* How good a classifier is on rows whose class is known, summed up row by row. */
#ifndef GRAM_CLI_REPORT_CLASS_SCORE_H
#define GRAM_CLI_REPORT_CLASS_SCORE_H

#include "cli/report/class_names.h"

/* A seeded sample of at most this many rows is kept for curves and the area under them. */
enum { CLI_CLASS_SAMPLE = 1000000 };

typedef struct cli_class_score {
    const gram_classes *classes; /* borrowed */
    gram_random random;
    int64_t count;      /* rows of a known class */
    int64_t other;      /* rows of a class that the model does not know: they count as wrong */
    int64_t *confusion; /* count x count: true, predicted */
    int64_t probable;   /* rows with probabilities, */
    double log_loss;    /* and the sum of -log p of the true class */
    /* two classes: scores of the sampled rows, and which of them are of the second class */
    int64_t seen, kept, room;
    float *scores;
    unsigned char *second;
} cli_class_score;

/* Returns CLI_DONE or the exit code after a message; the caller frees it. */
int cli_class_score_begin(cli_session *session, const gram_classes *classes, cli_class_score *score);
void cli_class_score_free(cli_class_score *score);

/* A row of class `truth` (-1: one that is not known): values as a predictor has them, from the label on. Returns as above. */
int cli_class_score_add(cli_class_score *score, int64_t truth, const double *values);

/* NaN where there is none. The area under the ROC curve is for two classes. */
double cli_class_score_accuracy(const cli_class_score *score);
double cli_class_score_log_loss(const cli_class_score *score);
double cli_class_score_auc(const cli_class_score *score);

/* Keys of an open object, and rows for people. */
void cli_class_score_json(cli_json *json, const cli_class_score *score);
void cli_class_score_print(cli_text *text, const cli_class_score *score);

#endif
