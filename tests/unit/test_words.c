/* Kernels in the words of other tools, with the numbers worked out by hand; the least dimension; the table of kernels.
 */
#include <string.h>

#include "support.h"

static gram_context *context;

static int set_up(void **state)
{
    (void)state;
    context = test_context(1, GRAM_ISA_AUTO);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    gram_context *fresh = test_context(1, GRAM_ISA_AUTO);
    const int leaked = gram_context_memory_used(context) != gram_context_memory_used(fresh);
    gram_context_destroy(fresh);
    gram_context_destroy(context);
    return leaked;
}

typedef struct expected {
    const char *text;
    int64_t d;
    const char
        *words[GRAM_TOOL_COUNT]; /* scikit-learn, SVC, LIBSVM, GPyTorch, kernlab, liquidSVM; NULL: there is none */
} expected;

static const expected TABLE[] = {
    {"rbf(ell=0.5)",
     3,
     {"RBF(length_scale=0.5)", "SVC(kernel='rbf', gamma=2)", "-t 2 -g 2", "RBFKernel().initialize(lengthscale=0.5)",
      "rbfdot(sigma=2)", "KERNEL=GAUSS_RBF gamma=0.7071067811865476"}},
    {"rbf(ell=0.3!)",
     1,
     {"RBF(length_scale=0.3)", "SVC(kernel='rbf', gamma=5.555555555555556)", "-t 2 -g 5.555555555555556",
      "RBFKernel().initialize(lengthscale=0.3)", "rbfdot(sigma=5.555555555555556)",
      "KERNEL=GAUSS_RBF gamma=0.4242640687119285"}},
    {"rbf(ell=[1,2])",
     2,
     {"RBF(length_scale=[1, 2])", NULL, NULL, "RBFKernel(ard_num_dims=2).initialize(lengthscale=torch.tensor([1, 2]))",
      NULL, NULL}},
    {"rbf(S=[1,0;0,1])", 2, {NULL}},
    {"rbf", 2, {NULL}},
    {"rbf(ell=1e-200)",
     1,
     {"RBF(length_scale=1e-200)", NULL, NULL, "RBFKernel().initialize(lengthscale=1e-200)", NULL,
      "KERNEL=GAUSS_RBF gamma=1.414213562373095e-200"}},
    {"matern(nu=1.5, ell=2)",
     2,
     {"Matern(length_scale=2, nu=1.5)", NULL, NULL, "MaternKernel(nu=1.5).initialize(lengthscale=2)", NULL, NULL}},
    {"matern(nu=2.5, ell=[1,3])",
     2,
     {"Matern(length_scale=[1, 3], nu=2.5)", NULL, NULL,
      "MaternKernel(nu=2.5, ard_num_dims=2).initialize(lengthscale=torch.tensor([1, 3]))", NULL, NULL}},
    {"matern(nu=0.5, ell=4)",
     2,
     {"Matern(length_scale=4, nu=0.5)", NULL, NULL, "MaternKernel(nu=0.5).initialize(lengthscale=4)",
      "laplacedot(sigma=0.25)", "KERNEL=POISSON gamma=4"}},
    {"matern(nu=0.8, ell=4)", 2, {"Matern(length_scale=4, nu=0.8)", NULL, NULL, NULL, NULL, NULL}},
    {"laplace(ell=4)",
     2,
     {"Matern(length_scale=4, nu=0.5)", NULL, NULL, "MaternKernel(nu=0.5).initialize(lengthscale=4)",
      "laplacedot(sigma=0.25)", "KERNEL=POISSON gamma=4"}},
    {"laplace1(ell=4)", 2, {"PairwiseKernel(metric='laplacian', gamma=0.25)", NULL, NULL, NULL, NULL, NULL}},
    {"laplace1(ell=4)",
     1,
     {"PairwiseKernel(metric='laplacian', gamma=0.25)", NULL, NULL, "MaternKernel(nu=0.5).initialize(lengthscale=4)",
      "laplacedot(sigma=0.25)", "KERNEL=POISSON gamma=4"}},
    {"laplace1(ell=[1,2])", 2, {NULL}},
    {"poly(m=3, c=4)",
     2,
     {"DotProduct(sigma_0=2)**3", "SVC(kernel='poly', degree=3, gamma=1, coef0=4)", "-t 1 -d 3 -g 1 -r 4",
      "PolynomialKernel(power=3).initialize(offset=4)", "polydot(degree=3, scale=1, offset=4)", NULL}},
    {"poly(m=2, c=0)",
     2,
     {"PairwiseKernel(metric='poly', gamma=1, pairwise_kernels_kwargs={'degree': 2, 'coef0': 0})",
      "SVC(kernel='poly', degree=2, gamma=1, coef0=0)", "-t 1 -d 2 -g 1 -r 0", NULL,
      "polydot(degree=2, scale=1, offset=0)", NULL}},
    {"linear(c=0)",
     2,
     {"PairwiseKernel(metric='linear')", "SVC(kernel='linear')", "-t 0", "LinearKernel().initialize(variance=1)",
      "vanilladot()", NULL}},
    {"linear(c=9)",
     2,
     {"DotProduct(sigma_0=3)", "SVC(kernel='poly', degree=1, gamma=1, coef0=9)", "-t 1 -d 1 -g 1 -r 9",
      "PolynomialKernel(power=1).initialize(offset=9)", "polydot(degree=1, scale=1, offset=9)", NULL}},
    {"sigmoid(a=2, c=-1)",
     2,
     {"PairwiseKernel(metric='sigmoid', gamma=2, pairwise_kernels_kwargs={'coef0': -1})",
      "SVC(kernel='sigmoid', gamma=2, coef0=-1)", "-t 3 -g 2 -r -1", NULL, "tanhdot(scale=2, offset=-1)", NULL}},
    {"rq(alpha=3, ell=2)",
     2,
     {"RationalQuadratic(length_scale=2, alpha=3)", NULL, NULL, "RQKernel().initialize(lengthscale=2, alpha=3)", NULL,
      NULL}},
    {"periodic(p=12, ell=3)",
     1,
     {"ExpSineSquared(length_scale=3, periodicity=12)", NULL, NULL,
      "PeriodicKernel().initialize(period_length=12, lengthscale=9)", NULL, NULL}},
    {"periodic(p=12, ell=3)",
     2,
     {NULL, NULL, NULL, "PeriodicKernel().initialize(period_length=12, lengthscale=9)", NULL, NULL}},
    {"cosine(p=12)", 1, {NULL, NULL, NULL, "CosineKernel().initialize(period_length=6)", NULL, NULL}},
    {"cosine(p=12)", 2, {NULL}},
    {"chi2(g=2)", 2, {"PairwiseKernel(metric='chi2', gamma=2)", NULL, NULL, NULL, NULL, NULL}},
    {"white()", 2, {"WhiteKernel(noise_level=1)", NULL, NULL, NULL, NULL, NULL}},
    {"wendland(k=1, ell=2)",
     3,
     {NULL, NULL, NULL, "PiecewisePolynomialKernel(q=1).initialize(lengthscale=2)", NULL, NULL}},
    {"wendland(k=0, ell=[1,2])",
     2,
     {NULL, NULL, NULL, "PiecewisePolynomialKernel(q=0, ard_num_dims=2).initialize(lengthscale=torch.tensor([1, 2]))",
      NULL, NULL}},
    {"on(2, wendland(k=2, ell=3))",
     3,
     {NULL, NULL, NULL, "PiecewisePolynomialKernel(q=2, active_dims=(1,)).initialize(lengthscale=3)", NULL, NULL}},
    {"const(3)",
     2,
     {"ConstantKernel(3)", NULL, NULL, "ConstantKernel().initialize(constant=torch.tensor(3))", NULL, NULL}},

    /* no tool has these */
    {"expdot(s=2)", 2, {NULL}},
    {"imq(c=1)", 2, {NULL}},
    {"intersection()", 2, {NULL}},
    {"intpow()", 2, {NULL}},
    {"min()", 2, {NULL}},
    {"monomial(m=2)", 2, {NULL}},
    {"nngp(depth=2)", 2, {NULL}},
    {"ntk(depth=2)", 2, {NULL}},
    {"powexp(p=1.5, ell=1)", 2, {NULL}},
    {"sinc(B=1)", 2, {NULL}},
    {"sobolev(a=2)", 2, {NULL}},
    {"tanimoto()", 2, {NULL}},

    {"2*rbf(ell=1) + 0.5*white()",
     2,
     {"ConstantKernel(2) * RBF(length_scale=1) + ConstantKernel(0.5) * WhiteKernel(noise_level=1)", NULL, NULL, NULL,
      NULL, NULL}},
    {"(rbf(ell=1) + 1)*matern(nu=1.5, ell=2)^2",
     2,
     {"(RBF(length_scale=1) + ConstantKernel(1)) * Matern(length_scale=2, nu=1.5)**2", NULL, NULL, NULL, NULL, NULL}},
    {"poly(m=2, c=1)^2", 2, {"(DotProduct(sigma_0=1)**2)**2", NULL, NULL, NULL, NULL, NULL}},
    {"on(2, rbf(ell=1)) + on([1,3], matern(nu=2.5, ell=[1,2]))",
     3,
     {NULL, NULL, NULL,
      "RBFKernel(active_dims=(1,)).initialize(lengthscale=1) + MaternKernel(nu=2.5, ard_num_dims=2, active_dims=(0, "
      "2)).initialize(lengthscale=torch.tensor([1, 2]))",
      NULL, NULL}},
    {"on(2:3, on(2, rbf(ell=1)))",
     3,
     {NULL, NULL, NULL, "RBFKernel(active_dims=(2,)).initialize(lengthscale=1)", NULL, NULL}},
    {"rbf(ell=1) + min()", 1, {NULL}},
};

