/* Functionals from inside: each row is a sum of atoms.
 *
 * An atom is what the tile engine knows to do with a point: take the value there, one or two derivatives along given
 * directions, or the mean over a box or a normal distribution around it. Every second-order operator is a few of them,
 * A : D2 f = sum_l d/de_l d/dA_l f with the rows A_l of A. */
#ifndef GRAM_POINTS_FUNCTIONALS_H
#define GRAM_POINTS_FUNCTIONALS_H

#include <gram/functional.h>

#include "points/points.h"

typedef enum gram_atom_kind {
    GRAM_ATOM_VALUE,  /* f(place); kinds up to here take as many derivatives as their number says */
    GRAM_ATOM_FIRST,  /* v . grad f(place) */
    GRAM_ATOM_SECOND, /* v' D2f(place) w */
    GRAM_ATOM_MEAN    /* the mean of f over place + X: X_l uniform on +- v_l, or normal with deviation w_l, or 0 */
} gram_atom_kind;

typedef struct gram_functionals {
    int64_t count;  /* atoms of all rows */
    int64_t *first; /* n + 1: those of row i are first[i] .. first[i + 1] - 1 */
    double *coefficient;
    unsigned char *kind; /* gram_atom_kind */
    double *place;       /* count x d each; v and w are 0 where a kind has none */
    double *v, *w;
} gram_functionals;

/* Functionals with room for their atoms, to be filled in by the caller; then gram_functionals_seal. */
gram_status gram_functionals_make(gram_context *context, int64_t n, int64_t d, int64_t count, gram_points **points);

/* The places of the rows, from their atoms: the mean of the places of a row's atoms. Fails for what is not finite. */
gram_status gram_functionals_seal(gram_context *context, gram_points *points);

/* Copies atom `from` of x to atom `to` of the points, with another coefficient. */
void gram_functionals_copy_atom(const gram_points *x, int64_t from, double coefficient, gram_points *points,
                                int64_t to);

/* The atoms of functionals as points: borrows their arrays; for reading only, never released. */
gram_points gram_functionals_places(const gram_points *points);

/* gram_points_gather and gram_points_part for functionals. */
gram_status gram_functionals_gather(gram_context *context, const gram_points *x, int64_t count, const int64_t *rows,
                                    gram_points **out);
gram_status gram_functionals_part(gram_context *context, const gram_points *x, int64_t first, int64_t count,
                                  gram_points **out);

/* The rows of x, and then those of y, as functionals; either may be points, whose values they are. */
gram_status gram_functionals_join(gram_context *context, const gram_points *x, const gram_points *y, gram_points **out);

/* Are both functionals, atom by atom the same? */
int gram_functionals_equal(const gram_points *x, const gram_points *y);

/* What the points hold of functionals, if anything, when they end. */
void gram_functionals_free(gram_points *points);

/* GRAM_ERROR_UNSUPPORTED if the rows are functionals: for what is about points only. Takes NULL. */
gram_status gram_points_must_be_plain(gram_context *context, const char *who, const gram_points *points);

#endif
