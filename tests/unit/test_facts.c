/* Facts of leaves and their composition, against a table worked out by hand from the rules in docs/kernels.md. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gram/kernel.h>

#include "support.h"

enum { INF = GRAM_INFINITE };

/* answers: positive definite, strictly, universal, characteristic; stationary, isotropic, continuous, bounded below;
 * y, n or ? each */
typedef struct expected {
    const char *text;
    int64_t d;
    const char *answers;
    int64_t rank;
    int derivatives;
    double sobolev;
} expected;

static const expected TABLE[] = {
    /* leaves */
    {"rbf", 2, "yyyy yyyy", INF, INF, NAN},
    {"rbf(ell=[1,2])", 2, "yyyy ynyy", INF, INF, NAN},
    {"rbf(ell=[2,2])", 2, "yyyy yyyy", INF, INF, NAN},
    {"rbf(S=[4,0;0,4])", 2, "yyyy yyyy", INF, INF, NAN},
    {"rbf(S=[4,0;0,5])", 2, "yyyy ynyy", INF, INF, NAN},
    {"rbf(S=[4,1;1,4])", 2, "yyyy ynyy", INF, INF, NAN},
    {"laplace", 3, "yyyy yyyy", INF, 0, 2},
    {"laplace(ell=[1,2])", 2, "yyyy ynyy", INF, 0, 1.5},
    {"powexp(p=0.5)", 2, "yyyy yyyy", INF, 0, 1.25},
    {"powexp(p=2)", 2, "yyyy yyyy", INF, INF, NAN},
    {"rq", 2, "yyyy yyyy", INF, INF, NAN},
    {"imq", 2, "yyyy yyyy", INF, INF, NAN},
    {"expdot", 2, "yyyy nnyy", INF, INF, NAN},
    {"linear", 3, "ynnn nnyn", 3, INF, NAN},
    {"linear(c=2)", 3, "ynnn nnyy", 4, INF, NAN},
    {"nngp", 1, "ynnn nnyn", 2, 0, NAN},
    {"nngp", 2, "ynnn nnyn", INF, 0, NAN},
    {"nngp(sb=0.1)", 2, "yyy? nnyy", INF, 1, NAN},
    {"nngp(act=erf)", 1, "ynnn nnyn", INF, INF, NAN},
    {"ntk(depth=2, sb=0.1)", 2, "yyy? nnyy", INF, 0, NAN},
    {"ntk(depth=2)", 2, "ynnn nnyn", INF, 0, NAN},
    {"ntk(act=erf, sb=1)", 1, "yyy? nnyy", INF, INF, NAN},
    {"monomial(m=2)", 2, "ynnn nnyy", 6, INF, NAN},
    {"monomial(m=3)", 4, "ynnn nnyy", 35, INF, NAN},
    {"intpow", 2, "yyy? nnyy", INF, 0, NAN},
    {"sigmoid", 2, "nnn? nnyn", INF, 0, NAN}, /* k(0, 0) = 0 */
    {"sigmoid(a=1, c=1)", 2, "nn?? nnyy", INF, 0, NAN},
    {"sigmoid(a=-1, c=-1)", 2, "nn?? nny?", INF, 0, NAN},
    {"sigmoid(a=0, c=1)", 2, "ynnn yyyy", 1, INF, NAN},
    {"sigmoid(a=0, c=-1)", 2, "nnnn yyy?", 1, INF, NAN},
    {"laplace1", 1, "yyyy yyyy", INF, 0, 1},
    {"laplace1", 2, "yyyy ynyy", INF, 0, NAN},
    {"matern(nu=0.5)", 1, "yyyy yyyy", INF, 0, 1},
    {"matern(nu=1.5)", 3, "yyyy yyyy", INF, 1, 3},
    {"matern(nu=2.5, ell=[1,2])", 2, "yyyy ynyy", INF, 2, 3.5},
    {"poly(m=2, c=1)", 2, "ynnn nnyy", 6, INF, NAN},
    {"poly(m=2, c=0)", 2, "ynnn nnyn", 3, INF, NAN},
    {"min", 1, "ynny nnyn", INF, 0, 1},
    {"min", 2, "ynnn nnyn", INF, 0, NAN},
    {"periodic", 1, "ynnn yyyy", INF, INF, NAN},
    {"periodic(p=2, ell=1)", 2, "ynnn ynyy", INF, INF, NAN},
    {"cosine", 1, "ynnn yyyy", 2, INF, NAN},
    {"cosine(p=3)", 5, "ynnn ynyy", 32, INF, NAN},
    {"cosine", 100, "ynnn ynyy", INF, INF, NAN},
    {"sinc", 1, "yyyn yyyy", INF, INF, NAN},
    {"sinc(B=2)", 3, "yyyn ynyy", INF, INF, NAN},
    {"sobolev", 1, "ynny nnyn", INF, 1, 2},
    {"sobolev(a=1)", 1, "ynny nnyn", INF, 0, 1},
    {"sobolev(a=3)", 2, "ynnn nnyn", INF, 2, NAN},
    {"sobolev(a=3, null=1)", 1, "yyyy nnyy", INF, 2, 3},
    {"sobolev(a=1, null=1)", 2, "yyyy nnyy", INF, 0, NAN},
    {"chi2", 3, "y??? nnyy", INF, 0, NAN},
    {"intersection()", 1, "ynny nnyn", INF, 0, 1},
    {"intersection()", 2, "ynnn nnyn", INF, 0, NAN},
    {"tanimoto()", 2, "y??? nnny", INF, 0, NAN},
    {"wendland(k=0)", 1, "yyyy yyyy", INF, 0, NAN}, /* sinc^2 has zeros */
    {"wendland(k=0)", 2, "yyyy yyyy", INF, 0, 1.5},
    {"wendland", 1, "yyyy yyyy", INF, 1, 2},
    {"wendland", 3, "yyyy yyyy", INF, 1, 3},
    {"wendland(k=2, ell=[1,2])", 2, "yyyy ynyy", INF, 2, 3.5},
    {"on(2:3, wendland(k=2))", 3, "ynnn ynyy", INF, 2, NAN},
    {"white()", 2, "yynn yyny", INF, 0, NAN},
    {"3", 2, "ynnn yyyy", 1, INF, NAN},
    {"const", 2, "ynnn yyyy", 1, INF, NAN},
    {"0", 2, "ynnn yyyn", 0, INF, NAN},

    /* constants: c a is as a, 0 a is 0, a + 0 is a */
    {"2*matern(nu=1.5)", 3, "yyyy yyyy", INF, 1, 3},
    {"const*rbf(ell=[1,2])*3", 2, "yyyy ynyy", INF, INF, NAN},
    {"const*min", 1, "ynny nnyn", INF, 0, 1},
    {"0*rbf", 2, "ynnn yyyn", 0, INF, NAN},
    {"0*white() + poly(m=1, c=0)", 2, "ynnn nnyn", 2, INF, NAN},
    {"0 + 0*rbf", 2, "ynnn yyyn", 0, INF, NAN},
    {"2 + 3", 2, "ynnn yyyy", 1, INF, NAN},
    {"(2*3)^2", 2, "ynnn yyyy", 1, INF, NAN},

    /* sums */
    {"rbf + white()", 2, "yyyy yyny", INF, 0, NAN},
    {"rbf + poly", 2, "yyyy nnyy", INF, INF, NAN},
    {"rbf + sigmoid(a=-1, c=0)", 2, "???? nny?", INF, 0, NAN}, /* the diagonal is 1 - tanh(|x|^2), not known here */
    {"rbf + sigmoid(a=1, c=1)", 2, "???? nnyy", INF, 0, NAN},
    {"rbf + min", 1, "yyyy nnyy", INF, 0, NAN},
    {"poly + white()", 2, "yy?? nnny", INF, 0, NAN},
    {"min + white()", 1, "yy?y nnny", INF, 0, NAN},
    {"poly(m=2, c=1) + poly(m=3, c=1)", 2, "ynnn ??yy", 16, INF, NAN},
    {"poly(m=1, c=0) + min", 1, "ynny ??yn", INF, 0, 1}, /* both are 0 at 0 */
    {"1 + min", 1, "yyyy nnyy", INF, 0, 1},              /* sobolev(a=1, null=1) */
    {"const*min + const", 1, "yyyy nnyy", INF, 0, 1},
    {"1 + min(o=2)", 1, "yyyy nnyy", INF, 0, 1},
    {"1 + intersection()", 1, "yyyy nnyy", INF, 0, 1},
    {"1 + sobolev", 1, "yyyy nnyy", INF, 1, 2},           /* f'(0) = 0, but dense all the same */
    {"linear(c=1) + sobolev", 1, "yyyy ??yy", INF, 1, 2}, /* sobolev(a=2, null=1) */
    {"linear + sobolev", 1, "ynny ??yn", INF, 1, 2},
    {"min + sobolev", 1, "ynny ??yn", INF, 0, 1},
    {"1 + min + sobolev", 1, "yyyy ??yy", INF, 0, 1},
    {"cosine + min", 1, "yyyy nnyy", INF, 0, 1},
    {"periodic + min", 1, "yyyy nnyy", INF, 0, NAN},
    {"min(o=0) + min(o=-1)", 1, "y??y ??y?", INF, 0, 1},
    {"1 + 0*min", 1, "ynnn yyyy", 1, INF, NAN},
    {"1 + min", 2, "y??? nnyy", INF, 0, NAN}, /* constant on the axes */
    {"on(1, 1 + min)", 2, "ynnn nnyy", INF, 0, NAN},
    {"on(1, 1 + min)*on(2, 1 + min)", 2, "yyy? ??yy", INF, 0, NAN},
    {"1 + rbf*min", 1, "yyy? nnyy", INF, 0, NAN},
    {"1 + min^2", 1, "yyy? ??yy", INF, 0, NAN},
    {"normalize(1 + min)", 1, "yyy? ??yy", INF, 0, NAN},
    {"1 + warp([3], min)", 1, "yyyy nnyy", INF, 0, 1},
    {"1 + exp(min)", 1, "yyyy nnyy", INF, 0, NAN},
    {"normalize(intpow)", 1, "yyy? ??yy", INF, 0, NAN},
    {"on(1, rbf)*on(2, intpow)", 2, "yyy? nnyy", INF, 0, NAN},
    {"1 + poly(m=1, c=0)", 3, "ynnn nnyy", 4, INF, NAN},
    {"matern(nu=1.5) + matern(nu=2.5)", 2, "yyyy yyyy", INF, 1, 2.5},
    {"matern(nu=1.5) + 1", 2, "yyyy yyyy", INF, 1, NAN},
    {"matern(nu=1.5) + rbf", 2, "yyyy yyyy", INF, 1, NAN},

    /* products and powers */
    {"rbf*matern(nu=1.5)", 2, "yyyy yyyy", INF, 1, NAN},
    {"matern(nu=1.5)*matern(nu=2.5)", 2, "yyyy yyyy", INF, 1, 2.5},
    {"rbf*laplace1", 2, "yyyy ynyy", INF, 0, NAN},
    {"rbf*poly(m=2, c=1)", 2, "yyy? nnyy", INF, INF, NAN},
    {"rbf*poly(m=2, c=0)", 2, "ynn? nnyn", INF, INF, NAN},
    {"rbf*min", 1, "ynn? nnyn", INF, 0, NAN},
    {"rbf*white()", 2, "yy?? yyny", INF, 0, NAN}, /* which is white() itself: not characteristic */
    {"poly(m=2, c=1)*poly(m=1, c=1)", 2, "ynnn ??yy", 18, INF, NAN},
    {"min*min", 1, "ynn? ??yn", INF, 0, NAN},
    {"rbf^3", 2, "yyyy yyyy", INF, INF, NAN},
    {"matern(nu=2.5)^2", 1, "yyyy yyyy", INF, 2, 3},
    {"white()^2", 2, "yy?? yy?y", INF, 0, NAN},
    {"poly(m=2, c=1)^2", 2, "ynnn nnyy", 36, INF, NAN},
    {"poly(m=1, c=0)^2", 2, "ynnn ??yn", 4, INF, NAN},
    {"(rbf + poly)*matern(nu=0.5)", 2, "yyy? nnyy", INF, 0, NAN},

    /* columns */
    {"on(1, rbf)", 1, "yyyy yyyy", INF, INF, NAN},
    {"on(1, rbf)", 2, "ynnn ynyy", INF, INF, NAN},
    {"on(2:1024, rbf)", 1024, "ynnn ynyy", INF, INF, NAN},
    {"on([2,1], matern(nu=0.5))", 2, "yyyy yyyy", INF, 0, 1.5},
    {"on(1, matern(nu=0.5))", 2, "ynnn ynyy", INF, 0, NAN},
    {"on(1:2, on(2, rbf))", 2, "ynnn ynyy", INF, INF, NAN},
    {"on(2, 3)", 2, "ynnn yyyy", 1, INF, NAN},
    {"on(2, white())", 2, "yynn yyny", INF, 0, NAN},
    {"on(1, rbf) + on(2, rbf)", 2, "ynnn y?yy", INF, INF, NAN},
    {"on(1:2, rbf) + on(2:3, rbf) + on([1,3], rbf)", 3, "ynnn y?yy", INF, INF, NAN},
    {"on(1, rbf) + on(2, rbf) + 1", 2, "ynnn y?yy", INF, INF, NAN},
    {"rbf + on(1, rbf)", 2, "yyyy ynyy", INF, INF, NAN},
    {"rbf + on(1, poly)", 2, "yyyy nnyy", INF, INF, NAN},
    {"on(1:2, rbf + on(2, rbf))", 2, "yyyy ynyy", INF, INF, NAN},
    {"on(1, rbf) + on(2, rbf) + poly", 2, "y??? nnyy", INF, INF, NAN},
    {"on(1, rbf) + on(1, white())", 2, "yy?? ynny", INF, 0, NAN},
    {"on(1, rbf)*on(2, rbf)", 2, "yyyy y?yy", INF, INF, NAN},
    {"on(1, rbf)*on(2, rbf)", 3, "ynnn ynyy", INF, INF, NAN},
    {"2*on(1, rbf)*on(2, laplace1)*on(3, matern(nu=1.5))", 3, "yyyy y?yy", INF, 0, NAN},
    {"on(1, matern(nu=1.5))*on(2, matern(nu=1.5))", 2, "yyyy y?yy", INF, 1, NAN},
    {"on(1:2, rbf)*on(2:3, rbf)", 3, "yyyy y?yy", INF, INF, NAN},
    {"on(1, rbf)*on(2, poly)", 2, "y??? nnyy", INF, INF, NAN},
    {"on(1, rbf)*on(2, min)", 2, "ynn? nnyn", INF, 0, NAN},
    {"on(1, min)*on(2, min)", 2, "ynn? ??yn", INF, 0, NAN},
    {"on(1, rbf)*on(1:2, poly)", 2, "y??? nnyy", INF, INF, NAN},
    {"on(1, rbf)*on(2, rbf)*poly", 2, "yyy? nnyy", INF, INF, NAN},
    {"(on(1, rbf) + on(2, rbf))^2", 2, "y??? y?yy", INF, INF, NAN},
    {"on(1, poly(m=1, c=0))*on(2, poly(m=1, c=0))", 2, "ynnn ??yn", 1, INF, NAN},

    /* exp: injective features are enough */
    {"exp(rbf)", 2, "yyyy yyyy", INF, INF, NAN},
    {"exp(matern(nu=1.5))", 3, "yyyy yyyy", INF, 1, NAN},
    {"exp(poly(m=1, c=0))", 2, "yyy? nnyy", INF, INF, NAN},
    {"exp(poly(m=3, c=0))", 2, "yyy? nnyy", INF, INF, NAN},
    {"exp(poly(m=2, c=0))", 2, "ynnn nnyy", INF, INF, NAN}, /* x and -x are the same */
    {"exp(poly(m=2, c=1))", 2, "yyy? nnyy", INF, INF, NAN},
    {"exp(linear(c=0))", 2, "yyy? nnyy", INF, INF, NAN},
    {"exp(monomial(m=2))", 2, "yyy? nnyy", INF, INF, NAN},
    {"exp(2*poly(m=1, c=0))", 2, "yyy? nnyy", INF, INF, NAN},
    {"exp(1 + poly(m=1, c=0))", 3, "yyy? nnyy", INF, INF, NAN},
    {"exp(on(1, poly(m=1, c=0)) + on(2, poly(m=1, c=0)))", 2, "y??? ??yy", INF, INF, NAN},
    {"exp(poly(m=1, c=0)^2)", 2, "y??? ??yy", INF, INF, NAN}, /* poly(m=2, c=0): no */
    {"exp(white())", 2, "yy?? yyny", INF, 0, NAN},
    {"exp(min)", 1, "yyyy nnyy", INF, 0, NAN},
    {"exp(min)", 2, "y??? nnyy", INF, 0, NAN},
    {"exp(3)", 2, "ynnn yyyy", 1, INF, NAN},
    {"exp(0)", 2, "ynnn yyyy", 1, INF, NAN},
    {"exp(0*rbf)", 2, "ynnn yyyy", 1, INF, NAN},
    {"exp(on(1, rbf))", 2, "ynnn ynyy", INF, INF, NAN},
    {"exp(on(1, rbf)) + on(2, rbf)", 2, "ynnn y?yy", INF, INF, NAN},

    /* normalize */
    {"normalize(rbf)", 2, "yyyy yyyy", INF, INF, NAN},
    {"normalize(2*matern(nu=1.5))", 3, "yyyy yyyy", INF, 1, 3},
    {"normalize(poly(m=2, c=1))", 2, "ynnn ??yy", 6, INF, NAN},
    {"normalize(poly(m=1, c=0))", 2, "ynnn ????", 2, 0, NAN},
    {"normalize(rbf + poly)", 2, "yyy? ??yy", INF, INF, NAN},
    {"normalize(exp(poly(m=1, c=0)))", 2, "yyy? ??yy", INF, INF, NAN}, /* which is rbf */
    {"normalize(exp(poly(m=2, c=0)))", 2, "ynnn ??yy", INF, INF, NAN},
    {"normalize(min)", 1, "y??? ????", INF, 0, NAN},
    {"normalize(2)", 2, "ynnn yyyy", 1, INF, NAN},
    {"normalize(0)", 2, "ynnn yyyn", 0, INF, NAN},
    {"on(1, normalize(poly(m=2, c=0)))", 2, "ynnn ????", 1, 0, NAN}, /* which is constant, away from 0 */

    /* warp */
    {"warp([1,2;3,4], rbf)", 2, "yyyy ynyy", INF, INF, NAN},
    {"warp([0,2;-2,0], rbf)", 2, "yyyy yyyy", INF, INF, NAN},
    {"warp([0.6,-0.8;0.8,0.6], rbf)", 2, "yyyy yyyy", INF, INF, NAN},
    {"warp([0.6,-0.8;0.8,0.6], rbf(ell=[1,2]))", 2, "yyyy ynyy", INF, INF, NAN},
    {"warp([1,0;0,2], rbf(ell=[1,2]))", 2, "yyyy y?yy", INF, INF, NAN}, /* which is rbf(ell=1) */
    {"warp([1,1], rbf)", 2, "ynnn ynyy", INF, INF, NAN},
    {"warp([1;1], rbf)", 1, "yyyy yyyy", INF, INF, NAN},
    {"warp([1,0;0,1;1,1], rbf)", 2, "yyyy ynyy", INF, INF, NAN},
    {"warp([2], matern(nu=1.5))", 1, "yyyy yyyy", INF, 1, 2},
    {"warp([1;1], matern(nu=1.5))", 1, "yyyy yyyy", INF, 1, NAN},
    {"warp([1,2,3;4,5,6;7,8,9], rbf)", 3, "ynnn ynyy", INF, INF, NAN},
    {"warp([1,2,3;4,5,6;7,8,10], matern(nu=0.5))", 3, "yyyy ynyy", INF, 0, 2},
    {"warp([0.1,0.3;0.3,0.9], rbf)", 2, "ynnn ynyy", INF, INF, NAN}, /* singular but for rounding */
    {"warp([1e-20,0;0,1e20], rbf)", 2, "yyyy ynyy", INF, INF, NAN},
    {"warp([1e-300,0;0,1e300], rbf)", 2, "yyyy ynyy", INF, INF, NAN},
    {"warp([1e300,0;0,1e300], rbf)", 2, "yyyy yyyy", INF, INF, NAN},
    {"warp([1,0;0,0], rbf)", 2, "ynnn y?yy", INF, INF, NAN},
    {"warp([0,0], rbf)", 2, "ynnn yyyy", 1, INF, NAN},
    {"warp([0,0], poly(m=1, c=0))", 2, "ynnn yyy?", 1, INF, NAN},
    {"rbf*warp([0,0], poly(m=1, c=0))", 2, "y??? yyy?", INF, INF, NAN}, /* which is 0 */
    {"warp([1,2;3,4], poly(m=1, c=0))", 2, "ynnn nnyn", 2, INF, NAN},
    {"warp([1;2], poly(m=1, c=0))", 1, "ynnn ??y?", 2, INF, NAN},
    {"exp(warp([1;2], poly(m=1, c=0)))", 1, "yyy? ??yy", INF, INF, NAN},
    {"exp(warp([1,2], poly(m=1, c=0)))", 2, "ynnn nnyy", INF, INF, NAN},
    {"warp([1,2;2,4], white())", 2, "y??? y??y", INF, 0, NAN}, /* white() still */
    {"warp([1,0;0,1], white())", 2, "yynn yyny", INF, 0, NAN},
    {"on(1, warp([1], rbf + poly(m=1, c=0)*white()))", 2, "y??? ???y", INF, 0, NAN},
    {"warp([1,2;3,4], min)", 2, "ynnn nnyn", INF, 0, NAN},
    {"warp([1;1], min)", 1, "y??? ??y?", INF, 0, NAN}, /* min^2 */
    {"warp([1,2], 3)", 2, "ynnn yyyy", 1, INF, NAN},
    {"warp([1,0;0,1;1,1], on(1:2, rbf))", 2, "yyyy y?yy", INF, INF, NAN},
    {"warp([1,0;0,1;1,1], on(3, rbf))", 2, "ynnn y?yy", INF, INF, NAN},
    {"on(2:3, warp([2,0;0,2], rbf))", 3, "ynnn ynyy", INF, INF, NAN},
    {"on([2,1], warp([2,0;0,2], matern(nu=0.5)))", 2, "yyyy yyyy", INF, 0, 1.5},
    {"warp([1,0], rbf)*warp([0,1], rbf)", 2, "yyyy y?yy", INF, INF, NAN},
    {"warp([1,0], rbf) + warp([0,1], rbf)", 2, "ynnn y?yy", INF, INF, NAN},
    {"warp([1,2;3,4], warp([1,2;2,4], rbf))", 2, "ynnn y?yy", INF, INF, NAN},
};

