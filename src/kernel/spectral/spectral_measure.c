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

static const double PI = 3.14159265358979323846;
static const uint64_t STREAM = 0x7061746877U; /* the name of this use of the seed */
static const double MOST_POISSON = 1e4;       /* it takes as many uniform numbers */

/* ---- random numbers, one after the other ---- */

typedef struct cursor {
    gram_random normal, uniform;
    uint64_t at_normal, at_uniform;
    double first; /* for the first choice; negative when used */
} cursor;

static double next_normal(cursor *c)
{
    double out;
    gram_random_normal(c->normal, c->at_normal++, 1, &out);
    return out;
}

static double next_uniform(cursor *c)
{
    double out;
    gram_random_uniform(c->uniform, c->at_uniform++, 1, &out);
    return out;
}

/* Marsaglia and Tsang 2000; shapes below 1 by one above them. */
static double next_gamma(cursor *c, double shape)
{
    if (shape < 1) {
        const double more = next_gamma(c, shape + 1);
        return more * pow(next_uniform(c), 1 / shape);
    }
    const double d = shape - 1.0 / 3, s = 1 / sqrt(9 * d);
    for (;;) {
        const double x = next_normal(c), root = 1 + s * x, v = root * root * root;
        if (root <= 0) continue;
        if (log(next_uniform(c)) < 0.5 * x * x + d * (1 - v + log(v))) return d * v;
    }
}

static double next_poisson(cursor *c, double mean)
{
    double time = 0, count = 0;
    for (;;) {
        time -= log(next_uniform(c));
        if (time > mean) return count;
        count++;
    }
}

/* Positive stable of index a in (0, 1], E exp(-s A) = exp(-s^a) (Kanter 1975). */
static double next_stable(cursor *c, double a)
{
    const double u = PI * next_uniform(c), e = -log(next_uniform(c));
    if (a >= 1) return 1;
    return sin(a * u) / pow(sin(u), 1 / a) * pow(sin((1 - a) * u) / e, (1 - a) / a);
}

/* ---- leaves ---- */

typedef struct leaf_spectrum {
    const char *name;
    double (*height)(const double *par, int64_t d); /* NULL: 1 */
    void (*draw)(cursor *c, const gram_kernel *leaf, const double *par, int64_t d, double *w);
} leaf_spectrum;

/* w += factor times a normal vector of covariance diag(1/ell^2). */
static void add_normal(cursor *c, const gram_kernel *leaf, double factor, int64_t d, double *w)
{
    const gram_argument *ell = gram_kernel_argument(leaf, GRAM_ROLE_LENGTH);
    for (int64_t l = 0; l < d; l++) w[l] += factor * next_normal(c) / (!ell ? 1 : ell->values[ell->count == 1 ? 0 : l]);
}

/* w += a normal vector of covariance S^-1: L^-T z, S = L L'. */
static void add_covariant(cursor *c, const gram_argument *s, int64_t d, double *work, double *w)
{
    double *factor = work, *z = work + d * d;
    (void)gram_small_cholesky(d, s->values, factor);
    for (int64_t l = 0; l < d; l++) z[l] = next_normal(c);
    for (int64_t i = d - 1; i >= 0; i--) {
        for (int64_t k = i + 1; k < d; k++) z[i] -= factor[k * d + i] * z[k];
        z[i] /= factor[i * d + i];
        w[i] += z[i];
    }
}

static void draw_const(cursor *c, const gram_kernel *leaf, const double *par, int64_t d, double *w)
{
    (void)c, (void)leaf, (void)par, (void)d, (void)w;
}

static void draw_rbf(cursor *c, const gram_kernel *leaf, const double *par, int64_t d, double *w)
{
    (void)par;
    add_normal(c, leaf, 1, d, w);
}

static double height_const(const double *par, int64_t d)
{
    (void)d;
    return par[0];
}

static void draw_matern(cursor *c, const gram_kernel *leaf, const double *par, int64_t d, double *w)
{
    add_normal(c, leaf, sqrt(par[0] / next_gamma(c, par[0])), d, w);
}

static void draw_laplace(cursor *c, const gram_kernel *leaf, const double *par, int64_t d, double *w)
{
    (void)par;
    add_normal(c, leaf, sqrt(0.5 / next_gamma(c, 0.5)), d, w);
}

static void draw_powexp(cursor *c, const gram_kernel *leaf, const double *par, int64_t d, double *w)
{
    add_normal(c, leaf, sqrt(2 * next_stable(c, par[0] / 2)), d, w);
}

static void draw_rq(cursor *c, const gram_kernel *leaf, const double *par, int64_t d, double *w)
{
    add_normal(c, leaf, sqrt(next_gamma(c, par[0]) / par[0]), d, w);
}

