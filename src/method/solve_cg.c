#include "solution.h"
gram_status gram_solve_cg(gram_context *context, const gram_problem *p, gram_solution *s)
{
    (void)p, (void)s;
    return gram_fail(context, GRAM_ERROR_UNSUPPORTED, "krr_fit: cg");
}
