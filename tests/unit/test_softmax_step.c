/* Newton steps of softmax by conjugate gradients against the equations themselves, written out row by row and class by class. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve/likelihood/likelihood_softmax.h"
#include "support.h"

enum { N = 30, CLASSES = 3, FREE = 2, NUMBERS = N * CLASSES };

typedef struct system {
    double x[N * 2], y[N], w[N], t[N * FREE];
    double a[NUMBERS], b[FREE * CLASSES], p[NUMBERS], r[NUMBERS], kr[NUMBERS], g[NUMBERS];
    double da[NUMBERS], kda[NUMBERS], db[FREE * CLASSES];
    gram_loss_matrix k;
    gram_softmax_mode mode;
} system_of;

static void times_k(const system_of *s, const double *v, double *out)
{
    for (int i = 0; i < N; i++)
        for (int c = 0; c < CLASSES; c++) {
            out[i * CLASSES + c] = 0;
            for (int j = 0; j < N; j++) out[i * CLASSES + c] += s->k.k[i * N + j] * v[j * CLASSES + c];
        }
}

/* Any place (a, b), its probabilities and what is left over there. */
static void make(gram_context *c, system_of *s)
{
    double *u = test_random(3, 2 * N, 0, 3), *v = test_random(4, NUMBERS, -1, 1);
    gram_kernel *kernel = test_kernel(c, "rbf(ell=1)");
    memset(s, 0, sizeof *s);
    memcpy(s->x, u, sizeof s->x);
    memcpy(s->a, v, sizeof s->a);
    for (int i = 0; i < N; i++) {
        s->y[i] = i % CLASSES;
        s->w[i] = 1 + i % 2;
        s->t[i * FREE] = 1;
        s->t[i * FREE + 1] = s->x[2 * i];
    }
    gram_points *points = test_points(c, N, 2, s->x);
    OK(c, gram_loss_matrix_make(c, kernel, points, &s->k));
    s->mode = (gram_softmax_mode){.k = &s->k,
                                  .classes = CLASSES,
                                  .y = s->y,
                                  .weights = s->w,
                                  .c = 0.01,
                                  .q = FREE,
                                  .unpenalised = s->t,
                                  .a = s->a,
                                  .b = s->b,
                                  .p = s->p};
    times_k(s, s->a, s->p);
    for (int i = 0; i < N; i++) {
        double *p = s->p + i * CLASSES;
        (void)gram_softmax_row(CLASSES, p, p);
        for (int k = 0; k < CLASSES; k++) {
            const int at = i * CLASSES + k;
            s->g[at] = s->w[i] * ((k == i % CLASSES) - p[k]);
            s->r[at] = s->g[at] - s->mode.c * s->a[at];
        }
    }
    times_k(s, s->r, s->kr);
    gram_points_release(points);
    gram_kernel_release(kernel);
    free(u), free(v);
}

/* c da + D(K da + T db) = r and T'D(K da + T db) = T'g, to `tolerance` of the largest right-hand side. */
static void check_equations(const system_of *s, double tolerance)
{
    double h[NUMBERS], free_left[FREE * CLASSES] = {0}, k_da[NUMBERS];
    times_k(s, s->da, k_da);
    for (int i = 0; i < N; i++)
        for (int c = 0; c < CLASSES; c++) {
            const double *p = s->p + i * CLASSES;
            double sum = 0;
            assert_true(fabs(k_da[i * CLASSES + c] - s->kda[i * CLASSES + c]) < 1e-6);
            for (int j = 0; j < CLASSES; j++) {
                double value = k_da[i * CLASSES + j];
                for (int l = 0; l < FREE; l++) value += s->t[i * FREE + l] * s->db[l * CLASSES + j];
                sum += s->w[i] * ((c == j) * p[c] - p[c] * p[j]) * value;
            }
            h[i * CLASSES + c] = sum;
            for (int l = 0; l < FREE; l++)
                free_left[l * CLASSES + c] += s->t[i * FREE + l] * (s->g[i * CLASSES + c] - sum);
        }
    for (int k = 0; k < FREE * CLASSES; k++) assert_true(fabs(free_left[k]) < tolerance);
    double norm = 0, left[NUMBERS], k_left[NUMBERS];
    for (int k = 0; k < NUMBERS; k++) left[k] = s->mode.c * s->da[k] + h[k] - s->r[k];
    times_k(s, left, k_left);
    for (int k = 0; k < NUMBERS; k++) norm += left[k] * k_left[k];
    assert_true(sqrt(fmax(0, norm)) < tolerance);
}

static void test_equations(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    static system_of s;
    make(c, &s);
    gram_softmax_step step = {&s.mode, s.r, s.kr, 1e-10, 500, s.da, s.kda, s.db, 0, 0};
    OK(c, gram_softmax_step_iterate(c, &step));
    assert_true(step.solved && step.iterations > 5 && step.iterations < 200);
    check_equations(&s, 1e-6);
    step.most = 2;
    OK(c, gram_softmax_step_iterate(c, &step));
    assert_true(!step.solved && step.iterations == 2);
    gram_loss_matrix_free(c, &s.k);
    gram_context_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_equations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