static void write_answers(const gram_properties *f, char text[10])
{
    static const char LETTER[] = {'n', 'y', '?'};
    (void)snprintf(text, 10, "%c%c%c%c %c%c%c%c", LETTER[f->positive_definite], LETTER[f->strictly],
                   LETTER[f->universal], LETTER[f->characteristic], LETTER[f->stationary], LETTER[f->isotropic],
                   LETTER[f->continuous], LETTER[f->bounded_below]);
}

/* 0 if the facts are not those expected, and says so. */
static int check(gram_context *context, const gram_kernel *kernel, const expected *e)
{
    gram_properties facts;
    char answers[10];
    assert_int_equal(gram_kernel_properties(context, kernel, e->d, &facts), GRAM_OK);
    write_answers(&facts, answers);
    const int order = isnan(e->sobolev) ? isnan(facts.sobolev_order) : facts.sobolev_order == e->sobolev;
    if (strcmp(answers, e->answers) == 0 && facts.rank == e->rank && facts.derivatives == e->derivatives && order)
        return 1;
    print_error("%s, d = %d: %s, rank %d, derivatives %d, order %g, wanted %s %d %d %g\n", e->text, (int)e->d, answers,
                (int)facts.rank, facts.derivatives, facts.sobolev_order, e->answers, (int)e->rank, e->derivatives,
                e->sobolev);
    return 0;
}

