/* Fully connected networks, their tangent kernels, and gradient descent on them.
 *
 * With `depth` hidden layers of M_1, ..., M_L units, M_0 = d inputs and M_(L+1) = m outputs, and an activation s,
 *
 *     z_l = c_l W_l a_(l-1) + e_l b_l,    a_l = s(z_l),    a_0 = x,    f(x; theta) = scale z_(L+1)
 *
 *     NTK parameterisation    c_1 = sw/sqrt(fan), c_l = sw/sqrt(M_(l-1)), e_l = sb; W and b start as standard normal numbers
 *     standard                c_l = e_l = 1; W starts with the deviation sw/sqrt(fan) or sw/sqrt(M_(l-1)), b with sb
 *
 * Both are the same functions at the start, but descent moves their weights at different speeds. As the widths grow, f at the start tends to a
 * Gaussian process with the covariance scale^2 nngp(depth, act, sw, sb, fan), and in the NTK parameterisation the tangent kernel
 * H(x, y) = grad f(x).grad f(y), gradients by theta, to scale^2 ntk(depth, act, sw, sb, fan). `scale` = 1 is the lazy regime (the two-layer
 * network is (a/M) sum_i b_i s(w_i.x) with a = sqrt M), 1/sqrt(M) the mean-field one (a = 1), and a growing scale at fixed widths is lazy
 * too (Chizat, Oyallon, Bach 2019); `centred` networks are f(x; theta) - f(x; theta_0), which start at 0.
 *
 * theta is W_1 (M_1 x M_0, row-major), b_1, W_2, b_2, ... one after the other. Biases are there, and trained, unless sb is 0 in the NTK
 * parameterisation, where they have no effect.
 *
 * Everything is made of matrix products over tiles of rows, BLAS on one thread inside a sweep: the same bits for any number of
 * threads. Common failures: GRAM_ERROR_ARGUMENT, GRAM_ERROR_DIMENSION, GRAM_ERROR_DATA, GRAM_ERROR_OVERFLOW, GRAM_ERROR_BUDGET,
 * GRAM_ERROR_MEMORY, GRAM_ERROR_CANCELLED. */
#ifndef GRAM_NETWORK_H
#define GRAM_NETWORK_H

#include <gram/kernel.h>
#include <gram/points.h>

GRAM_BEGIN

typedef struct gram_network gram_network;

typedef enum gram_activation {
    GRAM_ACTIVATION_RELU = 0,
    GRAM_ACTIVATION_ERF = 1,
    GRAM_ACTIVATION_TANH = 2
} gram_activation;

/* "relu", "erf", "tanh"; NULL for another number. Static. */
GRAM_API const char *gram_activation_name(gram_activation activation);

typedef enum gram_parameterisation {
    GRAM_PARAMETERISATION_NTK = 0,
    GRAM_PARAMETERISATION_STANDARD = 1
} gram_parameterisation;

typedef struct gram_network_options {
    size_t size;
    int64_t inputs;        /* d; must be given */
    int64_t outputs;       /* m; default 1 */
    int64_t depth;         /* hidden layers; default 1, at most 64 */
    const int64_t *widths; /* depth of them, borrowed for the call; must be given */
    gram_activation activation;
    gram_parameterisation parameterisation;
    double sw, sb;   /* default 1 and 0, as those of the kernels */
    double fan;      /* default 0: d. The kernels' default is 1 */
    double scale;    /* default 1 */
    int centred;     /* default 0 */
    uint64_t number; /* which of the networks of the context's seed: different numbers are independent; default 0 */
} gram_network_options;

GRAM_API void gram_network_options_init(gram_network_options *options, size_t size);

/* A network with random weights, which depend on the context's seed and the number only. The caller destroys it (takes NULL).
 * Memory for two numbers per parameter: it keeps the weights that it started with. */
GRAM_API gram_status gram_network_create(gram_context *context, const gram_network_options *options,
                                         gram_network **network);
GRAM_API void gram_network_destroy(gram_network *network);

