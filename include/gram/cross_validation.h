/* Cross-validation: how rows are divided into folds, and what a search over a grid reports.
 *
 * Everything in gram that leaves rows out (gram_krr_tune, gram_svm_tune, gram_logistic_tune, gram_loss_tune, the probabilities
 * of gram_svm_fit) divides its rows here, in one of four ways:
 *
 *     at random          in a random order, dealt in turn: sizes differ by at most 1
 *     by class           the same within each class, so that the numbers of a class in two folds differ by at most 1, too
 *     by groups          rows with the same group number stay together: whole patients, plots or days are left out, as new
 *                        ones will be met. Without it, a row is predicted from others of its own group, and the error
 *                        looks smaller than it will be. The largest groups are dealt first, each to the fold that has the
 *                        fewest rows (of its classes); without classes two folds differ by the size of one group at most
 *     in order of time   forward chaining: the rows, oldest first, are cut into folds + 1 blocks whose sizes differ by at most 1.
 *                        The first one only trains; each later block is predicted from all rows before it, none after it
 *
 * Deterministic: the context's seed decides, with any number of threads. */
#ifndef GRAM_CROSS_VALIDATION_H
#define GRAM_CROSS_VALIDATION_H

#include <gram/context.h>

GRAM_BEGIN

typedef struct gram_folds_options {
    size_t size;
    int64_t folds;         /* at least 2; default 5 */
    const int64_t *labels; /* n classes 0, 1, ... below n that are spread evenly over the folds; NULL (default): none */
    const int64_t *groups; /* n numbers, any; NULL (default): none */
    int ordered; /* rows are in order of time, the oldest first; not with groups; labels are not used; default 0 */
} gram_folds_options;

GRAM_API void gram_folds_options_init(gram_folds_options *options, size_t size);

/* fold[i] = 0 .. folds - 1 for each of n rows: the fold that leaves row i out. If `ordered`, rows of the first block get -1: no
 * fold leaves them out, and fold k is to be predicted from the rows with fold[i] < k; else from those with fold[i] != k.
 * GRAM_ERROR_ARGUMENT for options out of range; GRAM_ERROR_DATA with fewer rows or groups than folds (plus 1 if ordered), and
 * for a label out of range. O(n log n) with groups, else O(n). */
GRAM_API gram_status gram_folds_make(gram_context *context, int64_t n, const gram_folds_options *options,
                                     int64_t *fold);

/* ---- a grid of widths and strengths ---- */

/* One point of it. */
typedef struct gram_grid_point {
    double width;  /* factor on the length-scales */
    double lambda; /* for all n rows */
    double value;  /* the criterion, out of fold: mean log loss of classes, mean loss of numbers; NaN: no fit */
} gram_grid_point;

typedef struct gram_grid_report {
    size_t size;
    int64_t rows, points; /* rows chosen on; points of the grid */
    int64_t fits;         /* of one fold */
    double value;         /* of the criterion at the choice */
    int at_bound;         /* the choice lies at an end of the widths or of the lambdas, where it could have gone on */
    int ard_kept;         /* one length-scale per column was better */
} gram_grid_report;

GRAM_END

#endif