static void test_table(void **state)
{
    gram_context *context = NULL;
    int wrong = 0;
    (void)state;
    assert_int_equal(gram_context_create(NULL, &context), GRAM_OK);
    const size_t before = gram_context_memory_used(context);
    for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++) {
        gram_kernel *kernel = NULL;
        if (gram_kernel_parse(context, TABLE[i].text, &kernel) != GRAM_OK)
            fail_msg("%s", gram_context_message(context));
        wrong += !check(context, kernel, &TABLE[i]);
        gram_kernel_release(kernel);
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(gram_context_memory_used(context), before);
    gram_context_destroy(context);
}

/* ---- draws of the process ---- */

/* answers: constant diagonal, draws in the space; the Hoelder order of draws */
typedef struct expected_draws {
    const char *text;
    int64_t d;
    const char *answers;
    double smoothness;
} expected_draws;

static void test_draws(void **state)
{
    static const char LETTER[] = {'n', 'y', '?'};
    static const expected_draws CASES[] = {
        {"rbf", 2, "yn", INFINITY},
        {"rq", 2, "yn", INFINITY},
        {"imq", 1, "yn", INFINITY},
        {"expdot", 1, "nn", INFINITY},
        {"sinc", 1, "yn", INFINITY},
        {"periodic", 1, "yn", INFINITY},
        {"cosine", 2, "yy", INFINITY},
        {"cosine", 100, "yy", INFINITY}, /* rank 2^100 */
        {"linear", 3, "ny", INFINITY},
        {"poly(m=40, c=1)", 100, "ny", INFINITY},
        {"3", 1, "yy", INFINITY},
        {"0", 1, "yy", INFINITY},
        {"matern(nu=0.5)", 1, "yn", 0.5},
        {"matern(nu=1)", 3, "yn", 1},
        {"matern(nu=2.5)", 3, "yn", 2.5},
        {"laplace", 2, "yn", 0.5},
        {"laplace1", 2, "yn", 0.5},
        {"powexp(p=0.5)", 1, "yn", 0.25},
        {"powexp(p=2)", 1, "yn", INFINITY},
        {"wendland(k=0)", 1, "yn", 0.5},
        {"wendland(k=2)", 3, "yn", 2.5},
        {"min", 1, "nn", 0.5},
        {"min", 2, "nn", 0.5},
        {"sobolev(a=3)", 1, "nn", 2.5},
        {"sobolev(a=1, null=1)", 1, "nn", 0.5},
        {"1 + min", 1, "nn", 0.5},
        {"intersection()", 3, "nn", 0.5},
        {"white()", 1, "yn", 0},
        {"chi2", 2, "y?", NAN},
        {"tanimoto()", 2, "y?", NAN},
        {"intpow", 1, "nn", NAN},
        {"sigmoid(a=1, c=1)", 1, "n?", NAN}, /* no process */
        {"rbf + sigmoid(a=1, c=1)", 1, "n?", NAN},
        {"2*matern(nu=1.5)", 1, "yn", 1.5},
        {"rbf + matern(nu=1.5)", 1, "yn", 1.5},
        {"linear + cosine", 1, "ny", INFINITY},
        {"linear + min", 1, "?n", 0.5},
        {"rbf + white()", 1, "yn", 0},
        {"rbf*matern(nu=0.5)", 2, "yn", 0.5},
        {"rbf*linear", 1, "?n", INFINITY},
        {"min*linear", 1, "??", 0.5},
        {"min^2", 1, "?n", 0.5},
        {"poly^2", 1, "?y", INFINITY},
        {"rbf*warp([0,0], poly(m=1, c=0))", 2, "y?", NAN}, /* which is 0 */
        {"exp(linear)", 2, "nn", INFINITY},
        {"exp(min)", 2, "nn", 0.5},
        {"exp(2)", 1, "yy", INFINITY},
        {"normalize(poly(m=2, c=1))", 2, "yy", INFINITY},
        {"normalize(1 + min)", 1, "yn", 0.5},
        {"normalize(linear)", 2, "?y", NAN},
        {"on(1, matern(nu=1.5)) + on(2, rbf)", 2, "yn", 1.5},
        {"warp([1,2;3,4], matern(nu=1.5))", 2, "yn", 1.5},
        {"warp([1;1], min)", 1, "??", 0.5},
        {"warp([0,0], rbf)", 2, "yy", INFINITY},
    };
    gram_context *context = NULL;
    int wrong = 0;
    (void)state;
    assert_int_equal(gram_context_create(NULL, &context), GRAM_OK);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const expected_draws *e = &CASES[i];
        gram_kernel *kernel = NULL;
        gram_properties f;
        assert_int_equal(gram_kernel_parse(context, e->text, &kernel), GRAM_OK);
        assert_int_equal(gram_kernel_properties(context, kernel, e->d, &f), GRAM_OK);
        const int order = isnan(e->smoothness) ? isnan(f.draw_smoothness) : f.draw_smoothness == e->smoothness;
        if (!order || LETTER[f.constant_diagonal] != e->answers[0] || LETTER[f.draws_in_space] != e->answers[1]) {
            print_error("%s, d = %d: %c%c %g, wanted %s %g\n", e->text, (int)e->d, LETTER[f.constant_diagonal],
                        LETTER[f.draws_in_space], f.draw_smoothness, e->answers, e->smoothness);
            wrong++;
        }
        gram_kernel_release(kernel);
    }
    assert_int_equal(wrong, 0);
    gram_context_destroy(context);
}