/* A copy with the same weights, start included. */
GRAM_API gram_status gram_network_copy(gram_context *context, const gram_network *network, gram_network **copy);

/* The network linearised about its starting weights theta_0, f(x; theta_0) + grad f(x; theta_0).u: what a network with its tangent kernel
 * frozen is. Its parameters are u, which starts as theta - theta_0; everything here takes it as any other network. */
GRAM_API gram_status gram_network_linearise(gram_context *context, const gram_network *network, gram_network **linear);

/* What it was made with; `widths` are its own. */
GRAM_API const gram_network_options *gram_network_get_options(const gram_network *network);
GRAM_API int64_t gram_network_parameter_count(const gram_network *network);
/* theta (of a linearised network u), and theta_0. Valid as long as the network; the first changes with descent. */
GRAM_API const double *gram_network_parameters(const gram_network *network);
GRAM_API const double *gram_network_start(const gram_network *network);
/* Sets theta and, unless it is NULL, theta_0: as many finite numbers as there are parameters, copied. */
GRAM_API gram_status gram_network_set(gram_context *context, gram_network *network, const double *theta,
                                      const double *start);

/* values[i * ldv + o] = f_o(x_i). O(n P) for P parameters. */
GRAM_API gram_status gram_network_evaluate(gram_context *context, const gram_network *network, const gram_points *x,
                                           double *values, int64_t ldv);
/* values[i * ldv + o] = grad f_o(x_i).u, P numbers u: a product with the Jacobian. O(n P). */
GRAM_API gram_status gram_network_directional(gram_context *context, const gram_network *network, const gram_points *x,
                                              const double *u, double *values, int64_t ldv);
/* gradient = sum_io v_io grad f_o(x_i), P numbers: a product with its transpose. O(n P). */
GRAM_API gram_status gram_network_gradient(gram_context *context, const gram_network *network, const gram_points *x,
                                           const double *v, int64_t ldv, double *gradient);

/* ---- tangent kernels ---- */

/* out[i * ldo + j] = H(x_i, y_j) of one output, or with output = -1 the mean over the outputs; y NULL: that of x, exactly symmetric.
 * Of a layer the gradient is an outer product, so that H = sum_l (c_l^2 a_(l-1)(x).a_(l-1)(y) + e_l^2) dz_l(x).dz_l(y), with
 * dz_l = df/dz_l: two matrix products for a layer, and never a Jacobian. O(n P + n^2 U) for U units, memory for 2 n U numbers. */
GRAM_API gram_status gram_network_tangent_matrix(gram_context *context, const gram_network *network, int64_t output,
                                                 const gram_points *x, const gram_points *y, double *out, int64_t ldo);

/* H as a kernel, of the network as it is now: later descent does not change the kernel. For all methods; it prints as <callback tangent> and cannot be
 * written to files. A block of 16 x 96 pairs makes what it needs of its points anew, so that many points at
 * once are faster by gram_network_tangent_matrix. Memory for about 300 U numbers for each thread of the context. */
GRAM_API gram_status gram_kernel_network_tangent(gram_context *context, const gram_network *network, int64_t output,
                                                 gram_kernel **kernel);

/* ---- gradient descent ---- */

typedef enum gram_network_loss {
    GRAM_NETWORK_SQUARED = 0, /* (1/n) sum_i |f(x_i) - y_i|^2 */
    GRAM_NETWORK_SOFTMAX = 1  /* -(1/n) sum_io y_io log p_io, p = exp f/sum exp f; the rows of y sum to 1 */
} gram_network_loss;

/* theta <- theta - rate v, v <- momentum v + (gradient of the loss over a batch). Small steps follow the gradient flow
 * d theta/dt = -(gradient), t = rate steps/(1 - momentum); of a linearised network and the squared loss that is
 * f_t(X) - y = exp(-2 t H/n) (f_0(X) - y). */
