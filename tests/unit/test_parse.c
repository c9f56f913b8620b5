/* The kernel language: what is read, how it prints, and the message for each wrong text. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"
#include "support.h"

static void expect_print(gram_context *context, const char *text, const char *canonical)
{
    char printed[1024], again[1024];
    gram_kernel *kernel = test_kernel(context, text);
    assert_int_equal(gram_kernel_print(kernel, printed, sizeof printed), strlen(canonical));
    assert_string_equal(printed, canonical);
    gram_kernel *second = test_kernel(context, printed);
    gram_kernel_print(second, again, sizeof again);
    assert_string_equal(again, canonical);
    assert_true(gram_kernel_equal(kernel, second));
    gram_kernel_release(second);
    gram_kernel_release(kernel);
}

static void test_canonical(void **state)
{
    static const char *const CASES[][2] = {
        {"rbf", "rbf"},
        {"rbf()", "rbf"},
        {"rbf(0.3)", "rbf(ell=0.3)"},
        {" rbf\t( ell\n=\r0.3 ) ", "rbf(ell=0.3)"},
        {"rbf(ell=[0.3])", "rbf(ell=0.3)"},
        {"rbf(ell=[1,2,1])", "rbf(ell=[1,2,1])"},
        {"rbf(ell=.5)", "rbf(ell=0.5)"},
        {"rbf(ell=5e-1!)", "rbf(ell=0.5!)"},
        {"rbf(ell=+1)", "rbf(ell=1)"},
        {"rbf(ell=[1!,2])", "rbf(ell=[1!,2])"},
        {"rbf(ell=[1!,2!])", "rbf(ell=[1,2]!)"},
        {"rbf(ell=[1!,2]!)", "rbf(ell=[1,2]!)"},
        {"rbf(ell=[1!])", "rbf(ell=1!)"},
        {"rbf(S=[1,0;0,2])", "rbf(S=[1,0;0,2])"},
        {"rbf( S = [ 1 , -0 ; 0 , 2 ] ! )", "rbf(S=[1,0;0,2]!)"},
        {"rbf(S=4)", "rbf(S=[4])"},
        {"rbf(S=[4!])", "rbf(S=[4]!)"},
        {"laplace1(2)", "laplace1(ell=2)"},
        {"matern", "matern(nu=2.5)"},
        {"matern(1.5)", "matern(nu=1.5)"},
        {"matern(0.5, [1,2])", "matern(nu=0.5, ell=[1,2])"},
        {"matern(ell=2, nu=1.5!)", "matern(nu=1.5, ell=2)"}, /* structural numbers are never learnt */
        {"poly", "poly(m=3, c=1)"},
        {"poly(2, 0)", "poly(m=2, c=0)"},
        {"poly(degree=2, coef0=0.5!)", "poly(m=2, c=0.5!)"},
        {"min", "min(o=0)"},
        {"min(-2)", "min(o=-2)"},
        {"min(o=-0)", "min(o=0)"},
        {"white", "white()"},
        {"white ( )", "white()"},
        {"2", "2"},
        {"2!", "2!"},
        {"0", "0"},
        {"-0", "0"},
        {"1e300", "1e+300"},
        {"const", "const"},
        {"const()", "const"},
        {"const(2)", "2"},
        {"const(c=2!)", "2!"},
        {"2*rbf(ell=0.3) + on(3:5, matern(nu=2.5, ell=[1,2,1])) * min(o=12)",
         "2*rbf(ell=0.3) + on(3:5, matern(nu=2.5, ell=[1,2,1]))*min(o=12)"},
        {"1+2*3^4", "1 + 2*3^4"},
        {"((1)+((2)))", "1 + 2"},
        {"1+(2+3)", "1 + 2 + 3"},
        {"1*(2*3)*4", "1*2*3*4"},
        {"(1+2)*3", "(1 + 2)*3"},
        {"(1*2)^3", "(1*2)^3"},
        {"(1+2)^3", "(1 + 2)^3"},
        {"(1^2)^3", "(1^2)^3"},
        {"rbf^1", "rbf"},
        {"rbf ^ 64", "rbf^64"},
        {"2!^3", "2!^3"},
        {"on(1,2)", "on(1, 2)"},
        {"on(1,2*rbf)", "on(1, 2*rbf)"},
        {"on(1,2,rbf)", "on(1:2, rbf)"},
        {"on(1,.5*rbf)", "on(1, 0.5*rbf)"},
        {"on(3,3)", "on(3, 3)"},
        {"on( [ 1 , 3 : 5 ] , rbf + 1 )", "on([1,3:5], rbf + 1)"},
        {"on(1,3:5,rbf)", "on([1,3:5], rbf)"},
        {"on([1],[3:5],7,rbf)", "on([1,3:5,7], rbf)"},
        {"on([5,4,3],rbf)", "on([5,4,3], rbf)"},
        {"on(7:7,rbf)", "on(7, rbf)"},
        {"on(1:2,on(2,rbf))", "on(1:2, on(2, rbf))"},
        {"on(1,rbf)^2*on(2,rbf)", "on(1, rbf)^2*on(2, rbf)"},
        {"exp(rbf)", "exp(rbf)"},
        {" exp ( ( rbf ) ) ", "exp(rbf)"},
        {"exp(rbf+1)^2*exp(2)", "exp(rbf + 1)^2*exp(2)"},
        {"exp(exp(poly(1,0)))", "exp(exp(poly(m=1, c=0)))"},
        {"normalize(rbf*poly(2,1))", "normalize(rbf*poly(m=2, c=1))"},
        {"normalize(1+2)*3", "normalize(1 + 2)*3"},
        {"scale(2,rbf)", "on(2, linear(c=0!))*rbf"},
        {"3*scale( 1 , rbf + 2)", "3*on(1, linear(c=0!))*(rbf + 2)"},
        {"warp([1,2],rbf)", "warp([1,2], rbf)"},
        {"warp([1],rbf)", "warp([1], rbf)"},
        {"warp ( [ 1 , -0 ; 0 , .5 ; 1e3 , 3 ] , rbf + 2 ) ^ 2", "warp([1,0;0,0.5;1000,3], rbf + 2)^2"},
        {"warp([1;2],rbf(ell=[3,4]))", "warp([1;2], rbf(ell=[3,4]))"},
        {"warp([1,2;3,4],warp([5,6],rbf([7]))*rbf(ell=[8,9]))",
         "warp([1,2;3,4], warp([5,6], rbf(ell=7))*rbf(ell=[8,9]))"},
        {"on(1,exp(2))", "on(1, exp(2))"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) expect_print(*state, CASES[i][0], CASES[i][1]);
}