/* k at the points (at + i h) (1, 0.7), i = 0, ..., n - 1: n x n. */
static void line_matrix(gram_context *context, const char *text, int64_t d, double at, double h, int n, double *k)
{
    double x[2 * 8];
    gram_kernel *kernel = test_kernel(context, text);
    for (int i = 0; i < n; i++)
        for (int64_t l = 0; l < d; l++) x[i * d + l] = (at + i * h) * (l == 0 ? 1 : 0.7);
    gram_points *points = test_points(context, n, d, x);
    OK(context, gram_matrix(context, kernel, points, NULL, k, n));
    gram_points_release(points);
    gram_kernel_release(kernel);
}

/* The variance of the third difference of a draw, steps of h. */
static double third_difference(gram_context *context, const char *text, int64_t d, double h)
{
    static const double C[] = {1, -3, 3, -1};
    double k[16], variance = 0;
    line_matrix(context, text, d, 0.6, h, 4, k);
    for (int i = 0; i < 16; i++) variance += C[i / 4] * C[i % 4] * k[i];
    return variance;
}

/* It falls like h^(2 s) for draws of order s < 3. */
static void test_draws_by_differences(void **state)
{
    (void)state;
    static const expected_draws CASES[] = {
        {"matern(nu=0.5, ell=1)", 1, NULL, 0.5},
        {"matern(nu=1.5, ell=1)", 2, NULL, 1.5},
        {"matern(nu=2.5, ell=1)", 1, NULL, 2.5},
        {"laplace1(ell=1)", 2, NULL, 0.5},
        {"powexp(p=0.5, ell=1)", 2, NULL, 0.25},
        {"wendland(k=0, ell=2)", 1, NULL, 0.5},
        {"wendland(k=1, ell=2)", 2, NULL, 1.5},
        {"min", 2, NULL, 0.5},
        {"min^2", 1, NULL, 0.5},
        {"sobolev(a=2)", 2, NULL, 1.5},
        {"sobolev(a=3, null=1)", 1, NULL, 2.5},
        {"intersection()", 2, NULL, 0.5},
        {"white()", 1, NULL, 0},
        {"rbf(ell=1) + matern(nu=1.5, ell=1)", 1, NULL, 1.5},
        {"rbf(ell=1)*matern(nu=0.5, ell=1)", 2, NULL, 0.5},
        {"min*linear", 1, NULL, 0.5},
        {"exp(min)", 2, NULL, 0.5},
        {"normalize(1 + min)", 1, NULL, 0.5},
        {"warp([1;1], min)", 1, NULL, 0.5},
        {"warp([1,2;3,4], matern(nu=1.5, ell=1))", 2, NULL, 1.5},
    };
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const expected_draws *e = &CASES[i];
        const double h = e->smoothness > 2 ? 1.0 / 32 : 1.0 / 256; /* not too small: rounding */
        const double coarse = third_difference(context, e->text, e->d, h);
        const double order = 0.5 * log2(coarse / third_difference(context, e->text, e->d, 0.5 * h));
        gram_kernel *kernel = test_kernel(context, e->text);
        gram_properties facts;
        OK(context, gram_kernel_properties(context, kernel, e->d, &facts));
        gram_kernel_release(kernel);
        if (!(fabs(order - e->smoothness) < 0.05) || facts.draw_smoothness != e->smoothness)
            FAIL_TEST("%s: differences say %g, the facts %g", e->text, order, facts.draw_smoothness);
    }
    gram_context_destroy(context);
}

