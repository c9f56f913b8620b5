/* Numbers as text, whatever the locale.
 *
 * Both directions go through a list of decimal digits and a power of ten without a decimal point, which is the only
 * thing in a number that a locale changes; snprintf and strtod do the arithmetic. A number with at most 15 digits and a
 * power of ten up to 22 needs no strtod: both are doubles without error, so that one multiplication or division
 * rounds correctly (Clinger, "How to read floating point numbers accurately", PLDI 1990). */
#include <gram/text.h>

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A double lies halfway between two numbers of at most 767 digits; what comes after them only says "more". */
enum { MAX_DIGITS = 800, EXACT_DIGITS = 15, EXACT_POWER = 22 };

/* 0.d1 d2 d3 ... * 10^exponent; no digits means 0. One place is for the digit that says "more". */
typedef struct decimal {
    int negative;
    int64_t exponent;
    int count;
    char digits[MAX_DIGITS + 1];
} decimal;

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static double slow_value(const decimal *number)
{
    char text[MAX_DIGITS + 32];
    const int64_t limit = 100000;
    int64_t power = number->exponent - number->count;
    if (power > limit) power = limit;
    if (power < -limit) power = -limit;
    memcpy(text, number->digits, (size_t)number->count);
    (void)snprintf(text + number->count, sizeof text - (size_t)number->count, "e%d", (int)power);
    return strtod(text, NULL);
}

