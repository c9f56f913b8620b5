/* The number parser against strtod, bit by bit: random doubles in 17 and in the fewest digits, random decimals, numbers at
 * and beside the middle between two doubles, subnormals, huge exponents. ROUNDS of each kind. */
#define _GNU_SOURCE
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#ifndef ROUNDS
#define ROUNDS 300000
#endif

static locale_t plain; /* in which strtod takes a point */
static uint64_t seed = 7;

static void check(const char *text)
{
    double value;
    const size_t length = strlen(text);
    const double wanted = strtod_l(text, NULL, plain);
    if (gram_number_parse(text, length, &value) != length || test_to_bits(value) != test_to_bits(wanted))
        FAIL_TEST("%s is read as %a, not as %a", text, value, wanted);
}

/* The text of a number, with a point whatever the locale. */
static void print(char *text, size_t size, const char *format, int digits, double value)
{
    const locale_t before = uselocale(plain);
    (void)snprintf(text, size, format, digits, value);
    uselocale(before);
}

static double random_double(void)
{
    for (;;) {
        const double value = test_from_bits(test_bits(&seed));
        if (isfinite(value)) return value;
    }
}

static void test_seventeen_digits(void **state)
{
    (void)state;
    char text[64];
    for (long i = 0; i < ROUNDS; i++) {
        print(text, sizeof text, "%.*g", 17, random_double());
        check(text);
        print(text, sizeof text, "%.*g", 17, (double)(int64_t)test_bits(&seed) * 0x1p-62); /* as data have them */
        check(text);
        print(text, sizeof text, "%.*f", 6 + (int)(i % 15), (double)(int64_t)test_bits(&seed) * 0x1p-50);
        check(text);
    }
}

static void test_fewest_digits(void **state)
{
    (void)state;
    char text[GRAM_NUMBER_SIZE];
    for (long i = 0; i < ROUNDS / 4; i++) check(gram_number_format(random_double(), text));
}

/* 1 to 25 digits with a point somewhere and an exponent now and then. */
static void test_decimals(void **state)
{
    (void)state;
    char text[64];
    for (long i = 0; i < ROUNDS; i++) {
        const int digits = 1 + (int)(test_bits(&seed) % 25), point = (int)(test_bits(&seed) % (uint64_t)(digits + 1));
        size_t at = 0;
        if (test_bits(&seed) % 2) text[at++] = '-';
        for (int k = 0; k < digits; k++) {
            if (k == point) text[at++] = '.';
            text[at++] = (char)('0' + test_bits(&seed) % 10);
        }
        text[at] = '\0';
        if (test_bits(&seed) % 2) (void)sprintf(text + at, "e%d", (int)(test_bits(&seed) % 700) - 350);
        check(text);
    }
}

/* All digits of the middle between a double and the next one, and its neighbours in the last place. */
static void test_ties(void **state)
{
    (void)state;
    char text[1200];
    for (long i = 0; i < ROUNDS / 8; i++) {
        /* as a long double the middle has no error; mostly of a size that prints few digits */
        const int exponent = i % 4 ? (int)(test_bits(&seed) % 120) - 60 : (int)(test_bits(&seed) % 2000) - 1000;
        const double value = ldexp(1 + (double)(test_bits(&seed) >> 12) * 0x1p-52, exponent);
        const long double middle = ((long double)value + (long double)nextafter(value, INFINITY)) / 2;
        const locale_t before = uselocale(plain);
        (void)snprintf(text, sizeof text, "%.800Lg", middle);
        uselocale(before);
        check(text);
        if (strpbrk(text, "e")) continue;
        strcat(text, strchr(text, '.') ? "1" : ".00000000000000000000000000001");
        check(text);
        text[strlen(text) - 1] = '0';
        check(text);
    }
    /* whole numbers between 2^53 and 2^64: every second, fourth, ... is a tie */
    for (long i = 0; i < ROUNDS; i++) {
        (void)sprintf(text, "%llu", (unsigned long long)(test_bits(&seed) >> (i % 12)));
        check(text);
    }
}

static void test_edges(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.2250738585072014e-308",
        "2.2250738585072011e-308",
        "2.225073858507201136057409796709131975934819546351645648023426109724822222021076945516"
        "52952390813508791414915891303962110687008643869459464552765720740782062174337998814106326732925355228688137214"
        "9012"
        "98112245145188984905722230728525513315575501591439747639798341180199932396254826310e-308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1.797693134862315808e308",
        "1e308",
        "1e309",
        "-1e999999999999999999999",
        "1e-999999999999999999999",
        "0e999999999999",
        "-0",
        "0.0e-5",
        "9007199254740993",
        "9007199254740993.0",
        "9007199254740992.9999999999999999999",
        "9007199254740993e0",
        "18446744073709551615",
        "18446744073709551616",
        "9999999999999999999",
        "99999999999999999999",
        "1e22",
        "1e23",
        "8.5e22",
        "123456789012345678901234567890",
        "0.000000000000000000000000000000123456789012345678",
        "00000000000000000000000000000001.5",
        "1000000000000000000000000000000000000000e-39",
        "12345678",
        "1234567",
        ".12345678",
        ".1234567",
        ".123456789",
        "1.2345678e5",
        "0.12345678e-5",
        "5e-324",
        "3e-324",
        "2e-324"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) check(texts[i]);
    char text[64];
    for (int power = -360; power < 330; power++) {
        (void)sprintf(text, "1e%d", power);
        check(text);
        (void)sprintf(text, "9999999999999999999e%d", power - 19);
        check(text);
        for (int i = 0; i < 50; i++) {
            (void)sprintf(text, "%llue%d", (unsigned long long)test_bits(&seed) % 10000000000000000000u, power - 19);
            check(text);
        }
    }
    for (long i = 0; i < ROUNDS / 10; i++) { /* subnormals and just above */
        print(text, sizeof text, "%.*g", 17, test_from_bits(test_bits(&seed) >> (11 + i % 53)));
        check(text);
    }
}

int main(void)
{
    setlocale(LC_ALL, "");
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seventeen_digits),
        cmocka_unit_test(test_fewest_digits),
        cmocka_unit_test(test_decimals),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_edges),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    freelocale(plain);
    return failed;
}