/* Pivots of Cholesky's method on points that include the origin: is the least above 0? */
static int is_strictly(gram_context *context, const char *text, int64_t d, double at, double h)
{
    enum { N = 5 };
    double k[N * N], least = INFINITY;
    line_matrix(context, text, d, at, h, N, k);
    for (int p = 0; p < N; p++) {
        least = fmin(least, k[p * N + p]);
        for (int i = p + 1; i < N; i++)
            for (int j = p + 1; j < N; j++) k[i * N + j] -= k[i * N + p] * k[p * N + j] / k[p * N + p];
    }
    return least > 1e-6;
}

/* A term that is 0 at one point needs another one there. */
static void test_strictly_with_origin(void **state)
{
    (void)state;
    static const char *const YES[] = {"1 + min",
                                      "0.1 + 2*min",
                                      "1 + intersection()",
                                      "1 + 100*sobolev",
                                      "linear(c=1) + 100*sobolev",
                                      "cosine(p=3) + min",
                                      "1 + rbf(ell=1)*min",
                                      "1 + min^2",
                                      "normalize(1 + min)",
                                      "sobolev(a=1, null=1)"};
    static const char *const NO[] = {"min", "linear + min", "min + sobolev", "rbf(ell=1)*min"};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (size_t i = 0; i < sizeof YES / sizeof *YES; i++)
        if (!is_strictly(context, YES[i], 1, 0, 1)) FAIL_TEST("%s is not strictly positive definite", YES[i]);
    for (size_t i = 0; i < sizeof NO / sizeof *NO; i++)
        if (is_strictly(context, NO[i], 1, 0, 1)) FAIL_TEST("%s is strictly positive definite", NO[i]);
    assert_true(is_strictly(context, "intpow", 1, 0, 1));
    gram_context_destroy(context);
}