static const double tens[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                             1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static double decimal_value(const decimal *number)
{
    const int64_t power = number->exponent - number->count;
    double value = 0;
    if (number->count <= EXACT_DIGITS && power >= -EXACT_POWER && power <= EXACT_POWER) {
        for (int i = 0; i < number->count; i++) value = 10 * value + (number->digits[i] - '0');
        value = power < 0 ? value / tens[-power] : value * tens[power];
    } else if (number->count > 0) {
        value = slow_value(number);
    }
    return number->negative ? -value : value;
}

/* Appends a digit; zeros before the first other digit do not count. */
static void push_digit(decimal *number, char digit)
{
    if (number->count == 0 && digit == '0') return;
    if (number->count < MAX_DIGITS)
        number->digits[number->count++] = digit;
    else if (digit != '0' && number->count == MAX_DIGITS)
        number->digits[number->count++] = '1';
}

/* Digits and a point from text[at]; returns where they end, `at` if there is no digit. */
static size_t read_digits(const char *text, size_t length, size_t at, decimal *number)
{
    const size_t start = at;
    size_t seen = 0;
    for (; at < length && is_digit(text[at]); at++, seen++) {
        push_digit(number, text[at]);
        if (number->count > 0) number->exponent++;
    }
    if (at < length && text[at] == '.') {
        at++;
        for (; at < length && is_digit(text[at]); at++, seen++) {
            push_digit(number, text[at]);
            if (number->count == 0) number->exponent--;
        }
    }
    return seen > 0 ? at : start;
}

/* "e-12" from text[at]; returns where it ends, `at` if there is none. */
static size_t read_exponent(const char *text, size_t length, size_t at, decimal *number)
{
    const int64_t limit = INT64_MAX / 32;
    size_t i = at;
    int negative = 0;
    int64_t value = 0;
    if (i >= length || (text[i] != 'e' && text[i] != 'E')) return at;
    i++;
    if (i < length && (text[i] == '+' || text[i] == '-')) negative = text[i++] == '-';
    if (i >= length || !is_digit(text[i])) return at;
    for (; i < length && is_digit(text[i]); i++)
        if (value < limit) value = 10 * value + (text[i] - '0');
    number->exponent += negative ? -value : value;
    return i;
}

/* At most 15 digits and a point, no exponent: what most files have. Returns 0 for all else, number or not. */
static size_t parse_short(const char *text, size_t length, double *value)
{
    const size_t start = length > 0 && (text[0] == '-' || text[0] == '+');
    size_t at = start, point = length;
    int64_t whole = 0;
    if (length > start + EXACT_DIGITS + 1) length = start + EXACT_DIGITS + 2;
    for (; at < length; at++) {
        if (is_digit(text[at]))
            whole = 10 * whole + (text[at] - '0');
        else if (text[at] == '.' && point >= length)
            point = at;
        else
            break;
    }
    const size_t has_point = point < at, digits = at - start - has_point;
    if (digits == 0 || digits > EXACT_DIGITS || (at < length && (text[at] == 'e' || text[at] == 'E'))) return 0;
    const double size = (double)whole / tens[has_point ? at - point - 1 : 0];
    *value = text[0] == '-' ? -size : size;
    return at;
}

size_t gram_number_parse(const char *text, size_t length, double *value)
{
    const size_t taken = parse_short(text, length, value);
    if (taken > 0) return taken;
    decimal number;
    number.negative = 0;
    number.exponent = 0;
    number.count = 0;
    size_t start = 0;
    if (length > 0 && (text[0] == '-' || text[0] == '+')) number.negative = text[start++] == '-';
    const size_t digits_end = read_digits(text, length, start, &number);
    if (digits_end == start) return 0;
    const size_t end = read_exponent(text, length, digits_end, &number);
    *value = decimal_value(&number);
    return end;
}

static void strip_zeros(decimal *number)
{
    while (number->count > 1 && number->digits[number->count - 1] == '0') number->count--;
}

/* The digits of |value| to `count` places, correctly rounded, without zeros at the end. */
static void round_to_digits(double value, int count, decimal *number)
{
    char text[64];
    (void)snprintf(text, sizeof text, "%.*e", count - 1, value);
    number->negative = 0;
    number->count = 0;
    const char *c = text;
    for (; *c != 'e'; c++)
        if (is_digit(*c)) number->digits[number->count++] = *c;
    number->exponent = strtol(c + 1, NULL, 10) + 1;
    strip_zeros(number);
}

/* One more in the last of `count` places. */
static void next_above(int count, decimal *number)
{
    while (number->count < count) number->digits[number->count++] = '0';
    int i = count - 1;
    for (; i > 0 && number->digits[i] == '9'; i--) number->digits[i] = '0';
    number->digits[i]++;
    strip_zeros(number);
}

/* 15 digits read back to the same double if any number of at most 15 digits does, and are then that number with zeros
 * at the end. Only subnormals, which have fewer digits, must try all lengths. Below a power of two doubles are twice as
 * dense, so that the nearest number of 16 digits may belong to the next double below and yet the one above it fit. */
static void shortest_digits(double value, decimal *number)
{
    int exponent;
    for (int count = value < DBL_MIN ? 1 : EXACT_DIGITS; count <= DBL_DECIMAL_DIG; count++) {
        round_to_digits(value, count, number);
        if (decimal_value(number) == value) return;
        if (count != EXACT_DIGITS + 1 || frexp(value, &exponent) != 0.5) continue;
        next_above(count, number);
        if (decimal_value(number) == value) return;
    }
}

static char *put_digits(char *text, const decimal *number, int from, int to)
{
    for (int i = from; i < to; i++) *text++ = i >= 0 && i < number->count ? number->digits[i] : '0';
    return text;
}

/* 120, 1.25, 0.00125 */
static char *put_plain(char *text, const decimal *number)
{
    const int point = (int)number->exponent;
    if (point > 0)
        text = put_digits(text, number, 0, point);
    else
        *text++ = '0';
    if (number->count <= point) return text;
    *text++ = '.';
    if (point < 0) text = put_digits(text, number, point, 0);
    return put_digits(text, number, point > 0 ? point : 0, number->count);
}

/* 1e-07, 1.5e+20 */
static char *put_scientific(char *text, const decimal *number)
{
    *text++ = number->digits[0];
    if (number->count > 1) {
        *text++ = '.';
        text = put_digits(text, number, 1, number->count);
    }
    return text + snprintf(text, 8, "e%+03d", (int)number->exponent - 1);
}

char *gram_number_format(double value, char text[GRAM_NUMBER_SIZE])
{
    char *end = text;
    if (isnan(value)) return strcpy(text, "nan");
    if (signbit(value)) *end++ = '-';
    const double size = fabs(value);
    if (isinf(value)) {
        (void)strcpy(end, "inf");
        return text;
    }
    decimal number;
    if (size > 0) shortest_digits(size, &number);
    if (size == 0)
        *end++ = '0';
    else if (number.exponent > -4 && number.exponent <= 16)
        end = put_plain(end, &number);
    else
        end = put_scientific(end, &number);
    *end = '\0';
    return text;
}

char *gram_bytes_format(size_t bytes, char text[GRAM_BYTES_SIZE])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    int unit = 0;
    size_t rest = 0; /* in 1024ths of the unit */
    while (bytes >= 1024) {
        rest = bytes % 1024;
        bytes /= 1024;
        unit++;
    }
    size_t tenths = bytes * 10 + (rest * 10 + 512) / 1024;
    if (tenths >= 10240) {
        tenths = 10;
        unit++;
    }
    if (tenths % 10 == 0)
        (void)snprintf(text, GRAM_BYTES_SIZE, "%zu %s", tenths / 10, units[unit]);
    else
        (void)snprintf(text, GRAM_BYTES_SIZE, "%zu.%zu %s", tenths / 10, tenths % 10, units[unit]);
    return text;
}
