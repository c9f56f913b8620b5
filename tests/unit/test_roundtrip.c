/* 10,000 random kernels over the whole table: what is printed reads back to the same kernel, bit for bit, also with
 * white space strewn in. */
#include <math.h>
#include <string.h>

#include "kernel/kernel.h"
#include "support.h"

enum { KERNELS = 10000, TEXT_SIZE = 1 << 16, MOST_NUMBERS = 16 };

static uint64_t random_state;

static int below(int n)
{
    return (int)(test_bits(&random_state) % (uint64_t)n);
}

/* Any double that the spec allows: random bits, or a short decimal number. */
static double random_value(const gram_parameter_spec *spec)
{
    for (;;) {
        double value;
        const uint64_t bits = test_bits(&random_state);
        memcpy(&value, &bits, sizeof value);
        if (below(3) == 0) value = below(1000) / 10.0 - 20;
        if (spec->whole) value = below(100);
        if (gram_parameter_allows(spec, value)) return value;
        if (gram_parameter_allows(spec, -value)) return -value;
    }
}

/* L L' + I with short numbers */
static void random_covariance(int d, double *s)
{
    double l[4][4];
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) l[i][j] = (below(41) - 20) / 10.0;
    for (int i = 0; i < d; i++)
        for (int j = 0; j <= i; j++) {
            s[i * d + j] = i == j;
            for (int k = 0; k < d; k++) s[i * d + j] += l[i][k] * l[j][k];
            s[j * d + i] = s[i * d + j];
        }
}

typedef struct random_argument {
    double values[MOST_NUMBERS];
    unsigned char fixed[MOST_NUMBERS];
} random_argument;

static gram_argument make_argument(const gram_parameter_spec *spec, random_argument *room)
{
    gram_argument argument = {.count = 1, .set = 1, .values = room->values, .fixed = room->fixed};
    if (spec->role == GRAM_ROLE_LENGTH && below(2)) argument.count = 2 + below(4);
    if (spec->role == GRAM_ROLE_COVARIANCE) {
        argument.rows = 1 + below(4);
        argument.count = argument.rows * argument.rows;
        random_covariance((int)argument.rows, room->values);
        memset(room->fixed, below(2), (size_t)argument.count);
        return argument;
    }
    const int all = below(3); /* none, all or some are fixed */
    for (int64_t i = 0; i < argument.count; i++) {
        room->values[i] = random_value(spec);
        room->fixed[i] = (unsigned char)(all == 2 ? below(2) : all);
    }
    return argument;
}

static gram_kernel *random_leaf(gram_context *context)
{
    random_argument room[GRAM_MAX_SPECS];
    gram_argument arguments[GRAM_MAX_SPECS];
    gram_kernel *kernel = NULL;
    int types = 0;
    while (gram_kernel_type_get(types)) types++;
    const gram_kernel_type *type = gram_kernel_type_get(below(types));
    for (int attempt = 0; !kernel; attempt++) {
        int form_done = 0;
        memset(arguments, 0, sizeof arguments);
        for (int i = 0; i < type->spec_count; i++) {
            const gram_role role = type->specs[i].role;
            const int of_form = role == GRAM_ROLE_LENGTH || role == GRAM_ROLE_COVARIANCE;
            /* left out: at random, when a length-scale is there already, or when `refuse` did not like the number */
            if (below(4) == 0 || (of_form && form_done)) continue;
            if (role == GRAM_ROLE_LENGTH && type->spec_count > i + 1 && below(3) == 0) continue;
            if (role == GRAM_ROLE_STRUCTURE && attempt > 20) continue;
            if (role == GRAM_ROLE_STRUCTURE && attempt % 2) {
                static const double HALVES[] = {0.5, 1.5, 2.5};
                arguments[i] = make_argument(&type->specs[i], &room[i]);
                room[i].values[0] = HALVES[below(3)];
                continue;
            }
            form_done |= of_form;
            arguments[i] = make_argument(&type->specs[i], &room[i]);
        }
        (void)gram_kernel_leaf(context, type, arguments, &kernel);
        assert_true(attempt < 100);
    }
    return kernel;
}

static gram_kernel *random_kernel(gram_context *context, int depth);

