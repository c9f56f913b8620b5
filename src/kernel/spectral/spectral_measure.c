/* Frequencies of stationary kernels (Bochner's theorem), by recursion over the expression.
 *
 * A normalised stationary kernel is the mean of cos(w.t) over a random w:
 *
 *     sum        w of one of the terms, each with the share that it has of the height
 *     product    the sum of the factors' w, independently drawn; so is a power
 *     on, warp   the child's w, put into its columns; A'w
 *     rbf        normal with covariance diag(1/ell^2), or S^-1
 *     matern     that times sqrt(nu/g), g ~ Gamma(nu): Student's t with 2 nu degrees of freedom; laplace is nu = 1/2
 *     rq, imq    that times sqrt(g/alpha), g ~ Gamma(alpha): a mixture of rbf
 *     powexp     that times sqrt(2 A), A positive stable of index p/2: E exp(-s A) = exp(-s^(p/2))
 *     laplace1   Cauchy in each column
 *     periodic   2 pi/p times a difference of two Poisson numbers of mean 1/(2 ell^2): exp(s cos u - s) is the characteristic
 *                function of that difference at u, s = 1/ell^2
 *     cosine     +- 2 pi/p in each column;  sinc: uniform on (-B, B) */
#include "kernel/spectral/spectral_measure.h"

#include <math.h>
#include <string.h>

#include "kernel/spectral/random_cursor.h"

static const double PI = 3.14159265358979323846;
static const uint64_t STREAM = 0x7061746877U; /* the name of this use of the seed */
static const double MOST_POISSON = 1e4;       /* it takes as many uniform numbers */

/* ---- leaves ---- */

typedef struct leaf_spectrum {
    const char *name;
    double (*height)(const double *par, int64_t d); /* NULL: 1 */
    void (*draw)(gram_cursor *c, const gram_kernel *leaf, const double *par, int64_t d, double *w);
    double (*square)(const double *par); /* E w^2 along one column, for ell = 1 */
} leaf_spectrum;

/* w += factor times a normal vector of covariance diag(1/ell^2). */
static void add_normal(gram_cursor *c, const gram_kernel *leaf, double factor, int64_t d, double *w)
{
    const gram_argument *ell = gram_kernel_argument(leaf, GRAM_ROLE_LENGTH);
    for (int64_t l = 0; l < d; l++)
        w[l] += factor * gram_cursor_direction_normal(c) / (!ell ? 1 : ell->values[ell->count == 1 ? 0 : l]);
}

/* w += a normal vector of covariance S^-1: L^-T z, S = L L'. */
static void add_covariant(gram_cursor *c, const gram_argument *s, int64_t d, double *work, double *w)
{
    double *factor = work, *z = work + d * d;
    (void)gram_small_cholesky(d, s->values, factor);
    for (int64_t l = 0; l < d; l++) z[l] = gram_cursor_direction_normal(c);
    for (int64_t i = d - 1; i >= 0; i--) {
        for (int64_t k = i + 1; k < d; k++) z[i] -= factor[k * d + i] * z[k];
        z[i] /= factor[i * d + i];
        w[i] += z[i];
    }
}

static void draw_const(gram_cursor *c, const gram_kernel *leaf, const double *par, int64_t d, double *w)
{
    (void)c, (void)leaf, (void)par, (void)d, (void)w;
}

static void draw_rbf(gram_cursor *c, const gram_kernel *leaf, const double *par, int64_t d, double *w)
{
    (void)par;
    add_normal(c, leaf, 1, d, w);
}

static double height_const(const double *par, int64_t d)
{
    (void)d;
    return par[0];
}

static void draw_matern(gram_cursor *c, const gram_kernel *leaf, const double *par, int64_t d, double *w)
{
    add_normal(c, leaf, sqrt(par[0] / gram_cursor_gamma(c, par[0])), d, w);
}

static void draw_laplace(gram_cursor *c, const gram_kernel *leaf, const double *par, int64_t d, double *w)
{
    (void)par;
    add_normal(c, leaf, sqrt(0.5 / gram_cursor_gamma(c, 0.5)), d, w);
}

