/* Kernels from inside: the expression tree, and what each kernel of the table declares.
 *
 * A kernel is form + profile. The form is a quantity of a pair that the tile engine computes for a whole block (squared
 * distance, inner product ...); the profile maps the block. Length-scales belong to the form: the engine
 * divides by them and differentiates by them, so a profile sees z = scale * s and never an ell.
 *
 * A new kernel is one file with one gram_kernel_type and one row in kernel_table.c; tests run over the whole table. */
#ifndef GRAM_KERNEL_KERNEL_H
#define GRAM_KERNEL_KERNEL_H

#include <stdatomic.h>

#include <gram/kernel.h>

#include "base/context.h"
#include "base/vecmath/vecmath.h"
#include "points/objects.h"

typedef enum gram_form {
    GRAM_FORM_NONE,   /* no pair needed: a constant */
    GRAM_FORM_SAME,   /* 1 if both are the same observation, else 0 */
    GRAM_FORM_SQDIST, /* sum_l ((x_l - y_l)/ell_l)^2 */
    GRAM_FORM_L1,     /* sum_l |x_l - y_l|/ell_l */
    GRAM_FORM_DOT,    /* sum_l x_l y_l */
    GRAM_FORM_SHARE,  /* x.y/(|x|^2 + |y|^2 - x.y), 1 of 0 and 0; of sparse rows and sets */
    GRAM_FORM_COORDS, /* what the kernel makes of the coordinates itself */
    GRAM_FORM_INDEX   /* the numbers of the two observations: an entry of a given matrix */
} gram_form;

typedef enum gram_role {
    GRAM_ROLE_SHAPE,     /* a number of the profile; learnt */
    GRAM_ROLE_STRUCTURE, /* a number of the profile; never learnt, never differentiated by */
    GRAM_ROLE_LENGTH,    /* length-scale of the form: one, or one per column */
    GRAM_ROLE_COVARIANCE /* of the form, instead of a length-scale: a positive definite matrix S */
} gram_role;

/* Another tool's name for a parameter, and how its value becomes ours. */
typedef struct gram_alias {
    const char *name;
    double (*convert)(double value);
} gram_alias;

typedef struct gram_parameter_spec {
    const char *name;
    gram_role role;
    double initial; /* the value when it is left out; NaN: stays unset until it is learnt or resolved */
    double lower, upper;
    int lower_open; /* lower itself is not allowed */
    int whole;      /* an integer */
    int held;       /* fixed when it is left out */
    const char *const
        *words;      /* NULL, or the words of its values 0, 1, ..., which the language has instead; up to a NULL */
    double resolved; /* what gram_kernel_resolve makes of an unset one that is not a length-scale */
    gram_transform transform;
    gram_alias aliases[3]; /* up to the first without a name */
} gram_parameter_spec;

enum { GRAM_MAX_SPECS = 6 };

/* The most columns that a block of pairs has: a kernel of coordinates may keep rows of this length on the stack,
 * _Alignas(64). */
enum { GRAM_BLOCK_COLUMNS = 96 };

/* A block of pairs by coordinates: x_l of row i is x[l * ld + i], y_l of column j is y[l * ld + j]. */
typedef struct gram_coords_block {
    int64_t d;
    int rows;
    int columns; /* a multiple of GRAM_LANES, at most GRAM_BLOCK_COLUMNS; out has this many numbers per row */
    int ld;
    const double *x;
    const double *y;
    /* for kernels with `dots`, otherwise NULL */
    const double *dots;              /* x_i.y_j, rows x columns */
    const double *x_norms, *y_norms; /* |x_i|^2, |y_j|^2 */
} gram_coords_block;

/* The factor f(x, y_j) of one coordinate in a product over them: arrays of one number for each y_j. f and by_x are always
 * wanted; by_y and by_both, df/dy and d2f/dx dy, together or not at all (NULL). */
typedef struct gram_coords_factor {
    double *f, *by_x;
    double *by_y, *by_both;
} gram_coords_factor;

