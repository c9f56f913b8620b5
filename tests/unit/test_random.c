/* Random numbers: the published answers of Philox, agreement of sub-ranges, and the distributions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/random.h>

#include "support.h"

enum { COUNT = 200000 };

static double SAMPLE[COUNT];

/* Key 0 and counter 0 give 6627e8d5 e169c58d bc57ac4c 9b00dbd8; key and counter of all ones give 408f276d 41c83b0e
 * a20bc7c6 6d5451fd (Random123's own test vectors). */
static void test_known_answers(void **state)
{
    (void)state;
    double u[2];
    gram_random_uniform((gram_random){0, 0}, 0, 2, u);
    assert_true(u[0] == ((double)(0xe169c58d6627e8d5 >> 12) + 0.5) / 0x1p52);
    assert_true(u[1] == ((double)(0x9b00dbd8bc57ac4c >> 12) + 0.5) / 0x1p52);
    const double radius = sqrt(-2 * log(0x41c83b0e408f276dp-64)), angle = 2 * acos(-1.0) * 0x6d5451fda20bc7c6p-64;
    gram_random_normal((gram_random){UINT64_MAX, UINT64_MAX}, UINT64_MAX - 1, 2, u);
    assert_true(fabs(u[0] - radius * cos(angle)) < 1e-14);
    assert_true(fabs(u[1] - radius * sin(angle)) < 1e-14);
}

/* Number i is the same whichever range it is made in. */
static void test_ranges(void **state)
{
    (void)state;
    enum { N = 101 };
    const gram_random random = {42, 7};
    double whole[N], part[N + 1];
    for (int normal = 0; normal < 2; normal++) {
        void (*make)(gram_random, uint64_t, int64_t, double *) = normal ? gram_random_normal : gram_random_uniform;
        make(random, 0, N, whole);
        for (int first = 0; first < N; first++) {
            for (int count = 0; first + count <= N; count++) {
                part[count] = -77;
                make(random, (uint64_t)first, count, part);
                assert_memory_equal(part, whole + first, (size_t)count * sizeof *part);
                assert_true(part[count] == -77);
            }
        }
        make(random, UINT64_MAX - 3, 3, part);
        make(random, UINT64_MAX - 2, 2, whole);
        assert_true(part[1] == whole[0] && part[2] == whole[1]);
    }
}

static void test_streams_differ(void **state)
{
    (void)state;
    const gram_random randoms[] = {{0, 0}, {1, 0}, {0, 1}, {(uint64_t)1 << 32, 0}, {0, (uint64_t)1 << 32}};
    double first[6];
    for (int i = 0; i < 5; i++) gram_random_uniform(randoms[i], 0, 1, first + i);
    gram_random_uniform(randoms[0], (uint64_t)1 << 33, 1, first + 5);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < i; j++) assert_true(first[i] != first[j]);
}

/* sqrt(n) times the Kolmogorov-Smirnov distance; above 1.95 with probability 0.001. */
static double kolmogorov(double (*cdf)(double))
{
    double most = 0;
    test_sort(COUNT, SAMPLE);
    for (int i = 0; i < COUNT; i++) {
        const double p = cdf(SAMPLE[i]);
        most = fmax(most, fmax((i + 1.0) / COUNT - p, p - (double)i / COUNT));
    }
    return sqrt(COUNT) * most;
}

static double identity(double x)
{
    return x;
}

