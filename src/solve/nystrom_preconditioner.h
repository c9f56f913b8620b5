/* What <gram/nystrom.h> leaves out: M = F F' + diag(shift) as the covariance of vectors. */
#ifndef GRAM_SOLVE_NYSTROM_PRECONDITIONER_H
#define GRAM_SOLVE_NYSTROM_PRECONDITIONER_H

#include <gram/nystrom.h>
#include <gram/random.h>

double gram_nystrom_log_determinant(const gram_nystrom *nystrom);

/* Column c of v becomes vector number c of the stream, drawn from N(0, M). */
gram_status gram_nystrom_draw(gram_context *context, const gram_nystrom *nystrom, gram_random random, int64_t columns,
                              double *v, int64_t ldv);

#endif