/* Of a kernel that is a function of x.y, |x|^2 and |y|^2 one x against many y, with derivatives in the plane of the two: with
 * n_x = y - x_share x and n_y = x - y_share y
 *
 *     dk/dx = by_x[0] n_x + by_x[1] x,  dk/dy = by_y[0] n_y + by_y[1] y,  d2k/dx dy' = own I + (n_x x) both (n_y y)' */
typedef struct gram_plane_jet {
    _Alignas(64) double value[GRAM_BLOCK_COLUMNS];
    double x_share[GRAM_BLOCK_COLUMNS], y_share[GRAM_BLOCK_COLUMNS];
    double by_x[2][GRAM_BLOCK_COLUMNS], by_y[2][GRAM_BLOCK_COLUMNS];
    double own[GRAM_BLOCK_COLUMNS], both[2][2][GRAM_BLOCK_COLUMNS];
} gram_plane_jet;

/* What a kernel's functions see of the leaf that they work for. */
typedef struct gram_shape {
    const double *par; /* one number per spec, in order; those of the form are NaN */
    double scale;      /* z = scale * s */
    int64_t d;         /* columns that the leaf sees: those of an `on`, the rows of a warp's matrix, or all */
    const void *data;  /* what `prepare` made, or NULL */
} gram_shape;

struct gram_symbols;
struct gram_feature_sink;

/* Everything about one kernel of the table. `par` is as in gram_shape. Blocks have n numbers, a multiple of GRAM_LANES;
 * `work` is scratch of n numbers. A slot that a form does not need stays NULL. */
