/* The criteria of <gram/krr_tune.h> from inside: one workspace for a sample of rows, many evaluations. */
#ifndef GRAM_TUNE_RIDGE_CRITERION_H
#define GRAM_TUNE_RIDGE_CRITERION_H

#include <gram/krr_tune.h>

#include "points/row_sample.h"
#include "tune/trail/search_trail.h"

typedef struct gram_criterion_rule {
    gram_criterion kind;
    int intercept;
    int64_t unpenalised_count;  /* columns of the sample's points that no penalty acts on, */
    const int64_t *unpenalised; /* and their numbers */
    int64_t folds;              /* of CV */
    int gradients;              /* will gradients be asked for? */
    const int64_t *groups;      /* of CV: of the caller's rows, or NULL */
    int ordered;                /* of CV */
    const int64_t *rows;        /* of the sample among the caller's */
} gram_criterion_rule;

typedef struct gram_criterion_work gram_criterion_work;

/* The sample is borrowed. Folds are drawn by the context's seed. */
gram_status gram_criterion_create(gram_context *context, const gram_sample *sample, const gram_criterion_rule *rule,
                                  gram_criterion_work **work);
void gram_criterion_destroy(gram_context *context, gram_criterion_work *work);

/* The criterion for A = K + noise diag(1/w), and unless NULL its gradient by all parameters of the kernel and by the
 * noise. GRAM_ERROR_NUMERICAL where it has no value in working precision. */
gram_status gram_criterion_evaluate(gram_context *context, gram_criterion_work *work, const gram_kernel *kernel,
                                    double noise, double *value, double *gradient, double *noise_gradient);

/* The least number of rows for which the criterion says something. */
int64_t gram_criterion_least_rows(const gram_criterion_rule *rule);

/* What the options say of it; rows and gradients are still to be set. */
gram_criterion_rule gram_criterion_rule_of(const gram_krr_tune_options *options);

/* GRAM_ERROR_DATA if there are fewer groups than folds among the `count` rows of the rule. */
gram_status gram_criterion_check_groups(gram_context *context, const char *function, const gram_criterion_rule *rule,
                                        int64_t count);

/* Sets the options that are NULL to defaults and fails, with `function` in front, for impossible values. */
gram_status gram_krr_tune_options_read(gram_context *context, const char *function,
                                       const gram_krr_tune_options *options, gram_krr_tune_options *read);

/* gram_krr_tune on trails. */
gram_status gram_krr_tune_along(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t outputs,
                                const double *y, int64_t ldy, const gram_krr_tune_options *options,
                                gram_search_trails trails, gram_kernel **tuned, double *lambda,
                                gram_krr_tune_report *report);

#endif