static void draw_powexp(gram_cursor *c, const gram_kernel *leaf, const double *par, int64_t d, double *w)
{
    add_normal(c, leaf, sqrt(2 * gram_cursor_stable(c, par[0] / 2)), d, w);
}

static void draw_rq(gram_cursor *c, const gram_kernel *leaf, const double *par, int64_t d, double *w)
{
    add_normal(c, leaf, sqrt(gram_cursor_gamma(c, par[0]) / par[0]), d, w);
}

/* c^(-2 beta) times rq of alpha = beta, ell = c/sqrt(2 beta) */
static void draw_imq(gram_cursor *c, const gram_kernel *leaf, const double *par, int64_t d, double *w)
{
    add_normal(c, leaf, sqrt(2 * gram_cursor_gamma(c, par[1])) / par[0], d, w);
}

static double height_imq(const double *par, int64_t d)
{
    (void)d;
    return pow(par[0], -2 * par[1]);
}

static void draw_laplace1(gram_cursor *c, const gram_kernel *leaf, const double *par, int64_t d, double *w)
{
    const gram_argument *ell = gram_kernel_argument(leaf, GRAM_ROLE_LENGTH);
    (void)par;
    for (int64_t l = 0; l < d; l++)
        w[l] += tan(PI * (gram_cursor_direction_uniform(c) - 0.5)) / ell->values[ell->count == 1 ? 0 : l];
}

static void draw_periodic(gram_cursor *c, const gram_kernel *leaf, const double *par, int64_t d, double *w)
{
    const double mean = 0.5 / (par[1] * par[1]);
    (void)leaf;
    for (int64_t l = 0; l < d; l++) {
        const double up = gram_cursor_poisson(c, mean), down = gram_cursor_poisson(c, mean);
        w[l] += 2 * PI / par[0] * (up - down);
    }
}

static void draw_cosine(gram_cursor *c, const gram_kernel *leaf, const double *par, int64_t d, double *w)
{
    (void)leaf;
    for (int64_t l = 0; l < d; l++) w[l] += (gram_cursor_direction_uniform(c) < 0.5 ? 2 : -2) * PI / par[0];
}

static void draw_sinc(gram_cursor *c, const gram_kernel *leaf, const double *par, int64_t d, double *w)
{
    (void)leaf;
    for (int64_t l = 0; l < d; l++) w[l] += par[0] * (2 * gram_cursor_direction_uniform(c) - 1);
}

static double height_sinc(const double *par, int64_t d)
{
    return pow(2 * par[0], (double)d);
}

/* ---- mean squares of frequencies ---- */

static double infinite(const double *par)
{
    (void)par;
    return INFINITY;
}

static double zero(const double *par)
{
    (void)par;
    return 0;
}

static double one(const double *par)
{
    (void)par;
    return 1;
}

static double square_matern(const double *par)
{
    return par[0] > 1 ? par[0] / (par[0] - 1) : INFINITY;
}

static double square_powexp(const double *par)
{
    return par[0] >= 2 ? 2 : INFINITY;
}

static double square_imq(const double *par)
{
    return 2 * par[1] / (par[0] * par[0]);
}

static double square_periodic(const double *par)
{
    return 4 * PI * PI / (par[0] * par[0] * par[1] * par[1]);
}

static double square_cosine(const double *par)
{
    return 4 * PI * PI / (par[0] * par[0]);
}

static double square_sinc(const double *par)
{
    return par[0] * par[0] / 3;
}

static const leaf_spectrum LEAVES[] = {
    {"const", height_const, draw_const, zero},          {"rbf", NULL, draw_rbf, one},
    {"matern", NULL, draw_matern, square_matern},       {"laplace", NULL, draw_laplace, infinite},
    {"powexp", NULL, draw_powexp, square_powexp},       {"rq", NULL, draw_rq, one},
    {"imq", height_imq, draw_imq, square_imq},          {"laplace1", NULL, draw_laplace1, infinite},
    {"periodic", NULL, draw_periodic, square_periodic}, {"cosine", NULL, draw_cosine, square_cosine},
    {"sinc", height_sinc, draw_sinc, square_sinc},
};
enum { LEAVES_COUNT = sizeof LEAVES / sizeof *LEAVES };