typedef struct gram_kernel_type {
    const char *name;
    const char *formula; /* for people */
    gram_form form;
    /* 0: it takes numbers, and sparse rows if its form is a distance or an inner product. Otherwise a bit 1 << gram_object_kind for each kind of
     * column that it takes, one such column and no other */
    unsigned things;
    /* of texts: the features of one, of which the kernel is the inner product (text/text_features.h), and which of its numbers say what symbols are and whether it is
     * divided by the features' length */
    void (*features)(const double *par, const struct gram_symbols *text, struct gram_feature_sink *sink);
    int over, scaled; /* over -1: bytes */
    int sets;         /* of texts: a text is a list of items, and features are not divided by anything */
    /* what the name means on columns of texts and of sparse rows, if that is another formula; of the same parameters. NULL: nothing */
    const struct gram_kernel_type *on_texts, *on_sparse;
    /* of texts that must be of some form: GRAM_ERROR_DATA if one is not; optional */
    gram_status (*check_text)(gram_context *context, const char *text, int64_t length);
    int spec_count;
    gram_parameter_spec specs[GRAM_MAX_SPECS];

    /* NULL, or a reason why these parameters cannot be, to follow "matern(nu=0.7): ". Optional. */
    const char *(*refuse)(const double *par);

    /* Tables that the profile wants, made once for each leaf and engine: data_bytes of memory, 64-byte aligned. d is that of
     * gram_shape. Optional. */
    size_t data_bytes;
    void (*prepare)(const double *par, int64_t d, void *data);

    /* Facts on R^d; d is the number of columns that this leaf sees. Starts from all unknown. */
    void (*facts)(const double *par, int64_t d, gram_properties *facts);

    /* Do different points have different features? NO only if there are x != y with k(x,.) = k(y,.). Optional: unknown,
     * unless the facts have the answer (strictly or characteristic: yes). */
    gram_answer (*injective)(const double *par, int64_t d);

    /* In one dimension all functions of H vanish at one point, if at any, and on sets without it the kernel is strictly
     * positive definite and universal: what is missing there, another term of a sum can add. */
    int pinned;

    /* out = k(scale s); out may be s */
    void (*profile)(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, double *out,
                    double *work);
    /* the same in f32; optional: otherwise the block is widened, mapped in f64 and narrowed */
    void (*profile_f32)(const gram_vecmath_f32 *v, const gram_shape *shape, int n, const float *s, float *out,
                        float *work);
    /* out = k(0) - k(scale s) without cancellation near 0 (from expm1 of an exponent, say), for forms SQDIST and L1;
     * 0, and nothing is written, if these parameters have no such form. Optional: otherwise the kernel metric subtracts */
    int (*deficit)(const gram_shape *shape, int n, const double *s, double *out);
    /* out = dk/dz at z = scale s; k is profile's result. Where k has a kink at z = 0: 0. */
    void (*slope)(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                  double *out);
    /* out = d2k/dz2 at z = scale s, `slopes` being slope's result. Where it is infinite at z = 0 (matern, 1 < nu <= 2): 0,
     * because there it is multiplied by what vanishes faster. Without it the kernel has no second derivatives. */
    void (*curvature)(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, const double *k,
                      const double *slopes, double *out);
    /* out[q * ld + i] = d^q k/dz^q for q = 0 .. order, order <= 4, where k has as many: what functionals need. Asked for orders up
     * to twice the derivatives that the facts promise; where one of them is infinite at z = 0: 0, as for curvature. Without it
     * functionals of the leaf are those without derivatives. */
    void (*derivatives)(const gram_vecmath_f64 *v, const gram_shape *shape, int order, int n, const double *s,
                        int64_t ld, double *out);
    /* NULL, or why d2k/dx dy does not exist with these parameters, to follow "min has no second derivative by the inputs: ".
     * Optional. */
    const char *(*rough)(const double *par);
    /* out = dk/dpar[spec] for a spec of role SHAPE */
    void (*parameter_slope)(const gram_vecmath_f64 *v, const gram_shape *shape, int spec, int n, const double *s,
                            const double *k, double *out);

    /* GRAM_FORM_COORDS only: blocks come with their inner products and squared norms */
    int dots;
    /* the kernel of a block */
    void (*coords)(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, double *out);
    /* and for derivatives by the inputs, of a product over coordinates the factor of one of them: x against n numbers y */
    void (*coords_factor)(const gram_vecmath_f64 *v, const gram_shape *shape, int n, double x, const double *y,
                          const gram_coords_factor *out);
    /* the same factor differentiated by_x times by x and by_y times by y, each at most as often as the facts promise and at most
     * twice: what functionals need; optional */
    void (*coords_derivative)(const gram_vecmath_f64 *v, const gram_shape *shape, int by_x, int by_y, int n, double x,
                              const double *y, double *out);
    /* of any other the derivatives by all coordinates of row i: out[l * columns + j] = dk/dx_l */
    void (*coords_slope)(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, int i,
                         double *out);
    /* and by par[spec], for a spec of role SHAPE */
    void (*coords_parameter_slope)(const gram_vecmath_f64 *v, const gram_shape *shape, int spec,
                                   const gram_coords_block *block, double *out);
    /* and second ones, of a kernel with `dots`, for row i. Products over coordinates have them from their factors. */
    void (*coords_jet)(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, int i,
                       gram_plane_jet *out);
    /* the leaf divided by its diagonal, if that is a kernel of the same parameters: it then cannot overflow; optional */
    const struct gram_kernel_type *normalized;
    /* positive definite in as many columns as it is told, and in no Hilbert space of infinitely many */
    int finite_only;
    /* the form may not reach this, or an entry would be infinite; optional, inner products only */
    double (*form_upper)(const double *par);
    /* no coordinate may be below this; optional */
    double (*domain_lower)(const double *par);
    /* NULL, or why the kernel is not defined at this coordinate, to follow "x[3][1] = 0.5 "; optional */
    const char *(*domain_refuse)(const double *par, double coordinate);
} gram_kernel_type;

/* The type that a leaf of this type is on columns of that kind. */
static inline const gram_kernel_type *gram_kernel_variant(const gram_kernel_type *type, gram_object_kind kind)
{
    if (kind == GRAM_OBJECT_TEXT && type->on_texts) return type->on_texts;
    return kind == GRAM_OBJECT_SPARSE && type->on_sparse ? type->on_sparse : type;
}

