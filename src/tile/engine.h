/* The tile engine: one kernel on one pair of point sets, compiled and packed, ready to make blocks of K.
 *
 * Compiling turns the expression into nodes over distinct forms: two leaves that need the same quantity of a pair (the
 * same columns, the same metric up to one length-scale) share it, and it is computed once a strip. `on` disappears into
 * the columns that are packed. An engine never changes after it is made: any number of threads may ask it for strips,
 * each with a scratch of its own.
 *
 * Squared distances come from differences of the stored coordinates (no cancellation, no negative values). Above
 * GRAM_DIRECT_COLUMNS columns they come as |x|^2 + |y|^2 - 2 x.y from centred points, which takes fewer operations, and
 * where that cost digits they are made again from differences. */
#ifndef GRAM_TILE_ENGINE_H
#define GRAM_TILE_ENGINE_H

#include <gram/matrix.h>

#include "base/arena.h"
#include "base/sweep.h"
#include "kernel/kernel.h"
#include "tile/panels.h"
#include "tile/strip/strips.h"

enum { GRAM_DIRECT_COLUMNS = 64 };

/* One packing of the points, for rows and for columns. */
typedef struct gram_metric {
    gram_mapping mapping;
    int single;
    int norms;
    gram_panels x;
    gram_panels y; /* unused when the columns are the rows */
    /* of a column that holds no numbers: what it holds, and its packing in place of panels (objects/) */
    gram_object_kind kind;
    int l1;
    const gram_kernel_type *type; /* of texts: the leaf whose features they are, and its numbers */
    const double *par;
    struct gram_sparse_panels *sparse;
    struct gram_given_panels *given;
    const struct gram_bag_part
        *bags; /* panels of the features of bags (embedding/bag_part.h), in place of the points; NULL: of the points */
} gram_metric;

typedef struct gram_form_entry {
    gram_form kind;
    int metric;                /* the stored coordinates */
    int product_metric;        /* the centred copy for inner products, -1 if the form is made of differences */
    const double *weights_f64; /* per column: 1/ell^2 (squared distance) or 1/ell (L1); NULL for 1 */
    const float *weights_f32;
    int users; /* leaves that read it */
    int slot;  /* where it is kept when several do */
} gram_form_entry;

/* normalize, scale, centre and after combine the child's entry with numbers of the row's and of the column's point:
 *
 *   normalize   child * (row_power * column_power)/sqrt(row * column),   child(x, x) = row/row_power^2
 *   scale       the same with row = 1 and row_power = f(x)
 *   centre      child - (row + column) + offset,   row = mean of child(x, sample)
 *   after       row + column - 2 child, at least 0,   row = child(x, x): a squared distance, which goes through the leaf's profile
 *
 * The root of a square is exact and the powers are of two, hence normalize is exactly 1 on the diagonal. */
typedef struct gram_point_terms {
    gram_node node;
    const gram_kernel *child;                        /* kept by the engine's kernel */
    const gram_external *external;                   /* scale, centre */
    const gram_mapping *space;                       /* what the child sees */
    int number;                                      /* among the engine's nodes of this sort */
    int64_t parameter, parameter_count;              /* the child's */
    double *row, *row_power, *column, *column_power; /* padded to whole panels */
    double offset;
} gram_point_terms;

typedef struct gram_program_node {
    gram_node node; /* never GRAM_NODE_ON */
    const gram_kernel_type *type;
    double par[GRAM_MAX_SPECS];
    gram_shape shape; /* par, d, what `prepare` made, and the scale: 1/ell^2 or 1/ell for one length-scale, else 1 */
    int form;         /* -1 for constants */
    int child_count;
    const int *children;
    int exponent;
    int64_t parameter;                /* number of the first parameter of the leaf or of the child */
    const gram_argument *length;      /* leaf: copies of its metric's parameters, NULL if it has none */
    const double *factor;             /* leaf with a full covariance: its Cholesky factor */
    const gram_point_terms *terms;    /* normalize, scale, centre, after */
    const struct gram_bag_part *bags; /* mean */
} gram_program_node;

typedef struct gram_engine {
    gram_memory *memory;
    gram_arena arena;
    const gram_vecmath *vecmath;
    const gram_strips *strips;
    int64_t n;          /* rows */
    int64_t m;          /* columns */
    int64_t d;          /* columns of the points */
    int symmetric;      /* the columns are the rows */
    int single;         /* computed in f32 */
    int shared;         /* rows and columns are observations of one point set */
    const int64_t *ids; /* observation of column j; NULL: j itself */
    int metric_count;
    gram_metric *metrics;
    int form_count;
    gram_form_entry *forms;
    int node_count;
    gram_program_node *nodes; /* children before parents */
    int kept_forms;           /* forms with several users */
    int slot_count;           /* strips that evaluating the expression takes */
    int64_t parameter_count;
    int root_count;     /* kernels */
    int *roots;         /* their nodes */
    gram_kernel **kept; /* root_count: for the nodes with terms */
    int term_count;     /* nodes that combine with numbers of the points */
    gram_point_terms **terms;
    int bag_count; /* means over pairs of rows of bags (embedding/bag_part.h) */
    struct gram_bag_part **bags;
    /* rows or columns are functionals: strips are made of their atoms (functional/functional_engine.h), and panels of points are
     * not; NULL: both are points */
    struct gram_functional_engine *functionals;
} gram_engine;

