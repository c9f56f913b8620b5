/* Numbers as text, whatever the locale.
 *
 * Reading: the digits become a whole number w of up to 19 digits, eight at a time, and a power of ten q. If w and 10^|q|
 * are doubles without error, one multiplication or division rounds correctly (Clinger, "How to read floating point
 * numbers accurately", PLDI 1990). Otherwise w is multiplied by the leading 128 bits of 5^q from a table; the product is
 * known to within two units of its 128th bit, and 53 bits of it are the double unless it lies just between two (the idea
 * of Eisel and Lemire, "Number parsing at a gigabyte per second", 2021). What is left, one number in some 2^70 and those
 * that are subnormal or huge, goes through a list of decimal digits and strtod, which is exact but slow.
 *
 * Writing goes through such a list too, which snprintf makes. The lists have no decimal point, the only thing in a number
 * that a locale changes. */
#include <gram/text.h>

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text/number.h"
#include "base/text/powers_of_five.h"

/* A double lies halfway between two numbers of at most 767 digits; what comes after them only says "more". */
enum { MAX_DIGITS = 800, EXACT_DIGITS = 15, EXACT_POWER = 22, WORD_DIGITS = 19 };

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

/* "e-12" from text[at] is added to *exponent; returns where it ends, `at` if there is none. */
static size_t read_exponent(const char *text, size_t length, size_t at, int64_t *exponent)
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
    *exponent += negative ? -value : value;
    return i;
}

/* Any number without a sign, by the list of its digits. */
static double parse_slowly(const char *text, size_t length)
{
    decimal number;
    number.negative = 0;
    number.exponent = 0;
    number.count = 0;
    const size_t digits_end = read_digits(text, length, 0, &number);
    (void)read_exponent(text, length, digits_end, &number.exponent);
    return decimal_value(&number);
}

/* The digits of |number| as a whole number, whole * 10^power. */
typedef struct scanned {
    uint64_t whole; /* the first 19 digits if there are more */
    int64_t power;
    int more; /* digits were left out */
} scanned;

/* Eight digits 0 .. 9, the first in the lowest byte: neighbours are joined to two, four, eight digits. */
GRAM_INLINE uint64_t join_digits(uint64_t ones)
{
    const uint64_t twos = (ones * 10 + (ones >> 8)) & 0x00FF00FF00FF00FFu;
    const uint64_t fours = (twos * 100 + (twos >> 16)) & 0x0000FFFF0000FFFFu;
    return (fours * 10000 + (fours >> 32)) & 0xFFFFFFFFu;
}

/* Appends the digits at text[at] to *whole, modulo 2^64; returns where they end. Eight bytes at a time, also the last of
 * them: how many digits a number has is hard to predict, and a wrong guess of the processor costs more than all else. */
