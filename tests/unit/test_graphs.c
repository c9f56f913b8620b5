/* Kernels of graphs against twins that write labels out as strings and look at all pairs of nodes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"
#include "support.h"

enum { N = 30, NODES = 7, LETTERS = 400, DEEP = 1 << 13 };

typedef struct graph {
    int nodes, edge[NODES][NODES]; /* 0: none, else its label */
    char label[NODES];
} graph;

typedef struct graphs {
    graph graph[N];
    char text[N][LETTERS];
    gram_table *table;
    gram_preparation *preparation;
    gram_prepared *data;
    gram_points *points;
} graphs;

/* 1 to 7 nodes with 3 labels, about a third of the edges, of two labels. */
static void draw_graph(uint64_t *seed, graph *g)
{
    memset(g, 0, sizeof *g);
    g->nodes = 1 + (int)(test_bits(seed) % NODES);
    for (int i = 0; i < g->nodes; i++) {
        g->label[i] = "CNO"[test_bits(seed) % 3];
        for (int j = 0; j < i; j++)
            if (test_bits(seed) % 3 == 0) g->edge[i][j] = g->edge[j][i] = 1 + (int)(test_bits(seed) % 2);
    }
}

/* Nodes are named by `name`, words come in the order of `order`, and half of the edges are written twice. */
static void write_graph(const graph *g, const int *order, char *text)
{
    char *at = text;
    for (int p = 0; p < g->nodes; p++) {
        const int i = order[p];
        at += sprintf(at, "n%d:%c ", p, g->label[i]);
        for (int q = 0; q < p; q++)
            if (g->edge[i][order[q]])
                at += sprintf(at, (p + q) % 2 ? "n%d-n%d:%d; " : "n%d-n%d:%d n%d-n%d:%d ", p, q, g->edge[i][order[q]],
                              q, p, g->edge[i][order[q]]);
    }
}

