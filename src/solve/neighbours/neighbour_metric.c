#include "solve/neighbours/neighbour_metric.h"

#include <math.h>

/* Rates of what a node sees: `d` columns, whose inverse deviations are `spread`. */
static gram_status find_rates(gram_context *context, const gram_kernel *kernel, int64_t d, const double *spread,
                              double *rates);

static void leaf_rates(const gram_kernel *leaf, int64_t d, const double *spread, double *rates)
{
    const gram_argument *length = gram_kernel_argument(leaf, GRAM_ROLE_LENGTH),
                        *covariance = gram_kernel_argument(leaf, GRAM_ROLE_COVARIANCE);
    const int blind = leaf->type->form == GRAM_FORM_NONE || leaf->type->form == GRAM_FORM_SAME;
    for (int64_t l = 0; l < d; l++) {
        rates[l] = blind ? 0 : spread[l];
        if (length) rates[l] = 1 / length->values[length->count > 1 ? l : 0];
        if (covariance) rates[l] = 1 / sqrt(covariance->values[l * covariance->rows + l]);
    }
}

/* The child of `on` or `warp` sees other columns: column c of ours is worth what the child makes of where it goes. */
static gram_status inner_rates(gram_context *context, const gram_kernel *kernel, int64_t d, const double *spread,
                               double *rates)
{
    gram_status status = GRAM_OK;
    const int warp = kernel->node == GRAM_NODE_WARP;
    const int64_t inner = warp ? kernel->matrix_rows : kernel->column_count;
    double *work = NULL;
    TRY(gram_take(context, "neighbours: rates", 2 * inner, sizeof *work, (void **)&work));
    double *seen = work + inner;
    for (int64_t r = 0; r < inner; r++) {
        double square = 0;
        for (int64_t c = 0; c < d && warp; c++) square += pow(kernel->matrix[r * d + c] / spread[c], 2);
        work[r] = !warp ? spread[kernel->columns[r]] : square > 0 ? 1 / sqrt(square) : 1;
    }
    TRY(find_rates(context, kernel->children[0], inner, work, seen));
    for (int64_t c = 0; c < d; c++) rates[c] = 0;
    for (int64_t r = 0; r < inner; r++)
        for (int64_t c = 0; c < d; c++) {
            const double share = warp ? kernel->matrix[r * d + c] : kernel->columns[r] == c;
            rates[c] = hypot(rates[c], share * seen[r]);
        }
done:
    gram_give(context, work);
    return status;
}

static gram_status operand_rates(gram_context *context, const gram_kernel *kernel, int64_t d, const double *spread,
                                 double *rates)
{
    gram_status status = GRAM_OK;
    const int sum = kernel->node == GRAM_NODE_SUM;
    double *one = NULL;
    TRY(gram_take(context, "neighbours: rates", d, sizeof *one, (void **)&one));
    for (int64_t l = 0; l < d; l++) rates[l] = 0;
    for (int i = 0; i < kernel->child_count; i++) {
        TRY(find_rates(context, kernel->children[i], d, spread, one));
        for (int64_t l = 0; l < d; l++) rates[l] = sum ? fmax(rates[l], one[l]) : hypot(rates[l], one[l]);
    }
done:
    gram_give(context, one);
    return status;
}

static gram_status find_rates(gram_context *context, const gram_kernel *kernel, int64_t d, const double *spread,
                              double *rates)
{
    if (kernel->node == GRAM_NODE_ON || kernel->node == GRAM_NODE_WARP)
        return inner_rates(context, kernel, d, spread, rates);
    if (kernel->node != GRAM_NODE_LEAF) return operand_rates(context, kernel, d, spread, rates);
    leaf_rates(kernel, d, spread, rates);
    return GRAM_OK;
}

/* 1/deviation; 1 for a column that does not vary. */
static void find_spreads(const gram_points *x, double *spread)
{
    for (int64_t l = 0; l < x->d; l++) {
        double mean = 0, squares = 0;
        for (int64_t i = 0; i < x->n; i++) mean += gram_points_at(x, i, l) / (double)x->n;
        for (int64_t i = 0; i < x->n; i++) {
            const double away = gram_points_at(x, i, l) - mean;
            squares += away * away / (double)x->n;
        }
        spread[l] = squares > 0 ? 1 / sqrt(squares) : 1;
    }
}

gram_status gram_neighbour_rates(gram_context *context, const gram_kernel *kernel, const gram_points *x, double *rates)
{
    gram_status status = GRAM_OK;
    double *spread = NULL, largest = 0;
    TRY(gram_take(context, "neighbours: rates", x->d, sizeof *spread, (void **)&spread));
    find_spreads(x, spread);
    TRY(find_rates(context, kernel, x->d, spread, rates));
    for (int64_t l = 0; l < x->d; l++) largest = fmax(largest, rates[l]);
    for (int64_t l = 0; l < x->d; l++) rates[l] = largest > 0 ? rates[l] / largest : 1;
done:
    gram_give(context, spread);
    return status;
}

void gram_neighbour_places(const gram_points *x, const double *rates, double *places)
{
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t l = 0; l < x->d; l++) places[i * x->d + l] = rates[l] * gram_points_at(x, i, l);
}
