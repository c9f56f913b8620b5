/* Machines of every kind against LIBSVM's svm-train: reference/svm.txt, made by reference/make_svm.py. */
#include <stdio.h>

#include "svm_check.h"

enum { CLASSES = 3, MOST_OUTPUTS = 3, MOST_SHOWN = 20 };

static double read_number(FILE *file)
{
    double value;
    if (fscanf(file, "%lf", &value) != 1) FAIL_TEST("svm.txt ends early");
    return value;
}

typedef struct machine {
    char kernel[80];
    gram_svm_options options;
    double weights[CLASSES], objective, rho[MOST_OUTPUTS], values[MOST_SHOWN * MOST_OUTPUTS];
    int outputs;
} machine;

static void read_machine(FILE *file, int shown, machine *m)
{
    if (fscanf(file, " %79[^\n]", m->kernel) != 1) FAIL_TEST("svm.txt ends early");
    m->options = svm_options((gram_svm_kind)read_number(file));
    m->options.C = read_number(file);
    m->options.nu = read_number(file);
    m->options.epsilon = read_number(file);
    for (int c = 0; c < CLASSES; c++) m->weights[c] = read_number(file);
    m->objective = read_number(file);
    m->outputs = (int)read_number(file);
    assert_in_range(m->outputs, 1, MOST_OUTPUTS);
    for (int o = 0; o < m->outputs; o++) m->rho[o] = read_number(file);
    for (int i = 0; i < shown * m->outputs; i++) m->values[i] = read_number(file);
    m->options.tolerance = m->options.kind == GRAM_SVM_NU ? 1e-7 : 1e-6; /* its objective is scaled by the margin */
    if (m->options.kind == GRAM_SVM_C) m->options.class_weights = m->weights;
}

/* svm-train prints six decimals of each pair's objective. */
static const double PRINTED = 2e-6;

/* The objective to 1e-6 and decision values to 1e-4 of their size; so labels agree wherever a decision is above that. */
static void check_machine(gram_context *context, const svm_sample *s, const machine *m, int shown)
{
    gram_svm *svm = svm_fit(context, m->kernel, s, &m->options);
    const gram_svm_report *r = gram_svm_get_report(svm);
    gram_points *x = test_points(context, shown, s->d, s->x);
    double *f = test_numbers(shown * m->outputs);
    assert_int_equal(r->outputs, m->outputs);
    if (fabs(r->objective - m->objective) > 1e-6 * fabs(m->objective) + PRINTED)
        FAIL_TEST("%s, kind %d: objective %.10g, LIBSVM %.10g", m->kernel, (int)r->kind, r->objective, m->objective);
    OK(context, gram_svm_predict(context, svm, x, NULL, f, NULL));
    for (int o = 0; o < m->outputs; o++)
        if (fabs(gram_svm_pairs(svm)[o].constant + m->rho[o]) > 1e-4 * (1 + fabs(m->rho[o])))
            FAIL_TEST("%s, kind %d: b = %g, LIBSVM's rho %g", m->kernel, (int)r->kind, gram_svm_pairs(svm)[o].constant,
                      m->rho[o]);
    for (int i = 0; i < shown * m->outputs; i++)
        if (fabs(f[i] - m->values[i]) > 1e-4 * (1 + fabs(f[i])))
            FAIL_TEST("%s, kind %d: value %d is %.10g, LIBSVM %.10g", m->kernel, (int)r->kind, i, f[i], m->values[i]);
    free(f);
    gram_points_release(x);
    gram_svm_destroy(svm);
}

static void test_reference(void **state)
{
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    FILE *file = test_open_reference("svm.txt");
    if (fscanf(file, "%*[^\n]") != 0) FAIL_TEST("svm.txt has no first line");
    const int n = (int)read_number(file), d = (int)read_number(file), shown = (int)read_number(file);
    const int count = (int)read_number(file);
    assert_in_range(shown, 1, MOST_SHOWN);
    svm_sample s = {n, d, CLASSES, test_numbers(n * d), test_numbers(n), test_numbers(n)};
    for (int i = 0; i < n; i++) {
        for (int l = 0; l < d; l++) s.x[i * d + l] = read_number(file);
        s.labels[i] = read_number(file);
        s.targets[i] = read_number(file);
    }
    for (int k = 0; k < count; k++) {
        machine m;
        read_machine(file, shown, &m);
        check_machine(context, &s, &m, shown);
        m.options.cache_bytes = 60000; /* the large solver */
        check_machine(context, &s, &m, shown);
    }
    fclose(file);
    svm_sample_free(&s);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
