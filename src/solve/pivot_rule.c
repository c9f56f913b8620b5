/* Largest: the candidates are the rows of the largest d, the diagonal of K - F F'. With H = (K - F F')(S, S) between them it
 * pivots within H, always the largest diagonal entry, while that is at least SHARE of the largest d, so that each pivot is
 * within SHARE of the greedy choice. Rows of equal d, which are all of them at first if the kernel is stationary, are met in
 * an order that jumps through the data. A single candidate is the greedy choice itself, the first of equal ones.
 *
 * Drawn: the largest d are those of outliers first, uniform pivots crowd where the points do. Drawn ones are where the mass of
 * d is (Chen, Epperly, Tropp and Webber 2022): S are rows drawn with probability d_s/sum d, and one is accepted, in their
 * order, with probability h_ss/d_s, h_ss being what those before it left (rejection: Epperly, Tropp and Webber 2024), which
 * makes them distributed as if each had been drawn after all before it. Measured, normal points in 8 columns, rbf,
 * n = 40,000, 500 pivots: 4.1 % of tr K is left by the largest, 2.3 % by drawn ones. */
#include "solve/pivot_rule.h"

#include <cblas.h>
#include <math.h>

static const double SHARE = 0.5;
static const uint64_t STREAM = 0x7069766f7465U; /* the name of this use of the seed */

static void swap_candidates(gram_pivot_search *s, int a, int b)
{
    const int64_t row = s->candidate[a];
    if (a == b) return;
    s->candidate[a] = s->candidate[b];
    s->candidate[b] = row;
    cblas_dswap(s->candidates, s->h + a * s->block, 1, s->h + b * s->block, 1);
    cblas_dswap(s->candidates, s->h + a, s->block, s->h + b, s->block);
}

void gram_pivot_take(gram_pivot_search *s, int at)
{
    const int k = s->count++, block = s->block;
    double *h = s->h;
    swap_candidates(s, k, at);
    const double root = sqrt(h[k * block + k]);
    h[k * block + k] = root;
    for (int c = k + 1; c < s->candidates; c++) h[c * block + k] /= root;
    for (int c = k + 1; c < s->candidates; c++)
        for (int o = k + 1; o < s->candidates; o++) h[c * block + o] -= h[c * block + k] * h[o * block + k];
}

/* ---- the largest ---- */

/* A number without a common divisor with n near its golden section. */
static int64_t jump_of(int64_t n)
{
    int64_t jump = (int64_t)(0.6180339887498949 * (double)n);
    for (jump = jump < 1 ? 1 : jump;; jump++) {
        int64_t a = n, b = jump;
        while (b) {
            const int64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1) return jump;
    }
}

/* Puts a row into the sorted list of the best. */
static void consider(gram_pivot_search *s, int64_t i)
{
    const double *left = s->left;
    int at = s->candidates;
    if (at == s->block && !(left[i] > left[s->candidate[at - 1]])) return;
    if (at == s->block)
        at--;
    else
        s->candidates++;
    for (; at > 0 && left[i] > left[s->candidate[at - 1]]; at--) s->candidate[at] = s->candidate[at - 1];
    s->candidate[at] = i;
}

static void propose_largest(gram_pivot_search *s)
{
    const int64_t n = s->n, jump = s->block == 1 ? 1 : jump_of(n);
    s->candidates = 0;
    for (int64_t k = 0, i = 0; k < n; k++) {
        if (s->left[i] > s->floor) consider(s, i);
        i += jump;
        if (i >= n) i -= n;
    }
}

static void accept_largest(gram_pivot_search *s)
{
    const double enough = fmax(SHARE * s->left[s->candidate[0]], s->floor);
    while (s->count < s->most) {
        int best = s->count;
        for (int c = best + 1; c < s->candidates; c++)
            if (s->h[c * s->block + c] > s->h[best * s->block + best]) best = c;
        if (!(s->h[best * s->block + best] >= enough)) return;
        gram_pivot_take(s, best);
    }
}

const gram_pivot_rule gram_pivot_largest = {propose_largest, accept_largest};

/* ---- drawn ---- */

/* Its number among the candidates, -1 if it is none. */
static int find_candidate(const gram_pivot_search *s, int64_t row)
{
    for (int c = 0; c < s->candidates; c++)
        if (s->candidate[c] == row) return c;
    return -1;
}

/* The first row whose running sum exceeds `share`. */
static int64_t row_at(const gram_pivot_search *s, double share)
{
    int64_t low = 0, high = s->n - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (s->work[middle] > share)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Draws are independent of each other, so that a row may come twice. */
static void propose_drawn(gram_pivot_search *s)
{
    double total = 0, uniform[GRAM_PIVOT_MOST];
    for (int64_t i = 0; i < s->n; i++) s->work[i] = total += s->left[i] > s->floor ? s->left[i] : 0;
    gram_random_uniform((gram_random){s->seed, STREAM}, s->drawn, s->block, uniform);
    s->candidates = 0;
    for (int c = 0; c < s->block && total > 0; c++) {
        s->proposed[c] = row_at(s, uniform[c] * total);
        if (find_candidate(s, s->proposed[c]) < 0) s->candidate[s->candidates++] = s->proposed[c];
    }
}

/* In the order of the draws. A row that was accepted has nothing left; one that was rejected has another chance when it comes again.
 * Those that are rejected lie between the accepted and those to come. */
static void accept_drawn(gram_pivot_search *s)
{
    double uniform[GRAM_PIVOT_MOST];
    gram_random_uniform((gram_random){s->seed, STREAM + 1}, s->drawn, s->block, uniform);
    s->drawn += (uint64_t)s->block;
    for (int p = 0; p < s->block && s->count < s->most; p++) {
        const int c = find_candidate(s, s->proposed[p]);
        if (c < s->count) continue;
        const double own = s->h[c * s->block + c];
        if (own > s->floor && uniform[p] * s->left[s->candidate[c]] <= own) gram_pivot_take(s, c);
    }
}

const gram_pivot_rule gram_pivot_drawn = {propose_drawn, accept_drawn};