static double normal_cdf(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

/* Mean of the sample's k-th power, and of products of neighbours. */
static double moment(int k)
{
    double sum = 0;
    for (int i = 0; i < COUNT; i++) sum += pow(SAMPLE[i], k);
    return sum / COUNT;
}

static double neighbours(int lag)
{
    double sum = 0;
    for (int i = 0; i + lag < COUNT; i++) sum += SAMPLE[i] * SAMPLE[i + lag];
    return sum / (COUNT - lag);
}

static void test_uniforms(void **state)
{
    (void)state;
    gram_random_uniform((gram_random){2024, 1}, 1, COUNT, SAMPLE);
    for (int i = 0; i < COUNT; i++) assert_true(SAMPLE[i] > 0 && SAMPLE[i] < 1);
    assert_true(fabs(moment(1) - 0.5) < 4 * sqrt(1.0 / 12 / COUNT));
    assert_true(fabs(moment(2) - 1.0 / 3) < 4 * sqrt(4.0 / 45 / COUNT));
    for (int lag = 1; lag < 5; lag++) assert_true(fabs(neighbours(lag) - 0.25) < 4 * sqrt(7.0 / 144 / COUNT) * 1.5);
    assert_true(kolmogorov(identity) < 1.95);
}

static void test_normal(void **state)
{
    (void)state;
    gram_random_normal((gram_random){2024, 1}, 0, COUNT, SAMPLE);
    assert_true(fabs(moment(1)) < 4 * sqrt(1.0 / COUNT));
    assert_true(fabs(moment(2) - 1) < 4 * sqrt(2.0 / COUNT));
    assert_true(fabs(moment(3)) < 4 * sqrt(15.0 / COUNT));
    assert_true(fabs(moment(4) - 3) < 4 * sqrt(96.0 / COUNT));
    for (int lag = 1; lag < 5; lag++) assert_true(fabs(neighbours(lag)) < 4 * sqrt(1.0 / COUNT));
    assert_true(kolmogorov(normal_cdf) < 1.95);
}

/* Uniform and normal numbers of one stream share no bits. */
static void test_uniform_and_normal(void **state)
{
    (void)state;
    static double uniform[COUNT];
    double sum = 0;
    gram_random_uniform((gram_random){5, 1}, 0, COUNT, uniform);
    gram_random_normal((gram_random){5, 1}, 0, COUNT, SAMPLE);
    for (int i = 0; i < COUNT; i += 2)
        sum += (uniform[i] - 0.5) * (SAMPLE[i] * SAMPLE[i] + SAMPLE[i + 1] * SAMPLE[i + 1] - 2);
    assert_true(fabs(sum / (COUNT / 2)) < 4 * sqrt(4.0 / 12 / (COUNT / 2)));
}

static void test_permutation_is_one(void **state)
{
    (void)state;
    enum { N = 1000 };
    static int64_t order[N + 1], other[N];
    static char seen[N];
    for (int n = 0; n <= N; n += n < 10 ? 1 : 90) {
        memset(seen, 0, sizeof seen);
        order[n] = -5;
        gram_random_permutation((gram_random){1, 2}, 3, n, order);
        for (int i = 0; i < n; i++) {
            assert_true(order[i] >= 0 && order[i] < n && !seen[order[i]]);
            seen[order[i]] = 1;
        }
        assert_true(order[n] == -5);
    }
    gram_random_permutation((gram_random){1, 2}, 3, N, order);
    gram_random_permutation((gram_random){1, 2}, 3, N, other);
    assert_memory_equal(order, other, sizeof other);
    gram_random_permutation((gram_random){1, 2}, 4, N, other);
    assert_memory_not_equal(order, other, sizeof other);
}

/* Chi-square of the 24 permutations of 4: 23 degrees of freedom, above 49.7 with probability 0.001. */
static void test_permutations_equally_likely(void **state)
{
    (void)state;
    enum { TRIALS = 48000 };
    int counts[256] = {0};
    for (int which = 0; which < TRIALS; which++) {
        int64_t p[4];
        gram_random_permutation((gram_random){11, 0}, (uint64_t)which, 4, p);
        counts[p[0] * 64 + p[1] * 16 + p[2] * 4 + p[3]]++;
    }
    double chi_square = 0;
    int kinds = 0;
    for (int i = 0; i < 256; i++) {
        if (counts[i] == 0) continue;
        kinds++;
        chi_square += pow(counts[i] - TRIALS / 24.0, 2) / (TRIALS / 24.0);
    }
    assert_int_equal(kinds, 24);
    assert_true(chi_square < 49.7);
}

/* Each of the rows is in the sample with the same probability. */
static void test_reservoir(void **state)
{
    enum { ROWS = 40, ROOM = 10, DRAWS = 4000 };
    int64_t kept[ROOM], counts[ROWS] = {0};
    (void)state;
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        for (int64_t row = 0; row < ROWS; row++) {
            const int64_t place = gram_random_reservoir((gram_random){seed, 1}, row, ROOM);
            assert_true(place >= -1 && place < ROOM && (row >= ROOM || place == row));
            if (place >= 0) kept[place] = row;
        }
        for (int k = 0; k < ROOM; k++) counts[kept[k]]++;
    }
    /* binomial: 1000 on average, deviation 27 */
    for (int row = 0; row < ROWS; row++)
        if (llabs((long long)counts[row] - 1000) > 130)
            FAIL_TEST("row %d was kept %lld times", row, (long long)counts[row]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_streams_differ),
        cmocka_unit_test(test_uniforms),
        cmocka_unit_test(test_normal),
        cmocka_unit_test(test_uniform_and_normal),
        cmocka_unit_test(test_permutation_is_one),
        cmocka_unit_test(test_permutations_equally_likely),
        cmocka_unit_test(test_reservoir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