/* ---- kernels that exist in C only ---- */

static void some_block(void *user, int64_t d, int64_t rows, const double *x, int64_t ldx, int64_t columns,
                       const double *y, int64_t ldy, double *out, int64_t ldo)
{
    (void)user, (void)d, (void)x, (void)ldx, (void)y, (void)ldy;
    for (int64_t i = 0; i < rows * columns; i++) out[i / columns * ldo + i % columns] = -1;
}

static double some_factor(void *user, int64_t d, const double *x)
{
    (void)user, (void)d;
    return x[0];
}

enum { CALLBACK, PRECOMPUTED, SCALE, CENTRE };

/* A kernel around `inside` (leaves have none), under on(1, ...) perhaps, with another one added. */
typedef struct c_only {
    int what;
    const char *inside;
    int on_first;
    const char *plus;
    expected facts;
} c_only;

static gram_kernel *build(gram_context *context, gram_points *sample, const c_only *c)
{
    static const double matrix[] = {2, 1, 1, 2};
    const int64_t first = 0;
    gram_kernel *inside = NULL, *made = NULL, *other = NULL, *out = NULL;
    assert_int_equal(gram_kernel_parse(context, c->inside ? c->inside : "1", &inside), GRAM_OK);
    const gram_status status = c->what == CALLBACK ? gram_kernel_callback(context, "f", some_block, NULL, NULL, &made)
                               : c->what == PRECOMPUTED ? gram_kernel_precomputed(context, "k", 2, matrix, 2, &made)
                               : c->what == SCALE
                                   ? gram_kernel_scale(context, "f", some_factor, NULL, NULL, inside, &made)
                                   : gram_kernel_centre(context, sample, inside, &made);
    assert_int_equal(status, GRAM_OK);
    gram_kernel_release(inside);
    if (c->on_first) {
        assert_int_equal(gram_kernel_on(context, 1, &first, made, &out), GRAM_OK);
        gram_kernel_release(made);
        made = out;
    }
    if (!c->plus) return made;
    assert_int_equal(gram_kernel_parse(context, c->plus, &other), GRAM_OK);
    assert_int_equal(gram_kernel_sum(context, made, other, &out), GRAM_OK);
    gram_kernel_release(made);
    gram_kernel_release(other);
    return out;
}

