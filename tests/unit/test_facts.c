/* Facts of leaves and their composition, against a table worked out by hand from the rules in docs/kernels.md. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <gram/kernel.h>

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
    {"monomial(m=2)", 2, "ynnn nnyy", 6, INF, NAN},
    {"monomial(m=3)", 4, "ynnn nnyy", 35, INF, NAN},
    {"intpow", 2, "y??? nnyy", INF, 0, NAN},
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
    {"poly(m=1, c=0) + min", 1, "y??y ??y?", INF, 0, NAN},
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
};

static void write_answers(const gram_facts *f, char text[10])
{
    static const char LETTER[] = {'n', 'y', '?'};
    (void)snprintf(text, 10, "%c%c%c%c %c%c%c%c", LETTER[f->positive_definite], LETTER[f->strictly],
                   LETTER[f->universal], LETTER[f->characteristic], LETTER[f->stationary], LETTER[f->isotropic],
                   LETTER[f->continuous], LETTER[f->bounded_below]);
}

static void test_table(void **state)
{
    gram_context *context = NULL;
    int wrong = 0;
    (void)state;
    assert_int_equal(gram_context_create(NULL, &context), GRAM_OK);
    const size_t before = gram_context_memory_used(context);
    for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++) {
        const expected *e = &TABLE[i];
        gram_kernel *kernel = NULL;
        gram_facts facts;
        char answers[10];
        assert_int_equal(gram_kernel_parse(context, e->text, &kernel), GRAM_OK);
        assert_int_equal(gram_kernel_facts(context, kernel, e->d, &facts), GRAM_OK);
        gram_kernel_release(kernel);
        write_answers(&facts, answers);
        const int order = isnan(e->sobolev) ? isnan(facts.sobolev_order) : facts.sobolev_order == e->sobolev;
        if (strcmp(answers, e->answers) == 0 && facts.rank == e->rank && facts.derivatives == e->derivatives && order)
            continue;
        wrong++;
        print_error("%s, d = %d: %s, rank %d, derivatives %d, order %g, wanted %s %d %d %g\n", e->text, (int)e->d,
                    answers, (int)facts.rank, facts.derivatives, facts.sobolev_order, e->answers, (int)e->rank,
                    e->derivatives, e->sobolev);
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(gram_context_memory_used(context), before);
    gram_context_destroy(context);
}

static void test_bad_use(void **state)
{
    gram_context *context = NULL;
    gram_kernel *kernel = NULL;
    gram_facts facts;
    (void)state;
    assert_int_equal(gram_context_create(NULL, &context), GRAM_OK);
    assert_int_equal(gram_kernel_parse(context, "on(3, rbf)", &kernel), GRAM_OK);
    assert_int_equal(gram_kernel_facts(context, kernel, 2, &facts), GRAM_ERROR_DIMENSION);
    assert_int_equal(gram_kernel_facts(context, kernel, 0, &facts), GRAM_ERROR_ARGUMENT);
    assert_true(gram_kernel_facts(context, kernel, INT64_MAX, &facts) < 0);
    assert_int_equal(gram_kernel_facts(context, NULL, 2, &facts), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_kernel_facts(context, kernel, 3, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_kernel_facts(NULL, kernel, 3, &facts), GRAM_ERROR_ARGUMENT);
    gram_kernel_release(kernel);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_bad_use)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
