/* Kernels: immutable expressions, written and printed in one small language.
 *
 *     2*rbf(ell=0.3) + on(3:5, matern(nu=2.5, ell=[1,2,1]))*white()
 *
 * `^` binds before `*` before `+`; a bare number is a constant kernel; columns count from 1. A number left out is unset:
 * it is learnt, or filled in by gram_kernel_resolve. A number that ends in `!` is held when others are learnt. What
 * gram_kernel_print writes reads back to the same kernel, bit for bit. docs/kernels.md has the grammar and the kernels.
 *
 * Kernels never change, are counted, and may be shared by threads. */
#ifndef GRAM_KERNEL_H
#define GRAM_KERNEL_H

#include <gram/output.h>
#include <gram/points.h>

GRAM_BEGIN

typedef struct gram_kernel gram_kernel;

/* Reads an expression. GRAM_ERROR_SYNTAX for a text that is not an expression (the message names the place and suggests a near
 * name), GRAM_ERROR_ARGUMENT for a value out of its bounds. At most 1 MiB of text, 64 levels, 4096 terms. The caller
 * releases the kernel. */
GRAM_API gram_status gram_kernel_parse(gram_context *context, const char *text, gram_kernel **kernel);

/* One more owner; returns kernel. Every owner releases once; release takes NULL. */
GRAM_API gram_kernel *gram_kernel_retain(gram_kernel *kernel);
GRAM_API void gram_kernel_release(gram_kernel *kernel);

/* Writes the expression and a final 0 to text[0 .. size), as far as it fits, and returns the length of the whole
 * without the 0 (like snprintf: call with size 0 to learn it). */
GRAM_API size_t gram_kernel_print(const gram_kernel *kernel, char *text, size_t size);
/* The same onto a text that grows. */
GRAM_API void gram_kernel_append(const gram_kernel *kernel, gram_string *text);

/* The same kernel, same parameters, same bits? */
GRAM_API int gram_kernel_equal(const gram_kernel *a, const gram_kernel *b);

/* The terms of a sum; a kernel that is not a sum is its own only term. A term belongs to the kernel; index from 0. */
GRAM_API int64_t gram_kernel_term_count(const gram_kernel *kernel);
GRAM_API gram_kernel *gram_kernel_term(const gram_kernel *kernel, int64_t index);

/* ---- building without text: new kernels from old ones ----
 *
 * Operands keep their owners; the caller releases the result. O(operands). GRAM_ERROR_ARGUMENT for a NULL, a value out of
 * its range or an expression past the limits of gram_kernel_parse. */
GRAM_API gram_status gram_kernel_constant(gram_context *context, double value, gram_kernel **kernel);
GRAM_API gram_status gram_kernel_sum(gram_context *context, gram_kernel *a, gram_kernel *b, gram_kernel **kernel);
GRAM_API gram_status gram_kernel_multiply(gram_context *context, gram_kernel *a, gram_kernel *b, gram_kernel **kernel);
GRAM_API gram_status gram_kernel_power(gram_context *context, gram_kernel *a, int m, gram_kernel **kernel);
/* `columns` counts from 0 here, as everything in C does. */
GRAM_API gram_status gram_kernel_on(gram_context *context, int64_t count, const int64_t *columns, gram_kernel *a,
                                    gram_kernel **kernel);

/* exp(a(x, y)), and a(x, y)/sqrt(a(x, x) a(y, y)). */
GRAM_API gram_status gram_kernel_exp(gram_context *context, gram_kernel *a, gram_kernel **kernel);
GRAM_API gram_status gram_kernel_normalize(gram_context *context, gram_kernel *a, gram_kernel **kernel);
/* Of bags, samples of rows (gram_points_create_bags): the inner product of their mean embeddings, the mean of a(x, y) over all rows x of the one and y of the
 * other. With `frequencies` above 0 (at most 65536) a is replaced by twice as many random Fourier features, whose means are made once for each bag: for a
 * stationary a and many or large bags; the frequencies are always the same ones. */