/* Does a leaf of this type take columns of that kind? */
static inline int gram_kernel_takes(const gram_kernel_type *type, gram_object_kind kind)
{
    type = gram_kernel_variant(type, kind);
    if (type->things) return (int)(type->things >> kind & 1);
    const int measures = type->form == GRAM_FORM_SQDIST || type->form == GRAM_FORM_L1 || type->form == GRAM_FORM_DOT;
    return kind == GRAM_OBJECT_NONE || (kind == GRAM_OBJECT_SPARSE && measures);
}

/* The table of kernels; ends where get returns NULL. */
const gram_kernel_type *gram_kernel_type_get(int index);
const gram_kernel_type *gram_kernel_type_find(const char *name, size_t length);
extern const gram_kernel_type gram_kernel_const;
/* Of sets and sparse rows (text/set_kernels.c). */
extern const gram_kernel_type gram_kernel_set_intersection, gram_kernel_set_tanimoto, gram_kernel_sparse_tanimoto;

typedef enum gram_node {
    GRAM_NODE_LEAF,
    GRAM_NODE_SUM,       /* two or more children, none of them a sum */
    GRAM_NODE_PRODUCT,   /* two or more children, none of them a product */
    GRAM_NODE_POWER,     /* child ^ exponent */
    GRAM_NODE_ON,        /* child sees `columns` only */
    GRAM_NODE_EXP,       /* exp(child) */
    GRAM_NODE_WARP,      /* child sees A x, A = `matrix` with `matrix_rows` rows and `matrix_columns` columns */
    GRAM_NODE_NORMALIZE, /* child(x, y)/sqrt(child(x, x) child(y, y)) */
    GRAM_NODE_SCALE,     /* f(x) child(x, y) f(y), f = external->factor */
    GRAM_NODE_CENTRE,    /* child - its means over the sample external->points; external NULL: no sample yet */
    GRAM_NODE_MEAN, /* of two bags the mean of the child over all pairs of their rows; `exponent` random frequencies, 0: none */
    GRAM_NODE_AFTER /* the second child, a leaf, at the distance that the first makes */
} gram_node;

/* What a kernel holds that has no text: kernels of these exist in C only. Counted: kernels that are made from such a one
 * (with other parameters, say) share it, and `release` is called when the last of them is gone. */
typedef struct gram_external {
    atomic_int references;
    gram_memory *memory;
    char name[32];         /* prints as <callback NAME>, <precomputed NAME>, ... */
    gram_kernel_fn block;  /* callback leaf */
    gram_factor_fn factor; /* scale */
    void *user;
    void (*release)(void *user); /* or NULL */
    const double *matrix;        /* precomputed: borrowed, symmetric, n x n */
    int64_t n, ld;
    gram_points *points; /* centre: retained */
} gram_external;

/* The value of one parameter of a leaf: nothing (count = 0: S where ell is used, or the other way round), one number,
 * a list, or a matrix (rows > 0, row-major, rows x rows). Numbers of a matrix are fixed together or not at all. */
typedef struct gram_argument {
    int64_t count;
    int64_t rows;
    int set; /* 0: one number, left open (count = 1, NaN) */
    double *values;
    unsigned char *fixed; /* one for each value: is kept when others are learnt */
} gram_argument;

struct gram_kernel {
    atomic_int references;
    gram_memory *memory;
    gram_node node;
    int depth;    /* 1 for a leaf */
    int64_t size; /* number of nodes */

    const gram_kernel_type *type;            /* leaf */
    gram_argument arguments[GRAM_MAX_SPECS]; /* leaf: one per spec */

    int child_count;
    gram_kernel **children;
    int exponent;
    int64_t column_count;
    int64_t *columns; /* from 0 */
    int64_t matrix_rows, matrix_columns;
    double *matrix;          /* row-major */
    gram_external *external; /* NULL if the node has nothing but its text */
};