typedef struct gram_engine_request {
    const gram_kernel *kernel;
    int other_count; /* further kernels on the same pairs, which share forms with it and with each other */
    gram_kernel *const *others;
    const gram_points *x;
    const gram_points *y; /* NULL: x */
    int64_t count;        /* with index: the columns are these points of x */
    const int64_t *index;
    int always_double;         /* compute in f64 even between f32 points */
    const gram_mapping *space; /* what the kernel sees of the points; NULL: all columns as they are */
} gram_engine_request;

/* Checks that everything fits and packs the points. The index is kept: it must outlive the engine. */
gram_status gram_engine_create(gram_context *context, const gram_engine_request *request, gram_engine **engine);
void gram_engine_destroy(gram_engine *engine);

/* Bytes of scratch for one thread; gram_engine_begin makes it ready at the start of a task. Strips of very many columns take long:
 * they ask the worker, if there is one, whether its sweep has stopped, and then make no form any more. */
size_t gram_engine_scratch(const gram_engine *engine);
void gram_engine_begin(const gram_engine *engine, void *scratch, const gram_worker *worker);

static inline int64_t gram_engine_row_panels(const gram_engine *engine)
{
    return (engine->n + GRAM_PANEL - 1) / GRAM_PANEL;
}

static inline int64_t gram_engine_column_panels(const gram_engine *engine)
{
    return (engine->m + GRAM_PANEL - 1) / GRAM_PANEL;
}

/* GRAM_STRIP x GRAM_PANEL numbers of K, rows from row_panel * GRAM_PANEL + row on, valid until the next call with this
 * scratch. Entries beyond n and m are finite and mean nothing. The first for f64 engines, the second for f32 ones. */
double *gram_engine_strip_f64(const gram_engine *engine, void *scratch, int64_t row_panel, int row,
                              int64_t column_panel);
float *gram_engine_strip_f32(const gram_engine *engine, void *scratch, int64_t row_panel, int row,
                             int64_t column_panel);

/* The same entries for another of the request's kernels: 1 is the first of `others`. In rising order after the strip of the kernel
 * itself, each once. */
double *gram_engine_other_f64(const gram_engine *engine, void *scratch, int number);
float *gram_engine_other_f32(const gram_engine *engine, void *scratch, int number);

/* The scratch of one thread. The arrays are of the engine's type. */
typedef struct gram_strip {
    int64_t row_panel, column_panel;
    int row;
    void *kept; /* forms with several users */
    int *used;  /* for each form: how many of its users had it */
    void *slots;
    double *work; /* two strips in f64 */
    double *functional;
    double *bags; /* of the rows of bags */
    const gram_worker *worker;
} gram_strip;

/* The diagonal of a symmetric engine's K. */
gram_status gram_engine_diagonal(gram_context *context, const gram_engine *engine, double *out);

/* ---- between the files of the engine ---- */

/* Turns the kernel into nodes, forms and metrics (compile.c). */
gram_status gram_engine_compile(gram_context *context, gram_engine *engine, const gram_engine_request *request);

/* Computes the numbers of the points that normalize, scale and centre need (point_terms.c). */
gram_status gram_engine_make_terms(gram_context *context, gram_engine *engine, const gram_engine_request *request);

/* row_i = mean over the sample of child(x_i, z), of points or functionals; and the mean of these over the sample, as the offset. */
gram_status gram_terms_means(gram_context *context, const gram_point_terms *terms, const gram_points *points,
                             double *row);
gram_status gram_terms_centre(gram_context *context, gram_point_terms *terms);

/* The node's entry of points i and j, k being the child's. */
double gram_terms_combine(const gram_point_terms *terms, int64_t i, int64_t j, double k);

/* The child's entries of a strip become the node's, in place. For normalize and scale this is a factor for each pair, so it
 * maps weights backwards too. */
void gram_terms_apply_f64(const gram_point_terms *terms, const gram_strip *strip, double *out);
void gram_terms_apply_f32(const gram_point_terms *terms, const gram_strip *strip, float *out);

static inline const gram_panels *gram_engine_columns(const gram_engine *engine, int metric)
{
    return engine->symmetric ? &engine->metrics[metric].x : &engine->metrics[metric].y;
}

static inline int gram_program_is_constant(const gram_program_node *node)
{
    return node->node == GRAM_NODE_LEAF && node->type->form == GRAM_FORM_NONE;
}

/* Says which strip is meant from now on. */
void gram_strip_move(const gram_engine *engine, gram_strip *strip, int64_t row_panel, int row, int64_t column_panel);

/* Has the work stopped? Asked before a form of d columns, where that is worth a look at the clock. */
int gram_strip_stopped(const gram_strip *strip, int64_t d);

/* 0 if no row of the strip is the same observation as one of its columns, for sure. */
int gram_strip_may_share(const gram_engine *engine, const gram_strip *strip);

/* A leaf without a form of the engine's: white, and kernels of the coordinates. In f64 for engines of both types. */
void gram_engine_special(const gram_engine *engine, const gram_strip *strip, const gram_program_node *leaf,
                         double *out);

/* The form of a strip; f64 engines. */
void gram_engine_form(const gram_engine *engine, gram_strip *strip, int form, double *out);

/* What a kernel of the coordinates sees of a strip. Its inner products, if it asks for them, are in the second half of the
 * strip's work. */
gram_coords_block gram_engine_coords(const gram_engine *engine, const gram_strip *strip, const gram_program_node *leaf);
/* The same with inner products that were made before, or none. */
gram_coords_block gram_engine_coords_given(const gram_engine *engine, const gram_strip *strip,
                                           const gram_program_node *leaf, const double *dots);

#endif