static const leaf_spectrum *find_leaf(const gram_kernel *leaf)
{
    for (int i = 0; i < LEAVES_COUNT; i++)
        if (gram_kernel_type_find(LEAVES[i].name, strlen(LEAVES[i].name)) == leaf->type) return &LEAVES[i];
    return NULL;
}

/* ---- the tree ---- */

static int64_t child_dimension(const gram_kernel *k, int64_t d)
{
    return k->node == GRAM_NODE_ON ? k->column_count : k->node == GRAM_NODE_WARP ? k->matrix_rows : d;
}

double gram_spectrum_height(const gram_kernel *k, int64_t d)
{
    const int64_t inside = child_dimension(k, d);
    double par[GRAM_MAX_SPECS], out;
    switch (k->node) {
    case GRAM_NODE_LEAF: gram_kernel_par(k, par); return find_leaf(k)->height ? find_leaf(k)->height(par, d) : 1;
    case GRAM_NODE_SUM:
        out = 0;
        for (int i = 0; i < k->child_count; i++) out += gram_spectrum_height(k->children[i], d);
        return out;
    case GRAM_NODE_PRODUCT:
        out = 1;
        for (int i = 0; i < k->child_count; i++) out *= gram_spectrum_height(k->children[i], d);
        return out;
    case GRAM_NODE_POWER: return pow(gram_spectrum_height(k->children[0], d), k->exponent);
    case GRAM_NODE_NORMALIZE: return 1;
    default: return gram_spectrum_height(k->children[0], inside);
    }
}

/* The part that stands in the way, NULL if there is none. */
static const char *obstacle(const gram_kernel *k)
{
    double par[GRAM_MAX_SPECS];
    switch (k->node) {
    case GRAM_NODE_EXP: return "exp";
    case GRAM_NODE_SCALE: return "scale";
    case GRAM_NODE_CENTRE: return "centre";
    case GRAM_NODE_MEAN: return "mean";
    case GRAM_NODE_AFTER: return "after";
    case GRAM_NODE_LEAF:
        if (!find_leaf(k)) return k->type->name;
        gram_kernel_par(k, par);
        if (strcmp(k->type->name, "periodic") == 0 && 0.5 / (par[1] * par[1]) > MOST_POISSON)
            return "periodic with so short an ell";
        return NULL;
    default:
        for (int i = 0; i < k->child_count; i++)
            if (obstacle(k->children[i])) return obstacle(k->children[i]);
        return NULL;
    }
}

gram_status gram_spectrum_check(gram_context *context, const char *name, const char *otherwise,
                                const gram_kernel *kernel, int64_t d, double *height)
{
    gram_status status = GRAM_OK;
    const char *what = obstacle(kernel);
    FAIL_IF(what, context, GRAM_ERROR_UNSUPPORTED, "%s: no frequencies can be drawn of %s; %s", name, what, otherwise);
    *height = gram_spectrum_height(kernel, d);
    FAIL_IF(!(*height >= 0) || isinf(*height), context, GRAM_ERROR_NUMERICAL, "%s: k(x, x) is negative or not finite",
            name);
done:
    return status;
}

static double leaf_square(const gram_kernel *k, int64_t d)
{
    const gram_argument *ell = gram_kernel_argument(k, GRAM_ROLE_LENGTH),
                        *s = gram_kernel_argument(k, GRAM_ROLE_COVARIANCE);
    double par[GRAM_MAX_SPECS], out = 0;
    gram_kernel_par(k, par);
    if (s) return INFINITY; /* the trace of S^-1: not worth a factor here */
    const double each = find_leaf(k)->square(par);
    for (int64_t l = 0; l < d && each > 0; l++) {
        const double length = ell ? ell->values[ell->count == 1 ? 0 : l] : 1;
        out += each / (length * length);
    }
    return out;
}