static int is_known(const char *text)
{
    gram_kernel *kernel;
    if (gram_kernel_parse(context, text, &kernel) != GRAM_OK) return 0;
    gram_kernel_release(kernel);
    return 1;
}

static void words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++) {
        gram_kernel *kernel = test_kernel(context, TABLE[i].text);
        for (int tool = 0; tool < GRAM_TOOL_COUNT; tool++) {
            const char *want = TABLE[i].words[tool] ? TABLE[i].words[tool] : "";
            char text[400], cut[8];
            size_t length, again;
            OK(context, gram_kernel_words(context, kernel, TABLE[i].d, (gram_tool)tool, text, sizeof text, &length));
            if (strcmp(text, want) != 0)
                FAIL_TEST("%s for %s: '%s' instead of '%s'", TABLE[i].text, gram_tool_name((gram_tool)tool), text,
                          want);
            assert_int_equal(length, strlen(want));
            OK(context, gram_kernel_words(context, kernel, TABLE[i].d, (gram_tool)tool, cut, sizeof cut, &again));
            assert_int_equal(again, length);
            assert_int_equal(strlen(cut), length < sizeof cut ? length : sizeof cut - 1);
            assert_memory_equal(cut, want, strlen(cut));
            OK(context, gram_kernel_words(context, kernel, TABLE[i].d, (gram_tool)tool, NULL, 0, &again));
            assert_int_equal(again, length);
        }
        gram_kernel_release(kernel);
    }
}