static void shuffle(uint64_t *seed, int n, int *order)
{
    for (int i = 0; i < n; i++) order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        const int j = (int)(test_bits(seed) % (uint64_t)(i + 1)), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

static gram_status read_graphs(gram_context *context, graphs *g)
{
    char csv[N * (LETTERS + 8)], *at = csv;
    gram_status status = GRAM_OK;
    gram_table_options options;
    gram_preparation_options preparing;
    at += sprintf(at, "g,y\n");
    for (int i = 0; i < N; i++) at += sprintf(at, "%s,%d\n", g->text[i], i % 3);
    gram_table_options_init(&options, sizeof options);
    options.graphs = "g";
    gram_preparation_options_init(&preparing, sizeof preparing);
    STEP(gram_table_read_memory(context, "g.csv", csv, strlen(csv), &options, &g->table));
    STEP(gram_preparation_learn(context, g->table, &preparing, &g->preparation));
    STEP(gram_preparation_apply(context, g->preparation, g->table, 1, &g->data));
    STEP(gram_points_of_prepared(context, g->data, &g->points));
done:
    return status;
}

/* `turn`: other names of the nodes, in another order */
static void make_texts(uint64_t seed, int turn, graphs *g)
{
    uint64_t other = 77;
    memset(g, 0, sizeof *g);
    for (int i = 0; i < N; i++) {
        int order[NODES];
        draw_graph(&seed, &g->graph[i]);
        shuffle(&other, g->graph[i].nodes, order);
        for (int k = 0; !turn && k < g->graph[i].nodes; k++) order[k] = k;
        write_graph(&g->graph[i], order, g->text[i]);
    }
}

static void free_graphs(graphs *g)
{
    gram_points_release(g->points);
    gram_prepared_destroy(g->data);
    gram_preparation_release(g->preparation);
    gram_table_destroy(g->table);
}

/* ---- twins ---- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The label of a node after some rounds: its own, and in brackets those of its neighbours, sorted. Returned in new memory. */
static char *tree_of(const graph *g, int node, int rounds)
{
    char *out = calloc(1, DEEP), *parts[NODES], *at = out;
    int count = 0;
    if (rounds == 0) {
        out[0] = g->label[node];
        return out;
    }
    for (int j = 0; j < g->nodes; j++) {
        if (!g->edge[node][j]) continue;
        char *inner = tree_of(g, j, rounds - 1);
        parts[count] = calloc(1, DEEP);
        sprintf(parts[count++], "%d%s", g->edge[node][j], inner);
        free(inner);
    }
    qsort(parts, (size_t)count, sizeof *parts, compare_texts);
    char *own = tree_of(g, node, rounds - 1);
    at += sprintf(at, "%s[", own);
    free(own);
    for (int k = 0; k < count; k++) {
        at += sprintf(at, "%s,", parts[k]);
        free(parts[k]);
    }
    sprintf(at, "]");
    return out;
}

static double wl_twin(const graph *a, const graph *b)
{
    double sum = 0;
    for (int rounds = 0; rounds <= 2; rounds++)
        for (int i = 0; i < a->nodes; i++) {
            char *own = tree_of(a, i, rounds);
            for (int j = 0; j < b->nodes; j++) {
                char *other = tree_of(b, j, rounds);
                sum += strcmp(own, other) == 0;
                free(other);
            }
            free(own);
        }
    return sum;
}

/* Floyd and Warshall */
static void distances(const graph *g, int out[NODES][NODES])
{
    for (int i = 0; i < g->nodes; i++)
        for (int j = 0; j < g->nodes; j++) out[i][j] = i == j ? 0 : g->edge[i][j] ? 1 : 1000;
    for (int k = 0; k < g->nodes; k++)
        for (int i = 0; i < g->nodes; i++)
            for (int j = 0; j < g->nodes; j++)
                if (out[i][k] + out[k][j] < out[i][j]) out[i][j] = out[i][k] + out[k][j];
}

static double paths_twin(const graph *a, const graph *b)
{
    int x[NODES][NODES], y[NODES][NODES];
    double sum = 0;
    distances(a, x);
    distances(b, y);
    for (int i = 0; i < a->nodes; i++)
        for (int j = i; j < a->nodes; j++)
            for (int k = 0; k < b->nodes; k++)
                for (int l = k; l < b->nodes; l++) {
                    const int same = a->label[i] == b->label[k] && a->label[j] == b->label[l];
                    const int turned = a->label[i] == b->label[l] && a->label[j] == b->label[k];
                    sum += x[i][j] < 1000 && x[i][j] == y[k][l] && (same || turned);
                }
    return sum;
}

typedef struct graph_case {
    const char *kernel, *unscaled;
    double (*twin)(const graph *a, const graph *b);
} graph_case;

static const graph_case CASES[] = {
    {"wl(h=2)", "wl(h=2, scaled=no)", wl_twin},
    {"paths", "paths(scaled=no)", paths_twin},
};

static void kernels_count_as_twins_do(void **state)
{
    gram_context *context = *state;
    static graphs x;
    double wanted[N * N];
    make_texts(1, 0, &x);
    OK(context, read_graphs(context, &x));
    for (int c = 0; c < 4; c++) {
        const graph_case *one = &CASES[c / 2];
        const char *text = c % 2 ? one->unscaled : one->kernel;
        gram_kernel *kernel = test_kernel(context, text);
        double *k = test_matrix(context, kernel, x.points, NULL);
        for (int i = 0; i < N * N; i++) {
            const graph *a = &x.graph[i / N], *b = &x.graph[i % N];
            wanted[i] = one->twin(a, b) / (c % 2 ? 1 : sqrt(one->twin(a, a) * one->twin(b, b)));
            assert_true(k[i] == k[i % N * N + i / N]);
        }
        test_near("K(X, X)", text, N * N, k, wanted, 1e-12);
        free(k);
        gram_kernel_release(kernel);
    }
    free_graphs(&x);
}

/* The same bits whatever the nodes are called and whichever order they come in. */
static void names_of_nodes_do_not_matter(void **state)
{
    gram_context *context = *state;
    static graphs x, turned;
    make_texts(1, 0, &x);
    make_texts(1, 1, &turned);
    OK(context, read_graphs(context, &x));
    OK(context, read_graphs(context, &turned));
    for (int c = 0; c < 2; c++) {
        gram_kernel *kernel = test_kernel(context, CASES[c].kernel);
        double *k = test_matrix(context, kernel, x.points, NULL),
               *other = test_matrix(context, kernel, turned.points, NULL);
        double *cross = test_matrix(context, kernel, x.points, turned.points);
        assert_true(test_same_bits(N, N, k, N, other, N));
        test_near("across", CASES[c].kernel, N * N, cross, k, 1e-14);
        free(k), free(other), free(cross);
        gram_kernel_release(kernel);
    }
    free_graphs(&x);
    free_graphs(&turned);
}

static void fill_for_threads(gram_context *context, double *out)
{
    static graphs x;
    gram_kernel *kernel = test_kernel(context, "wl + paths");
    make_texts(2, 0, &x);
    OK(context, read_graphs(context, &x));
    OK(context, gram_matrix(context, kernel, x.points, NULL, out, N));
    gram_kernel_release(kernel);
    free_graphs(&x);
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    test_any_threads(N * N, fill_for_threads);
}

static void refuse(gram_context *context, const char *cell, const char *part)
{
    char csv[256];
    gram_table *table = NULL;
    gram_table_options options;
    gram_table_options_init(&options, sizeof options);
    options.graphs = "g";
    (void)snprintf(csv, sizeof csv, "g,y\na-b,1\n%s,2\n", cell);
    REFUSED(context, gram_table_read_memory(context, "g.csv", csv, strlen(csv), &options, &table), GRAM_ERROR_DATA,
            part);
    assert_non_null(strstr(gram_context_message(context), "g.csv:3:"));
}

static void what_is_no_graph_is_named_with_its_line(void **state)
{
    gram_context *context = *state;
    refuse(context, "a-b b-c; a:C b:O", "'c': this node has no label");
    refuse(context, "a- b", "'a-': an edge needs a node");
    refuse(context, "a-b-c", "'a-b-c': an edge has one -");
    refuse(context, ":C", "':C': a label without a node");
    refuse(context, "a:C a:O", "'a:O': the node has another label");
    refuse(context, "a:", "'a:': nothing stands after");
    refuse(context, ";", "it has no node");
}

static gram_status play(gram_context *context)
{
    static graphs x;
    static double out[N * N];
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL;
    make_texts(1, 0, &x);
    STEP(read_graphs(context, &x));
    STEP(gram_kernel_parse(context, "wl(h=1) + paths", &kernel));
    STEP(gram_matrix(context, kernel, x.points, NULL, out, N));
done:
    gram_kernel_release(kernel);
    free_graphs(&x);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    assert_true(oom_each(play, 0) > 100);
    (void)oom_each(play, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_count_as_twins_do), cmocka_unit_test(names_of_nodes_do_not_matter),
        cmocka_unit_test(threads_change_no_bit),     cmocka_unit_test(what_is_no_graph_is_named_with_its_line),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}
