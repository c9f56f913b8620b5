/* The tree of neighbours against trying all rows: the maximin order, the nearest rows before a row and of all rows, groups of lists;
 * many equal places among them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"
#include "solve/neighbours/neighbour_groups.h"
#include "solve/neighbours/neighbour_tree.h"
#include "support.h"

enum { N = 600, COUNT = 12 };

static double far(int d, const double *a, const double *b)
{
    double sum = 0;
    for (int l = 0; l < d; l++) sum += (a[l] - b[l]) * (a[l] - b[l]);
    return sum;
}

/* Uniform, or on a coarse grid where many rows are at one place. */
static double *places_of(int d, int grid)
{
    double *places = test_random((uint64_t)(31 + d), N * d, 0, 1);
    for (int i = 0; i < N * d && grid; i++) places[i] = floor(5 * places[i]);
    return places;
}

/* Each row is as far from those before it as any that is left. */
static void order_is_maximin(void **state)
{
    gram_context *c = *state;
    for (int k = 0; k < 8; k++) {
        const int d = 1 + k / 2;
        double *places = places_of(d, k % 2), gap[N];
        int64_t order[N];
        int seen[N] = {0};
        gram_neighbour_tree *tree = NULL;
        OK(c, gram_neighbour_tree_create(c, N, d, places, &tree));
        OK(c, gram_neighbour_tree_order(c, tree, order));
        for (int i = 0; i < N; i++) gap[i] = INFINITY;
        for (int p = 0; p < N; p++) {
            double most = 0;
            for (int i = 0; i < N; i++) most = seen[i] ? most : fmax(most, gap[i]);
            assert_true(!seen[order[p]] && gap[order[p]] >= most);
            seen[order[p]] = 1;
            for (int i = 0; i < N; i++) gap[i] = fmin(gap[i], far(d, places + (ptrdiff_t)i * d, places + order[p] * d));
        }
        gram_neighbour_tree_destroy(tree);
        free(places);
    }
}

/* Distances from near to far, every nearer row among them, of equal ones the lower numbers. */
static void check_list(int d, const double *places, const int64_t *position, int64_t own, int64_t before, int found,
                       const int32_t *list)
{
    int nearer = 0, allowed = 0;
    for (int i = 0; i < N; i++) allowed += before >= 0 ? position[i] < before : i != own;
    assert_int_equal(found, allowed < COUNT ? allowed : COUNT);
    if (found == 0) return;
    const double worst = far(d, places + list[found - 1] * d, places + own * d);
    for (int k = 1; k < found; k++) {
        const double a = far(d, places + list[k - 1] * d, places + own * d),
                     b = far(d, places + list[k] * d, places + own * d);
        assert_true(a < b || (a == b && list[k - 1] < list[k]));
    }
    for (int i = 0; i < N; i++) {
        const double at = far(d, places + (ptrdiff_t)i * d, places + own * d);
        if (before >= 0 ? position[i] >= before : i == own) continue;
        nearer += at < worst || (at == worst && i <= list[found - 1]);
    }
    assert_int_equal(nearer, found);
}

static void lists_are_nearest(void **state)
{
    gram_context *c = *state;
    static int32_t lists[2][N * COUNT], length[2][N];
    for (int k = 0; k < 8; k++) {
        const int d = 1 + k / 2;
        double *places = places_of(d, k % 2);
        int64_t order[N], position[N], rows[N];
        gram_neighbour_tree *tree = NULL;
        OK(c, gram_neighbour_tree_create(c, N, d, places, &tree));
        OK(c, gram_neighbour_tree_order(c, tree, order));
        for (int p = 0; p < N; p++) position[order[p]] = p, rows[p] = p;
        gram_neighbour_search search = {.tree = tree, .queries = N, .count = COUNT, .places = places, .room = COUNT};
        for (int all = 0; all < 2; all++) {
            search.before = all ? NULL : position;
            search.without = all ? rows : NULL;
            search.lists = lists[all];
            search.length = length[all];
            OK(c, gram_neighbour_search_run(c, &search));
            for (int i = 0; i < N; i++)
                check_list(d, places, position, i, all ? -1 : position[i], length[all][i],
                           lists[all] + (ptrdiff_t)i * COUNT);
        }
        gram_neighbour_tree_destroy(tree);
        free(places);
    }
}

/* Every target is in one group, its rows are what they were, its own last and the others rising. */
static void groups_keep_lists(void **state)
{
    gram_context *c = *state;
    for (int d = 1; d <= 9; d += 4) {
        double *places = places_of(d, 0);
        gram_neighbour_tree *tree = NULL;
        gram_neighbour_groups g = {.memory = NULL};
        gram_neighbour_lists given = {.targets = N, .room = COUNT + 1, .d = d, .rows = N, .places = places};
        int64_t rows[N];
        int32_t *before = calloc(N * (COUNT + 1), sizeof *before);
        int seen[N] = {0};
        for (int i = 0; i < N; i++) rows[i] = i;
        OK(c, gram_take(c, "test", N * (COUNT + 1), sizeof *given.lists, (void **)&given.lists));
        OK(c, gram_take(c, "test", N, sizeof *given.length, (void **)&given.length));
        OK(c, gram_neighbour_tree_create(c, N, d, places, &tree));
        const gram_neighbour_search search = {.tree = tree,
                                              .queries = N,
                                              .count = COUNT,
                                              .places = places,
                                              .without = rows,
                                              .room = COUNT + 1,
                                              .lists = given.lists,
                                              .length = given.length};
        OK(c, gram_neighbour_search_run(c, &search));
        for (int i = 0; i < N; i++) given.lists[i * (COUNT + 1) + given.length[i]++] = i;
        memcpy(before, given.lists, N * (COUNT + 1) * sizeof *before);
        OK(c, gram_neighbour_groups_make(c, &given, &g));
        for (int64_t k = 0, p = 0; k < g.groups; k++)
            for (; p < g.end[k]; p++) {
                const int64_t i = g.target[p];
                const int32_t *list = g.lists + i * g.room, *members = g.members + g.start[k];
                long long sums[2] = {0};
                assert_true(!seen[i]++ && members[list[COUNT]] == i);
                for (int j = 0; j < COUNT; j++) {
                    assert_true(j == 0 || list[j - 1] < list[j]);
                    sums[0] += (long long)members[list[j]] * members[list[j]];
                    sums[1] += (long long)before[i * (COUNT + 1) + j] * before[i * (COUNT + 1) + j];
                }
                assert_true(sums[0] == sums[1]);
            }
        assert_int_equal(g.end[g.groups - 1], N);
        print_message("%d columns: %d groups of %d rows\n", d, (int)g.groups, N);
        gram_neighbour_groups_free(&g);
        gram_neighbour_tree_destroy(tree);
        free(places);
        free(before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_maximin),
        cmocka_unit_test(lists_are_nearest),
        cmocka_unit_test(groups_keep_lists),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