static gram_kernel *random_on(gram_context *context, int depth)
{
    int64_t columns[12];
    int64_t count = 0, column = below(3);
    gram_kernel *kernel = NULL, *child = random_kernel(context, depth - 1);
    for (int left = 1 + below(12); left > 0; left--) {
        columns[count++] = column;
        column += below(3) ? 1 : 2 + below(1000);
    }
    if (count > 1 && below(3) == 0) { /* any order */
        const int64_t kept = columns[0];
        columns[0] = columns[count - 1];
        columns[count - 1] = kept;
    }
    assert_int_equal(gram_kernel_on(context, count, columns, child, &kernel), GRAM_OK);
    gram_kernel_release(child);
    return kernel;
}

static gram_kernel *random_warp(gram_context *context, int depth)
{
    static const gram_parameter_spec ANY = {.lower = -INFINITY, .upper = INFINITY};
    double matrix[MOST_NUMBERS];
    const int rows = 1 + below(4), columns = 1 + below(4);
    gram_kernel *kernel = NULL, *child = random_kernel(context, depth - 1);
    for (int i = 0; i < rows * columns; i++) matrix[i] = below(4) ? random_value(&ANY) : -0.0;
    assert_int_equal(gram_kernel_warp(context, rows, columns, matrix, child, &kernel), GRAM_OK);
    gram_kernel_release(child);
    return kernel;
}

static gram_kernel *random_kernel(gram_context *context, int depth)
{
    gram_kernel *a = NULL, *b = NULL, *kernel = NULL;
    const int choice = below(8);
    if (depth == 0 || choice == 0) return random_leaf(context);
    if (choice == 1) return random_on(context, depth);
    if (choice == 5) return random_warp(context, depth);
    a = random_kernel(context, depth - 1);
    if (choice >= 6) {
        const gram_status status =
            choice == 6 ? gram_kernel_exp(context, a, &kernel) : gram_kernel_normalize(context, a, &kernel);
        assert_int_equal(status, GRAM_OK);
    } else if (choice == 2) {
        assert_int_equal(gram_kernel_power(context, a, 1 + below(64), &kernel), GRAM_OK);
    } else {
        b = random_kernel(context, depth - 1);
        const gram_status status =
            choice == 3 ? gram_kernel_sum(context, a, b, &kernel) : gram_kernel_multiply(context, a, b, &kernel);
        assert_int_equal(status, GRAM_OK);
    }
    gram_kernel_release(a);
    gram_kernel_release(b);
    return kernel;
}

/* White space wherever it is free: around everything that is not part of a name or a number. */
static void strew(const char *text, char *out)
{
    for (size_t i = 0; text[i]; i++) {
        const int in_number = (text[i] == '+' || text[i] == '-') && i > 0 && text[i - 1] == 'e';
        const int mark = strchr("+*^(),=[];:!", text[i]) && !in_number;
        if (mark && below(3) == 0) *out++ = " \t\n\r"[below(4)];
        *out++ = text[i];
        if (mark && below(3) == 0) *out++ = " \t\n\r"[below(4)];
    }
    *out = 0;
}

static void check_reading(gram_context *context, const gram_kernel *kernel, const char *source, const char *text)
{
    static char again[TEXT_SIZE];
    gram_kernel *read = NULL;
    if (gram_kernel_parse(context, source, &read) != GRAM_OK) fail_msg("%s\n%s", gram_context_message(context), source);
    if (!gram_kernel_equal(kernel, read)) fail_msg("differs: %s", source);
    (void)gram_kernel_print(read, again, sizeof again);
    assert_string_equal(again, text);
    gram_kernel_release(read);
}

static void test_roundtrip(void **state)
{
    static char text[TEXT_SIZE], spaced[3 * TEXT_SIZE];
    gram_context *context = NULL;
    size_t longest = 0;
    (void)state;
    assert_int_equal(gram_context_create(NULL, &context), GRAM_OK);
    const size_t before = gram_context_memory_used(context);
    random_state = 20240229;
    for (int i = 0; i < KERNELS; i++) {
        gram_kernel *kernel = random_kernel(context, below(8));
        const size_t length = gram_kernel_print(kernel, text, sizeof text);
        assert_true(length < sizeof text);
        if (length > longest) longest = length;
        check_reading(context, kernel, text, text);
        strew(text, spaced);
        check_reading(context, kernel, spaced, text);
        gram_kernel_release(kernel);
        assert_int_equal(gram_context_memory_used(context), before);
    }
    assert_true(longest > 1000); /* the generator makes large ones too */
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_roundtrip)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