typedef struct gram_descent_options {
    size_t size;
    double rate; /* default 0: half of the longest that is stable at the start, from the largest eigenvalue of H/n */
    double momentum; /* 0 <= momentum < 1; default 0 */
    int64_t batch;   /* rows of a step, in a random order that is new for each pass; default 0: all */
    gram_network_loss loss;
    uint64_t number; /* which random order, as that of gram_network_options */
} gram_descent_options;

GRAM_API void gram_descent_options_init(gram_descent_options *options, size_t size);

/* A descent that can be watched: run it piece by piece, with the same bits as at once. The network, x and y (n x m) are borrowed until
 * it is destroyed (takes NULL). Memory for two numbers per parameter, and 3 numbers for each unit and row of a batch, at most
 * 2,048 rows. */
typedef struct gram_descent gram_descent;
GRAM_API gram_status gram_descent_create(gram_context *context, gram_network *network, const gram_points *x,
                                         const double *y, int64_t ldy, const gram_descent_options *options,
                                         gram_descent **descent);
GRAM_API void gram_descent_destroy(gram_descent *descent);
/* The length of its steps. */
GRAM_API double gram_descent_rate(const gram_descent *descent);

/* `steps` more steps; losses (NULL: none) gets the loss of each step's batch before the step. A loss that is not finite, or more
 * than 1e4 times the first and 1e4 times that of f = 0, is GRAM_ERROR_NUMERICAL: descent diverges. Then, as after a cancelled run, the network has the weights
 * that it started with, and the descent can only be destroyed. O(P) for each row and step. */
GRAM_API gram_status gram_descent_run(gram_context *context, gram_descent *descent, int64_t steps, double *losses);

/* The loss over all rows. */
GRAM_API gram_status gram_network_loss_of(gram_context *context, const gram_network *network, const gram_points *x,
                                          const double *y, int64_t ldy, gram_network_loss loss, double *value);

/* The largest eigenvalue of H on the rows (of all outputs together: n m of them), by products with the Jacobian and its transpose, from below and to
 * about 1 %. */
GRAM_API gram_status gram_network_largest_eigenvalue(gram_context *context, const gram_network *network,
                                                     const gram_points *x, double *eigenvalue);

/* How far the weights are from where they started: the root mean square change of one, and the norm of the whole change. */
GRAM_API void gram_network_drift(const gram_network *network, double *each, double *whole);

/* ---- any function of parameters ---- */

/* Returns f(x; theta) and, unless `gradient` is NULL, sets gradient[p] = df/dtheta_p. May be called from several threads at once. */
typedef double (*gram_parametric_fn)(void *user, int64_t d, const double *x, const double *theta, double *gradient);

typedef struct gram_parametric {
    int64_t inputs, parameters; /* d and P */
    gram_parametric_fn function;
    void *user;
} gram_parametric;

/* values[i] = f(x_i; theta). A value that is not finite is GRAM_ERROR_DATA. */
GRAM_API gram_status gram_parametric_evaluate(gram_context *context, const gram_parametric *f, const double *theta,
                                              const gram_points *x, double *values);

/* Its tangent kernel at theta (copied), grad f(x).grad f(y). `release` as in gram_kernel_callback, of f->user. It prints as <callback NAME>. Memory
 * for 17 gradients for each thread of the context; a block of 16 x 96 pairs asks for 112 gradients. */
GRAM_API gram_status gram_kernel_tangent(gram_context *context, const char *name, const gram_parametric *f,
                                         const double *theta, void (*release)(void *user), gram_kernel **kernel);

/* `steps` steps of theta <- theta - rate grad (1/n) sum_i (f(x_i; theta) - y_i)^2, in place; losses (NULL: none) gets the loss before each. A loss
 * that is not finite or more than 1e4 times the first and that of f = 0 is GRAM_ERROR_NUMERICAL; then, as after any failure, theta is what it
 * was. Memory for some 20 gradients. */
GRAM_API gram_status gram_parametric_descend(gram_context *context, const gram_parametric *f, const gram_points *x,
                                             const double *y, double rate, int64_t steps, double *theta,
                                             double *losses);

GRAM_END

#endif