enum {
    GRAM_KERNEL_MAX_DEPTH = 64,
    GRAM_KERNEL_MAX_SIZE = 4096,
    GRAM_KERNEL_MAX_TEXT = 1 << 20,
    GRAM_KERNEL_MAX_POWER = 64,
    GRAM_KERNEL_MAX_FREQUENCIES = 1 << 16,
    GRAM_KERNEL_MAX_COLUMNS = 4096,   /* of one `on`; rows and columns of a warp's matrix */
    GRAM_KERNEL_MAX_COLUMN = 1 << 30, /* the highest, from 1 */
    GRAM_KERNEL_MAX_NUMBERS = 1 << 24 /* of one argument */
};

/* ---- building (kernel.c, kernel_combine.c); all check limits and bounds ---- */

/* A node in one block with room for these; `matrix` points to the values, one byte for each lies after them. */
typedef struct gram_node_room {
    int64_t values;
    int64_t children;
    int64_t columns;
} gram_node_room;

gram_status gram_kernel_new(gram_context *context, gram_node node, gram_node_room room, gram_kernel **out);

/* A leaf from arguments in the order of the type's specs; values are copied. An empty argument takes its default: the
 * spec's initial number, or open. `fixed` may be NULL: none is. Checks bounds, `refuse`, positive definiteness of S.
 * Structural numbers are never marked fixed, and -0 becomes 0: each kernel has one text. */
gram_status gram_kernel_leaf(gram_context *context, const gram_kernel_type *type, const gram_argument *arguments,
                             gram_kernel **kernel);
/* Sum or product of several; flattens. */
gram_status gram_kernel_combine(gram_context *context, gram_node node, int count, gram_kernel *const *children,
                                gram_kernel **kernel);

/* A node with one child: that of `like` (its kind, exponent, columns, matrix and external) with another child. */
gram_status gram_kernel_with_child(gram_context *context, const gram_kernel *like, gram_kernel *child,
                                   gram_kernel **kernel);

/* par[0 .. spec_count) of a leaf. */
void gram_kernel_par(const gram_kernel *leaf, double par[GRAM_MAX_SPECS]);

/* The argument with this role, NULL if the leaf has none (or it is empty). */
const gram_argument *gram_kernel_argument(const gram_kernel *leaf, gram_role role);

/* Lower Cholesky factor of the d x d matrix s, row-major, in l (upper part 0). 0 if s is not positive definite. */
int gram_small_cholesky(int64_t d, const double *s, double *l);

/* Is value one that the spec allows? */
int gram_parameter_allows(const gram_parameter_spec *spec, double value);

/* The end of the run columns[start], columns[start] + 1, ... that begins at start. */
int64_t gram_columns_run(const int64_t *columns, int64_t count, int64_t start);

/* ---- what exists in C only (kernel_external.c) ---- */

/* The types of leaves that are not in the table: they have no name to be read by. */
extern const gram_kernel_type gram_kernel_callback_type, gram_kernel_precomputed_type;

/* A counted copy of *from, one more owner of its points. */
gram_status gram_external_new(gram_context *context, const char *name, const gram_external *from, gram_external **out);
/* All of these take NULL. */
gram_external *gram_external_retain(gram_external *external);
void gram_external_release(gram_external *external);
/* The same name, functions and data? Of samples their numbers count. */
int gram_external_equal(const gram_external *a, const gram_external *b);

/* ---- centre(a), whose sample is not in its text (kernel_centre.c) ---- */

/* centre(a) without a sample: gram_kernel_resolve gives it one. */
gram_status gram_kernel_centre_later(gram_context *context, gram_kernel *a, gram_kernel **kernel);
/* Is there a centre without a sample? And the sample of the first one that has it, or NULL. */
int gram_kernel_lacks_sample(const gram_kernel *kernel);
gram_points *gram_kernel_sample(const gram_kernel *kernel);
/* The same kernel in which each centre without a sample has this one (another owner of it): whole points, whatever the node sees of them. */
gram_status gram_kernel_bind(gram_context *context, const gram_kernel *kernel, gram_points *sample, gram_kernel **out);
/* The same with a sample of these rows: all, or 2,000 drawn by the context's seed, so that means cost no more than that. Of functionals
 * the places. */
