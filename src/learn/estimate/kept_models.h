/* Models within a model: those of cells and of folds. */
#ifndef GRAM_LEARN_ESTIMATE_KEPT_MODELS_H
#define GRAM_LEARN_ESTIMATE_KEPT_MODELS_H

#include "method/method.h"

/* The bytes of the model's file as an array of that name, eight in a number, after their count. */
gram_status gram_keep_model(gram_keeper *keeper, const char *name, const gram_model *model);
/* And back; *kept is NULL if there is no such array, or if it is none. The caller destroys it. */
gram_status gram_kept_model(gram_context *context, const gram_model *model, const char *name, const char *file,
                            gram_model **kept);

/* *model of rank `from`, which may be NULL there, to all ranks, where it is NULL. Each destroys its own. */
gram_status gram_model_share(gram_context *context, int from, gram_model **model);

#endif