static void bad_use(void **state)
{
    (void)state;
    size_t length = 7;
    gram_kernel *kernel = test_kernel(context, "rbf(ell=[1,2])");
    assert_int_equal(gram_kernel_words(NULL, kernel, 2, GRAM_TOOL_LIBSVM, NULL, 0, &length), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_kernel_words(context, NULL, 2, GRAM_TOOL_LIBSVM, NULL, 0, &length), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_kernel_words(context, kernel, 2, GRAM_TOOL_LIBSVM, NULL, 0, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_kernel_words(context, kernel, 2, GRAM_TOOL_LIBSVM, NULL, 9, &length), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_kernel_words(context, kernel, 2, GRAM_TOOL_COUNT, NULL, 0, &length), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_kernel_words(context, kernel, 3, GRAM_TOOL_LIBSVM, NULL, 0, &length), GRAM_ERROR_DIMENSION);
    assert_int_equal(length, 0);
    assert_null(gram_tool_name(GRAM_TOOL_COUNT));
    assert_string_equal(gram_tool_name(GRAM_TOOL_LIBSVM), "LIBSVM");
    gram_kernel_release(kernel);
}

static void least_dimension(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t d; /* 0: none fits */
    } CASES[] = {
        {"rbf", 1},
        {"rbf(ell=[1,2,3])", 3},
        {"rbf(S=[1,0;0,1])", 2},
        {"on(70000, rbf)", 70000},
        {"on(1073741824, rbf) + white()", 1 << 30},
        {"on(3:4, rbf(ell=[1,2]))*rbf", 4},
        {"on(3, rbf) + rbf(ell=[1,2])", 0},
        {"rbf(ell=[1,2]) + rbf(ell=[1,2,3])", 0},
        {"on(1:3, rbf(ell=[1,2]))", 0},
        {"(2 + on(2, min))^2", 2},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        int64_t d = -1;
        gram_kernel *kernel = test_kernel(context, CASES[i].text);
        const gram_status status = gram_kernel_least_dimension(context, kernel, &d);
        if (status != (CASES[i].d ? GRAM_OK : GRAM_ERROR_DIMENSION) || d != CASES[i].d)
            FAIL_TEST("%s: %s, %lld", CASES[i].text, gram_status_name(status), (long long)d);
        gram_kernel_release(kernel);
    }
}

/* Every kernel has a name, a formula and a signature, and name and signature can be read. */
static void table(void **state)
{
    (void)state;
    char text[200];
    int count = 0;
    for (; gram_kernel_name(count); count++) {
        assert_true(strlen(gram_kernel_formula(count)) > 0);
        assert_true(is_known(gram_kernel_name(count)));
        const size_t length = gram_kernel_signature(count, text, sizeof text);
        assert_int_equal(length, strlen(text));
        assert_int_equal(strncmp(text, gram_kernel_name(count), strlen(gram_kernel_name(count))), 0);
        if (strcmp(gram_kernel_name(count), "matern") == 0) assert_string_equal(text, "matern(nu=2.5, ell)");
        if (strcmp(gram_kernel_name(count), "white") == 0) assert_string_equal(text, "white()");
    }
    assert_true(count >= 7);
    assert_null(gram_kernel_formula(count));
    assert_null(gram_kernel_name(-1));
    assert_int_equal(gram_kernel_signature(count, text, sizeof text), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),
        cmocka_unit_test(bad_use),
        cmocka_unit_test(least_dimension),
        cmocka_unit_test(table),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
