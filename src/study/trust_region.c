/* The trust region: a box about the best point, which grows after successes and shrinks after failures.
 *
 * In many dimensions most of the cube is far from every point, the model knows nothing there, and acquisitions that
 * reward this spend the budget on corners. So the search stays near the best point (D. Eriksson, M. Pearce, J. R. Gardner, R. Turner
 * and M. Poloczek, Scalable global optimization via local Bayesian optimization, NeurIPS 2019). The side starts at 0.8 of the cube,
 * doubles after SUCCESSES evaluations in a row that improve, halves after as many as there are columns that do not, and
 * starts again once it is below LEAST. Columns are stretched by their length-scales.
 *
 * The side is a function of the evaluations, so nothing has to be kept. */
#include <math.h>

#include "study/study_core.h"

enum { MANY = 15, SUCCESSES = 3 };
static const double FIRST = 0.8, MOST = 1.6, LEAST = 0.0078125, GAIN = 1e-3;

typedef struct region {
    double side, best;
    int64_t successes, failures;
} region;

static void count_one(region *r, double cost, int64_t patience)
{
    const int better = cost < r->best - GAIN * fabs(r->best);
    r->successes = better ? r->successes + 1 : 0;
    r->failures = better ? 0 : r->failures + 1;
    r->best = fmin(r->best, cost);
    if (r->successes == SUCCESSES) {
        r->side = fmin(2 * r->side, MOST);
        r->successes = 0;
    }
    if (r->failures == patience) {
        r->side /= 2;
        r->failures = 0;
    }
    if (r->side < LEAST) r->side = FIRST;
}

static double find_side(const gram_study *study)
{
    region r = {.side = FIRST, .best = INFINITY};
    const int64_t patience = study->space.columns > 4 ? study->space.columns : 4;
    for (int64_t k = 0; k < study->told; k++) {
        const int64_t trial = study->order[k];
        const double cost = gram_study_is_feasible(study, trial) ? gram_study_cost(study, trial) : INFINITY;
        if (study->records[trial].origin == GRAM_ORIGIN_MODEL)
            count_one(&r, cost, patience);
        else
            r.best = fmin(r.best, cost);
    }
    return r.side;
}

int gram_study_region(const gram_study *study, const double *centre, double *lower, double *upper)
{
    const gram_domain *space = &study->space;
    const int asked = study->options.trust_region;
    double mean = 0;
    for (int64_t l = 0; l < space->columns; l++) {
        lower[l] = 0;
        upper[l] = 1;
        mean += study->objective.theta[1 + l] / (double)space->columns;
    }
    if (asked == 0 || (asked < 0 && space->columns <= MANY)) return 0;
    const double side = find_side(study);
    for (int64_t i = 0; i < space->count; i++) {
        const gram_domain_variable *v = space->variables + i;
        if (gram_domain_is_discrete(v)) continue;
        const double half = side / 2 * exp(study->objective.theta[1 + v->column] - mean);
        lower[v->column] = fmax(centre[v->column] - half, 0);
        upper[v->column] = fmin(centre[v->column] + half, 1);
    }
    return 1;
}
