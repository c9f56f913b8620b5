/* The table of methods, and which of them a request means. */
#ifndef GRAM_LEARN_METHOD_TABLE_H
#define GRAM_LEARN_METHOD_TABLE_H

#include "method/method.h"

/* The row at that place, NULL after the last. */
const gram_method *gram_method_row(int64_t index);
/* Is it one of some words with blanks between? */
int gram_words_have(const char *words, const char *word);
/* Are the model's words those that its method knows? `name` starts the message. */
gram_status gram_method_check_words(gram_context *context, const gram_method *method, const gram_model *model,
                                    const char *name);

/* Is there a method of that name? */
int gram_method_is_known(const char *name);

/* The row for what is asked: of the rows with learning's method name (NULL: those that are first for its task) the first that
 * has its task (if that is known) and takes its options. NULL if there is none. */
const gram_method *gram_method_choose(const gram_learning *learning, const char *name);

/* The row that made a model; of several without a mark that keep their models under one name, that of this name. NULL if none is known. */
const gram_method *gram_method_of_model(const gram_model *model);

/* Lists the names of methods for which `is_so` holds, each once, as in "krr, gp and svm". */
typedef int (*gram_method_filter)(const gram_method *method, const void *argument);
const char *gram_method_list(gram_method_filter is_so, const void *argument, const char *last, char *text, size_t size);

#endif