gram_status gram_kernel_bind_rows(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                                  gram_kernel **out);

/* ---- the columns that a part of the tree sees (kernel_view.c) ---- */

/* d columns of the points: columns[0 .. d), or the first d of them if NULL. Under a warp they are rows of its matrix A,
 * the entries of A x, where x is what `outer` sees. */
typedef struct gram_view {
    int64_t d;
    const int64_t *columns;
    const gram_kernel *warp; /* the innermost one, or NULL */
    const struct gram_view *outer;
    int apart; /* what is seen are no columns of the points: rows of a bag, or a distance that a kernel makes; d is 1 then */
} gram_view;

/* The view of the child of an `on` or a warp whose own view is `outer`, which must live as long. Columns are taken from
 * the context (the caller gives them back). The kernel must fit. */
gram_status gram_view_enter(gram_context *context, const gram_kernel *kernel, const gram_view *outer, gram_view *inner);
void gram_view_leave(gram_context *context, gram_view *inner);

/* What a part sees that has no columns of the points: the rows of bags under `mean`, the distance under `after`. */
static inline gram_view gram_view_apart(void)
{
    return (gram_view){.d = 1, .apart = 1};
}

/* Is there a node of this sort in the tree? */
int gram_kernel_has_node(const gram_kernel *kernel, gram_node node);

/* A new leaf in place of a leaf. */
typedef gram_status (*gram_leaf_map)(gram_context *context, void *state, const gram_kernel *leaf, const gram_view *view,
                                     gram_kernel **out);

/* gram_kernel_check_dimension for a part that sees d columns of points with `whole` of them. */
gram_status gram_kernel_check_part(gram_context *context, const gram_kernel *kernel, int64_t d, int64_t whole);

/* Does a leaf take what it sees, columns[0 .. count) of the points (columns NULL: the first)? Things take a leaf of their own, and one of a type that
 * knows them: GRAM_ERROR_DIMENSION or GRAM_ERROR_UNSUPPORTED with the column. And the same for all leaves. */
gram_status gram_leaf_check_kinds(gram_context *context, const gram_kernel_type *type, int64_t count,
                                  const int64_t *columns, int warped, const struct gram_points *points);
gram_status gram_kernel_check_kinds(gram_context *context, const gram_kernel *kernel, const struct gram_points *points);

/* The same tree with every leaf mapped, in the order in which leaves are printed; leaves that exist in C only have no
 * parameters and are kept. The kernel must fit view->d
 * (gram_kernel_check_dimension); with view NULL columns are not followed and the map sees NULL. */
gram_status gram_kernel_rebuild(gram_context *context, const gram_kernel *kernel, const gram_view *view,
                                gram_leaf_map map, void *state, gram_kernel **out);

/* The same, with a say where columns of the points end: `inside` makes the child of a mean that has this view, `outside` the leaf of an after whose
 * first child was rebuilt to `inner`. */
typedef struct gram_rebuild {
    gram_leaf_map map, inside;
    gram_status (*outside)(gram_context *context, void *state, gram_kernel *inner, const gram_kernel *leaf,
                           const gram_view *view, gram_kernel **out);
    void *state;
} gram_rebuild;
gram_status gram_kernel_rebuild_by(gram_context *context, const gram_kernel *kernel, const gram_view *view,
                                   const gram_rebuild *how, gram_kernel **out);

/* The same tree in which every centre without a sample has this one. */
gram_status gram_kernel_rebuild_centres(gram_context *context, const gram_kernel *kernel, gram_external *sample,
                                        gram_kernel **out);

/* GRAM_ERROR_UNSET, naming it, if any number of the kernel is open, or a centre has no sample. */
gram_status gram_kernel_check_set(gram_context *context, const gram_kernel *kernel);

#endif