GRAM_API gram_status gram_kernel_mean(gram_context *context, gram_kernel *a, int frequencies, gram_kernel **kernel);
/* outer(d(x, y)) with the distance d^2 = a(x, x) + a(y, y) - 2 a(x, y) that a makes. `outer` is rbf, laplace, matern, rq, imq or powexp with one length-scale. */
GRAM_API gram_status gram_kernel_after(gram_context *context, gram_kernel *a, gram_kernel *outer, gram_kernel **kernel);
/* a(A x, A y), A of rows x columns finite numbers (1 to 4096 of each), row-major, copied. */
GRAM_API gram_status gram_kernel_warp(gram_context *context, int64_t rows, int64_t columns, const double *matrix,
                                      gram_kernel *a, gram_kernel **kernel);

/* ---- kernels that exist in C only: they print as <callback NAME> and the like, which cannot be read back ---- */

/* out[i * ldo + j] = k(x_i, y_j) for a block of pairs; coordinate l of point i is x[l * ldx + i], of point j y[l * ldy + j].
 * Must be symmetric, give the same for the same pair in any block, and may be called from several threads at once. A
 * block may be filled up with points that are not of the set; what is made of them is not used. */
typedef void (*gram_kernel_fn)(void *user, int64_t d, int64_t rows, const double *x, int64_t ldx, int64_t columns,
                               const double *y, int64_t ldy, double *out, int64_t ldo);

/* A name is 1 to 31 letters, digits, '_' and '-'. `user` is taken in any case: `release` (or NULL) is called with it once,
 * when the last kernel that uses it is gone, or at once if this fails. The kernel has no derivative by its inputs. */
GRAM_API gram_status gram_kernel_callback(gram_context *context, const char *name, gram_kernel_fn block, void *user,
                                          void (*release)(void *user), gram_kernel **kernel);

/* The entries of a symmetric n x n matrix of the caller (borrowed, row-major, ld >= n), by the numbers of the points:
 * for point sets of n points with themselves only. Reads it once: GRAM_ERROR_DATA names an entry that is not finite. */
GRAM_API gram_status gram_kernel_precomputed(gram_context *context, const char *name, int64_t n, const double *matrix,
                                             int64_t ld, gram_kernel **kernel);

/* f(x) a(x, y) f(y); f may be called from several threads at once. name, user and release as above. */
typedef double (*gram_factor_fn)(void *user, int64_t d, const double *x);
GRAM_API gram_status gram_kernel_scale(gram_context *context, const char *name, gram_factor_fn factor, void *user,
                                       void (*release)(void *user), gram_kernel *a, gram_kernel **kernel);

/* a(x, y) - mean_i a(x, z_i) - mean_i a(z_i, y) + mean_ij a(z_i, z_j) over a sample z of whole points: one more owner of
 * it. Prints as centre(a), which is read back without the sample: gram_kernel_resolve then takes that of its points. */
GRAM_API gram_status gram_kernel_centre(gram_context *context, gram_points *sample, gram_kernel *a,
                                        gram_kernel **kernel);

/* ---- parameters, in the order in which they are printed ---- */

typedef enum gram_transform { GRAM_TRANSFORM_NONE = 0, GRAM_TRANSFORM_LOG = 1 } gram_transform;

typedef struct gram_parameter {
    /* "rbf.ell", "rbf.ell[2]", "poly.c", "const"; with a number when a kernel occurs twice: "rbf#2.ell" */
    char name[48];
    double value; /* NaN while unset */
    double lower, upper;
    gram_transform transform; /* the scale on which to search */
    int set;                  /* has a value */
    int fixed;                /* is not to be learnt */
} gram_parameter;

/* Numbers that may be learnt or differentiated by; structural ones (the degree m, nu) are not among them. An unset
 * `ell` counts as one number. A full covariance S counts as the d (d + 1)/2 entries of its Cholesky factor L, row by
 * row, S = L L'. */
GRAM_API int64_t gram_kernel_parameter_count(const gram_kernel *kernel);
GRAM_API gram_status gram_kernel_parameter_get(gram_context *context, const gram_kernel *kernel, int64_t index,
                                               gram_parameter *parameter);

/* A new kernel with these values (parameter_count of them) and the same flags; NaN leaves free what is free.
 * GRAM_ERROR_ARGUMENT names the first value out of its bounds. */
GRAM_API gram_status gram_kernel_with_values(gram_context *context, const gram_kernel *kernel, const double *values,
                                             gram_kernel **out);

