#include "points/graph_text.h"

#include <stdlib.h>
#include <string.h>

/* A node while the text is read: where its name stands first. */
typedef struct named_node {
    int64_t at, length;
    uint64_t labelled; /* 1: it has a label */
} named_node;

typedef struct edge {
    uint64_t ends[2]; /* the lesser first */
    uint64_t label;
} edge;

typedef struct reading {
    const char *text;
    int64_t length, node_count, edge_count, table_size;
    named_node *nodes;
    uint64_t *label; /* of the nodes */
    edge *edges;
    uint64_t *table; /* of names: number of the node + 1, 0 is empty */
    int labels;      /* some node has one */
} reading;

/* A word takes a letter and what parts it from the next: at most (length + 1)/2 words, each a new node with a label, or an edge of two new nodes (three letters). */
static int64_t most_words(int64_t length)
{
    return length / 2 + 2;
}

static int64_t table_size(int64_t length)
{
    int64_t size = 16;
    while (size < 2 * most_words(length)) size *= 2;
    return size;
}

/* nodes: 3 + 1 words each; edges: 3; the table; then start, neighbours and their labels (2 and 2 for each edge). */
int64_t gram_graph_room(int64_t length)
{
    return most_words(length) * (4 + 3 + 1 + 4) + 1 + table_size(length);
}

