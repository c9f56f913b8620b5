/* Kernels of labelled graphs (points/graph_text.h), inner products of counted features:
 *
 *   wl     Weisfeiler-Lehman subtrees. Each node begins with its label. In each of h rounds its label becomes that of the pair (own label, multiset of the labels of
 *          its neighbours with those of the edges). The features are the labels of all rounds, 0 .. h (Shervashidze et al., "Weisfeiler-Lehman graph kernels", JMLR 12,
 *          2011). O(h edges). A multiset is hashed as the sum of the hashes of its members: neighbours need no order.
 *   paths  shortest paths. The features are (label, label, length of a shortest path) of all pairs of nodes that are connected, and the labels themselves, as paths of
 *          length 0 (Borgwardt and Kriegel, "Shortest-path kernels on graphs", ICDM 2005; there without the latter). A breadth-first search from each node: O(nodes edges).
 *
 * Hashes are of 64 bits, as those of strings. Both are the same for any numbering of the nodes. */
#include <math.h>
#include <string.h>

#include "kernel/text/text_features.h"
#include "points/graph_text.h"

enum { WL_ROUNDS, WL_SCALED, PATHS_SCALED = 0 };
enum { MOST_ROUNDS = 100 };

static const char *const NO_YES[] = {"no", "yes", NULL};

static void profile(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, double *out,
                    double *work)
{
    (void)shape, (void)work;
    v->affine(n, 1, 0, s, out);
}

static void facts(const double *par, int64_t d, gram_properties *facts)
{
    (void)par, (void)d;
    facts->positive_definite = GRAM_YES;
    facts->stationary = facts->isotropic = GRAM_NO;
    facts->strictly = facts->universal = facts->characteristic =
        GRAM_NO; /* there are different graphs of the same features */
    facts->derivatives = 0;
    facts->sobolev_order = NAN;
}

/* The graph of a text that was checked, and `beside` more words for each of its nodes; 0: no memory. */
static int open_graph(const gram_symbols *text, gram_feature_sink *sink, int64_t beside, gram_graph *graph,
                      uint64_t **more)
{
    const int64_t length = text->count, own = gram_graph_room(length), letters = length / 8 + 1;
    const int64_t all = own + letters + beside * (length + 1);
    uint64_t *room = (uint64_t *)(void *)gram_feature_room(sink, all);
    int64_t from, to;
    if (!room) return 0;
    memset(room, 0, (size_t)all * sizeof *room);
    char *copy = (char *)(room + own);
    for (int64_t i = 0; i < length; i++) copy[i] = (char)text->code[i];
    *more = room + own + letters;
    return gram_graph_read(copy, length, room, graph, &from, &to) == NULL;
}

/* ---- wl ---- */

static void next_labels(const gram_graph *graph, const uint64_t *label, uint64_t *next)
{
    for (int64_t i = 0; i < graph->nodes; i++) {
        uint64_t around = 0;
        for (int64_t k = graph->start[i]; k < graph->start[i + 1]; k++)
            around += gram_feature_mix(graph->edge_label[k] + 1, label[graph->neighbour[k]]);
        next[i] =
            gram_feature_mix(gram_feature_mix(label[i], around), (uint64_t)(graph->start[i + 1] - graph->start[i]));
    }
}

static void wl_features(const double *par, const gram_symbols *text, gram_feature_sink *sink)
{
    gram_graph graph;
    uint64_t *next, *label;
    if (!open_graph(text, sink, 1, &graph, &next)) return;
    label = graph.label;
    for (int round = 0; round <= (int)par[WL_ROUNDS]; round++) {
        for (int64_t i = 0; i < graph.nodes; i++)
            gram_feature_add(sink, gram_feature_mix((uint64_t)round + 1, label[i]), 1);
        next_labels(&graph, label, next);
        uint64_t *kept = label;
        label = next;
        next = kept;
    }
}

#define GRAPHS                                                                                                         \
    .form = GRAM_FORM_DOT, .things = 1u << GRAM_OBJECT_TEXT, .facts = facts, .profile = profile, .over = -1,           \
    .check_text = gram_graph_check
#define SCALED_SPEC                                                                                                    \
    {                                                                                                                  \
        .name = "scaled", .role = GRAM_ROLE_STRUCTURE, .initial = 1, .lower = 0, .upper = 1, .whole = 1,               \
        .words = NO_YES                                                                                                \
    }

const gram_kernel_type gram_kernel_wl = {
    .name = "wl",
    .formula = "sum over subtrees of h rounds of count(x) count(y), over |.| |.|",
    .spec_count = 2,
    .specs = {{.name = "h", .role = GRAM_ROLE_STRUCTURE, .initial = 3, .lower = 0, .upper = MOST_ROUNDS, .whole = 1},
              SCALED_SPEC},
    .scaled = WL_SCALED,
    .features = wl_features,
    GRAPHS,
};

/* ---- paths ---- */

/* distance[v] + 1 of all nodes that can be reached, 0 of others; `queue` has room for all nodes. */
static void search_from(const gram_graph *graph, int64_t from, uint64_t *distance, uint64_t *queue)
{
    int64_t first = 0, last = 0;
    memset(distance, 0, (size_t)graph->nodes * sizeof *distance);
    distance[from] = 1;
    queue[last++] = (uint64_t)from;
    while (first < last) {
        const uint64_t node = queue[first++];
        for (int64_t k = graph->start[node]; k < graph->start[node + 1]; k++) {
            const int64_t other = graph->neighbour[k];
            if (distance[other]) continue;
            distance[other] = distance[node] + 1;
            queue[last++] = (uint64_t)other;
        }
    }
}

static void paths_features(const double *par, const gram_symbols *text, gram_feature_sink *sink)
{
    gram_graph graph;
    uint64_t *more;
    (void)par;
    if (!open_graph(text, sink, 2, &graph, &more)) return;
    for (int64_t i = 0; i < graph.nodes; i++) {
        search_from(&graph, i, more, more + graph.nodes);
        for (int64_t j = i; j < graph.nodes; j++) {
            const uint64_t a = graph.label[i], b = graph.label[j];
            if (more[j])
                gram_feature_add(sink, gram_feature_mix(gram_feature_mix(more[j], a < b ? a : b), a < b ? b : a), 1);
        }
    }
}

const gram_kernel_type gram_kernel_paths = {
    .name = "paths",
    .formula = "sum over (label, label, distance) of count(x) count(y), over |.| |.|",
    .spec_count = 1,
    .specs = {SCALED_SPEC},
    .scaled = PATHS_SCALED,
    .features = paths_features,
    GRAPHS,
};