/* A new kernel without unset numbers: length-scales by the median heuristic (the median of |x_i - x_j| over pairs of at
 * most 2,000 rows, drawn by the context's seed, with a distance above 0, in the columns and the norm that the kernel
 * sees; 1 if there is none), others by their defaults; a centre(a) without a sample is about these points, or 2,000 of them.
 * O(min(n, 2000)^2 d). */
GRAM_API gram_status gram_kernel_resolve(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                                         gram_kernel **out);

/* A new kernel in which each single length-scale that has a value and is not fixed became several equal ones, one per
 * column that it sees of points with d columns; others, unset ones too, are kept (so gram_kernel_resolve comes first). */
GRAM_API gram_status gram_kernel_with_ard(gram_context *context, const gram_kernel *kernel, int64_t d,
                                          gram_kernel **out);

/* Does the kernel take points of d columns? GRAM_ERROR_DIMENSION, with what does not fit, if columns of `on`, numbers
 * of ARD parameters, the matrix of a warp or the sample of a centred kernel do not allow it. O(size of the expression). */
GRAM_API gram_status gram_kernel_check_dimension(gram_context *context, const gram_kernel *kernel, int64_t d);

/* The least number of columns that the kernel takes. GRAM_ERROR_DIMENSION, with what does not fit, if its parts need
 * different ones. O(size of the expression). */
GRAM_API gram_status gram_kernel_least_dimension(gram_context *context, const gram_kernel *kernel, int64_t *d);

/* ---- the kernels there are ---- */

/* Kernel number index = 0, 1, ... of the table: its name, and what it is of x and y in a line of plain text; NULL past the
 * end. Static. */
GRAM_API const char *gram_kernel_name(int index);

/* What a kernel is about where that is no vectors of numbers: "texts", "rows of a given matrix", "columns of several kinds"; NULL: numbers (or sparse rows). Static. */
GRAM_API const char *gram_kernel_domain(const gram_kernel *kernel);
/* Has it a part `given`? */
GRAM_API int gram_kernel_takes_given(const gram_kernel *kernel);
GRAM_API const char *gram_kernel_formula(int index);

/* The same with its parameters and their defaults, as in "matern(nu=2.5, ell)": a parameter without one is free. Written
 * like gram_kernel_print does; 0 past the end. */
GRAM_API size_t gram_kernel_signature(int index, char *text, size_t size);

/* ---- facts ---- */

typedef enum gram_answer { GRAM_NO = 0, GRAM_YES = 1, GRAM_UNKNOWN = 2 } gram_answer;

enum { GRAM_INFINITE = -1 };

typedef struct gram_properties {
    gram_answer positive_definite; /* positive semi-definite Gram matrices */
    gram_answer strictly;          /* K > 0 for distinct points */
    gram_answer stationary;        /* a function of x - y */
    gram_answer isotropic;         /* a function of |x - y| */
    gram_answer universal;         /* H dense in C(Z) for every compact Z */
    gram_answer characteristic;    /* mean embedding injective */
    gram_answer continuous;
    gram_answer bounded_below;     /* k(x,x) > 0 everywhere */
    int64_t rank;                  /* of its feature space, GRAM_INFINITE if not finite */
    int derivatives;               /* highest order of a derivative that is a continuous functional, or GRAM_INFINITE */
    double sobolev_order;          /* H is the Sobolev space of this order; NaN if it is not one or that is not known */
    gram_answer constant_diagonal; /* k(x,x) is one number: the largest of a sample bounds it everywhere */
    gram_answer draws_in_space; /* are draws of the Gaussian process GP(0, k) in H? Only if its dimension is finite */
    /* Draws have every Hoelder order below this one, where order q + a is q derivatives of which the last is Hoelder
     * continuous of order a: INFINITY for all derivatives, 0 for draws that are not continuous, NaN if it is not known. */
    double draw_smoothness;
} gram_properties;

/* What is known of the kernel on R^d, by the rules of docs/kernels.md; what is not known is said to be unknown. O(size of the
 * expression + d). Fails as gram_kernel_check_dimension does. */
GRAM_API gram_status gram_kernel_properties(gram_context *context, const gram_kernel *kernel, int64_t d,
                                            gram_properties *facts);

GRAM_END

#endif
