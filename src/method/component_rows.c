#include "method/component_rows.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_RANK = 32768 };

const gram_choice gram_component_solvers[] = {{"auto", GRAM_PCA_AUTO, NULL, 0, 0},
                                              {"dense", GRAM_PCA_DENSE, NULL, 0, 0},
                                              {"krylov", GRAM_PCA_KRYLOV, NULL, 0, 0},
                                              {"nystrom", GRAM_PCA_NYSTROM, "M", 1, MOST_RANK},
                                              {"covariance", GRAM_PCA_COVARIANCE, NULL, 0, 0},
                                              {NULL, 0, NULL, 0, 0}};

gram_status gram_component_rows_plan(gram_learning *learning, const gram_component_options *asked, const char *what)
{
    gram_status status = GRAM_OK;
    char words[64];
    const gram_component_plan way =
        gram_components_choose(learning->context, learning->written, learning->n, learning->data->d, asked);
    TRY(gram_learning_room(learning, way.bytes, "Use --solver nystrom:M, fewer rows, or more --memory.", what));
    (void)snprintf(words, sizeof words, "%s%s", gram_pca_solver_name(way.solver),
                   way.solver == GRAM_PCA_KRYLOV && !way.packed ? " without K in memory" : "");
    gram_learning_plan(learning, words, (size_t)way.bytes, way.seconds, way.reason);
done:
    return status;
}

int gram_component_rows_fewer(const gram_learning *learning, gram_status status, int64_t *components)
{
    if (status != GRAM_ERROR_ARGUMENT || *components < 2 || gram_given_text(learning, "k")) return 0;
    --*components;
    return 1;
}

gram_status gram_component_rows_end(gram_learning *learning, gram_status status, const char *data_advice,
                                    int64_t products, double residual)
{
    const int advised = gram_context_advice(learning->context)[0] != '\0';
    if (status == GRAM_NOT_CONVERGED)
        return gram_learning_fail(learning, GRAM_ERROR_NUMERICAL,
                                  "Ask for fewer with -k, for less with --tolerance T, or use --solver dense.",
                                  "no convergence: after %" PRId64
                                  " products the residual is %.2g of the largest eigenvalue",
                                  products, residual);
    if (status == GRAM_ERROR_ARGUMENT && !advised)
        return gram_advise(learning->context, status, "Ask for fewer with -k, or use another kernel.");
    if (status == GRAM_ERROR_DATA && !advised) return gram_advise(learning->context, status, data_advice);
    return status;
}
