/* One pass over rows whose features are made and forgotten: u_i = z_i V, then what the caller makes of it, then the sum of z_i u_i'. */
#ifndef GRAM_FEATURES_SKETCHED_FEATURE_PASS_H
#define GRAM_FEATURES_SKETCHED_FEATURE_PASS_H

#include "features/feature_map.h"

typedef struct gram_feature_pass {
    const gram_features *map; /* with strips */
    const gram_points *x;
    int single;      /* features, and products of them with up to 256 rows, in f32 */
    int64_t columns; /* of V and u */
    const double *v; /* p x columns; NULL: u begins as 0 */
    /* Makes of row i's u what its features are multiplied by, and adds to `sums`. */
    void (*row)(void *argument, int64_t i, double *u, double *sums);
    void *argument;
    int64_t sum_count;
    double *out;  /* p x columns: sum_i z_i u_i' */
    double *sums; /* sum_count */
    const char *what;
} gram_feature_pass;

/* O(n p (d + columns)) time; 64 p columns numbers and strips. The same bits for any number of threads. `row` is called from tasks, once for each
 * row, and may write what belongs to that row. */
gram_status gram_feature_pass_run(gram_context *context, const gram_feature_pass *pass);

#endif