static uint64_t hash_bytes(const char *text, int64_t length)
{
    uint64_t z = UINT64_C(0xcbf29ce484222325);
    for (int64_t i = 0; i < length; i++) z = (z ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return (z ^ z >> 27) | 1; /* never 0, which is no label */
}

static int parts_words(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == ';' || c == '\n' || c == '\r';
}

static int64_t find_node(reading *r, int64_t at, int64_t length)
{
    const char *name = r->text + at;
    int64_t place = (int64_t)(hash_bytes(name, length) >> 1 & (uint64_t)(r->table_size - 1));
    for (; r->table[place]; place = (place + 1) & (r->table_size - 1)) {
        const named_node *node = &r->nodes[r->table[place] - 1];
        if (node->length == length && memcmp(r->text + node->at, name, (size_t)length) == 0)
            return (int64_t)r->table[place] - 1;
    }
    r->nodes[r->node_count] = (named_node){at, length, 0};
    r->table[place] = (uint64_t)++r->node_count;
    return r->node_count - 1;
}

static const char *read_edge(reading *r, int64_t at, int64_t dash, int64_t end, uint64_t label)
{
    if (dash == at || dash + 1 == end) return "an edge needs a node on either side of its -";
    if (memchr(r->text + dash + 1, '-', (size_t)(end - dash - 1))) return "an edge has one -: names of nodes have none";
    const uint64_t a = (uint64_t)find_node(r, at, dash - at), b = (uint64_t)find_node(r, dash + 1, end - dash - 1);
    r->edges[r->edge_count++] = (edge){{a < b ? a : b, a < b ? b : a}, label};
    return NULL;
}

static const char *read_node(reading *r, int64_t at, int64_t end, int has_label, uint64_t label)
{
    if (end == at) return "a label without a node";
    const int64_t node = find_node(r, at, end - at);
    if (!has_label) return NULL;
    if (r->nodes[node].labelled && r->label[node] != label) return "the node has another label already";
    r->nodes[node].labelled = 1;
    r->label[node] = label;
    r->labels = 1;
    return NULL;
}

static const char *read_word(reading *r, int64_t at, int64_t end)
{
    const char *word = r->text + at, *colon = memchr(word, ':', (size_t)(end - at));
    const int64_t name_end = colon ? colon - r->text : end;
    const char *dash = memchr(word, '-', (size_t)(name_end - at));
    if (colon && name_end + 1 == end) return "nothing stands after the :";
    const uint64_t label = colon ? hash_bytes(colon + 1, end - name_end - 1) : 0;
    return dash ? read_edge(r, at, dash - r->text, name_end, label) : read_node(r, at, name_end, colon != NULL, label);
}

static int compare_edges(const void *a, const void *b)
{
    const edge *x = a, *y = b;
    for (int i = 0; i < 2; i++)
        if (x->ends[i] != y->ends[i]) return x->ends[i] < y->ends[i] ? -1 : 1;
    return x->label < y->label ? -1 : x->label > y->label;
}

static void join_edges(reading *r)
{
    int64_t kept = 0;
    if (r->edge_count > 0) qsort(r->edges, (size_t)r->edge_count, sizeof *r->edges, compare_edges);
    for (int64_t i = 0; i < r->edge_count; i++)
        if (i == 0 || compare_edges(&r->edges[i], &r->edges[i - 1]) != 0) r->edges[kept++] = r->edges[i];
    r->edge_count = kept;
}

/* Edges by node. */
static void list_neighbours(const reading *r, gram_graph *graph)
{
    for (int64_t e = 0; e < r->edge_count; e++)
        for (int end = 0; end < (r->edges[e].ends[0] == r->edges[e].ends[1] ? 1 : 2); end++)
            graph->start[r->edges[e].ends[end] + 1]++;
    for (int64_t i = 0; i < r->node_count; i++) graph->start[i + 1] += graph->start[i];
    for (int64_t e = r->edge_count - 1; e >= 0; e--)
        for (int end = 0; end < (r->edges[e].ends[0] == r->edges[e].ends[1] ? 1 : 2); end++) {
            const int64_t place = --graph->start[r->edges[e].ends[end] + 1];
            graph->neighbour[place] = (int64_t)r->edges[e].ends[1 - end];
            graph->edge_label[place] = r->edges[e].label;
        }
    memmove(graph->start, graph->start + 1, (size_t)r->node_count * sizeof *graph->start);
    int64_t all = 0;
    for (int64_t e = 0; e < r->edge_count; e++) all += r->edges[e].ends[0] == r->edges[e].ends[1] ? 1 : 2;
    graph->start[r->node_count] = all;
}

const char *gram_graph_read(const char *text, int64_t length, uint64_t *room, gram_graph *graph, int64_t *from,
                            int64_t *to)
{
    const int64_t most = most_words(length);
    reading r = {.text = text, .length = length, .table_size = table_size(length)};
    uint64_t *at = room;
    r.nodes = (named_node *)(void *)at;
    r.label = at += 3 * most;
    r.edges = (edge *)(void *)(at += most);
    r.table = at += 3 * most;
    graph->start = (int64_t *)(void *)(at += r.table_size);
    graph->neighbour = (int64_t *)(void *)(at += most + 1);
    graph->edge_label = at + 2 * most;
    graph->words = gram_graph_room(length);
    for (int64_t i = 0; i < length; i = *to) {
        while (i < length && parts_words(text[i])) i++;
        *from = *to = i;
        while (*to < length && !parts_words(text[*to])) (*to)++;
        if (*to == i) break;
        const char *wrong = read_word(&r, i, *to);
        if (wrong) return wrong;
    }
    *from = 0;
    *to = length;
    if (r.node_count == 0) return "it has no node";
    for (int64_t i = 0; r.labels && i < r.node_count; i++) {
        *from = r.nodes[i].at;
        *to = *from + r.nodes[i].length;
        if (!r.nodes[i].labelled) return "this node has no label, and others have: NODE:LABEL is missing";
    }
    join_edges(&r);
    graph->nodes = r.node_count;
    graph->label = r.label;
    list_neighbours(&r, graph);
    return NULL;
}

gram_status gram_graph_check(gram_context *context, const char *text, int64_t length)
{
    enum { SHOWN = 40 };
    gram_status status = GRAM_OK;
    gram_graph graph;
    uint64_t *room = NULL;
    int64_t from = 0, to = 0;
    TRY(gram_take(context, "graphs", gram_graph_room(length), sizeof *room, (void **)&room));
    memset(room, 0, (size_t)gram_graph_room(length) * sizeof *room);
    const char *wrong = gram_graph_read(text, length, room, &graph, &from, &to);
    FAIL_IF(wrong, context, GRAM_ERROR_DATA, "not a graph: '%.*s'%s: %s", (int)(to - from < SHOWN ? to - from : SHOWN),
            text + from, to - from > SHOWN ? "..." : "", wrong);
done:
    gram_give(context, room);
    if (status == GRAM_ERROR_DATA)
        (void)gram_advise(context, status, "A graph is a list of edges and labels of nodes: 'a-b b-c; a:C b:O c:C'.");
    return status;
}