GRAM_INLINE size_t scan_digits(const char *text, size_t length, size_t at, uint64_t *whole)
{
    static const uint64_t tens_of[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    uint64_t value = *whole, bytes;
    while (length - at >= 8) {
        memcpy(&bytes, text + at, 8);
        bytes ^= 0x3030303030303030u; /* digits become 0 .. 9; what is above gets its high bit from the sum */
        const uint64_t others = ((bytes + 0x7676767676767676u) | bytes) & 0x8080808080808080u;
        if (others) {
            const int digits = __builtin_ctzll(others) / 8;
            bytes = bytes << 1 << (63 - 8 * digits); /* to the end, zeros before them */
            *whole = value * tens_of[digits] + join_digits(bytes);
            return at + (size_t)digits;
        }
        value = value * 100000000 + join_digits(bytes);
        at += 8;
    }
    for (; at < length && is_digit(text[at]); at++) value = 10 * value + (uint64_t)(text[at] - '0');
    *whole = value;
    return at;
}

/* More than 19 digits from text[start] to text[end]: keeps the first 19 that count. */
static void shorten(const char *text, size_t start, size_t end, scanned *number)
{
    int kept = 0, past_point = 0;
    number->whole = 0;
    number->power = 0;
    for (size_t i = start; i < end; i++) {
        if (text[i] == '.') {
            past_point = 1;
            continue;
        }
        const uint64_t digit = (uint64_t)(text[i] - '0');
        if (kept < WORD_DIGITS) {
            number->whole = 10 * number->whole + digit;
            kept += number->whole > 0;
            number->power -= past_point;
        } else {
            number->more |= digit > 0;
            number->power += !past_point;
        }
    }
}

static size_t leading_zeros(const char *text, size_t start, size_t end)
{
    size_t zeros = 0;
    for (size_t i = start; i < end && (text[i] == '0' || text[i] == '.'); i++) zeros += text[i] == '0';
    return zeros;
}

/* The number at text[start], without its sign; returns where it ends, `start` if there is none. */
GRAM_INLINE size_t scan(const char *text, size_t length, size_t start, scanned *number)
{
    uint64_t whole = 0;
    size_t at = start;
    /* the digits before the point are few */
    for (; at < length && is_digit(text[at]); at++) whole = 10 * whole + (uint64_t)(text[at] - '0');
    size_t digits = at - start, fraction = 0;
    if (at < length && text[at] == '.') {
        const size_t point = at++;
        at = scan_digits(text, length, at, &whole);
        fraction = at - point - 1;
        digits += fraction;
    }
    if (digits == 0) return start;
    *number = (scanned){whole, -(int64_t)fraction, 0};
    if (digits > WORD_DIGITS && digits - leading_zeros(text, start, at) > WORD_DIGITS) shorten(text, start, at, number);
    return read_exponent(text, length, at, &number->power);
}

/* whole * 10^power, correctly rounded; 0 if this way does not tell it.
 *
 * With w normalised to 64 bits and F the first 128 bits of 5^power, x = floor(w F / 2^64) has 127 or 128 bits, and the
 * number is t 2^k with x <= t < x + 2. Its 53 bits are those of x, rounded up if the rest r of x is above one half and
 * down if r + 2 is at most one half. When r is one half itself it is a tie if nothing was cut off. */
GRAM_INLINE int multiply(uint64_t whole, int64_t power, double *value)
{
    if (power < LEAST_POWER || power > GREATEST_POWER) return 0;
    const int exact = power >= 0 && power <= 55; /* 5^55 < 2^128 */
    const int zeros = __builtin_clzll(whole);
    const uint64_t w = whole << zeros;
    const gram_uint128 low = (gram_uint128)w * powers_of_five[power - LEAST_POWER].low;
    const gram_uint128 x = (gram_uint128)w * powers_of_five[power - LEAST_POWER].high + (uint64_t)(low >> 64);
    const uint64_t head = (uint64_t)(x >> 64), tail = (uint64_t)x;
    const int top = (int)(head >> 63); /* x has 128 bits */
    const int shift = 10 + top;
    const uint64_t rest = head & (((uint64_t)1 << shift) - 1), half = (uint64_t)1 << (shift - 1);
    uint64_t mantissa = head >> shift;
    /* floor(log2(10^power)), kept positive while it is shifted */
    const int64_t log2 = ((power * 217706 + (1 << 30)) >> 16) - (1 << 14);
    const int64_t exponent = log2 + 63 + top - zeros;
    if (exponent < -1021 || exponent > 1021) return 0;
    const int is_half = rest == half && tail == 0;
    if ((rest == half - 1 && tail == UINT64_MAX) || (is_half && !exact)) return 0;
    const int tie = is_half && (uint64_t)low == 0;
    mantissa += tie ? mantissa & 1 : rest >= half;
    const uint64_t bits = ((uint64_t)(exponent + 1022) << 52) + mantissa; /* mantissa's first bit adds 1 to 1022 */
    memcpy(value, &bits, sizeof bits);
    return 1;
}

/* Digits were left out: the number lies between whole and whole + 1, and is known if both are the same double. */
static int convert_long(const scanned *number, double *value)
{
    double above;
    return multiply(number->whole, number->power, value) && multiply(number->whole + 1, number->power, &above) &&
           above == *value;
}

/* Short numbers by one operation; a limit below 2^53 keeps long ones, of which some have zeros at the end, together. */
GRAM_INLINE int convert(const scanned *number, double *value)
{
    const uint64_t limit = 1000000000000;
    if (number->whole <= limit && number->power >= -EXACT_POWER && number->power <= EXACT_POWER) {
        const double whole = (double)(int64_t)number->whole;
        *value = number->power < 0 ? whole / tens[-number->power] : whole * tens[number->power];
        return 1;
    }
    if (number->whole == 0) {
        *value = 0;
        return 1;
    }
    return number->more ? convert_long(number, value) : multiply(number->whole, number->power, value);
}

size_t gram_number_read(const char *text, size_t length, double *value)
{
    scanned number;
    double size;
    uint64_t bits;
    if (length == 0) return 0;
    /* signs are hard to predict too */
    const unsigned negative = text[0] == '-', start = negative | (text[0] == '+');
    const size_t end = scan(text, length, start, &number);
    if (end == start) return 0;
    if (!convert(&number, &size)) size = parse_slowly(text + start, end - start);
    memcpy(&bits, &size, sizeof bits);
    bits |= (uint64_t)negative << 63;
    memcpy(value, &bits, sizeof bits);
    return end;
}

size_t gram_number_parse(const char *text, size_t length, double *value)
{
    return gram_number_read(text, length, value);
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
    if (isinf(value) || value == 0) {
        (void)strcpy(end, value == 0 ? "0" : "inf");
        return text;
    }
    decimal number;
    shortest_digits(fabs(value), &number);
    if (number.exponent > -4 && number.exponent <= 16)
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

int gram_bytes_parse(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGTP";
    double value;
    const size_t taken = gram_number_parse(text, strlen(text), &value);
    const char *rest = text + taken;
    if (taken == 0) return 0;
    const char upper = *rest >= 'a' && *rest <= 'z' ? (char)(*rest - 'a' + 'A') : *rest;
    const char *unit = upper ? strchr(units, upper) : NULL;
    if (unit) {
        for (const char *u = units; u <= unit; u++) value *= 1024;
        rest++;
        if (*rest == 'i' && rest[1] == 'B') rest++;
    }
    if (*rest == 'B') rest++;
    if (*rest != '\0' || !(value >= 1) || value >= 9e18) return 0;
    *bytes = (uint64_t)value;
    return 1;
}

int gram_seconds_parse(const char *text, double *seconds)
{
    double value;
    const char *rest = text + gram_number_parse(text, strlen(text), &value);
    if (rest == text) return 0;
    const double unit = *rest == 'm' ? 60 : *rest == 'h' ? 3600 : 1;
    if (*rest == 's' || unit > 1) rest++;
    if (*rest != '\0' || !(value > 0) || !(value < 1e9)) return 0;
    *seconds = value * unit;
    return 1;
}

char *gram_count_format(int64_t count, char text[GRAM_NUMBER_SIZE])
{
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%lld", (long long)count);
    char *end = text;
    for (int i = 0; i < length; i++) {
        *end++ = digits[i];
        if (digits[i] != '-' && i + 1 < length && (length - i - 1) % 3 == 0) *end++ = ',';
    }
    *end = '\0';
    return text;
}

char *gram_number_short(double value, int digits, char text[GRAM_NUMBER_SIZE])
{
    (void)snprintf(text, GRAM_NUMBER_SIZE, "%.*g", digits, value);
    for (char *c = text; *c; c++)
        if (*c == ',') *c = '.';
    return text;
}
