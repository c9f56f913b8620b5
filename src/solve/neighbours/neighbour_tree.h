/* A tree over places in R^d, for the two questions that conditioning on neighbours asks: in which order do rows go from coarse to
 * fine, and which rows before a row are nearest to it? */
#ifndef GRAM_SOLVE_NEIGHBOURS_NEIGHBOUR_TREE_H
#define GRAM_SOLVE_NEIGHBOURS_NEIGHBOUR_TREE_H

#include "base/context.h"

typedef struct gram_neighbour_tree gram_neighbour_tree;

/* Over n places (n x d, row-major, copied), n below 2^31. O(n (log n + d log n)). The caller destroys it. */
gram_status gram_neighbour_tree_create(gram_context *context, int64_t n, int64_t d, const double *places,
                                       gram_neighbour_tree **tree);
/* Takes NULL. */
void gram_neighbour_tree_destroy(gram_neighbour_tree *tree);

/* The maximin order: the first row is nearest to the middle, each other one as far as can be from all before it. order[p] is the
 * row at place p. Some n log n distances in few columns. Where many columns make it more than 40 log2(n) distances a row, the rows that are
 * left then come by the distance that they had. The tree remembers the order, for gram_neighbour_query.before. */
gram_status gram_neighbour_tree_order(gram_context *context, gram_neighbour_tree *tree, int64_t *order);

/* Another order of the rows, in the place of that. O(n). */
gram_status gram_neighbour_tree_place(gram_context *context, gram_neighbour_tree *tree, const int64_t *order);

/* The rows nearest to a place, from near to far; of equally near ones the one with the lower number. */
typedef struct gram_neighbour_query {
    const double *place; /* d numbers */
    int64_t before;      /* of rows before this place of the order; -1: of all */
    int64_t without;     /* not this row; -1: any */
    int64_t count;       /* at most so many */
    int32_t *rows;       /* out */
    double *far;         /* out: squared distances */
} gram_neighbour_query;

/* Returns how many there are. Any number of threads at once. Exact in few columns. In some five and more,
 * if the places are all over them, a search ends after looking at 4,096 rows and boxes (32 for each row that is wanted, if that is more): most
 * of what it then has are the nearest. */
int64_t gram_neighbour_tree_find(const gram_neighbour_tree *tree, const gram_neighbour_query *query);

/* The same for many places at once, in parallel: rows of `lists` are `room` numbers apart, `length` says how many each has. */
typedef struct gram_neighbour_search {
    const gram_neighbour_tree *tree;
    int64_t queries, count; /* count: neighbours of each, at most */
    const double *places;   /* queries x d */
    const int64_t *before;  /* place in the order of each; NULL: all rows count */
    const int64_t *without; /* a row that each leaves out; NULL: none */
    int64_t room;
    int32_t *lists;
    int32_t *length;
} gram_neighbour_search;

gram_status gram_neighbour_search_run(gram_context *context, const gram_neighbour_search *search);

/* Puts the `half` of the rows with the least coordinate along the widest column of their places before the others. */
void gram_neighbour_halve(const double *places, int64_t d, int64_t count, int64_t *rows, int64_t half);

#endif