/* c^(-2 beta) times rq of alpha = beta, ell = c/sqrt(2 beta) */
static void draw_imq(cursor *c, const gram_kernel *leaf, const double *par, int64_t d, double *w)
{
    add_normal(c, leaf, sqrt(2 * next_gamma(c, par[1])) / par[0], d, w);
}

static double height_imq(const double *par, int64_t d)
{
    (void)d;
    return pow(par[0], -2 * par[1]);
}

static void draw_laplace1(cursor *c, const gram_kernel *leaf, const double *par, int64_t d, double *w)
{
    const gram_argument *ell = gram_kernel_argument(leaf, GRAM_ROLE_LENGTH);
    (void)par;
    for (int64_t l = 0; l < d; l++) w[l] += tan(PI * (next_uniform(c) - 0.5)) / ell->values[ell->count == 1 ? 0 : l];
}

static void draw_periodic(cursor *c, const gram_kernel *leaf, const double *par, int64_t d, double *w)
{
    const double mean = 0.5 / (par[1] * par[1]);
    (void)leaf;
    for (int64_t l = 0; l < d; l++) {
        const double up = next_poisson(c, mean), down = next_poisson(c, mean);
        w[l] += 2 * PI / par[0] * (up - down);
    }
}

static void draw_cosine(cursor *c, const gram_kernel *leaf, const double *par, int64_t d, double *w)
{
    (void)leaf;
    for (int64_t l = 0; l < d; l++) w[l] += (next_uniform(c) < 0.5 ? 2 : -2) * PI / par[0];
}

static void draw_sinc(cursor *c, const gram_kernel *leaf, const double *par, int64_t d, double *w)
{
    (void)leaf;
    for (int64_t l = 0; l < d; l++) w[l] += par[0] * (2 * next_uniform(c) - 1);
}

static double height_sinc(const double *par, int64_t d)
{
    return pow(2 * par[0], (double)d);
}

static const leaf_spectrum LEAVES[] = {
    {"const", height_const, draw_const}, {"rbf", NULL, draw_rbf},           {"matern", NULL, draw_matern},
    {"laplace", NULL, draw_laplace},     {"powexp", NULL, draw_powexp},     {"rq", NULL, draw_rq},
    {"imq", height_imq, draw_imq},       {"laplace1", NULL, draw_laplace1}, {"periodic", NULL, draw_periodic},
    {"cosine", NULL, draw_cosine},       {"sinc", height_sinc, draw_sinc},
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

static double height_of(const gram_kernel *k, int64_t d)
{
    const int64_t inside = child_dimension(k, d);
    double par[GRAM_MAX_SPECS], out;
    switch (k->node) {
    case GRAM_NODE_LEAF: gram_kernel_par(k, par); return find_leaf(k)->height ? find_leaf(k)->height(par, d) : 1;
    case GRAM_NODE_SUM:
        out = 0;
        for (int i = 0; i < k->child_count; i++) out += height_of(k->children[i], d);
        return out;
    case GRAM_NODE_PRODUCT:
        out = 1;
        for (int i = 0; i < k->child_count; i++) out *= height_of(k->children[i], d);
        return out;
    case GRAM_NODE_POWER: return pow(height_of(k->children[0], d), k->exponent);
    case GRAM_NODE_NORMALIZE: return 1;
    default: return height_of(k->children[0], inside);
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
    *height = height_of(kernel, d);
    FAIL_IF(!(*height >= 0) || isinf(*height), context, GRAM_ERROR_NUMERICAL, "%s: k(x, x) is negative or not finite",
            name);
done:
    return status;
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

static int choose_term(cursor *c, const gram_kernel *sum, int64_t d)
{
    double u = c->first >= 0 ? c->first : next_uniform(c);
    c->first = -1;
    u *= height_of(sum, d);
    for (int i = 0; i < sum->child_count - 1; i++) {
        u -= height_of(sum->children[i], d);
        if (u < 0) return i;
    }
    return sum->child_count - 1;
}

/* w += a frequency of the kernel. */
static void add_frequency(cursor *c, const gram_kernel *k, int64_t d, double *work, double *w)
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
    case GRAM_NODE_SUM: add_frequency(c, k->children[choose_term(c, k, d)], d, work, w); return;
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
                        int64_t d, double *work, double *w)
{
    const uint64_t begin = (uint64_t)which << 36;
    cursor c = {.normal = {seed, STREAM + 2 * (uint64_t)stream},
                .uniform = {seed, STREAM + 2 * (uint64_t)stream + 1},
                .at_normal = begin,
                .at_uniform = begin};
    c.first = ((double)which + next_uniform(&c)) / (double)count;
    memset(w, 0, (size_t)d * sizeof *w);
    add_frequency(&c, kernel, d, work, w);
}
