/* Gaussian-process regression where each row is conditioned on its m nearest predecessors only (Vecchia 1988):
 *
 *     p(y) ~ prod_i p(y_i | y_N(i)),   rows in an order from coarse to fine.
 *
 * Neighbours are found in the metric of the kernel's lengths (Katzfuss, Guinness and Lawrence 2022). The rows that are conditioned on are
 * those that were observed, with their noise ("response" Vecchia): everything is a product of small conditionals, noise of the rows costs
 * nothing, and there is no sparse system to solve. With m = n - 1 it is the exact likelihood, whatever the order. */
#ifndef GRAM_METHOD_GP_VECCHIA_GP_VECCHIA_H
#define GRAM_METHOD_GP_VECCHIA_GP_VECCHIA_H

#include "method/gp/gp_mean.h"
#include "solve/neighbours/neighbour_conditionals.h"
#include "solve/neighbours/neighbour_tree.h"

/* Options of that size, the defaults where it ends; NULL: the defaults. */
gram_status gram_gp_vecchia_options_read(gram_context *context, const char *name,
                                         const gram_gp_vecchia_options *options, gram_gp_vecchia_options *out);

/* How many neighbours a point has among n rows: as asked for, at most n; 0: the default. A row has one less of all of them. */
int64_t gram_vecchia_neighbours(int64_t asked, int64_t n);

/* ---- order and neighbours of the rows ---- */

typedef struct gram_vecchia_rows {
    gram_memory *memory;
    int64_t count; /* neighbours, at most */
    double *rates; /* d: of the metric that they were found in */
    gram_neighbour_groups groups;
    int64_t *order; /* target i of the groups is row order[i] */
} gram_vecchia_rows;

/* In the metric of the kernel's lengths. The caller destroys it. */
gram_status gram_vecchia_rows_make(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                   int64_t count, gram_vecchia_rows **rows);
/* Takes NULL. */
void gram_vecchia_rows_destroy(gram_vecchia_rows *rows);
/* Made anew if *rows is NULL, or the proportions of the lengths have changed by more than a factor of 1.5 since. */
gram_status gram_vecchia_rows_renew(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                    int64_t count, gram_vecchia_rows **rows);

/* ---- the likelihood ---- */

/* A regression without a factor of the whole: base has its small and beta; nothing else of it but numbers. */
typedef struct gram_vecchia_system {
    gram_gp_system base;
    const char *name;
    gram_kernel *kernel; /* borrowed, as is: */
    const gram_points *x;
    double *shift; /* n */
    double *right; /* n x (q + 1): the columns of the mean, then y */
    double *share; /* n: derivative of the shift by the noise; NULL: 1 */
} gram_vecchia_system;

/* Checks the arguments and fills in columns and shifts. gram_vecchia_system_free is due after a failure, too. */
gram_status gram_vecchia_system_make(gram_context *context, const char *name, gram_kernel *kernel, const gram_points *x,
                                     const double *y, const gram_gp_options *options, gram_vecchia_system *system);
void gram_vecchia_system_free(gram_memory *memory, gram_vecchia_system *system);

/* The mean's parameters and the likelihood, as gram_gp_log_likelihood takes it from the base; unless NULL the gradient by the kernel's
 * parameters and last by the noise. */
gram_status gram_vecchia_evaluate(gram_context *context, gram_vecchia_system *system, const gram_vecchia_rows *rows,
                                  double *value, double *gradient);

/* Both in one call, for gram_gp_likelihood and searches: *rows is renewed and kept, or NULL: made for this call. */
gram_status gram_vecchia_likelihood(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                    const gram_gp_options *options, gram_vecchia_rows **rows, double *value,
                                    double *gradient);

/* ---- the posterior ---- */

typedef struct gram_vecchia {
    gram_memory *memory;
    gram_kernel *kernel;
    gram_points *x; /* own */
    int64_t count;
    double *rates, *places;
    gram_neighbour_tree *tree;
    gram_vecchia_system system;                     /* right: the mean's columns, then y - T beta */
    double *loo_mean, *loo_variance, *coefficients; /* n each; NULL where it was made from parts */
} gram_vecchia;

/* Conditions on the data; without `bare` with leave-one-out numbers. *value is the likelihood. */
gram_status gram_vecchia_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                             const gram_gp_options *options, int bare, double *value, gram_vecchia **fit);
/* The same from parts that have beta (and, with a flat mean, its factor). */
gram_status gram_vecchia_restore(gram_context *context, gram_kernel *kernel, const gram_gp_parts *parts,
                                 gram_vecchia **fit);
/* Takes NULL. */
void gram_vecchia_destroy(gram_vecchia *fit);

/* From the m nearest rows of each point, in chunks. O(m^3) a point. */
gram_status gram_vecchia_predict(gram_context *context, const gram_vecchia *fit, const gram_points *points,
                                 const double *basis, int64_t ldb, double *mean, double *variance);

#endif