static void test_c_only(void **state)
{
    static const c_only CASES[] = {
        {CALLBACK, NULL, 0, NULL, {"callback", 2, "???? ????", INF, 0, NAN}},
        {CALLBACK, NULL, 1, NULL, {"on(1, callback)", 2, "?nnn ????", INF, 0, NAN}},
        {CALLBACK, NULL, 0, "rbf", {"callback + rbf", 2, "???? ????", INF, 0, NAN}},
        {PRECOMPUTED, NULL, 0, NULL, {"precomputed", 2, "???? ????", INF, 0, NAN}},
        {PRECOMPUTED, NULL, 1, NULL, {"on(1, precomputed)", 2, "???? ????", INF, 0, NAN}},
        {SCALE, "rbf", 0, NULL, {"scale rbf", 2, "y??? ????", INF, 0, NAN}},
        {SCALE, "on(1, rbf)", 0, NULL, {"scale on(1, rbf)", 2, "yn?? ????", INF, 0, NAN}},
        {SCALE, "rbf", 1, NULL, {"on(1, scale rbf)", 2, "ynnn ????", INF, 0, NAN}},
        {SCALE, "poly(m=2, c=1)", 0, NULL, {"scale poly", 2, "ynnn ????", 6, 0, NAN}},
        {SCALE, "min", 0, NULL, {"scale min", 1, "ynn? ???n", INF, 0, NAN}},
        {SCALE, "0", 0, NULL, {"scale 0", 2, "ynnn yyyn", 0, INF, NAN}},
        {SCALE, "2", 0, NULL, {"scale 2", 2, "ynnn ????", 1, 0, NAN}},
        {SCALE, "rbf", 0, "rbf", {"scale rbf + rbf", 2, "yyyy ???y", INF, 0, NAN}},
        {CENTRE, "rbf", 0, NULL, {"centre rbf", 2, "ynny ??y?", INF, INF, NAN}},
        {CENTRE, "matern(nu=1.5)", 0, NULL, {"centre matern", 2, "ynny ??y?", INF, 1, NAN}},
        {CENTRE, "poly(m=2, c=1)", 0, NULL, {"centre poly", 2, "ynnn ??y?", 6, INF, NAN}},
        {CENTRE, "on(1, rbf)", 0, NULL, {"centre on(1, rbf)", 2, "ynnn ?ny?", INF, INF, NAN}},
        {CENTRE, "3", 0, NULL, {"centre 3", 2, "ynnn yyyn", 0, INF, NAN}},
        {CENTRE, "rbf", 0, "1", {"centre rbf + 1", 2, "y??y ??yy", INF, INF, NAN}},
    };
    static const double data[] = {0, 1, 2, 3};
    gram_context *context = NULL;
    gram_points *sample = NULL;
    int wrong = 0;
    (void)state;
    assert_int_equal(gram_context_create(NULL, &context), GRAM_OK);
    assert_int_equal(gram_points_create_f64(context, 2, 2, data, 2, &sample), GRAM_OK);
    const size_t before = gram_context_memory_used(context);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        gram_kernel *kernel = build(context, sample, &CASES[i]);
        wrong += !check(context, kernel, &CASES[i].facts);
        gram_kernel_release(kernel);
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(gram_context_memory_used(context), before);
    gram_points_release(sample);
    gram_context_destroy(context);
}

static void test_bad_use(void **state)
{
    gram_context *context = NULL;
    gram_kernel *kernel = NULL;
    gram_properties facts;
    (void)state;
    assert_int_equal(gram_context_create(NULL, &context), GRAM_OK);
    assert_int_equal(gram_kernel_parse(context, "on(3, rbf)", &kernel), GRAM_OK);
    assert_int_equal(gram_kernel_properties(context, kernel, 2, &facts), GRAM_ERROR_DIMENSION);
    assert_int_equal(gram_kernel_properties(context, kernel, 0, &facts), GRAM_ERROR_ARGUMENT);
    assert_true(gram_kernel_properties(context, kernel, INT64_MAX, &facts) < 0);
    assert_int_equal(gram_kernel_properties(context, NULL, 2, &facts), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_kernel_properties(context, kernel, 3, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_kernel_properties(NULL, kernel, 3, &facts), GRAM_ERROR_ARGUMENT);
    gram_kernel_release(kernel);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table),
                                       cmocka_unit_test(test_draws),
                                       cmocka_unit_test(test_draws_by_differences),
                                       cmocka_unit_test(test_strictly_with_origin),
                                       cmocka_unit_test(test_c_only),
                                       cmocka_unit_test(test_bad_use)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
