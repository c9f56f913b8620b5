/* B-splines by the recursion of Cox and de Boor; end knots count 2m times. See de Boor, "A Practical Guide to Splines", chapter X. */
#include "method/spline/spline_basis.h"

#include <math.h>
#include <string.h>

enum { M = GRAM_SPLINE_ORDERS };

int64_t gram_basis_size(const gram_basis *basis)
{
    return basis->knots + 2 * basis->m - 2;
}

/* Knot i of the sequence with repeated ends. */
static double knot(const gram_basis *b, int64_t i)
{
    const int64_t at = i - (2 * b->m - 1);
    return b->t[at < 0 ? 0 : at >= b->knots ? b->knots - 1 : at];
}

/* The interval of x: t[l] <= x < t[l + 1], the last one closed. */
static int64_t interval(const gram_basis *b, double x)
{
    int64_t low = 0, high = b->knots - 1;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (b->t[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The functions of order k (degree k - 1) at x in interval l: B_(l + 2m - k), ..., in out[0 .. k - 1]; r of the last steps differentiate. */
static void raise(const gram_basis *b, int64_t l, double x, int r, double *out)
{
    const int order = 2 * b->m;
    const int64_t at = l + order - 1; /* knot(at) <= x < knot(at + 1) */
    double before[GRAM_BASIS_WIDTH + 1];
    out[0] = 1;
    for (int k = 2; k <= order; k++) {
        memcpy(before, out, (size_t)(k - 1) * sizeof *out);
        for (int j = 0; j < k; j++) { /* function at - k + 1 + j of order k from j - 1 and j of order k - 1 */
            const int64_t i = at - k + 1 + j;
            const double left = j > 0 ? before[j - 1] / (knot(b, i + k - 1) - knot(b, i)) : 0;
            const double right = j < k - 1 ? before[j] / (knot(b, i + k) - knot(b, i + 1)) : 0;
            out[j] = k > order - r ? (k - 1) * (left - right) : (x - knot(b, i)) * left + (knot(b, i + k) - x) * right;
        }
    }
}

int64_t gram_basis_at(const gram_basis *basis, double x, int r, double *out)
{
    const int width = 2 * basis->m;
    const double first = basis->t[0], last = basis->t[basis->knots - 1];
    const double end = x < first ? first : x > last ? last : x, beyond = x - end;
    const int64_t l = interval(basis, end);
    double more[GRAM_BASIS_WIDTH], factor = 1;
    raise(basis, l, end, r, out);
    if (beyond == 0) return l;
    if (r >= basis->m) memset(out, 0, (size_t)width * sizeof *out);
    for (int q = r + 1; q < basis->m; q++) {
        factor *= beyond / (q - r);
        raise(basis, l, end, q, more);
        for (int j = 0; j < width; j++) out[j] += factor * more[j];
    }
    return l;
}

/* Gauss and Legendre's rule of m nodes on [-1, 1], exact for products of two polynomials of degree m - 1. */
static const double NODES[M][M] = {
    {0},
    {-0.57735026918962576451, 0.57735026918962576451},
    {-0.77459666924148337704, 0, 0.77459666924148337704},
    {-0.86113631159405257522, -0.33998104358485626480, 0.33998104358485626480, 0.86113631159405257522}};
static const double SHARES[M][M] = {
    {2},
    {1, 1},
    {5.0 / 9, 8.0 / 9, 5.0 / 9},
    {0.34785484513745385737, 0.65214515486254614263, 0.65214515486254614263, 0.34785484513745385737}};

/* The m-th derivatives at a node of interval l; returns the node's weight. */
static double bends_at(const gram_basis *basis, int64_t l, int node, double *out)
{
    const int m = basis->m;
    const double half = 0.5 * (basis->t[l + 1] - basis->t[l]);
    raise(basis, l, basis->t[l] + half * (1 + NODES[m - 1][node]), m, out);
    return half * SHARES[m - 1][node];
}

void gram_basis_bends(const gram_basis *basis, double *out)
{
    const int m = basis->m;
    for (int64_t l = 0; l + 1 < basis->knots; l++)
        for (int node = 0; node < m; node++, out += 2 * m) {
            const double root = sqrt(bends_at(basis, l, node, out));
            for (int i = 0; i < 2 * m; i++) out[i] *= root;
        }
}

void gram_basis_penalty(const gram_basis *basis, double *out)
{
    const int64_t size = gram_basis_size(basis);
    const int m = basis->m;
    double values[GRAM_BASIS_WIDTH];
    memset(out, 0, (size_t)(size * size) * sizeof *out);
    for (int64_t l = 0; l + 1 < basis->knots; l++)
        for (int node = 0; node < m; node++) {
            const double weight = bends_at(basis, l, node, values);
            for (int i = 0; i < 2 * m; i++)
                for (int j = 0; j < 2 * m; j++) out[(l + i) * size + l + j] += weight * values[i] * values[j];
        }
}
