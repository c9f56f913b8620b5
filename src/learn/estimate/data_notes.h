/* What a reader of the report should know of the data. */
#ifndef GRAM_LEARN_ESTIMATE_DATA_NOTES_H
#define GRAM_LEARN_ESTIMATE_DATA_NOTES_H

#include "method/method.h"

/* A class with one row, where folds are to tune: a failure that names it. For learning that is ready. */
gram_status gram_data_check_classes(gram_learning *learning);
/* For learning that is ready and has its model: keeps "data_note" there, if there is something to say. */
gram_status gram_data_notes_keep(gram_learning *learning);
/* A row of the report. */
void gram_data_notes_report(gram_report *report);

#endif
