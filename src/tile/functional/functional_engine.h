/* Strips of K between functionals: how the engine holds them, and the files of this folder between each other.
 *
 * Each row is a sum of atoms (points/functionals.h), and u_i u_j k a sum over pairs of atoms of derivatives of k, at most two in
 * each argument. The atoms of a panel of rows are packed as *chunks*: at most GRAM_PANEL of one kind, coordinate by coordinate, with
 * their directions beside them, for each metric of the kernel. One atom of a row meets one chunk at a time (functional_jet.c): every
 * node of the program then makes numbers with as many nilpotent parts as the two take derivatives,
 *
 *     k(x + e_1 v + e_2 w, y + e_3 v' + e_4 w'),   e_i^2 = 0,
 *
 * and the part with all of e_1 ... e_4 is the entry. Rules of sums, products and chains are those of numbers; the forms are
 * polynomials of degree two, so a leaf of distances or inner products needs derivatives of its profile up to the fourth and a few
 * multiplications. A pair of values costs what a value costs.
 *
 * An entry depends on its two rows only, never on what else is in the panel. */
#ifndef GRAM_TILE_FUNCTIONAL_FUNCTIONAL_ENGINE_H
#define GRAM_TILE_FUNCTIONAL_FUNCTIONAL_ENGINE_H

#include "points/functionals.h"
#include "tile/engine.h"

enum {
    GRAM_JET_PARTS = 16,                         /* of a number with four nilpotents */
    GRAM_JET_SIZE = GRAM_JET_PARTS * GRAM_PANEL, /* part p of lane j is at p * GRAM_PANEL + j */
    GRAM_JET_DERIVATIVES = 5                     /* of a profile, with its value */
};

typedef struct gram_atom_chunk {
    gram_atom_kind kind;
    int lanes;                      /* a multiple of GRAM_LANES */
    int row[GRAM_PANEL];            /* of the panel, to which the lane belongs; 0 for lanes that fill up */
    double coefficient[GRAM_PANEL]; /* 0 for those */
} gram_atom_chunk;

/* The atoms of rows, or of columns. */
typedef struct gram_atoms {
    gram_points *expanded; /* the functionals whose atoms these are; one owner */
    int64_t panels;
    int64_t *first; /* panels + 1: chunks of a panel */
    gram_atom_chunk *chunks;
    /* for each metric: d rows of GRAM_PANEL numbers u for each chunk, then v and w */
    double **packed;
    /* where the atoms of row i are: from row_first[i] to row_first[i + 1] */
    int64_t *row_first;
    int64_t *row_chunk;
    int *row_lane;
} gram_atoms;

/* What normalize and centre have of the points, with the nilpotents of each atom: part p (none, v, w, both) of lane j of chunk c is at
 * ((c * GRAM_POINT_PARTS) + p) * GRAM_PANEL + j. */
enum { GRAM_POINT_PARTS = 4 };
typedef double *gram_point_jets;

struct gram_functional_engine {
    gram_atoms rows, columns;
    const gram_atoms *y; /* &rows if the columns are the rows */
    unsigned char
        *sees;  /* for each node, and then the number of derivatives: is there an atom that takes them of this leaf? */
    int closed; /* integrals are closed forms */
    gram_point_jets *row_jets, *column_jets; /* for each of the engine's terms; the same if the columns are the rows */
};

/* One atom against one chunk. */
typedef struct gram_atom_pair {
    const gram_engine *engine;
    int64_t row_chunk, column_chunk;
    int row_lane;
    int lanes;
    int by_x, by_y, bits; /* derivatives by x, by y, both */
    int spread;           /* one of them is a mean over a box or a normal distribution */
    const gram_atom_chunk *x, *y;
    double *slots;                   /* of GRAM_JET_SIZE */
    double *form, *product, *factor; /* GRAM_JET_SIZE each */
    double *phi;                     /* GRAM_JET_DERIVATIVES rows */
} gram_atom_pair;

/* Numbers of a thread beside the engine's own scratch, and a pair that works in them. */
size_t gram_functional_scratch(const gram_engine *engine);
gram_atom_pair gram_functional_begin_pair(const gram_engine *engine, double *work);
/* The pair of the row's atom with a chunk of columns. */
void gram_functional_set_row(gram_atom_pair *pair, int64_t chunk, int lane);
void gram_functional_set_column(gram_atom_pair *pair, int64_t chunk);

/* u, v or w (part 0, 1, 2) of a chunk in a metric; coordinate l of lane j is at l * GRAM_PANEL + j. */
static inline const double *gram_atoms_at(const gram_engine *engine, const gram_atoms *atoms, int metric, int64_t chunk,
                                          int part)
{
    const int64_t size = engine->metrics[metric].mapping.d * GRAM_PANEL;
    return atoms->packed[metric] + (3 * chunk + part) * size;
}

/* Makes what is known of the request's functionals before the kernel is compiled: `inner` is the request with their atoms'
 * places as its points (of which `places` has room for two), and engine->functionals is set. (functional_engine.c) */
gram_status gram_functional_begin(gram_context *context, gram_engine *engine, const gram_engine_request *request,
                                  gram_points places[2], gram_engine_request *inner);
/* Packs, and checks that the kernel has the derivatives that are taken. */
gram_status gram_functional_pack(gram_context *context, gram_engine *engine);
void gram_functional_end(gram_engine *engine);

/* The strip of a kernel of the engine, as gram_engine_strip_f64. */
double *gram_functional_strip(const gram_engine *engine, gram_strip *strip, int root);

/* (functional_jet.c) a = a b for numbers with nilpotent parts; with `all` every part of the product, else its last one. */
void gram_jet_multiply(const gram_atom_pair *pair, const double *b, int all, double *a);
/* The entries of a pair: pair->lanes numbers. */
const double *gram_functional_pair(const gram_atom_pair *pair, int root);

/* All parts of a node's jet. */
const double *gram_functional_whole_jet(const gram_atom_pair *pair, int index);

/* (functional_terms.c) Makes row_jets and column_jets; refuses nodes for which there are none. */
gram_status gram_functional_make_terms(gram_context *context, gram_engine *engine);
/* The child's jet becomes that of normalize or centre, in place. */
void gram_functional_apply_terms(const gram_atom_pair *pair, const gram_point_terms *terms, int all, double *jet);

/* (functional_integrals.c) Have integrals of the kernel closed forms? */
int gram_integrals_are_closed(const gram_kernel *kernel);
/* x with rules of nodes and weights in place of integrals. With `closed` the atoms stay, but for boxes so small that a rule is
 * better. The points of x itself, with one more owner, if nothing changes. */
gram_status gram_integrals_expand(gram_context *context, const gram_kernel *kernel, int closed, const gram_points *x,
                                  gram_points **out);
/* The jet of an rbf leaf for a pair with a spread, in out. */
void gram_integrals_jet(const gram_atom_pair *pair, const gram_program_node *leaf, double *out);

#endif