static double length_of(gram_context *context, const char *text, int64_t which)
{
    gram_kernel *kernel = test_kernel(context, text);
    const gram_argument *length = gram_kernel_argument(kernel, GRAM_ROLE_LENGTH);
    assert_non_null(length);
    assert_true(length->count > which);
    const double value = length->values[which];
    gram_kernel_release(kernel);
    return value;
}

static void test_aliases(void **state)
{
    /* exp(-gamma r^2), exp(-r^2/width^2), exp(-gamma r) */
    assert_true(length_of(*state, "rbf(gamma=0.5)", 0) == 1);
    assert_true(length_of(*state, "rbf(gamma=0.1)", 0) == sqrt(5.0));
    assert_true(length_of(*state, "rbf(gamma=2)", 0) == 0.5);
    assert_true(length_of(*state, "rbf(width=3)", 0) == 3 / sqrt(2.0));
    assert_true(length_of(*state, "laplace1(gamma=4)", 0) == 0.25);
    assert_true(length_of(*state, "rbf(gamma=[0.5,2,8])", 0) == 1);
    assert_true(length_of(*state, "rbf(gamma=[0.5,2,8])", 1) == 0.5);
    assert_true(length_of(*state, "rbf(gamma=[0.5,2,8])", 2) == 0.25);
    expect_print(*state, "rbf(gamma=2!)", "rbf(ell=0.5!)");
    expect_print(*state, "rbf(gamma=[2!,8])", "rbf(ell=[0.5!,0.25])");
}