double gram_spectrum_square(const gram_kernel *k, int64_t d)
{
    double out = 0, frobenius = 0;
    switch (k->node) {
    case GRAM_NODE_LEAF: return leaf_square(k, d);
    case GRAM_NODE_SUM:
        for (int i = 0; i < k->child_count; i++) {
            const double share = gram_spectrum_height(k->children[i], d) / gram_spectrum_height(k, d);
            if (share > 0) out += share * gram_spectrum_square(k->children[i], d);
        }
        return out;
    case GRAM_NODE_PRODUCT:
        for (int i = 0; i < k->child_count; i++) out += gram_spectrum_square(k->children[i], d);
        return out;
    case GRAM_NODE_POWER: return k->exponent * gram_spectrum_square(k->children[0], d);
    case GRAM_NODE_WARP: /* |A'w| <= |A| |w| */
        for (int64_t i = 0; i < k->matrix_rows * k->matrix_columns; i++) frobenius += k->matrix[i] * k->matrix[i];
        return frobenius * gram_spectrum_square(k->children[0], k->matrix_rows);
    default: return gram_spectrum_square(k->children[0], child_dimension(k, d));
    }
}

int64_t gram_spectrum_work(const gram_kernel *k)
{
    const gram_argument *s = k->node == GRAM_NODE_LEAF ? gram_kernel_argument(k, GRAM_ROLE_COVARIANCE) : NULL;
    int64_t most = s ? s->rows * (s->rows + 1) : 0;
    for (int i = 0; i < k->child_count; i++) {
        const int64_t inside = gram_spectrum_work(k->children[i]);
        most = inside > most ? inside : most;
    }
    if (k->node == GRAM_NODE_ON || k->node == GRAM_NODE_WARP) most += child_dimension(k, 0);
    return most;
}

int gram_spectrum_term(gram_cursor *c, const gram_kernel *sum, int64_t d)
{
    double u = c->first >= 0 ? c->first : gram_cursor_uniform(c);
    c->first = -1;
    u *= gram_spectrum_height(sum, d);
    for (int i = 0; i < sum->child_count - 1; i++) {
        u -= gram_spectrum_height(sum->children[i], d);
        if (u < 0) return i;
    }
    return sum->child_count - 1;
}

/* w += a frequency of the kernel. */
static void add_frequency(gram_cursor *c, const gram_kernel *k, int64_t d, double *work, double *w)
{
    const int64_t inside = child_dimension(k, d);
    double par[GRAM_MAX_SPECS];
    switch (k->node) {
    case GRAM_NODE_LEAF:
        gram_kernel_par(k, par);
        if (gram_kernel_argument(k, GRAM_ROLE_COVARIANCE))
            add_covariant(c, gram_kernel_argument(k, GRAM_ROLE_COVARIANCE), d, work, w);
        else
            find_leaf(k)->draw(c, k, par, d, w);
        return;
    case GRAM_NODE_SUM: add_frequency(c, k->children[gram_spectrum_term(c, k, d)], d, work, w); return;
    case GRAM_NODE_PRODUCT:
        for (int i = 0; i < k->child_count; i++) add_frequency(c, k->children[i], d, work, w);
        return;
    case GRAM_NODE_POWER:
        for (int i = 0; i < k->exponent; i++) add_frequency(c, k->children[0], d, work, w);
        return;
    case GRAM_NODE_ON:
    case GRAM_NODE_WARP:
        memset(work, 0, (size_t)inside * sizeof *work);
        add_frequency(c, k->children[0], inside, work + inside, work);
        for (int64_t i = 0; i < inside; i++) {
            if (k->node == GRAM_NODE_ON) w[k->columns[i]] += work[i];
            for (int64_t j = 0; k->node == GRAM_NODE_WARP && j < d; j++)
                w[j] += k->matrix[i * k->matrix_columns + j] * work[i];
        }
        return;
    default: add_frequency(c, k->children[0], d, work, w); return;
    }
}

void gram_spectrum_draw(const gram_kernel *kernel, uint64_t seed, int64_t stream, int64_t which, int64_t count,
                        int64_t d, const double *normals, const double *uniforms, double *work, double *w)
{
    gram_cursor c = gram_cursor_start(seed, STREAM + 2 * (uint64_t)stream, which, count);
    c.normals = normals;
    c.uniforms = uniforms;
    c.given = d;
    memset(w, 0, (size_t)d * sizeof *w);
    add_frequency(&c, kernel, d, work, w);
}
