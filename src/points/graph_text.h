/* Labelled graphs as texts:
 *
 *     a-b b-c c-a; a:C b:O c:C
 *
 * Words are parted by blanks, commas and semicolons. NODE-NODE is an edge without direction, NODE-NODE:LABEL one with a label, NODE:LABEL a node's label, and NODE alone a
 * node. A name has none of - : , ; and no blanks. Where one node has a label all must have one; an edge given twice, or once in each direction, is one edge. */
#ifndef GRAM_POINTS_GRAPH_TEXT_H
#define GRAM_POINTS_GRAPH_TEXT_H

#include "base/context.h"

/* Nodes and edges by numbers; labels are hashes, 0 where there is none. */
typedef struct gram_graph {
    int64_t nodes;
    uint64_t *label;
    int64_t *start;       /* nodes + 1: neighbours of node i are at start[i] .. start[i + 1] - 1 */
    int64_t *neighbour;   /* each edge twice, a loop once */
    uint64_t *edge_label; /* beside neighbour */
    int64_t words;        /* of the room that is used */
} gram_graph;

/* Reads a graph into numbers of 8 bytes, gram_graph_room(length) of them, zeroed. Returns NULL, or what is wrong; *from and *to are then the place of the word. */
int64_t gram_graph_room(int64_t length);
const char *gram_graph_read(const char *text, int64_t length, uint64_t *room, gram_graph *graph, int64_t *from,
                            int64_t *to);

/* GRAM_ERROR_DATA, with what is wrong in which word, if the text is no graph. */
gram_status gram_graph_check(gram_context *context, const char *text, int64_t length);

#endif