typedef struct wrong {
    const char *text;
    gram_status status;
    const char *message;
} wrong;

static void expect_message(gram_context *context, const wrong *w)
{
    gram_kernel *kernel = (gram_kernel *)context; /* must become NULL */
    const size_t before = gram_context_memory_used(context);
    const gram_status status = gram_kernel_parse(context, w->text, &kernel);
    if (status != w->status || strcmp(gram_context_message(context), w->message) != 0)
        fail_msg("'%s': %s: %s", w->text, gram_status_name(status), gram_context_message(context));
    assert_null(kernel);
    assert_int_equal(gram_context_memory_used(context), before);
}

enum { SYNTAX = GRAM_ERROR_SYNTAX, ARGUMENT = GRAM_ERROR_ARGUMENT };

static void test_errors_of_expressions(void **state)
{
    static const wrong CASES[] = {
        {"", SYNTAX, "kernel: column 1: expected a kernel, but the text ends here"},
        {"  ", SYNTAX, "kernel: column 3: expected a kernel, but the text ends here"},
        {"rbf +", SYNTAX, "kernel: column 6: expected a kernel, but the text ends here"},
        {"rbf + * 2", SYNTAX, "kernel: column 7: expected a kernel, found '*'"},
        {"+rbf", SYNTAX, "kernel: column 1: expected a kernel, found '+'"},
        {"rbf rbf", SYNTAX, "kernel: column 5: expected '+', '*', '^' or the end, found 'r'"},
        {"rbf)", SYNTAX, "kernel: column 4: expected '+', '*', '^' or the end, found ')'"},
        {"(rbf", SYNTAX, "kernel: column 5: expected ')', but the text ends here"},
        {"rbf\x01", SYNTAX, "kernel: column 4: expected '+', '*', '^' or the end, found '?'"},
        {"2 - rbf", SYNTAX, "kernel: column 3: '-': a difference of kernels is not a kernel"},
        {"rbf + -2", ARGUMENT, "kernel: column 7: '-2' is negative; a constant kernel must be at least 0"},
        {"const(-2)", ARGUMENT, "kernel: column 1: const(c=-2): c must be at least 0"},
        {"1e999", ARGUMENT, "kernel: column 1: '1e999' is too large for a number"},
        {"-rbf", SYNTAX, "kernel: column 1: expected a number, found '-'"},
        {"RBF", SYNTAX, "kernel: column 1: no kernel 'RBF', did you mean 'rbf'?"},
        {"2*mattern(1.5)", SYNTAX, "kernel: column 3: no kernel 'mattern', did you mean 'matern'?"},
        {"zzzzzzz", SYNTAX, "kernel: column 1: no kernel 'zzzzzzz'"},
        {"1 + <callback f>", SYNTAX,
         "kernel: column 5: '<callback f>' stands for a kernel that exists in C only; no text can be read as it"},
        {"<scale f, <callback g> + 1>*2", SYNTAX,
         "kernel: column 1: '<scale f, <callback g> + 1>' stands for a kernel that exists in C only; no text can be "
         "read as it"},
        {"exp(<centre, rbf", SYNTAX,
         "kernel: column 5: '<centre, rbf' stands for a kernel that exists in C only; no text can be read as it"},
        {"exp", SYNTAX, "kernel: column 1: 'exp' needs a kernel: exp(rbf)"},
        {"2*exp*2", SYNTAX, "kernel: column 3: 'exp' needs a kernel: exp(rbf)"},
        {"exp()", SYNTAX, "kernel: column 5: expected a kernel, found ')'"},
        {"exp(rbf", SYNTAX, "kernel: column 8: expected ')', but the text ends here"},
        {"exp(rbf, 2)", SYNTAX, "kernel: column 8: expected ')', found ','"},
        {"normalize + 1", SYNTAX, "kernel: column 1: 'normalize' needs a kernel: normalize(poly)"},
        {"normalise(rbf)", SYNTAX, "kernel: column 1: no kernel 'normalise', did you mean 'normalize'?"},
        {"scale(rbf)", SYNTAX, "kernel: column 7: expected a column from 1 to 1073741824, found 'r'"},
        {"scale(2)", SYNTAX, "kernel: column 8: expected ',' and a kernel, found ')'"},
        {"scale", SYNTAX, "kernel: column 1: 'scale' needs a column and a kernel: scale(2, rbf)"},
        {"warp", SYNTAX, "kernel: column 1: 'warp' needs a matrix and a kernel: warp([1,0;0,2], rbf)"},
        {"warp(rbf)", SYNTAX, "kernel: column 6: expected a matrix such as [1,0;0,2], found 'r'"},
        {"warp(2, rbf)", SYNTAX, "kernel: column 6: expected a matrix such as [1,0;0,2], found '2'"},
        {"warp([1,2])", SYNTAX, "kernel: column 11: expected ',' and a kernel, found ')'"},
        {"warp([1,2],)", SYNTAX, "kernel: column 12: expected a kernel, found ')'"},
        {"warp([], rbf)", SYNTAX, "kernel: column 7: expected a number, found ']'"},
        {"warp([1,2;3], rbf)", SYNTAX, "kernel: column 12: row 2 has 1 numbers, row 1 has 2"},
        {"warp([1,2]!, rbf)", SYNTAX, "kernel: column 11: the matrix of a warp is never learnt: leave out the '!'"},
        {"warp([1!,2], rbf)", SYNTAX, "kernel: column 8: the matrix of a warp is never learnt: leave out the '!'"},
        {"warp([1e999], rbf)", ARGUMENT, "kernel: column 7: '1e999' is too large for a number"},
        {"warp([1,2], rbf(-1))", ARGUMENT, "kernel: column 13: rbf(ell=-1): ell must be above 0"},
        {"rbf^2^3", SYNTAX, "kernel: column 6: a power of a power needs parentheses: (a^2)^3"},
        {"rbf^", SYNTAX, "kernel: column 5: expected an exponent from 1 to 64, but the text ends here"},
        {"rbf^-1", SYNTAX, "kernel: column 5: expected an exponent from 1 to 64, found '-'"},
        {"rbf^0", ARGUMENT, "kernel: column 5: expected an exponent from 1 to 64, found '0'"},
        {"rbf^65", ARGUMENT, "kernel: column 5: expected an exponent from 1 to 64, found '65'"},
        {"rbf^18446744073709551618", ARGUMENT,
         "kernel: column 5: expected an exponent from 1 to 64, found '18446744073709551618'"},
        {"rbf^2.5", SYNTAX, "kernel: column 5: the exponent must be a whole number"},
        {"rbf^1e1", SYNTAX, "kernel: column 5: the exponent must be a whole number"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) expect_message(*state, &CASES[i]);
}

static void test_errors_of_arguments(void **state)
{
    static const wrong CASES[] = {
        {"rbf(el=1)", SYNTAX, "kernel: column 5: rbf(el=1): no parameter 'el', did you mean 'ell'?"},
        {"rbf(gama=1)", SYNTAX, "kernel: column 5: rbf(gama=1): no parameter 'gama', did you mean 'gamma'?"},
        {"rbf(zzzzzz=1)", SYNTAX, "kernel: column 5: rbf(zzzzzz=1): no parameter 'zzzzzz'"},
        {"white(ell=1)", SYNTAX, "kernel: column 7: white(ell=1): no parameter 'ell'"},
        {"white(1)", SYNTAX, "kernel: column 7: white(1): 'white' takes 0 arguments"},
        {"laplace1(1,2)", SYNTAX, "kernel: column 12: laplace1(1,2): 'laplace1' takes 1 argument"},
        {"rbf(ell=1, gamma=2)", SYNTAX, "kernel: column 12: rbf(ell=1, gamma=2): give 'ell' or 'gamma', not both"},
        {"rbf(width=1, gamma=2)", SYNTAX,
         "kernel: column 14: rbf(width=1, gamma=2): give 'width' or 'gamma', not both"},
        {"rbf(1, gamma=2)", SYNTAX, "kernel: column 8: rbf(1, gamma=2): give 'ell' or 'gamma', not both"},
        {"rbf(S=[4], width=2)", SYNTAX, "kernel: column 12: rbf(S=[4], width=2): give 'S' or 'width', not both"},
        {"rbf(1, [4])", SYNTAX, "kernel: column 8: rbf(1, [4]): give 'ell' or 'S', not both"},
        {"rbf(ell=1, ell=2)", SYNTAX, "kernel: column 12: rbf(ell=1, ell=2): 'ell' is given twice"},
        {"poly(2, m=2)", SYNTAX, "kernel: column 9: poly(2, m=2): 'm' is given twice"},
        {"poly(m=2, 3)", SYNTAX,
         "kernel: column 11: poly(m=2, 3): arguments without a name come before those with one"},
        {"rbf(ell)", SYNTAX, "kernel: column 5: expected a number, found 'e'"},
        {"rbf(ell=)", SYNTAX, "kernel: column 9: expected a number, found ')'"},
        {"rbf(1,,2)", SYNTAX, "kernel: column 7: expected a number, found ','"},
        {"rbf(1 2)", SYNTAX, "kernel: column 7: expected ',' or ')', found '2'"},
        {"rbf(ell=1", SYNTAX, "kernel: column 10: expected ',' or ')', but the text ends here"},
        {"rbf(ell=inf)", SYNTAX, "kernel: column 9: 'inf' is not a finite number"},
        {"rbf(ell=nan)", SYNTAX, "kernel: column 9: 'nan' is not a finite number"},
        {"rbf(ell=1e400)", ARGUMENT, "kernel: column 9: '1e400' is too large for a number"},
        {"1 + rbf(ell=-1)", ARGUMENT, "kernel: column 5: rbf(ell=-1): ell must be above 0"},
        {"rbf(0)", ARGUMENT, "kernel: column 1: rbf(ell=0): ell must be above 0"},
        {"rbf([1,0.5,-0.25])", ARGUMENT, "kernel: column 1: rbf(ell[3]=-0.25): ell must be above 0"},
        {"rbf(gamma=-1)", ARGUMENT, "kernel: column 5: rbf(gamma=-1): gamma = -1 is out of its range"},
        {"rbf(gamma=[1,0])", ARGUMENT, "kernel: column 5: rbf(gamma=[1,0]): gamma = 0 is out of its range"},
        {"poly(2.5)", ARGUMENT, "kernel: column 1: poly(m=2.5): m must be a whole number from 1 to 64"},
        {"poly(65)", ARGUMENT, "kernel: column 1: poly(m=65): m must be a whole number from 1 to 64"},
        {"poly(2, -1)", ARGUMENT, "kernel: column 1: poly(c=-1): c must be at least 0"},
        {"matern(2000)", ARGUMENT,
         "kernel: column 1: matern(nu=2000): nu must be at most 1000; the limit of large nu is rbf"},
        {"poly([1,2])", ARGUMENT, "kernel: column 1: poly: m takes one number, not a list of 2"},
        {"poly([1,0;0,1])", ARGUMENT, "kernel: column 1: poly: m takes one number, not a matrix"},
        {"rbf([1,0;0,1])", ARGUMENT, "kernel: column 1: rbf: ell takes a number or a list, not a matrix"},
        {"rbf(S=[1,2])", ARGUMENT,
         "kernel: column 1: rbf: S takes a square matrix such as [1,0;0,2], not a list of 2 numbers"},
        {"rbf(S=[1,0.5;0,1])", ARGUMENT, "kernel: column 1: rbf: S is not symmetric: entry 2,1 differs from entry 1,2"},
        {"rbf(S=[1,2;2,1])", ARGUMENT, "kernel: column 1: rbf: S is not positive definite"},
        {"rbf(S=[1,2;3])", SYNTAX, "kernel: column 13: row 2 has 1 numbers, row 1 has 2"},
        {"rbf(S=[1;2])", SYNTAX, "kernel: column 7: a matrix of 2 x 1 numbers is not square"},
        {"rbf(S=[1!,0;0,2])", SYNTAX,
         "kernel: column 9: the numbers of a matrix are held fixed together: put '!' after the bracket"},
        {"rbf([1,2)", SYNTAX, "kernel: column 9: expected ',', ';' or ']', found ')'"},
        {"rbf([])", SYNTAX, "kernel: column 6: expected a number, found ']'"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) expect_message(*state, &CASES[i]);
}

static void test_errors_of_columns(void **state)
{
    static const wrong CASES[] = {
        {"on", SYNTAX, "kernel: column 1: 'on' needs columns and a kernel: on(1:2, rbf)"},
        {"on(rbf)", SYNTAX, "kernel: column 4: expected a column from 1 to 1073741824, found 'r'"},
        {"on(1)", SYNTAX, "kernel: column 5: expected ',' and a kernel, found ')'"},
        {"on(1,)", SYNTAX, "kernel: column 6: expected a kernel, found ')'"},
        {"on(0,rbf)", ARGUMENT, "kernel: column 4: expected a column from 1 to 1073741824, found '0'"},
        {"on(1:,rbf)", SYNTAX, "kernel: column 6: expected a column from 1 to 1073741824, found ','"},
        {"on(1.5,rbf)", SYNTAX, "kernel: column 5: expected ',' and a kernel, found '.'"},
        {"on(-1,rbf)", SYNTAX, "kernel: column 4: expected a column from 1 to 1073741824, found '-'"},
        {"on(2:1,rbf)", ARGUMENT, "kernel: column 4: on: the range 2:1 runs backwards"},
        {"on(1,1,rbf)", ARGUMENT, "kernel: column 1: on: column 1 is given twice"},
        {"on([7,2:5],4,rbf)", ARGUMENT, "kernel: column 1: on: column 4 is given twice"},
        {"on(1:4097,rbf)", ARGUMENT, "kernel: column 4: on: more than 4096 columns"},
        {"on(1:4000,4001:5000,rbf)", ARGUMENT, "kernel: column 11: on: more than 4096 columns"},
        {"on(99999999999999999999,rbf)", ARGUMENT,
         "kernel: column 4: expected a column from 1 to 1073741824, found '99999999999999999999'"},
        {"on([1,rbf)", SYNTAX, "kernel: column 7: expected a column from 1 to 1073741824, found 'r'"},
        {"on([1;2],rbf)", SYNTAX, "kernel: column 6: expected ']', found ';'"},
        {"on(1,rbf,rbf)", SYNTAX, "kernel: column 9: expected ')', found ','"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) expect_message(*state, &CASES[i]);
}

/* prefix, then `unit` count times, then suffix; the caller frees it */
static char *repeat(const char *prefix, const char *unit, int count, const char *suffix)
{
    char *text = malloc(strlen(prefix) + (size_t)count * strlen(unit) + strlen(suffix) + 1);
    assert_non_null(text);
    char *end = text + sprintf(text, "%s", prefix);
    for (int i = 0; i < count; i++) end += sprintf(end, "%s", unit);
    strcpy(end, suffix);
    return text;
}

static void expect_repeated(gram_context *context, char *text, gram_status wanted, const char *message)
{
    gram_kernel *kernel = NULL;
    assert_int_equal(gram_kernel_parse(context, text, &kernel), wanted);
    if (wanted < 0) assert_string_equal(gram_context_message(context), message);
    gram_kernel_release(kernel);
    free(text);
}

static void test_limits(void **state)
{
    char *closing = repeat("rbf", ")", 64, "");
    expect_repeated(*state, repeat("", "(", 64, closing), GRAM_OK, "");
    expect_repeated(*state, repeat("", "(", 65, "rbf"), GRAM_ERROR_SYNTAX,
                    "kernel: column 66: nested deeper than 64 levels");
    expect_repeated(*state, repeat("", "on(1,", 65, "rbf"), GRAM_ERROR_SYNTAX,
                    "kernel: column 326: nested deeper than 64 levels");
    expect_repeated(*state, repeat("", "on(1,", 64, closing), GRAM_ERROR_ARGUMENT,
                    "kernel: column 1: nested deeper than 64 levels");
    expect_repeated(*state, repeat("", "1+", 4094, "1"), GRAM_OK, "");
    expect_repeated(*state, repeat("", "1+", 4095, "1"), GRAM_ERROR_ARGUMENT,
                    "kernel: column 1: more than 4096 terms and factors");
    expect_repeated(*state, repeat("", "1+", 4096, "1"), GRAM_ERROR_SYNTAX,
                    "kernel: column 8194: more than 4096 terms and factors");
    expect_repeated(*state, repeat("rbf", " ", GRAM_KERNEL_MAX_TEXT - 3, ""), GRAM_OK, "");
    expect_repeated(*state, repeat("rbf", " ", GRAM_KERNEL_MAX_TEXT - 2, ""), GRAM_ERROR_SYNTAX,
                    "kernel: the text has 1048577 characters, more than the limit of 1048576");
    free(closing);
}

/* A long offending piece is shortened, control characters are not passed on. */
static void test_pieces(void **state)
{
    expect_repeated(*state, repeat("", "q", 100, ""), GRAM_ERROR_SYNTAX,
                    "kernel: column 1: no kernel 'qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq...'");
    const wrong control = {
        "<a\tb\x1b>", SYNTAX,
        "kernel: column 1: '<a b?>' stands for a kernel that exists in C only; no text can be read as it"};
    expect_message(*state, &control);
}

static void test_bad_use(void **state)
{
    gram_kernel *kernel = NULL;
    assert_int_equal(gram_kernel_parse(*state, NULL, &kernel), GRAM_ERROR_ARGUMENT);
    assert_string_equal(gram_context_message(*state), "kernel_parse: text is NULL");
    assert_int_equal(gram_kernel_parse(NULL, "rbf", &kernel), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_kernel_parse(*state, "rbf", NULL), GRAM_ERROR_ARGUMENT);
}

static void test_print_sizes(void **state)
{
    gram_kernel *kernel = test_kernel(*state, "2*rbf(ell=0.3)");
    const char *whole = "2*rbf(ell=0.3)";
    for (size_t size = 0; size <= strlen(whole) + 1; size++) {
        char text[32];
        memset(text, '#', sizeof text);
        assert_int_equal(gram_kernel_print(kernel, size ? text : NULL, size), strlen(whole));
        if (size == 0) continue;
        assert_int_equal(strlen(text), size - 1);
        assert_memory_equal(text, whole, size - 1);
        assert_int_equal(text[size], '#');
    }
    gram_kernel_release(kernel);
}

int main(void)
{
    (void)setlocale(LC_ALL, "");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_canonical, test_open, test_close),
        cmocka_unit_test_setup_teardown(test_aliases, test_open, test_close),
        cmocka_unit_test_setup_teardown(test_errors_of_expressions, test_open, test_close),
        cmocka_unit_test_setup_teardown(test_errors_of_arguments, test_open, test_close),
        cmocka_unit_test_setup_teardown(test_errors_of_columns, test_open, test_close),
        cmocka_unit_test_setup_teardown(test_limits, test_open, test_close),
        cmocka_unit_test_setup_teardown(test_pieces, test_open, test_close),
        cmocka_unit_test_setup_teardown(test_bad_use, test_open, test_close),
        cmocka_unit_test_setup_teardown(test_print_sizes, test_open, test_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
